//! etrace files that are damaged or odd, made here: what is whole is shown, what is not is told with its line, and
//! bytes that are no text come out of every export as they went in.

use threadline::assemble::file_history::FileHistory;
use threadline::base::strings::exact_bytes;
use threadline::base::{Job, Location};
use threadline::export::rows::{Formulas, RowFormat};
use threadline::export::tables::write as write_table;
use threadline::export::{self, Chosen, Overwrite, Selection};
use threadline::load::{self, LoadedTrace};
use threadline::query::process_times::ProcessTimes;
use threadline::tables;
use threadline::trace::ProcessId;

fn load_bytes(bytes: &[u8]) -> LoadedTrace {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.etrace");
    std::fs::write(&path, bytes).unwrap();
    load::open(&path, &Job::default()).unwrap()
}

const fn upid(serial: i64, pid: i64) -> i64 {
    (serial << 22) | pid
}

fn exec(of: i64, ns: u32, program: &[u8], arguments: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut line = |body: &[u8]| {
        out.extend_from_slice(format!("0: {of},0,5,{ns}!").as_bytes());
        out.extend_from_slice(body);
        out.push(b'\n');
    };
    let size: usize = arguments.iter().map(|it| it.len() + 1).sum();
    let program_size = program.len();
    line(
        format!("New_proc|argsize={size},prognameisize={program_size},prognamepsize={program_size},cwdsize=5")
            .as_bytes(),
    );
    line(&[b"PI|", program].concat());
    line(&[b"PP|", program].concat());
    line(b"CW|/proj");
    for (number, argument) in arguments.iter().enumerate() {
        line(&[format!("A[{number}]").as_bytes(), argument].concat());
    }
    line(b"End_of_args|");
    out
}

#[test]
fn a_line_of_100_mb_is_told_and_what_lies_around_it_is_shown() {
    let (shell, child) = (upid(1, 100), upid(2, 101));
    let mut text = b"INITCWD=/proj\n".to_vec();
    text.extend_from_slice(
        format!("0: {shell},0,5,1!SysClone|flags=17\n0: {shell},0,5,2!SchedFork|pid={child}\n")
            .as_bytes(),
    );
    text.extend(std::iter::repeat_n(b'x', 100 << 20));
    text.push(b'\n');
    text.extend(exec(child, 10, b"/bin/true", &[b"true"]));
    // A text that is as long belongs to a call all the same.
    text.extend_from_slice(
        format!("0: {child},0,5,20!Open|fnamesize=104857600,forigsize=1,flags=0,mode=0,fd=3\n0: {child},0,5,21!FN|")
            .as_bytes(),
    );
    text.extend(std::iter::repeat_n(b'y', 100 << 20));
    text.extend_from_slice(
        format!("\n0: {child},0,5,22!FO|y\n0: {child},0,5,30!Exit|status=0\n").as_bytes(),
    );
    let loaded = load_bytes(&text);
    let trace = &loaded.trace;
    let junk = trace
        .diagnostics
        .rows()
        .iter()
        .find(|row| row.code == "junk_line")
        .unwrap();
    assert_eq!((junk.count, junk.places[0]), (1, Location::Line(4)));
    assert!(junk.message.len() < 400);
    assert_eq!(trace.processes.len(), 2);
    assert_eq!(trace.processes[1].exit_status, Some(0));
    assert_eq!(trace.processes[1].images.len(), 1);
    let open = &trace.files.rows[0];
    assert_eq!(trace.strings.bytes(open.path).len(), 100 << 20);
}

#[test]
fn parents_in_a_circle_are_a_tree_all_the_same() {
    let (a, b, c) = (upid(1, 100), upid(2, 101), upid(3, 102));
    let text = format!(
        "INITCWD=/proj\n0: {a},0,5,1!SchedFork|pid={b}\n0: {b},0,5,2!SchedFork|pid={c}\n\
         0: {c},0,5,3!SchedFork|pid={a}\n0: {a},0,5,4!SchedFork|pid={a}\n0: {b},0,5,9!Exit|status=0\n"
    );
    let loaded = load_bytes(text.as_bytes());
    let times = ProcessTimes::new(&loaded.trace);
    let mut walked: Vec<u32> = times.tree.walk().iter().map(|row| row.id.0).collect();
    walked.sort_unstable();
    let all: Vec<u32> = (0..loaded.trace.processes.len() as u32).collect();
    assert_eq!(walked, all);
    for &id in &all {
        let path = times.path_to(&loaded.trace, ProcessId(id));
        assert_eq!(path.last(), Some(&ProcessId(id)));
        assert!(path.len() <= all.len());
    }
}

