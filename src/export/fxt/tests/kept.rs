//! Tests of what an export from FXT to FXT keeps, adds at the borders of a range, and leaves out.

use super::*;
use crate::event::Gap;

/// Returns the number of string records with which a range is written.
fn string_count(source: &LoadedTrace, selection: &Selection) -> usize {
    let mut bytes = Vec::new();
    let job = Job::default();
    EXPORTER
        .write_to(source, selection, &mut bytes, &job)
        .unwrap();
    let mut count = 0;
    let mut rest = &bytes[..];
    while let Some(header) = rest.first_chunk::<8>() {
        let header = u64::from_le_bytes(*header);
        count += usize::from(header & 0xf == 2);
        rest = &rest[(header >> 4 & 0xfff) as usize * 8..];
    }
    count
}

#[test]
fn only_strings_that_are_used_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        for i in 0..20_000_u64 {
            complete(out, &format!("name {i}"), (i * 10, i * 10 + 5), &[]);
        }
    });
    // "process", the thread's name, the slice's name, the name of the argument for its real end, and the name of the
    // argument for the last moment.
    let one = string_count(&source, &range(500, 501));
    assert!(one <= 4, "{one} strings for a slice");
    assert!(string_count(&source, &Selection::all()) >= 20_000);
}

#[test]
fn an_arrow_from_before_the_range_is_of_the_slice_that_held_it() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        complete(out, "outer", (0, 1000), &[]);
        complete(out, "gone", (100, 200), &[]);
        complete(out, "other", (250, 400), &[]);
        let mut mark = |sort, time, thread, id| {
            let name = out.name("work");
            let base = head(sort, time, thread);
            out.event(Head { name, ..base }, &[], Some(id));
        };
        // The marks are in `gone`, `outer`, and `other`, which crosses the start.
        for (id, time) in [(1, 150), (2, 220), (3, 260)] {
            mark(EventType::FlowBegin, time, 11, id);
            mark(EventType::FlowEnd, 650, 12, id);
        }
        let base = head(EventType::Complete, 600, 12);
        out.event(base, &[], Some(700));
    });
    let said = |again: &LoadedTrace| -> Vec<(u64, Option<String>, Option<String>)> {
        let trace = &again.trace;
        let mut flows: Vec<_> = trace.flows.rows.iter().collect();
        flows.sort_by_key(|flow| flow.key);
        let name = |slice: SliceId| trace.text(trace.slices.label(slice).name).into_owned();
        let told = |flow: &crate::trace::Flow| {
            let said = fields_of(again, flow.from.event);
            (
                flow.key,
                flow.from.slice.map(name),
                said.get("really_in").cloned(),
            )
        };
        flows.into_iter().map(told).collect()
    };
    let some = |name: &str| Some(name.to_owned());
    let expected = [
        (1, None, some("gone")),
        (2, None, some("outer")),
        (3, some("other"), None),
    ];
    let (again, _) = cut(folder.path(), &source, &range(300, 700));
    assert_eq!(said(&again), expected);
    assert_eq!(slices(&again).len(), 3);
    // After a second cut the arguments still have the original times, once.
    let (third, _) = cut(folder.path(), &again, &range(310, 690));
    assert_eq!(
        said(&third),
        [
            expected[0].clone(),
            expected[1].clone(),
            expected[2].clone()
        ]
    );
    let event = third.trace.flows.rows[0].from.event;
    assert_eq!(fields_of(&third, event)["really_at_ns"], "150");
    let detail = third.reader.describe(third.trace.events.get(event).into());
    let names = detail.fields.iter().map(|field| field.name.as_str());
    let mut really: Vec<&str> = names.filter(|name| name.starts_with("really_")).collect();
    really.sort_unstable();
    assert_eq!(really, ["really_at_ns", "really_in", "really_in_from_ns"]);
}

