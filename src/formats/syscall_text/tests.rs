use super::clock::Clock;
use super::dialect::Dialect;
use super::forks::Fork;
use super::head::Caller;
use super::reader::TextReader;
use super::sniff;
use crate::base::{Job, Location, Timestamp};
use crate::event::{EventDetail, FileOp, LaneColumns, Life, MarkOp, ThreadKey, TraceInfo};
use crate::formats::{AnyStream, EventRef, Events, Input};

fn read(text: &str, dialect: Dialect) -> (TextReader, LaneColumns) {
    let input = Input::from_vec(text.as_bytes().to_vec(), "a.strace");
    let reader = TextReader::open(input, dialect).unwrap();
    let columns = columns_of(&reader).into_iter().next().unwrap();
    (reader, columns)
}

/// Returns the columns of each part.
fn columns_of(reader: &TextReader) -> Vec<LaneColumns> {
    let gathered = reader.read_all(1, &Job::default(), &mut |_| {}).unwrap();
    gathered
        .parts
        .into_iter()
        .map(|part| part.columns)
        .collect()
}

fn names(reader: &TextReader, columns: &LaneColumns) -> Vec<String> {
    let events = 0..columns.events.len() as u32;
    events
        .map(|event| reader.kinds.texts(columns.events.kind(event)).name)
        .collect()
}

fn describe(reader: &dyn Events, columns: &LaneColumns, event: u32) -> EventDetail {
    let row = columns.events.row(event);
    reader.describe(EventRef::new(0, row))
}

fn ends(columns: &LaneColumns, op: MarkOp) -> usize {
    columns.marks.iter().filter(|mark| mark.op() == op).count()
}

#[test]
fn a_file_name_may_look_like_a_call() {
    let (reader, columns) = read(
        "1 10:00:00.5 open(\"a, b) = 3 {x}\", O_RDONLY) = 4 <0.000100>\n",
        Dialect::Strace,
    );
    let file = &columns.files[0];
    assert_eq!(columns.strings.bytes(file.path), b"a, b) = 3 {x}");
    assert_eq!((file.fd, file.result), (4, 4));
    assert_eq!(columns.completes[0].duration_ns, 100_000);
    let detail = describe(&reader, &columns, 0);
    assert_eq!(detail.fields[0].text(), "\"a, b) = 3 {x}\"");
    assert_eq!(detail.fields[2].text(), "4");
}

#[test]
fn lines_without_a_pid_belong_to_who_is_left() {
    let text = "Tracing sh (pid 311)\nfork() = <..>\n  312| Tracing sh*F (pid 312)\n  312| exit(0)\n  \
                312| Process exited normally with code 0\n  311'*fork() = 312\nwrite(2, \"$ \", 2) = 2\n";
    let (_, columns) = read(text, Dialect::Minix);
    let count = columns.events.len() as u32;
    let threads: Vec<u32> = (0..count)
        .map(|index| columns.events.thread(index).unwrap().0)
        .collect();
    assert_eq!(threads, [311, 311, 312, 312, 312, 311, 311]);
    // The fork is added where the call began: before the child's first line.
    let fork = columns
        .lives
        .iter()
        .find(|row| matches!(row.life, Life::Fork { .. }))
        .unwrap();
    assert_eq!(fork.event, 1);
}

#[test]
fn a_rest_without_its_beginning_is_an_end() {
    let (_, columns) = read("  312|*close(3) = 0\n  311| getpid() = 1\n", Dialect::Minix);
    assert_eq!(ends(&columns, MarkOp::End), 1);
    assert_eq!(ends(&columns, MarkOp::Begin), 0);
    assert_eq!(columns.completes.len(), 1);
    let file = &columns.files[0];
    assert_eq!((file.op, file.fd, file.result), (FileOp::Close, 3, 0));
}

