//! Wakeup chains, latencies, flame graphs and comparisons of the sample traces.

use std::collections::HashMap;
use std::path::Path;

use crate::certain::{certain, length};
use crate::corpus::corpus;
use threadline::base::{Job, TimeSpan, Timestamp};
use threadline::load::{LoadedTrace, open};
use threadline::query::Item;
use threadline::query::area::{Area, GroupBy, What, groups};
use threadline::query::compare::{
    CompareRow, CompareWhat, Compared, ComparedName, Side, SortBy, compare, distribution,
};
use threadline::query::cpu_use::cpu_use;
use threadline::query::details::describe;
use threadline::query::durations::durations;
use threadline::query::expression::Expression;
use threadline::query::family::same_name;
use threadline::query::flame::{Roots, of_slices, of_stacks};
use threadline::query::latency::{Among, PairKey, PairQuery, event_pairs, wakeups};
use threadline::query::wakeup_chain::{ChainEnd, HopKind, MAX_HOPS, chain, chain_at};
use threadline::trace::{CpuId, EventId, RunId, SliceId, StateId, ThreadId, ThreadState, Trace};

const ALWAYS: TimeSpan = TimeSpan::ALL;

fn sample(name: &str) -> LoadedTrace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("sample-traces")
        .join(name);
    open(&path, &Job::default()).unwrap()
}

#[test]
fn the_hops_of_every_wait_fill_it_without_holes() {
    let loaded = sample("sched-irq.ftrace");
    let trace = loaded.trace.as_ref();
    let mut kinds = std::collections::HashSet::new();
    let mut long = 0;
    for id in 0..trace.states.len() as u32 {
        let state = trace.states.get(StateId(id));
        let Some(chain) = chain(trace, StateId(id)) else {
            let is_wait = !matches!(
                state.state,
                ThreadState::Running
                    | ThreadState::Dead
                    | ThreadState::Zombie
                    | ThreadState::Unknown
            );
            assert!(!is_wait, "state {id} has no chain");
            continue;
        };
        assert_eq!(chain.thread, state.thread);
        assert!(chain.hops.len() <= MAX_HOPS);
        let mut time = chain.wait.start;
        for hop in &chain.hops {
            assert_eq!(hop.span.start, time, "{chain:?}");
            assert!(!hop.who(trace).is_empty());
            time = hop.span.end;
            kinds.insert(hop.kind);
        }
        assert_eq!(time, chain.wait.end, "{chain:?}");
        let shares: f64 = chain.hops.iter().map(|hop| hop.share).sum();
        assert!((shares - 1.0).abs() < 1e-6 || chain.wait.is_empty());
        assert!(
            chain
                .path()
                .iter()
                .all(|(_, at)| *at >= chain.wait.start && *at <= chain.wait.end)
        );
        // The last hop is the waiting thread's own, until it ran.
        if let Some(last) = chain.hops.last() {
            assert_eq!(last.thread, Some(chain.thread));
        }
        long += u32::from(chain.hops.len() > 4 && chain.end == ChainEnd::Whole);
    }
    for kind in [
        HopKind::Running,
        HopKind::RunnableDelay,
        HopKind::Sleep,
        HopKind::Irq,
        HopKind::Softirq,
    ] {
        assert!(kinds.contains(&kind), "{kind:?} in none of the chains");
    }
    assert!(long > 10);
}

#[test]
fn a_disk_read_is_told_back_to_its_interrupt() {
    // rm reads a block: its request's interrupt raises the softirq that wakes it.
    let loaded = sample("sched-irq.ftrace");
    let trace = loaded.trace.as_ref();
    let rm = (0..trace.threads.len() as u32).map(ThreadId);
    let rm = rm
        .into_iter()
        .find(|id| trace.thread(*id).tid == 27243)
        .unwrap();
    let chain = chain_at(trace, rm, Timestamp(2_471_495_100_000)).unwrap();
    let told: Vec<(HopKind, String)> = chain
        .hops
        .iter()
        .map(|hop| (hop.kind, hop.who(trace)))
        .collect();
    let hop = |kind, who: &str| (kind, who.to_owned());
    assert_eq!(
        told,
        vec![
            hop(HopKind::Sleep, "rm"),
            hop(HopKind::Irq, "virtio1-req.0"),
            hop(HopKind::Softirq, "BLOCK"),
            hop(HopKind::RunnableDelay, "rm"),
        ]
    );
    assert_eq!(chain.end, ChainEnd::Whole);
    // It was woken by the softirq, not by the thread that this one interrupted.
    assert_eq!(chain.waker_of(trace, 3).as_deref(), Some("BLOCK"));
}

