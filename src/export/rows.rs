//! Writes rows of cells as TSV, CSV, JSON or an aligned table for a person.

use std::io::Write;

use super::aligned::{Aligned, Look};
use crate::base::calendar::wall_text;
use crate::base::visible::{Visible, harmless, is_active};
use crate::base::{Job, TimeSpan};
use crate::tables::{Cell, ColumnDef};

/// What CSV does with texts that a spreadsheet would run as formulas: those that begin with `=`, `+`, `-`, `@`, a tab or
/// a line end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formulas {
    /// They are written unchanged.
    #[default]
    Kept,
    /// They are quoted, with an apostrophe before them, which spreadsheets read as text.
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

/// Writes a header and rows.
pub(crate) struct RowWriter<'a> {
    out: &'a mut dyn Write,
    format: RowFormat,
    columns: &'a [ColumnDef<'a>],
    count: u64,
    wall_clock: Option<WallClock>,
    aligned: Option<Aligned<'a>>,
    progress: Option<TimeProgress<'a>>,
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
    fn at(&mut self, cells: &[Cell]) {
        let Some(Cell::Int(ns)) = cells.get(self.time) else {
            return;
        };
        let now = i64::try_from(*ns).unwrap_or(i64::MAX).min(self.end_ns);
        if now > self.reached_ns {
            self.job.advance(now.abs_diff(self.reached_ns));
            self.reached_ns = now;
        }
    }
}

/// How the last column is computed from another one.
#[derive(Clone, Copy, Debug)]
struct WallClock {
    time: usize,
    zero_ns: i64,
}

impl<'a> RowWriter<'a> {
    /// Begins a table with these columns; writes the header.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn new(
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
            format,
            columns,
            count: 0,
            wall_clock: None,
            aligned,
            progress: None,
        })
    }

    /// Writes a row at a depth of a tree: in an aligned table the first text is indented by it.
    ///
    /// # Errors
    /// Errors of `out`.
    pub(crate) fn nested_row(&mut self, depth: u32, cells: &mut [Cell]) -> std::io::Result<()> {
        if depth > 0 && matches!(self.format, RowFormat::Aligned(_)) {
            let first = cells.iter_mut().find_map(|cell| match cell {
                Cell::Text(text) => Some(text),
                _ => None,
            });
            if let Some(text) = first {
                // Indents at most 20 levels, so that deep names stay visible.
                text.insert_str(0, &"  ".repeat(depth.min(20) as usize));
            }
        }
        self.row(cells)
    }

    /// From now on reports progress to `job`: rows have their time in column `time`, and all times are in `span`.
    pub(crate) fn tell_progress(&mut self, job: &'a Job, time: usize, span: TimeSpan) {
        job.add_total(span.end.0.abs_diff(span.start.0));
        self.progress = Some(TimeProgress {
            job,
            time,
            reached_ns: span.start.0,
            end_ns: span.end.0,
        });
    }

    /// From now on the last column is the wall clock of the time in column `time`; callers do not pass its cells.
    pub(crate) fn add_wall_clock(&mut self, time: usize, zero_ns: i64) {
        self.wall_clock = Some(WallClock { time, zero_ns });
    }

    /// Writes a row; its cells are in the order of the columns.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn row(&mut self, cells: &[Cell]) -> std::io::Result<()> {
        if let Some(progress) = &mut self.progress {
            progress.at(cells);
        }
        let Some(WallClock { time, zero_ns }) = self.wall_clock else {
            return self.write_row(cells);
        };
        let mut cells = cells.to_vec();
        cells.push(match cells.get(time) {
            Some(Cell::Int(ns)) => wall_text(ns + i128::from(zero_ns)).into(),
            _ => Cell::None,
        });
        self.write_row(&cells)
    }

    fn write_row(&mut self, cells: &[Cell]) -> std::io::Result<()> {
        match self.format {
            RowFormat::Tsv => write_tsv_line(self.out, cells)?,
            RowFormat::Csv(formulas) => {
                for (i, cell) in cells.iter().enumerate() {
                    if i > 0 {
                        self.out.write_all(b",")?;
                    }
                    write_csv(self.out, cell, formulas)?;
                }
                self.out.write_all(b"\r\n")?;
            }
            RowFormat::Json => {
                self.out
                    .write_all(if self.count == 0 { b"\n{" } else { b",\n{" })?;
                for (i, (column, cell)) in self.columns.iter().zip(cells).enumerate() {
                    if i > 0 {
                        self.out.write_all(b",")?;
                    }
                    write!(self.out, "\"{}\":", column.name)?;
                    write_json(self.out, cell)?;
                }
                self.out.write_all(b"}")?;
            }
            RowFormat::Aligned(_) => {
                if let Some(aligned) = &mut self.aligned {
                    aligned.row(self.out, cells)?;
                }
            }
        }
        self.count += 1;
        Ok(())
    }

    /// Ends the table; returns the number of its rows.
    ///
    /// # Errors
    /// Errors of `out`.
    pub(crate) fn finish(self) -> std::io::Result<u64> {
        if self.format == RowFormat::Json {
            self.out
                .write_all(if self.count == 0 { b"]\n" } else { b"\n]\n" })?;
        }
        if let Some(aligned) = self.aligned {
            aligned.finish(self.out)?;
        }
        Ok(self.count)
    }
}

