//! Texts of strace and MINIX's trace(1) as somebody meets them on the command line: what a date changes, who a reused
//! pid is, how long calls took that were printed in pieces.

use crate::files::Files;

const MIDNIGHT: &str =
    "23:59:58.5 read(0, \"\", 1) = 0 <0.000001>\n00:00:01.5 close(0) = 0 <0.000001>\n";

#[test]
fn a_given_date_is_told_everywhere() {
    let files = Files::new(&[
        ("tt.strace", MIDNIGHT),
        ("ttt.strace", "1795231677.5 getpid() = 7 <0.000001>\n"),
    ]);
    let date = ["--date", "2026-11-20"];
    let info = files.text(&["info", "tt.strace", date[0], date[1]]);
    assert!(info.contains("first day 2026-11-20"), "{info}");
    assert!(
        info.contains("2026-11-20 23:59:58.500000000 to 2026-11-21 00:00:01.5"),
        "{info}"
    );
    let json = files.text(&["info", "--json", "tt.strace", date[0], date[1]]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["wall_clock_start"], "2026-11-20 23:59:58.500000000");
    let rows = files.table(&["slices", "tt.strace", date[0], date[1]]);
    assert_eq!(rows.last().unwrap()["name"], "close");
    assert_eq!(
        rows.last().unwrap()["wall_clock"],
        "2026-11-21 00:00:01.500000000"
    );
    assert_eq!(rows.last().unwrap()["ts"], 86_401_500_000_000_i64);
    // Local times: the wall clock is UTC.
    let rows = files.table(&["slices", "tt.strace", "--date", "2026-11-20+02:00"]);
    assert_eq!(
        rows.last().unwrap()["wall_clock"],
        "2026-11-20 22:00:01.500000000"
    );
    // Without a date nothing of that is there, and nothing is claimed.
    let rows = files.table(&["slices", "tt.strace"]);
    assert!(rows[0].get("wall_clock").is_none());
    assert!(!files.text(&["info", "tt.strace"]).contains("wall clock"));
    // A file that has its date says so, and that the other one is of no use.
    let output = files.run(&["info", "ttt.strace", date[0], date[1]]);
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("wall clock       2026-11-21 03:27:57.5")
    );
    assert!(String::from_utf8_lossy(&output.stderr).contains("--date changes nothing"));
}

#[test]
fn a_report_reads_the_file_as_it_was_told_to() {
    let files = Files::new(&[("a.txt", "getpid() = 7\n")]);
    let report = files.text(&["report", "a.txt", "--read-as", "ftrace"]);
    assert!(!report.contains("getpid:"), "{report}");
}

#[test]
fn whole_seconds_and_microseconds_of_one_clock_go_together() {
    let files = Files::new(&[
        ("a.strace", "10:00:01.500000 getpid() = 7 <0.000001>\n"),
        ("b.strace", "10:00:03 getppid() = 1 <0.000001>\n"),
    ]);
    let info = files.text(&["info", "--json", "a.strace", "b.strace"]);
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["sources"][1]["offset_ns"], 0);
    let evidence = info["sources"][1]["evidence"].as_str().unwrap();
    assert!(evidence.contains("same clock"), "{evidence}");
}

#[test]
fn parts_of_a_recording_stay_together_beside_another_file() {
    let files = Files::new(&[
        (
            "ff.7",
            "10:00:01.500000 clone(flags=SIGCHLD) = 8 <0.000001>\n10:00:05.000000 +++ exited with 0 +++\n",
        ),
        (
            "ff.8",
            "10:00:02.500000 exit_group(3) = ?\n10:00:02.500001 +++ exited with 3 +++\n",
        ),
        (
            "other.strace",
            "9 10:00:03.500000 getppid() = 1 <0.000001>\n",
        ),
    ]);
    let all = ["ff.7", "other.strace", "ff.8"];
    let processes = files.table(&[&["processes"], all.as_slice()].concat());
    let row = |pid: i64| processes.iter().find(|row| row["pid"] == pid).unwrap();
    assert_eq!(processes.len(), 3);
    assert_eq!(row(8)["parent_id"], row(7)["id"]);
    // One place for both parts.
    let info = files.text(&[
        "info",
        "--json",
        "ff.7",
        "other.strace",
        "ff.8",
        "--offset",
        "1=1s",
        "--offset",
        "3=1s",
    ]);
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["sources"].as_array().unwrap().len(), 2);
    assert_eq!(info["sources"][0]["offset_ns"], 1_000_000_000);
}