/// What an exporter writes.
fn exported(loaded: &LoadedTrace, name: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let exporter = export::find(name).unwrap();
    let selection = Selection::all();
    let job = Job::default();
    export::run(exporter, loaded, &selection, &path, Overwrite::Refuse, &job).unwrap();
    std::fs::read(&path).unwrap()
}

/// The bytes of a JSON string as Python's `surrogateescape` has them.
fn unescaped(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if let Some(hex) = rest.strip_prefix(b"\\udc") {
            let digits = std::str::from_utf8(&hex[..2]).unwrap();
            out.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &hex[2..];
        } else {
            out.push(first);
            rest = after;
        }
    }
    out
}

#[test]
fn names_that_are_no_text_are_shown_with_escapes_and_exported_exactly() {
    let (shell, child) = (upid(1, 100), upid(2, 101));
    let source = b"src/\xe4\xff.c";
    let mut text = format!("INITCWD=/proj\n0: {shell},0,5,1!SchedFork|pid={child}\n").into_bytes();
    text.extend(exec(child, 10, b"/opt/\xfe/gcc", &[b"gcc", b"-c", source]));
    text.extend_from_slice(
        format!("0: {child},0,5,20!Open|fnamesize=14,forigsize=14,flags=0,mode=0,fd=3\n0: {child},0,5,20!FN|/proj/")
            .as_bytes(),
    );
    text.extend_from_slice(source);
    text.extend_from_slice(format!("\n0: {child},0,5,20!FO|/proj/").as_bytes());
    text.extend_from_slice(source);
    text.extend_from_slice(format!("\n0: {child},0,5,30!Exit|status=0\n").as_bytes());
    let loaded = load_bytes(&text);
    let trace = &loaded.trace;
    assert_eq!(
        trace.text(trace.files.rows[0].path),
        "/proj/src/\\xe4\\xff.c"
    );
    assert_eq!(trace.diagnostics.count_of("size_differs"), 0);

    let has = |bytes: &[u8], wanted: &[u8]| memchr::memmem::find(bytes, wanted).is_some();
    let tree: serde_json::Value =
        serde_json::from_slice(&exported(&loaded, "process-tree-json")).unwrap();
    let argument = &tree[0]["children"][0]["programs"][0]["arguments"][2];
    assert_eq!(exact_bytes(argument.as_str().unwrap()), source);
    {
        let name = "compile-commands";
        let json = String::from_utf8(exported(&loaded, name)).unwrap();
        assert!(has(&unescaped(&json), source), "{name}: {json}");
        // It is JSON: a reader that does not know the escape stops at nothing else.
        let plain = json.replace("\\udc", "\\u00");
        let value: serde_json::Value = serde_json::from_str(&plain).unwrap();
        assert!(value.as_array().is_some_and(|all| !all.is_empty()));
    }
    let chosen = Chosen::new(trace, &Selection::all());
    for table in ["files", "file_uses", "processes", "process_times"] {
        let write = |format| {
            let mut out = Vec::new();
            let table = tables::find(table).unwrap();
            write_table(table, &loaded, &chosen, format, &mut out, &Job::default()).unwrap();
            out
        };
        let written = |format| String::from_utf8(write(format)).unwrap();
        assert!(
            written(RowFormat::Csv(Formulas::Kept)).contains("src/\\xe4\\xff.c"),
            "{table}"
        );
        for format in [RowFormat::Tsv, RowFormat::Json] {
            assert!(written(format).contains("src/\\\\xe4\\\\xff.c"), "{table}");
        }
    }
}

