//! Times at which events of each CPU were lost: the thread states during a loss are unknown.
//!
//! A hole before a CPU's first event begins at `i64::MIN`, a hole after its last event ends at `i64::MAX`: the file
//! does not state how much was overwritten or dropped. A hole without a CPU is a hole of every CPU.
//!
//! Of the 127 ftrace recordings of the corpus and the samples (99 trace.dat files, 28 texts), 7 have slices over
//! losses, and 4 have switches that do not match the runs before them.

use rustc_hash::FxHashMap;

use super::recorded::Recorded;
use crate::base::TimeSpan;
use crate::event::{CpuLoss, Gap, Seam};
use crate::trace::CpuId;

/// A span in which events were lost, between two events that were recorded. Times in ns on the trace's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hole {
    /// Time of the last event before the hole; events after it may be missing.
    pub from: i64,
    /// Time of the first event after the hole.
    pub until: i64,
}

/// The times of the first and the last event of a CPU, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lasting {
    /// The time of the first event.
    pub first: i64,
    /// The time of the last event.
    pub last: i64,
}

/// All that the recording states about lost events; the input of [`Losses::new`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost<'a> {
    /// Gaps that the recorder recorded.
    pub gaps: &'a [Gap],
    /// Spans in which events of a CPU may have been lost.
    pub seams: &'a [Seam],
    /// The recorder's counts of lost events.
    pub counted: &'a [CpuLoss],
    /// The trace's span.
    pub span: TimeSpan,
}

/// The holes of a recording. Each list is sorted, and overlapping holes are joined.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    /// Times of the first and the last event of each CPU; `None` if the CPU has no lane of its own.
    recorded: Vec<Option<Lasting>>,
    /// The gaps of each CPU as the file has them, sorted by start.
    gaps: Vec<Vec<Hole>>,
    /// The holes of each CPU, with their ends extended where events may be missing at the start or end of its lane.
    of_cpu: Vec<Vec<Hole>>,
    /// Holes for which the file names no CPU: each CPU may have lost events.
    loose: Vec<Hole>,
    /// The holes of all CPUs, and those without a CPU.
    of_any: Vec<Hole>,
}

/// Sets the number of lost events of a CPU's gap, if it is the CPU's only gap without a count: the number that the
/// recorder counted on that CPU beyond the counts of other gaps. Events that were dropped may have been lost outside of
/// gaps: then the count of the single gap is unknown.
pub(super) fn count_single_gaps(gaps: &mut [Gap], losses: &[CpuLoss]) {
    // `None`: events were dropped on this CPU.
    let mut counted: FxHashMap<u32, Option<u64>> = FxHashMap::default();
    for loss in losses {
        let total = counted.entry(loss.cpu).or_insert(Some(0));
        *total = total
            .filter(|_| loss.dropped == 0)
            .map(|total| total.saturating_add(loss.overwritten));
    }
    let known = counted.into_iter();
    let known = known.filter_map(|(cpu, total)| Some((cpu, total?)));
    let mut totals: FxHashMap<u32, u64> = known.collect();
    if totals.is_empty() {
        return;
    }
    let mut uncounted: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    for (at, gap) in gaps.iter().enumerate() {
        let Some(cpu) = gap.cpu else { continue };
        match gap.lost.filter(|count| *count > 0) {
            None => uncounted.entry(cpu).or_default().push(at),
            Some(count) => {
                if let Some(total) = totals.get_mut(&cpu) {
                    *total = total.saturating_sub(count);
                }
            }
        }
    }
    for (cpu, of_cpu) in uncounted {
        let rest = totals.get(&cpu).copied().filter(|rest| *rest > 0);
        if let ([only], Some(rest)) = (of_cpu.as_slice(), rest) {
            gaps[*only].lost = Some(rest);
        }
    }
}

fn recorded_times(recorded: &Recorded) -> Vec<Option<Lasting>> {
    let mut times: Vec<Option<Lasting>> = vec![None; recorded.cpus.len()];
    for segment in recorded.events.segments() {
        let of_cpu = segment.cpu.and_then(|cpu| times.get_mut(cpu as usize));
        let count = segment.columns.len() as u32;
        if let (Some(known), Some(last)) = (of_cpu, count.checked_sub(1)) {
            let own = Lasting {
                first: segment.columns.time(0).0,
                last: segment.columns.time(last).0,
            };
            *known = Some(known.map_or(own, |all| Lasting {
                first: all.first.min(own.first),
                last: all.last.max(own.last),
            }));
        }
    }
    times
}

