//! Who was made by whom: the forks of all parts by time, told once each however many kinds of events tell of them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::seen::Seen;
use crate::base::{Nanos, StringId, Timestamp};
use crate::build::merge::{Merged, MergedPart};
use crate::event::keys::{Derive, Unseen};
use crate::event::{Directory, ForkSort, Life, ThreadKey};
use crate::trace::EventId;

/// A fork seen twice within this time (by two kinds of events) is one fork.
pub(super) const SAME_FORK: Nanos = Nanos(10_000_000);

/// One fork: who is new is said beside it.
#[derive(Clone, Copy)]
pub(super) struct Birth {
    pub(super) time: Timestamp,
    pub(super) parent: ThreadKey,
    pub(super) sort: ForkSort,
    pub(super) name: StringId,
    pub(super) event: EventId,
}

/// A life row with its time and the part whose strings it uses.
pub struct Told<'a> {
    /// When.
    pub time: Timestamp,
    /// Whose strings it uses.
    pub part: &'a MergedPart,
    /// What happened.
    pub life: &'a Life,
    /// The event that says so.
    pub event: EventId,
}

/// The lives of all parts, by time.
pub fn sorted_lives(merged: &Merged) -> Vec<Told<'_>> {
    let mut lives: Vec<Told<'_>> = merged
        .parts
        .iter()
        .flat_map(|part| {
            part.rows.lives.iter().map(|row| Told {
                time: merged.time(part, row.event),
                part,
                life: &row.life,
                event: part.event(row.event),
            })
        })
        .collect();
    lives.sort_by_key(|told| told.time);
    lives
}

/// The key that `child`, born at `time`, goes by: of the candidates for a key that means nobody the one
/// that was first seen or born last before that.
fn born_as(
    child: ThreadKey,
    time: Timestamp,
    aliases: &FxHashMap<u32, &[ThreadKey]>,
    seen: &Seen,
    births: &FxHashMap<u32, Known>,
) -> ThreadKey {
    let candidates = aliases.get(&child.0).copied().unwrap_or_default();
    let first = |key: &ThreadKey| {
        let seen = seen.get(&key.0).map(|seen| seen.0);
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

/// What is known of the births of a key.
#[derive(Clone, Copy)]
struct Known {
    /// When the first was.
    first: Timestamp,
    /// Which the last is.
    last: usize,
}

/// All births with the keys that are born, sorted by key and time.
pub(super) fn births(directory: &Directory, seen: &Seen, lives: &[Told<'_>]) -> Vec<(u32, Birth)> {
    let aliases: FxHashMap<u32, &[ThreadKey]> = directory
        .aliases
        .iter()
        .map(|alias| (alias.key.0, alias.candidates.as_slice()))
        .collect();
    let is_fork = |told: &&Told<'_>| matches!(told.life, Life::Fork { .. });
    let count = lives.iter().filter(is_fork).count();
    let mut births: Vec<(u32, Birth)> = Vec::with_capacity(count);
    let mut known: FxHashMap<u32, Known> = FxHashMap::default();
    known.reserve(count);
    // Those that are at an end, where the file itself says that whoever goes on is somebody new.
    let mut ended: FxHashSet<u32> = FxHashSet::default();
    // Those that are at an end: a later fork with their key makes somebody else.
    let mut over: FxHashSet<u32> = FxHashSet::default();
    let forks_come_late =
        directory.derive == Derive::Programs && directory.unseen == Unseen::LivedBefore;
    for told in lives {
        let (parent, child, sort, name) = match told.life {
            Life::Fork {
                parent,
                child,
                sort,
                name,
            } => (parent, child, sort, name),
            Life::Exit { thread, .. } => {
                // Whoever is made with this key after that is another one, however soon.
                if let Some(known) = known.get_mut(&thread.0) {
                    known.last = usize::MAX;
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
                let birth = Birth {
                    time: told.time,
                    parent: ThreadKey::UNKNOWN,
                    sort: ForkSort::Unknown,
                    name: StringId::EMPTY,
                    event: told.event,
                };
                births.push((thread.0, birth));
                continue;
            }
            _ => continue,
        };
        let child = born_as(*child, told.time, &aliases, seen, &known);
        // A line is written when the call returned (strace `-z`): the child may have said something before.
        let first = seen.get(&child.0).map(|seen| seen.0);
        let is_late = forks_come_late
            && !known.contains_key(&child.0)
            && !over.contains(&child.0)
            && child != *parent;
        let time = first.filter(|first| is_late && *first < told.time);
        let time = time.unwrap_or(told.time);
        let birth = Birth {
            time,
            parent: *parent,
            sort: *sort,
            name: told.part.string(*name),
            event: told.event,
        };
        ended.remove(&child.0);
        let known = known.entry(child.0).or_insert(Known {
            first: told.time,
            last: usize::MAX,
        });
        match births.get_mut(known.last) {
            Some((_, last)) if last.parent == *parent && told.time - last.time <= SAME_FORK => {
                if last.sort == ForkSort::Unknown {
                    last.sort = birth.sort;
                }
                if last.name == StringId::EMPTY {
                    last.name = birth.name;
                }
            }
            _ => {
                known.last = births.len();
                births.push((child.0, birth));
            }
        }
    }
    births.sort_by_key(|birth| birth.0);
    births
}
