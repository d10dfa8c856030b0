//! A data set: the tables of many traces as Parquet files, which every engine reads in place.
//!
//! ```text
//! DIR/manifest.json                                           the live parts, and the properties of each trace
//! DIR/<table>/date=YYYY-MM-DD/bucket=NNN/part-<hash>.parquet  rows sorted by (trace_id, ts)
//! DIR/.lock, DIR/.adding-<random>/                            lock and folders of running jobs
//! ```
//!
//! The date is that of the recorded start (UTC), or `unknown`; the bucket is the trace's id modulo the number of
//! buckets, which is fixed when the data set is made. There is no folder per trace: queries on 2,000 small files are up
//! to 10 times slower than on 4 files. Adding a trace makes one part per table, [`compact`] joins the parts of each
//! bucket.
//!
//! A trace's id is a fingerprint of its contents: adding the same contents again replaces its rows. A job changes the
//! manifest only while it holds the lock. It makes parts in a folder of its own and moves them to their final names
//! under the lock. Files of a job that was killed are in no manifest; the next job removes them.

pub(crate) mod add;
pub(crate) mod compact;
pub(crate) mod engine;
pub(crate) mod event_table;
pub(crate) mod manifest;
mod parts;
pub(crate) mod plotted;
pub mod query;
pub(crate) mod row_places;
pub(crate) mod stored;
pub(crate) mod views;

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::base::atomic_file::FileError;
use manifest::Manifest;

/// Why a data set could not be read or changed; nothing of it was lost.
#[derive(Debug)]
pub(crate) enum SetError {
    /// There is no data set in the folder.
    Missing(PathBuf),
    /// The manifest is not one of a data set that this version reads.
    Damaged {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The number of buckets cannot be changed.
    Buckets(u32),
    /// The system reported an error for a path.
    Io {
        /// The path.
        path: PathBuf,
        /// The error.
        error: std::io::Error,
    },
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetError::Missing(path) => write!(f, "there is no data set in {}", path.display()),
            SetError::Damaged { path, why } => write!(f, "{why}: {}", path.display()),
            SetError::Buckets(count) => {
                write!(
                    f,
                    "the data set has {count} buckets, which cannot be changed"
                )
            }
            SetError::Io { path, error } => write!(f, "{error}: {}", path.display()),
        }
    }
}

impl From<FileError> for SetError {
    fn from(error: FileError) -> SetError {
        let error = match error {
            FileError::Io(error) => error,
            FileError::Exists => std::io::ErrorKind::AlreadyExists.into(),
        };
        SetError::Io {
            path: PathBuf::new(),
            error,
        }
    }
}

/// Returns a function that turns errors of the system into those about a path.
fn at(path: &Path) -> impl Fn(std::io::Error) -> SetError + '_ {
    |error| SetError::Io {
        path: path.to_path_buf(),
        error,
    }
}

/// The folder of a data set.
#[derive(Clone, Debug)]
pub(crate) struct DataSet {
    folder: PathBuf,
}

/// The number of buckets unless the user chooses another.
pub(crate) const BUCKETS: u32 = 16;

impl DataSet {
    /// Returns the data set in a folder, which must exist.
    ///
    /// # Errors
    /// [`SetError::Missing`].
    pub(crate) fn open(folder: &Path) -> Result<DataSet, SetError> {
        match folder.join(manifest::NAME).is_file() {
            true => Ok(DataSet {
                folder: folder.to_path_buf(),
            }),
            false => Err(SetError::Missing(folder.to_path_buf())),
        }
    }

    /// Returns the data set in a folder; makes one if there is none. `buckets`: the number of buckets, if the user chose
    /// one.
    ///
    /// # Errors
    /// Errors of the system; [`SetError::Buckets`] if the data set has another number of buckets.
    pub(crate) fn open_or_make(folder: &Path, buckets: Option<u32>) -> Result<DataSet, SetError> {
        std::fs::create_dir_all(folder).map_err(at(folder))?;
        let set = DataSet {
            folder: folder.to_path_buf(),
        };
        let lock = set.lock()?;
        match set.manifest() {
            Err(SetError::Missing(_)) => {
                let manifest = Manifest::new(buckets.unwrap_or(BUCKETS));
                set.write_manifest(&lock, &manifest)?;
            }
            Ok(manifest) if buckets.is_some_and(|count| count != manifest.buckets) => {
                return Err(SetError::Buckets(manifest.buckets));
            }
            Ok(_) => {}
            Err(error) => return Err(error),
        }
        Ok(set)
    }

    /// Returns the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Waits until no other job changes the data set.
    fn lock(&self) -> Result<SetLock, SetError> {
        let path = self.folder.join(".lock");
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(at(&path))?;
        file.lock().map_err(at(&path))?;
        Ok(SetLock { _file: file })
    }
}

/// The lock of a data set: only the job that holds it may change the data set. It is released when it is dropped or its
/// process ends.
struct SetLock {
    _file: File,
}
