//! A pane that lists all raw events in order of time, however many: only the rows in view are decoded, by a task of the
//! table. The list can be filtered by an expression, copied and saved, and the user chooses its columns.

mod chosen;
mod columns;
mod listed;
mod rows;
mod save;

use std::sync::Arc;

use egui::{RichText, Ui};
use serde::{Deserialize, Serialize};

use self::chosen::{Searched, Within};
use self::columns::Column;
use self::listed::{ListStamp, Listed};
use self::rows::EventRows;
use self::save::{EVENTS, Wanted};
use crate::base::{Task, TimeSpan};
use crate::export::escaped::tsv_line;
use crate::gui::boxes::check_box;
use crate::gui::filter_box::FilterBox;
use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::gui::save_bar::SaveBar;
use crate::gui::table::{DataTable, TableData};
use crate::gui::task_ui::stop_button;
use crate::load::TraceId;
use crate::query::Item;
use crate::query::expression::Expression;
use crate::query::item::event_of;
use crate::query::latency::Among;
use crate::query::search::{EventFilter, FilteredEvents, SearchedTrace, start_filter};
use crate::tables::RowSource;
use crate::view::{Action, Effect, ruler};

/// Returns the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<EventsPane>::default()
}

/// The least width of the last column, in points.
const LEAST_LAST_WIDTH: f32 = 80.0;
/// The most fields that the menu of columns offers.
const MOST_FIELDS: usize = 60;

struct EventsPane {
    filter: FilterBox,
    expression: Option<Expression>,
    filtering: Task<u64, FilteredEvents>,
    /// The number of the filtering whose events are listed; `None`: all events are.
    filtered: Option<u64>,
    /// The number of filterings so far.
    filterings: u64,
    searched: Searched,
    within: Within,
    columns: Vec<Column>,
    table: DataTable,
    /// The rows of the last frame.
    rows: Option<Rows>,
    /// The number of lists so far; a list with other events or columns is a new one.
    lists: u64,
    /// The list and the selected item of the row that is marked.
    marked: Option<(TraceId, ListStamp, Option<Item>)>,
    save: SaveBar,
    shown: Option<Item>,
    /// The visible span to which the list last scrolled.
    followed: Option<TimeSpan>,
    /// The fields of the events that were seen when the menu of columns was opened.
    fields: Vec<Column>,
}

/// The listed events as a table, and the trace to which they belong.
#[derive(Clone)]
struct Rows {
    trace: TraceId,
    rows: EventRows,
    data: Arc<TableData>,
}

impl Rows {
    fn new(trace: TraceId, rows: EventRows) -> Rows {
        let columns = rows.columns.iter().enumerate();
        let columns = columns.map(|(at, column)| match at + 1 == rows.columns.len() {
            true => column.for_pane(at).growing().at_least(LEAST_LAST_WIDTH),
            false => column.for_pane(at),
        });
        Rows {
            trace,
            data: Arc::new(TableData::new(columns.collect(), rows.clone())),
            rows,
        }
    }
}

/// The part of the pane's state that sessions keep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    filter: String,
    within: Within,
    columns: Vec<Column>,
}

impl Default for Kept {
    fn default() -> Kept {
        Kept {
            filter: String::new(),
            within: Within::Trace,
            columns: Column::usual(),
        }
    }
}

impl Default for EventsPane {
    fn default() -> EventsPane {
        EventsPane {
            filter: FilterBox::default(),
            expression: None,
            filtering: Task::default(),
            filtered: None,
            filterings: 0,
            searched: Searched::default(),
            within: Within::Trace,
            columns: Column::usual(),
            table: DataTable::default(),
            rows: None,
            lists: 0,
            marked: None,
            save: SaveBar::default(),
            shown: None,
            followed: None,
            fields: Vec::new(),
        }
    }
}

