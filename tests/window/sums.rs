//! Sums of slices: what never ended is in no sum but counted beside it, and different kinds are never added up
//! together. All held against plain scans of `table slices`.

use crate::certain;
use crate::program::{json, stdout};
use crate::support;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::{act, click_button, file, right_click, settle, table_rows, window};
use egui_kittest::kittest::{NodeT, Queryable};
use serde_json::Value;
use threadline::base::{Job, TimeSpan};
use threadline::event::FileOp;
use threadline::event::SliceKind;
use threadline::load;
use threadline::query::Item;
use threadline::query::expression::Expression;
use threadline::query::files::{FileList, FileView, listed};
use threadline::query::search::{Place, Places, Query, search};
use threadline::trace::{SliceId, ThreadId};
use threadline::view::rows::RowKey;
use threadline::view::{Action, Arrange, HiddenTracks, Marker, PaneKind, Sums};

const OPEN_CALLS: &str = "tests/cases/text/calls-still-open.strace";

fn path(name: &str) -> String {
    file(name).to_string_lossy().into_owned()
}

fn text<'a>(row: &'a Value, column: &str) -> &'a str {
    row[column].as_str().unwrap_or("")
}

/// The same recording as FXT.
fn as_fxt(folder: &Path, name: &str) -> String {
    let to = folder.join(format!("{}.fxt", name.replace('/', "-")));
    let to = to.to_string_lossy().into_owned();
    stdout(&["export", &path(name), "-o", &to]);
    to
}

/// What a plain scan of `table slices` adds up to, by name and category.
#[derive(Default)]
struct Plain {
    lengths: Vec<i64>,
    /// When those began that never ended.
    open: Vec<i64>,
}

fn plain(files: &[&str]) -> BTreeMap<(String, String), Plain> {
    let mut names: BTreeMap<(String, String), Plain> = BTreeMap::new();
    for row in json(&[&["table", "slices"], files].concat()) {
        let key = (
            text(&row, "name").to_owned(),
            text(&row, "category").to_owned(),
        );
        let of = names.entry(key).or_default();
        match row["dur"].as_i64() {
            Some(length) => of.lengths.push(length),
            None => of.open.push(row["ts"].as_i64().unwrap()),
        }
    }
    for of in names.values_mut() {
        of.lengths.sort_unstable();
    }
    names
}

fn percentile(sorted: &[i64], percent: usize) -> Option<i64> {
    let rank = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(rank).copied()
}

/// Holds `stats` against a plain scan; how many slices never ended comes back.
fn check_stats(files: &[&str]) -> u64 {
    let names = plain(files);
    let rows = json(&[&["stats"], files].concat());
    assert_eq!(rows.len(), names.len(), "{files:?}");
    let mut open = 0;
    for row in &rows {
        let key = (
            text(row, "group").to_owned(),
            text(row, "category").to_owned(),
        );
        let (of, lengths) = (&names[&key], &names[&key].lengths);
        assert_eq!(row["count"], lengths.len(), "{files:?} {key:?}");
        assert_eq!(row["sum"], lengths.iter().sum::<i64>(), "{key:?}");
        let mean =
            (!lengths.is_empty()).then(|| lengths.iter().sum::<i64>() / lengths.len() as i64);
        for (column, expected) in [
            ("mean", mean),
            ("min", lengths.first().copied()),
            ("p50", percentile(lengths, 50)),
            ("p95", percentile(lengths, 95)),
            ("p99", percentile(lengths, 99)),
            ("max", lengths.last().copied()),
        ] {
            assert_eq!(row[column].as_i64(), expected, "{files:?} {key:?} {column}");
        }
        assert_eq!(row["unfinished"], of.open.len(), "{files:?} {key:?}");
        open += of.open.len() as u64;
    }
    open
}

