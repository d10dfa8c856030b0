//! A pane with the processes as a tree of parents and children, with their times and a bar for each life.

use std::sync::Arc;

use egui::{Align, Rect, RichText, Ui, pos2, vec2};

use crate::base::signals::{exit_short, exit_text};
use crate::base::{Cancelled, Job, Task, TaskKey, Work};
use crate::gui::pane::{Pane, Scene};
use crate::gui::script::one_line;
use crate::gui::shortened::shortened;
use crate::gui::table::{DataTable, OpenRule, Order, PaneColumn, Parts, TEXT_SIZE, TableData};
use crate::gui::tint::Tint;
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::query::process_times::{ProcessTimes, is_found, program_of};
use crate::query::process_tree::Visited;
use crate::tables::lives::{EXIT, PROCESS_TIMES, process_rows};
use crate::trace::{Process, ProcessId, Trace};
use crate::view::{Action, ruler};

/// Returns the pane.
pub(crate) fn make() -> Box<dyn Pane> {
    Box::<TreePane>::default()
}

struct TreePane {
    found: Task<(), Arc<Found>>,
    /// Whether only the first levels are open, because there are many processes.
    is_folded: bool,
    /// The selected item to which the list last scrolled.
    shown: Option<Item>,
    table: DataTable,
}

/// The processes of a trace with their times, as a table.
struct Found {
    times: Arc<ProcessTimes>,
    data: Arc<TableData>,
    /// The row of each process; `None` for the few that are in no row.
    rows: Vec<Option<u32>>,
}

/// With at least this many processes only the first levels are open initially.
const MANY: usize = 2000;
/// The number of levels that are open then.
const FIRST_LEVELS: u32 = 3;
/// The index of the column by which rows are sorted at first.
const BY_START: usize = 2;

impl Default for TreePane {
    fn default() -> TreePane {
        TreePane {
            found: Task::default(),
            is_folded: false,
            shown: None,
            table: DataTable::sorted(BY_START, Order::Ascending),
        }
    }
}

impl Found {
    fn new(trace: &Trace, job: &Job) -> Result<Found, Cancelled> {
        let times = Arc::new(ProcessTimes::new(trace));
        job.check()?;
        let nodes = times.tree.walk().into_iter();
        let nodes: Vec<Visited> = nodes.collect();
        job.check()?;
        let mut rows = vec![None; trace.processes.len()];
        for (row, node) in (0..).zip(&nodes) {
            if let Some(place) = rows.get_mut(node.id.0 as usize) {
                *place = Some(row);
            }
        }
        Ok(Found {
            data: Arc::new(table_of(nodes, &times)),
            times,
            rows,
        })
    }

    fn row_of(&self, id: ProcessId) -> Option<usize> {
        let row = self.rows.get(id.0 as usize).copied().flatten();
        row.map(|row| row as usize)
    }
}

impl Pane for TreePane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let trace = &scene.loaded.trace;
        if trace.processes.is_empty() {
            let words = if scene.loaded.is_complete {
                "This trace names no processes. Record forks and execs (sched_process_fork, sched_process_exec) to see who started whom."
            } else {
                "Processes appear once the file is read."
            };
            ui.label(RichText::new(words).color(scene.palette.weak));
            return actions;
        }
        let id = scene.loaded.id;
        let loaded = scene.loaded.clone();
        let work = move |work: &Work<Arc<Found>>| Found::new(&loaded.trace, work).map(Arc::new);
        self.found
            .ask(ui.ctx(), TaskKey::about(id, ()).in_turn(), work);
        let Some(found) = self.found.exact(id).cloned() else {
            self.found.ui(ui, scene.palette);
            return actions;
        };
        if !self.is_folded && trace.processes.len() > MANY {
            self.is_folded = true;
            self.open_first_levels(&found.times);
        }
        self.follow_selection(scene, &found);
        self.toolbar_ui(ui, scene, &found, &mut actions);
        path_ui(ui, scene, &found.times, &mut actions);
        let selected = selected_process(scene);
        (self.table).detail(selected.and_then(|selected| found.row_of(selected)));
        let mut draw = |ui: &mut Ui, row: usize, column: &PaneColumn| {
            if let Some(Item::Process(id)) = found.data.rows.item(scene.loaded, row) {
                cell_ui(ui, scene, &found.times, id, column);
            }
        };
        let parts = Parts {
            draw: &mut draw,
            menu: |_: &mut Ui, _, _: &mut Vec<Action>| {},
        };
        let answer =
            (self.table).ui_with_cells(ui, scene, "processes", &found.data, &mut actions, parts);
        let clicked = answer.clicked;
        let clicked = clicked.and_then(|row| found.data.rows.item(scene.loaded, row));
        if let Some(Item::Process(id)) = clicked {
            select(trace, id, &mut actions);
            // The row was clicked, so the list must not scroll to it.
            self.shown = Some(Item::Process(id));
        }
        actions
    }

    fn is_waiting(&self) -> bool {
        self.found.is_busy() || self.table.is_waiting()
    }

    fn stop(&mut self) {
        self.found.stop();
        self.table.stop();
    }
}

