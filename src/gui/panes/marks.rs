//! A pane about markers A and B, flags with their notes, and saved places.

use std::sync::Arc;

use egui::{RichText, Ui};

use crate::base::{Nanos, Timestamp};
use crate::gui::keys::{key_of, shortcut};
use crate::gui::pane::{Pane, Scene};
use crate::gui::table::{DataTable, PaneColumn, Parts, TEXT_SIZE, TableData};
use crate::tables::marks::{MARKS, MarkRow, mark_rows};
use crate::view::{Action, Flag, Flagging, Marker, ViewState};

/// Returns the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<MarksPane>::default()
}

#[derive(Default)]
struct MarksPane {
    table: DataTable,
}

/// The mark that a row of the table shows.
#[derive(Clone, Copy)]
enum Mark {
    /// Marker A (0) or B (1).
    Marker(usize),
    /// The time from marker A to marker B.
    Between,
    /// A saved place, by its number.
    Place(u8),
    /// A flag, by its index.
    Flag(usize),
}

impl Mark {
    /// Returns all marks of a view: markers, places, flags.
    fn all(state: &ViewState) -> Vec<Mark> {
        let markers = (0..state.marks.len()).filter(|at| state.marks[*at].is_some());
        let mut marks: Vec<Mark> = markers.map(Mark::Marker).collect();
        if let [Some(_), Some(_)] = state.marks {
            marks.push(Mark::Between);
        }
        let places = (1..).zip(&state.places);
        marks.extend(
            places.filter_map(|(number, place)| place.as_ref().map(|_| Mark::Place(number))),
        );
        marks.extend((0..state.flags.len()).map(Mark::Flag));
        marks
    }

    /// Returns the mark as a row of its table.
    fn row(self, state: &ViewState) -> Option<MarkRow<'_>> {
        let row = |name: String, time: Timestamp, length: Option<Nanos>| MarkRow {
            name,
            time,
            length,
            note: "",
        };
        Some(match self {
            Mark::Marker(at) => row(
                ["A", "B"].get(at)?.to_string(),
                (*state.marks.get(at)?)?,
                None,
            ),
            Mark::Between => {
                let [a, b] = state.marks;
                row("B − A".to_owned(), a?, Some(b? - a?))
            }
            Mark::Place(number) => {
                let place = state.places.get(usize::from(number).checked_sub(1)?)?;
                let span = place.as_ref()?.span;
                row(format!("place {number}"), span.start, Some(span.duration()))
            }
            Mark::Flag(at) => {
                let flag = state.flags.get(at)?;
                MarkRow {
                    note: &flag.note,
                    ..row("flag".to_owned(), flag.time, None)
                }
            }
        })
    }
}

impl Pane for MarksPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let state = scene.state;
        let marks = Mark::all(state);
        let rows = mark_rows(marks.iter().filter_map(|mark| mark.row(state)));
        let data = Arc::new(TableData::new(columns(), rows).with_fields());
        ui.horizontal_wrapped(|ui| {
            if !marks.is_empty() {
                self.table.tools_ui(ui, scene, &data, &mut actions);
            }
            markers_ui(ui, state, &mut actions);
        });
        hints_ui(ui, scene);
        if marks.is_empty() {
            return actions;
        }
        let mut changes = Vec::new();
        let mut draw = |ui: &mut Ui, row: usize, column: &PaneColumn| {
            let Some(&mark) = marks.get(row) else {
                return;
            };
            match column.def.name {
                "mark" => sign_ui(ui, scene, mark, &mut changes),
                "note" => note_ui(ui, state, mark, &mut changes),
                _ => remove_ui(ui, mark, &mut changes),
            }
        };
        let parts = Parts {
            draw: &mut draw,
            menu: |_: &mut Ui, _: usize, _: &mut Vec<Action>| {},
        };
        let table = &mut self.table;
        let answer = table.ui_with_cells(ui, scene, "marks", &data, &mut actions, parts);
        let clicked = answer.clicked.and_then(|row| marks.get(row));
        actions.extend(clicked.and_then(|mark| visit(*mark, state)));
        actions.append(&mut changes);
        actions
    }

    fn is_waiting(&self) -> bool {
        self.table.is_waiting()
    }

    fn stop(&mut self) {
        self.table.stop();
    }
}

fn columns() -> Vec<PaneColumn> {
    let of = |name: &str, width: f32| PaneColumn::of(&MARKS, name, width);
    vec![
        of("mark", 76.0).drawn(),
        of("ts", 140.0),
        of("dur", 100.0),
        of("note", 160.0).growing().drawn(),
        PaneColumn::of_controls("Removes the flag", 70.0),
    ]
}

