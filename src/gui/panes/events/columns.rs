//! The columns of the event list, and the decoded events that fill them.

use crate::base::Timestamp;
use crate::gui::table::PaneColumn;
use crate::load::LoadedTrace;
use crate::query::details::describe;
use crate::tables::recorded::{EVENT_LINES, FIELD};
use crate::tables::{Cell, ColumnDef};
use crate::trace::{EventId, ThreadId};
use serde::{Deserialize, Serialize};

/// A column of the event list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Column {
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
    pub(super) const ALL: [Column; 8] = [
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
    pub(super) fn title(&self) -> &str {
        match self {
            Column::Field(name) => name,
            column => column.def().title,
        }
    }

    /// Returns the definition of the column.
    fn def(&self) -> ColumnDef<'static> {
        let at = Column::ALL.iter().position(|column| column == self);
        let def = at.and_then(|at| EVENT_LINES.columns.get(at));
        def.copied().unwrap_or(FIELD)
    }

    /// Returns the column for files: its name is the title that the window shows.
    #[must_use]
    pub(crate) fn for_files(&self) -> ColumnDef<'_> {
        ColumnDef {
            name: self.title(),
            title: self.title(),
            ..self.def()
        }
    }

    /// Returns the column for the window, with the cell at index `at` of a row.
    #[must_use]
    pub(crate) fn for_pane(&self, at: usize) -> PaneColumn {
        let column = PaneColumn::at(at, self.def(), self.width());
        let column = column.titled(self.title().to_owned());
        match self.is_mono() {
            true => column.mono(),
            false => column,
        }
    }

    /// Returns the initial width, in points.
    #[must_use]
    fn width(&self) -> f32 {
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
    fn is_mono(&self) -> bool {
        !matches!(
            self,
            Column::Thread | Column::Process | Column::Event | Column::Category
        )
    }

    /// Returns the position of the column among the others.
    #[must_use]
    pub(crate) fn order(&self) -> usize {
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
pub(super) struct Line {
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
    pub(super) fn read(loaded: &LoadedTrace, id: EventId, before: Option<Timestamp>) -> Line {
        let trace = &loaded.trace;
        let detail = describe(trace, loaded.reader.as_ref(), id);
        let thread = trace.events.thread(id);
        let name = if thread == Some(ThreadId::IDLE) {
            "idle".to_owned()
        } else {
            trace.thread_name(thread).into_owned()
        };
        let process = trace.process_of(thread);
        let time = trace.events.time(id);
        Line {
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

    /// Returns the cell of a column: times in ns on the trace's own clock.
    #[must_use]
    pub(crate) fn cell(&self, column: &Column) -> Cell<'_> {
        match column {
            Column::Time => self.time.into(),
            Column::Since => self.since.into(),
            Column::Cpu => self.cpu.as_str().into(),
            Column::Thread => self.thread.as_str().into(),
            Column::Process => self.process.as_str().into(),
            Column::Event => self.name.as_str().into(),
            Column::Category => self.category.as_str().into(),
            Column::Text => self.text.as_str().into(),
            Column::Field(name) => {
                let field = self.fields.iter().find(|(field, _)| field == name);
                field.map_or("", |(_, value)| value.as_str()).into()
            }
        }
    }
}
