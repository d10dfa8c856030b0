//! Whole compilations in the traces that compilers write of themselves.

use super::Trace;
use crate::event::CompilerWork;

impl Trace {
    /// Returns whether a compiler wrote what it spent its time on.
    #[must_use]
    pub(crate) fn has_compilations(&self) -> bool {
        let mut labels = self.slices.labels.iter();
        labels.any(|label| label.work == CompilerWork::Compilation)
    }
}
