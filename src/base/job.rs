//! Progress and cancellation of background work, shared between the worker and the owner.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::error::{Location, Problem, ReadError};

/// A handle on background work, shared between the worker and its owner. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Job {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    is_cancelled: AtomicBool,
    done_bytes: AtomicU64,
    total_bytes: AtomicU64,
    /// The number of checks so far.
    #[cfg(test)]
    checks: AtomicU64,
    /// The check at which the job is cancelled, counted from 1; 0 if it is not.
    #[cfg(test)]
    last_check: u64,
}

/// How much of a job's work is done. The job decides what a unit is: bytes, rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The units of work that are done.
    pub done: u64,
    /// The units in all; `None` while unknown.
    pub total: Option<u64>,
}

impl Progress {
    /// Returns the finished share, at most 1; 0 while the total is unknown.
    #[must_use]
    pub(crate) fn share(self) -> f64 {
        self.total
            .map_or(0.0, |total| self.done.min(total) as f64 / total as f64)
    }
}

/// The work was cancelled before it was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl Job {
    /// Requests that the work ends soon.
    pub fn cancel(&self) {
        self.shared.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns a job that is cancelled at its check number `check`, counted from 1.
    #[cfg(test)]
    pub(crate) fn cancelled_at_check(check: u64) -> Job {
        Job {
            shared: Arc::new(Shared {
                last_check: check,
                ..Shared::default()
            }),
        }
    }

    /// Returns how often the job was checked.
    #[cfg(test)]
    pub(crate) fn checks(&self) -> u64 {
        self.shared.checks.load(Ordering::Relaxed)
    }

    /// Returns whether [`Job::cancel`] was called.
    #[must_use]
    pub(crate) fn is_cancelled(&self) -> bool {
        #[cfg(test)]
        if self.shared.checks.fetch_add(1, Ordering::Relaxed) + 1 == self.shared.last_check {
            self.cancel();
        }
        self.shared.is_cancelled.load(Ordering::Relaxed)
    }

    /// Errors if the work was cancelled. The worker must call this at least once per megabyte of input.
    ///
    /// # Errors
    /// [`Cancelled`], if [`Job::cancel`] was called.
    pub(crate) fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }

    /// Sets the total number of bytes to process.
    pub(crate) fn set_total(&self, total_bytes: u64) {
        self.shared
            .total_bytes
            .store(total_bytes, Ordering::Relaxed);
    }

    /// Adds `bytes` to the number of bytes to process.
    pub(crate) fn add_total(&self, bytes: u64) {
        self.shared.total_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds `bytes` to the number of processed bytes.
    pub fn advance(&self, bytes: u64) {
        self.shared.done_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns how much of the work is done.
    #[must_use]
    pub(crate) fn progress(&self) -> Progress {
        let total = self.shared.total_bytes.load(Ordering::Relaxed);
        Progress {
            done: self.shared.done_bytes.load(Ordering::Relaxed),
            total: (total > 0).then_some(total),
        }
    }
}

impl From<Cancelled> for ReadError {
    fn from(_: Cancelled) -> ReadError {
        ReadError {
            at: Location::Byte(0),
            item: "work",
            problem: Problem::Cancelled,
        }
    }
}
