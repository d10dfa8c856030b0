//! What indices and clocks mean, by provider and place in the file.
//!
//! Real writers overwrite table entries all the time, so each index keeps the places of all records that
//! registered it (a text stays in the file, only its place is kept), and a look-up asks for the last one
//! before a place. A provider that is announced again starts over, as a new entry of `providers`.
//!
//! What a file registers before it names its first provider belongs to the implicit provider 0. A provider
//! that has registered no rate, no string or no thread of its own so far uses those: writers rely on it.

use rustc_hash::FxHashMap;

use crate::event::{ThreadKey, Ties};

use super::ticks::TickScale;

/// Index of a provider's entry in `Tables::providers`; 0 is the implicit one.
pub type ProviderSlot = u32;

/// What one provider registered, from one announcement to the next.
#[derive(Clone, Debug, Default)]
pub struct Provider {
    /// The file's number for it.
    pub id: u32,
    /// Its name as bytes; empty for the implicit one and for unannounced ones.
    pub name: Vec<u8>,
    /// Where it was announced.
    pub place: u64,
    strings: Vec<Vec<u64>>,
    threads: Vec<Vec<(u64, ThreadKey)>>,
    rates: Vec<(u64, TickScale)>,
    first_string: Option<u64>,
    first_thread: Option<u64>,
}

impl Provider {
    /// Where its first string record is, if there is one.
    #[must_use]
    pub fn first_string(&self) -> Option<u64> {
        self.first_string
    }

    /// Where its first thread record is, if there is one.
    #[must_use]
    pub fn first_thread(&self) -> Option<u64> {
        self.first_thread
    }

    /// Whether it is our own exporter, by its name.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.name.starts_with(OWN_PROVIDER)
    }

    /// Its tick rates with the places from which they hold.
    #[must_use]
    pub fn rates(&self) -> &[(u64, TickScale)] {
        &self.rates
    }

    fn memory_bytes(&self) -> u64 {
        let strings: usize = self.strings.iter().map(|list| list.capacity() * 8).sum();
        let threads: usize = self.threads.iter().map(|list| list.capacity() * 16).sum();
        (strings + threads + (self.strings.capacity() + self.threads.capacity()) * 24) as u64
    }
}

/// Whose the records are that stand behind `from`, up to and at `until`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProviderSpan {
    /// The provider.
    pub provider: ProviderSlot,
    /// Behind this place,
    pub from: u64,
    /// up to and at this one.
    pub until: u64,
}

/// A tick rate, and where it holds: behind `from`, up to and at `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSpan {
    /// The rate.
    pub scale: TickScale,
    /// Behind this place,
    pub from: u64,
    /// up to and at this one.
    pub until: u64,
}

/// How the provider's name begins in files that our exporter wrote.
const OWN_PROVIDER: &[u8] = b"threadline";

/// The tables of a whole file.
#[derive(Clone, Debug)]
pub struct Tables {
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

/// The last entry of a list that stands before `place`.
fn last_before<T: Copy>(list: &[T], place: u64, place_of: impl Fn(&T) -> u64) -> Option<T> {
    let after = list.partition_point(|entry| place_of(entry) < place);
    list.get(after.checked_sub(1)?).copied()
}

/// Whether something of a provider's own was registered before `place`.
fn has_before(first: Option<u64>, place: u64) -> bool {
    first.is_some_and(|first| first < place)
}

impl Tables {
    /// Up to which place what the implicit provider registered holds for another one at `place`: what it says once others
    /// were announced is its own.
    fn inherited_until(&self, slot: ProviderSlot, place: u64) -> u64 {
        let announced = self.providers.get(1).filter(|_| slot != 0);
        announced.map_or(place, |first| first.place.min(place))
    }

    /// All providers; the first is the implicit one.
    #[must_use]
    pub fn providers(&self) -> &[Provider] {
        &self.providers
    }

