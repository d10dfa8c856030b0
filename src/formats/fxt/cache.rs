//! What the bulk pass has looked up already: strings, threads, kinds; kept from part to part.
//!
//! A worker that goes on where it stopped keeps everything. One that starts elsewhere in the file keeps
//! texts and kinds, but must ask the tables again what indices mean there. Labels are numbered anew in
//! each part.

use rustc_hash::FxHashMap;

use crate::base::{StringId, Strings};
use crate::event::{KindId, ThreadKey};

use super::rows::Rows;
use super::scan::Scan;
use super::tables::ProviderSlot;
use super::ticks::TickScale;

/// Every part carries a copy of the texts, so they must stay few.
const MOST_STRING_BYTES: u64 = 512 << 10;

/// A string index, as it was last looked up.
#[derive(Clone, Copy, Debug)]
pub struct StringEntry {
    /// The string record; `u64::MAX` where none was found.
    pub place: u64,
    /// The text.
    pub id: StringId,
    /// In which run of parts that was; 0: never.
    pub run: u32,
}

impl StringEntry {
    const NONE: StringEntry = StringEntry {
        place: u64::MAX,
        id: StringId::EMPTY,
        run: 0,
    };
}

/// What a provider's indices mean at the place that was reached.
#[derive(Debug)]
pub struct Local {
    strings: Vec<StringEntry>,
    /// By thread index, as far as looked up.
    pub threads: [Option<ThreadKey>; 256],
    /// The tick rate.
    pub scale: TickScale,
    /// The run of parts that threads and rate are of.
    pub run: u32,
}

impl Local {
    fn new() -> Local {
        Local {
            strings: Vec::new(),
            threads: [None; 256],
            scale: TickScale::NANOSECONDS,
            run: 0,
        }
    }

    /// What is known of a string index.
    #[inline]
    #[must_use]
    pub fn string(&self, index: u16) -> StringEntry {
        let entry = self.strings.get(usize::from(index)).copied();
        entry.unwrap_or(StringEntry::NONE)
    }

    /// Remembers what a string index means.
    pub fn set_string(&mut self, index: u16, entry: StringEntry) {
        let index = usize::from(index);
        if self.strings.len() <= index {
            self.strings.resize(index + 1, StringEntry::NONE);
        }
        if let Some(slot) = self.strings.get_mut(index) {
            *slot = entry;
        }
    }

    /// Forgets what indices mean: from here on other tables hold.
    pub fn forget_strings(&mut self) {
        self.strings.clear();
    }
}

/// A kind, and the label of its slices in the part that used it last.
#[derive(Clone, Copy, Debug)]
struct CachedKind {
    key: u64,
    label: u32,
    kind: KindId,
    part: u16,
}

/// Kinds by (sort, category, name): open addressing, so that a look-up is one cache line.
#[derive(Debug)]
struct KindTable {
    slots: Vec<CachedKind>,
    len: usize,
    shift: u32,
}

impl KindTable {
    const FREE: CachedKind = CachedKind {
        key: u64::MAX,
        label: 0,
        kind: KindId(0),
        part: 0,
    };

    fn new(bits: u32) -> KindTable {
        KindTable {
            slots: vec![Self::FREE; 1 << bits],
            len: 0,
            shift: u64::BITS - bits,
        }
    }

