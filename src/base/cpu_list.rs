//! Which CPUs a user means: numbers and ranges in, as `trace-cmd report --cpu` takes them (`0,2-4`, `0:2`); whether one
//! is among them out.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// CPUs by their numbers; the empty list means all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuList {
    /// In the order in which they were given. They are not counted out: a range may be as long as numbers go.
    pub ranges: Vec<RangeInclusive<u32>>,
}

impl CpuList {
    /// Whether it means this CPU.
    #[must_use]
    pub fn contains(&self, cpu: u32) -> bool {
        self.ranges.is_empty() || self.ranges.iter().any(|range| range.contains(&cpu))
    }

    /// Whether it means all CPUs.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.ranges.is_empty()
    }
}

impl FromStr for CpuList {
    type Err = String;

    /// Errs where a part is no number and no range of numbers from low to high.
    fn from_str(text: &str) -> Result<CpuList, String> {
        let number = |text: &str| {
            let text = text.trim();
            text.parse::<u32>()
                .map_err(|_| format!("'{text}' is no CPU: it takes numbers and ranges, e.g. 0,2-4"))
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