#[test]
fn a_log_that_fits_a_record_is_one() {
    let folder = tempfile::tempdir().unwrap();
    for (length, count) in [(32_001, 1), (32_744, 1), (32_745, 2)] {
        let source = written(folder.path(), |out| {
            out.log(500, koids(10, 11), "m".repeat(length).as_bytes());
        });
        assert_eq!(source.trace.logs.rows.len(), count, "{length}");
        let (again, summary) = cut(folder.path(), &source, &range(0, 1000));
        assert_eq!(summary.count_of("logs"), count as u64);
        let bytes = |loaded: &LoadedTrace| -> usize {
            let logs = loaded.trace.logs.rows.iter();
            logs.map(|log| loaded.trace.text(log.message).len()).sum()
        };
        assert_eq!(bytes(&again), length);
    }
}

/// Returns category, name and fields of all events of a file, in order of time.
pub(super) fn told(loaded: &LoadedTrace) -> Vec<String> {
    let events = 0..loaded.trace.events.len() as u32;
    let told = |id| {
        let detail = loaded
            .reader
            .describe(loaded.trace.events.get(EventId(id)).into());
        let fields = detail.fields.iter();
        let fields: Vec<String> = fields
            .map(|field| {
                format!(
                    "{}: {} = {} {}",
                    field.name, field.type_name, field.value, field.shown
                )
            })
            .collect();
        format!("{} {} {fields:?}", detail.category, detail.name)
    };
    events.map(told).collect()
}

#[test]
fn counters_without_numbers_objects_and_blobs_are_what_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        out.process_object(10, b"game");
        let name = out.name("state");
        let base = Head {
            name,
            ..head(EventType::Counter, 100, 11)
        };
        let text = [Arg::new("mode", ArgValue::text("busy"))];
        out.event(base, &text, Some(3));
        let base = head(EventType::Instant, 150, 11);
        let bytes: Vec<u8> = (0..=255).cycle().take(5000).collect();
        let args = [
            Arg::new("raw", ArgValue::Blob(bytes[..5].to_vec().into())),
            Arg::new("more raw", ArgValue::Blob(bytes.into())),
        ];
        out.event(base, &args, None);
        out.prepare(&[Arg::new("size", ArgValue::UInt32(64))]);
        let name = out.name("queue");
        out.userspace_object(0xbeef, Ok(koids(10, 11)), name);
        out.prepare(&[]);
        let name = out.name("other queue");
        out.userspace_object(0xcafe, Err(10), name);
        let base = head(EventType::Instant, 200, 11);
        out.event(base, &[Arg::new("at", ArgValue::Pointer(0xbeef))], None);
    });
    let (again, summary) = cut(folder.path(), &source, &Selection::all());
    assert!(told(&again) == told(&source));
    assert_eq!(summary.count_of("counter samples"), 1);
    let said = told(&again);
    assert!(said[0].contains("mode: string = busy"), "{said:?}");
    assert!(
        said.iter().any(|line| line.contains("0xbeef (queue)")),
        "{said:?}"
    );
    let again = again.trace;
    assert_eq!(again.instants.len(), source.trace.instants.len());
}

