//! What an export cuts, or leaves open at the end of one of several files, is unfinished when the export is read again; what
//! it contains whole has its duration, and everything else that people compare is as before.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::corpus::corpus;

const FORMATS: [&str; 2] = ["fxt", "chrome-json"];

fn path(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    path.to_str().unwrap().to_owned()
}

fn printed(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_threadline"))
        .args(arguments)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {told}");
    String::from_utf8(output.stdout).unwrap()
}

fn rows(arguments: &[&str]) -> Vec<Value> {
    let text = printed(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&text).unwrap()
}

/// Exports files in a format, with further arguments.
fn exported(folder: &Path, format: &str, files: &[&str], more: &[&str]) -> String {
    let out: PathBuf = folder.join(format!("out.{format}"));
    let out = out.to_str().unwrap().to_owned();
    let head = ["export", "--force", "--to", format, "-o", &out];
    printed(&[&head, files, more].concat());
    out
}

/// Of runs, states and slices: how many ended, their sum, how many did not, and how long these lasted at least.
fn sums(files: &[&str]) -> Vec<[i64; 4]> {
    let of = |what: &&str| {
        let rows = rows(&[&["stats", "--of", what], files].concat());
        let sum = |column: &str| rows.iter().map(|row| row[column].as_i64().unwrap()).sum();
        ["count", "sum", "unfinished", "at_least"].map(sum)
    };
    ["runs", "states", "slices"].iter().map(of).collect()
}

#[test]
fn what_is_open_at_the_end_of_one_of_several_files_is_unfinished() {
    let folder = tempfile::tempdir().unwrap();
    for [first, second] in [
        [
            "sample-traces/sched-irq-syscalls.dat",
            "sample-traces/sched-irq.ftrace",
        ],
        [
            "sample-traces/sched-irq-syscalls.dat",
            "tests/cases/text/thread-execs.strace",
        ],
        [
            "sample-traces/shell-pipeline.strace",
            "tests/cases/text/attach-blocked-threads.strace",
        ],
    ] {
        let files = [path(first), path(second)];
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let before = sums(&files);
        let open: i64 = before.iter().map(|of| of[2]).sum();
        assert!(open > 4, "{first} {second}: {before:?}");
        for format in FORMATS {
            let after = sums(&[&exported(folder.path(), format, &files, &[])]);
            assert_eq!(after, before, "{first} {second} as {format}");
        }
    }
}

#[test]
fn what_never_ended_lasts_as_long_after_the_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    for file in [
        "sample-traces/sched-irq-syscalls.dat",
        "tests/cases/text/calls-still-open.strace",
        "tests/cases/chrome_json/begin-without-end.json",
    ] {
        let file = path(file);
        let before = sums(&[&file]);
        for format in FORMATS {
            let after = sums(&[&exported(folder.path(), format, &[&file], &[])]);
            assert_eq!(after, before, "{file} as {format}");
        }
    }
}

/// The time, duration and name of what ended.
fn whole(table: &str, file: &str) -> Vec<(i64, i64, String)> {
    let rows = rows(&["table", table, file]);
    let rows = rows.iter().filter_map(|row| {
        let name = ["name", "state", "thread"].map(|column| row[column].as_str());
        let name = name.into_iter().flatten().next().unwrap_or("");
        Some((row["ts"].as_i64()?, row["dur"].as_i64()?, name.to_owned()))
    });
    rows.collect()
}

#[test]
fn only_what_is_whole_in_the_range_has_a_duration() {
    let folder = tempfile::tempdir().unwrap();
    for file in [
        "sample-traces/sched-irq-syscalls.dat",
        "sample-traces/shell-pipeline.strace",
        "sample-traces/node-workers.json.gz",
        "sample-traces/syscalls-part.fxt",
    ] {
        let file = path(file);
        let tables = ["slices", "runs", "states"];
        let all = tables.map(|table| whole(table, &file));
        let times = || all.iter().flatten().map(|row| row.0);
        let (first, last) = (times().min().unwrap(), times().max().unwrap());
        let third = (last - first) / 3;
        let (from, until) = (first + third, first + 2 * third);
        let range = [format!("@{from}"), format!("@{until}")];
        for format in FORMATS {
            let more = ["--from", &range[0], "--until", &range[1]];
            let out = exported(folder.path(), format, &[&file], &more);
            let mut cut = 0;
            for (table, all) in tables.iter().zip(&all) {
                let is_inside = |row: &&(i64, i64, String)| {
                    row.0 >= from && row.0 < until && row.0 + row.1 <= until
                };
                let mut expected: Vec<_> = all.iter().filter(is_inside).cloned().collect();
                let mut found = whole(table, &out);
                cut += rows(&["table", table, &out]).len() - found.len();
                expected.sort();
                found.sort();
                assert!(found == expected, "{table} of {file} as {format}");
            }
            assert!(cut > 0, "{file}: nothing lasts over the borders");
        }
    }
}

