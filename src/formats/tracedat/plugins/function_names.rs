//! Cache of function names by address.

use rustc_hash::FxHashMap;

use crate::formats::tracedat::print_fmt::Lookup;
use crate::formats::tracedat::print_fmt::printf::push_hex;

/// Maximum number of addresses in the cache.
const MOST_RECENT: usize = 1 << 16;

/// Results of look-ups by address, because the same few thousand addresses occur again and again.
pub(super) type Recent<T> = FxHashMap<u64, Option<T>>;

/// Stores the result of a look-up of `address`. If the cache is full, empties it first.
pub(super) fn remember<T>(recent: &mut Recent<T>, address: u64, found: Option<T>) -> &Option<T> {
    if recent.len() >= MOST_RECENT {
        recent.clear();
    }
    recent.entry(address).insert_entry(found).into_mut()
}

/// Cache of the functions at addresses that were shown before.
#[derive(Debug, Default)]
pub struct Functions {
    recent: Recent<Box<[u8]>>,
}

impl Functions {
    /// Appends the name of the function at `address`, or the address.
    pub(super) fn push(&mut self, out: &mut Vec<u8>, lookup: &dyn Lookup, address: u64) {
        let name = match self.recent.get(&address) {
            Some(name) => name,
            None => {
                let name = lookup.symbol(address).map(|function| function.name.into());
                remember(&mut self.recent, address, name)
            }
        };
        match name {
            Some(name) => out.extend_from_slice(name),
            None => {
                out.extend_from_slice(b"0x");
                push_hex(out, address);
            }
        }
    }
}