#[test]
fn sums_leave_out_what_never_ended_in_each_format() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        OPEN_CALLS,
        "sample-traces/sched-irq-syscalls.dat",
        "sample-traces/function-graph.dat",
        "sample-traces/lua-make-j2.etrace.zst",
    ] {
        let open = check_stats(&[&path(name)]);
        assert!(open > 0, "{name}");
        // Read again from FXT, as many are open.
        assert_eq!(check_stats(&[&as_fxt(folder.path(), name)]), open, "{name}");
    }
    // On one axis a file's open slices do not last to the end of the other.
    let both = [path(OPEN_CALLS), path("sample-traces/function-graph.dat")];
    let both = [both[0].as_str(), both[1].as_str()];
    let alone: u64 = both.iter().map(|name| check_stats(&[name])).sum();
    assert_eq!(check_stats(&both), alone);
}

#[test]
fn open_calls_lasted_at_least_to_the_end_of_the_recording() {
    let name = path(OPEN_CALLS);
    let folder = tempfile::tempdir().unwrap();
    let fxt = as_fxt(folder.path(), OPEN_CALLS);
    for file in [&name, &fxt] {
        let info: Value = serde_json::from_str(&stdout(&["info", "--json", file])).unwrap();
        // The last event is in the last nanosecond.
        let end = info["end_ns"].as_i64().unwrap() - 1;
        let open = &plain(&[file])[&("pause".to_owned(), "syscalls".to_owned())].open;
        let expected: i64 = open.iter().map(|start| end - start).sum();
        assert_eq!(open.len(), 3);
        let rows = json(&["stats", file]);
        let pause = rows
            .iter()
            .find(|row| text(row, "group") == "pause")
            .unwrap();
        assert_eq!((&pause["count"], &pause["max"]), (&0.into(), &Value::Null));
        assert_eq!(pause["unfinished"], 3, "{file}");
        assert_eq!(pause["at_least"], expected, "{file}");
        let tree = json(&["flame", file]);
        let pause: Vec<&Value> = tree
            .iter()
            .filter(|row| text(row, "name") == "pause")
            .collect();
        let sum =
            |column: &str| -> i64 { pause.iter().map(|row| row[column].as_i64().unwrap()).sum() };
        assert_eq!((sum("count"), sum("unfinished")), (0, 3), "{file}");
        assert_eq!(
            (sum("total"), sum("at_least")),
            (expected, expected),
            "{file}"
        );
        let compared = json(&["compare", file, file]);
        let pause = compared
            .iter()
            .find(|row| text(row, "name") == "pause")
            .unwrap();
        for side in ["a", "b"] {
            assert_eq!(pause[format!("count_{side}")], 0);
            assert_eq!(pause[format!("mean_{side}")], Value::Null);
            assert_eq!(pause[format!("max_{side}")], Value::Null);
            assert_eq!(pause[format!("unfinished_{side}")], 3);
            assert_eq!(pause[format!("at_least_{side}")], expected);
        }
    }
}

#[test]
fn a_comparison_sorts_what_never_ended_by_what_is_certain_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read_to_string(file(OPEN_CALLS)).unwrap();
    let without: String = (whole.lines())
        .filter(|line| !line.contains(" pause("))
        .map(|line| line.to_owned() + "\n")
        .collect();
    let other = folder.path().join("without.strace");
    std::fs::write(&other, without).unwrap();
    let other = other.to_string_lossy().into_owned();
    for by in ["sum", "count"] {
        let rows = json(&["compare", &path(OPEN_CALLS), &other, "--sort", by]);
        let first = rows
            .iter()
            .find(|row| text(row, "kind") == "system calls")
            .unwrap();
        assert_eq!(text(first, "name"), "pause", "{by}");
    }
}

/// Two calls one after the other; the end of the first was not recorded, nor was that of the last.
const LOST_ENDS: &str = "# tracer: nop\n#\n\
    \u{20}           bash-7     [000] d... 1.000010: sys_enter: NR 0 (1, 2)\n\
    \u{20}           bash-7     [000] d... 1.000500: sys_enter: NR 1 (1, 2)\n\
    \u{20}           bash-7     [000] d... 1.000600: sys_exit: NR 1 = 0\n\
    \u{20}           bash-7     [000] d... 1.000700: sys_enter: NR 3 (1)\n\
    \u{20}           bash-7     [000] d... 1.000900: print: x\n";