#[test]
fn big_endian_counters_stay_together() {
    let mut bytes = Vec::new();
    let mut word = |word: u64| bytes.extend_from_slice(&word.to_be_bytes());
    let text = |text: &[u8; 8]| u64::from_be_bytes(*text);
    word(super::records::MAGIC);
    word(1 | 2 << 4);
    word(1_000_000_000);
    for (index, name) in [
        (1, b"load\0\0\0\0"),
        (2, b"user\0\0\0\0"),
        (3, b"sys\0\0\0\0\0"),
    ] {
        let length = name.iter().filter(|byte| **byte != 0).count() as u64;
        word(2 | 2 << 4 | index << 16 | length << 32);
        word(text(name));
    }
    // Two values, and the number of their counter.
    word(4 | 9 << 4 | 1 << 16 | 2 << 20 | 1 << 48);
    for part in [
        100,
        10,
        11,
        3 | 2 << 4 | 2 << 16,
        5,
        3 | 2 << 4 | 3 << 16,
        6,
        9,
    ] {
        word(part);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big.fxt");
    std::fs::write(&path, bytes).unwrap();
    let source = crate::load::open(&path, &Job::default()).unwrap();
    assert_eq!(source.trace.counters.values.len(), 2);
    let (again, summary) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(summary.count_of("counter samples"), 1);
    assert_eq!(told(&again), told(&source));
    let values = (&again.trace.counters.values, &source.trace.counters.values);
    assert_eq!(values.0, values.1);
}

/// Returns name and depth of all slices, in order.
fn depths(loaded: &LoadedTrace) -> Vec<(String, u32)> {
    let trace = &loaded.trace;
    let mut rows: Vec<_> = (0..trace.slices.len() as u32)
        .map(SliceId)
        .map(|id| {
            let name = trace.text(trace.slices.label(id).name).into_owned();
            (name, trace.slices.row_of(id).row)
        })
        .collect();
    rows.sort();
    rows
}

#[test]
fn whole_slices_stay_in_those_that_begin_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        let mut event = |event_type, time, thread, name: &'static str, end| {
            let name = out.name(name);
            let base = head(event_type, time, thread);
            out.event(Head { name, ..base }, &[], end);
        };
        let (begin, whole, end) = (EventType::Begin, EventType::Complete, EventType::End);
        event(begin, 1000, 11, "outer", None);
        event(whole, 1000, 11, "inner", Some(1010));
        event(whole, 1000, 11, "middle", Some(1015));
        event(end, 1020, 11, "", None);
        // The outer slice never ends; the slices inside it have no length.
        event(begin, 2000, 12, "open", None);
        event(whole, 2000, 12, "point", Some(2000));
        // The slice ends before another begins at the same time: it is not inside that one.
        event(begin, 3000, 13, "short", None);
        event(end, 3000, 13, "", None);
        event(begin, 3000, 13, "long", None);
        event(whole, 3000, 13, "half", Some(3005));
        event(end, 3010, 13, "", None);
        // The outer slices were logged last.
        event(begin, 4000, 13, "first", None);
        event(end, 4010, 13, "", None);
        event(whole, 4000, 13, "around", Some(4100));
    });
    let before = depths(&source);
    let depth = |name: &str| before.iter().find(|row| row.0 == name).unwrap().1;
    assert_eq!((depth("inner"), depth("short"), depth("first")), (2, 0, 1));
    let (again, _) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(depths(&again), before);
    let (third, _) = cut(folder.path(), &again, &Selection::all());
    assert_eq!(depths(&third), before);
}

#[test]
fn where_events_were_lost_is_said_again() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        complete(out, "before", (100, 150), &[]);
        out.buffer_full(1);
        complete(out, "behind", (500, 600), &[]);
        complete(out, "last", (700, 800), &[]);
        out.buffer_full(1);
    });
    let holes = |loaded: &LoadedTrace| -> Vec<(i64, i64)> {
        let gaps = loaded.trace.gaps.iter();
        gaps.map(Gap::span)
            .map(|gap| (gap.start.0, gap.end.0))
            .collect()
    };
    assert_eq!(holes(&source).len(), 2);
    let (again, summary) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(holes(&again), holes(&source));
    assert_eq!(summary.count_of("losses"), 2);
    // In a range, those that overlap it are written.
    let (again, summary) = cut(folder.path(), &source, &range(550, 650));
    assert_eq!(summary.count_of("losses"), 0);
    assert!(again.trace.gaps.is_empty());
    let (_, summary) = cut(folder.path(), &source, &range(120, 300));
    assert_eq!(summary.count_of("losses"), 1);
    let job = Job::default();
    let json = crate::export::chrome_json::EXPORTER
        .write_to(&source, &Selection::all(), &mut Vec::new(), &job)
        .unwrap();
    assert_eq!(json.count_of("losses"), 2);
}

