//! What the user says of files that they do not say themselves: their format, and the date of times of day.

use crate::base::Job;
use crate::base::{Problem, ReadError};
use crate::formats::format::BoxedReader;
use crate::formats::{FORMATS, Format, Input};

use super::{HEAD_BYTES, detect};

/// How files are to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Midnight of the first day, for texts that have times without a date: ns since the Unix epoch.
    pub midnight_ns: Option<i64>,
    /// The name of the format, where its detection is not to be trusted.
    pub format: Option<&'static str>,
}

impl Reading {
    /// The format of these bytes: the one that the user named, else the one that is surest.
    ///
    /// # Errors
    /// If no format knows them.
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

    /// Opens a file's head.
    pub(super) fn open(self, mut input: Input, job: &Job) -> Result<BoxedReader, ReadError> {
        input.midnight_ns = self.midnight_ns;
        let length = input.bytes().len().min(HEAD_BYTES);
        let format = self.format_of(&input.bytes()[..length])?;
        (format.open)(input, job)
    }
}

/// The format that `word` means: its name, a part of it, or one of its file name endings.
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

/// Midnight (UTC) of `YYYY-MM-DD` in ns since the Unix epoch; `None` if there is no such day.
#[must_use]
pub fn midnight_of(date: &str) -> Option<i64> {
    let mut parts = date.trim().splitn(3, '-');
    let mut number = |digits: usize| {
        let part = parts.next()?;
        let is_number = part.len() == digits && part.bytes().all(|b| b.is_ascii_digit());
        part.parse::<i64>().ok().filter(|_| is_number)
    };
    let (year, month, day) = (number(4)?, number(2)?, number(2)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=longest).contains(&day) {
        return None;
    }
    // Years that begin in March: the day that comes and goes is then the last one.
    let (shifted, from_march) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let leap_days = shifted / 4 - shifted / 100 + shifted / 400;
    let days = shifted * 365 + leap_days + (153 * from_march + 2) / 5 + day - 1;
    let since_epoch = days - 719_468;
    since_epoch.checked_mul(86_400 * 1_000_000_000)
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
        for wrong in [
            "",
            "2023-02-29",
            "2023-13-01",
            "2023-1-1",
            "21.11.2026",
            "2023-00-10",
            "9999-12-31x",
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
