//! Details as sections of rows, and what rows about many kinds of items have in common.

use crate::base::{Nanos, Timestamp};
use crate::query::item::Item;
use crate::trace::{ThreadId, Trace};

/// An item in full.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// What it is called.
    pub title: String,
    /// What sort of thing it is, e.g. `slice · raw_syscalls`.
    pub subtitle: String,
    /// Its facts, in groups.
    pub sections: Vec<Section>,
}

/// A group of facts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Its heading; empty for the first.
    pub title: String,
    /// The facts.
    pub rows: Vec<DetailRow>,
}

/// A fact.
#[derive(Clone, Debug, PartialEq)]
pub struct DetailRow {
    /// Its name.
    pub name: String,
    /// Its value as text.
    pub value: String,
    /// What it points to.
    pub link: Option<Item>,
}

impl Details {
    /// All of it as text, a fact a line.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{} ({})\n", self.title, self.subtitle);
        for section in &self.sections {
            if !section.title.is_empty() {
                text.push_str(&format!("\n{}\n", section.title));
            }
            for row in &section.rows {
                text.push_str(&format!("{}\t{}\n", row.name, row.value));
            }
        }
        text
    }
}

impl Section {
    pub(super) fn new(title: &str) -> Section {
        Section {
            title: title.to_owned(),
            rows: Vec::new(),
        }
    }

    pub(super) fn row(&mut self, name: &str, value: impl Into<String>) -> &mut Section {
        self.rows.push(DetailRow {
            name: name.to_owned(),
            value: value.into(),
            link: None,
        });
        self
    }

    pub(super) fn link(
        &mut self,
        name: &str,
        value: impl Into<String>,
        item: Item,
    ) -> &mut Section {
        self.rows.push(DetailRow {
            name: name.to_owned(),
            value: value.into(),
            link: Some(item),
        });
        self
    }
}

/// Adds the process of a thread, if it is known.
pub(super) fn process_row(facts: &mut Section, trace: &Trace, thread: ThreadId) {
    if let (Some(process), Some(id)) = (trace.process_of(thread), trace.thread(thread).process) {
        let text = format!("{} ({})", trace.text(process.name), process.pid);
        facts.link("process", text, Item::Process(id));
    }
}

/// The name and number of a thread.
pub(super) fn thread_text(trace: &Trace, id: ThreadId) -> String {
    format!("{} ({})", trace.thread_name(id), trace.thread(id).tid)
}

/// A time as since the trace's start, with the trace's own clock behind it.
pub(super) fn trace_time(trace: &Trace, time: Timestamp) -> String {
    trace.info.clock_unit.time_text(time, trace.span.start)
}

/// A length of time in the unit of the trace's clock.
pub(super) fn length_text(trace: &Trace, length: Nanos) -> String {
    trace.info.clock_unit.length_text(length)
}
