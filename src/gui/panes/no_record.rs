//! The Record pane on systems without tracefs.

use egui::Ui;

use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::view::Action;

/// Returns the pane.
pub(crate) fn make() -> Box<dyn Pane> {
    Box::new(NoRecordPane)
}

struct NoRecordPane;

impl Pane for NoRecordPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        empty_ui(ui, scene, "Only Linux can be recorded: it has tracefs.");
        Vec::new()
    }
}
