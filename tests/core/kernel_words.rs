//! What events of the kernel say in words, flags and marks, told alike of a trace.dat and of the kernel's text.

use crate::files::Files;
use crate::program::{case, number, rows, stdout};

#[test]
fn a_preempted_thread_is_found_by_its_letters_in_trace_dat_and_text() {
    let recorded = case("tracedat/both-syscall-kinds.dat.zst");
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("report.txt");
    std::fs::write(&text, stdout(&["report", &recorded])).unwrap();
    let text = text.to_string_lossy().into_owned();
    let printed = std::fs::read_to_string(&text).unwrap();
    let found = |letters: &str, file: &str| {
        let question = format!("sched_switch: prev_state == \"{letters}\"");
        let hits = rows(&["search", &question, file]).len();
        let lines = stdout(&["report", "-F", &question, file]);
        assert_eq!(lines.matches(" ==> ").count(), hits, "{letters}");
        hits
    };
    // trace-cmd's text leaves out the `+`.
    let both = [found("R", &recorded), found("R+", &recorded)];
    assert!(both[0] > 5 && both[1] > 0, "{both:?}");
    for (letter, in_file) in [("R", both[0] + both[1]), ("S", found("S", &recorded))] {
        let expected = printed.matches(&format!("] {letter} ==> ")).count();
        assert_eq!([in_file, found(letter, &text)], [expected; 2], "{letter}");
    }
}

/// Named system calls print what they returned as the bits of a long.
#[test]
fn errors_of_named_system_calls_are_counted_in_text() {
    let call = |at: u32, result: &str| {
        format!(
            "             cat-22    [000] .....   100.00{at}001: sys_openat(dfd: 0xffffff9c, filename: 0x7ffe0000, flags: 0x0, mode: 0x0)\n             cat-22    [000] .....   100.00{at}011: sys_openat -> {result}\n"
        )
    };
    let text = [
        "# tracer: nop\n#\n",
        &call(1, "0xfffffffffffffffe"),
        &call(2, "0xfffffffe"),
        &call(3, "0x7ffff7fc1000"),
        &call(4, "0xf7fc1000"),
        &call(5, "0x3"),
    ]
    .concat();
    let files = Files::new(&[("a.txt", &text)]);
    let calls = files.table(&["syscalls", "a.txt"]);
    assert_eq!(
        (&calls[0]["calls"], &calls[0]["errors"]),
        (&5.into(), &2.into())
    );
    let failed = files.text(&["search", "ret < 0", "a.txt"]);
    assert_eq!(failed.lines().count(), 3, "{failed}");
    // The same of the report of a trace.dat.
    let recorded = case("tracedat/both-syscall-kinds.dat.zst");
    let report = files.0.path().join("report.txt");
    std::fs::write(&report, stdout(&["report", &recorded])).unwrap();
    let errors = |file: &str| -> (i64, i64) {
        let all = rows(&["table", "syscalls", file]);
        let sum = |name: &str| all.iter().map(|row| number(row, name)).sum();
        (sum("calls"), sum("errors"))
    };
    let of_recorded = errors(&recorded);
    assert!(of_recorded.1 > 0, "{of_recorded:?}");
    assert_eq!(errors(report.to_str().unwrap()), of_recorded);
}

#[test]
fn a_word_that_is_no_field_is_a_text_in_filters_of_texts() {
    let switch = |state: &str, next: &str| {
        format!(
            "             foo-50    [001] d..2.   100.000000: sched_switch: prev_comm=foo prev_pid=50 prev_prio=120 prev_state={state} ==> next_comm={next} next_pid=51 next_prio=120\n"
        )
    };
    let text = [
        "# tracer: nop\n#\n",
        &switch("R", "sleep"),
        &switch("R+", "foo"),
    ]
    .concat();
    let files = Files::new(&[("a.txt", &text)]);
    for (filter, expected) in [
        ("next_comm == sleep", 1),
        ("next_comm != sleep", 1),
        ("prev_state == R", 1),
        ("COMM == foo", 2),
        ("prev_prio == next_prio", 2),
        ("prev_pid < next_pid", 2),
        ("next_comm == sleep || prev_prio < 100", 1),
    ] {
        let filter = &format!("sched_switch: {filter}");
        let lines = files.text(&["report", "-F", filter, "a.txt"]);
        assert_eq!(lines.matches("sched_switch").count(), expected, "{filter}");
    }
}

