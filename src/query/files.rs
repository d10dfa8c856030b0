//! Files as the user asks for them: who did what to each, what went into one, and what was made from it.
//!
//! What went into a file is what its writers, and whoever wrote to them through a pipe, had read before they were
//! done with it; and so on for each of those files. What was made from it is what its readers wrote after they had
//! opened it; and so on.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::process_rows::Order;
use crate::base::Timestamp;
use crate::event::FileOp;
use crate::trace::file_history::Access;
use crate::trace::{FileHistory, FileId, ProcessId, Trace};

/// All files, and what was done to each.
#[derive(Clone, Debug, Default)]
pub struct FileList {
    /// The files and what depends on what.
    pub history: FileHistory,
    /// What is to be told of each, by [`FileId`].
    pub summaries: Vec<FileSummary>,
    /// Rows of `trace.files` by file.
    rows: Vec<u32>,
    /// Where each file's rows start, and their end.
    starts: Vec<u32>,
    /// Rows of `trace.files` by process, and where each process's start.
    by_process: FxHashMap<ProcessId, Vec<u32>>,
    /// Whoever wrote into a pipe that a process read.
    piped_from: FxHashMap<ProcessId, Vec<ProcessId>>,
    piped_to: FxHashMap<ProcessId, Vec<ProcessId>>,
}

/// One file in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileSummary {
    /// How often it was opened to be read.
    pub reads: u32,
    /// How often it was opened to be written.
    pub writes: u32,
    /// How often it was renamed, linked to, or removed under its old name.
    pub renames: u32,
    /// By how many processes.
    pub processes: u32,
    /// When it was first met.
    pub first: Timestamp,
    /// When it was last met.
    pub last: Timestamp,
}

/// A file that went into another, or was made from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relative {
    /// The file.
    pub file: FileId,
    /// How many steps away: 1 is what the writers read themselves.
    pub steps: u32,
    /// The process between it and the file one step nearer.
    pub through: ProcessId,
    /// The file one step nearer.
    pub towards: FileId,
}

/// Which way to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kinship {
    /// What went into it.
    WentInto,
    /// What was made from it.
    MadeFrom,
}

/// How many relatives are listed.
pub const MOST_RELATIVES: usize = 20_000;
/// How many steps are gone.
const MOST_STEPS: u32 = 64;

impl FileList {
    /// Puts it together.
    #[must_use]
    pub fn new(trace: &Trace) -> FileList {
        let history = FileHistory::new(trace);
        let count = history.files.len();
        let mut starts = vec![0_u32; count + 1];
        for file in history.of_row.iter().filter(|file| **file != FileId::NONE) {
            starts[file.0 as usize + 1] += 1;
        }
        for index in 0..count {
            starts[index + 1] += starts[index];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; starts.last().copied().unwrap_or(0) as usize];
        let mut by_process: FxHashMap<ProcessId, Vec<u32>> = FxHashMap::default();
        for (row, file) in (0..).zip(&history.of_row) {
            if *file == FileId::NONE {
                continue;
            }
            let slot = &mut next[file.0 as usize];
            rows[*slot as usize] = row;
            *slot += 1;
            let thread = trace.files.rows[row as usize].thread;
            if let Some(process) = trace.thread(thread).process {
                by_process.entry(process).or_default().push(row);
            }
        }
        let mut list = FileList {
            history,
            summaries: Vec::new(),
            rows,
            starts,
            by_process,
            ..FileList::default()
        };
        list.summaries = (0..count as u32)
            .into_par_iter()
            .map(|file| list.summary(trace, FileId(file)))
            .collect();
        list.add_pipes(trace);
        list
    }

    fn add_pipes(&mut self, trace: &Trace) {
        let Some(pipe) = trace.strings.find(b"pipe") else {
            return;
        };
        for flow in trace.flows.rows.iter().filter(|flow| flow.name == pipe) {
            let from = trace.thread(flow.from.thread).process;
            let to = trace.thread(flow.to.thread).process;
            if let (Some(from), Some(to)) = (from, to)
                && from != to
            {
                self.piped_from.entry(to).or_default().push(from);
                self.piped_to.entry(from).or_default().push(to);
            }
        }
    }

