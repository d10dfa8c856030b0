//! Iterates over the lines of a text with their columns. Finds events that start inside a line, and lines that continue
//! the previous event.
//!
//! ```text
//! sh-9     [000] .....    24.479458: tracing_mark_write: bin              sh-9     [000] .....    24.479459: # 12 buf: 00
//! sh-9     [000] .....    24.479460: tracing_mark_write: first
//! second
//! sh-9     [000] .....    24.479461: open_in: (do_sys_openat2+0x0/0x190) banner="%s version %s
//! " jif=4294898341
//! sh-9     [000] .....    24.479462: 9p_protocol_dump: clnt 18390833155857069568 P9_TCLUNK(tag = 1)
//! 0b 00 00 00 78 01
//! ```
//!
//! The kernel prints texts of programs (marks, trace_printk) unchanged. After a text that ends at a NUL byte or lacks a
//! newline, the next event follows on the same line; a text with newlines continues in lines without columns. Probes'
//! strings with newlines, and dumps of bytes, also continue in such lines.

use super::facts::{Facts, Layout};
use super::graph::{self, GraphLine};
use super::probe_text::{may_be_probe, probe};
use super::recipe::system_of;
use crate::base::lines::{Line, lines};
use crate::formats::ftrace_line::flags::Flags;
use crate::formats::ftrace_line::line::{Body, Plain, classify, is_mark_name, plain};
use crate::formats::ftrace_line::prefix::{
    Group, Prefix, TASK_WIDTH, columns_inside, latency_columns_inside, verbose_columns_inside,
};

/// Maximum number of lines in which a probe's string continues.
const MOST_LINES: usize = 64;
/// Maximum length of a text that a program writes at once; the kernel's buffer for it has 8 KiB.
const MOST_MARK: usize = 1 << 14;

/// A line, or the part of a line that belongs to one event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventLine<'a> {
    /// Place and bytes, without the bytes of the next event on the same line.
    pub line: Line<'a>,
    /// Kind of the line.
    pub kind: LineKind<'a>,
}

/// Kind of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LineKind<'a> {
    /// The line starts an event.
    Event(Prefix<'a>),
    /// A line of the function graph tracer.
    Graph(GraphLine<'a>),
    /// The line continues the previous event.
    Continues,
    /// The line has no columns and continues nothing.
    Other(Plain),
}

/// Text that may follow an event in lines without columns.
#[derive(Clone, Copy, Debug, Default)]
enum Open {
    /// Only a dump of bytes.
    #[default]
    Nothing,
    /// Not determined yet: see [`EventLines::opened`].
    Unknown,
    /// A string, which must end within this many lines.
    String(usize),
    /// The rest of a mark, of at most this many bytes.
    Mark(usize),
    /// The rest of a comment in a graph, of at most this many bytes.
    Comment(usize),
}

/// Iterates over the lines of a text; see [`event_lines`].
struct EventLines<'a, 'f, L> {
    lines: L,
    facts: &'f Facts,
    /// The rest of a line after its first event.
    rest: Option<Line<'a>>,
    /// Line of the last event.
    event: &'a [u8],
    body: &'a [u8],
    open: Open,
}

/// Iterates over the lines of `text` with their columns; line numbers and offsets are those of [`lines`]. An event
/// inside a line is returned as a line of its own, with the same number.
pub(crate) fn event_lines<'a, 'f>(
    text: &'a [u8],
    first_number: u64,
    base: u64,
    facts: &'f Facts,
) -> impl Iterator<Item = EventLine<'a>> + use<'a, 'f> {
    EventLines {
        lines: lines(text, first_number, base),
        facts,
        rest: None,
        event: &[],
        body: &[],
        open: Open::Nothing,
    }
}

impl<'a, L: Iterator<Item = Line<'a>>> Iterator for EventLines<'a, '_, L> {
    type Item = EventLine<'a>;

    #[inline]
    fn next(&mut self) -> Option<EventLine<'a>> {
        let line = match self.rest.take() {
            Some(rest) => rest,
            None => self.lines.next()?,
        };
        if self.facts.layout == Layout::Graph
            && let Some(found) = graph::split_line(line.bytes)
        {
            self.event = line.bytes;
            self.open = match comment_is_open(found.rest) {
                true => Open::Comment(MOST_MARK),
                false => Open::Nothing,
            };
            let kind = LineKind::Graph(found);
            return Some(EventLine { line, kind });
        }
        let Some(prefix) = self.facts.split(line.bytes) else {
            return Some(self.without_columns(line));
        };
        Some(self.with_columns(line, prefix))
    }
}

