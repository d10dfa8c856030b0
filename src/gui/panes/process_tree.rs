//! A pane with the processes as a tree of parents and children, with their times and a bar for each life.
//!
//! The list of rows is computed by a task whenever the order, the filter or the open rows change; a frame draws only
//! the rows in view.

use std::sync::Arc;

use egui::{Align, Rect, RichText, Sense, Ui, pos2, vec2};
use egui_extras::{Column, TableBuilder, TableRow};

use crate::base::signals::{exit_short, exit_text};
use crate::base::{Task, TaskKey, Work};
use crate::gui::heading::{Heading, heading_ui, wide};
use crate::gui::pane::{Pane, Scene};
use crate::gui::script::one_line;
use crate::gui::shortened::shortened;
use crate::gui::table::{
    COPIES_ROWS, Copying, PaneColumn, TableData, copy_button, filtered_ui, is_copied, row_info,
};
use crate::gui::tint::Tint;
use crate::load::TraceId;
use crate::query::Item;
use crate::query::process_rows::{OpenRule, Opened, SortBy, TreeRow, TreeView, rows};
use crate::query::process_times::{ProcessTimes, first_arguments_of, program_of};
use crate::tables::lives::{EXIT, PROCESS_TIMES, ProcessNode, process_rows};
use crate::trace::{ProcessId, Trace};
use crate::view::{Action, ruler};

/// Returns the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<TreePane>::default()
}

#[derive(Default)]
struct TreePane {
    view: TreeView,
    listed: Task<TreeView, Answer>,
    times: Option<(TraceId, Arc<ProcessTimes>)>,
    /// The selected item to which the list last scrolled.
    shown: Option<Item>,
    /// The process to which the list scrolls as soon as it has its row.
    wanted: Option<ProcessId>,
    copying: Copying,
}

struct Answer {
    times: Arc<ProcessTimes>,
    rows: Arc<[TreeRow]>,
    match_count: usize,
}

const ROW_HEIGHT: f32 = 18.0;
const INDENT: f32 = 14.0;
/// The most bytes of arguments in a row: no screen is wider.
const MOST_ARGUMENTS: usize = 1000;
/// With at least this many processes only the first levels are open initially.
const MANY: usize = 2000;

const COLUMNS: &[Heading<SortBy>] = &[
    Heading::new("Program", SortBy::Program),
    Heading::number("Pid", SortBy::Pid).smallest_first(),
    Heading::number("Start", SortBy::Start).smallest_first(),
    Heading::number("Duration", SortBy::Duration).about("How long it lived"),
    Heading::number("Own", SortBy::Own).about("The time in which none of its children lived"),
    Heading::number("Subtree", SortBy::Subtree).about("Its own time and that of all below it"),
    Heading::number("Exit", SortBy::Exit).about("Exit code, or the signal that killed it"),
    Heading::number("Children", SortBy::Children),
    Heading::number("Files", SortBy::Files).about("How many files it opened"),
    Heading::new("Lifetime", SortBy::Start),
    Heading::new("Arguments", SortBy::Arguments),
];

