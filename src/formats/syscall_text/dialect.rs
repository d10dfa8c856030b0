//! The two programs whose output is read.

/// The program that wrote a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Linux's strace.
    Strace,
    /// MINIX's trace(1).
    Minix,
}

impl Dialect {
    /// Returns the name of the format.
    #[must_use]
    pub(crate) const fn format_name(self) -> &'static str {
        match self {
            Dialect::Strace => "strace",
            Dialect::Minix => "MINIX trace(1)",
        }
    }
}
