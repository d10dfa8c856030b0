//! Chrome JSON of many writers, and hard cases made by hand: the tables against what an independent reader finds.
//!
//! `tests/corpus/chrome_json/facts.py` says what its rows mean.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use threadline::base::Job;
use threadline::load::LoadedTrace;

use crate::corpus::corpus;
use crate::tables::{Rows, rows};

/// The rows of one kind, sorted.
type Facts = Vec<Value>;

fn sorted(mut rows: Facts) -> Facts {
    rows.sort_by_key(Value::to_string);
    rows
}

fn whole(cell: &str) -> Value {
    match cell {
        "" => Value::Null,
        cell => json!(cell.parse::<i128>().unwrap() as i64),
    }
}

/// A trace's tables, with the names of processes and threads by their numbers.
struct Shown {
    slices: Rows,
    loaded: LoadedTrace,
    is_async: BTreeSet<String>,
}

impl Shown {
    fn new(path: &Path) -> Shown {
        let loaded = threadline::load::open(path, &Job::default())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let slices = rows(&loaded, "slices");
        let trace = &loaded.trace;
        let mut is_async = BTreeSet::new();
        for track in trace.tracks.iter() {
            if matches!(track.kind, threadline::trace::TrackKind::Async(_)) {
                for row in track.rows.clone() {
                    let row = &trace.slices.rows[row as usize];
                    is_async.extend(row.slices.clone().map(|id| id.to_string()));
                }
            }
        }
        Shown {
            slices,
            loaded,
            is_async,
        }
    }

    /// [ts, dur, depth, name] of the slices of threads.
    fn slices(&self) -> Facts {
        let of_threads = self
            .slices
            .iter()
            .filter(|row| !self.is_async.contains(&row["id"]));
        let fact = |row: &BTreeMap<String, String>| {
            json!([
                whole(&row["ts"]),
                whole(&row["dur"]),
                whole(&row["depth"]),
                row["name"]
            ])
        };
        sorted(of_threads.map(fact).collect())
    }

    /// [ts, dur, name, category] of the asynchronous slices.
    fn asyncs(&self) -> Facts {
        let asyncs = self
            .slices
            .iter()
            .filter(|row| self.is_async.contains(&row["id"]));
        let fact = |row: &BTreeMap<String, String>| {
            json!([
                whole(&row["ts"]),
                whole(&row["dur"]),
                row["name"],
                row["category"]
            ])
        };
        sorted(asyncs.map(fact).collect())
    }

    /// [ts, series, value] of the counters' samples.
    fn samples(&self) -> Facts {
        let samples = rows(&self.loaded, "counters");
        let fact = |row: &BTreeMap<String, String>| {
            let value: f64 = row["value"].parse().unwrap();
            json!([whole(&row["ts"]), row["track"], value])
        };
        sorted(samples.iter().map(fact).collect())
    }

    /// [name, from_ts, from_slice, to_ts, to_slice] of the arrows; slices by name.
    fn arrows(&self) -> Facts {
        let names: BTreeMap<&str, &str> = self
            .slices
            .iter()
            .map(|row| (row["id"].as_str(), row["name"].as_str()))
            .collect();
        let name = |id: &str| names.get(id).copied();
        let arrows = rows(&self.loaded, "flows");
        let fact = |row: &BTreeMap<String, String>| {
            let from = (whole(&row["from_ts"]), name(&row["from_slice"]));
            let to = (whole(&row["to_ts"]), name(&row["to_slice"]));
            json!([from.0, from.1, to.0, to.1])
        };
        sorted(arrows.iter().map(fact).collect())
    }
}

/// The expected rows of a kind, in the form in which [`Shown`] has them.
fn expected(facts: &[Value], kind: &str) -> Facts {
    let of_kind = facts.iter().filter(|row| row[0] == kind);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let fact = |row: &Value| match kind {
        "slice" => json!([row[1], row[2], row[3], text(&row[4])]),
        "async" => json!([row[1], row[2], text(&row[3]), text(&row[4])]),
        "sample" => {
            let (event, id, series) = (text(&row[2]), text(&row[3]), text(&row[4]));
            let mut name = event.clone();
            for more in [series, id] {
                if more != event && !more.is_empty() {
                    name = format!("{name}:{more}");
                }
            }
            json!([row[1], name, row[5]])
        }
        "arrow" => json!([row[2], row[4], row[5], row[7]]),
        _ => unreachable!(),
    };
    sorted(of_kind.map(fact).collect())
}

/// The first rows that only one side has, for the message.
fn difference(found: &Facts, expected: &Facts) -> String {
    let only = |these: &Facts, those: &Facts| {
        let missing = those.iter().map(Value::to_string).collect::<BTreeSet<_>>();
        let own = these
            .iter()
            .filter(|row| !missing.contains(&row.to_string()));
        own.take(4)
            .map(Value::to_string)
            .collect::<Vec<_>>()
            .join("\n    ")
    };
    format!(
        "{} found, {} expected\n  only found:\n    {}\n  only expected:\n    {}",
        found.len(),
        expected.len(),
        only(found, expected),
        only(expected, found)
    )
}

/// Compares a file with its facts; returns what differs.
fn compare(path: &Path, facts: &[Value]) -> Vec<String> {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let shown = Shown::new(path);
    let mut wrong = Vec::new();
    for (kind, found) in [
        ("slice", shown.slices()),
        ("async", shown.asyncs()),
        ("sample", shown.samples()),
        ("arrow", shown.arrows()),
    ] {
        let expected = expected(facts, kind);
        if found != expected {
            wrong.push(format!("{name}: {kind}: {}", difference(&found, &expected)));
        }
    }
    wrong
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn traces_of_other_writers_are_as_an_independent_reader_finds_them() {
    let folder = corpus("chrome_json");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.to_string_lossy();
            name.ends_with(".json") || name.ends_with(".json.gz")
        })
        .collect();
    paths.sort();
    assert!(paths.len() >= 13);
    let mut wrong = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let stem = name.split(".json").next().unwrap();
        wrong.extend(compare(
            &path,
            &lines(&folder.join(format!("{stem}.facts.jsonl"))),
        ));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn hard_cases_are_as_the_documents_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/chrome_json");
    let mut of_files: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for mut row in lines(&folder.join("facts.jsonl")) {
        let file = row.as_array_mut().unwrap().remove(0);
        of_files
            .entry(file.as_str().unwrap().to_owned())
            .or_default()
            .push(row);
    }
    assert!(of_files.len() >= 55);
    let mut wrong = Vec::new();
    for (file, facts) in of_files {
        // A file without any event is no trace that can be told from other JSON.
        let has_events = !facts
            .iter()
            .any(|row| *row == json!(["count", "events", 0]));
        if has_events {
            wrong.extend(compare(&folder.join(file), &facts));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
