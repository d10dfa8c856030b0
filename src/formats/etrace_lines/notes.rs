//! Diagnostics of lines that several threads read: the result is the same as if one thread had read all lines in time
//! order.

use crate::base::diagnostic::Diagnostic;
use crate::base::{Diagnostics, Location, Severity};

/// Time (ns) and place (byte offset) of a line. Lines are read in this order.
pub(super) type Moment = (i64, u64);

/// Diagnostics that are not sorted yet, of a few codes.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<Note>);

/// When a problem was noted, and the byte offset of the line to report. Ordered as lines are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Noted {
    at: Moment,
    place: u64,
}

/// The diagnostics of one code.
#[derive(Debug)]
struct Note {
    code: &'static str,
    severity: Severity,
    count: u64,
    /// The moments of the first diagnostics, and the places that they report; sorted, at most [`Diagnostic::MAX_PLACES`].
    first: Vec<Noted>,
    /// Message of the first diagnostic.
    message: String,
}

/// The subject of a diagnostic.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    /// The line that shows the problem.
    pub at: Moment,
    /// Byte offset of the line to report.
    pub place: u64,
    /// How often the problem happened there.
    pub count: u64,
}

impl Notes {
    /// Adds a diagnostic. `message` is called only if the diagnostic is the first of its code so far.
    #[cold]
    pub(super) fn add(
        &mut self,
        code: &'static str,
        severity: Severity,
        about: About,
        message: impl FnOnce() -> String,
    ) {
        let first = Noted {
            at: about.at,
            place: about.place,
        };
        match self.0.iter_mut().find(|note| note.code == code) {
            Some(note) => {
                note.count = note.count.saturating_add(about.count);
                if note.first.first().is_none_or(|earliest| first < *earliest) {
                    note.message = message();
                }
                note.insert(first);
            }
            None => self.0.push(Note {
                code,
                severity,
                count: about.count,
                first: vec![first],
                message: message(),
            }),
        }
    }

    /// Adds the diagnostics that were noted elsewhere.
    pub(super) fn append(&mut self, other: Notes) {
        for theirs in other.0 {
            match self.0.iter_mut().find(|note| note.code == theirs.code) {
                Some(note) => {
                    note.count = note.count.saturating_add(theirs.count);
                    if theirs.first.first() < note.first.first() {
                        note.message = theirs.message;
                    }
                    for first in theirs.first {
                        note.insert(first);
                    }
                }
                None => self.0.push(theirs),
            }
        }
    }

    /// Returns the diagnostics in the order in which their codes first occurred. `location` maps places.
    pub(super) fn in_order(mut self, location: impl Fn(u64) -> Option<Location>) -> Diagnostics {
        self.0.sort_by(|a, b| a.first.first().cmp(&b.first.first()));
        let mut diagnostics = Diagnostics::default();
        for note in self.0 {
            let mut left = note.count;
            for (number, &Noted { place, .. }) in (1..).zip(&note.first) {
                let count = match number == note.first.len() {
                    true => left,
                    false => left.min(1),
                };
                left -= count;
                let at = location(place);
                let message = || note.message.clone();
                diagnostics.note_many(note.code, note.severity, at, count, message);
            }
        }
        diagnostics
    }
}

impl Note {
    fn insert(&mut self, first: Noted) {
        let at = self.first.partition_point(|known| *known <= first);
        if at < Diagnostic::MAX_PLACES {
            self.first.insert(at, first);
            self.first.truncate(Diagnostic::MAX_PLACES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_in_time_are_kept_whoever_noted_them() {
        let note = |notes: &mut Notes, code, time: i64| {
            let about = About {
                at: (time, 0),
                place: time as u64,
                count: 1,
            };
            notes.add(code, Severity::Error, about, || format!("at {time}"));
        };
        let (mut one, mut other) = (Notes::default(), Notes::default());
        for time in (0..20).rev() {
            note(&mut one, "odd", 2 * time + 1);
            note(&mut other, "odd", 2 * time + 4);
        }
        note(&mut other, "first", 0);
        one.append(other);
        let all = one.in_order(|place| Some(Location::Byte(place)));
        let [first, odd] = all.rows() else {
            panic!("{all:?}")
        };
        assert_eq!((&*first.code, &*odd.code, odd.count), ("first", "odd", 40));
        let places: Vec<Location> = [1, 3, 4, 5, 6, 7, 8, 9].map(Location::Byte).to_vec();
        assert_eq!((&odd.places, odd.message.as_str()), (&places, "at 1"));
    }
}
