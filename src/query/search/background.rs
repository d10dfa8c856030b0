//! A search off the window's thread: started, looked at once a frame, cancelled by being dropped.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Found, Marks, Query, search};
use crate::base::Job;
use crate::formats::Reader;
use crate::query::expression::{ExpressionError, Matcher};
use crate::trace::Trace;

/// A search under way, or through. Dropping it cancels it.
#[derive(Debug)]
pub struct Searching {
    query: Query,
    job: Job,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    found: Arc<Found>,
    is_over: bool,
}

impl Searching {
    /// Starts to search; `wake` is called, on the search's thread, whenever there is more to see.
    ///
    /// # Errors
    /// If the expression asks for what the trace cannot have.
    pub fn start(
        trace: Arc<Trace>,
        reader: Arc<dyn Reader>,
        query: Query,
        wake: impl Fn() + Send + 'static,
    ) -> Result<Searching, ExpressionError> {
        Matcher::new(&query.expression, &trace, reader.as_ref())?;
        let job = Job::default();
        let none = Found::empty(trace.span, Arc::new(Marks::default()));
        let shared = Arc::new(Mutex::new(Shared {
            found: Arc::new(none),
            is_over: false,
        }));
        let (its_job, its_query, its_shared) = (job.clone(), query.clone(), shared.clone());
        let spawned = std::thread::Builder::new()
            .name("search".to_owned())
            .spawn(move || {
                let show = |found: Found, is_over: bool| {
                    let mut shared = its_shared.lock().unwrap_or_else(PoisonError::into_inner);
                    shared.found = Arc::new(found);
                    shared.is_over = is_over;
                };
                let mut publish = |found: Found| {
                    show(found, false);
                    wake();
                };
                let result = search(&trace, reader.as_ref(), &its_query, &its_job, &mut publish);
                if let Ok(found) = result {
                    show(found, true);
                }
                wake();
            });
        if spawned.is_err() {
            // Without a thread there is nothing to wait for.
            shared
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .is_over = true;
        }
        Ok(Searching { query, job, shared })
    }

    /// What is searched for.
    #[must_use]
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// What was found up to now.
    #[must_use]
    pub fn found(&self) -> Arc<Found> {
        self.shared
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .found
            .clone()
    }

    /// Whether there is nothing more to come.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.shared
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_over
    }

    /// Rows looked at, rows in all.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        self.job.progress()
    }

    /// Stops it soon; what was found stays.
    pub fn cancel(&self) {
        self.job.cancel();
    }
}

impl Drop for Searching {
    fn drop(&mut self) {
        self.job.cancel();
    }
}
