//! Marks in the form of Android's atrace (`B|pid|name`), which programs write into the trace as text: slices,
//! counters and asynchronous slices. Shared by all formats whose events can hold such text.
//!
//! ```text
//! B|pid|name    E[|pid]    C|pid|name|value    S|pid|name|cookie    F|pid|name|cookie
//! G|pid|track|name|cookie    H|pid|track[|name]|cookie
//! ```

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHasher};

use crate::event::pairs::DURATIONS;
use crate::event::{
    AsyncMark, AsyncOp, AsyncScope, Label, LaneColumns, Mark, MarkOp, Sample, Series, SeriesScope,
    ThreadKey,
};

/// Longer names are cut.
const MOST_NAME: usize = 256;

/// A mark in the form of Android's atrace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atrace<'a> {
    /// `B|pid|name`: a slice of the writing thread begins.
    Begin(&'a [u8]),
    /// `E` or `E|pid`: its innermost slice ends.
    End,
    /// `C|pid|name|value`.
    Counter(u32, &'a [u8], i64),
    /// `S|pid|name|cookie`: an asynchronous slice of the process begins.
    AsyncBegin(u32, &'a [u8], &'a [u8]),
    /// `F|pid|name|cookie`: it ends.
    AsyncEnd(u32, &'a [u8], &'a [u8]),
}

/// Whether a text, or the printf format of one, can be a mark at all.
#[must_use]
pub fn may_be_mark(text: &[u8]) -> bool {
    matches!(
        text.trim_ascii(),
        b"E" | [b'B' | b'E' | b'C' | b'S' | b'F' | b'G' | b'H', b'|', ..]
    )
}

/// Reads an atrace mark; `None` for any other text (also `I|pid|name`, which is a point as it is).
#[must_use]
pub fn atrace(text: &[u8]) -> Option<Atrace<'_>> {
    let text = text.trim_ascii();
    if text == b"E" {
        return Some(Atrace::End);
    }
    let mut parts = text.split(|b| *b == b'|');
    let letter = parts.next()?;
    let pid = parts.next()?;
    let pid_number = || u32::try_from(number(pid)?).ok();
    if letter == b"E" {
        return pid_number().map(|_| Atrace::End);
    }
    let pid = pid_number()?;
    let (track, rest): (Option<&[u8]>, _) = match letter {
        b"G" | b"H" => (parts.next(), parts),
        _ => (None, parts),
    };
    let mut rest = rest;
    match letter {
        // A name may hold bars.
        b"B" => {
            let at = memchr::memchr(b'|', text.get(2..)?)? + 3;
            text.get(at..).map(Atrace::Begin)
        }
        b"C" => {
            let value_at = memchr::memrchr(b'|', text)?;
            let name_at = memchr::memchr(b'|', text.get(2..)?)? + 3;
            let name = text.get(name_at..value_at)?;
            let value = number(text.get(value_at + 1..)?)?;
            Some(Atrace::Counter(pid, name, value))
        }
        b"S" => Some(Atrace::AsyncBegin(pid, rest.next()?, rest.next()?)),
        b"F" => Some(Atrace::AsyncEnd(pid, rest.next()?, rest.next()?)),
        b"G" => {
            track?;
            Some(Atrace::AsyncBegin(pid, rest.next()?, rest.next()?))
        }
        // The end of `G` has the track and the cookie only, in some versions the name too.
        b"H" => {
            let first = rest.next()?;
            match rest.next() {
                Some(cookie) => Some(Atrace::AsyncEnd(pid, first, cookie)),
                None => Some(Atrace::AsyncEnd(pid, b"", first)),
            }
        }
        _ => None,
    }
}

/// A whole decimal number, perhaps negative.
fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok()
}

/// Adds what `mark` says to the columns of the part in which it is event `event`. `labels` and `series` know
/// those that the columns have already.
pub fn emit(
    mark: Atrace<'_>,
    event: u32,
    columns: &mut LaneColumns,
    labels: &mut FxHashMap<Label, u32>,
    series: &mut FxHashMap<Series, u32>,
) {
    match mark {
        Atrace::Begin(name) => emit_slice(name, MarkOp::Begin, event, columns, labels),
        Atrace::End => emit_slice(b"", MarkOp::End, event, columns, labels),
        Atrace::Counter(pid, name, value) => {
            let wanted = Series {
                name: columns.strings.intern(cut(name)),
                scope: SeriesScope::Thread(ThreadKey(pid)),
            };
            let all = &mut columns.series;
            let series = *series.entry(wanted).or_insert_with(|| {
                all.push(wanted);
                all.len() as u32 - 1
            });
            columns.samples.push(Sample {
                event,
                series,
                value: value as f64,
            });
        }
        Atrace::AsyncBegin(pid, name, cookie) => {
            emit_async(pid, name, cookie, AsyncOp::Begin, event, columns);
        }
        Atrace::AsyncEnd(pid, name, cookie) => {
            emit_async(pid, name, cookie, AsyncOp::End, event, columns);
        }
    }
}

fn cut(name: &[u8]) -> &[u8] {
    name.get(..MOST_NAME).unwrap_or(name)
}

fn emit_slice(
    name: &[u8],
    op: MarkOp,
    event: u32,
    columns: &mut LaneColumns,
    labels: &mut FxHashMap<Label, u32>,
) {
    let wanted = Label {
        family: DURATIONS,
        name: columns.strings.intern(cut(name)),
        category: columns.strings.intern(b"atrace"),
        key: 0,
    };
    let all = &mut columns.labels;
    let label = *labels.entry(wanted).or_insert_with(|| {
        all.push(wanted);
        all.len() as u32 - 1
    });
    columns.marks.push(Mark::new(event, label, op));
}

fn emit_async(
    pid: u32,
    name: &[u8],
    cookie: &[u8],
    op: AsyncOp,
    event: u32,
    columns: &mut LaneColumns,
) {
    let mut hasher = FxHasher::default();
    hasher.write(cookie);
    let name = columns.strings.intern(cut(name));
    let mark = AsyncMark {
        event,
        op,
        scope: AsyncScope::ProcessOf(ThreadKey(pid)),
        id: hasher.finish(),
        name,
        category: columns.strings.intern(b"atrace"),
        group: name,
    };
    columns.asyncs.push(mark);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atrace_marks() {
        assert_eq!(atrace(b"B|123|a|b\n"), Some(Atrace::Begin(b"a|b")));
        assert_eq!(atrace(b"E"), Some(Atrace::End));
        assert_eq!(atrace(b"E|123"), Some(Atrace::End));
        assert_eq!(
            atrace(b"C|123|mem|-5"),
            Some(Atrace::Counter(123, b"mem", -5))
        );
        assert_eq!(
            atrace(b"S|1|load|77"),
            Some(Atrace::AsyncBegin(1, b"load", b"77"))
        );
        assert_eq!(
            atrace(b"F|1|load|77"),
            Some(Atrace::AsyncEnd(1, b"load", b"77"))
        );
        assert_eq!(
            atrace(b"G|1|t|load|77"),
            Some(Atrace::AsyncBegin(1, b"load", b"77"))
        );
        assert_eq!(atrace(b"I|1|point"), None);
        assert_eq!(atrace(b"Every day"), None);
        assert_eq!(atrace(b"B|x|y"), None);
    }
}
