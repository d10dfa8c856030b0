//! Rows of cells as TSV, CSV or JSON.

use std::io::Write;

use crate::base::StringId;
use crate::base::calendar::wall_text;
use crate::base::strings::exact_text;
use crate::base::visible::{Visible, harmless, is_active};
use crate::trace::Trace;

/// A value in a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// There is none: `\N` in TSV, empty in CSV, `null` in JSON.
    None,
    /// A whole number.
    Int(i128),
    /// Any number; infinities and NaN are text in JSON.
    Float(f64),
    /// Text.
    Text(String),
}

impl Cell {
    /// A name or text of a trace; bytes that are not UTF-8 are `\xNN`, so that they can be had again.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Cell {
        Cell::Text(exact_text(bytes).into_owned())
    }

    /// A string of a trace.
    #[must_use]
    pub fn of_string(trace: &Trace, id: StringId) -> Cell {
        Cell::of_bytes(trace.strings.bytes(id))
    }
}

impl From<i64> for Cell {
    fn from(value: i64) -> Cell {
        Cell::Int(i128::from(value))
    }
}

impl From<u64> for Cell {
    fn from(value: u64) -> Cell {
        Cell::Int(i128::from(value))
    }
}

impl From<u32> for Cell {
    fn from(value: u32) -> Cell {
        Cell::Int(i128::from(value))
    }
}

impl From<i32> for Cell {
    fn from(value: i32) -> Cell {
        Cell::Int(i128::from(value))
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<std::borrow::Cow<'_, str>> for Cell {
    fn from(text: std::borrow::Cow<'_, str>) -> Cell {
        Cell::Text(text.into_owned())
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::None, Into::into)
    }
}

/// What CSV does with texts that a spreadsheet would run as formulas: those that begin with `=`, `+`, `-`, `@`, a tab or
/// a line end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formulas {
    /// They stay as they are.
    #[default]
    Kept,
    /// They stand between quotes behind an apostrophe, which makes a text of them.
    Quoted,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// Tabs between cells; `\t`, `\n`, `\r`, `\\` in texts.
    Tsv,
    /// RFC 4180.
    Csv(Formulas),
    /// An array of objects.
    Json,
}

/// Writes a header and rows.
pub struct RowWriter<'a> {
    out: &'a mut dyn Write,
    format: RowFormat,
    columns: &'a [&'a str],
    count: u64,
    wall_clock: Option<WallClock>,
}

/// How the last column follows from another one.
#[derive(Clone, Copy, Debug)]
struct WallClock {
    time: usize,
    zero_ns: i64,
}

impl<'a> RowWriter<'a> {
    /// Begins a table with these columns.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(
        out: &'a mut dyn Write,
        format: RowFormat,
        columns: &'a [&'a str],
    ) -> std::io::Result<RowWriter<'a>> {
        match format {
            RowFormat::Tsv => writeln!(out, "{}", columns.join("\t"))?,
            RowFormat::Csv(_) => write!(out, "{}\r\n", columns.join(","))?,
            RowFormat::Json => write!(out, "[")?,
        }
        Ok(RowWriter {
            out,
            format,
            columns,
            count: 0,
            wall_clock: None,
        })
    }

    /// From now on the last column is the wall clock at the time in column `time`, which rows do not give.
    pub fn add_wall_clock(&mut self, time: usize, zero_ns: i64) {
        self.wall_clock = Some(WallClock { time, zero_ns });
    }

    /// Writes a row; its cells stand in the order of the columns.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn row(&mut self, cells: &[Cell]) -> std::io::Result<()> {
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
            RowFormat::Tsv => {
                for (i, cell) in cells.iter().enumerate() {
                    if i > 0 {
                        self.out.write_all(b"\t")?;
                    }
                    write_tsv(self.out, cell)?;
                }
                self.out.write_all(b"\n")?;
            }
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
                for (i, (name, cell)) in self.columns.iter().zip(cells).enumerate() {
                    if i > 0 {
                        self.out.write_all(b",")?;
                    }
                    write!(self.out, "\"{name}\":")?;
                    write_json(self.out, cell)?;
                }
                self.out.write_all(b"}")?;
            }
        }
        self.count += 1;
        Ok(())
    }

    /// Ends the table; how many rows it has.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn finish(self) -> std::io::Result<u64> {
        if self.format == RowFormat::Json {
            self.out
                .write_all(if self.count == 0 { b"]\n" } else { b"\n]\n" })?;
        }
        Ok(self.count)
    }
}

fn write_tsv(out: &mut dyn Write, cell: &Cell) -> std::io::Result<()> {
    match cell {
        Cell::None => out.write_all(b"\\N"),
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
        Cell::None => Ok(()),
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
        Cell::None => out.write_all(b"null"),
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

/// Whether a spreadsheet would run a text as a formula, or might after it has taken off what stands before it.
fn is_formula(text: &str) -> bool {
    let first = text.chars().next();
    first.is_some_and(|c| {
        let wide = ['\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
        matches!(c, '=' | '+' | '-' | '@' | '\t' | '\r' | '\n') || wide.contains(&c)
    })
}

/// Bytes as a JSON string. What is not UTF-8 becomes lone surrogates (`\udc80` to `\udcff`), as in Python's
/// `surrogateescape`: the exact bytes can be had again.
///
/// # Errors
/// Those of `out`.
pub fn write_json_text(mut out: &mut dyn Write, bytes: &[u8]) -> std::io::Result<()> {
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

/// Arguments on one line, quoted as a shell would need.
pub fn shell_bytes<'a>(arguments: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut line = Vec::new();
    for argument in arguments {
        if !line.is_empty() {
            line.push(b' ');
        }
        let is_plain = !argument.is_empty()
            && argument
                .iter()
                .all(|c| c.is_ascii_alphanumeric() || b"_-./=+:,@%".contains(c));
        if is_plain {
            line.extend_from_slice(argument);
        } else {
            line.push(b'\'');
            for &byte in argument {
                if byte == b'\'' {
                    line.extend_from_slice(b"'\\''");
                } else {
                    line.push(byte);
                }
            }
            line.push(b'\'');
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: RowFormat) -> String {
        let mut out = Vec::new();
        let mut rows = RowWriter::new(&mut out, format, &["ts", "name"]).unwrap();
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
    fn arguments_are_quoted_for_a_shell() {
        let words = ["gcc", "-o", "a b", "it's", ""].map(str::as_bytes);
        assert_eq!(
            shell_bytes(words.into_iter()),
            b"gcc -o 'a b' 'it'\\''s' ''"
        );
    }

    #[test]
    fn bytes_that_are_not_utf8_are_escaped() {
        let cell = Cell::of_bytes(b"a\xff\"\t\xe4b");
        let of = |format| {
            let mut out = Vec::new();
            let mut rows = RowWriter::new(&mut out, format, &["n"]).unwrap();
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
            let mut rows = RowWriter::new(&mut out, format, &["n"]).unwrap();
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
