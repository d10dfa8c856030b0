//! Wakeup chains, latencies, flame graphs and comparisons of the sample traces.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic and print"
)]

use std::path::Path;

use threadline::base::{Job, TimeSpan, Timestamp};
use threadline::load::{LoadedTrace, open};
use threadline::query::Item;
use threadline::query::expression::Expression;
use threadline::query::latency::{PairKey, PairQuery, event_pairs, wakeups};
use threadline::query::wakeup_chain::{ChainEnd, HopKind, MAX_HOPS, chain, chain_at};
use threadline::trace::{StateId, ThreadId, ThreadState};

const ALWAYS: TimeSpan = TimeSpan {
    start: Timestamp::MIN,
    end: Timestamp::MAX,
};

fn sample(name: &str) -> LoadedTrace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("sample-traces")
        .join(name);
    open(&path, &Job::default()).unwrap()
}

#[test]
fn the_hops_of_every_wait_fill_it_without_holes() {
    let loaded = sample("sched-irq.ftrace");
    let (trace, reader) = (loaded.trace.as_ref(), loaded.reader.as_ref());
    let mut kinds = std::collections::HashSet::new();
    let mut long = 0;
    for id in 0..trace.states.len() as u32 {
        let state = trace.states.get(StateId(id));
        let Some(chain) = chain(trace, reader, StateId(id)) else {
            let is_wait = !matches!(
                state.state,
                ThreadState::Running | ThreadState::Dead | ThreadState::Zombie
            );
            assert!(!is_wait, "state {id} has no chain");
            continue;
        };
        assert_eq!(chain.thread, state.thread);
        assert!(chain.hops.len() <= MAX_HOPS + 8);
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
            assert_eq!(last.thread, chain.thread);
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
    let (trace, reader) = (loaded.trace.as_ref(), loaded.reader.as_ref());
    let rm = (0..trace.threads.len() as u32).map(ThreadId);
    let rm = rm
        .into_iter()
        .find(|id| trace.thread(*id).tid == 27243)
        .unwrap();
    let chain = chain_at(trace, reader, rm, Timestamp(2_471_495_100_000)).unwrap();
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
}

#[test]
fn wakeup_latencies_are_the_ready_states_before_runs() {
    let loaded = sample("sched-irq.ftrace");
    let trace = loaded.trace.as_ref();
    let found = wakeups(trace, &[], ALWAYS, 3, &Job::default()).unwrap();
    let mut plain: Vec<i64> = Vec::new();
    for id in 0..trace.threads.len() as u32 {
        let rows: Vec<_> = trace
            .states
            .of(ThreadId(id))
            .map(|row| trace.states.get(StateId(row)))
            .collect();
        for at in 0..rows.len() {
            let is_woken = rows[at].state == ThreadState::Runnable
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
    let one = wakeups(trace, &[found[0].thread], ALWAYS, 1, &Job::default()).unwrap();
    assert_eq!(one.len(), 1);
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
