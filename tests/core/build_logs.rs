//! Logs of ninja and cargo as builds: targets on job slots, lives, arrows, and the answers of the Build pane.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use threadline::base::{Job, Severity};
use threadline::load::LoadedTrace;

use crate::tables::{Rows, rows};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

fn loaded(name: &str) -> LoadedTrace {
    threadline::load::open(&path(name), &Job::default()).unwrap()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> i64 {
    row[column]
        .parse()
        .unwrap_or_else(|_| panic!("{column}: {row:?}"))
}

/// Of each row the cells of these columns.
fn cells(rows: &Rows, columns: &[&str]) -> Vec<Vec<String>> {
    let of_row = |row: &BTreeMap<String, String>| {
        let cell = |column: &&str| row[*column].clone();
        columns.iter().map(cell).collect()
    };
    rows.iter().map(of_row).collect()
}

/// Start, end (ms), output of each command in a ninja log, as an independent reading: lines with equal times and hash
/// are one command.
fn commands(name: &str) -> Vec<(i64, i64, String)> {
    let text = std::fs::read_to_string(path(name)).unwrap();
    let mut seen = BTreeSet::new();
    let mut commands = Vec::new();
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let key = (columns[0], columns[1], columns[4]);
        if seen.insert(key) {
            let ms = |at: usize| columns[at].parse().unwrap();
            commands.push((ms(0), ms(1), columns[3].to_owned()));
        }
    }
    commands
}

#[test]
fn targets_of_a_ninja_log_are_slices_on_job_slots() {
    let name = "golden/ninja_log/one-run-v5.ninja_log";
    let loaded = loaded(name);
    let slices = rows(&loaded, "slices");
    let mut expected = commands(name);
    expected.sort();
    let mut found: Vec<(i64, i64, String)> = slices
        .iter()
        .map(|row| {
            let start = number(row, "ts") / 1_000_000;
            let end = start + number(row, "dur") / 1_000_000;
            let name = row["name"].split(" + ").next().unwrap().to_owned();
            (start, end, name)
        })
        .collect();
    found.sort();
    assert_eq!(found, expected);
    // ninja ran with -j3: no more slots than that, and on each slot one target at a time.
    let slots: BTreeSet<&String> = slices.iter().map(|row| &row["track"]).collect();
    let slots: Vec<&str> = slots.into_iter().map(String::as_str).collect();
    assert_eq!(slots, ["job 1", "job 2", "job 3"]);
    assert!(slices.iter().all(|row| row["depth"] == "0"));
    for slot in slots {
        let on_slot: Vec<_> = slices.iter().filter(|row| row["track"] == slot).collect();
        for pair in on_slot.windows(2) {
            let end = number(pair[0], "ts") + number(pair[0], "dur");
            assert!(end <= number(pair[1], "ts"), "{slot}");
        }
    }
    let of_gen = slices.iter().find(|row| row["name"].starts_with("gen.h"));
    assert_eq!(of_gen.unwrap()["name"], "gen.h + 3 more");
    let object = slices.iter().find(|row| row["name"].ends_with("c.cpp.o"));
    assert_eq!(object.unwrap()["category"], "o");
}

#[test]
fn each_target_is_a_process_of_ninja_and_the_build_pane_answers() {
    let loaded = loaded("golden/ninja_log/one-run-v5.ninja_log");
    let processes = rows(&loaded, "processes");
    assert_eq!(processes[0]["name"], "ninja");
    assert!(processes.iter().skip(1).all(|row| row["parent_id"] == "0"));
    let slices = rows(&loaded, "slices");
    assert_eq!(processes.len(), slices.len() + 1);
    // The times of the targets are the lives of their processes, and a slice belongs to its target's thread.
    for slice in &slices {
        let process = processes.iter().find(|row| row["pid"] == slice["tid"]);
        let process = process.unwrap_or_else(|| panic!("{slice:?}"));
        assert_eq!(process["name"], slice["name"]);
        assert_eq!(process["start"], slice["ts"]);
        assert_eq!(
            number(process, "end"),
            number(slice, "ts") + number(slice, "dur")
        );
    }
    let parallelism = rows(&loaded, "parallelism");
    let most = parallelism.iter().map(|row| number(row, "working")).max();
    assert_eq!(most, Some(3));
    // Without dependencies the longest target is what a build cannot be shorter than.
    let chain = rows(&loaded, "critical_chain");
    let longest = slices.iter().max_by_key(|row| number(row, "dur")).unwrap();
    let steps = chain.iter().filter(|row| row["pid"] == longest["tid"]);
    let own: i64 = steps.map(|row| number(row, "own")).sum();
    assert_eq!(own, number(longest, "dur"));
    let programs = rows(&loaded, "programs");
    assert_eq!(programs[0]["name"], longest["name"]);
}

