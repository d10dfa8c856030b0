//! `threadline record` on this machine's kernel. Without a tracefs that may be written, each test says loudly that it was
//! skipped; `tests/qemu/run` runs all of them, and more, on a kernel of its own.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::program::stdout;
use crate::recording::{
    Desk, NOBODY, TRACEFS, event_names, kernel_has, nothing_in_kernel, turn, words,
};

#[test]
fn a_command_is_recorded_from_its_start_to_its_end() {
    let Some(_turn) = turn("a_command_is_recorded_from_its_start_to_its_end") else {
        return;
    };
    for more in [&[][..], &["--compress"]] {
        let desk = Desk::new();
        let script = "for i in 1 2 3 4 5; do /bin/true; done; echo out";
        let command = ["--preset", "sched", "--", "sh", "-c", script];
        let output = desk.run(&[more, &command].concat());
        assert!(output.status.success(), "{}", words(&output));
        assert_eq!(String::from_utf8_lossy(&output.stdout), "out\n");
        assert_eq!(desk.files(), ["out.dat"]);
        nothing_in_kernel();
        let names = event_names(&desk.out());
        let count = |wanted: &str| names.iter().filter(|name| *name == wanted).count();
        assert!(count("sched_switch") > 5, "{names:?}");
        assert!(count("sched_process_exec") >= 5, "{names:?}");
        let told = words(&output);
        assert!(
            told.contains(&format!("wrote {} events", names.len())),
            "{told}"
        );
        let report = stdout(&["report", desk.out().to_str().unwrap()]);
        assert_eq!(report.lines().count(), names.len() + 1);
        let info = stdout(&["info", "--json", desk.out().to_str().unwrap()]);
        let info: serde_json::Value = serde_json::from_str(&info).unwrap();
        let bad = info["diagnostics"].as_array().unwrap().iter();
        let bad: Vec<_> = bad.filter(|row| row["severity"] == "error").collect();
        assert!(bad.is_empty(), "{bad:?}");
        let options = stdout(&["report", "--uname", desk.out().to_str().unwrap()]);
        assert!(options.contains("Linux"), "{options}");
    }
}

#[test]
#[ignore = "needs trace-cmd 3.1.6"]
fn against_trace_cmd_a_recording_is_read_by_trace_cmd() {
    let Some(_turn) = turn("against_trace_cmd_a_recording_is_read_by_trace_cmd") else {
        return;
    };
    for more in [&[][..], &["--compress"], &["-C", "mono"]] {
        let desk = Desk::new();
        let command = [
            "--preset",
            "sched",
            "--",
            "sh",
            "-c",
            "/bin/true; /bin/true",
        ];
        let output = desk.run(&[more, &command].concat());
        assert!(output.status.success(), "{}", words(&output));
        let out = desk.out();
        let path = out.to_str().unwrap();
        let theirs = Command::new("trace-cmd")
            .args(["report", "-t", "-i", path])
            .output();
        let theirs = theirs.unwrap();
        assert!(theirs.status.success(), "{}", words(&theirs));
        let theirs = String::from_utf8_lossy(&theirs.stdout).into_owned();
        let ours = stdout(&["report", "-t", "--no-flags", path]);
        // trace-cmd 3.1.6 has older letters for two states; ours are the kernel's (docs/report.md).
        let letters = |line: &str| {
            line.replace("] X ==>", "] Z ==>")
                .replace("] W ==>", "] I ==>")
        };
        for (ours, theirs) in ours.lines().zip(theirs.lines()) {
            assert_eq!(letters(ours), letters(theirs));
        }
        assert_eq!(ours.lines().count(), theirs.lines().count());
        let listed = Command::new("trace-cmd")
            .args(["dump", "--summary", "-i", path])
            .output();
        let listed = String::from_utf8_lossy(&listed.unwrap().stdout).into_owned();
        assert!(listed.contains("version"), "{listed}");
    }
}

