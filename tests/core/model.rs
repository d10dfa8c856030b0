//! What `assemble` makes of lanes, told in small stories. Times are ns; threads are kernel pids.

use threadline::assemble::assemble;
use threadline::base::Maybe;
use threadline::base::{Job, StringId, Timestamp};
use threadline::event::family::Family;
use threadline::event::kernel;
use threadline::event::{
    AsyncMark, AsyncOp, AsyncScope, Directory, EventKind, FlowKind, FlowMark, FlowOp, ForkSort,
    KindId, KindOrigin, Label, Lane, LaneColumns, Life, LifeRow, Mark, MarkOp, PartColumns, Role,
    SliceKind, Switch, SwitchContent, ThreadKey, ThreadState, TraceInfo, Wakeup, WakeupSort,
};
use threadline::index::Index;
use threadline::trace::{SliceId, StateId, ThreadId, Trace, TrackKind};

const POINT: KindId = KindId(0);
const USED: KindId = KindId(1);

/// One CPU's lane, written in words.
struct Story {
    columns: LaneColumns,
}

impl Story {
    fn new() -> Story {
        Story {
            columns: LaneColumns::new(0),
        }
    }

    fn event(&mut self, time: i64, thread: u32, kind: KindId) -> u32 {
        let place = self.columns.events.len() as u64;
        self.columns
            .events
            .push(time, place, kind, ThreadKey(thread))
    }

    fn label(&mut self, family: Family, name: &str, key: u64) -> u32 {
        let name = self.columns.strings.intern_text(name);
        let label = Label {
            family,
            kind: family.slice_kind(),
            name,
            category: StringId::EMPTY,
            key,
        };
        self.columns.labels.push(label);
        self.columns.labels.len() as u32 - 1
    }

    fn mark(&mut self, time: i64, thread: u32, family: Family, name: &str, key: u64, op: MarkOp) {
        let event = self.event(time, thread, USED);
        let label = self.label(family, name, key);
        self.columns.marks.push(Mark::new(event, label, op));
    }

    fn begin(&mut self, time: i64, thread: u32, family: Family, name: &str, key: u64) {
        self.mark(time, thread, family, name, key, MarkOp::Begin);
    }

    fn end(&mut self, time: i64, thread: u32, family: Family, name: &str, key: u64) {
        self.mark(time, thread, family, name, key, MarkOp::End);
    }

    fn life(&mut self, time: i64, thread: u32, life: Life) {
        // `task_newtask` says what was made, `sched_process_fork` does not.
        let kind = match life {
            Life::Fork {
                sort: ForkSort::Unknown,
                ..
            } => USED,
            _ => POINT,
        };
        let event = self.event(time, thread, kind);
        self.columns.lives.push(LifeRow { event, life });
    }

    fn fork(&mut self, time: i64, parent: u32, child: u32, sort: ForkSort) {
        let (parent_key, child) = (ThreadKey(parent), ThreadKey(child));
        self.life(
            time,
            parent,
            Life::Fork {
                parent: Some(parent_key),
                child,
                sort,
                name: StringId::EMPTY,
            },
        );
    }

    fn switch(&mut self, time: i64, cpu: u32, prev: u32, prev_state: ThreadState, next: u32) {
        let event = self.event(time, prev, USED);
        self.columns.switches.push(Switch {
            event,
            cpu,
            prev: ThreadKey(prev),
            next: ThreadKey(next),
            prev_priority: 120,
            next_priority: 120,
            prev_state,
            content: SwitchContent::RunsAndStates,
        });
    }

    fn wakeup(&mut self, time: i64, waker: u32, thread: u32, sort: WakeupSort) {
        let event = self.event(time, waker, USED);
        let (thread, waker) = (ThreadKey(thread), ThreadKey(waker));
        self.columns.wakeups.push(Wakeup {
            event,
            thread,
            waker: Maybe::new(waker),
            target_cpu: Maybe::new(0),
            sort,
            interrupt: None,
        });
    }
}

fn made(stories: Vec<Story>) -> Trace {
    let mut directory = Directory::default();
    for (name, role) in [("point", Role::Instant), ("used", Role::Consumed)] {
        let name = directory.strings.intern_text(name);
        directory.kinds.push(EventKind {
            name,
            category: StringId::EMPTY,
            role,
            origin: KindOrigin::Recorder,
        });
    }
    let lanes: Vec<Lane> = (0..stories.len() as u32)
        .map(|cpu| Lane {
            name: format!("CPU {cpu}"),
            cpu: Some(cpu),
        })
        .collect();
    let parts = stories
        .into_iter()
        .enumerate()
        .map(|(i, story)| PartColumns {
            part: i as u32,
            lane: i as u32,
            columns: story.columns,
        })
        .collect();
    let trace = assemble(
        parts,
        &lanes,
        &directory,
        TraceInfo::default(),
        &Job::default(),
    );
    let trace = trace.unwrap();
    let _index = Index::new(&trace, &Job::default()).unwrap();
    trace
}