#[test]
fn two_signals_and_two_suspensions_are_one_call() {
    let text = "    7| wait4(-1, <..>\n    8| getpid() = 8\n    7|*wait4(-1, ** SIGCHLD ** <..>\n    8| getpid() = 8\n    \
                7|*wait4(-1, ** SIGUSR1 ** W_EXITED(0), 0, NULL) = 8\n";
    let (reader, columns) = read(text, Dialect::Minix);
    assert_eq!(ends(&columns, MarkOp::Begin), 1);
    assert_eq!(ends(&columns, MarkOp::End), 1);
    assert_eq!(
        names(&reader, &columns),
        [
            "wait4", "getpid", "wait4", "SIGCHLD", "getpid", "wait4", "SIGUSR1"
        ]
    );
    // Times are line numbers: from the first line to the last.
    assert_eq!(columns.events.time(0), Timestamp(1));
    assert_eq!(columns.events.time(5), Timestamp(5));
}

#[test]
fn a_call_in_two_pieces_has_its_parameters_and_the_stack_behind_it() {
    let text = "7 10:00:00.5 read(0,  <unfinished ...>\n8 10:00:00.6 getpid() = 8 <0.000001>\n > /lib/c.so(getpid+0x1) [0x1]\n\
                7 10:00:00.7 <... read resumed>\"a, b\", 16) = 4 <0.200000>\n > /lib/c.so(read+0x13) [0x2]\n > /bin/x(main+0x1) [0x3]\n\n\
                7 10:00:00.8 close(0) = 0 <0.000001>\n";
    let (reader, columns) = read(text, Dialect::Strace);
    for event in [0, 2] {
        let detail = describe(&reader, &columns, event);
        let texts: Vec<String> = detail.fields.iter().take(4).map(|it| it.text()).collect();
        assert_eq!(texts, ["0", "\"a, b\"", "16", "4"], "event {event}");
    }
    // The stack belongs only to the line before which it was printed.
    assert!(describe(&reader, &columns, 0).stack.is_empty());
    assert_eq!(
        describe(&reader, &columns, 2).stack,
        ["/lib/c.so(read+0x13) [0x2]", "/bin/x(main+0x1) [0x3]"]
    );
    assert!(describe(&reader, &columns, 3).stack.is_empty());
}

#[test]
fn an_overflowed_record_takes_its_parameters_from_the_first_line() {
    let text = "    7| open(\"/a/long/path\", O_RDONLY) = <..>\n    8| getpid() = 8\n    7|*open(<..>) = 5\n";
    let (reader, columns) = read(text, Dialect::Minix);
    let file = &columns.files[0];
    assert_eq!(columns.strings.bytes(file.path), b"/a/long/path");
    assert_eq!(file.fd, 5);
    let detail = describe(&reader, &columns, 2);
    assert_eq!(detail.fields[0].text(), "\"/a/long/path\"");
    assert_eq!(detail.fields.last().unwrap().text(), "5");
}

#[test]
fn a_call_that_returns_only_when_it_fails() {
    let text = "Tracing sh (pid 7)\nexecve(\"/bin/no\", [\"no\"], []) = -1 [ENOENT]\nexecve(\"/bin/ls\", [\"ls\", \"-l\"], [])\n---\nTracing ls (pid 7)\nexit(3)\nProcess exited normally with code 3\n";
    let (_, columns) = read(text, Dialect::Minix);
    let execs: Vec<_> = columns
        .lives
        .iter()
        .filter_map(|row| match &row.life {
            Life::Exec { arguments, .. } => Some(arguments.len()),
            _ => None,
        })
        .collect();
    assert_eq!(execs, [2]);
    assert_eq!(columns.completes.len(), 3);
    assert!(columns.lives.iter().any(|row| row.life
        == Life::Exit {
            thread: ThreadKey(7),
            status: Some(3),
            signal: None,
            is_last: None,
        }));
}

