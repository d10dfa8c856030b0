//! The kind of work in a slice of a compiler's trace of itself, by the names that clang gives these slices with
//! `-ftime-trace` (LLVM's `TimeProfiler`).

/// The fields of a point that contains a sum over a whole compilation (clang's `Total Source`, ...). The reader adds
/// the time in µs; clang writes the number of slices and their mean in ms. Such a point has no other field.
pub(crate) const SUM_FIELDS: [&str; 3] = ["total us", "count", "avg ms"];

/// The work of a compiler in the slices with one label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum CompilerWork {
    /// Not a compiler's work, or other work.
    #[default]
    None,
    /// A whole compilation.
    Compilation,
    /// A file that was read because of an `#include`; the argument `detail` has its path.
    Header,
    /// A class or function made from a template; the argument `detail` has its name.
    Template,
    /// A step of the optimiser or of the code generator; the argument `detail` has its name.
    NamedPass,
    /// A step of the optimiser or of the code generator, named by the slice.
    Pass,
}

impl CompilerWork {
    /// The name of slices that are whole compilations.
    pub(crate) const COMPILATION_NAME: &[u8] = b"ExecuteCompiler";

    /// Returns the work of slices with this name.
    #[must_use]
    pub(crate) fn of_name(name: &[u8]) -> CompilerWork {
        match name {
            Self::COMPILATION_NAME => CompilerWork::Compilation,
            b"Source" => CompilerWork::Header,
            b"InstantiateClass" | b"InstantiateFunction" => CompilerWork::Template,
            b"RunPass" | b"RunLoopPass" => CompilerWork::NamedPass,
            // A slice around all passes of one kind; each pass is also a slice.
            name if name.ends_with(b"Passes") => CompilerWork::None,
            name if memchr::memmem::find(name, b"Pass").is_some() => CompilerWork::Pass,
            _ => CompilerWork::None,
        }
    }
}
