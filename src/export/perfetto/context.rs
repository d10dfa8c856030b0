//! The data that all parts of the export read.

use super::event_types::{Derives, SWITCH};
use super::people::People;
use super::plan::Plans;
use super::sources::{KernelSources, Machine};
use super::subjects::Subjects;
use super::values::StateBits;
use crate::base::{TimeSpan, Timestamp};
use crate::event::SliceKind;
use crate::formats::Events;
use crate::query::selection::Chosen;
use crate::trace::{CpuId, EventId, SliceId, ThreadId, Trace};

/// A trace, the chosen part of it, and how it is written.
pub(super) struct Context<'a> {
    pub trace: &'a Trace,
    pub chosen: &'a Chosen<'a>,
    pub reader: &'a dyn Events,
    pub sources: &'a KernelSources<'a>,
    pub people: &'a People<'a>,
    pub plans: &'a Plans<'a>,
    /// How thread states are numbered, by machine.
    pub states: Vec<StateBits>,
    /// The threads whose states are chosen.
    pub subjects: Subjects,
    /// Added to all times so that none is below zero, in ns.
    pub shift: i64,
}

impl<'a> Context<'a> {
    /// Returns a time as it is written.
    #[inline]
    pub(super) fn time(&self, time: i64) -> u64 {
        time.saturating_add(self.shift).max(0).cast_unsigned()
    }

    /// Returns the range, clipped to the trace.
    pub(super) fn span(&self) -> TimeSpan {
        let (chosen, whole) = (self.chosen.span, self.trace.span);
        TimeSpan::new(chosen.start.max(whole.start), chosen.end.min(whole.end))
    }

    /// Returns the number of a CPU in the file.
    pub(super) fn cpu(&self, cpu: u32) -> Option<u32> {
        self.people.cpu(CpuId(cpu))
    }

    /// Returns whether an event is written as an ftrace event, and trace_processor derives the same rows from it that
    /// the trace has: these rows are not written again.
    pub(crate) fn is_derived(&self, id: EventId) -> bool {
        if !self.plans.derive_any() {
            return false;
        }
        let kind = self.trace.events.kind(id);
        let is_derived = |machine| self.plans.of(machine, kind).derives() != Derives::Nothing;
        self.sources.of_event(id).is_some_and(is_derived)
    }

    /// Returns whether trace_processor derives a slice from its begin and end. It makes no slices of programs
    /// and open files, although these may begin with events from which it derives other slices.
    pub(crate) fn is_derived_slice(&self, slice: SliceId) -> bool {
        if !self.plans.derive_any() {
            return false;
        }
        let kind = self.trace.slices.label(slice).kind;
        let is_ours = matches!(kind, SliceKind::Processes | SliceKind::OpenFiles);
        let begin = self.trace.slices.begin(slice.0 as usize);
        !is_ours && self.is_derived(begin)
    }

    /// Returns whether trace_processor derives the runs of a CPU and the states of its threads from the kernel's
    /// context switches.
    pub(crate) fn has_switches_of(&self, cpu: CpuId) -> bool {
        let has_switches = |machine| self.plans.has_typed(machine, SWITCH.event);
        self.sources.of_cpu(cpu).is_some_and(has_switches)
    }

    /// Returns whether trace_processor derives the states of a thread from the kernel's context switches.
    pub(crate) fn has_switches_of_thread(&self, thread: ThreadId) -> bool {
        let has_switches = |machine| self.plans.has_typed(machine, SWITCH.event);
        self.sources.of_thread(thread).is_some_and(has_switches)
    }

    /// Returns how a machine's kernel numbers thread states.
    pub(super) fn states(&self, machine: Machine) -> StateBits {
        let states = self.states.get(machine.0 as usize).copied();
        states.unwrap_or(StateBits::Assumed)
    }

    /// Returns whether an ftrace event is written because it is in the range and chosen itself.
    pub(crate) fn is_written_event(&self, id: EventId) -> bool {
        let time: Timestamp = self.trace.events.time(id);
        self.chosen.span.contains(time) && self.chosen.has_event(id)
    }
}
