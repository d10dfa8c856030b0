//! Where the user has been and what was done to the tracks, the flags and the markers: a jump is one step, pans and
//! zooms in a row are one step together, and so is what goes on under the hand (a height, a flag that is moved).
//!
//! 1. Before a change the old place, or what the change is of, is noted.
//! 2. A drift (pan, zoom) within half a second of the last drift belongs to the same step; so does a change of the
//!    same kind.
//! 3. A new step forgets what lay forward.

use super::flags::Flag;
use super::layout::Layout;
use super::state::Place;
use crate::base::Timestamp;
use std::time::Duration;

/// How a place was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// All at once: a step of its own.
    Jump,
    /// By a little, and soon again.
    Drift,
}

/// What a step goes back to.
#[derive(Clone, Debug, PartialEq)]
pub enum Past {
    /// A place.
    Place(Place),
    /// What had been done to the tracks, but for what was open.
    Tracks(Box<Layout>),
    /// All that had been done to them.
    Layout(Box<Layout>),
    /// The flags.
    Flags(Vec<Flag>),
    /// The markers.
    Marks([Option<Timestamp>; 2]),
}

/// How soon a drift follows another to belong to it.
const SAME_DRIFT: Duration = Duration::from_millis(500);
/// How many steps are remembered.
const MAX_STEPS: usize = 200;

/// The steps before and after the present.
#[derive(Clone, Debug, Default)]
pub struct History {
    back: Vec<Past>,
    forward: Vec<Past>,
    last_drift: Option<Duration>,
    /// What goes on under the hand, and when it was last changed.
    last_change: Option<(u64, Duration)>,
}

impl History {
    /// Notes that `place` is about to be left.
    pub fn leave(&mut self, place: Place, step: Step, now: Duration) {
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

    /// Notes what was before a change. Changes of the same `hand` that follow each other soon are one.
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

    /// What the last step goes back to; `present` says what of that kind there is now, which is then forward.
    pub fn back(&mut self, present: impl FnOnce(&Past) -> Past) -> Option<Past> {
        (self.last_drift, self.last_change) = (None, None);
        let past = self.back.pop()?;
        self.forward.push(present(&past));
        Some(past)
    }

    /// The same the other way.
    pub fn forward(&mut self, present: impl FnOnce(&Past) -> Past) -> Option<Past> {
        (self.last_drift, self.last_change) = (None, None);
        let past = self.forward.pop()?;
        self.back.push(present(&past));
        Some(past)
    }

    /// The places before the present one, the oldest first.
    pub fn places(&self) -> impl DoubleEndedIterator<Item = &Place> {
        self.back.iter().filter_map(|past| match past {
            Past::Place(place) => Some(place),
            _ => None,
        })
    }

    /// Whether there is a step before this.
    #[must_use]
    pub fn has_back(&self) -> bool {
        !self.back.is_empty()
    }

    /// Whether there is a step after this.
    #[must_use]
    pub fn has_forward(&self) -> bool {
        !self.forward.is_empty()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = History::default();
    }
}
