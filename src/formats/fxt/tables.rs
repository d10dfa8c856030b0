//! Meaning of indices and tick rates, by provider and place in the file.
//!
//! Real writers overwrite table entries all the time. So each index keeps the places of all records that registered it
//! (only the place of a text is stored), and a look-up returns the last one before a place. A provider that is
//! announced again starts with empty tables, as a new element of `providers`.
//!
//! Records before the first announced provider belong to the implicit provider 0. Until a provider has registered a
//! rate, string or thread of its own, it uses those of provider 0: some writers rely on this.
//!
//! Of the 50 FXT files of the corpus and the samples, 3 have providers that use those of provider 0, and 2 have
//! records of unknown providers.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::event::{ThreadKey, Ties};
use crate::fxt::agreed::{OWN_BORDERS, OWN_PROVIDER};

use super::ticks::TickScale;

/// Index of a provider's entry in `Tables::providers`; 0 is the implicit provider.
pub(crate) type ProviderSlot = u32;

/// Tables of one provider, from one announcement to the next.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Provider {
    /// The provider's id in the file.
    pub id: u32,
    /// Name as bytes; empty for the implicit provider and for unannounced providers.
    pub name: Vec<u8>,
    /// Place of the announcement.
    pub place: u64,
    strings: Vec<Vec<u64>>,
    threads: Vec<Vec<(u64, ThreadKey)>>,
    rates: Vec<(u64, TickScale)>,
    first_string: Option<u64>,
    first_thread: Option<u64>,
}

impl Provider {
    /// Returns the place of the first string record, if there is one.
    #[must_use]
    pub(crate) fn first_string(&self) -> Option<u64> {
        self.first_string
    }

    /// Returns the place of the first thread record, if there is one.
    #[must_use]
    pub(crate) fn first_thread(&self) -> Option<u64> {
        self.first_thread
    }

    /// Returns whether the provider is our own exporter, by its name.
    #[must_use]
    pub(crate) fn is_ours(&self) -> bool {
        self.name.starts_with(OWN_PROVIDER.as_bytes())
    }

    /// Returns the tick rates, each with the place from which it is valid.
    #[must_use]
    pub(crate) fn rates(&self) -> &[(u64, TickScale)] {
        &self.rates
    }

    fn memory_bytes(&self) -> u64 {
        let strings: usize = self.strings.iter().map(|list| list.capacity() * 8).sum();
        let threads: usize = self.threads.iter().map(|list| list.capacity() * 16).sum();
        (strings + threads + (self.strings.capacity() + self.threads.capacity()) * 24) as u64
    }
}

/// The tables of a whole file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Tables {
    providers: Vec<Provider>,
    latest: FxHashMap<u32, ProviderSlot>,
    switches: Vec<(u64, ProviderSlot)>,
}

impl Default for Tables {
    fn default() -> Tables {
        Tables {
            providers: vec![Provider::default()],
            latest: FxHashMap::default(),
            switches: Vec::new(),
        }
    }
}

/// Returns the last entry of a list whose place is before `place`.
fn last_before<T: Copy>(list: &[T], place: u64, place_of: impl Fn(&T) -> u64) -> Option<T> {
    let after = list.partition_point(|entry| place_of(entry) < place);
    list.get(after.checked_sub(1)?).copied()
}

/// A value with the places at which it is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValidAt<T> {
    pub value: T,
    /// The value is valid after this place,
    pub after: u64,
    /// and up to this one, inclusive.
    pub until: u64,
}

impl<T> ValidAt<T> {
    /// Returns whether the value is valid at a place.
    #[inline]
    pub(crate) fn is_valid(&self, place: u64) -> bool {
        self.after < place && place <= self.until
    }
}

/// Returns the result of [`last_before`], and the places for which the result is the same.
fn valid_at<T: Copy>(list: &[T], place: u64, place_of: impl Fn(&T) -> u64) -> Option<ValidAt<T>> {
    let next = list.partition_point(|entry| place_of(entry) < place);
    let value = *list.get(next.checked_sub(1)?)?;
    Some(ValidAt {
        value,
        after: place_of(&value),
        until: list.get(next).map_or(u64::MAX, place_of),
    })
}

/// Returns whether the provider's first own registration is before `place`.
fn has_before(first: Option<u64>, place: u64) -> bool {
    first.is_some_and(|first| first < place)
}

impl Tables {
    /// Returns the place up to which registrations of the implicit provider are inherited by another provider at
    /// `place`. Registrations of the implicit provider after the first announcement are not inherited.
    fn inherited_until(&self, slot: ProviderSlot, place: u64) -> u64 {
        let announced = self.providers.get(1).filter(|_| slot != 0);
        announced.map_or(place, |first| first.place.min(place))
    }

    /// Returns all providers; the first is the implicit provider.
    #[must_use]
    pub(crate) fn providers(&self) -> &[Provider] {
        &self.providers
    }

