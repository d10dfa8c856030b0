//! The first preview of a file: its span and density, from the first records of each part.
//!
//! The tables of the whole file are not known yet. A time is computed with the tick rate that the head of the file
//! contains for its provider; if providers have different rates, only a record after a provider section can be used.

use crate::base::{ByteOrder, Job, Timestamp};
use crate::event::{Coarse, DensitySample};
use crate::fxt::layout::{RECORD_TYPE, metadata, record_type, scheduling};
use crate::fxt::words::{Words, size_bytes};

use super::borders::Window;
use super::fold::{Fold, State};
use super::summary::Summary;
use super::tables::Tables;
use super::ticks::TickScale;

/// Number of bytes of the file that are read for its tick rates.
const HEAD_BYTES: u64 = 1 << 16;
/// Number of bytes in which the first record with a time is searched.
const SEARCH_BYTES: u64 = 1 << 15;

/// Returns the coarse preview of a file that is cut into these windows.
#[must_use]
pub(crate) fn coarse<O: ByteOrder>(bytes: &[u8], windows: &[Window]) -> Coarse {
    let rates = Rates::of_head::<O>(bytes);
    let file = Words::<O>::new(bytes);
    let timed = windows.iter().filter(|window| window.has_border);
    let samples = timed.filter_map(|window| {
        let time = match window.start {
            0 => rates.first_time,
            start => rates.time_from(file, start),
        };
        let bytes = window.end - window.start;
        Some(DensitySample::new(0, Timestamp(time?), bytes))
    });
    Coarse::of_one_lane(samples.collect())
}

/// The tick rates in the head of a file.
struct Rates {
    tables: Tables,
    head_end: u64,
    /// The common tick rate, if all providers have the same.
    common: Option<TickScale>,
    /// Time of the first record with a time.
    first_time: Option<i64>,
}

impl Rates {
    fn of_head<O: ByteOrder>(bytes: &[u8]) -> Rates {
        let end = HEAD_BYTES.min(bytes.len() as u64);
        let head = Window {
            start: 0,
            end,
            has_border: true,
        };
        let mut state = State::default();
        // The head is too short to check for cancelling. The state summarises it.
        let passed = state.pass::<O>(bytes, head, Summary::default(), &Job::default());
        let head_end = passed.map_or(0, |head| head.end);
        let fold = Fold::<O> {
            file: Words::new(bytes),
            state: &mut state,
        };
        let first = fold.state.first_timed;
        let first_time = first.and_then(|place| fold.time_of(place));
        let tables = state.into_tables();
        let slots = 0..tables.providers().len() as u32;
        let is_used = |slot: &u32| *slot > 0 || tables.providers().len() == 1;
        let mut scales = slots
            .filter(is_used)
            .map(|slot| tables.scale_at(slot, head_end));
        let common = scales.next().filter(|scale| scales.all(|it| it == *scale));
        Rates {
            tables,
            head_end,
            common,
            first_time,
        }
    }

    /// Returns the time in ns of the first record from `at` on whose tick rate is known.
    fn time_from<O: ByteOrder>(&self, file: Words<'_, O>, mut at: u64) -> Option<i64> {
        let end = at.saturating_add(SEARCH_BYTES);
        let mut scale = self.common;
        while at < end {
            let record = file.record_at(at)?;
            let header = record.get(0)?;
            match RECORD_TYPE.get(header) {
                record_type::METADATA
                    if metadata::KIND.get(header) == metadata::PROVIDER_SECTION =>
                {
                    let slot = self.tables.latest(metadata::PROVIDER.get(header) as u32);
                    let found = slot.map(|slot| self.tables.scale_at(slot, self.head_end));
                    scale = found.or(scale);
                }
                record_type::EVENT | record_type::LOG => {
                    if let Some(scale) = scale {
                        return scale.nanos(record.get(1)?);
                    }
                }
                record_type::SCHEDULING if scheduling::KIND.get(header) <= scheduling::WAKEUP => {
                    if let Some(scale) = scale {
                        return scale.nanos(record.get(1)?);
                    }
                }
                _ => {}
            }
            at += size_bytes(header)? as u64;
        }
        None
    }
}