/// The slices that an expression finds.
fn slices_found(loaded: &load::LoadedTrace, expression: &str) -> Vec<SliceId> {
    let query = Query {
        places: Places::of(&[Place::Slices]),
        ..Query::new(Expression::parse(expression).unwrap())
    };
    let (trace, reader) = (&loaded.trace, loaded.reader.as_ref());
    let found = search(trace, reader, &query, &Job::default(), &mut |_| {}).unwrap();
    let ids = (0..trace.slices.len() as u32).map(SliceId);
    ids.filter(|id| found.marks.slices.has(id.0)).collect()
}

#[test]
fn a_search_by_duration_finds_unfinished_slices_by_what_is_certain_alone() {
    let folder = tempfile::tempdir().unwrap();
    let lost = folder.path().join("lost.ftrace");
    std::fs::write(&lost, LOST_ENDS).unwrap();
    let (mut proved, mut only_drawn) = (0, 0);
    for path in [
        file(OPEN_CALLS),
        file("tests/cases/tracedat/both-syscall-kinds.dat.zst"),
        file("sample-traces/sched-irq-syscalls.dat"),
        lost,
    ] {
        let loaded = load::open(&path, &Job::default()).unwrap();
        let trace = &loaded.trace;
        let ids = || (0..trace.slices.len() as u32).map(SliceId);
        let mut limits = vec![0, 100_000];
        limits.extend(ids().filter_map(|id| certain::certain(trace, id)).take(4));
        let path = path.to_string_lossy().into_owned();
        let listed = json(&["search", "--in", "slices", "dur > 100000", &path]);
        assert_eq!(listed.len(), slices_found(&loaded, "dur > 100000").len());
        for (op, limit) in [">", ">=", "!=", "<", "<=", "=="]
            .into_iter()
            .flat_map(|op| limits.iter().map(move |limit| (op, *limit)))
        {
            let expression = format!("dur {op} {limit}");
            let found = slices_found(&loaded, &expression);
            let is_expected = |id: &SliceId| {
                let (least, drawn) = (certain::certain(trace, *id), certain::length(trace, *id));
                let holds = |length: i64| match op {
                    ">" => length > limit,
                    ">=" => length >= limit,
                    "!=" => length != limit,
                    "<" => length < limit,
                    "<=" => length <= limit,
                    _ => length == limit,
                };
                match (least, op) {
                    (None, _) => holds(drawn),
                    (Some(least), ">" | "!=") => least > limit,
                    (Some(least), ">=") => least >= limit,
                    (Some(_), _) => false,
                }
            };
            let expected: Vec<SliceId> = ids().filter(is_expected).collect();
            let open = |id: &&SliceId| trace.slices.get(**id).end.is_none();
            proved += expected.iter().filter(open).count();
            let is_drawn =
                |id: &SliceId| op == ">" && !is_expected(id) && certain::length(trace, *id) > limit;
            only_drawn += ids().filter(is_drawn).count();
            assert_eq!(found, expected, "{expression} in {path}");
        }
    }
    assert!(proved > 10 && only_drawn > 0, "{proved} {only_drawn}");
}

#[test]
fn a_flame_graph_counts_what_never_ended_beside_what_did() {
    for name in [
        "sample-traces/sched-irq-syscalls.dat",
        "sample-traces/function-graph.dat",
        "sample-traces/lua-make-j2.etrace.zst",
    ] {
        let (name, mut ended, mut open) = (path(name), 0, 0);
        for of in plain(&[&name]).values() {
            ended += of.lengths.len() as i64;
            open += of.open.len() as i64;
        }
        for shape in ["tree", "names"] {
            let rows = json(&["flame", "--as", shape, &name]);
            let sum = |column: &str| -> i64 {
                rows.iter().map(|row| row[column].as_i64().unwrap()).sum()
            };
            assert_eq!(
                (sum("count"), sum("unfinished")),
                (ended, open),
                "{name} {shape}"
            );
            for row in &rows {
                let part = row["at_least"].as_i64().unwrap();
                assert!(part <= row["total"].as_i64().unwrap(), "{row}");
            }
        }
    }
}

