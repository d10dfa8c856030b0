//! Ids of Chrome JSON: what belongs together by `id`, `id2` and `bind_id`, in which process it is, and what is shown.
//! Perfetto's `json_trace_parser_impl.cc` and `flow_tracker.cc` say what is right.

use crate::files::Files;
use serde_json::Value;

fn sample(name: &str) -> String {
    format!("{}/sample-traces/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn cells(files: &Files, arguments: &[&str], wanted: &[&str]) -> Vec<Vec<Value>> {
    let rows = files.table(arguments);
    let of_row = |row: &Value| wanted.iter().map(|name| row[name].clone()).collect();
    rows.iter().map(of_row).collect()
}

/// One id, first in process 1, later in process 2.
const IN_TWO_PROCESSES: &str = r#"[
{"ph":"M","name":"process_name","pid":1,"args":{"name":"browser"}},
{"ph":"M","name":"process_name","pid":2,"args":{"name":"renderer"}},
{"ph":"b","name":"load","cat":"n","id":"0x1","ts":1,"pid":1,"tid":11},
{"ph":"e","name":"load","cat":"n","id":"0x1","ts":5,"pid":1,"tid":11},
{"ph":"b","name":"load","cat":"n","id":"0x1","ts":100,"pid":2,"tid":22},
{"ph":"b","name":"part","cat":"n","id":"0x1","ts":200,"pid":1,"tid":11},
{"ph":"e","name":"part","cat":"n","id":"0x1","ts":300,"pid":1,"tid":11},
{"ph":"e","name":"load","cat":"n","id":"0x1","ts":500,"pid":2,"tid":22}]"#;

#[test]
fn an_operation_is_in_the_process_in_which_it_began() {
    let files = Files::new(&[("a.json", IN_TWO_PROCESSES)]);
    let wanted = ["ts", "dur", "depth", "pid", "process"];
    let all = cells(&files, &["slices", "a.json"], &wanted);
    let expected: Value = serde_json::json!([
        [1000, 4000, 0, 1, "browser"],
        [100_000, 400_000, 0, 2, "renderer"],
        [200_000, 100_000, 1, 2, "renderer"],
    ]);
    assert_eq!(serde_json::to_value(&all).unwrap(), expected);
    for (form, count) in [("fxt", 2), ("json", 2)] {
        let part = format!("part.{form}");
        let _written = files.text(&["export", "a.json", "--process", "2", "-o", &part]);
        let again = cells(&files, &["slices", &part], &["ts", "dur", "process"]);
        assert_eq!(again.len(), count, "{form}: {again:?}");
        assert!(again.iter().all(|row| row[2] == "renderer"), "{again:?}");
    }
}

