//! A pane about a whole build: how many processes ran in parallel, its critical chain, its programs, the processes that
//! failed, and the costs of its compilers, if these recorded them.

use std::sync::Arc;

use egui::{RichText, Ui};
use egui_plot::{Bar, BarChart, Plot};

use super::process_tree::select;
use crate::assemble::file_history::FileHistory;
use crate::base::signals::exit_text;
use crate::base::{Cancelled, Job, Nanos, Task, TaskKey, TimeSpan, Timestamp, Work};
use crate::gui::chart::time_marks;
use crate::gui::pane::{Pane, Scene};
use crate::gui::table::{DataTable, PaneColumn, TableData};
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::query::build_chain::{Chain, critical_chain};
use crate::query::compiler_costs::compiler_costs;
use crate::query::compiler_totals::compiler_totals;
use crate::query::process_times::{
    CountFrom, MeanAndMost, ProcessTimes, curve, first_arguments_of, mean_and_most, parallelism,
    program_of,
};
use crate::query::programs::{ProgramTotal, failed, programs};
use crate::query::slot_estimate::with_slots;
use crate::tables::TableDef;
use crate::tables::builds::{CRITICAL_CHAIN, PROGRAMS, WHY, chain_rows, program_rows};
use crate::tables::columns::PROCESS_IN_FULL;
use crate::tables::compiler_costs::{COMPILER_COSTS, COMPILER_TOTALS, cost_rows, total_rows};
use crate::trace::{Process, ProcessId, Trace};
use crate::view::highlight::{Highlight, LifeSpan};
use crate::view::{Action, ruler};

/// Returns the pane.
pub(crate) fn make() -> Box<dyn Pane> {
    Box::<BuildPane>::default()
}

#[derive(Default)]
struct BuildPane {
    answer: Task<(), Answer>,
    /// The number of job slots of the estimate; `None`: twice as many as there were.
    slots: Option<u32>,
    /// The section that a small pane shows.
    shown: Section,
    tables: Tables,
}

/// The state of the tables on the screen.
#[derive(Default)]
struct Tables {
    chain: DataTable,
    programs: DataTable,
    costs: DataTable,
    totals: DataTable,
    /// Which of the tables about programs is shown.
    of_programs: OfPrograms,
}

/// A table about programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum OfPrograms {
    #[default]
    Programs,
    /// The costs of headers, templates and passes.
    Costs,
    /// The sums at the end of compilers' traces.
    Totals,
}

struct Answer {
    curve: Vec<CountFrom>,
    at_once: MeanAndMost,
    /// The time of all working processes together.
    work: Nanos,
    chain: Chain,
    /// The rows of the chain's steps and waits.
    steps: Arc<TableData>,
    programs: Arc<TableData>,
    /// The costs that compilers recorded; `None` if no compiler recorded any.
    costs: Option<Arc<TableData>>,
    /// The sums that compilers wrote; `None` if there are none.
    totals: Option<Arc<TableData>>,
    /// The processes that failed; `None` if it is not known how any process ended.
    failed: Option<Vec<ProcessId>>,
}

/// The most bytes of arguments that a tooltip shows.
const MOST_ARGUMENTS: usize = 2000;
/// The most points of the curve.
const MOST_POINTS: usize = 2000;
const CHAIN: &str = CRITICAL_CHAIN.title;

/// A section of the pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Chain,
    Programs,
    Curve,
}

const SECTIONS: &[(Section, &str)] = &[
    (Section::Chain, "Chain"),
    (Section::Programs, "By program"),
    (Section::Curve, "Over time"),
];

/// The arrangement of the sections.
enum Layouts {
    Beside,
    Below,
    /// One section at a time.
    One,
}

impl Layouts {
    fn for_room(room: egui::Vec2) -> Layouts {
        // The least width in points for all sections side by side: two readable tables, and a curve about as wide as
        // one of them.
        const ALL_BESIDE: f32 = 860.0;
        const ALL_BELOW: f32 = 400.0;
        match room {
            _ if room.x >= ALL_BESIDE => Layouts::Beside,
            _ if room.y >= ALL_BELOW => Layouts::Below,
            _ => Layouts::One,
        }
    }
}

