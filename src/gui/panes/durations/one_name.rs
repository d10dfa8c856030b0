//! All slices of one name by duration: a histogram, a range that is dragged in it, and the slices in that range.

use std::ops::Range;
use std::sync::Arc;

use egui::{RichText, Ui};

use crate::base::{Nanos, StringId, Task, TaskKey};
use crate::event::SliceKind;
use crate::gui::boxes::check_box;
use crate::gui::chart::{Heights, HistogramStyle, histogram_ui};
use crate::gui::pane::Scene;
use crate::gui::panes::selection::area::unfinished_words;
use crate::gui::shortened::{line_within, shortened};
use crate::gui::table::{DataTable, PaneColumn, TableData};
use crate::query::Item;
use crate::query::area::Area;
use crate::query::distribution::{Buckets, Histogram};
use crate::query::durations::{Durations, durations};
use crate::query::expression::equals;
use crate::query::seen::Length;
use crate::tables::columns::THREAD;
use crate::tables::{ColumnDef, MadeRow};
use crate::trace::{SliceId, Trace};
use crate::view::{Action, ruler};

/// The most slices that are listed: the longest ones.
const MOST_LISTED: usize = 5_000;
/// The greatest share of the width that the name takes.
const TITLE_SHARE: f32 = 0.4;

/// The width of the list of slices beside the histogram, in points.
const LIST_WIDTH: f32 = 354.0;
/// In a pane lower than this, in points, the list is beside the chart if the pane is also wide; otherwise it is below
/// the chart, and the user scrolls to it.
const LOW_HEIGHT: f32 = 260.0;
const WIDE_WIDTH: f32 = 480.0;
const LOW_CHART: f32 = 110.0;
const LOW_LIST: f32 = 170.0;

/// Whether a button of the pointer is held.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pointer {
    Up,
    Down,
}

/// The slices of one row of the pane: their name, category and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub name: StringId,
    pub category: StringId,
    pub kind: Option<SliceKind>,
}

type Key = (Area, Named);
type ListKey = (Key, Option<Range<i64>>);

/// The state of the view of one name.
pub(crate) struct OneName {
    durations: Task<Key, Arc<Durations>>,
    list: Task<ListKey, Arc<TableData>>,
    table: DataTable,
    of: Option<Named>,
    /// The name, its category, and the kind of slices.
    shown: (String, String, Option<SliceKind>),
    style: HistogramStyle,
    /// The chosen range of durations in ns.
    chosen: Option<Range<i64>>,
    drag_from: Option<i64>,
}

impl Default for OneName {
    fn default() -> OneName {
        OneName {
            durations: Task::default(),
            list: Task::default(),
            table: DataTable::default(),
            of: None,
            shown: Default::default(),
            style: HistogramStyle {
                buckets: Buckets::Log,
                heights: Heights::Linear,
            },
            chosen: None,
            drag_from: None,
        }
    }
}

impl OneName {
    /// Returns whether an answer is being computed.
    pub(crate) fn is_waiting(&self) -> bool {
        self.durations.is_busy() || self.list.is_busy()
    }

    /// Cancels the computation.
    pub(crate) fn stop(&mut self) {
        self.durations.stop();
        self.list.stop();
    }

