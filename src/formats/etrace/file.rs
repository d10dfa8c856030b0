//! The text of a file with the data shared by all parts, its line numbers, and its cut points.

use std::sync::atomic::{AtomicU64, Ordering};

use super::head::Head;
use super::jumbled::Jumbled;
use super::kinds::Kinds;
use super::line::{Word, parse_line};
use super::lines::{events_after, lines_after, lines_before};
use super::parts::Pieces;
use super::upids::Upids;
use crate::base::Location;
use crate::formats::Input;

/// How many lines around a cut are compared.
const CUT_LINES: usize = 64;
/// Number of lines before and after a cut that form its seam.
const SEAM_LINES: usize = 256;
const SEAM_BYTES: usize = 1 << 18;

/// Data shared by all parts.
#[derive(Debug)]
pub struct File {
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
    /// For each cut: the lines around it that are assigned to a part by their times.
    pub seams: Vec<Seam>,
    /// Number of lines of each part that was read.
    pub line_counts: LineCounts,
    /// Byte offset of the first list of tasks with their environment; `u64::MAX` if none was read.
    pub environments: AtomicU64,
    /// Origin of the text, if it was merged from several files.
    pub pieces: Option<Pieces>,
    /// Sections in which lines of a task are out of order, of the parts that were read.
    pub jumbled: Jumbled,
    /// If the text was built from lines of another recording: each line's number there, 0 if it has none.
    pub numbers: Option<Vec<u64>>,
    /// Whether the text is in allocated memory, not in a mapped file.
    pub is_copy: bool,
}

/// Lines around a cut where times go back at every possible cut: lines before `time` belong to the earlier part, the
/// others to the later part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seam {
    /// Start of the first line of the seam, byte offset.
    pub start: usize,
    /// Start of the line after the seam; equal to `start` if lines are assigned by place.
    pub end: usize,
    /// Place of the cut, which decides for lines without a time.
    pub cut: usize,
    /// First time that belongs to the later part, ns.
    pub time: i64,
}

impl Seam {
    /// Returns the seam of a cut at which times do not go back.
    fn none(cut: usize) -> Seam {
        Seam {
            start: cut,
            end: cut,
            cut,
            time: i64::MIN,
        }
    }

    /// Returns whether a line of the seam belongs to the later part.
    #[must_use]
    pub(crate) fn is_later(&self, place: usize, time: Option<i64>) -> bool {
        time.map_or(place >= self.cut, |time| time >= self.time)
    }
}

