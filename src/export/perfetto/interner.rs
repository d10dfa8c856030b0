//! Names and texts of track events, each written once in a sequence and then used by number.
//!
//! Numbers are valid until the state of the sequence is cleared, when the texts take too much memory.

use rustc_hash::FxHashMap;

use super::layout::{interned, packet};
use super::proto::{FieldNumber, Message};
use crate::base::strings::exact_text;
use crate::base::{Maybe, StringId};
use crate::trace::Trace;

/// Texts of fewer bytes are not worth a number.
const SHORT: usize = 4;
/// Texts of more bytes are not kept.
const LONG: usize = 512;
/// Bytes of texts that are kept.
const MOST_KEPT: usize = 4 << 20;

/// Texts of one of the format's tables, by their bytes.
#[derive(Default)]
struct Texts {
    /// The number of each text; none: the text was seen once, and written without a number.
    known: FxHashMap<Box<[u8]>, Maybe<u32>>,
    kept_bytes: usize,
    /// The last number; numbers start at 1.
    last: u32,
}

impl Texts {
    /// Returns whether there is room for another text.
    fn has_room(&self, text: &[u8]) -> bool {
        self.kept_bytes + text.len() <= MOST_KEPT
    }

    fn add(&mut self, text: &[u8], number: Maybe<u32>) {
        self.kept_bytes += text.len();
        self.known.insert(text.into(), number);
    }
}

/// The numbers of strings of the trace in one of the format's tables.
#[derive(Default)]
struct Names {
    /// By string; 0: none.
    numbers: Vec<u32>,
    last: u32,
}

impl Names {
    /// Returns the number of a name, and whether it is new.
    #[inline]
    fn number(&mut self, name: StringId) -> (u64, bool) {
        let index = name.0 as usize;
        if self.numbers.len() <= index {
            self.numbers.resize(index + 1, 0);
        }
        let number = &mut self.numbers[index];
        let is_new = *number == 0;
        if is_new {
            self.last += 1;
            *number = self.last;
        }
        (u64::from(*number), is_new)
    }
}

/// The name of an annotation and its number.
#[derive(Clone, Default)]
struct Recent {
    name: Box<[u8]>,
    number: u32,
}

/// The number of names of annotations that were met last.
const RECENT: usize = 256;

/// The numbers of one sequence since its state was cleared.
#[derive(Default)]
pub(super) struct Interner {
    /// Whether a packet said that the state is cleared.
    is_cleared: bool,
    names: Names,
    categories: Names,
    annotations: Texts,
    /// Names of annotations that were met last, by a few bits of where they are: mostly the same bytes of the file.
    recent: Vec<Recent>,
    texts: Texts,
    /// The entries that the next packet must have.
    new: Message,
}

fn entry(message: &mut Message, table: FieldNumber, number: u64, text: &[u8]) {
    let open = message.open(table);
    message.uint(interned::ENTRY_ID, number);
    message.text(interned::ENTRY_NAME, &exact_text(text));
    message.close(open);
}

impl Interner {
    /// Removes all numbers if the texts take too much memory: the state of the sequence is cleared.
    pub(crate) fn start_piece(&mut self) {
        if self.annotations.kept_bytes.max(self.texts.kept_bytes) > MOST_KEPT / 2 {
            *self = Interner::default();
        }
    }

    /// Returns the flags of a packet that uses numbers.
    #[inline]
    pub(super) fn flags(&mut self) -> u64 {
        match std::mem::replace(&mut self.is_cleared, true) {
            true => packet::NEEDS_STATE,
            false => packet::NEEDS_STATE | packet::STATE_CLEARED,
        }
    }

    /// Returns the number of an event's name.
    #[inline]
    pub(super) fn name(&mut self, trace: &Trace, name: StringId) -> u64 {
        let (number, is_new) = self.names.number(name);
        if is_new {
            let text = trace.strings.bytes(name);
            entry(&mut self.new, interned::EVENT_NAMES, number, text);
        }
        number
    }

