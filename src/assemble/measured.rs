//! Places slices whose durations the recorder measured: where they are drawn, and which duration they have.
//!
//! ```text
//! measured by the events' clock:  [calltime, rettime)                       place and length are exact
//! measured by another clock:      |event of the call ... of the return|     the slice is between, as late as it can be
//! events' times are not ns:       from event to event                       only the duration is the recorder's
//! ```
//!
//! The measured duration is the slice's duration wherever the slice is drawn. Real calls nest; a call began before its
//! entry's event and returned before its return's event. If each call is placed as late as these facts allow, the calls
//! also nest, except where times are rounded or a clock does not advance. In these cases, a slice moves inside the
//! call around it, to its offset by the clock that measured both calls if the file has it, and is cut only if it does
//! not fit.

use rustc_hash::FxHashMap;

use super::draft::Draft;
use super::recorded::Recorded;
use super::rows::{MeasuredRows, PerPart};
use crate::base::order::find_near;
use crate::base::{Maybe, TimeSpan};
use crate::event::part::ClockUnit;
use crate::event::{Measured, MeasuredClock, MeasuredEnd};

/// In each lane, at least one return event is recorded less than this many ns after its return, if both have the same
/// clock.
const MOST_LATE_NS: i32 = 20_000;
/// Times in text files are rounded to 1000 ns.
const ROUNDING_NS: i32 = 1_000;
/// If the calls inside a call end this many ns after the call's measured end, the cause is not rounding: the call
/// slept.
const MOST_MOVED_NS: i64 = 10_000;

/// All measured durations, found by the event that ends the slice.
#[derive(Debug, Default)]
pub(crate) struct MeasuredTable {
    /// The durations, sorted by event.
    rows: Vec<Measured>,
    /// Labels of slices whose begins may be lost: (event, the trace's label), sorted by event.
    stated: Vec<(u32, u32)>,
    /// For each part that has durations: (its first event, whether the events' clock measured them), sorted.
    parts: Vec<(u32, bool)>,
    /// Whether the events' times are in ns.
    pub is_in_nanos: bool,
    /// The earliest start that follows from a measured duration.
    pub first_start: Option<i64>,
    /// The latest end of a slice that has one event.
    pub last_end: Option<i64>,
    /// Whether slices are drawn with other lengths than the file states ([`MeasuredEnd::DrawnOtherwise`]).
    pub has_drawn_otherwise: bool,
}

impl MeasuredTable {
    /// Returns the table of all rows; `unit` is the unit of the events' times.
    pub(super) fn new(rows: MeasuredRows, recorded: &Recorded, unit: ClockUnit) -> MeasuredTable {
        let mut table = MeasuredTable {
            is_in_nanos: unit == ClockUnit::Nanoseconds,
            ..MeasuredTable::default()
        };
        let lanes = least_late(&rows.measured, recorded);
        let MeasuredRows {
            measured,
            stated,
            clocks,
        } = rows;
        let of_parts = measured.into_iter().zip(stated).zip(clocks);
        for (part, ((rows, stated), clock)) in recorded.parts.iter().zip(of_parts) {
            if rows.is_empty() {
                continue;
            }
            let columns = recorded.columns(part);
            let lane = recorded.lane(part);
            let least_late = lanes.get(&lane).copied().unwrap_or(0);
            // If the file does not state how the clocks are related, the times themselves decide.
            let is_same = match clock {
                _ if !table.is_in_nanos => false,
                MeasuredClock::Same => true,
                MeasuredClock::Other => false,
                MeasuredClock::Unproven => (-ROUNDING_NS..MOST_LATE_NS).contains(&least_late),
            };
            table.parts.push((part.first_event, is_same));
            let mut stated = stated.into_iter().peekable();
            table.rows.reserve(rows.len());
            for mut row in rows {
                let time = columns.time(row.event).0;
                // Both lists are sorted by event.
                while stated.next_if(|lost| lost.event < row.event).is_some() {}
                let lost = stated.next_if(|lost| lost.event == row.event);
                let ended = match row.lateness().filter(|_| is_same) {
                    Some(late) => Some(time.saturating_sub(late.into())),
                    None => lost.map(|_| time),
                };
                let start = ended.map(|end| end.saturating_sub(row.duration_ns));
                let start = start.filter(|_| table.is_in_nanos);
                table.first_start = [table.first_start, start].into_iter().flatten().min();
                if row.end() == MeasuredEnd::OneEvent && table.is_in_nanos {
                    let end = time.saturating_add(row.duration_ns);
                    table.last_end = table.last_end.max(Some(end));
                }
                row.event += part.first_event;
                if let Some(label) = lost.and_then(|lost| part.labels.get(lost.label as usize)) {
                    table.stated.push((row.event, label.0));
                }
                table.has_drawn_otherwise |= row.end() == MeasuredEnd::DrawnOtherwise;
                table.rows.push(row);
            }
        }
        table
    }

