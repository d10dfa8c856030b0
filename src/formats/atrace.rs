//! Marks in the form of Android's atrace (`B|pid|name`), which programs write into the trace as text: slices, counters,
//! asynchronous slices and instants. Used by all formats whose events can contain such text.
//!
//! ```text
//! B|pid|name    E[|[pid]]    C|pid|name|value[|category]    S|pid|name|cookie    F|pid|name|cookie
//! G|pid|track|name|cookie    H|pid|track[|name]|cookie    I|pid|name    N|pid|track|name
//! ```
//!
//! `B`, `E` and `I` also contain the pid of the writing thread's process, which is used if no other record names the
//! process.

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::event::family::Family;
use crate::event::{
    AsyncMark, AsyncOp, AsyncScope, KindId, Label, LaneColumns, Life, LifeRow, Mark, MarkOp, Role,
    Sample, Series, SeriesScope, SliceKind, ThreadKey,
};
use crate::formats::kind_table::Kinds;

/// Maximum length of a name; longer names are cut.
const MOST_NAME: usize = 256;

/// A mark in the form of Android's atrace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Atrace<'a> {
    /// `B|pid|name`: a slice of the writing thread begins.
    Begin(&'a [u8]),
    /// `I|pid|name`: an instant of the writing thread.
    Instant(&'a [u8]),
    /// `N|pid|track|name`: an instant on a track of a process: pid, track, name.
    TrackInstant(u32, &'a [u8], &'a [u8]),
    /// `E` or `E|pid`: the innermost slice of the writing thread ends.
    End,
    /// `C|pid|name|value`: a sample of a counter.
    Counter(u32, &'a [u8], f64),
    /// `S|pid|name|cookie` or `G|pid|track|name|cookie`: an asynchronous slice begins; with its name.
    AsyncBegin(AsyncPlace<'a>, &'a [u8]),
    /// `F|pid|name|cookie` or `H|pid|track[|name]|cookie`: an asynchronous slice ends; name empty if missing.
    AsyncEnd(AsyncPlace<'a>, &'a [u8]),
}

/// Identifies an asynchronous slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AsyncPlace<'a> {
    /// Pid of the process.
    pub pid: u32,
    /// Name of the track; for `S` and `F` it equals the slice's name.
    pub track: &'a [u8],
    /// Cookie, unique on the track.
    pub cookie: &'a [u8],
}

/// Returns whether a text or a printf format string may be a mark.
#[must_use]
pub(crate) fn may_be_mark(text: &[u8]) -> bool {
    matches!(
        text.trim_ascii(),
        b"E" | [
            b'B' | b'E' | b'C' | b'S' | b'F' | b'G' | b'H' | b'I' | b'N',
            b'|',
            ..
        ]
    )
}

/// Parses an atrace mark; `None` for any other text.
#[must_use]
pub(crate) fn atrace(text: &[u8]) -> Option<Atrace<'_>> {
    let text = text.trim_ascii();
    if text == b"E" {
        return Some(Atrace::End);
    }
    let mut parts = text.split(|b| *b == b'|');
    let letter = parts.next()?;
    let pid = parts.next()?;
    let pid_number = || u32::try_from(number(pid)?).ok();
    if letter == b"E" {
        return (pid.is_empty() || pid_number().is_some()).then_some(Atrace::End);
    }
    let pid = pid_number()?;
    let (track, rest): (Option<&[u8]>, _) = match letter {
        b"G" | b"H" => (parts.next(), parts),
        _ => (None, parts),
    };
    let mut rest = rest;
    match letter {
        // A name may contain `|`.
        b"B" => behind_bars(text, 2).map(Atrace::Begin),
        b"I" => behind_bars(text, 2).map(Atrace::Instant),
        b"N" => {
            let track = rest.next()?;
            behind_bars(text, 3).map(|name| Atrace::TrackInstant(pid, track, name))
        }
        b"C" => {
            let rest = behind_bars(text, 2)?;
            let counter = |name, value: &[u8]| {
                let value = std::str::from_utf8(value).ok()?;
                Some(Atrace::Counter(pid, name, value.trim().parse().ok()?))
            };
            // Chromium writes a category after the value. Otherwise a name may contain `|`.
            let mut parts = rest.split(|b| *b == b'|');
            let first = parts.next().zip(parts.next());
            first
                .and_then(|(name, value)| counter(name, value))
                .or_else(|| {
                    let value_at = memchr::memrchr(b'|', rest)?;
                    counter(rest.get(..value_at)?, rest.get(value_at + 1..)?)
                })
        }
        b"S" | b"F" => {
            let (name, cookie) = (rest.next()?, rest.next()?);
            let place = AsyncPlace {
                pid,
                track: name,
                cookie,
            };
            Some(match letter {
                b"S" => Atrace::AsyncBegin(place, name),
                _ => Atrace::AsyncEnd(place, name),
            })
        }
        b"G" | b"H" => {
            let (track, first) = (track?, rest.next()?);
            // An `H` contains track and cookie; some versions also write the name. No recording at hand contains `G` or
            // `H`: tests were made for both forms.
            let (name, cookie) = match (letter, rest.next()) {
                (b"H", None) => (&b""[..], first),
                (_, cookie) => (first, cookie?),
            };
            let place = AsyncPlace { pid, track, cookie };
            Some(match letter {
                b"G" => Atrace::AsyncBegin(place, name),
                _ => Atrace::AsyncEnd(place, name),
            })
        }
        _ => None,
    }
}

