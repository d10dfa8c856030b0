//! Plots that the user made: which events, and which of their numbers.

use serde::{Deserialize, Serialize};

/// A plot: a series of numbers made of events or slices, stored as a counter's samples. The last counter tracks of a
/// trace are its plots, in the order of [`Trace::plots`](super::Trace::plots).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Plot {
    /// The events: the name of a kind, or an expression.
    pub filter: String,
    /// The number: an argument by its name, or one of [`MEASURES`].
    pub field: String,
}

/// Numbers of events and slices that can be plotted besides arguments: (name, meaning).
pub(crate) const MEASURES: [(&str, &str); 3] = [
    ("$dur", "How long each slice took, in ns"),
    ("$gap", "The time since the one before, in ns"),
    ("$count", "How many there were up to then"),
];

impl Plot {
    /// Returns the title of the plot's track, unless the user gives another.
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
