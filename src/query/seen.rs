//! The least duration of slices whose end was not seen: the only duration that is shown for them.
//!
//! ```text
//! open at the end of its file     |-----------------~    at least: to the last event of the file
//! open at the end of its thread   |--------~             at least: to the end of the thread
//! cut by an export                |--------~             at least: the part that the export contains
//! its end was lost                |????????|             nothing: it ended at an unknown time before the next slice
//! events were lost meanwhile      |----- gap ------~     at least: to where the gap begins
//! ```

use std::ops::Range;
use std::sync::OnceLock;

use crate::base::{TimeSpan, Timestamp};
use crate::event::Gap;
use crate::trace::{
    EventId, ProcessId, RunId, SliceId, Source, SourceId, StateId, ThreadId, Trace, TrackKind,
};

/// A duration in ns, or a lower bound of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// The duration.
    Known(i64),
    /// The end was not seen: the duration is at least this.
    AtLeast(i64),
}

impl Default for Length {
    fn default() -> Self {
        Length::Known(0)
    }
}

impl Length {
    /// The duration in ns; `None` if only a lower bound is known.
    #[must_use]
    pub(crate) fn known(self) -> Option<i64> {
        match self {
            Length::Known(length) => Some(length),
            Length::AtLeast(_) => None,
        }
    }

    /// Returns the certain part of the duration in ns: the duration itself, or its lower bound.
    #[must_use]
    pub(crate) fn certain(self) -> i64 {
        match self {
            Length::Known(length) | Length::AtLeast(length) => length,
        }
    }

    /// Returns the duration, or the lower bound, that `change` makes of this one.
    #[must_use]
    pub(crate) fn map(self, change: impl FnOnce(i64) -> i64) -> Length {
        match self {
            Length::Known(length) => Length::Known(change(length)),
            Length::AtLeast(length) => Length::AtLeast(change(length)),
        }
    }

    /// Returns the sum of two durations: a lower bound if one of them is.
    #[must_use]
    pub(crate) fn plus(self, other: Length) -> Length {
        let sum = self.certain().saturating_add(other.certain());
        match (self, other) {
            (Length::Known(_), Length::Known(_)) => Length::Known(sum),
            _ => Length::AtLeast(sum),
        }
    }
}

/// The least durations of a trace's unfinished slices; made once before many of them are read.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The gaps of each file.
    files: Vec<Gaps>,
    /// When each process was last seen; made when it is first needed.
    last_of_processes: OnceLock<Vec<Timestamp>>,
}

/// The gaps of a file, sorted by start.
#[derive(Clone, Debug, Default)]
struct Gaps {
    starts: Vec<i64>,
    /// For each gap, the latest end among this gap and all gaps before it.
    latest_ends: Vec<i64>,
}

impl Gaps {
    fn new(trace: &Trace, range: Range<usize>) -> Gaps {
        let gaps = trace.gaps.get(range).unwrap_or_default();
        let mut edges: Vec<(i64, i64)> = gaps
            .iter()
            .map(Gap::span)
            .map(|it| (it.start.0, it.end.0))
            .collect();
        edges.sort_unstable();
        let mut latest = i64::MIN;
        let (mut starts, mut latest_ends) = (Vec::new(), Vec::new());
        for (start, end) in edges {
            latest = latest.max(end);
            starts.push(start);
            latest_ends.push(latest);
        }
        Gaps {
            starts,
            latest_ends,
        }
    }

    /// Returns the time in ns from which an end after `start` may have been lost.
    fn first_after(&self, start: i64) -> i64 {
        let after = self.starts.partition_point(|&gap| gap <= start);
        let is_inside = (after.checked_sub(1))
            .and_then(|before| self.latest_ends.get(before))
            .is_some_and(|&end| end > start);
        match is_inside {
            true => start,
            false => self.starts.get(after).copied().unwrap_or(i64::MAX),
        }
    }
}

