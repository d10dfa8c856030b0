//! Tables of recorded events, log messages and blobs, and of diagnostics.

use std::ops::Range;

use super::batch::{Fill, Names};
use super::columns::{
    CATEGORY, CPU, ID, NAME, PID, PROCESS_IN_FULL, THREAD_IN_FULL, TID, TS, UTID,
};
use super::def::{Stored, renamed, same};
use super::items::{Owner, Owners, cpu_of};
use super::rows::{ColumnsOfIds, Ids, RowsOfIds};
use super::{Cell, ColumnDef, RowSource, Rows, Scope, TableDef, Unit};
use crate::base::{Diagnostic, Severity, StringId, Timestamp};
use crate::load::LoadedTrace;
use crate::query::blobs::{Blob, blobs};
use crate::trace::{EventId, Trace};

pub(super) const EVENTS: TableDef = TableDef {
    name: "events",
    title: "Events",
    about: "Every recorded event in time order.",
    columns: &[TS, CPU, TID, NAME, CATEGORY, ID],
    stored: Some(Stored {
        name: "ftrace_event",
        more: &[UTID],
        columns: &[
            same("id"),
            same("ts"),
            same("cpu"),
            same("utid"),
            same("name"),
            same("category"),
        ],
    }),
    rows: Rows::Trace(events),
};

/// The events from one rank to another in order of time: 100 million rows need no list.
struct RankedEvents {
    first: u32,
    count: usize,
}

/// Finding an event by its rank takes several searches; stepping to the next event takes none.
impl Ids<EventId> for RankedEvents {
    fn len(&self) -> usize {
        self.count
    }

    fn each(&self, loaded: &LoadedTrace, range: Range<usize>, each: &mut dyn FnMut(&EventId)) {
        let first = self.first.saturating_add(range.start as u32);
        let ids = loaded.trace.events.from_rank(first).take(range.len());
        ids.for_each(|id| each(&id));
    }
}

fn events(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let (events, chosen) = (&scope.loaded.trace.events, scope.chosen);
    let span = chosen.span;
    let known = EventTexts::new(&scope.loaded.trace);
    if !chosen.is_narrowed() {
        let first = events.rank(span.start);
        let end = match span.is_endless() {
            true => events.len(),
            false => events.rank(span.end) as usize,
        };
        let ranked = RankedEvents {
            first,
            count: end.saturating_sub(first as usize),
        };
        return event_rows(ranked, known);
    }
    let is_before_end = |id: &EventId| span.is_endless() || events.time(*id) < span.end;
    let ids = events.from_time(span.start).take_while(is_before_end);
    let ids = ids.filter(|&id| chosen.has_event(id));
    event_rows(ids.collect::<Vec<EventId>>(), known)
}

fn event_rows(ids: impl Ids<EventId> + 'static, known: EventTexts) -> Box<dyn RowSource> {
    Box::new(ColumnsOfIds {
        ids,
        known,
        read: |loaded, known, &id| EventOfTable::read(&loaded.trace, known, id),
        columns: EVENT_COLUMNS,
    })
}

/// Values that are the same in many rows of tables of events.
pub(super) struct EventTexts {
    /// The names of the kinds of events.
    pub kinds: Vec<String>,
    /// The threads.
    pub owners: Owners,
}

impl EventTexts {
    pub(super) fn new(trace: &Trace) -> EventTexts {
        let kinds = trace.kinds.iter();
        EventTexts {
            kinds: kinds.map(|kind| trace.text(kind.name).into()).collect(),
            owners: Owners::new(trace),
        }
    }
}

/// An event as the columns of tables need it.
pub(super) struct EventOfTable {
    pub id: EventId,
    pub time: Timestamp,
    /// The number of the CPU.
    pub cpu: Option<i64>,
    /// The number of its kind, by which [`EventTexts::kinds`] names it.
    pub kind: u32,
    /// The string of its kind's category.
    pub category: Option<u32>,
    /// The index of its thread in [`Owners`].
    pub owner: usize,
}

impl EventOfTable {
    pub(super) fn read(trace: &Trace, known: &EventTexts, id: EventId) -> EventOfTable {
        let event = trace.events.get(id);
        let kind = trace.kinds.get(event.row.kind.index());
        let category = kind.map(|kind| kind.category);
        EventOfTable {
            id,
            time: event.row.time,
            cpu: cpu_of(trace, event.cpu),
            kind: event.row.kind.index() as u32,
            category: category
                .filter(|&text| text != StringId::EMPTY)
                .map(|text| text.0),
            owner: known.owners.index(trace.events.thread(id)),
        }
    }
}

/// The columns of [`EVENTS`].
const EVENT_COLUMNS: &[Fill<EventOfTable, EventTexts>] = &[
    |rows, out| out.ints(rows.iter().map(|row| Some(row.time.0))),
    |rows, out| out.ints(rows.iter().map(|row| row.cpu)),
    |rows, out| {
        let tids = &rows.known.owners.tids;
        out.keys(rows.iter().map(|row| tids[row.owner]));
    },
    |rows, out| {
        let kinds = Names::Texts(&rows.known.kinds);
        out.names(kinds, rows.iter().map(|row| Some(row.kind)));
    },
    |rows, out| {
        let strings = Names::Strings(&rows.loaded.trace.strings);
        out.names(strings, rows.iter().map(|row| row.category));
    },
    |rows, out| out.ints(rows.iter().map(|row| Some(row.id.0.into()))),
    |rows, out| {
        let owners = &rows.known.owners;
        out.ints(rows.iter().map(|row| owners.utid(row.owner)));
    },
];

