//! The draw list of nested rows as a flat profile: in each column, how long the busiest names were the innermost.
//!
//! ```text
//! rows      [ a           ]     profile   a: 5  b: 6  c: 2
//!             [ b      ]                  the time of a row minus the time of the row below it
//!               [c]
//! ```
//!
//! In a column, a row is named by the slice that fills most of it; times are exact.

use super::block::Block;
use super::buckets::Buckets;
use super::slices;
use crate::base::TimeSpan;
use crate::index::Index;
use crate::index::lod::PARTS;
use crate::index::tally::Tally;
use crate::trace::Trace;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The labels of a profile's parts, busiest first; `None`: all other names together.
pub type ProfileNames = [Option<u32>; PARTS];

/// The time of a row in a column.
#[derive(Clone, Copy, Default)]
struct Taken {
    nanos: f32,
    /// How long its labels take.
    tally: Tally,
    first: u32,
    count: u32,
}

/// The time of a name in a column as the innermost slice.
struct Own {
    column: u32,
    label: u32,
    nanos: f32,
    first: u32,
}

/// Writes the flat profile of neighbouring rows of a track, outermost first, to `out`, which is emptied first.
pub fn profile(
    trace: &Trace,
    index: &Index,
    rows: Range<u32>,
    span: TimeSpan,
    pixels: u32,
    out: &mut Vec<Block>,
) -> ProfileNames {
    let buckets = Buckets::new(span, pixels);
    let mut owns: Vec<Own> = Vec::new();
    let mut above: Vec<Taken> = Vec::new();
    let mut blocks = Vec::new();
    for row in rows {
        let Some(row) = trace.slices.rows.get(row as usize) else {
            break;
        };
        slices(trace, index, row, span, pixels, &mut blocks);
        let taken = taken_of(&buckets, &blocks);
        add_own(&above, &taken, &mut owns);
        above = taken;
        if blocks.is_empty() {
            break;
        }
    }
    add_own(&above, &[], &mut owns);
    let names = busiest(&owns);
    let place: FxHashMap<u32, usize> = (0..)
        .zip(&names)
        .filter_map(|(part, label)| Some(((*label)?, part)))
        .collect();
    let mut sums: Vec<Option<([f32; PARTS], u32)>> = vec![None; buckets.count];
    for own in &owns {
        let part = place.get(&own.label).copied().unwrap_or(PARTS - 1);
        if let Some(sum) = sums.get_mut(own.column as usize) {
            let (times, _) = sum.get_or_insert(([0.0; PARTS], own.first));
            times[part] += own.nanos;
        }
    }
    out.clear();
    out.extend((0..).zip(sums).filter_map(|(column, sum)| {
        let (times, first) = sum?;
        let most = (0..PARTS).max_by(|&a, &b| times[a].total_cmp(&times[b]));
        Some(buckets.block(column, most.unwrap_or(0) as u32, first, times))
    }));
    names
}

/// Returns the time of a row's blocks in each column.
fn taken_of(buckets: &Buckets, blocks: &[Block]) -> Vec<Taken> {
    let mut taken = vec![Taken::default(); buckets.count];
    for block in blocks {
        let time: f32 = block.times.iter().sum();
        buckets.divide(block, |part| {
            let Some(column) = taken.get_mut(part.column) else {
                return;
            };
            let nanos = time * part.share;
            if column.count == 0 {
                column.first = block.first;
            }
            column.count += block.count;
            column.nanos += nanos;
            let weight = nanos.max(1.0);
            column.tally.add(block.label, weight);
        });
    }
    taken
}

/// Adds the time of the outer row that the inner row does not cover.
fn add_own(outer: &[Taken], inner: &[Taken], owns: &mut Vec<Own>) {
    for (column, taken) in (0..).zip(outer) {
        let below = inner.get(column as usize).map_or(0.0, |taken| taken.nanos);
        let nanos = (taken.nanos - below).max(0.0);
        // A row without own time in the column is left out, unless its slices are all instantaneous.
        if taken.count > 0 && (nanos > 0.0 || taken.nanos <= 0.0) {
            owns.push(Own {
                column,
                label: taken.tally.most(),
                nanos,
                first: taken.first,
            });
        }
    }
}

/// Returns the labels with the largest sums; the last part is for all others.
fn busiest(owns: &[Own]) -> ProfileNames {
    let mut sums: FxHashMap<u32, f64> = FxHashMap::default();
    for own in owns {
        *sums.entry(own.label).or_default() += f64::from(own.nanos);
    }
    let mut sums: Vec<(u32, f64)> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut names = [None; PARTS];
    let has_others = sums.len() > PARTS;
    let most = if has_others { PARTS - 1 } else { PARTS };
    for (name, (label, _)) in names.iter_mut().zip(sums).take(most) {
        *name = Some(label);
    }
    names
}
