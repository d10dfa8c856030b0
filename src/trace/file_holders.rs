//! Who can use what is open: descriptors, their copies, and those that children inherit.
//!
//! ```text
//! sh     open W out = 3, dup 3 -> 1, close 3 ---- close 1        { cat a; cat b; } > out
//! cat         fork, exec .... exit                               cat wrote too: out was its standard output
//! ```
//!
//! A child writes to a file that its parent opened if it runs a program with it as standard output or error, or if it
//! runs none and keeps it to its end. (Every program of a build inherits what make has open; it does not write there.)
//!
//! ```text
//! python  open R in = 3                                          subprocess.run("cat", stdin=open("in"))
//! cat         fork, dup 3 -> 0, exec .... exit                   cat read it: it made in its standard input
//! gcc         fork, exec ...................... exit             gcc did not, though it has python's standard input
//! ```
//!
//! A child reads what its parent opened if it makes that the standard input of a program that it runs, or if its
//! program closes it there: programs that read no standard input leave it alone. Having inherited it says nothing,
//! since all children of a shell have what that reads. (How long the file was open counts all who have it:
//! `build/descriptors`.)

use std::collections::BTreeMap;

use super::entities::{Process, ProcessId};
use super::events::EventId;
use crate::base::Timestamp;

/// How many descriptors forks may copy in all, and how many more for each row about a file and each process: no more
/// than the trace is long, though all children of a process have all that it has.
const MOST_COPIES: usize = 1 << 12;
const MOST_COPIES_EACH: usize = 64;

/// Reading descriptors from here on are not followed: a child is given low ones.
const MOST_READING: i32 = 256;

/// A child that used what its parent had opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heir {
    /// The row of the open.
    pub row: u32,
    /// Who.
    pub process: ProcessId,
    /// For what.
    pub access: Inherited,
    /// Since when: its birth, or when it made it its standard input.
    pub from: Timestamp,
    /// When it let go of it; `None` if that was not in the trace.
    pub until: Option<(Timestamp, EventId)>,
}

/// What a child uses what it inherited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inherited {
    /// To read it.
    Reads,
    /// To write to it.
    Writes,
}

/// What a process lets go of.
pub(super) enum Done {
    /// Of what it opened itself, in this row.
    Own(u32),
    /// Of what it inherited.
    Inherited(Heir),
}

/// Why it lets go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// It closes the descriptor, or puts another in its place.
    Close,
    /// It ends.
    Exit,
    /// The trace ends.
    Rest,
}

/// A descriptor of a process, opened by a row.
#[derive(Clone, Copy)]
struct Held {
    row: u32,
    opener: ProcessId,
    /// What it was opened for; for both it counts as opened for writing.
    access: Inherited,
}

/// What a process has of one open: a descriptor and its copies.
#[derive(Clone, Copy)]
struct Shared {
    /// How many descriptors.
    count: u32,
    /// Whether one that is closed by now was used as what programs write to.
    is_output: bool,
}

/// What a process has open.
#[derive(Clone, Default)]
struct Table {
    of_fd: BTreeMap<i32, Held>,
    of_row: BTreeMap<u32, Shared>,
}

impl Table {
    fn add(&mut self, fd: i32, held: Held) {
        if let Some(before) = self.of_fd.insert(fd, held) {
            self.let_go(before.row);
        }
        let shared = Shared {
            count: 0,
            is_output: false,
        };
        self.of_row.entry(held.row).or_insert(shared).count += 1;
    }

    /// A descriptor of a row was used as an output.
    fn put_out(&mut self, row: u32) {
        if let Some(shared) = self.of_row.get_mut(&row) {
            shared.is_output = true;
        }
    }

    /// One descriptor of a row fewer: whether one of them was used as an output, if it was the last.
    fn let_go(&mut self, row: u32) -> Option<bool> {
        let shared = self.of_row.get_mut(&row)?;
        shared.count -= 1;
        if shared.count > 0 {
            return None;
        }
        self.of_row.remove(&row).map(|shared| shared.is_output)
    }
}

/// When and by which event.
pub(super) type Moment = (Timestamp, EventId);

/// See the module's text.
pub(super) struct Holders {
    /// By process.
    tables: Vec<Table>,
    copies: usize,
    most_copies: usize,
}

impl Holders {
    /// For so many processes and rows about files.
    pub fn new(process_count: usize, row_count: usize) -> Holders {
        Holders {
            tables: vec![Table::default(); process_count],
            copies: 0,
            most_copies: MOST_COPIES + MOST_COPIES_EACH * (process_count + row_count),
        }
    }

