//! What the user had plotted: which events, and which of their numbers.

use serde::{Deserialize, Serialize};

/// A series of numbers made of events (or of slices). Its samples are those of a counter: the last counter tracks of a
/// trace are its plots, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Plot {
    /// Which events: the name of a kind, or an expression.
    pub filter: String,
    /// Which number: an argument by its name, or one of [`MEASURES`].
    pub field: String,
}

/// What can be plotted of events and slices besides their arguments.
pub const MEASURES: [(&str, &str); 3] = [
    ("$dur", "How long each slice took, in ns"),
    ("$gap", "The time since the one before, in ns"),
    ("$count", "How many there were up to then"),
];

impl Plot {
    /// What its track is called unless the user says otherwise.
    #[must_use]
    pub fn title(&self) -> String {
        let filter = self.filter.trim().trim_end_matches(':');
        match self.field.as_str() {
            "$dur" => format!("duration of {filter}, ns"),
            "$gap" => format!("time between {filter}, ns"),
            "$count" => format!("number of {filter}"),
            field => format!("{field} of {filter}"),
        }
    }
}
