//! The slices of one name in an area, by duration: for a histogram in which a range can be selected. On a CPU, the
//! duration of a thread's slice is the time for which its thread ran there in the area. Unfinished slices have no
//! duration: they are listed beside the others, by their least duration.

use std::ops::Range;

use rayon::prelude::*;

use super::area::on_cpu::{Counted, OnCpus, gather};
use super::area::{Area, Lane, Lanes};
use super::distribution::Distribution;
use crate::base::{Cancelled, Job, StringId};
use crate::query::seen::Seen;
use crate::query::slice_kinds::SliceKinds;
use crate::trace::slices::SliceRow;
use crate::trace::{SliceId, Trace};

/// The slices of one name.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    /// The finished slices, sorted.
    rows: Vec<Lasted>,
    /// The durations alone: percentiles, curve, histogram.
    pub lengths: Distribution,
    /// The unfinished slices with their least durations, sorted.
    unfinished: Vec<Lasted>,
}

/// A slice and its duration; sorted by duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lasted {
    /// The duration in ns; the least duration for an unfinished slice.
    pub ns: i64,
    /// The slice.
    pub slice: SliceId,
}

impl Durations {
    /// Returns the slices whose durations in ns are in `range`, the shortest first.
    pub fn between(&self, range: &Range<i64>) -> impl DoubleEndedIterator<Item = Lasted> {
        let shorter = |than: i64| self.rows.partition_point(|row| row.ns < than);
        let from = shorter(range.start);
        let until = shorter(range.end).max(from);
        let rows = self.rows.get(from..until).unwrap_or(&[]);
        rows.iter().copied()
    }

    /// Returns the unfinished slices with their least durations in ns, the shortest first.
    pub fn unfinished(&self) -> impl DoubleEndedIterator<Item = Lasted> + ExactSizeIterator {
        self.unfinished.iter().copied()
    }

    /// Returns the total least duration of the unfinished slices, in ns.
    #[must_use]
    pub fn unfinished_ns(&self) -> i128 {
        let lengths = self.unfinished.iter();
        lengths.map(|row| i128::from(row.ns)).sum()
    }

    /// Returns the finished slices, the shortest first.
    pub fn slices(&self) -> impl Iterator<Item = SliceId> {
        self.rows.iter().map(|row| row.slice)
    }
}

/// The slices called `name` (and of `category`, if given) that overlap an area, of the area's kind.
///
/// # Errors
/// Errors if the job is cancelled.
pub fn durations(
    trace: &Trace,
    area: &Area,
    name: StringId,
    category: Option<StringId>,
    job: &Job,
) -> Result<Durations, Cancelled> {
    let labels = trace.slices.labels.iter();
    let wanted: Vec<bool> = labels
        .map(|label| label.name == name && category.is_none_or(|it| it == label.category))
        .collect();
    let (kinds, seen) = (SliceKinds::new(trace), Seen::new(trace));
    let kind = area.kind.map(|kind| kinds.number_of(kind));
    let is_wanted = |label: u32| {
        let is_named = wanted.get(label as usize).copied().unwrap_or(false);
        is_named && kind.is_none_or(|kind| kind == Some(kinds.number(label)))
    };
    let mut rows: Vec<Lasted> = rows_of(trace, area)
        .into_par_iter()
        .filter(|_| !job.is_cancelled())
        .flat_map_iter(|row| {
            let slices = &trace.slices;
            let inside = slices.overlapping(row, area.span);
            let label = |at: u32| slices.label_ids.at(at as usize);
            let named = inside.filter(move |&at| is_wanted(label(at)));
            named.map(|at| Lasted {
                ns: seen.measure(trace, SliceId(at)).certain(),
                slice: SliceId(at),
            })
        })
        .collect();
    if let Some(on) = OnCpus::of(trace, area) {
        let lists = gather(&on, Counted::Once, job, Vec::new, |rows, part| {
            if is_wanted(trace.slices.label_ids.at(part.slice as usize)) {
                rows.push(Lasted {
                    ns: part.length.certain(),
                    slice: SliceId(part.slice),
                });
            }
        });
        rows.extend(lists.into_iter().flatten());
    }
    job.check()?;
    rows.par_sort_unstable();
    let is_unfinished = |row: &Lasted| trace.slices.is_unfinished(row.slice.0 as usize);
    let (unfinished, rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_unfinished);
    let lengths = rows.iter().map(|row| row.ns).collect();
    Ok(Durations {
        lengths: Distribution::of(lengths),
        unfinished,
        rows,
    })
}

fn rows_of<'a>(trace: &'a Trace, area: &Area) -> Vec<&'a SliceRow> {
    let lanes = match &area.lanes {
        Lanes::All => return trace.slices.rows.iter().collect(),
        Lanes::Of(lanes) => lanes,
        Lanes::Both { .. } => return Vec::new(),
    };
    let mut tracks: Vec<u32> = lanes
        .iter()
        .filter_map(|lane| match lane {
            Lane::Track(id) => Some(id.0),
            _ => None,
        })
        .collect();
    tracks.sort_unstable();
    tracks.dedup();
    let tracks = tracks
        .into_iter()
        .filter_map(|id| trace.tracks.get(id as usize));
    tracks
        .flat_map(|track| trace.slices.rows_of(track))
        .collect()
}
