//! Paints the flame graph: a bar for each frame that is wide enough to be seen.

use egui::{Align2, FontId, Rect, Sense, Stroke, StrokeKind, Ui, pos2, vec2};

use super::name_expression;
use crate::base::Nanos;
use crate::gui::pane::Scene;
use crate::gui::panes::selection::area::unfinished_words;
use crate::gui::script;
use crate::gui::theme::Palette;
use crate::gui::timeline::elided_name;
use crate::gui::tint::Tint;
use crate::query::flame::{Flame, Unit};
use crate::view::{Action, Effect, ruler};

const ROW: f32 = 20.0;
/// The least width in points at which a bar has a node for screen readers and tests.
const LABEL_FROM: f32 = 30.0;

/// How a bar is highlighted.
#[derive(Clone, Copy)]
enum Look {
    Plain,
    /// A caller of the top frame, or a frame that does not match the search.
    Dim,
    Found,
}

/// Returns a quantity of the graph as text.
#[must_use]
pub(crate) fn amount(flame: &Flame, value: i64, scene: &Scene<'_>) -> String {
    match flame.unit {
        Unit::Nanos => ruler::length_text(Nanos(value), scene.state.origins.unit),
        Unit::Samples => format!("{} stacks", ruler::grouped(value)),
    }
}

/// Draws the graph; a click makes a frame as wide as the graph, a double click marks its slices in the timeline.
pub(crate) fn graph_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    flame: &Flame,
    top: &mut u32,
    wanted: &str,
    actions: &mut Vec<Action>,
) {
    let palette = scene.palette;
    let width = ui.available_width().max(50.0);
    let whole = flame
        .nodes
        .get(*top as usize)
        .map_or(1, |node| node.total)
        .max(1);
    // Bars narrower than half a pixel are not drawn.
    let least = (whole as f64 / f64::from(width) * 0.5) as i64;
    let frames = flame.layout(*top, least);
    let callers = path_above(flame, *top);
    let depth = frames.iter().map(|frame| frame.depth).max().unwrap_or(0) as usize + 1;
    let mut clicked = None;
    egui::ScrollArea::vertical()
        .id_salt("flame")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            let width = ui.available_width();
            let height = (callers.len() + depth) as f32 * ROW;
            let (area, _) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
            let seen = ui.clip_rect();
            let place = |start: i64, length: i64, row: usize| {
                let x =
                    |at: i64| area.left() + (at as f64 / whole as f64 * f64::from(width)) as f32;
                let y = area.top() + row as f32 * ROW;
                Rect::from_min_max(
                    pos2(x(start), y),
                    pos2(
                        x(start.saturating_add(length)).max(x(start) + 0.5),
                        y + ROW - 1.0,
                    ),
                )
            };
            let bars = callers
                .iter()
                .enumerate()
                .map(|(row, node)| (*node, place(0, whole, row), true));
            let frames = frames.iter().map(|frame| {
                let row = callers.len() + frame.depth as usize;
                (frame.node, place(frame.start, frame.width, row), false)
            });
            for (node, rect, is_caller) in bars.chain(frames) {
                if !rect.intersects(seen) {
                    continue;
                }
                let is_found =
                    !wanted.is_empty() && flame.name(node).to_lowercase().contains(wanted);
                let look = match (is_caller, wanted.is_empty(), is_found) {
                    (true, ..) | (_, false, false) => Look::Dim,
                    (_, _, true) => Look::Found,
                    _ => Look::Plain,
                };
                paint_bar(ui, scene, flame, node, rect, look);
                if rect.width() < LABEL_FROM && !ui.rect_contains_pointer(rect) {
                    continue;
                }
                let id = ui.scope_id().with(("flame", node));
                let response = ui.interact(rect, id, Sense::click());
                response.widget_info(|| {
                    let words = format!(
                        "{} {}",
                        name_of(flame, node),
                        details_of(flame, node, scene)
                    );
                    egui::WidgetInfo::labeled(egui::Role::Button, true, words)
                });
                if response.hovered() {
                    ui.painter().rect_stroke(
                        rect,
                        1,
                        Stroke::new(1.5, palette.text),
                        StrokeKind::Inside,
                    );
                }
                if response.double_clicked() && node != 0 {
                    actions.push(Action::Search(name_expression(flame.name(node))));
                } else if response.clicked() {
                    clicked = Some(node);
                }
                response.context_menu(|ui| menu_ui(ui, flame, node, actions));
                response.on_hover_text(format!(
                    "{}\n{}\nClick: zoom. Double click: mark in the timeline.",
                    name_of(flame, node),
                    details_of(flame, node, scene)
                ));
            }
        });
    if let Some(node) = clicked {
        *top = node;
    }
}

