//! What is claimed of a recording of which events were lost is true of the whole recording.
//!
//! `tests/cases/over_losses/` has recordings twice: whole, and with lines taken out and the kernel's word for it in their
//! place. Every duration, wait and state that the second is said to have must stand in the first.

use std::collections::HashSet;
use std::process::Command;

use crate::files::Files;
use crate::program::case;

const RECORDINGS: &[&str] = &[
    "syscalls",
    "fgraph",
    "waking",
    "waking2",
    "preempted",
    // CPU 1 is lost until half of the time: threads go there and come back.
    "sent-elsewhere",
    // CPU 1 was not recorded.
    "one-cpu",
];

/// The name of the whole recording.
fn whole_of(recording: &str) -> String {
    match recording {
        "sent-elsewhere" | "one-cpu" => "two-cpus-whole".to_owned(),
        _ => format!("{recording}-whole"),
    }
}

type Row = serde_json::Value;

fn table(name: &str, recording: &str) -> Vec<Row> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/over_losses");
    let file = format!("{folder}/{recording}.ftrace.txt.zst");
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadline"));
    let output = command
        .args(["table", name, &file, "--format", "json"])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The columns of the rows that are known to their ends, and how many are not.
fn known(rows: &[Row], columns: &[&str]) -> (HashSet<String>, usize) {
    let is_known =
        |row: &&Row| !row["dur"].is_null() && row["spans_loss"] != 1 && row["state"] != "unknown";
    let known = rows.iter().filter(is_known);
    let texts = known.map(|row| {
        columns
            .iter()
            .map(|name| format!("{} ", row[*name]))
            .collect()
    });
    let texts: HashSet<String> = texts.collect();
    (texts, rows.iter().filter(|row| !is_known(row)).count())
}

/// Holds the rows that say something to those of the whole recording; how many say that they know nothing.
fn holds(name: &str, columns: &[&str], recording: &str) -> usize {
    let is_running = |row: &Row| row["state"] == "running";
    let (running, lossy): (Vec<Row>, Vec<Row>) =
        table(name, recording).into_iter().partition(is_running);
    let whole = table(name, &whole_of(recording));
    let (lossy, unknown) = known(&lossy, columns);
    let all = known(&whole, columns).0;
    // What only its end tells of has no name.
    let is_false = |text: &&String| !all.contains(*text) && !text.contains("(entry lost)");
    let mut false_ones: Vec<&String> = lossy.iter().filter(is_false).collect();
    false_ones.sort();
    assert!(
        false_ones.is_empty(),
        "{recording}: {name}: {false_ones:#?}"
    );
    // Who runs when events are lost was seen to run until then.
    let span = |row: &Row| {
        let start = row["ts"].as_i64().unwrap();
        (
            row["tid"].as_i64(),
            start,
            // Of a run that was open at a loss only its start is certain.
            row["dur"].as_i64().map_or(start, |dur| start + dur),
        )
    };
    let truly: Vec<_> = whole
        .iter()
        .filter(|row| is_running(row))
        .map(span)
        .collect();
    for (tid, start, end) in running.iter().map(span) {
        let around =
            |run: &&(Option<i64>, i64, i64)| run.0 == tid && run.1 <= start && end <= run.2;
        assert!(
            truly.iter().any(|run| around(&run)),
            "{recording}: {tid:?} {start} {end}"
        );
    }
    // And it says most of what it can: of one CPU of two, less is known, and its states all span losses.
    let most = all.len() - truly.len().min(all.len());
    let least = match (recording, name) {
        ("one-cpu", "states") => 40,
        ("one-cpu", _) => most / 10,
        ("sent-elsewhere", _) => most / 6,
        _ => most / 3,
    };
    assert!(
        lossy.len() >= least,
        "{recording}: {} of {most}",
        lossy.len()
    );
    unknown
}

#[test]
fn durations_of_slices_are_those_of_the_whole_recording() {
    let by_name = |name: &str| match name {
        // How long calls took is measured; when they began follows from that.
        "fgraph" => vec!["dur", "name", "tid"],
        _ => vec!["ts", "dur", "name", "tid"],
    };
    let unknown: Vec<usize> = RECORDINGS
        .iter()
        .map(|name| holds("slices", &by_name(name), name))
        .collect();
    assert!(unknown[0] > 0 && unknown[1] > 0, "{unknown:?}");
}

#[test]
fn states_and_waits_are_those_of_the_whole_recording() {
    let columns = ["ts", "dur", "state", "tid"];
    for name in RECORDINGS {
        holds("states", &columns, name);
    }
}

