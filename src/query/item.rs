//! The items of a trace that can be selected and linked.

use super::gaps;
use crate::base::{TimeSpan, Timestamp};
use crate::formats::EventRef;
use crate::query::seen::{Length, Seen};
use crate::trace::counters::CounterScope;
use crate::trace::{
    CounterTrackId, CpuId, EventId, FlowId, GapId, InstantId, ProcessId, RunId, SliceId, StateId,
    ThreadId, Trace, TrackId, TrackKind,
};

/// One item of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    /// A slice.
    Slice(SliceId),
    /// A thread on a CPU.
    Run(RunId),
    /// A state of a thread.
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
    /// A stretch of time in which the recorder lost events.
    Gap(GapId),
}

impl Item {
    /// Returns the time span of an item: an event has no length, an unfinished slice lasts to the trace's end. `None`
    /// if there is no such item, or if it has no time of its own.
    #[must_use]
    pub fn span(self, trace: &Trace) -> Option<TimeSpan> {
        let until = |end: Option<Timestamp>| end.unwrap_or(trace.span.end);
        match self {
            Item::Slice(id) => (id.0 < trace.slices.len() as u32)
                .then(|| trace.slices.get(id))
                .map(|s| TimeSpan::new(s.start, trace.slice_end(id).max(s.start))),
            Item::Run(id) => (id.0 < trace.runs.len() as u32)
                .then(|| trace.runs.get(id))
                .map(|r| TimeSpan::new(r.start, until(r.end))),
            Item::State(id) => (id.0 < trace.states.len() as u32)
                .then(|| trace.states.get(id))
                .map(|s| TimeSpan::new(s.start, until(s.end))),
            Item::Instant(id) => {
                let event = EventId(trace.instants.events.get(id.0 as usize)?);
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
            Item::Sample(number, row) => {
                let track = trace.counters.tracks.get(number.0 as usize)?;
                let start = Timestamp(*trace.counters.times.get(row as usize)?);
                let next = if row + 1 < track.samples.end {
                    Timestamp(trace.counters.times[row as usize + 1])
                } else {
                    trace.file_span(number.0, |source| &source.counters).end
                };
                Some(TimeSpan::new(start, next.max(start)))
            }
            Item::Thread(id) => trace.threads.get(id.0 as usize).map(|thread| {
                TimeSpan::new(
                    thread.start.unwrap_or(thread.seen.first),
                    thread.end.unwrap_or(thread.seen.last),
                )
            }),
            Item::Process(id) => trace.processes.get(id.0 as usize).map(|process| {
                let seen = trace.file_span(id.0, |source| &source.processes);
                TimeSpan::new(
                    process.start.unwrap_or(seen.start),
                    process.end.unwrap_or(seen.end),
                )
            }),
            Item::Gap(id) => trace.gap_span(id),
            Item::Cpu(_) | Item::Track(_) => None,
        }
    }

    /// Returns the duration of an item: the measured duration, else the distance from its start
    /// to its end. If the end was not seen (or, for a thread or process, the start), the least duration is returned.
    /// `None` if there is no such item, or if it has no duration.
    #[must_use]
    pub fn duration(self, trace: &Trace, seen: &Seen) -> Option<Length> {
        let span = self.span(trace)?;
        let whole = Length::Known(span.duration().0);
        let until = |end: Timestamp| Length::AtLeast((end - span.start).0);
        Some(match self {
            Item::Slice(id) => seen.measure(trace, id),
            Item::Run(id) => match trace.runs.get(id) {
                run if trace.run_end(&run).is_none() => until(seen.run_until(trace, id, span.end)),
                _ => whole,
            },
            Item::State(id) => match trace.states.get(id) {
                _ if !trace.states.is_uncertain(id.0 as usize) => whole,
                _ => until(seen.state_until(trace, id, span.end)),
            },
            Item::Thread(id) => {
                let thread = trace.thread(id);
                between(thread.start, thread.end, whole)
            }
            Item::Process(id) => match trace.processes.get(id.0 as usize)? {
                process if process.end.is_some() => between(process.born(), process.end, whole),
                _ => until(seen.life_until(trace, id, span.start).min(span.end)),
            },
            Item::Gap(id) => Length::Known(trace.gap(id)?.duration()?.0),
            _ => whole,
        })
    }

    /// Returns the item's thread, if it belongs to one.
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
                trace.events.thread(EventId(event))
            }
            Item::Event(id) => ((id.0 as usize) < trace.events.len())
                .then(|| trace.events.thread(id))
                .flatten(),
            Item::Slice(id) if id.0 < trace.slices.len() as u32 => {
                match trace
                    .tracks
                    .get(trace.slices.row_of(id).track.0 as usize)?
                    .kind
                {
                    TrackKind::Thread(thread) => Some(thread),
                    TrackKind::Cpu(_) | TrackKind::Nobody | TrackKind::Async(_) => {
                        let begin = trace.slices.begin(id.0 as usize);
                        trace.events.thread(begin)
                    }
                }
            }
            _ => None,
        }
    }
}

/// Returns the length of a life that was seen from `start` to `end`: known if both the start and the end were seen.
fn between(start: Option<Timestamp>, end: Option<Timestamp>, length: Length) -> Length {
    match (start, end) {
        (Some(_), Some(_)) => length,
        _ => Length::AtLeast(length.certain()),
    }
}

