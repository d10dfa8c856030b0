//! The words of a record or of a whole file, in either byte order, and the texts in them.
//!
//! Words of a big-endian file are swapped when they are read; texts are bytes and are not swapped.

use std::marker::PhantomData;

use super::layout::{INLINE_TEXT, RECORD_TYPE, RECORD_WORDS, large, record_type};
use crate::base::ByteOrder;

/// The words of a record (or of the whole file); every access is checked.
#[derive(Debug)]
pub(crate) struct Words<'a, O> {
    bytes: &'a [u8],
    order: PhantomData<O>,
}

impl<O> Clone for Words<'_, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for Words<'_, O> {}

impl<'a, O: ByteOrder> Words<'a, O> {
    /// Returns the words in `bytes`; an incomplete last word cannot be read.
    #[inline]
    #[must_use]
    pub(crate) fn new(bytes: &'a [u8]) -> Words<'a, O> {
        Words {
            bytes,
            order: PhantomData,
        }
    }

    /// Returns the number of whole words.
    #[inline]
    #[must_use]
    pub(crate) fn count(self) -> usize {
        self.bytes.len() / 8
    }

    /// Returns the word at `index`; `None` if there is none.
    #[inline]
    #[must_use]
    pub(crate) fn get(self, index: usize) -> Option<u64> {
        let rest = self.bytes.get(index.checked_mul(8)?..)?;
        rest.first_chunk::<8>().map(|&chunk| O::u64(chunk))
    }

    /// Returns `length` bytes from word `index`; `None` if there are fewer.
    #[inline]
    #[must_use]
    pub(crate) fn text(self, index: usize, length: usize) -> Option<&'a [u8]> {
        self.bytes.get(index.checked_mul(8)?..)?.get(..length)
    }

    /// Returns the words from `index`; none if there are fewer words.
    #[inline]
    #[must_use]
    pub(crate) fn from(self, index: usize) -> Words<'a, O> {
        let start = index.saturating_mul(8);
        Words::new(self.bytes.get(start..).unwrap_or(&[]))
    }

    /// Returns the first `count` words, or all if there are fewer.
    #[inline]
    #[must_use]
    pub(crate) fn up_to(self, count: usize) -> Words<'a, O> {
        Words::new(
            self.bytes
                .get(..count.saturating_mul(8))
                .unwrap_or(self.bytes),
        )
    }

    /// Returns all words of the record whose header is at byte `place`.
    #[inline]
    #[must_use]
    pub(crate) fn record_at(self, place: u64) -> Option<Words<'a, O>> {
        let rest = self.bytes.get(usize::try_from(place).ok()?..)?;
        let header = O::u64(*rest.first_chunk::<8>()?);
        Some(Words::new(rest.get(..size_bytes(header)?)?))
    }
}

/// Returns the size in bytes of the record with this header; `None` if the header has a size of 0.
#[inline]
#[must_use]
pub(crate) fn size_bytes(header: u64) -> Option<usize> {
    let words = if RECORD_TYPE.get(header) == record_type::LARGE {
        large::WORDS.get(header)
    } else {
        RECORD_WORDS.get(header)
    };
    if words == 0 {
        return None;
    }
    usize::try_from(words).ok()?.checked_mul(8)
}

/// The distance in bytes from the current record to the memory that [`fetch_ahead`] loads: some dozens of records.
const AHEAD_BYTES: usize = 2048;

/// Loads memory after the record at `at` into the cache. A record's size gives the start of the next one, so without
/// this the processor would wait for each record in turn.
#[inline]
pub(crate) fn fetch_ahead(bytes: &[u8], at: usize) {
    if let Some(byte) = bytes.get(at + AHEAD_BYTES) {
        std::hint::black_box(*byte);
    }
}

/// A record's reference to a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextRef<'a> {
    /// An entry of the provider's string table; 0 is the empty text.
    Index(u16),
    /// The bytes themselves, without trailing NULs (some writers include one).
    Inline(&'a [u8]),
}

/// Reads the text of `reference`; `at` is the index of the word at which an inline text starts, and is moved past it.
/// `None` if the text ends after the record.
#[inline]
#[must_use]
pub(crate) fn read_text<'a, O: ByteOrder>(
    reference: u64,
    record: Words<'a, O>,
    at: &mut usize,
) -> Option<TextRef<'a>> {
    let reference = (reference & 0xffff) as u16;
    if reference & INLINE_TEXT == 0 {
        return Some(TextRef::Index(reference));
    }
    let length = usize::from(reference & !INLINE_TEXT);
    let text = record.text(*at, length)?;
    *at += length.div_ceil(8);
    Some(TextRef::Inline(without_nuls(text)))
}

/// Returns `text` without NULs at its end.
#[inline]
#[must_use]
pub(crate) fn without_nuls(text: &[u8]) -> &[u8] {
    match text {
        [.., 0] => {
            let length = text
                .iter()
                .rposition(|&byte| byte != 0)
                .map_or(0, |last| last + 1);
            text.get(..length).unwrap_or(&[])
        }
        _ => text,
    }
}

/// Returns the placeholder text of a string index that was never registered.
#[must_use]
pub(crate) fn unresolved_text(index: u16) -> String {
    format!("<string {index}?>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Big, Little};

    #[test]
    fn texts_that_reach_past_their_record_are_refused() {
        let bytes = *b"abcdefgh12345\0\0\0";
        let record = Words::<Little>::new(&bytes);
        let mut at = 1;
        assert_eq!(
            read_text(0x8005, record, &mut at),
            Some(TextRef::Inline(b"12345"))
        );
        assert_eq!(at, 2);
        at = 1;
        assert_eq!(
            read_text(0x8008, record, &mut at),
            Some(TextRef::Inline(b"12345"))
        );
        at = 1;
        assert_eq!(read_text(0x8009, record, &mut at), None);
        assert_eq!(read_text(7, record, &mut at), Some(TextRef::Index(7)));
    }

    #[test]
    fn both_byte_orders_give_the_same_word() {
        let word = 0x0102_0304_0506_0708_u64;
        assert_eq!(
            Words::<Little>::new(&word.to_le_bytes()).get(0),
            Words::<Big>::new(&word.to_be_bytes()).get(0)
        );
        assert_eq!(Words::<Big>::new(&[0; 8]).get(1), None);
    }
}
