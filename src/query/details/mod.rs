//! One item in full, for the details pane: decoded fields of its events, and links to related items.

use crate::base::Nanos;
use crate::event::{EventDetail, FieldRole};
use crate::formats::Events;
use crate::query::seen::{Length, Seen};
use crate::query::whole_samples::whole_value;
use crate::trace::{CounterTrackId, CpuId, EventId, FlowId, SliceId, ThreadId, ThreadState, Trace};

mod entities;
mod gaps;
mod section;

pub use self::section::Details;
pub(crate) use self::section::Section;

use self::entities::{process_details, thread_details};
use self::gaps::gap_details;
use self::section::{length_text, process_row, thread_text, trace_time};
use super::family;
use super::item::Item;
use super::waker::{Waker, waker_of};

/// Decodes an event in full.
#[must_use]
pub fn describe(trace: &Trace, reader: &dyn Events, id: EventId) -> EventDetail {
    let event = trace.events.get(id);
    let mut detail = reader.describe(event.into());
    if detail.cpu.is_none() {
        detail.cpu = event
            .cpu
            .and_then(|cpu| trace.cpus.get(cpu as usize))
            .map(|cpu| cpu.number);
    }
    detail
}

/// The wait of a thread that was woken and then not seen to run.
const UNKNOWN_WAIT: &str =
    "unknown: it was woken, and what it did until the end of this stretch was not recorded";

/// Adds who woke a thread, with a link to the waker.
fn waker_row(facts: &mut Section, trace: &Trace, waker: &Waker) {
    match waker {
        Waker::Thread(ThreadId::IDLE) => {
            facts.row("woken by", waker.text(trace));
        }
        Waker::Thread(thread) => {
            facts.link(
                "woken by",
                thread_text(trace, *thread),
                Item::Thread(*thread),
            );
        }
        Waker::Interrupt(interrupt) => {
            let words = interrupt.text(trace);
            match interrupt.slices.first() {
                Some(slice) => facts.link("woken by", words, Item::Slice(*slice)),
                None => facts.row("woken by", words),
            };
            let interrupted = interrupt.interrupted;
            if let Some(interrupted) = interrupted.filter(|&thread| thread != ThreadId::IDLE) {
                let words = thread_text(trace, interrupted);
                facts.link("which interrupted", words, Item::Thread(interrupted));
            }
        }
    }
}

