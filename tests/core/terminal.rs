//! A terminal is a person: aligned columns with units that fit the width, colours unless they are unwanted, progress
//! that leaves nothing behind. A pipe is a program: the bytes are those of the documented formats.

use crate::program::{run, stdout};
use crate::terminal_support::{Errors, ended_on_terminal, fed_on_terminal, on_terminal};
use std::path::{Path, PathBuf};
use unicode_width::UnicodeWidthStr as _;

fn sample(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces");
    folder.join(name).to_str().unwrap().to_owned()
}

fn plain(width: u16, arguments: &[&str]) -> String {
    on_terminal(width, &[("NO_COLOR", "1")], Errors::Discarded, arguments)
}

/// Verbs over samples, as a person would type them.
fn lines() -> Vec<Vec<String>> {
    let verbs: &[(&[&str], &str)] = &[
        (&["stats"], "sched-irq-syscalls.dat"),
        (&["stats", "--of", "events"], "block-ext4.dat"),
        (&["stats", "--of", "counters"], "compress.fxt"),
        (&["stats", "--of", "calls"], "shell-pipeline.strace"),
        (&["table", "slices"], "compress.fxt"),
        (&["table", "states"], "sched-irq.ftrace"),
        (&["table", "process_times"], "lua-make-j2.etrace.zst"),
        (&["table", "file_dependencies"], "lua-make-j2.etrace.zst"),
        (&["latency"], "sched-irq.ftrace"),
        (&["latency", "--worst", "5"], "sched-irq.ftrace"),
        (&["search", "a"], "minix-pipeline.minix"),
        (&["search", "sched_switch"], "kprobe-hackbench.dat"),
        (&["flame"], "function-graph.dat"),
        (
            &["chain", "--thread", "27238", "--at", "90ms"],
            "sched-irq.ftrace",
        ),
        (&["probes"], "kprobe-pair.trace_pipe"),
        (&["info"], "sched-irq-syscalls.dat"),
        (&["info"], "lua-make-j2.etrace.zst"),
    ];
    let mut lines: Vec<Vec<String>> = verbs
        .iter()
        .map(|(verb, file)| {
            let words = verb.iter().map(|word| (*word).to_owned());
            words.chain([sample(file)]).collect()
        })
        .collect();
    let two = [sample("sched-irq-syscalls.dat"), sample("block-ext4.dat")];
    lines.push([vec!["compare".to_owned()], two.to_vec()].concat());
    lines
}

#[test]
fn no_line_is_wider_than_the_terminal_and_no_colour_is_no_escape() {
    for line in lines() {
        let words: Vec<&str> = line.iter().map(String::as_str).collect();
        for width in [40, 80, 200] {
            let text = plain(width, &words);
            assert!(text.lines().count() > 1, "{words:?}: {text}");
            assert!(!text.contains('\u{1b}'), "{words:?}: {text:?}");
            for line in text.lines() {
                assert!(line.width() <= usize::from(width), "{words:?}: {line:?}");
                assert_eq!(line.trim_end(), line, "{words:?}");
                assert!(!line.contains('\t'), "{words:?}: {line:?}");
            }
        }
    }
}

#[test]
fn colour_follows_the_terminal_and_the_variables() {
    let file = sample("compress.fxt");
    let words = ["stats", file.as_str()];
    let with = |variables: &[(&str, &str)]| {
        on_terminal(80, variables, Errors::Discarded, &words).contains('\u{1b}')
    };
    assert!(with(&[]));
    assert!(with(&[("NO_COLOR", "")]));
    assert!(!with(&[("NO_COLOR", "1")]));
    assert!(!with(&[("TERM", "dumb")]));
    assert!(!with(&[("CLICOLOR", "0")]));
    assert!(with(&[("TERM", "dumb"), ("CLICOLOR_FORCE", "1")]));
    assert!(!with(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]));
}

