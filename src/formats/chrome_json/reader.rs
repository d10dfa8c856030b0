//! An opened file: one lane, cut into parts at positions that look like borders of events.
//!
//! Each part is read independently up to the start of the next. A guessed border is checked after all parts were read:
//! if a part does not end at its border, the next part is read again from the real end.

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::FORMAT;
use super::describe::{FrameObjects, fields_into, has_fields, head_of, object_at, stack_of};
use super::emit::{PartRead, Reach, Source, emit};
use super::facts::Facts;
use super::head::Head;
use super::numbers::Micros;
use super::people::{Owner, People, Renumbered};
use super::system_trace;
use super::walk::{Border, Found as Next, Walk, Within, likely_border};
use crate::base::column::store_inside;
use crate::base::{Diagnostics, Job, Problem, ReadError, Timestamp};
use crate::event::{
    AsyncScope, Coarse, DecodedEvent, DensitySample, Directory, Lane, LaneColumns, Need, Part,
    SeriesScope, TraceInfo,
};
use crate::formats::stream::{self, KeptFacts, in_one_lane};
use crate::formats::{EventRef, Events, Gathered, IndependentParts, Input, Inside, Recording};
use crate::trace::Trace;

/// Size of a part, bytes.
const PART_BYTES: usize = 4 << 20;
/// Number of bytes after the end of a part in which a border is searched.
const MOST_LOOK: usize = 1 << 18;

/// An opened file.
#[derive(Debug)]
pub(super) struct JsonReader {
    input: Input,
    head: Head,
    /// The start of each part.
    starts: Vec<Border>,
    parts: Vec<Part>,
    /// Facts about the whole file; set after all parts are read.
    found: OnceLock<Found>,
}

/// Facts about the whole file that describing an event needs.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Found {
    people: People,
    /// Places of stack frames by id.
    frames: FxHashMap<Vec<u8>, u64>,
}

impl JsonReader {
    pub(super) fn open(input: Input) -> Result<JsonReader, ReadError> {
        JsonReader::open_in_parts(input, PART_BYTES)
    }

    /// Opens a file with parts of about `part_bytes`.
    pub(super) fn open_in_parts(input: Input, part_bytes: usize) -> Result<JsonReader, ReadError> {
        let bytes = input.bytes();
        let head = Head::of(bytes);
        if !matches!(bytes.get(head.start), Some(b'[' | b'{')) {
            let at = head.start as u64;
            return Err(ReadError::at_byte(at, "Chrome JSON", Problem::BadMagic));
        }
        let mut starts = vec![Border {
            at: head.start,
            within: Within::File,
        }];
        let mut next = head.start.saturating_add(part_bytes);
        while next < bytes.len() {
            let border = likely_border(bytes, next, next.saturating_add(MOST_LOOK));
            if let Some(at) = border {
                let within = Within::Events;
                starts.push(Border { at, within });
            }
            next = border.unwrap_or(next).saturating_add(part_bytes);
        }
        let ends = starts.iter().skip(1).map(|start| start.at);
        let parts = starts.iter().zip(ends.chain([bytes.len()]));
        let parts = parts
            .map(|(start, end)| Part {
                start: start.at as u64,
                size_bytes: end.saturating_sub(start.at) as u64,
            })
            .collect();
        Ok(JsonReader {
            input,
            head,
            starts,
            parts,
            found: OnceLock::new(),
        })
    }

    pub(super) fn recording(self) -> Recording {
        let reader = Arc::new(self);
        Recording {
            info: reader.info(),
            lanes: JsonReader::lanes(),
            diagnostics: Diagnostics::default(),
            stream: reader.clone(),
            events: reader,
            report: None,
            instead: None,
        }
    }

    fn lanes() -> Vec<Lane> {
        vec![Lane {
            name: "JSON events".to_owned(),
            cpu: None,
        }]
    }

    fn info(&self) -> TraceInfo {
        TraceInfo {
            format: FORMAT.name.to_owned(),
            may_be_self_trace: FORMAT.may_be_self_trace,
            ..TraceInfo::default()
        }
    }

