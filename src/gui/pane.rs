//! What a pane is: it sees the trace and the view, and answers with actions.

use std::sync::Arc;

use super::promise::{Kept, Promise};
use super::theme::Palette;
use crate::load::LoadedTrace;
use crate::query::search::Found;
use crate::view::{Action, ViewState};

/// What panes see.
pub struct Scene<'a> {
    /// The trace.
    pub loaded: &'a Arc<LoadedTrace>,
    /// The view.
    pub state: &'a ViewState,
    /// What the search has found, while there is one.
    pub found: Option<&'a Arc<Found>>,
    /// The colours.
    pub palette: &'a Palette,
}

/// A pane owns only scratch: a text being typed, an answer being waited for.
pub trait Pane {
    /// Draws it; what the user did comes back as actions.
    fn ui(&mut self, ui: &mut egui::Ui, scene: &Scene<'_>) -> Vec<Action>;

    /// Whether it waits for something that is worked out in the background.
    fn is_waiting(&self) -> bool {
        false
    }

    /// Stops what is worked out for it in the background.
    fn stop(&mut self) {}

    /// What of it is kept in sessions; `None`: it is as at first.
    fn kept(&self) -> Option<serde_json::Value> {
        None
    }

    /// The pane for another trace; `None`: a new one. Nothing of it may be about the trace that was shown.
    fn for_next_trace(&mut self) -> Option<Box<dyn Pane>> {
        None
    }

    /// Takes up what was kept; `None`: it is to be as at first. What cannot be understood counts as that.
    fn take_up(&mut self, _kept: Option<&serde_json::Value>) {}
}

/// A row in `PANES`.
pub struct PaneRow {
    /// Its title, by which `--pane` and actions name it.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Makes one.
    pub make: fn() -> Box<dyn Pane>,
}

/// What stands in a pane that has nothing to show: why, and what to do.
pub fn empty_ui(ui: &mut egui::Ui, scene: &Scene<'_>, words: &str) {
    ui.add_space(8.0);
    ui.label(egui::RichText::new(words).color(scene.palette.weak));
}

/// Tells one generation of one trace from another: what answers are kept by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceKey(usize, u32, u64);

impl TraceKey {
    /// The key of what is shown.
    #[must_use]
    pub fn of(loaded: &Arc<LoadedTrace>) -> TraceKey {
        let place = Arc::as_ptr(&loaded.trace) as usize;
        TraceKey(place, loaded.generation, loaded.file_bytes)
    }
}

/// An answer that is worked out off the window's thread: asked for by key, kept until the key changes.
pub struct Later<K, T> {
    wanted: Option<K>,
    pending: Option<Promise<T>>,
    answer: Option<T>,
}

impl<K, T> Default for Later<K, T> {
    fn default() -> Later<K, T> {
        Later {
            wanted: None,
            pending: None,
            answer: None,
        }
    }
}

impl<K: PartialEq, T: Send + 'static> Later<K, T> {
    /// The answer for `key`, or the last one while `work` is under way; `work` runs once a key.
    pub fn ask(
        &mut self,
        ctx: &egui::Context,
        key: K,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<&T> {
        if self.wanted.as_ref() != Some(&key) && self.pending.is_none() {
            self.wanted = Some(key);
            self.pending = Some(Promise::of_pool(ctx, work));
        }
        match self.pending.take().map(Promise::look) {
            Some(Kept::Answer(answer)) => {
                self.answer = Some(answer);
                ctx.request_repaint();
            }
            Some(Kept::NotYet(promise)) => self.pending = Some(promise),
            Some(Kept::Broken) | None => {}
        }
        self.answer.as_ref()
    }

    /// The last answer.
    pub fn answer(&self) -> Option<&T> {
        self.answer.as_ref()
    }

    /// Whether an answer is being worked out.
    pub fn is_waiting(&self) -> bool {
        self.pending.as_ref().is_some_and(Promise::is_going_on)
    }
}