#[test]
fn every_wakeup_and_what_scheduling_records_say_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let side = |koid, weight| Side::Thread { koid, weight };
    let source = written(folder.path(), |out| {
        for thread in [11, 12, 13] {
            out.thread_object((10, thread), b"t");
        }
        out.context_switch((100, 0), Side::Idle, (1, ""), side(11, 5), None);
        // The thread is switched from and woken at once.
        out.context_switch((200, 0), side(11, 8), (3, ""), side(12, 6), None);
        out.prepare(&[
            Arg::new("weight", ArgValue::Int32(44)),
            Arg::new("note", ArgValue::text("again")),
        ]);
        out.prepared_wakeup(on_cpu(200, 0), 11, None);
        // The thread is ready already.
        out.wakeup(250, 0, 11, Some(12));
        out.prepare(&[Arg::new("why", ArgValue::text("time"))]);
        out.switch_with_arguments((300, 0), side(12, 7), (1, ""), side(11, 5), None);
        // The thread continues elsewhere at once.
        out.context_switch((400, 0), side(11, 5), (1, ""), Side::Idle, None);
        out.context_switch((400, 1), Side::Idle, (1, ""), side(11, 5), None);
        // It is unknown how the thread came to this CPU.
        out.context_switch((500, 2), side(13, 9), (3, ""), Side::Idle, None);
    });
    let scheduling = |loaded: &LoadedTrace| -> Vec<String> {
        let all = told(loaded).into_iter();
        all.filter(|text| text.starts_with("scheduling ")).collect()
    };
    let sorted = |loaded: &LoadedTrace| -> Vec<Vec<String>> {
        // Sorted by name: our fields have another order.
        let all = scheduling(loaded).into_iter();
        all.map(|text| {
            let mut words: Vec<String> = text.split("\", \"").map(str::to_owned).collect();
            for word in &mut words {
                let bare = word.trim_end_matches("\"]");
                let bare = bare.rsplit("[\"").next().unwrap_or(bare);
                *word = bare.to_owned();
            }
            words.sort();
            words
        })
        .collect()
    };
    let (again, summary) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(summary.count_of("wakeups"), 2);
    assert_eq!(sorted(&again), sorted(&source), "{:#?}", scheduling(&again));
    let (third, _) = cut(folder.path(), &again, &Selection::all());
    assert_eq!(sorted(&third), sorted(&source));
}

/// Returns the second copy of a file: a copy of a copy.
pub(super) fn copy_twice(folder: &Path, source: &LoadedTrace) -> LoadedTrace {
    let (first, summary) = cut(folder, source, &Selection::all());
    let said = summary.notes.iter().any(|note| note.contains("number"));
    assert!(!said, "{:?}", summary.notes);
    let kept = folder.join("kept.fxt");
    std::fs::copy(folder.join("cut.fxt"), &kept).unwrap();
    drop(first);
    let first = open(&kept, &Job::default()).unwrap();
    cut(folder, &first, &Selection::all()).0
}

#[test]
fn copies_of_copies_have_no_more_processes() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        complete(out, "work", (5, 9), &[]);
        out.blob(b"dump", b"", Some(1), b"bytes");
        out.object(object(1, 10), b"game", &[]);
        let nothing: [Arg<'_>; 0] = [];
        out.prepare(&nothing);
        let name = out.name("thing");
        out.userspace_object(0x10, Err(10), name);
    });
    let count = |loaded: &LoadedTrace| (loaded.trace.processes.len(), loaded.trace.threads.len());
    let again = copy_twice(folder.path(), &source);
    assert_eq!(count(&again), count(&source));
    assert_eq!(again.trace.instants.len(), 2);
}

#[test]
fn blobs_keep_their_time() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        // Its time is the time of the first event in the file, which is not the earliest event.
        out.blob(b"first", b"", Some(1), b"bytes");
        complete(out, "late", (50, 60), &[]);
        out.blob(b"second", b"", Some(1), b"bytes");
        complete(out, "early", (5, 9), &[]);
        out.blob(b"third", b"files", None, b"bytes");
        complete(out, "middle", (20, 50), &[]);
    });
    let times = |loaded: &LoadedTrace| -> Vec<(i64, String)> {
        let trace = &loaded.trace;
        let events = trace.instants.events.iter();
        let mut rows: Vec<_> = events
            .map(|id| trace.events.get(EventId(id)))
            .map(|event| {
                let name = trace.kind_name(event.row.kind).into_owned();
                (event.row.time.0, name)
            })
            .collect();
        rows.sort();
        rows
    };
    let expected = [(5, "third"), (50, "first"), (50, "second")];
    let expected = expected.map(|(time, name)| (time, name.to_owned()));
    assert_eq!(times(&source), expected);
    assert_eq!(times(&copy_twice(folder.path(), &source)), expected);
}

