//! A pane that lists all raw events in order of time, however many: only the rows in view are decoded, by a task. The
//! list can be filtered by an expression, copied and saved, and the user chooses its columns.

mod chosen;
mod columns;
mod listed;
mod save;

use std::sync::Arc;

use egui::{RichText, Sense, Ui};
use egui_extras::{Column as Width, TableBuilder};
use serde::{Deserialize, Serialize};

use self::chosen::{Searched, Within};
use self::columns::{Column, Line};
use self::listed::Listed;
use self::save::{SaveBar, Wanted, text_of};
use crate::base::{Task, TaskKey, TimeSpan, Timestamp};
use crate::export::rows::tsv_line;
use crate::gui::boxes::check_box;
use crate::gui::filter_box::FilterBox;
use crate::gui::long_list::LongList;
use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::gui::script::one_line;
use crate::gui::shortened::shortened;
use crate::gui::table::{Copying, MOST_COPIED, ROW_HEIGHT, TEXT_SIZE, is_copied, row_info};
use crate::gui::task_ui::stop_button;
use crate::load::LoadedTrace;
use crate::load::TraceId;
use crate::query::Item;
use crate::query::expression::Expression;
use crate::query::latency::Among;
use crate::query::search::{EventFilter, FilteredEvents, SearchedTrace, start_filter};
use crate::tables::Cell;
use crate::view::{Action, Effect, locate, ruler};

/// Returns the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<EventsPane>::default()
}

/// The number of rows that are decoded together.
const PAGE: usize = 128;
const HEADER_HEIGHT: f32 = 22.0;

