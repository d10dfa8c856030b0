//! The columns at the start of a line of system-call text: pid, time, marks.
//!
//! ```text
//! strace  [pid ["<" comm ">"] SP+] [time SP] ["(+ " relative ") "] ["[" number "] "] body
//!         "[pid " N ["<" comm ">"] "] " body                                      on a terminal
//! MINIX   [time SP] [pid ("|" | "'") (" " | "*")] body                            or  " INFO| " body
//! ```
//!
//! Reads single lines only: `summary` and `fold` find the thread of a line without a pid, and the day.
//!
//! Of the 29 strace texts of the corpus and the samples, 1 has relative times and 1 has whole seconds; none was
//! copied from a terminal (`[pid N]`) or has names after pids (`--decode-pids=comm`).

use super::dialect::Dialect;
use super::times::clock_time;
use super::values::{string_end, unescape_octal};
use crate::base::Leading;
use crate::base::decimal_seconds::{ReadTime, decimal_seconds, fraction_ns};
use crate::base::leading::digits;
use crate::base::lines::Line;

/// A time as it is printed in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawTime {
    /// Time of day: ns since midnight, and whether the line contains a fraction of a second.
    Day(i64, bool),
    /// Time in ns since the Unix epoch.
    Unix(i64),
    /// Time in ns since the previous line.
    Since(i64),
}

/// A line split into prefix and body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextLine<'a> {
    /// Pid in the line.
    pub pid: Option<u32>,
    /// Thread name after the pid (strace's `-Y`).
    pub comm: Option<&'a [u8]>,
    /// What was printed in the middle of the line and ends it: a message of strace, or the program's own output.
    pub message: Option<&'a [u8]>,
    /// Time in the line.
    pub time: Option<RawTime>,
    /// Whether the line continues a call that started before (MINIX's `*`).
    pub is_replay: bool,
    /// Whether the line is about a process, not written for its call (MINIX's `INFO|`).
    pub is_info: bool,
    /// The text after the prefix.
    pub body: &'a [u8],
    /// Whether the text ends before the end of the line.
    pub is_cut: bool,
}

/// Largest pid (the kernel's limit); larger integers at the start of a line are seconds.
const MOST_PID: i64 = 1 << 22;
/// Times from this number on are relative to the Unix epoch (1973 and later), smaller ones to the previous line.
const EPOCH_NS: i64 = 100_000_000 * 1_000_000_000;
/// Maximum number of columns: pid, time, relative time, call number, instruction pointer.
const MOST_COLUMNS: usize = 5;
/// Maximum length of a thread name in bytes, even with every byte escaped.
const MOST_ESCAPED_COMM: usize = 80;

/// Splits a line into prefix and body.
#[must_use]
#[inline]
pub(crate) fn split_prefix<'a>(line: &Line<'a>, dialect: Dialect) -> TextLine<'a> {
    let split = match dialect {
        Dialect::Strace => split_strace(line.bytes),
        Dialect::Minix => split_minix(line.bytes),
    };
    TextLine {
        is_cut: !line.has_end,
        ..split
    }
}

fn skip_spaces(text: &[u8]) -> &[u8] {
    let count = text.iter().take_while(|b| **b == b' ').count();
    text.get(count..).unwrap_or(&[])
}

/// Maximum number of digits that fit into 64 bits.
const MOST_DIGITS: usize = 18;

/// Parses the integer at the start of `text`. Returns it and the text after it.
#[must_use]
#[inline]
pub(super) fn number(text: &[u8]) -> Option<(i64, &[u8])> {
    let Leading { value, length } = digits(text)?;
    let fits = length <= MOST_DIGITS;
    fits.then(|| (value.cast_signed(), text.get(length..).unwrap_or(&[])))
}

/// Returns a number as a pid, if it is in the range of pids.
#[must_use]
pub(crate) fn pid_of(value: i64) -> Option<u32> {
    u32::try_from(value)
        .ok()
        .filter(|pid| (1..=MOST_PID as u32).contains(pid))
}

/// The end of strace's messages that a process was attached or detached.
const MESSAGE_END: &[u8] = b"tached";

/// Splits off strace's message about another process in the middle of a line, which occurs if both are printed to one
/// output. The call continues in the next line, without columns.
fn split_message(line: &[u8]) -> (&[u8], Option<&[u8]>) {
    let whole = (line, None);
    if !line.ends_with(MESSAGE_END) {
        return whole;
    }
    match memchr::memmem::rfind(line, b"strace: Process ") {
        Some(at) if at > 0 => (line.get(..at).unwrap_or(line), line.get(at..)),
        _ => whole,
    }
}