    /// Returns how complete slices with the same start nest: our own exporter writes the outer slice first. In files of
    /// our own exporter, other providers register nothing unless the exporter copied their records.
    #[must_use]
    pub(crate) fn ties(&self) -> Ties {
        let is_ours = |provider: &&Provider| provider.is_ours();
        let (ours, others): (Vec<&Provider>, Vec<&Provider>) =
            self.providers.iter().skip(1).partition(is_ours);
        let registers = |provider: &&Provider| {
            provider.first_string.is_some() || provider.first_thread.is_some()
        };
        let keeps_others = || {
            let borders = OWN_BORDERS.as_bytes();
            ours.iter().any(|own| own.name.starts_with(borders))
        };
        match !ours.is_empty() && (!others.iter().any(registers) || keeps_others()) {
            true => Ties::First,
            false => Ties::Longest,
        }
    }

    /// Returns whether our own exporter wrote the records from the rows of a trace, so that categories imply the kinds
    /// of slices. This is not so in a copy of another program's records.
    #[must_use]
    pub(crate) fn is_own(&self) -> bool {
        let mut all = self.providers.iter().skip(1);
        let encodes = |provider: &Provider| {
            provider.is_ours() && !provider.name.starts_with(OWN_BORDERS.as_bytes())
        };
        let registers = |provider: &Provider| {
            provider.first_string.is_some() || provider.first_thread.is_some()
        };
        let others = || self.providers.iter().skip(1).filter(|it| !it.is_ours());
        all.any(encodes) && !others().any(registers)
    }

    /// Announces a provider, which is current from `place`. The provider keeps only the tick rate of an earlier
    /// announcement. Returns its slot.
    pub(crate) fn announce(&mut self, place: u64, id: u32, name: &[u8]) -> ProviderSlot {
        let earlier = self.latest.get(&id).copied();
        let rates = earlier
            .and_then(|slot| self.providers.get(slot as usize)?.rates.last().copied())
            .map(|(_, scale)| (place, scale));
        let slot = self.providers.len() as ProviderSlot;
        self.providers.push(Provider {
            id,
            name: name.to_vec(),
            place,
            rates: rates.into_iter().collect(),
            ..Provider::default()
        });
        self.latest.insert(id, slot);
        self.switches.push((place, slot));
        slot
    }

    /// Makes the provider with this id current from `place`; `None` if it was never announced. The implicit provider
    /// needs no announcement.
    pub(crate) fn switch(&mut self, place: u64, id: u32) -> Option<ProviderSlot> {
        let slot = match self.latest.get(&id) {
            Some(&slot) => slot,
            None if id == 0 => 0,
            None => return None,
        };
        self.switches.push((place, slot));
        Some(slot)
    }

    /// Returns the latest slot of the provider with this id.
    #[must_use]
    pub(crate) fn latest(&self, id: u32) -> Option<ProviderSlot> {
        self.latest.get(&id).copied()
    }

    /// Registers the string record at `place` for `index`.
    pub(crate) fn add_string(&mut self, slot: ProviderSlot, index: u16, place: u64) {
        let Some(provider) = self.providers.get_mut(slot as usize) else {
            return;
        };
        let index = usize::from(index);
        if provider.strings.len() <= index {
            provider.strings.resize_with(index + 1, Vec::new);
        }
        if let Some(list) = provider.strings.get_mut(index) {
            list.push(place);
        }
        provider.first_string.get_or_insert(place);
    }

    /// Registers the thread record at `place` for `index`.
    pub(crate) fn add_thread(
        &mut self,
        slot: ProviderSlot,
        index: u8,
        place: u64,
        thread: ThreadKey,
    ) {
        let Some(provider) = self.providers.get_mut(slot as usize) else {
            return;
        };
        let index = usize::from(index);
        if provider.threads.len() <= index {
            provider.threads.resize_with(index + 1, Vec::new);
        }
        if let Some(list) = provider.threads.get_mut(index) {
            list.push((place, thread));
        }
        provider.first_thread.get_or_insert(place);
    }

    /// Sets the tick rate of a provider from `place`.
    pub(crate) fn add_rate(&mut self, slot: ProviderSlot, place: u64, scale: TickScale) {
        if let Some(provider) = self.providers.get_mut(slot as usize) {
            provider.rates.push((place, scale));
        }
    }

    /// Returns the provider of the record at `place`.
    #[must_use]
    pub(crate) fn provider_at(&self, place: u64) -> ProviderSlot {
        last_before(&self.switches, place, |entry| entry.0).map_or(0, |(_, slot)| slot)
    }

    /// Returns the provider that the metadata record at `place` makes current, if any.
    #[must_use]
    pub(crate) fn provider_from(&self, place: u64) -> Option<ProviderSlot> {
        let found = self.switches.binary_search_by_key(&place, |entry| entry.0);
        self.switches.get(found.ok()?).map(|entry| entry.1)
    }

