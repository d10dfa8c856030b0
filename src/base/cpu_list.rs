//! A list of CPUs as a user types it: numbers and ranges in the syntax of `trace-cmd report --cpu` (`0,2-4`, `0:2`).

use std::ops::RangeInclusive;
use std::str::FromStr;

/// A set of CPU numbers; the empty list means all CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuList {
    /// Ranges in the order in which they were given. Not expanded to numbers: a range may be as long as `u32` allows.
    pub ranges: Vec<RangeInclusive<u32>>,
}

impl CpuList {
    /// Returns whether the list includes this CPU.
    #[must_use]
    pub fn contains(&self, cpu: u32) -> bool {
        self.ranges.is_empty() || self.ranges.iter().any(|range| range.contains(&cpu))
    }

    /// Returns whether the list means all CPUs.
    #[must_use]
    pub(crate) fn is_all(&self) -> bool {
        self.ranges.is_empty()
    }
}

impl FromStr for CpuList {
    type Err = String;

    /// Errors if a part is neither a number nor a range from low to high.
    fn from_str(text: &str) -> Result<CpuList, String> {
        let number = |text: &str| {
            let text = text.trim();
            text.parse::<u32>().map_err(|_| {
                format!("'{text}': expected numbers of CPUs and ranges, such as 0,2-4")
            })
        };
        let range = |part: &str| match part.split_once('-') {
            Some((low, high)) => {
                let (low, high) = (number(low)?, number(high)?);
                match low <= high {
                    true => Ok(low..=high),
                    false => Err(format!("the CPUs {low}-{high} must go from low to high")),
                }
            }
            None => number(part).map(|cpu| cpu..=cpu),
        };
        let ranges = text.split([',', ':']).map(range);
        Ok(CpuList {
            ranges: ranges.collect::<Result<_, String>>()?,
        })
    }
}
