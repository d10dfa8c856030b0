//! Facts about lost events in files of our own exporter, beyond the specification: the event after a "buffer filled up"
//! record, and counts on the artificial threads of CPUs.
//!
//! ```text
//! provider event 0 | instant, category "threadline", name "lost events": cpu, lost_events, from_ns, until_ns
//! kernel object (thread "CPU n"): overwritten_events, dropped_events
//! ```
//!
//! The event becomes part of the gap and is not an event of the trace. Any argument may be missing: then the CPU or the
//! count is unknown, or the gap is before the CPU's first event or after its last.

use crate::base::Timestamp;
use crate::event::{CpuLoss, Gap};

use super::fold::Fold;
use super::tables::ProviderSlot;
use crate::base::ByteOrder;
use crate::fxt::agreed::{
    DROPPED, LOST_COUNT, LOST_EVENTS, LOST_FROM, LOST_UNTIL, OVERWRITTEN, OWN_CATEGORY, cpu_of_koid,
};
use crate::fxt::args::{ArgValue, Args};
use crate::fxt::layout::event;
use crate::fxt::words::{TextRef, Words, read_text};

/// Facts in the event after a loss.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StatedLoss {
    cpu: Option<u32>,
    lost: Option<u64>,
    /// Time in ns of the last event before the loss, if there is one.
    from: Option<i64>,
    /// Time in ns of the first event after the loss, if there is one.
    until: Option<i64>,
}

impl StatedLoss {
    /// Returns the facts about a loss that no event describes: the times in ns of its provider's events before and
    /// after it.
    #[must_use]
    pub(super) fn between(from: Option<i64>, until: Option<i64>) -> StatedLoss {
        StatedLoss {
            from,
            until,
            ..StatedLoss::default()
        }
    }

    /// Returns the gap that the event describes.
    #[must_use]
    pub(super) fn gap(self) -> Gap {
        Gap::between(self.from.map(Timestamp), self.until.map(Timestamp))
            .on(self.cpu)
            .losing(self.lost)
    }
}

impl<'a, O: ByteOrder> Fold<'_, 'a, O> {
    /// Returns whether a provider is our own exporter.
    pub(super) fn is_of_our_own(&self, slot: ProviderSlot) -> bool {
        let provider = self.state.found.tables.providers().get(slot as usize);
        provider.is_some_and(|provider| provider.is_ours())
    }

    /// Reads the event after a loss. Returns whether the event describes the loss.
    pub(super) fn takes_loss_facts(
        &mut self,
        header: u64,
        record: Words<'a, O>,
        place: u64,
    ) -> bool {
        let Some(stated) = self.loss_facts(header, record, place) else {
            return false;
        };
        let Some(hole) = self.state.holes.last_mut() else {
            return false;
        };
        hole.stated = Some(stated);
        self.state.found.loss_facts.push(place);
        true
    }

    fn loss_facts(&self, header: u64, record: Words<'a, O>, place: u64) -> Option<StatedLoss> {
        let mut next = match event::THREAD.get(header) {
            0 => 4,
            _ => 2,
        };
        let category = read_text(event::CATEGORY.get(header), record, &mut next)?;
        let name = read_text(event::NAME.get(header), record, &mut next)?;
        let is_one = event::KIND.get(header) == event::INSTANT
            && self.text(category, place) == Some(OWN_CATEGORY.as_bytes())
            && self.text(name, place) == Some(LOST_EVENTS.as_bytes());
        if !is_one {
            return None;
        }
        let mut stated = StatedLoss::default();
        let in_range = |time: &i64| *time < i64::MAX;
        for arg in Args::new(record, next, event::ARGS.get(header)) {
            match (self.text(arg.name, place)?, arg.value) {
                (b"cpu", ArgValue::UInt32(cpu)) => {
                    stated.cpu = Some(cpu).filter(|cpu| *cpu <= u32::from(u16::MAX));
                }
                (name, ArgValue::UInt64(lost)) if name == LOST_COUNT.as_bytes() => {
                    stated.lost = Some(lost)
                }
                (name, ArgValue::Int64(time)) if name == LOST_FROM.as_bytes() => {
                    stated.from = Some(time).filter(in_range)
                }
                (name, ArgValue::Int64(time)) if name == LOST_UNTIL.as_bytes() => {
                    stated.until = Some(time).filter(in_range)
                }
                _ => {}
            }
        }
        Some(stated)
    }

    /// Reads an argument of a kernel object. Returns whether it is the count of a CPU's lost events.
    pub(super) fn takes_cpu_loss(
        &mut self,
        koid: u64,
        name: TextRef<'a>,
        count: u64,
        place: u64,
    ) -> bool {
        let cpu = cpu_of_koid(koid).map(u32::from);
        let Some(cpu) = cpu.filter(|_| self.is_of_our_own(self.state.slot)) else {
            return false;
        };
        let is_overwritten = match self.text(name, place) {
            Some(name) if name == OVERWRITTEN.as_bytes() => true,
            Some(name) if name == DROPPED.as_bytes() => false,
            _ => return false,
        };
        let losses = &mut self.state.found.cpu_losses;
        let known = losses.iter().position(|loss| loss.cpu == cpu);
        let index = known.unwrap_or_else(|| {
            losses.push(CpuLoss {
                cpu,
                overwritten: 0,
                dropped: 0,
            });
            losses.len() - 1
        });
        if let Some(loss) = losses.get_mut(index) {
            match is_overwritten {
                true => loss.overwritten = count,
                false => loss.dropped = count,
            }
        }
        true
    }
}