#[test]
fn wakeup_latencies_are_the_ready_states_before_runs() {
    let loaded = sample("sched-irq.ftrace");
    let trace = loaded.trace.as_ref();
    let found = wakeups(trace, &Among::All, ALWAYS, 3, &Job::default()).unwrap();
    let mut plain: Vec<i64> = Vec::new();
    for id in 0..trace.threads.len() as u32 {
        let rows: Vec<_> = trace
            .states
            .of(ThreadId(id))
            .map(|row| trace.states.get(StateId(row)))
            .collect();
        for at in 0..rows.len() {
            // A thread may have been pushed off its CPU before anything was known of it.
            let by = (rows[at].event).map(|id| trace.kind_name(trace.events.kind(id)));
            let is_woken = rows[at].state == ThreadState::Runnable
                && by.is_some_and(|kind| kind.contains("wak"))
                && (at == 0 || rows[at - 1].state != ThreadState::Running);
            if is_woken
                && rows
                    .get(at + 1)
                    .is_some_and(|next| next.state == ThreadState::Running)
            {
                plain.push((rows[at + 1].start - rows[at].start).0);
            }
        }
    }
    plain.sort_unstable();
    let mut all: Vec<i64> = found
        .iter()
        .flat_map(|row| row.lengths.sorted().to_vec())
        .collect();
    all.sort_unstable();
    assert!(all.len() > 100);
    assert_eq!(all, plain);
    for row in &found {
        assert_eq!(
            row.worst.first().map_or(0, |worst| worst.length_ns),
            row.lengths.max_ns()
        );
        assert!(
            row.worst.len() <= 3
                && row
                    .worst
                    .is_sorted_by_key(|it| std::cmp::Reverse(it.length_ns))
        );
        for sample in &row.worst {
            assert_eq!(sample.from.thread(trace), Some(row.thread));
            assert_eq!(sample.from.span(trace), Some(sample.span()));
        }
    }
    let total = |among: &Among| -> usize {
        let found = wakeups(trace, among, ALWAYS, 1, &Job::default()).unwrap();
        found.iter().map(|row| row.lengths.sorted().len()).sum()
    };
    let cpus = (0..trace.cpus.len() as u32).map(CpuId);
    let by_cpu: Vec<usize> = cpus
        .map(|cpu| total(&Among::AnyOf(Vec::new(), vec![cpu])))
        .collect();
    assert_eq!(by_cpu.iter().sum::<usize>(), all.len());
    assert!(by_cpu.iter().all(|count| *count < all.len()));
    let first = vec![found[0].thread];
    let both = Among::AllOf(first.clone(), vec![CpuId(0)]);
    assert!(total(&both) < total(&Among::AllOf(first, Vec::new())));
    assert_eq!(total(&Among::AnyOf(Vec::new(), Vec::new())), 0);
    let only = Among::AnyOf(vec![found[0].thread], Vec::new());
    let one = wakeups(trace, &only, ALWAYS, 1, &Job::default()).unwrap();
    assert_eq!(one.len(), 1);
}

#[test]
fn a_trace_without_wakeups_has_no_latencies() {
    let loaded = sample("sched-irq-syscalls.dat");
    let trace = loaded.trace.as_ref();
    let found = wakeups(trace, &Among::All, ALWAYS, 3, &Job::default()).unwrap();
    assert!(found.iter().all(|row| row.lengths.count() == 0));
}

#[test]
fn pairs_of_chosen_threads_are_fewer() {
    let loaded = sample("sched-irq-syscalls.dat");
    let (trace, reader) = (loaded.trace.as_ref(), loaded.reader.as_ref());
    let count = |among: Among| {
        let query = PairQuery {
            from: Expression::parse("sys_enter").unwrap(),
            to: Expression::parse("sys_exit").unwrap(),
            key: PairKey::Thread,
            span: ALWAYS,
            among,
            worst: 1,
        };
        let pairs = event_pairs(trace, reader, &query, &Job::default()).unwrap();
        pairs.unwrap().samples.len()
    };
    let by_cpu: Vec<usize> = [0, 1]
        .map(|cpu| count(Among::AnyOf(Vec::new(), vec![CpuId(cpu)])))
        .to_vec();
    let all = count(Among::All);
    assert!(
        by_cpu.iter().all(|own| *own > 0 && *own < all),
        "{by_cpu:?} {all}"
    );
}

