//! Fixed entries of the string and thread tables: once registered they are valid in the rest of the file.

use rustc_hash::FxHashMap;

use super::limits::MOST_REPEATED_BYTES;
use crate::base::{StringId, Strings};
use crate::export::shared::ThreadKoids;

/// How the indices of both tables are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Zones {
    /// The number of fixed strings.
    pub strings: u16,
    /// The last string index that is used.
    pub last_string: u16,
    /// The number of fixed threads.
    pub threads: u8,
    /// The last thread index that is used.
    pub last_thread: u8,
}

impl Zones {
    /// The full size of the format's tables.
    pub(crate) const FULL: Zones = Zones {
        strings: 16_383,
        last_string: 32_767,
        threads: 127,
        last_thread: 255,
    };
}

/// Texts of scheduling records and of thread names: they have the first indices in every file.
pub(crate) const WELL_KNOWN: [&str; 11] = [
    "process",
    "incoming_weight",
    "outgoing_weight",
    "outgoing_state",
    "waker",
    "without_states",
    "R+",
    "D",
    "t",
    "P",
    "I",
];

/// Returns the index of a text of [`WELL_KNOWN`]; 0 for the empty text.
pub(crate) const fn well_known(text: &str) -> u16 {
    let mut index = 0;
    while index < WELL_KNOWN.len() {
        if is_equal(WELL_KNOWN[index].as_bytes(), text.as_bytes()) {
            return index as u16 + 1;
        }
        index += 1;
    }
    0
}

const fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

/// The fixed entries.
#[derive(Debug)]
pub(crate) struct FixedTables {
    pub(super) zones: Zones,
    pub(super) strings: Strings,
    /// By string id of the trace: the index in the fixed table, or 0.
    pub(super) by_trace_id: Vec<u16>,
    pub(super) threads: FxHashMap<ThreadKoids, u8>,
    pub(super) thread_order: Vec<ThreadKoids>,
}

impl FixedTables {
    /// Assigns fixed indices to the names of fields, the texts of `names` (ids in `trace_strings`) and the threads. The
    /// most used entries of each list must come first: entries after the last free index get none.
    pub(crate) fn new(
        zones: Zones,
        field_names: &[String],
        names: &[StringId],
        trace_strings: &Strings,
        threads: &[ThreadKoids],
    ) -> FixedTables {
        let mut tables = FixedTables {
            zones,
            strings: Strings::default(),
            by_trace_id: vec![0; trace_strings.len()],
            threads: FxHashMap::default(),
            thread_order: Vec::new(),
        };
        for text in WELL_KNOWN {
            tables.strings.intern_text(text);
        }
        for text in field_names {
            let has_room = tables.strings.len() <= usize::from(zones.strings) / 2;
            if has_room && !text.is_empty() && text.len() <= MOST_REPEATED_BYTES {
                tables.strings.intern_text(text);
            }
        }
        for &name in names {
            if tables.strings.len() > usize::from(zones.strings) {
                break;
            }
            let text = trace_strings.bytes(name);
            if text.is_empty() || text.len() > MOST_REPEATED_BYTES {
                continue;
            }
            let index = tables.strings.intern(text).0 as u16;
            if let Some(entry) = tables.by_trace_id.get_mut(name.0 as usize) {
                *entry = index;
            }
        }
        for &koids in threads.iter().take(usize::from(zones.threads)) {
            let next = tables.thread_order.len() as u8 + 1;
            if let std::collections::hash_map::Entry::Vacant(entry) = tables.threads.entry(koids) {
                entry.insert(next);
                tables.thread_order.push(koids);
            }
        }
        tables
    }
}
