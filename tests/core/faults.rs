//! Faults of the world around the program: disks that are full, writes that take a few bytes, reads that fail, memory that is
//! not there. Every one ends in an error, at any place, and in nothing else.

use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::program::run;
use threadline::base::Job;
use threadline::export::{EXPORTERS, ExportError, Exporter, Selection};
use threadline::load::{LoadedTrace, open};

/// One recording of each format.
const RECORDINGS: [&str; 6] = [
    "sample-traces/kprobe-hackbench.dat",
    "sample-traces/compress.fxt",
    "tests/golden/etrace/pipeline.etrace",
    "tests/cases/ftrace_text/lost-switches.ftrace",
    "tests/golden/strace/attach-detach.strace",
    "sample-traces/minix-pipeline.minix",
];

/// How many places of an output fail, from its first byte to its last.
const PLACES: usize = 12;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// A disk that has room for some bytes and takes a few at a time.
struct Disk {
    free: usize,
    piece: usize,
    held: Vec<u8>,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = bytes.len().min(self.piece).min(self.free);
        if count == 0 && !bytes.is_empty() {
            return Err(Error::from(ErrorKind::StorageFull));
        }
        self.free -= count;
        self.held.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What an exporter writes to a disk with `free` bytes; `None` if the trace has nothing for it.
fn write(
    exporter: &Exporter,
    loaded: &LoadedTrace,
    free: usize,
    piece: usize,
) -> Option<Result<Vec<u8>, ExportError>> {
    let held = Vec::new();
    let mut disk = Disk { free, piece, held };
    match exporter.write_to(loaded, &Selection::all(), &mut disk, &Job::default()) {
        Ok(_) => Some(Ok(disk.held)),
        Err(ExportError::Nothing(_)) => None,
        Err(error) => Some(Err(error)),
    }
}

#[test]
fn a_disk_that_is_full_anywhere_ends_every_export_in_its_error() {
    let mut failed = 0;
    for name in RECORDINGS {
        let loaded = open(&path(name), &Job::default()).unwrap();
        for exporter in EXPORTERS {
            let Some(whole) = write(exporter, &loaded, usize::MAX, usize::MAX) else {
                continue;
            };
            let whole = whole.unwrap();
            for place in 0..PLACES {
                let free = whole.len() * place / PLACES;
                match write(exporter, &loaded, free, usize::MAX) {
                    Some(Err(ExportError::Io(error))) => {
                        assert_eq!(error.kind(), ErrorKind::StorageFull);
                    }
                    other => panic!("{name} as {} with {free} bytes: {other:?}", exporter.name),
                }
                failed += 1;
            }
        }
    }
    assert!(failed > 300, "{failed}");
}

#[test]
fn writes_that_take_a_few_bytes_lose_nothing() {
    for name in RECORDINGS {
        let loaded = open(&path(name), &Job::default()).unwrap();
        for exporter in EXPORTERS {
            let whole = write(exporter, &loaded, usize::MAX, usize::MAX);
            let pieces = write(exporter, &loaded, usize::MAX, 7);
            let (whole, pieces) = (whole.map(Result::unwrap), pieces.map(Result::unwrap));
            assert!(whole == pieces, "{name} as {}", exporter.name);
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_cannot_be_read_is_an_error_in_words() {
    // Its first page is not mapped: read(2) fails with EIO.
    let output = run(&["info", "/proc/self/mem"]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("/proc/self/mem"), "{words}");
    assert!(words.contains("Input/output error"), "{words}");
}

#[test]
#[cfg(target_os = "linux")]
fn any_memory_limit_ends_in_the_trace_or_in_an_error() {
    for name in RECORDINGS {
        let file = path(name);
        let file = file.to_str().unwrap();
        let mut answers = Vec::new();
        for limit in ["1M", "4M", "8M", "12M", "16M", "24M", "32M", "64M", "2G"] {
            let output = run(&["info", "--memory", limit, file]);
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            match output.status.code() {
                Some(0) => answers.push(true),
                Some(1) => {
                    assert!(words.contains("memory"), "{name}, {limit}: {words}");
                    answers.push(false);
                }
                other => panic!("{name}, {limit}: {other:?} {words}"),
            }
        }
        assert_eq!(answers.last(), Some(&true), "{name}");
        // What suffices once suffices with more.
        assert!(answers.is_sorted(), "{name}: {answers:?}");
    }
}

/// A signal that somebody sends is no fault in a file: the first one ends the program.
#[cfg(unix)]
#[test]
fn a_bus_error_that_somebody_sends_ends_the_program() {
    use std::io::Read;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    let mut child = Command::new(env!("CARGO_BIN_EXE_threadline"))
        .arg("report")
        .arg(path("sample-traces/sched-irq-syscalls.dat"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The first bytes show that the file is mapped; what follows does not fit into the pipe, so the program waits.
    let mut output = child.stdout.take().unwrap();
    output.read_exact(&mut [0; 100]).unwrap();
    let sent = Command::new("kill")
        .args(["-BUS", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    let ended = child.wait().unwrap();
    assert_eq!(ended.signal(), Some(libc::SIGBUS), "{ended:?}");
}

/// Runs the program where no file may become longer than `kilobytes`: a longer write fails as on a full disk.
#[cfg(target_os = "linux")]
fn run_with_room(kilobytes: u32, arguments: &[&str]) -> std::process::Output {
    // Without the trap the kernel would end the program by a signal.
    run_after(&format!("trap '' XFSZ; ulimit -f {kilobytes}"), arguments)
}

/// Runs the program in a shell's place, after the shell has run `setup`.
#[cfg(target_os = "linux")]
fn run_after(setup: &str, arguments: &[&str]) -> std::process::Output {
    let script = format!("{setup}; exec \"$0\" \"$@\"");
    std::process::Command::new("bash")
        .args(["-c", &script, env!("CARGO_BIN_EXE_threadline")])
        .args(arguments)
        .output()
        .unwrap()
}

#[cfg(target_os = "linux")]
fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
#[cfg(target_os = "linux")]
fn no_verb_leaves_half_a_file_where_the_disk_is_full() {
    let trace = path("sample-traces/sched-irq-syscalls.dat");
    let trace = trace.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (verb, name) in [
        (&["export", "-f"][..], "x.fxt"),
        (&["export", "-f"], "x.json"),
        (&["export", "-f"], "x.pftrace"),
        (&["export", "-f", "--to", "trace-dat"], "x.dat"),
        (&["export", "-f", "--table", "slices"], "x.csv"),
        (
            &["table", "slices", "-f", "--format", "parquet"],
            "x.parquet",
        ),
        (&["render"], "x.png"),
    ] {
        let target = folder.path().join(name);
        std::fs::write(&target, "as it was").unwrap();
        let out = ["-o", target.to_str().unwrap(), trace];
        let output = run_with_room(8, &[verb, &out].concat());
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{name}: {words}");
        assert!(words.contains("File too large"), "{name}: {words}");
        let kept = std::fs::read_to_string(&target);
        assert_eq!(kept.ok().as_deref(), Some("as it was"), "{name}");
        assert_eq!(names_in(folder.path()), [name]);
        std::fs::remove_file(&target).unwrap();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_data_set_whose_disk_is_full_has_what_it_had() {
    let small = path("tests/cases/ftrace_text/lost-switches.ftrace");
    let large = path("sample-traces/sched-irq-syscalls.dat");
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("set");
    let set = set.to_str().unwrap();
    let added = run(&["dataset", "add", set, small.to_str().unwrap()]);
    assert!(added.status.success());
    let list = || run(&["dataset", "list", set]).stdout;
    let before = list();
    assert!(!before.is_empty());
    // From no room at all to room for all but the last files.
    for kilobytes in [0, 1, 4, 16, 32] {
        let arguments = ["dataset", "add", set, large.to_str().unwrap()];
        let output = run_with_room(kilobytes, &arguments);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{kilobytes}: {words}");
        assert!(words.contains("File too large"), "{kilobytes}: {words}");
        assert!(list() == before, "{kilobytes}");
    }
    let added = run(&["dataset", "add", set, large.to_str().unwrap()]);
    assert!(added.status.success());
    assert!(list() != before);
}

/// Runs the program with at most so much address space: an allocation beyond it fails.
#[cfg(target_os = "linux")]
fn run_in_space(megabytes: u32, arguments: &[&str]) -> std::process::Output {
    let kilobytes = megabytes * 1024;
    let setup = format!("ulimit -c 0; ulimit -v {kilobytes}");
    run_after(&setup, arguments)
}

#[test]
#[cfg(target_os = "linux")]
fn allocations_that_fail_leave_no_part_of_an_output() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x.fxt");
    let out = target.to_str().unwrap();
    for name in RECORDINGS
        .iter()
        .chain(&["sample-traces/lua-make-j2.etrace.zst"])
    {
        let trace = path(name);
        let arguments = ["export", "-o", out, trace.to_str().unwrap()];
        assert_eq!(run(&arguments).status.code(), Some(0), "{name}");
        let whole = std::fs::read(&target).unwrap();
        std::fs::remove_file(&target).unwrap();
        let mut failed = 0;
        // From less than the program itself needs to plenty.
        for megabytes in (40..=340).step_by(20).chain([4_000]) {
            let output = run_in_space(megabytes, &arguments);
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.code() == Some(0) {
                assert!(std::fs::read(&target).unwrap() == whole, "{name}");
                std::fs::remove_file(&target).unwrap();
            } else {
                failed += 1;
                assert!(megabytes < 4_000, "{name}: {words}");
                // The standard library itself panics where a new thread gets no stack for its signals.
                let panics = words.lines().filter(|line| line.contains(" panicked at "));
                let is_our_own = |line: &str| !line.contains(" panicked at /rustc/");
                let ours: Vec<&str> = panics.filter(|line| is_our_own(line)).collect();
                assert!(ours.is_empty(), "{name}, {megabytes}: {words}");
            }
            let left = names_in(folder.path());
            assert!(left.is_empty(), "{name}, {megabytes}: {left:?}");
        }
        assert!(failed > 0, "{name}");
    }
}
