//! What a range adds up to, by name: counts and times of slices.

use rustc_hash::FxHashMap;

use crate::base::{StringId, TimeSpan};
use crate::trace::{SliceId, Trace};

/// All slices of one name in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameStats {
    /// The name.
    pub name: StringId,
    /// The category.
    pub category: StringId,
    /// How many.
    pub count: u64,
    /// Their whole durations together, in ns (unfinished ones count to the trace's end).
    pub total_ns: i128,
    /// The same without what lies inside other slices of theirs.
    pub own_ns: i128,
    /// The shortest.
    pub min_ns: i64,
    /// The longest.
    pub max_ns: i64,
    /// Which one is the longest.
    pub longest: SliceId,
}

impl NameStats {
    /// The mean duration.
    #[must_use]
    pub fn mean_ns(&self) -> i64 {
        (self.total_ns / i128::from(self.count.max(1))) as i64
    }
}

/// The slices that meet `span`, added up by name, the one with the largest total first.
#[must_use]
pub fn by_name(trace: &Trace, span: TimeSpan) -> Vec<NameStats> {
    let slices = &trace.slices;
    let mut slots: FxHashMap<u32, usize> = FxHashMap::default();
    let mut stats: Vec<NameStats> = Vec::new();
    let mut slot_of = |label: u32, stats: &mut Vec<NameStats>, id: u32| {
        *slots.entry(label).or_insert_with(|| {
            let label = slices
                .labels
                .get(label as usize)
                .copied()
                .unwrap_or_default();
            stats.push(NameStats {
                name: label.name,
                category: label.category,
                count: 0,
                total_ns: 0,
                own_ns: 0,
                min_ns: i64::MAX,
                max_ns: -1,
                longest: SliceId(id),
            });
            stats.len() - 1
        })
    };
    for row in &slices.rows {
        for id in slices.overlapping(row, span) {
            let index = id as usize;
            let length = slices.ends[index]
                .min(trace.span.end.0)
                .saturating_sub(slices.starts[index]);
            let slot = slot_of(slices.label_ids[index], &mut stats, id);
            let entry = &mut stats[slot];
            entry.count += 1;
            entry.total_ns += i128::from(length);
            entry.own_ns += i128::from(length);
            entry.min_ns = entry.min_ns.min(length);
            if length > entry.max_ns {
                entry.max_ns = length;
                entry.longest = SliceId(id);
            }
            let parent = slices.parents[index];
            if parent != u32::MAX {
                let slot = slot_of(slices.label_ids[parent as usize], &mut stats, parent);
                stats[slot].own_ns -= i128::from(length);
            }
        }
    }
    stats.retain(|entry| entry.count > 0);
    // Labels that differ only in what ends them share a name.
    stats.sort_by_key(|entry| (entry.name, entry.category));
    stats.dedup_by(|next, kept| {
        let is_same = (next.name, next.category) == (kept.name, kept.category);
        if is_same {
            kept.count += next.count;
            kept.total_ns += next.total_ns;
            kept.own_ns += next.own_ns;
            kept.min_ns = kept.min_ns.min(next.min_ns);
            if next.max_ns > kept.max_ns {
                kept.max_ns = next.max_ns;
                kept.longest = next.longest;
            }
        }
        is_same
    });
    stats.sort_by_key(|entry| std::cmp::Reverse(entry.total_ns));
    stats
}
