//! The forks of all parts, sorted by time; a fork that several kinds of events record is listed once.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::recorded::{Part, Recorded};
use super::super::rows::PerPart;
use super::seen::Seen;
use crate::base::{Nanos, StringId, Timestamp};
use crate::event::keys::{Derive, Unseen};
use crate::event::{Directory, ForkSort, KindId, Life, LifeRow, ThreadKey};
use crate::trace::{EventId, Events};

/// Two events of a fork with equal parent and child, at most this many ns apart, record one fork if they are of different
/// kinds, such as `task_newtask` and `sched_process_fork`. Two events of one kind are two forks.
pub(super) const SAME_FORK: Nanos = Nanos(10_000_000);

/// Two events of one kind about one thread, fewer ns apart, are one: two buffers recorded it, or a text contains it twice.
pub(super) const SAME_EVENT: Nanos = Nanos(10_000);

/// One fork.
#[derive(Clone, Copy)]
pub(super) struct Birth {
    /// The child's key.
    pub(super) key: u32,
    pub(super) time: Timestamp,
    pub(super) parent: Option<ThreadKey>,
    pub(super) sort: ForkSort,
    pub(super) name: StringId,
    pub(super) event: EventId,
}

/// A life row with its time, and the part whose strings it refers to.
pub(crate) struct LifeEvent<'a> {
    /// Time, ns on the trace's clock.
    pub time: Timestamp,
    /// The part whose strings it refers to.
    pub part: &'a Part,
    /// What happened.
    pub life: &'a Life,
    /// The event that records it.
    pub event: EventId,
}

/// Returns the lives of all parts, sorted by time.
pub(crate) fn sorted_lives<'a>(
    recorded: &'a Recorded,
    lives: &'a PerPart<LifeRow>,
) -> Vec<LifeEvent<'a>> {
    let of_part = |(part, lives): (&'a Part, &'a Vec<LifeRow>)| {
        lives.iter().map(move |row| LifeEvent {
            time: recorded.time(part, row.event),
            part,
            life: &row.life,
            event: part.event(row.event),
        })
    };
    let mut lives: Vec<LifeEvent<'a>> =
        recorded.parts.iter().zip(lives).flat_map(of_part).collect();
    lives.sort_by_key(|row| row.time);
    lives
}

/// Returns the key of the thread that `child` means at the time of its birth, `time`. A key without a thread of its own
/// has candidates: the candidate whose first event or birth is the latest at or before `time` is returned.
fn born_as(
    child: ThreadKey,
    time: Timestamp,
    aliases: &FxHashMap<u32, &[ThreadKey]>,
    seen: &Seen,
    births: &FxHashMap<u32, Known>,
) -> ThreadKey {
    let candidates = aliases.get(&child.0).copied().unwrap_or_default();
    let first = |key: &ThreadKey| {
        let seen = seen.get(&key.0).map(|seen| seen.first);
        let born = births.get(&key.0).map(|known| known.first);
        seen.into_iter().chain(born).min()
    };
    candidates
        .iter()
        .filter_map(|key| Some((first(key)?, *key)))
        .filter(|(first, _)| *first <= time)
        .max_by_key(|(first, _)| *first)
        .map_or(child, |(_, key)| key)
}

/// The births of a key that were added so far.
struct Known {
    /// Time of the first.
    first: Timestamp,
    /// Index of the last; `None` if the next fork makes a new thread in any case.
    last: Option<usize>,
    /// The kinds of the events that recorded the last.
    kinds: Vec<KindId>,
}

/// Returns all forks, sorted by the child's key, then time.
pub(super) fn births(
    directory: &Directory,
    events: &Events,
    seen: &Seen,
    lives: &[LifeEvent<'_>],
) -> Vec<Birth> {
    let aliases: FxHashMap<u32, &[ThreadKey]> = directory
        .aliases
        .iter()
        .map(|alias| (alias.key.0, alias.candidates.as_slice()))
        .collect();
    let is_fork = |row: &&LifeEvent<'_>| matches!(row.life, Life::Fork { .. });
    let count = lives.iter().filter(is_fork).count();
    let mut births: Vec<Birth> = Vec::with_capacity(count);
    let mut known: FxHashMap<u32, Known> = FxHashMap::default();
    known.reserve(count);
    // Keys that exited, if the file states that a later exec of the same key belongs to a new thread.
    let mut ended: FxHashSet<u32> = FxHashSet::default();
    // Keys that exited, if lines of forks may come late: a later fork of the key makes a new thread.
    let mut over: FxHashSet<u32> = FxHashSet::default();
    let forks_come_late =
        directory.derive == Derive::Programs && directory.unseen == Unseen::LivedBefore;
    for row in lives {
        let (parent, child, sort, name) = match row.life {
            Life::Fork {
                parent,
                child,
                sort,
                name,
            } => (parent, child, sort, name),
            Life::Exit { thread, .. } => {
                // A fork of this key after the exit makes a new thread, even within `SAME_FORK`.
                if let Some(known) = known.get_mut(&thread.0) {
                    known.last = None;
                }
                if directory.unseen != Unseen::LivedBefore {
                    ended.insert(thread.0);
                }
                if forks_come_late {
                    over.insert(thread.0);
                }
                continue;
            }
            Life::Exec { thread, .. } if ended.remove(&thread.0) => {
                births.push(Birth {
                    key: thread.0,
                    time: row.time,
                    parent: None,
                    sort: ForkSort::Unknown,
                    name: StringId::EMPTY,
                    event: row.event,
                });
                continue;
            }
            _ => continue,
        };
        let child = born_as(*child, row.time, &aliases, seen, &known);
        // strace with `-z` writes a line when the call has returned, so the child may have earlier lines.
        let first = seen.get(&child.0).map(|seen| seen.first);
        let is_late = forks_come_late
            && !known.contains_key(&child.0)
            && !over.contains(&child.0)
            && Some(child) != *parent;
        let time = first.filter(|first| is_late && *first < row.time);
        let time = time.unwrap_or(row.time);
        let birth = Birth {
            key: child.0,
            time,
            parent: *parent,
            sort: *sort,
            name: row.part.string(*name),
            event: row.event,
        };
        ended.remove(&child.0);
        let kind = events.kind(row.event);
        let known = known.entry(child.0).or_insert(Known {
            first: row.time,
            last: None,
            kinds: Vec::new(),
        });
        match known.last.and_then(|last| births.get_mut(last)) {
            Some(last)
                if last.parent == *parent
                    && (!known.kinds.contains(&kind) || row.time - last.time < SAME_EVENT)
                    && row.time - last.time <= SAME_FORK =>
            {
                if last.sort == ForkSort::Unknown {
                    last.sort = birth.sort;
                }
                if last.name == StringId::EMPTY {
                    last.name = birth.name;
                }
            }
            _ => {
                known.last = Some(births.len());
                known.kinds.clear();
                births.push(birth);
            }
        }
        known.kinds.push(kind);
    }
    births.sort_by_key(|birth| birth.key);
    births
}