    /// Returns whether no durations were measured.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the measured duration of the slice that `event` ends. `hint` keeps the position for the next search.
    pub(super) fn find(&self, event: u32, hint: &mut usize) -> Option<Measured> {
        find_near(&self.rows, event, |row| row.event, hint)
    }

    fn is_same_clock(&self, event: u32) -> bool {
        let after = self.parts.partition_point(|part| part.0 <= event);
        let part = after.checked_sub(1).and_then(|at| self.parts.get(at));
        part.is_some_and(|part| part.1)
    }

    /// Returns how many ns before its event a slice ended; `None` unless the events' clock measured it.
    pub(crate) fn lateness(&self, row: &Measured) -> Option<i32> {
        row.lateness().filter(|_| self.is_same_clock(row.event))
    }

    /// Returns the latest possible start, in ns, of a slice whose end's event is at `time`. If it is known how long
    /// before its event the slice ended, that is subtracted.
    pub(crate) fn latest_begin(&self, row: &Measured, time: i64) -> i64 {
        let late = self.lateness(row).unwrap_or(0);
        (time - i64::from(late)).saturating_sub(row.duration_ns)
    }

    /// Returns the label that the end event itself states, for slices whose begin may be lost.
    pub(super) fn label(&self, event: u32) -> Option<u32> {
        let at = self.stated.binary_search_by_key(&event, |lost| lost.0);
        self.stated.get(at.ok()?).map(|lost| lost.1)
    }
}

/// Returns, for each lane, the smallest time in ns from a slice's end by the measuring clock to the end's event. If
/// that clock is the events' own, no slice ends after its event, and some event comes right after the end.
fn least_late(rows: &PerPart<Measured>, recorded: &Recorded) -> FxHashMap<u32, i32> {
    let mut least: FxHashMap<u32, i32> = FxHashMap::default();
    for (part, rows) in recorded.parts.iter().zip(rows) {
        if let Some(late) = rows.iter().filter_map(Measured::lateness).min() {
            let entry = least.entry(recorded.lane(part)).or_insert(late);
            *entry = late.min(*entry);
        }
    }
    least
}

/// Whether measured durations and the events' times are in the same unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    /// The events' times are in ns, as measured durations are. No call is moved out of this span.
    Nanos(TimeSpan),
    /// The events' times have another unit.
    OtherUnit,
}

/// A call while its place is computed.
struct Call {
    /// Index of its draft.
    draft: u32,
    /// Index of the call around it.
    parent: Option<u32>,
    /// Start and end, ns: the times of its events, then where it is drawn. The end is `i64::MAX` while nothing bounds it.
    start: i64,
    end: i64,
    /// The measured duration in ns, if there is one.
    duration: Option<i64>,
    /// Whether start and end were measured by the events' clock, so that the call is not moved.
    is_placed: bool,
    /// Length to draw, in ns; 0 if no duration was measured.
    length: i64,
    /// When the last call inside it ends, in ns, if that is after the measured duration: the call slept.
    reaches: i64,
    /// When it ended by the clock that measured it, in ns, if the file has that time.
    own_end: Option<i64>,
    /// Offset in ns from the start of the call around it, by the measuring clock; see [`own_offset`].
    own_offset: Option<i64>,
    /// Sum of the durations in ns of the calls in it that are still to be placed.
    inner: i64,
    /// End of the last call in it that was placed; `i64::MIN` if none was.
    floor: i64,
}

/// Places the calls among a track's drafts, which are sorted by start; `is_call` is passed label indices, and `over_by` has
/// the events that show that calls are over whose returns were lost, by the events that began them. Returns the
/// measured durations in ns that differ from the drawn ones, by begin event. Drafts may then be out of order.
pub(super) fn place(
    drafts: &mut [Draft],
    table: &MeasuredTable,
    axis: Axis,
    over_by: &FxHashMap<u32, u32>,
    is_call: impl Fn(u32) -> bool,
) -> FxHashMap<u32, i64> {
    let mut odd = FxHashMap::default();
    let mut calls = calls_among(drafts, table, over_by, is_call);
    if calls.iter().all(|call| call.duration.is_none()) {
        return odd;
    }
    if let Axis::Nanos(span) = axis {
        hold_inner(&mut calls);
        want(&mut calls, span.start.0);
        settle(&mut calls, span.end.0);
    }
    for call in &calls {
        let draft = &mut drafts[call.draft as usize];
        // If the call around it cuts an open call off, its end was still not seen.
        let end = Maybe::new(call.end);
        draft.is_unended |= draft.end.is_none() && end.is_some();
        (draft.start, draft.end) = (call.start, end);
        let drawn = call.end.saturating_sub(call.start);
        if let Some(duration) = call.duration.filter(|&duration| duration != drawn) {
            odd.insert(draft.begin, duration);
        }
    }
    odd
}

