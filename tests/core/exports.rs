//! What others read in our exports, and what we read again: runs by thread, whole round trips, JSON whose slices nest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::by_thread::{ThreadRun, runs_by_thread};
use serde_json::Value as Json;

const LOST_SWITCHES: &str = "tests/cases/ftrace_text/lost-switches.ftrace";
const ETRACE: &str = "sample-traces/lua-make-j2.etrace.zst";
const SCHEDULED: &[&str] = &[
    ETRACE,
    LOST_SWITCHES,
    "sample-traces/kprobe-hackbench.dat",
    "sample-traces/sched-irq-syscalls.dat",
    "sample-traces/sched-irq.ftrace",
];

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn run(arguments: &[&str], files: &[&Path]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadline"));
    let output = command.args(arguments).args(files).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?} {files:?}: {told}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The rows of a table, each by the names of its columns.
fn table(name: &str, path: &Path) -> Vec<BTreeMap<String, String>> {
    let text = run(&["table", name], &[path]);
    let mut lines = text.lines().map(|line| line.split('\t').map(str::to_owned));
    let names: Vec<String> = lines.next().unwrap().collect();
    lines
        .map(|cells| names.iter().cloned().zip(cells).collect())
        .collect()
}

/// Exports a file, in a folder that lasts as long as the answer.
fn exported(path: &Path, to: &str, more: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join(to);
    let arguments = [&["export", "-o", out.to_str().unwrap()], more].concat();
    run(&arguments, &[path]);
    (folder, out)
}

fn number(cell: &str) -> Option<i64> {
    (cell != "\\N").then(|| cell.parse().unwrap())
}

fn runs_of_table(path: &Path) -> Vec<ThreadRun> {
    let row = |row: BTreeMap<String, String>| {
        let of = |name: &str| number(&row[name]);
        let (cpu, tid) = (of("cpu").unwrap() as u64, of("tid").unwrap() as u64);
        (of("ts").unwrap(), of("dur"), cpu, tid)
    };
    let mut runs: Vec<ThreadRun> = table("runs", path).into_iter().map(row).collect();
    runs.sort_unstable();
    runs
}

#[test]
fn every_run_ends_for_a_reader_that_closes_runs_by_thread() {
    for name in SCHEDULED {
        let (_folder, fxt) = exported(&file(name), "a.fxt", &[]);
        let found = runs_by_thread(&std::fs::read(&fxt).unwrap());
        let expected = runs_of_table(&file(name));
        assert!(!expected.is_empty(), "{name}");
        assert_eq!(found.len(), expected.len(), "{name}");
        let mut unseen = 0;
        for (found, run) in found.iter().zip(&expected) {
            // A run whose end was not seen ends for other readers where its thread was last seen to run.
            let is_unseen = run.1.is_none() && found.1 == Some(0);
            unseen += usize::from(is_unseen);
            let length = found.1.filter(|_| !is_unseen);
            assert_eq!((found.0, length, found.2, found.3), *run, "{name}");
        }
        assert_eq!(unseen, if *name == LOST_SWITCHES { 3 } else { 0 }, "{name}");
        // No length is made up, and none of these clocks counts single nanoseconds.
        assert!(expected.iter().all(|run| run.1 != Some(1)), "{name}");
    }
    let runs = runs_of_table(&file(ETRACE));
    assert_eq!(runs.iter().filter(|run| run.1.is_none()).count(), 0);
    assert_eq!(runs.len(), 4081);
}

#[test]
fn a_run_ends_where_its_thread_runs_on_another_cpu() {
    let runs = runs_of_table(&file(LOST_SWITCHES));
    let of_worker: Vec<_> = runs.iter().filter(|run| run.3 == 10).collect();
    // Nothing shows that it lasted until then.
    assert_eq!(of_worker[0], &(100_000_010_000, None, 0, 10));
    assert_eq!(of_worker[1], &(100_000_020_000, Some(10_000), 1, 10));
}

