//! Which processes use an open file: through descriptors, their copies, and those that children inherit.
//!
//! ```text
//! sh     open W out = 3, dup 3 -> 1, close 3 ---- close 1        { cat a; cat b; } > out
//! cat         fork, exec .... exit                               cat wrote too: out was its standard output
//! ```
//!
//! Where the recording shows writes (strace), a child writes to a file that its parent opened if it writes through a
//! descriptor of it. Elsewhere (etrace) it does if it runs a program with the file as standard output or error, or if it
//! runs no program and keeps the file open to its end. (Every program of a build inherits make's open files; it does not
//! write to them.)
//!
//! ```text
//! python  open R in = 3                                          subprocess.run("cat", stdin=open("in"))
//! cat         fork, dup 3 -> 0, exec .... exit                   cat read it: it made it its standard input
//! gcc         fork, exec ...................... exit             gcc did not, though it has python's standard input
//! ```
//!
//! A child reads a file that its parent opened if it makes the file the standard input of a program that it runs, or if
//! its program closes it there: programs that read no standard input do not close it. An inherited descriptor alone
//! shows nothing, since all children of a shell have the shell's input. (For how long the file was open, all processes
//! with a descriptor count: `assemble/files/descriptors`.)

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::super::files::fd_table::FdTable;
use crate::base::Timestamp;
use crate::event::OnExec;
use crate::trace::{EventId, FileUse, Process, ProcessId};

/// Forks may copy this many descriptors in all, and this many more for each row about a file and each process. The
/// limit keeps the work in proportion to the trace's length, although each child of a process has all its descriptors.
const MOST_COPIES: usize = 1 << 12;
const MOST_COPIES_EACH: usize = 64;

/// Descriptors for reading with this number or a higher one are not followed, because children get low descriptors as
/// their standard input.
const MOST_READING: i32 = 256;

/// A child that used a file that its parent had opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heir {
    /// The row of the open.
    pub row: u32,
    /// The child.
    pub process: ProcessId,
    /// Whether the child reads or writes.
    pub access: Inherited,
    /// Start of the use: its birth, or when it made the file its standard input.
    pub from: Timestamp,
    /// When it released the file; `None` if the trace has no such event.
    pub until: Option<Moment>,
}

/// Whether a child reads or writes an inherited file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inherited {
    /// The child reads the file.
    Reads,
    /// The child writes the file.
    Writes,
}

/// An open for writing that has ended for one process.
pub(super) enum Done {
    /// The process opened the file itself, in this row.
    Own(u32),
    /// The process inherited the file.
    Inherited(Heir),
}

/// Why a process releases a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// The process closes or replaces the descriptor.
    Close,
    /// The process ends.
    Exit,
    /// The process holds the file until the trace ends.
    Rest,
}

/// A descriptor of a process: the row and process of its open.
#[derive(Clone, Copy)]
struct Held {
    row: u32,
    opener: ProcessId,
    /// Whether the file was opened for reading or for writing; an open for both counts as writing.
    access: Inherited,
}

/// An open whose last descriptor in a process was just removed.
#[derive(Clone, Copy)]
struct LastHeld {
    held: Held,
    used: Used,
}

/// What a process did with the descriptors that it has for one row.
#[derive(Clone, Copy, Default)]
struct Used {
    /// Whether a descriptor that is closed by now was a program's standard output or error.
    is_output: bool,
    /// Whether the process wrote through one of them.
    has_written: bool,
}

/// The descriptors that a process has for one row: the opened one and its copies.
#[derive(Clone, Copy, Default)]
struct Shared {
    /// The number of descriptors.
    count: u32,
    used: Used,
}

/// The descriptors of a process, and their counts by row.
#[derive(Clone, Default)]
struct Table {
    of_fd: FdTable<Held>,
    of_row: BTreeMap<u32, Shared>,
}

impl Table {
    fn add(&mut self, fd: i32, held: Held, on_exec: OnExec) {
        let before = self.of_fd.remove(fd);
        self.of_fd.insert(fd, held, on_exec);
        if let Some(before) = before {
            self.let_go(before.row);
        }
        self.of_row.entry(held.row).or_default().count += 1;
    }

