//! Names of threads: an instance of the ring buffer has no `saved_cmdlines`, and the one of the top instance keeps few
//! names.

use std::collections::BTreeMap;

/// Thread names by thread id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    names: BTreeMap<u32, String>,
}

impl Names {
    /// Adds the names of all living threads; a name that is already known is replaced.
    pub(crate) fn add_living(&mut self) {
        for process in numbers_in("/proc") {
            for thread in numbers_in(&format!("/proc/{process}/task")) {
                let path = format!("/proc/{process}/task/{thread}/comm");
                if let Ok(name) = std::fs::read_to_string(path) {
                    self.names.insert(thread, name.trim_end().to_owned());
                }
            }
        }
    }

    /// Adds the names of the kernel's `PID NAME` lines; a name that is already known is replaced.
    pub(crate) fn add_lines(&mut self, text: &str) {
        for line in text.lines() {
            let Some((number, name)) = line.split_once(' ') else {
                continue;
            };
            if let Ok(number) = number.parse()
                && name != "<...>"
            {
                self.names.insert(number, name.to_owned());
            }
        }
    }

    /// Returns all names as `PID NAME` lines.
    #[must_use]
    pub(crate) fn lines(&self) -> String {
        let lines = self.names.iter();
        lines
            .map(|(number, name)| format!("{number} {name}\n"))
            .collect()
    }
}

/// Returns the names of a folder's entries that are numbers.
fn numbers_in(folder: &str) -> Vec<u32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_names_replace_older_ones() {
        let mut names = Names::default();
        names.add_living();
        let own = std::process::id();
        assert!(names.names.contains_key(&own));
        names.add_lines(&format!("{own} new name\n7 <...>\nx y\n"));
        assert!(names.lines().contains(&format!("{own} new name\n")));
        assert!(!names.lines().contains("<...>"));
    }
}