/// Returns the processes as a table.
fn table_of(nodes: Vec<Visited>, times: &Arc<ProcessTimes>) -> TableData {
    let of = |name: &str, width: f32| PaneColumn::of(&PROCESS_TIMES, name, width);
    let after = |at: usize, def, width: f32| PaneColumn::after(&PROCESS_TIMES, at, def, width);
    let columns = vec![
        of("name", 230.0).titled("Program").about("").drawn(),
        of("pid", 62.0).titled("Pid").about(""),
        of("start", 106.0)
            .with_none("before")
            .first_sorted(Order::Ascending)
            .drawn(),
        of("dur", 82.0).about("How long it lived"),
        of("own", 82.0).about("The time in which none of its children lived"),
        of("subtree", 82.0).about("Its own time and that of all below it"),
        after(0, EXIT, 78.0)
            .first_sorted(Order::Descending)
            .at_right()
            .drawn(),
        of("children", 64.0).hiding_zero(),
        of("opens", 48.0)
            .titled("Files")
            .about("How often it opened a file or tried to")
            .hiding_zero(),
        PaneColumn::of_controls("When it lived", 180.0).titled(LIFETIME),
        of("args", 120.0).mono().growing(),
    ];
    TableData {
        matches: Some(matches),
        ..TableData::new(columns, process_rows(nodes, times.clone()))
    }
    .into_tree()
}

/// The title of the column with the bars.
const LIFETIME: &str = "Lifetime";

/// Returns whether all words of a filter are in a process's program, arguments or pid.
fn matches(loaded: &LoadedTrace, item: Item, filter: &str) -> bool {
    let Item::Process(id) = item else {
        return false;
    };
    let words: Vec<&str> = filter.split_whitespace().collect();
    is_found(&loaded.trace, id, &words)
}

impl TreePane {
    /// Opens the rows above a process that was selected elsewhere, and scrolls to it.
    fn follow_selection(&mut self, scene: &Scene<'_>, found: &Found) {
        if scene.state.selected == self.shown {
            return;
        }
        self.shown = scene.state.selected;
        let row = selected_process(scene).and_then(|id| found.row_of(id));
        if let Some(row) = row {
            self.table.reveal(&found.data, row);
        }
    }

    fn open_first_levels(&mut self, times: &ProcessTimes) {
        self.table.open_all(OpenRule::None);
        for (id, _) in (0..)
            .zip(&times.depths)
            .filter(|(_, depth)| **depth < FIRST_LEVELS)
        {
            self.table.open(id);
        }
    }

