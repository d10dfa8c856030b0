//! What lies at one point in time: instants, counter samples, log messages.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::group::{Groups, Pieces, gather, in_order};
use super::identities::ProcessOfKey;
use super::merge::{Merged, MergedPart};
use super::track_number;
use crate::base::Timestamp;
use crate::event::{Role, SeriesScope, ThreadKey};
use crate::trace::counters::{CounterScope, CounterTrack};
use crate::trace::{Counters, EventId, Log, Logs, ThreadId, Trace, TrackKind};

/// The instants of each track number, sorted by number, each list by time.
///
/// An event is an instant if its kind says so, or if pairing left it over. `elsewhere` are events that lie
/// on asynchronous tracks already.
pub fn build_instants(
    merged: &mut Merged,
    trace: &Trace,
    leftovers: Vec<(u32, u32)>,
    elsewhere: Vec<u32>,
) -> Vec<(u32, Vec<u32>)> {
    let cpu_count = trace.cpus.len();
    let roles: Vec<Role> = merged.kinds.iter().map(|kind| kind.role).collect();
    let mut elsewhere = elsewhere;
    elsewhere.sort_unstable();
    let mut groups: Vec<Groups<u32>> = if roles.iter().all(|role| *role == Role::Consumed) {
        Vec::new()
    } else {
        merged
            .parts
            .par_iter()
            .map(|part| points_of(part, merged, &roles, &elsewhere, cpu_count))
            .collect()
    };
    let mut extra: Groups<u32> = Groups::default();
    for (track, event) in leftovers {
        extra.push(track, event);
    }
    groups.push(extra);
    gather(groups)
        .into_par_iter()
        .map(|(track, pieces)| (track, by_time(pieces, merged)))
        .collect()
}

/// Joins lists of events; most are in order and follow each other.
fn by_time(pieces: Pieces<u32>, merged: &Merged) -> Vec<u32> {
    let time = |event: u32| merged.events.time(EventId(event));
    let follows = pieces
        .windows(2)
        .all(|pair| match (pair[0].last(), pair[1].first()) {
            (Some(&end), Some(&start)) => time(end) <= time(start),
            _ => true,
        });
    let has_leftovers = pieces.iter().any(|piece| !piece.is_sorted());
    if follows && !has_leftovers {
        return pieces.concat();
    }
    let cursor = merged.events.cursor();
    let timed: Pieces<(Timestamp, u32)> = pieces
        .into_iter()
        .map(|piece| {
            piece
                .into_iter()
                .map(|event| (cursor.time(EventId(event)), event))
                .collect()
        })
        .collect();
    in_order(timed, |row| *row)
        .into_iter()
        .map(|(_, event)| event)
        .collect()
}

fn points_of(
    part: &MergedPart,
    merged: &Merged,
    roles: &[Role],
    elsewhere: &[u32],
    cpu_count: usize,
) -> Groups<u32> {
    let columns = &merged.events.segments()[part.segment as usize].columns;
    let threads = &merged.events.threads;
    let mut groups = Groups::default();
    let mut last = (ThreadKey::UNKNOWN, u32::MAX);
    for (index, (&kind, &thread)) in columns.kinds().iter().zip(columns.threads()).enumerate() {
        let role = roles.get(usize::from(kind)).copied().unwrap_or_default();
        if role == Role::Consumed {
            continue;
        }
        let local = index as u32;
        let event = part.event(local).0;
        if !elsewhere.is_empty() && elsewhere.binary_search(&event).is_ok() {
            continue;
        }
        let key = ThreadKey(thread);
        let on_cpu = role == Role::CpuInstant || key == ThreadKey::IDLE;
        let track = match part.cpu {
            Some(cpu) if on_cpu => track_number(TrackKind::Cpu(cpu), cpu_count),
            _ if last.0 == key => last.1,
            _ => {
                let id = threads.at(key, columns.time(local));
                let track = track_number(TrackKind::Thread(id), cpu_count);
                if threads.is_unique(key) {
                    last = (key, track);
                }
                track
            }
        };
        groups.push(track, event);
    }
    groups
}

/// Samples of all parts as counter tracks.
pub fn build_counters(merged: &mut Merged, processes: &ProcessOfKey, trace: &Trace) -> Counters {
    // One series may come from many parts.
    let mut series_ids: FxHashMap<(crate::base::StringId, CounterScope), u32> =
        FxHashMap::default();
    let mut series = Vec::new();
    let mut groups = Vec::new();
    for part in &merged.parts {
        let ids: Vec<u32> = part
            .rows
            .series
            .iter()
            .map(|row| {
                let key = (
                    part.string(row.name),
                    scope_of(row.scope, merged, processes, trace),
                );
                *series_ids.entry(key).or_insert_with(|| {
                    series.push(key);
                    series.len() as u32 - 1
                })
            })
            .collect();
        let mut group = Groups::default();
        for sample in &part.rows.samples {
            if let Some(&id) = ids.get(sample.series as usize) {
                let time = merged.time(part, sample.event);
                group.push(id, (time, sample.value, part.event(sample.event).0));
            }
        }
        groups.push(group);
    }
    let mut lists = gather(groups);
    // Tracks in an order that people expect: by owner, then name.
    lists.sort_by(|(a, _), (b, _)| {
        let (a, b) = (series[*a as usize], series[*b as usize]);
        a.1.cmp(&b.1)
            .then_with(|| merged.strings.bytes(a.0).cmp(merged.strings.bytes(b.0)))
    });
    let mut counters = Counters::default();
    for (id, pieces) in lists {
        let first = counters.times.len() as u32;
        let mut range = (f64::INFINITY, f64::NEG_INFINITY);
        for (time, value, event) in in_order(pieces, |row: &(Timestamp, f64, u32)| row.0) {
            counters.times.push(time.0);
            counters.values.push(value);
            counters.events.push(event);
            if value.is_finite() {
                range = (range.0.min(value), range.1.max(value));
            }
        }
        let (name, scope) = series[id as usize];
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

fn scope_of(
    scope: SeriesScope,
    merged: &Merged,
    processes: &ProcessOfKey,
    _trace: &Trace,
) -> CounterScope {
    match scope {
        SeriesScope::Global => CounterScope::Global,
        SeriesScope::Cpu(number) => merged
            .cpu_id(number)
            .map_or(CounterScope::Global, CounterScope::Cpu),
        SeriesScope::Process(key) => processes
            .get(&key)
            .map_or(CounterScope::Global, |&id| CounterScope::Process(id)),
        SeriesScope::Thread(key) => match merged.events.threads.at(key, Timestamp(0)) {
            ThreadId::NONE => CounterScope::Global,
            id => CounterScope::Thread(id),
        },
    }
}

/// Log messages of all parts, by time.
pub fn build_logs(merged: &Merged) -> Logs {
    let mut rows = Vec::new();
    for part in &merged.parts {
        for row in &part.rows.logs {
            let event = part.event(row.event);
            let time = merged.time(part, row.event);
            rows.push(Log {
                time,
                thread: merged.events.thread(event),
                severity: part.string(row.severity),
                message: part.string(row.message),
                event,
            });
        }
    }
    rows.sort_by_key(|row| row.time);
    Logs { rows }
}