impl Pane for TreePane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let trace = &scene.loaded.trace;
        if trace.processes.is_empty() {
            let words = if scene.loaded.is_complete {
                "This trace names no processes. Record forks and execs (sched_process_fork, sched_process_exec) to see who started whom."
            } else {
                "Processes come when the file is read."
            };
            ui.label(RichText::new(words).color(scene.palette.weak));
            return actions;
        }
        self.copying.poll(&mut actions);
        let key = scene.loaded.id;
        self.follow_selection(scene, key);
        let (loaded, view) = (scene.loaded.clone(), self.view.clone());
        let known = self.times.clone().filter(|times| times.0 == key);
        let work = move |_: &Work<Answer>| {
            let times = known.map_or_else(|| Arc::new(ProcessTimes::new(&loaded.trace)), |it| it.1);
            let rows = rows(&loaded.trace, &times, &view);
            Ok(Answer {
                times,
                match_count: rows.iter().filter(|row| row.is_match).count(),
                rows: rows.into(),
            })
        };
        let question = TaskKey::about(key, self.view.clone()).in_turn();
        self.listed.ask(ui.ctx(), question, work);
        let Some(answer) = self.listed.exact(key) else {
            self.listed.ui(ui, scene.palette);
            return actions;
        };
        let is_first = self.times.as_ref().is_none_or(|times| times.0 != key);
        self.times = Some((key, Arc::clone(&answer.times)));
        let times = Arc::clone(&answer.times);
        if is_first && trace.processes.len() > MANY {
            self.view.opened = first_levels(&times);
        }
        let wants_copy = toolbar_ui(
            ui,
            scene,
            &mut self.view,
            &mut self.wanted,
            &times,
            answer,
            &mut actions,
        );
        if wants_copy || is_copied(ui, ui.available_rect_before_wrap()) {
            let data = Arc::new(table_of(&answer.rows, &times));
            self.copying
                .start_table(ui.ctx(), scene.loaded, &data, None);
        }
        path_ui(ui, scene, &times, &mut actions);
        if answer.rows.is_empty() {
            if filtered_ui(ui, scene, "The filter hides all processes.") {
                self.view.filter.clear();
            }
            return actions;
        }
        let mut toggled = None;
        let (mut sort, mut order) = (self.view.sort, self.view.order);
        let wanted = &mut self.wanted;
        wide(ui, "process table", 1148.0, |ui| {
            let mut table = TableBuilder::new(ui)
                .min_scrolled_height(0.0)
                .id_salt("processes")
                .striped(true)
                .resizable(true)
                .auto_shrink([false, false])
                .cell_layout(egui::Layout::left_to_right(Align::Center))
                .sense(Sense::click())
                .column(Column::initial(230.0).at_least(100.0).clip(true))
                .column(Column::initial(62.0).at_least(40.0).clip(true))
                .column(Column::initial(106.0).at_least(50.0).clip(true))
                .columns(Column::initial(82.0).at_least(50.0).clip(true), 3)
                .column(Column::initial(78.0).at_least(36.0).clip(true))
                .column(Column::initial(64.0).at_least(36.0).clip(true))
                .column(Column::initial(48.0).at_least(36.0).clip(true))
                .column(Column::initial(180.0).at_least(60.0).clip(true))
                .column(Column::remainder().at_least(120.0).clip(true));
            if let Some(id) = *wanted
                && let Some(at) = answer.rows.iter().position(|row| row.id == id)
            {
                table = table.scroll_to_row(at, Some(Align::Center));
                *wanted = None;
            }
            table
                .header(20.0, |mut header| {
                    heading_ui(&mut header, COLUMNS, &mut sort, &mut order);
                })
                .body(|body| {
                    body.rows(ROW_HEIGHT, answer.rows.len(), |mut row| {
                        let Some(&entry) = answer.rows.get(row.index()) else {
                            return;
                        };
                        row.set_selected(selected_process(scene) == Some(entry.id));
                        let is_toggled = row_ui(&mut row, scene, &times, entry);
                        let response = row.response();
                        response.widget_info(|| {
                            let texts = texts_of(scene, &times, entry.id);
                            row_info(COLUMNS.iter().map(Heading::title).zip(texts))
                        });
                        response.ctx.accesskit_node_builder(response.id, |node| {
                            node.set_level(entry.depth as usize + 1);
                            if entry.has_children {
                                node.set_expanded(entry.is_open);
                            }
                        });
                        if is_toggled {
                            toggled = Some(entry.id);
                        } else if response.clicked() {
                            select(trace, entry.id, &mut actions);
                        }
                    });
                });
        });
        (self.view.sort, self.view.order) = (sort, order);
        if let Some(id) = toggled {
            self.view.opened.toggle(id);
        }
        if let Some(Action::Select(item)) = actions.last() {
            // The row was clicked, so the list must not scroll to it.
            self.shown = Some(*item);
        }
        actions
    }

    fn is_waiting(&self) -> bool {
        self.listed.is_busy() || self.copying.is_waiting()
    }

    fn stop(&mut self) {
        self.copying.stop();
    }
}

/// Returns the rows of the tree as a table, for the clipboard.
fn table_of(rows: &[TreeRow], times: &Arc<ProcessTimes>) -> TableData {
    let of = |name: &str| PaneColumn::of(&PROCESS_TIMES, name, 0.0);
    let columns = vec![
        of("name").titled("Program"),
        of("pid").titled("Pid"),
        of("start"),
        of("dur"),
        of("own"),
        of("subtree"),
        PaneColumn::after(&PROCESS_TIMES, 0, EXIT, 0.0),
        of("children"),
        of("opens").titled("Files"),
        of("args"),
    ];
    let node = |row: &TreeRow| ProcessNode {
        id: row.id,
        depth: row.depth,
    };
    let nodes = rows.iter().map(node).collect();
    TableData::new(columns, process_rows(nodes, times.clone()))
}

