//! Completes gaps at the edges of blocks: a block contains only its own events, so the other end of such a gap comes
//! from the blocks around it.

use crate::base::{Cancelled, Job, Timestamp};
use crate::event::{Gap, LaneColumns};

/// Corrects the gaps in the parts of all lanes; each lane has `block_count` consecutive parts.
///
/// # Errors
/// If the job is cancelled.
pub(crate) fn settle(
    parts: &mut [&mut LaneColumns],
    block_count: usize,
    job: &Job,
) -> Result<(), Cancelled> {
    let edges = |part: &LaneColumns| {
        let last = part.events.len().checked_sub(1)?;
        Some((part.events.time(0), part.events.time(last as u32)))
    };
    let times: Vec<Option<(Timestamp, Timestamp)>> = parts.iter().map(|part| edges(part)).collect();
    if times.iter().flatten().count() == 0 {
        // There are only losses, and no time at which to show them.
        for part in parts {
            part.gaps.clear();
        }
        return Ok(());
    }
    let lanes = parts.chunks_mut(block_count.max(1));
    for (lane, times) in lanes.zip(times.chunks(block_count.max(1))) {
        job.check()?;
        let mut before: Option<Timestamp> = None;
        for (index, part) in lane.iter_mut().enumerate() {
            let own = times.get(index).copied().flatten();
            let later = times.get(index + 1..).unwrap_or(&[]);
            let next = later.iter().flatten().next().map(|time| time.0);
            for gap in &mut part.gaps {
                let after = gap.event_after().or(next);
                let before = gap.event_before().or(before);
                let before = before.map(|before| after.map_or(before, |after| before.min(after)));
                *gap = Gap::between(before, after).on(gap.cpu).losing(gap.lost);
            }
            before = own.map(|own| own.1).or(before);
        }
    }
    Ok(())
}

/// Adds a gap before the first event on all CPUs, for events that were overwritten before they were read.
pub(crate) fn add_overwritten(parts: &mut [&mut LaneColumns], lost: u64) {
    let starts = parts.iter().filter(|part| !part.events.is_empty());
    let first = starts.map(|part| part.events.time(0)).min();
    if let (Some(time), Some(part), 1..) = (first, parts.first_mut(), lost) {
        part.gaps
            .push(Gap::between(None, Some(time)).losing(Some(lost)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{KindId, ThreadKey};

    fn part(times: &[i64], gaps: &[(Option<i64>, Option<i64>)]) -> LaneColumns {
        let mut part = LaneColumns::new(0);
        for &time in times {
            let _ = part.events.push(time, 0, KindId(0), ThreadKey(1));
        }
        part.gaps = gaps
            .iter()
            .map(|&(before, after)| {
                Gap::between(before.map(Timestamp), after.map(Timestamp)).on(Some(0))
            })
            .collect();
        part
    }

    #[test]
    fn gaps_end_where_the_next_block_of_their_cpu_begins() {
        let mut all = [
            part(&[10, 20], &[(Some(20), None)]),
            part(&[], &[]),
            part(&[50], &[(None, Some(50))]),
            part(&[15, 90], &[(None, Some(15))]),
            part(&[], &[(None, None)]),
            part(&[], &[]),
        ];
        let mut parts: Vec<&mut LaneColumns> = all.iter_mut().collect();
        settle(&mut parts, 3, &Job::default()).unwrap();
        let gap = |part: usize| {
            let gap = all[part].gaps[0];
            [gap.event_before(), gap.event_after()].map(|time| time.map(|time| time.0))
        };
        assert_eq!([gap(0), gap(2)], [[Some(20), Some(50)]; 2]);
        // On one CPU nothing was recorded before the gap, on the other nothing after it.
        assert_eq!([gap(3), gap(4)], [[None, Some(15)], [Some(90), None]]);
        // There are only losses, and no time at which to show them.
        let mut only = part(&[], &[(None, None)]);
        settle(&mut [&mut only], 1, &Job::default()).unwrap();
        assert!(only.gaps.is_empty());
    }
}