impl Pane for EventsPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let trace = &scene.loaded.trace;
        if trace.events.is_empty() {
            let words = if scene.loaded.is_complete {
                "This trace has no events."
            } else {
                "Events appear once the file is read."
            };
            ui.label(RichText::new(words).color(scene.palette.weak));
            return actions;
        }
        let chosen = Searched::now(self.within, scene);
        let span = chosen.span;
        self.search_again(ui.ctx(), scene, chosen);
        let listed = match self.filtered {
            Some(number) => {
                self.filtering.poll();
                let found = self.filtering.part_of(scene.loaded.id, &number);
                let events = found.cloned().unwrap_or_default();
                if let Some(unknown) = &events.unknown {
                    self.filter.refuse(unknown.clone());
                }
                Listed::Found { events, number }
            }
            None => Listed::all(trace, span),
        };
        let rows = self.rows_of(scene.loaded.id, listed);
        self.tools_ui(ui, scene, span, &rows, &mut actions);
        self.filter.error_ui(ui, scene);
        let wanted = || Wanted {
            loaded: scene.loaded.clone(),
            rows: rows.rows.clone(),
        };
        self.save.ui(ui, scene, EVENTS, wanted);
        if rows.rows.is_empty() {
            self.nothing_ui(ui, scene);
        } else {
            self.follow(scene, &rows.rows.listed);
            self.list_ui(ui, scene, &rows, &mut actions);
        }
        actions
    }

    fn is_waiting(&self) -> bool {
        self.table.is_waiting() || self.save.is_busy() || self.filtering.is_busy()
    }

    fn kept(&self) -> Option<serde_json::Value> {
        let kept = Kept {
            filter: self.filter.text.clone(),
            within: self.within,
            columns: self.columns.clone(),
        };
        (kept != Kept::default())
            .then(|| serde_json::to_value(kept).ok())
            .flatten()
    }

    fn take_up(&mut self, kept: Option<&serde_json::Value>) {
        let kept = kept.and_then(|kept| Kept::deserialize(kept).ok());
        // Columns are the user's preference: they stay when another trace is opened.
        let kept = kept.unwrap_or(Kept {
            columns: std::mem::take(&mut self.columns),
            ..Kept::default()
        });
        self.filter = FilterBox::with(kept.filter);
        self.expression = self.filter.read().expression();
        self.list_all();
        self.within = kept.within;
        self.columns = kept.columns;
        if self.columns.is_empty() {
            self.columns = Column::usual();
        }
    }

    fn stop(&mut self) {
        self.table.stop();
        self.save.stop();
        self.filtering.interrupt();
    }
}

impl EventsPane {
    /// Removes the filter: all events are listed.
    fn list_all(&mut self) {
        self.filtering.clear();
        self.filtered = None;
    }

    /// Searches again if the trace or the listed part of it changed.
    fn search_again(&mut self, ctx: &egui::Context, scene: &Scene<'_>, now: Searched) {
        if self.expression.is_none() && now.among == Among::All {
            self.list_all();
            return;
        }
        if self.filtered.is_some() {
            let old = &self.searched;
            let is_same = (old.trace, old.span) == (now.trace, now.span);
            // During a drag the list and its description stay.
            let is_dragged = ctx.input(|input| input.pointer.any_down());
            let stays = is_dragged && old.trace == now.trace;
            if stays || (is_same && old.among == now.among) {
                return;
            }
        }
        let filter = EventFilter {
            expression: self.expression.clone(),
            among: now.among.clone(),
            span: now.span.unwrap_or(TimeSpan::ALL),
        };
        let searched = SearchedTrace {
            id: scene.loaded.id,
            trace: scene.loaded.trace.clone(),
            reader: scene.loaded.reader.clone(),
        };
        let number = self.filterings + 1;
        match start_filter(&mut self.filtering, ctx, searched, number, filter) {
            Ok(()) => {
                self.filtered = Some(number);
                self.filterings = number;
            }
            Err(error) => {
                self.filter.refuse(error);
                self.expression = None;
                self.list_all();
            }
        }
        self.searched = now;
        self.followed = None;
    }

