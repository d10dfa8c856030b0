//! What a range adds up to, by name: counts and times of slices.

use super::area::{Area, GroupBy, What, groups};
use crate::base::{Job, StringId, TimeSpan};
use crate::trace::{SliceId, Trace};

/// All slices of one name in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameStats {
    /// The name.
    pub name: StringId,
    /// The category.
    pub category: StringId,
    /// How many, without those that never ended.
    pub count: u64,
    /// Their whole durations together, in ns.
    pub total_ns: i128,
    /// The same without what lies inside other slices of theirs.
    pub own_ns: i128,
    /// The shortest.
    pub min_ns: i64,
    /// The longest.
    pub max_ns: i64,
    /// Which one is the longest.
    pub longest: Option<SliceId>,
    /// How many never ended.
    pub unfinished: u64,
    /// How long these certainly lasted, together, in ns.
    pub unfinished_ns: i128,
}

impl NameStats {
    /// The mean duration.
    #[must_use]
    pub(crate) fn mean_ns(&self) -> i64 {
        (self.total_ns / i128::from(self.count.max(1))) as i64
    }
}

/// The slices that meet `span`, added up by name, the one with the largest total first.
#[must_use]
pub fn by_name(trace: &Trace, span: TimeSpan) -> Vec<NameStats> {
    let area = Area::of(span);
    let groups = groups(trace, &area, What::Slices, GroupBy::Name, &Job::default());
    let groups = groups.unwrap_or_default().into_iter();
    groups
        .filter_map(|group| {
            let (name, category) = group.key.name?;
            Some(NameStats {
                name,
                category,
                count: group.count,
                total_ns: group.sum_ns,
                own_ns: group.own_ns,
                min_ns: group.min_ns,
                max_ns: group.max_ns,
                longest: group.longest,
                unfinished: group.unfinished,
                unfinished_ns: group.unfinished_ns,
            })
        })
        .collect()
}