#[test]
fn callbacks_that_go_on_on_another_cpu_are_one_slice() {
    let text = "\
# tracer: nop
#
         python3-27060   [000] ..... 13359.736333: cpuhp_enter: cpu: 0001 target: 236 step:  83 (cpuhp_bringup_ap)
         python3-27060   [001] ..... 13359.740312: cpuhp_exit:  cpu: 0001  state: 236 step:  83 ret: 0
";
    let files = Files::new(&[("a.txt", text)]);
    let slices = files.table(&["slices", "a.txt"]);
    let told: Vec<_> = slices.iter().map(|row| row["dur"].as_i64()).collect();
    assert_eq!(told, [Some(3_979_000)]);
}

/// `CLONE_PARENT`: the child's parent is that of the process that made it.
#[test]
fn a_sibling_has_its_makers_parent() {
    let text = "\
# tracer: nop
#
            main-66   [000] .....  5.000100: sched_process_fork: comm=main pid=66 child_comm=main child_pid=78
            cpar-78   [000] .....  5.000480: task_newtask: pid=79 comm=cpar clone_flags=8000 oom_score_adj=0
            cpar-78   [000] .....  5.000482: sched_process_fork: comm=cpar pid=78 child_comm=cpar child_pid=79
            cpar-78   [000] .....  5.000654: sched_process_exit: comm=cpar pid=78 prio=120 group_dead=true
         sibling-79   [000] .....  5.000752: task_rename: pid=79 oldcomm=cpar newcomm=sibling oom_score_adj=0
";
    let strace = "\
66 5.000100 clone(child_stack=NULL, flags=SIGCHLD) = 78
78 5.000480 clone(child_stack=NULL, flags=CLONE_PARENT|SIGCHLD) = 79
79 5.000700 getpid() = 79
";
    let files = Files::new(&[("a.txt", text), ("a.strace", strace)]);
    let _written = files.text(&["export", "a.txt", "-o", "a.fxt"]);
    for file in ["a.txt", "a.strace", "a.fxt"] {
        let all = files.table(&["processes", file]);
        let of = |pid: u64| all.iter().find(|row| row["pid"] == pid).unwrap();
        assert_eq!(of(79)["parent_id"], of(66)["id"], "{file}: {all:?}");
        assert_eq!(of(78)["parent_id"], of(66)["id"], "{file}: {all:?}");
    }
}

#[test]
fn counters_of_marks_are_whole_and_may_have_a_category() {
    let mark = |at: u32, mark: &str| {
        format!("          chrome-9  [000] .....   100.00{at}000: tracing_mark_write: {mark}\n")
    };
    let text = [
        "# tracer: nop\n#\n".to_owned(),
        mark(1, "C|9|disk|4096|Blob"),
        mark(2, "C|9|large|9007199254740993"),
        mark(3, "C|9|large|-9223372036854775807"),
        mark(4, "C|9|none|nan"),
        mark(5, "B|9|outer"),
        mark(6, "E|"),
        mark(7, "B|9|second"),
        mark(8, "E"),
    ];
    let files = Files::new(&[("a.txt", &text.concat())]);
    let samples = files.table(&["counters", "a.txt"]);
    let told: Vec<String> = (samples.iter())
        .map(|row| format!("{} {} {}", row["track"], row["value"], row["exact"]))
        .collect();
    assert!(
        told[0].contains("disk") && told[0].contains("4096"),
        "{told:?}"
    );
    assert!(told[1].contains("9007199254740993"), "{told:?}");
    assert!(told[2].contains("-9223372036854775807"), "{told:?}");
    let slices = files.table(&["slices", "a.txt"]);
    let slices: Vec<_> = (slices.iter())
        .map(|row| (row["dur"].as_i64(), row["depth"].as_i64()))
        .collect();
    assert_eq!(slices, [(Some(1_000_000), Some(0)); 2]);
    // A counter without a number has no least and no greatest value.
    let sums = files.text(&["stats", "--of", "counters", "a.txt"]);
    assert!(!sums.contains("inf"), "{sums}");
}

