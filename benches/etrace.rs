//! A recorded build: loading it, its file dependencies, its critical chain, and its export.
//!
//!     cargo bench --no-default-features --bench etrace
//!
//! A recording of 64 MiB is made in a temporary folder first (`THREADLINE_BENCH_MIB` sets another size);
//! `THREADLINE_BENCH_FILE` names a recording to be measured instead. Exports are discarded, so that the speed of the
//! disk does not matter.

#![allow(clippy::expect_used, missing_docs, reason = "a bench may stop")]

#[path = "../examples/make-big-trace/etrace.rs"]
mod generator;

use std::path::PathBuf;
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use threadline::assemble::file_history::FileHistory;
use threadline::base::Job;
use threadline::export::{self, Selection};
use threadline::load::{LoadedTrace, Reading, open, open_head};
use threadline::query::build_chain::critical_chain;
use threadline::query::process_times::ProcessTimes;

fn main() {
    divan::main();
}

static FOLDER: LazyLock<tempfile::TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("a temporary folder"));

static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let made = || {
        let mib = std::env::var("THREADLINE_BENCH_MIB");
        let mib: u64 = mib.ok().and_then(|mib| mib.parse().ok()).unwrap_or(64);
        let path = FOLDER.path().join("big.etrace");
        generator::write_trace(&path.to_string_lossy(), mib << 20, 4).expect("room");
        path
    };
    std::env::var_os("THREADLINE_BENCH_FILE").map_or_else(made, PathBuf::from)
});

fn load() -> LoadedTrace {
    open(&FILE, &Job::default()).expect("a recording that can be read")
}

/// The text alone: all lines to events, rows of files and lives, and strings, on all cores.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn reading(bencher: Bencher) {
    let job = Job::default();
    let head = open_head(&FILE, Reading::default(), &job).expect("a recording that can be read");
    let bytes: u64 = (head.recording.stream.parts().iter())
        .map(|part| part.size_bytes)
        .sum();
    bencher
        .counter(BytesCount::new(bytes))
        .bench(|| head.recording.read_whole(&job));
}

/// Opening, bulk pass, processes, descriptors, file dependencies, and index.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn whole_load(bencher: Bencher) {
    let bytes = std::fs::metadata(&*FILE).expect("the file").len();
    bencher.counter(BytesCount::new(bytes)).bench(load);
}

/// The history of all files: each read is matched with the writes before it.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn file_history(bencher: Bencher) {
    let loaded = load();
    bencher
        .counter(ItemsCount::new(loaded.trace.files.rows.len()))
        .bench(|| FileHistory::new(&loaded.trace));
}

/// Own and subtree times of all processes, and the critical chain.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn process_times_and_critical_chain(bencher: Bencher) {
    let loaded = load();
    let history = FileHistory::new(&loaded.trace);
    bencher
        .counter(ItemsCount::new(loaded.trace.processes.len()))
        .bench(|| {
            let times = ProcessTimes::new(&loaded.trace);
            critical_chain(&loaded.trace, &times, &history)
        });
}

#[divan::bench(args = ["fxt", "process-tree-json", "compile-commands"], sample_count = 5, sample_size = 1)]
fn exported(bencher: Bencher, to: &str) {
    let loaded = load();
    let exporter = export::find(to).expect("the exporter");
    let write = || {
        exporter
            .write_to(
                &loaded,
                &Selection::all(),
                &mut std::io::sink(),
                &Job::default(),
            )
            .expect("an export")
            .bytes
    };
    bencher.counter(BytesCount::new(write())).bench(write);
}
