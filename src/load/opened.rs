//! An opened file, and whether its bytes have changed since it was opened.
//!
//! What can happen to a file while it is shown or exported:
//!
//! ```text
//! cut short            pages vanish; the guard maps zeros instead           reported, no output is written
//! rewritten in place   the map shows the new bytes                          reported, no output is written
//! grown at its end     the map ends where the file ended                    normal: that length is what was opened
//! replaced (renamed)   the map keeps the old file                           normal
//! ```
//!
//! A rewrite is detected by the file's modification time. If that time was set back, or the file also grew, samples of
//! the file's bytes are compared.

use std::fmt;
use std::fs::{File, Metadata};
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::base::fingerprint::Fingerprint;
use crate::base::system::files::{ChangeTime, FileId, file_id, status_changed};

use rustc_hash::FxHasher;

use super::guard::GuardedMap;

/// Length of a sample in bytes.
const SAMPLE_BYTES: usize = 4096;
/// Number of samples, spread over the file.
const SAMPLES: usize = 64;

/// A change of a file since it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The file lost bytes at its end.
    CutShort,
    /// Bytes in it were overwritten.
    Rewritten,
    /// The file has more bytes than when it was opened.
    Grown {
        /// Its length when it was opened, in bytes.
        opened_bytes: u64,
        /// Its length now, in bytes.
        now_bytes: u64,
    },
}

impl Change {
    /// Returns whether bytes that are read from the file now may be wrong.
    #[must_use]
    pub(crate) fn is_damage(self) -> bool {
        !matches!(self, Change::Grown { .. })
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::CutShort => f.write_str("the file was cut short while it was open"),
            Change::Rewritten => f.write_str("the file was written over while it was open"),
            Change::Grown {
                opened_bytes,
                now_bytes,
            } => write!(
                f,
                "the file grew while it was open: its first {opened_bytes} bytes of {now_bytes} were used"
            ),
        }
    }
}

/// Which file was opened, and what its contents were then; fields are `None` if the system does not provide them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Snapshot {
    id: Option<FileId>,
    length: u64,
    modified: Option<SystemTime>,
    status_changed: Option<ChangeTime>,
    samples: u64,
}

impl Snapshot {
    /// Returns the snapshot of a file; `metadata` must have been read before `bytes`.
    pub(super) fn of(metadata: &Metadata, bytes: &[u8]) -> Snapshot {
        Snapshot {
            id: file_id(metadata),
            length: metadata.len(),
            modified: metadata.modified().ok(),
            status_changed: status_changed(metadata),
            samples: samples(bytes),
        }
    }

    /// Adds every field to `print`; `None` if the system gave no id or times.
    pub(super) fn add_to(&self, print: &mut Fingerprint) -> Option<()> {
        let since_1970 = self.modified?.duration_since(SystemTime::UNIX_EPOCH);
        let id = self.id?;
        for number in [id.device, id.inode, self.length, self.samples] {
            print.add(&number.to_le_bytes());
        }
        print.add_text(&format!("{since_1970:?} {:?}", self.status_changed?));
        Some(())
    }
}

/// A file whose bytes may be wrong now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DamagedFile {
    /// The path by which the file was opened.
    pub path: PathBuf,
    /// What happened to the file.
    pub change: Change,
}

/// An open file whose bytes are mapped.
#[derive(Debug)]
pub struct OpenedFile {
    path: PathBuf,
    file: File,
    opened: Snapshot,
    map: Arc<GuardedMap>,
}

impl OpenedFile {
    /// Returns the state of the opened `file`; `metadata` must have been read before `map` was made.
    #[must_use]
    pub fn new(path: &Path, file: File, metadata: &Metadata, map: Arc<GuardedMap>) -> OpenedFile {
        OpenedFile {
            path: path.to_path_buf(),
            file,
            opened: Snapshot::of(metadata, map.bytes()),
            map,
        }
    }

    /// Returns which file was opened, and its contents then.
    pub(super) fn snapshot(&self) -> Snapshot {
        self.opened
    }

    /// Returns the path by which the file was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the change since the file was opened, if bytes that are read from it may be wrong now.
    #[must_use]
    pub(crate) fn damage(&self) -> Option<Change> {
        self.change().filter(|change| change.is_damage())
    }

    /// Returns the file and its change, if bytes that are read from it may be wrong now.
    #[must_use]
    pub(crate) fn damaged(&self) -> Option<DamagedFile> {
        let change = self.damage()?;
        let path = self.path.clone();
        Some(DamagedFile { path, change })
    }

