//! A small trace of everything, cut to a range, with tables that are too small, cancelled.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::records::{Arg, ArgValue, EventType, Head, Records};
use super::scheduling_records::Side;
use super::*;
use crate::base::{TimeSpan, Timestamp};
use crate::event::Field;
use crate::export::{self, Overwrite, Selection};
use crate::load::open;
use crate::trace::flows::FlowPoint;
use crate::trace::{Flow, Flows, SliceId, ThreadState};

pub(super) fn tables() -> FixedTables {
    FixedTables::new(Zones::FULL, &[], &[], &crate::base::Strings::default(), &[])
}

pub(super) fn head(event_type: EventType, time: u64, thread: u64) -> Head<'static> {
    Head {
        event_type,
        time,
        thread: (10, thread),
        category: super::records::TextRef::EMPTY,
        name: super::records::TextRef::EMPTY,
    }
}

/// Threads 11, 12 and 13 of process 10 from 0 to 1000; see the tests for what they do.
pub(super) fn sample(folder: &Path) -> LoadedTrace {
    let tables = tables();
    let mut out = Records::new(&tables);
    out.file_head("test");
    out.well_known_strings();
    out.process_object(10, b"game");
    for thread in [11, 12, 13] {
        out.thread_object((10, thread), format!("t{thread}").as_bytes());
    }
    let mut event = |event_type, time, thread, name: &'static str, args: &[Arg<'_>], word| {
        let name = out.name(name);
        out.event(
            Head {
                name,
                ..head(event_type, time, thread)
            },
            args,
            word,
        );
    };
    let value = |number| [Arg::new("value", ArgValue::Int64(number))];
    event(EventType::Begin, 0, 11, "outer", &value(1), None);
    event(EventType::Complete, 100, 11, "inner", &value(2), Some(900));
    event(EventType::AsyncBegin, 50, 11, "request", &[], Some(5));
    event(EventType::Counter, 10, 11, "load", &value(1), Some(0));
    event(EventType::Counter, 400, 11, "load", &value(7), Some(0));
    event(EventType::FlowBegin, 150, 11, "work", &[], Some(77));
    event(EventType::Complete, 600, 12, "job", &[], Some(800));
    event(EventType::FlowStep, 650, 12, "work", &[], Some(77));
    event(EventType::Complete, 840, 13, "late", &[], Some(860));
    event(EventType::FlowEnd, 850, 13, "work", &[], Some(77));
    event(EventType::AsyncEnd, 950, 12, "request", &[], Some(5));
    event(EventType::End, 1000, 11, "", &value(3), None);
    let side = |koid, weight| Side::Thread { koid, weight };
    out.context_switch((20, 0), Side::Idle, (1, ""), side(11, 5), None);
    out.context_switch((500, 0), side(11, 5), (3, "D"), side(12, 6), None);
    out.wakeup(800, 0, 11, Some(12));
    out.log(450, (10, 12), b"hello");
    let path = folder.join("sample.fxt");
    std::fs::write(&path, out.finish().0).unwrap();
    open(&path, &Job::default()).unwrap()
}

pub(super) fn cut(
    folder: &Path,
    source: &LoadedTrace,
    selection: &Selection,
) -> (LoadedTrace, Summary) {
    let path = folder.join("cut.fxt");
    let summary = export::run(
        &EXPORTER,
        source,
        selection,
        &path,
        Overwrite::Replace,
        &Job::default(),
    )
    .unwrap();
    (open(&path, &Job::default()).unwrap(), summary)
}

pub(super) fn range(from: i64, until: i64) -> Selection {
    Selection::range(TimeSpan::new(Timestamp(from), Timestamp(until)))
}

