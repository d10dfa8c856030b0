//! The first and the last time at which each thread key was seen, over all rows.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::super::recorded::{Part, Recorded};
use super::super::rows::Rows;
use crate::base::Timestamp;
use crate::event::thread_column::ThreadRun;
use crate::event::{AsyncScope, Life, SeriesScope};
use crate::trace::SeenTimes;

/// The times at which each key was seen.
pub(super) type Seen = FxHashMap<u32, SeenTimes>;

pub(super) fn seen_keys(recorded: &Recorded, rows: &Rows) -> Seen {
    let parts = recorded.parts.par_iter().enumerate();
    let of_part = |(number, part): (usize, &Part)| seen_in_part(number, part, recorded, rows);
    let each: Vec<Seen> = parts.map(of_part).collect();
    let mut all = Seen::default();
    // Most keys are seen in one part, or in two successive parts.
    let count: usize = each.iter().map(Seen::len).sum();
    all.reserve(count * 2 / 3);
    for part in each {
        for (key, times) in part {
            include(&mut all, key, times);
        }
    }
    all
}

fn include(seen: &mut Seen, key: u32, times: SeenTimes) {
    seen.entry(key).or_insert(times).include(times);
}

/// Collects the times of keys, with a cache of the keys seen last.
struct Watch {
    all: Seen,
    /// The cache, indexed by the low bits of the key: keys and their times.
    recent: Vec<Option<(u32, SeenTimes)>>,
}

const RECENT: usize = 256;

impl Watch {
    #[inline]
    fn include(&mut self, key: u32, time: Timestamp) {
        let times = SeenTimes::once(time);
        match &mut self.recent[key as usize % RECENT] {
            Some((recent, known)) if *recent == key => known.include(times),
            slot => {
                if let Some((key, known)) = slot.replace((key, times)) {
                    include(&mut self.all, key, known);
                }
            }
        }
    }

    fn finish(mut self) -> Seen {
        for (key, times) in self.recent.into_iter().flatten() {
            include(&mut self.all, key, times);
        }
        self.all
    }
}

/// Returns the keys seen in a part; `number` is the part's index in every list of rows.
fn seen_in_part(number: usize, part: &Part, recorded: &Recorded, rows: &Rows) -> Seen {
    let columns = recorded.columns(part);
    let mut seen = Watch {
        all: Seen::default(),
        recent: vec![None; RECENT],
    };
    for ThreadRun { events, thread } in columns.thread_spans() {
        if let Some(thread) = thread {
            seen.include(thread.0, columns.time(events.start as u32));
            seen.include(thread.0, columns.time(events.end as u32));
        }
    }
    for switch in &rows.scheduling.switches[number] {
        let time = columns.time(switch.event);
        seen.include(switch.prev.0, time);
        seen.include(switch.next.0, time);
    }
    for wakeup in &rows.scheduling.wakeups[number] {
        seen.include(wakeup.thread.0, columns.time(wakeup.event));
    }
    for run in &rows.scheduling.whole.runs[number] {
        seen.include(run.thread.0, columns.time(run.event));
    }
    // A mark may belong to a process that has no events itself.
    for mark in &rows.asyncs[number] {
        if let AsyncScope::ProcessOf(key) = mark.scope
            && let Some(key) = key.get()
        {
            seen.include(key.0, columns.time(mark.event));
        }
    }
    for sample in &rows.samples.samples[number] {
        let series = rows.samples.series[number].get(sample.series as usize);
        if let Some(SeriesScope::Thread(key)) = series.map(|series| series.scope) {
            seen.include(key.0, columns.time(sample.event));
        }
    }
    for row in &rows.lives[number] {
        let key = match &row.life {
            Life::Fork {
                parent: Some(parent),
                ..
            } => parent,
            // A process exists even if its main thread has no events.
            Life::Member { thread, leader }
            | Life::Claim { thread, leader }
            | Life::Exec {
                thread: leader,
                caller: Some(thread),
                ..
            } => {
                seen.include(leader.0, columns.time(row.event));
                thread
            }
            Life::Exec { thread, .. } | Life::Exit { thread, .. } => thread,
            Life::Fork { parent: None, .. }
            | Life::Exiting { .. }
            | Life::Name { .. }
            | Life::Directory { .. }
            | Life::Forgotten { .. }
            | Life::Reaped { .. } => {
                continue;
            }
        };
        seen.include(key.0, columns.time(row.event));
    }
    seen.finish()
}
