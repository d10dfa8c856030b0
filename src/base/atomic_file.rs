//! A file that appears only when it is whole: written beside its place, brought to the disk, then named. Whatever goes
//! wrong before that leaves the old file as it was, and no other behind.
//!
//! Where the file system can (Linux), the file has no name until it is whole, so that even a program that is killed
//! leaves nothing. Elsewhere it has a temporary name, and is renamed.
//!
//! What exists and is no ordinary file (a pipe, a device) is written to as it is.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// What happens to a file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// It stays, and nothing is written.
    Refuse,
    /// It is replaced once the new one is whole.
    Replace,
}

/// Why no file was written.
#[derive(Debug)]
pub enum FileError {
    /// There is one already, and it was not to be replaced.
    Exists,
    /// The operating system said no.
    Io(std::io::Error),
}

impl From<std::io::Error> for FileError {
    fn from(error: std::io::Error) -> FileError {
        FileError::Io(error)
    }
}

/// Has `write` fill a new file at `path`; `E` is what else can go wrong in it.
///
/// # Errors
/// Those of `write`, and those of this module as `E`.
pub fn write_whole<T, E: From<FileError>>(
    path: &Path,
    overwrite: Overwrite,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, E> {
    let io = |error: std::io::Error| E::from(FileError::Io(error));
    // Through a symbolic link, the file that it points to is replaced.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let old = std::fs::metadata(&path).ok();
    if let Some(old) = &old {
        if !old.is_file() && !old.is_dir() {
            let file = OpenOptions::new().write(true).open(&path).map_err(io)?;
            let mut out = BufWriter::with_capacity(1 << 20, file);
            let answer = write(&mut out)?;
            out.flush().map_err(io)?;
            return Ok(answer);
        }
        if overwrite == Overwrite::Refuse || old.is_dir() {
            return Err(FileError::Exists.into());
        }
    }
    let draft = Draft::beside(&path).map_err(|error| io(said_of_folder(&path, &error)))?;
    if let Some(old) = &old {
        // Whoever could read the old one can read the new one; failing that is no reason to give up.
        let _kept_default = draft.file().set_permissions(old.permissions());
    }
    let mut out = BufWriter::with_capacity(1 << 20, draft.file());
    let answer = write(&mut out)?;
    out.into_inner().map_err(|error| io(error.into_error()))?;
    draft.file().sync_all().map_err(io)?;
    match draft.place(&path, overwrite) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(FileError::Exists.into());
        }
        Err(error) => return Err(io(error)),
    }
    sync_folder(&path);
    Ok(answer)
}

/// A file that is being written.
enum Draft {
    /// It is nowhere yet.
    #[cfg(target_os = "linux")]
    Nameless(File),
    /// It has a temporary name beside its place.
    Named(NamedTempFile),
}

impl Draft {
    fn beside(path: &Path) -> std::io::Result<Draft> {
        #[cfg(target_os = "linux")]
        if let Some(file) = nameless::new_in(&folder_of(path)) {
            return Ok(Draft::Nameless(file));
        }
        new_beside(path).map(Draft::Named)
    }

    fn file(&self) -> &File {
        match self {
            #[cfg(target_os = "linux")]
            Draft::Nameless(file) => file,
            Draft::Named(file) => file.as_file(),
        }
    }

    /// Gives it its name.
    fn place(self, path: &Path, overwrite: Overwrite) -> std::io::Result<()> {
        let named = match (self, overwrite) {
            #[cfg(target_os = "linux")]
            (Draft::Nameless(file), Overwrite::Refuse) => return nameless::link(&file, path),
            // What has no name can take that of no other: a temporary one comes between.
            #[cfg(target_os = "linux")]
            (Draft::Nameless(file), Overwrite::Replace) => {
                let prefix = prefix(path);
                let mut builder = tempfile::Builder::new();
                builder.prefix(&prefix).suffix(SUFFIX);
                builder.make_in(folder_of(path), |name| {
                    nameless::link(&file, name)?;
                    file.try_clone()
                })?
            }
            (Draft::Named(named), _) => named,
        };
        match overwrite {
            Overwrite::Replace => named.persist(path)?,
            Overwrite::Refuse => named.persist_noclobber(path)?,
        };
        Ok(())
    }
}

