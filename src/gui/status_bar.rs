//! The status bar: what is seen and selected, and what it costs.

use super::app::App;
use super::theme;
use crate::view::ruler;
use egui::{RichText, Ui};

impl App {
    pub(super) fn status_ui(&mut self, ui: &mut Ui, palette: &theme::Palette) {
        ui.horizontal(|ui| {
            let Some(loaded) = &self.loaded else {
                ui.label(
                    RichText::new("No trace is open")
                        .color(palette.weak)
                        .size(12.0),
                );
                return;
            };
            let state = &self.state;
            let unit = state.origins.unit;
            let weak = |text: String| RichText::new(text).color(palette.weak).size(12.0);
            ui.label(weak(format!(
                "Visible {}",
                ruler::length_text(state.span.duration(), unit)
            )));
            if let Some(range) = state.range {
                ui.separator();
                ui.label(weak(format!(
                    "Selected {}",
                    ruler::length_text(range.duration(), unit)
                )));
            }
            if let [Some(a), Some(b)] = state.marks {
                ui.separator();
                ui.label(weak(format!("B − A {}", ruler::length_text(b - a, unit))));
            }
            ui.separator();
            let events = &loaded.trace.events;
            let in_view = events
                .rank(state.span.end)
                .saturating_sub(events.rank(state.span.start));
            ui.label(weak(format!(
                "{} events in view",
                ruler::grouped(i64::from(in_view))
            )));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if !self.is_still {
                    ui.label(weak(format!("frame {:.1} ms", self.frame_ms)));
                    ui.separator();
                }
                ui.label(weak(format!(
                    "{:.0} MB",
                    loaded.memory_bytes() as f64 / 1e6
                )));
                let odd = loaded.trace.diagnostics.rows();
                if odd
                    .iter()
                    .any(|row| row.severity != crate::base::Severity::Info)
                {
                    ui.separator();
                    ui.label(
                        RichText::new("⚠ something is missing: see Info")
                            .color(palette.error)
                            .size(12.0),
                    );
                }
            });
        });
    }
}
