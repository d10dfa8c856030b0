//! Several files on one axis: nothing of any file is lost or changed but its times, and places are found.

use std::path::Path;
use std::sync::Arc;

use crate::corpus::corpus;
use threadline::base::{Job, Nanos, Timestamp};
use threadline::event::part::ClockUnit;
use threadline::formats::EventRef;
use threadline::load::placing::{Placed, place};
use threadline::load::together::{join_at, members_of, open_together};
use threadline::load::{LoadedTrace, open};
use threadline::trace::sources::PlacedBy;
use threadline::trace::{EventId, SliceId, ThreadId, Trace};

fn sample(name: &str) -> Arc<LoadedTrace> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("sample-traces")
        .join(name);
    Arc::new(open(&path, &Job::default()).unwrap_or_else(|error| panic!("{error}")))
}

fn samples() -> Vec<Arc<LoadedTrace>> {
    [
        "sched-irq-syscalls.dat",
        "lua-make-j2.etrace.zst",
        "kprobe-hackbench.dat",
    ]
    .into_iter()
    .map(sample)
    .collect()
}

fn at(offset: i64) -> Placed {
    Placed::by_user(Nanos(offset))
}

fn joined_at(members: &[Arc<LoadedTrace>], places: &[Placed]) -> LoadedTrace {
    join_at(members, places, &Job::default()).unwrap()
}

/// Every slice as a sentence, with its times moved.
fn slices(trace: &Trace, shift: i64, is_ours: impl Fn(SliceId) -> bool) -> Vec<String> {
    let mut all: Vec<String> = (0..trace.slices.len() as u32)
        .map(SliceId)
        .filter(|&id| is_ours(id))
        .map(|id| {
            let slice = trace.slices.get(id);
            let label = trace.slices.label(id);
            let parent = slice
                .parent
                .map(|id| trace.text(trace.slices.label(id).name).into_owned());
            format!(
                "{} {:?} {} {} in {parent:?} on {:?} by {:?} row {}",
                slice.start.0 + shift,
                slice.end.map(|end| end.0 + shift),
                trace.text(label.category),
                trace.text(label.name),
                trace.thread(trace.events.thread(slice.begin)).tid,
                trace.kind_name(trace.events.kind(slice.begin)),
                trace.slices.row_of(id).row,
            )
        })
        .collect();
    all.sort();
    all
}

fn runs(trace: &Trace, shift: i64, threads: std::ops::Range<u32>) -> Vec<String> {
    threads
        .flat_map(|thread| trace.runs.of(ThreadId(thread)))
        .map(|&run| {
            let run = trace.runs.get(threadline::trace::RunId(run));
            let cpu = trace.cpus[run.cpu.0 as usize].number;
            // What lasts to its file's end does not last to the end of the axis.
            let end = run.end.unwrap_or(trace.span.end).0 + shift;
            format!(
                "{} {end} cpu {cpu} tid {}",
                run.start.0 + shift,
                trace.thread(run.thread).tid
            )
        })
        .collect()
}

fn states(trace: &Trace, shift: i64, threads: std::ops::Range<u32>) -> Vec<String> {
    threads
        .flat_map(|thread| trace.states.of(ThreadId(thread)))
        .map(|state| {
            let state = trace.states.get(threadline::trace::StateId(state));
            format!(
                "{} tid {} {:?} woken by {:?}",
                state.start.0.saturating_add(shift),
                trace.thread(state.thread).tid,
                state.state,
                state.waker.map(|id| trace.thread(id).tid)
            )
        })
        .collect()
}

#[test]
fn a_joined_trace_holds_what_its_files_hold() {
    let members = samples();
    let offsets = [0, 1_234_567, -89];
    let joined = joined_at(&members, &offsets.map(at));
    let all = &joined.trace;
    assert_eq!(all.sources.len(), 3);
    assert_eq!(
        all.events.len(),
        members
            .iter()
            .map(|it| it.trace.events.len())
            .sum::<usize>()
    );
    for (number, (member, offset)) in members.iter().zip(offsets).enumerate() {
        let (own, source) = (&member.trace, &all.sources[number]);
        assert_eq!(source.offset(), Nanos(offset));
        let is_ours = |id: SliceId| source.events.contains(&all.slices.get(id).begin.0);
        assert_eq!(
            slices(own, offset, |_| true),
            slices(all, 0, is_ours),
            "{}",
            source.name
        );
        let threads = 1..own.threads.len() as u32;
        assert_eq!(
            runs(own, offset, threads.clone()),
            runs(all, 0, source.threads.clone())
        );
        let shifted = states(own, offset, threads);
        assert_eq!(shifted, states(all, 0, source.threads.clone()));
        assert_eq!(source.cpus.len(), own.cpus.len());
        for (here, there) in source.cpus.clone().zip(0..) {
            let gaps = |trace: &Trace, cpu: u32| trace.gaps_by_cpu()[cpu as usize].len();
            assert_eq!(gaps(all, here), gaps(own, there));
        }
    }
    let uses: usize = members.iter().map(|it| it.trace.files.rows.len()).sum();
    assert_eq!(all.files.rows.len(), uses);
    assert!(all.files.rows.is_sorted_by_key(|file| file.time));
    let flows: usize = members.iter().map(|it| it.trace.flows.rows.len()).sum();
    assert_eq!(all.flows.rows.len(), flows);
}

