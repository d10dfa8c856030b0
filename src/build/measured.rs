//! Durations that the recorder measured, and where slices with such durations are drawn.
//!
//! ```text
//! own clock is the events':  [calltime, rettime)                      exact in place and length
//! another clock:             |entry's event ... return's event|       the slice lies between, as late as it can
//! another unit:              from event to event                      only the number is the recorder's
//! ```
//!
//! The measured duration is the slice's duration wherever the slice is drawn. True calls nest, and a call returned
//! before its return's event and began before its entry's event. So the latest place that both allow nests as well,
//! but for rounded times and clocks that stand still: there a slice moves inside the one around it, to where the
//! clock that measured both says that it was, if the file has that, and is cut only if it does not fit.

use rustc_hash::FxHashMap;

use super::merge::Merged;
use super::nesting::Draft;
use crate::base::TimeSpan;
use crate::event::part::ClockUnit;
use crate::event::{Measured, MeasuredClock};

/// A return's event comes at most this many ns after the return that it tells of, in the nearest case of a lane.
const MOST_LATE_NS: i32 = 20_000;
/// Times of texts are rounded to a microsecond.
const ROUNDING_NS: i32 = 1_000;
/// A slice whose parts are this much longer than its measured time did not lose that by rounding: it slept.
const MOST_MOVED_NS: i64 = 10_000;

/// All measured durations, by the event that ends the slice.
#[derive(Debug, Default)]
pub struct MeasuredTable {
    /// Sorted by event.
    rows: Vec<Measured>,
    /// Labels of slices whose begins may be lost: (event, common label), sorted by event.
    stated: Vec<(u32, u32)>,
    /// The first event of each part, and whether its durations were measured by the events' clock.
    parts: Vec<(u32, bool)>,
    /// Whether the events' times are ns, too.
    pub is_in_nanos: bool,
    /// The earliest begin that is known.
    pub first_start: Option<i64>,
    /// The latest end of slices of one event.
    pub last_end: Option<i64>,
}

impl MeasuredTable {
    /// Takes the rows out of the parts; the events' times are in `unit`.
    pub fn take(merged: &mut Merged, unit: ClockUnit) -> MeasuredTable {
        let mut table = MeasuredTable {
            is_in_nanos: unit == ClockUnit::Nanoseconds,
            ..MeasuredTable::default()
        };
        let lanes = least_late(merged);
        for part in &mut merged.parts {
            if part.rows.measured.is_empty() {
                continue;
            }
            let segment = &merged.events.segments()[part.segment as usize];
            let least_late = lanes.get(&segment.lane).copied().unwrap_or(0);
            let is_same = match part.rows.measured_clock {
                _ if !table.is_in_nanos => false,
                MeasuredClock::Same => true,
                MeasuredClock::Other => false,
                MeasuredClock::Unproven => (-ROUNDING_NS..MOST_LATE_NS).contains(&least_late),
            };
            table.parts.push((part.first_event, is_same));
            let rows = std::mem::take(&mut part.rows.measured);
            let mut stated = std::mem::take(&mut part.rows.stated).into_iter().peekable();
            table.rows.reserve(rows.len());
            for mut row in rows {
                let time = segment.columns.time(row.event).0;
                while stated.next_if(|lost| lost.event < row.event).is_some() {}
                let lost = stated.next_if(|lost| lost.event == row.event);
                let ended = match row.lateness().filter(|_| is_same) {
                    Some(late) => Some(time.saturating_sub(late.into())),
                    None => lost.map(|_| time),
                };
                let start = ended.map(|end| end.saturating_sub(row.duration_ns));
                let start = start.filter(|_| table.is_in_nanos);
                table.first_start = [table.first_start, start].into_iter().flatten().min();
                if row.late == Measured::ONE_EVENT && table.is_in_nanos {
                    let end = time.saturating_add(row.duration_ns);
                    table.last_end = table.last_end.max(Some(end));
                }
                row.event += part.first_event;
                if let Some(label) = lost.and_then(|lost| part.label_map.get(lost.label as usize)) {
                    table.stated.push((row.event, label.0));
                }
                table.rows.push(row);
            }
        }
        table
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What was measured of the slice that `event` ends. `hint` makes the next search short.
    pub fn find(&self, event: u32, hint: &mut usize) -> Option<Measured> {
        let is_before = |at: usize| self.rows.get(at).is_some_and(|row| row.event < event);
        // Events of a track mostly come a little after the one before.
        let (mut low, mut step) = (*hint, 1);
        if low >= self.rows.len() || self.rows.get(low).is_some_and(|row| row.event > event) {
            low = 0;
            step = self.rows.len();
        }
        while step < self.rows.len() && is_before(low + step) {
            low += step;
            step *= 2;
        }
        let high = low.saturating_add(step + 1).min(self.rows.len());
        let range = self.rows.get(low..high)?;
        let at = low + range.partition_point(|row| row.event < event);
        *hint = at;
        self.rows.get(at).copied().filter(|row| row.event == event)
    }

    fn is_same_clock(&self, event: u32) -> bool {
        let after = self.parts.partition_point(|part| part.0 <= event);
        let part = after.checked_sub(1).and_then(|at| self.parts.get(at));
        part.is_some_and(|part| part.1)
    }

    /// How many ns before its event a slice ended, where its own times are those of the events' clock.
    pub fn lateness(&self, row: &Measured) -> Option<i32> {
        row.lateness().filter(|_| self.is_same_clock(row.event))
    }

    /// When the slice began at the latest whose end was told at `time`: its event comes after the end, by as much as is known.
    pub fn latest_begin(&self, row: &Measured, time: i64) -> i64 {
        let late = self.lateness(row).unwrap_or(0);
        (time - i64::from(late)).saturating_sub(row.duration_ns)
    }

    /// The label of the slice that `event` ends, where its begin may be lost.
    pub fn label(&self, event: u32) -> Option<u32> {
        let at = self.stated.binary_search_by_key(&event, |lost| lost.0);
        self.stated.get(at.ok()?).map(|lost| lost.1)
    }
}

/// Of each lane, how long after its slice's end an event came at least by the clock that measured. Where that clock is
/// the events' own, no slice ends after its event, and some event comes right after the end.
fn least_late(merged: &Merged) -> FxHashMap<u32, i32> {
    let mut least: FxHashMap<u32, i32> = FxHashMap::default();
    for part in &merged.parts {
        let lates = part.rows.measured.iter().filter_map(Measured::lateness);
        if let Some(late) = lates.min() {
            let lane = merged.events.segments()[part.segment as usize].lane;
            let entry = least.entry(lane).or_insert(late);
            *entry = late.min(*entry);
        }
    }
    least
}

/// What the events' times are good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// They are ns, as measured durations are. No call is moved out of this span.
    Nanos(TimeSpan),
    /// They count something else.
    OtherUnit,
}