/// Process 1 begins a part of process 2's operation: the part counts for both, in all outputs.
#[test]
fn a_part_that_another_process_begins_is_its_own_too() {
    let begin = r#""ts":200,"pid":1,"tid":11"#;
    // An argument of the program's own does not replace the thread.
    let with_word = IN_TWO_PROCESSES.replace(
        &format!("{begin}}}"),
        &format!(r#"{begin},"args":{{"recorded_by":"camera"}}}}"#),
    );
    assert!(with_word.contains("camera"));
    let files = Files::new(&[("a.json", IN_TWO_PROCESSES), ("word.json", &with_word)]);
    let export = |from: &str, to: &str| _ = files.text(&["export", from, "-o", to]);
    export("a.json", "a.fxt");
    export("a.json", "again.json");
    export("word.json", "word.fxt");
    export("a.fxt", "fxt.json");
    export("fxt.json", "fourth.fxt");
    let expected = serde_json::json!([[1000, "load"], [200_000, "part"]]);
    for file in ["a.json", "a.fxt", "again.json", "word.fxt", "fourth.fxt"] {
        let stats = files.text(&["stats", file, "--process", "1", "--format", "json"]);
        let stats: Vec<Value> = serde_json::from_str(&stats).unwrap();
        let counted = stats.iter().map(|row| row["count"].as_u64().unwrap());
        assert_eq!(counted.sum::<u64>(), 2, "{file}: {stats:?}");
        // The operation around the part is not among them.
        assert!(
            stats.iter().all(|row| row["self"] == row["sum"]),
            "{file}: {stats:?}"
        );
        // By process, a part is of the operation's process, as in the table.
        let stats = files.text(&["stats", file, "--by", "process", "--format", "json"]);
        let stats: Vec<Value> = serde_json::from_str(&stats).unwrap();
        let counts: Vec<_> = stats
            .iter()
            .map(|row| row["count"].as_u64().unwrap())
            .collect();
        assert_eq!(counts, [2, 1], "{file}: {stats:?}");
        // Its own time is without the part, also where the part is not among them.
        let stats = files.text(&["stats", file, "--thread", "22", "--format", "json"]);
        let stats: Vec<Value> = serde_json::from_str(&stats).unwrap();
        let of_load: Vec<_> = stats
            .iter()
            .map(|row| (&row["sum"], &row["self"]))
            .collect();
        assert_eq!(
            of_load,
            [(&Value::from(400_000), &Value::from(300_000))],
            "{file}"
        );
        let flame = files.text(&["flame", file, "--thread", "22", "--format", "json"]);
        let flame: Vec<Value> = serde_json::from_str(&flame).unwrap();
        let own: Vec<_> = flame
            .iter()
            .map(|row| (&row["total"], &row["self"]))
            .collect();
        assert_eq!(own, of_load, "{file}: {flame:?}");
        for form in ["fxt", "json"] {
            let part = format!("part.{form}");
            let arguments = ["export", file, "--process", "1", "-o", &part, "--force"];
            let _written = files.text(&arguments);
            let again = cells(&files, &["slices", &part], &["ts", "name"]);
            let again = serde_json::to_value(&again).unwrap();
            assert_eq!(again, expected, "{file}: {form}");
        }
    }
}

#[test]
fn a_local_id_is_another_than_the_same_number_without_a_process() {
    let text = r#"[
{"ph":"b","name":"x","cat":"c","id":"0x1","ts":1,"pid":1,"tid":1},
{"ph":"b","name":"x","cat":"c","id2":{"local":"0x1"},"ts":2,"pid":1,"tid":1},
{"ph":"e","name":"x","cat":"c","id":"0x1","ts":3,"pid":1,"tid":1},
{"ph":"e","name":"x","cat":"c","id2":{"local":"0x1"},"ts":10,"pid":1,"tid":1},
{"ph":"b","name":"g","cat":"c","id2":{"global":"9"},"ts":20,"pid":1,"tid":1},
{"ph":"e","name":"g","cat":"c","id":"9","ts":24,"pid":1,"tid":1}]"#;
    let files = Files::new(&[("a.json", text)]);
    let all = cells(&files, &["slices", "a.json"], &["ts", "dur"]);
    let expected = serde_json::json!([[1000, 2000], [2000, 8000], [20_000, 4000]]);
    assert_eq!(serde_json::to_value(&all).unwrap(), expected);
    // The ids are shown as they are written.
    let ids = files.text(&["search", "name == x && id == 1", "a.json"]);
    assert_eq!(ids.lines().count(), 2, "{ids}");
    let arguments = files.text(&["table", "args", "a.json"]);
    assert!(arguments.contains("\tuint\t1\t"), "{arguments}");
    let through = files.text(&["export", "a.json", "-o", "a.fxt"]);
    assert!(through.is_empty(), "{through}");
    let again = cells(&files, &["slices", "a.fxt"], &["ts", "dur"]);
    assert_eq!(serde_json::to_value(&again).unwrap(), expected);
}

/// Two recordings of one program have the same ids: their operations stay apart in the exported file.
#[test]
fn operations_of_two_files_stay_apart_in_an_export() {
    let files = Files::new(&[("a.json", IN_TWO_PROCESSES), ("b.json", IN_TWO_PROCESSES)]);
    let both = ["a.json", "b.json", "--offset", "2=30us"];
    let wanted = ["ts", "dur", "depth", "name"];
    let expected = cells(&files, &[&["slices"], &both[..]].concat(), &wanted);
    assert_eq!(expected.len(), 6);
    for out in ["both.json", "both.fxt"] {
        let _written = files.text(&[&["export"], &both[..], &["-o", out]].concat());
        assert_eq!(cells(&files, &["slices", out], &wanted), expected, "{out}");
    }
}

