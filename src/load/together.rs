//! Loads several files on one axis: each by itself, then their tables are joined.
//!
//! The members are kept: another offset means joining them again, not reading them again. Events of the joined trace
//! are decoded by the reader of the file that they came from.

use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::definitions::{Separated, attach, take_out};
use super::parts::{OpeningAt, openings};
use super::placing::{Placed, place};
use super::{LoadError, LoadedTrace, Reading, Timings, TraceId};
use crate::assemble::join::{Member, join};
use crate::base::{Job, Nanos, Problem, ReadError};
use crate::event::{DecodedEvent, KindId, Need};
use crate::formats::{EventRef, Events};
use crate::index::Index;
use crate::probes::ProbeSet;
use crate::trace::sources::PlacedBy;
use crate::trace::{Source, Trace};
use rustc_hash::FxHashMap;

/// Opens `paths` on one axis, after the traces that are `already` loaded. `fixed` has the offsets that the user gave
/// the loaded traces, then the files. `listener` is called whenever there is more to show; the last trace is also
/// returned. A file that cannot be opened is left out and named in [`LoadedTrace::left_out`].
///
/// # Errors
/// If nothing can be shown, or the job was cancelled.
pub fn open_together(
    paths: &[PathBuf],
    already: &[Arc<LoadedTrace>],
    fixed: &[Option<Nanos>],
    job: &Job,
    listener: Option<&mut dyn FnMut(LoadedTrace)>,
) -> Result<LoadedTrace, LoadError> {
    open_as(paths, Reading::default(), already, fixed, job, listener)
}

/// Opens `paths` as [`open_together`] does, with settings for reading them.
///
/// # Errors
/// As [`open_together`].
pub fn open_as(
    paths: &[PathBuf],
    reading: Reading,
    already: &[Arc<LoadedTrace>],
    fixed: &[Option<Nanos>],
    job: &Job,
    mut listener: Option<&mut dyn FnMut(LoadedTrace)>,
) -> Result<LoadedTrace, LoadError> {
    let Separated { traces, probes } = take_out(paths);
    let (paths, probes) = match probes {
        Some(set) if !(traces.is_empty() && already.is_empty()) => {
            (traces.as_slice(), Some(Arc::new(set)))
        }
        _ => (paths, None),
    };
    let their_fixed = fixed.get(already.len()..).unwrap_or_default();
    let openings = openings(paths, their_fixed, reading, job);
    let is_alone = already.is_empty() && probes.is_none() && openings.len() == 1;
    if is_alone && openings.iter().all(|it| it.fixed.is_none()) {
        if let Some(only) = openings.into_iter().next() {
            return only.opening.load(reading, job, listener);
        }
        return Err(nothing_named());
    }
    let mut members = already.to_vec();
    let mut places: Vec<Option<Nanos>> = fixed.to_vec();
    places.resize(already.len(), None);
    let mut left_out: Vec<LoadError> = Vec::new();
    for OpeningAt { opening, fixed } in openings {
        // Generations of the first file are shown while it is read; the others are shown when they are whole.
        let mut show_part = |loaded: LoadedTrace| {
            if let Some(publish) = listener.as_mut() {
                publish(LoadedTrace {
                    is_complete: false,
                    ..loaded
                });
            }
        };
        let parts: Option<&mut dyn FnMut(LoadedTrace)> = match members.is_empty() {
            true => Some(&mut show_part),
            false => None,
        };
        match opening.load(reading, job, parts) {
            Ok(loaded) => {
                members.push(Arc::new(loaded));
                places.push(fixed);
            }
            Err(error) if job.is_cancelled() => return Err(error),
            Err(error) => left_out.push(error),
        }
    }
    if members.is_empty() {
        return Err(left_out.into_iter().next().unwrap_or_else(nothing_named));
    }
    if let Some(set) = probes {
        attach_to_all(&mut members, &set);
    }
    let joined = LoadedTrace {
        left_out,
        ..join_at(&members, &place(&members, &places))
    };
    if let Some(publish) = listener {
        publish(joined.clone());
    }
    Ok(joined)
}

