//! System-call text as people record it: what hangs, what is filtered, numbers instead of words, directories; and builds.

use crate::program::{json, run, stdout};
use std::path::{Path, PathBuf};

fn case(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/text");
    path.join(name).to_string_lossy().into_owned()
}

fn sample(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"));
    path.join("sample-traces").join(name)
}

type Row = serde_json::Value;

fn table(name: &str, file: &str) -> Vec<Row> {
    json(&["table", name, file])
}

/// (name, tid, depth, duration) of slices of a category.
fn slices(file: &str, category: &str) -> Vec<(String, i64, i64, Option<i64>)> {
    let rows = table("slices", file).into_iter();
    let rows = rows.filter(|row| row["category"] == category);
    rows.map(|row| {
        (
            row["name"].as_str().unwrap().to_owned(),
            row["tid"].as_i64().unwrap(),
            row["depth"].as_i64().unwrap(),
            row["dur"].as_i64(),
        )
    })
    .collect()
}

fn open_calls(file: &str) -> Vec<(String, i64)> {
    let calls = slices(file, "syscalls").into_iter();
    let open = calls.filter(|call| call.3.is_none());
    open.map(|call| (call.0, call.1)).collect()
}

#[test]
fn calls_that_never_returned_are_open_slices_inside_their_program() {
    let pauses = [5826, 5825, 5823].map(|tid| ("pause".to_owned(), tid));
    let sleep = ("clock_nanosleep".to_owned(), 5822);
    let blocked = case("attach-blocked-threads.strace");
    let expected: Vec<_> = pauses.iter().cloned().chain([sleep]).collect();
    assert_eq!(open_calls(&blocked), expected);
    assert_eq!(open_calls(&case("blk-nodetach.strace")), pauses);
    let read = |tid| ("read".to_owned(), tid);
    let killed = case("killed-in-call.strace");
    let pause = |tid| ("pause".to_owned(), tid);
    let mut open = open_calls(&killed);
    open.sort();
    assert_eq!(open[open.len() - 2..], [pause(30527), pause(30531)]);
    let rows = table("diagnostics", &killed);
    assert!(
        rows.iter().all(|row| row["code"] != "unknown_line"),
        "{rows:?}"
    );
    // A file of nothing else is a trace; the same without its columns may be anything.
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("alone.txt");
    let name = alone.to_str().unwrap();
    std::fs::write(&alone, "1795532219.142085 pause(").unwrap();
    assert_eq!(open_calls(name), [pause(0)]);
    std::fs::write(&alone, "pause(").unwrap();
    assert!(!run(&["info", name]).status.success());
    assert_eq!(open_calls(&case("attach-detached.strace")), [read(0)]);
    let mut hung = open_calls(&case("attach-hung-python.strace"));
    hung.sort();
    let sleep = ("clock_nanosleep".to_owned(), 3173);
    assert_eq!(hung, [sleep, read(3215), read(3216), read(3217)]);
    let first = case("open-first-call2.strace");
    assert_eq!(open_calls(&first), [("poll".to_owned(), 101), read(102)]);
    for file in [blocked, first] {
        assert!(
            slices(&file, "earlier")
                .iter()
                .all(|program| program.2 == 0)
        );
        assert!(slices(&file, "syscalls").iter().all(|call| call.2 == 1));
    }
}

#[test]
fn a_program_lasts_until_its_killed_line_where_no_line_reports_an_exit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.strace");
    let path = path.to_str().unwrap();
    let begin = "execve(\"/bin/x\", [\"x\"], 0x1 /* 1 var */) = 0";
    for pid in ["", "100 "] {
        let lines = [
            format!("{pid}1795861340.000000 {begin}"),
            format!("{pid}1795861340.100000 close(3) = 0"),
            format!("{pid}1795861340.200000 pause() = ?"),
            format!("{pid}1795861340.900000 +++ killed by SIGKILL +++"),
        ];
        std::fs::write(path, lines.join("\n") + "\n").unwrap();
        let program = slices(path, "exec");
        assert_eq!(program.len(), 1, "{program:?}");
        assert_eq!((program[0].2, program[0].3), (0, Some(900_000_000)));
        let pause = slices(path, "syscalls").pop().unwrap();
        assert_eq!((pause.0.as_str(), pause.2), ("pause", 1));
    }
    // strace did not read which call it was.
    let lines = [
        "7 1795861340.000000 pause( <unfinished ...>",
        "8 1795861340.100000 ???( <unfinished ...>",
        "8 1795861340.200000 <... ??? resumed>) = ?",
        "8 1795861340.200001 +++ killed by SIGKILL +++",
    ];
    std::fs::write(path, lines.join("\n") + "\n").unwrap();
    let odd = table("diagnostics", path);
    assert!(
        odd.iter().all(|row| row["code"] != "unknown_line"),
        "{odd:?}"
    );
    let calls = slices(path, "syscalls").into_iter();
    let names: Vec<String> = calls.map(|call| call.0).collect();
    assert_eq!(names, ["pause", "???"]);
}

