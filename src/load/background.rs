//! Loads on a separate thread: the caller polls once a frame, and cancels by dropping.

use std::path::PathBuf;
use std::sync::Arc;

use super::definitions::{Separated, alone, attach, take_out};
use super::together::{Members, attach_to_all, join_all, open_as};
use super::{LoadError, LoadedTrace, Reading, file_name};
use crate::base::task::Failure;
use crate::base::{Cancelled, Job, Nanos, Problem, Progress, ReadError, Task, TraceId, Waker};
use crate::probes::ProbeSet;

/// A request to load files, or to join and extend loaded traces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    /// Files to read.
    pub paths: Vec<PathBuf>,
    /// Traces that are loaded already; they come before the files on the axis.
    pub already: Vec<Arc<LoadedTrace>>,
    /// The offsets that the user gave `already`, then those of `paths`.
    pub fixed: Vec<Option<Nanos>>,
    /// Probe definitions to attach to all traces.
    pub probes: Option<Arc<ProbeSet>>,
    /// How to read the files.
    pub reading: Reading,
    /// The traces that are shown: if the files are only probe definitions, these are attached to the shown traces.
    pub beside: Members,
    /// The id of the trace that these files have grown from; the loaded trace is its next generation.
    pub grown_from: Option<TraceId>,
}

impl Request {
    /// Returns a request to load these files alone.
    #[must_use]
    pub(crate) fn open(paths: Vec<PathBuf>) -> Request {
        Request {
            paths,
            ..Request::default()
        }
    }

    fn carry_out(&self, job: &Job, publish: &mut dyn FnMut(LoadedTrace)) -> Result<(), LoadError> {
        let publish = &mut |loaded: LoadedTrace| {
            let id = self.grown_from.map(TraceId::next_generation);
            publish(LoadedTrace {
                id: id.unwrap_or(loaded.id),
                ..loaded
            });
        };
        // No files: the loaded traces are joined again, with other offsets or other probes.
        if self.paths.is_empty() {
            let mut members = self.already.clone();
            if let Some(set) = &self.probes {
                attach_to_all(&mut members, set);
            }
            publish(join_all(&members, &self.fixed, job)?);
            return Ok(());
        }
        // Only probe definitions: they are attached to the shown traces, or shown without a trace.
        if self.already.is_empty()
            && let Separated {
                traces,
                probes: Some(set),
            } = take_out(&self.paths)
            && traces.is_empty()
            && let Some(first) = self.paths.first()
        {
            let Members { mut traces, fixed } = self.beside.clone();
            publish(if traces.is_empty() {
                alone(first, set, job)?
            } else {
                attach_to_all(&mut traces, &Arc::new(set));
                join_all(&traces, &fixed, job)?
            });
            return Ok(());
        }
        // The request's probes are attached unless the files contain definitions of their own.
        let mut publish = |loaded: LoadedTrace| match &self.probes {
            Some(set) if loaded.probes.is_none() && loaded.members.is_empty() => {
                publish(attach(&loaded, set));
            }
            Some(set) if loaded.probes.is_none() => {
                let mut members = loaded.members.clone();
                attach_to_all(&mut members, set);
                // A cancelled load ends with the error of `open_as`.
                if let Ok(joined) = join_all(&members, &self.fixed, job) {
                    publish(LoadedTrace {
                        left_out: loaded.left_out,
                        is_complete: loaded.is_complete,
                        ..joined
                    });
                }
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

/// A result of a load.
#[derive(Clone, Debug)]
pub(crate) enum Update {
    /// A new generation of the trace; the last one `is_complete`.
    Generation(Arc<LoadedTrace>),
    /// Nothing can be shown.
    Failed(LoadError),
}

/// A load in progress. Dropping it cancels it.
#[derive(Debug)]
pub(crate) struct Loading {
    request: Request,
    task: Task<(), Update>,
    is_over: bool,
}

impl Loading {
    /// Starts to load `request`; `wake` is called on the loader's thread whenever there is something to poll.
    #[must_use]
    pub(crate) fn start(request: Request, wake: impl Into<Waker>) -> Loading {
        let mut task = Task::default();
        let its_request = request.clone();
        task.start(wake, "loader", move |work| {
            let mut last = None;
            let mut publish = |loaded: LoadedTrace| {
                let update = Update::Generation(Arc::new(loaded));
                work.publish(update.clone());
                last = Some(update);
            };
            match its_request.carry_out(work, &mut publish) {
                Ok(()) => last.ok_or(Cancelled),
                Err(error) => Ok(Update::Failed(error)),
            }
        });
        Loading {
            request,
            task,
            is_over: false,
        }
    }

    /// Returns the path of the file, or of the first of several.
    #[must_use]
    pub(crate) fn path(&self) -> PathBuf {
        let request = &self.request;
        let own = request.paths.first().cloned();
        own.or_else(|| request.already.first().map(|loaded| loaded.path.clone()))
            .unwrap_or_default()
    }

    /// Returns the request that is loaded.
    #[must_use]
    pub(crate) fn request(&self) -> &Request {
        &self.request
    }

    /// Returns the newest generation since the last call, or the error; `None` if there is neither.
    pub(crate) fn poll(&mut self) -> Option<Update> {
        if self.is_over {
            return None;
        }
        let update = match self.task.take() {
            Some(update) => update,
            None if self.task.is_pending() => return None,
            None => Update::Failed(self.unexpected_end()),
        };
        self.is_over = match &update {
            Update::Generation(loaded) => loaded.is_complete,
            Update::Failed(_) => true,
        };
        Some(update)
    }

    /// Returns the error for a loader that ended without a result.
    fn unexpected_end(&mut self) -> LoadError {
        let problem = match self.task.take_failure() {
            Some(Failure::NoThread(words)) => {
                Problem::Io(format!("cannot start a thread to load it: {words}"))
            }
            Some(Failure::Panicked(_)) | None => Problem::Other(
                "the loader stopped unexpectedly; please report this file".to_owned(),
            ),
        };
        LoadError {
            path: self.path(),
            error: ReadError::at_byte(0, "file", problem),
        }
    }

    /// Returns the file's name without its folder, as text.
    #[must_use]
    pub(crate) fn name(&self) -> String {
        file_name(&self.path())
    }

    /// Returns how many bytes were read, and how many there are in all.
    #[must_use]
    pub(crate) fn progress(&self) -> Progress {
        self.task.progress()
    }
}
