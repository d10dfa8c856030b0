//! `export` on the command line: what becomes of the file when it is there already, when the disk is full, when the
//! program is killed; and what is narrowed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use threadline::base::Job;
use threadline::load;
use threadline::trace::EventId;

fn sample(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces");
    folder.join(name).to_string_lossy().into_owned()
}

fn threadline() -> Command {
    Command::new(env!("CARGO_BIN_EXE_threadline"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn export(trace: &str, out: &Path, more: &[&str]) -> Output {
    let mut command = threadline();
    command.args(["export", trace, "-o"]).arg(out).args(more);
    command.output().unwrap()
}

#[test]
fn a_file_is_replaced_only_by_force() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a.fxt");
    let trace = sample("kprobe-hackbench.dat");
    std::fs::write(&out, "old").unwrap();
    let refused = export(&trace, &out, &[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("use --force to replace it"));
    assert_eq!(std::fs::read(&out).unwrap(), b"old");
    let done = export(&trace, &out, &["--force"]);
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(stderr(&done).contains("context switches"));
    assert!(load::open(&out, &Job::default()).is_ok());
    assert_eq!(names(folder.path()), ["a.fxt"]);
}

/// The shell lets files grow to 8 KiB only, which is as a disk that is full after that.
#[test]
#[cfg(unix)]
fn a_disk_that_fills_up_leaves_the_old_file_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a.fxt");
    for old in [None, Some("old")] {
        if let Some(old) = old {
            std::fs::write(&out, old).unwrap();
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\""]);
        shell.arg(env!("CARGO_BIN_EXE_threadline"));
        shell.args(["export", &sample("kprobe-hackbench.dat"), "--force", "-o"]);
        let done = shell.arg(&out).output().unwrap();
        assert_eq!(done.status.code(), Some(1), "{}", stderr(&done));
        let words = stderr(&done);
        assert!(words.contains("could not be written"), "{words}");
        assert_eq!(
            std::fs::read(&out).ok(),
            old.map(|old| old.as_bytes().to_vec())
        );
        assert_eq!(names(folder.path()).len(), usize::from(old.is_some()));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_disk_without_room_says_so() {
    let done = export(
        &sample("kprobe-hackbench.dat"),
        Path::new("/dev/full"),
        &["--to", "fxt"],
    );
    assert_eq!(done.status.code(), Some(1));
    assert!(
        stderr(&done).contains("the disk is full"),
        "{}",
        stderr(&done)
    );
}

/// A trace whose export takes a while.
fn large_trace(folder: &Path) -> PathBuf {
    let mut bytes: Vec<u8> = Vec::new();
    let mut word = |word: u64| bytes.extend_from_slice(&word.to_le_bytes());
    word(0x0016_5478_4604_0010);
    for number in 0..150_000_u64 {
        // An instant of process 1 and thread 2, without names.
        for part in [4 | 4 << 4, number * 1000, 1, 2] {
            word(part);
        }
    }
    let path = folder.join("large.fxt");
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Whenever the program is killed, the target is the old file or the whole new one. Only if it is killed between naming
/// the whole draft and renaming it to the target does the folder have another file: Linux cannot do both in one step.
#[test]
#[cfg(target_os = "linux")]
fn a_program_that_is_killed_leaves_nothing_behind() {
    use std::os::unix::fs::OpenOptionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let mut options = std::fs::OpenOptions::new();
    let unnamed = options.write(true).custom_flags(libc::O_TMPFILE);
    // On a file system without O_TMPFILE the draft has a temporary name, under which a killed program leaves it.
    let leaves_draft = unnamed.open(folder.path()).is_err();
    let here = tempfile::tempdir().unwrap();
    let trace = large_trace(here.path());
    let out = folder.path().join("a.fxt");
    let mut drafts = 0;
    for delay in [5, 20, 40, 60, 80, 100, 150, 200, 300] {
        std::fs::write(&out, "old").unwrap();
        let mut command = threadline();
        command.args(["export", trace.to_str().unwrap(), "--force", "-o"]);
        let command = command.arg(&out).stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut left = names(folder.path());
        left.retain(|name| !leaves_draft || name == "a.fxt");
        left.retain(|name| {
            let path = folder.path().join(name);
            let is_whole_draft = name.ends_with(".part")
                && std::fs::metadata(&path).unwrap().len() > 2_000_000
                && std::fs::read(&out).unwrap() == b"old";
            drafts += u32::from(is_whole_draft);
            if is_whole_draft {
                std::fs::remove_file(path).unwrap();
            }
            !is_whole_draft
        });
        assert_eq!(left, ["a.fxt"], "killed after {delay} ms");
        let found = std::fs::read(&out).unwrap();
        assert!(
            found == b"old" || found.len() > 2_000_000,
            "{} bytes",
            found.len()
        );
    }
    assert!(drafts <= 1, "{drafts} of 9");
}

#[test]
fn a_range_must_have_a_length_and_may_lie_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a.fxt");
    let trace = sample("kprobe-hackbench.dat");
    for (from, until) in [("2ms", "1ms"), ("1ms", "1ms")] {
        let refused = export(&trace, &out, &["--from", from, "--until", until]);
        assert_eq!(refused.status.code(), Some(2), "{from} {until}");
        assert!(stderr(&refused).contains("--until must be later than --from"));
        assert!(names(folder.path()).is_empty());
    }
    let outside = export(&trace, &out, &["--from", "1000s"]);
    assert!(outside.status.success(), "{}", stderr(&outside));
    let words = stderr(&outside);
    assert!(words.contains("nothing happened in this range"), "{words}");
    let empty = load::open(&out, &Job::default()).unwrap();
    assert!(empty.trace.slices.is_empty() && empty.trace.instants.is_empty());
}

#[test]
fn cpus_processes_and_threads_narrow_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a.fxt");
    let trace = sample("sched-irq-syscalls.dat");
    let source = load::open(Path::new(&trace), &Job::default()).unwrap();
    let runs = &source.trace.runs;
    let whole = |loaded: &load::LoadedTrace| loaded.trace.runs.len();

    let done = export(&trace, &out, &["--cpu", "0"]);
    assert!(done.status.success(), "{}", stderr(&done));
    let one_cpu = load::open(&out, &Job::default()).unwrap();
    assert_eq!(
        one_cpu
            .trace
            .cpus
            .iter()
            .filter(|cpu| cpu.number != 0)
            .count(),
        0
    );
    assert!(whole(&one_cpu) > 0 && whole(&one_cpu) < whole(&source));

    let thread = source
        .trace
        .thread(threadline::trace::ThreadId(runs.threads[runs.len() / 2]));
    let tid = thread.tid.to_string();
    let done = export(&trace, &out, &["-f", "--thread", &tid]);
    assert!(done.status.success(), "{}", stderr(&done));
    let one = load::open(&out, &Job::default()).unwrap();
    let tids = |loaded: &load::LoadedTrace| -> Vec<u64> {
        let threads = loaded.trace.runs.threads.iter();
        threads
            .map(|&id| loaded.trace.threads[id as usize].tid)
            .collect()
    };
    let wanted = tids(&source)
        .iter()
        .filter(|&&other| other == thread.tid)
        .count();
    assert!(wanted > 0);
    assert_eq!(tids(&one), vec![thread.tid; wanted]);

    let process = source.trace.processes[thread.process.unwrap().0 as usize].pid;
    let done = export(&trace, &out, &["-f", "--process", &process.to_string()]);
    assert!(done.status.success(), "{}", stderr(&done));
    let one = load::open(&out, &Job::default()).unwrap();
    assert!(whole(&one) >= wanted && whole(&one) < whole(&source));
    for id in &one.trace.runs.threads {
        let owner = one.trace.threads[*id as usize].process.unwrap();
        assert_eq!(one.trace.processes[owner.0 as usize].pid, process);
    }
}

/// What the reader of an exported file says of each event, in one line.
fn told(source: &str, out: &Path) -> Vec<String> {
    let done = export(source, out, &["--force"]);
    assert!(done.status.success(), "{}", stderr(&done));
    let loaded = load::open(out, &Job::default()).unwrap();
    let all = 0..loaded.trace.events.len() as u32;
    let events = all.map(|id| loaded.trace.events.get(EventId(id)));
    let details = events.map(|event| loaded.reader.describe(event.into()));
    details
        .map(|it| format!("{}: {}", it.name, it.line()))
        .collect()
}

#[test]
fn words_and_stacks_of_events_without_fields_leave_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a.fxt");
    let source = folder.path().join("a.ftrace");
    let text = "# tracer: nop\n\
        sh-100 [000] d..1. 10.000100: tracing_mark_write: hello there\n\
        sh-100 [000] d..1. 10.000200: bprint: do_it: 3 of 4\n\
        sh-100 [000] d..1. 10.000300: kfree: call_site=k+0x1 ptr=1\n\
        sh-100 [000] d..1. 10.000301: <stack trace>\n\
        => inner\n => outer\n";
    std::fs::write(&source, text).unwrap();
    let all = told(&source.to_string_lossy(), &out).join("\n");
    for words in ["hello there", "3 of 4", "call_site=", "inner outer"] {
        assert!(all.contains(words), "'{words}' is not in\n{all}");
    }
    let stacks = threadline()
        .arg("flame")
        .args(["--stacks"])
        .arg(&out)
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&stacks.stdout).contains("inner"));

    // Functions have addresses for fields; what is there, the text says.
    let golden = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/golden/tracedat/generated-v7-none.dat"
    );
    let all = told(golden, &out);
    let functions = all.iter().filter(|line| line.starts_with("function: "));
    assert!(functions.clone().count() > 0);
    assert!(
        functions
            .clone()
            .all(|line| line.contains("kernel_function_"))
    );
}
