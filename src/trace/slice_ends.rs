//! When slices end and by which event, stored relative to their starts: 4 and 2 bytes per slice.
//!
//! Values that do not fit (4 s and more, unfinished slices; an event that is 65,534 or more events later, or earlier)
//! are in a list sorted by row. If more than an eighth of all rows did not fit, all values are stored in full.

use crate::base::column::Column;
use crate::base::{Maybe, RowValues};
use serde::{Deserialize, Serialize};

/// Value in `lengths`: the end is in the list.
const LONG: u32 = u32::MAX;
/// Value in `steps`: the event is in the list.
const FAR: u16 = u16::MAX - 1;
/// Value in `steps`: there is no such event.
const NONE: u16 = u16::MAX;

/// Values that do not fit into their column, as (row, value).
type Exceptions<T> = Vec<(u32, T)>;

/// Returns whether the narrow column needs less memory despite this many exceptions.
fn is_narrow(exceptions: usize, count: usize) -> bool {
    exceptions <= count / 8
}

/// Returns the length of a slice in ns for the column; `None` if it does not fit.
#[inline]
#[must_use]
pub(crate) fn length_code(start: i64, end: Maybe<i64>) -> Option<u32> {
    let length = end.get()?.checked_sub(start)?;
    u32::try_from(length).ok().filter(|&length| length != LONG)
}

/// Returns the distance from the begin event to the end event for the column; `None` if it does not fit.
#[inline]
#[must_use]
pub(crate) fn step_code(begin: u32, finish: Maybe<u32>) -> Option<u16> {
    let Some(finish) = finish.get() else {
        return Some(NONE);
    };
    let step = u16::try_from(finish.checked_sub(begin)?).ok()?;
    (step < FAR).then_some(step)
}

/// The ends of slices.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Ends {
    lengths: Column<u32>,
    long: RowValues<Maybe<i64>>,
    full: Column<Maybe<i64>>,
}

impl Ends {
    /// Builds the table from a column of lengths (ns). `long` contains the ends of the rows whose length is
    /// [`u32::MAX`], sorted by row; `starts` are the starts of all rows.
    #[must_use]
    pub fn new(lengths: Vec<u32>, long: Exceptions<Maybe<i64>>, starts: &[i64]) -> Ends {
        let mut ends = Ends {
            lengths: lengths.into(),
            long: long.into_iter().collect(),
            full: Column::default(),
        };
        if !is_narrow(ends.long.len(), ends.lengths.len()) {
            let rows = starts.iter().enumerate();
            ends.full = rows.map(|(row, &start)| ends.get(row, start)).collect();
            (ends.lengths, ends.long) = Default::default();
        }
        ends
    }

    /// Returns the end of a slice that starts at `start`; none if it never ended. Panics if there is no such row.
    #[inline]
    #[must_use]
    pub fn get(&self, row: usize, start: i64) -> Maybe<i64> {
        match self.lengths.get(row) {
            Some(&length) if length != LONG => Maybe::new(start + i64::from(length)),
            Some(_) => self.long.get(row).unwrap_or(Maybe::new(start)),
            None => self.full[row],
        }
    }

    /// Returns a function that does what [`Ends::get`] does, for rows from `first` on that are passed in order.
    #[inline]
    pub(super) fn in_order(&self, first: u32) -> impl FnMut(u32, i64) -> Maybe<i64> + '_ {
        let mut long = self.long.from(first).peekable();
        move |row, start| match self.lengths.get(row as usize) {
            Some(&length) if length != LONG => Maybe::new(start + i64::from(length)),
            Some(_) => {
                while long.next_if(|&(other, _)| other < row).is_some() {}
                let own = long.next_if(|&(other, _)| other == row);
                own.map_or(Maybe::new(start), |(_, end)| end)
            }
            None => self.full[row as usize],
        }
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.lengths.memory_bytes() + self.long.memory_bytes() + self.full.memory_bytes()
    }
}

/// The events that end slices.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Finishes {
    steps: Column<u16>,
    far: RowValues<Maybe<u32>>,
    full: Column<Maybe<u32>>,
}

impl Finishes {
    /// Builds the table from a column of steps (in events). `far` contains the end events of the rows whose step is
    /// 65,534, sorted by row; `begins` are the begin events of all rows.
    #[must_use]
    pub fn new(steps: Vec<u16>, far: Exceptions<Maybe<u32>>, begins: &[u32]) -> Finishes {
        let mut finishes = Finishes {
            steps: steps.into(),
            far: far.into_iter().collect(),
            full: Column::default(),
        };
        if !is_narrow(finishes.far.len(), finishes.steps.len()) {
            let rows = begins.iter().enumerate();
            finishes.full = rows.map(|(row, &begin)| finishes.get(row, begin)).collect();
            (finishes.steps, finishes.far) = Default::default();
        }
        finishes
    }

