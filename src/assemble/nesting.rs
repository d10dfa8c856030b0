//! Computes the parents and rows of one track's slices, which are sorted by start. Slices in a row never overlap.
//!
//! A slice is put one row below the innermost slice that contains it whole. Where times are equal, the order of ends
//! decides whether a slice of no length is still inside the slice that ends then. If slices overlap and neither contains
//! the other, the later slice is put into the next row that is free; no slice is cut or dropped.

use super::draft::Draft;
use super::free_rows::FreeRows;
use crate::base::Maybe;

/// The slices of a track, with the row and parent of each.
#[derive(Debug, Default)]
pub(crate) struct Nested {
    /// The slices, sorted by start.
    pub slices: Vec<Draft>,
    /// The row of each slice.
    pub rows: Vec<u32>,
    /// The parent of each slice, an index into `slices` lower than the slice's own.
    pub parents: Vec<Maybe<u32>>,
    /// The number of slices in each row.
    pub row_counts: Vec<u32>,
    /// Slices whose measured duration differs from end minus start: (index into `slices`, duration in ns).
    pub measured: Vec<(u32, i64)>,
}

impl Nested {
    /// Sets the measured durations of the slices for which `duration_of` returns one, in ns.
    pub(crate) fn set_measured(&mut self, duration_of: impl Fn(&Draft) -> Option<i64>) {
        let slices = self.slices.iter().zip(0_u32..);
        let known = slices.filter_map(|(draft, at)| Some((at, duration_of(draft)?)));
        self.measured = known.collect();
    }
}

/// A slice that can contain later slices.
struct Holder {
    start: i64,
    /// Whether the slice around it began at the same time.
    starts_with_another: bool,
    end: Maybe<i64>,
    /// The event that ended it.
    finish: Maybe<u32>,
    index: u32,
    row: u32,
}

impl Holder {
    /// Returns whether a slice that has no length and begins where this slice ends is inside it, by the order of
    /// events. If more than two slices began together, only the order of begins decides.
    fn ends_after(&self, inner: &Draft) -> bool {
        let finish = inner.finish.get();
        (self.start < inner.start || !self.starts_with_another)
            && self.end == inner.start
            && inner.end == inner.start
            && finish.is_some_and(|inner| self.finish.get().is_some_and(|own| inner < own))
    }
}

