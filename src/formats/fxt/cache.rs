//! Look-up results of the bulk pass: strings, threads and kinds, kept from part to part.
//!
//! A worker that reads the next part in file order keeps everything. A worker that reads a part elsewhere in the file
//! keeps texts and kinds, but looks up the indices again. The columns of a part refer only to what occurs in the part,
//! so labels and the texts of rows get new numbers in each part.

use rustc_hash::FxHashMap;

use crate::base::{Maybe, StringId, Strings};
use crate::event::{KindId, ThreadKey};

use super::fold::PartRange;
use super::kinds::Sort;
use super::rows::Rows;
use super::scan::Scan;
use super::summary::Pair;
use super::tables::ProviderSlot;
use super::ticks::TickScale;

/// Maximum size of texts in a cache that is reused, because texts of inline names accumulate.
const MOST_STRING_BYTES: u64 = 64 << 20;

/// The result of the last look-up of a string index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StringEntry {
    /// Place of the string record, if one was found.
    pub place: Option<u64>,
    /// Id of the text.
    pub id: StringId,
    /// The run of consecutive parts in which the index was looked up; 0: never. With the bit `UNREAD`, the record was
    /// seen but its text has not been needed yet.
    pub run: u32,
}

/// Bit in the run of a [`StringEntry`]: the text was not read yet.
pub(crate) const UNREAD: u32 = 1 << 31;

impl StringEntry {
    const NONE: StringEntry = StringEntry {
        place: None,
        id: StringId::EMPTY,
        run: 0,
    };
}

/// The meaning of one provider's indices at the current place in the file.
#[derive(Debug)]
pub(crate) struct Local {
    /// Run and text of each string index; their places are in a separate vector, because they are used less often.
    strings: Vec<(u32, StringId)>,
    string_places: Vec<Maybe<u64>>,
    /// By thread index; `None` if not looked up yet.
    pub threads: [Option<Maybe<ThreadKey>>; 256],
    /// The tick rate.
    pub scale: TickScale,
    /// The run of consecutive parts for which threads and rate are valid.
    pub run: u32,
}

impl Local {
    fn new() -> Local {
        Local {
            strings: Vec::new(),
            string_places: Vec::new(),
            threads: [None; 256],
            scale: TickScale::NANOSECONDS,
            run: 0,
        }
    }

    /// Returns the result of the last look-up of a string index.
    #[inline]
    #[must_use]
    pub(crate) fn string(&self, index: u16) -> StringEntry {
        let (run, id) = self.known_string(index);
        let place = self.string_places.get(usize::from(index));
        let place = place.and_then(|place| place.get());
        StringEntry { place, id, run }
    }

    /// Returns the run of consecutive parts in which a string index was looked up, and its text.
    #[inline]
    #[must_use]
    pub(crate) fn known_string(&self, index: u16) -> (u32, StringId) {
        match self.strings.get(usize::from(index)) {
            Some(&known) => known,
            None => (StringEntry::NONE.run, StringEntry::NONE.id),
        }
    }

    /// Stores the meaning of a string index.
    pub(crate) fn set_string(&mut self, index: u16, entry: StringEntry) {
        let index = usize::from(index);
        if self.strings.len() <= index {
            let none = StringEntry::NONE;
            self.strings.resize(index + 1, (none.run, none.id));
            self.string_places.resize(index + 1, Maybe::NONE);
        }
        if let (Some(known), Some(place)) = (
            self.strings.get_mut(index),
            self.string_places.get_mut(index),
        ) {
            *known = (entry.run, entry.id);
            *place = entry.place.into();
        }
    }

    /// Forgets the string indices, because other tables are valid from here on.
    pub(crate) fn forget_strings(&mut self) {
        self.strings.clear();
        self.string_places.clear();
    }
}

/// Number of classes of record types that have kinds by name.
const NAMED_CLASSES: usize = 4;

#[inline]
fn class_index(sort: Sort) -> usize {
    match sort {
        Sort::Instant => 0,
        Sort::Blob => 2,
        Sort::Object => 3,
        _ => 1,
    }
}

/// Category and name of an event, as ids of the part's texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameIds {
    pub category: StringId,
    pub name: StringId,
}

/// A (category, name) pair: its kind per class, and the label of its slices in one part.
#[derive(Clone, Copy, Debug)]
struct Named {
    key: u64,
    label: u32,
    label_part: u16,
    /// The kind of each class, if it was looked up.
    kinds: [Maybe<u32>; NAMED_CLASSES],
}

