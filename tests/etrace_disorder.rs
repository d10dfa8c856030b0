//! Recordings of builds whose lines are out of order, cut, lost, or end as another system ends lines.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/recorder.rs"]
mod recorder;

use recorder::Recorder;
use threadline::base::Job;
use threadline::export::{self, Overwrite, Selection};
use threadline::load::{self, LoadedTrace};
use threadline::query::process_times::{ProcessTimes, arguments_of, program_of};
use threadline::query::programs::programs;
use threadline::trace::file_history::word_of;
use threadline::trace::{Process, ProcessId, Trace};

fn load(text: &[u8]) -> LoadedTrace {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.etrace");
    std::fs::write(&path, text).unwrap();
    load::open(&path, &Job::default()).unwrap()
}

fn process(trace: &Trace, pid: u64) -> (ProcessId, &Process) {
    let at = trace.processes.iter().position(|it| it.pid == pid).unwrap();
    (ProcessId(at as u32), &trace.processes[at])
}

fn codes(trace: &Trace) -> Vec<&'static str> {
    trace.diagnostics.rows().iter().map(|it| it.code).collect()
}

fn one_program() -> Recorder {
    let mut r = Recorder::new();
    let shell = r.shell;
    let child = r.fork(shell, 1001);
    r.exec(child, "/b/p", &["p", "q", "r"]);
    r.write(child, "/w/o");
    r.call(child, "Exit|status=0");
    r.call(shell, "Exit|status=0");
    r
}

#[test]
fn lines_of_a_task_are_joined_by_their_times() {
    let whole = one_program();
    let lines: Vec<&[u8]> = whole.text.split_inclusive(|&byte| byte == b'\n').collect();
    // Behind INITCWD any two neighbours may have changed places.
    for at in 1..lines.len() - 1 {
        let mut swapped = lines.clone();
        swapped.swap(at, at + 1);
        let loaded = load(&swapped.concat());
        let trace = &loaded.trace;
        let (id, _) = process(trace, 1001);
        assert_eq!(arguments_of(trace, id), "p q r", "line {at}");
        let writes = trace.files.rows.iter();
        let paths: Vec<_> = writes.map(|row| trace.text(row.path)).collect();
        assert_eq!(paths, ["/w/o", ""], "line {at}");
        let odd: Vec<_> = codes(trace);
        assert!(
            odd.iter().all(|code| *code == "unfinished"),
            "{at}: {odd:?}"
        );
    }
    // Nor does it matter if a whole stretch comes late, as in files that were put behind each other.
    let (head, tail) = lines[1..].split_at(6);
    let loaded = load(&[lines[0], &tail.concat(), &head.concat()].concat());
    let (id, _) = process(&loaded.trace, 1001);
    assert_eq!(arguments_of(&loaded.trace, id), "p q r");
}

#[test]
fn who_lost_a_pid_to_another_has_ended() {
    let mut r = Recorder::new();
    let shell = r.shell;
    let first = r.fork(shell, 1001);
    r.exec(first, "/b/gone", &["gone"]);
    r.read(first, "/w/a");
    // Its exit was lost.
    r.wait_ms(5_000);
    let second = r.fork(shell, 1001);
    r.exec(second, "/b/next", &["next"]);
    r.wait_ms(100);
    r.call(second, "Exit|status=0");
    r.call(shell, "Exit|status=0");
    let loaded = load(&r.text);
    let trace = &loaded.trace;
    let (id, gone) = process(trace, 1001);
    assert_eq!(program_of(trace, id), "gone");
    assert!(gone.end.unwrap().0 - gone.start.unwrap().0 < 100_000_000);
    let times = ProcessTimes::new(trace);
    let total = programs(trace, &times);
    let of = |name: &str| {
        let mut all = total.iter();
        all.find(|it| program_of(trace, it.longest_process) == name)
            .unwrap()
    };
    assert!(of("gone").total.0 < 100_000_000);
    assert!(of("next").total.0 > 100_000_000);
}

