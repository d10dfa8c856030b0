//! When events of each CPU were lost: what a thread did there meanwhile is not known.
//!
//! A hole before a CPU's first event reaches back to the beginning of time, one behind its last event to the end:
//! nobody knows how much was overwritten or dropped. A hole of no CPU in particular is a hole of every CPU.

use super::super::merge::Merged;
use crate::trace::{CpuId, Trace};

/// From the last time before a hole to the first time after it.
pub type Hole = (i64, i64);

/// The holes of a recording; lists are sorted, and what overlaps is one.
#[derive(Debug, Default)]
pub struct Losses {
    of_cpu: Vec<Vec<Hole>>,
    /// Those of which the file does not say whose events are lost: anybody's.
    loose: Vec<Hole>,
    /// Those of all CPUs.
    of_any: Vec<Hole>,
}

/// When the first and the last event of each CPU were, where it has a lane of its own.
pub fn recorded_times(merged: &Merged, trace: &Trace) -> Vec<Option<Hole>> {
    let mut times: Vec<Option<Hole>> = vec![None; trace.cpus.len()];
    for segment in merged.events.segments() {
        let of_cpu = segment.cpu.and_then(|cpu| times.get_mut(cpu as usize));
        let count = segment.columns.len() as u32;
        if let (Some(known), Some(last)) = (of_cpu, count.checked_sub(1)) {
            let own = (segment.columns.time(0).0, segment.columns.time(last).0);
            *known = Some(known.map_or(own, |all| (all.0.min(own.0), all.1.max(own.1))));
        }
    }
    times
}

impl Losses {
    /// The holes of a recording; `times` are of [`recorded_times`].
    pub fn new(merged: &Merged, trace: &Trace, times: &[Option<Hole>]) -> Losses {
        let mut losses = Losses::default();
        if trace.gaps.is_empty() && merged.seams.is_empty() && trace.info.losses.is_empty() {
            return losses;
        }
        let mut of_cpu: Vec<Vec<Hole>> = vec![Vec::new(); times.len()];
        let mut loose = Vec::new();
        let row_of = |number: u32| {
            let found = (trace.cpus).binary_search_by_key(&number, |cpu| cpu.number);
            found.ok().filter(|&cpu| cpu < times.len())
        };
        for gap in &trace.gaps {
            let hole = (gap.start.0, gap.end.0);
            match gap.cpu.map(row_of) {
                None => loose.push(hole),
                Some(Some(cpu)) => {
                    of_cpu[cpu].push(whole(hole, times[cpu], trace.span.start.0));
                }
                Some(None) => {}
            }
        }
        loose.sort_unstable();
        let earliest_end = loose.iter().map(|hole| hole.1).min();
        for seam in &merged.seams {
            if let Some(cpu) = row_of(seam.cpu) {
                of_cpu[cpu].push((seam.start.0, seam.end.0));
            }
        }
        for loss in &trace.info.losses {
            let Some(cpu) = row_of(loss.cpu) else {
                continue;
            };
            let (times, holes) = (times[cpu], &mut of_cpu[cpu]);
            // What was overwritten came before the first event that is left, unless the file says where it was.
            if loss.overwritten > 0 && holes.is_empty() && loose.is_empty() {
                holes.push((i64::MIN, times.map_or(i64::MAX, |times| times.0)));
            }
            if loss.dropped > 0 {
                holes.push((times.map_or(i64::MIN, |times| times.1), i64::MAX));
            }
        }
        for (times, mut holes) in times.iter().zip(of_cpu) {
            holes.extend(at_edges(&loose, earliest_end, *times, trace.span.start.0));
            losses.of_cpu.push(joined(holes));
        }
        let of_cpus = losses.of_cpu.iter().flatten().copied();
        losses.of_any = joined(of_cpus.chain(loose.iter().copied()).collect());
        losses.loose = joined(loose);
        losses
    }

    /// Whether nothing was lost.
    pub fn is_empty(&self) -> bool {
        self.of_any.is_empty()
    }

    /// Whether events of a CPU were lost between two times; the times are of events that were not.
    pub fn are_on(&self, cpu: CpuId, from: i64, until: i64) -> bool {
        let holes = self.of_cpu.get(cpu.0 as usize);
        holes.is_some_and(|holes| meets(holes, from, until) || meets(&self.loose, from, until))
    }

