//! The waker of a thread: another thread, or an interrupt that ran on the CPU in place of a thread.
//!
//! The flags of the waking event and recorded interrupts show whether it was an interrupt: a wakeup inside a handler is
//! the handler's, whichever thread was interrupted.

use crate::base::order::first_not;
use crate::base::{Nanos, StringId, Timestamp};
use crate::event::Interrupt;
use crate::event::family::Family;
use crate::query::Item;
use crate::query::item::title;
use crate::trace::slices::SliceRow;
use crate::trace::{CpuId, EventId, SliceId, State, ThreadId, Trace, TrackId, TrackKind};

/// A softirq that begins this soon after an interrupt's end was raised by it.
const SOFTIRQ_FOLLOWS: Nanos = Nanos(50_000);

/// The waker of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Waker {
    /// A thread.
    Thread(ThreadId),
    /// An interrupt.
    Interrupt(InterruptWaker),
}

/// An interrupt that woke a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InterruptWaker {
    /// The kind of interrupt, if the event's flags or a recorded handler show it.
    pub kind: Option<Interrupt>,
    /// The recorded handlers that ran when it happened, the innermost first. A softirq that directly follows an interrupt
    /// comes after that interrupt in the list. Empty if interrupts were not recorded.
    pub slices: Vec<SliceId>,
    /// The handler's name, if the file contains it beside the wakeup.
    pub name: Option<StringId>,
    /// The CPU, if it is known.
    pub cpu: Option<CpuId>,
    /// The interrupted thread, if it is known.
    pub interrupted: Option<ThreadId>,
}

impl Waker {
    /// Returns the thread, if it was a thread.
    #[must_use]
    pub(crate) fn thread(&self) -> Option<ThreadId> {
        match self {
            Waker::Thread(thread) => Some(*thread),
            Waker::Interrupt(_) => None,
        }
    }

    /// The thread whose name and number [`Waker::text`] returns.
    pub(crate) fn named(&self) -> Option<ThreadId> {
        self.thread().filter(|&id| id != ThreadId::IDLE)
    }

    /// Returns the thread's name and number, or the interrupt's name.
    #[must_use]
    pub(crate) fn text(&self, trace: &Trace) -> String {
        match self {
            // The waker is the idle thread if an interrupt on an idle CPU woke the thread (and the file lacks the
            // events' flags), or if another CPU asked the idle CPU to do it.
            Waker::Thread(ThreadId::IDLE) => "an idle CPU".to_owned(),
            Waker::Thread(thread) => trace.thread_title(*thread),
            Waker::Interrupt(interrupt) => interrupt.text(trace),
        }
    }
}

impl InterruptWaker {
    /// Returns the name of its handler; `None` if it is not recorded.
    #[must_use]
    pub(crate) fn handler(&self, trace: &Trace) -> Option<String> {
        let slice = self.slices.first().map(|&slice| Item::Slice(slice));
        let recorded = slice.map(|slice| title(trace, slice));
        recorded.or_else(|| Some(trace.text(self.name?).into_owned()))
    }

    /// Returns the name of its handler, or else its kind in words.
    #[must_use]
    pub(crate) fn text(&self, trace: &Trace) -> String {
        let kind = || self.kind.map_or("an interrupt", Interrupt::words);
        self.handler(trace).unwrap_or_else(|| kind().to_owned())
    }
}

/// Returns the waker of the thread of a state that began with a wakeup. `None` if it began otherwise, or if the waker
/// is not recorded.
#[must_use]
pub(crate) fn waker_of(trace: &Trace, state: &State) -> Option<Waker> {
    if !state.notes.is_woken() {
        return None;
    }
    let event = state
        .event
        .filter(|id| (id.0 as usize) < trace.events.len());
    let cpu = event.and_then(|id| trace.events.get(id).cpu).map(CpuId);
    let of_flags = state.notes.interrupt();
    let woken = Woken {
        time: state.start,
        event,
    };
    let mut slices = interrupts_at(trace, cpu, woken);
    // A hard interrupt without recorded events may have happened inside a softirq.
    let is_inside = |slice: &SliceId| match of_flags {
        Some(Interrupt::Hard | Interrupt::Nmi) => kind_of(trace, *slice) != Some(Interrupt::Soft),
        _ => true,
    };
    if !slices.first().is_none_or(is_inside) {
        slices.clear();
    }
    let kind = of_flags.or_else(|| slices.first().and_then(|slice| kind_of(trace, *slice)));
    let name = event.and_then(|id| trace.states.woken_by(id));
    if kind.is_some() || !slices.is_empty() || name.is_some() {
        let interrupted = event.and_then(|id| trace.events.thread(id));
        return Some(Waker::Interrupt(InterruptWaker {
            kind,
            slices,
            name,
            cpu,
            interrupted,
        }));
    }
    state.waker.map(Waker::Thread)
}

