//! Names of the world, as they are drawn: in the order in which they are read, with a sign for what cannot be seen.
//!
//! egui shapes each section of a text in one direction. A text with letters that are written from right to left is cut
//! where the direction changes, by the Unicode bidirectional algorithm (UAX #9), and its pieces become sections from
//! left to right. Line ends, tabs and other control characters in names become signs, so that they neither break a line
//! nor vanish.

use std::borrow::Cow;
use std::sync::Arc;

use egui::text::{ByteIndex, LayoutJob, LayoutSection, TextFormat};
use egui::{
    Align, Align2, Color32, FontId, FontSelection, Galley, Pos2, Rect, RichText, Ui, WidgetText,
};
use unicode_bidi::{BidiClass, BidiInfo, bidi_class};

use crate::base::visible::is_active;

/// `text` with signs for line ends, tabs and what else cannot be seen.
#[must_use]
pub fn with_signs(text: &str) -> Cow<'_, str> {
    let needs_sign = |c: char| matches!(c, '\n' | '\r' | '\t') || is_active(c);
    if !text.contains(needs_sign) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => shown.push('↵'),
            '\t' => shown.push('→'),
            c if needs_sign(c) => shown.push_str(&format!("⟨{:02X}⟩", u32::from(c))),
            c => shown.push(c),
        }
    }
    shown.into()
}

/// Whether something in the text is written from right to left.
fn has_right_to_left(text: &str) -> bool {
    // All such letters have two bytes or more, of which the first is 0xD6 or more.
    let is_beyond = |byte: &u8| *byte >= 0xd6;
    text.as_bytes().iter().any(is_beyond)
        && text.chars().any(|c| {
            matches!(
                bidi_class(c),
                BidiClass::R | BidiClass::AL | BidiClass::AN | BidiClass::RLE | BidiClass::RLI
            )
        })
}

/// A text on one line, to be laid out by egui.
#[must_use]
pub fn job(text: &str, format: &TextFormat) -> LayoutJob {
    let mut job = LayoutJob {
        break_on_newline: false,
        ..LayoutJob::default()
    };
    append(&mut job, &with_signs(text), format);
    job
}

/// Adds a text in the order in which it is read.
fn append(job: &mut LayoutJob, text: &str, format: &TextFormat) {
    if !has_right_to_left(text) {
        return job.append(text, 0.0, format.clone());
    }
    let info = BidiInfo::new(text, None);
    for paragraph in &info.paragraphs {
        let (_, runs) = info.visual_runs(paragraph, paragraph.range.clone());
        for run in runs {
            // (`LayoutJob::append` makes one section of two that look alike.)
            let start = ByteIndex(job.text.len());
            job.text.push_str(text.get(run).unwrap_or_default());
            job.sections.push(LayoutSection {
                leading_space: 0.0,
                byte_range: start..ByteIndex(job.text.len()),
                format: format.clone(),
            });
        }
    }
}

/// A text of one line for a label or button.
#[must_use]
pub fn one_line(ui: &Ui, text: RichText) -> WidgetText {
    let whole = text.text().to_owned();
    let signed = with_signs(&whole);
    match (&signed, has_right_to_left(&signed)) {
        (Cow::Borrowed(_), false) => text.into(),
        _ => lines_of(ui, text, &[&signed]),
    }
}

/// A text of one or more lines for a label.
#[must_use]
pub fn lines(ui: &Ui, text: RichText) -> WidgetText {
    let whole = text.text().to_owned();
    let lines: Vec<Cow<'_, str>> = whole.split('\n').map(with_signs).collect();
    let is_plain =
        |line: &Cow<'_, str>| matches!(line, Cow::Borrowed(_)) && !has_right_to_left(line);
    if lines.iter().all(is_plain) {
        return text.into();
    }
    let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
    lines_of(ui, text, &lines)
}

/// The same for a link, which gives it its colour.
#[must_use]
pub fn link_lines(ui: &Ui, text: &str) -> WidgetText {
    match lines(ui, RichText::new(text).color(Color32::PLACEHOLDER)) {
        WidgetText::RichText(_) => text.into(),
        lines => lines,
    }
}

/// `lines` in the look of `text`.
fn lines_of(ui: &Ui, text: RichText, lines: &[&str]) -> WidgetText {
    let looks = WidgetText::from(text);
    let looks = looks.into_layout_job(ui.style(), FontSelection::Default, Align::Center);
    let format = looks.sections.first().map(|it| it.format.clone());
    let format = format.unwrap_or_default();
    let mut job = LayoutJob::default();
    for (number, line) in lines.iter().enumerate() {
        if number > 0 {
            job.append("\n", 0.0, format.clone());
        }
        append(&mut job, line, &format);
    }
    job.into()
}

/// A text on one line, laid out.
#[must_use]
pub fn line(painter: &egui::Painter, text: &str, font: &FontId, color: Color32) -> Arc<Galley> {
    painter.layout_job(job(text, &TextFormat::simple(font.clone(), color)))
}

/// Paints a text on one line; where it lies comes back.
pub fn text(
    painter: &egui::Painter,
    at: Pos2,
    anchor: Align2,
    text: &str,
    font: &FontId,
    color: Color32,
) -> Rect {
    let galley = line(painter, text, font, color);
    let place = anchor.anchor_size(at, galley.size());
    painter.galley(place.min, galley, color);
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<String> {
        let job = job(text, &TextFormat::default());
        let ranges = job.sections.iter().map(|it| it.byte_range.clone());
        ranges
            .map(|range| job.text[range.start.0..range.end.0].to_owned())
            .collect()
    }

    #[test]
    fn a_text_of_one_direction_is_one_section() {
        assert_eq!(pieces("vfs_read"), ["vfs_read"]);
        assert_eq!(pieces("Größe 数据 ✓"), ["Größe 数据 ✓"]);
        assert_eq!(pieces("שלום"), ["שלום"]);
    }

    #[test]
    fn letters_keep_their_order_beside_those_of_the_other_direction() {
        // Read from the left: the Latin word, then the Hebrew ones from their right end.
        assert_eq!(pieces("read שלום עולם"), ["read ", "שלום עולם"]);
        // The first letter decides where the line begins: what is said last stands at the left.
        assert_eq!(pieces("שלום read_all"), ["read_all", "שלום "]);
        assert_eq!(pieces("قرص sda1"), ["sda1", "قرص "]);
        // Numbers are read from the left.
        assert_eq!(pieces("שלום 123"), ["123", "שלום "]);
    }

    #[test]
    fn what_cannot_be_seen_has_a_sign() {
        assert_eq!(with_signs("a\nb\tc"), "a↵b→c");
        assert_eq!(with_signs("\x1b[31mred\u{202e}"), "⟨1B⟩[31mred⟨202E⟩");
        assert!(matches!(with_signs("plain é"), Cow::Borrowed(_)));
    }
}
