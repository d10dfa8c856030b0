//! The context menu of the item, or the time, under a right click.

use super::draw::Draw;
use super::scratch::{Spot, Timeline};
use crate::base::Timestamp;
use crate::query::Item;
use crate::query::item::title;
use crate::view::scale::with_margin;
use crate::view::{Action, Direction, Effect, Marker, locate, ruler};
use egui::Ui;

impl Timeline {
    pub(super) fn menu_ui(
        &mut self,
        response: &egui::Response,
        draw: &Draw<'_>,
        actions: &mut Vec<Action>,
    ) {
        if response.secondary_clicked() {
            self.menu_of = self.under_pointer;
            let item = self.menu_of.and_then(|spot| spot.item);
            actions.extend(item.map(Action::Select));
        }
        let Some(Spot { item, time }) = self.menu_of else {
            return;
        };
        response.context_menu(|ui| {
            if let Some(item) = item {
                item_ui(ui, item, draw, actions);
                ui.separator();
            }
            time_ui(ui, time, draw, actions);
        });
    }
}

fn offer(ui: &mut Ui, text: &str, actions: &mut Vec<Action>, action: Action) {
    if ui.button(text).clicked() {
        actions.push(action);
    }
}

fn item_ui(ui: &mut Ui, item: Item, draw: &Draw<'_>, actions: &mut Vec<Action>) {
    let trace = &draw.scene.loaded.trace;
    if let Some(span) = locate::span_of(trace, item) {
        offer(
            ui,
            "Zoom to it",
            actions,
            Action::Show(with_margin(span, 10)),
        );
        offer(ui, "Select its time", actions, Action::SelectRange(span));
        offer(ui, "A and B around it", actions, Action::MarkBoth(span));
    }
    offer(
        ui,
        "Next of the same name",
        actions,
        Action::StepSame(Direction::Next),
    );
    offer(
        ui,
        "Previous of the same name",
        actions,
        Action::StepSame(Direction::Previous),
    );
    let name = title(trace, item);
    if !name.is_empty() {
        let quoted = format!("name == \"{}\"", name.replace(['\\', '"'], ""));
        offer(ui, "Find all of this name", actions, Action::Search(quoted));
    }
    if crate::query::item::event_of(trace, item).is_some() {
        let action = Action::DraftPlot(Some(item));
        offer(ui, "Plot a number of these…", actions, action);
    }
    offer(ui, "Pin a note of it", actions, Action::PinTip(item));
    if let Some(thread) = item.thread(trace) {
        offer(
            ui,
            "Select its thread",
            actions,
            Action::Reveal(Item::Thread(thread)),
        );
    }
    ui.separator();
    offer(
        ui,
        "Copy all of it",
        actions,
        Action::Do(Effect::CopySelection),
    );
    if !name.is_empty() {
        offer(ui, "Copy its name", actions, Action::Do(Effect::Copy(name)));
    }
}

fn time_ui(ui: &mut Ui, time: Timestamp, draw: &Draw<'_>, actions: &mut Vec<Action>) {
    let state = draw.scene.state;
    offer(ui, "Marker A here", actions, Action::Mark(Marker::A, time));
    offer(ui, "Marker B here", actions, Action::Mark(Marker::B, time));
    offer(ui, "Flag here", actions, Action::AddFlag(time));
    let text = ruler::full_text(time, state.time_format, state.origins);
    offer(
        ui,
        "Copy this time",
        actions,
        Action::Do(Effect::Copy(text)),
    );
    offer(ui, "Show the whole trace", actions, Action::Fit);
    if let Some(range) = state.range {
        ui.separator();
        let zoom = Action::Show(with_margin(range, 10));
        offer(ui, "Zoom to the range", actions, zoom);
        if !state.is_export_open {
            offer(ui, "Export the range…", actions, Action::ToggleExport);
        }
    }
}
