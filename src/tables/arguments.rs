//! The table of the fields of events that slices and instants are made of: one row for each value.

use std::ops::Range;

use rayon::prelude::*;

use super::batch::Batch;
use super::columns::ARG_SET;
use super::def::{Stored, same};
use super::{Cell, ColumnDef, RowSource, Rows, Scope, TableDef, Unit};
use crate::event::{FieldRef, Value, ValueRef};
use crate::load::LoadedTrace;
use crate::trace::{EventId, TrackId};

pub(super) const ARGUMENTS: TableDef = TableDef {
    name: "args",
    title: "Arguments",
    about: "Each field of the events that slices and instants are made of, with its values.",
    columns: &[
        ARG_SET,
        ColumnDef::text(
            "flat_key",
            "Field",
            "The field without indices of lists (`[2]` inside of a name).",
        ),
        ColumnDef::text(
            "key",
            "Key",
            "The field, with the index in a list, or among several neighbouring fields of one name.",
        ),
        ColumnDef::text(
            "value_type",
            "Type",
            "int, uint, real, bool, string, pointer, koid, bytes or null.",
        ),
        ColumnDef::key(
            "int_value",
            "Whole",
            "A whole number of at most 63 bits, or 1 for yes and 0 for no.",
        ),
        ColumnDef::text(
            "string_value",
            "Text",
            "A text, a whole number of 64 bits, or bytes as hexadecimal digits.",
        ),
        ColumnDef::number(
            "real_value",
            "Number",
            Unit::None,
            "A number with a fraction.",
        ),
    ],
    stored: Some(Stored {
        name: "args",
        more: &[],
        columns: &[
            same("arg_set_id"),
            same("flat_key"),
            same("key"),
            same("value_type"),
            same("int_value"),
            same("string_value"),
            same("real_value"),
        ],
    }),
    rows: Rows::Trace(arguments),
};

/// The values of events, by event.
struct ArgumentRows {
    events: Vec<EventId>,
    /// By event: the number of rows before the event's rows. The last entry is the number of all rows.
    firsts: Vec<usize>,
}

fn arguments(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let events = events_with_fields(scope);
    let count = |&id: &EventId| {
        let mut count = 0;
        each_leaf(scope.loaded, id, |_| count += 1);
        count
    };
    let counts: Vec<usize> = events.par_iter().map(count).collect();
    let mut firsts = vec![0];
    for count in counts {
        let last = firsts.last().copied().unwrap_or(0);
        firsts.push(last + count);
    }
    Box::new(ArgumentRows { events, firsts })
}

/// Returns the events that begin or end chosen slices or are chosen instants, in order of their numbers.
fn events_with_fields(scope: &Scope<'_>) -> Vec<EventId> {
    let trace = &scope.loaded.trace;
    let mut events = Vec::new();
    for row in &trace.slices.rows {
        for slice in row
            .slices
            .clone()
            .filter(|&id| scope.has_slice(row.track, id))
        {
            events.push(trace.slices.begin(slice as usize));
            events.extend(trace.slices.finish(slice as usize));
        }
    }
    for (track, row) in (0..).map(TrackId).zip(&trace.tracks) {
        let points = trace.instants.of(&row.instants).map(EventId);
        events.extend(points.filter(|&event| {
            let time = trace.events.time(event);
            scope.chosen.span.contains(time) && scope.chosen.has_point(track, event)
        }));
    }
    events.sort_unstable();
    events.dedup();
    events.retain(|event| (event.0 as usize) < trace.events.len());
    events
}

/// A value of a field.
struct Leaf<'f> {
    name: &'f str,
    index: Option<usize>,
    value: &'f ValueRef<'f>,
}

/// Calls `each` with the values of an event's fields, in order.
fn each_leaf(loaded: &LoadedTrace, event: EventId, mut each: impl FnMut(Leaf<'_>)) {
    let mut fields: Vec<FieldRef<'_>> = Vec::new();
    let event = loaded.trace.events.get(event);
    loaded.reader.fields_into(event.into(), &mut fields);
    let mut of_name = 0;
    for (at, field) in fields.iter().enumerate() {
        let name = &*field.name;
        // An array of numbers or texts of Chrome JSON is one field for each of them, all of one name.
        let is_named = |other: Option<&FieldRef<'_>>| other.is_some_and(|other| other.name == name);
        let follows = is_named(at.checked_sub(1).and_then(|before| fields.get(before)));
        of_name = if follows { of_name + 1 } else { 0 };
        let is_of_several = follows || is_named(fields.get(at + 1));
        match &field.value {
            ValueRef::List(values) => {
                for (index, value) in values.iter().enumerate() {
                    let value = &leaf_of(value);
                    let index = Some(index);
                    each(Leaf { name, index, value });
                }
            }
            value => each(Leaf {
                name,
                index: is_of_several.then_some(of_name),
                value,
            }),
        }
    }
}

/// Returns an element of a list; a list in a list is one text.
fn leaf_of(value: &Value) -> ValueRef<'_> {
    match value {
        Value::List(_) => ValueRef::Text(value.to_string().into()),
        value => ValueRef::from(value.clone()),
    }
}

