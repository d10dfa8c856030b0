//! Columns of pixels that are coarser than the data: such a column shows shares of its time by height.
//!
//! ```text
//! blocks     [==== bar ====][=][=] [=]   [==== bar ====]
//! columns   |     |     |     | a   | b   |     |           a and b have thin blocks: they are stacked
//! ```
//!
//! Items at least a column wide are bars of full height with rounded edges. A column with anything thinner is measured
//! exactly: its thin blocks, and the ends of bars in it.

use crate::index::lod::PARTS;
use crate::index::lod_rows::StatePart;
use crate::query::visible::{Block, Piece};
use crate::trace::ThreadState;

/// If less than this part of a column reaches into the next column, it is added to the column where it starts.
const HARDLY: f64 = 0.02;

/// What is stacked in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stacked {
    /// The parts of a thread's time, in the order of [`StatePart`].
    States,
    /// The ends of the bars before and after, and all thin blocks together.
    Names,
    /// The names of a flat profile; a part's label is its number.
    Profile,
}

/// Indices in a stack of names: the end of the bar before, the end of the bar after, and the thin blocks.
const BEFORE: usize = 0;
const AFTER: usize = 1;
const THIN: usize = 2;

/// A column that is coarser than the data.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Number of the column.
    pub(super) at: i64,
    stacked: Stacked,
    /// The thin blocks as one, with the label that takes most of the time.
    block: Block,
    /// The bars that end and start here.
    ends: [Option<Block>; 2],
    /// The share of each part, in columns.
    shares: [f32; PARTS],
}

impl Column {
    /// Returns how many of `rows` rows each part takes, from the bottom: every part that occurs takes at least one row.
    pub(super) fn heights(&self, rows: usize) -> [usize; PARTS] {
        let mut heights = [0; PARTS];
        let (mut sum, mut below) = (0.0_f32, 0);
        for (part, height) in heights.iter_mut().enumerate() {
            let share = self.shares[part];
            sum += share;
            let edge = (sum * rows as f32 + 0.5) as usize;
            if share > 0.0 || self.is_instantaneous(part) {
                *height = edge.saturating_sub(below).max(1);
            }
            below = below.max(edge);
        }
        let mut over = heights.iter().sum::<usize>().saturating_sub(rows);
        while over > 0 {
            let Some(largest) = heights.iter_mut().max().filter(|height| **height > 1) else {
                break;
            };
            *largest -= 1;
            over -= 1;
        }
        heights
    }

    /// Returns whether a part contains only items without a duration.
    fn is_instantaneous(&self, part: usize) -> bool {
        match self.stacked {
            Stacked::Names => part == THIN,
            Stacked::Profile => {
                part == self.block.label as usize && self.block.times.iter().all(|it| *it <= 0.0)
            }
            Stacked::States => {
                part == part_of(self.block.label) && self.block.times.iter().all(|it| *it <= 0.0)
            }
        }
    }

    /// Returns a block with the colour of a part.
    pub(super) fn block_of(&self, part: usize) -> Block {
        match self.stacked {
            Stacked::Names => match part {
                BEFORE | AFTER => self.ends[part].unwrap_or(self.block),
                _ => self.block,
            },
            Stacked::Profile => Block {
                label: part as u32,
                ..self.block
            },
            // A single state, and the part with the most time, has its own colour; other states have the colour of
            // their part.
            Stacked::States if part == part_of(self.block.label) => self.block,
            Stacked::States => {
                let state = StatePart::ALL.get(part).map(|part| part.state());
                Block {
                    label: state.unwrap_or_default() as u32,
                    count: self.block.count.max(2),
                    ..self.block
                }
            }
        }
    }
}

/// Returns the number of the part that a state belongs to.
fn part_of(label: u32) -> usize {
    let state = ThreadState::ALL.get(label as usize).copied();
    StatePart::of(state.unwrap_or_default()) as usize
}

/// Measures the columns of a lane whose blocks are added from left to right. Positions are in columns.
pub(super) struct Afar {
    stacked: Stacked,
    open: Option<Open>,
    /// The last bar and its end.
    bar: Option<(f64, Block)>,
}

struct Open {
    at: i64,
    piece: Piece,
    ends: [Option<Block>; 2],
    shares: [f32; PARTS],
}

impl Afar {
    pub(super) fn new(stacked: Stacked) -> Afar {
        Afar {
            stacked,
            open: None,
            bar: None,
        }
    }

    /// Adds a thin block, or one of several items; finished columns are handed to `emit`.
    pub(super) fn thin(
        &mut self,
        block: &Block,
        from: f64,
        until: f64,
        mut emit: impl FnMut(Column),
    ) {
        let length = until - from;
        let mut at = from.floor();
        loop {
            let is_last = until <= at + 1.0 + HARDLY;
            let inside = match is_last {
                true => until - from.max(at),
                false => at + 1.0 - from.max(at),
            };
            let part = if length > 0.0 { inside / length } else { 1.0 };
            self.add(at as i64, block, part as f32, length, &mut emit);
            if is_last {
                return;
            }
            at += 1.0;
        }
    }

    /// Adds a bar.
    pub(super) fn bar(&mut self, block: &Block, from: f64, until: f64, emit: impl FnMut(Column)) {
        if let Some(open) = &mut self.open
            && open.at == from.floor() as i64
        {
            let share = from.floor() + 1.0 - from;
            open.take_end(self.stacked, AFTER, block, share as f32);
        }
        self.finish(emit);
        self.bar = Some((until, *block));
    }

