//! Converts words to numbers: error names, signals and open flags, with Linux's numbers on x86.
//!
//! MINIX texts also get Linux's numbers, although some numbers of MINIX differ, so that tables have the same meaning
//! for all formats; the text of a call keeps the words.

use crate::base::error_numbers;

/// Open flags (x86).
const OPEN_FLAGS: &[(&str, u32)] = &[
    ("O_RDONLY", 0),
    ("O_WRONLY", 0o1),
    ("O_RDWR", 0o2),
    ("O_ACCMODE", 0o3),
    ("O_CREAT", 0o100),
    ("O_EXCL", 0o200),
    ("O_NOCTTY", 0o400),
    ("O_TRUNC", 0o1000),
    ("O_APPEND", 0o2000),
    ("O_NONBLOCK", 0o4000),
    ("O_NDELAY", 0o4000),
    ("O_DSYNC", 0o10000),
    ("FASYNC", 0o20000),
    ("O_ASYNC", 0o20000),
    ("O_DIRECT", 0o40000),
    ("O_LARGEFILE", 0o100_000),
    ("O_DIRECTORY", 0o200_000),
    ("O_NOFOLLOW", 0o400_000),
    ("O_NOATIME", 0o1_000_000),
    ("O_CLOEXEC", 0o2_000_000),
    ("__O_SYNC", 0o4_000_000),
    ("O_SYNC", 0o4_010_000),
    ("O_PATH", 0o10_000_000),
    ("__O_TMPFILE", 0o20_000_000),
    ("O_TMPFILE", 0o20_200_000),
];

/// Returns the number of an error given by name (`ENOENT` is 2) or as a number; aliases are known.
#[must_use]
pub(crate) fn error_number(name: &[u8]) -> Option<i32> {
    match super::values::plain_number(name) {
        Some(number) => i32::try_from(number).ok(),
        None => error_numbers::number(name),
    }
}

/// Returns the number of a signal given as `SIGTERM`, `SIGRT_3`, `SIGRTMIN` or `15`.
#[must_use]
pub(crate) fn signal_number(name: &[u8]) -> Option<i32> {
    if let Some(number) = super::values::plain_number(name) {
        return i32::try_from(number).ok();
    }
    let short = name.strip_prefix(b"SIG")?;
    if short == b"RTMIN" {
        return Some(32);
    }
    if let Some(number) = short.strip_prefix(b"RT_") {
        let number = i32::try_from(super::values::plain_number(number)?).ok()?;
        return number.checked_add(32).filter(|&number| number <= 64);
    }
    if short.is_empty() {
        return None;
    }
    crate::base::signals::SIGNALS
        .iter()
        .position(|signal| signal.as_bytes() == short)
        .and_then(|number| i32::try_from(number).ok())
}

/// Returns open flags as a number; unknown words are ignored.
#[must_use]
pub(crate) fn open_flags(words: &[u8]) -> u32 {
    words
        .split(|&b| b == b'|')
        .map(|word| {
            let known = OPEN_FLAGS.iter().find(|(name, _)| name.as_bytes() == word);
            match known {
                Some((_, value)) => *value,
                None => super::values::integer(word)
                    .and_then(|number| u32::try_from(number).ok())
                    .unwrap_or(0),
            }
        })
        .fold(0, |all, flag| all | flag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_kernels_numbers() {
        assert_eq!(error_number(b"ENOENT"), Some(2));
        assert_eq!(error_number(b"EHWPOISON"), Some(133));
        assert_eq!(error_number(b"ENOTSUP"), Some(95));
        assert_eq!(error_number(b"123"), Some(123));
        assert_eq!(error_number(b""), None);
        assert_eq!(signal_number(b"SIGTERM"), Some(15));
        assert_eq!(signal_number(b"SIGSYS"), Some(31));
        assert_eq!(signal_number(b"SIGRT_1"), Some(33));
        assert_eq!(signal_number(b"33"), Some(33));
        assert_eq!(signal_number(b"SIGWHAT"), None);
        assert_eq!(open_flags(b"O_RDONLY|O_CLOEXEC"), 0o2_000_000);
        assert_eq!(open_flags(b"O_WRONLY|O_CREAT|O_TRUNC|0x8"), 0o1101 | 8);
    }
}
