//! A table of one kind of events, with the event's own fields as columns.

use rustc_hash::FxHashMap;

use super::stored::{StoredRows, TRACE_ID, sorted_by, stored};
use crate::event::{FieldRef, ValueRef};
use crate::export::parquet::layout::{Form, Spread, StoredColumn};
use crate::load::LoadedTrace;
use crate::tables::columns::{CPU, ID, TS, UTID};
use crate::tables::{Cell, RowSource};
use crate::trace::{EventId, ThreadId};

/// The columns before those of fields.
const FIXED: usize = 5;

/// The most fields of a kind of events that get a column.
const MOST_FIELDS: usize = 200;

/// Returns the name of the table of a kind of events: `sched:sched_switch` is in `event_sched_switch`.
pub(super) fn table_name(event: &str) -> String {
    let name = event.rsplit(':').next().unwrap_or(event);
    format!("event_{}", folder_name(name))
}

/// Returns a name in which only lower-case letters, digits and underscores are left.
fn folder_name(name: &str) -> String {
    let letter = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() => c,
        _ => '_',
    };
    name.chars().take(100).map(letter).collect()
}

/// Returns the events of a kind, with their fields as columns; `None` if the trace has none.
pub(super) fn event_rows(loaded: &LoadedTrace, event: &str, trace: &str) -> Option<StoredRows> {
    let events = events_of(loaded, event);
    if events.is_empty() {
        return None;
    }
    let fields = fields_of(loaded, &events);
    let fixed = [TRACE_ID, ID, TS, CPU, UTID];
    let mut columns: Vec<StoredColumn> = fixed.iter().map(stored).collect();
    for field in &fields {
        columns.push(StoredColumn {
            name: field.column.clone(),
            form: field.form,
            spread: Spread::Shared,
            has_bloom_filter: false,
        });
    }
    let places = fields.into_iter().map(|field| field.name);
    let source = EventTable {
        events,
        places: places.zip(0..).collect(),
        trace: trace.to_owned(),
    };
    Some(StoredRows {
        table: table_name(event),
        sorted: sorted_by(&columns),
        columns,
        source: Box::new(source),
    })
}

/// Returns the events whose kind has this name, or this category and name, in order of time.
fn events_of(loaded: &LoadedTrace, event: &str) -> Vec<EventId> {
    let trace = &loaded.trace;
    let (category, name) = match event.split_once(':') {
        Some((category, name)) => (Some(category), name),
        None => (None, event),
    };
    let is_it: Vec<bool> = trace
        .kinds
        .iter()
        .map(|kind| {
            let of_category = category.is_none_or(|it| trace.text(kind.category) == it);
            of_category && trace.text(kind.name) == name
        })
        .collect();
    if !is_it.contains(&true) {
        return Vec::new();
    }
    let all = trace.events.in_order();
    let is_of_kind = |id: &EventId| {
        let kind = trace.events.get(*id).row.kind.index();
        is_it.get(kind) == Some(&true)
    };
    all.filter(is_of_kind).collect()
}

/// A field that gets a column.
struct FieldColumn {
    /// Its name in the file.
    name: String,
    /// The column's name.
    column: String,
    form: Form,
}

/// Returns the fields of events, each with a type that holds all of its values.
fn fields_of(loaded: &LoadedTrace, events: &[EventId]) -> Vec<FieldColumn> {
    let mut fields: Vec<FieldColumn> = Vec::new();
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    for &id in events {
        each_field(loaded, id, |field| {
            let form = form_of(&field.value);
            match places.get(&*field.name) {
                Some(&at) => {
                    let known = &mut fields[at].form;
                    *known = joined(*known, form);
                }
                None if fields.len() < MOST_FIELDS => {
                    places.insert(field.name.clone().into_owned(), fields.len());
                    let column = column_name(&fields, &field.name);
                    fields.push(FieldColumn {
                        name: field.name.clone().into_owned(),
                        column,
                        form: form.unwrap_or(Form::Int),
                    });
                }
                None => {}
            }
        });
    }
    fields
}

