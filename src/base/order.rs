//! Sorts nearly sorted rows in place (several CPUs write events slightly out of order), searches sorted ones, and orders
//! what may have no place.

use std::ops::Range;

/// A place in an order. What has no place comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank<T> {
    /// At this place.
    At(T),
    /// After all that have a place.
    Last,
}

impl<T> From<Option<T>> for Rank<T> {
    fn from(place: Option<T>) -> Rank<T> {
        place.map_or(Rank::Last, Rank::At)
    }
}

/// Returns the first number of `range` for which `is_before` is false, or the end of `range`:
/// [`slice::partition_point`] for numbers.
#[inline]
pub(crate) fn first_not(range: Range<usize>, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low.midpoint(high);
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Sorts rows by `key`, stable. Fast if most rows are in order and each other row is only a few positions too late.
pub(crate) fn put_in_order<T, K: Ord>(rows: &mut [T], key: impl Fn(&T) -> K) {
    if !settle(rows, &key) {
        rows.sort_by_key(key);
    }
}

/// Sorts nearly sorted rows by `key`, stable, and returns whether they are sorted now. Stops (`false`) after 8 moves
/// per row on average: then some rows have moved, but rows with equal keys keep their order.
#[must_use]
pub(crate) fn settle<T, K: Ord>(rows: &mut [T], key: &impl Fn(&T) -> K) -> bool {
    // Insertion sort, limited so that rows in random order do not take quadratic time.
    let mut steps_left = rows.len() * 8;
    for index in 1..rows.len() {
        let own = key(&rows[index]);
        let mut at = index;
        while at > 0 && key(&rows[at - 1]) > own {
            at -= 1;
        }
        let steps = index - at;
        if steps > steps_left {
            return false;
        }
        if steps > 0 {
            rows[at..=index].rotate_right(1);
            steps_left -= steps;
        }
    }
    true
}

/// Returns the row of an event; `rows` are sorted by event. `hint` keeps the position for the next search.
pub(crate) fn find_near<T: Copy>(
    rows: &[T],
    event: u32,
    event_of: impl Fn(&T) -> u32,
    hint: &mut usize,
) -> Option<T> {
    let is_before = |at: usize| rows.get(at).is_some_and(|row| event_of(row) < event);
    // Searches forward from the last position: the next event of a track is usually close after it.
    let (mut low, mut step) = (*hint, 1);
    if low >= rows.len() || rows.get(low).is_some_and(|row| event_of(row) > event) {
        low = 0;
        step = rows.len();
    }
    while step < rows.len() && is_before(low + step) {
        low += step;
        step *= 2;
    }
    let high = low.saturating_add(step + 1).min(rows.len());
    let range = rows.get(low..high)?;
    let at = low + range.partition_point(|row| event_of(row) < event);
    *hint = at;
    rows.get(at).copied().filter(|row| event_of(row) == event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_put_in_order_however_far_off_they_are() {
        for (count, factor) in [(1000_u32, 1), (1000, 999), (1000, 37), (7, 3), (0, 1)] {
            let mut rows: Vec<(u32, u32)> = (0..count)
                .map(|i| ((i * factor % count.max(1)) ^ 1, i))
                .collect();
            let mut expected = rows.clone();
            expected.sort_by_key(|row| row.0);
            put_in_order(&mut rows, |row| row.0);
            assert_eq!(rows, expected);
        }
    }
}