    /// Draws the view. `of` is the name whose slices are shown; `None` while it is not known in the generation of the
    /// trace that is shown: the view stays as it is.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        area: &Area,
        of: Option<Named>,
        actions: &mut Vec<Action>,
    ) {
        let is_known = of.is_some();
        let Some(of) = of.or(self.of) else {
            return;
        };
        let Named { name, category, .. } = of;
        let key: Key = (area.clone(), of);
        let id = scene.loaded.id;
        if is_known {
            let text = |id| scene.loaded.trace.text(id).into_owned();
            let shown = (text(name), text(category), of.kind);
            if self.shown != shown {
                self.shown = shown;
                self.chosen = None;
            }
            self.of = Some(of);
        }
        let of = is_known.then_some(of);
        let is_down = ui.input(|input| input.pointer.any_down());
        if is_known && (!is_down || self.durations.answer(id).is_none()) {
            let loaded = scene.loaded.clone();
            let asked = area.clone();
            let question = TaskKey::about(id, key.clone());
            self.durations.ask(ui.ctx(), question, move |job| {
                durations(&loaded.trace, &asked, name, Some(category), job).map(Arc::new)
            });
        }
        let Some(found) = self.durations.answer(id).cloned() else {
            self.durations.ui(ui, scene.palette);
            return;
        };
        let unit = scene.state.origins.unit;
        let title = self.shown.0.clone();
        let pointer = match is_down {
            true => Pointer::Down,
            false => Pointer::Up,
        };
        let before = self.chosen.clone();
        let height = ui.available_height();
        ui.horizontal_wrapped(|ui| {
            let most = ui.available_width() * TITLE_SHARE;
            line_within(ui, RichText::new(shortened(&title)).strong(), most);
            for (buckets, word) in [(Buckets::Log, "log"), (Buckets::Linear, "linear")] {
                let button = egui::Button::selectable(self.style.buckets == buckets, word);
                if ui
                    .add(button)
                    .on_hover_text("Scale of the durations, along x")
                    .clicked()
                {
                    self.style.buckets = buckets;
                }
            }
            let mut is_log = self.style.heights == Heights::Log;
            let answer = check_box(ui, &mut is_log, "log counts");
            if answer
                .on_hover_text("Shows rare durations beside frequent ones")
                .changed()
            {
                self.style.heights = if is_log {
                    Heights::Log
                } else {
                    Heights::Linear
                };
            }
            if found.unfinished().len() > 0 {
                let count = found.unfinished().len() as u64;
                let words = unfinished_words(scene.state.origins.unit, count, found.unfinished_ns());
                let about = "Slices whose end was not seen are in no bar and in no number. They come first in the list.";
                ui.label(RichText::new(words).strong()).on_hover_text(about);
            }
            let words = match &self.chosen {
                None if found.lengths.count() == 0 => String::new(),
                None => "drag over the bars to choose".to_owned(),
                Some(range) => format!(
                    "{} of {} take {} to {}",
                    ruler::grouped(found.between(range).count() as i64),
                    ruler::grouped(found.lengths.count() as i64),
                    ruler::length_text(Nanos(range.start), unit),
                    ruler::length_text(Nanos(range.end), unit)
                ),
            };
            ui.label(RichText::new(words).color(scene.palette.weak));
            self.durations.ui(ui, scene.palette);
            self.list.ui(ui, scene.palette);
        });
        let columns = (ui.available_width() / 8.0).clamp(20.0, 160.0) as usize;
        let histogram = found.lengths.histogram(None, columns, self.style.buckets);
        if height < LOW_HEIGHT && ui.available_width() <= WIDE_WIDTH {
            egui::ScrollArea::vertical()
                .id_salt("one name")
                .auto_shrink([false, false])
                .show(ui, |ui| {
                    let width = ui.available_width();
                    let height = ui.available_height().clamp(72.0, LOW_CHART);
                    ui.allocate_ui(egui::vec2(width, height), |ui| {
                        self.chart_ui(ui, scene, &histogram);
                    });
                    ui.allocate_ui(egui::vec2(width, LOW_LIST), |ui| {
                        self.list_ui(ui, scene, &key, &found, actions);
                    });
                });
            return self.chosen_ui(scene, of, pointer, before.as_ref(), actions);
        }
        let is_low = height < LOW_HEIGHT && ui.available_width() > WIDE_WIDTH;
        let chart_height = if is_low {
            ui.available_height()
        } else {
            // In a pane that is also narrow the chart takes the whole height: the list is below the pane's edge.
            let height = ui.available_height();
            (height * 0.5).max(100.0).min(height)
        };
        let chart_width = if is_low {
            let width = ui.available_width();
            (width - LIST_WIDTH).max(width * 0.4)
        } else {
            ui.available_width()
        };
        let layout = if is_low {
            egui::Layout::left_to_right(egui::Align::Min)
        } else {
            egui::Layout::top_down(egui::Align::Min)
        };
        ui.with_layout(layout, |ui| {
            ui.allocate_ui(egui::vec2(chart_width, chart_height), |ui| {
                self.chart_ui(ui, scene, &histogram);
            });
            self.list_ui(ui, scene, &key, &found, actions);
        });
        self.chosen_ui(scene, of, pointer, before.as_ref(), actions);
    }

    fn chart_ui(&mut self, ui: &mut Ui, scene: &Scene<'_>, histogram: &Histogram) {
        histogram_ui(
            ui,
            scene,
            "Histogram of durations",
            histogram,
            self.style,
            &mut self.chosen,
            &mut self.drag_from,
        );
    }

    /// Marks the chosen slices in the timeline, once the drag is over; `before` is the range chosen before this frame.
    fn chosen_ui(
        &mut self,
        scene: &Scene<'_>,
        of: Option<Named>,
        pointer: Pointer,
        before: Option<&Range<i64>>,
        actions: &mut Vec<Action>,
    ) {
        let is_over = pointer == Pointer::Up && self.drag_from.is_some();
        if is_over {
            self.drag_from = None;
            if let (Some(range), Some(of)) = (&self.chosen, of) {
                let trace = &scene.loaded.trace;
                actions.push(Action::Search(expression(trace, of, Some(range))));
            }
        }
        if before.is_some() && self.chosen.is_none() {
            actions.push(Action::CloseSearch);
        }
    }

    fn list_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        key: &Key,
        found: &Arc<Durations>,
        actions: &mut Vec<Action>,
    ) {
        let range = self.chosen.clone();
        let (loaded, of) = (scene.loaded.clone(), found.clone());
        let id = scene.loaded.id;
        if self.durations.is_of(id, key) {
            let question = TaskKey::about(id, (key.clone(), range.clone()));
            self.list.ask(ui.ctx(), question, move |_| {
                let list = listed(&loaded.trace, &of, range.as_ref());
                Ok(Arc::new(list.about(loaded.id)))
            });
        }
        let Some(table) = self.list.answer(id).cloned() else {
            return;
        };
        ui.vertical(|ui| {
            let answer = self.table.ui(
                ui,
                scene,
                "slices of the name",
                &table,
                actions,
                |_, _, _| {},
            );
            let clicked = answer.clicked;
            let item = clicked.and_then(|row| self.table.item(scene, &table, row));
            actions.extend(item.map(Action::Reveal));
        });
    }
}