    fn source(&self) -> Source<'_> {
        Source {
            bytes: self.input.bytes(),
            form: self.head.form,
            is_ours: self.head.is_ours,
        }
    }

    /// Returns the texts with the kernel's events (`systemTraceEvents`) that a part contains.
    fn system_traces(&self, read: &PartRead) -> Vec<Inside> {
        let members = read.members.iter();
        members
            .filter(|(key, _)| key == system_trace::KEY)
            .filter_map(|(_, place)| system_trace::text_at(self.input.bytes(), *place))
            .filter(|text| !text.trim_ascii().is_empty())
            .map(|text| Inside {
                name: "kernel events".to_owned(),
                input: Input::from_vec(text, &self.input.file_name),
            })
            .collect()
    }

    /// Returns the start of the next part.
    fn end_of(&self, part: u32) -> usize {
        let next = self.starts.get(part as usize + 1);
        next.map_or(self.input.bytes().len(), |next| next.at)
    }

    /// Returns the parts, each read from the real end of the previous part.
    fn joined(
        &self,
        read: Vec<stream::PartRead<PartRead>>,
        job: &Job,
    ) -> Result<Vec<stream::PartRead<PartRead>>, ReadError> {
        let mut joined = Vec::with_capacity(read.len());
        let mut at = self.starts.first().copied();
        for stream::PartRead { part, mut read } in read {
            let Some(start) = at else { break };
            let until = self.end_of(part);
            if read.start != start || read.end.is_none() {
                if start.at >= until {
                    // The whole part is inside an event of an earlier part.
                    continue;
                }
                read = emit(self.source(), start, until, Reach::Certain, job)?;
            }
            at = read.end;
            joined.push(stream::PartRead { part, read });
        }
        Ok(joined)
    }
}

impl IndependentParts for JsonReader {
    type Read = PartRead;

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the coarse preview, from the first event of each part.
    fn coarse(&self) -> Coarse {
        let bytes = self.input.bytes();
        let first_time = |start: &Border| {
            let end = bytes.len().min(start.at.saturating_add(MOST_LOOK));
            let near = bytes.get(..end).unwrap_or(bytes);
            let mut walk = Walk::new(near, self.head.form, *start, end);
            loop {
                match walk.next()? {
                    Next::Event { .. } => break,
                    Next::Broken { .. } => return None,
                    _ => {}
                }
            }
            Micros::parse(walk.event.time.bytes())?.rounded()
        };
        let of_parts = self.starts.iter().zip(&self.parts);
        Coarse::of_one_lane(
            of_parts
                .filter_map(|(start, part)| {
                    let time = Timestamp(first_time(start)?);
                    Some(DensitySample::new(0, time, part.size_bytes))
                })
                .collect(),
        )
    }

    fn read(&self, part: u32, job: &Job) -> Result<PartRead, ReadError> {
        let start = self.starts.get(part as usize).copied();
        let start = start.unwrap_or(Border {
            at: self.input.bytes().len(),
            within: Within::Events,
        });
        let reach = match part {
            0 => Reach::Certain,
            _ => Reach::Guessed,
        };
        emit(self.source(), start, self.end_of(part), reach, job)
    }

    fn gather(
        &self,
        read: Vec<stream::PartRead<PartRead>>,
        job: &Job,
    ) -> Result<Gathered, ReadError> {
        let joined = self.joined(read, job)?;
        let mut found = Found::default();
        if self.head.is_ours {
            found.people = People::of_our_own();
        }
        let mut facts = Facts::default();
        let mut system_traces = Vec::new();
        let mut columns = Vec::with_capacity(joined.len());
        for part in &joined {
            for metadata in &part.read.metadata {
                found.people.stand_for(metadata, &part.read.columns.strings);
            }
        }
        if joined
            .iter()
            .any(|part| part.read.people.has_threads_alone())
        {
            for part in &joined {
                found
                    .people
                    .meet(&part.read.people, &part.read.columns.strings);
            }
        }
        let mut all_metadata = Vec::with_capacity(joined.len());
        for stream::PartRead { part, mut read } in joined {
            job.check()?;
            let new = found.people.add_part(&read.people, &read.columns.strings);
            for metadata in &read.metadata {
                found.people.apply(metadata, &read.columns.strings);
            }
            facts.add_part(&read, self.input.bytes());
            system_traces.extend(self.system_traces(&read));
            found.frames.extend(read.frames.drain(..));
            renumber(&mut read.columns, &new);
            all_metadata.push(read.metadata);
            let read = read.columns;
            columns.push(stream::PartRead { part, read });
        }
        for (metadata, part) in all_metadata.iter().zip(&columns) {
            for event in metadata {
                found.people.apply_if_seen(event, &part.read.strings);
            }
        }
        settle(&mut columns, &found.people);
        let mut directory = Directory {
            seen_until: self.head.seen_until.map(Timestamp),
            ..Directory::default()
        };
        found.people.list_into(&mut directory);
        let info = facts.into_info(self.info());
        // A second read finds the same.
        let _ = self.found.set(found);
        Ok(Gathered {
            parts: in_one_lane(columns),
            lanes: JsonReader::lanes(),
            directory,
            info,
            diagnostics: Diagnostics::default(),
            inside: system_traces,
        })
    }

