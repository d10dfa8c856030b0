//! Loading off the window's thread: started, polled once a frame, cancelled by being dropped.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use super::{LoadError, LoadedTrace, open_with};
use crate::base::{Job, Location, Problem, ReadError};

/// What a load has to say.
#[derive(Clone, Debug)]
pub enum Update {
    /// More of the trace is known; the last one `is_complete`.
    Generation(Arc<LoadedTrace>),
    /// Nothing can be shown.
    Failed(LoadError),
}

/// A load under way. Dropping it cancels it.
#[derive(Debug)]
pub struct Loading {
    path: PathBuf,
    job: Job,
    updates: Receiver<Update>,
    is_over: bool,
}

impl Loading {
    /// Starts to load `path`; `wake` is called, on the loader's thread, whenever there is something to poll.
    #[must_use]
    pub fn start(path: PathBuf, wake: impl Fn() + Send + Sync + 'static) -> Loading {
        let (sender, updates) = channel();
        let job = Job::default();
        let (its_job, its_path) = (job.clone(), path.clone());
        let spawned = std::thread::Builder::new()
            .name("loader".to_owned())
            .spawn(move || {
                let mut publish = |loaded: LoadedTrace| {
                    // Nobody listens any more: the load was dropped, and cancelled.
                    let _gone = sender.send(Update::Generation(Arc::new(loaded)));
                    wake();
                };
                if let Err(error) = open_with(&its_path, &its_job, &mut publish) {
                    let _gone = sender.send(Update::Failed(error));
                    wake();
                }
            });
        if let Err(error) = spawned {
            let (sender, failed) = channel();
            let problem = Problem::Io(format!("no thread to load it: {error}"));
            let error = ReadError {
                at: Location::Byte(0),
                item: "file",
                problem,
            };
            let _kept = sender.send(Update::Failed(LoadError {
                path: path.clone(),
                error,
            }));
            return Loading {
                path,
                job,
                updates: failed,
                is_over: false,
            };
        }
        Loading {
            path,
            job,
            updates,
            is_over: false,
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &PathBuf {
        &self.path
    }

    /// What came since the last call, if something did.
    pub fn poll(&mut self) -> Option<Update> {
        if self.is_over {
            return None;
        }
        match self.updates.try_recv() {
            Ok(update) => {
                self.is_over = match &update {
                    Update::Generation(loaded) => loaded.is_complete,
                    Update::Failed(_) => true,
                };
                Some(update)
            }
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                self.is_over = true;
                let problem = Problem::Other(
                    "the loader stopped unexpectedly; please report this file".to_owned(),
                );
                let error = ReadError {
                    at: Location::Byte(0),
                    item: "file",
                    problem,
                };
                Some(Update::Failed(LoadError {
                    path: self.path.clone(),
                    error,
                }))
            }
        }
    }

    /// Whether there is nothing more to come.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Bytes done, bytes in all (0 while that is not known).
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        self.job.progress()
    }

    /// Stops it soon.
    pub fn cancel(&self) {
        self.job.cancel();
    }
}

impl Drop for Loading {
    fn drop(&mut self) {
        self.job.cancel();
    }
}
