//! Shortens texts for display: a name may have a hundred million bytes.

use std::borrow::Cow;

use super::script::one_line;
use crate::base::time::grouped;

/// Longest text that is shown in full, in bytes.
const MOST_BYTES: usize = 2_000;

/// Returns `text`, or its start and its length.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= MOST_BYTES {
        return text.into();
    }
    let start = text.get(..text.floor_char_boundary(MOST_BYTES));
    let start = start.unwrap_or_default();
    format!("{start}… ({} bytes)", grouped(text.len() as i64)).into()
}

/// Draws a text on one line of at most `most` points; if it is cut, its tooltip has all of it.
pub(crate) fn line_within(ui: &mut egui::Ui, text: egui::RichText, most: f32) -> egui::Response {
    let full = text.text().to_owned();
    let wrap = Some(egui::TextWrapMode::Truncate);
    let text = one_line(ui, text);
    let galley = text.into_galley(ui, wrap, most, egui::FontSelection::Default);
    let is_cut = galley.elided;
    let response = ui.label(galley);
    if is_cut {
        response.on_hover_text(full)
    } else {
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_texts_are_cut_and_not_within_a_letter() {
        assert_eq!(shortened("short"), "short");
        let long = format!("x{}", "é".repeat(2_000));
        let shown = shortened(&long);
        let end = format!("é… ({} bytes)", grouped(4_001));
        assert!(shown.starts_with("xé") && shown.ends_with(&end), "{shown}");
        assert!(shown.len() < 2_100);
    }
}
