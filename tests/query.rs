//! Questions about the sample traces, held against plain scans over everything.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic and print"
)]

use std::path::Path;

use threadline::base::Job;
use threadline::event::Value;
use threadline::formats::EventRef;
use threadline::load::{LoadedTrace, open};
use threadline::query::Item;
use threadline::query::details::describe;
use threadline::query::expression::{Expression, Matcher};
use threadline::trace::{EventId, SliceId, StateId};

fn sample(name: &str) -> LoadedTrace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("sample-traces")
        .join(name);
    open(&path, &Job::default()).unwrap()
}

fn event_ref(loaded: &LoadedTrace, id: EventId) -> EventRef {
    let event = loaded.trace.events.get(id);
    EventRef {
        part: event.part,
        place: event.row.place,
        time: event.row.time,
        kind: event.row.kind,
        thread: event.row.thread,
    }
}

fn matching(loaded: &LoadedTrace, text: &str) -> Vec<u32> {
    let expression = Expression::parse(text).unwrap();
    let matcher = Matcher::new(&expression, &loaded.trace, loaded.reader.as_ref()).unwrap();
    let mut probe = matcher.probe();
    let events = 0..loaded.trace.events.len() as u32;
    events
        .filter(|id| probe.is_match(Item::Event(EventId(*id))))
        .collect()
}

/// The same, decided on each event decoded in full.
fn scanned(
    loaded: &LoadedTrace,
    holds: impl Fn(&threadline::event::EventDetail) -> bool,
) -> Vec<u32> {
    let events = 0..loaded.trace.events.len() as u32;
    events
        .filter(|id| {
            holds(&describe(
                &loaded.trace,
                loaded.reader.as_ref(),
                EventId(*id),
            ))
        })
        .collect()
}

fn number(detail: &threadline::event::EventDetail, name: &str) -> Option<i64> {
    let field = detail.fields.iter().find(|field| field.name == name)?;
    match field.value {
        Value::Int(value) => Some(value),
        Value::UInt(value) => i64::try_from(value).ok(),
        _ => None,
    }
}

#[test]
fn single_fields_and_texts_are_those_of_the_whole_event() {
    for name in [
        "sched-irq-syscalls.dat",
        "kprobe-hackbench.dat",
        "block-ext4.dat",
        "sched-irq.ftrace",
    ] {
        let loaded = sample(name);
        let reader = loaded.reader.as_ref();
        for id in (0..loaded.trace.events.len() as u32).step_by(7) {
            let event = event_ref(&loaded, EventId(id));
            let detail = reader.describe(event);
            for field in &detail.fields {
                assert_eq!(
                    reader.value(event, &field.name).as_ref(),
                    Some(&field.value),
                    "{name} {id}"
                );
            }
            assert_eq!(reader.value(event, "no such field"), None);
            if let Some(names) = reader.field_names(event.kind) {
                let fields: Vec<&str> = detail.fields.iter().map(|field| &*field.name).collect();
                assert_eq!(names, fields, "{name} {id}");
            }
            if detail.stack.is_empty() {
                let mut text = Vec::new();
                reader.push_text(event, &mut text);
                assert_eq!(String::from_utf8_lossy(&text), detail.line(), "{name} {id}");
            }
        }
    }
}

#[test]
fn expressions_find_what_a_scan_finds() {
    let loaded = sample("sched-irq-syscalls.dat");
    type Holds = fn(&threadline::event::EventDetail) -> bool;
    let cases: &[(&str, Holds)] = &[
        (r#"name ~ "sched.*""#, |it| it.name.contains("sched")),
        ("sched_switch: next_prio < 100", |it| {
            it.name == "sched_switch" && number(it, "next_prio").is_some_and(|it| it < 100)
        }),
        ("prev_prio >= 120 && cpu == 1", |it| {
            it.cpu == Some(1) && number(it, "prev_prio").is_some_and(|it| it >= 120)
        }),
        ("prev_prio != 120", |it| {
            number(it, "prev_prio").is_some_and(|it| it != 120)
        }),
        ("category == irq && !(name == softirq_raise)", |it| {
            it.category == "irq" && it.name != "softirq_raise"
        }),
        ("next_comm ~ \"^sw\"", |it| {
            it.fields
                .iter()
                .any(|field| field.name == "next_comm" && field.text().starts_with("sw"))
        }),
        ("SWAPPER", |it| {
            let line = format!("{}: {}", it.name, it.line());
            format!("{line} {}", it.category)
                .to_lowercase()
                .contains("swapper")
        }),
        ("text ~ \"next_pid=1[0-9]*\"", |it| {
            it.line().contains("next_pid=1")
        }),
    ];
    for (text, holds) in cases {
        let found = matching(&loaded, text);
        assert_eq!(found, scanned(&loaded, holds), "{text}");
        println!("{text}: {}", found.len());
    }
    assert!(!matching(&loaded, "prev_prio >= 0").is_empty());
}

#[test]
fn slices_states_and_threads_can_be_asked_too() {
    let loaded = sample("sched-irq-syscalls.dat");
    let trace = &loaded.trace;
    let expression = Expression::parse("dur > 100us && depth == 0 && ts >= 0ns").unwrap();
    let matcher = Matcher::new(&expression, trace, loaded.reader.as_ref()).unwrap();
    let mut found = 0;
    for id in 0..trace.slices.len() as u32 {
        let item = Item::Slice(SliceId(id));
        let length = item.span(trace).unwrap().duration().0;
        let is_meant = length > 100_000 && trace.slices.depth(SliceId(id)) == 0;
        assert_eq!(matcher.is_match(item), is_meant);
        found += u32::from(is_meant);
    }
    assert!(found > 0);
    let expression = Expression::parse("state == runnable && dur > 10us").unwrap();
    let matcher = Matcher::new(&expression, trace, loaded.reader.as_ref()).unwrap();
    let mut found = 0;
    for id in 0..trace.states.len() as u32 {
        let item = Item::State(StateId(id));
        let is_meant = trace.states.states[id as usize].word() == "runnable"
            && item.span(trace).unwrap().duration().0 > 10_000;
        assert_eq!(matcher.is_match(item), is_meant);
        found += u32::from(is_meant);
    }
    assert!(found > 0);
}

#[test]
fn a_field_that_no_event_has_is_an_error_at_its_place() {
    let loaded = sample("sched-irq-syscalls.dat");
    let expression = Expression::parse("cpu == 0 && prev_proi < 5").unwrap();
    let error = Matcher::new(&expression, &loaded.trace, loaded.reader.as_ref()).unwrap_err();
    assert_eq!((error.at, error.length), (12, 9));
}