/// (name, start, end, depth) of all slices, by start; an unfinished one has no end.
fn slices(trace: &Trace) -> Vec<(String, i64, Option<i64>, u32)> {
    let mut all: Vec<_> = (0..trace.slices.len() as u32)
        .map(|id| {
            let slice = trace.slices.get(SliceId(id));
            let name = trace.text(trace.slices.label(slice.id).name).into_owned();
            (
                name,
                slice.start.0,
                slice.end.map(|end| end.0),
                trace.slices.depth(slice.id),
            )
        })
        .collect();
    all.sort_by_key(|slice| (slice.1, slice.3));
    all
}

fn named(
    name: &str,
    start: i64,
    end: impl Into<Option<i64>>,
    depth: u32,
) -> (String, i64, Option<i64>, u32) {
    (name.to_owned(), start, end.into(), depth)
}

#[test]
fn a_recursive_kprobe_nests_and_a_lost_return_is_a_slice_of_unknown_length() {
    let mut cpu = Story::new();
    let (f, g) = (0x1000, 0x2000);
    cpu.begin(10, 5, Family::Kprobes, "f", f);
    cpu.begin(20, 5, Family::Kprobes, "f", f);
    cpu.begin(30, 5, Family::Kprobes, "g", g); // its return is lost
    cpu.end(40, 5, Family::Kprobes, "f_ret", f);
    cpu.end(50, 5, Family::Kprobes, "f_ret", f);
    cpu.begin(60, 5, Family::Kprobes, "g", g);
    cpu.end(70, 5, Family::Kprobes, "g_ret", g);
    cpu.end(80, 5, Family::Kprobes, "g_ret", g); // its entry was before the trace
    cpu.begin(90, 5, Family::Kprobes, "lone", 0x3000); // a probe that no return belongs to
    let trace = made(vec![cpu]);
    assert_eq!(
        slices(&trace),
        vec![
            named("f", 10, 50, 0),
            named("f", 20, 40, 1),
            named("g", 30, None, 2),
            named("g", 60, 70, 0)
        ]
    );
    assert_eq!(trace.diagnostics.count_of("unmatched_begin"), 1);
    assert_eq!(trace.diagnostics.count_of("unmatched_end"), 1);
    let times: Vec<i64> = trace
        .instants
        .events
        .iter()
        .map(|event| trace.events.time(threadline::trace::EventId(event)).0)
        .collect();
    assert_eq!(
        times,
        vec![80, 90],
        "an end without a begin, and what has no end by design, are instants"
    );
}

#[test]
fn a_syscall_that_migrates_is_one_slice_and_an_open_one_lasts() {
    let mut first = Story::new();
    let mut second = Story::new();
    first.begin(10, 7, Family::Syscalls, "read", 0);
    second.end(90, 7, Family::Syscalls, "read", 0);
    second.begin(95, 7, Family::Syscalls, "futex", 202);
    let trace = made(vec![first, second]);
    assert_eq!(
        slices(&trace),
        vec![named("read", 10, 90, 0), named("futex", 95, None, 0)]
    );
    assert_eq!(trace.diagnostics.count_of("unfinished"), 1);
}

#[test]
fn system_calls_never_nest_and_die_with_their_thread() {
    let mut cpu = Story::new();
    cpu.begin(10, 7, Family::Syscalls, "rt_sigreturn", 15);
    cpu.end(20, 7, Family::Syscalls, "", kernel::ANY_KEY); // registers were replaced: number -1
    cpu.begin(30, 7, Family::Syscalls, "read", 1); // its end is lost
    cpu.begin(40, 7, Family::Syscalls, "exit_group", 231);
    cpu.life(
        50,
        7,
        Life::Exit {
            thread: ThreadKey(7),
            status: None,
            signal: None,
            is_last: None,
        },
    );
    cpu.event(60, 7, USED);
    let trace = made(vec![cpu]);
    // Those that never return are points, and an end that was not seen is not known.
    assert_eq!(slices(&trace), vec![named("read", 30, None, 0)]);
    assert_eq!(trace.slices.end(0), 40);
    // With the end of the life.
    assert_eq!(trace.instants.len(), 3);
}

