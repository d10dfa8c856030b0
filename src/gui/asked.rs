//! Something worked out off the window's thread that can be called off: a new question ends the old one.

use std::sync::mpsc::{Receiver, TryRecvError, channel};

use crate::base::{Cancelled, Job};

type Pending<K, T> = (K, Job, Receiver<Result<T, Cancelled>>);

/// A question, the answer that is being worked out, and the last one there was.
pub struct Asked<K, T> {
    pending: Option<Pending<K, T>>,
    answer: Option<(K, T)>,
}

impl<K, T> Default for Asked<K, T> {
    fn default() -> Asked<K, T> {
        Asked {
            pending: None,
            answer: None,
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

    /// Whether an answer is being worked out.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.pending.is_some()
    }

    /// Calls off what is being worked out.
    pub fn cancel(&mut self) {
        if let Some((_, job, _)) = self.pending.take() {
            job.cancel();
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.cancel();
        self.answer = None;
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
        let is_asked = self.pending.as_ref().is_some_and(|(of, _, _)| *of == key);
        if is_asked || (is_known && self.pending.is_none()) {
            return;
        }
        self.cancel();
        if is_known {
            return;
        }
        let (sender, receiver) = channel();
        let job = Job::default();
        let (ctx, its_job) = (ctx.clone(), job.clone());
        rayon::spawn(move || {
            let _nobody_waits = sender.send(work(&its_job));
            ctx.request_repaint();
        });
        self.pending = Some((key, job, receiver));
    }

    /// Takes the answer if it has come.
    pub fn poll(&mut self) {
        let Some((key, job, receiver)) = self.pending.take() else {
            return;
        };
        match receiver.try_recv() {
            Ok(Ok(answer)) => self.answer = Some((key, answer)),
            Ok(Err(Cancelled)) | Err(TryRecvError::Disconnected) => {}
            Err(TryRecvError::Empty) => self.pending = Some((key, job, receiver)),
        }
    }

    /// Whether the last answer is the one to `key`.
    #[must_use]
    pub fn is_of(&self, key: &K) -> bool {
        self.answer.as_ref().is_some_and(|(of, _)| of == key)
    }
}