    /// From when on events of a CPU were lost between two times; no earlier than the first of them.
    pub fn first_on(&self, cpu: CpuId, from: i64, until: i64) -> Option<i64> {
        let first = |holes: &[Hole]| {
            let next = holes.partition_point(|hole| hole.1 <= from);
            let hole = holes
                .get(next)
                .filter(|hole| hole.0 < until && from < until)?;
            Some(hole.0.max(from))
        };
        let own = first(self.of_cpu.get(cpu.0 as usize)?);
        own.into_iter().chain(first(&self.loose)).min()
    }

    /// Whether events of any CPU were.
    pub fn are_anywhere(&self, from: i64, until: i64) -> bool {
        meets(&self.of_any, from, until)
    }
}

/// How far a hole of a CPU may reach, whose first and last event were at `times`.
fn whole((from, until): Hole, times: Option<Hole>, start: i64) -> Hole {
    let (first, last) = times.unwrap_or((start, i64::MAX));
    match (until <= first, from >= last) {
        (true, _) => (i64::MIN, until),
        (false, true) => (from, i64::MAX),
        (false, false) => (from, until),
    }
}

/// What holes of nobody in particular, which are sorted, may have taken of a CPU beside what lies in them: its events
/// before its first and behind its last one.
fn at_edges(
    loose: &[Hole],
    earliest_end: Option<i64>,
    times: Option<Hole>,
    start: i64,
) -> impl Iterator<Item = Hole> {
    let (first, last) = times.unwrap_or((start, i64::MAX));
    // Whose events were overwritten is not said: each CPU may have had some before its first.
    let before = earliest_end.filter(|&end| end <= first);
    let before = before.map(|_| (i64::MIN, first));
    let behind = loose.partition_point(|hole| *hole <= (last, first));
    let behind = loose.get(behind).map(|hole| (hole.0, i64::MAX));
    before.into_iter().chain(behind)
}

fn joined(mut holes: Vec<Hole>) -> Vec<Hole> {
    holes.sort_unstable();
    let mut joined: Vec<Hole> = Vec::with_capacity(holes.len());
    for hole in holes {
        match joined.last_mut() {
            Some(last) if hole.0 <= last.1 => last.1 = last.1.max(hole.1),
            _ => joined.push(hole),
        }
    }
    joined
}

fn meets(holes: &[Hole], from: i64, until: i64) -> bool {
    if from >= until {
        // Nothing lies between two events of one time.
        return false;
    }
    let next = holes.partition_point(|hole| hole.1 <= from);
    holes.get(next).is_some_and(|hole| hole.0 < until)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_meet_what_lies_around_them() {
        let holes = joined(vec![(30, 40), (i64::MIN, 5), (10, 20), (15, 25)]);
        assert_eq!(holes, vec![(i64::MIN, 5), (10, 25), (30, 40)]);
        let meets = |from, until| super::meets(&holes, from, until);
        assert!(meets(1, 2) && meets(4, 9) && meets(10, 11) && meets(24, 30) && meets(39, 50));
        // The event before a hole and the one after it are known.
        assert!(!meets(5, 10) && !meets(25, 30) && !meets(40, 99) && !meets(12, 12));
    }

    #[test]
    fn holes_at_the_edges_have_no_end() {
        let times = Some((100, 900));
        assert_eq!(whole((100, 100), times, 50), (i64::MIN, 100));
        assert_eq!(whole((900, 950), times, 50), (900, i64::MAX));
        assert_eq!(whole((300, 300), times, 50), (300, 300));
        assert_eq!(whole((50, 50), None, 50), (i64::MIN, 50));
        let edges = |loose: &[Hole], times| {
            let earliest_end = loose.iter().map(|hole| hole.1).min();
            at_edges(loose, earliest_end, times, 50).collect::<Vec<_>>()
        };
        assert_eq!(edges(&[(50, 50), (300, 400)], times), [(i64::MIN, 100)]);
        assert_eq!(edges(&[(50, 50)], None), [(i64::MIN, 50)]);
        assert_eq!(edges(&[(60, 70)], None), []);
        assert_eq!(edges(&[(90, 110), (905, 910)], times), [(905, i64::MAX)]);
        // One event, and a hole at its time: it lies before the event.
        let once = Some((100, 100));
        assert_eq!(edges(&[(100, 100)], once), [(i64::MIN, 100)]);
    }
}
