//! The end of the pass over headers: times for records without one, ends of gaps, process names.

use crate::base::Severity;
use crate::event::Gap;

use super::scan::{Scan, Scanner};
use super::tables::ProviderSlot;
use crate::base::ByteOrder;
use crate::fxt::layout::{RECORD_TYPE, record_type};
use crate::fxt::words::size_bytes;

/// How many records are searched for the first event after a gap.
const GAP_SEARCH_RECORDS: usize = 100_000;

impl<O: ByteOrder> Scanner<'_, O> {
    /// Returns the time in ns of a record whose word 1 contains its ticks.
    fn time_of(&self, place: u64) -> Option<i64> {
        let ticks = self.file.record_at(place)?.get(1)?;
        let tables = &self.found.tables;
        tables
            .scale_at(tables.provider_at(place), place)
            .nanos(ticks)
    }

    /// Returns the time in ns of a provider's first event after `place`.
    fn next_time(&self, slot: ProviderSlot, place: u64) -> Option<i64> {
        let mut at = place;
        let mut current = self.found.tables.provider_at(place);
        for _ in 0..GAP_SEARCH_RECORDS {
            let record = self.file.record_at(at)?;
            let header = record.get(0)?;
            match RECORD_TYPE.get(header) {
                record_type::METADATA => {
                    current = self.found.tables.provider_from(at).unwrap_or(current);
                }
                record_type::EVENT | record_type::SCHEDULING | record_type::LOG
                    if current == slot =>
                {
                    return self.time_of(at);
                }
                _ => {}
            }
            at += size_bytes(header)? as u64;
        }
        None
    }

    fn note_inheritance(&mut self) {
        let providers = self.found.tables.providers();
        let Some((implicit, own)) = providers.split_first() else {
            return;
        };
        let mut notes = Vec::new();
        for provider in own {
            for (what, is_inherited) in [
                (
                    "tick rate",
                    provider.rates().is_empty() && !implicit.rates().is_empty(),
                ),
                (
                    "strings",
                    provider.first_string().is_none() && implicit.first_string().is_some(),
                ),
                (
                    "threads",
                    provider.first_thread().is_none() && implicit.first_thread().is_some(),
                ),
            ] {
                if is_inherited {
                    let name = String::from_utf8_lossy(&provider.name).into_owned();
                    notes.push((provider.place, name, provider.id, what));
                }
            }
        }
        for (place, name, id, what) in notes {
            self.note("inherited_tables", Severity::Info, place as usize, || {
                format!(
                    "provider {id} '{name}' has no {what} of its own and uses what the file says before its first provider"
                )
            });
        }
    }

    pub(super) fn finish(mut self) -> Scan {
        let providers = self.found.tables.providers().iter();
        let names = providers.map(|provider| String::from_utf8_lossy(&provider.name).into_owned());
        self.found.entities.finish(names.collect());
        self.found.objects.sort_unstable();
        self.note_inheritance();
        let start = self.first_timed.and_then(|place| self.time_of(place));
        let start = start.unwrap_or(0);
        let timed = |scanner: &Self, from: Option<u64>| {
            from.and_then(|place| scanner.time_of(place))
                .unwrap_or(start)
        };
        for (place, from) in std::mem::take(&mut self.untimed) {
            let time = timed(&self, from);
            self.found.untimed.push((place, time));
        }
        for (place, time) in std::mem::take(&mut self.said_times) {
            let untimed = &mut self.found.untimed;
            let found = untimed.binary_search_by_key(&place, |entry| entry.0);
            if let Some(entry) = found.ok().and_then(|index| untimed.get_mut(index)) {
                entry.1 = time;
            }
        }
        let mut said = std::mem::take(&mut self.said_losses).into_iter().peekable();
        for (index, (place, slot, last)) in std::mem::take(&mut self.holes).into_iter().enumerate()
        {
            let start = timed(&self, last);
            let end = self.next_time(slot, place).unwrap_or(start).max(start);
            let mut gap = Gap {
                start: crate::base::Timestamp(start),
                end: crate::base::Timestamp(end),
                cpu: None,
                lost: None,
            };
            if let Some((_, said)) = said.next_if(|(of, _)| *of == index) {
                gap = said.gap();
            }
            self.found.gaps.push((place, gap));
            let name = self
                .found
                .tables
                .providers()
                .get(slot as usize)
                .map_or_else(String::new, |provider| {
                    String::from_utf8_lossy(&provider.name).into_owned()
                });
            self.note("buffer_full", Severity::DataLoss, place as usize, || {
                format!("the buffer of provider '{name}' was full: records were dropped here")
            });
        }
        self.found
    }
}