/// A call on its way to its place.
struct Call {
    draft: u32,
    /// The call around it, or `u32::MAX`.
    parent: u32,
    /// Between the events that tell of it.
    start: i64,
    end: i64,
    /// Measured, or -1.
    duration: i64,
    /// Whether start and end are the recorder's own.
    is_placed: bool,
    /// How long it is to be drawn; 0 if nobody knows.
    length: i64,
    /// When it ended by the clock that measured it, where the file says so.
    own_end: Option<i64>,
    /// How long after the call around it it began by that clock, if by that clock it lies in it.
    own_offset: Option<i64>,
    /// Durations of the calls in it that are still to be placed.
    inner: i64,
    /// Where the last call in it that was placed ended.
    floor: i64,
}

const NONE: u32 = u32::MAX;

/// Places the calls among a track's drafts, which are sorted by start; `is_call` by label. Returns the measured
/// durations of those that are drawn otherwise, by the event that began them. Drafts may then be out of order.
pub fn place(
    drafts: &mut [Draft],
    table: &MeasuredTable,
    axis: Axis,
    is_call: impl Fn(u32) -> bool,
) -> FxHashMap<u32, i64> {
    let mut odd = FxHashMap::default();
    let mut calls = calls_among(drafts, table, is_call);
    if calls.iter().all(|call| call.duration < 0) {
        return odd;
    }
    if let Axis::Nanos(span) = axis {
        hold_inner(&mut calls);
        want(&mut calls, span.start.0);
        settle(&mut calls, span.end.0);
    }
    for call in &calls {
        let draft = &mut drafts[call.draft as usize];
        // What the one around it cuts off did not end there.
        draft.is_unended |= draft.end == i64::MAX && call.end != i64::MAX;
        (draft.start, draft.end) = (call.start, call.end);
        if call.duration >= 0 && call.end.saturating_sub(call.start) != call.duration {
            odd.insert(draft.begin, call.duration);
        }
    }
    odd
}

