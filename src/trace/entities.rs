//! Threads, processes and CPUs: each row is one thing only, even where the file reused its number.

use super::events::EventId;
use crate::base::{StringId, Timestamp};
use crate::event::{ForkSort, ThreadKey};
use rustc_hash::FxHashMap;

/// Row number of a thread in [`Trace::threads`](super::Trace::threads).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// The idle task of whatever CPU it is: always the first row.
    pub const IDLE: ThreadId = ThreadId(0);
    /// Nobody known.
    pub const NONE: ThreadId = ThreadId(u32::MAX);
}

/// Row number of a process in [`Trace::processes`](super::Trace::processes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId(pub u32);

/// Index of a CPU in [`Trace::cpus`](super::Trace::cpus) (not its number, which may have holes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuId(pub u32);

/// A processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Its number as the system counts.
    pub number: u32,
}

/// A thread (task): one life of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The number that people know it by.
    pub tid: u64,
    /// The file's own name for it (etrace upid, FXT koid), else the tid.
    pub key: u64,
    /// Its process, where known.
    pub process: Option<ProcessId>,
    /// Its last name.
    pub name: StringId,
    /// When it was made, if the trace saw it.
    pub start: Option<Timestamp>,
    /// When it ended, if the trace saw it.
    pub end: Option<Timestamp>,
    /// The first and last time that it was seen doing anything.
    pub seen: (Timestamp, Timestamp),
}

impl Thread {
    pub(super) const fn nobody() -> Thread {
        Thread {
            tid: 0,
            key: 0,
            process: None,
            name: StringId::EMPTY,
            start: None,
            end: None,
            seen: (Timestamp(0), Timestamp(0)),
        }
    }
}

/// A process: one life of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// The number that people know it by.
    pub pid: u64,
    /// The file's own name for it, else the pid.
    pub key: u64,
    /// Who made it, where known.
    pub parent: Option<ProcessId>,
    /// Its main thread, where it has one.
    pub main_thread: Option<ThreadId>,
    /// Its last name.
    pub name: StringId,
    /// When it was made, if that was in the trace; where [`made`](Self::made) is `None` its fork was lost, and this is
    /// when it was there at the latest.
    pub start: Option<Timestamp>,
    /// How it was made, as far as the file says; `None` if the trace did not see it.
    pub made: Option<ForkSort>,
    /// When it ended, if the trace saw it.
    pub end: Option<Timestamp>,
    /// The event of its end.
    pub exit_event: Option<EventId>,
    /// Its exit code, where known.
    pub exit_status: Option<i32>,
    /// The signal that killed it, where known.
    pub exit_signal: Option<i32>,
    /// The programs that it ran, in order.
    pub images: Vec<ProgramImage>,
    /// How many files it opened.
    pub opens: u32,
    /// Its environment, `NAME=value` each, sorted, as far as the file has it.
    pub environment: Vec<StringId>,
}

impl Process {
    /// One of which nothing but its numbers is known.
    #[must_use]
    pub fn new(pid: u64, key: u64) -> Process {
        Process {
            pid,
            key,
            parent: None,
            main_thread: None,
            name: StringId::EMPTY,
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

    /// Whether it may be a thread of its parent: it never ran a program, and the file does not say how it was made.
    #[must_use]
    pub fn may_be_thread(&self) -> bool {
        self.made == Some(ForkSort::Unknown) && self.images.is_empty() && self.parent.is_some()
    }

    /// Whether it failed: an exit code but 0, or a signal.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.exit_signal.is_some() || self.exit_status.is_some_and(|status| status != 0)
    }
}

/// A program that a process ran, from an exec to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramImage {
    /// When it was loaded.
    pub start: Timestamp,
    /// Its path.
    pub program: StringId,
    /// Its arguments, the first is the program's own name.
    pub arguments: Vec<StringId>,
    /// The working directory, empty if not known.
    pub directory: StringId,
    /// The interpreter, empty if not known.
    pub interpreter: StringId,
}

/// Which thread a key meant at which time.
#[derive(Clone, Debug, Default)]
pub struct ThreadMap {
    /// By key, for keys below its length: a thread id; `MANY` if the key was reused; `ABSENT` if unknown.
    dense: Vec<u32>,
    /// The same for larger keys.
    sparse: FxHashMap<u32, u32>,
    /// For reused keys: (valid from, id), sorted; the first is valid before its time as well.
    many: FxHashMap<u32, Vec<(Timestamp, ThreadId)>>,
}

const ABSENT: u32 = u32::MAX;
const MANY: u32 = u32::MAX - 1;
/// Keys from here on are kept in a hash map (the kernel's pids end at 2^22).
const DENSE_LIMIT: u32 = 1 << 22;

impl ThreadMap {
    /// Says that `key` means `thread` from `from` on. Calls for one key come in time order.
    pub fn insert(&mut self, key: ThreadKey, from: Timestamp, thread: ThreadId) {
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

    /// The thread that `key` meant at `time`; [`ThreadId::NONE`] if the key is unknown.
    #[inline]
    #[must_use]
    pub fn at(&self, key: ThreadKey, time: Timestamp) -> ThreadId {
        match self.entry(key) {
            MANY => {
                let lives = self.many.get(&key.0).map_or(&[][..], Vec::as_slice);
                let after = lives.partition_point(|(from, _)| *from <= time);
                lives
                    .get(after.saturating_sub(1))
                    .map_or(ThreadId::NONE, |(_, id)| *id)
            }
            id => ThreadId(id),
        }
    }

    /// The same keys for threads that have other ids now.
    #[must_use]
    pub fn renamed(&self, rename: impl Fn(ThreadId) -> ThreadId) -> ThreadMap {
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

    /// Beyond all small keys that are known.
    #[must_use]
    pub fn small_keys_end(&self) -> u32 {
        self.dense.len() as u32
    }

    /// Whether `key` is known.
    #[must_use]
    pub fn contains(&self, key: ThreadKey) -> bool {
        self.entry(key) != ABSENT
    }

    /// Whether `key` means the same thread at all times.
    #[must_use]
    pub fn is_unique(&self, key: ThreadKey) -> bool {
        self.entry(key) != MANY
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
        assert_eq!(map.at(key, Timestamp(99)), ThreadId(1));
        map.insert(key, Timestamp(50), ThreadId(2));
        map.insert(key, Timestamp(80), ThreadId(3));
        map.insert(ThreadKey(u32::MAX - 9), Timestamp(0), ThreadId(9));
        assert_eq!(map.at(key, Timestamp(-5)), ThreadId(1));
        assert_eq!(map.at(key, Timestamp(50)), ThreadId(2));
        assert_eq!(map.at(key, Timestamp(1000)), ThreadId(3));
        assert_eq!(map.at(ThreadKey(u32::MAX - 9), Timestamp(0)), ThreadId(9));
        assert_eq!(map.at(ThreadKey(8), Timestamp(0)), ThreadId::NONE);
    }
}
