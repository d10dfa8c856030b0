//! The content of the window while no trace is open.

use super::app::App;
use super::desktop::Desktop;
use super::keys::key_of;
use super::recent::RecentRow;
use super::samples::{Sample, samples};
use super::theme;
use crate::base::TaskKey;
use crate::view::Purpose;
use crate::view::{Action, Effect, Question, RecordCommand};
use egui::{RichText, Ui, vec2};
use std::path::Path;

/// Only Linux has tracefs.
const CAN_RECORD: bool = cfg!(target_os = "linux");
/// At most this many recent files are listed.
const MOST_RECENT: usize = 6;

impl App {
    pub(super) fn welcome_ui(
        &mut self,
        ui: &mut Ui,
        palette: &theme::Palette,
        actions: &mut Vec<Action>,
    ) {
        let recent = self.recent.rows(ui.ctx(), &self.saved.recent);
        let question = TaskKey::without_trace(()).on_thread("samples");
        let samples = self.samples.ask(ui.ctx(), question, |_| Ok(samples()));
        let can_drop = self.desktop != Desktop::Wayland;
        let frame = egui::Frame::new().fill(palette.canvas);
        egui::CentralPanel::default().frame(frame).show(ui, |ui| {
            let above = (ui.available_height() * 0.12).min(110.0);
            egui::ScrollArea::vertical()
                .auto_shrink([false, false])
                .show(ui, |ui| {
                    ui.vertical_centered(|ui| {
                        ui.add_space(above);
                        ui.label(RichText::new("Threadline").size(34.0).strong());
                        let paste = key_of("Open the path on the clipboard");
                        let words = match can_drop {
                            true => format!("Drop a trace here, open one, or paste its path ({paste})."),
                            false => format!("Open a trace, or paste its path ({paste})."),
                        };
                        ui.label(RichText::new(words).size(16.0).color(palette.weak));
                        if !can_drop {
                            let words = "Files cannot be dropped on this window: it is on Wayland, without X11.";
                            ui.label(RichText::new(words).color(palette.weak));
                        }
                        ui.add_space(14.0);
                        buttons_ui(ui, actions);
                        let known: Vec<&str> = crate::formats::FORMATS
                            .iter()
                            .map(|format| format.name)
                            .collect();
                        ui.add_space(8.0);
                        ui.label(
                            RichText::new(format!("Reads {}", known.join(" · ")))
                                .color(palette.weak)
                                .size(12.0),
                        );
                        ui.add_space(22.0);
                        let width = 860.0_f32.min(ui.available_width() - 40.0);
                        let lines = egui::Layout::top_down(egui::Align::Min);
                        ui.allocate_ui_with_layout(vec2(width, 0.0), lines, |ui| {
                            let shown = recent.get(..recent.len().min(MOST_RECENT));
                            recent_ui(ui, shown.unwrap_or_default(), palette, actions);
                            let samples = samples.map(Vec::as_slice).unwrap_or_default();
                            samples_ui(ui, samples, palette, actions);
                        });
                    })
                });
        });
    }

    /// Draws the message shown while the first file is read and has no visible part yet.
    pub(super) fn opening_ui(&self, ui: &mut Ui, palette: &theme::Palette) {
        let frame = egui::Frame::new().fill(palette.canvas);
        egui::CentralPanel::default().frame(frame).show(ui, |ui| {
            let Some(loading) = &self.loading else {
                return;
            };
            ui.centered_and_justified(|ui| {
                let words = format!("Opening {}", loading.name());
                ui.label(RichText::new(words).size(16.0).color(palette.weak));
            });
        });
    }
}

/// Draws the buttons that open a file or record one, centred side by side.
fn buttons_ui(ui: &mut Ui, actions: &mut Vec<Action>) {
    const SIZE: egui::Vec2 = vec2(180.0, 34.0);
    let count = if CAN_RECORD { 3.0 } else { 2.0 };
    let gap = ui.spacing().item_spacing.x;
    let button = |words: &str| egui::Button::new(RichText::new(words).size(15.0)).min_size(SIZE);
    ui.horizontal(|ui| {
        ui.add_space((ui.available_width() - count * SIZE.x - (count - 1.0) * gap) / 2.0);
        if ui.add(button("Open a trace…")).clicked() {
            actions.push(Action::Do(Effect::AskForFile(Purpose::Open)));
        }
        if ui.add(button("Type its path…")).clicked() {
            actions.push(Action::Ask(Some(Question::Path(Purpose::Open))));
        }
        if CAN_RECORD {
            let record = ui.add(button("Record this machine…"));
            let record = record.on_hover_text("Needs nothing but the kernel's tracefs");
            if record.clicked() {
                actions.push(Action::Do(Effect::Record(RecordCommand::Choose)));
            }
        }
    });
}

/// Draws the heading of a list of files.
fn heading_ui(ui: &mut Ui, title: &str) {
    ui.label(RichText::new(title).strong());
}

/// Draws less prominent text in a list of files.
fn weak_ui(ui: &mut Ui, text: &str, palette: &theme::Palette) {
    let text = RichText::new(text).color(palette.weak).size(12.0);
    ui.add(egui::Label::new(text).truncate());
}

fn link_ui(ui: &mut Ui, name: &str, path: &Path, actions: &mut Vec<Action>) {
    let link = ui.link(name).on_hover_text(path.display().to_string());
    if link.clicked() {
        actions.push(Action::Do(Effect::Open(vec![path.to_path_buf()])));
    }
}

fn recent_ui(
    ui: &mut Ui,
    recent: &[RecentRow],
    palette: &theme::Palette,
    actions: &mut Vec<Action>,
) {
    if recent.is_empty() {
        return;
    }
    heading_ui(ui, "Recent");
    egui::Grid::new("recent")
        .num_columns(5)
        .min_col_width(64.0)
        .spacing([18.0, 4.0])
        .show(ui, |ui| {
            for file in recent {
                link_ui(ui, &shortened_name(&file.name), &file.path, actions);
                for text in [&file.facts, &file.size, &file.when, &file.folder] {
                    weak_ui(ui, text, palette);
                }
                ui.end_row();
            }
        });
    ui.add_space(14.0);
}

/// Returns a name cut to leave space for what is beside it.
fn shortened_name(name: &str) -> String {
    const LETTERS: usize = 34;
    match name.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

fn samples_ui(
    ui: &mut Ui,
    samples: &[Sample],
    palette: &theme::Palette,
    actions: &mut Vec<Action>,
) {
    if samples.is_empty() {
        return;
    }
    heading_ui(ui, "Sample traces");
    egui::Grid::new("samples")
        .num_columns(2)
        .min_col_width(160.0)
        .spacing([18.0, 4.0])
        .show(ui, |ui| {
            for sample in samples {
                let name = sample.path.file_name().unwrap_or_default();
                link_ui(ui, &name.to_string_lossy(), &sample.path, actions);
                weak_ui(ui, &sample.about, palette);
                ui.end_row();
            }
        });
    ui.add_space(14.0);
}
