//! A pane that asks about the trace in SQL. The user's own DuckDB answers (docs/queries.md).

mod answer;

use std::sync::Arc;

use egui::{Key, Modifiers, RichText, ScrollArea, TextEdit, Ui};
use serde::Deserialize;

use self::answer::{ANSWER, AnswerTable, Answered, answered};
use crate::base::{Task, TaskKey};
use crate::export::dataset::query::PREPARED;
use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::gui::save_bar::SaveBar;
use crate::gui::table::DataTable;
use crate::load::{LoadedTrace, TraceId};
use crate::trace::Plot;
use crate::view::{Action, Arrange};

/// Returns the pane.
pub(crate) fn make() -> Box<dyn Pane> {
    Box::<QueryPane>::default()
}

/// The fewest lines of the field for the question.
const FIELD_ROWS: usize = 3;

/// A question; each press of the button asks anew.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    sql: String,
    number: u32,
}

#[derive(Default)]
struct QueryPane {
    /// The question as the user types it.
    sql: String,
    /// The question that was asked last, and the generation of the trace that it was asked about.
    asked: Option<(TraceId, Asked)>,
    answer: Task<Asked, Arc<Answered>>,
    table: DataTable,
    save: SaveBar,
}

impl Pane for QueryPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let shown = self.answer.answer(scene.loaded.id).cloned();
        let table = shown.as_ref().and_then(|shown| shown.table());
        self.tools_ui(ui, scene, table, &mut actions);
        self.question_ui(ui, scene);
        self.ask(ui, scene);
        match shown.as_deref() {
            None if self.answer.is_busy() => {}
            None => empty_ui(ui, scene, HINT),
            Some(Answered::Refused(words)) => refused_ui(ui, scene, words),
            Some(Answered::Rows(table)) => self.rows_ui(ui, scene, table, &mut actions),
        }
        actions
    }

    fn is_waiting(&self) -> bool {
        self.answer.is_busy() || self.table.is_waiting() || self.save.is_busy()
    }

    fn stop(&mut self) {
        self.answer.stop();
        self.table.stop();
        self.save.stop();
    }

    fn kept(&self) -> Option<serde_json::Value> {
        let is_empty = self.sql.trim().is_empty();
        (!is_empty).then(|| serde_json::Value::String(self.sql.clone()))
    }

    fn take_up(&mut self, kept: Option<&serde_json::Value>) {
        // Without one the question stays that the user typed for the last trace.
        if let Some(kept) = kept.and_then(|kept| String::deserialize(kept).ok()) {
            self.sql = kept;
        }
    }

    fn for_next_trace(&mut self) -> Option<Box<dyn Pane>> {
        // A question is often asked about one trace after another.
        Some(Box::new(QueryPane {
            sql: std::mem::take(&mut self.sql),
            ..QueryPane::default()
        }))
    }
}

/// The words of a pane without an answer.
const HINT: &str = "Type a SELECT statement over the tables of docs/tables.md, such as slice, thread, sched or thread_state, \
                    or choose a question. The first answer takes as long as converting the trace.";

