//! Wakeups: the thread that is woken, and the thread or interrupt that wakes it.

use super::encode::Encoder;
use super::item::Item;
use super::records::{Arg, ArgValue};
use super::scheduling_records::OnCpu;
use super::switches::{COMPUTED_AGAIN, OwnFacts};
use crate::export::shared::borders::CutArgument;
use crate::fxt::agreed::INTERRUPTED;
use crate::query::event_cpus::EventCpu;
use crate::query::waker::{InterruptWaker, Waker, waker_of};
use crate::trace::{EventId, State, StateId, ThreadId};

impl Encoder<'_, '_> {
    /// Returns the number that the CPU of an event has in the file.
    fn cpu_of_event(&self, id: EventId) -> Option<u16> {
        match self.source.cpus.of(id)? {
            EventCpu::Known(cpu) => self.source.koids.cpu_number(cpu),
            // In a later file the number may be that of another CPU.
            EventCpu::Number(number) if self.source.trace.sources.is_empty() => {
                u16::try_from(number).ok()
            }
            EventCpu::Number(_) => None,
        }
    }

    pub(super) fn wakeup(&mut self, item: &Item) {
        let source = self.source;
        let state = source.trace.states.get(StateId(item.row));
        let thread = source.koids.thread(ThreadId(item.of)).thread;
        let interrupt = self.interrupt_of(&state);
        let waker = state.waker.filter(|_| interrupt.is_none());
        let waker = waker.map(|waker| source.koids.thread(waker).thread);
        let cpu = state.event.and_then(|id| self.cpu_of_event(id));
        let extra = self.extra_facts(state.id, item.time);
        let event = state.event.filter(|_| state.start.0 == item.time);
        self.prepare_wakeup(event, OwnFacts::beside(extra));
        self.prepare_extra_facts(extra);
        if state.start.0 < item.time {
            // The range cuts the state at its start.
            let border = CutArgument::really_began(state.start.0);
            let Arg { name, value } = Arg::of_cut(border, source.shift);
            let name = self.records.exact_name(&name);
            self.records.prepare_one(name, &value);
        }
        if let Some(interrupt) = interrupt {
            self.prepare_interrupt(&interrupt);
        }
        let at = OnCpu {
            time: self.ticks(item.time),
            cpu: cpu.unwrap_or(0),
        };
        self.records.prepared_wakeup(at, thread, waker);
    }

    /// Returns the interrupt that began a state, if an interrupt woke its thread.
    fn interrupt_of(&self, state: &State) -> Option<InterruptWaker> {
        match waker_of(self.source.trace, state) {
            Some(Waker::Interrupt(interrupt)) => Some(interrupt),
            _ => None,
        }
    }

    /// Prepares arguments for the interrupt that woke a thread and the thread that it interrupted, unless they are among
    /// the arguments of the wakeup's own record.
    fn prepare_interrupt(&mut self, interrupt: &InterruptWaker) {
        if let Some(kind) = interrupt.kind {
            let name = self.records.name("woken_in");
            let value = self.records.name(kind.word());
            self.records.prepare_text(name, value);
        }
        if self.source.kept.is_some() {
            return;
        }
        if interrupt.name.is_some() || !interrupt.slices.is_empty() {
            let text = interrupt.text(self.source.trace);
            let name = self.records.name("woken_by");
            let value = ArgValue::Text(text.as_bytes().into());
            self.records.prepare_one(name, &value);
        }
        if let Some(interrupted) = interrupt.interrupted {
            let koid = self.source.koids.thread(interrupted).thread;
            let name = self.records.name(INTERRUPTED);
            self.records.prepare_one(name, &ArgValue::Koid(koid));
        }
    }

    fn prepare_wakeup(&mut self, event: Option<EventId>, own_facts: OwnFacts) {
        self.records.prepare(&[]);
        if let (Some(kept), Some(event)) = (self.source.kept, event)
            && let Some(own) = (kept.scheduling_args)(event)
        {
            self.prepare_but(&own, COMPUTED_AGAIN);
            if own_facts == OwnFacts::Kept {
                self.keep_extra_facts(&own);
            }
        }
    }
}
