//! References of records to texts and threads: by an index of the tables, which is registered when it is first wanted.
//!
//! Names are registered when they are first used, values of text arguments when they come a second time. When all of the
//! chunk's own entries are taken the oldest is replaced.

use super::records::{
    MOST_ARGS, MOST_INLINE_BYTES, MOST_REPEATED_BYTES, MOST_STRING_BYTES, Records,
};
use crate::base::StringId;

/// The bit of a reference to a text that stands in the record; the others are its length.
const INLINE: u16 = 0x8000;

/// A thread as records name it: process koid, thread koid.
pub type ThreadKoids = (u64, u64);

/// A reference to a text: its 16 bits, and the bytes if they stand in the record.
#[derive(Clone, Copy, Debug)]
pub struct TextRef<'a> {
    pub(super) bits: u16,
    pub(super) inline: &'a [u8],
}

impl<'a> TextRef<'a> {
    /// The empty text.
    pub const EMPTY: TextRef<'static> = TextRef {
        bits: 0,
        inline: &[],
    };

    /// An entry of the table.
    #[inline]
    pub fn index(index: u16) -> TextRef<'static> {
        TextRef {
            bits: index,
            inline: &[],
        }
    }

    /// A text that stands in the record.
    pub(super) fn inline(text: &'a [u8]) -> TextRef<'a> {
        match text.is_empty() {
            true => TextRef::EMPTY,
            false => TextRef {
                bits: INLINE | text.len() as u16,
                inline: text,
            },
        }
    }
}

impl TextRef<'_> {
    /// The words that it takes of its record.
    #[inline]
    pub(super) fn words(self) -> usize {
        self.inline.len().div_ceil(8)
    }
}

/// No index has this bit.
const SEEN_ONCE: u16 = INLINE;

/// As many texts one record may register: its names, and name and text of each argument.
const MOST_REGISTERED: usize = 2 + 2 * MOST_ARGS;

pub(super) const RECENT_THREADS: usize = 256;

fn thread_slot((process, thread): ThreadKoids) -> usize {
    // Koids of one program differ in few bits, and in the same ones.
    let mixed = (process.rotate_left(32) ^ thread).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (u64::BITS - RECENT_THREADS.ilog2())) as usize
}

