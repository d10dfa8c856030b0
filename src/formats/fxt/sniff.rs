//! Whether bytes are FXT, and in which byte order.

use crate::base::Endian;
use crate::formats::Sniff;

use super::header::{Big, Little, MAGIC, Order, Words, bits, record_type, size_bytes};

/// How many records must chain before a file without magic record is taken for FXT.
const MIN_RECORDS: usize = 3;
const MOST_RECORDS: usize = 64;

/// Whether the head of a file is FXT: surely by its magic record, perhaps by records that chain.
#[must_use]
pub fn sniff(head: &[u8]) -> Sniff {
    match order_of(head) {
        Some((_, Magic::Present)) => Sniff::Yes,
        Some((_, Magic::Absent)) => Sniff::Maybe,
        None => Sniff::No,
    }
}

/// Whether a file starts with the magic record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Magic {
    /// It does.
    Present,
    /// It looks like FXT without.
    Absent,
}

/// The byte order that the magic record shows, or in which the first records make sense.
#[must_use]
pub fn order_of(head: &[u8]) -> Option<(Endian, Magic)> {
    if let Some(first) = head.first_chunk::<8>() {
        if Little::word(*first) == MAGIC {
            return Some((Endian::Little, Magic::Present));
        }
        if Big::word(*first) == MAGIC {
            return Some((Endian::Big, Magic::Present));
        }
    }
    if has_record_chain::<Little>(head) {
        return Some((Endian::Little, Magic::Absent));
    }
    has_record_chain::<Big>(head).then_some((Endian::Big, Magic::Absent))
}

/// Whether the bytes start with records each of which is plausible.
fn has_record_chain<O: Order>(head: &[u8]) -> bool {
    let file = Words::<O>::new(head);
    let mut at = 0_u64;
    for count in 0..MOST_RECORDS {
        let Some(record) = file.record_at(at) else {
            return count >= MIN_RECORDS;
        };
        let Some(header) = record.get(0) else {
            return false;
        };
        if !is_plausible(header, record) {
            return false;
        }
        at += size_bytes(header).unwrap_or(8) as u64;
    }
    true
}

fn is_plausible<O: Order>(header: u64, record: Words<'_, O>) -> bool {
    let words = record.count();
    let inline_words = |reference: u64| {
        if reference & 0x8000 == 0 {
            0
        } else {
            ((reference & 0x7fff) as usize).div_ceil(8)
        }
    };
    match bits(header, 0, 3) {
        record_type::METADATA => match bits(header, 16, 19) {
            1 => words == 1 + (bits(header, 52, 59) as usize).div_ceil(8),
            2..=4 => words == 1,
            _ => false,
        },
        record_type::INITIALIZATION => {
            (words == 2 || words == 4) && header >> 16 == 0 && record.get(1) != Some(0)
        }
        record_type::STRING => {
            let length = bits(header, 32, 46) as usize;
            words == 1 + length.div_ceil(8) && header >> 47 == 0
        }
        record_type::THREAD => words == 3 && header >> 24 == 0,
        record_type::EVENT => {
            let thread = if bits(header, 24, 31) == 0 { 2 } else { 0 };
            let texts = inline_words(header >> 32) + inline_words(header >> 48);
            let fixed = 2 + thread + texts + bits(header, 20, 23) as usize;
            bits(header, 16, 19) <= 10 && words >= fixed
        }
        record_type::KERNEL_OBJECT => {
            words >= 2 + inline_words(bits(header, 24, 39)) + bits(header, 40, 43) as usize
        }
        record_type::USERSPACE_OBJECT => words >= 2 && header >> 44 == 0,
        record_type::SCHEDULING => bits(header, 60, 63) <= 2 && words >= 3,
        record_type::BLOB => words > (bits(header, 32, 46) as usize).div_ceil(8),
        record_type::LOG => words >= 2 + (bits(header, 16, 30) as usize).div_ceil(8),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_magic_record_tells_the_byte_order() {
        assert_eq!(
            order_of(&MAGIC.to_le_bytes()),
            Some((Endian::Little, Magic::Present))
        );
        assert_eq!(
            order_of(&MAGIC.to_be_bytes()),
            Some((Endian::Big, Magic::Present))
        );
    }

    #[test]
    fn records_that_chain_are_perhaps_fxt_and_other_things_are_not() {
        let words: [u64; 8] = [
            1 | 2 << 4,
            24_000_000,
            3 | 3 << 4 | 1 << 16,
            10,
            11,
            4 | 2 << 4 | 1 << 24,
            5,
            0,
        ];
        let little: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let big: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        assert_eq!(sniff(&little), Sniff::Maybe);
        assert_eq!(order_of(&big), Some((Endian::Big, Magic::Absent)));
        for other in [
            &b""[..],
            b"# tracer: nop\n#\n#           TASK-PID  ",
            b"{\"traceEvents\":[]}",
            &[0; 256],
            &[0xff; 256],
            b"\x17\x08\x44tracing6\0\0\0\x08\0\0\x10\0\0header_page\0",
        ] {
            assert_eq!(sniff(other), Sniff::No, "{other:?}");
        }
    }
}
