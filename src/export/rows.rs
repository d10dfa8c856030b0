//! Writes rows of cells as TSV, CSV, JSON or an aligned table for a person.

use std::io::Write;
use std::ops::Range;

use rayon::prelude::*;

use super::aligned::{Aligned, Look};
use crate::base::calendar::wall_text;
use crate::base::visible::{Visible, harmless};
use crate::base::{Job, TimeSpan};
use crate::load::LoadedTrace;
use crate::tables::{Cell, ColumnDef, RowSource};

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

/// Rows whose cells a core makes at a time.
const PORTION: usize = 1 << 12;

/// Portions a core that are made before they are written.
const PORTIONS_A_CORE: usize = 4;

/// Writes a header and rows.
pub(crate) struct RowWriter<'a> {
    out: &'a mut dyn Write,
    lines: Lines<'a>,
    count: u64,
    aligned: Option<Aligned<'a>>,
    progress: Option<TimeProgress<'a>>,
    /// The last line that was made by itself.
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
    fn at(&mut self, cells: &[Cell<'_>]) {
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

impl WallClock {
    fn cell(self, cells: &[Cell<'_>]) -> Cell<'static> {
        match cells.get(self.time) {
            Some(Cell::Int(ns)) => wall_text(ns + i128::from(self.zero_ns)).into(),
            _ => Cell::None,
        }
    }
}

/// How rows become lines in a format for scripts.
#[derive(Clone, Copy, Debug)]
struct Lines<'a> {
    format: RowFormat,
    columns: &'a [ColumnDef<'a>],
    wall_clock: Option<WallClock>,
}

/// A row's place in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    First,
    Later,
}

impl Lines<'_> {
    /// The number of columns whose cells callers pass.
    fn given(&self) -> usize {
        self.columns.len() - usize::from(self.wall_clock.is_some())
    }

    /// Appends a row to `out`.
    fn append(&self, out: &mut Vec<u8>, place: Place, cells: &[Cell<'_>]) -> std::io::Result<()> {
        let wall_clock = self.wall_clock.map(|it| it.cell(cells));
        let cells = cells.iter().chain(&wall_clock);
        match self.format {
            RowFormat::Tsv => append_tsv_line(out, cells)?,
            RowFormat::Csv(formulas) => {
                for (i, cell) in cells.enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    append_csv(out, cell, formulas)?;
                }
                out.extend_from_slice(b"\r\n");
            }
            RowFormat::Json => {
                out.extend_from_slice(match place {
                    Place::First => b"\n{",
                    Place::Later => b",\n{",
                });
                for (i, (column, cell)) in self.columns.iter().zip(cells).enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    out.push(b'"');
                    out.extend_from_slice(column.name.as_bytes());
                    out.extend_from_slice(b"\":");
                    append_json(out, cell)?;
                }
                out.push(b'}');
            }
            // Its columns depend on many rows: it makes its own lines.
            RowFormat::Aligned(_) => {}
        }
        Ok(())
    }
}

/// Some lines of a table.
struct Portion<'c> {
    lines: Vec<u8>,
    count: u64,
    /// The cells of the last row.
    last: Vec<Cell<'c>>,
}

