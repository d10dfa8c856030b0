//! Exports of a part of a trace, read again: what the part contains has the names, numbers and arrows of the whole.

use std::path::Path;

use crate::corpus::corpus;
use crate::files::Files;
use crate::program::{Row, number, rows, stdout};
use serde_json::Value;
use std::collections::BTreeSet;

/// Exports a part of a file to `OUT`, and returns its path.
fn exported(folder: &Path, file: &str, out: &str, options: &[&str]) -> String {
    let out = folder.join(out).to_string_lossy().into_owned();
    let arguments = [&["export", file, "-o", &out, "--force"], options].concat();
    let _summary = stdout(&arguments);
    out
}

fn sample_of(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join(path).to_string_lossy().into_owned()
}

fn columns(table: &str, file: &str, names: &[&str]) -> Vec<Vec<String>> {
    let cells = |row: &Row| names.iter().map(|name| row[*name].clone()).collect();
    let mut found: Vec<Vec<String>> = rows(&["table", table, file]).iter().map(cells).collect();
    found.sort();
    found
}

#[test]
fn arrows_that_cross_a_border_are_in_both_formats() {
    let folder = tempfile::tempdir().unwrap();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces");
    let strace = sample.join("threads-and-signals.strace");
    let etrace = corpus("etrace/pidreuse.etrace");
    let mut crossing = 0;
    for file in [strace, etrace] {
        let file = file.to_string_lossy().into_owned();
        let whole = rows(&["table", "flows", &file]);
        let time = |row: &Row, name: &str| row[name].parse::<i64>().unwrap();
        let mut times: Vec<i64> = whole.iter().map(|row| time(row, "from_ts")).collect();
        times.sort_unstable();
        for share in [1, 2, 3] {
            // From the middle of one arrow on, so that one crosses the border.
            let middle = times[times.len() * share / 5];
            let (from, until) = (middle + 1, times[times.len() * (share + 1) / 5] + 1);
            let bounds = [format!("@{from}"), format!("@{until}")];
            let options = ["--from", &bounds[0], "--until", &bounds[1]];
            let ends = ["from_tid", "to_tid", "name"];
            let fxt = exported(folder.path(), &file, "part.fxt", &options);
            let json = exported(folder.path(), &file, "part.json", &options);
            let expected = columns("flows", &fxt, &ends);
            assert_eq!(
                columns("flows", &json, &ends),
                expected,
                "{file} {options:?}"
            );
            let inside = |at: i64| (from..until).contains(&at);
            let cross = |row: &&Row| inside(time(row, "from_ts")) != inside(time(row, "to_ts"));
            crossing += whole.iter().filter(cross).count();
            for row in rows(&["table", "flows", &json]) {
                assert!(time(&row, "to_ts") <= until, "an event after the range");
            }
        }
    }
    assert!(crossing > 0);
}

#[test]
fn reused_numbers_are_those_of_the_system_in_a_part_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let file = corpus("etrace/pidreuse.etrace")
        .to_string_lossy()
        .into_owned();
    let part = exported(folder.path(), &file, "part.fxt", &["--process", "316"]);
    let of_316 = |file: &str| {
        let all = columns("processes", file, &["pid"]);
        all.into_iter().filter(|pid| pid[0] == "316").count()
    };
    assert!(of_316(&file) > 3);
    assert_eq!(of_316(&part), of_316(&file));
    // Also of a part of the part, whose records are copied.
    let again = exported(folder.path(), &part, "again.fxt", &["--process", "316"]);
    assert_eq!(of_316(&again), of_316(&file));
}

