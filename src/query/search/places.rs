//! The kinds of items among which a search looks.

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
    /// Points on tracks: the events that are drawn as points.
    Instants,
    /// Flows.
    Flows,
    /// Log messages.
    Logs,
    /// States of threads.
    States,
    /// Runs on CPUs.
    Runs,
    /// Gaps, in which events were lost.
    Gaps,
}

impl Place {
    /// All places with their names.
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

    /// Returns the place with this name.
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
    /// Returns the places in which a user expects results of `expression`: everywhere, each item once. Instants and log
    /// messages are found as events; states only if the expression is about states or durations, runs only if it is
    /// about durations.
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

    /// Returns whether a thread, process or track that `expression` matches is found together with everything on it:
    /// this is so if it matches by its name or number, not by its time or duration.
    #[must_use]
    pub(crate) fn means_whole(expression: &Expression) -> bool {
        let of_one = [Field::Duration, Field::Time, Field::Depth, Field::State];
        !of_one.iter().any(|field| expression.mentions(field))
    }

    /// Returns a set of exactly these places.
    #[must_use]
    pub fn of(places: &[Place]) -> Places {
        places
            .iter()
            .fold(Places::default(), |set, place| set.with(*place))
    }

    /// Returns these places and one more.
    #[must_use]
    pub fn with(self, place: Place) -> Places {
        Places(self.0 | 1 << place as u8)
    }

    /// Returns whether the set contains `place`.
    #[must_use]
    pub fn has(self, place: Place) -> bool {
        self.0 >> place as u8 & 1 != 0
    }
}
