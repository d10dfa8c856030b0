//! Loading off the window's thread: started, polled once a frame, cancelled by being dropped.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use super::definitions::{alone, attach, take_out};
use super::placing::place;
use super::together::{attach_to_all, join_at, open_as};
use super::{LoadError, LoadedTrace, Reading, file_name};
use crate::base::{Job, Location, Nanos, Problem, ReadError};
use crate::probes::ProbeSet;

/// What is to be loaded.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Files to read.
    pub paths: Vec<PathBuf>,
    /// Traces that are there already, before the files on the axis.
    pub already: Vec<Arc<LoadedTrace>>,
    /// The offsets that the user gave them.
    pub fixed: Vec<Option<Nanos>>,
    /// Probe definitions to attach to all of them.
    pub probes: Option<Arc<ProbeSet>>,
    /// How the files are to be read.
    pub reading: Reading,
    /// What is shown: if the files are only definitions of probes, they are attached to this.
    pub beside: Vec<Arc<LoadedTrace>>,
    /// The offsets that the user gave those.
    pub beside_fixed: Vec<Option<Nanos>>,
}

impl Request {
    /// These files, and nothing that was there before.
    #[must_use]
    pub fn open(paths: Vec<PathBuf>) -> Request {
        Request {
            paths,
            ..Request::default()
        }
    }

    fn carry_out(&self, job: &Job, publish: &mut dyn FnMut(LoadedTrace)) -> Result<(), LoadError> {
        if self.paths.is_empty() {
            let mut members = self.already.clone();
            if let Some(set) = &self.probes {
                attach_to_all(&mut members, set);
            }
            publish(join_at(&members, &place(&members, &self.fixed)));
            return Ok(());
        }
        if self.already.is_empty()
            && let (traces, Some(set)) = take_out(&self.paths)
            && traces.is_empty()
            && let Some(first) = self.paths.first()
        {
            let mut members = self.beside.clone();
            publish(if members.is_empty() {
                alone(first, set)
            } else {
                attach_to_all(&mut members, &Arc::new(set));
                join_at(&members, &place(&members, &self.beside_fixed))
            });
            return Ok(());
        }
        let mut publish = |loaded: LoadedTrace| match &self.probes {
            Some(set) if loaded.probes.is_none() && loaded.members.is_empty() => {
                publish(attach(&loaded, set));
            }
            Some(set) if loaded.probes.is_none() => {
                let mut members = loaded.members.clone();
                attach_to_all(&mut members, set);
                let joined = join_at(&members, &place(&members, &self.fixed));
                publish(LoadedTrace {
                    left_out: loaded.left_out,
                    is_complete: loaded.is_complete,
                    ..joined
                });
            }
            _ => publish(loaded),
        };
        open_as(
            &self.paths,
            self.reading,
            &self.already,
            &self.fixed,
            job,
            Some(&mut publish),
        )
        .map(|_published| ())
    }
}

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
    request: Request,
    job: Job,
    updates: Receiver<Update>,
    is_over: bool,
}

impl Loading {
    /// Starts to carry out `request`; `wake` is called, on the loader's thread, whenever there is something to poll.
    #[must_use]
    pub fn start(request: Request, wake: impl Fn() + Send + Sync + 'static) -> Loading {
        let (sender, updates) = channel();
        let job = Job::default();
        let (its_job, its_request) = (job.clone(), request.clone());
        let spawned = std::thread::Builder::new()
            .name("loader".to_owned())
            .spawn(move || {
                let mut publish = |loaded: LoadedTrace| {
                    // Nobody listens any more: the load was dropped, and cancelled.
                    let _gone = sender.send(Update::Generation(Arc::new(loaded)));
                    wake();
                };
                if let Err(error) = its_request.carry_out(&its_job, &mut publish) {
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
                path: first_path(&request),
                error,
            }));
            return Loading {
                request,
                job,
                updates: failed,
                is_over: false,
            };
        }
        Loading {
            request,
            job,
            updates,
            is_over: false,
        }
    }

    /// The file; the first of several.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        first_path(&self.request)
    }

    /// What is loaded.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
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
                    path: self.path(),
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

    /// The file's name without its folder, in words.
    #[must_use]
    pub fn name(&self) -> String {
        file_name(&self.path())
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

fn first_path(request: &Request) -> PathBuf {
    let own = request.paths.first().cloned();
    own.or_else(|| request.already.first().map(|loaded| loaded.path.clone()))
        .unwrap_or_default()
}

impl Drop for Loading {
    fn drop(&mut self) {
        self.job.cancel();
    }
}