#[test]
fn a_job_that_runs_has_a_slot() {
    // The recipe of the last target sleeps 0.4 s before its `cat` reads what another recipe wrote.
    let rows = chain(&case("make-recipe-waits-j2.strace.zst"));
    let of_cat = |why: &str| -> i64 {
        let own = rows.iter().filter(|row| row.1 == "cat" && row.2 == why);
        own.map(|row| row.0).sum()
    };
    assert_eq!(of_cat("reads file of"), 575_000, "{rows:?}");
    assert_eq!(of_cat("no free job slot"), 378_000, "{rows:?}");
    assert_eq!(of_cat("not started yet"), 844_000, "{rows:?}");
    assert_eq!(of_cat("ran beside the chain"), 418_273_000, "{rows:?}");
}

#[test]
fn open_calls_are_open_after_an_export_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.fxt");
    let path = path.to_str().unwrap();
    stdout(&["export", &case("blk-nodetach.strace"), "-o", path]);
    let open: Vec<_> = open_calls(path).into_iter().map(|call| call.0).collect();
    assert_eq!(open, ["pause"; 3]);
}

#[test]
fn calls_written_when_they_return_belong_to_their_processes() {
    for file in [
        "successful-only-seconds.strace",
        "successful-only-split.strace",
    ] {
        let file = case(file);
        let processes = table("processes", &file);
        let roots = processes.iter().filter(|row| row["parent_id"].is_null());
        assert_eq!(roots.count(), 1, "{processes:?}");
        let mut pids: Vec<i64> = processes
            .iter()
            .map(|it| it["pid"].as_i64().unwrap())
            .collect();
        let count = pids.len();
        pids.sort_unstable();
        pids.dedup();
        assert_eq!(pids.len(), count);
        let odd = table("diagnostics", &file);
        assert!(
            odd.iter().all(|row| row["code"] != "unknown_line"),
            "{odd:?}"
        );
    }
    // Each of the three that strace split is one call, with the result from its second line.
    let file = case("successful-only-split.strace");
    // Without -T only what stands on two lines says how long it took.
    let all = slices(&file, "syscalls");
    assert_eq!(all.iter().filter(|call| call.3.is_some()).count(), 3);
    for row in json(&["stats", &file, "--kind", "system calls"]) {
        // The others returned, nobody knows when.
        assert_eq!(row["at_least"], 0, "{row}");
    }
    let calls: Vec<Row> = table("syscalls", &file);
    let wait4 = calls.iter().find(|row| row["name"] == "wait4").unwrap();
    assert_eq!(wait4["calls"], wait4["returned"]);
}

#[test]
fn flags_as_numbers_make_threads() {
    let processes = table("processes", &case("raw-clone3.strace"));
    assert_eq!(processes.len(), 1);
    assert_eq!(table("threads", &case("raw-clone3.strace")).len(), 2);
}

#[test]
fn compilers_have_the_directory_that_the_trace_shows() {
    for (file, directory) in [("cwd.strace", "/src/dir"), ("cwd2.strace", "/proj/sub")] {
        let text = stdout(&["export", "--to", "compile-commands", "-o", "-", &case(file)]);
        let commands: Vec<Row> = serde_json::from_str(&text).unwrap();
        assert_eq!(commands.len(), 1);
        assert_eq!(commands[0]["directory"], directory);
    }
}

