//! Two traces side by side, or two parts of one: names with counts and durations, the largest change first; of
//! one name the distributions of both.

mod rows;
mod sides;

use std::sync::Arc;

use egui::{RichText, Ui};

use self::rows::{curve_of, table_of};
use self::sides::{OtherFile, Side, resolve, sides};
use crate::gui::asked::Asked;
use crate::gui::chart::{Curve, curves_ui};
use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::gui::shortened::{line_within, shortened};
use crate::gui::table::{Cell, DataTable, TableData, TableRow};
use crate::load::LoadedTrace;
use crate::query::area::Area;
use crate::query::compare::{CompareWhat, Compared, compare};
use crate::trace::SliceKind;
use crate::view::Action;

/// Makes the pane.
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

/// A side as it was asked for: the trace by its address, and the part of it.
type SideKey = (usize, u32, Area);
type Key = (SideKey, SideKey, usize);
type CurveKey = (SideKey, SideKey, CompareWhat, RowName);

#[derive(Default)]
struct ComparePane {
    left: Option<Side>,
    right: Option<Side>,
    what: usize,
    other: OtherFile,
    asked: Asked<Key, Arc<TableData>>,
    curves: Asked<CurveKey, [Vec<[f64; 2]>; 2]>,
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
                .find(|(choice, _)| Some(choice) == side.as_ref());
            found.map_or_else(String::new, |(_, name)| name.clone())
        };
        let titles = [names(&self.left), names(&self.right)];
        let data = self.asked.answer().cloned().unwrap_or_default();
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
            self.asked.ui(ui, scene.palette);
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
        self.compare_ui(ui, scene, left, right, &titles, &mut actions);
        actions
    }

    fn is_waiting(&self) -> bool {
        self.asked.is_waiting() || self.curves.is_waiting() || self.other.is_loading()
    }

    fn stop(&mut self) {
        self.asked.stop();
        self.curves.stop();
        self.other.stop();
    }

    /// The other file stays: it is what the next trace is compared with.
    fn for_next_trace(&mut self) -> Option<Box<dyn Pane>> {
        Some(Box::new(ComparePane {
            other: std::mem::take(&mut self.other),
            what: self.what,
            ..ComparePane::default()
        }))
    }
}

impl ComparePane {
    /// Keeps the sides to what there is: at first the first two.
    fn hold(&mut self, choices: &[(Side, String)]) {
        let is_there =
            |side: &Option<Side>| choices.iter().any(|(it, _)| Some(it) == side.as_ref());
        if !is_there(&self.left) {
            self.left = choices.first().map(|(side, _)| side.clone());
        }
        if !is_there(&self.right) || self.right == self.left {
            let others = choices
                .iter()
                .find(|(side, _)| Some(side) != self.left.as_ref());
            self.right = others.map(|(side, _)| side.clone()).or(self.right.clone());
        }
    }

