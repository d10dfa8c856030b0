//! The definition of a table: its name, its title, its columns, and where its rows come from.

use super::columns::ColumnDef;
use super::rows::RowSource;
use crate::base::Timestamp;
use crate::load::LoadedTrace;
use crate::query::selection::Chosen;
use crate::trace::TrackId;

/// A table. Panes, the clipboard, files and the command line take its columns and headings from here.
#[derive(Clone, Copy)]
pub struct TableDef {
    /// Its name in scripts.
    pub name: &'static str,
    /// Its heading for people.
    pub title: &'static str,
    /// One sentence that explains its rows.
    pub about: &'static str,
    /// Its columns.
    pub columns: &'static [ColumnDef<'static>],
    /// Where its rows come from.
    pub rows: Rows,
}

impl std::fmt::Debug for TableDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Where the rows of a table come from.
#[derive(Clone, Copy)]
pub enum Rows {
    /// From a trace: the function returns the rows for a scope.
    Trace(fn(&Scope<'_>) -> Box<dyn RowSource>),
    /// From the answer to a question. The command that asks it, without the program's name: `chain --thread TID FILE`.
    Answer(&'static str),
    /// From the state of the window, which no command has.
    Window,
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Rows::Trace(_) => "Trace",
            Rows::Answer(command) => command,
            Rows::Window => "Window",
        })
    }
}

impl TableDef {
    /// Returns whether a trace alone determines the rows, without a question.
    #[must_use]
    pub fn is_of_trace(&self) -> bool {
        matches!(self.rows, Rows::Trace(_))
    }

    /// Returns the command that prints the table, without the program's name; `None` if no command does.
    pub(crate) fn command(&self) -> Option<String> {
        match self.rows {
            Rows::Trace(_) => Some(format!("table {} FILE", self.name)),
            Rows::Answer(command) => Some(command.to_owned()),
            Rows::Window => None,
        }
    }
}

/// The trace and selection from which rows are made, and their audience.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The trace.
    pub loaded: &'a LoadedTrace,
    /// The part of the trace.
    pub chosen: &'a Chosen<'a>,
    /// The kind of reader: it decides the order of some tables.
    pub audience: Audience,
}

impl Scope<'_> {
    /// Returns whether a slice is in the part, at least some of it.
    pub(super) fn has_slice(&self, track: TrackId, slice: u32) -> bool {
        let (slices, row) = (&self.loaded.trace.slices, slice as usize);
        let start = Timestamp(slices.starts.at(row));
        let end = Timestamp(slices.open_end(row).or_greatest());
        self.chosen.meets(start, end) && self.chosen.has_slice(track, row)
    }
}

/// The kind of reader of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A person: tables without an order in time have the most important rows first.
    Person,
    /// A program, which relies on the order of rows.
    Program,
}
