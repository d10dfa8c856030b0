//! The definition of a table: its name, its columns, and the function that returns its rows.

use super::columns::ColumnDef;
use super::rows::RowSource;
use crate::load::LoadedTrace;
use crate::query::selection::Chosen;

/// A table of a trace.
#[derive(Clone, Copy)]
pub struct TableDef {
    /// Its name in scripts.
    pub name: &'static str,
    /// Its columns.
    pub columns: &'static [ColumnDef<'static>],
    /// Returns the rows for a scope.
    pub rows: fn(&Scope<'_>) -> Box<dyn RowSource>,
}

impl std::fmt::Debug for TableDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
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

/// The kind of reader of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A person: tables without an order in time have the most important rows first.
    Person,
    /// A program, which relies on the order of rows.
    Program,
}