#[test]
fn runs_of_ninja_follow_each_other_and_a_rewritten_log_is_put_in_order() {
    for (name, lengths) in [
        ("two-runs-v5", [11, 3]),
        ("two-runs-v7", [11, 3]),
        // ninja rewrote it: of the first run the outputs are left that the second did not make again.
        ("rewritten-v7", [8, 3]),
    ] {
        let loaded = loaded(&format!("golden/ninja_log/{name}.ninja_log"));
        let processes = rows(&loaded, "processes");
        let tools: Vec<_> = processes
            .iter()
            .filter(|row| row["name"] == "ninja")
            .collect();
        assert_eq!(tools.len(), 2, "{name}");
        assert_eq!(tools[0]["end"], tools[1]["start"], "{name}");
        for (tool, length) in tools.iter().zip(lengths) {
            let targets = processes
                .iter()
                .filter(|row| row["parent_id"] == tool["id"]);
            let inside = |row: &&BTreeMap<String, String>| {
                number(row, "start") >= number(tool, "start")
                    && number(row, "end") <= number(tool, "end")
            };
            assert_eq!(targets.filter(inside).count(), length, "{name}");
        }
    }
}

/// The units of a page of `cargo build --timings`, by an independent reading.
fn units_of_page(name: &str) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path(name)).unwrap();
    let start = text.find("const UNIT_DATA = ").unwrap() + "const UNIT_DATA = ".len();
    let end = start + text[start..].find("];").unwrap() + 1;
    serde_json::from_str(&text[start..end]).unwrap()
}

#[test]
fn units_of_cargo_have_sections_inside_and_arrows_between() {
    let name = "golden/cargo_timings/cargo-timing.html";
    let loaded = loaded(name);
    let units = units_of_page(name);
    let slices = rows(&loaded, "slices");
    let ns = |value: &serde_json::Value| (value.as_f64().unwrap() * 1e9).round() as i64;
    let mut expected = Vec::new();
    for unit in &units {
        let start = ns(&unit["start"]);
        let text = |key: &str| unit[key].as_str().unwrap().to_owned();
        let full = format!("{} v{}{}", text("name"), text("version"), text("target"));
        expected.push((start, ns(&unit["duration"]), full, 0));
        for section in unit["sections"].as_array().into_iter().flatten() {
            let (from, until) = (ns(&section[1]["start"]), ns(&section[1]["end"]));
            let section = section[0].as_str().unwrap().to_owned();
            expected.push((start + from, until - from, section, 1));
        }
    }
    expected.sort();
    let mut found: Vec<(i64, i64, String, i64)> = slices
        .iter()
        .map(|row| {
            let times = (number(row, "ts"), number(row, "dur"));
            (times.0, times.1, row["name"].clone(), number(row, "depth"))
        })
        .collect();
    found.sort();
    assert_eq!(found, expected);
    let arrows = rows(&loaded, "flows");
    let unblocked = |key: &str| {
        let lists = units.iter().map(|unit| unit[key].as_array().unwrap().len());
        lists.sum::<usize>()
    };
    let count = unblocked("unblocked_units") + unblocked("unblocked_rmeta_units");
    assert_eq!(arrows.len(), count);
    let name_of = |id: &str| {
        let slice = slices.iter().find(|row| row["id"] == id);
        slice.map(|row| row["name"].clone()).unwrap_or_default()
    };
    let between: BTreeSet<(String, String)> = arrows
        .iter()
        .map(|row| (name_of(&row["from_slice"]), name_of(&row["to_slice"])))
        .collect();
    let of_units = ("quote v1.0.47".to_owned(), "syn v3.0.10".to_owned());
    assert!(between.contains(&of_units), "{between:?}");
    assert!(arrows.iter().all(|row| row["name"] == "unblocks"));
    assert!(loaded.trace.info.wall_clock_zero_ns.is_some());
    assert!(!rows(&loaded, "counters").is_empty());
}

