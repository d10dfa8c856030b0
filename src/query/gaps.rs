//! What is said of lost events, in one place: how many a gap lost, where, and between which events.

use super::details::{Details, Section};
use super::item::Item;
use crate::base::Timestamp;
use crate::base::time::grouped;
use crate::event::Gap;
use crate::trace::{CpuId, EventId, GapId, Trace};

/// What a gap is called.
pub const NAME: &str = "lost events";
/// How many events around a gap are looked at to find one of its CPU.
const NEAR: usize = 10_000;

/// How many events a gap lost: `1 234 events lost`; `events lost` where the file gives no number.
#[must_use]
pub fn count_words(gap: &Gap) -> String {
    match gap.lost {
        None | Some(0) => "events lost".to_owned(),
        Some(1) => "1 event lost".to_owned(),
        Some(count) => format!("{} events lost", grouped(count as i64)),
    }
}

/// How many events a trace lost, and in how many gaps: `1 234 events lost in 5 gaps`. Empty if none was lost.
#[must_use]
pub fn sum_words(trace: &Trace) -> String {
    let gaps = match trace.gaps.len() {
        1 => "1 gap".to_owned(),
        count => format!("{} gaps", grouped(count as i64)),
    };
    let lost = match (trace.lost_events(), trace.are_more_lost()) {
        (1, false) => "1 event lost".to_owned(),
        _ => format!("{} events lost", trace.lost_text()),
    };
    match (trace.gaps.len(), trace.lost_events()) {
        (0, 0) => String::new(),
        (0, _) => format!("{lost}; the file does not say when"),
        (_, 0) => format!("{gaps}; the file does not say how many events are lost"),
        _ => format!("{lost} in {gaps}"),
    }
}

/// Whose events a gap lost: `CPU 3`, with the file where there are several; empty if the file does not say.
#[must_use]
pub fn whose(trace: &Trace, id: GapId) -> String {
    let cpu = trace.gap(id).and_then(|gap| gap.cpu);
    let source = trace.gap_source(id);
    let source = source.and_then(|id| trace.sources.get(id.0 as usize));
    match (cpu, source) {
        (Some(cpu), Some(source)) => format!("CPU {cpu} · {}", source.name),
        (Some(cpu), None) => format!("CPU {cpu}"),
        (None, Some(source)) => source.name.clone(),
        (None, None) => String::new(),
    }
}

/// What a search for text looks at.
#[must_use]
pub fn search_text(trace: &Trace, id: GapId) -> String {
    let words = trace.gap(id).map(count_words).unwrap_or_default();
    format!("{NAME} gap {words} {}", whose(trace, id))
}

/// Which way one steps from a gap or a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toward {
    /// To what begins earlier.
    Earlier,
    /// To what begins later.
    Later,
}

/// Among which gaps one steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// All of the trace.
    All,
    /// Those of the same CPU and file.
    ItsCpu,
}

/// The gap after or before another in the order of time.
#[must_use]
pub fn beside(trace: &Trace, id: GapId, toward: Toward, among: Among) -> Option<GapId> {
    let own = trace.gap(id)?;
    let key = (trace.gap_span(id)?.start, id);
    let source = trace.gap_source(id);
    let fits = |other: &GapId| {
        among == Among::All
            || (trace.gap(*other).map(|gap| gap.cpu) == Some(own.cpu)
                && trace.gap_source(*other) == source)
    };
    nearest(trace, key, toward, fits)
}

/// The first gap that begins after `time`, or the last that begins before it.
#[must_use]
pub fn near_time(trace: &Trace, time: Timestamp, toward: Toward) -> Option<GapId> {
    let id = match toward {
        Toward::Later => u32::MAX,
        Toward::Earlier => 0,
    };
    nearest(trace, (time, GapId(id)), toward, |_| true)
}

fn nearest(
    trace: &Trace,
    key: (Timestamp, GapId),
    toward: Toward,
    fits: impl Fn(&GapId) -> bool,
) -> Option<GapId> {
    let keys = (0..trace.gaps.len() as u32).map(GapId).filter_map(|id| {
        let other = (trace.gap_span(id)?.start, id);
        let is_beyond = match toward {
            Toward::Later => other > key,
            Toward::Earlier => other < key,
        };
        is_beyond.then_some(other)
    });
    let keys = keys.filter(|(_, id)| fits(id));
    let found = match toward {
        Toward::Later => keys.min(),
        Toward::Earlier => keys.max(),
    };
    found.map(|(_, id)| id)
}

