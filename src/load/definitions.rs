//! Probe definitions and profiles that are opened beside a trace: found among the files by content, attached to the
//! trace, which then shows the arguments of its probes by their types.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::{LoadedTrace, Reading, Timings, detect, file_name};
use crate::base::{Diagnostics, Job, ReadError};
use crate::event::{
    Coarse, Directory, EventDetail, Field, KindId, Lane, LaneColumns, Part, TraceInfo, Value,
};
use crate::formats::format::{EventRef, Reader, Report};
use crate::index::Index;
use crate::probes::readable::{self, ByEvent};
use crate::probes::{self, ProbeDefinition, ProbeSet};
use crate::trace::Trace;

/// Files of definitions are not longer.
const MOST_BYTES: u64 = 16 << 20;

/// Definitions that are attached to a trace.
#[derive(Clone)]
pub struct Attached {
    /// The definitions.
    pub set: Arc<ProbeSet>,
    /// The trace's reader without them.
    bare: Arc<dyn Reader>,
}

/// Takes definitions and profiles out of `paths`; what is left are traces.
#[must_use]
pub fn take_out(paths: &[PathBuf]) -> (Vec<PathBuf>, Option<ProbeSet>) {
    let mut traces = Vec::new();
    let mut texts: Vec<(String, String)> = Vec::new();
    let mut counted = Vec::new();
    for path in paths {
        match definition_text(path) {
            Some(Found::Definitions(text)) => texts.push((file_name(path), text)),
            Some(Found::Profile(text)) => counted.extend(probes::parse_profile(&text)),
            None => traces.push(path.clone()),
        }
    }
    if texts.is_empty() && counted.is_empty() {
        return (traces, None);
    }
    let mut set = ProbeSet::from_files(&texts);
    set.profile = Arc::new(counted);
    (traces, Some(set))
}

enum Found {
    Definitions(String),
    Profile(String),
}

/// The text of `path` if it is one of probe definitions or of a profile, and no trace.
fn definition_text(path: &Path) -> Option<Found> {
    if path.as_os_str() == "-" {
        return None;
    }
    let mut file = std::fs::File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut head = Vec::new();
    // The kernel's own files say that they have no size: what counts is what can be read.
    Read::by_ref(&mut file)
        .take(super::HEAD_BYTES as u64)
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

/// Whether a file that is no trace has lines of a definition's form, right or wrong.
#[must_use]
pub fn has_form(path: &Path) -> bool {
    let mut head = Vec::new();
    let is_read = std::fs::File::open(path)
        .and_then(|file| file.take(super::HEAD_BYTES as u64).read_to_end(&mut head));
    is_read.is_ok() && probes::sniff_form(&head) && detect(&head).is_err()
}

/// Whether a format is sure that these bytes are its own.
fn is_trace(head: &[u8]) -> bool {
    use crate::formats::Sniff;
    detect(head).is_ok_and(|format| (format.sniff)(head) == Sniff::Yes)
}

/// What the format of definitions without a trace is called.
pub const ALONE: &str = "probe definitions, no trace";

/// Definitions that no trace is given for: nothing happened, and the probes are defined.
#[must_use]
pub fn alone(path: &Path, set: ProbeSet) -> LoadedTrace {
    let info = TraceInfo {
        format: ALONE.to_owned(),
        ..TraceInfo::default()
    };
    let trace = Trace {
        info: info.clone(),
        ..Trace::default()
    };
    let empty = LoadedTrace {
        index: Arc::new(Index::new(&trace)),
        trace: Arc::new(trace),
        reader: Arc::new(NoTrace { info }),
        path: path.to_path_buf(),
        part_paths: Vec::new(),
        file_bytes: std::fs::metadata(path).map_or(0, |found| found.len()),
        generation: 1,
        is_complete: true,
        timings: Timings::default(),
        members: Vec::new(),
        left_out: Vec::new(),
        probes: None,
        reading: Reading::default(),
        opened: Vec::new(),
        without_plots: None,
    };
    attach(&empty, &Arc::new(set))
}

/// The reader of nothing.
struct NoTrace {
    info: TraceInfo,
}

impl Reader for NoTrace {
    fn info(&self) -> &TraceInfo {
        &self.info
    }

    fn lanes(&self) -> &[Lane] {
        &[]
    }

    fn parts(&self) -> &[Part] {
        &[]
    }

    fn coarse(&self) -> Coarse {
        Coarse::default()
    }

    fn read_part(&self, _part: u32, _job: &Job) -> Result<LaneColumns, ReadError> {
        Ok(LaneColumns::new(0))
    }

    fn directory(&self) -> Directory {
        Directory::default()
    }

    fn diagnostics(&self) -> Diagnostics {
        Diagnostics::default()
    }

    fn describe(&self, _event: EventRef) -> EventDetail {
        EventDetail::default()
    }
}

/// The trace with these definitions, in place of those that it had. Counts of before are kept if there are no new ones.
#[must_use]
pub fn attach(loaded: &LoadedTrace, set: &Arc<ProbeSet>) -> LoadedTrace {
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
        reader: Arc::new(ProbedReader {
            bare: Arc::clone(bare),
            by_event: ByEvent::new(&set.definitions),
            set: Arc::clone(&set),
            kinds: OnceLock::new(),
        }),
        probes: Some(Attached {
            set,
            bare: Arc::clone(bare),
        }),
        ..loaded.clone()
    }
}

