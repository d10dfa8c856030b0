//! Ends that a recording does not contain: exits that were lost, results that are cut, calls of replaced leaders.
//! Through tables and exports, on small made texts.

use crate::files::Files;
use serde_json::{Value, json};

fn cells(files: &Files, arguments: &[&str], wanted: &[&str]) -> Value {
    let rows = files.table(arguments);
    let of_row = |row: &Value| wanted.iter().map(|name| row[name].clone()).collect();
    rows.iter().map(of_row).collect::<Vec<Vec<Value>>>().into()
}

fn head(text: &str) -> String {
    format!("# tracer: nop\n#\n{text}")
}

/// Processes one after the other; the exit of 51 was lost.
const EXIT_LOST: &str = "\
              sh-50      [000] .....   100.000000: sched_process_fork: comm=sh pid=50 child_comm=sh child_pid=51
             w51-51      [000] .....   100.010000: sched_process_exec: filename=/bin/w51 pid=51 old_pid=51
          <idle>-0       [000] .....   100.600000: sched_process_free: comm=w51 pid=51 prio=120
              sh-50      [000] .....   101.000000: sched_process_fork: comm=sh pid=50 child_comm=sh child_pid=52
             w52-52      [000] .....   101.010000: sched_process_exec: filename=/bin/w52 pid=52 old_pid=52
             w52-52      [000] .....   101.500000: sched_process_exit: comm=w52 pid=52 prio=120 group_dead=true
          <idle>-0       [000] .....   101.600000: sched_process_free: comm=w52 pid=52 prio=120
";

#[test]
fn a_process_that_the_kernel_has_forgotten_has_ended() {
    let files = Files::new(&[("lost.ftrace", &head(EXIT_LOST))]);
    let lives = cells(
        &files,
        &["processes", "lost.ftrace"],
        &["pid", "name", "end"],
    );
    assert_eq!(
        lives,
        json!([
            [50, "sh", null],
            [51, "w51", 100_010_000_000_i64],
            [52, "w52", 101_500_000_000_i64]
        ])
    );
    // Never two at once, and nobody works after the last exit.
    let working = files.table(&["parallelism", "lost.ftrace"]);
    let counts = working.iter().map(|row| row["working"].as_i64().unwrap());
    let counts: Vec<i64> = counts.collect();
    assert_eq!(counts.iter().max(), Some(&1));
    assert_eq!(counts.last(), Some(&0));
}

#[test]
fn a_zombie_is_drawn_until_the_kernel_forgets_it() {
    let text = "\
          <idle>-0       [000] d..2.   100.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=dd next_pid=50 next_prio=120
              dd-50      [000] d..2.   100.100100: sched_switch: prev_comm=dd prev_pid=50 prev_prio=120 prev_state=Z ==> next_comm=swapper/0 next_pid=0 next_prio=120
          <idle>-0       [000] ..s1.   100.101000: sched_process_free: comm=dd pid=50 prio=120
          <idle>-0       [000] d..2.   105.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sh next_pid=9 next_prio=120
";
    let files = Files::new(&[("zombie.ftrace", &head(text))]);
    // How long it was one is not known: no duration is claimed.
    let states = cells(
        &files,
        &["states", "zombie.ftrace"],
        &["state", "ts", "dur", "tid"],
    );
    let zombies: Vec<&Value> = states
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row[0] == "zombie")
        .collect();
    assert_eq!(zombies, [&json!(["zombie", 100_100_100_000_i64, null, 50])]);
    // It is not among the states of a later range.
    let late = cells(
        &files,
        &["states", "zombie.ftrace", "--from", "3s"],
        &["state"],
    );
    assert!(
        late.as_array()
            .unwrap()
            .iter()
            .all(|row| row[0] != "zombie"),
        "{late}"
    );
}

