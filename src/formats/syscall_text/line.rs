//! Classifies the body of a line, for example as a call, a piece of a call, a signal, an exit, or a message of the
//! tracer.

use super::dialect::Dialect;
use super::prefix::{TextLine, number, pid_of};

/// Kind of a line's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body<'a> {
    /// A whole call, or its first line.
    Call {
        /// Name of the call.
        name: &'a [u8],
        /// Text after the opening parenthesis.
        text: &'a [u8],
        /// Whether the call continues in a later line.
        is_open: bool,
    },
    /// A later line of a call.
    Rest {
        /// Name of the call.
        name: &'a [u8],
        /// strace: text after `resumed>`. MINIX: text after the (repeated) opening parenthesis.
        text: &'a [u8],
        /// Whether the call continues in yet another line.
        is_open: bool,
    },
    /// A signal outside of a call.
    Signal,
    /// The process exited with this code.
    Exited(i32),
    /// The process was killed by the signal with this name (or number).
    Killed(&'a [u8]),
    /// The thread with this pid, of the same process, runs a new program and replaces this thread.
    Superseded(u32),
    /// Tracing of a process starts, or it runs a new program: name and pid (MINIX).
    Banner(Banner<'a>),
    /// strace attached to this process.
    Attached(u32),
    /// A frame of a call stack or a row of a dump, which belongs to the adjacent call.
    Stack,
    /// A message of the tracer; shown as an instant.
    Note,
    /// Unrecognised text.
    Text,
    /// Empty body.
    Empty,
}

const PID_CHANGED: &[u8] = b"pid changed to ";
/// Maximum length of a call's name, in bytes.
const MOST_NAME: usize = 64;

/// Returns the text of a call's first line before the mark that the call continues later; `None` if there is no such
/// mark.
#[must_use]
#[inline]
pub(crate) fn open_end(text: &[u8], dialect: Dialect) -> Option<&[u8]> {
    match dialect {
        Dialect::Minix => text.strip_suffix(b"<..>"),
        Dialect::Strace => {
            let inner = text.strip_suffix(b" ...>")?;
            let open = memchr::memrchr(b'<', inner)?;
            let mark = inner.get(open + 1..)?;
            let is_mark = matches!(mark, b"unfinished" | b"detached") || changes_pid(mark);
            text.get(..open).filter(|_| is_mark)
        }
    }
}

/// Returns whether the mark is `<pid changed to 7 ...>`: the thread ran a program and continues in its leader's place.
fn changes_pid(mark: &[u8]) -> bool {
    mark.starts_with(PID_CHANGED)
}

/// Returns whether strace let the thread continue untraced in this call (`-b execve`). The only such call is execve;
/// strace leaves others at its own end.
#[must_use]
pub(crate) fn is_let_go(name: &[u8], text: &[u8]) -> bool {
    name.starts_with(b"execve") && text.ends_with(b"<detached ...>")
}

/// Returns the pid with which the thread of this open call continues; see [`open_end`].
#[must_use]
pub(crate) fn leader_after(text: &[u8]) -> Option<u32> {
    let inner = text.strip_suffix(b" ...>")?;
    let mark = inner.get(memchr::memrchr(b'<', inner)? + 1..)?;
    let (pid, _) = number(mark.strip_prefix(PID_CHANGED)?)?;
    pid_of(pid)
}

/// Returns the text without the mark of [`open_end`]; a text without the mark is returned unchanged.
#[must_use]
pub(crate) fn strip_open_end(text: &[u8], dialect: Dialect) -> &[u8] {
    open_end(text, dialect).unwrap_or(text)
}

/// Splits `name(` off the start of `text`: returns the name and the text after the parenthesis.
#[must_use]
#[inline]
pub(crate) fn call_name(text: &[u8]) -> Option<(&[u8], &[u8])> {
    // strace's name of a call whose thread was killed before strace read which call it is.
    if let Some(text) = text.strip_prefix(b"???(") {
        return Some((b"???", text));
    }
    let length = text
        .iter()
        .take(MOST_NAME + 1)
        .take_while(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || **b == b'_')
        .count();
    let first = text.first()?;
    if length == 0 || first.is_ascii_digit() || text.get(length) != Some(&b'(') {
        return None;
    }
    Some((text.get(..length)?, text.get(length + 1..)?))
}

/// Returns the kind of the line's body.
#[must_use]
#[inline]
pub(crate) fn classify<'a>(line: &TextLine<'a>, dialect: Dialect) -> Body<'a> {
    match dialect {
        Dialect::Strace => classify_strace(line),
        Dialect::Minix => classify_minix(line),
    }
}

