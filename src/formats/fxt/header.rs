//! FXT record headers: a 64-bit word in, its bit fields out; and the words of one record, in either byte order.
//!
//! ```text
//! bits 0..3 record type | 4..15 size in words, header included (large records: 4..35) | the rest by type
//! string reference, 16 bits: 0 empty | 1..0x7fff table index | 0x8000 + length: inline, padded to words
//! thread reference, 8 bits: 0 two words (process, thread) follow | 1..255 table index
//! ```
//!
//! Words of a big-endian file are swapped as they are read; texts are bytes in both.

use std::marker::PhantomData;

/// Record types, bits 0..3 of the header.
pub mod record_type {
    pub const METADATA: u64 = 0;
    pub const INITIALIZATION: u64 = 1;
    pub const STRING: u64 = 2;
    pub const THREAD: u64 = 3;
    pub const EVENT: u64 = 4;
    pub const BLOB: u64 = 5;
    pub const USERSPACE_OBJECT: u64 = 6;
    pub const KERNEL_OBJECT: u64 = 7;
    pub const SCHEDULING: u64 = 8;
    pub const LOG: u64 = 9;
    pub const PROFILER: u64 = 10;
    pub const LARGE: u64 = 15;
}

/// Metadata types, bits 16..19 of a metadata record's header.
pub mod metadata_type {
    pub const PROVIDER_INFO: u64 = 1;
    pub const PROVIDER_SECTION: u64 = 2;
    pub const PROVIDER_EVENT: u64 = 3;
    pub const TRACE_INFO: u64 = 4;
}

/// Scheduling record types, bits 60..63 of a scheduling record's header.
pub mod scheduling_type {
    pub const LEGACY_SWITCH: u64 = 0;
    pub const CONTEXT_SWITCH: u64 = 1;
    pub const WAKEUP: u64 = 2;
}

/// The first eight bytes of a little-endian file.
pub const MAGIC: u64 = 0x0016_5478_4604_0010;

/// Bits `first..=last` of a word.
#[inline]
#[must_use]
pub const fn bits(word: u64, first: u32, last: u32) -> u64 {
    (word >> first) & (u64::MAX >> (63 - (last - first)))
}

/// How the bytes of a word lie in the file. A type parameter, so that each order has its own fast code.
pub trait Order: Copy + Send + Sync + 'static {
    /// The word that these bytes are.
    fn word(bytes: [u8; 8]) -> u64;
}

/// Least significant byte first: what all known writers write.
#[derive(Clone, Copy, Debug)]
pub struct Little;

/// Most significant byte first.
#[derive(Clone, Copy, Debug)]
pub struct Big;

impl Order for Little {
    #[inline]
    fn word(bytes: [u8; 8]) -> u64 {
        u64::from_le_bytes(bytes)
    }
}

impl Order for Big {
    #[inline]
    fn word(bytes: [u8; 8]) -> u64 {
        u64::from_be_bytes(bytes)
    }
}

/// Words of a record (or of the whole file): every access is checked.
#[derive(Debug)]
pub struct Words<'a, O> {
    bytes: &'a [u8],
    order: PhantomData<O>,
}

impl<O> Clone for Words<'_, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for Words<'_, O> {}

impl<'a, O: Order> Words<'a, O> {
    /// The words in `bytes`; a last incomplete one cannot be read as a word.
    #[inline]
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Words<'a, O> {
        Words {
            bytes,
            order: PhantomData,
        }
    }

    /// How many whole words there are.
    #[inline]
    #[must_use]
    pub fn count(self) -> usize {
        self.bytes.len() / 8
    }

    /// Word `index`, if it is there.
    #[inline]
    #[must_use]
    pub fn get(self, index: usize) -> Option<u64> {
        let rest = self.bytes.get(index.checked_mul(8)?..)?;
        rest.first_chunk::<8>().map(|&chunk| O::word(chunk))
    }

    /// `length` bytes from word `index` on, if they are there.
    #[inline]
    #[must_use]
    pub fn text(self, index: usize, length: usize) -> Option<&'a [u8]> {
        self.bytes.get(index.checked_mul(8)?..)?.get(..length)
    }

    /// The words from `index` on; none if there are not so many.
    #[inline]
    #[must_use]
    pub fn from(self, index: usize) -> Words<'a, O> {
        let start = index.saturating_mul(8);
        Words::new(self.bytes.get(start..).unwrap_or(&[]))
    }

    /// The first `count` words, or all if there are fewer.
    #[inline]
    #[must_use]
    pub fn up_to(self, count: usize) -> Words<'a, O> {
        Words::new(
            self.bytes
                .get(..count.saturating_mul(8))
                .unwrap_or(self.bytes),
        )
    }

    /// The record whose header is at byte `place`, with all of its words.
    #[inline]
    #[must_use]
    pub fn record_at(self, place: u64) -> Option<Words<'a, O>> {
        let rest = self.bytes.get(usize::try_from(place).ok()?..)?;
        let header = O::word(*rest.first_chunk::<8>()?);
        Some(Words::new(rest.get(..size_bytes(header)?)?))
    }
}

/// How many bytes the record with this header takes; `None` where it says 0 words.
#[inline]
#[must_use]
pub fn size_bytes(header: u64) -> Option<usize> {
    let words = if bits(header, 0, 3) == record_type::LARGE {
        bits(header, 4, 35)
    } else {
        bits(header, 4, 15)
    };
    if words == 0 {
        return None;
    }
    usize::try_from(words).ok()?.checked_mul(8)
}

/// How far ahead of the record at hand [`fetch_ahead`] looks: some dozens of records.
const AHEAD_BYTES: usize = 2048;

/// Has the memory behind the record at `at` fetched already: each record says where the next one begins, so that
/// without it one after the other would be waited for.
#[inline]
pub fn fetch_ahead(bytes: &[u8], at: usize) {
    if let Some(byte) = bytes.get(at + AHEAD_BYTES) {
        std::hint::black_box(*byte);
    }
}

/// A text as a record refers to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRef<'a> {
    /// An entry of the provider's string table; 0 is the empty text.
    Index(u16),
    /// The bytes themselves, without trailing NULs (some writers count one).
    Inline(&'a [u8]),
}

/// Reads the text that `reference` means; `at` is the word where an inline one would stand and is moved past it.
/// `None` if the text reaches past the record.
#[inline]
#[must_use]
pub fn read_text<'a, O: Order>(
    reference: u64,
    record: Words<'a, O>,
    at: &mut usize,
) -> Option<TextRef<'a>> {
    let reference = (reference & 0xffff) as u16;
    if reference & 0x8000 == 0 {
        return Some(TextRef::Index(reference));
    }
    let length = usize::from(reference & 0x7fff);
    let text = record.text(*at, length)?;
    *at += length.div_ceil(8);
    Some(TextRef::Inline(without_nuls(text)))
}

/// `text` without NULs at its end.
#[inline]
#[must_use]
pub fn without_nuls(text: &[u8]) -> &[u8] {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_inclusive() {
        assert_eq!(bits(MAGIC, 0, 3), record_type::METADATA);
        assert_eq!(bits(MAGIC, 4, 15), 1);
        assert_eq!(bits(MAGIC, 16, 19), metadata_type::TRACE_INFO);
        assert_eq!(bits(MAGIC, 24, 55), 0x1654_7846);
        assert_eq!(bits(u64::MAX, 0, 63), u64::MAX);
    }

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
