use super::*;
use crate::event::{EndState, Life, MarkOp, SeriesScope};

fn open(text: &str) -> (FtraceReader, Vec<LaneColumns>) {
    let job = Job::default();
    let input = Input::from_vec(text.as_bytes().to_vec(), "trace");
    let reader = FtraceReader::open(input, &job).unwrap();
    let parts = (0..reader.parts().len() as u32)
        .map(|part| reader.read_part(part, &job).unwrap())
        .collect();
    (reader, parts)
}

fn describe(reader: &FtraceReader, columns: &LaneColumns, event: u32) -> EventDetail {
    let row = columns.events.row(event);
    reader.describe(EventRef {
        part: 0,
        place: row.place,
        time: row.time,
        kind: row.kind,
        thread: row.thread,
    })
}

#[test]
fn a_seed_kprobe_pair_has_equal_keys_and_its_functions_name() {
    let (reader, parts) = open(
        "            bash-96      [001] .....    69.626109: myprobe: (do_sys_open+0x0/0xd6) dfd=3 filename=7fffd1ec4440 flags=8000 mode=0\n            \
         bash-96      [001] .....    69.626458: myretprobe: (sys_openat+0xc/0xe <- do_sys_open) $retval=fffffffffffffffe\n",
    );
    let lane = &parts[0];
    assert_eq!(lane.marks.len(), 2);
    let (begin, end) = (lane.marks[0], lane.marks[1]);
    assert_eq!((begin.op(), end.op()), (MarkOp::Begin, MarkOp::End));
    let labels = [begin, end].map(|mark| lane.labels[mark.label() as usize]);
    assert_eq!(labels[0].key, labels[1].key);
    assert_eq!(labels[0].family, crate::event::pairs::KPROBES);
    assert_eq!(lane.strings.bytes(labels[0].name), b"do_sys_open");
    let detail = describe(&reader, lane, 1);
    assert_eq!(detail.name, "myretprobe");
    assert_eq!(detail.fields[1].text(), "do_sys_open");
    assert_eq!(detail.fields[2].name, "$retval");
}

#[test]
fn switches_wakeups_and_losses_lie_on_their_cpus() {
    let (_, parts) = open(
        "   bash-1 [000] d..2. 1.000001: sched_switch: prev_comm=bash prev_pid=1 prev_prio=120 prev_state=R+ ==> next_comm=sh next_pid=2 next_prio=98\n   \
         sh-2 [000] d..2. 1.000002: sched_wakeup: comm=cat pid=3 prio=120 target_cpu=001\nCPU:1 [LOST 45 EVENTS]\n   \
         cat-3 (   77) [001] d..2. 1.000003: sched_process_exit: comm=cat pid=3 prio=120\n",
    );
    assert_eq!(parts.len(), 2);
    let switch = parts[0].switches[0];
    assert_eq!((switch.prev.0, switch.next.0), (1, 2));
    assert_eq!(switch.prev_state, EndState::Preempted);
    assert_eq!((switch.prev_priority, switch.next_priority), (120, 98));
    let wakeup = parts[0].wakeups[0];
    assert_eq!(
        (wakeup.thread.0, wakeup.waker.0, wakeup.target_cpu),
        (3, 2, 1)
    );
    assert_eq!(parts[1].gaps[0].lost, Some(45));
    assert!(
        parts[1]
            .lives
            .iter()
            .any(|row| matches!(row.life, Life::Exit { .. }))
    );
    assert!(parts[1].lives.iter().any(|row| row.life
        == Life::Member {
            thread: ThreadKey(3),
            leader: ThreadKey(77)
        }));
}

#[test]
fn atrace_marks_are_slices_and_counters() {
    let (_, parts) = open(
        "   app-9 [000] ...1. 1.1: tracing_mark_write: B|9|draw frame\n   app-9 [000] ...1. 1.2: tracing_mark_write: C|9|mem|42\n   \
         app-9 [000] ...1. 1.3: tracing_mark_write: E\n   app-9 [000] ...1. 1.4: tracing_mark_write: S|9|load|7\n   \
         app-9 [000] ...1. 1.5: tracing_mark_write: hello world\n",
    );
    let lane = &parts[0];
    assert_eq!(lane.marks.len(), 2);
    let name = lane.labels[lane.marks[0].label() as usize].name;
    assert_eq!(lane.strings.bytes(name), b"draw frame");
    assert_eq!(lane.samples[0].value, 42.0);
    assert_eq!(lane.series[0].scope, SeriesScope::Thread(ThreadKey(9)));
    assert_eq!(lane.asyncs.len(), 1);
    assert_eq!(lane.events.len(), 5);
}

#[test]
fn graph_text_has_durations_with_and_without_times() {
    let (_, parts) = open(
        "# tracer: function_graph\n#\n# CPU  DURATION                  FUNCTION CALLS\n# |     |   |                     |   |   |   |\n 0)               |  vfs_read() {\n 0)   0.500 us    |    rw_verify();\n 0)   2.000 us    |  }\n ------------------------------------------\n 0)  bash-96      =>   sh-97  \n ------------------------------------------\n 0)   1.000 us    |  f();\n",
    );
    let lane = &parts[0];
    assert_eq!((lane.marks.len(), lane.completes.len()), (2, 2));
    let time = |mark: crate::event::Mark| lane.events.time(mark.event).0;
    assert_eq!(time(lane.marks[1]) - time(lane.marks[0]), 2000);
    assert_eq!(lane.completes[0].duration_ns, 500);
    assert_eq!(lane.events.thread(lane.completes[1].event), ThreadKey(97));
    assert_eq!(lane.diagnostics.count_of("unknown_line"), 0);
}

#[test]
fn odd_lines_are_kept_and_counted() {
    let (reader, parts) = open(
        "   app-9 [000] ...1. 1.1: foo: a=1\r\nwhat is this\n\x00\x01\n   app-9 [000] ...1. 1.2: <stack trace>\n => f\n => g\n",
    );
    let lane = &parts[0];
    assert_eq!(lane.events.len(), 4);
    assert_eq!(lane.diagnostics.count_of("unknown_line"), 2);
    assert_eq!(
        lane.diagnostics.rows()[0].places[0],
        crate::base::Location::Line(2)
    );
    assert_eq!(describe(&reader, lane, 1).text, "what is this");
    assert_eq!(describe(&reader, lane, 3).stack, ["f", "g"]);
    assert_eq!(describe(&reader, lane, 0).fields[1].text(), "1");
}

#[test]
fn bare_clocks_claim_no_seconds() {
    let (reader, _) = open("   a-9 [000]           2: x: y\n   a-9 [000]           3: x: y\n");
    assert_eq!(reader.info().clock_unit, ClockUnit::Order);
    let (reader, _) = open("   a-9 [000]4631252878692: x: y\n   a-9 [000]4631252979692: x: y\n");
    assert_eq!(reader.info().clock_unit, ClockUnit::Cycles);
}
