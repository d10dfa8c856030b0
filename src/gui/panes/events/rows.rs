//! The rows of the event list: an event is decoded when its row is read.

use std::ops::Range;

use super::columns::{Column, Line};
use super::listed::Listed;
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::tables::batch::Batch;
use crate::tables::{Cell, RowSource};
use crate::trace::{EventId, Trace};

/// The listed events with the cells of the chosen columns.
#[derive(Clone)]
pub(crate) struct EventRows {
    /// The events.
    pub listed: Listed,
    /// The columns.
    pub columns: Vec<Column>,
    /// Differs between lists with different events at the same place, or with other columns.
    pub number: u64,
}

impl EventRows {
    /// Returns the event of a row.
    #[must_use]
    pub(crate) fn event(&self, trace: &Trace, at: usize) -> Option<EventId> {
        let mut event = None;
        self.listed.walk(trace, at, 1, |id| {
            event = Some(id);
            false
        });
        event
    }

    /// Decodes at most `count` rows from `at` on, until `each` returns false.
    pub(crate) fn lines(
        &self,
        loaded: &LoadedTrace,
        at: usize,
        count: usize,
        mut each: impl FnMut(Line) -> bool,
    ) {
        let trace = &loaded.trace;
        // The event above the first row is read for its time only.
        let above = at.checked_sub(1).and_then(|above| self.event(trace, above));
        let mut before = above.map(|id| trace.events.time(id));
        self.listed.walk(trace, at, count, |id| {
            let line = Line::read(loaded, id, before);
            before = Some(line.time);
            each(line)
        });
    }

    fn fill(&self, line: &Line, cells: &mut Vec<Cell<'_>>) {
        let columns = self.columns.iter();
        cells.extend(columns.map(|column| line.cell(column).into_owned()));
    }
}

impl RowSource for EventRows {
    fn len(&self) -> usize {
        self.listed.len()
    }

    fn row<'a>(&'a self, loaded: &'a LoadedTrace, at: usize, cells: &mut Vec<Cell<'a>>) {
        self.lines(loaded, at, 1, |line| {
            self.fill(&line, cells);
            false
        });
    }

    /// Finding an event by its row takes several searches; stepping to the next event takes none.
    fn batch<'a>(&'a self, loaded: &'a LoadedTrace, range: Range<usize>, batch: &mut Batch<'a>) {
        let mut cells = Vec::new();
        batch.start_cells();
        self.lines(loaded, range.start, range.len(), |line| {
            cells.clear();
            self.fill(&line, &mut cells);
            batch.push_cells(&mut cells);
            true
        });
    }

    fn item(&self, loaded: &LoadedTrace, at: usize) -> Option<Item> {
        self.event(&loaded.trace, at).map(Item::Event)
    }

    fn slow_key(&self) -> Option<u64> {
        Some(self.number)
    }
}
