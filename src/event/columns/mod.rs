//! All events of a part, 9 bytes each: time, kind, thread, and place in the file.
//!
//! ```text
//! block of 128 events: base time i64 | base place u64      event: +time u32 | +place u16 | kind u16 | thread u8
//! ```
//!
//! A part with large kind numbers needs 2 bytes more per event, a part with many threads 1 or 3 more.
//!
//! Places are stored in units of `1 << place_shift` bytes from the block's base. If the places of a block differ by too
//! much for 2 bytes, the block is "far" and has 2 bytes more per place: this happens if many streams were written in
//! turns. If the times differ by too much, or the places by even more, the block is "wide", with a full time and place
//! per event. The time of an event is found in constant time. This module does not interpret kinds and threads.

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};
use std::ops::Range;

use super::keys::{KindId, ThreadKey};
use super::kind_column::{KindColumn, KindSlice};
use super::thread_column::{ThreadColumn, ThreadRun};
use crate::base::column::Column;
use crate::base::order::first_not;
use crate::base::streaks::Streaks;
use crate::base::{Maybe, Timestamp};

const BLOCK_SHIFT: u32 = 7;
const BLOCK_LEN: usize = 1 << BLOCK_SHIFT;
/// Limit of insertion sort: events move at most this many positions back on average, otherwise all events are sorted
/// again.
const MOST_STEPS_BACK: usize = 8;
/// Value of `Block::rest`: the block is neither far nor wide.
const NARROW: u32 = u32::MAX;
/// Bit of `Block::rest`: the block is far.
const FAR: u32 = 1 << 31;

/// The columns of events, in the order of the pushes; see the module's text for the layout.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EventColumns {
    times: Column<u32>,
    places: Column<u16>,
    kinds: KindColumn,
    threads: ThreadColumn,
    blocks: Column<Block>,
    /// The high halves of the places in far blocks.
    far: Column<u16>,
    wide: Column<Wide>,
    /// The CPU of each event, in lanes with events of several CPUs; otherwise empty.
    cpus: Column<Maybe<u16>>,
    place_shift: u8,
    is_unsorted: bool,
    last_time: i64,
    /// The last block, to which events are added.
    #[serde(skip)]
    open: OpenBlock,
}

/// What is needed of a block to add an event that is close to its base.
#[derive(Clone, Copy, Debug, Default)]
struct OpenBlock {
    time: i64,
    place: u64,
    /// The number of units from the base that an event may be away; 0 if the block is far or wide.
    units_end: u64,
}

impl OpenBlock {
    /// Returns the last of the blocks.
    fn of(blocks: &[Block]) -> OpenBlock {
        let last = blocks.last().copied();
        last.map_or(OpenBlock::default(), |block| OpenBlock {
            time: block.time,
            place: block.place,
            units_end: match block.rest {
                NARROW => 1 << u16::BITS,
                _ => 0,
            },
        })
    }
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Block {
    time: i64,
    place: u64,
    /// `FAR | index` of the block's first event in `far`, or its index in `wide`, or `NARROW`.
    rest: u32,
    unused: u32,
}

impl Block {
    /// Returns whether each event of the block has a full time and place.
    #[inline]
    fn is_wide(&self) -> bool {
        self.rest < FAR
    }
}

#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
struct Wide {
    time: i64,
    place: u64,
}

/// One event of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// Time on the trace's clock.
    pub time: Timestamp,
    /// Byte offset in its lane; the reader defines whether in the file, a decompressed stream or a text.
    pub place: u64,
    /// The event's kind.
    pub kind: KindId,
    /// The event's thread, if it is known.
    pub thread: Option<ThreadKey>,
}

/// Times and kinds of a block of neighbouring events, for iteration over many events.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventBlock<'a> {
    /// Index of the first event.
    pub first: u32,
    /// The time that `times` are relative to, in ns.
    pub base_time: i64,
    /// Time of each event in ns after `base_time`. Empty if the block is wide.
    pub times: &'a [u32],
    /// Kind of each event. Empty if the block is wide.
    pub kinds: KindSlice<'a>,
}

