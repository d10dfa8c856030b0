//! When keys were seen: the first and the last time, over all that rows say of them.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::base::Timestamp;
use crate::build::merge::{Merged, MergedPart};
use crate::event::{AsyncScope, Life, SeriesScope};

/// The first and the last time of each key.
pub(super) type Seen = FxHashMap<u32, (Timestamp, Timestamp)>;

pub(super) fn seen_keys(merged: &Merged) -> Seen {
    let each: Vec<Seen> = merged
        .parts
        .par_iter()
        .map(|part| seen_in_part(part, merged))
        .collect();
    let mut all = Seen::default();
    // Most are seen in one part, or in two that follow each other.
    let count: usize = each.iter().map(Seen::len).sum();
    all.reserve(count * 2 / 3);
    for part in each {
        for (key, span) in part {
            include(&mut all, key, span);
        }
    }
    all
}

fn include(seen: &mut Seen, key: u32, span: (Timestamp, Timestamp)) {
    let range = seen.entry(key).or_insert(span);
    range.0 = range.0.min(span.0);
    range.1 = range.1.max(span.1);
}

/// When keys were seen, with those that were seen last at hand.
struct Watch {
    all: Seen,
    /// (key, first, last), by the low bits of the key.
    recent: Vec<Option<(u32, Timestamp, Timestamp)>>,
}

const RECENT: usize = 256;

impl Watch {
    #[inline]
    fn include(&mut self, key: u32, time: Timestamp) {
        match &mut self.recent[key as usize % RECENT] {
            Some((recent, first, last)) if *recent == key => {
                *first = (*first).min(time);
                *last = (*last).max(time);
            }
            slot => {
                if let Some((key, first, last)) = slot.replace((key, time, time)) {
                    include(&mut self.all, key, (first, last));
                }
            }
        }
    }

    fn finish(mut self) -> Seen {
        for (key, first, last) in self.recent.into_iter().flatten() {
            include(&mut self.all, key, (first, last));
        }
        self.all
    }
}

fn seen_in_part(part: &MergedPart, merged: &Merged) -> Seen {
    let columns = &merged.events.segments()[part.segment as usize].columns;
    let mut seen = Watch {
        all: Seen::default(),
        recent: vec![None; RECENT],
    };
    for (key, span) in columns.thread_spans() {
        seen.include(key.0, columns.time(span.start as u32));
        seen.include(key.0, columns.time(span.end as u32));
    }
    for switch in &part.rows.switches {
        let time = columns.time(switch.event);
        seen.include(switch.prev.0, time);
        seen.include(switch.next.0, time);
    }
    for wakeup in &part.rows.wakeups {
        seen.include(wakeup.thread.0, columns.time(wakeup.event));
    }
    // Marks may be of a process that does nothing itself.
    for mark in &part.rows.asyncs {
        if let AsyncScope::ProcessOf(key) = mark.scope {
            seen.include(key.0, columns.time(mark.event));
        }
    }
    for sample in &part.rows.samples {
        let series = part.rows.series.get(sample.series as usize);
        if let Some(SeriesScope::Thread(key)) = series.map(|series| series.scope) {
            seen.include(key.0, columns.time(sample.event));
        }
    }
    for row in &part.rows.lives {
        let key = match &row.life {
            Life::Fork { parent, .. } => parent,
            Life::Exec { thread, .. } | Life::Exit { thread, .. } => thread,
            // A process is there even if its main thread did nothing.
            Life::Member { thread, leader } | Life::Claim { thread, leader } => {
                seen.include(leader.0, columns.time(row.event));
                thread
            }
            Life::Name { .. } | Life::Directory { .. } => continue,
        };
        seen.include(key.0, columns.time(row.event));
    }
    seen.finish()
}
