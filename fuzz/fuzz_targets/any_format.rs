//! A file of any format, and what is made of its events.
#![no_main]
mod one_thread;
mod whole;

use whole::Depth;

const DEPTH: Depth = Depth { loaded: 8, written: 64 };

libfuzzer_sys::fuzz_target!(init: one_thread::enter(), |bytes: &[u8]| {
    if let Ok(format) = threadline::load::detect(&bytes[..bytes.len().min(64 * 1024)]) {
        whole::run(format, bytes, &DEPTH);
    }
});
