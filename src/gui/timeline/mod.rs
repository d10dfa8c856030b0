//! The timeline: overview with brush, ruler, track headers and the canvas of lanes.
//!
//! Only visible rows are queried. The blocks of a frame are drawn as one mesh per section, those of full lanes as
//! textures; labels are drawn after them.

mod across;
mod afar;
mod bars;
mod canvas;
mod chain_marks;
mod colors;
mod counters;
mod drag;
mod draw;
mod flag_note;
mod flows;
mod follow_heights;
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
mod label;
mod lanes;
mod legend;
mod listing;
mod matches;
mod migrations;
mod open_ends;
mod overlays;
mod overview;
mod overview_matches;
mod path;
mod ruler;
mod scratch;
mod sections;
mod sizes;
mod sources;
mod strips;
mod text;
mod tooltip;

use crate::gui::pane::Scene;
use crate::view::{Action, Scale};
use draw::Draw;
use egui::{Rect, Stroke, Ui, pos2};
use headers::corner_ui;
pub(crate) use legend::legend_ui;
use overlays::paint_marks;
pub(crate) use scratch::Timeline;
use sections::Sections;
pub(crate) use sizes::HEAD_HEIGHT;
use sizes::{OVERVIEW_HEIGHT, RULER_HEIGHT};
pub(crate) use text::elided_name;

impl Timeline {
    /// Returns whether something that is drawn is still being computed.
    pub(crate) fn is_busy(&self) -> bool {
        self.chain_marks.is_busy()
    }

    /// Draws the whole timeline; returns the user's actions.
    pub(crate) fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
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
        self.follow_heights(ui, scene, canvas.width(), &mut actions);
        self.chain_marks.ask(ui.ctx(), scene);
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
        self.width_ui(ui, area, split, scene, &mut actions);
        paint_marks(ui, ruler_rect.union(canvas), &draw.scale, scene);
        self.flag_note_ui(ui, ruler_rect, &draw, &mut actions);
        ui.painter()
            .vline(split, area.y_range(), Stroke::new(1.0, scene.palette.line));
        actions
    }
}
