//! Gaps by CPU and by time: drawing a frame costs O(pixels), however many gaps there are.

use crate::base::TimeSpan;
use crate::trace::{CpuId, GapId, Trace};
use serde::{Deserialize, Serialize};

/// All gaps of a trace, in lists sorted by start.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct GapIndex {
    all: GapList,
    /// Indexed by [`CpuId`].
    cpus: Vec<GapList>,
    /// Gaps that belong to no CPU row.
    loose: GapList,
}

/// Gaps sorted by start.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct GapList {
    /// Gap ids.
    ids: Vec<u32>,
    starts: Vec<i64>,
    /// The latest end of each gap and all gaps before it: these never decrease, although gaps may overlap.
    latest_ends: Vec<i64>,
}

/// Neighbouring gaps that are drawn as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GapBlock {
    /// The first gap.
    pub first: GapId,
    /// Number of gaps.
    pub count: u32,
    /// Start of the first gap, in ns.
    pub start: i64,
    /// The latest end, in ns.
    pub end: i64,
}

impl GapIndex {
    /// Indexes the gaps of a trace.
    #[must_use]
    pub fn new(trace: &Trace) -> GapIndex {
        let mut rows: Vec<(TimeSpan, u32)> = (0..trace.gaps.len() as u32)
            .filter_map(|id| Some((trace.gap_span(GapId(id))?, id)))
            .collect();
        rows.sort_by_key(|(span, id)| (span.start, *id));
        let mut index = GapIndex::default();
        index.cpus.resize_with(trace.cpus.len(), GapList::default);
        for (span, id) in rows {
            index.all.push(id, span);
            let cpu = trace.gap_cpu(GapId(id)).map(|cpu| cpu.0 as usize);
            let list = cpu.and_then(|cpu| index.cpus.get_mut(cpu));
            list.unwrap_or(&mut index.loose).push(id, span);
        }
        index
    }

    /// Returns all gaps.
    #[must_use]
    pub fn all(&self) -> &GapList {
        &self.all
    }

    /// The gaps of a CPU.
    #[must_use]
    pub(crate) fn of_cpu(&self, cpu: CpuId) -> Option<&GapList> {
        self.cpus.get(cpu.0 as usize)
    }

    /// The gaps that belong to no CPU row.
    #[must_use]
    pub(crate) fn loose(&self) -> &GapList {
        &self.loose
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let lists = self.cpus.iter().chain([&self.all, &self.loose]);
        let rows: usize = lists.map(|list| list.ids.capacity()).sum();
        (rows * (size_of::<u32>() + 2 * size_of::<i64>())) as u64
    }
}

impl GapList {
    fn push(&mut self, id: u32, span: TimeSpan) {
        let before = self.latest_ends.last().copied().unwrap_or(i64::MIN);
        self.ids.push(id);
        self.starts.push(span.start.0);
        self.latest_ends.push(span.end.0.max(before));
    }

    /// Number of gaps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether there is no gap.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The gaps, sorted by start.
    pub(crate) fn ids(&self) -> impl ExactSizeIterator<Item = GapId> + '_ {
        self.ids.iter().copied().map(GapId)
    }

    /// Returns the gaps that touch `span`, from left to right; gaps that are within `merge` ns (a pixel) of each other
    /// form one block. Costs O(blocks x log gaps).
    pub(crate) fn blocks(&self, span: TimeSpan, merge: i64) -> impl Iterator<Item = GapBlock> + '_ {
        let merge = merge.max(1);
        let mut at = self.latest_ends.partition_point(|end| *end < span.start.0);
        std::iter::from_fn(move || {
            let start = *self.starts.get(at)?;
            if start > span.end.0 {
                return None;
            }
            let first = at;
            let mut until = start.saturating_add(merge);
            loop {
                // Gaps that start before `until` join the block, and may move `until` to their latest end.
                let rest = self.starts.get(at..).unwrap_or(&[]);
                let more = rest.partition_point(|start| *start < until);
                at += more;
                let end = self.latest_ends.get(at.saturating_sub(1)).copied();
                let end = end.unwrap_or(start);
                if more == 0 || end <= until {
                    break;
                }
                until = end;
            }
            let end = self.latest_ends.get(at.saturating_sub(1)).copied();
            Some(GapBlock {
                first: GapId(*self.ids.get(first)?),
                count: (at - first) as u32,
                start,
                end: end.unwrap_or(start).max(start),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Timestamp;

    fn list(spans: &[(i64, i64)]) -> GapList {
        let mut list = GapList::default();
        for (&(start, end), id) in spans.iter().zip(0..) {
            list.push(id, TimeSpan::new(Timestamp(start), Timestamp(end)));
        }
        list
    }

    #[test]
    fn gaps_of_one_pixel_are_one_block_and_the_rest_stand_alone() {
        let list = list(&[(0, 2), (3, 4), (5, 6), (100, 200), (150, 160), (500, 500)]);
        let of = |start, end, merge| -> Vec<(u32, u32, i64, i64)> {
            let span = TimeSpan::new(Timestamp(start), Timestamp(end));
            let blocks = list.blocks(span, merge);
            blocks
                .map(|it| (it.first.0, it.count, it.start, it.end))
                .collect()
        };
        assert_eq!(
            of(0, 1_000, 10),
            [(0, 3, 0, 6), (3, 2, 100, 200), (5, 1, 500, 500)]
        );
        assert_eq!(of(0, 4, 1), [(0, 1, 0, 2), (1, 1, 3, 4)]);
        assert_eq!(of(155, 180, 1), [(3, 2, 100, 200)]);
        assert_eq!(of(201, 499, 1), []);
        assert_eq!(of(600, 700, 1), []);
    }
}