    /// Returns the place of the string record that is valid for `index` at `place`.
    #[must_use]
    pub(crate) fn string_at(&self, slot: ProviderSlot, index: u16, place: u64) -> Option<u64> {
        let own = self.providers.get(slot as usize)?;
        let (provider, last) = match has_before(own.first_string, place) {
            true => (own, place),
            false => (self.providers.first()?, self.inherited_until(slot, place)),
        };
        let list = provider.strings.get(usize::from(index))?;
        last_before(list, last, |&registered| registered)
    }

    /// Returns the place of the string record that `string_at` returns, and the places for which it is valid; `None` if
    /// there is none, or if it belongs to another provider.
    pub(crate) fn own_string_at(
        &self,
        slot: ProviderSlot,
        index: u16,
        place: u64,
    ) -> Option<ValidAt<u64>> {
        let own = self.providers.get(slot as usize)?;
        let list = own.strings.get(usize::from(index))?;
        let found = valid_at(list, place, |&registered| registered)?;
        has_before(own.first_string, place).then_some(found)
    }

    /// Returns the provider of the record at `place`, and the places for which it is the same.
    pub(crate) fn provider_valid_at(&self, place: u64) -> Option<ValidAt<ProviderSlot>> {
        let found = valid_at(&self.switches, place, |entry| entry.0)?;
        Some(ValidAt {
            value: found.value.1,
            after: found.after,
            until: found.until,
        })
    }

    /// Returns the thread registered for `index` at `place`.
    #[must_use]
    pub(crate) fn thread_at(&self, slot: ProviderSlot, index: u8, place: u64) -> Option<ThreadKey> {
        let own = self.providers.get(slot as usize)?;
        let (provider, last) = if has_before(own.first_thread, place) {
            (own, place)
        } else {
            (self.providers.first()?, self.inherited_until(slot, place))
        };
        let list = provider.threads.get(usize::from(index))?;
        last_before(list, last, |entry| entry.0).map(|(_, thread)| thread)
    }

    /// Returns the tick rate of a provider at `place`.
    #[must_use]
    pub(crate) fn scale_at(&self, slot: ProviderSlot, place: u64) -> TickScale {
        let own = self.providers.get(slot as usize);
        let implicit = self.providers.first();
        [(own, place), (implicit, self.inherited_until(slot, place))]
            .into_iter()
            .find_map(|(provider, last)| last_before(&provider?.rates, last, |entry| entry.0))
            .map_or(TickScale::NANOSECONDS, |(_, scale)| scale)
    }

    /// Returns the heap memory of the tables, in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let providers: u64 = self.providers.iter().map(Provider::memory_bytes).sum();
        providers + self.switches.capacity() as u64 * 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_means_what_was_registered_last_before_a_place() {
        let mut tables = Tables::default();
        let slot = tables.announce(8, 7, b"seven");
        tables.add_string(slot, 1, 16);
        tables.add_string(slot, 1, 48);
        assert_eq!(tables.string_at(slot, 1, 16), None);
        assert_eq!(tables.string_at(slot, 1, 48), Some(16));
        assert_eq!(tables.string_at(slot, 1, 56), Some(48));
        assert_eq!(tables.string_at(slot, 2, 56), None);
        let first = tables.own_string_at(slot, 1, 20).unwrap();
        assert_eq!(first.value, 16);
        assert!(first.is_valid(48) && !first.is_valid(49) && !first.is_valid(16));
        let again = tables.announce(64, 7, b"seven");
        assert_eq!(tables.string_at(again, 1, 72), None);
        assert_eq!(
            (tables.provider_at(64), tables.provider_at(65)),
            (slot, again)
        );
        assert_eq!(tables.provider_from(64), Some(again));
        assert_eq!(tables.switch(80, 9), None);
    }

    #[test]
    fn what_came_before_the_first_provider_holds_until_a_provider_has_its_own() {
        let mut tables = Tables::default();
        tables.add_rate(0, 8, TickScale::new(1000));
        tables.add_string(0, 3, 24);
        tables.add_thread(0, 5, 32, ThreadKey(9));
        let slot = tables.announce(40, 1, b"");
        assert_eq!(tables.scale_at(slot, 48), TickScale::new(1000));
        assert_eq!(tables.string_at(slot, 3, 48), Some(24));
        assert_eq!(tables.thread_at(slot, 5, 48), Some(ThreadKey(9)));
        tables.add_string(slot, 4, 56);
        tables.add_rate(slot, 64, TickScale::new(5));
        assert_eq!(tables.string_at(slot, 3, 72), None);
        assert_eq!(tables.string_at(slot, 3, 56), Some(24));
        assert_eq!(tables.scale_at(slot, 72), TickScale::new(5));
        let again = tables.announce(80, 1, b"");
        assert_eq!(tables.scale_at(again, 88), TickScale::new(5));
    }
}
