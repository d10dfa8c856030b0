//! Questions about a large trace: search over all text, filters, sums of areas, a drag, flame graphs.
//!
//!     cargo run --release --example make-big-trace -- tracedat 1GiB /tmp/big.dat
//!     THREADLINE_BENCH_FILE=/tmp/big.dat cargo bench --no-default-features --bench questions
//!
//! Without the variable, a trace of 64 MiB is made in a temporary folder first.

#![allow(clippy::expect_used, missing_docs, reason = "a bench may stop")]

#[allow(dead_code, reason = "only its writer is used here")]
#[path = "../examples/make-big-trace/tracedat.rs"]
mod generator;

use std::path::PathBuf;
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::ItemsCount;
use threadline::base::{Job, Nanos, TimeSpan};
use threadline::load::{LoadedTrace, open};
use threadline::query::area::events::event_counts;
use threadline::query::area::{Area, GroupBy, Lane, Lanes, LiveArea, What, groups};
use threadline::query::expression::Expression;
use threadline::query::flame::{Roots, of_slices};
use threadline::query::search::{Place, Places, Query, search};
use threadline::trace::CpuId;

/// The trace, and the folder that keeps its file alive.
static LOADED: LazyLock<(LoadedTrace, Option<tempfile::TempDir>)> = LazyLock::new(|| {
    let (path, folder) = match std::env::var_os("THREADLINE_BENCH_FILE") {
        Some(path) => (PathBuf::from(path), None),
        None => {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let path = folder.path().join("bench.dat");
            generator::write_usual(&path.to_string_lossy(), 64 << 20).expect("room for 64 MiB");
            (path, Some(folder))
        }
    };
    let loaded = open(&path, &Job::default()).expect("a trace that can be read");
    (loaded, folder)
});

fn main() {
    divan::main();
}

/// Raw events by text, a regular expression, a field, and a name.
#[divan::bench(args = ["nginx", "/no[s]uch/", "prev_prio < 100", "name ~ \"sys.*\""], sample_count = 3, sample_size = 1)]
fn search_events(bencher: Bencher, text: &str) {
    let trace = &LOADED.0.trace;
    let mut query = Query::new(Expression::parse(text).expect("an expression"));
    query.places = Places::of(&[Place::Events]);
    bencher
        .counter(ItemsCount::new(trace.events.len()))
        .bench(|| {
            let reader = LOADED.0.reader.as_ref();
            search(trace, reader, &query, &Job::default(), &mut |_| {}).map(|found| found.total())
        });
}

/// Exact counts, sums and percentiles of the whole trace by name.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn sums_by_name(bencher: Bencher) {
    let trace = &LOADED.0.trace;
    bencher
        .counter(ItemsCount::new(trace.slices.len()))
        .bench(|| {
            let job = Job::default();
            groups(trace, &Area::all(), What::Slices, GroupBy::Name, &job).map(|all| all.len())
        });
}

/// Sums by name of the slices of threads on one CPU; in the window, a drag shows them when they are computed in the
/// background.
#[divan::bench(args = ["one CPU", "all CPUs"], sample_count = 5, sample_size = 1)]
fn sums_on_cpus(bencher: Bencher, which: &str) {
    let trace = &LOADED.0.trace;
    let count = match which {
        "one CPU" => 1,
        _ => trace.cpus.len() as u32,
    };
    let area = Area {
        lanes: Lanes::Of((0..count).map(|cpu| Lane::OnCpu(CpuId(cpu))).collect()),
        ..Area::all()
    };
    bencher.bench(|| {
        let job = Job::default();
        groups(trace, &area, What::Slices, GroupBy::Name, &job).map(|all| all.len())
    });
}

/// The number of raw events, grouped in four ways.
#[divan::bench(args = ["name", "thread", "process", "cpu"], sample_count = 5, sample_size = 1)]
fn events_counted(bencher: Bencher, by: &str) {
    let trace = &LOADED.0.trace;
    let by = match by {
        "name" => GroupBy::Name,
        "thread" => GroupBy::Thread,
        "process" => GroupBy::Process,
        _ => GroupBy::Cpu,
    };
    bencher
        .counter(ItemsCount::new(trace.events.len()))
        .bench(|| event_counts(trace, &Area::all(), by, &Job::default()).map(|all| all.len()));
}

/// One frame of a drag: the selection, half of the trace, moves by a thousandth of its length.
#[divan::bench]
fn a_frame_of_a_drag(bencher: Bencher) {
    let trace = &LOADED.0.trace;
    let mut live = LiveArea::new(trace.clone(), &Area::all(), What::Slices, GroupBy::Name);
    let length = trace.span.duration().0;
    let half = TimeSpan::new(trace.span.start, trace.span.start + Nanos(length / 2));
    while !live.follow(half, usize::MAX) {}
    let mut step = 0;
    bencher.bench_local(|| {
        step = (step + 1) % 400;
        live.follow(half.shifted(Nanos(length / 1000 * step)), 1 << 20);
        live.groups().len()
    });
}

/// All slices of the trace merged by their paths.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn flame_graph(bencher: Bencher) {
    let trace = &LOADED.0.trace;
    bencher
        .counter(ItemsCount::new(trace.slices.len()))
        .bench(|| {
            let flame = of_slices(trace, &Area::all(), Roots::Merged, &Job::default());
            flame.map(|flame| flame.nodes.len())
        });
}
