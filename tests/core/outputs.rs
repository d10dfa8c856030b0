//! What reaches a terminal, a file or a full device: nothing acts on the reader's side, nothing is lost without a word.

use crate::program::{run, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn case(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/ftrace_text");
    path.join(name).to_str().unwrap().to_owned()
}

/// How many events of each name there are.
fn counts(file: &str) -> Vec<(String, usize)> {
    let table = stdout(&["table", "events", file]);
    let mut found: Vec<(String, usize)> = Vec::new();
    for line in table.lines().skip(1) {
        let name = line.split('\t').nth(3).unwrap();
        match found.iter_mut().find(|row| row.0 == name) {
            Some(row) => row.1 += 1,
            None => found.push((name.to_owned(), 1)),
        }
    }
    found.sort();
    found
}

fn row(name: &str, count: usize) -> (String, usize) {
    (name.to_owned(), count)
}

#[test]
fn names_of_events_may_begin_with_a_digit() {
    let file = case("digit-event-name.txt");
    let expected = [
        row("9p_client_res", 1),
        row("9p_fid_ref", 3),
        row("kfree", 2),
        row("kmem_cache_free", 1),
    ];
    assert_eq!(counts(&file), expected);
    let info: serde_json::Value =
        serde_json::from_str(&stdout(&["info", "--json", &file])).unwrap();
    let diagnostics = info["diagnostics"].to_string();
    assert!(!diagnostics.contains("unknown_line"), "{diagnostics}");
    let instants = stdout(&["table", "instants", &file]);
    assert!(instants.contains("\t9p_fid_ref\t9p\t"), "{instants}");
}

#[test]
fn marks_end_where_the_next_event_begins_and_continue_in_further_lines() {
    let file = case("marks-without-line-ends.txt");
    let text = std::fs::read_to_string(&file).unwrap();
    let switches = text.matches(": sched_switch: ").count();
    let expected = [
        row("print", 60),
        row("raw_data", 5),
        row("sched_switch", switches),
    ];
    assert_eq!(counts(&file), expected);
    // The whole text of a mark is found, and all that the file says of it is printed in its event.
    let found = stdout(&[
        "search",
        "name == print && text ~ \"(: |^)a b c$\"",
        &file,
        "--count",
    ]);
    assert_eq!(found, "5\n");
    let found = stdout(&[
        "search",
        "name == print && text ~ \"(: |^)bin$\"",
        &file,
        "--count",
    ]);
    assert_eq!(found, "5\n");
    let report = stdout(&["report", &file]);
    let lines: Vec<&str> = report.lines().collect();
    let raw = lines.iter().filter(|line| line.contains(": raw_data: "));
    assert_eq!(raw.count(), 5);
    let at = lines.iter().position(|line| line.ends_with(": a")).unwrap();
    assert_eq!(lines[at + 1..at + 3], ["b", "c"]);
    // What was printed is read as the same events, in a text and in an exported trace alike.
    let folder = tempfile::tempdir().unwrap();
    let again = folder.path().join("again.txt");
    std::fs::write(&again, &report).unwrap();
    assert_eq!(counts(again.to_str().unwrap()), expected);
    let fxt = folder.path().join("again.fxt");
    let fxt = fxt.to_str().unwrap();
    assert!(run(&["export", &file, "-o", fxt]).status.success());
    let marks = stdout(&["search", "name == raw_data", fxt, "--count"]);
    assert_eq!(marks, "5\n");
}

/// A text whose names, arguments and marks hold what acts on terminals.
fn nasty() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("na\u{1b}[31msty.txt");
    let line = |time: u32, body: &str| {
        format!("          e\u{1b}il-9     [000] .....   100.00000{time}: {body}\n")
    };
    let text = format!(
        "# tracer: nop\n#\n{}{}{}",
        line(
            1,
            "tracing_mark_write: \u{1b}]0;title\u{7}\u{9b}31m\u{202e}x"
        ),
        line(2, "tracing_mark_write: B|9|=1+\u{1b}[2J\u{2067}1"),
        line(3, "tracing_mark_write: E|9"),
    );
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

#[track_caller]
fn assert_harmless(bytes: &[u8], what: &str) {
    let text = String::from_utf8_lossy(bytes);
    let is_active = |c: char| {
        let is_mark = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        is_mark || (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
    };
    assert!(!text.contains(is_active), "{what}: {text:?}");
}

#[test]
fn nothing_in_a_file_acts_on_a_terminal() {
    let (folder, path) = nasty();
    let path = path.to_str().unwrap();
    for arguments in [
        &["report"][..],
        &["report", "--filter", "x"],
        &["info"],
        &["info", "--json"],
        &["table", "events"],
        &["table", "slices", "--format", "csv"],
        &["table", "slices", "--format", "json"],
        &["stats"],
        &["search", "x"],
        &["flame", "--as", "folded"],
        &["export", "--to", "chrome-json", "-o", "-"],
        &["export", "--to", "json", "-o", "-"],
    ] {
        let arguments: Vec<&str> = match arguments {
            ["search", rest @ ..] => [&["search"], rest, &[path]].concat(),
            other => [other, &[path]].concat(),
        };
        let output = run(&arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        assert_harmless(&output.stdout, &format!("{arguments:?}"));
        assert_harmless(&output.stderr, &format!("{arguments:?}"));
    }
    // JSON means the same text; tables have it so that it can be had again.
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&["table", "slices", "--format", "json", path])).unwrap();
    assert_eq!(json[0]["name"], "=1+\u{1b}[2J\u{2067}1");
    let table = stdout(&["table", "slices", path]);
    assert!(table.contains("=1+\\x1b[2J\\xe2\\x81\\xa71"), "{table}");
    // Names of files in errors.
    let missing = folder.path().join("no\u{1b}[0m\u{202e}such");
    let output = run(&["info", missing.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert_harmless(&output.stderr, "error");
    let output = run(&["info", "--no\u{1b}[0msuch"]);
    assert_eq!(output.status.code(), Some(2));
    assert_harmless(&output.stderr, "usage");
}

#[test]
fn formulas_are_quoted_where_that_is_asked_for() {
    let (folder, path) = nasty();
    let path = path.to_str().unwrap();
    let table = |options: &[&str]| {
        stdout(&[&["table", "slices", path, "--format", "csv"], options].concat())
    };
    assert!(table(&[]).contains(",=1+"));
    assert!(table(&["--quote-formulas"]).contains(",\"'=1+"));
    let out = folder.path().join("out.csv");
    let out = out.to_str().unwrap();
    assert!(
        run(&["export", path, "-o", out, "--quote-formulas"])
            .status
            .success()
    );
    assert!(std::fs::read_to_string(out).unwrap().contains(",\"'=1+"));
    let output = run(&[
        "export",
        path,
        "-o",
        "-",
        "--to",
        "json",
        "--quote-formulas",
    ]);
    assert_eq!(output.status.code(), Some(2));
}

/// Runs the program without a standard output, and returns what it writes to standard error.
fn with_closed_stdout(arguments: &[&str], code: Option<i32>) -> String {
    let output = Command::new("sh")
        .args(["-c", "exec \"$0\" \"$@\" >&-"])
        .arg(env!("CARGO_BIN_EXE_threadline"))
        .args(arguments)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), code, "{arguments:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_cannot_be_written_ends_in_an_exit_code() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces");
    let samples = samples.canonicalize().unwrap();
    let file = samples.join("sched-irq.ftrace");
    let file = file.to_str().unwrap();
    for arguments in [
        &["help"][..],
        &["--help"],
        &["--version"],
        &["help", "report"],
        &["formats"],
        &["install", "--print", "man"],
        &["install", "--print", "bash"],
        &["info", file],
        &["info", "--json", file],
        &["report", file],
        &["table", "events", file],
        &["stats", file],
        &["stats", "--of", "events", file],
        &["search", "sched_switch", file, "--count"],
        &["export", file, "-o", "-", "--to", "json"],
        &["export", file, "-o", "-"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let status = Command::new(env!("CARGO_BIN_EXE_threadline"))
            .args(arguments)
            .stdout(full.unwrap())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(1), "{arguments:?}");
        let words = with_closed_stdout(arguments, Some(1));
        let expected = "threadline: the output could not be written: standard output is closed\n";
        assert_eq!(words, expected, "{arguments:?}");
    }
    // What is written elsewhere needs no standard output.
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.json");
    let words = with_closed_stdout(&["export", file, "-o", out.to_str().unwrap()], Some(0));
    assert!(words.contains("wrote") && out.exists(), "{words}");
}

#[test]
fn a_blob_that_does_not_fit_ends_in_an_exit_code() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/fxt");
    let files = std::fs::read_dir(golden)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let has_blob = |path: &PathBuf| {
        let output = run(&["table", "blobs", path.to_str().unwrap()]);
        output.status.success() && output.stdout.iter().filter(|byte| **byte == b'\n').count() > 1
    };
    let fxt = files.filter(|path| path.extension().is_some_and(|it| it == "fxt"));
    let path = fxt
        .into_iter()
        .find(has_blob)
        .expect("a golden file with a blob");
    let path = path.to_str().unwrap();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let status = Command::new(env!("CARGO_BIN_EXE_threadline"))
        .args(["blob", "0", path, "-o", "-"])
        .stdout(full.unwrap())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn the_desktop_entry_names_a_program_in_any_folder() {
    let folder = tempfile::tempdir().unwrap();
    let strange = folder.path().join("my $tools 100% `x` \"y\" \\z");
    std::fs::create_dir_all(&strange).unwrap();
    let program = strange.join("threadline");
    let built = env!("CARGO_BIN_EXE_threadline");
    if std::fs::hard_link(built, &program).is_err() {
        std::fs::copy(built, &program).unwrap();
    }
    let prefix = folder.path().join("prefix");
    let output = Command::new(&program)
        .args(["install", "--prefix", prefix.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let entry = prefix.join("share/applications/threadline.desktop");
    let entry = std::fs::read_to_string(entry).unwrap();
    let exec = entry
        .lines()
        .find_map(|line| line.strip_prefix("Exec="))
        .unwrap();
    // GLib looks for a program before it reads field codes: one with a % in its path is started by another.
    let exec = exec.strip_prefix("env ").expect("env");
    assert_eq!(first_argument(exec), program.to_str().unwrap(), "{exec}");
    assert!(exec.ends_with(" %F"), "{exec}");
}

/// The first argument of an `Exec` value, as the Desktop Entry Specification reads it.
fn first_argument(exec: &str) -> String {
    let mut unescaped = String::new();
    let mut chars = exec.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => unescaped.push(match chars.next().unwrap() {
                's' => ' ',
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '\\' => '\\',
                other => panic!("no such escape: {other}"),
            }),
            c => unescaped.push(c),
        }
    }
    let mut argument = String::new();
    let mut chars = unescaped.strip_prefix('"').expect("quoted").chars();
    loop {
        match chars.next().unwrap() {
            '"' => break,
            '\\' => argument.push(chars.next().unwrap()),
            c => argument.push(c),
        }
    }
    argument.replace("%%", "%")
}

#[test]
fn what_a_file_says_of_itself_makes_no_lines_of_info() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let events = r#"[{"ph": "X", "name": "a", "ts": 1, "dur": 1, "pid": 1, "tid": 1}]"#;
    let text = format!(r#"{{"traceEvents": {events}, "x\r\nlost events 7\n": "one\ntwo"}}"#);
    std::fs::write(&path, text).unwrap();
    let info = stdout(&["info", path.to_str().unwrap()]);
    let lost: Vec<&str> = info
        .lines()
        .filter(|line| line.starts_with("lost events"))
        .collect();
    assert_eq!(lost, ["lost events      0"]);
    assert!(info.contains(r"x\r\nlost events 7\n one"), "{info}");
}

#[test]
fn facts_of_one_name_are_all_in_json() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = root.join("sample-traces/sched-irq-syscalls.dat");
    let file = file.to_str().unwrap();
    let info: serde_json::Value = serde_json::from_str(&stdout(&["info", "--json", file])).unwrap();
    let statistics = info["facts"]["statistics"].as_array().unwrap();
    let first =
        |value: &serde_json::Value| value.as_str().unwrap().lines().next().unwrap().to_owned();
    let cpus: Vec<String> = statistics
        .iter()
        .map(first)
        .filter(|line| line.starts_with("CPU"))
        .collect();
    // Of the top buffer and of two instances.
    assert_eq!(cpus, ["CPU: 0", "CPU: 1"].repeat(3));
    assert!(info["facts"]["uname"].is_string());
}

