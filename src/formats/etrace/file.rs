//! The text of a file: its lines by place, forwards and backwards, their numbers, and where it can be cut.

use std::sync::atomic::{AtomicU64, Ordering};

use super::head::Head;
use super::jumbled::Jumbled;
use super::kinds::Kinds;
use super::line::{Payload, Word, parse_line, parse_lost};
use super::parts::Pieces;
use super::upids::Upids;
use crate::base::Location;
use crate::formats::Input;

/// How many lines around a cut are looked at.
const CUT_LINES: usize = 64;
/// How many lines before and behind a cut are a seam.
const SEAM_LINES: usize = 256;
const SEAM_BYTES: usize = 1 << 18;

/// What all parts share.
#[derive(Debug)]
pub struct File {
    /// The bytes.
    pub input: Input,
    /// What its head tells.
    pub head: Head,
    /// Keys of tasks.
    pub upids: Upids,
    /// Kinds of events.
    pub kinds: Kinds,
    /// Where the parts start, and the end of the last.
    pub cuts: Vec<usize>,
    /// Of each cut: the lines around it that go to either part by their times.
    pub seams: Vec<Seam>,
    /// How many lines each part has, as far as they were counted.
    pub line_counts: LineCounts,
    /// Where the first list of tasks and their environment is, `u64::MAX` if none was read.
    pub environments: AtomicU64,
    /// Where the text came from, if it was merged from several files.
    pub pieces: Option<Pieces>,
    /// Where the lines of a task are out of order, as far as parts were read.
    pub jumbled: Jumbled,
    /// If the text was made of lines of another recording: the number of each there, 0 if it has none.
    pub numbers: Option<Vec<u64>>,
    /// Whether the text is in memory of its own, not that of a mapped file.
    pub is_copy: bool,
}

/// Lines around a cut, over which time goes back wherever it is made: those before a time are the earlier part's, the
/// others the later one's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seam {
    /// Where the first of them starts.
    pub start: usize,
    /// Where the line behind them starts; as `start` where all lines go by their places.
    pub end: usize,
    /// Where the cut is: lines without a time go by that.
    pub cut: usize,
    /// The first time that is the later part's.
    pub time: i64,
}

impl Seam {
    /// A cut over which time does not go back.
    fn none(cut: usize) -> Seam {
        Seam {
            start: cut,
            end: cut,
            cut,
            time: i64::MIN,
        }
    }

    /// Whether a line of the seam is the later part's.
    #[must_use]
    pub fn is_later(&self, place: usize, time: Option<i64>) -> bool {
        time.map_or(place >= self.cut, |time| time >= self.time)
    }
}

impl File {
    /// The seams at the start and the end of a part.
    #[must_use]
    pub fn seams_of(&self, part: usize) -> [Seam; 2] {
        [part, part + 1].map(|at| {
            let cut = self.cuts.get(at).copied().unwrap_or(0);
            self.seams.get(at).copied().unwrap_or(Seam::none(cut))
        })
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        self.input.bytes()
    }

