//! Finds the records of the model's events: the places of kept records, and the items that are written before or after
//! each record.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::file::header_at;
use super::input::Input;
use super::kept::Marks;
use super::references::References;
use crate::base::{ByteOrder, Timestamp};
use crate::export::fxt::item::{BesideEvent, Item, Side, event_of};
use crate::fxt::layout::{RECORD_TYPE, event, large, profiler, record_type, scheduling};
use crate::trace::EventId;

/// The record of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// Time of the event, in ns on the trace's clock.
    pub time: i64,
    /// Offset of the record in the file, in bytes.
    pub place: u64,
    /// Index of the event.
    pub event: u32,
}

/// The kept records, by their places.
pub(super) struct Places {
    /// A bit for each 8-byte word of the file: whether a kept record starts there.
    pub kept: Marks,
    /// Places of ends that become points, sorted.
    pub points: Vec<u64>,
    /// Kept records without a time, sorted by place.
    pub untimed: Vec<Record>,
    /// Records that are encoded again.
    pub anew: Vec<Record>,
}

impl Places {
    /// Returns the kept record without a time at a place.
    pub(crate) fn untimed(&self, place: u64) -> Option<Record> {
        let list = &self.untimed;
        let at = list.binary_search_by_key(&place, |record| record.place);
        list.get(at.ok()?).copied()
    }
}

/// Something that is written before or after a record.
#[derive(Clone, Copy)]
pub(crate) enum Beside {
    /// The item with this index in the list of items between kept records.
    Between(u32),
    Anew(Record),
    /// A blob after a record that is not kept: it is written after another record of the same time.
    Blob(Record),
}

/// Returns whether a record has no time of its own.
pub(crate) fn is_untimed(header: u64) -> bool {
    match RECORD_TYPE.get(header) {
        record_type::BLOB | record_type::USERSPACE_OBJECT => true,
        record_type::LARGE => large::FORMAT.get(header) == large::BLOB,
        _ => false,
    }
}

/// Returns whether a record is a blob, which belongs to no thread and has no time.
pub(crate) fn is_blob(header: u64) -> bool {
    is_untimed(header) && RECORD_TYPE.get(header) != record_type::USERSPACE_OBJECT
}

/// Returns whether the reader gives a record's time to following records that have none.
pub(crate) fn is_timed(header: u64) -> bool {
    match RECORD_TYPE.get(header) {
        record_type::EVENT | record_type::LOG => true,
        record_type::SCHEDULING => scheduling::KIND.get(header) <= scheduling::WAKEUP,
        record_type::PROFILER => profiler::KIND.get(header) <= profiler::A_BACKTRACE,
        _ => false,
    }
}

/// Returns the kept records of the range's events.
pub(crate) fn places<O: ByteOrder>(input: &Input<'_, '_>) -> Places {
    let (trace, span) = (input.source.trace, input.source.chosen.span);
    let kept = Marks::new(input.file.bytes.len() / 8);
    let lists: Mutex<[Vec<Record>; 3]> = Mutex::default();
    trace.events.segments().par_iter().for_each(|segment| {
        let [mut points, mut untimed, mut anew] = <[Vec<Record>; 3]>::default();
        let range = segment.lower_bound(span.start)..segment.lower_bound(span.end);
        segment.columns.visit(range, |index, time, place| {
            let Some(header) = header_at::<O>(input.file.bytes, place) else {
                return;
            };
            let id = segment.first + index;
            let record = Record {
                time,
                place,
                event: id,
            };
            match RECORD_TYPE.get(header) {
                record_type::EVENT => {
                    let kind = event::KIND.get(header);
                    // No counter has a sample of an event without a number.
                    let is_without_number = || {
                        let is_chosen = input.source.chosen.has_event(EventId(id));
                        is_chosen && !input.file.has_number(place)
                    };
                    match input.kept.becomes(kind, id) {
                        None if kind == event::COUNTER && is_without_number() => {
                            input.kept.keep(id);
                        }
                        None => return,
                        Some(event_type) if event_type as u64 != kind => points.push(record),
                        Some(_) => {}
                    }
                }
                _ if !input.kept.has_record(id) => return,
                // A switch at the range's start must not take off a thread that ended before the range.
                record_type::SCHEDULING if time == span.start.0 => {
                    anew.push(record);
                    return;
                }
                // The reader moves an event at the very end of the axis 1 ns back, and reports that.
                _ if time >= i64::MAX - 1 => {
                    anew.push(record);
                    return;
                }
                _ if is_untimed(header) => untimed.push(record),
                _ => {}
            }
            kept.add((place / 8) as usize);
        });
        let mut lists = lists.lock().unwrap_or_else(PoisonError::into_inner);
        for (list, found) in lists.iter_mut().zip([points, untimed, anew]) {
            list.extend(found);
        }
    });
    let [mut points, mut untimed, anew] =
        lists.into_inner().unwrap_or_else(PoisonError::into_inner);
    points.sort_unstable_by_key(|record| record.place);
    untimed.sort_unstable_by_key(|record| record.place);
    Places {
        kept,
        points: points.iter().map(|record| record.place).collect(),
        untimed,
        anew,
    }
}

