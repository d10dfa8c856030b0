//! One line of system-call text: its prefix (pid, time, marks) and what its body is.
//!
//! ```text
//! strace  [pid SP+] [time SP] ["(+ " relative ") "] ["[" number "] "] body      or  "[pid " N "] " body
//! MINIX   [time SP] [pid ("|" | "'") (" " | "*")] body                          or  " INFO| " body
//! ```
//!
//! Looks at no other line: who an unprefixed line belongs to, and what day it is, is `scan`'s matter.

use super::values::{clock_time, decimal_seconds};

/// Whose grammar a text follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Linux's strace.
    Strace,
    /// MINIX's trace(1).
    Minix,
}

/// A time as the line has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawTime {
    /// ns since midnight; whether the line had a fraction of a second.
    Day(i64, bool),
    /// ns since the epoch.
    Unix(i64),
    /// ns since the line before.
    Since(i64),
}

/// A line without its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLine<'a> {
    /// The pid that stands in the line.
    pub pid: Option<u32>,
    /// The time that stands in the line.
    pub time: Option<RawTime>,
    /// The line goes on with a call entered before (MINIX's `*`).
    pub is_replay: bool,
    /// The line is about somebody, not by somebody (MINIX's `INFO|`).
    pub is_info: bool,
    /// What follows the prefix.
    pub body: &'a [u8],
}

/// What a line's body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// A call, or its first half.
    Call {
        /// Its name.
        name: &'a [u8],
        /// What follows the opening parenthesis.
        text: &'a [u8],
        /// Whether the call goes on in a later line.
        is_open: bool,
    },
    /// A later line of a call.
    Rest {
        /// Its name.
        name: &'a [u8],
        /// strace: what follows `resumed>`. MINIX: what follows the (repeated) opening parenthesis.
        text: &'a [u8],
        /// Whether the call goes on in yet another line.
        is_open: bool,
    },
    /// Signals outside of calls.
    Signal,
    /// The process ended with this code.
    Exited(i32),
    /// The process was ended by the signal of this name (or number).
    Killed(&'a [u8]),
    /// Another thread of the process, of this pid, runs a new program in this one's place.
    Superseded(u32),
    /// Tracing begins, or a new program runs: name and pid (MINIX).
    Banner(&'a [u8], u32),
    /// The tracer follows this process from now on (strace).
    Attached(u32),
    /// A frame of a call stack, belongs to the line before.
    Stack,
    /// The tracer says something; worth an instant.
    Note,
    /// Nothing of the above.
    Text,
    /// No text at all.
    Empty,
}

/// Pids end here (the kernel's limit); larger whole numbers at a line's start are seconds.
const MOST_PID: i64 = 1 << 22;
/// Seconds from here on are since the epoch (1973 and later), smaller ones since the line before.
const EPOCH_NS: i64 = 100_000_000 * 1_000_000_000;
/// No call has a longer name.
const MOST_NAME: usize = 64;

impl Dialect {
    /// How the first half of a call that goes on later ends.
    fn open_ends(self) -> &'static [&'static [u8]] {
        match self {
            Dialect::Strace => &[b"<unfinished ...>", b"<detached ...>"],
            Dialect::Minix => &[b"<..>"],
        }
    }
}

/// Takes the mark of a call that goes on later off the end of `text`.
#[must_use]
pub fn strip_open_end(text: &[u8], dialect: Dialect) -> &[u8] {
    let ends = dialect.open_ends().iter();
    ends.filter_map(|end| text.strip_suffix(*end))
        .next()
        .unwrap_or(text)
}

/// Takes the prefix off a line.
#[must_use]
#[inline]
pub fn split_prefix(line: &[u8], dialect: Dialect) -> TextLine<'_> {
    match dialect {
        Dialect::Strace => split_strace(line),
        Dialect::Minix => split_minix(line),
    }
}

fn skip_spaces(text: &[u8]) -> &[u8] {
    let count = text.iter().take_while(|b| **b == b' ').count();
    text.get(count..).unwrap_or(&[])
}

/// A whole number at the start of `text`, and what follows.
#[inline]
fn number(text: &[u8]) -> Option<(i64, &[u8])> {
    let mut value = 0_i64;
    let mut at = 0;
    while let Some(digit) = text.get(at).filter(|b| b.is_ascii_digit()) {
        value = value
            .checked_mul(10)?
            .checked_add(i64::from(digit - b'0'))?;
        at += 1;
    }
    (at > 0).then(|| (value, text.get(at..).unwrap_or(&[])))
}

fn pid_of(value: i64) -> Option<u32> {
    u32::try_from(value)
        .ok()
        .filter(|pid| (1..=MOST_PID as u32).contains(pid))
}

