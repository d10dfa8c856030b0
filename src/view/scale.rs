//! Converts time to pixels and back: the only place where a time becomes a float.

use crate::base::{Nanos, TimeSpan, Timestamp};

/// The shortest visible span: in a shorter one, a nanosecond would be many pixels wide.
pub(crate) const MIN_SPAN: Nanos = Nanos(20);

/// A time span mapped to a width in points, from x = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    span: TimeSpan,
    nanos_per_point: f64,
    points_per_nano: f64,
}

impl Scale {
    /// Maps `span` to `width_points`. An empty span or width counts as one nanosecond or point.
    #[must_use]
    pub(crate) fn new(span: TimeSpan, width_points: f32) -> Scale {
        let span = TimeSpan::new(span.start, span.end.max(span.start + Nanos(1)));
        let width_points = f64::from(width_points.max(1.0));
        let nanos = span.duration().0 as f64;
        Scale {
            span,
            nanos_per_point: nanos / width_points,
            points_per_nano: width_points / nanos,
        }
    }

    /// Returns the mapped span.
    #[must_use]
    pub(crate) fn span(&self) -> TimeSpan {
        self.span
    }

    /// Returns the length of one point, in nanoseconds.
    #[must_use]
    pub(crate) fn nanos_per_point(&self) -> f64 {
        self.nanos_per_point
    }

    /// Returns the x of `time` in points; outside `0..width` for times outside the span.
    #[inline]
    #[must_use]
    pub(crate) fn x_from_time(&self, time: Timestamp) -> f32 {
        // Subtracting as integers first means that only the difference is rounded to a float, not the time.
        let since = match time.0.checked_sub(self.span.start.0) {
            Some(since) => since as f64,
            None => (i128::from(time.0) - i128::from(self.span.start.0)) as f64,
        };
        (since * self.points_per_nano) as f32
    }

    /// Returns the time at `x`, rounded down to a nanosecond.
    #[must_use]
    pub(crate) fn time_from_x(&self, x: f32) -> Timestamp {
        self.span.start + Nanos((f64::from(x) * self.nanos_per_point()).floor() as i64)
    }

    /// Returns the duration that is `points` wide.
    #[must_use]
    pub(crate) fn nanos_from_points(&self, points: f32) -> Nanos {
        Nanos((f64::from(points) * self.nanos_per_point()).round() as i64)
    }
}

/// Returns `span` with its length multiplied by `factor` and `around` at the same place; at least [`MIN_SPAN`] long.
#[must_use]
pub(crate) fn zoomed(span: TimeSpan, factor: f64, around: Timestamp) -> TimeSpan {
    let old = span.duration().0.max(1) as f64;
    let new = (old * factor).clamp(MIN_SPAN.0 as f64, i64::MAX as f64 / 4.0);
    let share = ((around - span.start).0 as f64 / old).clamp(0.0, 1.0);
    let start = around - Nanos((new * share).round() as i64);
    TimeSpan::new(start, start + Nanos(new.round() as i64))
}

/// Returns `span` moved and, if necessary, shortened to be within `bounds`.
#[must_use]
pub(crate) fn held_within(span: TimeSpan, bounds: TimeSpan) -> TimeSpan {
    if span.duration() >= bounds.duration() {
        return bounds;
    }
    if span.start < bounds.start {
        return span.shifted(bounds.start - span.start);
    }
    if span.end > bounds.end {
        return span.shifted(bounds.end - span.end);
    }
    span
}

/// Returns `span` with a margin of `percent` on both sides, at least [`MIN_SPAN`] long.
#[must_use]
pub(crate) fn with_margin(span: TimeSpan, percent: i64) -> TimeSpan {
    let margin = (span.duration().0 / 100).saturating_mul(percent);
    let lacking = (MIN_SPAN.0 - span.duration().0).max(0) / 2;
    let margin = Nanos(margin.max(lacking).max(1));
    TimeSpan::new(span.start - margin, span.end + margin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: i64, end: i64) -> TimeSpan {
        TimeSpan::new(Timestamp(start), Timestamp(end))
    }

    #[test]
    fn a_time_and_its_pixel_are_the_same_place() {
        let day = 86_400_000_000_000;
        let scale = Scale::new(span(day * 19_000, day * 19_000 + 1_000), 1_000.0);
        for x in [0.0, 1.0, 499.0, 999.0] {
            assert_eq!(scale.x_from_time(scale.time_from_x(x)), x);
        }
        assert_eq!(scale.x_from_time(Timestamp(day * 19_000 - 10)), -10.0);
    }

    #[test]
    fn zooming_keeps_the_time_under_the_pointer() {
        let before = Scale::new(span(0, 1_000_000), 800.0);
        let around = before.time_from_x(600.0);
        let after = Scale::new(zoomed(before.span(), 0.5, around), 800.0);
        assert!((after.x_from_time(around) - 600.0).abs() < 0.01);
        assert_eq!(
            zoomed(span(0, 25), 0.001, Timestamp(12)).duration(),
            MIN_SPAN
        );
    }

    #[test]
    fn a_view_is_held_within_its_bounds() {
        assert_eq!(held_within(span(-5, 5), span(0, 100)), span(0, 10));
        assert_eq!(held_within(span(95, 105), span(0, 100)), span(90, 100));
        assert_eq!(held_within(span(-50, 500), span(0, 100)), span(0, 100));
    }

    #[test]
    fn extreme_times_do_not_overflow() {
        let all = TimeSpan::ALL;
        let scale = Scale::new(all, 100.0);
        assert!(scale.x_from_time(Timestamp(0)).is_finite());
        let _ = zoomed(all, 10.0, Timestamp(0));
        let _ = with_margin(all, 10);
    }
}
