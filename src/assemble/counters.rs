//! Makes counter tracks from samples.

use rustc_hash::FxHashMap;

use super::group::{Groups, gather, join_in_order};
use super::people::ProcessOfKey;
use super::recorded::Recorded;
use super::rows::SampleRows;
use crate::base::{StringId, Strings, Timestamp};
use crate::event::SeriesScope;
use crate::trace::Counters;
use crate::trace::counters::{CounterScope, CounterTrack};

/// A series with the trace's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct CommonSeries {
    name: StringId,
    scope: CounterScope,
}

/// Returns the counter tracks of the samples of all parts, sorted by scope, then name.
pub(super) fn counters(
    rows: &SampleRows,
    recorded: &Recorded,
    processes: &ProcessOfKey,
    strings: &Strings,
) -> Counters {
    // One series may come from many parts.
    let mut series_ids: FxHashMap<CommonSeries, u32> = FxHashMap::default();
    let mut series = Vec::new();
    let mut groups = Vec::new();
    let mut group = Groups::default();
    let of_parts = rows.series.iter().zip(&rows.samples);
    for (part, (own_series, samples)) in recorded.parts.iter().zip(of_parts) {
        let ids: Vec<u32> = own_series
            .iter()
            .map(|row| {
                let key = CommonSeries {
                    name: part.string(row.name),
                    scope: scope_of(row.scope, recorded, processes),
                };
                *series_ids.entry(key).or_insert_with(|| {
                    series.push(key);
                    series.len() as u32 - 1
                })
            })
            .collect();
        for sample in samples {
            if let Some(&id) = ids.get(sample.series as usize) {
                let time = recorded.time(part, sample.event);
                group.push(id, (time, sample.value, part.event(sample.event).0));
            }
        }
        groups.push(group.sorted());
    }
    let mut lists = gather(&groups);
    // Tracks in an order that people expect: by owner, then name.
    lists.sort_by(|a, b| {
        let (a, b) = (series[a.number as usize], series[b.number as usize]);
        a.scope
            .cmp(&b.scope)
            .then_with(|| strings.bytes(a.name).cmp(strings.bytes(b.name)))
    });
    let mut counters = Counters::default();
    let mut rows = Vec::new();
    for of_series in lists {
        let first = counters.times.len() as u32;
        join_in_order(
            &of_series.own,
            |row: &(Timestamp, f64, u32)| row.0,
            &mut rows,
        );
        let mut range = (f64::INFINITY, f64::NEG_INFINITY);
        for &(time, value, event) in &rows {
            counters.times.push(time.0);
            counters.values.push(value);
            counters.events.push(event);
            if value.is_finite() {
                range = (range.0.min(value), range.1.max(value));
            }
        }
        let CommonSeries { name, scope } = series[of_series.number as usize];
        // A series without a finite sample has the range (0, 0).
        let range = if range.0 <= range.1 {
            range
        } else {
            (0.0, 0.0)
        };
        counters.tracks.push(CounterTrack {
            name,
            scope,
            samples: first..counters.times.len() as u32,
            range,
        });
    }
    counters
}

fn scope_of(scope: SeriesScope, recorded: &Recorded, processes: &ProcessOfKey) -> CounterScope {
    match scope {
        SeriesScope::Global => CounterScope::Global,
        SeriesScope::Cpu(number) => recorded
            .cpu_id(number)
            .map_or(CounterScope::Global, CounterScope::Cpu),
        SeriesScope::Process(key) => processes
            .get(&key)
            .map_or(CounterScope::Global, |&id| CounterScope::Process(id)),
        SeriesScope::Thread(key) => {
            let thread = recorded.events.threads.at(key, Timestamp(0));
            thread.map_or(CounterScope::Global, CounterScope::Thread)
        }
    }
}