fn split_strace(line: &[u8]) -> TextLine<'_> {
    let mut parsed = TextLine {
        pid: None,
        time: None,
        is_replay: false,
        is_info: false,
        body: line,
    };
    let mut rest = line;
    if let Some(inner) = line.strip_prefix(b"[pid ")
        && let Some((pid, after)) = number(skip_spaces(inner))
        && let Some(after) = after.strip_prefix(b"]")
    {
        parsed.pid = pid_of(pid);
        rest = after.strip_prefix(b" ").unwrap_or(after);
        parsed.body = rest;
    }
    for _ in 0..4 {
        let text = skip_spaces(rest);
        let after = match text.first() {
            Some(b'0'..=b'9') => match take_number(text, &mut parsed) {
                Some(after) => after,
                None => return parsed,
            },
            // `(+     0.000172878)`: relative beside an absolute time.
            Some(b'(') if text.starts_with(b"(+ ") => {
                let inner = skip_spaces(text.get(3..).unwrap_or(&[]));
                let Some((ns, length, _)) = decimal_seconds(inner) else {
                    return parsed;
                };
                if parsed.time.is_none() {
                    parsed.time = Some(RawTime::Since(ns));
                }
                let Some(after) = inner.get(length..).and_then(|rest| rest.strip_prefix(b")"))
                else {
                    return parsed;
                };
                after
            }
            // `[ 257]`: the call's number, or the instruction pointer.
            Some(b'[') => {
                let Some(end) = text.iter().take(24).position(|b| *b == b']') else {
                    return parsed;
                };
                let inner = text.get(1..end).unwrap_or(&[]);
                let fits = |b: &u8| b.is_ascii_hexdigit() || matches!(b, b' ' | b'?');
                if inner.is_empty() || !inner.iter().all(fits) {
                    return parsed;
                }
                text.get(end + 1..).unwrap_or(&[])
            }
            _ => return parsed,
        };
        match after.first() {
            Some(b' ') => {
                // Leading spaces of a body tell stack frames: keep all but those of the columns.
                rest = after;
                let trimmed = skip_spaces(after);
                parsed.body = trimmed;
            }
            None => {
                parsed.body = &[];
                return parsed;
            }
            Some(_) => return parsed,
        }
    }
    parsed
}

/// Reads a pid or a time into `parsed`.
#[inline]
fn take_number<'a>(text: &'a [u8], parsed: &mut TextLine<'_>) -> Option<&'a [u8]> {
    if text.get(2) == Some(&b':') && parsed.time.is_none() {
        let (ns, length, has_fraction) = clock_time(text)?;
        let after = text.get(length..)?;
        if after.first() != Some(&b' ') {
            return None;
        }
        parsed.time = Some(RawTime::Day(ns, has_fraction));
        return Some(after);
    }
    let (value, after) = number(text)?;
    match after.first() {
        Some(b' ') => {
            if parsed.pid.is_none() && parsed.time.is_none() && (1..=MOST_PID).contains(&value) {
                parsed.pid = pid_of(value);
            } else if parsed.time.is_none() && value > MOST_PID {
                parsed.time = Some(RawTime::Unix(value.checked_mul(1_000_000_000)?));
            } else {
                return None;
            }
            Some(after)
        }
        Some(b'.') if parsed.time.is_none() => {
            let (ns, length, has_fraction) = decimal_seconds(text)?;
            let after = text.get(length..)?;
            if !has_fraction || after.first() != Some(&b' ') {
                return None;
            }
            parsed.time = Some(if ns >= EPOCH_NS {
                RawTime::Unix(ns)
            } else {
                RawTime::Since(ns)
            });
            Some(after)
        }
        _ => None,
    }
}

fn split_minix(line: &[u8]) -> TextLine<'_> {
    let mut parsed = TextLine {
        pid: None,
        time: None,
        is_replay: false,
        is_info: false,
        body: line,
    };
    if let Some((ns, length, has_fraction)) = clock_time(line)
        && let Some(after) = line.get(length..).and_then(|rest| rest.strip_prefix(b" "))
    {
        parsed.time = Some(RawTime::Day(ns, has_fraction));
        parsed.body = after;
    }
    let text = skip_spaces(parsed.body);
    if let Some(info) = text.strip_prefix(b"INFO| ") {
        parsed.is_info = true;
        parsed.body = info;
    } else if let Some((pid, after)) = number(text)
        && let Some(after) = after
            .strip_prefix(b"|")
            .or_else(|| after.strip_prefix(b"'"))
        && let [mark @ (b' ' | b'*'), body @ ..] = after
    {
        parsed.pid = pid_of(pid);
        parsed.is_replay = *mark == b'*';
        parsed.body = body;
    }
    parsed
}

/// `name(` at the start of `text`: the name and what follows the parenthesis.
#[must_use]
#[inline]
pub fn call_name(text: &[u8]) -> Option<(&[u8], &[u8])> {
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

/// What `line` is.
#[must_use]
#[inline]
pub fn classify<'a>(line: &TextLine<'a>, dialect: Dialect) -> Body<'a> {
    match dialect {
        Dialect::Strace => classify_strace(line.body),
        Dialect::Minix => classify_minix(line),
    }
}

fn is_open(text: &[u8], dialect: Dialect) -> bool {
    text.last() == Some(&b'>') && dialect.open_ends().iter().any(|end| text.ends_with(end))
}