#[test]
fn sums_of_a_process_contain_its_asynchronous_slices_and_counters() {
    let file = format!(
        "{}/sample-traces/node-workers.json.gz",
        env!("CARGO_MANIFEST_DIR")
    );
    let count = |arguments: &[&str]| -> i64 {
        let all = rows(&[arguments, &[file.as_str()]].concat());
        all.iter().map(|row| number(row, "count")).sum()
    };
    let slices = rows(&["table", "slices", &file]);
    assert_eq!(count(&["stats", "--process", "8134"]), slices.len() as i64);
    let of_thread = slices.iter().filter(|row| row["tid"] == "8134").count();
    assert_eq!(count(&["stats", "--thread", "8134"]), of_thread as i64);
    let both = ["stats", "--process", "8134", "--thread", "8134"];
    assert_eq!(count(&both), slices.len() as i64);
    assert!(count(&["stats", "--kind", "asynchronous", "--process", "8134"]) > 100);
    let fxt = format!("{}/sample-traces/compress.fxt", env!("CARGO_MANIFEST_DIR"));
    let process = rows(&["table", "processes", &fxt])[0]["pid"].clone();
    let of_all = rows(&["stats", "--of", "counters", &fxt]).len();
    let of_process = rows(&["stats", "--of", "counters", "--process", &process, &fxt]).len();
    assert!(of_all > 0 && of_process == of_all, "{of_all} {of_process}");
}

/// The file's order counts, also at one time.
#[test]
fn pairs_of_events_of_one_time_are_those_of_the_file() {
    let line =
        |at: &str, event: &str| format!("             app-10    [000] d.h.. {at}: {event}\n");
    let entry = |at: &str| line(at, "irq_handler_entry: irq=9 name=x");
    let exit = |at: &str| line(at, "irq_handler_exit: irq=9 ret=handled");
    let text = [
        "# tracer: nop\n#\n".to_owned(),
        entry("  5.000001"),
        exit("  5.000001"),
        entry("  5.500000"),
        exit("  5.500000"),
        entry("  5.700000"),
        exit("  5.700002"),
    ];
    let files = Files::new(&[("a.txt", &text.concat())]);
    let ends = ["--begin", "irq_handler_entry", "--end", "irq_handler_exit"];
    let worst = files.text(&[&["latency"], &ends[..], &["--worst", "9", "a.txt"]].concat());
    let lengths: Vec<&str> = worst
        .lines()
        .skip(1)
        .map(|row| row.split('\t').nth(1).unwrap())
        .collect();
    assert_eq!(lengths, ["2000", "0", "0"], "{worst}");
}

#[test]
fn flame_graphs_of_a_thread_contain_its_asynchronous_slices() {
    let file = format!(
        "{}/sample-traces/node-workers.json.gz",
        env!("CARGO_MANIFEST_DIR")
    );
    for chosen in [["--thread", "8134"], ["--process", "8134"]] {
        let stats = rows(&[&["stats"], &chosen[..], &[file.as_str()]].concat());
        let flame = stdout(&[&["flame", "--as", "names"], &chosen[..], &[file.as_str()]].concat());
        for row in stats {
            let name = row["group"].as_str();
            assert!(
                flame.contains(name),
                "{chosen:?}: {name} is missing in {flame}"
            );
        }
    }
}

