//! Renames a track in place: the text field replaces the title.

use super::scratch::Timeline;
use crate::gui::filter_box::select_all;
use crate::view::rows::Row;
use crate::view::{Action, Arrange};
use egui::{Key, Rect, Ui, vec2};

impl Timeline {
    pub(super) fn rename_ui(
        &mut self,
        ui: &mut Ui,
        row: &Row,
        area: Rect,
        actions: &mut Vec<Action>,
    ) {
        let is_under_way = self
            .renaming
            .as_ref()
            .is_some_and(|(key, _)| *key == row.key);
        if !is_under_way {
            self.renaming = Some((row.key, row.title.to_string()));
        }
        let Some((key, text)) = &mut self.renaming else {
            return;
        };
        let left = area.left() + 18.0 + 12.0 * f32::from(row.depth);
        let top = area.top() + 1.0;
        let place = Rect::from_min_max(egui::pos2(left, top), area.right_bottom())
            .with_max_y(top + 20.0)
            .shrink2(vec2(2.0, 0.0));
        let id = ui.scope_id().with("rename track");
        let edit = egui::TextEdit::singleline(text).id(id);
        let response = ui.put(place, edit);
        response.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::TextInput, true, "New name of the track")
        });
        if !is_under_way {
            response.request_focus();
            select_all(ui.ctx(), id, text);
            return;
        }
        if response.lost_focus() {
            if !ui.input(|input| input.key_pressed(Key::Escape)) {
                actions.push(Action::Arrange(Arrange::Rename(*key, text.clone())));
            }
            actions.push(Action::StartRename(None));
            self.renaming = None;
        }
    }
}
