//! Own time: how long slices were the innermost ones. Pyramids of own time tell which names have most of it, at any zoom.
//!
//! ```text
//! row        [ a               ]     own time of a    ##      ####  ##
//! below        [ b    ]    [c]
//! ```
//!
//! A level divides the time of a row of slices into cells that are `2^shift` ns long. Each cell has the whole own time in
//! it, exactly, and that of the names with most of it. In the finest level, a cell has about 64 slices.

use super::lod::{Row, SMALL_ROW, coarsest_within};
use super::lod_rows::slice_row;
use super::tally::Tally;
use crate::base::Maybe;
use crate::base::TimeSpan;
use crate::base::column::Column;
use crate::base::order::first_not;
use crate::trace::Trace;
use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

/// The number of names of a cell.
const NAMES: usize = 8;
/// Slices of a cell of the finest level, on average over the row's time.
const SLICES_PER_CELL: u64 = 64;
/// Time in ns with which a slice without a length counts among the names.
const INSTANT: f32 = 1e-3;

/// Own times of a row of slices in a stretch of time.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct OwnCell {
    /// The names with most own time.
    pub names: Tally<NAMES>,
    /// The own time of all names, in ns.
    pub total: f32,
    /// A slice in it, if there is one.
    pub slice: Maybe<u32>,
}

impl Default for OwnCell {
    fn default() -> OwnCell {
        OwnCell {
            names: Tally::default(),
            total: 0.0,
            slice: Maybe::NONE,
        }
    }
}

impl OwnCell {
    /// Adds `share` of another cell, from 0 to 1.
    #[inline]
    pub(crate) fn add(&mut self, other: &OwnCell, share: f32) {
        self.names.add_all(&other.names.scaled(share));
        self.total += other.total * share;
        self.slice = self.slice.min(other.slice);
    }

    /// Adds own time of a slice.
    #[inline]
    pub(crate) fn add_own(&mut self, own: Own, nanos: i64) {
        self.names.add(own.label, (nanos as f32).max(INSTANT));
        self.total += nanos as f32;
        self.slice = self.slice.min(Maybe::new(own.slice));
    }
}

/// A stretch of time in which a slice was the innermost one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Own {
    /// The number of the slice's label.
    pub label: u32,
    /// The slice.
    pub slice: u32,
    /// Its start in ns.
    pub start: i64,
    /// Its end in ns.
    pub end: i64,
}

/// The own times of a row of slices, at all zooms.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OwnLod {
    /// The finest first.
    levels: Vec<OwnLevel>,
}

/// One level of a pyramid of own times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OwnLevel {
    shift: u32,
    /// The number of the first cell: its start in units of the cell's length.
    first: i64,
    cells: Column<OwnCell>,
}

impl OwnLod {
    /// Returns the pyramid of the row of slices with this index; `None` if the row has few slices, or no row above or below
    /// it: its own time is that of its slices.
    #[must_use]
    pub(crate) fn of_large(trace: &Trace, row: usize) -> Option<OwnLod> {
        let of = trace.slices.rows.get(row)?;
        let is_nested = of.row > 0 || below(trace, row).is_some();
        let count = of.slices.len();
        if !is_nested || count < SMALL_ROW {
            return None;
        }
        let slices = slice_row(trace, of);
        let (start, end) = (slices.start(0), slices.end(slices.len() - 1));
        let most = (count as u64 / SLICES_PER_CELL).max(4) as i64;
        let mut shift = 0;
        while shift < 62 && ((end >> shift) - (start >> shift)) >= most {
            shift += 1;
        }
        let mut level = OwnLevel {
            shift,
            first: start >> shift,
            cells: vec![OwnCell::default(); ((end >> shift) - (start >> shift) + 1) as usize]
                .into(),
        };
        own_times(trace, row, TimeSpan::ALL, |own| level.add(own));
        let mut levels = vec![level];
        while let Some(finer) = levels.last()
            && finer.cells.len() > 4
            && finer.shift < 62
        {
            levels.push(finer.coarser());
        }
        Some(OwnLod { levels })
    }

    /// Returns the coarsest level whose cells are at most `width` ns long; `None` if all are longer.
    #[must_use]
    pub(crate) fn level(&self, width: i64) -> Option<&OwnLevel> {
        coarsest_within(&self.levels, width, |level| level.shift)
    }

    /// Returns the finest level.
    #[must_use]
    pub(crate) fn finest(&self) -> Option<&OwnLevel> {
        self.levels.first()
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let levels = self.levels.iter();
        levels.map(|level| level.cells.memory_bytes()).sum()
    }
}

