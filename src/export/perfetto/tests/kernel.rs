//! The kernel's events: messages of Perfetto's own, described ones, ranges and choices of threads, losses.

use std::path::Path;
use std::sync::Arc;

use super::super::layout::{bundle, descriptor, ftrace_event, ftrace_stats, packet, task_state};
use super::super::layout::{process_tree, track};
use super::read::{ReadField, fields_of, first, number, text};
use super::{Read, exported, opened};
use crate::base::{Job, TimeSpan, Timestamp};
use crate::export::Selection;
use crate::load::LoadedTrace;
use crate::trace::{CpuId, Run, RunId, ThreadId, Trace};

/// A context switch, as its own fields: time, CPU, thread that leaves, its state, thread that comes.
type Switch = (u64, u64, u64, u64, u64);

const SWITCH: u32 = 4;
const WAKING: u32 = 20;
const SYS_ENTER: u32 = 329;
const NEWTASK: u32 = 235;
const IO_START: u32 = 546;
const IO_DONE: u32 = 547;

/// An ftrace event: its CPU, its fields, the number of its message and the message's fields.
pub(super) struct Event {
    cpu: u64,
    pub(super) fields: Vec<ReadField>,
    pub(super) kind: u32,
    pub(super) message: Vec<ReadField>,
}

pub(super) fn events(read: &Read) -> Vec<Event> {
    let mut events = Vec::new();
    for (_, fields) in read.messages(packet::FTRACE_EVENTS) {
        let cpu = number(&fields, bundle::CPU);
        for event in fields.iter().filter(|it| it.field == bundle::EVENT) {
            let own = fields_of(event.bytes());
            let common = [
                ftrace_event::TIMESTAMP,
                ftrace_event::PID,
                ftrace_event::COMMON_FLAGS,
            ];
            let message = own.iter().find(|it| !common.contains(&it.field)).unwrap();
            events.push(Event {
                cpu,
                kind: message.field,
                message: fields_of(message.bytes()),
                fields: own.clone(),
            });
        }
    }
    events
}

fn switches(read: &Read) -> Vec<Switch> {
    let events = events(read);
    let switches = events.iter().filter(|event| event.kind == SWITCH);
    let mut found: Vec<Switch> = switches
        .map(|event| {
            let time = number(&event.fields, ftrace_event::TIMESTAMP);
            let of = |field| number(&event.message, field);
            (time, event.cpu, of(2), of(4), of(6))
        })
        .collect();
    found.sort_unstable();
    found
}

pub(super) fn trace_of(lines: &str) -> LoadedTrace {
    opened("a.ftrace", &format!("# tracer: nop\n#\n{lines}"))
}

fn range(start: i64, end: i64) -> Selection {
    Selection::range(TimeSpan::new(Timestamp(start), Timestamp(end)))
}

const SCHED: &str = "\
          <idle>-0       [001] d..2.     1.000100: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=cat next_pid=10 next_prio=120
             cat-10      [001] d..2.     1.000150: sched_waking: comm=dd pid=11 prio=100 target_cpu=001
             cat-10      [001] d..2.     1.000200: sched_switch: prev_comm=cat prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=dd next_pid=11 next_prio=100
              dd-11      [001] d..2.     1.000250: sched_stat_runtime: comm=dd pid=11 runtime=50 [ns]
              dd-11      [001] d..2.     1.000300: sched_switch: prev_comm=dd prev_pid=11 prev_prio=100 prev_state=D|K ==> next_comm=cat next_pid=10 next_prio=120
             cat-10      [001] d..2.     1.000400: sched_switch: prev_comm=cat prev_pid=10 prev_prio=120 prev_state=R+ ==> next_comm=swapper/1 next_pid=0 next_prio=120
";

fn thread(loaded: &LoadedTrace, tid: u64) -> ThreadId {
    let at = loaded
        .trace
        .threads
        .iter()
        .position(|thread| thread.tid == tid);
    ThreadId(at.unwrap() as u32)
}

