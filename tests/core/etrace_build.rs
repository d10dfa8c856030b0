//! What is asked of a traced build, held against small recordings that are made here: who lived when, who wrote and
//! read what, what went into what, and what took longest.

use crate::recorder::{Recorder, exported, load, relatives};
use threadline::assemble::file_history::FileHistory;
use threadline::base::Job;
use threadline::base::strings::exact_bytes;
use threadline::event::{FieldRef, ValueRef};
use threadline::load;
use threadline::query::Item;
use threadline::query::build_chain::critical_chain;
use threadline::query::details::details;
use threadline::query::files::{FileList, Kinship};
use threadline::query::item::event_ref;
use threadline::query::process_times::{ProcessTimes, program_of};
use threadline::query::programs::programs;
use threadline::tables::Cell;
use threadline::trace::{EventId, Process, ProcessId, ThreadId, Trace, TrackKind};

fn process(trace: &Trace, pid: u64) -> &Process {
    trace.processes.iter().find(|it| it.pid == pid).unwrap()
}

/// In milliseconds from the first event on.
fn start_ms(trace: &Trace, pid: u64) -> Option<i64> {
    let start = process(trace, pid).start?;
    Some((start - trace.span.start).0 / 1_000_000)
}

/// (file's present name, writer, reader) of each dependency.
fn dependencies(trace: &Trace) -> Vec<[String; 3]> {
    let history = FileHistory::new(trace);
    let name = |id: ProcessId| program_of(trace, id);
    (history.dependencies.iter())
        .map(|it| {
            let file = trace.text(history.name(it.file)).into_owned();
            [file, name(it.writer), name(it.reader)]
        })
        .collect()
}

fn has_code(trace: &Trace, code: &str) -> bool {
    trace.diagnostics.rows().iter().any(|row| row.code == code)
}

#[test]
fn a_process_whose_fork_was_lost_begins_with_its_first_line() {
    let mut r = Recorder::new();
    let shell = r.shell;
    r.run(1001, "/b/make", &["make"], |_, _| {});
    r.wait_ms(10_000);
    // Its fork is not there; the next number is taken before it says a word.
    let lost = r.task(77);
    let next = r.fork(shell, 1002);
    r.wait_ms(500);
    r.exec(lost, "/b/true", &["true"]);
    r.exit(lost, 0);
    let late = r.task(78);
    r.exec(late, "/b/late", &["late"]);
    r.exit(late, 0);
    r.exit(next, 0);
    let loaded = load(&r);
    let trace = &loaded.trace;
    // It was there when the next number was given.
    assert_eq!(start_ms(trace, 77), start_ms(trace, 1002));
    assert!(start_ms(trace, 77).unwrap() > 10_000);
    let first = trace
        .thread(process(trace, 78).main_thread.unwrap())
        .seen
        .first;
    assert_eq!(process(trace, 78).start, Some(first));
    assert_eq!(process(trace, 78).made, None);
    assert_eq!(start_ms(trace, 1000), None);
    let times = ProcessTimes::new(trace);
    let total = programs(trace, &times, |_| true);
    let of = |name: &str| {
        total
            .iter()
            .find(|it| program_of(trace, it.longest_process) == name)
            .unwrap()
    };
    assert!(of("late").total.0 < 10_000_000);
    assert!(of("true").total.0 < 1_000_000_000);
}

#[test]
fn nobody_is_the_shell_where_the_head_was_cut_off() {
    let mut r = Recorder::behind(b"");
    let early = r.task(1500);
    let other = r.task(1501);
    r.close(early, 4);
    r.close(other, 4);
    let child = r.fork(other, 1600);
    r.exec(child, "/b/as", &["as"]);
    let lost = r.task(1700);
    r.close(lost, 3);
    let loaded = load(&r);
    let trace = &loaded.trace;
    let shells = trace
        .processes
        .iter()
        .filter(|it| trace.text(it.name).contains("shell"));
    assert_eq!(shells.count(), 0);
    // Nothing tells that these began within the trace; of the last one its number does.
    assert_eq!((start_ms(trace, 1500), start_ms(trace, 1501)), (None, None));
    assert!(start_ms(trace, 1700).is_some());
}

