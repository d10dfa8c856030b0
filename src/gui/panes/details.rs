//! A pane about the selected item: every decoded field, and links to related items.

use egui::{RichText, ScrollArea, Ui};

use crate::base::{Task, TaskKey};
use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::gui::panes::selection::area::{area_of, whose};
use crate::gui::script::{lines, link_lines};
use crate::gui::shortened::{line_within, shortened};
use crate::query::Item;
use crate::query::blobs::payload;
use crate::query::details::{Details, Section, details};
use crate::query::item::{event_of, title};
use crate::view::ruler::grouped;
use crate::view::{Action, Effect, PaneKind, ruler};

/// Returns the pane.
pub(crate) fn make() -> Box<dyn Pane> {
    Box::<DetailsPane>::default()
}

/// The least width at which the sections are side by side, in points.
const BESIDE: f32 = 760.0;
/// The width of the buttons beside the title, in points.
const BUTTON_WIDTH: f32 = 56.0;
const PAYLOAD_WIDTH: f32 = 190.0;
/// The least width of a title, in points.
const LEAST_TITLE: f32 = 60.0;

#[derive(Default)]
struct DetailsPane {
    details: Task<Item, Details>,
}

impl Pane for DetailsPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let Some(item) = scene.state.meant_item() else {
            area_ui(ui, scene, &mut actions);
            return actions;
        };
        let loaded = scene.loaded.clone();
        let id = loaded.id;
        let question = TaskKey::about(id, item).in_turn();
        self.details.ask(ui.ctx(), question, move |_| {
            Ok(details(&loaded.trace, loaded.reader.as_ref(), item))
        });
        let has_ended = self.details.is_stopped() || self.details.failure().is_some();
        let Some(details) = self.details.answer(id).filter(|_| !has_ended) else {
            self.details.ui(ui, scene.palette);
            return actions;
        };
        if self.details.answered(id) != Some(&item) {
            ui.ctx().request_repaint();
        }
        ui.horizontal(|ui| {
            let (trace, reader) = (&scene.loaded.trace, scene.loaded.reader.as_ref());
            let event = event_of(trace, item);
            let carried = event.zip(event.and_then(|event| payload(trace, reader, event)));
            // The buttons stay visible, however long the names are.
            let buttons = BUTTON_WIDTH + carried.as_ref().map_or(0.0, |_| PAYLOAD_WIDTH);
            let title = RichText::new(shortened(&details.title)).strong();
            let room = ui.available_width() - buttons;
            line_within(ui, title.size(15.0), room.max(LEAST_TITLE));
            let subtitle = RichText::new(shortened(&details.subtitle)).color(scene.palette.weak);
            let room = ui.available_width() - buttons;
            if room > LEAST_TITLE {
                line_within(ui, subtitle, room);
            }
            if ui
                .small_button("Copy")
                .on_hover_text("Copy all as text")
                .clicked()
            {
                actions.push(Action::Do(Effect::Copy(details.text())));
            }
            if let Some((event, bytes)) = carried {
                let words = format!("Save payload… ({} bytes)", grouped(bytes.len() as i64));
                if ui.small_button(words).clicked() {
                    actions.push(Action::Do(Effect::SavePayload(event)));
                }
            }
        });
        ui.separator();
        ScrollArea::both()
            .auto_shrink([false, false])
            .show(ui, |ui| {
                // Side by side if the pane is wide enough.
                let layout = if ui.available_width() < BESIDE {
                    egui::Layout::top_down(egui::Align::Min)
                } else {
                    egui::Layout::left_to_right(egui::Align::Min)
                };
                ui.with_layout(layout, |ui| {
                    for (number, section) in details.sections.iter().enumerate() {
                        let links = match self.details.exact(id) {
                            Some(_) => Links::Lead,
                            None => Links::Rest,
                        };
                        section_ui(ui, number, section, scene, links, &mut actions);
                        ui.add_space(if layout.is_horizontal() { 20.0 } else { 6.0 });
                    }
                });
            });
        actions
    }

    fn is_waiting(&self) -> bool {
        self.details.is_busy()
    }

    fn stop(&mut self) {
        self.details.stop();
    }
}

/// What links to other items do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Lead,
    /// Nothing: their ids are of an older generation of the trace.
    Rest,
}

/// Draws a title, and under it names with their values; values that name other items are links.
fn section_ui(
    ui: &mut Ui,
    number: usize,
    section: &Section,
    scene: &Scene<'_>,
    links: Links,
    actions: &mut Vec<Action>,
) {
    ui.vertical(|ui| {
        ui.set_max_width(520.0);
        if !section.title.is_empty() {
            ui.label(RichText::new(shortened(&section.title)).strong());
        }
        egui::Grid::new(("details", number))
            .num_columns(2)
            .spacing([14.0, 3.0])
            .show(ui, |ui| {
                for row in &section.rows {
                    ui.label(RichText::new(&row.name).color(scene.palette.weak));
                    match row.link {
                        Some(target) => {
                            let value = link_lines(ui, &shortened(&row.value));
                            let name = format!("{}: {}", row.name, row.value);
                            if ui.link(value).accessible_name(name).clicked()
                                && links == Links::Lead
                            {
                                actions.push(Action::Reveal(target));
                            }
                        }
                        None => {
                            let value = RichText::new(shortened(&row.value)).monospace();
                            ui.label(lines(ui, value.size(12.0)));
                        }
                    }
                    ui.end_row();
                }
            });
    });
}

/// Drawn if no item is selected: the selected area, if there is one.
fn area_ui(ui: &mut Ui, scene: &Scene<'_>, actions: &mut Vec<Action>) {
    let state = scene.state;
    if state.range.is_none() && state.area_rows.is_none() {
        let words = "Nothing is selected. Click a slice, a run, a state or a track.";
        empty_ui(ui, scene, words);
        return;
    }
    let area = area_of(state, &scene.loaded.trace).area;
    let time = |time| ruler::full_text(time, state.time_format, state.origins);
    ui.label(RichText::new("Selected area").strong().size(15.0));
    ui.separator();
    let facts = [
        ("from", time(area.span.start)),
        ("until", time(area.span.end)),
        (
            "duration",
            ruler::length_text(area.span.duration(), state.origins.unit),
        ),
        ("tracks", whose(scene, &area)),
    ];
    egui::Grid::new("selected area")
        .num_columns(2)
        .spacing([14.0, 3.0])
        .show(ui, |ui| {
            for (name, value) in facts {
                ui.label(RichText::new(name).color(scene.palette.weak));
                ui.label(RichText::new(value).monospace().size(12.0));
                ui.end_row();
            }
            if let Some(item) = state.selected {
                ui.label(RichText::new("selected before").color(scene.palette.weak));
                let name = title(&scene.loaded.trace, item);
                let about = "Show this item's details again";
                let name = link_lines(ui, &shortened(&name));
                if ui.link(name).on_hover_text(about).clicked() {
                    actions.push(Action::Select(item));
                }
                ui.end_row();
            }
        });
    ui.add_space(6.0);
    if ui.link("Add up what is in it").clicked() {
        actions.push(Action::OpenPane(PaneKind::Selection));
    }
}