    /// Draws the controls above the list.
    fn toolbar_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        found: &Found,
        actions: &mut Vec<Action>,
    ) {
        let (trace, times) = (&scene.loaded.trace, &found.times);
        ui.horizontal(|ui| {
            let edit = egui::TextEdit::singleline(self.table.filter())
                .hint_text("Filter: program, arguments, pid")
                .desired_width(220.0);
            let response = ui.add(edit);
            response.widget_info(|| {
                egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Filter processes")
            });
            if !self.table.filter().is_empty() && ui.small_button("Clear").clicked() {
                self.table.filter().clear();
            }
            for (text, rule) in [
                ("Expand all", OpenRule::All),
                ("Collapse all", OpenRule::None),
            ] {
                if ui.button(text).clicked() {
                    self.table.open_all(rule);
                }
            }
            let slowest = ui.button("Slowest child").on_hover_text(
                "From the selected process down: always the child that lived longest",
            );
            if slowest.clicked() {
                let from = selected_process(scene).or_else(|| longest(&times.tree.roots, times));
                let path = from
                    .map(|from| times.slowest_path(from))
                    .unwrap_or_default();
                if let Some(&last) = path.last() {
                    self.table.open(last.0);
                    select(trace, last, actions);
                    if let Some(row) = found.row_of(last) {
                        self.table.reveal(&found.data, row);
                    }
                }
            }
            let count = trace.processes.len();
            let words = match self.table.filter().trim() {
                "" => ruler::counted(count, "process", "processes"),
                _ => format!(
                    "{} of {} processes match",
                    ruler::grouped(self.table.match_count() as i64),
                    ruler::grouped(count as i64)
                ),
            };
            (self.table).copy_button_ui(ui, scene, &found.data, actions);
            ui.label(RichText::new(words).color(scene.palette.weak));
        });
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

fn longest(ids: &[ProcessId], times: &ProcessTimes) -> Option<ProcessId> {
    ids.iter()
        .copied()
        .max_by_key(|&id| times.of(id).subtree.certain())
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

fn text_ui(ui: &mut Ui, text: RichText) -> egui::Response {
    let text = one_line(ui, text);
    ui.add(egui::Label::new(text).selectable(false).truncate())
}

/// Draws a cell of a column that the table does not draw itself.
fn cell_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    times: &ProcessTimes,
    id: ProcessId,
    column: &PaneColumn,
) {
    let Some(process) = scene.loaded.trace.processes.get(id.0 as usize) else {
        return;
    };
    match column.def.name {
        "name" => program_ui(ui, scene, id, process),
        "start" => start_ui(ui, scene, process),
        "exit" => exit_ui(ui, scene, process),
        _ => bar_ui(ui, scene, times, id),
    }
}

fn start_ui(ui: &mut Ui, scene: &Scene<'_>, process: &Process) {
    let text = process.start.map_or("before".to_owned(), |time| {
        let mark = if process.made.is_none() { "≤ " } else { "" };
        let time = ruler::full_text(time, scene.state.time_format, scene.state.origins);
        format!("{mark}{time}")
    });
    ui.with_layout(egui::Layout::right_to_left(Align::Center), |ui| {
        text_ui(ui, RichText::new(text).size(TEXT_SIZE));
    });
}

fn exit_ui(ui: &mut Ui, scene: &Scene<'_>, process: &Process) {
    let text = exit_short(process.exit_status, process.exit_signal);
    let text = RichText::new(text).size(TEXT_SIZE);
    let text = match process.has_failed() {
        true => text.color(scene.palette.error).strong(),
        false => text,
    };
    ui.with_layout(egui::Layout::right_to_left(Align::Center), |ui| {
        let label = text_ui(ui, text);
        let whole = exit_text(process.exit_status, process.exit_signal);
        if !whole.is_empty() {
            label.on_hover_text(whole);
        }
    });
}

/// Draws the name of the program that a process ran last.
fn program_ui(ui: &mut Ui, scene: &Scene<'_>, id: ProcessId, process: &Process) {
    let palette = scene.palette;
    let name = program_of(&scene.loaded.trace, id);
    let text = RichText::new(shortened(&name)).size(TEXT_SIZE);
    let text = match scene.state.is_highlighted(id) {
        true => text.color(palette.flow).strong(),
        false => text,
    };
    text_ui(ui, text);
    if process.may_be_thread() {
        let note = RichText::new("thread?").size(10.5).color(palette.weak);
        ui.add(egui::Label::new(note)).on_hover_text(
            "Possibly a thread: it ran no program, and the trace does not say how it was made",
        );
    }
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
