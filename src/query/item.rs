//! What can be pointed at, selected, linked to.

use crate::base::{TimeSpan, Timestamp};
use crate::trace::{
    CounterTrackId, CpuId, EventId, FlowId, InstantId, ProcessId, RunId, SliceId, StateId,
    ThreadId, Trace, TrackId, TrackKind,
};

/// One thing in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    /// A slice.
    Slice(SliceId),
    /// A thread on a CPU.
    Run(RunId),
    /// What a thread was doing.
    State(StateId),
    /// A point on a track.
    Instant(InstantId),
    /// A raw event.
    Event(EventId),
    /// An arrow.
    Flow(FlowId),
    /// A counter's sample: the track, and the sample's row in the trace's counters.
    Sample(CounterTrackId, u32),
    /// A thread.
    Thread(ThreadId),
    /// A process.
    Process(ProcessId),
    /// A CPU.
    Cpu(CpuId),
    /// A track.
    Track(TrackId),
}

impl Item {
    /// The time it takes: an event takes none, an unfinished slice lasts to the trace's end. `None` if there
    /// is no such item, or if it has no time of its own.
    #[must_use]
    pub fn span(self, trace: &Trace) -> Option<TimeSpan> {
        let until = |end: Option<Timestamp>| end.unwrap_or(trace.span.end);
        match self {
            Item::Slice(id) => (id.0 < trace.slices.len() as u32)
                .then(|| trace.slices.get(id))
                .map(|s| TimeSpan::new(s.start, until(s.end))),
            Item::Run(id) => (id.0 < trace.runs.len() as u32)
                .then(|| trace.runs.get(id))
                .map(|r| TimeSpan::new(r.start, until(r.end))),
            Item::State(id) => (id.0 < trace.states.len() as u32)
                .then(|| trace.states.get(id))
                .map(|s| TimeSpan::new(s.start, until(s.end))),
            Item::Instant(id) => {
                let event = EventId(*trace.instants.events.get(id.0 as usize)?);
                let time = trace.events.time(event);
                Some(TimeSpan::new(time, time))
            }
            Item::Event(id) => (id.0 < trace.events.len() as u32)
                .then(|| trace.events.time(id))
                .map(|time| TimeSpan::new(time, time)),
            Item::Flow(id) => trace.flows.rows.get(id.0 as usize).map(|flow| {
                TimeSpan::new(
                    flow.from.time.min(flow.to.time),
                    flow.from.time.max(flow.to.time),
                )
            }),
            Item::Sample(track, row) => {
                let track = trace.counters.tracks.get(track.0 as usize)?;
                let start = Timestamp(*trace.counters.times.get(row as usize)?);
                let next = (row + 1 < track.samples.end)
                    .then(|| Timestamp(trace.counters.times[row as usize + 1]));
                Some(TimeSpan::new(start, until(next)))
            }
            Item::Thread(id) => trace.threads.get(id.0 as usize).map(|thread| {
                TimeSpan::new(
                    thread.start.unwrap_or(thread.seen.0),
                    thread.end.unwrap_or(thread.seen.1),
                )
            }),
            Item::Process(id) => trace.processes.get(id.0 as usize).map(|process| {
                TimeSpan::new(
                    process.start.unwrap_or(trace.span.start),
                    process.end.unwrap_or(trace.span.end),
                )
            }),
            Item::Cpu(_) | Item::Track(_) => None,
        }
    }

    /// The thread it belongs to, if it belongs to one.
    #[must_use]
    pub fn thread(self, trace: &Trace) -> Option<ThreadId> {
        match self {
            Item::Thread(id) => Some(id),
            Item::Run(id) => (id.0 < trace.runs.len() as u32)
                .then(|| ThreadId(trace.runs.threads[id.0 as usize])),
            Item::State(id) => {
                (id.0 < trace.states.len() as u32).then(|| trace.states.get(id).thread)
            }
            Item::Instant(id) => {
                let event = trace.instants.events.get(id.0 as usize)?;
                Some(trace.events.thread(EventId(*event)))
            }
            Item::Event(id) => (id.0 < trace.events.len() as u32).then(|| trace.events.thread(id)),
            Item::Slice(id) if id.0 < trace.slices.len() as u32 => {
                match trace
                    .tracks
                    .get(trace.slices.row_of(id).track.0 as usize)?
                    .kind
                {
                    TrackKind::Thread(thread) => Some(thread),
                    TrackKind::Cpu(_) | TrackKind::Async(_) => Some(
                        trace
                            .events
                            .thread(EventId(trace.slices.begins[id.0 as usize])),
                    ),
                }
            }
            _ => None,
        }
        .filter(|id| *id != ThreadId::NONE)
    }
}
