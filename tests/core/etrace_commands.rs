//! `compile_commands.json` of small builds that are made here.

use crate::recorder::{Recorder, exported, load};
use threadline::export::{ExportError, Summary};

/// (file, output, arguments) of each entry.
fn commands(r: &Recorder) -> (Vec<[String; 3]>, Summary) {
    let (json, summary) = exported(&load(r), "compile-commands").unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("").to_owned();
    let entries = json.as_array().unwrap().iter().map(|entry| {
        let words = entry["arguments"].as_array().unwrap().iter();
        let words: Vec<String> = words.map(text).collect();
        [
            text(&entry["file"]),
            text(&entry["output"]),
            words.join(" "),
        ]
    });
    (entries.collect(), summary)
}

/// A compiler below `parent`, which does something and ends.
fn compiler(r: &mut Recorder, parent: i64, program: &str, line: &str) -> i64 {
    let task = r.fork(parent, 100);
    let words: Vec<&str> = line.split(' ').collect();
    r.exec(task, program, &words);
    task
}

#[test]
fn each_source_is_compiled_once_however_its_compiler_is_called() {
    let mut r = Recorder::new();
    let shell = r.shell;
    compiler(&mut r, shell, "/b/gcc", "gcc -x c -c noext.inc -on.o");
    compiler(&mut r, shell, "/b/gcc", "gcc -v -c r.c --output=r.o");
    compiler(&mut r, shell, "/b/gcc", "gcc -E -c p3.c");
    compiler(&mut r, shell, "/b/cc1", "cc1 -E -quiet p3.c");
    compiler(&mut r, shell, "/b/clang", "clang -cc1 -E p4.c");
    let masked = compiler(&mut r, shell, "/b/ccache", "gcc -c masq.c");
    compiler(&mut r, masked, "/b/gcc-12", "/b/gcc -c masq.c");
    let cache = compiler(&mut r, shell, "/b/ccache", "ccache gcc -c cc2.c");
    compiler(&mut r, cache, "/b/gcc", "/b/gcc -E cc2.c");
    compiler(
        &mut r,
        cache,
        "/b/gcc",
        "/b/gcc -c -fpreprocessed /tmp/cc2.i",
    );
    let script = compiler(&mut r, shell, "/b/c99", "/bin/sh /b/c99 -c scr.c");
    r.exec(script, "/b/gcc", &["gcc", "-std=c99", "-c", "scr.c"]);
    let driver = compiler(&mut r, script, "/b/cc1", "cc1 -quiet scr.c -o /tmp/s");
    r.exit(driver, 0);
    let (entries, summary) = commands(&r);
    let expected = [
        ["noext.inc", "n.o", "gcc -x c -c noext.inc -on.o"],
        ["r.c", "r.o", "gcc -v -c r.c --output=r.o"],
        ["masq.c", "", "gcc -c masq.c"],
        ["cc2.c", "", "gcc -c cc2.c"],
        ["scr.c", "", "gcc -std=c99 -c scr.c"],
    ];
    assert_eq!(entries, expected.map(|entry| entry.map(str::to_owned)));
    assert!(summary.notes.is_empty());
}

#[test]
fn commands_of_which_arguments_were_lost_are_told() {
    let lost = |hole: &[u8]| {
        let mut r = Recorder::new();
        let child = r.fork(r.shell, 1001);
        r.call(
            child,
            "New_proc|argsize=16,prognameisize=6,prognamepsize=6,cwdsize=2",
        );
        for line in ["PI|/b/gcc", "PP|/b/gcc", "CW|/w", "A[0]gcc"] {
            r.line(child, line.as_bytes());
        }
        r.text.extend_from_slice(hole);
        for line in ["A[2]-c", "A[3]a.c", "End_of_args|"] {
            r.line(child, line.as_bytes());
        }
        r.exit(child, 0);
        let (entries, summary) = commands(&r);
        assert_eq!(entries.len(), 1);
        summary.notes
    };
    let told = lost(b"CPU:0 [LOST 1 EVENTS]\n");
    assert!(told[0].starts_with("arguments of one program"), "{told:?}");
    assert!(told[0].contains("lost"), "{told:?}");
    assert_eq!(told.len(), 1);
}

