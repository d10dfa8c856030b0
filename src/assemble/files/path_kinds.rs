//! Classes of paths by the changes that they need so that each file has one path.

use crate::base::paths::is_uneven;

/// The kernel's directory of a process's descriptors.
pub(super) const DESCRIPTORS: &[u8] = b"/proc/self/fd/";

/// The changes that the paths of a trace need; a later variant includes the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Paths {
    /// Nothing: every path is absolute and in its shortest form.
    Whole,
    /// Some contain `//`, `.` or `..`.
    SomeUneven,
    /// Some are relative to their process's directory.
    SomeRelative,
    /// Some are relative to an open descriptor.
    SomeOfDescriptors,
}

impl Paths {
    /// Returns the changes that one path needs.
    pub(super) fn of(path: &[u8]) -> Paths {
        if path.starts_with(DESCRIPTORS) {
            Paths::SomeOfDescriptors
        } else if is_relative(path) {
            Paths::SomeRelative
        } else if is_uneven(path) {
            Paths::SomeUneven
        } else {
            Paths::Whole
        }
    }
}

/// Returns whether these bytes are a relative path. (`pipe:[7]` and the like are not paths.)
pub(super) fn is_relative(path: &[u8]) -> bool {
    let is_special = path.ends_with(b"]") && memchr::memmem::find(path, b":[").is_some();
    !path.is_empty() && !path.starts_with(b"/") && !is_special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_pipes_are_no_paths() {
        assert!(!is_relative(b"pipe:[123]") && !is_relative(b"/x") && !is_relative(b""));
        assert!(is_relative(b"a[1]"));
    }
}
