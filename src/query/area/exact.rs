//! Exact sums and percentiles of an area: two walks over its intervals, on all cores. The first walk counts into
//! buckets; the second collects only the values of the buckets that contain a percentile.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::on_cpu::{Counted, OnCpus, Part, gather};
use super::source::{CutOff, Shape, Source};
use super::tally::{RankInBucket, Tally, rank_of};
use super::{Area, Group, GroupBy, Key, Precision, What};
use crate::base::{Cancelled, Job};
use crate::trace::Trace;

/// Rows that a thread takes at a time.
const CHUNK: u32 = 1 << 15;

/// Groups by number; most are never met.
pub(super) type Tallies = Vec<Option<Box<Tally>>>;

/// Returns the groups of an area, the largest sum first.
///
/// # Errors
///
/// Errors if the job is cancelled.
pub fn groups(
    trace: &Trace,
    area: &Area,
    what: What,
    by: GroupBy,
    job: &Job,
) -> Result<Vec<Group>, Cancelled> {
    let shape = Shape::new(trace, area, what, by);
    let source = Source {
        trace,
        shape: &shape,
    };
    let chunks = chunks(&source, area);
    job.add_total(2 * chunks.len() as u64);
    let fold = |mut tallies: Tallies, chunk: &Chunk| {
        if !job.is_cancelled() {
            let mut around = source.arounds(chunk.owner);
            source.each(chunk.owner, chunk.rows.clone(), area.span, |part| {
                if let Some(group) = part.group {
                    tally_of(&mut tallies, group).take_in(part.row, part.length);
                }
                if let Some(around) = around(part.parent) {
                    let taken = source.taken(part.row, part.length.certain());
                    tally_of(&mut tallies, around).own -= i128::from(taken);
                }
            });
        }
        job.advance(1);
        tallies
    };
    let none = || -> Tallies { vec![None; shape.group_count] };
    // A list of groups for each worker, not for each chunk.
    let share = chunks.len().div_ceil(rayon::current_num_threads().max(1));
    let lists: Vec<Tallies> = chunks
        .par_chunks(share.max(1))
        .map(|chunks| chunks.iter().fold(none(), fold))
        .collect();
    let mut tallies = lists.into_iter().fold(none(), join);
    job.check()?;
    source.children_outside(area.span, |owner, parent, length| {
        if let Some(group) = source.group(owner, parent) {
            tally_of(&mut tallies, group).own -= i128::from(length);
        }
    });
    let on = OnCpus::of(trace, area).filter(|_| what == What::Slices);
    let counted = counted(by);
    if let Some(on) = &on {
        add_parts(&source, on, counted, &mut tallies, job);
    }
    job.check()?;
    let wanted = Wanted::of(&tallies);
    let mut values = wanted.among_rows(&source, area, &chunks, job);
    if let Some(on) = &on {
        values.extend(wanted.among_parts(&source, on, counted, job));
    }
    let percentiles = percentiles(&tallies, values);
    job.check()?;
    let mut groups = summaries(&source, &tallies);
    let cut = match what {
        What::Slices => cut_off(&source, area),
        // Their intervals were already cut at the borders of the area.
        What::Runs | What::States => FxHashMap::default(),
    };
    for NumberedGroup { group, number } in &mut groups {
        group.precision = Precision::Exact;
        let outside = cut.get(number).copied().unwrap_or_default();
        group.inside_ns -= outside.of_finished + outside.of_unfinished;
        if let Some([p50, p95, p99]) = percentiles.get(number) {
            (group.p50_ns, group.p95_ns, group.p99_ns) = (*p50, *p95, *p99);
        }
    }
    Ok(groups.into_iter().map(|it| it.group).collect())
}

