//! Data sets: what is in them after adding, replacing, compacting, and after jobs that were killed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use crate::program::{json, run, stdout};

const FXT: &str = "sample-traces/compress.fxt";
const STRACE: &str = "sample-traces/shell-pipeline.strace";
const ETRACE: &str = "sample-traces/lua-make-j2.etrace.zst";
const FTRACE: &str = "sample-traces/sched-irq.ftrace";

fn sample(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    path.to_str().unwrap().to_owned()
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// The files of the live parts, by table.
fn live(set: &Path) -> BTreeMap<String, Vec<PathBuf>> {
    let manifest = std::fs::read(set.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let mut all: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for part in manifest["parts"].as_array().unwrap() {
        let of = |name: &str| part[name].as_str().unwrap().to_owned();
        let folder = set.join(of("table")).join(format!("date={}", of("date")));
        let folder = folder.join(format!("bucket={:03}", part["bucket"].as_u64().unwrap()));
        let path = folder.join(format!("part-{}.parquet", of("hash")));
        all.entry(of("table")).or_default().push(path);
    }
    all
}

/// All files below a folder that are parts, and folders of jobs.
fn parts_on_disk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        match entry.file_type().unwrap().is_dir() {
            true if name.starts_with(".adding") => found.push(entry.path()),
            true => found.extend(parts_on_disk(&entry.path())),
            false if name.ends_with(".parquet") => found.push(entry.path()),
            false => {}
        }
    }
    found.sort();
    found
}

/// The rows of a table, as texts by column, in the order of the parts.
fn rows(set: &Path, table: &str) -> Vec<BTreeMap<String, String>> {
    let paths = live(set).remove(table).unwrap_or_default();
    let mut all = Vec::new();
    for path in paths {
        let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
        for row in reader.get_row_iter(None).unwrap() {
            let row = row.unwrap();
            let cells = row.get_column_iter().map(|(name, field)| {
                let value = match field {
                    Field::Null => String::new(),
                    Field::Str(text) => text.clone(),
                    other => other.to_string(),
                };
                (name.clone(), value)
            });
            all.push(cells.collect());
        }
    }
    all
}

fn sorted(set: &Path, table: &str) -> Vec<BTreeMap<String, String>> {
    let mut all = rows(set, table);
    all.sort();
    all
}

fn everything(set: &Path) -> BTreeMap<String, Vec<BTreeMap<String, String>>> {
    let tables: Vec<String> = live(set).into_keys().collect();
    tables
        .into_iter()
        .map(|table| (table.clone(), sorted(set, &table)))
        .collect()
}

fn add(set: &Path, files: &[&str], more: &[&str]) -> Output {
    let files: Vec<String> = files.iter().map(|file| sample(file)).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    run(&[&["dataset", "add", &text(set)], files.as_slice(), more].concat())
}