    /// Finishes the last column.
    pub(super) fn finish(&mut self, mut emit: impl FnMut(Column)) {
        if let Some(open) = self.open.take() {
            emit(Column {
                at: open.at,
                stacked: self.stacked,
                block: open.piece.block(0),
                ends: open.ends,
                shares: open.shares,
            });
        }
    }

    /// Adds `part` of a block, which is `length` columns long, to a column.
    fn add(
        &mut self,
        at: i64,
        block: &Block,
        part: f32,
        length: f64,
        emit: &mut impl FnMut(Column),
    ) {
        let mut piece = Piece::of(block);
        piece.scale(part);
        let columns_per_nano = length as f32 / (block.end - block.start).max(1) as f32;
        let taken = block.times.map(|time| time * part * columns_per_nano);
        if self.open.as_ref().is_none_or(|open| open.at != at) {
            self.finish(emit);
            let mut open = Open {
                at,
                piece,
                ends: [None; 2],
                shares: [0.0; PARTS],
            };
            if let Some((until, bar)) = &self.bar
                && until.floor() as i64 == at
            {
                let share = until - until.floor();
                open.take_end(self.stacked, BEFORE, bar, share as f32);
            }
            self.open = Some(open);
        } else if let Some(open) = &mut self.open {
            open.piece.take_in(&piece);
        }
        let Some(open) = &mut self.open else { return };
        match self.stacked {
            Stacked::States | Stacked::Profile => {
                for (sum, share) in open.shares.iter_mut().zip(taken) {
                    *sum += share;
                }
            }
            Stacked::Names => open.shares[THIN] += taken.iter().sum::<f32>(),
        }
    }
}

impl Open {
    /// Adds the end of a bar that is in the column.
    fn take_end(&mut self, stacked: Stacked, side: usize, bar: &Block, share: f32) {
        match stacked {
            Stacked::States => self.shares[part_of(bar.label)] += share,
            // A profile has no bars.
            Stacked::Names | Stacked::Profile => {
                self.shares[side] += share;
                self.ends[side] = Some(*bar);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an item of some ns with a label.
    fn item(start: i64, end: i64, label: u32, part: usize) -> Block {
        let mut times = [0.0; PARTS];
        times[part] = (end - start) as f32;
        Block {
            start,
            end,
            label,
            first: 0,
            count: 1,
            times,
        }
    }

    /// Returns the columns of 100 ns that are coarser than the data.
    fn columns(stacked: Stacked, blocks: &[Block]) -> Vec<Column> {
        let mut columns = Vec::new();
        let mut afar = Afar::new(stacked);
        for block in blocks {
            let (from, until) = (block.start as f64 / 100.0, block.end as f64 / 100.0);
            if block.count == 1 && block.end - block.start >= 100 {
                afar.bar(block, from, until, |column| columns.push(column));
            } else {
                afar.thin(block, from, until, |column| columns.push(column));
            }
        }
        afar.finish(|column| columns.push(column));
        columns
    }

    #[test]
    fn a_column_shows_how_long_each_state_lasted_in_it() {
        let state = |start, end, state: ThreadState| {
            item(start, end, state as u32, StatePart::of(state) as usize)
        };
        let seen = columns(
            Stacked::States,
            &[
                state(0, 240, ThreadState::Sleeping),
                state(240, 255, ThreadState::Runnable),
                state(255, 280, ThreadState::Running),
                state(280, 310, ThreadState::Uninterruptible),
                state(310, 600, ThreadState::Sleeping),
            ],
        );
        let of = |column: &Column| column.shares.map(|share| (share * 100.0).round() as i32);
        assert_eq!(seen.iter().map(|it| it.at).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(of(&seen[0]), [25, 15, 0, 20, 0, 40]);
        assert_eq!(of(&seen[1]), [0, 0, 0, 10, 0, 90]);
        assert_eq!(seen[0].heights(20), [5, 3, 0, 4, 0, 8]);
        assert_eq!(seen[1].heights(20), [0, 0, 0, 2, 0, 18]);
        // A rare part is still visible.
        assert_eq!(seen[1].heights(3), [0, 0, 0, 1, 0, 2]);
    }

    #[test]
    fn a_rare_run_between_two_long_ones_takes_a_row_of_its_own() {
        let seen = columns(
            Stacked::Names,
            &[
                item(0, 450, 7, 0),
                item(450, 451, 8, 0),
                item(451, 900, 7, 0),
            ],
        );
        assert_eq!(seen.len(), 1);
        let heights = seen[0].heights(12);
        assert_eq!(heights[THIN], 1);
        assert_eq!(heights.iter().sum::<usize>(), 12);
        assert_eq!(seen[0].block_of(THIN).label, 8);
        assert_eq!(seen[0].block_of(BEFORE).label, 7);
    }

    #[test]
    fn no_time_is_lost_where_blocks_cross_columns() {
        let blocks: Vec<Block> = (0..70)
            .map(|at| item(at * 37, at * 37 + 30, 1, 0))
            .collect();
        let seen = columns(Stacked::Names, &blocks);
        let sum: f32 = seen.iter().map(|column| column.shares[THIN]).sum();
        assert!((sum - 21.0).abs() < 1e-3, "{sum}");
        assert!(seen.iter().all(|it| it.shares[THIN] < 1.03));
    }
}
