//! Sums of areas, held against plain scans.

use std::collections::HashMap;
use std::path::Path;

use crate::certain::{certain, length};

use threadline::base::{Job, Nanos, StringId, TimeSpan, Timestamp};
use threadline::event::SliceKind;
use threadline::load::{LoadedTrace, open};
use threadline::query::Item;
use threadline::query::area::counters::{counter, counters};
use threadline::query::area::events::{event_counts, per_second};
use threadline::query::area::{Area, Group, GroupBy, Lane, Lanes, LiveArea, What, groups};
use threadline::query::durations::durations;
use threadline::query::flame::{Roots, of_slices};
use threadline::query::slice_kinds::SliceKinds;
use threadline::trace::{
    CounterTrackId, CpuId, EventId, RunId, SliceId, StateId, ThreadId, ThreadState, Trace, TrackId,
    TrackKind,
};

fn sample(name: &str) -> LoadedTrace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("sample-traces")
        .join(name);
    open(&path, &Job::default()).unwrap()
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: i64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 20) as i64 % end.max(1)
    }

    fn span(&mut self, trace: &Trace) -> TimeSpan {
        let length = trace.span.duration().0;
        let start = trace.span.start.0 + self.below(length);
        TimeSpan::new(Timestamp(start), Timestamp(start + self.below(length / 3)))
    }
}

#[derive(Default, Debug, PartialEq)]
struct Plain {
    lengths: Vec<i64>,
    own: i128,
    /// How long each that never ended certainly lasted.
    unfinished: Vec<i64>,
    /// The time of all inside the area, of those that never ended the certain one.
    inside: i128,
}

/// How much of `length`, the duration of a slice with this span or of its certain part, is inside of `area`.
fn part_inside(trace: &Trace, id: u32, whole: TimeSpan, length: i64, area: TimeSpan) -> i64 {
    let outside = whole.duration().0 - whole.intersection(area).duration().0;
    length - trace.slices.part_of_duration(id as usize, whole, outside)
}

/// What a group is told by: slices of different kinds are never in one.
fn label_of(group: &Group, trace: &Trace) -> String {
    let kind = group.key.kind.map_or("", SliceKind::word);
    format!("{} {kind}", group.key.label(trace))
}

/// The word for the kind of a slice.
fn kind_of(trace: &Trace, kinds: &SliceKinds, id: u32) -> &'static str {
    let label = trace.slices.get(SliceId(id)).label;
    kinds.present()[kinds.number(label.0) as usize].word()
}

fn percentile(sorted: &[i64], percent: usize) -> i64 {
    sorted[(sorted.len() * percent).div_ceil(100).saturating_sub(1)]
}

fn check(found: &[Group], trace: &Trace, mut plain: HashMap<String, Plain>) {
    assert_eq!(found.len(), plain.len());
    // Slices that hang count for the order; states that were open at the end come after the others.
    let size = |group: &Group| match group.key.state {
        None => (group.sum_ns + group.unfinished_ns, 0),
        Some(_) => (group.sum_ns, group.unfinished_ns),
    };
    assert!(
        found
            .windows(2)
            .all(|pair| size(&pair[0]) >= size(&pair[1]))
    );
    for group in found {
        let label = label_of(group, trace);
        let expected = plain.get_mut(&label).unwrap_or_else(|| panic!("{label}"));
        expected.lengths.sort_unstable();
        let lengths = &expected.lengths;
        assert_eq!(group.count, lengths.len() as u64, "{label}");
        assert_eq!(
            group.sum_ns,
            lengths.iter().map(|&it| i128::from(it)).sum::<i128>(),
            "{label}"
        );
        assert_eq!(group.own_ns, expected.own, "{label}");
        let unfinished = &expected.unfinished;
        assert_eq!(group.unfinished, unfinished.len() as u64, "{label}");
        let at_least = unfinished.iter().map(|&it| i128::from(it)).sum();
        assert_eq!(group.unfinished_ns, at_least, "{label}");
        if group.key.kind.is_some() {
            assert_eq!(group.inside_ns, expected.inside, "{label}");
        }
        if lengths.is_empty() {
            assert!(group.unfinished > 0, "{label}");
            assert_eq!((group.min_ns, group.max_ns, group.mean_ns()), (0, 0, 0));
            assert_eq!((group.p50_ns, group.p95_ns, group.p99_ns), (0, 0, 0));
            assert_eq!(group.longest, None);
            continue;
        }
        assert_eq!(
            (group.min_ns, group.max_ns),
            (lengths[0], lengths[lengths.len() - 1])
        );
        assert_eq!(group.p50_ns, percentile(lengths, 50), "{label}");
        assert_eq!(group.p95_ns, percentile(lengths, 95), "{label}");
        assert_eq!(group.p99_ns, percentile(lengths, 99), "{label}");
        if let Some(id) = group.longest {
            assert_eq!(length(trace, id), group.max_ns);
        }
    }
}