/// Returns a name that no other column has, also for engines to which upper and lower case are the same.
fn column_name(fields: &[FieldColumn], name: &str) -> String {
    let fixed = ["trace_id", "id", "ts", "cpu", "utid"];
    let is_taken = |name: &str| {
        let of_field = fields.iter().any(|field| field.column == name);
        of_field || fixed.contains(&name)
    };
    let plain = folder_name(name);
    let plain = match plain.is_empty() {
        true => "field".to_owned(),
        false => plain,
    };
    if !is_taken(&plain) {
        return plain;
    }
    let numbered = (2..).map(|number| format!("{plain}_{number}"));
    let mut free = numbered.filter(|name| !is_taken(name));
    free.next().unwrap_or(plain)
}

/// Returns the type of a value; `None` for no value.
fn form_of(value: &ValueRef<'_>) -> Option<Form> {
    match value {
        ValueRef::Null => None,
        ValueRef::Bool(_) => Some(Form::Flag),
        ValueRef::Int(_) => Some(Form::Int),
        ValueRef::UInt(number) | ValueRef::Koid(number) => match i64::try_from(*number) {
            Ok(_) => Some(Form::Int),
            Err(_) => Some(Form::Text),
        },
        ValueRef::Double(_) => Some(Form::Float),
        // Addresses of a kernel need all 64 bits.
        ValueRef::Pointer(_) | ValueRef::Text(_) | ValueRef::Bytes(_) | ValueRef::List(_) => {
            Some(Form::Text)
        }
    }
}

fn joined(known: Form, other: Option<Form>) -> Form {
    match other {
        None => known,
        Some(other) if other == known => known,
        Some(_) => Form::Text,
    }
}

fn each_field(loaded: &LoadedTrace, id: EventId, mut each: impl FnMut(&FieldRef<'_>)) {
    let mut fields = Vec::new();
    let event = loaded.trace.events.get(id);
    loaded.reader.fields_into(event.into(), &mut fields);
    fields.iter().for_each(&mut each);
}

/// Events with their fields by name.
struct EventTable {
    events: Vec<EventId>,
    /// The place of each field among the columns.
    places: FxHashMap<String, usize>,
    trace: String,
}

impl RowSource for EventTable {
    fn len(&self) -> usize {
        self.events.len()
    }

    fn row<'a>(&'a self, loaded: &'a LoadedTrace, at: usize, cells: &mut Vec<Cell<'a>>) {
        let Some(&id) = self.events.get(at) else {
            return;
        };
        let trace = &loaded.trace;
        let event = trace.events.get(id);
        let cpu = event.cpu.and_then(|index| trace.cpus.get(index as usize));
        let thread = trace.events.thread(id).map(|ThreadId(thread)| thread);
        cells.extend([
            self.trace.as_str().into(),
            id.0.into(),
            event.row.time.into(),
            cpu.map(|cpu| cpu.number).into(),
            thread.into(),
        ]);
        cells.resize(FIXED + self.places.len(), Cell::None);
        each_field(loaded, id, |field| {
            if let Some(place) = self.places.get(&*field.name) {
                cells[FIXED + place] = cell_of(&field.value);
            }
        });
    }
}

fn cell_of(value: &ValueRef<'_>) -> Cell<'static> {
    match value {
        ValueRef::Null => Cell::None,
        ValueRef::Bool(flag) => u32::from(*flag).into(),
        ValueRef::Int(number) => (*number).into(),
        ValueRef::UInt(number) | ValueRef::Koid(number) => (*number).into(),
        ValueRef::Double(number) => (*number).into(),
        ValueRef::Pointer(number) => format!("{number:#x}").into(),
        ValueRef::Text(text) => text.clone().into_owned().into(),
        ValueRef::Bytes(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            digits.into()
        }
        ValueRef::List(values) => {
            let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
            format!("[{}]", texts.join(", ")).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_events_and_fields_become_names_that_all_engines_take() {
        assert_eq!(table_name("sched:sched_switch"), "event_sched_switch");
        assert_eq!(table_name("../../Etc"), "event_______etc");
        let mut fields = Vec::new();
        for (name, expected) in [
            ("Ts", "ts_2"),
            ("a b", "a_b"),
            ("A:B", "a_b_2"),
            ("", "field"),
        ] {
            let column = column_name(&fields, name);
            assert_eq!(column, expected);
            fields.push(FieldColumn {
                name: name.to_owned(),
                column,
                form: Form::Int,
            });
        }
    }
}
