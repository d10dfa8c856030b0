//! Look-up results of the bulk pass, kept from part to part: what the indices of strings and threads mean, and the keys of
//! threads.
//!
//! A worker that reads the next part in file order keeps the places of strings, and threads. A worker that reads a part
//! elsewhere in the file looks up the indices again. Ids of strings are those of one part.

use rustc_hash::FxHashMap;

use crate::base::{Maybe, StringId};
use crate::event::ThreadKey;

use super::fold::PartRange;
use super::rows::Rows;
use super::scan::Scan;
use super::summary::Pair;
use super::tables::ProviderSlot;
use super::ticks::TickScale;

/// Where the record of a string index is.
#[derive(Clone, Copy, Debug, Default)]
struct Placed {
    /// The run of consecutive parts in which the place was found; 0: never.
    run: u32,
    place: u64,
}

/// The meaning of one provider's indices at the current place in the file.
#[derive(Debug)]
pub(crate) struct Local {
    /// By string index: the part in which the text was needed, and the text's id there; 0: never.
    strings: Vec<(u32, StringId)>,
    /// By string index; separate, because these are used less often.
    places: Vec<Placed>,
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
            places: Vec::new(),
            threads: [None; 256],
            scale: TickScale::NANOSECONDS,
            run: 0,
        }
    }

    /// Forgets the string indices, because other tables are valid from here on.
    pub(crate) fn forget_strings(&mut self) {
        self.strings.clear();
        self.places.clear();
    }

    /// Sets where the record of a string index is, and its id in a part.
    fn set(&mut self, index: u16, placed: Placed, known: (u32, StringId)) {
        let index = usize::from(index);
        if self.strings.len() <= index {
            self.strings.resize(index + 1, (0, StringId::EMPTY));
            self.places.resize(index + 1, Placed::default());
        }
        if let (Some(string), Some(place)) =
            (self.strings.get_mut(index), self.places.get_mut(index))
        {
            (*string, *place) = (known, placed);
        }
    }
}

/// The cache; see the module's documentation.
#[derive(Debug)]
pub(crate) struct Cache {
    /// The entries of the current provider; the entries of other providers are in `parked`.
    pub local: Box<Local>,
    slot: ProviderSlot,
    parked: FxHashMap<ProviderSlot, Box<Local>>,
    /// Threads with their processes.
    pub pairs: FxHashMap<Pair, Maybe<ThreadKey>>,
    /// Threads by thread koid.
    pub tids: FxHashMap<u64, ThreadKey>,
    /// The events of the current part.
    pub rows: Rows,
    end: Option<u64>,
    /// The number of consecutive runs of parts so far: only places and threads of the last one are valid.
    run: u32,
    /// The number of parts so far: only ids of strings of the last one are valid.
    part: u32,
}

impl Default for Cache {
    fn default() -> Cache {
        Cache {
            local: Box::new(Local::new()),
            slot: 0,
            parked: FxHashMap::default(),
            pairs: FxHashMap::default(),
            tids: FxHashMap::default(),
            rows: Rows::default(),
            end: None,
            run: 0,
            part: 0,
        }
    }
}

impl Cache {
    /// Prepares for the part with these records.
    pub(crate) fn start(&mut self, scan: &Scan, range: PartRange) {
        let PartRange { start, end } = range;
        self.part += 1;
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

    /// Returns the id of a string index in the current part, if it is known.
    #[inline]
    #[must_use]
    pub(super) fn string(&self, index: u16) -> Option<StringId> {
        match self.local.strings.get(usize::from(index)) {
            Some(&(part, id)) if part == self.part => Some(id),
            _ => None,
        }
    }

    /// Returns the place of the string record that is valid for an index at `at`.
    #[must_use]
    pub(super) fn place(&self, scan: &Scan, index: u16, at: u64) -> Option<u64> {
        match self.local.places.get(usize::from(index)) {
            Some(known) if known.run == self.run => Some(known.place),
            _ => scan.tables.string_at(self.slot, index, at),
        }
    }

    /// Sets the place of the record that is valid for a string index from here on.
    pub(super) fn set_place(&mut self, index: u16, place: u64) {
        let run = self.run;
        (self.local).set(index, Placed { run, place }, (0, StringId::EMPTY));
    }

    /// Sets the id that a string index has in the current part until another record is valid for it.
    pub(super) fn set_string(&mut self, index: u16, place: u64, id: StringId) {
        let run = self.run;
        (self.local).set(index, Placed { run, place }, (self.part, id));
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
}