#[test]
fn programs_are_called_by_their_paths_however_long() {
    let mut r = Recorder::new();
    let shell = r.shell;
    for (pid, path) in [
        (1001, "/usr/bin/x86_64-linux-gnu-gcc-12"),
        (1002, "/usr/bin/x86_64-linux-gnu-g++-12"),
    ] {
        let child = r.fork(shell, pid);
        r.exec(child, path, &["cc"]);
        r.call(child, "Comm|size=15");
        r.line(child, b"CN|x86_64-linux-gn");
        r.call(child, "Exit|status=0");
    }
    let loaded = load(&r.text);
    let trace = &loaded.trace;
    let total = programs(trace, &ProcessTimes::new(trace));
    let mut names: Vec<String> = (total.iter())
        .map(|it| program_of(trace, it.longest_process))
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["x86_64-linux-gnu-g++-12", "x86_64-linux-gnu-gcc-12"]
    );
}

#[test]
fn a_recording_with_two_bytes_at_each_line_end_is_the_same() {
    let plain = one_program().text;
    let text = String::from_utf8(plain.clone()).unwrap();
    let wide = load(text.replace('\n', "\r\n").as_bytes());
    let plain = load(&plain);
    let strings = |loaded: &LoadedTrace| {
        let rows = loaded.trace.files.rows.iter();
        rows.map(|row| loaded.trace.text(row.path).into_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(strings(&wide), strings(&plain));
    assert_eq!(codes(&wide.trace), codes(&plain.trace));
    let (id, _) = process(&wide.trace, 1001);
    assert_eq!(arguments_of(&wide.trace, id), "p q r");
    // A name that ends so keeps it where lines end as they should.
    let mut r = Recorder::new();
    let shell = r.shell;
    r.open(shell, b"/w/odd\r", 0, 3);
    let odd = load(&r.text);
    assert!(strings(&odd).contains(&"/w/odd\r".to_owned()));
}

#[test]
fn what_is_left_of_broken_calls_is_shown_and_told() {
    let mut r = Recorder::new();
    let shell = r.shell;
    let child = r.fork(shell, 1001);
    r.exec(child, "/b/p", &["p"]);
    // Of the next program all but its first line is lost.
    r.call(
        child,
        "New_proc|argsize=4,prognameisize=4,prognamepsize=4,cwdsize=2",
    );
    r.call(
        child,
        "Open|fnamesize=4,forigsize=4,flags=577,mode=420,fd=3",
    );
    r.line(child, b"FO|/w/o");
    r.call(
        child,
        "Open|fnamesize=4,forigsize=4,flags=578,mode=420,fd=4",
    );
    r.line(child, b"FN|/w/t");
    r.line(child, b"FO|/w/t");
    r.call(child, "RenameFrom|fnamesize=4");
    r.line(child, b"RF|/w/o");
    r.call(child, "Close|fd=3");
    r.call(child, "Exit|status=0");
    let loaded = load(&r.text);
    let trace = &loaded.trace;
    let (id, made) = process(trace, 1001);
    assert_eq!(
        (arguments_of(trace, id).as_str(), made.images.len()),
        ("", 2)
    );
    let row = |path: &str| {
        let mut rows = trace.files.rows.iter();
        rows.find(|row| trace.text(row.path) == path).unwrap()
    };
    assert_eq!(word_of(row("/w/o")), "write");
    // Who opens a file for both is a reader, even if it is emptied first.
    assert_eq!(word_of(row("/w/t")), "read, write");
    assert!(codes(trace).contains(&"call_without_end"));
}

#[test]
fn an_exported_build_is_read_back_without_lost_switches() {
    let loaded = load(&one_program().text);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.fxt");
    let exporter = export::find("fxt").unwrap();
    let (all, job) = (Selection::all(), Job::default());
    export::run(exporter, &loaded, &all, &path, Overwrite::Refuse, &job).unwrap();
    let back = load::open(&path, &Job::default()).unwrap();
    assert_eq!(back.trace.runs.starts.len(), loaded.trace.runs.starts.len());
    assert!(!codes(&back.trace).contains(&"switch_mismatch"));
}