#[test]
fn events_are_messages_of_their_own_or_described() {
    let loaded = trace_of(SCHED);
    let read = exported(&loaded, &Selection::all());
    let expected = [
        (1_000_100_000, 1, 0, 0, 10),
        (1_000_200_000, 1, 10, 1, 11),
        (1_000_300_000, 1, 11, 130, 10),
        (1_000_400_000, 1, 10, 2048, 0),
    ];
    assert_eq!(switches(&read), expected);
    let events = events(&read);
    assert_eq!(events.len(), loaded.trace.events.len());
    let waking = events.iter().find(|event| event.kind == WAKING).unwrap();
    assert_eq!(text(&waking.message, 1), "dd");
    assert_eq!(
        (number(&waking.message, 2), number(&waking.message, 5)),
        (11, 1)
    );
    let described = events
        .iter()
        .find(|event| event.kind >= ftrace_event::FIRST_DESCRIBED);
    let described = described.unwrap();
    let bundles = read.messages(packet::FTRACE_EVENTS);
    let entry = bundles
        .iter()
        .find_map(|(_, fields)| first(fields, bundle::DESCRIPTORS));
    let entry = fields_of(entry.unwrap().bytes());
    assert_eq!(
        number(&entry, bundle::DESCRIPTOR_NUMBER),
        u64::from(described.kind)
    );
    let message = fields_of(first(&entry, bundle::DESCRIPTOR_MESSAGE).unwrap().bytes());
    assert_eq!(text(&message, descriptor::NAME), "sched_stat_runtime");
    let names: Vec<String> = message
        .iter()
        .filter(|it| it.field == descriptor::FIELD)
        .map(|it| text(&fields_of(it.bytes()), descriptor::FIELD_NAME))
        .collect();
    assert_eq!(&names[..2], ["comm", "pid"]);
    assert_eq!(text(&described.message, 1), "dd");
    assert_eq!(number(&described.message, 2), 11);
    // trace_processor derives runs and states from the events.
    assert!(read.messages(packet::GENERIC_TASK_STATE).is_empty());
}

#[test]
fn a_range_has_the_runs_that_reach_into_it() {
    let read = exported(&trace_of(SCHED), &range(1_000_120_000, 1_000_260_000));
    let expected = [
        // The switch before the range, then that of the range; the last run ends after the range.
        (1_000_100_000, 1, 0, 0, 10),
        (1_000_200_000, 1, 10, 1, 11),
        (1_000_300_000, 1, 11, 2, 0),
    ];
    assert_eq!(switches(&read), expected);
}

#[test]
fn a_chosen_thread_runs_alone() {
    let loaded = trace_of(SCHED);
    let selection = Selection {
        threads: vec![thread(&loaded, 11)],
        ..Selection::all()
    };
    let read = exported(&loaded, &selection);
    let expected = [(1_000_200_000, 1, 0, 0, 11), (1_000_300_000, 1, 11, 2, 0)];
    assert_eq!(switches(&read), expected);
    // Its wakeup is an event of another thread.
    let woken: Vec<u64> = events(&read)
        .iter()
        .filter(|event| event.kind == WAKING)
        .map(|event| number(&event.fields, ftrace_event::TIMESTAMP))
        .collect();
    assert_eq!(woken, [1_000_150_000]);
}

#[test]
fn interrupts_are_not_written_twice_but_probes_have_slices() {
    let loaded = trace_of(
        "\
             cat-10      [000] d.h1.     1.000100: irq_handler_entry: irq=1 name=i8042
             cat-10      [000] d.h1.     1.000110: irq_handler_exit: irq=1 ret=handled
             cat-10      [000] d..1.     1.000120: contention_begin: (lock_addr=0x10 flags=READ)
             cat-10      [000] d..1.     1.000130: contention_end: lock_addr=0x10 ret=0
",
    );
    assert_eq!(loaded.trace.slices.len(), 2);
    let read = exported(&loaded, &Selection::all());
    let kinds: Vec<u32> = events(&read).iter().map(|event| event.kind).collect();
    assert_eq!(&kinds[..2], [36, 37]);
    assert_eq!(kinds.len(), 4);
    assert_eq!(read.messages(packet::TRACK_EVENT).len(), 2);
    assert_eq!(read.summary.count_of("slices"), 1);
    // The whole interrupt is written, though its ends are out of the range.
    let read = exported(&loaded, &range(1_000_105_000, 1_000_106_000));
    let times: Vec<u64> = events(&read)
        .iter()
        .map(|event| number(&event.fields, ftrace_event::TIMESTAMP))
        .collect();
    assert_eq!(times, [1_000_100_000, 1_000_110_000]);
}