#[test]
fn threads_of_a_part_keep_their_names_and_those_of_their_processes() {
    let folder = tempfile::tempdir().unwrap();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces/sched-irq.ftrace");
    let sample = sample.to_string_lossy().into_owned();
    let named = ["ts", "tid", "thread"];
    let whole = columns("runs", &sample, &named);
    let options = ["--thread", "24383", "--track", "CPU 0"];
    for out in ["part.json", "part.fxt"] {
        let part = exported(folder.path(), &sample, out, &options);
        let runs = columns("runs", &part, &named);
        let threads = |runs: &[Vec<String>]| {
            let mut all: Vec<[String; 2]> = (runs.iter())
                .map(|run| [run[1].clone(), run[2].clone()])
                .collect();
            all.dedup();
            all
        };
        for thread in threads(&runs) {
            assert!(threads(&whole).contains(&thread), "{out}: {thread:?}");
        }
    }
    // A process that was over before its thread, which is in the range.
    let file = corpus("etrace/thread-exec.etrace")
        .to_string_lossy()
        .into_owned();
    let range = ["--from", "@32704324092", "--until", "@47180896301"];
    let part = exported(folder.path(), &file, "life.fxt", &range);
    let name_of_395 = |file: &str| {
        let all = columns("processes", file, &["pid", "name", "start"]);
        let found = all
            .into_iter()
            .find(|row| row[0] == "395" && !row[1].is_empty());
        found.map(|row| row[1].clone())
    };
    assert!(name_of_395(&file).is_some());
    assert_eq!(name_of_395(&part), name_of_395(&file));
}

#[test]
fn a_limit_of_the_cpus_adds_nothing_to_chosen_threads() {
    let folder = tempfile::tempdir().unwrap();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces/sched-irq.ftrace");
    let sample = sample.to_string_lossy().into_owned();
    for table in ["slices", "instants"] {
        let lines = |options: &[&str], out: &str| {
            let options = [&["--table", table, "--to", "csv"], options].concat();
            let out = exported(folder.path(), &sample, out, &options);
            let text = std::fs::read_to_string(out).unwrap();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let all = lines(&["--thread", "24383"], "all.csv");
        let some = lines(&["--thread", "24383", "--cpu", "0"], "some.csv");
        assert!(some.iter().all(|line| all.contains(line)), "{table}");
        assert!(lines(&["--cpu", "0"], "cpu.csv").len() > some.len());
    }
}

/// Interrupts on a CPU's track are on an artificial thread in FXT and JSON: `--cpu` finds them again there.
#[test]
fn what_is_on_the_track_of_a_cpu_is_of_that_cpu_in_an_export_too() {
    let folder = tempfile::tempdir().unwrap();
    let source = sample_of("sample-traces/sched-irq-syscalls.dat");
    let of_cpu = |file: &str, options: &[&str]| {
        let mut arguments = vec!["stats", "--kind", "interrupts", "--cpu", "0"];
        arguments.extend(options);
        arguments.push(file);
        let all = rows(&arguments);
        let sum = |column: &str| all.iter().map(|row| number(row, column)).sum::<i64>();
        (sum("count"), sum("sum"))
    };
    let range = ["--from", "600ms", "--until", "640ms"];
    let expected = of_cpu(&source, &range);
    assert!(expected.0 > 10, "{expected:?}");
    for out in ["part.fxt", "part.json"] {
        let again = exported(folder.path(), &source, out, &range);
        assert_eq!(of_cpu(&again, &[]), expected, "{out}");
        let third = exported(
            folder.path(),
            &again,
            &format!("third.{out}"),
            &["--cpu", "0"],
        );
        let all = rows(&["stats", "--kind", "interrupts", &third]);
        let count: i64 = all.iter().map(|row| number(row, "count")).sum();
        assert_eq!(count, expected.0, "{out}");
    }
}

/// The first switch takes a thread off that was not seen before; one thread is woken, runs and sleeps at one time; one goes
/// to another CPU.
const SWITCHES: &str = "# tracer: nop\n#\n\
 <idle>-0 [000] d..2. 1.000100: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=b next_pid=20 next_prio=120\n\
      b-20 [000] d..2. 1.000200: sched_switch: prev_comm=b prev_pid=20 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n\
      a-10 [000] d..2. 1.000300: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=R ==> next_comm=b next_pid=20 next_prio=120\n\
      b-20 [000] d..2. 1.000700: sched_switch: prev_comm=b prev_pid=20 prev_prio=120 prev_state=S ==> next_comm=a next_pid=10 next_prio=120\n\
      a-10 [000] d..2. 1.000900: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n\
 <idle>-0 [001] dN.4. 1.001010: sched_wakeup: comm=c pid=29 prio=120 target_cpu=001\n\
 <idle>-0 [001] d..2. 1.001010: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=c next_pid=29 next_prio=120\n\
      c-29 [001] d..2. 1.001010: sched_switch: prev_comm=c prev_pid=29 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120\n\
 <idle>-0 [001] dN.4. 1.004000: sched_wakeup: comm=c pid=29 prio=120 target_cpu=000\n\
 <idle>-0 [000] d..2. 1.004050: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=c next_pid=29 next_prio=120\n\
      c-29 [000] d..2. 1.004060: sched_switch: prev_comm=c prev_pid=29 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n";

#[test]
fn states_survive_chrome_json_and_fxt_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("switches.ftrace");
    std::fs::write(&path, SWITCHES).unwrap();
    let text = path.to_string_lossy().into_owned();
    let names = [
        "ts",
        "dur",
        "state",
        "tid",
        "waker_tid",
        "cpu",
        "woken_in",
        "spans_loss",
    ];
    for source in [
        text.clone(),
        sample_of("sample-traces/sched-irq-syscalls.dat"),
    ] {
        let expected = columns("states", &source, &names);
        assert!(expected.len() >= 12);
        let json = exported(folder.path(), &source, "states.json", &[]);
        assert_eq!(columns("states", &json, &names), expected);
        let fxt = exported(folder.path(), &json, "states.fxt", &[]);
        assert_eq!(columns("states", &fxt, &names), expected);
    }
    // A CPU has the states that began there, in both formats.
    let of_cpu = |out: &str| exported(folder.path(), &text, out, &["--cpu", "1"]);
    let expected = [
        ["1001010000", "0", "runnable"],
        ["1001010000", "0", "running"],
        ["1001010000", "2990000", "sleeping"],
    ];
    for out in ["cpu.fxt", "cpu.json"] {
        let mut found = columns("states", &of_cpu(out), &names[..3]);
        let mut expected: Vec<Vec<String>> = (expected.iter())
            .map(|row| row.map(str::to_owned).to_vec())
            .collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{out}");
    }
}

