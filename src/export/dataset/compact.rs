//! Joining the parts of a bucket, and leaving traces out of parts.

use std::collections::BTreeMap;

use super::manifest::{Manifest, PartEntry, TraceRows};
use super::parts::{MadePart, Workshop};
use super::stored::sorted_by;
use super::{DataSet, SetError, at};
use crate::base::Job;
use crate::export::parquet::layout::StoredColumn;
use crate::export::parquet::merged::{Stretch, columns_of};

/// The result of compacting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Compacted {
    /// Parts before.
    pub before: usize,
    /// Parts after.
    pub after: usize,
}

/// The rows of a trace in a part.
struct Source<'m> {
    trace: &'m str,
    stretch: Stretch,
}

impl DataSet {
    /// Joins the parts of each table, date and bucket into one. Readers of the manifest see the old parts or the new ones.
    ///
    /// # Errors
    /// Errors of the system; then the data set is as it was.
    pub(crate) fn compact(&self, job: &Job) -> Result<Compacted, SetError> {
        let lock = self.lock()?;
        let manifest = self.manifest()?;
        self.sweep(&lock, &manifest);
        let workshop = Workshop::new(self, &lock)?;
        let mut buckets: BTreeMap<(&str, &str, u32), Vec<&PartEntry>> = BTreeMap::new();
        for part in &manifest.parts {
            let bucket = (part.table.as_str(), part.date.as_str(), part.bucket);
            buckets.entry(bucket).or_default().push(part);
        }
        job.add_total(buckets.len() as u64);
        let (mut kept, mut made) = (Vec::new(), Vec::new());
        for parts in buckets.into_values() {
            for parts in self.alike(parts)? {
                match parts.parts.as_slice() {
                    [one] => kept.push((*one).clone()),
                    several => {
                        made.extend(self.joined(&workshop, several, &parts.columns, &[], job)?)
                    }
                }
            }
            job.advance(1);
        }
        let done = Compacted {
            before: manifest.parts.len(),
            after: kept.len() + made.len(),
        };
        self.place(&lock, &made)?;
        let parts = kept
            .into_iter()
            .chain(made.into_iter().map(|part| part.entry));
        let next = Manifest {
            parts: parts.collect(),
            ..manifest.clone()
        };
        self.write_manifest(&lock, &next)?;
        self.sweep(&lock, &next);
        Ok(done)
    }

    /// Groups parts by their columns: kinds of events may have other fields in other traces.
    fn alike<'m>(&self, parts: Vec<&'m PartEntry>) -> Result<Vec<Alike<'m>>, SetError> {
        let mut groups: Vec<Alike<'m>> = Vec::new();
        for part in parts {
            let path = self.path_of(part);
            let columns = columns_of(&path).map_err(at(&path))?;
            let types = |columns: &[StoredColumn]| -> Vec<_> {
                let types = columns
                    .iter()
                    .map(|column| (column.name.clone(), column.form));
                types.collect()
            };
            let is_it = |group: &&mut Alike<'_>| types(&group.columns) == types(&columns);
            match groups.iter_mut().find(is_it) {
                Some(group) => group.parts.push(part),
                None => groups.push(Alike {
                    columns,
                    parts: vec![part],
                }),
            }
        }
        Ok(groups)
    }

    /// Makes one part of several, without the rows of the traces in `without`; `None` if no row is left.
    fn joined(
        &self,
        workshop: &Workshop,
        parts: &[&PartEntry],
        columns: &[StoredColumn],
        without: &[&str],
        job: &Job,
    ) -> Result<Option<MadePart>, SetError> {
        let Some(first) = parts.first() else {
            return Ok(None);
        };
        let mut sources = Vec::new();
        for part in parts {
            let mut before = 0;
            for rows in &part.rows {
                let stretch = Stretch {
                    path: self.path_of(part),
                    first: before,
                    rows: rows.count,
                };
                before += rows.count;
                if !without.contains(&rows.trace.as_str()) {
                    let trace = &rows.trace;
                    sources.push(Source { trace, stretch });
                }
            }
        }
        if sources.is_empty() {
            return Ok(None);
        }
        sources.sort_by(|a, b| a.trace.cmp(b.trace));
        let rows = sources.iter().map(|source| TraceRows {
            trace: source.trace.to_owned(),
            count: source.stretch.rows,
        });
        let entry = PartEntry {
            rows: rows.collect(),
            ..(*first).clone()
        };
        let stretches: Vec<Stretch> = sources.into_iter().map(|it| it.stretch).collect();
        let sorted = sorted_by(columns);
        let (part, _) = workshop.make(columns, &sorted, entry, |file| {
            file.append_stretches(&stretches, job)
        })?;
        Ok(Some(part))
    }

    /// Returns the part without some traces; `None` if no row is left.
    pub(super) fn without(
        &self,
        workshop: &Workshop,
        part: &PartEntry,
        traces: &[&str],
        job: &Job,
    ) -> Result<Option<MadePart>, SetError> {
        let path = self.path_of(part);
        let is_empty = part
            .rows
            .iter()
            .all(|rows| traces.contains(&rows.trace.as_str()));
        if is_empty {
            return Ok(None);
        }
        let columns = columns_of(&path).map_err(at(&path))?;
        self.joined(workshop, &[part], &columns, traces, job)
    }
}

/// Parts with the same columns.
struct Alike<'m> {
    columns: Vec<StoredColumn>,
    parts: Vec<&'m PartEntry>,
}