#[test]
fn the_tree_as_json_is_whole_and_nested() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("sample-traces/lua-make-j2.etrace.zst");
    let loaded = load::open(&path, &Job::default()).unwrap();
    let json: serde_json::Value =
        serde_json::from_slice(&exported(&loaded, "process-tree-json")).unwrap();
    fn count(node: &serde_json::Value) -> usize {
        1 + node["children"]
            .as_array()
            .unwrap()
            .iter()
            .map(count)
            .sum::<usize>()
    }
    let roots = json.as_array().unwrap();
    assert_eq!(
        roots.iter().map(count).sum::<usize>(),
        loaded.trace.processes.len()
    );
    assert_eq!(
        (roots.len(), roots[0]["before_trace"].as_bool()),
        (1, Some(true))
    );
    let make = &roots[0]["children"][0];
    assert_eq!(make["programs"][0]["arguments"][1], "-j2");
    assert_eq!(make["exit_status"], 0);
}

#[test]
fn recordings_of_the_tracer_of_2022_are_read() {
    // Its exits say no status, and some files have no instruction pointer before their lines.
    let (shell, child) = (upid(1, 100), upid(2, 101));
    for prefix in ["", "0: "] {
        let text = format!(
            "INITCWD=/proj\n{prefix}{shell},0,5,1!SchedFork|pid={child}\n{prefix}{child},1,5,90!Close|fd=99\n\
             {prefix}{child},1,6,7!Exit|\n"
        );
        let loaded = load_bytes(text.as_bytes());
        let process = &loaded.trace.processes[1];
        assert_eq!(process.end.map(|time| time.0), Some(6_000_000_007));
        assert_eq!((process.exit_status, process.exit_signal), (None, None));
        let problems = loaded.trace.diagnostics.rows().iter();
        let problems: Vec<_> = problems
            .filter(|row| row.severity != threadline::base::Severity::Info)
            .collect();
        assert!(problems.is_empty(), "{problems:?}");
    }
}

/// Lines of one task each: what follows the time.
fn lines(tasks: &[(i64, u32, &str)]) -> String {
    let mut text = String::from("INITCWD=/proj\n");
    for (upid, ns, bodies) in tasks {
        for body in bodies.split(' ') {
            text.push_str(&format!("0: {upid},0,5,{ns}!{body}\n"));
        }
    }
    text
}

/// (name, pid it starts at, pid it ends at) of each arrow, sorted.
fn arrows(loaded: &LoadedTrace) -> Vec<(String, u64, u64)> {
    let trace = &loaded.trace;
    let pid = |thread| trace.thread(thread).tid;
    let mut all: Vec<_> = trace
        .flows
        .rows
        .iter()
        .map(|flow| {
            assert!(flow.from.time <= flow.to.time);
            let name = trace.text(flow.name).into_owned();
            (name, pid(flow.from.thread), pid(flow.to.thread))
        })
        .filter(|arrow| arrow.0 != "fork")
        .collect();
    all.sort();
    all
}

#[test]
fn a_file_is_followed_over_renames_and_links() {
    let [shell, gcc, mv, ld, ln, strip] =
        [1, 2, 3, 4, 5, 6].map(|serial| upid(serial, 99 + serial));
    let mut text = lines(&[(
        shell,
        1,
        &[gcc, mv, ld, ln, strip]
            .map(|child| format!("SchedFork|pid={child}"))
            .join(" "),
    )]);
    let body = lines(&[
        (
            gcc,
            10,
            "Open|fnamesize=7,forigsize=7,flags=577,mode=420,fd=3 FN|/p/a.tm FO|/p/a.tm Close|fd=3 Exit|status=0",
        ),
        (
            mv,
            20,
            "RenameFrom|fnamesize=7 RF|/p/a.tm RenameTo|fnamesize=6 RT|/p/a.o",
        ),
        // One that fails renames nothing.
        (mv, 21, "RenameFrom|fnamesize=6 RF|/p/a.o RenameFailed|"),
        (
            ld,
            30,
            "Open|fnamesize=6,forigsize=6,flags=0,mode=0,fd=3 FN|/p/a.o FO|/p/a.o",
        ),
        (
            ln,
            40,
            "LinkatFrom|fnamesize=6,flags=0 LF|/p/a.o LinkTo|fnamesize=6 LT|/p/b.o",
        ),
        (
            strip,
            50,
            "Open|fnamesize=6,forigsize=6,flags=0,mode=0,fd=4 FN|/p/b.o FO|/p/b.o",
        ),
    ]);
    text.push_str(body.split_once('\n').unwrap().1);
    let loaded = load_bytes(text.as_bytes());
    let of = |name: &str, from, to| (name.to_owned(), from, to);
    // 100 is the shell, then gcc, mv, ld, ln and strip.
    let expected = [
        of("file", 101, 103),
        of("file", 101, 105),
        of("file", 102, 103),
        of("file", 102, 105),
        of("file", 104, 105),
        of("link", 101, 104),
        of("link", 102, 104),
        of("rename", 101, 102),
    ];
    assert_eq!(arrows(&loaded), expected);
}