#[test]
fn a_call_tree_has_each_slice_below_the_one_around_it() {
    // Asynchronous slices lie in any row of their track, also above those around them.
    let asynchronous = "sample-traces/node-workers.json.gz";
    for name in [asynchronous, "sample-traces/function-graph.dat"] {
        let name = path(name);
        let slices = json(&["table", "slices", &name]);
        let by_id: BTreeMap<_, _> = slices.iter().map(|row| (row["id"].as_i64(), row)).collect();
        let mut plain: BTreeMap<Vec<String>, (i64, i64)> = BTreeMap::new();
        for row in &slices {
            let Some(length) = row["dur"].as_i64() else {
                continue;
            };
            let mut names = Vec::new();
            let mut at = Some(row);
            while let Some(row) = at {
                names.push(text(row, "name").to_owned());
                at = row["parent_id"]
                    .as_i64()
                    .and_then(|id| by_id.get(&Some(id)).copied());
            }
            names.reverse();
            let sums = plain.entry(names).or_default();
            (sums.0, sums.1) = (sums.0 + 1, sums.1 + length);
        }
        let mut found = BTreeMap::new();
        let mut names: Vec<String> = Vec::new();
        for row in json(&["flame", "--as", "tree", &name]) {
            let number = |column: &str| row[column].as_i64().unwrap();
            names.truncate(number("depth") as usize - 1);
            names.push(text(&row, "name").to_owned());
            if number("count") > 0 {
                let ended = number("total") - number("at_least");
                found.insert(names.clone(), (number("count"), ended));
            }
        }
        assert_eq!(found, plain, "{name}");
    }
}

#[test]
fn a_latency_that_did_not_end_is_counted_with_what_was_seen() {
    let name = path("sample-traces/sched-irq-syscalls.dat");
    let (mut open, mut pairs) = (BTreeMap::new(), 0);
    for row in json(&["table", "events", &name]) {
        match text(&row, "name") {
            "sys_enter" => {
                open.insert(row["tid"].as_i64(), row["ts"].as_i64().unwrap());
            }
            "sys_exit" => pairs += i64::from(open.remove(&row["tid"].as_i64()).is_some()),
            _ => {}
        }
    }
    assert!(!open.is_empty());
    let info: Value = serde_json::from_str(&stdout(&["info", "--json", &name])).unwrap();
    // The last event is in the last nanosecond.
    let end = info["end_ns"].as_i64().unwrap() - 1;
    let expected: i64 = open.values().map(|start| end - start).sum();
    let rows = json(&[
        "latency",
        "--begin",
        "sys_enter",
        "--end",
        "sys_exit",
        &name,
    ]);
    assert_eq!(rows[0]["count"], pairs);
    assert_eq!(rows[0]["unfinished"], open.len());
    assert_eq!(rows[0]["at_least"], expected);
    for row in json(&["latency", &name]) {
        let number = |column: &str| row[column].as_i64().unwrap();
        assert!(number("unfinished") <= number("unmatched"), "{row}");
        assert!(number("at_least") == 0 || number("unfinished") > 0, "{row}");
    }
}

