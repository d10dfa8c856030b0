//! What is kept from one start to the next: recent files and a few choices, as one small JSON file.

use super::dock::Dock;
use super::layout::SavedLayout;
use super::ruler::TimeFormat;
use super::settings::Settings;
use super::state::ThemeChoice;
use crate::base::atomic_file::{FileError, Overwrite, write_whole};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// How many files are remembered.
const MAX_RECENT: usize = 12;

/// The settings file's neighbour that is locked while the settings are read and written.
const LOCK_ENDING: &str = "lock";

/// The settings file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Saved {
    /// Files that were opened, the last one first.
    pub recent: Vec<RecentFile>,
    /// Which colours.
    pub theme: ThemeChoice,
    /// How times are written.
    pub time_format: TimeFormat,
    /// How the window moves, snaps, colours and scales.
    pub settings: Settings,
    /// Layouts of tracks, for any trace.
    pub layouts: Vec<SavedLayout>,
    /// Where the window was.
    pub window: Option<WindowPlace>,
    /// The panes and how they were arranged.
    pub dock: Dock,
}

/// Where a window is on the screen, in points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WindowPlace {
    /// Width and height of what is inside.
    pub size: [f32; 2],
    /// The upper left corner, where the desktop tells.
    pub position: Option<[f32; 2]>,
    /// Whether it fills the screen.
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
    /// Where.
    pub path: PathBuf,
    /// What it was, e.g. `trace.dat 7`.
    pub format: String,
    /// How much time it held, as text.
    pub length: String,
    /// When it was opened last, in seconds since the Unix epoch; 0: not known.
    pub opened_at: u64,
}

impl RecentFile {
    /// What it was and how long, in a line.
    #[must_use]
    pub fn facts(&self) -> String {
        format!("{} · {}", self.format, self.length)
    }
}

impl Saved {
    /// Where it is kept: `$XDG_STATE_HOME/threadline/window.json`, else `~/.local/state/...`.
    #[must_use]
    pub fn default_path() -> Option<PathBuf> {
        let state = std::env::var_os("XDG_STATE_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| {
                let home = PathBuf::from(std::env::var_os("HOME")?);
                home.is_absolute().then(|| home.join(".local/state"))
            })?;
        Some(state.join("threadline").join("window.json"))
    }

    /// What is kept at `path`; nothing if there is no such file or it cannot be understood.
    #[must_use]
    pub fn read(path: &Path) -> Saved {
        std::fs::read(path)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// Keeps it at `path`, whole and on the disk before it has its name. Recent files that another window has kept
    /// there since stay among the recent files.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        make_private_folder(path)?;
        let lock = std::fs::File::create(path.with_extension(LOCK_ENDING))?;
        // Where the file system has no locks, two windows that write within a moment may lose a recent file.
        let _unsupported = lock.lock();
        let mut merged = self.clone();
        merged.merge_recent(Saved::read(path).recent);
        write_json(path, &merged)
    }

    /// Puts a file first.
    pub fn note(&mut self, file: RecentFile) {
        self.recent.retain(|other| other.path != file.path);
        self.recent.insert(0, file);
        self.recent.truncate(MAX_RECENT);
    }

    /// Adds recent files of another window: each path once, the one opened last first.
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

/// Makes the folder that `path` is in, for this user alone where it is new.
///
/// # Errors
/// Those of the file system.
pub(super) fn make_private_folder(path: &Path) -> std::io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder.unwrap_or(Path::new(".")))
}

/// Writes `value` as JSON; the file appears when it is whole and on the disk.
///
/// # Errors
/// Those of the file system.
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
        assert_eq!(Saved::read(&path), Saved::default());
    }
}
