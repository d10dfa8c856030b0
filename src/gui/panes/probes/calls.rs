//! The chosen probe: the durations of calls between its entry and return, and its events.

use egui::{RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder};
use egui_plot::{Bar, BarChart, Plot};

use crate::base::{Nanos, Task, TaskKey, Work};
use crate::gui::chart;
use crate::gui::pane::Scene;
use crate::gui::shortened::line_within;
use crate::gui::table::row_info;
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::query::details::describe;
use crate::query::distribution::Buckets;
use crate::query::probes::{ProbePair, ProbeRow, ProbeTable, STEPS_A_DOUBLING, events_of, item_of};
use crate::trace::EventId;
use crate::view::{Action, locate, ruler};

/// The most events that are listed.
const MOST_EVENTS: usize = 1_000_000;
/// The least height in points at which durations and events are both shown, one below the other.
const ROOM_FOR_BOTH: f32 = 300.0;
/// The height in points of the line above a histogram and of the axis below it.
const WORDS_HEIGHT: f32 = 24.0;
/// The number of rows that are decoded together.
const PAGE: usize = 64;

/// A probe's group and event.
type ProbeKey = (String, String);
/// The first row of a page, and its lines.
type Page = (usize, Vec<Line>);

/// The events of the chosen probe, which a task finds, and the decoded ones of those in view.
#[derive(Default)]
pub(super) struct Calls {
    found: Task<ProbeKey, Vec<EventId>>,
    lines: Task<(ProbeKey, usize), Page>,
    first_seen: usize,
    side: Side,
}

/// The part that is shown if there is no room for both.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Side {
    #[default]
    Durations,
    Events,
}

#[derive(Clone)]
struct Line {
    thread: String,
    text: String,
}

impl Calls {
    pub(super) fn is_waiting(&self) -> bool {
        self.found.is_busy() || self.lines.is_busy()
    }

    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        all: &ProbeTable,
        row: &ProbeRow,
        actions: &mut Vec<Action>,
    ) {
        let pair = row.pair.and_then(|pair| all.pairs.get(pair));
        let is_low = ui.available_height() < ROOM_FOR_BOTH;
        if pair.is_some() && row.events > 0 && is_low {
            ui.horizontal(|ui| {
                ui.selectable_value(&mut self.side, Side::Durations, "Durations");
                let events = format!("Events ({})", ruler::grouped(row.events as i64));
                ui.selectable_value(&mut self.side, Side::Events, events);
            });
        }
        let sides = match (pair, is_low) {
            (Some(_), true) if row.events > 0 => [Some(self.side), None],
            _ => [Some(Side::Durations), Some(Side::Events)],
        };
        for side in sides.into_iter().flatten() {
            match (side, pair) {
                (Side::Durations, Some(pair)) => {
                    let share = if is_low { 1.0 } else { 0.5 };
                    let height = ui.available_height() * share - WORDS_HEIGHT;
                    pair_ui(ui, scene, pair, height.clamp(40.0, 300.0), actions);
                }
                (Side::Durations, None) => {
                    let words = match row.events {
                        0 => "No events of this probe are in the trace.",
                        _ => {
                            "No calls: durations need a probe at a function's entry (p) and one at its return (r)."
                        }
                    };
                    ui.label(RichText::new(words).color(scene.palette.weak));
                }
                (Side::Events, _) if row.events > 0 => {
                    self.events_ui(ui, scene, row, actions);
                }
                (Side::Events, _) => {}
            }
        }
    }

    fn events_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        row: &ProbeRow,
        actions: &mut Vec<Action>,
    ) {
        let trace = &scene.loaded.trace;
        let id = scene.loaded.id;
        let probe: ProbeKey = (row.group.clone(), row.event.clone());
        let (loaded, kinds) = (scene.loaded.clone(), row.kinds.clone());
        let ctx = ui.ctx().clone();
        let question = TaskKey::about(id, probe.clone()).in_turn();
        self.found.ask(&ctx, question, move |_| {
            Ok(events_of(&loaded.trace, &kinds, MOST_EVENTS))
        });
        let Some(events) = self.found.answer(id) else {
            self.found.ui(ui, scene.palette);
            return;
        };
        let page = self.first_seen / PAGE * PAGE;
        let wanted: Vec<EventId> = events.iter().skip(page).take(2 * PAGE).copied().collect();
        let loaded = scene.loaded.clone();
        if self.found.is_of(id, &probe) {
            let question = TaskKey::about(id, (probe.clone(), page)).in_turn();
            let work = move |_: &Work<Page>| Ok((page, read(&loaded, &wanted)));
            self.lines.ask(&ctx, question, work);
        }
        // While other rows are decoded, the decoded rows of this probe stay.
        let is_of_probe = self.lines.answered(id).is_some_and(|(of, _)| *of == probe);
        let lines = self.lines.answer(id).filter(|_| is_of_probe);
        let (first, lines) = lines.cloned().unwrap_or_default();
        let selected = scene
            .state
            .selected
            .and_then(|item| locate::event_of(trace, item));
        let mut first_seen = None;
        TableBuilder::new(ui)
            .min_scrolled_height(0.0)
            .id_salt("probe events")
            .striped(true)
            .auto_shrink([false, false])
            .sense(Sense::click())
            .column(Column::initial(112.0).at_least(60.0).clip(true))
            .column(Column::initial(120.0).at_least(50.0).clip(true))
            .column(Column::remainder().clip(true))
            .header(20.0, |mut header| {
                for title in TITLES {
                    header.col(|ui| {
                        ui.label(RichText::new(title).strong());
                    });
                }
            })
            .body(|body| {
                body.rows(18.0, events.len(), |mut table_row| {
                    let index = table_row.index();
                    first_seen.get_or_insert(index);
                    let event = events[index];
                    let line = index.checked_sub(first).and_then(|at| lines.get(at));
                    table_row.set_selected(selected == Some(event));
                    let time = ruler::full_text(
                        trace.events.time(event),
                        scene.state.time_format,
                        scene.state.origins,
                    );
                    let (thread, text) = line.map_or(("", ""), |it| (&it.thread, &it.text));
                    for (text, is_mono) in [(time.as_str(), true), (thread, false), (text, true)] {
                        table_row.col(|ui| {
                            let text = RichText::new(text).size(12.0);
                            let text = if is_mono { text.monospace() } else { text };
                            ui.add(egui::Label::new(text).truncate());
                        });
                    }
                    let response = table_row.response();
                    response.widget_info(|| {
                        row_info(TITLES.into_iter().zip([time.as_str(), thread, text]))
                    });
                    if response.clicked() {
                        actions.push(Action::Reveal(item_of(trace, event)));
                    }
                });
            });
        if let Some(first) = first_seen {
            if first / PAGE * PAGE != page {
                ctx.request_repaint();
            }
            self.first_seen = first;
        }
    }
}

