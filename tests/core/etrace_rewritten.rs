//! Names that mean other contents later, and processes that never end, in a traced build.

use crate::recorder::{Recorder, dependencies, load, pairs, relatives};
use threadline::base::{Job, Timestamp};
use threadline::query::files::{FileList, Kinship};
use threadline::query::process_times::{ProcessTimes, parallelism};

/// As configure works: each round writes over what the one before made.
#[test]
fn what_a_file_held_before_it_was_emptied_went_into_nothing_later() {
    let mut r = Recorder::new();
    for (round, header) in ["/i/stdio.h", "/i/zlib.h", "/i/X11.h"].iter().enumerate() {
        r.run(10, "/b/cc1", &["cc1"], |r, cc1| {
            r.read(cc1, header);
            r.write(cc1, "/w/conftest.o");
        });
        r.run(20, "/b/install", &["install"], |r, install| {
            r.read(install, "/w/conftest.o");
            r.write(install, &format!("/w/keep{round}.o"));
        });
    }
    r.exit(r.shell, 0);
    let loaded = load(&r);
    let trace = &loaded.trace;
    let from = |path: &str| relatives(trace, path, Kinship::WentInto);
    let to = |path: &str| relatives(trace, path, Kinship::MadeFrom);
    assert_eq!(from("/w/keep0.o"), ["/i/stdio.h", "/w/conftest.o"]);
    assert_eq!(from("/w/keep1.o"), ["/i/zlib.h", "/w/conftest.o"]);
    assert_eq!(from("/w/conftest.o"), ["/i/X11.h"], "what it holds now");
    assert_eq!(to("/i/stdio.h"), ["/w/conftest.o", "/w/keep0.o"]);
    let all = ["/w/keep0.o", "/w/keep1.o", "/w/keep2.o"];
    assert_eq!(to("/w/conftest.o"), all, "whatever it held");
}

#[test]
fn what_is_added_to_a_file_goes_with_what_it_held() {
    let mut r = Recorder::new();
    r.run(10, "/b/first", &["first"], |r, it| {
        r.read(it, "/w/a");
        r.write(it, "/w/all");
    });
    r.run(11, "/b/more", &["more"], |r, it| {
        r.read(it, "/w/b");
        r.open(it, b"/w/all", 0o2101, 3);
        r.close(it, 3);
    });
    r.run(12, "/b/cc", &["cc"], |r, it| {
        r.read(it, "/w/all");
        r.write(it, "/w/out");
    });
    r.run(13, "/b/late", &["late"], |r, it| {
        r.read(it, "/w/c");
        r.open(it, b"/w/all", 0o2101, 3);
        r.close(it, 3);
    });
    r.exit(r.shell, 0);
    let loaded = load(&r);
    let trace = &loaded.trace;
    let from = |path: &str| relatives(trace, path, Kinship::WentInto);
    assert_eq!(from("/w/out"), ["/w/a", "/w/all", "/w/b"]);
    assert_eq!(from("/w/all"), ["/w/a", "/w/b", "/w/c"]);
    let made = relatives(trace, "/w/c", Kinship::MadeFrom);
    assert_eq!(made, ["/w/all"], "out was made before");
}

/// As programs write what must be whole when it appears.
#[test]
fn what_was_made_is_told_with_the_name_that_it_got_in_the_end() {
    let mut r = Recorder::new();
    r.run(10, "/b/ld", &["ld"], |r, it| {
        r.read(it, "/w/a.o");
        r.write(it, "/w/stX");
        r.write(it, "/w/map");
        r.rename(it, "/w/stX", "/w/prog");
    });
    r.exit(r.shell, 0);
    let loaded = load(&r);
    let trace = &loaded.trace;
    let list = FileList::new(trace, &Job::default()).unwrap();
    let object = list.find(trace, b"/w/a.o").unwrap();
    let made = list
        .relatives(trace, object, Kinship::MadeFrom, &Job::default())
        .unwrap()
        .files;
    let mut names: Vec<_> = made
        .iter()
        .map(|it| (it.name(trace), it.later_name(trace, &list)))
        .map(|(name, later)| (trace.text(name), later.map(|it| trace.text(it))))
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            ("/w/map".into(), None),
            ("/w/stX".into(), Some("/w/prog".into()))
        ]
    );
}

