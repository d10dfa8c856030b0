//! Names and texts of track events, each written once in a sequence and then used by number.

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

/// The numbers of one sequence since its state was cleared; numbers start at 1.
#[derive(Default)]
pub(super) struct Interner {
    names: FxHashMap<StringId, u64>,
    categories: FxHashMap<StringId, u64>,
    annotations: FxHashMap<Box<[u8]>, u64>,
    /// `None`: the text was seen once, and written without a number.
    texts: FxHashMap<Box<[u8]>, Option<u64>>,
    text_count: u64,
    kept_bytes: usize,
    /// The entries that the next packet must have.
    new: Message,
}

fn entry(message: &mut Message, table: FieldNumber, number: u64, text: &[u8]) {
    let open = message.open(table);
    message.uint(interned::ENTRY_ID, number);
    message.bytes_field(interned::ENTRY_NAME, text);
    message.close(open);
}

impl Interner {
    /// Returns the number of an event's name.
    pub fn name(&mut self, trace: &Trace, name: StringId) -> u64 {
        let next = self.names.len() as u64 + 1;
        *self.names.entry(name).or_insert_with(|| {
            let text = exact_text(trace.strings.bytes(name));
            entry(&mut self.new, interned::EVENT_NAMES, next, text.as_bytes());
            next
        })
    }

    /// Returns the number of a category.
    pub fn category(&mut self, trace: &Trace, category: StringId) -> u64 {
        let next = self.categories.len() as u64 + 1;
        *self.categories.entry(category).or_insert_with(|| {
            let text = exact_text(trace.strings.bytes(category));
            entry(&mut self.new, interned::CATEGORIES, next, text.as_bytes());
            next
        })
    }

    /// Returns the number of an argument's name.
    pub fn annotation(&mut self, name: &[u8]) -> u64 {
        if let Some(&known) = self.annotations.get(name) {
            return known;
        }
        let next = self.annotations.len() as u64 + 1;
        self.annotations.insert(name.into(), next);
        let text = exact_text(name);
        entry(
            &mut self.new,
            interned::ANNOTATION_NAMES,
            next,
            text.as_bytes(),
        );
        next
    }

    /// Returns the number of a text that was seen before; `None` if it is to be written as it is.
    pub fn text(&mut self, text: &[u8]) -> Option<u64> {
        if text.len() < SHORT || text.len() > LONG {
            return None;
        }
        match self.texts.get_mut(text) {
            Some(Some(number)) => Some(*number),
            Some(unnumbered) => {
                self.text_count += 1;
                *unnumbered = Some(self.text_count);
                let bytes = exact_text(text);
                entry(
                    &mut self.new,
                    interned::STRING_VALUES,
                    self.text_count,
                    bytes.as_bytes(),
                );
                Some(self.text_count)
            }
            None => {
                if self.kept_bytes < MOST_KEPT {
                    self.kept_bytes += text.len();
                    self.texts.insert(text.into(), None);
                }
                None
            }
        }
    }

    /// Returns the entries that the next packet must have, and forgets them.
    pub fn new_entries(&mut self) -> Option<Message> {
        match self.new.len() {
            0 => None,
            _ => Some(std::mem::take(&mut self.new)),
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
        assert!(interner.new_entries().is_none());
        assert_eq!(interner.text(b"/usr/bin/make"), Some(1));
        assert!(interner.new_entries().is_some());
        assert_eq!(interner.text(b"/usr/bin/make"), Some(1));
        assert!(interner.new_entries().is_none());
        assert_eq!((interner.text(b"abc"), interner.text(b"abc")), (None, None));
    }
}
