//! The times at which losses of events end, by CPU: the bundle after each loss states it.

use rustc_hash::FxHashMap;

use super::context::Context;
use crate::export::shared::losses::chosen_rows;
use crate::trace::GapId;

/// The gaps of each CPU, by the time of the first event after them.
pub(super) struct GapEnds(FxHashMap<u32, Vec<i64>>);

impl GapEnds {
    /// Returns the ends of all chosen gaps.
    pub(super) fn new(context: &Context<'_>) -> GapEnds {
        let mut ends: FxHashMap<u32, Vec<i64>> = FxHashMap::default();
        for row in chosen_rows(context.trace, context.chosen) {
            let Some(cpu) = context.trace.gap_cpu(GapId(row.row)) else {
                continue;
            };
            if let Some(end) = row.gap.event_after() {
                ends.entry(cpu.0).or_default().push(end.0);
            }
        }
        for of_cpu in ends.values_mut() {
            of_cpu.sort_unstable();
        }
        GapEnds(ends)
    }

    /// Returns the gaps of a CPU that end after `before` (the time of the previous event, if there is one).
    pub(crate) fn ahead(&self, cpu: u32, before: Option<i64>) -> LossesAhead<'_> {
        let ends = self.0.get(&cpu).map_or(&[][..], Vec::as_slice);
        let past = ends.partition_point(|&end| before.is_some_and(|before| end <= before));
        LossesAhead(ends.get(past..).unwrap_or(&[]))
    }
}

/// The ends of a CPU's gaps after the last event, in order.
pub(super) struct LossesAhead<'g>(&'g [i64]);

impl LossesAhead<'_> {
    /// Returns whether a gap ends after the last event and at or before `time`, which is the next event's.
    #[inline]
    pub(crate) fn ends_by(&mut self, time: i64) -> bool {
        let is_after_loss = self.0.first().is_some_and(|&end| end <= time);
        while let [end, rest @ ..] = self.0
            && *end <= time
        {
            self.0 = rest;
        }
        is_after_loss
    }
}
