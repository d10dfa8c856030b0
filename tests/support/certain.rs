//! The known durations of slices, computed one by one and without any index.

use threadline::base::Nanos;
use threadline::event::Gap;
use threadline::trace::{SliceId, Trace, TrackKind};

/// Returns how long a slice that never ended certainly lasted, in ns; `None` for slices that ended.
pub fn certain(trace: &Trace, id: SliceId) -> Option<i64> {
    let slice = trace.slices.get(id);
    if slice.end.is_some() {
        return None;
    }
    let drawn = trace.slice_end(id);
    let file_end = trace.file_span(slice.begin.0, |it| &it.events).end;
    let thread_end = match trace.tracks[trace.slices.row_of(id).track.0 as usize].kind {
        TrackKind::Thread(thread) => trace.thread(thread).end,
        _ => None,
    };
    if drawn != file_end && thread_end != Some(drawn) {
        return Some(0);
    }
    // The last event of a file is in its last nanosecond.
    let mut until = drawn.min(file_end - Nanos(1)).max(slice.start);
    for gap in trace
        .gaps
        .iter()
        .map(Gap::span)
        .filter(|gap| gap.end > slice.start)
    {
        until = until.min(gap.start.max(slice.start));
    }
    Some((until - slice.start).0)
}

/// Returns the duration of a slice in ns: the measured duration if there is one, else the drawn length.
pub fn length(trace: &Trace, id: SliceId) -> i64 {
    let slice = trace.slices.get(id);
    let drawn = (trace.slice_end(id) - slice.start).0;
    slice.measured_ns.unwrap_or(drawn)
}
