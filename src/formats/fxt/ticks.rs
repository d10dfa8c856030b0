//! Converts clock ticks to nanoseconds: exactly, rounded down, and without a division.
//!
//! `ticks * numerator / denominator` is estimated by a 64.64 fixed-point product, which is too small by at most one,
//! and corrected by the remainder. So errors do not accumulate at any rate.

use serde::{Deserialize, Serialize};

/// A provider's tick rate, prepared for conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TickScale {
    ticks_per_second: u64,
    numerator: u64,
    denominator: u64,
    /// `numerator / denominator`: the integer part, and the fraction in units of 2^-64.
    whole: u64,
    fraction: u64,
}

impl TickScale {
    /// One tick is one nanosecond: the default for providers without a rate.
    pub(crate) const NANOSECONDS: TickScale = TickScale {
        ticks_per_second: 1_000_000_000,
        numerator: 1,
        denominator: 1,
        whole: 1,
        fraction: 0,
    };

    /// Returns the scale for a rate; with a rate of 0 no tick has a time.
    #[must_use]
    pub(crate) fn new(ticks_per_second: u64) -> TickScale {
        if ticks_per_second == 0 {
            return TickScale {
                ticks_per_second,
                numerator: 0,
                denominator: 0,
                whole: 0,
                fraction: 0,
            };
        }
        let divisor = gcd(1_000_000_000, ticks_per_second);
        let numerator = 1_000_000_000 / divisor;
        let denominator = ticks_per_second / divisor;
        let rest = u128::from(numerator % denominator) << 64;
        TickScale {
            ticks_per_second,
            numerator,
            denominator,
            whole: numerator / denominator,
            fraction: (rest / u128::from(denominator)) as u64,
        }
    }

    /// The rate in ticks per second.
    #[must_use]
    pub(crate) fn ticks_per_second(&self) -> u64 {
        self.ticks_per_second
    }

    /// Returns the time of a tick in ns; `None` if it is outside the time axis, or the rate is 0.
    #[inline]
    #[must_use]
    pub(crate) fn nanos(&self, ticks: u64) -> Option<i64> {
        // The remainder exceeds 64 bits only at rates of 2^63 and above.
        if self.denominator.wrapping_sub(1) >= (1 << 63) - 1 {
            return self.nanos_of_odd_rate(ticks);
        }
        let guess = u128::from(ticks) * u128::from(self.whole)
            + ((u128::from(ticks) * u128::from(self.fraction)) >> 64);
        if guess > i64::MAX as u128 {
            return None;
        }
        let guess = guess as u64;
        let rest = ticks
            .wrapping_mul(self.numerator)
            .wrapping_sub(guess.wrapping_mul(self.denominator));
        let exact = guess + u64::from(rest >= self.denominator);
        i64::try_from(exact).ok()
    }

    #[cold]
    fn nanos_of_odd_rate(&self, ticks: u64) -> Option<i64> {
        let product = u128::from(ticks) * u128::from(self.numerator);
        i64::try_from(product.checked_div(u128::from(self.denominator))?).ok()
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rate_is_exact() {
        let rates = [
            1,
            3,
            1000,
            1_000_000,
            19_200_000,
            24_000_000,
            1_000_000_000,
            2_000_000_000,
            2_099_636_833,
            3_999_999_999,
            (1 << 63) - 1,
            1 << 63,
            u64::MAX,
        ];
        let mut state = 7_u64;
        for rate in rates {
            let scale = TickScale::new(rate);
            for round in 0..2000 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let ticks = match round {
                    0 => 0,
                    1 => u64::MAX,
                    2 => rate,
                    3 => rate - 1,
                    n => state >> (n % 60),
                };
                let exact = u128::from(ticks) * 1_000_000_000 / u128::from(rate);
                assert_eq!(
                    scale.nanos(ticks),
                    i64::try_from(exact).ok(),
                    "{ticks} at {rate}"
                );
            }
        }
        assert_eq!(TickScale::new(0).nanos(0), None);
        assert_eq!(TickScale::NANOSECONDS, TickScale::new(1_000_000_000));
    }
}
