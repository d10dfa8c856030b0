//! Traces that compilers wrote during a recorded build, found by the paths in the recording.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use threadline::base::Job;
use threadline::load::reading::CompilerTraces;
use threadline::load::together::{members_of, open_as, open_together};
use threadline::load::{LoadedTrace, Reading};
use threadline::view::Outline;

use crate::corpus::corpus;
use crate::program::stdout;
use crate::recorder::Recorder;
use crate::tables::rows;

const COMPILED: [&str; 3] = ["circle.json", "main.json", "names.json"];

/// A copy of a build under strace, with the traces of its compilers where a copy has them.
struct Copy {
    folder: tempfile::TempDir,
}

impl Copy {
    /// Each trace is as `edit` makes it.
    fn new(edit: impl Fn(&str) -> String) -> Copy {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("rec4/out");
        std::fs::create_dir_all(&out).unwrap();
        let from = corpus("time_trace");
        // The machine that runs the tests may be the one where this was recorded.
        let build = std::fs::read_to_string(from.join("build.strace")).unwrap();
        let build = build.replace("/tmp/rec4", "/nowhere/rec4");
        std::fs::write(folder.path().join("build.strace"), build).unwrap();
        for name in COMPILED {
            let text = std::fs::read_to_string(from.join(name)).unwrap();
            std::fs::write(out.join(name), edit(&text)).unwrap();
        }
        Copy { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn open(&self, names: &[&str]) -> LoadedTrace {
        let paths: Vec<PathBuf> = names.iter().map(|name| self.path(name)).collect();
        open_together(&paths, &[], &[], &Job::default(), None).unwrap()
    }

    fn open_with(&self, compiler_traces: CompilerTraces) -> LoadedTrace {
        let reading = Reading {
            compiler_traces,
            ..Reading::default()
        };
        let paths = [self.path("build.strace")];
        open_as(&paths, reading, &[], &[], &Job::default(), None).unwrap()
    }
}

/// The names of the files on the axis.
fn sources(loaded: &LoadedTrace) -> BTreeSet<String> {
    let sources = loaded.trace.sources.iter();
    sources.map(|source| source.name.clone()).collect()
}

/// The number that a diagnostic counts, and its words.
fn noted(loaded: &LoadedTrace, code: &str) -> Option<(u64, String)> {
    let row = loaded
        .trace
        .diagnostics
        .rows()
        .iter()
        .find(|row| row.code == code)?;
    Some((row.count, row.message.clone()))
}

fn costs(loaded: &LoadedTrace) -> Vec<String> {
    let columns = ["kind", "name", "count", "compilations", "total", "longest"];
    let found = rows(loaded, "compiler_costs");
    let lines = found
        .iter()
        .map(|row| columns.map(|column| row[column].as_str()).join("\t"));
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines
}

/// Source, pid of the process that wrote it, and how it was placed, of the found traces.
fn homes(loaded: &LoadedTrace) -> Vec<(String, u64, String)> {
    let trace = &loaded.trace;
    let homes = trace.sources.iter().filter_map(|source| {
        let home = trace.processes.get(source.home?.0 as usize)?;
        let evidence = source.evidence.split(':').next().unwrap_or_default();
        Some((source.name.clone(), home.pid, evidence.to_owned()))
    });
    homes.collect()
}

#[test]
fn a_builds_compiler_traces_are_opened_with_it() {
    let copy = Copy::new(str::to_owned);
    // Files that the recording does not name are not opened, whatever they are.
    let circle = copy.path("rec4/out/circle.json");
    std::fs::copy(&circle, copy.path("rec4/out/other.json")).unwrap();
    let loaded = copy.open(&["build.strace"]);
    let expected = std::fs::read_to_string(corpus("time_trace").join("costs.tsv")).unwrap();
    let mut expected: Vec<&str> = expected.lines().collect();
    expected.sort_unstable();
    assert_eq!(costs(&loaded), expected);
    let all = BTreeSet::from(["build.strace", "circle.json", "main.json", "names.json"]);
    assert_eq!(
        sources(&loaded),
        all.into_iter().map(str::to_owned).collect()
    );
    let (count, words) = noted(&loaded, "compiler_traces").unwrap();
    assert_eq!(count, 3);
    let from = copy.path("rec4/out").display().to_string();
    assert!(
        words.contains("3 traces") && words.contains(&from),
        "{words}"
    );
    let pids: BTreeSet<u64> = homes(&loaded).iter().map(|home| home.1).collect();
    assert_eq!(pids, BTreeSet::from([10160, 10162, 10368]));
    // Those that were asked for are not opened twice, whether they are the same files or copies of them.
    std::fs::copy(&circle, copy.path("circle.json")).unwrap();
    for asked in ["rec4/out/circle.json", "circle.json"] {
        let again = copy.open(&[asked, "build.strace"]);
        assert_eq!(again.members.len(), 4, "{asked}");
        assert_eq!(costs(&again), expected);
        assert_eq!(noted(&again, "compiler_traces").unwrap().0, 2);
    }
    // Where the recording says, if it is elsewhere.
    let elsewhere = tempfile::tempdir().unwrap();
    let build = std::fs::read_to_string(copy.path("build.strace")).unwrap();
    let here = copy.path("rec4").display().to_string();
    let path = elsewhere.path().join("build.strace");
    std::fs::write(&path, build.replace("/nowhere/rec4", &here)).unwrap();
    let named = open_together(&[path], &[], &[], &Job::default(), None).unwrap();
    assert_eq!(noted(&named, "compiler_traces").unwrap().0, 3);
    // Without the files, nothing is noted.
    std::fs::remove_dir_all(copy.path("rec4")).unwrap();
    std::fs::remove_file(copy.path("circle.json")).unwrap();
    let alone = copy.open(&["build.strace"]);
    assert!(alone.trace.sources.is_empty() && noted(&alone, "compiler_traces").is_none());
}

#[test]
fn compiler_traces_are_looked_for_where_the_user_says() {
    let copy = Copy::new(str::to_owned);
    assert!(copy.open_with(CompilerTraces::LeftOut).members.is_empty());
    let elsewhere = tempfile::tempdir().unwrap();
    let below = |folder: &Path| CompilerTraces::below(folder.to_path_buf());
    assert!(copy.open_with(below(elsewhere.path())).members.is_empty());
    std::fs::rename(
        copy.path("rec4/out/main.json"),
        elsewhere.path().join("main.json"),
    )
    .unwrap();
    let found = copy.open_with(below(elsewhere.path()));
    assert_eq!(homes(&found).len(), 1);
    assert_eq!(sources(&found).len(), 2);
    // The command line has the same choices.
    let build = copy.path("build.strace").display().to_string();
    let files = |options: &[&str]| {
        let table = [&["table", "sources", "--format", "csv", &build], options].concat();
        stdout(&table).lines().skip(1).count()
    };
    assert_eq!(files(&[]), 3);
    assert_eq!(files(&["--compiler-traces", "none"]), 0);
    let folder = elsewhere.path().display().to_string();
    assert_eq!(files(&["--compiler-traces", &folder]), 2);
}

/// A trace whose times of day are a day later.
fn a_day_later(text: &str) -> String {
    let (events, rest) = text.split_once(",\"beginningOfTime\":").unwrap();
    let micros: i64 = rest.trim_end().trim_end_matches('}').parse().unwrap();
    format!("{events},\"beginningOfTime\":{}}}", micros + 86_400_000_000)
}

fn without_clock(text: &str) -> String {
    let (events, _) = text.split_once(",\"beginningOfTime\":").unwrap();
    format!("{events}}}")
}

#[test]
fn traces_of_another_run_of_the_build_are_left_out() {
    let later = Copy::new(a_day_later).open(&["build.strace"]);
    let other_process = Copy::new(|text| without_clock(text).replace("\"pid\":10", "\"pid\":20"));
    let other_process = other_process.open(&["build.strace"]);
    for loaded in [later, other_process] {
        assert!(loaded.trace.sources.is_empty());
        let (count, words) = noted(&loaded, "compiler_traces_of_other_runs").unwrap();
        assert_eq!(count, 3);
        assert!(words.contains("another run"), "{words}");
        assert!(noted(&loaded, "compiler_traces").is_none());
    }
    // Without the time of day, those of the same processes start with them.
    let loaded = Copy::new(without_clock).open(&["build.strace"]);
    let mut found = homes(&loaded);
    found.sort();
    let aligned = |name: &str, pid| (name.to_owned(), pid, "aligned".to_owned());
    let expected = [
        aligned("circle.json", 10160),
        aligned("main.json", 10368),
        aligned("names.json", 10162),
    ];
    assert_eq!(found, expected);
}

/// What a compiler with this number writes of itself.
fn compiled(pid: u32, header: &str) -> String {
    let event = |name: &str, ts: u32, dur: u32, detail: &str| {
        format!(
            r#"{{"pid":{pid},"tid":{pid},"ph":"X","ts":{ts},"dur":{dur},"name":"{name}","args":{{"detail":"{detail}"}}}}"#
        )
    };
    let events = [
        event("Source", 100, 300, header),
        event("ExecuteCompiler", 0, 1000, ""),
    ];
    format!("{{\"traceEvents\":[{}]}}", events.join(","))
}

/// Without opens, and with the compiler's options cut by strace, only the driver's options name the trace; its number is that
/// of the compiler.
#[test]
fn a_trace_belongs_to_the_compiler_and_not_to_its_driver() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"100 1796125438.000000 execve("/usr/bin/clang++", ["clang++", "-ftime-trace", "-c", "a.cpp"], 0x7 /* 3 vars */) = 0
100 1796125438.001000 vfork( <unfinished ...>
101 1796125438.001100 execve("/usr/lib/llvm/bin/clang", ["/usr/lib/llvm/bin/clang", "-cc1", "-triple"...], 0x7 /* 3 vars */) = 0
100 1796125438.001200 <... vfork resumed>) = 101
100 1796125438.001300 wait4(101,  <unfinished ...>
101 1796125438.009000 exit_group(0) = ?
101 1796125438.009100 +++ exited with 0 +++
100 1796125438.009200 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 101
100 1796125438.009300 exit_group(0) = ?
100 1796125438.009400 +++ exited with 0 +++
"#;
    let (build, json) = (
        folder.path().join("build.strace"),
        folder.path().join("a.json"),
    );
    std::fs::write(&build, text).unwrap();
    for (number, home) in [(101, 101), (100, 100), (5, 100)] {
        std::fs::write(&json, compiled(number, "/w/a.hpp")).unwrap();
        let files = [build.clone(), json.clone()];
        let loaded = open_together(&files, &[], &[], &Job::default(), None).unwrap();
        let found = homes(&Arc::new(loaded));
        assert_eq!(found, [("a.json".to_owned(), home, "aligned".to_owned())]);
    }
}

#[test]
fn a_process_of_an_etrace_build_may_write_several_traces() {
    let folder = tempfile::tempdir().unwrap();
    let mut r = Recorder::new();
    r.run(2001, "/usr/bin/make", &["make"], |_, _| {});
    let out = folder.path().join("w/out");
    std::fs::create_dir_all(out.join("deep")).unwrap();
    let arguments = ["clang++", "-ftime-trace", "-c", "a.cpp", "b.cpp"];
    r.run(2002, "/usr/bin/clang++", &arguments, |r, task| {
        r.write(task, "/w/out/a.json");
        r.write(task, "/w/out/deep/a.json");
        r.write(task, "/w/out/compile_commands.json");
        r.wait_ms(5);
    });
    // A later process writes a file of that name, too.
    r.run(2003, "/usr/bin/clang++", &arguments, |r, task| {
        r.write(task, "/w/out/b.json");
    });
    std::fs::write(out.join("a.json"), compiled(2002, "/w/a.hpp")).unwrap();
    std::fs::write(out.join("deep/a.json"), compiled(2002, "/w/b.hpp")).unwrap();
    std::fs::write(out.join("b.json"), compiled(2003, "/w/a.hpp")).unwrap();
    std::fs::write(out.join("compile_commands.json"), "[{\"file\":\"a.cpp\"}]").unwrap();
    let path = folder.path().join("build.etrace");
    std::fs::write(&path, &r.text).unwrap();
    let mut seen = Vec::new();
    let mut listen = |loaded: LoadedTrace| seen.push((loaded.is_complete, loaded.members.len()));
    let loaded = open_together(
        std::slice::from_ref(&path),
        &[],
        &[],
        &Job::default(),
        Some(&mut listen),
    );
    let loaded = Arc::new(loaded.unwrap());
    // The build is shown before its compilers' traces are read.
    assert_eq!(seen.first(), Some(&(false, 0)));
    assert_eq!(seen.last(), Some(&(true, 4)));
    assert_eq!(seen.iter().filter(|generation| generation.0).count(), 1);
    let mut found = homes(&loaded);
    found.sort();
    let expected = [
        ("b.json", 2003),
        ("deep/a.json", 2002),
        ("out/a.json", 2002),
    ];
    let aligned = |(name, pid): (&str, u64)| (name.to_owned(), pid, "aligned".to_owned());
    assert_eq!(found, expected.map(aligned));
    let mut keys = BTreeSet::new();
    Outline::new(&loaded.trace).visit(&mut |_, node| {
        assert!(
            keys.insert(node.key),
            "two rows with the key of {}",
            node.title
        );
    });
    let costs = costs(&loaded);
    let expected = [
        "header\t/w/a.hpp\t2\t2\t600000\t300000",
        "header\t/w/b.hpp\t1\t1\t300000\t300000",
    ];
    assert_eq!(costs, expected);
    // What was found is found again when only the recording is opened.
    assert_eq!(members_of(&loaded).traces.len(), 4);
    let of_the_build = rows(&loaded, "processes");
    assert_eq!(
        of_the_build
            .iter()
            .filter(|row| row["name"] == "clang++")
            .count(),
        2
    );
}
