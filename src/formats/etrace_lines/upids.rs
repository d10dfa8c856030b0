//! Maps upids to keys: each task of the file has one key, in all parts.
//!
//! ```text
//! upid = serial << 22 | low 22 bits of the pid      serial counts traced tasks from 1
//! upid = serial                                     if the tracer was loaded with bits_of_real_pid=0
//! serial part all ones                              the tracer failed to register the task
//! ```
//!
//! The key is the serial unless another upid already has it, so keys are in the order in which tasks appeared; further
//! upids of damaged or joined files get keys from 2^31. Lines of a task that could not be registered contain a stale
//! upid with the same pid, whose owner `assemble` finds.
//!
//! Of the 21 etrace files of the corpus, 2 contain upids without a pid, and 1 contains unregistered tasks (3 of
//! them); none contains two upids with one serial.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::event::keys::Alias;
use crate::event::{Directory, ThreadEntry, ThreadKey};

/// Number of pid bits in a upid.
const PID_BITS: u32 = 22;
const PID_MASK: i64 = (1 << PID_BITS) - 1;
/// The serial part of the upid of a task that could not be registered.
const UNREGISTERED: i64 = i64::MAX >> PID_BITS;
const FIRST_EXTRA: u32 = 1 << 31;
/// A serial is stored in the list `in_order` if it exceeds twice the number of serials so far by less than this.
const MOST_AHEAD: usize = 1 << 12;

/// The composition of a upid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Form {
    /// A serial number and the pid.
    SerialAndPid,
    /// A serial number alone, or (very old files) a pid alone.
    Plain,
}

/// The source of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    Serials,
    Pids,
}

/// The keys of one file.
#[derive(Debug)]
pub(crate) struct Upids {
    form: Form,
    root: Option<i64>,
    names: Names,
    /// The pid of each upid that does not contain one.
    pids: FxHashMap<i64, u32>,
    shared: Mutex<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// The upid of each serial that is a key, as long as serials are dense; 0: there is none.
    in_order: Vec<i64>,
    /// Number of upids in `in_order`.
    count: usize,
    /// The keys of all other upids; `owners` contains the upids of these keys.
    keys: FxHashMap<i64, u32>,
    owners: FxHashMap<u32, i64>,
    extra: u32,
}

impl Shared {
    /// Returns the upid that has this serial as its key.
    fn owner(&self, serial: u32) -> Option<i64> {
        let in_order = self.in_order.get(serial as usize).copied();
        in_order
            .filter(|&upid| upid != 0)
            .or_else(|| self.owners.get(&serial).copied())
    }

    /// Makes `key` the key of `upid`.
    fn keep(&mut self, upid: i64, key: u32) {
        let index = key as usize;
        if index >= self.in_order.len() && index < 2 * self.count + MOST_AHEAD {
            self.in_order.resize((index + 1).next_power_of_two(), 0);
        }
        match self.in_order.get_mut(index) {
            Some(slot) => {
                *slot = upid;
                self.count += 1;
            }
            None => {
                self.keys.insert(upid, key);
                self.owners.insert(key, upid);
            }
        }
    }

    /// Returns all upids with their keys, sorted.
    fn all(&self) -> Vec<(i64, u32)> {
        let in_order = self.in_order.iter().zip(0_u32..);
        let mut all: Vec<(i64, u32)> = in_order
            .filter(|(upid, _)| **upid != 0)
            .map(|(&upid, key)| (upid, key))
            .chain(self.keys.iter().map(|(&upid, &key)| (upid, key)))
            .collect();
        all.sort_unstable();
        all
    }
}

impl Upids {
    /// Returns an empty map; `root` is the upid of the traced shell, if known.
    #[must_use]
    pub(crate) fn new(form: Form, root: Option<i64>) -> Upids {
        Upids {
            form,
            root,
            names: Names::Serials,
            pids: FxHashMap::default(),
            shared: Mutex::default(),
        }
    }

    /// Returns a map for lines in a recording that identifies tasks by pid. `pids` contains the pid of each upid
    /// without one; a upid that is missing there gets a key of its own.
    #[must_use]
    pub(crate) fn of_pids(form: Form, pids: FxHashMap<i64, u32>) -> Upids {
        Upids {
            names: Names::Pids,
            pids,
            ..Upids::new(form, None)
        }
    }

    /// Returns the form of upids, given the smallest one other than 0.
    #[must_use]
    pub(crate) fn form_of(smallest: i64) -> Form {
        if smallest > PID_MASK {
            Form::SerialAndPid
        } else {
            Form::Plain
        }
    }

    /// Returns the form of the upids.
    #[must_use]
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Returns the pid of each upid that does not contain one, as [`Upids::of_pids`] was given them.
    #[must_use]
    pub(crate) fn pids(&self) -> &FxHashMap<i64, u32> {
        &self.pids
    }

    fn serial(&self, upid: i64) -> i64 {
        Upids::serial_of(self.form, upid)
    }

    /// Returns the serial number of a upid.
    #[must_use]
    pub(crate) fn serial_of(form: Form, upid: i64) -> i64 {
        match form {
            Form::SerialAndPid => upid >> PID_BITS,
            Form::Plain => upid,
        }
    }