    /// Rows of `trace.files` about a file, in time order.
    #[must_use]
    pub fn rows_of(&self, file: FileId) -> &[u32] {
        let at = file.0 as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(&start), Some(&end)) => {
                self.rows.get(start as usize..end as usize).unwrap_or(&[])
            }
            _ => &[],
        }
    }

    fn summary(&self, trace: &Trace, file: FileId) -> FileSummary {
        let mut summary = FileSummary::default();
        let mut processes: Vec<Option<ProcessId>> = Vec::new();
        let rows = self.rows_of(file);
        for &row in rows {
            let row = &trace.files.rows[row as usize];
            if row.op == FileOp::Open {
                let access = Access::of_flags(row.flags);
                summary.reads += u32::from(access.reads);
                summary.writes += u32::from(access.writes);
            } else {
                summary.renames += 1;
            }
            processes.push(trace.thread(row.thread).process);
        }
        processes.sort_unstable();
        processes.dedup();
        summary.processes = processes.len() as u32;
        let time = |row: Option<&u32>| {
            row.and_then(|row| trace.files.rows.get(*row as usize))
                .map_or(Timestamp(0), |row| row.time)
        };
        (summary.first, summary.last) = (time(rows.first()), time(rows.last()));
        summary
    }

    /// The files of which all words are in one of the names, upper or lower case alike. The words are in lower case.
    #[must_use]
    pub fn matching(&self, trace: &Trace, words: &[String]) -> Vec<FileId> {
        let is_match = |file: &FileId| {
            words.is_empty()
                || self.history.files[file.0 as usize]
                    .names
                    .iter()
                    .any(|&name| {
                        let name = trace.text(name).to_lowercase();
                        words.iter().all(|word| name.contains(word.as_str()))
                    })
        };
        (0..self.history.files.len() as u32)
            .into_par_iter()
            .map(FileId)
            .filter(is_match)
            .collect()
    }

    /// The file that is, or was last, called `path`.
    #[must_use]
    pub fn find(&self, trace: &Trace, path: &str) -> Option<FileId> {
        let name = trace.strings.find(path.as_bytes());
        let named = |is_it: &dyn Fn(&[crate::base::StringId]) -> bool| {
            let at = self
                .history
                .files
                .iter()
                .rposition(|file| is_it(&file.names))?;
            Some(FileId(at as u32))
        };
        if let Some(name) = name
            && let Some(file) = named(&|names| names.last() == Some(&name))
                .or_else(|| named(&|names| names.contains(&name)))
        {
            return Some(file);
        }
        // The end of a path is enough, if no other file ends so.
        let tail = format!("/{path}");
        let ends = |file: &FileId| {
            trace
                .strings
                .bytes(self.history.name(*file))
                .ends_with(tail.as_bytes())
        };
        let mut found = (0..self.history.files.len() as u32)
            .map(FileId)
            .filter(ends);
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// What went into a file, or was made from it: each file once, nearest first; and whether there would be more.
    #[must_use]
    pub fn relatives(
        &self,
        trace: &Trace,
        file: FileId,
        kinship: Kinship,
    ) -> (Vec<Relative>, More) {
        let mut out: Vec<Relative> = Vec::new();
        let mut met: FxHashSet<FileId> = FxHashSet::default();
        met.insert(file);
        // A process is looked through once: what it touched up to (or from) the first asked time on.
        let mut asked: FxHashMap<ProcessId, Timestamp> = FxHashMap::default();
        let mut present = vec![file];
        for steps in 1..=MOST_STEPS {
            let mut next = Vec::new();
            for &towards in &present {
                for (through, time) in self.processes_around(trace, towards, kinship) {
                    let known = asked.get(&through).copied();
                    let brings_more = match kinship {
                        Kinship::WentInto => known.is_none_or(|known| time > known),
                        Kinship::MadeFrom => known.is_none_or(|known| time < known),
                    };
                    if !brings_more {
                        continue;
                    }
                    asked.insert(through, time);
                    for file in self.touched(trace, through, time, kinship) {
                        if !met.insert(file) {
                            continue;
                        }
                        if out.len() >= MOST_RELATIVES {
                            return (out, More::ThereIs);
                        }
                        out.push(Relative {
                            file,
                            steps,
                            through,
                            towards,
                        });
                        next.push(file);
                    }
                }
            }
            if next.is_empty() {
                return (out, More::No);
            }
            present = next;
        }
        (out, More::ThereIs)
    }

    /// Who wrote the file (and when it was done), or who read it (and when it began); with those on their pipes.
    fn processes_around(
        &self,
        trace: &Trace,
        file: FileId,
        kinship: Kinship,
    ) -> Vec<(ProcessId, Timestamp)> {
        let mut found = Vec::new();
        for &index in self.rows_of(file) {
            let row = &trace.files.rows[index as usize];
            let Some(process) = trace.thread(row.thread).process else {
                continue;
            };
            let access = Access::of_flags(row.flags);
            let time = match kinship {
                Kinship::WentInto if row.op == FileOp::Open && access.writes => {
                    let end = self.history.ended_by.get(&index);
                    let exit = trace.processes[process.0 as usize].end;
                    end.map(|&event| trace.events.time(event))
                        .or(exit)
                        .unwrap_or(Timestamp::MAX)
                }
                Kinship::MadeFrom if row.op == FileOp::Open && access.reads => row.time,
                _ => continue,
            };
            found.push((process, time));
            let pipes = match kinship {
                Kinship::WentInto => self.piped_from.get(&process),
                Kinship::MadeFrom => self.piped_to.get(&process),
            };
            found.extend(pipes.into_iter().flatten().map(|&other| (other, time)));
        }
        found
    }

    /// What a process read before `time`, or wrote after it.
    fn touched(
        &self,
        trace: &Trace,
        process: ProcessId,
        time: Timestamp,
        kinship: Kinship,
    ) -> Vec<FileId> {
        let rows = self.by_process.get(&process).map_or(&[][..], Vec::as_slice);
        rows.iter()
            .filter(|&&row| {
                let row = &trace.files.rows[row as usize];
                let access = Access::of_flags(row.flags);
                row.op == FileOp::Open
                    && match kinship {
                        Kinship::WentInto => access.reads && row.time <= time,
                        // What was open for writing already takes what is read later, too.
                        Kinship::MadeFrom => access.writes,
                    }
            })
            .filter_map(|&row| self.history.of_row.get(row as usize).copied())
            .filter(|file| {
                self.history
                    .files
                    .get(file.0 as usize)
                    .is_some_and(|file| file.has_content)
            })
            .collect()
    }
}

