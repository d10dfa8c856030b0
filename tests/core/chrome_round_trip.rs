//! What was exported as Chrome JSON and read again is what was there, as far as the format can say it: slices with their
//! names and lengths, instants with their scopes, counters, arrows, asynchronous slices, runs, states and wakeups, names of
//! processes and threads. Threads that exist in the file only are not there afterwards.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use threadline::base::Job;
use threadline::event::FieldRef;
use threadline::export::rows::RowFormat;
use threadline::export::tables::write as write_table;
use threadline::export::{Chosen, EXPORTERS, Selection};
use threadline::load::{LoadedTrace, Reading, open, open_bytes};
use threadline::tables;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn exported(loaded: &LoadedTrace) -> Vec<u8> {
    let exporter = EXPORTERS.iter().find(|row| row.name == "chrome-json");
    let mut bytes = Vec::new();
    (exporter.unwrap())
        .write_to(loaded, &Selection::all(), &mut bytes, &Job::default())
        .unwrap();
    bytes
}

fn read_again(bytes: Vec<u8>) -> LoadedTrace {
    open_bytes("again.json", bytes, Reading::default(), &Job::default()).unwrap()
}

type Row = BTreeMap<String, String>;

fn table(loaded: &LoadedTrace, name: &str) -> Vec<Row> {
    let selection = Selection::all();
    let chosen = Chosen::new(&loaded.trace, &selection);
    let mut out = Vec::new();
    let table = tables::find(name).unwrap();
    write_table(
        table,
        loaded,
        &chosen,
        RowFormat::Tsv,
        &mut out,
        &Job::default(),
    )
    .unwrap();
    let text = String::from_utf8_lossy(&out).into_owned();
    let mut lines = text.lines();
    let columns: Vec<String> = lines
        .next()
        .unwrap()
        .split('\t')
        .map(str::to_owned)
        .collect();
    lines
        .map(|line| {
            columns
                .iter()
                .cloned()
                .zip(line.split('\t').map(str::to_owned))
                .collect()
        })
        .collect()
}

/// The rows that `keep` keeps, as texts of these columns, sorted.
fn told(rows: &[Row], columns: &[&str], keep: impl Fn(&Row) -> bool) -> Vec<String> {
    let text = |row: &Row| {
        let cells = columns.iter().map(|column| row[*column].as_str());
        cells.collect::<Vec<_>>().join(" ")
    };
    let mut told: Vec<String> = rows.iter().filter(|row| keep(row)).map(text).collect();
    told.sort();
    told
}

/// Compares without printing millions of rows.
fn assert_same(what: &str, ours: &[String], theirs: &[String]) {
    let first = ours.iter().zip(theirs).find(|(a, b)| a != b);
    assert_eq!(
        first,
        None,
        "{what}: {} and {} rows",
        ours.len(),
        theirs.len()
    );
    assert_eq!(ours.len(), theirs.len(), "{what}");
}

const FILES: &[&str] = &[
    "sample-traces/compress.fxt",
    "sample-traces/sched-irq-syscalls.dat",
    "sample-traces/kprobe-hackbench.dat",
    "sample-traces/block-ext4.dat",
    "sample-traces/shell-pipeline.strace",
    "sample-traces/node-workers.json.gz",
    "tests/golden/fxt/simple_trace.fxt",
    "tests/golden/chrome_json/all-phases.json",
];