/// (name, thread, start, end) of all slices, sorted.
pub(super) fn slices(loaded: &LoadedTrace) -> Vec<(String, u64, i64, i64)> {
    let trace = &loaded.trace;
    let mut rows: Vec<_> = (0..trace.slices.len() as u32)
        .map(|index| {
            let slice = trace.slices.get(SliceId(index));
            let label = trace.slices.label(slice.id);
            let thread = trace.thread(trace.events.thread(slice.begin)).tid;
            let end = slice.end.map_or(-1, |end| end.0);
            (
                trace.text(label.name).into_owned(),
                thread,
                slice.start.0,
                end,
            )
        })
        .collect();
    rows.sort();
    rows
}

pub(super) fn arguments(loaded: &LoadedTrace, name: &str) -> BTreeMap<String, String> {
    let trace = &loaded.trace;
    let index = (0..trace.slices.len() as u32)
        .find(|&index| trace.text(trace.slices.label(SliceId(index)).name) == name)
        .unwrap();
    fields_of(loaded, trace.slices.get(SliceId(index)).begin)
}

pub(super) fn fields_of(loaded: &LoadedTrace, event: EventId) -> BTreeMap<String, String> {
    let event = loaded.trace.events.get(event);
    let detail = loaded.reader.describe(event.into());
    let text = |field: &Field| (field.name.clone(), field.value.to_string());
    detail.fields.iter().map(text).collect()
}

#[test]
fn what_crosses_the_border_is_cut_there_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let source = sample(folder.path());
    let (cut, _) = cut(folder.path(), &source, &range(300, 700));
    let expected: Vec<(String, u64, i64, i64)> = [
        ("inner", 11, 300, 700),
        ("job", 12, 600, 700),
        ("outer", 11, 300, 700),
        ("request", 11, 300, 700),
    ]
    .map(|(name, thread, start, end)| (name.to_owned(), thread, start, end))
    .to_vec();
    assert_eq!(slices(&cut), expected);
    let outer = arguments(&cut, "outer");
    assert_eq!(outer["really_began_ns"], "0");
    assert_eq!(outer["really_ended_ns"], "1000");
    assert_eq!(outer["value"], "1");
    let job = arguments(&cut, "job");
    assert!(!job.contains_key("really_began_ns"));
    assert_eq!(job["really_ended_ns"], "800");

    let trace = &cut.trace;
    assert_eq!(trace.counters.times, vec![300, 400]);
    assert_eq!(trace.counters.values, vec![1.0, 7.0]);
    assert_eq!(trace.runs.starts, vec![300, 500]);
    assert_eq!(trace.runs.ends, vec![500, 700]);
    assert_eq!(trace.runs.priorities, vec![5, 6]);
    assert_eq!(
        trace.runs.end_states[0],
        crate::event::EndState::Uninterruptible
    );
    assert_eq!(trace.runs.end_states[1], crate::event::EndState::Unknown);
    let flows: Vec<(i64, i64)> = trace
        .flows
        .rows
        .iter()
        .map(|flow| (flow.from.time.0, flow.to.time.0))
        .collect();
    assert_eq!(flows, vec![(300, 650), (650, 699)]);
    // It goes on to a slice that is not in the range.
    let [_, last] = trace.flows.rows.as_slice() else {
        panic!("{flows:?}");
    };
    assert_eq!(last.to.slice, None);
    let said = fields_of(&cut, last.to.event);
    assert_eq!(
        (&*said["really_in"], &*said["really_at_ns"]),
        ("late", "850")
    );
    assert_eq!(trace.logs.rows.len(), 1);
    assert_eq!(trace.processes.len(), 1);
    assert!(
        trace
            .diagnostics
            .rows()
            .iter()
            .all(|row| row.severity == crate::base::Severity::Info)
    );
}

#[test]
fn only_what_was_chosen_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let source = sample(folder.path());
    let worker = source
        .trace
        .threads
        .iter()
        .position(|thread| thread.tid == 12)
        .unwrap();
    let selection = Selection {
        threads: vec![ThreadId(worker as u32)],
        ..Selection::all()
    };
    let (cut, summary) = cut(folder.path(), &source, &selection);
    assert_eq!(slices(&cut), vec![("job".to_owned(), 12, 600, 800)]);
    assert_eq!(cut.trace.runs.starts, vec![500]);
    // What others do is not there at all; who ran before is said in words.
    assert_eq!(summary.count_of("context switches"), 1);
    let said = fields_of(&cut, EventId(cut.trace.runs.events[0]));
    assert_eq!(said["really_outgoing"], "11");
    assert_eq!(said["outgoing"], "0");
    assert_eq!(cut.trace.counters.times, Vec::<i64>::new());
    assert_eq!(summary.count_of("slices"), 1);
    assert_eq!(summary.count_of("threads"), 1);
}