    /// Returns the event that ended a slice whose begin is event `begin`; none if there is no such event. Panics if
    /// there is no such row.
    #[inline]
    #[must_use]
    pub fn get(&self, row: usize, begin: u32) -> Maybe<u32> {
        match self.steps.get(row) {
            Some(&NONE) => Maybe::NONE,
            Some(&FAR) => self.far.get(row).unwrap_or_default(),
            Some(&step) => Maybe::new(begin + u32::from(step)),
            None => self.full[row],
        }
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.steps.memory_bytes() + self.far.memory_bytes() + self.full.memory_bytes()
    }
}

/// A range of the columns of ends and end events, to be filled.
#[derive(Debug)]
pub(crate) struct EndColumns<'a> {
    /// Length of each slice in ns.
    pub lengths: &'a mut [u32],
    /// Number of events from the begin to the end of each slice.
    pub steps: &'a mut [u16],
}

/// Start and end of a slice and their events, not packed yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndRow {
    /// First nanosecond.
    pub start: i64,
    /// First nanosecond after; none if it never ended.
    pub end: Maybe<i64>,
    /// The event that started it.
    pub begin: u32,
    /// The event that ended it.
    pub finish: Maybe<u32>,
}

/// Values that do not fit into [`EndColumns`].
#[derive(Debug, Default)]
pub(crate) struct EndExceptions {
    /// Ends, by row.
    pub long: Exceptions<Maybe<i64>>,
    /// End events, by row.
    pub far: Exceptions<Maybe<u32>>,
    /// Rows whose end was not recorded; their `end` is only the end of the drawn slice.
    pub unended: Vec<u32>,
}

impl EndColumns<'_> {
    /// Sets entry `place` of the range, which is row `number` of the table.
    #[inline]
    pub(crate) fn set(
        &mut self,
        place: usize,
        number: u32,
        row: EndRow,
        exceptions: &mut EndExceptions,
    ) {
        self.lengths[place] = length_code(row.start, row.end).unwrap_or_else(|| {
            exceptions.long.push((number, row.end));
            LONG
        });
        self.steps[place] = step_code(row.begin, row.finish).unwrap_or_else(|| {
            exceptions.far.push((number, row.finish));
            FAR
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of rows (start, end, begin, finish).
    fn columns(rows: &[(i64, i64, u32, u32)]) -> (Ends, Finishes) {
        let (mut lengths, mut steps) = (vec![0; rows.len()], vec![0; rows.len()]);
        let mut exceptions = EndExceptions::default();
        let mut columns = EndColumns {
            lengths: &mut lengths,
            steps: &mut steps,
        };
        for (at, &(start, end, begin, finish)) in rows.iter().enumerate() {
            let row = EndRow {
                start,
                end: Maybe::new(end),
                begin,
                finish: Maybe::new(finish),
            };
            columns.set(at, at as u32, row, &mut exceptions);
        }
        let starts: Vec<i64> = rows.iter().map(|row| row.0).collect();
        let begins: Vec<u32> = rows.iter().map(|row| row.2).collect();
        (
            Ends::new(lengths, exceptions.long, &starts),
            Finishes::new(steps, exceptions.far, &begins),
        )
    }

    #[test]
    fn ends_and_finishes_come_back_whatever_they_are() {
        let second = 1_000_000_000;
        let odd = [
            (0, 0, 0, 0),
            (5, i64::MAX, 1, u32::MAX),
            (-7, 4_294_967_287, 9, 65_542),
            (-7, 4_294_967_288, 9, 65_543),
            (i64::MIN, i64::MAX, 7, 3),
            (i64::MAX - 1, i64::MAX, u32::MAX - 1, u32::MAX),
            (9 * second, 8 * second, 4, 4),
        ];
        let plain = (0..80).map(|row| (row * 100, row * 100 + 50, row as u32, row as u32 + 1));
        let plain: Vec<_> = plain.collect();
        for rows in [
            odd.to_vec(),
            plain.clone(),
            [&odd[..], &plain[..]].concat(),
            Vec::new(),
        ] {
            let (ends, finishes) = columns(&rows);
            for (row, &(start, end, begin, finish)) in rows.iter().enumerate() {
                assert_eq!(ends.get(row, start), end, "{row}");
                assert_eq!(finishes.get(row, begin), finish, "{row}");
            }
            // Even with many exceptions, the memory is at most that of the plain values.
            assert!(ends.memory_bytes() <= rows.len() as u64 * 8 + 16);
        }
        let (ends, finishes) = columns(&plain);
        assert_eq!((ends.memory_bytes(), finishes.memory_bytes()), (320, 160));
    }
}
