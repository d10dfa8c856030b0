//! Sums of an area that follow a drag: only rows that an edge passed over are added or removed.

use std::ops::Range;
use std::sync::Arc;

use super::exact::{NumberedGroup, Tallies, sort_by_size, summaries, tally_of};
use super::source::{CutOff, Shape, Source};
use super::{Area, Group, GroupBy, Lane, Lanes, What};
use crate::base::TimeSpan;
use crate::trace::Trace;

/// The sums of some lanes in a span that moves.
///
/// Make one when a selection begins, [`LiveArea::follow`] once a frame with a budget, show
/// [`LiveArea::groups`]. A change of lanes needs a new one.
#[derive(Debug)]
pub struct LiveArea {
    trace: Arc<Trace>,
    shape: Shape,
    span: TimeSpan,
    /// By row: the range of intervals that the tallies contain.
    held: Vec<Range<u32>>,
    tallies: Tallies,
    is_settled: bool,
}

impl LiveArea {
    /// Returns whether sums of these lanes can follow a drag. Sums of the slices of threads on CPUs cannot, because a
    /// slice has as many parts as its thread has runs.
    #[must_use]
    pub fn can_follow(lanes: &Lanes, what: What) -> bool {
        let is_on_cpu = match lanes {
            Lanes::All => false,
            Lanes::Of(lanes) => lanes.iter().any(|lane| matches!(lane, Lane::OnCpu(_))),
            Lanes::Both { .. } => true,
        };
        !(is_on_cpu && what == What::Slices)
    }

    /// Returns empty sums of these lanes; the span is set by [`LiveArea::follow`].
    #[must_use]
    pub fn new(trace: Arc<Trace>, area: &Area, what: What, by: GroupBy) -> LiveArea {
        let shape = Shape::new(&trace, area, what, by);
        let rows = shape.rows.iter();
        LiveArea {
            held: rows.map(|row| row.range.start..row.range.start).collect(),
            tallies: vec![None; shape.group_count],
            trace,
            shape,
            span: area.span,
            is_settled: false,
        }
    }

    /// Changes the sums to those of `span`, adding and removing at most `budget` intervals. Returns whether they are
    /// complete: if not, call it again in the next frame.
    pub fn follow(&mut self, span: TimeSpan, budget: usize) -> bool {
        self.span = span;
        let (trace, shape) = (Arc::clone(&self.trace), &self.shape);
        let source = Source {
            trace: &trace,
            shape,
        };
        let tallies = &mut self.tallies;
        let mut left = budget.min(u32::MAX as usize) as u32;
        self.is_settled = true;
        for (row, held) in shape.rows.iter().zip(&mut self.held) {
            let wanted = source.overlapping(row, span);
            let mut work = Work {
                source,
                tallies,
                owner: row.owner,
                left: &mut left,
            };
            // First removes the rows that are no longer in the span, then adds the missing ones, at both ends.
            let is_apart = held.end <= wanted.start || wanted.end <= held.start;
            let keep_from = if is_apart { held.end } else { wanted.start };
            while held.start < held.end.min(keep_from) {
                let some = work.take(held.start..held.end.min(keep_from));
                if some == 0 {
                    break;
                }
                work.change(held.start..held.start + some, Change::Remove);
                held.start += some;
            }
            if held.start < held.end && wanted.end < held.end {
                let some = work.take(wanted.end.max(held.start)..held.end);
                work.change(held.end - some..held.end, Change::Remove);
                held.end -= some;
            }
            if held.start >= held.end {
                *held = wanted.start..wanted.start;
            }
            if wanted.start < held.start && held.start <= wanted.end {
                let some = work.take(wanted.start..held.start);
                work.change(held.start - some..held.start, Change::Add);
                held.start -= some;
            }
            if held.end < wanted.end && wanted.start <= held.end {
                let some = work.take(held.end..wanted.end);
                work.change(held.end..held.end + some, Change::Add);
                held.end += some;
            }
            self.is_settled &= *held == wanted || (held.start >= held.end && wanted.is_empty());
        }
        self.is_settled
    }

    /// Returns whether the last [`LiveArea::follow`] was complete.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// Returns the sums of the intervals so far, the largest first. Percentiles are within 3 %; runs and states are cut
    /// at the edges.
    #[must_use]
    pub fn groups(&self) -> Vec<Group> {
        let source = Source {
            trace: &self.trace,
            shape: &self.shape,
        };
        // Only the first and the last interval of each row can reach out of the area.
        let mut cut: rustc_hash::FxHashMap<u32, CutOff> = rustc_hash::FxHashMap::default();
        for (row, held) in self.shape.rows.iter().zip(&self.held) {
            source.cut_off(row.owner, held, self.span, &mut cut);
        }
        let cut_of = |number: &u32| cut.get(number).copied().unwrap_or_default();
        if self.shape.what == What::Slices {
            let mut groups = summaries(&source, &self.tallies);
            let mut outside: rustc_hash::FxHashMap<u32, i128> = rustc_hash::FxHashMap::default();
            source.children_outside(self.span, |owner, parent, length| {
                if let Some(group) = source.group(owner, parent) {
                    *outside.entry(group).or_default() += i128::from(length);
                }
            });
            for NumberedGroup { group, number } in &mut groups {
                group.own_ns -= outside.get(number).copied().unwrap_or(0);
                let cut = cut_of(number);
                group.inside_ns -= cut.of_finished + cut.of_unfinished;
            }
            return groups.into_iter().map(|it| it.group).collect();
        }
        // For runs and states, only the part inside the area counts.
        let mut groups = summaries(&source, &self.tallies);
        for NumberedGroup { group, number } in &mut groups {
            let cut = cut_of(number);
            group.sum_ns -= cut.of_finished;
            group.own_ns -= cut.of_finished;
            group.unfinished_ns -= cut.of_unfinished;
            group.inside_ns -= cut.of_finished + cut.of_unfinished;
        }
        let what = self.shape.what;
        sort_by_size(&mut groups, source.trace, what);
        groups.into_iter().map(|it| it.group).collect()
    }
}

/// Changes to the tallies for one row, as long as the budget lasts.
struct Work<'a> {
    source: Source<'a>,
    tallies: &'a mut Tallies,
    owner: u32,
    left: &'a mut u32,
}

impl Work<'_> {
    /// Returns how many of `rows` the budget allows, and subtracts them from it.
    fn take(&mut self, rows: Range<u32>) -> u32 {
        let some = (rows.len() as u32).min(*self.left);
        *self.left -= some;
        some
    }

    fn change(&mut self, rows: Range<u32>, change: Change) {
        let (source, tallies) = (self.source, &mut *self.tallies);
        let mut around = source.arounds(self.owner);
        source.each(self.owner, rows, TimeSpan::ALL, |part| {
            if let Some(group) = part.group {
                let tally = tally_of(tallies, group);
                match change {
                    Change::Add => tally.take_in(part.row, part.length),
                    Change::Remove => tally.put_out(part.length),
                }
            }
            if let Some(around) = around(part.parent) {
                let length = i128::from(source.taken(part.row, part.length.certain()));
                let own = &mut tally_of(tallies, around).own;
                match change {
                    Change::Add => *own -= length,
                    Change::Remove => *own += length,
                }
            }
        });
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Add,
    Remove,
}