#[test]
fn begins_of_which_no_end_was_recorded_are_described() {
    let loaded = trace_of(
        "\
             cat-10      [000] d..1.     1.000100: sys_enter: NR 0 (3, 7ffd, 20, 0, 0, 0)
             cat-10      [000] d..1.     1.000110: sys_enter: NR 1 (3, 7ffd, 20, 0, 0, 0)
",
    );
    let read = exported(&loaded, &Selection::all());
    let events = events(&read);
    assert_eq!(events.len(), 2);
    assert!(events.iter().all(|event| event.kind != SYS_ENTER));
}

#[test]
fn lost_events_are_said_before_the_next_event() {
    let loaded = trace_of(
        "\
             cat-10      [001] d..1.     1.000100: sched_waking: comm=dd pid=11 prio=100 target_cpu=001
             cat-10      [000] d..1.     1.000105: sched_waking: comm=dd pid=11 prio=100 target_cpu=001
CPU:1 [LOST 12 EVENTS]
             cat-10      [001] d..1.     1.000110: sched_waking: comm=dd pid=11 prio=100 target_cpu=001
             cat-10      [001] d..1.     1.000120: sched_waking: comm=dd pid=11 prio=100 target_cpu=001
",
    );
    let read = exported(&loaded, &Selection::all());
    let bundles = read.messages(packet::FTRACE_EVENTS);
    let after: Vec<(u64, usize)> = bundles
        .iter()
        .filter(|(_, fields)| first(fields, bundle::LOST_EVENTS).is_some())
        .map(|(_, fields)| {
            let events = fields.iter().filter(|it| it.field == bundle::EVENT);
            (number(fields, bundle::CPU), events.count())
        })
        .collect();
    assert_eq!(after, [(1, 2)]);
    let lost: Vec<Vec<(u64, u64)>> = read
        .messages(packet::FTRACE_STATS)
        .iter()
        .map(|(_, stats)| {
            let cpus = stats
                .iter()
                .filter(|it| it.field == ftrace_stats::CPU_STATS);
            let cpus = cpus.map(|it| {
                let fields = fields_of(it.bytes());
                let overrun = number(&fields, ftrace_stats::OVERRUN);
                (number(&fields, ftrace_stats::CPU), overrun)
            });
            cpus.collect()
        })
        .collect();
    assert_eq!(lost, [vec![(0, 0), (1, 0)], vec![(0, 0), (1, 12)]]);
}

#[test]
fn a_run_whose_end_was_not_seen_has_no_switch_in_a_choice_of_cpus() {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces/function-graph.dat");
    let loaded = crate::load::open(&path, &crate::base::Job::default()).unwrap();
    let cpu = CpuId(0);
    let selection = Selection {
        cpus: vec![cpu],
        ..Selection::all()
    };
    let switches = switches(&exported(&loaded, &selection));
    let left: Vec<(u64, u64)> = switches
        .iter()
        .filter(|(_, _, from, ..)| *from != 0)
        .map(|&(time, _, from, ..)| (time, from))
        .collect();
    let trace = loaded.trace.as_ref();
    let runs = trace.runs.on(cpu).map(|row| trace.runs.get(RunId(row)));
    let runs: Vec<Run> = runs.collect();
    let ended = runs.iter().filter_map(|run| {
        let end = trace.run_end(run)?.0.cast_unsigned();
        Some((end, trace.thread(run.thread).tid))
    });
    let ended: Vec<(u64, u64)> = ended.collect();
    assert!(ended.len() < runs.iter().filter(|run| run.end.is_some()).count());
    assert_eq!(left, ended);
}

#[test]
fn runs_of_other_formats_are_task_states() {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces/syscalls-part.fxt");
    let loaded = crate::load::open(&path, &crate::base::Job::default()).unwrap();
    let read = exported(&loaded, &Selection::all());
    let running: Vec<(u64, u64, u64)> = read
        .messages(packet::GENERIC_TASK_STATE)
        .iter()
        .filter(|(_, state)| number(state, task_state::STATE) == u64::from(task_state::RUNNING))
        .map(|(packet, state)| {
            let cpu = number(state, task_state::CPU);
            (
                number(packet, packet::TIMESTAMP),
                cpu,
                number(state, task_state::TID),
            )
        })
        .filter(|&(_, _, tid)| tid != 0)
        .collect();
    let runs = &loaded.trace.runs;
    let expected: Vec<(u64, u64, u64)> = (0..runs.len() as u32)
        .map(|row| {
            let run = runs.get(RunId(row));
            let cpu = loaded.trace.cpus[run.cpu.0 as usize].number;
            let tid = loaded.trace.thread(run.thread).tid;
            (run.start.0.cast_unsigned(), u64::from(cpu), tid)
        })
        .collect();
    assert!(!expected.is_empty());
    assert_eq!(running, expected);
}

