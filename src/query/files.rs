//! Files, and the operations of processes on them. (Files that went into a file or were made from it are in
//! `file_relatives`.)

use std::ops::{Range, RangeInclusive};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) use super::file_relatives::Relative;
pub use super::file_relatives::{Kinship, More};
use crate::assemble::file_history::{File, FileHistory, FileId, Heir, Inherited};
use crate::base::{Cancelled, Job, Timestamp};
use crate::event::{FileOp, FlowKind};
use crate::trace::files::Access;
use crate::trace::{ProcessId, Trace};

/// All files, and the operations on each.
#[derive(Clone, Debug, Default)]
pub struct FileList {
    /// The files, and the dependencies between processes that use them.
    pub history: FileHistory,
    /// The summary of each file, by [`FileId`].
    pub summaries: Vec<FileSummary>,
    /// Rows of `trace.files` by file.
    rows: Vec<u32>,
    /// By file: the index of its first row; one more entry for the end.
    starts: Vec<u32>,
    /// Rows of `trace.files` by process.
    pub(super) by_process: FxHashMap<ProcessId, Vec<u32>>,
    /// Children that used files that their parents had opened, as indices into the history's list: by file, and by
    /// process.
    pub(super) heirs: FxHashMap<FileId, Vec<u32>>,
    pub(super) heirs_by_process: FxHashMap<ProcessId, Vec<u32>>,
    /// For each file with heirs: the operations on it, sorted by time.
    uses: FxHashMap<FileId, Vec<(Timestamp, Entry)>>,
    /// For each process that read from pipes: the processes that wrote into them.
    pub(super) piped_from: FxHashMap<ProcessId, Vec<ProcessId>>,
    pub(super) piped_to: FxHashMap<ProcessId, Vec<ProcessId>>,
}

/// Where an operation on a file is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Entry {
    /// A row of `trace.files`.
    Row(u32),
    /// An heir in the history's list.
    Heir(u32),
}

impl Entry {
    /// Returns the operation.
    pub(crate) fn operation(self, trace: &Trace, history: &FileHistory) -> Option<Use> {
        match self {
            Entry::Row(index) => {
                let row = trace.files.rows.get(index as usize)?;
                let end = history.ended_by.get(&index);
                Some(Use {
                    time: row.time,
                    process: trace.thread(row.thread).process,
                    word: row.word(),
                    until: end.map(|&event| trace.events.time(event)),
                    row: index,
                })
            }
            Entry::Heir(index) => {
                let heir = history.heirs.get(index as usize)?;
                Some(Use {
                    time: heir.from,
                    process: Some(heir.process),
                    word: match heir.access {
                        Inherited::Reads => "read (inherited)",
                        Inherited::Writes => "write (inherited)",
                    },
                    until: heir.until.map(|until| until.time),
                    row: heir.row,
                })
            }
        }
    }
}

/// An operation on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The time.
    pub time: Timestamp,
    /// The process.
    pub process: Option<ProcessId>,
    /// The operation, in one or two words.
    pub word: &'static str,
    /// The time when the file was closed, if it was open.
    pub until: Option<Timestamp>,
    /// The row of `trace.files` that shows this; for an heir, the open of its parent.
    pub row: u32,
}

/// The counts of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileSummary {
    /// The number of times that the file was opened for reading, or inherited by a child that read it.
    pub reads: u32,
    /// The number of times that the file was opened for writing, or inherited by a child that wrote to it.
    pub writes: u32,
    /// The number of times that the file was renamed, linked, or removed under its old name.
    pub renames: u32,
    /// The number of processes that used the file.
    pub processes: u32,
    /// The time of its first use.
    pub first: Timestamp,
    /// The time of its last use.
    pub last: Timestamp,
}