#[test]
fn packed_part_files_open_as_one_recording() {
    let (shell, child) = (upid(1, 100), upid(2, 101));
    let zero =
        format!("0: {shell},0,5,10!SchedFork|pid={child}\n0: {child},0,5,30!Exit|status=3\n");
    let one = format!("0: {child},1,5,20!Close|fd=3\n0: {shell},1,5,40!Exit|status=0\n");
    let gzip = |text: &str| {
        use std::io::Write;
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(text.as_bytes()).unwrap();
        packer.finish().unwrap()
    };
    let zstd = |text: &str| zstd::encode_all(text.as_bytes(), 3).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for packed in [
        [gzip(&zero), gzip(&one)],
        [zstd(&zero), one.clone().into_bytes()],
    ] {
        let paths = ["nfsdb_part_0", "nfsdb_part_1"].map(|name| folder.path().join(name));
        for (path, bytes) in paths.iter().zip(&packed) {
            std::fs::write(path, bytes).unwrap();
        }
        let loaded =
            load::together::open_together(&paths, &[], &[], &Job::default(), None).unwrap();
        let trace = &loaded.trace;
        assert!(trace.sources.is_empty(), "one recording, not two");
        assert_eq!((trace.events.len(), trace.processes.len()), (4, 2));
        assert_eq!(trace.processes[1].exit_status, Some(3));
    }
}

#[test]
fn etrace_lines_among_other_events_of_a_text_are_calls() {
    let (shell, child) = (upid(1, 100), upid(2, 101));
    let mut text = String::from("# tracer: nop\n");
    for at in 0..20 {
        text.push_str(&format!(
            "              sh-100   [000] d..2. 5.0000{at:02}: sched_waking: comm=x pid=7 prio=120 target_cpu=000\n"
        ));
    }
    // As trace_pipe prints them, and as trace-cmd report does.
    text.push_str(&format!(
        "              sh-100   [000] ..... 5.000100: 0: {shell},0,77,1!SysClone|flags=17\n\
                       sh-100   [000] ..... 5.000101: 0: {shell},0,77,2!SchedFork|pid={child}\n\
                       sh-101   [001] ..... 5.000200: print: 0x0: {child},1,77,3!New_proc|argsize=6,prognameisize=9,prognamepsize=9,cwdsize=2\n"
    ));
    for body in [
        "PI|/bin/echo",
        "PP|/bin/echo",
        "CW|/p",
        "A[0]echo",
        "A[1]",
        "End_of_args|",
    ] {
        text.push_str(&format!(
            "  sh-101   [001] ..... 5.000201: print: 0x0: {child},1,77,4!{body}\n"
        ));
    }
    text.push_str(&format!(
        "  echo-101   [001] ..... 5.000300: 0: {child},1,77,5!Exit|status=4\n"
    ));
    let loaded = load_bytes(text.as_bytes());
    let trace = &loaded.trace;
    assert_eq!(trace.info.format, "ftrace text");
    assert_eq!(trace.diagnostics.count_of("unknown_line"), 0);
    let process = trace.processes.iter().find(|it| it.pid == 101).unwrap();
    let parent = process
        .parent
        .and_then(|id| trace.processes.get(id.0 as usize));
    assert_eq!(parent.map(|it| it.pid), Some(100));
    assert_eq!(process.exit_status, Some(4));
    let image = &process.images[0];
    assert_eq!(trace.text(image.program), "/bin/echo");
    // Times are the text's own: the tracer's clock is another one.
    assert_eq!(process.end.map(|time| time.0), Some(5_000_300_000));
    let slices: Vec<String> = (0..trace.slices.len() as u32)
        .map(|id| trace.slices.label(threadline::trace::SliceId(id)).name)
        .map(|name| trace.text(name).into_owned())
        .collect();
    assert!(slices.contains(&"echo".to_owned()), "{slices:?}");
}

