//! The timeline: overview with brush, ruler, track headers and the canvas of lanes.
//!
//! Only rows that are seen are asked for. All blocks of a frame go into one mesh; labels are drawn after it.

mod canvas;
mod colors;
mod counters;
mod flows;
mod headers;
mod input;
mod lanes;
mod overlays;
mod overview;
mod ruler;
mod text;
mod tooltip;

use crate::base::Timestamp;
use crate::gui::pane::Scene;
use crate::query::Item;
use crate::query::visible::{Block, CounterStep};
use crate::view::rows::{LaneKind, Row};
use crate::view::{Action, Scale};
use egui::{Color32, Rect, Stroke, Ui, pos2, vec2};
use headers::paint_corner;
use overlays::paint_marks;
use ruler::paint_ruler;

const OVERVIEW_HEIGHT: f32 = 46.0;
const RULER_HEIGHT: f32 = 24.0;
const HEADER_WIDTH: f32 = 230.0;
/// Labels are drawn on blocks at least this wide.
const LABEL_FROM_POINTS: f32 = 26.0;
/// How many labelled blocks get a node for screen readers and tests.
const MAX_NODES: usize = 400;

/// Scratch of the timeline.
#[derive(Default)]
pub struct Timeline {
    blocks: Vec<Block>,
    steps: Vec<CounterStep>,
    drag: Option<Drag>,
    /// Labels and nodes of the frame being drawn.
    labels: Vec<Label>,
}

#[derive(Clone, Copy)]
enum Drag {
    /// Selecting or zooming to a range from this time on.
    Range { from: Timestamp, zooms: Zooms },
    /// Moving the span.
    Pan,
    /// Moving the brush in the overview.
    Brush(BrushPart),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Zooms {
    Yes,
    No,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BrushPart {
    Start,
    End,
    Whole,
}

struct Label {
    rect: Rect,
    text: String,
    color: Color32,
    item: Item,
}

/// What lies under the pointer.
struct Hit {
    item: Item,
    lane: LaneKind,
    block: Block,
    rect: Rect,
}

impl Timeline {
    /// Draws it all; what the user did comes back as actions.
    pub fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let area = ui.available_rect_before_wrap();
        let header = HEADER_WIDTH.min(area.width() * 0.35).floor();
        let split = area.left() + header;
        let overview = Rect::from_min_max(
            pos2(split, area.top()),
            pos2(area.right(), area.top() + OVERVIEW_HEIGHT),
        );
        let ruler_rect = Rect::from_min_max(
            pos2(split, overview.bottom()),
            pos2(area.right(), overview.bottom() + RULER_HEIGHT),
        );
        let canvas = Rect::from_min_max(pos2(split, ruler_rect.bottom()), area.right_bottom());
        let headers = Rect::from_min_max(
            pos2(area.left(), ruler_rect.bottom()),
            pos2(split, area.bottom()),
        );
        ui.painter().rect_filled(area, 0, scene.palette.panel);
        let corner = Rect::from_min_max(area.left_top(), pos2(split, ruler_rect.bottom()));
        paint_corner(ui, corner, scene);
        self.overview_ui(ui, overview, scene, &mut actions);
        let scale = Scale::new(scene.state.span, canvas.width());
        paint_ruler(ui, ruler_rect, &scale, scene);
        self.headers_ui(ui, headers, scene, &mut actions);
        self.canvas_ui(ui, canvas, &scale, scene, &mut actions);
        paint_marks(ui, ruler_rect.union(canvas), &scale, scene);
        ui.painter()
            .vline(split, area.y_range(), Stroke::new(1.0, scene.palette.line));
        actions
    }
}

pub(super) fn row_rect(canvas: Rect, row: &Row, scroll: f32) -> Rect {
    let top = canvas.top() + (row.top - scroll).round();
    Rect::from_min_size(pos2(canvas.left(), top), vec2(canvas.width(), row.height))
}
