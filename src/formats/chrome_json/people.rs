//! The processes and threads of a file: found in each part independently, then joined over all parts.
//!
//! A thread is identified by `pid` and `tid` together: many writers number the threads of each process from 0. Both may
//! be numbers or texts; a text that is a whole number counts as that number. An event without `tid` belongs to the
//! thread whose number is the number of its process, as in Perfetto.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::numbers::{whole, whole_of_any};
use super::scan::Raw;
use super::text::plain;
use crate::base::{StringId, Strings};
use crate::event::{Directory, ProcessEntry, ProcessKey, ThreadEntry, ThreadKey};

/// A `pid` or `tid`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub(super) enum Ident {
    /// The event has none.
    #[default]
    None,
    /// A whole number from 0.
    Number(u64),
    /// A text, or any other number.
    Text(StringId),
}

impl Ident {
    /// Returns the identity that a value states; texts are added to `strings`.
    #[inline]
    pub(super) fn of(raw: Raw<'_>, strings: &mut Strings) -> Ident {
        let number = match raw {
            Raw::None | Raw::Nested(_) => return Ident::None,
            Raw::Word(word) => whole_of_any(word),
            Raw::Text(text) => whole(text.bytes),
        };
        match (number, raw) {
            (Some(number), _) => Ident::Number(number),
            (None, Raw::Text(text)) => Ident::Text(strings.intern(&plain(text))),
            (None, other) => Ident::Text(strings.intern(other.bytes())),
        }
    }

    fn moved(self, from: &Strings, to: &mut Strings) -> Ident {
        match self {
            Ident::Text(text) => Ident::Text(to.intern(from.bytes(text))),
            other => other,
        }
    }

    /// Returns the number that people know; 0 for a text.
    fn number(self) -> u64 {
        match self {
            Ident::Number(number) => number,
            Ident::None | Ident::Text(_) => 0,
        }
    }

    /// Returns bits that differ between most identities.
    fn bits(self) -> u64 {
        match self {
            Ident::None => 0,
            Ident::Number(number) => number,
            Ident::Text(text) => text.0.into(),
        }
    }

    fn text(self) -> Option<StringId> {
        match self {
            Ident::Text(text) => Some(text),
            Ident::None | Ident::Number(_) => None,
        }
    }
}

/// A thread, as events identify it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Pair {
    pub(super) process: Ident,
    pub(super) thread: Ident,
}

/// Number of entries in the cache of threads.
const RECENT: usize = 32;

/// The threads and processes of one part. Keys are those of the part.
#[derive(Debug, Default)]
pub(super) struct PartPeople {
    pairs: Vec<Pair>,
    keys: FxHashMap<Pair, ThreadKey>,
    /// The last threads, by the low bits of their numbers: in most files, events of a few threads alternate.
    recent: [Option<(Pair, ThreadKey)>; RECENT],
    processes: Vec<Ident>,
    process_keys: FxHashMap<Ident, ProcessKey>,
}

impl PartPeople {
    /// Returns whether some events name a thread, but no process.
    pub(super) fn has_threads_alone(&self) -> bool {
        self.pairs.iter().any(|pair| pair.process == Ident::None)
    }

    /// Returns the part's key of a thread.
    #[inline]
    pub(super) fn thread(&mut self, pair: Pair) -> ThreadKey {
        let slot = (pair.thread.bits() ^ pair.process.bits() << 3) as usize % RECENT;
        match self.recent.get(slot) {
            Some(Some((recent, key))) if *recent == pair => *key,
            _ => self.thread_again(pair, slot),
        }
    }

    fn thread_again(&mut self, pair: Pair, slot: usize) -> ThreadKey {
        let next = ThreadKey(self.pairs.len() as u32 + 1);
        let key = *self.keys.entry(pair).or_insert(next);
        if key == next {
            self.pairs.push(pair);
        }
        if let Some(recent) = self.recent.get_mut(slot) {
            *recent = Some((pair, key));
        }
        key
    }