impl FileList {
    /// Returns all files of a trace.
    ///
    /// # Errors
    /// If the job is cancelled.
    pub fn new(trace: &Trace, job: &Job) -> Result<FileList, Cancelled> {
        let history = FileHistory::new(trace);
        job.check()?;
        let count = history.files.len();
        let mut starts = vec![0_u32; count + 1];
        for (_, file) in history.uses() {
            starts[file.0 as usize + 1] += 1;
        }
        for index in 0..count {
            starts[index + 1] += starts[index];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; starts.last().copied().unwrap_or(0) as usize];
        let mut by_process: FxHashMap<ProcessId, Vec<u32>> = FxHashMap::default();
        for (row, file) in history.uses() {
            let slot = &mut next[file.0 as usize];
            rows[*slot as usize] = row;
            *slot += 1;
            let thread = trace.files.rows[row as usize].thread;
            if let Some(process) = trace.thread(thread).process {
                let own: &mut Vec<u32> = by_process.entry(process).or_default();
                if own.last() != Some(&row) {
                    own.push(row);
                }
            }
        }
        job.check()?;
        let mut list = FileList {
            history,
            summaries: Vec::new(),
            rows,
            starts,
            by_process,
            ..FileList::default()
        };
        for (index, heir) in (0..).zip(&list.history.heirs) {
            if let Some(file) = list.history.file_of(heir.row) {
                list.heirs.entry(file).or_default().push(index);
                let own = list.heirs_by_process.entry(heir.process).or_default();
                own.push(index);
            }
        }
        let all = &list.history.heirs;
        for heirs in list.heirs.values_mut() {
            heirs.sort_by_key(|&index| all.get(index as usize).map(|heir| heir.row));
        }
        for (&file, heirs) in &list.heirs {
            job.check()?;
            let heirs = heirs.iter().filter_map(|&index| {
                let heir = list.history.heirs.get(index as usize)?;
                Some((heir.from, Entry::Heir(index)))
            });
            let rows = list.rows_of(file).iter();
            let rows = rows.map(|&row| (trace.files.rows[row as usize].time, Entry::Row(row)));
            let mut uses: Vec<(Timestamp, Entry)> = rows.chain(heirs).collect();
            uses.sort_unstable();
            list.uses.insert(file, uses);
        }
        list.summaries = (0..count as u32)
            .into_par_iter()
            .map(|file| {
                job.check()?;
                Ok(list.summary(trace, FileId(file), None))
            })
            .collect::<Result<_, Cancelled>>()?;
        list.add_pipes(trace);
        Ok(list)
    }

