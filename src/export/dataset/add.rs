//! Adding traces to a data set.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

use super::event_table::{EVENT_TABLE, WantedEvents, event_tables};
use super::manifest::{Manifest, PartEntry, TraceEntry, TraceRows, UNKNOWN};
use super::parts::{MadePart, Workshop};
use super::stored::{SetTable, StoredRows, tables};
use super::{DataSet, SetError, at};
use crate::base::Job;
use crate::base::calendar::date_text;
use crate::base::fingerprint::{Fingerprint, digits};
use crate::base::strings::exact_text;
use crate::export::{Chosen, Selection, check_input};
use crate::load::LoadedTrace;
use crate::tables::recordings::{
    RECORDING, RECORDING_LABEL, label_rows, recording_rows, wall_start_ns,
};
use crate::tables::{Audience, Scope};

/// The data that is stored for each trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddOptions {
    /// The tables, by their names in data sets; empty: the usual ones.
    pub tables: Vec<String>,
    /// The kinds of events that get a table of their own.
    pub events: Vec<WantedEvents>,
    /// Labels of the traces.
    pub labels: BTreeMap<String, String>,
}

impl AddOptions {
    /// Returns what a question in SQL needs: the usual tables, and those on request that it names.
    #[must_use]
    pub(crate) fn for_question(question: &str) -> AddOptions {
        let is_part_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        // SQL names ignore case.
        let question = question.to_ascii_lowercase();
        let words: Vec<&str> = question.split(|c| !is_part_of_name(c)).collect();
        let is_wanted = |table: &SetTable| table.is_usual() || words.contains(&table.name);
        let events = words.iter().filter(|word| word.starts_with(EVENT_TABLE));
        let events = events.map(|table| WantedEvents::Table((*table).to_owned()));
        let events: BTreeSet<WantedEvents> = events.collect();
        AddOptions {
            tables: tables()
                .filter(is_wanted)
                .map(|table| table.name.to_owned())
                .collect(),
            events: events.into_iter().collect(),
            ..AddOptions::default()
        }
    }

    fn has(&self, table: &SetTable) -> bool {
        match self.tables.is_empty() {
            true => table.is_usual(),
            false => self.tables.iter().any(|name| name == table.name),
        }
    }
}

/// A trace whose parts have been written, but are not live yet.
#[derive(Debug)]
struct Converted {
    id: String,
    entry: TraceEntry,
    parts: Vec<MadePart>,
}

/// The result of adding a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Added {
    /// Its id.
    pub id: String,
    /// The rows of all its tables.
    pub rows: u64,
    /// The bytes of all its parts.
    pub bytes: u64,
    /// Sentences for the user.
    pub notes: Vec<String>,
}

/// Adds traces to a data set; those that were converted become live together.
#[derive(Debug)]
pub(crate) struct Adder<'s> {
    set: &'s DataSet,
    options: &'s AddOptions,
    workshop: Workshop,
    buckets: u32,
    waiting: Vec<Converted>,
    /// The traces that became live.
    live: usize,
}

