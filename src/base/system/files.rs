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

/// Identifies a file, whatever its path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    /// The number of the device.
    pub device: u64,
    /// The number of the file on the device.
    pub inode: u64,
}

/// Returns what identifies the file.
#[cfg(unix)]
#[must_use]
pub(crate) fn file_id(metadata: &Metadata) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt as _;
    Some(FileId {
        device: metadata.dev(),
        inode: metadata.ino(),
    })
}

/// Returns `None`: the system does not tell it in a stable interface.
#[cfg(not(unix))]
#[must_use]
pub(crate) fn file_id(_metadata: &Metadata) -> Option<FileId> {
    None
}

/// Makes an open file private: only its owner can read or write it, on systems with Unix permissions.
///
/// # Errors
/// If the system refuses.
pub(crate) fn make_file_private(file: &std::fs::File) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))
    }
    #[cfg(not(unix))]
    {
        let _inherits_rights = file;
        Ok(())
    }
}

/// Returns whether a file belongs to this user, and nobody else may write to it.
#[cfg(target_os = "linux")]
#[must_use]
pub(crate) fn is_private(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0
}

/// Returns `true`: the user's folders are private on other systems.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub(crate) fn is_private(_metadata: &Metadata) -> bool {
    true
}

/// The size of a disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiskSpace {
    /// All bytes.
    pub total: u64,
    /// Bytes that the user can still write.
    pub free: u64,
}

/// Returns the size of the disk with this folder.
///
/// # Errors
/// If the system cannot tell it.
#[cfg(target_os = "linux")]
pub(crate) fn disk_space(folder: &Path) -> std::io::Result<DiskSpace> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(DiskSpace {
        total: disk.f_blocks.saturating_mul(disk.f_frsize),
        free: disk.f_bavail.saturating_mul(disk.f_frsize),
    })
}

/// Returns a size without limits: the standard library has no function for it.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub(crate) fn disk_space(_folder: &Path) -> std::io::Result<DiskSpace> {
    Ok(DiskSpace {
        total: u64::MAX,
        free: u64::MAX,
    })
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

/// Creates a folder, and those above it, that only their owner can use, on systems with Unix permissions.
///
/// # Errors
/// If the system refuses.
pub(crate) fn create_private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    make_private(&mut builder);
    builder.recursive(true).create(folder)
}

fn make_private(builder: &mut DirBuilder) {
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
