//! Detects FXT and its byte order.

use crate::base::Endian;
use crate::formats::Sniff;

use crate::base::{Big, ByteOrder, Little};
use crate::fxt::layout::{
    MAGIC, RECORD_TYPE, blob, event, kernel_object, large, log, metadata, record_type, scheduling,
    string,
};
use crate::fxt::words::{Words, size_bytes};

/// Minimum number of consecutive plausible records in a file without magic record.
const MIN_RECORDS: usize = 3;
/// Minimum number of consecutive plausible records if some have unspecified types.
const MIN_BESIDE_UNKNOWN: usize = 8;
/// Minimum number of known records for each unknown one.
const KNOWN_PER_UNKNOWN: usize = 3;
const MOST_RECORDS: usize = 64;

/// Detects FXT in a file's head: certain with the magic record, possible with consecutive plausible records.
#[must_use]
pub(super) fn sniff(head: &[u8]) -> Sniff {
    match order_of(head) {
        Some(FoundOrder {
            magic: Magic::Present,
            ..
        }) => Sniff::Yes,
        Some(FoundOrder {
            magic: Magic::Absent,
            ..
        }) => Sniff::Maybe,
        None => Sniff::No,
    }
}

/// Whether a file starts with the magic record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Magic {
    /// The file starts with the magic record.
    Present,
    /// The magic record is missing, but the first records look like FXT.
    Absent,
}

/// The byte order of a file, and how it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundOrder {
    pub endian: Endian,
    pub magic: Magic,
}

impl FoundOrder {
    fn new(endian: Endian, magic: Magic) -> FoundOrder {
        FoundOrder { endian, magic }
    }
}

/// Returns the byte order that the magic record shows, or in which the first records are plausible.
#[must_use]
pub(crate) fn order_of(head: &[u8]) -> Option<FoundOrder> {
    if let Some(first) = head.first_chunk::<8>() {
        if Little::u64(*first) == MAGIC {
            return Some(FoundOrder::new(Endian::Little, Magic::Present));
        }
        if Big::u64(*first) == MAGIC {
            return Some(FoundOrder::new(Endian::Big, Magic::Present));
        }
    }
    let (little, big) = (chain::<Little>(head), chain::<Big>(head));
    match (little.is_fxt(), big.is_fxt()) {
        (true, is_big) if !is_big || little.known >= big.known => {
            Some(FoundOrder::new(Endian::Little, Magic::Absent))
        }
        (_, true) => Some(FoundOrder::new(Endian::Big, Magic::Absent)),
        _ => None,
    }
}

/// Returns the byte order of a file that the user declared as FXT: the one with more plausible records. `None` if no
/// plausible record starts the file in either order.
#[must_use]
pub(crate) fn likely_order_of(head: &[u8]) -> Option<FoundOrder> {
    order_of(head).or_else(|| {
        let score = |chain: Chain| (chain.known, chain.unknown);
        let (little, big) = (score(chain::<Little>(head)), score(chain::<Big>(head)));
        let endian = if big > little {
            Endian::Big
        } else {
            Endian::Little
        };
        (little.max(big) > (0, 0)).then_some(FoundOrder::new(endian, Magic::Absent))
    })
}

/// Counts of the records at the start of a file.
#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    /// Number of records that follow the specification.
    known: usize,
    /// Number of records with an unspecified type.
    unknown: usize,
    /// Whether an impossible record follows.
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

fn chain<O: ByteOrder>(head: &[u8]) -> Chain {
    let file = Words::<O>::new(head);
    let mut chain = Chain::default();
    let mut at = 0_u64;
    while chain.known + chain.unknown < MOST_RECORDS {
        let Some(header) = file.from((at / 8) as usize).get(0) else {
            break;
        };
        // The end of the file may be padded with zeros.
        let Some(size) = size_bytes(header) else {
            break;
        };
        let Some(record) = file.record_at(at) else {
            // The first large record may end after the head.
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

/// Returns whether this is a large record of the only specified type.
fn is_large(header: u64) -> bool {
    RECORD_TYPE.get(header) == record_type::LARGE
        && large::KIND.get(header) == 0
        && header >> 40 <= 1
}

/// Returns whether the specification does not define the record's type (yet).
fn is_unknown(header: u64) -> bool {
    match RECORD_TYPE.get(header) {
        record_type::METADATA => !matches!(metadata::KIND.get(header), 1..=4),
        record_type::EVENT => event::KIND.get(header) > event::FLOW_END,
        record_type::SCHEDULING => scheduling::KIND.get(header) > scheduling::WAKEUP,
        record_type::LARGE => !is_large(header),
        record_type::PROFILER | 11..record_type::LARGE => true,
        _ => false,
    }
}

/// Returns whether a record of this size and contents follows the specification.
#[must_use]
pub(super) fn is_plausible<O: ByteOrder>(header: u64, record: Words<'_, O>) -> bool {
    let words = record.count();
    let inline_words = |reference: u64| {
        if reference & 0x8000 == 0 {
            0
        } else {
            ((reference & 0x7fff) as usize).div_ceil(8)
        }
    };
    match RECORD_TYPE.get(header) {
        record_type::METADATA => match metadata::KIND.get(header) {
            1 => words == 1 + (metadata::NAME_BYTES.get(header) as usize).div_ceil(8),
            2..=4 => words == 1,
            _ => false,
        },
        record_type::INITIALIZATION => {
            (words == 2 || words == 4) && header >> 16 == 0 && record.get(1) != Some(0)
        }
        record_type::STRING => {
            let length = string::BYTES.get(header) as usize;
            words == 1 + length.div_ceil(8) && header >> 47 == 0
        }
        record_type::THREAD => words == 3 && header >> 24 == 0,
        record_type::EVENT => {
            let thread = if event::THREAD.get(header) == 0 { 2 } else { 0 };
            let texts = inline_words(header >> 32) + inline_words(header >> 48);
            let fixed = 2 + thread + texts + event::ARGS.get(header) as usize;
            event::KIND.get(header) <= event::FLOW_END && words >= fixed
        }
        record_type::KERNEL_OBJECT => {
            words
                >= 2 + inline_words(kernel_object::NAME.get(header))
                    + kernel_object::ARGS.get(header) as usize
        }
        record_type::USERSPACE_OBJECT => words >= 2 && header >> 44 == 0,
        record_type::SCHEDULING => scheduling::KIND.get(header) <= scheduling::WAKEUP && words >= 3,
        record_type::BLOB => words > (blob::BYTES.get(header) as usize).div_ceil(8),
        record_type::LOG => words >= 2 + (log::BYTES.get(header) as usize).div_ceil(8),
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
            Some(FoundOrder::new(Endian::Little, Magic::Present))
        );
        assert_eq!(
            order_of(&MAGIC.to_be_bytes()),
            Some(FoundOrder::new(Endian::Big, Magic::Present))
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
        assert_eq!(
            order_of(&big),
            Some(FoundOrder::new(Endian::Big, Magic::Absent))
        );
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
            let expected = Some(FoundOrder::new(Endian::Little, Magic::Absent));
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
            Some(FoundOrder::new(Endian::Big, Magic::Absent))
        );
        let large = [event.repeat(2), bytes(&[15 | 100_000 << 4, 0])].concat();
        assert_eq!(sniff(&large), Sniff::Maybe);
        assert_eq!(likely_order_of(&[0; 64]), None);
    }
}