#[test]
fn a_process_that_dies_in_a_call_leaves_it_open() {
    let text = "  314| open(\"/tmp/log\", O_WRONLY) = ** SIGTERM ** <..>\n  314| Process terminated from signal SIGTERM\n";
    let (_, columns) = read(text, Dialect::Minix);
    assert_eq!(ends(&columns, MarkOp::Begin), 1);
    assert_eq!(ends(&columns, MarkOp::End), 0);
    let text =
        "9 1795231678.5 read(0,  <unfinished ...>\n9 1795231679.5 +++ killed by SIGKILL +++\n";
    let (_, columns) = read(text, Dialect::Strace);
    assert_eq!(ends(&columns, MarkOp::Begin), 1);
    assert_eq!(ends(&columns, MarkOp::End), 0);
    assert_eq!(
        columns.lives[0].life,
        Life::Exit {
            thread: ThreadKey(9),
            status: None,
            signal: Some(9),
            is_last: None,
        }
    );
}

#[test]
fn a_pid_that_comes_again_is_somebody_else() {
    let text = "Tracing a (pid 7)\nexit(0)\nProcess exited normally with code 0\nTracing b (pid 7)\ngetpid() = 7\n";
    let (_, columns) = read(text, Dialect::Minix);
    assert!(columns.lives.iter().any(|row| matches!(
        row.life,
        Life::Fork {
            child: ThreadKey(7),
            ..
        }
    )));
}

#[test]
fn program_output_in_between_is_kept_and_counted() {
    let text = "execve(\"/bin/x\", [\"x\"], 0x7 /* 1 var */) = 0\nHello, world\r\n\x00\x01 \u{fffd}\nexit_group(0) = ?\n+++ exited with 0 +++\n";
    let (reader, columns) = read(text, Dialect::Strace);
    assert_eq!(columns.diagnostics.count_of("unknown_line"), 2);
    assert_eq!(
        columns.diagnostics.rows()[0].places[0],
        crate::base::Location::Line(2)
    );
    assert_eq!(
        names(&reader, &columns),
        ["execve", "line", "line", "exit_group", "exited"]
    );
    assert_eq!(describe(&reader, &columns, 1).text, "Hello, world");
}

#[test]
fn arguments_of_a_call_on_two_lines_come_together() {
    let text = "5 openat(AT_FDCWD, \"/etc/x\" <unfinished ...>\n6 getpid() = 6\n5 <... openat resumed>, O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)\n";
    let (reader, columns) = read(text, Dialect::Strace);
    let file = &columns.files[0];
    assert_eq!(columns.strings.bytes(file.path), b"/etc/x");
    assert_eq!((file.flags, file.result), (0o2_000_000, -2));
    for event in [0, 2] {
        let detail = describe(&reader, &columns, event);
        let fields: Vec<String> = detail.fields.iter().map(|f| f.text()).collect();
        assert_eq!(fields[1], "\"/etc/x\"");
        assert_eq!(fields[4], "ENOENT");
    }
}

#[test]
fn a_thread_that_runs_a_program_takes_its_leaders_place() {
    let text = "10 execve(\"/bin/true\", [\"true\"], 0x7 /* 1 var */ <unfinished ...>\n9 +++ superseded by execve in pid 10 +++\n9 <... execve resumed>) = 0\n";
    let (_, columns) = read(text, Dialect::Strace);
    let exec = columns
        .lives
        .iter()
        .find_map(|row| match &row.life {
            Life::Exec { thread, .. } => Some(*thread),
            _ => None,
        })
        .unwrap();
    assert_eq!(exec, ThreadKey(9));
    // The slice ends with the thread; later lines under the leader's pid end nothing.
    assert_eq!(ends(&columns, MarkOp::Begin), 1);
    assert_eq!(ends(&columns, MarkOp::End), 1);
}

