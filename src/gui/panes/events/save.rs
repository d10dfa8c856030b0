//! The list as rows of a file.

use std::sync::Arc;

use super::columns::Column;
use super::rows::EventRows;
use crate::base::Job;
use crate::export::ExportError;
use crate::export::rows::{RowFormat, RowWriter};
use crate::gui::save_bar::{Savable, SaveWords};
use crate::load::LoadedTrace;
use crate::tables::rows::each_row;
use crate::tables::{ColumnDef, RowSource};

/// The words for what is saved.
pub(super) const EVENTS: SaveWords = SaveWords {
    many: "events",
    title: "Save events to",
    ending: "events.csv",
};

/// The rows to be written, and their trace.
#[derive(Clone)]
pub(crate) struct Wanted {
    /// The trace.
    pub loaded: Arc<LoadedTrace>,
    /// The rows.
    pub rows: EventRows,
}

impl Savable for Wanted {
    fn write(
        &self,
        out: &mut dyn std::io::Write,
        format: RowFormat,
        job: &Job,
    ) -> Result<u64, ExportError> {
        let count = self.rows.len();
        job.set_total(count as u64);
        let columns = self.rows.columns.iter();
        let columns: Vec<ColumnDef<'_>> = columns.map(Column::for_files).collect();
        let mut writer = RowWriter::new(out, format, &columns)?;
        let written = each_row(
            &self.rows,
            &self.loaded,
            columns.len(),
            0..count,
            |_, cells| {
                let cancelled = |_| std::io::Error::other("cancelled");
                job.check().map_err(cancelled)?;
                job.advance(1);
                writer.row(cells)
            },
        );
        job.check()?;
        written?;
        Ok(writer.finish()?)
    }
}
