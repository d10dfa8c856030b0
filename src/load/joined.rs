//! Several loaded traces as one: their tables joined at given offsets, and their events decoded by the reader of the file
//! that they came from.

use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::compilers::writers;
use super::loaded::{LoadedTrace, Timings};
use super::placing::Placed;
use crate::assemble::join::{Home, Member, join};
use crate::base::{Cancelled, Job, Nanos, TraceId};
use crate::event::{DecodedEvent, FieldSink, KindId, Need};
use crate::formats::events::{EventAt, FieldReader};
use crate::formats::{EventRef, Events};
use crate::index::Index;
use crate::trace::{Source, Trace};

/// Joins `members` at the offsets in `places`; a single trace with offset 0 is returned as it is.
///
/// # Errors
/// If the job is cancelled.
pub fn join_at(
    members: &[Arc<LoadedTrace>],
    places: &[Placed],
    job: &Job,
) -> Result<LoadedTrace, Cancelled> {
    if let [only] = members
        && places
            .first()
            .is_none_or(|placed| placed.offset == Nanos(0))
    {
        return Ok(only.as_ref().clone());
    }
    let mut list: Vec<Member> = members
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
            home: None,
        })
        .collect();
    for (member, writer) in list.iter_mut().zip(writers(members)) {
        member.home = writer.map(|writer| Home {
            member: writer.trace,
            process: writer.process,
        });
    }
    let trace = join(&list, job)?;
    let index = Index::new(&trace, job)?;
    let reader = JoinedEvents::new(members, &trace);
    let sum =
        |time: fn(&Timings) -> Duration| members.iter().map(|loaded| time(&loaded.timings)).sum();
    Ok(LoadedTrace {
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
        part_name: None,
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
        named: None,
        probes: members.iter().find_map(|member| member.probes.clone()),
        has_only_probes: members.iter().all(|member| member.has_only_probes),
        reading: members
            .first()
            .map(|member| member.reading)
            .unwrap_or_default(),
        opened: Vec::new(),
        without_plots: None,
    })
}

/// Returns the files' names, each with enough of its folders to differ from the others. A recording inside another
/// recording's file also gets its part name.
fn unlike_each_other(members: &[Arc<LoadedTrace>]) -> Vec<String> {
    let tail = |at: usize, count: usize| {
        let parts: Vec<_> = members[at].path.components().rev().take(count).collect();
        let path: PathBuf = parts.into_iter().rev().collect();
        match &members[at].part_name {
            None => path.display().to_string(),
            Some(name) => format!("{}: {name}", path.display()),
        }
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
    // Names that are still missing belong to a file that was opened twice.
    let names = names.into_iter().enumerate();
    names
        .map(|(at, name)| name.unwrap_or_else(|| format!("{} ({})", tail(at, 1), at + 1)))
        .collect()
}

/// Decodes events of a joined trace with the readers of its files.
struct JoinedEvents {
    files: Vec<File>,
}

/// An event with the numbers that it has in its own file.
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

impl File {
    /// Returns an event with the file's own part, time and kind.
    fn own(&self, event: EventRef) -> EventRef {
        let back = Nanos(self.shift.0.saturating_neg());
        EventRef {
            part: event.part - self.parts.start,
            time: event.time.saturating_add(back),
            kind: self.kinds.get(&event.kind).copied().unwrap_or(event.kind),
            ..event
        }
    }
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
        let file = self.files.get(self.file_of_part(event.part))?;
        let event = file.own(event);
        Some(OwnEvent { file, event })
    }

    /// Returns the index of the file that a part is of.
    fn file_of_part(&self, part: u32) -> usize {
        // The files' ranges of parts are adjacent and ascending.
        (self.files).partition_point(|file| file.parts.end <= part)
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

    fn own_field_reader(&self) -> Option<Box<dyn FieldReader + '_>> {
        let readers = self.files.iter().map(|file| file.reader.field_reader());
        Some(Box::new(JoinedFields {
            events: self,
            readers: readers.collect(),
        }))
    }
}

/// Reads fields of events of all files.
struct JoinedFields<'a> {
    events: &'a JoinedEvents,
    /// By file.
    readers: Vec<Box<dyn FieldReader + 'a>>,
}

impl FieldReader for JoinedFields<'_> {
    fn read(&mut self, event: EventAt<'_>, sink: &mut dyn FieldSink) {
        let index = self.events.file_of_part(event.part);
        let file = self.events.files.get(index);
        if let Some((file, reader)) = file.zip(self.readers.get_mut(index)) {
            let own = EventAt {
                part: event.part - file.parts.start,
                place: event.place,
                whole: &|| file.own((event.whole)()),
            };
            reader.read(own, sink);
        }
    }
}
