//! Whole compilations in the traces that compilers write of themselves.

use super::{SliceLabel, Trace};

/// The name of the slice around a whole compilation.
const COMPILATION: &[u8] = b"ExecuteCompiler";

impl Trace {
    /// Returns whether slices with a label are whole compilations.
    #[must_use]
    pub(crate) fn is_compilation(&self, label: &SliceLabel) -> bool {
        self.strings.bytes(label.name) == COMPILATION
    }

    /// Returns whether a compiler wrote what it spent its time on.
    #[must_use]
    pub(crate) fn has_compilations(&self) -> bool {
        let mut labels = self.slices.labels.iter();
        labels.any(|label| self.is_compilation(label))
    }
}
