//! All matches of the search as a list, of which only the seen rows are made.

use egui::{RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder};

use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::query::Item;
use crate::query::item::{title, type_word};
use crate::view::{Action, ruler};

/// Makes the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<MatchesPane>::default()
}

const ROW_HEIGHT: f32 = 18.0;

#[derive(Default)]
struct MatchesPane {
    shown: Option<Item>,
}

impl Pane for MatchesPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let (state, trace) = (scene.state, &scene.loaded.trace);
        let weak = |text: &str| RichText::new(text.to_owned()).color(scene.palette.weak);
        let Some(found) = scene.found else {
            let words = "Nothing is searched for. Press / and type a text, a /regex/ or an expression such as dur > 1ms.";
            empty_ui(ui, scene, words);
            return actions;
        };
        if found.hits.is_empty() {
            let words = if found.is_complete {
                "Nothing matches."
            } else {
                "Searching…"
            };
            empty_ui(ui, scene, words);
            return actions;
        }
        if !found.lists_all() {
            ui.label(weak(&format!(
                "The first {} of {} matches",
                ruler::grouped(found.hits.len() as i64),
                ruler::grouped(found.total() as i64)
            )));
        }
        let selected = state.selected.zip(state.selected_time);
        let at = selected.and_then(|(item, span)| found.position(span.start, item));
        let mut table = TableBuilder::new(ui)
            .min_scrolled_height(0.0)
            .id_salt("matches")
            .striped(true)
            .resizable(true)
            .auto_shrink([false, false])
            .sense(Sense::click())
            .column(Column::initial(130.0).at_least(60.0).clip(true))
            .column(Column::initial(70.0).at_least(40.0).clip(true))
            .column(Column::initial(260.0).at_least(60.0).clip(true))
            .column(Column::initial(100.0).at_least(40.0).clip(true))
            .column(Column::remainder().clip(true));
        if self.shown != state.selected {
            self.shown = state.selected;
            if let Some(at) = at {
                table = table.scroll_to_row(at, None);
            }
        }
        table
            .header(20.0, |mut header| {
                for title in ["Time", "Type", "Name", "Duration", "Thread"] {
                    header.col(|ui| {
                        ui.label(RichText::new(title).strong());
                    });
                }
            })
            .body(|body| {
                body.rows(ROW_HEIGHT, found.hits.len(), |mut row| {
                    let index = row.index();
                    let Some(hit) = found.hits.get(index) else {
                        return;
                    };
                    row.set_selected(at == Some(index));
                    let length = hit.item.span(trace).map(|span| span.duration());
                    let length = length
                        .filter(|length| length.0 > 0)
                        .map_or_else(String::new, |length| {
                            ruler::length_text(length, state.origins.unit)
                        });
                    let thread = hit.item.thread(trace).map_or_else(String::new, |id| {
                        format!("{} ({})", trace.thread_name(id), trace.thread(id).tid)
                    });
                    let time = ruler::full_text(hit.time, state.time_format, state.origins);
                    let texts = [
                        (time, true),
                        (type_word(hit.item).to_owned(), false),
                        (title(trace, hit.item), false),
                        (length, true),
                        (thread, false),
                    ];
                    for (text, is_mono) in texts {
                        row.col(|ui| {
                            let text = RichText::new(text).size(12.0);
                            let text = if is_mono { text.monospace() } else { text };
                            ui.add(egui::Label::new(text).truncate());
                        });
                    }
                    if row.response().clicked() {
                        actions.push(Action::Reveal(hit.item));
                    }
                });
            });
        actions
    }
}