    /// Returns the part's key of a process; `None` if the event has no `pid`.
    pub(super) fn process(&mut self, process: Ident) -> Option<ProcessKey> {
        if process == Ident::None {
            return None;
        }
        let next = ProcessKey(self.processes.len() as u32);
        let key = *self.process_keys.entry(process).or_insert(next);
        if key == next {
            self.processes.push(process);
        }
        Some(key)
    }
}

/// A metadata event: a fact about a process or thread, or about the whole file.
#[derive(Clone, Debug)]
pub(super) struct MetadataEvent {
    /// Byte offset of the event.
    pub(super) at: u64,
    pub(super) pair: Pair,
    pub(super) fact: About,
}

/// The fact of a metadata event. Strings are those of the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// `process_name`, and the real number of a process whose `pid` is artificial.
    ProcessName(StringId, Option<u64>),
    /// `thread_name`, and the real number of a thread whose `tid` is artificial.
    ThreadName(StringId, Option<u64>),
    /// In our own exports: the thread exists only in the file, and its events belong to the thread of the process with
    /// this `tid`, or to threads that the events name.
    StandsFor(Ident),
    /// In our own exports: the process exists only in the file, and what is in it belongs to a CPU or to the machine.
    Owner(Owner),
    /// `process_labels`.
    Labels(StringId),
    /// `process_sort_index`.
    ProcessRank(i64),
    /// `thread_sort_index`.
    ThreadRank(i64),
    /// `num_cpus`.
    Cpus(u32),
    /// Any other fact, with this name.
    Other(StringId),
}

/// What the events of a process in the file belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Owner {
    /// The process itself.
    Process(ProcessKey),
    /// A CPU: the process exists only in the file.
    Cpu(u16),
    /// The whole machine: the process exists only in the file.
    Machine,
}

impl Owner {
    /// Returns the process itself, if it exists.
    pub(super) fn process(self) -> Option<ProcessKey> {
        match self {
            Owner::Process(key) => Some(key),
            Owner::Cpu(_) | Owner::Machine => None,
        }
    }
}

/// A process of the file.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Process {
    ident: Ident,
    name: Option<StringId>,
    number: u64,
    rank: Option<i64>,
    labels: Option<StringId>,
}

/// A thread of the file.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Thread {
    pair: Pair,
    process: Option<ProcessKey>,
    name: Option<StringId>,
    number: u64,
    rank: Option<i64>,
}

/// For the keys of one part, the keys of the whole file.
#[derive(Debug, Default)]
pub(super) struct Renumbered {
    threads: Vec<Option<ThreadKey>>,
    processes: Vec<Owner>,
}

impl Renumbered {
    /// Returns the file's key for a thread of the part; `None` for an artificial thread without a real one.
    pub(super) fn thread(&self, of_part: ThreadKey) -> Option<ThreadKey> {
        let index = (of_part.0 as usize).checked_sub(1);
        let found = index.and_then(|index| self.threads.get(index));
        found.copied().unwrap_or(Some(of_part))
    }

    /// Returns what the events of a process of the part belong to.
    pub(super) fn owner(&self, of_part: ProcessKey) -> Owner {
        let found = self.processes.get(of_part.0 as usize);
        found.copied().unwrap_or(Owner::Process(of_part))
    }
}

/// The threads and processes of all parts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct People {
    strings: Strings,
    processes: Vec<Process>,
    process_keys: FxHashMap<Ident, ProcessKey>,
    threads: Vec<Thread>,
    thread_keys: FxHashMap<Pair, ThreadKey>,
    /// The first thread with each `tid`, for samples without a `pid`.
    by_tid: FxHashMap<Ident, ThreadKey>,
    /// Threads that exist only in the file, each with the thread that its events belong to; `Ident::None`: the events
    /// name it.
    stand_ins: FxHashMap<Pair, Ident>,
    /// The idle thread of all CPUs, if the file has one.
    idle: Option<Pair>,
    /// Processes that exist only in the file, each with what its events belong to.
    owners: FxHashMap<Ident, Owner>,
}

