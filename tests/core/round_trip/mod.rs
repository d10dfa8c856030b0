//! What was exported as FXT and read again is what was there: every table, for every file of every format.
//!
//! Files are those of `tests/golden`, `tests/cases` and `sample-traces`, and of the corpus. What FXT cannot say is listed in
//! [`CANNOT_SAY`], and taken out of both sides by `Normal` before they are compared; nothing else may differ.

mod range;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Index;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::corpus::corpus;
use threadline::base::{Job, TimeSpan, Timestamp};
use threadline::export::rows::RowFormat;
use threadline::export::tables::write as write_table;
use threadline::export::{self, Chosen, Overwrite, Selection};
use threadline::formats::Sniff;
use threadline::load::{LoadedTrace, detect, open};
use threadline::tables;
use threadline::trace::SliceId;

/// What differs after reading back, and why.
const CANNOT_SAY: &[(&str, &str)] = &[
    (
        "ids",
        "row numbers count what is in the file: artificial threads come on top",
    ),
    (
        "CPU tracks",
        "FXT knows threads only: a CPU's slices and points are an artificial thread's, called CPU n",
    ),
    (
        "the CPU of slices and counters",
        "event records have no CPU: only instants have an argument for it",
    ),
    (
        "global and CPU counters",
        "counters belong to a process: an artificial one",
    ),
    (
        "points of nobody",
        "an event record needs a thread: an artificial one",
    ),
    (
        "reused numbers",
        "koids are unique: later lives have artificial ones, and rows with them are counted only",
    ),
    (
        "nested wakeups",
        "the waker of an idle CPU is left out, as Fuchsia does",
    ),
    (
        "files and environments",
        "what processes did to files is there as slices and instants only, their environments not at all",
    ),
    (
        "names of unnamed processes",
        "a process without a name is called as its main thread",
    ),
    (
        "states of runs without switches",
        "a format that only says who ran has no states; read back, there are some",
    ),
    (
        "who runs at the start",
        "each CPU is switched to who runs there: a state that the source did not have",
    ),
    (
        "the state Created",
        "FXT has it only for threads that are switched from",
    ),
    (
        "bytes that are no UTF-8",
        "texts of FXT are UTF-8: such a byte is written as \\xff",
    ),
    (
        "long bytes in arguments",
        "bytes that no argument can hold are the payload of a large event: a blob that the source did not have",
    ),
    (
        "times before zero",
        "FXT has none: all times are moved, so that the first is 0",
    ),
    (
        "nesting at one moment",
        "measured calls that ended after their thread are drawn at its last moment, and records have no depth",
    ),
    (
        "severity of logs",
        "log records have none: it stands before the message",
    ),
];

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files_below(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files_below(&path, out);
        } else {
            out.push(path);
        }
    }
}

/// Files that are a trace of some format, as FORMATS say, and not too large for a test.
fn traces() -> Vec<PathBuf> {
    let mut files = Vec::new();
    files_below(&repository().join("tests/golden"), &mut files);
    files_below(&repository().join("sample-traces"), &mut files);
    files_below(&repository().join("tests/cases"), &mut files);
    files_below(&corpus(""), &mut files);
    files.retain(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_fact = [".tsv", ".txt", ".md", ".json", ".tsv.gz", ".facts"]
            .iter()
            .any(|ending| name.ends_with(ending));
        let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        let bytes = std::fs::read(path).unwrap_or_default();
        let head = &bytes[..bytes.len().min(1 << 16)];
        let is_wrapped = name.ends_with(".gz") || name.ends_with(".zst") || name.ends_with(".lz4");
        let is_known = detect(head).is_ok_and(|format| (format.sniff)(head) == Sniff::Yes);
        !is_fact && size < 12 << 20 && (is_known || is_wrapped)
    });
    files
}

fn load(path: &Path) -> Option<LoadedTrace> {
    open(path, &Job::default()).ok()
}

/// A row of a table, with the names of its columns.
#[derive(Clone, Debug)]
struct Row {
    columns: Arc<[String]>,
    cells: Vec<String>,
}

type Rows = Vec<Row>;

impl Row {
    fn place(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|name| name == column)
    }

    fn get(&self, column: &str) -> Option<&String> {
        self.place(column).map(|at| &self.cells[at])
    }

    fn set(&mut self, column: &str, cell: String) {
        let at = self.place(column).unwrap();
        self.cells[at] = cell;
    }
}

impl Index<&str> for Row {
    type Output = String;

    fn index(&self, column: &str) -> &String {
        self.get(column).unwrap()
    }
}