fn added(set: &Path, files: &[&str], more: &[&str]) {
    let output = add(set, files, more);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

#[test]
fn rows_are_those_of_the_tables_and_stay_when_parts_are_joined_and_traces_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("set");
    let all = [FXT, STRACE, ETRACE, FTRACE];
    let wanted = [
        "--tables",
        "trace,slice,thread,process,thread_state,sched,file_use,args",
        "--buckets",
        "2",
    ];
    for file in all {
        added(&set, &[file], &wanted);
    }
    let first = everything(&set);
    assert_eq!(first["trace"].len(), 4);
    for file in all {
        let path = sample(file);
        let id = first["trace"]
            .iter()
            .find(|row| row["path"] == path)
            .unwrap()["trace_id"]
            .clone();
        let slices = json(&["table", "slices", &path]);
        let mut stored: Vec<_> = rows(&set, "slice")
            .into_iter()
            .filter(|row| row["trace_id"] == id)
            .collect();
        stored.sort_by_key(|row| row["id"].parse::<u32>().unwrap());
        assert_eq!(stored.len(), slices.len(), "{file}");
        let mut slices: Vec<&serde_json::Value> = slices.iter().collect();
        slices.sort_by_key(|row| row["id"].as_u64());
        for (stored, slice) in stored.iter().zip(slices) {
            for name in ["ts", "dur", "name", "depth", "parent_id", "category"] {
                let told = match &slice[name] {
                    serde_json::Value::Null => String::new(),
                    serde_json::Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                assert_eq!(stored[name], told, "{file} {name}");
            }
        }
    }
    stdout(&["dataset", "compact", &text(&set)]);
    assert_eq!(everything(&set), first);
    let parts = live(&set);
    let dates: std::collections::BTreeSet<PathBuf> = parts["slice"]
        .iter()
        .map(|path| path.parent().unwrap().to_path_buf())
        .collect();
    assert_eq!(
        parts["slice"].len(),
        dates.len(),
        "one part a date and bucket"
    );
    // Replacing after compacting: the same rows, but for the label.
    added(
        &set,
        &[FXT],
        &[wanted.as_slice(), &["--label", "host=a/../b"]].concat(),
    );
    assert_eq!(everything(&set), first);
    assert_eq!(
        parts_on_disk(&set).len(),
        live(&set).values().map(Vec::len).sum::<usize>()
    );
    let list = json(&["dataset", "list", &text(&set)]);
    assert_eq!(list.len(), 4);
    assert!(list.iter().any(|row| row["labels"] == "host=a/../b"));
}

#[test]
fn rows_of_a_part_are_sorted_by_trace_and_time() {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("set");
    added(
        &set,
        &[FXT, STRACE, ETRACE, FTRACE],
        &["--buckets", "1", "--tables", "slice"],
    );
    stdout(&["dataset", "compact", &text(&set)]);
    for path in &live(&set)["slice"] {
        let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
        let mut before = (String::new(), i64::MIN);
        for row in reader.get_row_iter(None).unwrap() {
            let row = row.unwrap();
            let of = |name: &str| {
                let mut columns = row.get_column_iter();
                columns
                    .find(|(column, _)| *column == name)
                    .unwrap()
                    .1
                    .clone()
            };
            let key = match (of("trace_id"), of("ts")) {
                (Field::Str(trace), Field::Long(ts)) => (trace, ts),
                other => panic!("{other:?}"),
            };
            assert!(before <= key);
            before = key;
        }
        let group = reader.metadata().row_group(0);
        for name in ["trace_id", "name"] {
            let mut columns = group.columns().iter();
            let column = columns
                .find(|column| column.column_path().string() == name)
                .unwrap();
            assert!(column.bloom_filter_offset().is_some(), "{name}");
        }
        assert_eq!(group.sorting_columns().unwrap().len(), 2);
    }
}

#[test]
fn rows_of_processes_are_in_order_of_time_and_those_without_one_are_last() {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("set");
    let minix = "sample-traces/minix-pipeline.minix";
    added(&set, &[minix, ETRACE], &["--tables", "build_process"]);
    let mut has_untimed = false;
    for path in live(&set).remove("build_process").unwrap() {
        let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
        let mut before = i64::MIN;
        for row in reader.get_row_iter(None).unwrap() {
            let row = row.unwrap();
            let mut columns = row.get_column_iter();
            let (_, time) = columns.find(|(column, _)| *column == "ts").unwrap();
            let time = match time {
                Field::Long(time) => *time,
                _ => i64::MAX,
            };
            has_untimed |= time == i64::MAX;
            assert!(before <= time);
            before = time;
        }
    }
    assert!(has_untimed);
}

#[test]
fn fields_of_events_are_all_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("set");
    let many: Vec<String> = (0..260)
        .map(|number| format!("\"f{number}\":{number}"))
        .collect();
    let event = |name: &str, ts: u32, args: &str| {
        format!(
            r#"{{"ph":"X","name":"{name}","ts":{ts},"dur":5,"pid":1,"tid":1,"args":{{{args}}}}}"#
        )
    };
    let events = [
        event("many", 1, &many.join(",")),
        event("major gc", 10, r#""k":["cat","dog"],"mix":true"#),
        event("major-gc", 20, r#""k":"one","mix":1"#),
        event("major gc", 30, ""),
    ];
    let path = folder.path().join("made.json");
    std::fs::write(&path, format!("[{}]", events.join(","))).unwrap();
    let wanted = "many,major-gc,major gc";
    let output = run(&[
        "dataset",
        "add",
        &text(&set),
        &text(&path),
        "--events",
        wanted,
    ]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("60 fields of event_many after the first 200"),
        "{said}"
    );
    let found = rows(&set, "event_major_gc");
    let of = |name: &str| -> Vec<&str> { found.iter().map(|row| &*row[name]).collect() };
    assert_eq!(of("ts"), ["10000", "20000", "30000"]);
    assert_eq!(of("k"), ["[cat, dog]", "one", ""]);
    assert_eq!(of("mix"), ["true", "1", ""]);
}

#[test]
fn damaged_inputs_are_left_out_and_all_others_are_in() {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("set");
    let bad = folder.path().join("bad.fxt");
    std::fs::write(&bad, b"nothing that could be a trace").unwrap();
    let output = add(
        &set,
        &[text(&bad).as_str(), FXT, "nowhere.dat", STRACE],
        &["--jobs", "2"],
    );
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("bad.fxt") && errors.contains("2 files were left out"),
        "{errors}"
    );
    assert_eq!(rows(&set, "trace").len(), 2);
    let unknown = add(&set, &[FXT], &["--tables", "slices"]);
    assert_eq!(unknown.status.code(), Some(2));
    let buckets = add(&set, &[FXT], &["--buckets", "3"]);
    assert_eq!(buckets.status.code(), Some(1));
    let missing = run(&["dataset", "list", &text(folder.path())]);
    assert_eq!(missing.status.code(), Some(1));
}

#[test]
fn what_a_killed_job_left_is_removed_and_two_jobs_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("set");
    added(&set, &[FXT], &[]);
    let before = everything(&set);
    // A job that was killed while it made parts, and one that was killed before its parts were live.
    let dead = set.join(".adding-dead");
    std::fs::create_dir(&dead).unwrap();
    std::fs::write(dead.join("alive"), b"").unwrap();
    std::fs::write(dead.join("0.parquet"), b"half").unwrap();
    let orphan = live(&set)["slice"][0].with_file_name("part-0123456789abcdef.parquet");
    std::fs::copy(&live(&set)["slice"][0], &orphan).unwrap();
    assert_eq!(everything(&set), before);
    let jobs: Vec<std::process::Child> = [STRACE, ETRACE, FTRACE, STRACE]
        .iter()
        .map(|file| {
            Command::new(env!("CARGO_BIN_EXE_threadline"))
                .args(["dataset", "add", &text(&set), &sample(file)])
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut job in jobs {
        assert!(job.wait().unwrap().success());
    }
    assert_eq!(rows(&set, "trace").len(), 4);
    let live: Vec<PathBuf> = {
        let mut all: Vec<PathBuf> = live(&set).into_values().flatten().collect();
        all.sort();
        all
    };
    assert_eq!(parts_on_disk(&set), live);
    assert!(!orphan.exists() && !dead.exists());
}

#[test]
fn a_kind_of_events_has_a_table_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("set");
    added(
        &set,
        &["sample-traces/sched-irq-syscalls.dat"],
        // Two names of one kind, and the kinds of one table, give each event once.
        &[
            "--events",
            "sched_switch,sched:sched_switch",
            "--tables",
            "ftrace_event,thread",
        ],
    );
    let switches = rows(&set, "event_sched_switch");
    let ids: BTreeSet<&String> = switches.iter().map(|row| &row["id"]).collect();
    assert_eq!(ids.len(), switches.len());
    let threads: BTreeSet<String> = rows(&set, "thread")
        .into_iter()
        .map(|mut row| row.remove("utid").unwrap())
        .collect();
    let is_known = |utid: &String| utid.is_empty() || threads.contains(utid);
    assert!(switches.iter().all(|row| is_known(&row["utid"])));
    let events = rows(&set, "ftrace_event");
    let named = events.iter().filter(|row| row["name"] == "sched_switch");
    assert!(switches.len() > 10 && switches.len() == named.count());
    for row in &switches {
        assert!(
            row["prev_pid"].parse::<i64>().is_ok() && !row["next_comm"].is_empty(),
            "{row:?}"
        );
    }
}

#[test]
fn the_documentation_has_every_column() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tables.md");
    let rows = json(&["dataset", "tables"]);
    let mut doc = String::new();
    let mut table = String::new();
    for row in &rows {
        let of = |name: &str| row[name].as_str().unwrap_or("").replace('|', "\\|");
        if of("table") != table {
            table = of("table");
            doc += &format!(
                "\n### {table}\n\n| column | type | unit | meaning | in `threadline table` |\n| --- | --- | --- | --- | --- |\n"
            );
        }
        let source = match of("source") {
            source if source.is_empty() => source,
            source => format!("`{source}`"),
        };
        doc += &format!(
            "| `{}` | {} | {} | {} | {source} |\n",
            of("column"),
            of("type"),
            of("unit"),
            of("about")
        );
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let (head, known) = text.split_once("## Columns\n").unwrap();
    if std::env::var_os("UPDATE_ASSETS").is_some() {
        std::fs::write(&path, format!("{head}## Columns\n{doc}")).unwrap();
        return;
    }
    assert!(
        known == doc,
        "docs/tables.md is not what the code says: UPDATE_ASSETS=1 rewrites it"
    );
}

#[test]
fn scripts_for_engines_name_the_live_parts() {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("it's a set");
    added(&set, &[FXT], &[]);
    for engine in ["duckdb", "spark", "polars"] {
        let script = stdout(&["dataset", "views", &text(&set), "--for", engine]);
        for path in live(&set).into_values().flatten() {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            assert_eq!(script.matches(&name).count(), 1, "{engine} {name}");
        }
        let expected = match engine {
            "duckdb" => "it''s a set",
            _ => "it's a set",
        };
        assert!(script.contains(expected), "{script}");
        // A bracket in a path is no pattern.
        assert_eq!(script.contains("glob=False"), engine == "polars");
    }
    let script = stdout(&["dataset", "views", &text(&set), "--for", "trino"]);
    assert!(script.contains("partitioned_by = ARRAY['date', 'bucket']"));
}

#[test]
fn the_questions_are_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/queries.md");
    let text = std::fs::read_to_string(path).unwrap();
    let prepared = threadline::export::dataset::query::PREPARED;
    assert!(prepared.len() >= 10);
    for row in prepared {
        let section = format!(
            "\n### {}\n{}.\n\n```sql\n{}\n```\n",
            row.name, row.about, row.sql
        );
        assert!(text.contains(&section), "{section}");
    }
}

/// A fleet has more files than a process may keep open.
#[test]
fn more_files_than_may_be_open_are_added() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read(sample("sample-traces/kprobe-pair.trace_pipe")).unwrap();
    let mut line = format!(
        "ulimit -n 40; '{}' dataset add '{}' --jobs 1 --tables slice",
        env!("CARGO_BIN_EXE_threadline"),
        folder.path().join("set").display()
    );
    for number in 0..60 {
        let path = folder.path().join(format!("{number}.trace_pipe"));
        std::fs::write(&path, [format!("# {number}\n").as_bytes(), &text].concat()).unwrap();
        line.push_str(&format!(" '{}'", path.display()));
    }
    let output = Command::new("sh").args(["-c", &line]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
