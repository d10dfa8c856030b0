//! Whether bytes are FXT, and in which byte order.

use crate::base::Endian;
use crate::formats::Sniff;

use super::header::{Big, Little, MAGIC, Order, Words, bits, record_type, size_bytes};

/// How many records must chain before a file without magic record is taken for FXT.
const MIN_RECORDS: usize = 3;
/// As many, if there are records of types that no specification has between them.
const MIN_BESIDE_UNKNOWN: usize = 8;
/// How many known records there must be for each unknown one.
const KNOWN_PER_UNKNOWN: usize = 3;
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
    let (little, big) = (chain::<Little>(head), chain::<Big>(head));
    match (little.is_fxt(), big.is_fxt()) {
        (true, is_big) if !is_big || little.known >= big.known => {
            Some((Endian::Little, Magic::Absent))
        }
        (_, true) => Some((Endian::Big, Magic::Absent)),
        _ => None,
    }
}

/// The byte order of a file that the user says is FXT: the one that gives more plausible records. `None` if the file
/// starts with none in either.
#[must_use]
pub fn likely_order_of(head: &[u8]) -> Option<(Endian, Magic)> {
    order_of(head).or_else(|| {
        let score = |chain: Chain| (chain.known, chain.unknown);
        let (little, big) = (score(chain::<Little>(head)), score(chain::<Big>(head)));
        let endian = if big > little {
            Endian::Big
        } else {
            Endian::Little
        };
        (little.max(big) > (0, 0)).then_some((endian, Magic::Absent))
    })
}

/// The records that a file starts with.
#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    /// How many are what the specification says.
    known: usize,
    /// How many have a type that it does not have.
    unknown: usize,
    /// Whether one that cannot be follows.
    is_broken: bool,
}

impl Chain {
    fn is_fxt(self) -> bool {
        let least = if self.unknown == 0 {
            MIN_RECORDS
        } else {
            MIN_BESIDE_UNKNOWN.max(self.unknown * KNOWN_PER_UNKNOWN)
        };
        !self.is_broken && self.known >= least
    }
}

fn chain<O: Order>(head: &[u8]) -> Chain {
    let file = Words::<O>::new(head);
    let mut chain = Chain::default();
    let mut at = 0_u64;
    while chain.known + chain.unknown < MOST_RECORDS {
        let Some(header) = file.from((at / 8) as usize).get(0) else {
            break;
        };
        // Zeros may fill up the end.
        let Some(size) = size_bytes(header) else {
            break;
        };
        let Some(record) = file.record_at(at) else {
            // The first large record may well reach past the head.
            chain.known += usize::from(is_large(header));
            break;
        };
        if is_unknown(header) {
            chain.unknown += 1;
        } else if is_plausible(header, record) {
            chain.known += 1;
        } else {
            chain.is_broken = true;
            break;
        }
        at = at.saturating_add(size as u64);
    }
    chain
}

/// Whether this is a large record of the one type that there is.
fn is_large(header: u64) -> bool {
    bits(header, 0, 3) == record_type::LARGE && bits(header, 36, 39) == 0 && header >> 40 <= 1
}

/// Whether the record says that it is of a type for which the specification has no meaning (yet).
fn is_unknown(header: u64) -> bool {
    match bits(header, 0, 3) {
        record_type::METADATA => !matches!(bits(header, 16, 19), 1..=4),
        record_type::EVENT => bits(header, 16, 19) > 10,
        record_type::SCHEDULING => bits(header, 60, 63) > 2,
        record_type::LARGE => !is_large(header),
        record_type::PROFILER | 11..record_type::LARGE => true,
        _ => false,
    }
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
        record_type::LARGE => is_large(header) && words >= 2,
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

    #[test]
    fn unknown_records_among_known_ones_are_no_hindrance() {
        let bytes = |words: &[u64]| -> Vec<u8> {
            words.iter().flat_map(|word| word.to_le_bytes()).collect()
        };
        let event = bytes(&[4 | 4 << 4, 5, 1, 2]);
        let unknown = bytes(&[12 | 3 << 4, 1, 2]);
        let later_event = bytes(&[4 | 4 << 4 | 14 << 16, 5, 1, 2]);
        for strange in [&unknown, &later_event] {
            let file = [&event[..], strange, &event.repeat(9)].concat();
            assert_eq!(sniff(&file), Sniff::Maybe);
            let few = [&event[..], strange, &event.repeat(2)].concat();
            assert_eq!(sniff(&few), Sniff::No);
            let expected = Some((Endian::Little, Magic::Absent));
            assert_eq!(likely_order_of(&few), expected);
        }
        let swapped: Vec<u8> = event
            .chunks(8)
            .flat_map(|word| word.iter().rev())
            .copied()
            .collect();
        assert_eq!(sniff(&swapped), Sniff::No);
        assert_eq!(
            likely_order_of(&swapped),
            Some((Endian::Big, Magic::Absent))
        );
        let large = [event.repeat(2), bytes(&[15 | 100_000 << 4, 0])].concat();
        assert_eq!(sniff(&large), Sniff::Maybe);
        assert_eq!(likely_order_of(&[0; 64]), None);
    }
}