impl TreePane {
    /// Opens the rows above a process that was selected elsewhere, and scrolls to it.
    fn follow_selection(&mut self, scene: &Scene<'_>, key: TraceId) {
        if scene.state.selected == self.shown {
            return;
        }
        let Some((known, times)) = &self.times else {
            return;
        };
        if *known != key {
            return;
        }
        self.shown = scene.state.selected;
        if let Some(id) = selected_process(scene) {
            for above in times.path_to(&scene.loaded.trace, id) {
                if above != id {
                    self.view.opened.set(above, OpenRule::All);
                }
            }
            self.wanted = Some(id);
        }
    }
}

/// Returns the process of the selected item.
fn selected_process(scene: &Scene<'_>) -> Option<ProcessId> {
    let trace = &scene.loaded.trace;
    match scene.state.selected? {
        Item::Process(id) => Some(id),
        item => trace.thread(item.thread(trace)?).process,
    }
}

/// Scrolls the timeline to a process, and selects it.
pub(crate) fn select(trace: &Trace, id: ProcessId, actions: &mut Vec<Action>) {
    let main = trace
        .processes
        .get(id.0 as usize)
        .and_then(|process| process.main_thread);
    actions.push(Action::Reveal(main.map_or(Item::Process(id), Item::Thread)));
    actions.push(Action::Select(Item::Process(id)));
}

fn first_levels(times: &ProcessTimes) -> Opened {
    let mut opened = Opened {
        rule: OpenRule::None,
        ..Opened::default()
    };
    for (index, &depth) in times.depths.iter().enumerate() {
        if depth < 3 {
            opened.set(ProcessId(index as u32), OpenRule::All);
        }
    }
    opened
}

/// Draws the controls above the list; returns whether the copy button was clicked.
fn toolbar_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    view: &mut TreeView,
    wanted: &mut Option<ProcessId>,
    times: &ProcessTimes,
    answer: &Answer,
    actions: &mut Vec<Action>,
) -> bool {
    let trace = &scene.loaded.trace;
    let mut wants_copy = false;
    ui.horizontal(|ui| {
        let edit = egui::TextEdit::singleline(&mut view.filter)
            .hint_text("Filter: program, arguments, pid")
            .desired_width(220.0);
        let response = ui.add(edit);
        response.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Filter processes")
        });
        if !view.filter.is_empty() && ui.small_button("Clear").clicked() {
            view.filter.clear();
        }
        for (text, rule) in [
            ("Expand all", OpenRule::All),
            ("Collapse all", OpenRule::None),
        ] {
            if ui.button(text).clicked() {
                view.opened = Opened {
                    rule,
                    ..Opened::default()
                };
            }
        }
        let slowest = ui
            .button("Slowest child")
            .on_hover_text("From the selected process down: always the child that lived longest");
        if slowest.clicked() {
            let from = selected_process(scene).or_else(|| longest(&times.tree.roots, times));
            let path = from
                .map(|from| times.slowest_path(from))
                .unwrap_or_default();
            for &id in &path {
                view.opened.set(id, OpenRule::All);
            }
            if let Some(&last) = path.last() {
                select(trace, last, actions);
                *wanted = Some(last);
            }
        }
        let words = if view.filter.trim().is_empty() {
            ruler::counted(trace.processes.len(), "process", "processes")
        } else {
            format!(
                "{} of {} processes match",
                ruler::grouped(answer.match_count as i64),
                ruler::grouped(trace.processes.len() as i64)
            )
        };
        wants_copy = copy_button(ui, answer.rows.len(), COPIES_ROWS).clicked();
        ui.label(RichText::new(words).color(scene.palette.weak));
    });
    wants_copy
}

fn longest(ids: &[ProcessId], times: &ProcessTimes) -> Option<ProcessId> {
    ids.iter().copied().max_by_key(|&id| times.of(id).subtree)
}

