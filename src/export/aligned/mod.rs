//! Rows of cells as a table for a person: aligned columns with titles and units, cut to a terminal's width.
//!
//! ```text
//! Name          Count       Sum   Share (%)      texts left, numbers right, durations with their units
//! read          1 204  1.500 ms       12.50
//! ```
//!
//! The first rows are measured before any row is written; later rows are written as they come: a table of any length
//! needs the memory of its first rows only. Where a line does not fit, columns that contain only zeros and empty cells
//! are left out first, then texts are cut, the longest first, then columns are left out by their weight. The last line
//! names the columns that were left out.

use std::io::Write;

use unicode_width::UnicodeWidthChar as _;

use crate::base::time::grouped;
use crate::base::visible::one_line;
use crate::base::{Nanos, Timestamp};
use crate::event::part::ClockUnit;
use crate::tables::columns::Weight;
use crate::tables::{Cell, ColumnDef, ColumnKind, Unit};

/// How a table for a person looks, whatever its rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// The width of a line, in characters.
    pub width: usize,
    /// Whether text is coloured with escape sequences.
    pub colours: Colours,
    /// The time that is shown as zero.
    pub start: Timestamp,
    /// The unit of times.
    pub clock: ClockUnit,
}

/// Whether text is coloured with escape sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// Coloured with ANSI escape sequences.
    Ansi,
    /// Without escape sequences.
    Plain,
}

/// The role of a piece of text, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// A heading.
    Heading,
    /// Text that matters less than the text around it.
    Dim,
    /// An error or a warning.
    Trouble,
    /// Plain text.
    Normal,
}

impl Colours {
    /// Returns the text in the colour of `tone`.
    #[must_use]
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        let code = match (self, tone) {
            (Colours::Plain, _) | (_, Tone::Normal) => return text.to_owned(),
            (Colours::Ansi, Tone::Heading) => "1",
            (Colours::Ansi, Tone::Dim) => "2",
            (Colours::Ansi, Tone::Trouble) => "1;31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// The width of a text in columns of a terminal.
#[must_use]
pub(crate) fn width_of(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    match c {
        // This variation selector may double the width of the character before it.
        '\u{fe0f}' => 1,
        c => c.width().unwrap_or(0),
    }
}

/// Returns the text, or its beginning and an ellipsis, in at most `width` columns.
#[must_use]
pub(crate) fn cut(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let mut short = String::new();
    for c in text.chars() {
        let Some(rest) = left.checked_sub(char_width(c)) else {
            break;
        };
        left = rest;
        short.push(c);
    }
    if width > 0 {
        short.push('…');
    }
    short
}

/// Returns the text, or an ellipsis and its end, in at most `width` columns.
#[must_use]
pub(crate) fn cut_front(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let mut from = text.len();
    for (at, c) in text.char_indices().rev() {
        let Some(rest) = left.checked_sub(char_width(c)) else {
            break;
        };
        left = rest;
        from = at;
    }
    let ellipsis = if width > 0 { "…" } else { "" };
    format!("{ellipsis}{}", text.get(from..).unwrap_or_default())
}

/// The number of rows that are measured before the first is written.
const MEASURED: usize = 1_000;
const GAP: usize = 2;
/// The least width of a text column of low weight.
const MINOR_TEXT: usize = 8;
const NONE: &str = "–";

/// A cell as it is displayed.
#[derive(Clone, Debug)]
struct Shown {
    text: String,
    width: usize,
    is_none: bool,
    /// Whether the value is missing, zero or "no": a column that contains only such cells can be left out.
    is_nothing: bool,
}

/// A cell at its place in a line.
struct Placed {
    place: Place,
    cell: Shown,
}

/// A column that is displayed.
#[derive(Clone, Copy, Debug)]
struct Place {
    index: usize,
    width: usize,
}

/// Writes a table for a person.
#[derive(Debug)]
pub(crate) struct Aligned<'a> {
    look: Look,
    columns: &'a [ColumnDef<'a>],
    waiting: Vec<Vec<Shown>>,
    places: Option<Vec<Place>>,
}