#[test]
fn events_come_in_time_order_and_are_described_by_their_own_file() {
    let members = samples();
    // All start at once, so that the files' events lie between each other.
    let starts: Vec<_> = members
        .iter()
        .map(|it| at(-it.trace.span.start.0))
        .collect();
    let joined = joined_at(&members, &starts);
    let events = &joined.trace.events;
    let times: Vec<Timestamp> = events.from_rank(0).map(|id| events.time(id)).collect();
    assert_eq!(times.len(), events.len());
    assert!(times.is_sorted());
    assert_eq!(
        events.rank(times[times.len() / 2]) as usize,
        times.partition_point(|&time| time < times[times.len() / 2])
    );
    let described = |loaded: &LoadedTrace, id: u32| {
        let event = loaded.trace.events.get(EventId(id));
        loaded.reader.describe(EventRef {
            part: event.part,
            place: event.row.place,
            time: event.row.time,
            kind: event.row.kind,
            thread: event.row.thread,
        })
    };
    for (member, source) in members.iter().zip(&joined.trace.sources) {
        for own in (0..source.events.len() as u32).step_by(97) {
            let mut expected = described(member, own);
            expected.time = expected.time.saturating_add(source.offset());
            assert_eq!(described(&joined, source.events.start + own), expected);
        }
    }
}

#[test]
fn rows_of_several_files_stay_apart_and_keep_their_names() {
    let member = sample("sched-irq-syscalls.dat");
    let joined = joined_at(&[member.clone(), member.clone()], &[at(0), at(0)]);
    let names: Vec<&str> = joined
        .trace
        .sources
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["sched-irq-syscalls.dat (1)", "sched-irq-syscalls.dat (2)"]
    );
    let outline = threadline::view::outline::Outline::new(&joined.trace);
    assert_eq!(outline.nodes.len(), 2);
    let own = threadline::view::outline::Outline::new(&member.trace);
    for node in &outline.nodes {
        let titles = |nodes: &[threadline::view::outline::Node]| {
            nodes.iter().map(|it| it.title.clone()).collect::<Vec<_>>()
        };
        assert_eq!(titles(&node.children), titles(&own.nodes));
    }
    let mut keys = Vec::new();
    fn gather(nodes: &[threadline::view::outline::Node], keys: &mut Vec<threadline::view::RowKey>) {
        for node in nodes {
            keys.push(node.key);
            gather(&node.children, keys);
        }
    }
    gather(&outline.nodes, &mut keys);
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count, "a row's key names one row only");
}

#[test]
fn a_file_that_cannot_be_opened_is_left_out_and_named() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces");
    let paths = [
        folder.join("kprobe-hackbench.dat"),
        folder.join("no-such.dat"),
    ];
    let mut seen = Vec::new();
    let loaded = open_together(
        &paths,
        &[],
        &[],
        &Job::default(),
        Some(&mut |it| seen.push(it.is_complete)),
    );
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
    assert!(loaded.trace.sources.is_empty());
    assert_eq!(loaded.left_out[0].path, paths[1]);
    assert_eq!(seen.iter().filter(|&&it| it).count(), 1);
    assert_eq!(seen.last(), Some(&true));
    let none = open_together(&paths[1..], &[], &[], &Job::default(), None);
    assert!(none.is_err());
}

#[test]
fn a_text_without_times_shares_an_axis_that_has_seconds() {
    for names in [
        ["minix-pipeline.minix", "sched-irq.ftrace"],
        ["sched-irq.ftrace", "minix-pipeline.minix"],
    ] {
        let members = names.map(sample);
        let joined = joined_at(&members, &place(&members, &[]));
        assert_eq!(joined.trace.info.clock_unit, ClockUnit::Nanoseconds);
        let evidence = &joined.trace.sources[1].evidence;
        assert!(evidence.contains("each line"), "{evidence}");
        assert_eq!(joined.trace.span.start, members[0].trace.span.start);
    }
}

#[test]
fn a_text_that_does_not_name_its_clock_lies_where_its_times_say() {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap_or_else(|error| panic!("{error}"));
        path
    };
    let line = |time: &str| {
        format!(
            "            bash-96      [001] ..... {time}: sched_waking: comm=a pid=9 prio=120 target_cpu=000\n"
        )
    };
    let first = write("a.ftrace", &(line("36665.100000") + &line("36665.900000")));
    let second = write("b.ftrace", &(line("36665.500000") + &line("36666.900000")));
    let later = write("c.ftrace", &line("40000.000000"));
    let cycles = write(
        "d.ftrace",
        &(line("95191326428448") + &line("95191327428448")),
    );
    let paths = [first, second, later, cycles];
    let loaded = open_together(&paths, &[], &[], &Job::default(), None)
        .unwrap_or_else(|error| panic!("{error}"));
    let sources = &loaded.trace.sources;
    assert_eq!(sources[1].offset(), Nanos(0));
    assert!(
        sources[1].evidence.contains("overlap those of a.ftrace"),
        "{}",
        sources[1].evidence
    );
    // What is far away, or counts something else, tells nothing.
    assert_ne!(sources[2].offset(), Nanos(0));
    assert!(sources[2].evidence.contains("is unknown"));
    assert!(
        sources[3].evidence.contains("it has no times"),
        "{}",
        sources[3].evidence
    );
}

