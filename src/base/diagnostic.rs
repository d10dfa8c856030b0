//! Diagnostics: what is missing or unusual in a trace that can still be shown, collected as values.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

use super::error::Location;

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing is lost, but the user should know it.
    Info,
    /// Something in the file is wrong and was skipped or repaired.
    Error,
    /// The recorder lost events: they are missing from the trace.
    DataLoss,
}

/// One kind of problem: how often it happened and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// A short fixed name, e.g. `unmatched_end`; users and tests rely on it.
    pub code: Cow<'static, str>,
    /// How severe the problem is.
    pub severity: Severity,
    /// How often the problem happened.
    pub count: u64,
    /// Where it happened first, at most [`Diagnostic::MAX_PLACES`] places.
    pub places: Vec<Location>,
    /// A plain sentence about the first time it happened.
    pub message: String,
}

impl Diagnostic {
    /// How many places a diagnostic keeps; the rest are only counted.
    pub(crate) const MAX_PLACES: usize = 8;
}

/// The diagnostics of a lane or of a whole trace: one row per code, in the order in which the codes first occurred.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostics {
    rows: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Counts one occurrence of `code` at `at`. `message` is called only for the first occurrence.
    pub(crate) fn note(
        &mut self,
        code: &'static str,
        severity: Severity,
        at: Location,
        message: impl FnOnce() -> String,
    ) {
        self.note_many(code, severity, Some(at), 1, message);
    }

    /// Counts `count` occurrences of `code`; `at` is the place of the first, if known.
    pub(crate) fn note_many(
        &mut self,
        code: &'static str,
        severity: Severity,
        at: Option<Location>,
        count: u64,
        message: impl FnOnce() -> String,
    ) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.code == code) {
            row.count = row.count.saturating_add(count);
            if row.places.len() < Diagnostic::MAX_PLACES {
                row.places.extend(at);
            }
        } else {
            self.rows.push(Diagnostic {
                code: code.into(),
                severity,
                count,
                places: at.into_iter().collect(),
                message: message(),
            });
        }
    }

    /// Adds the counts and places of `other` to the rows with the same code; other rows are appended.
    pub(crate) fn merge(&mut self, other: Diagnostics) {
        for theirs in other.rows {
            if let Some(row) = self.rows.iter_mut().find(|row| row.code == theirs.code) {
                row.count = row.count.saturating_add(theirs.count);
                let room = Diagnostic::MAX_PLACES - row.places.len().min(Diagnostic::MAX_PLACES);
                row.places.extend(theirs.places.into_iter().take(room));
            } else {
                self.rows.push(theirs);
            }
        }
    }

    /// Sorts the rows by their first places, for rows that were not noted in file order.
    pub(crate) fn sort_by_place(&mut self) {
        self.rows.sort_by_key(|row| row.places.first().copied());
    }

    /// Adds the diagnostics of another file as separate rows, whose messages start with `name`.
    pub(crate) fn add_named(&mut self, name: &str, other: &Diagnostics) {
        self.rows.extend(other.rows.iter().map(|row| Diagnostic {
            message: format!("{name}: {}", row.message),
            ..row.clone()
        }));
    }

    /// Returns the rows, in the order in which the codes first occurred.
    #[must_use]
    pub fn rows(&self) -> &[Diagnostic] {
        &self.rows
    }

    /// Returns whether there is no diagnostic.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns how often `code` occurred.
    #[must_use]
    pub fn count_of(&self, code: &str) -> u64 {
        self.rows
            .iter()
            .find(|row| row.code == code)
            .map_or(0, |row| row.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_keeps_its_first_places_and_counts_the_rest() {
        let mut all = Diagnostics::default();
        for byte in 0..20 {
            all.note("bad_page", Severity::Error, Location::Byte(byte), || {
                format!("page at {byte}")
            });
        }
        let mut more = Diagnostics::default();
        more.note_many(
            "bad_page",
            Severity::Error,
            Some(Location::Byte(99)),
            5,
            || "later".into(),
        );
        all.merge(more);
        let row = &all.rows()[0];
        assert_eq!(
            (row.count, row.places.len(), row.message.as_str()),
            (25, 8, "page at 0")
        );
    }
}
