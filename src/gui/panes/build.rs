//! A build as a whole: how much of it ran in parallel, its critical chain, its programs, what failed.

use egui::{Align, Layout, RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder};
use egui_plot::{Bar, BarChart, Plot};

use super::build_text::{because, chain_text, programs_text, share_text};
use super::copied::{Copying, copy_button};
use super::process_tree::select;
use crate::base::signals::exit_text;
use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::gui::chart::time_marks;
use crate::gui::heading::{title_ui, wide};
use crate::gui::pane::{Later, Pane, Scene, TraceKey};
use crate::query::build_chain::{Chain, ChainRow, critical_chain};
use crate::query::process_times::{
    ProcessTimes, curve, first_arguments_of, mean_and_most, parallelism, program_of,
};
use crate::query::programs::{ProgramTotal, failed, programs};
use crate::trace::{FileHistory, ProcessId, Trace};
use crate::view::highlight::Highlight;
use crate::view::{Action, ruler};

/// Makes the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<BuildPane>::default()
}

#[derive(Default)]
struct BuildPane {
    later: Later<TraceKey, Answer>,
    /// What a small pane shows.
    shown: Section,
    copying: Copying,
}

struct Answer {
    key: TraceKey,
    curve: Vec<(Timestamp, u32)>,
    mean: f64,
    most: u32,
    chain: Chain,
    /// Its steps and waits, with their shares.
    rows: Vec<(ChainRow, u32)>,
    programs: Vec<ProgramTotal>,
    failed: Vec<ProcessId>,
}

const ROW_HEIGHT: f32 = 18.0;
/// How much of the arguments is shown where the pointer rests.
const MOST_ARGUMENTS: usize = 2000;
/// Points of the curve.
const MOST_POINTS: usize = 2000;
const CHAIN: &str = "Critical chain";

/// What the pane consists of.
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

/// How its sections stand.
enum Layouts {
    Beside,
    Below,
    /// One at a time.
    One,
}

impl Layouts {
    fn for_room(room: egui::Vec2) -> Layouts {
        // The two tables need so much to be read, and the curve about as much as one of them.
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
    fn new(key: TraceKey, trace: &Trace) -> Answer {
        let times = ProcessTimes::new(trace);
        let steps = parallelism(trace, &times);
        let first = steps.first().map_or(trace.span.start, |step| step.0);
        let last = steps.last().map_or(trace.span.end, |step| step.0);
        let span = TimeSpan::new(first, last.max(first));
        let (mean, most) = mean_and_most(&steps, span);
        let chain = critical_chain(trace, &times, &FileHistory::new(trace));
        Answer {
            key,
            curve: curve(&steps, span, MOST_POINTS),
            mean,
            most,
            rows: chain.rows(),
            chain,
            programs: programs(trace, &times),
            failed: failed(trace),
        }
    }
}

impl Pane for BuildPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        self.copying.poll(&mut actions);
        let trace = &scene.loaded.trace;
        let is_seen = |process: &crate::trace::Process| process.start.is_some();
        if !trace.processes.iter().any(is_seen) {
            let words = if scene.loaded.is_complete {
                "No process was started in this trace. Record a build with etrace, strace -f, or trace-cmd -e sched_process."
            } else {
                "The build comes when the file is read."
            };
            ui.label(RichText::new(words).color(scene.palette.weak));
            return actions;
        }
        let loaded = scene.loaded.clone();
        let key = TraceKey::of(scene.loaded);
        let work = move || Answer::new(key, &loaded.trace);
        let answer = self.later.ask(ui.ctx(), key, work);
        let Some(answer) = answer.filter(|answer| answer.key == key) else {
            ui.spinner();
            return actions;
        };
        let mut copied = None;
        let room = ui.available_size();
        match Layouts::for_room(room) {
            Layouts::Beside => {
                egui::Panel::left("build curve")
                    .resizable(true)
                    .default_size(room.x * 0.28)
                    .show(ui, |ui| curve_ui(ui, scene, answer, &mut actions));
                egui::Panel::right("build programs")
                    .resizable(true)
                    .default_size((room.x * 0.34).min(410.0).max(room.x * 0.3))
                    .show(ui, |ui| {
                        programs_ui(ui, scene, answer, &mut actions, &mut copied)
                    });
                egui::Frame::new()
                    .inner_margin(egui::Margin::symmetric(8, 2))
                    .show(ui, |ui| {
                        chain_ui(ui, scene, answer, &mut actions, &mut copied)
                    });
            }
            Layouts::Below => {
                egui::Panel::bottom("build curve below")
                    .resizable(true)
                    .default_size(room.y * 0.28)
                    .show(ui, |ui| curve_ui(ui, scene, answer, &mut actions));
                egui::Panel::bottom("build programs below")
                    .resizable(true)
                    .default_size(room.y * 0.32)
                    .show(ui, |ui| {
                        programs_ui(ui, scene, answer, &mut actions, &mut copied)
                    });
                chain_ui(ui, scene, answer, &mut actions, &mut copied);
            }
            Layouts::One => {
                ui.horizontal(|ui| {
                    for (shown, title) in SECTIONS {
                        ui.selectable_value(&mut self.shown, *shown, *title);
                    }
                });
                match self.shown {
                    Section::Chain => chain_ui(ui, scene, answer, &mut actions, &mut copied),
                    Section::Programs => programs_ui(ui, scene, answer, &mut actions, &mut copied),
                    Section::Curve => curve_ui(ui, scene, answer, &mut actions),
                }
            }
        }
        let loaded = scene.loaded.clone();
        match copied {
            Some(Section::Chain) => {
                let chain = answer.chain.clone();
                self.copying
                    .start(ui.ctx(), move |job| chain_text(&loaded.trace, &chain, job));
            }
            Some(Section::Programs) => {
                let programs = answer.programs.clone();
                self.copying.start(ui.ctx(), move |_| {
                    Ok(programs_text(&loaded.trace, &programs))
                });
            }
            Some(Section::Curve) | None => {}
        }
        actions
    }

    fn is_waiting(&self) -> bool {
        self.later.is_waiting() || self.copying.is_waiting()
    }

    fn stop(&mut self) {
        self.copying.stop();
    }
}