#[test]
fn the_critical_chain_of_a_cargo_build_goes_through_what_was_unblocked() {
    for name in [
        "cargo-timing.html",
        "build-analysis.jsonl",
        "section-timings.jsonl",
    ] {
        let loaded = loaded(&format!("golden/cargo_timings/{name}"));
        let chain = cells(&rows(&loaded, "critical_chain"), &["process", "because"]);
        let steps: Vec<&Vec<String>> = chain
            .iter()
            .filter(|row| row[1] == "unblocked by")
            .collect();
        assert!(steps.len() >= 3, "{name}: {chain:?}");
        // serde_derive can only start once syn's metadata is there, and serde only after serde_derive.
        let at = |name: &str| chain.iter().position(|row| row[0].starts_with(name));
        assert!(at("syn v") < at("serde_derive v"), "{name}: {chain:?}");
        assert!(at("serde_derive v").is_some(), "{name}: {chain:?}");
    }
}

#[test]
fn damaged_logs_show_what_can_be_read_and_say_what_cannot() {
    for (name, slices, codes) in [
        (
            "ninja_log/bad-lines.ninja_log",
            2,
            vec!["bad_line", "no_last_newline"],
        ),
        ("ninja_log/no-lines.ninja_log", 0, vec![]),
        (
            "ninja_log/times-out-of-range.ninja_log",
            0,
            vec!["bad_line"],
        ),
        ("cargo_timings/damaged-unit.html", 22, vec!["bad_unit"]),
        ("cargo_timings/cut-in-a-unit.html", 4, vec!["bad_unit"]),
        ("cargo_timings/damaged-lines.jsonl", 9, vec!["bad_line"]),
    ] {
        let loaded = loaded(&format!("broken/{name}"));
        let outer = rows(&loaded, "slices");
        let outer = outer.iter().filter(|row| row["depth"] == "0").count();
        assert_eq!(outer, slices, "{name}");
        for code in codes {
            let rows = loaded.trace.diagnostics.rows();
            let row = rows.iter().find(|row| row.code == code);
            let row = row.unwrap_or_else(|| panic!("{name}: {code}"));
            assert!(!row.places.is_empty(), "{name}: {code}");
            let is_loss = row.severity == Severity::DataLoss;
            assert_eq!(is_loss, code != "no_last_newline", "{name}: {code}");
        }
    }
    let refused = |name: &str| {
        let opened = threadline::load::open(&path(name), &Job::default());
        opened
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    let version = refused("broken/ninja_log/version-4.ninja_log");
    assert!(version.contains("version of the log"), "{version}");
}

#[test]
fn the_chain_of_a_build_accounts_for_all_time_since_the_tool_began() {
    // cargo's page says 14.0 s; its first unit starts at 0.27 s, its last ends at 13.98 s.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces/cargo-timing.html");
    let loaded = threadline::load::open(&path, &Job::default()).unwrap();
    let chain = rows(&loaded, "critical_chain");
    let own: i64 = chain.iter().map(|row| number(row, "own")).sum();
    assert_eq!(own, 13_980_000_000);
    assert_eq!(
        (number(&chain[0], "ts"), number(&chain[0], "own")),
        (0, 270_000_000)
    );
    assert_eq!(chain[0]["process"], "cargo");
    let share: f64 = chain
        .iter()
        .map(|row| row["share"].parse::<f64>().unwrap())
        .sum();
    assert!((share - 100.0).abs() < 1e-6, "{share}");
    let last = chain.last().unwrap();
    assert_eq!(number(last, "ts") + number(last, "dur"), 13_980_000_000);
}