impl File {
    /// Returns the seams at the start and the end of a part.
    #[must_use]
    pub(crate) fn seams_of(&self, part: usize) -> [Seam; 2] {
        [part, part + 1].map(|at| {
            let cut = self.cuts.get(at).copied().unwrap_or(0);
            self.seams.get(at).copied().unwrap_or(Seam::none(cut))
        })
    }

    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> &[u8] {
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
    pub fn new(parts: usize) -> LineCounts {
        LineCounts((0..parts).map(|_| AtomicU64::new(NOT_COUNTED)).collect())
    }

    /// Returns the number of lines of a part, if it was read.
    #[must_use]
    pub fn of(&self, part: usize) -> Option<u64> {
        let count = self.0.get(part)?.load(Ordering::Relaxed);
        (count != NOT_COUNTED).then_some(count)
    }

    /// Sets the number of lines of a part.
    pub fn set(&self, part: usize, count: u64) {
        if let Some(slot) = self.0.get(part) {
            slot.store(count, Ordering::Relaxed);
        }
    }
}

/// How many lines decide about the line ends of a text.
const LINES_OF_ENDS: usize = 64;

/// Returns a copy of the text with plain newlines, if all of its first lines end in CR LF and at least one of them is a
/// call: a line that ends with a name may end in CR by itself. Line numbers do not change.
#[must_use]
pub(crate) fn with_plain_ends(input: &Input) -> Option<Input> {
    let text = input.bytes();
    let mut calls = 0;
    for line in text
        .split_inclusive(|&byte| byte == b'\n')
        .take(LINES_OF_ENDS)
    {
        if line.last() != Some(&b'\n') {
            // The head cuts the last line.
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

/// Cuts a text into parts of about `part_bytes` at line ends. Prefers cuts where no time after the cut is earlier than
/// a time before it, so that the parts are in time order.
#[must_use]
pub fn cut(text: &[u8], part_bytes: usize) -> Vec<Seam> {
    let part_bytes = part_bytes.max(1);
    let mut cuts = vec![Seam::none(0)];
    let mut last = 0;
    while text.len() - last > part_bytes + part_bytes / 2 {
        let target = last + part_bytes;
        let Some(newline) = memchr::memchr(b'\n', &text[target..]) else {
            break;
        };
        let line_start = target + newline + 1;
        let seam = match quiet_place(text, line_start) {
            Some(place) => Seam::none(place.max(last + 1)),
            None => seam_at(text, line_start, last),
        };
        if seam.end >= text.len() {
            break;
        }
        cuts.push(seam);
        last = seam.end;
    }
    cuts.push(Seam::none(text.len()));
    cuts
}

/// Returns the seam around `at`, none of whose lines starts before `least`.
fn seam_at(text: &[u8], at: usize, least: usize) -> Seam {
    let before = lines_before(text, at, SEAM_BYTES).take(SEAM_LINES);
    let start = before.map(|(_, place)| place).last().unwrap_or(at);
    let behind = lines_after(text, at, SEAM_BYTES).take(SEAM_LINES);
    let end = behind.map(|(line, place)| place + line.len() + 1).last();
    let first = events_after(text, at, SEAM_BYTES).next();
    match (first, end) {
        (Some((first, _)), Some(end)) => Seam {
            start: start.max(least),
            end: end.min(text.len()),
            cut: at,
            time: first.time,
        },
        _ => Seam::none(at),
    }
}

/// Returns a line start at or soon after `at` at which times do not go back.
fn quiet_place(text: &[u8], at: usize) -> Option<usize> {
    let latest = lines_before(text, at, 1 << 16)
        .take(CUT_LINES)
        .filter_map(|(line, _)| parse_line(line))
        .map(|line| line.time)
        .max();
    let Some(mut latest) = latest else {
        return Some(at);
    };
    let after: Vec<(i64, usize)> = events_after(text, at, 1 << 16)
        .take(2 * CUT_LINES)
        .map(|(line, place)| (line.time, place))
        .collect();
    let mut earliest = vec![i64::MAX; after.len() + 1];
    for (index, (time, _)) in after.iter().enumerate().rev() {
        earliest[index] = earliest[index + 1].min(*time);
    }
    for (index, (time, place)) in after.iter().take(CUT_LINES).enumerate() {
        if latest <= earliest[index] {
            return Some(if index == 0 { at } else { *place });
        }
        latest = latest.max(*time);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_avoid_places_where_time_goes_back() {
        let mut text = String::new();
        let mut starts = Vec::new();
        for i in 0..1000 {
            // Every line except each tenth is swapped with its neighbour.
            let time = if i % 10 == 0 { i } else { i ^ 1 };
            starts.push((text.len(), time));
            text.push_str(&format!("0: 5000001,0,1,{time}!Close|fd=3\n"));
        }
        let cuts = cut(text.as_bytes(), 1000);
        assert!(cuts.len() > 20);
        for seam in &cuts[1..cuts.len() - 1] {
            assert_eq!((seam.start, seam.end), (seam.cut, seam.cut));
            let index = starts.iter().position(|start| start.0 == seam.cut);
            let index = index.unwrap();
            let before = starts[..index].iter().map(|start| start.1).max();
            let after = starts[index..].iter().map(|start| start.1).min();
            assert!(before <= after, "cut at line {index}");
        }
    }
}
