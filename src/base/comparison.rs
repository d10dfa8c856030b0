//! Comparison operators of searches and filters.

use std::cmp::Ordering;

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Equal: `==`.
    Equal,
    /// Not equal: `!=`.
    Differs,
    /// Less: `<`.
    Less,
    /// Less or equal: `<=`.
    LessOrEqual,
    /// Greater: `>`.
    More,
    /// Greater or equal: `>=`.
    MoreOrEqual,
}

impl Comparison {
    /// Returns whether the comparison holds for a left and a right side in this order.
    #[inline]
    #[must_use]
    pub(crate) fn holds(self, order: Ordering) -> bool {
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::Differs => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::More => order.is_gt(),
            Comparison::MoreOrEqual => order.is_ge(),
        }
    }

    /// Returns whether the comparison is one of `<`, `<=`, `>` and `>=`.
    #[must_use]
    pub(crate) fn is_ordered(self) -> bool {
        !matches!(self, Comparison::Equal | Comparison::Differs)
    }
}
