//! Writes files that appear only when they are complete: a file is written in the target's folder, flushed to the disk,
//! then named. If anything fails before that, an old file stays unchanged and no partial file remains.
//!
//! Where the file system supports it (Linux), the file has no name until it is complete, so that even a killed program
//! leaves nothing (but the complete file under a temporary name, if it is killed just before it renames it over an old
//! file). Elsewhere the file has a temporary name and is renamed.
//!
//! An existing target that is not a regular file (a pipe, a device) is opened and written directly.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::system::files;
use super::system::unnamed_file::UnnamedFile;

/// What to do with an existing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// Keep it and write nothing.
    Refuse,
    /// Replace it once the new file is complete.
    Replace,
}

/// Why no file was written.
#[derive(Debug)]
pub(crate) enum FileError {
    /// The file exists, and [`Overwrite::Refuse`] was given.
    Exists,
    /// The operating system reported an error.
    Io(std::io::Error),
}

impl From<std::io::Error> for FileError {
    fn from(error: std::io::Error) -> FileError {
        FileError::Io(error)
    }
}

/// Writes a file at `path` with `write` and returns the value that `write` returned. `E` is the error type of `write`.
///
/// # Errors
/// The errors of `write`, and [`FileError`] converted to `E`.
pub(crate) fn write_whole<T, E: From<FileError>>(
    path: &Path,
    overwrite: Overwrite,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, E> {
    write_whole_file(path, overwrite, |file| {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let answer = write(&mut out)?;
        out.flush().map_err(|error| E::from(FileError::Io(error)))?;
        Ok(answer)
    })
}

/// Writes a file like [`write_whole`], but without a buffer: `write` gets the open file and writes it from its start to
/// its end.
///
/// # Errors
/// As [`write_whole`].
pub(crate) fn write_whole_file<T, E: From<FileError>>(
    path: &Path,
    overwrite: Overwrite,
    write: impl FnOnce(&File) -> Result<T, E>,
) -> Result<T, E> {
    let io = |error: std::io::Error| E::from(FileError::Io(error));
    // If `path` is a symbolic link, its target is replaced, not the link.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let old = std::fs::metadata(&path).ok();
    if let Some(old) = &old {
        if !old.is_file() && !old.is_dir() {
            let file = OpenOptions::new().write(true).open(&path).map_err(io)?;
            return write(&file);
        }
        if overwrite == Overwrite::Refuse || old.is_dir() {
            return Err(FileError::Exists.into());
        }
    }
    let draft = Draft::beside(&path).map_err(|error| io(folder_error(&path, &error)))?;
    if let Some(old) = &old {
        // The new file gets the old file's permissions; the file is written even if they cannot be set.
        let _kept_default = draft.file().set_permissions(old.permissions());
    }
    let answer = write(draft.file())?;
    draft.file().sync_all().map_err(io)?;
    match draft.place(&path, overwrite) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(FileError::Exists.into());
        }
        Err(error) => return Err(io(error)),
    }
    files::sync_folder(&folder_of(&path));
    Ok(answer)
}

/// A file that is being written.
enum Draft {
    /// A file without a name.
    Unnamed(UnnamedFile),
    /// A file with a temporary name in the target's folder.
    Named(NamedTempFile),
}

impl Draft {
    fn beside(path: &Path) -> std::io::Result<Draft> {
        match UnnamedFile::new_in(&folder_of(path)) {
            Some(file) => Ok(Draft::Unnamed(file)),
            None => new_beside(path).map(Draft::Named),
        }
    }

    fn file(&self) -> &File {
        match self {
            Draft::Unnamed(file) => file.file(),
            Draft::Named(file) => file.as_file(),
        }
    }

    /// Gives the file its final name.
    fn place(self, path: &Path, overwrite: Overwrite) -> std::io::Result<()> {
        let named = match (self, overwrite) {
            (Draft::Unnamed(file), Overwrite::Refuse) => return file.link(path),
            // A file without a name cannot replace a named one: it gets a temporary name first.
            (Draft::Unnamed(file), Overwrite::Replace) => {
                let prefix = prefix(path);
                let mut builder = tempfile::Builder::new();
                builder.prefix(&prefix).suffix(SUFFIX);
                builder.make_in(folder_of(path), |name| {
                    file.link(name)?;
                    file.file().try_clone()
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
    files::make_ordinary(&mut builder);
    builder.tempfile_in(folder_of(path))
}

/// Suffix of temporary names; [`prefix`] returns how they start.
const SUFFIX: &str = ".part";

fn prefix(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!(".{}.", name.chars().take(80).collect::<String>())
}

/// Rewords an error about the temporary file as an error about the folder: the user does not know the temporary name.
fn folder_error(path: &Path, error: &std::io::Error) -> std::io::Error {
    use std::io::ErrorKind;
    let folder = folder_of(path);
    let folder = folder.display();
    let words = match error.kind() {
        // The standard library's text for this error is suitable for the user.
        ErrorKind::StorageFull => return ErrorKind::StorageFull.into(),
        ErrorKind::NotFound => format!("there is no folder {folder}"),
        ErrorKind::NotADirectory => format!("not a folder: {folder}"),
        ErrorKind::PermissionDenied => format!("no permission to write in {folder}"),
        ErrorKind::ReadOnlyFilesystem => format!("read-only: {folder}"),
        kind => format!("cannot create a file in {folder}: {kind}"),
    };
    std::io::Error::new(error.kind(), words)
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