fn classify_strace(body: &[u8]) -> Body<'_> {
    match body.first() {
        None => Body::Empty,
        Some(b'<') => resumed(body).unwrap_or(Body::Text),
        Some(b'-') if body.starts_with(b"--- ") && body.ends_with(b" ---") => Body::Signal,
        Some(b'+') if body.starts_with(b"+++ ") => ended(body).unwrap_or(Body::Text),
        Some(b' ' | b'>') if body.trim_ascii_start().starts_with(b"> ") => Body::Stack,
        Some(b's' | b'P') if body.starts_with(b"strace: ") || body.starts_with(b"Process ") => {
            let note = body.strip_prefix(b"strace: ").unwrap_or(body);
            let attached = note
                .strip_prefix(b"Process ")
                .and_then(|rest| number(rest))
                .filter(|(_, after)| after.starts_with(b" attached"))
                .and_then(|(pid, _)| pid_of(pid));
            attached.map_or(Body::Note, Body::Attached)
        }
        Some(_) => {
            let Some((name, text)) = call_name(body) else {
                return Body::Text;
            };
            let is_open = is_open(text, Dialect::Strace);
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

/// Whether `) ... = ` stands in `text`: looked for from its end, where it is.
fn has_result(text: &[u8]) -> bool {
    let near = text.get(text.len().saturating_sub(160)..).unwrap_or(text);
    let has = |text: &[u8]| memchr::memmem::find(text, b" = ").is_some();
    (has(near) || has(text)) && memchr::memchr(b')', text).is_some()
}

/// `<... read resumed>"x", 1) = 1`, also `<... read resumed> <unfinished ...>) = ?` of a killed process.
fn resumed(body: &[u8]) -> Option<Body<'_>> {
    let inner = body.strip_prefix(b"<... ")?;
    let space = memchr::memchr(b' ', inner.get(..MOST_NAME.min(inner.len()))?)?;
    let (name, rest) = inner.split_at_checked(space)?;
    let text = rest.strip_prefix(b" resumed>")?;
    Some(Body::Rest {
        name,
        text,
        is_open: is_open(text, Dialect::Strace),
    })
}

/// `+++ exited with 3 +++`, `+++ killed by SIGSEGV (core dumped) +++`, `+++ superseded by execve in pid 7 +++`.
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
        Some(b'A'..=b'Z') => minix_information(body),
        Some(_) => {
            let Some((name, text)) = call_name(body) else {
                return Body::Text;
            };
            let is_open = is_open(text, Dialect::Minix);
            if !is_open && memchr::memchr(b')', text).is_none() {
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

/// Lines that begin with a capital are the tracer's own words.
fn minix_information(body: &[u8]) -> Body<'_> {
    if let Some((name, pid)) = banner(body) {
        return Body::Banner(name, pid);
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

/// `Tracing NAME (pid N)`.
#[must_use]
pub fn banner(body: &[u8]) -> Option<(&[u8], u32)> {
    let inner = body.strip_prefix(b"Tracing ")?.strip_suffix(b")")?;
    let at = memchr::memmem::rfind(inner, b" (pid ")?;
    let pid = super::values::plain_number(inner.get(at + 6..)?).and_then(pid_of)?;
    Some((inner.get(..at)?, pid))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strace(line: &str) -> TextLine<'_> {
        split_prefix(line.as_bytes(), Dialect::Strace)
    }

    #[test]
    fn strace_prefixes_of_all_options() {
        let plain = strace("brk(NULL) = 0");
        assert_eq!((plain.pid, plain.time), (None, None));
        let t = strace("15682 03:27:57 brk(NULL)                = 0");
        assert_eq!(t.pid, Some(15682));
        assert_eq!(t.time, Some(RawTime::Day(12_477_000_000_000, false)));
        assert!(t.body.starts_with(b"brk"));
        let r = strace("     0.000140 brk(NULL) = 0");
        assert_eq!((r.pid, r.time), (None, Some(RawTime::Since(140_000))));
        let r = strace("15644      0.000140 brk(NULL) = 0");
        assert_eq!(
            (r.pid, r.time),
            (Some(15644), Some(RawTime::Since(140_000)))
        );
        let ns = strace("15710 1795231677.843872421 (+     0.000172878) [  12] brk(NULL) = 0x55e7");
        assert_eq!(ns.time, Some(RawTime::Unix(1_795_231_677_843_872_421)));
        assert!(ns.body.starts_with(b"brk"));
        let tty = strace("[pid  1234] 03:27:57.000001 brk(NULL) = 0");
        assert_eq!(tty.pid, Some(1234));
        assert_eq!(tty.time, Some(RawTime::Day(12_477_000_001_000, true)));
        let seconds = strace("15682 1795231677 brk(NULL) = 0");
        assert_eq!(seconds.time, Some(RawTime::Unix(1_795_231_677_000_000_000)));
        let stack = strace(" > /usr/lib/libc.so.6(read+0x10) [0x1ab70]");
        assert_eq!(classify(&stack, Dialect::Strace), Body::Stack);
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
        let line = |text: &'static str| split_prefix(text.as_bytes(), Dialect::Minix);
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
            Body::Banner(b"sh*F", 312)
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
