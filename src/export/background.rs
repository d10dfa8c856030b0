//! An export off the window's thread: started, polled once a frame, cancelled by being dropped.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Instant;

use super::{ExportError, Exporter, Overwrite, Selection, Summary, run};
use crate::base::Job;
use crate::load::LoadedTrace;

/// What to export, how, and where to.
#[derive(Clone, Debug)]
pub struct Order {
    /// The format.
    pub exporter: Exporter,
    /// What of the trace.
    pub selection: Selection,
    /// The file.
    pub path: PathBuf,
    /// What happens to a file that is there.
    pub overwrite: Overwrite,
}

/// An export under way. Dropping it cancels it.
#[derive(Debug)]
pub struct Exporting {
    path: PathBuf,
    job: Job,
    began: Instant,
    answer: Receiver<Result<Summary, ExportError>>,
    is_over: bool,
}

impl Exporting {
    /// Starts it; `wake` is called, on the exporter's thread, when there is something to poll.
    #[must_use]
    pub fn start(
        loaded: Arc<LoadedTrace>,
        order: Order,
        wake: impl Fn() + Send + 'static,
    ) -> Exporting {
        let (sender, answer) = channel();
        let job = Job::default();
        let (its_job, path) = (job.clone(), order.path.clone());
        let fallback = sender.clone();
        let spawned = std::thread::Builder::new()
            .name("export".to_owned())
            .spawn(move || {
                let Order {
                    exporter,
                    selection,
                    path,
                    overwrite,
                } = order;
                let done = run(&exporter, &loaded, &selection, &path, overwrite, &its_job);
                // Nobody listens any more: the export was dropped, and cancelled.
                let _gone = sender.send(done);
                wake();
            });
        if let Err(error) = spawned {
            let _kept = fallback.send(Err(ExportError::Io(error)));
        }
        Exporting {
            path,
            job,
            began: Instant::now(),
            answer,
            is_over: false,
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// When it was started.
    #[must_use]
    pub fn began(&self) -> Instant {
        self.began
    }

    /// What came of it, once.
    pub fn poll(&mut self) -> Option<Result<Summary, ExportError>> {
        if self.is_over {
            return None;
        }
        let answer = match self.answer.try_recv() {
            Ok(answer) => answer,
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => Err(ExportError::Io(std::io::Error::other(
                "the exporter stopped unexpectedly; please report this file",
            ))),
        };
        self.is_over = true;
        Some(answer)
    }

    /// Rows done, rows in all (0 while that is not known).
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        self.job.progress()
    }

    /// Stops it soon; [`Exporting::poll`] then says that it was stopped.
    pub fn cancel(&self) {
        self.job.cancel();
    }
}

impl Drop for Exporting {
    fn drop(&mut self) {
        self.job.cancel();
    }
}
