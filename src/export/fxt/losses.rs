//! Where the recorder lost events: the provider's event 0, "the buffer filled up", before the first record after the
//! gap.
//!
//! For a reader, the gap lasts from the record before that event to the record after it. The event has no room for the
//! number of lost events, their CPU, and the start and end of the gap: an instant after it has these as arguments, on
//! the artificial thread of the CPU. The recorder's count of a CPU's losses over the whole trace is an argument of that
//! thread's object.

use super::encode::Encoder;
use super::item::{Item, ItemTime, LAST_ORDER, What};
use super::records::{Arg, ArgValue, EventType, Head};
use crate::base::Timestamp;
use crate::event::Gap;
use crate::export::shared::koids::Koids;
use crate::export::shared::losses::{GapRow, chosen_rows};
use crate::fxt::agreed::{LOST_EVENTS, OWN_CATEGORY};
use crate::query::selection::Chosen;
use crate::trace::{GapId, Trace};

impl Encoder<'_, '_> {
    /// Writes a gap, and the event that describes it.
    pub(super) fn loss(&mut self, item: &Item) {
        let source = self.source;
        self.is_untimed = true;
        self.records.buffer_full(source.providers.own());
        let trace = source.trace;
        let Some(gap) = trace.gaps.get(item.row as usize) else {
            return;
        };
        let cpu = trace.gap_cpu(GapId(item.row));
        let number = cpu.and_then(|cpu| source.koids.cpu_number(cpu));
        let mut args = Vec::new();
        args.extend(number.map(|cpu| Arg::new("cpu", ArgValue::UInt32(cpu.into()))));
        let row = GapRow {
            row: item.row,
            gap: *gap,
        };
        args.extend(row.arguments(source.shift));
        let time = item.time.clamp(trace.span.start.0, trace.span.end.0);
        let head = Head {
            event_type: EventType::Instant,
            time: self.ticks(time),
            thread: cpu.map_or(Koids::MACHINE, |cpu| source.koids.cpu(cpu)),
            category: self.records.name(OWN_CATEGORY),
            name: self.records.name(LOST_EVENTS),
        };
        self.records.event(head, &args, None);
        self.records.counts.described_losses += 1;
    }
}

/// Returns items for gaps that end in the range; each comes before the events at its end.
pub(crate) fn inside(trace: &Trace, chosen: &Chosen<'_>) -> Vec<Item> {
    holes(trace, chosen, |time| time < chosen.span.end)
}

/// Returns items for gaps that reach over the range's end: no event of the range comes after them.
pub(crate) fn across_end(trace: &Trace, chosen: &Chosen<'_>) -> Vec<Item> {
    holes(trace, chosen, |time| time >= chosen.span.end)
}

fn holes(trace: &Trace, chosen: &Chosen<'_>, wants: impl Fn(Timestamp) -> bool) -> Vec<Item> {
    let rows = chosen_rows(trace, chosen).filter(|it| wants(it.gap.span().end));
    let time = |gap: &Gap| gap.span().end.max(chosen.span.start).min(chosen.span.end);
    // A gap of no length comes after all other items of its time, but a gap of a CPU before the CPU's first event.
    let order = |gap: &Gap| match gap.span().is_empty() && gap.cpu.is_none() {
        true => LAST_ORDER,
        false => 0,
    };
    let item = |GapRow { row, gap }: GapRow| {
        let at = ItemTime {
            time: time(&gap).0,
            order: order(&gap),
        };
        Item::new(What::Loss, at, row, 0)
    };
    rows.map(item).collect()
}