    fn facts(&self) -> Option<Vec<u8>> {
        store_inside(self.found.get()?).ok()
    }

    fn take_facts(&self, facts: &KeptFacts, _trace: &Trace) -> Option<()> {
        self.found.set(facts.restored()?).ok()
    }
}

/// Replaces the part's keys of threads and processes by those of the file.
fn renumber(columns: &mut LaneColumns, new: &Renumbered) {
    columns.events.renumber_threads(&|key| new.thread(key));
    // An artificial thread without a real one has no runs.
    (columns.whole_runs).retain_mut(|run| match new.thread(run.thread) {
        Some(thread) => {
            run.thread = thread;
            true
        }
        None => false,
    });
    for state in &mut columns.whole_states {
        if let Some(wakeup) = &mut state.wakeup {
            wakeup.waker = wakeup.waker.and_then(|waker| new.thread(waker));
        }
    }
    for row in &mut columns.asyncs {
        row.scope = match row.scope {
            AsyncScope::Global => AsyncScope::Global,
            AsyncScope::Process(key) => {
                (new.owner(key).process()).map_or(AsyncScope::Global, AsyncScope::Process)
            }
            AsyncScope::Shared(key) => {
                (new.owner(key).process()).map_or(AsyncScope::Global, AsyncScope::Shared)
            }
            AsyncScope::ProcessOf(key) => {
                let thread = key.get().and_then(|key| new.thread(key));
                AsyncScope::ProcessOf(thread.into())
            }
        };
    }
    for row in &mut columns.series {
        if let SeriesScope::Process(key) = row.scope {
            row.scope = match new.owner(key) {
                Owner::Process(key) => SeriesScope::Process(key),
                Owner::Cpu(cpu) => SeriesScope::Cpu(cpu.into()),
                Owner::Machine => SeriesScope::Global,
            };
        }
    }
}

/// Sets the process of asynchronous events whose ids have the same meaning in all processes.
fn settle(parts: &mut [stream::PartRead<LaneColumns>], people: &People) {
    let scope = match people.process_count() {
        0 => return,
        1 => AsyncScope::Process,
        _ => AsyncScope::Shared,
    };
    parts.par_iter_mut().for_each(|part| {
        for row in &mut part.read.asyncs {
            if let AsyncScope::ProcessOf(thread) = row.scope
                && let Some(process) = thread.get().and_then(|thread| people.process_of(thread))
            {
                row.scope = scope(process);
            }
        }
    });
}

struct FoundFrames<'a> {
    bytes: &'a [u8],
    found: &'a Found,
}

impl FrameObjects for FoundFrames<'_> {
    fn object(&self, id: &[u8]) -> Option<&[u8]> {
        let place = self.found.frames.get(id)?;
        Some(object_at(self.bytes, *place))
    }
}

impl Events for JsonReader {
    fn decode<'a>(&'a self, event: EventRef, need: Need<'_>, decoded: &mut DecodedEvent<'a>) {
        // There are no events before the parts are read.
        let Some(found) = self.found.get() else {
            return;
        };
        let bytes = self.input.bytes();
        let object = object_at(bytes, event.place);
        if object.is_empty() {
            decoded
                .text
                .extend_from_slice(b"this event cannot be decoded");
            return;
        }
        match need {
            Need::AnyField => {
                if has_fields(object) {
                    decoded.perhaps();
                }
                return;
            }
            Need::Field(name) => {
                let first = decoded.fields.len();
                fields_into(object, &mut decoded.fields);
                let mut at = 0;
                decoded.fields.retain(|field| {
                    at += 1;
                    at <= first || field.name == name
                });
            }
            _ => fields_into(object, &mut decoded.fields),
        }
        if matches!(need, Need::Detail | Need::Export | Need::Line) {
            decoded.stack = stack_of(object, &FoundFrames { bytes, found });
        }
        if need == Need::Detail {
            decoded.head = head_of(object);
            decoded.head.time = event.time;
            (decoded.head.tid, decoded.head.thread_name) = found.people.shown(event.thread);
        }
    }

    fn memory_bytes(&self) -> u64 {
        self.found.get().map_or(0, |found| {
            found.people.memory_bytes() + found.frames.len() as u64 * 64
        })
    }
}
