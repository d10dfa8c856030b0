//! What a recording changed in the kernel, and how it is restored.
//!
//! The names of instances and groups of probes contain the number of their recording, so that what a killed recording
//! left is found by these names. Values in the top folder of tracefs have no such name: before a value is changed, the
//! old one is written to a file in [`FOLDER`], one line for each value: file, TAB, value.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::folder::Folder;

/// Folder of the files with old values; empty after a restart of the machine.
const FOLDER: &str = "/run/threadline";
/// Prefix of the names of instances.
const INSTANCE: &str = "threadline-";
/// Prefix of the names of groups of probes.
const GROUP: &str = "threadline_";

/// Returns the name of a recording's instance.
#[must_use]
pub(crate) fn instance_name(id: u32) -> String {
    format!("{INSTANCE}{id}")
}

/// Returns the name of the group of a recording's probes.
#[must_use]
pub(crate) fn group_name(id: u32) -> String {
    format!("{GROUP}{id}")
}

/// What a recording changed.
#[derive(Debug)]
pub(crate) struct Journal {
    top: Folder,
    id: u32,
    /// Old values in the top folder of tracefs, in the order of the changes.
    values: Vec<OldValue>,
    has_instance: bool,
    has_probes: bool,
}

/// The value of a file before the recording changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OldValue {
    file: String,
    value: String,
}

impl Journal {
    /// Returns an empty journal of the recording with the number `id`.
    #[must_use]
    pub(crate) fn new(top: &Folder, id: u32) -> Journal {
        Journal {
            top: top.clone(),
            id,
            values: Vec::new(),
            has_instance: false,
            has_probes: false,
        }
    }

    /// Notes that the instance will be created.
    pub(crate) fn makes_instance(&mut self) {
        self.has_instance = true;
    }

    /// Notes that probes will be defined.
    pub(crate) fn makes_probes(&mut self) {
        self.has_probes = true;
    }

    /// Notes the value to which a file in the top folder of tracefs is restored at the end.
    ///
    /// # Errors
    /// If the note cannot be written: then the caller must not change the file.
    pub(crate) fn keep(&mut self, file: &str, value: &str) -> std::io::Result<()> {
        if self.values.iter().any(|old| old.file == file) {
            return Ok(());
        }
        self.values.push(OldValue {
            file: file.to_owned(),
            value: value.trim_end().to_owned(),
        });
        if self.top.is_elsewhere() {
            // Notes are read by a later recording on the same machine only.
            return Ok(());
        }
        fs::create_dir_all(FOLDER)?;
        let mut text = String::new();
        for old in &self.values {
            text.push_str(&format!("{}\t{}\n", old.file, old.value));
        }
        let path = note_path(self.id);
        let mut file = fs::File::create(&path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    /// Restores everything; returns a sentence for each failure.
    pub(crate) fn restore(&mut self) -> Vec<String> {
        let mut failed = Vec::new();
        for old in self.values.drain(..).rev() {
            if let Err(error) = self.top.set(&old.file, &old.value, "old value") {
                failed.push(format!("{} is not as it was: {error}", old.file));
            }
        }
        if std::mem::take(&mut self.has_instance) {
            failed.extend(remove_instance(&self.top, &instance_name(self.id)));
        }
        // Probes can be removed only after no instance uses their events.
        if std::mem::take(&mut self.has_probes) {
            failed.extend(remove_probes(&self.top, &group_name(self.id)));
        }
        let _none = fs::remove_file(note_path(self.id));
        failed
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        for words in self.restore() {
            let _unwritable = writeln!(std::io::stderr(), "threadline: {words}");
        }
    }
}

fn note_path(id: u32) -> PathBuf {
    Path::new(FOLDER).join(id.to_string())
}

fn remove_instance(top: &Folder, name: &str) -> Option<String> {
    let folder = format!("instances/{name}");
    // The kernel may still be closing the instance's files.
    for _ in 0..50 {
        // Perhaps it was never made.
        if top.remove_folder(&folder).is_ok() || !top.has(&folder) {
            return None;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let error = top.remove_folder(&folder).err()?;
    Some(format!("the instance is still there: {error}"))
}

/// The files with probe definitions, in the order in which they are read.
const PROBE_FILES: &[&str] = &["dynamic_events", "kprobe_events", "uprobe_events"];

fn remove_probes(top: &Folder, group: &str) -> Vec<String> {
    let mut failed = Vec::new();
    for file in PROBE_FILES {
        let Ok(text) = top.read(file) else { continue };
        for event in probes_of(&text, group) {
            if let Err(error) = top.append(file, &format!("-:{event}\n"), "end of a probe") {
                failed.push(format!("the probe {event} is still there: {error}"));
            }
        }
    }
    failed
}

/// Returns the probes of a group as `GROUP/EVENT`, from a list of definitions.
fn probes_of(text: &str, group: &str) -> Vec<String> {
    let names = text.lines().filter_map(|line| {
        let (_, after) = line.split_once(':')?;
        let name = after.split_whitespace().next()?;
        let (of_group, _) = name.split_once('/')?;
        (of_group == group).then(|| name.to_owned())
    });
    names.collect()
}

/// What killed recordings left in the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Numbers of the recordings, sorted.
    pub ids: Vec<u32>,
}

impl Leftovers {
    /// Finds what recordings left that no longer run.
    #[must_use]
    pub fn find(top: &Folder) -> Leftovers {
        let instances = top.names("instances").into_iter();
        let mut ids: Vec<u32> = instances
            .filter_map(|name| name.strip_prefix(INSTANCE)?.parse().ok())
            .collect();
        for file in PROBE_FILES {
            let text = top.read(file).unwrap_or_default();
            let groups = text.split([' ', ':', '\n']).filter_map(|word| {
                let (group, _) = word.split_once('/')?;
                group.strip_prefix(GROUP)?.parse().ok()
            });
            ids.extend(groups.collect::<Vec<u32>>());
        }
        let notes = fs::read_dir(FOLDER).into_iter().flatten().flatten();
        ids.extend(notes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()));
        ids.sort_unstable();
        ids.dedup();
        ids.retain(|&id| !is_running(id));
        Leftovers { ids }
    }

    /// Restores what the recordings changed; returns a sentence for each failure.
    #[must_use]
    pub(crate) fn clean_up(&self, top: &Folder) -> Vec<String> {
        let mut failed = Vec::new();
        for &id in &self.ids {
            let mut journal = Journal::new(top, id);
            (journal.has_instance, journal.has_probes) = (true, true);
            let text = fs::read_to_string(note_path(id)).unwrap_or_default();
            let values = text.lines().filter_map(|line| line.split_once('\t'));
            journal.values = values
                .map(|(file, value)| OldValue {
                    file: file.to_owned(),
                    value: value.to_owned(),
                })
                .collect();
            failed.extend(journal.restore());
        }
        failed
    }
}

/// Returns whether the process with this id is a recording; the kernel may have reused the id for another program.
fn is_running(id: u32) -> bool {
    let name = fs::read_to_string(format!("/proc/{id}/comm"));
    name.is_ok_and(|name| name.starts_with("threadline"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_of_a_group_are_found_in_a_list() {
        let text = "p:threadline_12/read vfs_read count=%dx\nr16:threadline_12/back vfs_read\n\
            p:kprobes/other do_exit\np:threadline_1/x do_exit\n";
        assert_eq!(
            probes_of(text, "threadline_12"),
            ["threadline_12/read", "threadline_12/back"]
        );
        assert_eq!(probes_of(text, "threadline_2"), Vec::<String>::new());
    }
}
