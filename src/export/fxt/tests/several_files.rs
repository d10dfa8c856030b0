//! Tests that several files on one axis become one file, and that their threads and CPUs stay separate.

use super::*;
use crate::load::together::open_together;
use crate::trace::RunId;

/// Writes a file in which a thread runs on CPU 0 from 100 to 200, and on CPU 3 from 300 to 400.
fn runs_of(folder: &Path, name: &str, thread: u64) -> PathBuf {
    file(folder, name, |out| {
        let side = Side::Thread {
            koid: thread,
            weight: 5,
        };
        for (cpu, start) in [(0, 100), (3, 300)] {
            out.wakeup(start - 50, cpu, thread, None);
            out.context_switch((start, cpu), Side::Idle, (1, ""), side, None);
            out.context_switch((start + 100, cpu), side, (3, ""), Side::Idle, None);
        }
    })
}

/// Returns (thread, CPU, length) of all runs, sorted.
fn runs(loaded: &LoadedTrace) -> Vec<(u64, u32, i64)> {
    let trace = &loaded.trace;
    let runs = (0..trace.runs.len() as u32).map(|row| trace.runs.get(RunId(row)));
    let mut rows: Vec<_> = runs
        .map(|run| {
            let length = run.end.map_or(-1, |end| (end - run.start).0);
            let cpu = trace.cpus[run.cpu.0 as usize].number;
            (trace.thread(run.thread).tid, cpu, length)
        })
        .collect();
    rows.sort_unstable();
    rows
}

#[test]
fn each_file_keeps_its_cpus() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [
        runs_of(folder.path(), "first.fxt", 11),
        runs_of(folder.path(), "second.fxt", 21),
    ];
    let both = open_together(&paths, &[], &[], &Job::default(), None).unwrap();
    assert_eq!(both.trace.cpus.len(), 4);
    let (again, summary) = cut(folder.path(), &both, &Selection::all());
    let expected = [(11, 0, 100), (11, 3, 100), (21, 4, 100), (21, 7, 100)];
    assert_eq!(runs(&again), expected);
    assert!(
        summary
            .notes
            .iter()
            .any(|note| note == "CPUs 0 to 3 of second.fxt are CPUs 4 to 7"),
        "{:?}",
        summary.notes
    );
    let mut json = Vec::new();
    crate::export::chrome_json::EXPORTER
        .write_to(&both, &Selection::all(), &mut json, &Job::default())
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let rows = json["traceEvents"].as_array().unwrap();
    let mut names: Vec<(&str, u64)> = rows
        .iter()
        .filter(|row| row["name"] == "process_name")
        .filter_map(|row| Some((row["args"]["name"].as_str()?, row["pid"].as_u64()?)))
        .filter(|(name, _)| name.starts_with("CPU "))
        .collect();
    names.sort_unstable();
    let called: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    let expected = [
        "CPU 0",
        "CPU 0 of second.fxt",
        "CPU 3",
        "CPU 3 of second.fxt",
    ];
    assert_eq!(called, expected);
    let mut pids: Vec<u64> = names.iter().map(|(_, pid)| *pid).collect();
    pids.sort_unstable();
    pids.dedup();
    assert_eq!(pids.len(), 4);
}