fn meets(span: TimeSpan, area: TimeSpan) -> bool {
    span.overlaps(area) || (span.is_empty() && area.contains(span.start))
}

#[test]
fn slices_add_up_as_in_a_plain_scan() {
    let mut dice = Dice(1);
    let mut open = 0;
    for name in [
        "sched-irq-syscalls.dat",
        "function-graph.dat",
        "lua-make-j2.etrace.zst",
    ] {
        let loaded = sample(name);
        let trace = loaded.trace.as_ref();
        let kinds = SliceKinds::new(trace);
        let mut areas = vec![Area::all()];
        for _ in 0..6 {
            let mut area = Area::of(dice.span(trace));
            areas.push(area.clone());
            let tracks =
                (0..3).map(|_| Lane::Track(TrackId(dice.below(trace.tracks.len() as i64) as u32)));
            area.lanes = Lanes::Of(tracks.collect());
            areas.push(area);
        }
        for area in areas {
            let mut own: HashMap<u32, i64> = HashMap::new();
            for id in 0..trace.slices.len() as u32 {
                let length = length(trace, SliceId(id));
                *own.entry(id).or_default() += length;
                if let Some(parent) = trace.slices.get(SliceId(id)).parent {
                    // Of what never ended only what is certain is not its parent's own.
                    let inside = certain(trace, SliceId(id)).unwrap_or(length);
                    *own.entry(parent.0).or_default() -= inside;
                }
            }
            let all = area.span == Area::all().span;
            let mut by_name: HashMap<String, Plain> = HashMap::new();
            let mut by_thread: HashMap<String, Plain> = HashMap::new();
            for id in 0..trace.slices.len() as u32 {
                let item = Item::Slice(SliceId(id));
                let span = item.span(trace).unwrap();
                let track = trace.slices.row_of(SliceId(id)).track;
                let is_in = match &area.lanes {
                    Lanes::All => true,
                    Lanes::Of(lanes) => lanes.contains(&Lane::Track(track)),
                    Lanes::Both { .. } => false,
                };
                if !is_in || !meets(span, area.span) {
                    continue;
                }
                let label = trace.slices.label(SliceId(id));
                let kind = kind_of(trace, &kinds, id);
                let name = format!("{} {kind}", trace.text(label.name));
                let mut lists = vec![(&mut by_name, name)];
                let is_of_cpu = matches!(trace.tracks[track.0 as usize].kind, TrackKind::Cpu(_));
                if is_of_cpu {
                    lists.push((&mut by_thread, format!("no known thread or process {kind}")));
                } else if let Some(thread) = item.thread(trace) {
                    let (name, tid) = (trace.thread_name(thread), trace.thread(thread).tid);
                    lists.push((&mut by_thread, format!("{name} {tid} {kind}")));
                }
                for (list, label) in lists {
                    let entry = list.entry(label).or_default();
                    if let Some(length) = certain(trace, SliceId(id)) {
                        let known = TimeSpan::new(span.start, span.start + Nanos(length));
                        entry.inside += i128::from(known.intersection(area.span).duration().0);
                        entry.unfinished.push(length);
                        open += u32::from(all);
                        continue;
                    }
                    let length = length(trace, SliceId(id));
                    entry.lengths.push(length);
                    entry.own += i128::from(own[&id]);
                    let inside = part_inside(trace, id, span, length, area.span);
                    entry.inside += i128::from(inside);
                }
            }
            let names: Vec<Group> =
                groups(trace, &area, What::Slices, GroupBy::Name, &Job::default()).unwrap();
            let labels: std::collections::HashSet<String> =
                names.iter().map(|group| label_of(group, trace)).collect();
            if labels.len() == names.len() {
                check(&names, trace, by_name);
            }
            let threads =
                groups(trace, &area, What::Slices, GroupBy::Thread, &Job::default()).unwrap();
            let labels: std::collections::HashSet<String> =
                threads.iter().map(|group| label_of(group, trace)).collect();
            if labels.len() == threads.len() {
                check(&threads, trace, by_thread);
            }
        }
    }
    assert!(open > 5, "{open} were open");
}

