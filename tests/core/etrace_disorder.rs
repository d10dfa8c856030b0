//! Recordings of builds whose lines are out of order, cut, lost, or end as another system ends lines.

use crate::recorder::{Recorder, load_as};
use threadline::base::Job;
use threadline::event::FileOp;
use threadline::export::{self, Overwrite, Selection};
use threadline::load::{self, LoadedTrace};
use threadline::query::process_times::{ProcessTimes, arguments_of, program_of};
use threadline::query::programs::programs;
use threadline::trace::{EventId, Process, ProcessId, Trace};

fn load(text: &[u8]) -> LoadedTrace {
    load_as("made.etrace", text)
}

fn process(trace: &Trace, pid: u64) -> (ProcessId, &Process) {
    let at = trace.processes.iter().position(|it| it.pid == pid).unwrap();
    (ProcessId(at as u32), &trace.processes[at])
}

fn codes(trace: &Trace) -> Vec<&str> {
    trace
        .diagnostics
        .rows()
        .iter()
        .map(|it| &*it.code)
        .collect()
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
    let expected = all_told(&load(&whole.text));
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
        // Details, events, search and exports read the calls again.
        assert_eq!(all_told(&loaded), expected, "line {at}");
    }
    // Nor does it matter if a whole stretch comes late, as in files that were put behind each other.
    let (head, tail) = lines[1..].split_at(6);
    let loaded = load(&[lines[0], &tail.concat(), &head.concat()].concat());
    let (id, _) = process(&loaded.trace, 1001);
    assert_eq!(arguments_of(&loaded.trace, id), "p q r");
    assert_eq!(all_told(&loaded), expected);
    // All of it the wrong way round.
    let backwards: Vec<&[u8]> = lines[1..].iter().rev().copied().collect();
    let loaded = load(&[lines[0], &backwards.concat()].concat());
    assert_eq!(all_told(&loaded), expected);
}

/// Lines of a real build, each written up to five seconds too early or too late.
#[test]
fn calls_whose_lines_are_far_apart_keep_their_texts() {
    // Each task opens a file; the lines of all tasks take turns.
    let count = 600;
    let lines = |part: &dyn Fn(u64) -> String, from: u64| {
        let all = (0..count).map(move |task| (task, from + task));
        let line = |(task, time)| {
            format!(
                "0: {},0,1,{time}!{}\n",
                ((task + 1) << 22) + 300_u64,
                part(task)
            )
        };
        all.map(line).collect::<String>()
    };
    let open = |_| "Open|fnamesize=6,forigsize=6,flags=577,mode=0,fd=3".to_owned();
    let text = [
        "INITCWD=/w\n".to_owned(),
        lines(&open, 1000),
        lines(&|task| format!("FN|/f{task:04}"), 11_000),
        lines(&|task| format!("FO|/f{task:04}"), 21_000),
    ]
    .concat();
    let loaded = load(text.as_bytes());
    for (task, told) in told(&loaded, "Open").iter().enumerate() {
        assert!(told.contains(&format!("/f{task:04}")), "{told}");
    }
    assert_eq!(told(&loaded, "Open").len() as u64, count);
}

#[test]
fn lines_out_of_order_by_seconds_keep_their_texts() {
    let path = crate::corpus::corpus("etrace").join("lua-make-j2.etrace.zst");
    let packed = std::fs::read(path).unwrap();
    let text = zstd::decode_all(packed.as_slice()).unwrap();
    let mut lines = text.split_inclusive(|&byte| byte == b'\n');
    let head = lines.next().unwrap();
    let mut seed = 11_u64;
    let mut moved: Vec<(i64, &[u8])> = lines.map(|line| (written(line, &mut seed), line)).collect();
    moved.sort_by_key(|line| line.0);
    let moved: Vec<&[u8]> = moved.into_iter().map(|line| line.1).collect();
    let expected = load(&text);
    let found = load(&[head, &moved.concat()].concat());
    assert_eq!(codes(&found.trace), codes(&expected.trace));
    assert_eq!(all_slices(&found.trace), all_slices(&expected.trace));
    // Events of one nanosecond are in the order of their lines, so they are compared without it.
    let sorted = |loaded: &LoadedTrace| {
        let trace = &loaded.trace;
        let mut all = all_told(loaded);
        all.extend(trace.files.rows.iter().map(|row| {
            let [path, other] = [row.path, row.other_path].map(|id| trace.text(id).into_owned());
            let time = trace.events.get(row.event).row.time;
            format!("{time} {:?} {path} {other} {}", row.op, row.result)
        }));
        all.sort();
        all
    };
    let (found, expected) = (sorted(&found), sorted(&expected));
    let differ = found.iter().zip(&expected).find(|(a, b)| a != b);
    assert_eq!(differ, None);
    assert_eq!(found.len(), expected.len());
}