#[test]
fn what_is_exported_and_read_again_says_the_same() {
    let tables = [
        ("slices", ["ts", "dur", "depth", "name"].as_slice()),
        ("runs", &["ts", "dur", "cpu", "tid", "end_state"]),
        ("states", &["ts", "dur", "tid", "state", "spans_loss"]),
        ("gaps", &["ts", "dur", "lost", "cpu"]),
    ];
    for recording in RECORDINGS {
        let files = Files::new(&[]);
        let file = case(&format!("over_losses/{recording}.ftrace.txt.zst"));
        for format in ["fxt", "json"] {
            let again = format!("{recording}.{format}");
            files.text(&["export", &file, "-o", &again]);
            for (table, columns) in tables {
                let sorted = |of: &str| {
                    let rows = files.table(&[table, of]);
                    let text =
                        |row: &Row| columns.iter().map(|name| row[*name].to_string()).collect();
                    let mut texts: Vec<Vec<String>> = rows.iter().map(text).collect();
                    texts.sort();
                    texts
                };
                let (source, copy) = (sorted(&file), sorted(&again));
                let changed = source.iter().find(|row| !copy.contains(row));
                assert_eq!(changed, None, "{again}: {table}");
                assert_eq!(copy.len(), source.len(), "{again}: {table}");
            }
        }
    }
}

#[test]
fn a_run_that_is_open_at_a_loss_is_unfinished() {
    let runs = table("runs", "preempted");
    let gaps = table("gaps", "preempted");
    let open: Vec<&Row> = runs.iter().filter(|row| row["dur"].is_null()).collect();
    // One at each loss, and one on each CPU at the end.
    let at_losses = gaps.iter().filter(|gap| {
        let gap_start = gap["ts"].as_i64().unwrap();
        let before = runs
            .iter()
            .filter(|run| run["cpu"] == gap["cpu"] && run["ts"].as_i64().unwrap() <= gap_start);
        before.max_by_key(|run| run["ts"].as_i64()).unwrap()["dur"].is_null()
    });
    assert!(at_losses.count() > 0 && !open.is_empty(), "{runs:?}");
}

/// An entry at a depth proves that all calls at this depth or deeper are over: all reads and writes of this recording
/// were entered at depth 0, also those after a loss, at which other calls were open.
#[test]
fn a_call_after_a_loss_is_as_deep_as_the_recorder_says() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/sample-traces/function-graph.dat"
    );
    let all = crate::program::rows(&["table", "slices", file]);
    let outer = all
        .iter()
        .filter(|row| ["vfs_read", "vfs_write"].contains(&row["name"].as_str()));
    let depths: Vec<&str> = outer.map(|row| row["depth"].as_str()).collect();
    assert_eq!(depths.len(), 187);
    assert!(depths.iter().all(|depth| *depth == "0"), "{depths:?}");
}

/// Another thread's `sched_stat_runtime` shows that `aa` ran on a CPU of which nothing was recorded, while it slept on
/// CPU 0: calls may have ended and begun there.
#[test]
fn a_call_of_a_thread_that_was_seen_on_an_unrecorded_cpu_has_no_known_duration() {
    let file = case("ftrace_text/seen-where-nothing-is-recorded.ftrace");
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadline"));
    let output = command.args(["table", "slices", &file, "--format", "json"]);
    let rows: Vec<Row> = serde_json::from_slice(&output.output().unwrap().stdout).unwrap();
    let durations: Vec<&Row> = rows.iter().map(|row| &row["dur"]).collect();
    assert_eq!(durations, [&Row::from(10_000), &Row::Null]);
}

/// Returns when the pairs from a switch to the next wakeup on its CPU began, and how long they were in ns.
fn switches_to_wakeups(recording: &str) -> HashSet<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/over_losses");
    let file = format!("{folder}/{recording}.ftrace.txt.zst");
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadline"));
    command.args(["latency", &file, "--begin", "name == sched_switch"]);
    command.args(["--end", "name == sched_wakeup", "--key", "cpu"]);
    let output = command.args(["--worst", "1000000", "--format", "json"]);
    let rows: Vec<Row> = serde_json::from_slice(&output.output().unwrap().stdout).unwrap();
    let pairs = rows.iter();
    let pairs = pairs.map(|row| (row["ts"].to_string(), row["dur"].to_string()));
    pairs.collect()
}

#[test]
fn pairs_of_events_are_those_of_the_whole_recording() {
    let mut fewer = 0;
    for recording in RECORDINGS {
        let (lossy, whole) = (
            switches_to_wakeups(recording),
            switches_to_wakeups(&whole_of(recording)),
        );
        let false_ones: Vec<_> = lossy.difference(&whole).collect();
        assert!(false_ones.is_empty(), "{recording}: {false_ones:?}");
        fewer += whole.len() - lossy.len();
    }
    assert!(fewer > 100, "{fewer}");
}

