//! The manifest of a data set: which parts are live, and the properties of each trace. It is read and replaced as a
//! whole.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{DataSet, SetError, SetLock, at};
use crate::base::atomic_file::{Overwrite, write_whole};
use crate::base::calendar::days_since_1970;

/// The file's name.
pub(super) const NAME: &str = "manifest.json";

/// The version of the layout and of the tables: parts of different versions are not read together.
const VERSION: u32 = 1;

/// The date of traces whose start is not recorded.
pub(super) const UNKNOWN: &str = "unknown";

/// The most buckets.
pub(crate) const MOST_BUCKETS: u32 = 1000;

/// The contents of a data set.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Manifest {
    /// The version of the layout.
    pub(super) threadline_data_set: u32,
    /// The number of buckets.
    pub buckets: u32,
    /// The traces, by id.
    pub traces: BTreeMap<String, TraceEntry>,
    /// The live parts.
    pub parts: Vec<PartEntry>,
}

/// A trace of a data set.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct TraceEntry {
    /// The path from which it was read.
    pub path: String,
    /// Its format.
    pub format: String,
    /// The size of its file.
    pub size_bytes: u64,
    /// Its date, or `unknown`.
    pub date: String,
    /// The labels that the user gave it.
    pub labels: BTreeMap<String, String>,
}

/// A part: rows of one table.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct PartEntry {
    /// The table.
    pub table: String,
    /// The date of its traces.
    pub date: String,
    /// The bucket of its traces.
    pub bucket: u32,
    /// The hash in its file name.
    pub hash: String,
    /// Its size.
    pub size_bytes: u64,
    /// The number of rows of each trace, in the order of the rows.
    pub rows: Vec<TraceRows>,
}

/// The rows of a trace in a part.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct TraceRows {
    /// The trace's id.
    pub trace: String,
    /// The number of rows.
    pub count: u64,
}

impl Manifest {
    pub(super) fn new(buckets: u32) -> Manifest {
        Manifest {
            threadline_data_set: VERSION,
            buckets,
            traces: BTreeMap::new(),
            parts: Vec::new(),
        }
    }

    /// Returns the reason why a manifest that was read is invalid; paths in it must not lead out of the data set's
    /// folder.
    fn fault(&self) -> Option<String> {
        if self.threadline_data_set != VERSION {
            let version = self.threadline_data_set;
            return Some(format!(
                "a data set of version {version}, this program has version {VERSION}"
            ));
        }
        if !(1..=MOST_BUCKETS).contains(&self.buckets) {
            return Some("no number of buckets".to_owned());
        }
        let is_sound = |part: &PartEntry| {
            is_table(&part.table)
                && is_date(&part.date)
                && part.bucket < self.buckets
                && is_hash(&part.hash)
        };
        let all = self.parts.iter().all(is_sound) && self.traces.keys().all(|id| is_hash(id));
        (!all).then(|| "the manifest is damaged".to_owned())
    }
}

impl PartEntry {
    /// Returns the path below the data set's folder.
    pub(super) fn path(&self) -> PathBuf {
        let PartEntry {
            table,
            date,
            bucket,
            hash,
            ..
        } = self;
        let folder = Path::new(table).join(format!("date={date}"));
        let folder = folder.join(format!("bucket={bucket:03}"));
        folder.join(format!("part-{hash}.parquet"))
    }

    /// Returns the number of rows.
    pub(crate) fn count(&self) -> u64 {
        self.rows.iter().map(|rows| rows.count).sum()
    }
}

/// Returns whether a text is a table's name: letters, digits and underscores, and no longer than folders may be.
pub(super) fn is_table(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    (1..=200).contains(&name.len()) && name.chars().all(fits)
}

fn is_date(date: &str) -> bool {
    date == UNKNOWN || days_since_1970(date).is_some()
}

fn is_hash(text: &str) -> bool {
    text.len() == 16
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl DataSet {
    /// Reads the manifest.
    ///
    /// # Errors
    /// [`SetError::Missing`] if there is none; [`SetError::Damaged`] if it is not sound.
    pub(crate) fn manifest(&self) -> Result<Manifest, SetError> {
        let path = self.folder().join(NAME);
        let bytes = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(SetError::Missing(self.folder().to_path_buf()));
            }
            bytes => bytes.map_err(at(&path))?,
        };
        let damaged = |why: String| SetError::Damaged {
            path: path.clone(),
            why,
        };
        let manifest: Manifest = serde_json::from_slice(&bytes)
            .map_err(|error| damaged(format!("the manifest is damaged ({error})")))?;
        match manifest.fault() {
            Some(why) => Err(damaged(why)),
            None => Ok(manifest),
        }
    }

    /// Replaces the manifest at once.
    pub(super) fn write_manifest(
        &self,
        _lock: &SetLock,
        manifest: &Manifest,
    ) -> Result<(), SetError> {
        let path = self.folder().join(NAME);
        let written = write_whole(&path, Overwrite::Replace, |out| {
            serde_json::to_writer(out, manifest).map_err(|error| {
                SetError::from(crate::base::atomic_file::FileError::Io(error.into()))
            })
        });
        written.map_err(|error| match error {
            SetError::Io { error, .. } => SetError::Io { path, error },
            other => other,
        })
    }

    /// Returns the path of a part.
    pub(crate) fn path_of(&self, part: &PartEntry) -> PathBuf {
        self.folder().join(part.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_manifest_leads_out_of_the_folder() {
        let part = |table: &str, date: &str, hash: &str| {
            let mut manifest = Manifest::new(16);
            manifest.parts.push(PartEntry {
                table: table.to_owned(),
                date: date.to_owned(),
                bucket: 3,
                hash: hash.to_owned(),
                size_bytes: 0,
                rows: Vec::new(),
            });
            manifest.fault().is_none()
        };
        let hash = "0123456789abcdef";
        assert!(part("slice", "2026-11-27", hash) && part("slice", UNKNOWN, hash));
        for table in ["../slice", "", "a/b", "A", ".x", "a b"] {
            assert!(!part(table, UNKNOWN, hash), "{table}");
        }
        for date in ["..", "2026-13-01", "../../x", ""] {
            assert!(!part("slice", date, hash), "{date}");
        }
        assert!(!part("slice", UNKNOWN, "../../0123456789") && !part("slice", UNKNOWN, "ab"));
        assert!(Manifest::new(0).fault().is_some());
    }
}
