//! What Chrome JSON says besides events, and where traces hide in other files.

use std::path::Path;

use threadline::base::Job;
use threadline::export::{EXPORTERS, Selection};
use threadline::load::together::open_together;
use threadline::load::{LoadedTrace, Reading, open, open_bytes};
use threadline::trace::{SliceId, Source};
use threadline::view::outline::{Node, Outline};

use crate::program::stdout;

fn case(name: &str) -> LoadedTrace {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/chrome_json");
    open(&folder.join(name), &Job::default()).unwrap()
}

fn read(name: &str, text: &str) -> LoadedTrace {
    let bytes = text.as_bytes().to_vec();
    open_bytes(name, bytes, Reading::default(), &Job::default()).unwrap()
}

fn exported(loaded: &LoadedTrace) -> String {
    let exporter = EXPORTERS.iter().find(|row| row.name == "chrome-json");
    let mut bytes = Vec::new();
    (exporter.unwrap())
        .write_to(loaded, &Selection::all(), &mut bytes, &Job::default())
        .unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Returns a trace with begins and ends of asynchronous slices under one id, from words such as `bA5`: the phase, a name
/// of one letter, the time in us.
pub fn asyncs_of_one_id(marks: &str) -> String {
    let mark = |word: &str| {
        let (phase, name, ts) = (&word[..1], &word[1..2], &word[2..]);
        format!(r#"{{"ph":"{phase}","cat":"c","id":1,"name":"{name}","ts":{ts},"pid":1,"tid":1}}"#)
    };
    let marks: Vec<String> = marks.split(' ').map(mark).collect();
    format!("[{}]", marks.join(","))
}

/// The notes of the rows, each with those inside of it.
fn notes(nodes: &[Node]) -> Vec<(String, Vec<String>)> {
    let note = |node: &Node| node.note.to_string();
    let with_inner = |node: &Node| (note(node), node.children.iter().map(note).collect());
    nodes.iter().map(with_inner).collect()
}

fn titles(nodes: &[Node]) -> Vec<(String, Vec<String>)> {
    let title = |node: &Node| node.title.to_string();
    let with_inner = |node: &Node| (title(node), node.children.iter().map(title).collect());
    nodes.iter().map(with_inner).collect()
}

#[test]
fn sort_indices_order_processes_and_threads() {
    let expected = [
        ("tid 1".to_owned(), vec![]),
        (
            "pid 1".to_owned(),
            vec!["tid 2".to_owned(), "tid 1".to_owned()],
        ),
    ];
    let loaded = case("sort-indices.json");
    assert_eq!(titles(&Outline::new(&loaded.trace).nodes), expected);
    // And again after an export.
    let again = read("again.json", &exported(&loaded));
    assert_eq!(titles(&Outline::new(&again.trace).nodes), expected);
}

#[test]
fn process_labels_stand_behind_the_name() {
    let label = |pid: u32, text: &str| {
        format!(
            r#"{{"ph":"M","pid":{pid},"tid":0,"name":"process_labels","args":{{"labels":"{text}"}}}}"#
        )
    };
    let slice = |pid: u32, tid: u32| {
        format!(r#"{{"ph":"X","ts":1,"dur":{pid},"pid":{pid},"tid":{tid},"name":"a"}}"#)
    };
    let text = format!(
        "[{},{},{},{},{},{}]",
        label(7, "page one"),
        slice(7, 7),
        slice(7, 8),
        slice(9, 9),
        label(9, "page two"),
        label(11, "nobody")
    );
    let expected = |first: &str, second: &str| {
        vec![
            (first.to_owned(), vec![String::new(), String::new()]),
            (second.to_owned(), vec![]),
        ]
    };
    let loaded = read("labels.json", &text);
    assert_eq!(
        notes(&Outline::new(&loaded.trace).nodes),
        expected("2 threads · page one", "page two")
    );
    assert_eq!(loaded.trace.processes.len(), 2);
    let again = read("again.json", &exported(&loaded));
    assert_eq!(
        notes(&Outline::new(&again.trace).nodes),
        expected("2 threads · page one", "page two")
    );
}

/// A part does not look up more than some thousand names; names that come again are still one name, one kind of event.
#[test]
fn thousands_of_names_that_come_again_are_one_name_each() {
    const NAMES: usize = 20_000;
    let event = |at: usize| {
        let name = format!("frame {}", at % NAMES);
        format!(r#"{{"ph":"X","cat":"gfx","name":"{name}","pid":1,"tid":1,"ts":{at},"dur":0.5}}"#)
    };
    let text = (0..3 * NAMES).map(event).collect::<Vec<_>>().join(",");
    let loaded = read("names.json", &format!("[{text}]"));
    let trace = &loaded.trace;
    assert_eq!(trace.slices.len(), 3 * NAMES);
    for slice in [0, NAMES - 1, NAMES, 2 * NAMES + 9_000] {
        let label = trace.slices.label(SliceId(slice as u32));
        assert_eq!(
            trace.strings.text(label.name),
            format!("frame {}", slice % NAMES)
        );
    }
    let drawn = trace.kinds.iter();
    let drawn = drawn.filter(|kind| trace.strings.bytes(kind.name).starts_with(b"frame"));
    assert_eq!(drawn.count(), NAMES);
    let distinct: std::collections::HashSet<_> = (trace.slices.labels.iter())
        .map(|label| label.name)
        .collect();
    assert_eq!(distinct.len(), trace.slices.labels.len());
    assert!((NAMES..NAMES + 9).contains(&distinct.len()));
}

const FTRACE: &str = "# tracer: nop\n#\n  bash-96 [001] d..1. 69.626109: sched_waking: comm=x pid=7 prio=120 target_cpu=001\n";

#[test]
fn the_kernels_text_in_a_json_file_is_read() {
    let member = format!("\"systemTraceEvents\":{}", serde_json::json!(FTRACE));
    let alone = read("alone.json", &format!("{{\"traceEvents\":[],{member}}}"));
    assert_eq!(alone.trace.info.format, "ftrace text");
    assert_eq!(alone.trace.events.len(), 1);
    let event = r#"{"ph":"i","ts":1,"name":"a"}"#;
    let both = read(
        "both.json",
        &format!("{{\"traceEvents\":[{event}],{member}}}"),
    );
    let names = |loaded: &LoadedTrace| -> Vec<String> {
        let sources = loaded.trace.sources.iter();
        let named = |source: &Source| format!("{}, {}", source.name, source.info.format);
        sources.map(named).collect()
    };
    let expected = [
        "both.json, Chrome JSON",
        "both.json: kernel events, ftrace text",
    ];
    assert_eq!(names(&both), expected);
    assert_eq!(both.trace.events.len(), 2);
    let times: Vec<i64> = both
        .trace
        .sources
        .iter()
        .map(|source| source.offset().0)
        .collect();
    assert_eq!(times, [0, 0]);
    assert_eq!(both.trace.span.start.0, 1000);
    assert_eq!(both.trace.span.end.0, 69_626_109_001);
    assert_eq!(both.trace.diagnostics.rows().len(), 0);
    // What is no trace is said.
    let text = format!("{{\"traceEvents\":[{event}],\"systemTraceEvents\":\"hello\"}}");
    let other = read("other.json", &text);
    assert_eq!(other.trace.events.len(), 1);
    let mut rows = other.trace.diagnostics.rows().iter();
    assert!(rows.any(|row| row.code == "left_out_inside"));
    // Opened with another file, again, and from a file.
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(
        path("both.json"),
        format!("{{\"traceEvents\":[{event}],{member}}}"),
    )
    .unwrap();
    std::fs::write(path("one.json"), format!("[{event}]")).unwrap();
    let paths = [path("one.json"), path("both.json")];
    let three = open_together(&paths, &[], &[], &Job::default(), None).unwrap();
    let expected = ["one.json, Chrome JSON", expected[0], expected[1]];
    assert_eq!(names(&three), expected);
}

/// A page of systrace with these recordings.
fn systrace_page(parts: &[&str]) -> String {
    let script = |text: &&str| {
        format!("  <script class=\"trace-data\" type=\"application/text\">\n{text}  </script>\n")
    };
    let scripts: String = parts.iter().map(script).collect();
    format!("<!DOCTYPE html>\n<html>\n<!-- BEGIN TRACE -->\n{scripts}<!-- END TRACE -->\n</html>")
}

#[test]
fn a_systrace_has_one_axis_and_is_reported_in_one_order() {
    let marked = |mark: &str| {
        format!(
            "{FTRACE}  sf-500 [000] ...1. 69.700000: tracing_mark_write: trace_event_clock_sync: {mark}\n"
        )
    };
    let events = |more: &str| {
        format!(
            r#"{{"traceEvents": [{{"ph":"X","ts":169400000,"dur":2,"name":"draw","pid":1,"tid":1}}{more}], "x": 1}}"#
        )
    };
    let sync = |at: &str| {
        format!(
            r#",{{"ph":"c","ts":169501000,"name":"clock_sync","pid":1,"tid":1,"args":{{"sync_id":"id-1"{at}}}}}"#
        )
    };
    let monotonic = (marked("parent_ts=169.5"), events(""));
    // By an id: the mark is in the middle between asking and the answer.
    let by_id = (
        marked("name=id-1"),
        events(&sync(",\"issue_ts\":169499000")),
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("systrace.html");
    let report = |text: &str| -> Vec<String> {
        std::fs::write(&path, text).unwrap();
        let text = stdout(&["report", path.to_str().unwrap()]);
        text.lines().map(str::to_owned).collect()
    };
    let short = |line: &String| {
        let mut words = line.split_whitespace().filter(|word| word.ends_with(':'));
        let name = words.next_back().unwrap().to_owned();
        let time = words.next_back().unwrap().to_owned();
        format!("{time} {name}")
    };
    for (kernel, events) in [monotonic, by_id] {
        for (page, expected) in [
            (
                systrace_page(&[&kernel, &events]),
                ["69.600000: draw:", "69.626109: sched_waking:"],
            ),
            (
                systrace_page(&[&events, &kernel]),
                ["169.400000: draw:", "169.426109: sched_waking:"],
            ),
        ] {
            let lines = report(&page);
            let found: Vec<String> = lines.iter().take(2).map(short).collect();
            assert_eq!(found, expected, "{lines:?}");
            let loaded = read("systrace.html", &page);
            let evidence = &loaded.trace.sources[1].evidence;
            assert!(evidence.contains("clock sync"), "{evidence}");
        }
    }
    // Zero means that the kernel's events have that clock; without a mark both clocks are taken for one.
    for kernel in [marked("parent_ts=0.0"), FTRACE.to_owned()] {
        let lines = report(&systrace_page(&[&events(""), &kernel]));
        assert_eq!(short(&lines[0]), "69.626109: sched_waking:");
        assert_eq!(short(lines.last().unwrap()), "169.400000: draw:");
    }
    // One recording is still printed by its own rules, whatever other pages contain.
    let controller = r#"{"traceEvents": [], "metadata": {"clock-domain": "SYSTRACE"}}"#;
    let one = report(&systrace_page(&[FTRACE, controller]));
    assert!(one[0].starts_with("cpus="), "{one:?}");
}

#[test]
fn traces_in_pages_are_found() {
    let events =
        r#"{"traceEvents": [{"ph":"X","ts":1,"dur":2,"name":"a","pid":1,"tid":1}], "x": 1}"#;
    // As viztracer writes them, behind scripts of a viewer.
    let viztracer = format!(
        "<!DOCTYPE html>\n<head>\n<script>var json_data;\nfunction load() {{\n  json_data = {events}\n}}\n</script></html>"
    );
    let loaded = read("page.html", &viztracer);
    assert_eq!(loaded.trace.slices.len(), 1);
    let systrace = format!(
        "<!DOCTYPE html>\n<html><script>var a;</script>\n  <script class=\"trace-data\" type=\"application/text\">\n{FTRACE}\n  </script>\n</html>"
    );
    let loaded = read("systrace.html", &systrace);
    assert_eq!(loaded.trace.info.format, "ftrace text");
    assert_eq!(loaded.trace.events.len(), 1);
    // As systrace writes what several programs recorded, whatever comes first.
    let controller = r#"{"traceEvents": [], "metadata": {"clock-domain": "SYSTRACE"}}"#;
    let list = "USER PID PPID VSIZE RSS NAME\nroot 1 0 0 0 /init\n";
    let page = systrace_page;
    let one = read("one.html", &page(&[controller, FTRACE, list]));
    assert_eq!(one.trace.info.format, "ftrace text");
    assert_eq!(one.trace.events.len(), 1);
    let two = read("two.html", &page(&[FTRACE, list, events, controller]));
    assert_eq!(two.trace.sources.len(), 2);
    assert_eq!(two.trace.sources[1].name, "two.html: trace 2");
    assert_eq!((two.trace.events.len(), two.trace.slices.len()), (2, 1));
}

/// A slice that ends before another one does not contain it, although it was open when the other one began.
#[test]
fn asynchronous_slices_that_cross_are_side_by_side() {
    let marks = "bA0 bA5 bC6 bD7 eD8 eA10 eA15 eC40";
    let loaded = read("crossing.json", &asyncs_of_one_id(marks));
    let slices = crate::tables::rows(&loaded, "slices");
    let cells = slices
        .iter()
        .map(|row| ["ts", "depth", "parent_id"].map(|name| &*row[name]));
    let expected = [
        ["0", "0", ""],
        ["5000", "1", "0"],
        ["6000", "0", ""],
        ["7000", "1", "2"],
    ];
    assert!(cells.eq(expected), "{slices:?}");
}

#[test]
fn elements_of_lists_have_keys_of_their_own() {
    let text = r#"[{"ph":"X","name":"x","pid":1,"tid":2,"ts":10,"dur":15,
        "args":{"l":[10,20],"o":{"a":[{"b":1},{"b":2}]},"two":[[3],[4,5]],"one":6}}]"#;
    let loaded = read("lists.json", text);
    let fields = crate::tables::rows(&loaded, "args");
    let found: Vec<_> = (fields.iter())
        .map(|row| ["flat_key", "key"].map(|name| row[name].clone()))
        .collect();
    let expected = [
        ["l", "l[0]"],
        ["l", "l[1]"],
        ["o.a.b", "o.a[0].b"],
        ["o.a.b", "o.a[1].b"],
        ["two", "two[0]"],
        ["two", "two[1][0]"],
        ["two", "two[1][1]"],
        ["one", "one"],
    ];
    assert_eq!(
        found,
        expected.map(|keys| keys.map(serde_json::Value::from))
    );
}