    /// Returns the number of a category.
    #[inline]
    pub(super) fn category(&mut self, trace: &Trace, category: StringId) -> u64 {
        let (number, is_new) = self.categories.number(category);
        if is_new {
            let text = trace.strings.bytes(category);
            entry(&mut self.new, interned::CATEGORIES, number, text);
        }
        number
    }

    /// Returns the number of an argument's name; `None` if it is to be written as it is.
    pub(crate) fn annotation(&mut self, name: &[u8]) -> Option<u64> {
        if self.recent.is_empty() {
            self.recent = vec![Recent::default(); RECENT];
        }
        let at = (name.as_ptr().addr() >> 3) % RECENT;
        let recent = &mut self.recent[at];
        if recent.number > 0 && *recent.name == *name {
            return Some(u64::from(recent.number));
        }
        let names = &mut self.annotations;
        if let Some(number) = names.known.get(name).and_then(|number| number.get()) {
            *recent = Recent {
                name: name.into(),
                number,
            };
            return Some(u64::from(number));
        }
        if !names.has_room(name) {
            return None;
        }
        names.last += 1;
        names.add(name, Maybe::new(names.last));
        let number = u64::from(names.last);
        entry(&mut self.new, interned::ANNOTATION_NAMES, number, name);
        Some(number)
    }

    /// Returns the number of a text that was seen before; `None` if it is to be written as it is.
    pub(super) fn text(&mut self, text: &[u8]) -> Option<u64> {
        if text.len() < SHORT || text.len() > LONG {
            return None;
        }
        let texts = &mut self.texts;
        let Some(known) = texts.known.get_mut(text) else {
            if texts.has_room(text) {
                texts.add(text, Maybe::NONE);
            }
            return None;
        };
        if let Some(number) = known.get() {
            return Some(u64::from(number));
        }
        texts.last += 1;
        *known = Maybe::new(texts.last);
        let number = u64::from(texts.last);
        entry(&mut self.new, interned::STRING_VALUES, number, text);
        Some(number)
    }

    /// Writes the new entries into the packet that needs them, and removes them from `new`.
    #[inline]
    pub(crate) fn write_new(&mut self, message: &mut Message, field: FieldNumber) {
        if self.new.len() > 0 {
            message.bytes_field(field, self.new.bytes());
            self.new.truncate(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_gets_a_number_when_it_is_seen_again() {
        let mut interner = Interner::default();
        assert_eq!(interner.text(b"/usr/bin/make"), None);
        assert_eq!(interner.new.len(), 0);
        assert_eq!(interner.text(b"/usr/bin/make"), Some(1));
        let mut packet = Message::default();
        interner.write_new(&mut packet, 1);
        assert!(packet.len() > 0);
        assert_eq!(interner.text(b"/usr/bin/make"), Some(1));
        assert_eq!(interner.new.len(), 0);
        assert_eq!((interner.text(b"abc"), interner.text(b"abc")), (None, None));
    }

    #[test]
    fn numbers_are_kept_until_the_state_is_cleared() {
        let mut interner = Interner::default();
        for flags in [
            packet::NEEDS_STATE | packet::STATE_CLEARED,
            packet::NEEDS_STATE,
        ] {
            interner.start_piece();
            assert_eq!(interner.annotation(b"first"), Some(1));
            assert_eq!(interner.annotation(b"second"), Some(2));
            assert_eq!(interner.annotation(b"first"), Some(1));
            assert_eq!(interner.flags(), flags);
        }
        // Enough texts that the tables start empty again.
        for number in 0..MOST_KEPT / LONG {
            let text = format!("{number:LONG$}");
            assert_eq!(interner.text(text.as_bytes()), None);
        }
        interner.start_piece();
        assert_eq!(interner.annotation(b"second"), Some(1));
        assert_eq!(
            interner.flags(),
            packet::NEEDS_STATE | packet::STATE_CLEARED
        );
    }
}
