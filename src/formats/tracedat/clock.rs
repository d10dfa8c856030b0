//! Converts raw time stamps to times on the trace's own clock.
//!
//! ```text
//! raw -> TIME_SHIFT (a guest's clock to its host's) -> TSC2NSEC (cycles to ns) -> + OFFSET + DATE
//! ```

use super::options::{Options, ShiftSample, TscToNs};
use crate::event::clocks::kernel_clock;
use crate::event::part::ClockUnit;

/// Returns the unit of the clock `name`. With `tsc_to_ns`, cycles are converted and the unit is ns.
#[must_use]
pub(crate) fn unit_of_clock(name: &str, tsc_to_ns: Option<TscToNs>) -> ClockUnit {
    match kernel_clock(name).unit {
        ClockUnit::Cycles if tsc_to_ns.is_some() => ClockUnit::Nanoseconds,
        unit => unit,
    }
}

/// Converts the raw times of one CPU to times of the trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeMap {
    samples: Vec<ShiftSample>,
    is_interpolated: bool,
    tsc_to_ns: Option<TscToNs>,
    add_ns: i64,
}

impl TimeMap {
    /// Returns the conversion for `cpu` that the file's options describe.
    #[must_use]
    pub fn new(options: &Options, cpu: u32) -> TimeMap {
        let shift = options.time_shift.as_ref();
        TimeMap {
            samples: shift
                .and_then(|shift| shift.cpus.get(cpu as usize))
                .cloned()
                .unwrap_or_default(),
            is_interpolated: shift.is_some_and(|shift| shift.flags & 1 != 0),
            tsc_to_ns: options.tsc_to_ns.filter(|tsc| tsc.mult != 0),
            add_ns: options
                .offset_ns
                .saturating_add(options.date_ns.unwrap_or(0)),
        }
    }

    /// Returns the same conversion without OFFSET and DATE.
    #[must_use]
    pub(crate) fn without_date(self) -> TimeMap {
        TimeMap { add_ns: 0, ..self }
    }

    /// Returns the number of ns to add to a raw time, if the conversion is only this addition.
    #[must_use]
    pub(crate) fn plain_offset(&self) -> Option<i64> {
        (self.samples.is_empty() && self.tsc_to_ns.is_none()).then_some(self.add_ns)
    }

    /// Converts a raw time to a time of the trace.
    #[must_use]
    pub fn time(&self, raw: u64) -> i64 {
        let mut time = self.shift(raw);
        if let Some(tsc) = self.tsc_to_ns {
            let product = u128::from(time) * u128::from(tsc.mult);
            time = (product >> tsc.shift.min(127)) as u64;
        }
        (time as i64).wrapping_add(self.add_ns)
    }

    /// Converts a time of the kernel's local clock (ns) to a time of the trace; `None` if the events' times are
    /// converted from cycles.
    #[must_use]
    pub(crate) fn local_time(&self, local_ns: u64) -> Option<i64> {
        let time = |raw| (self.shift(raw) as i64).wrapping_add(self.add_ns);
        // Between two samples the offset is interpolated linearly; before the first and after the last sample it is
        // extrapolated from the nearest pair. Without interpolation, the last sample at or before `raw` applies.
        self.tsc_to_ns.is_none().then(|| time(local_ns))
    }

    fn shift(&self, raw: u64) -> u64 {
        let (Some(first), last) = (self.samples.first(), self.samples.len().saturating_sub(1))
        else {
            return raw;
        };
        let after = self.samples.partition_point(|sample| sample.time <= raw);
        let at = after.saturating_sub(1).min(last.saturating_sub(1));
        let low = self.samples.get(at).unwrap_or(first);
        if self.is_interpolated {
            let high = self.samples.get(at + 1).unwrap_or(low);
            let span = i128::from(high.time) - i128::from(low.time);
            let rise = i128::from(high.offset) - i128::from(low.offset);
            let delta = (i128::from(raw) - i128::from(low.time)) * rise;
            let extra = if span == 0 {
                0
            } else {
                (delta + span / 2) / span
            };
            scaled(raw, low).wrapping_add(i128::from(low.offset).wrapping_add(extra) as u64)
        } else {
            let sample = self.samples.get(after.saturating_sub(1)).unwrap_or(first);
            scaled(raw, sample).wrapping_add(sample.offset as u64)
        }
    }
}

fn scaled(raw: u64, sample: &ShiftSample) -> u64 {
    let product = u128::from(raw) * u128::from(sample.scaling);
    (product >> sample.fraction.min(127)) as u64
}

#[cfg(test)]
mod tests {
    use super::super::options::TimeShift;
    use super::*;

    #[test]
    fn clocks_that_do_not_count_ns_count_cycles_or_steps() {
        let unit = |name| unit_of_clock(name, None);
        assert_eq!(unit("mono"), ClockUnit::Nanoseconds);
        assert_eq!(unit("x86-tsc"), ClockUnit::Cycles);
        assert_eq!([unit("counter"), unit("uptime")], [ClockUnit::Order; 2]);
    }

    #[test]
    fn offset_and_date_are_added() {
        let options = Options {
            offset_ns: -5,
            date_ns: Some(1000),
            ..Options::default()
        };
        let map = TimeMap::new(&options, 0);
        assert_eq!((map.plain_offset(), map.time(7)), (Some(995), 1002));
    }

    #[test]
    fn cycles_become_nanoseconds() {
        let options = Options {
            tsc_to_ns: Some(TscToNs {
                mult: 3 << 30,
                shift: 32,
                offset: 0,
            }),
            ..Options::default()
        };
        let map = TimeMap::new(&options, 0);
        assert_eq!(map.time(1 << 60), 3 << 58);
        assert_eq!(map.plain_offset(), None);
    }

    #[test]
    fn a_guest_s_offset_is_interpolated_and_extrapolated() {
        let sample = |time, offset| ShiftSample {
            time,
            offset,
            scaling: 1,
            fraction: 0,
        };
        let samples = vec![sample(100, 1000), sample(200, 1100), sample(300, 1100)];
        let mut options = Options {
            time_shift: Some(TimeShift {
                peer: 0,
                flags: 1,
                cpus: vec![samples],
            }),
            ..Options::default()
        };
        let map = TimeMap::new(&options, 0);
        let times: Vec<i64> = [50, 100, 150, 250, 400].map(|raw| map.time(raw)).to_vec();
        // Before dividing, half of the distance is added, also below zero, as in trace-cmd.
        assert_eq!(times, [1001, 1100, 1200, 1350, 1500]);
        assert_eq!(TimeMap::new(&options, 1).time(5), 5);
        if let Some(shift) = &mut options.time_shift {
            shift.flags = 0;
        }
        assert_eq!(TimeMap::new(&options, 0).time(250), 1350);
    }
}
