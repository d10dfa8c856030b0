//! The tree of a filter's condition.

use crate::base::Comparison;

/// The condition that an event must meet.
#[derive(Debug)]
pub(super) enum Condition {
    /// Parts from left to right: each part is joined with the result of the parts before it.
    Chain(Box<Condition>, Vec<(Join, Condition)>),
    /// The inner condition is false.
    Not(Box<Condition>),
    /// The left side compared with the right side.
    Compare(Sum, Relation, Sum),
    /// The value is not 0.
    IsNotZero(Sum),
}

/// How a part is joined with the parts before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    And,
    Or,
}

/// How two sides are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// By value.
    Values(Comparison),
    /// `=~`: the text contains a match of a basic regular expression.
    Matches,
    /// `!~`: the text contains no match.
    MatchesNot,
    /// `~`: the text matches a glob, or contains a match of a regular expression.
    Like,
}

impl Relation {
    /// Returns whether the right side is a pattern.
    pub(crate) fn has_pattern(self) -> bool {
        !matches!(self, Relation::Values(_))
    }
}

/// A value, and operations on it from left to right.
#[derive(Debug)]
pub(super) struct Sum {
    pub first: Atom,
    pub rest: Vec<(Operator, Atom)>,
}

impl Sum {
    /// Returns the value, if there are no operations.
    pub(super) fn alone(&self) -> Option<&Atom> {
        self.rest.is_empty().then_some(&self.first)
    }
}

/// An operator of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftRight,
    ShiftLeft,
    And,
    Or,
    Xor,
}

/// One value as it was written.
#[derive(Debug)]
pub(super) struct Atom {
    /// Byte offset of its start.
    pub at: usize,
    /// Its length in bytes, with quotes.
    pub length: usize,
    pub value: Written,
}

/// The value of an atom.
#[derive(Debug)]
pub(super) enum Written {
    Number(i128),
    /// A field, or a text without quotes.
    Word(String),
    Quoted(String),
}
