//! Tests of whole traces: with every exporter, cancelled, with a full disk, and of arrows and arguments that are read
//! back.

use std::sync::Arc;

use super::*;
use crate::export::ExportedText;
use crate::trace::flows::FlowPoint;
use crate::trace::{Flow, Flows};

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
        // The sample contains no build, and is no trace.dat.
        if ["compile-commands", "trace-dat"].contains(&exporter.name) {
            assert!(matches!(result, Err(ExportError::Nothing(_))));
            continue;
        }
        assert_eq!(
            result.unwrap().bytes,
            std::fs::metadata(&path).unwrap().len()
        );
        if exporter.text == ExportedText::Json {
            let text = std::fs::read_to_string(&path).unwrap();
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            let rows = json
                .as_array()
                .or_else(|| json["traceEvents"].as_array())
                .unwrap();
            // Only the roots are at the top level of the tree, however many processes are below them.
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
fn begins_of_a_file_without_ends_are_unfinished_slices() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        for (event_type, time, name, end) in [
            (EventType::Begin, 0, "outer", None),
            (EventType::Complete, 0, "whole", Some(50)),
            (EventType::Begin, 100, "inner", None),
        ] {
            let name = out.name(name);
            let base = head(event_type, time, 11);
            out.event(Head { name, ..base }, &[], end);
        }
    });
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
    // As if one event read and wrote a file, and two other events read it: the flow of one id continues twice from that
    // event, and twice from its begin.
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

/// Returns time, category and name of the events that ended slices, in order of time.
fn names_of_ends(loaded: &LoadedTrace) -> Vec<(i64, String, String)> {
    let trace = &loaded.trace;
    let slices = (0..trace.slices.len() as u32).map(|row| trace.slices.get(SliceId(row)));
    let mut ends: Vec<_> = slices
        .filter_map(|slice| {
            let event = trace.events.get(slice.finish?);
            let kind = trace.kinds.get(event.row.kind.index()).unwrap();
            let text = |id| trace.text(id).into_owned();
            Some((event.row.time.0, text(kind.category), text(kind.name)))
        })
        .collect();
    ends.sort();
    ends
}

#[test]
fn ends_say_what_they_end() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        for (event_type, time, category, name) in [
            (EventType::Begin, 100, "c", "outer"),
            (EventType::Begin, 200, "c", "inner"),
            (EventType::Begin, 300, "c", "open"),
            (EventType::End, 400, "c", "open"),
            (EventType::End, 500, "", ""),
            (EventType::End, 600, "c", "outer"),
        ] {
            let (category, name) = (out.name(category), out.name(name));
            let base = head(event_type, time, 11);
            let head = Head {
                category,
                name,
                ..base
            };
            out.event(head, &[], None);
        }
    });
    let row = |time, category: &str, name: &str| (time, category.to_owned(), name.to_owned());
    // From FXT to FXT, an end without a name is copied without a name.
    let own = [
        row(400, "c", "open"),
        row(500, "", ""),
        row(600, "c", "outer"),
    ];
    assert_eq!(names_of_ends(&source), own);
    let (again, _) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(names_of_ends(&again), own);
    // The end at the border does not come from the file.
    let (again, _) = cut(folder.path(), &source, &range(0, 350));
    let cut_there = [
        row(350, "c", "inner"),
        row(350, "c", "open"),
        row(350, "c", "outer"),
    ];
    assert_eq!(names_of_ends(&again), cut_there);

    // The ends of other formats have the names of the slices, also if several end at one time.
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces");
    for (name, least) in [
        ("sched-irq-syscalls.dat", 100),
        ("shell-pipeline.strace", 5),
    ] {
        let source = open(&samples.join(name), &Job::default()).unwrap();
        let (again, _) = cut(folder.path(), &source, &Selection::all());
        let trace = &again.trace;
        let mut end_count = 0;
        for slice in (0..trace.slices.len() as u32).map(|row| trace.slices.get(SliceId(row))) {
            let Some(finish) = slice.finish else { continue };
            let kind = trace.kinds.get(trace.events.kind(finish).index()).unwrap();
            let label = trace.slices.label(slice.id);
            let said = [kind.category, kind.name].map(|id| trace.text(id));
            let expected = [label.category, label.name].map(|id| trace.text(id));
            assert_eq!(said, expected, "{name} at {}", slice.start.0);
            end_count += 1;
        }
        assert!(end_count > least, "{name}: {end_count}");
    }
}

/// Both with copied and with encoded records.
#[test]
fn asynchronous_ends_keep_what_they_said() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        for (event_type, time, name, id) in [
            (EventType::AsyncBegin, 100, "job", 1),
            (EventType::AsyncBegin, 200, "request", 2),
            (EventType::AsyncEnd, 300, "", 1),
            (EventType::AsyncEnd, 400, "request", 2),
        ] {
            let name = out.name(name);
            let base = head(event_type, time, 11);
            out.event(Head { name, ..base }, &[], Some(id));
        }
    });
    let row = |time, name: &str| (time, String::new(), name.to_owned());
    let own = [row(300, ""), row(400, "request")];
    assert_eq!(names_of_ends(&source), own);
    for again in [
        cut(folder.path(), &source, &Selection::all()),
        encoded(folder.path(), &source),
    ] {
        assert_eq!(names_of_ends(&again.0), own);
    }
}
