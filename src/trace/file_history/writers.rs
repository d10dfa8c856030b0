//! Who wrote a file since it was last emptied: each process once, in the order of what it did last.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::Writer;
use crate::event::FileOp;
use crate::trace::ProcessId;

/// How many writers of one file are remembered: the latest.
const MOST: usize = 1024;

/// Up to so many are looked through; of more it is kept where each stands.
const FEW: usize = 16;

/// See the module's text. Writers are counted from 1, also those that are forgotten.
#[derive(Default)]
pub(super) struct Writers {
    /// By number; `None` for those that wrote again. The first is there.
    list: VecDeque<(u64, Option<Writer>)>,
    /// The last number.
    last: u64,
    /// How many of the list are there.
    count: usize,
    /// How many of these opened it (the others gave it a name).
    open_count: usize,
    /// The number of each process, once they are not few.
    numbers: FxHashMap<ProcessId, u64>,
}

impl Writers {
    /// The number of the last one; 0: nobody ever wrote.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Those with higher numbers.
    pub fn after(&self, number: u64) -> impl Iterator<Item = Writer> {
        let first = self.list.partition_point(|it| it.0 <= number);
        self.list.range(first..).filter_map(|it| it.1)
    }

    /// Whether one of them opened it to write.
    pub fn have_opened(&self) -> bool {
        self.open_count > 0
    }

    /// Nobody wrote what is in it now.
    pub fn clear(&mut self) {
        self.list.clear();
        self.numbers.clear();
        (self.count, self.open_count) = (0, 0);
    }

    /// One more, in place of what the same process did before; the one who is forgotten because there are too many.
    pub fn add(&mut self, writer: Writer) -> Option<Writer> {
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

    /// Leaves a hole, unless it is the first; fills the holes once they are as many as the rest.
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
