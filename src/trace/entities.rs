//! Threads, processes and CPUs: each row is a single thread, process or CPU, even if the system reused its number.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::segments::EventId;
use crate::base::maybe::Sparse;
use crate::base::{Maybe, StringId, Timestamp};
use crate::event::{ForkSort, ThreadKey};
use rustc_hash::FxHashMap;

/// Row number of a thread in [`Trace::threads`](super::Trace::threads).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// The idle task of any CPU: always the first row.
    pub const IDLE: ThreadId = ThreadId(0);
}

impl Sparse for ThreadId {
    const UNUSED: ThreadId = ThreadId(u32::MAX);
}

/// Row number of a process in [`Trace::processes`](super::Trace::processes).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct ProcessId(pub u32);

/// Index of a CPU in [`Trace::cpus`](super::Trace::cpus) (not its number, which may have holes).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct CpuId(pub u32);

/// A processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The CPU's number in the system.
    pub number: u32,
}

/// One life of a thread (task).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// The thread's number in the system (tid).
    pub tid: u64,
    /// The file's own id of the thread (etrace upid, FXT koid), else the tid.
    pub key: u64,
    /// The thread's process, if known.
    pub process: Option<ProcessId>,
    /// The thread's last name.
    pub name: StringId,
    /// Its rank among the threads of its process, smaller ones first, if the file states it.
    pub rank: Option<i64>,
    /// Time of creation, if the trace contains it.
    pub start: Option<Timestamp>,
    /// End time, if the trace contains it.
    pub end: Option<Timestamp>,
    /// The times of the thread's first and last event.
    pub seen: SeenTimes,
}

/// The times of the first and the last event of a thread or process; equal if it has one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenTimes {
    /// The first time.
    pub first: Timestamp,
    /// The last time.
    pub last: Timestamp,
}

impl SeenTimes {
    /// Returns the times of a thread or process with one event.
    pub(crate) const fn once(time: Timestamp) -> SeenTimes {
        SeenTimes {
            first: time,
            last: time,
        }
    }

    /// Includes the times of other events.
    pub(crate) fn include(&mut self, other: SeenTimes) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

impl Thread {
    pub(super) const fn nobody() -> Thread {
        Thread {
            tid: 0,
            key: 0,
            process: None,
            name: StringId::EMPTY,
            rank: None,
            start: None,
            end: None,
            seen: SeenTimes::once(Timestamp(0)),
        }
    }
}

/// One life of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// The process's number in the system (pid).
    pub pid: u64,
    /// The file's own id of the process, else the pid.
    pub key: u64,
    /// The process that created it, if known.
    pub parent: Option<ProcessId>,
    /// The process's main thread, if it has one.
    pub main_thread: Option<ThreadId>,
    /// The process's last name.
    pub name: StringId,
    /// Text that the file adds to the name.
    pub labels: StringId,
    /// Its rank among other processes, smaller ones first, if the file states it.
    pub rank: Option<i64>,
    /// Time of creation, if the trace contains it. If [`made`](Self::made) is `None`, the fork was lost, and this is
    /// the earliest time at which the process is known to exist.
    pub start: Option<Timestamp>,
    /// How the process was created; `None` if the trace does not contain its creation.
    pub made: Option<ForkSort>,
    /// End time, if the trace contains it.
    pub end: Option<Timestamp>,
    /// The event with which the process ended.
    pub exit_event: Option<EventId>,
    /// The process's exit code, if known.
    pub exit_status: Option<i32>,
    /// The signal that killed it, if known.
    pub exit_signal: Option<i32>,
    /// The programs that the process ran, in order.
    pub images: Vec<ProgramImage>,
    /// Number of files that the process opened.
    pub opens: u32,
    /// Parts of the environment as `NAME=value` strings: the variables that the file contains. Each part is shared by
    /// several processes.
    pub environment: Vec<Arc<[StringId]>>,
}

impl Process {
    /// Returns a process with only its numbers; everything else is unknown.
    #[must_use]
    pub fn new(pid: u64, key: u64) -> Process {
        Process {
            pid,
            key,
            parent: None,
            main_thread: None,
            name: StringId::EMPTY,
            labels: StringId::EMPTY,
            rank: None,
            start: None,
            made: None,
            end: None,
            exit_event: None,
            exit_status: None,
            exit_signal: None,
            images: Vec::new(),
            opens: 0,
            environment: Vec::new(),
        }
    }

    /// Returns whether the process may be a thread of its parent: it never ran a program, and the file does not contain
    /// how it was created.
    #[must_use]
    pub fn may_be_thread(&self) -> bool {
        self.made == Some(ForkSort::Unknown) && self.images.is_empty() && self.parent.is_some()
    }

    /// Returns when the process was created; `None` if that was before the trace, or was lost.
    #[must_use]
    pub(crate) fn born(&self) -> Option<Timestamp> {
        self.made.and(self.start)
    }

    /// Returns whether it is known how the process ended.
    #[must_use]
    pub(crate) fn has_known_exit(&self) -> bool {
        self.exit_signal.is_some() || self.exit_status.is_some()
    }

    /// Returns whether the process failed: an exit code other than 0, or a signal.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.exit_signal.is_some() || self.exit_status.is_some_and(|status| status != 0)
    }
}

