//! Where a search looks: a set of kinds of things.

use crate::query::expression::{Expression, Field};

/// A kind of thing that can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Place {
    /// Processes, by name, number and command line.
    Processes,
    /// Threads, by name and number.
    Threads,
    /// Tracks and counters, by name.
    Tracks,
    /// Slices.
    Slices,
    /// Raw events.
    Events,
    /// Points on tracks: the events that are shown as such.
    Instants,
    /// Flows.
    Flows,
    /// Log messages.
    Logs,
    /// States of threads.
    States,
    /// Runs on CPUs.
    Runs,
    /// Where events were lost.
    Gaps,
}

impl Place {
    /// All of them, with the words for them.
    pub const ALL: [(Place, &'static str); 11] = [
        (Place::Processes, "processes"),
        (Place::Threads, "threads"),
        (Place::Tracks, "tracks"),
        (Place::Slices, "slices"),
        (Place::Events, "events"),
        (Place::Instants, "instants"),
        (Place::Flows, "flows"),
        (Place::Logs, "logs"),
        (Place::States, "states"),
        (Place::Runs, "runs"),
        (Place::Gaps, "gaps"),
    ];

    /// The place of that word.
    #[must_use]
    pub(crate) fn named(word: &str) -> Option<Place> {
        let found = Place::ALL.iter().find(|(_, name)| *name == word);
        found.map(|(place, _)| *place)
    }
}

/// A set of places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places(u16);

impl Places {
    /// Where a user expects `expression` to look: everywhere, each thing once. Instants and log messages are
    /// found as events; states only where the expression asks for states or durations, runs where it asks for durations.
    #[must_use]
    pub(crate) fn usual(expression: &Expression) -> Places {
        let usual = [
            Place::Processes,
            Place::Threads,
            Place::Tracks,
            Place::Slices,
            Place::Events,
            Place::Flows,
            Place::Gaps,
        ];
        let places = Places::of(&usual);
        if expression.mentions(&Field::Duration) {
            places.with(Place::States).with(Place::Runs)
        } else if expression.mentions(&Field::State) {
            places.with(Place::States)
        } else {
            places
        }
    }

    /// Whether a thread, process or track that `expression` finds is meant with all that lies on it: it was found by
    /// what it is, not by when or for how long.
    #[must_use]
    pub(crate) fn means_whole(expression: &Expression) -> bool {
        let of_one = [Field::Duration, Field::Time, Field::Depth, Field::State];
        !of_one.iter().any(|field| expression.mentions(field))
    }

    /// Exactly these.
    #[must_use]
    pub fn of(places: &[Place]) -> Places {
        places
            .iter()
            .fold(Places::default(), |set, place| set.with(*place))
    }

    /// These and one more.
    #[must_use]
    pub fn with(self, place: Place) -> Places {
        Places(self.0 | 1 << place as u8)
    }

    /// Whether `place` is one of them.
    #[must_use]
    pub fn has(self, place: Place) -> bool {
        self.0 >> place as u8 & 1 != 0
    }
}