    /// Returns the change since the file was opened; `None` if there is none.
    #[must_use]
    pub fn change(&self) -> Option<Change> {
        if self.map.was_torn() {
            return Some(Change::CutShort);
        }
        let now = self.file.metadata().ok()?;
        if now.len() < self.opened.length {
            return Some(Change::CutShort);
        }
        let grew = now.len() > self.opened.length;
        let was_written = now.modified().ok() != self.opened.modified;
        let was_touched = was_written || status_changed(&now) != self.opened.status_changed;
        if (was_written && !grew)
            || (was_touched && samples(self.map.bytes()) != self.opened.samples)
        {
            return Some(Change::Rewritten);
        }
        grew.then_some(Change::Grown {
            opened_bytes: self.opened.length,
            now_bytes: now.len(),
        })
    }
}

/// Interval at which files are checked.
const EVERY: Duration = Duration::from_millis(100);

/// Checks on a thread of its own whether files are cut short or rewritten, until one is, or until this is dropped.
#[derive(Debug)]
pub(crate) struct Lookout {
    found: Arc<Mutex<Option<DamagedFile>>>,
    is_over: Arc<AtomicBool>,
}

impl Lookout {
    /// Starts to check; `wake` is called on the checking thread when there is something to [`take`](Lookout::take).
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub(crate) fn start(
        files: Vec<Arc<OpenedFile>>,
        wake: impl Fn() + Send + 'static,
    ) -> std::io::Result<Lookout> {
        let lookout = Lookout {
            found: Arc::default(),
            is_over: Arc::default(),
        };
        if files.is_empty() {
            return Ok(lookout);
        }
        let (found, is_over) = (lookout.found.clone(), lookout.is_over.clone());
        std::thread::Builder::new()
            .name("lookout".to_owned())
            .spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let damaged = files.iter().find_map(|file| file.damaged());
                    if damaged.is_some() {
                        *found.lock().unwrap_or_else(PoisonError::into_inner) = damaged;
                        wake();
                        return;
                    }
                    std::thread::sleep(EVERY);
                }
            })?;
        Ok(lookout)
    }

    /// Returns the damaged file and its change, once.
    pub(crate) fn take(&self) -> Option<DamagedFile> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.take()
    }
}

impl Drop for Lookout {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Returns a hash over samples of `bytes`, spread evenly; the first and the last bytes are among them.
fn samples(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    let last = bytes.len().saturating_sub(SAMPLE_BYTES);
    for number in 0..SAMPLES {
        let at = (last as u128 * number as u128 / (SAMPLES as u128 - 1)) as usize;
        let end = (at + SAMPLE_BYTES).min(bytes.len());
        hasher.write(bytes.get(at..end).unwrap_or_default());
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom, Write};

    fn opened(folder: &Path) -> (OpenedFile, PathBuf) {
        let path = folder.join("trace");
        std::fs::write(&path, vec![7; 1 << 21]).unwrap();
        // So the next write changes the time, however coarse the file system's clock is.
        let an_hour_ago = SystemTime::now() - Duration::from_secs(3600);
        let writer = File::options().write(true).open(&path).unwrap();
        writer.set_modified(an_hour_ago).unwrap();
        let file = File::open(&path).unwrap();
        let metadata = file.metadata().unwrap();
        let map = Arc::new(GuardedMap::new(&file).unwrap());
        (OpenedFile::new(&path, file, &metadata, map), path)
    }

    #[test]
    fn cuts_and_rewrites_are_damage_growth_and_replacement_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let (file, path) = opened(folder.path());
        assert_eq!(file.change(), None);
        let mut writer = std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap();
        writer.write_all(b"more").unwrap();
        let grown = Change::Grown {
            opened_bytes: 1 << 21,
            now_bytes: (1 << 21) + 4,
        };
        assert_eq!(file.change(), Some(grown));
        let mut writer = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        writer.write_all(b"other").unwrap();
        assert_eq!(file.change(), Some(Change::Rewritten));

        let (file, path) = opened(folder.path());
        let other = folder.path().join("other");
        std::fs::write(&other, b"another file").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(file.change(), None);

        let (file, path) = opened(folder.path());
        let mut writer = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        writer.seek(SeekFrom::Start(1 << 20)).unwrap();
        writer.write_all(b"x").unwrap();
        assert_eq!(file.change(), Some(Change::Rewritten));

        let (file, path) = opened(folder.path());
        std::fs::OpenOptions::new()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(5)
            .unwrap();
        assert_eq!(file.change(), Some(Change::CutShort));
    }
}
