//! Traces that compilers write of themselves (clang's `-ftime-trace`): what they cost, and where they are in a build.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use threadline::base::Job;
use threadline::load::reading::CompilerTraces;
use threadline::load::together::open_as;
use threadline::load::{LoadedTrace, Reading, open_bytes};
use threadline::query::Item;
use threadline::query::details::details;
use threadline::trace::{ThreadId, Trace};
use threadline::view::Outline;

use crate::corpus::corpus;
use crate::tables::rows;

fn together(names: &[&str]) -> LoadedTrace {
    let folder = corpus("time_trace");
    let paths: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    only_these(&paths)
}

/// Opens files without what is found beside them.
fn only_these(paths: &[PathBuf]) -> LoadedTrace {
    let reading = Reading {
        compiler_traces: CompilerTraces::LeftOut,
        ..Reading::default()
    };
    open_as(paths, reading, &[], &[], &Job::default(), None).unwrap()
}

const COMPILED: [&str; 3] = ["circle.json", "names.json", "main.json"];

#[test]
fn headers_templates_and_passes_cost_what_an_independent_reader_finds() {
    let expected = std::fs::read_to_string(corpus("time_trace").join("costs.tsv")).unwrap();
    let expected: Vec<&str> = expected.lines().collect();
    assert!(expected.len() > 1000);
    for files in [
        &COMPILED[..],
        &["build.strace", "main.json", "circle.json", "names.json"],
    ] {
        let loaded = together(files);
        let found = rows(&loaded, "compiler_costs");
        let columns = ["kind", "name", "count", "compilations", "total", "longest"];
        let mut lines: Vec<String> = found
            .iter()
            .map(|row| columns.map(|column| row[column].as_str()).join("\t"))
            .collect();
        lines.sort();
        let mut expected: Vec<&str> = expected.clone();
        expected.sort_unstable();
        assert_eq!(lines, expected);
        // Own times do not overlap, and most of what a compiler does is one of these.
        let number = |cell: &str| cell.parse::<i64>().unwrap();
        let own: i64 = found.iter().map(|row| number(&row["own"])).sum();
        let compilers = rows(&loaded, "slices");
        let compilers = compilers
            .iter()
            .filter(|row| row["name"] == "ExecuteCompiler");
        let all: i64 = compilers.map(|row| number(&row["dur"])).sum();
        assert!(own > all / 2 && own <= all, "{own} of {all}");
    }
    // The most expensive of each kind come first.
    let found = rows(&together(&COMPILED), "compiler_costs");
    assert!(found[0]["name"].ends_with("src/shapes.hpp"));
    let traces_of_others = rows(&together(&["build.strace"]), "compiler_costs");
    assert!(traces_of_others.is_empty());
}