    /// Returns the pid that is shown for a task.
    #[must_use]
    pub(crate) fn pid(&self, upid: i64) -> u64 {
        match self.form {
            Form::SerialAndPid => (upid & PID_MASK) as u64,
            Form::Plain => self.pids.get(&upid).map_or(upid as u64, |&pid| pid.into()),
        }
    }

    /// Returns the key of a upid, always the same one. Slow, because of a lock: parts cache the results.
    #[must_use]
    pub(crate) fn key(&self, upid: i64) -> ThreadKey {
        if upid <= 0 {
            return ThreadKey::IDLE;
        }
        if (self.names, self.form) == (Names::Pids, Form::SerialAndPid) {
            return ThreadKey((upid & PID_MASK) as u32);
        }
        if let Some(&pid) = self.pids.get(&upid) {
            return ThreadKey(pid);
        }
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let serial = u32::try_from(self.serial(upid))
            .ok()
            .filter(|_| self.names == Names::Serials)
            .filter(|&serial| serial > 0 && serial < FIRST_EXTRA);
        let owner = serial.and_then(|serial| shared.owner(serial));
        if let Some(serial) = serial.filter(|_| owner == Some(upid)) {
            return ThreadKey(serial);
        }
        if let Some(&key) = shared.keys.get(&upid) {
            return ThreadKey(key);
        }
        let wished = serial.filter(|_| owner.is_none());
        let key = wished.unwrap_or_else(|| {
            let key = FIRST_EXTRA.saturating_add(shared.extra);
            shared.extra = (shared.extra + 1).min(FIRST_EXTRA - 2);
            key
        });
        shared.keep(upid, key);
        ThreadKey(key)
    }

    /// Adds all tasks to the directory.
    pub(crate) fn list_into(&self, directory: &mut Directory) {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let all = shared.all();
        let shell = directory.strings.intern_text("(etrace shell)");
        for &(upid, key) in &all {
            directory.threads.push(ThreadEntry {
                key: ThreadKey(key),
                tid: self.pid(upid),
                file_key: upid as u64,
                process: None,
                name: (self.root == Some(upid)).then_some(shell),
            });
        }
        if self.form == Form::Plain {
            return;
        }
        // Unregistered tasks have the largest upids.
        let registered = all.partition_point(|row| row.0 >> PID_BITS < UNREGISTERED);
        let (registered, unregistered) = all.split_at(registered);
        if unregistered.is_empty() {
            return;
        }
        let mut of_pid: FxHashMap<i64, Vec<ThreadKey>> = FxHashMap::default();
        for &(upid, key) in registered {
            of_pid
                .entry(upid & PID_MASK)
                .or_default()
                .push(ThreadKey(key));
        }
        for &(upid, key) in unregistered {
            if let Some(candidates) = of_pid.get(&(upid & PID_MASK)) {
                directory.aliases.push(Alias {
                    key: ThreadKey(key),
                    candidates: candidates.clone(),
                });
            }
        }
    }

    /// Returns the heap memory of the maps, in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        (shared.in_order.capacity() * 8
            + shared.keys.capacity() * 17
            + shared.owners.capacity() * 17) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_serial_is_the_key_where_it_can_be() {
        let upids = Upids::new(Upids::form_of(4_194_445), Some(4_194_445));
        assert_eq!(upids.key(4_194_445), ThreadKey(1));
        assert_eq!(upids.key(8_388_772), ThreadKey(2));
        assert_eq!(upids.key(0), ThreadKey::IDLE);
        assert_eq!(upids.key(8_388_773), ThreadKey(FIRST_EXTRA));
        assert_eq!(upids.key(8_388_773), ThreadKey(FIRST_EXTRA));
        // A serial far ahead allocates no entries for all serials before it, and keeps its key when these follow.
        let far = 1_000_000 << 22 | 7;
        for serial in 3..600_000_i64 {
            if serial % 100_000 == 0 {
                assert_eq!(upids.key(far), ThreadKey(1_000_000));
                assert_eq!(upids.key(far + 1), ThreadKey(FIRST_EXTRA + 1));
            }
            assert_eq!(upids.key(serial << 22 | 9), ThreadKey(serial as u32));
        }
        let mut directory = Directory::default();
        upids.list_into(&mut directory);
        assert_eq!(directory.threads.len(), 600_002);
        assert!(directory.threads.is_sorted_by_key(|entry| entry.file_key));
        assert_eq!(upids.pid(8_388_772), 164);
        let plain = Upids::new(Upids::form_of(9183), None);
        assert_eq!((plain.key(9183), plain.pid(9183)), (ThreadKey(9183), 9183));
    }

    #[test]
    fn unregistered_tasks_are_listed_with_those_of_equal_pid() {
        let upids = Upids::new(Form::SerialAndPid, Some(4_194_445));
        let stale = upids.key(16_777_609);
        let _ = upids.key(16_777_610);
        let child = upids.key(9_223_372_036_850_581_897);
        let mut directory = Directory::default();
        upids.list_into(&mut directory);
        assert_eq!(
            directory.aliases,
            vec![Alias {
                key: child,
                candidates: vec![stale]
            }]
        );
    }
}
