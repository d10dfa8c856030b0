#![no_main]
mod whole;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(format) = threadline::load::detect(&bytes[..bytes.len().min(64 * 1024)]) {
        whole::run(format, bytes);
    }
});