impl People {
    /// Returns an empty list for a file of our own exporter, where number 0 is the idle thread.
    pub(super) fn of_our_own() -> People {
        let zero = Ident::Number(0);
        People {
            idle: Some(Pair {
                process: zero,
                thread: zero,
            }),
            ..People::default()
        }
    }

    /// Adds an artificial thread or process. Must be called for the whole file before parts are added.
    pub(super) fn stand_for(&mut self, metadata: &MetadataEvent, strings: &Strings) {
        match metadata.fact {
            About::StandsFor(thread) => {
                let pair = self.moved(metadata.pair, strings);
                let thread = thread.moved(strings, &mut self.strings);
                self.stand_ins.insert(pair, thread);
            }
            About::Owner(owner) => {
                let process = self.moved(metadata.pair, strings).process;
                self.owners.insert(process, owner);
            }
            _ => {}
        }
    }

    /// Adds the threads with a process of a part, so that samples that name only a thread find it wherever they are in the
    /// file. Must be called for the whole file before parts are added, if it has such samples.
    pub(super) fn meet(&mut self, part: &PartPeople, strings: &Strings) {
        for pair in &part.pairs {
            let pair = self.moved(*pair, strings);
            let is_real = !self.stand_ins.contains_key(&pair) && self.idle != Some(pair);
            if is_real && pair.process != Ident::None {
                self.thread(pair);
            }
        }
    }

    /// Adds the threads and processes of the next part; returns their keys in the whole file.
    pub(super) fn add_part(&mut self, part: &PartPeople, strings: &Strings) -> Renumbered {
        Renumbered {
            threads: (part.pairs.iter())
                .map(|pair| {
                    let pair = self.moved(*pair, strings);
                    match self.stand_ins.get(&pair) {
                        None if self.idle == Some(pair) => Some(ThreadKey::IDLE),
                        None => Some(self.thread(pair)),
                        Some(Ident::None) => None,
                        Some(&thread) => {
                            let real = Pair { thread, ..pair };
                            // Slices of the machine that cross others are on a thread that stands for its stand-in.
                            let is_nobody = self.stand_ins.get(&real) == Some(&Ident::None);
                            (!is_nobody).then(|| self.thread(real))
                        }
                    }
                })
                .collect(),
            processes: (part.processes.iter())
                .map(|process| {
                    let process = process.moved(strings, &mut self.strings);
                    let owner = self.owners.get(&process).copied();
                    owner.unwrap_or_else(|| Owner::Process(self.process(process)))
                })
                .collect(),
        }
    }

    fn moved(&mut self, pair: Pair, from: &Strings) -> Pair {
        Pair {
            process: pair.process.moved(from, &mut self.strings),
            thread: pair.thread.moved(from, &mut self.strings),
        }
    }

    fn process(&mut self, ident: Ident) -> ProcessKey {
        let next = ProcessKey(self.processes.len() as u32);
        let key = *self.process_keys.entry(ident).or_insert(next);
        if key == next {
            self.processes.push(Process {
                ident,
                name: ident.text(),
                number: ident.number(),
                rank: None,
                labels: None,
            });
        }
        key
    }

    fn thread(&mut self, pair: Pair) -> ThreadKey {
        if pair.process == Ident::None
            && let Some(&key) = self.by_tid.get(&pair.thread)
        {
            return key;
        }
        if let Some(&key) = self.thread_keys.get(&pair) {
            return key;
        }
        let key = ThreadKey(self.threads.len() as u32 + 1);
        let process = (pair.process != Ident::None).then(|| self.process(pair.process));
        self.threads.push(Thread {
            pair,
            process,
            name: pair.thread.text(),
            number: pair.thread.number(),
            rank: None,
        });
        self.thread_keys.insert(pair, key);
        self.by_tid.entry(pair.thread).or_insert(key);
        key
    }