impl Records<'_> {
    /// The index of a text; `None` if it is not registered (yet).
    fn index(&mut self, text: &[u8], wants: Wants) -> Option<u16> {
        let id = self.texts.intern(text).0 as usize;
        if id >= self.indices.len() {
            let fixed = self.fixed.strings.find(text);
            self.indices.push(fixed.map_or(0, |fixed| fixed.0 as u16));
        }
        let known = self.indices[id];
        if known != 0 && known != SEEN_ONCE && !self.is_soon_replaced(known) {
            return Some(known);
        }
        if wants == Wants::IfRepeated && known == 0 {
            self.indices[id] = SEEN_ONCE;
            return None;
        }
        let index = self.free_index(id as u32);
        self.indices[id] = index;
        self.string_record(index, text);
        Some(index)
    }

    /// Whether an index is among those that are replaced next: what the same record registers must not replace it.
    fn is_soon_replaced(&self, index: u16) -> bool {
        let zones = self.fixed.zones;
        let room = usize::from(zones.last_string - zones.strings);
        let Some(slot) = index.checked_sub(zones.strings + 1) else {
            return false;
        };
        let left = (usize::from(slot) + room - self.next_string % room.max(1)) % room.max(1);
        self.string_ring.len() >= room && left < MOST_REGISTERED.min(room / 2)
    }

    /// An index of the chunk's own zone for the text with number `id`, the oldest if all are taken.
    fn free_index(&mut self, id: u32) -> u16 {
        let zones = self.fixed.zones;
        let room = usize::from(zones.last_string - zones.strings);
        let slot = self.next_string % room.max(1);
        self.next_string += 1;
        let free = zones.strings + 1 + slot as u16;
        match self.string_ring.get_mut(slot) {
            Some(old) => {
                // It may have another one since.
                if let Some(index) = self.indices.get_mut(*old as usize)
                    && *index == free
                {
                    *index = SEEN_ONCE;
                }
                *old = id;
            }
            None => self.string_ring.push(id),
        }
        free
    }

    fn reference<'a>(&mut self, text: &'a [u8], wants: Wants) -> TextRef<'a> {
        if text.is_empty() {
            return TextRef::EMPTY;
        }
        if self.is_inline && text.len() <= MOST_INLINE_BYTES {
            return TextRef::inline(text);
        }
        let is_long = wants == Wants::Always && text.len() > MOST_INLINE_BYTES;
        if (text.len() <= MOST_REPEATED_BYTES || is_long)
            && let Some(bits) = self.index(text, wants)
        {
            return TextRef { bits, inline: &[] };
        }
        TextRef::inline(text)
    }

    /// A reference to a name, which is registered if it is not yet. Valid for the next record only.
    pub fn name<'a>(&mut self, text: &'a str) -> TextRef<'a> {
        self.exact_name(text.as_bytes())
    }

    /// The same for a name as it is in the file, which may be no UTF-8.
    pub fn exact_name<'a>(&mut self, name: &'a [u8]) -> TextRef<'a> {
        self.counts.cut_names += u64::from(name.len() > MOST_STRING_BYTES);
        self.reference(cut_bytes(name, MOST_STRING_BYTES), Wants::Always)
    }

    /// The reference for ever, if it holds in the whole file.
    pub fn lasting(&self, name: TextRef<'_>) -> Option<TextRef<'static>> {
        let bits = name.bits;
        let is_fixed = bits <= self.fixed.zones.strings;
        is_fixed.then_some(TextRef { bits, inline: &[] })
    }

    /// A name for a string of the trace, if it is among the fixed ones.
    #[inline]
    pub fn fixed_name(&self, id: StringId) -> Option<TextRef<'static>> {
        match self.fixed.by_trace_id.get(id.0 as usize) {
            Some(&bits) if bits != 0 || id == StringId::EMPTY => {
                Some(TextRef { bits, inline: &[] })
            }
            _ => None,
        }
    }

    /// The index of a thread, registered if it is not yet.
    #[inline]
    pub(super) fn thread(&mut self, koids: ThreadKoids) -> u8 {
        let slot = thread_slot(koids);
        let (known, index) = self.recent_threads[slot];
        if known == koids && index != 0 {
            return index;
        }
        let index = self.find_thread(koids);
        self.recent_threads[slot] = (koids, index);
        index
    }

    fn find_thread(&mut self, koids: ThreadKoids) -> u8 {
        if let Some(&index) = self.fixed.threads.get(&koids) {
            self.used.thread(index);
            return index;
        }
        if let Some(&index) = self.threads.get(&koids) {
            return index;
        }
        let zones = self.fixed.zones;
        let room = usize::from(zones.last_thread - zones.threads);
        let slot = self.next_thread % room.max(1);
        self.next_thread += 1;
        let index = zones.threads + 1 + slot as u8;
        match self.thread_ring.get_mut(slot) {
            Some(old) => {
                self.threads.remove(old);
                self.recent_threads[thread_slot(*old)] = ((0, 0), 0);
                *old = koids;
            }
            None => self.thread_ring.push(koids),
        }
        self.threads.insert(koids, index);
        self.thread_record(index, koids);
        index
    }

    /// A reference to a text that is a value: it is registered when it comes again. Valid for the next record only.
    pub fn value<'a>(&mut self, text: &'a [u8]) -> TextRef<'a> {
        self.reference(text, Wants::IfRepeated)
    }

    /// The index of a text in the fixed table, or 0.
    pub fn fixed_index(&self, text: &[u8]) -> u16 {
        self.fixed.index_of(text)
    }
}

/// When a text gets an index.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wants {
    Always,
    IfRepeated,
}

/// The longest start of `bytes` that has at most `most_bytes` and ends at a character, where it is text.
pub fn cut_bytes(bytes: &[u8], most_bytes: usize) -> &[u8] {
    let is_within = |end: usize| bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80);
    if bytes.len() <= most_bytes {
        return bytes;
    }
    let least = most_bytes.saturating_sub(3);
    let end = (least..=most_bytes).rev().find(|&end| !is_within(end));
    bytes.get(..end.unwrap_or(most_bytes)).unwrap_or(bytes)
}
