#![no_main]
mod one_thread;
mod reader;

libfuzzer_sys::fuzz_target!(init: one_thread::enter(), |bytes: &[u8]| reader::run(&threadline::formats::syscall_text::STRACE, bytes));