/// Returns the action that shows a mark in the timeline.
fn visit(mark: Mark, state: &ViewState) -> Option<Action> {
    match mark {
        Mark::Place(number) => Some(Action::RecallPlace(number)),
        Mark::Between => match state.marks {
            [Some(a), Some(b)] => Some(Action::SelectRange(crate::gui::keys::span_between(a, b))),
            _ => None,
        },
        Mark::Marker(_) | Mark::Flag(_) => Some(Action::Center(mark.row(state)?.time)),
    }
}

/// Draws the buttons that set, swap and remove the markers.
fn markers_ui(ui: &mut Ui, state: &ViewState, actions: &mut Vec<Action>) {
    if let Some(span) = state.selected_span()
        && ui.small_button("Around the selection").clicked()
    {
        actions.push(Action::MarkBoth(span));
    }
    if let [Some(a), Some(b)] = state.marks {
        if ui.small_button("Select between").clicked() {
            let span = crate::gui::keys::span_between(a, b);
            actions.push(Action::SelectRange(span));
        }
        if ui.small_button("Swap").clicked() {
            actions.push(Action::Mark(Marker::A, b));
            actions.push(Action::Mark(Marker::B, a));
        }
    }
    if state.marks != [None, None] && ui.small_button("Take away").clicked() {
        actions.push(Action::ClearMarks);
    }
}

/// Draws hints on how to make marks, for each kind of mark that the view does not have.
fn hints_ui(ui: &mut Ui, scene: &Scene<'_>) {
    let state = scene.state;
    let mut hint = |words: String| {
        ui.label(RichText::new(words).color(scene.palette.weak));
    };
    if state.marks.contains(&None) {
        let keys = ["Put marker A at the pointer", "Put marker B at the pointer"].map(shortcut);
        hint(format!(
            "{} and {} put markers A and B at the pointer.",
            keys[0], keys[1]
        ));
    }
    if state.places.iter().all(Option::is_none) {
        let [keeps, goes] = ["Keep this as place 1", "Go to place 1"].map(key_of);
        hint(format!(
            "{keeps} … 9 keeps what is seen, {goes} … 9 goes there again."
        ));
    }
    if state.flags.is_empty() {
        let keys = shortcut("Put a flag at the pointer");
        hint(format!(
            "{keys} puts a flag at the pointer. It stays with this trace, with its note."
        ));
    }
}

/// Draws the name of a mark in its colour; a flag's sign is a button that gives it the next colour.
fn sign_ui(ui: &mut Ui, scene: &Scene<'_>, mark: Mark, actions: &mut Vec<Action>) {
    let (state, palette) = (scene.state, scene.palette);
    let name = mark.row(state).map(|row| row.name).unwrap_or_default();
    let mut text = RichText::new(name).size(TEXT_SIZE);
    match mark {
        Mark::Marker(at) => {
            let color = palette.marks.get(at).copied().unwrap_or(palette.weak);
            text = text.color(color).strong();
        }
        Mark::Between | Mark::Place(_) => {}
        Mark::Flag(at) => {
            let color = state
                .flags
                .get(at)
                .map_or(palette.weak, |flag: &Flag| palette.flag(flag.color));
            let sign = egui::Button::new(RichText::new("⚑").color(color)).frame(false);
            let sign = ui.add(sign);
            sign.widget_info(|| {
                let name = format!("Next colour of flag {}", at + 1);
                egui::WidgetInfo::labeled(egui::Role::Button, true, name)
            });
            if sign.on_hover_text("Next colour").clicked() {
                actions.push(Action::Flag(Flagging::Recolor(at)));
            }
        }
    }
    ui.add(egui::Label::new(text).truncate().selectable(false));
}

/// Draws the field with the note of a flag; other marks have no note.
fn note_ui(ui: &mut Ui, state: &ViewState, mark: Mark, actions: &mut Vec<Action>) {
    let Mark::Flag(at) = mark else {
        return;
    };
    let mut note = state
        .flags
        .get(at)
        .map(|flag| flag.note.clone())
        .unwrap_or_default();
    // The field keeps the focus when its row moves, because the rows are sorted by their notes.
    let edit = egui::TextEdit::singleline(&mut note)
        .id(egui::Id::unique(("note of flag", at)))
        .hint_text("What is it?");
    let response = ui.add_sized([ui.available_width(), 20.0], edit);
    response.widget_info(|| {
        let name = format!("Note of flag {}", at + 1);
        egui::WidgetInfo::labeled(egui::Role::TextInput, true, name)
    });
    if response.changed() {
        actions.push(Action::Flag(Flagging::Note(at, note)));
    }
}

/// Draws the button that removes a flag.
fn remove_ui(ui: &mut Ui, mark: Mark, actions: &mut Vec<Action>) {
    let Mark::Flag(at) = mark else {
        return;
    };
    let remove = ui.small_button("Remove");
    let remove = remove.accessible_name(format!("Remove flag {}", at + 1));
    if remove.clicked() {
        actions.push(Action::Flag(Flagging::Remove(at)));
    }
}
