//! The work of compilers in slices of the traces that they write of themselves. It is computed on demand: most traces
//! have no such slices.

use super::Trace;
use super::slices::SliceLabel;
use crate::base::Strings;
use crate::event::{CompilerWork, SliceKind};

impl SliceLabel {
    /// Returns the work of a compiler in the slices with this label, by their name. `strings` is the trace's.
    #[must_use]
    pub(crate) fn compiler_work(&self, strings: &Strings) -> CompilerWork {
        match self.kind {
            SliceKind::Durations | SliceKind::Async => {
                CompilerWork::of_name(strings.bytes(self.name))
            }
            _ => CompilerWork::None,
        }
    }
}

impl Trace {
    /// Returns whether a compiler recorded its work in the trace. This is fast also for traces with many names and
    /// without such slices.
    #[must_use]
    pub(crate) fn has_compilations(&self) -> bool {
        let Some(name) = self.strings.find(CompilerWork::COMPILATION_NAME) else {
            return false;
        };
        let mut named = self.slices.labels.iter().filter(|label| label.name == name);
        named.any(|label| label.compiler_work(&self.strings) == CompilerWork::Compilation)
    }
}
