//! A number that may be missing, in the size of the number.

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

/// An [`Option`] of a number or id in the size of the number: the number type's largest value means "none".
///
/// "None" is greater than all numbers: as the end of something that never ends, it can be compared with times directly.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable, Serialize, Deserialize,
)]
#[repr(transparent)]
pub struct Maybe<T>(T);

/// A number or id with one value that is not used.
pub trait Sparse: Copy + Eq {
    /// The value that is not used.
    const UNUSED: Self;
}

impl Sparse for u16 {
    const UNUSED: u16 = u16::MAX;
}

impl Sparse for u32 {
    const UNUSED: u32 = u32::MAX;
}

impl Sparse for u64 {
    const UNUSED: u64 = u64::MAX;
}

impl Sparse for i64 {
    const UNUSED: i64 = i64::MAX;
}

impl<T: Sparse> Maybe<T> {
    /// No number.
    pub const NONE: Maybe<T> = Maybe(T::UNUSED);

    /// Returns `value`, which is present unless it is the number type's largest value.
    #[inline]
    #[must_use]
    pub const fn new(value: T) -> Maybe<T> {
        Maybe(value)
    }

    /// Returns the number, if there is one.
    #[inline]
    #[must_use]
    pub fn get(self) -> Option<T> {
        self.is_some().then_some(self.0)
    }

    /// Returns whether there is a number.
    #[inline]
    #[must_use]
    pub fn is_some(self) -> bool {
        self.0 != T::UNUSED
    }

    /// Returns whether there is no number.
    #[inline]
    #[must_use]
    pub fn is_none(self) -> bool {
        !self.is_some()
    }

    /// Returns the number; the number type's largest value if there is none, for an upper bound.
    #[inline]
    #[must_use]
    pub fn or_greatest(self) -> T {
        self.0
    }
}

impl<T: Sparse + Ord> Maybe<T> {
    /// Returns the number, at most `limit`; `limit` if there is none.
    #[inline]
    #[must_use]
    pub(crate) fn at_most(self, limit: T) -> T {
        self.0.min(limit)
    }
}

impl<T: Sparse> PartialEq<T> for Maybe<T> {
    #[inline]
    fn eq(&self, other: &T) -> bool {
        self.0 == *other
    }
}

impl<T: Sparse + PartialOrd> PartialOrd<T> for Maybe<T> {
    #[inline]
    fn partial_cmp(&self, other: &T) -> Option<std::cmp::Ordering> {
        self.0.partial_cmp(other)
    }
}

impl<T: Sparse> Default for Maybe<T> {
    fn default() -> Maybe<T> {
        Maybe::NONE
    }
}

impl<T: Sparse> From<T> for Maybe<T> {
    #[inline]
    fn from(value: T) -> Maybe<T> {
        Maybe(value)
    }
}

impl<T: Sparse> From<Option<T>> for Maybe<T> {
    #[inline]
    fn from(value: Option<T>) -> Maybe<T> {
        value.map_or(Maybe::NONE, Maybe)
    }
}

impl<T: Sparse + std::fmt::Debug> std::fmt::Debug for Maybe<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_takes_no_room_and_comes_last() {
        assert_eq!(size_of::<Maybe<u32>>(), 4);
        assert_eq!(Maybe::from(Some(7_u32)).get(), Some(7));
        assert_eq!(Maybe::<i64>::from(None).get(), None);
        assert!(Maybe::new(i64::MAX - 1) < Maybe::NONE);
        assert!(Maybe::<i64>::NONE > 5 && Maybe::new(5_i64) == 5);
        assert_eq!(
            (Maybe::NONE.at_most(9_i64), Maybe::new(8_i64).at_most(9)),
            (9, 8)
        );
        assert_eq!(
            format!("{:?} {:?}", Maybe::new(3_u32), Maybe::<u32>::NONE),
            "Some(3) None"
        );
    }
}
