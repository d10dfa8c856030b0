//! Which file a name means in a traced build: links that are replaced, names that go over to other files, children that
//! go on with an open file, and paths that are the same though they are not written so.

use crate::recorder::{Recorder, dependencies, load, load_as, pairs};
use threadline::assemble::file_history::{FileHistory, FileId};
use threadline::base::Job;
use threadline::event::FileOp;
use threadline::load::LoadedTrace;
use threadline::query::files::{FileList, Kinship};
use threadline::trace::{EventId, Trace};

/// The file of each successful row that has one, with the path that the row says.
fn files_of_rows(trace: &Trace) -> Vec<(String, FileId)> {
    let history = FileHistory::new(trace);
    let rows = trace.files.rows.iter().zip(&history.of_row);
    rows.filter_map(|(row, file)| Some((trace.text(row.path).into_owned(), (*file)?)))
        .collect()
}

fn names(trace: &Trace) -> Vec<String> {
    let history = FileHistory::new(trace);
    let names = (0..history.files.len() as u32).map(|id| history.name(FileId(id)));
    names.map(|name| trace.text(name).into_owned()).collect()
}

#[test]
fn a_file_in_place_of_a_symbolic_link_is_not_what_the_link_led_to() {
    let mut r = Recorder::new();
    r.run(2, "/b/gen", &["gen"], |r, it| r.write(it, "/w/target"));
    r.run(3, "/b/ln", &["ln"], |r, it| {
        r.symlink(it, "/w/target", "/w/link");
    });
    r.run(4, "/b/through", &["through"], |r, it| {
        r.open_as(it, b"/w/target", b"/w/link", 0, 3);
    });
    // Somebody deletes the link, which no line tells, and writes a file there.
    r.run(5, "/b/cc", &["cc"], |r, it| r.write(it, "/w/link"));
    r.run(6, "/b/ld", &["ld"], |r, it| r.read(it, "/w/link"));
    r.run(7, "/b/cat", &["cat"], |r, it| r.read(it, "/w/target"));
    let loaded = load(&r);
    let trace = &loaded.trace;
    assert_eq!(
        dependencies(trace),
        pairs(&[
            ["gen", "ln"],
            ["ln", "through"],
            ["gen", "through"],
            ["cc", "ld"],
            ["gen", "cat"]
        ])
    );
    let list = FileList::new(trace, &Job::default()).unwrap();
    let [link, target] = [&b"/w/link"[..], b"/w/target"].map(|path| list.find(trace, path));
    assert_ne!(link, target);
    assert_eq!(list.summaries[target.unwrap().0 as usize].writes, 1);
}

#[test]
fn a_link_that_is_renamed_or_replaced_leaves_its_name() {
    let mut r = Recorder::new();
    r.run(2, "/b/gen", &["gen"], |r, it| r.write(it, "/w/target"));
    r.run(3, "/b/ln", &["ln"], |r, it| {
        r.symlink(it, "/w/target", "/w/link");
        r.rename(it, "/w/link", "/w/moved");
        r.symlink(it, "/w/target", "/w/other");
        // A folder goes elsewhere with the link in it.
        r.symlink(it, "/w/target", "/w/a/in");
        r.rename(it, "/w/a", "/w/b");
    });
    r.run(4, "/b/cc", &["cc"], |r, it| {
        r.write(it, "/w/link");
        r.write(it, "/w/new");
        r.rename(it, "/w/new", "/w/other");
        r.write(it, "/w/b/in");
        r.write(it, "/w/a/in");
    });
    let loaded = load(&r);
    let rows = files_of_rows(&loaded.trace);
    let of = |path: &str| rows.iter().rev().find(|row| row.0 == path).unwrap().1;
    let all = ["/w/target", "/w/link", "/w/new", "/w/b/in", "/w/a/in"].map(of);
    for (at, file) in all.iter().enumerate() {
        assert!(!all[..at].contains(file), "{at}: {all:?}");
    }
}

#[test]
fn links_of_strace_lead_to_their_files_until_they_are_deleted() {
    let text = "7 10:00:00.000001 openat(AT_FDCWD, \"/w/t\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3\n\
        7 10:00:00.000002 symlink(\"/w/t\", \"/w/l\") = 0\n\
        8 10:00:00.000003 openat(AT_FDCWD, \"/w/l\", O_RDONLY) = 3\n\
        7 10:00:00.000004 unlink(\"/w/l\") = 0\n\
        9 10:00:00.000005 openat(AT_FDCWD, \"/w/l\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3\n\
        8 10:00:00.000006 openat(AT_FDCWD, \"/w/l\", O_RDONLY) = 4\n";
    let loaded = load_as("links.strace", text.as_bytes());
    let trace = &loaded.trace;
    let files: Vec<u32> = (files_of_rows(trace).iter()).map(|row| row.1.0).collect();
    assert_eq!(files, [0, 0, 0, 0, 1, 1]);
    let history = FileHistory::new(trace);
    let writers: Vec<u64> = (history.dependencies.iter())
        .map(|it| trace.processes[it.writer.0 as usize].pid)
        .collect();
    // The link's maker is the target's writer, told once; of the file behind it there is another.
    assert_eq!(writers, [7, 7, 9]);
}

