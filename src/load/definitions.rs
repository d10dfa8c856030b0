//! Probe definitions and profiles that are opened together with a trace: found among the files by content and attached
//! to the trace, which then shows the arguments of its probes by their types.

use std::any::Any;
use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{LoadError, LoadedTrace, Reading, Timings, TraceId, detect, file_name};
use crate::base::{Cancelled, Job};
use crate::event::{DecodedEvent, FieldSink, KindId, Need, TraceInfo};
use crate::formats::events::{DecodingReader, EventAt, FieldReader, NoEvents};
use crate::formats::{EventRef, Events};
use crate::index::Index;
use crate::probes::readable::{self, ByEvent};
use crate::probes::{self, DefinitionFile, ProbeDefinition, ProbeSet};
use crate::trace::Trace;

/// At most this many bytes of a file of definitions are read.
const MOST_BYTES: u64 = 16 << 20;

/// Probe definitions that are attached to a trace.
#[derive(Clone)]
pub struct Attached {
    /// The definitions.
    pub set: Arc<ProbeSet>,
    /// The trace's reader without the definitions.
    bare: Arc<dyn Events>,
}

/// Traces, and what files of definitions and profiles contain.
pub(crate) struct Separated {
    pub traces: Vec<PathBuf>,
    pub probes: Option<ProbeSet>,
}

/// Splits `paths` into traces and definitions or profiles; returns the traces' paths, and the set if there is any.
#[must_use]
pub(crate) fn take_out(paths: &[PathBuf]) -> Separated {
    let mut traces = Vec::new();
    let mut files: Vec<DefinitionFile> = Vec::new();
    let mut counted = Vec::new();
    for path in paths {
        match definition_text(path) {
            Some(Found::Definitions(text)) => files.push(DefinitionFile {
                name: file_name(path),
                text,
            }),
            Some(Found::Profile(text)) => counted.extend(probes::parse_profile(&text)),
            None => traces.push(path.clone()),
        }
    }
    if files.is_empty() && counted.is_empty() {
        return Separated {
            traces,
            probes: None,
        };
    }
    let mut set = ProbeSet::from_files(&files);
    set.profile = Arc::new(counted);
    Separated {
        traces,
        probes: Some(set),
    }
}

enum Found {
    Definitions(String),
    Profile(String),
}

/// Returns the text of `path` if it contains probe definitions or a profile; `None` if it is a trace or neither.
fn definition_text(path: &Path) -> Option<Found> {
    if path.as_os_str() == "-" {
        return None;
    }
    let mut file = std::fs::File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut head = Vec::new();
    // Files of the kernel have size 0 in their metadata: only reading shows their contents.
    Read::by_ref(&mut file)
        .take(super::detection::HEAD_BYTES as u64)
        .read_to_end(&mut head)
        .ok()?;
    let is_profile = probes::sniff_profile(&head);
    if !(is_profile || probes::sniff(&head)) || is_trace(&head) {
        return None;
    }
    file.take(MOST_BYTES).read_to_end(&mut head).ok()?;
    let text = String::from_utf8_lossy(&head).into_owned();
    Some(if is_profile {
        Found::Profile(text)
    } else {
        Found::Definitions(text)
    })
}