#[test]
fn full_tables_replace_their_oldest_entries() {
    let folder = tempfile::tempdir().unwrap();
    let tables = tables();
    let mut out = Records::new(&tables);
    out.file_head("test");
    out.well_known_strings();
    for i in 0..2000_u64 {
        let name = format!("name {}", i % 300);
        let text = format!("value {}", i % 211);
        let name = out.name(&name);
        let args = [
            Arg::new(format!("argument {}", i % 97), ArgValue::Text(text.into())),
            Arg::new("pointer", ArgValue::Pointer(i)),
        ];
        let base = head(EventType::Complete, i * 10, 100 + i % 40);
        out.event(Head { name, ..base }, &args, Some(i * 10 + 5));
    }
    let path = folder.path().join("many.fxt");
    std::fs::write(&path, out.finish().0).unwrap();
    let source = open(&path, &Job::default()).unwrap();
    let small = Zones {
        strings: 12,
        last_string: 60,
        threads: 1,
        last_thread: 3,
    };
    let mut bytes = Vec::new();
    let request = Request {
        loaded: &source,
        chosen: &Chosen::new(&source.trace, &Selection::all()),
        table: None,
        job: &Job::default(),
    };
    write_with(
        (small, encode::Arguments::AsTheyStand),
        &request,
        &mut bytes,
    )
    .unwrap();
    let path = folder.path().join("small.fxt");
    std::fs::write(&path, bytes).unwrap();
    let again = open(&path, &Job::default()).unwrap();
    assert_eq!(
        again.trace.diagnostics.rows(),
        source.trace.diagnostics.rows()
    );
    assert_eq!(slices(&again), slices(&source));
    for name in ["name 7", "name 250"] {
        assert_eq!(arguments(&again, name), {
            let mut expected = arguments(&source, name);
            expected.insert("end".to_owned(), arguments(&again, name)["end"].clone());
            expected
        });
    }
}