#[test]
fn kinds_of_slices_are_never_added_up_together() {
    let folder = tempfile::tempdir().unwrap();
    for (name, kinds) in [
        (
            "sample-traces/shell-pipeline.strace",
            &["system calls", "processes", "open files"][..],
        ),
        (
            "sample-traces/lua-make-j2.etrace.zst",
            &["processes", "open files"],
        ),
        ("sample-traces/function-graph.dat", &["functions"]),
        (
            "sample-traces/sched-irq-syscalls.dat",
            &["system calls", "interrupts"],
        ),
    ] {
        for file in [path(name), as_fxt(folder.path(), name)] {
            let all = json(&["stats", &file]);
            let found: BTreeSet<&str> = all.iter().map(|row| text(row, "kind")).collect();
            assert!(
                kinds.iter().all(|kind| found.contains(kind)),
                "{file}: {found:?}"
            );
            // Each kind alone is what it is beside the others.
            let count = |rows: &[Value]| -> i64 {
                let count = |row: &Value| row["count"].as_i64().unwrap();
                rows.iter().map(count).sum()
            };
            let mut sum = 0;
            let by = ["thread", "process", "cpu"];
            let every = by.map(|by| (by, json(&["stats", "--by", by, &file])));
            for kind in found {
                let of_kind: Vec<Value> = all
                    .iter()
                    .filter(|row| text(row, "kind") == kind)
                    .cloned()
                    .collect();
                let alone = json(&["stats", "--kind", kind, &file]);
                assert_eq!(alone, of_kind, "{file} {kind}");
                for (by, every) in &every {
                    let rows = json(&["stats", "--kind", kind, "--by", by, &file]);
                    assert!(rows.iter().all(|row| text(row, "kind") == kind));
                    let every = every.iter().filter(|row| text(row, "kind") == kind);
                    assert_eq!(
                        rows,
                        every.cloned().collect::<Vec<_>>(),
                        "{file} {kind} {by}"
                    );
                }
                sum += count(&alone);
            }
            assert_eq!(sum, count(&all));
        }
    }
}

/// The names of the rows of a pane's table.
fn names(window: &support::Window) -> BTreeSet<String> {
    let first = |row: String| row.split(", ").next().unwrap_or("").to_owned();
    table_rows(window).into_iter().map(first).collect()
}

#[test]
fn durations_and_selection_show_one_kind_and_remember_which() {
    let mut window = window(&file("sample-traces/shell-pipeline.strace"));
    let range = window.state().state().trace_span;
    for pane in [PaneKind::Durations, PaneKind::Selection] {
        act(&mut window, Action::OpenPane(pane));
        act(&mut window, Action::AddUp(Sums::default()));
        act(&mut window, Action::SelectRange(range));
        window.get_by_label("Kind of slices: system calls");
        let calls = names(&window);
        assert!(
            calls.contains("execve") && calls.contains("read"),
            "{pane:?} {calls:?}"
        );
        let kind = Some(SliceKind::Processes);
        act(
            &mut window,
            Action::AddUp(Sums {
                kind,
                ..Sums::default()
            }),
        );
        window.get_by_label("Kind of slices: processes");
        let programs = names(&window);
        assert!(
            !programs.is_empty() && programs.is_disjoint(&calls),
            "{pane:?} {programs:?}"
        );
    }
    let session = window.state().state().session(Vec::new(), Vec::new());
    let written = serde_json::to_string(&session).unwrap();
    let read: threadline::view::Session = serde_json::from_str(&written).unwrap();
    assert_eq!(read.sums.kind, Some(SliceKind::Processes));
    assert!(!read.is_plain());
    // The heading says what the time is a share of.
    window.get_by_label("Sort by Of range");
}