/// Returns whether a slice's begin was not recorded and its start is computed from its end and measured duration.
pub(crate) fn is_placed_by_end(draft: &Draft) -> bool {
    draft.finish.is_none() && !draft.is_unended && draft.end.is_some()
}

impl Call {
    /// Returns the end in ns if the call starts at `start`.
    fn end_from(&self, start: i64) -> i64 {
        start.saturating_add(self.length).max(self.reaches)
    }
}

/// A call that is open while [`calls_among`] walks the drafts.
#[derive(Clone, Copy)]
struct OpenCall {
    call: u32,
    /// The latest time at which it ends: at most the end of the call around it.
    end: Maybe<i64>,
    /// The event after which it is over.
    ended_by: Maybe<u32>,
}

/// Closes the calls that are over when `draft` begins. `own_start` is when it began by the clock that measured it.
fn close(open: &mut Vec<OpenCall>, calls: &[Call], draft: &Draft, own_start: Option<i64>) {
    while let Some(&around) = open.last() {
        // At equal times, a call is over if its end's event comes before the new call's begin.
        let is_over =
            around.end < draft.start || around.end == draft.start && around.ended_by <= draft.begin;
        // An interrupt between a return and the return's event is after the call, not in it.
        let call = calls.get(around.call as usize);
        let returned = call.and_then(|call| call.own_end);
        let has_returned = returned
            .zip(own_start)
            .is_some_and(|(end, start)| end < start);
        if !is_over && !has_returned {
            break;
        }
        open.pop();
    }
}

/// Adds the measured durations of slices whose begins are lost to `odd`, by event. If the events' times are not in ns,
/// such slices are drawn with length 0.
pub(crate) fn of_lone_ends(drafts: &[Draft], table: &MeasuredTable, odd: &mut FxHashMap<u32, i64>) {
    let mut hint = 0;
    for draft in drafts.iter().filter(|draft| is_placed_by_end(draft)) {
        if let Some(row) = table.find(draft.begin, &mut hint) {
            odd.insert(draft.begin, row.duration_ns);
        }
    }
}

/// Adds the stated durations of slices that are drawn with another length to `odd`, by the event that begins them. The
/// stated duration comes from the event that ends the slice, or from the event of a slice that was recorded whole.
pub(crate) fn drawn_otherwise(
    drafts: &[Draft],
    table: &MeasuredTable,
    odd: &mut FxHashMap<u32, i64>,
) {
    let mut hint = 0;
    for draft in drafts {
        let event = draft.finish.get().unwrap_or(draft.begin);
        if let Some(row) = table.find(event, &mut hint)
            && row.end() == MeasuredEnd::DrawnOtherwise
            && row.duration_ns != draft.end.or_greatest().saturating_sub(draft.start)
        {
            odd.insert(draft.begin, row.duration_ns);
        }
    }
}