fn table(loaded: &LoadedTrace, name: &str, span: TimeSpan) -> Rows {
    let selection = Selection::range(span);
    let chosen = Chosen::new(&loaded.trace, &selection);
    let mut out = Vec::new();
    let table = tables::find(name).unwrap();
    let job = Job::default();
    write_table(table, loaded, &chosen, RowFormat::Tsv, &mut out, &job).unwrap();
    let text: String = out
        .utf8_chunks()
        .map(|chunk| {
            let bad: Vec<String> = chunk
                .invalid()
                .iter()
                .map(|byte| format!("\\\\x{byte:02x}"))
                .collect();
            format!("{}{}", chunk.valid(), bad.concat())
        })
        .collect();
    let mut lines = text.lines();
    let columns = lines.next().unwrap().split('\t').map(str::to_owned);
    let columns: Arc<[String]> = columns.collect();
    lines
        .map(|line| Row {
            columns: columns.clone(),
            cells: line.split('\t').map(str::to_owned).collect(),
        })
        .collect()
}

/// Takes out of a table's rows what FXT cannot say.
struct Normal {
    /// Numbers of threads and processes that artificial koids stand for, or that have several lives.
    unsure: BTreeSet<String>,
    /// Runs that were found running: their switch is told, so that they have a state.
    found_running: BTreeSet<(i64, u64)>,
    /// Time and name of measured slices that are drawn without a length.
    at_one_moment: BTreeSet<(String, String)>,
}

const COMPARED: &[(&str, &[&str])] = &[
    (
        "slices",
        &[
            "ts", "dur", "depth", "name", "category", "pid", "tid", "track",
        ],
    ),
    ("instants", &["ts", "name", "category", "pid", "tid", "cpu"]),
    ("counters", &["ts", "track", "value", "pid"]),
    ("flows", &["name", "from_ts", "from_tid", "to_ts", "to_tid"]),
    (
        "runs",
        &[
            "ts",
            "dur",
            "cpu",
            "pid",
            "tid",
            "thread",
            "priority",
            "end_state",
        ],
    ),
    (
        "states",
        &[
            "ts",
            "dur",
            "state",
            "tid",
            "thread",
            "waker_tid",
            "waker",
            "woken_in",
            "cpu",
            "spans_loss",
        ],
    ),
    (
        "processes",
        &[
            "pid",
            "name",
            "start",
            "end",
            "exit_status",
            "exit_signal",
            "execs",
            "args",
        ],
    ),
    ("threads", &["tid", "pid", "name", "start", "end"]),
    ("programs", &["name", "processes", "failed"]),
    ("logs", &["ts", "pid", "tid", "message"]),
    ("blobs", &["name", "category", "type", "bytes"]),
];

impl Normal {
    fn new(source: &LoadedTrace) -> Normal {
        let mut unsure = BTreeSet::new();
        let mut seen = BTreeSet::new();
        for process in &source.trace.processes {
            if !seen.insert(process.pid) {
                unsure.insert(process.pid.to_string());
            }
        }
        let mut seen = BTreeSet::new();
        for thread in source.trace.threads.iter().skip(1) {
            if !seen.insert(thread.tid) {
                unsure.insert(thread.tid.to_string());
            }
        }
        let runs = &source.trace.runs;
        let found_running = (0..runs.len())
            .filter(|&run| runs.events[run].is_none())
            .map(|run| {
                (
                    runs.starts[run],
                    source.trace.threads[runs.threads[run] as usize].tid,
                )
            })
            .collect();
        let slices = &source.trace.slices;
        let rows = 0..slices.len() as u32;
        let measured = rows.filter(|&row| slices.measured(row as usize).is_some());
        let at_one_moment = measured
            .map(|row| slices.get(SliceId(row)))
            .filter(|slice| slice.end == Some(slice.start))
            .map(|slice| {
                let name = source.trace.text(slices.label(slice.id).name);
                (slice.start.0.to_string(), name.into_owned())
            });
        Normal {
            unsure,
            found_running,
            at_one_moment: at_one_moment.collect(),
        }
    }

    /// The same in a range: who is found running before it is switched to at its start.
    fn cut(&mut self, source: &LoadedTrace, span: TimeSpan) {
        let runs = &source.trace.runs;
        let lasts = |&run: &usize| {
            let is_over_start = runs.starts[run] < span.start.0 && runs.ends[run] > span.start.0;
            runs.events[run].is_none() && is_over_start
        };
        let tid = |run: usize| source.trace.threads[runs.threads[run] as usize].tid;
        let found = (0..runs.len()).filter(lasts);
        self.found_running
            .extend(found.map(|run| (span.start.0, tid(run))));
    }

