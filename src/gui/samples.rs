//! The sample traces that the welcome screen offers: the files of the samples' folder, each with what the
//! folder's README says is in it (`sample-traces/README.md`, the second column of its table).

use std::path::{Path, PathBuf};

/// Endings of what lies beside the samples: notes, facts, and what one drops on a trace.
const BESIDE: [&str; 4] = ["md", "json", "kprobe_events", "kprobe_profile"];

/// A trace to try the program with.
pub struct Sample {
    /// Where it lies.
    pub path: PathBuf,
    /// What is in it, in words; empty where nobody says.
    pub about: String,
}

/// The samples that are there: beside the program's source, or installed with it. Reads the folder.
#[must_use]
pub fn samples() -> Vec<Sample> {
    // `bin/threadline` has them in `share/`, wherever both were put.
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

/// The second cell of the row whose first is the file's name.
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