/// Returns the durations in ns of the intervals of an area whose group `is_wanted`, unsorted: the intervals that
/// [`groups`] sums up, without unfinished intervals.
///
/// # Errors
///
/// Errors if the job is cancelled.
pub fn lengths(
    trace: &Trace,
    area: &Area,
    what: What,
    by: GroupBy,
    is_wanted: impl Fn(&Key) -> bool,
    job: &Job,
) -> Result<Vec<i64>, Cancelled> {
    let shape = Shape::new(trace, area, what, by);
    let source = Source {
        trace,
        shape: &shape,
    };
    let wanted: Vec<bool> = (0..shape.group_count as u32)
        .map(|group| is_wanted(&source.key(group, None)))
        .collect();
    let has = |group: u32| wanted.get(group as usize).copied().unwrap_or(false);
    let chunks = chunks(&source, area);
    job.add_total(chunks.len() as u64);
    let of_chunk = |chunk: &Chunk| {
        let mut lengths = Vec::new();
        if !job.is_cancelled() {
            source.each(chunk.owner, chunk.rows.clone(), area.span, |part| {
                if part.group.is_some_and(has) {
                    lengths.extend(part.length.known());
                }
            });
        }
        job.advance(1);
        lengths
    };
    let mut lengths: Vec<i64> = chunks.par_iter().flat_map_iter(of_chunk).collect();
    if let Some(on) = OnCpus::of(trace, area).filter(|_| what == What::Slices) {
        let known = gather(&on, counted(by), job, Vec::new, |known, part| {
            let is_wanted = source.group_on(part).is_some_and(has);
            known.extend(part.length.known().filter(|_| is_wanted));
        });
        lengths.extend(known.into_iter().flatten());
    }
    job.check()?;
    Ok(lengths)
}

/// A group and its number in the source.
#[derive(Clone, Debug)]
pub(super) struct NumberedGroup {
    pub group: Group,
    pub number: u32,
}

/// Returns the groups with their numbers, the largest sum first.
pub(super) fn summaries(source: &Source<'_>, tallies: &Tallies) -> Vec<NumberedGroup> {
    let known = tallies.iter().zip(0..);
    let mut groups: Vec<NumberedGroup> = known
        .filter_map(|(tally, number)| Some((tally.as_ref()?, number)))
        .filter(|(tally, _)| !tally.is_empty())
        .map(|(tally, number)| {
            let is_slice = source.shape.what == What::Slices;
            let longest = tally.longest_slice().filter(|_| is_slice);
            let group = Group {
                key: source.key(number, longest),
                count: tally.count,
                sum_ns: tally.sum,
                own_ns: tally.own,
                inside_ns: tally.sum + tally.at_least,
                unfinished: tally.unfinished,
                unfinished_ns: tally.at_least,
                min_ns: tally.shortest(),
                max_ns: tally.largest(),
                p50_ns: tally.about(50),
                p95_ns: tally.about(95),
                p99_ns: tally.about(99),
                longest,
                precision: Precision::About,
            };
            NumberedGroup { group, number }
        })
        .collect();
    let what = source.shape.what;
    sort_by_size(&mut groups, source.trace, what);
    groups
}

/// Sorts groups, the largest first; groups of equal size are sorted by their words, so that their order does not depend
/// on the order in the file.
pub(super) fn sort_by_size(groups: &mut [NumberedGroup], trace: &Trace, what: What) {
    groups.sort_by(|a, b| {
        let words = |it: &NumberedGroup| it.group.key.label(trace);
        (size(&b.group, what).cmp(&size(&a.group, what)))
            .then_with(|| words(a).cmp(&words(b)))
            .then_with(|| a.number.cmp(&b.number))
    });
}

/// Returns the quantities by which groups are sorted, the largest first. Unfinished slices count, because a slice without
/// an end is a call that hangs. Unfinished states come last: at the end of a recording every state is unfinished.
fn size(group: &Group, what: What) -> (i128, i128) {
    match what {
        What::Slices => (group.sum_ns + group.unfinished_ns, 0),
        What::Runs | What::States => (group.sum_ns, group.unfinished_ns),
    }
}

pub(super) fn tally_of(tallies: &mut Tallies, group: u32) -> &mut Tally {
    tallies[group as usize].get_or_insert_with(Box::default)
}

fn join(mut ours: Tallies, theirs: Tallies) -> Tallies {
    for (own, other) in ours.iter_mut().zip(theirs) {
        match (own, other) {
            (_, None) => {}
            (own @ None, other) => *own = other,
            (Some(own), Some(other)) => own.merge(&other),
        }
    }
    ours
}

/// Returns, for each group, the time of its intervals that is outside of the area, in ns.
fn cut_off(source: &Source<'_>, area: &Area) -> FxHashMap<u32, CutOff> {
    let mut cut = FxHashMap::default();
    if source.is_whole(area.span) {
        return cut;
    }
    for row in &source.shape.rows {
        let inside = source.overlapping(row, area.span);
        source.cut_off(row.owner, &inside, area.span, &mut cut);
    }
    cut
}

struct Chunk {
    owner: u32,
    rows: std::ops::Range<u32>,
}

fn chunks(source: &Source<'_>, area: &Area) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    for row in &source.shape.rows {
        let inside = source.overlapping(row, area.span);
        for first in inside.clone().step_by(CHUNK as usize) {
            chunks.push(Chunk {
                owner: row.owner,
                rows: first..inside.end.min(first.saturating_add(CHUNK)),
            });
        }
    }
    chunks
}