#[test]
fn what_a_person_sees_of_stats() {
    let file = sample("shell-pipeline.strace");
    let text = plain(80, &["stats", &file, "--until", "20ms"]);
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/terminal/stats-80.txt");
    held_to(&kept, &text);
    let text = plain(
        120,
        &[
            "table",
            "slices",
            &sample("compress.fxt"),
            "--until",
            "30ms",
        ],
    );
    held_to(&kept.with_file_name("slices-120.txt"), &text);
}

#[test]
fn rows_of_one_process_differ_in_their_kind_for_a_person_too() {
    let file = sample("shell-pipeline.strace");
    let text = plain(80, &["stats", &file, "--by", "process"]);
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("ls 15635 "))
        .collect();
    for kind in ["processes", "system calls", "open files"] {
        assert!(rows.iter().any(|row| row.contains(kind)), "{kind}: {text}");
    }
}

/// `UPDATE_SNAPSHOTS=1` writes the text anew.
fn held_to(path: &PathBuf, text: &str) {
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(path, text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), text, "{path:?}");
}

#[test]
fn the_format_can_be_asked_for_and_pipes_get_tsv() {
    let file = sample("compress.fxt");
    let words = ["table", "slices", file.as_str(), "--until", "30ms"];
    let piped = stdout(&words);
    assert!(piped.starts_with("ts\tdur\tdepth\tname\t"), "{piped}");
    let asked = |format| [words.as_slice(), &["--format", format]].concat();
    assert_eq!(stdout(&asked("tsv")), piped);
    assert_eq!(
        on_terminal(80, &[], Errors::Discarded, &asked("tsv")),
        piped
    );
    let table = stdout(&asked("table"));
    assert!(
        table.starts_with("   Time (s)") && !table.contains('\u{1b}'),
        "{table}"
    );
    // Nobody's terminal: 80 columns.
    assert!(table.lines().all(|line| line.width() <= 80), "{table}");
}

#[test]
fn what_was_used_most_comes_first_for_a_person() {
    let file = sample("lua-make-j2.etrace.zst");
    let seen = plain(120, &["table", "file_list", &file]);
    let first = seen.lines().nth(1).unwrap();
    assert!(first.contains("bits/wordsize.h "), "{first}");
    let piped = stdout(&["table", "file_list", &file]);
    assert!(piped.lines().nth(1).unwrap().starts_with("0\t"), "{piped}");
}

#[test]
fn info_groups_numbers_for_a_person_only() {
    let file = sample("sched-irq-syscalls.dat");
    let seen = plain(100, &["info", &file]);
    assert!(seen.contains("events           9 113\n"), "{seen}");
    assert!(seen.contains("(92.7 kB)"), "{seen}");
    let piped = stdout(&["info", &file]);
    assert!(piped.contains("events           9113\n"), "{piped}");
    assert!(piped.contains("(92667 bytes)"), "{piped}");
}

#[test]
fn a_flame_graph_is_a_tree_for_a_person() {
    let file = sample("function-graph.dat");
    let seen = plain(120, &["flame", &file]);
    assert!(
        seen.contains("1  vfs_read ") && seen.contains("3      schedule "),
        "{seen}"
    );
    assert!(!stdout(&["flame", &file]).contains("\t  "));
}

#[test]
fn what_acts_on_a_terminal_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nasty.txt");
    let line = |time: u32, body: &str| {
        format!("          evil-9     [000] .....   100.00000{time}: {body}\n")
    };
    let text = format!(
        "# tracer: nop\n#\n{}{}",
        line(1, "tracing_mark_write: B|9|a\u{1b}[2J\u{2067}\u{9b}b"),
        line(3, "tracing_mark_write: E|9"),
    );
    std::fs::write(&path, text).unwrap();
    let file = path.to_str().unwrap();
    for words in [
        ["stats", file].as_slice(),
        &["table", "slices", file],
        &["search", "evil", file],
        &["flame", file],
    ] {
        let seen = plain(200, words);
        let is_active =
            |c: char| c != '\n' && (c.is_control() || ('\u{2066}'..='\u{2069}').contains(&c));
        assert!(!seen.contains(is_active), "{words:?}: {seen:?}");
    }
    assert!(plain(200, &["stats", file]).contains("a\\x1b[2J\\xe2\\x81\\xa7\\xc2\\x9bb"));
}