/// Interrupts of a CPU on which no thread was seen to run.
const INTERRUPTS_ALONE: &str = "# tracer: nop\n#\n\
   a-10  [003] d.h1. 100.000000: irq_handler_entry: irq=11 name=ata\n\
   a-10  [003] d.h1. 100.000007: irq_handler_exit: irq=11 ret=handled\n\
   b-20  [001] d.h1. 100.000010: irq_handler_entry: irq=12 name=net\n\
   b-20  [001] d.h1. 100.000030: irq_handler_exit: irq=12 ret=handled\n";

#[test]
fn a_cpu_with_interrupts_alone_is_one_in_an_export_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("irq.ftrace");
    std::fs::write(&path, INTERRUPTS_ALONE).unwrap();
    let file = path.to_string_lossy().into_owned();
    for out in ["irq.fxt", "irq.json"] {
        let again = exported(folder.path(), &file, out, &[]);
        for file in [&file, &again] {
            let of_cpu = rows(&["stats", "--cpu", "3", file]);
            assert_eq!(of_cpu.len(), 1, "{file}");
            assert_eq!(number(&of_cpu[0], "sum"), 7000, "{file}");
        }
    }
}

/// Thread a runs on CPU 0 for 100 us, then on CPU 1 for 300 us; b is a zombie before that.
const MOVES: &str = "# tracer: nop\n#\n\
   b-20  [000] d..2. 100.000000: sched_switch: prev_comm=b prev_pid=20 prev_prio=120 prev_state=Z ==> next_comm=a next_pid=10 next_prio=120\n\
   a-10  [000] d..2. 100.000100: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n\
 <idle>-0 [001] d..2. 100.000200: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120\n\
   a-10  [001] d..2. 100.000500: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120\n";

