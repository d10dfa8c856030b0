//! Nothing is claimed of threads that was not seen: waits, states over lost events, events at one time, lost events,
//! and who woke whom. Through tables, verbs and exports, on small recordings.

use crate::files::Files;
use crate::program::{Row, case, number, rows, stdout};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Start, duration and state of a thread, in order.
fn states_of(file: &str, tid: &str) -> Vec<(i64, String, String)> {
    let all = rows(&["table", "states", file]);
    let own = all.iter().filter(|row| row["tid"] == tid);
    own.map(|row| (number(row, "ts"), row["dur"].clone(), row["state"].clone()))
        .collect()
}

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

fn as_fxt(folder: &Path, file: &str) -> String {
    let out: PathBuf = folder.join("again.fxt");
    let out = out.to_string_lossy().into_owned();
    let _summary = stdout(&["export", file, "-o", &out, "--force"]);
    out
}

#[test]
fn a_preempted_thread_that_ran_unseen_did_not_wait_until_it_left() {
    let folder = tempfile::tempdir().unwrap();
    // The switch to thread 7 on CPU 1 is missing: it is next seen there as it leaves.
    let text = [
        HEAD.to_owned(),
        switch(0, "5.000100", (0, "R"), 7),
        switch(0, "5.000200", (7, "R+"), 9),
        switch(1, "5.000300", (0, "R"), 8),
        switch(1, "5.000900", (7, "S"), 0),
        switch(0, "5.001000", (9, "R+"), 8),
        switch(0, "5.001500", (8, "S"), 9),
    ]
    .concat();
    let file = written(folder.path(), "unseen.ftrace", &text);
    let states = |tid: &str| -> Vec<(i64, String)> {
        let all = states_of(&file, tid).into_iter();
        all.map(|(start, _, state)| (start / 1000, state)).collect()
    };
    let own = states("7");
    assert!(own.contains(&(5_000_200, "unknown".to_owned())), "{own:?}");
    assert!(own.iter().all(|(_, state)| state != "preempted"), "{own:?}");
    // Thread 9 was seen to run again.
    let other = states("9");
    assert!(
        other.contains(&(5_001_000, "preempted".to_owned())),
        "{other:?}"
    );
}

/// Switches that left a runnable thread are missing: what a thread records itself shows that it ran.
#[test]
fn a_thread_that_was_seen_to_run_does_not_wait_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let file = case("ftrace_text/seen-while-ready.ftrace");
    let again = as_fxt(folder.path(), &file);
    for file in [file, again] {
        let own = states_of(&file, "75");
        // Woken, seen on CPU 1 6.4 ms later, and taken back there by a switch after 18.7 ms.
        assert_eq!(own[0].0, 2_579_649_855_457, "{file}");
        assert_eq!(own[0].2, "unknown", "{file}");
        assert!(own.iter().all(|row| row.2 != "runnable"), "{own:?}");
        let waits = rows(&["latency", &file, "--worst", "1000", "--format", "tsv"]);
        assert!(
            waits
                .iter()
                .all(|row| !row.values().any(|cell| cell == "18688529")),
            "{file}"
        );
    }
}

/// The event that wakes a thread is the first of another thread on its CPU: it had left by then, and waits from there.
#[test]
fn a_wait_begins_with_the_event_that_shows_that_the_thread_had_left() {
    let folder = tempfile::tempdir().unwrap();
    let file = case("ftrace_text/left-when-woken.ftrace");
    let again = as_fxt(folder.path(), &file);
    for file in [file, again] {
        let own = states_of(&file, "31110");
        let wait = (
            2_577_657_742_892,
            "2670407".to_owned(),
            "runnable".to_owned(),
        );
        // When it left is not known: its run's end is no later than the wait.
        assert_eq!(own[2], wait, "{file}: {own:?}");
        assert_eq!((&*own[0].2, &*own[1].2), ("running", "unknown"));
    }
}

/// A coarse clock gives a run, and switches of the same thread whose runs were not recorded, one time.
#[test]
fn states_of_one_time_survive_fxt_beside_a_run_of_no_length() {
    let folder = tempfile::tempdir().unwrap();
    let at = "5.000100";
    let text = [
        HEAD.to_owned(),
        switch(0, "5.000050", (9, "S"), 0),
        switch(0, at, (0, "R"), 7),
        switch(0, at, (7, "S"), 0),
        waking(0, at, (0, "d.s2."), 7),
        switch(1, at, (7, "D"), 0),
        waking(1, at, (0, "d.s2."), 7),
        switch(1, at, (7, "D"), 0),
        waking(1, at, (0, "d.s2."), 7),
        switch(1, at, (7, "S"), 0),
        switch(0, "5.000900", (0, "R"), 9),
    ]
    .concat();
    let file = written(folder.path(), "coarse.ftrace", &text);
    let states = states_of(&file, "7");
    let left = states
        .iter()
        .filter(|(_, _, state)| state == "uninterruptible");
    assert_eq!(left.count(), 2, "{states:?}");
    assert_eq!(states_of(&as_fxt(folder.path(), &file), "7"), states);
}

/// Dozens of events of two CPUs have one time, and some runs were not recorded: the order of a thread's states is not
/// the order of the events.
#[test]
fn states_of_a_coarse_clock_survive_fxt() {
    let folder = tempfile::tempdir().unwrap();
    let file = case("ftrace_text/coarse-clock.ftrace.txt.zst");
    let all = |file: &str| {
        let mut all = rows(&["table", "states", file]);
        all.sort_by_cached_key(|row| (row["tid"].clone(), number(row, "ts")));
        all
    };
    let mut states = all(&file);
    assert_eq!(states.len(), 169);
    let again = all(&as_fxt(folder.path(), &file));
    // FXT has no record of a new thread (docs/fxt.md).
    states.retain(|row| row["state"] != "created");
    assert_eq!(states.len(), 168);
    let names = ["ts", "dur", "state", "tid", "waker_tid", "cpu", "woken_in"];
    let facts = |row: &Row| names.map(|name| row[name].clone());
    assert_eq!(
        again.iter().map(facts).collect::<Vec<_>>(),
        states.iter().map(facts).collect::<Vec<_>>()
    );
}

const HEAD: &str = "# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:2\n#\n\
#                                _-----=> irqs-off/BH-disabled\n\
#                               / _----=> need-resched\n\
#                              | / _---=> hardirq/softirq\n\
#                              || / _--=> preempt-depth\n\
#                              ||| / _-=> migrate-disable\n\
#                              |||| /     delay\n\
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n\
#              | |         |   |||||     |         |\n";

fn switch(cpu: u32, time: &str, (prev, state): (u32, &str), next: u32) -> String {
    let name = |pid: u32| match pid {
        0 => format!("swapper/{cpu}"),
        pid => format!("t{pid}"),
    };
    let column = if prev == 0 {
        "<idle>".to_owned()
    } else {
        name(prev)
    };
    format!(
        "          {column}-{prev}       [00{cpu}] d..2.     {time}: sched_switch: prev_comm={} prev_pid={prev} prev_prio=120 prev_state={state} ==> next_comm={} next_pid={next} next_prio=120\n",
        name(prev),
        name(next)
    )
}

fn waking(cpu: u32, time: &str, (waker, flags): (u32, &str), woken: u32) -> String {
    let column = if waker == 0 {
        "<idle>".to_owned()
    } else {
        format!("t{waker}")
    };
    format!(
        "          {column}-{waker}       [00{cpu}] {flags}     {time}: sched_waking: comm=t{woken} pid={woken} prio=120 target_cpu=001\n"
    )
}

/// Every wait of a file: thread, start, length.
fn waits(file: &str) -> Vec<(String, i64, i64)> {
    let found = rows(&["latency", file, "--worst", "100000"]);
    let wait = |row: &Row| {
        let who = row.get("tid").or_else(|| row.get("name")).unwrap().clone();
        (who, number(row, "ts"), number(row, "dur"))
    };
    found.iter().map(wait).collect()
}

