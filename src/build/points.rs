//! What lies at one point in time: instants, counter samples, log messages.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::group::{Groups, Sorted, gather, join_in_order, zip_by_number};
use super::identities::ProcessOfKey;
use super::merge::{Merged, MergedPart};
use super::slice_table::cut;
use super::track_number;
use crate::base::Timestamp;
use crate::event::columns::EventColumns;
use crate::event::{Role, SeriesScope, ThreadKey};
use crate::trace::counters::{CounterScope, CounterTrack};
use crate::trace::{Counters, EventId, Log, Logs, ThreadId, Trace, TrackKind};

/// Events that are instants, track by track.
#[derive(Default)]
pub struct Points {
    /// The events; those of a track lie side by side, sorted by time.
    pub events: Vec<u32>,
    /// (track number, how many), sorted by number.
    pub tracks: Vec<(u32, usize)>,
}

/// Instants that follow each other on one track without others between them in their part: a thread that
/// runs leaves many. Sorting these by time is cheaper than sorting events.
#[derive(Clone, Copy)]
struct Stretch {
    start: i64,
    last: i64,
    part: u32,
    /// Where it lies in the events of its part.
    first: u32,
    count: u32,
}

/// The instants of a part in order of time, and their stretches by track.
struct PartPoints {
    events: Vec<u32>,
    stretches: Sorted<Stretch>,
}

/// What becomes of an event of some kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// No instant.
    None,
    /// An instant of its thread.
    OfThread,
    /// An instant of its CPU.
    OfCpu,
}

/// By the number of a kind; those that nobody described are instants of threads.
fn classes(merged: &Merged) -> Vec<Class> {
    let mut classes = vec![Class::OfThread; 1 << 16];
    for (class, kind) in classes.iter_mut().zip(&merged.kinds) {
        *class = match kind.role {
            Role::Consumed => Class::None,
            Role::Instant => Class::OfThread,
            Role::CpuInstant => Class::OfCpu,
        };
    }
    classes
}

/// The instants of each track number.
///
/// An event is an instant if its kind says so, or if pairing left it over. `elsewhere` are events that lie
/// on asynchronous tracks already.
pub fn build_instants(
    merged: &Merged,
    trace: &Trace,
    leftovers: Vec<(u32, u32)>,
    elsewhere: &[u32],
) -> Points {
    let classes = classes(merged);
    let has_some = classes
        .iter()
        .take(merged.kinds.len())
        .any(|class| *class != Class::None);
    let part_count = if has_some { merged.parts.len() } else { 0 };
    let mut elsewhere = elsewhere.to_vec();
    elsewhere.sort_unstable();
    let parts: Vec<PartPoints> = (0..part_count)
        .into_par_iter()
        .map(|number| {
            let first = merged.parts[number].first_event;
            let first = elsewhere.partition_point(|&event| event < first);
            let elsewhere = &elsewhere[first..];
            points_of(number as u32, merged, &classes, elsewhere, trace.cpus.len())
        })
        .collect();
    let mut extra = Groups::with_capacity(leftovers.len());
    for (track, event) in leftovers {
        extra.push(track, event);
    }
    let extra = extra.sorted();
    let stretches = gather(parts.iter().map(|part| &part.stretches));
    let tracks = zip_by_number(stretches, gather([&extra]));
    let counts: Vec<(u32, usize)> = tracks
        .iter()
        .map(|(track, stretches, extra)| {
            let stretches = stretches.iter().copied().flatten();
            let count: usize = stretches.map(|stretch| stretch.count as usize).sum();
            (
                *track,
                count + extra.iter().map(|piece| piece.len()).sum::<usize>(),
            )
        })
        .collect();
    let mut events = vec![0; counts.iter().map(|(_, count)| count).sum()];
    let mut rest = events.as_mut_slice();
    let jobs: Vec<_> = tracks
        .into_iter()
        .zip(&counts)
        .map(|((_, stretches, extra), (_, count))| (stretches, extra, cut(&mut rest, *count)))
        .collect();
    jobs.into_par_iter().for_each(|(stretches, extra, out)| {
        let mut rest = &mut *out;
        let is_sorted = fill(&mut rest, &stretches, &parts);
        for piece in &extra {
            cut(&mut rest, piece.len()).copy_from_slice(piece);
        }
        if !is_sorted || !extra.is_empty() {
            sort_by_time(out, merged);
        }
    });
    Points {
        events,
        tracks: counts,
    }
}

/// Joins a track's events of many parts, stretch by stretch; whether they are in order of time now.
fn fill(out: &mut &mut [u32], stretches: &[&[Stretch]], parts: &[PartPoints]) -> bool {
    let mut order: Vec<Stretch> = stretches.concat();
    if !order.is_sorted_by_key(|stretch| stretch.start) {
        order.sort_by_key(|stretch| stretch.start);
    }
    let mut is_sorted = true;
    let mut before = (i64::MIN, 0);
    for stretch in order {
        let first = stretch.first as usize;
        let part = &parts[stretch.part as usize];
        let events = &part.events[first..first + stretch.count as usize];
        is_sorted &= before <= (stretch.start, stretch.part);
        before = (stretch.last, stretch.part);
        cut(out, events.len()).copy_from_slice(events);
    }
    is_sorted
}

/// Ties: by number.
fn sort_by_time(events: &mut [u32], merged: &Merged) {
    let cursor = merged.events.cursor();
    let timed = events.iter();
    let timed = timed.map(|&event| (cursor.time(EventId(event)), event));
    let mut timed: Vec<(Timestamp, u32)> = timed.collect();
    timed.sort();
    for (place, (_, event)) in events.iter_mut().zip(timed) {
        *place = event;
    }
}