/// The key of a page: the stamp of the list, and the page's first row.
type Page = ((usize, usize), usize);

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
    list: LongList,
    pages: Task<Page, Arc<[Line]>>,
    copying: Copying,
    save: SaveBar,
    shown: Option<Item>,
    /// The visible span to which the list last scrolled.
    followed: Option<TimeSpan>,
    /// The number of rows that the pane had room for.
    seen: usize,
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
            list: LongList::default(),
            pages: Task::default(),
            copying: Copying::default(),
            save: SaveBar::default(),
            shown: None,
            followed: None,
            seen: 1,
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
                "Events come when the file is read."
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
        let wanted = Wanted {
            loaded: scene.loaded.clone(),
            listed,
            columns: self.columns.clone(),
        };
        self.tools_ui(ui, scene, span, &wanted);
        self.filter.error_ui(ui, scene);
        self.save.ui(ui, scene, &wanted);
        self.copying.poll(&mut actions);
        if wanted.listed.len() == 0 {
            self.nothing_ui(ui, scene);
        } else {
            self.follow(scene, &wanted.listed);
            self.list_ui(ui, scene, &wanted, &mut actions);
        }
        actions
    }

    fn is_waiting(&self) -> bool {
        self.pages.is_busy()
            || self.copying.is_waiting()
            || self.save.is_busy()
            || self.filtering.is_busy()
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
        self.copying.stop();
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
        let whole = TimeSpan::new(Timestamp::MIN, Timestamp::MAX);
        let filter = EventFilter {
            expression: self.expression.clone(),
            among: now.among.clone(),
            span: now.span.unwrap_or(whole),
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
        wanted: &Wanted,
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
                    "Only events in the selected range and of the selected tracks: \
                     of these threads, of these processes' threads, on these CPUs",
                )
                .on_disabled_hover_text("Select a range or tracks in the timeline first");
            if answer.clicked() {
                self.within = if is_range {
                    Within::Trace
                } else {
                    Within::Range
                };
            }
            self.columns_ui(ui, scene.loaded.id);
            let copy = ui.button("Copy").on_hover_text(
                "Copy these rows as tab-separated text, at most 100 000 (Ctrl+C over the list)",
            );
            if copy.clicked() {
                self.copy(ui.ctx(), wanted);
            }
            if ui
                .button("Save…")
                .on_hover_text("Write these rows to a file")
                .clicked()
            {
                self.save.is_open = !self.save.is_open;
            }
            let words = self.count_words(scene, span, &wanted.listed);
            let words = RichText::new(words).color(scene.palette.weak);
            ui.add(egui::Label::new(words).extend());
            if let Some(failure) = self.filtering.failure() {
                let words = RichText::new("Failed").color(scene.palette.error);
                ui.label(words).on_hover_text(failure.to_string());
            }
            if self.filtering.is_pending() {
                let (done, total) = self.filtering.progress();
                let share = done as f32 / total.max(1) as f32;
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

    fn columns_ui(&mut self, ui: &mut Ui, id: TraceId) {
        ui.menu_button("Columns", |ui| {
            let mut all: Vec<Column> = Column::ALL.to_vec();
            all.extend(self.fields_seen(id));
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
        })
        .response
        .on_hover_text("Choose columns; the fields of the events that are seen can be columns too");
    }

    /// Returns the fields of the events on the screen.
    fn fields_seen(&self, id: TraceId) -> Vec<Column> {
        let mut names: Vec<Column> = Vec::new();
        let lines = self.pages.answer(id);
        for line in lines.map_or(&[][..], |lines| &lines[..]) {
            for (name, _) in &line.fields {
                let column = Column::Field(name.clone());
                if names.len() < 60 && !names.contains(&column) {
                    names.push(column);
                }
            }
        }
        names
    }

    fn nothing_ui(&self, ui: &mut Ui, scene: &Scene<'_>) {
        let is_over = !self.filtering.is_pending();
        let words = match (is_over, self.within) {
            (false, _) => "Searching…",
            (true, Within::Range) if self.searched.is_of_nobody() => {
                "Events are of threads and CPUs: the selected tracks have none of their own. Select others, or list the whole trace."
            }
            (true, Within::Range) => {
                "No event in the selection fits. Widen the range, select other tracks, or list the whole trace."
            }
            (true, Within::Trace) => {
                "No event fits the filter. Change it, or take it away to see all."
            }
        };
        empty_ui(ui, scene, words);
    }

    /// Scrolls to the selected item, or to the span that the timeline shows.
    fn follow(&mut self, scene: &Scene<'_>, listed: &Listed) {
        let trace = &scene.loaded.trace;
        if scene.state.selected != self.shown {
            self.shown = scene.state.selected;
            let event = scene
                .state
                .selected
                .and_then(|item| locate::event_of(trace, item));
            if let Some(row) = event.and_then(|id| listed.row_of(trace, id)) {
                self.list.show(row, self.seen);
            }
        } else if self.followed != Some(scene.state.span) {
            self.list
                .show_first(listed.row_at(trace, scene.state.span.start));
        }
        self.followed = Some(scene.state.span);
    }

    fn copy(&mut self, ctx: &egui::Context, wanted: &Wanted) {
        let wanted = wanted.clone();
        self.copying
            .start(ctx, move |job| text_of(&wanted, MOST_COPIED, job));
    }

    fn list_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        wanted: &Wanted,
        actions: &mut Vec<Action>,
    ) {
        let trace = &scene.loaded.trace;
        let count = wanted.listed.len();
        let area = ui.available_rect_before_wrap();
        if is_copied(ui, area) {
            self.copy(ui.ctx(), wanted);
        }
        let row_step = ROW_HEIGHT + ui.spacing().item_spacing.y;
        let rows_area = egui::Rect::from_min_max(
            area.min + egui::vec2(0.0, HEADER_HEIGHT + ui.spacing().item_spacing.y),
            area.max,
        );
        let left = self
            .list
            .scroll_ui(ui, rows_area, count, row_step, scene.palette);
        self.seen = ((left.height() / row_step).floor() as usize).max(1);
        let top = self.list.top();
        // One more row, which may be partly visible.
        let rows = (self.seen + 1).min(count - top.min(count));
        let (first, lines) = self.page(ui.ctx(), wanted, top);
        let columns = self.columns.clone();
        let selected = scene
            .state
            .selected
            .and_then(|item| locate::event_of(trace, item));
        let table_area = egui::Rect::from_min_max(area.min, left.max);
        ui.scope_builder(egui::UiBuilder::new().max_rect(table_area), |ui| {
            ui.set_clip_rect(table_area.intersect(ui.clip_rect()));
            egui::ScrollArea::horizontal()
                .id_salt("events across")
                .auto_shrink([false, false])
                .show(ui, |ui| {
                    let mut table = TableBuilder::new(ui)
                        .id_salt(("events", columns.len()))
                        .striped(false)
                        .resizable(true)
                        .vscroll(false)
                        .auto_shrink([false, false])
                        .sense(Sense::click());
                    for (at, column) in columns.iter().enumerate() {
                        let is_last = at + 1 == columns.len();
                        table = table.column(if is_last {
                            Width::remainder().at_least(80.0).clip(true)
                        } else {
                            Width::initial(column.width()).at_least(30.0).clip(true)
                        });
                    }
                    table
                        .header(HEADER_HEIGHT, |mut header| {
                            for column in &columns {
                                header.col(|ui| {
                                    let title = RichText::new(column.title()).size(TEXT_SIZE);
                                    ui.add(egui::Label::new(title.strong()).truncate());
                                });
                            }
                        })
                        .body(|body| {
                            body.rows(ROW_HEIGHT, rows, |mut row| {
                                let at = top + row.index();
                                let line = at.checked_sub(first).and_then(|at| lines.get(at));
                                let Some(line) = line else {
                                    for _ in &columns {
                                        row.col(|_| {});
                                    }
                                    return;
                                };
                                row.set_selected(Some(line.id) == selected);
                                for column in &columns {
                                    row.col(|ui| cell_ui(ui, column, &line.shown(column, scene)));
                                }
                                let response = row.response();
                                response.widget_info(|| {
                                    row_info(
                                        columns.iter().map(|column| {
                                            (column.title(), line.shown(column, scene))
                                        }),
                                    )
                                });
                                if response.clicked() {
                                    // The row is in view already: the list must not jump.
                                    self.shown = Some(Item::Event(line.id));
                                    actions.push(Action::Reveal(Item::Event(line.id)));
                                }
                                response.context_menu(|ui| menu_ui(ui, line, &columns, actions));
                            });
                        });
                });
        });
    }

    /// Returns the decoded rows around `top`, or the last decoded ones until these are ready.
    fn page(&mut self, ctx: &egui::Context, wanted: &Wanted, top: usize) -> (usize, Arc<[Line]>) {
        let first = top / PAGE * PAGE;
        let stamp = wanted.listed.stamp();
        let (loaded, listed) = (wanted.loaded.clone(), wanted.listed.clone());
        let id = loaded.id;
        let question = TaskKey::about(id, (stamp, first)).in_turn();
        self.pages.ask(ctx, question, move |_| {
            Ok(read_page(&loaded, &listed, first).into())
        });
        // Rows of another list, or of an older generation of the trace, must not be used.
        match (self.pages.answered(id), self.pages.exact(id)) {
            (Some((of, first)), Some(lines)) if of.0 == stamp.0 => (*first, lines.clone()),
            _ => (0, Arc::new([])),
        }
    }
}

