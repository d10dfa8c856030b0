//! What the string indices of an FXT file are in the one that is written, for records that are copied: small tables,
//! as each record asks several times.
//!
//! Places are counted in words here, so that they take half the room.

use super::fixed_tables::FixedTables;
use super::registered::Used;
use crate::formats::fxt::{FxtSource, ProviderSlot, RateSpan};

/// Files beyond cannot be counted in words of 32 bits.
pub const MOST_BYTES: u64 = (u32::MAX as u64) << 3;

/// No index: the text has none that holds in the whole file, or stands in the record.
pub const NO_INDEX: u16 = u16::MAX;

/// How many stretches of the file are remembered with their provider: 1 KB each.
const SECTIONS: usize = 1024;

/// The number of a place's word. Places are within [`MOST_BYTES`].
#[inline]
fn word_at(place: u64) -> u32 {
    (place >> 3).min(u64::from(u32::MAX)) as u32
}

/// Something that holds behind one word, up to and at another.
#[derive(Clone, Copy, Debug)]
struct Held<T> {
    from: u32,
    until: u32,
    value: T,
}

impl<T: Copy> Held<T> {
    #[inline]
    fn at(&self, word: u32) -> Option<T> {
        (self.from < word && word <= self.until).then_some(self.value)
    }
}

/// What one provider's indices are.
#[derive(Debug)]
struct OfProvider {
    strings: Vec<Held<u16>>,
    rate: Option<RateSpan>,
}

impl Default for OfProvider {
    fn default() -> OfProvider {
        let empty_text = Held {
            from: 0,
            until: u32::MAX,
            value: 0,
        };
        OfProvider {
            strings: vec![empty_text],
            rate: None,
        }
    }
}

/// See the module's text.
#[derive(Debug)]
pub struct Indices {
    /// Which provider wrote what stands at the places that were asked for lately.
    sections: Vec<Held<ProviderSlot>>,
    providers: Vec<OfProvider>,
    /// All that records refer to.
    pub used: Used,
}

impl Default for Indices {
    fn default() -> Indices {
        let nowhere = Held {
            from: u32::MAX,
            until: 0,
            value: 0,
        };
        Indices {
            sections: vec![nowhere; SECTIONS],
            providers: Vec::new(),
            used: Used::none(),
        }
    }
}

/// Who wrote a record, and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct At {
    provider: ProviderSlot,
    place: u64,
    word: u32,
}

impl Indices {
    /// Who wrote the record at a place.
    #[inline]
    pub fn at(&mut self, source: &FxtSource<'_>, place: u64) -> At {
        let word = word_at(place);
        let known = self.sections.get((place >> 10) as usize % SECTIONS);
        let provider = match known.and_then(|known| known.at(word)) {
            Some(provider) => provider,
            None => self.ask_provider(source, place),
        };
        At {
            provider,
            place,
            word,
        }
    }

    #[cold]
    fn ask_provider(&mut self, source: &FxtSource<'_>, place: u64) -> ProviderSlot {
        let number = (place >> 10) as usize;
        // Mostly it goes on as before it.
        let before = self.sections.get(number.wrapping_sub(1) % SECTIONS);
        let before = before.filter(|before| before.at(word_at(place)).is_some());
        let held = before.copied().unwrap_or_else(|| {
            let span = source.provider(place);
            Held {
                from: word_at(span.from),
                until: word_at(span.until),
                value: span.provider,
            }
        });
        if let Some(entry) = self.sections.get_mut(number % SECTIONS) {
            *entry = held;
        }
        let count = self.providers.len().max(held.value as usize + 1);
        self.providers.resize_with(count, OfProvider::default);
        held.value
    }

    /// What a reference to the string table is in the file that is written, or [`NO_INDEX`].
    #[inline]
    pub fn string(
        &mut self,
        (source, fixed): (&FxtSource<'_>, &FixedTables),
        at: At,
        reference: u16,
    ) -> u16 {
        let of = self.providers.get(at.provider as usize);
        let known = of.and_then(|of| of.strings.get(usize::from(reference)));
        match known.and_then(|known| known.at(at.word)) {
            Some(index) => index,
            None => self.ask_string((source, fixed), at, reference),
        }
    }

    #[cold]
    fn ask_string(
        &mut self,
        (source, fixed): (&FxtSource<'_>, &FixedTables),
        at: At,
        reference: u16,
    ) -> u16 {
        if reference == 0 || reference & 0x8000 != 0 {
            let is_empty = reference == 0;
            return if is_empty { 0 } else { NO_INDEX };
        }
        let Some(text) = source.text(at.provider, reference, at.place) else {
            return NO_INDEX;
        };
        let value = match fixed.index_of(text.text) {
            // It would be taken for the empty text.
            0 if !text.text.is_empty() => NO_INDEX,
            index => index,
        };
        if value != NO_INDEX {
            self.used.string(value);
        }
        let Some(of) = self.providers.get_mut(at.provider as usize) else {
            return NO_INDEX;
        };
        let reference = usize::from(reference);
        if of.strings.len() <= reference {
            let unknown = Held {
                from: u32::MAX,
                until: 0,
                value: NO_INDEX,
            };
            of.strings.resize(reference + 1, unknown);
        }
        if let Some(entry) = of.strings.get_mut(reference) {
            *entry = Held {
                from: word_at(text.from),
                until: word_at(text.until),
                value,
            };
        }
        value
    }

    /// The time of a tick in ns; `None` if the axis does not reach so far.
    #[inline]
    pub fn nanos(&mut self, source: &FxtSource<'_>, at: At, tick: u64) -> Option<i64> {
        let of = self.providers.get_mut(at.provider as usize)?;
        let known = of
            .rate
            .filter(|rate| rate.from < at.place && at.place <= rate.until);
        let rate = match known {
            Some(rate) => rate,
            None => *of.rate.insert(source.rate(at.provider, at.place)),
        };
        // The very last nanosecond of the axis is none that can be shown.
        Some(rate.scale.nanos(tick)?.min(i64::MAX - 1))
    }
}