/// Returns the word for the type of an item.
#[must_use]
pub(crate) fn type_word(item: Item) -> &'static str {
    match item {
        Item::Slice(_) => "slice",
        Item::Run(_) => "run",
        Item::State(_) => "state",
        Item::Instant(_) => "instant",
        Item::Event(_) => "event",
        Item::Flow(_) => "flow",
        Item::Sample(..) => "counter",
        Item::Thread(_) => "thread",
        Item::Process(_) => "process",
        Item::Cpu(_) => "cpu",
        Item::Track(_) => "track",
        Item::Gap(_) => "gap",
    }
}

fn label_name(trace: &Trace, id: SliceId) -> String {
    let label = trace.slices.label_ids.get(id.0 as usize);
    let label = label.and_then(|label| trace.slices.labels.get(label as usize));
    label.map_or_else(String::new, |label| trace.text(label.name).into_owned())
}

/// Returns the item's name; empty if there is no such item or it has no name.
#[must_use]
pub fn title(trace: &Trace, item: Item) -> String {
    match item {
        Item::Thread(id) => trace.thread_name(id).into_owned(),
        Item::Run(id) => {
            let thread = trace.runs.threads.get(id.0 as usize);
            thread.map_or_else(String::new, |id| {
                trace.thread_name(ThreadId(*id)).into_owned()
            })
        }
        Item::State(id) => {
            let state = trace.states.states.get(id.0 as usize);
            state.map_or_else(String::new, |state| state.word().to_owned())
        }
        Item::Flow(id) => {
            let flow = trace.flows.rows.get(id.0 as usize);
            flow.map_or_else(String::new, |flow| trace.text(flow.name).into_owned())
        }
        Item::Process(id) => trace.text(trace.processes[id.0 as usize].name).into_owned(),
        Item::Sample(track, _) => {
            let track = trace.counters.tracks.get(track.0 as usize);
            track.map_or_else(String::new, |track| trace.text(track.name).into_owned())
        }
        Item::Track(id) => track_title(trace, id),
        Item::Gap(id) => trace
            .gap(id)
            .map_or_else(String::new, |_| gaps::NAME.to_owned()),
        Item::Cpu(id) => trace.cpu_title(id),
        Item::Slice(id) => label_name(trace, id),
        Item::Event(_) | Item::Instant(_) => event_of(trace, item).map_or_else(String::new, |id| {
            trace.kind_name(trace.events.kind(id)).into_owned()
        }),
    }
}

/// Returns the track's own name, or else its owner's.
#[must_use]
pub(crate) fn track_title(trace: &Trace, id: TrackId) -> String {
    let Some(track) = trace.tracks.get(id.0 as usize) else {
        return String::new();
    };
    if track.name != crate::base::StringId::EMPTY {
        return trace.text(track.name).into_owned();
    }
    match track.kind {
        TrackKind::Thread(thread) => trace.thread_name(thread).into_owned(),
        TrackKind::Nobody => trace.thread_name(None).into_owned(),
        TrackKind::Cpu(cpu) => trace.cpu_title(cpu),
        TrackKind::Async(Some(process)) => {
            let process = trace.processes.get(process.0 as usize);
            process.map_or_else(String::new, |process| trace.text(process.name).into_owned())
        }
        TrackKind::Async(None) => String::new(),
    }
}

/// Returns the event that an item is, or that began it.
#[must_use]
pub fn event_of(trace: &Trace, item: Item) -> Option<EventId> {
    let id = match item {
        Item::Event(id) => Some(id),
        Item::Instant(id) => trace.instants.events.get(id.0 as usize).map(EventId),
        Item::Slice(id) => trace.slices.begins.get(id.0 as usize).map(EventId),
        Item::Run(id) => trace.runs.events.get(id.0 as usize)?.get().map(EventId),
        Item::State(id) => trace.states.events.get(id.0 as usize)?.get().map(EventId),
        Item::Sample(_, row) => trace
            .counters
            .events
            .get(row as usize)
            .copied()
            .map(EventId),
        Item::Flow(id) => trace
            .flows
            .rows
            .get(id.0 as usize)
            .map(|flow| flow.from.event),
        _ => None,
    };
    id.filter(|id| (id.0 as usize) < trace.events.len())
}

/// The reader's reference to an event.
#[must_use]
pub fn event_ref(trace: &Trace, id: EventId) -> EventRef {
    trace.events.get(id).into()
}

/// Returns the number of the CPU on which the item happened, if there is one.
#[must_use]
pub(crate) fn cpu_number(trace: &Trace, item: Item) -> Option<u32> {
    let index = match item {
        Item::Cpu(id) => Some(id.0),
        Item::Run(id) => Some(trace.runs.get(id).cpu.0),
        Item::State(id) => trace.states.get(id).cpu,
        Item::Sample(track, _) => match trace.counters.tracks.get(track.0 as usize)?.scope {
            CounterScope::Cpu(cpu) => Some(cpu.0),
            _ => None,
        },
        Item::Slice(id) => {
            let track = trace.tracks.get(trace.slices.row_of(id).track.0 as usize)?;
            match track.kind {
                TrackKind::Cpu(cpu) => Some(cpu.0),
                _ => trace.events.get(event_of(trace, item)?).cpu,
            }
        }
        Item::Event(_) | Item::Instant(_) => trace.events.get(event_of(trace, item)?).cpu,
        Item::Gap(id) => return trace.gap(id)?.cpu,
        _ => None,
    };
    trace.cpus.get(index? as usize).map(|cpu| cpu.number)
}