    /// `process` opened `row` as `fd`.
    pub fn open(&mut self, process: ProcessId, fd: i32, row: u32, access: Inherited) {
        if access == Inherited::Reads && !(0..MOST_READING).contains(&fd) {
            return;
        }
        if let Some(table) = self.tables.get_mut(process.0 as usize) {
            let opener = process;
            table.add(
                fd,
                Held {
                    row,
                    opener,
                    access,
                },
            );
        }
    }

    /// Descriptor `to` is the same as `from` is.
    pub fn copy(&mut self, process: ProcessId, from: i32, to: i32) {
        if let Some(table) = self.tables.get_mut(process.0 as usize)
            && let Some(held) = table.of_fd.get(&from).copied()
            && (held.access == Inherited::Writes || (0..MOST_READING).contains(&to))
        {
            table.add(to, held);
        }
    }

    /// What of `fd` was opened for reading, by another process than `id`, which has it.
    pub fn reads_inherited(&self, id: ProcessId, fd: i32) -> Option<u32> {
        let held = self.tables.get(id.0 as usize)?.of_fd.get(&fd)?;
        (held.access == Inherited::Reads && held.opener != id).then_some(held.row)
    }

    /// `child` has what `parent` has.
    pub fn fork(&mut self, parent: ProcessId, child: ProcessId) {
        let table = self.tables.get(parent.0 as usize);
        let Some(table) = table.filter(|table| !table.of_fd.is_empty()) else {
            return;
        };
        self.copies += table.of_fd.len();
        if self.is_cut() {
            return;
        }
        let mut table = table.clone();
        for shared in table.of_row.values_mut() {
            shared.is_output = false;
        }
        if let Some(of_child) = self.tables.get_mut(child.0 as usize) {
            *of_child = table;
        }
    }

    /// Whether forks copied more than is followed.
    pub fn is_cut(&self) -> bool {
        self.copies > self.most_copies
    }

    /// Descriptor `fd` is closed: what that was the last descriptor of.
    pub fn close(&mut self, id: ProcessId, process: &Process, fd: i32, at: Moment) -> Option<Done> {
        let table = self.tables.get_mut(id.0 as usize)?;
        let held = table.of_fd.remove(&fd)?;
        if is_output(fd, process, at.0) {
            table.put_out(held.row);
        }
        let is_output = table.let_go(held.row)?;
        done(id, process, (held, is_output), Some(at), Cause::Close)
    }

    /// A process ends, or the trace: what it still had.
    pub fn end(
        &mut self,
        id: ProcessId,
        process: &Process,
        at: Option<Moment>,
        cause: Cause,
        each: &mut dyn FnMut(Done),
    ) {
        let table = self.tables.get_mut(id.0 as usize);
        let mut table = table.map(std::mem::take).unwrap_or_default();
        let time = at.map_or(Timestamp::MAX, |at| at.0);
        let mut last: BTreeMap<u32, (Held, bool)> = BTreeMap::new();
        for (fd, held) in std::mem::take(&mut table.of_fd) {
            if is_output(fd, process, time) {
                table.put_out(held.row);
            }
            if let Some(is_output) = table.let_go(held.row) {
                last.insert(held.row, (held, is_output));
            }
        }
        for held in last.into_values() {
            if let Some(done) = done(id, process, held, at, cause) {
                each(done);
            }
        }
    }

    /// Those that still have something.
    pub fn left(&self) -> Vec<ProcessId> {
        let tables = (0..).map(ProcessId).zip(&self.tables);
        let left = tables.filter(|(_, table)| !table.of_fd.is_empty());
        left.map(|(id, _)| id).collect()
    }
}

/// Whether a process runs a program of its own at that time.
pub(super) fn runs_program(process: &Process, time: Timestamp) -> bool {
    let first = process.images.first();
    first.is_some_and(|image| image.start <= time)
}

/// Whether a program of the process has it as standard output or error.
fn is_output(fd: i32, process: &Process, time: Timestamp) -> bool {
    (fd == 1 || fd == 2) && runs_program(process, time)
}

fn done(
    id: ProcessId,
    process: &Process,
    (held, is_output): (Held, bool),
    at: Option<Moment>,
    cause: Cause,
) -> Option<Done> {
    if held.access == Inherited::Reads {
        return None;
    }
    if held.opener == id {
        return Some(Done::Own(held.row));
    }
    let time = at.map_or(Timestamp::MAX, |at| at.0);
    let has_kept = cause != Cause::Close && !runs_program(process, time);
    (is_output || has_kept).then_some(Done::Inherited(Heir {
        row: held.row,
        process: id,
        access: Inherited::Writes,
        from: process.start.unwrap_or(time),
        until: at,
    }))
}