/// Returns the calls among the drafts, each with the call around it; outer calls come before inner ones.
fn calls_among(
    drafts: &[Draft],
    table: &MeasuredTable,
    over_by: &FxHashMap<u32, u32>,
    is_call: impl Fn(u32) -> bool,
) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut open: Vec<OpenCall> = Vec::new();
    let mut hint = 0;
    // Index of the last call, if it has a single event: it ends before the next call starts.
    let mut last_leaf = None;
    for (number, draft) in drafts.iter().enumerate() {
        if !is_call(draft.label) {
            continue;
        }
        if let Some(leaf) = last_leaf
            .take()
            .and_then(|leaf: u32| calls.get_mut(leaf as usize))
        {
            leaf.end = leaf.end.min(draft.start.max(leaf.start));
        }
        let finish = draft.finish.get();
        let found = finish.and_then(|finish| table.find(finish, &mut hint));
        let end = draft.end.or_greatest();
        let own_end = found.and_then(|row| Some(end.saturating_sub(row.lateness()?.into())));
        let own_start = own_end
            .zip(found)
            .map(|(end, row)| end.saturating_sub(row.duration_ns));
        close(&mut open, &calls, draft, own_start);
        let around = open.last().copied();
        let placed_by_end = is_placed_by_end(draft);
        let ended_by = match placed_by_end {
            true => Maybe::new(draft.begin),
            // Its return was lost.
            false if draft.finish.is_none() => over_by.get(&draft.begin).copied().into(),
            false => draft.finish,
        };
        let mut call = Call {
            draft: number as u32,
            parent: around.map(|around| around.call),
            start: draft.start,
            end,
            duration: match placed_by_end {
                true => Some(end.saturating_sub(draft.start)),
                false => found.map(|row| row.duration_ns),
            },
            is_placed: placed_by_end,
            length: 0,
            reaches: i64::MIN,
            own_end,
            own_offset: None,
            inner: 0,
            floor: i64::MIN,
        };
        let index = calls.len() as u32;
        match found {
            Some(row) if row.end() == MeasuredEnd::OneEvent => {
                let around = call.parent.and_then(|parent| calls.get(parent as usize));
                let around = around.map_or(i64::MAX, |call| call.end);
                let end = call.start.saturating_add(row.duration_ns);
                call.end = end.min(around).max(call.start);
                last_leaf = Some(index);
            }
            _ => {
                let own = (draft.end, ended_by);
                let (end, ended_by) =
                    around.map_or(own, |around| own.min((around.end, around.ended_by)));
                open.push(OpenCall {
                    call: index,
                    end,
                    ended_by,
                });
            }
        }
        if let Some(late) = found.and_then(|row| table.lateness(&row)) {
            call.end = end.saturating_sub(late.into());
            call.start = call.end.saturating_sub(call.duration.unwrap_or(0));
            call.is_placed = true;
        }
        calls.push(call);
    }
    calls
}

/// Extends calls whose place is measured so that they contain their inner calls whose place is measured too. A recorder
/// that leaves out the time that a call slept can measure an outer call as shorter than its inner calls.
fn hold_inner(calls: &mut [Call]) {
    for index in (0..calls.len()).rev() {
        let (before, from_here) = calls.split_at_mut(index);
        let call = &from_here[0];
        if let Some(around) = call
            .parent
            .and_then(|parent| before.get_mut(parent as usize))
            && call.is_placed
            && around.is_placed
        {
            around.start = around.start.min(call.start);
            around.end = around.end.max(call.end);
        }
    }
}

/// Computes start and length of the other calls as if no time were rounded. `first` is the earliest start allowed.
fn want(calls: &mut [Call], first: i64) {
    for call in calls.iter_mut().filter(|call| !call.is_placed) {
        let Some(duration) = call.duration else {
            continue;
        };
        // `end` is the time of the end's event. The call may end there at the latest, and begin at its own event at the
        // latest.
        let latest = call.end.saturating_sub(duration);
        call.start = call.start.min(latest.max(first));
        call.length = duration;
    }
    for index in (0..calls.len()).rev() {
        let (before, from_here) = calls.split_at_mut(index);
        let call = &mut from_here[0];
        let end = call.end_from(call.start);
        let around = call
            .parent
            .and_then(|parent| before.get_mut(parent as usize));
        let (Some(duration), Some(around), false) = (call.duration, around, call.is_placed) else {
            continue;
        };
        call.own_offset = own_offset(call, around);
        let beyond = end.saturating_sub(around.end_from(around.start));
        if around.duration.is_some() && beyond > MOST_MOVED_NS && call.own_offset.is_none() {
            around.reaches = end;
        }
        around.inner = around.inner.saturating_add(duration);
    }
}

/// Returns how many ns a call began after the call around it, by the clock that measured both. `None` if the call is
/// not inside by that clock: some recorders leave out the time that the outer call slept.
fn own_offset(call: &Call, around: &Call) -> Option<i64> {
    let began = |call: &Call| Some(call.own_end?.saturating_sub(call.duration.unwrap_or(0)));
    let offset = began(call)?.checked_sub(began(around)?)?;
    let is_inside = offset >= 0 && call.own_end? <= around.own_end?;
    (is_inside && around.duration.is_some()).then_some(offset)
}

