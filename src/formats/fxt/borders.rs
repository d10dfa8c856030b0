//! Cuts a file into windows of equal size, each starting at a place that is very likely a record border.
//!
//! Borders can be found with certainty only by reading all headers from the start of the file: one thread does that at
//! 4 GB/s at best, and must read the whole file from the disk before anything else can start. So each border is guessed
//! from a few KB instead:
//!
//! ```text
//! window | ... | word word word word ...                                     | landing
//!                |____|_______|__________ plausible record after record _____|
//! ```
//!
//! Each word is tried as a header. Arguments and texts look like records too, but soon their sizes lead to a border of
//! real records, so nearly all chains leave the examined words at one place. The place where most chains end is the
//! guess; records before it belong to the previous window. `fold` compares a guess with the end of the previous part; a
//! wrong guess, in a damaged file or inside a blob, only costs a second summary of the part.

use crate::base::ByteOrder;
use crate::fxt::layout::{MOST_RECORD_WORDS, RECORD_TYPE, record_type};
use crate::fxt::words::{Words, size_bytes};

use super::profiler::read_profile;
use super::sniff::is_plausible;

/// Distance between the starts of windows, in bytes.
pub(crate) const PART_BYTES: u64 = 8 << 20;
/// Number of words that are tried as headers.
const LOOK_WORDS: usize = 1 << 10;
/// Minimum number of chains that must agree.
const LEAST_CHAINS: u16 = 8;
/// Minimum number of plausible records that must follow, unless the file ends before.
const LEAST_RECORDS: usize = 8;

/// The bytes of a part, before its records are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
    /// Whether `start` looks like a record border.
    pub has_border: bool,
}

/// Cuts a file into windows of about `part_bytes`.
#[must_use]
pub(crate) fn windows<O: ByteOrder>(bytes: &[u8], part_bytes: u64) -> Vec<Window> {
    let length = bytes.len() as u64;
    let part_bytes = part_bytes.max(8) / 8 * 8;
    let mut windows = vec![Window {
        start: 0,
        end: length,
        has_border: true,
    }];
    let mut start = part_bytes;
    while start < length {
        let border = likely_border(Words::<O>::new(bytes), start);
        let cut = border.unwrap_or(start);
        if cut >= length {
            break;
        }
        if let Some(last) = windows.last_mut() {
            last.end = cut;
        }
        windows.push(Window {
            start: cut,
            end: length,
            has_border: border.is_some(),
        });
        start = cut - cut % part_bytes + part_bytes;
    }
    windows
}

/// Returns whether a record with this header can start here.
fn can_be_record<O: ByteOrder>(header: u64, record: Words<'_, O>) -> bool {
    match RECORD_TYPE.get(header) {
        record_type::PROFILER => read_profile(record).is_some(),
        _ => is_plausible(header, record),
    }
}

/// Returns the length in words of the plausible record at a word index; `None` if there is none.
fn words_at<O: ByteOrder>(file: Words<'_, O>, index: usize) -> Option<usize> {
    let header = file.get(index)?;
    let words = size_bytes(header)? / 8;
    let record = file.from(index);
    let is_whole = words <= MOST_RECORD_WORDS && words <= record.count();
    (is_whole && can_be_record(header, record.up_to(words))).then_some(words)
}

/// Returns the place where most chains of plausible records leave the words that start at `from`.
fn likely_border<O: ByteOrder>(file: Words<'_, O>, from: u64) -> Option<u64> {
    let first = usize::try_from(from / 8).ok()?;
    let mut landings: Vec<Option<usize>> = vec![None; LOOK_WORDS];
    let mut counts = vec![0_u16; MOST_RECORD_WORDS + 1];
    // From the end, so that each chain continues a chain that is already known.
    for index in (0..LOOK_WORDS).rev() {
        let next = words_at(file, first + index).map(|words| index + words);
        let landing = next.and_then(|next| match next.checked_sub(LOOK_WORDS) {
            Some(behind) => Some(behind),
            None => landings.get(next).copied().flatten(),
        });
        if let Some(count) = landing.and_then(|landing| counts.get_mut(landing)) {
            *count += 1;
        }
        if let Some(entry) = landings.get_mut(index) {
            *entry = landing;
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    let landing = counts.iter().position(|count| *count == most)?;
    let border = first + LOOK_WORDS + landing;
    (most >= LEAST_CHAINS && continues(file, border)).then_some(border as u64 * 8)
}

/// Returns whether plausible records follow from a word index on.
fn continues<O: ByteOrder>(file: Words<'_, O>, mut index: usize) -> bool {
    for _ in 0..LEAST_RECORDS {
        if index >= file.count() {
            return true;
        }
        let Some(words) = words_at(file, index) else {
            return false;
        };
        index += words;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Little;

    /// Returns events with two arguments each, whose words are also headers of plausible records.
    fn events() -> Vec<u8> {
        let mut words = Vec::new();
        for time in 0..20_000_u64 {
            words.push(4 | 6 << 4 | 2 << 20 | 1 << 24 | 2 << 48);
            words.push(time);
            words.extend([4 | 2 << 4 | 3 << 16, 4 | 2 << 4]);
            words.extend([3 | 2 << 4 | 5 << 16, time]);
        }
        words
            .iter()
            .flat_map(|word: &u64| word.to_le_bytes())
            .collect()
    }

    #[test]
    fn windows_start_at_borders_and_cover_the_file() {
        let bytes = events();
        let windows = windows::<Little>(&bytes, 50_000);
        assert!(windows.len() > 10);
        for pair in windows.windows(2) {
            assert_eq!(pair[0].end, pair[1].start);
            assert!(pair[1].has_border);
            assert_eq!(pair[1].start % 48, 0, "records are of 48 bytes");
        }
        assert_eq!(windows[0].start, 0);
        assert_eq!(windows.last().unwrap().end, bytes.len() as u64);
    }

    #[test]
    fn bytes_without_records_have_no_border() {
        for filling in [0, 0xff, b'a'] {
            let bytes = vec![filling; 300_000];
            let windows = windows::<Little>(&bytes, 100_000);
            assert!(windows[1..].iter().all(|window| !window.has_border));
        }
    }
}