#[test]
fn sums_that_compilers_write_are_no_slices() {
    let expected = std::fs::read_to_string(corpus("time_trace").join("totals.tsv")).unwrap();
    let expected: BTreeSet<&str> = expected.lines().collect();
    assert!(expected.len() > 50);
    for files in [
        &COMPILED[..],
        &["build.strace", "main.json", "circle.json", "names.json"],
    ] {
        let loaded = together(files);
        let columns = ["name", "count", "compilations", "total", "most"];
        let found = rows(&loaded, "compiler_totals");
        let lines: Vec<String> = found
            .iter()
            .map(|row| columns.map(|column| row[column].as_str()).join("\t"))
            .collect();
        let lines: BTreeSet<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(lines, expected);
        assert_eq!(found.len(), expected.len());
        // The largest comes first.
        let total = |at: usize| found[at]["total"].parse::<i64>().unwrap();
        assert!(total(0) >= total(1) && total(1) >= total(2));
        // There are no slices of them, and no threads for them; their points are on the compiler's own thread.
        let slices = rows(&loaded, "slices");
        assert!(!slices.iter().any(|row| row["name"].starts_with("Total ")));
        let points = rows(&loaded, "instants");
        let points = points
            .iter()
            .filter(|row| row["name"].starts_with("Total "));
        assert!(points.clone().all(|row| row["tid"] == row["pid"]));
        assert!(points.count() > 200);
    }
    // What only looks alike is a slice.
    let text = |args: &str, ts: u32| {
        format!(
            r#"[{{"ph":"X","ts":{ts},"dur":5,"pid":1,"tid":9,"name":"Total x","args":{{{args}}}}}]"#
        )
    };
    for (args, ts, slices) in [
        (r#""count":1,"avg ms":2"#, 0, 0),
        (r#""count":1,"avg ms":2"#, 1, 1),
        (r#""count":1,"avg ms":2,"more":3"#, 0, 1),
        (r#""avg ms":2"#, 0, 1),
        ("", 0, 1),
    ] {
        let bytes = text(args, ts).into_bytes();
        let loaded = open_bytes("a.json", bytes, Reading::default(), &Job::default()).unwrap();
        assert_eq!(rows(&loaded, "slices").len(), slices, "{args}");
        let tid = if slices == 0 { 1 } else { 9 };
        assert!(loaded.trace.threads.iter().any(|thread| thread.tid == tid));
    }
}

/// Rows of a table, each the text of some columns.
fn told(loaded: &LoadedTrace, table: &str, columns: &[&str]) -> Vec<String> {
    let row = |row: &std::collections::BTreeMap<String, String>| {
        let cells: Vec<&str> = columns.iter().map(|&column| row[column].as_str()).collect();
        cells.join(" ")
    };
    rows(loaded, table).iter().map(row).collect()
}

/// Start, pid, process and name of the slices around whole compilations.
fn compilations(loaded: &LoadedTrace) -> Vec<String> {
    let rows = told(loaded, "slices", &["ts", "pid", "process", "name"]);
    let wanted = rows
        .into_iter()
        .filter(|row| row.ends_with("clang++ ExecuteCompiler"));
    wanted.collect()
}

/// The titles of the rows from the top to that of a thread, with their notes.
fn path_of(trace: &Trace, thread: ThreadId) -> Vec<String> {
    let mut found = Vec::new();
    let outline = Outline::new(trace);
    let mut keys = std::collections::HashSet::new();
    outline.visit(&mut |path, node| {
        assert!(
            keys.insert(node.key),
            "two rows with the key of {}",
            node.title
        );
        if node.kind == threadline::view::RowKind::Thread(thread) {
            found = path
                .iter()
                .map(|node| format!("{} [{}]", node.title, node.note))
                .collect();
        }
    });
    found
}

/// The first thread of a file, by its number.
fn thread_of(loaded: &LoadedTrace, file: &str, tid: u64) -> ThreadId {
    let sources = loaded.trace.sources.iter();
    let source = sources
        .into_iter()
        .find(|source| source.name == file)
        .unwrap();
    let mut threads = source.threads.clone().map(ThreadId);
    threads
        .find(|&id| loaded.trace.thread(id).tid == tid)
        .unwrap()
}

#[test]
fn what_a_compiler_wrote_is_inside_of_its_process() {
    let files = ["build.strace", "main.json", "circle.json", "names.json"];
    let alone = together(&files[..1]);
    let loaded = together(&files);
    let processes =
        |loaded: &LoadedTrace| told(loaded, "processes", &["pid", "name", "start", "end"]);
    assert_eq!(processes(&loaded), processes(&alone));
    // Both have the time of day, so nothing is only aligned.
    let found: Vec<String> = compilations(&loaded);
    let whose: Vec<&str> = found
        .iter()
        .map(|row| row.split_once(' ').unwrap().1)
        .collect();
    assert_eq!(
        whose,
        [
            "10160 clang++ ExecuteCompiler",
            "10162 clang++ ExecuteCompiler",
            "10368 clang++ ExecuteCompiler",
        ]
    );
    assert!(
        told(&loaded, "sources", &["placed_by"])
            .iter()
            .all(|by| by == "evidence")
    );
    let thread = thread_of(&loaded, "circle.json", 10160);
    assert_eq!(
        path_of(&loaded.trace, thread)[..2],
        [
            format!("build.strace [{}]", loaded.trace.sources[0].info.format),
            path_of(&loaded.trace, thread)[1].clone(),
        ]
    );
    assert!(path_of(&loaded.trace, thread)[1].starts_with("clang++ [10160 · "));
}

/// Writes the traces of compilers without the time of day, beside a build of which some lines are left out.
fn without_clock(folder: &Path, is_kept: impl Fn(&str) -> bool) {
    for name in COMPILED {
        let text = std::fs::read_to_string(corpus("time_trace").join(name)).unwrap();
        let (events, rest) = text.split_once(",\"beginningOfTime\":").unwrap();
        assert!(rest.ends_with('}'));
        std::fs::write(folder.join(name), format!("{events}}}")).unwrap();
    }
    let build = std::fs::read_to_string(corpus("time_trace").join("build.strace")).unwrap();
    let lines: Vec<&str> = build.lines().filter(|line| is_kept(line)).collect();
    std::fs::write(folder.join("build.strace"), lines.join("\n")).unwrap();
}

#[test]
fn a_compilers_trace_without_a_common_clock_starts_with_its_process() {
    let folder = tempfile::tempdir().unwrap();
    // The files that were written are found by their names, as they lie elsewhere now, else by the options.
    for is_kept in [|_: &str| true, |line: &str| !line.contains(".json")] {
        without_clock(folder.path(), is_kept);
        let open = |names: &[&str]| {
            let paths: Vec<PathBuf> = names.iter().map(|name| folder.path().join(name)).collect();
            only_these(&paths)
        };
        let loaded = open(&["build.strace", "circle.json", "names.json", "main.json"]);
        let by = told(&loaded, "sources", &["placed_by"]);
        assert_eq!(by, ["evidence", "alignment", "alignment", "alignment"]);
        let mut expected: Vec<(i64, String)> = Vec::new();
        for (source, pid) in loaded.trace.sources[1..].iter().zip([10160, 10162, 10368]) {
            let home = loaded
                .trace
                .processes
                .get(source.home.unwrap().0 as usize)
                .unwrap();
            assert_eq!(home.pid, pid);
            let exec = home.images.last().unwrap().start;
            assert_eq!(source.own_span.start.saturating_add(source.offset()), exec);
            assert!(
                source.evidence.starts_with("aligned: "),
                "{}",
                source.evidence
            );
            expected.push((exec.0, format!("{pid} clang++ ExecuteCompiler")));
        }
        for (row, (exec, whose)) in compilations(&loaded).iter().zip(expected) {
            let (start, rest) = row.split_once(' ').unwrap();
            assert_eq!(rest, whose);
            // The compiler says that it began to compile some ms after its trace.
            let start: i64 = start.parse().unwrap();
            assert!(
                (exec..exec + 100_000_000).contains(&start),
                "{start} {exec}"
            );
        }
        // It is said in the row, in the details and in the file's row.
        let thread = thread_of(&loaded, "circle.json", 10160);
        let path = path_of(&loaded.trace, thread);
        assert!(path[0].starts_with("build.strace ["), "{path:?}");
        assert!(path[1].starts_with("clang++ [10160"), "{path:?}");
        assert_eq!(path[2], "clang++ [10160 · aligned]");
        let facts = details(&loaded.trace, loaded.reader.as_ref(), Item::Thread(thread));
        assert!(
            facts.text().contains("\nplaced\taligned: "),
            "{}",
            facts.text()
        );
        let mut notes = Vec::new();
        Outline::new(&loaded.trace).visit(&mut |path, node| {
            if path.len() == 1 {
                notes.push(format!("{} {}", node.title, node.note));
            }
        });
        let file = notes.iter().find(|note| note.starts_with("circle.json "));
        assert!(
            file.is_some_and(|note| note.ends_with(" · aligned with clang++ 10160")),
            "{notes:?}"
        );

        // Which file comes first decides about the axis alone.
        let turned = open(&["names.json", "build.strace"]);
        let [names, build] = turned.trace.sources.as_slice() else {
            panic!("two files");
        };
        assert!(build.evidence.starts_with("aligned: "));
        let home = turned
            .trace
            .processes
            .get(names.home.unwrap().0 as usize)
            .unwrap();
        assert_eq!(home.pid, 10162);
        assert_eq!(names.own_span.start, home.images.last().unwrap().start);
    }
}

#[test]
fn no_more_traces_are_opened_with_a_build_than_its_limits_allow() {
    let folder = tempfile::tempdir().unwrap();
    let own = r#"{"traceEvents":[{"ph":"X","pid":100,"tid":100,"ts":0,"dur":5,"name":"ExecuteCompiler"}]}"#;
    let mut build =
        "100 10.000000 execve(\"/usr/bin/clang++\", [\"clang++\"], 0x1 /* 1 var */) = 0\n"
            .to_owned();
    // One is too large to be read at all (it is sparse), and one more than may be opened is small.
    for number in 0..=4097 {
        let name = format!("unit{number}.json");
        let time = format!("10.{:06}", 100 + number);
        build += &format!(
            "100 {time} openat(AT_FDCWD, \"{name}\", O_RDWR|O_CREAT|O_TRUNC|O_CLOEXEC, 0666) = 3\n\
             100 {time} close(3) = 0\n"
        );
        std::fs::write(folder.path().join(&name), own).unwrap();
        if number == 0 {
            let path = folder.path().join(&name);
            let large = std::fs::File::options().write(true).open(path).unwrap();
            large.set_len((1 << 30) + 1).unwrap();
        }
    }
    build += "100 11.000000 +++ exited with 0 +++\n";
    let build_path = folder.path().join("build.strace");
    std::fs::write(&build_path, build).unwrap();
    let reading = Reading {
        compiler_traces: CompilerTraces::Beside,
        ..Reading::default()
    };
    let loaded = open_as(&[build_path], reading, &[], &[], &Job::default(), None).unwrap();
    assert_eq!(loaded.trace.sources.len(), 1 + 4096);
    let notes: Vec<String> = loaded
        .trace
        .diagnostics
        .rows()
        .iter()
        .map(|note| format!("{} {}", note.code, note.message))
        .collect();
    let about = |code: &str| {
        let found = notes.iter().find(|note| note.starts_with(code));
        found.unwrap_or_else(|| panic!("{code} in {notes:?}"))
    };
    assert!(about("compiler_traces ").contains("4096 traces that processes"));
    let left_out = about("compiler_traces_left_out ");
    assert!(left_out.contains("2 traces that processes"), "{left_out}");
    assert!(left_out.contains("at most 4096 with 1024 MB"), "{left_out}");
    let slices = rows(&loaded, "slices");
    let compilers = slices.iter().filter(|row| row["name"] == "ExecuteCompiler");
    assert_eq!(compilers.count(), 4096);
}
