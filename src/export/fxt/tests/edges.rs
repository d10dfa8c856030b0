//! Tests of ranges, times, names and arguments at the limits of the trace and of the format.

use super::*;
use crate::export::shared::arguments::LongText;
use crate::trace::SliceLabel;
use crate::trace::packed::Packed;

fn row(name: &str, start: i64, end: i64) -> (String, u64, i64, i64) {
    (name.to_owned(), 11, start, end)
}

#[test]
fn ranges_without_anything_give_a_file_without_anything() {
    let folder = tempfile::tempdir().unwrap();
    let source = sample(folder.path());
    let (min, max) = (i64::MIN, i64::MAX);
    let empty = [
        (300, 300),
        (700, 300),
        (-50, 0),
        (1001, 2000),
        (min, min + 1),
        (max - 1, max),
    ];
    for (from, until) in empty {
        let (again, summary) = cut(folder.path(), &source, &range(from, until));
        assert!(slices(&again).is_empty(), "{from}..{until}");
        assert_eq!(summary.count_of("instants"), 0, "{from}..{until}");
        assert_eq!(summary.count_of("logs"), 0, "{from}..{until}");
        assert_eq!(summary.count_of("flow arrows"), 0, "{from}..{until}");
        let severe = again.trace.diagnostics.rows().iter();
        let severe = severe.filter(|row| row.severity != crate::base::Severity::Info);
        assert_eq!(severe.count(), 0, "{from}..{until}");
    }
}

#[test]
fn a_nanosecond_has_what_lasts_over_it() {
    let folder = tempfile::tempdir().unwrap();
    let source = sample(folder.path());
    let (again, _) = cut(folder.path(), &source, &range(500, 501));
    let expected = ["inner", "outer", "request"].map(|name| row(name, 500, 501));
    assert_eq!(drawn(&again), expected);
    // A part of a slice counts as unfinished.
    let expected = ["inner", "outer", "request"].map(|name| (name.to_owned(), 1));
    assert_eq!(unfinished(&again), expected);
    let outer = arguments(&again, "outer");
    assert_eq!(
        (&*outer["really_began_ns"], &*outer["really_ended_ns"]),
        ("0", "1000")
    );
    assert_eq!(again.trace.counters.times, [500]);
    assert_eq!(again.trace.counters.values, [7.0]);
    // At the first and last moment: slices that begin there are included, those that ended there are not.
    let (again, _) = cut(folder.path(), &source, &range(600, 601));
    assert!(slices(&again).iter().any(|slice| slice.0 == "job"));
    let (again, _) = cut(folder.path(), &source, &range(800, 801));
    assert!(slices(&again).iter().all(|slice| slice.0 != "job"));
}

#[test]
fn what_begins_or_ends_at_the_border_is_not_cut() {
    let folder = tempfile::tempdir().unwrap();
    let source = sample(folder.path());
    let (again, _) = cut(folder.path(), &source, &range(100, 900));
    let inner = arguments(&again, "inner");
    assert!(!inner.keys().any(|name| name.starts_with("really_")));
    assert!(slices(&again).contains(&row("inner", 100, 900)));
    let outer = arguments(&again, "outer");
    assert!(outer.contains_key("really_began_ns") && outer.contains_key("really_ended_ns"));
}

