//! When slices end and by which event, said from where they start: 4 and 2 bytes a slice.
//!
//! What that cannot say (4 s and more, never; 65,000 events later, or earlier) is in a list by row. Where that would be
//! more than an eighth of all, all are kept in full.

/// In `lengths`: see the list.
const LONG: u32 = u32::MAX;
/// In `steps`: see the list.
const FAR: u16 = u16::MAX - 1;
/// In `steps`: there is no such event.
const NONE: u16 = u16::MAX;
/// The number that means no event.
const NO_EVENT: u32 = u32::MAX;

/// Rows that say more than their column can: sorted by row.
pub type Exceptions<T> = Vec<(u32, T)>;

fn exception<T: Copy>(list: &Exceptions<T>, row: usize) -> Option<T> {
    let found = list.binary_search_by_key(&(row as u32), |entry| entry.0);
    list.get(found.ok()?).map(|entry| entry.1)
}

/// Whether so many exceptions are worth the column.
fn is_narrow(exceptions: usize, count: usize) -> bool {
    exceptions <= count / 8
}

/// How long a slice lasts, as the column says it.
#[inline]
#[must_use]
pub fn length_code(start: i64, end: i64) -> Option<u32> {
    let length = end.checked_sub(start)?;
    u32::try_from(length).ok().filter(|&length| length != LONG)
}

/// By which event a slice ends, as the column says it.
#[inline]
#[must_use]
pub fn step_code(begin: u32, finish: u32) -> Option<u16> {
    if finish == NO_EVENT {
        return Some(NONE);
    }
    let step = u16::try_from(finish.checked_sub(begin)?).ok()?;
    (step < FAR).then_some(step)
}

/// When slices end.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    lengths: Vec<u32>,
    long: Exceptions<i64>,
    full: Vec<i64>,
}

impl Ends {
    /// Of a column of lengths, where `long` are sorted and have [`u32::MAX`] there; `starts` is theirs.
    #[must_use]
    pub fn new(lengths: Vec<u32>, long: Exceptions<i64>, starts: &[i64]) -> Ends {
        let mut ends = Ends {
            lengths,
            long,
            full: Vec::new(),
        };
        if !is_narrow(ends.long.len(), ends.lengths.len()) {
            let rows = starts.iter().enumerate();
            ends.full = rows.map(|(row, &start)| ends.get(row, start)).collect();
            (ends.lengths, ends.long) = (Vec::new(), Vec::new());
        }
        ends.long.shrink_to_fit();
        ends
    }

    /// The end of a slice that starts at `start`; `i64::MAX` if it never ended. Panics if there is no such row, as
    /// slices do.
    #[inline]
    #[must_use]
    pub fn get(&self, row: usize, start: i64) -> i64 {
        match self.lengths.get(row) {
            Some(&length) if length != LONG => start + i64::from(length),
            Some(_) => exception(&self.long, row).unwrap_or(start),
            None => self.full[row],
        }
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.lengths.capacity() * 4 + self.long.capacity() * 16 + self.full.capacity() * 8
    }
}

/// By which events slices end.
#[derive(Clone, Debug, Default)]
pub struct Finishes {
    steps: Vec<u16>,
    far: Exceptions<u32>,
    full: Vec<u32>,
}

impl Finishes {
    /// Of a column of steps, where `far` are sorted and have 65,534 there; `begins` is theirs.
    #[must_use]
    pub fn new(steps: Vec<u16>, far: Exceptions<u32>, begins: &[u32]) -> Finishes {
        let mut finishes = Finishes {
            steps,
            far,
            full: Vec::new(),
        };
        if !is_narrow(finishes.far.len(), finishes.steps.len()) {
            let rows = begins.iter().enumerate();
            finishes.full = rows.map(|(row, &begin)| finishes.get(row, begin)).collect();
            (finishes.steps, finishes.far) = (Vec::new(), Vec::new());
        }
        finishes.far.shrink_to_fit();
        finishes
    }

    /// The event that ended a slice which `begin` began; `u32::MAX` if none did. Panics if there is no such row, as
    /// slices do.
    #[inline]
    #[must_use]
    pub fn get(&self, row: usize, begin: u32) -> u32 {
        match self.steps.get(row) {
            Some(&NONE) => NO_EVENT,
            Some(&FAR) => exception(&self.far, row).unwrap_or(NO_EVENT),
            Some(&step) => begin + u32::from(step),
            None => self.full[row],
        }
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.steps.capacity() * 2 + self.far.capacity() * 8 + self.full.capacity() * 4
    }
}

/// Columns of ends and finishes on their way: a stretch of the table, with what does not fit in it.
#[derive(Debug)]
pub struct EndColumns<'a> {
    /// How long each lasts.
    pub lengths: &'a mut [u32],
    /// How many events after its begin each ends.
    pub steps: &'a mut [u16],
}

/// What does not fit into [`EndColumns`].
#[derive(Debug, Default)]
pub struct EndExceptions {
    /// Ends.
    pub long: Exceptions<i64>,
    /// Finishes.
    pub far: Exceptions<u32>,
    /// Rows whose end was not seen although they have one.
    pub unended: Vec<u32>,
}

impl EndColumns<'_> {
    /// Sets the `place`-th of the stretch, which is `row` of the table.
    #[inline]
    pub fn set(
        &mut self,
        (place, row): (usize, u32),
        (start, end): (i64, i64),
        (begin, finish): (u32, u32),
        exceptions: &mut EndExceptions,
    ) {
        self.lengths[place] = length_code(start, end).unwrap_or_else(|| {
            exceptions.long.push((row, end));
            LONG
        });
        self.steps[place] = step_code(begin, finish).unwrap_or_else(|| {
            exceptions.far.push((row, finish));
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
        for (row, &(start, end, begin, finish)) in rows.iter().enumerate() {
            let place = (row, row as u32);
            columns.set(place, (start, end), (begin, finish), &mut exceptions);
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
            // Many exceptions take no more room than no column at all.
            assert!(ends.memory_bytes() <= rows.len() * 8 + 16);
        }
        let (ends, finishes) = columns(&plain);
        assert_eq!((ends.memory_bytes(), finishes.memory_bytes()), (320, 160));
    }
}
