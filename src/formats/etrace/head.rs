//! What the head of the text tells about all of it: what upids are made of, who was the first, and where.
//!
//! ```text
//! INITCWD=/proj                            the first line, or one soon after it
//! 0: 4194716,2,37,811411065!SchedFork|...  upids above 2^22: serial number and pid; serial 1 is the shell
//! ```

use super::file::{events_after, line_at};
use super::line::{Payload, Word};
use super::sorts::Sort;
use super::upids::{Form, Upids};
use super::values::{Key, Usual, Values};

/// How much of the head is looked at.
pub const HEAD_BYTES: usize = 1 << 16;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const START: &[u8] = b"INITCWD=";

/// See the module's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// What upids are made of.
    pub form: Form,
    /// The task that was traced with its children, if the head has it.
    pub root: Option<i64>,
    /// Where the directory stands in the text in which the recording was started.
    pub directory: Option<Place>,
}

/// The directory of a line INITCWD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where the line begins.
    pub line: usize,
    /// Where the directory begins, and its end.
    pub directory: (usize, usize),
}

impl Head {
    /// Of lines that stand in a recording of something else.
    pub const NONE: Head = Head {
        form: Form::Plain,
        root: None,
        directory: None,
    };

    /// The head of `text`.
    #[must_use]
    pub fn of(text: &[u8]) -> Head {
        let directory = directory(text);
        let events: Vec<Payload<'_>> = events_after(text, 0, HEAD_BYTES)
            .map(|(line, _)| line)
            .filter(|line| line.upid > 0)
            .collect();
        // A stray line says nothing: most must have a serial number.
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

/// Where plain ids are pids: whoever speaks first, or whoever is above them as far as forks tell.
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

/// Where the first line INITCWD is, if it is in the head.
fn directory(text: &[u8]) -> Option<Place> {
    let mut at = 0;
    while at < HEAD_BYTES {
        let (line, next) = line_at(text, at)?;
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

/// Whether a text begins with the line, behind a byte order mark or not.
#[must_use]
pub fn is_named(head: &[u8]) -> bool {
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
        // Nobody is the shell where the head was cut off.
        assert_eq!(of(&own), (form, None, false));
        let late = format!("\u{feff}INITCWD=/w\n{fork}");
        assert_eq!(of(&late), (form, Some(shell), true));
        assert!(of(&format!("log\nINITCWD=/w\n{fork}")).2);
        // Plain pids: the first line may be the child's.
        let plain = "INITCWD=/w\n500,0,1,2!Close|fd=3\n300,0,1,1!SchedFork|pid=500\n";
        assert_eq!(of(plain), (Form::Plain, Some(300), true));
    }
}