#[test]
fn what_never_ended_is_cut_where_the_range_ends_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        let mut event = |sort, time, name, word| {
            let name = out.name(name);
            out.event(
                Head {
                    name,
                    ..head(sort, time, 11)
                },
                &[],
                word,
            );
        };
        event(EventType::Begin, 100, "open", None);
        event(EventType::Begin, 100, "inner", None);
        event(EventType::Begin, 400, "late", None);
        event(EventType::AsyncBegin, 450, "request", Some(5));
        event(EventType::Complete, 500, "whole", Some(900));
        event(EventType::End, 700, "", None);
        event(EventType::Instant, 1000, "last", None);
        let side = |koid, weight| Side::Thread { koid, weight };
        out.context_switch((50, 0), Side::Idle, (1, ""), side(11, 1), None);
    });
    let open = |name: &str, start: i64, end: i64| (name.to_owned(), 11, start, end);
    // Up to the trace's end and later they stay open.
    for until in [1001, 5000, i64::MAX] {
        let (again, _) = cut(folder.path(), &source, &range(0, until));
        assert_eq!(slices(&again), slices(&source), "until {until}");
        assert_eq!(again.trace.runs.ends, [i64::MAX], "until {until}");
    }
    for from in [0, 300] {
        let (again, _) = cut(folder.path(), &source, &range(from, 800));
        let begun = from.max(100);
        let expected = [
            open("inner", begun, -1),
            open("late", 400, 700),
            open("open", begun, -1),
            open("request", 450, -1),
            open("whole", 500, -1),
        ];
        assert_eq!(slices(&again), expected, "from {from}");
        let at_least = |name: &str, ns: i64| (name.to_owned(), ns);
        let expected = [
            at_least("inner", 800 - begun),
            at_least("open", 800 - begun),
            at_least("request", 350),
            at_least("whole", 300),
        ];
        assert_eq!(unfinished(&again), expected, "from {from}");
        let depth = |name: &str| {
            let trace = &again.trace;
            let mut all = (0..trace.slices.len() as u32).map(crate::trace::SliceId);
            let found = all.find(|&id| trace.text(trace.slices.label(id).name) == name);
            trace.slices.depth(found.unwrap())
        };
        assert_eq!((depth("open"), depth("inner")), (0, 1));
        for name in ["open", "inner", "request"] {
            let args = arguments(&again, name);
            assert_eq!(args["never_ended"], "true", "{name}");
            assert!(!args.contains_key("really_ended_ns"), "{name}");
        }
        assert_eq!(arguments(&again, "whole")["really_ended_ns"], "900");
        assert!(!arguments(&again, "late").contains_key("never_ended"));
        assert_eq!(again.trace.runs.ends, [800]);
    }
    // A run that is cut has its real start and end as arguments.
    let source = written(folder.path(), |out| {
        let side = |koid, weight| Side::Thread { koid, weight };
        out.context_switch((50, 0), Side::Idle, (1, ""), side(11, 1), None);
        out.context_switch((900, 0), side(11, 1), (3, "D"), side(12, 1), None);
        out.context_switch((950, 0), side(12, 1), (3, ""), Side::Idle, None);
    });
    let (again, _) = cut(folder.path(), &source, &range(100, 800));
    let trace = &again.trace;
    assert_eq!(trace.runs.starts, [100]);
    assert_eq!(trace.runs.ends, [800]);
    let fields = |id: u32| {
        let event = again.trace.events.get(EventId(id));
        let fields = again.reader.describe(event.into()).fields;
        let text = |field: crate::event::Field| (field.name, field.value.to_string());
        fields
            .into_iter()
            .map(text)
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    assert_eq!(fields(0)["really_began_ns"], "50");
    assert_eq!(fields(1)["really_ended_ns"], "900");
    // A run that ends where the range ends is not cut; the thread's next state is not in the range.
    let (again, _) = cut(folder.path(), &source, &range(100, 900));
    assert_eq!(again.trace.runs.ends, [900]);
    assert_eq!(
        again.trace.runs.end_states,
        [crate::event::ThreadState::Unknown]
    );
    assert_eq!(again.trace.states.ends, [900]);
}

#[test]
fn names_that_no_record_holds_are_cut_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = written(folder.path(), |out| {
        complete(out, "one", (100, 200), &[]);
        complete(out, "two", (300, 400), &[]);
    });
    let (_, summary) = cut(folder.path(), &source, &Selection::all());
    assert!(summary.notes.is_empty());
    let trace = std::sync::Arc::make_mut(&mut source.trace);
    let long = "n".repeat(40_000);
    let name = trace.strings.intern_text(&long);
    let label = trace.slices.labels.get(0).unwrap();
    trace.slices.labels.set(0, SliceLabel { name, ..label });
    let (again, summary) = encoded(folder.path(), &source);
    assert!(
        summary
            .notes
            .iter()
            .any(|note| note.starts_with("1 name was"))
    );
    let all = slices(&again);
    let cut_name = all.iter().find(|slice| slice.0.starts_with('n')).unwrap();
    assert!(cut_name.0.len() > 32_000 && long.starts_with(&cut_name.0));
}

