//! Rows about files, and the slices and arrows made from them.
//!
//! ```text
//! activity      the rows of all parts as one table; counts of opens by process
//! directories   complete paths from relative ones, where the directory is known
//! path_kinds    which paths are relative, or relative to a descriptor
//! descriptors   slices of open files and arrows of pipes, for formats that ask for it
//! flows         arrows from writers of files to later readers
//! fd_table      the descriptors of a process
//! ```

mod activity;
mod descriptors;
mod directories;
pub(crate) mod fd_table;
mod flows;
mod path_kinds;
mod pipes;

use super::people::{Born, People};
use super::recorded::Recorded;
use super::rows::PerPart;
use crate::base::{StringId, Strings, Timestamp};
use crate::event::{FileRow, LifeRow};
use crate::trace::{FileUse, ProcessId};

pub(super) use descriptors::open_files;
pub(crate) use descriptors::{DescriptorNames, OpenFiles, Sessions};
pub(crate) use flows::{FileLinks, LinkNames, file_links};

/// The table of rows about files, and facts about processes that follow from them.
#[derive(Debug, Default)]
pub(crate) struct FileWork {
    /// The rows but `FileOp::Write`, sorted by time.
    pub rows: Vec<FileUse>,
    /// The other rows, sorted by time.
    pub writes: Vec<FileUse>,
    /// The number of files that each process opened.
    pub opens: Vec<u32>,
    /// Working directories of programs, where the file's lines show them.
    pub image_directories: Vec<ImageDirectory>,
}

/// The working directory of a program that a process ran.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageDirectory {
    /// The process.
    pub process: ProcessId,
    /// When it executed the program.
    pub start: Timestamp,
    /// The directory.
    pub directory: StringId,
}

/// The lives of processes: their births, and their changes of directory.
#[derive(Clone, Copy)]
pub(crate) struct Doers<'a> {
    /// The life rows of all tasks.
    pub lives: &'a PerPart<LifeRow>,
    /// Threads and processes.
    pub people: &'a People,
    /// Forks, sorted by time.
    pub births: &'a [Born],
}

/// Returns the rows of all parts with complete paths; adds these paths to `strings`.
pub(crate) fn file_work(
    rows: PerPart<FileRow>,
    recorded: &Recorded,
    doers: Doers<'_>,
    strings: &mut Strings,
) -> FileWork {
    let mut activity = activity::collect(&rows, recorded, doers.people, strings);
    drop(rows);
    let image_directories = directories::resolve_paths(&mut activity, recorded, doers, strings);
    FileWork {
        rows: activity.rows,
        writes: activity.writes,
        opens: activity.opens,
        image_directories,
    }
}

/// Returns `people` with the counts of opens, and the directories of their programs.
pub(crate) fn with_file_work(
    mut people: People,
    opens: Vec<u32>,
    directories: &[ImageDirectory],
) -> People {
    for (process, opens) in people.processes.iter_mut().zip(opens) {
        process.opens = opens;
    }
    for found in directories {
        let Some(process) = people.processes.get_mut(found.process.0 as usize) else {
            continue;
        };
        // The programs of a process are sorted by time.
        let images = &mut process.images;
        let at = images.partition_point(|image| image.start < found.start);
        if let Some(image) = images.get_mut(at).filter(|it| it.start == found.start) {
            image.directory = found.directory;
        }
    }
    people
}
