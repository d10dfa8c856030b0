//! Wakeups: who wakes whom, or which interrupt does.

use super::encode::Encoder;
use super::item::Item;
use super::records::ArgValue;
use super::switches::{OwnSaid, TOLD_ANEW};
use crate::query::waker::{InterruptWaker, Waker, waker_of};
use crate::trace::{EventId, State, StateId, ThreadId};

impl Encoder<'_, '_> {
    pub(super) fn wakeup(&mut self, item: &Item) {
        let source = self.source;
        let state = source.trace.states.get(StateId(item.row));
        let thread = source.koids.thread(ThreadId(item.of)).1;
        let interrupt = self.interrupt_of(&state);
        let waker = state.waker.filter(|_| interrupt.is_none());
        let waker = waker.map(|waker| source.koids.thread(waker).1);
        let cpu = state.event.and_then(|id| {
            let event = self.events.get(id);
            match (event.cpu, source.fxt) {
                (Some(cpu), _) => self.cpu_number(cpu),
                (None, Some(fxt)) => u16::try_from(fxt.cpu(event.row.place)?).ok(),
                // Of several files the numbers are those of their CPUs.
                (None, None) => self.cpu_number((source.cpu_of)(id)?),
            }
        });
        let said = self.said(state.id);
        let event = state.event.filter(|_| state.start.0 == item.time);
        self.prepare_wakeup(event, OwnSaid::beside(said));
        self.prepare_said(said);
        if let Some(interrupt) = interrupt {
            self.prepare_interrupt(&interrupt);
        }
        self.records
            .prepared_wakeup(self.ticks(item.time), cpu.unwrap_or(0), thread, waker);
    }

    /// The interrupt that woke the thread of a state, if it was one.
    fn interrupt_of(&self, state: &State) -> Option<InterruptWaker> {
        match waker_of(self.source.trace, state) {
            Some(Waker::Interrupt(interrupt)) => Some(interrupt),
            _ => None,
        }
    }

    /// Says which interrupt woke a thread and whom it interrupted, as far as the wakeup's own record, in an FXT file, does not.
    fn prepare_interrupt(&mut self, interrupt: &InterruptWaker) {
        if let Some(kind) = interrupt.kind {
            let name = self.records.name("woken_in");
            let value = self.records.name(kind.word());
            self.records.prepare_text(name, value);
        }
        if self.source.fxt.is_some() {
            return;
        }
        if interrupt.name.is_some() || !interrupt.slices.is_empty() {
            let text = interrupt.text(self.source.trace);
            let name = self.records.name("woken_by");
            let value = ArgValue::Text(text.as_bytes().into());
            self.records.prepare_one(name, &value);
        }
        if interrupt.interrupted != ThreadId::NONE {
            let koid = self.source.koids.thread(interrupt.interrupted).1;
            let name = self.records.name("interrupted");
            self.records.prepare_one(name, &ArgValue::Koid(koid));
        }
    }

    fn prepare_wakeup(&mut self, event: Option<EventId>, own_said: OwnSaid) {
        self.records.prepare(&[]);
        let place = event.map(|event| self.place(event));
        if let (Some(fxt), Some(place)) = (self.source.fxt, place)
            && let Some(own) = fxt.with_arguments(place)
        {
            self.source_names
                .prepare_but(&fxt, &own, TOLD_ANEW, &mut self.records);
            if own_said == OwnSaid::Kept {
                self.keep_said(&fxt, &own);
            }
        }
    }

    /// A wakeup that changed nothing, as its thread was up already: the event is the row.
    pub(super) fn wakeup_of_ready(&mut self, item: &Item) {
        let source = self.source;
        let id = EventId(item.row);
        let event = self.events.get(id);
        let cpu = source.fxt.and_then(|fxt| fxt.cpu(event.row.place));
        let cpu = cpu.and_then(|cpu| u16::try_from(cpu).ok()).unwrap_or(0);
        let woken = ThreadId(item.of);
        let own = source
            .fxt
            .and_then(|fxt| Some((fxt, fxt.with_arguments(event.row.place)?)));
        let waker = own.and_then(|(fxt, own)| {
            let names = &mut self.source_names;
            names.koid_of(&fxt, &own, "waker", &self.records)
        });
        let thread = source.koids.thread(woken).1;
        self.prepare_wakeup(Some(id), OwnSaid::Kept);
        self.records
            .prepared_wakeup(self.ticks(item.time), cpu, thread, waker);
    }
}
