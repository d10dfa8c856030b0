//! A search, typed by anybody, over a small trace.
#![no_main]
mod one_thread;

use std::sync::LazyLock;

use threadline::base::Job;
use threadline::load::{LoadedTrace, Reading, open_bytes};
use threadline::query::Item;
use threadline::query::expression::{Expression, Matcher};
use threadline::trace::EventId;

static TRACE: LazyLock<LoadedTrace> = LazyLock::new(|| {
    let text = include_bytes!("../../sample-traces/sched-irq.ftrace");
    let lines = text.split_inclusive(|byte| *byte == b'\n').take(24);
    let bytes = lines.collect::<Vec<_>>().concat();
    open_bytes("search", bytes, Reading::default(), &Job::default()).expect("a sample opens")
});

libfuzzer_sys::fuzz_target!(init: one_thread::enter(), |bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let Ok(expression) = Expression::parse(&text) else { return };
    let Ok(matcher) = Matcher::new(&expression, &TRACE.trace, TRACE.reader.as_ref()) else { return };
    let mut probe = matcher.probe();
    for id in (0..TRACE.trace.events.len() as u32).map(EventId) {
        let _is_match = probe.is_match(Item::Event(id));
    }
});
