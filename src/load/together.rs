//! Several files on one axis: each is loaded by itself, then their tables are joined.
//!
//! The members stay: another offset means joining them again, not reading them again. What describes events
//! of the joined trace asks the reader of the file that they came from.

use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::definitions::{attach, take_out};
use super::parts::openings;
use super::placing::{Placed, place};
use super::{LoadError, LoadedTrace, Reading, Timings};
use crate::base::{Diagnostics, Job, Nanos, Problem, ReadError};
use crate::build::join::{Member, join};
use crate::event::{
    Coarse, Directory, EventDetail, Field, FieldRef, KindId, Lane, LaneColumns, Part, TraceInfo,
    Value,
};
use crate::formats::Reader;
use crate::formats::format::EventRef;
use crate::formats::fxt::FxtSource;
use crate::index::Index;
use crate::probes::ProbeSet;
use crate::trace::sources::PlacedBy;
use crate::trace::{Source, Trace};
use rustc_hash::FxHashMap;

/// Opens `paths` on one axis, behind those that are `already` loaded; some offsets of both are `fixed`. The
/// listener gets a trace whenever there is more to show; the last is also the answer. A file that cannot be
/// opened is left out and named in [`LoadedTrace::left_out`].
///
/// # Errors
/// If there is nothing to show at all, or the job was cancelled.
pub fn open_together(
    paths: &[PathBuf],
    already: &[Arc<LoadedTrace>],
    fixed: &[Option<Nanos>],
    job: &Job,
    listener: Option<&mut dyn FnMut(LoadedTrace)>,
) -> Result<LoadedTrace, LoadError> {
    open_as(paths, Reading::default(), already, fixed, job, listener)
}

