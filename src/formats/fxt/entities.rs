//! Threads, processes and named kernel objects: maps koids to the keys of our columns and lists them in the directory.
//!
//! The fold registers every (process, thread) pair and every scheduled thread in file order, so that keys are the same
//! in every run and the parallel parts only look them up. Scheduling records of the newer form contain no process: it
//! comes from a kernel object record or any reference to the same thread koid, anywhere in the file. Threads that only
//! the parts can find (an unregistered table index, a waker that never ran) are added later, under a lock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::lives::{LifeOf, Lives, ObjectLife};
use super::named_objects::{
    KernelObject, NamedObject, OBJECT_OTHER, OBJECT_PROCESS, OBJECT_THREAD, ObjectName,
    object_type_name, sort_of,
};
use crate::base::{Maybe, StringId, Strings};
use crate::event::{Directory, ProcessEntry, ProcessKey, ThreadEntry, ThreadKey, Ties};
use crate::fxt::agreed::{MACHINE, cpu_of_koid, is_stand_in, number_of_koid};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Thread {
    process: Option<ProcessKey>,
    process_koid: u64,
    tid: u64,
}

/// The writer of a file; some koids depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// Our own exporter, of a trace that was not FXT: koid 0 is the idle thread, and the machine's koid is no thread.
    Ours,
    /// Another program, or our exporter with another program's records.
    Another,
}

/// What the numbers of processes and threads are made of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbering {
    /// Whether our own exporter wrote the file.
    pub ties: Ties,
    /// The highest count in artificial koids for reused numbers.
    pub reused_numbers: u64,
}

/// A registered thread that represents no real thread.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Nobody {
    registered: ThreadKey,
    meant: Maybe<ThreadKey>,
}

/// A thread that only the bulk pass finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum LateThread {
    /// A koid that the fold did not find as a thread.
    Koid(u64),
    /// A table index that was never registered.
    Unresolved {
        /// Id of the provider.
        provider: u32,
        /// The thread index.
        index: u8,
    },
    /// Artificial thread for a provider's records without a thread (blobs, objects of a process); by provider slot.
    Provider(u32),
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Late {
    keys: FxHashMap<LateThread, ThreadKey>,
    order: Vec<LateThread>,
}

/// All threads, processes and named objects of a file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Entities {
    threads: Vec<Thread>,
    pairs: FxHashMap<(u64, u64), Maybe<ThreadKey>>,
    by_tid: FxHashMap<u64, ThreadKey>,
    processes: Vec<u64>,
    process_keys: FxHashMap<u64, ProcessKey>,
    /// Threads in a file of our own exporter that represent no real thread, each with the key that its events get
    /// instead.
    nobodies: Vec<Nobody>,
    /// Whether koid 0 belongs to a thread that appears outside scheduling records.
    has_thread_zero: bool,
    scheduled: Vec<u64>,
    is_scheduled: FxHashSet<u64>,
    object_threads: Vec<(u64, ThreadKey)>,
    /// By (koid, class of object type).
    objects: FxHashMap<(u64, u64), ObjectName>,
    thread_names: FxHashMap<ThreadKey, StringId>,
    lives: Lives,
    strings: Strings,
    /// For each thread, whether it has an event. Threads without events and names are not listed.
    used: Vec<AtomicBool>,
    late: Mutex<Late>,
    /// The names of the providers' artificial threads, by slot.
    provider_names: Vec<String>,
}

/// The koids of a thread and of its process; each is `None` if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownKoids {
    pub process: Option<u64>,
    pub thread: Option<u64>,
}

impl Entities {
    /// Returns the key of a process, and adds it if it is new.
    pub(crate) fn process(&mut self, koid: u64) -> ProcessKey {
        let next = ProcessKey(self.processes.len() as u32);
        let key = *self.process_keys.entry(koid).or_insert(next);
        if key == next {
            self.processes.push(koid);
        }
        key
    }

