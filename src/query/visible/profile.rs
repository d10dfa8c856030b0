//! The draw list of nested rows as a flat profile: in each column, how long the busiest names were the innermost.
//!
//! ```text
//! rows      [ a           ]     profile   a: 5  b: 6  c: 2
//!             [ b      ]                  the time of a row minus the time of the row below it
//!               [c]
//! ```
//!
//! Sums are exact; of each column, the names with most own time are known (`index/own_time`).

use super::block::Block;
use super::buckets::Buckets;
use crate::base::TimeSpan;
use crate::index::Index;
use crate::index::lod::PARTS;
use crate::index::own_time::{OwnCell, OwnLod, count_in, own_times};
use crate::trace::Trace;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Rows with more slices than this for each pixel in view are read from their pyramid even if its cells are longer than
/// pixels.
const MOST_SLICES_PER_PIXEL: usize = 256;

/// The labels of a profile's parts, busiest first; `None`: all other names together.
pub type ProfileNames = [Option<u32>; PARTS];

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
    let mut cells = vec![OwnCell::default(); buckets.count];
    for row in rows {
        if !add_row(trace, index, row as usize, span, &buckets, &mut cells) {
            break;
        }
    }
    let Busiest { names, others } = busiest(&cells);
    let place: FxHashMap<u32, usize> = (0..)
        .zip(&names)
        .filter_map(|(part, label)| Some(((*label)?, part)))
        .collect();
    out.clear();
    out.extend((0..).zip(&cells).filter_map(|(column, cell)| {
        let first = cell.slice.get()?;
        let mut times = [0.0; PARTS];
        let mut rest = cell.total;
        for (label, nanos) in cell.names.all() {
            if let Some(&part) = place.get(&label) {
                times[part] += nanos;
                rest -= nanos;
            }
        }
        // Names without a part of their own, and what the times of a column are too low by (none of up to eight names).
        if others == Others::Some {
            times[PARTS - 1] += rest.max(0.0);
        }
        let most = (0..PARTS).max_by(|&a, &b| times[a].total_cmp(&times[b]));
        Some(buckets.block(column, most.unwrap_or(0) as u32, first, times))
    }));
    names
}

/// Adds the own times of a row; returns whether any of its slices is in view.
fn add_row(
    trace: &Trace,
    index: &Index,
    row: usize,
    span: TimeSpan,
    buckets: &Buckets,
    cells: &mut [OwnCell],
) -> bool {
    let lod = index.own_times.get(row).and_then(Option::as_ref);
    let is_many = || count_in(trace, row, span) > MOST_SLICES_PER_PIXEL * buckets.count;
    let level = lod.and_then(|lod: &OwnLod| {
        let fine = lod.level(buckets.width() / 2);
        fine.or_else(|| lod.finest().filter(|_| is_many()))
    });
    match level {
        Some(level) => level.in_span(span, |start, end, own| {
            buckets.divide(start..end, |part| {
                if let Some(cell) = cells.get_mut(part.column) {
                    cell.add(own, part.share);
                }
            });
        }),
        None => own_times(trace, row, span, |own| {
            buckets.divide(own.start..own.end, |part| {
                if let Some(cell) = cells.get_mut(part.column) {
                    cell.add_own(own, part.nanos);
                }
            });
        }),
    }
    // Slices that are covered by others have no own time.
    count_in(trace, row, span) > 0
}

/// Whether there are more names than parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    None,
    /// The last part is theirs.
    Some,
}

/// The names with most own time.
struct Busiest {
    names: ProfileNames,
    others: Others,
}

/// Returns the labels with the largest sums; the last part is for all others.
fn busiest(cells: &[OwnCell]) -> Busiest {
    let mut sums: FxHashMap<u32, f64> = FxHashMap::default();
    for (label, nanos) in cells.iter().flat_map(|cell| cell.names.all()) {
        *sums.entry(label).or_default() += f64::from(nanos);
    }
    let mut sums: Vec<(u32, f64)> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut names = [None; PARTS];
    let (most, others) = match sums.len() > PARTS {
        true => (PARTS - 1, Others::Some),
        false => (PARTS, Others::None),
    };
    for (name, (label, _)) in names.iter_mut().zip(sums).take(most) {
        *name = Some(label);
    }
    Busiest { names, others }
}