impl Answer {
    fn new(loaded: &LoadedTrace, job: &Job) -> Result<Answer, Cancelled> {
        let trace = loaded.trace.as_ref();
        let costs = compiler_costs(trace, loaded.reader.as_ref(), |_, _| true, job)?;
        let costs =
            (!costs.is_empty()).then(|| Arc::new(TableData::new(cost_columns(), cost_rows(costs))));
        let totals = compiler_totals(trace, loaded.reader.as_ref(), |_, _| true, job)?;
        let totals = (!totals.is_empty())
            .then(|| Arc::new(TableData::new(total_columns(), total_rows(totals))));
        let times = ProcessTimes::new(trace);
        job.check()?;
        let steps = parallelism(trace, &times);
        let first = steps.first().map_or(trace.span.start, |step| step.time);
        let last = steps.last().map_or(trace.span.end, |step| step.time);
        let span = TimeSpan::new(first, last.max(first));
        let history = FileHistory::new(trace);
        job.check()?;
        let chain = critical_chain(trace, &times, &history);
        job.check()?;
        let at_once = mean_and_most(&steps, span);
        let programs = programs(trace, &times, |_| true);
        Ok(Answer {
            work: Nanos((at_once.mean * span.duration().0 as f64) as i64),
            curve: curve(&steps, span, MOST_POINTS),
            at_once,
            steps: Arc::new(TableData::new(chain_columns(), chain_rows(chain.rows()))),
            chain,
            programs: Arc::new(TableData::new(
                program_columns(&programs),
                program_rows(programs),
            )),
            costs,
            totals,
            failed: trace
                .processes
                .iter()
                .any(Process::has_known_exit)
                .then(|| failed(trace)),
        })
    }
}

impl Pane for BuildPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let trace = &scene.loaded.trace;
        let is_build = is_build(trace);
        if !is_build && !trace.has_compilations() {
            let words = if scene.loaded.is_complete {
                "No process was started in this trace. Record a build with etrace, strace -f, or trace-cmd -e sched_process."
            } else {
                "The build appears once the file is read."
            };
            ui.label(RichText::new(words).color(scene.palette.weak));
            return actions;
        }
        let loaded = scene.loaded.clone();
        let key = scene.loaded.id;
        let question = TaskKey::about(key, ()).in_turn();
        let work = move |work: &Work<Answer>| Answer::new(&loaded, work);
        self.answer.ask(ui.ctx(), question, work);
        let Some(answer) = self.answer.exact(key) else {
            self.answer.ui(ui, scene.palette);
            return actions;
        };
        let tables = &mut self.tables;
        if !is_build && (answer.costs.is_some() || answer.totals.is_some()) {
            of_programs_ui(ui, scene, answer, tables, &mut actions);
            return actions;
        }
        let room = ui.available_size();
        match Layouts::for_room(room) {
            Layouts::Beside => {
                egui::Panel::left("build curve")
                    .resizable(true)
                    .default_size(room.x * 0.15)
                    .show(ui, |ui| {
                        curve_ui(ui, scene, answer, &mut self.slots, &mut actions)
                    });
                egui::Panel::right("build programs")
                    .resizable(true)
                    .default_size((room.x * 0.42).min(540.0).max(room.x * 0.3))
                    .show(ui, |ui| {
                        of_programs_ui(ui, scene, answer, tables, &mut actions)
                    });
                egui::Frame::new()
                    .inner_margin(egui::Margin::symmetric(8, 2))
                    .show(ui, |ui| {
                        chain_ui(ui, scene, answer, &mut tables.chain, &mut actions)
                    });
            }
            Layouts::Below => {
                egui::Panel::bottom("build curve below")
                    .resizable(true)
                    .default_size(room.y * 0.28)
                    .show(ui, |ui| {
                        curve_ui(ui, scene, answer, &mut self.slots, &mut actions)
                    });
                egui::Panel::bottom("build programs below")
                    .resizable(true)
                    .default_size(room.y * 0.32)
                    .show(ui, |ui| {
                        of_programs_ui(ui, scene, answer, tables, &mut actions)
                    });
                chain_ui(ui, scene, answer, &mut tables.chain, &mut actions);
            }
            Layouts::One => {
                ui.horizontal(|ui| {
                    for (shown, title) in SECTIONS {
                        ui.selectable_value(&mut self.shown, *shown, *title);
                    }
                });
                match self.shown {
                    Section::Chain => chain_ui(ui, scene, answer, &mut tables.chain, &mut actions),
                    Section::Programs => of_programs_ui(ui, scene, answer, tables, &mut actions),
                    Section::Curve => curve_ui(ui, scene, answer, &mut self.slots, &mut actions),
                }
            }
        }
        actions
    }

    fn is_waiting(&self) -> bool {
        let tables = &self.tables;
        let tables = [
            &tables.chain,
            &tables.programs,
            &tables.costs,
            &tables.totals,
        ];
        self.answer.is_busy() || tables.iter().any(|table| table.is_waiting())
    }

    fn stop(&mut self) {
        self.answer.stop();
        self.tables.chain.stop();
        self.tables.programs.stop();
        self.tables.costs.stop();
        self.tables.totals.stop();
    }
}