impl<'s> Adder<'s> {
    /// Begins adding.
    ///
    /// # Errors
    /// Errors of the system.
    pub(crate) fn new(set: &'s DataSet, options: &'s AddOptions) -> Result<Adder<'s>, SetError> {
        let lock = set.lock()?;
        Ok(Adder {
            set,
            options,
            workshop: Workshop::new(set, &lock)?,
            buckets: set.manifest()?.buckets,
            waiting: Vec::new(),
            live: 0,
        })
    }

    /// Converts a trace that was loaded from `path`.
    ///
    /// # Errors
    /// Errors of the system, also if the file changed since it was opened.
    pub(crate) fn add(
        &mut self,
        path: &Path,
        loaded: &LoadedTrace,
        job: &Job,
    ) -> Result<Added, SetError> {
        let (id, size_bytes) = identity(path)?;
        let wall = wall_start_ns(loaded);
        let date = wall.map(|ns| date_text(ns.into()));
        let date = date.filter(|date| date.len() == 10 && !date.starts_with('-'));
        let entry = TraceEntry {
            path: exact_text(path.as_os_str().as_encoded_bytes()).into_owned(),
            format: loaded.trace.info.format.clone(),
            size_bytes,
            date: date.unwrap_or_else(|| UNKNOWN.to_owned()),
            labels: self.options.labels.clone(),
        };
        let mut converted = Converted {
            id,
            entry,
            parts: Vec::new(),
        };
        let selection = Selection::all();
        let scope = Scope {
            loaded,
            chosen: &Chosen::new(&loaded.trace, &selection),
            audience: Audience::Program,
            job,
        };
        let mut notes = Vec::new();
        let all = self.rows(&scope, &converted.id, size_bytes);
        let cancelled = |_| at(path)(std::io::Error::other("cancelled"));
        job.check().map_err(cancelled)?;
        for rows in all {
            if !rows.source.is_empty() {
                let (part, mut said) = self.part(&converted, rows, loaded, job)?;
                converted.parts.push(part);
                notes.append(&mut said);
            }
        }
        check_input(loaded).map_err(|error| at(path)(std::io::Error::other(error)))?;
        let parts = converted.parts.iter();
        let added = Added {
            id: converted.id.clone(),
            rows: parts.clone().map(|part| part.entry.count()).sum(),
            bytes: parts.map(|part| part.entry.size_bytes).sum(),
            notes,
        };
        self.waiting.push(converted);
        // Each commit rewrites the whole manifest: the more traces it contains, the more are added per commit.
        if self.waiting.len() >= 16.max(self.live / 8) {
            self.commit(job)?;
        }
        Ok(added)
    }

    /// Returns the rows of all tables that are wanted.
    fn rows(&self, scope: &Scope<'_>, id: &str, size_bytes: u64) -> Vec<StoredRows> {
        let options = self.options;
        let wanted = tables().filter(|table| options.has(table));
        let mut all = Vec::new();
        for table in wanted {
            if table.name == RECORDING.stored.map_or("", |stored| stored.name) {
                let rows = Box::new(recording_rows(scope.loaded, size_bytes));
                all.push(StoredRows::new(table, rows, id));
            } else if table.name == RECORDING_LABEL.stored.map_or("", |stored| stored.name) {
                let rows = Box::new(label_rows(scope.loaded, &options.labels));
                all.push(StoredRows::new(table, rows, id));
            } else {
                all.extend(StoredRows::of(table, scope, id));
            }
        }
        all.extend(event_tables(scope.loaded, &options.events, id));
        all
    }

    fn part(
        &self,
        of: &Converted,
        rows: StoredRows,
        loaded: &LoadedTrace,
        job: &Job,
    ) -> Result<(MadePart, Vec<String>), SetError> {
        let rows = rows.in_order_of_time(loaded);
        let number = u64::from_str_radix(&of.id, 16).unwrap_or(0);
        let entry = PartEntry {
            table: rows.table,
            date: of.entry.date.clone(),
            bucket: (number % u64::from(self.buckets)) as u32,
            hash: String::new(),
            size_bytes: 0,
            rows: vec![TraceRows {
                trace: of.id.clone(),
                count: rows.source.len() as u64,
            }],
        };
        let table = entry.table.clone();
        let note = rows.note;
        let (part, written) = self
            .workshop
            .make(&rows.columns, &rows.sorted, entry, |file| {
                file.append(rows.source.as_ref(), loaded, job)
            })?;
        let unfit = rows.columns.iter().zip(written.unfit);
        let notes = unfit
            .filter(|(_, count)| *count > 0)
            .map(|(column, count)| {
                let name = &column.name;
                format!("{count} values of {table}.{name} do not fit into its type: they are NULL")
            });
        Ok((part, note.into_iter().chain(notes).collect()))
    }

    /// Returns how many traces are converted, but not live.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Makes the traces that were converted live.
    ///
    /// # Errors
    /// Errors of the system; then the data set is as it was.
    pub(crate) fn commit(&mut self, job: &Job) -> Result<(), SetError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let lock = self.set.lock()?;
        let manifest = self.set.manifest()?;
        self.set.sweep(&lock, &manifest);
        let new = std::mem::take(&mut self.waiting);
        // If two files have the same contents (and so the same id), the last one is used.
        let new: BTreeMap<String, Converted> =
            new.into_iter().map(|it| (it.id.clone(), it)).collect();
        let ids: Vec<&str> = new.keys().map(String::as_str).collect();
        let Manifest {
            mut traces, parts, ..
        } = manifest.clone();
        let mut next = Vec::new();
        for part in parts {
            let is_replaced = part.rows.iter().any(|rows| new.contains_key(&rows.trace));
            if !is_replaced {
                next.push(part);
                continue;
            }
            let rest = self.set.without(&self.workshop, &part, &ids, job)?;
            if let Some(rest) = rest {
                self.set.place(&lock, std::slice::from_ref(&rest))?;
                next.push(rest.entry);
            }
        }
        self.live = traces.len() + new.len();
        for (id, converted) in new {
            self.set.place(&lock, &converted.parts)?;
            next.extend(converted.parts.into_iter().map(|part| part.entry));
            traces.insert(id, converted.entry);
        }
        let next = Manifest {
            traces,
            parts: next,
            ..manifest
        };
        self.set.write_manifest(&lock, &next)?;
        self.set.sweep(&lock, &next);
        Ok(())
    }
}

/// Returns a trace's id and the size of its file.
fn identity(path: &Path) -> Result<(String, u64), SetError> {
    let read = || -> std::io::Result<(String, u64)> {
        let file = File::open(path)?;
        let size_bytes = file.metadata()?.len();
        let mut fingerprint = Fingerprint::default();
        fingerprint.add_all(file)?;
        Ok((digits(fingerprint.finish()), size_bytes))
    };
    read().map_err(at(path))
}

/// Returns the names of tables that data sets do not have.
pub(crate) fn unknown_tables(names: &[String]) -> Vec<String> {
    let is_known = |name: &String| tables().any(|table| table.name == *name);
    names
        .iter()
        .filter(|name| !is_known(name))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_tables_in_any_case() {
        let options =
            AddOptions::for_question("SELECT * FROM ARGS, Event_Major_GC, event_major_gc");
        assert!(options.tables.iter().any(|name| name == "args"));
        let wanted = WantedEvents::Table("event_major_gc".to_owned());
        assert_eq!(options.events, [wanted]);
        assert!(
            !AddOptions::for_question("SELECT 1")
                .tables
                .iter()
                .any(|name| name == "args")
        );
    }
}