#[test]
fn calls_are_added_up_as_strace_does() {
    // sample-traces/shell-pipeline.strace: counted in the text.
    let path = sample("shell-pipeline.strace");
    let text = std::fs::read_to_string(&path).unwrap();
    let path = path.to_str().unwrap();
    let whole = |name: &str| {
        let begin = format!(" {name}(");
        text.lines().filter(|line| line.contains(&begin)).count() as u64
    };
    let rows = table("syscalls", path);
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    for name in ["wait4", "statx", "openat", "access", "execve"] {
        assert_eq!(row(name)["calls"], whole(name), "{name}");
    }
    // A call that others interrupted has its result on a line of its own.
    let ends = |line: &&str| line.contains(" access(") || line.contains("<... access resumed>");
    let missing = text.lines().filter(ends);
    let missing = missing.filter(|line| line.contains("ENOENT")).count();
    assert_eq!(row("access")["errors"], missing);
    assert_eq!(row("access")["by_error"], format!("ENOENT {missing}"));
    assert_eq!(row("wait4")["by_error"], "ECHILD 2");
    let by_stats = stdout(&["stats", "--of", "calls", path, "--format", "json"]);
    assert_eq!(serde_json::from_str::<Vec<Row>>(&by_stats).unwrap(), rows);
    // The kernel's events and MINIX's text say what calls returned as well.
    for (file, name) in [
        ("sched-irq-syscalls.dat", "read"),
        ("minix-pipeline.minix", "read"),
    ] {
        let rows = table("syscalls", sample(file).to_str().unwrap());
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        assert!(row["returned"].as_u64() > Some(0), "{file}: {row}");
    }
    // Calls without an end count, but have no time.
    let rows = table("syscalls", &case("blk-nodetach.strace"));
    let pause = rows.iter().find(|row| row["name"] == "pause").unwrap();
    assert_eq!(
        (&pause["calls"], &pause["unfinished"]),
        (&3.into(), &3.into())
    );
    assert_eq!((&pause["time"], &pause["mean"]), (&0.into(), &Row::Null));
}

#[test]
fn a_cut_last_line_is_told_of_every_text() {
    let folder = tempfile::tempdir().unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let texts = [
        sample("shell-pipeline.strace"),
        sample("minix-pipeline.minix"),
        sample("sched-irq.ftrace"),
        golden.join("ftrace_text/kprobe-pair.trace_pipe"),
        golden.join("etrace/names.etrace"),
    ];
    for path in texts {
        let text = std::fs::read(&path).unwrap();
        let copy = folder.path().join(path.file_name().unwrap());
        for (cut, is_told) in [(0, false), (1, true), (7, true)] {
            std::fs::write(&copy, &text[..text.len() - cut]).unwrap();
            let rows = table("diagnostics", copy.to_str().unwrap());
            let found = rows.iter().any(|row| row["code"] == "no_last_newline");
            assert_eq!(found, is_told, "{} less {cut}", path.display());
        }
    }
}

/// (own time, program, why, share) of the rows of the critical chain.
fn chain(file: &str) -> Vec<(i64, String, String, f64)> {
    let rows = table("critical_chain", file).into_iter();
    rows.map(|row| {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let share = row["share"].as_f64().unwrap();
        (
            row["own"].as_i64().unwrap(),
            text("process"),
            text("because"),
            share,
        )
    })
    .collect()
}

#[test]
fn the_critical_chain_accounts_for_all_of_the_time() {
    let lua = sample("lua-make-j2.etrace.zst");
    for file in [
        case("make-g++-pipe-j2.strace.zst"),
        lua.to_string_lossy().into_owned(),
    ] {
        let rows = chain(&file);
        let own: i64 = rows.iter().map(|row| row.0).sum();
        let info: Row = serde_json::from_str(&stdout(&["info", "--json", &file])).unwrap();
        let time = |name: &str| info[name].as_i64().unwrap();
        // A trace ends a ns after its last event.
        assert!(
            (time("end_ns") - time("start_ns") - own).abs() <= 1,
            "{file}"
        );
        let share: f64 = rows.iter().map(|row| row.3).sum();
        assert!((share - 100.0).abs() < 1e-6, "{share}");
        let no_slot = rows.iter().filter(|row| row.2 == "no free job slot");
        assert!(no_slot.map(|row| row.3).sum::<f64>() > 5.0, "{rows:?}");
    }
}

