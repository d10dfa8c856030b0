//! The sample traces that the welcome screen offers: the files of the samples' folder, each with its description from
//! the second column of the table in `sample-traces/README.md`.

use std::path::{Path, PathBuf};

/// Extensions of other files in that folder: notes, facts, and files to drop on a trace.
const BESIDE: [&str; 4] = ["md", "json", "kprobe_events", "kprobe_profile"];

/// A trace to try the program with.
pub(super) struct Sample {
    /// Path of the file.
    pub path: PathBuf,
    /// Description; empty if the README has none.
    pub about: String,
}

/// Returns the available samples: beside the program's source, or installed with it. Reads the folder.
#[must_use]
pub(super) fn samples() -> Vec<Sample> {
    // `bin/threadline` has its samples in `share/` of the same prefix.
    let installed = std::env::current_exe().ok().and_then(|program| {
        let prefix = program.parent()?.parent()?;
        Some(prefix.join("share/threadline/sample-traces"))
    });
    let source = match env!("THREADLINE_SOURCE") {
        "" => None,
        source => Some(Path::new(source).join("sample-traces")),
    };
    let folders = [source, installed].into_iter().flatten();
    folders
        .map(|folder| samples_in(&folder))
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

fn samples_in(folder: &Path) -> Vec<Sample> {
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap_or_default();
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<Sample> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let ending = path.extension().and_then(|ending| ending.to_str());
            path.is_file() && ending.is_some_and(|ending| !BESIDE.contains(&ending))
        })
        .map(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy());
            let about = name.and_then(|name| about(&readme, &name));
            Sample {
                about: about.unwrap_or_default(),
                path,
            }
        })
        .collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Returns the second cell of the row whose first cell is the file's name.
fn about(readme: &str, name: &str) -> Option<String> {
    readme.lines().find_map(|line| {
        let mut cells = line.strip_prefix('|')?.split(" | ");
        let first = cells.next()?.trim().trim_matches('`');
        let second = cells.next()?.trim().replace(['`', '\\'], "");
        (first == name).then_some(second)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_says_what_is_in_it() {
        let found = samples();
        assert!(found.len() > 5);
        for sample in &found {
            assert!(!sample.about.is_empty(), "{}", sample.path.display());
        }
    }

    #[test]
    fn the_row_of_another_file_says_nothing() {
        let readme = "| `a.dat` | threads | made |\n| `b.dat` | `x \\| y` | made |\n";
        assert_eq!(about(readme, "a.dat").as_deref(), Some("threads"));
        assert_eq!(about(readme, "c.dat"), None);
    }
}