#[test]
fn states_of_no_length_survive_a_coarse_clock() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(path("sample-traces/sched-irq.ftrace")).unwrap();
    // The clock `uptime` steps by milliseconds or more: dozens of events of two CPUs get one time.
    let digits = regex::Regex::new(r"(\d+\.\d{3})\d{3}: ").unwrap();
    let coarse = folder.path().join("coarse.ftrace");
    std::fs::write(&coarse, digits.replace_all(&text, "${1}000: ").as_bytes()).unwrap();
    let coarse = coarse.to_str().unwrap();
    let states = |file: &str| {
        let rows = rows(&["table", "states", file]);
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for row in rows {
            let key = ["ts", "dur", "state", "tid"].map(|column| row[column].to_string());
            *counts.entry(key.join(" ")).or_default() += 1;
        }
        counts
    };
    let before = states(coarse);
    assert!(before.values().sum::<u32>() > 1_600);
    for format in FORMATS {
        let after = states(&exported(folder.path(), format, &[coarse], &[]));
        let differs: Vec<_> = before
            .iter()
            .filter(|(key, count)| after.get(*key) != Some(count))
            .collect();
        assert!(
            differs.is_empty() && after.len() == before.len(),
            "{format}: {differs:?}"
        );
    }
}

#[test]
fn losses_without_a_place_are_rows_of_gaps() {
    let file = corpus("tracedat/v7-zlib-missed-events-nooverwrite.dat");
    let file = file.to_str().unwrap();
    let gaps = rows(&["table", "gaps", file]);
    let info: Value = serde_json::from_str(&printed(&["info", "--json", file])).unwrap();
    let lost: u64 = gaps.iter().filter_map(|row| row["lost"].as_u64()).sum();
    assert_eq!(info["lost_events"].as_u64(), Some(lost));
    assert!(lost > 1_000);
    for row in &gaps {
        assert!(
            row["ts"].is_null() && row["end"].is_null() && row["cpu"].is_number(),
            "{row}"
        );
    }
}

#[test]
fn a_loss_in_an_export_is_of_the_exported_recording() {
    let folder = tempfile::tempdir().unwrap();
    let file = path("sample-traces/function-graph.dat");
    let out = exported(folder.path(), "fxt", &[&file], &[]);
    let rows = rows(&["table", "diagnostics", &out]);
    let losses = rows.iter().filter(|row| row["code"] == "buffer_full");
    let words: Vec<&str> = losses.map(|row| row["message"].as_str().unwrap()).collect();
    assert!(!words.is_empty());
    for words in words {
        assert!(
            words.starts_with("the exported recording lost events of CPU "),
            "{words}"
        );
    }
}

#[test]
fn counters_of_cpus_gain_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let file = path("tests/cases/ftrace_text/timerlat.report.txt.zst");
    let pids = |file: &str| {
        let rows = rows(&["table", "counters", file]);
        assert!(rows.len() > 600);
        let mut pids: Vec<String> = rows.iter().map(|row| row["pid"].to_string()).collect();
        pids.sort();
        pids.dedup();
        pids
    };
    assert_eq!(pids(&file), ["null"]);
    assert_eq!(
        pids(&exported(folder.path(), "fxt", &[&file], &[])),
        ["null"]
    );
}

#[test]
fn equal_sums_keep_their_order_through_the_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    for file in [
        corpus("chrome_json/viztracer.json.gz"),
        path("tests/cases/chrome_json/flow-bind-id.json").into(),
        path("tests/cases/chrome_json/x-of-no-length.json").into(),
    ] {
        let file = file.to_str().unwrap();
        let out = exported(folder.path(), "chrome-json", &[file], &[]);
        assert_eq!(
            printed(&["stats", file]),
            printed(&["stats", &out]),
            "{file}"
        );
    }
}

#[test]
fn steps_of_a_clock_without_a_unit_are_trace_cmds() {
    let file = path("tests/cases/tracedat/graph-counter.dat.zst");
    let text = printed(&["report", "--ts-diff", "--no-flags", &file]);
    let lines: Vec<(u64, Option<u64>)> = text
        .lines()
        .filter_map(|line| {
            let (_, rest) = line.split_once("] ")?;
            let (time, rest) = rest.trim_start().split_once(':')?;
            let step = rest.trim_start().strip_prefix("(+");
            let step = step.and_then(|rest| rest.split_once(')')?.0.parse().ok());
            Some((time.trim().parse().ok()?, step))
        })
        .collect();
    assert!(lines.len() > 3, "{text}");
    // trace-cmd takes the difference of (time + 500) / 1000 if the file names its clock, whatever it counts.
    let thousands = |time: u64| (time + 500) / 1000;
    for pair in lines.windows(2) {
        let step = thousands(pair[1].0) - thousands(pair[0].0);
        let expected = (thousands(pair[0].0) > 0).then_some(step);
        assert_eq!(pair[1].1, expected, "{pair:?}");
    }
    let text = printed(&["report", "--ts-diff", "-t", "--no-flags", &file]);
    assert!(text.contains("(+1)"), "{text}");
}
