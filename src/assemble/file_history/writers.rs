//! The processes that wrote a file since it was last emptied: each once, in the order of its last write.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::holders::Moment;
use crate::event::FileOp;
use crate::trace::ProcessId;

/// At most this many writers of one file are kept: the latest.
const MOST: usize = 1024;

/// Up to this many writers are searched one by one; with more, a map has the number of each.
const FEW: usize = 16;

/// A process that wrote a file, or gave it a name.
#[derive(Clone, Copy)]
pub(super) struct Writer {
    /// The row of its open or rename.
    pub row: u32,
    /// The process.
    pub process: ProcessId,
    /// The row's operation.
    pub op: FileOp,
    /// When it finished writing, if that is not the end of its row.
    pub until: Option<Moment>,
}

impl Writer {
    pub(super) fn of(row: u32, process: ProcessId, op: FileOp) -> Writer {
        Writer {
            row,
            process,
            op,
            until: None,
        }
    }
}

/// The writers of one file. They are numbered from 1 in the order of `add`; numbers are not reused.
#[derive(Default)]
pub(super) struct Writers {
    /// (number, writer), sorted by number; `None` for a writer that wrote again later. The first entry is never `None`.
    list: VecDeque<(u64, Option<Writer>)>,
    /// The last number.
    last: u64,
    /// The number of writers in `list`.
    count: usize,
    /// How many of the writers in `list` opened the file (the others gave it a name).
    open_count: usize,
    /// The number of each process; empty while there are few.
    numbers: FxHashMap<ProcessId, u64>,
}

impl Writers {
    /// Returns the number of the last writer; 0 if there was none.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Iterates over the writers with higher numbers.
    pub(crate) fn after(&self, number: u64) -> impl Iterator<Item = Writer> {
        let first = self.list.partition_point(|it| it.0 <= number);
        self.list.range(first..).filter_map(|it| it.1)
    }

    /// Returns whether a writer opened the file.
    pub(crate) fn have_opened(&self) -> bool {
        self.open_count > 0
    }

    /// Removes all writers: the file was emptied.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.numbers.clear();
        (self.count, self.open_count) = (0, 0);
    }

    /// Adds a writer, and removes the same process's earlier entry; returns the oldest writer if that was dropped.
    pub(crate) fn add(&mut self, writer: Writer) -> Option<Writer> {
        let before = self.place_of(writer.process);
        let forgotten = match before {
            None if self.count == MOST => self.remove(0),
            None => None,
            Some(before) => {
                self.remove(before);
                None
            }
        };
        self.last += 1;
        self.list.push_back((self.last, Some(writer)));
        self.count += 1;
        self.open_count += usize::from(writer.op == FileOp::Open);
        if !self.numbers.is_empty() {
            self.numbers.insert(writer.process, self.last);
        } else if self.count >= FEW {
            let there = self.list.iter();
            self.numbers = there.filter_map(|it| Some((it.1?.process, it.0))).collect();
        }
        forgotten
    }

    fn place_of(&self, process: ProcessId) -> Option<usize> {
        if self.numbers.is_empty() {
            let is_it = |it: &(u64, Option<Writer>)| it.1.is_some_and(|it| it.process == process);
            return self.list.iter().rposition(is_it);
        }
        let number = self.numbers.get(&process)?;
        self.list.binary_search_by_key(number, |it| it.0).ok()
    }

    /// Removes the entry at index `place`: leaves `None` unless it is the first. Compacts the list when most are
    /// `None`.
    fn remove(&mut self, place: usize) -> Option<Writer> {
        let writer = self.list.get_mut(place)?.1.take()?;
        self.count -= 1;
        self.open_count -= usize::from(writer.op == FileOp::Open);
        self.numbers.remove(&writer.process);
        while self.list.front().is_some_and(|it| it.1.is_none()) {
            self.list.pop_front();
        }
        if self.list.len() > FEW + 2 * self.count {
            self.list.retain(|it| it.1.is_some());
        }
        Some(writer)
    }
}