/// Returns cells as a line of tab-separated text, with its line end.
#[must_use]
pub(crate) fn tsv_line(cells: &[Cell]) -> String {
    let mut line = Vec::new();
    // Writing to memory does not fail.
    let _never_fails = write_tsv_line(&mut line, cells);
    String::from_utf8_lossy(&line).into_owned()
}

fn write_tsv_line(out: &mut dyn Write, cells: &[Cell]) -> std::io::Result<()> {
    for (i, cell) in cells.iter().enumerate() {
        if i > 0 {
            out.write_all(b"\t")?;
        }
        write_tsv(out, cell)?;
    }
    out.write_all(b"\n")
}

fn write_tsv(out: &mut dyn Write, cell: &Cell) -> std::io::Result<()> {
    match cell {
        Cell::None | Cell::AtLeast(_) => out.write_all(b"\\N"),
        Cell::Int(value) => write!(out, "{value}"),
        Cell::Float(value) => write!(out, "{value}"),
        Cell::Text(text) => {
            if !text.contains(|c: char| c == '\\' || c.is_control() || is_active(c)) {
                return out.write_all(text.as_bytes());
            }
            let escaped = harmless(&text.replace('\\', "\\\\"))
                .replace('\t', "\\t")
                .replace('\n', "\\n")
                .replace('\r', "\\r");
            out.write_all(escaped.as_bytes())
        }
    }
}

fn write_csv(out: &mut dyn Write, cell: &Cell, formulas: Formulas) -> std::io::Result<()> {
    match cell {
        Cell::None | Cell::AtLeast(_) => Ok(()),
        Cell::Int(value) => write!(out, "{value}"),
        Cell::Float(value) => write!(out, "{value}"),
        Cell::Text(text) if formulas == Formulas::Quoted && is_formula(text) => {
            write!(out, "\"'{}\"", harmless(&text.replace('"', "\"\"")))
        }
        Cell::Text(text) if text.contains(['"', ',', '\n', '\r']) => {
            write!(out, "\"{}\"", harmless(&text.replace('"', "\"\"")))
        }
        Cell::Text(text) => out.write_all(harmless(text).as_bytes()),
    }
}

fn write_json(out: &mut dyn Write, cell: &Cell) -> std::io::Result<()> {
    match cell {
        Cell::None | Cell::AtLeast(_) => out.write_all(b"null"),
        Cell::Int(value) => write!(out, "{value}"),
        Cell::Float(value) if value.is_finite() => write!(out, "{value}"),
        Cell::Float(value) => write!(out, "\"{value}\""),
        Cell::Text(text) => {
            let mut out = Visible::json(out);
            serde_json::to_writer(&mut out, text)?;
            out.finish()
        }
    }
}

/// Returns whether a spreadsheet would run a text as a formula, perhaps after it has removed leading characters.
fn is_formula(text: &str) -> bool {
    let first = text.chars().next();
    first.is_some_and(|c| {
        let wide = ['\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
        matches!(c, '=' | '+' | '-' | '@' | '\t' | '\r' | '\n') || wide.contains(&c)
    })
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
            write_csv(&mut out, &text.into(), formulas).unwrap();
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