#[test]
fn threads_from_before_the_recording_are_in_their_process() {
    let Some(_turn) = turn("threads_from_before_the_recording_are_in_their_process") else {
        return;
    };
    // This process: its main thread sleeps all the time, another one runs now and then.
    let is_over = Arc::new(AtomicBool::new(false));
    let worker = std::thread::Builder::new().name("grouped".to_owned());
    let stop = is_over.clone();
    let worker = worker.spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    let desk = Desk::new();
    let output = desk.run(&["-e", "sched:sched_switch", "--for", "300ms"]);
    is_over.store(true, Ordering::Relaxed);
    worker.unwrap().join().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let (out, part) = (desk.out(), desk.out().with_file_name("part.dat"));
    let (out, part) = (out.to_str().unwrap(), part.to_str().unwrap());
    stdout(&[
        "export",
        "--to",
        "trace-dat",
        "-o",
        part,
        "--from",
        "20ms",
        out,
    ]);
    for file in [out, part] {
        let table = stdout(&["table", "--format", "json", "threads", file]);
        let table: serde_json::Value = serde_json::from_str(&table).unwrap();
        let rows = table.as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == "grouped").unwrap();
        assert_eq!(row["pid"], std::process::id(), "{row}");
        assert_ne!(row["tid"], row["pid"], "{row}");
    }
}

/// What follows the name of each event in a text of the kernel or of `report`, of the events with this name.
fn texts_of(report: &str, event: &str) -> Vec<String> {
    let start = format!(" {event}:");
    let texts = report.lines().filter_map(|line| line.split_once(&start));
    texts.map(|(_, text)| text.trim().to_owned()).collect()
}

#[test]
fn a_recording_contains_what_the_kernel_itself_prints() {
    let Some(_turn) = turn("a_recording_contains_what_the_kernel_itself_prints") else {
        return;
    };
    // A second instance has the same events; its text is the kernel's.
    let other = Path::new(TRACEFS).join("instances/threadline-test");
    fs::create_dir(&other).unwrap();
    let events = [
        "sched/sched_process_exec",
        "sched/sched_process_fork",
        "task/task_rename",
    ];
    for event in events {
        fs::write(other.join("events").join(event).join("enable"), "1").unwrap();
    }
    let desk = Desk::new();
    let mut arguments: Vec<&str> = Vec::new();
    for event in events {
        arguments.extend(["-e", event]);
    }
    arguments.extend(["--", "sh", "-c", "/bin/true; /bin/true; (/bin/true)"]);
    let output = desk.run(&arguments);
    let kernel = fs::read_to_string(other.join("trace")).unwrap();
    for event in events {
        fs::write(other.join("events").join(event).join("enable"), "0").unwrap();
    }
    fs::remove_dir(&other).unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let report = stdout(&["report", "-N", desk.out().to_str().unwrap()]);
    for event in events {
        let name = event.split('/').nth(1).unwrap();
        let (ours, kernels) = (texts_of(&report, name), texts_of(&kernel, name));
        assert!(!ours.is_empty(), "{name}");
        // The kernel's text starts earlier and ends later: everything of ours is in it, in the same order.
        let mut rest = kernels.iter();
        for text in &ours {
            assert!(
                rest.any(|kernel| kernel == text),
                "{name}: {text}\n{kernel}"
            );
        }
    }
    nothing_in_kernel();
}

#[test]
fn filters_threads_and_children_limit_what_is_recorded() {
    let Some(_turn) = turn("filters_threads_and_children_limit_what_is_recorded") else {
        return;
    };
    let desk = Desk::new();
    let filter = "next_comm == \"no such name\"";
    let arguments = [
        "-e",
        "sched:sched_switch",
        "-f",
        filter,
        "-e",
        "sched_process_exec",
    ];
    let output = desk.run(&[&arguments[..], &["--", "/bin/true"]].concat());
    assert!(output.status.success(), "{}", words(&output));
    let names = event_names(&desk.out());
    assert!(
        names.iter().all(|name| name == "sched_process_exec"),
        "{names:?}"
    );
    assert!(!names.is_empty());
    let own = std::process::id().to_string();
    let limited = [
        "--force",
        "-e",
        "sched_switch",
        "-P",
        &own,
        "--children",
        "--for",
        "50ms",
    ];
    let output = desk.run(&limited);
    assert!(output.status.success(), "{}", words(&output));
    nothing_in_kernel();
}