#[test]
fn runs_states_wakers_and_flows_are_read_again_as_they_were() {
    let flows = [
        "sample-traces/minix-pipeline.minix",
        "sample-traces/shell-pipeline.strace",
    ];
    for name in SCHEDULED.iter().chain(&flows) {
        let (_folder, fxt) = exported(&file(name), "a.fxt", &[]);
        for rows in ["runs", "states"] {
            let told = |path: &Path| table(rows, path);
            assert_eq!(told(&fxt), told(&file(name)), "{name} {rows}");
        }
        let times = |path: &Path| -> Vec<Vec<String>> {
            let row = |row: BTreeMap<String, String>| {
                let of = |name: &str| row[name].clone();
                ["name", "from_ts", "from_tid", "to_ts", "to_tid"]
                    .map(of)
                    .to_vec()
            };
            table("flows", path).into_iter().map(row).collect()
        };
        assert_eq!(times(&fxt), times(&file(name)), "{name}");
    }
    assert!(table("states", &file(ETRACE)).is_empty());
    let wakers = table("states", &file(LOST_SWITCHES));
    assert!(wakers.iter().any(|row| row["waker_tid"] == "0"));
    assert!(!table("flows", &file(flows[0])).is_empty());
}

#[test]
fn providers_keep_their_names() {
    for name in [
        "sample-traces/compress.fxt",
        "tests/cases/fxt/all_args.fxt.zst",
    ] {
        let (_folder, fxt) = exported(&file(name), "a.fxt", &[]);
        for rows in ["instants", "processes", "threads"] {
            let sorted = |path: &Path| -> BTreeSet<BTreeMap<String, String>> {
                table(rows, path).into_iter().collect()
            };
            assert_eq!(sorted(&fxt), sorted(&file(name)), "{name} {rows}");
        }
        let providers = |path: &Path| -> Vec<String> {
            let text = run(&["info"], &[path]);
            let lines = text.lines().filter(|line| line.starts_with("provider "));
            lines.map(str::to_owned).collect()
        };
        let (before, after) = (providers(&file(name)), providers(&fxt));
        assert!(
            !before.is_empty() && after.starts_with(&before),
            "{after:?}"
        );
        // And once more.
        let (_folder, again) = exported(&fxt, "b.fxt", &[]);
        assert_eq!(providers(&again), after);
    }
}

/// The events of a JSON export but for names.
fn json_events(path: &Path) -> Vec<Json> {
    let json: Json = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let events = json["traceEvents"].as_array().unwrap().iter();
    events.filter(|event| event["ph"] != "M").cloned().collect()
}

#[test]
fn events_of_a_cpu_name_the_thread_that_they_interrupted() {
    for (name, count) in [
        ("sample-traces/sched-irq.ftrace", 215),
        ("sample-traces/sched-irq-syscalls.dat", 692),
    ] {
        let source = file(name);
        let interrupted = |path: &Path, argument: &str| -> Vec<(i64, String)> {
            let of = |event: &Json| {
                let tid = event["args"].get(argument)?.to_string();
                let us = event["ts"].as_f64()?;
                Some(((us * 1000.0).round() as i64, tid))
            };
            json_events(path).iter().filter_map(of).collect()
        };
        let (_first, json) = exported(&source, "a.json", &[]);
        let told = interrupted(&json, "interrupted_tid");
        let recorded: BTreeSet<(i64, String)> = table("events", &source)
            .into_iter()
            .map(|row| (number(&row["ts"]).unwrap(), row["tid"].clone()))
            .collect();
        assert_eq!(told.len(), count, "{name}");
        for event in &told {
            assert!(recorded.contains(event), "{name}: {event:?}");
        }
        let (_second, fxt) = exported(&source, "a.fxt", &[]);
        let (_third, again) = exported(&fxt, "b.json", &[]);
        assert_eq!(interrupted(&again, "interrupted"), told, "{name}");
    }
}