/// Returns the table of slices whose durations in ns are in `range`; without a range, of all slices.
fn listed(trace: &Trace, found: &Durations, range: Option<&Range<i64>>) -> TableData {
    // A range of durations excludes slices without a known duration.
    let unfinished = found.unfinished().rev().filter(|_| range.is_none());
    let ended = found.between(range.unwrap_or(&(0..i64::MAX))).rev();
    let ended = ended.map(|it| (Length::Known(it.ns), it.slice));
    let unfinished = unfinished.map(|it| (Length::AtLeast(it.ns), it.slice));
    let row = |(length, id): (Length, SliceId)| {
        let slice = trace.slices.get(id);
        let thread = Item::Slice(id).thread(trace);
        MadeRow::new([
            length.into(),
            slice.start.into(),
            thread.map(|id| trace.thread_title(id)).into(),
        ])
        .about(Some(Item::Slice(id)))
    };
    let length = ColumnDef::duration(
        "dur",
        "Duration",
        "How long the slice took; unfinished slices first, then the longest",
    );
    let start = ColumnDef::time("ts", "Start", "When it began");
    let columns = vec![
        PaneColumn::at(0, length, 84.0),
        PaneColumn::at(1, start, 112.0),
        PaneColumn::at(2, THREAD, 130.0),
    ];
    let rows = unfinished.chain(ended).take(MOST_LISTED).map(row);
    TableData::new(columns, rows.collect::<Vec<_>>())
}

/// Returns the filter expression for the slices of a row, and of a range of durations in ns. Category and kind are in
/// the expression only if other slices have the same name.
pub(crate) fn expression(trace: &Trace, of: Named, range: Option<&Range<i64>>) -> String {
    let is = |field: &str, id: StringId| equals(field, &trace.text(id));
    let labels = trace.slices.labels.iter();
    let (same, other): (Vec<_>, Vec<_>) = labels
        .filter(|label| label.name == of.name)
        .partition(|label| label.category == of.category);
    let mut terms = vec![is("name", of.name)];
    if !other.is_empty() {
        terms.push(is("category", of.category));
    }
    if let Some(kind) = of.kind
        && same.iter().any(|label| label.kind != kind)
    {
        terms.push(format!("slice_kind == \"{}\"", kind.word()));
    }
    match range {
        None => terms.push("dur >= 0ns".to_owned()),
        Some(Range { start, end }) => {
            terms.push(format!("dur >= {start}ns && dur < {end}ns"));
        }
    }
    terms.join(" && ")
}
