//! Reading, describing and drawing a large trace.dat.
//!
//!     cargo run --release --example make-big-trace -- tracedat 1GiB /tmp/big.dat
//!     THREADLINE_BENCH_FILE=/tmp/big.dat cargo bench --no-default-features --bench trace
//!
//! The file may be of any format. Without the variable, a trace of 64 MiB is made in a temporary folder first.
//! `hard_cases` needs no file: with twice the count, it must take about twice the time.

#![allow(clippy::expect_used, missing_docs, reason = "a bench may stop")]

#[allow(dead_code, reason = "only its writer is used here")]
#[path = "../examples/make-big-trace/tracedat.rs"]
mod generator;

use std::path::PathBuf;
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use threadline::assemble::assemble;
use threadline::base::{Job, Nanos, StringId, TimeSpan};
use threadline::event::SliceKind;
use threadline::event::family::Family;
use threadline::event::{
    AsyncMark, AsyncOp, AsyncScope, Complete, Directory, EventKind, KindId, KindOrigin, Label,
    Lane, LaneColumns, Mark, MarkOp, PartColumns, Role, ThreadKey, TraceInfo,
};
use threadline::formats::ReportOptions;
use threadline::load::{LoadedTrace, Reading, open, open_head};
use threadline::query::details::describe;
use threadline::query::visible;
use threadline::trace::{CpuId, TrackId, TrackKind};