/// The same, for files that are to be read in a certain way.
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
    let (traces, probes) = take_out(paths);
    let (paths, probes) = match probes {
        Some(set) if !(traces.is_empty() && already.is_empty()) => {
            (traces.as_slice(), Some(Arc::new(set)))
        }
        _ => (paths, None),
    };
    let their_fixed = fixed.get(already.len()..).unwrap_or_default();
    let openings = openings(paths, their_fixed, reading, job);
    let is_alone = already.is_empty() && probes.is_none() && openings.len() == 1;
    if is_alone && openings.iter().all(|(_, fixed)| fixed.is_none()) {
        if let Some((opening, _)) = openings.into_iter().next() {
            return opening.load(reading, job, listener);
        }
        return Err(nothing_named());
    }
    let mut members = already.to_vec();
    let mut places: Vec<Option<Nanos>> = fixed.to_vec();
    places.resize(already.len(), None);
    let mut left_out: Vec<LoadError> = Vec::new();
    for (opening, place) in openings {
        // What is there of the first file is shown while it is read; the others are shown when they are whole.
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
                places.push(place);
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

/// Attaches definitions to traces that share an axis.
pub fn attach_to_all(members: &mut [Arc<LoadedTrace>], set: &Arc<ProbeSet>) {
    for member in members {
        *member = Arc::new(attach(member, set));
    }
}

/// The traces that `loaded` puts on one axis (itself, if it is a file by itself), and the offsets that the
/// user gave them.
#[must_use]
pub fn members_of(loaded: &Arc<LoadedTrace>) -> (Vec<Arc<LoadedTrace>>, Vec<Option<Nanos>>) {
    if loaded.members.is_empty() {
        return (vec![LoadedTrace::as_read(loaded)], vec![None]);
    }
    let fixed = |source: &Source| (source.placed_by == PlacedBy::User).then(|| source.offset());
    (
        loaded.members.clone(),
        loaded.trace.sources.iter().map(fixed).collect(),
    )
}

/// The files that are read to have `loaded` again, and the offsets that the user gave them.
#[must_use]
pub fn files_of(loaded: &Arc<LoadedTrace>) -> (Vec<PathBuf>, Vec<Option<Nanos>>) {
    let (members, fixed) = members_of(loaded);
    let files = members.iter().zip(fixed);
    files
        .flat_map(|(member, fixed)| member.paths().into_iter().map(move |path| (path, fixed)))
        .unzip()
}

/// Puts loaded traces on one axis, a place for each; one trace at its own place is that trace.
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
        .enumerate()
        .zip(places)
        .map(|((at, loaded), placed)| Member {
            name: unlike_the_others(members, at),
            trace: Arc::clone(&loaded.trace),
            part_count: loaded.reader.parts().len() as u32,
            offset: placed.offset,
            evidence: placed.evidence.clone(),
            placed_by: placed.by,
        })
        .collect();
    let trace = join(&list);
    let index = Index::new(&trace);
    let reader = JoinedReader::new(members, &trace);
    let sum =
        |time: fn(&Timings) -> Duration| members.iter().map(|loaded| time(&loaded.timings)).sum();
    LoadedTrace {
        trace: Arc::new(trace),
        index: Arc::new(index),
        reader: Arc::new(reader),
        path: members
            .first()
            .map(|it| it.path.clone())
            .unwrap_or_default(),
        part_paths: Vec::new(),
        file_bytes: members.iter().map(|it| it.file_bytes).sum(),
        generation: members.iter().map(|it| it.generation).sum(),
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

/// A file's name, with as much of its folders as tells it from the others.
fn unlike_the_others(members: &[Arc<LoadedTrace>], at: usize) -> String {
    let tail = |loaded: &LoadedTrace, count: usize| {
        let parts: Vec<_> = loaded.path.components().rev().take(count).collect();
        let path: PathBuf = parts.into_iter().rev().collect();
        path.display().to_string()
    };
    let depth = members[at].path.components().count();
    for count in 1..=depth {
        let name = tail(&members[at], count);
        let is_taken = members
            .iter()
            .enumerate()
            .any(|(other, loaded)| other != at && tail(loaded, count) == name);
        if !is_taken {
            return name;
        }
    }
    // The same file twice.
    format!("{} ({})", tail(&members[at], 1), at + 1)
}

/// Describes the events of a joined trace by asking the readers of its files. It has no parts of its own:
/// its files were read by themselves.
struct JoinedReader {
    files: Vec<File>,
    info: TraceInfo,
}

struct File {
    reader: Arc<dyn Reader>,
    parts: Range<u32>,
    shift: Nanos,
    /// The file's kinds by the joined trace's.
    kinds: FxHashMap<KindId, KindId>,
}

impl JoinedReader {
    fn new(members: &[Arc<LoadedTrace>], trace: &Trace) -> JoinedReader {
        let file = |(loaded, source): (&Arc<LoadedTrace>, &Source)| File {
            reader: Arc::clone(&loaded.reader),
            parts: source.parts.clone(),
            shift: source.offset(),
            kinds: (0..=u16::MAX)
                .zip(&source.origin.kinds)
                .map(|(theirs, &ours)| (ours, KindId(theirs)))
                .collect(),
        };
        JoinedReader {
            files: members.iter().zip(&trace.sources).map(file).collect(),
            info: trace.info.clone(),
        }
    }

    /// The file that an event is from, and the event as that file has it.
    fn file_of(&self, event: EventRef) -> Option<(&File, EventRef)> {
        let file = self
            .files
            .iter()
            .find(|file| file.parts.contains(&event.part))?;
        let back = Nanos(file.shift.0.saturating_neg());
        let own = EventRef {
            part: event.part - file.parts.start,
            time: event.time.saturating_add(back),
            kind: file.kinds.get(&event.kind).copied().unwrap_or(event.kind),
            ..event
        };
        Some((file, own))
    }
}

impl Reader for JoinedReader {
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

    fn read_part(&self, part: u32, _job: &Job) -> Result<LaneColumns, ReadError> {
        let problem = Problem::BadReference {
            table: "parts",
            index: u64::from(part),
        };
        Err(ReadError::at_byte(0, "part", problem))
    }

    fn directory(&self) -> Directory {
        Directory::default()
    }

    fn diagnostics(&self) -> Diagnostics {
        Diagnostics::default()
    }

    fn describe(&self, event: EventRef) -> EventDetail {
        let Some((file, own)) = self.file_of(event) else {
            return EventDetail::default();
        };
        EventDetail {
            time: event.time,
            ..file.reader.describe(own)
        }
    }

    fn fields(&self, event: EventRef) -> Vec<Field> {
        self.file_of(event)
            .map(|(file, own)| file.reader.fields(own))
            .unwrap_or_default()
    }

    fn fields_into<'a>(&'a self, event: EventRef, fields: &mut Vec<FieldRef<'a>>) {
        if let Some((file, own)) = self.file_of(event) {
            file.reader.fields_into(own, fields);
        }
    }

    fn fxt_source_of(&self, event: EventRef) -> Option<FxtSource<'_>> {
        let (file, own) = self.file_of(event)?;
        file.reader.fxt_source_of(own)
    }

    fn fxt_sources(&self) -> Vec<FxtSource<'_>> {
        let sources = self.files.iter().map(|file| file.reader.fxt_sources());
        sources.flatten().collect()
    }

    fn payload(&self, event: EventRef) -> Option<Cow<'_, [u8]>> {
        let (file, own) = self.file_of(event)?;
        file.reader.payload(own)
    }

    fn value(&self, event: EventRef, name: &str) -> Option<Value> {
        let (file, own) = self.file_of(event)?;
        file.reader.value(own, name)
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

    fn push_text(&self, event: EventRef, out: &mut Vec<u8>) {
        if let Some((file, own)) = self.file_of(event) {
            file.reader.push_text(own, out);
        }
    }

    fn has_fields(&self, event: EventRef) -> bool {
        self.file_of(event)
            .is_some_and(|(file, own)| file.reader.has_fields(own))
    }
}
