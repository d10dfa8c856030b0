//! Lost events: the lines that report them, when they were lost, and how many were lost between two lines of a task.
//!
//! ```text
//! 0: 7,0,5,10!..     CPU:0 [LOST 45 EVENTS]     0: 8,1,5,20!..     0: 9,0,5,30!..
//! the gap of CPU 0: 5.000000010 to 5.000000030, its lines around the report
//! any task's call that is open between 5.000000010 and 5.000000020 may lack lines
//! ```
//!
//! A report is printed before the next line of its CPU. The report has no time: it gets the time of the next line in
//! the file, whichever CPU wrote that line. All lines before the report were written before the tracer detected the
//! loss.
//!
//! Of the 21 etrace files of the corpus, 1 contains losses.

use crate::base::Timestamp;
use crate::event::Gap;

use super::notes::Moment;

/// A line that reports lost events.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossLine {
    /// Byte offset of the line.
    pub place: u64,
    /// Time of the next event in the file, ns; `None` if no event follows in the part.
    pub time: Option<i64>,
    /// The loss; `None` if the line stands for a gap that another recording contains.
    pub loss: Option<Loss>,
}

/// Events of one CPU that were lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loss {
    pub(super) cpu: u16,
    /// Number of lost events, if known.
    pub(super) lost: Option<u64>,
    /// Time of the CPU's last event before the line; `None` if the part contains none.
    pub(super) start: Option<i64>,
    /// Time of the CPU's first event after the line; `None` if the part contains none.
    pub(super) end: Option<i64>,
}

/// The losses of a part, and the times with which losses of other parts are completed.
#[derive(Debug, Default)]
pub(super) struct PartLosses {
    /// The lines, in file order.
    pub lines: Vec<LossLine>,
    /// Times of each CPU.
    pub cpus: CpuTimes,
    /// Time of the first event in the file, ns.
    pub first_time: Option<i64>,
}

/// The first and the last time of each CPU, in file order, ns; by CPU.
#[derive(Debug, Default)]
pub(super) struct CpuTimes(Vec<Option<FirstLast>>);

/// The first and the last time of a CPU, in ns.
#[derive(Clone, Copy, Debug)]
struct FirstLast {
    first: i64,
    last: i64,
}

impl FirstLast {
    fn once(time: i64) -> FirstLast {
        FirstLast {
            first: time,
            last: time,
        }
    }
}

impl CpuTimes {
    /// Adds the next event in file order.
    #[inline]
    pub(super) fn add(&mut self, cpu: u16, time: i64) {
        match self.0.get_mut(usize::from(cpu)) {
            Some(Some(times)) => times.last = time,
            Some(entry) => *entry = Some(FirstLast::once(time)),
            None => self.widen(cpu, FirstLast::once(time)),
        }
    }

    #[cold]
    fn widen(&mut self, cpu: u16, times: FirstLast) {
        self.0.resize(usize::from(cpu), None);
        self.0.push(Some(times));
    }

    fn of(&self, cpu: u16) -> Option<FirstLast> {
        self.0.get(usize::from(cpu)).copied().flatten()
    }

    /// Returns the last time of a CPU so far.
    pub(super) fn last(&self, cpu: u16) -> Option<i64> {
        self.of(cpu).map(|times| times.last)
    }

    /// Replaces the times of the CPUs that `other` contains.
    fn update(&mut self, other: &CpuTimes) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), None);
        }
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            *own = other.or(*own);
        }
    }
}

/// An event of the part.
pub(super) struct EventOnCpu {
    /// The offset of its line, in bytes.
    pub(super) place: u64,
    pub(super) cpu: u16,
    /// Its time in ns.
    pub(super) time: i64,
}

impl PartLosses {
    /// Finds the ends of losses in the part's own events, given from the last to the first.
    pub(super) fn find_ends(&mut self, backwards: impl Iterator<Item = EventOnCpu>) {
        if self.lines.is_empty() {
            return;
        }
        let mut later = CpuTimes::default();
        let mut rest = backwards.peekable();
        for line in self.lines.iter_mut().rev() {
            while let Some(event) = rest.next_if(|event| event.place > line.place) {
                later.add(event.cpu, event.time);
            }
            if let Some(loss) = &mut line.loss {
                loss.end = later.last(loss.cpu);
            }
        }
    }
}

/// Completes the losses of all parts, in file order, with times of other parts.
pub(super) fn complete(parts: &mut [&mut PartLosses]) {
    if parts.iter().all(|part| part.lines.is_empty()) {
        return;
    }
    let mut before = CpuTimes::default();
    for part in parts.iter_mut() {
        for loss in part.lines.iter_mut().filter_map(|it| it.loss.as_mut()) {
            loss.start = loss.start.or_else(|| before.last(loss.cpu));
        }
        before.update(&part.cpus);
    }
    let mut after = CpuTimes::default();
    let mut next_time = None;
    for part in parts.iter_mut().rev() {
        for line in &mut part.lines {
            line.time = line.time.or(next_time);
            if let Some(loss) = &mut line.loss {
                loss.end = loss.end.or_else(|| after.of(loss.cpu).map(|it| it.first));
            }
        }
        after.update(&part.cpus);
        next_time = part.first_time.or(next_time);
    }
}