#[test]
fn a_switch_to_dead_ends_the_life_and_its_calls() {
    let mut cpu = Story::new();
    cpu.switch(5, 0, 0, ThreadState::Runnable, 7);
    cpu.begin(10, 7, Family::Syscalls, "read", 1);
    cpu.end(11, 7, Family::Syscalls, "read", 1);
    cpu.begin(20, 7, Family::Syscalls, "futex", 202);
    cpu.switch(30, 0, 7, ThreadState::Zombie, 0);
    cpu.event(100, 1, POINT);
    let trace = made(vec![cpu]);
    assert_eq!(
        slices(&trace),
        vec![named("read", 10, 11, 0), named("futex", 20, None, 0)]
    );
    // It lasts no longer than its thread.
    assert_eq!(trace.slices.end(1), 30);
    let thread = trace.threads.iter().find(|thread| thread.tid == 7).unwrap();
    assert_eq!(thread.end, Some(Timestamp(30)));
}

#[test]
fn begins_whose_ends_were_not_recorded_are_points() {
    let mut cpu = Story::new();
    cpu.begin(10, 7, Family::Timers, "tick", 5);
    cpu.begin(20, 7, Family::Timers, "tick", 5);
    let trace = made(vec![cpu]);
    assert_eq!((trace.slices.len(), trace.instants.len()), (0, 2));
    assert!(trace.diagnostics.is_empty());
}

#[test]
fn interrupts_lie_on_their_cpu_whoever_ran() {
    let mut cpu = Story::new();
    cpu.begin(5, 7, Family::Syscalls, "write", 1);
    cpu.begin(10, 7, Family::Irqs, "eth0", 30);
    cpu.end(12, 7, Family::Irqs, "", 30);
    cpu.begin(12, 0, Family::Softirqs, "NET_RX", 3);
    cpu.end(20, 0, Family::Softirqs, "NET_RX", 3);
    cpu.end(30, 7, Family::Syscalls, "write", 1);
    let trace = made(vec![cpu]);
    let kinds: Vec<TrackKind> = trace.tracks.iter().map(|track| track.kind).collect();
    assert!(
        matches!(kinds[..], [TrackKind::Cpu(_), TrackKind::Thread(_)]),
        "{kinds:?}"
    );
    let cpu_track = &trace.tracks[0];
    let on_cpu: u32 = trace.slices.rows[cpu_track.rows.start as usize..cpu_track.rows.end as usize]
        .iter()
        .map(|row| row.slices.len() as u32)
        .sum();
    assert_eq!(on_cpu, 2);
}

#[test]
fn a_reused_pid_is_two_threads() {
    let mut cpu = Story::new();
    cpu.fork(10, 1, 50, ForkSort::Process);
    cpu.event(20, 50, POINT);
    cpu.life(
        30,
        50,
        Life::Exit {
            thread: ThreadKey(50),
            status: Some(3),
            signal: None,
            is_last: None,
        },
    );
    cpu.fork(100, 2, 50, ForkSort::Process);
    cpu.fork(100, 2, 50, ForkSort::Unknown); // the same fork, told by another event
    cpu.event(110, 50, POINT);
    let trace = made(vec![cpu]);
    let lives: Vec<_> = trace
        .threads
        .iter()
        .filter(|thread| thread.tid == 50)
        .collect();
    assert_eq!(lives.len(), 2);
    assert_eq!(
        (lives[0].start, lives[0].end),
        (Some(Timestamp(10)), Some(Timestamp(30)))
    );
    assert_eq!((lives[1].start, lives[1].end), (Some(Timestamp(100)), None));
    let processes: Vec<_> = trace
        .processes
        .iter()
        .filter(|process| process.pid == 50)
        .collect();
    let parent = |index: usize| {
        processes[index]
            .parent
            .map(|id| trace.processes[id.0 as usize].pid)
    };
    assert_eq!((parent(0), parent(1)), (Some(1), Some(2)));
    assert_eq!(processes[0].exit_status, Some(3));
    let of = |time: i64| trace.events.threads.at(ThreadKey(50), Timestamp(time));
    assert_ne!(of(20), of(110));
}

#[test]
fn threads_join_their_parents_process() {
    let mut cpu = Story::new();
    cpu.fork(10, 1, 2, ForkSort::Process);
    cpu.fork(20, 2, 3, ForkSort::Thread);
    cpu.fork(30, 3, 4, ForkSort::Thread);
    let trace = made(vec![cpu]);
    let process = |tid: u64| {
        trace
            .threads
            .iter()
            .find(|thread| thread.tid == tid)
            .and_then(|thread| thread.process)
    };
    assert_eq!(process(3), process(2));
    assert_eq!(process(4), process(2));
    assert_ne!(process(1), process(2));
}

