//! Where the recorder lost events: the provider's event 0, "the buffer filled up", before what comes first after the
//! hole.
//!
//! A reader takes the hole to reach from the record before it to the one behind it. How many events are missing and
//! of which CPU has no place in the record: the summary says so.

use super::super::Summary;
use super::item::{Item, LAST_ORDER, What};
use crate::base::Timestamp;
use crate::event::Gap;
use crate::export::Chosen;
use crate::trace::{CpuId, Trace};

/// The holes of a selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// How many.
    pub count: u64,
    /// Those of which the source says the CPU or a number.
    pub said_more: u64,
    /// The events that the source counts.
    pub events: u64,
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
    let Some(number) = gap.cpu.filter(|_| chosen.limits_cpus()) else {
        return true;
    };
    let source = trace.source_of(row, |source| &source.gaps);
    let source = source.and_then(|id| trace.sources.get(id.0 as usize));
    let mut cpus = source.map_or(0..trace.cpus.len() as u32, |source| source.cpus.clone());
    let cpu = cpus.find(|&cpu| {
        trace
            .cpus
            .get(cpu as usize)
            .is_some_and(|cpu| cpu.number == number)
    });
    cpu.is_none_or(|cpu| chosen.has_cpu(CpuId(cpu)))
}

impl Losses {
    /// Those of a selection.
    pub fn new(trace: &Trace, chosen: &Chosen<'_>) -> Losses {
        let mut losses = Losses::default();
        for (_, gap) in chosen_rows(trace, chosen) {
            losses.count += 1;
            losses.said_more += u64::from(gap.cpu.is_some() || gap.lost.is_some());
            losses.events = losses.events.saturating_add(gap.lost.unwrap_or(0));
        }
        losses
    }

    /// Says what of them no record says.
    pub fn note_unsaid(&self, summary: &mut Summary) {
        if self.said_more > 0 {
            summary.notes.push(match self.events {
                0 => "FXT says where events were lost, but not of which CPU".to_owned(),
                1 => "FXT says where events were lost, but not of which CPU and how many (1 is known of)".to_owned(),
                count => format!(
                    "FXT says where events were lost, but not of which CPU and how many ({count} are known of)"
                ),
            });
        }
    }

    /// The same for a format that cannot tell of them.
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
    // A hole of no length has come before it all that is known of its time.
    let order = |gap: &Gap| if gap.start == gap.end { LAST_ORDER } else { 0 };
    rows.map(|(row, gap)| Item::new(What::Loss, (time(&gap).0, order(&gap)), row, 0))
        .collect()
}