#[test]
fn paths_of_strace_are_whole_where_it_tells_the_directory() {
    let text = "\
100 1.000001 chdir(\"/proj\") = 0 <0.000001>\n\
100 1.000010 clone(child_stack=NULL, flags=SIGCHLD) = 101 <0.000001>\n\
101 1.000020 chdir(\"src\") = 0 <0.000001>\n\
101 1.000021 chdir(\"nowhere\") = -1 ENOENT (No such file or directory) <0.000001>\n\
101 1.000022 execve(\"/bin/cc\", [\"cc\", \"a.c\"], 0x7ffc /* 9 vars */) = 0 <0.000001>\n\
101 1.000030 openat(AT_FDCWD, \"../out/a.o\", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3 <0.000001>\n\
101 1.000040 close(3) = 0 <0.000001>\n\
101 1.000050 rename(\"../out/a.o\", \"./b.o\") = 0 <0.000001>\n\
101 1.000060 symlink(\"b.o\", \"/proj/src/c.o\") = 0 <0.000001>\n\
101 1.000070 renameat2(AT_FDCWD</tmp>, \"x\", 4</var>, \"y\", 0) = 0 <0.000001>\n\
101 1.000080 +++ exited with 0 +++\n\
100 1.000090 open(\"src/b.o\", O_RDONLY) = 3 <0.000001>\n\
100 1.000100 +++ exited with 0 +++\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.strace");
    std::fs::write(&path, text).unwrap();
    let loaded = load::open(&path, &Job::default()).unwrap();
    let trace = &loaded.trace;
    let paths: Vec<(String, String)> = trace
        .files
        .rows
        .iter()
        .filter(|row| row.path != threadline::base::StringId::EMPTY)
        .map(|row| {
            (
                trace.text(row.path).into_owned(),
                trace.text(row.other_path).into_owned(),
            )
        })
        .collect();
    let of = |path: &str, other: &str| (path.to_owned(), other.to_owned());
    let expected = [
        of("/proj/out/a.o", "../out/a.o"),
        of("/proj/out/a.o", "/proj/src/b.o"),
        of("/proj/src/b.o", "/proj/src/c.o"),
        of("/tmp/x", "/var/y"),
        of("/proj/src/b.o", "src/b.o"),
    ];
    assert_eq!(paths, expected);
    assert!(arrows(&loaded).contains(&("file".to_owned(), 101, 100)));
    let image = trace
        .processes
        .iter()
        .flat_map(|process| &process.images)
        .next()
        .unwrap();
    assert_eq!(trace.text(image.directory), "/proj/src");
}

