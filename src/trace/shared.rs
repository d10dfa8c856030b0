//! A table that several traces share: stored once, and copied only when one of the traces changes it.
//!
//! A trace with more counters (the user's plots) is another trace with the same slices, runs and events.

use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A shared table, which dereferences to the table. Mutable access copies the table if it is shared.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shared<T>(Arc<T>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        Shared(Arc::clone(&self.0))
    }
}

impl<T> From<T> for Shared<T> {
    fn from(table: T) -> Shared<T> {
        Shared(Arc::new(table))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<'a, T> IntoIterator for &'a Shared<Vec<T>> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_copied_only_for_whoever_changes_it() {
        let first: Shared<Vec<u32>> = vec![1, 2].into();
        let mut second = first.clone();
        assert!(std::ptr::eq(first.as_ptr(), second.as_ptr()));
        second.push(3);
        assert_eq!((first.len(), second.len()), (2, 3));
        let at = second.as_ptr();
        second[0] = 7;
        assert!(std::ptr::eq(at, second.as_ptr()), "nobody else has it");
    }
}
