//! One file of a history, under all its names.

use crate::base::StringId;

/// Index of a file in [`FileHistory::files`](super::FileHistory::files).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// One file under all its names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Its names. The last is its present name, or the last name that it had. Before it are its links and the names
    /// that other files have now, in the order in which the rows first use them.
    pub names: Vec<StringId>,
    /// Whether it has no name any more: each of its names is another file's now, or was deleted.
    pub is_gone: bool,
    /// Whether processes can depend on its content (it is neither a device nor a directory).
    pub has_content: bool,
}