impl LossLine {
    /// Returns the moment at which the loss is noticed, in the order of lines; `None` if no event follows.
    pub(super) fn moment(&self) -> Option<Moment> {
        Some((self.time?, self.place))
    }

    /// Returns the gap of a CPU.
    pub(super) fn gap(&self) -> Option<Gap> {
        let loss = self.loss?;
        let gap = Gap::between(loss.start.map(Timestamp), loss.end.map(Timestamp));
        Some(gap.on(Some(u32::from(loss.cpu))).losing(loss.lost))
    }
}

/// A CPU (`None`: all) and a time on it.
pub(super) type OnCpu = (Option<u32>, Timestamp);

/// The losses of a whole recording.
#[derive(Debug, Default)]
pub(super) struct Losses {
    /// The moments at which losses are noticed, sorted.
    moments: Vec<Moment>,
    /// Starts of gaps, sorted, each with the number of events lost in all gaps up to this one.
    starts: Vec<(OnCpu, u128)>,
    /// Ends of gaps, in the same form.
    ends: Vec<(OnCpu, u128)>,
}

impl Losses {
    pub(super) fn new(mut moments: Vec<Moment>, gaps: &[Gap]) -> Losses {
        moments.sort_unstable();
        let sums = |time: fn(&Gap) -> Timestamp| {
            let lost = |gap: &Gap| u128::from(gap.lost.unwrap_or(u64::MAX));
            let mut all: Vec<(OnCpu, u128)> = gaps
                .iter()
                .map(|gap| ((gap.cpu, time(gap)), lost(gap)))
                .collect();
            all.sort_unstable();
            let mut sum = 0;
            for entry in &mut all {
                sum += entry.1;
                entry.1 = sum;
            }
            all
        };
        Losses {
            moments,
            starts: sums(|gap| gap.span().start),
            ends: sums(|gap| gap.span().end),
        }
    }

    /// Returns the moment at which the first loss after `moment` is noticed; the last possible moment if there is none.
    pub(super) fn after(&self, moment: Moment) -> Moment {
        let at = self.moments.partition_point(|loss| *loss <= moment);
        let next = self.moments.get(at);
        next.copied().unwrap_or((i64::MAX, u64::MAX))
    }

    /// Returns how many events were lost between two lines, on the CPUs on which the lines were written. An upper
    /// bound: all events of a gap are counted even if the gap is only partly between the lines.
    pub(super) fn between(&self, first: OnCpu, second: OnCpu) -> u128 {
        let mut cpus = vec![None, first.0, second.0];
        cpus.dedup();
        let lost = |cpu: Option<u32>| {
            // Gaps that start before the second line, minus those that end before the first.
            let started = self.starts.partition_point(|it| it.0 < (cpu, second.1));
            let ended = self.ends.partition_point(|it| it.0 <= (cpu, first.1));
            let sum = |all: &[(OnCpu, u128)], count: usize| {
                count
                    .checked_sub(1)
                    .and_then(|at| all.get(at))
                    .map_or(0, |it| it.1)
            };
            sum(&self.starts, started).saturating_sub(sum(&self.ends, ended))
        };
        cpus.into_iter().map(lost).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_between_two_lines_are_summed() {
        let gap = |cpu, start, end, lost| {
            let gap = Gap::between(Some(Timestamp(start)), Some(Timestamp(end)));
            gap.on(Some(cpu)).losing(lost)
        };
        let gaps = [
            gap(0, 10, 20, Some(3)),
            gap(0, 20, 30, Some(4)),
            gap(1, 10, 20, Some(5)),
            gap(2, 0, 40, None),
        ];
        let losses = Losses::new(Vec::new(), &gaps);
        let between = |(a, from), (b, to)| {
            losses.between((Some(a), Timestamp(from)), (Some(b), Timestamp(to)))
        };
        assert_eq!(between((0, 0), (0, 10)), 0);
        assert_eq!(between((0, 0), (0, 11)), 3);
        assert_eq!(between((0, 20), (0, 21)), 4);
        assert_eq!(between((0, 20), (1, 21)), 4);
        assert_eq!(between((0, 19), (1, 21)), 12);
        assert_eq!(between((0, 30), (0, 50)), 0);
        assert_eq!(between((2, 5), (2, 6)), u128::from(u64::MAX));
        assert_eq!(between((3, 0), (3, 50)), 0);
    }
}