/// The instants of a part. `elsewhere` are events that are none, from this part on.
fn points_of(
    number: u32,
    merged: &Merged,
    classes: &[Class],
    elsewhere: &[u32],
    cpu_count: usize,
) -> PartPoints {
    let part = &merged.parts[number as usize];
    let columns = &merged.events.segments()[part.segment as usize].columns;
    let threads = &merged.events.threads;
    let cpu_track = part
        .cpu
        .map(|cpu| track_number(TrackKind::Cpu(cpu), cpu_count));
    let mut elsewhere = elsewhere.iter().peekable();
    let mut points = Collected {
        part,
        number,
        columns,
        events: Vec::with_capacity(columns.len()),
        stretches: Groups::default(),
        open: None,
    };
    for (run, key) in columns.thread_runs() {
        let (start, end) = (run.start, run.end);
        let kinds = &columns.kinds()[start..end];
        let track_of = |local: usize, class: Class| match cpu_track {
            Some(track)
                if class == Class::OfCpu || matches!(key, ThreadKey::IDLE | ThreadKey::UNKNOWN) =>
            {
                track
            }
            _ => {
                let thread = threads.at(key, columns.time(local as u32));
                track_number(TrackKind::Thread(thread), cpu_count)
            }
        };
        let first = points.events.len();
        let (from, until) = (part.event(start as u32).0, part.event(end as u32).0);
        while elsewhere.next_if(|&&event| event < from).is_some() {}
        let is_whole = kinds.len() > SHORT_RUN
            && elsewhere.peek().is_none_or(|event| **event >= until)
            && threads.is_unique(key)
            && kinds
                .iter()
                .all(|&kind| classes[usize::from(kind)] != Class::OfCpu);
        if is_whole {
            points.push_all(start, kinds, classes);
            points.put(track_of(start, Class::OfThread), first);
            continue;
        }
        for (local, &kind) in (start..end).zip(kinds) {
            let class = classes[usize::from(kind)];
            if class == Class::None {
                continue;
            }
            let event = part.event(local as u32).0;
            while elsewhere.next_if(|&&other| other < event).is_some() {}
            if elsewhere.peek() != Some(&&event) {
                let first = points.events.len();
                points.events.push(event);
                points.put(track_of(local, class), first);
            }
        }
    }
    points.close();
    PartPoints {
        events: points.events,
        stretches: points.stretches.sorted(),
    }
}

/// Runs of a thread's events up to this long are looked at event by event.
const SHORT_RUN: usize = 4;

/// The instants of a part while they are collected.
struct Collected<'a> {
    part: &'a MergedPart,
    number: u32,
    columns: &'a EventColumns,
    events: Vec<u32>,
    stretches: Groups<Stretch>,
    /// The stretch that may go on: its track, and where it lies in `events`.
    open: Option<(u32, usize, usize)>,
}

impl Collected<'_> {
    /// Adds the instants of a run of one thread. Which they are is as good as random: no branch guesses it.
    fn push_all(&mut self, start: usize, kinds: &[u16], classes: &[Class]) {
        let mut at = self.events.len();
        self.events.resize(at + kinds.len(), 0);
        for (event, &kind) in (self.part.event(start as u32).0..).zip(kinds) {
            self.events[at] = event;
            at += usize::from(classes[usize::from(kind)] == Class::OfThread);
        }
        self.events.truncate(at);
    }

    /// The events from `first` on are of `track`.
    fn put(&mut self, track: u32, first: usize) {
        let end = self.events.len();
        match &mut self.open {
            Some((open_track, _, open_end)) if *open_track == track => *open_end = end,
            _ if first < end => {
                self.close();
                self.open = Some((track, first, end));
            }
            _ => {}
        }
    }

    fn close(&mut self) {
        let Some((track, first, end)) = self.open.take() else {
            return;
        };
        let time = |at: usize| self.columns.time(self.events[at] - self.part.first_event).0;
        let stretch = Stretch {
            start: time(first),
            last: time(end - 1),
            part: self.number,
            first: first as u32,
            count: (end - first) as u32,
        };
        self.stretches.push(track, stretch);
    }
}

/// Samples of all parts as counter tracks.
pub fn build_counters(merged: &mut Merged, processes: &ProcessOfKey, trace: &Trace) -> Counters {
    // One series may come from many parts.
    let mut series_ids: FxHashMap<(crate::base::StringId, CounterScope), u32> =
        FxHashMap::default();
    let mut series = Vec::new();
    let mut groups = Vec::new();
    let mut group = Groups::default();
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
        for sample in &part.rows.samples {
            if let Some(&id) = ids.get(sample.series as usize) {
                let time = merged.time(part, sample.event);
                group.push(id, (time, sample.value, part.event(sample.event).0));
            }
        }
        groups.push(group.sorted());
    }
    let mut lists = gather(&groups);
    // Tracks in an order that people expect: by owner, then name.
    lists.sort_by(|(a, _), (b, _)| {
        let (a, b) = (series[*a as usize], series[*b as usize]);
        a.1.cmp(&b.1)
            .then_with(|| merged.strings.bytes(a.0).cmp(merged.strings.bytes(b.0)))
    });
    let mut counters = Counters::default();
    let mut rows = Vec::new();
    for (id, pieces) in lists {
        let first = counters.times.len() as u32;
        join_in_order(&pieces, |row: &(Timestamp, f64, u32)| row.0, &mut rows);
        let mut range = (f64::INFINITY, f64::NEG_INFINITY);
        for &(time, value, event) in &rows {
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