#[test]
fn an_assembler_that_reads_a_pipe_waits_for_the_compiler() {
    let rows = chain(&case("make-g++-pipe-j2.strace.zst"));
    let at = |program: &str| rows.iter().position(|row| row.1 == program).unwrap();
    assert_eq!(at("as"), at("cc1plus") + 1);
    assert_eq!(rows[at("as")].2, "reads pipe of");
    assert_eq!(rows[at("cc1plus")].2, "started by");
}

/// (pid, name, status, signal) of the processes of a file that have ended, by pid.
fn ends(file: &str) -> Vec<(i64, String, Option<i64>, Option<i64>)> {
    let rows = table("processes", file).into_iter();
    rows.map(|row| {
        assert!(!row["end"].is_null(), "{row}");
        let name = row["name"].as_str().unwrap().to_owned();
        let (status, signal) = (&row["exit_status"], &row["exit_signal"]);
        (
            row["pid"].as_i64().unwrap(),
            name,
            status.as_i64(),
            signal.as_i64(),
        )
    })
    .collect()
}

#[test]
fn a_thread_that_runs_a_program_in_its_leaders_place_called_execve_as_long_as_the_text_says() {
    for (file, thread, took) in [
        ("thread-execs.strace", 10710, 259_000),
        ("thread-execs-qq.strace", 10794, 314_000),
        ("thread-execs-z.strace", 10948, 265_000),
    ] {
        let calls = slices(&case(file), "syscalls").into_iter();
        let execs: Vec<_> = calls.filter(|call| call.0 == "execve").collect();
        let own = execs.iter().filter(|call| call.1 == thread);
        assert_eq!(
            own.map(|call| call.3).collect::<Vec<_>>(),
            [Some(took)],
            "{file}"
        );
        assert_eq!(execs.len(), 3, "{file}");
        let rows = table("syscalls", &case(file));
        let total = rows.iter().find(|row| row["name"] == "execve").unwrap();
        assert_eq!(total["calls"], 3);
        let sum: i64 = execs.iter().filter_map(|call| call.3).sum();
        assert_eq!(total["time"].as_i64().unwrap(), sum, "{file}");
    }
    // Successful calls only: what it ran was not printed.
    let names: Vec<_> = ends(&case("thread-execs-z.strace"))
        .into_iter()
        .map(|row| row.1)
        .collect();
    assert_eq!(names[1], "(unknown program)", "{names:?}");
}

#[test]
fn processes_end_without_lines_that_say_so() {
    let statuses = |file| {
        ends(&case(file))
            .into_iter()
            .map(|row| (row.1, row.2, row.3))
            .collect::<Vec<_>>()
    };
    let with = statuses("thread-execs.strace");
    let expected = [
        ("texec", Some(3), None),
        ("echo", Some(0), None),
        ("true", Some(0), None),
        ("texec", Some(7), None),
        ("texec", None, Some(11)),
        ("texec", None, Some(9)),
    ];
    let expected = expected.map(|(name, status, signal)| (name.to_owned(), status, signal));
    assert_eq!(with, expected);
    assert_eq!(statuses("thread-execs-qq.strace"), expected);
    // Nothing goes on behind its process.
    for file in ["thread-execs.strace", "thread-execs-qq.strace"] {
        for category in ["exec", "fork", "thread", "earlier"] {
            for slice in slices(&case(file), category) {
                assert!(slice.3.is_some(), "{file} {category} {slice:?}");
            }
        }
    }
}

#[test]
fn calls_that_did_not_return_have_no_time() {
    let file = case("thread-execs.strace");
    let calls = slices(&file, "syscalls");
    assert!(
        !calls
            .iter()
            .any(|call| call.0 == "exit_group" || call.0 == "exit")
    );
    let points = table("instants", &file).into_iter();
    assert_eq!(points.filter(|row| row["name"] == "exit_group").count(), 4);
    let rows = table("syscalls", &file);
    let of = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap().clone();
    // Four of them ended with their threads; the text says how long the other three took.
    let pause = of("pause");
    let counts = ["calls", "returned", "unfinished"].map(|name| pause[name].as_i64().unwrap());
    assert_eq!(counts, [7, 3, 4], "{pause}");
    assert_eq!(pause["time"], 1_003_169_000 + 2_153_000 + 2_150_000);
    assert_eq!(of("clock_nanosleep")["by_error"], "ERESTART_RESTARTBLOCK 1");
    assert_eq!(pause["by_error"], "ERESTARTNOHAND 3");
}