#[test]
fn response_files_are_told_where_the_result_is() {
    let mut r = Recorder::new();
    let shell = r.shell;
    let driver = compiler(&mut r, shell, "/b/gcc", "gcc @all.rsp");
    r.exit(driver, 0);
    let Err(ExportError::Nothing(why)) = exported(&load(&r), "compile-commands") else {
        panic!("there is nothing to write")
    };
    assert!(
        why.contains("response files") && why.contains("@all.rsp"),
        "{why}"
    );
    let driver = compiler(&mut r, shell, "/b/gcc", "gcc @more.rsp b.c");
    compiler(&mut r, driver, "/b/cc1", "cc1 -quiet inrsp.c -o /tmp/x.s");
    compiler(&mut r, driver, "/b/cc1", "cc1 -quiet b.c -o /tmp/y.s");
    let (entries, summary) = commands(&r);
    let files: Vec<&str> = entries.iter().map(|entry| entry[0].as_str()).collect();
    assert_eq!(files, ["b.c", "inrsp.c"]);
    assert_eq!(entries[0][2], "gcc @more.rsp b.c");
    assert!(
        summary.notes[0].contains("@all.rsp, @more.rsp"),
        "{:?}",
        summary.notes
    );
    assert!(
        summary.notes[1].starts_with("one compiler has"),
        "{:?}",
        summary.notes
    );
}

#[test]
fn what_stands_in_a_response_file_is_told_by_what_it_starts() {
    let mut r = Recorder::new();
    let shell = r.shell;
    let driver = compiler(&mut r, shell, "/b/gcc", "gcc @one.rsp");
    compiler(&mut r, driver, "/b/cc1", "cc1 -quiet one.c -o /tmp/x.s");
    let cache = compiler(&mut r, shell, "/b/ccache", "ccache gcc @two.rsp");
    compiler(&mut r, cache, "/b/gcc", "gcc -E two.c");
    let driver = compiler(&mut r, cache, "/b/gcc", "gcc -c two.c -o two.o");
    compiler(&mut r, driver, "/b/cc1", "cc1 -quiet two.c -o /tmp/y.s");
    let (entries, summary) = commands(&r);
    let expected = [
        ["one.c", "/tmp/x.s", "cc1 -quiet one.c -o /tmp/x.s"],
        ["two.c", "two.o", "gcc -c two.c -o two.o"],
    ];
    assert_eq!(entries, expected.map(|entry| entry.map(str::to_owned)));
    assert!(summary.notes.is_empty(), "{:?}", summary.notes);
    // A cache that lets its compiler read what it preprocessed itself, and one that links.
    let cache = compiler(&mut r, shell, "/b/ccache", "ccache gcc @three.rsp");
    compiler(&mut r, cache, "/b/gcc", "gcc -c /tmp/three.i");
    let linker = compiler(&mut r, shell, "/b/gcc", "gcc @objects.rsp");
    compiler(&mut r, linker, "/b/collect2", "collect2 one.o two.o");
    let (entries, summary) = commands(&r);
    assert_eq!(entries.len(), 2);
    let told = &summary.notes[1];
    assert!(told.starts_with("2 compilers have no entry: if"), "{told}");
}

#[test]
fn behind_two_dashes_stand_files() {
    let mut r = Recorder::new();
    let shell = r.shell;
    compiler(&mut r, shell, "/b/clang", "clang -o x.o -c -- -odd.c");
    compiler(&mut r, shell, "/b/clang", "clang -c -- -other.c");
    compiler(&mut r, shell, "/b/icecc", "icecc gcc -c far.c");
    let (entries, _) = commands(&r);
    let expected = [
        ["-odd.c", "x.o", "clang -o x.o -c -- -odd.c"],
        ["-other.c", "", "clang -c -- -other.c"],
        ["far.c", "", "gcc -c far.c"],
    ];
    assert_eq!(entries, expected.map(|entry| entry.map(str::to_owned)));
}
