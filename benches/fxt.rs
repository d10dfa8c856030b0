//! Reading and writing FXT: whole loads, and exports of FXT and of trace.dat as FXT; in the same run, both as
//! Perfetto's format.
//!
//!     cargo bench --no-default-features --bench fxt
//!
//! Files of 64 MiB are made in a temporary folder first (`THREADLINE_BENCH_MIB` sets another size);
//! `THREADLINE_BENCH_FILE` names an FXT file to be measured instead. Exports are discarded, so that the speed of the
//! disk does not matter.

#![allow(clippy::expect_used, missing_docs, reason = "a bench may stop")]

#[path = "../examples/make-big-trace/fxt.rs"]
mod fxt;
#[allow(dead_code, reason = "only its writer is used here")]
#[path = "../examples/make-big-trace/tracedat.rs"]
mod tracedat;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use threadline::base::Job;
use threadline::export::{self, Selection, Summary};
use threadline::load::{LoadedTrace, open};

fn main() {
    divan::main();
}

static FOLDER: LazyLock<tempfile::TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("a temporary folder"));

fn size_bytes() -> u64 {
    let mib = std::env::var("THREADLINE_BENCH_MIB");
    let mib: u64 = mib.ok().and_then(|mib| mib.parse().ok()).unwrap_or(64);
    mib << 20
}

fn file(name: &str, write: impl FnOnce(&str, u64)) -> PathBuf {
    let path = FOLDER.path().join(name);
    write(&path.to_string_lossy(), size_bytes());
    path
}

/// Many small records of every kind.
static FXT: LazyLock<PathBuf> = LazyLock::new(|| {
    std::env::var_os("THREADLINE_BENCH_FILE").map_or_else(
        || {
            file("big.fxt", |path, size| {
                _ = fxt::write_trace(path, size, 1, None).expect("room")
            })
        },
        PathBuf::from,
    )
});

static TRACE_DAT: LazyLock<PathBuf> = LazyLock::new(|| {
    file("big.dat", |path, size| {
        let _events = tracedat::write_usual(path, size).expect("room");
    })
});

/// The export of a trace.dat: records with arguments.
static EXPORTED: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = FOLDER.path().join("exported.fxt");
    let mut out = std::fs::File::create(&path).expect("a file");
    export_to("fxt", &load(&TRACE_DAT), &mut out);
    path
});

fn load(path: &Path) -> LoadedTrace {
    open(path, &Job::default()).expect("a trace that can be read")
}

fn export_to(format: &str, loaded: &LoadedTrace, out: &mut dyn std::io::Write) -> Summary {
    let exporter = export::find(format).expect("the exporter");
    exporter
        .write_to(loaded, &Selection::all(), out, &Job::default())
        .expect("an export")
}

/// Opening, scan of headers, bulk pass, model and index.
#[divan::bench(args = ["small records", "with arguments"], sample_count = 5, sample_size = 1)]
fn whole_load(bencher: Bencher, records: &str) {
    let path: &Path = match records {
        "small records" => &FXT,
        _ => &EXPORTED,
    };
    let bytes = std::fs::metadata(path).expect("the file").len();
    let events = load(path).trace.events.len();
    bencher
        .counter(BytesCount::new(bytes))
        .counter(ItemsCount::new(events))
        .bench(|| load(path));
}

fn exported(bencher: Bencher, path: &Path) {
    let loaded = load(path);
    let bytes = export_to("fxt", &loaded, &mut std::io::sink()).bytes;
    bencher
        .counter(BytesCount::new(bytes))
        .counter(ItemsCount::new(loaded.trace.events.len()))
        .bench(|| export_to("fxt", &loaded, &mut std::io::sink()).bytes);
}

/// FXT to FXT; bytes are those of the output.
#[divan::bench(args = ["small records", "with arguments"], sample_count = 5, sample_size = 1)]
fn fxt_to_fxt(bencher: Bencher, records: &str) {
    let path: &Path = match records {
        "small records" => &FXT,
        _ => &EXPORTED,
    };
    exported(bencher, path);
}

/// trace.dat to FXT, all fields as arguments.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn trace_dat_to_fxt(bencher: Bencher) {
    exported(bencher, &TRACE_DAT);
}

/// To Perfetto's format; bytes are those of the input file.
#[divan::bench(args = ["trace.dat", "FXT of small records"], sample_count = 5, sample_size = 1)]
fn to_perfetto(bencher: Bencher, source: &str) {
    let path: &Path = match source {
        "trace.dat" => &TRACE_DAT,
        _ => &FXT,
    };
    let loaded = load(path);
    bencher
        .counter(BytesCount::new(
            std::fs::metadata(path).expect("the file").len(),
        ))
        .counter(ItemsCount::new(loaded.trace.events.len()))
        .bench(|| export_to("perfetto", &loaded, &mut std::io::sink()).bytes);
}
