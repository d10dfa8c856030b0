//! The expression, places, span and limits of a search.

use super::places::Places;
use crate::base::TimeSpan;
use crate::query::expression::Expression;

/// The most results that are kept as a list by default: 24 MB.
pub(crate) const USUAL_LIMIT: usize = 1_000_000;

/// A search's input.
#[derive(Clone, Debug)]
pub struct Query {
    /// The expression.
    pub expression: Expression,
    /// The places in which it searches.
    pub places: Places,
    /// Only what happens in this span.
    pub span: TimeSpan,
    /// The most results that are kept as a list.
    pub limit: usize,
}

impl Query {
    /// Returns a search everywhere and at all times.
    #[must_use]
    pub fn new(expression: Expression) -> Query {
        Query {
            places: Places::usual(&expression),
            expression,
            span: TimeSpan::ALL,
            limit: USUAL_LIMIT,
        }
    }
}
