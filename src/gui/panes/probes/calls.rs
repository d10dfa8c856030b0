//! The chosen probe: the durations of calls between its entry and return, and its events.

use std::sync::Arc;

use egui::{RichText, Ui};
use egui_plot::{Bar, BarChart, Plot};

use crate::base::{Nanos, Task, TaskKey};
use crate::gui::chart;
use crate::gui::pane::Scene;
use crate::gui::shortened::line_within;
use crate::gui::table::{DataTable, PaneColumn, TableData};
use crate::query::Item;
use crate::query::distribution::Buckets;
use crate::query::probes::{
    ProbeKey, ProbePair, ProbeRow, ProbeTable, STEPS_A_DOUBLING, events_of,
};
use crate::tables::columns::THREAD_IN_FULL;
use crate::tables::probes::{PROBE_EVENTS, ProbeEvents};
use crate::view::{Action, ruler};

/// The most events that are listed.
const MOST_EVENTS: usize = 1_000_000;
/// The least height in points at which durations and events are both shown, one below the other.
const ROOM_FOR_BOTH: f32 = 300.0;
/// The height in points of the line above a histogram and of the axis below it.
const WORDS_HEIGHT: f32 = 24.0;

/// The events of the chosen probe, which a task finds.
#[derive(Default)]
pub(super) struct Calls {
    found: Task<ProbeKey, Arc<TableData>>,
    table: DataTable,
    side: Side,
}

/// The part that is shown if there is no room for both.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Side {
    #[default]
    Durations,
    Events,
}

impl Calls {
    pub(super) fn is_waiting(&self) -> bool {
        self.found.is_busy() || self.table.is_waiting()
    }

    pub(super) fn stop(&mut self) {
        self.found.stop();
        self.table.stop();
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
        let (loaded, kinds) = (scene.loaded.clone(), row.kinds.clone());
        let key = row.key();
        let question = TaskKey::about(scene.loaded.id, key.clone()).in_turn();
        self.found.ask(ui.ctx(), question, move |work| {
            let events = ProbeEvents(events_of(&loaded.trace, &kinds, MOST_EVENTS, work)?);
            Ok(Arc::new(TableData::new(columns(), events).about(loaded.id)))
        });
        let Some(data) = self.found.part_of(scene.loaded.id, &key).cloned() else {
            self.found.ui(ui, scene.palette);
            return;
        };
        ui.horizontal(|ui| {
            let title = RichText::new(PROBE_EVENTS.title).strong();
            ui.label(title).on_hover_text(PROBE_EVENTS.about);
            (self.table).named_tools_ui(ui, scene, &data, "the events", actions);
        });
        let none = |_: &mut Ui, _: usize, _: &mut Vec<Action>| {};
        let answer = (self.table).ui(ui, scene, "probe events", &data, actions, none);
        let item = |row| self.table.item(scene, &data, row);
        actions.extend(answer.clicked.and_then(item).map(Action::Reveal));
    }
}

fn columns() -> Vec<PaneColumn> {
    let of = |name: &str, width: f32| PaneColumn::of(&PROBE_EVENTS, name, width);
    vec![
        of("ts", 112.0),
        of(THREAD_IN_FULL.name, 120.0),
        of("arguments", 200.0).growing(),
    ]
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
