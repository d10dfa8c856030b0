//! Who lived when and as what, where lines of a recording do not say it plainly: threads that outlive their leader,
//! forks that were lost, names from before an exec.

use crate::recorder::{Recorder, load, load_as};
use threadline::base::Timestamp;
use threadline::event::ForkSort;
use threadline::trace::{Process, SliceId, Trace, TrackKind};

fn process(trace: &Trace, pid: u64) -> &Process {
    trace.processes.iter().find(|it| it.pid == pid).unwrap()
}

fn end_of_thread(trace: &Trace, tid: u64) -> Option<Timestamp> {
    trace.threads.iter().find(|it| it.tid == tid).unwrap().end
}

/// When the open file of this name was closed; `None`: not in the trace.
fn closed(trace: &Trace, path: &str) -> Option<i64> {
    let slices = &trace.slices;
    for track in trace.tracks.iter() {
        if !matches!(track.kind, TrackKind::Async(_)) {
            continue;
        }
        for row in &slices.rows[track.rows.start as usize..track.rows.end as usize] {
            for id in row.slices.clone() {
                if trace.text(slices.label(SliceId(id)).name) == path {
                    return slices
                        .end(id as usize)
                        .get()
                        .filter(|&end| end < trace.span.end.0);
                }
            }
        }
    }
    panic!("no open file {path}");
}

#[test]
fn a_process_lives_as_long_as_its_last_thread() {
    let mut r = Recorder::new();
    let shell = r.shell;
    let main = r.fork(shell, 1001);
    r.exec(main, "/b/server", &["server"]);
    r.open(main, b"/w/held", 0, 7);
    let first = r.thread(main, 1002);
    let worker = r.thread(main, 1003);
    r.exit(first, 0);
    r.exit(main, 0);
    // The leader called pthread_exit; a worker goes on.
    r.wait_ms(500);
    r.write(worker, "/w/late");
    r.exit(worker, 3);
    r.wait_ms(10);
    r.exit(shell, 0);
    let loaded = load(&r);
    let trace = &loaded.trace;
    let server = process(trace, 1001);
    assert_eq!(server.end, end_of_thread(trace, 1003));
    assert!(server.end > end_of_thread(trace, 1001));
    assert_eq!(server.exit_status, Some(3));
    assert_eq!(
        server.exit_event.map(|it| trace.events.time(it)),
        server.end
    );
    // What it had open stays open until then.
    assert_eq!(closed(trace, "/w/held"), server.end.map(|end| end.0));
}

#[test]
fn who_goes_on_without_a_leader_has_not_ended() {
    let mut r = Recorder::new();
    let shell = r.shell;
    let main = r.fork(shell, 1001);
    r.exec(main, "/b/server", &["server"]);
    r.open(main, b"/w/held", 0, 7);
    let worker = r.thread(main, 1002);
    r.exit(main, 0);
    r.read(worker, "/w/late");
    let loaded = load(&r);
    let server = process(&loaded.trace, 1001);
    assert_eq!((server.end, server.exit_status), (None, None));
    assert_eq!(closed(&loaded.trace, "/w/held"), None);
    // A thread whose exit was lost, and that said nothing after the leader's, ended with it.
    let mut r = Recorder::new();
    let shell = r.shell;
    let main = r.fork(shell, 1001);
    r.exec(main, "/b/server", &["server"]);
    let worker = r.thread(main, 1002);
    r.read(worker, "/w/early");
    r.exit(main, 0);
    let loaded = load(&r);
    let trace = &loaded.trace;
    assert_eq!(process(trace, 1001).end, end_of_thread(trace, 1001));
    assert!(process(trace, 1001).end.is_some());
}

