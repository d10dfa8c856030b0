//! Texts of tracers in forms that are met less often, written by hand, through the whole program.

use crate::files::Files;
use crate::program::{self, case, stdout};

/// Cells of a table's rows, as one line each.
fn rows(files: &Files, table: &str, names: &[&str], cells: &[&str]) -> Vec<String> {
    let rows = files.table(&[&[table], names].concat());
    let cell = |row: &serde_json::Value, key: &str| match &row[key] {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let line = |row: &serde_json::Value| {
        let cells = cells.iter().map(|key| cell(row, key));
        cells.collect::<Vec<_>>().join(" ")
    };
    rows.iter().map(line).collect()
}

/// Lines of two instances: what the second had, the top one had a little later.
fn of_two_instances(events: &[(&str, &str)]) -> String {
    let mut text = "cpus=2\n".to_owned();
    for (at, (who, event)) in events.iter().enumerate() {
        let line = |instance: &str, behind: usize| {
            let ns = 69_000_000_000 + 100_000 * at + behind;
            let (s, ns) = (ns / 1_000_000_000, ns % 1_000_000_000);
            format!("{instance:>8}{who:>20} [001] d..2.    {s}.{ns:09}: {event}\n")
        };
        text += &line("irqs: ", 234);
        text += &line("", 534);
    }
    text
}

#[test]
fn an_event_in_two_instances_makes_one_run_and_one_slice() {
    let to = |a: &str, b: &str| {
        let name = |text: &str| text.split('-').map(str::to_owned).collect::<Vec<_>>();
        let (a, b) = (name(a), name(b));
        format!(
            "sched_switch:          prev_comm={} prev_pid={} prev_prio=120 prev_state=S ==> next_comm={} next_pid={} next_prio=120",
            a[0], a[1], b[0], b[1]
        )
    };
    let (to_sh, to_bash) = (to("bash-96", "sh-97"), to("sh-97", "bash-96"));
    let events = [
        ("bash-96   ", to_sh.as_str()),
        ("sh-97   ", "sys_enter_read:        fd: 0x00000003"),
        ("sh-97   ", "irq_handler_entry:     irq=1 name=i8042"),
        ("sh-97   ", "irq_handler_exit:      irq=1 ret=handled"),
        ("sh-97   ", "my_event:              x=1"),
        ("sh-97   ", "sys_exit_read:         0x3"),
        ("sh-97   ", to_bash.as_str()),
        ("bash-96   ", to_sh.as_str()),
    ];
    let files = Files::new(&[("a.txt", &of_two_instances(&events))]);
    assert_eq!(
        rows(&files, "runs", &["a.txt"], &["ts", "dur", "thread"]),
        [
            "69000000234 600000 sh",
            "69000600234 100000 bash",
            "69000700234 null sh"
        ]
    );
    assert_eq!(
        rows(&files, "slices", &["a.txt"], &["ts", "dur", "name"]),
        ["69000100234 400000 read", "69000200234 100000 i8042"]
    );
    assert_eq!(
        rows(&files, "instants", &["a.txt"], &["ts", "name"]),
        ["69000400234 my_event"]
    );
    assert_eq!(rows(&files, "events", &["a.txt"], &["name"]).len(), 16);
}

#[test]
fn files_of_two_machines_are_no_instances() {
    let text = "     a.dat: cpus=2\n     b.dat: cpus=2\n".to_owned()
        + "     a.dat:           <idle>-0     [001]    69.000000234: softirq_raise:         vec=1 [action=TIMER]\n"
        + "     b.dat:           <idle>-0     [001]    69.000000534: softirq_raise:         vec=1 [action=TIMER]\n";
    let files = Files::new(&[("a.txt", &text)]);
    assert_eq!(rows(&files, "instants", &["a.txt"], &["name"]).len(), 2);
}

#[test]
fn instances_are_told_apart_across_blocks() {
    // Blocks are cut at four megabytes: one of the cuts falls between the two lines of an event.
    for shift in 0..3 {
        let mut events = vec![("pad-1   ", "pad: 1"); shift];
        let (enter, exit) = (
            "sys_enter_read:        fd: 0x00000003",
            "sys_exit_read:         0x3",
        );
        for _ in 0..25_000 {
            events.extend([("sh-97   ", enter), ("sh-97   ", exit)]);
        }
        let text = of_two_instances(&events);
        assert!(text.len() > 5 << 20);
        let files = Files::new(&[("a.txt", &text)]);
        let info = files.text(&["info", "a.txt", "--json"]);
        let info: serde_json::Value = serde_json::from_str(&info).unwrap();
        assert_eq!(info["slices"], 25_000, "{shift}");
    }
}

#[test]
fn raw_flags_are_told_from_the_counter_that_is_glued_to_them() {
    let switch = |a: u32, b: u32| {
        format!(
            "sched_switch:          prev_comm=a prev_pid={a} prev_prio=120 prev_state=1 next_comm=b next_pid={b} next_prio=120"
        )
    };
    let text = format!(
        "cpus=2\n          mix.sh-22053 [001]-0x14631252878692: {}\n       trace-cmd-22033 [001]-0x2d4631252923878: {}\n          mix.sh-22053 [001]-0x144631252993902: {}\n",
        switch(22053, 22033),
        switch(22033, 22053),
        switch(22053, 22033)
    );
    let files = Files::new(&[("a.txt", &text)]);
    assert_eq!(
        rows(&files, "runs", &["a.txt"], &["ts", "tid"]),
        [
            "4631252878692 22033",
            "4631252923878 22053",
            "4631252993902 22033"
        ]
    );
    // What is reported raw is what was read.
    assert_eq!(files.text(&["report", "-R", "a.txt"]).lines().count(), 4);
    let second = files.text(&["report", "-R", "a.txt", "--from", "@4631252923878"]);
    assert!(second.contains("-0x2d"), "{second}");
}

#[test]
fn points_of_programs_have_one_name_in_trace_dat_and_text() {
    let recorded = case("tracedat/named-marks.dat.zst");
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("report.txt");
    std::fs::write(&text, stdout(&["report", &recorded])).unwrap();
    let text = text.to_string_lossy().into_owned();
    for file in [&recorded, &text] {
        let instants = program::rows(&["table", "instants", file]);
        let told = instants.iter().map(|row| (&*row["name"], &*row["track"]));
        let expected = [
            ("hello", "app"),
            ("there", "trk"),
            ("print", "app"),
            ("hello", "app"),
            ("print", "app"),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected, "{file}");
        // What was recorded is print: a filter on events finds all of them, and Perfetto gets what it knows.
        let prints = stdout(&["report", "-F", "print", file]);
        assert_eq!(prints.matches(" print: ").count(), 7, "{file}");
        let out = folder.path().join("out.pftrace");
        let out = out.to_str().unwrap();
        let _written = stdout(&["export", file, "-o", out, "--force"]);
        let bytes = std::fs::read(out).unwrap();
        assert_eq!(memchr::memmem::find_iter(&bytes, "I|10|hello").count(), 2);
    }
}

#[test]
fn points_of_programs_are_called_as_the_program_calls_them() {
    let mark = |who: &str, at: u32, mark: &str| {
        format!("{who:>20} [001] ..... 100.000{at}: tracing_mark_write: {mark}\n")
    };
    let text = [
        mark("Render-1234", 100, "B|1200|draw"),
        mark("Render-1234", 200, "I|1200|vsync|missed"),
        mark("Render-1234", 300, "N|1200|Input|touch"),
        mark("Render-1234", 400, "E|1200"),
        mark("app-1200", 500, "C|1200|mem|42"),
        // In a container: the number is none of this trace's.
        mark("worker-4000", 600, "B|1|job"),
        mark("worker-4000", 700, "E|1"),
    ];
    let files = Files::new(&[("a.txt", &format!("# tracer: nop\n{}", text.concat()))]);
    assert_eq!(
        rows(
            &files,
            "instants",
            &["a.txt"],
            &["name", "tid", "pid", "track"]
        ),
        ["vsync|missed 1234 1200 Render", "touch 1234 1200 Input"]
    );
    assert_eq!(
        rows(&files, "threads", &["a.txt"], &["tid", "pid"]),
        ["1200 1200", "1234 1200", "4000 4000"]
    );
}

#[test]
fn a_column_or_a_birth_says_more_of_a_process_than_the_thread_itself() {
    let text = "# tracer: nop\n\
        a-10 (     10) [000] ..... 1.000001: task_newtask: pid=12 comm=a clone_flags=1200000 oom_score_adj=0\n\
        b-11 (     20) [001] ..... 1.000002: tracing_mark_write: B|30|x\n\
        a-12 (-------) [000] ..... 1.000003: tracing_mark_write: B|30|x\n\
        c-13 (-------) [000] ..... 1.000004: tracing_mark_write: B|30|x\n";
    let files = Files::new(&[("a.txt", text)]);
    assert_eq!(
        rows(&files, "threads", &["a.txt"], &["tid", "pid"]),
        ["10 10", "11 20", "12 12", "13 30", "20 20", "30 30"]
    );
}

#[test]
fn what_was_overwritten_is_lost() {
    let text = "# tracer: nop\n#\n# entries-in-buffer/entries-written: 2/116   #P:4\n#\n  \
        a-10 [000] ..... 1.000001: my_event: x=1\n  a-10 [000] ..... 1.000002: my_event: x=2\n";
    let files = Files::new(&[("a.txt", text)]);
    let info = files.text(&["info", "a.txt"]);
    assert!(info.contains("lost events      114\n"), "{info}");
}

#[test]
fn files_of_tracefs_that_are_no_traces_are_told_what_they_are() {
    let files = Files::new(&[
        (
            "hist",
            "# event histogram\n#\n# trigger info: hist:keys=pid\n",
        ),
        (
            "mmio",
            "VERSION 20070824\nPCIDEV 0000 80862580 0\nR 4 232.3 1 0xfeb 0x1 0x0 0\n",
        ),
    ]);
    for (name, words) in [("hist", "event histogram"), ("mmio", "mmiotrace")] {
        let output = files.run(&["info", name]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains(words), "{told}");
    }
}

#[test]
fn a_call_in_pieces_is_as_long_as_it_says_in_whole_seconds_too() {
    let text = "100 12:00:03 wait4(-1,  <unfinished ...>\n\
        101 12:00:03 read(0,  <unfinished ...>\n\
        102 12:00:03 getpid() = 102 <0.000100>\n\
        101 12:00:03 <... read resumed>\"x\", 1) = 1 <0.000300>\n\
        101 12:00:03 gettid() = 101 <0.000005>\n\
        100 12:00:05 <... wait4 resumed>NULL, 0, NULL) = 101 <2.500000>\n\
        100 12:00:05 gettid() = 100 <0.000005>\n\
        103 12:00:06 read(0,  <unfinished ...>\n\
        103 12:00:07 <... read resumed>\"x\", 1) = 1 <0.000300>\n";
    let files = Files::new(&[("a.strace", text)]);
    let lengths = |name: &str| -> Vec<(Option<i64>, i64)> {
        let calls = files.calls(name, &["a.strace"]);
        calls.iter().map(|call| (call.1, call.2)).collect()
    };
    assert_eq!(lengths("wait4"), [(Some(2_500_000_000), 1)]);
    assert_eq!(lengths("read"), [(Some(300_000), 1), (Some(300_000), 1)]);
    // What follows a call is not inside it.
    assert_eq!(lengths("gettid"), [(Some(5_000), 1), (Some(5_000), 1)]);
}

#[test]
fn a_call_that_failed_is_a_slice_and_no_instant() {
    let text = "openat(AT_FDCWD, \"/etc/nope\", O_RDONLY) = -1 ENOENT (No such file or directory)\n\
        close(77) = -1 EBADF (Bad file descriptor)\n";
    let files = Files::new(&[("a.strace", text)]);
    assert_eq!(files.calls("openat", &["a.strace"]).len(), 1);
    assert_eq!(rows(&files, "instants", &["a.strace"], &["name"]), [""; 0]);
    assert_eq!(
        rows(&files, "files", &["a.strace"], &["path", "result"]).len(),
        2
    );
}

#[test]
fn all_parts_of_a_file_of_ff_move_with_its_first_second() {
    // More than two megabytes in one second: two parts.
    let line = "10:00:00 write(1, \"0123456789012345678901234567890123456789\", 40) = 40\n";
    let child = line.repeat((5 << 20) / line.len()) + "10:00:00 exit_group(0) = ?\n";
    let parent = "10:00:00 getpid() = 10 <0.900000>\n10:00:00 clone(child_stack=NULL, flags=SIGCHLD) = 11\n10:00:03 +++ exited with 0 +++\n";
    let files = Files::new(&[("o.10", parent), ("o.11", &child)]);
    let names = ["o.10", "o.11"];
    let fork = files.calls("clone", &names)[0].0;
    let writes = files.calls("write", &names);
    assert!(writes.iter().all(|call| call.0 > fork));
    assert!(writes.is_sorted_by_key(|call| call.0));
}

#[test]
fn a_child_that_was_forked_after_midnight_begins_after_its_fork() {
    let first = "23:59:59 clone(child_stack=NULL, flags=SIGCHLD) = 11\n";
    let parent =
        "00:00:01 getpid() = 11 <0.500000>\n00:00:01 clone(child_stack=NULL, flags=SIGCHLD) = 12\n";
    let child = "00:00:01 gettid() = 12\n";
    let files = Files::new(&[("o.10", first), ("o.11", parent), ("o.12", child)]);
    let names = ["o.10", "o.11", "o.12"];
    let forks = files.calls("clone", &names);
    assert_eq!(forks.len(), 2);
    assert!(files.calls("gettid", &names)[0].0 > forks.iter().map(|call| call.0).max().unwrap());
}

#[test]
fn processes_end_with_their_last_call_where_no_line_says_so() {
    // strace -qq leaves `+++ exited with 3 +++` out.
    let text = "10 12:00:00.000001 getpid() = 10\n10 12:00:00.000002 exit_group(3) = ?\n";
    let end = |text: &str| {
        let files = Files::new(&[("a.strace", text)]);
        rows(&files, "processes", &["a.strace"], &["end", "exit_status"])
    };
    assert_eq!(end(text), ["43200000002000 3"]);
    let with_line = format!("{text}10 12:00:00.000009 +++ exited with 3 +++\n");
    assert_eq!(end(&with_line), ["43200000009000 3"]);
}

/// In a PID namespace forks and waits name children by other numbers than strace's lines.
#[test]
fn children_in_a_pid_namespace_are_found_by_their_first_lines() {
    let text = "7498 1700000001.000000 clone(child_stack=NULL, flags=SIGCHLD) = 7499 <0.001000>\n\
        7498 1700000001.002000 wait4(7499,  <unfinished ...>\n\
        7499 1700000001.003000 vfork( <unfinished ...>\n\
        7500 1700000001.004000 execve(\"/bin/sh\", [\"sh\"], 0x1 /* 1 var */) = 0 <0.000100>\n\
        7499 1700000001.005000 <... vfork resumed>) = 2 <0.002000>\n\
        7500 1700000001.006000 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000100>\n\
        7501 1700000001.007000 exit_group(3) = ?\n\
        7501 1700000001.007500 +++ exited with 3 +++\n\
        7500 1700000001.008000 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], 0, NULL) = 3 <0.000100>\n\
        7500 1700000001.008500 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=3, si_uid=0, si_status=3, si_utime=0, si_stime=0} ---\n\
        7500 1700000001.009000 exit_group(0) = ?\n\
        7500 1700000001.009500 +++ exited with 0 +++\n\
        7499 1700000001.010000 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2 <0.000100>\n\
        7499 1700000001.011000 +++ exited with 0 +++\n\
        7498 1700000001.012000 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 7499 <0.010000>\n\
        7498 1700000001.013000 +++ exited with 0 +++\n";
    let files = Files::new(&[("a.strace", text)]);
    let cells = ["pid", "parent_id", "start", "exit_status"];
    assert_eq!(
        rows(&files, "processes", &["a.strace"], &cells),
        [
            "7498 null null 0",
            "7499 0 1700000001000000000 0",
            "7500 1 1700000001003000000 0",
            "7501 2 1700000001006000000 3"
        ]
    );
    assert_eq!(rows(&files, "failed", &["a.strace"], &["pid"]), ["7501"]);
    let codes = rows(&files, "diagnostics", &["a.strace"], &["code", "count"]);
    assert!(codes.contains(&"pid_namespace 2".to_owned()), "{codes:?}");
}

/// strace of two running processes without -f: a new number is higher than that of the process that is only heard later.
#[test]
fn a_process_that_is_heard_late_is_not_taken_for_a_child() {
    let text = "100 1700000001.000000 clone(child_stack=NULL, flags=SIGCHLD) = 300 <0.001000>\n\
        200 1700000001.002000 getpid() = 200 <0.000010>\n";
    let files = Files::new(&[("a.strace", text)]);
    let cells = ["pid", "parent_id"];
    assert_eq!(
        rows(&files, "processes", &["a.strace"], &cells),
        ["100 null", "200 null", "300 0"]
    );
}

/// strace shows who writes: a child that has its parent's file is a writer if it writes, whichever number it has for it.
#[test]
fn children_that_write_are_writers_and_others_are_not() {
    let fork = |pid: u32, at: u32| {
        format!("10 1700000001.{at:06} clone(child_stack=NULL, flags=SIGCHLD) = {pid} <0.000100>\n")
    };
    let ended = |pid: u32, at: u32| format!("{pid} 1700000001.{at:06} +++ exited with 0 +++\n");
    let text = [
        "10 1700000001.000000 openat(AT_FDCWD, \"/w/out\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3 <0.000100>\n"
            .to_owned(),
        fork(11, 1_000),
        "11 1700000001.002000 getpid() = 11 <0.000010>\n".to_owned(),
        ended(11, 3_000),
        fork(12, 4_000),
        "12 1700000001.005000 dup2(3, 1) = 1 <0.000010>\n".to_owned(),
        "12 1700000001.005500 write(1, \"a\\n\", 2) = 2 <0.000010>\n".to_owned(),
        "12 1700000001.005600 write(1, \"b\\n\", 2) = -1 ENOSPC (No space left on device) <0.000010>\n"
            .to_owned(),
        ended(12, 6_000),
        fork(13, 7_000),
        "13 1700000001.008000 write(3, \"c\\n\", 2) = -1 ENOSPC (No space left on device) <0.000010>\n"
            .to_owned(),
        ended(13, 9_000),
        fork(14, 10_000),
        "14 1700000001.011000 openat(AT_FDCWD, \"/w/out\", O_RDONLY) = 4 <0.000100>\n".to_owned(),
        ended(14, 12_000),
        ended(10, 13_000),
    ]
    .concat();
    let files = Files::new(&[("a.strace", &text)]);
    let uses = rows(&files, "file_uses", &["a.strace"], &["use", "pid"]);
    assert_eq!(uses, ["write 10", "write (inherited) 12", "read 14"]);
    let cells = ["reader_pid", "writer_pid"];
    let read = rows(&files, "file_dependencies", &["a.strace"], &cells);
    assert!(read.contains(&"14 12".to_owned()), "{read:?}");
    // Without the calls that write, all children that keep the file open are taken for writers.
    let text: String = text
        .split_inclusive('\n')
        .filter(|line| !line.contains("write("))
        .collect();
    let files = Files::new(&[("a.strace", &text)]);
    let uses = rows(&files, "file_uses", &["a.strace"], &["use", "pid"]);
    let heirs = uses.iter().filter(|row| row.contains("inherited")).count();
    assert_eq!(heirs, 4, "{uses:?}");
}