#[test]
fn each_cpu_has_its_thread_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        let side = |koid| Side::Thread { koid, weight: 1 };
        for thread in [11, 12, 13, 14] {
            out.thread_object((10, thread), b"t");
        }
        out.context_switch((10, 0), Side::Idle, (1, ""), side(11), None);
        out.context_switch((20, 1), Side::Idle, (1, ""), side(12), None);
        out.context_switch((30, 2), Side::Idle, (1, ""), side(13), None);
        out.context_switch((40, 2), side(13), (3, ""), Side::Idle, None);
        out.wakeup(60, 0, 14, None);
        out.context_switch((500, 0), side(11), (1, ""), side(14), None);
        out.context_switch((600, 1), side(12), (3, ""), Side::Idle, None);
    });
    let (again, summary) = cut(folder.path(), &source, &range(100, 550));
    let trace = &again.trace;
    let runs: Vec<(u32, u64, i64, i64)> = (0..trace.runs.len() as u32)
        .map(|index| {
            let run = trace.runs.get(crate::trace::RunId(index));
            let cpu = trace.cpus[run.cpu.0 as usize].number;
            let end = run.end.map_or(-1, |end| end.0);
            (cpu, trace.thread(run.thread).tid, run.start.0, end)
        })
        .collect();
    // CPU 2 is idle from before the range to its end: it has no records.
    let expected = [(0, 11, 100, 500), (0, 14, 500, 550), (1, 12, 100, 550)];
    assert_eq!(runs, expected);
    // A thread that waits for a CPU at the start waits from the range's start.
    assert_eq!(summary.count_of("wakeups"), 1);
    let waits = (0..trace.states.starts.len())
        .any(|index| trace.states.starts[index] == 100 && trace.states.states[index].is_ready());
    assert!(waits);
}

#[test]
fn one_event_is_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        out.event(head(EventType::Instant, 7, 11), &[], None);
    });
    let (again, summary) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(summary.count_of("instants"), 1);
    assert_eq!(again.trace.span, source.trace.span);
    for (from, until, count) in [(7, 8, 1), (6, 7, 0), (8, 9, 0)] {
        let (_, summary) = cut(folder.path(), &source, &range(from, until));
        assert_eq!(summary.count_of("instants"), count, "{from}..{until}");
    }
}

#[test]
fn times_at_the_ends_of_the_clock_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let last = i64::MAX as u64 - 1;
    let source = written(folder.path(), |out| {
        complete(out, "first", (0, 1), &[]);
        complete(out, "late", (last - 10, last), &[]);
        // Greater than the largest time.
        complete(out, "never", (u64::MAX - 5, u64::MAX), &[]);
    });
    let late = last as i64;
    let expected = [row("first", 0, 1), row("late", late - 10, late)];
    assert_eq!(slices(&source), expected);
    let (again, _) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(slices(&again), expected);
    let (again, _) = cut(folder.path(), &source, &range(late - 5, i64::MAX));
    assert_eq!(drawn(&again), [row("late", late - 5, late)]);
    assert_eq!(unfinished(&again), [("late".to_owned(), 5)]);
}

#[test]
fn times_below_zero_are_shifted_and_the_file_says_by_how_much() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = sample(folder.path());
    let trace = std::sync::Arc::get_mut(&mut source.trace).unwrap();
    // Like a clock that counts from an event in the middle.
    let back = 500;
    let starts = trace.slices.starts.iter().map(|time| time - back);
    trace.slices.starts = Packed::new(&starts.collect::<Vec<_>>());
    // Their end arguments count from that event.
    let moved = |time: Timestamp| Timestamp(time.0 - back);
    trace.span = crate::base::TimeSpan::new(moved(trace.span.start), moved(trace.span.end));
    let (again, summary) = encoded(folder.path(), &source);
    assert!(slices(&again).contains(&row("inner", 100, 900)));
    assert!(
        summary.notes.iter().any(|note| note.contains("500 ns")),
        "{:?}",
        summary.notes
    );
    let info = &again.trace.info;
    assert!(
        info.facts
            .iter()
            .any(|fact| format!("{fact:?}").contains("+ 500 ns"))
    );
}