#[test]
fn a_cancelled_export_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let source = sample(folder.path());
    let path = folder.path().join("out.fxt");
    for exporter in export::EXPORTERS {
        let job = Job::default();
        job.cancel();
        let result = export::run(
            exporter,
            &source,
            &Selection::all(),
            &path,
            Overwrite::Refuse,
            &job,
        );
        assert!(result.is_err(), "{exporter:?}");
        assert!(!path.exists(), "{exporter:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn every_exporter_writes_what_its_format_asks() {
    let folder = tempfile::tempdir().unwrap();
    let source = sample(folder.path());
    for exporter in export::EXPORTERS {
        let path = folder.path().join(format!("out.{}", exporter.extension));
        let result = export::run(
            exporter,
            &source,
            &Selection::all(),
            &path,
            Overwrite::Refuse,
            &Job::default(),
        );
        if exporter.name == "compile-commands" {
            assert!(matches!(result, Err(ExportError::Nothing(_))));
            continue;
        }
        assert_eq!(
            result.unwrap().bytes,
            std::fs::metadata(&path).unwrap().len()
        );
        if exporter.extension.ends_with("json") {
            let text = std::fs::read_to_string(&path).unwrap();
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            let rows = json
                .as_array()
                .or_else(|| json["traceEvents"].as_array())
                .unwrap();
            // A tree has its roots at the top, however many lie below them.
            let least = if exporter.name == "process-tree-json" {
                1
            } else {
                5
            };
            assert!(rows.len() >= least, "{exporter:?}");
        }
    }
}

#[test]
fn more_strings_and_threads_than_the_tables_hold() {
    let folder = tempfile::tempdir().unwrap();
    let tables = tables();
    let mut out = Records::new(&tables);
    out.file_head("test");
    out.well_known_strings();
    for i in 0..40_000_u64 {
        let text = format!("slice {i}");
        let name = out.name(&text);
        let base = head(EventType::Complete, i * 10, 100 + i % 300);
        let same = format!("argument {}", i % 40_000);
        let args = [Arg::new(same, ArgValue::Int64(i as i64))];
        out.event(Head { name, ..base }, &args, Some(i * 10 + 5));
    }
    let path = folder.path().join("many.fxt");
    std::fs::write(&path, out.finish().0).unwrap();
    let source = open(&path, &Job::default()).unwrap();
    let (again, summary) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(summary.count_of("slices"), 40_000);
    assert_eq!(summary.count_of("threads"), 300);
    assert!(slices(&again) == slices(&source));
    for name in ["slice 7", "slice 39999"] {
        assert!(arguments(&again, name).contains_key(&name.replace("slice", "argument")));
    }
}

#[test]
fn payloads_of_any_size_are_written_whole() {
    let folder = tempfile::tempdir().unwrap();
    let tables = tables();
    let mut out = Records::new(&tables);
    out.file_head("test");
    out.well_known_strings();
    let payload: Vec<u8> = (0..1_000_000_u32).map(|i| (i % 251) as u8).collect();
    let name = out.name("dump");
    let place = Head {
        name,
        ..head(EventType::Instant, 5, 100)
    };
    out.large_event(place, &[], &payload);
    out.blob("small", "", Some(3), &payload[..20_000]);
    out.blob("large", "files", None, &payload[..100_000]);
    let path = folder.path().join("blobs.fxt");
    std::fs::write(&path, out.finish().0).unwrap();
    let source = open(&path, &Job::default()).unwrap();
    let (again, _) = cut(folder.path(), &source, &Selection::all());
    let sizes = |loaded: &LoadedTrace| {
        let (trace, reader) = (&loaded.trace, loaded.reader.as_ref());
        let mut found: Vec<(String, usize)> = crate::query::blobs::blobs(trace, reader)
            .into_iter()
            .map(|blob| {
                let bytes = crate::query::blobs::payload(trace, reader, blob.event).unwrap();
                assert!(payload.starts_with(&bytes), "{}", blob.name);
                (blob.name, bytes.len())
            })
            .collect();
        found.sort();
        found
    };
    let expected = [("dump", 1_000_000), ("large", 100_000), ("small", 20_000)];
    assert_eq!(
        sizes(&source),
        expected.map(|(name, size)| (name.to_owned(), size))
    );
    assert_eq!(sizes(&again), sizes(&source));
}

#[test]
fn blobs_keep_sort_name_and_category_however_small() {
    let folder = tempfile::tempdir().unwrap();
    let tables = tables();
    let mut out = Records::new(&tables);
    out.file_head("test");
    out.well_known_strings();
    let payload = [7_u8; 40_000];
    let mut expected = Vec::new();
    for (size, blob_type) in [(1, 1), (511, 2), (512, 3), (513, 1), (32_000, 2)] {
        out.blob(
            &format!("blob {size}"),
            "",
            Some(blob_type),
            &payload[..size],
        );
        expected.push((format!("blob {size}"), "blob".to_owned(), size));
    }
    out.blob("attached", "files", None, &payload[..100]);
    expected.push(("attached".to_owned(), "files".to_owned(), 100));
    let name = out.name("dump");
    let place = Head {
        name,
        ..head(EventType::Instant, 5, 100)
    };
    let size = [Arg::new("size", ArgValue::Int32(3))];
    out.large_event(place, &size, &payload[..100]);
    let path = folder.path().join("small.fxt");
    std::fs::write(&path, out.finish().0).unwrap();
    let source = open(&path, &Job::default()).unwrap();
    let (again, _) = cut(folder.path(), &source, &Selection::all());
    let all = |loaded: &LoadedTrace| {
        let found = crate::query::blobs::blobs(&loaded.trace, loaded.reader.as_ref());
        let facts = |blob: crate::query::blobs::Blob| {
            (blob.name, blob.category, blob.sort, blob.size_bytes)
        };
        found.into_iter().map(facts).collect::<Vec<_>>()
    };
    assert_eq!(all(&again), all(&source));
    for (name, category, size) in expected {
        let is_it = |blob: &(String, String, String, u64)| {
            (&blob.0, &blob.1, blob.3) == (&name, &category, size as u64)
        };
        assert!(all(&again).iter().any(is_it), "{name}");
    }
}

#[test]
fn counters_keep_name_category_id_and_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let tables = tables();
    let mut out = Records::new(&tables);
    out.file_head("test");
    out.well_known_strings();
    for (time, most) in [(5, u64::MAX), (8, (1 << 53) + 1)] {
        let base = head(EventType::Counter, time, 100);
        let (category, name) = (out.name("memory"), out.name("A::B"));
        let args = [
            Arg::new("v", ArgValue::UInt64(most)),
            Arg::new("is_full", ArgValue::Bool(true)),
            Arg::new("w", ArgValue::UInt32(4_000_000_000)),
        ];
        let place = Head {
            category,
            name,
            ..base
        };
        out.event(place, &args, Some(7));
    }
    let path = folder.path().join("counters.fxt");
    std::fs::write(&path, out.finish().0).unwrap();
    let source = open(&path, &Job::default()).unwrap();
    let (again, summary) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(summary.count_of("counter samples"), 2);
    let all = |loaded: &LoadedTrace| {
        let ids = 0..loaded.trace.events.len() as u32;
        let described = ids.map(|id| {
            let event = EventRef::from(loaded.trace.events.get(EventId(id)));
            let detail = loaded.reader.describe(event);
            (event.time, detail.category, detail.name, detail.fields)
        });
        described.collect::<Vec<_>>()
    };
    assert_eq!(all(&again), all(&source));
    // From between the events on: there each value by itself, under the same name.
    for (from, count) in [(5, 2), (6, 3)] {
        let span = TimeSpan::new(Timestamp(from), Timestamp(9));
        let (again, summary) = cut(folder.path(), &source, &Selection::range(span));
        assert_eq!(summary.count_of("counter samples"), count);
        let names = |loaded: &LoadedTrace| {
            let tracks = loaded.trace.counters.tracks.iter();
            let mut names: Vec<String> = tracks
                .map(|track| loaded.trace.text(track.name).into_owned())
                .collect();
            names.sort();
            names
        };
        assert_eq!(names(&again), ["A::B:v:7", "A::B:w:7"]);
    }
}