    /// Returns the key of a thread, and adds it if it is new.
    pub(crate) fn pair(&mut self, process_koid: u64, tid: u64) -> ThreadKey {
        if let Some(key) = self.known_pair(process_koid, tid) {
            return key;
        }
        let process = Some(self.process(process_koid));
        let key = self.push(Thread {
            process,
            process_koid,
            tid,
        });
        self.pairs.insert((process_koid, tid), key.into());
        key
    }

    fn push(&mut self, thread: Thread) -> ThreadKey {
        self.threads.push(thread);
        // Key 0 belongs to the idle thread.
        ThreadKey(self.threads.len() as u32)
    }

    /// Registers a thread that a scheduling record names without its process.
    pub(crate) fn add_scheduled(&mut self, tid: u64) {
        if self.is_scheduled.insert(tid) {
            self.scheduled.push(tid);
        }
    }

    /// Adds a kernel object record.
    pub(crate) fn add_object(&mut self, object: &KernelObject<'_>) {
        let KernelObject {
            koid,
            object_type,
            name,
            process,
            with_arguments,
        } = *object;
        let id = self.strings.intern(name);
        let sort = sort_of(object_type);
        let known = self.objects.get(&(koid, sort)).copied();
        // Some providers cut names: the longest name is the complete one.
        if known.is_none_or(|known| self.strings.bytes(known.name).len() <= name.len()) {
            let entry = ObjectName {
                object_type,
                name: id,
                with_arguments: with_arguments.or(known.and_then(|known| known.with_arguments)),
            };
            self.objects.insert((koid, sort), entry);
        }
        match (object_type, process) {
            (OBJECT_PROCESS, _) => {
                self.process(koid);
            }
            (OBJECT_THREAD, Some(process)) => {
                let key = self.pair(process, koid);
                self.object_threads.push((koid, key));
                let old = self.thread_names.get(&key).copied();
                if old.is_none_or(|old| self.strings.bytes(old).len() <= name.len()) {
                    self.thread_names.insert(key, id);
                }
            }
            (OBJECT_THREAD, None) => self.add_scheduled(koid),
            _ => {}
        }
    }

    /// Adds lifetime facts of a kernel object record.
    pub(crate) fn add_life(&mut self, object: &KernelObject<'_>, life: &ObjectLife<'_>) {
        let koid = object.koid;
        let of = match (object.object_type, object.process) {
            (OBJECT_PROCESS, _) => LifeOf::Process(self.process(koid)),
            (OBJECT_THREAD, Some(process)) => LifeOf::Thread(self.pair(process, koid)),
            _ => return,
        };
        self.lives.add(of, life, &mut self.strings);
    }

    /// Ends the fold: finds the processes of scheduled threads. Must be called exactly once.
    pub(crate) fn finish(&mut self, provider_names: Vec<String>, writer: Writer) {
        self.provider_names = provider_names;
        if writer == Writer::Ours {
            for (koid, meant) in [(0, ThreadKey::IDLE.into()), (MACHINE, Maybe::NONE)] {
                if let Some(key) = self.pairs.get_mut(&(koid, koid))
                    && let Some(registered) = std::mem::replace(key, meant).get()
                {
                    self.nobodies.push(Nobody { registered, meant });
                }
            }
        }
        for (tid, key) in &self.object_threads {
            self.by_tid.insert(*tid, *key);
        }
        for wants_process in [true, false] {
            for (index, thread) in self.threads.iter().enumerate() {
                let key = ThreadKey(index as u32 + 1);
                let is_nobody = self.nobodies.iter().any(|it| it.registered == key);
                if (thread.process_koid != 0) == wants_process && !is_nobody {
                    self.by_tid.entry(thread.tid).or_insert(key);
                }
            }
        }
        self.has_thread_zero = self.by_tid.contains_key(&0);
        for tid in std::mem::take(&mut self.scheduled) {
            if !self.by_tid.contains_key(&tid) {
                let process = self.process_by_number(tid);
                let key = self.push(Thread {
                    process,
                    process_koid: process.map_or(0, |_| tid),
                    tid,
                });
                self.by_tid.insert(tid, key);
            }
        }
        self.is_scheduled = FxHashSet::default();
        self.used
            .resize_with(self.threads.len(), AtomicBool::default);
    }