fn text_ui(ui: &mut Ui, text: impl Into<String>) {
    let text = RichText::new(text).size(12.0);
    ui.add(egui::Label::new(text).selectable(false).truncate());
}

fn number_ui(ui: &mut Ui, text: String) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| text_ui(ui, text));
}

fn length(scene: &Scene<'_>, length: Nanos) -> String {
    ruler::length_text(length, scene.state.origins.unit)
}

/// How many processes worked at once, over time.
fn curve_ui(ui: &mut Ui, scene: &Scene<'_>, answer: &Answer, actions: &mut Vec<Action>) {
    let palette = scene.palette;
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Processes at work").strong())
            .on_hover_text("Processes without a living child: those that do something themselves");
        let words = format!("mean {:.2}, most {}", answer.mean, answer.most);
        ui.label(RichText::new(words).color(palette.weak));
    });
    let start = scene.loaded.trace.span.start;
    let seconds = |time: Timestamp| (time - start).0 as f64 / 1e9;
    let ends = answer.curve.iter().skip(1).map(|step| step.0);
    let bars: Vec<Bar> = answer
        .curve
        .iter()
        .zip(ends)
        .filter(|((_, count), _)| *count > 0)
        .map(|((time, count), end)| {
            let (from, until) = (seconds(*time), seconds(end));
            Bar::new((from + until) / 2.0, f64::from(*count))
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
        // There is no half of a process.
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
            // What the timeline shows.
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
    if plot.response.clicked()
        && let Some(at) = plot.inner
    {
        actions.push(Action::Center(start + Nanos((at.x * 1e9) as i64)));
    }
}

/// The steps of the critical chain, and whether they are set off in the timeline and the tree.
fn chain_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    answer: &Answer,
    actions: &mut Vec<Action>,
    copied: &mut Option<Section>,
) {
    let trace = &scene.loaded.trace;
    let chain = &answer.chain;
    ui.horizontal(|ui| {
        ui.label(RichText::new(CHAIN).strong()).on_hover_text(
            "What must come one after the other and takes longest: no number of processors would make the build shorter than this",
        );
        let is_on = scene
            .state
            .highlight
            .as_ref()
            .is_some_and(|highlight| highlight.title == CHAIN);
        let button = egui::Button::selectable(is_on, "Highlight").frame_when_inactive(true);
        if ui.add(button).on_hover_text("Outline it in the timeline and in the process tree").clicked() {
            let spans = chain.steps.iter().map(|step| (step.process, step.span)).collect();
            actions.push(Action::Highlight((!is_on).then(|| Highlight::new(CHAIN, spans))));
        }
        if copy_button(ui) {
            *copied = Some(Section::Chain);
        }
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
    wide(ui, "chain table", 400.0, |ui| {
        TableBuilder::new(ui)
            .min_scrolled_height(0.0)
            .id_salt("critical chain")
            .striped(true)
            .resizable(true)
            .auto_shrink([false, false])
            .sense(Sense::click())
            .cell_layout(Layout::left_to_right(Align::Center))
            .column(Column::initial(106.0).at_least(50.0).clip(true))
            .column(Column::initial(74.0).at_least(50.0).clip(true))
            .column(Column::initial(52.0).at_least(40.0).clip(true))
            .column(Column::initial(110.0).at_least(60.0).clip(true))
            .column(Column::remainder().clip(true))
            .header(20.0, |mut header| {
                for (title, align) in [
                    ("Start", Align::Max),
                    ("Time", Align::Max),
                    ("%", Align::Max),
                    ("Process", Align::Min),
                    ("Why after the one above", Align::Min),
                ] {
                    header.col(|ui| title_ui(ui, title, align));
                }
            })
            .body(|body| {
                body.rows(ROW_HEIGHT, answer.rows.len(), |mut row| {
                    let Some((step, share)) = answer.rows.get(row.index()) else {
                        return;
                    };
                    let pid = trace
                        .processes
                        .get(step.process().0 as usize)
                        .map_or(0, |it| it.pid);
                    let start = ruler::full_text(
                        step.span().start,
                        scene.state.time_format,
                        scene.state.origins,
                    );
                    row.col(|ui| number_ui(ui, start));
                    row.col(|ui| number_ui(ui, length(scene, step.time())));
                    row.col(|ui| number_ui(ui, share_text(*share)));
                    row.col(|ui| {
                        text_ui(ui, format!("{} ({pid})", program_of(trace, step.process())))
                    });
                    row.col(|ui| text_ui(ui, because(trace, step)));
                    let response = row.response();
                    if response.clicked() {
                        select(trace, step.process(), actions);
                    }
                    response.on_hover_text(first_arguments_of(
                        trace,
                        step.process(),
                        MOST_ARGUMENTS,
                    ));
                });
            });
    });
}

/// Programs by the time they took, and the processes that failed.
fn programs_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    answer: &Answer,
    actions: &mut Vec<Action>,
    copied: &mut Option<Section>,
) {
    let trace = &scene.loaded.trace;
    let palette = scene.palette;
    if answer.failed.is_empty() {
        ui.horizontal(|ui| {
            ui.label(RichText::new("Programs").strong());
            if copy_button(ui) {
                *copied = Some(Section::Programs);
            }
            ui.label(RichText::new("no process failed").color(palette.weak));
        });
    } else {
        let title = failed_title(trace, &answer.failed);
        ui.horizontal(|ui| {
            ui.label(RichText::new("Programs").strong());
            if copy_button(ui) {
                *copied = Some(Section::Programs);
            }
            let text = RichText::new(title).color(palette.error);
            ui.menu_button(text, |ui| failed_ui(ui, scene, answer, actions));
        });
    }
    let all = &answer.programs;
    wide(ui, "program table", 390.0, |ui| {
        TableBuilder::new(ui)
            .min_scrolled_height(0.0)
            .id_salt("programs")
            .striped(true)
            .resizable(true)
            .auto_shrink([false, false])
            .sense(Sense::click())
            .cell_layout(Layout::left_to_right(Align::Center))
            .column(Column::remainder().at_least(60.0).clip(true))
            .column(Column::initial(46.0).at_least(30.0).clip(true))
            .columns(Column::initial(68.0).at_least(40.0).clip(true), 3)
            .column(Column::initial(44.0).at_least(30.0).clip(true))
            .header(20.0, |mut header| {
                for (title, align) in [
                    ("Program", Align::Min),
                    ("Count", Align::Max),
                    ("Total", Align::Max),
                    ("Own", Align::Max),
                    ("Longest", Align::Max),
                    ("Failed", Align::Max),
                ] {
                    header.col(|ui| title_ui(ui, title, align));
                }
            })
            .body(|body| {
                body.rows(ROW_HEIGHT, all.len(), |mut row| {
                    let Some(total) = all.get(row.index()) else {
                        return;
                    };
                    row.col(|ui| text_ui(ui, program_of(trace, total.longest_process)));
                    row.col(|ui| number_ui(ui, ruler::grouped(i64::from(total.count))));
                    for time in [total.total, total.own, total.longest] {
                        row.col(|ui| number_ui(ui, length(scene, time)));
                    }
                    row.col(|ui| {
                        if total.failed > 0 {
                            let text = RichText::new(total.failed.to_string())
                                .size(12.0)
                                .color(palette.error);
                            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                                ui.add(egui::Label::new(text).selectable(false));
                            });
                        }
                    });
                    let response = row.response();
                    if response.clicked() {
                        select(trace, total.longest_process, actions);
                    }
                    response.on_hover_text("Click to go to the longest one");
                });
            });
    });
}

/// How many failed: those in the table, and those that are not in it.
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

fn failed_ui(ui: &mut Ui, scene: &Scene<'_>, answer: &Answer, actions: &mut Vec<Action>) {
    const MOST: usize = 200;
    let trace = &scene.loaded.trace;
    egui::ScrollArea::vertical()
        .max_height(320.0)
        .show(ui, |ui| {
            for &id in answer.failed.iter().take(MOST) {
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
            if answer.failed.len() > MOST {
                ui.label(format!(
                    "and {} more: sort the process tree by exit",
                    answer.failed.len() - MOST
                ));
            }
        });
}