#[test]
fn a_line_of_progress_leaves_nothing_behind() {
    let file = sample("compress.fxt");
    let bytes = std::fs::read(&file).unwrap();
    // Standard input comes once the line is seen: until then there is something to wait for.
    let seen = fed_on_terminal(80, "reading ...", &bytes, &["info", "-"]);
    let answer = seen.rsplit("\r\u{1b}[K").next().unwrap();
    assert!(answer.starts_with("format "), "{seen:?}");
    let errors = run(&["info", &file]).stderr;
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn every_example_of_the_help_works() {
    let help = stdout(&["help"]);
    let verbs = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let verbs = verbs.take_while(|line| !line.is_empty());
    let verbs: Vec<&str> = verbs
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .collect();
    assert!(verbs.len() > 12, "{help}");
    for verb in verbs {
        let help = stdout(&[verb, "--help"]);
        let (_, examples) = help.split_once("\nExamples:\n").expect(verb);
        let folder = tempfile::tempdir().unwrap();
        let lines = examples
            .lines()
            .filter_map(|line| line.strip_prefix("  threadline "));
        let lines: Vec<&str> = lines.collect();
        assert!((1..=2).contains(&lines.len()), "{verb}: {help}");
        for line in lines {
            // Wider lines are broken on a narrow terminal, where nobody could copy them.
            assert!(line.len() + "  threadline ".len() <= 80, "{line}");
            let mut words = words_of(line);
            assert_eq!(words[0], verb);
            if verb == "record" {
                // It would record this machine: `record.rs` does that where the kernel lets it.
                continue;
            }
            if verb == "dataset" {
                words[2] = folder.path().join(&words[2]).to_str().unwrap().to_owned();
            }
            for index in 1..words.len() {
                if ["-o", "--script", "--prefix"].contains(&words[index - 1].as_str()) {
                    let name = words[index].replace(['/', '~'], "_");
                    words[index] = folder.path().join(name).to_str().unwrap().to_owned();
                }
            }
            let output = std::process::Command::new(env!("CARGO_BIN_EXE_threadline"))
                .args(&words)
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .env("XDG_CACHE_HOME", folder.path())
                .output()
                .unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            if verb == "sql" && errors.contains("pip install duckdb") {
                // .ci/run has DuckDB, and asks these and other questions.
                println!("skipped: DuckDB is not installed: {line}");
                continue;
            }
            assert!(output.status.success(), "{line}: {errors}");
            // An answer of a heading alone would show nobody what the verb is for.
            let answer = String::from_utf8_lossy(&output.stdout);
            let is_written = words.iter().any(|word| word == "-o");
            assert!(is_written || answer.lines().count() > 1, "{line}: {answer}");
        }
    }
}

/// The words of a line as a shell takes it, where quotes are single ones.
fn words_of(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, piece) in line.split('\'').enumerate() {
        match index % 2 {
            0 => words.extend(piece.split_whitespace().map(str::to_owned)),
            _ => words.push(piece.to_owned()),
        }
    }
    words
}

/// What a name in the wrong place contains changes nothing on the terminal.
#[test]
fn errors_about_arguments_show_control_characters() {
    let hostile = "a\u{1b}]0;pwn\u{7}\u{1b}[31mb";
    let option = format!("--{hostile}");
    let file = sample("compress.fxt");
    for arguments in [
        vec!["table", hostile],
        vec!["report", "--cpu", hostile, &file],
        vec!["stats", "--of", hostile, &file],
        vec!["table", "slices", "--format", hostile, &file],
        vec!["info", &option],
    ] {
        let (seen, status) = ended_on_terminal(80, &[], Errors::OnTerminal, &arguments);
        assert_eq!(status.code(), Some(2), "{seen:?}");
        assert!(
            !seen.contains("\u{1b}]0") && !seen.contains('\u{7}'),
            "{seen:?}"
        );
        assert!(seen.contains("\\x1b]0;pwn\\x07"), "{seen:?}");
    }
}