/// Returns whether a process was started in a trace.
fn is_build(trace: &Trace) -> bool {
    let mut processes = trace.processes.iter();
    processes.any(|process| process.start.is_some())
}

fn length(scene: &Scene<'_>, length: Nanos) -> String {
    ruler::length_text(length, scene.state.origins.unit)
}

/// Draws the number of working processes over time.
fn curve_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    answer: &Answer,
    slots: &mut Option<u32>,
    actions: &mut Vec<Action>,
) {
    let palette = scene.palette;
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Processes at work").strong())
            .on_hover_text("Processes without a living child: those that do something themselves");
        let MeanAndMost { mean, most } = answer.at_once;
        let words = format!("mean {mean:.2}, most {most}");
        ui.label(RichText::new(words).color(palette.weak));
    });
    estimate_ui(ui, scene, answer, slots);
    let start = scene.loaded.trace.span.start;
    let seconds = |time: Timestamp| (time - start).0 as f64 / 1e9;
    let ends = answer.curve.iter().skip(1).map(|step| step.time);
    let bars: Vec<Bar> = answer
        .curve
        .iter()
        .zip(ends)
        .filter(|(step, _)| step.count > 0)
        .map(|(step, end)| {
            let (from, until) = (seconds(step.time), seconds(end));
            Bar::new((from + until) / 2.0, f64::from(step.count))
                .width(until - from)
                .fill(palette.counter.1)
                .stroke(egui::Stroke::NONE)
        })
        .collect();
    let (format, origins) = (scene.state.time_format, scene.state.origins);
    let zero = ruler::zero_of(format, origins);
    let shown = [scene.state.span.start, scene.state.span.end].map(seconds);
    let plot = Plot::new("parallelism")
        .grid_color(scene.palette.line)
        .allow_scroll(false)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_boxed_zoom(false)
        .show_grid([false, true])
        .include_y(0.0)
        .y_axis_min_width(22.0)
        // The grid has whole numbers only: half a process makes no sense.
        .y_grid_spacer(egui_plot::uniform_grid_spacer(|input| {
            let step = input.base_step_size.ceil().max(1.0);
            [step, 5.0 * step, 10.0 * step]
        }))
        .x_grid_spacer(move |input| time_marks(&input, start, 1e-9, zero))
        .x_axis_formatter(move |mark, _| {
            let step = Nanos((mark.step_size * 1e9) as i64);
            let time = start + Nanos((mark.value * 1e9).round() as i64);
            ruler::tick_text(time, step, format, origins)
        })
        .label_formatter(move |at| {
            let (egui_plot::HoverPosition::NearDataPoint { position, .. }
            | egui_plot::HoverPosition::Elsewhere { position }) = at;
            let time = start + Nanos((position.x * 1e9) as i64);
            let time = ruler::full_text(time, format, origins);
            Some(format!("{time}\n{:.0} at work", position.y))
        })
        .show(ui, |plot| {
            // Lines at both ends of the span that the timeline shows.
            for x in shown {
                plot.vline(
                    egui_plot::VLine::new("shown", x)
                        .color(palette.accent)
                        .width(1.0),
                );
            }
            plot.bar_chart(BarChart::new("processes at work", bars).allow_hover(false));
            plot.pointer_coordinate()
        });
    plot.response.widget_info(|| {
        let most = answer.at_once.most;
        let words = format!("Processes at work over time, at most {most}");
        egui::WidgetInfo::labeled(egui::Role::Canvas, true, words)
    });
    if plot.response.clicked()
        && let Some(at) = plot.inner
    {
        actions.push(Action::Center(start + Nanos((at.x * 1e9) as i64)));
    }
}

/// Draws how long the build would take with another number of job slots.
fn estimate_ui(ui: &mut Ui, scene: &Scene<'_>, answer: &Answer, slots: &mut Option<u32>) {
    let mut chosen = slots.unwrap_or(answer.at_once.most.saturating_mul(2).max(2));
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let label = ui.label("With");
        let field = egui::DragValue::new(&mut chosen).range(1..=1024).speed(0.1);
        if ui.add(field).labelled_by(label.id).changed() {
            *slots = Some(chosen);
        }
        let estimate = with_slots(answer.work, answer.chain.length, chosen);
        let words = format!(
            "job slots: {} to {} (estimate)",
            length(scene, estimate.least),
            length(scene, estimate.most)
        );
        ui.label(RichText::new(words).color(scene.palette.weak)).on_hover_text(
            "Lower bound: the critical chain, or all work divided by the slots. Upper bound: a runner that leaves no slot free while a job is ready. Both assume a processor for each slot, and that each process takes as long as it did.",
        );
    });
}