/// Returns the details of `item`; empty details if there is no such item.
#[must_use]
pub fn details(trace: &Trace, reader: &dyn Events, item: Item) -> Details {
    let has_item = item.span(trace).is_some() || matches!(item, Item::Cpu(_) | Item::Track(_));
    if !has_item {
        return Details::default();
    }
    match item {
        Item::Slice(id) => slice_details(trace, reader, id),
        Item::Run(id) => {
            let run = trace.runs.get(id);
            let mut facts = Section::new("");
            times(&mut facts, trace, item);
            facts.link(
                "thread",
                thread_text(trace, run.thread),
                Item::Thread(run.thread),
            );
            process_row(&mut facts, trace, run.thread);
            let number = trace
                .cpus
                .get(run.cpu.0 as usize)
                .map_or(0, |cpu| cpu.number);
            facts.link("cpu", number.to_string(), Item::Cpu(run.cpu));
            if let Some(wait) = family::wait_before(trace, id)
                && let Some(waker) = waker_of(trace, &wait)
            {
                waker_row(&mut facts, trace, &waker);
                let end = wait.end.filter(|_| wait.state == ThreadState::Runnable);
                let length = end.map(|end| length_text(trace, end - wait.start));
                facts.row(
                    "waited to run",
                    length.unwrap_or_else(|| UNKNOWN_WAIT.to_owned()),
                );
            }
            facts.row("priority", run.priority.to_string());
            facts.row("afterwards", run.end_state.word());
            let title = trace.thread_name(run.thread).into_owned();
            with_events(
                trace,
                reader,
                title,
                "run".to_owned(),
                facts,
                &[Linked::new("switch in", run.event)],
            )
        }
        Item::State(id) => {
            let state = trace.states.get(id);
            let mut facts = Section::new("");
            times(&mut facts, trace, item);
            facts.link(
                "thread",
                thread_text(trace, state.thread),
                Item::Thread(state.thread),
            );
            process_row(&mut facts, trace, state.thread);
            if let Some(waker) = waker_of(trace, &state) {
                waker_row(&mut facts, trace, &waker);
            }
            if state.state == ThreadState::Unknown && state.notes.is_woken() {
                facts.row("waited to run", UNKNOWN_WAIT);
            }
            if state.notes.spans_loss() {
                facts.row(
                    "lost events",
                    "events were lost meanwhile: the thread may have done something else in between",
                );
            }
            if let Some(cpu) = state.cpu.and_then(|cpu| trace.cpus.get(cpu as usize)) {
                facts.row("cpu", cpu.number.to_string());
            }
            let subtitle = format!("state of {}", trace.thread_name(state.thread));
            with_events(
                trace,
                reader,
                state.state.word().to_owned(),
                subtitle,
                facts,
                &[Linked::new("event", state.event)],
            )
        }
        Item::Instant(id) => event_details(trace, reader, trace.instants.event(id)),
        Item::Event(id) => event_details(trace, reader, id),
        Item::Flow(id) => flow_details(trace, id),
        Item::Sample(track, row) => sample_details(trace, reader, track, row),
        Item::Thread(id) => thread_details(trace, id),
        Item::Process(id) => process_details(trace, id),
        Item::Gap(id) => gap_details(trace, id),
        Item::Cpu(id) => {
            let mut facts = Section::new("");
            facts.row("runs", trace.runs.on(id).len().to_string());
            Details {
                title: trace.cpu_title(id),
                subtitle: "processor".to_owned(),
                sections: vec![facts],
            }
        }
        Item::Track(id) => {
            let mut facts = Section::new("");
            let Some(track) = trace.tracks.get(id.0 as usize) else {
                return Details::default();
            };
            facts.row("rows", track.rows.len().to_string());
            facts.row("instants", track.instants.len().to_string());
            Details {
                title: trace.text(track.name).into_owned(),
                subtitle: "track".to_owned(),
                sections: vec![facts],
            }
        }
    }
}

/// Returns the details of a sample: its value, the change from the value before, and how long it held.
fn sample_details(trace: &Trace, reader: &dyn Events, id: CounterTrackId, row: u32) -> Details {
    let counters = &trace.counters;
    let Some(track) = counters.tracks.get(id.0 as usize) else {
        return Details::default();
    };
    let value_of = |row: u32| {
        let is_ours = track.samples.contains(&row);
        let value = counters.values.get(row as usize).copied();
        value.filter(|_| is_ours)
    };
    let (Some(value), Some(span)) = (value_of(row), Item::Sample(id, row).span(trace)) else {
        return Details::default();
    };
    let mut facts = Section::new("");
    facts.row("time", trace_time(trace, span.start));
    let whole = whole_value(trace, reader, row as usize, trace.strings.bytes(track.name));
    let text = whole.map_or_else(|| value.to_string(), |whole| whole.to_string());
    facts.row("value", text);
    if let Some(before) = row.checked_sub(1).and_then(value_of) {
        let change = value - before;
        let sign = if change > 0.0 { "+" } else { "" };
        facts.link(
            "change",
            format!("{sign}{change} from {before}"),
            Item::Sample(id, row - 1),
        );
    }
    let next = row.saturating_add(1);
    match value_of(next) {
        Some(after) => {
            facts.row("held", length_text(trace, span.duration()));
            facts.link("next", after.to_string(), Item::Sample(id, next));
        }
        None => {
            let held = length_text(trace, span.duration());
            facts.row("held", format!("{held}, to the end"));
        }
    }
    let title = trace.text(track.name).into_owned();
    let event = counters.events.get(row as usize).copied().map(EventId);
    let subtitle = "counter".to_owned();
    with_events(
        trace,
        reader,
        title,
        subtitle,
        facts,
        &[Linked::new("event", event)],
    )
}