/// Puts slices into rows; they must be sorted by start (ties: outer first). Each slice is examined at most twice,
/// however slices overlap.
pub(crate) fn nest(drafts: Vec<Draft>) -> Nested {
    let mut free = FreeRows::default();
    let mut rows: Vec<u32> = Vec::with_capacity(drafts.len());
    let mut parents: Vec<Maybe<u32>> = Vec::with_capacity(drafts.len());
    // Invariant: ends decrease towards the top of the stack, so the top is the innermost slice that can contain the
    // next.
    let mut holders: Vec<Holder> = Vec::new();
    for (index, draft) in drafts.iter().enumerate() {
        // Pops slices that ended by this start or that end before this slice does: they contain neither it nor later
        // slices.
        while holders.last().is_some_and(|open| {
            (open.end <= draft.start && !open.ends_after(draft)) || open.end < draft.end
        }) {
            holders.pop();
        }
        let parent = holders.last();
        let starts_with_another = parent.is_some_and(|open| open.start == draft.start);
        let row = free.take(
            parent.map_or(0, |open| open.row + 1),
            draft.start,
            draft.end,
        );
        rows.push(row);
        parents.push(parent.map(|open| open.index).into());
        holders.push(Holder {
            start: draft.start,
            starts_with_another,
            end: draft.end,
            finish: draft.finish,
            index: index as u32,
            row,
        });
    }
    Nested {
        slices: drafts,
        rows,
        parents,
        row_counts: free.into_counts(),
        measured: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(start: i64, end: i64) -> Draft {
        Draft {
            start,
            end: Maybe::new(end),
            is_unended: false,
            label: 0,
            begin: start as u32,
            finish: Maybe::NONE,
        }
    }

    fn rows_of(nested: &Nested) -> Vec<Vec<(i64, i64)>> {
        let mut rows = vec![Vec::new(); nested.row_counts.len()];
        for (draft, &row) in nested.slices.iter().zip(&nested.rows) {
            rows[row as usize].push((draft.start, draft.end.or_greatest()));
        }
        let counts: Vec<u32> = rows.iter().map(|row| row.len() as u32).collect();
        assert_eq!(counts, nested.row_counts);
        rows
    }

    #[test]
    fn holders_are_parents_and_overlaps_move_down() {
        let nested = nest(vec![
            draft(0, 100),
            draft(10, 50),
            draft(20, 30),
            draft(40, 60),
            draft(55, 58),
            draft(200, 210),
        ]);
        assert_eq!(
            rows_of(&nested),
            vec![
                vec![(0, 100), (200, 210)],
                vec![(10, 50)],
                vec![(20, 30), (40, 60)],
                vec![(55, 58)]
            ]
        );
        let parent_of = |start| {
            let index = nested.slices.iter().position(|d| d.start == start).unwrap();
            let parent = nested.parents[index].get();
            parent.map(|parent| nested.slices[parent as usize].start)
        };
        assert_eq!(parent_of(20), Some(10));
        assert_eq!(parent_of(40), Some(0));
        assert_eq!(parent_of(55), Some(40));
        assert_eq!(parent_of(200), None);
    }

    #[test]
    fn a_slice_of_no_length_is_inside_what_ends_after_it() {
        let pair = |start, end, begin, finish| Draft {
            begin,
            finish: Maybe::new(finish),
            ..draft(start, end)
        };
        let nested = nest(vec![
            pair(0, 10, 1, 6),
            pair(10, 10, 2, 5),
            pair(10, 10, 3, 4),
            pair(10, 10, 7, 8),
            // A complete event states no order of ends.
            draft(10, 10),
        ]);
        let parents: Vec<Option<u32>> = nested.parents.iter().map(|it| it.get()).collect();
        assert_eq!(parents, [None, Some(0), Some(1), None, None]);
    }

    #[test]
    fn no_row_overlaps_whatever_comes() {
        let mut state = 12345_u64;
        let mut random = |limit: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % limit
        };
        for _ in 0..200 {
            let mut drafts: Vec<_> = (0..50)
                .map(|_| {
                    let start = random(100) as i64;
                    let end = if random(20) == 0 {
                        i64::MAX
                    } else {
                        start + random(40) as i64
                    };
                    draft(start, end)
                })
                .collect();
            drafts.sort_by_key(|d| (d.start, std::cmp::Reverse(d.end)));
            let nested = nest(drafts);
            assert_eq!(nested.slices.len(), 50);
            for row in rows_of(&nested) {
                assert!(row.windows(2).all(|w| w[0].1 <= w[1].0), "{row:?}");
            }
            for (slice, &parent) in nested.slices.iter().zip(&nested.parents) {
                if let Some(parent) = parent.get() {
                    let parent = nested.slices[parent as usize];
                    assert!(parent.start <= slice.start && parent.end >= slice.end);
                }
            }
        }
    }

    #[test]
    fn staircases_take_few_rows_and_little_time() {
        // Each overlaps the next `width` without containing it. Quadratic work would take minutes here.
        for width in [2_i64, 50_000] {
            let nested = nest((0..400_000).map(|i| draft(i, i + width)).collect());
            assert_eq!(nested.row_counts.len() as i64, width);
            assert!(nested.parents.iter().all(|parent| parent.is_none()));
        }
        // The same slices inside a slice that never ends.
        let steps = (0..400_000).map(|i| draft(i, i + 100_000));
        let nested = nest([draft(0, i64::MAX)].into_iter().chain(steps).collect());
        assert_eq!(nested.row_counts.len(), 100_001);
        assert!(nested.parents[1..].iter().all(|&parent| parent == 0));
    }
}
