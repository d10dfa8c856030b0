//! Something worked out off the window's thread that can be called off: a new question ends the old one.

use std::time::{Duration, Instant};

use super::promise::{Kept, Promise};
use super::theme::Palette;
use crate::base::{Cancelled, Job};
use egui::{RichText, Ui};

/// Work that takes no longer than this is not worth a button.
const PATIENCE: Duration = Duration::from_millis(300);

struct Pending<K, T> {
    key: K,
    job: Job,
    promise: Promise<Result<T, Cancelled>>,
    began: Instant,
}

/// A question, the answer that is being worked out, and the last one there was.
pub struct Asked<K, T> {
    pending: Option<Pending<K, T>>,
    answer: Option<(K, T)>,
    /// What the user does not want to know after all.
    stopped: Option<K>,
}

impl<K, T> Default for Asked<K, T> {
    fn default() -> Asked<K, T> {
        Asked {
            pending: None,
            answer: None,
            stopped: None,
        }
    }
}

impl<K, T> Drop for Asked<K, T> {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl<K, T> Asked<K, T> {
    /// The last answer, whatever it was the answer to.
    #[must_use]
    pub fn answer(&self) -> Option<&T> {
        self.answer.as_ref().map(|(_, answer)| answer)
    }

    /// The question that the last answer is to.
    #[must_use]
    pub fn answered(&self) -> Option<&K> {
        self.answer.as_ref().map(|(key, _)| key)
    }

    /// Whether an answer is being worked out.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        let mut pending = self.pending.iter();
        pending.any(|it| it.promise.is_going_on())
    }

    /// Calls off what is being worked out.
    pub fn cancel(&mut self) {
        if let Some(pending) = self.pending.take() {
            pending.job.cancel();
        }
    }

    /// Calls off what is being worked out, and does not work it out until [`Asked::go_on`] or another question.
    pub fn stop(&mut self) {
        if let Some(pending) = self.pending.take() {
            pending.job.cancel();
            self.stopped = Some(pending.key);
        }
    }

    /// Whether the last question was called off by the user.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Lets what was stopped be worked out after all.
    pub fn go_on(&mut self) {
        self.stopped = None;
    }

    /// While it is worked out: that, how far it is, and a way to stop it; once stopped, a way to go on.
    pub fn ui(&mut self, ui: &mut Ui, palette: &Palette) {
        if self.is_stopped() {
            ui.label(RichText::new("Stopped").color(palette.weak));
            if ui.small_button("Go on").clicked() {
                self.go_on();
            }
            return;
        }
        let Some(pending) = &self.pending else {
            return;
        };
        let mut wants_stop = false;
        let mut row = |ui: &mut Ui| {
            let rest = PATIENCE.saturating_sub(pending.began.elapsed());
            if rest.is_zero() || self.answer.is_none() {
                ui.spinner();
            }
            if !rest.is_zero() {
                // What comes at once would only flicker.
                ui.ctx().request_repaint_after(rest);
                return;
            }
            if let Some(share) = percent(pending.job.progress()) {
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

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.cancel();
        self.answer = None;
        self.stopped = None;
    }
}

impl<K: PartialEq, T: Send + 'static> Asked<K, T> {
    /// Has `work` find the answer to `key`, unless it is known or being worked out already; whatever else is
    /// being worked out is called off. The answer is [`Asked::answer`], in this frame or a later one.
    pub fn ask(
        &mut self,
        ctx: &egui::Context,
        key: K,
        work: impl FnOnce(&Job) -> Result<T, Cancelled> + Send + 'static,
    ) {
        self.poll();
        let is_known = self.answer.as_ref().is_some_and(|(of, _)| *of == key);
        let is_asked = self.pending.as_ref().is_some_and(|it| it.key == key);
        if is_asked || (is_known && self.pending.is_none()) {
            return;
        }
        if self.stopped.as_ref() == Some(&key) {
            return;
        }
        self.stopped = None;
        self.cancel();
        if is_known {
            return;
        }
        let job = Job::default();
        let its_job = job.clone();
        let promise = Promise::of_pool(ctx, move || work(&its_job));
        self.pending = Some(Pending {
            key,
            job,
            promise,
            began: Instant::now(),
        });
    }

    /// Takes the answer if it has come.
    pub fn poll(&mut self) {
        let Some(pending) = self.pending.take() else {
            return;
        };
        match pending.promise.look() {
            Kept::Answer(Ok(answer)) => self.answer = Some((pending.key, answer)),
            Kept::Answer(Err(Cancelled)) | Kept::Broken => {}
            Kept::NotYet(promise) => self.pending = Some(Pending { promise, ..pending }),
        }
    }

    /// Whether the last answer is the one to `key`.
    #[must_use]
    pub fn is_of(&self, key: &K) -> bool {
        self.answer.as_ref().is_some_and(|(of, _)| of == key)
    }
}

/// How far work is, as far as it says.
#[must_use]
pub fn percent((done, total): (u64, u64)) -> Option<String> {
    (total > 0).then(|| format!("{} %", done.min(total) * 100 / total))
}

/// The button that stops work in the background.
pub fn stop_button(ui: &mut Ui) -> bool {
    ui.small_button("Stop")
        .on_hover_text("Stop working this out (Shift+Esc stops all such work)")
        .clicked()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stopped_is_not_asked_again_until_one_goes_on() {
        let ctx = egui::Context::default();
        let mut asked: Asked<u32, u32> = Asked::default();
        let forever = |job: &Job| -> Result<u32, Cancelled> {
            loop {
                job.check()?;
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        asked.ask(&ctx, 1, forever);
        asked.stop();
        assert!(asked.is_stopped() && !asked.is_waiting());
        asked.ask(&ctx, 1, |_| Ok(1));
        assert!(!asked.is_waiting());
        asked.go_on();
        asked.ask(&ctx, 1, forever);
        assert!(asked.is_waiting());
        // Another question is another matter.
        asked.ask(&ctx, 2, forever);
        asked.stop();
        asked.ask(&ctx, 3, forever);
        assert!(!asked.is_stopped() && asked.is_waiting());
    }

    #[test]
    fn work_says_how_far_it_is() {
        assert_eq!(percent((1, 3)).as_deref(), Some("33 %"));
        assert_eq!(percent((9, 3)).as_deref(), Some("100 %"));
        assert_eq!(percent((9, 0)), None);
    }
}
