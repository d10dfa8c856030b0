//! Names of threads, and the processes that they belong to. An instance of the ring buffer has no `saved_cmdlines` and
//! `saved_tgids`, and those of the top instance know few threads, or only those that ran.

use std::collections::BTreeMap;

use crate::tracedat::bytes::Bytes;
use crate::tracedat::layout::id;
use crate::tracefs::head::{NATIVE, SectionText};

/// Thread names by thread id, and the processes of threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    names: BTreeMap<u32, String>,
    /// The process of each thread that lived when threads were listed first.
    first_groups: BTreeMap<u32, u32>,
    /// The process of each thread as it was listed last.
    last_groups: BTreeMap<u32, u32>,
}

impl Names {
    /// Adds the names and processes of all living threads; what is already known is replaced.
    pub(crate) fn add_living(&mut self) {
        let mut groups = BTreeMap::new();
        for process in numbers_in("/proc") {
            for thread in numbers_in(&format!("/proc/{process}/task")) {
                let path = format!("/proc/{process}/task/{thread}/comm");
                if let Ok(name) = std::fs::read(path) {
                    let name = String::from_utf8_lossy(&name);
                    self.names.insert(thread, name.trim_end().to_owned());
                    groups.insert(thread, process);
                }
            }
        }
        self.add_groups(groups);
    }

    /// Adds the lines `/proc/PROCESS/task/THREAD NAME`, one for each living thread; what is already known is replaced.
    pub(crate) fn add_list(&mut self, text: &str) {
        let mut groups = BTreeMap::new();
        for line in text.lines() {
            let Some((path, name)) = line.split_once(' ') else {
                continue;
            };
            let numbers = path.strip_prefix("/proc/");
            let numbers = numbers.and_then(|path| path.split_once("/task/"));
            if let Some((process, thread)) = numbers
                && let (Ok(process), Ok(thread)) = (process.parse(), thread.parse())
            {
                self.names.insert(thread, name.to_owned());
                groups.insert(thread, process);
            }
        }
        self.add_groups(groups);
    }

    fn add_groups(&mut self, groups: BTreeMap<u32, u32>) {
        if self.first_groups.is_empty() {
            self.first_groups.clone_from(&groups);
        }
        self.last_groups.extend(groups);
    }

    /// Adds the kernel's names of threads (lines `PID NAME`), which replace those that are known, and its list of the
    /// processes of threads that ran (lines `PID TGID`). The list may contain threads of earlier recordings: what is
    /// known is not replaced.
    pub(crate) fn add_saved(&mut self, cmdlines: &str, tgids: &str) {
        for (number, name) in numbered(cmdlines) {
            if name != "<...>" {
                self.names.insert(number, name.to_owned());
            }
        }
        for (number, group) in numbered(tgids) {
            if let Ok(group) = group.trim().parse() {
                self.last_groups.entry(number).or_insert(group);
            }
        }
    }

    /// Returns the sections of a trace.dat with the names and the processes.
    #[must_use]
    pub(crate) fn sections(&self) -> [SectionText; 2] {
        let names = lines(&self.names);
        let lists = [lines(&self.first_groups), lines(&self.last_groups)];
        let section = |id, texts: &[String]| {
            let mut body = Bytes::new(NATIVE);
            for text in texts {
                body.u64(text.len() as u64).raw(text.as_bytes());
            }
            SectionText { id, body: body.all }
        };
        [
            section(id::CMDLINES, &[names]),
            section(id::THREAD_GROUPS, &lists),
        ]
    }
}

/// Returns the lines of a list of the kernel that begin with a number.
fn numbered(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.filter_map(|(number, rest)| Some((number.parse().ok()?, rest)))
}

fn lines(list: &BTreeMap<u32, impl std::fmt::Display>) -> String {
    let lines = list.iter();
    lines
        .map(|(number, of)| format!("{number} {of}\n"))
        .collect()
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
    fn the_kernels_names_replace_older_ones_but_not_the_processes() {
        let mut names = Names::default();
        names.add_living();
        let own = std::process::id();
        assert!(names.names.contains_key(&own));
        assert_eq!(names.first_groups[&own], own);
        let tgids = format!("{own} 3\n4000000000 17\nx y\n");
        names.add_saved(&format!("{own} new name\n7 <...>\nx y\n"), &tgids);
        assert_eq!(names.names[&own], "new name");
        assert!(!names.names.values().any(|name| name == "<...>"));
        assert_eq!(names.last_groups[&own], own);
        assert_eq!(names.last_groups[&4_000_000_000], 17);
    }

    #[test]
    fn a_list_of_another_machine_names_threads_and_their_processes() {
        let mut names = Names::default();
        names.add_list("/proc/12/task/13 a b\n/proc/12/task/12 main\nnonsense\n");
        names.add_list("/proc/20/task/13 other\n");
        let [cmdlines, groups] = names.sections().map(|section| section.body);
        assert_eq!(&cmdlines[8..], b"12 main\n13 other\n");
        assert_eq!(&groups[8..20], b"12 12\n13 12\n");
        assert_eq!(&groups[28..], b"12 12\n13 20\n");
    }
}