/// A program that a process ran, from an exec to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramImage {
    /// Time of the exec.
    pub start: Timestamp,
    /// Its event, if there is one.
    pub event: Option<EventId>,
    /// The program's path.
    pub program: StringId,
    /// The arguments; the first is the program's own name.
    pub arguments: Vec<StringId>,
    /// The working directory, empty if not known.
    pub directory: StringId,
    /// The interpreter, empty if not known.
    pub interpreter: StringId,
}

/// Maps a thread key and a time to a thread.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ThreadMap {
    /// Thread ids indexed by key; `MANY` if the key was reused; `ABSENT` if unknown.
    dense: Vec<u32>,
    /// Thread ids of keys from [`DENSE_LIMIT`] on.
    sparse: FxHashMap<u32, u32>,
    /// For reused keys: (valid from, id), sorted by time; the first id is also valid before its time.
    many: FxHashMap<u32, Vec<(Timestamp, ThreadId)>>,
}

const ABSENT: u32 = u32::MAX;
const MANY: u32 = u32::MAX - 1;
/// Keys at or above this one are stored in a hash map (the kernel's pids end at 2^22).
const DENSE_LIMIT: u32 = 1 << 22;

impl ThreadMap {
    /// Maps `key` to `thread` from `from` on. Calls for one key must be in time order.
    pub(crate) fn insert(&mut self, key: ThreadKey, from: Timestamp, thread: ThreadId) {
        match self.entry(key) {
            ABSENT => self.set(key, thread.0),
            MANY => self.many.entry(key.0).or_default().push((from, thread)),
            first => {
                self.many.insert(
                    key.0,
                    vec![(Timestamp::MIN, ThreadId(first)), (from, thread)],
                );
                self.set(key, MANY);
            }
        }
    }

    fn set(&mut self, key: ThreadKey, value: u32) {
        if key.0 < DENSE_LIMIT {
            let index = key.0 as usize;
            if index >= self.dense.len() {
                self.dense.resize(index + 1, ABSENT);
            }
            self.dense[index] = value;
        } else {
            self.sparse.insert(key.0, value);
        }
    }

    #[inline]
    fn entry(&self, key: ThreadKey) -> u32 {
        match self.dense.get(key.0 as usize) {
            Some(&value) => value,
            None => self.sparse.get(&key.0).copied().unwrap_or(ABSENT),
        }
    }

    /// Returns the thread of `key` at `time`; `None` if the key is unknown.
    #[inline]
    #[must_use]
    pub fn at(&self, key: impl Into<Option<ThreadKey>>, time: Timestamp) -> Option<ThreadId> {
        let key = key.into()?;
        match self.entry(key) {
            MANY => {
                let lives = self.many.get(&key.0).map_or(&[][..], Vec::as_slice);
                let after = lives.partition_point(|(from, _)| *from <= time);
                lives.get(after.saturating_sub(1)).map(|(_, id)| *id)
            }
            id => Maybe::new(ThreadId(id)).get(),
        }
    }

    /// Returns the first thread of `key`; `None` if the key is unknown.
    #[must_use]
    pub(crate) fn first(&self, key: ThreadKey) -> Option<ThreadId> {
        self.at(key, Timestamp::MIN)
    }

    /// Returns the last thread of `key`; `None` if the key is unknown.
    #[must_use]
    pub(crate) fn last(&self, key: ThreadKey) -> Option<ThreadId> {
        self.at(key, Timestamp::MAX)
    }

    /// Returns the map with every thread id replaced by `rename(id)`.
    #[must_use]
    pub(crate) fn renamed(&self, rename: impl Fn(ThreadId) -> ThreadId) -> ThreadMap {
        let entry = |&value: &u32| match value {
            ABSENT | MANY => value,
            id => rename(ThreadId(id)).0,
        };
        ThreadMap {
            dense: self.dense.iter().map(entry).collect(),
            sparse: self
                .sparse
                .iter()
                .map(|(&key, value)| (key, entry(value)))
                .collect(),
            many: self
                .many
                .iter()
                .map(|(&key, lives)| {
                    (
                        key,
                        lives.iter().map(|&(from, id)| (from, rename(id))).collect(),
                    )
                })
                .collect(),
        }
    }

    /// Returns whether `key` is known.
    #[must_use]
    pub fn contains(&self, key: ThreadKey) -> bool {
        self.entry(key) != ABSENT
    }

    /// Returns whether `key` was never reused: it belongs to the same thread, or to none, at all times.
    #[must_use]
    pub(crate) fn is_unique(&self, key: impl Into<Option<ThreadKey>>) -> bool {
        (key.into()).is_none_or(|key| self.entry(key) != MANY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_key_means_another_thread_later() {
        let mut map = ThreadMap::default();
        let key = ThreadKey(7);
        map.insert(key, Timestamp(0), ThreadId(1));
        assert_eq!(map.at(key, Timestamp(99)), Some(ThreadId(1)));
        map.insert(key, Timestamp(50), ThreadId(2));
        map.insert(key, Timestamp(80), ThreadId(3));
        map.insert(ThreadKey(u32::MAX - 9), Timestamp(0), ThreadId(9));
        assert_eq!(map.at(key, Timestamp(-5)), Some(ThreadId(1)));
        assert_eq!(map.at(key, Timestamp(50)), Some(ThreadId(2)));
        assert_eq!(map.at(key, Timestamp(1000)), Some(ThreadId(3)));
        assert_eq!(
            map.at(ThreadKey(u32::MAX - 9), Timestamp(0)),
            Some(ThreadId(9))
        );
        assert_eq!(map.at(ThreadKey(8), Timestamp(0)), None);
    }
}