#[test]
fn what_the_kernel_refuses_is_a_sentence_and_leaves_nothing() {
    let Some(_turn) = turn("what_the_kernel_refuses_is_a_sentence_and_leaves_nothing") else {
        return;
    };
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["-e", "sched_swich", "--for", "1s"],
            &["no event 'sched_swich'", "sched:sched_switch"],
        ),
        (
            &["-e", "zzzzzz:*", "--for", "1s"],
            &["no event 'zzzzzz:*'", "--list"],
        ),
        (
            &["-e", "sched_switch", "-f", "nothing == 1", "--for", "1s"],
            &[
                "filter of sched:sched_switch",
                "nothing == 1",
                "Field not found",
                "^",
            ],
        ),
        (
            &["-e", "sched_switch", "-C", "sundial", "--for", "1s"],
            &["clock", "sundial"],
        ),
        (
            &["-p", "guesswork", "--for", "1s"],
            &["tracer guesswork", "nop"],
        ),
        (
            &["-e", "sched_switch", "--", "/no/such/program"],
            &[
                "/no/such/program could not be started",
                "nothing was recorded",
            ],
        ),
    ];
    for (arguments, expected) in cases {
        let desk = Desk::new();
        let output = desk.run(arguments);
        let told = words(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
        for expected in *expected {
            assert!(told.contains(expected), "{arguments:?}: {told}");
        }
        assert!(desk.files().is_empty(), "{arguments:?}: {:?}", desk.files());
        nothing_in_kernel();
    }
}

#[test]
fn wrong_usage_is_found_before_the_kernel_is_asked() {
    let cases: &[(&[&str], &str)] = &[
        (&["--for", "1s"], "nothing to record"),
        (
            &["-f", "a == 1", "-e", "sched_switch"],
            "-f belongs to the -e before it",
        ),
        (&["--preset", "everything"], "no set 'everything'"),
        (
            &["--probe", "p:mine/x vfs_read"],
            "the group is chosen by the recording",
        ),
        (&["--probe", "q vfs_read"], "--probe 'q vfs_read'"),
    ];
    for (arguments, expected) in cases {
        let desk = Desk::new();
        let output = desk.run(arguments);
        let told = words(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains(expected), "{arguments:?}: {told}");
        assert!(desk.files().is_empty());
    }
}

#[test]
fn an_existing_file_is_refused_before_anything_is_recorded() {
    let desk = Desk::new();
    fs::write(desk.out(), "mine").unwrap();
    let output = desk.run(&["-e", "sched_switch", "--for", "1s"]);
    assert!(
        words(&output).contains("exists already"),
        "{}",
        words(&output)
    );
    assert_eq!(fs::read_to_string(desk.out()).unwrap(), "mine");
}

#[test]
fn a_folder_as_output_is_refused_as_what_it_is() {
    let desk = Desk::new();
    fs::create_dir(desk.out()).unwrap();
    let output = desk.run(&["-e", "sched_switch", "--for", "1s", "--force"]);
    assert!(
        words(&output).contains("this is a folder"),
        "{}",
        words(&output)
    );
}

#[test]
fn the_file_and_the_command_belong_to_the_user_who_called_sudo() {
    use std::os::unix::fs::MetadataExt as _;
    let Some(_turn) = turn("the_file_and_the_command_belong_to_the_user_who_called_sudo") else {
        return;
    };
    let desk = Desk::new();
    let nobody = NOBODY.to_string();
    let output = desk
        .command(&["-e", "sched_process_exec", "--", "id", "-u"])
        .env("SUDO_UID", &nobody)
        .env("SUDO_GID", &nobody)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", words(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), nobody);
    let metadata = fs::metadata(desk.out()).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (NOBODY, NOBODY));
    assert!(!event_names(&desk.out()).is_empty());
    nothing_in_kernel();
}

#[test]
fn without_rights_the_line_that_grants_them_is_named() {
    let Some(_turn) = turn("without_rights_the_line_that_grants_them_is_named") else {
        return;
    };
    let desk = Desk::new();
    let mut command = desk.command(&["-e", "sched_switch", "--for", "1s"]);
    let output = command.uid(NOBODY).gid(NOBODY).output();
    let output = match output {
        // The build is in a folder that is root's alone.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            eprintln!(
                "\n=== SKIPPED: user {NOBODY} may not run {} ===\n",
                env!("CARGO_BIN_EXE_threadline")
            );
            return;
        }
        output => output.unwrap(),
    };
    let told = words(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("sudo threadline record"), "{told}");
    assert!(told.contains("sudo chown -R"), "{told}");
    assert!(desk.files().is_empty());
}