fn nothing_named() -> LoadError {
    let problem = Problem::Other("no file was named".to_owned());
    LoadError {
        path: PathBuf::new(),
        error: ReadError::at_byte(0, "file", problem),
    }
}

/// Attaches probe definitions to all of `members`.
pub(crate) fn attach_to_all(members: &mut [Arc<LoadedTrace>], set: &Arc<ProbeSet>) {
    for member in members {
        *member = Arc::new(attach(member, set));
    }
}

/// Traces that are shown together.
#[derive(Clone, Debug, Default)]
pub struct Members {
    /// The traces.
    pub traces: Vec<Arc<LoadedTrace>>,
    /// The offset that the user gave each.
    pub fixed: Vec<Option<Nanos>>,
}

/// Files to read.
pub(crate) struct Files {
    pub(crate) paths: Vec<PathBuf>,
    /// The offset that the user gave each.
    pub(crate) fixed: Vec<Option<Nanos>>,
}

/// Returns the members of `loaded`; itself, if it has none.
#[must_use]
pub fn members_of(loaded: &Arc<LoadedTrace>) -> Members {
    if loaded.members.is_empty() {
        return Members {
            traces: vec![LoadedTrace::as_read(loaded)],
            fixed: vec![None],
        };
    }
    let fixed = |source: &Source| (source.placed_by == PlacedBy::User).then(|| source.offset());
    Members {
        traces: loaded.members.clone(),
        fixed: loaded.trace.sources.iter().map(fixed).collect(),
    }
}

/// Returns the files to read to load `loaded` again.
#[must_use]
pub(crate) fn files_of(loaded: &Arc<LoadedTrace>) -> Files {
    let members = members_of(loaded);
    let files = members.traces.iter().zip(members.fixed);
    let (paths, fixed) = files
        .flat_map(|(member, fixed)| member.paths().into_iter().map(move |path| (path, fixed)))
        .unzip();
    Files { paths, fixed }
}

/// Joins `members` at the offsets in `places`; a single trace with offset 0 is returned as it is.
#[must_use]
pub fn join_at(members: &[Arc<LoadedTrace>], places: &[Placed]) -> LoadedTrace {
    if let [only] = members
        && places
            .first()
            .is_none_or(|placed| placed.offset == Nanos(0))
    {
        return only.as_ref().clone();
    }
    let list: Vec<Member> = members
        .iter()
        .zip(unlike_each_other(members))
        .zip(places)
        .map(|((loaded, name), placed)| Member {
            name,
            trace: Arc::clone(&loaded.trace),
            part_count: loaded.part_count,
            offset: placed.offset,
            evidence: placed.evidence.clone(),
            placed_by: placed.by,
        })
        .collect();
    let trace = join(&list);
    let index = Index::new(&trace);
    let reader = JoinedEvents::new(members, &trace);
    let sum =
        |time: fn(&Timings) -> Duration| members.iter().map(|loaded| time(&loaded.timings)).sum();
    LoadedTrace {
        trace: Arc::new(trace),
        index: Arc::new(index),
        reader: Arc::new(reader),
        report: None,
        part_count: list.iter().map(|member| member.part_count).sum(),
        path: members
            .first()
            .map(|it| it.path.clone())
            .unwrap_or_default(),
        part_paths: Vec::new(),
        file_bytes: members.iter().map(|it| it.file_bytes).sum(),
        id: TraceId::new(),
        is_complete: true,
        timings: Timings {
            coarse: members
                .first()
                .map(|it| it.timings.coarse)
                .unwrap_or_default(),
            full: sum(|timings| timings.full),
        },
        members: members.to_vec(),
        left_out: Vec::new(),
        probes: members.iter().find_map(|member| member.probes.clone()),
        reading: members
            .first()
            .map(|member| member.reading)
            .unwrap_or_default(),
        opened: Vec::new(),
        without_plots: None,
    }
}

