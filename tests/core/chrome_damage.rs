//! Chrome JSON in which something is missing or too much: all other events are read, and diagnostics tell where.

use std::path::Path;

use crate::program::{Row, rows, stdout};

fn written(folder: &Path, text: &str) -> String {
    let path = folder.join("a.json");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn event(number: usize) -> String {
    let ts = number * 2;
    format!(r#"{{"ph":"X","name":"e{number}","pid":1,"tid":1,"ts":{ts},"dur":1}}"#)
}

fn names(file: &str) -> Vec<String> {
    let slices = rows(&["table", "slices", file]);
    slices.iter().map(|row| row["name"].clone()).collect()
}

fn diagnostics(file: &str) -> Vec<Row> {
    rows(&["table", "diagnostics", file])
}

/// Every kind of damage that an event can have, in each form of a file.
#[test]
fn one_damaged_event_costs_no_other() {
    let damaged = [
        r#"{"ph":"X","name":"cut","pid":1,"tid":1,"ts":2,"dur":1,"args":{"k":1"#,
        r#"{"ph":"X","name":"cut","pid":1,"tid":1,"ts":2,"dur":1,"args":{"k":"tex"#,
        r#"{"ph":"X","name":"cut","pid":1,"tid":1,"ts":2,"stack":["a","b""#,
        r#"{"ph":"X","name":"cut","pid":1,"tid":1,"ts":2,"dur":1,"args":{"path":"C:\"}}"#,
        r#"{"ph":"X","name":"cut","pid":1,"tid":1,"ts":2,"dur":1,"args":{"size":"5" wide"}}"#,
        r#"{"ph":"X","name":"cut" "pid":1,"tid":1,"ts":2,"dur":1,"stack":[{"f":1},{"f":2}]}"#,
        r#"{"ph":"X","name":"cut","pid":1,"tid":1,"ts":2 "cat":"k","args":{"l":[{"ph":"X","name":"inner","pid":9,"tid":9,"ts":7,"dur":1}]}}"#,
        r#"{"ph":"X","na"#,
        r#"{"ph":"X","name":"cut","pid":1,,"ts":}"#,
    ];
    let folder = tempfile::tempdir().unwrap();
    for broken in damaged {
        for (start, between, end) in [
            ("[", ",\n", "]"),
            ("[\n", ",", "]"),
            ("", "\n", "\n"),
            ("{\"traceEvents\":[", ",\n", "],\"displayTimeUnit\":\"ns\"}"),
        ] {
            let mut events: Vec<String> = (0..20).map(event).collect();
            events[1] = broken.to_owned();
            let text = format!("{start}{}{end}", events.join(between));
            let file = written(folder.path(), &text);
            let expected: Vec<String> = (0..20)
                .filter(|number| *number != 1)
                .map(|number| format!("e{number}"))
                .collect();
            let mut found = names(&file);
            // Where the damage is inside of a value, the event itself may be read.
            found.retain(|name| name != "cut");
            assert_eq!(found, expected, "{text}");
            let from = start.len() + event(0).len() + between.len();
            let noted = diagnostics(&file);
            let noted = noted.iter().find(|row| row["code"] == "not_json");
            let place = &noted.unwrap_or_else(|| panic!("{text}"))["place"];
            let at = place.trim_start_matches("byte 0x");
            let at = usize::from_str_radix(at, 16).unwrap_or_else(|_| panic!("{place}"));
            let near = from..=from + broken.len() + between.len() + 2;
            assert!(near.contains(&at), "{at} is not in {near:?}: {text}");
        }
    }
}

#[test]
fn what_follows_the_events_is_read_behind_a_damaged_one() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{"traceEvents":[
{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"sf":"2"},
{"ph":"X","name":"bad" "pid":1,"tid":1,"ts":2,"dur":1}
],"displayTimeUnit":"ns",
"stackFrames":{"1":{"name":"main"},"2":{"name":"foo","parent":"1"}},
"samples":[{"tid":1,"ts":1.5,"name":"s","sf":"2","weight":1},{"tid":1,"ts":1.7,"name":"s","sf":"1","weight":1}],
"otherData":{"x":"y"}}"#;
    let file = written(folder.path(), text);
    assert_eq!(names(&file), ["a"]);
    assert_eq!(rows(&["table", "instants", &file]).len(), 2);
    assert!(stdout(&["info", &file]).contains("displayTimeUnit"));
    // The list and the object end too early: what follows are events all the same.
    for middle in ["]}\n", "]}", "],"] {
        let list = |from: usize| (from..from + 5).map(event).collect::<Vec<_>>().join(",\n");
        let text = format!("{{\"traceEvents\":[{}{middle}{}]}}", list(0), list(5));
        let file = written(folder.path(), &text);
        assert_eq!(names(&file).len(), 10, "{text}");
    }
}

#[test]
fn an_error_inside_arguments_is_told_and_the_rest_of_them_shown() {
    let folder = tempfile::tempdir().unwrap();
    for (args, at, rest) in [
        (r#"{"x":,"y":2}"#, 5, r#""x":,"y":2"#),
        (r#"{"a":1,"x":'k',"y":2}"#, 11, r#""x":'k',"y":2"#),
        (r#"{x:1,"y":2}"#, 1, r#"x:1,"y":2"#),
    ] {
        let text = format!(
            "[{}, {{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":4,\"dur\":1,\"args\":{args}}}, {}]",
            event(0),
            event(5)
        );
        let file = written(folder.path(), &text);
        assert_eq!(names(&file), ["e0", "b", "e5"]);
        let noted = diagnostics(&file);
        let place = format!("byte {:#x}", text.find(args).unwrap() + at);
        assert_eq!(noted[0]["code"], "not_json");
        assert_eq!(noted[0]["place"], place, "{text}");
        let shown = rows(&["table", "args", &file]);
        assert!(
            shown
                .iter()
                .any(|row| row.values().any(|value| value == rest)),
            "{shown:?}"
        );
    }
}

#[test]
fn arguments_may_be_nested_deeper_than_fields_are() {
    let folder = tempfile::tempdir().unwrap();
    let deep = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let text = format!(
        "[{{\"ph\":\"X\",\"name\":\"d\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"args\":{}}},{}]",
        deep(5_000),
        event(1)
    );
    let file = written(folder.path(), &text);
    assert_eq!(names(&file), ["d", "e1"]);
    assert!(diagnostics(&file).is_empty());
    assert_eq!(rows(&["table", "args", &file]).len(), 1);
    let many: Vec<String> = (0..3_000).map(|number| number.to_string()).collect();
    let text = format!(
        "[{{\"ph\":\"X\",\"name\":\"d\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"args\":{{\"l\":[{}]}}}}]",
        many.join(",")
    );
    let file = written(folder.path(), &text);
    let told = rows(&["table", "args", &file]);
    assert!(
        told.iter()
            .any(|row| row.values().any(|value| value == "952 more values"))
    );
}

#[test]
fn frames_and_samples_are_found_wherever_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{"samples":[{"tid":7,"ts":1.5,"name":"s","sf":"a\u00e9","weight":1}],
"stackFrames":{"1":{"name":"main"},"a\u00e9":{"name":"esc","parent":1}},
"traceEvents":[{"ph":"X","name":"a","pid":3,"tid":7,"ts":1,"dur":1,"sf":"a\u00e9"}]}"#;
    let file = written(folder.path(), text);
    let threads = rows(&["table", "threads", &file]);
    let of: Vec<_> = threads
        .iter()
        .map(|row| (&*row["pid"], &*row["tid"]))
        .collect();
    assert_eq!(of, [("3", "7")]);
    assert!(stdout(&["flame", "--stacks", &file]).contains("\tesc\t"));
}

#[test]
fn a_time_with_half_an_exponent_is_no_time() {
    let folder = tempfile::tempdir().unwrap();
    for time in ["1e-x", "1e", "1e+", "1e--2"] {
        let text = format!(
            r#"[{{"ph":"X","name":"a","pid":1,"tid":1,"ts":{time},"dur":1}},{}]"#,
            event(1)
        );
        let file = written(folder.path(), &text);
        assert_eq!(names(&file), ["e1"], "{time}");
        assert_eq!(diagnostics(&file)[0]["code"], "bad_time", "{time}");
    }
}