/// In groups of CPUs a slice counts on each CPU that it was on.
fn counted(by: GroupBy) -> Counted {
    match by {
        GroupBy::Cpu => Counted::OnEachCpu,
        _ => Counted::Once,
    }
}

/// Adds the slices of threads on CPUs.
fn add_parts(
    source: &Source<'_>,
    on: &OnCpus<'_>,
    counted: Counted,
    tallies: &mut Tallies,
    job: &Job,
) {
    let count = source.shape.group_count;
    let make = || -> Tallies { vec![None; count] };
    let lists = gather(on, counted, job, make, |tallies, part| {
        let parent = source.parent(part.slice);
        if let Some(parent) = parent.filter(|&it| !source.is_unfinished(it)) {
            let around = source.group_on(&Part {
                slice: parent,
                ..*part
            });
            if let Some(around) = around {
                tally_of(tallies, around).own -= i128::from(part.length.certain());
            }
        }
        if let Some(group) = source.group_on(part) {
            tally_of(tallies, group).take_in(part.slice, part.length);
        }
    });
    for list in lists {
        *tallies = join(std::mem::take(tallies), list);
    }
}

/// A duration that counts in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct GroupLength {
    group: u32,
    ns: i64,
}

/// The buckets that contain the percentiles, by group.
struct Wanted(Vec<Option<[usize; 3]>>);

impl Wanted {
    fn of(tallies: &Tallies) -> Wanted {
        let buckets = tallies.iter().map(|tally| {
            let tally = tally.as_ref().filter(|tally| tally.count > 0)?;
            let bucket = |percent| Some(tally.bucket_at(rank_of(percent, tally.count))?.bucket);
            Some([bucket(50)?, bucket(95)?, bucket(99)?])
        });
        Wanted(buckets.collect())
    }

    fn has(&self, length: GroupLength) -> bool {
        let buckets = self.0.get(length.group as usize).copied().flatten();
        let bucket = super::tally::bucket_of(length.ns);
        buckets.is_some_and(|buckets| buckets.contains(&bucket))
    }

    /// Returns the durations of rows that are in those buckets.
    fn among_rows(
        &self,
        source: &Source<'_>,
        area: &Area,
        chunks: &[Chunk],
        job: &Job,
    ) -> Vec<GroupLength> {
        let collect = |chunk: &Chunk| {
            let mut values: Vec<GroupLength> = Vec::new();
            if !job.is_cancelled() {
                source.each(chunk.owner, chunk.rows.clone(), area.span, |part| {
                    let known = part.group.zip(part.length.known());
                    let known = known.map(|(group, ns)| GroupLength { group, ns });
                    values.extend(known.filter(|it| self.has(*it)));
                });
            }
            job.advance(1);
            values
        };
        chunks.par_iter().flat_map_iter(collect).collect()
    }

    /// Returns the durations of slices on CPUs that are in those buckets.
    fn among_parts(
        &self,
        source: &Source<'_>,
        on: &OnCpus<'_>,
        counted: Counted,
        job: &Job,
    ) -> Vec<GroupLength> {
        let lists = gather(on, counted, job, Vec::new, |values, part| {
            let (group, length) = (source.group_on(part), part.length.known());
            let known = group
                .zip(length)
                .map(|(group, ns)| GroupLength { group, ns });
            values.extend(known.filter(|length| self.has(*length)));
        });
        lists.into_iter().flatten().collect()
    }
}

/// Returns the exact p50, p95 and p99 of each group, from the durations in the buckets that contain them.
fn percentiles(tallies: &Tallies, mut values: Vec<GroupLength>) -> FxHashMap<u32, [i64; 3]> {
    const PERCENTS: [u64; 3] = [50, 95, 99];
    values.par_sort_unstable();
    let mut found = FxHashMap::default();
    for run in values.chunk_by(|a, b| a.group == b.group) {
        let Some(&GroupLength { group, .. }) = run.first() else {
            continue;
        };
        let Some(tally) = tallies.get(group as usize).and_then(Option::as_ref) else {
            continue;
        };
        let exact = PERCENTS.map(|percent| {
            let Some(RankInBucket { bucket, rank }) =
                tally.bucket_at(rank_of(percent, tally.count))
            else {
                return 0;
            };
            let (low, _) = super::tally::bounds_of(bucket);
            let first = run.partition_point(|it| it.ns < low);
            run.get(first + rank as usize).map_or(low, |it| it.ns)
        });
        found.insert(group, exact);
    }
    found
}