/// The kind of a record, and for slices the label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KindAndLabel {
    pub kind: KindId,
    pub label: u32,
}

/// All (category, name) pairs. Compact, because there is a search for every event.
#[derive(Debug)]
struct Names {
    /// Open addressing: index into `entries` + 1; 0: the slot is free.
    slots: Vec<u32>,
    shift: u32,
    entries: Vec<Named>,
    /// The last look-ups, by the key's hash: (key, index). Most events have one of a few names.
    recent: Vec<(u64, u32)>,
}

const RECENT_BITS: u32 = 9;

impl Names {
    fn new(bits: u32) -> Names {
        Names {
            slots: vec![0; 1 << bits],
            shift: u64::BITS - bits,
            entries: Vec::new(),
            recent: vec![(u64::MAX, 0); 1 << RECENT_BITS],
        }
    }

    /// Returns the index of the entry with this key, and adds it if it is new.
    #[inline]
    fn find(&mut self, key: u64) -> usize {
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let recent = (hash >> (u64::BITS - RECENT_BITS)) as usize;
        match self.recent.get(recent) {
            Some(&(known, index)) if known == key => index as usize,
            _ => {
                let index = self.look_up(key, hash);
                if let Some(entry) = self.recent.get_mut(recent) {
                    *entry = (key, index as u32);
                }
                index
            }
        }
    }

    fn look_up(&mut self, key: u64, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = (hash >> self.shift) as usize;
        while let Some(&index) = self.slots.get(slot)
            && index != 0
        {
            let index = index as usize - 1;
            if self
                .entries
                .get(index)
                .is_some_and(|named| named.key == key)
            {
                return index;
            }
            slot = (slot + 1) & mask;
        }
        self.add(key, slot)
    }

    #[cold]
    fn add(&mut self, key: u64, slot: usize) -> usize {
        if let Some(free) = self.slots.get_mut(slot) {
            *free = self.entries.len() as u32 + 1;
        }
        self.entries.push(Named {
            key,
            label: 0,
            label_part: 0,
            kinds: [Maybe::NONE; NAMED_CLASSES],
        });
        if self.entries.len() * 2 > self.slots.len() {
            let mut grown = Names::new(u64::BITS - self.shift + 1);
            for entry in self.entries.drain(..) {
                let index = grown.find(entry.key);
                if let Some(place) = grown.entries.get_mut(index) {
                    *place = entry;
                }
            }
            *self = grown;
        }
        self.entries.len() - 1
    }
}

/// The part's own ids of the texts that its rows refer to.
#[derive(Debug, Default)]
pub(crate) struct OwnTexts {
    /// The current part; 0 before the first part.
    part: u16,
    /// By id in the cache: the last part whose rows refer to the text, and the text's id there.
    ids: Vec<(u16, StringId)>,
}

impl OwnTexts {
    /// Returns the id in `own`, the part's strings, of a text in `all`, the cache's strings.
    #[inline]
    pub(super) fn id(&mut self, text: StringId, all: &Strings, own: &mut Strings) -> StringId {
        match self.ids.get(text.0 as usize) {
            Some(&(part, id)) if part == self.part => id,
            _ => self.add(text, all, own),
        }
    }

    #[inline(never)]
    fn add(&mut self, text: StringId, all: &Strings, own: &mut Strings) -> StringId {
        if self.ids.len() < all.len() {
            self.ids.resize(all.len(), (0, StringId::EMPTY));
        }
        let id = own.intern(all.bytes(text));
        if let Some(entry) = self.ids.get_mut(text.0 as usize) {
            *entry = (self.part, id);
        }
        id
    }
}

/// The cache; see the module's documentation.
#[derive(Debug)]
pub(crate) struct Cache {
    /// All texts seen so far.
    pub strings: Strings,
    /// The texts that the current part's rows refer to.
    pub own: OwnTexts,
    /// The entries of the current provider; the entries of other providers are in `parked`.
    pub local: Box<Local>,
    slot: ProviderSlot,
    parked: FxHashMap<ProviderSlot, Box<Local>>,
    names: Names,
    /// Threads with their processes.
    pub pairs: FxHashMap<Pair, Maybe<ThreadKey>>,
    /// Threads by thread koid.
    pub tids: FxHashMap<u64, ThreadKey>,
    /// The events of the current part.
    pub rows: Rows,
    end: Option<u64>,
    run: u32,
}

