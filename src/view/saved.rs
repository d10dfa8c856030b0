//! State that is saved between starts of the program: recent files and a few choices, as one small JSON file.

use super::dock::Dock;
use super::ruler::TimeFormat;
use super::saved_layout::SavedLayout;
use super::settings::{Settings, ThemeChoice};
use crate::base::atomic_file::{FileError, Overwrite, write_whole};
use crate::base::system::files;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Number of recent files that are kept.
const MAX_RECENT: usize = 12;

/// Extension of the file next to the settings file that is locked while the settings are read and written.
const LOCK_ENDING: &str = "lock";

/// Content of the settings file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Saved {
    /// Recently opened files, latest first.
    pub recent: Vec<RecentFile>,
    /// Colour theme.
    pub theme: ThemeChoice,
    /// Format of times.
    pub time_format: TimeFormat,
    /// Motion, snapping, colours and scale of the window.
    pub settings: Settings,
    /// Saved layouts of tracks, for any trace.
    pub layouts: Vec<SavedLayout>,
    /// Last place of the window.
    pub window: Option<WindowPlace>,
    /// The panes and their arrangement.
    pub dock: Dock,
}

/// Where a window is on the screen, in points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WindowPlace {
    /// Width and height of the window's inside.
    pub size: [f32; 2],
    /// The upper left corner, if the desktop reports it.
    pub position: Option<[f32; 2]>,
    /// Whether the window is maximized.
    pub is_maximized: bool,
}

impl Default for WindowPlace {
    fn default() -> WindowPlace {
        WindowPlace {
            size: [1400.0, 880.0],
            position: None,
            is_maximized: false,
        }
    }
}

/// A file that was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecentFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Its format, e.g. `trace.dat 7`.
    pub format: String,
    /// Duration of the trace, as text.
    pub length: String,
    /// Time of the last opening, in seconds since the Unix epoch; 0: unknown.
    pub opened_at: u64,
}

impl RecentFile {
    /// Returns format and duration in one line.
    #[must_use]
    pub(crate) fn facts(&self) -> String {
        format!("{} · {}", self.format, self.length)
    }
}

impl Saved {
    /// Returns the path of the settings file: `$XDG_STATE_HOME/threadline/window.json`, else `~/.local/state/...`.
    #[must_use]
    pub(crate) fn default_path() -> Option<PathBuf> {
        let state = std::env::var_os("XDG_STATE_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| {
                let home = PathBuf::from(std::env::var_os("HOME")?);
                home.is_absolute().then(|| home.join(".local/state"))
            })?;
        Some(state.join("threadline").join("window.json"))
    }

    /// Returns the settings of a first start.
    fn at_first() -> Saved {
        Saved {
            dock: Dock::at_first(),
            ..Saved::default()
        }
    }

    /// Reads the settings at `path`; returns those of a first start if the file is missing or malformed.
    #[must_use]
    pub fn read(path: &Path) -> Saved {
        std::fs::read(path)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_else(Saved::at_first)
    }

    /// Writes the settings to `path`: the file is written under another name, synced and then renamed, so that it is
    /// never incomplete. Recent files that another window saved there meanwhile are merged in.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        make_private_folder(path)?;
        let lock = std::fs::File::create(path.with_extension(LOCK_ENDING))?;
        // On a file system without locks, two windows that write at the same moment may lose a recent file.
        let _unsupported = lock.lock();
        let mut merged = self.clone();
        merged.merge_recent(Saved::read(path).recent);
        write_json(path, &merged)
    }

    /// Puts a file first in the list of recent files.
    pub(crate) fn note(&mut self, file: RecentFile) {
        self.recent.retain(|other| other.path != file.path);
        self.recent.insert(0, file);
        self.recent.truncate(MAX_RECENT);
    }

    /// Merges another window's recent files: each path once, latest first.
    fn merge_recent(&mut self, others: Vec<RecentFile>) {
        for other in others {
            match self.recent.iter_mut().find(|own| own.path == other.path) {
                Some(own) if own.opened_at < other.opened_at => *own = other,
                Some(_) => {}
                None => self.recent.push(other),
            }
        }
        self.recent
            .sort_by_key(|file| std::cmp::Reverse(file.opened_at));
        self.recent.truncate(MAX_RECENT);
    }
}

/// Creates the parent folder of `path` if it is missing, accessible to this user alone.
///
/// # Errors
/// Errors of the file system.
pub(super) fn make_private_folder(path: &Path) -> std::io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    files::create_private_folder(folder.unwrap_or(Path::new(".")))
}

/// Writes `value` as JSON: the file is written under another name, synced and then renamed, so that it is never
/// incomplete.
///
/// # Errors
/// Errors of the file system.
pub(super) fn write_json(path: &Path, value: &impl Serialize) -> std::io::Result<()> {
    let text = serde_json::to_vec_pretty(value)?;
    let written = write_whole(path, Overwrite::Replace, |out| {
        out.write_all(&text).map_err(FileError::from)
    });
    written.map_err(|error| match error {
        FileError::Io(error) => error,
        FileError::Exists => std::io::ErrorKind::AlreadyExists.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/window.json");
        let mut saved = Saved::default();
        for i in 0..20 {
            saved.note(RecentFile {
                path: format!("/t/{}.dat", i % 15).into(),
                opened_at: 1000 + i,
                ..RecentFile::default()
            });
        }
        saved.write(&path).unwrap();
        let read = Saved::read(&path);
        assert_eq!(read, saved);
        assert_eq!(read.recent.len(), MAX_RECENT);
        assert_eq!(read.recent[0].path, Path::new("/t/4.dat"));
    }

    #[test]
    fn two_windows_keep_each_others_recent_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window.json");
        let file = |name: &str, opened_at| RecentFile {
            path: name.into(),
            opened_at,
            ..RecentFile::default()
        };
        let (mut first, mut second) = (Saved::default(), Saved::default());
        first.note(file("/t/a", 1));
        second.note(file("/t/b", 2));
        first.note(file("/t/c", 3));
        second.note(file("/t/a", 4));
        first.write(&path).unwrap();
        second.write(&path).unwrap();
        first.write(&path).unwrap();
        let kept: Vec<_> = Saved::read(&path).recent;
        let names: Vec<_> = kept
            .iter()
            .map(|file| file.path.to_str().unwrap())
            .collect();
        assert_eq!(names, ["/t/a", "/t/c", "/t/b"]);
    }

    #[test]
    fn a_damaged_file_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window.json");
        std::fs::write(&path, b"{\"recent\": 5").unwrap();
        assert_eq!(Saved::read(&path), Saved::at_first());
    }
}