#[test]
fn a_part_has_the_running_states_of_its_cpus_and_no_zombies_of_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("moves.ftrace");
    std::fs::write(&path, MOVES).unwrap();
    let file = path.to_string_lossy().into_owned();
    let running = |file: &str, options: &[&str]| {
        let mut arguments = vec!["stats", "--of", "states", "--thread", "10"];
        arguments.extend(options);
        arguments.push(file);
        let all = rows(&arguments);
        let running = all.iter().find(|row| row["group"] == "running").unwrap();
        number(running, "sum")
    };
    assert_eq!(running(&file, &["--cpu", "0"]), 100_000);
    for out in ["cpu.fxt", "cpu.json"] {
        let again = exported(folder.path(), &file, out, &["--cpu", "0"]);
        assert_eq!(running(&again, &[]), 100_000, "{out}");
    }
    let later = ["--from", "@100000300000"];
    let zombies = |table: Vec<Row>, column: &str| {
        let zombies = table.iter().filter(|row| row[column] == "zombie");
        zombies.count()
    };
    let [from, at] = later;
    let stats = rows(&["stats", "--of", "states", from, at, &file]);
    assert_eq!(zombies(stats, "group"), 0);
    assert_eq!(
        zombies(rows(&["table", "states", from, at, &file]), "state"),
        0
    );
    for out in ["later.fxt", "later.json"] {
        let again = exported(folder.path(), &file, out, &later);
        assert_eq!(
            zombies(rows(&["table", "states", &again]), "state"),
            0,
            "{out}"
        );
    }
}

/// Chrome JSON joins asynchronous events of one category and one id: cargo's sections have another category than their units.
#[test]
fn operations_of_several_categories_stay_nested_in_json() {
    let folder = tempfile::tempdir().unwrap();
    let source = sample_of("sample-traces/cargo-timing.html");
    let again = exported(folder.path(), &source, "again.json", &[]);
    let names = ["ts", "dur", "depth", "name", "category"];
    let expected = columns("slices", &source, &names);
    assert!(expected.iter().any(|row| row[2] == "1"), "{expected:?}");
    assert_eq!(columns("slices", &again, &names), expected);
    let text = std::fs::read_to_string(&again).unwrap();
    let events: Value = serde_json::from_str(&text).unwrap();
    let inside = events["traceEvents"].as_array().unwrap().iter();
    let inside = inside.filter(|event| event["args"]["threadline_category"] == "section");
    let categories: BTreeSet<String> = inside.map(|event| event["cat"].to_string()).collect();
    assert_eq!(categories, BTreeSet::from(["\"build\"".to_owned()]));
}

/// Slices and instants of CPUs are on the tracks of their CPUs again, of the threads that ran there; no process or thread
/// is added.
#[test]
fn what_belongs_to_a_cpu_comes_back_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let root = env!("CARGO_MANIFEST_DIR");
    for sample in ["sched-irq-syscalls.dat", "block-ext4.dat"] {
        let file = format!("{root}/sample-traces/{sample}");
        let [fxt, json, later] = ["a.fxt", "a.json", "b.fxt"].map(path);
        for (from, to) in [(&file, &fxt), (&file, &json), (&json, &later)] {
            let _written = stdout(&["export", from, "-o", to, "--force"]);
        }
        let sorted = |file: &str, table: &str, wanted: &[&str]| {
            let all = rows(&["table", table, file]);
            let of_row = |row: &Row| wanted.iter().map(|name| row[*name].clone()).collect();
            let mut all: Vec<Vec<String>> = all.iter().map(of_row).collect();
            all.sort();
            all
        };
        let tables: [(&str, &[&str]); 4] = [
            (
                "slices",
                &[
                    "ts", "dur", "depth", "name", "category", "pid", "tid", "track",
                ],
            ),
            (
                "instants",
                &["ts", "name", "category", "pid", "tid", "track"],
            ),
            ("processes", &["pid", "name"]),
            ("threads", &["tid", "pid", "name"]),
        ];
        for (table, wanted) in tables {
            let expected = sorted(&file, table, wanted);
            assert!(
                !expected.is_empty() || table == "instants",
                "{sample}: {table}"
            );
            for again in [&fxt, &json, &later] {
                let found = sorted(again, table, wanted);
                let differ = expected.iter().zip(&found).find(|(a, b)| a != b);
                assert_eq!(expected.len(), found.len(), "{sample}: {table}: {again}");
                assert_eq!(differ, None, "{sample}: {table}: {again}");
            }
        }
    }
    let all = rows(&[
        "table",
        "slices",
        &format!("{root}/sample-traces/sched-irq-syscalls.dat"),
    ]);
    assert!(all.iter().any(|row| row["track"].starts_with("CPU ")));
}