impl Default for Cache {
    fn default() -> Cache {
        Cache {
            strings: Strings::default(),
            own: OwnTexts::default(),
            local: Box::new(Local::new()),
            slot: 0,
            parked: FxHashMap::default(),
            names: Names::new(10),
            pairs: FxHashMap::default(),
            tids: FxHashMap::default(),
            rows: Rows::default(),
            end: None,
            run: 0,
        }
    }
}

impl Cache {
    /// Prepares for the part with these records.
    pub(crate) fn start(&mut self, scan: &Scan, range: PartRange) {
        let PartRange { start, end } = range;
        self.own.part += 1;
        self.rows.start(start);
        if self.end != Some(start) {
            self.run += 1;
            self.enter(scan, scan.tables.provider_at(start), start);
        }
        self.end = Some(end);
    }

    /// Returns the end of the part that was read last, as a byte offset in the file.
    #[must_use]
    pub(super) fn end(&self) -> Option<u64> {
        self.end
    }

    /// Returns whether the cache is small enough for reuse in another part.
    #[must_use]
    pub(super) fn is_small(&self) -> bool {
        self.strings.memory_bytes() <= MOST_STRING_BYTES && self.own.part < u16::MAX
    }

    /// Returns the current run of consecutive parts: only entries of this run are valid.
    #[inline]
    #[must_use]
    pub(super) fn run(&self) -> u32 {
        self.run
    }

    /// Returns the slot of the current provider.
    #[must_use]
    pub(crate) fn slot(&self) -> ProviderSlot {
        self.slot
    }

    /// Makes a provider current. Its entries are dropped if they are from an earlier run; then the tick rate at `place`
    /// is used.
    pub(crate) fn enter(&mut self, scan: &Scan, slot: ProviderSlot, place: u64) {
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

    /// Returns the kind for a record type, category and name, and for slices the label. `intern` creates the kind,
    /// `label` the label, each at the first use.
    #[inline]
    pub(super) fn kind(
        &mut self,
        sort: Sort,
        names: NameIds,
        intern: impl FnOnce(&Strings) -> KindId,
        label: impl FnOnce(&mut OwnTexts, &Strings) -> u32,
    ) -> KindAndLabel {
        let index = self
            .names
            .find(u64::from(names.name.0) << 32 | u64::from(names.category.0));
        let Some(named) = self.names.entries.get_mut(index) else {
            return KindAndLabel {
                kind: sort.own_kind(),
                label: 0,
            };
        };
        // One predictable branch instead of two: the record type of the next event is unpredictable.
        let wants_label = matches!(sort, Sort::Begin | Sort::Complete);
        if wants_label & (named.label_part != self.own.part) {
            named.label = label(&mut self.own, &self.strings);
            named.label_part = self.own.part;
        }
        let slot = &mut named.kinds[class_index(sort)];
        let kind = slot.get().unwrap_or_else(|| {
            let kind = intern(&self.strings).0;
            *slot = Maybe::new(kind);
            kind
        });
        KindAndLabel {
            kind: KindId(kind),
            label: named.label,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_kept_and_labels_are_new_in_each_part() {
        let scan = Scan::default();
        let mut cache = Cache::default();
        for part in 0..3_u32 {
            let start = u64::from(part) * 8;
            let end = start + 8;
            cache.start(&scan, PartRange { start, end });
            for round in 0..2 {
                for number in 0..5000_u32 {
                    let (mut asks, mut labels) = (0, 0);
                    let found = cache.kind(
                        Sort::Begin,
                        NameIds {
                            category: StringId(number % 7),
                            name: StringId(number),
                        },
                        |_| {
                            asks += 1;
                            KindId(number)
                        },
                        |_, _| {
                            labels += 1;
                            number + part
                        },
                    );
                    let kind = KindId(number);
                    assert_eq!((found.kind, found.label), (kind, number + part));
                    let is_first = round == 0;
                    assert_eq!(
                        (asks, labels),
                        (i32::from(is_first && part == 0), i32::from(is_first))
                    );
                }
            }
        }
        let names = NameIds {
            category: StringId(0),
            name: StringId(0),
        };
        let end = cache.kind(Sort::End, names, |_| KindId(900), |_, _| 0);
        assert_eq!(end.kind, KindId(0), "of the class of begins");
        let point = cache.kind(Sort::Instant, names, |_| KindId(900), |_, _| 0);
        assert_eq!(point.kind, KindId(900));
    }
}
