//! The columns of the event list, and the decoded events that fill them.

use crate::base::Timestamp;
use crate::gui::pane::Scene;
use crate::load::LoadedTrace;
use crate::query::details::describe;
use crate::tables::columns::ColumnDef;
use crate::trace::{EventId, ThreadId};
use crate::view::ruler;
use serde::{Deserialize, Serialize};

/// A column of the event list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Column {
    /// The event's time.
    Time,
    /// The time since the row above.
    Since,
    /// The CPU of the event.
    Cpu,
    /// The thread's name and number.
    Thread,
    /// The process's name and number.
    Process,
    /// The kind of event.
    Event,
    /// The system or category.
    Category,
    /// All fields as one text.
    Text,
    /// One field, by its name.
    Field(String),
}

impl Column {
    /// All columns except those of fields, in their order.
    pub const ALL: [Column; 8] = [
        Column::Time,
        Column::Since,
        Column::Cpu,
        Column::Thread,
        Column::Process,
        Column::Event,
        Column::Category,
        Column::Text,
    ];

    /// Returns the columns that are shown initially.
    #[must_use]
    pub(crate) fn usual() -> Vec<Column> {
        vec![
            Column::Time,
            Column::Cpu,
            Column::Thread,
            Column::Event,
            Column::Text,
        ]
    }

    /// Returns the column's heading.
    #[must_use]
    pub fn title(&self) -> &str {
        match self {
            Column::Time => "Time",
            Column::Since => "Since last",
            Column::Cpu => "CPU",
            Column::Thread => "Thread",
            Column::Process => "Process",
            Column::Event => "Event",
            Column::Category => "Category",
            Column::Text => "What it says",
            Column::Field(name) => name,
        }
    }

    /// Returns the column for exports: it has the name that the window shows.
    #[must_use]
    pub(crate) fn def(&self) -> ColumnDef<'_> {
        let title = self.title();
        match self {
            Column::Time => ColumnDef::time(title, title, "When the event happened."),
            Column::Since => {
                ColumnDef::duration(title, title, "How long after the event before it.")
            }
            _ => ColumnDef::text(title, title, "What the event says."),
        }
    }

    /// Returns the initial width, in points.
    #[must_use]
    pub fn width(&self) -> f32 {
        match self {
            Column::Time => 120.0,
            Column::Since | Column::Category => 90.0,
            Column::Cpu => 40.0,
            Column::Thread | Column::Process | Column::Event => 170.0,
            Column::Text => 420.0,
            Column::Field(_) => 110.0,
        }
    }

    /// Returns whether the column has a monospaced font.
    #[must_use]
    pub(crate) fn is_mono(&self) -> bool {
        !matches!(
            self,
            Column::Thread | Column::Process | Column::Event | Column::Category
        )
    }

    /// Returns the position of the column among the others.
    #[must_use]
    pub fn order(&self) -> usize {
        let known = Column::ALL.iter().position(|column| column == self);
        // Fields come before the text.
        match (known, self) {
            (_, Column::Text) => usize::MAX,
            (Some(at), _) => at,
            (None, _) => Column::ALL.len(),
        }
    }
}

/// A decoded event, one row of the list.
#[derive(Clone, Debug)]
pub struct Line {
    /// The event.
    pub id: EventId,
    /// The time of the event.
    pub time: Timestamp,
    /// The time since the row above, in ns.
    pub since: Option<i64>,
    cpu: String,
    thread: String,
    process: String,
    name: String,
    category: String,
    text: String,
    /// Names and values of its fields.
    pub fields: Vec<(String, String)>,
}

impl Line {
    /// Decodes an event; `before` is the time of the row above.
    #[must_use]
    pub fn read(loaded: &LoadedTrace, id: EventId, before: Option<Timestamp>) -> Line {
        let trace = &loaded.trace;
        let detail = describe(trace, loaded.reader.as_ref(), id);
        let thread = trace.events.thread(id);
        let name = if thread == ThreadId::IDLE {
            "idle".to_owned()
        } else {
            trace.thread_name(thread)
        };
        let process = trace.process_of(thread);
        let time = trace.events.time(id);
        Line {
            id,
            time,
            since: before.map(|before| (time - before).0),
            cpu: detail.cpu.map(|cpu| cpu.to_string()).unwrap_or_default(),
            thread: format!("{name} ({})", trace.thread(thread).tid),
            process: process.map_or_else(String::new, |process| {
                format!("{} ({})", trace.text(process.name), process.pid)
            }),
            text: detail.line(),
            fields: detail
                .fields
                .iter()
                .map(|field| (field.name.clone(), field.text()))
                .collect(),
            name: detail.name,
            category: detail.category,
        }
    }

    /// Returns the text of a column, for people.
    #[must_use]
    pub fn shown(&self, column: &Column, scene: &Scene<'_>) -> String {
        let origins = scene.state.origins;
        match column {
            Column::Time => ruler::full_text(self.time, scene.state.time_format, origins),
            Column::Since => self.since.map_or_else(String::new, |ns| {
                ruler::length_text(crate::base::Nanos(ns), origins.unit)
            }),
            column => self.exact(column),
        }
    }

    /// Returns the value of a column, for programs: times in ns on the trace's own clock.
    #[must_use]
    pub fn exact(&self, column: &Column) -> String {
        match column {
            Column::Time => self.time.0.to_string(),
            Column::Since => self.since.map(|ns| ns.to_string()).unwrap_or_default(),
            Column::Cpu => self.cpu.clone(),
            Column::Thread => self.thread.clone(),
            Column::Process => self.process.clone(),
            Column::Event => self.name.clone(),
            Column::Category => self.category.clone(),
            Column::Text => self.text.clone(),
            Column::Field(name) => {
                let field = self.fields.iter().find(|(field, _)| field == name);
                field.map(|(_, value)| value.clone()).unwrap_or_default()
            }
        }
    }
}