/// Thread, state, start and end of all states.
fn states(loaded: &LoadedTrace) -> Vec<(u64, ThreadState, i64, i64)> {
    let (trace, mut found) = (&loaded.trace, Vec::new());
    for (thread, range) in trace.states.of_thread.iter().enumerate() {
        for row in range.start as usize..range.end as usize {
            let states = &trace.states;
            let tid = trace.threads[thread].tid;
            found.push((
                tid,
                states.states[row],
                states.starts[row],
                states.ends[row],
            ));
        }
    }
    found
}

#[test]
fn who_waits_at_the_start_waits_in_the_range() {
    let folder = tempfile::tempdir().unwrap();
    let tables = tables();
    let mut out = Records::new(&tables);
    out.file_head("test");
    out.well_known_strings();
    let side = |koid| Side::Thread { koid, weight: 5 };
    out.context_switch((100, 0), Side::Idle, (1, ""), side(7), None);
    out.context_switch((200, 0), side(7), (3, ""), side(8), None);
    out.context_switch((300, 0), side(8), (3, "D"), side(9), None);
    out.context_switch((900, 0), side(9), (1, ""), side(7), None);
    let path = folder.path().join("waits.fxt");
    std::fs::write(&path, out.finish().0).unwrap();
    let source = open(&path, &Job::default()).unwrap();
    let span = TimeSpan::new(Timestamp(400), Timestamp(950));
    let (again, _) = cut(folder.path(), &source, &Selection::range(span));
    let told = states(&again);
    for (tid, state, until) in [
        (7, ThreadState::Sleeping, 900),
        (8, ThreadState::Uninterruptible, i64::MAX),
        (9, ThreadState::Running, 900),
    ] {
        assert!(told.contains(&(tid, state, 400, until)), "{told:?}");
    }
    assert_eq!(again.trace.runs.len(), 2);
    assert!(again.trace.diagnostics.rows().is_empty());
}

