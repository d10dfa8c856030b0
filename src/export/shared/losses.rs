//! The gaps of a selection, in which the recorder lost events, and the number of lost events of each CPU.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::arguments::{Arg, ArgValue};
use crate::base::Timestamp;
use crate::event::{CpuLoss, Gap, TraceInfo};
use crate::fxt::agreed::{DROPPED, LOST_COUNT, LOST_FROM, LOST_UNTIL, OVERWRITTEN};
use crate::query::selection::Chosen;
use crate::trace::{CpuId, GapId, Trace};

/// A row of `trace.gaps`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GapRow {
    pub row: u32,
    pub gap: Gap,
}

/// Returns the rows of `trace.gaps` that overlap the selection.
pub(crate) fn chosen_rows(trace: &Trace, chosen: &Chosen<'_>) -> impl Iterator<Item = GapRow> {
    let rows = (0_u32..).zip(trace.gaps.iter().copied());
    let rows = rows.map(|(row, gap)| GapRow { row, gap });
    let is_empty = chosen.span.start >= chosen.span.end;
    rows.filter(move |GapRow { row, gap }| {
        let span = gap.span();
        !is_empty && chosen.meets(span.start, span.end) && is_chosen_cpu(trace, chosen, *row, gap)
    })
}

/// Returns whether a gap's CPU was chosen; a gap without a CPU belongs to every selection.
fn is_chosen_cpu(trace: &Trace, chosen: &Chosen<'_>, row: u32, gap: &Gap) -> bool {
    if gap.cpu.is_none() || !chosen.limits_cpus() {
        return true;
    }
    trace
        .gap_cpu(GapId(row))
        .is_none_or(|cpu| chosen.has_cpu(cpu))
}

impl GapRow {
    /// Returns the arguments that describe the gap, without its CPU; `shift` is added to times, in ns.
    pub(crate) fn arguments(&self, shift: i64) -> Vec<Arg<'static>> {
        let ns = |time: Timestamp| ArgValue::Int64(time.0.saturating_add(shift));
        let lost = self.gap.lost.map(ArgValue::UInt64);
        let args = [
            (LOST_COUNT, lost),
            (LOST_FROM, self.gap.event_before().map(ns)),
            (LOST_UNTIL, self.gap.event_after().map(ns)),
        ];
        let args = args.into_iter();
        args.filter_map(|(name, value)| Some(Arg::new(name, value?)))
            .collect()
    }
}

/// Returns the CPUs that lost events in the selection.
pub(crate) fn cpus<'a>(
    trace: &'a Trace,
    chosen: &'a Chosen<'_>,
) -> impl Iterator<Item = CpuId> + 'a {
    let rows = chosen_rows(trace, chosen).map(|it| GapId(it.row));
    let counted = Counted::of(trace, chosen).0.into_keys();
    rows.filter_map(|id| trace.gap_cpu(id)).chain(counted)
}

/// Returns whether the selection has losses whose CPU is not known.
pub(crate) fn are_of_machine(trace: &Trace, chosen: &Chosen<'_>) -> bool {
    chosen_rows(trace, chosen).any(|it| trace.gap_cpu(GapId(it.row)).is_none())
}

/// The number of lost events of each CPU, as the recorder counted them.
pub(crate) struct Counted(FxHashMap<CpuId, CpuLoss>);

impl Counted {
    /// Returns the counts of the chosen CPUs. Empty unless the selection contains the whole time of the trace: the
    /// counts of a part of it are unknown.
    pub(crate) fn of(trace: &Trace, chosen: &Chosen<'_>) -> Counted {
        let mut counted = Counted(FxHashMap::default());
        if !chosen.has_all_times() {
            return counted;
        }
        let all = [(0..trace.cpus.len() as u32, &trace.info)];
        let of_sources = trace.sources.iter();
        let of_sources = of_sources.map(|source| (source.cpus.clone(), &source.info));
        let alone = all.into_iter().filter(|_| trace.sources.is_empty());
        for (cpus, info) in alone.chain(of_sources) {
            counted.add(trace, chosen, cpus, info);
        }
        counted
    }

    fn add(&mut self, trace: &Trace, chosen: &Chosen<'_>, cpus: Range<u32>, info: &TraceInfo) {
        if info.losses.is_empty() {
            return;
        }
        let rows = cpus.filter_map(|cpu| Some((trace.cpus.get(cpu as usize)?.number, CpuId(cpu))));
        let of_number: FxHashMap<u32, CpuId> = rows.collect();
        // A CPU with several buffers has several rows.
        for loss in &info.losses {
            let Some(&cpu) = of_number.get(&loss.cpu) else {
                continue;
            };
            if chosen.limits_cpus() && !chosen.has_cpu(cpu) {
                continue;
            }
            let sum = self.0.entry(cpu).or_insert(CpuLoss {
                cpu: loss.cpu,
                overwritten: 0,
                dropped: 0,
            });
            sum.overwritten = sum.overwritten.saturating_add(loss.overwritten);
            sum.dropped = sum.dropped.saturating_add(loss.dropped);
        }
    }

    /// Returns the arguments for the artificial thread of a CPU.
    pub(crate) fn arguments(&self, id: CpuId) -> Vec<Arg<'static>> {
        let counts = self.0.get(&id);
        let named = counts.map(|it| [(OVERWRITTEN, it.overwritten), (DROPPED, it.dropped)]);
        let args = named.into_iter().flatten();
        args.map(|(name, count)| Arg::new(name, ArgValue::UInt64(count)))
            .collect()
    }
}