#[test]
fn the_shell_is_the_first_by_number_not_by_line() {
    let mut r = Recorder::behind(b"");
    let shell = r.shell;
    let child = r.task(1001);
    r.close(child, 255);
    r.text = [
        b"INITCWD=/w\n0: 5,0,100,5!Close|fd=3\n".as_slice(),
        &r.text,
        format!("0: {shell},0,100,1!SchedFork|pid={child}\n").as_bytes(),
    ]
    .concat();
    r.exec(child, "/b/gcc", &["gcc"]);
    let loaded = load(&r);
    let trace = &loaded.trace;
    // The line with a small number did not make plain numbers of all others.
    assert_eq!(trace.text(process(trace, 1000).name), "(etrace shell)");
    assert_eq!(trace.text(process(trace, 1001).name), "gcc");
}

#[test]
fn what_went_into_a_file_comes_through_all_pipes() {
    let mut r = Recorder::new();
    let shell = r.shell;
    let sh = r.fork(shell, 2);
    r.exec(sh, "/b/sh", &["sh"]);
    // A < in | B | C > out
    r.pipe(sh, 3, 4);
    let a = r.fork(sh, 11);
    r.close(sh, 4);
    r.pipe(sh, 4, 5);
    let b = r.fork(sh, 12);
    r.close(sh, 3);
    r.close(sh, 5);
    let c = r.fork(sh, 13);
    r.close(sh, 4);
    r.close(a, 3);
    r.dup(a, 4, 1);
    r.close(a, 4);
    r.exec(a, "/b/A", &["A"]);
    r.read(a, "/w/in");
    r.close(b, 4);
    r.dup(b, 3, 0);
    r.close(b, 3);
    r.dup(b, 5, 1);
    r.close(b, 5);
    r.exec(b, "/b/B", &["B"]);
    r.dup(c, 4, 0);
    r.close(c, 4);
    r.exec(c, "/b/C", &["C"]);
    r.write(c, "/w/out");
    for task in [a, b, c, sh, shell] {
        r.exit(task, 0);
    }
    let loaded = load(&r);
    let trace = &loaded.trace;
    assert_eq!(relatives(trace, "/w/out", Kinship::WentInto), ["/w/in"]);
    assert_eq!(relatives(trace, "/w/in", Kinship::MadeFrom), ["/w/out"]);
}

#[test]
fn children_write_to_what_their_shell_has_open_as_output() {
    let mut r = Recorder::new();
    let shell = r.shell;
    let sh = r.fork(shell, 2);
    r.exec(sh, "/b/sh", &["sh", "-c", "{ cat a; cat b; } > out"]);
    r.open(sh, b"/w/log", 0o1101, 9);
    r.open(sh, b"/w/out", 0o1101, 3);
    r.dup(sh, 3, 1);
    r.close(sh, 3);
    for (pid, path) in [(11, "/w/a"), (12, "/w/b")] {
        let cat = r.fork(sh, pid);
        r.exec(cat, "/b/cat", &["cat"]);
        r.read(cat, path);
        r.exit(cat, 0);
    }
    // This one puts another file in the place of its output before it runs.
    let other = r.fork(sh, 13);
    r.open(other, b"/w/else", 0o1101, 3);
    r.dup(other, 3, 1);
    r.close(other, 3);
    r.exec(other, "/b/other", &["other"]);
    r.read(other, "/w/c");
    r.exit(other, 0);
    r.exit(sh, 0);
    r.run(20, "/b/cc", &["cc"], |r, cc| r.read(cc, "/w/out"));
    let loaded = load(&r);
    let trace = &loaded.trace;
    let went = relatives(trace, "/w/out", Kinship::WentInto);
    assert_eq!(went, ["/w/a", "/w/b"]);
    // Neither wrote to descriptor 9, which they only inherited.
    assert!(relatives(trace, "/w/log", Kinship::WentInto).is_empty());
    assert_eq!(relatives(trace, "/w/a", Kinship::MadeFrom), ["/w/out"]);
    let writers: Vec<[String; 3]> = dependencies(trace);
    let writers: Vec<&str> = writers.iter().map(|it| it[1].as_str()).collect();
    assert_eq!(writers, ["sh", "cat", "cat"]);
    let list = FileList::new(trace, &Job::default()).unwrap();
    let out = list.find(trace, b"/w/out").unwrap();
    let words: Vec<&str> = (0..list.use_count(out))
        .map(|index| list.use_at(trace, out, index).unwrap().word)
        .collect();
    let inherited = "write (inherited)";
    assert_eq!(words, ["write", inherited, inherited, "read"]);
    // The table of uses has the same ones.
    let uses = crate::tables::rows(&loaded, "file_uses");
    let uses = uses.iter().filter(|row| row["path"] == "/w/out");
    let found: Vec<_> = uses
        .map(|row| (row["use"].clone(), row["process"].clone()))
        .collect();
    let expected = [
        ("write", "sh"),
        (inherited, "cat"),
        (inherited, "cat"),
        ("read", "cc"),
    ];
    assert_eq!(
        found,
        expected.map(|(word, program)| (word.into(), program.into()))
    );
}

