//! Whole files in memory, cut into parts of every size.

use super::reader::JsonReader;
use crate::base::{Job, ReadError, Severity};
use crate::event::{AsyncScope, SeriesScope};
use crate::formats::{Gathered, Input};

/// Small parts have borders close together; a large part contains most of the file.
const SIZES: [usize; 8] = [1, 7, 20, 64, 100, 333, 1000, usize::MAX];

fn gathered(text: &[u8], part_bytes: usize) -> Result<Gathered, ReadError> {
    let input = Input::from_vec(text.to_vec(), "a.json");
    let recording = JsonReader::open_in_parts(input, part_bytes)?.recording();
    recording.read_whole(&Job::default())
}

/// Returns everything that was read, as text that does not depend on the parts.
fn told(text: &[u8], part_bytes: usize) -> Vec<String> {
    let gathered = gathered(text, part_bytes).unwrap();
    let directory = &gathered.directory;
    let thread = |key: crate::event::ThreadKey| {
        let thread = directory.threads.iter().find(|thread| thread.key == key);
        let thread = thread.unwrap();
        let process = thread.process.map(|process| process.0);
        let name = thread.name.map(|name| directory.strings.text(name));
        format!("{process:?}/{}/{name:?}", thread.tid)
    };
    let mut told = Vec::new();
    for part in &gathered.parts {
        let columns = &part.columns;
        let text = |id| columns.strings.text(id);
        let place = |event: u32| columns.events.place(event);
        for event in 0..columns.events.len() as u32 {
            let row = columns.events.row(event);
            let kind = columns.kinds.get(row.kind.0 as usize).unwrap();
            told.push(format!(
                "{} {} {} {}",
                row.place,
                row.time.0,
                text(kind.name),
                thread(row.thread.unwrap())
            ));
        }
        for mark in &columns.marks {
            told.push(format!("{} mark {:?}", place(mark.event), mark.op()));
        }
        for whole in &columns.completes {
            told.push(format!(
                "{} whole {}",
                place(whole.event),
                whole.duration_ns
            ));
        }
        for mark in &columns.asyncs {
            let scope = match mark.scope {
                AsyncScope::Process(key) => format!("process {}", key.0),
                AsyncScope::Shared(key) => format!("shared {}", key.0),
                other => format!("{other:?}"),
            };
            let name = text(mark.name);
            told.push(format!(
                "{} async {} {scope} {name}",
                place(mark.event),
                mark.id
            ));
        }
        for flow in &columns.flows {
            told.push(format!(
                "{} flow {} {:?}",
                place(flow.event),
                flow.id,
                flow.bound
            ));
        }
        for sample in &columns.samples {
            let series = columns.series.get(sample.series as usize).unwrap();
            let scope = match series.scope {
                SeriesScope::Process(key) => key.0,
                _ => u32::MAX,
            };
            let name = text(series.name);
            told.push(format!(
                "{} {name} {scope} {}",
                place(sample.event),
                sample.value
            ));
        }
        for row in columns.diagnostics.rows() {
            for at in &row.places {
                told.push(format!("{} {:?}", row.code, at));
            }
        }
    }
    told.sort();
    told.extend(gathered.info.facts.iter().map(|fact| format!("{fact:?}")));
    told
}

fn same_in_all_parts(text: &[u8]) {
    let whole = told(text, usize::MAX);
    for size in SIZES {
        assert_eq!(told(text, size), whole, "parts of {size} bytes");
    }
}

#[test]
fn a_file_reads_the_same_however_it_is_cut() {
    let all = include_bytes!("../../../tests/golden/chrome_json/all-phases.json");
    same_in_all_parts(all);
    same_in_all_parts(include_bytes!(
        "../../../tests/golden/chrome_json/lines.json"
    ));
    same_in_all_parts(include_bytes!(
        "../../../tests/golden/chrome_json/open-array.json"
    ));
    for cut in (100..all.len()).step_by(41) {
        same_in_all_parts(all.get(..cut).unwrap());
    }
}

#[test]
fn a_border_that_only_looks_like_one_is_noticed() {
    // Many part sizes put a guessed border inside the arguments, which contain events.
    let inner = r#"{"ph":"i","name":"no event","ts":5,"pid":9}"#;
    let inner = [inner; 30].join(",");
    let text = format!(
        r#"[{{"ph":"i","name":"a","ts":1,"pid":1,"args":{{"list":[{inner}]}}}},{{"ph":"i","name":"b","ts":2,"pid":1}}]"#
    );
    for size in SIZES {
        let told = told(text.as_bytes(), size);
        assert_eq!(told.len(), 2, "parts of {size} bytes: {told:?}");
    }
}

#[test]
fn strings_that_never_end_are_errors() {
    // Each part has an unclosed string, which reaches to the end of the file.
    let event =
        r#"{"ph":"i","name":"a","ts":1,"pid":1,"args":{"x":["#.to_owned() + &"1,".repeat(2000);
    let text = format!("[{}", [event.as_str(); 40].join(","));
    for size in [1000, 10_000] {
        let gathered = gathered(text.as_bytes(), size).unwrap();
        let rows = gathered
            .parts
            .iter()
            .flat_map(|part| part.columns.diagnostics.rows());
        assert!(rows.filter(|row| row.severity == Severity::Error).count() > 0);
    }
}

#[test]
fn names_keep_their_identity_at_any_number() {
    let count = 3000;
    let events: Vec<String> = (0..count)
        .map(|number| {
            format!(r#"{{"ph":"X","name":"frame {number}","ts":{number},"dur":1,"pid":1,"tid":1}}"#)
        })
        .collect();
    let text = format!("[{}]", events.join(",\n"));
    let told = told(text.as_bytes(), 5000);
    assert_eq!(
        told.iter().filter(|row| row.contains("frame ")).count(),
        count
    );
    same_in_all_parts(text.as_bytes());
}

#[test]
fn a_file_without_events_is_empty_and_no_error() {
    for text in ["[]", "[", "{}", r#"{"traceEvents":[]}"#, "[{}]"] {
        let gathered = gathered(text.as_bytes(), 100).unwrap();
        assert!(
            gathered
                .parts
                .iter()
                .all(|part| part.columns.events.is_empty()),
            "{text}"
        );
    }
    assert!(gathered(b"", 100).is_err());
    assert!(gathered(b"text", 100).is_err());
}
