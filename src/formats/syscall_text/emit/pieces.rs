//! Calls on several lines: joins the later lines with the first.

use super::{Begun, Emitter};
use crate::base::lines::{Line, lines};
use crate::event::ThreadKey;
use crate::formats::syscall_text::acts;
use crate::formats::syscall_text::clock::Clock;
use crate::formats::syscall_text::dialect::Dialect;
use crate::formats::syscall_text::durations::end_of;
use crate::formats::syscall_text::line::{Body, classify, strip_open_end};
use crate::formats::syscall_text::prefix::split_prefix;
use crate::formats::syscall_text::values::split_call;

/// First line of a call, for joining with later lines.
#[derive(Clone, Copy)]
pub(crate) struct FirstHalf<'a> {
    /// Text after the opening parenthesis, without the mark that the call continues.
    pub text: &'a [u8],
}

impl FirstHalf<'_> {
    /// Returns the text of the whole call; `rest` is the text of its last line.
    ///
    /// strace prints only the new text. MINIX repeats the first half, or prints `<..>` if its record of the first half
    /// was too long; the first line may already have closed the parameters.
    #[must_use]
    pub(crate) fn with_rest(&self, rest: &[u8], dialect: Dialect) -> Vec<u8> {
        let first = self.text.trim_ascii_end();
        match dialect {
            Dialect::Strace => {
                // A space after the comma separates parameters.
                let between: &[u8] = if first.ends_with(b",") { b" " } else { b"" };
                [first, between, rest].concat()
            }
            Dialect::Minix => {
                let Some(rest) = rest.strip_prefix(b"<..>") else {
                    return rest.to_vec();
                };
                if !split_call(first, dialect).is_closed {
                    let between: &[u8] = if rest.starts_with(b",") { b"" } else { b" " };
                    let first = first.strip_suffix(b",").unwrap_or(first);
                    return [first, between, rest].concat();
                }
                let params = first.strip_suffix(b"=").unwrap_or(first).trim_ascii_end();
                let rest = rest.strip_prefix(b")").unwrap_or(rest);
                [params, rest].concat()
            }
        }
    }
}

/// Returns the first line of the call that is open at `place`.
#[must_use]
pub(crate) fn first_half<'a>(
    text: &'a [u8],
    place: u64,
    dialect: Dialect,
) -> Option<FirstHalf<'a>> {
    call_at(text, place, dialect).map(|(_, text)| FirstHalf { text })
}

/// Returns name and text of the call that starts at `place`.
fn call_at(text: &[u8], place: u64, dialect: Dialect) -> Option<(&[u8], &[u8])> {
    let rest = text.get(usize::try_from(place).ok()?..)?;
    let line = lines(rest, 1, place).next()?;
    let prefix = split_prefix(&line, dialect);
    match classify(&prefix, dialect) {
        Body::Call { name, text, .. } => Some((name, strip_open_end(text, dialect))),
        _ => None,
    }
}

impl<'a> Emitter<'a> {
    /// Reads the line after a line that strace broke: the rest of the same call.
    pub(super) fn broken_rest(&mut self, line: &Line<'a>, time: i64, thread: ThreadKey) {
        let dialect = self.source.dialect;
        let begun = self.open.get(&thread.0).copied();
        let begin = begun.map(|begun| begun.place);
        let name = begin.and_then(|place| call_at(self.source.text, place, dialect));
        let Some((name, _)) = name else {
            return;
        };
        let clock = self.source.head.clock;
        // The line has no time.
        let end = match self.end_of(begun, line.bytes) {
            Some(end) => self.time.reach(clock, end),
            None => time,
        };
        self.call_ends(name, line.bytes, line.offset, end, thread);
    }

    /// Returns the end time of a call from its `<seconds>`, because its last line is printed a little later or has no
    /// time.
    pub(super) fn end_of(&self, begun: Option<Begun>, text: &[u8]) -> Option<i64> {
        let clock = self.source.head.clock;
        if self.source.dialect == Dialect::Minix || clock == Clock::Lines {
            return None;
        }
        let begun = begun?;
        let begin = begun.time.or_else(|| {
            let rest = self.source.text.get(usize::try_from(begun.place).ok()?..)?;
            let line = lines(rest, 1, begun.place).next()?;
            let raw = split_prefix(&line, self.source.dialect).time;
            self.time.earlier(clock, raw)
        })?;
        end_of(begin, text)
    }

    pub(super) fn act_on_rest(
        &mut self,
        event: u32,
        thread: ThreadKey,
        name: &'a [u8],
        text: &'a [u8],
        begin: Option<u64>,
    ) {
        let (source, dialect) = (self.source, self.source.dialect);
        let first = begin.and_then(|place| first_half(source.text, place, dialect));
        match first {
            Some(first) => {
                let whole = first.with_rest(text, dialect);
                acts::act(self, event, thread, name, &whole, acts::Forks::Recorded);
            }
            None => acts::act(self, event, thread, name, text, acts::Forks::New),
        }
    }
}
