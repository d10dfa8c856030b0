//! Rows of a table as lines of TSV, CSV or JSON: from batches of columns, or from the cells of one row.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::escaped::{append_csv, append_int, append_json, append_tsv};
use super::rows::RowFormat;
use crate::load::LoadedTrace;
use crate::tables::batch::{BATCH_ROWS, Batch, Names, Values};
use crate::tables::{Cell, ColumnDef, RowSource};

/// A row's place in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    First,
    Later,
}

/// How rows become lines in a format for scripts.
#[derive(Clone, Debug)]
pub(super) struct Lines<'a> {
    pub format: RowFormat,
    pub columns: &'a [ColumnDef<'a>],
    /// The bytes before the value of each column.
    before: Vec<Vec<u8>>,
    none: &'static [u8],
    end: &'static [u8],
}

/// Some lines of a table.
pub(super) struct Portion<'c> {
    pub lines: Vec<u8>,
    pub count: u64,
    /// The time of the last row.
    pub last: Option<Cell<'c>>,
}

/// The texts of a column as its format writes them. A name that is in a million rows is escaped once.
#[derive(Debug, Default)]
struct Escaped {
    /// The range of bytes in `bytes` of the text with each number.
    places: FxHashMap<u32, (u32, u32)>,
    bytes: Vec<u8>,
}

/// The texts of the columns that one core has escaped.
#[derive(Debug, Default)]
pub(super) struct KnownTexts(Vec<Escaped>);

/// Size limit in bytes for the remembered texts of a column, since texts that hardly repeat fill it without use.
const MOST_KNOWN_BYTES: usize = 1 << 22;

impl<'a> Lines<'a> {
    pub(super) fn new(format: RowFormat, columns: &'a [ColumnDef<'a>]) -> Lines<'a> {
        let before = |(at, column): (usize, &ColumnDef<'_>)| -> Vec<u8> {
            match (format, at) {
                (RowFormat::Json, 0) => format!("\"{}\":", column.name).into(),
                (RowFormat::Json, _) => format!(",\"{}\":", column.name).into(),
                (_, 0) => Vec::new(),
                (RowFormat::Csv(_), _) => b",".to_vec(),
                _ => b"\t".to_vec(),
            }
        };
        let (none, end): (&[u8], &[u8]) = match format {
            RowFormat::Json => (b"null", b"}"),
            RowFormat::Csv(_) => (b"", b"\r\n"),
            _ => (b"\\N", b"\n"),
        };
        Lines {
            format,
            columns,
            before: columns.iter().enumerate().map(before).collect(),
            none,
            end,
        }
    }

    /// Returns the lines of the rows in `range`. `known` contains lists of texts that were already escaped; a core
    /// takes one, adds to it and puts it back.
    pub(crate) fn portion<'c>(
        &self,
        source: &'c dyn RowSource,
        loaded: &'c LoadedTrace,
        range: Range<usize>,
        time: Option<usize>,
        known: &Mutex<Vec<KnownTexts>>,
    ) -> std::io::Result<Portion<'c>> {
        let free = || known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut texts = free().pop().unwrap_or_default();
        let mut batch = Batch::new(0..self.columns.len());
        let (mut lines, mut last) = (Vec::new(), None);
        for first in range.clone().step_by(BATCH_ROWS) {
            let rows = first..range.end.min(first + BATCH_ROWS);
            let place = match first {
                0 => Place::First,
                _ => Place::Later,
            };
            source.batch(loaded, rows, &mut batch);
            self.append_batch(&mut lines, place, &batch, &mut texts)?;
            let times = time.and_then(|time| batch.columns().get(time));
            last = times.map(|times| times.cell(batch.len().saturating_sub(1)));
        }
        free().push(texts);
        Ok(Portion {
            lines,
            count: range.len() as u64,
            last,
        })
    }

    fn append_batch(
        &self,
        out: &mut Vec<u8>,
        place: Place,
        batch: &Batch<'_>,
        known: &mut KnownTexts,
    ) -> std::io::Result<()> {
        let columns = batch.columns();
        known.0.resize_with(columns.len(), Escaped::default);
        for row in 0..batch.len() {
            self.start(out, if row == 0 { place } else { Place::Later });
            let known = known.0.iter_mut();
            for ((before, values), known) in self.before.iter().zip(columns).zip(known) {
                out.extend_from_slice(before);
                match values {
                    Values::Ints(column) => match column[row] {
                        Some(value) => append_int(out, value.into())?,
                        None => out.extend_from_slice(self.none),
                    },
                    Values::Names(names, column) => match column[row] {
                        Some(number) => known.append(self, out, *names, number)?,
                        None => out.extend_from_slice(self.none),
                    },
                    Values::Cells(cells) => self.append_cell(out, &cells[row])?,
                }
            }
            out.extend_from_slice(self.end);
        }
        Ok(())
    }

    /// Appends the bytes before the first value of a row.
    fn start(&self, out: &mut Vec<u8>, place: Place) {
        if self.format == RowFormat::Json {
            out.extend_from_slice(match place {
                Place::First => b"\n{",
                Place::Later => b",\n{",
            });
        }
    }

    fn append_cell(&self, out: &mut Vec<u8>, cell: &Cell<'_>) -> std::io::Result<()> {
        match self.format {
            RowFormat::Csv(formulas) => append_csv(out, cell, formulas),
            RowFormat::Json => append_json(out, cell),
            // Aligned columns depend on many rows: they are made elsewhere.
            RowFormat::Tsv | RowFormat::Aligned(_) => append_tsv(out, cell),
        }
    }

    /// Appends a row to `out`.
    pub(super) fn append(
        &self,
        out: &mut Vec<u8>,
        place: Place,
        cells: &[Cell<'_>],
    ) -> std::io::Result<()> {
        self.start(out, place);
        for (before, cell) in self.before.iter().zip(cells) {
            out.extend_from_slice(before);
            self.append_cell(out, cell)?;
        }
        out.extend_from_slice(self.end);
        Ok(())
    }
}

impl Escaped {
    /// Appends the text with this number.
    fn append(
        &mut self,
        lines: &Lines<'_>,
        out: &mut Vec<u8>,
        names: Names<'_>,
        number: u32,
    ) -> std::io::Result<()> {
        if let Some(&(start, end)) = self.places.get(&number) {
            out.extend_from_slice(&self.bytes[start as usize..end as usize]);
            return Ok(());
        }
        if self.bytes.len() > MOST_KNOWN_BYTES {
            *self = Escaped::default();
        }
        let start = out.len();
        lines.append_cell(out, &names.text(number).into())?;
        let place = self.bytes.len() as u32;
        self.bytes.extend_from_slice(&out[start..]);
        self.places.insert(number, (place, self.bytes.len() as u32));
        Ok(())
    }
}
