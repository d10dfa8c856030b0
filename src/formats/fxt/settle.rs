//! After all parts were read, corrects what depends on the order in which they were read: the numbers of threads that
//! the fold did not find. These threads are numbered in sorted order.
//!
//! Of the 50 FXT files of the corpus and the samples, 8 have such threads: 7 a stand-in for records without a thread,
//! and 1 thread indices that no record registers.

use crate::event::{AsyncScope, LaneColumns, SeriesScope, ThreadKey};

use super::scan::Scan;

/// Corrects the columns of all parts, which are in file order.
pub(super) fn settle(scan: &Scan, parts: &mut [&mut LaneColumns]) {
    let moved = scan.entities.settle_late();
    if !moved.is_empty() {
        for part in parts.iter_mut() {
            move_threads(part, &|key| moved.get(&key).copied().unwrap_or(key));
        }
    }
}

fn move_threads(part: &mut LaneColumns, now: &dyn Fn(ThreadKey) -> ThreadKey) {
    part.events.renumber_threads(&|key| Some(now(key)));
    for row in &mut part.switches {
        (row.prev, row.next) = (now(row.prev), now(row.next));
    }
    for row in &mut part.wakeups {
        row.thread = now(row.thread);
        row.waker = row.waker.get().map(now).into();
    }
    for row in &mut part.asyncs {
        if let AsyncScope::ProcessOf(key) = &mut row.scope {
            *key = key.get().map(now).into();
        }
    }
    for row in &mut part.series {
        if let SeriesScope::Thread(key) = &mut row.scope {
            *key = now(*key);
        }
    }
}