/// Titles of the columns.
const TITLES: [&str; 3] = ["Time", "Thread", "Arguments"];

/// Decodes events: thread and all arguments.
fn read(loaded: &LoadedTrace, events: &[EventId]) -> Vec<Line> {
    let trace = &loaded.trace;
    let line = |&event: &EventId| {
        let detail = describe(trace, loaded.reader.as_ref(), event);
        let thread = trace.events.thread(event);
        let own = detail.fields.iter().filter(|field| {
            !field.name.starts_with("common_") && !field.name.starts_with("__probe")
        });
        let texts = own.map(|field| format!("{}={}", field.name, field.text()));
        Line {
            thread: format!(
                "{} ({})",
                trace.thread_name(thread),
                trace.thread(thread).tid
            ),
            text: texts.collect::<Vec<_>>().join("  "),
        }
    };
    events.iter().map(line).collect()
}

/// Draws the distribution of the durations of a pair of probes.
fn pair_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    pair: &ProbePair,
    height: f32,
    actions: &mut Vec<Action>,
) {
    let unit = scene.state.origins.unit;
    let length = |ns: i64| ruler::length_text(Nanos(ns), unit);
    let trace = &scene.loaded.trace;
    let calls = ruler::grouped(pair.durations.len() as i64);
    ui.horizontal(|ui| {
        let (entry, back) = (trace.kind_name(pair.entry), trace.kind_name(pair.back));
        let most = ui.available_width() * 0.4;
        line_within(ui, RichText::new(&pair.subject).strong(), most)
            .on_hover_text(format!("{entry} to {back}"));
        let longest = format!("max {}", length(pair.quantile(1.0)));
        if ui.link(longest).on_hover_text("Go to it").clicked() {
            actions.push(Action::Reveal(Item::Slice(pair.longest)));
        }
        let words = format!(
            "{calls} calls · median {} · p95 {} · p99 {}",
            length(pair.quantile(0.5)),
            length(pair.quantile(0.95)),
            length(pair.quantile(0.99)),
        );
        let words = RichText::new(words).color(scene.palette.weak);
        ui.add(egui::Label::new(words).truncate());
    });
    let width = 1.0 / STEPS_A_DOUBLING;
    let ns_of = |log2: f64| log2.exp2().round() as i64;
    let bars = pair.histogram().into_iter().map(|step| {
        let name = format!(
            "{} calls of {} to {}",
            ruler::grouped(step.count as i64),
            length(ns_of(step.from_log2)),
            length(ns_of(step.from_log2 + width)),
        );
        let edge = |log2: f64| chart::place(log2.exp2(), Buckets::Log);
        let (left, right) = (edge(step.from_log2), edge(step.from_log2 + width));
        Bar::new(left.midpoint(right), step.count as f64)
            .width((right - left) * 0.92)
            .name(name)
            .fill(scene.palette.accent)
    });
    let chart = BarChart::new(format!("Durations of {}", pair.subject), bars.collect())
        .element_formatter(Box::new(|bar, _| bar.name.clone()));
    let response = Plot::new("durations of calls")
        .grid_color(scene.palette.line)
        .height(height)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .show_x(false)
        .show_y(false)
        .include_y(0.0)
        .x_grid_spacer(chart::decades_across())
        .custom_x_axes(vec![
            egui_plot::AxisHints::new_x()
                .label_spacing(chart::labels_apart(38.0))
                .tick_label_color(scene.palette.weak)
                .formatter(move |mark, _| chart::mark_text(mark, Buckets::Log, unit)),
        ])
        .y_grid_spacer(chart::count_marks)
        .custom_y_axes(vec![
            egui_plot::AxisHints::new_y()
                .label_spacing(chart::labels_apart(12.0))
                .tick_label_color(scene.palette.weak)
                .formatter(|mark, _| ruler::grouped(mark.value as i64)),
        ])
        .show(ui, |plot| plot.bar_chart(chart))
        .response;
    response.widget_info(|| {
        let label = format!("Durations of {}: {calls} calls", pair.subject);
        egui::WidgetInfo::labeled(egui::Role::Image, true, label)
    });
}
