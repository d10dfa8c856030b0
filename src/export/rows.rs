//! Writes rows of cells as TSV, CSV, JSON or an aligned table for a person.

use std::io::Write;
use std::sync::Mutex;

use rayon::prelude::*;

use super::aligned::{Aligned, Look};
use super::lines::{Lines, Place, Portion};
use crate::base::{Job, TimeSpan};
use crate::load::LoadedTrace;
use crate::tables::batch::BATCH_ROWS;
use crate::tables::rows::each_row;
use crate::tables::{Cell, ColumnDef, RowSource};

/// How CSV writes texts that a spreadsheet would run as formulas: those that begin with `=`, `+`, `-`, `@`, a tab or a
/// line end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formulas {
    /// Such texts are written unchanged.
    #[default]
    Kept,
    /// Such texts are quoted, with an apostrophe before them, which spreadsheets read as text.
    Quoted,
}

/// The format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// Tabs between cells; `\t`, `\n`, `\r`, `\\` are escaped in texts.
    Tsv,
    /// CSV of RFC 4180.
    Csv(Formulas),
    /// A JSON array of objects.
    Json,
    /// Aligned columns for a person.
    Aligned(Look),
}

/// Rows whose lines a core makes at a time.
const PORTION: usize = 4 * BATCH_ROWS;

/// Portions for each core that are made before they are written.
const PORTIONS_A_CORE: usize = 4;

/// Writes a header and rows.
pub(crate) struct RowWriter<'a> {
    out: &'a mut dyn Write,
    lines: Lines<'a>,
    count: u64,
    aligned: Option<Aligned<'a>>,
    progress: Option<TimeProgress<'a>>,
    /// The last line that was made on its own; reused, to avoid allocations.
    line: Vec<u8>,
}

/// Reports progress to a job, for a table whose rows come in order of time.
struct TimeProgress<'a> {
    job: &'a Job,
    /// The index of the time column.
    time: usize,
    /// The latest time that was reported to the job, in ns.
    reached_ns: i64,
    end_ns: i64,
}

impl TimeProgress<'_> {
    fn at(&mut self, time: Option<&Cell<'_>>) {
        let Some(Cell::Int(ns)) = time else {
            return;
        };
        let now = i64::try_from(*ns).unwrap_or(i64::MAX).min(self.end_ns);
        if now > self.reached_ns {
            self.job.advance(now.abs_diff(self.reached_ns));
            self.reached_ns = now;
        }
    }
}

