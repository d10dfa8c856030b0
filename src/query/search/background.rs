//! Searching and filtering outside of the window's thread: the first results are available before the last.

use std::sync::Arc;

use super::{EventFilter, FilteredEvents, Found, Query, filter_events, search};
use crate::base::{Task, TaskKey, TraceId, Waker};
use crate::formats::Events;
use crate::query::expression::{ExpressionError, Matcher};
use crate::trace::Trace;

/// The trace that is searched.
pub struct SearchedTrace {
    /// The trace's id.
    pub id: TraceId,
    /// The trace's tables.
    pub trace: Arc<Trace>,
    /// The decoder of its events.
    pub reader: Arc<dyn Events>,
}

/// Makes `task` search for `query`; the key is the expression's text. The task keeps the answer of the previous search
/// until the new search has found something or has ended.
///
/// # Errors
/// Errors if the expression needs something that the trace cannot have.
pub fn start_search(
    task: &mut Task<String, Arc<Found>>,
    wake: impl Into<Waker>,
    of: SearchedTrace,
    query: Query,
) -> Result<(), ExpressionError> {
    let SearchedTrace { id, trace, reader } = of;
    Matcher::new(&query.expression, &trace, reader.as_ref())?;
    let text = query.expression.text().to_owned();
    let question = TaskKey::about(id, text).on_thread("search");
    task.ask(wake, question, move |work| {
        let mut publish = |found: Found| {
            if found.total() > 0 {
                work.publish(Arc::new(found));
            }
        };
        let found = search(&trace, reader.as_ref(), &query, work, &mut publish);
        Ok(Arc::new(
            found.unwrap_or_else(|error| Found::refused(error, trace.span)),
        ))
    });
    Ok(())
}

/// Makes `task` filter events, as [`filter_events`] does; the key is `number`, the number of the filtering.
///
/// # Errors
/// Errors if the expression needs something that the trace cannot have.
pub fn start_filter(
    task: &mut Task<u64, FilteredEvents>,
    wake: impl Into<Waker>,
    of: SearchedTrace,
    number: u64,
    filter: EventFilter,
) -> Result<(), ExpressionError> {
    let SearchedTrace { id, trace, reader } = of;
    if let Some(expression) = &filter.expression {
        Matcher::new(expression, &trace, reader.as_ref())?;
    }
    let question = TaskKey::about(id, number).on_thread("filter");
    task.ask(wake, question, move |work| {
        let mut publish = |found: &FilteredEvents| work.publish(found.clone());
        let found = filter_events(&trace, reader.as_ref(), &filter, work, &mut publish);
        Ok(found.unwrap_or_else(FilteredEvents::refused))
    });
    Ok(())
}
