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