/// Returns the text after the `count`-th `|`.
fn behind_bars(text: &[u8], count: usize) -> Option<&[u8]> {
    let last = memchr::memchr_iter(b'|', text).nth(count.checked_sub(1)?)?;
    text.get(last + 1..)
}

/// Returns the writer's process, from a mark of kind `B`, `E` or `I`; `None` for other texts. Also `None` for pids up
/// to 2: init and kthreadd write no marks, so such a pid is from inside a container.
#[must_use]
pub(crate) fn process_of(text: &[u8]) -> Option<ThreadKey> {
    let rest = match text.trim_ascii() {
        [b'B' | b'E' | b'I', b'|', rest @ ..] => rest,
        _ => return None,
    };
    let pid = rest.split(|byte| *byte == b'|').next()?;
    let pid = u32::try_from(number(pid)?).ok()?;
    (pid > 2).then_some(ThreadKey(pid))
}

/// Parses a whole decimal number, which may be negative.
fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok()
}

/// Returns the kind of a mark's event if it has the name that the program gave it, not that of the recorded event.
pub(crate) fn named_kind(mark: &Atrace<'_>, kinds: &Kinds) -> Option<KindId> {
    match mark {
        Atrace::Instant(name) | Atrace::TrackInstant(_, _, name) if name.is_empty() => None,
        Atrace::Instant(name) => Some(kinds.intern_mark(cut(name), Role::Instant)),
        Atrace::TrackInstant(_, _, name) => Some(kinds.intern_mark(cut(name), Role::Consumed)),
        _ => None,
    }
}

/// Adds the rows of `mark`, which is event `event` of the part, to the part's columns. `labels` and `series` map the
/// labels and series of the columns to their indices.
pub(crate) fn emit(
    mark: Atrace<'_>,
    event: u32,
    columns: &mut LaneColumns,
    labels: &mut FxHashMap<Label, u32>,
    series: &mut FxHashMap<Series, u32>,
) {
    match mark {
        Atrace::Begin(name) => emit_slice(name, MarkOp::Begin, event, columns, labels),
        Atrace::End => emit_slice(b"", MarkOp::End, event, columns, labels),
        // The event itself is the instant.
        Atrace::Instant(_) => {}
        Atrace::TrackInstant(pid, track, name) => {
            let place = AsyncPlace {
                pid,
                track,
                cookie: b"",
            };
            emit_async(place, name, AsyncOp::Instant, event, columns);
        }
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
                value,
            });
        }
        Atrace::AsyncBegin(place, name) => {
            emit_async(place, name, AsyncOp::Begin, event, columns);
        }
        Atrace::AsyncEnd(place, name) => emit_async(place, name, AsyncOp::End, event, columns),
    }
}

