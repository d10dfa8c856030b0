//! Texts cut to fit.

use crate::gui::script;
use crate::gui::theme::Palette;
use egui::{Color32, FontId, Galley, Pos2, Rect, vec2};
use std::sync::Arc;

/// Lays out a text on one line, to be painted in any colour.
pub(super) fn line(painter: &egui::Painter, text: &str, font: &FontId) -> Arc<Galley> {
    script::line(painter, text, font, Color32::PLACEHOLDER)
}

/// A text made to fit.
pub(super) struct Fitted {
    /// The text as drawn.
    pub galley: Arc<Galley>,
    /// The cut text with an ellipsis; `None`: the text is complete.
    pub cut: Option<String>,
}

/// Longer texts, in bytes, are not function names and are not shortened as such.
const LONGEST_NAME: usize = 1 << 14;

/// Returns as much of `text` as fits, with an ellipsis if it was cut; empty if not even three letters fit.
pub(crate) fn elided(painter: &egui::Painter, text: &str, font: &FontId, room: f32) -> String {
    // Short texts fit by their length alone, without a layout.
    if text.len() as f32 * 9.0 <= room {
        return text.to_owned();
    }
    match fitted(painter, text, font, room) {
        Some(fitted) => fitted.cut.unwrap_or_else(|| text.to_owned()),
        None => String::new(),
    }
}

/// Lays out as much of a text as fits; `None` if not even three letters fit.
pub(super) fn fitted(
    painter: &egui::Painter,
    text: &str,
    font: &FontId,
    room: f32,
) -> Option<Fitted> {
    // Of a very long text only the start can fit: the rest is not laid out.
    let most = room.max(0.0) as usize + 8;
    let (text, is_whole) = match text.char_indices().nth(most) {
        Some((end, _)) => (&text[..end], false),
        None => (text, true),
    };
    let start = line(painter, text, font);
    let width = start.size().x;
    if is_whole && width <= room {
        return Some(Fitted {
            galley: start,
            cut: None,
        });
    }
    let mean = (width / text.chars().count().max(1) as f32).max(1.0);
    let mut count = (room / mean).floor() as usize;
    while count >= 3 {
        let short: String = text.chars().take(count - 1).chain(['…']).collect();
        let galley = line(painter, &short, font);
        if galley.size().x <= room {
            return Some(Fitted {
                galley,
                cut: Some(short),
            });
        }
        count -= 1;
    }
    None
}

/// Returns a function name shortened to fit: arguments, template arguments and namespaces are dropped first, in this
/// order.
pub(crate) fn elided_name(painter: &egui::Painter, name: &str, font: &FontId, room: f32) -> String {
    match fitted_name(painter, name, font, room) {
        Some(fitted) => fitted.cut.unwrap_or_else(|| name.to_owned()),
        None => String::new(),
    }
}

/// Lays out a function name shortened to fit; `None` if not even three letters fit.
pub(super) fn fitted_name(
    painter: &egui::Painter,
    name: &str,
    font: &FontId,
    room: f32,
) -> Option<Fitted> {
    let is_whole = |it: &Fitted| it.cut.is_none();
    let whole = fitted(painter, name, font, room);
    if whole.as_ref().is_some_and(is_whole) || name.len() > LONGEST_NAME {
        return whole;
    }
    let mut best = whole;
    for shorter in shorter_names(name) {
        best = fitted(painter, &shorter, font, room);
        if let Some(best) = best.as_mut().filter(|best| is_whole(best)) {
            best.cut = Some(shorter);
            break;
        }
    }
    best
}

/// Returns a function's name without its arguments, then also without angle brackets, then also without namespaces, or
/// without the folders of a path at its end.
fn shorter_names(name: &str) -> Vec<String> {
    let (count, plain) = match name.split_once(" × ") {
        Some((count, plain)) => (format!("{count} × "), plain),
        None => (String::new(), name),
    };
    let mut shorter = plain.to_owned();
    let mut forms = Vec::new();
    let mut keep = |form: &str, shorter: &mut String| {
        if !form.is_empty() && form != shorter {
            form.clone_into(shorter);
            forms.push(format!("{count}{form}"));
        }
    };
    if let Some((front, _)) = plain.rsplit_once('(')
        && plain.ends_with(')')
        && !front.ends_with("operator")
    {
        keep(front.trim_end(), &mut shorter);
    }
    let mut depth = 0_usize;
    let mut flat = String::with_capacity(shorter.len());
    for sign in shorter.chars() {
        match sign {
            '<' => depth += 1,
            '>' if depth > 0 => depth -= 1,
            _ if depth == 0 => flat.push(sign),
            _ => {}
        }
    }
    // Unbalanced brackets are not template arguments, and `operator<` has brackets in its name.
    if depth == 0 && !shorter.contains("operator") {
        keep(&flat, &mut shorter);
    }
    if let Some((_, last)) = shorter.clone().rsplit_once("::") {
        keep(last, &mut shorter);
    }
    let (front, word) = shorter.rsplit_once(' ').unwrap_or(("", &shorter));
    if let Some((_, file)) = word.rsplit_once('/')
        && !file.is_empty()
        && is_path(word)
    {
        let space = if front.is_empty() { "" } else { " " };
        let form = format!("{front}{space}{file}");
        keep(&form, &mut shorter);
    }
    forms
}

/// Returns whether a word with a slash is a path, not a kernel thread such as `kworker/0:1`.
fn is_path(word: &str) -> bool {
    word.starts_with(['/', '.']) || word.contains('.') || word.matches('/').count() > 1
}

/// Returns the size of a tag with this text, in points.
pub(super) fn tag_size(painter: &egui::Painter, text: &str) -> egui::Vec2 {
    line(painter, text, &FontId::proportional(11.5)).size() + vec2(10.0, 4.0)
}

pub(super) fn tag(painter: &egui::Painter, at: Pos2, text: &str, fill: Color32) -> Rect {
    let font = FontId::proportional(11.5);
    let color = Palette::text_on(fill);
    let galley = script::line(painter, text, &font, color);
    let rect = Rect::from_center_size(at, galley.size() + vec2(10.0, 4.0));
    painter.rect_filled(rect, 3, fill);
    painter.galley(rect.min + vec2(5.0, 2.0), galley, color);
    rect
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_shorter_step_by_step() {
        let forms = shorter_names("v8::internal::Heap::Collect<int, List<a>>(Space*, int)");
        let expected = [
            "v8::internal::Heap::Collect<int, List<a>>",
            "v8::internal::Heap::Collect",
            "Collect",
        ];
        assert_eq!(forms, expected);
        assert_eq!(
            shorter_names("12 × std::sort(a, b)"),
            ["12 × std::sort", "12 × sort"]
        );
        assert!(shorter_names("vfs_write").is_empty());
        assert!(shorter_names("a < b").is_empty());
        assert_eq!(shorter_names("X::operator()"), ["operator()"]);
        let target = "CMakeFiles/shop.dir/src/main.cpp.o";
        assert_eq!(shorter_names(target), ["main.cpp.o"]);
        assert_eq!(shorter_names("cc1 src/lvm.c"), ["cc1 lvm.c"]);
        assert!(shorter_names("folder/").is_empty());
    }
}
