//! Descriptors of tracks: each is written before the first event on its track.
//!
//! A thread's slices are on the thread's own track, which also contains the slices that trace_processor derives from
//! the kernel's events. Slices that cross others are on children of it. CPUs and events without an owner have tracks of
//! their own.

use rustc_hash::FxHashMap;

use super::layout::{packet, trace as top, track};
use super::output::{OTHER_SEQUENCE, write_machine};
use super::people::People;
use super::proto::{Message, Open};
use super::sources::Machine;
use crate::base::StringId;
use crate::base::strings::exact_text;
use crate::trace::{CpuId, ProcessId, ThreadId, Trace};

/// A track in the file, with its machine in the high half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TrackUuid(pub u64);

impl TrackUuid {
    fn new(machine: Machine, number: u32) -> TrackUuid {
        TrackUuid(u64::from(machine.0) << 32 | u64::from(number))
    }

    /// Returns the track's machine.
    #[inline]
    pub(super) fn machine(self) -> Machine {
        Machine((self.0 >> 32) as u32)
    }
}

/// The parent of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parent {
    Machine(Machine),
    Track(TrackUuid),
}

impl Parent {
    fn machine(self) -> Machine {
        match self {
            Parent::Machine(machine) => machine,
            Parent::Track(track) => track.machine(),
        }
    }
}

/// The tracks that have been described, and the descriptors that are not yet written.
pub(super) struct Tracks<'a> {
    trace: &'a Trace,
    people: &'a People<'a>,
    count: u32,
    processes: FxHashMap<ProcessId, TrackUuid>,
    threads: FxHashMap<Option<ThreadId>, TrackUuid>,
    cpus: FxHashMap<CpuId, TrackUuid>,
    pending: Message,
}

/// A descriptor that is being written.
struct Descriptor {
    uuid: TrackUuid,
    packet: Open,
    message: Open,
}

impl<'a> Tracks<'a> {
    /// Returns no tracks yet.
    pub(super) fn new(trace: &'a Trace, people: &'a People<'a>) -> Tracks<'a> {
        Tracks {
            trace,
            people,
            count: 0,
            processes: FxHashMap::default(),
            threads: FxHashMap::default(),
            cpus: FxHashMap::default(),
            pending: Message::default(),
        }
    }

    /// Returns the packets of descriptors since the last call.
    pub(crate) fn take_packets(&mut self) -> Vec<u8> {
        self.pending.take()
    }

    fn open(&mut self, parent: Parent) -> Descriptor {
        self.count += 1;
        let uuid = TrackUuid::new(parent.machine(), self.count);
        let packet = self.pending.open(top::PACKET);
        self.pending.uint(packet::SEQUENCE, OTHER_SEQUENCE);
        write_machine(&mut self.pending, parent.machine());
        let message = self.pending.open(packet::TRACK_DESCRIPTOR);
        self.pending.uint(track::UUID, uuid.0);
        if let Parent::Track(parent) = parent {
            self.pending.uint(track::PARENT, parent.0);
        }
        Descriptor {
            uuid,
            packet,
            message,
        }
    }

    fn close(&mut self, descriptor: Descriptor) -> TrackUuid {
        self.pending.close(descriptor.message);
        self.pending.close(descriptor.packet);
        descriptor.uuid
    }

    /// Adds a track with a name only.
    pub(super) fn named(&mut self, name: &str, parent: Parent) -> TrackUuid {
        let descriptor = self.open(parent);
        self.pending.text(track::NAME, name);
        self.close(descriptor)
    }

    /// Adds a counter, which stays apart from others of its name.
    pub(super) fn counter(&mut self, name: &str, parent: Parent) -> TrackUuid {
        let descriptor = self.open(parent);
        self.pending.text(track::NAME, name);
        let counter = self.pending.open(track::COUNTER);
        self.pending.close(counter);
        self.pending.uint(track::SIBLING_MERGE, track::MERGE_NONE);
        self.close(descriptor)
    }

    /// Returns the track of a process.
    pub(super) fn process(&mut self, id: ProcessId) -> TrackUuid {
        if let Some(&known) = self.processes.get(&id) {
            return known;
        }
        let (trace, people) = (self.trace, self.people);
        let descriptor = self.open(Parent::Machine(people.machine_of_process(id)));
        let of_process = self.pending.open(track::PROCESS);
        self.pending.uint(track::PROCESS_PID, people.process(id));
        if let Some(process) = trace.processes.get(id.0 as usize) {
            self.text_unless_empty(track::PROCESS_NAME, process.name);
            self.text_unless_empty(track::PROCESS_LABELS, process.labels);
            self.sort_index(track::PROCESS_SORT_INDEX, process.rank);
        }
        self.pending.close(of_process);
        let uuid = self.close(descriptor);
        self.processes.insert(id, uuid);
        uuid
    }

    /// Returns the track of a thread. The tracks of idle and unknown threads, which belong to no process, have only a
    /// name.
    pub(super) fn thread(&mut self, id: impl Into<Option<ThreadId>>) -> TrackUuid {
        let id = id.into();
        if let Some(&known) = self.threads.get(&id) {
            return known;
        }
        let row = id.and_then(|id| Some((id, self.trace.threads.get(id.0 as usize)?)));
        let uuid = match row {
            Some((id, thread)) if id != ThreadId::IDLE => {
                let (name, rank) = (thread.name, thread.rank);
                let numbers = self.people.thread(id);
                let machine = self.people.machine_of_thread(id);
                let descriptor = self.open(Parent::Machine(machine));
                let of_thread = self.pending.open(track::THREAD);
                self.pending.uint(track::THREAD_PID, numbers.pid);
                self.pending.uint(track::THREAD_TID, numbers.tid);
                self.text_unless_empty(track::THREAD_NAME, name);
                self.sort_index(track::THREAD_SORT_INDEX, rank);
                self.pending.close(of_thread);
                self.close(descriptor)
            }
            Some(_) => self.named("idle", Parent::Machine(Machine::HOST)),
            None => self.named("no thread", Parent::Machine(Machine::HOST)),
        };
        self.threads.insert(id, uuid);
        uuid
    }

    /// Returns the track of a CPU.
    pub(super) fn cpu(&mut self, id: CpuId) -> TrackUuid {
        if let Some(&known) = self.cpus.get(&id) {
            return known;
        }
        let name = self.people.cpu_name(id);
        let uuid = self.named(&name, Parent::Machine(self.people.machine_of_cpu(id)));
        self.cpus.insert(id, uuid);
        uuid
    }

    fn text_unless_empty(&mut self, field: u32, text: StringId) {
        if text != StringId::EMPTY {
            let text = exact_text(self.trace.strings.bytes(text));
            self.pending.text(field, &text);
        }
    }

    fn sort_index(&mut self, field: u32, rank: Option<i64>) {
        if let Some(rank) = rank.and_then(|rank| i32::try_from(rank).ok()) {
            self.pending.int(field, i64::from(rank));
        }
    }
}