/// Draws the path from the root to the selected process.
fn path_ui(ui: &mut Ui, scene: &Scene<'_>, times: &ProcessTimes, actions: &mut Vec<Action>) {
    let Some(id) = selected_process(scene) else {
        return;
    };
    let trace = &scene.loaded.trace;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.label(RichText::new("Path to the root:").color(scene.palette.weak));
        let path = times.path_to(trace, id);
        for (index, &id) in path.iter().enumerate() {
            if index > 0 {
                ui.label(RichText::new("›").color(scene.palette.weak));
            }
            let pid = trace.processes.get(id.0 as usize).map_or(0, |it| it.pid);
            let text = format!("{} ({pid})", program_of(trace, id));
            if ui.link(RichText::new(text).size(12.0)).clicked() {
                select(trace, id, actions);
            }
        }
    });
}

fn text_ui(ui: &mut Ui, text: RichText) {
    let text = one_line(ui, text);
    ui.add(egui::Label::new(text).selectable(false).truncate());
}

fn number_ui(ui: &mut Ui, text: String) {
    ui.with_layout(egui::Layout::right_to_left(Align::Center), |ui| {
        text_ui(ui, RichText::new(text).size(12.0));
    });
}

/// Draws one row; returns whether its triangle was clicked.
fn row_ui(
    row: &mut TableRow<'_, '_>,
    scene: &Scene<'_>,
    times: &ProcessTimes,
    entry: TreeRow,
) -> bool {
    let (trace, palette) = (&scene.loaded.trace, scene.palette);
    let Some(process) = trace.processes.get(entry.id.0 as usize) else {
        return false;
    };
    let time = times.of(entry.id);
    let unit = scene.state.origins.unit;
    let mut is_toggled = false;
    row.col(|ui| {
        is_toggled = program_ui(ui, scene, entry);
    });
    row.col(|ui| number_ui(ui, process.pid.to_string()));
    row.col(|ui| {
        let text = process.start.map_or("before".to_owned(), |time| {
            let mark = if process.made.is_none() { "≤ " } else { "" };
            let time = ruler::full_text(time, scene.state.time_format, scene.state.origins);
            format!("{mark}{time}")
        });
        number_ui(ui, text);
    });
    for (length, suffix) in [
        (
            time.span.duration(),
            if process.end.is_none() { " +" } else { "" },
        ),
        (time.own, ""),
        (time.subtree, ""),
    ] {
        row.col(|ui| number_ui(ui, format!("{}{suffix}", ruler::length_text(length, unit))));
    }
    row.col(|ui| {
        let text = exit_short(process.exit_status, process.exit_signal);
        let text = RichText::new(text).size(12.0);
        let text = if process.has_failed() {
            text.color(palette.error).strong()
        } else {
            text
        };
        ui.with_layout(egui::Layout::right_to_left(Align::Center), |ui| {
            let label = ui.add(egui::Label::new(text).selectable(false).truncate());
            let whole = exit_text(process.exit_status, process.exit_signal);
            if !whole.is_empty() {
                label.on_hover_text(whole);
            }
        });
    });
    for count in [time.children, process.opens] {
        row.col(|ui| {
            number_ui(
                ui,
                if count == 0 {
                    String::new()
                } else {
                    ruler::grouped(i64::from(count))
                },
            );
        });
    }
    row.col(|ui| bar_ui(ui, scene, times, entry.id));
    row.col(|ui| {
        let text = RichText::new(first_arguments_of(trace, entry.id, MOST_ARGUMENTS))
            .size(12.0)
            .monospace();
        text_ui(ui, text);
    });
    is_toggled
}

/// Returns the texts of a process's row.
fn texts_of(scene: &Scene<'_>, times: &ProcessTimes, id: ProcessId) -> Vec<String> {
    let trace = &scene.loaded.trace;
    let Some(process) = trace.processes.get(id.0 as usize) else {
        return Vec::new();
    };
    let (time, unit) = (times.of(id), scene.state.origins.unit);
    let start = process.start.map_or("before".to_owned(), |time| {
        ruler::full_text(time, scene.state.time_format, scene.state.origins)
    });
    let end = match process.end {
        None => " or more",
        Some(_) => "",
    };
    let counted = |count: u32| match count {
        0 => String::new(),
        count => ruler::grouped(i64::from(count)),
    };
    vec![
        program_of(trace, id).to_string(),
        process.pid.to_string(),
        start,
        format!("{}{end}", ruler::length_text(time.span.duration(), unit)),
        ruler::length_text(time.own, unit),
        ruler::length_text(time.subtree, unit),
        exit_text(process.exit_status, process.exit_signal),
        counted(time.children),
        counted(process.opens),
        String::new(),
        first_arguments_of(trace, id, MOST_ARGUMENTS),
    ]
}