#[test]
fn files_are_called_by_the_names_that_they_have() {
    let mut r = Recorder::new();
    r.run(2, "/b/cc", &["cc"], |r, it| {
        r.write(it, "/w/a.o");
        r.write(it, "/w/lib.so.1");
        r.link(it, "/w/lib.so.1", "/w/lib.so");
    });
    r.run(3, "/b/cc", &["cc"], |r, it| {
        r.write(it, "/w/tmp1");
        r.rename(it, "/w/tmp1", "/w/a.o");
        r.write(it, "/w/tmp2");
        r.rename(it, "/w/tmp2", "/w/lib.so.1");
    });
    r.run(4, "/b/ld", &["ld"], |r, it| {
        r.read(it, "/w/a.o");
        r.write(it, "/w/prog");
    });
    r.run(5, "/b/mv", &["mv"], |r, it| {
        r.rename(it, "/w/a.o", "/w/old.o");
    });
    let loaded = load(&r);
    let trace = &loaded.trace;
    // The first a.o is nowhere any more, and the first library only the link.
    assert_eq!(
        names(trace),
        ["/w/a.o", "/w/lib.so", "/w/old.o", "/w/lib.so.1", "/w/prog"]
    );
    let list = FileList::new(trace, &Job::default()).unwrap();
    let gone: Vec<bool> = list.history.files.iter().map(|file| file.is_gone).collect();
    assert_eq!(gone, [true, false, false, false, false]);
    assert_eq!(list.find(trace, b"/w/lib.so.1"), Some(FileId(3)));
    assert_eq!(list.find(trace, b"/w/lib.so"), Some(FileId(1)));
    // What went into the program was called a.o then.
    let prog = list.find(trace, b"/w/prog").unwrap();
    let relatives = list
        .relatives(trace, prog, Kinship::WentInto, &Job::default())
        .unwrap()
        .files;
    let used: Vec<_> = (relatives.iter())
        .map(|it| (it.file, trace.text(it.name(trace)).into_owned()))
        .collect();
    assert_eq!(used, [(FileId(2), "/w/a.o".to_owned())]);
}

#[test]
fn of_two_files_of_one_name_the_present_one_is_found() {
    let mut r = Recorder::new();
    r.run(2, "/b/cc", &["cc"], |r, it| {
        r.write(it, "/w/tmp");
        r.read(it, "/w/a.o");
        r.rename(it, "/w/tmp", "/w/a.o");
    });
    let loaded = load(&r);
    let trace = &loaded.trace;
    let list = FileList::new(trace, &Job::default()).unwrap();
    assert_eq!(names(trace), ["/w/a.o", "/w/a.o"]);
    assert_eq!(list.find(trace, b"/w/a.o"), Some(FileId(0)));
}

#[test]
fn a_file_has_one_path_however_it_was_said() {
    let mut r = Recorder::new();
    r.run(2, "/b/cc", &["cc"], |r, it| {
        r.write(it, "/w/x.tmp");
        r.rename(it, "/w/./x.tmp", "/w/sub/..//x.o");
        r.symlink(it, "/w/x.o", "/w/./latest");
    });
    r.run(3, "/b/ld", &["ld"], |r, it| {
        r.open_as(it, b"/w/x.o", b"/w/a/../latest", 0, 3);
    });
    let loaded = load(&r);
    let trace = &loaded.trace;
    assert_eq!(names(trace), ["/w/x.o"]);
    let history = FileHistory::new(trace);
    let by: Vec<_> = (history.dependencies.iter())
        .map(|it| trace.text(trace.files.rows[it.write as usize].other_path))
        .collect();
    assert!(by.contains(&"/w/latest".into()), "{by:?}");
    // The line itself is shown as it is, and so is what a program said.
    let told = |op: FileOp| {
        let row = trace.files.rows.iter().rev().find(|row| row.op == op);
        let event = trace.events.get(row.unwrap().event);
        loaded.reader.describe(event.into()).line()
    };
    assert!(told(FileOp::Rename).contains("/w/sub/..//x.o"));
    assert!(told(FileOp::Open).contains("/w/a/../latest"));
    let said = trace
        .files
        .rows
        .iter()
        .rev()
        .find(|row| row.op == FileOp::Open);
    assert_eq!(trace.text(said.unwrap().other_path), "/w/a/../latest");
}

