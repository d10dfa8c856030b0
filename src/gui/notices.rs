//! Notices: messages in a corner of the window, which block nothing. Errors stay until they are dismissed, the others
//! disappear by themselves.

use super::theme::Palette;
use crate::formats::FORMATS;
use crate::load::Reading;
use crate::view::{Action, Effect};
use egui::{RichText, Ui, vec2};
use std::path::{Path, PathBuf};

/// Time that a notice without an error stays, in seconds.
const STAYS: f64 = 5.0;
/// At most this many notices are kept.
const MOST: usize = 5;

/// Whether a notice is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    /// An error.
    Wrong,
    /// Not an error.
    Fine,
}

#[derive(Debug)]
struct Notice {
    mood: Mood,
    words: String,
    /// A file whose format was not recognised: the notice offers to choose one.
    unknown: Option<PathBuf>,
    /// Time when it was first drawn, in seconds.
    since: Option<f64>,
}

/// The visible notices.
#[derive(Debug, Default)]
pub(super) struct Notices {
    shown: Vec<Notice>,
    /// Number of notices so far.
    count: u64,
}

impl Notices {
    pub(super) fn say(&mut self, mood: Mood, words: impl Into<String>) {
        let words = words.into();
        self.shown.retain(|notice| notice.words != words);
        if self.shown.len() == MOST {
            self.shown.remove(0);
        }
        self.count += 1;
        self.shown.push(Notice {
            mood,
            words,
            unknown: None,
            since: None,
        });
    }

    /// Reports a file of unknown format, and offers a choice of formats.
    pub(super) fn offer_formats(&mut self, words: String, path: PathBuf) {
        self.say(Mood::Wrong, words);
        if let Some(notice) = self.shown.last_mut() {
            notice.unknown = Some(path);
        }
    }

    /// Returns the last error.
    pub(super) fn last_error(&self) -> Option<&str> {
        let wrong = |notice: &&Notice| notice.mood == Mood::Wrong;
        self.shown
            .iter()
            .rev()
            .find(wrong)
            .map(|notice| notice.words.as_str())
    }

    /// Returns the number of notices so far.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the last notice as text for screen readers, if it is still visible.
    pub(super) fn last_words(&self) -> Option<String> {
        self.shown.last().map(|notice| match notice.mood {
            Mood::Wrong => format!("Error: {}", notice.words),
            Mood::Fine => notice.words.clone(),
        })
    }

    pub(super) fn clear_errors(&mut self) {
        self.shown.retain(|notice| notice.mood != Mood::Wrong);
    }

    pub(super) fn ui(&mut self, ctx: &egui::Context, palette: &Palette, actions: &mut Vec<Action>) {
        let now = ctx.input(|input| input.time);
        for notice in &mut self.shown {
            notice.since.get_or_insert(now);
        }
        self.shown.retain(|notice| {
            notice.mood == Mood::Wrong || now - notice.since.unwrap_or(now) < STAYS
        });
        if self.shown.is_empty() {
            return;
        }
        if self.shown.iter().any(|notice| notice.mood == Mood::Fine) {
            // Without input there would be no frame that removes it in time.
            ctx.request_repaint_after(std::time::Duration::from_secs(1));
        }
        let width = (ctx.content_rect().width() * 0.6).clamp(200.0, 460.0);
        egui::Area::new(egui::Id::unique("notices"))
            .anchor(egui::Align2::RIGHT_BOTTOM, vec2(-14.0, -36.0))
            .order(egui::Order::Foreground)
            .show(ctx, |ui| {
                for notice in &self.shown {
                    egui::Frame::popup(ui.style()).show(ui, |ui| {
                        ui.set_max_width(width);
                        ui.horizontal_top(|ui| {
                            let (sign, color) = match notice.mood {
                                Mood::Wrong => ("⚠", palette.error),
                                Mood::Fine => ("✔", palette.accent),
                            };
                            ui.label(RichText::new(sign).color(color));
                            ui.vertical(|ui| {
                                ui.label(RichText::new(&notice.words).color(palette.text));
                                if notice.mood == Mood::Wrong {
                                    ui.horizontal(|ui| {
                                        if let Some(path) = &notice.unknown {
                                            formats_ui(ui, path, actions);
                                        }
                                        if ui.small_button("Dismiss").clicked() {
                                            actions.push(Action::Do(Effect::Dismiss));
                                        }
                                    });
                                }
                            });
                        });
                    });
                    ui.add_space(4.0);
                }
            });
    }
}

/// A menu of the formats that a file can be read as.
fn formats_ui(ui: &mut Ui, path: &Path, actions: &mut Vec<Action>) {
    ui.menu_button("Read it as…", |ui| {
        for format in FORMATS {
            if ui.button(format.name).clicked() {
                let reading = Reading {
                    format: Some(format.name),
                    ..Reading::default()
                };
                actions.push(Action::Do(Effect::OpenAs(
                    vec![path.to_path_buf()],
                    reading,
                )));
            }
        }
    });
}