/// Splits off `<name>` after a pid (`-Y`).
fn comm(after: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let found = after.strip_prefix(b"<").and_then(|inner| {
        let near = inner.get(..MOST_ESCAPED_COMM).unwrap_or(inner);
        let end = memchr::memchr(b'>', near)?;
        Some((inner.get(..end), inner.get(end + 1..)?))
    });
    found.unwrap_or((None, after))
}

fn split_strace(line: &[u8]) -> TextLine<'_> {
    let mut parsed = pid_and_time(line).unwrap_or_else(|| strace_columns(line));
    if parsed.message.is_none()
        && let Some((call, output)) = split_output(parsed.body)
    {
        (parsed.body, parsed.message) = (call, Some(output));
    }
    parsed
}

/// Parses the columns of most lines, `15188 1795231677.000003 openat(...`; `None` for lines of other forms, which
/// [`strace_columns`] parses. Of the 29 strace texts of the corpus and the samples, 15 are in this form.
#[inline]
fn pid_and_time(line: &[u8]) -> Option<TextLine<'_>> {
    let (pid, rest) = number(line)?;
    let (seconds, rest) = number(skip_spaces(rest.strip_prefix(b" ")?))?;
    let Leading { value: ns, length } = fraction_ns(rest);
    let body = skip_spaces(rest.get(length..)?.strip_prefix(b" ")?);
    let is_other = length == 0
        || matches!(body.first(), None | Some(b'0'..=b'9' | b'(' | b'['))
        || line.ends_with(MESSAGE_END);
    if is_other {
        return None;
    }
    let ns = seconds.checked_mul(1_000_000_000)?.checked_add(ns)?;
    Some(TextLine {
        pid: Some(pid_of(pid)?),
        comm: None,
        message: None,
        time: Some(since_or_unix(ns)),
        is_replay: false,
        is_info: false,
        body,
        is_cut: false,
    })
}

/// Returns a time in seconds: a small one is relative to the line before.
fn since_or_unix(ns: i64) -> RawTime {
    match ns >= EPOCH_NS {
        true => RawTime::Unix(ns),
        false => RawTime::Since(ns),
    }
}

/// The most bytes of a string that are compared with the program's output.
const MOST_OUTPUT: usize = 4096;

/// Splits off what the traced program itself wrote, if its output goes to the same file as strace's: `write(1, "hello\n",
/// 6hello`. The call continues in the line after its output, without columns. If the output has no line end, the call ends
/// in the same line, which is left as it is.
fn split_output(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let file = body.strip_prefix(b"write(")?;
    if !matches!(file.first(), Some(b'1' | b'2')) {
        return None;
    }
    let quote = memchr::memmem::find(file, b", \"")? + 2;
    let end = string_end(file, quote);
    let text = file.get(quote + 1..end.checked_sub(1)?)?;
    let after = file.get(end..)?;
    let is_cut = after.starts_with(b"...");
    let after = after.strip_prefix(b"...").unwrap_or(after);
    let digits = after.strip_prefix(b", ")?;
    let count = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    let output = digits.get(count..)?;
    if count == 0 || text.len() > MOST_OUTPUT || is_call_end(output) {
        return None;
    }
    let written = unescape_octal(text);
    let is_output = match memchr::memchr(b'\n', &written) {
        Some(line_end) => written.get(..line_end) == Some(output),
        // Of a string that strace cut, only the start of the line is known.
        None if is_cut || !written.is_empty() => {
            let rest = output.strip_prefix(&*written);
            let is_end = match is_cut {
                true => has_call_end,
                false => is_call_end,
            };
            rest.is_some_and(|rest| !is_end(rest))
        }
        None => false,
    };
    let call = body.get(..body.len() - output.len())?;
    is_output.then_some((call, output))
}

/// Returns whether a call's end begins `rest`.
fn is_call_end(rest: &[u8]) -> bool {
    let after = rest.strip_prefix(b")");
    after.is_some_and(|after| skip_spaces(after).starts_with(b"= "))
}

/// Returns whether a call's end is in `rest`, perhaps after more of the program's output.
fn has_call_end(rest: &[u8]) -> bool {
    let mut ends = memchr::memrchr_iter(b')', rest);
    ends.any(|at| rest.get(at..).is_some_and(is_call_end))
}