#[test]
fn in_files_of_their_own_the_thread_says_what_its_leader_runs() {
    let text =
        "execve(\"/bin/echo\", [\"echo\", \"a, b\"], 0x7 /* 42 vars */ <pid changed to 9 ...>\n";
    let (_, columns) = read(text, Dialect::Strace);
    let lives: Vec<_> = columns.lives.iter().map(|row| &row.life).collect();
    let [
        Life::Exec {
            thread, arguments, ..
        },
        Life::Name {
            thread: named,
            name,
        },
        Life::Exit { .. },
    ] = lives[..]
    else {
        panic!("{lives:?}");
    };
    assert_eq!((*thread, *named), (ThreadKey(9), ThreadKey(9)));
    assert_eq!(columns.strings.bytes(*name), b"echo");
    let arguments: Vec<_> = arguments
        .iter()
        .map(|it| columns.strings.bytes(*it))
        .collect();
    assert_eq!(arguments, [&b"echo"[..], b"a, b"]);
    let text = "1795.1 pause() = ?\n1795.2 +++ superseded by execve in pid 10 +++\n1795.3 <... execve resumed>) = 0 <0.1>\n1795.4 brk(NULL) = 0x1\n";
    let (_, columns) = read(text, Dialect::Strace);
    // The end of thread 10's call, and of the thread.
    assert_eq!(ends(&columns, MarkOp::End), 1);
    let gone = columns.lives.iter().filter_map(|row| match row.life {
        Life::Exit { thread, .. } => Some(thread),
        _ => None,
    });
    assert_eq!(gone.collect::<Vec<_>>(), [ThreadKey(10)]);
    assert_eq!(columns.diagnostics.rows().len(), 0);
}

#[test]
fn news_of_two_processes_may_break_one_line() {
    let text = "10:00:00.1 clone3({flags=CLONE_VM|CLONE_THREAD}strace: Process 9 attached\nstrace: Process 8 attached\n => {parent_tid=[9]}, 88) = 9\n[pid     7] 10:00:00.2 getpid() = 7\n[pid     8] 10:00:00.3 getpid() = 7\n";
    let (_, columns) = read(text, Dialect::Strace);
    assert_eq!(columns.diagnostics.rows().len(), 0);
    assert_eq!(ends(&columns, MarkOp::Begin), 1);
    assert_eq!(ends(&columns, MarkOp::End), 1);
    let is_fork = |life: &Life| matches!(life, Life::Fork { child, .. } if child.0 == 9);
    assert!(columns.lives.iter().any(|row| is_fork(&row.life)));
}

#[test]
fn a_line_that_the_tracer_broke_goes_on_in_the_next() {
    let text = "10:00:00.1 clone(child_stack=NULL, flags=SIGCHLDstrace: Process 8 attached\n, child_tidptr=0x7f) = 8\n\
        [pid     7] 10:00:00.2 vfork(strace: Process 9 attached\n <unfinished ...>\n\
        [pid     9] 10:00:00.3 execve(\"/bin/false\", [\"false\"], 0x7f /* 3 vars */) = 0\n\
        [pid     7] 10:00:00.4 <... vfork resumed>) = 9\n\
        [pid     8] 10:00:00.5 +++ exited with 0 +++\n\
        [pid     9] 10:00:00.6 +++ exited with 1 +++\n\
        10:00:00.7 restart_syscall(<... resuming interrupted read ...>strace: Process 7 detached\n <detached ...>\n";
    let (reader, columns) = read(text, Dialect::Strace);
    assert_eq!(columns.diagnostics.rows().len(), 0);
    let forks: Vec<Life> = columns.lives.iter().map(|row| row.life.clone()).collect();
    let fork_of = |wanted: u32| {
        let mut found = forks.iter().filter(|life| {
            matches!(life, Life::Fork { child, parent, .. } if child.0 == wanted && *parent == Some(ThreadKey(7)))
        });
        (found.next().is_some(), found.next().is_some())
    };
    // Each child is created once, and its parent is the process whose first lines had no pid.
    assert_eq!((fork_of(8), fork_of(9)), ((true, false), (true, false)));
    assert_eq!(ends(&columns, MarkOp::Begin), 3);
    assert_eq!(ends(&columns, MarkOp::End), 2);
    // Both lines of the call show the whole call.
    let rest = columns.marks.iter().find(|mark| mark.op() == MarkOp::End);
    for event in [0, rest.unwrap().event] {
        let detail = describe(&reader, &columns, event);
        let fields: Vec<&str> = detail.fields.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(fields, ["child_stack", "flags", "child_tidptr", "result"]);
    }
}

