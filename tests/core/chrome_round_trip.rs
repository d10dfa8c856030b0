//! What was exported as Chrome JSON and read again is what was there, as far as the format can say it: slices with their
//! names and lengths, instants with their scopes, counters, arrows, asynchronous slices, runs, states and wakeups, names of
//! processes and threads. Threads that exist in the file only are not there afterwards.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::files::Files;
use threadline::base::{Job, TimeSpan, Timestamp};
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
    "tests/cases/tracedat/lost-count-unknown.dat.zst",
    "tests/cases/over_losses/syscalls.ftrace.txt.zst",
    "tests/cases/over_losses/preempted.ftrace.txt.zst",
    "tests/cases/fxt/all_args.fxt.zst",
    "sample-traces/function-graph.dat",
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
        // In every column: the format has a place for all that a run, a state and a gap say.
        for name in ["runs", "states", "gaps"] {
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

/// Gaps without a number of lost events, and counts of CPUs.
#[test]
fn losses_come_back() {
    for file in [
        "tests/cases/tracedat/lost-count-unknown.dat.zst",
        "tests/cases/tracedat/overwritten-false-latency.dat.zst",
    ] {
        let source = open(&sample(file), &Job::default()).unwrap();
        let again = read_again(exported(&source));
        assert!(!source.trace.gaps.is_empty(), "{file}");
        assert_eq!(again.trace.gaps, source.trace.gaps, "{file}");
        let counted = |loaded: &LoadedTrace| {
            let losses = loaded.trace.info.losses.iter();
            let lossy = losses.filter(|loss| loss.overwritten + loss.dropped > 0);
            lossy.copied().collect::<Vec<_>>()
        };
        assert_eq!(counted(&again), counted(&source), "{file}");
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

#[test]
fn ids_of_two_scopes_stay_apart_in_every_format() {
    let source = open(
        &sample("tests/cases/chrome_json/async-ids.json"),
        &Job::default(),
    )
    .unwrap();
    let columns = ["ts", "dur", "name", "category"];
    let slices = told(&table(&source, "slices"), &columns, |_| true);
    assert!(
        slices.contains(&"0 40000 scoped c".to_owned()),
        "{slices:?}"
    );
    for (name, file) in [("chrome-json", "again.json"), ("fxt", "again.fxt")] {
        let exporter = EXPORTERS.iter().find(|row| row.name == name).unwrap();
        let mut bytes = Vec::new();
        let job = Job::default();
        (exporter.write_to(&source, &Selection::all(), &mut bytes, &job)).unwrap();
        let again = open_bytes(file, bytes, Reading::default(), &job).unwrap();
        let found = told(&table(&again, "slices"), &columns, |_| true);
        assert_eq!(found, slices, "{name}");
    }
}

#[test]
fn counters_of_one_name_are_told_apart_by_their_ids() {
    let counter = |id: &str, value: u32| {
        format!(
            r#"{{"ph":"C","name":"t","id":{id},"pid":2,"tid":1,"ts":4,"args":{{"v":{value}}}}}"#
        )
    };
    let ids = [r#""0x5""#, r#""0x6""#, "7", r#""8""#];
    let events: Vec<String> = ids
        .iter()
        .zip(3..)
        .map(|(id, value)| counter(id, value))
        .collect();
    let source = read_again(format!("[{}]", events.join(",\n")).into_bytes());
    assert_eq!(
        counters_of(&exported(&source)),
        [
            r#"t "0x5" {"v":3.0}"#,
            r#"t "0x6" {"v":4.0}"#,
            r#"t 7 {"v":5.0}"#,
            r#"t "8" {"v":6.0}"#,
        ]
    );
}

#[test]
fn counters_with_numbers_as_ids_come_back_from_fxt() {
    let many: Vec<String> = (0..20).map(|at| format!("\"s{at:02}\":{at}")).collect();
    let text = format!(
        r#"[{{"ph":"C","ts":25,"pid":2,"tid":2,"tts":55,"name":"c","id":1,"args":{{"p":"3","q":4}}}},
            {{"ph":"C","ts":30,"pid":2,"tid":2,"name":"c","id":1,"args":{{"p":"5","q":6}}}},
            {{"ph":"C","ts":31,"pid":2,"tid":2,"name":"z","id":0,"args":{{"p":1}}}},
            {{"ph":"C","ts":32,"pid":2,"tid":2,"name":"z","args":{{"p":100}}}},
            {{"ph":"C","ts":33,"pid":2,"tid":2,"name":"m","id":1,"args":{{{}}}}}]"#,
        many.join(",")
    );
    let files = Files::new(&[("counters.json", &text)]);
    let samples = |file: &str, more: &[&str]| -> Vec<String> {
        let rows = files.table(&[&["counters", file], more].concat());
        let told = rows.iter().map(|row| {
            let value = row["value"].as_f64().unwrap();
            format!("{} {} {value}", row["ts"], row["track"])
        });
        let mut told: Vec<String> = told.collect();
        told.sort();
        told
    };
    let own = samples("counters.json", &[]);
    assert_eq!(own.len(), 26);
    files.text(&["export", "counters.json", "-o", "counters.fxt"]);
    assert_eq!(samples("counters.fxt", &[]), own);
    // A range keeps the samples inside of it.
    files.text(&[
        "export",
        "counters.json",
        "-o",
        "late.fxt",
        "--from",
        "@29000",
    ]);
    let late: Vec<String> = samples("late.fxt", &["--from", "@29001"]);
    assert_eq!(late, samples("counters.json", &["--from", "@29001"]));
}

#[test]
fn the_wall_clock_comes_back_from_exports() {
    let text = r#"{"baseTimeNanoseconds":1700000000000000000,
        "traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]}"#;
    let of_viztracer = r#"{"viztracer_metadata":{"version":"1.1.1","overflow":false,
        "baseTimeNanoseconds":1700000000000000000},
        "traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]}"#;
    let files = Files::new(&[("wall.json", text), ("viztracer.json", of_viztracer)]);
    let clock = |file: &str| {
        let told = files.text(&["info", file]);
        let line = told.lines().find(|line| line.starts_with("wall clock"));
        line.map(str::to_owned)
    };
    let own = clock("wall.json");
    assert!(
        own.as_deref()
            .unwrap()
            .contains("2023-11-14 22:13:20.000001"),
        "{own:?}"
    );
    assert_eq!(clock("viztracer.json"), own);
    for (from, to) in [
        ("wall.json", "again.fxt"),
        ("wall.json", "again.json"),
        ("again.fxt", "again-2.json"),
        ("again.json", "again-2.fxt"),
        ("again.fxt", "again-3.fxt"),
    ] {
        files.text(&["export", from, "-o", to]);
        assert_eq!(clock(to), own, "{to}");
    }
}

/// Name, id and arguments of the counter events of an export.
fn counters_of(export: &[u8]) -> Vec<String> {
    let json: serde_json::Value = serde_json::from_slice(export).unwrap();
    let rows = json["traceEvents"].as_array().unwrap().iter();
    rows.filter(|row| row["ph"] == "C")
        .map(|row| {
            format!(
                "{} {} {}",
                row["name"].as_str().unwrap(),
                row["id"],
                row["args"]
            )
        })
        .collect()
}

#[test]
fn the_series_of_a_counter_stay_one_counter_where_events_lack_some() {
    let counter = |time: u32, args: &str| {
        format!(r#"{{"ph":"C","name":"mem","pid":2,"ts":{time},"args":{args}}}"#)
    };
    let args = [
        r#"{"free":5.0,"used":1.0}"#,
        r#"{"free":9.0}"#,
        r#"{"free":9.0,"used":3.0}"#,
        r#"{"used":4.0}"#,
        r#"{"other":1.0,"used":4.0}"#,
    ];
    // The last two are at one time.
    let times = [1, 2, 3, 4, 4];
    let events: Vec<String> = (times.iter().zip(args))
        .map(|(&time, args)| counter(time, args))
        .collect();
    let source = read_again(format!("[{}]", events.join(",\n")).into_bytes());
    let expected = args.map(|args| format!("mem null {args}"));
    assert_eq!(counters_of(&exported(&source)), expected);
    let samples = |loaded: &LoadedTrace| {
        told(
            &table(loaded, "counters"),
            &["ts", "track", "value"],
            |_| true,
        )
    };
    let again = read_again(exported(&source));
    assert_eq!(samples(&again), samples(&source));
    assert_eq!(samples(&source).len(), 8);

    // What is in force at the start of a range is told there, each series once.
    let range = Selection::range(TimeSpan::new(Timestamp(2_500), Timestamp(3_500)));
    let exporter = EXPORTERS
        .iter()
        .find(|row| row.name == "chrome-json")
        .unwrap();
    let mut bytes = Vec::new();
    (exporter.write_to(&source, &range, &mut bytes, &Job::default())).unwrap();
    assert_eq!(
        counters_of(&bytes),
        [
            r#"mem null {"free":9.0,"used":1.0}"#,
            r#"mem null {"free":9.0,"used":3.0}"#
        ]
    );
}

#[test]
fn whole_numbers_beyond_doubles_are_exact_in_every_export() {
    let text = br#"[{"ph":"C","ts":1,"pid":1,"tid":1,"name":"large","args":{"a":9007199254740993}},
        {"ph":"C","ts":2,"pid":1,"tid":1,"name":"large","args":{"a":-9007199254740993}},
        {"ph":"C","ts":3,"pid":1,"tid":1,"name":"large","args":{"a":18446744073709551615}},
        {"ph":"C","ts":4,"pid":1,"tid":1,"name":"large","args":{"a":1e300}}]"#;
    let source = read_again(text.to_vec());
    let values = |loaded: &LoadedTrace| -> Vec<String> {
        let rows = crate::tables::rows(loaded, "counters").into_iter();
        rows.map(|mut row| row.remove("value").unwrap()).collect()
    };
    let expected = values(&source);
    assert_eq!(
        expected[..3],
        [
            "9007199254740993",
            "-9007199254740993",
            "18446744073709551615"
        ]
    );
    let job = Job::default();
    for (exporter, name) in [("fxt", "again.fxt"), ("chrome-json", "again.json")] {
        let exporter = threadline::export::find(exporter).unwrap();
        let mut bytes = Vec::new();
        (exporter.write_to(&source, &Selection::all(), &mut bytes, &job)).unwrap();
        let again = open_bytes(name, bytes, Reading::default(), &job).unwrap();
        assert_eq!(values(&again), expected, "{name}");
    }
}

#[test]
fn escapes_in_scopes_and_empty_texts_of_the_kernel_say_nothing_new() {
    let event = |phase: &str, scope: &str, ts: u32| {
        format!(
            r#"{{"ph":"{phase}","cat":"c","name":"a","id":1,"scope":"{scope}","pid":1,"tid":1,"ts":{ts}}}"#
        )
    };
    let text = format!(
        r#"{{"systemTraceEvents":"","traceEvents":[{},{}]}}"#,
        event("b", r"a\/b", 1),
        event("e", "a/b", 6)
    );
    let files = Files::new(&[("scopes.json", &text)]);
    let output = files.run(&["table", "slices", "scopes.json", "--format", "json"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["dur"], 5000);
}
