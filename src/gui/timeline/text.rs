//! Texts that must fit.

use crate::gui::theme::Palette;
use egui::{Color32, FontId, Pos2, Rect, vec2};

/// As much of `text` as fits, with an ellipsis where it was cut; nothing if not even three letters fit.
pub fn elided(painter: &egui::Painter, text: &str, font: &FontId, room: f32) -> String {
    let width = |text: &str| {
        painter
            .layout_no_wrap(text.to_owned(), font.clone(), Color32::WHITE)
            .size()
            .x
    };
    // Most texts are judged by their length alone.
    if text.len() as f32 * 9.0 <= room || width(text) <= room {
        return text.to_owned();
    }
    let mean = (width(text) / text.chars().count().max(1) as f32).max(1.0);
    let mut count = (room / mean).floor() as usize;
    while count >= 3 {
        let short: String = text.chars().take(count - 1).chain(['…']).collect();
        if width(&short) <= room {
            return short;
        }
        count -= 1;
    }
    String::new()
}

pub(super) fn tag(painter: &egui::Painter, at: Pos2, text: &str, fill: Color32) -> Rect {
    let font = FontId::proportional(11.5);
    let color = Palette::text_on(fill);
    let galley = painter.layout_no_wrap(text.to_owned(), font, color);
    let rect = Rect::from_center_size(at, galley.size() + vec2(10.0, 4.0));
    painter.rect_filled(rect, 3, fill);
    painter.galley(rect.min + vec2(5.0, 2.0), galley, color);
    rect
}