/// Whether a slice has no begin of its own: its end says how long it was.
pub fn is_told_by_end(draft: &Draft) -> bool {
    draft.finish == NONE && !draft.is_unended && draft.end != i64::MAX
}

/// An open call, when it is over at the latest, and the event that says so: no later than the call around it.
type Open = (u32, i64, u32);

/// Closes the calls that were over when one began: by its draft, and at `own_start` by the clock that measured it.
fn close(open: &mut Vec<Open>, calls: &[Call], draft: &Draft, own_start: Option<i64>) {
    while let Some(&(around, end, ended_by)) = open.last() {
        // Of equal times, a call that ended before this one began is over.
        let is_over = end < draft.start || end == draft.start && ended_by <= draft.begin;
        // An interrupt between a return and its event comes after the call, not in it.
        let returned = calls.get(around as usize).and_then(|call| call.own_end);
        let has_returned = returned
            .zip(own_start)
            .is_some_and(|(end, start)| end < start);
        if !is_over && !has_returned {
            break;
        }
        open.pop();
    }
}

/// The measured durations of slices whose begins are lost, by event: where the events' times count something else, such
/// are drawn as points.
pub fn of_lone_ends(drafts: &[Draft], table: &MeasuredTable, odd: &mut FxHashMap<u32, i64>) {
    let mut hint = 0;
    for draft in drafts.iter().filter(|draft| is_told_by_end(draft)) {
        if let Some(row) = table.find(draft.begin, &mut hint) {
            odd.insert(draft.begin, row.duration_ns);
        }
    }
}

/// The calls among drafts, outer before inner, with the calls around them.
fn calls_among(
    drafts: &[Draft],
    table: &MeasuredTable,
    is_call: impl Fn(u32) -> bool,
) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut hint = 0;
    // A call of one event ends before the next one starts.
    let mut last_leaf = NONE;
    for (number, draft) in drafts.iter().enumerate() {
        if !is_call(draft.label) {
            continue;
        }
        if let Some(leaf) = calls.get_mut(last_leaf as usize) {
            leaf.end = leaf.end.min(draft.start.max(leaf.start));
        }
        last_leaf = NONE;
        let found = (draft.finish != NONE).then(|| table.find(draft.finish, &mut hint));
        let found = found.flatten();
        let own_end = found.and_then(|row| Some(draft.end.saturating_sub(row.lateness()?.into())));
        let own_start = own_end
            .zip(found)
            .map(|(end, row)| end.saturating_sub(row.duration_ns));
        close(&mut open, &calls, draft, own_start);
        let (parent, latest, latest_by) = open.last().copied().unwrap_or((NONE, i64::MAX, NONE));
        let told_by_end = is_told_by_end(draft);
        let ended_by = if told_by_end {
            draft.begin
        } else {
            draft.finish
        };
        let mut call = Call {
            draft: number as u32,
            parent,
            start: draft.start,
            end: draft.end,
            duration: match told_by_end {
                true => draft.end.saturating_sub(draft.start),
                false => found.map_or(-1, |row| row.duration_ns),
            },
            is_placed: told_by_end,
            length: 0,
            own_end,
            own_offset: None,
            inner: 0,
            floor: i64::MIN,
        };
        let index = calls.len() as u32;
        match found {
            Some(row) if row.late == Measured::ONE_EVENT => {
                let around = calls.get(parent as usize).map_or(i64::MAX, |call| call.end);
                let end = call.start.saturating_add(row.duration_ns);
                call.end = end.min(around).max(call.start);
                last_leaf = index;
            }
            _ => {
                let (end, ended_by) = (draft.end, ended_by).min((latest, latest_by));
                open.push((index, end, ended_by));
            }
        }
        if let Some(late) = found.and_then(|row| table.lateness(&row)) {
            call.end = draft.end.saturating_sub(late.into());
            call.start = call.end.saturating_sub(call.duration);
            call.is_placed = true;
        }
        calls.push(call);
    }
    calls
}

/// A call whose place is known holds the calls in it whose place is known, also where the recorder left out the time
/// that it slept.
fn hold_inner(calls: &mut [Call]) {
    for index in (0..calls.len()).rev() {
        let (before, from_here) = calls.split_at_mut(index);
        let call = &from_here[0];
        if let Some(around) = before.get_mut(call.parent as usize)
            && call.is_placed
            && around.is_placed
        {
            around.start = around.start.min(call.start);
            around.end = around.end.max(call.end);
        }
    }
}