/// Operations with one id that end, begin and are over at one time.
const AT_ONE_TIME: &str = r#"[
{"ph":"b","name":"outer","cat":"c","id2":{"local":"0x1"},"ts":1,"pid":1,"tid":1},
{"ph":"b","name":"middle","cat":"d","id2":{"local":"0x1"},"ts":2,"pid":1,"tid":1},
{"ph":"e","name":"middle","cat":"d","id2":{"local":"0x1"},"ts":9,"pid":1,"tid":1},
{"ph":"b","name":"point","cat":"c","id2":{"local":"0x1"},"ts":9,"pid":1,"tid":1},
{"ph":"b","name":"inside the point","cat":"c","id2":{"local":"0x1"},"ts":9,"pid":1,"tid":1},
{"ph":"e","name":"inside the point","cat":"c","id2":{"local":"0x1"},"ts":9,"pid":1,"tid":1},
{"ph":"e","name":"point","cat":"c","id2":{"local":"0x1"},"ts":9,"pid":1,"tid":1},
{"ph":"b","name":"point","cat":"c","id2":{"local":"0x1"},"ts":9,"pid":1,"tid":1},
{"ph":"e","name":"point","cat":"c","id2":{"local":"0x1"},"ts":9,"pid":1,"tid":1},
{"ph":"e","name":"outer","cat":"c","id2":{"local":"0x1"},"ts":9,"pid":1,"tid":1},
{"ph":"b","name":"outer","cat":"c","id2":{"local":"0x1"},"ts":9,"pid":1,"tid":1},
{"ph":"b","name":"point","cat":"c","id2":{"local":"0x1"},"ts":9,"pid":1,"tid":1},
{"ph":"e","name":"point","cat":"c","id2":{"local":"0x1"},"ts":9,"pid":1,"tid":1},
{"ph":"e","name":"outer","cat":"c","id2":{"local":"0x1"},"ts":12,"pid":1,"tid":1}]"#;

#[test]
fn operations_of_one_time_keep_what_they_are_in() {
    let files = Files::new(&[("a.json", AT_ONE_TIME)]);
    let wanted = ["ts", "dur", "depth", "name", "category"];
    let expected = serde_json::json!([
        [1000, 8000, 0, "outer", "c"],
        [2000, 7000, 0, "middle", "d"],
        [9000, 0, 1, "point", "c"],
        [9000, 0, 2, "inside the point", "c"],
        [9000, 0, 1, "point", "c"],
        [9000, 3000, 0, "outer", "c"],
        [9000, 0, 1, "point", "c"],
    ]);
    let sorted = |rows: Value| {
        let mut rows = rows.as_array().unwrap().clone();
        rows.sort_by_key(Value::to_string);
        rows
    };
    for out in ["a.json", "a.fxt", "b.json", "c.json"] {
        match out {
            "a.fxt" | "b.json" => _ = files.text(&["export", "a.json", "-o", out]),
            "c.json" => _ = files.text(&["export", "a.fxt", "-o", out]),
            _ => {}
        }
        let found = cells(&files, &["slices", out], &wanted);
        let found = serde_json::to_value(&found).unwrap();
        assert_eq!(sorted(found), sorted(expected.clone()), "{out}");
    }
}