#[test]
fn a_wait_is_told_only_if_the_thread_was_seen_to_wait() {
    let file = case("tracedat/overwritten-false-latency.dat.zst");
    let all = rows(&["table", "states", &file]);
    let mut of_thread: HashMap<&str, Vec<&Row>> = HashMap::new();
    for row in &all {
        of_thread.entry(&row["tid"]).or_default().push(row);
    }
    // What the kernel itself measured, at the switch: the thread and how many us ago it was woken.
    let report = stdout(&["report", "-t", &file]);
    let field = |line: &str, name: &str| -> Option<i64> {
        let after = line.split(name).nth(1)?;
        after.split(',').next()?.trim().parse().ok()
    };
    let mut measured: HashMap<String, Vec<(i64, i64)>> = HashMap::new();
    for line in report.lines().filter(|line| line.contains(": wl2:")) {
        let time = line
            .split_whitespace()
            .find(|word| word.ends_with(':') && word.contains('.'));
        let time: i64 = time.unwrap().replace(['.', ':'], "").parse().unwrap();
        let (wait, pid) = (field(line, "lat=").unwrap(), field(line, "pid=").unwrap());
        measured
            .entry(pid.to_string())
            .or_default()
            .push((time, wait * 1000));
    }
    let mut compared = 0;
    for (tid, rows) in &of_thread {
        for pair in rows.windows(2) {
            if pair[0]["state"] != "runnable" {
                continue;
            }
            assert_eq!(pair[1]["state"], "running", "{pair:?}");
            let (run, ours) = (number(pair[1], "ts"), number(pair[0], "dur"));
            let near = measured.get(*tid).and_then(|known| {
                known
                    .iter()
                    .find(|(time, _)| (0..200_000).contains(&(time - run)))
            });
            let is_woken = pair[0]["woken_in"] != "\\N" || pair[0]["waker"] != "\\N";
            // Woken while it was leaving its CPU: the kernel counts from the waking.
            let left = rows
                .iter()
                .any(|row| row["ts"] == pair[0]["ts"] && row["dur"] == "0");
            if let (Some((_, wait)), true, true) = (near, is_woken, left) {
                assert!(*wait >= ours, "{pair:?}: {wait}");
            } else if let (Some((_, wait)), true) = (near, is_woken) {
                assert!((ours - wait).abs() <= 3000 + wait / 50, "{pair:?}: {wait}");
                compared += 1;
            }
        }
    }
    assert!(compared > 1600, "{compared}");
    let of_295 = states_of(&file, "295");
    let at = |time: i64| of_295.iter().find(|row| row.0 == time).unwrap().clone();
    assert_eq!(at(210_155_487_862).2, "unknown");
    assert_eq!(at(211_171_854_922).1, "146472");
    let longest = rows(&["latency", &file])
        .iter()
        .map(|row| number(row, "max"))
        .max();
    assert_eq!(longest, Some(353_571_492));
    // The sleep of who was not seen for a while is marked.
    let is_marked = |row: &&Row| row["spans_loss"] == "1";
    assert!(all.iter().filter(is_marked).count() > 10);
    let is_wait = |row: &Row| row["state"] == "runnable" && row["woken_in"] != "\\N";
    let mut marked = all.iter().filter(is_marked);
    assert!(marked.all(|row| row["state"] != "running" && !is_wait(row)));
    // Of the same recording as FXT no other wait is told.
    let folder = tempfile::tempdir().unwrap();
    let again = waits(&as_fxt(folder.path(), &file));
    let before = waits(&file);
    assert!(again.len() > 1500 && again.iter().all(|wait| before.contains(wait)));
}

#[test]
fn lost_events_between_a_wakeup_and_a_run_leave_the_wait_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let text = |lost: &str, cpu: u32| {
        [
            HEAD,
            &switch(1, "1.000000", (5, "S"), 0),
            &switch(0, "1.000010", (0, "R"), 6),
            &waking(0, "1.000100", (6, "d..4."), 5),
            &if lost.is_empty() {
                String::new()
            } else {
                format!("CPU:{cpu} [LOST 7 EVENTS]\n")
            },
            &switch(0, "1.000200", (6, "S"), 0),
            &switch(1, "1.400000", (0, "R"), 5),
            &switch(1, "1.400100", (5, "S"), 0),
            &switch(0, "1.400200", (0, "R"), 7),
        ]
        .concat()
    };
    let names = |file: &str| -> Vec<(String, String)> {
        let states = states_of(file, "5");
        states
            .into_iter()
            .map(|(_, dur, state)| (state, dur))
            .collect()
    };
    let pair = |state: &str, dur: &str| (state.to_owned(), dur.to_owned());
    let whole = written(folder.path(), "whole.ftrace", &text("", 0));
    assert!(names(&whole).contains(&pair("runnable", "399900000")));
    for cpu in [0, 1] {
        let file = written(folder.path(), "lost.ftrace", &text("lost", cpu));
        assert!(
            names(&file).contains(&pair("unknown", "399900000")),
            "{:?}",
            names(&file)
        );
        assert!(waits(&file).is_empty());
        let latency = rows(&["latency", &file]);
        assert!(latency.iter().all(|row| row["count"] == "0"), "{latency:?}");
        assert!(waits(&as_fxt(folder.path(), &file)).is_empty());
        // In a file beside it, it is no other.
        let unknown = |files: &[&str]| -> usize {
            let text = stdout(&[&["table", "states"], files].concat());
            text.matches("\tunknown\t").count()
        };
        assert_eq!(unknown(&[&whole]), 0);
        assert_eq!(unknown(&[&file, &whole]), unknown(&[&file]));
    }
}

/// Losses in FXT are of no CPU: our own files say of each wait whether it was seen, and files made of them say the same.
#[test]
fn waits_beside_lost_events_survive_fxt() {
    let folder = tempfile::tempdir().unwrap();
    let again = |file: &str, name: &str, range: &[&str]| -> String {
        let out = folder.path().join(name).to_string_lossy().into_owned();
        let _summary = stdout(&[&["export", file, "-o", &out, "--force"], range].concat());
        out
    };
    let ready = |file: &str, range: &[&str]| -> Vec<String> {
        let all = rows(&[&["table", "states", file], range].concat());
        let own = all
            .iter()
            .filter(|row| matches!(&*row["state"], "runnable" | "unknown"));
        own.map(|row| {
            format!(
                "{} {} {} {}",
                row["ts"], row["dur"], row["state"], row["tid"]
            )
        })
        .collect()
    };
    let source = case("tracedat/lost-count-unknown.dat.zst");
    let said = ready(&source, &[]);
    let count = |word: &str| said.iter().filter(|row| row.contains(word)).count();
    assert!(
        count("runnable") > 1000 && count("unknown") > 5,
        "{}",
        said.len()
    );
    let once = again(&source, "once.fxt", &[]);
    assert_eq!(ready(&once, &[]), said);
    assert_eq!(ready(&again(&once, "twice.fxt", &[]), &[]), said);
    // Who waits at a range's end still does, though its run is not in the file; nobody is said to who was not seen to.
    let whole = rows(&["table", "states", &source]);
    let long = |row: &&Row| {
        row["state"] == "runnable" && row["dur"] != "\\N" && number(row, "dur") > 1_000_000
    };
    for waiting in whole.iter().filter(long).step_by(40).take(6) {
        let start = number(waiting, "ts");
        let until = format!("@{}", start + number(waiting, "dur") / 2);
        let from = format!("@{}", start + 1);
        for from in ["@0", &from] {
            let range = ["--from", from, "--until", &until];
            let part = again(&source, "part.fxt", &range);
            let ours = rows(&[&["table", "states", &source][..], &range].concat());
            let theirs = rows(&["table", "states", &part]);
            let waits = |rows: &[Row]| rows.iter().filter(|row| row["state"] == "runnable").count();
            let mut own = theirs.iter().filter(|row| row["tid"] == waiting["tid"]);
            assert_eq!(own.next_back().unwrap()["state"], "runnable", "{waiting:?}");
            assert_eq!(waits(&theirs), waits(&ours), "{range:?}");
        }
    }
}

#[test]
fn a_second_waking_proves_that_the_thread_ran_in_between() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        HEAD,
        &switch(1, "1.000000", (5, "S"), 0),
        &waking(0, "1.000100", (6, "d..4."), 5),
        &waking(0, "1.300100", (6, "d..4."), 5),
        &switch(1, "1.300150", (0, "R"), 5),
        &switch(1, "1.400100", (5, "S"), 0),
    ]
    .concat();
    let file = written(folder.path(), "twice.ftrace", &text);
    let found = waits(&file);
    assert_eq!(
        found.iter().map(|wait| wait.2).collect::<Vec<_>>(),
        [50_000]
    );
    assert_eq!(waits(&as_fxt(folder.path(), &file)), found);
}

#[test]
fn who_was_only_woken_is_not_said_to_wait() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        HEAD,
        &waking(0, "1.000100", (6, "d..4."), 5),
        &waking(0, "1.300100", (6, "d..4."), 5),
        &waking(0, "1.500100", (5, "d..4."), 6),
    ]
    .concat();
    let file = written(folder.path(), "woken.ftrace", &text);
    // That it was woken is known, and by whom; not for how long it waited.
    let of_5 = states_of(&file, "5");
    let kinds: Vec<&str> = of_5.iter().map(|row| &*row.2).collect();
    assert_eq!(kinds, ["unknown", "unknown"]);
    assert_eq!(of_5[1].1, "0");
    assert_eq!(states_of(&file, "6")[0].1, "0");
    assert!(waits(&file).is_empty());
    assert!(waits(&as_fxt(folder.path(), &file)).is_empty());
    // Switches of one thread alone were recorded.
    let text = [
        HEAD,
        &text[HEAD.len()..],
        &switch(1, "1.600000", (7, "S"), 0),
    ]
    .concat();
    let file = written(folder.path(), "filtered.ftrace", &text);
    let states = rows(&["table", "states", &file]);
    assert!(
        states.iter().all(|row| row["state"] != "runnable"),
        "{states:?}"
    );
}

#[test]
fn events_of_one_time_keep_their_order() {
    let states = states_of(&case("tracedat/same-stamp.dat.zst"), "29");
    let from = states
        .iter()
        .position(|row| row.0 == 204_862_021_499)
        .unwrap();
    let row = |time: i64, dur: &str, state: &str| (time, dur.to_owned(), state.to_owned());
    assert_eq!(
        states[from..from + 5],
        [
            row(204_862_021_499, "0", "runnable"),
            row(204_862_021_499, "0", "running"),
            row(204_862_021_499, "4091958", "sleeping"),
            row(204_866_113_457, "55617", "runnable"),
            row(204_866_169_074, "12032", "running"),
        ]
    );
    let folder = tempfile::tempdir().unwrap();
    let again = states_of(
        &as_fxt(folder.path(), &case("tracedat/same-stamp.dat.zst")),
        "29",
    );
    let from = again
        .iter()
        .position(|row| row.0 == 204_862_021_499)
        .unwrap();
    assert!(again[from..].contains(&row(204_862_021_499, "4091958", "sleeping")));
    assert!(again[from..].contains(&row(204_866_113_457, "55617", "runnable")));
    let text = states_of(&case("ftrace_text/same-stamp.ftrace"), "29");
    let kinds: Vec<&str> = text.iter().map(|row| &*row.2).collect();
    assert_eq!(
        kinds,
        [
            "runnable", "running", "sleeping", "runnable", "running", "sleeping"
        ]
    );
    assert_eq!(text[3].1, "50000");
}

