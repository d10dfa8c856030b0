//! Details as sections of rows, and rows that many kinds of items share.

use crate::base::{Nanos, Timestamp};
use crate::query::item::Item;
use crate::trace::{ThreadId, Trace};

/// An item in full.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// The item's name.
    pub title: String,
    /// The item's type and category, e.g. `slice · raw_syscalls`.
    pub subtitle: String,
    /// The item's facts, in groups.
    pub sections: Vec<Section>,
}

/// A group of facts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// The group's heading; empty for the first group.
    pub title: String,
    /// The facts.
    pub rows: Vec<DetailRow>,
}

/// A fact.
#[derive(Clone, Debug, PartialEq)]
pub struct DetailRow {
    /// The fact's name.
    pub name: String,
    /// The fact's value as text.
    pub value: String,
    /// The item to which the fact links.
    pub link: Option<Item>,
}

impl Details {
    /// Returns all facts as text, one per line.
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

/// Adds the process of a thread, if it is known, and how its file was placed on the axis, if the file is only aligned.
pub(super) fn process_row(facts: &mut Section, trace: &Trace, thread: ThreadId) {
    if let (Some(process), Some(id)) = (trace.process_of(thread), trace.thread(thread).process) {
        let text = format!("{} ({})", trace.text(process.name), process.pid);
        facts.link("process", text, Item::Process(id));
    }
    let source = trace.source_of(thread.0, |source| &source.threads);
    let source = source.and_then(|id| trace.sources.get(id.0 as usize));
    if let Some(source) = source.filter(|source| source.is_aligned()) {
        facts.row("placed", source.evidence.as_str());
    }
}

/// The name and number of a thread.
pub(super) fn thread_text(trace: &Trace, id: impl Into<Option<ThreadId>>) -> String {
    let id = id.into();
    format!("{} ({})", trace.thread_name(id), trace.thread(id).tid)
}

/// Returns a time since the trace's start, followed by the time on the trace's own clock.
pub(super) fn trace_time(trace: &Trace, time: Timestamp) -> String {
    trace.info.clock_unit.time_text(time, trace.span.start)
}

/// A length of time in the unit of the trace's clock.
pub(super) fn length_text(trace: &Trace, length: Nanos) -> String {
    trace.info.clock_unit.length_text(length)
}