/// With the option `fields`, the kernel prints each field as a number, and what it means in brackets.
#[test]
fn fields_as_numbers_mean_what_their_words_mean() {
    let text = "# tracer: nop
#
            tree-5668    [001] .....  4447.851100: sys_enter_openat: __syscall_nr=0x101 (257) dfd=0xffffff9c (4294967196) filename=(0xffff88810c67701c) flags=0x0 (0) mode=0x0 (0)
            tree-5668    [001] .....  4447.851168: sys_exit_openat: __syscall_nr=0x101 (257) ret=0xfffffffffffffffe (-2)
            tree-5668    [001] .....  4447.851200: sched_process_exit: comm=tree pid=0x1624 (5668) prio=0x78 (120) group_dead=(1)
";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fields.ftrace");
    std::fs::write(&path, text).unwrap();
    let file = path.to_string_lossy().into_owned();
    let calls = rows(&["stats", "--of", "calls", &file]);
    let counts = ["calls", "errors", "returned"].map(|name| number(&calls[0], name));
    assert_eq!(counts, [1, 1, 1]);
    assert_eq!(
        rows(&[
            "search",
            "sys_exit_openat: ret == -2",
            "--in",
            "events",
            &file
        ])
        .len(),
        1
    );
    let processes = rows(&["table", "processes", &file]);
    assert_eq!(processes[0]["end"], "4447851200000");
}

/// A program's parent sees the low 8 bits of what the program passes to `exit_group`.
#[test]
fn a_process_ends_with_the_code_of_its_exit_group() {
    let line =
        |thread: &str, time: &str, body: &str| format!("{thread:>22} [000] ..... {time}: {body}\n");
    let fork =
        |child: u32| format!("sched_process_fork: comm=sh pid=10 child_comm=sh child_pid={child}");
    let exit = |pid: u32| format!("sched_process_exit: comm=sh pid={pid} prio=120");
    let text = [
        line("sh-10", "1.000001", &fork(11)),
        line("sh-10", "1.000002", &fork(12)),
        line("sh-10", "1.000003", &fork(13)),
        line("sh-10", "1.000004", &fork(14)),
        line("sh-11", "1.000011", "sys_exit_group(error_code: 1f)"),
        line("sh-11", "1.000012", &exit(11)),
        line(
            "sh-12",
            "1.000021",
            "sys_enter_exit_group: error_code: 0x00000103",
        ),
        line("sh-12", "1.000022", &exit(12)),
        line("sh-13", "1.000031", "sys_exit_group(error_code: 0)"),
        line("sh-13", "1.000032", &exit(13)),
        // Killed by a signal: the recording does not show by which.
        line("sh-14", "1.000042", &exit(14)),
    ];
    let files = Files::new(&[("exits.txt", &text.concat())]);
    let processes = files.table(&["processes", "exits.txt"]);
    let status = |pid: u64| {
        let row = processes.iter().find(|row| row["pid"] == pid).unwrap();
        row["exit_status"].as_i64()
    };
    let found = [10, 11, 12, 13, 14].map(status);
    assert_eq!(found, [None, Some(31), Some(3), Some(0), None]);
    let programs = files.table(&["programs", "exits.txt"]);
    assert_eq!(programs[0]["failed"], 2, "{programs:?}");
    assert_eq!(files.table(&["failed", "exits.txt"]).len(), 2);

    // Without any exit code nothing is said of failures.
    let others: String = text
        .into_iter()
        .filter(|line| !line.contains("exit_group"))
        .collect();
    let files = Files::new(&[("exits.txt", &others)]);
    let programs = files.table(&["programs", "exits.txt"]);
    assert_eq!(
        programs[0]["failed"],
        serde_json::Value::Null,
        "{programs:?}"
    );

    // In a trace.dat, also without an event of the exit itself.
    let recorded = case("tracedat/both-syscall-kinds.dat.zst");
    let recorded = rows(&["table", "processes", &recorded]);
    let ended = recorded.iter().filter(|row| row["exit_status"] == "0");
    assert_eq!(ended.map(|row| &row["pid"]).collect::<Vec<_>>(), ["29723"]);
}