fn is_open(text: &[u8], dialect: Dialect) -> bool {
    text.last() == Some(&b'>') && open_end(text, dialect).is_some()
}

fn classify_strace<'a>(line: &TextLine<'a>) -> Body<'a> {
    let body = line.body;
    match body.first() {
        None => Body::Empty,
        Some(b'<') => resumed(line).unwrap_or(Body::Text),
        Some(b'-') if body.starts_with(b"--- ") && body.ends_with(b" ---") => Body::Signal,
        Some(b'+') if body.starts_with(b"+++ ") => ended(body).unwrap_or(Body::Text),
        Some(b' ' | b'>' | b'|') if belongs_to_call(body) => Body::Stack,
        // It may follow a line that strace broke, which `Emitter` checks.
        Some(b' ') if matches!(body, b" <unfinished ...>" | b" <detached ...>") => Body::Empty,
        Some(b's' | b'P') if body.starts_with(b"strace: ") || body.starts_with(b"Process ") => {
            attached(body).map_or(Body::Note, Body::Attached)
        }
        Some(b'[') if body.starts_with(b"[ Process PID=") => Body::Note,
        Some(_) => {
            let Some((name, text)) = call_name(body) else {
                return Body::Text;
            };
            // The begin of a call is written at once: a file may end inside a call that never returned.
            let is_open = line.message.is_some()
                || is_open(text, Dialect::Strace)
                || (line.is_cut && !(has_result(text) && is_whole_result(name, text)));
            if is_open || has_result(text) {
                Body::Call {
                    name,
                    text,
                    is_open,
                }
            } else {
                Body::Text
            }
        }
    }
}

/// Returns whether the line is ` > /lib/libc.so.6(read+0x10) [0x1ab70]` (`-k`) or ` | 00000  7f 45 ... |` (`-e read`).
fn belongs_to_call(body: &[u8]) -> bool {
    let text = body.trim_ascii();
    text.starts_with(b"> ") || (text.starts_with(b"| ") && text.ends_with(b"|"))
}

/// Returns whether strace broke this line, so that the rest of the call may be the next line, without columns and
/// without `resumed`. strace does this if it prints a message in the middle of the line, or if it prints calls when
/// they return (`-z`, `-Z`), where it may split a call at `<unfinished ...>` and continue it directly.
#[must_use]
pub(crate) fn is_cut_short(line: &TextLine<'_>, dialect: Dialect) -> bool {
    let has_columns = line.pid.is_some() || line.time.is_some();
    dialect == Dialect::Strace
        && (line.message.is_some() || has_columns && line.body.ends_with(b"<unfinished ...>"))
}

/// Returns whether a line without columns, after a line for which [`is_cut_short`] is true, is the rest of that line's
/// call.
#[must_use]
pub(crate) fn continues_call(body: &[u8]) -> bool {
    has_result(body)
        && !body.starts_with(b"--- ")
        && !body.starts_with(b"+++ ")
        && call_name(body).is_none()
}

/// Returns whether a line without columns, after a line for which [`is_cut_short`] is true and which is not the rest of
/// its call, may be further output of the traced program.
#[must_use]
pub(crate) fn is_output(line: &TextLine<'_>) -> bool {
    let body = line.body;
    line.message.is_none()
        && !body.starts_with(b"--- ")
        && !body.starts_with(b"+++ ")
        && !body.starts_with(b"<... ")
        && !body.starts_with(b"strace: ")
        && !matches!(body.trim_ascii_start().first(), Some(b'>' | b'|'))
        && call_name(body).is_none()
}

/// Returns the pid in `strace: Process 7 attached`.
#[must_use]
pub(crate) fn attached(message: &[u8]) -> Option<u32> {
    let note = message.strip_prefix(b"strace: ").unwrap_or(message);
    let (pid, after) = number(note.strip_prefix(b"Process ")?)?;
    after
        .starts_with(b" attached")
        .then(|| pid_of(pid))
        .flatten()
}

/// Returns whether the result at the end of a call's text is whole although the line was cut there: `= 31` and `= -1 ENO`
/// may be cut, and so may the `= 0` of calls that return an address or flags.
#[must_use]
pub(crate) fn is_whole_result(name: &[u8], text: &[u8]) -> bool {
    let is_hex = || {
        let calls: [&[u8]; 8] = [
            b"mmap",
            b"mmap2",
            b"mremap",
            b"brk",
            b"shmat",
            b"fcntl",
            b"fcntl64",
            b"personality",
        ];
        calls.contains(&name)
    };
    !ends_in_word(text) || text.ends_with(b" = 0") && !is_hex()
}

