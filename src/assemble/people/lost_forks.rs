//! Start times of processes whose fork is not in the file, from the numbers of other processes.
//!
//! ```text
//! number  7 born at 1.0        8 first seen at 3.0        9 born at 2.0        8 was made between 1.0 and 2.0
//! ```
//!
//! Only for files whose numbers rise from birth to birth. Such a process starts with its first line, or with the first
//! birth of a higher number, if that was earlier. It lived before the trace if no lower number was born in the trace
//! (unless the file states that its head is whole), or if a higher number existed when the trace began.
//!
//! Of the 21 etrace files of the corpus, 1 lacks forks: those of 52 of its 176 tasks.

use crate::base::Timestamp;
use crate::event::keys::Unseen;
use crate::trace::{Process, Thread};

/// At most one birth in this many may be out of order: CPUs race.
const MOST_SWAPPED: usize = 100;

struct Known {
    key: u64,
    /// When it was made, or first seen.
    since: Timestamp,
    is_born: bool,
}

/// Sets the start of each of `processes` that has none, if it began in the trace.
pub(crate) fn date_lost_forks(threads: &[Thread], processes: &mut [Process], unseen: Unseen) {
    let root = match unseen {
        Unseen::LivedBefore => return,
        Unseen::NumbersRise => None,
        Unseen::NewButRoot(root) => Some(root),
    };
    let mut all: Vec<Known> = threads
        .iter()
        .skip(1)
        .map(|thread| Known {
            key: thread.key,
            since: thread.start.unwrap_or(thread.seen.first),
            is_born: thread.start.is_some(),
        })
        .collect();
    let Some(begin) = all.iter().map(|known| known.since).min() else {
        return;
    };
    // If a number was reused, its first life determines the number's position in the order.
    all.sort_by_key(|known| (known.key, known.since));
    all.dedup_by_key(|known| known.key);
    let lowest_born = all.iter().find(|known| known.is_born).map(|it| it.key);
    let is_rising = rises(&all);
    // From the last to the first: the earliest time at which this number or a higher one existed.
    let mut earliest = Timestamp::MAX;
    for known in all.iter_mut().rev() {
        earliest = earliest.min(known.since);
        if is_rising {
            known.since = earliest;
        }
    }
    for process in processes.iter_mut().filter(|it| it.start.is_none()) {
        let Some(thread) = process
            .main_thread
            .and_then(|id| threads.get(id.0 as usize))
        else {
            continue;
        };
        let Ok(at) = all.binary_search_by_key(&thread.key, |known| known.key) else {
            continue;
        };
        let is_new = match root {
            Some(root) => thread.key != root,
            None => is_rising && lowest_born.is_some_and(|lowest| lowest < thread.key),
        };
        let since = all[at].since.min(thread.seen.first);
        if is_new && since > begin {
            process.start = Some(since);
        }
    }
}

/// Returns whether later births have higher numbers, with few exceptions; `all` is sorted by number.
fn rises(all: &[Known]) -> bool {
    let mut latest = Timestamp::MIN;
    let mut count = 0;
    let mut swapped = 0;
    for known in all.iter().filter(|known| known.is_born) {
        count += 1;
        swapped += usize::from(known.since < latest);
        latest = latest.max(known.since);
    }
    swapped * MOST_SWAPPED <= count
}