/// The sum in ns of the durations that strace printed, for each call.
fn printed_durations(file: &str) -> std::collections::BTreeMap<String, i64> {
    let text = std::fs::read_to_string(file).unwrap();
    let calls = text.lines().take_while(|line| !line.starts_with('%'));
    let mut sums = std::collections::BTreeMap::new();
    for line in calls {
        let Some((call, took)) = line
            .strip_suffix('>')
            .and_then(|line| line.rsplit_once(" <"))
        else {
            continue;
        };
        let Ok(seconds) = took.parse::<f64>() else {
            continue;
        };
        let name = match call.split_once("<... ") {
            Some((_, rest)) => rest.split(' ').next().unwrap(),
            None => call.split_once('(').unwrap().0.rsplit(' ').next().unwrap(),
        };
        *sums.entry(name.to_owned()).or_insert(0) += (seconds * 1e6).round() as i64 * 1000;
    }
    sums
}

#[test]
fn a_call_lasts_as_long_as_strace_measured_wherever_its_lines_are() {
    for name in ["relative-32-bit.strace", "whole-seconds.strace"] {
        let file = case(name);
        let printed = printed_durations(&file);
        let rows = table("syscalls", &file).into_iter();
        let ours: std::collections::BTreeMap<String, i64> = rows
            .filter(|row| row["returned"].as_i64() > Some(0))
            .filter_map(|row| Some((row["name"].as_str()?.to_owned(), row["time"].as_i64()?)))
            .collect();
        assert_eq!(ours, printed, "{name}");
        assert!(printed["wait4"] > 0, "{name}");
    }
}

#[test]
fn tables_of_64_and_32_bit_calls_behind_the_text_are_no_calls() {
    let file = case("relative-32-bit.strace");
    let told = table("diagnostics", &file);
    let codes: Vec<_> = told
        .iter()
        .map(|row| row["code"].as_str().unwrap())
        .collect();
    // A call of a leader that another thread replaced has no end.
    assert_eq!(codes, ["summary_table", "unmatched_begin"]);
}

#[test]
fn open_calls_are_summed_beside_the_others() {
    let file = case("calls-still-open.strace");
    let stats = json(&["stats", "--kind", "system calls", &file]);
    let calls = table("syscalls", &file);
    assert_eq!(calls.len(), stats.len());
    for row in &stats {
        let of = calls.iter().find(|it| it["name"] == row["group"]).unwrap();
        for column in ["unfinished", "at_least"] {
            assert_eq!(of[column], row[column], "{row}");
        }
    }
    let pause = calls.iter().find(|row| row["name"] == "pause").unwrap();
    assert_eq!(pause["unfinished"], 3);
    assert_eq!((&pause["time"], &pause["longest"]), (&0.into(), &Row::Null));
    // A person sees both columns wherever a call is open, and neither where none is.
    let heading = |file: &str| {
        let text = stdout(&["stats", "--of", "calls", file, "--format", "table"]);
        text.lines().next().unwrap().to_owned()
    };
    let shown = |file: &str| ["Unfinished", "At least"].map(|it| heading(file).contains(it));
    assert_eq!(shown(&file), [true, true]);
    let ended = sample("shell-pipeline.strace");
    assert!(
        table("syscalls", ended.to_str().unwrap())
            .iter()
            .all(|row| row["unfinished"] == 0)
    );
    assert_eq!(shown(ended.to_str().unwrap()), [false, false]);
}

/// A shell that starts two compilers; the second, and the shell, still run when the recording ends.
const OPEN_BUILD: &str = "# tracer: nop\n#\n\
    \u{20}   sh-10  [000] d... 1.000000: sched_process_fork: comm=sh pid=10 child_comm=sh child_pid=11\n\
    \u{20}   cc-11  [000] d... 1.001000: sched_process_exec: filename=/bin/cc pid=11 old_pid=11\n\
    \u{20}   cc-11  [000] d... 1.003000: sched_process_exit: comm=cc pid=11 prio=120\n\
    \u{20}   sh-10  [000] d... 1.004000: sched_process_fork: comm=sh pid=10 child_comm=sh child_pid=12\n\
    \u{20}   cc-12  [000] d... 1.005000: sched_process_exec: filename=/bin/cc pid=12 old_pid=12\n\
    \u{20}   cc-12  [000] d... 1.034000: print: x\n";