    /// Where the key is, or where it would go.
    #[inline]
    fn slot(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize;
        while let Some(found) = self.slots.get(slot) {
            if found.key == key || found.key == u64::MAX {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[inline]
    fn get(&self, key: u64) -> Option<CachedKind> {
        let found = self.slots.get(self.slot(key)).copied();
        found.filter(|found| found.key == key)
    }

    fn set(&mut self, cached: CachedKind) {
        if (self.len + 1) * 2 > self.slots.len() {
            let grown = KindTable::new(u64::BITS - self.shift + 1);
            let old = std::mem::replace(self, grown);
            let taken = old.slots.into_iter().filter(|slot| slot.key != u64::MAX);
            taken.for_each(|slot| self.set(slot));
        }
        let slot = self.slot(cached.key);
        if let Some(entry) = self.slots.get_mut(slot) {
            self.len += usize::from(entry.key == u64::MAX);
            *entry = cached;
        }
    }
}

/// See the module's text.
#[derive(Debug)]
pub struct Cache {
    /// All texts met so far.
    pub strings: Strings,
    /// The current provider's entries; those of the others are parked.
    pub local: Box<Local>,
    slot: ProviderSlot,
    parked: FxHashMap<ProviderSlot, Box<Local>>,
    kinds: KindTable,
    /// Threads by process and thread koid.
    pub pairs: FxHashMap<(u64, u64), ThreadKey>,
    /// Threads by their koid alone.
    pub tids: FxHashMap<u64, ThreadKey>,
    /// The events of the current part.
    pub rows: Rows,
    end: u64,
    run: u32,
    part: u16,
}

impl Default for Cache {
    fn default() -> Cache {
        Cache {
            strings: Strings::default(),
            local: Box::new(Local::new()),
            slot: 0,
            parked: FxHashMap::default(),
            kinds: KindTable::new(10),
            pairs: FxHashMap::default(),
            tids: FxHashMap::default(),
            rows: Rows::default(),
            end: u64::MAX,
            run: 0,
            part: 0,
        }
    }
}

impl Cache {
    /// Prepares for the part from `start` to `end`.
    pub fn start(&mut self, scan: &Scan, start: u64, end: u64) {
        self.part += 1;
        self.rows.start(start);
        if self.end != start || self.run == 0 {
            self.run += 1;
            self.enter(scan, scan.tables.provider_at(start), start);
        }
        self.end = end;
    }

    /// Where the part ends that was read last.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Whether it is worth keeping for another part.
    #[must_use]
    pub fn is_small(&self) -> bool {
        self.strings.memory_bytes() <= MOST_STRING_BYTES && self.part < u16::MAX
    }

    /// The run of consecutive parts that entries must be of to hold.
    #[inline]
    #[must_use]
    pub fn run(&self) -> u32 {
        self.run
    }

    /// The current provider.
    #[must_use]
    pub fn slot(&self) -> ProviderSlot {
        self.slot
    }

    /// Makes a provider current; where its entries are of an earlier run, its rate is that at `place`.
    pub fn enter(&mut self, scan: &Scan, slot: ProviderSlot, place: u64) {
        if slot != self.slot {
            let entered = self.parked.remove(&slot);
            let entered = entered.unwrap_or_else(|| Box::new(Local::new()));
            let left = std::mem::replace(&mut self.local, entered);
            self.parked.insert(self.slot, left);
            self.slot = slot;
        }
        if self.local.run != self.run {
            self.local.run = self.run;
            self.local.threads = [None; 256];
            self.local.scale = scan.tables.scale_at(slot, place);
        }
    }

    /// The kind with this key and its label, if it was used in this part.
    #[inline]
    #[must_use]
    pub fn known_kind(&self, key: u64) -> Option<(KindId, u32)> {
        let found = self.kinds.get(key).filter(|kind| kind.part == self.part)?;
        Some((found.kind, found.label))
    }

    /// The kind with this key and its label: `intern` finds the one, `label` makes the other.
    pub fn kind(
        &mut self,
        key: u64,
        intern: impl FnOnce(&Strings) -> KindId,
        label: impl FnOnce() -> u32,
    ) -> (KindId, u32) {
        let known = self.kinds.get(key).map(|cached| cached.kind);
        let cached = CachedKind {
            key,
            kind: known.unwrap_or_else(|| intern(&self.strings)),
            label: label(),
            part: self.part,
        };
        self.kinds.set(cached);
        (cached.kind, cached.label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_kept_and_labels_are_new_in_each_part() {
        let scan = Scan::default();
        let mut cache = Cache::default();
        for part in 0..3 {
            cache.start(&scan, part * 8, part * 8 + 8);
            for key in 0..5000_u64 {
                assert_eq!(cache.known_kind(key << 20), None);
                let intern = |_: &Strings| {
                    assert_eq!(part, 0);
                    KindId(key as u16)
                };
                let _ = cache.kind(key << 20, intern, || part as u32);
                let known = cache.known_kind(key << 20);
                assert_eq!(known, Some((KindId(key as u16), part as u32)));
            }
        }
    }
}