impl<'a> Aligned<'a> {
    /// Returns a table with these columns.
    #[must_use]
    pub(crate) fn new(columns: &'a [ColumnDef<'a>], look: Look) -> Aligned<'a> {
        Aligned {
            look,
            columns,
            waiting: Vec::new(),
            places: None,
        }
    }

    /// Adds a row; rows are written once the first rows have been measured.
    ///
    /// # Errors
    /// Errors of `out`.
    pub(crate) fn row(&mut self, out: &mut dyn Write, cells: &[Cell<'_>]) -> std::io::Result<()> {
        let row: Vec<Shown> = self
            .columns
            .iter()
            .zip(cells)
            .map(|(column, cell)| shown(column, cell, &self.look))
            .collect();
        match &self.places {
            Some(places) => out.write_all(self.line(places, &row).as_bytes()),
            None => {
                self.waiting.push(row);
                match self.waiting.len() {
                    MEASURED => self.begin(out),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Writes the remaining rows, and a line that names the columns that did not fit.
    ///
    /// # Errors
    /// Errors of `out`.
    pub(crate) fn finish(mut self, out: &mut dyn Write) -> std::io::Result<()> {
        if self.places.is_none() {
            let is_empty = self.waiting.is_empty();
            self.begin(out)?;
            if is_empty {
                self.note(out, "no rows")?;
            }
        }
        let places = self.places.as_deref().unwrap_or_default();
        let is_shown = |index: &usize| places.iter().any(|place| place.index == *index);
        let hidden: Vec<&str> = (0..self.columns.len())
            .filter(|index| !is_shown(index))
            .filter_map(|index| self.columns.get(index))
            .map(|column| column.name)
            .collect();
        let count = hidden.len();
        match count {
            0 => Ok(()),
            1 => self.note(out, &format!("not shown (--format tsv): {}", hidden[0])),
            _ => {
                let names = hidden.join(", ");
                self.note(out, &format!("{count} not shown (--format tsv): {names}"))
            }
        }
    }

    fn note(&self, out: &mut dyn Write, words: &str) -> std::io::Result<()> {
        let words = cut(words, self.look.width);
        writeln!(out, "{}", self.look.colours.paint(Tone::Dim, &words))
    }

    fn begin(&mut self, out: &mut dyn Write) -> std::io::Result<()> {
        let places = self.places_of();
        let mut text = self.heading(&places);
        for row in std::mem::take(&mut self.waiting) {
            text.push_str(&self.line(&places, &row));
        }
        self.places = Some(places);
        out.write_all(text.as_bytes())
    }

    /// Returns the columns that fit, with their widths.
    fn places_of(&self) -> Vec<Place> {
        let natural = |index: usize| {
            let cells = self.waiting.iter().filter_map(|row| row.get(index));
            let widest = cells.map(|cell| cell.width).max().unwrap_or(0);
            widest.max(width_of(&self.title(index)))
        };
        let mut places: Vec<Place> = (0..self.columns.len())
            .map(|index| Place {
                index,
                width: natural(index),
            })
            .collect();
        let is_empty = |place: &Place| {
            let mut cells = self.waiting.iter().filter_map(|row| row.get(place.index));
            !self.waiting.is_empty() && cells.all(|cell| cell.is_nothing)
        };
        if total(&places, |place| place.width) > self.look.width {
            places.retain(|place| !is_empty(place));
        }
        for (weight, least) in [(Weight::Minor, 24), (Weight::Main, 16), (Weight::Key, 16)] {
            let room = |place: &Place| self.least(place, least);
            while places.len() > 1 && total(&places, room) > self.look.width {
                let is_such = |place: &Place| self.weight(place) == weight;
                let Some(last) = places.iter().rposition(is_such) else {
                    break;
                };
                places.remove(last);
            }
        }
        self.shrink(&mut places);
        places
    }

    /// Cuts texts to a common width until the line fits, those of low weight first.
    fn shrink(&self, places: &mut [Place]) {
        for (weight, least) in [(Weight::Minor, MINOR_TEXT), (Weight::Main, 0)] {
            let widest = places.iter().map(|place| place.width).max().unwrap_or(0);
            let at = |place: &Place, most: usize| {
                let is_meant = weight != Weight::Minor || self.weight(place) == weight;
                match is_meant && self.is_text(place) {
                    true => place.width.min(most),
                    false => place.width,
                }
            };
            let fits = |most: &usize| total(places, |place| at(place, *most)) <= self.look.width;
            let most = (least..=widest.max(least))
                .rev()
                .find(fits)
                .unwrap_or(least);
            let widths: Vec<usize> = places.iter().map(|place| at(place, most)).collect();
            for (place, width) in places.iter_mut().zip(widths) {
                place.width = width.min(self.look.width.max(1));
            }
        }
    }

    /// The least width of a column, where text columns have at least `least`; numbers are never cut.
    fn least(&self, place: &Place, least: usize) -> usize {
        let least = match (self.is_text(place), self.weight(place)) {
            (true, Weight::Minor) => least.min(MINOR_TEXT),
            (true, _) => least,
            (false, _) => place.width,
        };
        least.min(place.width)
    }

    fn is_text(&self, place: &Place) -> bool {
        matches!(self.kind(place), ColumnKind::Text | ColumnKind::Path)
    }

    /// The heading of a column, with the unit if its cells have none.
    fn title(&self, index: usize) -> String {
        let Some(column) = self.columns.get(index) else {
            return String::new();
        };
        let unit = match (column.unit, column.kind, self.look.clock) {
            (Unit::Nanoseconds, ColumnKind::Time, ClockUnit::Nanoseconds) => "s",
            (Unit::None | Unit::Nanoseconds, _, _) => return column.title.to_owned(),
            (Unit::Bytes, _, _) => "bytes",
            (Unit::PerSecond, _, _) => "1/s",
            (Unit::Percent | Unit::Change, _, _) => "%",
        };
        format!("{} ({unit})", column.title)
    }

    fn kind(&self, place: &Place) -> ColumnKind {
        let column = self.columns.get(place.index);
        column.map_or(ColumnKind::Text, |column| column.kind)
    }

    fn weight(&self, place: &Place) -> Weight {
        let column = self.columns.get(place.index);
        column.map_or(Weight::Main, |column| column.weight)
    }

    fn heading(&self, places: &[Place]) -> String {
        let cells = places.iter().map(|place| {
            let text = self.title(place.index);
            let width = width_of(&text);
            let cell = Shown {
                text,
                width,
                is_none: false,
                is_nothing: false,
            };
            Placed {
                place: *place,
                cell,
            }
        });
        self.joined(cells, Tone::Heading)
    }

    fn line(&self, places: &[Place], row: &[Shown]) -> String {
        let cells = places.iter().filter_map(|place| {
            Some(Placed {
                place: *place,
                cell: row.get(place.index)?.clone(),
            })
        });
        self.joined(cells, Tone::Normal)
    }

    /// Joins cells to a line. A number wider than the measured ones takes space from the cells after it.
    fn joined(&self, cells: impl Iterator<Item = Placed>, tone: Tone) -> String {
        let mut line = String::new();
        // Where the text ends, and where it would end if every cell had its planned width.
        let (mut at, mut due) = (0, 0);
        // Pending spaces: written only if text follows, so that lines do not end in spaces.
        let mut blank = 0;
        for Placed { place, cell } in cells {
            let gap = if due == 0 { 0 } else { GAP };
            let begin = at + gap;
            due += gap + place.width;
            let is_text = self.is_text(&place);
            let left = match is_text {
                true => due.saturating_sub(begin),
                false => self.look.width.saturating_sub(begin),
            };
            let text = match (cell.width > left, self.kind(&place)) {
                (false, _) => cell.text,
                (true, ColumnKind::Path) => cut_front(&cell.text, left),
                (true, ColumnKind::Text) => cut(&cell.text, left),
                // Half a number would read as another number.
                (true, _) => cut("…", left),
            };
            let width = width_of(&text);
            let before = match is_text {
                true => 0,
                false => due.saturating_sub(begin + width),
            };
            let tone = match cell.is_none {
                true => Tone::Dim,
                false => tone,
            };
            let drawn = text.trim_end();
            at = (begin + before + width).max(due);
            if drawn.is_empty() {
                blank += at + gap - begin;
                continue;
            }
            line.extend(std::iter::repeat_n(' ', blank + gap + before));
            line.push_str(&self.look.colours.paint(tone, drawn));
            blank = at - (begin + before + width_of(drawn));
        }
        line.push('\n');
        line
    }
}

fn total(places: &[Place], width: impl Fn(&Place) -> usize) -> usize {
    let gaps = GAP * places.len().saturating_sub(1);
    gaps + places.iter().map(width).sum::<usize>()
}

fn shown(column: &ColumnDef<'_>, cell: &Cell<'_>, look: &Look) -> Shown {
    let text = match cell {
        Cell::None | Cell::AtLeast(_) => {
            return Shown {
                text: NONE.to_owned(),
                width: 1,
                is_none: true,
                is_nothing: true,
            };
        }
        Cell::Text(text) => one_line(text).replace('\t', "\\t"),
        Cell::Float(value) => number_text(column.unit, *value),
        Cell::Int(value) => match i64::try_from(*value) {
            Ok(value) => whole_text(column, value, look),
            // Only a sum of many durations exceeds the range of a duration.
            Err(_) => value.to_string(),
        },
    };
    Shown {
        width: width_of(&text),
        text,
        is_none: false,
        is_nothing: matches!(cell, Cell::Int(0))
            && !matches!(
                column.kind,
                ColumnKind::Key | ColumnKind::Row | ColumnKind::Code
            ),
    }
}

fn whole_text(column: &ColumnDef<'_>, value: i64, look: &Look) -> String {
    match column.kind {
        ColumnKind::Time => time_text(Timestamp(value), look),
        ColumnKind::Duration => {
            let text = look.clock.column_length_text(Nanos(value));
            // Padding aligns the decimal point of seconds with that of ms and µs.
            match text.ends_with(" s") {
                true => text + " ",
                false => text,
            }
        }
        ColumnKind::Count => grouped(value),
        ColumnKind::Flag => if value == 0 { "no" } else { "yes" }.to_owned(),
        ColumnKind::Number => number_text(column.unit, value as f64),
        ColumnKind::Key
        | ColumnKind::Row
        | ColumnKind::Code
        | ColumnKind::Text
        | ColumnKind::Path => value.to_string(),
    }
}

/// Returns a time since the trace's start as text that `--from` accepts.
fn time_text(time: Timestamp, look: &Look) -> String {
    let since = time - look.start;
    match look.clock {
        ClockUnit::Nanoseconds => Timestamp(since.0).to_string(),
        _ => grouped(since.0),
    }
}

fn number_text(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Percent => format!("{value:.2}"),
        Unit::Change => format!("{:.2}", value * 100.0),
        // Integers up to here are exact in a double.
        _ if value.fract() == 0.0 && value.abs() < 9e15 => grouped(value as i64),
        _ if value.abs() >= 0.001 && value.abs() < 9e15 => format!("{value:.3}"),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests;