#[test]
fn a_thread_is_taken_off_a_cpu_where_it_was_not_seen() {
    let folder = tempfile::tempdir().unwrap();
    let tables = tables();
    let mut out = Records::new(&tables);
    out.file_head("test");
    out.well_known_strings();
    let side = |koid| Side::Thread { koid, weight: 5 };
    out.context_switch((40, 0), Side::Idle, (1, ""), side(2), None);
    out.context_switch((60, 1), side(2), (3, ""), side(3), None);
    let path = folder.path().join("elsewhere.fxt");
    std::fs::write(&path, out.finish().0).unwrap();
    let source = open(&path, &Job::default()).unwrap();
    let (again, _) = cut(folder.path(), &source, &Selection::all());
    assert!(states(&source).contains(&(2, ThreadState::Sleeping, 60, i64::MAX)));
    assert_eq!(states(&again), states(&source));
}

#[test]
fn a_disk_that_is_full_is_said_and_the_old_file_stays() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let source = sample(folder.path());
    let failed = EXPORTER.write_to(&source, &Selection::all(), &mut Full, &Job::default());
    let error = failed.unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    let path = folder.path().join("old.fxt");
    std::fs::write(&path, "old").unwrap();
    let done: Result<(), ExportError> =
        export::atomic_file::write_whole(&path, Overwrite::Replace, |_| {
            let all = Selection::all();
            let done = EXPORTER.write_to(&source, &all, &mut Full, &Job::default());
            done.map(|_| ())
        });
    assert!(done.is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
}

#[test]
fn only_the_tracks_and_counters_that_were_chosen_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let source = sample(folder.path());
    let (tracks, counters) = export::choices::tracks_named(&source.trace, "request");
    assert_eq!((tracks.len(), counters.len()), (1, 0));
    let selection = Selection {
        tracks,
        ..Selection::all()
    };
    let (one, summary) = cut(folder.path(), &source, &selection);
    assert_eq!(slices(&one), vec![("request".to_owned(), 11, 50, 950)]);
    assert_eq!(summary.count_of("counter samples"), 0);
    let (tracks, counters) = export::choices::tracks_named(&source.trace, "load");
    let selection = Selection {
        tracks,
        counters,
        ..Selection::all()
    };
    let (one, _) = cut(folder.path(), &source, &selection);
    assert_eq!(one.trace.counters.values, vec![1.0, 7.0]);
    assert!(slices(&one).is_empty());
    assert_eq!(one.trace.text(one.trace.processes[0].name), "game");
    let names: Vec<String> = export::choices::choices(&source.trace)
        .into_iter()
        .map(|row| row.name)
        .collect();
    for name in ["game", "t11", "request", "load:value"] {
        assert!(
            names.iter().any(|other| other == name),
            "{name} in {names:?}"
        );
    }
}

#[test]
fn begins_of_a_file_without_ends_are_unfinished_slices() {
    let folder = tempfile::tempdir().unwrap();
    let tables = tables();
    let mut out = Records::new(&tables);
    out.file_head("test");
    out.well_known_strings();
    for (event_type, time, name, end) in [
        (EventType::Begin, 0, "outer", None),
        (EventType::Complete, 0, "whole", Some(50)),
        (EventType::Begin, 100, "inner", None),
    ] {
        let name = out.name(name);
        let base = head(event_type, time, 11);
        out.event(Head { name, ..base }, &[], end);
    }
    let path = folder.path().join("open.fxt");
    std::fs::write(&path, out.finish().0).unwrap();
    let source = open(&path, &Job::default()).unwrap();
    let expected = [("inner", 100, -1), ("outer", 0, -1), ("whole", 0, 50)]
        .map(|(name, start, end)| (name.to_owned(), 11, start, end));
    assert_eq!(slices(&source), expected);
    assert!(
        source
            .trace
            .tracks
            .iter()
            .all(|track| track.instants.is_empty())
    );
    let (again, _) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(slices(&again), expected);
}

