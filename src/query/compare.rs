//! Compares two traces, or two areas of one trace: names in both, names in one only, and how their numbers differ.

use rustc_hash::FxHashMap;

use super::area::events::event_counts;
use super::area::{Area, Group, GroupBy, Key, What, groups, lengths};
use super::distribution::Distribution;
use crate::base::{Cancelled, Job};
use crate::event::SliceKind;
use crate::trace::Trace;

/// The items that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareWhat {
    /// Slices by name and category.
    Slices,
    /// Raw events by name and category: only their counts.
    Events,
    /// Time on CPUs by the thread's name.
    Threads,
    /// Time in each state of threads.
    States,
}

/// The rows of one name in both traces.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareRow {
    /// The name.
    pub name: String,
    /// The category; empty if the row has none.
    pub category: String,
    /// The kind of the slices, if they are slices.
    pub kind: Option<SliceKind>,
    /// The sums in the first trace or area; `None` if the name is missing there.
    pub left: Option<Side>,
    /// The sums in the second trace or area.
    pub right: Option<Side>,
}

/// The sums of a name on one side. Times in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// The number of finished items.
    pub count: u64,
    /// The total time.
    pub sum_ns: i128,
    /// The number of unfinished items.
    pub unfinished: u64,
    /// The least total duration of the unfinished items.
    pub unfinished_ns: i128,
    /// The median; events have none.
    pub p50_ns: Option<i64>,
    /// The 95th percentile.
    pub p95_ns: Option<i64>,
    /// The longest.
    pub max_ns: Option<i64>,
}

/// The quantity by which rows are sorted: the largest change first, in either direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// Change of the sum.
    Sum,
    /// Change of the count.
    Count,
    /// Change of the mean.
    Mean,
    /// Change of the 95th percentile.
    P95,
}

impl Side {
    /// Returns the mean; 0 if there are no items.
    #[must_use]
    pub(crate) fn mean_ns(&self) -> i64 {
        (self.sum_ns / i128::from(self.count.max(1))) as i64
    }

    fn measure(&self, by: SortBy) -> i128 {
        match by {
            SortBy::Sum => self.sum_ns,
            SortBy::Count => self.count.into(),
            SortBy::Mean => self.mean_ns().into(),
            SortBy::P95 => self.p95_ns.unwrap_or(0).into(),
        }
    }
}

impl Side {
    /// Returns the measure by which rows are sorted; unfinished intervals count with the time that they certainly
    /// lasted.
    fn certain(&self, by: SortBy) -> i128 {
        match by {
            SortBy::Sum => self.sum_ns + self.unfinished_ns,
            SortBy::Count => i128::from(self.count) + i128::from(self.unfinished),
            SortBy::Mean | SortBy::P95 => self.measure(by),
        }
    }
}

impl CompareRow {
    /// Returns the absolute difference between the two sides.
    fn distance(&self, by: SortBy) -> u128 {
        self.change(by).unsigned_abs()
    }

    /// Returns the second side minus the first; a missing side counts as 0, and unfinished items with the time that they
    /// certainly lasted.
    #[must_use]
    pub fn change(&self, by: SortBy) -> i128 {
        let certain = |side: &Option<Side>| side.map_or(0, |side| side.certain(by));
        certain(&self.right) - certain(&self.left)
    }
}

/// One side of a comparison: a trace, and the area that is compared.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// The compared part.
    pub area: &'a Area,
}

/// Compares two traces or areas; the rows are sorted by the change of the sum (for events, of the count).
///
/// # Errors
/// Errors if the job is cancelled.
pub fn compare(
    left: Compared<'_>,
    right: Compared<'_>,
    what: CompareWhat,
    job: &Job,
) -> Result<Vec<CompareRow>, Cancelled> {
    let mut rows: FxHashMap<Names, CompareRow> = FxHashMap::default();
    for (compared, is_left) in [(left, true), (right, false)] {
        for (names, side) in sides(compared, what, job)? {
            let row = rows.entry(names.clone()).or_insert_with(|| CompareRow {
                name: names.name,
                category: names.category,
                kind: names.kind,
                left: None,
                right: None,
            });
            let place = if is_left {
                &mut row.left
            } else {
                &mut row.right
            };
            add(place, side);
        }
    }
    let mut rows: Vec<CompareRow> = rows.into_values().collect();
    let by = match what {
        CompareWhat::Events => SortBy::Count,
        _ => SortBy::Sum,
    };
    sort(&mut rows, by);
    Ok(rows)
}