    /// Notes that a descriptor of a row was used as an output.
    fn put_out(&mut self, row: u32) {
        if let Some(shared) = self.of_row.get_mut(&row) {
            shared.used.is_output = true;
        }
    }

    /// Removes one descriptor of a row. If it was the last, returns what was done with them.
    fn let_go(&mut self, row: u32) -> Option<Used> {
        let shared = self.of_row.get_mut(&row)?;
        shared.count -= 1;
        if shared.count > 0 {
            return None;
        }
        self.of_row.remove(&row).map(|shared| shared.used)
    }
}

/// The time of an event, and the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Time, ns on the trace's clock.
    pub time: Timestamp,
    /// The event.
    pub event: EventId,
}

impl Moment {
    pub(super) fn of(row: &FileUse) -> Moment {
        Moment {
            time: row.time,
            event: row.event,
        }
    }
}

/// The descriptors of all processes.
pub(super) struct Holders {
    /// Indexed by process.
    tables: Vec<Table>,
    /// By process: whether its recording shows writes.
    shows_writes: Vec<bool>,
    copies: usize,
    most_copies: usize,
}

impl Holders {
    /// Returns empty tables; `shows_writes` is whether the recording of each process shows writes. The counts of processes
    /// and of rows about files decide the limit of copies.
    pub(super) fn new(shows_writes: Vec<bool>, row_count: usize) -> Holders {
        let process_count = shows_writes.len();
        Holders {
            tables: vec![Table::default(); process_count],
            shows_writes,
            copies: 0,
            most_copies: MOST_COPIES + MOST_COPIES_EACH * (process_count + row_count),
        }
    }

    /// Adds the descriptor that `process` opened in row number `index`.
    pub(super) fn open(
        &mut self,
        process: ProcessId,
        index: u32,
        row: &FileUse,
        access: Inherited,
    ) {
        if access == Inherited::Reads && !(0..MOST_READING).contains(&row.fd) {
            return;
        }
        if let Some(table) = self.tables.get_mut(process.0 as usize) {
            let held = Held {
                row: index,
                opener: process,
                access,
            };
            table.add(row.fd, held, OnExec::of_flags(row.flags));
        }
    }

    /// Notes that a process wrote through a descriptor.
    pub(super) fn wrote(&mut self, process: ProcessId, fd: i32) {
        if let Some(table) = self.tables.get_mut(process.0 as usize)
            && let Some(held) = table.of_fd.get(fd)
            && let Some(shared) = table.of_row.get_mut(&held.row)
        {
            shared.used.has_written = true;
        }
    }

    /// Makes the descriptor that `row` returned a copy of the row's descriptor.
    pub(crate) fn copy(&mut self, process: ProcessId, row: &FileUse) {
        let (from, to) = (row.fd, row.result);
        if let Some(table) = self.tables.get_mut(process.0 as usize)
            && let Some(held) = table.of_fd.get(from)
            && (held.access == Inherited::Writes || (0..MOST_READING).contains(&to))
        {
            table.add(to, held, OnExec::of_flags(row.flags));
        }
    }

    /// Returns the open descriptors of a process in a range, sorted.
    pub(super) fn open_in(&self, process: ProcessId, range: RangeInclusive<i32>) -> Vec<i32> {
        let table = self.tables.get(process.0 as usize);
        table.map_or_else(Vec::new, |table| table.of_fd.open_in(range))
    }

    /// Sets what an exec does to the open descriptors of a process in a range.
    pub(super) fn set_on_exec(
        &mut self,
        process: ProcessId,
        range: RangeInclusive<i32>,
        on_exec: OnExec,
    ) {
        if let Some(table) = self.tables.get_mut(process.0 as usize) {
            table.of_fd.set_on_exec(range, on_exec);
        }
    }

    /// Returns the descriptors of a process that an exec closes.
    pub(super) fn closing(&self, process: ProcessId) -> Vec<i32> {
        let table = self.tables.get(process.0 as usize);
        table.map_or_else(Vec::new, |table| table.of_fd.closing())
    }

