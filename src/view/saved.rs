//! What is kept from one start to the next: recent files and a few choices, as one small JSON file.

use super::dock::Dock;
use super::layout::SavedLayout;
use super::ruler::TimeFormat;
use super::settings::Settings;
use super::state::ThemeChoice;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// How many files are remembered.
const MAX_RECENT: usize = 12;

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

    /// Keeps it at `path`: written beside and moved over, so that it is never half there.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut file, self)?;
        file.persist(path).map_err(|failed| failed.error)?;
        Ok(())
    }

    /// Puts a file first.
    pub fn note(&mut self, file: RecentFile) {
        self.recent.retain(|other| other.path != file.path);
        self.recent.insert(0, file);
        self.recent.truncate(MAX_RECENT);
    }
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
    fn a_damaged_file_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window.json");
        std::fs::write(&path, b"{\"recent\": 5").unwrap();
        assert_eq!(Saved::read(&path), Saved::default());
    }
}