    /// Returns the process whose koid equals the number of an otherwise unknown thread. If processes and threads share
    /// numbers (Linux), the thread is the main thread of that process; on Fuchsia no two have the same number.
    fn process_by_number(&self, tid: u64) -> Option<ProcessKey> {
        self.process_keys.get(&tid).copied().filter(|_| tid != 0)
    }

    fn mark_used(&self, key: ThreadKey) {
        if let Some(used) = self.used.get((key.0 as usize).wrapping_sub(1)) {
            used.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the key of a thread with a known process, and marks it as used by an event; none for the artificial
    /// thread of the machine.
    #[must_use]
    pub(crate) fn find_pair(&self, process_koid: u64, tid: u64) -> Maybe<ThreadKey> {
        match self.pairs.get(&(process_koid, tid)) {
            Some(&key) => {
                if let Some(key) = key.get() {
                    self.mark_used(key);
                }
                key
            }
            None => self.find_late(LateThread::Koid(tid)).into(),
        }
    }

    /// Returns the key of a thread with a known process, if the fold found it.
    #[must_use]
    pub(crate) fn known_pair(&self, process_koid: u64, tid: u64) -> Option<ThreadKey> {
        self.pairs.get(&(process_koid, tid))?.get()
    }

    /// Returns the key of a thread known only by its koid, and marks it as used by an event.
    #[must_use]
    pub(crate) fn find_tid(&self, tid: u64) -> ThreadKey {
        match self.by_tid.get(&tid) {
            Some(&key) => {
                self.mark_used(key);
                key
            }
            None => self.find_late(LateThread::Koid(tid)),
        }
    }

    /// Returns whether koid 0 belongs to a thread with events or a name. Otherwise it is the idle thread.
    #[must_use]
    pub(crate) fn has_thread_zero(&self) -> bool {
        self.has_thread_zero
    }

    /// Marks a thread of a thread table as used by an event, and returns the key that the event gets.
    #[must_use]
    pub(crate) fn use_thread(&self, registered: ThreadKey) -> Maybe<ThreadKey> {
        let mut nobodies = self.nobodies.iter();
        if let Some(nobody) = nobodies.find(|it| it.registered == registered) {
            return nobody.meant;
        }
        self.mark_used(registered);
        registered.into()
    }

    /// Returns the key of a thread that the fold did not find, and adds it if it is new.
    #[must_use]
    pub(crate) fn find_late(&self, thread: LateThread) -> ThreadKey {
        let mut late = self.late();
        let next = ThreadKey((self.threads.len() + late.order.len()) as u32 + 1);
        let key = *late.keys.entry(thread).or_insert(next);
        if key == next {
            late.order.push(thread);
        }
        key
    }

    /// Numbers the threads that were added late in sorted order instead of the order of discovery. Returns the new key
    /// of each thread whose key changed.
    pub(crate) fn settle_late(&self) -> FxHashMap<ThreadKey, ThreadKey> {
        let mut late = self.late();
        let before = late.order.clone();
        late.order.sort_unstable();
        let first = self.threads.len() as u32 + 1;
        let keys = late.order.iter().zip(first..);
        late.keys = keys
            .map(|(&thread, key)| (thread, ThreadKey(key)))
            .collect();
        let moved = before.iter().zip(first..).filter_map(|(thread, old)| {
            let new = *late.keys.get(thread)?;
            (new.0 != old).then_some((ThreadKey(old), new))
        });
        moved.collect()
    }

    fn late(&self) -> MutexGuard<'_, Late> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the process of a thread, if the file names it.
    #[must_use]
    pub(crate) fn process_of(&self, key: ThreadKey) -> Option<ProcessKey> {
        self.known(key)?.process
    }

    fn known(&self, key: ThreadKey) -> Option<&Thread> {
        self.threads.get((key.0 as usize).checked_sub(1)?)
    }

    /// Returns the CPU that a thread of our own exporter represents; `None` for other threads.
    #[must_use]
    #[inline]
    pub(crate) fn cpu_of(&self, key: ThreadKey) -> Option<u16> {
        cpu_of_koid(self.known(key)?.tid)
    }

    /// Returns the koids of a thread and of its process; each is `None` if unknown.
    #[must_use]
    pub(crate) fn koids_of(&self, key: ThreadKey) -> KnownKoids {
        if let Some(thread) = self.known(key) {
            return KnownKoids {
                process: thread.process.map(|_| thread.process_koid),
                thread: Some(thread.tid),
            };
        }
        let late = self.late();
        let index = (key.0 as usize).wrapping_sub(self.threads.len() + 1);
        match late.order.get(index) {
            Some(LateThread::Koid(tid)) => KnownKoids {
                process: None,
                thread: Some(*tid),
            },
            _ => KnownKoids::default(),
        }
    }

    /// Returns the name of a thread; empty if it has none.
    #[must_use]
    pub(crate) fn thread_name(&self, key: ThreadKey) -> String {
        if key == ThreadKey::IDLE {
            return "idle".to_owned();
        }
        if let Some(thread) = self.known(key) {
            return self
                .name_id(key, thread.tid)
                .map_or_else(String::new, |id| self.strings.text(id).into_owned());
        }
        let late = self.late();
        let index = (key.0 as usize).wrapping_sub(self.threads.len() + 1);
        late.order
            .get(index)
            .map_or_else(String::new, |thread| self.late_name(*thread))
    }

    fn name_id(&self, key: ThreadKey, tid: u64) -> Option<StringId> {
        let own = self.thread_names.get(&key).copied();
        own.or_else(|| Some(self.objects.get(&(tid, OBJECT_THREAD))?.name))
    }

    /// Returns type and name of a koid as text: `thread render`, `process 12`; empty if no record names the koid.
    #[must_use]
    pub(crate) fn object_text(&self, koid: u64) -> String {
        [OBJECT_OTHER, OBJECT_PROCESS, OBJECT_THREAD]
            .into_iter()
            .find_map(|sort| self.objects.get(&(koid, sort)))
            .map_or_else(String::new, |object| {
                let name = self.strings.text(object.name);
                format!("{} {name}", object_type_name(object.object_type))
            })
    }

    /// Returns the named objects for which the model has no table, and processes and threads whose records have
    /// arguments other than the process; in no particular order.
    pub(crate) fn objects_to_list(&self) -> impl Iterator<Item = NamedObject<'_>> {
        let listed = self
            .objects
            .iter()
            .filter(|((_, sort), object)| *sort == OBJECT_OTHER || object.with_arguments.is_some());
        listed.map(|(&(koid, _), object)| NamedObject {
            object_type: object.object_type,
            koid,
            name: self.strings.bytes(object.name),
            with_arguments: object.with_arguments,
        })
    }

    /// Returns the name of the artificial thread of a provider.
    #[must_use]
    pub(crate) fn provider_thread_name(&self, slot: u32) -> String {
        self.late_name(LateThread::Provider(slot))
    }

    /// Adds all threads, processes and names to a directory that already contains its kinds. In files of our own
    /// exporter (`Ties::First`), the threads of CPUs are not listed, because their events belong to the CPUs; that of the
    /// machine is listed only if it has events.
    pub(crate) fn list_into(&self, directory: &mut Directory, numbering: Numbering) {
        let is_ours = numbering.ties == Ties::First;
        let listed = self.threads.len().saturating_add(self.processes.len());
        let most = numbering.reused_numbers.max(listed as u64);
        let number_of = |koid| match is_ours {
            true => number_of_koid(koid, most),
            false => koid,
        };
        let name_of = |strings: &mut Strings, id: StringId| strings.intern(self.strings.bytes(id));
        let mut lists_process = vec![false; self.processes.len()];
        for (index, thread) in self.threads.iter().enumerate() {
            let key = ThreadKey(index as u32 + 1);
            let name = self.name_id(key, thread.tid);
            let is_used = self
                .used
                .get(index)
                .is_some_and(|used| used.load(Ordering::Relaxed));
            let is_named = name.is_some() && !(is_ours && is_stand_in(thread.tid));
            let is_of_cpu = is_ours && cpu_of_koid(thread.tid).is_some();
            if is_of_cpu || !is_used && !is_named {
                continue;
            }
            if let Some(listed) = thread
                .process
                .and_then(|process| lists_process.get_mut(process.0 as usize))
            {
                *listed = true;
            }
            let name = name.map(|id| name_of(&mut directory.strings, id));
            directory.threads.push(ThreadEntry {
                key,
                tid: number_of(thread.tid),
                file_key: thread.tid,
                process: thread.process,
                name,
            });
        }
        for thread in &self.late().order {
            if let LateThread::Koid(tid) = thread
                && let Some(process) = self.process_by_number(*tid)
                && let Some(listed) = lists_process.get_mut(process.0 as usize)
            {
                *listed = true;
            }
        }
        for (&koid, listed) in self.processes.iter().zip(lists_process) {
            let named = self.objects.get(&(koid, OBJECT_PROCESS));
            if is_ours && !listed && is_stand_in(koid) {
                continue;
            }
            let Some(&key) = self.process_keys.get(&koid) else {
                continue;
            };
            if listed || named.is_some() {
                let name = named.map(|object| name_of(&mut directory.strings, object.name));
                directory.processes.push(ProcessEntry {
                    key,
                    pid: number_of(koid),
                    file_key: koid,
                    name,
                });
            }
        }
        self.list_late_into(directory, number_of);
        let process_of = |koid| self.process_keys.get(&koid).copied();
        self.lives.list_into(directory, process_of, name_of);
    }

    fn list_late_into(&self, directory: &mut Directory, number_of: impl Fn(u64) -> u64) {
        let late = self.late();
        for (index, thread) in late.order.iter().enumerate() {
            let (tid, is_named, process) = match thread {
                LateThread::Koid(tid) => (*tid, false, self.process_by_number(*tid)),
                LateThread::Unresolved { index, .. } => (u64::from(*index), true, None),
                LateThread::Provider(_) => (0, true, None),
            };
            let name = is_named.then(|| directory.strings.intern_text(&self.late_name(*thread)));
            directory.threads.push(ThreadEntry {
                key: ThreadKey((self.threads.len() + index) as u32 + 1),
                tid: number_of(tid),
                file_key: tid,
                process,
                name,
            });
        }
    }

    fn late_name(&self, thread: LateThread) -> String {
        match thread {
            LateThread::Koid(_) => String::new(),
            LateThread::Unresolved { index, .. } => format!("<thread {index}?>"),
            LateThread::Provider(slot) => match self.provider_names.get(slot as usize) {
                Some(name) if !name.is_empty() => format!("provider {name}"),
                _ => "provider".to_owned(),
            },
        }
    }

    /// Returns the approximate heap memory of the tables, in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let threads = self.threads.capacity() * 80 + self.objects.capacity() * 40;
        threads as u64 + self.strings.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_wins_and_processes_are_found_from_later_records() {
        let mut entities = Entities::default();
        entities.add_scheduled(20);
        entities.add_scheduled(99);
        let mut add = |koid, object_type, name: &[u8], process| {
            entities.add_object(&KernelObject {
                koid,
                object_type,
                name,
                process,
                with_arguments: None,
            });
        };
        add(20, OBJECT_THREAD, b"render", Some(10));
        add(20, OBJECT_THREAD, b"rend", Some(10));
        add(10, OBJECT_PROCESS, b"game", None);
        entities.finish(Vec::new(), Writer::Another);
        let render = entities.find_tid(20);
        let unknown = entities.find_tid(99);
        let late = entities.find_tid(5);
        assert_eq!(entities.find_tid(5), late);
        let mut directory = Directory::default();
        entities.list_into(&mut directory, Numbering::default());
        let listed: Vec<_> = directory
            .threads
            .iter()
            .map(|thread| (thread.key, thread.tid, thread.process.is_some()))
            .collect();
        assert_eq!(
            listed,
            vec![(render, 20, true), (unknown, 99, false), (late, 5, false)]
        );
        assert_eq!(entities.thread_name(render), "render");
        assert_eq!(entities.object_text(10), "process game");
        assert_eq!(directory.processes.len(), 1);
        assert_ne!(render, ThreadKey::IDLE);
    }
}