/// A gap in full.
#[must_use]
pub fn details(trace: &Trace, id: GapId) -> Details {
    let (Some(gap), Some(span)) = (trace.gap(id), trace.gap_span(id)) else {
        return Details::default();
    };
    let unit = trace.info.clock_unit;
    let time = |time| unit.time_text(time, trace.span.start);
    let mut facts = Section::new("");
    match gap.start {
        Timestamp::MIN => facts.row("from", "before the first event of this CPU"),
        _ => facts.row("from", time(span.start)),
    };
    match gap.end {
        Timestamp::MAX => facts.row("until", "after the last event of this CPU"),
        _ => facts.row("until", time(span.end)),
    };
    facts.row("duration", unit.length_text(span.duration()));
    match gap.lost {
        None | Some(0) => facts.row("lost", "unknown: the file does not say how many"),
        Some(_) => facts.row("lost", count_words(gap)),
    };
    let cpu = trace.gap_cpu(id);
    match (cpu, gap.cpu) {
        (Some(cpu), Some(number)) => facts.link("cpu", number.to_string(), Item::Cpu(cpu)),
        (None, Some(number)) => facts.row("cpu", number.to_string()),
        _ => facts.row("cpu", "the file names none: any track may lack events here"),
    };
    let source = trace.gap_source(id);
    if let Some(source) = source.and_then(|id| trace.sources.get(id.0 as usize)) {
        facts.row("file", source.name.clone());
    }
    let mut around = Section::new("Around it");
    for (name, event) in [
        (
            "last event before",
            event_before(trace, id, span.start, cpu),
        ),
        ("first event after", event_after(trace, id, span.end, cpu)),
    ] {
        if let Some(event) = event {
            let kind = trace.kind_name(trace.events.kind(event));
            let at = time(trace.events.time(event));
            around.link(name, format!("{kind} at {at}"), Item::Event(event));
        }
    }
    let names = [
        ("gap before", Toward::Earlier),
        ("gap after", Toward::Later),
    ];
    for (name, toward) in names {
        if let Some(other) = beside(trace, id, toward, Among::ItsCpu)
            && let (Some(gap), Some(span)) = (trace.gap(other), trace.gap_span(other))
        {
            let words = format!("{} at {}", count_words(gap), time(span.start));
            around.link(name, words, Item::Gap(other));
        }
    }
    let whose = whose(trace, id);
    Details {
        title: NAME.to_owned(),
        subtitle: match whose.as_str() {
            "" => "gap in the recording".to_owned(),
            whose => format!("gap in the recording of {whose}"),
        },
        sections: [facts, around]
            .into_iter()
            .filter(|section| !section.rows.is_empty())
            .collect(),
    }
}

/// Whether an event was recorded where the gap is: on its CPU, in its file.
fn is_of(trace: &Trace, gap: GapId, cpu: Option<CpuId>, event: EventId) -> bool {
    let source = trace.gap_source(gap);
    let source = source.and_then(|id| trace.sources.get(id.0 as usize));
    let is_in_file = source.is_none_or(|source| source.events.contains(&event.0));
    is_in_file && cpu.is_none_or(|cpu| trace.events.get(event).cpu == Some(cpu.0))
}

fn event_after(trace: &Trace, id: GapId, time: Timestamp, cpu: Option<CpuId>) -> Option<EventId> {
    let near = trace.events.from_time(time).take(NEAR);
    near.into_iter().find(|event| is_of(trace, id, cpu, *event))
}

fn event_before(trace: &Trace, id: GapId, time: Timestamp, cpu: Option<CpuId>) -> Option<EventId> {
    let rank = trace.events.rank(Timestamp(time.0.saturating_add(1)));
    let from = rank.saturating_sub(NEAR as u32);
    let near = trace.events.from_rank(from).take((rank - from) as usize);
    near.filter(|event| is_of(trace, id, cpu, *event)).last()
}
