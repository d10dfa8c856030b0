//! The table of search results.

use std::sync::Arc;

use super::columns::{CPU, DUR, ID, NAME, THREAD, TID, TS};
use super::{Cell, ColumnDef, RowSource, Rows, TableDef};
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::query::details::describe;
use crate::query::item::{cpu_number, event_of, title, type_word};
use crate::query::search::{Found, Hit};
use crate::query::seen::Seen;

/// The matches of a search.
pub(crate) const MATCHES: TableDef = TableDef {
    name: "matches",
    title: "Matches",
    about: "What a text, a /regex/ or an expression finds.",
    columns: &[
        TS,
        DUR,
        ColumnDef::text("type", "Type", "What was found."),
        NAME,
        CPU,
        TID,
        THREAD,
        ID,
        ColumnDef::text("text", "Text", "The event as its format prints it."),
    ],
    stored: None,
    rows: Rows::Answer("search EXPR FILE"),
};

/// Rows of [`MATCHES`], followed by a cell of [`THREAD_IN_FULL`](super::columns::THREAD_IN_FULL); the item of each is
/// the match.
pub(crate) struct MatchRows {
    pub found: Arc<Found>,
    /// The least durations of slices that never ended.
    pub seen: Seen,
}

impl RowSource for MatchRows {
    fn len(&self) -> usize {
        self.found.hits.len()
    }

    fn row<'a>(&'a self, loaded: &'a LoadedTrace, at: usize, cells: &mut Vec<Cell<'a>>) {
        if let Some(&hit) = self.found.hits.get(at) {
            self.hit_cells(loaded, hit, cells);
        }
    }

    fn cell<'a>(&'a self, loaded: &'a LoadedTrace, at: usize, column: usize) -> Cell<'a> {
        let hit = self.found.hits.get(at);
        match (hit, MATCHES.columns.get(column).map(|column| column.name)) {
            // A sort by time must not decode each event for its text.
            (Some(hit), Some("ts")) => hit.time.into(),
            (Some(hit), Some("dur")) => self.duration(loaded, *hit),
            (Some(hit), Some("type")) => type_word(hit.item).into(),
            (Some(hit), Some("name")) => title(&loaded.trace, hit.item).into(),
            (Some(hit), None) => {
                let thread = hit.item.thread(&loaded.trace);
                thread.map(|id| loaded.trace.thread_title(id)).into()
            }
            _ => {
                let mut cells = Vec::new();
                self.row(loaded, at, &mut cells);
                cells.into_iter().nth(column).unwrap_or(Cell::None)
            }
        }
    }

    fn item(&self, _: &LoadedTrace, at: usize) -> Option<Item> {
        Some(self.found.hits.get(at)?.item)
    }
}

impl MatchRows {
    /// Returns the duration of a match; empty if its kind has none.
    fn duration<'a>(&self, loaded: &'a LoadedTrace, hit: Hit) -> Cell<'a> {
        match hit.item {
            Item::Event(_) | Item::Instant(_) | Item::Track(_) | Item::Cpu(_) => Cell::None,
            item => item.duration(&loaded.trace, &self.seen).into(),
        }
    }

    fn hit_cells<'a>(&'a self, loaded: &'a LoadedTrace, hit: Hit, cells: &mut Vec<Cell<'a>>) {
        let trace = loaded.trace.as_ref();
        let event = event_of(trace, hit.item);
        let detail = event.map(|event| describe(trace, loaded.reader.as_ref(), event));
        let thread = hit.item.thread(trace);
        cells.extend([
            hit.time.into(),
            self.duration(loaded, hit),
            type_word(hit.item).into(),
            title(trace, hit.item).into(),
            cpu_number(trace, hit.item).into(),
            thread.map(|id| trace.thread(id).tid).into(),
            thread.map(|id| trace.thread_name(id)).into(),
            row_number(hit.item).into(),
            detail.map(|detail| detail.line()).into(),
            thread.map(|id| trace.thread_title(id)).into(),
        ]);
    }
}

/// Returns the number of an item's row in the table of its kind.
fn row_number(item: Item) -> u32 {
    match item {
        Item::Slice(id) => id.0,
        Item::Run(id) => id.0,
        Item::State(id) => id.0,
        Item::Instant(id) => id.0,
        Item::Event(id) => id.0,
        Item::Flow(id) => id.0,
        Item::Sample(track, _) => track.0,
        Item::Thread(id) => id.0,
        Item::Process(id) => id.0,
        Item::Cpu(id) => id.0,
        Item::Track(id) => id.0,
        Item::Gap(id) => id.0,
    }
}
