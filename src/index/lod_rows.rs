//! The rows that pyramids are built of: runs, states, slices and instants, read from the trace's tables.

use std::ops::Range;

use super::lod::{EntryCounter, Extent, Lod, Row};
use crate::base::Maybe;
use crate::trace::packed::Packed;
use crate::trace::slices::SliceRow;
use crate::trace::{CpuId, EventCursor, EventId, Slices, ThreadId, ThreadState, Trace, TrackId};

/// A range of a table's columns as a row; items without an end last to the trace's end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpanRow<'a, L> {
    starts: &'a [i64],
    ends: &'a [Maybe<i64>],
    labels: &'a [L],
    trace_end: i64,
}

/// A row of slices; slices without an end last to the trace's end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlicesRow<'a> {
    slices: &'a Slices,
    first: u32,
    count: u32,
    trace_end: i64,
}

/// A value of a label column.
pub(crate) trait Label: Copy {
    /// Whether items belong to different parts of the row's time.
    const HAS_PARTS: bool = false;
    /// Returns the label as a number.
    fn number(self) -> u32;
    /// Returns the part that items with this number count for.
    fn part(_number: u32) -> usize {
        0
    }
}

impl Label for u32 {
    fn number(self) -> u32 {
        self
    }
}

impl Label for ThreadState {
    const HAS_PARTS: bool = true;
    fn number(self) -> u32 {
        self as u32
    }
    fn part(number: u32) -> usize {
        let state = ThreadState::ALL.get(number as usize).copied();
        StatePart::of(state.unwrap_or_default()) as usize
    }
}

/// The parts into which a thread's time is divided, in the order in which they are stacked, from the bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatePart {
    /// On a CPU.
    Running,
    /// Ready, waits for a CPU.
    Runnable,
    /// Ready, was pushed off its CPU.
    Preempted,
    /// Waits and cannot be interrupted: mostly for a disk.
    Blocked,
    /// Stopped, created, unknown.
    Other,
    /// Waits for something to do, or is gone.
    Asleep,
}

impl StatePart {
    /// All parts, in the order of their numbers.
    pub(crate) const ALL: [StatePart; super::lod::PARTS] = [
        StatePart::Running,
        StatePart::Runnable,
        StatePart::Preempted,
        StatePart::Blocked,
        StatePart::Other,
        StatePart::Asleep,
    ];

    /// Returns the part that a state counts for.
    #[must_use]
    pub(crate) fn of(state: ThreadState) -> StatePart {
        match state {
            ThreadState::Running => StatePart::Running,
            ThreadState::Runnable => StatePart::Runnable,
            ThreadState::Preempted => StatePart::Preempted,
            ThreadState::Uninterruptible => StatePart::Blocked,
            ThreadState::Stopped
            | ThreadState::Traced
            | ThreadState::Created
            | ThreadState::Unknown => StatePart::Other,
            ThreadState::Sleeping
            | ThreadState::Zombie
            | ThreadState::Dead
            | ThreadState::Parked
            | ThreadState::Idle => StatePart::Asleep,
        }
    }

    /// Returns the state in whose colour the part is drawn.
    #[must_use]
    pub(crate) fn state(self) -> ThreadState {
        match self {
            StatePart::Running => ThreadState::Running,
            StatePart::Runnable => ThreadState::Runnable,
            StatePart::Preempted => ThreadState::Preempted,
            StatePart::Blocked => ThreadState::Uninterruptible,
            StatePart::Other => ThreadState::Unknown,
            StatePart::Asleep => ThreadState::Sleeping,
        }
    }
}

/// Returns a row of slices; the label is the slice's [`LabelId`](crate::trace::LabelId).
#[must_use]
pub(crate) fn slice_row<'a>(trace: &'a Trace, row: &SliceRow) -> SlicesRow<'a> {
    SlicesRow {
        slices: &trace.slices,
        first: row.slices.start,
        count: row.slices.len() as u32,
        trace_end: trace.span.end.0,
    }
}

/// Returns the runs of a CPU as a row; the label is the thread.
#[must_use]
pub(crate) fn run_row(trace: &Trace, cpu: CpuId) -> SpanRow<'_, u32> {
    let range = trace.runs.on(cpu);
    let range = range.start as usize..range.end as usize;
    SpanRow {
        starts: &trace.runs.starts[range.clone()],
        ends: &trace.runs.ends[range.clone()],
        labels: &trace.runs.threads[range],
        trace_end: trace.span.end.0,
    }
}