#[test]
fn paths_of_strace_count_from_numbered_descriptors() {
    let text = "\
100 1.000001 openat(AT_FDCWD, \"/proj\", O_RDONLY|O_DIRECTORY) = 3 <0.000001>\n\
100 1.000002 openat(3, \"src\", O_RDONLY|O_DIRECTORY|O_CLOEXEC) = 4 <0.000001>\n\
100 1.000003 dup2(4, 9) = 9 <0.000001>\n\
100 1.000004 clone(child_stack=NULL, flags=SIGCHLD) = 101 <0.000001>\n\
100 1.000005 close(3) = 0 <0.000001>\n\
100 1.000006 openat(3, \"gone\", O_RDONLY) = 5 <0.000001>\n\
101 1.000007 openat(4, \"a.c\", O_RDONLY) = 5 <0.000001>\n\
101 1.000008 execve(\"/bin/cc\", [\"cc\"], 0x7ffc /* 9 vars */) = 0 <0.000001>\n\
101 1.000009 openat(4, \"b.c\", O_RDONLY) = 4 <0.000001>\n\
101 1.000010 renameat(9, \"../x\", 3, \"y\") = 0 <0.000001>\n\
101 1.000011 fchdir(9) = 0 <0.000001>\n\
101 1.000012 open(\"c.c\", O_RDONLY) = 6 <0.000001>\n\
101 1.000013 fchdir(77) = 0 <0.000001>\n\
101 1.000014 open(\"d.c\", O_RDONLY) = 6 <0.000001>\n\
101 1.000080 +++ exited with 0 +++\n\
100 1.000100 +++ exited with 0 +++\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.strace");
    std::fs::write(&path, text).unwrap();
    let loaded = load::open(&path, &Job::default()).unwrap();
    let trace = &loaded.trace;
    let rows = trace.files.rows.iter();
    let paths: Vec<(String, String)> = rows
        .filter(|row| row.path != threadline::base::StringId::EMPTY)
        .map(|row| (row.path, row.other_path))
        .map(|(path, other)| {
            (
                trace.text(path).into_owned(),
                trace.text(other).into_owned(),
            )
        })
        .collect();
    let of = |path: &str, other: &str| (path.to_owned(), other.to_owned());
    let expected = [
        of("/proj", ""),
        of("/proj/src", "src"),
        // What is not known is not guessed.
        of("/proc/self/fd/3/gone", "gone"),
        of("/proj/src/a.c", "a.c"),
        of("/proc/self/fd/4/b.c", "b.c"),
        of("/proj/x", "/proj/y"),
        of("/proj/src/c.c", "c.c"),
        of("d.c", ""),
    ];
    assert_eq!(paths, expected);
}

#[test]
fn a_writer_is_done_when_its_last_descriptor_is_closed() {
    let [shell, reader] = [1, 2].map(|serial| upid(serial, 99 + serial));
    let open = |fd: u32, flags: u32| {
        format!("Open|fnamesize=2,forigsize=2,flags={flags},mode=438,fd={fd} FN|/x FO|/x")
    };
    // A shell redirects its output before it runs a program: until that exits, or closes it.
    for (last, at) in [("Close|fd=1", 60), ("Close|fd=9", 80)] {
        let mut text = lines(&[
            (shell, 10, &open(3, 0o1101)),
            (shell, 20, "Dup|oldfd=3,newfd=1,flags=0"),
            (shell, 30, "Close|fd=3"),
            (shell, 60, last),
            (shell, 80, "Exit|status=0"),
            (reader, 90, &open(3, 0)),
        ]);
        text.push_str(&format!("0: {reader},0,5,99!Exit|status=0\n"));
        let loaded = load_bytes(text.as_bytes());
        let history = FileHistory::new(&loaded.trace);
        assert_eq!(history.dependencies.len(), 1);
        assert_eq!(
            history.dependencies[0].from.time.0 % 1_000_000_000,
            at,
            "{last}"
        );
    }
}