    fn add_pipes(&mut self, trace: &Trace) {
        let pipes = trace.flows.rows.iter();
        for flow in pipes.filter(|flow| flow.kind == FlowKind::Pipe) {
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

    /// Returns the children that inherited what their parents had opened within `opened`, in order of that time.
    pub(super) fn heirs_of_opens(
        &self,
        trace: &Trace,
        file: FileId,
        opened: RangeInclusive<Timestamp>,
    ) -> impl Iterator<Item = &Heir> {
        let list = self.heirs.get(&file).map_or(&[][..], Vec::as_slice);
        let heir = |index: u32| {
            let heir = self.history.heirs.get(index as usize)?;
            Some((heir, trace.files.rows.get(heir.row as usize)?.time))
        };
        let first =
            list.partition_point(|&index| heir(index).is_some_and(|it| it.1 < *opened.start()));
        let heirs = list.iter().skip(first).map_while(move |&index| heir(index));
        heirs
            .take_while(move |it| it.1 <= *opened.end())
            .map(|(heir, _)| heir)
    }

    /// Returns the children that began to use an inherited descriptor of a file within `began`.
    pub(super) fn heirs_between(
        &self,
        file: FileId,
        began: Range<Timestamp>,
    ) -> impl Iterator<Item = &Heir> {
        let uses = self.uses.get(&file).map_or(&[][..], Vec::as_slice);
        let first = uses.partition_point(|it| it.0 < began.start);
        let uses = uses
            .iter()
            .skip(first)
            .take_while(move |it| it.0 < began.end);
        uses.filter_map(|(_, entry)| match entry {
            Entry::Heir(index) => self.history.heirs.get(*index as usize),
            Entry::Row(_) => None,
        })
    }

    /// Returns the children that used a file because their parents had it open.
    pub fn heirs_of(&self, file: FileId) -> impl Iterator<Item = &Heir> {
        let of_file = self.heirs.get(&file).into_iter().flatten();
        of_file.filter_map(|&index| self.history.heirs.get(index as usize))
    }

    /// Returns the number of operations on a file.
    #[must_use]
    pub fn use_count(&self, file: FileId) -> usize {
        match self.uses.get(&file) {
            Some(uses) => uses.len(),
            None => self.rows_of(file).len(),
        }
    }

    /// Returns an operation on a file; operations are numbered in time order.
    #[must_use]
    pub fn use_at(&self, trace: &Trace, file: FileId, index: usize) -> Option<Use> {
        let entry = match self.uses.get(&file) {
            Some(uses) => uses.get(index)?.1,
            None => Entry::Row(*self.rows_of(file).get(index)?),
        };
        entry.operation(trace, &self.history)
    }

    /// Returns the counts of a file for all processes, or for one. (The number of processes always counts all.)
    fn summary(&self, trace: &Trace, file: FileId, of: Option<ProcessId>) -> FileSummary {
        let is_counted = |process: Option<ProcessId>| of.is_none() || process == of;
        let (mut first, mut last) = (None, None);
        let mut summary = FileSummary::default();
        let mut processes: Vec<Option<ProcessId>> = Vec::new();
        let rows = self.rows_of(file);
        for &row in rows {
            let row = &trace.files.rows[row as usize];
            let process = trace.thread(row.thread).process;
            processes.push(process);
            if !is_counted(process) {
                continue;
            }
            first = first.or(Some(row.time));
            last = Some(row.time);
            if row.op == FileOp::Open {
                let access = Access::of_flags(row.flags);
                summary.reads += u32::from(access.reads);
                summary.writes += u32::from(access.writes);
            } else if row.op != FileOp::Unlink {
                summary.renames += 1;
            }
        }
        for heir in self.heirs_of(file) {
            processes.push(Some(heir.process));
            if !is_counted(Some(heir.process)) {
                continue;
            }
            first = Some(first.map_or(heir.from, |first: Timestamp| first.min(heir.from)));
            last = Some(last.map_or(heir.from, |last: Timestamp| last.max(heir.from)));
            match heir.access {
                Inherited::Reads => summary.reads += 1,
                Inherited::Writes => summary.writes += 1,
            }
        }
        processes.sort_unstable();
        processes.dedup();
        summary.processes = processes.len() as u32;
        let or_none = |time: Option<Timestamp>| time.unwrap_or(Timestamp(0));
        (summary.first, summary.last) = (or_none(first), or_none(last));
        summary
    }

    /// Returns the files with a name that contains all words, whatever their case. The words are in lower case.
    #[must_use]
    pub(crate) fn matching(&self, trace: &Trace, words: &[String]) -> Vec<FileId> {
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

    /// Returns the file that is, or was last, called `path`.
    #[must_use]
    pub fn find(&self, trace: &Trace, path: &[u8]) -> Option<FileId> {
        let name = trace.strings.find(path);
        let named = |is_it: &dyn Fn(&File) -> bool| {
            let at = self.history.files.iter().rposition(is_it)?;
            Some(FileId(at as u32))
        };
        if let Some(name) = name {
            let is_last = |file: &File| file.names.last() == Some(&name);
            let found = named(&|file| is_last(file) && !file.is_gone)
                .or_else(|| named(&is_last))
                .or_else(|| named(&|file| file.names.contains(&name)));
            if found.is_some() {
                return found;
            }
        }
        // The end of a path is enough, if no other file's path has the same end.
        let tail = [b"/", path].concat();
        let ends = |file: &FileId| {
            trace
                .strings
                .bytes(self.history.name(*file))
                .ends_with(&tail)
        };
        let mut found = (0..self.history.files.len() as u32)
            .map(FileId)
            .filter(ends);
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }
}

/// The files that are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileView {
    /// Words that must all be in one of a file's names.
    pub filter: String,
    /// Only files that this process used.
    pub process: Option<ProcessId>,
}

/// A file of a list.
#[derive(Clone, Copy, Debug)]
pub struct ListedFile {
    /// The file.
    pub file: FileId,
    /// The counts of operations on it.
    pub summary: FileSummary,
}

/// Returns the files that a view lists, sorted by path, each with a summary of the operations of the chosen process, or
/// else of all processes.
#[must_use]
pub fn listed(trace: &Trace, list: &FileList, view: &FileView) -> Vec<ListedFile> {
    let words: Vec<String> = view
        .filter
        .split_whitespace()
        .map(str::to_lowercase)
        .collect();
    let mut found = list.matching(trace, &words);
    if let Some(process) = view.process {
        let rows = list.by_process.get(&process).map_or(&[][..], Vec::as_slice);
        let heirs = list.heirs_by_process.get(&process).into_iter().flatten();
        let heirs = heirs.filter_map(|&heir| list.history.heirs.get(heir as usize));
        let used: FxHashSet<FileId> = (rows.iter().copied().chain(heirs.map(|heir| heir.row)))
            .filter_map(|row| list.history.file_of(row))
            .collect();
        found.retain(|file| used.contains(file));
    }
    let summary = |file: FileId| match view.process {
        None => list.summaries[file.0 as usize],
        of => list.summary(trace, file, of),
    };
    let mut found: Vec<ListedFile> = found
        .into_par_iter()
        .map(|file| ListedFile {
            file,
            summary: summary(file),
        })
        .collect();
    let path = |file: FileId| trace.strings.bytes(list.history.name(file));
    found.par_sort_by(|a, b| path(a.file).cmp(path(b.file)).then(a.file.cmp(&b.file)));
    found
}