    fn tools_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        span: Option<TimeSpan>,
        rows: &Rows,
        actions: &mut Vec<Action>,
    ) {
        ui.horizontal_wrapped(|ui| {
            let hint = "Filter: text, /regex/ or next_prio < 100 && cpu == 1";
            let typed = self.filter.ui(ui, scene, "Filter events", hint, 320.0);
            if let Some(typed) = typed {
                self.list_all();
                // While the text is not a valid expression, the list stays as it was.
                self.expression = typed.expression();
            }
            let is_range = self.within == Within::Range;
            let is_chosen = scene.state.range.is_some() || scene.state.area_rows.is_some();
            let button = egui::Button::selectable(is_range, "In the selection");
            let answer = ui
                .add_enabled(is_chosen || is_range, button)
                .on_hover_text(
                    "Only events in the selected range, of the threads, processes and CPUs whose tracks are \
                     selected",
                )
                .on_disabled_hover_text("Select a range or tracks in the timeline first");
            if answer.clicked() {
                self.within = if is_range {
                    Within::Trace
                } else {
                    Within::Range
                };
            }
            self.columns_ui(ui, scene, &rows.rows);
            self.table.copy_button_ui(ui, scene, &rows.data, actions);
            if ui
                .button("Save…")
                .on_hover_text("Write these rows to a file")
                .clicked()
            {
                self.save.is_open = !self.save.is_open;
            }
            let words = self.count_words(scene, span, &rows.rows.listed);
            let words = RichText::new(words).color(scene.palette.weak);
            ui.add(egui::Label::new(words).extend());
            if let Some(failure) = self.filtering.failure() {
                let words = RichText::new("Failed").color(scene.palette.error);
                ui.label(words).on_hover_text(failure.to_string());
            }
            if self.filtering.is_pending() {
                let share = self.filtering.progress().share() as f32;
                ui.add(egui::ProgressBar::new(share).desired_width(80.0));
                if stop_button(ui) {
                    self.filtering.interrupt();
                }
            }
        });
    }

    fn count_words(&self, scene: &Scene<'_>, span: Option<TimeSpan>, listed: &Listed) -> String {
        let grouped = |count: u64| ruler::grouped(i64::try_from(count).unwrap_or(i64::MAX));
        let all = scene.loaded.trace.events.len() as u64;
        let of = match (span, listed) {
            (Some(_), _) => "in the range",
            (None, Listed::Ranks { count: 1, .. }) => "event",
            (None, _) => "events",
        };
        match listed {
            Listed::Ranks { count, .. } => format!("{} {of}", grouped(*count as u64)),
            Listed::Found { events, .. } => {
                let is_over = !self.filtering.is_pending();
                let stopped = if is_over && !events.is_complete {
                    " up to where it was stopped"
                } else {
                    ""
                };
                format!(
                    "{} of {} events{}{stopped}",
                    grouped(events.len() as u64),
                    grouped(all),
                    self.searched.words
                )
            }
        }
    }

    fn columns_ui(&mut self, ui: &mut Ui, scene: &Scene<'_>, rows: &EventRows) {
        let button = ui.menu_button("Columns", |ui| {
            let mut all: Vec<Column> = Column::ALL.to_vec();
            all.extend(self.fields.iter().cloned());
            all.extend(self.columns.iter().cloned());
            all.sort_by_key(Column::order);
            let mut seen: Vec<Column> = Vec::new();
            all.retain(|column| {
                let is_new = !seen.contains(column);
                seen.push(column.clone());
                is_new
            });
            egui::ScrollArea::vertical()
                .max_height(320.0)
                .show(ui, |ui| {
                    for column in all {
                        let mut is_shown = self.columns.contains(&column);
                        if check_box(ui, &mut is_shown, column.title()).changed() {
                            if is_shown {
                                self.columns.push(column);
                                self.columns.sort_by_key(Column::order);
                            } else if self.columns.len() > 1 {
                                self.columns.retain(|other| *other != column);
                            }
                        }
                    }
                });
            ui.separator();
            if ui.button("As at first").clicked() {
                self.columns = Column::usual();
                ui.close();
            }
        });
        if button.response.clicked() {
            self.fields = self.fields_seen(scene, rows);
        }
        let about = "Choose columns; the fields of the events in view can be columns too";
        button.response.on_hover_text(about);
    }

    /// Returns the fields of the events on the screen.
    fn fields_seen(&self, scene: &Scene<'_>, rows: &EventRows) -> Vec<Column> {
        let mut fields: Vec<Column> = Vec::new();
        let seen = self.table.rows_in_view();
        rows.lines(scene.loaded, seen.start, seen.len(), |line| {
            for (name, _) in line.fields {
                let column = Column::Field(name);
                if !fields.contains(&column) {
                    fields.push(column);
                }
            }
            fields.len() < MOST_FIELDS
        });
        fields
    }

    /// Returns the rows for a list: those of the last frame, if nothing changed.
    fn rows_of(&mut self, trace: TraceId, listed: Listed) -> Rows {
        if let Some(last) = self.rows.as_ref().filter(|last| last.trace == trace) {
            let has_its_columns = last.rows.columns == self.columns;
            if has_its_columns && last.rows.listed.stamp() == listed.stamp() {
                return last.clone();
            }
            // A list that grows while events are searched keeps its number, and the rows that are decoded.
            if !(has_its_columns && last.rows.listed.stamp().is_same_list(listed.stamp())) {
                self.lists += 1;
            }
        } else {
            self.lists += 1;
        }
        let rows = EventRows {
            listed,
            columns: self.columns.clone(),
            number: self.lists,
        };
        let rows = Rows::new(trace, rows);
        self.rows = Some(rows.clone());
        rows
    }

    fn nothing_ui(&self, ui: &mut Ui, scene: &Scene<'_>) {
        let is_over = !self.filtering.is_pending();
        let words = match (is_over, self.within) {
            (false, _) => "Searching…",
            (true, Within::Range) if self.searched.is_of_nobody() => {
                "Events belong to threads and CPUs: the selected tracks have none of their own. Select others, or list the whole trace."
            }
            (true, Within::Range) => {
                "No event in the selection matches. Widen the range, select other tracks, or list the whole trace."
            }
            (true, Within::Trace) => {
                "No event matches the filter. Change it, or clear it to see all."
            }
        };
        empty_ui(ui, scene, words);
    }

    /// Scrolls to the selected item, or to the span that the timeline shows.
    fn follow(&mut self, scene: &Scene<'_>, listed: &Listed) {
        let trace = &scene.loaded.trace;
        if scene.state.selected != self.shown {
            self.shown = scene.state.selected;
            let event = scene.state.selected.and_then(|item| event_of(trace, item));
            if let Some(row) = event.and_then(|id| listed.row_of(trace, id)) {
                self.table.show_row(row);
            }
        } else if self.followed != Some(scene.state.span) {
            let row = listed.row_at(trace, scene.state.span.start);
            self.table.show_first(row);
        }
        self.followed = Some(scene.state.span);
    }

    fn list_ui(&mut self, ui: &mut Ui, scene: &Scene<'_>, rows: &Rows, actions: &mut Vec<Action>) {
        let trace = &scene.loaded.trace;
        let marked = (rows.trace, rows.rows.listed.stamp(), scene.state.selected);
        if self.marked != Some(marked) {
            self.marked = Some(marked);
            let event = (scene.state.selected).and_then(|item| event_of(trace, item));
            let row = event.and_then(|id| rows.rows.listed.row_of(trace, id));
            self.table.detail(row);
        }
        let menu = |ui: &mut Ui, row: usize, actions: &mut Vec<Action>| {
            menu_ui(ui, scene, rows, row, actions);
        };
        // Each number of columns has widths of its own.
        let name = format!("events {}", rows.rows.columns.len());
        let answer = (self.table).ui(ui, scene, &name, &rows.data, actions, menu);
        let event = answer.clicked.and_then(|row| rows.rows.event(trace, row));
        if let Some(id) = event {
            // The row is in view already: the list must not jump.
            self.shown = Some(Item::Event(id));
            actions.push(Action::Reveal(Item::Event(id)));
        }
    }
}

fn menu_ui(ui: &mut Ui, scene: &Scene<'_>, rows: &Rows, row: usize, actions: &mut Vec<Action>) {
    let trace = &scene.loaded.trace;
    let Some(id) = rows.rows.event(trace, row) else {
        return;
    };
    if ui.button("Show in the timeline").clicked() {
        actions.push(Action::Reveal(Item::Event(id)));
        ui.close();
    }
    if ui.button("Bring to the middle").clicked() {
        actions.push(Action::Select(Item::Event(id)));
        actions.push(Action::Center(trace.events.time(id)));
        ui.close();
    }
    if ui.button("Copy the row").clicked() {
        let mut cells = Vec::new();
        rows.rows.row(scene.loaded, row, &mut cells);
        actions.push(Action::Do(Effect::Copy(tsv_line(&cells))));
        ui.close();
    }
}
