#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let definitions = threadline::probes::parse(&text);
    // What is right prints back as what reads the same.
    for probe in definitions.standing() {
        let again = threadline::probes::parse(&probe.to_string());
        assert!(again.errors().next().is_none(), "{probe}");
    }
    let _sniffed = threadline::probes::sniff(bytes);
    let _profile = threadline::probes::parse_profile(&text);
});