#[test]
fn hidden_tracks_are_left_out_if_the_user_says_so() {
    let path = file("sample-traces/shell-pipeline.strace");
    let mut window = window(&path);
    let trace = load::open(&path, &Job::default()).unwrap().trace;
    act(&mut window, Action::OpenPane(PaneKind::Selection));
    let range = TimeSpan::new(trace.span.start, trace.span.end);
    act(&mut window, Action::SelectRange(range));
    click_button(&mut window, "thread");
    let all = names(&window);
    // The thread that has most rows of the table to itself.
    let tid = all
        .iter()
        .next_back()
        .unwrap()
        .rsplit(' ')
        .next()
        .unwrap()
        .to_owned();
    let is_it = |id: &ThreadId| trace.thread(*id).tid.to_string() == tid;
    let thread = (0..trace.threads.len() as u32)
        .map(ThreadId)
        .find(is_it)
        .unwrap();
    let key = RowKey::Thread(trace.thread(thread).key);
    act(&mut window, Action::Arrange(Arrange::Hide(key)));
    assert_eq!(names(&window), all, "hidden tracks count at first");
    let hidden = HiddenTracks::LeftOut;
    act(
        &mut window,
        Action::AddUp(Sums {
            hidden,
            ..Sums::default()
        }),
    );
    let rest = names(&window);
    let gone: Vec<&String> = all.difference(&rest).collect();
    assert_eq!(gone.len(), 1, "{gone:?}");
    assert!(gone[0].ends_with(&tid), "{gone:?}");
    // Its events are left out as well.
    let events = |window: &mut support::Window, hidden: HiddenTracks| {
        act(
            window,
            Action::AddUp(Sums {
                hidden,
                ..Sums::default()
            }),
        );
        names(window)
    };
    let found = window.query_all_by_role_and_label(egui::Role::Button, "Events");
    found.last().unwrap().click();
    settle(&mut window);
    let all = events(&mut window, HiddenTracks::Counted);
    let rest = events(&mut window, hidden);
    let gone: Vec<&String> = all.difference(&rest).collect();
    assert_eq!((gone.len(), rest.len() + 1), (1, all.len()), "{gone:?}");
    assert!(
        gone[0].split(", ").next().unwrap().ends_with(&tid),
        "{gone:?}"
    );
    window.get_by_label("without hidden tracks");
    let said = window.query_all_by_label_contains("all tracks, without hidden tracks");
    assert!(said.count() > 0);
}

#[test]
fn panes_say_what_never_ended() {
    let mut window = window(&file(OPEN_CALLS));
    act(&mut window, Action::OpenPane(PaneKind::Durations));
    act(&mut window, Action::Fit);
    settle(&mut window);
    window.get_by_label("Sort by Unfinished");
    window.get_by_label("Sort by At least");
    let rows = table_rows(&window);
    let pause = rows
        .iter()
        .find(|row| row.starts_with("pause, Count 0, Unfinished 3, "))
        .unwrap();
    // The only one of its name that lasts is not the longest: of nothing there is no longest.
    assert!(!pause.contains("100.0 %"), "{pause}");
    let said = window.query_all_by_label_contains("unfinished, at least");
    assert!(said.count() >= 1);
    act(&mut window, Action::OpenPane(PaneKind::FlameGraph));
    settle(&mut window);
    let said = |window: &support::Window| {
        let nodes = window.query_all_by_label_contains("pause");
        let labels = nodes.filter_map(|node| node.accesskit_node().label());
        labels.collect::<Vec<String>>()
    };
    let bars = said(&window);
    assert!(
        bars.iter()
            .any(|bar| bar.contains("≥") && bar.contains("3 unfinished, at least")),
        "{bars:?}"
    );
    window.snapshot("unfinished_calls");
}

#[test]
fn files_count_what_the_chosen_process_did() {
    let path: PathBuf = file("sample-traces/shell-pipeline.strace");
    let trace = load::open(&path, &Job::default()).unwrap().trace;
    let list = FileList::new(&trace, &Job::default()).unwrap();
    let all = listed(&trace, &list, &FileView::default());
    let processes: BTreeSet<_> = trace
        .files
        .rows
        .iter()
        .filter_map(|row| trace.thread(row.thread).process)
        .collect();
    assert!(processes.len() > 2);
    let mut fewer = 0;
    for process in processes {
        let view = FileView {
            process: Some(process),
            ..FileView::default()
        };
        for found in listed(&trace, &list, &view) {
            let (file, of_process) = (found.file, found.summary);
            let whole = all.iter().find(|row| row.file == file).unwrap().summary;
            let is_own = |row: &&u32| {
                let row = &trace.files.rows[**row as usize];
                trace.thread(row.thread).process == Some(process)
            };
            let own: Vec<u32> = list.rows_of(file).iter().filter(is_own).copied().collect();
            let heirs = list.heirs_of(file).filter(|heir| heir.process == process);
            let opens = own
                .iter()
                .filter(|row| trace.files.rows[**row as usize].op == FileOp::Open);
            let uses = opens.count() + heirs.count();
            let counted = of_process.reads + of_process.writes;
            // What is opened to be read and written counts as both.
            assert!(
                (uses..=2 * uses).contains(&(counted as usize)),
                "{uses} {of_process:?}"
            );
            assert!(of_process.reads <= whole.reads && of_process.writes <= whole.writes);
            assert_eq!(of_process.processes, whole.processes);
            if let Some(&first) = own.first() {
                assert!(of_process.first <= trace.files.rows[first as usize].time);
            }
            fewer += u32::from(of_process.reads < whole.reads);
        }
    }
    assert!(fewer > 3, "{fewer}");
    // The pane shows the same.
    let mut window = window(&path);
    let process = Item::Process(threadline::trace::ProcessId(1));
    act(&mut window, Action::Select(process));
    act(&mut window, Action::OpenPane(PaneKind::Files));
    settle(&mut window);
    window.get_by_label("Of the selected process").click();
    settle(&mut window);
    window.get_by_label_contains(" used them");
    act(&mut window, Action::Deselect);
    settle(&mut window);
    window.get_by_label_contains("of all processes: none is selected");
}