#[test]
fn what_was_closed_before_is_not_made_from_what_is_read_after() {
    let mut r = Recorder::new();
    r.run(2, "/b/gen", &["gen"], |r, gen_| {
        r.write(gen_, "/w/A");
        r.open(gen_, b"/w/C", 0o1101, 5);
        r.read(gen_, "/w/B");
        r.close(gen_, 5);
    });
    let loaded = load(&r);
    assert_eq!(
        relatives(&loaded.trace, "/w/B", Kinship::MadeFrom),
        ["/w/C"]
    );
}

#[test]
fn files_go_with_their_folders_however_often_they_move() {
    let mut r = Recorder::new();
    r.run(2, "/b/gen", &["gen"], |r, gen_| r.write(gen_, "/w/d0/x"));
    for step in 0..70 {
        r.run(3, "/b/mv", &["mv"], |r, mv| {
            // One that was looked into before it moves.
            r.open(mv, format!("/w/d{step}").as_bytes(), 0o200_000, 4);
            r.close(mv, 4);
            r.rename(mv, &format!("/w/d{step}"), &format!("/w/d{}", step + 1));
        });
    }
    r.run(4, "/b/use", &["use"], |r, use_| r.read(use_, "/w/d70/x"));
    let loaded = load(&r);
    let found = dependencies(&loaded.trace);
    assert_eq!(found, [["/w/d70/x", "gen", "use"].map(str::to_owned)]);
}

#[test]
fn what_still_runs_is_on_the_critical_chain() {
    let mut r = Recorder::new();
    let shell = r.shell;
    let make = r.fork(shell, 2);
    r.exec(make, "/b/make", &["make"]);
    let quick = r.fork(make, 3);
    r.exec(quick, "/b/quick", &["quick"]);
    r.exit(quick, 0);
    let long = r.fork(make, 4);
    r.exec(long, "/b/cc1", &["cc1"]);
    r.wait_ms(600_000);
    r.read(long, "/w/huge.h");
    let loaded = load(&r);
    let trace = &loaded.trace;
    let times = ProcessTimes::new(trace);
    let chain = critical_chain(trace, &times, &FileHistory::new(trace));
    let last = chain.steps.last().unwrap();
    assert_eq!(program_of(trace, last.process), "cc1");
    assert!(chain.length.0 > 600_000_000_000);
}

#[test]
fn a_link_is_a_name_and_its_maker_no_writer() {
    let mut r = Recorder::new();
    r.run(2, "/b/gen", &["gen"], |r, gen_| r.write(gen_, "/w/x"));
    r.run(3, "/b/ln", &["ln"], |r, ln| r.link(ln, "/w/x", "/w/y"));
    r.run(4, "/b/ln-s", &["ln-s"], |r, ln| {
        r.call(
            ln,
            "Symlink|targetnamesize=1,resolvednamesize=4,linknamesize=4",
        );
        r.line(ln, b"ST|x");
        r.line(ln, b"SR|/w/x");
        r.line(ln, b"SL|/w/s");
    });
    r.run(5, "/b/of-x", &["of-x"], |r, it| r.read(it, "/w/x"));
    r.run(6, "/b/of-y", &["of-y"], |r, it| r.read(it, "/w/y"));
    r.run(7, "/b/of-s", &["of-s"], |r, it| {
        r.open_as(it, b"/w/x", b"/w/s", 0, 3)
    });
    let loaded = load(&r);
    let trace = &loaded.trace;
    let of_readers: Vec<[String; 2]> = dependencies(trace)
        .into_iter()
        .map(|[_, writer, reader]| [writer, reader])
        .filter(|[_, reader]| reader.starts_with("of-"))
        .collect();
    let expected = [
        ["gen", "of-x"],
        ["ln", "of-y"],
        ["gen", "of-y"],
        ["ln-s", "of-s"],
        ["gen", "of-s"],
    ];
    assert_eq!(of_readers, expected.map(|pair| pair.map(str::to_owned)));
    let list = FileList::new(trace, &Job::default()).unwrap();
    let file = list.find(trace, b"/w/s").unwrap();
    assert_eq!(trace.text(list.history.name(file)), "/w/x");
}