impl Seen {
    /// Returns the least durations that follow from `trace`.
    #[must_use]
    pub fn new(trace: &Trace) -> Seen {
        let whole = std::iter::once(0..trace.gaps.len()).filter(|_| trace.sources.is_empty());
        let sources = trace.sources.iter().map(|source| {
            let gaps = &source.gaps;
            gaps.start as usize..gaps.end as usize
        });
        let files = whole.chain(sources).map(|range| Gaps::new(trace, range));
        Seen {
            files: files.collect(),
            last_of_processes: OnceLock::new(),
        }
    }

    /// Returns the time until which a process without an end certainly lived, in a trace in which its life began at
    /// `start`: its last event, or where its end may have been lost.
    pub(crate) fn life_until(&self, trace: &Trace, id: ProcessId, start: Timestamp) -> Timestamp {
        let all = self.last_of_processes.get_or_init(|| {
            let mut all = vec![Timestamp::MIN; trace.processes.len()];
            for thread in &trace.threads {
                let of = thread.process.map(|of| of.0 as usize);
                if let Some(last) = of.and_then(|of| all.get_mut(of)) {
                    *last = thread.seen.last.max(*last);
                }
            }
            all
        });
        let last = all.get(id.0 as usize).copied().unwrap_or(Timestamp::MIN);
        let file = trace.source_of(id.0, |source| &source.processes);
        self.open_until(trace, file, start).max(last)
    }

    /// Returns the time until which an unfinished slice certainly lasted; its start if nothing is certain. Returns the
    /// end of a finished slice. Panics if there is no such slice.
    #[must_use]
    pub fn until(&self, trace: &Trace, id: SliceId) -> Timestamp {
        let row = id.0 as usize;
        let drawn = trace.slice_end(id);
        if !trace.slices.is_unfinished(row) {
            return drawn;
        }
        let start = Timestamp(trace.slices.starts.at(row));
        let file = trace.source_of(trace.slices.begins.at(row), |source| &source.events);
        if trace.slices.is_cut(row) {
            return Timestamp(self.lost_from(file, start)).min(drawn).max(start);
        }
        let is_open = trace.slices.open_end(row).is_none() || open_to_thread_end(trace, id);
        match is_open {
            true => self.open_until(trace, file, start).min(drawn).max(start),
            false => start,
        }
    }

    /// Returns the time until which an item certainly lasted that began at `start` in a file and was still open at the
    /// file's end: the end of the file, or the first gap in which the item's own end may have been lost.
    #[must_use]
    pub(crate) fn open_until(
        &self,
        trace: &Trace,
        file: Option<SourceId>,
        start: Timestamp,
    ) -> Timestamp {
        let lost_from = self.lost_from(file, start);
        // The last event is in the last nanosecond of the file: the time after it is unknown.
        let last = end_of(trace, file).0.saturating_sub(1);
        Timestamp(last.min(lost_from)).max(start)
    }

    /// Returns the time until which a state certainly lasted whose duration is not certain; `drawn` is where it is drawn to
    /// end.
    pub(crate) fn state_until(&self, trace: &Trace, id: StateId, drawn: Timestamp) -> Timestamp {
        let state = trace.states.get(id);
        if state.state.is_over() || state.notes.misses_switches() {
            return state.start;
        }
        self.until_drawn(trace, state.event, TimeSpan::new(state.start, drawn))
    }

    /// Returns the time until which a run certainly lasted whose end was not seen; `drawn` is where it is drawn to end.
    pub(crate) fn run_until(&self, trace: &Trace, id: RunId, drawn: Timestamp) -> Timestamp {
        let run = trace.runs.get(id);
        self.until_drawn(trace, run.event, TimeSpan::new(run.start, drawn))
    }

