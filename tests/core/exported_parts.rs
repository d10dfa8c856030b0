//! Exports of a part of a trace, read again: what the part contains has the names, numbers and arrows of the whole.

use std::path::Path;

use crate::corpus::corpus;
use crate::program::{Row, rows, stdout};

/// Exports a part of a file to `OUT`, and returns its path.
fn exported(folder: &Path, file: &str, out: &str, options: &[&str]) -> String {
    let out = folder.join(out).to_string_lossy().into_owned();
    let arguments = [&["export", file, "-o", &out, "--force"], options].concat();
    let _summary = stdout(&arguments);
    out
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