    /// Artificial numbers, none and those of several lives are all "other"; artificial koids have bit 63 set.
    fn number(&self, text: &str) -> String {
        let is_artificial = text.parse::<u64>().is_ok_and(|number| number >> 63 == 1);
        if is_artificial || text == "\\N" || text == "0" || self.unsure.contains(text) {
            "other".to_owned()
        } else {
            text.to_owned()
        }
    }

    fn rows(&self, name: &str, rows: Rows) -> Vec<String> {
        let columns = COMPARED.iter().find(|(table, _)| *table == name).unwrap().1;
        let mut lines: Vec<String> = rows
            .into_iter()
            .filter(|row| !self.is_left_out(name, row))
            .map(|row| self.line(name, columns, &row))
            .collect();
        lines.sort();
        lines
    }

    fn is_left_out(&self, name: &str, row: &Row) -> bool {
        let is_other = |column: &str| self.number(&row[column]) == "other";
        match name {
            "processes" => is_other("pid"),
            "threads" => is_other("tid") || is_other("pid"),
            "states" => {
                let key = (
                    row["ts"].parse().unwrap_or(0),
                    row["tid"].parse().unwrap_or(0),
                );
                let was_found = row["state"] == "running" && self.found_running.contains(&key);
                row["state"] == "created" || is_other("tid") || was_found
            }
            _ => false,
        }
    }

    fn line(&self, name: &str, columns: &[&str], row: &Row) -> String {
        // What happened on a CPU's track is told of its artificial thread.
        let on_cpu = row
            .get("track")
            .is_some_and(|track| track.starts_with("CPU "));
        let mut line = String::new();
        for column in columns {
            let text = &row[*column];
            let text = match *column {
                "depth"
                    if self
                        .at_one_moment
                        .contains(&(row["ts"].clone(), row["name"].clone())) =>
                {
                    "moment".to_owned()
                }
                "pid" | "tid" if on_cpu => "other".to_owned(),
                "pid" | "tid" | "from_tid" | "to_tid" | "waker_tid" => self.number(text),
                // A title has the number in it.
                "waker" if row["woken_in"] == "\\N" => self.number(&row["waker_tid"]),
                // A track of a CPU is named after the CPU in both.
                "track" if on_cpu => "CPU".to_owned(),
                _ => text.clone(),
            };
            line.push_str(&text);
            line.push('\t');
        }
        let _ = name;
        line
    }
}

fn export_to(folder: &Path, loaded: &LoadedTrace, selection: &Selection) -> LoadedTrace {
    let path = folder.join("out.fxt");
    let exporter = export::find("fxt").unwrap();
    export::run(
        exporter,
        loaded,
        selection,
        &path,
        Overwrite::Replace,
        &Job::default(),
    )
    .unwrap();
    let again = open(&path, &Job::default()).unwrap();
    // Where the source's recorder lost events, the copy says so.
    let (lost, told) = (loaded.trace.gaps.len(), again.trace.gaps.len());
    let is_whole = selection.span == all_times();
    assert!(
        told == lost || !is_whole && told < lost,
        "{told} of {lost} losses"
    );
    let severe: Vec<String> = again
        .trace
        .diagnostics
        .rows()
        .iter()
        .filter(|row| row.severity != threadline::base::Severity::Info)
        .filter(|row| row.code != "buffer_full")
        .map(|row| row.message.clone())
        .collect();
    assert!(severe.is_empty(), "{severe:?}");
    again
}

fn all_times() -> TimeSpan {
    TimeSpan::ALL
}

/// The first lines that only one side has, with `-` (source) and `+` (read back).
fn difference(ours: &[String], theirs: &[String]) -> Vec<String> {
    let mut counts: BTreeMap<&String, i64> = BTreeMap::new();
    for line in ours {
        *counts.entry(line).or_default() += 1;
    }
    for line in theirs {
        *counts.entry(line).or_default() -= 1;
    }
    counts
        .into_iter()
        .filter(|(_, count)| *count != 0)
        .map(|(line, count)| format!("{} {line}", if count > 0 { '-' } else { '+' }))
        .collect()
}

/// Names of instants, with owner and track; without those on tracks of CPUs, which come back as threads.
fn owners_of_instants(loaded: &LoadedTrace) -> Vec<[String; 4]> {
    let columns = ["name", "pid", "tid", "track"];
    let rows = table(loaded, "instants", all_times()).into_iter();
    let rows = rows.map(|row| columns.map(|column| row[column].clone()));
    let mut rows: Vec<_> = rows.filter(|row| !row[3].starts_with("CPU ")).collect();
    rows.sort();
    rows
}

