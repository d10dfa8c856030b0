//! Pinned tooltips: the first facts of an item, in a small window of its own.

use super::theme::Palette;
use crate::gui::shortened::shortened;
use crate::load::LoadedTrace;
use crate::load::TraceId;
use crate::query::Item;
use crate::query::details::{Details, details};
use crate::view::{Action, Effect, ViewState};
use egui::RichText;

use super::script;

/// Number of facts that a pinned tooltip shows.
const FACTS: usize = 7;

/// Facts of the pinned items, looked up once per item and trace.
#[derive(Default)]
pub(super) struct Tips {
    known: Vec<(Item, Details)>,
    trace: Option<TraceId>,
}

impl Tips {
    pub(super) fn ui(
        &mut self,
        ctx: &egui::Context,
        state: &ViewState,
        loaded: &LoadedTrace,
        palette: &Palette,
        actions: &mut Vec<Action>,
    ) {
        if self.trace != Some(loaded.id) {
            self.known.clear();
            self.trace = Some(loaded.id);
        }
        self.known.retain(|(item, _)| state.tips.contains(item));
        for (number, item) in state.tips.iter().enumerate() {
            let at = match self.known.iter().position(|(known, _)| known == item) {
                Some(at) => at,
                None => {
                    let facts = details(&loaded.trace, loaded.reader.as_ref(), *item);
                    self.known.push((*item, facts));
                    self.known.len() - 1
                }
            };
            let facts = &self.known[at].1;
            let mut is_open = true;
            let corner = ctx.content_rect().right_top();
            egui::Window::new(&facts.title)
                .id(egui::Id::unique(("tip", item)))
                .open(&mut is_open)
                .resizable(false)
                .collapsible(true)
                .default_pos(corner + egui::vec2(-330.0, 120.0 + 40.0 * number as f32))
                .show(ctx, |ui| facts_ui(ui, *item, facts, palette, actions));
            if !is_open {
                actions.push(Action::UnpinTip(*item));
            }
        }
    }
}

fn facts_ui(
    ui: &mut egui::Ui,
    item: Item,
    facts: &Details,
    palette: &Palette,
    actions: &mut Vec<Action>,
) {
    ui.label(
        RichText::new(shortened(&facts.subtitle))
            .color(palette.weak)
            .size(12.0),
    );
    let rows = facts.sections.iter().flat_map(|section| &section.rows);
    egui::Grid::new(("tip facts", item))
        .num_columns(2)
        .spacing([12.0, 2.0])
        .show(ui, |ui| {
            for row in rows.take(FACTS) {
                ui.label(RichText::new(&row.name).color(palette.weak).size(12.0));
                let value = RichText::new(shortened(&row.value)).size(12.0);
                ui.label(script::lines(ui, value));
                ui.end_row();
            }
        });
    ui.horizontal(|ui| {
        if ui.small_button("Show").clicked() {
            actions.push(Action::Reveal(item));
        }
        if ui.small_button("Copy").clicked() {
            actions.push(Action::Do(Effect::Copy(facts.text())));
        }
    });
}
