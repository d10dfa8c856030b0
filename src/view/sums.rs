//! What sums over slices include: the kind of slices, and whether hidden tracks count.

use crate::event::SliceKind;
use serde::{Deserialize, Serialize};

/// Whether hidden tracks are included in sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum HiddenTracks {
    /// Included.
    #[default]
    Counted,
    /// Excluded.
    LeftOut,
}

/// The user's choices for sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Sums {
    /// The kind of slices to sum; `None`: the first kind that the trace has.
    pub kind: Option<SliceKind>,
    /// Whether hidden tracks are included.
    pub hidden: HiddenTracks,
}

impl Sums {
    /// Returns whether all choices are the defaults.
    #[must_use]
    pub(crate) fn is_plain(&self) -> bool {
        *self == Sums::default()
    }
}