fn menu_ui(ui: &mut Ui, flame: &Flame, node: u32, actions: &mut Vec<Action>) {
    if node != 0 && ui.button("Mark in the timeline").clicked() {
        actions.push(Action::Search(name_expression(flame.name(node))));
        ui.close();
    }
    if ui.button("Copy the name").clicked() {
        actions.push(Action::Do(Effect::Copy(flame.name(node).to_owned())));
        ui.close();
    }
    if ui.button("Copy the path").clicked() {
        actions.push(Action::Do(Effect::Copy(flame.path(node).join(";"))));
        ui.close();
    }
}

/// Returns a node's callers, the root first.
fn path_above(flame: &Flame, node: u32) -> Vec<u32> {
    let mut path = Vec::new();
    let mut at = node;
    while at != 0 && path.len() < flame.nodes.len() {
        at = flame.nodes.get(at as usize).map_or(0, |node| node.parent);
        path.push(at);
    }
    path.reverse();
    path
}

fn name_of(flame: &Flame, node: u32) -> &str {
    if node == 0 { "all" } else { flame.name(node) }
}

fn details_of(flame: &Flame, id: u32, scene: &Scene<'_>) -> String {
    let (Some(root), Some(node)) = (flame.nodes.first(), flame.nodes.get(id as usize)) else {
        return String::new();
    };
    let share = 100.0 * node.total as f64 / root.total.max(1) as f64;
    let mut words = format!(
        "{} ({share:.1} %), self {}, {} times",
        total_of(flame, id, scene),
        own_of(flame, id, scene),
        ruler::grouped(i64::try_from(node.count).unwrap_or(i64::MAX)),
    );
    if node.unfinished > 0 {
        let unfinished = unfinished_words(
            scene.state.origins.unit,
            node.unfinished,
            node.unfinished_ns.into(),
        );
        words.push_str(&format!("\n{unfinished}"));
    }
    words
}

/// Returns the total of a node as text: "at least" if slices in it never ended.
#[must_use]
pub(crate) fn total_of(flame: &Flame, id: u32, scene: &Scene<'_>) -> String {
    let total = flame.nodes.get(id as usize).map_or(0, |node| node.total);
    let total = amount(flame, total, scene);
    match flame.is_at_least(id) {
        true => format!("≥ {total}"),
        false => total,
    }
}

/// Returns a node's own time as text: "at least" if some of its slices never ended.
fn own_of(flame: &Flame, id: u32, scene: &Scene<'_>) -> String {
    let node = flame.nodes.get(id as usize);
    let own = amount(flame, node.map_or(0, |node| node.own), scene);
    match node.is_some_and(|node| node.unfinished > 0) {
        true => format!("≥ {own}"),
        false => own,
    }
}

fn paint_bar(ui: &Ui, scene: &Scene<'_>, flame: &Flame, node: u32, rect: Rect, look: Look) {
    let palette = scene.palette;
    let fill = match (node, look) {
        (_, Look::Found) => palette.marks[0],
        (_, Look::Dim) | (0, _) => palette.group,
        _ => Tint::of_name(flame.name(node).as_bytes()).plain(palette),
    };
    let painter = ui.painter();
    painter.rect_filled(rect.shrink2(vec2(0.25, 0.0)), 1, fill);
    if rect.width() < LABEL_FROM {
        return;
    }
    let font = FontId::proportional(12.0);
    let text = elided_name(painter, name_of(flame, node), &font, rect.width() - 7.0);
    let (at, color) = (rect.left_center() + vec2(4.0, 0.0), Palette::text_on(fill));
    script::text(painter, at, Align2::LEFT_CENTER, &text, &font, color);
}