fn read_page(loaded: &LoadedTrace, listed: &Listed, first: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::with_capacity(PAGE * 2);
    let from = first.saturating_sub(1);
    let mut before = None;
    listed.walk(&loaded.trace, from, PAGE * 2 + 1, |id| {
        // The row above the first one is decoded for its time only.
        if lines.is_empty() && before.is_none() && from < first {
            before = Some(loaded.trace.events.time(id));
        } else {
            let line = Line::read(loaded, id, before);
            before = Some(line.time);
            lines.push(line);
        }
        true
    });
    lines
}

fn cell_ui(ui: &mut Ui, column: &Column, text: &str) {
    let text = RichText::new(shortened(text)).size(TEXT_SIZE);
    let text = if column.is_mono() {
        text.monospace()
    } else {
        text
    };
    let text = one_line(ui, text);
    ui.add(egui::Label::new(text).truncate().selectable(false));
}

fn menu_ui(ui: &mut Ui, line: &Line, columns: &[Column], actions: &mut Vec<Action>) {
    if ui.button("Show in the timeline").clicked() {
        actions.push(Action::Reveal(Item::Event(line.id)));
        ui.close();
    }
    if ui.button("Bring to the middle").clicked() {
        actions.push(Action::Select(Item::Event(line.id)));
        actions.push(Action::Center(line.time));
        ui.close();
    }
    if ui.button("Copy the row").clicked() {
        let cells = columns.iter().map(|column| line.exact(column).into());
        let cells: Vec<Cell> = cells.collect();
        actions.push(Action::Do(Effect::Copy(tsv_line(&cells))));
        ui.close();
    }
}