#[test]
fn a_wakeup_ends_the_sleep_and_the_waker_is_known() {
    let mut first = Story::new();
    let mut second = Story::new();
    first.switch(10, 0, 0, ThreadState::Runnable, 8);
    first.switch(20, 0, 8, ThreadState::Sleeping, 0);
    second.event(1, 9, POINT);
    second.wakeup(50, 9, 8, WakeupSort::Waking);
    first.wakeup(52, 0, 8, WakeupSort::Wakeup);
    first.switch(60, 0, 0, ThreadState::Runnable, 8);
    let trace = made(vec![first, second]);
    let thread = trace.events.threads.at(ThreadKey(8), Timestamp(0)).unwrap();
    let states: Vec<_> = trace
        .states
        .of(thread)
        .map(|id| trace.states.get(StateId(id)))
        .collect();
    let told: Vec<_> = states
        .iter()
        .map(|state| (state.start.0, state.end.map(|end| end.0), state.state))
        .collect();
    use ThreadState::{Runnable, Running, Sleeping};
    assert_eq!(
        told,
        vec![
            (10, Some(20), Running),
            (20, Some(50), Sleeping),
            (50, Some(60), Runnable),
            (60, None, Running)
        ]
    );
    let waker = states[2].waker.map(|waker| trace.thread(waker).tid);
    assert_eq!(waker, Some(9));
    assert!(states.iter().all(|state| state.thread == thread));
    assert_eq!(trace.runs.len(), 2, "idle is no run");
}

#[test]
fn asynchronous_slices_end_on_any_thread() {
    let mut cpu = Story::new();
    let name = cpu.columns.strings.intern_text("request");
    let group = cpu.columns.strings.intern_text("block requests");
    for (time, thread, op, id) in [
        (10, 5, AsyncOp::Begin, 1),
        (20, 5, AsyncOp::Begin, 2),
        (30, 6, AsyncOp::End, 1),
    ] {
        let event = cpu.event(time, thread, USED);
        let name = if op == AsyncOp::End {
            StringId::EMPTY
        } else {
            name
        };
        let scope = AsyncScope::Global;
        cpu.columns.asyncs.push(AsyncMark {
            event,
            op,
            scope,
            id,
            name,
            category: StringId::EMPTY,
            kind: SliceKind::Async,
            group,
        });
    }
    let trace = made(vec![cpu]);
    assert_eq!(
        slices(&trace),
        vec![named("request", 10, 30, 0), named("request", 20, None, 0)]
    );
    let track = trace.tracks.last().unwrap();
    assert_eq!(trace.text(track.name), "block requests");
    assert_eq!(track.rows.len(), 2, "they overlap, so each has its row");
}

#[test]
fn flows_join_the_slices_around_them() {
    let mut cpu = Story::new();
    let flow = |cpu: &mut Story, time: i64, thread: u32, op: FlowOp| {
        let event = cpu.event(time, thread, USED);
        let (name, category) = (StringId::EMPTY, StringId::EMPTY);
        cpu.columns.flows.push(FlowMark {
            event,
            bound: threadline::event::FlowBound::Around,
            joined: threadline::event::FlowJoin::ById,
            op,
            id: 77,
            name,
            category,
            kind: FlowKind::Stated,
        });
    };
    cpu.begin(10, 5, Family::Durations, "send", 0);
    flow(&mut cpu, 15, 5, FlowOp::Begin);
    cpu.end(20, 5, Family::Durations, "", 0);
    cpu.begin(30, 6, Family::Durations, "receive", 0);
    flow(&mut cpu, 30, 6, FlowOp::End);
    flow(&mut cpu, 35, 6, FlowOp::End); // the flow is over
    cpu.end(40, 6, Family::Durations, "", 0);
    let trace = made(vec![cpu]);
    assert_eq!(trace.flows.rows.len(), 1);
    let flow = trace.flows.rows[0];
    let name = |slice: Option<SliceId>| {
        trace
            .text(trace.slices.label(slice.unwrap()).name)
            .into_owned()
    };
    assert_eq!(
        (name(flow.from.slice), name(flow.to.slice)),
        ("send".to_owned(), "receive".to_owned())
    );
    assert_eq!(trace.flows.of_slice(flow.to.slice.unwrap()).count(), 1);
    assert_eq!(trace.diagnostics.count_of("flow_dropped"), 1);
}

#[test]
fn an_empty_trace_is_a_trace() {
    let trace = made(Vec::new());
    assert!(trace.events.is_empty() && trace.span.is_empty());
    assert_eq!(trace.thread(ThreadId(99)).tid, 0);
}