#[test]
fn all_writers_are_told_and_those_that_are_not_are_counted() {
    let told = |count: i64| {
        let mut r = Recorder::new();
        for index in 0..count {
            r.run(100 + index, "/b/app", &["app"], |r, app| {
                r.open(app, b"/w/log", 0o2101, 3);
                r.close(app, 3);
            });
        }
        r.run(99, "/b/rd", &["rd"], |r, rd| r.read(rd, "/w/log"));
        let loaded = load(&r);
        let trace = &loaded.trace;
        (
            dependencies(trace).len(),
            has_code(trace, "writers_left_out"),
        )
    };
    assert_eq!(told(20), (20, false));
    assert_eq!(told(1500), (1024, true));
}

#[test]
fn a_second_write_and_read_is_told_too() {
    let mut r = Recorder::new();
    let shell = r.shell;
    let (a, b) = (r.fork(shell, 2), r.fork(shell, 3));
    r.exec(a, "/b/w", &["w"]);
    r.exec(b, "/b/r", &["r"]);
    for _ in 0..2 {
        r.write(a, "/w/f");
        r.read(b, "/w/f");
        r.read(b, "/w/f");
    }
    let loaded = load(&r);
    assert_eq!(dependencies(&loaded.trace).len(), 2);
}

#[test]
fn a_pid_that_is_used_again_is_somebody_else() {
    let mut text = b"INITCWD=/w\n".to_vec();
    let mut now = 0;
    let mut line = |of: i64, body: &str| {
        now += 1_000_000;
        text.extend_from_slice(format!("{of},0,100,{now}!{body}\n").as_bytes());
    };
    for life in 0..3 {
        // The fork of the last one is lost.
        if life < 2 {
            line(300, "SchedFork|pid=500");
        }
        line(
            500,
            "New_proc|argsize=3,prognameisize=5,prognamepsize=5,cwdsize=2",
        );
        line(500, "PI|/b/p");
        line(500, &format!("PP|/b/p{life}"));
        line(500, "CW|/w");
        line(500, "A[0]p");
        line(500, "End_of_args|");
        line(500, &format!("Exit|status={life}"));
    }
    let mut recorder = Recorder::new();
    recorder.text = text;
    let loaded = load(&recorder);
    let trace = &loaded.trace;
    let lives: Vec<(String, Option<i32>, bool)> = (trace.processes.iter())
        .filter(|it| it.pid == 500)
        .map(|it| {
            let name = trace.text(it.name).into_owned();
            (name, it.exit_status, it.parent.is_some())
        })
        .collect();
    let expected = [("p0", 0, true), ("p1", 1, true), ("p2", 2, false)];
    let expected = expected.map(|(name, status, has)| (name.to_owned(), Some(status), has));
    assert_eq!(lives, expected);
}

#[test]
fn the_first_directory_is_found_behind_a_byte_order_mark_and_other_lines() {
    for head in ["\u{feff}INITCWD=/proj\n", "some log line\nINITCWD=/proj\n"] {
        let mut r = Recorder::behind(head.as_bytes());
        r.run(2, "/b/true", &["true"], |_, _| {});
        let loaded = load(&r);
        let facts = &loaded.trace.info.facts;
        let fact = facts.iter().find(|fact| fact.name == "started in");
        assert_eq!(
            fact.map(|fact| fact.value.as_str()),
            Some("/proj"),
            "{head}"
        );
        let junk = loaded
            .trace
            .diagnostics
            .rows()
            .iter()
            .find(|row| row.code == "junk_line");
        assert_eq!(
            junk.map_or(0, |row| row.count),
            u64::from(head.starts_with('s'))
        );
    }
}

