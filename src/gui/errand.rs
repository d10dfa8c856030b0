//! Something long that is done off the window's thread, one at a time: it ends in one answer.

use super::promise::{Kept, Promise};

/// At most one on its way.
#[derive(Debug)]
pub(super) struct Errand<T> {
    pending: Option<Promise<T>>,
}

impl<T> Default for Errand<T> {
    fn default() -> Errand<T> {
        Errand { pending: None }
    }
}

impl<T: Send + 'static> Errand<T> {
    /// Starts `work` on a thread of this name; does nothing while another is on its way.
    pub(super) fn start(
        &mut self,
        ctx: &egui::Context,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) {
        if self.pending.is_some() {
            return;
        }
        self.pending = Promise::of_thread(ctx, name, work);
    }

    /// Whether one is on its way.
    pub(super) fn is_busy(&self) -> bool {
        self.pending.is_some()
    }

    /// What came of it, once.
    pub(super) fn poll(&mut self) -> Option<T> {
        match self.pending.take()?.look() {
            Kept::Answer(answer) => Some(answer),
            Kept::NotYet(promise) => {
                self.pending = Some(promise);
                None
            }
            Kept::Broken => None,
        }
    }
}
