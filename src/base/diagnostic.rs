//! What is missing or odd in a trace that can be shown all the same, collected as values.

use serde::Serialize;

use super::error::Location;

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing is lost; worth knowing.
    Info,
    /// Something in the file is wrong and was skipped or repaired.
    Error,
    /// The recorder lost events: the trace has holes.
    DataLoss,
}

/// One kind of trouble: how often and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// A short fixed name, e.g. `unmatched_end`; users and tests rely on it.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// How often it happened.
    pub count: u64,
    /// The first places, at most [`Diagnostic::MAX_PLACES`].
    pub places: Vec<Location>,
    /// A plain sentence about the first time it happened.
    pub message: String,
}

impl Diagnostic {
    /// How many places a diagnostic keeps; the rest are only counted.
    pub const MAX_PLACES: usize = 8;
}

/// The diagnostics of a lane or of a whole trace, one row a code, in the order they first came up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    rows: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Notes that `code` happened at `at`. `message` is asked for only the first time.
    pub fn note(
        &mut self,
        code: &'static str,
        severity: Severity,
        at: Location,
        message: impl FnOnce() -> String,
    ) {
        self.note_many(code, severity, Some(at), 1, message);
    }

    /// Notes that `code` happened `count` times, the first of them at `at` where a place is known.
    pub fn note_many(
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
                code,
                severity,
                count,
                places: at.into_iter().collect(),
                message: message(),
            });
        }
    }

    /// Whether the next place of `code` would be kept: finding out where something is can be work.
    #[must_use]
    pub fn has_room(&self, code: &str) -> bool {
        let row = self.rows.iter().find(|row| row.code == code);
        row.is_none_or(|row| row.places.len() < Diagnostic::MAX_PLACES)
    }

    /// Adds all of `other`, as if it had been noted here after what is here.
    pub fn merge(&mut self, other: Diagnostics) {
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

    /// Adds all of `other` as rows of their own, whose messages begin with `name`: what another file had to say.
    pub fn add_named(&mut self, name: &str, other: &Diagnostics) {
        self.rows.extend(other.rows.iter().map(|row| Diagnostic {
            message: format!("{name}: {}", row.message),
            ..row.clone()
        }));
    }

    /// The rows, in the order they first came up.
    #[must_use]
    pub fn rows(&self) -> &[Diagnostic] {
        &self.rows
    }

    /// Whether nothing was noted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How often `code` was noted.
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
            assert_eq!(all.has_room("bad_page"), byte < 8);
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
