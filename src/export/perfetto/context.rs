//! What all parts of the export read.

use super::event_types::{Derives, SWITCH};
use super::people::People;
use super::plan::Plans;
use super::sources::KernelSources;
use super::values::StateBits;
use crate::base::{TimeSpan, Timestamp};
use crate::event::{FieldRef, SliceKind};
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
    pub plans: &'a Plans,
    /// How thread states are numbered.
    pub states: StateBits,
    /// Added to all times so that none is below zero, in ns.
    pub shift: i64,
}

impl<'a> Context<'a> {
    /// Returns a time as it is written.
    #[inline]
    pub fn time(&self, time: i64) -> u64 {
        time.saturating_add(self.shift).max(0).cast_unsigned()
    }

    /// Returns the range, without what is outside the trace.
    pub fn span(&self) -> TimeSpan {
        let (chosen, whole) = (self.chosen.span, self.trace.span);
        TimeSpan::new(chosen.start.max(whole.start), chosen.end.min(whole.end))
    }

    /// Returns the number of a CPU in the file.
    pub fn cpu(&self, cpu: u32) -> Option<u32> {
        self.people.cpu(CpuId(cpu))
    }

    /// Replaces `fields` by the fields of an event.
    #[inline]
    pub fn fields_into(&self, id: EventId, fields: &mut Vec<FieldRef<'a>>) {
        fields.clear();
        let event = self.trace.events.get(id);
        self.reader.fields_into(event.into(), fields);
    }

    /// Returns whether an event is written as an ftrace event of which trace_processor makes the same rows that the
    /// trace has: they are not written again.
    pub fn is_derived(&self, id: EventId) -> bool {
        let kind = self.trace.events.kind(id);
        if self.plans.derives(kind) == Derives::Nothing {
            return false;
        }
        self.sources.is_ftrace(id)
    }

    /// Returns whether trace_processor makes a slice of its begin and end. Programs and open files begin with such an
    /// event as well, but are slices of ours.
    pub fn is_derived_slice(&self, slice: SliceId) -> bool {
        if !self.sources.is_any() {
            return false;
        }
        let kind = self.trace.slices.label(slice).kind;
        let is_ours = matches!(kind, SliceKind::Processes | SliceKind::OpenFiles);
        let begin = EventId(self.trace.slices.begins.at(slice.0 as usize));
        !is_ours && self.is_derived(begin)
    }

    /// Returns whether trace_processor makes the runs of a CPU and the states of its threads of the kernel's context
    /// switches.
    pub fn has_switches_of(&self, cpu: CpuId) -> bool {
        self.sources.has_cpu(cpu) && self.plans.has_typed(SWITCH.event)
    }

    /// Returns whether trace_processor makes the states of a thread of the kernel's context switches.
    pub fn has_switches_of_thread(&self, thread: ThreadId) -> bool {
        self.sources.has_thread(thread) && self.plans.has_typed(SWITCH.event)
    }

    /// Returns whether an ftrace event is written because it is in the range and chosen itself.
    pub fn is_written_event(&self, id: EventId) -> bool {
        let time: Timestamp = self.trace.events.time(id);
        self.chosen.span.contains(time) && self.chosen.has_event(id)
    }
}
