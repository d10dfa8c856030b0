//! The announcement of one change, and when it is spoken.

/// When the words for a change are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Together with the change.
    AtOnce,
    /// Once changes stop: while a key is held, a sentence would otherwise never be finished.
    AtRest,
}

/// The words for one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// When the words are spoken.
    pub pace: Pace,
    /// The sentence, without a full stop.
    pub words: String,
}

pub(super) fn at_once(words: impl Into<String>) -> Change {
    Change {
        pace: Pace::AtOnce,
        words: words.into(),
    }
}

pub(super) fn at_rest(words: impl Into<String>) -> Change {
    Change {
        pace: Pace::AtRest,
        words: words.into(),
    }
}
