//! Words for lost events: how many events a gap lost, where, and between which events.

use crate::base::Timestamp;
use crate::base::time::grouped;
use crate::event::Gap;
use crate::trace::sources::title_of_cpu;
use crate::trace::{GapId, Trace};

/// The name of gaps.
pub(crate) const NAME: &str = "lost events";
/// Returns the number of events that a gap lost: `1 234 events lost`; `events lost` if the file contains no number.
#[must_use]
pub fn count_words(gap: &Gap) -> String {
    match gap.lost {
        None | Some(0) => "events lost".to_owned(),
        Some(1) => "1 event lost".to_owned(),
        Some(count) => format!("{} events lost", grouped(count as i64)),
    }
}

/// Returns the number of events that a trace lost, and of its gaps: `1 234 events lost in 5 gaps`. Empty if none was
/// lost.
#[must_use]
pub fn sum_words(trace: &Trace) -> String {
    let gaps = match trace.gaps.len() {
        1 => "1 gap".to_owned(),
        count => format!("{} gaps", grouped(count as i64)),
    };
    let lost = match (trace.lost_events(), trace.are_more_lost()) {
        (1, false) => "1 event lost".to_owned(),
        _ => format!("{} events lost", trace.lost_text()),
    };
    match (trace.gaps.len(), trace.lost_events()) {
        (0, 0) => String::new(),
        (0, _) => format!("{lost}; the file does not contain the times"),
        (_, 0) => format!("{gaps}; the file does not contain the number of lost events"),
        _ => format!("{lost} in {gaps}"),
    }
}

/// Returns the owner of the lost events: `CPU 3`, with the file if there are several; empty if it is not known.
#[must_use]
pub(crate) fn whose(trace: &Trace, id: GapId) -> String {
    let cpu = trace.gap(id).and_then(|gap| gap.cpu);
    let source = trace.gap_source(id);
    let source = source.and_then(|id| trace.sources.get(id.0 as usize));
    match (cpu, source) {
        (Some(cpu), source) => title_of_cpu(cpu, source),
        (None, Some(source)) => source.name.clone(),
        (None, None) => String::new(),
    }
}

/// Returns the text of a gap that a search compares.
#[must_use]
pub(crate) fn search_text(trace: &Trace, id: GapId) -> String {
    let words = trace.gap(id).map(count_words).unwrap_or_default();
    format!("{NAME} gap {words} {}", whose(trace, id))
}

/// The direction of a step from a gap or a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Toward {
    /// To the previous gap or an earlier time.
    Earlier,
    /// To the next gap or a later time.
    Later,
}

impl Toward {
    fn is_beyond<T: Ord>(self, place: &T, from: &T) -> bool {
        match self {
            Toward::Later => place > from,
            Toward::Earlier => place < from,
        }
    }
}

/// The gaps that a step can lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// All gaps of the trace.
    All,
    /// The gaps of the same CPU and file.
    ItsCpu,
}

/// Returns the gap after or before another one in the order of time.
#[must_use]
pub(crate) fn beside(trace: &Trace, id: GapId, toward: Toward, among: Among) -> Option<GapId> {
    let own = trace.gap(id)?;
    let own_place = GapPlace {
        start: trace.gap_span(id)?.start,
        id,
    };
    let source = trace.gap_source(id);
    let is_among = |other: GapId| {
        among == Among::All
            || (trace.gap(other).map(|gap| gap.cpu) == Some(own.cpu)
                && trace.gap_source(other) == source)
    };
    nearest(trace, toward, |place| {
        toward.is_beyond(place, &own_place) && is_among(place.id)
    })
}

/// Returns the first gap that begins after `time`, or the last gap that begins before it.
#[must_use]
pub(crate) fn near_time(trace: &Trace, time: Timestamp, toward: Toward) -> Option<GapId> {
    nearest(trace, toward, |place| toward.is_beyond(&place.start, &time))
}

/// The position of a gap in the order of steps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct GapPlace {
    start: Timestamp,
    id: GapId,
}

/// Returns the first (or, towards earlier gaps, the last) of the gaps that `fits` accepts.
fn nearest(trace: &Trace, toward: Toward, fits: impl Fn(&GapPlace) -> bool) -> Option<GapId> {
    let places = (0..trace.gaps.len() as u32).map(GapId).filter_map(|id| {
        let start = trace.gap_span(id)?.start;
        Some(GapPlace { start, id })
    });
    let fitting = places.filter(fits);
    let found = match toward {
        Toward::Later => fitting.min(),
        Toward::Earlier => fitting.max(),
    };
    found.map(|place| place.id)
}
