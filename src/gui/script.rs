//! Draws text of any script: in reading order, with visible symbols for invisible characters.
//!
//! egui shapes each section of a text in one direction. Text with right-to-left letters is therefore split where the
//! direction changes, by the Unicode bidirectional algorithm (UAX #9), and its pieces become sections from left to
//! right. Line ends, tabs and other control characters in names become symbols, so that they neither break a line nor
//! vanish.

use std::borrow::Cow;
use std::sync::Arc;

use egui::text::{ByteIndex, LayoutJob, LayoutSection, TextFormat};
use egui::{
    Align, Align2, Color32, FontId, FontSelection, Galley, Pos2, Rect, RichText, Ui, WidgetText,
};
use unicode_bidi::{BidiClass, BidiInfo, bidi_class};

use crate::base::visible::is_active;

/// Returns whether a character is drawn as a symbol.
fn needs_sign(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\t') || is_active(c)
}

/// Returns whether egui draws a line of text correctly without changes.
fn is_plain(line: &str) -> bool {
    !line.contains(needs_sign) && !has_right_to_left(line)
}

/// Returns `text` with symbols for line ends, tabs and other invisible characters.
#[must_use]
pub(crate) fn with_signs(text: &str) -> Cow<'_, str> {
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

/// Returns whether a part of the text is written from right to left.
fn has_right_to_left(text: &str) -> bool {
    // All such letters have at least two bytes in UTF-8, the first of which is at least 0xD6.
    let is_beyond = |byte: &u8| *byte >= 0xd6;
    text.as_bytes().iter().any(is_beyond)
        && text.chars().any(|c| {
            matches!(
                bidi_class(c),
                BidiClass::R | BidiClass::AL | BidiClass::AN | BidiClass::RLE | BidiClass::RLI
            )
        })
}

/// Returns a layout job for a text on one line.
#[must_use]
pub(crate) fn job(text: &str, format: &TextFormat) -> LayoutJob {
    let mut job = LayoutJob {
        break_on_newline: false,
        ..LayoutJob::default()
    };
    append(&mut job, &with_signs(text), format);
    job
}

/// Appends a text in visual order.
fn append(job: &mut LayoutJob, text: &str, format: &TextFormat) {
    if !has_right_to_left(text) {
        return job.append(text, 0.0, format.clone());
    }
    let info = BidiInfo::new(text, None);
    for paragraph in &info.paragraphs {
        let (_, runs) = info.visual_runs(paragraph, paragraph.range.clone());
        for run in runs {
            // Pushed as a section: `LayoutJob::append` would merge two sections of equal format.
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

/// Returns a text on one line, for a label or button.
#[must_use]
pub(crate) fn one_line(ui: &Ui, text: RichText) -> WidgetText {
    if is_plain(text.text()) {
        return text.into();
    }
    let signed = with_signs(text.text()).into_owned();
    lines_of(ui, text, &[&signed])
}

/// Returns a text of one or more lines, for a label.
#[must_use]
pub(super) fn lines(ui: &Ui, text: RichText) -> WidgetText {
    if text.text().split('\n').all(is_plain) {
        return text.into();
    }
    let whole = text.text().to_owned();
    let lines: Vec<Cow<'_, str>> = whole.split('\n').map(with_signs).collect();
    let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
    lines_of(ui, text, &lines)
}

/// Returns a text of one or more lines for a link, which sets its colour.
#[must_use]
pub(crate) fn link_lines(ui: &Ui, text: &str) -> WidgetText {
    match lines(ui, RichText::new(text).color(Color32::PLACEHOLDER)) {
        WidgetText::RichText(_) => text.into(),
        lines => lines,
    }
}

/// Returns `lines` in the style of `text`.
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

/// Lays out a text on one line.
#[must_use]
pub(super) fn line(
    painter: &egui::Painter,
    text: &str,
    font: &FontId,
    color: Color32,
) -> Arc<Galley> {
    painter.layout_job(job(text, &TextFormat::simple(font.clone(), color)))
}

/// Paints a text on one line; returns its rectangle.
pub(super) fn text(
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
        // From the left: the Latin word, then the Hebrew words, which read from their right end.
        assert_eq!(pieces("read שלום עולם"), ["read ", "שלום עולם"]);
        // The first letter decides the direction of the line: with Hebrew first, the last word is at the left.
        assert_eq!(pieces("שלום read_all"), ["read_all", "שלום "]);
        assert_eq!(pieces("قرص sda1"), ["sda1", "قرص "]);
        // Numbers read from left to right.
        assert_eq!(pieces("שלום 123"), ["123", "שלום "]);
    }

    #[test]
    fn what_cannot_be_seen_has_a_sign() {
        assert_eq!(with_signs("a\nb\tc"), "a↵b→c");
        assert_eq!(with_signs("\x1b[31mred\u{202e}"), "⟨1B⟩[31mred⟨202E⟩");
        assert!(matches!(with_signs("plain é"), Cow::Borrowed(_)));
    }
}
