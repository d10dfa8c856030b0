//! The definition of a table: its name, its title, its columns, and where its rows come from.

use super::columns::ColumnDef;
use super::rows::RowSource;
use crate::base::{Job, Timestamp};
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
    /// The columns of the table in data sets; `None` if data sets do not contain it.
    pub stored: Option<Stored>,
    /// Where its rows come from.
    pub rows: Rows,
}

/// The form of a table in data sets. Names are those of Perfetto's tables where Perfetto has the same table or column.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    /// The table's name in data sets.
    pub name: &'static str,
    /// Columns that only data sets have; their values come after those of the table's columns.
    pub more: &'static [ColumnDef<'static>],
    /// The columns in data sets, in order.
    pub columns: &'static [StoredAs],
}

/// A column of a table in data sets.
#[derive(Clone, Copy, Debug)]
pub struct StoredAs {
    /// Its name in data sets.
    pub name: &'static str,
    /// The name of the table's column.
    pub of: &'static str,
}

/// Returns a column that has the same name in data sets.
pub(super) const fn same(name: &'static str) -> StoredAs {
    StoredAs { name, of: name }
}

/// Returns the column `of` under the name that it has in data sets.
pub(super) const fn renamed(name: &'static str, of: &'static str) -> StoredAs {
    StoredAs { name, of }
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
    /// From the answer to a question. The text is the command that asks it, without the program's name: `chain --thread
    /// TID FILE`.
    Answer(&'static str),
    /// From the state of the window; no command prints the table.
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

    /// Returns the columns in data sets, each with its index in the rows and under its name in data sets.
    pub(crate) fn stored_columns(&self) -> impl Iterator<Item = (usize, ColumnDef<'static>)> {
        let of = self.stored.map_or(&[][..], |stored| stored.columns);
        let more = self.stored.map_or(&[][..], |stored| stored.more);
        of.iter().filter_map(move |stored| {
            let mut all = self.columns.iter().chain(more).enumerate();
            let (index, column) = all.find(|(_, column)| column.name == stored.of)?;
            let name = stored.name;
            Some((index, ColumnDef { name, ..*column }))
        })
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

/// The trace and selection from which rows are made, and their audience. Rows are incomplete once `job` is cancelled.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The trace.
    pub loaded: &'a LoadedTrace,
    /// The part of the trace.
    pub chosen: &'a Chosen<'a>,
    /// The kind of reader: it decides the order of some tables.
    pub audience: Audience,
    /// The job that makes the rows.
    pub job: &'a Job,
}

impl Scope<'_> {
    /// Returns whether at least a part of a slice is in the selection.
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