    /// Applies the name in a metadata event to its process or thread: a later name replaces an earlier one.
    pub(super) fn apply(&mut self, metadata: &MetadataEvent, strings: &Strings) {
        let pair = self.moved(metadata.pair, strings);
        match metadata.fact {
            About::ProcessName(name, number) if pair.process != Ident::None => {
                let name = self.strings.intern(strings.bytes(name));
                let key = self.process(pair.process);
                if let Some(process) = self.processes.get_mut(key.0 as usize) {
                    process.name = Some(name);
                    process.number = number.unwrap_or(process.number);
                }
            }
            About::ThreadName(name, number) => {
                let name = self.strings.intern(strings.bytes(name));
                let key = self.thread(pair);
                if let Some(thread) = self.threads.get_mut(key.0 as usize - 1) {
                    thread.name = Some(name);
                    thread.number = number.unwrap_or(thread.number);
                }
            }
            _ => {}
        }
    }

    /// Applies the facts of a metadata event that are used only for processes and threads with other events: sort indices
    /// and labels.
    pub(super) fn apply_if_seen(&mut self, metadata: &MetadataEvent, strings: &Strings) {
        let pair = self.moved(metadata.pair, strings);
        let process = self.process_keys.get(&pair.process);
        let process = process.and_then(|key| self.processes.get_mut(key.0 as usize));
        let thread = self.thread_keys.get(&pair);
        let thread = thread.and_then(|key| self.threads.get_mut((key.0 as usize).checked_sub(1)?));
        match (metadata.fact, process, thread) {
            (About::Labels(labels), Some(process), _) => {
                process.labels = Some(self.strings.intern(strings.bytes(labels)));
            }
            (About::ProcessRank(rank), Some(process), _) => process.rank = Some(rank),
            (About::ThreadRank(rank), _, Some(thread)) => thread.rank = Some(rank),
            _ => {}
        }
    }

    /// Returns the process of a thread.
    pub(super) fn process_of(&self, thread: ThreadKey) -> Option<ProcessKey> {
        self.known(thread)?.process
    }

    /// Returns the number of processes.
    pub(super) fn process_count(&self) -> usize {
        self.processes.len()
    }

    fn known(&self, thread: ThreadKey) -> Option<&Thread> {
        self.threads.get((thread.0 as usize).checked_sub(1)?)
    }

    /// Returns the number and the name of a thread as people know them.
    pub(super) fn shown(&self, thread: Option<ThreadKey>) -> (u64, String) {
        let Some(thread) = thread.and_then(|thread| self.known(thread)) else {
            return (0, String::new());
        };
        let name = thread.name.map(|name| self.strings.text(name).into_owned());
        (thread.number, name.unwrap_or_default())
    }

    /// Adds all processes and threads to a directory.
    pub(super) fn list_into(&self, directory: &mut Directory) {
        let Directory {
            strings,
            processes,
            threads,
            process_ranks,
            thread_ranks,
            process_labels,
            ..
        } = directory;
        let mut own = |text: StringId| strings.intern(self.strings.bytes(text));
        for (process, key) in self.processes.iter().zip((0..).map(ProcessKey)) {
            processes.push(ProcessEntry {
                key,
                pid: process.number,
                file_key: process.ident.number(),
                name: process.name.map(&mut own),
            });
            process_ranks.extend(process.rank.map(|rank| (key, rank)));
            process_labels.extend(process.labels.map(|labels| (key, own(labels))));
        }
        for (thread, key) in self.threads.iter().zip((1..).map(ThreadKey)) {
            threads.push(ThreadEntry {
                key,
                tid: thread.number,
                file_key: thread.pair.thread.number(),
                process: thread.process,
                name: thread.name.map(&mut own),
            });
            thread_ranks.extend(thread.rank.map(|rank| (key, rank)));
        }
    }

    /// Returns the approximate heap memory in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        let rows = self.threads.len() * 160 + self.processes.len() * 80;
        rows as u64 + self.strings.memory_bytes()
    }
}
