//! Plots of answers: the numbers of a column at the times of the rows.

use super::engine::EngineError;
use super::query::{QueryError, ask_about};
use super::row_places::PlaceColumns;
use crate::base::{Job, Timestamp};
use crate::load::LoadedTrace;
use crate::query::item::event_of;
use crate::query::plots::{PlotError, Samples};
use crate::tables::Cell;
use crate::trace::{EventId, Plot, Trace};

/// Returns the numbers of a plot whose question is in SQL, sorted by time. Rows without a time or a number make no
/// sample.
///
/// # Errors
/// Errors if the question has no answer, or if the job was cancelled.
pub(crate) fn samples_of_answer(
    loaded: &LoadedTrace,
    plot: &Plot,
    job: &Job,
) -> Result<Samples, PlotError> {
    let failed = |error: QueryError| match error {
        QueryError::Engine(EngineError::Cancelled) => PlotError::Cancelled,
        error => PlotError::Question(error.to_string()),
    };
    let answer = ask_about(loaded, &plot.filter, job).map_err(failed)?;
    let names: Vec<&str> = answer.columns.iter().map(|it| it.name.as_str()).collect();
    let places = PlaceColumns::of(&names);
    let Some(value_at) = names.iter().position(|name| *name == plot.field) else {
        let words = format!("the answer has no column '{}'", plot.field);
        return Err(PlotError::Question(words));
    };
    let trace = loaded.trace.as_ref();
    let mut rows: Vec<(i64, f64, u32)> = Vec::new();
    let mut meant = 0;
    let read = answer.each_row(|cells| {
        meant += 1;
        job.check()
            .map_err(|_| std::io::Error::other("cancelled"))?;
        let place = places.place(cells);
        let value = cells.get(value_at).and_then(number_of);
        if let (Some(place), Some(value)) = (place, value) {
            let item = place.item(trace);
            let event = item.and_then(|item| event_of(trace, item));
            let event = event.or_else(|| event_at(trace, place.time));
            rows.extend(event.map(|event| (place.time.0, value, event.0)));
        }
        Ok(())
    });
    job.check()?;
    read.map_err(|error| failed(error.into()))?;
    rows.sort_by_key(|row| row.0);
    let mut samples = Samples {
        meant,
        ..Samples::default()
    };
    for (time, value, event) in rows {
        samples.push(time, value, event);
    }
    Ok(samples)
}

fn number_of(cell: &Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Int(value) | Cell::AtLeast(value) => Some(*value as f64),
        Cell::Float(value) => Some(*value).filter(|value| value.is_finite()),
        Cell::None | Cell::Text(_) => None,
    }
}

/// Returns the first event at or after a time, otherwise the last of all.
fn event_at(trace: &Trace, time: Timestamp) -> Option<EventId> {
    let after = trace.events.from_time(time).next();
    let last = || {
        let rank = (trace.events.len() as u32).checked_sub(1)?;
        trace.events.from_rank(rank).next()
    };
    after.or_else(last)
}
