//! A table of one kind of events, with the event's own fields as columns.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

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

/// How the names of these tables begin.
pub(super) const EVENT_TABLE: &str = "event_";

/// Which kinds of events get a table of their own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WantedEvents {
    /// Those with this name, or this category and name (`sched:sched_switch`).
    Named(String),
    /// Those that are in the table with this name.
    Table(String),
}

impl WantedEvents {
    fn has(&self, category: &str, name: &str) -> bool {
        match self {
            WantedEvents::Named(wanted) => {
                *wanted == *name || wanted.split_once(':') == Some((category, name))
            }
            WantedEvents::Table(table) => *table == table_name(name),
        }
    }
}

/// Returns the name of the table of a kind of events, without its category: `sched_switch` is in `event_sched_switch`.
fn table_name(event: &str) -> String {
    format!("{EVENT_TABLE}{}", folder_name(event))
}

/// Returns a name in which only lower-case letters, digits and underscores are left.
fn folder_name(name: &str) -> String {
    let letter = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() => c,
        _ => '_',
    };
    name.chars().take(100).map(letter).collect()
}

/// Returns a table for the wanted kinds of events that the trace has, with their fields as columns. Kinds whose names
/// differ only in what no table's name can have are in one table.
pub(super) fn event_tables(
    loaded: &LoadedTrace,
    wanted: &[WantedEvents],
    trace: &str,
) -> Vec<StoredRows> {
    let model = &loaded.trace;
    let mut tables: BTreeMap<String, Vec<EventId>> = BTreeMap::new();
    let kinds = model.kinds.iter().map(|kind| {
        let (category, name) = (model.text(kind.category), model.text(kind.name));
        let is_wanted = wanted.iter().any(|it| it.has(&category, &name));
        is_wanted.then(|| table_name(&name))
    });
    let kinds: Vec<Option<String>> = kinds.collect();
    if kinds.iter().all(Option::is_none) {
        return Vec::new();
    }
    for id in model.events.in_order() {
        let kind = model.events.get(id).row.kind.index();
        if let Some(Some(table)) = kinds.get(kind) {
            match tables.get_mut(table) {
                Some(events) => events.push(id),
                None => drop(tables.insert(table.clone(), vec![id])),
            }
        }
    }
    let tables = tables.into_iter();
    tables
        .map(|(table, events)| event_rows(loaded, table, events, trace))
        .collect()
}

fn event_rows(
    loaded: &LoadedTrace,
    table: String,
    events: Vec<EventId>,
    trace: &str,
) -> StoredRows {
    let Fields { columns, left_out } = fields_of(loaded, &events);
    let fixed = [TRACE_ID, ID, TS, CPU, UTID];
    let mut stored_columns: Vec<StoredColumn> = fixed.iter().map(stored).collect();
    for field in &columns {
        stored_columns.push(StoredColumn {
            name: field.column.clone(),
            form: field.form,
            spread: Spread::Shared,
            has_bloom_filter: false,
        });
    }
    let note = (left_out > 0).then(|| {
        format!("{left_out} fields of {table} after the first {MOST_FIELDS} have no column")
    });
    let places = columns.into_iter().zip(0..);
    let source = EventTable {
        events,
        places: places
            .map(|(field, place)| (field.name, (place, field.form)))
            .collect(),
        trace: trace.to_owned(),
    };
    StoredRows {
        table,
        sorted: sorted_by(&stored_columns),
        columns: stored_columns,
        source: Box::new(source),
        note,
    }
}

/// A field that gets a column.
struct FieldColumn<F = Form> {
    /// Its name in the file.
    name: String,
    /// The column's name.
    column: String,
    form: F,
}

/// The fields of some events.
struct Fields {
    columns: Vec<FieldColumn>,
    /// How many fields have no column.
    left_out: usize,
}

/// Returns the fields of events, each with a type that holds all of its values.
fn fields_of(loaded: &LoadedTrace, events: &[EventId]) -> Fields {
    let mut fields: Vec<FieldColumn<Option<Form>>> = Vec::new();
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    let mut others: FxHashSet<String> = FxHashSet::default();
    for &id in events {
        each_field(loaded, id, |name, values| {
            let form = form_of(values);
            match places.get(name) {
                Some(&at) => {
                    let known = &mut fields[at].form;
                    *known = joined(*known, form);
                }
                None if fields.len() < MOST_FIELDS => {
                    places.insert(name.to_owned(), fields.len());
                    let column = column_name(&fields, name);
                    fields.push(FieldColumn {
                        name: name.to_owned(),
                        column,
                        form,
                    });
                }
                None => {
                    others.insert(name.to_owned());
                }
            }
        });
    }
    let columns = fields.into_iter().map(|field| FieldColumn {
        name: field.name,
        column: field.column,
        form: field.form.unwrap_or(Form::Int),
    });
    Fields {
        columns: columns.collect(),
        left_out: others.len(),
    }
}

/// Returns a name that no other column has, also for engines to which upper and lower case are the same.
fn column_name<F>(fields: &[FieldColumn<F>], name: &str) -> String {
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

/// Returns the type of a field's values; `None` for no value. Several values are a text, as a list is.
fn form_of(values: &[FieldRef<'_>]) -> Option<Form> {
    let [FieldRef { value, .. }] = values else {
        return Some(Form::Text);
    };
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

fn joined(known: Option<Form>, other: Option<Form>) -> Option<Form> {
    match (known, other) {
        (known, None) => known,
        (None, other) => other,
        (Some(known), Some(other)) if other == known => Some(known),
        (Some(_), Some(_)) => Some(Form::Text),
    }
}

/// Calls `each` with the name and the values of each field: neighbours of one name are one field.
fn each_field(loaded: &LoadedTrace, id: EventId, mut each: impl FnMut(&str, &[FieldRef<'_>])) {
    let mut fields = Vec::new();
    let event = loaded.trace.events.get(id);
    loaded.reader.fields_into(event.into(), &mut fields);
    for values in fields.chunk_by(|a, b| a.name == b.name) {
        if let Some(first) = values.first() {
            each(&first.name, values);
        }
    }
}

/// Events with their fields by name.
struct EventTable {
    events: Vec<EventId>,
    /// The place of each field among the columns, and its type.
    places: FxHashMap<String, (usize, Form)>,
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
        let thread = trace
            .events
            .thread(id)
            .filter(|&thread| thread != ThreadId::IDLE);
        cells.extend([
            self.trace.as_str().into(),
            id.0.into(),
            event.row.time.into(),
            cpu.map(|cpu| cpu.number).into(),
            thread.map(|thread| thread.0).into(),
        ]);
        cells.resize(FIXED + self.places.len(), Cell::None);
        each_field(loaded, id, |name, values| {
            if let Some(&(place, form)) = self.places.get(name) {
                cells[FIXED + place] = match values {
                    [one] => cell_of(&one.value, form),
                    several => several_of(several),
                };
            }
        });
    }
}

/// Returns neighbouring fields of one name as a list is written.
fn several_of(fields: &[FieldRef<'_>]) -> Cell<'static> {
    let texts = fields.iter().map(|field| match &field.value {
        ValueRef::Text(text) => text.to_string(),
        value => value.clone().into_value().to_string(),
    });
    let texts: Vec<String> = texts.collect();
    format!("[{}]", texts.join(", ")).into()
}

fn cell_of(value: &ValueRef<'_>, form: Form) -> Cell<'static> {
    match value {
        ValueRef::Null => Cell::None,
        ValueRef::Bool(flag) if form == Form::Text => flag.to_string().into(),
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
        assert_eq!(table_name("sched_switch"), "event_sched_switch");
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