#[test]
fn lost_events_are_the_largest_number_that_the_file_proves() {
    let file = case("tracedat/lost-count-unknown.dat.zst");
    let line = |file: &str| -> String {
        let text = stdout(&["info", file]);
        let line = text.lines().find(|line| line.starts_with("lost events"));
        line.unwrap()["lost events".len()..].trim().to_owned()
    };
    let json = |file: &str| -> (u64, bool) {
        let info: serde_json::Value =
            serde_json::from_str(&stdout(&["info", "--json", file])).unwrap();
        let is_bound = info["lost_events_is_lower_bound"].as_bool().unwrap();
        (info["lost_events"].as_u64().unwrap(), is_bound)
    };
    assert_eq!(line(&file), "12110");
    assert_eq!(json(&file), (12_110, false));
    let loaded =
        threadline::load::open(Path::new(&file), &threadline::base::Job::default()).unwrap();
    assert_eq!(loaded.trace.lost_text(), "12 110");
    // Both files' losses are those of both on one axis.
    let other = case("tracedat/overwritten-false-latency.dat.zst");
    assert_eq!(json(&other), (2_674, false));
    // Our FXT has the recorder's own counts too.
    let folder = tempfile::tempdir().unwrap();
    let fxt = as_fxt(folder.path(), &file);
    assert_eq!(json(&fxt), (12_110, false));
    assert_eq!(line(&fxt), "12110");
    let text = [
        HEAD,
        &switch(1, "1.000000", (5, "S"), 0),
        "CPU:1 [LOST EVENTS]\n",
        &switch(1, "1.100000", (0, "R"), 5),
        "CPU:1 [LOST 5 EVENTS]\n",
        &switch(1, "1.200000", (5, "S"), 0),
    ]
    .concat();
    let text = written(folder.path(), "lost.ftrace", &text);
    assert_eq!(line(&text), "at least 6");
    // A bound is one there as well.
    assert_eq!(line(&as_fxt(folder.path(), &text)), "at least 6");
}

#[test]
fn an_interrupt_wakes_not_the_thread_that_it_interrupted() {
    let file = case("tracedat/chain-untraced-interrupt.dat.zst");
    let states = rows(&["table", "states", &file]);
    let of_kind = |kind: &str| {
        states
            .iter()
            .filter(move |row| row["woken_in"] == kind)
            .count()
    };
    assert_eq!((of_kind("hardirq"), of_kind("softirq")), (1323, 1715));
    let in_interrupts = states.iter().filter(|row| row["woken_in"] != "\\N");
    assert!(in_interrupts.clone().all(|row| row["waker_tid"] == "\\N"));
    let woken = states
        .iter()
        .find(|row| row["tid"] == "211" && row["ts"] == "117822813149")
        .unwrap();
    assert_eq!(
        (&*woken["waker"], &*woken["woken_in"]),
        ("a hardware interrupt", "hardirq")
    );
    // The waker is kept, and is the interrupt, in the chain and in FXT.
    let chain = rows(&["chain", "--thread", "212", "--at", "@117813208442", &file]);
    let hop = chain
        .iter()
        .find(|row| row["ts"] == "117822813149")
        .unwrap();
    assert_eq!(hop["waker"], "a hardware interrupt");
    let folder = tempfile::tempdir().unwrap();
    let again = rows(&["table", "states", &as_fxt(folder.path(), &file)]);
    let hard = again
        .iter()
        .filter(|row| row["woken_in"] == "hardirq")
        .count();
    assert_eq!(hard, 1323);
    let text = [
        HEAD,
        &switch(1, "1.000000", (5, "S"), 0),
        &switch(0, "1.000010", (0, "R"), 6),
        &waking(0, "1.000100", (6, "d.H4."), 5),
        &switch(1, "1.000200", (0, "R"), 5),
        &switch(1, "1.000300", (5, "S"), 0),
        &waking(0, "1.000400", (6, "d.s4."), 5),
        &switch(1, "1.000500", (0, "R"), 5),
        &switch(1, "1.000600", (5, "S"), 0),
        &waking(0, "1.000700", (6, "d..4."), 5),
        &switch(1, "1.000800", (0, "R"), 5),
    ]
    .concat();
    let text = written(folder.path(), "irq.ftrace", &text);
    let states = rows(&["table", "states", &text]);
    let wakers: Vec<(&str, &str)> = states
        .iter()
        .filter(|row| row["tid"] == "5" && row["state"] == "runnable")
        .map(|row| (&*row["woken_in"], &*row["waker_tid"]))
        .collect();
    assert_eq!(
        wakers,
        [("hardirq", "\\N"), ("softirq", "\\N"), ("\\N", "6")]
    );
}

#[test]
fn a_chain_of_thousands_of_hops_is_told_whole() {
    let file = case("tracedat/chain-untraced-interrupt.dat.zst");
    let arguments = ["chain", "--thread", "208", "--at", "@111646313489", &file];
    let chain = rows(&arguments);
    assert!(chain.len() <= 256);
    let mut time = number(&chain[0], "ts");
    for hop in &chain {
        assert_eq!(number(hop, "ts"), time);
        time += number(hop, "dur");
    }
    let ran = states_of(&file, "208").into_iter();
    let ran = ran
        .filter(|row| row.2 == "running")
        .find(|row| row.0 > 111_646_313_489);
    assert_eq!(Some(time), ran.map(|row| row.0));
    assert_eq!(number(&chain[0], "ts"), 111_646_313_489);
    assert!(chain.iter().all(|hop| hop["what"] != "unknown"));
    let merged = |hop: &Row| hop["what"].strip_suffix(" short hops")?.parse::<u32>().ok();
    assert!(chain.iter().filter_map(merged).sum::<u32>() > 300);
}

/// Switches were recorded for a part of the time only: before the first one and after the last one of a CPU, events
/// show who was there.
#[test]
fn nobody_runs_where_another_thread_was_seen() {
    for (name, count) in [("later", 5), ("earlier", 5)] {
        let file = case(&format!("ftrace_text/switches-recorded-{name}.ftrace"));
        let runs = rows(&["table", "runs", &file]);
        let events = rows(&["table", "events", &file]);
        assert!(runs.len() >= count && events.len() > 100, "{}", runs.len());
        for run in &runs {
            let start = number(run, "ts");
            // A run of unknown length claims nothing.
            let end = run["dur"].parse::<i64>().map_or(start, |dur| start + dur);
            let is_inside = |event: &&Row| {
                let ts = number(event, "ts");
                event["cpu"] == run["cpu"] && start < ts && ts < end
            };
            for event in events.iter().filter(is_inside) {
                assert_eq!(event["tid"], run["tid"], "{name}: {event:?} in {run:?}");
            }
        }
    }
}

/// The switches fit, but another thread recorded an event between them: the first thread left and came back unseen.
#[test]
fn a_thread_that_left_and_came_back_ran_only_where_it_was_seen() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        HEAD.to_owned(),
        switch(0, "5.000100", (9, "S"), 7),
        waking(0, "5.000200", (7, "d..2."), 20),
        waking(0, "5.000300", (8, "d..2."), 21),
        waking(0, "5.000400", (7, "d..2."), 22),
        switch(0, "5.000500", (7, "S"), 9),
        switch(0, "5.000900", (9, "S"), 0),
    ]
    .concat();
    let file = written(folder.path(), "back.ftrace", &text);
    for file in [file.clone(), as_fxt(folder.path(), &file)] {
        let all = rows(&["table", "runs", &file]);
        let own = all.iter().filter(|run| run["tid"] == "7");
        let own: Vec<_> = own.map(|run| (&*run["ts"], &*run["dur"])).collect();
        assert_eq!(own, [("5000100000", "\\N"), ("5000400000", "100000")]);
        let states = states_of(&file, "7");
        let told: Vec<_> = states.iter().map(|row| (row.0, &*row.2)).collect();
        assert_eq!(
            told,
            [
                (5_000_100_000, "running"),
                (5_000_200_000, "unknown"),
                (5_000_400_000, "running"),
                (5_000_500_000, "sleeping"),
            ],
            "{file}"
        );
    }
}

/// A CPU without switches has a number between those of CPUs with switches.
#[test]
fn runs_beside_a_cpu_without_switches_survive_fxt() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        HEAD.to_owned(),
        switch(0, "5.000100", (9, "S"), 7),
        waking(1, "5.000150", (20, "d..2."), 21),
        waking(0, "5.000200", (7, "d..2."), 20),
        switch(2, "5.000300", (30, "S"), 31),
        switch(2, "5.000400", (31, "S"), 30),
        waking(0, "5.000500", (8, "d..2."), 21),
        switch(0, "5.000900", (9, "S"), 0),
    ]
    .concat();
    let file = written(folder.path(), "between.ftrace", &text);
    let again = as_fxt(folder.path(), &file);
    let runs = |file: &str| {
        let all = rows(&["table", "runs", file]);
        let told = all
            .iter()
            .map(|run| ["ts", "dur", "cpu", "tid", "end_state"].map(|name| run[name].clone()));
        told.collect::<Vec<_>>()
    };
    assert_eq!(runs(&again), runs(&file));
    let unfinished = runs(&file).iter().filter(|run| run[1] == "\\N").count();
    assert_eq!(unfinished, 2);
    let stats = |file: &str| stdout(&["stats", "--of", "runs", "--format", "tsv", file]);
    assert_eq!(stats(&again), stats(&file));
}