/// Files without a name: `O_TMPFILE`.
#[cfg(target_os = "linux")]
mod nameless {
    use std::fs::File;
    use std::os::fd::AsRawFd as _;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

    /// Where the kernel shows what a process has open: a file gets its name from there.
    const OPEN_FILES: &str = "/proc/self/fd";

    /// `None`: not every file system has such files.
    pub fn new_in(folder: &Path) -> Option<File> {
        // The process's umask takes its share off, as for any new file.
        let mode = Mode::from_raw_mode(0o666);
        let file = open(
            folder,
            OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC,
            mode,
        );
        file.ok()
            .map(File::from)
            .filter(|_| Path::new(OPEN_FILES).is_dir())
    }

    /// Gives a file a name, which must be free.
    pub fn link(file: &File, name: &Path) -> std::io::Result<()> {
        let open = format!("{OPEN_FILES}/{}", file.as_raw_fd());
        linkat(CWD, open, CWD, name, AtFlags::SYMLINK_FOLLOW)?;
        Ok(())
    }
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

fn new_beside(path: &Path) -> std::io::Result<NamedTempFile> {
    let prefix = prefix(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // The process's umask takes its share off, as for any new file.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder_of(path))
}

/// How temporary names end, and how they begin.
const SUFFIX: &str = ".part";

fn prefix(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!(".{}.", name.chars().take(80).collect::<String>())
}

/// Why no file could be made, without the temporary name, which nobody asked for.
fn said_of_folder(path: &Path, error: &std::io::Error) -> std::io::Error {
    use std::io::ErrorKind;
    let folder = folder_of(path);
    let folder = folder.display();
    let words = match error.kind() {
        // Its own words are for the user already.
        ErrorKind::StorageFull => return ErrorKind::StorageFull.into(),
        ErrorKind::NotFound => format!("there is no folder {folder}"),
        ErrorKind::NotADirectory => format!("this is no folder: {folder}"),
        ErrorKind::PermissionDenied => format!("no permission to write in {folder}"),
        ErrorKind::ReadOnlyFilesystem => format!("{folder} can only be read"),
        kind => format!("no file can be made in {folder}: {kind}"),
    };
    std::io::Error::new(error.kind(), words)
}

/// Brings the new name to the disk; where that cannot be done, the file is still whole.
fn sync_folder(path: &Path) {
    #[cfg(unix)]
    if let Ok(folder) = std::fs::File::open(folder_of(path)) {
        let _unsupported = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _unused = path;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    enum Error {
        File(FileError),
        Own,
    }

    impl From<FileError> for Error {
        fn from(error: FileError) -> Error {
            Error::File(error)
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn write(path: &Path, overwrite: Overwrite, text: &str) -> Result<(), Error> {
        write_whole(path, overwrite, |out| {
            out.write_all(text.as_bytes())
                .map_err(|error| Error::File(error.into()))
        })
    }

    #[test]
    fn old_files_are_kept_unless_the_new_one_is_whole_and_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.fxt");
        write(&path, Overwrite::Refuse, "one").unwrap();
        assert!(matches!(
            write(&path, Overwrite::Refuse, "two"),
            Err(Error::File(FileError::Exists))
        ));
        let failed: Result<(), Error> = write_whole(&path, Overwrite::Replace, |out| {
            out.write_all(&[0; 3 << 20]).unwrap();
            Err(Error::Own)
        });
        assert!(matches!(failed, Err(Error::Own)));
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        assert_eq!(names(folder.path()), ["a.fxt"]);
        write(&path, Overwrite::Replace, "three").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"three");
        assert_eq!(names(folder.path()), ["a.fxt"]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_an_error() {
        let full = write(Path::new("/dev/full"), Overwrite::Refuse, "text");
        match full {
            Err(Error::File(FileError::Io(error))) => {
                assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
            }
            other => panic!("{other:?}"),
        }
    }
}