/// A file of this content in a folder.
fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// The numbers after a word in labels, such as the 3 of `Unfinished 3`.
fn number_after(row: &str, word: &str) -> Option<u64> {
    let (_, rest) = row.split_once(word)?;
    rest.trim_start().split([',', ' ']).next()?.parse().ok()
}

#[test]
fn compared_states_and_threads_that_never_ended_are_counted() {
    let mut window = window(&file("sample-traces/sched-irq-syscalls.dat"));
    act(&mut window, Action::OpenPane(PaneKind::Compare));
    let span = window.state().state().trace_span;
    let middle = span.start + threadline::base::Nanos(span.duration().0 / 2);
    act(
        &mut window,
        Action::SelectRange(TimeSpan::new(middle, span.end)),
    );
    act(&mut window, Action::Mark(Marker::A, span.start));
    act(&mut window, Action::Mark(Marker::B, middle));
    for button in ["CPU time", "Thread states"] {
        click_button(&mut window, button);
        let rows = table_rows(&window);
        let open = ["Unfinished left ", "Unfinished right "].map(|word| {
            let counts = rows.iter().filter_map(|row| number_after(row, word));
            counts.sum::<u64>()
        });
        assert!(open.iter().sum::<u64>() > 0, "{button} {rows:?}");
        assert!(
            rows.iter().any(|row| row.contains("At least ")),
            "{button} {rows:?}"
        );
    }
}

#[test]
fn a_flame_graph_says_how_long_unfinished_slices_lasted_at_least() {
    let mut window = window(&file(OPEN_CALLS));
    act(&mut window, Action::OpenPane(PaneKind::FlameGraph));
    act(&mut window, Action::Fit);
    let headings = window.query_all_by_label_contains("Visible: ");
    let values = headings.filter_map(|node| {
        let node = node.accesskit_node();
        node.label().or_else(|| node.value())
    });
    let values: Vec<String> = values.collect();
    assert!(
        values
            .iter()
            .any(|words| words.contains(" unfinished, at least ")),
        "{values:?}"
    );
}

/// Slices of one name: two of category `x` and one of `y` on threads, and an asynchronous one of category `x`.
const ONE_NAME: &str = r#"{"traceEvents":[
{"name":"job","cat":"x","ph":"X","pid":1,"tid":1,"ts":0,"dur":10},
{"name":"job","cat":"y","ph":"X","pid":1,"tid":1,"ts":15,"dur":4},
{"name":"job","cat":"x","ph":"b","id":1,"pid":1,"tid":1,"ts":20},
{"name":"job","cat":"x","ph":"e","id":1,"pid":1,"tid":1,"ts":90},
{"name":"job","cat":"x","ph":"X","pid":1,"tid":2,"ts":5,"dur":30}
]}"#;

