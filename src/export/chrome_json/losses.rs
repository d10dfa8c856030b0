//! Losses: the format has no record for them, so each is an instant of the whole trace, on the thread of its CPU.
//!
//! ```text
//! "cat":"losses" "name":"lost events"  args: cpu, lost_events, from_ns, until_ns       a gap, at its end
//! "cat":"losses" "name":"lost events"  args: cpu, overwritten_events, dropped_events   what the recorder counted in all
//! ```
//!
//! The arguments are those of FXT's losses: `cpu` is missing if a gap belongs to no CPU, `from_ns` and `until_ns` if no
//! event was recorded before or after it.

use super::event_parts::{Head, When};
use super::values::json_object;
use super::{JsonEvents, Koids};
use crate::base::Timestamp;
use crate::event::LOSS_CATEGORY;
use crate::export::ExportError;
use crate::export::shared::arguments::{Arg, ArgValue};
use crate::export::shared::losses::{Counted, chosen_rows};
use crate::fxt::agreed::LOST_EVENTS;
use crate::trace::{CpuId, GapId};

impl JsonEvents<'_> {
    /// Writes the losses; returns the number of gaps.
    pub(super) fn losses(&mut self) -> Result<u64, ExportError> {
        let (trace, chosen) = (self.trace, self.chosen);
        let mut count = 0;
        for row in chosen_rows(trace, chosen) {
            let cpu = trace.gap_cpu(GapId(row.row));
            self.loss(cpu, row.gap.span().end, row.arguments(0))?;
            count += 1;
        }
        let counted = Counted::of(trace, chosen);
        for cpu in (0..trace.cpus.len() as u32).map(CpuId) {
            let args = counted.arguments(cpu);
            if !args.is_empty() {
                self.loss(Some(cpu), chosen.span.end, args)?;
            }
        }
        Ok(count)
    }

    /// Writes an instant with arguments about lost events at `time`, moved into the exported range if it is outside.
    fn loss(
        &mut self,
        cpu: Option<CpuId>,
        time: Timestamp,
        mut args: Vec<Arg<'static>>,
    ) -> Result<(), ExportError> {
        let number = cpu.map(|cpu| ArgValue::UInt32(self.cpu_number(cpu.0)));
        args.extend(number.map(|number| Arg::new("cpu", number)));
        let span = self.chosen.span;
        let last = span.end.0.saturating_sub(1).min(self.borders.last_moment());
        let time = time.0.min(last).max(span.start.0);
        let head = Head {
            phase: "i",
            category: LOSS_CATEGORY,
            name: LOST_EVENTS,
            owner: cpu.map_or(Koids::MACHINE, |cpu| self.koids.cpu(cpu)),
        };
        let args = json_object(args);
        self.event(&head, When::at(time), ",\"s\":\"g\"", Some(args))
    }
}