impl<'a> RowWriter<'a> {
    /// Begins a table with these columns; writes the header.
    ///
    /// # Errors
    /// Errors of `out`.
    pub(crate) fn new(
        out: &'a mut dyn Write,
        format: RowFormat,
        columns: &'a [ColumnDef<'a>],
    ) -> std::io::Result<RowWriter<'a>> {
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        let mut aligned = None;
        match format {
            RowFormat::Tsv => writeln!(out, "{}", names.join("\t"))?,
            RowFormat::Csv(_) => write!(out, "{}\r\n", names.join(","))?,
            RowFormat::Json => write!(out, "[")?,
            RowFormat::Aligned(look) => aligned = Some(Aligned::new(columns, look)),
        }
        Ok(RowWriter {
            out,
            lines: Lines::new(format, columns),
            count: 0,
            aligned,
            progress: None,
            line: Vec::new(),
        })
    }

    /// Writes all rows of a source, whose lines all cores make side by side.
    ///
    /// # Errors
    /// Errors of `out`.
    pub(crate) fn write_all(
        &mut self,
        source: &dyn RowSource,
        loaded: &LoadedTrace,
    ) -> std::io::Result<()> {
        let all = source.len();
        if self.aligned.is_some() {
            let columns = self.lines.columns.len();
            return each_row(source, loaded, columns, 0..all, |at, cells| {
                self.nested_row(source.depth(at), cells)
            });
        }
        let at_once = PORTION * PORTIONS_A_CORE * rayon::current_num_threads();
        let lines = self.lines.clone();
        let time = self.progress.as_ref().map(|progress| progress.time);
        let known = Mutex::new(Vec::new());
        // While some portions are written, the next ones are made.
        let make = |first: usize| -> std::io::Result<Vec<Portion<'_>>> {
            let end = all.min(first.saturating_add(at_once));
            let firsts = (first..end).into_par_iter().step_by(PORTION);
            let portion = |first: usize| {
                // What is read from a file that was rewritten may have any length, and is not the answer any more.
                let end = match loaded.damage() {
                    None => end.min(first.saturating_add(PORTION)),
                    Some(_) => first,
                };
                let rows = first..end;
                lines.portion(source, loaded, rows, time, &known)
            };
            firsts.map(portion).collect()
        };
        let mut made = make(0);
        for next in (0..all).step_by(at_once).skip(1).chain([all]) {
            let portions = std::mem::replace(&mut made, Ok(Vec::new()))?;
            rayon::in_place_scope(|scope| {
                if next < all {
                    scope.spawn(|_| made = make(next));
                }
                self.write_portions(&portions)
            })?;
        }
        Ok(())
    }

    fn write_portions(&mut self, portions: &[Portion<'_>]) -> std::io::Result<()> {
        for portion in portions {
            self.out.write_all(&portion.lines)?;
            self.count += portion.count;
            if let Some(progress) = &mut self.progress {
                progress.at(portion.last.as_ref());
            }
        }
        Ok(())
    }

    /// Writes a row at a depth of a tree: in an aligned table the first text is indented by it.
    ///
    /// # Errors
    /// Errors of `out`.
    pub(crate) fn nested_row(&mut self, depth: u32, cells: &mut [Cell<'_>]) -> std::io::Result<()> {
        if depth > 0 && self.aligned.is_some() {
            let first = cells.iter_mut().find_map(|cell| match cell {
                Cell::Text(text) => Some(text),
                _ => None,
            });
            if let Some(text) = first {
                // Indents at most 20 levels, so that deep names stay visible.
                text.prepend(&"  ".repeat(depth.min(20) as usize));
            }
        }
        self.row(cells)
    }

    /// From now on reports progress to `job`: rows have their time in column `time`, and all times are in `span`.
    pub(crate) fn report_progress(&mut self, job: &'a Job, time: usize, span: TimeSpan) {
        job.add_total(span.end.0.abs_diff(span.start.0));
        self.progress = Some(TimeProgress {
            job,
            time,
            reached_ns: span.start.0,
            end_ns: span.end.0,
        });
    }

    /// Writes a row; its cells are in the order of the columns.
    ///
    /// # Errors
    /// Errors of `out`.
    pub(crate) fn row(&mut self, cells: &[Cell<'_>]) -> std::io::Result<()> {
        if let Some(progress) = &mut self.progress {
            progress.at(cells.get(progress.time));
        }
        if let Some(aligned) = &mut self.aligned {
            aligned.row(self.out, cells)?;
        } else {
            let place = match self.count {
                0 => Place::First,
                _ => Place::Later,
            };
            self.line.clear();
            self.lines.append(&mut self.line, place, cells)?;
            self.out.write_all(&self.line)?;
        }
        self.count += 1;
        Ok(())
    }

    /// Ends the table; returns the number of its rows.
    ///
    /// # Errors
    /// Errors of `out`.
    pub(crate) fn finish(self) -> std::io::Result<u64> {
        if self.lines.format == RowFormat::Json {
            self.out
                .write_all(if self.count == 0 { b"]\n" } else { b"\n]\n" })?;
        }
        if let Some(aligned) = self.aligned {
            aligned.finish(self.out)?;
        }
        Ok(self.count)
    }
}

/// Writes bytes as a JSON string. Bytes that are not UTF-8 become lone surrogates (`\udc80` to `\udcff`), as in
/// Python's `surrogateescape`: the exact bytes can be restored.
///
/// # Errors
/// Errors of `out`.
pub(crate) fn write_json_text(mut out: &mut dyn Write, bytes: &[u8]) -> std::io::Result<()> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(serde_json::to_writer(out, text)?);
    }
    out.write_all(b"\"")?;
    for chunk in bytes.utf8_chunks() {
        let mut quoted = Vec::new();
        serde_json::to_writer(&mut quoted, chunk.valid())?;
        out.write_all(quoted.get(1..quoted.len() - 1).unwrap_or(&[]))?;
        for &byte in chunk.invalid() {
            write!(&mut out, "\\udc{byte:02x}")?;
        }
    }
    out.write_all(b"\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::escaped::{append_csv, is_plain};
    use crate::tables::columns::{NAME, TS};

    const N: ColumnDef<'static> = ColumnDef::text("n", "N", "A text.");

    fn written(format: RowFormat) -> String {
        let mut out = Vec::new();
        let mut rows = RowWriter::new(&mut out, format, &[TS, NAME]).unwrap();
        rows.row(&[Cell::Int(7), "a\t\"b\", \\".into()]).unwrap();
        rows.row(&[Cell::None, "plain".into()]).unwrap();
        rows.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_text_is_plain_if_each_of_its_bytes_is() {
        for byte in 0..=0x7f_u8 {
            let is_odd = !matches!(byte, b' '..=b'~') || matches!(byte, b'\\' | b'"' | b',');
            for length in 1..20 {
                for at in 0..length {
                    let mut text = vec![b'a'; length];
                    text[at] = byte;
                    let text = String::from_utf8(text).unwrap();
                    assert_eq!(is_plain(&text), !is_odd, "{text:?}");
                }
            }
        }
        assert!(is_plain("") && !is_plain("abcdefg\u{e4}"));
    }

    #[test]
    fn cells_are_escaped_as_each_format_asks() {
        assert_eq!(
            written(RowFormat::Tsv),
            "ts\tname\n7\ta\\t\"b\", \\\\\n\\N\tplain\n"
        );
        assert_eq!(
            written(RowFormat::Csv(Formulas::Kept)),
            "ts,name\r\n7,\"a\t\"\"b\"\", \\\"\r\n,plain\r\n"
        );
        let json: serde_json::Value = serde_json::from_str(&written(RowFormat::Json)).unwrap();
        assert_eq!(json[0]["name"], "a\t\"b\", \\");
        assert!(json[1]["ts"].is_null());
    }

    #[test]
    fn bytes_that_are_not_utf8_are_escaped() {
        let cell = Cell::of_bytes(b"a\xff\"\t\xe4b");
        let of = |format| {
            let mut out = Vec::new();
            let mut rows = RowWriter::new(&mut out, format, &[N]).unwrap();
            rows.row(std::slice::from_ref(&cell)).unwrap();
            rows.finish().unwrap();
            out
        };
        assert_eq!(of(RowFormat::Tsv), b"n\na\\\\xff\"\\t\\\\xe4b\n");
        assert_eq!(
            of(RowFormat::Csv(Formulas::Kept)),
            b"n\r\n\"a\\xff\"\"\t\\xe4b\"\r\n"
        );
        assert_eq!(
            of(RowFormat::Json),
            b"[\n{\"n\":\"a\\\\xff\\\"\\t\\\\xe4b\"}\n]\n"
        );
    }

    #[test]
    fn formulas_are_quoted_on_demand() {
        let of = |formulas, text: &str| {
            let mut out = Vec::new();
            append_csv(&mut out, &text.into(), formulas).unwrap();
            String::from_utf8(out).unwrap()
        };
        for text in ["=1+1", "+1", "-x", "@SUM(A1)", "\t=1"] {
            assert_eq!(of(Formulas::Kept, text), text);
            assert_eq!(of(Formulas::Quoted, text), format!("\"'{text}\""));
        }
        assert_eq!(of(Formulas::Quoted, "=\"a\""), "\"'=\"\"a\"\"\"");
        assert_eq!(of(Formulas::Quoted, "a=1"), "a=1");
    }

    #[test]
    fn what_acts_on_a_terminal_is_written_so_that_it_can_be_had_again() {
        let text = "\u{1b}[m\u{9b}\u{202e}\\x1b";
        let of = |format| {
            let mut out = Vec::new();
            let mut rows = RowWriter::new(&mut out, format, &[N]).unwrap();
            rows.row(&[Cell::of_bytes(text.as_bytes())]).unwrap();
            rows.finish().unwrap();
            String::from_utf8(out).unwrap()
        };
        let shown = "\\x1b[m\\xc2\\x9b\\xe2\\x80\\xae";
        assert_eq!(of(RowFormat::Tsv), format!("n\n{shown}\\\\x5cx1b\n"));
        let csv = of(RowFormat::Csv(Formulas::Kept));
        assert_eq!(csv, format!("n\r\n{shown}\\x5cx1b\r\n"));
        let json = of(RowFormat::Json);
        assert!(json.contains("\\u001b[m\\u009b\\u202e"), "{json}");
    }
}
