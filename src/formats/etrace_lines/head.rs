//! Facts about the whole text from its head: the form of upids, the first task, and the start directory.
//!
//! ```text
//! INITCWD=/proj                            the first line, or one soon after it
//! 0: 4194716,2,37,811411065!SchedFork|...  upids above 2^22: serial number and pid; serial 1 is the shell
//! ```

use super::line::{Payload, Word};
use super::lines::{LineAt, events_after, line_at};
use super::sorts::Sort;
use super::upids::{Form, Upids};
use super::values::{Key, Usual, Values};

/// How many bytes of the text are its head.
pub(crate) const HEAD_BYTES: usize = 1 << 16;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const START: &[u8] = b"INITCWD=";

/// The facts; see the module's documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// Form of the upids.
    pub form: Form,
    /// The traced root task, whose children are traced too; `None` if the head does not show it.
    pub root: Option<i64>,
    /// Where the text contains the directory in which the recording was started.
    pub directory: Option<Place>,
}

/// Location of the directory in an INITCWD line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Start of the line, byte offset.
    pub line: usize,
    /// Start and end of the directory, byte offsets.
    pub directory: (usize, usize),
}

impl Head {
    /// The head for lines that are in another recording.
    pub(crate) const NONE: Head = Head {
        form: Form::Plain,
        root: None,
        directory: None,
    };

    /// Reads the head of `text`.
    #[must_use]
    pub(crate) fn of(text: &[u8]) -> Head {
        let directory = directory(text);
        let events: Vec<Payload<'_>> = events_after(text, 0, HEAD_BYTES)
            .map(|it| it.line)
            .filter(|line| line.upid > 0)
            .collect();
        // Single stray lines must not decide: at least half of the events must have a serial number.
        let is_large = |upid: i64| Upids::form_of(upid) == Form::SerialAndPid;
        let large = events.iter().filter(|line| is_large(line.upid)).count();
        let form = if large * 2 >= events.len() {
            Form::SerialAndPid
        } else {
            Form::Plain
        };
        let mut upids = events.iter().map(|line| line.upid);
        let root = match upids.find(|&upid| Upids::serial_of(form, upid) == 1) {
            Some(first) => Some(first),
            _ if form == Form::Plain && directory.is_some() => oldest(&events),
            _ => None,
        };
        Head {
            form,
            root,
            directory,
        }
    }
}

/// For ids that are plain pids: returns the first task, or its furthest ancestor that the forks in the head show.
fn oldest(events: &[Payload<'_>]) -> Option<i64> {
    let mut root = events.first()?.upid;
    for _ in 0..events.len() {
        let parent = events.iter().find(|line| child_of(line) == Some(root));
        let Some(parent) = parent.filter(|line| line.upid != root) else {
            break;
        };
        root = parent.upid;
    }
    Some(root)
}

fn child_of(line: &Payload<'_>) -> Option<i64> {
    if line.word != Word::Call(Sort::SchedFork) {
        return None;
    }
    let mut values = Values::default();
    values.read(line.text, Usual::Nothing);
    values.get(Key::Pid)
}

/// Returns the location of the first INITCWD line, if it is in the head.
fn directory(text: &[u8]) -> Option<Place> {
    let mut at = 0;
    while at < HEAD_BYTES {
        let LineAt { line, next } = line_at(text, at)?;
        let mark = match line.starts_with(BYTE_ORDER_MARK) && at == 0 {
            true => BYTE_ORDER_MARK.len(),
            false => 0,
        };
        if line.get(mark..)?.starts_with(START) {
            let start = at.checked_add(mark)?.checked_add(START.len())?;
            return Some(Place {
                line: at,
                directory: (start, at.checked_add(line.len())?),
            });
        }
        at = next;
    }
    None
}

/// Returns whether a text starts with an INITCWD line, with or without a byte order mark.
#[must_use]
pub(crate) fn is_named(head: &[u8]) -> bool {
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    head.starts_with(START)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stray_lines_do_not_decide() {
        let shell = (1_i64 << 22) | 1000;
        let child = (2_i64 << 22) | 1001;
        let fork = format!("0: {shell},0,100,1!SchedFork|pid={child}\n");
        let of = |text: &str| {
            let head = Head::of(text.as_bytes());
            (head.form, head.root, head.directory.is_some())
        };
        let own = format!("0: {child},0,100,2!Close|fd=3\n");
        let form = Form::SerialAndPid;
        for head in ["", "0: 5,0,100,1!Close|fd=3\n"] {
            let text = format!("INITCWD=/w\n{head}{own}{fork}{own}");
            assert_eq!(of(&text), (form, Some(shell), true), "{text}");
        }
        // If the head was cut off, no task is the shell.
        assert_eq!(of(&own), (form, None, false));
        let late = format!("\u{feff}INITCWD=/w\n{fork}");
        assert_eq!(of(&late), (form, Some(shell), true));
        assert!(of(&format!("log\nINITCWD=/w\n{fork}")).2);
        // Plain pids: the first line may belong to the child.
        let plain = "INITCWD=/w\n500,0,1,2!Close|fd=3\n300,0,1,1!SchedFork|pid=500\n";
        assert_eq!(of(plain), (Form::Plain, Some(300), true));
    }
}
