//! What the window shows while no trace is open, and while a file hangs over it.

use super::app::App;
use super::samples::samples;
use super::theme;
use crate::view::Action;
use crate::view::action::Purpose;
use egui::{Align2, FontId, RichText, Ui, vec2};
use std::path::Path;

impl App {
    pub(super) fn welcome_ui(
        &mut self,
        ui: &mut Ui,
        palette: &theme::Palette,
        actions: &mut Vec<Action>,
    ) {
        let samples = self.samples.ask(ui.ctx(), (), samples);
        let frame = egui::Frame::new().fill(palette.canvas);
        egui::CentralPanel::default().frame(frame).show(ui, |ui| {
            let above = (ui.available_height() * 0.12).min(110.0);
            egui::ScrollArea::vertical()
                .auto_shrink([false, false])
                .show(ui, |ui| {
                    ui.vertical_centered(|ui| {
                        ui.add_space(above);
                        ui.label(RichText::new("Threadline").size(34.0).strong());
                        ui.label(
                            RichText::new("Drop a trace here, or open one.")
                                .size(16.0)
                                .color(palette.weak),
                        );
                        ui.add_space(14.0);
                        let button = egui::Button::new(RichText::new("Open a trace…").size(15.0))
                            .min_size(vec2(180.0, 34.0));
                        if ui.add(button).clicked() {
                            actions.push(Action::AskForFile(Purpose::Open));
                        }
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
                            let recent = self.saved.recent.iter().take(6);
                            let recent = recent.map(|it| (it.path.as_path(), it.facts()));
                            files_ui(ui, "Recent", recent, palette, actions);
                            let samples = samples.into_iter().flatten();
                            let samples = samples.map(|it| (it.path.as_path(), it.about.clone()));
                            files_ui(ui, "Sample traces", samples, palette, actions);
                        });
                    })
                });
        });
    }

    /// While the first file is read and there is nothing of it to see yet.
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

    pub(super) fn drop_target_ui(&self, ui: &Ui, palette: &theme::Palette) {
        let hovered: Vec<String> = ui.input(|input| {
            let name = |path: &Path| {
                path.file_name()
                    .map(|name| name.to_string_lossy().into_owned())
            };
            input
                .raw
                .hovered_files
                .iter()
                .map(|file| file.path.as_deref().and_then(name).unwrap_or_default())
                .collect()
        });
        if hovered.is_empty() {
            return;
        }
        let rect = ui.ctx().content_rect();
        let painter = ui.ctx().layer_painter(egui::LayerId::new(
            egui::Order::Foreground,
            egui::Id::unique("drop"),
        ));
        painter.rect_filled(rect, 0, palette.canvas.gamma_multiply(0.96));
        let inner = rect.shrink(24.0);
        painter.rect_stroke(
            inner,
            10,
            egui::Stroke::new(3.0, palette.accent),
            egui::StrokeKind::Inside,
        );
        let words = format!("Drop to open {}", hovered.join(", "));
        painter.text(
            rect.center(),
            Align2::CENTER_CENTER,
            words,
            FontId::proportional(22.0),
            palette.text,
        );
    }
}

/// A list of files to open, with a line of words for each; nothing where there is none.
fn files_ui<'a>(
    ui: &mut Ui,
    title: &str,
    files: impl Iterator<Item = (&'a Path, String)>,
    palette: &theme::Palette,
    actions: &mut Vec<Action>,
) {
    let mut files = files.peekable();
    if files.peek().is_none() {
        return;
    }
    ui.label(RichText::new(title).strong());
    egui::Grid::new(title)
        .num_columns(2)
        .min_col_width(160.0)
        .spacing([18.0, 4.0])
        .show(ui, |ui| {
            for (path, facts) in files {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let link = ui.link(name).on_hover_text(path.display().to_string());
                if link.clicked() {
                    actions.push(Action::Open(vec![path.to_path_buf()]));
                }
                let facts = RichText::new(facts).color(palette.weak).size(12.0);
                ui.add(egui::Label::new(facts).truncate());
                ui.end_row();
            }
        });
    ui.add_space(14.0);
}
