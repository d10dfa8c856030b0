#![no_main]
mod whole;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| whole::run(&threadline::formats::ninja_log::FORMAT, bytes));
