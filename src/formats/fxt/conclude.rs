//! Ends the fold: times of records without one, ends of gaps, process names.

use rustc_hash::FxHashMap;

use crate::base::{ByteOrder, Cancelled, Job, Severity, Timestamp};
use crate::fxt::layout::{RECORD_TYPE, record_type};
use crate::fxt::words::{Words, size_bytes};

use super::entities::Writer;
use super::fold::{Fold, Hole, State};
use super::loss_facts::StatedLoss;
use super::scan::{GapAt, Scan, ShownAt};
use super::tables::ProviderSlot;

/// Number of records between two checks whether the job was cancelled, in the search for ends of holes.
const RECORDS_A_CHECK: u32 = 1 << 16;

impl State {
    /// Returns the facts from all parts together.
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

    /// Returns, for each hole, the time in ns of its provider's first event after it; `None` if there is none. `holes`
    /// are in file order; the file is read once, from the first hole that no event describes.
    fn next_times(&self, holes: &[Hole], job: &Job) -> Result<Vec<Option<i64>>, Cancelled> {
        let mut times = vec![None; holes.len()];
        let undescribed = holes.iter().enumerate();
        let mut coming = undescribed
            .filter(|(_, hole)| hole.stated.is_none())
            .peekable();
        let mut waiting: FxHashMap<ProviderSlot, Vec<usize>> = FxHashMap::default();
        let mut at = 0;
        let mut current = ProviderSlot::default();
        for step in 1_u32.. {
            if waiting.is_empty() {
                let Some(&(_, next)) = coming.peek() else {
                    break;
                };
                at = at.max(next.place);
                current = self.state.found.tables.provider_at(at);
            }
            while let Some((index, hole)) = coming.next_if(|(_, hole)| hole.place <= at) {
                waiting.entry(hole.slot).or_default().push(index);
            }
            if step % RECORDS_A_CHECK == 0 {
                job.check()?;
            }
            let record = self.file.record_at(at);
            let header = record.and_then(|record| record.get(0));
            let Some((header, size)) = header.and_then(|it| Some((it, size_bytes(it)?))) else {
                break;
            };
            match RECORD_TYPE.get(header) {
                record_type::METADATA => {
                    let found = self.state.found.tables.provider_from(at);
                    current = found.unwrap_or(current);
                }
                record_type::EVENT | record_type::SCHEDULING | record_type::LOG => {
                    for index in waiting.remove(&current).unwrap_or_default() {
                        times[index] = self.time_of(at);
                    }
                }
                _ => {}
            }
            at += size as u64;
        }
        Ok(times)
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
                    "provider {id} '{name}' has no {what} of its own and uses those before the file's first provider"
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

    /// Returns a sentence about a loss. In an export, the exported recording lost the events, not our provider.
    fn who_lost(&self, hole: &Hole, cpu: Option<u32>) -> String {
        if hole.stated.is_some() {
            let of_cpu = cpu.map_or_else(String::new, |cpu| format!(" of CPU {cpu}"));
            return format!("the exported recording lost events{of_cpu} here");
        }
        let providers = self.state.found.tables.providers();
        let provider = providers.get(hole.slot as usize);
        let whose = match provider.filter(|provider| provider.id == hole.provider) {
            Some(_) => format!("'{}'", self.provider_name(hole.slot)),
            None => format!("{}, which was not announced,", hole.provider),
        };
        format!("the buffer of provider {whose} was full: records were dropped here")
    }

    fn finish(&mut self, job: &Job) -> Result<(), Cancelled> {
        job.check()?;
        // Diagnostics of records that need tables were added after those of other records of the same part.
        self.state.found.diagnostics.sort_by_place();
        let slots = 0..self.state.found.tables.providers().len() as ProviderSlot;
        let names = slots.map(|slot| self.provider_name(slot)).collect();
        let writer = match self.state.found.tables.is_own() {
            true => Writer::Ours,
            false => Writer::Another,
        };
        self.state.found.entities.finish(names, writer);
        self.state.found.objects.sort_unstable();
        self.note_inheritance();
        let first = self.state.first_timed;
        let start = first.and_then(|place| self.time_of(place)).unwrap_or(0);
        let timed = |fold: &Self, from: Option<u64>| {
            from.and_then(|place| fold.time_of(place)).unwrap_or(start)
        };
        for row in std::mem::take(&mut self.state.untimed) {
            job.check()?;
            let time = row.stated.unwrap_or_else(|| timed(self, row.from));
            self.state.found.untimed.push(ShownAt {
                place: row.place,
                time: Timestamp(time),
            });
        }
        let holes = std::mem::take(&mut self.state.holes);
        let ends = self.next_times(&holes, job)?;
        for (hole, end) in holes.into_iter().zip(ends) {
            job.check()?;
            let place = hole.place;
            let before = hole.last_timed.and_then(|place| self.time_of(place));
            let gap = hole
                .stated
                .unwrap_or_else(|| StatedLoss::between(before, end));
            let gap = gap.gap();
            self.state.found.gaps.push(GapAt { place, gap });
            let whose = self.who_lost(&hole, gap.cpu);
            self.note("buffer_full", Severity::DataLoss, place, || whose);
        }
        Ok(())
    }
}
