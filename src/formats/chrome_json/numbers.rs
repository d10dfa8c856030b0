//! Parses numbers from decimal text: times in ns, ids and counters.
//!
//! A time is a decimal number of microseconds and never becomes a float here: `1.5`, `"1.5"`, `15e-1` are 1,500 ns
//! each. Decimals beyond the third are kept to a billionth of a nanosecond. A begin and an end are then rounded to the
//! nearest ns independently (halves up), so that rounding never moves a slice out of the slice around it.

/// Billionths of a nanosecond in one nanosecond.
const PER_NS: i128 = 1_000_000_000;
/// Number of digits after the point that are kept, of a number in microseconds.
const MOST_DECIMALS: i32 = 12;

/// A time or duration, exact to a billionth of a nanosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Micros {
    /// Whole nanoseconds, rounded down.
    ns: i64,
    /// The fraction of a nanosecond, in billionths; below 10^9.
    rest: u32,
}

impl Micros {
    /// Returns the time for decimal microseconds; `None` if the text is not a number, or ns in 64 bits cannot store it.
    #[inline]
    pub(super) fn parse(text: &[u8]) -> Option<Micros> {
        match plain_ns(text) {
            Some(ns) => Some(Micros { ns, rest: 0 }),
            None => Micros::parse_any(text),
        }
    }

    #[cold]
    fn parse_any(text: &[u8]) -> Option<Micros> {
        let scaled = scaled(text.trim_ascii(), MOST_DECIMALS)?;
        Some(Micros {
            ns: i64::try_from(scaled.div_euclid(PER_NS)).ok()?,
            rest: scaled.rem_euclid(PER_NS) as u32,
        })
    }

    /// Returns the time in ns, rounded to the nearest, halves up; `None` if it exceeds 64 bits.
    #[inline]
    pub(super) fn rounded(self) -> Option<i64> {
        match self.rest {
            0 => Some(self.ns),
            rest => self.ns.checked_add(i64::from(rest >= 500_000_000)),
        }
    }

    /// Returns the sum of both times; `None` if it exceeds 64 bits.
    #[inline]
    pub(super) fn plus(self, later: Micros) -> Option<Micros> {
        let rest = self.rest + later.rest;
        let is_over = rest >= PER_NS as u32;
        Some(Micros {
            ns: (self.ns.checked_add(later.ns)?).checked_add(i64::from(is_over))?,
            rest: if is_over { rest - PER_NS as u32 } else { rest },
        })
    }

    /// Returns whether a duration is below 0.
    pub(super) fn is_negative(self) -> bool {
        self.ns < 0
    }
}

/// Returns decimal microseconds with at most three decimals as ns; `None` for all other texts.
#[inline]
fn plain_ns(text: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match text.split_first()? {
        (b'-', digits) => (true, digits),
        _ => (false, text),
    };
    // 16 digits of microseconds and 3 of ns fit into 64 bits.
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let (whole, rest) = leading_digits(digits, 0);
    let ns = match rest {
        [] => whole.checked_mul(1000)?,
        [b'.', decimals @ ..] => {
            let (number, rest) = leading_digits(decimals, whole);
            if !rest.is_empty() {
                return None;
            }
            match decimals.len() {
                1 => number.checked_mul(100)?,
                2 => number.checked_mul(10)?,
                3 => number,
                _ => return None,
            }
        }
        _ => return None,
    };
    let ns = i64::try_from(ns).ok()?;
    Some(if is_negative { -ns } else { ns })
}

/// Appends the digits at the start of a text of at most 19 bytes to `number`; returns the new number and the remaining
/// text.
#[inline]
fn leading_digits(text: &[u8], mut number: u64) -> (u64, &[u8]) {
    let mut rest = text;
    while let [byte, behind @ ..] = rest
        && byte.is_ascii_digit()
    {
        number = number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
        rest = behind;
    }
    (number, rest)
}

/// Returns a decimal number times 1000 times 10^(`decimals` - 3), rounded down; `None` if the text is not a number or
/// too large.
fn scaled(text: &[u8], decimals: i32) -> Option<i128> {
    let (is_negative, mut rest) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    let mut mantissa = 0_i128;
    // The mantissa is multiplied by this power of ten.
    let mut power = decimals;
    let (mut has_digit, mut has_point, mut is_cut) = (false, false, false);
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'0'..=b'9' => {
                has_digit = true;
                if mantissa < 1_000_000_000_000_000_000_000_000_000_000 {
                    mantissa = mantissa * 10 + i128::from(byte - b'0');
                    power = power.saturating_sub(i32::from(has_point));
                } else {
                    is_cut |= byte != b'0';
                    power = power.saturating_add(i32::from(!has_point));
                }
            }
            b'.' if !has_point => has_point = true,
            _ => break,
        }
        rest = after;
    }
    if !has_digit {
        return None;
    }
    if let Some((b'e' | b'E', exponent)) = rest.split_first() {
        let exponent = std::str::from_utf8(exponent).ok()?;
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        // An exponent too large for 32 bits makes the number too large, or 0.
        let exponent = exponent.parse::<i32>().unwrap_or_else(|_| {
            let is_small = exponent.starts_with('-');
            if is_small { i32::MIN } else { i32::MAX }
        });
        power = power.saturating_add(exponent);
    } else if !rest.is_empty() {
        return None;
    }
    if mantissa == 0 {
        return Some(0);
    }
    let mut lost = is_cut;
    if power >= 0 {
        let factor = 10_i128.checked_pow(u32::try_from(power).ok()?)?;
        mantissa = mantissa.checked_mul(factor)?;
    } else {
        let divisor = 10_i128.checked_pow(power.unsigned_abs());
        let whole = divisor.map_or(0, |divisor| mantissa / divisor);
        lost |= divisor.is_none_or(|divisor| whole * divisor != mantissa);
        mantissa = whole;
    }
    Some(match is_negative {
        true => -mantissa - i128::from(lost),
        false => mantissa,
    })
}

