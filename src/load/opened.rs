//! A file as it was when it was opened: whether its bytes are still the ones that are read from the map.
//!
//! What happens to a file while it is shown or exported:
//!
//! ```text
//! cut short            pages vanish; the guard puts zeros in their place    reported, nothing is written
//! rewritten in place   the map shows the new bytes                          reported, nothing is written
//! grown at its end     the map ends where the file ended                    normal: that length is what was opened
//! replaced (renamed)   the map keeps the old file                           normal
//! ```
//!
//! A rewrite shows in the file's time of modification, or, where that was set back or the file also grew, in samples of
//! its bytes.

use std::fmt;
use std::fs::{File, Metadata};
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rustc_hash::FxHasher;

use super::guard::GuardedMap;

/// Length of a sample in bytes.
const SAMPLE_BYTES: usize = 4096;
/// How many samples are spread over a file.
const SAMPLES: usize = 64;

/// What happened to a file since it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It lost bytes at its end.
    CutShort,
    /// Its bytes were written over.
    Rewritten,
    /// It has more bytes than when it was opened.
    Grown {
        /// Its length when it was opened, in bytes.
        opened_bytes: u64,
        /// Its length now, in bytes.
        now_bytes: u64,
    },
}

impl Change {
    /// Whether what is read from the file now may be wrong.
    #[must_use]
    pub fn is_damage(self) -> bool {
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

/// An open file whose bytes are mapped.
#[derive(Debug)]
pub struct OpenedFile {
    path: PathBuf,
    file: File,
    length: u64,
    modified: Option<SystemTime>,
    status_changed: Option<(i64, i64)>,
    samples: u64,
    map: Arc<GuardedMap>,
}

impl OpenedFile {
    /// The file at `path`, opened as `file`, of which `metadata` was read before it was mapped.
    #[must_use]
    pub fn new(path: &Path, file: File, metadata: &Metadata, map: Arc<GuardedMap>) -> OpenedFile {
        OpenedFile {
            path: path.to_path_buf(),
            file,
            length: metadata.len(),
            modified: metadata.modified().ok(),
            status_changed: status_changed(metadata),
            samples: samples(map.bytes()),
            map,
        }
    }

    /// The path that it was opened by.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What happened to it since it was opened, if that makes what is read from it wrong.
    #[must_use]
    pub fn damage(&self) -> Option<Change> {
        self.change().filter(|change| change.is_damage())
    }

    /// What happened to it since it was opened.
    #[must_use]
    pub fn change(&self) -> Option<Change> {
        if self.map.was_torn() {
            return Some(Change::CutShort);
        }
        let now = self.file.metadata().ok()?;
        if now.len() < self.length {
            return Some(Change::CutShort);
        }
        let grew = now.len() > self.length;
        let was_written = now.modified().ok() != self.modified;
        let was_touched = was_written || status_changed(&now) != self.status_changed;
        if (was_written && !grew) || (was_touched && samples(self.map.bytes()) != self.samples) {
            return Some(Change::Rewritten);
        }
        grew.then_some(Change::Grown {
            opened_bytes: self.length,
            now_bytes: now.len(),
        })
    }
}

/// How often files are looked at.
const EVERY: Duration = Duration::from_millis(100);

/// Looks from a thread of its own whether files are cut short or written over, until one is, or until it is dropped.
#[derive(Debug)]
pub struct Lookout {
    found: Arc<Mutex<Option<(PathBuf, Change)>>>,
    is_over: Arc<AtomicBool>,
}

impl Lookout {
    /// Begins to look; `wake` is called, on the thread of this, when there is something to [`take`](Lookout::take).
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(
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
                    let damaged = files
                        .iter()
                        .find_map(|file| Some((file.path().to_path_buf(), file.damage()?)));
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

    /// The file that was damaged and what happened to it, once.
    pub fn take(&self) -> Option<(PathBuf, Change)> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.take()
    }
}

impl Drop for Lookout {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// When the file's inode was changed last, where the system has that: it cannot be set back.
#[cfg(unix)]
fn status_changed(metadata: &Metadata) -> Option<(i64, i64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((metadata.ctime(), metadata.ctime_nsec()))
}

#[cfg(not(unix))]
fn status_changed(_metadata: &Metadata) -> Option<(i64, i64)> {
    None
}

/// A hash over samples that are spread evenly over `bytes`, the first and the last ones among them.
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
        let file = File::open(&path).unwrap();
        let metadata = file.metadata().unwrap();
        let map = Arc::new(GuardedMap::new(&file).unwrap());
        (OpenedFile::new(&path, file, &metadata, map), path)
    }

    fn later() {
        // File systems note times in steps of a clock tick.
        std::thread::sleep(std::time::Duration::from_millis(20));
    }

    #[test]
    fn cuts_and_rewrites_are_damage_growth_and_replacement_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let (file, path) = opened(folder.path());
        assert_eq!(file.change(), None);
        later();
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
        later();
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
