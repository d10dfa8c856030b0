//! A pane about markers A and B, flags with their notes, and saved places.

use egui::{RichText, ScrollArea, Ui};

use crate::export::rows::tsv_line;
use crate::gui::keys::shortcut;
use crate::gui::pane::{Pane, Scene};
use crate::gui::table::copy_button;
use crate::tables::Cell;
use crate::view::{Action, Effect, Flagging, Marker, ruler};

/// Returns the pane.
pub fn make() -> Box<dyn Pane> {
    Box::new(MarksPane)
}

struct MarksPane;

/// The least width in points at which flags are beside markers and places; in a narrower pane they are below them.
const BESIDE: f32 = 760.0;

impl Pane for MarksPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        ScrollArea::both()
            .auto_shrink([false, false])
            .show(ui, |ui| {
                let is_narrow = ui.available_width() < BESIDE;
                let layout = match is_narrow {
                    true => egui::Layout::top_down(egui::Align::Min),
                    false => egui::Layout::left_to_right(egui::Align::Min),
                };
                ui.with_layout(layout, |ui| {
                    ui.vertical(|ui| {
                        markers_ui(ui, scene, &mut actions);
                        ui.add_space(12.0);
                        places_ui(ui, scene, &mut actions);
                    });
                    ui.add_space(if is_narrow { 12.0 } else { 28.0 });
                    ui.vertical(|ui| flags_ui(ui, scene, &mut actions));
                });
            });
        actions
    }
}

/// Returns markers, places and flags as tab-separated text: name, time (in ns of the trace's clock), duration (in ns),
/// and note.
fn text_of(scene: &Scene<'_>) -> String {
    let state = scene.state;
    let mut text = String::new();
    let mut line = |what: &str, time: crate::base::Timestamp, length: Option<i64>, note: &str| {
        let cells = [Cell::from(what), time.into(), length.into(), note.into()];
        text.push_str(&tsv_line(&cells));
    };
    for (name, time) in ["A", "B"].into_iter().zip(state.marks) {
        if let Some(time) = time {
            line(name, time, None, "");
        }
    }
    if let [Some(a), Some(b)] = state.marks {
        line("B − A", a, Some((b - a).0), "");
    }
    for (number, place) in (1..).zip(&state.places) {
        if let Some(place) = place {
            let what = format!("place {number}");
            line(&what, place.span.start, Some(place.span.duration().0), "");
        }
    }
    for flag in &state.flags {
        line("flag", flag.time, None, &flag.note);
    }
    text
}

fn time_text(scene: &Scene<'_>, time: crate::base::Timestamp) -> String {
    ruler::full_text(time, scene.state.time_format, scene.state.origins)
}

fn markers_ui(ui: &mut Ui, scene: &Scene<'_>, actions: &mut Vec<Action>) {
    let (state, palette) = (scene.state, scene.palette);
    ui.horizontal(|ui| {
        ui.label(RichText::new("Markers").strong());
        let has_any = state.marks != [None, None]
            || !state.flags.is_empty()
            || state.places.iter().any(Option::is_some);
        if has_any && copy_button(ui) {
            actions.push(Action::Do(Effect::Copy(text_of(scene))));
        }
    });
    egui::Grid::new("markers")
        .num_columns(2)
        .spacing([14.0, 4.0])
        .show(ui, |ui| {
            let about = ["Put marker A at the pointer", "Put marker B at the pointer"];
            for (index, name) in [(0, "A"), (1, "B")] {
                ui.label(RichText::new(name).color(palette.marks[index]).strong());
                match state.marks[index] {
                    Some(time) => {
                        if ui.link(time_text(scene, time)).clicked() {
                            actions.push(Action::Center(time));
                        }
                    }
                    None => {
                        let words = format!("{} puts it at the pointer", shortcut(about[index]));
                        ui.label(RichText::new(words).color(palette.weak));
                    }
                }
                ui.end_row();
            }
            if let [Some(a), Some(b)] = state.marks {
                ui.label(RichText::new("B − A").color(palette.weak));
                ui.label(ruler::length_text(b - a, state.origins.unit));
                ui.end_row();
            }
        });
    ui.horizontal(|ui| {
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
    });
}

fn places_ui(ui: &mut Ui, scene: &Scene<'_>, actions: &mut Vec<Action>) {
    let (state, palette) = (scene.state, scene.palette);
    ui.label(RichText::new("Places").strong());
    if state.places.iter().all(Option::is_none) {
        let words = "Ctrl+Shift+1 … 9 keeps what is seen, Ctrl+1 … 9 goes there again.";
        ui.label(RichText::new(words).color(palette.weak));
    }
    for (number, place) in (1_u8..).zip(&state.places) {
        if let Some(place) = place {
            let length = ruler::length_text(place.span.duration(), state.origins.unit);
            let text = format!(
                "{number}   {length} from {}",
                time_text(scene, place.span.start)
            );
            if ui.link(text).clicked() {
                actions.push(Action::RecallPlace(number));
            }
        }
    }
}

fn flags_ui(ui: &mut Ui, scene: &Scene<'_>, actions: &mut Vec<Action>) {
    let (state, palette) = (scene.state, scene.palette);
    ui.label(RichText::new("Flags").strong());
    if state.flags.is_empty() {
        let keys = shortcut("Put a flag at the pointer");
        let words =
            format!("{keys} puts a flag at the pointer. It stays with this trace, with its note.");
        ui.label(RichText::new(words).color(palette.weak));
        return;
    }
    egui::Grid::new("flags")
        .num_columns(4)
        .spacing([12.0, 4.0])
        .show(ui, |ui| {
            for (number, flag) in state.flags.iter().enumerate() {
                let sign = RichText::new("⚑").color(palette.flag(flag.color));
                let color = ui.add(egui::Button::new(sign).frame(false));
                color.widget_info(|| {
                    let name = format!("Next colour of flag {}", number + 1);
                    egui::WidgetInfo::labeled(egui::Role::Button, true, name)
                });
                if color.on_hover_text("Next colour").clicked() {
                    actions.push(Action::Flag(Flagging::Recolor(number)));
                }
                let time = ui.link(time_text(scene, flag.time));
                let time = time.accessible_name(format!(
                    "Flag {} at {}",
                    number + 1,
                    time_text(scene, flag.time)
                ));
                if time.clicked() {
                    actions.push(Action::Center(flag.time));
                }
                let mut note = flag.note.clone();
                let edit = egui::TextEdit::singleline(&mut note).hint_text("What is it?");
                let response = ui.add_sized([300.0, 20.0], edit);
                response.widget_info(|| {
                    let name = format!("Note of flag {}", number + 1);
                    egui::WidgetInfo::labeled(egui::Role::TextInput, true, name)
                });
                if response.changed() {
                    actions.push(Action::Flag(Flagging::Note(number, note)));
                }
                let remove = ui.small_button("Remove");
                let remove = remove.accessible_name(format!("Remove flag {}", number + 1));
                if remove.clicked() {
                    actions.push(Action::Flag(Flagging::Remove(number)));
                }
                ui.end_row();
            }
        });
}
