//! The terminal on which a command prints: whether there is one, its width, and whether it shows colours.
//!
//! Only [`width_of_terminal`] and [`is_pipe`] depend on the system.

use std::io::IsTerminal as _;

use crate::export::aligned::Colours;

/// Returns whether standard output is a terminal.
pub(crate) fn is_person() -> bool {
    std::io::stdout().is_terminal()
}

/// Returns whether standard error is a terminal.
pub(crate) fn is_person_warned() -> bool {
    std::io::stderr().is_terminal()
}

/// Returns whether standard output goes to another program, which may be a pager on the terminal.
pub(crate) fn may_be_paged() -> bool {
    !is_person() && is_pipe()
}

/// Returns the number of characters in a line of standard output: from the terminal, otherwise from COLUMNS, otherwise
/// 80.
pub(super) fn width() -> usize {
    let columns = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
    let width = width_of_terminal().or_else(columns);
    width.filter(|&width| width > 0).unwrap_or(80)
}

#[cfg(target_os = "linux")]
fn width_of_terminal() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|&width| width > 0)
}

#[cfg(target_os = "linux")]
fn is_pipe() -> bool {
    use rustix::fs::{FileType, fstat};
    let Ok(state) = fstat(std::io::stdout()) else {
        return false;
    };
    let kind = FileType::from_raw_mode(state.st_mode);
    matches!(kind, FileType::Fifo | FileType::Socket)
}

#[cfg(not(target_os = "linux"))]
fn is_pipe() -> bool {
    true
}

#[cfg(not(target_os = "linux"))]
fn width_of_terminal() -> Option<usize> {
    None
}

/// Returns whether standard output is coloured: on a terminal that supports colours unless NO_COLOR is set, and
/// everywhere if CLICOLOR_FORCE is set.
pub(crate) fn colours() -> Colours {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let is = |name: &str, word: &str| variable(name).is_some_and(|value| value == word);
    let is_forced = variable("CLICOLOR_FORCE").is_some() && !is("CLICOLOR_FORCE", "0");
    let can = is_person() && !is("TERM", "dumb") && !is("CLICOLOR", "0");
    match variable("NO_COLOR").is_none() && (is_forced || can) {
        true => Colours::Ansi,
        false => Colours::Plain,
    }
}
