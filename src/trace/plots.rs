//! Plots that the user made: the events, and the number of each event that is plotted.

use serde::{Deserialize, Serialize};

/// A plot: a series of numbers made of events, slices or rows of an answer, stored as a counter's samples. The last counter tracks of a
/// trace are its plots, in the order of [`Trace::plots`](super::Trace::plots).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Plot {
    /// What `filter` and `field` name.
    pub source: PlotSource,
    /// The events that are plotted: the name of a kind, or an expression. Of an answer: the question in SQL.
    pub filter: String,
    /// The number: an argument by its name, or the word of a [`Measure`]. Of an answer: a column.
    pub field: String,
}

/// What a plot is made of.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub enum PlotSource {
    /// Events or slices.
    #[default]
    Events,
    /// The rows of the answer to a question in SQL.
    Answer,
}

/// A number of events and slices that can be plotted besides arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// The duration of each slice, in ns.
    Duration,
    /// The time since the previous event, in ns.
    Gap,
    /// The number of events so far.
    Count,
}

impl Measure {
    /// All, in the order of menus.
    pub(crate) const ALL: [Measure; 3] = [Measure::Duration, Measure::Gap, Measure::Count];

    /// Returns the word for [`Plot::field`]; no argument has such a name.
    #[must_use]
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Measure::Duration => "$dur",
            Measure::Gap => "$gap",
            Measure::Count => "$count",
        }
    }

    /// Returns the meaning in a few words, for the user.
    #[must_use]
    pub(crate) const fn about(self) -> &'static str {
        match self {
            Measure::Duration => "How long each slice took, in ns",
            Measure::Gap => "The time since the one before, in ns",
            Measure::Count => "How many there were up to then",
        }
    }
}

/// The most letters of a question in a title.
const MOST_OF_QUESTION: usize = 60;

impl Plot {
    /// Returns a plot of events or slices.
    pub fn of_events(filter: impl Into<String>, field: impl Into<String>) -> Plot {
        Plot {
            source: PlotSource::Events,
            filter: filter.into(),
            field: field.into(),
        }
    }

    /// Returns a plot of a column of the answer to a question in SQL.
    pub fn of_answer(question: impl Into<String>, column: impl Into<String>) -> Plot {
        Plot {
            source: PlotSource::Answer,
            filter: question.into(),
            field: column.into(),
        }
    }

    /// Returns the number that is plotted; `None` if it is an argument.
    #[must_use]
    pub(crate) fn measure(&self) -> Option<Measure> {
        let mut all = Measure::ALL.into_iter();
        all.find(|measure| measure.word() == self.field)
    }

    /// Returns the title of the plot's track, unless the user gives another.
    #[must_use]
    pub fn title(&self) -> String {
        if self.source == PlotSource::Answer {
            let question: Vec<&str> = self.filter.split_whitespace().collect();
            let question = question.join(" ");
            return match question.char_indices().nth(MOST_OF_QUESTION) {
                Some((end, _)) => format!("{} of {}…", self.field, &question[..end]),
                None => format!("{} of {question}", self.field),
            };
        }
        let filter = self.filter.trim().trim_end_matches(':');
        match self.measure() {
            Some(Measure::Duration) => format!("duration of {filter}, ns"),
            Some(Measure::Gap) => format!("time between {filter}, ns"),
            Some(Measure::Count) => format!("number of {filter}"),
            None => format!("{} of {filter}", self.field),
        }
    }
}
