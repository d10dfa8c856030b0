//! A filter of trace-cmd's language, typed by anybody, bound to a few kinds of events.
#![no_main]

use threadline::base::Timestamp;
use threadline::formats::event_filter::{EventFilter, KindFields};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let Ok(filter) = EventFilter::parse(&text) else { return };
    let kind = |system: &'static str, name: &'static str, fields| KindFields {
        system: system.as_bytes(),
        name: name.as_bytes(),
        fields,
    };
    let kinds = [
        kind("sched", "sched_switch", Some(vec!["prev_comm", "prev_pid", "next_comm", "next_pid"])),
        kind("irq", "irq_handler_entry", Some(vec!["irq", "name"])),
        kind("ftrace", "print", None),
    ];
    if let Ok(bound) = filter.bind(&kinds, Timestamp(1_000_000_000)) {
        assert!(bound.missing().is_empty() || !bound.text.is_empty());
    }
});