fn strace_columns(line: &[u8]) -> TextLine<'_> {
    let (line, message) = split_message(line);
    let mut parsed = TextLine {
        pid: None,
        comm: None,
        message,
        time: None,
        is_replay: false,
        is_info: false,
        body: line,
        is_cut: false,
    };
    let mut rest = line;
    if let Some(inner) = line.strip_prefix(b"[pid ")
        && let Some((pid, after)) = number(skip_spaces(inner))
        && let (comm, after) = comm(after)
        && let Some(after) = after.strip_prefix(b"]")
    {
        parsed.pid = pid_of(pid);
        parsed.comm = comm;
        rest = after.strip_prefix(b" ").unwrap_or(after);
        parsed.body = rest;
    }
    for _ in 0..MOST_COLUMNS {
        let text = skip_spaces(rest);
        let after = match text.first() {
            Some(b'0'..=b'9') => match take_number(text, &mut parsed) {
                Some(after) => after,
                None => return parsed,
            },
            // A relative time after an absolute time: `(+     0.000172878)`.
            Some(b'(') if text.starts_with(b"(+ ") => {
                let inner = skip_spaces(text.get(3..).unwrap_or(&[]));
                let Some(ReadTime { ns, length, .. }) = decimal_seconds(inner) else {
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
            // A call number or an instruction pointer: `[ 257]`.
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
                // Stack frames are recognised by leading spaces: all spaces except those of the columns are kept.
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

/// Parses a pid or a time into `parsed`.
#[inline]
fn take_number<'a>(text: &'a [u8], parsed: &mut TextLine<'a>) -> Option<&'a [u8]> {
    if text.get(2) == Some(&b':') && parsed.time.is_none() {
        let ReadTime {
            ns,
            length,
            has_fraction,
        } = clock_time(text)?;
        let after = text.get(length..)?;
        if after.first() != Some(&b' ') {
            return None;
        }
        parsed.time = Some(RawTime::Day(ns, has_fraction));
        return Some(after);
    }
    let (value, after) = number(text)?;
    match after.first() {
        Some(b'<') if parsed.pid.is_none() && parsed.time.is_none() => {
            let (comm, after) = comm(after);
            parsed.pid = pid_of(value);
            if parsed.pid.is_none() || after.first() != Some(&b' ') {
                parsed.pid = None;
                return None;
            }
            parsed.comm = comm;
            Some(after)
        }
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
            let Leading { value: ns, length } = fraction_ns(after);
            let after = after.get(length..)?;
            if length == 0 || after.first() != Some(&b' ') {
                return None;
            }
            let ns = value.checked_mul(1_000_000_000)?.checked_add(ns)?;
            parsed.time = Some(since_or_unix(ns));
            Some(after)
        }
        _ => None,
    }
}

fn split_minix(line: &[u8]) -> TextLine<'_> {
    let mut parsed = TextLine {
        pid: None,
        comm: None,
        message: None,
        time: None,
        is_replay: false,
        is_info: false,
        body: line,
        is_cut: false,
    };
    if let Some(ReadTime {
        ns,
        length,
        has_fraction,
    }) = clock_time(line)
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

#[cfg(test)]
mod tests {
    use super::super::line::{Body, classify};
    use super::*;

    fn strace(line: &str) -> TextLine<'_> {
        split_strace(line.as_bytes())
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
        for (line, is_usual) in [
            ("15682 1795231677.843872421 brk(NULL) = 0", true),
            ("1 0.5 x", true),
            ("15682  1795231677.843872  brk(NULL) = 0", true),
            ("15682 1795231677.8 +++ exited with 0 +++", true),
            ("4194305 1.5 x", false),
            ("15682 1795231677.843872 (+ 0.000172) brk(NULL) = 0", false),
            ("15682 1.5 [ 12] brk(NULL) = 0", false),
            ("15682 1.5 write(1, strace: Process 12 attached", false),
            ("15682 1.5 ", false),
            ("15682 1.5", false),
            ("12 03:27:57 brk(NULL) = 0", false),
        ] {
            let found = pid_and_time(line.as_bytes());
            assert_eq!(found.is_some(), is_usual, "{line}");
            assert!(found.is_none_or(|found| found == strace_columns(line.as_bytes())));
        }
        let stack = strace(" > /usr/lib/libc.so.6(read+0x10) [0x1ab70]");
        assert_eq!(classify(&stack, Dialect::Strace), Body::Stack);
    }
}
