//! One event of a trace.dat: the kernel's description of its kind, a zero byte, and its record.
#![no_main]

use std::sync::Arc;

use threadline::base::Endian;
use threadline::formats::tracedat::decoder::{Decoder, Memory, Raw, Style};
use threadline::formats::tracedat::event_format::EventFormat;
use threadline::formats::tracedat::metadata::Metadata;
use threadline::formats::tracedat::print_fmt::Addresses;
use threadline::formats::tracedat::printed_time::Times;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let at = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (text, record) = bytes.split_at(at);
    let raw = Raw { record: record.get(1..).unwrap_or_default(), cpu: 0, time: 1, next: None, depth: 0 };
    for (endian, long_size) in [(Endian::Little, 8), (Endian::Big, 4)] {
        let Some(format) = EventFormat::parse(text, "sched", long_size) else { return };
        let decoder = Decoder::new([format], endian, long_size, Arc::new(Metadata::default()));
        let mut memory = Memory::default();
        for style in [Style::Plugins, Style::Plain, Style::Raw(Addresses::Shown)] {
            let mut line = Vec::new();
            decoder.push_info(&mut line, 0, raw, style, Times::Nanoseconds, &mut memory);
        }
    }
});