impl Lines<'_> {
    /// Returns the lines of the rows in `range`.
    fn portion<'c>(
        &self,
        source: &'c dyn RowSource,
        loaded: &'c LoadedTrace,
        range: Range<usize>,
    ) -> std::io::Result<Portion<'c>> {
        let (mut lines, mut count, mut last) = (Vec::new(), 0, Vec::new());
        let mut place = match range.start {
            0 => Place::First,
            _ => Place::Later,
        };
        source.walk(loaded, range, &mut |_, cells| {
            // Cells after those of the columns are for panes only.
            cells.truncate(self.given());
            self.append(&mut lines, place, cells)?;
            place = Place::Later;
            count += 1;
            std::mem::swap(&mut last, cells);
            Ok(())
        })?;
        Ok(Portion { lines, count, last })
    }
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
            lines: Lines {
                format,
                columns,
                wall_clock: None,
            },
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
            let given = self.lines.given();
            return source.walk(loaded, 0..all, &mut |depth, cells| {
                // Cells after those of the columns are for panes only.
                cells.truncate(given);
                self.nested_row(depth, cells)
            });
        }
        let at_once = PORTION * PORTIONS_A_CORE * rayon::current_num_threads();
        let lines = self.lines;
        // While some portions are written, the next ones are made.
        let make = |first: usize| -> std::io::Result<Vec<Portion<'_>>> {
            let end = all.min(first.saturating_add(at_once));
            let firsts = (first..end).into_par_iter().step_by(PORTION);
            let portion = |first: usize| {
                lines.portion(
                    source,
                    loaded,
                    first..end.min(first.saturating_add(PORTION)),
                )
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
                progress.at(&portion.last);
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

    /// From now on the last column is the wall clock of the time in column `time`; callers do not pass its cells.
    pub(crate) fn add_wall_clock(&mut self, time: usize, zero_ns: i64) {
        self.lines.wall_clock = Some(WallClock { time, zero_ns });
    }

    /// Writes a row; its cells are in the order of the columns.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> std::io::Result<()> {
        if let Some(progress) = &mut self.progress {
            progress.at(cells);
        }
        if let Some(aligned) = &mut self.aligned {
            match self.lines.wall_clock {
                None => aligned.row(self.out, cells)?,
                Some(clock) => {
                    let mut cells = cells.to_vec();
                    cells.push(clock.cell(&cells));
                    aligned.row(self.out, &cells)?;
                }
            }
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

/// Returns cells as a line of tab-separated text, with its line end.
#[must_use]
pub(crate) fn tsv_line(cells: &[Cell<'_>]) -> String {
    let mut line = Vec::new();
    // Writing to memory does not fail.
    let _never_fails = append_tsv_line(&mut line, cells);
    String::from_utf8_lossy(&line).into_owned()
}

fn append_tsv_line<'c>(
    out: &mut Vec<u8>,
    cells: impl IntoIterator<Item = &'c Cell<'c>>,
) -> std::io::Result<()> {
    for (i, cell) in cells.into_iter().enumerate() {
        if i > 0 {
            out.push(b'\t');
        }
        append_tsv(out, cell)?;
    }
    out.push(b'\n');
    Ok(())
}

/// Appends a whole number. Numbers of more than 64 bits are rare and take four times as long.
fn append_int(out: &mut Vec<u8>, value: i128) -> std::io::Result<()> {
    match i64::try_from(value) {
        Ok(value) => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
        Err(_) => write!(out, "{value}")?,
    }
    Ok(())
}

/// Returns whether no format escapes anything in a text: most names are like that. It looks at eight bytes at a time.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (words, rest) = bytes.as_chunks::<8>();
    let last = match bytes.last_chunk::<8>() {
        _ if rest.is_empty() => return words.iter().all(|word| are_plain(*word)),
        Some(last) => *last,
        None => {
            let mut last = [b' '; 8];
            last[..rest.len()].copy_from_slice(rest);
            last
        }
    };
    words.iter().all(|word| are_plain(*word)) && are_plain(last)
}

/// Returns whether all bytes are printable ASCII other than a backslash, a quotation mark and a comma.
fn are_plain(bytes: [u8; 8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x80 * ONES;
    let word = u64::from_le_bytes(bytes);
    // The top bit of a byte is set where it, or one below it, is less than `limit`.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let equals = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let odd = word | below(word, b' ') | equals(0x7f) | equals(b'\\') | equals(b'"') | equals(b',');
    odd & TOPS == 0
}

fn append_tsv(out: &mut Vec<u8>, cell: &Cell<'_>) -> std::io::Result<()> {
    match cell {
        Cell::None | Cell::AtLeast(_) => out.extend_from_slice(b"\\N"),
        Cell::Int(value) => append_int(out, *value)?,
        Cell::Float(value) => write!(out, "{value}")?,
        Cell::Text(text) if is_plain(text) => out.extend_from_slice(text.as_bytes()),
        Cell::Text(text) => {
            let escaped = harmless(&text.replace('\\', "\\\\"))
                .replace('\t', "\\t")
                .replace('\n', "\\n")
                .replace('\r', "\\r");
            out.extend_from_slice(escaped.as_bytes());
        }
    }
    Ok(())
}

fn append_csv(out: &mut Vec<u8>, cell: &Cell<'_>, formulas: Formulas) -> std::io::Result<()> {
    match cell {
        Cell::None | Cell::AtLeast(_) => {}
        Cell::Int(value) => append_int(out, *value)?,
        Cell::Float(value) => write!(out, "{value}")?,
        Cell::Text(text) if formulas == Formulas::Quoted && is_formula(text) => {
            write!(out, "\"'{}\"", harmless(&text.replace('"', "\"\"")))?;
        }
        Cell::Text(text) if is_plain(text) => out.extend_from_slice(text.as_bytes()),
        Cell::Text(text) if text.contains(['"', ',', '\n', '\r']) => {
            write!(out, "\"{}\"", harmless(&text.replace('"', "\"\"")))?;
        }
        Cell::Text(text) => out.extend_from_slice(harmless(text).as_bytes()),
    }
    Ok(())
}

fn append_json(out: &mut Vec<u8>, cell: &Cell<'_>) -> std::io::Result<()> {
    match cell {
        Cell::None | Cell::AtLeast(_) => out.extend_from_slice(b"null"),
        Cell::Int(value) => append_int(out, *value)?,
        Cell::Float(value) if value.is_finite() => write!(out, "{value}")?,
        Cell::Float(value) => write!(out, "\"{value}\"")?,
        Cell::Text(text) if is_plain(text) => {
            out.push(b'"');
            out.extend_from_slice(text.as_bytes());
            out.push(b'"');
        }
        Cell::Text(text) => {
            let mut out = Visible::json(out);
            serde_json::to_writer(&mut out, &**text)?;
            out.finish()?;
        }
    }
    Ok(())
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