/// Moves calls into the calls around them, outer calls first, and cuts a call only if it does not fit. No call is moved
/// to end after `last`.
fn settle(calls: &mut [Call], last: i64) {
    let mut floor = i64::MIN;
    for index in 0..calls.len() {
        let (before, from_here) = calls.split_at_mut(index);
        let call = &mut from_here[0];
        let mut around = call
            .parent
            .and_then(|parent| before.get_mut(parent as usize));
        if !call.is_placed {
            let (low, high, inner) = match &around {
                Some(around) => (around.floor.max(around.start), around.end, around.inner),
                None => (floor, i64::MAX, 0),
            };
            if let (Some(offset), Some(around)) = (call.own_offset, &around)
                && call.end_from(call.start) > high
            {
                call.start = around.start.saturating_add(offset);
            }
            // Leaves room for the calls that follow in the same outer call.
            let latest = high.saturating_sub(inner);
            let start = call.start.min(latest).max(low).min(high);
            let behind = inner.saturating_sub(call.duration.unwrap_or(0));
            call.end = match call.duration {
                Some(_) => call.end_from(start).min(last.max(start)),
                None => call.end.max(start),
            };
            call.end = call.end.min(high.saturating_sub(behind).max(start));
            call.start = start;
            if let Some(around) = &mut around {
                around.inner = behind;
            }
        }
        match around {
            Some(around) => around.floor = around.floor.max(call.end),
            None => floor = floor.max(call.end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Timestamp;

    /// Places drafts of (start, end, measured), outer ones first; events are numbered in order of time.
    fn placed(rows: &[(i64, i64, i64)]) -> Vec<(i64, i64, i64)> {
        let mut events: Vec<(i64, bool, usize)> = Vec::new();
        for (row, &(start, end, _)) in rows.iter().enumerate() {
            events.push((start, true, row));
            events.push((end, false, row));
        }
        // At one time ends come first, the innermost before the others.
        events.sort_by_key(|&(time, begins, row)| match begins {
            true => (time, true, row as i64),
            false => (time, false, -(row as i64)),
        });
        let event = |begins, row| {
            let is_it = |event: &(i64, bool, usize)| (event.1, event.2) == (begins, row);
            events.iter().position(is_it).map_or(0, |at| at as u32)
        };
        let mut table = MeasuredTable::default();
        let mut drafts = Vec::new();
        for (row, &(start, end, duration_ns)) in rows.iter().enumerate() {
            let finish = event(false, row);
            drafts.push(Draft {
                start,
                end: Maybe::new(end),
                is_unended: false,
                label: 0,
                begin: event(true, row),
                finish: Maybe::new(finish),
            });
            let measured = Measured::new(finish, duration_ns, end, None);
            table.rows.push(measured);
        }
        table.rows.sort_by_key(|row| row.event);
        let span = TimeSpan::new(Timestamp(0), Timestamp(1 << 40));
        let odd = place(
            &mut drafts,
            &table,
            Axis::Nanos(span),
            &FxHashMap::default(),
            |_| true,
        );
        let row = |draft: &Draft| {
            let end = draft.end.get().unwrap();
            let drawn = end - draft.start;
            let duration = odd.get(&draft.begin).copied().unwrap_or(drawn);
            (draft.start, end, duration)
        };
        drafts.iter().map(row).collect()
    }

    #[test]
    fn a_call_lies_as_late_as_its_events_allow() {
        // The call's event was written late, and its return's event later still.
        assert_eq!(placed(&[(100, 200, 60)]), [(100, 160, 60)]);
        assert_eq!(placed(&[(100, 200, 110)]), [(90, 200, 110)]);
    }

    #[test]
    fn rounded_times_move_calls_inside_the_one_around_them() {
        // The inner calls do not fit at the times of their events, but their durations fit into the outer call.
        let found = placed(&[
            (100, 200, 100),
            (100, 150, 65),
            (150, 190, 20),
            (190, 200, 12),
        ]);
        assert_eq!(
            found,
            [
                (100, 200, 100),
                (100, 165, 65),
                (165, 185, 20),
                (188, 200, 12)
            ]
        );
        // Too long for the outer call: the drawn slice is cut, its duration is not.
        let found = placed(&[(100, 110, 10), (101, 109, 30)]);
        assert_eq!(found, [(100, 110, 10), (100, 110, 30)]);
    }

    #[test]
    fn a_call_that_slept_is_drawn_around_what_it_called() {
        let found = placed(&[(0, 900_000, 100_000), (800_000, 890_000, 80_000)]);
        assert_eq!(found[0], (0, 880_000, 100_000));
        assert_eq!(found[1], (800_000, 880_000, 80_000));
    }

    #[test]
    fn searches_find_every_row_whatever_the_hint() {
        let mut table = MeasuredTable::default();
        for event in (0..2000).map(|at| at * 3) {
            table.rows.push(Measured::new(event, 1, 0, None));
        }
        for mut hint in [0, 5, 700, 1999, 5000] {
            for event in [0, 3, 5997, 300, 299, 298, 5998, 9000, 6] {
                let found = table.find(event, &mut hint).map(|row| row.event);
                assert_eq!(found, (event % 3 == 0 && event < 6000).then_some(event));
            }
        }
    }
}