/// A part and an instant are exported without the operation of another process that they are in.
#[test]
fn a_part_alone_stays_in_its_process() {
    let instant = r#"{"ph":"n","name":"it\\x41","cat":"n","id":"0x1","ts":250,"pid":1,"tid":11},
{"ph":"i","name":"it\\x41","cat":"n","ts":251,"pid":1,"tid":11},
{"ph":"e","name":"part""#;
    let text = IN_TWO_PROCESSES.replace(r#"{"ph":"e","name":"part""#, instant);
    let files = Files::new(&[("a.json", &text)]);
    for out in ["part.json", "part.fxt"] {
        let _written = files.text(&["export", "a.json", "--thread", "11", "-o", out]);
        let slices = cells(&files, &["slices", out], &["name", "process", "track"]);
        let expected =
            serde_json::json!([["load", "browser", "load"], ["part", "renderer", "load"]]);
        assert_eq!(serde_json::to_value(&slices).unwrap(), expected, "{out}");
        let instants = cells(&files, &["instants", out], &["name", "track"]);
        let expected = serde_json::json!([["it\\x41", "load"], ["it\\x41", "tid 11"]]);
        assert_eq!(serde_json::to_value(&instants).unwrap(), expected, "{out}");
        let threads = cells(&files, &["threads", out], &["tid"]);
        let people = serde_json::json!([[11], [22]]);
        assert_eq!(serde_json::to_value(&threads).unwrap(), people, "{out}");
        let events = cells(&files, &["events", out], &["tid"]);
        assert!(events.iter().all(|row| row[0] == 11), "{out}: {events:?}");
    }
}

/// Threads of three processes have the number 1; two of them work for an operation of the third.
const EQUAL_NUMBERS: &str = r#"[
{"ph":"M","name":"thread_name","pid":10,"tid":1,"args":{"name":"A1"}},
{"ph":"M","name":"thread_name","pid":20,"tid":1,"args":{"name":"B1"}},
{"ph":"M","name":"thread_name","pid":30,"tid":1,"args":{"name":"C1"}},
{"ph":"X","name":"w","cat":"c","pid":10,"tid":1,"ts":1,"dur":50},
{"ph":"X","name":"w","cat":"c","pid":20,"tid":1,"ts":1,"dur":50},
{"ph":"X","name":"w","cat":"c","pid":30,"tid":1,"ts":1,"dur":50},
{"ph":"b","name":"rpc","cat":"ipc","id":"0x5","pid":30,"tid":1,"ts":10},
{"ph":"b","name":"handle","cat":"ipc","id":"0x5","pid":20,"tid":1,"ts":12},
{"ph":"n","name":"got","cat":"ipc","id":"0x5","pid":10,"tid":1,"ts":14},
{"ph":"e","name":"handle","cat":"ipc","id":"0x5","pid":20,"tid":1,"ts":20},
{"ph":"e","name":"rpc","cat":"ipc","id":"0x5","pid":30,"tid":1,"ts":22},
{"ph":"C","name":"q","pid":30,"tid":1,"ts":23,"args":{"a":1}}]"#;

#[test]
fn who_recorded_a_part_is_known_where_numbers_of_threads_are_equal() {
    let files = Files::new(&[("a.json", EQUAL_NUMBERS)]);
    let stats = |file: &str, options: &[&str]| {
        let text = files.text(&[&["stats", file, "--format", "json"], options].concat());
        let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
        let cells = |row: &Value| {
            [
                row["group"].clone(),
                row["count"].clone(),
                row["sum"].clone(),
            ]
        };
        rows.iter().map(cells).collect::<Vec<_>>()
    };
    let by_thread = stats("a.json", &["--by", "thread"]);
    assert_eq!(by_thread.len(), 5);
    for (from, to) in [
        ("a.json", "a.fxt"),
        ("a.json", "b.json"),
        ("a.fxt", "c.json"),
    ] {
        let _written = files.text(&["export", from, "-o", to]);
        assert_eq!(stats(to, &["--by", "thread"]), by_thread, "{to}");
        let of_20 = ["--process", "20"];
        assert_eq!(stats(to, &of_20), stats("a.json", &of_20), "{to}");
        // No counter or instant makes a thread of its own.
        assert_eq!(files.table(&["threads", to]).len(), 3, "{to}");
    }
}

#[test]
fn tracks_and_arrows_keep_their_names_in_chrome_json() {
    let files = Files::new(&[]);
    for (from, table, wanted) in [
        ("compress.fxt", "flows", &["from_ts", "to_ts", "name"][..]),
        (
            "block-ext4.dat",
            "slices",
            &["ts", "dur", "depth", "name", "track", "tid"],
        ),
    ] {
        let from = &sample(from);
        let sorted = |rows: Vec<Vec<Value>>| {
            let mut rows: Vec<_> = rows.into_iter().map(|row| format!("{row:?}")).collect();
            rows.sort();
            rows
        };
        let before = sorted(cells(&files, &[table, from], wanted));
        let _written = files.text(&["export", from, "--force", "-o", "out.json"]);
        let after = sorted(cells(&files, &[table, "out.json"], wanted));
        assert_eq!(after, before, "{table}");
    }
}

/// (name of the slice, or nothing; the same at the arrow's other end).
fn arrows(files: &Files, file: &str) -> Vec<(String, String)> {
    let slices = files.table(&["slices", file]);
    let name = |id: &Value| match id.as_u64() {
        Some(id) => slices
            .iter()
            .find(|row| row["id"] == id)
            .map_or("?".to_owned(), |row| {
                row["name"].as_str().unwrap().to_owned()
            }),
        None => String::new(),
    };
    let flows = files.table(&["flows", file]);
    let ends = |flow: &Value| (name(&flow["from_slice"]), name(&flow["to_slice"]));
    flows.iter().map(ends).collect()
}

#[test]
fn arrows_by_bind_id_belong_to_the_slice_that_carries_it() {
    let children = r#"[
{"ph":"X","name":"P","ts":110,"dur":10,"pid":4,"tid":1,"bind_id":"0xabc","flow_out":true},
{"ph":"X","name":"C","ts":110,"dur":1,"pid":4,"tid":1},
{"ph":"X","name":"Q","ts":112,"dur":0,"pid":4,"tid":2,"bind_id":"0xabc","flow_in":true},
{"ph":"X","name":"D","ts":112,"dur":1,"pid":4,"tid":2},
{"ph":"b","name":"R","cat":"c","id":5,"ts":130,"pid":4,"tid":2,"bind_id":"0xabc","flow_in":true},
{"ph":"e","name":"R","cat":"c","id":5,"ts":140,"pid":4,"tid":2}]"#;
    // An end does not close the flow: a second one leads from the same slice, until the id begins again.
    let fan = r#"[
{"ph":"X","name":"a","ts":1,"dur":5,"pid":1,"tid":1},{"ph":"s","name":"f","cat":"f","id":1,"ts":2,"pid":1,"tid":1},
{"ph":"X","name":"b","ts":10,"dur":5,"pid":1,"tid":2},{"ph":"f","bp":"e","name":"f","cat":"f","id":1,"ts":11,"pid":1,"tid":2},
{"ph":"X","name":"c","ts":20,"dur":5,"pid":1,"tid":3},{"ph":"f","bp":"e","name":"f","cat":"f","id":1,"ts":21,"pid":1,"tid":3},
{"ph":"X","name":"d","ts":30,"dur":5,"pid":1,"tid":1},{"ph":"s","name":"f","cat":"f","id":1,"ts":31,"pid":1,"tid":1},
{"ph":"X","name":"e","ts":40,"dur":5,"pid":1,"tid":3},{"ph":"f","bp":"e","name":"f","cat":"f","id":1,"ts":41,"pid":1,"tid":3}]"#;
    // Without `bp`, an end belongs to the next slice.
    let next = r#"[
{"ph":"X","name":"a","ts":1,"dur":5,"pid":1,"tid":1},{"ph":"s","name":"f","cat":"f","id":1,"ts":2,"pid":1,"tid":1},
{"ph":"X","name":"b","ts":10,"dur":5,"pid":1,"tid":2},{"ph":"f","name":"f","cat":"f","id":1,"ts":11,"pid":1,"tid":2},
{"ph":"X","name":"c","ts":20,"dur":5,"pid":1,"tid":2}]"#;
    let files = Files::new(&[
        ("children.json", children),
        ("fan.json", fan),
        ("next.json", next),
    ]);
    for (file, expected) in [
        ("next", vec![("a", "c")]),
        ("children", vec![("P", "Q"), ("P", "R")]),
        ("fan", vec![("a", "b"), ("a", "c"), ("d", "e")]),
    ] {
        let original = format!("{file}.json");
        let found = arrows(&files, &original);
        let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (&**a, &**b)).collect();
        assert_eq!(found, expected, "{file}");
        let ends = ["from_ts", "from_tid", "to_ts", "to_tid"];
        let before = cells(&files, &["flows", &original], &ends);
        for form in ["fxt", "again.json"] {
            let again = format!("{file}.{form}");
            let _written = files.text(&["export", &original, "-o", &again]);
            assert_eq!(cells(&files, &["flows", &again], &ends), before, "{again}");
            let found = arrows(&files, &again);
            let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (&**a, &**b)).collect();
            assert_eq!(found, expected, "{again}");
        }
        let notes = files.table(&["diagnostics", &format!("{file}.json")]);
        assert!(notes.iter().all(|row| row["code"] != "flow_dropped"));
    }
}