/// Events that were sorted by time.
pub(crate) struct SortedEvents {
    /// The events in order.
    pub events: EventColumns,
    /// The new index of each event, indexed by its old index.
    pub new_indices: Vec<u32>,
}

impl EventColumns {
    /// Returns empty columns. Places must be multiples of `1 << place_shift` bytes (2 for trace.dat, 3 for FXT, 0 for
    /// text).
    #[must_use]
    pub fn new(place_shift: u8) -> EventColumns {
        EventColumns {
            place_shift,
            last_time: i64::MIN,
            ..EventColumns::default()
        }
    }

    /// Reserves room for `count` more events.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.times.reserve(count);
        self.places.reserve(count);
        self.kinds.reserve(count);
        self.threads.reserve(count);
        self.blocks.reserve(count / BLOCK_LEN + 1);
    }

    /// Frees unused room.
    pub(crate) fn shrink(&mut self) {
        self.times.shrink_to_fit();
        self.places.shrink_to_fit();
        self.kinds.shrink();
        self.threads.shrink();
        self.blocks.shrink_to_fit();
        self.far.shrink_to_fit();
        self.wide.shrink_to_fit();
        self.cpus.shrink_to_fit();
    }

    /// Appends an event and returns its index in these columns.
    #[inline]
    pub fn push(
        &mut self,
        time: i64,
        place: u64,
        kind: KindId,
        thread: impl Into<Maybe<ThreadKey>>,
    ) -> u32 {
        let index = self.times.len();
        if index & (BLOCK_LEN - 1) == 0 {
            self.blocks.push(Block {
                time,
                place,
                rest: NARROW,
                unused: 0,
            });
            self.open = OpenBlock::of(&self.blocks);
        }
        self.kinds.push(kind);
        self.threads.push(thread.into());
        let open = self.open;
        let time_delta = time.wrapping_sub(open.time) as u64;
        // Bits below a whole unit come to the top.
        let units = place.wrapping_sub(open.place);
        let units = units.rotate_right(u32::from(self.place_shift));
        if time >= self.last_time && time_delta <= u64::from(u32::MAX) && units < open.units_end {
            self.last_time = time;
            self.times.push(time_delta as u32);
            self.places.push(units as u16);
        } else {
            self.push_unusual(index, time, place);
        }
        index as u32
    }

    /// Appends the time and place of an event that is before the last one, or far from its block's base.
    #[inline(never)]
    fn push_unusual(&mut self, index: usize, time: i64, place: u64) {
        self.is_unsorted |= time < self.last_time;
        self.last_time = time;
        let mut block = self.blocks[index >> BLOCK_SHIFT];
        if time < block.time && self.rebase_time(index, time) {
            block = self.blocks[index >> BLOCK_SHIFT];
        }
        let time_delta = time.wrapping_sub(block.time) as u64;
        let place_delta = place.wrapping_sub(block.place);
        let units = place_delta >> self.place_shift;
        let fits = time_delta <= u64::from(u32::MAX)
            && units <= u64::from(u16::MAX)
            && units << self.place_shift == place_delta
            && block.rest == NARROW;
        if fits {
            self.times.push(time_delta as u32);
            self.places.push(units as u16);
        } else if time_delta > u64::from(u32::MAX)
            || !self.push_far(index, time_delta as u32, place)
        {
            self.push_wide(index, time, place);
        }
        self.open = OpenBlock::of(&self.blocks);
    }

    /// Appends an event whose place may be far from its block's base, or before it. Returns whether it was appended.
    fn push_far(&mut self, index: usize, time_delta: u32, place: u64) -> bool {
        let number = index >> BLOCK_SHIFT;
        let block = self.blocks[number];
        if block.is_wide() {
            return false;
        }
        if block.rest == NARROW {
            if self.rebase(index, place) {
                let place_delta = place - self.blocks[number].place;
                self.times.push(time_delta);
                self.places.push((place_delta >> self.place_shift) as u16);
                return true;
            }
            if self.far.len() >= (FAR - 1) as usize {
                return false;
            }
        }
        let distance = place.wrapping_sub(block.place) as i64;
        let units = distance >> self.place_shift;
        let Ok(units) = i32::try_from(units).map_err(drop).and_then(|narrow| {
            let is_whole = units << self.place_shift == distance;
            if is_whole { Ok(narrow) } else { Err(()) }
        }) else {
            return false;
        };
        if block.rest == NARROW {
            self.blocks[number].rest = FAR | self.far.len() as u32;
            let start = number << BLOCK_SHIFT;
            let length = self.far.len() + index - start;
            self.far.to_mut().resize(length, 0);
        }
        self.far.push((units >> 16) as u16);
        self.times.push(time_delta);
        self.places.push(units as u16);
        true
    }

    /// Moves the base place of the block that contains event `index` back so that `place` fits; returns whether that
    /// was possible. If streams were written in turns, places increase and decrease in turns.
    fn rebase(&mut self, index: usize, place: u64) -> bool {
        let start = index & !(BLOCK_LEN - 1);
        let block = self.blocks[index >> BLOCK_SHIFT];
        if place >= block.place {
            return false;
        }
        let distance = block.place - place;
        let units = distance >> self.place_shift;
        if units > u64::from(u16::MAX) || units << self.place_shift != distance {
            return false;
        }
        let largest = self.places[start..].iter().copied().max().unwrap_or(0);
        if units + u64::from(largest) > u64::from(u16::MAX) {
            return false;
        }
        for earlier in &mut self.places[start..] {
            *earlier += units as u16;
        }
        self.blocks[index >> BLOCK_SHIFT].place = place;
        true
    }

    /// Moves the base time of the block that contains event `index` back to `time`, which is a little earlier; returns
    /// whether that was possible. Lines of several CPUs are slightly out of order.
    fn rebase_time(&mut self, index: usize, time: i64) -> bool {
        let start = index & !(BLOCK_LEN - 1);
        let block = self.blocks[index >> BLOCK_SHIFT];
        let distance = u32::try_from(block.time.wrapping_sub(time) as u64);
        let (Ok(distance), false) = (distance, block.is_wide()) else {
            return false;
        };
        let latest = self.times[start..].iter().copied().max().unwrap_or(0);
        if latest.checked_add(distance).is_none() {
            return false;
        }
        for later in &mut self.times[start..] {
            *later += distance;
        }
        self.blocks[index >> BLOCK_SHIFT].time = time;
        true
    }

    /// Appends an event that happened on `cpu`, if that is known. In one part, all events must be appended by this
    /// function, or none.
    #[inline]
    pub(crate) fn push_on_cpu(
        &mut self,
        time: i64,
        place: u64,
        kind: KindId,
        thread: impl Into<Maybe<ThreadKey>>,
        cpu: Maybe<u16>,
    ) -> u32 {
        self.cpus.push(cpu);
        self.push(time, place, kind, thread)
    }

    /// Sets the CPUs of some events, pairs of an event's index and its CPU. No event may have one yet.
    pub(crate) fn set_cpus(&mut self, known: &[(u32, u16)]) {
        if known.is_empty() {
            return;
        }
        self.cpus
            .extend(std::iter::repeat_n(Maybe::NONE, self.len()));
        for &(event, cpu) in known {
            if let Some(own) = self.cpus.get_mut(event as usize) {
                *own = Maybe::new(cpu);
            }
        }
    }

    /// Returns the CPU of event `index`, if the lane has a CPU per event and it is known.
    #[inline]
    #[must_use]
    pub fn cpu(&self, index: u32) -> Option<u32> {
        let cpu = self.cpus.get(index as usize)?;
        cpu.get().map(u32::from)
    }

    /// Returns the CPU of each event, if it is known; empty if all events of the lane have one CPU, or if none is
    /// known.
    #[must_use]
    pub fn cpus(&self) -> &[Maybe<u16>] {
        &self.cpus
    }

    /// Replaces every known CPU by `number(cpu)`.
    pub(crate) fn renumber_cpus(&mut self, number: impl Fn(u16) -> u16) {
        for cpu in &mut self.cpus {
            *cpu = cpu.get().map(&number).into();
        }
    }

    #[cold]
    fn push_wide(&mut self, index: usize, time: i64, place: u64) {
        let number = index >> BLOCK_SHIFT;
        let rest = self.blocks[number].rest;
        if !self.blocks[number].is_wide() {
            let start = number << BLOCK_SHIFT;
            let first = self.wide.len();
            for earlier in start..index {
                let row = Wide {
                    time: self.time(earlier as u32).0,
                    place: self.place(earlier as u32),
                };
                self.wide.push(row);
            }
            if rest != NARROW {
                self.far.to_mut().truncate((rest & !FAR) as usize);
            }
            self.blocks[number].rest = first as u32;
        }
        self.wide.push(Wide { time, place });
        self.times.push(0);
        self.places.push(0);
    }

    /// Returns the number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Returns whether there is no event.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Returns whether the events are in time order.
    #[must_use]
    pub fn is_sorted(&self) -> bool {
        !self.is_unsorted
    }

    /// Returns the time of event `index`. Panics if there is no such event, as slices do.
    #[inline]
    #[must_use]
    pub fn time(&self, index: u32) -> Timestamp {
        let index = index as usize;
        let block = self.blocks[index >> BLOCK_SHIFT];
        if block.is_wide() {
            Timestamp(self.wide[block.rest as usize + (index & (BLOCK_LEN - 1))].time)
        } else {
            Timestamp(block.time.wrapping_add(i64::from(self.times[index])))
        }
    }

    /// Returns the block that contains event `index`. Panics if there is no such event.
    #[must_use]
    pub(crate) fn block_around(&self, index: u32) -> EventBlock<'_> {
        let number = index as usize >> BLOCK_SHIFT;
        let block = self.blocks[number];
        let start = number << BLOCK_SHIFT;
        let end = if block.is_wide() {
            start
        } else {
            self.len().min(start + BLOCK_LEN)
        };
        EventBlock {
            first: start as u32,
            base_time: block.time,
            times: &self.times[start..end],
            kinds: self.kinds.all().range(start..end),
        }
    }

    /// Returns the place of event `index`: a byte offset in its lane.
    #[inline]
    #[must_use]
    pub fn place(&self, index: u32) -> u64 {
        let index = index as usize;
        let block = self.blocks[index >> BLOCK_SHIFT];
        let within = index & (BLOCK_LEN - 1);
        if block.is_wide() {
            return self.wide[block.rest as usize + within].place;
        }
        let low = u64::from(self.places[index]);
        if block.rest == NARROW {
            return block.place + (low << self.place_shift);
        }
        let high = self.far[(block.rest & !FAR) as usize + within];
        let units = i64::from(high as i16) << 16 | low as i64;
        block.place.wrapping_add((units << self.place_shift) as u64)
    }

    /// Calls `visit` with the index, time and place of each event of `range`, in order. Faster than a call for each
    /// event.
    #[inline]
    pub(crate) fn visit(&self, range: Range<u32>, mut visit: impl FnMut(u32, i64, u64)) {
        let end = (range.end as usize).min(self.len());
        let mut index = range.start as usize;
        while index < end {
            let number = index >> BLOCK_SHIFT;
            let until = end.min((number + 1) << BLOCK_SHIFT);
            let block = self.blocks[number];
            if block.rest == NARROW {
                let of_block = self.times[index..until].iter();
                let of_block = of_block.zip(&self.places[index..until]);
                for ((&after, &units), at) in of_block.zip(index as u32..) {
                    let time = block.time.wrapping_add(i64::from(after));
                    visit(
                        at,
                        time,
                        block.place + (u64::from(units) << self.place_shift),
                    );
                }
            } else {
                for at in index as u32..until as u32 {
                    visit(at, self.time(at).0, self.place(at));
                }
            }
            index = until;
        }
    }

    /// Replaces the kind of event `index`, for kinds that depend on a payload that is decoded after the push.
    pub(crate) fn set_kind(&mut self, index: u32, kind: KindId) {
        self.kinds.set(index as usize, kind);
    }

    /// Replaces every kind by `new[old]`.
    pub(crate) fn renumber_kinds(&mut self, new: &Streaks<KindId>) {
        self.kinds.renumber(new);
    }

    /// Replaces every thread key by `key(old)`. Nothing may be pushed afterwards.
    pub(crate) fn renumber_threads(&mut self, key: &dyn Fn(ThreadKey) -> Option<ThreadKey>) {
        self.threads.renumber(key);
    }

    /// Returns the kind of event `index`.
    #[inline]
    #[must_use]
    pub fn kind(&self, index: u32) -> KindId {
        self.kinds.get(index as usize)
    }

    /// Returns the thread of event `index`, if it is known.
    #[inline]
    #[must_use]
    pub fn thread(&self, index: u32) -> Option<ThreadKey> {
        self.threads.get(index as usize)
    }

    /// Returns event `index` with all its columns.
    #[must_use]
    pub fn row(&self, index: u32) -> EventRow {
        EventRow {
            time: self.time(index),
            place: self.place(index),
            kind: self.kind(index),
            thread: self.thread(index),
        }
    }

    /// Returns the kind of each event.
    #[must_use]
    pub fn kinds(&self) -> KindSlice<'_> {
        self.kinds.all()
    }

    /// Returns the ranges of neighbouring events of one thread, in order.
    pub(crate) fn thread_runs(&self) -> impl Iterator<Item = ThreadRun> {
        self.threads.runs()
    }

    /// Returns the ranges of neighbouring events of one thread within `range`.
    pub(crate) fn thread_runs_in(&self, range: Range<usize>) -> impl Iterator<Item = ThreadRun> {
        self.threads.runs_in(range)
    }

    /// Returns each thread with the indices of its first and last event (as `first..last`).
    #[must_use]
    pub(crate) fn thread_spans(&self) -> Vec<ThreadRun> {
        self.threads.spans()
    }

    /// Returns the index of the first event at or after `time`. The columns must be sorted.
    #[must_use]
    pub(crate) fn lower_bound(&self, time: Timestamp) -> u32 {
        let after = self.blocks.partition_point(|block| block.time < time.0);
        let low = (after.saturating_sub(1)) << BLOCK_SHIFT;
        let high = (after << BLOCK_SHIFT).min(self.len());
        first_not(low..high, |at| self.time(at as u32) < time) as u32
    }

    /// Returns the events in time order (stable).
    #[must_use]
    pub(crate) fn sorted_by_time(&self) -> SortedEvents {
        let mut sorted = EventColumns::new(self.place_shift);
        sorted.reserve(self.len());
        sorted.cpus.reserve_exact(self.cpus.len());
        let mut new_indices = vec![0; self.len()];
        for (time, old) in self.order_by_time() {
            let (kind, thread) = (self.kind(old), self.thread(old));
            new_indices[old as usize] = sorted.push(time, self.place(old), kind, thread);
            sorted.cpus.extend(self.cpus.get(old as usize).copied());
        }
        SortedEvents {
            events: sorted,
            new_indices,
        }
    }

    /// Returns the times and indices of the events in time order (stable). Usually few events are out of order, by a
    /// few positions: insertion sort is fastest for them.
    fn order_by_time(&self) -> Vec<(i64, u32)> {
        let mut order: Vec<(i64, u32)> = Vec::with_capacity(self.len());
        self.visit(0..self.len() as u32, |event, time, _| {
            order.push((time, event))
        });
        let mut steps_left = self.len() * MOST_STEPS_BACK;
        for from in 1..order.len() {
            let moved = order[from];
            let mut at = from;
            while at > 0 && steps_left > 0 && order[at - 1].0 > moved.0 {
                order[at] = order[at - 1];
                at -= 1;
                steps_left -= 1;
            }
            order[at] = moved;
            if steps_left == 0 {
                // Indices keep events with equal times in their order.
                order.sort_unstable();
                break;
            }
        }
        order
    }

    /// Returns the allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.times.memory_bytes()
            + self.places.memory_bytes()
            + self.blocks.memory_bytes()
            + self.far.memory_bytes()
            + self.wide.memory_bytes()
            + self.cpus.memory_bytes()
            + self.kinds.memory_bytes()
            + self.threads.memory_bytes()
    }
}

#[cfg(test)]
mod tests;
