//! Where the recorder lost events: the provider's event 0, "the buffer filled up", before what comes first after the
//! hole.
//!
//! A reader takes the hole to reach from the record before it to the one behind it. How many events are missing, of which
//! CPU, and from when until when has no place in the record: an instant after it has these as arguments, on the thread
//! that stands for the CPU. What the recorder counted for a CPU over the whole trace stands on the same thread's object.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::super::Summary;
use super::encode::Encoder;
use super::item::{Item, LAST_ORDER, What};
use super::koids::Koids;
use super::records::{Arg, ArgValue, EventType, Head};
use crate::base::Timestamp;
use crate::event::{CpuLoss, Gap, TraceInfo};
use crate::export::Chosen;
use crate::formats::fxt::{DROPPED, OVERWRITTEN};
use crate::trace::{CpuId, GapId, Trace};

/// The category of events that only our own reader understands.
const OWN_CATEGORY: &str = "threadline";
/// The name of the event that describes a loss.
const LOST_EVENTS: &str = "lost events";

/// The holes of a selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// How many.
    count: u64,
}

/// The rows of `trace.gaps` that meet the selection.
fn chosen_rows(trace: &Trace, chosen: &Chosen<'_>) -> impl Iterator<Item = (u32, Gap)> {
    let rows = (0_u32..).zip(trace.gaps.iter().copied());
    let is_empty = chosen.span.start >= chosen.span.end;
    rows.filter(move |(row, gap)| {
        !is_empty && chosen.meets(gap.start, gap.end) && is_chosen_cpu(trace, chosen, *row, gap)
    })
}

/// Whether a hole's CPU was chosen; those of nobody in particular are everybody's.
fn is_chosen_cpu(trace: &Trace, chosen: &Chosen<'_>, row: u32, gap: &Gap) -> bool {
    if gap.cpu.is_none() || !chosen.limits_cpus() {
        return true;
    }
    trace
        .gap_cpu(GapId(row))
        .is_none_or(|cpu| chosen.has_cpu(cpu))
}

impl Losses {
    /// Those of a selection.
    pub fn new(trace: &Trace, chosen: &Chosen<'_>) -> Losses {
        Losses {
            count: chosen_rows(trace, chosen).count() as u64,
        }
    }

    /// Notes them for a format that has no record for them.
    pub fn note_left_out(&self, summary: &mut Summary) {
        match self.count {
            0 => {}
            1 => summary
                .notes
                .push("1 loss of events is left out: the format cannot say it".to_owned()),
            count => summary.notes.push(format!(
                "{count} losses of events are left out: the format cannot say them"
            )),
        }
    }
}

/// The CPUs that lost events in the selection.
pub fn cpus<'a>(trace: &'a Trace, chosen: &'a Chosen<'_>) -> impl Iterator<Item = CpuId> + 'a {
    let rows = chosen_rows(trace, chosen).map(|(row, _)| GapId(row));
    let counted = Counted::of(trace, chosen).0.into_keys();
    rows.filter_map(|id| trace.gap_cpu(id)).chain(counted)
}

/// How many events of each CPU the recorder counted as lost.
pub struct Counted(FxHashMap<CpuId, CpuLoss>);

impl Counted {
    /// Of the chosen CPUs, if the selection has all times: of a part nobody knows.
    pub fn of(trace: &Trace, chosen: &Chosen<'_>) -> Counted {
        let span = chosen.span;
        let is_whole = span.start <= trace.span.start && span.end >= trace.span.end;
        let mut counted = Counted(FxHashMap::default());
        if !is_whole {
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
        // A CPU in several buffers has several rows.
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

    /// The arguments of the thread that stands for a CPU.
    pub fn arguments(&self, id: CpuId) -> Vec<Arg<'static>> {
        let counts = self.0.get(&id);
        let named = counts.map(|it| [(OVERWRITTEN, it.overwritten), (DROPPED, it.dropped)]);
        let args = named.into_iter().flatten();
        args.map(|(name, count)| Arg::new(name, ArgValue::UInt64(count)))
            .collect()
    }
}

impl Encoder<'_, '_> {
    /// A hole, and the event that describes it.
    pub(super) fn loss(&mut self, item: &Item) {
        let source = self.source;
        self.is_untimed = true;
        self.records.buffer_full(source.providers.own());
        let trace = source.trace;
        let Some(gap) = trace.gaps.get(item.row as usize) else {
            return;
        };
        // What the records say themselves.
        if source.fxt.is_some() && gap.cpu.is_none() && gap.lost.is_none() {
            return;
        }
        let cpu = trace.gap_cpu(GapId(item.row));
        let number = cpu.and_then(|cpu| source.koids.cpu_number(cpu));
        let ns = |time: Timestamp| ArgValue::Int64(time.0.saturating_add(source.shift));
        let mut args = Vec::new();
        args.extend(number.map(|cpu| Arg::new("cpu", ArgValue::UInt32(cpu.into()))));
        args.extend(
            gap.lost
                .map(|lost| Arg::new("lost_events", ArgValue::UInt64(lost))),
        );
        if gap.start > Timestamp::MIN {
            args.push(Arg::new("from_ns", ns(gap.start)));
        }
        if gap.end < Timestamp::MAX {
            args.push(Arg::new("until_ns", ns(gap.end)));
        }
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

/// Holes that end in the range, each before what comes at its end.
pub fn inside(trace: &Trace, chosen: &Chosen<'_>) -> Vec<Item> {
    holes(trace, chosen, |time| time < chosen.span.end)
}

/// Those that reach over the range's end: nothing of the range comes after them.
pub fn across_end(trace: &Trace, chosen: &Chosen<'_>) -> Vec<Item> {
    holes(trace, chosen, |time| time >= chosen.span.end)
}

fn holes(trace: &Trace, chosen: &Chosen<'_>, wants: impl Fn(Timestamp) -> bool) -> Vec<Item> {
    let rows = chosen_rows(trace, chosen).filter(|(_, gap)| wants(gap.end));
    let time = |gap: &Gap| gap.end.max(chosen.span.start).min(chosen.span.end);
    // A hole of no length comes after all that is known of its time; one of a CPU, before the CPU's first event then.
    let order = |gap: &Gap| match gap.start == gap.end && gap.cpu.is_none() {
        true => LAST_ORDER,
        false => 0,
    };
    rows.map(|(row, gap)| Item::new(What::Loss, (time(&gap).0, order(&gap)), row, 0))
        .collect()
}
