//! The providers of FXT files: each is announced under its name before our own, and blobs and objects that belong to
//! no thread stand in a section of the provider that wrote them.
//!
//! All other records stand in the section of our own provider, whose tables and tick rate they use.

use rustc_hash::{FxHashMap, FxHashSet};

use super::records::Records;
use crate::formats::Reader;
use crate::formats::fxt::FxtSource;

/// Our own ticks are nanoseconds.
const TICKS_PER_SECOND: u64 = 1_000_000_000;
/// The name of our own provider.
const OWN_NAME: &str = "threadline";

/// The providers of the file that is written.
#[derive(Debug, Default)]
pub struct Providers {
    own: u32,
    /// Number, name and ticks per second of each that the sources have.
    others: Vec<(u32, Vec<u8>, u64)>,
    numbers: FxHashMap<(u32, Vec<u8>), u32>,
}

impl Providers {
    /// Those of the files that `reader` reads, each with its own number as long as no other one has it.
    pub fn of(reader: &dyn Reader) -> Providers {
        let mut providers = Providers::default();
        let mut used = FxHashSet::default();
        let lists = reader.fxt_sources();
        let all = lists.iter().flat_map(FxtSource::providers);
        // A provider that this program announced has nothing of its own beside its name.
        let all: Vec<_> = all
            .filter(|(_, name, _)| !name.is_empty() && !name.starts_with(OWN_NAME.as_bytes()))
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

    /// The number of our own.
    pub fn own(&self) -> u32 {
        self.own
    }

    /// The number of the provider of the record at a place of a source, if it is announced.
    pub fn of_record(&self, fxt: &FxtSource<'_>, place: u64) -> Option<u32> {
        if self.others.is_empty() {
            return None;
        }
        let (id, name) = fxt.provider_at(place);
        self.numbers.get(&(id, name.to_vec())).copied()
    }
}

impl Records<'_> {
    /// The head of a file: magic number, the providers, ours last, one tick of which is a nanosecond. `shift` is what was
    /// added to all times.
    pub fn file_head(&mut self, providers: &Providers, shift: i64) {
        self.magic();
        for (number, name, rate) in &providers.others {
            self.provider_info(*number, name);
            self.ticks_per_second(*rate);
        }
        let own = match shift {
            0 => OWN_NAME.to_owned(),
            ns => format!("{OWN_NAME} (all times + {ns} ns)"),
        };
        self.provider_info(providers.own, own.as_bytes());
        self.ticks_per_second(TICKS_PER_SECOND);
    }

    /// Writes one record by `write` into the section of `provider`, if there is one; with its texts in it, as the
    /// provider has no tables.
    pub fn in_section(
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