/// Sorts rows, the largest change first. In sums and counts, unfinished items count with their least duration; rows
/// with equal changes are sorted by the change of the sum.
pub fn sort(rows: &mut [CompareRow], by: SortBy) {
    rows.sort_by(|a, b| {
        let size = |row: &CompareRow| (row.distance(by), row.distance(SortBy::Sum));
        size(b)
            .cmp(&size(a))
            .then_with(|| (&a.name, &a.category, a.kind).cmp(&(&b.name, &b.category, b.kind)))
    });
}

/// Adds up two rows of one name; their percentiles cannot be added.
fn add(place: &mut Option<Side>, side: Side) {
    *place = Some(match place {
        None => side,
        Some(old) => Side {
            count: old.count + side.count,
            sum_ns: old.sum_ns + side.sum_ns,
            unfinished: old.unfinished + side.unfinished,
            unfinished_ns: old.unfinished_ns + side.unfinished_ns,
            p50_ns: None,
            p95_ns: None,
            max_ns: old.max_ns.max(side.max_ns),
        },
    });
}

/// The values that identify a row in the answer of [`compare`].
#[derive(Clone, Copy, Debug)]
pub struct ComparedName<'a> {
    /// The name.
    pub name: &'a str,
    /// The category; empty if the row has none.
    pub category: &'a str,
    /// The kind of slices.
    pub kind: Option<SliceKind>,
}

/// Returns the durations of one row of [`compare`]'s answer, without unfinished items; empty for events, which have no
/// duration.
///
/// # Errors
/// Errors if the job is cancelled.
pub fn distribution(
    compared: Compared<'_>,
    what: CompareWhat,
    row: ComparedName<'_>,
    job: &Job,
) -> Result<Distribution, Cancelled> {
    let Compared { trace, area } = compared;
    let Some(Grouping { what, by }) = what.grouped() else {
        return Ok(Distribution::default());
    };
    let is_it = |key: &Key| {
        let its = name_of(trace, key);
        its.name == row.name && its.category == row.category && its.kind == row.kind
    };
    lengths(trace, area, what, by, is_it, job).map(Distribution::of)
}

/// The name, category and kind of a row.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Names {
    name: String,
    category: String,
    kind: Option<SliceKind>,
}

type Named = (Names, Side);

/// What is summed, and by what it is grouped.
struct Grouping {
    what: What,
    by: GroupBy,
}

impl CompareWhat {
    /// Returns what is summed, and by what it is grouped; `None` for events, which are only counted.
    fn grouped(self) -> Option<Grouping> {
        match self {
            CompareWhat::Events => None,
            CompareWhat::Slices => Some(Grouping {
                what: What::Slices,
                by: GroupBy::Name,
            }),
            // Numbers of threads differ from trace to trace.
            CompareWhat::Threads => Some(Grouping {
                what: What::Runs,
                by: GroupBy::ThreadName,
            }),
            CompareWhat::States => Some(Grouping {
                what: What::States,
                by: GroupBy::Name,
            }),
        }
    }
}

fn sides(compared: Compared<'_>, what: CompareWhat, job: &Job) -> Result<Vec<Named>, Cancelled> {
    let Compared { trace, area } = compared;
    let Some(Grouping { what, by }) = what.grouped() else {
        return events(trace, area, job);
    };
    let found = groups(trace, area, what, by, job)?;
    Ok(found
        .iter()
        .map(|group| (name_of(trace, &group.key), side_of(group)))
        .collect())
}

fn name_of(trace: &Trace, key: &Key) -> Names {
    match key.name {
        Some((name, category)) => Names {
            name: trace.text(name).into_owned(),
            category: trace.text(category).into_owned(),
            kind: key.kind,
        },
        None => Names {
            name: key.label(trace),
            category: String::new(),
            kind: None,
        },
    }
}

fn side_of(group: &Group) -> Side {
    Side {
        count: group.count,
        sum_ns: group.sum_ns,
        unfinished: group.unfinished,
        unfinished_ns: group.unfinished_ns,
        p50_ns: group.known(group.p50_ns),
        p95_ns: group.known(group.p95_ns),
        max_ns: group.known(group.max_ns),
    }
}

fn events(trace: &Trace, area: &Area, job: &Job) -> Result<Vec<Named>, Cancelled> {
    let groups = event_counts(trace, area, GroupBy::Name, job)?.into_iter();
    let named = groups.filter_map(|group| {
        let (name, category) = group.key.name?;
        let names = Names {
            name: trace.text(name).into_owned(),
            category: trace.text(category).into_owned(),
            kind: None,
        };
        let side = Side {
            count: group.count,
            ..Side::default()
        };
        Some((names, side))
    });
    Ok(named.collect())
}