#[test]
fn states_and_runs_count_what_lies_inside() {
    let loaded = sample("sched-irq-syscalls.dat");
    let trace = loaded.trace.as_ref();
    let mut dice = Dice(5);
    for _ in 0..20 {
        let area = Area::of(dice.span(trace));
        let mut states: HashMap<String, Plain> = HashMap::new();
        for id in 0..trace.states.len() as u32 {
            let span = Item::State(StateId(id)).span(trace).unwrap();
            if !span.overlaps(area.span) || span.is_empty() {
                continue;
            }
            // What is open was seen until the last event, in the last nanosecond.
            let is_open = trace.states.ends[id as usize] == i64::MAX;
            let end = span.end - Nanos(i64::from(is_open));
            let seen = TimeSpan { end, ..span };
            let length = seen.intersection(area.span).duration().0;
            let word = trace.states.states[id as usize].word();
            let is_over = matches!(word, "zombie" | "dead");
            if is_open && is_over && span.start <= area.span.start {
                // Who died before is not there any more.
                continue;
            }
            let entry = states.entry(format!("{word} ")).or_default();
            if is_open {
                // Nobody records how long a zombie stays.
                entry.unfinished.push(if is_over { 0 } else { length });
                continue;
            }
            entry.lengths.push(length);
            entry.own += i128::from(length);
        }
        let found = groups(trace, &area, What::States, GroupBy::Name, &Job::default()).unwrap();
        check(&found, trace, states);
        let found = groups(trace, &area, What::Runs, GroupBy::Cpu, &Job::default()).unwrap();
        for group in &found {
            let cpu = group.key.cpu.unwrap();
            let inside = trace
                .runs
                .overlapping(trace.runs.on(cpu), area.span)
                .map(|id| {
                    let is_open = trace.runs.ends[id as usize] == i64::MAX;
                    let run = Item::Run(threadline::trace::RunId(id)).span(trace).unwrap();
                    let end = run.end - Nanos(i64::from(is_open));
                    let seen = TimeSpan { end, ..run };
                    i128::from(seen.intersection(area.span).duration().0)
                });
            // A run that had not ended is beside the others, but inside of the area as they are.
            assert_eq!(group.inside_ns, inside.sum::<i128>());
            assert_eq!(group.inside_ns, group.sum_ns + group.unfinished_ns);
            assert!(group.inside_ns <= i128::from(area.span.duration().0));
        }
        // Each state of each thread, one thread only.
        let thread = ThreadId(dice.below(trace.threads.len() as i64) as u32);
        let one = Area {
            lanes: Lanes::Of(vec![Lane::States(thread)]),
            ..Area::of(area.span)
        };
        let found = groups(trace, &one, What::States, GroupBy::Thread, &Job::default()).unwrap();
        assert!(found.iter().all(|group| group.key.thread == Some(thread)));
        let sum: i128 = found.iter().map(|group| group.sum_ns).sum();
        assert!(sum <= i128::from(area.span.duration().0));
    }
}

