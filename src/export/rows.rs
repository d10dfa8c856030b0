//! Rows of cells as TSV, CSV or JSON.

use std::io::Write;

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

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// Tabs between cells; `\t`, `\n`, `\r`, `\\` in texts.
    Tsv,
    /// RFC 4180.
    Csv,
    /// An array of objects.
    Json,
}

/// Writes a header and rows.
pub struct RowWriter<'a> {
    out: &'a mut dyn Write,
    format: RowFormat,
    columns: &'a [&'a str],
    count: u64,
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
            RowFormat::Csv => write!(out, "{}\r\n", columns.join(","))?,
            RowFormat::Json => write!(out, "[")?,
        }
        Ok(RowWriter {
            out,
            format,
            columns,
            count: 0,
        })
    }

    /// Writes a row; its cells stand in the order of the columns.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn row(&mut self, cells: &[Cell]) -> std::io::Result<()> {
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
            RowFormat::Csv => {
                for (i, cell) in cells.iter().enumerate() {
                    if i > 0 {
                        self.out.write_all(b",")?;
                    }
                    write_csv(self.out, cell)?;
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
            if !text.contains(['\t', '\n', '\r', '\\']) {
                return out.write_all(text.as_bytes());
            }
            let escaped = text
                .replace('\\', "\\\\")
                .replace('\t', "\\t")
                .replace('\n', "\\n")
                .replace('\r', "\\r");
            out.write_all(escaped.as_bytes())
        }
    }
}

fn write_csv(out: &mut dyn Write, cell: &Cell) -> std::io::Result<()> {
    match cell {
        Cell::None => Ok(()),
        Cell::Int(value) => write!(out, "{value}"),
        Cell::Float(value) => write!(out, "{value}"),
        Cell::Text(text) if text.contains(['"', ',', '\n', '\r']) => {
            write!(out, "\"{}\"", text.replace('"', "\"\""))
        }
        Cell::Text(text) => out.write_all(text.as_bytes()),
    }
}

fn write_json(out: &mut dyn Write, cell: &Cell) -> std::io::Result<()> {
    match cell {
        Cell::None => out.write_all(b"null"),
        Cell::Int(value) => write!(out, "{value}"),
        Cell::Float(value) if value.is_finite() => write!(out, "{value}"),
        Cell::Float(value) => write!(out, "\"{value}\""),
        Cell::Text(text) => Ok(serde_json::to_writer(out, text)?),
    }
}

/// Arguments on one line, quoted as a shell would need.
pub fn shell_line<'a>(arguments: impl Iterator<Item = std::borrow::Cow<'a, str>>) -> String {
    let mut line = String::new();
    for argument in arguments {
        if !line.is_empty() {
            line.push(' ');
        }
        let is_plain = !argument.is_empty()
            && argument
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-./=+:,@%".contains(c));
        if is_plain {
            line.push_str(&argument);
        } else {
            line.push('\'');
            line.push_str(&argument.replace('\'', "'\\''"));
            line.push('\'');
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
            written(RowFormat::Csv),
            "ts,name\r\n7,\"a\t\"\"b\"\", \\\"\r\n,plain\r\n"
        );
        let json: serde_json::Value = serde_json::from_str(&written(RowFormat::Json)).unwrap();
        assert_eq!(json[0]["name"], "a\t\"b\", \\");
        assert!(json[1]["ts"].is_null());
    }

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        let line = shell_line(["gcc", "-o", "a b", "it's", ""].into_iter().map(Into::into));
        assert_eq!(line, "gcc -o 'a b' 'it'\\''s' ''");
    }
}
