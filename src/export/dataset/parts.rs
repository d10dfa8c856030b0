//! Parts on the disk: made in a folder that nobody reads, placed under the lock, removed when they are not live.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::TempDir;

use super::manifest::{Manifest, PartEntry};
use super::{DataSet, SetError, SetLock, at};
use crate::base::fingerprint::{Fingerprint, digits};
use crate::export::parquet::layout::StoredColumn;
use crate::export::parquet::{ParquetFile, Written};

/// Prefix of the names of folders in which jobs make parts.
const MAKING: &str = ".adding-";

/// The folder in which a job makes parts; removed with it.
#[derive(Debug)]
pub(super) struct Workshop {
    folder: TempDir,
    /// Locked as long as the job lives.
    _alive: File,
    next: AtomicU64,
}

/// A part that is complete, but not live.
#[derive(Debug)]
pub(super) struct MadePart {
    /// Where it is now.
    pub path: PathBuf,
    /// Its entry in the manifest.
    pub entry: PartEntry,
}

impl Workshop {
    /// Makes the folder. The lock keeps other jobs from removing the folder before its own file is locked, which shows
    /// that its job is running.
    pub(super) fn new(set: &DataSet, _lock: &SetLock) -> Result<Workshop, SetError> {
        let mut builder = tempfile::Builder::new();
        let folder = builder.prefix(MAKING).tempdir_in(set.folder());
        let folder = folder.map_err(at(set.folder()))?;
        let path = folder.path().join("alive");
        let alive = File::create(&path).map_err(at(&path))?;
        alive.lock().map_err(at(&path))?;
        Ok(Workshop {
            folder,
            _alive: alive,
            next: AtomicU64::new(0),
        })
    }

    /// Makes a part with these columns, whose rows `write` appends; `entry` is its entry in the manifest, to which the
    /// size and the hash are added. Returns the part and the counts of what was written.
    pub(super) fn make(
        &self,
        columns: &[StoredColumn],
        sorted: &[usize],
        mut entry: PartEntry,
        write: impl FnOnce(&mut ParquetFile<'_>) -> std::io::Result<()>,
    ) -> Result<(MadePart, Written), SetError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.path().join(format!("{number}.parquet"));
        let made = || -> std::io::Result<(Written, u64)> {
            let file = File::create(&path)?;
            let mut out = std::io::BufWriter::with_capacity(1 << 20, file);
            let mut parquet = ParquetFile::new(&mut out, columns, sorted)?;
            write(&mut parquet)?;
            let written = parquet.finish()?;
            let file = out.into_inner().map_err(|error| error.into_error())?;
            file.sync_data()?;
            Ok((written, file.metadata()?.len()))
        };
        let (written, size_bytes) = made().map_err(|error| {
            // The disk may be full: others need the room. (The folder is removed with the job.)
            let _left = std::fs::remove_file(&path);
            at(&path)(error)
        })?;
        entry.size_bytes = size_bytes;
        entry.hash = self.hash(&entry, number);
        Ok((MadePart { path, entry }, written))
    }

    /// Returns a number that no other part has: the folder's name is random.
    fn hash(&self, entry: &PartEntry, number: u64) -> String {
        let mut fingerprint = Fingerprint::default();
        fingerprint.add_text(&self.folder.path().to_string_lossy());
        fingerprint.add_text(&entry.table);
        fingerprint.add(&number.to_le_bytes());
        fingerprint.add(&std::process::id().to_le_bytes());
        digits(fingerprint.finish())
    }
}

impl DataSet {
    /// Gives parts their names; they are live once the manifest names them.
    pub(super) fn place(&self, _lock: &SetLock, made: &[MadePart]) -> Result<(), SetError> {
        for part in made {
            let path = self.path_of(&part.entry);
            let folder = path.parent().unwrap_or(self.folder());
            std::fs::create_dir_all(folder).map_err(at(folder))?;
            std::fs::rename(&part.path, &path).map_err(at(&path))?;
        }
        Ok(())
    }

    /// Removes parts that the manifest does not name, and the files of jobs that were killed.
    pub(super) fn sweep(&self, _lock: &SetLock, manifest: &Manifest) {
        let live: BTreeSet<PathBuf> = manifest.parts.iter().map(|it| self.path_of(it)).collect();
        for table in folders(self.folder()) {
            let name = table
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if name.starts_with(MAKING) {
                remove_if_dead(&table);
                continue;
            }
            for date in folders(&table).filter(|it| has_prefix(it, "date=")) {
                for bucket in folders(&date).filter(|it| has_prefix(it, "bucket=")) {
                    remove_others(&bucket, &live);
                }
            }
        }
    }
}

fn has_prefix(path: &Path, prefix: &str) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(prefix.as_bytes())
}

/// Returns the folders in a folder, without symbolic links to folders.
fn folders(path: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir()));
    entries.map(|entry| entry.path())
}

/// Removes a job's folder if the job is no longer running.
fn remove_if_dead(folder: &Path) {
    let is_dead = match File::options().write(true).open(folder.join("alive")) {
        Ok(alive) => alive.try_lock().is_ok(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if is_dead {
        // A folder that cannot be removed stays; no reader reads it.
        let _left = std::fs::remove_dir_all(folder);
    }
}

/// Removes parts that are not live.
fn remove_others(bucket: &Path, live: &BTreeSet<PathBuf>) {
    let entries = std::fs::read_dir(bucket).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if has_prefix(&path, "part-") && !live.contains(&path) {
            let _left = std::fs::remove_file(&path);
        }
    }
    // Removes empty folders only.
    let _kept = std::fs::remove_dir(bucket);
}
