//! Something long that is done off the window's thread, one at a time: it ends in one answer.

use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// At most one on its way.
#[derive(Debug)]
pub(super) struct Errand<T> {
    pending: Option<Receiver<T>>,
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
        let (sender, receiver) = channel();
        let ctx = ctx.clone();
        let spawned = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let _window_gone = sender.send(work());
                ctx.request_repaint();
            });
        if spawned.is_ok() {
            self.pending = Some(receiver);
        }
    }

    /// Whether one is on its way.
    pub(super) fn is_busy(&self) -> bool {
        self.pending.is_some()
    }

    /// What came of it, once.
    pub(super) fn poll(&mut self) -> Option<T> {
        let answer = match self.pending.as_ref()?.try_recv() {
            Ok(answer) => Some(answer),
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => None,
        };
        self.pending = None;
        answer
    }
}
