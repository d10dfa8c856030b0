//! A pane that compares two traces, or two parts of one: names with counts and durations, the largest change first;
//! and both distributions of one name.

mod rows;
mod sides;

use std::sync::Arc;

use egui::{RichText, Ui};

use self::rows::{curve_of, table_of};
use self::sides::{OtherFile, Side, SideChoice, SideKey, SideOf, resolve, sides};
use crate::base::{Task, TaskKey};
use crate::event::SliceKind;
use crate::gui::chart::{Curve, curves_ui};
use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::gui::shortened::{line_within, shortened};
use crate::gui::table::{DataTable, TableData};
use crate::load::TraceId;
use crate::query::compare::{CompareRow, CompareWhat, ComparedName, compare};
use crate::view::Action;

/// Returns the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<ComparePane>::default()
}

const WHATS: [(CompareWhat, &str, &str); 4] = [
    (CompareWhat::Slices, "Slices", "By name, with durations"),
    (CompareWhat::Events, "Events", "By name, only counts"),
    (
        CompareWhat::Threads,
        "CPU time",
        "By the name of the thread",
    ),
    (CompareWhat::States, "Thread states", "Time in each state"),
];

/// The key of a comparison.
#[derive(PartialEq)]
struct Key {
    sides: [SideKey; 2],
    what: CompareWhat,
}

/// The key of the curves of a row.
#[derive(PartialEq)]
struct CurveKey {
    compared: Key,
    name: RowName,
}

/// The name of a row.
#[derive(Clone, Debug, PartialEq)]
struct RowName {
    name: String,
    category: String,
    /// The kind of slices, if the rows are slices.
    kind: Option<SliceKind>,
}

/// The names that were compared, by row, and their table.
#[derive(Clone, Default)]
struct Answer {
    names: Arc<[RowName]>,
    data: Arc<TableData>,
}

#[derive(Default)]
struct ComparePane {
    left: Option<Side>,
    right: Option<Side>,
    what: usize,
    other: OtherFile,
    compared: Task<Key, Answer>,
    curves: Task<CurveKey, [Vec<[f64; 2]>; 2]>,
    name: Option<RowName>,
    table: DataTable,
}

impl Pane for ComparePane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let had_other = self.other.loaded().is_some();
        ui.horizontal_wrapped(|ui| self.other.ui(ui, scene));
        let choices = sides(scene, &self.other);
        if !had_other && self.other.loaded().is_some() {
            self.right = Some(Side::Other);
        }
        self.hold(&choices);
        let names = |side: &Option<Side>| {
            let found = choices
                .iter()
                .find(|choice| Some(&choice.side) == side.as_ref());
            found.map_or_else(String::new, |choice| choice.name.clone())
        };
        let titles = [names(&self.left), names(&self.right)];
        let data = self.compared.answer(scene.loaded.id);
        let data = data.map(|answer| answer.data.clone()).unwrap_or_default();
        ui.horizontal_wrapped(|ui| {
            ui.label("Compare");
            side_ui(ui, "left side", &mut self.left, &choices, &titles[0]);
            ui.label("with");
            side_ui(ui, "right side", &mut self.right, &choices, &titles[1]);
            ui.separator();
            for (at, (_, word, about)) in WHATS.iter().enumerate() {
                let button = egui::Button::selectable(self.what == at, *word);
                if ui.add(button).on_hover_text(*about).clicked() {
                    self.what = at;
                    self.name = None;
                }
            }
            ui.separator();
            self.table.tools_ui(ui, scene, &data, &mut actions);
            self.compared.ui(ui, scene.palette);
        });
        let resolved = |side: &Option<Side>| resolve(side.as_ref()?, scene, &self.other);
        let (Some(left), Some(right)) = (resolved(&self.left), resolved(&self.right)) else {
            nothing_ui(ui, scene);
            return actions;
        };
        if choices.len() < 2 || self.left == self.right {
            nothing_ui(ui, scene);
            return actions;
        }
        self.compare_ui(ui, scene, [left, right], &titles, &mut actions);
        actions
    }

    fn is_waiting(&self) -> bool {
        self.compared.is_busy() || self.curves.is_busy() || self.other.is_loading()
    }

    fn stop(&mut self) {
        self.compared.stop();
        self.curves.stop();
        self.other.stop();
    }

    /// The other file stays open, so that the next trace is compared with it.
    fn for_next_trace(&mut self) -> Option<Box<dyn Pane>> {
        Some(Box::new(ComparePane {
            other: std::mem::take(&mut self.other),
            what: self.what,
            ..ComparePane::default()
        }))
    }
}

impl ComparePane {
    /// Replaces sides that no longer exist; initially the first two choices are compared.
    fn hold(&mut self, choices: &[SideChoice]) {
        let sides = || choices.iter().map(|choice| &choice.side);
        let is_there = |side: &Option<Side>| sides().any(|it| Some(it) == side.as_ref());
        if !is_there(&self.left) {
            self.left = sides().next().cloned();
        }
        if !is_there(&self.right) || self.right == self.left {
            let other = sides().find(|side| Some(*side) != self.left.as_ref());
            self.right = other.cloned().or(self.right.clone());
        }
    }