#[test]
fn names_longer_than_any_record_and_bytes_that_are_no_text() {
    let folder = tempfile::tempdir().unwrap();
    let long = "long name ".repeat(3_270);
    let too_long = "ü".repeat(20_000);
    let mut bytes = Vec::new();
    let source = written(folder.path(), |out| {
        complete(out, &long, (10, 20), &[]);
        complete(out, "plain", (30, 40), &[]);
        let value = |text: &str| ArgValue::text(text.to_owned());
        let args = ["a", "b", "c"].map(|name| Arg::new(name, value(&long)));
        complete(out, "three", (50, 60), &args);
        let args = [Arg::new(long.clone(), value("x"))];
        complete(out, "named", (70, 80), &args);
    });
    assert_eq!(slices(&source).len(), 4);
    let (again, summary) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(slices(&again), slices(&source));
    assert_eq!(arguments(&again, "named")[&long], "x");
    let three = arguments(&again, "three");
    assert!(["a", "b", "c"].iter().all(|name| three[*name] == long));
    assert!(summary.notes.is_empty(), "{:?}", summary.notes);

    // A name that is too long for a string record is cut, and a text of any length follows whole.
    let tables = tables();
    let mut out = Records::new(&tables);
    out.head_of("test");
    out.well_known_strings();
    let name = out.name(&too_long);
    let base = head(EventType::Instant, 5, 11);
    out.event(Head { name, ..base }, &[], None);
    bytes.extend(out.finish().bytes);
    // The name's bytes are changed so that they are not UTF-8.
    let at = bytes.windows(4).position(|four| four == "üü".as_bytes());
    bytes[at.unwrap()] = 0xff;
    let path = folder.path().join("bytes.fxt");
    std::fs::write(&path, bytes).unwrap();
    let source = crate::load::open(&path, &Job::default()).unwrap();
    let (again, _) = cut(folder.path(), &source, &Selection::all());
    let name_of = |loaded: &LoadedTrace| {
        let trace = &loaded.trace;
        trace.kind_name(trace.events.kind(EventId(0))).into_owned()
    };
    assert!(name_of(&source).starts_with("\\xff"));
    assert!(name_of(&again).starts_with("\\xff"));
    assert!(name_of(&again).len() > 32_000);
}

#[test]
fn sixteen_arguments_and_more_continue_in_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        let args: Vec<Arg<'_>> = (0..15_i64)
            .map(|number| Arg::new(format!("a{number:02}"), ArgValue::Int64(number)))
            .collect();
        complete(out, "full", (100, 900), &args);
    });
    let (again, summary) = cut(folder.path(), &source, &Selection::all());
    assert!(!arguments(&again, "full").contains_key("more"));
    assert!(summary.notes.is_empty());
    // The border adds two more arguments, which readers find by name.
    let (again, summary) = cut(folder.path(), &source, &range(300, 700));
    let full = arguments(&again, "full");
    assert!(!full.contains_key("more"));
    for (name, value) in [("a11", "11"), ("a12", "12"), ("a13", "13"), ("a14", "14")] {
        assert_eq!(full[name], value);
    }
    let border = (&*full["really_began_ns"], &*full["really_ended_ns"]);
    assert_eq!(border, ("100", "900"));
    assert!(summary.notes.iter().any(|note| note.contains("'more'")));
}