/// Switches are missing: what a thread records after it left shows that the state in which it left was over.
#[test]
fn an_event_of_a_thread_ends_the_state_in_which_it_left() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        HEAD.to_owned(),
        switch(0, "5.000100", (7, "S"), 8),
        switch(0, "5.000200", (8, "R+"), 9),
        waking(0, "5.000300", (9, "d..2."), 20),
        waking(0, "5.000400", (7, "d..2."), 21),
        waking(0, "5.000500", (8, "d..2."), 22),
        waking(0, "5.000600", (6, "d..2."), 23),
        switch(0, "5.000700", (5, "S"), 7),
        switch(0, "5.000800", (7, "S"), 8),
        switch(0, "5.000900", (8, "D"), 9),
        waking(0, "5.001000", (7, "d..2."), 21),
        switch(0, "5.001100", (6, "S"), 9),
    ]
    .concat();
    let file = written(folder.path(), "contradicted.ftrace", &text);
    let again = as_fxt(folder.path(), &file);
    for file in [file, again] {
        let own = |tid: &str| -> Vec<(i64, String, String)> {
            let all = states_of(&file, tid).into_iter();
            let near = |start: i64| start / 1000 - 5_000_000;
            all.map(|(start, dur, state)| (near(start), dur, state))
                .collect()
        };
        let row = |start: i64, dur: &str, state: &str| (start, dur.to_owned(), state.to_owned());
        let sleeper = own("7");
        assert_eq!(
            sleeper[sleeper.len() - 4..],
            [
                row(100, "300000", "sleeping"),
                row(400, "300000", "unknown"),
                row(700, "100000", "running"),
                // Nothing is known of the time after it was seen again.
                row(800, "200000", "sleeping"),
            ],
            "{file}"
        );
        // A preempted thread that was seen to run did not wait until its next run.
        let preempted = own("8");
        assert!(
            preempted.contains(&row(200, "600000", "unknown")),
            "{preempted:?}"
        );
        assert!(
            preempted.contains(&row(900, "\\N", "uninterruptible")),
            "{preempted:?}"
        );
    }
}

/// The events of a thread right after it left may be the rest of the switch, but not its system calls.
#[test]
fn a_system_call_shows_that_the_thread_that_left_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let call = |time: &str, what: &str| {
        format!("              t7-7       [000] .....     {time}: {what}\n")
    };
    let text = [
        HEAD.to_owned(),
        switch(0, "5.000100", (7, "S"), 8),
        waking(0, "5.000110", (7, "d..2."), 20),
        call("5.000300", "sys_enter: NR 39 (0, 0, 0, 0, 0, 0)"),
        call("5.000301", "sys_exit: NR 39 = 7"),
        switch(0, "5.000500", (7, "S"), 0),
        switch(0, "5.000600", (0, "R"), 9),
    ]
    .concat();
    let file = written(folder.path(), "back.ftrace", &text);
    for file in [file.clone(), as_fxt(folder.path(), &file)] {
        let all = rows(&["table", "runs", &file]);
        let runs: Vec<_> = all
            .iter()
            .map(|run| (&*run["tid"], &*run["ts"], &*run["dur"]))
            .collect();
        let expected = [
            ("8", "5000100000", "\\N"),
            ("7", "5000300000", "200000"),
            ("9", "5000600000", "\\N"),
        ];
        assert!(runs.ends_with(&expected), "{file}: {runs:?}");
    }
}

/// A thread is preempted again and again, and the switches back to it are missing: each of its states ends at its next
/// system call.
#[test]
fn a_thread_is_seen_again_after_each_switch() {
    let folder = tempfile::tempdir().unwrap();
    let call = |time: &str| {
        format!(
            "              t7-7       [000] .....     {time}: sys_enter: NR 39 (0, 0, 0, 0, 0, 0)\n"
        )
    };
    let text = [
        HEAD.to_owned(),
        switch(0, "5.000100", (7, "R+"), 8),
        call("5.000200"),
        switch(0, "5.000300", (7, "S"), 8),
        call("5.000400"),
        switch(0, "5.000500", (7, "R+"), 8),
        call("5.000600"),
        switch(0, "5.000900", (9, "S"), 7),
        switch(0, "5.001000", (7, "S"), 0),
    ]
    .concat();
    let file = written(folder.path(), "again.ftrace", &text);
    for file in [file.clone(), as_fxt(folder.path(), &file)] {
        let own = states_of(&file, "7");
        let told: Vec<_> = own
            .iter()
            .map(|row| (row.0 / 1000 - 5_000_000, &*row.1, &*row.2))
            .filter(|row| row.2 != "running")
            .collect();
        let expected = [
            (100, "100000", "unknown"),
            (300, "100000", "sleeping"),
            (500, "400000", "unknown"),
            (1000, "\\N", "sleeping"),
        ];
        assert_eq!(told, expected, "{file}");
    }
}

/// With a coarse clock, a thread is switched to on CPU 0, and to and from on CPU 1, at one time: it ends up on CPU 0.
#[test]
fn of_switches_of_one_time_those_where_the_thread_stays_come_last() {
    let folder = tempfile::tempdir().unwrap();
    let at = "5.000100000";
    let text = [
        HEAD.to_owned(),
        switch(0, "5.000050000", (9, "S"), 0),
        switch(1, "5.000050000", (6, "S"), 0),
        switch(0, at, (0, "R"), 7),
        switch(1, at, (0, "R"), 7),
        switch(1, at, (7, "R+"), 6),
        switch(0, "5.000900000", (7, "S"), 9),
    ]
    .concat();
    let file = written(folder.path(), "one-time.ftrace", &text);
    for file in [file.clone(), as_fxt(folder.path(), &file)] {
        let own = states_of(&file, "7");
        let told: Vec<_> = own.iter().map(|row| (&*row.1, &*row.2)).collect();
        assert_eq!(told.last(), Some(&("\\N", "sleeping")), "{file}");
        let run = told[told.len() - 2];
        assert_eq!(run, ("800000", "running"), "{file}: {told:?}");
    }
}

/// Switches are missing although no loss is recorded: a thread left when another one was seen on its CPU.
#[test]
fn events_of_another_thread_end_a_run_whose_switch_is_missing() {
    let file = case("ftrace_text/missing-switches.ftrace.txt.zst");
    let folder = tempfile::tempdir().unwrap();
    for file in [file.clone(), as_fxt(folder.path(), &file)] {
        let runs: Vec<_> = rows(&["table", "runs", &file])
            .iter()
            .map(|row| {
                (
                    number(row, "ts") / 1000,
                    row["dur"].clone(),
                    row["tid"].clone(),
                )
            })
            .collect();
        let run = |ts: i64, dur: &str, tid: &str| (ts, dur.to_owned(), tid.to_owned());
        assert_eq!(
            runs[..4],
            [
                run(366_859_221, "3000", "14581"),
                run(366_859_224, "\\N", "75"),
                run(366_860_210, "47000", "44"),
                run(366_860_257, "\\N", "75"),
            ],
            "{file}"
        );
    }
}

/// In text, the end of a softirq and the wakeup after it may have one time: their order and the flags decide.
#[test]
fn what_stands_behind_the_end_of_a_softirq_was_not_woken_by_it() {
    let file = case("ftrace_text/woken-after-softirq.ftrace");
    let states = rows(&["table", "states", &file]);
    let waker = |tid: &str| {
        let mut own = states.iter().filter(|row| row["tid"] == tid);
        own.find(|row| row["state"] == "runnable").unwrap()["waker"].clone()
    };
    assert!(waker("16804").contains("w1"), "{}", waker("16804"));
    assert_eq!(waker("16802"), "BLOCK");
}

/// What a thread did on another CPU is not in the export of one: its states there are unknown, not longer.
#[test]
fn states_in_the_export_of_a_cpu_are_those_of_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        HEAD.to_owned(),
        switch(0, "100.000100", (10, "S"), 11),
        waking(1, "100.000200", (12, "d..2."), 10),
        switch(1, "100.000210", (12, "R"), 10),
        switch(1, "100.000300", (10, "S"), 12),
        waking(0, "100.000400", (11, "d..2."), 10),
        switch(0, "100.000410", (11, "R"), 10),
        switch(0, "100.000500", (10, "S"), 11),
    ]
    .concat();
    let file = written(folder.path(), "two.ftrace", &text);
    let all = states_of(&file, "10");
    assert_eq!(
        all.iter().filter(|row| row.1 == "100000").count(),
        2,
        "{all:?}"
    );
    for more in [["--cpu", "0"], ["--track", "CPU 0"]] {
        let out = folder
            .path()
            .join("cpu0.fxt")
            .to_string_lossy()
            .into_owned();
        let arguments = ["export", &file, "-o", &out, "--force", more[0], more[1]];
        let _summary = stdout(&arguments);
        let again = states_of(&out, "10");
        let known = again
            .iter()
            .filter(|row| row.2 != "unknown" && !row.1.is_empty());
        for state in known.clone() {
            assert!(all.contains(state), "{more:?}: {state:?} of {all:?}");
        }
        if more[0] == "--cpu" {
            assert!(known.count() >= 2, "{again:?}");
        }
    }
}