#[test]
fn more_than_fifteen_arguments_are_read_again() {
    let source = file("sample-traces/block-ext4.dat");
    let (_folder, fxt) = exported(&source, "a.fxt", &[]);
    let args = |path: &Path| -> BTreeMap<(String, String), Json> {
        let (_folder, json) = exported(path, "a.json", &[]);
        let points = json_events(&json)
            .into_iter()
            .filter(|event| event["ph"] == "i");
        points
            .map(|mut event| {
                let key = (event["ts"].to_string(), event["name"].to_string());
                let mut args = event["args"].take();
                // Our FXT says there on which CPU it was.
                if let Some(args) = args.as_object_mut() {
                    args.remove("on_cpu");
                }
                (key, args)
            })
            .filter(|(_, args)| args.as_object().is_some_and(|args| args.len() > 15))
            .collect()
    };
    let before = args(&source);
    assert!(!before.is_empty());
    assert_eq!(args(&fxt), before);
    let (_folder, again) = exported(&fxt, "b.fxt", &[]);
    assert_eq!(args(&again), before);
}

fn nanoseconds(value: &Json) -> i64 {
    // All times of these files are exact as doubles of microseconds.
    (value.as_f64().unwrap() * 1000.0).round() as i64
}

/// Asserts that the complete events of each thread nest, in the order of a stable sort by time.
fn assert_nests(events: &[Json], name: &str) {
    let mut threads: BTreeMap<(u64, u64), Vec<(i64, i64)>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let owner = (
            event["pid"].as_u64().unwrap(),
            event["tid"].as_u64().unwrap(),
        );
        assert!(owner.0 < 1 << 32 && owner.1 < 1 << 32, "{name} {event}");
        let start = nanoseconds(&event["ts"]);
        let slice = (start, start + nanoseconds(&event["dur"]));
        threads.entry(owner).or_default().push(slice);
    }
    for slices in threads.values_mut() {
        slices.sort_by_key(|slice| slice.0);
        let mut open: Vec<i64> = Vec::new();
        for &(start, end) in slices.iter() {
            while open.pop_if(|end| *end <= start).is_some() {}
            assert!(
                open.last().is_none_or(|around| *around >= end),
                "{name} {start}"
            );
            open.push(end);
        }
    }
}

#[test]
fn json_has_all_that_tables_have_and_its_slices_nest() {
    let deep = "tests/cases/fxt/deep.fxt.zst";
    let big = "tests/cases/fxt/bigtime.fxt";
    for name in SCHEDULED.iter().copied().chain([deep, big]) {
        let (_folder, json) = exported(&file(name), "a.json", &[]);
        let events = json_events(&json);
        assert_nests(&events, name);
        let of_category = |category: &str| {
            let found = events.iter().filter(|event| event["cat"] == category);
            found.collect::<Vec<_>>()
        };
        let states = table("states", &file(name));
        let woken = states.iter().filter(|row| row["waker"] != "\\N").count();
        assert_eq!(
            of_category("runs").len(),
            table("runs", &file(name)).len(),
            "{name}"
        );
        assert_eq!(of_category("states").len(), states.len(), "{name}");
        assert_eq!(of_category("wakeups").len(), woken, "{name}");
        let is_slice = |event: &&Json| {
            let phase = event["ph"].as_str().unwrap();
            let category = event["cat"].as_str().unwrap_or_default();
            "XBb".contains(phase) && !["runs", "states"].contains(&category)
        };
        let slices = events.iter().filter(is_slice).count();
        assert_eq!(slices, table("slices", &file(name)).len(), "{name}");
    }
}