/// (phase, tid) of the exported events called `name` that are no metadata.
fn exported(files: &Files, out: &str, name: &str) -> Vec<(String, u64)> {
    let text = std::fs::read_to_string(files.0.path().join(out)).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let events = all["traceEvents"].as_array().unwrap();
    let own = events
        .iter()
        .filter(|it| it["name"] == name && it["ph"] != "M");
    let cells = |it: &Value| {
        (
            it["ph"].as_str().unwrap().to_owned(),
            it["tid"].as_u64().unwrap(),
        )
    };
    own.map(cells).collect()
}

#[test]
fn an_arrow_ends_on_the_thread_on_which_its_slice_is_written() {
    // B crosses A, so it is written on another thread, and C is the next slice on A's.
    let crossing = r#"[
{"ph":"X","name":"A","cat":"c","pid":1,"tid":1,"ts":0,"dur":50},
{"ph":"X","name":"B","cat":"c","pid":1,"tid":1,"ts":40,"dur":30},
{"ph":"X","name":"C","cat":"c","pid":1,"tid":1,"ts":72,"dur":5},
{"ph":"X","name":"S","cat":"c","pid":1,"tid":2,"ts":5,"dur":20},
{"ph":"s","name":"f","cat":"fl","id":1,"pid":1,"tid":2,"ts":10},
{"ph":"f","name":"f","cat":"fl","id":1,"pid":1,"tid":1,"ts":30}]"#;
    // The slice at which the arrow ends begins after the range.
    let later = r#"[
{"ph":"X","name":"S","cat":"c","pid":1,"tid":2,"ts":5,"dur":20},
{"ph":"s","name":"f","cat":"fl","id":1,"pid":1,"tid":2,"ts":10},
{"ph":"f","name":"f","cat":"fl","id":1,"pid":1,"tid":1,"ts":30},
{"ph":"X","name":"B","cat":"c","pid":1,"tid":1,"ts":60,"dur":30}]"#;
    // An end without a slice makes no arrow, also beside an asynchronous slice of its thread.
    let lone = r#"[
{"ph":"b","name":"a3","cat":"c2","pid":2,"tid":2,"ts":255,"id2":{"global":"0x7"}},
{"ph":"B","name":"B0","cat":"c1","pid":1,"tid":1,"ts":269},
{"ph":"s","pid":1,"tid":1,"ts":320,"name":"f1","cat":"fl","id":4},
{"ph":"f","pid":2,"tid":2,"ts":320,"name":"f1","cat":"fl","id":4}]"#;
    // The slice at which the arrow ends has no length.
    let short = r#"[
{"ph":"X","name":"s7","cat":"c1","pid":1,"tid":11,"ts":246,"dur":160},
{"ph":"s","pid":1,"tid":11,"ts":385,"name":"f1","cat":"fl","id":2},
{"ph":"X","name":"s9","cat":"c1","pid":2,"tid":10,"ts":395,"dur":0},
{"ph":"f","pid":2,"tid":10,"ts":395,"name":"f1","cat":"fl","id":2}]"#;
    let files = Files::new(&[
        ("crossing.json", crossing),
        ("later.json", later),
        ("lone.json", lone),
        ("short.json", short),
    ]);
    let times = ["from_ts", "to_ts"];
    for (from, count, options) in [
        ("crossing.json", 1, &[][..]),
        ("later.json", 1, &["--until", "@50000"]),
        ("lone.json", 0, &[]),
        ("short.json", 1, &[]),
    ] {
        let expected = cells(&files, &["flows", from], &times);
        assert_eq!(expected.len(), count, "{from}");
        for out in ["out.json", "out.fxt"] {
            let _written = files.text(&[&["export", from, "--force", "-o", out], options].concat());
            assert_eq!(
                cells(&files, &["flows", out], &times),
                expected,
                "{from} {out}"
            );
        }
        if from == "crossing.json" {
            let of_slice = exported(&files, "out.json", "B");
            let of_arrow = exported(&files, "out.json", "f");
            assert_eq!(
                of_arrow.last().map(|it| it.1),
                of_slice.first().map(|it| it.1)
            );
        }
    }
}

