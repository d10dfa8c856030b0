//! Latencies from wakeup to run: a table by thread, percentile curves of the chosen threads, the longest latencies.

use std::sync::Arc;

use egui::{RichText, Ui};

use super::{CURVE_POINTS, Held, LIST_WIDTH, WORST, measures, worst_of};
use crate::base::{Task, TaskKey, TimeSpan};
use crate::event::part::ClockUnit;
use crate::gui::chart::{Curve, curves_ui};
use crate::gui::pane::{Scene, empty_ui};
use crate::gui::panes::selection::area::{ShownArea, unfinished_words, words};
use crate::gui::shortened::line_within;
use crate::gui::table::{DataTable, PaneColumn, TableAnswer, TableData};
use crate::gui::tint::Tint;
use crate::load::{LoadedTrace, TraceId};
use crate::query::distribution::Distribution;
use crate::query::latency::{Among, Sample, WakeupLatency, wakeups};
use crate::tables::columns::THREAD_IN_FULL;
use crate::tables::latency::{SUMS, wakeup_sums};
use crate::view::Action;

type Key = (TimeSpan, Among);

/// A result that is ready to be drawn.
struct Found {
    table: Arc<TableData>,
    /// The threads, by row of the table.
    threads: Vec<OfThread>,
    all: OfThread,
    /// A description of the area.
    about: String,
}

struct OfThread {
    name: String,
    curve: Vec<[f64; 2]>,
    worst: Arc<TableData>,
    samples: Vec<Sample>,
}

/// The state of the view of wakeups.
#[derive(Default)]
pub(crate) struct WakeupsView {
    found: Task<Key, Arc<Found>>,
    table: DataTable,
    worst: DataTable,
    chosen: Option<usize>,
    held: Held,
}

impl WakeupsView {
    /// Returns whether an answer is being computed.
    pub(crate) fn is_waiting(&self) -> bool {
        self.found.is_busy()
    }

    /// Cancels the computation.
    pub(crate) fn stop(&mut self) {
        self.found.stop();
    }

    /// Draws the view.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        modes: &mut dyn FnMut(&mut Ui),
        actions: &mut Vec<Action>,
    ) {
        let trace = &scene.loaded.trace;
        let ShownArea { area, from } = self.held.area(scene);
        let id = scene.loaded.id;
        let key = (area.span, Among::area(trace, &area));
        let is_dragged = ui.input(|input| input.pointer.any_down());
        if !is_dragged || self.found.answer(id).is_none() {
            let loaded = scene.loaded.clone();
            let (span, among) = (key.0, key.1.clone());
            let about = words(scene, &area, from);
            let unit = scene.state.origins.unit;
            if !self.found.is_of(id, &key) {
                self.chosen = None;
            }
            self.found
                .ask(ui.ctx(), TaskKey::about(id, key), move |job| {
                    let rows = wakeups(&loaded.trace, &among, span, WORST, job)?;
                    let about = about + &unfinished_of(&rows, unit);
                    Ok(Arc::new(found_of(&loaded, rows, about)))
                });
        }
        let Some(found) = self.found.answer(id).cloned() else {
            ui.horizontal_wrapped(|ui| modes(ui));
            self.found.ui(ui, scene.palette);
            return;
        };
        ui.horizontal_wrapped(|ui| {
            modes(ui);
            self.table.tools_ui(ui, scene, &found.table, actions);
            ui.label(RichText::new(&found.about).color(scene.palette.weak));
            self.found.ui(ui, scene.palette);
        });
        if found.table.rows.is_empty() {
            let words = if trace.states.is_empty() {
                "This trace does not contain wakeups of threads. Record sched_switch and sched_waking events."
            } else {
                "No thread was woken here. Select a longer range, or other tracks; wakeups need sched_waking events."
            };
            empty_ui(ui, scene, words);
            return;
        }
        let chosen = self.chosen.and_then(|at| found.threads.get(at));
        let shown = chosen.unwrap_or(&found.all);
        let mut wanted = None;
        let details = found.table.companion(ui, "latency details");
        details.show(ui, |ui| {
            // Without this the panel would shrink to its initial content.
            ui.set_min_size(ui.available_size());
            let height = ui.available_height();
            if shown.curve.is_empty() {
                let words = "woken, but never seen to run afterwards: their latency is not known.";
                empty_ui(ui, scene, &format!("{}: {words}", shown.name));
                return;
            }
            let mut curves = Vec::new();
            if chosen.is_some() {
                curves.push(Curve {
                    name: found.all.name.clone(),
                    points: found.all.curve.clone(),
                    color: scene.palette.density,
                });
            }
            curves.push(Curve {
                name: shown.name.clone(),
                points: shown.curve.clone(),
                color: scene.palette.accent,
            });
            let is_low = height < 300.0 && ui.available_width() > 480.0;
            let layout = if is_low {
                egui::Layout::left_to_right(egui::Align::Min)
            } else {
                egui::Layout::top_down(egui::Align::Min)
            };
            let size = if is_low {
                let width = ui.available_width();
                egui::vec2((width - LIST_WIDTH).max(width * 0.4), height)
            } else {
                egui::vec2(ui.available_width(), height * 0.5)
            };
            let mut answer = TableAnswer::default();
            ui.with_layout(layout, |ui| {
                ui.allocate_ui(size, |ui| {
                    ui.vertical(|ui| {
                        let most = ui.available_width();
                        line_within(ui, RichText::new(&shown.name).strong(), most);
                        curves_ui(ui, scene, "Percentiles of wakeup latency", &curves);
                    });
                });
                ui.vertical(|ui| {
                    let table = &mut self.worst;
                    let none = |_: &mut Ui, _: usize, _: &mut Vec<Action>| {};
                    answer = table.ui(ui, scene, "worst wakeups", &shown.worst, actions, none);
                });
            });
            wanted = answer.clicked.and_then(|at| shown.samples.get(at));
        });
        let answer = self.table.ui(
            ui,
            scene,
            "wakeups",
            &found.table,
            actions,
            |ui, row, actions| {
                let item = found.table.item(scene.loaded, row);
                if let Some(item) = item
                    && ui.button("Show the thread").clicked()
                {
                    actions.push(Action::Reveal(item));
                    ui.close();
                }
                let worst = found.threads.get(row).and_then(|of| of.samples.first());
                if let Some(worst) = worst
                    && ui.button("Show the longest").clicked()
                {
                    wanted = Some(worst);
                    ui.close();
                }
            },
        );
        let is_stale = found.table.is_stale(id);
        if let Some(sample) = wanted.filter(|_| !is_stale) {
            self.held
                .show(sample, ShownArea { area, from }, scene, actions);
        }
        if let Some(row) = answer.clicked {
            self.chosen = Some(row);
            let item = self.table.item(scene, &found.table, row);
            actions.extend(item.map(Action::Select));
        }
    }
}

