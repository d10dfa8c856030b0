//! Draws the state of background work: that it is running, its progress, a way to stop it, and why it failed.

use std::time::Duration;

use egui::{RichText, Ui};

use super::keys::key_of;
use super::theme::Palette;
use crate::base::Progress;
use crate::base::task::{Task, Waker};

/// Work shorter than this gets no progress display and no stop button.
const PATIENCE: Duration = Duration::from_millis(300);

impl From<&egui::Context> for Waker {
    /// Returns a waker that repaints the window.
    fn from(ctx: &egui::Context) -> Waker {
        let ctx = ctx.clone();
        Waker::new(move || ctx.request_repaint())
    }
}

impl<K, T> Task<K, T> {
    /// Draws the state of the task: while it runs, its progress and a way to stop it; once stopped, a way to continue;
    /// or why it failed.
    pub fn ui(&mut self, ui: &mut Ui, palette: &Palette) {
        if self.is_stopped() {
            ui.label(RichText::new("Stopped").color(palette.weak));
            if ui.small_button("Go on").clicked() {
                self.go_on();
            }
            return;
        }
        if let Some(failure) = self.failure() {
            let words = failure.to_string();
            ui.label(RichText::new("Failed").color(palette.error))
                .on_hover_text(words);
            if ui.small_button("Try again").clicked() {
                self.go_on();
            }
            return;
        }
        let Some(began) = self.began() else {
            return;
        };
        let progress = self.progress();
        let has_answer = self.has_answer();
        let mut wants_stop = false;
        let mut row = |ui: &mut Ui| {
            let rest = PATIENCE.saturating_sub(began.elapsed());
            if rest.is_zero() || !has_answer {
                ui.spinner();
            }
            if !rest.is_zero() {
                // A quick result would make the button flicker.
                ui.ctx().request_repaint_after(rest);
                return;
            }
            if let Some(share) = percent(progress) {
                ui.label(RichText::new(share).color(palette.weak));
            }
            wants_stop = stop_button(ui);
        };
        if ui.layout().is_horizontal() {
            row(ui);
        } else {
            ui.horizontal(row);
        }
        if wants_stop {
            self.stop();
        }
    }
}

/// Returns the finished share in percent; `None` while the total is unknown.
#[must_use]
pub(crate) fn percent(Progress { done, total }: Progress) -> Option<String> {
    total.map(|total| format!("{} %", done.min(total) * 100 / total))
}

/// Draws the button that stops background work; returns whether it was clicked.
pub(crate) fn stop_button(ui: &mut Ui) -> bool {
    ui.small_button("Stop")
        .on_hover_text(format!(
            "Stop working this out ({} stops all such work)",
            key_of("Stop all that is worked out in the background")
        ))
        .clicked()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_says_how_far_it_is() {
        let of = |done, total| percent(Progress { done, total });
        assert_eq!(of(1, Some(3)).as_deref(), Some("33 %"));
        assert_eq!(of(9, Some(3)).as_deref(), Some("100 %"));
        assert_eq!(of(9, None), None);
    }
}
