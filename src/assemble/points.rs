//! Events that no other table shows, as instants on the tracks of their threads and CPUs.

use rayon::prelude::*;

use super::group::{Groups, Numbered, Sorted, gather, zip_by_number};
use super::recorded::{Part, Recorded};
use super::stretch::cut;
use super::track_number::{self, TrackEvent};
use crate::base::Timestamp;
use crate::base::streaks::Streaks;
use crate::event::columns::EventColumns;
use crate::event::kind_column::KindSlice;
use crate::event::thread_column::ThreadRun;
use crate::event::{EventKind, Role, ThreadKey};
use crate::trace::EventId;

/// The events that are instants, track by track.
#[derive(Default)]
pub(crate) struct Points {
    /// The events; the events of a track are adjacent and sorted by time.
    pub events: Vec<u32>,
    /// The number of instants of each track, sorted by track number.
    pub tracks: Vec<Numbered<usize>>,
}

/// Successive instants of one track with no other track's instants between them in their part. A running thread causes
/// many such instants, and sorting stretches by time is cheaper than sorting events.
#[derive(Clone, Copy)]
struct Stretch {
    start: i64,
    last: i64,
    part: u32,
    /// Index of its first event in the instants of its part.
    first: u32,
    count: u32,
}

/// The instants of a part in order of time, and their stretches grouped by track number.
struct PartPoints {
    events: Vec<u32>,
    stretches: Sorted<Stretch>,
}

/// Whether events of some kind are instants, and on which track.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Not an instant.
    None,
    /// An instant on its thread's track.
    OfThread,
    /// An instant on its CPU's track.
    OfCpu,
}

/// The class of each kind.
struct Classes(Vec<Class>);

impl Classes {
    fn new(kinds: &Streaks<EventKind>) -> Classes {
        let class = |kind: EventKind| match kind.role {
            Role::Consumed | Role::SystemCall | Role::Named | Role::Switch => Class::None,
            Role::Instant | Role::Log | Role::Attachment | Role::PointerName => Class::OfThread,
            Role::CpuInstant => Class::OfCpu,
        };
        Classes(kinds.values(class))
    }

    /// Returns the class of a kind; kinds that the directory does not list are instants of threads.
    #[inline]
    fn of(&self, kind: impl Into<u32>) -> Class {
        let class = self.0.get(kind.into() as usize);
        class.copied().unwrap_or(Class::OfThread)
    }
}

/// The input of [`points`] that decides which events are instants.
#[derive(Clone, Copy)]
pub(crate) struct PointRules<'a> {
    /// The kinds of events: an event's kind decides whether it is an instant.
    pub kinds: &'a Streaks<EventKind>,
    /// Events that are instants whatever their kind.
    pub leftovers: &'a [TrackEvent],
    /// Events that are already instants on asynchronous tracks.
    pub elsewhere: &'a [u32],
}

/// Returns the instants of all tracks.
pub(super) fn points(recorded: &Recorded, which: PointRules<'_>) -> Points {
    let classes = Classes::new(which.kinds);
    let has_some = classes.0.iter().any(|class| *class != Class::None);
    let part_count = if has_some { recorded.parts.len() } else { 0 };
    let mut elsewhere = which.elsewhere.to_vec();
    elsewhere.sort_unstable();
    let parts: Vec<PartPoints> = (0..part_count)
        .into_par_iter()
        .map(|number| {
            let first = recorded.parts[number].first_event;
            let first = elsewhere.partition_point(|&event| event < first);
            let rules = PartRules {
                number: number as u32,
                classes: &classes,
                elsewhere: &elsewhere[first..],
            };
            match recorded.columns(&recorded.parts[number]).kinds() {
                KindSlice::Words(kinds) => points_of(rules, recorded, kinds),
                KindSlice::Wide(kinds) => points_of(rules, recorded, kinds),
            }
        })
        .collect();
    let mut extra = Groups::with_capacity(which.leftovers.len());
    for point in which.leftovers {
        extra.push(point.track, point.event);
    }
    let extra = extra.sorted();
    let stretches = gather(parts.iter().map(|part| &part.stretches));
    let tracks = zip_by_number(stretches, gather([&extra]));
    let counts: Vec<Numbered<usize>> = tracks
        .iter()
        .map(|of| {
            let stretches = of.left.iter().copied().flatten();
            let count: usize = stretches.map(|stretch| stretch.count as usize).sum();
            let extra: usize = of.right.iter().map(|piece| piece.len()).sum();
            Numbered {
                number: of.number,
                own: count + extra,
            }
        })
        .collect();
    // Each track fills its own stretch of one list, in parallel.
    let mut events = vec![0; counts.iter().map(|of| of.own).sum()];
    let mut rest = events.as_mut_slice();
    let jobs: Vec<_> = tracks
        .into_iter()
        .zip(&counts)
        .map(|(of, count)| (of.left, of.right, cut(&mut rest, count.own)))
        .collect();
    jobs.into_par_iter().for_each(|(stretches, extra, out)| {
        let mut rest = &mut *out;
        let is_sorted = fill(&mut rest, &stretches, &parts);
        for piece in &extra {
            cut(&mut rest, piece.len()).copy_from_slice(piece);
        }
        if !is_sorted || !extra.is_empty() {
            sort_by_time(out, recorded);
        }
    });
    Points {
        events,
        tracks: counts,
    }
}