/// Draws the steps of the critical chain, and a switch that highlights them in the timeline and the tree.
fn chain_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    answer: &Answer,
    table: &mut DataTable,
    actions: &mut Vec<Action>,
) {
    let chain = &answer.chain;
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(CHAIN).strong()).on_hover_text(
            "The longest sequence of steps that each need the one before: no number of processors makes the build shorter than this",
        );
        let is_on = scene
            .state
            .highlight
            .as_ref()
            .is_some_and(|highlight| highlight.title == CHAIN);
        let button = egui::Button::selectable(is_on, "Highlight").frame_when_inactive(true);
        if ui.add(button).on_hover_text("Outline it in the timeline and in the process tree").clicked() {
            let spans = chain.steps.iter().map(|step| LifeSpan {
                process: step.process,
                span: step.span,
            });
            let spans = spans.collect();
            actions.push(Action::Highlight((!is_on).then(|| Highlight::new(CHAIN, spans))));
        }
        table.named_tools_ui(ui, scene, &answer.steps, "the chain", actions);
        let wall = chain.wall.duration();
        let share = 100.0 * chain.length.0 as f64 / (wall.0 as f64).max(1.0);
        let words = format!(
            "{} in {} steps, {share:.0} % of {}",
            length(scene, chain.length),
            chain.steps.len(),
            length(scene, wall)
        );
        let label = egui::Label::new(RichText::new(words).color(scene.palette.weak));
        ui.add(label.truncate());
    });
    row_ui(ui, scene, "critical chain", &answer.steps, table, actions);
}

/// Draws a table of processes; a click on a row goes to its process.
fn row_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    name: &str,
    data: &Arc<TableData>,
    table: &mut DataTable,
    actions: &mut Vec<Action>,
) {
    let none = |_: &mut Ui, _: usize, _: &mut Vec<Action>| {};
    let clicked = table.ui(ui, scene, name, data, actions, none).clicked;
    let item = clicked.and_then(|row| data.rows.item(scene.loaded, row));
    if let Some(Item::Process(id)) = item {
        select(&scene.loaded.trace, id, actions);
    }
}

fn chain_columns() -> Vec<PaneColumn> {
    let of = |name: &str, width: f32| PaneColumn::of(&CRITICAL_CHAIN, name, width);
    let after =
        |index: usize, def, width: f32| PaneColumn::after(&CRITICAL_CHAIN, index, def, width);
    vec![
        of("ts", 96.0).titled("Start"),
        of("own", 68.0).titled("Time"),
        of("share", 46.0),
        after(0, PROCESS_IN_FULL, 100.0),
        after(1, WHY, 102.0).titled("Why"),
        of("args", 60.0).growing(),
    ]
}

fn program_columns(programs: &[ProgramTotal]) -> Vec<PaneColumn> {
    let of = |name: &str, width: f32| PaneColumn::of(&PROGRAMS, name, width);
    let mut columns = vec![
        of("name", 56.0).titled("Program").growing(),
        of("processes", 40.0).titled("Count"),
        of("total", 62.0),
        of("own", 62.0),
        of("longest", 62.0),
        of("failed", 38.0).counting_trouble(),
    ];
    if programs.iter().any(|program| program.unfinished > 0) {
        columns.extend([of("unfinished", 62.0), of("at_least", 52.0)]);
    }
    columns
}

fn cost_columns() -> Vec<PaneColumn> {
    let of = |name: &str, width: f32| PaneColumn::of(&COMPILER_COSTS, name, width);
    vec![
        of("kind", 62.0),
        of("name", 120.0).growing(),
        of("total", 68.0),
        of("own", 68.0),
        of("count", 52.0),
        of("compilations", 60.0).titled("Files"),
    ]
}

fn total_columns() -> Vec<PaneColumn> {
    let of = |name: &str, width: f32| PaneColumn::of(&COMPILER_TOTALS, name, width);
    vec![
        of("name", 120.0).growing(),
        of("total", 68.0),
        of("most", 68.0),
        of("count", 60.0),
        of("compilations", 60.0).titled("Files"),
    ]
}