#[test]
fn one_file_can_be_moved_too() {
    let files = Files::new(&[("a.strace", "1795231677.5 getpid() = 7 <0.000001>\n")]);
    let calls = files.calls("getpid", &["a.strace", "--offset", "1=-1795231677s"]);
    assert_eq!(calls, [(500_000_000, Some(1_000), 1)]);
}

const REUSED: &str = "Tracing sh (pid 5)
fork() = <..>
    6| Tracing sh*F (pid 6)
    6| fork() = 0
    5|*fork() = 6
    6| execve(\"/bin/ls\", [\"ls\"], [..(5)])
    6| ---
    6| Tracing ls (pid 6)
    6| read(0, <..>
    5| wait4(-1, <..>
    6| Process terminated from signal SIGKILL
    5'*wait4(-1, W_SIGNALED(SIGKILL), 0, NULL) = 6
fork() = <..>
    6| Tracing sh*F (pid 6)
    6| fork() = 0
    5|*fork() = 6
    6| getpid() = 6
    6| exit(0)
    6| Process exited normally with code 0
";

#[test]
fn a_reused_pid_is_another_process_and_what_it_was_in_ended_with_it() {
    let files = Files::new(&[("a.minix", REUSED)]);
    let processes = files.table(&["processes", "a.minix"]);
    let names: Vec<_> = processes
        .iter()
        .map(|row| (row["pid"].as_i64().unwrap(), row["name"].as_str().unwrap()))
        .collect();
    assert_eq!(names, [(5, "sh"), (6, "ls"), (6, "sh")]);
    assert_eq!(processes[1]["end"], 11);
    assert_eq!(processes[1]["exit_signal"], 9);
    assert_eq!(processes[2]["start"], 13);
    // It never returned.
    assert_eq!(files.calls("read", &["a.minix"]), [(9, None, 1)]);
}

/// The tracer's news of a new process in the middle of a line: what follows has no time.
#[test]
fn a_broken_clone_is_as_long_as_it_says() {
    let text = "100 10:00:00.000100 execve(\"/bin/sh\", [\"sh\"], 0x7ff) = 0 <0.000300>
[pid   100] 10:00:01.000000 clone(child_stack=NULL, flags=SIGCHLDstrace: Process 123 attached
, child_tidptr=0x7f1) = 123 <0.000321>
[pid   123] 10:00:01.000100 getpid( <unfinished ...>
[pid   100] 10:00:01.000500 wait4(-1,  <unfinished ...>
[pid   123] 10:00:01.000700 <... getpid resumed>) = 123 <0.000050>
[pid   100] 10:00:02.000000 <... wait4 resumed>NULL, 0, NULL) = 123 <0.900000>
";
    let files = Files::new(&[("a.strace", text)]);
    let at = |micros: i64| (36_001_000_000 + micros) * 1_000;
    let one = |name: &str| files.calls(name, &["a.strace"]);
    assert_eq!(one("clone"), [(at(0), Some(321_000), 1)]);
    // What was printed in two pieces is as long as it says as well, not until the second piece was printed.
    assert_eq!(one("getpid"), [(at(100), Some(50_000), 1)]);
    assert_eq!(one("wait4"), [(at(500), Some(900_000_000), 1)]);
}

#[test]
fn without_times_a_call_is_one_line_long() {
    let files = Files::new(&[(
        "a.strace",
        "getpid() = 7 <0.000050>\nread(0, \"\", 1) = 0 <0.700000>\n",
    )]);
    assert_eq!(files.calls("getpid", &["a.strace"]), [(1, Some(1), 1)]);
    assert_eq!(files.calls("read", &["a.strace"]), [(2, Some(1), 1)]);
}

#[test]
fn calls_of_one_whole_second_follow_each_other() {
    let text = "10:00:00 read(0, \"\", 1) = 0 <0.000040>\n10:00:00 read(0, \"\", 1) = 0 <0.000005>\n10:00:00 close(0) = 0 <0.000001>\n";
    let files = Files::new(&[("a.strace", text)]);
    let start = 36_000_000_000_000;
    assert_eq!(
        files.calls("read", &["a.strace"]),
        [(start, Some(40_000), 1), (start + 41_000, Some(5_000), 1)]
    );
    assert_eq!(
        files.calls("close", &["a.strace"]),
        [(start + 47_000, Some(1_000), 1)]
    );
}

#[test]
fn info_lists_the_buffers_of_a_text() {
    let text = "cpus=2
                       bash-291   [000]    46.100000: sched_wakeup:         comm=x pid=3 prio=120 target_cpu=001
      irqs:          <idle>-0     [001]    46.200000: softirq_raise:        vec=1 [action=TIMER]
      irqs:          <idle>-0     [001]    46.300000: softirq_entry:        vec=1 [action=TIMER]
";
    let files = Files::new(&[("a.txt", text)]);
    let info = files.text(&["info", "a.txt"]);
    assert!(info.contains("top: 1 event"), "{info}");
    let json: serde_json::Value =
        serde_json::from_str(&files.text(&["info", "--json", "a.txt"])).unwrap();
    assert!(
        json["facts"]["buffers"]
            .as_str()
            .unwrap()
            .ends_with("irqs: 2 events")
    );
}

/// Operation, path and other path of each row.
fn file_rows(files: &Files, name: &str) -> Vec<[String; 3]> {
    let rows = files.table(&["files", name]);
    let text = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap_or("").to_owned();
    rows.iter()
        .map(|row| ["op", "path", "other_path"].map(|key| text(row, key)))
        .collect()
}

#[test]
fn files_are_found_wherever_their_paths_count_from() {
    let plain = "7 10:00:00.1 getcwd(\"/proj\", 4096) = 6
7 10:00:00.2 chdir(\"src\") = 0
7 10:00:00.3 openat(AT_FDCWD, \"sub\", O_RDONLY|O_DIRECTORY) = 3
7 10:00:00.4 openat(3, \"a.c\", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4
7 10:00:00.5 dup(4) = 5
7 10:00:00.6 close(4) = 0
7 10:00:00.7 renameat(3, \"a.c\", 3, \"b.c\") = 0
7 10:00:00.8 creat(\"new\", 0644) = 4
7 10:00:00.9 rename(\"new\", \"../old\") = 0
7 10:00:01.0 unlinkat(3, \"b.c\", 0) = 0
7 10:00:01.1 fchdir(3) = 0
7 10:00:01.2 unlink(\"gone\") = -1 ENOENT (No such file or directory)
7 10:00:01.3 rmdir(\"../empty\") = 0
";
    // With -y the kernel's own paths stand in the lines, and tell where the process is.
    let shown = "7 10:00:00.1 openat(AT_FDCWD</proj/src>, \"sub\", O_RDONLY|O_DIRECTORY) = 3</proj/src/sub>
7 10:00:00.2 openat(3</proj/src/sub>, \"a.c\", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4</proj/src/sub/a.c>
7 10:00:00.3 dup2(4</proj/src/sub/a.c>, 5) = 5</proj/src/sub/a.c>
7 10:00:00.4 close(4</proj/src/sub/a.c>) = 0
7 10:00:00.5 creat(\"new\", 0644) = 4</proj/src/new>
7 10:00:00.6 rename(\"new\", \"../old\") = 0
7 10:00:00.7 unlinkat(3</proj/src/sub>, \"a.c\", 0) = 0
7 10:00:00.8 read(4</proj/src/new>(deleted), \"\", 1) = 0
";
    // Where nothing says where the process was, paths stay relative to that place, also below descriptors.
    let unknown = "Tracing sh (pid 7)
chdir(\"src\") = 0
open(\"sub\", O_RDONLY) = 3
fchdir(3) = 0
open(\"a.c\", O_RDONLY) = 4
unlink(\"../b.c\") = 0
";
    let files = Files::new(&[("plain", plain), ("shown", shown), ("unknown", unknown)]);
    let row = |op: &str, path: &str, other: &str| [op, path, other].map(str::to_owned);
    assert_eq!(
        file_rows(&files, "plain"),
        [
            row("open", "/proj/src/sub", "sub"),
            row("open", "/proj/src/sub/a.c", "a.c"),
            row("dup", "", ""),
            row("close", "", ""),
            row("rename", "/proj/src/sub/a.c", "/proj/src/sub/b.c"),
            row("open", "/proj/src/new", "new"),
            row("rename", "/proj/src/new", "/proj/old"),
            row("unlink", "/proj/src/sub/b.c", ""),
            row("unlink", "/proj/src/sub/gone", ""),
            row("unlink", "/proj/src/empty", ""),
        ]
    );
    assert_eq!(
        file_rows(&files, "shown"),
        [
            row("open", "/proj/src/sub", "sub"),
            row("open", "/proj/src/sub/a.c", "a.c"),
            row("dup", "/proj/src/sub/a.c", ""),
            row("close", "/proj/src/sub/a.c", ""),
            row("open", "/proj/src/new", "new"),
            row("rename", "/proj/src/new", "/proj/old"),
            row("unlink", "/proj/src/sub/a.c", ""),
        ]
    );
    let paths: Vec<_> = file_rows(&files, "unknown")
        .into_iter()
        .map(|row| row[1].clone())
        .collect();
    assert_eq!(paths, ["src/sub", "src/sub/a.c", "src/b.c"]);
    // A file that was deleted is not the one that is made in its place.
    let list = files.table(&["file_list", "shown"]);
    let names: Vec<_> = list
        .iter()
        .map(|row| row["path"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["/proj/src/sub", "/proj/src/sub/a.c", "/proj/old"]);
}

#[test]
fn files_of_a_recording_that_passes_midnight_lie_as_they_were_made() {
    let files = Files::new(&[
        (
            "ff.7",
            "23:59:59.0 clone(flags=SIGCHLD) = 8 <0.000001>\n00:00:03.0 +++ exited with 0 +++\n",
        ),
        (
            "ff.8",
            "00:00:01.0 getpid() = 8 <0.000001>\n00:00:02.0 +++ exited with 0 +++\n",
        ),
    ]);
    let day = 86_400_000_000_000;
    let calls = files.calls("getpid", &["ff.7", "ff.8"]);
    assert_eq!(calls[0].0, day + 1_000_000_000);
}

#[test]
fn marks_are_of_the_processes_that_they_name() {
    let mark = |at: u32, mark: &str| {
        format!("  server-1000 [001] ..... 100.000{at}: tracing_mark_write: {mark}\n")
    };
    let lines = [
        (100, "C|2001|heap|1"),
        (200, "C|2002|heap|50"),
        (300, "S|2001|launch|7"),
        (400, "S|2002|launch|7"),
        (500, "F|2001|launch|7"),
        (600, "F|2002|launch|7"),
        (610, "G|2001|one|a|1"),
        (620, "G|2001|two|b|1"),
        (640, "H|2001|one|1"),
        (680, "H|2001|two|1"),
    ];
    let text: String = lines.map(|(at, text)| mark(at, text)).concat();
    let files = Files::new(&[("a.ftrace", &format!("# tracer: nop\n{text}"))]);
    assert_eq!(files.table(&["counters", "a.ftrace"]).len(), 2);
    for (name, lengths) in [
        ("launch", &[200_000, 200_000][..]),
        ("a", &[30_000]),
        ("b", &[60_000]),
    ] {
        let slices = files.table(&["slices", "a.ftrace"]);
        let of_name = slices.iter().filter(|slice| slice["name"] == name);
        let found: Vec<i64> = of_name.map(|it| it["dur"].as_i64().unwrap()).collect();
        assert_eq!(found, lengths, "{name}");
    }
}

/// What each process is called, who made it, and its programs.
fn family(files: &Files, names: [&str; 2]) -> Vec<(i64, Option<i64>, String)> {
    let rows = files.table(&[&["processes"], &names[..]].concat());
    rows.iter()
        .map(|row| {
            (
                row["pid"].as_i64().unwrap(),
                row["parent_id"].as_i64(),
                row["name"].as_str().unwrap().to_owned(),
            )
        })
        .collect()
}

#[test]
fn a_file_of_ff_begins_behind_the_fork_whatever_its_times() {
    let times: [(&str, [&str; 4]); 3] = [
        ("no times", [""; 4]),
        (
            "whole seconds",
            ["10:00:00 ", "10:00:00 ", "10:00:00 ", "10:00:03 "],
        ),
        (
            "relative",
            [
                "     0.000000 ",
                "     0.000100 ",
                "     0.000200 ",
                "     0.000300 ",
            ],
        ),
    ];
    for (what, [a, b, c, d]) in times {
        let parent = format!(
            "{a}execve(\"/bin/sh\", [\"sh\"], 0x7f /* 1 var */) = 0\n{b}brk(NULL) = 0x1000\n\
             {c}clone(child_stack=NULL, flags=SIGCHLD) = 11\n{d}+++ exited with 0 +++\n"
        );
        let child = format!(
            "{a}execve(\"/bin/ls\", [\"ls\"], 0x7f /* 1 var */) = 0\n{b}close(3) = 0\n\
             {c}exit_group(0) = ?\n{d}+++ exited with 0 +++\n"
        );
        let files = Files::new(&[("o.10", &parent), ("o.11", &child)]);
        let expected = [(10, None, "sh".to_owned()), (11, Some(0), "ls".to_owned())];
        assert_eq!(family(&files, ["o.10", "o.11"]), expected, "{what}");
        let fork = files.calls("clone", &["o.10", "o.11"])[0].0;
        let first = files.calls("close", &["o.10", "o.11"])[0].0;
        assert!(first > fork, "{what}: {first} {fork}");
    }
}

#[test]
fn zeros_and_a_byte_order_mark_before_the_first_line_change_nothing() {
    let strace = "7 1.5 execve(\"/bin/a\", [\"a\"], 0x7f /* 1 var */) = 0\n7 1.6 close(3) = 0\n7 1.7 +++ exited with 0 +++\n";
    let minix = "Tracing a (pid 1)\nread(0, \"\", 1) = 0\nclose(0) = 0\n";
    let ftrace = "# tracer: nop\n  bash-96 [001] ..... 69.626109: sched_waking: comm=a pid=7 prio=120 target_cpu=000\n";
    for text in [strace, minix, ftrace] {
        let plain = Files::new(&[("t", text)]);
        for lead in ["\u{feff}".to_owned(), "\0".repeat(5000)] {
            let led = Files::new(&[("t", &format!("{lead}{text}"))]);
            for table in ["processes", "events"] {
                assert_eq!(
                    led.table(&[table, "t"]),
                    plain.table(&[table, "t"]),
                    "{text}"
                );
            }
        }
    }
}

#[test]
fn numbers_of_system_calls_say_whose_names_they_have() {
    let call = " a-7 [000] ..... 1.000001: sys_enter: NR 63 (0, 0, 0, 0, 0, 0)\n a-7 [000] ..... 1.000002: sys_exit: NR 63 = 0\n";
    let files = Files::new(&[
        ("unsaid", &format!("# tracer: nop\n{call}{call}")),
        (
            "arm",
            &format!(
                "# tracer: nop\n{call} a-7 [000] ..... 1.000003: kernel_stack: <stack trace>\n => __arm64_sys_read+0x1/0x2\n"
            ),
        ),
        (
            "named",
            "# tracer: nop\n a-7 [000] ..... 1.000001: sys_enter_read: fd: 3\n a-7 [000] ..... 1.000002: sys_exit_read: 0x0\n",
        ),
    ]);
    let note = "as on x86-64: the text does not name the machine";
    assert_eq!(files.text(&["info", "unsaid"]).matches(note).count(), 1);
    let names = |file: &str| -> Vec<String> {
        let rows = files.table(&["slices", file]);
        rows.iter()
            .map(|row| row["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names("unsaid")[0], "uname");
    assert_eq!(names("arm")[0], "read");
    assert_eq!(names("named")[0], "read");
    for file in ["arm", "named"] {
        assert!(!files.text(&["info", file]).contains(note), "{file}");
    }
}

#[test]
fn control_characters_of_a_file_do_not_reach_the_terminal() {
    let text = "# tracer: nop\n  bash-96 [001] ..... 69.626109: sys_read(fd: 3)\n\u{1b}]0;gone\u{7}\0red\n  \
                ba\u{1b}[31msh-97 [001] ..... 69.626119: sys_read -> 0x1\n";
    let files = Files::new(&[("t", text)]);
    let is_active = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    for arguments in [
        &["info", "t"][..],
        &["table", "threads", "t"],
        &["table", "events", "t"],
        &["table", "threads", "t", "--format", "csv"],
        &["search", "sh", "t"],
    ] {
        let shown = files.text(arguments);
        assert!(!shown.contains(is_active), "{arguments:?}: {shown:?}");
    }
    assert!(
        files
            .text(&["info", "t"])
            .contains(r"\x1b]0;gone\x07\x00red")
    );
    assert!(
        files
            .text(&["table", "threads", "t"])
            .contains(r"ba\x1b[31msh")
    );
}