/// Copies a track's events from many parts into `out`, stretch by stretch. Returns whether they are in order of time.
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

/// Sorts events by time; events of equal time by event id.
fn sort_by_time(events: &mut [u32], recorded: &Recorded) {
    let cursor = recorded.events.cursor();
    let timed = events.iter();
    let timed = timed.map(|&event| (cursor.time(EventId(event)), event));
    let mut timed: Vec<(Timestamp, u32)> = timed.collect();
    timed.sort();
    for (place, (_, event)) in events.iter_mut().zip(timed) {
        *place = event;
    }
}

/// Decides which events of a part are instants.
struct PartRules<'a> {
    /// The part's number.
    number: u32,
    classes: &'a Classes,
    /// Events that are left out: sorted, none before this part.
    elsewhere: &'a [u32],
}

/// Returns the instants of a part, whose events have these kinds.
fn points_of<K: Copy + Into<u32>>(
    rules: PartRules<'_>,
    recorded: &Recorded,
    all_kinds: &[K],
) -> PartPoints {
    let PartRules {
        number,
        classes,
        elsewhere,
    } = rules;
    let part = &recorded.parts[number as usize];
    let columns = recorded.columns(part);
    let threads = &recorded.events.threads;
    let cpu_count = recorded.cpus.len();
    let mut elsewhere = elsewhere.iter().peekable();
    let mut points = Collected {
        part,
        number,
        columns,
        events: Vec::with_capacity(columns.len()),
        stretches: Groups::default(),
        open: None,
    };
    for ThreadRun {
        events: run,
        thread: key,
    } in columns.thread_runs()
    {
        let (start, end) = (run.start, run.end);
        let kinds = &all_kinds[start..end];
        let track_of = |local: usize, class: Class| {
            let cpu = match (class, key) {
                (Class::OfCpu, _) => recorded.cpu(part, local as u32),
                (_, Some(ThreadKey::IDLE) | None) => part.cpu,
                _ => None,
            };
            match cpu {
                Some(cpu) => track_number::of_cpu(cpu),
                None => {
                    let thread = threads.at(key, columns.time(local as u32));
                    track_number::of_thread(thread, cpu_count)
                }
            }
        };
        let first = points.events.len();
        let (from, until) = (part.event(start as u32).0, part.event(end as u32).0);
        while elsewhere.next_if(|&&event| event < from).is_some() {}
        // Long runs of one thread are copied as a whole if no event of the run can be on another track.
        let is_whole = kinds.len() > SHORT_RUN
            && elsewhere.peek().is_none_or(|event| **event >= until)
            && threads.is_unique(key)
            && kinds.iter().all(|&kind| classes.of(kind) != Class::OfCpu);
        if is_whole {
            points.push_all(start, kinds, classes);
            points.put(track_of(start, Class::OfThread), first);
            continue;
        }
        for (local, &kind) in (start..end).zip(kinds) {
            let class = classes.of(kind);
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

/// Runs of a thread's events up to this length are examined event by event.
const SHORT_RUN: usize = 4;

/// A stretch that the next instant may extend: its track, and its range in the instants of its part.
struct OpenStretch {
    track: u32,
    first: usize,
    end: usize,
}

/// The instants of a part while they are collected.
struct Collected<'a> {
    part: &'a Part,
    number: u32,
    columns: &'a EventColumns,
    events: Vec<u32>,
    stretches: Groups<Stretch>,
    /// The stretch that the next instant may extend.
    open: Option<OpenStretch>,
}

impl Collected<'_> {
    /// Adds the instants of a run of one thread. It has no branches, because the branch predictor could not predict
    /// which events are instants.
    fn push_all<K: Copy + Into<u32>>(&mut self, start: usize, kinds: &[K], classes: &Classes) {
        let mut at = self.events.len();
        self.events.resize(at + kinds.len(), 0);
        for (event, &kind) in (self.part.event(start as u32).0..).zip(kinds) {
            self.events[at] = event;
            at += usize::from(classes.of(kind) == Class::OfThread);
        }
        self.events.truncate(at);
    }

    /// Puts the events from index `first` on `track`.
    fn put(&mut self, track: u32, first: usize) {
        let end = self.events.len();
        match &mut self.open {
            Some(open) if open.track == track => open.end = end,
            _ if first < end => {
                self.close();
                self.open = Some(OpenStretch { track, first, end });
            }
            _ => {}
        }
    }

    fn close(&mut self) {
        let Some(OpenStretch { track, first, end }) = self.open.take() else {
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
