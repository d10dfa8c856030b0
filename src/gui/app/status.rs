//! The status bar.

use super::App;
use crate::base::TimeSpan;
use crate::gui::keys::key_of;
use crate::gui::theme;
use crate::load::LoadedTrace;
use crate::view::apply::place_of;
use crate::view::ruler::TimeFormat;
use crate::view::{Action, Direction, PaneKind, ViewState, locate, ruler};
use egui::{RichText, Ui};
use std::time::Duration;

/// At most this many spans of the navigation history are shown.
const CRUMBS: usize = 5;
/// Time for which a message about a change that is not visible elsewhere stays.
const SAID_FOR: Duration = Duration::from_secs(4);

impl App {
    pub(super) fn status_ui(
        &mut self,
        ui: &mut Ui,
        palette: &theme::Palette,
        actions: &mut Vec<Action>,
    ) {
        ui.horizontal(|ui| {
            let weak = |text: String| RichText::new(text).color(palette.weak).size(12.0);
            let Some(loaded) = &self.loaded else {
                if self.loading.is_none() && self.follow.is_none() {
                    ui.label(weak("No trace is open".to_owned()));
                }
                self.recording_ui(ui, palette, actions);
                return;
            };
            let state = &self.state;
            let unit = state.origins.unit;
            for crumb in state.way_in(CRUMBS) {
                let text = crumb_text(crumb, state.bounds(), unit);
                let link = ui
                    .add(egui::Link::new(RichText::new(text).size(12.0)))
                    .on_hover_text("Back out to here");
                if link.clicked() {
                    actions.push(Action::Show(crumb));
                }
                ui.label(weak("›".to_owned()));
            }
            let length = ruler::length_text(state.span.duration(), unit);
            ui.label(weak(format!("Visible {length}")));
            if state.time_format == TimeFormat::WallClock && state.origins.unix_offset.is_some() {
                let start = ruler::full_text(state.span.start, state.time_format, state.origins);
                ui.label(weak(format!("from {start} UTC")));
            }
            let tracks = state
                .area_rows
                .as_ref()
                .map_or(String::new(), |rows| match rows.len() {
                    1 => " on 1 track".to_owned(),
                    many => format!(" on {many} tracks"),
                });
            if let Some(range) = state.range {
                ui.separator();
                let length = ruler::length_text(range.duration(), unit);
                ui.label(weak(format!("Selected {length}{tracks}")));
            } else if !tracks.is_empty() {
                ui.separator();
                ui.label(weak(format!("Selected all time{tracks}")));
            }
            if let Some(words) = flow_words(loaded, state) {
                ui.separator();
                let [back, on] = ["Follow the flow back", "Follow the flow on"].map(key_of);
                let others = [
                    "Choose another flow to follow back",
                    "Choose another flow to follow on",
                ];
                let [other_back, other_on] = others.map(key_of);
                ui.label(weak(words)).on_hover_text(format!(
                    "{back} and {on} follow; {other_back} and {other_on} choose another"
                ));
            }
            if let [Some(a), Some(b)] = state.marks {
                ui.separator();
                ui.label(weak(format!("B − A {}", ruler::length_text(b - a, unit))));
            }
            ui.separator();
            let counted = self.counted.of(loaded, state.span);
            let in_view = ruler::counted(counted.in_view as usize, "event", "events");
            ui.label(weak(format!("{in_view} in view")));
            if let Some((words, since)) = &self.message
                && since.elapsed() < SAID_FOR
            {
                ui.separator();
                ui.label(RichText::new(words).color(palette.accent).size(12.0));
                ui.ctx().request_repaint_after(SAID_FOR);
            }
            self.plotting_ui(ui, palette);
            self.following_ui(ui, palette, actions);
            self.recording_ui(ui, palette, actions);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if !self.is_still {
                    ui.label(weak(format!("frame {:.1} ms", self.frame_ms)));
                    ui.separator();
                }
                // Whole megabytes: readable at a glance, and without flicker.
                let megabytes = (counted.memory_bytes as f64 / 1e6).round();
                let words = if megabytes < 1.0 {
                    "under 1 MB".to_owned()
                } else {
                    format!("{} MB", ruler::grouped(megabytes as i64))
                };
                ui.label(weak(words))
                    .on_hover_text("Memory that this trace takes; the file itself is not counted");
                let missing = match (counted.is_odd, counted.is_lossy) {
                    (true, _) => Some("⚠ something is missing: see Info"),
                    (false, true) => Some("⚠ events were lost: see Info"),
                    (false, false) => None,
                };
                if let Some(words) = missing {
                    ui.separator();
                    let text = RichText::new(words).color(palette.error).size(12.0);
                    if ui.add(egui::Link::new(text)).clicked() {
                        actions.push(Action::OpenPane(PaneKind::Info));
                    }
                }
            });
        });
    }
}

/// Returns which of several flows of the selected slice is followed, in words.
fn flow_words(loaded: &LoadedTrace, state: &ViewState) -> Option<String> {
    let item = state.selected?;
    let words: Vec<String> = [(Direction::Previous, "back"), (Direction::Next, "on")]
        .into_iter()
        .filter_map(|(direction, word)| {
            let count = locate::flows_of(&loaded.trace, item, direction).len();
            let choice = state.flow_choice[place_of(direction)] as usize;
            (count > 1).then(|| format!("flow {word} {} of {count}", choice % count + 1))
        })
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn crumb_text(span: TimeSpan, bounds: TimeSpan, unit: crate::event::part::ClockUnit) -> String {
    if span == bounds {
        "Whole".to_owned()
    } else {
        ruler::length_text(span.duration(), unit)
    }
}