#[test]
fn names_behind_pids_are_the_threads_names() {
    let text = "21<strace> 1795258263.8 execve(\"./thr\", [\"./thr\"], 0x7f /* 39 vars */) = 0 <0.02>\n\
        21<thr> 1795258263.9 brk(NULL)  = 0x5 <0.01>\n[pid    22<a \\76 b>] 1795258264.0 kill(21<thr>, SIGTERM) = 0\n";
    let (reader, columns) = read(text, Dialect::Strace);
    assert_eq!(names(&reader, &columns), ["execve", "brk", "kill"]);
    let said: Vec<(u32, String)> = columns
        .lives
        .iter()
        .filter_map(|row| match row.life {
            Life::Name { thread, name } => {
                let name = columns.strings.text(name).into_owned();
                Some((thread.0, name))
            }
            _ => None,
        })
        .collect();
    let expected = [(21, "thr"), (21, "strace"), (21, "thr"), (22, "a > b")];
    assert_eq!(said, expected.map(|(pid, name)| (pid, name.to_owned())));
}

#[test]
fn a_thread_that_goes_on_under_its_leaders_pid_ends_in_its_leaders_file() {
    let text = "1795258294.2 execve(\"/bin/true\", [\"true\"], 0x7f /* 3 vars */ <pid changed to 22158 ...>\n";
    let (_, columns) = read(text, Dialect::Strace);
    assert_eq!(ends(&columns, MarkOp::Begin), 1);
    let ends_here = |life: &Life| matches!(life, Life::Exit { .. });
    assert!(!columns.lives.iter().any(|row| ends_here(&row.life)));
    // Without times the files have no common order.
    let (_, columns) = read(&text[13..], Dialect::Strace);
    assert_eq!(columns.completes.len(), 1);
    assert!(columns.lives.iter().any(|row| ends_here(&row.life)));
    assert_eq!(columns.diagnostics.rows().len(), 0);
}

#[test]
fn what_options_add_to_lines_is_no_noise() {
    let text = "22722 10:52:34.885188 (+     0.000000) [  59] [00007fd152c70ad7] read(3, \"\\177\"..., 832) = 832\n \
        | 00000  7f 45 4c 46 02 01 01 03  00 00 00 00 00 00 00 00  .ELF............ |\n \
        > /usr/lib/x(read+0x10) [0x1ab70]\n\
        22722 10:52:34.9 close(3</tmp/gone \\303\\244>(deleted)) = 0\n22722 10:52:35.0 close(4</dev/null<char 1:3>>) = 0\n\
        strace: [ Process PID=22722 runs in 32 bit mode. ]\n\
        % time     seconds  usecs/call     calls    errors syscall\n------ ----------- ---- --- --- ----\n\
        100.00    0.000000           0         3           read\n------ ----------- ---- --- --- ----\n100.00    0.000000           0       125         6 total\n";
    let (reader, columns) = read(text, Dialect::Strace);
    let mut expected = vec!["read", "close", "close", "note"];
    // The rows of the table are kept as notes at the end.
    expected.extend(["summary"; 5]);
    assert_eq!(names(&reader, &columns), expected);
    assert_eq!(columns.diagnostics.rows().len(), 0);
    let told = reader.whole_diagnostics(reader.found.get().unwrap());
    assert_eq!(told.rows()[0].code, "summary_table");
    assert_eq!(told.rows()[0].places, [Location::Line(7)]);
    assert_eq!(columns.events.time(8), columns.events.time(3));
    let row = describe(&reader, &columns, 6).text;
    assert!(row.starts_with("100.00    0.000000"), "{row}");
    let paths: Vec<String> = columns
        .files
        .iter()
        .map(|row| columns.strings.text(row.path).into_owned())
        .collect();
    assert_eq!(paths, ["/tmp/gone \u{e4}", "/dev/null"]);
}