/// A process that a thread claims to belong to, by a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Claim {
    thread: ThreadKey,
    /// The main thread of the process.
    leader: ThreadKey,
}

/// Adds the process that the mark `text` names for `thread`, the writer of event `event`. `known` contains the claims
/// that were added before.
pub(crate) fn claim_process(
    text: &[u8],
    thread: Option<ThreadKey>,
    event: u32,
    columns: &mut LaneColumns,
    known: &mut FxHashSet<Claim>,
) {
    let Some(leader) = process_of(text) else {
        return;
    };
    let Some(thread) = thread.filter(|&thread| thread != ThreadKey::IDLE) else {
        return;
    };
    if leader != thread && known.insert(Claim { thread, leader }) {
        let life = Life::Claim { thread, leader };
        columns.lives.push(LifeRow { event, life });
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
        family: Family::Durations,
        kind: SliceKind::Durations,
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
    place: AsyncPlace<'_>,
    name: &[u8],
    op: AsyncOp,
    event: u32,
    columns: &mut LaneColumns,
) {
    let mut hasher = FxHasher::default();
    hasher.write(place.track);
    hasher.write(b"|");
    hasher.write(place.cookie);
    let mark = AsyncMark {
        event,
        op,
        scope: AsyncScope::ProcessOf(ThreadKey(place.pid).into()),
        id: hasher.finish(),
        name: columns.strings.intern(cut(name)),
        category: columns.strings.intern(b"atrace"),
        kind: SliceKind::Async,
        group: columns.strings.intern(cut(place.track)),
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
        assert_eq!(atrace(b"E|"), Some(Atrace::End));
        assert_eq!(atrace(b"E|x"), None);
        for (text, name, value) in [
            (&b"C|9|disk|4096|Blob"[..], &b"disk"[..], 4096.0),
            (b"C|9|a|b|3", b"a|b", 3.0),
            (b"C|9|wq:monitor|3", b"wq:monitor", 3.0),
        ] {
            assert_eq!(atrace(text), Some(Atrace::Counter(9, name, value)));
        }
        assert_eq!(
            atrace(b"C|123|mem|-5"),
            Some(Atrace::Counter(123, b"mem", -5.0))
        );
        let place = |track| AsyncPlace {
            pid: 1,
            track,
            cookie: b"77",
        };
        for (text, mark) in [
            (
                &b"S|1|load|77"[..],
                Atrace::AsyncBegin(place(b"load"), b"load"),
            ),
            (b"F|1|load|77", Atrace::AsyncEnd(place(b"load"), b"load")),
            (b"G|1|t|load|77", Atrace::AsyncBegin(place(b"t"), b"load")),
            (b"H|1|t|77", Atrace::AsyncEnd(place(b"t"), b"")),
            (b"H|1|t|load|77", Atrace::AsyncEnd(place(b"t"), b"load")),
            (b"C|1|load|1.5", Atrace::Counter(1, b"load", 1.5)),
        ] {
            assert_eq!(atrace(text), Some(mark), "{}", text.escape_ascii());
        }
        assert_eq!(atrace(b"G|1|t|77"), None);
        assert_eq!(atrace(b"I|1|point|x"), Some(Atrace::Instant(b"point|x")));
        assert_eq!(
            atrace(b"N|1|track|point"),
            Some(Atrace::TrackInstant(1, b"track", b"point"))
        );
        assert_eq!(atrace(b"N|1|track"), None);
        assert_eq!(process_of(b"B|12|x"), Some(ThreadKey(12)));
        assert_eq!(process_of(b"E|12"), Some(ThreadKey(12)));
        for text in [&b"E"[..], b"B|1|x", b"B|x|y", b"C|12|x|1", b"hello"] {
            assert_eq!(process_of(text), None);
        }
        assert_eq!(atrace(b"Every day"), None);
        assert_eq!(atrace(b"B|x|y"), None);
    }
}