/// Returns time, event type and id of all flow events, in order.
fn flow_events(loaded: &LoadedTrace) -> Vec<(i64, crate::event::FlowOp, u64)> {
    let trace = &loaded.trace;
    let file = FxtFile::of(loaded).unwrap();
    let events = (0..trace.events.len() as u32).map(|id| trace.events.get(EventId(id)).row);
    let flow = |row: crate::event::columns::EventRow| {
        let flow = file.flow(row.place)?;
        Some((row.time.0, flow.op, flow.id))
    };
    events.filter_map(flow).collect()
}

#[test]
fn flow_events_without_counterparts_are_kept_and_make_no_arrows() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        let mut event = |event_type, time, (process, thread), word| {
            let base = head(event_type, time, 0);
            let thread = koids(process, thread);
            let args = [Arg::new("to", ArgValue::text("server"))];
            out.event(Head { thread, ..base }, &args, Some(word));
        };
        for (process, thread) in [(10, 11), (10, 12), (20, 21), (30, 31)] {
            event(EventType::Complete, 100, (process, thread), 900);
        }
        use EventType::{FlowBegin, FlowEnd, FlowStep};
        for (sort, time, owner, id) in [
            // No other event begins or ends these flows.
            (FlowBegin, 200, (10, 11), 77),
            (FlowEnd, 210, (10, 12), 78),
            // The flow is open already, and the event is outside of all slices.
            (FlowBegin, 300, (10, 11), 5),
            (FlowBegin, 310, (10, 12), 5),
            (FlowEnd, 320, (10, 12), 5),
            (FlowStep, 330, (10, 12), 5),
            (FlowBegin, 950, (10, 11), 6),
            (FlowEnd, 960, (10, 12), 6),
            // Two processes have it open: its owner is ambiguous.
            (FlowBegin, 400, (10, 11), 7),
            (FlowBegin, 410, (20, 21), 7),
            (FlowEnd, 420, (30, 31), 7),
            (FlowEnd, 430, (20, 21), 7),
        ] {
            event(sort, time, owner, id);
        }
    });
    let arrows = |loaded: &LoadedTrace| -> Vec<(i64, i64, u64)> {
        let rows = loaded.trace.flows.rows.iter();
        let mut rows: Vec<_> = rows
            .map(|row| (row.from.time.0, row.to.time.0, row.key))
            .collect();
        rows.sort_unstable();
        rows
    };
    assert_eq!(arrows(&source), [(300, 320, 5), (410, 430, 7)]);
    assert_eq!(flow_events(&source).len(), 12);
    let (again, summary) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(flow_events(&again), flow_events(&source));
    assert_eq!(arrows(&again), arrows(&source));
    assert_eq!(summary.count_of("flow arrows"), 2);
    let said = "8 flow events have no counterparts and make no arrows: they are kept as they are";
    assert!(summary.notes.iter().any(|note| note == said));
    let lone = again.trace.events.from_time(Timestamp(210)).next().unwrap();
    assert_eq!(fields_of(&again, lone)["to"], "server");
    // In a part of the trace they might match other events than in the whole.
    let processes = again.trace.processes.iter();
    let chosen = processes.zip(0..).filter(|row| row.0.pid != 10);
    let selection = Selection {
        processes: chosen.map(|row| crate::trace::ProcessId(row.1)).collect(),
        ..Selection::all()
    };
    let (part, _) = cut(folder.path(), &source, &selection);
    assert_eq!(flow_events(&part).len(), 3);
    assert_eq!(arrows(&part).len(), 1);
    assert_eq!(arrows(&part)[0].0, 410);
    // Exports range by range contain no additional arrows either.
    for from in (200..450).step_by(10) {
        let (part, _) = cut(folder.path(), &source, &range(from, 500));
        let of_range = |row: &&(i64, i64, u64)| row.1 >= from;
        assert_eq!(
            arrows(&part).len(),
            arrows(&source).iter().filter(of_range).count(),
            "from {from}"
        );
    }
    let mut json = Vec::new();
    crate::export::chrome_json::EXPORTER
        .write_to(&source, &Selection::all(), &mut json, &Job::default())
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let rows = json["traceEvents"].as_array().unwrap().iter();
    let marks = rows.filter(|row| ["s", "t", "f"].map(Some).contains(&row["ph"].as_str()));
    assert_eq!(marks.count(), 12);
}