#[test]
fn what_the_user_placed_stays_when_a_file_is_added() {
    let members = samples();
    let joined = Arc::new(joined_at(
        &members[..2],
        &place(&members[..2], &[None, Some(Nanos(77))]),
    ));
    let again = members_of(&joined);
    assert_eq!(again.fixed, [None, Some(Nanos(77))]);
    assert_eq!(again.traces.len(), 2);
    let places = place(&members, &again.fixed);
    assert_eq!(places[1].offset, Nanos(77));
    assert_eq!(places[2].by, PlacedBy::Evidence);
}

#[test]
fn a_guest_lies_on_the_clock_of_its_host() {
    let host = corpus("tracedat/v7-zlib-host-of-pair2.dat");
    let guest = corpus("tracedat/v7-zlib-guest-of-pair2.dat");
    for paths in [[host.clone(), guest.clone()], [guest, host]] {
        let loaded = open_together(&paths, &[], &[], &Job::default(), None)
            .unwrap_or_else(|error| panic!("{error}"));
        let [first, second] = &loaded.trace.sources[..] else {
            panic!("two files");
        };
        assert!(
            second.evidence.contains("TIME_SHIFT"),
            "{}",
            second.evidence
        );
        assert_eq!(second.offset(), Nanos(0));
        // They were recorded together, so they lie over each other.
        assert!(first.own_span.overlaps(second.own_span));
    }
}

#[test]
fn a_part_that_was_exported_lies_on_its_origin_and_its_slices_end_with_it() {
    let members = vec![
        sample("sched-irq-syscalls.dat"),
        sample("syscalls-part.fxt"),
    ];
    let (origin, part) = (members[0].trace.span, members[1].trace.span);
    for order in [[0, 1], [1, 0]] {
        let members = order.map(|at| Arc::clone(&members[at]));
        let places = place(&members, &[]);
        assert_eq!(places[1].offset, Nanos(0), "{}", places[1].evidence);
        assert!(places[1].evidence.contains("exported"));
    }
    // What the part left open lasts to its own end, and is still not finished.
    let open: Vec<SliceId> = (0..members[1].trace.slices.len() as u32)
        .map(SliceId)
        .filter(|&id| members[1].trace.slices.get(id).end.is_none())
        .collect();
    assert!(!open.is_empty());
    let joined = joined_at(&members, &place(&members, &[]));
    let trace = &joined.trace;
    assert_eq!(trace.span, origin);
    let mut found = 0;
    for id in (0..trace.slices.len() as u32).map(SliceId) {
        let slice = trace.slices.get(id);
        let is_of_part = trace.sources[1].events.contains(&slice.begin.0);
        if slice.end.is_none() {
            let end = if is_of_part { part.end } else { origin.end };
            // What the export cut ends at its last moment, which is in the last nanosecond of its span.
            let drawn = trace.slice_end(id);
            assert!(drawn == end || is_of_part && drawn == Timestamp(end.0 - 1));
            found += usize::from(is_of_part);
        }
        assert!(!is_of_part || trace.slice_end(id) <= part.end);
    }
    assert_eq!(found, open.len());
    // Two recordings whose times do not meet are not one clock for that.
    let far = vec![sample("sched-irq-syscalls.dat"), sample("compress.fxt")];
    assert!(
        place(&far, &[])[1]
            .evidence
            .contains("made to start together")
    );
}

/// CPUs of one number in two recordings are two.
#[test]
fn cpus_of_several_files_have_names_of_their_own() {
    let sample = |name: &str| format!("{}/sample-traces/{name}", env!("CARGO_MANIFEST_DIR"));
    let files = ["sched-irq-syscalls.dat", "sched-irq.ftrace"].map(sample);
    let by_cpu = ["stats", "--of", "runs", "--by", "cpu", &files[0], &files[1]];
    let mut names: Vec<String> = crate::program::rows(&by_cpu)
        .into_iter()
        .map(|row| row["group"].clone())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "CPU 0 · sched-irq-syscalls.dat",
            "CPU 0 · sched-irq.ftrace",
            "CPU 1 · sched-irq-syscalls.dat",
            "CPU 1 · sched-irq.ftrace"
        ]
    );
    let chosen = [
        "stats", "--of", "runs", "--track", "CPU 1", &files[0], &files[1],
    ];
    let of = |track: &'static str| {
        let arguments = [&chosen[..4], &[track], &chosen[5..]].concat();
        let rows = crate::program::rows(&arguments);
        let counts = rows.iter().map(|row| crate::program::number(row, "count"));
        counts.sum::<i64>()
    };
    let one = of("CPU 1 · sched-irq.ftrace");
    assert!(one > 0 && of("CPU 1") > one);
}
