//! Errors about fields that no event has, with the most similar field name.
//!
//! Some formats define the fields of each kind of event; there [`Matcher`](super::Matcher) refuses other fields. In
//! other formats, only the events themselves show which fields they have: if an expression matched nothing, its fields
//! are searched in some events of each kind.

use std::collections::BTreeSet;

use super::parse::{Expression, FIELDS, Field, Node};
use super::pattern::kinds_called;
use super::{ExpressionError, argument_names};
use crate::formats::Events;
use crate::query::item::event_ref;
use crate::trace::{EventId, Trace};

/// The number of events of each kind that are examined first.
const OF_EACH_KIND: u8 = 32;
/// The number of events of all kinds, evenly spread, that are examined after them.
const SPREAD: usize = 2_000;

/// A field of the expression that no event of the trace seems to have.
#[must_use]
pub fn unknown_field(
    expression: &Expression,
    trace: &Trace,
    reader: &dyn Events,
) -> Option<ExpressionError> {
    let mut asked = Vec::new();
    arguments(expression.root(), &mut asked);
    if asked.is_empty() {
        return None;
    }
    let mut names = seen_names(trace, reader);
    names.extend(argument_names(trace, reader));
    let missing = asked.iter().find(|it| !names.contains(it.name));
    if let Some(Asked { name, at, .. }) = missing {
        return Some(no_such_field(name, *at, names.iter().map(String::as_str)));
    }
    asked.iter().find_map(|it| {
        let value = it.value.filter(|value| names.contains(*value))?;
        Some(is_field_too(it.name, it.at, value))
    })
}

/// A name of events, or of a system, in the expression that no event of the trace has.
#[must_use]
pub(crate) fn unknown_event(expression: &Expression, trace: &Trace) -> Option<ExpressionError> {
    fn names<'a>(node: &'a Node, found: &mut Vec<&'a str>) {
        match node {
            Node::Text(_) | Node::Compare { .. } => {}
            Node::Event(own, inner) => {
                found.extend(own.iter().map(String::as_str));
                names(inner, found);
            }
            Node::Not(inner) => names(inner, found),
            Node::All(nodes) | Node::Any(nodes) => nodes.iter().for_each(|it| names(it, found)),
        }
    }
    let mut asked = Vec::new();
    names(expression.root(), &mut asked);
    let is_unknown = |name: &&str| !kinds_called(trace, name).contains(&true);
    let name = asked.into_iter().find(is_unknown)?;
    let at = expression.text().find(name).unwrap_or(0);
    let words = format!("this trace has no event and no system called '{name}'");
    Some(ExpressionError::new(at, name.len(), words))
}

/// A comparison of an event's field.
struct Asked<'a> {
    name: &'a str,
    at: usize,
    /// The value, if it was written without quotes.
    value: Option<&'a str>,
}

/// The error that a field is compared with the name of another field.
pub(super) fn is_field_too(name: &str, at: usize, other: &str) -> ExpressionError {
    let words = format!(
        "'{other}' is a field, too: compare a field with a value; \"{other}\" in quotes is the text"
    );
    ExpressionError::new(at, name.len(), words)
}

/// Returns the name that is most similar to `name`; `None` if none is.
pub(crate) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = names.map(|other| (distance(name, other), other));
    let nearest = near.min().filter(|(far, _)| *far <= 1 + name.len() / 4);
    nearest.map(|(_, meant)| meant)
}

/// Returns the error that there is no such field, with the most similar field name.
pub(super) fn no_such_field<'a>(
    name: &str,
    at: usize,
    names: impl Iterator<Item = &'a str>,
) -> ExpressionError {
    let own = FIELDS.iter().map(|(own, ..)| *own);
    let mut message = format!("no event of this trace has a field '{name}'");
    if let Some(meant) = nearest(name, names.chain(own)) {
        message.push_str(&format!("; there is '{meant}'"));
    }
    ExpressionError::new(at, name.len(), message)
}

fn arguments<'a>(node: &'a Node, asked: &mut Vec<Asked<'a>>) {
    match node {
        Node::Compare {
            field: Field::Argument(name),
            at,
            value,
            ..
        } => {
            let is_bare = value.is_bare && value.pattern.is_none() && value.number.is_none();
            asked.push(Asked {
                name,
                at: *at,
                value: is_bare.then_some(value.text.as_str()),
            });
        }
        Node::Text(_) | Node::Compare { .. } => {}
        Node::Event(_, inner) | Node::Not(inner) => arguments(inner, asked),
        Node::All(nodes) | Node::Any(nodes) => {
            nodes.iter().for_each(|node| arguments(node, asked));
        }
    }
}

/// The names of the fields of the first events of each kind, and of some others.
fn seen_names(trace: &Trace, reader: &dyn Events) -> BTreeSet<String> {
    let mut seen = vec![0_u8; trace.kinds.len()];
    let mut names = BTreeSet::new();
    let stride = (trace.events.len() / SPREAD).max(1);
    for segment in trace.events.segments() {
        for index in 0..segment.columns.len() as u32 {
            let count = seen.get_mut(segment.kind(index).index());
            let is_early = count.is_some_and(|count| {
                *count = count.saturating_add(1);
                *count <= OF_EACH_KIND
            });
            if !is_early && !(index as usize).is_multiple_of(stride) {
                continue;
            }
            let event = event_ref(trace, EventId(segment.first + index));
            let fields = reader.describe(event).fields;
            names.extend(fields.into_iter().map(|field| field.name));
        }
    }
    names
}

/// Returns the edit distance of two names: the number of characters to insert, remove, swap or change.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut least = (last[j] + usize::from(x != y))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *y && b[j - 1] == *x {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_told() {
        assert_eq!(distance("prev_proi", "prev_prio"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        let names = ["next_prio", "prev_prio", "prev_pid"];
        let message = |name| no_such_field(name, 2, names.into_iter()).message;
        assert!(message("prev_proi").ends_with("; there is 'prev_prio'"));
        assert!(message("tdi").ends_with("; there is 'tid'"));
        assert!(message("colour").ends_with("field 'colour'"));
    }
}
