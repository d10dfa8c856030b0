//! Anchors: items described by the file's own names, valid in later generations of a trace and in later sessions.
//!
//! Ids are row numbers of one generation. An anchor is kind, time, name and owner; finding its item is a binary search
//! in the rows of that kind.

use std::ops::Range;

use crate::base::Timestamp;
use crate::base::order::first_not;
use crate::query::Item;
use crate::query::item::{title, type_word};
use crate::trace::{
    CounterTrackId, CpuId, FlowId, GapId, InstantId, ProcessId, RunId, SliceId, StateId, ThreadId,
    Trace, TrackId,
};
use serde::{Deserialize, Serialize};

/// At most this many events of one time are compared.
const MOST_AT_ONCE: usize = 10_000;

/// Describes an item without its id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Anchor {
    /// Kind of the item: slice, run, state ...
    pub sort: String,
    /// Start time; `None` for threads, processes, CPUs and tracks.
    pub time: Option<Timestamp>,
    /// Name of the item.
    pub name: String,
    /// The file's key of the item's thread, or of the thread or process itself; a CPU's number.
    pub key: Option<u64>,
}

/// Returns the anchor of an item; `None` if the trace has no such item.
#[must_use]
pub(crate) fn anchor_of(trace: &Trace, item: Item) -> Option<Anchor> {
    let key = match item {
        Item::Thread(id) => Some(trace.threads.get(id.0 as usize)?.key),
        Item::Process(id) => Some(trace.processes.get(id.0 as usize)?.key),
        Item::Cpu(id) => Some(u64::from(trace.cpus.get(id.0 as usize)?.number)),
        Item::Flow(id) => Some(trace.flows.rows.get(id.0 as usize)?.key),
        Item::Gap(id) => trace.gap(id)?.cpu.map(u64::from),
        _ => item.thread(trace).map(|thread| trace.thread(thread).key),
    };
    let is_thing = matches!(
        item,
        Item::Thread(_) | Item::Process(_) | Item::Cpu(_) | Item::Track(_)
    );
    let time = if is_thing {
        None
    } else {
        Some(item.span(trace)?.start)
    };
    Some(Anchor {
        sort: type_word(item).to_owned(),
        time,
        name: title(trace, item),
        key,
    })
}

/// Returns the item that `anchor` describes in this trace, if there is one.
#[must_use]
pub fn find(trace: &Trace, anchor: &Anchor) -> Option<Item> {
    let fits = |item: &Item| anchor_of(trace, *item).as_ref() == Some(anchor);
    let Some(time) = anchor.time else {
        let threads = (0..trace.threads.len() as u32).map(|id| Item::Thread(ThreadId(id)));
        let processes = (0..trace.processes.len() as u32).map(|id| Item::Process(ProcessId(id)));
        let cpus = (0..trace.cpus.len() as u32).map(|id| Item::Cpu(CpuId(id)));
        let tracks = (0..trace.tracks.len() as u32).map(|id| Item::Track(TrackId(id)));
        return threads
            .chain(processes)
            .chain(cpus)
            .chain(tracks)
            .find(fits);
    };
    let rows = rows_at(trace, &anchor.sort, time);
    if let Some(item) = rows.into_iter().find(fits) {
        return Some(item);
    }
    trace
        .events
        .from_time(time)
        .take(MOST_AT_ONCE)
        .take_while(|id| trace.events.time(*id) == time)
        .map(Item::Event)
        .find(fits)
}

/// Returns every row of kind `sort` that starts at `time`: at most a few per track.
fn rows_at(trace: &Trace, sort: &str, time: Timestamp) -> Vec<Item> {
    let mut found = Vec::new();
    type StartOf<'a> = &'a dyn Fn(u32) -> Option<i64>;
    let mut look = |start: StartOf<'_>, rows: Range<u32>, item: &dyn Fn(u32) -> Item| {
        let first = first_not(rows.start as usize..rows.end as usize, |row| {
            start(row as u32).is_some_and(|start| start < time.0)
        });
        let same = (first as u32..rows.end).take_while(|&row| start(row) == Some(time.0));
        found.extend(same.take(MOST_AT_ONCE).map(item));
    };
    match sort {
        "slice" => {
            for row in &trace.slices.rows {
                look(
                    &|row| trace.slices.starts.get(row as usize),
                    row.slices.clone(),
                    &|id| Item::Slice(SliceId(id)),
                );
            }
        }
        "run" => {
            for cpu in 0..trace.cpus.len() as u32 {
                look(
                    &|row| trace.runs.starts.get(row as usize).copied(),
                    trace.runs.on(CpuId(cpu)),
                    &|id| Item::Run(RunId(id)),
                );
            }
        }
        "state" => {
            for thread in 0..trace.threads.len() as u32 {
                let rows = trace.states.of(ThreadId(thread));
                look(
                    &|row| trace.states.starts.get(row as usize).copied(),
                    rows,
                    &|id| Item::State(StateId(id)),
                );
            }
        }
        "flow" => {
            let rows = &trace.flows.rows;
            let first = rows.partition_point(|flow| flow.from.time < time);
            let same = rows[first..]
                .iter()
                .take_while(|flow| flow.from.time == time);
            let count = same.take(MOST_AT_ONCE).count();
            found.extend((first..first + count).map(|id| Item::Flow(FlowId(id as u32))));
        }
        "instant" => {
            let at = |id: u32| trace.events.time(trace.instants.event(InstantId(id)));
            for track in &trace.tracks {
                let (mut low, mut high) = (track.instants.start, track.instants.end);
                while low < high {
                    let middle = low + (high - low) / 2;
                    if at(middle) < time {
                        low = middle + 1;
                    } else {
                        high = middle;
                    }
                }
                let same = (low..track.instants.end).take_while(|id| at(*id) == time);
                found.extend(
                    same.take(MOST_AT_ONCE)
                        .map(|id| Item::Instant(InstantId(id))),
                );
            }
        }
        "gap" => {
            let ids = (0..trace.gaps.len() as u32).map(GapId);
            let same = ids.filter(|id| trace.gap_span(*id).is_some_and(|it| it.start == time));
            found.extend(same.take(MOST_AT_ONCE).map(Item::Gap));
        }
        "counter" => {
            for (track, id) in trace.counters.tracks.iter().zip(0..) {
                look(
                    &|row| trace.counters.times.get(row as usize).copied(),
                    track.samples.clone(),
                    &|row| Item::Sample(CounterTrackId(id), row),
                );
            }
        }
        _ => {}
    }
    found
}