#[test]
fn the_next_of_a_name_is_found_at_any_depth() {
    let loaded = sample("function-graph.dat");
    let trace = loaded.trace.as_ref();
    let name = |id: SliceId| trace.slices.label(id).name;
    let of_track = |track| {
        let rows = trace
            .slices
            .rows
            .iter()
            .filter(move |row| row.track == track);
        let mut all: Vec<SliceId> = rows
            .flat_map(|row| row.slices.clone())
            .map(SliceId)
            .collect();
        all.sort_by_key(|id| (trace.slices.get(*id).start, *id));
        all
    };
    let deepest = trace.slices.rows.iter().max_by_key(|row| row.row).unwrap();
    let all = of_track(deepest.track);
    let mut other_depths = 0;
    for (at, id) in all.iter().enumerate().take(500) {
        let next = all[at + 1..]
            .iter()
            .copied()
            .find(|it| name(*it) == name(*id));
        let before = all[..at]
            .iter()
            .rev()
            .copied()
            .find(|it| name(*it) == name(*id));
        assert_eq!(same_name(trace, *id), [before, next]);
        let row = |id: SliceId| trace.slices.row_of(id).row;
        other_depths += u32::from(next.is_some_and(|next| row(next) != row(*id)));
    }
    assert!(other_depths > 0);
}

#[test]
fn event_pairs_measure_what_slices_measure() {
    let loaded = sample("sched-irq-syscalls.dat");
    let (trace, reader) = (loaded.trace.as_ref(), loaded.reader.as_ref());
    let query = |from: &str, to: &str, key: PairKey| PairQuery {
        from: Expression::parse(from).unwrap(),
        to: Expression::parse(to).unwrap(),
        key,
        span: ALWAYS,
        among: Among::All,
        worst: 5,
    };
    // Interrupt handlers do not nest here: their slices are the pairs by CPU.
    let irq = query(
        "name == irq_handler_entry",
        "name == irq_handler_exit",
        PairKey::Cpu,
    );
    let pairs = event_pairs(trace, reader, &irq, &Job::default())
        .unwrap()
        .unwrap();
    let mut slices: Vec<i64> = (0..trace.slices.len() as u32)
        .map(|id| Item::Slice(threadline::trace::SliceId(id)))
        .filter(|item| {
            threadline::query::item::event_of(trace, *item)
                .is_some_and(|id| trace.kind_name(trace.events.kind(id)) == "irq_handler_entry")
        })
        .map(|item| item.span(trace).unwrap().duration().0)
        .collect();
    slices.sort_unstable();
    assert!(slices.len() > 10);
    assert_eq!(pairs.lengths.sorted(), slices);
    assert_eq!(
        (pairs.unmatched_from, pairs.unmatched_to, pairs.keyless),
        (0, 0, 0)
    );
    assert_eq!(pairs.worst.len(), 5);
    // By a field whose name differs, and one that one side does not have.
    let raised = query(
        "name == softirq_raise",
        "name == softirq_entry",
        PairKey::Fields("vec".into(), "vec".into()),
    );
    let pairs = event_pairs(trace, reader, &raised, &Job::default())
        .unwrap()
        .unwrap();
    let count = |name: &str| {
        let all = 0..trace.events.len() as u32;
        all.filter(|id| trace.kind_name(trace.events.kind(threadline::trace::EventId(*id))) == name)
            .count() as u64
    };
    assert_eq!(
        pairs.lengths.count() + pairs.unmatched_from,
        count("softirq_raise")
    );
    assert_eq!(
        pairs.lengths.count() + pairs.unmatched_to,
        count("softirq_entry")
    );
    assert!(pairs.lengths.count() > 100);
    let wrong = query("name == softirq_raise", "no_such == 5", PairKey::Any);
    assert!(
        event_pairs(trace, reader, &wrong, &Job::default())
            .unwrap()
            .is_err()
    );
    let job = Job::default();
    job.cancel();
    assert!(event_pairs(trace, reader, &irq, &job).is_err());
}