#[test]
fn objects_of_each_file_stay_objects() {
    let folder = tempfile::tempdir().unwrap();
    let objects = |name: &str, process: u64| {
        file(folder.path(), name, |out| {
            out.object(object(1, process), b"game", &[]);
            let peer = Arg::new("peer", ArgValue::Koid(process));
            out.object(
                object(4, process + 5),
                format!("channel {name}").as_bytes(),
                &[peer],
            );
            let color = Arg::new(format!("color of {name}"), ArgValue::Int32(3));
            out.prepare(&[color]);
            let text = format!("thing {name}");
            let thing = out.name(&text);
            out.userspace_object(0x10, Err(process), thing);
            let base = head(EventType::Instant, 5, process + 1);
            let thread = koids(process, process + 1);
            let pointer = Arg::new("of", ArgValue::Pointer(0x10));
            out.event(Head { thread, ..base }, &[pointer], None);
        })
    };
    let paths = [objects("first.fxt", 10), objects("second.fxt", 20)];
    let both = open_together(&paths, &[], &[], &Job::default(), None).unwrap();
    let (again, summary) = cut(folder.path(), &both, &Selection::all());
    assert_eq!(summary.notes, Vec::<String>::new());
    let objects = again.trace.info.objects.iter();
    let names: Vec<&[u8]> = objects.map(|object| object.name.as_slice()).collect();
    assert_eq!(names, [&b"channel first.fxt"[..], b"channel second.fxt"]);
    let last = again.trace.info.objects.last().unwrap();
    assert_eq!((last.koid, last.fields.len()), (25, 1));
    let trace = &again.trace;
    assert_eq!(
        trace
            .processes
            .iter()
            .filter(|process| process.pid > 0)
            .count(),
        2
    );
    let events = (0..trace.events.len() as u32).map(|id| trace.events.get(EventId(id)));
    let mut said: Vec<String> = events
        .map(|event| again.reader.describe(event.into()).text)
        .collect();
    said.sort();
    let expected = [
        "of=0x10 (thing first.fxt)",
        "of=0x10 (thing second.fxt)",
        "pointer=0x10, process=10 (process game), color of first.fxt=3",
        "pointer=0x10, process=20 (process game), color of second.fxt=3",
    ];
    assert_eq!(said, expected);
}

#[test]
fn what_never_ended_in_its_file_never_ends() {
    let folder = tempfile::tempdir().unwrap();
    let record = |name: &str, (process, last): (u64, u64)| {
        file(folder.path(), name, |out| {
            let mut event = |event_type, time, name, word| {
                let name = out.name(name);
                let thread = koids(process, process + 1);
                let base = head(event_type, time, 0);
                out.event(
                    Head {
                        thread,
                        name,
                        ..base
                    },
                    &[],
                    word,
                );
            };
            event(EventType::Begin, 100, "open", None);
            event(EventType::Complete, 200, "whole", Some(300));
            event(EventType::AsyncBegin, 250, "request", Some(process));
            event(EventType::Instant, last, "last", None);
        })
    };
    let paths = [record("a.fxt", (10, 400)), record("b.fxt", (20, 1000))];
    let both = open_together(&paths, &[], &[], &Job::default(), None).unwrap();
    let start = both.trace.span.start.0 - 100;
    let row = |name: &str, thread, from: i64, until: i64| {
        let until = if until < 0 { until } else { start + until };
        (name.to_owned(), thread, start + from, until)
    };
    let (again, _) = cut(folder.path(), &both, &Selection::all());
    let expected = [
        row("open", 11, 100, -1),
        row("open", 21, 100, -1),
        row("request", 11, 250, -1),
        row("request", 21, 250, -1),
        row("whole", 11, 200, 300),
        row("whole", 21, 200, 300),
    ];
    assert_eq!(slices(&both), expected);
    assert_eq!(slices(&again), expected);
    // Each lasted at least to the last moment of its file.
    let at_least = |name: &str, ns: i64| (name.to_owned(), ns);
    let expected = [
        at_least("open", 300),
        at_least("open", 900),
        at_least("request", 150),
        at_least("request", 750),
    ];
    assert_eq!(unfinished(&both), expected);
    assert_eq!(unfinished(&again), expected);
    // After the end of its file nothing is known of it.
    for (from, until, threads) in [
        (150, 350, &[11, 21][..]),
        (150, 700, &[11, 21]),
        (500, 700, &[21]),
    ] {
        let span = range(start + from, start + until);
        let (again, _) = cut(folder.path(), &both, &span);
        let open = slices(&again).into_iter().filter(|row| row.0 == "open");
        let expected = threads.iter().map(|&thread| row("open", thread, from, -1));
        let expected: Vec<_> = expected.collect();
        assert_eq!(open.collect::<Vec<_>>(), expected, "{from}..{until}");
        for name in ["open", "request"] {
            let args = arguments(&again, name);
            assert_eq!(args["never_ended"], "true", "{name}");
            assert!(!args.contains_key("really_ended_ns"), "{name}");
        }
    }
    // Up to the end of the trace it stays open.
    let (again, _) = cut(folder.path(), &both, &range(start + 500, i64::MAX));
    let open = slices(&again).into_iter().filter(|row| row.0 == "open");
    assert_eq!(open.collect::<Vec<_>>(), [row("open", 21, 500, -1)]);
}
