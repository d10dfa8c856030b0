//! What the user states about files because the files do not contain it: their format, and the date of their times of
//! day.

use std::path::{Path, PathBuf};

use crate::base::Job;
use crate::base::calendar::{date_text, days_since_1970};
use crate::base::{Problem, ReadError, budget};
use crate::formats::compression::{unwrapped_head, wrapping};
use crate::formats::{FORMATS, Format, Input, Recording, Sniff};

use super::detection::{HEAD_BYTES, WIDE_HEAD_BYTES, detect};
use super::growing::whole_lines;

/// If the user named a format, it is searched for in this number of bytes at the start of a stream.
pub(super) const EXAMINED_BYTES: usize = 64 << 20;

/// Whether files are expected to grow while they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// The files are complete.
    #[default]
    Unexpected,
    /// The files are being written: an incomplete last line is read later, and growth is not reported.
    Expected,
}

/// Whether traces that processes of a recorded build wrote are opened with the recording, and where they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompilerTraces {
    /// At the paths that the recording names, otherwise below the recording's folder.
    #[default]
    Beside,
    /// Below this folder.
    In(&'static Path),
    /// Traces of compilers are not opened.
    LeftOut,
}

impl CompilerTraces {
    /// The traces below a folder. The path is kept until the program ends.
    #[must_use]
    pub fn below(folder: PathBuf) -> CompilerTraces {
        CompilerTraces::In(Box::leak(folder.into_boxed_path()))
    }
}

/// Settings for reading files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Midnight of the first day, for texts that have times without a date: ns since the Unix epoch.
    pub midnight_ns: Option<i64>,
    /// The name of the format; `None`: the format is detected.
    pub format: Option<&'static str>,
    /// Whether the files are expected to grow.
    pub growth: Growth,
    /// Where traces are that processes of a recorded build wrote.
    pub compiler_traces: CompilerTraces,
}

impl Reading {
    /// Returns the format of these bytes: the one that the user named, otherwise the detected one.
    ///
    /// # Errors
    /// If no format is detected, or no format has the name that the user gave.
    pub(super) fn format_of(self, head: &[u8]) -> Result<&'static Format, ReadError> {
        match self.format {
            None => detect(head),
            Some(name) => FORMATS
                .iter()
                .find(|format| format.name == name)
                .ok_or_else(|| {
                    let problem = Problem::Other(format!("there is no format '{name}'"));
                    ReadError::at_byte(0, "file", problem)
                }),
        }
    }

    /// Returns whether the first bytes of a stream are recognised, in the format that the user named or in any format;
    /// `false` if more bytes are needed.
    ///
    /// # Errors
    ///
    /// Errors if there are enough bytes to be sure that they do not.
    pub(super) fn head_is_known(self, bytes: &[u8]) -> Result<bool, ReadError> {
        if bytes.len() < HEAD_BYTES {
            return Ok(false);
        }
        if bytes.len() >= EXAMINED_BYTES {
            self.require_format(bytes)?;
            return Ok(true);
        }
        let is_wide = bytes.len() >= WIDE_HEAD_BYTES;
        let length = if is_wide { WIDE_HEAD_BYTES } else { HEAD_BYTES };
        let head = bytes.get(..length).unwrap_or(bytes);
        let head = unwrapped_head(head.to_vec(), length);
        match self.format_of(&head) {
            Ok(format) => Ok(self.format.is_none() || (format.sniff)(&head) != Sniff::No),
            Err(error) if is_wide => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// Errors if the user named a format that is recognised nowhere in the first bytes of a stream. Other text may come
    /// before a trace and between its lines, but a stream that contains only other text may have no end.
    ///
    /// # Errors
    ///
    /// With the offset up to which the stream was read.
    pub(super) fn require_format(self, bytes: &[u8]) -> Result<(), ReadError> {
        if self.format.is_none() {
            return Ok(());
        }
        let format = self.format_of(bytes)?;
        let at = bytes.len() as u64;
        let unpacked;
        let plain = match wrapping(bytes) {
            None => bytes,
            Some(_) => {
                budget::require(2 * EXAMINED_BYTES as u64)
                    .map_err(|problem| ReadError::at_byte(at, "file", problem))?;
                unpacked = unwrapped_head(bytes.to_vec(), EXAMINED_BYTES);
                &unpacked
            }
        };
        // Binary formats start at the first byte: random bytes elsewhere may look like a few records.
        let is_text = |window: &[u8]| memchr::memchr(0, window).is_none();
        let may_be_one = |(at, window): (usize, &[u8])| {
            (at == 0 || is_text(window)) && (format.sniff)(window) != Sniff::No
        };
        if plain.chunks(HEAD_BYTES).enumerate().any(may_be_one) {
            return Ok(());
        }
        let problem = Problem::Other(format!(
            "nothing in the first {} MB looks like {}, and the input may have no end: to read it anyway, save it as a file",
            bytes.len() >> 20,
            format.name
        ));
        Err(ReadError::at_byte(at, "file", problem))
    }

    /// Opens a file: detects its format and reads its head.
    pub(super) fn open(self, mut input: Input, job: &Job) -> Result<Recording, ReadError> {
        input.midnight_ns = self.midnight_ns;
        if self.growth == Growth::Expected {
            input = whole_lines(input);
        }
        let bytes = input.bytes();
        let head = |length: usize| bytes.get(..length).unwrap_or(bytes);
        // Other text may come before a trace.
        let format = match self.format_of(head(HEAD_BYTES)) {
            Err(_) if bytes.len() > HEAD_BYTES => self.format_of(head(WIDE_HEAD_BYTES))?,
            found => found?,
        };
        format.open(input, job)
    }
}

/// Returns the format that `word` names: by its name, a part of the name, or a file name extension.
#[must_use]
pub fn format_named(word: &str) -> Option<&'static Format> {
    let wanted = word.to_lowercase();
    let name = |format: &&Format| format.name.to_lowercase();
    let mut formats = FORMATS.iter();
    formats
        .find(|format| name(format) == wanted || format.extensions.contains(&wanted.as_str()))
        .or_else(|| {
            let mut parts = FORMATS
                .iter()
                .filter(|format| name(format).contains(&wanted));
            parts
                .next()
                .filter(|_| parts.next().is_none() && !wanted.is_empty())
        })
}