/// How long each slice certainly was in `span`: one that never ended at least as long as all that lies right inside it.
fn times_in(trace: &Trace, span: TimeSpan) -> HashMap<u32, i64> {
    let depth = |id: &u32| trace.slices.depth(SliceId(*id));
    let mut order: Vec<u32> = (0..trace.slices.len() as u32).collect();
    order.sort_by_key(|id| std::cmp::Reverse(depth(id)));
    let (mut times, mut inside) = (HashMap::new(), HashMap::<u32, i64>::new());
    for id in order {
        let slice = Item::Slice(SliceId(id)).span(trace).unwrap();
        let time = match certain(trace, SliceId(id)) {
            // Of a measured duration a part has the share that is drawn there.
            None => {
                let inside = slice.intersection(span).duration().0;
                let drawn = slice.duration().0;
                match length(trace, SliceId(id)) {
                    length if inside == drawn => length,
                    length => (i128::from(length) * i128::from(inside) / i128::from(drawn)) as i64,
                }
            }
            Some(length) => {
                let until = Timestamp(slice.start.0 + length);
                let seen = TimeSpan::new(slice.start, until).intersection(span);
                let inside = inside.get(&id).copied().unwrap_or(0);
                seen.duration().0.max(inside)
            }
        };
        times.insert(id, time);
        if let Some(parent) = trace.slices.get(SliceId(id)).parent {
            *inside.entry(parent.0).or_default() += time;
        }
    }
    times
}

#[test]
fn a_flame_graph_holds_all_time_once() {
    for name in [
        "function-graph.dat",
        "sched-irq-syscalls.dat",
        "lua-make-j2.etrace.zst",
    ] {
        let loaded = sample(name);
        let trace = loaded.trace.as_ref();
        let length = trace.span.duration().0;
        let middle = TimeSpan::new(
            Timestamp(trace.span.start.0 + length / 4),
            Timestamp(trace.span.start.0 + length / 2),
        );
        for area in [Area::all(), Area::of(middle)] {
            let flame = of_slices(trace, &area, Roots::Merged, &Job::default()).unwrap();
            assert!(!flame.is_empty(), "{name}");
            assert_eq!(flame.left_out, 0);
            let root = &flame.nodes[0];
            // A plain scan: slices by their whole path of names.
            let mut plain: HashMap<String, (i64, u64, u64)> = HashMap::new();
            let mut whole = 0;
            let times = times_in(trace, area.span);
            for id in 0..trace.slices.len() as u32 {
                let span = Item::Slice(SliceId(id)).span(trace).unwrap();
                let meets = span.overlaps(area.span) || area.span.contains(span.start);
                if !meets {
                    continue;
                }
                let mut path = vec![
                    trace
                        .text(trace.slices.label(SliceId(id)).name)
                        .into_owned(),
                ];
                let mut at = trace.slices.get(SliceId(id)).parent;
                whole += if at.is_none() { times[&id] } else { 0 };
                while let Some(parent) = at {
                    path.push(trace.text(trace.slices.label(parent).name).into_owned());
                    at = trace.slices.get(parent).parent;
                }
                path.reverse();
                let entry = plain.entry(path.join(";")).or_default();
                entry.0 += times[&id];
                match trace.slices.get(SliceId(id)).end {
                    Some(_) => entry.1 += 1,
                    None => entry.2 += 1,
                }
            }
            assert_eq!(root.total, whole, "{name}");
            assert_eq!(flame.nodes.len() - 1, plain.len());
            for id in 1..flame.nodes.len() as u32 {
                let node = &flame.nodes[id as usize];
                assert_eq!(
                    plain[&flame.path(id).join(";")],
                    (node.total, node.count, node.unfinished),
                    "{name}"
                );
                let inside: i64 = node
                    .children
                    .iter()
                    .map(|&child| flame.nodes[child as usize].total)
                    .sum();
                assert_eq!(node.own, (node.total - inside).max(0));
            }
            let own: i64 = flame.nodes.iter().skip(1).map(|node| node.own).sum();
            let turned = flame.bottom_up();
            assert_eq!(turned.nodes[0].total, own);
            let names = flame.by_name();
            assert_eq!(names.iter().map(|row| row.own).sum::<i64>(), own);
            for row in &names {
                let leaves = turned.nodes[0].children.iter();
                let of_name: Vec<(i64, i64)> = leaves
                    .filter(|&&id| turned.name(id) == row.name)
                    .map(|&id| {
                        (
                            turned.nodes[id as usize].own,
                            turned.nodes[id as usize].total,
                        )
                    })
                    .collect();
                assert_eq!(of_name, [(row.own, row.total)], "{}", row.name);
                assert!(row.total >= row.own);
            }
            for node in turned.nodes.iter().skip(1) {
                let callers: i64 = node
                    .children
                    .iter()
                    .map(|&id| turned.nodes[id as usize].own)
                    .sum();
                assert!(callers <= node.own && node.own <= node.total);
            }
            let frames = flame.layout(0, 1);
            assert!(frames.iter().all(|frame| frame.start >= 0
                && frame.start + frame.width <= root.total.max(frame.start + frame.width)));
        }
        let parted = of_slices(trace, &Area::all(), Roots::Tracks, &Job::default()).unwrap();
        let whole = of_slices(trace, &Area::all(), Roots::Merged, &Job::default()).unwrap();
        assert_eq!(parted.nodes[0].total, whole.nodes[0].total);
    }
}

