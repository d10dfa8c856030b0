//! Appends words, headers and the records of providers to the bytes of a chunk or file.

use crate::base::dev_assert;
use crate::fxt::layout::{
    MOST_RECORD_WORDS, RECORD_TYPE, RECORD_WORDS, argument, metadata, record_type,
};

/// Returns the header bits of a record's type.
#[inline]
pub(super) const fn record(record_type: u64) -> u64 {
    RECORD_TYPE.put(record_type)
}

/// Returns the header bits of a record's size.
#[inline]
pub(super) const fn sized(words: u64) -> u64 {
    RECORD_WORDS.put(words)
}

/// Appends a record that announces a provider.
pub(super) fn push_provider_info(out: &mut Vec<u8>, number: u32, name: &[u8]) {
    let name = cut_bytes(name, metadata::NAME_BYTES.max() as usize);
    let start = out.len();
    push_word(
        out,
        metadata_record(metadata::PROVIDER_INFO, number)
            | metadata::NAME_BYTES.put(name.len() as u64),
    );
    push_bytes(out, name);
    close(out, start);
}

/// Appends a record that begins a section of a provider.
pub(super) fn push_section(out: &mut Vec<u8>, number: u32) {
    push_word(
        out,
        sized(1) | metadata_record(metadata::PROVIDER_SECTION, number),
    );
}

/// Appends the tick rate of the current section's provider.
pub(super) fn push_ticks(out: &mut Vec<u8>, rate: u64) {
    push_word(out, record(record_type::INITIALIZATION) | sized(2));
    push_word(out, rate);
}

/// Appends an initialization record for ticks of 1 ns with the wall clock, in ns since the Unix epoch, at a tick.
pub(super) fn push_wall_clock(out: &mut Vec<u8>, tick: u64, wall_ns: u64) {
    push_word(out, record(record_type::INITIALIZATION) | sized(4));
    push_word(out, 1_000_000_000);
    push_word(out, tick);
    push_word(out, wall_ns);
}

/// Returns the header of a metadata record of a provider, without its size.
pub(super) fn metadata_record(kind: u64, provider: u32) -> u64 {
    record(record_type::METADATA)
        | metadata::KIND.put(kind)
        | metadata::PROVIDER.put(provider.into())
}

/// Returns the header of an argument with the reference `name_bits` as its name, without its upper half.
#[inline]
pub(super) fn argument_header(kind: u64, words: u64, name_bits: u16) -> u64 {
    argument::KIND.put(kind) | argument::WORDS.put(words) | argument::NAME.put(name_bits.into())
}

#[inline]
pub(super) fn push_word(out: &mut Vec<u8>, word: u64) {
    out.extend_from_slice(&word.to_le_bytes());
}

/// Appends bytes, padded to whole words.
#[inline]
pub(super) fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    out.extend_from_slice(bytes);
    let padded = out.len().next_multiple_of(8);
    out.resize(padded, 0);
}

/// Writes the size of the record that starts at `start` into bits 4 to 15 of its header, in words.
#[inline]
pub(super) fn close(out: &mut [u8], start: usize) {
    let words = (out.len() - start) as u64 / 8;
    dev_assert!(words <= MOST_RECORD_WORDS as u64);
    if let Some(header) = out.get_mut(start..start + 2) {
        header[0] |= (words << 4) as u8;
        header[1] |= (words >> 4) as u8;
    }
}

/// Returns the longest start of `bytes` with at most `most_bytes` bytes; in text it ends at a character.
pub(crate) fn cut_bytes(bytes: &[u8], most_bytes: usize) -> &[u8] {
    let is_within = |end: usize| bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80);
    if bytes.len() <= most_bytes {
        return bytes;
    }
    let least = most_bytes.saturating_sub(3);
    let end = (least..=most_bytes).rev().find(|&end| !is_within(end));
    bytes.get(..end.unwrap_or(most_bytes)).unwrap_or(bytes)
}
