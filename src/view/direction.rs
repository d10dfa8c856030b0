//! Backwards or forwards: along a track, through a list, through time.

/// Direction along a track or in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// To the previous one.
    Previous,
    /// To the next one.
    Next,
}
