//! Names and texts of track events, each written once in a piece of the sequence and then used by number.
//!
//! The tables are kept from one piece to the next, so that a text is looked up by its bytes but not stored again; its
//! number is valid in the piece that gave it.

use rustc_hash::FxHashMap;

use super::layout::interned;
use super::proto::{FieldNumber, Message};
use crate::base::StringId;
use crate::base::strings::exact_text;
use crate::trace::Trace;

/// Texts of fewer bytes are not worth a number.
const SHORT: usize = 4;
/// Texts of more bytes are not kept.
const LONG: usize = 512;
/// Bytes of texts that are kept.
const MOST_KEPT: usize = 4 << 20;

/// The number of a text in one piece.
#[derive(Clone, Copy, Default)]
struct Numbered {
    /// The piece; 0 is none.
    piece: u32,
    /// `None`: the text was seen once in the piece, and written without a number.
    number: Option<u32>,
}

/// Texts of one of the format's tables, by their bytes.
#[derive(Default)]
struct Texts {
    /// The index of each text in `numbers`.
    known: FxHashMap<Box<[u8]>, u32>,
    numbers: Vec<Numbered>,
    kept_bytes: usize,
    /// The number of the last one of the piece; numbers start at 1.
    last: u32,
}

impl Texts {
    /// Returns the entry of a text; `None` if there is no room for another one.
    fn entry(&mut self, text: &[u8]) -> Option<&mut Numbered> {
        let index = match self.known.get(text) {
            Some(&index) => index,
            None if self.kept_bytes + text.len() > MOST_KEPT => return None,
            None => {
                let index = self.numbers.len() as u32;
                self.kept_bytes += text.len();
                self.known.insert(text.into(), index);
                self.numbers.push(Numbered::default());
                index
            }
        };
        self.numbers.get_mut(index as usize)
    }

    fn start_piece(&mut self) {
        self.last = 0;
        if self.kept_bytes > MOST_KEPT / 2 {
            self.known.clear();
            self.numbers.clear();
            self.kept_bytes = 0;
        }
    }
}

/// The numbers of strings of the trace in one of the format's tables.
#[derive(Default)]
struct Names {
    /// By string.
    numbers: Vec<Numbered>,
    last: u32,
}

impl Names {
    /// Returns the number of a name, and whether it is new in the piece.
    #[inline]
    fn number(&mut self, name: StringId, piece: u32) -> (u64, bool) {
        let index = name.0 as usize;
        if self.numbers.len() <= index {
            self.numbers.resize(index + 1, Numbered::default());
        }
        match &mut self.numbers[index] {
            Numbered {
                piece: of,
                number: Some(number),
            } if *of == piece => (u64::from(*number), false),
            entry => {
                self.last += 1;
                *entry = Numbered {
                    piece,
                    number: Some(self.last),
                };
                (u64::from(self.last), true)
            }
        }
    }
}

/// The numbers of one sequence since its state was cleared.
#[derive(Default)]
pub(super) struct Interner {
    /// The number of the piece, counted from 1.
    piece: u32,
    names: Names,
    categories: Names,
    annotations: Texts,
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
    /// Removes all numbers: the state of the sequence is cleared.
    pub fn start_piece(&mut self) {
        self.piece += 1;
        self.names.last = 0;
        self.categories.last = 0;
        self.annotations.start_piece();
        self.texts.start_piece();
        self.new.truncate(0);
    }

    /// Returns the number of an event's name.
    #[inline]
    pub fn name(&mut self, trace: &Trace, name: StringId) -> u64 {
        let (number, is_new) = self.names.number(name, self.piece);
        if is_new {
            let text = trace.strings.bytes(name);
            entry(&mut self.new, interned::EVENT_NAMES, number, text);
        }
        number
    }

    /// Returns the number of a category.
    #[inline]
    pub fn category(&mut self, trace: &Trace, category: StringId) -> u64 {
        let (number, is_new) = self.categories.number(category, self.piece);
        if is_new {
            let text = trace.strings.bytes(category);
            entry(&mut self.new, interned::CATEGORIES, number, text);
        }
        number
    }

    /// Returns the number of an argument's name; `None` if it is to be written as it is.
    pub fn annotation(&mut self, name: &[u8]) -> Option<u64> {
        let piece = self.piece;
        let next = self.annotations.last + 1;
        let known = self.annotations.entry(name)?;
        if known.piece == piece
            && let Some(number) = known.number
        {
            return Some(u64::from(number));
        }
        *known = Numbered {
            piece,
            number: Some(next),
        };
        self.annotations.last = next;
        let number = u64::from(next);
        entry(&mut self.new, interned::ANNOTATION_NAMES, number, name);
        Some(number)
    }

    /// Returns the number of a text that was seen before; `None` if it is to be written as it is.
    pub fn text(&mut self, text: &[u8]) -> Option<u64> {
        if text.len() < SHORT || text.len() > LONG {
            return None;
        }
        let piece = self.piece;
        let next = self.texts.last + 1;
        let known = self.texts.entry(text)?;
        if known.piece != piece {
            *known = Numbered {
                piece,
                number: None,
            };
            return None;
        }
        if let Some(number) = known.number {
            return Some(u64::from(number));
        }
        known.number = Some(next);
        self.texts.last = next;
        let number = u64::from(next);
        entry(&mut self.new, interned::STRING_VALUES, number, text);
        Some(number)
    }

    /// Writes the new entries into the packet that needs them, and removes them from `new`.
    #[inline]
    pub fn write_new(&mut self, packet: &mut Message, field: FieldNumber) {
        if self.new.len() > 0 {
            packet.bytes_field(field, self.new.bytes());
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
        interner.start_piece();
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
    fn numbers_are_those_of_one_piece() {
        let mut interner = Interner::default();
        for _ in 0..2 {
            interner.start_piece();
            assert_eq!(interner.annotation(b"first"), Some(1));
            assert_eq!(interner.annotation(b"second"), Some(2));
            assert_eq!(interner.annotation(b"first"), Some(1));
            assert!(interner.new.len() > 0);
            assert_eq!(interner.text(b"text"), None);
            assert_eq!(interner.text(b"text"), Some(1));
        }
    }
}
