//! A piece of background work as its owner sees it: how far it is, and whether it should stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::error::{Location, Problem, ReadError};

/// A handle on background work, shared between the worker and whoever waits. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Job {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    is_cancelled: AtomicBool,
    done_bytes: AtomicU64,
    total_bytes: AtomicU64,
}

/// The work was told to stop before it was through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl Job {
    /// Asks the work to stop soon.
    pub fn cancel(&self) {
        self.shared.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.shared.is_cancelled.load(Ordering::Relaxed)
    }

    /// `Err` if the work was asked to stop: call it at least once a megabyte of input.
    ///
    /// # Errors
    /// [`Cancelled`], if [`Job::cancel`] was called.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }

    /// Says how many bytes there are to do in all.
    pub fn set_total(&self, total_bytes: u64) {
        self.shared
            .total_bytes
            .store(total_bytes, Ordering::Relaxed);
    }

    /// Says that there are `bytes` more to do than was said before.
    pub fn add_total(&self, bytes: u64) {
        self.shared.total_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Says that `bytes` more are done.
    pub fn advance(&self, bytes: u64) {
        self.shared.done_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes done, bytes in all (0 while that is not known).
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (
            self.shared.done_bytes.load(Ordering::Relaxed),
            self.shared.total_bytes.load(Ordering::Relaxed),
        )
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