/// The events as a person reads them: the columns from which the list of events is chosen.
pub(crate) const EVENT_LINES: TableDef = TableDef {
    name: "event_lines",
    title: "Events",
    about: "Every recorded event with its fields as text.",
    columns: &[
        TS,
        ColumnDef::duration("since", "Since last", "Time since the event above."),
        ColumnDef::text("cpu", "CPU", "The number of the CPU."),
        THREAD_IN_FULL,
        PROCESS_IN_FULL,
        ColumnDef::text("event", "Event", "The kind of event."),
        CATEGORY,
        ColumnDef::text("text", "What it says", "All fields as one text."),
    ],
    stored: None,
    rows: Rows::Window,
};

/// A field of events as a column of [`EVENT_LINES`]; its title is the field's name.
pub(crate) const FIELD: ColumnDef<'static> =
    ColumnDef::text("field", "Field", "This field of the event.");

pub(super) const LOGS: TableDef = TableDef {
    name: "logs",
    title: "Log messages",
    about: "What programs logged.",
    columns: &[
        TS,
        ColumnDef::text("severity", "Severity", "How serious it is."),
        PID,
        TID,
        ColumnDef::text("message", "Message", "What was logged."),
    ],
    stored: None,
    rows: Rows::Trace(logs),
};

fn logs(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let (logs, chosen) = (&scope.loaded.trace.logs.rows, scope.chosen);
    let is_chosen = |at: &usize| chosen.span.contains(logs[*at].time) && chosen.has_log(&logs[*at]);
    let ids = (0..logs.len()).filter(is_chosen).collect();
    Box::new(RowsOfIds::new(ids, (), |loaded, (), &at: &usize, cells| {
        let trace = &loaded.trace;
        let row = &trace.logs.rows[at];
        let Owner { pid, tid } = Owner::of(trace, row.thread);
        cells.extend([
            row.time.into(),
            Cell::of_text_or_none(trace, row.severity),
            pid,
            tid,
            Cell::of_string(trace, row.message),
        ]);
    }))
}

pub(crate) const DIAGNOSTICS: TableDef = TableDef {
    name: "diagnostics",
    title: "Diagnostics",
    about: "What was odd or missing in the file.",
    columns: &[
        ColumnDef::text("severity", "Severity", "info, error or data_loss."),
        ColumnDef::text("code", "Code", "The kind of finding."),
        ColumnDef::count("count", "Count", "How often it was found."),
        ColumnDef::text("place", "Place", "Where it was found first."),
        ColumnDef::text("message", "Message", "What is wrong or missing."),
    ],
    stored: Some(Stored {
        name: "stats",
        more: &[],
        columns: &[
            renamed("name", "code"),
            same("severity"),
            renamed("value", "count"),
            same("place"),
            renamed("description", "message"),
        ],
    }),
    rows: Rows::Trace(diagnostics),
};

fn diagnostics(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let count = scope.loaded.trace.diagnostics.rows().len();
    Box::new(diagnostic_rows(count))
}

/// Returns rows of [`DIAGNOSTICS`] for the first `count` diagnostics. The message with all places follows the table's
/// columns.
pub(crate) fn diagnostic_rows(count: usize) -> impl RowSource {
    let ids = (0..count).collect();
    RowsOfIds::new(ids, (), |loaded: &LoadedTrace, (), &at: &usize, cells| {
        let Some(row) = loaded.trace.diagnostics.rows().get(at) else {
            return;
        };
        let severity = match row.severity {
            Severity::Info => "info",
            Severity::Error => "error",
            Severity::DataLoss => "data_loss",
        };
        cells.extend([
            severity.into(),
            row.code.as_ref().into(),
            row.count.into(),
            row.places.first().map(ToString::to_string).into(),
            row.message.as_str().into(),
            message_with_places(row).into(),
        ]);
    })
}

fn message_with_places(row: &Diagnostic) -> String {
    let places: Vec<String> = row.places.iter().map(ToString::to_string).collect();
    match places.is_empty() {
        true => row.message.clone(),
        false => format!("{} (at {})", row.message, places.join(", ")),
    }
}

pub(super) const BLOBS: TableDef = TableDef {
    name: "blobs",
    title: "Attachments",
    about: "Bytes that are attached to the trace; `blob` writes them.",
    columns: &[
        ColumnDef::key("number", "Number", "The number for the command `blob`."),
        TS,
        NAME,
        CATEGORY,
        ColumnDef::text("type", "Type", "What the bytes are."),
        ColumnDef::number("bytes", "Size", Unit::Bytes, "How large it is."),
    ],
    stored: None,
    rows: Rows::Trace(blob_rows),
};

fn blob_rows(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let all = blobs(&scope.loaded.trace, scope.loaded.reader.as_ref());
    let numbered = (0_u64..).zip(all);
    let ids = numbered.filter(|(_, blob)| scope.chosen.span.contains(blob.time));
    Box::new(RowsOfIds::new(
        ids.collect(),
        (),
        |_, (), id: &(u64, Blob), cells| {
            let (number, blob) = id;
            cells.extend([
                (*number).into(),
                blob.time.into(),
                blob.name.as_str().into(),
                blob.category.as_str().into(),
                blob.sort.as_str().into(),
                blob.size_bytes.into(),
            ]);
        },
    ))
}