#[test]
fn json_keeps_scopes_and_arguments_that_share_a_name() {
    let (_folder, json) = exported(&file("tests/cases/fxt/all_args.fxt.zst"), "a.json", &[]);
    let scope = |name: &str| {
        let events = json_events(&json);
        let event = events.iter().find(|event| event["name"] == name).cloned();
        event.unwrap()["s"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        ["inst", "proc inst", "glob inst"].map(scope),
        ["t", "p", "g"]
    );
    let source = file("tests/cases/fxt/dupargs.fxt");
    let (_folder, json) = exported(&source, "a.json", &[]);
    assert_eq!(
        json_events(&json)[0]["args"],
        serde_json::json!({"a": [1, 2, "x"]})
    );
    let (_folder, fxt) = exported(&source, "a.fxt", &[]);
    let (_folder, json) = exported(&fxt, "a.json", &[]);
    assert_eq!(
        json_events(&json)[0]["args"],
        serde_json::json!({"a": [1, 2, "x"]})
    );
}

#[test]
fn series_that_come_together_are_one_counter_in_json() {
    let source = file("tests/cases/fxt/counters.fxt");
    let (_folder, json) = exported(&source, "a.json", &[]);
    let events = json_events(&json);
    let counters: Vec<&Json> = events.iter().filter(|event| event["ph"] == "C").collect();
    let both = |event: &&&Json| event["name"] == "mem" && event["args"].get("free").is_some();
    let first = counters.iter().find(both).unwrap();
    assert_eq!(
        first["args"],
        serde_json::json!({"free": 100.0, "used": 0.0})
    );
    let values: usize = counters
        .iter()
        .map(|event| event["args"].as_object().unwrap().len())
        .sum();
    assert_eq!(values, table("counters", &source).len());
    // A name has one set of series in its process.
    let mut series: BTreeMap<(String, String), BTreeSet<Vec<String>>> = BTreeMap::new();
    for event in counters {
        let key = (event["pid"].to_string(), event["name"].to_string());
        let names = event["args"].as_object().unwrap().keys().cloned().collect();
        series.entry(key).or_default().insert(names);
    }
    assert!(series.values().all(|sets| sets.len() == 1), "{series:?}");
}

#[test]
fn a_track_of_a_cpu_is_all_that_it_shows() {
    let source = file("sample-traces/kprobe-hackbench.dat");
    let all = runs_of_table(&source);
    let on_cpu = |runs: &[ThreadRun], cpu: u64| -> Vec<ThreadRun> {
        runs.iter().filter(|run| run.2 == cpu).copied().collect()
    };
    let cpu = all[0].2;
    let other = all.iter().find(|run| run.2 != cpu);
    let track = format!("CPU {cpu}");
    // Alone it is the CPU, as --cpu is.
    let (_folder, alone) = exported(&source, "a.fxt", &["--track", &track]);
    assert_eq!(runs_of_table(&alone), on_cpu(&all, cpu));
    // Beside a thread it is who ran there, and the thread's own runs.
    let thread = other.map_or(all[0].3, |run| run.3);
    let more = ["--track", &track, "--thread", &thread.to_string()];
    let expected: Vec<ThreadRun> = all
        .iter()
        .filter(|run| run.2 == cpu || run.3 == thread)
        .copied()
        .collect();
    assert!(expected.iter().any(|run| run.3 != thread));
    let (_folder, both) = exported(&source, "a.fxt", &more);
    assert_eq!(runs_of_table(&both), expected);
    // Of the others no states are known.
    let states = table("states", &both);
    assert!(
        states.iter().all(|row| row["tid"] == thread.to_string()),
        "{states:?}"
    );
    let (_folder, csv) = exported(
        &source,
        "a.csv",
        &[&more[..], &["--table", "runs"]].concat(),
    );
    let lines = std::fs::read_to_string(csv).unwrap().lines().count();
    assert_eq!(lines, expected.len() + 1);
    let (_folder, json) = exported(&source, "a.json", &more);
    let runs = json_events(&json);
    let runs = runs.iter().filter(|event| event["cat"] == "runs").count();
    assert_eq!(runs, expected.len());
}

/// (time in ns, thread) of the slices of threads in a file in Chrome JSON.
fn slices_of_json(path: &Path) -> Vec<(i64, i64)> {
    let is_slice = |event: &&Json| {
        let category = event["cat"].as_str().unwrap_or_default();
        event["ph"] == "X" && !["runs", "states"].contains(&category)
    };
    let events = json_events(path);
    let events = events.iter().filter(is_slice);
    let mut found: Vec<(i64, i64)> = events
        .map(|event| {
            let us = event["ts"].as_f64().unwrap();
            ((us * 1e3).round() as i64, event["tid"].as_i64().unwrap())
        })
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn every_export_of_a_cpu_has_the_slices_that_ran_there_and_no_others() {
    let source = file("sample-traces/kprobe-hackbench.dat");
    let cpu = runs_of_table(&source)[0].2.to_string();
    let start = table("slices", &source)[0]["ts"].clone();
    let (_folder, all) = exported(&source, "a.json", &[]);
    let all = slices_of_json(&all);
    for more in [["--cpu", cpu.as_str()], ["--track", &format!("CPU {cpu}")]] {
        let (_folder, csv) = exported(
            &source,
            "a.csv",
            &[&more[..], &["--table", "slices"]].concat(),
        );
        let rows = std::fs::read_to_string(csv).unwrap().lines().count() - 1;
        assert!(rows > 10 && rows < all.len(), "{rows} of {}", all.len());
        let (_folder, json) = exported(&source, "a.json", &more);
        let found = slices_of_json(&json);
        assert_eq!(found.len(), rows, "{more:?} from {start}");
        assert!(found.iter().all(|slice| all.contains(slice)), "{more:?}");
        let (_folder, fxt) = exported(&source, "a.fxt", &more);
        assert_eq!(table("slices", &fxt).len(), rows, "{more:?}");
        let (_folder, perfetto) = exported(&source, "a.pftrace", &more);
        let (_folder, whole) = exported(&source, "b.pftrace", &[]);
        let size = |path: &Path| std::fs::metadata(path).unwrap().len();
        assert!(size(&perfetto) < size(&whole), "{more:?}");
    }
}

#[test]
fn the_ending_says_what_is_written() {
    let source = file(LOST_SWITCHES);
    let (_folder, json) = exported(&source, "a.json", &[]);
    assert!(!json_events(&json).is_empty());
    let (_folder, rows) = exported(&source, "a.json", &["--table", "runs"]);
    let rows: Json = serde_json::from_slice(&std::fs::read(rows).unwrap()).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 7);
    let (_folder, rows) = exported(&source, "a.json", &["--to", "json"]);
    let rows: Json = serde_json::from_slice(&std::fs::read(rows).unwrap()).unwrap();
    assert!(rows.is_array());
}

/// An FXT file of another program: a switch of CPU 0 at each of the times, from one thread to another.
fn foreign(folder: &tempfile::TempDir, switches: &[(u64, u64, u64)]) -> PathBuf {
    let name = u64::from_le_bytes(*b"recorder");
    let mut words = vec![
        0x0016_5478_4604_0010,
        2 << 4 | 1 << 16 | 1 << 20 | 8 << 52,
        name,
        1 | 2 << 4,
        1_000_000_000,
    ];
    for &(time, outgoing, incoming) in switches {
        words.extend([8 | 4 << 4 | 3 << 36 | 1 << 60, time, outgoing, incoming]);
    }
    let path = folder.path().join("foreign.fxt");
    let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_copy_of_others_fxt_ends_every_run_and_claims_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let switches = [
        (1000, 99, 11),
        // Switches were lost: 11 does not run any more, and nobody saw it leave.
        (2000, 21, 22),
        (3000, 22, 11),
        (4000, 11, 99),
        (5000, 23, 24),
        (6000, 24, 99),
    ];
    let source = foreign(&folder, &switches);
    let open = |path: &Path| {
        let runs = runs_by_thread(&std::fs::read(path).unwrap());
        runs.iter().filter(|run| run.1.is_none()).count()
    };
    assert_eq!(open(&source), 3);
    let (_first, copy) = exported(&source, "copy.fxt", &[]);
    let (_second, again) = exported(&copy, "again.fxt", &[]);
    for path in [&copy, &again] {
        // Who runs last still runs when the recording ends.
        assert_eq!(open(path), 1);
        for rows in ["runs", "states", "threads"] {
            assert_eq!(table(rows, path), table(rows, &source), "{rows}");
        }
    }
    let switches = |path: &Path| table("events", path).len();
    assert_eq!(switches(&copy), switches(&source) + 2);
    assert_eq!(switches(&again), switches(&copy));
    let text = String::from_utf8_lossy(&std::fs::read(&copy).unwrap()).into_owned();
    assert!(text.contains("end_not_seen"));
}

#[test]
fn a_thread_is_listed_from_where_its_states_are() {
    let path = file("tests/cases/tracedat/lost-count-unknown.dat.zst");
    let lasts = |row: &BTreeMap<String, String>| {
        let end = number(&row["ts"])? + number(&row["dur"])?;
        Some((row["tid"].clone(), end))
    };
    let mut over: BTreeMap<String, i64> = BTreeMap::new();
    for (tid, end) in table("runs", &path).iter().filter_map(lasts) {
        let known = over.entry(tid).or_default();
        *known = end.max(*known);
    }
    // Threads that ran on after their exit event, on their way out of the kernel.
    let threads = table("threads", &path);
    let mut late = 0;
    for row in threads.iter().filter(|row| row["tid"] != "0") {
        let (Some(end), Some(&last)) = (number(&row["end"]), over.get(&row["tid"])) else {
            continue;
        };
        if last <= end + 1 || late == 3 {
            continue;
        }
        late += 1;
        let from = format!("@{end}");
        let mut lists = ["threads", "states"].map(|name| {
            let text = run(&["table", name, "--from", &from], &[&path]);
            text.lines()
                .filter(|line| line.split('\t').any(|cell| cell == row["tid"]))
                .count()
        });
        assert!(lists[1] > 0);
        lists[1] = lists[1].min(1);
        assert_eq!(lists, [1, 1], "thread {} from {end}", row["tid"]);
        let (_folder, fxt) = exported(&path, "a.fxt", &["--from", &from]);
        let is_it = |it: &BTreeMap<String, String>| it["tid"] == row["tid"];
        assert!(table("threads", &fxt).iter().any(is_it));
    }
    assert_eq!(late, 3);
}

#[test]
fn wakeups_by_interrupts_are_in_json_with_what_woke() {
    let name = "sample-traces/sched-irq.ftrace";
    let (_folder, json) = exported(&file(name), "a.json", &[]);
    let events = json_events(&json);
    let wakeups = events.iter().filter(|event| event["cat"] == "wakeups");
    let mut said: Vec<String> = wakeups
        .map(|event| {
            let args = &event["args"];
            assert!(
                args["waker_tid"].is_u64() != args["woken_in"].is_string(),
                "{event}"
            );
            format!(
                "{} {} {}",
                event["ts"],
                args["tid"],
                args["waker"].as_str().unwrap()
            )
        })
        .collect();
    let states = table("states", &file(name));
    let mut expected: Vec<String> = (states.iter())
        .filter(|row| row["waker"] != "\\N")
        .map(|row| {
            let ts = row["ts"].parse::<f64>().unwrap() / 1000.0;
            // Tables name threads with their numbers.
            let waker = &row["waker"];
            let waker = waker.strip_suffix(&format!(" ({})", row["waker_tid"]));
            let waker = waker.unwrap_or(&row["waker"]);
            format!("{ts:?} {} {waker}", row["tid"])
        })
        .collect();
    said.sort();
    expected.sort();
    assert_eq!(said, expected);
    let in_interrupts = states.iter().filter(|row| row["woken_in"] != "\\N");
    assert_eq!((said.len(), in_interrupts.count()), (398, 81));
}

#[test]
fn a_track_of_a_thread_is_all_that_it_shows() {
    // Threads of the second file have no slices, but rows in the window all the same.
    for (name, track) in [
        ("sample-traces/kprobe-hackbench.dat", "hackbench"),
        ("sample-traces/sched-irq.ftrace", "sort"),
        ("sample-traces/sched-irq-syscalls.dat", "mix.sh"),
    ] {
        let source = file(name);
        let threads = table("threads", &source);
        let tids = threads.iter().filter(|row| row["name"] == track);
        let tids: Vec<&str> = tids.map(|row| row["tid"].as_str()).collect();
        assert!(!tids.is_empty());
        let by_tid: Vec<&str> = tids.iter().flat_map(|&tid| ["--thread", tid]).collect();
        let (_folder, by_name) = exported(&source, "a.fxt", &["--track", track]);
        let (_other, by_tid) = exported(&source, "b.fxt", &by_tid);
        assert!(!table("states", &by_name).is_empty(), "{name}");
        for what in ["slices", "instants", "states", "runs", "threads"] {
            assert_eq!(table(what, &by_name), table(what, &by_tid), "{name} {what}");
        }
    }
}

#[test]
fn numbers_that_were_used_again_are_shown_after_a_round_trip_through_fxt() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reused.ftrace");
    let life = |at: u32, name: &str| {
        [
            format!(
                "              sh-100     [000] ....   10.{at:06}: sched_process_fork: comm=sh pid=100 child_comm=sh child_pid=101"
            ),
            format!(
                "             {name}-101     [000] ....   10.{:06}: sched_process_exec: filename=/bin/{name} pid=101 old_pid=101",
                at + 10
            ),
            format!(
                "             {name}-101     [000] ....   10.{:06}: sched_process_exit: comm={name} pid=101 prio=120",
                at + 20
            ),
        ]
    };
    let mut lines = vec!["# tracer: nop".to_owned()];
    lines.extend(life(100, "one"));
    lines.extend(life(200, "two"));
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let exported = folder.path().join("reused.fxt");
    let again = folder.path().join("again.fxt");
    let [path, exported, again] = [&path, &exported, &again].map(|path| path.to_str().unwrap());
    crate::program::stdout(&["export", path, "-o", exported]);
    crate::program::stdout(&["export", exported, "-o", again]);
    let people = |path: &str, table: &str, number: &str| -> Vec<(String, String)> {
        let rows = crate::program::rows(&["table", table, path]);
        let of_children = rows.iter().filter(|row| row[number] == "101");
        let mut people: Vec<(String, String)> = of_children
            .map(|row| (row["name"].clone(), row["key"].clone()))
            .collect();
        people.sort();
        people
    };
    for (table, number) in [("processes", "pid"), ("threads", "tid")] {
        let own = people(path, table, number);
        assert_eq!(own.len(), 2, "{table}: {own:?}");
        for copy in [exported, again] {
            let copied = people(copy, table, number);
            let names = |rows: &[(String, String)]| -> Vec<String> {
                rows.iter().map(|row| row.0.clone()).collect()
            };
            assert_eq!(names(&copied), names(&own), "{table} of {copy}");
            // The file's own name of each process is its koid: the second life has an artificial one.
            let artificial = |row: &&(String, String)| row.1.parse::<u64>().unwrap() >> 63 == 1;
            let count = copied.iter().filter(artificial).count();
            assert_eq!(count, usize::from(table == "processes"), "{copied:?}");
        }
    }
}

/// A text without tasks does not say who called a function: neither does an export, not even that it was the idle thread.
#[test]
fn who_is_not_known_is_not_the_idle_thread_of_an_export() {
    let source = file("tests/cases/ftrace_text/graph-without-tasks.ftrace");
    let told = |path: &Path| {
        let rows = table("slices", path).into_iter();
        let cells = rows.map(|row| ["name", "tid", "thread"].map(|name| row[name].clone()));
        cells.collect::<Vec<_>>()
    };
    let expected = told(&source);
    assert_eq!(expected.len(), 2);
    assert!(expected.iter().all(|[_, tid, _]| tid == "\\N"));
    for to in ["out.fxt", "out.json"] {
        let (_folder, out) = exported(&source, to, &[]);
        assert_eq!(told(&out), expected, "{to}");
    }
}