#[test]
fn a_drag_is_followed_to_the_same_sums() {
    let mut dice = Dice(9);
    let some = Lanes::Of(vec![
        Lane::Runs(CpuId(1)),
        Lane::States(ThreadId(3)),
        Lane::States(ThreadId(4)),
        Lane::States(ThreadId(5)),
    ]);
    for (name, what, by, lanes) in [
        (
            "sched-irq-syscalls.dat",
            What::Slices,
            GroupBy::Name,
            &Lanes::All,
        ),
        (
            "function-graph.dat",
            What::Slices,
            GroupBy::Name,
            &Lanes::All,
        ),
        (
            "sched-irq-syscalls.dat",
            What::Slices,
            GroupBy::Cpu,
            &Lanes::All,
        ),
        (
            "sched-irq-syscalls.dat",
            What::States,
            GroupBy::Thread,
            &Lanes::All,
        ),
        (
            "sched-irq-syscalls.dat",
            What::Runs,
            GroupBy::Process,
            &Lanes::All,
        ),
        ("sched-irq-syscalls.dat", What::Runs, GroupBy::Cpu, &some),
        ("sched-irq-syscalls.dat", What::States, GroupBy::Name, &some),
    ] {
        let loaded = sample(name);
        let trace = &loaded.trace;
        let area = Area {
            lanes: lanes.clone(),
            ..Area::all()
        };
        let mut live = LiveArea::new(trace.clone(), &area, what, by);
        for step in 0..60 {
            let span = dice.span(trace);
            let budget = 1 + dice.below(3000) as usize;
            // Some drags go on before the sums are there.
            let mut calls = 0;
            while !live.follow(span, budget) {
                calls += 1;
                assert!(calls < 1_000_000);
                if step % 5 == 0 {
                    break;
                }
            }
            if !live.is_settled() {
                continue;
            }
            let area = Area {
                span,
                ..area.clone()
            };
            let exact = groups(trace, &area, what, by, &Job::default()).unwrap();
            let about = live.groups();
            let sums = |list: &[Group]| {
                let sums = list.iter().map(|it| {
                    (
                        label_of(it, trace),
                        it.count,
                        it.sum_ns,
                        it.own_ns,
                        it.unfinished_ns,
                    )
                });
                let mut sums: Vec<_> = sums.collect();
                sums.sort();
                sums
            };
            assert_eq!(
                sums(&about),
                sums(&exact),
                "{name} {what:?} {by:?} {span:?}"
            );
            if what == What::Slices {
                for group in &about {
                    let other = exact.iter().find(|other| other.key == group.key).unwrap();
                    for (about, exact) in [
                        (group.p50_ns, other.p50_ns),
                        (group.p99_ns, other.p99_ns),
                        (group.min_ns, other.min_ns),
                        (group.max_ns, other.max_ns),
                    ] {
                        assert!((about - exact).abs() <= exact / 32 + 1, "{about} {exact}");
                    }
                }
            }
        }
    }
}

#[test]
fn counters_are_weighted_by_time() {
    for name in [
        "sched-irq-syscalls.dat",
        "block-ext4.dat",
        "sched-irq.ftrace",
    ] {
        let loaded = sample(name);
        let trace = loaded.trace.as_ref();
        println!("{name}: {} counters", trace.counters.tracks.len());
        for summary in counters(trace, &Area::all()) {
            let track = &trace.counters.tracks[summary.track.0 as usize];
            assert_eq!(summary.count, track.samples.len() as u64);
            assert_eq!((summary.min, summary.max), track.range);
            assert!(summary.min <= summary.mean && summary.mean <= summary.max);
        }
    }
    let mut trace = Trace {
        span: TimeSpan::new(Timestamp(0), Timestamp(100)),
        ..Trace::default()
    };
    trace.counters.times = vec![10, 20, 60].into();
    trace.counters.values = vec![1.0, 5.0, 2.0].into();
    trace.counters.events = vec![0; 3].into();
    trace.counters.tracks = vec![threadline::trace::CounterTrack {
        name: threadline::base::StringId::EMPTY,
        scope: threadline::trace::counters::CounterScope::Cpu(CpuId(0)),
        samples: 0..3,
        range: (1.0, 5.0),
    }];
    let span = TimeSpan::new(Timestamp(15), Timestamp(40));
    let found = counter(&trace, CounterTrackId(0), span).unwrap();
    assert_eq!((found.count, found.first, found.last), (1, 1.0, 5.0));
    assert_eq!(found.mean, (5.0 * 1.0 + 20.0 * 5.0) / 25.0);
    assert!(
        counter(
            &trace,
            CounterTrackId(0),
            TimeSpan::new(Timestamp(0), Timestamp(5))
        )
        .is_none()
    );
}

