//! The state of the window's recording: the process that records, the newest trace, and the view that follows its end.

use std::time::{Duration, Instant};

use crate::base::{Nanos, Task, TimeSpan, Timestamp};
use crate::gui::recorder::{LiveTrace, Recorder};
use crate::load::LoadedTrace;
use crate::view::RecordState;

/// The duration that the view shows while it follows a recording that is longer.
pub(super) const FOLLOWED: Nanos = Nanos(5_000_000_000);
/// How far the view is behind the time that passes: events that are newer may not be read yet.
const BEHIND: Nanos = Nanos(350_000_000);

/// The recording of the window.
#[derive(Default)]
pub(super) struct Recording {
    pub(super) recorder: Option<Recorder>,
    pub(super) saving: Task<(), Result<LoadedTrace, String>>,
    /// Whether the settings are shown without a trace.
    pub(super) is_choosing: bool,
    /// The newest trace of the recording.
    pub(super) newest: Option<LiveTrace>,
    /// Whether an older trace is shown, because the newest one lacks what is in sight.
    pub(super) is_held: bool,
    pub(super) follower: Follower,
}

/// Moves the view with the end of the recording.
#[derive(Default)]
pub(super) struct Follower {
    /// The time of the first event, from which times are counted, also when the timeline shows only the last part.
    pub(super) origin: Option<Timestamp>,
    /// A moment, and the trace's time at it.
    clock: Option<(Instant, Timestamp)>,
    /// The span that was shown last.
    pub(super) shown: Option<TimeSpan>,
    /// Whether the recording was longer than [`FOLLOWED`].
    was_long: bool,
    pub(super) is_on: bool,
}

impl Follower {
    /// Takes the times of a newer trace.
    pub(super) fn sees(&mut self, trace: &LiveTrace) {
        let span = trace.loaded.trace.span;
        self.origin.get_or_insert(span.start);
        // No event is later than the moment at which it was read, so the latest time is the best.
        let now = self.time_at(trace.read);
        if now.is_none_or(|now| now < span.end) {
            self.clock = Some((trace.read, span.end));
        }
    }

    fn time_at(&self, moment: Instant) -> Option<Timestamp> {
        let (known, time) = self.clock?;
        let nanos = |duration: Duration| Nanos(duration.as_nanos() as i64);
        Some(match moment.checked_duration_since(known) {
            Some(later) => time + nanos(later),
            None => time - nanos(known - moment),
        })
    }

    /// Returns the span to show at a moment, in place of `span`; `None`: the view stays.
    pub(super) fn follows(
        &mut self,
        span: TimeSpan,
        whole: TimeSpan,
        end: Timestamp,
    ) -> Option<TimeSpan> {
        let is_whole = span == whole;
        if whole.duration() > FOLLOWED && !std::mem::replace(&mut self.was_long, true) && is_whole {
            self.is_on = true;
            return Some(TimeSpan::new(end - FOLLOWED, end));
        }
        if is_whole {
            return None;
        }
        if let Some(shown) = self.shown.filter(|shown| *shown != span) {
            // The user moved the view: it is followed if it still shows the end.
            let near = Nanos(shown.duration().0 / 20);
            self.is_on = span.end >= shown.end - near;
        }
        let edge = self.time_at(Instant::now())? - BEHIND;
        let before = self.shown.map_or(edge, |shown| shown.end);
        let edge = edge.max(before).min(end);
        let is_on = self.is_on;
        is_on.then(|| TimeSpan::new(edge - span.duration(), edge))
    }
}

impl Recording {
    /// Returns whether something is under way that ends by itself.
    pub(super) fn is_busy(&self, state: &RecordState) -> bool {
        let is_changing = matches!(state, RecordState::Starting | RecordState::Finishing);
        (self.recorder.is_some() && is_changing) || self.saving.is_pending()
    }

    /// Returns whether the settings are shown in place of the welcome.
    pub(super) fn is_choosing(&self) -> bool {
        self.is_choosing
    }
}
