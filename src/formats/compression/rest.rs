//! Recovers the bytes of a damaged or cut compressed file that its unpacker drops, and finds where the file stops.
//!
//! The unpackers of gzip and zstd drop the bytes that were already unpacked in the failing read call. The unpacker of
//! lz4 drops the block that it could not finish, up to 4 MB, and treats a missing end mark as the end. None of the
//! compressed files of the corpus and the samples (gzip, zstd) is damaged or cut.
//!
//! lz4 frame: magic, flags (1 byte), block size (1), content size (8, flag bit 3), dictionary (4, bit 0), header
//! checksum (1); blocks: length (4, bit 31: not packed, 0: end mark), bytes, checksum (4, bit 4); content checksum
//! (4, bit 2). Specification: "LZ4 Frame Format Description" and "LZ4 Block Format Description".

use std::io::Read;

use crate::base::{Cancelled, Job};

/// Magic number of an lz4 frame.
pub(super) const LZ4_MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// Unpacks again: skips the bytes that `plain` already has, then appends byte by byte until the unpacker fails.
pub(super) fn read_to_failure(
    source: &mut dyn Read,
    plain: &mut Vec<u8>,
    job: &Job,
) -> Result<(), Cancelled> {
    let mut again = vec![0; 1 << 16];
    let mut left = plain.len();
    while left > 0 {
        job.check()?;
        let most = left.min(again.len());
        match source.read(&mut again[..most]) {
            Ok(count) if count > 0 => left = left.saturating_sub(count),
            _ => return Ok(()),
        }
    }
    let mut byte = [0];
    while let Ok(1) = source.read(&mut byte) {
        if plain.len().trailing_zeros() >= 16 {
            job.check()?;
        }
        plain.push(byte[0]);
    }
    Ok(())
}

/// Appends the readable start of the block that could not be unpacked to `plain`: the block that the end of the file
/// cuts, or the block that ends at `damaged_end`. Returns the byte offset in the file at which the readable bytes end;
/// `None` if all frames are complete.
pub(super) fn rest_of_lz4(
    file: &[u8],
    damaged_end: Option<usize>,
    plain: &mut Vec<u8>,
) -> Option<usize> {
    let number = |at: usize| {
        let bytes = file.get(at..)?.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*bytes))
    };
    let mut at = 0;
    while let Some(frame) = file.get(at..).filter(|frame| !frame.is_empty()) {
        if !frame.starts_with(&LZ4_MAGIC) {
            return LZ4_MAGIC.starts_with(frame).then_some(file.len());
        }
        let (Some(&flags), Some(&sizes)) = (frame.get(4), frame.get(5)) else {
            return Some(file.len());
        };
        let has = |bit: u8| usize::from(flags >> bit & 1);
        let most = 1_usize << (8 + 2 * (sizes >> 4 & 7));
        at += 7 + 8 * has(3) + 4 * has(0);
        loop {
            let Some(header) = number(at) else {
                return Some(file.len());
            };
            at += 4;
            if header == 0 {
                at += 4 * has(2);
                break;
            }
            let length = (header & 0x7fff_ffff) as usize;
            let end = at + length + 4 * has(4);
            let is_damaged = damaged_end == Some(end);
            if end > file.len() || is_damaged {
                let block = file.get(at..).unwrap_or(&[]);
                let block = &block[..block.len().min(length)];
                let read = if header >> 31 == 0 {
                    unpack_start(block, most, plain)
                } else {
                    let raw = &block[..block.len().min(most)];
                    plain.extend_from_slice(raw);
                    raw.len()
                };
                // A cut file is readable up to its end; a damaged block up to the error.
                return Some(if is_damaged { at + read } else { file.len() });
            }
            at = end;
        }
        if at > file.len() {
            return Some(file.len());
        }
    }
    None
}

/// Unpacks the valid start of an lz4 block, to at most `most` bytes. Returns how many bytes of the block were read.
fn unpack_start(block: &[u8], most: usize, plain: &mut Vec<u8>) -> usize {
    let limit = plain.len() + most;
    let mut at = 0;
    while unpack_sequence(block, &mut at, limit, plain).is_some() {}
    at
}

/// Unpacks one token with its literals and its copy. If some of their bytes are missing, `at` is set after the last
/// byte used.
fn unpack_sequence(block: &[u8], at: &mut usize, limit: usize, plain: &mut Vec<u8>) -> Option<()> {
    let mut next = *at;
    let token = *block.get(next)?;
    next += 1;
    let literals = length_at(block, &mut next, token >> 4)?;
    let whole = block.get(next..)?;
    let here = &whole[..literals
        .min(whole.len())
        .min(limit.saturating_sub(plain.len()))];
    plain.extend_from_slice(here);
    *at = next + here.len();
    if here.len() < literals {
        return None;
    }
    next += literals;
    let distance = u16::from_le_bytes(*block.get(next..)?.first_chunk::<2>()?);
    next += 2;
    let count = 4 + length_at(block, &mut next, token & 15)?;
    let from = plain.len().checked_sub(usize::from(distance))?;
    if distance == 0 || count > limit.saturating_sub(plain.len()) {
        return None;
    }
    // The source of the copy may overlap its own output.
    for place in from..from + count {
        plain.push(*plain.get(place)?);
    }
    *at = next;
    Some(())
}

/// Reads a length; `start` are its first 4 bits.
fn length_at(block: &[u8], next: &mut usize, start: u8) -> Option<usize> {
    let mut length = usize::from(start);
    if start == 15 {
        loop {
            let more = *block.get(*next)?;
            *next += 1;
            length += usize::from(more);
            if more != 255 {
                break;
            }
        }
    }
    Some(length)
}
