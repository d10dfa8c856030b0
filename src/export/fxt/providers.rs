//! The providers of FXT files: each is announced with its name before our own, and blobs and objects that belong to no
//! thread are in a section of the provider that wrote them.
//!
//! All other records are in the section of our own provider, and use its tables and tick rate.

use rustc_hash::{FxHashMap, FxHashSet};

use super::records::Records;
use crate::formats::Events;
use crate::formats::fxt::FxtSource;
use crate::fxt::agreed::OWN_PROVIDER;

/// The most providers of a file whose blobs and objects keep their provider.
const MOST_NAMED: usize = 256;
/// The tick rate of our provider: one tick is a nanosecond.
const TICKS_PER_SECOND: u64 = 1_000_000_000;

/// The providers of the output.
#[derive(Debug, Default)]
pub(crate) struct Providers {
    own: u32,
    /// Number, name and ticks per second of each provider of the sources.
    others: Vec<(u32, Vec<u8>, u64)>,
    numbers: FxHashMap<(u32, Vec<u8>), u32>,
}

impl Providers {
    /// Returns the providers of the files of `reader`; each keeps its number unless another one has it already.
    pub fn of(reader: &dyn Events) -> Providers {
        let mut providers = Providers::default();
        let mut used = FxHashSet::default();
        let lists = reader.fxt_sources();
        let all = lists.iter().flat_map(FxtSource::providers);
        // A provider that this program announced adds nothing but its name.
        let all: Vec<_> = all
            .filter(|(_, name, _)| !name.is_empty() && !name.starts_with(OWN_PROVIDER.as_bytes()))
            .collect();
        let said: FxHashSet<u32> = all.iter().map(|(id, ..)| *id).collect();
        let mut next = 1;
        let mut free = |used: &FxHashSet<u32>| {
            while used.contains(&next) || said.contains(&next) {
                next += 1;
            }
            next
        };
        for (id, name, rate) in &all {
            let key = (*id, name.to_vec());
            if providers.numbers.contains_key(&key) {
                continue;
            }
            let number = match used.contains(id) {
                true => free(&used),
                false => *id,
            };
            used.insert(number);
            providers.numbers.insert(key, number);
            providers.others.push((number, name.to_vec(), *rate));
        }
        providers.own = free(&used);
        providers
    }

    /// Returns our own provider and those of a file whose records are kept: each of these keeps its number.
    pub fn beside(fxt: &FxtSource<'_>) -> Providers {
        let all = fxt.providers();
        let used: FxHashSet<u32> = all.iter().map(|(id, ..)| *id).collect();
        let is_once = |id: u32| all.iter().filter(|(other, ..)| *other == id).count() == 1;
        let mut providers = Providers {
            own: (1..).find(|number| !used.contains(number)).unwrap_or(0),
            ..Providers::default()
        };
        // Only a damaged or hostile file announces thousands of providers.
        for (id, name, rate) in all.iter().take(MOST_NAMED) {
            if !name.is_empty() && is_once(*id) {
                providers.others.push((*id, name.to_vec(), *rate));
                providers.numbers.insert((*id, name.to_vec()), *id);
            }
        }
        providers
    }

    /// Returns the number of our own provider.
    pub fn own(&self) -> u32 {
        self.own
    }

    /// Returns the number of the provider of the record at a place of a source, if the provider is announced.
    pub(crate) fn of_record(&self, fxt: &FxtSource<'_>, place: u64) -> Option<u32> {
        if self.others.is_empty() {
            return None;
        }
        let (id, name) = fxt.provider_at(place);
        self.numbers.get(&(id, name.to_vec())).copied()
    }
}

impl Records<'_> {
    /// Writes the head of a file: magic number and providers; ours is last, and one of its ticks is a nanosecond.
    /// `shift` is what was added to all times, in ns.
    pub(crate) fn file_head(&mut self, providers: &Providers, shift: i64) {
        self.magic();
        for (number, name, rate) in &providers.others {
            self.provider_info(*number, name);
            self.ticks_per_second(*rate);
        }
        let own = match shift {
            0 => OWN_PROVIDER.to_owned(),
            ns => format!("{OWN_PROVIDER} (all times + {ns} ns)"),
        };
        self.provider_info(providers.own, own.as_bytes());
        self.ticks_per_second(TICKS_PER_SECOND);
    }

    /// Writes a record by `write` into the section of `provider`, if there is one. The record then contains its texts,
    /// because the provider has no tables.
    pub(crate) fn in_section(
        &mut self,
        (providers, provider): (&Providers, Option<u32>),
        write: impl FnOnce(&mut Self),
    ) {
        let Some(provider) = provider else {
            return write(self);
        };
        self.is_inline = true;
        self.provider_section(provider);
        write(self);
        self.is_inline = false;
        self.provider_section(providers.own);
    }
}