#[test]
fn errors_in_definitions_do_not_act_on_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a\u{1b}[31m\u{202e}.events");
    std::fs::write(&path, "p:a\u{1b}[32m/b c\n").unwrap();
    let output = run(&["probes", "--definitions", path.to_str().unwrap()]);
    assert_harmless(&output.stderr, "definitions");
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains(r"\x1b[31m")
    );
}

#[test]
fn texts_in_notes_make_no_lines_of_their_own() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // A provider of this file has a line end in its name.
    let file = root.join("tests/cases/fxt/all_args.fxt.zst");
    let output = run(&["stats", file.to_str().unwrap()]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("provider"), "{errors}");
    assert!(
        errors.lines().all(|line| line.starts_with("threadline: ")),
        "{errors}"
    );
}

/// The lines of a long table are made on all cores: none is lost, doubled or moved.
#[test]
fn a_long_table_has_every_row_once_and_in_order() {
    const ROWS: usize = 70_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.ftrace");
    let mut lines = String::from("# tracer: nop\n#\n");
    for row in 0..ROWS {
        let (seconds, micros) = (1000 + row / 1_000_000, row % 1_000_000);
        lines.push_str(&format!(
            "     app-100   [000] ..... {seconds}.{micros:06}: tracing_mark_write: m{row}\n"
        ));
    }
    std::fs::write(&path, lines).unwrap();
    let path = path.to_str().unwrap();
    for format in ["json", "tsv", "csv"] {
        let written = stdout(&["table", "instants", "--format", format, path]);
        let times: Vec<i64> = match format {
            "json" => {
                let rows: Vec<serde_json::Value> = serde_json::from_str(&written).unwrap();
                rows.iter().map(|row| row["ts"].as_i64().unwrap()).collect()
            }
            _ => {
                let times = written
                    .lines()
                    .skip(1)
                    .map(|line| line.split(['\t', ',']).next());
                times.map(|time| time.unwrap().parse().unwrap()).collect()
            }
        };
        let first = 1_000_000_000_000;
        let expected: Vec<i64> = (0..ROWS as i64).map(|row| first + row * 1000).collect();
        assert!(times == expected, "{format}: {} rows", times.len());
    }
}
