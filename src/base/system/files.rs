//! File attributes and permissions that not every operating system has.

use std::fs::{DirBuilder, Metadata};
use std::path::{Path, PathBuf};

/// The time of the last change of a file or its metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChangeTime {
    seconds: i64,
    nanoseconds: i64,
}

/// Returns the time of the last change of the file's inode (ctime), in seconds and nanoseconds. A program can set the
/// modification time back, but not this time.
#[cfg(unix)]
#[must_use]
pub(crate) fn status_changed(metadata: &Metadata) -> Option<ChangeTime> {
    use std::os::unix::fs::MetadataExt as _;
    Some(ChangeTime {
        seconds: metadata.ctime(),
        nanoseconds: metadata.ctime_nsec(),
    })
}

/// Returns `None`: the system has no such time.
#[cfg(not(unix))]
#[must_use]
pub(crate) fn status_changed(_metadata: &Metadata) -> Option<ChangeTime> {
    None
}

/// Returns the path with these bytes. On systems where paths are Unicode, invalid bytes are replaced.
#[cfg(unix)]
#[must_use]
pub(crate) fn path_of(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    std::ffi::OsString::from_vec(bytes).into()
}

/// Returns the path with these bytes; invalid UTF-8 is replaced.
#[cfg(not(unix))]
#[must_use]
pub(crate) fn path_of(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// Makes `builder` create folders that only their owner can use, on systems with Unix permissions.
pub(crate) fn make_private(builder: &mut DirBuilder) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    #[cfg(not(unix))]
    let _inherits_rights = builder;
}

/// Makes `builder` create temporary files with the permissions of any new file instead of private ones.
pub(crate) fn make_ordinary(builder: &mut tempfile::Builder<'_, '_>) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // The kernel applies the process's umask to this.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    #[cfg(not(unix))]
    let _inherits_rights = builder;
}

/// Flushes a folder's entries to the disk, on systems where folders can be opened; otherwise, and on failure, the
/// system flushes them later.
pub(crate) fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    if let Ok(folder) = std::fs::File::open(folder) {
        let _unsupported = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _synced_later = folder;
}
