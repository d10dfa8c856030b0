//! Converts nanoseconds since 1970 (UTC) to a date and a time of day, and dates to days (proleptic Gregorian calendar).
//!
//! Years start on 1 March here, so that the leap day is the last day of a year.

const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * SECOND;
/// Days from 1 March of the year 0 to 1970-01-01.
const EPOCH_DAY: i128 = 719_468;

/// Returns the time of day, e.g. `14:03:05.250`, with `decimals` decimals of a second (at most nine).
#[must_use]
pub(crate) fn clock_text(unix_ns: i128, decimals: usize) -> String {
    let in_day = unix_ns.rem_euclid(DAY);
    let seconds = in_day / SECOND;
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    let text = format!("{hours:02}:{minutes:02}:{:02}", seconds % 60);
    if decimals == 0 {
        return text;
    }
    let digits = format!("{:09}", in_day % SECOND);
    format!("{text}.{}", &digits[..decimals.min(9)])
}

/// Returns the date, e.g. `2026-11-21`.
#[must_use]
pub(crate) fn date_text(unix_ns: i128) -> String {
    let days = unix_ns.div_euclid(DAY) + EPOCH_DAY;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i128::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Returns date and time of day, e.g. `2026-11-21 14:03:05.250000000`.
#[must_use]
pub(crate) fn wall_text(unix_ns: i128) -> String {
    format!("{} {}", date_text(unix_ns), clock_text(unix_ns, 9))
}

/// Returns the days from 1970-01-01 to `date` (`YYYY-MM-DD`); `None` if there is no such day.
#[must_use]
pub(crate) fn days_since_1970(date: &str) -> Option<i64> {
    let mut parts = date.splitn(3, '-');
    let mut number = |most_digits: usize| {
        let part = parts.next()?;
        let is_number = part.len() <= most_digits && part.bytes().all(|b| b.is_ascii_digit());
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
    let (shifted, from_march) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let leap_days = shifted.div_euclid(4) - shifted.div_euclid(100) + shifted.div_euclid(400);
    Some(shifted * 365 + leap_days + (153 * from_march + 2) / 5 + day - 1 - EPOCH_DAY as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_there_and_back() {
        let days = days_since_1970;
        assert_eq!(days("1970-01-01"), Some(0));
        assert_eq!(days("2000-03-01"), Some(11_017));
        assert_eq!(days("2024-02-29"), Some(19_782));
        assert_eq!(days("0000-01-01"), Some(-719_528));
        for wrong in [
            "",
            "2023-02-29",
            "2023-13-01",
            "2023-011-1",
            "2023-00-10",
            "9999-12-31x",
        ] {
            assert_eq!(days(wrong), None, "{wrong}");
        }
        for date in [
            "1969-12-31",
            "2026-11-21",
            "2000-02-29",
            "0000-03-01",
            "9999-12-31",
        ] {
            let ns = i128::from(days(date).unwrap()) * DAY;
            assert_eq!(date_text(ns), date);
            assert_eq!(date_text(ns + DAY - 1), date);
        }
        assert_eq!(wall_text(-1), "1969-12-31 23:59:59.999999999");
        assert_eq!(clock_text(3_723 * SECOND + 250_000_000, 3), "01:02:03.250");
    }
}
