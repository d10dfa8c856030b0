//! Edits the note of a flag in place: beside its cloth in the ruler.

use super::draw::Draw;
use super::scratch::Timeline;
use crate::view::{Action, Flagging};
use egui::{Key, Rect, Ui, pos2, vec2};

/// Width of the text field, in points.
const WIDTH: f32 = 180.0;

impl Timeline {
    /// Draws the field while a note is being edited. Enter and a click elsewhere keep the text, Esc restores the old
    /// note.
    pub(super) fn flag_note_ui(
        &mut self,
        ui: &mut Ui,
        ruler: Rect,
        draw: &Draw<'_>,
        actions: &mut Vec<Action>,
    ) {
        let flags = &draw.scene.state.flags;
        let noted = draw.scene.state.noting.and_then(|time| {
            let number = flags.iter().position(|flag| flag.time == time)?;
            Some((time, number))
        });
        let Some((time, number)) = noted else {
            self.noting = None;
            return;
        };
        let is_under_way = self.noting.as_ref().is_some_and(|(of, _)| *of == time);
        if !is_under_way {
            let note = flags.get(number).map(|flag| flag.note.clone());
            self.noting = Some((time, note.unwrap_or_default()));
        }
        let Some((_, text)) = &mut self.noting else {
            return;
        };
        let most = (ruler.right() - WIDTH).max(ruler.left());
        let left = (draw.x(time) + 13.0).clamp(ruler.left(), most);
        let place = Rect::from_min_size(pos2(left, ruler.top() + 1.0), vec2(WIDTH, 20.0));
        let id = ui.scope_id().with("note of the flag");
        let edit = egui::TextEdit::singleline(text)
            .id(id)
            .hint_text("What is it?");
        let response = ui.put(place, edit);
        response.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Note of the flag")
        });
        if !is_under_way {
            response.request_focus();
            return;
        }
        if response.lost_focus() {
            if !ui.input(|input| input.key_pressed(Key::Escape)) {
                actions.push(Action::Flag(Flagging::Note(number, text.clone())));
            }
            actions.push(Action::NoteFlag(None));
        }
    }
}