#[test]
fn arrows_that_go_on_from_one_event_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = sample(folder.path());
    let trace = Arc::get_mut(&mut source.trace).unwrap();
    let times = |trace: &Trace| -> Vec<(i64, i64)> {
        let rows = trace.flows.rows.iter();
        let mut times: Vec<_> = rows.map(|row| (row.from.time.0, row.to.time.0)).collect();
        times.sort_unstable();
        times
    };
    assert_eq!(times(trace), [(150, 650), (650, 850)]);
    // As a file that one event read and wrote, and two others read: the same id goes on twice from there, and twice
    // from where it began.
    let mut rows = trace.flows.rows.clone();
    let (first, second) = (rows[0], rows[1]);
    let late = FlowPoint {
        time: Timestamp(880),
        ..first.from
    };
    rows.extend([second.from, first.from].map(|from| Flow {
        from,
        to: late,
        ..second
    }));
    trace.flows = Flows::new(rows).into();
    let (again, _) = cut(folder.path(), &source, &Selection::all());
    let expected = [(150, 650), (150, 880), (650, 850), (650, 880)];
    assert_eq!(times(&again.trace), expected);
}

/// What is written, with the arguments of the source read in one way or the other.
fn bytes_of(source: &LoadedTrace, zones: Zones, span: TimeSpan, arguments: Arguments) -> Vec<u8> {
    let selection = Selection::range(span);
    let job = Job::default();
    let request = Request {
        loaded: source,
        chosen: &Chosen::new(&source.trace, &selection),
        job: &job,
        table: None,
    };
    let mut out = Vec::new();
    write_with((zones, arguments), &request, &mut out).unwrap();
    out
}

#[test]
fn arguments_as_they_stand_are_written_as_their_fields_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["tests/golden/fxt", "sample-traces"].map(|folder| root.join(folder));
    let corpus = std::env::var_os("THREADLINE_CORPUS")
        .map_or_else(|| root.join("../shared/corpus"), Into::into)
        .join("fxt");
    let files = folders
        .iter()
        .chain([&corpus])
        .filter_map(|folder| folder.read_dir().ok());
    let paths = files.flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut own_count = 0;
    for path in paths.filter(|path| path.extension().is_some_and(|ending| ending == "fxt")) {
        let Ok(source) = open(&path, &Job::default()) else {
            continue;
        };
        let whole = source.trace.span;
        let middle = Timestamp(whole.start.0.midpoint(whole.end.0));
        let small = Zones {
            strings: 40,
            last_string: 60,
            threads: 2,
            last_thread: 4,
        };
        let all = TimeSpan::new(Timestamp::MIN, Timestamp::MAX);
        for (zones, span) in [
            (Zones::FULL, all),
            (small, all),
            (Zones::FULL, TimeSpan::new(whole.start, middle)),
        ] {
            let own = bytes_of(&source, zones, span, Arguments::AsTheyStand);
            let fields = bytes_of(&source, zones, span, Arguments::AsFields);
            assert!(own == fields, "{}", path.display());
        }
        let fxt = source.reader.fxt_source();
        let ids = (0..source.trace.events.len() as u32).map(EventId);
        own_count += ids
            .filter(|&id| {
                let place = source.trace.events.get(id).row.place;
                let own = fxt.and_then(|fxt| fxt.event(place));
                own.is_some_and(|event| event.arg_count() > 0)
            })
            .count();
    }
    assert!(own_count > 100, "{own_count}");
}