fn ends_in_word(text: &[u8]) -> bool {
    let is_of_word = |last: &u8| last.is_ascii_alphanumeric() || b" =-_".contains(last);
    text.last().is_some_and(is_of_word)
}

/// Returns whether `text` contains `) ... = `. The search starts at the end, where it usually is.
fn has_result(text: &[u8]) -> bool {
    let mut end = text.len();
    while let Some(at) = memchr::memrchr(b'=', text.get(..end).unwrap_or(&[])) {
        let around = (
            at.checked_sub(1).and_then(|at| text.get(at)),
            text.get(at + 1),
        );
        if around == (Some(&b' '), Some(&b' ')) {
            return memchr::memchr(b')', text).is_some();
        }
        end = at;
    }
    false
}

/// Parses `<... read resumed>"x", 1) = 1`; also `<... read resumed> <unfinished ...>) = ?` of a killed process.
fn resumed<'a>(line: &TextLine<'a>) -> Option<Body<'a>> {
    let inner = line.body.strip_prefix(b"<... ")?;
    let space = memchr::memchr(b' ', inner.get(..MOST_NAME.min(inner.len()))?)?;
    let (name, rest) = inner.split_at_checked(space)?;
    let text = rest.strip_prefix(b" resumed>")?;
    Some(Body::Rest {
        name,
        text,
        is_open: is_open(text, Dialect::Strace) || line.is_cut && !is_whole_result(name, text),
    })
}

/// Parses `+++ exited with 3 +++`, `+++ killed by SIGSEGV (core dumped) +++`, and
/// `+++ superseded by execve in pid 7 +++`.
fn ended(body: &[u8]) -> Option<Body<'_>> {
    let inner = body.strip_prefix(b"+++ ")?.strip_suffix(b" +++")?;
    if let Some(code) = inner.strip_prefix(b"exited with ") {
        let code = super::values::integer(code)?;
        return Some(Body::Exited(i32::try_from(code).ok()?));
    }
    if let Some(signal) = inner.strip_prefix(b"killed by ") {
        let end = memchr::memchr(b' ', signal).unwrap_or(signal.len());
        return signal.get(..end).map(Body::Killed);
    }
    let pid = inner.strip_prefix(b"superseded by execve in pid ")?;
    number(pid)
        .and_then(|(pid, _)| pid_of(pid))
        .map(Body::Superseded)
}

fn classify_minix<'a>(line: &TextLine<'a>) -> Body<'a> {
    let body = line.body;
    if line.is_info {
        return Body::Note;
    }
    match body.first() {
        None => Body::Empty,
        Some(b'*') if body.starts_with(b"** ") => Body::Signal,
        Some(b' ') if body.starts_with(b"  0x") => Body::Stack,
        Some(b'-') if body == b"---" => Body::Note,
        Some(b'A'..=b'Z') if line.is_cut && ends_in_word(body) => Body::Note,
        Some(b'A'..=b'Z') => minix_information(body),
        Some(_) => {
            let Some((name, text)) = call_name(body) else {
                return Body::Text;
            };
            let has_close = memchr::memchr(b')', text).is_some();
            // A successful execve has no result: only a result that cannot be cut shows that the call is over.
            let is_over = || has_result(text) && is_whole_result(name, text);
            let is_open = is_open(text, Dialect::Minix) || (line.is_cut && !is_over());
            if !is_open && !has_close {
                return Body::Text;
            }
            if line.is_replay {
                Body::Rest {
                    name,
                    text,
                    is_open,
                }
            } else {
                Body::Call {
                    name,
                    text,
                    is_open,
                }
            }
        }
    }
}

/// Parses lines that start with a capital letter: messages of MINIX's trace.
fn minix_information(body: &[u8]) -> Body<'_> {
    if let Some(banner) = banner(body) {
        return Body::Banner(banner);
    }
    if let Some(code) = body.strip_prefix(b"Process exited normally with code ")
        && let Some(code) = super::values::integer(code).and_then(|code| i32::try_from(code).ok())
    {
        return Body::Exited(code);
    }
    if let Some(signal) = body.strip_prefix(b"Process terminated from signal ") {
        return Body::Killed(signal);
    }
    let words: [&[u8]; 5] = [
        b"Process detached",
        b"Bogus wait result",
        b"Error attaching",
        b"Unexpected waitpid",
        b"Tracing ",
    ];
    if words.iter().any(|words| body.starts_with(words)) {
        Body::Note
    } else {
        Body::Text
    }
}