#[test]
fn who_lost_a_pid_to_another_has_no_threads_left() {
    let mut r = Recorder::new();
    let shell = r.shell;
    let main = r.fork(shell, 1001);
    r.exec(main, "/b/old", &["old"]);
    let worker = r.thread(main, 1002);
    r.exit(main, 0);
    r.read(worker, "/w/late");
    let last = process(&load(&r).trace, 1001).end;
    assert_eq!(last, None);
    // The worker's exit was lost, but its process's number is free again.
    r.wait_ms(1000);
    let next = r.fork(shell, 1001);
    r.exec(next, "/b/new", &["new"]);
    let loaded = load(&r);
    let trace = &loaded.trace;
    let old = process(trace, 1001);
    assert_eq!(trace.text(old.images[0].program), "/b/old");
    assert_eq!(old.end, end_of_thread(trace, 1002));
    assert!(old.end > end_of_thread(trace, 1001));
}

#[test]
fn threads_of_kernel_traces_outlive_their_leaders_too() {
    let text = "# tracer: nop\n#\n\
        #           TASK-PID    TGID     CPU#  |||||  TIMESTAMP  FUNCTION\n\
        #              | |        |        |   |||||     |         |\n\
        \x20         app-7     (      7) [000] ..... 1.000000: sched_waking: comm=app pid=8 prio=120 target_cpu=001\n\
        \x20      worker-8     (      7) [001] ..... 1.100000: sched_waking: comm=app pid=7 prio=120 target_cpu=000\n\
        \x20         app-7     (      7) [000] ..... 1.200000: sched_process_exit: comm=app pid=7 prio=120\n\
        \x20      worker-8     (      7) [001] ..... 1.700000: sched_waking: comm=x pid=9 prio=120 target_cpu=000\n\
        \x20      worker-8     (      7) [001] ..... 1.800000: sched_process_exit: comm=worker pid=8 prio=120\n\
        \x20           x-9     (      9) [001] ..... 1.900000: sched_waking: comm=y pid=10 prio=120 target_cpu=000\n";
    let loaded = load_as("threads.txt", text.as_bytes());
    let trace = &loaded.trace;
    let app = process(trace, 7);
    assert_eq!(app.end, Some(Timestamp(1_800_000_000)));
    assert_eq!(app.end, end_of_thread(trace, 8));
}

/// What a recording says of a child that was made behind a clone call of a thread, with this line between.
fn made_behind(between: &[u8]) -> (Option<u64>, Option<ForkSort>, usize) {
    let mut r = Recorder::new();
    let shell = r.shell;
    let make = r.fork(shell, 1001);
    r.exec(make, "/b/make", &["make"]);
    r.call(make, "SysClone|flags=8195840");
    r.text.extend_from_slice(between);
    r.wait_ms(300);
    let child = r.task(1003);
    r.call(make, &format!("SchedFork|pid={child}"));
    r.exec(child, "/b/gcc", &["gcc"]);
    r.exit(child, 0);
    r.exit(make, 0);
    let loaded = load(&r);
    let trace = &loaded.trace;
    let thread = trace.threads.iter().find(|it| it.tid == 1003).unwrap();
    let of = &trace.processes[thread.process.unwrap().0 as usize];
    (Some(of.pid), of.made, process(trace, 1001).images.len())
}

#[test]
fn a_clone_call_before_lost_events_says_nothing_of_later_forks() {
    // The thread's own fork was lost; the next one is a vfork, which has no line of its own.
    let lost = made_behind(b"CPU:0 [LOST 45 EVENTS]\n");
    assert_eq!(lost, (Some(1003), Some(ForkSort::Unknown), 1));
    // What another CPU lost does not part them, nor does nothing.
    for between in [b"CPU:3 [LOST 45 EVENTS]\n".as_slice(), b""] {
        let whole = made_behind(between);
        assert_eq!(whole, (Some(1001), Some(ForkSort::Process), 2));
    }
}