#[test]
fn programs_that_still_run_are_in_no_total_and_no_longest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("open.ftrace");
    std::fs::write(&path, OPEN_BUILD).unwrap();
    let file = path.to_string_lossy().into_owned();
    let rows = table("programs", &file);
    let cc = rows.iter().find(|row| row["name"] == "cc").unwrap();
    for (column, expected) in [
        ("processes", 2),
        ("total", 3_000_000),
        ("own", 3_000_000),
        ("longest", 3_000_000),
        ("longest_pid", 11),
        ("unfinished", 1),
        ("at_least", 30_000_000),
    ] {
        assert_eq!(cc[column], expected, "{column}: {cc}");
    }
    // In the process tree a life has a duration if both ends are known.
    for row in table("process_times", &file) {
        let is_whole = row["before_trace"] == 0 && row["after_trace"] == 0;
        assert_eq!(row["dur"].is_i64(), is_whole, "{row}");
    }
}

/// strace's form where no other line comes between: `<pid changed to 16344 ...>`.
#[test]
fn an_execve_after_which_the_thread_has_its_leaders_pid_is_one_call() {
    let folder = tempfile::tempdir().unwrap();
    let joined = folder.path().join("joined.fxt");
    let joined = joined.to_str().unwrap();
    let [leader, thread] = ["pid-changed-ff.15473", "pid-changed-ff.15478"].map(case);
    let _summary = crate::program::stdout(&["export", &leader, &thread, "-o", joined]);
    let files = [leader.as_str(), thread.as_str()];
    for (files, took, leader) in [
        (
            &[case("pid-changed.strace").as_str()][..],
            [349_000, 414_000],
            16344,
        ),
        (&files, [156_000, 193_000], 15473),
        (&[joined], [156_000, 193_000], 15473),
    ] {
        let table = |name: &str| json(&[&["table", name][..], files].concat());
        let file = files[0];
        let rows = table("syscalls");
        let exec = rows.iter().find(|row| row["name"] == "execve").unwrap();
        assert_eq!(
            (&exec["calls"], &exec["unfinished"]),
            (&2.into(), &0.into()),
            "{file}"
        );
        assert_eq!(exec["time"].as_i64(), Some(took.iter().sum()), "{file}");
        let slices = table("slices");
        let execs = slices
            .iter()
            .filter(|it| it["category"] == "syscalls" && it["name"] == "execve");
        let mut times: Vec<_> = execs.map(|it| it["dur"].as_i64()).collect();
        times.sort_unstable();
        assert_eq!(times, took.map(Some), "{file}");
        let processes = table("processes");
        let own = processes.iter().find(|row| row["pid"] == leader).unwrap();
        assert_eq!(
            (&own["name"], &own["exit_status"]),
            (&"echo".into(), &0.into())
        );
        let programs = slices.iter().filter(|it| it["category"] == "exec");
        let programs: Vec<_> = programs.map(|it| it["name"].clone()).collect();
        assert_eq!(programs, ["ct", "echo"], "{file}");
    }
}

/// A block is read as its sample suggests: that the text is of several buffers is seen only in its last line. Then it is read
/// again, and the event that both buffers recorded is one.
#[test]
fn an_instance_that_is_named_late_is_one_of_several_buffers() {
    let folder = tempfile::tempdir().unwrap();
    let mut text: String = (0..2_500)
        .map(|number| {
            format!(
                "             app-100     [000] d..2.  10.{number:06}: sched_stat_sleep: comm=b pid=7 delay=1 [ns]\n"
            )
        })
        .collect();
    for buffer in ["      ", "irqs: "] {
        text += buffer;
        text += "          app-100     [000] d..2.  10.900000: timer_start: timer=1 function=f expires=4 [timeout=3]\n";
    }
    let file = folder.path().join("late.ftrace");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let instants = table("instants", file);
    let timers = instants.iter().filter(|row| row["name"] == "timer_start");
    assert_eq!(timers.count(), 1);
    assert!(stdout(&["info", file]).contains("irqs: 1 event"));
}
