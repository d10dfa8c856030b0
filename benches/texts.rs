//! Whole loads of text traces: opening, bulk pass, model and index.
//!
//!     cargo bench --no-default-features --bench texts
//!
//! Texts of 64 MiB are made in a temporary folder first (`THREADLINE_BENCH_MIB` sets another size).

#![allow(clippy::expect_used, missing_docs, reason = "a bench may stop")]

#[allow(dead_code, reason = "only its writer is used here")]
#[path = "../examples/make-big-trace/text.rs"]
mod generator;

use divan::Bencher;
use divan::counter::BytesCount;
use threadline::base::Job;
use threadline::load::open;
use threadline::probes::parse;

fn main() {
    divan::main();
}

#[divan::bench(args = generator::KINDS, sample_count = 3, sample_size = 1)]
fn whole_load(bencher: Bencher, kind: &str) {
    let mib = std::env::var("THREADLINE_BENCH_MIB");
    let mib: u64 = mib.ok().and_then(|mib| mib.parse().ok()).unwrap_or(64);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(kind);
    generator::write_text(kind, &path.to_string_lossy(), mib << 20).expect("room for the text");
    bencher
        .counter(BytesCount::new(mib << 20))
        .bench(|| open(&path, &Job::default()).is_ok());
}

/// Definitions of probes, 10,000 lines.
#[divan::bench]
fn probe_definitions(bencher: Bencher) {
    let line = |i: usize| {
        format!(
            "p:g{i}/e vfs_read n=$arg3:u64 name=+0(+40(+24($arg1))):string lo=+0($arg3):b4@0/32\n"
        )
    };
    let text: String = (0..10_000).map(line).collect();
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| parse(&text).lines.len());
}