impl QueryPane {
    fn tools_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        table: Option<&AnswerTable>,
        actions: &mut Vec<Action>,
    ) {
        ui.horizontal_wrapped(|ui| {
            ui.menu_button("Questions", |ui| {
                for prepared in PREPARED {
                    if ui
                        .button(prepared.name)
                        .on_hover_text(prepared.about)
                        .clicked()
                    {
                        prepared.sql.clone_into(&mut self.sql);
                        self.start(scene);
                    }
                }
            });
            let run = ui.add_enabled(self.can_ask(scene), egui::Button::new("Ask"));
            let run = run.on_hover_text("Ask DuckDB (Ctrl+Enter in the field)");
            if run.clicked() {
                self.start(scene);
            }
            if let Some(table) = table {
                keep_menu(ui, table, actions);
                if ui.button("Save…").clicked() {
                    self.save.is_open = !self.save.is_open;
                }
                self.table.tools_ui(ui, scene, &table.data, actions);
            }
            self.answer.ui(ui, scene.palette);
        });
    }

    fn question_ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) {
        let id = ui.scope_id().with("question");
        // Before the field, which would take the key as a new line.
        let is_asked = ui.memory(|memory| memory.has_focus(id))
            && ui.input_mut(|input| input.consume_key(Modifiers::COMMAND, Key::Enter));
        ScrollArea::vertical()
            .id_salt("question")
            .max_height(ui.available_height() * 0.4)
            .show(ui, |ui| {
                let edit = TextEdit::multiline(&mut self.sql)
                    .id(id)
                    .font(egui::TextStyle::Monospace)
                    .hint_text("SELECT name, count(*) FROM slice GROUP BY name")
                    .desired_width(f32::INFINITY)
                    .desired_rows(FIELD_ROWS);
                ui.add(edit).widget_info(|| {
                    let role = egui::Role::MultilineTextInput;
                    egui::WidgetInfo::labeled(role, true, "Question in SQL")
                });
            });
        if is_asked {
            self.start(scene);
        }
    }

    fn can_ask(&self, scene: &Scene<'_>) -> bool {
        scene.loaded.is_complete && !self.sql.trim().is_empty()
    }

    /// Asks the question in the field.
    fn start(&mut self, scene: &Scene<'_>) {
        if !self.can_ask(scene) {
            return;
        }
        let number = self.asked.as_ref().map_or(0, |(_, asked)| asked.number + 1);
        let sql = self.sql.clone();
        self.asked = Some((scene.loaded.id, Asked { sql, number }));
    }

    /// Starts the work for the last question, unless it is done or under way.
    fn ask(&mut self, ui: &Ui, scene: &Scene<'_>) {
        let Some((of, asked)) = &self.asked else {
            return;
        };
        if !of.shares_lineage(scene.loaded.id) {
            return;
        }
        // Plots are no part of what the file says.
        let loaded = LoadedTrace::as_read(scene.loaded);
        let sql = asked.sql.clone();
        let question = TaskKey::about(*of, asked.clone()).on_thread("query");
        self.answer
            .ask(ui.ctx(), question, move |job| answered(&loaded, sql, job));
    }

    fn rows_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        table: &AnswerTable,
        actions: &mut Vec<Action>,
    ) {
        self.save.ui(ui, scene, ANSWER, || table.savable());
        ui.label(RichText::new(table.words()).color(scene.palette.weak));
        if table.data.rows.is_empty() {
            return;
        }
        let none = |_: &mut Ui, _: usize, _: &mut Vec<Action>| {};
        let answer = self
            .table
            .ui(ui, scene, "answer", &table.data, actions, none);
        if let Some(row) = answer.clicked {
            table.lead_to(scene, row, actions);
        }
    }
}

/// Draws the menu that keeps a column of the answer as a track.
fn keep_menu(ui: &mut Ui, table: &AnswerTable, actions: &mut Vec<Action>) {
    let columns = table.plotted_columns();
    let menu = |ui: &mut Ui| {
        for column in columns {
            if ui.button(column).clicked() {
                let plot = Plot::of_answer(&table.sql, column);
                actions.push(Action::Arrange(Arrange::Plot(plot, None)));
            }
        }
    };
    if columns.is_empty() {
        ui.add_enabled(false, egui::Button::new("Keep as a track"))
            .on_disabled_hover_text("The answer needs a column ts and a column of numbers");
    } else {
        ui.menu_button("Keep as a track", menu)
            .response
            .on_hover_text("A counter with the numbers of a column at the times of the rows");
    }
}

fn refused_ui(ui: &mut Ui, scene: &Scene<'_>, words: &str) {
    ui.add_space(4.0);
    ScrollArea::vertical().id_salt("refused").show(ui, |ui| {
        let words = RichText::new(words).monospace().color(scene.palette.error);
        ui.add(egui::Label::new(words).wrap());
    });
}
