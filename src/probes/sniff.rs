//! Detects probe definitions and the kernel's hit counts of probes.

use super::command::parse;
use super::command::{BOOT, is_head};
use super::definition::Command;
use super::profile;

/// The kernel's files to which a shell's `echo` can write probes.
const ECHOED_INTO: &[&str] = &["kprobe_events", "uprobe_events", "dynamic_events"];
/// Number of lines that are checked.
const MOST_LINES: usize = 64;

/// Returns whether the head of a file contains probe definitions: most lines have the form of a definition, and at
/// least one is valid. An invalid line does not count against the file; it is reported when the definitions are parsed.
#[must_use]
pub fn sniff(head: &[u8]) -> bool {
    sniff_form(head)
        && whole_lines(head).is_some_and(|head| {
            parse(&head).lines.iter().any(|line| {
                matches!(
                    line.command,
                    Ok(Command::Define(_) | Command::Remove { .. })
                )
            })
        })
}

/// Returns whether most lines of a head have the form of a definition, valid or not, so that errors can be explained.
#[must_use]
pub(crate) fn sniff_form(head: &[u8]) -> bool {
    let Some(head) = whole_lines(head) else {
        return false;
    };
    let lines = || head.lines().map(str::trim).filter(|line| has_content(line));
    let has_form = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let first = words.next().unwrap_or("");
        line.contains(BOOT)
            || (first == "echo" && ECHOED_INTO.iter().any(|file| line.contains(file)))
            || first.starts_with("-:")
            || (first.starts_with(['p', 'r', 'e', 's', 'f', 't', 'u'])
                && is_head(first)
                && words.next().is_some())
    };
    let (mut right, mut all) = (0, 0);
    for line in lines().take(MOST_LINES) {
        all += 1;
        right += usize::from(has_form(line));
    }
    right * 2 > all
}

/// Returns whether the head of a file is a `kprobe_profile` or `uprobe_profile`.
#[must_use]
pub fn sniff_profile(head: &[u8]) -> bool {
    let Some(head) = whole_lines(head) else {
        return false;
    };
    let mut lines = head
        .lines()
        .filter(|line| !line.trim().is_empty())
        .peekable();
    lines.peek().is_some()
        && lines
            .take(MOST_LINES)
            .all(|line| line.starts_with("  ") && profile::row(line).is_some())
}

fn has_content(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#')
}

/// Returns the complete lines; `None` if they are not UTF-8 text or contain NUL.
fn whole_lines(head: &[u8]) -> Option<String> {
    let end = memchr::memrchr(b'\n', head).map_or(head.len(), |end| end + 1);
    let text = std::str::from_utf8(head.get(..end)?).ok()?;
    (!text.contains('\0')).then(|| text.to_owned())
}