#[test]
fn stacks_of_a_recording_merge_too() {
    let path = corpus("tracedat/v7-zstd-kernel-stack.dat");
    let loaded = open(&path, &Job::default()).unwrap();
    let (trace, reader) = (loaded.trace.as_ref(), loaded.reader.as_ref());
    let flame = of_stacks(trace, reader, &Area::all(), &Job::default()).unwrap();
    let stacks = (0..trace.events.len() as u32)
        .filter(|id| !describe(trace, reader, EventId(*id)).stack.is_empty())
        .count();
    println!("{stacks} stacks, {} nodes", flame.nodes.len());
    assert!(stacks > 0);
    assert_eq!(flame.nodes[0].total, stacks as i64);
}

/// The corpus beside the repository, where it is there.
#[test]
fn two_traces_are_compared_name_by_name() {
    let a = sample("sched-irq-syscalls.dat");
    let b = sample("block-ext4.dat");
    let area = Area::all();
    let (left, right) = (
        Compared {
            trace: &a.trace,
            area: &area,
        },
        Compared {
            trace: &b.trace,
            area: &area,
        },
    );
    for what in [
        CompareWhat::Slices,
        CompareWhat::Events,
        CompareWhat::Threads,
        CompareWhat::States,
    ] {
        let same = compare(left, left, what, &Job::default()).unwrap();
        assert!(!same.is_empty());
        assert!(
            same.iter()
                .all(|row| row.left == row.right && row.change(SortBy::Sum) == 0)
        );
        let there = compare(left, right, what, &Job::default()).unwrap();
        let back = compare(right, left, what, &Job::default()).unwrap();
        assert_eq!(there.len(), back.len());
        for row in &there {
            let other = back
                .iter()
                .find(|it| it.name == row.name && it.category == row.category)
                .unwrap();
            assert_eq!((row.left, row.right), (other.right, other.left));
        }
        let by = if what == CompareWhat::Events {
            SortBy::Count
        } else {
            SortBy::Sum
        };
        // What is certain of unfinished slices counts.
        let certain = |side: Option<Side>| side.map_or(0, |side| side.unfinished_ns);
        let change = |row: &CompareRow| match by {
            SortBy::Count => row.change(by),
            _ => row.change(by) + certain(row.right) - certain(row.left),
        };
        assert!(there.is_sorted_by_key(|row| std::cmp::Reverse(change(row).unsigned_abs())));
    }
    // All that has durations has percentiles, those of its distribution.
    for what in [
        CompareWhat::Slices,
        CompareWhat::Threads,
        CompareWhat::States,
    ] {
        let rows = compare(left, right, what, &Job::default()).unwrap();
        let mut several = 0;
        for row in &rows {
            for (side, compared) in [(row.left, left), (row.right, right)] {
                let name = ComparedName {
                    name: &row.name,
                    category: &row.category,
                    kind: row.kind,
                };
                let all = distribution(compared, what, name, &Job::default()).unwrap();
                let Some(side) = side else {
                    assert_eq!(all.count(), 0);
                    continue;
                };
                assert_eq!((all.count(), all.sum_ns()), (side.count, side.sum_ns));
                let known = |ns: i64| (side.count > 0).then_some(ns);
                assert_eq!(side.p50_ns, known(all.per_mille(500)), "{name:?}");
                assert_eq!(side.p95_ns, known(all.per_mille(950)), "{name:?}");
                assert_eq!(side.max_ns, known(all.max_ns()), "{name:?}");
                several += usize::from(side.count > 1);
            }
        }
        assert!(several > 3, "{what:?}");
    }
    // Threads of one name are one row, whichever numbers they have.
    let threads = compare(left, right, CompareWhat::Threads, &Job::default()).unwrap();
    let named = |name: &str| -> Vec<ThreadId> {
        let threads = (0..a.trace.threads.len() as u32).map(ThreadId);
        threads
            .filter(|id| a.trace.thread_name(*id) == name && !a.trace.runs.of(*id).is_empty())
            .collect()
    };
    let of_many = threads
        .iter()
        .find(|row| named(&row.name).len() > 1)
        .unwrap();
    let mut lengths: Vec<i64> = named(&of_many.name)
        .iter()
        .flat_map(|id| a.trace.runs.of(*id))
        .map(|run| {
            let run = Item::Run(RunId(*run)).span(&a.trace).unwrap();
            run.duration().0
        })
        .collect();
    lengths.sort_unstable();
    let side = of_many.left.unwrap();
    assert_eq!(side.count, lengths.len() as u64);
    assert_eq!(side.p50_ns, Some(lengths[lengths.len().div_ceil(2) - 1]));
    // Names that only one of them has.
    let events = compare(left, right, CompareWhat::Events, &Job::default()).unwrap();
    assert!(
        events
            .iter()
            .any(|row| row.left.is_none() && row.name.starts_with("ext4"))
    );
    assert!(
        events
            .iter()
            .any(|row| row.right.is_none() && row.name == "sys_enter")
    );
    let count: u64 = events
        .iter()
        .filter_map(|row| row.left)
        .map(|side| side.count)
        .sum();
    assert_eq!(count, a.trace.events.len() as u64);
}

