//! History of places and of changes to tracks, flags and markers. A jump is one step; consecutive pans and zooms are
//! one step together, and so is a change while it is dragged (a height, a flag).
//!
//! 1. Before a change, the old place or the old value is recorded.
//! 2. A drift (pan, zoom) within half a second of the last drift belongs to the same step; so does a change with the
//!    same `hand`.
//! 3. A new step clears the forward steps.

use super::flags::Flag;
use super::layout::Layout;
use crate::base::{TimeSpan, Timestamp};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Where the view is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The visible span.
    pub span: TimeSpan,
    /// How far the tracks are scrolled, in points.
    pub scroll: f32,
}

/// How a place was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// In one go: a step of its own.
    Jump,
    /// By a little, usually again and again: merged with the drift just before.
    Drift,
}

/// The state that a step restores.
#[derive(Clone, Debug, PartialEq)]
pub enum Past {
    /// A place.
    Place(Place),
    /// The arrangement of the tracks, except for open and closed rows.
    Tracks(Box<Layout>),
    /// The whole arrangement of the tracks.
    Layout(Box<Layout>),
    /// The flags.
    Flags(Vec<Flag>),
    /// The markers.
    Marks([Option<Timestamp>; 2]),
}

/// A drift this soon after another belongs to the same step.
const SAME_DRIFT: Duration = Duration::from_millis(500);
/// Most steps that are kept.
const MAX_STEPS: usize = 200;

/// The steps before and after the present.
#[derive(Clone, Debug, Default)]
pub struct History {
    back: Vec<Past>,
    forward: Vec<Past>,
    last_drift: Option<Duration>,
    /// Key of the last dragged change, and the time of its last update.
    last_change: Option<(u64, Duration)>,
}

impl History {
    /// Records `place`, which is about to be left.
    pub(crate) fn leave(&mut self, place: Place, step: Step, now: Duration) {
        let goes_on = step == Step::Drift
            && self
                .last_drift
                .is_some_and(|last| now.saturating_sub(last) < SAME_DRIFT);
        self.last_drift = (step == Step::Drift).then_some(now);
        self.last_change = None;
        if goes_on || self.back.last() == Some(&Past::Place(place)) {
            return;
        }
        self.push(Past::Place(place));
    }

    /// Records the value before a change. Changes with the same `hand` within half a second of each other are one step.
    pub fn change(&mut self, before: Past, hand: Option<u64>, now: Duration) {
        let goes_on = self
            .last_change
            .is_some_and(|(of, last)| Some(of) == hand && now.saturating_sub(last) < SAME_DRIFT);
        self.last_change = hand.map(|hand| (hand, now));
        self.last_drift = None;
        if !goes_on {
            self.push(before);
        }
    }

    fn push(&mut self, past: Past) {
        self.forward.clear();
        if self.back.len() == MAX_STEPS {
            self.back.remove(0);
        }
        self.back.push(past);
    }

    /// Returns the state that the previous step restores; `present` returns the current state of that kind, which
    /// becomes a forward step.
    pub fn back(&mut self, present: impl FnOnce(&Past) -> Past) -> Option<Past> {
        (self.last_drift, self.last_change) = (None, None);
        let past = self.back.pop()?;
        self.forward.push(present(&past));
        Some(past)
    }

    /// Returns the state that the next step restores; `present` returns the current state of that kind, which becomes a
    /// back step.
    pub(crate) fn forward(&mut self, present: impl FnOnce(&Past) -> Past) -> Option<Past> {
        (self.last_drift, self.last_change) = (None, None);
        let past = self.forward.pop()?;
        self.back.push(present(&past));
        Some(past)
    }

    /// Returns the places before the current one, oldest first.
    pub(crate) fn places(&self) -> impl DoubleEndedIterator<Item = &Place> {
        self.back.iter().filter_map(|past| match past {
            Past::Place(place) => Some(place),
            _ => None,
        })
    }

    /// Clears all steps.
    pub(crate) fn clear(&mut self) {
        *self = History::default();
    }
}
