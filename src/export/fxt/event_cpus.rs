//! The CPU on which an event was recorded: of the column that contains it, or of the event's own details.

use crate::export::shared::koids::Koids;
use crate::formats::{EventRef, Events};
use crate::trace::{CpuId, EventId, Trace};

/// Looks up the CPUs of events.
pub(crate) struct EventCpus<'a> {
    trace: &'a Trace,
    reader: &'a dyn Events,
}

impl<'a> EventCpus<'a> {
    /// Returns a look-up for the events of a trace.
    pub fn new(trace: &'a Trace, reader: &'a dyn Events) -> EventCpus<'a> {
        EventCpus { trace, reader }
    }

    /// Returns the CPU of an event; `None` if its file does not contain it, or if the model has no such CPU.
    pub fn cpu(&self, id: EventId) -> Option<CpuId> {
        let event = self.trace.events.get(id);
        let known = event.cpu.map(CpuId);
        known.or_else(|| self.cpu_of_number(id, self.number_in_file(event.into())?))
    }

    /// Returns the number that the CPU of an event has in the output.
    pub fn number(&self, id: EventId, koids: &Koids) -> Option<u16> {
        let event = self.trace.events.get(id);
        if let Some(cpu) = event.cpu {
            return koids.cpu_number(CpuId(cpu));
        }
        let number = self.number_in_file(event.into())?;
        match self.cpu_of_number(id, number) {
            Some(cpu) => koids.cpu_number(cpu),
            // No thread ran on it. In a later file the number may be that of another CPU.
            None if self.trace.sources.is_empty() => u16::try_from(number).ok(),
            None => None,
        }
    }

    fn number_in_file(&self, event: EventRef) -> Option<u32> {
        self.reader.describe(event).cpu
    }

    /// Returns the CPU with this number in the file of an event: each of several files has its own CPUs.
    fn cpu_of_number(&self, id: EventId, number: u32) -> Option<CpuId> {
        let trace = self.trace;
        let source = trace.source_of(id.0, |source| &source.events);
        let source = source.and_then(|id| trace.sources.get(id.0 as usize));
        let cpus = source.map_or(0..trace.cpus.len() as u32, |source| source.cpus.clone());
        let own = trace.cpus.get(cpus.start as usize..cpus.end as usize)?;
        let index = own.binary_search_by_key(&number, |cpu| cpu.number).ok()?;
        Some(CpuId(cpus.start + index as u32))
    }
}