/// The slices of a case, as (start, duration, depth, name).
fn slices(name: &str) -> Vec<(i64, Option<i64>, i64, String)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadline"));
    let output = command.args(["table", "slices", &case(name), "--format", "json"]);
    let rows: Vec<Row> = serde_json::from_slice(&output.output().unwrap().stdout).unwrap();
    let row = |row: &Row| {
        let name = row["name"].as_str().unwrap().to_owned();
        let (start, depth) = (row["ts"].as_i64().unwrap(), row["depth"].as_i64().unwrap());
        (start, row["dur"].as_i64(), depth, name)
    };
    rows.iter().map(row).collect()
}

#[test]
fn a_call_that_is_open_at_a_loss_does_not_take_in_the_next_one() {
    let found = slices("ftrace_text/call-open-at-a-loss.ftrace");
    let call = |start: i64, dur, depth, name: &str| (start * 1000, dur, depth, name.to_owned());
    let wanted = [
        call(100_003_000, None, 0, "open1"),
        call(100_003_100, Some(200_000), 0, "open1"),
        call(100_003_150, Some(1_000), 1, "bar"),
        call(100_003_250, Some(1_000), 1, "bar"),
        call(100_004_000, Some(1_000), 0, "foo"),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn a_call_whose_duration_is_not_recorded_is_not_one_of_0_ns() {
    let found = slices("ftrace_text/calls-without-durations.ftrace");
    let leaf = found.iter().find(|row| row.3 == "rw_verify_area").unwrap();
    assert_eq!((leaf.1, leaf.2), (None, 1));
    let outer = found.iter().find(|row| row.3 == "vfs_read").unwrap();
    assert_eq!((outer.1, outer.2), (Some(30_000), 0));
}

#[test]
fn two_calls_are_not_one_if_the_thread_may_have_run_where_nothing_was_recorded() {
    // CPU 0 was not recorded, as the wakeups show: the thread returned there, and yielded once more.
    let text = "\
# tracer: nop
#
 work-20967   [001] d..2.  2140.245600: sched_wakeup: comm=other pid=7 prio=120 target_cpu=000
 dl-20972   [001] .....  2140.245673: sys_sched_yield()
 dl-20972   [001] d..2.  2140.245689: sched_switch: prev_comm=dl prev_pid=20972 prev_prio=-1 prev_state=R ==> next_comm=work next_pid=20967 next_prio=120
 work-20967   [001] d..2.  2140.247000: sched_wakeup: comm=other pid=7 prio=120 target_cpu=000
 work-20967   [001] d..2.  2140.253357: sched_switch: prev_comm=work prev_pid=20967 prev_prio=120 prev_state=R ==> next_comm=dl next_pid=20972 next_prio=-1
 dl-20972   [001] .....  2140.253370: sys_sched_yield -> 0x0
 dl-20972   [001] .....  2140.253400: sys_sched_yield()
 dl-20972   [001] .....  2140.253500: sys_sched_yield -> 0x0
";
    let files = Files::new(&[
        ("one-cpu.txt", text),
        (
            "both.txt",
            &text.replace("target_cpu=000", "target_cpu=001"),
        ),
    ]);
    let lengths = |file: &str| {
        let calls = files.calls("sched_yield", &[file]);
        calls.into_iter().map(|call| call.1).collect::<Vec<_>>()
    };
    assert_eq!(lengths("one-cpu.txt"), [None, Some(100_000)]);
    assert_eq!(lengths("both.txt"), [Some(7_697_000), Some(100_000)]);
}

#[test]
fn what_a_thread_recorded_before_a_loss_ends_its_state() {
    let head = "\
# tracer: nop
#
 <idle>-0     [000] d..2.  1.000050: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=exe next_pid=100 next_prio=120
";
    let tail = "\
CPU:0 [LOST 5 EVENTS]
 exe-100    [000] .....  1.000500: sys_enter: NR 39 (0, 0, 0, 0, 0, 0)
 exe-100    [000] .....  1.000510: sys_exit: NR 39 = 5
 exe-100    [000] d..2.  1.000600: sched_switch: prev_comm=exe prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
";
    let call = " exe-100    [000] .....  1.000210: sys_enter: NR 39 (0, 0, 0, 0, 0, 0)\n";
    let lost = "CPU:0 [LOST 7 EVENTS]\n";
    let left = |state: &str, next: &str| {
        format!(
            " exe-100    [000] d..2.  1.000100: sched_switch: prev_comm=exe prev_pid=100 prev_prio=120 prev_state={state} ==> {next} next_prio=120\n"
        )
    };
    let idle = "next_comm=swapper/0 next_pid=0";
    let exec = "\
 exe-101    [000] .....  1.000110: sys_enter: NR 39 (0, 0, 0, 0, 0, 0)
 exe-100    [000] .....  1.000200: sched_process_exec: filename=/bin/sleep pid=100 old_pid=101
";
    let zombie = [
        head,
        &left("Z", "next_comm=exe next_pid=101"),
        exec,
        call,
        tail,
    ]
    .concat();
    let sleeper = [head, &left("S", idle), call, tail].concat();
    // Between two losses.
    let between = [head, &left("S", idle), lost, call, tail].concat();
    let files = Files::new(&[
        ("zombie", &zombie),
        ("sleeper", &sleeper),
        ("between", &between),
    ]);
    for (file, state, until) in [
        ("zombie", "zombie", 1_000_200_000),
        ("sleeper", "sleeping", 1_000_210_000),
        ("between", "sleeping", 1_000_210_000),
    ] {
        let rows = files.table(&["states", file]);
        let of_100 = rows.iter().filter(|row| row["tid"] == 100);
        let own = of_100.map(|row| (row["state"].as_str().unwrap(), row["ts"].as_i64().unwrap()));
        let own: Vec<_> = own.collect();
        assert_eq!(own[1], (state, 1_000_100_000), "{file}: {own:?}");
        assert_eq!(own[2], ("unknown", until), "{file}: {own:?}");
        assert_eq!(own[3], ("running", 1_000_500_000), "{file}: {own:?}");
    }
}

/// Sums count a state that spans a loss among those of unknown length: two sleeps of 50 ms are not one of 100 ms.
#[test]
fn sums_of_states_leave_out_what_spans_a_loss() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/over_losses");
    let files = Files::new(&[]);
    let mut uncertain = 0;
    for recording in RECORDINGS {
        let file = format!("{folder}/{recording}.ftrace.txt.zst");
        for total in files.table_of(&["stats", &file, "--of", "states"]) {
            let states = table("states", recording);
            let named = states.iter().filter(|row| row["state"] == total["group"]);
            let is_known = |row: &&Row| !row["dur"].is_null() && row["spans_loss"] != 1;
            let (known, unknown): (Vec<_>, Vec<_>) = named.partition(is_known);
            let sum: i64 = known.iter().filter_map(|row| row["dur"].as_i64()).sum();
            assert_eq!(total["count"], known.len(), "{recording}: {total}");
            assert_eq!(total["sum"], sum, "{recording}: {total}");
            assert_eq!(total["unfinished"], unknown.len(), "{recording}: {total}");
            uncertain += unknown.iter().filter(|row| row["spans_loss"] == 1).count();
        }
    }
    assert!(uncertain > 20, "{uncertain}");
}

/// The sums of a thread's preempted states in a file.
fn preempted(file: &str, thread: &str) -> Row {
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadline"));
    let arguments = ["stats", "--of", "states", "--format", "json", "--thread"];
    let output = command
        .args(arguments)
        .args([thread, file])
        .output()
        .unwrap();
    let rows: Vec<Row> = serde_json::from_slice(&output.stdout).unwrap();
    let mut rows = rows.into_iter();
    rows.find(|row| row["group"] == "preempted").unwrap()
}

/// Where switches are missing without a recorded loss, nothing says how long a state lasted at least; neither does an
/// export, nor a loss elsewhere.
#[test]
fn states_over_missing_switches_are_not_even_at_least_as_long() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/ftrace_text");
    let made = tempfile::tempdir().unwrap();
    let path = |name: &str| made.path().join(name).to_string_lossy().into_owned();
    let text = format!("{folder}/preempted-where-switches-are-missing.ftrace");
    let text = std::fs::read_to_string(text).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (head, last) = lines.split_at(lines.len() - 2);
    // Another thread's wakeup, and a loss of another CPU within the state.
    let waking = "           x-77      [000] d..2.  100.003000: sched_waking: comm=y pid=78 prio=120 target_cpu=000";
    let other = "           x-77      [001] d..2.  100.009000: sched_waking: comm=y pid=78 prio=120 target_cpu=000";
    let mut with_more = head.to_vec();
    with_more.extend([waking, "CPU:1 [LOST 5 EVENTS]", other]);
    with_more.extend(last);
    std::fs::write(path("plain.ftrace"), &text).unwrap();
    std::fs::write(path("more.ftrace"), with_more.join("\n") + "\n").unwrap();
    for source in ["plain", "more"] {
        let source = path(&format!("{source}.ftrace"));
        let mut files = vec![source.clone()];
        for to in ["out.fxt", "out.json"] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_threadline"));
            let arguments = ["export", "-f", "-o", &path(to), &source];
            assert!(command.args(arguments).output().unwrap().status.success());
            files.push(path(to));
        }
        for file in files {
            let row = preempted(&file, "10");
            assert_eq!(row["count"], 0, "{file}");
            assert_eq!(row["unfinished"], 1, "{file}");
            assert_eq!(row["at_least"], 0, "{file}");
        }
    }
}