#[test]
fn paths_of_strace_are_one_however_they_were_said() {
    let mut text = String::new();
    for path in [
        "/a/b",
        "/a/./b",
        "/a//b",
        "/a/c/../b",
        "/a/b/",
        "../a/b",
        "./c/../b",
    ] {
        text.push_str(&format!(
            "7 10:00:00.000001 openat(AT_FDCWD, \"{path}\", O_RDONLY) = 3\n"
        ));
    }
    let known = format!("7 10:00:00.000000 chdir(\"/a\") = 0\n{text}");
    let loaded = load_as("known.strace", known.as_bytes());
    assert_eq!(names(&loaded.trace), ["/a/b"]);
    let rows = &loaded.trace.files.rows;
    let said: Vec<_> = rows
        .iter()
        .map(|row| loaded.trace.text(row.other_path))
        .collect();
    assert_eq!(
        said,
        [
            "",
            "/a/./b",
            "/a//b",
            "/a/c/../b",
            "/a/b/",
            "../a/b",
            "./c/../b"
        ]
    );
    // Where nobody knows where it is, what is relative stays so.
    let loaded = load_as("unknown.strace", text.as_bytes());
    assert_eq!(names(&loaded.trace), ["/a/b", "../a/b", "b"]);
}

#[test]
fn children_read_what_they_are_given_as_their_input() {
    let mut r = Recorder::new();
    r.run(2, "/b/gen", &["gen"], |r, it| r.write(it, "/w/in"));
    let shell = r.shell;
    let py = r.fork(shell, 3);
    r.exec(py, "/b/python", &["python"]);
    r.open(py, b"/w/in", 0o2_000_000, 3);
    // One child is given it as its standard input, another only has it.
    let cat = r.fork(py, 4);
    r.dup(cat, 3, 0);
    r.exec(cat, "/b/cat", &["cat"]);
    r.write(cat, "/w/out");
    let cc = r.fork(py, 5);
    r.exec(cc, "/b/cc", &["cc"]);
    r.write(cc, "/w/a.o");
    r.close(py, 3);
    r.exit(cc, 0);
    r.wait_ms(50);
    r.exit(cat, 0);
    // { wc; cc; } < in: the shell's own standard input; wc closes it when it has read it.
    let sh = r.fork(shell, 6);
    r.exec(sh, "/b/sh", &["sh"]);
    r.open(sh, b"/w/in", 0, 3);
    r.dup(sh, 3, 0);
    r.close(sh, 3);
    let wc = r.fork(sh, 7);
    r.exec(wc, "/b/wc", &["wc"]);
    r.close(wc, 0);
    r.write(wc, "/w/count");
    r.exit(wc, 0);
    let other = r.fork(sh, 8);
    r.exec(other, "/b/cc", &["cc"]);
    r.write(other, "/w/b.o");
    r.exit(other, 0);
    r.exit(sh, 0);
    let loaded = load(&r);
    let trace = &loaded.trace;
    assert_eq!(
        dependencies(trace),
        pairs(&[
            ["gen", "python"],
            ["gen", "cat"],
            ["gen", "sh"],
            ["gen", "wc"]
        ])
    );
    let list = FileList::new(trace, &Job::default()).unwrap();
    let file = list.find(trace, b"/w/in").unwrap();
    assert_eq!(list.summaries[file.0 as usize].reads, 4);
    let uses = (0..list.use_count(file)).filter_map(|at| list.use_at(trace, file, at));
    let inherited: Vec<u64> = uses
        .filter(|it| it.word == "read (inherited)")
        .map(|it| trace.processes[it.process.unwrap().0 as usize].pid)
        .collect();
    assert_eq!(inherited, [4, 7]);
    let made = list
        .relatives(trace, file, Kinship::MadeFrom, &Job::default())
        .unwrap()
        .files;
    let mut made: Vec<_> = made.iter().map(|it| trace.text(it.name(trace))).collect();
    made.sort();
    assert_eq!(made, ["/w/count", "/w/out"]);
    let out = list.find(trace, b"/w/out").unwrap();
    let inputs = list
        .relatives(trace, out, Kinship::WentInto, &Job::default())
        .unwrap()
        .files;
    let inputs: Vec<_> = inputs.iter().map(|it| it.file).collect();
    assert_eq!(inputs, [file]);
}