/// Draws the programs, or the tables about compilers; with a switch if there are several of these.
fn of_programs_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    answer: &Answer,
    tables: &mut Tables,
    actions: &mut Vec<Action>,
) {
    let is_build = is_build(&scene.loaded.trace);
    let choices = [
        (OfPrograms::Programs, PROGRAMS.title, is_build),
        (
            OfPrograms::Costs,
            COMPILER_COSTS.title,
            answer.costs.is_some(),
        ),
        (
            OfPrograms::Totals,
            COMPILER_TOTALS.title,
            answer.totals.is_some(),
        ),
    ];
    let there = choices.iter().filter(|(.., is_there)| *is_there);
    if !there
        .clone()
        .any(|(which, ..)| *which == tables.of_programs)
        && let Some((which, ..)) = there.clone().next()
    {
        tables.of_programs = *which;
    }
    if there.clone().count() > 1 {
        ui.horizontal(|ui| {
            for (which, title, _) in there {
                ui.selectable_value(&mut tables.of_programs, *which, *title);
            }
        });
    }
    match (tables.of_programs, &answer.costs, &answer.totals) {
        (OfPrograms::Costs, Some(costs), _) => {
            let shown = &mut tables.costs;
            costs_ui(ui, scene, &COMPILER_COSTS, costs, shown, actions);
        }
        (OfPrograms::Totals, _, Some(totals)) => {
            let shown = &mut tables.totals;
            costs_ui(ui, scene, &COMPILER_TOTALS, totals, shown, actions);
        }
        _ => programs_ui(ui, scene, answer, &mut tables.programs, actions),
    }
}

/// Draws a table about compilers, a click on a row goes to its item.
fn costs_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    table: &TableDef,
    data: &Arc<TableData>,
    shown: &mut DataTable,
    actions: &mut Vec<Action>,
) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(table.title).strong())
            .on_hover_text(table.about);
        let what = format!("the {}", table.title.to_lowercase());
        shown.named_tools_ui(ui, scene, data, &what, actions);
    });
    let none = |_: &mut Ui, _: usize, _: &mut Vec<Action>| {};
    let clicked = shown.ui(ui, scene, table.name, data, actions, none).clicked;
    let item = clicked.and_then(|row| data.rows.item(scene.loaded, row));
    actions.extend(item.map(Action::Reveal));
}

/// Draws the programs by their total time, and the processes that failed.
fn programs_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    answer: &Answer,
    table: &mut DataTable,
    actions: &mut Vec<Action>,
) {
    let trace = &scene.loaded.trace;
    let palette = scene.palette;
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(PROGRAMS.title).strong());
        table.named_tools_ui(ui, scene, &answer.programs, "the programs", actions);
        let words = match answer.failed.as_deref() {
            Some(failed @ [_, ..]) => {
                let text = RichText::new(failed_title(trace, failed)).color(palette.error);
                ui.menu_button(text, |ui| failed_ui(ui, scene, failed, actions));
                return;
            }
            Some([]) => "no process failed",
            None => "exit codes are not recorded",
        };
        let words = RichText::new(words).color(palette.weak);
        // The label does not break: if it does not fit it moves to the next line.
        ui.add(egui::Label::new(words).extend());
    });
    row_ui(ui, scene, "programs", &answer.programs, table, actions);
}

/// Returns a title with the number of failures: those in the table, and those that are not in it.
fn failed_title(trace: &Trace, failed: &[ProcessId]) -> String {
    let is_before = |id: &&ProcessId| {
        let process = trace.processes.get(id.0 as usize);
        process.is_some_and(|process| process.start.is_none())
    };
    let before = failed.iter().filter(is_before).count();
    let count = ruler::grouped((failed.len() - before) as i64);
    match before {
        0 => format!("{count} failed"),
        _ => format!("{count} failed, {before} from before the trace"),
    }
}

fn failed_ui(ui: &mut Ui, scene: &Scene<'_>, failed: &[ProcessId], actions: &mut Vec<Action>) {
    const MOST: usize = 200;
    let trace = &scene.loaded.trace;
    egui::ScrollArea::vertical()
        .max_height(320.0)
        .show(ui, |ui| {
            for &id in failed.iter().take(MOST) {
                let Some(process) = trace.processes.get(id.0 as usize) else {
                    continue;
                };
                let how = exit_text(process.exit_status, process.exit_signal);
                let text = format!("{} ({}): {how}", program_of(trace, id), process.pid);
                if ui
                    .button(text)
                    .on_hover_text(first_arguments_of(trace, id, MOST_ARGUMENTS))
                    .clicked()
                {
                    select(trace, id, actions);
                    ui.close();
                }
            }
            if failed.len() > MOST {
                ui.label(format!(
                    "and {} more: sort the process tree by exit",
                    failed.len() - MOST
                ));
            }
        });
}
