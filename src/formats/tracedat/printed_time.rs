//! Formats of times in the report.

use super::print_fmt::printf::{pad_left, push_decimal, push_many};

/// Unit and form in which a time is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// `1.234567890`
    Nanoseconds,
    /// `1.234568`
    Microseconds,
    /// `1234567890`, if the clock does not count seconds.
    Counts,
}

/// Appends a time as it is printed in the report's lines.
pub(crate) fn push_time(out: &mut Vec<u8>, time: u64, times: Times) {
    let (unit, digits) = match times {
        Times::Nanoseconds => (1_000_000_000, 9),
        Times::Microseconds => (1_000_000, 6),
        Times::Counts => {
            let start = out.len();
            push_decimal(out, time);
            return pad_left(out, start, 12);
        }
    };
    let time = if times == Times::Microseconds {
        time.wrapping_add(500) / 1000
    } else {
        time
    };
    let seconds = time / unit;
    push_many(out, b' ', 5_usize.saturating_sub(decimal_digits(seconds)));
    push_decimal(out, seconds);
    out.push(b'.');
    let mut rest = (time % unit) as u32;
    let mut fraction = [b'0'; 9];
    for slot in fraction.iter_mut().take(digits).rev() {
        *slot = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(fraction.get(..digits).unwrap_or(&fraction));
}

/// Returns the number of decimal digits of `value`, at most 5.
fn decimal_digits(value: u64) -> usize {
    match value {
        0..10 => 1,
        10..100 => 2,
        100..1000 => 3,
        1000..10_000 => 4,
        _ => 5,
    }
}
