//! The interface of panes: they see the trace and the view, and return actions.

use std::sync::Arc;

use super::theme::Palette;
use crate::load::LoadedTrace;
use crate::query::search::Found;
use crate::view::{Action, PaneKind, ViewState};

/// The data that panes can read.
pub struct Scene<'a> {
    /// The visible trace.
    pub loaded: &'a Arc<LoadedTrace>,
    /// The state of the view.
    pub state: &'a ViewState,
    /// Matches of the search, if there is one.
    pub found: Option<&'a Arc<Found>>,
    /// Colours of the theme.
    pub palette: &'a Palette,
}

/// The data that a pane without a trace can read.
#[derive(Clone, Copy)]
pub struct Alone<'a> {
    /// The state of the view.
    pub state: &'a ViewState,
    /// Colours of the theme.
    pub palette: &'a Palette,
}

/// A pane owns only scratch state: text being typed, a result being waited for.
pub trait Pane {
    /// Draws the pane; returns the user's actions.
    fn ui(&mut self, ui: &mut egui::Ui, scene: &Scene<'_>) -> Vec<Action>;

    /// Draws the pane while no trace is open; only panes that need none draw anything.
    fn alone_ui(&mut self, _ui: &mut egui::Ui, _alone: &Alone<'_>) -> Vec<Action> {
        Vec::new()
    }

    /// Returns whether the pane waits for a background computation.
    fn is_waiting(&self) -> bool {
        false
    }

    /// Stops the pane's background computations.
    fn stop(&mut self) {}

    /// Returns the state to save in sessions; `None`: all defaults.
    fn kept(&self) -> Option<serde_json::Value> {
        None
    }

    /// Returns the pane to use for the next trace, without state about the current one; `None`: make a new pane.
    fn for_next_trace(&mut self) -> Option<Box<dyn Pane>> {
        None
    }

    /// Restores saved state; `None` or malformed state restores the defaults.
    fn take_up(&mut self, _kept: Option<&serde_json::Value>) {}
}

/// A row in `PANES`.
pub struct PaneRow {
    /// Which pane.
    pub kind: PaneKind,
    /// Description of the pane.
    pub about: &'static str,
    /// Makes a pane of this kind.
    pub make: fn() -> Box<dyn Pane>,
}

/// Draws the message of a pane that has nothing to show: why, and what to do.
pub(crate) fn empty_ui(ui: &mut egui::Ui, scene: &Scene<'_>, words: &str) {
    ui.add_space(8.0);
    ui.label(egui::RichText::new(words).color(scene.palette.weak));
}