/// Returns the files' names, each with as many of its folders as make it differ from the others.
fn unlike_each_other(members: &[Arc<LoadedTrace>]) -> Vec<String> {
    let tail = |at: usize, count: usize| {
        let parts: Vec<_> = members[at].path.components().rev().take(count).collect();
        let path: PathBuf = parts.into_iter().rev().collect();
        path.display().to_string()
    };
    let mut names: Vec<Option<String>> = vec![None; members.len()];
    let depths = members
        .iter()
        .map(|loaded| loaded.path.components().count());
    for count in 1..=depths.max().unwrap_or(0) {
        if names.iter().all(Option::is_some) {
            break;
        }
        let tails: Vec<String> = (0..members.len()).map(|at| tail(at, count)).collect();
        let mut takers: FxHashMap<&str, u32> = FxHashMap::default();
        for tail in &tails {
            *takers.entry(tail).or_default() += 1;
        }
        for (name, tail) in names.iter_mut().zip(&tails) {
            if name.is_none() && takers.get(tail.as_str()) == Some(&1) {
                *name = Some(tail.clone());
            }
        }
    }
    // The remaining ones are the same file opened twice.
    let names = names.into_iter().enumerate();
    names
        .map(|(at, name)| name.unwrap_or_else(|| format!("{} ({})", tail(at, 1), at + 1)))
        .collect()
}

/// Decodes events of a joined trace with the readers of its files.
struct JoinedEvents {
    files: Vec<File>,
}

/// An event as its file numbers it.
struct OwnEvent<'a> {
    file: &'a File,
    event: EventRef,
}

struct File {
    reader: Arc<dyn Events>,
    parts: Range<u32>,
    shift: Nanos,
    /// Maps the joined trace's kinds to the file's.
    kinds: FxHashMap<KindId, KindId>,
}

impl JoinedEvents {
    fn new(members: &[Arc<LoadedTrace>], trace: &Trace) -> JoinedEvents {
        let file = |(loaded, source): (&Arc<LoadedTrace>, &Source)| File {
            reader: Arc::clone(&loaded.reader),
            parts: source.parts.clone(),
            shift: source.offset(),
            kinds: (0..)
                .zip(&source.origin.kinds)
                .map(|(theirs, &ours)| (ours, KindId(theirs)))
                .collect(),
        };
        JoinedEvents {
            files: members.iter().zip(&trace.sources).map(file).collect(),
        }
    }

    /// Returns the file that an event is from, and the event with the file's own part, time and kind.
    fn file_of(&self, event: EventRef) -> Option<OwnEvent<'_>> {
        // The files' ranges of parts are adjacent and ascending.
        let at = (self.files).partition_point(|file| file.parts.end <= event.part);
        let file = self.files.get(at)?;
        let back = Nanos(file.shift.0.saturating_neg());
        let event = EventRef {
            part: event.part - file.parts.start,
            time: event.time.saturating_add(back),
            kind: file.kinds.get(&event.kind).copied().unwrap_or(event.kind),
            ..event
        };
        Some(OwnEvent { file, event })
    }
}

impl Events for JoinedEvents {
    fn decode<'a>(&'a self, event: EventRef, need: Need<'_>, decoded: &mut DecodedEvent<'a>) {
        if let Some(own) = self.file_of(event) {
            own.file.reader.decode(own.event, need, decoded);
            decoded.head.time = event.time;
        }
    }

    fn payload(&self, event: EventRef) -> Option<Cow<'_, [u8]>> {
        let own = self.file_of(event)?;
        own.file.reader.payload(own.event)
    }

    fn field_names(&self, kind: KindId) -> Option<Vec<&str>> {
        let mut names = Vec::new();
        for file in &self.files {
            if let Some(&own) = file.kinds.get(&kind) {
                names.extend(file.reader.field_names(own)?);
            }
        }
        names.sort_unstable();
        names.dedup();
        Some(names)
    }
}
