//! The details of a gap: its duration, the number of lost events, and the events around it.

use super::section::{Details, Section};
use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::event::Gap;
use crate::query::gaps::{Among, NAME, Toward, beside, count_words, whose};
use crate::query::item::Item;
use crate::trace::{CpuId, EventId, GapId, Trace};

/// The number of events around a gap that are searched for one on its CPU.
const NEAR: usize = 10_000;

/// A gap in full.
pub(super) fn gap_details(trace: &Trace, id: GapId) -> Details {
    let (Some(gap), Some(span)) = (trace.gap(id), trace.gap_span(id)) else {
        return Details::default();
    };
    let unit = trace.info.clock_unit;
    let time = |time| unit.time_text(time, trace.span.start);
    let mut facts = Section::new("");
    let of_this = match gap.cpu {
        Some(_) => " of this CPU",
        None => "",
    };
    match gap.event_before() {
        None => facts.row("from", format!("unknown: before the first event{of_this}")),
        Some(_) => facts.row("from", time(span.start)),
    };
    match gap.event_after() {
        None => facts.row("until", format!("unknown: after the last event{of_this}")),
        Some(_) => facts.row("until", time(span.end)),
    };
    match gap.duration() {
        None => facts.row("duration", "unknown"),
        Some(duration) => facts.row("duration", unit.length_text(duration)),
    };
    match gap.lost {
        None | Some(0) => facts.row("lost", "unknown: the file does not contain the number"),
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
    for Near { words, event } in events_around(trace, id, gap, span) {
        if let Some(event) = event {
            let kind = trace.kind_name(trace.events.kind(event));
            let at = time(trace.events.time(event));
            around.link(words, format!("{kind} at {at}"), Item::Event(event));
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

/// An event near a gap, with words for where it is.
struct Near {
    words: &'static str,
    event: Option<EventId>,
}

/// Returns the events around a gap, if there are any. At a gap of no length, it is not known which events of its time
/// came before it.
fn events_around(trace: &Trace, id: GapId, gap: &Gap, span: TimeSpan) -> Vec<Near> {
    let cpu = trace.gap_cpu(id);
    let before = |words, time| Near {
        words,
        event: event_before(trace, id, time, cpu),
    };
    let after = |words, time| Near {
        words,
        event: event_after(trace, id, time, cpu),
    };
    if gap.duration() != Some(Nanos(0)) {
        let first = gap
            .event_before()
            .map(|_| before("last event before", span.start));
        let last = gap
            .event_after()
            .map(|_| after("first event after", span.end));
        return first.into_iter().chain(last).collect();
    }
    let at = after("event at this time", span.start);
    let is_then = |event: &EventId| trace.events.time(*event) == span.start;
    let [one_before, one_after] = [-1, 1].map(|step| Timestamp(span.start.0.saturating_add(step)));
    vec![
        before("event before", one_before),
        Near {
            event: at.event.filter(is_then),
            ..at
        },
        after("event after", one_after),
    ]
}

/// Returns whether an event was recorded on the CPU and in the file of the gap.
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