#[test]
fn an_export_that_is_stopped_half_way_leaves_nothing_behind() {
    struct StopsAt<'a> {
        job: &'a Job,
        left: usize,
    }
    impl Write for StopsAt<'_> {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.left = self.left.saturating_sub(bytes.len());
            if self.left == 0 {
                self.job.cancel();
            }
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        for number in 0..100_000_u64 {
            complete(out, "many", (number * 10, number * 10 + 5), &[]);
        }
    });
    let path = folder.path().join("old.fxt");
    std::fs::write(&path, "old").unwrap();
    let job = Job::default();
    let done: Result<(), ExportError> =
        crate::export::atomic_file::write_whole(&path, crate::export::Overwrite::Replace, |out| {
            // A part was written already.
            out.write_all(b"head")?;
            let mut stops = StopsAt {
                job: &job,
                left: 1_000_000,
            };
            EXPORTER
                .write_to(&source, &Selection::all(), &mut stops, &job)
                .map(|_| ())
        });
    assert!(matches!(done, Err(ExportError::Cancelled)), "{done:?}");
    let progress = job.progress();
    assert!(
        progress.done > 0 && progress.total.is_some_and(|total| progress.done < total),
        "{progress:?}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn the_same_export_twice_is_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        for number in 0..60_000_u64 {
            let name = format!("name {}", number % 20_011);
            let text = format!("text {}", number % 300);
            let args = [Arg::new("text", ArgValue::text(text))];
            complete(out, &name, (number * 10, number * 10 + 5), &args);
        }
    });
    let bytes = || {
        let mut bytes = Vec::new();
        EXPORTER
            .write_to(&source, &Selection::all(), &mut bytes, &Job::default())
            .unwrap();
        bytes
    };
    assert!(bytes() == bytes());
}

#[test]
fn thousands_of_slices_that_start_together_are_a_matter_of_a_moment() {
    let folder = tempfile::tempdir().unwrap();
    // Each slice is inside all slices before it: the depth is the number of slices.
    let source = written(folder.path(), |out| {
        for i in 0..40_000_u64 {
            complete(out, "work", (1000, 100_000 - i), &[]);
        }
    });
    let (again, summary) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(summary.count_of("slices"), 40_000);
    assert!(slices(&again) == slices(&source));
}

#[test]
fn an_arrow_with_many_arguments_says_what_it_is_really_in() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        complete(out, "outer", (0, 1000), &[]);
        complete(out, "gone", (100, 200), &[]);
        let args: Vec<Arg<'_>> = (0..14_i64)
            .map(|number| Arg::new(format!("a{number:02}"), ArgValue::Int64(number)))
            .collect();
        let base = head(EventType::FlowBegin, 150, 11);
        out.event(base, &args, Some(7));
        let base = head(EventType::Complete, 600, 12);
        out.event(base, &[], Some(700));
        let base = head(EventType::FlowEnd, 650, 12);
        out.event(base, &[], Some(7));
    });
    let (again, _) = cut(folder.path(), &source, &range(300, 700));
    let flows = &again.trace.flows.rows;
    assert_eq!(flows.len(), 1);
    assert_eq!((flows[0].from.slice, flows[0].key), (None, 7));
    let said = fields_of(&again, flows[0].from.event);
    assert_eq!(
        (&*said["really_in"], &*said["really_at_ns"]),
        ("gone", "150")
    );
}

/// The length of the longest piece that is written at once, in bytes.
#[derive(Default)]
struct Longest(usize);

impl Write for Longest {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.max(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_is_cut_at_a_border_is_not_held_all_at_once() {
    let folder = tempfile::tempdir().unwrap();
    // One text in 15 arguments: where they are cut, one more argument moves two of them into the text `more`.
    let source = written(folder.path(), |out| {
        let text = "x".repeat(30_000);
        let args: Vec<Arg<'_>> = (0..15)
            .map(|number| {
                Arg::new(
                    format!("a{number}"),
                    ArgValue::Other(LongText(text.as_bytes().into())),
                )
            })
            .collect();
        for time in 0..200 {
            out.event(head(EventType::Begin, time, 11), &args, None);
        }
        out.event(head(EventType::Instant, 1000, 11), &[], None);
    });
    let selection = range(500, 1001);
    let mut longest = Longest::default();
    let summary = EXPORTER
        .write_to(&source, &selection, &mut longest, &Job::default())
        .unwrap();
    assert_eq!(summary.count_of("slices"), 200);
    assert!(longest.0 < 5 << 20, "{}", longest.0);
    let (again, _) = cut(folder.path(), &source, &selection);
    assert_eq!(slices(&again).len(), 200);
    assert_eq!(again.trace.instants.len(), 201);
}