#[test]
fn a_file_is_open_until_nobody_has_a_descriptor_of_it() {
    let [shell, cat] = [1, 2].map(|serial| upid(serial, 99 + serial));
    let open = |fd: u32, flags: u32, name: &str| {
        format!("Open|fnamesize=2,forigsize=2,flags={flags},mode=0,fd={fd} FN|{name} FO|{name}")
    };
    let program = "New_proc|argsize=2,prognameisize=2,prognamepsize=2,cwdsize=1 PI|/b PP|/b CW|/ A[0]b End_of_args|";
    let mut text = lines(&[
        (shell, 10, &open(3, 0, "/x")),
        (shell, 11, &open(5, 0o2_000_000, "/y")),
        (shell, 20, "Dup|oldfd=3,newfd=4,flags=0"),
        (shell, 30, &format!("SchedFork|pid={cat}")),
        (shell, 40, "Close|fd=3 Close|fd=5"),
        (shell, 50, "Close|fd=4"),
        // The child has all of them; its program has no longer the one that is closed on exec.
        (cat, 55, program),
        (cat, 60, "Close|fd=4"),
        (cat, 70, "Exit|status=0"),
    ]);
    text.push_str(&format!("0: {shell},0,5,80!Exit|status=0\n"));
    let loaded = load_bytes(text.as_bytes());
    let trace = &loaded.trace;
    let mut spans: Vec<(String, i64, Option<i64>)> = (0..trace.slices.len() as u32)
        .map(threadline::trace::SliceId)
        .filter(|&id| trace.text(trace.slices.label(id).category) == "open files")
        .map(|id| {
            let slice = trace.slices.get(id);
            let name = trace.text(trace.slices.label(id).name).into_owned();
            (name, slice.start.0 % 100, slice.end.map(|end| end.0 % 100))
        })
        .collect();
    spans.sort();
    let expected = [
        ("/x".to_owned(), 10, Some(70)),
        ("/y".to_owned(), 11, Some(55)),
    ];
    assert_eq!(spans, expected);
}

#[test]
fn pipes_lead_from_their_writers_to_their_readers() {
    let [shell, left, right] = [1, 2, 3].map(|serial| upid(serial, 99 + serial));
    let text = lines(&[
        (shell, 1, "Pipe|fd1=3,fd2=4,flags=0"),
        (
            shell,
            2,
            &format!("SchedFork|pid={left} SchedFork|pid={right}"),
        ),
        (shell, 3, "Close|fd=3 Close|fd=4"),
        (
            left,
            10,
            "Dup|oldfd=4,newfd=1,flags=0 Close|fd=3 Close|fd=4",
        ),
        (
            right,
            11,
            "Dup|oldfd=3,newfd=0,flags=0 Close|fd=3 Close|fd=4",
        ),
        (left, 20, "Exit|status=0"),
        (right, 30, "Exit|status=1"),
    ]);
    let loaded = load_bytes(text.as_bytes());
    assert_eq!(arrows(&loaded), [("pipe".to_owned(), 101, 102)]);
}

#[test]
fn losses_among_other_events_of_a_text_are_counted_and_told() {
    let (shell, child) = (upid(1, 100), upid(2, 101));
    let mut text = String::from("# tracer: nop\n");
    for at in 0..20 {
        text.push_str(&format!(
            "              sh-100   [000] d..2. 5.0000{at:02}: sched_waking: comm=x pid=7 prio=120 target_cpu=000\n"
        ));
    }
    let plain = text.clone();
    text.push_str(&format!(
        "              sh-100   [000] ..... 5.000100: 0: {shell},0,77,1!SysClone|flags=17\n\
         CPU:0 [LOST 45 EVENTS]\n\
         CPU:1 [LOST 5 EVENTS]\n\
                       sh-100   [000] ..... 5.000101: 0: {shell},0,77,2!SchedFork|pid={child}\n\
                       sh-101   [001] ..... 5.000200: 0: {child},1,77,3!Exit|status=0\n"
    ));
    let loaded = load_bytes(text.as_bytes());
    assert_eq!(loaded.trace.lost_events(), 50);
    assert_eq!(loaded.trace.diagnostics.count_of("lost_events"), 50);
    let row = (loaded.trace.diagnostics.rows().iter())
        .find(|row| row.code == "lost_events")
        .unwrap();
    assert_eq!(row.places.len(), 2);
    assert_eq!(row.places[0].to_string(), "line 23");
    // The fork behind the loss need not be the one of the call before it.
    let made = loaded.trace.processes.iter().find(|it| it.pid == 101);
    assert_eq!(
        made.unwrap().made,
        Some(threadline::event::ForkSort::Unknown)
    );
    // The same without lines of etrace.
    let plain = format!(
        "{plain}CPU:0 [LOST 7 EVENTS]\n  x-7 [000] d..2. 6.000000: sched_waking: comm=x pid=7 prio=120 target_cpu=000\n"
    );
    let trace = load_bytes(plain.as_bytes()).trace;
    assert_eq!(trace.diagnostics.count_of("lost_events"), 7);
}