/// Thread 1 runs on both CPUs: a table of one CPU has none of its states on the other, and the runs of a CPU's track keep
/// the states in which their threads left, also of threads whose states are not chosen.
#[test]
fn a_chosen_cpu_has_its_own_states_and_the_ends_of_its_runs() {
    let text = [
        HEAD.to_owned(),
        switch(0, "1.000000", (1, "S"), 2),
        switch(1, "1.000005", (0, "R"), 1),
        switch(1, "1.000010", (1, "S"), 3),
        switch(0, "1.000020", (2, "S"), 1),
        switch(0, "1.000030", (1, "S"), 2),
        switch(1, "1.000040", (3, "D"), 0),
        switch(0, "1.000050", (2, "S"), 0),
    ]
    .concat();
    let files = Files::new(&[("a.ftrace", &text)]);
    let exported = |to: &str, table: &str, choice: &[&str]| {
        let arguments = [
            "export", "a.ftrace", "-o", "-", "--to", to, "--table", table,
        ];
        files.text(&[&arguments[..], choice].concat())
    };
    let states = exported("csv", "states", &["--cpu", "1"]);
    let states: Vec<Vec<&str>> = states.lines().map(|row| row.split(',').collect()).collect();
    let [state, tid, cpu] = ["state", "tid", "cpu"].map(|name| {
        let at = states[0].iter().position(|column| *column == name);
        at.unwrap()
    });
    let of_thread = |id: &str| {
        let own = states.iter().filter(|row| row[tid] == id);
        own.map(|row| (row[state], row[cpu])).collect::<Vec<_>>()
    };
    assert_eq!(of_thread("2"), []);
    assert_eq!(of_thread("1"), [("running", "1"), ("sleeping", "")]);
    for choice in [
        &["--track", "CPU 1"][..],
        &["--track", "CPU 1", "--thread", "2"],
    ] {
        let arguments = ["export", "a.ftrace", "-o", "b.fxt", "--force"];
        let _summary = files.text(&[&arguments[..], choice].concat());
        let runs = files.table(&["runs", "b.fxt"]);
        let runs = runs.iter().filter(|row| row["cpu"] == 1);
        let ends: Vec<_> = runs.map(|row| (&row["tid"], &row["end_state"])).collect();
        assert_eq!(ends, [(&1.into(), &"S".into()), (&3.into(), &"D".into())]);
        // Alone, the track means the CPU with its states.
        if choice.len() > 2 {
            let states = files.table(&["states", "b.fxt"]);
            let is_chosen = |row: &serde_json::Value| row["tid"] == 2;
            assert!(states.iter().all(is_chosen), "{states:?}");
        }
    }
}

/// Thread 94 of process 92 calls `execve`: its leader dies, and from then on the number 92 is its own.
#[test]
fn a_thread_that_takes_its_leaders_number_ends_without_a_lost_switch() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        HEAD.to_owned(),
        switch(1, "5.000100", (0, "R"), 94),
        " t-94    [001] .....  5.000110: sys_enter: NR 59 (1, 2, 3, 0, 0, 0)\n".to_owned(),
        switch(0, "5.000120", (0, "R"), 92),
        " t-92    [000] .....  5.000130: sched_process_exit: comm=t pid=92 prio=120\n".to_owned(),
        switch(0, "5.000140", (92, "Z"), 0),
        " t-92    [001] .....  5.000200: sys_enter: NR 12 (0, 0, 0, 0, 0, 0)\n".to_owned(),
        " t-92    [001] .....  5.000210: sched_process_exec: filename=/bin/t pid=92 old_pid=94\n"
            .to_owned(),
        switch(1, "5.000300", (92, "S"), 0),
    ]
    .concat();
    let recorded = written(folder.path(), "exec.ftrace", &text);
    let again = as_fxt(folder.path(), &recorded);
    for file in [&recorded, &again] {
        let runs = rows(&["table", "runs", file]);
        let runs = runs.iter().filter(|run| run["cpu"] == "1");
        let told = runs.map(|run| {
            let (start, tid) = (number(run, "ts") / 1000, run["tid"].as_str());
            (start, tid, run["dur"].as_str(), run["end_state"].as_str())
        });
        let expected = [
            (5_000_100, "94", "100000", "X"),
            (5_000_200, "92", "100000", "S"),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected, "{file}");
        let of_caller: Vec<_> = states_of(file, "94").into_iter().map(|it| it.2).collect();
        assert_eq!(of_caller, ["running", "dead"], "{file}");
        let of_leader: Vec<_> = states_of(file, "92").into_iter().map(|it| it.2).collect();
        assert_eq!(of_leader, ["running", "zombie", "running", "sleeping"]);
        let noted = rows(&["table", "diagnostics", file]);
        assert!(noted.iter().all(|row| row["code"] != "switch_mismatch"));
    }
}

/// The leader that dies has the caller's number when it leaves its CPU.
#[test]
fn a_leader_that_dies_under_the_callers_number_ran_until_then() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        HEAD.to_owned(),
        switch(1, "5.000100", (0, "R"), 92),
        " t-92    [001] .....  5.000110: sched_process_exit: comm=t pid=92 prio=120\n".to_owned(),
        waking(1, "5.000120", (92, "d..2."), 94),
        switch(0, "5.000130", (0, "R"), 94),
        switch(1, "5.000140", (94, "X"), 0),
        " t-92    [000] .....  5.000210: sched_process_exec: filename=/bin/t pid=92 old_pid=94\n"
            .to_owned(),
        switch(0, "5.000300", (92, "S"), 0),
    ]
    .concat();
    let recorded = written(folder.path(), "exec.ftrace", &text);
    for file in [&recorded, &as_fxt(folder.path(), &recorded)] {
        let runs = rows(&["table", "runs", file]);
        let mut told: Vec<_> = (runs.iter())
            .map(|run| {
                let (start, dur) = (number(run, "ts") / 1000, run["dur"].as_str());
                (start, run["tid"].as_str(), dur)
            })
            .collect();
        told.sort_unstable();
        let expected = [
            (5_000_100, "92", "40000"),
            (5_000_130, "94", "80000"),
            (5_000_210, "92", "90000"),
        ];
        assert_eq!(told, expected, "{file}");
        let of_leader: Vec<_> = states_of(file, "92").into_iter().map(|it| it.2).collect();
        assert_eq!(of_leader, ["running", "dead", "running", "sleeping"]);
    }
    let noted = rows(&["table", "diagnostics", &recorded]);
    assert!(noted.iter().all(|row| row["code"] != "switch_mismatch"));
}

/// The event of an exit says whether the thread was the last one of its process: without `task_newtask` nothing else shows that
/// thread 201 belongs to process 200.
#[test]
fn a_process_lives_until_the_exit_of_its_last_thread() {
    let folder = tempfile::tempdir().unwrap();
    let line =
        |pid: u32, time: &str, event: &str| format!(" app-{pid} [000] ..... {time}: {event}\n");
    let text = |flag: &dyn Fn(&str) -> String| {
        [
            HEAD.to_owned(),
            line(
                200,
                "9.900000",
                "sched_process_exec: filename=/bin/app pid=200 old_pid=200",
            ),
            line(
                200,
                "10.002000",
                "sched_process_fork: comm=app pid=200 child_comm=app child_pid=201",
            ),
            line(
                200,
                "10.003000",
                &format!(
                    "sched_process_exit: comm=app pid=200 prio=120{}",
                    flag("false")
                ),
            ),
            line(
                201,
                "10.004000",
                "sched_process_fork: comm=app pid=201 child_comm=app child_pid=202",
            ),
            line(
                202,
                "10.005000",
                &format!(
                    "sched_process_exit: comm=app pid=202 prio=120{}",
                    flag("false")
                ),
            ),
            line(
                201,
                "10.090000",
                &format!(
                    "sched_process_exit: comm=app pid=201 prio=120{}",
                    flag("true")
                ),
            ),
        ]
        .concat()
    };
    let ends = |name: &str, text: &str| {
        let file = written(folder.path(), name, text);
        let all = rows(&["table", "processes", &file]);
        ["200", "201", "202"].map(|pid| {
            let own = all.iter().find(|row| row["pid"] == pid);
            own.unwrap()["end"].clone()
        })
    };
    let stated = ends(
        "stated.ftrace",
        &text(&|last| format!(" group_dead={last}")),
    );
    assert_eq!(stated, ["\\N", "10090000000", "10005000000"]);
    let old = ends("old.ftrace", &text(&|_| String::new()));
    assert_eq!(old, ["10003000000", "10090000000", "10005000000"]);
}

#[test]
fn a_pid_that_is_forked_twice_in_a_millisecond_has_two_lives() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\
# tracer: nop
#
         python3-4096    [000] .....  2905.233583: sched_process_fork: comm=python3 pid=4096 child_comm=python3 child_pid=31001
         python3-4096    [000] d..2.  2905.233599: sched_switch: prev_comm=python3 prev_pid=4096 prev_prio=120 prev_state=R ==> next_comm=python3 next_pid=31001 next_prio=120
         python3-31001   [000] d..2.  2905.237078: sched_switch: prev_comm=python3 prev_pid=31001 prev_prio=120 prev_state=Z ==> next_comm=python3 next_pid=4096 next_prio=120
         python3-4096    [000] .....  2905.237968: sched_process_fork: comm=python3 pid=4096 child_comm=python3 child_pid=31001
         python3-4096    [000] d..2.  2905.238056: sched_switch: prev_comm=python3 prev_pid=4096 prev_prio=120 prev_state=S ==> next_comm=python3 next_pid=31001 next_prio=120
";
    let file = written(folder.path(), "twice.txt", text);
    let lives = |file: &str| {
        let all = rows(&["table", "threads", file]);
        all.iter().filter(|row| row["tid"] == "31001").count()
    };
    assert_eq!(lives(&file), 2);
    // `task_newtask` and `sched_process_fork` are one fork.
    let fork = "sched_process_fork: comm=python3 pid=4096 child_comm=python3 child_pid=31001\n";
    let task = "         python3-4096    [000] .....  2905.233580: task_newtask: pid=31001 comm=python3 clone_flags=1200011 oom_score_adj=0\n";
    let both = text.replacen("#\n", &format!("#\n{task}"), 1);
    assert!(both.contains(fork));
    assert_eq!(lives(&written(folder.path(), "both.txt", &both)), 2);
}