#[test]
fn an_exchange_is_of_both_files() {
    let mut r = Recorder::new();
    r.run(10, "/b/one", &["one"], |r, it| r.write(it, "/w/x1"));
    r.run(11, "/b/two", &["two"], |r, it| r.write(it, "/w/x2"));
    r.run(12, "/b/swap", &["swap"], |r, it| {
        r.call(it, "Rename2From|fnamesize=5,flags=2");
        r.line(it, b"RF|/w/x1");
        r.call(it, "RenameTo|fnamesize=5");
        r.line(it, b"RT|/w/x2");
    });
    r.run(13, "/b/cc", &["cc"], |r, it| r.read(it, "/w/x1"));
    r.run(14, "/b/ld", &["ld"], |r, it| r.read(it, "/w/x2"));
    r.exit(r.shell, 0);
    let loaded = load(&r);
    let trace = &loaded.trace;
    let mut found = dependencies(trace);
    found.sort();
    let expected = [
        ["one", "ld"],
        ["one", "swap"],
        ["swap", "cc"],
        ["swap", "ld"],
        ["two", "cc"],
        ["two", "swap"],
    ];
    assert_eq!(found, pairs(&expected));
    let list = FileList::new(trace, &Job::default()).unwrap();
    for path in ["/w/x1", "/w/x2"] {
        let file = list.find(trace, path.as_bytes()).unwrap();
        assert_eq!(list.summaries[file.0 as usize].renames, 1, "{path}");
        assert_eq!(list.rows_of(file).len(), 3, "{path}");
    }
}

#[test]
fn a_deleted_file_that_is_still_open_is_the_one_that_was_there() {
    let mut r = Recorder::new();
    r.run(10, "/b/gen", &["gen"], |r, it| {
        r.write(it, "/w/gone");
        r.write(it, "/w/so called (deleted)");
    });
    r.run(11, "/b/cc", &["cc"], |r, it| {
        r.open_as(it, b"/w/gone (deleted)", b"/proc/self/fd/17", 0, 3);
        r.close(it, 3);
    });
    r.run(12, "/b/ld", &["ld"], |r, it| {
        r.read(it, "/w/so called (deleted)");
        r.open_as(it, b"/w/never (deleted)", b"/proc/self/fd/18", 0, 4);
    });
    r.exit(r.shell, 0);
    let loaded = load(&r);
    let trace = &loaded.trace;
    assert_eq!(dependencies(trace), pairs(&[["gen", "cc"], ["gen", "ld"]]));
    let list = FileList::new(trace, &Job::default()).unwrap();
    assert!(list.find(trace, b"/w/gone (deleted)").is_none());
    assert!(list.find(trace, b"/w/so called (deleted)").is_some());
    assert!(list.find(trace, b"/w/never (deleted)").is_some());
}

#[test]
fn programs_that_never_end_work_to_the_end_of_the_trace() {
    let mut r = Recorder::new();
    let make = r.fork(r.shell, 2);
    r.exec(make, "/b/make", &["make"]);
    for pid in [3, 4] {
        let task = r.fork(make, pid);
        r.exec(task, "/b/cc1", &["cc1"]);
    }
    let waits = r.fork(r.shell, 5);
    let brief = r.fork(waits, 6);
    r.exec(brief, "/b/true", &["true"]);
    r.exit(brief, 0);
    r.wait_ms(10_000);
    r.run(7, "/b/date", &["date"], |_, _| ());
    let loaded = load(&r);
    let trace = &loaded.trace;
    let steps = parallelism(trace, &ProcessTimes::new(trace));
    let middle = Timestamp((trace.span.start.0 + trace.span.end.0) / 2);
    let at = steps.partition_point(|step| step.time <= middle);
    assert_eq!(
        steps[at - 1].count,
        2,
        "both compilers, nobody who may wait"
    );
}

#[test]
fn a_program_that_runs_itself_again_ran_twice() {
    let mut r = Recorder::new();
    let task = r.fork(r.shell, 2);
    r.exec(task, "/b/tool", &[]);
    r.exec(task, "/b/tool", &["tool", "--again"]);
    r.exit(task, 0);
    let loaded = load(&r);
    let of_task = |it: &&threadline::trace::Process| it.pid == 2;
    let process = loaded.trace.processes.iter().find(of_task).unwrap();
    assert_eq!(process.images.len(), 2);
}
