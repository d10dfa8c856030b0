//! The legend: meaning of the timeline's colours and patterns, drawn by the same code as on the lanes.

use super::flows::paint_arrow;
use super::gaps::{Look, paint_gap};
use super::open_ends::Fading;
use crate::gui::theme::Palette;
use crate::gui::tint::Tint;
use crate::trace::ThreadState;
use crate::view::{Action, ViewState};
use egui::{Color32, Rect, RichText, Sense, Stroke, Ui, pos2, vec2};

/// Size of a swatch, in points.
const SWATCH: egui::Vec2 = vec2(30.0, 12.0);
/// Font size.
const SIZE: f32 = 12.0;
/// Windows at least this wide, in points, show states and the other signs side by side.
const WIDE: f32 = 800.0;

type Paint = fn(&egui::Painter, Rect, &Palette);

/// Signs besides states: how to draw them, what they are, and a remark.
const SIGNS: &[(Paint, &str, &str)] = &[
    (names, "threads, slices, interrupts", "by their names"),
    (
        seen,
        "paler thread on a CPU",
        "its events name it; switches were not recorded",
    ),
    (
        stacked,
        "several in one pixel",
        "height: how much of the time each takes",
    ),
    (
        band_of_points,
        "many events in one pixel",
        "the higher, the more",
    ),
    (
        unfinished,
        "fades out",
        "unfinished: its end was not recorded",
    ),
    (
        doubtful,
        "mixed with red, “?”",
        "events were lost meanwhile",
    ),
    (lost, "hatched", "events were lost: nothing is known"),
    (
        band,
        "reddish band",
        "events were lost, on which CPU is unknown",
    ),
    (points, "event", "a point in time"),
    (counter, "counter", "its value over time"),
    (arrow, "arrow", "a flow, or who woke whom"),
    (found, "match", "found by the search"),
    (
        chain,
        "line below a process",
        "on the critical chain of the build",
    ),
    (range, "tinted", "the selected range"),
    (marks, "lines A and B", "the two markers"),
    (
        overview,
        "overview",
        "number of events, and how busy the CPUs are",
    ),
];

/// Draws the legend, if it is open.
pub(crate) fn legend_ui(
    ctx: &egui::Context,
    state: &ViewState,
    palette: &Palette,
    actions: &mut Vec<Action>,
) {
    if !state.is_legend_open {
        return;
    }
    let window = ctx.content_rect();
    egui::Window::new("Legend")
        .resizable(false)
        .collapsible(false)
        .pivot(egui::Align2::RIGHT_BOTTOM)
        .title_bar(false)
        .default_pos(window.right_bottom() - vec2(16.0, 44.0))
        .show(ctx, |ui| {
            ui.spacing_mut().interact_size.y = 0.0;
            egui::ScrollArea::vertical()
                .max_height((window.height() - 120.0).max(120.0))
                .show(ui, |ui| match window.width() >= WIDE {
                    true => {
                        ui.horizontal_top(|ui| {
                            ui.vertical(|ui| states_ui(ui, palette));
                            ui.add_space(14.0);
                            ui.vertical(|ui| signs_ui(ui, palette));
                        });
                    }
                    false => {
                        states_ui(ui, palette);
                        ui.add_space(8.0);
                        signs_ui(ui, palette);
                    }
                });
            ui.add_space(4.0);
            ui.horizontal(|ui| {
                if ui.small_button("Close").clicked() {
                    actions.push(Action::ToggleLegend);
                }
                let by = state.settings.color_by.word();
                let words = format!("Colours by: {by} (View > Colours by)");
                ui.label(RichText::new(words).size(SIZE).color(palette.weak));
            });
        });
}

fn states_ui(ui: &mut Ui, palette: &Palette) {
    ui.label(RichText::new("States of threads").strong());
    egui::Grid::new("legend of states")
        .num_columns(3)
        .spacing([8.0, 1.0])
        .show(ui, |ui| {
            for state in ThreadState::ALL {
                line_ui(
                    ui,
                    palette,
                    state.word(),
                    state.meaning(),
                    |painter, rect| {
                        painter.rect_filled(rect, 0, Tint::State(state).plain(palette));
                    },
                );
            }
        });
}

fn signs_ui(ui: &mut Ui, palette: &Palette) {
    ui.label(RichText::new("On the timeline").strong());
    egui::Grid::new("legend of signs")
        .num_columns(3)
        .spacing([8.0, 1.0])
        .show(ui, |ui| {
            for (paint, what, about) in SIGNS {
                line_ui(ui, palette, what, about, |painter, rect| {
                    paint(painter, rect, palette);
                });
            }
        });
}

/// Draws a line of the legend: a swatch on the canvas colour, its meaning, and a remark.
fn line_ui(
    ui: &mut Ui,
    palette: &Palette,
    what: &str,
    about: &str,
    paint: impl FnOnce(&egui::Painter, Rect),
) {
    let (place, _) = ui.allocate_exact_size(SWATCH + vec2(4.0, 2.0), Sense::hover());
    let rect = Rect::from_center_size(place.center(), SWATCH);
    ui.painter().rect_filled(place, 0, palette.canvas);
    paint(&ui.painter_at(place), rect);
    ui.label(RichText::new(what).size(SIZE));
    ui.label(RichText::new(about).size(SIZE).color(palette.weak));
    ui.end_row();
}

fn running(palette: &Palette) -> Color32 {
    palette.of_state(ThreadState::Running)
}

fn names(painter: &egui::Painter, rect: Rect, palette: &Palette) {
    let width = rect.width() / 3.0;
    for (at, name) in (0_u8..).zip([&b"read"[..], b"timer", b"bash"]) {
        let corner = rect.min + vec2(width * f32::from(at), 0.0);
        let bar = Rect::from_min_size(corner, vec2(width - 1.0, rect.height()));
        painter.rect_filled(bar, 0, Tint::of_name(name).plain(palette));
    }
}