impl Losses {
    /// Returns the holes of a recording.
    pub(super) fn new(recorded: &Recorded, lost: Lost<'_>) -> Losses {
        let times = recorded_times(recorded);
        let row_of = |number: u32| recorded.cpu_id(number).map(|cpu| cpu.0 as usize);
        let mut gaps = vec![Vec::new(); times.len()];
        for gap in lost.gaps {
            if let Some(row) = gap.cpu.and_then(row_of) {
                gaps[row].push(Hole::of(gap));
            }
        }
        let mut losses = Losses {
            gaps,
            ..Losses::default()
        };
        if lost.gaps.is_empty() && lost.seams.is_empty() && lost.counted.is_empty() {
            losses.recorded = times;
            return losses;
        }
        let mut of_cpu: Vec<Vec<Hole>> = vec![Vec::new(); times.len()];
        let mut loose = Vec::new();
        for gap in lost.gaps {
            let hole = Hole::of(gap);
            match gap.cpu.map(row_of) {
                None => loose.push(hole),
                Some(Some(cpu)) => {
                    of_cpu[cpu].push(whole(hole, times[cpu], lost.span.start.0));
                }
                Some(None) => {}
            }
        }
        loose.sort_unstable();
        let earliest_end = loose.iter().map(|hole| hole.until).min();
        for seam in lost.seams {
            if let Some(cpu) = row_of(seam.cpu) {
                of_cpu[cpu].push(Hole {
                    from: seam.start.0,
                    until: seam.end.0,
                });
            }
        }
        for loss in lost.counted {
            let Some(cpu) = row_of(loss.cpu) else {
                continue;
            };
            let (times, holes) = (times[cpu], &mut of_cpu[cpu]);
            // Overwritten events came before the first event that is left, unless the file has gaps that place the
            // loss.
            if loss.overwritten > 0 && holes.is_empty() && loose.is_empty() {
                holes.push(Hole {
                    from: i64::MIN,
                    until: times.map_or(i64::MAX, |times| times.first),
                });
            }
            if loss.dropped > 0 {
                holes.push(Hole {
                    from: times.map_or(i64::MIN, |times| times.last),
                    until: i64::MAX,
                });
            }
        }
        for (times, mut holes) in times.iter().zip(of_cpu) {
            holes.extend(at_edges(&loose, earliest_end, *times, lost.span.start.0));
            losses.of_cpu.push(joined(holes));
        }
        let of_cpus = losses.of_cpu.iter().flatten().copied();
        losses.of_any = joined(of_cpus.chain(loose.iter().copied()).collect());
        losses.loose = joined(loose);
        losses.recorded = times;
        losses
    }

    /// Returns the time of the first event of a CPU; `None` if the CPU has no lane of its own.
    pub(crate) fn first_event_of(&self, cpu: CpuId) -> Option<i64> {
        let times = self.recorded.get(cpu.0 as usize).copied().flatten();
        times.map(|times| times.first)
    }

    /// Returns whether any CPU has a lane of its own: only then is it known that the events of another CPU are missing.
    pub(crate) fn has_cpus(&self) -> bool {
        self.recorded.iter().any(Option::is_some)
    }

    /// Returns whether events of a CPU were lost at any time.
    pub(crate) fn are_some_on(&self, cpu: CpuId) -> bool {
        let holes = self.of_cpu.get(cpu.0 as usize);
        holes.is_some_and(|holes| !holes.is_empty() || !self.loose.is_empty())
    }

