//! Own times: time of a slice in which no slice inside it lasts, however those lie.

use serde_json::{Value, json};

use crate::chrome_json::asyncs_of_one_id;
use crate::files::Files;
use threadline::base::Job;
use threadline::load::open;
use threadline::query::Item;
use threadline::query::details::details;
use threadline::trace::SliceId;

/// The cell of the row with this name.
fn cell(rows: &[Value], name: &str, column: &str) -> Value {
    let of_name = |row: &&Value| row["name"] == name || row["group"] == name;
    let found = rows.iter().find(of_name);
    found.unwrap_or_else(|| panic!("no {name} in {rows:?}"))[column].clone()
}

/// Children that lie side by side for a while cover their parent once.
const SIDE_BY_SIDE: &str = r#"[{"ph":"X","name":"p","pid":1,"tid":1,"ts":0,"dur":100},
{"ph":"X","name":"k1","pid":1,"tid":1,"ts":0,"dur":60},
{"ph":"X","name":"k2","pid":1,"tid":1,"ts":40,"dur":50},
{"ph":"X","name":"inside","pid":1,"tid":1,"ts":65,"dur":5},
{"ph":"X","name":"k3","pid":1,"tid":1,"ts":92,"dur":3}]"#;

#[test]
fn time_in_which_children_lie_side_by_side_is_taken_once() {
    let files = Files::new(&[("beside.json", SIDE_BY_SIDE)]);
    let _written = files.text(&["export", "beside.json", "-o", "beside.fxt"]);
    for form in ["beside.json", "beside.fxt"] {
        let totals = files.table_of(&["stats", form]);
        // 100 - (0..90 and 92..95), in us.
        assert_eq!(cell(&totals, "p", "self"), 7000, "{form}");
        assert_eq!(cell(&totals, "k1", "self"), 60_000, "{form}");
        let folded = files.text(&["flame", "--as", "folded", form]);
        assert!(
            folded.lines().any(|line| line == "p 7000"),
            "{form}: {folded}"
        );
        let tree = files.table_of(&["flame", form]);
        assert_eq!(cell(&tree, "p", "self"), 7000, "{form}: {tree:?}");
    }
    // Of a part, what lies in it: 50..95, of which 50..90 and 92..95 are covered.
    let part = [
        "flame",
        "beside.json",
        "--from",
        "@50000",
        "--until",
        "@95000",
    ];
    let tree = files.table_of(&part);
    assert_eq!(cell(&tree, "p", "self"), 2000, "{tree:?}");
    // Together with another file, whose times are those of its own.
    let other = r#"[{"ph":"X","name":"q","pid":2,"tid":2,"ts":0,"dur":1}]"#;
    let files = Files::new(&[("beside.json", SIDE_BY_SIDE), ("other.json", other)]);
    for order in [["beside.json", "other.json"], ["other.json", "beside.json"]] {
        let totals = files.table_of(&["stats", order[0], order[1]]);
        assert_eq!(cell(&totals, "p", "self"), 7000, "{order:?}");
    }
}

#[test]
fn tracks_of_one_name_are_told_apart() {
    let text = r#"[{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"worker"}},
{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"worker"}},
{"ph":"M","name":"thread_name","pid":1,"tid":3,"args":{"name":"other"}},
{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":100},
{"ph":"X","name":"a","pid":1,"tid":2,"ts":0,"dur":10},
{"ph":"X","name":"a","pid":1,"tid":3,"ts":0,"dur":1},
{"ph":"M","name":"thread_name","pid":5,"tid":9,"args":{"name":"twin"}},
{"ph":"M","name":"thread_name","pid":6,"tid":9,"args":{"name":"twin"}},
{"ph":"M","name":"thread_name","pid":1,"tid":4,"args":{"name":"worker 1"}},
{"ph":"X","name":"a","pid":1,"tid":4,"ts":0,"dur":4},
{"ph":"X","name":"a","pid":5,"tid":9,"ts":0,"dur":2},
{"ph":"X","name":"a","pid":6,"tid":9,"ts":0,"dur":3}]"#;
    let files = Files::new(&[("named.json", text)]);
    let tree = files.table_of(&["flame", "--by-track", "named.json"]);
    let total = |name: &str| cell(&tree, name, "total");
    assert_eq!(
        json!([total("worker 1/1"), total("worker 2"), total("other")]),
        json!([100_000, 10_000, 1000])
    );
    // One is called as another would be with its number.
    assert_eq!(total("worker 1"), 4000);
    // Threads of two processes may also have one number.
    assert_eq!([total("twin 5/9"), total("twin 6/9")], [2000, 3000]);
}

#[test]
fn what_outlives_a_slice_takes_no_time_of_it() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/sample-traces/node-workers.json.gz"
    );
    let files = Files::new(&[]);
    let totals = files.table_of(&["stats", path]);
    // The lengths of all less those of the union of what each contains whole, by a script of its own.
    assert_eq!(cell(&totals, "TickObject", "self"), 127_485_000);
}

/// The children of a slice may be in any row: own times are of whole slices, also where only a part is in the range.
#[test]
fn children_outside_of_a_range_take_their_time_in_whatever_row_they_are() {
    let text = asyncs_of_one_id("bX0 bY1 bZ40 eY50 eZ90 eX100");
    let files = Files::new(&[("crossing.json", &text)]);
    for more in [&[][..], &["--until", "@30000"]] {
        let totals = files.table_of(&[&["stats", "crossing.json"], more].concat());
        assert_eq!(cell(&totals, "X", "self"), 11_000, "{more:?}");
    }
}

/// Q is two rows below P, because Y is between: details find it, as sums do.
#[test]
fn details_find_children_that_are_not_in_the_next_row() {
    let text = asyncs_of_one_id("bX0 bY10 eX50 bP55 bQ56 eY60 eQ100 eP200");
    let files = Files::new(&[("far.json", &text)]);
    let slices = files.table_of(&["table", "slices", "far.json"]);
    let of = |name: &str| slices.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(of("Q")["parent_id"], of("P")["id"]);
    let totals = files.table_of(&["stats", "far.json"]);
    assert_eq!(cell(&totals, "P", "self"), 101_000);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("far.json");
    std::fs::write(&file, &text).unwrap();
    let loaded = open(&file, &Job::default()).unwrap();
    let p = (0..4).map(SliceId).find(|id| {
        let label = loaded.trace.slices.label(*id);
        loaded.trace.strings.bytes(label.name) == b"P"
    });
    let item = Item::Slice(p.unwrap());
    let told = details(&loaded.trace, loaded.reader.as_ref(), item).text();
    assert!(told.contains("101 µs"), "{told}");
}

#[test]
fn a_program_and_a_call_of_one_name_are_two() {
    let text = "10 1700000000.000000 execve(\"/bin/mkdir\", [\"mkdir\", \"a\"], 0x7f /* 1 vars */) = 0 <0.000100>
10 1700000000.001000 mkdir(\"a\", 0777) = 0 <0.000050>
10 1700000000.002000 +++ exited with 0 +++
";
    let files = Files::new(&[("mkdir.strace", text)]);
    let names = files.table_of(&["flame", "--as", "names", "mkdir.strace"]);
    let own = names.iter().filter(|row| row["name"] == "mkdir");
    let mut found: Vec<(String, Value)> = own
        .map(|row| (row["kind"].to_string(), row["total"].clone()))
        .collect();
    found.sort_by_key(|(kind, _)| kind.clone());
    assert_eq!(found.len(), 2, "{names:?}");
    assert_eq!(
        found[1],
        ("\"system calls\"".to_owned(), json!(50_000)),
        "{names:?}"
    );
}