impl<'a, L> EventLines<'a, '_, L> {
    #[inline]
    fn with_columns(&mut self, mut line: Line<'a>, mut prefix: Prefix<'a>) -> EventLine<'a> {
        // The name is longer than any task's name: the end of a mark is before the columns.
        if prefix.comm.len() >= TASK_WIDTH
            && let Some(start) = self.end_of_mark(&line)
        {
            self.rest = behind(&line, start);
            line.bytes = line.bytes.get(..start).unwrap_or(line.bytes);
            let kind = LineKind::Continues;
            return EventLine { line, kind };
        }
        if self.facts.layout == Layout::Events
            && let Some(start) = next_event(self.facts, line.bytes, &prefix)
        {
            self.rest = behind(&line, start);
            let cut = line.bytes.len() - start;
            let kept = prefix.body.len().saturating_sub(cut);
            prefix.body = prefix.body.get(..kept).unwrap_or(prefix.body);
            line.bytes = line.bytes.get(..start).unwrap_or(line.bytes);
        }
        self.event = line.bytes;
        self.body = prefix.body;
        self.open = Open::Unknown;
        let kind = LineKind::Event(prefix);
        EventLine { line, kind }
    }

    /// Returns the start of the event in a line that starts with the end of a mark.
    #[cold]
    fn end_of_mark(&mut self, line: &Line<'a>) -> Option<usize> {
        if !matches!(self.opened(), Open::Mark(_)) {
            return None;
        }
        let start = columns_inside(line.bytes)?.start;
        (start > 0).then_some(start)
    }

    fn opened(&mut self) -> Open {
        if matches!(self.open, Open::Unknown) {
            self.open = match may_be_mark(self.body) {
                true => Open::Mark(MOST_MARK),
                false if string_is_open(self.event, Began::Here) => Open::String(MOST_LINES),
                false => Open::Nothing,
            };
        }
        self.open
    }

    fn without_columns(&mut self, line: Line<'a>) -> EventLine<'a> {
        let plain = plain(line.bytes);
        let continues = match (self.opened(), plain) {
            (_, Plain::Lost(..) | Plain::Frame) => false,
            (Open::Mark(left), _) => match left.checked_sub(line.bytes.len() + 1) {
                Some(left) if !line.bytes.starts_with(b"# tracer: ") => {
                    self.open = Open::Mark(left);
                    true
                }
                _ => false,
            },
            (Open::Comment(left), _) => {
                let left = left.checked_sub(line.bytes.len() + 1);
                self.open = match left.filter(|_| !line.bytes.trim_ascii_end().ends_with(b"*/")) {
                    Some(left) => Open::Comment(left),
                    None => Open::Nothing,
                };
                left.is_some()
            }
            (Open::String(left), Plain::Text) => {
                self.open = match (string_is_open(line.bytes, Began::Before), left) {
                    (true, 2..) => Open::String(left - 1),
                    _ => Open::Nothing,
                };
                true
            }
            (_, Plain::Text) => !self.event.is_empty() && is_dump(line.bytes),
            _ => false,
        };
        if !continues && plain != Plain::Frame {
            self.open = Open::Nothing;
            self.event = &[];
        }
        let kind = match continues {
            true => LineKind::Continues,
            false => LineKind::Other(plain),
        };
        EventLine { line, kind }
    }
}

/// Returns whether a comment in a line of a graph does not end in that line.
fn comment_is_open(rest: &[u8]) -> bool {
    let is_comment = memchr::memmem::find(rest, b"/* ");
    is_comment.is_some() && !rest.trim_ascii_end().ends_with(b"*/")
}

/// Returns the rest of a line from `start`.
fn behind<'a>(line: &Line<'a>, start: usize) -> Option<Line<'a>> {
    Some(Line {
        offset: line.offset + start as u64,
        bytes: line.bytes.get(start..)?,
        ..*line
    })
}

/// Returns the start of the next event in a line whose first event has no newline. The columns of the next event must
/// have the same form, and its time must not be earlier.
#[inline]
fn next_event(facts: &Facts, line: &[u8], prefix: &Prefix<'_>) -> Option<usize> {
    let body_at = line.len() - prefix.body.len();
    let in_latency_format = || match (prefix.body.starts_with(b"tracing_mark_write"), prefix.flags)
    {
        (true, Flags::Numbers { .. }) => verbose_columns_inside(prefix.body),
        (true, Flags::Letters(_)) => latency_columns_inside(prefix.body),
        (false, _) => None,
    };
    let inside = columns_inside(prefix.body).or_else(in_latency_format)?;
    let (start, found) = (body_at + inside.start, &inside.prefix);
    let has_flags = |it: &Prefix<'_>| !matches!(it.flags, Flags::Letters([]));
    let is_alike = (found.group == Group::NoColumn) == (prefix.group == Group::NoColumn)
        && has_flags(found) == has_flags(prefix)
        && found.precision == prefix.precision
        && found.time >= prefix.time;
    let kept = prefix.body.get(..inside.start)?;
    (is_alike && may_be_mark(kept) && facts.split(line.get(start..)?).is_some()).then_some(start)
}

/// Returns whether a body is, or may be, a text written by a program or by the kernel's trace_printk; the functions
/// that print it have arbitrary names.
fn may_be_mark(body: &[u8]) -> bool {
    match classify(body) {
        Body::Event(name, _) if is_mark_name(name) => true,
        Body::Event(name, info) => {
            let system = system_of(&String::from_utf8_lossy(name));
            let is_probe = may_be_probe(info) && probe(info).is_some();
            let has_fields = !super::fields::pairs(info).is_empty();
            system.is_empty() && !is_probe && !has_fields
        }
        _ => false,
    }
}