    /// Returns the row of `fd` if it was opened for reading, by another process than `id`.
    pub(crate) fn reads_inherited(&self, id: ProcessId, fd: i32) -> Option<u32> {
        let held = self.tables.get(id.0 as usize)?.of_fd.get(fd)?;
        (held.access == Inherited::Reads && held.opener != id).then_some(held.row)
    }

    /// Gives `child` copies of the descriptors of `parent`.
    pub(crate) fn fork(&mut self, parent: ProcessId, child: ProcessId) {
        let table = self.tables.get(parent.0 as usize);
        let Some(table) = table.filter(|table| table.of_fd.len() > 0) else {
            return;
        };
        self.copies += table.of_fd.len();
        if self.is_cut() {
            return;
        }
        let mut table = table.clone();
        for shared in table.of_row.values_mut() {
            shared.used = Used::default();
        }
        if let Some(of_child) = self.tables.get_mut(child.0 as usize) {
            *of_child = table;
        }
    }

    /// Returns whether forks copied more descriptors than the limit.
    pub(super) fn is_cut(&self) -> bool {
        self.copies > self.most_copies
    }

    /// Closes descriptor `fd`; returns the open that ended if it was the process's last descriptor for it.
    pub(super) fn close(
        &mut self,
        id: ProcessId,
        process: &Process,
        fd: i32,
        at: Moment,
    ) -> Option<Done> {
        let table = self.tables.get_mut(id.0 as usize)?;
        let held = table.of_fd.remove(fd)?;
        if is_output(fd, process, at.time) {
            table.put_out(held.row);
        }
        let used = table.let_go(held.row)?;
        let last = LastHeld { held, used };
        self.done(id, process, last, Some(at), Cause::Close)
    }

    /// Closes all descriptors of a process, at its end or the trace's; calls `each` with every open that ended.
    pub(super) fn end(
        &mut self,
        id: ProcessId,
        process: &Process,
        at: Option<Moment>,
        cause: Cause,
        each: &mut dyn FnMut(Done),
    ) {
        let table = self.tables.get_mut(id.0 as usize);
        let mut table = table.map(std::mem::take).unwrap_or_default();
        let time = at.map_or(Timestamp::MAX, |at| at.time);
        let mut last: BTreeMap<u32, LastHeld> = BTreeMap::new();
        for (fd, held) in std::mem::take(&mut table.of_fd).iter() {
            if is_output(fd, process, time) {
                table.put_out(held.row);
            }
            if let Some(used) = table.let_go(held.row) {
                last.insert(held.row, LastHeld { held, used });
            }
        }
        for held in last.into_values() {
            if let Some(done) = self.done(id, process, held, at, cause) {
                each(done);
            }
        }
    }

    /// Returns what a process did with an open whose last descriptor it let go.
    fn done(
        &self,
        id: ProcessId,
        process: &Process,
        LastHeld { held, used }: LastHeld,
        at: Option<Moment>,
        cause: Cause,
    ) -> Option<Done> {
        if held.access == Inherited::Reads {
            return None;
        }
        if held.opener == id {
            return Some(Done::Own(held.row));
        }
        let time = at.map_or(Timestamp::MAX, |at| at.time);
        let has_kept = cause != Cause::Close && !runs_program(process, time);
        let writes = match self.shows_writes.get(id.0 as usize) {
            Some(true) => used.has_written,
            _ => used.is_output || has_kept,
        };
        writes.then_some(Done::Inherited(Heir {
            row: held.row,
            process: id,
            access: Inherited::Writes,
            from: process.start.unwrap_or(time),
            until: at,
        }))
    }

    /// Returns the processes that still have descriptors.
    pub(crate) fn left(&self) -> Vec<ProcessId> {
        let tables = (0..).map(ProcessId).zip(&self.tables);
        let left = tables.filter(|(_, table)| table.of_fd.len() > 0);
        left.map(|(id, _)| id).collect()
    }
}

/// Returns whether a process runs a program of its own at `time`.
pub(super) fn runs_program(process: &Process, time: Timestamp) -> bool {
    let first = process.images.first();
    first.is_some_and(|image| image.start <= time)
}

/// Returns whether `fd` is the standard output or error of a program of the process.
fn is_output(fd: i32, process: &Process, time: Timestamp) -> bool {
    (fd == 1 || fd == 2) && runs_program(process, time)
}