    fn compare_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        left: (Arc<LoadedTrace>, Area),
        right: (Arc<LoadedTrace>, Area),
        titles: &[String; 2],
        actions: &mut Vec<Action>,
    ) {
        let what = WHATS
            .get(self.what)
            .map_or(CompareWhat::Slices, |row| row.0);
        let key = (key_of(&left), key_of(&right), self.what);
        let is_dragged = ui.input(|input| input.pointer.any_down());
        if !is_dragged || self.asked.answer().is_none() {
            let (left, right) = (left.clone(), right.clone());
            self.asked.ask(ui.ctx(), key, move |job| {
                let side = |(loaded, area): &'_ (Arc<LoadedTrace>, Area)| {
                    (loaded.trace.clone(), area.clone())
                };
                let (left, right) = (side(&left), side(&right));
                let compared = compare(
                    Compared {
                        trace: &left.0,
                        area: &left.1,
                    },
                    Compared {
                        trace: &right.0,
                        area: &right.1,
                    },
                    what,
                    job,
                )?;
                Ok(Arc::new(table_of(&compared, what)))
            });
        }
        let Some(data) = self.asked.answer().cloned() else {
            return;
        };
        if data.rows.is_empty() {
            let words = "Neither side has any of these. Compare something else of them.";
            ui.label(RichText::new(words).color(scene.palette.weak));
            return;
        }
        let has_durations = what != CompareWhat::Events;
        if has_durations {
            self.curves_ui(ui, scene, what, [&left, &right], titles, &data);
        }
        let detailed = has_durations.then(|| self.shown_row(&data)).flatten();
        self.table.detail(detailed);
        let answer = self
            .table
            .ui(ui, scene, "compare", &data, actions, |_, _, _| {});
        if let Some(row) = answer.clicked.and_then(|row| data.rows.get(row)) {
            self.name = name_of(row);
        }
    }

    /// The row whose curves are shown: that of the name that was clicked, else the first.
    fn shown_row(&self, data: &TableData) -> Option<usize> {
        let is =
            |cell: Option<&Cell>, text: &str| matches!(cell, Some(Cell::Text(it)) if it == text);
        let is_it = |row: &TableRow| {
            let name = self.name.as_ref();
            name.is_some_and(|(name, category, kind)| {
                let is_kind = kind.is_none() || kind_of(row) == *kind;
                is(row.cells.first(), name) && is(row.cells.last(), category) && is_kind
            })
        };
        let chosen = data.rows.iter().position(is_it);
        chosen.or((!data.rows.is_empty()).then_some(0))
    }

    fn curves_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        what: CompareWhat,
        [left, right]: [&(Arc<LoadedTrace>, Area); 2],
        titles: &[String; 2],
        data: &TableData,
    ) {
        let shown = self.shown_row(data).and_then(|at| data.rows.get(at));
        let Some(name) = shown.and_then(name_of) else {
            return;
        };
        let key = (key_of(left), key_of(right), what, name.clone());
        let (of_left, of_right) = (left.clone(), right.clone());
        let title = name.0.clone();
        self.curves.ask(ui.ctx(), key, move |job| {
            let curve = |(loaded, area): &(Arc<LoadedTrace>, Area)| {
                let trace = &loaded.trace;
                curve_of(
                    Compared { trace, area },
                    what,
                    (&name.0, &name.1, name.2),
                    job,
                )
            };
            Ok([curve(&of_left)?, curve(&of_right)?])
        });
        let Some(points) = self.curves.answer() else {
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

fn key_of(side: &(Arc<LoadedTrace>, Area)) -> SideKey {
    (
        Arc::as_ptr(&side.0.trace) as usize,
        side.0.generation,
        side.1.clone(),
    )
}

/// A row's name, category and kind of slices.
type RowName = (String, String, Option<SliceKind>);

/// The name of a row, which stands first in it, the category, which stands last, and the kind before that.
fn name_of(row: &TableRow) -> Option<RowName> {
    match (row.cells.first()?, row.cells.last()?) {
        (Cell::Text(name), Cell::Text(category)) => {
            Some((name.clone(), category.clone(), kind_of(row)))
        }
        _ => None,
    }
}

/// The kind of slices of a row, if it is of slices.
fn kind_of(row: &TableRow) -> Option<SliceKind> {
    let Cell::Text(word) = row.cells.iter().rev().nth(1)? else {
        return None;
    };
    let mut kinds = SliceKind::ALL.into_iter();
    kinds.find(|kind| kind.word() == word)
}

fn side_ui(
    ui: &mut Ui,
    id: &str,
    side: &mut Option<Side>,
    choices: &[(Side, String)],
    title: &str,
) {
    let answer = egui::ComboBox::from_id_salt(id)
        .selected_text(title)
        .width(170.0)
        .show_ui(ui, |ui| {
            for (choice, name) in choices {
                ui.selectable_value(side, Some(choice.clone()), name);
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