/// The lines of a recording as `trace_pipe` prints them, with other events among them, and with these line ends.
fn among_events(r: &Recorder, line_end: &str) -> Vec<u8> {
    let mut out = format!("# tracer: nop{line_end}#{line_end}").into_bytes();
    let lines = r.text.split(|&byte| byte == b'\n').skip(1);
    for (at, line) in lines.filter(|line| !line.is_empty()).enumerate() {
        let pid = match at {
            0 | 1 => 1000,
            _ => 1001,
        };
        let head = format!("  sh-{pid}  [000] ..... 5.{:06}: ", at * 10);
        out.extend_from_slice(&[head.as_bytes(), line, line_end.as_bytes()].concat());
        let other = "sched_waking: comm=x pid=7 prio=120 target_cpu=000";
        let other = format!("  sh-{pid}  [000] d..2. 5.{:06}: {other}", at * 10 + 1);
        out.extend_from_slice(&[other.as_bytes(), line_end.as_bytes()].concat());
    }
    out
}

#[test]
fn names_inside_other_recordings_end_as_they_do() {
    let mut r = Recorder::new();
    r.run(
        1001,
        "/b/cut",
        &["cut", "-d", " ", "tail  ", "t\t"],
        |r, it| {
            r.open(it, b"/w/name ", 0, 3);
            r.open(it, b"/w/name\r", 0, 3);
            r.open(it, b"/w/name", 0, 3);
        },
    );
    let child = (2 << 22) | 1001;
    r.call(0, &format!("UPID|{child}"));
    r.call(0, "Env[0]HOME=/root ");
    r.call(0, "Env[0]MULTI=a");
    r.call(0, "Cont|b");
    r.line(0, b"Cont_end|0: 0,0,5,99!Env[1]rest");
    let told = |loaded: &LoadedTrace| {
        let trace = &loaded.trace;
        let ran = trace.processes.iter().find(|it| !it.images.is_empty());
        let it = ran.unwrap();
        let texts = |ids: &[_]| -> Vec<String> {
            let texts = ids.iter().map(|&id| trace.text(id).into_owned());
            texts.collect()
        };
        let arguments = texts(&it.images[0].arguments);
        (arguments, names(trace), texts(&trace.environment(it)))
    };
    let expected = told(&load(&r));
    assert_eq!(expected.0, ["cut", "-d", " ", "tail  ", "t\t"]);
    assert_eq!(expected.1, ["/w/name ", "/w/name\r", "/w/name"]);
    assert_eq!(expected.2, ["HOME=/root ", "MULTI=a\nbrest"]);
    for line_end in ["\n", "\r\n"] {
        let loaded = load_as("pipe.txt", &among_events(&r, line_end));
        assert_eq!(told(&loaded), expected, "{line_end:?}");
        assert_eq!(loaded.trace.diagnostics.count_of("size_differs"), 0);
    }
    // The same as print events of a trace.dat.
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = path.join("tests/golden/etrace/blanks.dat");
    let loaded = threadline::load::open(&path, &Job::default()).unwrap();
    assert_eq!(told(&loaded), expected);
    // An event goes on behind the line whose end the tracer forgot.
    for loaded in [loaded, load(&r)] {
        let events = (0..loaded.trace.events.len() as u32).map(EventId);
        let told = events.map(|id| loaded.reader.describe(loaded.trace.events.get(id).into()));
        let mut told = told.filter(|detail| detail.name == "Env");
        let last = told.next_back().unwrap();
        assert!(last.text.starts_with("MULTI=a"), "{}", last.text);
        assert!(last.text.ends_with("brest"), "{}", last.text);
    }
}

#[test]
fn what_is_wrong_inside_other_recordings_is_told_where_it_is() {
    let mut r = Recorder::new();
    r.run(1001, "/b/cut", &["cut"], |r, it| {
        r.call(it, "Open|fnamesize=9,forigsize=4,flags=0,mode=0,fd=3");
        r.line(it, b"FN|/w/a");
        r.line(it, b"FO|/w/a");
        r.call(it, "Open|fnamesize=4,forigsize=4,flags=0,mode=0,fd=3");
    });
    let text = among_events(&r, "\n");
    // What was lost between a call and its texts counts here too.
    let mut text = String::from_utf8(text).unwrap();
    let size = text.len();
    text.insert_str(
        text.rfind("  sh-1001  [000] .....").unwrap(),
        "CPU:0 [LOST EVENTS]\n",
    );
    assert!(text.len() > size);
    let loaded = load_as("pipe.txt", text.as_bytes());
    let place = |code| {
        let rows = loaded.trace.diagnostics.rows();
        let row = rows.iter().find(|row| row.code == code).unwrap();
        row.places[0].to_string()
    };
    let line = |wanted: &str| {
        let at = text.lines().position(|line| line.contains(wanted)).unwrap();
        format!("line {}", at + 1)
    };
    assert_eq!(place("size_differs"), line("fnamesize=9"));
    assert_eq!(place("incomplete_call"), line("fnamesize=4"));
}