#[test]
fn each_of_two_kernels_is_a_machine() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.ftrace", "b.ftrace"].map(|name| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("# tracer: nop\n#\n{SCHED}")).unwrap();
        path
    });
    let job = crate::base::Job::default();
    let loaded = crate::load::together::open_together(&paths, &[], &[], &job, None).unwrap();
    let read = exported(&loaded, &Selection::all());
    assert_eq!(events(&read).len(), loaded.trace.events.len());
    assert!(read.messages(packet::GENERIC_TASK_STATE).is_empty());
    // Both machines have CPU 1, the same threads and the same switches.
    let of_machine = |machine: u64, kind: u32| {
        let messages = read.messages(kind).into_iter();
        let own = messages.filter(move |(packet, _)| {
            first(packet, packet::MACHINE_ID).map_or(0, ReadField::number) == machine
        });
        own.map(|(_, message)| message).collect::<Vec<_>>()
    };
    let bundles = |machine| {
        let events: usize = of_machine(machine, packet::FTRACE_EVENTS)
            .iter()
            .inspect(|fields| assert_eq!(number(fields, bundle::CPU), 1))
            .map(|fields| fields.iter().filter(|it| it.field == bundle::EVENT).count())
            .sum();
        events
    };
    assert_eq!((bundles(0), bundles(1)), (6, 6));
    assert_eq!(
        of_machine(0, packet::PROCESS_TREE),
        of_machine(1, packet::PROCESS_TREE)
    );
    assert_eq!(of_machine(1, packet::FTRACE_STATS).len(), 2);
    assert!(of_machine(0, packet::REMOTE_CLOCK_SYNC).is_empty());
    let sync = of_machine(1, packet::REMOTE_CLOCK_SYNC).concat();
    assert_eq!(sync.len(), 2);
    for both in &sync {
        let sides = fields_of(both.bytes());
        assert_eq!(sides.len(), 2);
        assert_eq!(sides[0].bytes(), sides[1].bytes());
    }
    let note = "b.ftrace is another machine in Perfetto, number 1";
    assert!(read.summary.notes.iter().any(|it| it == note));
}

const BIRTHS: &str = "\
              sh-10      [000] d..2.     1.000100: task_newtask: pid=11 comm=sh clone_flags=1200011 oom_score_adj=0
              sh-10      [000] d..2.     1.000105: sched_process_fork: comm=sh pid=10 child_comm=sh child_pid=11
              sh-10      [000] d..2.     1.000110: task_newtask: pid=12 comm=sh clone_flags=1200011 oom_score_adj=0
              sh-10      [000] d..2.     1.000120: sched_switch: prev_comm=sh prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=sh next_pid=11 next_prio=120
              sh-11      [000] d..2.     1.000130: sched_waking: comm=sh pid=10 prio=120 target_cpu=001
              sh-11      [000] d..2.     1.000140: sched_waking: comm=sh pid=11 prio=120 target_cpu=000
          <idle>-0       [001] d..2.     1.000150: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sh next_pid=12 next_prio=120
              sh-12      [001] d..2.     1.000160: sched_switch: prev_comm=sh prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
              sh-11      [000] d..2.     1.000170: sched_switch: prev_comm=sh prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
";

/// The numbers of the threads in the process tree.
fn threads_in_tree(read: &Read) -> Vec<u64> {
    let trees = read.messages(packet::PROCESS_TREE);
    let entries = trees.iter().flat_map(|(_, tree)| tree);
    let threads = entries.filter(|it| it.field == process_tree::THREADS);
    let mut found: Vec<u64> = threads
        .map(|it| number(&fields_of(it.bytes()), process_tree::TID))
        .collect();
    found.sort_unstable();
    found
}

/// The number of the thread in each message of this kind.
fn subjects(read: &Read, kind: u32, field: u32) -> Vec<u64> {
    let events = events(read).into_iter();
    let own = events.filter(|event| event.kind == kind);
    own.map(|event| number(&event.message, field)).collect()
}