/// What of each slice of a thread lies in its runs on some CPUs, within `span`; nothing for those that never ran there.
fn times_on(trace: &Trace, cpus: &[CpuId], span: TimeSpan) -> HashMap<u32, i64> {
    let mut times: HashMap<u32, i64> = HashMap::new();
    for id in 0..trace.slices.len() as u32 {
        let track = trace.slices.row_of(SliceId(id)).track;
        let TrackKind::Thread(thread) = trace.tracks[track.0 as usize].kind else {
            continue;
        };
        let slice = Item::Slice(SliceId(id)).span(trace).unwrap();
        for &run in trace.runs.of(thread) {
            let cpu = trace.runs.get(RunId(run)).cpu;
            let run = Item::Run(RunId(run)).span(trace).unwrap();
            let window = run.intersection(span);
            // In a run of no length nothing ran.
            if cpus.contains(&cpu) && !window.is_empty() && meets(slice, window) {
                *times.entry(id).or_default() += slice.intersection(window).duration().0;
            }
        }
    }
    times
}

fn own_times(trace: &Trace, times: &HashMap<u32, i64>) -> HashMap<u32, i64> {
    let mut own = times.clone();
    for (&id, &length) in times {
        if let Some(parent) = trace.slices.get(SliceId(id)).parent {
            *own.get_mut(&parent.0).unwrap() -= length;
        }
    }
    own
}

#[test]
fn a_cpu_counts_slices_of_threads_once_with_the_time_that_they_ran_there() {
    let mut dice = Dice(3);
    for name in ["sched-irq-syscalls.dat", "kprobe-hackbench.dat"] {
        let loaded = sample(name);
        let trace = loaded.trace.as_ref();
        let kinds = SliceKinds::new(trace);
        let cpus: Vec<CpuId> = (0..trace.cpus.len() as u32).map(CpuId).collect();
        let mut parted = 0;
        for step in 0..8 {
            let span = match step {
                0 => Area::all().span,
                _ => dice.span(trace),
            };
            let chosen: Vec<CpuId> = match step % 2 {
                0 => vec![CpuId(step as u32 / 2 % cpus.len() as u32)],
                _ => cpus.clone(),
            };
            let area = Area {
                lanes: Lanes::Of(chosen.iter().map(|cpu| Lane::OnCpu(*cpu)).collect()),
                ..Area::of(span)
            };
            let times = times_on(trace, &chosen, span);
            let own = own_times(trace, &times);
            // Names stand for themselves and their category.
            let mut by_name: HashMap<(StringId, StringId), Plain> = HashMap::new();
            for (&id, &length) in &times {
                let label = trace.slices.label(SliceId(id));
                let entry = by_name.entry((label.name, label.category)).or_default();
                if trace.slices.get(SliceId(id)).end.is_none() {
                    entry.unfinished.push(length);
                    continue;
                }
                entry.lengths.push(length);
                entry.own += i128::from(own[&id]);
                let whole = Item::Slice(SliceId(id)).span(trace).unwrap().duration().0;
                parted += u32::from(length < whole);
            }
            let job = Job::default();
            let found = groups(trace, &area, What::Slices, GroupBy::Name, &job).unwrap();
            for group in &found {
                let (name, category) = group.key.name.unwrap();
                let plain = by_name.get_mut(&(name, category)).unwrap();
                plain.lengths.sort_unstable();
                let one = durations(trace, &area, name, Some(category), &job).unwrap();
                assert_eq!(one.lengths.sorted(), plain.lengths, "{name:?}");
                let lengths = &plain.lengths;
                assert_eq!(group.count, lengths.len() as u64);
                assert_eq!(group.own_ns, plain.own);
                assert_eq!(group.inside_ns, group.sum_ns + group.unfinished_ns);
                assert_eq!(group.unfinished, plain.unfinished.len() as u64);
                assert_eq!(one.unfinished().len(), plain.unfinished.len());
                assert_eq!(one.unfinished_ns(), group.unfinished_ns);
                if lengths.is_empty() {
                    continue;
                }
                assert_eq!(group.sum_ns, lengths.iter().map(|&it| i128::from(it)).sum());
                assert_eq!(group.p50_ns, percentile(lengths, 50));
                assert_eq!(group.p99_ns, percentile(lengths, 99));
                // The longest is the one that ran there longest.
                assert_eq!(times[&group.longest.unwrap().0], group.max_ns);
            }
            assert_eq!(found.len(), by_name.len());
            let flame = of_slices(trace, &area, Roots::Merged, &job).unwrap();
            let mut expected: HashMap<String, (u64, i128)> = HashMap::new();
            for group in &found {
                let sums = expected.entry(group.key.label(trace)).or_default();
                *sums = (sums.0 + group.count, sums.1 + group.own_ns);
            }
            let of_flame = flame.by_name().into_iter();
            let of_flame: HashMap<String, (u64, i128)> = of_flame
                .map(|it| (it.name, (it.count, i128::from(it.own))))
                .collect();
            // A graph contains what was seen of slices that never ended.
            let all_ended = found.iter().all(|group| group.unfinished == 0);
            let counts = |it: &HashMap<String, (u64, i128)>| {
                let mut counts: Vec<_> = it.iter().map(|it| (it.0.clone(), it.1.0)).collect();
                counts.sort();
                counts
            };
            assert_eq!(counts(&of_flame), counts(&expected), "{name} {step}");
            if all_ended {
                assert_eq!(of_flame, expected, "{name} {step}");
            }
            // Each CPU by itself: a slice that moved counts on both.
            let found = groups(trace, &area, What::Slices, GroupBy::Cpu, &job).unwrap();
            for group in &found {
                let mut times = times_on(trace, &[group.key.cpu.unwrap()], span);
                times.retain(|&id, _| group.key.kind.unwrap().word() == kind_of(trace, &kinds, id));
                let open = times
                    .keys()
                    .filter(|id| trace.slices.get(SliceId(**id)).end.is_none());
                assert_eq!(group.unfinished, open.count() as u64);
                times.retain(|id, _| trace.slices.get(SliceId(*id)).end.is_some());
                assert_eq!(group.count, times.len() as u64);
                let sum: i64 = times.values().sum();
                assert_eq!(group.sum_ns, i128::from(sum));
            }
        }
        assert!(parted > 20, "{parted} slices in parts");
    }
}