    /// Returns the gaps of a CPU as the file has them, sorted by start.
    pub(crate) fn gaps_of(&self, cpu: CpuId) -> &[Hole] {
        self.gaps.get(cpu.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns whether no events were lost.
    pub(super) fn is_empty(&self) -> bool {
        self.of_any.is_empty()
    }

    /// Returns whether events of a CPU were lost between two times; both are times of recorded events.
    pub(crate) fn are_on(&self, cpu: CpuId, from: i64, until: i64) -> bool {
        let holes = self.of_cpu.get(cpu.0 as usize);
        holes.is_some_and(|holes| meets(holes, from, until) || meets(&self.loose, from, until))
    }

    /// Returns the time from which events of a CPU were lost between two times; at least `from`. `None` if none were
    /// lost.
    pub(crate) fn first_on(&self, cpu: CpuId, from: i64, until: i64) -> Option<i64> {
        let first = |holes: &[Hole]| {
            let next = holes.partition_point(|hole| hole.until <= from);
            let hole = holes
                .get(next)
                .filter(|hole| hole.from < until && from < until)?;
            Some(hole.from.max(from))
        };
        let own = first(self.of_cpu.get(cpu.0 as usize)?);
        own.into_iter().chain(first(&self.loose)).min()
    }

    /// Returns whether events of any CPU were lost between two times; both are times of recorded events.
    pub(crate) fn are_anywhere(&self, from: i64, until: i64) -> bool {
        meets(&self.of_any, from, until)
    }
}

impl Hole {
    fn of(gap: &Gap) -> Hole {
        let TimeSpan { start, end } = gap.span();
        Hole {
            from: start.0,
            until: end.0,
        }
    }
}

/// Extends a hole of a CPU to infinity if it is before the CPU's first or after its last event (`times`).
fn whole(hole: Hole, times: Option<Lasting>, start: i64) -> Hole {
    let (first, last) = times.map_or((start, i64::MAX), |times| (times.first, times.last));
    match (hole.until <= first, hole.from >= last) {
        (true, _) => Hole {
            from: i64::MIN,
            ..hole
        },
        (false, true) => Hole {
            until: i64::MAX,
            ..hole
        },
        (false, false) => hole,
    }
}

/// Returns the holes that gaps without a CPU add at the edges of one CPU: before its first event and after its last
/// event. `loose` contains these gaps, sorted.
fn at_edges(
    loose: &[Hole],
    earliest_end: Option<i64>,
    times: Option<Lasting>,
    start: i64,
) -> impl Iterator<Item = Hole> {
    let (first, last) = times.map_or((start, i64::MAX), |times| (times.first, times.last));
    // The file does not state whose events were overwritten: each CPU may have lost some before its first event.
    let before = earliest_end.filter(|&end| end <= first);
    let before = before.map(|_| Hole {
        from: i64::MIN,
        until: first,
    });
    let edge = Hole {
        from: last,
        until: first,
    };
    let behind = loose.partition_point(|hole| *hole <= edge);
    let behind = loose.get(behind).map(|hole| Hole {
        until: i64::MAX,
        ..*hole
    });
    before.into_iter().chain(behind)
}

fn joined(mut holes: Vec<Hole>) -> Vec<Hole> {
    holes.sort_unstable();
    let mut joined: Vec<Hole> = Vec::with_capacity(holes.len());
    for hole in holes {
        match joined.last_mut() {
            Some(last) if hole.from <= last.until => last.until = last.until.max(hole.until),
            _ => joined.push(hole),
        }
    }
    joined
}

/// Returns whether one of these holes, sorted and without overlaps, lies between two times of recorded events.
pub(super) fn meets(holes: &[Hole], from: i64, until: i64) -> bool {
    if from >= until {
        // No event can be missing between two events of equal time.
        return false;
    }
    let next = holes.partition_point(|hole| hole.until <= from);
    holes.get(next).is_some_and(|hole| hole.from < until)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hole(from: i64, until: i64) -> Hole {
        Hole { from, until }
    }

    #[test]
    fn holes_meet_what_lies_around_them() {
        let holes = [hole(30, 40), hole(i64::MIN, 5), hole(10, 20), hole(15, 25)];
        let holes = joined(holes.to_vec());
        assert_eq!(holes, [hole(i64::MIN, 5), hole(10, 25), hole(30, 40)]);
        let meets = |from, until| super::meets(&holes, from, until);
        assert!(meets(1, 2) && meets(4, 9) && meets(10, 11) && meets(24, 30) && meets(39, 50));
        // The event before a hole and the event after it were recorded.
        assert!(!meets(5, 10) && !meets(25, 30) && !meets(40, 99) && !meets(12, 12));
    }

    #[test]
    fn holes_at_the_edges_have_no_end() {
        let lasting = |first, last| Some(Lasting { first, last });
        let times = lasting(100, 900);
        assert_eq!(whole(hole(100, 100), times, 50), hole(i64::MIN, 100));
        assert_eq!(whole(hole(900, 950), times, 50), hole(900, i64::MAX));
        assert_eq!(whole(hole(300, 300), times, 50), hole(300, 300));
        assert_eq!(whole(hole(50, 50), None, 50), hole(i64::MIN, 50));
        let edges = |loose: &[Hole], times| {
            let earliest_end = loose.iter().map(|hole| hole.until).min();
            at_edges(loose, earliest_end, times, 50).collect::<Vec<_>>()
        };
        let to_first = [hole(i64::MIN, 100)];
        assert_eq!(edges(&[hole(50, 50), hole(300, 400)], times), to_first);
        assert_eq!(edges(&[hole(50, 50)], None), [hole(i64::MIN, 50)]);
        assert_eq!(edges(&[hole(60, 70)], None), []);
        let from_last = [hole(905, i64::MAX)];
        assert_eq!(edges(&[hole(90, 110), hole(905, 910)], times), from_last);
        // A CPU with one event, and a hole at that time: the hole counts as before the event.
        let once = lasting(100, 100);
        assert_eq!(edges(&[hole(100, 100)], once), to_first);
    }
}