/// Returns a whole number, in decimal or `0x` notation; `None` if the text is not one, or exceeds 64 bits.
#[inline]
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    // Nearly all numbers.
    if (1..=19).contains(&text.len())
        && let (number, []) = leading_digits(text, 0)
    {
        return Some(number);
    }
    large_or_hex(text)
}

#[cold]
fn large_or_hex(text: &[u8]) -> Option<u64> {
    if let Some(digits) = text.strip_prefix(b"0x").or(text.strip_prefix(b"0X")) {
        return hex(digits);
    }
    if text.is_empty() || text.len() > 20 {
        return None;
    }
    let mut number = 0_u64;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(number)
}

fn hex(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let mut number = 0_u64;
    for &byte in digits {
        number = number << 4 | u64::from((byte as char).to_digit(16)?);
    }
    Some(number)
}

/// Returns a whole number that may be written with a point or an exponent (`12.0`, `1e3`); `None` if it has decimals
/// other than 0, is negative, or exceeds 64 bits.
pub(super) fn whole_of_any(text: &[u8]) -> Option<u64> {
    let plain = whole(text);
    if plain.is_some() {
        return plain;
    }
    let text = text.trim_ascii();
    let thousandths = scaled(text, 3)?;
    (thousandths % 1000 == 0)
        .then(|| u64::try_from(thousandths / 1000).ok())
        .flatten()
}

/// Returns a number as a float; `None` if the text is not a number.
#[inline]
pub(super) fn float(text: &[u8]) -> Option<f64> {
    if let Some(small) = whole(text)
        && small < 1 << 53
    {
        return Some(small as f64);
    }
    let text = std::str::from_utf8(text).ok()?.trim();
    // Rust also parses words that JSON writers use for special values: `NaN`, `Infinity`, `-inf`.
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(text: &str) -> Option<i64> {
        Micros::parse(text.as_bytes())?.rounded()
    }

    #[test]
    fn times_are_exact() {
        for (text, expected) in [
            ("0", 0),
            ("1", 1_000),
            ("-1.5", -1_500),
            ("1.001", 1_001),
            ("1727740800123456.789", 1_727_740_800_123_456_789),
            ("9223372036854775.807", i64::MAX),
            ("-9223372036854775.808", i64::MIN),
            ("1.5e3", 1_500_000),
            ("15E-1", 1_500),
            (" 2.5 ", 2_500),
            ("0.0004", 0),
            ("0.0005", 1),
            ("-0.0005", 0),
            ("-0.00051", -1),
            ("1.2344999999999999", 1_234),
            ("1234567.8900000001", 1_234_567_890),
            ("0.00000000000000000000000000000000000000000000000001", 0),
            ("1e-400", 0),
            ("0e999999999999", 0),
        ] {
            assert_eq!(ns(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "-",
            ".",
            "1.2.3",
            "x",
            "1e",
            "9223372036854775.808",
            "1e99",
            "0x10",
            "1e99999999999",
        ] {
            assert_eq!(ns(text), None, "{text}");
        }
    }

    #[test]
    fn rounding_keeps_a_child_inside_its_parent() {
        let parse = |text: &str| Micros::parse(text.as_bytes()).unwrap();
        let end = |start: &str, length: &str| {
            let end = parse(start).plus(parse(length)).unwrap();
            end.rounded().unwrap()
        };
        // If start and duration were rounded separately, the child would end 1 ns after its parent.
        assert_eq!(end("10.0005", "1.0005"), 11_001);
        assert_eq!(end("10", "1.001"), 11_001);
    }

    #[test]
    fn ids_are_whole_numbers() {
        assert_eq!(whole(b"0x1f"), Some(31));
        assert_eq!(whole(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(whole(b"18446744073709551616"), None);
        assert_eq!(whole(b"-1"), None);
        assert_eq!(whole(b""), None);
        assert_eq!(whole_of_any(b"12.0"), Some(12));
        assert_eq!(whole_of_any(b"1e3"), Some(1000));
        assert_eq!(whole_of_any(b"12.5"), None);
        assert_eq!(whole_of_any(b"stream 7"), None);
        assert_eq!(float(b"-2.5"), Some(-2.5));
        assert_eq!(float(b"NaN").map(f64::is_nan), Some(true));
    }
}
