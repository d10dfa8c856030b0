#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _unpacked = threadline::formats::compression::unwrap_file(bytes, &threadline::base::Job::default());
});