/// The file that is measured, and the folder that keeps it alive.
static FILE: LazyLock<(PathBuf, Option<tempfile::TempDir>)> =
    LazyLock::new(|| match std::env::var_os("THREADLINE_BENCH_FILE") {
        Some(path) => (PathBuf::from(path), None),
        None => {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let path = folder.path().join("bench.dat");
            generator::write_usual(&path.to_string_lossy(), 64 << 20).expect("room for 64 MiB");
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
    let head = open_head(&FILE.0, Reading::default(), &job).expect("a trace that can be read");
    let bytes: u64 = (head.recording.stream.parts().iter())
        .map(|part| part.size_bytes)
        .sum();
    bencher
        .counter(ItemsCount::new(LOADED.trace.events.len()))
        .counter(BytesCount::new(bytes))
        .bench(|| head.recording.read_whole(&job));
}

/// Opening, bulk pass, model and index: ready to draw everything.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn whole_load(bencher: Bencher) {
    bencher
        .counter(ItemsCount::new(LOADED.trace.events.len()))
        .bench(|| open(&FILE.0, &Job::default()));
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

/// All events as text, as the format's own tool prints them (formats that have one).
#[divan::bench(sample_count = 5, sample_size = 1)]
fn report(bencher: Bencher) {
    let job = Job::default();
    let head = open_head(&FILE.0, Reading::default(), &job).expect("a trace that can be read");
    let Some(has_report) = head.recording.report else {
        return;
    };
    let tool = has_report.report();
    bencher
        .counter(ItemsCount::new(LOADED.trace.events.len()))
        .bench_local(|| {
            tool.write(
                &ReportOptions::default(),
                &mut std::io::sink(),
                &Job::default(),
            )
        });
}

/// Number of rows of 18 points in a window of 1080 points.
const ROWS_ON_SCREEN: usize = 60;

/// The draw lists of a full window 1600 pixels wide, at four zooms (1 = the whole trace): all CPUs, then
/// threads with their states, instants and slices, until there is no more room.
#[divan::bench(args = [1, 100, 10_000, 1_000_000])]
fn frame_draw_lists(bencher: Bencher, zoom: i64) {
    let (trace, index) = (&LOADED.trace, &LOADED.index);
    let length = Nanos((trace.span.duration().0 / zoom).max(1600));
    let middle = trace.span.start + Nanos(trace.span.duration().0 / 2);
    let span = TimeSpan::new(middle, middle + length);
    let span = if zoom == 1 { trace.span } else { span };
    let mut blocks = Vec::new();
    bencher.bench_local(|| {
        let (mut drawn, mut rows) = (0, 0);
        for cpu in 0..trace.cpus.len().min(ROWS_ON_SCREEN / 4) as u32 {
            visible::runs(trace, index, CpuId(cpu), span, 1600, &mut blocks);
            drawn += blocks.len();
            rows += 1;
        }
        for (number, track) in trace.tracks.iter().enumerate() {
            if rows >= ROWS_ON_SCREEN {
                break;
            }
            if let TrackKind::Thread(thread) = track.kind {
                visible::states(trace, index, thread, span, 1600, &mut blocks);
                drawn += blocks.len();
                rows += 1;
            }
            let id = TrackId(number as u32);
            visible::instants(trace, index, id, span, 1600, &mut blocks);
            drawn += blocks.len();
            rows += 1;
            for row in &trace.slices.rows[track.rows.start as usize..track.rows.end as usize] {
                visible::slices(trace, index, row, span, 1600, &mut blocks);
                drawn += blocks.len();
                rows += 1;
            }
        }
        drawn
    });
}

/// Inputs that are expensive for `assemble`.
#[derive(Clone, Copy, Debug)]
enum Hard {
    /// Asynchronous slices of one track that never end.
    AsyncsWithoutEnd,
    /// Asynchronous slices of two names that are open together under one id; the slices of the first name end first,
    /// although slices of the other name began between them.
    AsyncsOfOneId,
    /// Complete slices, each of which overlaps the next 100 without containing them.
    Staircase,
    /// Complete slices, each of which overlaps half of all others without containing them.
    SteepStaircase,
    /// Complete slices that all start and end together.
    EqualTimes,
    /// Begins and ends 60 levels deep.
    SixtyDeep,
    /// Begins without an end, and ends without a begin.
    Unmatched,
}

const HARD_CASES: [(Hard, u32); 14] = [
    (Hard::AsyncsWithoutEnd, 50_000),
    (Hard::AsyncsWithoutEnd, 100_000),
    (Hard::AsyncsOfOneId, 100_000),
    (Hard::AsyncsOfOneId, 200_000),
    (Hard::Staircase, 200_000),
    (Hard::Staircase, 400_000),
    (Hard::SteepStaircase, 200_000),
    (Hard::SteepStaircase, 400_000),
    (Hard::EqualTimes, 2_000),
    (Hard::EqualTimes, 4_000),
    (Hard::SixtyDeep, 200_000),
    (Hard::SixtyDeep, 400_000),
    (Hard::Unmatched, 100_000),
    (Hard::Unmatched, 200_000),
];

/// The columns of a hard case with about `count` events of one thread.
fn hard_case(hard: Hard, count: u32) -> LaneColumns {
    let mut columns = LaneColumns::new(0);
    let name = columns.strings.intern_text("slice");
    let names = ["first", "other"].map(|text| columns.strings.intern_text(text));
    for key in 1..=200 {
        columns.labels.push(Label {
            family: Family::Durations,
            kind: SliceKind::Durations,
            name,
            category: StringId::EMPTY,
            key,
        });
    }
    for i in 0..count {
        let time = match hard {
            Hard::EqualTimes => 5,
            _ => i64::from(i),
        };
        let event = columns
            .events
            .push(time, u64::from(i), KindId(0), ThreadKey(7));
        let depth = i % 120;
        match hard {
            Hard::AsyncsWithoutEnd => columns.asyncs.push(AsyncMark {
                event,
                op: AsyncOp::Begin,
                scope: AsyncScope::Global,
                id: u64::from(i),
                name,
                category: StringId::EMPTY,
                kind: SliceKind::Async,
                group: name,
            }),
            Hard::AsyncsOfOneId => columns.asyncs.push(AsyncMark {
                event,
                op: if i < count / 2 {
                    AsyncOp::Begin
                } else {
                    AsyncOp::End
                },
                scope: AsyncScope::Global,
                id: 7,
                name: names[(i / (count / 4) % 2) as usize],
                category: StringId::EMPTY,
                kind: SliceKind::Async,
                group: name,
            }),
            Hard::EqualTimes | Hard::Staircase | Hard::SteepStaircase => {
                let duration_ns = match hard {
                    Hard::EqualTimes => 10,
                    Hard::Staircase => 100,
                    _ => i64::from(count / 2),
                };
                columns.completes.push(Complete {
                    event,
                    label: 0,
                    duration_ns,
                });
            }
            Hard::SixtyDeep if depth < 60 => {
                columns.marks.push(Mark::new(event, depth, MarkOp::Begin));
            }
            Hard::SixtyDeep => {
                columns
                    .marks
                    .push(Mark::new(event, 119 - depth, MarkOp::End));
            }
            Hard::Unmatched if i < count / 2 => {
                columns.marks.push(Mark::new(event, i % 100, MarkOp::Begin));
            }
            Hard::Unmatched => {
                columns
                    .marks
                    .push(Mark::new(event, 100 + i % 100, MarkOp::End));
            }
        }
    }
    columns
}

/// `assemble` of hard cases.
#[divan::bench(args = HARD_CASES, sample_count = 5, sample_size = 1)]
fn hard_cases(bencher: Bencher, (hard, count): (Hard, u32)) {
    let lanes = [Lane {
        name: String::new(),
        cpu: None,
    }];
    let mut directory = Directory::default();
    directory.kinds.push(EventKind {
        name: StringId::EMPTY,
        category: StringId::EMPTY,
        role: Role::Consumed,
        origin: KindOrigin::Recorder,
    });
    bencher
        .counter(ItemsCount::new(count))
        .with_inputs(|| {
            vec![PartColumns {
                part: 0,
                lane: 0,
                columns: hard_case(hard, count),
            }]
        })
        .bench_values(|parts| {
            assemble(
                parts,
                &lanes,
                &directory,
                TraceInfo::default(),
                &Job::default(),
            )
        });
}