/// Returns the states of a thread as a row; the label is the state's number.
#[must_use]
pub(crate) fn state_row(trace: &Trace, thread: ThreadId) -> SpanRow<'_, ThreadState> {
    let range = trace.states.of(thread);
    let range = range.start as usize..range.end as usize;
    SpanRow {
        starts: &trace.states.starts[range.clone()],
        ends: &trace.states.ends[range.clone()],
        labels: &trace.states.states[range],
        trace_end: trace.span.end.0,
    }
}

impl<L: Label> Row for SpanRow<'_, L> {
    fn len(&self) -> u32 {
        self.starts.len() as u32
    }
    fn start(&self, i: u32) -> i64 {
        self.starts[i as usize]
    }
    fn end(&self, i: u32) -> i64 {
        let start = self.starts[i as usize];
        self.ends[i as usize].at_most(self.trace_end).max(start)
    }
    fn label(&self, i: u32) -> u32 {
        self.labels[i as usize].number()
    }
    fn part(&self, label: u32) -> usize {
        L::part(label)
    }
    fn has_parts(&self) -> bool {
        L::HAS_PARTS
    }
}

impl SlicesRow<'_> {
    fn rows(&self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }

    /// The end of a slice that starts at `start`.
    #[inline]
    fn end_from(&self, row: usize, start: i64) -> i64 {
        let end = self.slices.ends.get(row, start);
        end.at_most(self.trace_end).max(start)
    }
}

impl Row for SlicesRow<'_> {
    fn len(&self) -> u32 {
        self.count
    }
    fn start(&self, i: u32) -> i64 {
        self.slices.starts.at((self.first + i) as usize)
    }
    fn end(&self, i: u32) -> i64 {
        let row = (self.first + i) as usize;
        self.end_from(row, self.slices.starts.at(row))
    }
    fn label(&self, i: u32) -> u32 {
        self.slices.label_ids.at((self.first + i) as usize)
    }
    fn extents(&self) -> impl Iterator<Item = Extent> {
        let starts = self.slices.starts.range(self.rows());
        self.rows().zip(starts).map(|(row, start)| Extent {
            start,
            end: self.end_from(row, start),
        })
    }
    fn labels(&self) -> impl Iterator<Item = u32> {
        self.slices.label_ids.range(self.rows())
    }
}

/// The instants of a track as a row; the label is the event's kind.
#[derive(Clone, Debug)]
pub(crate) struct InstantRow<'a> {
    cursor: EventCursor<'a>,
    events: &'a Packed<u32>,
    first: u32,
    count: u32,
}

impl<'a> InstantRow<'a> {
    /// Returns the instants of `track` as a row.
    #[must_use]
    pub(crate) fn new(trace: &'a Trace, track: TrackId) -> InstantRow<'a> {
        let rows = trace.tracks.get(track.0 as usize);
        let rows = rows.map_or(0..0, |track| track.instants.clone());
        InstantRow {
            cursor: trace.events.cursor(),
            events: &trace.instants.events,
            first: rows.start,
            count: rows.len() as u32,
        }
    }

    fn event(&self, i: u32) -> EventId {
        EventId(self.events.at((self.first + i) as usize))
    }

    /// Builds the pyramid of the row. Times and kinds are copied to `scratch`, so that each event is looked up only
    /// once.
    #[must_use]
    pub(crate) fn lod(&self, scratch: &mut PointRow) -> Lod {
        let mut counter = EntryCounter::default();
        scratch.times.clear();
        scratch.labels.clear();
        let rows = self.first as usize..(self.first + self.count) as usize;
        for event in self.events.range(rows) {
            let found = self.cursor.time_and_kind(EventId(event));
            scratch.times.push(found.time.0);
            scratch.labels.push(found.kind.0);
            counter.add(found.time.0, 0);
        }
        Lod::of_points(scratch, &scratch.times, &scratch.labels, &counter)
    }
}

/// Instants with their times (ns) and labels.
#[derive(Clone, Debug, Default)]
pub(crate) struct PointRow {
    times: Vec<i64>,
    labels: Vec<u32>,
}

impl Row for PointRow {
    fn has_only_points(&self) -> bool {
        true
    }
    fn len(&self) -> u32 {
        self.times.len() as u32
    }
    fn start(&self, i: u32) -> i64 {
        self.times[i as usize]
    }
    fn end(&self, i: u32) -> i64 {
        self.times[i as usize]
    }
    fn label(&self, i: u32) -> u32 {
        self.labels[i as usize]
    }
}

impl Row for InstantRow<'_> {
    fn has_only_points(&self) -> bool {
        true
    }
    fn len(&self) -> u32 {
        self.count
    }
    fn start(&self, i: u32) -> i64 {
        self.cursor.time(self.event(i)).0
    }
    fn end(&self, i: u32) -> i64 {
        self.start(i)
    }
    fn label(&self, i: u32) -> u32 {
        self.cursor.kind(self.event(i)).0
    }
}
