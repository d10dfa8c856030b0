//! The text of a file with the data that all parts share, its line numbers, and its cut points.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::head::Head;
use super::kinds::Kinds;
use super::line::{Word, parse_line};
use super::parts::Pieces;
use super::reordered::Reordered;
use super::upids::Upids;
use crate::base::Location;
use crate::formats::Input;

/// Size of a part of the text, in bytes.
pub(crate) const PART_BYTES: usize = 4 << 20;

/// Data shared by all parts.
#[derive(Debug)]
pub(crate) struct File {
    /// The bytes.
    pub input: Input,
    /// Facts from the head.
    pub head: Head,
    /// Keys of tasks.
    pub upids: Upids,
    /// Kinds of events.
    pub kinds: Kinds,
    /// Byte offsets of the starts of all parts, then the end of the last.
    pub cuts: Vec<usize>,
    /// Number of lines of each part that was read.
    pub line_counts: LineCounts,
    /// The origin of each section, if the text was merged from several files.
    pub pieces: Option<Pieces>,
    /// The order of lines in time, set when all parts were read.
    pub order: OnceLock<Reordered>,
    /// If the text was built from lines of another recording: each line's number there, or 0.
    pub numbers: Option<Vec<u64>>,
    /// Whether the text is in allocated memory, not in a mapped file.
    pub is_copy: bool,
}

impl File {
    /// Returns a mapped file without a head, whose parts start at `cuts`; the last element is the end of the text.
    #[must_use]
    pub(crate) fn new(input: Input, cuts: Vec<usize>, upids: Upids) -> File {
        File {
            line_counts: LineCounts::new(cuts.len().saturating_sub(1)),
            cuts,
            input,
            head: Head::NONE,
            upids,
            kinds: Kinds::default(),
            pieces: None,
            order: OnceLock::new(),
            numbers: None,
            is_copy: false,
        }
    }

    /// Returns the heap memory of the text, its keys, its order and its line numbers, in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let copied = match self.is_copy {
            true => self.text().len() as u64,
            false => 0,
        };
        let numbers = self.numbers.as_ref().map_or(0, Vec::capacity);
        copied
            + (numbers * size_of::<u64>()) as u64
            + self.upids.memory_bytes()
            + self.pieces.as_ref().map_or(0, Pieces::memory_bytes)
            + self.order.get().map_or(0, Reordered::memory_bytes)
    }

    /// Returns the range of a part in the text, in bytes; it starts and ends at starts of lines.
    #[must_use]
    pub(crate) fn range(&self, part: usize) -> std::ops::Range<usize> {
        match self.cuts.get(part..) {
            Some([start, end, ..]) => *start..*end,
            _ => 0..0,
        }
    }

    /// Returns the text of the file.
    #[must_use]
    pub(crate) fn text(&self) -> &[u8] {
        self.input.bytes()
    }

    /// Returns the location of the line at `place`, for messages.
    #[must_use]
    pub(crate) fn location(&self, place: u64) -> Option<Location> {
        let Some(numbers) = &self.numbers else {
            return Some(self.location_here(place));
        };
        let before = self.text().get(..usize::try_from(place).ok()?)?;
        let line = numbers.get(memchr::memchr_iter(b'\n', before).count());
        line.filter(|&&line| line > 0).copied().map(Location::Line)
    }

    fn location_here(&self, place: u64) -> Location {
        let of_part = self
            .pieces
            .as_ref()
            .zip(usize::try_from(place).ok())
            .and_then(|(pieces, place)| pieces.location(place));
        if let Some(location) = of_part {
            return location;
        }
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        let part = self.cuts.partition_point(|&cut| cut <= place).max(1) - 1;
        let before = (0..part).map(|earlier| {
            let counted = self.line_counts.of(earlier);
            counted.unwrap_or_else(|| {
                let cut = self.cuts.get(earlier).zip(self.cuts.get(earlier + 1));
                let text = cut.and_then(|(&start, &end)| self.text().get(start..end));
                let count = memchr::memchr_iter(b'\n', text.unwrap_or(&[])).count() as u64;
                self.line_counts.set(earlier, count);
                count
            })
        });
        let before: u64 = before.sum();
        let start = self.cuts.get(part).copied().unwrap_or(place);
        let Some(text) = self.text().get(start..place) else {
            return Location::Byte(place as u64);
        };
        Location::Line(before + memchr::memchr_iter(b'\n', text).count() as u64 + 1)
    }
}

/// Number of lines of each part; set by the reader of the part.
#[derive(Debug)]
pub(crate) struct LineCounts(Vec<AtomicU64>);

const NOT_COUNTED: u64 = u64::MAX;

impl LineCounts {
    /// Returns a list for `parts` parts.
    #[must_use]
    pub(crate) fn new(parts: usize) -> LineCounts {
        LineCounts((0..parts).map(|_| AtomicU64::new(NOT_COUNTED)).collect())
    }

    /// Returns the number of lines of a part, if it was read.
    #[must_use]
    pub(crate) fn of(&self, part: usize) -> Option<u64> {
        let count = self.0.get(part)?.load(Ordering::Relaxed);
        (count != NOT_COUNTED).then_some(count)
    }

    /// Sets the number of lines of a part.
    pub(crate) fn set(&self, part: usize, count: u64) {
        if let Some(slot) = self.0.get(part) {
            slot.store(count, Ordering::Relaxed);
        }
    }
}

/// Number of lines that decide about the line ends of a text.
const LINES_OF_ENDS: usize = 64;

/// Returns a copy of the text with plain newlines, if all of its first lines end in CR LF and at least one of them is a
/// call: a line that ends with a name may itself end in CR. Line numbers do not change. None of the 21 etrace
/// files of the corpus has such line ends, which come from copying a file with a Windows program.
#[must_use]
pub(crate) fn with_plain_ends(input: &Input) -> Option<Input> {
    let text = input.bytes();
    let mut calls = 0;
    for line in text
        .split_inclusive(|&byte| byte == b'\n')
        .take(LINES_OF_ENDS)
    {
        if line.last() != Some(&b'\n') {
            // The last line is cut by the end of the head.
            break;
        }
        let payload = parse_line(line.strip_suffix(b"\r\n")?);
        calls += usize::from(payload.is_some_and(|it| matches!(it.word, Word::Call(_))));
    }
    if calls == 0 {
        return None;
    }
    let mut plain = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(line) => {
                plain.extend_from_slice(line);
                plain.push(b'\n');
            }
            None => plain.extend_from_slice(line),
        }
    }
    Some(Input::from_vec(plain, &input.file_name))
}

/// Cuts a text into parts of about `part_bytes` at line ends. Returns the starts of all parts, and the end of the last.
#[must_use]
pub(crate) fn cut(text: &[u8], part_bytes: usize) -> Vec<usize> {
    let part_bytes = part_bytes.max(1);
    let mut cuts = vec![0];
    let mut last = 0;
    while text.len() - last > part_bytes + part_bytes / 2 {
        let target = last + part_bytes;
        let Some(newline) = memchr::memchr(b'\n', &text[target..]) else {
            break;
        };
        last = target + newline + 1;
        if last >= text.len() {
            break;
        }
        cuts.push(last);
    }
    cuts.push(text.len());
    cuts
}
