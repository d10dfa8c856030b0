//! What files of our own exporter say of lost events beyond the specification: the event that follows a record
//! "buffer filled up", and counts on the artificial threads of CPUs.
//!
//! ```text
//! provider event 0 | instant, category "threadline", name "lost events": cpu, lost_events, from_ns, until_ns
//! kernel object (thread "CPU n"): overwritten_events, dropped_events
//! ```
//!
//! The event becomes part of the gap and no event of the trace. Any of its arguments may be missing: the CPU or the
//! count is not known then, or the gap lies before the CPU's first event or after its last.

use crate::base::Timestamp;
use crate::event::{CpuLoss, Gap};

use super::args::{ArgValue, Args};
use super::header::{Order, TextRef, Words, bits, read_text};
use super::scan::Scanner;
use super::tables::ProviderSlot;

/// The category of events that our own exporter adds.
const OWN_CATEGORY: &[u8] = b"threadline";
/// The name of the event that describes a loss.
const LOST_EVENTS: &[u8] = b"lost events";
/// The argument of a CPU's thread: how many of its events the recorder counted as overwritten.
pub const OVERWRITTEN: &str = "overwritten_events";
/// The argument of a CPU's thread: how many of its events the recorder counted as dropped.
pub const DROPPED: &str = "dropped_events";
/// The artificial koid of CPU 0's thread and process; the other CPUs' follow.
const FIRST_CPU: u64 = 1 << 63 | 0x7c00_0000;
/// The artificial koid of what belongs to no CPU and no thread.
const MACHINE: u64 = FIRST_CPU - 1;

/// The CPU that an artificial koid of our own exporter means.
#[must_use]
pub fn cpu_of_koid(koid: u64) -> Option<u32> {
    let number = koid.checked_sub(FIRST_CPU)?;
    u16::try_from(number).ok().map(u32::from)
}

/// Whether a koid is that of a CPU or of the machine: nothing that lived.
#[must_use]
pub fn is_stand_in(koid: u64) -> bool {
    koid == MACHINE || cpu_of_koid(koid).is_some()
}

/// What the event after a loss says of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SaidLoss {
    cpu: Option<u32>,
    lost: Option<u64>,
    from: Option<i64>,
    until: Option<i64>,
}

impl SaidLoss {
    /// The gap that is meant.
    #[must_use]
    pub fn gap(self) -> Gap {
        let start = self.from.map_or(Timestamp::MIN, Timestamp);
        Gap {
            start,
            end: self.until.map_or(Timestamp::MAX, Timestamp).max(start),
            cpu: self.cpu,
            lost: self.lost,
        }
    }
}

impl<'a, O: Order> Scanner<'a, O> {
    /// Whether a provider is our own exporter.
    pub(super) fn is_of_our_own(&self, slot: ProviderSlot) -> bool {
        let provider = self.found.tables.providers().get(slot as usize);
        provider.is_some_and(|provider| provider.is_ours())
    }

    /// Takes in the event after a loss, if it describes the loss: whether it does.
    pub(super) fn takes_loss_facts(
        &mut self,
        header: u64,
        record: Words<'a, O>,
        at: usize,
    ) -> bool {
        let Some(said) = self.loss_facts(header, record, at) else {
            return false;
        };
        let Some(hole) = self.holes.len().checked_sub(1) else {
            return false;
        };
        self.said_losses.push((hole, said));
        self.found.loss_facts.push(at as u64);
        true
    }

    fn loss_facts(&self, header: u64, record: Words<'a, O>, at: usize) -> Option<SaidLoss> {
        const INSTANT: u64 = 0;
        let mut next = match bits(header, 24, 31) {
            0 => 4,
            _ => 2,
        };
        let category = read_text(bits(header, 32, 47), record, &mut next)?;
        let name = read_text(bits(header, 48, 63), record, &mut next)?;
        let is_one = bits(header, 16, 19) == INSTANT
            && self.text(category, at) == Some(OWN_CATEGORY)
            && self.text(name, at) == Some(LOST_EVENTS);
        if !is_one {
            return None;
        }
        let mut said = SaidLoss::default();
        let in_range = |time: &i64| *time < i64::MAX;
        for arg in Args::new(record, next, bits(header, 20, 23)) {
            match (self.text(arg.name, at)?, arg.value) {
                (b"cpu", ArgValue::UInt32(cpu)) => {
                    said.cpu = Some(cpu).filter(|cpu| *cpu <= u32::from(u16::MAX));
                }
                (b"lost_events", ArgValue::UInt64(lost)) => said.lost = Some(lost),
                (b"from_ns", ArgValue::Int64(time)) => said.from = Some(time).filter(in_range),
                (b"until_ns", ArgValue::Int64(time)) => said.until = Some(time).filter(in_range),
                _ => {}
            }
        }
        Some(said)
    }

    /// Takes in an argument of a kernel object that says how many events of a CPU were lost: whether it does.
    pub(super) fn takes_cpu_loss(
        &mut self,
        koid: u64,
        (name, count): (TextRef<'a>, u64),
        at: usize,
    ) -> bool {
        let Some(cpu) = cpu_of_koid(koid).filter(|_| self.is_of_our_own(self.slot)) else {
            return false;
        };
        let is_overwritten = match self.text(name, at) {
            Some(name) if name == OVERWRITTEN.as_bytes() => true,
            Some(name) if name == DROPPED.as_bytes() => false,
            _ => return false,
        };
        let losses = &mut self.found.cpu_losses;
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
