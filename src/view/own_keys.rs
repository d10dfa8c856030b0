//! Keys that tell the rows of threads and processes apart.
//!
//! A row has its thread's or process's own key in the file, so that it is the same in the next generation and the next
//! session. Files use a key again: for a pid that the kernel gives to another task, and for threads of one number in
//! several processes. The first row has the key itself; rows of later uses and of later files have a hash.

use rustc_hash::FxHashMap;

use super::outline::hash_of;
use crate::trace::{ProcessId, SourceId, ThreadId, Trace};

/// The keys of rows that are not the file's own.
pub(super) struct OwnKeys<'a> {
    trace: &'a Trace,
    /// Threads and processes whose key was used before, with their own.
    threads: FxHashMap<u32, u64>,
    processes: FxHashMap<u32, u64>,
}

impl<'a> OwnKeys<'a> {
    pub(super) fn new(trace: &'a Trace) -> OwnKeys<'a> {
        let mut keys = OwnKeys {
            trace,
            threads: FxHashMap::default(),
            processes: FxHashMap::default(),
        };
        keys.threads =
            used_before((0..trace.threads.len() as u32).map(|id| keys.thread(ThreadId(id))));
        let processes = 0..trace.processes.len() as u32;
        keys.processes = used_before(processes.map(|id| keys.process(ProcessId(id))));
        keys
    }

    pub(super) fn thread(&self, id: ThreadId) -> u64 {
        self.threads.get(&id.0).copied().unwrap_or_else(|| {
            let source = self.trace.source_of(id.0, |source| &source.threads);
            in_source(source, self.trace.thread(id).key)
        })
    }

    pub(super) fn process(&self, id: ProcessId) -> u64 {
        self.processes.get(&id.0).copied().unwrap_or_else(|| {
            let source = self.trace.source_of(id.0, |source| &source.processes);
            let process = self.trace.processes.get(id.0 as usize);
            in_source(source, process.map_or(u64::MAX, |process| process.key))
        })
    }
}

/// Returns the indices of keys that occurred before, each with a key of its own.
fn used_before(keys: impl Iterator<Item = u64>) -> FxHashMap<u32, u64> {
    let mut uses: FxHashMap<u64, u32> = FxHashMap::default();
    let mut own = FxHashMap::default();
    for (id, key) in (0..).zip(keys) {
        let before = uses.entry(key).or_default();
        if *before > 0 {
            own.insert(id, hash_of((key, *before)));
        }
        *before += 1;
    }
    own
}

/// Returns a file's own key, made distinct from equal keys of other files.
pub(super) fn in_source(source: Option<SourceId>, key: u64) -> u64 {
    match source {
        None | Some(SourceId(0)) => key,
        Some(source) => hash_of((source.0, key)),
    }
}
