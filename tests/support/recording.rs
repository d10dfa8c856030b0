//! Runs of `threadline record` by tests, on a kernel that permits recording.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may panic and print"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::program::stdout;

/// Where tracefs is.
pub const TRACEFS: &str = "/sys/kernel/tracing";

/// A user without any rights.
pub const NOBODY: u32 = 65534;

/// Tests look for leftovers in the whole kernel, so only one recording runs at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Waits until no other test records; returns `None`, with a message, if tracefs cannot be written.
pub fn turn(name: &str) -> Option<MutexGuard<'static, ()>> {
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let probe = Path::new(TRACEFS).join("instances/threadline-test");
    if let Err(error) = fs::create_dir(&probe) {
        eprintln!(
            "\n\n=== SKIPPED: {name} needs a tracefs that may be written ({error}: {TRACEFS}) ===\n"
        );
        return None;
    }
    fs::remove_dir(&probe).unwrap();
    Some(guard)
}

/// A command line of the program in a folder that every user may write to.
pub struct Desk {
    pub folder: tempfile::TempDir,
}

impl Desk {
    pub fn new() -> Desk {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        Desk { folder }
    }

    pub fn out(&self) -> PathBuf {
        self.folder.path().join("out.dat")
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_threadline"));
        command.arg("record").arg("-o").arg(self.out());
        command.args(arguments).current_dir(self.folder.path());
        command.env_remove("SUDO_UID").env_remove("SUDO_GID");
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Returns the names of the files in the folder.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }
}

/// Returns the standard error of a run.
pub fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the instances and probes that recordings have in the kernel now.
pub fn left_in_kernel() -> Vec<String> {
    let entries = fs::read_dir(Path::new(TRACEFS).join("instances")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut left: Vec<String> = names
        .filter(|name| name.starts_with("threadline"))
        .collect();
    for file in ["kprobe_events", "uprobe_events", "dynamic_events"] {
        let text = fs::read_to_string(Path::new(TRACEFS).join(file)).unwrap_or_default();
        let ours = text.lines().filter(|line| line.contains("threadline_"));
        left.extend(ours.map(str::to_owned));
    }
    left
}

/// Asserts that no recording has left anything in the kernel.
pub fn nothing_in_kernel() {
    assert_eq!(left_in_kernel(), Vec::<String>::new());
}

/// Waits until `is_so` returns true; panics with `what` after a time limit.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the name of each event in a recording.
pub fn event_names(path: &Path) -> Vec<String> {
    let table = stdout(&["table", "events", path.to_str().unwrap()]);
    let name = |row: &str| row.split('\t').nth(3).unwrap().to_owned();
    table.lines().skip(1).map(name).collect()
}

/// Sends a signal.
pub fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status();
    assert!(status.unwrap().success());
}

/// Starts a recording and waits until the kernel records.
pub fn started(desk: &Desk, arguments: &[&str]) -> Child {
    let child = desk.command(arguments).spawn().unwrap();
    let name = format!("threadline-{}", child.id());
    let instance = Path::new(TRACEFS).join("instances").join(name);
    let text = |file: &str| fs::read_to_string(instance.join(file)).unwrap_or_default();
    // An instance is made with its switch on; the program turns it off before it enables events.
    wait_until("recording starts", || {
        !text("set_event").trim().is_empty() && text("tracing_on").trim() == "1"
    });
    child
}

/// Returns whether a file of tracefs contains `word`; prints a message if it does not.
pub fn kernel_has(test: &str, file: &str, word: &str) -> bool {
    let text = fs::read_to_string(Path::new(TRACEFS).join(file));
    let has = text.is_ok_and(|text| text.contains(word));
    if !has {
        eprintln!(
            "\n=== SKIPPED: {test}: this kernel has no {word} in {file}; tests/qemu/run has ===\n"
        );
    }
    has
}
