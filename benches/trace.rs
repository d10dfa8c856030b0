//! Reading, describing and drawing a large trace.dat.
//!
//!     cargo run --release --example make-big-trace -- tracedat 1GiB /tmp/big.dat
//!     THREADLINE_BENCH_FILE=/tmp/big.dat cargo bench --no-default-features --bench trace
//!
//! Without the variable, a trace of 64 MiB is made in a temporary folder first.

#![allow(clippy::expect_used, missing_docs, reason = "a bench may stop")]

#[allow(dead_code, reason = "only its writer is used here")]
#[path = "../examples/make-big-trace/main.rs"]
mod generator;

use std::path::PathBuf;
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use rayon::prelude::*;
use threadline::base::{Job, Nanos, TimeSpan};
use threadline::load::{LoadedTrace, Reading, open, open_reader_only};
use threadline::query::details::describe;
use threadline::query::visible;
use threadline::trace::{CpuId, ThreadId, TrackId};

/// The file that is measured, and the folder that keeps it alive.
static FILE: LazyLock<(PathBuf, Option<tempfile::TempDir>)> =
    LazyLock::new(|| match std::env::var_os("THREADLINE_BENCH_FILE") {
        Some(path) => (PathBuf::from(path), None),
        None => {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let path = folder.path().join("bench.dat");
            generator::write_trace(&path.to_string_lossy(), 64 << 20, 4, "none")
                .expect("room for 64 MiB");
            (path, Some(folder))
        }
    });

static LOADED: LazyLock<LoadedTrace> =
    LazyLock::new(|| open(&FILE.0, &Job::default()).expect("a trace that can be read"));

fn main() {
    divan::main();
}

/// Ring-buffer pages to columns, on all cores.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn bulk_pass(bencher: Bencher) {
    let job = Job::default();
    let reader =
        open_reader_only(&FILE.0, Reading::default(), &job).expect("a trace that can be read");
    let bytes: u64 = reader.parts().iter().map(|part| part.size_bytes).sum();
    bencher
        .counter(ItemsCount::new(LOADED.trace.events.len()))
        .counter(BytesCount::new(bytes))
        .bench(|| {
            (0..reader.parts().len() as u32)
                .into_par_iter()
                .map(|part| {
                    reader
                        .read_part(part, &job)
                        .map_or(0, |columns| columns.events.len())
                })
                .sum::<usize>()
        });
}

/// Opening, bulk pass, model and index: ready to draw everything.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn whole_load(bencher: Bencher) {
    bencher
        .counter(ItemsCount::new(LOADED.trace.events.len()))
        .bench(|| open(&FILE.0, &Job::default()).is_ok());
}

/// Single events decoded in full, spread over the trace.
#[divan::bench]
fn describe_events(bencher: Bencher) {
    let trace = &LOADED.trace;
    let step = (trace.events.len() / 1000).max(1);
    let ids: Vec<_> = (0..1000)
        .map(|i| threadline::trace::EventId((i * step) as u32))
        .collect();
    bencher.counter(ItemsCount::new(ids.len())).bench(|| {
        ids.iter()
            .map(|&id| describe(trace, LOADED.reader.as_ref(), id).fields.len())
            .sum::<usize>()
    });
}

/// The draw lists of a 1600-pixel frame with all CPUs and 40 threads, at four zooms (1 = the whole trace).
#[divan::bench(args = [1, 100, 10_000, 1_000_000])]
fn frame_draw_lists(bencher: Bencher, zoom: i64) {
    let (trace, index) = (&LOADED.trace, &LOADED.index);
    let length = Nanos((trace.span.duration().0 / zoom).max(1600));
    let middle = trace.span.start + Nanos(trace.span.duration().0 / 2);
    let span = TimeSpan::new(middle, middle + length);
    let mut blocks = Vec::new();
    bencher.bench_local(|| {
        let mut drawn = 0;
        for cpu in 0..trace.cpus.len() as u32 {
            visible::runs(trace, index, CpuId(cpu), span, 1600, &mut blocks);
            drawn += blocks.len();
        }
        for thread in 1..trace.threads.len().min(41) as u32 {
            visible::states(trace, index, ThreadId(thread), span, 1600, &mut blocks);
            drawn += blocks.len();
        }
        for (number, track) in trace.tracks.iter().enumerate().take(44) {
            visible::instants(
                trace,
                index,
                TrackId(number as u32),
                span,
                1600,
                &mut blocks,
            );
            drawn += blocks.len();
            for row in &trace.slices.rows[track.rows.start as usize..track.rows.end as usize] {
                visible::slices(trace, index, row, span, 1600, &mut blocks);
                drawn += blocks.len();
            }
        }
        drawn
    });
}

/// The whole trace as FXT, to nowhere: what encoding costs, without a disk.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn export_fxt(bencher: Bencher) {
    let exporter = threadline::export::find("fxt").expect("an exporter");
    let write = || {
        let (all, job) = (threadline::export::Selection::all(), Job::default());
        let mut size = Size(0);
        let written = (exporter.write)(exporter, &LOADED, &all, &mut size, &job);
        written.expect("an export");
        size.0
    };
    bencher.counter(BytesCount::new(write())).bench(write);
}

/// Counts what is written, and forgets it.
struct Size(u64);

impl std::io::Write for Size {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
