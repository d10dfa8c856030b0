//! The timeline: overview with brush, ruler, track headers and the canvas of lanes.
//!
//! Only rows that are seen are asked for. The blocks of a frame go into one mesh, those of full lanes into one texture;
//! labels are drawn after them.

mod bars;
mod canvas;
mod colors;
mod counters;
mod flag_note;
mod flows;
mod gaps;
mod glide;
mod header_drag;
mod header_menu;
mod header_rename;
mod header_width;
mod headers;
mod input;
mod item_menu;
mod kept;
mod kept_strips;
mod lanes;
mod legend;
mod matches;
mod migrations;
mod open_ends;
mod overlays;
mod overview;
mod path;
mod ruler;
mod sections;
mod sources;
mod strips;
mod text;
mod tooltip;

use std::sync::Arc;

use crate::base::{TimeSpan, Timestamp};
use crate::gui::pane::Scene;
use crate::query::Item;
use crate::query::visible::{Block, CounterStep};
use crate::view::rows::{LaneKind, RowKey};
use crate::view::{Action, Marker, Scale};
use egui::{Color32, Mesh, Pos2, Rect, Stroke, Ui, pos2};
use glide::Glide;
use headers::corner_ui;
pub use legend::legend_ui;
use overlays::paint_marks;
use sections::{Sections, Stack};
pub use text::elided_name;

const OVERVIEW_HEIGHT: f32 = 46.0;
const RULER_HEIGHT: f32 = 24.0;
/// What overview and ruler take from the tracks.
pub const HEAD_HEIGHT: f32 = OVERVIEW_HEIGHT + RULER_HEIGHT;
/// Labels are drawn on blocks at least this wide.
const LABEL_FROM_POINTS: f32 = 26.0;
/// Blocks at least this wide get a node for screen readers.
const NODE_FROM_POINTS: f32 = 4.0;
/// How many blocks get a node for screen readers and tests.
const MAX_NODES: usize = 2_000;

/// Scratch of the timeline.
#[derive(Default)]
pub struct Timeline {
    kept: kept::KeptLists,
    /// What each section is painted with; a frame takes the room that the one before it made.
    meshes: Vec<Arc<Mesh>>,
    strips: strips::Strips,
    matches: overview::MatchesSeen,
    /// Those blocks of a lane that may have labels.
    wide: Vec<Block>,
    steps: Vec<CounterStep>,
    drag: Option<Drag>,
    glide: Glide,
    moving: Option<sources::Moving>,
    /// Labels and nodes of the frame being drawn.
    labels: Vec<Label>,
    /// The ranges of counters of the frame being drawn.
    ranges: Vec<counters::RangeLabel>,
    /// Where gaps tell in words how much is missing.
    told: Vec<Rect>,
    /// Whether anybody reads the nodes.
    has_nodes: bool,
    /// The slice's edge nearest to the pointer, in the lane under it: how far, and when.
    edge: Option<(f32, Timestamp)>,
    /// Where the pointer is while the ruler has it, and the slice's edge nearest to it of all that are seen.
    ruler_pointer: Option<Pos2>,
    ruler_edge: Option<(f32, Timestamp)>,
    /// The edge that the pointer was at when it was pressed.
    pressed_edge: Option<Timestamp>,
    /// How many arrows are drawn at most, in steps.
    arrows: flows::Most,
    /// What lay under the pointer last.
    under_pointer: Option<(Option<Item>, Timestamp)>,
    /// What the menu was opened on.
    menu_of: Option<(Option<Item>, Timestamp)>,
    /// The row that is given another name, and what has been typed.
    renaming: Option<(RowKey, String)>,
    /// The flag whose note is being typed, by its time, and what has been typed.
    noting: Option<(Timestamp, String)>,
    /// The header that was clicked last: where a choice of several begins.
    chosen_from: Option<RowKey>,
    /// The header under the pointer.
    pointed_header: Option<RowKey>,
}

#[derive(Clone, Copy)]
enum Drag {
    /// Selecting or zooming to a range from this time on, on the rows from this one on.
    Range {
        from: Timestamp,
        row: Option<(Stack, usize)>,
        zooms: Zooms,
    },
    /// Moving an edge of the selected range; the other one is here.
    Edge { from: Timestamp },
    /// Moving a marker.
    Mark(Marker),
    /// Moving the flag that stands at this time.
    Flag(Timestamp),
    /// Moving the span.
    Pan,
    /// Moving the brush in the overview.
    Brush(BrushPart),
    /// Moving a row to another place.
    Row(RowKey),
    /// Moving the lower edge of a row.
    Height(header_drag::Edge),
    /// Moving the edge between the headers and the lanes, which has come to here.
    Width(f32),
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
    /// While everything is in view there is nowhere to move the brush to: a new one is drawn from here on.
    New(Timestamp),
}

struct Label {
    /// Whether there is room to write it.
    is_drawn: bool,
    rect: Rect,
    clip: Rect,
    text: String,
    /// The size of its letters.
    size: f32,
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

/// What a frame of the canvas is drawn with.
struct Draw<'a> {
    scene: &'a Scene<'a>,
    scale: Scale,
    sections: Sections<'a>,
    /// The whole canvas.
    canvas: Rect,
}

impl Draw<'_> {
    fn x(&self, time: Timestamp) -> f32 {
        self.canvas.left() + self.scale.x_from_time(time)
    }

    fn x_range(&self, span: TimeSpan) -> (f32, f32) {
        (self.x(span.start), self.x(span.end))
    }

    fn time_at(&self, x: f32) -> Timestamp {
        self.scale.time_from_x(x - self.canvas.left())
    }
}

impl Timeline {
    /// Draws it all; what the user did comes back as actions.
    pub fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let area = ui.available_rect_before_wrap();
        let header = self.header_width(scene.state, area.width());
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
        if (canvas.height() - scene.state.room).abs() >= 1.0 {
            actions.push(Action::HaveRoom(canvas.height()));
        }
        let now = ui.input(|input| input.time);
        let shown = self.glide.span_at(now, scene.state);
        if self.glide.is_moving(now) {
            ui.ctx().request_repaint();
        }
        let draw = Draw {
            scene,
            scale: Scale::new(shown, canvas.width()),
            sections: Sections::new(scene.state, canvas),
            canvas,
        };
        ui.painter().rect_filled(area, 0, scene.palette.panel);
        let corner = Rect::from_min_max(area.left_top(), pos2(split, ruler_rect.bottom()));
        corner_ui(ui, corner, scene, &mut actions);
        self.overview_ui(ui, overview, shown, scene, &mut actions);
        self.ruler_ui(ui, ruler_rect, &draw, &mut actions);
        self.headers_ui(ui, headers, &draw, &mut actions);
        self.canvas_ui(ui, &draw, &mut actions);
        self.width_ui(ui, (area, split), scene, &mut actions);
        paint_marks(ui, ruler_rect.union(canvas), &draw.scale, scene);
        self.flag_note_ui(ui, ruler_rect, &draw, &mut actions);
        ui.painter()
            .vline(split, area.y_range(), Stroke::new(1.0, scene.palette.line));
        actions
    }
}
