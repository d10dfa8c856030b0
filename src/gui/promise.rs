//! What work off the window's thread comes to: nothing yet, the answer, or nothing at all because it failed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// The answer of one piece of work; the window is drawn again when it is there.
#[derive(Debug)]
pub(super) struct Promise<T> {
    receiver: Receiver<T>,
    has_ended: Arc<AtomicBool>,
}

/// What a look at a promise finds.
#[derive(Debug)]
pub(super) enum Kept<T> {
    NotYet(Promise<T>),
    Answer(T),
    /// The work ended without an answer.
    Broken,
}

impl<T: Send + 'static> Promise<T> {
    /// Has the pool do `work`.
    pub(super) fn of_pool(
        ctx: &egui::Context,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Promise<T> {
        let (promise, work) = promised(ctx, work);
        rayon::spawn(work);
        promise
    }

    /// Has a thread of its own do `work`: what waits for disks must not keep the pool's threads. `None`: the
    /// system gives no thread.
    pub(super) fn of_thread(
        ctx: &egui::Context,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<Promise<T>> {
        let (promise, work) = promised(ctx, work);
        let builder = std::thread::Builder::new().name(name.to_owned());
        builder.spawn(work).is_ok().then_some(promise)
    }
}

impl<T> Promise<T> {
    /// Whether the work still goes on. What has ended may still be looked at.
    pub(super) fn is_going_on(&self) -> bool {
        !self.has_ended.load(Ordering::Acquire)
    }

    /// What has come of it.
    pub(super) fn look(self) -> Kept<T> {
        match self.receiver.try_recv() {
            Ok(answer) => Kept::Answer(answer),
            Err(TryRecvError::Empty) => Kept::NotYet(self),
            Err(TryRecvError::Disconnected) => Kept::Broken,
        }
    }
}

fn promised<T: Send + 'static>(
    ctx: &egui::Context,
    work: impl FnOnce() -> T + Send + 'static,
) -> (Promise<T>, impl FnOnce() + Send + 'static) {
    let (sender, receiver) = channel();
    let end = End(Arc::new(AtomicBool::new(false)), ctx.clone());
    let has_ended = end.0.clone();
    let work = move || {
        // Named so that it is dropped after the answer is sent, and also when the work panics.
        let _end = end;
        let _nobody_waits = sender.send(work());
    };
    (
        Promise {
            receiver,
            has_ended,
        },
        work,
    )
}

/// Says that the work has ended when it is dropped.
struct End(Arc<AtomicBool>, egui::Context);

impl Drop for End {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
        self.1.request_repaint();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended<T: Send + 'static>(promise: &Promise<T>) {
        while promise.is_going_on() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn work_has_ended_whether_or_not_anybody_looks() {
        let ctx = egui::Context::default();
        let promise = Promise::of_pool(&ctx, || 7);
        ended(&promise);
        assert!(matches!(promise.look(), Kept::Answer(7)));
        let promise = Promise::<u32>::of_thread(&ctx, "fails", || panic!("as it is meant to"));
        let promise = promise.expect("a thread");
        ended(&promise);
        // The sender goes a moment after the end is said.
        let mut promise = Some(promise);
        while let Some(waiting) = promise.take() {
            match waiting.look() {
                Kept::NotYet(still) => promise = Some(still),
                Kept::Answer(_) => panic!("there is none"),
                Kept::Broken => {}
            }
        }
    }
}