/// The lines of an exec of `task` within an ftrace text, called so in its columns.
fn exec_in_text(task: i64, pid: i64, comm: &str, time: &str, program: &str) -> String {
    let length = program.len();
    let mut text = String::new();
    for body in [
        &format!("New_proc|argsize=2,prognameisize={length},prognamepsize={length},cwdsize=2"),
        &format!("PI|{program}"),
        &format!("PP|{program}"),
        "CW|/w",
        "A[0]p",
        "End_of_args|",
    ] {
        text.push_str(&format!(
            "  {comm}-{pid} [001] ..... {time}: 0: {task},1,77,4!{body}\n"
        ));
    }
    text
}

#[test]
fn a_name_from_before_an_exec_is_not_the_programs() {
    let upid = |serial: i64, pid: i64| serial << 22 | pid;
    let mut text = String::from("# tracer: nop\n");
    for at in 0..20 {
        text.push_str(&format!(
            "   x-7 [000] d..2. 5.0000{at:02}: sched_waking: comm=x pid=7 prio=120 target_cpu=000\n"
        ));
    }
    // A fork and a wakeup say what the child is called before it runs another program.
    for (serial, pid) in [(2, 101), (3, 102), (4, 103)] {
        text.push_str(&format!(
            "  make-100 [000] ..... 5.001{pid}: sched_process_fork: comm=make pid=100 child_comm=make child_pid={pid}\n\
               make-100 [000] ..... 5.001{pid}: sched_wakeup_new: comm=make pid={pid} prio=120 target_cpu=001\n\
               make-100 [000] ..... 5.001{pid}: 0: {},0,77,2!SchedFork|pid={}\n",
            upid(1, 100),
            upid(serial, pid)
        ));
    }
    text.push_str(&exec_in_text(
        upid(2, 101),
        101,
        "<...>",
        "5.002000",
        "/bin/gcc",
    ));
    // The kernel's list of names was not brought up to date.
    text.push_str(&exec_in_text(
        upid(3, 102),
        102,
        "make",
        "5.003000",
        "/bin/ld",
    ));
    // By its name in the line after it is the script that it was called as.
    text.push_str(&exec_in_text(
        upid(4, 103),
        103,
        "<...>",
        "5.004000",
        "/bin/dash",
    ));
    text.push_str(
        "  x-7 [000] d..2. 5.005000: sched_waking: comm=sh pid=103 prio=120 target_cpu=000\n",
    );
    let loaded = load_as("names.txt", text.as_bytes());
    let trace = &loaded.trace;
    let names = [100, 101, 102, 103].map(|pid| trace.text(process(trace, pid).name).into_owned());
    assert_eq!(names, ["make", "gcc", "ld", "sh"]);
    let thread = trace.threads.iter().find(|it| it.tid == 101).unwrap();
    assert_eq!(trace.text(thread.name), "gcc");
}

#[test]
fn a_thread_whose_number_is_somebody_elses_later_keeps_no_process_alive() {
    // Numbers as the oldest tracers wrote them: the same one means two tasks.
    let mut text = String::from("INITCWD=/w\n");
    for (at, body) in [
        (1, "100,0,TIME!SysClone|flags=17"),
        (2, "100,0,TIME!SchedFork|pid=200"),
        (3, "200,0,TIME!SysClone|flags=8195840"),
        (4, "200,0,TIME!SchedFork|pid=300"),
        (5, "300,0,TIME!Close|fd=3"),
        (6, "200,0,TIME!Exit|status=0"),
        (9000, "100,0,TIME!SysClone|flags=17"),
        (9001, "100,0,TIME!SchedFork|pid=300"),
        (9002, "300,0,TIME!Close|fd=4"),
        (9003, "300,0,TIME!Exit|status=0"),
    ] {
        let time = format!("{},{}", 10 + at / 1000, at % 1000 * 1_000_000);
        text.push_str(&body.replace("TIME", &time));
        text.push('\n');
    }
    let loaded = load_as("plain.etrace", text.as_bytes());
    let trace = &loaded.trace;
    assert_eq!(process(trace, 200).end, end_of_thread(trace, 200));
    assert_eq!(process(trace, 200).end, Some(Timestamp(10_006_000_000)));
}
