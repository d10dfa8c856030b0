//! Who can write to what is open for writing: descriptors, their copies, and those that children inherit.
//!
//! ```text
//! sh     open W out = 3, dup 3 -> 1, close 3 ---- close 1        { cat a; cat b; } > out
//! cat         fork, exec .... exit                               cat wrote too: out was its standard output
//! ```
//!
//! A child writes to a file that its parent opened if it runs a program with it as standard output or error, or if it
//! runs none and keeps it to its end. (Every program of a build inherits what make has open; it does not write there.)

use rustc_hash::FxHashMap;

use super::entities::{Process, ProcessId};
use super::events::EventId;
use crate::base::Timestamp;

/// How many descriptors forks may copy in all.
const MOST_COPIES: usize = 1 << 22;

/// A child that wrote to what its parent had opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heir {
    /// The row of the open.
    pub row: u32,
    /// Who.
    pub process: ProcessId,
    /// Since when: its birth.
    pub from: Timestamp,
    /// When it let go of it; `None` if that was not in the trace.
    pub until: Option<(Timestamp, EventId)>,
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

/// A descriptor of a process, opened for writing by a row.
#[derive(Clone, Copy)]
struct Held {
    fd: i32,
    row: u32,
    opener: ProcessId,
    /// Whether it was used as what programs write to.
    is_output: bool,
}

/// When and by which event.
pub(super) type Moment = (Timestamp, EventId);

/// See the module's text.
#[derive(Default)]
pub(super) struct Holders {
    tables: FxHashMap<u32, Vec<Held>>,
    copies: usize,
}

impl Holders {
    /// `process` opened `row` as `fd`.
    pub fn open(&mut self, process: ProcessId, fd: i32, row: u32) {
        self.tables.entry(process.0).or_default().push(Held {
            fd,
            row,
            opener: process,
            is_output: false,
        });
    }

    /// Descriptor `to` is the same as `from` is.
    pub fn copy(&mut self, process: ProcessId, from: i32, to: i32) {
        if let Some(table) = self.tables.get_mut(&process.0)
            && let Some(held) = table.iter().find(|held| held.fd == from).copied()
        {
            table.push(Held { fd: to, ..held });
        }
    }

    /// `child` has what `parent` has.
    pub fn fork(&mut self, parent: ProcessId, child: ProcessId) {
        let Some(table) = self.tables.get(&parent.0).filter(|table| !table.is_empty()) else {
            return;
        };
        self.copies += table.len();
        if self.copies > MOST_COPIES {
            return;
        }
        let mut table = table.clone();
        for held in &mut table {
            held.is_output = false;
        }
        self.tables.insert(child.0, table);
    }

    /// Whether forks copied more than is followed.
    pub fn is_cut(&self) -> bool {
        self.copies > MOST_COPIES
    }

    /// Descriptor `fd` is closed: what that was the last descriptor of.
    pub fn close(&mut self, id: ProcessId, process: &Process, fd: i32, at: Moment) -> Option<Done> {
        let table = self.tables.get_mut(&id.0)?;
        let index = table.iter().position(|held| held.fd == fd)?;
        let mut held = table.swap_remove(index);
        held.is_output |= is_output(held, process, at.0);
        if let Some(other) = table.iter_mut().find(|other| other.row == held.row) {
            other.is_output |= held.is_output;
            return None;
        }
        done(id, process, held, Some(at), Cause::Close)
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
        let mut table = self.tables.remove(&id.0).unwrap_or_default();
        let time = at.map_or(Timestamp::MAX, |at| at.0);
        table.sort_unstable_by_key(|held| held.row);
        for same in table.chunk_by(|a, b| a.row == b.row) {
            let is_used = |held: &Held| held.is_output || is_output(*held, process, time);
            let is_output = same.iter().any(is_used);
            let first = same.first().map(|&held| Held { is_output, ..held });
            if let Some(done) = first.and_then(|held| done(id, process, held, at, cause)) {
                each(done);
            }
        }
    }

    /// Those that still have something.
    pub fn left(&self) -> Vec<ProcessId> {
        let mut left: Vec<ProcessId> = self.tables.keys().map(|&id| ProcessId(id)).collect();
        left.sort_unstable();
        left
    }
}

fn runs_program(process: &Process, time: Timestamp) -> bool {
    let first = process.images.first();
    first.is_some_and(|image| image.start <= time)
}

/// Whether a program of the process has it as standard output or error.
fn is_output(held: Held, process: &Process, time: Timestamp) -> bool {
    (held.fd == 1 || held.fd == 2) && runs_program(process, time)
}

fn done(
    id: ProcessId,
    process: &Process,
    held: Held,
    at: Option<Moment>,
    cause: Cause,
) -> Option<Done> {
    if held.opener == id {
        return Some(Done::Own(held.row));
    }
    let time = at.map_or(Timestamp::MAX, |at| at.0);
    let has_kept = cause != Cause::Close && !runs_program(process, time);
    (held.is_output || has_kept).then_some(Done::Inherited(Heir {
        row: held.row,
        process: id,
        from: process.start.unwrap_or(time),
        until: at,
    }))
}
