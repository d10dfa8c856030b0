//! The state of the window's recording on systems without tracefs: there is none.

use crate::view::RecordState;

/// No recording.
#[derive(Default)]
pub(super) struct Recording;

impl Recording {
    pub(super) fn is_busy(&self, _state: &RecordState) -> bool {
        false
    }

    pub(super) fn is_choosing(&self) -> bool {
        false
    }
}
