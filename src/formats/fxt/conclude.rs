//! The end of the fold: times for records without one, ends of gaps, process names.

use crate::base::{ByteOrder, Cancelled, Job, Severity, Timestamp};
use crate::event::Gap;
use crate::fxt::layout::{RECORD_TYPE, record_type};
use crate::fxt::words::{Words, size_bytes};

use super::fold::{Fold, State};
use super::scan::{GapAt, Scan, ShownAt};
use super::tables::ProviderSlot;

/// How many records are searched for the first event after a gap.
const GAP_SEARCH_RECORDS: usize = 100_000;

impl State {
    /// Returns what all parts together say.
    ///
    /// # Errors
    /// Errors only if the job was cancelled.
    pub(crate) fn conclude<O: ByteOrder>(
        mut self,
        bytes: &[u8],
        job: &Job,
    ) -> Result<Scan, Cancelled> {
        let mut fold = Fold::<O> {
            file: Words::new(bytes),
            state: &mut self,
        };
        fold.finish(job)?;
        Ok(self.found)
    }
}

impl<O: ByteOrder> Fold<'_, '_, O> {
    /// Returns the time in ns of a record whose word 1 contains its ticks.
    pub(super) fn time_of(&self, place: u64) -> Option<i64> {
        let ticks = self.file.record_at(place)?.get(1)?;
        let tables = &self.state.found.tables;
        tables
            .scale_at(tables.provider_at(place), place)
            .nanos(ticks)
    }

    /// Returns the time in ns of a provider's first event after `place`.
    fn next_time(&self, slot: ProviderSlot, place: u64) -> Option<i64> {
        let mut at = place;
        let mut current = self.state.found.tables.provider_at(place);
        for _ in 0..GAP_SEARCH_RECORDS {
            let record = self.file.record_at(at)?;
            let header = record.get(0)?;
            match RECORD_TYPE.get(header) {
                record_type::METADATA => {
                    let found = self.state.found.tables.provider_from(at);
                    current = found.unwrap_or(current);
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
        let providers = self.state.found.tables.providers();
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
            self.note("inherited_tables", Severity::Info, place, || {
                format!(
                    "provider {id} '{name}' has no {what} of its own and uses what the file says before its first provider"
                )
            });
        }
    }

    fn provider_name(&self, slot: ProviderSlot) -> String {
        let providers = self.state.found.tables.providers();
        let provider = providers.get(slot as usize);
        provider.map_or_else(String::new, |provider| {
            String::from_utf8_lossy(&provider.name).into_owned()
        })
    }

    fn finish(&mut self, job: &Job) -> Result<(), Cancelled> {
        job.check()?;
        // Notes of records that need tables come after those of the same part that need none.
        self.state.found.diagnostics.sort_by_place();
        let slots = 0..self.state.found.tables.providers().len() as ProviderSlot;
        let names = slots.map(|slot| self.provider_name(slot)).collect();
        self.state.found.entities.finish(names);
        self.state.found.objects.sort_unstable();
        self.note_inheritance();
        let first = self.state.first_timed;
        let start = first.and_then(|place| self.time_of(place)).unwrap_or(0);
        let timed = |fold: &Self, from: Option<u64>| {
            from.and_then(|place| fold.time_of(place)).unwrap_or(start)
        };
        for row in std::mem::take(&mut self.state.untimed) {
            job.check()?;
            let time = row.said.unwrap_or_else(|| timed(self, row.from));
            self.state.found.untimed.push(ShownAt {
                place: row.place,
                time: Timestamp(time),
            });
        }
        for hole in std::mem::take(&mut self.state.holes) {
            job.check()?;
            let start = timed(self, hole.last_timed);
            let place = hole.place;
            let gap = match hole.said {
                Some(said) => said.gap(),
                None => Gap {
                    start: Timestamp(start),
                    end: Timestamp(self.next_time(hole.slot, place).unwrap_or(start).max(start)),
                    cpu: None,
                    lost: None,
                },
            };
            self.state.found.gaps.push(GapAt { place, gap });
            let name = self.provider_name(hole.slot);
            self.note("buffer_full", Severity::DataLoss, place, || {
                format!("the buffer of provider '{name}' was full: records were dropped here")
            });
        }
        Ok(())
    }
}