#[test]
fn a_thread_is_in_the_process_tree_unless_its_birth_is_written() {
    let loaded = trace_of(BIRTHS);
    let whole = exported(&loaded, &Selection::all());
    assert_eq!(subjects(&whole, NEWTASK, 1), [11, 12]);
    assert_eq!(threads_in_tree(&whole), [10]);
    // The births are events of the parent, which is not chosen.
    let child = exported(
        &loaded,
        &Selection {
            threads: vec![thread(&loaded, 11)],
            ..Selection::all()
        },
    );
    assert!(subjects(&child, NEWTASK, 1).is_empty());
    assert_eq!(threads_in_tree(&child), [11]);
    let both = exported(
        &loaded,
        &Selection {
            threads: vec![thread(&loaded, 10), thread(&loaded, 11)],
            ..Selection::all()
        },
    );
    assert_eq!(subjects(&both, NEWTASK, 1), [11]);
    assert_eq!(threads_in_tree(&both), [10]);
    // On CPU 1, thread 12 runs; the births happen on CPU 0.
    let cpu = exported(
        &loaded,
        &Selection {
            cpus: vec![CpuId(1)],
            ..Selection::all()
        },
    );
    assert_eq!(threads_in_tree(&cpu), [10, 11, 12]);
}

#[test]
fn threads_that_are_not_chosen_get_no_states_from_chosen_ones() {
    let loaded = trace_of(BIRTHS);
    let selection = Selection {
        threads: vec![thread(&loaded, 10), thread(&loaded, 11)],
        ..Selection::all()
    };
    let read = exported(&loaded, &selection);
    assert_eq!(subjects(&read, WAKING, 2), [10, 11]);
    let only = Selection {
        threads: vec![thread(&loaded, 11)],
        ..Selection::all()
    };
    let read = exported(&loaded, &only);
    assert_eq!(subjects(&read, WAKING, 2), [11]);
    // The other events are written with their names, without a message of their own.
    let parent = Selection {
        threads: vec![thread(&loaded, 10)],
        ..Selection::all()
    };
    for (selection, expected) in [
        (&only, &["sched_waking"][..]),
        (&parent, &["task_newtask", "task_newtask"]),
    ] {
        let read = exported(&loaded, selection);
        let named: Vec<String> = events(&read)
            .iter()
            .filter(|event| event.kind == ftrace_event::GENERIC)
            .map(|event| text(&event.message, ftrace_event::GENERIC_NAME))
            .collect();
        assert_eq!(named, expected);
    }
}

fn sample(name: &str) -> LoadedTrace {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces");
    crate::load::open(&folder.join(name), &Job::default()).unwrap()
}

/// The numbers of the states in which threads left their CPUs.
fn left_states(loaded: &LoadedTrace) -> Vec<u64> {
    let read = exported(loaded, &Selection::all());
    let mut states = subjects(&read, SWITCH, 4);
    states.sort_unstable();
    states.dedup();
    states
}

#[test]
fn thread_states_have_the_numbers_that_a_reader_assumes() {
    let mut loaded = sample("kprobe-hackbench.dat");
    // Linux 6.1: 128 is `I`, 256 is `R+`.
    assert_eq!(left_states(&loaded), [0, 1, 32, 128, 256]);
    // The same file without the kernel's version: a reader assumes Linux 4.4.
    let trace: &mut Trace = Arc::make_mut(&mut loaded.trace);
    trace.info.uname = None;
    assert_eq!(left_states(&loaded), [0, 1, 32, 1026, 2048]);
}

#[test]
fn accounted_requests_are_described_if_a_reader_would_end_them_elsewhere() {
    // The flush that belongs to a request is done before the request.
    let loaded = sample("block-ext4.dat");
    let read = exported(&loaded, &Selection::all());
    let is_typed = |event: &Event| [IO_START, IO_DONE].contains(&event.kind);
    assert!(!events(&read).iter().any(is_typed));
    let names: Vec<String> = read
        .messages(packet::TRACK_DESCRIPTOR)
        .iter()
        .filter(|(_, fields)| first(fields, track::NAME).is_some())
        .map(|(_, fields)| text(fields, track::NAME))
        .collect();
    let has = |start: &str| names.iter().any(|name| name.starts_with(start));
    assert!(has("block accounting"), "{names:?}");
}