/// A forgotten thread's number may have another owner by then.
#[test]
fn what_the_kernel_forgets_late_is_the_earlier_owner_of_a_number() {
    let text = "\
              sh-50      [000] .....   100.000000: sched_process_fork: comm=sh pid=50 child_comm=sh child_pid=51
              sh-51      [000] .....   100.500000: sched_process_exit: comm=sh pid=51 prio=120 group_dead=true
              sh-50      [000] .....   100.501000: sched_process_fork: comm=sh pid=50 child_comm=sh child_pid=51
          <idle>-0       [000] .....   100.600000: sched_process_free: comm=sh pid=51 prio=120
              sh-50      [000] .....   109.000000: sched_process_fork: comm=sh pid=50 child_comm=sh child_pid=60
";
    let files = Files::new(&[("reused.ftrace", &head(text))]);
    let lives = cells(&files, &["processes", "reused.ftrace"], &["pid", "end"]);
    assert_eq!(
        lives,
        json!([
            [50, null],
            [51, 100_500_000_000_i64],
            [51, null],
            [60, null]
        ])
    );
}

/// The leader waits in a call while another thread of its process runs a program.
const LEADER_EXEC: &str = "\
100 1796000000.000000 execve(\"./vf\", [\"./vf\"], 0x7ff /* 35 vars */) = 0 <0.001000>
100 1796000000.010000 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM, exit_signal=0}, 88) = 101 <0.000100>
100 1796000000.020000 futex(0x7f0, FUTEX_WAIT, 101, NULL <unfinished ...>
101 1796000000.030000 execve(\"/bin/echo\", [\"echo\"], 0x7ff /* 35 vars */ <unfinished ...>
100 1796000000.040000 <... futex resumed>) = ?
101 1796000000.040500 <... execve resumed> <pid changed to 100 ...>
100 1796000000.041000 +++ superseded by execve in pid 101 +++
100 1796000000.042000 <... execve resumed>) = 0 <0.012000>
100 1796000000.500000 write(1, \"a\", 1) = 1 <0.000100>
100 1796000001.000000 exit_group(0) = ?
100 1796000001.000100 +++ exited with 0 +++
";

#[test]
fn a_call_of_a_leader_that_was_replaced_is_over() {
    let files = Files::new(&[("leader.strace", LEADER_EXEC)]);
    let mut forms = vec!["leader.strace"];
    let _written = files.text(&["export", "leader.strace", "-o", "leader.fxt"]);
    forms.push("leader.fxt");
    for form in forms {
        let slices = files.table(&["slices", form]);
        let named = |name: &str| {
            let found = slices.iter().find(|row| row["name"] == name);
            found.unwrap_or_else(|| panic!("{form}: no {name} in {slices:?}"))
        };
        assert_eq!(named("futex")["dur"], Value::Null, "{form}");
        assert_eq!(named("echo")["depth"], 0, "{form}");
        assert_eq!(named("write")["parent_id"], named("echo")["id"], "{form}");
        let totals = files.table_of(&["stats", form, "--of", "calls"]);
        let futex = totals.iter().find(|row| row["name"] == "futex").unwrap();
        assert!(
            futex["at_least"].as_i64().unwrap() <= 21_000_000,
            "{form}: {futex}"
        );
    }
}

/// With `-b execve`, strace lets a process go where it runs a program: what follows was not seen.
#[test]
fn a_call_in_which_a_process_was_let_go_claims_no_time() {
    let text = "\
10 1796000000.000000 execve(\"/bin/sh\", [\"sh\"], 0x7ff /* 35 vars */) = 0 <0.000100>
10 1796000000.010000 vfork( <unfinished ...>
11 1796000000.020000 execve(\"/bin/sleep\", [\"sleep\", \"9\"], 0x7ff /* 35 vars */ <detached ...>
10 1796000000.030000 <... vfork resumed>) = 11 <0.020000>
10 1796000000.100000 vfork( <unfinished ...>
12 1796000000.120000 execve(\"/bin/true\", [\"true\"], 0x7ff /* 35 vars */ <unfinished ...>
10 1796000000.130000 <... vfork resumed>) = 12 <0.030000>
10 1796000001.000000 exit_group(0) = ?
10 1796000001.000100 +++ exited with 0 +++
";
    let files = Files::new(&[("let_go.strace", text)]);
    let _written = files.text(&["export", "let_go.strace", "-o", "let_go.fxt"]);
    for form in ["let_go.strace", "let_go.fxt"] {
        let totals = files.table_of(&["stats", form, "--of", "calls"]);
        let exec = totals.iter().find(|row| row["name"] == "execve").unwrap();
        assert_eq!(
            (&exec["calls"], &exec["unfinished"], &exec["at_least"]),
            (&json!(3), &json!(2), &json!(0)),
            "{form}: {exec}"
        );
        let processes = cells(&files, &["processes", form], &["pid", "name"]);
        assert_eq!(
            processes,
            json!([[10, "sh"], [11, "sleep"], [12, "true"]]),
            "{form}"
        );
    }
}

/// `strace -A` writes several recordings into one file, without pids if each is of one process.
#[test]
fn what_follows_the_end_of_the_only_process_is_another() {
    let one = |start: u32, program: &str| {
        format!(
            "{start}.000000 execve(\"/bin/{program}\", [\"{program}\"], 0x7ff /* 35 vars */) = 0 <0.000100>\n\
             {start}.500000 exit_group(0) = ?\n{start}.600000 +++ exited with 0 +++\n"
        )
    };
    let text = one(1_796_000_000, "true") + &one(1_796_000_005, "sleep");
    let files = Files::new(&[("added.strace", &text)]);
    let lives = |form| cells(&files, &["processes", form], &["name", "start", "end"]);
    let second = 1_000_000_000_i64;
    let at = |seconds: i64| 1_796_000_000 * second + seconds * second;
    let expected = json!([
        ["true", at(0), at(0) + 600_000_000],
        ["sleep", at(5), at(5) + 600_000_000]
    ]);
    assert_eq!(lives("added.strace"), expected);
    let _written = files.text(&["export", "added.strace", "-o", "added.fxt"]);
    assert_eq!(lives("added.fxt"), expected);
}

/// A number at the end of a cut text may have had more digits, an error's name more letters.
#[test]
fn a_result_that_may_go_on_is_not_known() {
    let fork = "Tracing sh (pid 311)\nfork() = <..>\n  312| Tracing sh*F (pid 312)\n  312| fork() = 0\n  311|*fork() = 31";
    let exec =
        "Tracing sh (pid 311)\nclose(0) = 0\nexecve(\"/bin/ls\", [\"ls\", \"/etc\"], [..(12)])";
    let exit = "Tracing sh (pid 311)\nclose(3) = 0\nexit(12)\nProcess exited normally with code 1";
    let lives = |text: &str| {
        let files = Files::new(&[("cut.minix", text)]);
        cells(
            &files,
            &["processes", "cut.minix"],
            &["pid", "execs", "exit_status"],
        )
    };
    assert_eq!(lives(fork), json!([[311, 0, null], [312, 0, null]]));
    assert_eq!(lives(exec), json!([[311, 0, null]]));
    assert_eq!(lives(exit), json!([[311, 0, null]]));
    let text = "10 1796000000.000000 getpid() = 10\n10 1796000001.000000 read(9, 0x7f, 1) = -1 ENO";
    let files = Files::new(&[("error.strace", text)]);
    let totals = files.table_of(&["stats", "error.strace", "--of", "calls"]);
    let read = totals.iter().find(|row| row["name"] == "read").unwrap();
    assert_eq!(
        (&read["errors"], &read["unfinished"]),
        (&json!(0), &json!(1))
    );
    // An address may go on, a result that is certainly whole counts.
    let text = "10 1796000000.000000 getpid() = 10\n10 1796000001.000000 mmap(NULL, 4096, 1, 2, -1, 0) = 0";
    let files = Files::new(&[("address.strace", text)]);
    let totals = files.table_of(&["stats", "address.strace", "--of", "calls"]);
    let mmap = totals.iter().find(|row| row["name"] == "mmap").unwrap();
    assert_eq!(mmap["returned"], 0);
    for end in [
        "= 0",
        "= -1 ENOENT (No such file or directory)",
        "= 5 <0.000010>",
    ] {
        let text = format!(
            "10 1796000000.000000 getpid() = 10\n10 1796000001.000000 read(9, 0x7f, 1) {end}"
        );
        let files = Files::new(&[("whole.strace", &text)]);
        let totals = files.table_of(&["stats", "whole.strace", "--of", "calls"]);
        let read = totals.iter().find(|row| row["name"] == "read").unwrap();
        assert_eq!(read["returned"], 1, "{end}");
    }
}

#[test]
fn a_file_beside_others_claims_no_more_than_alone() {
    let json = r#"[{"ph":"X","name":"a","ts":1,"dur":2,"pid":7,"tid":7}]"#;
    let strace = "10 1796000000.000000 openat(AT_FDCWD, \"a\", O_RDONLY) = 3 <0.000100>\n";
    let idle = head(
        "          <idle>-0       [000] d..2.   100.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=dd next_pid=50 next_prio=120\n",
    );
    let files = Files::new(&[("a.json", json), ("a.strace", strace), ("a.ftrace", &idle)]);
    let opens = |arguments: &[&str]| cells(&files, arguments, &["pid", "opens"]);
    assert_eq!(opens(&["processes", "a.json"]), json!([[7, null]]));
    for order in [["a.json", "a.strace"], ["a.strace", "a.json"]] {
        let all = opens(&["processes", order[0], order[1]]);
        let all = all.as_array().unwrap();
        assert!(all.contains(&json!([7, null])), "{all:?}");
        assert!(all.contains(&json!([10, 1])), "{all:?}");
    }
    // The idle thread has its name, whichever file comes first.
    for order in [["a.json", "a.ftrace"], ["a.ftrace", "a.json"]] {
        let idle = files.table(&["runs", order[0], order[1]]);
        let named = files.text(&["search", "thread ~ \"idle\"", order[0], order[1]]);
        assert!(!named.trim().is_empty(), "{order:?}: {idle:?}");
    }
}

/// Without times, what strace measured is not what the sums are made of: every verb says so.
#[test]
fn durations_that_no_sum_uses_are_said() {
    let text =
        "10 getpid() = 10 <0.000001>\n10 nanosleep({tv_sec=5, tv_nsec=0}, NULL) = 0 <5.000123>\n";
    let files = Files::new(&[
        ("measured.strace", text),
        ("plain.strace", "10 getpid() = 10\n10 getuid() = 0\n"),
    ]);
    for (file, is_said) in [("measured.strace", true), ("plain.strace", false)] {
        let output = files.run(&["stats", file, "--of", "calls"]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(told.contains("counted in lines"), is_said, "{file}: {told}");
    }
}

/// A process that strace did not follow has no lines of its own: its parent learns of its end.
#[test]
fn a_child_ends_at_the_latest_when_its_parent_learns_it() {
    let signal = "100 1796017258.102100 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=101, si_uid=0, si_status=7, si_utime=0, si_stime=0} ---\n";
    let text = |told: &str| {
        format!(
            "100 1796017258.000000 execve(\"/bin/sh\", [\"sh\"], 0x1 /* 3 vars */) = 0 <0.000100>\n\
             100 1796017258.001000 vfork()  = 101 <0.000100>\n\
             100 1796017258.002000 wait4(-1, [{{WIFEXITED(s) && WEXITSTATUS(s) == 7}}], 0, NULL) = 101 <0.100000>\n\
             {told}\
             100 1796017258.103000 read(3, \"\", 1) = 0 <9.800000>\n\
             100 1796017268.000000 +++ exited with 0 +++\n"
        )
    };
    let second = 1_796_017_258_000_000_000_i64;
    for (told, end) in [(signal, second + 102_100_000), ("", second + 103_000_000)] {
        let files = Files::new(&[("told.strace", &text(told))]);
        let child = |form: &str| {
            let rows = files.table(&["processes", form]);
            let row = rows.iter().find(|row| row["pid"] == 101).cloned().unwrap();
            (row["end"].clone(), row["exit_status"].clone())
        };
        assert_eq!(child("told.strace"), (json!(end), json!(7)));
        let _written = files.text(&["export", "told.strace", "-o", "told.fxt"]);
        assert_eq!(child("told.fxt"), (json!(end), json!(7)));
        let failed = files.table(&["failed", "told.strace"]);
        assert_eq!(failed.len(), 1, "{failed:?}");
    }
    // An end of its own counts; a child that is stopped lives on.
    let own = "101 1796017258.050000 +++ exited with 3 +++\n";
    let stopped = signal.replace("CLD_EXITED", "CLD_STOPPED");
    for (told, end) in [
        (own.to_owned() + signal, json!([second + 50_000_000, 3])),
        (stopped, json!([null, null])),
    ] {
        let text = text(&told).replace("WIFEXITED(s) && WEXITSTATUS(s) == 7", "WIFSTOPPED(s)");
        let files = Files::new(&[("own.strace", &text)]);
        let lives = cells(
            &files,
            &["processes", "own.strace"],
            &["end", "exit_status"],
        );
        assert_eq!(lives[1], end, "{told}");
    }
}

/// The table that `strace -C` appends is not something that the program did.
#[test]
fn a_table_after_the_calls_keeps_no_thread_alive() {
    let calls = "\
7 1796017258.000000 execve(\"/bin/sh\", [\"sh\"], 0x1 /* 3 vars */) = 0 <0.000100>
7 1796017258.001000 vfork() = 8 <0.000100>
7 1796017258.002000 kill(7, SIGKILL <unfinished ...>
7 1796017258.002100 +++ killed by SIGKILL +++
8 1796017259.000000 getpid() = 8 <0.000010>
8 1796017259.000100 +++ exited with 0 +++
";
    let table = "% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
100.00    0.000010          10         1           getpid
------ ----------- ----------- --------- --------- ----------------
100.00    0.000010          10         1           total
";
    let files = Files::new(&[
        ("plain.strace", calls),
        ("table.strace", &(calls.to_owned() + table)),
    ]);
    let columns = ["name", "ts", "dur", "depth", "parent_id"];
    let plain = cells(&files, &["slices", "plain.strace"], &columns);
    assert_eq!(cells(&files, &["slices", "table.strace"], &columns), plain);
}

/// strace says once that it attached to a process with its threads, and which thread takes the leader's place.
#[test]
fn threads_that_strace_attached_to_belong_to_their_process() {
    let text = "\
strace: Process 76 attached with 3 threads
[pid    78] 1796000000.000000 read(3, \"\", 1) = 0 <0.000010>
[pid    77] 1796000000.100000 read(3, \"\", 1) = 0 <0.000010>
[pid    76] 1796000000.200000 read(3, \"\", 1) = 0 <0.000010>
";
    let superseded = "\
78 1796000000.000000 read(3, \"\", 1) = 0 <0.000010>
76 1796000000.200000 read(3, \"\", 1) = 0 <0.000010>
78 1796000000.300000 execve(\"/bin/true\", [\"true\"], 0x1 /* 3 vars */ <unfinished ...>
76 1796000000.310000 +++ superseded by execve in pid 78 +++
76 1796000000.320000 <... execve resumed>) = 0 <0.020000>
";
    let files = Files::new(&[("attached.strace", text), ("taken.strace", superseded)]);
    for file in ["attached.strace", "taken.strace"] {
        assert_eq!(
            cells(&files, &["processes", file], &["pid"]),
            json!([[76]]),
            "{file}"
        );
    }
}