/// Draws the triangle and the name, indented by the process's depth; returns whether the triangle was clicked.
fn program_ui(ui: &mut Ui, scene: &Scene<'_>, entry: TreeRow) -> bool {
    let (trace, palette) = (&scene.loaded.trace, scene.palette);
    ui.spacing_mut().item_spacing.x = 3.0;
    // Levels that are too deep for the column are drawn at the deepest indentation that fits.
    let most = ((ui.available_width() - 60.0) / INDENT).max(0.0);
    ui.add_space(INDENT * (entry.depth as f32).min(most));
    let (area, response) = ui.allocate_exact_size(vec2(13.0, ROW_HEIGHT), Sense::click());
    let mut is_toggled = false;
    if entry.has_children {
        let middle = area.center();
        let points = if entry.is_open {
            [vec2(-4.0, -2.5), vec2(4.0, -2.5), vec2(0.0, 3.5)]
        } else {
            [vec2(-2.5, -4.0), vec2(3.5, 0.0), vec2(-2.5, 4.0)]
        };
        let color = if response.hovered() {
            palette.text
        } else {
            palette.weak
        };
        ui.painter().add(egui::Shape::convex_polygon(
            points.map(|at| middle + at).to_vec(),
            color,
            egui::Stroke::NONE,
        ));
        let pid = trace
            .processes
            .get(entry.id.0 as usize)
            .map_or(0, |it| it.pid);
        let label = format!("Children of {} ({pid})", program_of(trace, entry.id));
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &label));
        is_toggled = response.clicked();
    }
    let mut text = RichText::new(shortened(&program_of(trace, entry.id))).size(12.0);
    if !entry.is_match {
        text = text.color(palette.weak);
    } else if scene.state.is_highlighted(entry.id) {
        text = text.color(palette.flow).strong();
    }
    text_ui(ui, text);
    let process = trace.processes.get(entry.id.0 as usize);
    if process.is_some_and(crate::trace::Process::may_be_thread) {
        ui.add(egui::Label::new(
            RichText::new("thread?").size(10.5).color(palette.weak),
        ))
        .on_hover_text(
            "Possibly a thread: it ran no program, and the trace does not say how it was made",
        );
    }
    is_toggled
}

/// Draws the life of a process within the trace; an end outside the recording is drawn open.
fn bar_ui(ui: &Ui, scene: &Scene<'_>, times: &ProcessTimes, id: ProcessId) {
    let (trace, palette) = (&scene.loaded.trace, scene.palette);
    let Some(process) = trace.processes.get(id.0 as usize) else {
        return;
    };
    let area = ui.max_rect().shrink2(vec2(2.0, 4.0));
    let length = (trace.span.duration().0 as f64).max(1.0);
    let x = |time: crate::base::Timestamp| {
        let share = (time - trace.span.start).0 as f64 / length;
        area.left() + (share.clamp(0.0, 1.0) as f32) * area.width()
    };
    let span = times.of(id).span;
    let (left, right) = (x(span.start), x(span.end));
    let bar = Rect::from_min_max(
        pos2(left, area.top()),
        pos2(right.max(left + 2.0), area.bottom()),
    );
    let tint = Tint::of_process(trace, id);
    let color = tint.map_or(palette.instant, |tint| tint.plain(palette));
    ui.painter().rect_filled(bar, 2, color);
    for (is_open, x, side) in [
        (process.start.is_none(), bar.left(), 1.0),
        (process.end.is_none(), bar.right(), -1.0),
    ] {
        if is_open && bar.width() > 8.0 {
            // A notch: the process lived on outside the recording.
            let middle = bar.center().y;
            let notch = vec![
                pos2(x, bar.top()),
                pos2(x + side * 4.0, middle),
                pos2(x, bar.bottom()),
            ];
            let fill = palette.canvas;
            ui.painter()
                .add(egui::Shape::convex_polygon(notch, fill, egui::Stroke::NONE));
        }
    }
    if scene.state.is_highlighted(id) {
        let stroke = egui::Stroke::new(1.5, palette.flow);
        ui.painter()
            .rect_stroke(bar, 2, stroke, egui::StrokeKind::Outside);
    }
}