#[test]
fn what_is_chosen_whole_does_not_count_once_more_on_a_cpu() {
    let loaded = sample("sched-irq-syscalls.dat");
    let trace = loaded.trace.as_ref();
    let job = Job::default();
    let count = |lanes: Lanes, what| -> u64 {
        let area = Area {
            lanes,
            ..Area::all()
        };
        let found = groups(trace, &area, what, GroupBy::Thread, &job).unwrap();
        found.iter().map(|group| group.count).sum()
    };
    let tracks = || (0..trace.tracks.len() as u32).map(|id| Lane::Track(TrackId(id)));
    let cpus = || (0..trace.cpus.len() as u32).map(|id| Lane::OnCpu(CpuId(id)));
    let all = count(Lanes::All, What::Slices);
    let both = Lanes::Of(tracks().chain(cpus()).collect());
    assert_eq!(count(both, What::Slices), all);
    // Some threads on one CPU: each thread's share of it.
    let area = Area {
        lanes: Lanes::Of(vec![Lane::OnCpu(CpuId(0)), Lane::Runs(CpuId(0))]),
        ..Area::all()
    };
    let (mut several, mut running) = (0, 0);
    for what in [What::Slices, What::Runs] {
        let found = groups(trace, &area, what, GroupBy::Thread, &job).unwrap();
        for group in found {
            let kind = group.key.kind;
            let thread = group.key.thread.unwrap();
            let both = Area {
                lanes: Lanes::Both {
                    threads: vec![thread],
                    cpus: vec![CpuId(0)],
                },
                kind,
                ..Area::all()
            };
            let alone = groups(trace, &both, what, GroupBy::Thread, &job).unwrap();
            assert_eq!(alone, [group], "{what:?}");
            several += 1;
            if what == What::Runs {
                let states = groups(trace, &both, What::States, GroupBy::Name, &job).unwrap();
                let are_running = |it: &Group| it.key.state == Some(ThreadState::Running);
                assert!(states.iter().all(are_running), "{states:?}");
                assert!(states.iter().all(|it| it.sum_ns <= group.sum_ns));
                running += states.len();
            }
        }
    }
    assert!(several > 10 && running > 5);
    assert!(LiveArea::can_follow(&area.lanes, What::Runs));
    assert!(!LiveArea::can_follow(&area.lanes, What::Slices));
}