impl OwnLevel {
    /// Calls `each` with the cells in a span that contain slices: their start and end in ns.
    pub(crate) fn in_span(&self, span: TimeSpan, mut each: impl FnMut(i64, i64, &OwnCell)) {
        let low = (span.start.0 >> self.shift)
            .saturating_sub(self.first)
            .max(0);
        let cells = self
            .cells
            .iter()
            .enumerate()
            .skip(usize::try_from(low).unwrap_or(0));
        for (at, cell) in cells {
            let start = (self.first + at as i64) << self.shift;
            if start >= span.end.0 {
                break;
            }
            if cell.slice.is_some() {
                each(start, start.saturating_add(1 << self.shift), cell);
            }
        }
    }

    fn add(&mut self, own: Own) {
        let number = |time: i64| (time >> self.shift) - self.first;
        let (low, high) = (number(own.start), number((own.end - 1).max(own.start)));
        for at in low..=high {
            let start = (self.first + at) << self.shift;
            let nanos = own.end.min(start.saturating_add(1 << self.shift)) - own.start.max(start);
            if let Some(cell) = self
                .cells
                .get_mut(usize::try_from(at).unwrap_or(usize::MAX))
            {
                cell.add_own(own, nanos);
            }
        }
    }

    /// Returns the level with cells twice as long.
    fn coarser(&self) -> OwnLevel {
        let first = self.first >> 1;
        let last = (self.first + self.cells.len() as i64 - 1) >> 1;
        let mut cells = vec![OwnCell::default(); (last - first + 1) as usize];
        for (number, cell) in (self.first..).zip(&self.cells) {
            if let Some(into) = cells.get_mut(((number >> 1) - first) as usize) {
                into.add(cell, 1.0);
            }
        }
        OwnLevel {
            shift: self.shift + 1,
            first,
            cells: cells.into(),
        }
    }
}

/// Returns the index of the row directly below a row of slices, if there is one.
fn below(trace: &Trace, row: usize) -> Option<usize> {
    let (of, next) = (trace.slices.rows.get(row)?, trace.slices.rows.get(row + 1)?);
    (next.track == of.track && next.row == of.row + 1).then_some(row + 1)
}

/// Returns how many slices of a row meet a span.
#[must_use]
pub(crate) fn count_in(trace: &Trace, row: usize, span: TimeSpan) -> usize {
    let Some(of) = trace.slices.rows.get(row) else {
        return 0;
    };
    let slices = slice_row(trace, of);
    let count = slices.len() as usize;
    let low = first_not(0..count, |at| slices.end(at as u32) <= span.start.0);
    let high = first_not(low..count, |at| slices.start(at as u32) < span.end.0);
    high - low
}

/// Calls `each` with the own times of a row's slices, in order, of slices that meet a span.
pub(crate) fn own_times(trace: &Trace, row: usize, span: TimeSpan, mut each: impl FnMut(Own)) {
    let Some(of) = trace.slices.rows.get(row) else {
        return;
    };
    let slices = slice_row(trace, of);
    let inner = below(trace, row).and_then(|below| trace.slices.rows.get(below));
    let inner = inner.map(|inner| (slice_row(trace, inner), inner.slices.len()));
    let count = slices.len() as usize;
    let low = first_not(0..count, |at| {
        slices.end(at as u32) <= span.start.0 && slices.start(at as u32) < span.start.0
    });
    let mut child = match &inner {
        Some((inner, count)) if low < of.slices.len() => {
            let start = slices.start(low as u32);
            first_not(0..*count, |at| inner.start(at as u32) < start)
        }
        _ => 0,
    };
    for at in low as u32..slices.len() {
        let (start, end) = (slices.start(at), slices.end(at));
        if start >= span.end.0 {
            break;
        }
        let (label, slice) = (slices.label(at), of.slices.start + at);
        let own = |start: i64, end: i64| Own {
            label,
            slice,
            start,
            end,
        };
        if start == end {
            each(own(start, end));
        }
        let mut from = start;
        if let Some((inner, count)) = &inner {
            while child < *count {
                let (begin, until) = (inner.start(child as u32), inner.end(child as u32));
                if begin >= end {
                    break;
                }
                if begin > from {
                    each(own(from, begin));
                }
                from = from.max(until);
                child += 1;
            }
        }
        if from < end {
            each(own(from, end));
        }
    }
}
