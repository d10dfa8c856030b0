//! Cells as TSV, CSV and JSON write them.

use std::io::Write;

use super::rows::Formulas;
use crate::base::visible::{Visible, harmless};
use crate::tables::Cell;

/// Returns cells as a line of tab-separated text, with its line end.
#[must_use]
pub(crate) fn tsv_line(cells: &[Cell<'_>]) -> String {
    let mut line = Vec::new();
    for (i, cell) in cells.iter().enumerate() {
        if i > 0 {
            line.push(b'\t');
        }
        // Writing to memory does not fail.
        let _never_fails = append_tsv(&mut line, cell);
    }
    line.push(b'\n');
    String::from_utf8_lossy(&line).into_owned()
}

/// Appends a whole number. Numbers of more than 64 bits are rare and take four times as long.
pub(super) fn append_int(out: &mut Vec<u8>, value: i128) -> std::io::Result<()> {
    match i64::try_from(value) {
        Ok(value) => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
        Err(_) => write!(out, "{value}")?,
    }
    Ok(())
}

/// Returns whether no format escapes anything in a text: most names are like that. Eight bytes are compared at a time.
pub(super) fn is_plain(text: &str) -> bool {
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
    // Sets the top bit of each byte that is less than `limit`, and possibly of bytes above such a byte.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let equals = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let odd = word | below(word, b' ') | equals(0x7f) | equals(b'\\') | equals(b'"') | equals(b',');
    odd & TOPS == 0
}

pub(super) fn append_tsv(out: &mut Vec<u8>, cell: &Cell<'_>) -> std::io::Result<()> {
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

pub(super) fn append_csv(
    out: &mut Vec<u8>,
    cell: &Cell<'_>,
    formulas: Formulas,
) -> std::io::Result<()> {
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

pub(super) fn append_json(out: &mut Vec<u8>, cell: &Cell<'_>) -> std::io::Result<()> {
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