#[test]
fn probes_exist_while_they_are_recorded() {
    let name = "probes_exist_while_they_are_recorded";
    let Some(_turn) = turn(name) else { return };
    if !kernel_has(name, "kprobe_events", "") {
        return;
    }
    let desk = Desk::new();
    let arguments = [
        "--probe",
        "p vfs_read count=%dx",
        "--probe",
        "r:back vfs_read ret=$retval",
    ];
    let event = [
        "--probe",
        "e:exec sched.sched_process_exec pid=$pid",
        "--stack",
    ];
    let output = desk.run(&[&arguments[..], &event, &["--", "cat", "/proc/version"]].concat());
    assert!(output.status.success(), "{}", words(&output));
    let names = event_names(&desk.out());
    for expected in ["p_vfs_read_0", "back", "exec", "kernel_stack"] {
        assert!(
            names.iter().any(|name| name == expected),
            "{expected}: {names:?}"
        );
    }
    nothing_in_kernel();
    let output = desk.run(&[
        "--force",
        "--probe",
        "p no_such_function_anywhere",
        "--for",
        "1s",
    ]);
    let told = words(&output);
    assert!(
        !output.status.success() && told.contains("refused the probe"),
        "{told}"
    );
    nothing_in_kernel();
}

#[test]
fn functions_are_traced_and_the_kernel_is_put_back() {
    let name = "functions_are_traced_and_the_kernel_is_put_back";
    let Some(_turn) = turn(name) else { return };
    if !kernel_has(name, "available_tracers", "function_graph") {
        return;
    }
    let values = || {
        let files = [
            "current_tracer",
            "tracing_on",
            "trace_clock",
            "set_ftrace_filter",
            "set_graph_function",
        ];
        files.map(|file| fs::read_to_string(Path::new(TRACEFS).join(file)).unwrap())
    };
    let before = values();
    let desk = Desk::new();
    let graph = ["-p", "function_graph", "-g", "vfs_read", "-C", "mono"];
    let output = desk.run(&[&graph[..], &["--", "cat", "/proc/version"]].concat());
    assert!(output.status.success(), "{}", words(&output));
    let report = stdout(&["report", desk.out().to_str().unwrap()]);
    assert!(report.contains("vfs_read() {"), "{report}");
    assert_eq!(values(), before);
    let function = ["--force", "-p", "function", "-l", "vfs_read"];
    let output = desk.run(&[&function[..], &["--", "cat", "/proc/version"]].concat());
    assert!(output.status.success(), "{}", words(&output));
    let names = event_names(&desk.out());
    assert!(
        !names.is_empty() && names.iter().all(|name| name == "function"),
        "{names:?}"
    );
    assert_eq!(values(), before);
    let output = desk.run(&[
        "--force",
        "-p",
        "function",
        "-l",
        "no_such_function_anywhere",
        "--for",
        "1s",
    ]);
    let told = words(&output);
    assert!(
        !output.status.success() && told.contains("no_such_function_anywhere"),
        "{told}"
    );
    assert_eq!(values(), before);
    nothing_in_kernel();
}

#[test]
fn the_list_names_sets_and_events() {
    let Some(_turn) = turn("the_list_names_sets_and_events") else {
        return;
    };
    let output = Desk::new().run(&["--list"]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    for expected in ["latency", "sched:sched_switch", "Clocks", "nop"] {
        assert!(told.contains(expected), "{told}");
    }
}

/// Returns what the kernel loads of a 64-bit ELF program: not its table of symbols, which names all objects of the build.
fn loaded_segments(program: &[u8]) -> Vec<&[u8]> {
    let number = |at: usize, bytes: usize| {
        let bytes = program[at..at + bytes].iter().rev();
        bytes.fold(0_usize, |number, byte| number << 8 | usize::from(*byte))
    };
    assert_eq!(program[..6], *b"\x7fELF\x02\x01", "64 bits, little-endian");
    let (table, size, count) = (number(0x20, 8), number(0x36, 2), number(0x38, 2));
    let rows = (0..count).map(|row| table + row * size);
    let loaded = rows.filter(|row| number(*row, 4) == 1);
    loaded
        .map(|row| (number(row + 8, 8), number(row + 0x20, 8)))
        .map(|(offset, length)| &program[offset..offset + length])
        .collect()
}

#[test]
fn the_process_with_the_rights_contains_no_window() {
    let program = fs::read(env!("CARGO_BIN_EXE_threadline-tracer")).unwrap();
    let segments = loaded_segments(&program);
    let contains = |word: &[u8]| {
        let mut segments = segments.iter();
        segments.any(|segment| memchr::memmem::find(segment, word).is_some())
    };
    assert!(contains(b"trace_pipe_raw"));
    for name in [&b"egui"[..], b"winit", b"x11rb", b"libGL.so", b"libwayland"] {
        assert!(!contains(name), "{}", String::from_utf8_lossy(name));
    }
    let output = Command::new(env!("CARGO_BIN_EXE_threadline-tracer"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = words(&output);
    assert!(
        !output.status.success() && told.contains("threadline record"),
        "{told}"
    );
}