    /// Returns the time until which an item certainly lasted that began with `event`; it is drawn as `drawn`.
    fn until_drawn(&self, trace: &Trace, event: Option<EventId>, drawn: TimeSpan) -> Timestamp {
        let file = event.and_then(|id| trace.source_of(id.0, |source| &source.events));
        let until = self.open_until(trace, file, drawn.start);
        until.min(drawn.end).max(drawn.start)
    }

    /// Returns the time in ns from which the end of an item that began at `start` in a file may have been lost.
    fn lost_from(&self, file: Option<SourceId>, start: Timestamp) -> i64 {
        let gaps = self.files.get(file.map_or(0, |file| file.0 as usize));
        gaps.map_or(i64::MAX, |gaps| gaps.first_after(start.0))
    }

    /// Returns a part of a slice's duration in ns; `inside` returns how many ns of a drawn span belong to the part. For
    /// an unfinished slice, it is a part of the least duration. If the measured duration differs from the drawn one,
    /// the part is the same share of both. Panics if there is no such slice.
    #[must_use]
    pub(crate) fn part_of_duration(
        &self,
        trace: &Trace,
        id: SliceId,
        inside: impl Fn(TimeSpan) -> i64,
    ) -> Length {
        let (slices, row) = (&trace.slices, id.0 as usize);
        let drawn = drawn_span(trace, id);
        match slices.is_unfinished(row) {
            true => {
                let end = self.until(trace, id).min(drawn.end);
                let certain = TimeSpan { end, ..drawn };
                Length::AtLeast(inside(certain))
            }
            false => Length::Known(slices.part_of_duration(row, drawn, inside(drawn))),
        }
    }

    /// Returns the duration of a slice; for an unfinished slice, how long it certainly lasted. Panics if there is no
    /// such slice.
    #[must_use]
    pub(crate) fn measure(&self, trace: &Trace, id: SliceId) -> Length {
        let (slices, row) = (&trace.slices, id.0 as usize);
        match slices.own_end(row) {
            None => Length::AtLeast(self.length(trace, id)),
            Some(end) => {
                let drawn = || end.saturating_sub(slices.starts.at(row));
                Length::Known(slices.measured(row).unwrap_or_else(drawn))
            }
        }
    }

    /// Returns the least duration of an unfinished slice, in ns.
    #[must_use]
    pub fn length(&self, trace: &Trace, id: SliceId) -> i64 {
        let row = id.0 as usize;
        if trace.slices.is_cut(row)
            && let Some(share) = trace.slices.measured(row)
        {
            return share;
        }
        let start = trace.slices.starts.at(id.0 as usize);
        self.until(trace, id).0.saturating_sub(start).max(0)
    }
}

/// Returns the span that a slice is drawn over. Panics if there is no such slice.
pub(crate) fn drawn_span(trace: &Trace, id: SliceId) -> TimeSpan {
    let (slices, row) = (&trace.slices, id.0 as usize);
    TimeSpan {
        start: Timestamp(slices.starts.at(row)),
        end: Timestamp(slices.end(row).at_most(trace.span.end.0)),
    }
}

/// Returns the end of a file; if there is only one file, the trace's end.
fn end_of(trace: &Trace, file: Option<SourceId>) -> Timestamp {
    let file = file.and_then(|SourceId(at)| trace.sources.get(at as usize));
    file.map_or(trace.span, Source::span).end
}

/// Returns whether a slice is drawn to the end of its thread: if its end was not seen, it was still open then. Panics
/// if there is no such slice.
pub(crate) fn open_to_thread_end(trace: &Trace, id: SliceId) -> bool {
    thread_end(trace, id) == Some(trace.slice_end(id))
}

/// Returns the end of the thread of a slice's track.
fn thread_end(trace: &Trace, id: SliceId) -> Option<Timestamp> {
    let track = trace.slices.row_of(id).track;
    match trace.tracks.get(track.0 as usize)?.kind {
        TrackKind::Thread(thread) if thread != ThreadId::IDLE => trace.thread(thread).end,
        _ => None,
    }
}
