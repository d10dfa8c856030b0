//! Splits text into lines with numbers and byte offsets. Line ends are LF or CRLF; the last line may lack one.

/// One line without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Line number; the first line has the number that the caller gave.
    pub number: u64,
    /// Byte offset of the line's first byte: from the start of the text, plus the `base` that the caller gave.
    pub offset: u64,
    /// The line's bytes, without its line end.
    pub bytes: &'a [u8],
    /// Whether the line has a line end.
    pub has_end: bool,
}

/// Returns where the first line starts in a text that begins at byte `base` of its file. At the start of a file, zeros in
/// place of a head that logrotate cut away, and the byte order mark of UTF-8, precede it.
fn first_line_start(text: &[u8], base: u64) -> usize {
    if base != 0 {
        return 0;
    }
    let zeros = text.iter().take_while(|byte| **byte == 0).count();
    let rest = text.get(zeros..).unwrap_or_default();
    match rest.starts_with(b"\xef\xbb\xbf") {
        true => zeros + 3,
        false => zeros,
    }
}

/// Returns the lines of `text`, numbered from `first_number`, with byte offsets counted from `base`. If `base` is 0,
/// zeros and a byte order mark at the start of the file are skipped.
pub fn lines(text: &[u8], first_number: u64, base: u64) -> impl Iterator<Item = Line<'_>> {
    let mut at = first_line_start(text, base);
    let mut number = first_number;
    std::iter::from_fn(move || {
        if at >= text.len() {
            return None;
        }
        let rest = &text[at..];
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = &rest[..length];
        let bytes = line.strip_suffix(b"\r").unwrap_or(line);
        let found = Line {
            number,
            offset: base + at as u64,
            bytes,
            has_end: length < rest.len(),
        };
        at += length + 1;
        number += 1;
        Some(found)
    })
}

/// Returns the number of lines that [`lines`] returns.
#[must_use]
pub(crate) fn line_count(text: &[u8], base: u64) -> u64 {
    let rest = text.get(first_line_start(text, base)..).unwrap_or_default();
    let has_open_line = rest.last().is_some_and(|&last| last != b'\n');
    memchr::memchr_iter(b'\n', rest).count() as u64 + u64::from(has_open_line)
}

/// Returns the text from byte offset `place`, where a line starts; at most `most_bytes` bytes, which may contain
/// following lines. `None` if the line no longer exists: a file that was truncated while it is open reads as zeros
/// there. If the file was truncated within the line, the text ends before the zeros.
#[must_use]
pub(crate) fn text_at(text: &[u8], place: u64, most_bytes: usize) -> Option<&[u8]> {
    let rest = text.get(usize::try_from(place).ok()?..)?;
    let near = rest.get(..most_bytes).unwrap_or(rest);
    if near.first().is_none_or(|byte| *byte == 0) {
        return None;
    }
    match near.last() {
        Some(0) if memchr::memchr(b'\n', near).is_none() => {
            let end = near.iter().rposition(|byte| *byte != 0);
            near.get(..=end?)
        }
        _ => Some(near),
    }
}

/// Cuts `text` into at most `parts` ranges of about equal size, each ending after a line end.
#[must_use]
pub(crate) fn cut_at_line_ends(text: &[u8], parts: usize) -> Vec<std::ops::Range<usize>> {
    let mut ranges = Vec::new();
    let target = (text.len() / parts.max(1)).max(1);
    let mut start = 0;
    while start < text.len() {
        let probe = (start + target).min(text.len());
        let end = match memchr::memchr(b'\n', &text[probe - 1..]) {
            Some(length) => probe + length,
            None => text.len(),
        };
        ranges.push(start..end);
        start = end;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_numbers_and_offsets() {
        let all: Vec<_> = lines(b"a\r\n\nbc", 1, 10)
            .map(|l| (l.number, l.offset, l.bytes.to_vec()))
            .collect();
        assert_eq!(
            all,
            vec![
                (1, 10, b"a".to_vec()),
                (2, 13, vec![]),
                (3, 14, b"bc".to_vec())
            ]
        );
    }

    #[test]
    fn the_first_line_begins_behind_zeros_and_the_mark_of_utf_8() {
        let first = |text: &'static [u8], base| {
            let line = lines(text, 1, base).next();
            line.map(|line| (line.offset, line.bytes))
        };
        assert_eq!(first(b"\0\0\xef\xbb\xbfa\nb", 0), Some((5, &b"a"[..])));
        assert_eq!(first(b"\0\0\na", 0), Some((2, &b""[..])));
        assert_eq!(first(b"\0a", 4), Some((4, &b"\0a"[..])));
        assert_eq!(first(b"\0\0", 0), None);
    }

    #[test]
    fn lines_are_counted_as_they_are_returned() {
        for text in [
            &b""[..],
            b"\n",
            b"a",
            b"a\nb",
            b"a\r\n\nb\n",
            b"\0\0",
            b"\0\0\na",
        ] {
            for base in [0, 7] {
                let count = lines(text, 1, base).count() as u64;
                assert_eq!(line_count(text, base), count, "{text:?} at {base}");
            }
        }
    }

    #[test]
    fn no_line_begins_where_zeros_took_its_place() {
        assert_eq!(text_at(b"ab\ncd\n", 3, 2), Some(&b"cd"[..]));
        assert_eq!(text_at(b"ab\nc\0d\0\0", 3, 9), Some(&b"c\0d"[..]));
        assert_eq!(text_at(b"ab\n\0\0\0", 3, 2), None);
        assert_eq!(text_at(b"ab\n", 3, 2), None);
        assert_eq!(text_at(b"ab\n", u64::MAX, 2), None);
    }

    #[test]
    fn cuts_cover_the_text_and_end_at_line_ends() {
        let text: Vec<u8> = (0..1000)
            .flat_map(|i| format!("line {i}\n").into_bytes())
            .collect();
        let ranges = cut_at_line_ends(&text, 7);
        assert_eq!(ranges.first().map(|r| r.start), Some(0));
        assert_eq!(ranges.last().map(|r| r.end), Some(text.len()));
        for pair in ranges.windows(2) {
            assert_eq!(pair[0].end, pair[1].start);
            assert_eq!(text[pair[0].end - 1], b'\n');
        }
    }
}
