//! Records of an FXT file to records of ours: bytes that are copied, with other references to strings and threads, and
//! times in ns.
//!
//! That is done to the copied bytes where they lie: what the record refers to by index and this file holds in its fixed
//! tables keeps its size. All others (texts in the record, texts beyond the fixed table, arguments of unknown types, switches of
//! the older form) are taken apart and encoded, from their record as well.

use super::copies::{Copies, Copy};
use super::encode::{Encoder, FETCHED_TOGETHER};
use super::indices::{At, Indices, NO_INDEX};
use super::item::{Item, What, Window, order_of};
use super::records::{EventType, FixedTables};
use crate::formats::fxt::FxtSource;
use crate::trace::EventId;

/// Record types.
const EVENT: u64 = 4;
const SCHEDULING: u64 = 8;
/// Scheduling record types.
const SWITCH: u64 = 1;
const WAKEUP: u64 = 2;

/// The words of an argument by its type, of those that are copied: no text in it, no bytes; 0: it is not copied.
const ARG_WORDS: [u64; 16] = [1, 1, 1, 2, 2, 2, 1, 2, 2, 1, 0, 0, 0, 0, 0, 0];
/// The type of arguments that are texts.
const TEXT: u64 = 6;

const REFERENCE: u64 = 0xffff;

/// What becomes of an event record of a type.
#[inline]
fn becomes(event_type: u64, event: u32, copies: &Copies) -> Option<EventType> {
    let of_slice = |own: EventType, left_over: Option<EventType>| match copies.has(event) {
        true => Some(own),
        false => left_over.filter(|_| copies.has_point(event)),
    };
    match event_type {
        0 => Some(EventType::Instant),
        1 => Some(EventType::Counter),
        2 => of_slice(EventType::Begin, None),
        3 => of_slice(EventType::End, Some(EventType::Instant)),
        4 => of_slice(EventType::Complete, None),
        5 => of_slice(EventType::AsyncBegin, None),
        6 => Some(EventType::AsyncInstant),
        7 => of_slice(EventType::AsyncEnd, Some(EventType::AsyncInstant)),
        8 => of_slice(EventType::FlowBegin, None),
        9 => of_slice(EventType::FlowStep, None),
        10 => of_slice(EventType::FlowEnd, None),
        _ => None,
    }
}

#[inline]
fn field(word: u64, first: u32, bits: u32) -> u64 {
    word >> first & ((1 << bits) - 1)
}

/// Record bytes as words.
struct Bytes<'b>(&'b mut [[u8; 8]]);

impl Bytes<'_> {
    #[inline]
    fn get(&self, at: usize) -> Option<u64> {
        self.0.get(at).map(|&bytes| u64::from_le_bytes(bytes))
    }

    #[inline]
    fn set(&mut self, at: usize, word: u64) {
        if let Some(bytes) = self.0.get_mut(at) {
            *bytes = word.to_le_bytes();
        }
    }
}

/// Makes one of our records of the words of one that was copied. All answer how many words it has, or `None`: it cannot be
/// made so.
struct Exchange<'x, 'a> {
    indices: &'x mut Indices,
    source: &'x FxtSource<'a>,
    fixed: &'x FixedTables,
    at: At,
    shift: i64,
}

impl<'x, 'a> Exchange<'x, 'a> {
    #[inline]
    fn new(
        indices: &'x mut Indices,
        (source, copy): (&'x FxtSource<'a>, &Copy),
        fixed: &'x FixedTables,
        shift: i64,
    ) -> Exchange<'x, 'a> {
        Exchange {
            at: indices.at(source, copy.place),
            indices,
            source,
            fixed,
            shift,
        }
    }
}

impl Exchange<'_, '_> {
    #[inline]
    fn ticks(&self, time: i64) -> u64 {
        time.saturating_add(self.shift).max(0) as u64
    }

    /// The low 16 bits of `reference` in our file. `None`: it stands in no fixed table.
    #[inline]
    fn string(&mut self, reference: u64) -> Option<u64> {
        let from = (self.source, self.fixed);
        let index = self.indices.string(from, self.at, reference as u16);
        (index != NO_INDEX).then_some(index.into())
    }

