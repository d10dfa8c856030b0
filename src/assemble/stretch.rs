//! Columns cut into stretches that several threads fill in parallel.

/// Removes the first `count` elements from `rest` and returns them. Panics if there are fewer.
pub(crate) fn cut<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (taken, left) = std::mem::take(rest).split_at_mut(count);
    *rest = left;
    taken
}