/// Only `sched_waking` is recorded: its CPU is where thread 15 ran before. Events were lost there.
#[test]
fn a_wait_that_may_have_ended_on_a_cpu_with_losses_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let text = |more: &str, lost: &str| {
        [
            HEAD,
            &switch(0, "5.000000", (0, "R"), 50),
            &switch(1, "5.000100", (15, "I"), 60),
            &waking(1, "5.016066", (60, "d..4."), 15).replace("target_cpu=001", "target_cpu=000"),
            more,
            &switch(1, "5.024048", (60, "R"), 15),
            &switch(1, "5.024062", (15, "I"), 60),
            lost,
            &switch(0, "5.090000", (50, "S"), 0),
        ]
        .concat()
    };
    let lost = "CPU:0 [LOST 1000 EVENTS]\n";
    let wakeup = |cpu: u32| {
        let line = waking(1, "5.016070", (60, "d..4."), 15);
        line.replace("sched_waking", "sched_wakeup")
            .replace("target_cpu=001", &format!("target_cpu=00{cpu}"))
    };
    for (more, lost, is_wait) in [
        (String::new(), "", true),
        (String::new(), lost, false),
        (wakeup(0), lost, false),
        // Put where nothing was lost.
        (wakeup(1), lost, true),
        // Other wakeups are recorded; that of thread 15 is not: it was put on a CPU with losses.
        (wakeup(1).replace("pid=15", "pid=16"), lost, false),
    ] {
        let file = written(folder.path(), "waking.ftrace", &text(&more, lost));
        let states = states_of(&file, "15");
        let state = if is_wait { "runnable" } else { "unknown" };
        let wait = (5_016_066_000, "7982000".to_owned(), state.to_owned());
        assert!(states.contains(&wait), "{more}{lost}{states:?}");
        let again = states_of(&as_fxt(folder.path(), &file), "15");
        assert!(again.contains(&wait), "{more}{lost}{again:?}");
    }
}

#[test]
fn a_thread_that_is_woken_while_it_leaves_its_cpu_waits_from_there_on() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        HEAD.to_owned(),
        switch(0, "5.000000", (0, "R"), 50),
        switch(1, "5.000100", (0, "R"), 60),
        waking(1, "5.001000", (60, "d..2."), 50),
        switch(0, "5.001001", (50, "S"), 70),
        switch(0, "5.003500", (70, "R"), 50),
        switch(0, "5.004000", (50, "S"), 0),
        // Long before the switch, after a run whose own waking is missing: it may be that one, by a clock that is late.
        switch(0, "5.005000", (0, "R"), 50),
        waking(1, "5.005100", (60, "d..2."), 50),
        switch(0, "5.009000", (50, "S"), 70),
        switch(0, "5.010000", (70, "R"), 50),
        switch(0, "5.011000", (50, "S"), 0),
    ]
    .concat();
    let file = written(folder.path(), "leaving.ftrace", &text);
    for file in [&file, &as_fxt(folder.path(), &file)] {
        let told = states_of(file, "50");
        let own: Vec<(i64, &str)> = told.iter().map(|it| (it.0 / 1000, &*it.2)).collect();
        let expected = [
            (5_000_000, "running"),
            (5_001_001, "sleeping"),
            (5_001_001, "runnable"),
            (5_003_500, "running"),
            (5_004_000, "sleeping"),
            (5_005_000, "running"),
            (5_009_000, "sleeping"),
            (5_010_000, "running"),
            (5_011_000, "sleeping"),
        ];
        assert_eq!(own, expected, "{file}");
        let mut waits: Vec<_> = waits(file).iter().map(|wait| (wait.1, wait.2)).collect();
        waits.sort_unstable();
        assert_eq!(waits, [(5_001_001_000, 2_499_000)]);
    }
}

/// A recorder that leaves out events of some threads may have left out what woke this one.
#[test]
fn where_wakeups_are_left_out_a_sleep_is_not_taken_for_a_wait() {
    let folder = tempfile::tempdir().unwrap();
    // Threads 60 and 61 were chosen, 50 was not: what woke it the second time is not recorded.
    let text = [
        HEAD.to_owned(),
        switch(0, "5.000000", (61, "S"), 50),
        waking(1, "5.000900", (60, "d..2."), 50),
        waking(1, "5.000950", (60, "d..2."), 61),
        switch(0, "5.001000", (50, "S"), 61),
        switch(1, "5.500000", (60, "S"), 70),
        switch(0, "5.900000", (61, "S"), 0),
        switch(1, "6.000000", (80, "S"), 60),
        switch(1, "6.500000", (60, "S"), 80),
        switch(1, "6.900000", (70, "S"), 60),
        switch(1, "6.910000", (60, "S"), 80),
        switch(1, "6.920000", (70, "S"), 60),
        switch(1, "6.950000", (60, "S"), 0),
        waking(1, "6.999000", (60, "d..2."), 61),
        switch(0, "6.999100", (0, "R"), 61),
        switch(0, "7.000000", (61, "S"), 50),
        switch(0, "7.100000", (50, "S"), 61),
    ]
    .concat();
    let file = written(folder.path(), "filtered.ftrace", &text);
    let states = states_of(&file, "50");
    let state = |at: i64| &*states.iter().find(|it| it.0 == at).unwrap().2;
    assert_eq!(state(5_001_000_000), "sleeping", "{states:?}");
    assert!(states.iter().all(|it| it.2 != "runnable"), "{states:?}");
    let noted = rows(&["table", "diagnostics", &file]);
    let noted = noted
        .iter()
        .find(|row| row["code"] == "switch_mismatch")
        .unwrap();
    assert!(noted["message"].ends_with("only the switches of some threads are recorded"));
}

/// On a machine without idle time all chosen threads follow from those that were left out.
#[test]
fn one_odd_break_of_a_chosen_thread_does_not_hide_the_filter() {
    let folder = tempfile::tempdir().unwrap();
    let others = [70, 71, 72, 73];
    let mut text = HEAD.to_owned();
    for at in 0..24 {
        let time = |step: u32| format!("5.{:06}", at * 1000 + step);
        let (before, after) = (others[at as usize % 4], others[(at as usize + 1) % 4]);
        text += &switch(0, &time(100), (before, "R"), 60);
        // Once the switch that takes the chosen thread off is missing.
        if at != 12 {
            text += &switch(0, &time(500), (60, "S"), after + 10);
        }
    }
    let file = written(folder.path(), "busy.ftrace", &text);
    let noted = rows(&["table", "diagnostics", &file]);
    let noted = noted.iter().find(|row| row["code"] == "switch_mismatch");
    let message = &noted.unwrap()["message"];
    assert!(
        message.ends_with("only the switches of some threads are recorded"),
        "{message}"
    );
}

/// `export --thread` leaves out the switches of the others. Thread 50 was woken while it left its CPU, as in the recording.
#[test]
fn a_chosen_thread_that_is_woken_while_it_leaves_waits_in_the_export_too() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        HEAD.to_owned(),
        switch(0, "5.000000", (0, "R"), 50),
        waking(1, "5.000900", (60, "d..2."), 50),
        switch(0, "5.000901", (50, "S"), 70),
        switch(0, "5.002000", (70, "S"), 80),
        switch(0, "5.003000", (80, "S"), 50),
        switch(0, "5.004000", (50, "S"), 80),
        switch(0, "5.005000", (80, "S"), 70),
        switch(0, "5.006000", (70, "S"), 50),
        switch(0, "5.007000", (50, "S"), 80),
        switch(0, "5.008000", (80, "S"), 70),
        switch(0, "5.009000", (70, "S"), 50),
        switch(0, "5.010000", (50, "S"), 0),
    ];
    let whole = written(folder.path(), "whole.ftrace", &text.concat());
    let of_50 = text
        .iter()
        .filter(|line| line.contains("pid=50") || line.starts_with('#'));
    let of_50: String = of_50.cloned().collect();
    let chosen = written(folder.path(), "chosen.ftrace", &of_50);
    let wait = ("50".to_owned(), 5_000_901_000, 2_099_000);
    for file in [&whole, &chosen] {
        assert!(waits(file).contains(&wait), "{file}: {:?}", waits(file));
    }
}

/// The waking sends thread 18 to CPU 1, whose events are lost then; the wakeup is that of a later waking.
#[test]
fn a_wakeup_after_a_loss_on_the_cpu_of_the_waking_may_be_of_a_later_waking() {
    let folder = tempfile::tempdir().unwrap();
    let wakeup = "          t60-60       [000] d..3.     5.086924: sched_wakeup: comm=t18 pid=18 prio=120 target_cpu=000\n";
    let text = |lost: &str| {
        [
            HEAD.to_owned(),
            switch(1, "5.000000", (0, "R"), 18),
            switch(1, "5.001000", (18, "S"), 70),
            switch(0, "5.002000", (0, "R"), 60),
            lost.to_owned(),
            waking(0, "5.078747", (60, "d..2."), 18),
            wakeup.to_owned(),
            switch(0, "5.086943", (60, "S"), 18),
            switch(0, "5.087000", (18, "S"), 0),
            switch(1, "5.155113", (70, "S"), 0),
        ]
        .concat()
    };
    let with = |name: &str, lost: &str| written(folder.path(), name, &text(lost));
    let lossy = with("lost.ftrace", "CPU:1 [LOST 300 EVENTS]\n");
    assert_eq!(waits(&lossy), []);
    assert_eq!(waits(&as_fxt(folder.path(), &lossy)), []);
    let whole = with("whole.ftrace", "");
    assert_eq!(waits(&whole), [("18".to_owned(), 5_078_747_000, 8_196_000)]);
}