#[test]
fn an_instant_of_an_asynchronous_track_is_on_no_thread() {
    let text = "# tracer: nop\n#\n\
 a-10 [000] d..2. 1.000300: block_io_done: 254,0 RA 4096 () 9318544 + 8 be,0,4 [a]\n\
 a-10 [000] d..2. 1.000400: block_io_start: 254,0 RA 4096 () 9318600 + 8 be,0,4 [a]\n\
 a-10 [000] d..2. 1.000500: block_io_done: 254,0 RA 4096 () 9318600 + 8 be,0,4 [a]\n";
    let files = Files::new(&[("a.ftrace", text)]);
    let wanted = ["ts", "name", "track", "tid", "cpu"];
    let expected = cells(&files, &["instants", "a.ftrace"], &wanted);
    assert_eq!(expected.len(), 1);
    for (from, out) in [
        ("a.ftrace", "a.json"),
        ("a.ftrace", "a.fxt"),
        ("a.json", "b.fxt"),
    ] {
        let _written = files.text(&["export", from, "-o", out]);
        assert_eq!(
            cells(&files, &["instants", out], &wanted),
            expected,
            "{out}"
        );
    }
    let phases = exported(&files, "a.json", "block_io_done");
    assert_eq!(phases.iter().filter(|it| it.0 == "n").count(), 1);
    assert!(phases.iter().all(|it| it.0 != "i"), "{phases:?}");
}