/// A reader whose probe events say what their definitions make of their arguments.
struct ProbedReader {
    bare: Arc<dyn Reader>,
    set: Arc<ProbeSet>,
    by_event: ByEvent,
    /// The group and name of each kind, once a value was asked for.
    kinds: OnceLock<Vec<(String, String)>>,
}

impl ProbedReader {
    /// The definition of the events of `kind`.
    fn probe_of(&self, kind: KindId) -> Option<&ProbeDefinition> {
        let kinds = self.kinds.get_or_init(|| {
            let all = self.bare.directory();
            let text = |id| all.strings.text(id).into_owned();
            let kinds = all.kinds.iter();
            kinds
                .map(|kind| (text(kind.category), text(kind.name)))
                .collect()
        });
        let (group, event) = kinds.get(usize::from(kind.0))?;
        self.definition_of(group, event)
    }

    fn definition_of(&self, group: &str, event: &str) -> Option<&ProbeDefinition> {
        let definitions = &self.set.definitions;
        self.by_event.definition_of(definitions, group, event)
    }
}

impl Reader for ProbedReader {
    fn info(&self) -> &TraceInfo {
        self.bare.info()
    }

    fn lanes(&self) -> &[Lane] {
        self.bare.lanes()
    }

    fn parts(&self) -> &[Part] {
        self.bare.parts()
    }

    fn coarse(&self) -> Coarse {
        self.bare.coarse()
    }

    fn read_part(&self, part: u32, job: &Job) -> Result<LaneColumns, ReadError> {
        self.bare.read_part(part, job)
    }

    fn directory(&self) -> Directory {
        self.bare.directory()
    }

    fn diagnostics(&self) -> Diagnostics {
        self.bare.diagnostics()
    }

    fn describe(&self, event: EventRef) -> EventDetail {
        let mut detail = self.bare.describe(event);
        if let Some(probe) = self.definition_of(&detail.category, &detail.name) {
            readable::explain(&mut detail, probe);
        }
        detail
    }

    fn fields(&self, event: EventRef) -> Vec<Field> {
        self.describe(event).fields
    }

    fn value(&self, event: EventRef, name: &str) -> Option<Value> {
        let Some(probe) = self.probe_of(event.kind) else {
            return self.bare.value(event, name);
        };
        if probe.argument(name).is_none() {
            return self.bare.value(event, name);
        }
        let fields = self.describe(event).fields;
        let field = fields.into_iter().find(|field| field.name == name)?;
        Some(field.value)
    }

    fn field_names(&self, kind: KindId) -> Option<Vec<&str>> {
        self.bare.field_names(kind)
    }

    fn push_text(&self, event: EventRef, out: &mut Vec<u8>) {
        self.bare.push_text(event, out);
    }

    fn has_fields(&self, event: EventRef) -> bool {
        self.bare.has_fields(event)
    }

    fn report(&self) -> Option<&dyn Report> {
        self.bare.report()
    }

    fn memory_bytes(&self) -> u64 {
        self.bare.memory_bytes()
    }
}