#[test]
fn a_second_table_for_32_bit_calls_is_no_noise() {
    let rule = "------ ----------- ---- --- --- ----\n";
    let table = format!(
        "% time     seconds  usecs/call     calls    errors syscall\n{rule}100.00    0.000000           0         3           read\n\
         {rule}100.00    0.000000           0         3         total\n"
    );
    let text = format!(
        "7 10:00:00.5 read(3, \"\", 8) = 0\n7 10:00:00.6 +++ exited with 0 +++\n{table}System call usage summary for 32 bit mode:\n{table}"
    );
    let (reader, columns) = read(&text, Dialect::Strace);
    let told = reader.whole_diagnostics(reader.found.get().unwrap());
    let told: Vec<_> = told
        .rows()
        .iter()
        .map(|row| (&*row.code, &row.places))
        .collect();
    assert_eq!(told, [("summary_table", &vec![Location::Line(3)])]);
    let summary = names(&reader, &columns);
    assert_eq!(
        summary.iter().filter(|name| **name == "summary").count(),
        11
    );
}

#[test]
fn a_summary_table_is_refused_in_words() {
    let table = "% time     seconds  usecs/call     calls    errors syscall\n------ ----\n";
    // The traced program's own output may come before it.
    for before in ["", "ls: cannot access 'x'\nstrace: Process 7 attached\n\n"] {
        let text = format!("{before}{table}");
        assert_eq!(
            sniff::sniff_strace(text.as_bytes()),
            crate::formats::Sniff::Yes
        );
        let input = Input::from_vec(text.into_bytes(), "x");
        let error = TextReader::open(input, Dialect::Strace).unwrap_err();
        assert!(error.to_string().contains("strace -c"), "{error}");
    }
}

#[test]
fn parts_read_alone_say_what_one_part_says() {
    let mut text = String::new();
    for i in 0..120_000 {
        let pid = 100 + i % 7;
        if i % 7 == 3 {
            text.push_str(&format!(
                "{pid} 10:00:{:02}.{:06} read(3,  <unfinished ...>\n",
                i / 10_000,
                i % 10_000 * 100
            ));
        } else if i % 7 == 3 + 2 {
            text.push_str(&format!(
                "103 10:00:{:02}.{:06} <... read resumed>\"x\", 1) = 1\n",
                i / 10_000,
                i % 10_000 * 100
            ));
        } else {
            text.push_str(&format!("{pid} 10:00:{:02}.{:06} write(1, \"some text to fill the line up a bit\", 34) = 34\n", i / 10_000, i % 10_000 * 100));
        }
    }
    let input = Input::from_vec(text.into_bytes(), "x");
    let parts = columns_of(&TextReader::open(input, Dialect::Strace).unwrap());
    assert!(parts.len() > 1);
    let sum: usize = parts.iter().map(|part| part.events.len()).sum();
    assert_eq!(sum, 120_000);
    assert!(parts.iter().all(|part| part.events.is_sorted()));
    let marks = |op| parts.iter().map(|part| ends(part, op)).sum::<usize>();
    assert_eq!(marks(MarkOp::Begin), 120_000_usize.div_ceil(7));
    assert_eq!(marks(MarkOp::Begin), marks(MarkOp::End));
}

#[test]
fn stacks_of_minix_stand_before_their_calls() {
    let (reader, columns) = read(
        "Tracing a (pid 1)\n  0x8048d10 0x1234 ..\nread(0, \"\", 1) = 0\nclose(0) = 0\n",
        Dialect::Minix,
    );
    assert_eq!(columns.events.len(), 3);
    let call = describe(&reader, &columns, 1);
    assert_eq!(call.name, "read");
    assert_eq!(call.stack, ["0x8048d10", "0x1234", ".."]);
    assert!(describe(&reader, &columns, 2).stack.is_empty());
}

#[test]
fn a_fork_is_tied_to_where_its_call_began() {
    let (reader, _) = read(
        "1 clone(flags=0 <unfinished ...>\n2 getpid() = 2\n1 <... clone resumed>) = 2\n",
        Dialect::Strace,
    );
    let found = reader.found.get().unwrap();
    let fork = Fork {
        place: 0,
        parent: Caller::Pid(1),
        child: 2,
        whole: None,
    };
    assert_eq!(found.forks, [fork]);
    assert_eq!(reader.head.clock, Clock::Lines);
    assert_eq!(found.line_count, 3);
}