#[test]
fn instants_of_nobody_and_of_idle_threads_come_back_without_an_owner() {
    let folder = tempfile::tempdir().unwrap();
    for (path, tid) in [
        ("tests/golden/etrace/env.etrace", "\\N"),
        ("tests/cases/ftrace_text/two-flushes.ftrace", "0"),
    ] {
        let source = load(&repository().join(path)).unwrap();
        let copy = export_to(folder.path(), &source, &Selection::all());
        let ours = owners_of_instants(&source);
        let is_of_nobody = |row: &[String; 4]| row[1] == "\\N" && row[2] == tid;
        assert!(ours.iter().any(is_of_nobody), "{path}");
        let theirs = owners_of_instants(&copy);
        assert!(ours == theirs, "{path}: {ours:?} {theirs:?}");
        let people = |loaded: &LoadedTrace| {
            let numbers = |table_name: &str, column: &str| {
                let rows = table(loaded, table_name, all_times()).into_iter();
                let numbers: BTreeSet<String> = rows.map(|row| row[column].clone()).collect();
                numbers
            };
            [numbers("processes", "pid"), numbers("threads", "tid")]
        };
        let (before, after) = (people(&source), people(&copy));
        for (before, after) in before.iter().zip(&after) {
            let more: Vec<&String> = after.difference(before).collect();
            // Threads of CPUs have artificial numbers.
            let are_of_cpus = |number: &&String| {
                let number = number.parse::<u64>().unwrap_or(0);
                number >= 1 << 63 | 0x7c00_0000
            };
            assert!(more.iter().all(are_of_cpus), "{path}: {more:?}");
        }
    }
}

#[test]
fn other_readers_find_the_machine_named() {
    let folder = tempfile::tempdir().unwrap();
    let source = load(&repository().join("tests/golden/etrace/env.etrace")).unwrap();
    let path = folder.path().join("env.fxt");
    let exporter = threadline::export::find("fxt").unwrap();
    let (all, job) = (Selection::all(), Job::default());
    threadline::export::run(exporter, &source, &all, &path, Overwrite::Replace, &job).unwrap();
    // Of another writer every koid is what it is.
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes
        .windows(10)
        .position(|it| it == b"threadline")
        .unwrap();
    bytes[at..at + 10].copy_from_slice(b"threadlink");
    std::fs::write(&path, bytes).unwrap();
    let copy = load(&path).unwrap();
    for name in ["processes", "threads"] {
        let rows = table(&copy, name, all_times());
        let machine = rows.iter().filter(|row| row["name"] == "machine");
        let pids: Vec<&String> = machine.map(|row| &row["pid"]).collect();
        assert_eq!(pids, ["9223372038935150591"], "{name}");
    }
    let instants = owners_of_instants(&copy);
    assert!(
        instants
            .iter()
            .any(|row| row[1] == "9223372038935150591" && row[3] == "machine")
    );
}

#[test]
fn every_table_comes_back() {
    assert!(
        CANNOT_SAY
            .iter()
            .all(|(what, why)| !what.is_empty() && !why.is_empty())
    );
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    let mut count = 0;
    let mut paths = traces();
    files_below(&repository().join("tests/cases/chrome_json"), &mut paths);
    for path in paths {
        let Some(source) = load(&path) else {
            continue;
        };
        if source.trace.span.start < Timestamp(0) {
            continue;
        }
        count += 1;
        let normal = Normal::new(&source);
        let again = export_to(folder.path(), &source, &Selection::all());
        for (name, _) in COMPARED {
            let ours = normal.rows(name, table(&source, name, all_times()));
            let theirs = normal.rows(name, table(&again, name, all_times()));
            let differs = difference(&ours, &theirs);
            // Where switches were lost, runs and states contradict each other, and an exported switch has room for only
            // one of the two.
            let lost = source.trace.diagnostics.count_of("switch_mismatch");
            if *name == "states" && (differs.len() as u64) <= 3 * lost {
                continue;
            }
            // Runs that did not come from switches have states only after the round trip; long bytes become blobs.
            if ["states", "blobs"].contains(name) && ours.is_empty() {
                continue;
            }
            if !differs.is_empty() {
                wrong.push(format!(
                    "{} {name}: {} of {} rows, e.g.\n    {}",
                    path.file_name().unwrap().to_string_lossy(),
                    differs.len(),
                    ours.len(),
                    differs
                        .iter()
                        .take(4)
                        .cloned()
                        .collect::<Vec<_>>()
                        .join("\n    ")
                ));
            }
        }
    }
    eprintln!("{count} traces");
    assert!(
        wrong.is_empty(),
        "{} tables differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
