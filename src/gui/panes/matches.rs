//! A pane that lists all matches of the search; only the rows in view are made.

use std::sync::Arc;

use egui::{RichText, Ui};

use crate::gui::keys::key_of;
use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::gui::table::{DataTable, PaneColumn, TableData};
use crate::load::TraceId;
use crate::query::Item;
use crate::query::search::Found;
use crate::query::seen::Seen;
use crate::tables::columns::THREAD_IN_FULL;
use crate::tables::matches::{MATCHES, MatchRows};
use crate::view::{Action, ruler};

/// Returns the pane.
pub(crate) fn make() -> Box<dyn Pane> {
    Box::<MatchesPane>::default()
}

#[derive(Default)]
struct MatchesPane {
    /// The selected item to which the list last scrolled.
    shown: Option<Item>,
    listed: Option<Listed>,
    table: DataTable,
}

/// Matches as a table, with the trace and the answer to which they belong.
struct Listed {
    trace: TraceId,
    found: Arc<Found>,
    data: Arc<TableData>,
}

impl Listed {
    fn new(scene: &Scene<'_>, found: &Arc<Found>) -> Listed {
        let of = |name: &str, width: f32| PaneColumn::of(&MATCHES, name, width);
        let columns = vec![
            of("ts", 130.0),
            of("type", 70.0),
            of("name", 200.0).growing(),
            of("dur", 100.0),
            PaneColumn::after(&MATCHES, 0, THREAD_IN_FULL, 180.0),
        ];
        let rows = MatchRows {
            found: found.clone(),
            seen: Seen::new(&scene.loaded.trace),
        };
        Listed {
            trace: scene.loaded.id,
            found: found.clone(),
            data: Arc::new(TableData::new(columns, rows)),
        }
    }
}

impl Pane for MatchesPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let state = scene.state;
        let Some(found) = scene.found else {
            if !state.search.text.trim().is_empty() {
                empty_ui(ui, scene, "Searching…");
                return actions;
            }
            let words = format!(
                "Nothing is searched for. Press {} and type a text, a /regex/ or an expression such as dur > 1ms.",
                key_of("Search")
            );
            empty_ui(ui, scene, &words);
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
        let is_same = |of: &Listed| of.trace == scene.loaded.id && Arc::ptr_eq(&of.found, found);
        let listed = match self.listed.take() {
            Some(listed) if is_same(&listed) => listed,
            _ => Listed::new(scene, found),
        };
        let data = listed.data.clone();
        self.listed = Some(listed);
        ui.horizontal_wrapped(|ui| {
            self.table.tools_ui(ui, scene, &data, &mut actions);
            if !found.lists_all() {
                let words = format!(
                    "The first {} of {} matches",
                    ruler::grouped(found.hits.len() as i64),
                    ruler::grouped(found.total() as i64)
                );
                ui.label(RichText::new(words).color(scene.palette.weak));
            }
        });
        if self.shown != state.selected {
            self.shown = state.selected;
            let selected = state.selected.zip(state.selected_time);
            let at = selected.and_then(|(item, span)| found.position(span.start, item));
            if let Some(at) = at {
                self.table.show_row(at);
            }
        }
        let none = |_: &mut Ui, _: usize, _: &mut Vec<Action>| {};
        let answer = self
            .table
            .ui(ui, scene, "matches", &data, &mut actions, none);
        let item = |row| data.rows.item(scene.loaded, row);
        actions.extend(answer.clicked.and_then(item).map(Action::Reveal));
        actions
    }

    fn is_waiting(&self) -> bool {
        self.table.is_waiting()
    }

    fn stop(&mut self) {
        self.table.stop();
    }
}