    fn compare_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        sides: [SideOf; 2],
        titles: &[String; 2],
        actions: &mut Vec<Action>,
    ) {
        let what = WHATS
            .get(self.what)
            .map_or(CompareWhat::Slices, |row| row.0);
        let [left, right] = &sides;
        let key = Key {
            sides: [left.key(), right.key()],
            what,
        };
        let is_dragged = ui.input(|input| input.pointer.any_down());
        let id = scene.loaded.id;
        self.forget_others([left.loaded.id, right.loaded.id], id);
        if !is_dragged || self.compared.answer(id).is_none() {
            let [left, right] = sides.clone();
            let question = TaskKey::about(id, key);
            self.compared.ask(ui.ctx(), question, move |job| {
                let compared = compare(left.compared(), right.compared(), what, job)?;
                let name = |row: &CompareRow| RowName {
                    name: row.name.clone(),
                    category: row.category.clone(),
                    kind: row.kind,
                };
                Ok(Answer {
                    names: compared.iter().map(name).collect(),
                    data: Arc::new(table_of(compared, what)),
                })
            });
        }
        let Some(Answer { names, data }) = self.compared.answer(id).cloned() else {
            return;
        };
        if data.rows.is_empty() {
            let words = "Neither side has any of these. Choose something else to compare.";
            ui.label(RichText::new(words).color(scene.palette.weak));
            return;
        }
        let has_durations = what != CompareWhat::Events;
        if has_durations && let Some(name) = self.shown_row(&names).and_then(|at| names.get(at)) {
            let about = CurvesAbout {
                what,
                sides,
                name: name.clone(),
            };
            self.curves_ui(ui, scene, about, titles, &data);
        }
        let detailed = has_durations.then(|| self.shown_row(&names)).flatten();
        self.table.detail(detailed);
        let answer = self
            .table
            .ui(ui, scene, "compare", &data, actions, |_, _, _| {});
        if let Some(name) = answer.clicked.and_then(|row| names.get(row)) {
            self.name = Some(name.clone());
        }
    }

    /// Drops answers for traces other than those of the two `sides`: a side may be another file than the trace that is
    /// shown.
    fn forget_others(&mut self, sides: [TraceId; 2], shown: TraceId) {
        let is_other = |key: &Key| {
            let mut pairs = key.sides.iter().zip(sides);
            pairs.any(|(side, now)| !side.trace.shares_lineage(now))
        };
        let compared = self.compared.answered(shown);
        if compared.is_some_and(is_other) {
            self.compared.clear();
        }
        let curves = self.curves.answered(shown);
        if curves.is_some_and(|key| is_other(&key.compared)) {
            self.curves.clear();
        }
    }

    /// Returns the row whose curves are shown: that of the clicked name, or else the first.
    fn shown_row(&self, names: &[RowName]) -> Option<usize> {
        let is_it = |row: &RowName| {
            self.name.as_ref().is_some_and(|name| {
                let is_kind = name.kind.is_none() || row.kind == name.kind;
                (&row.name, &row.category) == (&name.name, &name.category) && is_kind
            })
        };
        let chosen = names.iter().position(is_it);
        chosen.or((!names.is_empty()).then_some(0))
    }

    fn curves_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        about: CurvesAbout,
        titles: &[String; 2],
        data: &TableData,
    ) {
        let CurvesAbout { what, sides, name } = about;
        let [left, right] = sides;
        let compared = Key {
            sides: [left.key(), right.key()],
            what,
        };
        let key = CurveKey {
            compared,
            name: name.clone(),
        };
        let title = name.name.clone();
        let id = scene.loaded.id;
        let question = TaskKey::about(id, key);
        self.curves.ask(ui.ctx(), question, move |job| {
            let named = ComparedName {
                name: &name.name,
                category: &name.category,
                kind: name.kind,
            };
            let curve = |side: &SideOf| curve_of(side.compared(), what, named, job);
            Ok([curve(&left)?, curve(&right)?])
        });
        let Some(points) = self.curves.answer(id) else {
            return;
        };
        let colors = [scene.palette.marks[0], scene.palette.accent];
        data.companion(ui, "compared name").show(ui, |ui| {
            ui.set_min_size(ui.available_size());
            ui.horizontal_wrapped(|ui| {
                let most = ui.available_width();
                line_within(ui, RichText::new(shortened(&title)).strong(), most);
                for (name, color) in titles.iter().zip(colors) {
                    ui.label(RichText::new(format!("— {name}")).color(color));
                }
            });
            if points.iter().all(Vec::is_empty) {
                empty_ui(
                    ui,
                    scene,
                    "None of them ended in the recording: there are no percentiles.",
                );
                return;
            }
            let curves: Vec<Curve> = points
                .iter()
                .zip(titles)
                .zip(colors)
                .map(|((points, name), color)| Curve {
                    name: name.clone(),
                    points: points.clone(),
                    color,
                })
                .collect();
            curves_ui(ui, scene, "Percentiles of both", &curves);
        });
    }
}

/// The name and the sides whose curves are drawn.
struct CurvesAbout {
    what: CompareWhat,
    sides: [SideOf; 2],
    name: RowName,
}

fn side_ui(ui: &mut Ui, id: &str, side: &mut Option<Side>, choices: &[SideChoice], title: &str) {
    let answer = egui::ComboBox::from_id_salt(id)
        .selected_text(title)
        .width(170.0)
        .show_ui(ui, |ui| {
            for choice in choices {
                ui.selectable_value(side, Some(choice.side.clone()), &choice.name);
            }
        });
    answer.response.widget_info(|| {
        let words = format!("{id}: {title}");
        egui::WidgetInfo::labeled(egui::Role::ComboBox, true, words)
    });
}

fn nothing_ui(ui: &mut Ui, scene: &Scene<'_>) {
    let words = "Nothing to compare with yet. Open another trace above, add a file to the axis (File > Add), select a range, or set the markers A and B: any two of these are compared.";
    empty_ui(ui, scene, words);
}
