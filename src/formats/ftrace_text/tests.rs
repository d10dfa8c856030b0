use super::facts::Layout;
use super::reader::FtraceReader;
use crate::base::Job;
use crate::event::part::ClockUnit;
use crate::event::{
    EventDetail, LaneColumns, Life, MarkOp, MeasuredEnd, SeriesScope, ThreadKey, ThreadState,
};
use crate::formats::{AnyStream, EventRef, Events, Input};

fn open(text: &str) -> (FtraceReader, Vec<LaneColumns>) {
    let job = Job::default();
    let input = Input::from_vec(text.as_bytes().to_vec(), "trace");
    let reader = FtraceReader::open(input, &Job::default()).unwrap();
    let parts = reader.read_all(1, &job, &mut |_| {}).unwrap().parts;
    (reader, parts.into_iter().map(|part| part.columns).collect())
}

fn describe(reader: &dyn Events, columns: &LaneColumns, event: u32) -> EventDetail {
    let row = columns.events.row(event);
    reader.describe(EventRef::new(0, row))
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
    let labels = [begin, end].map(|mark| lane.labels.get(mark.label() as usize).unwrap());
    assert_eq!(labels[0].key, labels[1].key);
    assert_eq!(labels[0].family, crate::event::family::Family::Kprobes);
    assert_eq!(lane.strings.bytes(labels[0].name), b"do_sys_open");
    let detail = describe(&reader, lane, 1);
    assert_eq!(detail.name, "myretprobe");
    let fields: Vec<_> = detail
        .fields
        .iter()
        .map(|it| (&*it.name, it.text()))
        .collect();
    let of_columns = ["common_flags", "common_preempt_count", "common_pid"];
    assert_eq!(
        fields.iter().map(|it| it.0).take(3).collect::<Vec<_>>(),
        of_columns
    );
    assert_eq!(fields[3], ("__probe_func", "do_sys_open".to_owned()));
    assert_eq!(
        fields[4],
        ("__probe_ret_ip", "sys_openat+0xc/0xe".to_owned())
    );
    assert_eq!(fields[5].0, "$retval");
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
    assert_eq!(switch.prev_state, ThreadState::Preempted);
    assert_eq!((switch.prev_priority, switch.next_priority), (120, 98));
    let wakeup = parts[0].wakeups[0];
    assert_eq!(
        (wakeup.thread, wakeup.waker.get(), wakeup.target_cpu.get()),
        (ThreadKey(3), Some(ThreadKey(2)), Some(1))
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
    let name = lane
        .labels
        .get(lane.marks[0].label() as usize)
        .unwrap()
        .name;
    assert_eq!(lane.strings.bytes(name), b"draw frame");
    assert_eq!(lane.samples[0].value, 42.0);
    assert_eq!(lane.series[0].scope, SeriesScope::Thread(ThreadKey(9)));
    assert_eq!(lane.asyncs.len(), 1);
    assert_eq!(lane.events.len(), 5);
}

/// Returns the measured durations: (event, whether the call is a single event, ns).
fn measured(lane: &LaneColumns) -> Vec<(u32, bool, i64)> {
    let rows = lane.measured.iter();
    rows.map(|row| {
        (
            row.event,
            row.end() == MeasuredEnd::OneEvent,
            row.duration_ns,
        )
    })
    .collect()
}

#[test]
fn graph_text_has_durations_with_and_without_times() {
    let (_, parts) = open(
        "# tracer: function_graph\n#\n# CPU  DURATION                  FUNCTION CALLS\n# |     |   |                     |   |   |   |\n 0)               |  vfs_read() {\n 0)   0.500 us    |    rw_verify();\n 0)   2.000 us    |  }\n ------------------------------------------\n 0)  bash-96      =>   sh-97  \n ------------------------------------------\n 0)   1.000 us    |  f();\n",
    );
    let lane = &parts[0];
    // The line of a leaf is a begin and an end.
    let marks: Vec<(u32, bool)> = (lane.marks.iter())
        .map(|mark| (mark.event, mark.op() == MarkOp::Begin))
        .collect();
    assert_eq!(
        marks,
        [
            (0, true),
            (1, true),
            (1, false),
            (2, false),
            (3, true),
            (3, false)
        ]
    );
    assert_eq!(lane.completes.len(), 0);
    assert_eq!(lane.events.time(2).0 - lane.events.time(0).0, 2000);
    let measured = measured(lane);
    assert_eq!(
        measured,
        [(1, true, 500), (2, false, 2000), (3, true, 1000)]
    );
    assert_eq!(lane.events.thread(3), Some(ThreadKey(97)));
    assert_eq!(lane.diagnostics.count_of("unknown_line"), 0);
}

#[test]
fn events_in_a_graph_s_comments_mean_what_they_mean_elsewhere() {
    let (reader, parts) = open(
        "# tracer: function_graph\n 0)  bash-96      =>   sh-97  \n \
         0)               |  f() {\n \
         0)   ==========> |\n \
         0)               |    /* sched_switch: prev_comm=sh prev_pid=97 prev_prio=120 prev_state=S ==> next_comm=x next_pid=9 next_prio=98 */\n\
         CPU:0 [LOST 5 EVENTS]\n \
         0)               |    /* hello */\n \
         0)   2.000 us    |  } /* f = 0x3 */\n",
    );
    let lane = &parts[0];
    assert_eq!(lane.switches[0].next, ThreadKey(9));
    assert_eq!(lane.gaps[0].lost, Some(5));
    assert_eq!((lane.events.len(), lane.marks.len()), (5, 2));
    let said: Vec<String> = lane
        .diagnostics
        .rows()
        .iter()
        .map(|row| format!("{} {}", row.code, row.count))
        .collect();
    assert_eq!(said, ["lost_events 5"]);
    assert_eq!(describe(&reader, lane, 2).fields[4].text(), "x");
}

#[test]
fn graphs_without_durations_or_cpus_are_read() {
    let (_, parts) = open("# tracer: function_graph\n#\n 0)  f() {\n 0)    g();\n 0)  } /* f */\n");
    assert_eq!((parts[0].marks.len(), parts[0].completes.len()), (4, 0));
    assert_eq!(measured(&parts[0]), []);
    assert_eq!(parts[0].diagnostics.rows().len(), 0);
    let (_, parts) = open(
        "# tracer: function_graph\n#\n               |  f() {\n   0.500 us    |    g();\n   1.500 us    |  }\n",
    );
    assert_eq!((parts[0].marks.len(), parts[0].completes.len()), (4, 0));
    assert_eq!(measured(&parts[0]), [(1, true, 500), (2, false, 1500)]);
    let (reader, parts) = open(
        "# tracer: irqsoff\n#\n# irqsoff latency trace v1.1.5 on 6.1\n        0 us |   0)   <idle>-0    |  d..1  |   0.500 us    |  g();\n       12 us |   0)   <idle>-0    |  d..1  |   0.500 us    |  g();\n",
    );
    assert_eq!(reader.facts.layout, Layout::Graph);
    assert_eq!(parts[0].events.time(1).0, 12_000);
}

#[test]
fn raw_fields_feed_the_same_pairs_and_runs() {
    let (_, parts) = open(
        "   a-9 [000] ..... 1.000001: sys_enter: id=0x3b (59) args=<INVALID-SIZE>\n   a-9 [000] ..... 1.000005: sys_exit: id=0x3b (59) ret=0x0 (0)\n   \
         a-9 [000] d..2. 1.000006: sched_switch: prev_comm=a prev_pid=0x9 (9) prev_prio=0x78 (120) prev_state=0x2 (2) next_comm=b next_pid=0x7 (7) next_prio=0x78 (120)\n",
    );
    let lane = &parts[0];
    assert_eq!(lane.marks.len(), 2);
    let labels = [0, 1].map(|at: usize| {
        lane.labels
            .get(lane.marks[at].label() as usize)
            .unwrap()
            .key
    });
    assert_eq!(labels, [59, 59]);
    assert_eq!(lane.switches[0].next, ThreadKey(7));
    assert_eq!(
        lane.switches[0].prev_state,
        crate::event::ThreadState::Uninterruptible
    );
    assert_eq!(lane.diagnostics.rows().len(), 1);
    assert_eq!(lane.diagnostics.count_of("unsaid_machine"), 1);
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
    assert_eq!(reader.info.clock_unit, ClockUnit::Order);
    let (reader, _) = open("   a-9 [000]4631252878692: x: y\n   a-9 [000]4631252979692: x: y\n");
    assert_eq!(reader.info.clock_unit, ClockUnit::Cycles);
}

#[test]
fn clocks_and_lines_without_columns_are_said() {
    let (reader, _) = open(
        "            sh-22046   [001] .....         3895: sys_exit: NR 1 = 2\n            sh-22046   [001] .....         3896: sys_exit: NR 2 = 2\n",
    );
    assert_eq!(reader.info.clock_unit, ClockUnit::Order);
    assert_eq!(
        reader.info.clock,
        "bare numbers, in the order of the events"
    );
    let (reader, _) = open(
        "            sh-22046   [001] ..... 95191326428448: x: y\n            sh-22046   [001] ..... 95191326432660: x: y\n",
    );
    assert_eq!(reader.info.clock_unit, ClockUnit::Cycles);
    let (reader, _) = open(
        "# tracer: nop\n#\n# nop latency trace v1.1.5 on 6.18.44\n      sh-22046     0..... 8183us : sys_exit: NR 1 = 2\n",
    );
    assert_eq!(reader.info.clock, "since the report's first event");
    let odd = |reader: &FtraceReader| reader.whole_diagnostics(reader.whole.get().unwrap());
    assert_eq!(odd(&reader).rows().len(), 0);
    // The kernel's output with the options raw, hex and nocontext-info.
    for text in [
        "# tracer: nop\n#\n22046 0 36665302811946 type: 442\n",
        "# tracer: nop\n#\n0000561e 00000000 00002158d35b5a2e type: 442\n\n",
        "# tracer: nop\n#\nsys_exit: NR 1 = 2\n",
    ] {
        let (reader, parts) = open(text);
        assert_eq!(odd(&reader).rows()[0].code, "no_columns", "{text}");
        assert_eq!(parts[0].diagnostics.count_of("unknown_line"), 1, "{text}");
        assert_eq!(parts[0].events.len(), 1, "kept as an instant");
    }
}

#[test]
fn a_function_whose_entry_lies_behind_its_first_instruction_is_paired() {
    let (_, parts) = open(
        "             cat-10      [001] ...1.    69.1: in: (vfs_read+0x4/0x330) count=100\n             \
         cat-10      [001] ...1.    69.2: mid: (vfs_read+0x5/0x330) ax=1\n             \
         cat-10      [001] ...1.    69.3: out: (ksys_read+0x6b/0xf0 <- vfs_read) ret=100\n",
    );
    let lane = &parts[0];
    let label = |at: usize| lane.labels.get(lane.marks[at].label() as usize).unwrap();
    assert_eq!(lane.strings.bytes(label(0).name), b"vfs_read");
    assert_eq!(label(0).key, label(2).key);
    assert_ne!(label(0).key, label(1).key);
}

#[test]
fn the_quotes_of_a_string_are_none_of_it() {
    let (reader, parts) = open(concat!(
        "  cat-12 [000] d..1. 1.000001: e1: (foo+0x0/0x100) s=\"ab c=d\" n=\"12\" p=3\n",
        "  cat-12 [000] d..1. 1.000002: e1: (foo+0x0/0x100) s=\"\" n=\"x p=4\n",
    ));
    let shown = |event: u32| -> Vec<(String, String)> {
        let fields = describe(&reader, &parts[0], event).fields;
        let wanted = fields
            .into_iter()
            .filter(|field| ["s", "n", "p"].contains(&field.name.as_str()));
        wanted.map(|field| (field.name, field.shown)).collect()
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        shown(0),
        [pair("s", "ab c=d"), pair("n", "12"), pair("p", "3")]
    );
    let fields = describe(&reader, &parts[0], 0).fields;
    let number = fields
        .iter()
        .find(|field| field.name == "n")
        .map(|field| field.value.clone());
    assert_eq!(number, Some(crate::event::Value::Text("12".to_owned())));
    // An unpaired quote is kept unchanged.
    assert!(shown(1).contains(&pair("s", "")));
    assert!(
        shown(1)
            .iter()
            .any(|(name, value)| name == "n" && value.starts_with('"'))
    );
}