fn slice_details(trace: &Trace, reader: &dyn Events, id: SliceId) -> Details {
    let slice = trace.slices.get(id);
    let label = trace.slices.label(id);
    let mut facts = Section::new("");
    times(&mut facts, trace, Item::Slice(id));
    if let (Some(_), Some(end)) = (slice.measured_ns, slice.end) {
        facts.row("drawn length", length_text(trace, end - slice.start));
    }
    if let Some(thread) = Item::Slice(id).thread(trace) {
        facts.link("thread", thread_text(trace, thread), Item::Thread(thread));
        process_row(&mut facts, trace, thread);
    }
    facts.row("depth", trace.slices.depth(id).to_string());
    if let Some(parent) = slice.parent {
        let name = trace.text(trace.slices.label(parent).name).into_owned();
        facts.link("inside", name, Item::Slice(parent));
    }
    let flows = trace.flows.of_slice(id).count();
    for flow in trace.flows.of_slice(id).take(FLOWS) {
        let row = &trace.flows.rows[flow.0 as usize];
        let (word, other) = if row.from.slice == Some(id) {
            ("flow to", row.to)
        } else {
            ("flow from", row.from)
        };
        let name = other.slice.map_or_else(
            || thread_text(trace, other.thread),
            |other| trace.text(trace.slices.label(other).name).into_owned(),
        );
        facts.link(
            word,
            name,
            other.slice.map_or(Item::Flow(flow), Item::Slice),
        );
    }
    if flows > FLOWS {
        let words = format!("{} more; [ and ] follow all", flows - FLOWS);
        facts.row("flows", words);
    }
    let title = trace.text(label.name).into_owned();
    let subtitle = format!("slice · {}", trace.text(label.category));
    let ends = [
        Linked::new("begin", Some(slice.begin)),
        Linked::new("end", slice.finish),
    ];
    let mut whole = with_events(trace, reader, title, subtitle, facts, &ends);
    let relatives = relatives(trace, id);
    if !relatives.rows.is_empty() {
        whole.sections.insert(1, relatives);
    }
    whole
}

/// The most flows of a slice that are listed.
const FLOWS: usize = 60;
/// The most children of a slice that are listed.
const CHILDREN: usize = 12;

/// Returns the children of a slice, and the next slices with its name.
fn relatives(trace: &Trace, id: SliceId) -> Section {
    let mut section = Section::new("around it");
    let seen = Seen::new(trace);
    let length = |id: SliceId| measured_text(trace, seen.measure(trace, id));
    let own = family::own_of(trace, &seen, id);
    if own.children > 0 {
        if let Some(time) = own.time {
            section.row("self time", length_text(trace, time));
        }
        section.row("slices inside", own.children.to_string());
    }
    for child in family::children(trace, id).take(CHILDREN) {
        let name = trace.text(trace.slices.label(child).name).into_owned();
        let text = format!("{name}, {}", length(child));
        section.link("inside it", text, Item::Slice(child));
    }
    let words = ["same name before", "same name after"];
    for (word, other) in words.into_iter().zip(family::same_name(trace, id)) {
        if let Some(other) = other {
            let text = trace_time(trace, trace.slices.get(other).start);
            section.link(word, text, Item::Slice(other));
        }
    }
    section
}

