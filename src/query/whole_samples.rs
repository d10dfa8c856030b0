//! Counter values that are too large for the column of doubles: whole numbers, read from the sample's event.

use crate::event::{FieldRef, ValueRef};
use crate::formats::Events;
use crate::trace::{EventId, Trace};

/// Whole numbers up to this one are exact as doubles; a double of this value may be a larger one that was rounded.
pub(crate) const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns the value of a counter's sample (by its row) as the whole number that its event contains; `None` if the
/// double in the column is exact, or is not a whole number. `track` is the counter's name.
#[must_use]
pub(crate) fn whole_value(
    trace: &Trace,
    reader: &dyn Events,
    row: usize,
    track: &[u8],
) -> Option<i128> {
    let value = *trace.counters.values.get(row)?;
    // NaN is not exact either, and no field matches it.
    if value.abs() < MOST_EXACT || !value.is_finite() {
        return None;
    }
    let mut fields = Vec::new();
    let event = trace.events.get(EventId(*trace.counters.events.get(row)?));
    reader.fields_into(event.into(), &mut fields);
    let whole = |field: &FieldRef<'_>| {
        let whole = match &field.value {
            ValueRef::Int(number) => i128::from(*number),
            ValueRef::UInt(number) => i128::from(*number),
            ValueRef::Text(text) => whole_in(text, value)?,
            _ => return None,
        };
        if whole as f64 != value {
            return None;
        }
        let is_called_so = track.ends_with(field.name.as_bytes());
        Some((is_called_so, field.name.len(), whole))
    };
    // If several fields have a matching value, the counter's name decides.
    let best = fields
        .iter()
        .filter_map(whole)
        .max_by_key(|&(is_called_so, length, _)| (is_called_so, length));
    best.map(|(_, _, whole)| whole)
}

/// Returns the whole number in a text that is rounded to `value`: the text itself, or a part of a mark (`C|9|name|123`).
fn whole_in(text: &str, value: f64) -> Option<i128> {
    let numbers = text.split('|').filter_map(|part| part.trim().parse().ok());
    numbers.rev().find(|number: &i128| *number as f64 == value)
}