/// A recording of the switches of thread 60 alone (`record -P 60`): between 70 and 80 on CPU 0 switches are missing.
fn filtered_by_60() -> Vec<String> {
    vec![
        HEAD.to_owned(),
        switch(0, "5.000000", (0, "R"), 60),
        waking(0, "5.000100", (60, "d..2."), 50),
        switch(0, "5.000200", (60, "S"), 70),
        waking(1, "5.500000", (0, "d.h2."), 60),
        switch(0, "6.000000", (80, "R+"), 60),
        switch(0, "6.000300", (60, "S"), 50),
        switch(0, "6.000400", (50, "S"), 60),
        switch(0, "6.000500", (60, "S"), 80),
        switch(0, "6.100000", (70, "S"), 60),
        switch(0, "6.100100", (60, "S"), 80),
        switch(0, "6.120000", (70, "S"), 60),
        switch(0, "6.120100", (60, "S"), 0),
    ]
}

#[test]
fn a_wait_in_a_recording_of_some_threads_is_told_only_of_those() {
    let folder = tempfile::tempdir().unwrap();
    let mut filtered = filtered_by_60();
    // On CPU 1, thread 50 ran from idle to idle: nothing of it is recorded, and nothing is out of place.
    filtered.extend([
        switch(1, "5.000000", (0, "R"), 60),
        waking(1, "7.000000", (60, "d..2."), 50),
        switch(1, "7.000100", (60, "S"), 0),
        switch(1, "7.500000", (0, "R"), 60),
        switch(1, "7.500100", (60, "S"), 50),
        switch(1, "7.500200", (50, "S"), 60),
        switch(1, "7.500300", (60, "S"), 0),
    ]);
    let file = written(folder.path(), "filtered.ftrace", &filtered.concat());
    let told = [("60".to_owned(), 5_500_000_000, 500_000_000)];
    let again = as_fxt(folder.path(), &file);
    for file in [&file, &again] {
        assert_eq!(waits(file), told, "{file}");
        let all = rows(&["table", "states", file]);
        let of_50: Vec<&Row> = all.iter().filter(|row| row["tid"] == "50").collect();
        assert_eq!(of_50[0]["state"], "unknown", "{of_50:?}");
        let asleep: Vec<_> = of_50
            .iter()
            .filter(|row| row["state"] == "sleeping")
            .collect();
        assert!(!asleep.is_empty());
        assert!(
            asleep.iter().all(|row| row["spans_loss"] == "1"),
            "{of_50:?}"
        );
    }
    // The idle thread is never chosen, nor is 70: the recording has a break for another reason.
    let mut random = filtered_by_60();
    random.push(switch(1, "6.500000", (0, "R"), 70));
    let file = written(folder.path(), "random.ftrace", &random.concat());
    assert_eq!(waits(&file), []);
    assert_eq!(waits(&as_fxt(folder.path(), &file)), []);
}

/// A run of a thread that was left out is known only where a chosen thread shows it: between two switches of one thread others
/// may have run. What it was last woken for is not known either.
#[test]
fn runs_of_threads_that_were_left_out_are_not_made_longer() {
    let folder = tempfile::tempdir().unwrap();
    let mut filtered = filtered_by_60();
    filtered.extend([
        switch(1, "6.200000", (0, "R"), 60),
        switch(1, "6.200100", (60, "S"), 70),
        // 70 left and came back meanwhile.
        switch(1, "6.300000", (70, "R+"), 60),
        waking(1, "6.300100", (60, "d..2."), 80),
        switch(1, "6.300200", (60, "S"), 0),
    ]);
    let file = written(folder.path(), "runs.ftrace", &filtered.concat());
    let again = as_fxt(folder.path(), &file);
    for file in [&file, &again] {
        let runs = rows(&["table", "runs", file]);
        let known = runs
            .iter()
            .filter(|row| row["tid"] == "70" && row["dur"] != "\\N");
        let longest = known.map(|row| number(row, "dur")).max();
        assert!(
            longest.is_none_or(|longest| longest < 1_000),
            "{file}: {longest:?}"
        );
        assert!(
            states_of(file, "80").iter().all(|it| it.2 != "runnable"),
            "{file}"
        );
        let of_60 = runs.iter().filter(|row| row["tid"] == "60");
        let of_60: i64 = of_60.map(|row| number(row, "dur")).sum();
        assert_eq!(
            of_60,
            200_000 + 400_000 + 100_000 + 100_000 + 100_000 + 200_000,
            "{file}"
        );
    }
}

/// A second buffer with the same events shows no other threads.
#[test]
fn a_fork_that_stands_twice_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let line = |event: &str| format!(" app-60 [000] ..... 5.000100: {event}\n");
    let fork = line("sched_process_fork: comm=app pid=60 child_comm=app child_pid=61");
    let task = line("task_newtask: pid=61 comm=app clone_flags=3d0f00 oom_score_adj=0");
    let run = switch(0, "5.000200", (60, "S"), 61);
    let text = |times: usize| {
        let lines = [&task, &fork, &run];
        let repeated = lines
            .into_iter()
            .flat_map(|line| std::iter::repeat_n(&**line, times));
        [HEAD, &repeated.collect::<String>()].concat()
    };
    let threads = |name: &str, text: &str| {
        let file = written(folder.path(), name, text);
        let all = rows(&["table", "threads", &file]);
        let all = all
            .iter()
            .map(|row| (row["tid"].clone(), row["pid"].clone()));
        all.collect::<Vec<_>>()
    };
    assert_eq!(
        threads("twice.ftrace", &text(2)),
        threads("once.ftrace", &text(1))
    );
}

/// Both 60 and 61 are chosen; 61 shares its switches with the idle thread alone.
#[test]
fn a_chosen_thread_beside_the_idle_one_waits() {
    let folder = tempfile::tempdir().unwrap();
    let mut filtered = filtered_by_60();
    filtered.extend([
        switch(1, "5.000010", (0, "R"), 61),
        switch(1, "5.000020", (61, "S"), 0),
        waking(0, "5.900000", (60, "d..2."), 61),
        switch(1, "6.050000", (0, "R"), 61),
        switch(1, "6.060000", (61, "S"), 0),
    ]);
    let file = written(folder.path(), "two.ftrace", &filtered.concat());
    let told = [
        ("60".to_owned(), 5_500_000_000, 500_000_000),
        ("61".to_owned(), 5_900_000_000, 150_000_000),
    ];
    let mut found = waits(&file);
    found.sort();
    assert_eq!(found, told);
}

/// The exit of thread 61 takes it out of the filter before its last switch (kernels before 2020).
#[test]
fn the_end_of_a_chosen_thread_does_not_choose_its_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        HEAD.to_owned(),
        switch(0, "5.000000", (0, "R"), 60),
        waking(0, "5.000050", (60, "d..2."), 50),
        switch(0, "5.000100", (60, "S"), 50),
        switch(0, "5.000200", (50, "S"), 61),
        switch(0, "5.400000", (70, "S"), 60),
        waking(0, "5.400100", (60, "d..2."), 50),
        switch(0, "5.400200", (60, "S"), 70),
        switch(0, "5.900000", (71, "S"), 60),
        switch(0, "5.900100", (60, "S"), 50),
        switch(0, "5.900200", (50, "S"), 60),
    ]
    .concat();
    let file = written(folder.path(), "exit.ftrace", &text);
    let of_50: Vec<_> = (waits(&file).into_iter())
        .filter(|it| it.0 == "50")
        .collect();
    assert_eq!(of_50, [("50".to_owned(), 5_000_050_000, 50_000)]);
}

/// `trace-cmd report` of a file and a copy of it prints each line twice.
#[test]
fn a_line_that_stands_twice_is_one_switch_or_wakeup() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        switch(0, "5.000000", (0, "R"), 60),
        waking(0, "5.000050", (60, "d..2."), 50),
        switch(0, "5.000100", (60, "S"), 51),
        switch(0, "5.000300", (51, "S"), 50),
        switch(0, "5.000400", (50, "S"), 0),
    ];
    let once = [HEAD.to_owned(), lines.concat()].concat();
    let once = written(folder.path(), "once.ftrace", &once);
    let twice = lines.iter().flat_map(|line| [line.clone(), line.clone()]);
    let twice = [HEAD.to_owned(), twice.collect::<String>()].concat();
    let twice = written(folder.path(), "twice.ftrace", &twice);
    for file in [&once, &twice] {
        assert_eq!(waits(file), [("50".to_owned(), 5_000_050_000, 250_000)]);
        let noted = rows(&["table", "diagnostics", file]);
        assert!(noted.iter().all(|row| row["code"] != "switch_mismatch"));
    }
    for tid in ["50", "51", "60"] {
        assert_eq!(states_of(&once, tid), states_of(&twice, tid));
    }
    let runs = |file: &str| rows(&["table", "runs", file]).len();
    assert_eq!(runs(&once), runs(&twice));
}