    /// The references of `count` arguments from word `at` on; the word behind them.
    #[inline]
    fn arguments(&mut self, words: &mut Bytes<'_>, mut at: usize, count: u64) -> Option<usize> {
        for _ in 0..count {
            let header = words.get(at)?;
            let size = field(header, 4, 12);
            let kind = field(header, 0, 4);
            if size != ARG_WORDS[kind as usize] || size == 0 {
                return None;
            }
            let name = self.string(header >> 16)?;
            let mut ours = header & !(REFERENCE << 16) | name << 16;
            if kind == TEXT {
                ours = ours & u64::from(u32::MAX) | self.string(header >> 32)? << 32;
            }
            words.set(at, ours);
            at += size as usize;
        }
        // The last one may reach past its record.
        (at <= words.0.len()).then_some(at)
    }

    #[inline]
    fn event(
        &mut self,
        (header, mut words): (u64, Bytes<'_>),
        time: i64,
        (event_type, thread): (EventType, u8),
    ) -> Option<usize> {
        let category = self.string(header >> 32)?;
        let name = self.string(header >> 48)?;
        let arg_count = field(header, 20, 4);
        let mut size = self.arguments(&mut words, 2, arg_count)?;
        match event_type {
            EventType::Instant => {
                // Scopes that are not the thread's; ends of nothing have none.
                let is_instant = field(header, 16, 4) == EventType::Instant as u64;
                let has_scope = matches!(words.get(size), Some(1 | 2));
                size += usize::from(is_instant && has_scope);
            }
            EventType::Begin | EventType::End => {}
            EventType::Complete => {
                let tick = words.get(size)?;
                let end = self.indices.nanos(self.source, self.at, tick)?;
                words.set(size, self.ticks(end.max(time)));
                size += 1;
            }
            _ => {
                words.get(size)?;
                size += 1;
            }
        }
        words.set(1, self.ticks(time));
        let ours = EVENT
            | (size as u64) << 4
            | (event_type as u64) << 16
            | arg_count << 20
            | u64::from(thread) << 24
            | category << 32
            | name << 48;
        words.set(0, ours);
        Some(size)
    }

    #[inline]
    fn scheduling(
        &mut self,
        (header, mut words): (u64, Bytes<'_>),
        time: i64,
        head_words: usize,
    ) -> Option<usize> {
        let size = self.arguments(&mut words, head_words, field(header, 16, 4))?;
        words.set(1, self.ticks(time));
        words.set(0, header & !(0xfff << 4) | (size as u64) << 4);
        Some(size)
    }
}

impl<'a> Encoder<'a, '_> {
    /// Encodes a window: its items among the events that are copied.
    pub fn window(&mut self, window: &Window) {
        let mut copies = window.copies.list.as_slice();
        let mut items = window.items.as_slice();
        while let [next, ..] = copies {
            let place = (next.time, order_of(next.event));
            let count = items
                .iter()
                .take_while(|item| (item.time, item.order) < place)
                .count();
            let (before, rest) = items.split_at(count);
            self.items(before);
            items = rest;
            let count = match items {
                [] => copies.len(),
                [item, ..] => copies
                    .iter()
                    .take_while(|copy| (copy.time, order_of(copy.event)) <= (item.time, item.order))
                    .count(),
            };
            let (before, rest) = copies.split_at(count);
            self.copies(before);
            copies = rest;
        }
        self.items(items);
    }

    /// Copies the records of events that follow each other, as far as they are told so.
    fn copies(&mut self, copies: &[Copy]) {
        let source = self.source;
        let (Some(fxt), Some(chosen)) = (source.fxt, source.copies) else {
            return;
        };
        for some in copies.chunks(FETCHED_TOGETHER) {
            // See `items`.
            for copy in some {
                fxt.fetch(copy.place);
            }
            for copy in some {
                let Some(record) = fxt.record(copy.place) else {
                    continue;
                };
                let header = record.first_chunk::<8>();
                let header = header.map_or(0, |&bytes| u64::from_le_bytes(bytes));
                let is_written = match field(header, 0, 4) {
                    EVENT => becomes(field(header, 16, 4), copy.event, chosen)
                        .map(|event_type| {
                            self.copy_event((&fxt, copy), (header, record), event_type)
                        })
                        .is_some(),
                    SCHEDULING if chosen.has_scheduling => {
                        self.copy_scheduling((&fxt, copy), (header, record));
                        true
                    }
                    _ => false,
                };
                if is_written {
                    self.anchor = Some(copy.time);
                }
            }
        }
    }

    /// The index of whoever did it.
    #[inline]
    fn thread_of_copy(&mut self, copy: &Copy) -> u8 {
        match self.source.fixed_threads.get(copy.key.0 as usize) {
            Some(&index) if index != 0 => {
                self.records.used.thread(index);
                index
            }
            _ => {
                let thread = self.events.thread(EventId(copy.event));
                self.records.thread(self.source.koids.thread(thread))
            }
        }
    }

    #[inline]
    fn copy_event(
        &mut self,
        (fxt, copy): (&FxtSource<'a>, &Copy),
        (header, record): (u64, &[u8]),
        event_type: EventType,
    ) {
        let thread = self.thread_of_copy(copy);
        let out = &mut self.records.out;
        let start = out.len();
        if field(header, 24, 8) == 0 {
            // A thread that stands in the record has an index now.
            out.extend_from_slice(record.get(..16).unwrap_or_default());
            out.extend_from_slice(record.get(32..).unwrap_or_default());
        } else {
            out.extend_from_slice(record);
        }
        let words = out.get_mut(start..).unwrap_or_default();
        let indices = &mut self.source_names.indices;
        let (fixed, shift) = (self.records.fixed, self.source.shift);
        let mut exchange = Exchange::new(indices, (fxt, copy), fixed, shift);
        let words = Bytes(words.as_chunks_mut().0);
        let count = exchange.event((header, words), copy.time, (event_type, thread));
        out.truncate(count.map_or(start, |count| start + count * 8));
        match count {
            Some(_) => self.records.counts.events[event_type as usize] += 1,
            None => self.encode_event(fxt, copy, event_type),
        }
    }

    #[inline]
    fn copy_scheduling(
        &mut self,
        (fxt, copy): (&FxtSource<'_>, &Copy),
        (header, record): (u64, &[u8]),
    ) {
        let sort = field(header, 60, 4);
        let head_words = match sort {
            SWITCH => 4,
            WAKEUP => 3,
            _ => 0,
        };
        let out = &mut self.records.out;
        let start = out.len();
        let mut count = None;
        // Who died before the range is not switched from at its start.
        if head_words > 0 && copy.time != self.source.chosen.span.start.0 {
            out.extend_from_slice(record);
            let words = out.get_mut(start..).unwrap_or_default();
            let indices = &mut self.source_names.indices;
            let (fixed, shift) = (self.records.fixed, self.source.shift);
            let mut exchange = Exchange::new(indices, (fxt, copy), fixed, shift);
            let words = Bytes(words.as_chunks_mut().0);
            count = exchange.scheduling((header, words), copy.time, head_words);
        }
        out.truncate(count.map_or(start, |count| start + count * 8));
        match (count, sort) {
            (Some(_), SWITCH) => self.records.counts.switches += 1,
            (Some(_), _) => self.records.counts.wakeups += 1,
            (None, _) => {
                let at = (copy.time, order_of(copy.event));
                self.scheduling_record(&Item::new(What::Scheduling, at, copy.event, 0));
            }
        }
    }

    /// The same record in its parts.
    #[cold]
    fn encode_event(&mut self, fxt: &FxtSource<'a>, copy: &Copy, event_type: EventType) {
        let id = EventId(copy.event);
        self.read(id);
        let Some(own) = self.own.clone() else { return };
        let names = self.source_names.names(fxt, &own, &self.records);
        let (category, name) = names.unwrap_or_else(|| {
            let (category, name) = self.names_of(self.events.kind(id));
            (self.name(category), self.name(name))
        });
        let last_word = match event_type {
            EventType::Instant => self.scope_word(),
            EventType::Counter => own.counter_id(),
            EventType::Complete => {
                let at = self.source_names.indices.at(fxt, copy.place);
                let tick = own.last_word();
                let end = tick.and_then(|tick| self.source_names.indices.nanos(fxt, at, tick));
                Some(self.ticks(end.unwrap_or(copy.time).max(copy.time)))
            }
            EventType::Begin | EventType::End => None,
            _ => own.last_word(),
        };
        let thread = self.source.koids.thread(self.events.thread(id));
        let at = (copy.time, thread);
        self.named_event(event_type, at, (category, name), &[], last_word);
    }
}