    /// How whole slices that start together nest: our own exporter writes the outer one first. The other providers of a
    /// file that it wrote register nothing.
    #[must_use]
    pub fn ties(&self) -> Ties {
        let is_ours = |provider: &&Provider| provider.is_ours();
        let (ours, others): (Vec<&Provider>, Vec<&Provider>) =
            self.providers.iter().skip(1).partition(is_ours);
        let registers = |provider: &&Provider| {
            provider.first_string.is_some() || provider.first_thread.is_some()
        };
        match !ours.is_empty() && !others.iter().any(registers) {
            true => Ties::First,
            false => Ties::Longest,
        }
    }

    /// A provider is announced at `place` and current from there on. It keeps the tick rate of an earlier
    /// announcement and nothing else. Answers its slot.
    pub fn announce(&mut self, place: u64, id: u32, name: &[u8]) -> ProviderSlot {
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

    /// The provider with this id is current from `place` on; `None` if it was never announced. Nobody announces the
    /// implicit one.
    pub fn switch(&mut self, place: u64, id: u32) -> Option<ProviderSlot> {
        let slot = match self.latest.get(&id) {
            Some(&slot) => slot,
            None if id == 0 => 0,
            None => return None,
        };
        self.switches.push((place, slot));
        Some(slot)
    }

    /// The latest entry of the provider with this id.
    #[must_use]
    pub fn latest(&self, id: u32) -> Option<ProviderSlot> {
        self.latest.get(&id).copied()
    }

    /// The string record at `place` sets entry `index`.
    pub fn add_string(&mut self, slot: ProviderSlot, index: u16, place: u64) {
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

    /// The thread record at `place` sets entry `index`.
    pub fn add_thread(&mut self, slot: ProviderSlot, index: u8, place: u64, thread: ThreadKey) {
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

    /// The tick rate of a provider from `place` on.
    pub fn add_rate(&mut self, slot: ProviderSlot, place: u64, scale: TickScale) {
        if let Some(provider) = self.providers.get_mut(slot as usize) {
            provider.rates.push((place, scale));
        }
    }

    /// The provider of the record at `place`.
    #[must_use]
    pub fn provider_at(&self, place: u64) -> ProviderSlot {
        last_before(&self.switches, place, |entry| entry.0).map_or(0, |(_, slot)| slot)
    }

    /// The same, and between which places it holds.
    #[must_use]
    pub fn provider_span(&self, place: u64) -> ProviderSpan {
        let after = self.switches.partition_point(|entry| entry.0 < place);
        let before = after.checked_sub(1).and_then(|at| self.switches.get(at));
        ProviderSpan {
            provider: before.map_or(0, |entry| entry.1),
            from: before.map_or(0, |entry| entry.0),
            until: self.switches.get(after).map_or(u64::MAX, |entry| entry.0),
        }
    }

    /// The provider that becomes current by the metadata record at `place`, if it makes one so.
    #[must_use]
    pub fn provider_from(&self, place: u64) -> Option<ProviderSlot> {
        let found = self.switches.binary_search_by_key(&place, |entry| entry.0);
        self.switches.get(found.ok()?).map(|entry| entry.1)
    }

    /// Where the string record is that holds for `index` at `place`.
    #[must_use]
    pub fn string_at(&self, slot: ProviderSlot, index: u16, place: u64) -> Option<u64> {
        let (_, last, list) = self.strings_for(slot, index, place)?;
        last_before(list, last, |&registered| registered)
    }

    /// The same, and the last place at which it holds.
    #[must_use]
    pub fn string_until(&self, slot: ProviderSlot, index: u16, place: u64) -> Option<(u64, u64)> {
        let (until, last, list) = self.strings_for(slot, index, place)?;
        let after = list.partition_point(|&registered| registered < last);
        let found = *list.get(after.checked_sub(1)?)?;
        Some((
            found,
            list.get(after).map_or(until, |&next| next.min(until)),
        ))
    }

    /// The last place at which the records that set `index` are the ones that count, the place before which they must
    /// stand, and their places.
    fn strings_for(
        &self,
        slot: ProviderSlot,
        index: u16,
        place: u64,
    ) -> Option<(u64, u64, &[u64])> {
        let own = self.providers.get(slot as usize)?;
        let (until, last, provider) = if has_before(own.first_string, place) {
            (u64::MAX, place, own)
        } else {
            (
                own.first_string.unwrap_or(u64::MAX),
                self.inherited_until(slot, place),
                self.providers.first()?,
            )
        };
        Some((until, last, provider.strings.get(usize::from(index))?))
    }

    /// The thread that `index` means at `place`.
    #[must_use]
    pub fn thread_at(&self, slot: ProviderSlot, index: u8, place: u64) -> Option<ThreadKey> {
        let own = self.providers.get(slot as usize)?;
        let (provider, last) = if has_before(own.first_thread, place) {
            (own, place)
        } else {
            (self.providers.first()?, self.inherited_until(slot, place))
        };
        let list = provider.threads.get(usize::from(index))?;
        last_before(list, last, |entry| entry.0).map(|(_, thread)| thread)
    }

    /// The tick rate of a provider at `place`.
    #[must_use]
    pub fn scale_at(&self, slot: ProviderSlot, place: u64) -> TickScale {
        let own = self.providers.get(slot as usize);
        let implicit = self.providers.first();
        [(own, place), (implicit, self.inherited_until(slot, place))]
            .into_iter()
            .find_map(|(provider, last)| last_before(&provider?.rates, last, |entry| entry.0))
            .map_or(TickScale::NANOSECONDS, |(_, scale)| scale)
    }

    /// The same, and between which places it holds at least.
    #[must_use]
    pub fn rate_span(&self, slot: ProviderSlot, place: u64) -> RateSpan {
        let rates_of = |slot: usize| self.providers.get(slot).map_or(&[][..], Provider::rates);
        let around = |rates: &[(u64, TickScale)], last: u64| {
            let after = rates.partition_point(|rate| rate.0 < last);
            let before = after.checked_sub(1).and_then(|at| rates.get(at));
            let next = rates.get(after).map_or(u64::MAX, |next| next.0);
            (before.map_or(0, |before| before.0), next)
        };
        let own = around(rates_of(slot as usize), place);
        let implicit = around(rates_of(0), self.inherited_until(slot, place));
        RateSpan {
            scale: self.scale_at(slot, place),
            from: own.0.max(implicit.0),
            until: own.1.min(implicit.1).max(place),
        }
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
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
        assert_eq!(tables.string_until(slot, 1, 48), Some((16, 48)));
        assert_eq!(tables.string_until(slot, 1, 49), Some((48, u64::MAX)));
        let again = tables.announce(64, 7, b"seven");
        assert_eq!(tables.string_at(again, 1, 72), None);
        assert_eq!(
            (tables.provider_at(64), tables.provider_at(65)),
            (slot, again)
        );
        assert_eq!(tables.provider_from(64), Some(again));
        let span = tables.provider_span(64);
        assert_eq!((span.provider, span.from, span.until), (slot, 8, 64));
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
        assert_eq!(tables.string_until(slot, 3, 50), Some((24, 56)));
        assert_eq!(tables.string_at(slot, 3, 56), Some(24));
        assert_eq!(tables.scale_at(slot, 72), TickScale::new(5));
        let again = tables.announce(80, 1, b"");
        assert_eq!(tables.scale_at(again, 88), TickScale::new(5));
        let spans = [1, 8, 9, 40, 48, 64, 65, 72].map(|place| {
            let span = tables.rate_span(slot, place);
            assert!(span.from <= place && place <= span.until);
            for at in span.from + 1..=span.until.min(100) {
                assert_eq!(tables.scale_at(slot, at), span.scale, "{place}: {at}");
            }
            (span.from, span.until)
        });
        assert_eq!(spans[6], (64, u64::MAX));
        assert!(spans[4].1 - spans[4].0 > 16);
    }
}
