//! Recording on systems without tracefs: a command to record is refused in words.

use std::path::Path;

use egui::Ui;

use super::App;
use crate::gui::notices::Mood;
use crate::gui::theme::Palette;
use crate::view::{Action, RecordCommand};

impl App {
    pub(super) fn command_recording(&mut self, _ctx: &egui::Context, _command: RecordCommand) {
        let words = "Only Linux can be recorded: it has tracefs";
        self.notices.say(Mood::Wrong, words);
    }

    pub(super) fn is_choice_waiting(&self) -> bool {
        false
    }

    pub(super) fn poll_recording(&mut self, _ctx: &egui::Context) {}

    pub(super) fn choosing_ui(&mut self, _ui: &mut Ui, _palette: &Palette, _: &mut Vec<Action>) {}

    pub(super) fn recording_ui(&self, _ui: &mut Ui, _palette: &Palette, _: &mut Vec<Action>) {}
}

/// Returns whether a file is a recording that is deleted with the window.
pub(super) fn is_temporary(_path: &Path) -> bool {
    false
}
