//! Notices: what happened, in words, at the corner of the window; they are in nobody's way. What went wrong
//! stays until it is dismissed, the rest goes by itself.

use super::theme::Palette;
use crate::formats::FORMATS;
use crate::load::Reading;
use crate::view::Action;
use egui::{RichText, Ui, vec2};
use std::path::{Path, PathBuf};

/// How long a notice that is no error stays, in seconds.
const STAYS: f64 = 5.0;
/// How many are kept.
const MOST: usize = 5;

/// Whether something went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// It did.
    Wrong,
    /// It did not.
    Fine,
}

#[derive(Debug)]
struct Notice {
    mood: Mood,
    words: String,
    /// A file whose format was not found out: it can be told.
    unknown: Option<PathBuf>,
    /// When it was first drawn.
    since: Option<f64>,
}

/// The notices that are shown.
#[derive(Debug, Default)]
pub(super) struct Notices(Vec<Notice>);

impl Notices {
    pub(super) fn say(&mut self, mood: Mood, words: impl Into<String>) {
        let words = words.into();
        self.0.retain(|notice| notice.words != words);
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        self.0.push(Notice {
            mood,
            words,
            unknown: None,
            since: None,
        });
    }

    /// Says that no format knows a file, and lets one be chosen.
    pub(super) fn offer_formats(&mut self, words: String, path: PathBuf) {
        self.say(Mood::Wrong, words);
        if let Some(notice) = self.0.last_mut() {
            notice.unknown = Some(path);
        }
    }

    /// The last thing that went wrong.
    pub(super) fn last_error(&self) -> Option<&str> {
        let wrong = |notice: &&Notice| notice.mood == Mood::Wrong;
        self.0
            .iter()
            .rev()
            .find(wrong)
            .map(|notice| notice.words.as_str())
    }

    pub(super) fn clear_errors(&mut self) {
        self.0.retain(|notice| notice.mood != Mood::Wrong);
    }

    pub(super) fn ui(&mut self, ctx: &egui::Context, palette: &Palette, actions: &mut Vec<Action>) {
        let now = ctx.input(|input| input.time);
        for notice in &mut self.0 {
            notice.since.get_or_insert(now);
        }
        self.0.retain(|notice| {
            notice.mood == Mood::Wrong || now - notice.since.unwrap_or(now) < STAYS
        });
        if self.0.is_empty() {
            return;
        }
        if self.0.iter().any(|notice| notice.mood == Mood::Fine) {
            ctx.request_repaint_after(std::time::Duration::from_secs(1));
        }
        let width = (ctx.content_rect().width() * 0.6).clamp(200.0, 460.0);
        egui::Area::new(egui::Id::unique("notices"))
            .anchor(egui::Align2::RIGHT_BOTTOM, vec2(-14.0, -36.0))
            .order(egui::Order::Foreground)
            .show(ctx, |ui| {
                for notice in &self.0 {
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
                                            actions.push(Action::Dismiss);
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

/// The formats that a file can be read as.
fn formats_ui(ui: &mut Ui, path: &Path, actions: &mut Vec<Action>) {
    ui.menu_button("Read it as…", |ui| {
        for format in FORMATS {
            if ui.button(format.name).clicked() {
                let reading = Reading {
                    format: Some(format.name),
                    ..Reading::default()
                };
                actions.push(Action::OpenAs(vec![path.to_path_buf()], reading));
            }
        }
    });
}