/// The events in a span, one by one: all, or those of a thread and those on a CPU.
fn events_in(trace: &Trace, span: TimeSpan, of: Option<(ThreadId, CpuId)>) -> Vec<EventId> {
    let events = trace.events.from_time(span.start);
    let events = events.take_while(|id| trace.events.time(*id) < span.end);
    let is_of = |id: &EventId| {
        of.is_none_or(|(thread, cpu)| {
            trace.events.thread(*id) == Some(thread) || trace.cpu_of(*id) == Some(cpu)
        })
    };
    events.filter(is_of).collect()
}

#[test]
fn events_are_counted_by_name_thread_process_and_cpu() {
    let mut dice = Dice(11);
    // One CPU a lane; a CPU for each event; no CPUs but runs; several files on one axis.
    let together = threadline::load::together::open_together(
        &["sched-irq-syscalls.dat", "kprobe-hackbench.dat"].map(|name| {
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("sample-traces")
                .join(name)
        }),
        &[],
        &[],
        &Job::default(),
        None,
    );
    let mut traces: Vec<LoadedTrace> =
        ["sched-irq-syscalls.dat", "sched-irq.ftrace", "compress.fxt"]
            .map(sample)
            .into();
    traces.push(together.unwrap());
    let mut kinds = 0;
    for loaded in &traces {
        let trace = loaded.trace.as_ref();
        for step in 0..6 {
            let (mut area, mut of) = (Area::of(dice.span(trace)), None);
            if step == 0 {
                area = Area::all();
            }
            if step % 2 == 1 {
                let thread = ThreadId(1 + dice.below(trace.threads.len() as i64 - 1) as u32);
                let cpu = CpuId(dice.below(trace.cpus.len() as i64) as u32);
                area.lanes = Lanes::Of(vec![Lane::States(thread), Lane::OnCpu(cpu)]);
                of = Some((thread, cpu));
            }
            let events = events_in(trace, area.span, of);
            for by in [
                GroupBy::Name,
                GroupBy::Thread,
                GroupBy::ThreadName,
                GroupBy::Process,
                GroupBy::Cpu,
            ] {
                let mut plain: HashMap<String, u64> = HashMap::new();
                for &id in &events {
                    let thread = trace.events.thread(id);
                    let key = match by {
                        GroupBy::Name => {
                            let kind = trace.kinds.get(trace.events.kind(id).index()).unwrap();
                            format!("{:?}", (kind.name, kind.category))
                        }
                        GroupBy::Thread => format!("{thread:?}"),
                        GroupBy::ThreadName if thread.is_none() => String::new(),
                        GroupBy::ThreadName => trace.thread_name(thread).into_owned(),
                        GroupBy::Process => {
                            let thread = thread.and_then(|id| trace.threads.get(id.0 as usize));
                            format!("{:?}", thread.and_then(|it| it.process))
                        }
                        GroupBy::Cpu => format!("{:?}", trace.cpu_of(id)),
                    };
                    *plain.entry(key).or_default() += 1;
                }
                let found = event_counts(trace, &area, by, &Job::default()).unwrap();
                assert!(found.is_sorted_by_key(|group| std::cmp::Reverse(group.count)));
                let found: HashMap<String, u64> = found
                    .iter()
                    .map(|group| {
                        let key = &group.key;
                        let key = match by {
                            GroupBy::Name => format!("{:?}", key.name.unwrap()),
                            GroupBy::Thread => format!("{:?}", key.thread),
                            GroupBy::ThreadName => key
                                .thread
                                .map_or_else(String::new, |id| trace.thread_name(id).into_owned()),
                            GroupBy::Process => format!("{:?}", key.process),
                            GroupBy::Cpu => format!("{:?}", key.cpu),
                        };
                        (key, group.count)
                    })
                    .collect();
                kinds += found.len();
                assert_eq!(found, plain, "{by:?} {area:?}");
            }
        }
    }
    assert!(kinds > 200, "{kinds}");
    let trace = &traces[0].trace;
    let second = TimeSpan::new(
        trace.span.start,
        Timestamp(trace.span.start.0 + 500_000_000),
    );
    assert_eq!(per_second(trace, second, 10), Some(20.0));
    assert_eq!(
        per_second(trace, TimeSpan::new(second.end, second.end), 10),
        None
    );
}