#[test]
fn names_leave_as_the_bytes_that_they_are() {
    let raw: &[u8] = b"/w/caf\xe9.c";
    let literal: &[u8] = b"/w/caf\\xe9.c";
    let mut r = Recorder::new();
    for (pid, path) in [(2, raw), (3, literal)] {
        r.run(pid, "/b/cat", &["cat"], |r, cat| {
            r.open(cat, path, 0, 3);
            r.close(cat, 3);
        });
    }
    let loaded = load(&r);
    let (fxt, _) = exported(&loaded, "fxt").unwrap();
    let has = |bytes: &[u8], wanted: &[u8]| memchr::memmem::find(bytes, wanted).is_some();
    assert!(has(&fxt, raw) && has(&fxt, literal));
    // Our own reader has the same names again.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("again.fxt");
    std::fs::write(&path, &fxt).unwrap();
    let again = load::open(&path, &Job::default()).unwrap();
    for name in [raw, literal] {
        assert!(again.trace.strings.find(name).is_some());
    }
    // So do texts of events.
    let paths: Vec<Vec<u8>> = (0..loaded.trace.events.len() as u32)
        .flat_map(|id| {
            let mut fields = Vec::new();
            let event = event_ref(&loaded.trace, EventId(id));
            loaded.reader.fields_into(event, &mut fields);
            let paths = fields.into_iter().filter(|field| field.name == "path");
            let bytes = |field: FieldRef<'_>| match field.value {
                ValueRef::Text(text) => exact_bytes(&text),
                other => panic!("{other:?}"),
            };
            paths.map(bytes).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(paths, [raw, literal]);
    let (chrome, _) = exported(&loaded, "chrome-json").unwrap();
    let chrome: serde_json::Value = serde_json::from_slice(&chrome).unwrap();
    let chrome = chrome.to_string();
    for name in ["caf\\\\xe9.c", "caf\\\\x5cxe9.c"] {
        assert!(chrome.contains(name), "{name}");
    }
    let trace = &loaded.trace;
    let list = FileList::new(trace, &Job::default()).unwrap();
    for name in [raw, literal] {
        let file = list.find(trace, name).unwrap();
        let cell = Cell::of_string(trace, list.history.name(file));
        let Cell::Text(text) = cell else { panic!() };
        assert_eq!(exact_bytes(&text), name);
    }
}

#[test]
fn a_process_has_the_environment_that_the_tracer_wrote_at_the_end() {
    let mut r = Recorder::new();
    let a = r.run(2, "/b/a", &["a"], |_, _| {});
    let b = r.run(3, "/b/b", &["b"], |_, _| {});
    r.call(0, &format!("UPID|{a}"));
    r.call(0, &format!("UPID|{b}"));
    r.call(0, "Env[0]PATH=/bin:");
    r.call(0, "Env[1]/usr/bin");
    r.call(0, &format!("UPID|{a}"));
    r.call(0, "Env[0]NL=1");
    r.call(0, "Cont|2");
    // The tracer forgets the end of this line.
    r.line(0, format!("Cont_end|0: 0,0,200,1!UPID|{a}").as_bytes());
    r.call(0, "Env[0]PATH=/bin:/usr/bin");
    let loaded = load(&r);
    let trace = &loaded.trace;
    let of = |pid| -> Vec<String> {
        let own = trace.environment(process(trace, pid)).into_iter();
        own.map(|id| trace.text(id).into_owned()).collect()
    };
    assert_eq!(of(2), ["NL=1\n2", "PATH=/bin:/usr/bin"]);
    assert_eq!(of(3), ["PATH=/bin:/usr/bin"]);
    let at = trace.processes.iter().position(|it| it.pid == 3).unwrap();
    let item = Item::Process(ProcessId(at as u32));
    let details = details(trace, loaded.reader.as_ref(), item);
    let section = details.sections.iter().find(|it| it.title == "environment");
    let text = format!("{:?}", section.unwrap());
    assert!(
        text.contains("PATH") && text.contains("/bin:/usr/bin"),
        "{text}"
    );
    // The lines are nobody's, not those of an idle CPU.
    let idle = trace.track_of(TrackKind::Thread(ThreadId::IDLE));
    assert!(idle.is_none());
}

#[test]
fn one_wild_time_does_not_stretch_the_axis() {
    let mut r = Recorder::new();
    r.run(2, "/b/x", &["x"], |r, x| {
        r.close(x, 3);
        for wild in ["9223372036,854775807", "0,0"] {
            let line = format!("0: {x},0,{wild}!Close|fd=4\n");
            r.text.extend_from_slice(line.as_bytes());
        }
        r.close(x, 5);
    });
    let loaded = load(&r);
    let trace = &loaded.trace;
    assert!(trace.span.duration().0 < 1_000_000_000, "{:?}", trace.span);
    let rows = trace.diagnostics.rows();
    let row = rows.iter().find(|row| row.code == "time_out_of_place");
    assert_eq!(row.map(|row| row.count), Some(2));
    // A long pause is no damage.
    let mut r = Recorder::new();
    r.run(2, "/b/x", &["x"], |r, x| {
        r.wait_ms(30 * 86_400_000);
        r.close(x, 5);
    });
    let loaded = load(&r);
    assert!(loaded.trace.span.duration().0 > 29 * 86_400_000_000_000);
    assert!(!has_code(&loaded.trace, "time_out_of_place"));
}

#[test]
fn calls_without_their_numbers_or_beginnings_invent_nothing() {
    let mut r = Recorder::new();
    r.run(2, "/b/x", &["x"], |r, x| {
        r.call(x, "Dup|oldfd=1");
        r.call(x, "RenameTo|fnamesize=2");
        r.line(x, b"RT|/a");
        r.call(x, "LinkTo|fnamesize=2");
        r.line(x, b"LT|/b");
    });
    let loaded = load(&r);
    let trace = &loaded.trace;
    let dup = &trace.files.rows[0];
    assert_eq!((dup.fd, dup.result), (1, -1));
    let rows = trace.diagnostics.rows();
    let row = rows.iter().find(|row| row.code == "call_without_start");
    assert_eq!(row.map(|row| row.count), Some(2));
}

#[test]
fn one_busy_part_opens_beside_an_empty_one() {
    let mut r = Recorder::behind(b"");
    r.run(2, "/b/x", &["x"], |_, _| {});
    let folder = tempfile::tempdir().unwrap();
    let paths = ["nfsdb_part_0", "nfsdb_part_1"].map(|name| folder.path().join(name));
    std::fs::write(&paths[0], &r.text).unwrap();
    std::fs::write(&paths[1], b"").unwrap();
    let loaded =
        load::together::open_together(&paths, &[], &[None, None], &Job::default(), None).unwrap();
    assert_eq!(process(&loaded.trace, 2).exit_status, Some(0));
}

#[test]
fn lost_events_of_several_cpus_are_told_as_such() {
    let mut r = Recorder::new();
    r.run(2, "/b/x", &["x"], |r, x| {
        r.text.extend_from_slice(b"CPU:0 [LOST 10 EVENTS]\n");
        r.close(x, 3);
        r.text.extend_from_slice(b"CPU:1 [LOST 5 EVENTS]\n");
    });
    let loaded = load(&r);
    let rows = loaded.trace.diagnostics.rows();
    let row = rows.iter().find(|row| row.code == "lost_events").unwrap();
    assert_eq!(row.count, 15);
    assert!(!row.message.contains("CPU 0"), "{}", row.message);
}

/// Programs, the chain and parallelism of a part of a build are those of the processes that live in it.
#[test]
fn tables_of_a_build_are_of_the_chosen_time() {
    let file = format!(
        "{}/sample-traces/lua-make-j2.etrace.zst",
        env!("CARGO_MANIFEST_DIR")
    );
    let rows = |table: &str, range: &[&str]| {
        crate::program::json(&[&["table", table, &file], range].concat())
    };
    let range = ["--from", "50s", "--until", "51s"];
    let lives = rows("process_times", &range);
    let living = lives.iter().filter(|row| row["before_trace"] == 0).count() as u64;
    let programs = rows("programs", &range);
    let processes: u64 = programs
        .iter()
        .map(|row| row["processes"].as_u64().unwrap())
        .sum();
    assert_eq!(processes, living);
    let whole = rows("programs", &[]);
    let all: u64 = whole
        .iter()
        .map(|row| row["processes"].as_u64().unwrap())
        .sum();
    assert!(processes > 0 && processes < all);
    let chain = rows("critical_chain", &range);
    assert!(!chain.is_empty() && chain.len() < rows("critical_chain", &[]).len());
    // What holds at the start of the range is its first row.
    let steps = rows("parallelism", &range);
    let start = steps[0]["ts"].as_i64().unwrap();
    let alive = lives.iter().filter(|row| {
        let born = row["start"].as_i64();
        let end = born.zip(row["dur"].as_i64()).map(|(born, dur)| born + dur);
        born.is_none_or(|born| born <= start) && end.is_none_or(|end| end > start)
    });
    assert_eq!(steps[0]["alive"].as_u64().unwrap(), alive.count() as u64);
}