fn seen(painter: &egui::Painter, rect: Rect, palette: &Palette) {
    let color = Tint::of_name(b"bash").plain(palette);
    painter.rect_filled(rect, 0, palette.seen(color));
}

fn stacked(painter: &egui::Painter, rect: Rect, palette: &Palette) {
    let states = [
        (ThreadState::Running, [0.2, 0.4, 0.7, 0.5, 0.3]),
        (ThreadState::Runnable, [0.4, 0.6, 0.9, 0.6, 0.4]),
        (ThreadState::Sleeping, [1.0; 5]),
    ];
    for (state, heights) in states.into_iter().rev() {
        for (at, height) in (0_u8..).zip(heights) {
            let left = rect.left() + 6.0 * f32::from(at);
            let top = rect.bottom() - rect.height() * height;
            let bar = Rect::from_min_max(pos2(left, top), pos2(left + 6.0, rect.bottom()));
            painter.rect_filled(bar, 0, palette.of_state(state));
        }
    }
}

fn band_of_points(painter: &egui::Painter, rect: Rect, palette: &Palette) {
    for (at, height) in (0_u8..).zip([0.4, 0.5, 0.9, 0.7, 0.4]) {
        let left = rect.left() + 6.0 * f32::from(at);
        let top = rect.bottom() - rect.height() * height;
        let bar = Rect::from_min_max(pos2(left, top), pos2(left + 6.0, rect.bottom()));
        painter.rect_filled(bar, 0, palette.density);
    }
}

fn unfinished(painter: &egui::Painter, rect: Rect, palette: &Palette) {
    let color = Tint::of_name(b"read").plain(palette);
    let fading = Fading::onto(palette.canvas);
    let steps = fading.steps(rect.width() as usize, 1.0);
    painter.rect_filled(rect, 0, color);
    for (back, share) in (1_u8..).zip(steps.into_iter().rev()) {
        let left = rect.right() - f32::from(back);
        let column = Rect::from_x_y_ranges(left..=left + 1.0, rect.y_range());
        painter.rect_filled(column, 0, fading.mixed(color, share));
    }
}

fn doubtful(painter: &egui::Painter, rect: Rect, palette: &Palette) {
    painter.rect_filled(rect, 0, palette.doubtful(running(palette)));
}

fn lost(painter: &egui::Painter, rect: Rect, palette: &Palette) {
    paint_gap(painter, palette, rect, Look::Hatched);
}

fn band(painter: &egui::Painter, rect: Rect, palette: &Palette) {
    paint_gap(painter, palette, rect, Look::Band);
}

fn points(painter: &egui::Painter, rect: Rect, palette: &Palette) {
    for x in [5.0, 9.0, 18.0, 24.0] {
        let stroke = Stroke::new(1.0, palette.instant);
        painter.vline(rect.left() + x + 0.5, rect.y_range(), stroke);
    }
}

fn counter(painter: &egui::Painter, rect: Rect, palette: &Palette) {
    let (fill, line) = palette.counter;
    let (left, right) = rect.split_left_right_at_fraction(0.5);
    for (part, height) in [(left, 0.4), (right, 0.9)] {
        let part = part.with_min_y(rect.bottom() - rect.height() * height);
        painter.rect_filled(part, 0, fill);
        painter.hline(part.x_range(), part.top() + 0.5, Stroke::new(1.0, line));
    }
}

fn arrow(painter: &egui::Painter, rect: Rect, palette: &Palette) {
    let (from, to) = (rect.left_top(), rect.right_bottom() - vec2(0.0, 3.0));
    paint_arrow(painter, from, to, 1.5, palette.flow);
}

fn found(painter: &egui::Painter, rect: Rect, palette: &Palette) {
    painter.rect_filled(rect, 0, Tint::of_name(b"read").plain(palette));
    let stroke = Stroke::new(2.0, palette.found);
    painter.rect_stroke(rect, 0, stroke, egui::StrokeKind::Inside);
}

fn chain(painter: &egui::Painter, rect: Rect, palette: &Palette) {
    painter.rect_filled(rect, 0, Tint::of_name(b"cc1").plain(palette));
    let line = rect.with_min_y(rect.bottom() - 3.0);
    painter.rect_filled(line, 0, palette.chain);
}

fn range(painter: &egui::Painter, rect: Rect, palette: &Palette) {
    painter.rect_filled(rect, 0, palette.range);
    for x in [rect.left(), rect.right() - 1.0] {
        painter.vline(x + 0.5, rect.y_range(), Stroke::new(1.0, palette.accent));
    }
}

fn marks(painter: &egui::Painter, rect: Rect, palette: &Palette) {
    for (share, color) in [0.3, 0.7].into_iter().zip(palette.marks) {
        let x = rect.left() + rect.width() * share;
        painter.vline(x, rect.y_range(), Stroke::new(1.5, color));
    }
}

fn overview(painter: &egui::Painter, rect: Rect, palette: &Palette) {
    for (at, height) in (0_u8..).zip([0.3, 0.8, 0.5, 0.2, 0.6]) {
        let left = rect.left() + 6.0 * f32::from(at);
        let top = rect.bottom() - rect.height() * height;
        let bar = Rect::from_min_max(pos2(left, top), pos2(left + 5.0, rect.bottom()));
        painter.rect_filled(bar, 0, palette.density);
    }
    let from = rect.left_center();
    let to = pos2(rect.right(), rect.top() + 2.0);
    painter.line_segment([from, to], Stroke::new(1.5, palette.cpu_use));
}