fn event_details(trace: &Trace, reader: &dyn Events, id: EventId) -> Details {
    let event = trace.events.get(id);
    let thread = trace.events.thread(id);
    let mut facts = Section::new("");
    facts.row("time", trace_time(trace, event.row.time));
    if let Some(cpu) = event.cpu.and_then(|cpu| trace.cpus.get(cpu as usize)) {
        let id = CpuId(event.cpu.unwrap_or_default());
        facts.link("cpu", cpu.number.to_string(), Item::Cpu(id));
    }
    if let Some(thread) = thread {
        facts.link("thread", thread_text(trace, thread), Item::Thread(thread));
        process_row(&mut facts, trace, thread);
    }
    let detail = describe(trace, reader, id);
    let title = detail.name.clone();
    let subtitle = format!("event · {}", detail.category);
    let mut sections = vec![facts];
    push_event(&mut sections, "", &detail);
    Details {
        title,
        subtitle,
        sections,
    }
}

fn flow_details(trace: &Trace, id: FlowId) -> Details {
    let flow = &trace.flows.rows[id.0 as usize];
    let mut facts = Section::new("");
    for (word, point) in [("from", flow.from), ("to", flow.to)] {
        facts.row(&format!("{word}: time"), trace_time(trace, point.time));
        let text = thread_text(trace, point.thread);
        match point.thread {
            Some(thread) => facts.link(&format!("{word}: thread"), text, Item::Thread(thread)),
            None => facts.row(&format!("{word}: thread"), text),
        };
        if let Some(slice) = point.slice {
            let name = trace.text(trace.slices.label(slice).name).into_owned();
            facts.link(&format!("{word}: slice"), name, Item::Slice(slice));
        }
    }
    let latency = flow.to.time - flow.from.time;
    facts.row("latency", length_text(trace, latency));
    let title = trace.text(flow.name).into_owned();
    Details {
        title,
        subtitle: format!("flow {}", flow.key),
        sections: vec![facts],
    }
}

/// An event whose fields are part of an item's details.
struct Linked<'a> {
    /// The role of the event for the item, such as `begin`.
    word: &'a str,
    event: Option<EventId>,
}

impl<'a> Linked<'a> {
    fn new(word: &'a str, event: Option<EventId>) -> Linked<'a> {
        Linked { word, event }
    }
}

fn with_events(
    trace: &Trace,
    reader: &dyn Events,
    title: String,
    subtitle: String,
    facts: Section,
    events: &[Linked<'_>],
) -> Details {
    let mut sections = vec![facts];
    for Linked { word, event } in events {
        if let Some(event) = event.filter(|event| (event.0 as usize) < trace.events.len()) {
            let detail = describe(trace, reader, event);
            push_event(&mut sections, &format!("{word}: {}", detail.name), &detail);
        }
    }
    Details {
        title,
        subtitle,
        sections,
    }
}

fn push_event(sections: &mut Vec<Section>, title: &str, detail: &EventDetail) {
    let mut fields = Section::new(if title.is_empty() { "fields" } else { title });
    // The fields that every event has come last.
    let all = detail.fields.iter();
    let (common, own): (Vec<_>, Vec<_>) = all.partition(|field| field.role == FieldRole::Common);
    for field in own {
        fields.row(&field.name, field.text());
    }
    if !detail.text.is_empty() {
        fields.row("as text", detail.text.clone());
    }
    for field in common {
        fields.row(&field.name, field.text());
    }
    if !fields.rows.is_empty() {
        sections.push(fields);
    }
    if !detail.stack.is_empty() {
        let mut stack = Section::new("stack");
        for (depth, frame) in detail.stack.iter().enumerate() {
            stack.row(&depth.to_string(), frame.clone());
        }
        sections.push(stack);
    }
}

/// Adds an item's start and duration.
fn times(facts: &mut Section, trace: &Trace, item: Item) {
    if let Some(span) = item.span(trace) {
        facts.row("start", trace_time(trace, span.start));
    }
    if let Some(length) = item.duration(trace, &Seen::new(trace)) {
        facts.row("duration", measured_text(trace, length));
    }
}

fn measured_text(trace: &Trace, length: Length) -> String {
    let certain = length_text(trace, Nanos(length.certain()));
    match length {
        Length::Known(_) => certain,
        Length::AtLeast(_) => format!("unfinished, at least {certain}"),
    }
}