/// The line before the calls of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Banner<'a> {
    pub name: &'a [u8],
    pub pid: u32,
}

/// Parses `Tracing NAME (pid N)`.
#[must_use]
pub(crate) fn banner(body: &[u8]) -> Option<Banner<'_>> {
    let inner = body.strip_prefix(b"Tracing ")?.strip_suffix(b")")?;
    let at = memchr::memmem::rfind(inner, b" (pid ")?;
    let pid = super::values::plain_number(inner.get(at + 6..)?).and_then(pid_of)?;
    let name = inner.get(..at)?;
    Some(Banner { name, pid })
}

#[cfg(test)]
mod tests {
    use super::super::prefix::{RawTime, split_prefix};
    use super::*;
    use crate::base::lines::Line;

    fn whole(line: &str) -> Line<'_> {
        Line {
            number: 1,
            offset: 0,
            bytes: line.as_bytes(),
            has_end: true,
        }
    }

    fn strace(line: &str) -> TextLine<'_> {
        split_prefix(&whole(line), Dialect::Strace)
    }

    #[test]
    fn strace_bodies() {
        let body = |line: &'static str| classify(&strace(line), Dialect::Strace);
        assert!(matches!(
            body("1 read(0,  <unfinished ...>"),
            Body::Call {
                name: b"read",
                is_open: true,
                ..
            }
        ));
        assert!(matches!(
            body("1 write(1, \"<unfinished ...>\", 16) = 16"),
            Body::Call { is_open: false, .. }
        ));
        assert!(matches!(
            body("1 <... clock_nanosleep resumed> <unfinished ...>) = ?"),
            Body::Rest {
                name: b"clock_nanosleep",
                is_open: false,
                ..
            }
        ));
        assert_eq!(body("1 +++ exited with 3 +++"), Body::Exited(3));
        assert_eq!(
            body("1 +++ killed by SIGSEGV (core dumped) +++"),
            Body::Killed(b"SIGSEGV")
        );
        assert_eq!(
            body("1 +++ superseded by execve in pid 7 +++"),
            Body::Superseded(7)
        );
        assert_eq!(body("strace: Process 12 attached"), Body::Attached(12));
        assert_eq!(body("strace: Process 12 detached"), Body::Note);
        assert_eq!(body("total 42"), Body::Text);
        assert_eq!(body("main(int argc)"), Body::Text);
        assert_eq!(body("1 --- stopped by SIGSTOP ---"), Body::Signal);
        assert!(matches!(
            body("7 syscall_0x1b9(0x1, 0x2) = -1 ENOSYS (x)"),
            Body::Call {
                name: b"syscall_0x1b9",
                ..
            }
        ));
    }

    #[test]
    fn minix_prefixes_and_bodies() {
        let line = |text: &'static str| split_prefix(&whole(text), Dialect::Minix);
        let body = |text: &'static str| classify(&line(text), Dialect::Minix);
        let replay = line("  311'*wait4(-1, ** SIGCHLD ** W_EXITED(0), 0, NULL) = 312");
        assert_eq!((replay.pid, replay.is_replay), (Some(311), true));
        let wide = line("123456| close(3) = <..>");
        assert_eq!((wide.pid, wide.is_replay), (Some(123_456), false));
        assert!(matches!(
            classify(&wide, Dialect::Minix),
            Body::Call { is_open: true, .. }
        ));
        let timed = line("10:00:00.5   311| close(3) = 0");
        assert_eq!(timed.pid, Some(311));
        assert_eq!(timed.time, Some(RawTime::Day(36_000_500_000_000, true)));
        assert_eq!(
            body("  312| Tracing sh*F (pid 312)"),
            Body::Banner(Banner {
                name: b"sh*F",
                pid: 312
            })
        );
        assert_eq!(
            body(" INFO| Tracing sh (pid 311), in a read call"),
            Body::Note
        );
        assert_eq!(body("Process exited normally with code 3"), Body::Exited(3));
        assert_eq!(
            body("  314| Process terminated from signal SIGTERM"),
            Body::Killed(b"SIGTERM")
        );
        assert_eq!(body("** SIGUSR2 ** ** SIGCHLD **"), Body::Signal);
        assert_eq!(body("---"), Body::Note);
        assert_eq!(body("  0x8048d10 0x1234 .."), Body::Stack);
        assert_eq!(body("Hello world"), Body::Text);
    }
}
