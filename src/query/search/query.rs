//! What a search looks for, and where.

use super::places::Places;
use crate::base::{TimeSpan, Timestamp};
use crate::query::expression::Expression;

/// How many hits are kept as a list unless asked otherwise: 24 MB.
pub(crate) const USUAL_LIMIT: usize = 1_000_000;

/// What to look for, and where.
#[derive(Clone, Debug)]
pub struct Query {
    /// What.
    pub expression: Expression,
    /// In what.
    pub places: Places,
    /// Only what happens in this span.
    pub span: TimeSpan,
    /// How many hits to keep as a list.
    pub limit: usize,
}

impl Query {
    /// Everywhere, at all times.
    #[must_use]
    pub fn new(expression: Expression) -> Query {
        Query {
            places: Places::usual(&expression),
            expression,
            span: TimeSpan::new(Timestamp::MIN, Timestamp::MAX),
            limit: USUAL_LIMIT,
        }
    }
}
