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
                gap.start = gap.event_before().or(before).unwrap_or(Gap::OPEN_START);
                gap.end = gap.event_after().or(next).unwrap_or(Gap::OPEN_END);
                gap.start = gap.start.min(gap.end);
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
        part.gaps.push(Gap {
            start: Gap::OPEN_START,
            end: time,
            cpu: None,
            lost: Some(lost),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{KindId, ThreadKey};

    fn part(times: &[i64], gaps: &[(i64, i64)]) -> LaneColumns {
        let mut part = LaneColumns::new(0);
        for &time in times {
            let _ = part.events.push(time, 0, KindId(0), ThreadKey(1));
        }
        part.gaps = gaps
            .iter()
            .map(|&(start, end)| Gap {
                start: Timestamp(start),
                end: Timestamp(end),
                cpu: Some(0),
                lost: None,
            })
            .collect();
        part
    }

    #[test]
    fn gaps_end_where_the_next_block_of_their_cpu_begins() {
        let (open, none) = (i64::MAX, i64::MIN);
        let mut all = [
            part(&[10, 20], &[(20, open)]),
            part(&[], &[]),
            part(&[50], &[(none, 50)]),
            part(&[15, 90], &[(none, 15)]),
            part(&[], &[(none, open)]),
            part(&[], &[]),
        ];
        let mut parts: Vec<&mut LaneColumns> = all.iter_mut().collect();
        settle(&mut parts, 3, &Job::default()).unwrap();
        let gap = |part: usize| (all[part].gaps[0].start.0, all[part].gaps[0].end.0);
        assert_eq!([gap(0), gap(2)], [(20, 50), (20, 50)]);
        // On one CPU nothing was recorded before the gap, on the other nothing after it.
        assert_eq!([gap(3), gap(4)], [(none, 15), (90, open)]);
        // There are only losses, and no time at which to show them.
        let mut only = part(&[], &[(none, open)]);
        settle(&mut [&mut only], 1, &Job::default()).unwrap();
        assert!(only.gaps.is_empty());
    }
}
