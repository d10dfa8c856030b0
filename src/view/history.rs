//! Where the user has been: a jump is one step, pans and zooms in a row are one step together.
//!
//! 1. Before a change the old place is noted, with the kind of change.
//! 2. A drift (pan, zoom) within half a second of the last drift belongs to the same step.
//! 3. A new change forgets what lay forward.

use super::state::Place;
use std::time::Duration;

/// How a place was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// All at once: a step of its own.
    Jump,
    /// By a little, and soon again.
    Drift,
}

/// How soon a drift follows another to belong to it.
const SAME_DRIFT: Duration = Duration::from_millis(500);
/// How many places are remembered.
const MAX_PLACES: usize = 200;

/// The places before and after the present one.
#[derive(Clone, Debug, Default)]
pub struct History {
    back: Vec<Place>,
    forward: Vec<Place>,
    last_drift: Option<Duration>,
}

impl History {
    /// Notes that `place` is about to be left.
    pub fn leave(&mut self, place: Place, step: Step, now: Duration) {
        let goes_on = step == Step::Drift
            && self
                .last_drift
                .is_some_and(|last| now.saturating_sub(last) < SAME_DRIFT);
        self.last_drift = (step == Step::Drift).then_some(now);
        if goes_on || self.back.last() == Some(&place) {
            return;
        }
        self.forward.clear();
        if self.back.len() == MAX_PLACES {
            self.back.remove(0);
        }
        self.back.push(place);
    }

    /// The place before `present`, which is now forward.
    pub fn back(&mut self, present: Place) -> Option<Place> {
        self.last_drift = None;
        let place = self.back.pop()?;
        self.forward.push(present);
        Some(place)
    }

    /// The place after `present`, which is now back.
    pub fn forward(&mut self, present: Place) -> Option<Place> {
        self.last_drift = None;
        let place = self.forward.pop()?;
        self.back.push(present);
        Some(place)
    }

    /// The places before the present one, the oldest first.
    pub fn places(&self) -> impl DoubleEndedIterator<Item = &Place> {
        self.back.iter()
    }

    /// Whether there is a place before this one.
    #[must_use]
    pub fn has_back(&self) -> bool {
        !self.back.is_empty()
    }

    /// Whether there is a place after this one.
    #[must_use]
    pub fn has_forward(&self) -> bool {
        !self.forward.is_empty()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = History::default();
    }
}