/// Returns the events of the records at these places, which are sorted.
pub(crate) fn records_at(input: &Input<'_, '_>, sorted: &[u64]) -> Vec<Record> {
    let (trace, span) = (input.source.trace, input.source.chosen.span);
    if sorted.is_empty() {
        return Vec::new();
    }
    let of_segment = |segment: &crate::trace::Segment| {
        let mut found = Vec::new();
        let range = segment.lower_bound(span.start)..segment.lower_bound(span.end);
        segment.columns.visit(range, |index, time, place| {
            if sorted.binary_search(&place).is_ok() {
                let event = segment.first + index;
                found.push(Record { time, place, event });
            }
        });
        found
    };
    let segments = trace.events.segments().par_iter();
    segments.flat_map_iter(of_segment).collect()
}

/// The most events of one time among which the first in the file is searched.
const MOST_LOOKED_AT: usize = 64;

/// Returns the place of the first record of a time. `None` if there is none, if there are too many events, and for the
/// range's start.
fn first_at(input: &Input<'_, '_>, time: i64) -> Option<u64> {
    let events = &input.source.trace.events;
    if time <= input.source.chosen.span.start.0 {
        return None;
    }
    let same = events
        .from_time(Timestamp(time))
        .take_while(|&id| events.time(id).0 == time);
    let places: Vec<u64> = same
        .take(MOST_LOOKED_AT)
        .map(|id| events.get(id).row.place)
        .collect();
    let first = places.iter().copied().min();
    first.filter(|_| places.len() < MOST_LOOKED_AT)
}

/// Everything that is written besides the kept records.
pub(crate) struct BesideRecords {
    /// The items that are written before all records.
    pub top: Vec<Item>,
    /// Everything else, sorted by place.
    pub beside: Vec<BesidePlace>,
}

/// Something that is written before the first kept record from a place on.
#[derive(Clone, Copy)]
pub(crate) struct BesidePlace {
    /// The place: an offset in the file, in bytes.
    pub place: u64,
    pub what: Beside,
}

/// Returns everything that is written besides the kept records.
pub(crate) fn beside_records(
    input: &Input<'_, '_>,
    places: &Places,
    references: &References,
) -> BesideRecords {
    let events = input.source.trace.events.cursor();
    let mut top = Vec::new();
    let mut beside = Vec::new();
    for (index, item) in (0_u32..).zip(input.items.between()) {
        let own = || {
            let is_own = input.items.is_alone_whole(item);
            is_own.then_some(BesideEvent {
                event: item.slice.begin,
                side: Side::Before,
            })
        };
        let place = match event_of(item.order).or_else(own) {
            Some(BesideEvent { event, side }) => {
                let place = events.place(EventId(event));
                Some(place.saturating_add(u64::from(side == Side::After)))
            }
            None => first_at(input, item.time),
        };
        match place {
            Some(place) => beside.push(BesidePlace {
                place,
                what: Beside::Between(index),
            }),
            None => top.push(*item),
        }
    }
    let anew = places.anew.iter();
    beside.extend(anew.map(|record| BesidePlace {
        place: record.place,
        what: Beside::Anew(*record),
    }));
    let moved = references.moved.iter();
    beside.extend(moved.map(|(after, record)| BesidePlace {
        place: *after,
        what: Beside::Blob(*record),
    }));
    // The sort is stable: items of one place keep their order.
    beside.sort_by_key(|entry| entry.place);
    BesideRecords { top, beside }
}
