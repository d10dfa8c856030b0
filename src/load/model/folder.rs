//! The folder of model files: what is in it, and how much.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use super::file::Label;
use crate::base::atomic_file::{FileError, Overwrite, write_whole_file};
use crate::base::system::files::{
    create_private_folder, disk_space, is_private, make_file_private,
};

/// Most bytes of all model files together.
const MOST_BYTES: u64 = 20 << 30;
/// They take at most this part of the disk.
const PART_OF_DISK: u64 = 10;
/// The ending of the names of model files.
const EXTENSION: &str = "tlm";

/// A folder of model files.
#[derive(Clone, Debug)]
pub(crate) struct Folder(PathBuf);

/// A file in the folder.
#[derive(Clone, Debug)]
pub(crate) struct ModelFile {
    /// Its path.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was used last.
    pub used: SystemTime,
}

impl Folder {
    /// A folder, which need not exist yet.
    #[must_use]
    pub(crate) fn new(path: PathBuf) -> Folder {
        Folder(path)
    }

    /// Returns the path of the folder.
    #[must_use]
    pub(crate) fn path(&self) -> &std::path::Path {
        &self.0
    }

    fn path_of(&self, label: Label) -> PathBuf {
        let [first, second] = label.key;
        self.0
            .join(format!("{first:016x}{second:016x}.{EXTENSION}"))
    }

    /// Opens the model file for a label, if there is one that only this user can have written: a file of somebody else
    /// could contain anything.
    pub(super) fn open(&self, label: Label) -> Option<File> {
        let file = File::open(self.path_of(label)).ok()?;
        let is_ours = is_private(&file.metadata().ok()?) && is_private(&self.0.metadata().ok()?);
        is_ours.then_some(file)
    }

    /// Removes the model file for a label, if there is one. Programs that have it mapped keep it.
    pub(super) fn remove(&self, label: Label) {
        let _is_gone = std::fs::remove_file(self.path_of(label));
    }

    /// Records that a model file was used now: the least recently used ones are removed first.
    pub(super) fn mark_used(&self, file: &File) {
        let _kept_old = file.set_modified(SystemTime::now());
    }

    /// Adds the file for a label that `write` writes, and removes the least recently used files if there is no room for
    /// about `bytes` more. The file appears when it is complete.
    ///
    /// # Errors
    /// If it cannot be written, or there is no room for it.
    pub(super) fn add(
        &self,
        label: Label,
        bytes: u64,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        create_private_folder(&self.0)?;
        self.make_room(bytes)?;
        write_whole_file(&self.path_of(label), Overwrite::Replace, |file| {
            make_file_private(file)?;
            write(file).map_err(FileError::Io)
        })
        .map_err(|error| match error {
            FileError::Io(error) => error,
            FileError::Exists => io::ErrorKind::AlreadyExists.into(),
        })
    }

    /// Removes the least recently used files until there is room for `bytes` more.
    fn make_room(&self, bytes: u64) -> io::Result<()> {
        let disk = disk_space(&self.0)?;
        let most = MOST_BYTES.min(disk.total / PART_OF_DISK);
        let mut files = self.list()?;
        files.sort_by_key(|file| file.used);
        let mut sum: u64 = files.iter().map(|file| file.bytes).sum();
        let mut free = disk.free;
        for file in files {
            if sum.saturating_add(bytes) <= most && bytes <= free {
                break;
            }
            std::fs::remove_file(&file.path)?;
            sum -= file.bytes;
            free += file.bytes;
        }
        if sum.saturating_add(bytes) > most || bytes > free {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    /// Returns all model files, in no order; none if there is no such folder.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub(crate) fn list(&self) -> io::Result<Vec<ModelFile>> {
        let entries = match std::fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_none_or(|it| it != EXTENSION) {
                continue;
            }
            // Another program may have removed it meanwhile.
            let Ok(metadata) = path.metadata() else {
                continue;
            };
            files.push(ModelFile {
                bytes: metadata.len(),
                used: metadata.modified()?,
                path,
            });
        }
        Ok(files)
    }

    /// Removes all model files; returns their number and size.
    ///
    /// # Errors
    /// If one cannot be removed.
    pub(crate) fn clear(&self) -> io::Result<Vec<ModelFile>> {
        let files = self.list()?;
        for file in &files {
            match std::fs::remove_file(&file.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(files)
    }
}