/// Returns the text of a file of definitions or of a profile.
///
/// # Errors
/// Errors of the file system; a file with more than [`MOST_BYTES`] bytes.
pub(crate) fn read_text(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    // Devices and pipes do not report their size.
    let file = std::fs::File::open(path)?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        let words = format!("a file of definitions has at most {MOST_BYTES} bytes");
        return Err(std::io::Error::other(words));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns whether a file that is not a trace contains lines in the form of a definition, valid or not.
#[must_use]
pub(crate) fn has_form(path: &Path) -> bool {
    let mut head = Vec::new();
    let is_read = std::fs::File::open(path).and_then(|file| {
        file.take(super::detection::HEAD_BYTES as u64)
            .read_to_end(&mut head)
    });
    is_read.is_ok() && probes::sniff_form(&head) && detect(&head).is_err()
}

/// Returns whether a format recognises these bytes with certainty.
fn is_trace(head: &[u8]) -> bool {
    use crate::formats::Sniff;
    detect(head).is_ok_and(|format| (format.sniff)(head) == Sniff::Yes)
}

/// Returns an empty trace with these definitions, for definitions that are opened without a trace.
///
/// # Errors
/// If the job is cancelled.
pub(crate) fn alone(path: &Path, set: ProbeSet, job: &Job) -> Result<LoadedTrace, LoadError> {
    let info = TraceInfo {
        format: "probe definitions, not a trace".to_owned(),
        ..TraceInfo::default()
    };
    let trace = Trace {
        info,
        ..Trace::default()
    };
    let index = Index::new(&trace, job).map_err(|Cancelled| LoadError::cancelled(path))?;
    let empty = LoadedTrace {
        index: Arc::new(index),
        trace: Arc::new(trace),
        reader: Arc::new(NoEvents),
        report: None,
        part_count: 0,
        path: path.to_path_buf(),
        part_paths: Vec::new(),
        part_name: None,
        file_bytes: std::fs::metadata(path).map_or(0, |found| found.len()),
        id: TraceId::new(),
        is_complete: true,
        timings: Timings::default(),
        members: Vec::new(),
        left_out: Vec::new(),
        named: None,
        probes: None,
        has_only_probes: true,
        reading: Reading::default(),
        opened: Vec::new(),
        without_plots: None,
    };
    Ok(attach(&empty, &Arc::new(set)))
}

/// Returns the trace with these definitions instead of its earlier ones. If the set has no profile, the earlier profile
/// stays; if it has no definitions, the earlier definitions stay.
#[must_use]
pub(crate) fn attach(loaded: &LoadedTrace, set: &Arc<ProbeSet>) -> LoadedTrace {
    let before = loaded.probes.as_ref();
    let bare = before.map_or(&loaded.reader, |attached| &attached.bare);
    let mut set = Arc::clone(set);
    if let Some(before) = before
        && set.profile.is_empty()
        && !before.set.profile.is_empty()
    {
        Arc::make_mut(&mut set).profile = Arc::clone(&before.set.profile);
    }
    if let Some(before) = before
        && set.definitions.lines.is_empty()
    {
        let kept = Arc::make_mut(&mut set);
        kept.definitions = Arc::clone(&before.set.definitions);
        kept.source.clone_from(&before.set.source);
    }
    LoadedTrace {
        reader: Arc::new(ProbedEvents {
            bare: Arc::clone(bare),
            by_event: ByEvent::new(&set.definitions),
            set: Arc::clone(&set),
            kinds: kind_names(&loaded.trace),
        }),
        probes: Some(Attached {
            set,
            bare: Arc::clone(bare),
        }),
        // The tables are unchanged.
        id: loaded.id.next_generation(),
        ..loaded.clone()
    }
}

/// Decodes events; the details of probes' events show the arguments as the definitions describe them.
struct ProbedEvents {
    bare: Arc<dyn Events>,
    set: Arc<ProbeSet>,
    by_event: ByEvent,
    /// (group, name) of each kind.
    kinds: Vec<(String, String)>,
}

/// Returns (category, name) of each kind of a trace.
fn kind_names(trace: &Trace) -> Vec<(String, String)> {
    let text = |id| trace.strings.text(id).into_owned();
    (trace.kinds.iter())
        .map(|kind| (text(kind.category), text(kind.name)))
        .collect()
}

impl ProbedEvents {
    /// Returns the definition of the events of `kind`.
    fn probe_of(&self, kind: KindId) -> Option<&ProbeDefinition> {
        let (group, event) = self.kinds.get(kind.index())?;
        let definitions = &self.set.definitions;
        self.by_event.definition_of(definitions, group, event)
    }
}

impl Events for ProbedEvents {
    fn decode<'a>(&'a self, event: EventRef, need: Need<'_>, decoded: &mut DecodedEvent<'a>) {
        let probe = self.probe_of(event.kind);
        let Some(probe) = probe.filter(|probe| match need {
            Need::Detail | Need::Export | Need::Fields => true,
            Need::Field(name) => probe.argument(name).is_some(),
            Need::AnyField | Need::Line => false,
        }) else {
            return self.bare.decode(event, need, decoded);
        };
        let mut detail = self.bare.describe(event);
        readable::explain(&mut detail, probe);
        decoded.take(detail, need);
    }

    fn payload(&self, event: EventRef) -> Option<Cow<'_, [u8]>> {
        self.bare.payload(event)
    }

    fn field_names(&self, kind: KindId) -> Option<Vec<&str>> {
        self.bare.field_names(kind)
    }

    fn record_file(&self) -> Option<&dyn Any> {
        self.bare.record_file()
    }

    fn own_field_reader(&self) -> Option<Box<dyn FieldReader + '_>> {
        let events: &dyn Events = self;
        Some(Box::new(ProbedFields {
            events: self,
            bare: self.bare.field_reader(),
            probed: events.decoding_reader(),
        }))
    }

    fn memory_bytes(&self) -> u64 {
        self.bare.memory_bytes()
    }
}

/// Reads fields; those of defined probes as `decode` returns them.
struct ProbedFields<'a> {
    events: &'a ProbedEvents,
    bare: Box<dyn FieldReader + 'a>,
    probed: DecodingReader<'a>,
}

impl FieldReader for ProbedFields<'_> {
    fn read(&mut self, event: EventAt<'_>, sink: &mut dyn FieldSink) {
        match self.events.probe_of((event.whole)().kind) {
            Some(_) => self.probed.read(event, sink),
            None => self.bare.read(event, sink),
        }
    }
}