/// Returns the kind of a handler; timers run in both kinds of interrupts.
fn kind_of(trace: &Trace, slice: SliceId) -> Option<Interrupt> {
    match trace.slices.label(slice).family {
        Family::Softirqs => Some(Interrupt::Soft),
        Family::Irqs | Family::Vectors => Some(Interrupt::Hard),
        _ => None,
    }
}

/// A wakeup.
#[derive(Clone, Copy)]
struct Woken {
    time: Timestamp,
    event: Option<EventId>,
}

impl Woken {
    /// Returns whether another event of the same time comes before the wakeup in the file; `None` if they are not in one
    /// lane.
    fn is_after(self, trace: &Trace, other: Option<EventId>) -> Option<bool> {
        let (own, other) = (self.event?, other?);
        let is_one = trace.events.lane_of(own) == trace.events.lane_of(other);
        is_one.then_some(other.0 < own.0)
    }

    /// Returns whether it happened inside a slice. Of events at one time, those of one lane are in order.
    fn is_inside(self, trace: &Trace, slice: u32) -> bool {
        let (slices, row) = (&trace.slices, slice as usize);
        // An interrupt whose end was lost does not count as running at a later time.
        if slices.is_unfinished(row) {
            return false;
        }
        let start = Timestamp(slices.starts.at(row));
        let end = slices.end(row).get().map(Timestamp);
        let begin = || Some(slices.begin(row));
        let has_begun =
            start < self.time || start == self.time && self.is_after(trace, begin()) == Some(true);
        let is_over = match end {
            None => false,
            Some(end) if end == self.time => self.is_after(trace, slices.finish(row)) == Some(true),
            Some(end) => end < self.time,
        };
        has_begun && !is_over
    }
}

/// Returns the interrupts that ran on a CPU at a wakeup, the innermost first. A softirq that directly follows an
/// interrupt comes after that interrupt in the list.
fn interrupts_at(trace: &Trace, cpu: Option<CpuId>, woken: Woken) -> Vec<SliceId> {
    let Some(track) = cpu.and_then(|cpu| trace.track_of(TrackKind::Cpu(cpu))) else {
        return Vec::new();
    };
    let mut found: Vec<SliceId> = around(trace, track, woken);
    if let Some(&outermost) = found.last()
        && kind_of(trace, outermost) == Some(Interrupt::Soft)
    {
        let start = Timestamp(trace.slices.starts.at(outermost.0 as usize));
        found.extend(last_before(trace, track, start).filter(|slice| {
            let end = trace.slices.end(slice.0 as usize).get();
            let follows = end.is_some_and(|end| start - Timestamp(end) <= SOFTIRQ_FOLLOWS);
            follows && kind_of(trace, *slice) == Some(Interrupt::Hard)
        }));
    }
    found
}

fn is_interrupt(trace: &Trace, slice: SliceId) -> bool {
    let family = trace.slices.label(slice).family;
    matches!(
        family,
        Family::Irqs | Family::Softirqs | Family::Vectors | Family::Timers
    )
}

fn rows_of(trace: &Trace, track: TrackId) -> &[SliceRow] {
    let rows = trace
        .tracks
        .get(track.0 as usize)
        .map(|track| track.rows.clone());
    let rows = rows.unwrap_or(0..0);
    trace
        .slices
        .rows
        .get(rows.start as usize..rows.end as usize)
        .unwrap_or(&[])
}

/// Returns the interrupts of a track around a wakeup, the innermost first.
fn around(trace: &Trace, track: TrackId, woken: Woken) -> Vec<SliceId> {
    let slices = &trace.slices;
    let place = (woken.time.0, woken.event.map_or(0, |event| event.0));
    let is_before = |at: usize| (slices.starts.at(at), slices.begins.at(at)) < place;
    let rows = rows_of(trace, track).iter().rev();
    let found = rows.filter_map(|row| {
        let range = row.slices.start as usize..row.slices.end as usize;
        let after = first_not(range.clone(), is_before);
        // Behind the one around it there may be one of another buffer of the CPU at the same time.
        let near = (range.start.max(after.saturating_sub(2))..after).rev();
        let mut near = near.map(|at| at as u32);
        near.find(|&slice| woken.is_inside(trace, slice))
            .map(SliceId)
    });
    found.filter(|slice| is_interrupt(trace, *slice)).collect()
}

/// Returns the topmost slice of a track that ended last before `time`.
fn last_before(trace: &Trace, track: TrackId, time: Timestamp) -> Option<SliceId> {
    let slices = &trace.slices;
    let row = rows_of(trace, track).first()?;
    let after = slices.first_that(row, |at| slices.end(at) > time.0);
    let last = after.checked_sub(1).filter(|&at| at >= row.slices.start)?;
    Some(SliceId(last))
}