#[test]
fn runs_stay_with_their_thread_beside_files_that_use_its_number() {
    let switches = "# tracer: nop\n#\n\
#           TASK-PID     TGID     CPU#  |||||  TIMESTAMP  FUNCTION\n\
          <idle>-0     (-------) [000] d..2.     1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 \
prev_state=R ==> next_comm=worker next_pid=100 next_prio=120\n\
          worker-100   (     10) [000] d..2.     1.000300: sched_switch: prev_comm=worker prev_pid=100 prev_prio=120 \
prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n";
    let slices = r#"[{"ph":"X","ts":1.5,"dur":1,"pid":10,"tid":100,"name":"J"},
{"ph":"X","ts":1.5,"dur":1,"pid":20,"tid":100,"name":"K"}]"#;
    let files = Files::new(&[("runs.ftrace", switches), ("slices.json", slices)]);
    for out in ["again.fxt", "again.json"] {
        let _written = files.text(&["export", "runs.ftrace", "slices.json", "-o", out]);
        let runs = files.table_of(&["table", "runs", out]);
        let of_threads: Vec<&Value> = runs.iter().map(|run| &run["thread"]).collect();
        assert_eq!(of_threads, ["worker"], "{out}");
    }
}

/// Slices that cross each other and reach over the end of a range, or over its start.
#[test]
fn crossing_slices_of_a_part_are_not_inside_each_other() {
    let slice = |name: &str, from: u32, until: u32| {
        let duration = until - from;
        format!(r#"{{"ph":"X","pid":1,"tid":1,"name":"{name}","ts":{from},"dur":{duration}}}"#)
    };
    let others = [slice("early", 0, 1), slice("late", 90, 91)];
    for (a, b, range) in [
        ([10, 30], [15, 35], ["@5000", "@20000"]),
        ([10, 20], [15, 35], ["@5000", "@20000"]),
        ([2, 15], [4, 25], ["@5000", "@40000"]),
        ([2, 30], [4, 35], ["@5000", "@20000"]),
    ] {
        let both = [slice("A", a[0], a[1]), slice("B", b[0], b[1])];
        for around in [None, Some(slice("around", 1, 80))] {
            let all = others.iter().chain(&around).chain(&both);
            let all: Vec<&str> = all.map(String::as_str).collect();
            let files = Files::new(&[("c.json", &format!("[{}]", all.join(",")))]);
            for out in ["again.fxt", "again.json"] {
                let range = ["--from", range[0], "--until", range[1]];
                let _written = files.text(&[&["export", "c.json", "-o", out], &range[..]].concat());
                let slices = files.table_of(&["table", "slices", out]);
                let depth = |name: &str| {
                    let row = slices.iter().find(|row| row["name"] == name);
                    row.map(|row| row["depth"].clone())
                };
                assert_eq!(
                    depth("A"),
                    depth("B"),
                    "{out} {a:?} {b:?} {range:?} {slices:?}"
                );
            }
        }
    }
}