#[test]
fn tables_come_back_as_they_were() {
    for file in FILES {
        let source = open(&sample(file), &Job::default()).unwrap();
        let again = read_again(exported(&source));
        let all = |_: &Row| true;

        let [slices, slices_again] = [&source, &again].map(|loaded| table(loaded, "slices"));
        // Asynchronous slices without a category have one in the file, as the format asks for it.
        let columns = ["ts", "dur", "name"];
        assert_same(
            file,
            &told(&slices, &columns, all),
            &told(&slices_again, &columns, all),
        );
        // In every column: the format has a place for all that a run and a state say.
        for name in ["runs", "states"] {
            let [ours, theirs] = [&source, &again].map(|loaded| table(loaded, name));
            let columns: Vec<&str> = match ours.first() {
                Some(row) => row.keys().map(String::as_str).collect(),
                None => Vec::new(),
            };
            assert_same(
                &format!("{file}: {name}"),
                &told(&ours, &columns, all),
                &told(&theirs, &columns, all),
            );
        }

        let [instants, instants_again] = [&source, &again].map(|loaded| table(loaded, "instants"));
        assert_same(
            file,
            &told(&instants, &["ts", "name"], all),
            &told(&instants_again, &["ts", "name"], all),
        );

        let [counters, counters_again] = [&source, &again].map(|loaded| table(loaded, "counters"));
        let columns = ["ts", "value"];
        assert_same(
            file,
            &told(&counters, &columns, all),
            &told(&counters_again, &columns, all),
        );
        let [flows, flows_again] = [&source, &again].map(|loaded| table(loaded, "flows"));
        let columns = ["from_ts", "to_ts"];
        assert_same(
            file,
            &told(&flows, &columns, all),
            &told(&flows_again, &columns, all),
        );
        let names = |loaded: &LoadedTrace, name: &str| -> Vec<String> {
            let mut names = told(&table(loaded, name), &["name"], |row| {
                !row["name"].is_empty()
            });
            names.dedup();
            names
        };
        for of in ["threads", "processes"] {
            let again = names(&again, of);
            for name in names(&source, of) {
                assert!(again.contains(&name), "{file}: {of} {name}");
            }
            let is_stand_in = |name: &&String| name.ends_with(" states") || name.ends_with(" runs");
            assert_eq!(again.iter().find(is_stand_in), None, "{file}");
        }
    }
}

fn all_fields(loaded: &LoadedTrace) -> Vec<String> {
    let trace = &loaded.trace;
    let mut told = Vec::new();
    for id in 0..trace.events.len() as u32 {
        let event = trace.events.get(threadline::trace::EventId(id));
        let kind = trace.kind_name(event.row.kind).into_owned();
        let mut fields: Vec<FieldRef<'_>> = Vec::new();
        loaded.reader.fields_into(event.into(), &mut fields);
        for field in fields.into_iter().filter(|field| field.name != "id") {
            told.push(format!(
                "{} {kind} {} {:?}",
                event.row.time.0, field.name, field.value
            ));
        }
    }
    told.sort();
    told
}

#[test]
fn what_was_exported_once_is_exported_the_same_again() {
    let source = open(
        &sample("tests/golden/chrome_json/all-phases.json"),
        &Job::default(),
    )
    .unwrap();
    let once = exported(&source);
    let again = exported(&read_again(once.clone()));
    let lines = |bytes: Vec<u8>| -> Vec<String> {
        let text = String::from_utf8(bytes).unwrap();
        // Flows that shared an id have ids of their own in the first file, and keep them in the second.
        let is_flow = |line: &&str| {
            ["s", "t", "f"]
                .iter()
                .any(|ph| line.contains(&format!("\"ph\":\"{ph}\"")))
        };
        let lines = text.lines().filter(|line| !is_flow(line));
        let mut lines: Vec<String> = lines
            .map(|line| line.trim_end_matches(',').to_owned())
            .collect();
        lines.sort();
        lines
    };
    assert_same("exported again", &lines(once), &lines(again));
}

#[test]
fn arguments_and_scopes_come_back() {
    // A scope that FXT does not say is the thread.
    let is_scope = |row: &&String| row.contains(" scope ") && !row.contains("\"thread\"");
    let is_argument = |row: &&String| row.contains(" number ") || row.contains(" path ");
    let scopes = [&is_scope as &dyn Fn(&&String) -> bool, &is_argument];
    for (file, keep) in [
        "tests/golden/fxt/instant_scope.fxt",
        "sample-traces/compress.fxt",
    ]
    .iter()
    .zip(scopes)
    {
        let source = open(&sample(file), &Job::default()).unwrap();
        let again = read_again(exported(&source));
        let told = |loaded: &LoadedTrace| -> Vec<String> {
            let fields = all_fields(loaded);
            let mut told: Vec<String> = fields.iter().filter(keep).cloned().collect();
            told.dedup();
            told
        };
        let (ours, theirs) = (told(&source), told(&again));
        assert!(!ours.is_empty(), "{file}");
        assert_same(file, &ours, &theirs);
    }
}
