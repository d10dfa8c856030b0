//! All events of a part, 9 bytes each: when, what, who, and where in the file.
//!
//! ```text
//! block of 128 events: base time i64 | base place u64      event: +time u32 | +place u16 | kind u16 | thread u8
//! ```
//!
//! Places count in units of `1 << place_shift` bytes from the block's base. A block whose events lie too
//! far apart in the file for that is "far" and has 2 bytes more for each place: so it is where many streams
//! were written in turns. One whose events lie too far apart in time as well, or even farther in the file, is
//! kept "wide", with a full time and place for each event.
//! Any event's time is found in constant time. Does not decide what kinds and threads mean.

use std::ops::Range;

use super::keys::{KindId, ThreadKey};
use super::thread_column::ThreadColumn;
use crate::base::Timestamp;
use crate::base::order::first_not;

const BLOCK_SHIFT: u32 = 7;
const BLOCK_LEN: usize = 1 << BLOCK_SHIFT;
/// How many places back events go, on average, to be put in order one by one.
const MOST_STEPS_BACK: usize = 8;
/// In a block's `rest`: it has none.
const NARROW: u32 = u32::MAX;
/// In a block's `rest`: it is far.
const FAR: u32 = 1 << 31;

/// Columns of events in the order they were pushed; see the module's text for the layout.
#[derive(Clone, Debug, Default)]
pub struct EventColumns {
    times: Vec<u32>,
    places: Vec<u16>,
    kinds: Vec<u16>,
    threads: ThreadColumn,
    blocks: Vec<Block>,
    /// The high halves of the places in far blocks.
    far: Vec<u16>,
    wide: Vec<Wide>,
    /// Each event's CPU, in lanes that hold the events of several; else empty.
    cpus: Vec<u16>,
    place_shift: u8,
    is_unsorted: bool,
    last_time: i64,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    time: i64,
    place: u64,
    /// Where this block's events start in `wide`; or, with the bit `FAR`, in `far`; or `NARROW`.
    rest: u32,
}

impl Block {
    /// Whether each of its events has a full time and place.
    #[inline]
    fn is_wide(&self) -> bool {
        self.rest < FAR
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Wide {
    time: i64,
    place: u64,
}

/// One event as the columns have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// When.
    pub time: Timestamp,
    /// Byte offset in its lane (the reader knows of what: file, decompressed stream, text).
    pub place: u64,
    /// What.
    pub kind: KindId,
    /// Who.
    pub thread: ThreadKey,
}

/// Times and kinds of neighbouring events, for walks over many.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventBlock<'a> {
    /// Index of the first event.
    pub first: u32,
    /// What the times count from.
    pub base_time: i64,
    /// Time after `base_time` of each event. Empty if the block is kept wide.
    pub times: &'a [u32],
    /// What each event is. Empty if the block is kept wide.
    pub kinds: &'a [u16],
}

impl EventColumns {
    /// Stands for the CPU of an event whose CPU is not known, among events with CPUs of their own.
    pub const NO_CPU: u16 = u16::MAX;

    /// Empty columns; places must be multiples of `1 << place_shift` bytes (2 for trace.dat, 3 for FXT, 0 for text).
    #[must_use]
    pub fn new(place_shift: u8) -> EventColumns {
        EventColumns {
            place_shift,
            last_time: i64::MIN,
            ..EventColumns::default()
        }
    }

    /// Makes room for `count` more events.
    pub fn reserve(&mut self, count: usize) {
        self.times.reserve(count);
        self.places.reserve(count);
        self.kinds.reserve(count);
        self.threads.reserve(count);
        self.blocks.reserve(count / BLOCK_LEN + 1);
    }

    /// Gives back room that is not used.
    pub fn shrink(&mut self) {
        self.times.shrink_to_fit();
        self.places.shrink_to_fit();
        self.kinds.shrink_to_fit();
        self.threads.shrink();
        self.blocks.shrink_to_fit();
        self.far.shrink_to_fit();
        self.wide.shrink_to_fit();
        self.cpus.shrink_to_fit();
    }

