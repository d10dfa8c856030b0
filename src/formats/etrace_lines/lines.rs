//! Iterates over the lines of a text, forwards and backwards, and over the events in them.

use super::line::{Payload, parse_line};

/// A line without its end.
pub(crate) struct LineAt<'a> {
    pub line: &'a [u8],
    /// Offset of the next line.
    pub next: usize,
}

/// A line or its parsed contents, and its offset.
pub(crate) struct Placed<T> {
    pub line: T,
    pub place: usize,
}

/// Returns the line at `at` without its end, and the start of the next line.
#[inline]
#[must_use]
pub(crate) fn line_at(text: &[u8], at: usize) -> Option<LineAt<'_>> {
    let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
    let length = line_length(rest);
    Some(LineAt {
        line: rest.get(..length)?,
        next: at + length + 1,
    })
}

/// Number of bytes of a line that are searched inline, word by word: most lines end there, and a call per line is
/// slower.
const NEAR_BYTES: usize = 96;

/// Returns the length in bytes of the first line of `rest`.
#[inline]
fn line_length(rest: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let near = rest.get(..NEAR_BYTES).unwrap_or(rest);
    let (words, _) = near.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let others = u64::from_le_bytes(*word) ^ (ONES * b'\n' as u64);
        // The lowest set bit is in the first byte that is zero.
        let zeros = others.wrapping_sub(ONES) & !others & (ONES << 7);
        if zeros != 0 {
            return 8 * number + zeros.trailing_zeros() as usize / 8;
        }
    }
    let seen = 8 * words.len();
    let more = rest.get(seen..).unwrap_or(&[]);
    seen + memchr::memchr(b'\n', more).unwrap_or(more.len())
}

/// Longer lines count as only this many bytes against a limit, so that a search continues after a single huge text.
pub(crate) const LONG_LINE: usize = 1 << 16;

/// Iterates backwards over the lines that end before `at`, the start of a line, with their places; about `limit` bytes
/// of text.
pub(crate) fn lines_before(
    text: &[u8],
    at: usize,
    limit: usize,
) -> impl Iterator<Item = Placed<&[u8]>> {
    let mut left = limit;
    let mut end = at;
    std::iter::from_fn(move || {
        if end == 0 || left == 0 {
            return None;
        }
        let before = text.get(..end - 1)?;
        let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        left = left.saturating_sub((end - start).min(LONG_LINE));
        end = start;
        Some(Placed {
            line: before.get(start..)?,
            place: start,
        })
    })
}

/// Iterates over the lines from `at`, the start of a line, with their places; about `limit` bytes of text.
pub(crate) fn lines_after(
    text: &[u8],
    at: usize,
    limit: usize,
) -> impl Iterator<Item = Placed<&[u8]>> {
    let mut left = limit;
    let mut next = at;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let found = line_at(text, next)?;
        let place = next;
        left = left.saturating_sub((found.next - next).min(LONG_LINE));
        next = found.next;
        Some(Placed {
            line: found.line,
            place,
        })
    })
}

/// Iterates over the events from `at`, the start of a line, with their places; about `limit` bytes of text.
pub(crate) fn events_after(
    text: &[u8],
    at: usize,
    limit: usize,
) -> impl Iterator<Item = Placed<Payload<'_>>> {
    lines_after(text, at, limit).filter_map(|Placed { line, place }| {
        let line = parse_line(line)?;
        Some(Placed { line, place })
    })
}

/// Line that marks lost events in a text that was built from another recording, which counts lost events itself.
pub(crate) const HOLE: &[u8] = b"# lost";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_backwards() {
        let text = b"a\nbb\n\nc\n";
        let found = lines_before(text, 8, 100).map(|it| (it.line, it.place));
        let found: Vec<_> = found.collect();
        assert_eq!(
            found,
            vec![
                (&b"c"[..], 6),
                (&b""[..], 5),
                (&b"bb"[..], 2),
                (&b"a"[..], 0)
            ]
        );
        assert_eq!(lines_before(text, 8, 2).count(), 1);
    }

    #[test]
    fn lines_of_any_length_end_at_their_first_newline() {
        for before in ["", "\u{b}", "\u{8a}\u{9}"] {
            for length in (0..40).chain(90..110) {
                let line = format!("{before}{}", "x".repeat(length));
                assert_eq!(line_length(line.as_bytes()), line.len());
                let text = format!("{line}\n\u{b}\n{}", "\n".repeat(20));
                assert_eq!(line_length(text.as_bytes()), line.len());
            }
        }
    }
}
