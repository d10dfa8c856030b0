//! The built program on a pseudo terminal of a given width: the output that a person would see.
#![allow(
    dead_code,
    unsafe_code,
    clippy::unwrap_used,
    reason = "a test may panic; openpty is a call to C"
)]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::process::{Command, Stdio};

/// The target of the program's standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errors {
    /// The terminal that standard output goes to.
    OnTerminal,
    /// The null device.
    Discarded,
}

/// Opens a pseudo terminal that is `width` columns wide. Returns the test's end and the program's end.
fn pseudo_terminal(width: u16) -> (File, OwnedFd) {
    let (mut ours, mut its) = (-1, -1);
    let size = libc::winsize {
        ws_row: 40,
        ws_col: width,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let (name, settings) = (std::ptr::null_mut(), std::ptr::null());
    // SAFETY: all pointers are to locals that outlive the call, or null where null is allowed.
    let code =
        unsafe { libc::openpty(&raw mut ours, &raw mut its, name, settings, &raw const size) };
    assert_eq!(code, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: both were just opened, and nobody else owns them.
    unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(its)) }
}

/// Returns the program, without the environment variables that change how it prints.
fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadline"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(name);
    }
    command.args(arguments).env("TERM", "xterm");
    command
}

/// Returns what the program prints on a terminal with these variables; lines end with `\n`. The program must succeed.
pub fn on_terminal(
    width: u16,
    variables: &[(&str, &str)],
    errors: Errors,
    arguments: &[&str],
) -> String {
    let (text, status) = ended_on_terminal(width, variables, errors, arguments);
    assert!(status.success(), "{arguments:?}");
    text
}

/// As [`on_terminal`], with the program's exit status.
pub fn ended_on_terminal(
    width: u16,
    variables: &[(&str, &str)],
    errors: Errors,
    arguments: &[&str],
) -> (String, std::process::ExitStatus) {
    let (mut ours, its) = pseudo_terminal(width);
    let mut command = program(arguments);
    command.envs(variables.iter().copied()).stdin(Stdio::null());
    match errors {
        Errors::OnTerminal => command.stderr(its.try_clone().unwrap()),
        Errors::Discarded => command.stderr(Stdio::null()),
    };
    let mut child = command.stdout(its).spawn().unwrap();
    // The command holds the program's end of the terminal, whose output ends only when every copy of that end is closed.
    drop(command);
    let mut bytes = Vec::new();
    read_until(&mut ours, &mut bytes, |_| false);
    (text_of(bytes), child.wait().unwrap())
}

/// Returns what the program prints without colours if it gets `input` on standard input once it has printed `awaited`.
pub fn fed_on_terminal(width: u16, awaited: &str, input: &[u8], arguments: &[&str]) -> String {
    let (mut ours, its) = pseudo_terminal(width);
    let mut command = program(arguments);
    command.env("NO_COLOR", "1").stdin(Stdio::piped());
    command.stderr(its.try_clone().unwrap());
    let mut child = command.stdout(its).spawn().unwrap();
    drop(command);
    let mut bytes = Vec::new();
    read_until(&mut ours, &mut bytes, |bytes| {
        String::from_utf8_lossy(bytes).contains(awaited)
    });
    child.stdin.take().unwrap().write_all(input).unwrap();
    read_until(&mut ours, &mut bytes, |_| false);
    assert!(child.wait().unwrap().success(), "{arguments:?}");
    text_of(bytes)
}

/// Reads until `is_enough`, or until the program has ended: Linux reports an error once no process has its end open.
fn read_until(ours: &mut File, bytes: &mut Vec<u8>, is_enough: impl Fn(&[u8]) -> bool) {
    let mut piece = [0; 4096];
    while !is_enough(bytes)
        && let Ok(count @ 1..) = ours.read(&mut piece)
    {
        bytes.extend_from_slice(&piece[..count]);
    }
}

fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap().replace("\r\n", "\n")
}