/// Whether a list was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum More {
    /// It is whole.
    No,
    /// There would be more.
    ThereIs,
}

/// What files are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FileSort {
    /// The path.
    #[default]
    Path,
    /// How often it was read.
    Reads,
    /// How often it was written.
    Writes,
    /// How often it was renamed or linked.
    Renames,
    /// By how many processes it was used.
    Processes,
    /// When it was first used.
    First,
}

/// Which files are listed, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileView {
    /// What they are sorted by.
    pub sort: FileSort,
    /// Which end comes first.
    pub order: Order,
    /// Words that must all be in one of a file's names.
    pub filter: String,
    /// Only files that this process used.
    pub process: Option<ProcessId>,
}

/// The files that a view lists, in its order.
#[must_use]
pub fn listed(trace: &Trace, list: &FileList, view: &FileView) -> Vec<FileId> {
    let words: Vec<String> = view
        .filter
        .split_whitespace()
        .map(str::to_lowercase)
        .collect();
    let mut found = list.matching(trace, &words);
    if let Some(process) = view.process {
        let rows = list.by_process.get(&process).map_or(&[][..], Vec::as_slice);
        let used: FxHashSet<FileId> = rows
            .iter()
            .filter_map(|&row| list.history.of_row.get(row as usize).copied())
            .collect();
        found.retain(|file| used.contains(file));
    }
    let summary = |file: FileId| list.summaries[file.0 as usize];
    let path = |file: FileId| trace.strings.bytes(list.history.name(file));
    found.par_sort_by(|&a, &b| {
        let (one, other) = (summary(a), summary(b));
        let order = match view.sort {
            FileSort::Path => path(a).cmp(path(b)),
            FileSort::Reads => one.reads.cmp(&other.reads),
            FileSort::Writes => one.writes.cmp(&other.writes),
            FileSort::Renames => one.renames.cmp(&other.renames),
            FileSort::Processes => one.processes.cmp(&other.processes),
            FileSort::First => one.first.cmp(&other.first),
        };
        let order = match view.order {
            Order::Ascending => order,
            Order::Descending => order.reverse(),
        };
        order.then_with(|| path(a).cmp(path(b))).then(a.cmp(&b))
    });
    found
}