#[test]
fn a_lone_process_says_who_it_is() {
    let lone = |text| read(text, Dialect::Strace).0.found.get().unwrap().lone;
    let alone = lone("brk(NULL) = 0x1\nset_tid_address(0x7f) = 777\n");
    assert_eq!(alone, ThreadKey(777));
    let text = "strace: Process 5 attached\n[pid     5] brk(NULL) = 1\n[pid 4] brk(0) = 1\n";
    assert_eq!(lone(text), ThreadKey(4));
    assert_eq!(lone("brk(NULL) = 0x1\n"), Caller::Lone.key());
}

#[test]
fn opening_reads_no_lines_and_reading_can_be_cancelled() {
    let line = "7 10:00:00.000001 write(1, \"some text to fill the line up a bit\", 34) = 34\n";
    let mut text = line.repeat((5 << 20) / line.len());
    text.push_str("7 11:00:00.000001 exit_group(0) = ?\n");
    let input = Input::from_vec(text.into_bytes(), "x");
    let recording = TextReader::open(input, Dialect::Strace)
        .unwrap()
        .recording();
    let lines = |info: &TraceInfo| info.facts.iter().any(|fact| fact.name == "lines");
    assert!(!lines(&recording.info));
    // The last line does not start a part.
    let coarse = recording.stream.coarse();
    assert_eq!(coarse.density.len(), 2);
    assert_eq!(coarse.span.duration().0, 1);
    let job = Job::default();
    job.cancel();
    assert!(recording.read_whole(&job).is_err());
    let gathered = recording.read_whole(&Job::default()).unwrap();
    assert!(lines(&gathered.info));
}

#[test]
fn output_of_the_program_in_the_same_file_breaks_no_call() {
    let text = "9 1795.1 write(1, \"hel\\tlo\\n\", 7hel\tlo\n) = 7 <0.2>\n\
        9 1795.4 write(2</dev/pts/0>, \"a\\n\\303\\244\\n\", 5a\n\u{e4}\n) = 5\n\
        9 1795.5 write(1, \"cut of\"..., 100cut of a longer one\n) = 100\n\
        9 1795.6 write(1, \"\\n\", 1\n) = 1\n\
        9 1795.7 close(1) = 0\n";
    let (reader, columns) = read(text, Dialect::Strace);
    assert_eq!(columns.diagnostics.rows().len(), 0);
    assert_eq!(ends(&columns, MarkOp::Begin), 4);
    assert_eq!(ends(&columns, MarkOp::End), 4);
    let detail = describe(&reader, &columns, 0);
    let fields: Vec<String> = detail.fields.iter().map(|field| field.text()).collect();
    assert!(fields.iter().any(|field| field == "7"), "{fields:?}");
    // The call ends in the line of its output, or nothing was written to this file.
    let text = "9 1795.1 write(1, \"x\", 1x)      = 1 <0.2>\n\
        9 1795.4 write(2, \"\", 0) = 0 <0.1>\n\
        9 1795.5 write(1, \"\"..., 16) = 16 <0.1>\n\
        9 1795.6 write(1, \"ab\"..., 9abcdefg) ) = 9 <0.1>\n\
        9 1795.7 write(1, \")\", 1) = 1 <0.1>\n\
        9 1795.8 write(1, \") = \"..., 6) = 6 <0.1>\n\
        9 1795.9 close(1) = 0\n";
    let (_, columns) = read(text, Dialect::Strace);
    assert_eq!(columns.diagnostics.rows().len(), 0);
    assert_eq!(ends(&columns, MarkOp::Begin), 0);
    assert_eq!(columns.completes.len(), 7);
    // Something else is no output of this call.
    let text = "9 1795.1 write(1, \"hello\\n\", 6world\n9 1795.2 close(1) = 0\n";
    let (_, columns) = read(text, Dialect::Strace);
    assert_eq!(ends(&columns, MarkOp::Begin), 0);
    assert_eq!(columns.diagnostics.rows().len(), 1);
}