/// When a line is written: its time in milliseconds and up to five seconds more or less.
fn written(line: &[u8], seed: &mut u64) -> i64 {
    let line = String::from_utf8_lossy(line);
    let mut numbers = line.split(['!', ',']).skip(2);
    let mut number = || numbers.next().unwrap().parse::<i64>().unwrap();
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    number() * 1000 + number() / 1_000_000 + (*seed >> 33) as i64 % 10_000 - 5_000
}

/// Names, categories and times of all slices.
fn all_slices(trace: &Trace) -> Vec<String> {
    let ids = (0..trace.slices.len() as u32).map(threadline::trace::SliceId);
    let mut all: Vec<String> = ids
        .map(|id| {
            let (slice, label) = (trace.slices.get(id), trace.slices.label(id));
            let [name, category] = [label.name, label.category].map(|id| trace.text(id));
            format!("{} {:?} {name} {category}", slice.start, slice.end)
        })
        .collect();
    all.sort();
    all
}

/// All events in full, and the fields that exporters get.
fn all_told(loaded: &LoadedTrace) -> Vec<String> {
    let mut all = Vec::new();
    for at in 0..loaded.trace.events.len() as u32 {
        let event = loaded.trace.events.get(EventId(at));
        let detail = loaded.reader.describe(event.into());
        let mut fields = Vec::new();
        loaded.reader.fields_into(event.into(), &mut fields);
        all.push(format!("{} {}", detail.line(), fields.len()));
    }
    all
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
    let total = programs(trace, &times, |_| true);
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
    let total = programs(trace, &ProcessTimes::new(trace), |_| true);
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
    assert_eq!(row("/w/o").word(), "write");
    // Who opens a file for both is a reader, even if it is emptied first.
    assert_eq!(row("/w/t").word(), "read, write");
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

/// The files of successful rows, as `word path (other path)`.
fn uses(trace: &Trace) -> Vec<String> {
    let rows = trace.files.rows.iter().filter(|row| row.result >= 0);
    let rows = rows.filter(|row| !matches!(row.op, FileOp::Close));
    rows.map(|row| {
        let [path, other] = [row.path, row.other_path].map(|id| trace.text(id).into_owned());
        format!("{} {path} {other}", row.word())
            .trim_end()
            .to_owned()
    })
    .collect()
}

/// What `report` says of each event of this name.
fn told(loaded: &LoadedTrace, name: &str) -> Vec<String> {
    let events =
        (0..loaded.trace.events.len() as u32).map(|at| loaded.trace.events.get(EventId(at)));
    let details = events.map(|event| loaded.reader.describe(event.into()));
    let named = details.filter(|detail| detail.name == name);
    named.map(|detail| detail.text).collect()
}

fn open_line(path: &str, flags: u32) -> String {
    let size = path.len();
    format!("Open|fnamesize={size},forigsize={size},flags={flags},mode=420,fd=3")
}

#[test]
fn texts_behind_a_hole_are_not_those_of_the_call_before_it() {
    let mut r = Recorder::new();
    let it = r.shell;
    // The next line of an open is lost, and only that.
    r.open(it, b"/w/out.s", 577, 3);
    r.text.extend_from_slice(b"CPU:0 [LOST 1 EVENTS]\n");
    r.line(it, b"FN|/usr/include/stdio.h");
    r.line(it, b"FO|/usr/include/stdio.h");
    // All behind the first line is lost, up to the texts of another.
    r.call(it, &open_line("/w/second", 577));
    r.text.extend_from_slice(b"CPU:0 [LOST 3 EVENTS]\n");
    r.line(it, b"FN|/usr/hdr.h");
    r.line(it, b"FO|/usr/hdr.h");
    // The same, but the first text is left.
    r.call(it, &open_line("/w/third", 577));
    r.line(it, b"FN|/w/third");
    r.text.extend_from_slice(b"CPU:0 [LOST EVENTS]\n");
    r.line(it, b"FO|/usr/other.h");
    // A hole before a call, and one of others behind its first line, do it no harm.
    r.text.extend_from_slice(b"CPU:0 [LOST 9 EVENTS]\n");
    r.call(it, &open_line("/w/whole", 577));
    r.text.extend_from_slice(b"CPU:3 [LOST 9 EVENTS]\n");
    r.line(it, b"FN|/w/whole");
    r.line(it, b"FO|/w/whole");
    r.exit(it, 0);
    let loaded = load(&r.text);
    let trace = &loaded.trace;
    assert_eq!(
        uses(trace),
        [
            "write /w/out.s",
            "write",
            "write /w/third",
            "write /w/whole"
        ]
    );
    let count = |code| trace.diagnostics.count_of(code);
    assert_eq!(count("text_without_call"), 5);
    assert_eq!(count("incomplete_call"), 2);
    assert_eq!(count("lost_events"), 22);
    assert_eq!((count("uncounted_loss"), count("junk_line")), (1, 0));
    assert_eq!(count("size_differs"), 0);
    // Details say the same.
    let opens = told(&loaded, "Open");
    assert!(opens[0].starts_with("path=/w/out.s original=/w/out.s"));
    assert!(opens[1].starts_with("flags="), "{}", opens[1]);
    assert_eq!(told(&loaded, "FN").len(), 2);
}

#[test]
fn halves_of_two_renames_are_no_rename() {
    let renames = |between: &[u8]| {
        let mut r = Recorder::new();
        let it = r.shell;
        r.rename(it, "/w/x", "/w/y");
        r.call(it, "RenameFrom|fnamesize=4");
        r.line(it, b"RF|/w/a");
        r.text.extend_from_slice(between);
        r.call(it, "RenameTo|fnamesize=4");
        r.line(it, b"RT|/w/d");
        r.exit(it, 0);
        let loaded = load(&r.text);
        let told = loaded.trace.diagnostics.count_of("rename_over_lost");
        (uses(&loaded.trace), told)
    };
    let first = "rename /w/x /w/y".to_owned();
    let whole = (vec![first.clone(), "rename /w/a /w/d".to_owned()], 0);
    let parted = (vec![first], 1);
    assert_eq!(renames(b""), whole);
    assert_eq!(renames(b"CPU:0 [LOST 4 EVENTS]\n"), parted);
    assert_eq!(renames(b"CPU:0 [LOST EVENTS]\n"), parted);
    // That is too few for halves of two, and what another CPU lost was not this task's.
    assert_eq!(renames(b"CPU:0 [LOST 2 EVENTS]\n"), whole);
    assert_eq!(renames(b"CPU:3 [LOST 4 EVENTS]\n"), whole);
}

#[test]
fn arguments_that_were_lost_are_not_empty_ones() {
    let arguments = |size: usize, lines: &[&str], between: (usize, &[u8])| {
        let mut r = Recorder::new();
        let child = r.fork(r.shell, 1001);
        r.call(
            child,
            &format!("New_proc|argsize={size},prognameisize=4,prognamepsize=4,cwdsize=2"),
        );
        for line in ["PI|/b/p", "PP|/b/p", "CW|/w"] {
            r.line(child, line.as_bytes());
        }
        for (at, line) in lines.iter().enumerate() {
            if at == between.0 {
                r.text.extend_from_slice(between.1);
            }
            r.line(child, line.as_bytes());
        }
        r.line(child, b"End_of_args|");
        r.exit(child, 0);
        let loaded = load(&r.text);
        let trace = &loaded.trace;
        let codes = ["arguments_lost", "argument_size_differs"];
        let codes = codes.map(|code| trace.diagnostics.count_of(code));
        let all = arguments_of(trace, process(trace, 1001).0);
        let detail = told(&loaded, "New_proc");
        let (_, told) = detail[0].split_once("arguments=").unwrap();
        assert_eq!(told.replace("''", ""), all);
        (told.to_owned(), codes)
    };
    let lost = |text: &str| (text.to_owned(), [1, 0]);
    let hole = b"CPU:0 [LOST 4 EVENTS]\n".as_slice();
    // gcc -O2 -Wall -g x.c? -c a.c -o a.o, of which four did not come.
    let some = ["A[0]gcc", "A[1]-O2", "A[5]-c", "A[7]-o", "A[8]a.o"];
    assert_eq!(arguments(40, &some, (3, hole)), lost("gcc -O2 -c -o a.o"));
    // The hole may be told of much later.
    assert_eq!(arguments(40, &some, (9, b"")), lost("gcc -O2 -c -o a.o"));
    // Empty ones, with a newline at the end of another.
    let empty = ["A[0]sh", "A[2]x", "A[3]y"];
    assert_eq!(
        arguments(8, &empty, (9, b"")),
        ("sh '' x y".to_owned(), [0, 0])
    );
    assert_eq!(
        arguments(9, &empty, (9, b"")),
        ("sh '' x y".to_owned(), [0, 1])
    );
    assert_eq!(
        arguments(8, &empty, (1, hole)),
        ("sh '' x y".to_owned(), [0, 0])
    );
    // One letter that is missing is one of a lost argument where there is a hole.
    assert_eq!(arguments(9, &empty, (1, hole)), lost("sh x y"));
    // Numbers that begin again are those of another program.
    let again = ["A[0]sh", "A[1]x", "A[0]other", "A[1]y"];
    assert_eq!(arguments(5, &again, (2, hole)).0, "sh x");
}
