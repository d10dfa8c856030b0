//! The numbers of strings.

use serde::{Deserialize, Serialize};

use crate::base::streaks::Follows;

/// The number of a string in one table of [`Strings`](super::Strings); 0 is always the empty string.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct StringId(pub u32);

impl StringId {
    /// The empty string, in every table.
    pub const EMPTY: StringId = StringId(0);
}

impl Follows for StringId {
    #[inline]
    fn after(self, steps: u32) -> StringId {
        StringId(self.0.wrapping_add(steps))
    }
}