    /// Appends an event and returns its index in these columns.
    #[inline]
    pub fn push(&mut self, time: i64, place: u64, kind: KindId, thread: ThreadKey) -> u32 {
        let index = self.times.len();
        if index & (BLOCK_LEN - 1) == 0 {
            self.blocks.push(Block {
                time,
                place,
                rest: NARROW,
            });
        }
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
        self.kinds.push(kind.0);
        self.threads.push(thread);
        if fits {
            self.times.push(time_delta as u32);
            self.places.push(units as u16);
        } else if time_delta > u64::from(u32::MAX)
            || !self.push_far(index, time_delta as u32, place)
        {
            self.push_wide(index, time, place);
        }
        index as u32
    }

    /// Appends an event whose place may lie far from its block's base, or before it. Whether that can be done.
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
            self.far.resize(self.far.len() + index - start, 0);
        }
        self.far.push((units >> 16) as u16);
        self.times.push(time_delta);
        self.places.push(units as u16);
        true
    }

    /// Moves the base place of the block of event `index` back so that this place fits too: several streams
    /// that were written in turns come with places that go back and forth. Whether that can be done.
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

    /// Moves the base time of the block of event `index` back to `time`, which is a little earlier: lines of
    /// several CPUs come slightly out of order. Whether that can be done.
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

    /// Appends an event that happened on `cpu`, or on an unknown one ([`EventColumns::NO_CPU`]). Either all events of a part
    /// are appended by this function, or none.
    #[inline]
    pub fn push_on_cpu(
        &mut self,
        time: i64,
        place: u64,
        kind: KindId,
        thread: ThreadKey,
        cpu: u16,
    ) -> u32 {
        self.cpus.push(cpu);
        self.push(time, place, kind, thread)
    }

    /// The CPU of event `index`, in lanes where each event has its own.
    #[inline]
    #[must_use]
    pub fn cpu(&self, index: u32) -> Option<u32> {
        let cpu = self.cpus.get(index as usize).copied();
        cpu.filter(|&cpu| cpu != EventColumns::NO_CPU)
            .map(u32::from)
    }

    /// All CPUs, in order, [`EventColumns::NO_CPU`] where an event's is not known; empty where the lane has one, or none is known.
    #[must_use]
    pub fn cpus(&self) -> &[u16] {
        &self.cpus
    }

    /// Gives the CPUs other numbers.
    pub fn renumber_cpus(&mut self, number: impl Fn(u16) -> u16) {
        for cpu in self
            .cpus
            .iter_mut()
            .filter(|cpu| **cpu != EventColumns::NO_CPU)
        {
            *cpu = number(*cpu);
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
                self.far.truncate((rest & !FAR) as usize);
            }
            self.blocks[number].rest = first as u32;
        }
        self.wide.push(Wide { time, place });
        self.times.push(0);
        self.places.push(0);
    }

    /// How many events there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there is no event.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Whether times never go back.
    #[must_use]
    pub fn is_sorted(&self) -> bool {
        !self.is_unsorted
    }

    /// When event `index` happened. Panics if there is no such event, as slices do.
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

    /// The block that event `index` lies in. Panics if there is no such event.
    #[must_use]
    pub fn block_around(&self, index: u32) -> EventBlock<'_> {
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
            kinds: &self.kinds[start..end],
        }
    }

    /// Where event `index` lies: a byte offset in its lane.
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

    /// Calls `visit` with the index, time and place of each event of `range`, in order: quicker than one by one.
    #[inline]
    pub fn visit(&self, range: Range<u32>, mut visit: impl FnMut(u32, i64, u64)) {
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

    /// Says what an event is when its payload was looked at after it was pushed.
    pub fn set_kind(&mut self, index: u32, kind: KindId) {
        if let Some(slot) = self.kinds.get_mut(index as usize) {
            *slot = kind.0;
        }
    }

    /// Says that what a thread key means has another key.
    pub fn renumber_threads(&mut self, key: &dyn Fn(ThreadKey) -> ThreadKey) {
        self.threads.renumber(key);
    }

    /// What event `index` is.
    #[inline]
    #[must_use]
    pub fn kind(&self, index: u32) -> KindId {
        KindId(self.kinds[index as usize])
    }

    /// Whose event `index` is.
    #[inline]
    #[must_use]
    pub fn thread(&self, index: u32) -> ThreadKey {
        self.threads.get(index as usize)
    }

    /// All of event `index`.
    #[must_use]
    pub fn row(&self, index: u32) -> EventRow {
        EventRow {
            time: self.time(index),
            place: self.place(index),
            kind: self.kind(index),
            thread: self.thread(index),
        }
    }

    /// All kinds, in order.
    #[must_use]
    pub fn kinds(&self) -> &[u16] {
        &self.kinds
    }

    /// Stretches of neighbouring events of one thread, in order.
    pub fn thread_runs(&self) -> impl Iterator<Item = (Range<usize>, ThreadKey)> {
        self.threads.runs()
    }

    /// The same of the events in `range`.
    pub fn thread_runs_in(
        &self,
        range: Range<usize>,
    ) -> impl Iterator<Item = (Range<usize>, ThreadKey)> {
        self.threads.runs_in(range)
    }

    /// Each thread with the indices of its first and last event.
    #[must_use]
    pub fn thread_spans(&self) -> Vec<(ThreadKey, Range<usize>)> {
        self.threads.spans()
    }

    /// The first event at or after `time`; the columns must be sorted.
    #[must_use]
    pub fn lower_bound(&self, time: Timestamp) -> u32 {
        let after = self.blocks.partition_point(|block| block.time < time.0);
        let low = (after.saturating_sub(1)) << BLOCK_SHIFT;
        let high = (after << BLOCK_SHIFT).min(self.len());
        first_not(low..high, |at| self.time(at as u32) < time) as u32
    }

    /// The same events in time order (ties keep their order), and where each event went: `map[old] = new`.
    #[must_use]
    pub fn sorted_by_time(&self) -> (EventColumns, Vec<u32>) {
        let order = self.order_by_time();
        let mut sorted = EventColumns::new(self.place_shift);
        sorted.reserve(self.len());
        sorted.cpus.reserve_exact(self.cpus.len());
        let mut map = vec![0; self.len()];
        for old in order {
            let (time, place) = (self.time(old).0, self.place(old));
            map[old as usize] = sorted.push(time, place, self.kind(old), self.thread(old));
            sorted.cpus.extend(self.cpus.get(old as usize));
        }
        (sorted, map)
    }

    /// The events in time order. Mostly each goes back a few places if any, which is quickly said.
    fn order_by_time(&self) -> Vec<u32> {
        let count = self.len() as u32;
        let mut order: Vec<u32> = Vec::with_capacity(self.len());
        let mut steps_left = self.len() * MOST_STEPS_BACK;
        let mut latest = i64::MIN;
        for event in 0..count {
            let time = self.time(event).0;
            let mut at = order.len();
            if time < latest {
                while at > 0 && steps_left > 0 && self.time(order[at - 1]).0 > time {
                    at -= 1;
                    steps_left -= 1;
                }
                if steps_left == 0 {
                    order.clear();
                    break;
                }
            } else {
                latest = time;
            }
            order.insert(at, event);
        }
        if order.len() < self.len() {
            order = (0..count).collect();
            order.sort_by_key(|&event| self.time(event).0);
        }
        order
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.times.capacity() * 4
            + self.places.capacity() * 2
            + self.kinds.capacity() * 2
            + self.blocks.capacity() * size_of::<Block>()
            + self.far.capacity() * 2
            + self.wide.capacity() * size_of::<Wide>()
            + self.cpus.capacity() * 2) as u64
            + self.threads.memory_bytes()
    }
}

#[cfg(test)]
mod tests;
