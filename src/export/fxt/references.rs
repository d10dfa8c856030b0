//! References of records to texts and threads: indices of the tables, whose entries are registered when they are first
//! needed.
//!
//! Names are registered when they are first used, values of text arguments when they occur a second time. When all of
//! the chunk's own entries are used, the oldest is replaced.

use super::limits::{MOST_INLINE_BYTES, MOST_REPEATED_BYTES, MOST_STRING_BYTES};
use super::record_words::cut_bytes;
use super::records::{MOST_ARGS, Records};
use crate::base::StringId;
use crate::export::shared::ThreadKoids;
use crate::fxt::layout::INLINE_TEXT;

/// The bit that marks a text inside the record; the other bits are its length.
const INLINE: u16 = INLINE_TEXT;

/// A reference to a text: its 16 bits, and the bytes if the record contains them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextRef<'a> {
    pub(super) bits: u16,
    pub(super) inline: &'a [u8],
}

impl<'a> TextRef<'a> {
    /// The empty text.
    pub(crate) const EMPTY: TextRef<'static> = TextRef {
        bits: 0,
        inline: &[],
    };

    /// Returns a reference to an entry of the table.
    #[inline]
    pub(crate) fn index(index: u16) -> TextRef<'static> {
        TextRef {
            bits: index,
            inline: &[],
        }
    }

    /// Returns a reference to a text inside the record.
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
    /// Returns the number of words of the record that the text takes.
    #[inline]
    pub(super) fn words(self) -> usize {
        self.inline.len().div_ceil(8)
    }
}

/// Marks a value that occurred once; no index has this bit.
const SEEN_ONCE: u16 = INLINE;

/// The most texts that one record may register: its names, and name and text of each argument.
const MOST_REGISTERED: usize = 2 + 2 * MOST_ARGS;

pub(super) const RECENT_THREADS: usize = 256;

fn thread_slot(koids: ThreadKoids) -> usize {
    let ThreadKoids { process, thread } = koids;
    // Koids of one program differ in few bits, which the multiplication spreads.
    let mixed = (process.rotate_left(32) ^ thread).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (u64::BITS - RECENT_THREADS.ilog2())) as usize
}

impl Records<'_> {
    /// Returns the index of a text; `None` if it is not registered (yet).
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

    /// Returns whether an index is among those that are replaced next: texts of the same record must not replace it.
    fn is_soon_replaced(&self, index: u16) -> bool {
        let zones = self.fixed.zones;
        let room = usize::from(zones.last_string - zones.strings);
        let Some(slot) = index.checked_sub(zones.strings + 1) else {
            return false;
        };
        let left = (usize::from(slot) + room - self.next_string % room.max(1)) % room.max(1);
        self.string_ring.len() >= room && left < MOST_REGISTERED.min(room / 2)
    }

    /// Returns an index of the chunk's own zone for the text with number `id`: the oldest if all are used.
    fn free_index(&mut self, id: u32) -> u16 {
        let zones = self.fixed.zones;
        let room = usize::from(zones.last_string - zones.strings);
        let slot = self.next_string % room.max(1);
        self.next_string += 1;
        let free = zones.strings + 1 + slot as u16;
        match self.string_ring.get_mut(slot) {
            Some(old) => {
                // The old text may have another index by now.
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

    /// Returns a reference to a name, and registers the name if necessary. Valid for the next record only.
    pub(crate) fn name<'a>(&mut self, text: &'a str) -> TextRef<'a> {
        self.exact_name(text.as_bytes())
    }

    /// As `name`, for the bytes of a name in a file, which may not be UTF-8.
    pub(crate) fn exact_name<'a>(&mut self, name: &'a [u8]) -> TextRef<'a> {
        self.counts.cut_names += u64::from(name.len() > MOST_STRING_BYTES);
        self.reference(cut_bytes(name, MOST_STRING_BYTES), Wants::Always)
    }

    /// Returns the same reference with an unlimited lifetime, if it is to a fixed entry.
    pub(crate) fn lasting(&self, name: TextRef<'_>) -> Option<TextRef<'static>> {
        let bits = name.bits;
        let is_fixed = bits <= self.fixed.zones.strings;
        is_fixed.then_some(TextRef { bits, inline: &[] })
    }

    /// Returns a reference to a string of the trace, if it is a fixed entry.
    #[inline]
    pub(crate) fn fixed_name(&self, id: StringId) -> Option<TextRef<'static>> {
        match self.fixed.by_trace_id.get(id.0 as usize) {
            Some(&bits) if bits != 0 || id == StringId::EMPTY => {
                Some(TextRef { bits, inline: &[] })
            }
            _ => None,
        }
    }

    /// Returns the index of a thread, and registers the thread if necessary.
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
                self.recent_threads[thread_slot(*old)] = (ThreadKoids::default(), 0);
                *old = koids;
            }
            None => self.thread_ring.push(koids),
        }
        self.threads.insert(koids, index);
        self.thread_record(index, koids);
        index
    }

    /// Returns a reference to a text that is a value: it is registered when it occurs again. Valid for the next record
    /// only.
    pub(crate) fn value<'a>(&mut self, text: &'a [u8]) -> TextRef<'a> {
        self.reference(text, Wants::IfRepeated)
    }
}

/// When a text is registered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wants {
    Always,
    IfRepeated,
}