/// An id that is used again for another operation, as Node's pointers are: each operation is in the row of its own name.
#[test]
fn operations_with_one_id_are_in_the_rows_of_their_names() {
    let text = r#"[
{"ph":"b","name":"open","cat":"fs","id":"0x1","ts":1,"pid":1,"tid":1},
{"ph":"b","name":"part","cat":"fs","id":"0x1","ts":2,"pid":1,"tid":1},
{"ph":"e","name":"part","cat":"fs","id":"0x1","ts":3,"pid":1,"tid":1},
{"ph":"e","name":"open","cat":"fs","id":"0x1","ts":4,"pid":1,"tid":1},
{"ph":"b","name":"close","cat":"fs","id":"0x1","ts":5,"pid":1,"tid":1},
{"ph":"e","name":"close","cat":"fs","id":"0x1","ts":6,"pid":1,"tid":1},
{"ph":"b","name":"open","cat":"fs","id":"0x1","ts":7,"pid":1,"tid":1},
{"ph":"e","name":"open","cat":"fs","id":"0x1","ts":8,"pid":1,"tid":1}]"#;
    let files = Files::new(&[("a.json", text)]);
    for form in ["fxt", "json"] {
        let _written = files.text(&["export", "a.json", "-o", &format!("again.{form}")]);
    }
    // A part begins with another operation than the whole.
    let _written = files.text(&["export", "a.json", "--from", "3.5us", "-o", "part.fxt"]);
    let _written = files.text(&["export", "part.fxt", "-o", "part-again.fxt"]);
    let tracks = |file: &str| cells(&files, &["slices", file], &["name", "track", "depth"]);
    let expected = serde_json::json!([
        ["open", "open", 0],
        ["part", "open", 1],
        ["close", "close", 0],
        ["open", "open", 0]
    ]);
    for file in ["a.json", "again.fxt", "again.json"] {
        assert_eq!(
            serde_json::to_value(tracks(file)).unwrap(),
            expected,
            "{file}"
        );
    }
    for file in ["part.fxt", "part-again.fxt"] {
        let all = tracks(file);
        assert!(all.iter().all(|row| row[0] == row[1]), "{file}: {all:?}");
    }
}