/// Returns words for waits that never ended, of all threads: `; 2 unfinished, at least 5.3 s`. Empty if all ended.
fn unfinished_of(rows: &[WakeupLatency], unit: ClockUnit) -> String {
    let count: u64 = rows.iter().map(|row| row.unfinished).sum();
    let ns: i128 = rows.iter().map(|row| row.unfinished_ns).sum();
    match count {
        0 => String::new(),
        _ => format!("; {}", unfinished_words(unit, count, ns)),
    }
}

fn found_of(loaded: &LoadedTrace, rows: Vec<WakeupLatency>, about: String) -> Found {
    let (trace, id) = (&loaded.trace, loaded.id);
    let thread = PaneColumn::after(&SUMS, 0, THREAD_IN_FULL, 170.0);
    let mut columns = vec![thread.about("Name and number")];
    columns.extend(measures());
    let of = |name: &str| PaneColumn::of(&SUMS, name, 80.0);
    columns.push(of("unmatched").about("Woken, but never seen to run afterwards"));
    if rows.iter().any(|row| row.unfinished > 0) {
        columns.extend([
            of("unfinished")
                .about("How many of the unmatched still waited when the recording ended"),
            of("at_least").about("The least total duration of the unfinished waits"),
        ]);
    }
    let mut all_lengths: Vec<i64> = Vec::new();
    let mut all_worst: Vec<Sample> = Vec::new();
    let mut table = Vec::with_capacity(rows.len());
    let mut tints = Vec::with_capacity(rows.len());
    let mut threads = Vec::with_capacity(rows.len());
    for row in rows {
        let name = format!(
            "{} {}",
            trace.thread_name(row.thread),
            trace.thread(row.thread).tid
        );
        table.push(wakeup_sums(trace, &row));
        tints.push(Some(Tint::of_thread(trace, row.thread)));
        all_lengths.extend_from_slice(row.lengths.sorted());
        all_worst.extend_from_slice(&row.worst);
        threads.push(of_samples(name, &row.lengths, row.worst, id));
    }
    all_worst.sort_unstable_by_key(|sample| (std::cmp::Reverse(sample.length_ns), sample.start));
    all_worst.truncate(WORST);
    let all = Distribution::of(all_lengths);
    Found {
        about,
        table: Arc::new(TableData::new(columns, table).tinted(tints).about(id)),
        threads,
        all: of_samples("All threads".to_owned(), &all, all_worst, id),
    }
}

fn of_samples(
    name: String,
    lengths: &Distribution,
    samples: Vec<Sample>,
    trace: TraceId,
) -> OfThread {
    OfThread {
        name,
        curve: lengths.curve(CURVE_POINTS),
        worst: worst_of(&samples, trace),
        samples,
    }
}
