//! Recent files as the welcome screen and the File menu list them: name, folder, format and duration, size, and the
//! time of the last opening. The disk is queried in the background.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::base::{Task, TaskKey};
use crate::view::ruler;
use crate::view::saved::RecentFile;

/// Longest folder text, in letters; longer ones are cut at the front.
const FOLDER_LETTERS: usize = 44;

/// The state of recent files on the disk.
#[derive(Default)]
pub(super) struct RecentFiles {
    found: Task<Vec<PathBuf>, Vec<OnDisk>>,
}

/// The state of one recent file: its size in bytes, a folder, or gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnDisk {
    File(u64),
    /// A folder that is one recording.
    Folder,
    Gone,
}

/// A recent file as texts.
pub(super) struct RecentRow {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) folder: String,
    /// Format and duration of the trace.
    pub(super) facts: String,
    /// Empty while unknown.
    pub(super) size: String,
    pub(super) when: String,
}

impl RecentFiles {
    /// Returns the files as texts; missing files are left out once the disk has answered.
    pub(super) fn rows(&mut self, ctx: &egui::Context, recent: &[RecentFile]) -> Vec<RecentRow> {
        let paths: Vec<PathBuf> = recent.iter().map(|file| file.path.clone()).collect();
        let asked = paths.clone();
        // A sleeping disk must not block a thread of the pool.
        let question = TaskKey::without_trace(paths).on_thread("recent files");
        let found = self.found.ask(ctx, question.in_turn(), move |_| {
            Ok(asked.iter().map(|path| on_disk(path)).collect())
        });
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_secs());
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let known = found.filter(|found| found.len() == recent.len());
        let row = |(at, file): (usize, &RecentFile)| {
            let disk = known.and_then(|found| found.get(at).copied());
            let size = match disk {
                Some(OnDisk::Gone) => return None,
                Some(OnDisk::File(bytes)) => ruler::size_text(bytes),
                Some(OnDisk::Folder) => "folder".to_owned(),
                None => String::new(),
            };
            let name = file.path.file_name().unwrap_or(file.path.as_os_str());
            Some(RecentRow {
                name: name.to_string_lossy().into_owned(),
                folder: folder_text(&file.path, home.as_deref()),
                facts: file.facts(),
                size,
                when: ago_text(now, file.opened_at),
                path: file.path.clone(),
            })
        };
        recent.iter().enumerate().filter_map(row).collect()
    }

    /// Returns whether the disk has not answered yet.
    pub(super) fn is_waiting(&self) -> bool {
        self.found.is_busy()
    }
}

fn on_disk(path: &Path) -> OnDisk {
    match std::fs::metadata(path) {
        Ok(about) if about.is_dir() => OnDisk::Folder,
        Ok(about) => OnDisk::File(about.len()),
        Err(_) => OnDisk::Gone,
    }
}

/// Returns the folder of a file, with `~` for the home folder; a long one is cut at the front.
fn folder_text(path: &Path, home: Option<&Path>) -> String {
    let folder = path.parent().unwrap_or(Path::new(""));
    let below = home
        .filter(|home| !home.as_os_str().is_empty())
        .and_then(|home| folder.strip_prefix(home).ok());
    let text = match below {
        Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
        Some(below) => format!("~/{}", below.display()),
        None => folder.display().to_string(),
    };
    let more = text.chars().count().saturating_sub(FOLDER_LETTERS);
    if more == 0 {
        return text;
    }
    let end: String = text.chars().skip(more + 1).collect();
    // The cut text starts with a whole folder name.
    let end = end.find('/').map_or(end.as_str(), |at| &end[at..]);
    format!("…{end}")
}

/// Returns the time from `then` to `now` as text, both in seconds since the Unix epoch; empty if `then` is unknown.
fn ago_text(now: u64, then: u64) -> String {
    const UNITS: [(u64, &str, &str); 6] = [
        (365 * 86_400, "year", "years"),
        (30 * 86_400, "month", "months"),
        (7 * 86_400, "week", "weeks"),
        (86_400, "day", "days"),
        (3_600, "hour", "hours"),
        (60, "minute", "minutes"),
    ];
    if then == 0 {
        return String::new();
    }
    let seconds = now.saturating_sub(then);
    match UNITS.iter().find(|(unit, ..)| seconds >= *unit) {
        Some((unit, one, several)) => {
            let count = ruler::counted((seconds / unit) as usize, one, several);
            format!("{count} ago")
        }
        None => "just now".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_the_largest_unit() {
        let now = 1_800_000_000;
        for (before, words) in [
            (0, "just now"),
            (59, "just now"),
            (60, "1 minute ago"),
            (7_199, "1 hour ago"),
            (86_400 * 6, "6 days ago"),
            (86_400 * 20, "2 weeks ago"),
            (86_400 * 400, "1 year ago"),
        ] {
            assert_eq!(ago_text(now, now - before), words);
        }
        assert_eq!(ago_text(now, 0), "");
        assert_eq!(ago_text(now, now + 5), "just now");
    }

    #[test]
    fn of_long_folders_the_end_is_told() {
        let home = Some(Path::new("/home/ada"));
        let text = |path: &str| folder_text(Path::new(path), home);
        assert_eq!(text("/home/ada/a.dat"), "~");
        assert_eq!(text("/home/ada/t/a.dat"), "~/t");
        assert_eq!(text("/home/adam/a.dat"), "/home/adam");
        let long = text("/var/lib/recordings/of/many/machines/in/the/hall/2026-11/a.dat");
        assert!(
            long.starts_with("…/") && long.ends_with("/hall/2026-11"),
            "{long}"
        );
        assert!(long.chars().count() <= FOLDER_LETTERS);
    }
}
