//! The window's announcements to screen readers.

use super::App;
use crate::gui::announcer::REST;
use crate::gui::announcer::{Announcer, Around, Left};
use crate::load::LoadedTrace;
use crate::view::{ViewState, ruler};
use egui::Id;
use egui::accesskit::{Live, Rect, Role};
use std::time::Duration;

impl App {
    /// Returns the last announcement, for tests.
    #[must_use]
    pub fn announced(&self) -> &str {
        &self.announcer.words
    }

    /// Updates the live region with the changes up to the end of this frame.
    pub(super) fn announce(&mut self, ctx: &egui::Context) {
        let id = Id::unique("announcements");
        let corner = ctx.content_rect().left_bottom();
        let (x, y) = (f64::from(corner.x), f64::from(corner.y));
        let region = ctx.accesskit_node_builder(id, |node| {
            node.set_role(Role::Status);
            node.set_live(Live::Polite);
            node.set_bounds(Rect::new(x, y - 1.0, x + 1.0, y));
        });
        if region.is_none() {
            if self.announcer.is_heard {
                self.announcer = Announcer::default();
            }
            return;
        }
        self.announcer.is_heard = true;
        let title = self.title();
        ctx.accesskit_node_builder(egui::accesskit_root_id(), |node| node.set_label(title));
        let around = self.around();
        let now = ctx.input(|input| input.time);
        let trace = self.loaded.as_ref().map(|loaded| loaded.trace.clone());
        let left = self
            .announcer
            .hear(now, around, &self.state, trace.as_deref());
        if left == Left::Words {
            ctx.request_repaint_after(Duration::from_secs_f64(REST));
        }
        let words = self.announcer.words.as_str();
        if !words.is_empty() {
            ctx.accesskit_node_builder(id, |node| node.set_label(words));
        }
    }

    fn around(&self) -> Around {
        let loaded = self.loaded.as_ref();
        let loading = self.loading.as_ref().map(|loading| {
            let paths = &loading.request().paths;
            let name = paths.first().and_then(|path| path.file_name());
            name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        });
        let (count, last) = (self.notices.count(), self.notices.last_words());
        Around {
            trace: loaded.map(|loaded| loaded.id),
            loaded: loaded
                .filter(|loaded| loaded.is_complete && loading.is_none())
                .map(|loaded| loaded_words(loaded, &self.state)),
            loading,
            notice: (count, last),
            status: self.message.as_ref().map(|(words, _)| words.clone()),
            search: self.search.spoken(&self.state),
            export: self.export.spoken(),
        }
    }
}

/// Returns the words for a loaded trace: name, format, and amounts.
fn loaded_words(loaded: &LoadedTrace, state: &ViewState) -> String {
    format!(
        "Loaded {}: {}, {}, {}, {}",
        loaded.file_name(),
        loaded.trace.info.format,
        ruler::counted(loaded.trace.events.len(), "event", "events"),
        ruler::counted(state.outline.track_count, "track", "tracks"),
        ruler::length_text(loaded.trace.span.duration(), state.origins.unit)
    )
}