#[test]
fn marks_of_a_row_are_the_slices_that_the_row_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "one-name.json", ONE_NAME);
    let loaded = load::open(&path, &Job::default()).unwrap();
    let mut window = window(&path);
    act(&mut window, Action::OpenPane(PaneKind::Durations));
    act(&mut window, Action::Fit);
    for (kind, counts) in [
        (SliceKind::Durations, vec![1, 2]),
        (SliceKind::Async, vec![1]),
    ] {
        let kind = Some(kind);
        act(
            &mut window,
            Action::AddUp(Sums {
                kind,
                ..Sums::default()
            }),
        );
        let rows = table_rows(&window);
        let rows: Vec<String> = rows
            .into_iter()
            .filter(|row| row.starts_with("job, Count "))
            .collect();
        let mut found = Vec::new();
        for row in &rows {
            let place = window.get_by_label(row).rect().left_center();
            right_click(&mut window, place + egui::vec2(20.0, 0.0));
            window.run_steps(3);
            click_button(&mut window, "Mark all in the timeline");
            let expression = window.state().state().search.text.clone();
            let marked = slices_found(&loaded, &expression).len();
            assert_eq!(
                number_after(row, "Count "),
                Some(marked as u64),
                "{row}: {expression}"
            );
            found.push(marked);
        }
        found.sort_unstable();
        assert_eq!(found, counts, "{rows:?}");
    }
}

/// A call within the first half of a millisecond; from then on only runs and states.
const CALL_BEFORE: &str = "# tracer: nop\n#\n\
    \u{20}         <idle>-0     [000] d... 1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120\n\
    \u{20}              a-10    [000] d... 1.000100: sys_enter: NR 0 (1, 2)\n\
    \u{20}              a-10    [000] d... 1.000200: sys_exit: NR 0 = 0\n\
    \u{20}              a-10    [000] d... 1.000500: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=D ==> next_comm=b next_pid=11 next_prio=120\n\
    \u{20}              b-11    [000] d... 1.000700: sched_switch: prev_comm=b prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=a next_pid=10 next_prio=120\n\
    \u{20}              a-10    [000] d... 1.001000: print: x\n";

#[test]
fn a_selection_without_slices_shows_the_states_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "call-before.ftrace", CALL_BEFORE);
    let mut window = window(&path);
    act(&mut window, Action::OpenPane(PaneKind::Selection));
    let start = window.state().state().trace_span.start;
    let part = |from: i64, until: i64| {
        let time = |us: i64| start + threadline::base::Nanos(us * 1000);
        Action::SelectRange(TimeSpan::new(time(from), time(until)))
    };
    act(&mut window, part(600, 900));
    let rows = table_rows(&window);
    assert!(
        rows.iter().any(|row| row.starts_with("running, ")),
        "{rows:?}"
    );
    act(&mut window, part(50, 150));
    let rows = table_rows(&window);
    assert!(rows.iter().any(|row| row.starts_with("read, ")), "{rows:?}");
}

#[test]
fn shares_of_thread_time_count_unfinished_states_and_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "call-before.ftrace", CALL_BEFORE);
    let mut window = window(&path);
    act(&mut window, Action::OpenPane(PaneKind::Selection));
    act(&mut window, Action::Fit);
    click_button(&mut window, "Thread states");
    let rows = table_rows(&window);
    let share = |row: &String| -> f64 {
        let (_, rest) = row.split_once("Of thread time ").unwrap();
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    let sum: f64 = rows.iter().map(share).sum();
    assert!((sum - 100.0).abs() < 0.5, "{rows:?}");
    // This state did not end: nothing is in its total.
    let sleeping = rows
        .iter()
        .find(|row| row.starts_with("sleeping, Count 0"))
        .unwrap();
    assert!(share(sleeping) > 5.0, "{rows:?}");
    let heading = window.get_by_label("Sort by Of thread time").rect();
    window.hover_at(heading.center());
    window.run_steps(60);
    let mut about = window.query_all_by_label_contains("least duration of unfinished ");
    assert!(about.next().is_some());
}