/// The cells of a value: type, whole number, text, number.
fn value_cells(value: &ValueRef<'_>) -> [Cell<'static>; 4] {
    let whole = |kind: &'static str, number: u64| match i64::try_from(number) {
        Ok(number) => [kind.into(), number.into(), Cell::None, Cell::None],
        Err(_) => [
            kind.into(),
            Cell::None,
            number.to_string().into(),
            Cell::None,
        ],
    };
    match value {
        ValueRef::Null => ["null".into(), Cell::None, Cell::None, Cell::None],
        ValueRef::Bool(flag) => {
            let flag = u32::from(*flag);
            ["bool".into(), flag.into(), Cell::None, Cell::None]
        }
        ValueRef::Int(number) => ["int".into(), (*number).into(), Cell::None, Cell::None],
        ValueRef::UInt(number) => whole("uint", *number),
        ValueRef::Pointer(number) => whole("pointer", *number),
        ValueRef::Koid(number) => whole("koid", *number),
        ValueRef::Double(number) => ["real".into(), Cell::None, Cell::None, (*number).into()],
        ValueRef::Text(text) => {
            let text = text.clone().into_owned();
            ["string".into(), Cell::None, text.into(), Cell::None]
        }
        ValueRef::Bytes(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            ["bytes".into(), Cell::None, digits.into(), Cell::None]
        }
        // Lists were split into their elements before.
        ValueRef::List(_) => ["null".into(), Cell::None, Cell::None, Cell::None],
    }
}

impl RowSource for ArgumentRows {
    fn len(&self) -> usize {
        self.firsts.last().copied().unwrap_or(0)
    }

    fn row<'a>(&'a self, loaded: &'a LoadedTrace, at: usize, cells: &mut Vec<Cell<'a>>) {
        let mut batch = Batch::new(0..ARGUMENTS.columns.len());
        self.batch(loaded, at..at + 1, &mut batch);
        batch.row(0, cells);
    }

    /// Each event is decoded once for all of its rows in the batch.
    fn batch<'a>(&'a self, loaded: &'a LoadedTrace, range: Range<usize>, batch: &mut Batch<'a>) {
        batch.start_cells();
        let mut event = self.firsts.partition_point(|&first| first <= range.start);
        let (mut at, end) = (range.start, range.end.min(self.len()));
        while at < end {
            // The last event that starts at or before the row; events without fields have no rows.
            let index = event.saturating_sub(1);
            let (first, id) = (self.firsts[index], self.events[index]);
            let mut row = first;
            each_leaf(loaded, id, |leaf| {
                if row >= at && row < end {
                    batch.push_cells(&mut leaf_cells(id, &leaf));
                    at += 1;
                }
                row += 1;
            });
            // If the file is truncated while it is read, the event has fewer fields than were counted.
            at = at.max(self.firsts[index + 1].min(end));
            event = self.firsts.partition_point(|&first| first <= at);
        }
    }
}

/// Returns the name of a field without the indices of lists: `a.b` for `a[0].b`.
fn without_indices(name: &str) -> String {
    let mut parts = name.split('[');
    let mut flat = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(']') {
            Some((index, rest)) if !flat.is_empty() && index.parse::<u32>().is_ok() => {
                flat.push_str(rest);
            }
            _ => {
                flat.push('[');
                flat.push_str(part);
            }
        }
    }
    flat
}

fn leaf_cells(event: EventId, leaf: &Leaf<'_>) -> [Cell<'static>; 7] {
    let [kind, whole, text, number] = value_cells(leaf.value);
    let key = match leaf.index {
        None => leaf.name.to_owned(),
        Some(index) => format!("{}[{index}]", leaf.name),
    };
    let flat = without_indices(leaf.name);
    [
        event.0.into(),
        flat.into(),
        key.into(),
        kind,
        whole,
        text,
        number,
    ]
}
