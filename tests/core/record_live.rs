//! Recordings that another process reads while they are made, as the window does; and rights from polkit.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::recording::{Desk, event_names, nothing_in_kernel, turn, wait_until, words};
use threadline::base::Job;
use threadline::record::{LiveReader, last_report};
use threadline::view::{RecordSettings, RecordedEvent};

/// The folder in which a recording is read.
fn folder_in(desk: &Desk) -> PathBuf {
    let folder = desk.folder.path().join("live");
    fs::create_dir(&folder).unwrap();
    folder
}

fn started(desk: &Desk, folder: &Path, more: &[&str]) -> Child {
    let live = ["--live", folder.to_str().unwrap()];
    let mut command = desk.command(&[&live, more].concat());
    command.stdin(Stdio::piped()).spawn().unwrap()
}

fn stop(mut child: Child) -> Output {
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "stop").unwrap();
    // The end of standard input would tell the program that nobody wants the recording.
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    output
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_recording_is_read_while_it_is_made() {
    let Some(_turn) = turn("a_recording_is_read_while_it_is_made") else {
        return;
    };
    let desk = Desk::new();
    let folder = folder_in(&desk);
    let began = Instant::now();
    let child = started(&desk, &folder, &["--preset", "sched"]);
    let job = Job::default();
    let mut reader = None;
    wait_until("the folder can be read", || {
        reader = LiveReader::open(&folder);
        reader.is_some()
    });
    let mut reader = reader.unwrap();
    let path = folder.join("live.dat");
    let mut counts = Vec::new();
    wait_until("events come three times", || {
        if reader.read_new().unwrap() {
            let trace = reader.load(&path, &job).unwrap().trace;
            if counts.is_empty() && !trace.events.is_empty() {
                let took = began.elapsed().as_millis();
                println!("the first picture could be drawn after {took} ms");
            }
            counts.push(trace.events.len());
        }
        counts.len() >= 3
    });
    assert!(counts.is_sorted() && counts[0] < counts[2], "{counts:?}");
    // Threads that slept all the time have names as well: they come from /proc.
    let trace = reader.load(&path, &job).unwrap().trace;
    let own = trace.threads.len();
    assert!(own > 1, "{own} threads");
    wait_until("the progress is reported", || {
        last_report(&folder).is_some_and(|report| report.bytes > 0)
    });
    let output = stop(child);
    assert!(output.status.success(), "{}", words(&output));
    assert_eq!(names_in(&folder), ["progress"]);
    let report = last_report(&folder).unwrap();
    let names = event_names(&desk.out());
    assert_eq!(report.ended, Some(names.len() as u64));
    assert!(names.len() >= counts[2] && report.lost == 0, "{report:?}");
    nothing_in_kernel();
}

#[test]
fn a_recording_whose_reader_was_killed_leaves_nothing() {
    let Some(_turn) = turn("a_recording_whose_reader_was_killed_leaves_nothing") else {
        return;
    };
    let desk = Desk::new();
    let folder = folder_in(&desk);
    let mut child = started(&desk, &folder, &["--preset", "sched"]);
    wait_until("it records", || LiveReader::open(&folder).is_some());
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = words(&output);
    assert!(told.contains("ended before it was stopped"), "{told}");
    assert!(desk.files().is_empty(), "{:?}", desk.files());
    nothing_in_kernel();
}

#[test]
fn a_folder_that_cannot_be_written_is_a_sentence_and_leaves_nothing() {
    let name = "a_folder_that_cannot_be_written_is_a_sentence_and_leaves_nothing";
    let Some(_turn) = turn(name) else { return };
    let desk = Desk::new();
    let mut child = started(&desk, Path::new("/no/such/folder"), &["-e", "sched_switch"]);
    let _open = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = words(&output);
    assert!(told.contains("nothing was recorded: "), "{told}");
    assert!(desk.files().is_empty());
    nothing_in_kernel();
}

/// Puts a program named `pkexec` first in the path of a command.
fn with_pkexec(command: &mut Command, folder: &Path, script: &str) {
    let program = folder.join("pkexec");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", folder.display()));
}

#[test]
fn polkit_gives_rights_to_the_small_program_alone() {
    let Some(_turn) = turn("polkit_gives_rights_to_the_small_program_alone") else {
        return;
    };
    let desk = Desk::new();
    let programs = tempfile::tempdir().unwrap();
    let arguments = ["--pkexec", "-e", "sched_switch", "--for", "100ms"];
    let run = |script: &str| {
        let mut command = desk.command(&arguments);
        with_pkexec(&mut command, programs.path(), script);
        command.output().unwrap()
    };
    // A real pkexec also keeps standard input, which is the channel, and runs the program in its place.
    let output = run("echo \"$0 $1\" >&2; exec \"$@\"");
    let told = words(&output);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("/threadline-tracer\n"), "{told}");
    assert_eq!(desk.files(), ["out.dat"]);
    fs::remove_file(desk.out()).unwrap();
    for (script, expected) in [
        ("exit 126", "the question for the password was closed"),
        ("exit 127", "no password dialog is running"),
    ] {
        let output = run(script);
        let told = words(&output);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains(expected), "{told}");
        assert!(desk.files().is_empty());
    }
    // Whoever stops while the password is asked for need not answer.
    let folder = folder_in(&desk);
    let live = ["--live", folder.to_str().unwrap()];
    let mut command = desk.command(&[&live, &arguments[..3]].concat());
    with_pkexec(&mut command, programs.path(), "exec sleep 60");
    let child = command.stdin(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let began = Instant::now();
    let output = stop(child);
    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(words(&output).contains("stopped before recording began"));
    nothing_in_kernel();
}

#[test]
fn the_settings_of_the_window_are_arguments_of_the_command() {
    let settings = RecordSettings {
        sets: vec!["sched".into(), "irq".into()],
        events: vec![
            RecordedEvent {
                pattern: "sched:sched_switch".into(),
                filter: "-1 < prev_pid".into(),
            },
            RecordedEvent {
                pattern: "block*".into(),
                filter: String::new(),
            },
        ],
        probes: "p vfs_read count=%dx\nr vfs_read".into(),
        has_stacks: true,
        threads: "1, 2".into(),
        has_children: true,
        buffer: "16M".into(),
        clock: "mono".into(),
        after: "10s".into(),
        until: "-x == 1".into(),
    };
    let line = settings.command_line(threadline::view::RecordRights::Own);
    // A shell reads the line as the same words.
    let script =
        format!("threadline() {{ shift; for word; do printf '%s\\n' \"$word\"; done; }}\n{line}");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let read = String::from_utf8(output.stdout).unwrap();
    assert_eq!(read.lines().collect::<Vec<_>>(), settings.arguments());
    // With `--list` the command parses all arguments and records nothing.
    let desk = Desk::new();
    let arguments = settings.arguments();
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.push("--list");
    let output = desk.run(&arguments);
    assert_ne!(output.status.code(), Some(2), "{}", words(&output));
}
