//! Drop targets for files dragged over the window: one opens them, one adds them to the current trace.

use super::desktop::Desktop;
use super::drag_pointer::DragPointer;
use super::theme::Palette;
use crate::view::{Action, Effect};
use egui::{Align2, FontId, Rect, Stroke, StrokeKind, vec2};
use std::path::{Path, PathBuf};

/// Space around and between the targets, in points.
const MARGIN: f32 = 24.0;
/// Space above two targets for the names of the files, in points.
const HEADING: f32 = 24.0;

/// Whether the dragged file is over a target.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    It,
    Another,
}

/// What is done with dropped files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Target {
    #[default]
    Open,
    Add,
}

/// The drop targets, while files are dragged over the window.
#[derive(Default)]
pub(super) struct DropTargets {
    pointer: DragPointer,
    /// The target last under the pointer.
    under_pointer: Target,
}

impl DropTargets {
    /// Returns what happens with dropped files: it depends on what they were dropped on.
    pub(super) fn dropped(&self, paths: Vec<PathBuf>) -> Action {
        match self.under_pointer {
            Target::Open => Action::Do(Effect::Open(paths)),
            Target::Add => Action::Do(Effect::Add(paths)),
        }
    }

    /// Draws the targets while files are dragged over the window; `shown` is the name of the open trace.
    pub(super) fn ui(
        &mut self,
        ctx: &egui::Context,
        desktop: Desktop,
        shown: Option<&str>,
        palette: &Palette,
    ) {
        let name = |path: &Path| {
            path.file_name()
                .map(|name| name.to_string_lossy().into_owned())
        };
        let hovered: Vec<String> = ctx.input(|input| {
            let files = input.raw.hovered_files.iter();
            let names = files.map(|file| file.path.as_deref().and_then(name));
            names.map(Option::unwrap_or_default).collect()
        });
        if hovered.is_empty() {
            return self.pointer.rest();
        }
        let names = hovered.join(", ");
        let place = self.pointer.position(ctx, desktop);
        let rect = ctx.content_rect();
        let painter = ctx.layer_painter(egui::LayerId::new(
            egui::Order::Foreground,
            egui::Id::unique("drop"),
        ));
        painter.rect_filled(rect, 0, palette.canvas.gamma_multiply(0.96));
        let inner = rect.shrink(MARGIN);
        let (Some(shown), Some(place)) = (shown, place) else {
            // Without a trace there is nothing to add to; without a position, no choice between targets.
            self.under_pointer = Target::Open;
            let words = format!("Drop to open {names}");
            let more = match shown {
                Some(_) => "To add it to this axis: File > Add a trace to this axis",
                None => "",
            };
            return target_ui(&painter, inner, [&words, more], Over::It, palette);
        };
        let at = inner.center_top() + vec2(0.0, HEADING / 2.0);
        let font = FontId::proportional(16.0);
        painter.text(at, Align2::CENTER_CENTER, names, font, palette.text);
        let inner = inner.with_min_y(inner.top() + HEADING + MARGIN / 2.0);
        let (left, right) = inner.split_left_right_at_fraction(0.5);
        let left = left.with_max_x(left.right() - MARGIN / 2.0);
        let right = right.with_min_x(right.left() + MARGIN / 2.0);
        self.under_pointer = match place.x < inner.center().x {
            true => Target::Open,
            false => Target::Add,
        };
        let on = |target| match self.under_pointer == target {
            true => Over::It,
            false => Over::Another,
        };
        let open = format!("in place of {shown}");
        let add = format!("beside {shown}");
        let words = ["Open", &open];
        target_ui(&painter, left, words, on(Target::Open), palette);
        let words = ["Add to this axis", &add];
        target_ui(&painter, right, words, on(Target::Add), palette);
    }
}

/// Draws one target with two lines of text.
fn target_ui(
    painter: &egui::Painter,
    rect: Rect,
    [words, more]: [&str; 2],
    over: Over,
    palette: &Palette,
) {
    let (width, color) = match over {
        Over::It => (3.0, palette.accent),
        Over::Another => (1.0, palette.weak),
    };
    if over == Over::It {
        painter.rect_filled(rect, 10, palette.accent.gamma_multiply(0.12));
    }
    painter.rect_stroke(rect, 10, Stroke::new(width, color), StrokeKind::Inside);
    let room = rect.width() - 40.0;
    let mut y = rect.center().y - 24.0;
    for (words, size, color) in [(words, 22.0, palette.text), (more, 14.0, palette.weak)] {
        let font = FontId::proportional(size);
        let galley = painter.layout(words.to_owned(), font, color, room);
        let at = egui::pos2(rect.center().x - galley.size().x / 2.0, y);
        y += galley.size().y + 6.0;
        painter.galley(at, galley, color);
    }
}