/// Where the other calls would lie if nothing were rounded, and how long they are to be drawn; `first` is the earliest
/// time.
fn want(calls: &mut [Call], first: i64) {
    for call in calls.iter_mut().filter(|call| !call.is_placed) {
        if call.duration < 0 {
            continue;
        }
        // Its end's event is in `end`: the call may begin so late that it ends there, but not after its own event.
        let latest = call.end.saturating_sub(call.duration);
        call.start = call.start.min(latest.max(first));
        call.length = call.duration;
    }
    for index in (0..calls.len()).rev() {
        let (before, from_here) = calls.split_at_mut(index);
        let call = &mut from_here[0];
        let end = call.start.saturating_add(call.length);
        if call.is_placed || call.duration < 0 {
            continue;
        }
        let Some(around) = before.get_mut(call.parent as usize) else {
            continue;
        };
        call.own_offset = own_offset(call, around);
        let beyond = end.saturating_sub(around.start.saturating_add(around.length));
        if around.duration >= 0 && beyond > MOST_MOVED_NS && call.own_offset.is_none() {
            around.length = around.length.saturating_add(beyond);
        }
        around.inner = around.inner.saturating_add(call.duration);
    }
}

/// How long after the call around it a call began by the clock that measured both, if it lies in it by that clock. It
/// does not where the recorder left out the time that the outer one slept.
fn own_offset(call: &Call, around: &Call) -> Option<i64> {
    let began = |call: &Call| Some(call.own_end?.saturating_sub(call.duration.max(0)));
    let offset = began(call)?.checked_sub(began(around)?)?;
    let is_inside = offset >= 0 && call.own_end? <= around.own_end?;
    (is_inside && around.duration >= 0).then_some(offset)
}

/// Moves calls into those around them, outer ones first; they are cut only where they do not fit. None ends after
/// `last` by being moved.
fn settle(calls: &mut [Call], last: i64) {
    let mut floor = i64::MIN;
    for index in 0..calls.len() {
        let (before, from_here) = calls.split_at_mut(index);
        let call = &mut from_here[0];
        let mut around = before.get_mut(call.parent as usize);
        if !call.is_placed {
            let (low, high, inner) = match &around {
                Some(around) => (around.floor.max(around.start), around.end, around.inner),
                None => (floor, i64::MAX, 0),
            };
            if let (Some(offset), Some(around)) = (call.own_offset, &around)
                && call.start.saturating_add(call.length) > high
            {
                call.start = around.start.saturating_add(offset);
            }
            // What comes after it in the same call needs its room, too.
            let latest = high.saturating_sub(inner);
            let start = call.start.min(latest).max(low).min(high);
            let behind = inner.saturating_sub(call.duration.max(0));
            call.end = match call.duration {
                0.. => start.saturating_add(call.length).min(last.max(start)),
                _ => call.end.max(start),
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

    /// Drafts of (start, end, measured), outer ones first, whose begins and ends are numbered in order of time.
    fn placed(rows: &[(i64, i64, i64)]) -> Vec<(i64, i64, i64)> {
        let mut events: Vec<(i64, bool, usize)> = Vec::new();
        for (row, &(start, end, _)) in rows.iter().enumerate() {
            events.push((start, true, row));
            events.push((end, false, row));
        }
        // Of one time, those that end come first, the innermost before the others.
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
                end,
                is_unended: false,
                label: 0,
                begin: event(true, row),
                finish,
            });
            let measured = Measured::new(finish, duration_ns, end, None);
            table.rows.push(measured);
        }
        table.rows.sort_by_key(|row| row.event);
        let span = TimeSpan::new(Timestamp(0), Timestamp(1 << 40));
        let odd = place(&mut drafts, &table, Axis::Nanos(span), |_| true);
        let duration = |draft: &Draft| {
            let drawn = draft.end - draft.start;
            odd.get(&draft.begin).copied().unwrap_or(drawn)
        };
        let rows = drafts.iter();
        rows.map(|it| (it.start, it.end, duration(it))).collect()
    }

    #[test]
    fn a_call_lies_as_late_as_its_events_allow() {
        // Its event was written late, and the return's event later still.
        assert_eq!(placed(&[(100, 200, 60)]), [(100, 160, 60)]);
        assert_eq!(placed(&[(100, 200, 110)]), [(90, 200, 110)]);
    }

    #[test]
    fn rounded_times_move_calls_inside_the_one_around_them() {
        // The calls in it do not fit where their events say, but they fit.
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
        // More than there is room: the picture is cut, never the number.
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