/// A preempted thread may have run, and waited again, where switches of its CPU are missing.
#[test]
fn a_preempted_thread_is_marked_where_switches_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        HEAD.to_owned(),
        switch(0, "5.000000", (0, "R"), 50),
        switch(0, "5.000100", (50, "R+"), 60),
        switch(0, "5.000200", (60, "S"), 70),
        switch(0, "6.000000", (80, "S"), 60),
        switch(0, "6.000300", (60, "S"), 50),
        switch(0, "6.000400", (50, "S"), 0),
    ]
    .concat();
    let file = written(folder.path(), "preempted.ftrace", &text);
    let again = as_fxt(folder.path(), &file);
    for file in [&file, &again] {
        let all = rows(&["table", "states", file]);
        let is_asked = |row: &&Row| row["tid"] == "50" && row["state"] == "preempted";
        let found: Vec<_> = all.iter().filter(is_asked).collect();
        assert_eq!(found.len(), 1, "{file}");
        assert_eq!(found[0]["spans_loss"], "1", "{file}");
    }
}

/// Nobody records how long a zombie stays, nor what a thread did whose number another thread has later.
#[test]
fn the_last_state_of_a_thread_that_is_gone_has_no_least_duration() {
    let folder = tempfile::tempdir().unwrap();
    let fork = |time: &str| {
        format!(
            "          t100-100       [000] .....     {time}: sched_process_fork: comm=t100 pid=100 child_comm=t100 child_pid=500\n"
        )
    };
    let text = |state: &str| {
        [
            HEAD,
            &fork("5.000010"),
            &switch(0, "5.000020", (100, "S"), 500),
            &switch(0, "5.001000", (500, state), 100),
            &fork("5.003010"),
            &switch(0, "9.000000", (100, "S"), 0),
        ]
        .concat()
    };
    for (state, name) in [("Z", "zombie"), ("X", "dead"), ("S", "sleeping")] {
        let file = written(folder.path(), "gone.ftrace", &text(state));
        for file in [&file, &as_fxt(folder.path(), &file)] {
            let sums = rows(&["stats", "--of", "states", "--by", "thread", file]);
            let of_500 = sums.iter().filter(|row| row["group"].contains("500"));
            let least: i64 = of_500.map(|row| number(row, "at_least")).sum();
            assert_eq!(least, 0, "{name}: {sums:?}");
            let found = rows(&["search", &format!("state == {name} && dur > 0"), file]);
            assert!(found.iter().all(|row| row["tid"] != "500"), "{found:?}");
        }
    }
    // Without another thread, a sleeper sleeps to the end.
    let text = text("S").replace(&fork("5.003010"), "");
    let file = written(folder.path(), "sleeps.ftrace", &text);
    let sums = rows(&["stats", "--of", "states", &file]);
    let sleeping = sums.iter().find(|row| row["group"] == "sleeping").unwrap();
    assert_eq!(number(sleeping, "at_least"), 3_999_000_000);
}

/// A thread is woken before it has left its CPU, which takes it 3.8 ms: its virtual CPU stood still.
#[test]
fn a_waking_counts_however_long_its_thread_took_to_leave() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        HEAD.to_owned(),
        switch(0, "1.000000", (0, "R"), 316),
        waking(1, "1.010000", (0, "d.h3."), 316),
        switch(0, "1.013800", (316, "D"), 315),
        switch(0, "1.021900", (315, "R"), 316),
        switch(0, "1.022000", (316, "S"), 315),
    ]
    .concat();
    let file = written(folder.path(), "leaving.ftrace", &text);
    let found = waits(&file);
    assert!(found.iter().any(|wait| wait.2 == 8_100_000), "{found:?}");
}

/// The kernel marks where the events of a CPU begin whose older events were overwritten.
#[test]
fn a_cpu_whose_buffer_starts_late_has_a_loss_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.ftrace");
    let switch = |cpu: u32, at: &str| {
        format!(
            " a-11 [00{cpu}] d..2. {at}: sched_switch: prev_comm=a prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=b next_pid=12 next_prio=120\n"
        )
    };
    let text = [
        "# tracer: nop\n#\n# entries-in-buffer/entries-written: 3/103   #P:2\n#\n".to_owned(),
        switch(1, "100.000100"),
        "##### CPU 0 buffer started ####\n".to_owned(),
        switch(0, "100.900000"),
        switch(1, "100.900200"),
    ]
    .concat();
    std::fs::write(&path, text).unwrap();
    let file = path.to_string_lossy().into_owned();
    let gaps = rows(&["table", "gaps", &file]);
    let cells = |row: &Row| ["cpu", "lost", "end"].map(|name| row[name].clone());
    let mut found: Vec<_> = gaps.iter().map(cells).collect();
    found.sort();
    let expected = [["0", "\\N", "100900000000"], ["\\N", "100", "100000100000"]];
    assert_eq!(found, expected);
    // All of them are among the hundred.
    assert!(stdout(&["info", &file]).contains("100"));
    assert!(!stdout(&["info", &file]).contains("at least"));
}

/// The clock of a CPU is 5 us late: the waking of a run comes after its switch, and wakes nobody from the next sleep.
#[test]
fn a_late_clock_makes_no_waits_of_sleeps() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        HEAD.to_owned(),
        switch(1, "1.000005", (0, "R"), 50),
        waking(0, "1.000010", (60, "d..2."), 50),
        switch(1, "1.010000", (50, "S"), 0),
        switch(1, "2.000005", (0, "R"), 50),
        waking(0, "2.000010", (60, "d..2."), 50),
        switch(1, "2.010000", (50, "S"), 0),
        switch(1, "3.000005", (0, "R"), 50),
        switch(1, "3.010000", (50, "S"), 0),
    ]
    .concat();
    let file = written(folder.path(), "late.ftrace", &text);
    assert_eq!(waits(&file), []);
}

/// A leader's last switch goes straight to the thread that runs another program under the leader's number.
#[test]
fn a_thread_that_takes_its_leaders_number_runs_under_it() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        HEAD,
        "           <...>-200   [000] d..2.  10.000000: sched_switch: prev_comm=sh prev_pid=200 prev_prio=120 prev_state=S ==> next_comm=app next_pid=101 next_prio=120\n",
        "             app-101   [000] d..2.  10.000060: sched_switch: prev_comm=app prev_pid=101 prev_prio=120 prev_state=D ==> next_comm=app next_pid=100 next_prio=120\n",
        "             app-100   [000] .....  10.000070: sched_process_exit: comm=app pid=100 prio=120 group_dead=false\n",
        "             app-100   [000] d..3.  10.000080: sched_waking: comm=app pid=101 prio=120 target_cpu=000\n",
        "             app-100   [000] d..2.  10.000090: sched_switch: prev_comm=app prev_pid=100 prev_prio=120 prev_state=Z ==> next_comm=app next_pid=101 next_prio=120\n",
        "             app-100   [000] .....  10.000100: task_rename: pid=100 oldcomm=app newcomm=x oom_score_adj=0\n",
        "             app-100   [000] .....  10.000110: sched_process_exec: filename=/bin/x pid=100 old_pid=101\n",
        "             app-100   [000] d..2.  11.000000: sched_switch: prev_comm=x prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=sh next_pid=200 next_prio=120\n",
        "              sh-200   [000] d..2.  11.100000: sched_switch: prev_comm=sh prev_pid=200 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n",
    ]
    .concat();
    let file = written(folder.path(), "direct.ftrace", &text);
    for file in [file.clone(), as_fxt(folder.path(), &file)] {
        let runs = rows(&["table", "runs", &file]);
        let of = |tid: &str| -> Vec<(i64, i64)> {
            let own = runs.iter().filter(|row| row["tid"] == tid);
            own.map(|row| (number(row, "ts") / 1000, number(row, "dur") / 1000))
                .collect()
        };
        assert_eq!(of("101"), [(10_000_000, 60), (10_000_090, 10)], "{file}");
        assert_eq!(
            of("100"),
            [(10_000_060, 30), (10_000_100, 999_900)],
            "{file}"
        );
        let states = states_of(&file, "100");
        let zombies = states.iter().filter(|(_, _, state)| state == "zombie");
        let zombies: Vec<&str> = zombies.map(|(_, dur, _)| dur.as_str()).collect();
        assert_eq!(zombies, ["10000"], "{file}: {states:?}");
    }
}

/// Who had the CPU during a wait is who had it longest in total, not in one piece.
#[test]
fn the_rival_of_a_wait_had_most_of_its_time() {
    let runs = [
        (1_000_000, "swapper/0", 0, "R", "hog", 10),
        (1_004_000, "hog", 10, "R", "once", 20),
        (1_008_000, "once", 20, "R", "hog", 10),
        (1_011_000, "hog", 10, "R", "tiny", 40),
        (1_011_010, "tiny", 40, "S", "hog", 10),
        (1_014_000, "hog", 10, "R", "late", 30),
        (1_015_000, "late", 30, "S", "hog", 10),
    ];
    let mut text =
        "# tracer: nop\n#\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n".to_owned();
    for (at, (us, from, pid, state, to, next)) in runs.into_iter().enumerate() {
        let from_task = if pid == 0 { "<idle>" } else { from };
        text += &format!(
            "{from_task:>16}-{pid:<5}   [000] d..2. {}.{:06}: sched_switch: prev_comm={from} prev_pid={pid} prev_prio=120 \
             prev_state={state} ==> next_comm={to} next_pid={next} next_prio=120\n",
            us / 1_000_000,
            us % 1_000_000
        );
        if at == 0 {
            text += "             hog-10      [000] d..2. 1.001000: sched_waking: comm=late pid=30 prio=120 target_cpu=000\n";
        }
    }
    let files = Files::new(&[("rival.ftrace", &text)]);
    let hops = files.table_of(&[
        "chain",
        "--thread",
        "30",
        "--at",
        "@1002000000",
        "rival.ftrace",
    ]);
    let rivals = hops.iter().filter_map(|hop| hop["rival"].as_str());
    assert_eq!(rivals.collect::<Vec<_>>(), ["hog (10)"], "{hops:?}");
}