#[test]
fn durations_of_a_name_can_be_cut_out_of_its_histogram() {
    let loaded = sample("sched-irq-syscalls.dat");
    let trace = loaded.trace.as_ref();
    for group in groups(
        trace,
        &Area::all(),
        What::Slices,
        GroupBy::Name,
        &Job::default(),
    )
    .unwrap()
    {
        let (name, category) = group.key.name.unwrap();
        let all = durations(trace, &Area::all(), name, Some(category), &Job::default()).unwrap();
        assert_eq!(all.lengths.count(), group.count);
        assert_eq!(all.lengths.sum_ns(), group.sum_ns);
        assert_eq!(all.lengths.per_mille(950), group.p95_ns);
        let cut: Vec<SliceId> = (all
            .between(&(group.p50_ns..group.p95_ns))
            .map(|it| it.slice))
        .collect();
        let lengths = all.lengths.sorted().iter();
        assert_eq!(
            cut.len(),
            lengths
                .filter(|it| (group.p50_ns..group.p95_ns).contains(*it))
                .count()
        );
        for id in cut {
            assert_eq!(trace.slices.label(id).name, name);
        }
        assert_eq!(all.slices().count() as u64, group.count);
    }
}

#[test]
fn cpu_use_over_time_adds_up_to_the_runs() {
    let loaded = sample("sched-irq.ftrace");
    let (trace, index) = (loaded.trace.as_ref(), loaded.index.as_ref());
    for cpu in (0..trace.cpus.len() as u32).map(CpuId) {
        for columns in [1, 7, 500] {
            let shares = cpu_use(trace, index, cpu, trace.span, columns);
            let column = trace.span.duration().0 as f64 / columns as f64;
            let sum: f64 = shares.iter().map(|&share| f64::from(share) * column).sum();
            let runs: i64 = trace
                .runs
                .on(cpu)
                .map(|id| Item::Run(RunId(id)).span(trace).unwrap().duration().0)
                .sum();
            assert!(
                (sum - runs as f64).abs() <= runs as f64 * 0.02 + 1000.0,
                "{sum} {runs} {columns}"
            );
            assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
        }
    }
}