/// Returns whether a line is a dump of bytes in hex, possibly with offsets: `0b 00 00 00`, `010: 78 01`.
fn is_dump(line: &[u8]) -> bool {
    let is_hex = |word: &[u8]| word.iter().all(u8::is_ascii_hexdigit);
    let mut words = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .peekable();
    let is_offset = |word: &&[u8]| {
        word.strip_suffix(b":")
            .is_some_and(|word| word.len() >= 3 && is_hex(word))
    };
    words.next_if(is_offset);
    words.peek().is_some() && words.all(|word| word.len() == 2 && is_hex(word))
}

/// The start of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Began {
    /// In an earlier line.
    Before,
    /// In this line.
    Here,
}

/// Returns whether a line ends inside a string.
fn string_is_open(line: &[u8], began: Began) -> bool {
    let is_odd = memchr::memchr_iter(b'"', line).count() % 2 == 1;
    match began {
        Began::Before => !is_odd,
        Began::Here => is_odd && memchr::memmem::find(line, b"=\"").is_some(),
    }
}

/// Returns the length in bytes of the lines of the event at the start of `text`, without the final newline.
#[must_use]
pub(crate) fn event_bytes(text: &[u8], facts: &Facts) -> usize {
    let mut all = event_lines(text, 1, 1, facts);
    let Some(first) = all.next() else {
        return 0;
    };
    let mut end = first.line.bytes.len();
    for EventLine { line, kind } in all {
        match kind {
            LineKind::Continues if line.bytes.trim_ascii().is_empty() => {}
            // Offsets count from 1 here, because the text at offset 0 would be treated as the start of a file.
            LineKind::Continues => {
                end = (line.offset as usize).saturating_sub(1) + line.bytes.len()
            }
            _ => break,
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(&str, char)> {
        let facts = Facts::of(text.as_bytes(), text.as_bytes(), Layout::Events);
        let lines = event_lines(text.as_bytes(), 1, 0, &facts).map(|it| {
            let letter = match it.kind {
                LineKind::Event(_) | LineKind::Graph(_) => 'e',
                LineKind::Continues => 'c',
                LineKind::Other(_) => 'o',
            };
            (
                std::str::from_utf8(it.line.bytes).unwrap().trim_start(),
                letter,
            )
        });
        lines.collect()
    }

    fn first_event(text: &str) -> usize {
        let facts = Facts::of(text.as_bytes(), text.as_bytes(), Layout::Events);
        event_bytes(text.as_bytes(), &facts)
    }

    #[test]
    fn an_event_continues_while_a_string_of_it_is_open() {
        let event = "    a-1 [000] ..... 1.000001: p: (f+0x0/0x1) s=\"one\ntwo\n\" x=3\n";
        let next = "    a-1 [000] ..... 1.000002: q: x=1 y=2\nhello\n";
        let text = format!("{event}{next}");
        assert_eq!(first_event(&text), event.len() - 1);
        assert_eq!(first_event(next), next.len() - 7);
        // An inch mark does not start a string.
        let inches = "    a-1 [000] ..... 1.000001: sched_stat: 5\" disk\nhello\n";
        assert_eq!(first_event(inches), inches.len() - 7);
        let endless = format!(
            "    a-1 [000] ..... 1.000001: p: (f+0x0/0x1) s=\"\n{}",
            "x\n".repeat(100)
        );
        assert!(first_event(&endless) < endless.len() - 60);
        assert_eq!(first_event(""), 0);
    }

    #[test]
    fn marks_continue_in_lines_without_columns_and_end_where_the_next_event_begins() {
        let columns = |time: &str| format!("{:>16}-9       [000] ..... {time}: ", "sh");
        let (one, two) = (columns("1.000001"), columns("1.000002"));
        let text = format!(
            "{one}tracing_mark_write: a\nb{two}# 12 buf: 00\n{two}tracing_mark_write: x{two}sched_switch: y\n"
        );
        let found: Vec<char> = kinds(&text).iter().map(|it| it.1).collect();
        assert_eq!(found, ['e', 'c', 'e', 'e', 'e']);
        assert_eq!(kinds(&text)[1], ("b", 'c'));
        // The next event cannot be earlier, and events of the kernel end with a newline.
        for text in [
            format!("{two}tracing_mark_write: x{one}sched_switch: y\n"),
            format!("{one}sched_process_exec: filename=x{two}sched_switch: y\n"),
        ] {
            assert_eq!(kinds(&text).len(), 1, "{text}");
        }
    }

    #[test]
    fn dumps_of_bytes_continue_an_event() {
        let event = "    a-1 [000] ..... 1.000001: 9p_protocol_dump: clnt 1 P9_TREAD(tag = 1)\n";
        for dump in ["0b 00 ff\n", "000: 17 00\n010: 17 00\n"] {
            let text = format!("{event}{dump}x\n");
            assert_eq!(first_event(&text), event.len() + dump.len() - 1);
        }
        assert_eq!(kinds("0b 00\n"), [("0b 00", 'o')]);
    }
}
