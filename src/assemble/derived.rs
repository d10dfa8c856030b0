//! Slices and arrows derived from lives and files: programs, open files, arrows between the processes that share files.

use super::file_history::FileSource;
use super::files::{
    DescriptorNames, FileLinks, FileWork, LinkNames, OpenFiles, Sessions, file_links, open_files,
};
use super::group::Numbered;
use super::link::Link;
use super::nesting::Nested;
use super::people::{Act, Born, People};
use super::programs::{ProgramLives, Programs, programs};
use super::recorded::{Recorded, StringMap};
use super::scheduling::runs_of_lines;
use super::slice_table::AsyncTrack;
use super::track_number::TrackEvent;
use crate::base::streaks::Streaks;
use crate::base::{Diagnostics, StringId, Strings};
use crate::event::Directory;
use crate::event::family::Family;
use crate::event::keys::Derive;
use crate::trace::{Runs, SliceLabel};

/// Slices and arrows derived from lives and files. Unless the format asks for programs, it only contains arrows of
/// files.
#[derive(Default)]
pub(crate) struct Derived {
    /// Slices of programs, sorted by track number.
    pub programs: Vec<Numbered<Nested>>,
    /// Slices of open files, on the tracks of their processes.
    pub open_files: Vec<AsyncTrack>,
    /// Events about files that are in no slice.
    pub leftovers: Vec<TrackEvent>,
    /// Arrows from forks to children, and from writers of pipes and files to their readers.
    pub links: Vec<Link>,
    /// The program that each thread ran last; `None` if programs are not derived.
    pub running: Option<Vec<StringId>>,
    /// Runs made of lines that name their CPU; `None` if switches were recorded, or programs are not derived.
    pub runs: Option<Runs>,
    /// Counts of slices without an end, and of rows that were left out because there were too many.
    pub diagnostics: Diagnostics,
}

/// The input of [`derive()`].
#[derive(Clone, Copy)]
pub(crate) struct Evidence<'a> {
    /// The reader's directory: names and settings for the whole recording.
    pub directory: &'a Directory,
    /// Maps the directory's string ids to the trace's.
    pub directory_strings: &'a StringMap,
    /// All events.
    pub recorded: &'a Recorded,
    /// Threads and processes.
    pub people: &'a People,
    /// Forks, sorted by time.
    pub births: &'a [Born],
    /// Execs and exits, sorted by time.
    pub acts: &'a [Act],
    /// Rows about files, with complete paths.
    pub files: &'a FileWork,
    /// The runs made of context switches.
    pub runs: &'a Runs,
}

impl<'a> Evidence<'a> {
    fn file_source(&self, strings: &'a Strings) -> FileSource<'a> {
        FileSource {
            strings,
            events: &self.recorded.events,
            rows: &self.files.rows,
            writes: &self.files.writes,
            sources: &[],
            opens: self.directory.opens,
            threads: &self.people.threads,
            processes: &self.people.processes,
        }
    }
}

/// Derives slices and arrows; adds their names to `strings` and `labels`.
pub(super) fn derive(
    from: Evidence<'_>,
    strings: &mut Strings,
    labels: &mut Streaks<SliceLabel>,
) -> Derived {
    let link_names = match from.files.rows.is_empty() {
        true => LinkNames::default(),
        false => LinkNames::new(strings),
    };
    if from.directory.derive == Derive::Nothing {
        let FileLinks { links, diagnostics } = file_links(link_names, from.file_source(strings));
        return Derived {
            links,
            diagnostics,
            ..Derived::default()
        };
    }
    let lives = ProgramLives {
        people: from.people,
        births: from.births,
        acts: from.acts,
        entries: &from.directory.threads,
        entry_strings: from.directory_strings,
    };
    let programs = programs(lives, from.recorded, strings, labels);
    let names = DescriptorNames::new(strings);
    let sessions = Sessions {
        files: from.files,
        people: from.people,
        births: from.births,
        acts: from.acts,
        cpu_count: from.recorded.cpus.len(),
    };
    let strings: &Strings = strings;
    let runs = || {
        let are_unknown = from.runs.is_empty();
        are_unknown.then(|| runs_of_lines(from.recorded, from.people.threads.len()))
    };
    // Each of these walks the whole trace on one thread.
    let (open, (files, runs)) = rayon::join(
        || open_files(names, labels.len(), sessions),
        || (file_links(link_names, from.file_source(strings)), runs()),
    );
    // If every syscall is a slice, the failed ones are already visible and need no instants.
    let are_shown = labels.iter().any(|label| label.family == Family::Syscalls);
    labels.extend(open.labels.iter().copied());
    let mut derived = put_together(programs, open, files);
    if are_shown {
        derived.leftovers.clear();
    }
    Derived { runs, ..derived }
}

fn put_together(programs: Programs, open: OpenFiles, files: FileLinks) -> Derived {
    let mut diagnostics = programs.diagnostics;
    diagnostics.merge(open.diagnostics);
    diagnostics.merge(files.diagnostics);
    let mut links = programs.links;
    links.extend(open.links);
    links.extend(files.links);
    Derived {
        programs: programs.tracks,
        open_files: open.tracks,
        leftovers: open.leftovers,
        links,
        running: Some(programs.running),
        runs: None,
        diagnostics,
    }
}