/// Returns midnight of `YYYY-MM-DD` in ns since the Unix epoch, UTC unless a zone follows (`YYYY-MM-DD+02:00`); `None`
/// if there is no such day.
#[must_use]
pub fn midnight_of(date: &str) -> Option<i64> {
    let (day, zone) = date.trim().split_at_checked(10)?;
    let midnight = days_since_1970(day)?.checked_mul(86_400)?;
    let east = zone_seconds(zone)?;
    midnight.checked_sub(east)?.checked_mul(1_000_000_000)
}

/// Returns the text of a first day; if the midnight is not UTC's, with the zone that fits and is nearest to UTC.
#[must_use]
pub(crate) fn first_day_text(midnight_ns: i64) -> String {
    let minutes = midnight_ns.div_euclid(60_000_000_000);
    // Clocks are at most 12 hours behind UTC and at most 14 hours ahead.
    let behind = minutes.rem_euclid(1_440);
    let (east, sign) = match behind {
        0..=720 => (-behind, '-'),
        _ => (1_440 - behind, '+'),
    };
    let day = date_text(i128::from(minutes + east) * 60_000_000_000);
    match east.abs() {
        0 => day,
        zone => format!("{day}{sign}{:02}:{:02}", zone / 60, zone % 60),
    }
}

/// Returns the seconds that a zone (`+HH:MM`) is ahead of UTC; `None` if it is not valid.
fn zone_seconds(zone: &str) -> Option<i64> {
    let (sign, clock) = match zone.as_bytes().first() {
        None => return Some(0),
        Some(b'Z') if zone.len() == 1 => return Some(0),
        Some(b'+') => (1, zone.get(1..)?),
        Some(b'-') => (-1, zone.get(1..)?),
        Some(_) => return None,
    };
    let (hours, minutes) = clock.split_once(':')?;
    let number = |text: &str, end: i64| {
        let is_number = text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
        let number = text.parse::<i64>().ok().filter(|_| is_number)?;
        (number < end).then_some(number)
    };
    Some(sign * (number(hours, 15)? * 3_600 + number(minutes, 60)? * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_become_midnights() {
        let days = |date: &str| midnight_of(date).map(|ns| ns / (86_400 * 1_000_000_000));
        assert_eq!(days("1970-01-01"), Some(0));
        assert_eq!(days("2000-03-01"), Some(11_017));
        assert_eq!(days("2026-11-21"), Some(20_778));
        assert_eq!(days("2024-02-29"), Some(19_782));
        for text in [
            "2026-11-21",
            "1969-12-31",
            "2026-11-21+05:30",
            "2026-11-21-08:00",
        ] {
            assert_eq!(first_day_text(midnight_of(text).unwrap()), text);
        }
        let zoned = |date: &str| midnight_of(date).map(|ns| ns / 1_000_000_000);
        assert_eq!(zoned("1970-01-02Z"), Some(86_400));
        assert_eq!(zoned("1970-01-02+02:30"), Some(86_400 - 9_000));
        assert_eq!(zoned("1970-01-02-05:00"), Some(86_400 + 18_000));
        for wrong in [
            "",
            "2023-02-29",
            "2023-13-01",
            "2023-1-1",
            "21.11.2026",
            "2023-00-10",
            "9999-12-31x",
            "2026-11-21+2",
            "2026-11-21+02:60",
            "2026-11-21+0200",
            "2026-11-2é",
        ] {
            assert_eq!(days(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn formats_are_named_by_name_part_or_ending() {
        assert_eq!(format_named("strace").unwrap().name, "strace");
        assert_eq!(format_named("MINIX").unwrap().name, "MINIX trace(1)");
        assert_eq!(format_named("dat").unwrap().name, "trace-cmd (trace.dat)");
        assert!(format_named("trace").is_none_or(|format| format.extensions.contains(&"trace")));
        assert!(format_named("").is_none());
    }
}
