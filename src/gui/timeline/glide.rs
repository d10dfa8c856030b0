//! Animates the drawn span towards the view's span: briefly, and never while the user drags.

use crate::base::{Nanos, TimeSpan};
use crate::view::{Motion, ViewState};

/// Duration of a glide, in seconds.
const DURATION: f64 = 0.18;

/// The drawn span, on its way to the view's span.
#[derive(Default)]
pub(super) struct Glide {
    way: Option<Way>,
}

struct Way {
    from: TimeSpan,
    to: TimeSpan,
    began: f64,
}

impl Glide {
    /// Returns the span to draw at `now`, in seconds. A new target redirects a running glide from where it is.
    pub(super) fn span_at(&mut self, now: f64, state: &ViewState) -> TimeSpan {
        let aim = state.span;
        let glides = state.motion == Motion::Glide && state.settings.motion == Motion::Glide;
        let from = match &self.way {
            Some(way) if way.to == aim => return way.at(now),
            Some(way) if glides => way.at(now),
            _ => aim,
        };
        self.way = Some(Way {
            from,
            to: aim,
            began: now,
        });
        from
    }

    /// Returns whether a glide is running.
    pub(super) fn is_moving(&self, now: f64) -> bool {
        self.way
            .as_ref()
            .is_some_and(|way| way.from != way.to && now - way.began < DURATION)
    }
}

impl Way {
    fn at(&self, now: f64) -> TimeSpan {
        let share = ((now - self.began) / DURATION).clamp(0.0, 1.0);
        if share >= 1.0 || self.from == self.to {
            return self.to;
        }
        let eased = 1.0 - (1.0 - share).powi(3);
        between(self.from, self.to, eased)
    }
}

/// Returns the span after `share` of the way. The length changes by equal factors in equal steps, so that zooming looks
/// even; a time that has the same position in both spans keeps it throughout.
fn between(from: TimeSpan, to: TimeSpan, share: f64) -> TimeSpan {
    let (a, b) = (
        from.duration().0.max(1) as f64,
        to.duration().0.max(1) as f64,
    );
    let length = a * (b / a).powf(share);
    let moved = if (b - a).abs() < 0.5 {
        share
    } else {
        (length - a) / (b - a)
    };
    let distance = (i128::from(to.start.0) - i128::from(from.start.0)) as f64;
    let start = from.start + Nanos((distance * moved).round() as i64);
    TimeSpan::new(start, start + Nanos(length.round() as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Timestamp;

    fn span(start: i64, end: i64) -> TimeSpan {
        TimeSpan::new(Timestamp(start), Timestamp(end))
    }

    fn view(aim: TimeSpan) -> ViewState {
        ViewState {
            span: aim,
            motion: Motion::Glide,
            ..ViewState::default()
        }
    }

    #[test]
    fn a_jump_is_glided_to_and_a_new_aim_turns_it_where_it_is() {
        let mut glide = Glide::default();
        let (far, near) = (span(0, 1_000_000), span(500_000, 501_000));
        assert_eq!(glide.span_at(0.0, &view(far)), far);
        assert_eq!(glide.span_at(1.0, &view(near)), far);
        let on_the_way = glide.span_at(1.05, &view(near));
        assert!(on_the_way.duration().0 < 1_000_000 && on_the_way.duration().0 > 1_000);
        assert!(on_the_way.contains(Timestamp(500_500)));
        assert!(glide.is_moving(1.05));
        assert_eq!(glide.span_at(1.05, &view(far)), on_the_way);
        assert_eq!(glide.span_at(2.0, &view(far)), far);
        assert!(!glide.is_moving(2.0));
    }

    #[test]
    fn what_the_hand_moves_is_there_at_once() {
        let mut glide = Glide::default();
        let mut state = view(span(0, 100));
        let _ = glide.span_at(0.0, &state);
        state.span = span(10, 110);
        state.motion = Motion::Jump;
        assert_eq!(glide.span_at(0.1, &state), state.span);
        state.motion = Motion::Glide;
        state.settings.motion = Motion::Jump;
        state.span = span(50, 60);
        assert_eq!(glide.span_at(0.2, &state), state.span);
    }
}