    /// The place of a line as a number, for messages.
    #[must_use]
    pub fn location(&self, place: u64) -> Option<Location> {
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

/// How many lines the parts of a text have: whoever reads a part says so.
#[derive(Debug)]
pub struct LineCounts(Vec<AtomicU64>);

const NOT_COUNTED: u64 = u64::MAX;

impl LineCounts {
    /// For so many parts.
    #[must_use]
    pub fn new(parts: usize) -> LineCounts {
        LineCounts((0..parts).map(|_| AtomicU64::new(NOT_COUNTED)).collect())
    }

    /// How many lines a part has, if that is known.
    #[must_use]
    pub fn of(&self, part: usize) -> Option<u64> {
        let count = self.0.get(part)?.load(Ordering::Relaxed);
        (count != NOT_COUNTED).then_some(count)
    }

    /// A part has so many lines.
    pub fn set(&self, part: usize, count: u64) {
        if let Some(slot) = self.0.get(part) {
            slot.store(count, Ordering::Relaxed);
        }
    }
}

/// So many lines tell how the lines of a text end.
const LINES_OF_ENDS: usize = 64;

/// A copy of the text with lines that end in a newline alone, if all of its first ones end in CR LF, also those of
/// numbers: a name may end in CR itself. Lines keep their numbers.
#[must_use]
pub fn with_plain_ends(input: &Input) -> Option<Input> {
    let text = input.bytes();
    let mut calls = 0;
    for line in text
        .split_inclusive(|&byte| byte == b'\n')
        .take(LINES_OF_ENDS)
    {
        if line.last() != Some(&b'\n') {
            // The last one was cut off.
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

/// The line at `at` without its end, and where the next one starts.
#[inline]
#[must_use]
pub fn line_at(text: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
    let length = line_length(rest);
    Some((rest.get(..length)?, at + length + 1))
}

/// How many bytes of a line are looked at here, word by word: most lines end there, and a call for each costs more.
const NEAR_BYTES: usize = 96;

/// Where the line ends with which `rest` begins.
#[inline]
fn line_length(rest: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let near = rest.get(..NEAR_BYTES).unwrap_or(rest);
    let (words, _) = near.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let others = u64::from_le_bytes(*word) ^ (ONES * b'\n' as u64);
        // The lowest bit that is set is in the first byte that is zero now.
        let zeros = others.wrapping_sub(ONES) & !others & (ONES << 7);
        if zeros != 0 {
            return 8 * number + zeros.trailing_zeros() as usize / 8;
        }
    }
    let seen = 8 * words.len();
    let more = rest.get(seen..).unwrap_or(&[]);
    seen + memchr::memchr(b'\n', more).unwrap_or(more.len())
}

/// Longer lines count as this long where a way is limited: beyond a single huge text things go on as before it.
pub const LONG_LINE: usize = 1 << 16;

/// The lines that end before `at`, which is the start of a line, the latest first, with their places; about `limit`
/// bytes of them.
pub fn lines_before(text: &[u8], at: usize, limit: usize) -> impl Iterator<Item = (&[u8], usize)> {
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
        Some((before.get(start..)?, start))
    })
}

/// The lines after `at`, which is the start of a line, with their places; about `limit` bytes of them.
pub fn lines_after(text: &[u8], at: usize, limit: usize) -> impl Iterator<Item = (&[u8], usize)> {
    let mut left = limit;
    let mut next = at;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let (line, behind) = line_at(text, next)?;
        let place = next;
        left = left.saturating_sub((behind - next).min(LONG_LINE));
        next = behind;
        Some((line, place))
    })
}

/// The events after `at`, the start of a line, with their places, within about `limit` bytes.
pub fn events_after(
    text: &[u8],
    at: usize,
    limit: usize,
) -> impl Iterator<Item = (Payload<'_>, usize)> {
    lines_after(text, at, limit).filter_map(|(line, place)| Some((parse_line(line)?, place)))
}

/// What a line is to whoever follows calls.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// An event.
    Event(Payload<'a>),
    /// Events were lost.
    Hole,
}

impl<'a> Step<'a> {
    /// When it was; not known of holes.
    pub fn time(&self) -> Option<i64> {
        match self {
            Step::Event(event) => Some(event.time),
            Step::Hole => None,
        }
    }

    /// Whether it is about a task: a hole may be about any.
    pub fn is_of(&self, upid: i64) -> bool {
        match self {
            Step::Event(event) => event.upid == upid,
            Step::Hole => true,
        }
    }

    /// The events of a line, more than one where the tracer forgot the end of a line, or the hole that it tells of.
    pub fn of_line(line: &'a [u8]) -> impl Iterator<Item = Step<'a>> {
        let mut rest = Some(line);
        std::iter::from_fn(move || {
            let text = rest.take()?;
            match parse_line(text) {
                Some(event) => {
                    rest = (event.word == Word::ContEnd && !event.text.is_empty())
                        .then_some(event.text);
                    Some(Step::Event(event))
                }
                None => is_hole(text).then_some(Step::Hole),
            }
        })
    }
}

/// What stands where events were lost in a text that is made of lines of another recording, which counts them itself.
pub const HOLE: &[u8] = b"# lost";

/// Whether a line tells of lost events.
pub fn is_hole(line: &[u8]) -> bool {
    line == HOLE || (line.starts_with(b"CPU:") && parse_lost(line).is_some())
}

/// Cuts a text into parts of about `part_bytes`, at line ends, and where it can be had so that no time
/// after the cut is earlier than one before it: then the parts follow each other in time.
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

/// The lines around `at`, none of them before `least`.
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

/// A line start at or soon after `at` over which time does not go back.
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
    fn lines_are_found_backwards() {
        let text = b"a\nbb\n\nc\n";
        let found: Vec<_> = lines_before(text, 8, 100).collect();
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
    fn cuts_avoid_places_where_time_goes_back() {
        let mut text = String::new();
        let mut starts = Vec::new();
        for i in 0..1000 {
            // Every line but each tenth comes before its neighbour's time.
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
