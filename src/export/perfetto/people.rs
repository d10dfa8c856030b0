//! Numbers of processes, threads and CPUs, and the process tree.
//!
//! Perfetto numbers processes and threads with 31 bits, and idle threads have the number 0. In files of the kernel's
//! events they keep their own numbers, also where the system reused one: the events show trace_processor when a life
//! ends. Elsewhere a number that is reused, too large or 0 has a stand-in (see `shared::koids` and `shared::numbers`).
//! Numbers are those of one machine (see `sources`).

use rustc_hash::FxHashSet;

use super::layout::{packet, process_tree as tree};
use super::output::Output;
use super::proto::Message;
use super::sources::{KernelSources, Machine};
use crate::base::StringId;
use crate::base::strings::exact_text;
use crate::export::ExportError;
use crate::export::shared::koids::Koids;
use crate::export::shared::numbers::Numbers;
use crate::query::selection::Chosen;
use crate::trace::{CpuId, Process, ProcessId, Thread, ThreadId, Trace};

/// trace_processor refuses a file with a CPU of this number or a larger one (`kMaxCpuCount`).
const MAX_CPUS: u32 = 1024;
/// Processes and threads of one packet.
const MOST_IN_PACKET: usize = 512;

/// The numbers of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThreadNumbers {
    /// Its process.
    pub pid: u64,
    /// Its own.
    pub tid: u64,
}

/// The numbers of all processes, threads and CPUs.
pub(super) struct People<'a> {
    trace: &'a Trace,
    sources: &'a KernelSources<'a>,
    koids: Koids,
    numbers: Numbers,
    cpus: Vec<Option<u32>>,
    /// Notes for the user about CPUs that got another number, or none.
    pub notes: Vec<String>,
}

impl<'a> People<'a> {
    /// Chooses the numbers.
    pub(super) fn new(trace: &'a Trace, sources: &'a KernelSources<'a>) -> People<'a> {
        let koids = Koids::new(trace);
        let processes = (0..trace.processes.len() as u32).map(|id| koids.process(ProcessId(id)));
        let threads = (0..trace.threads.len() as u32).flat_map(|id| {
            let koids = koids.thread(ThreadId(id));
            [koids.process, koids.thread]
        });
        let all = processes.chain(threads).chain([Koids::MACHINE.process]);
        // Numbers of 32 bits do not fit either.
        let is_large = |koid: &u64| i32::try_from(*koid).is_err();
        let large: FxHashSet<u64> = all.clone().filter(is_large).collect();
        let mut numbers = Numbers::new(all);
        let mut large: Vec<u64> = large.into_iter().collect();
        large.sort_unstable();
        for koid in large {
            numbers.add(koid);
        }
        numbers.add(0);
        // The host kernel's own numbers are taken, whichever file is first.
        if sources.is_any() && !trace.sources.is_empty() {
            let is_kernel = |id: &u32| sources.of_thread(ThreadId(*id)).is_some();
            let is_host = |id: &u32| sources.of_thread(ThreadId(*id)) == Some(Machine::HOST);
            let ids = 1..trace.threads.len() as u32;
            let kernel = ids
                .clone()
                .filter(is_host)
                .map(|id| trace.thread(ThreadId(id)));
            let taken: FxHashSet<u64> = kernel
                .flat_map(|thread| {
                    let process = thread
                        .process
                        .and_then(|id| trace.processes.get(id.0 as usize));
                    [
                        thread.tid,
                        process.map_or(thread.tid, |process| process.pid),
                    ]
                })
                .collect();
            for id in ids.filter(|id| !is_kernel(id)) {
                let own = koids.thread(ThreadId(id));
                for koid in [own.process, own.thread] {
                    if taken.contains(&koid) {
                        numbers.add(koid);
                    }
                }
            }
        }
        let mut people = People {
            trace,
            sources,
            cpus: Vec::new(),
            notes: Vec::new(),
            koids,
            numbers,
        };
        let renumbered = people.koids.renumbered_cpus().iter();
        let notes = renumbered.filter(|it| {
            let is_other = |machine| machine != Machine::HOST;
            !it.file
                .and_then(|file| sources.of_source(file))
                .is_some_and(is_other)
        });
        people.notes = notes.map(|it| it.note.clone()).collect();
        people.number_cpus();
        if !sources.is_any() {
            people.notes.extend(people.koids.notes());
        }
        people
    }

    fn number_cpus(&mut self) {
        let ids = (0..self.trace.cpus.len() as u32).map(CpuId);
        let own: Vec<u32> = ids
            .zip(&self.trace.cpus)
            .map(|(id, cpu)| match self.sources.of_cpu(id) {
                None | Some(Machine::HOST) => self.koids.cpu_number(id).map_or(u32::MAX, u32::from),
                Some(_) => cpu.number,
            })
            .collect();
        let mut used: FxHashSet<u32> = own.iter().copied().collect();
        let mut free = 0;
        let mut left_out = 0;
        self.cpus = own
            .into_iter()
            .map(|number| {
                if number < MAX_CPUS {
                    return Some(number);
                }
                while used.contains(&free) {
                    free += 1;
                }
                if free >= MAX_CPUS {
                    left_out += 1;
                    return None;
                }
                used.insert(free);
                let note = format!(
                    "CPU {number} is written as CPU {free}: Perfetto has no CPU numbers above 1023"
                );
                self.notes.push(note);
                Some(free)
            })
            .collect();
        if left_out > 0 {
            let note = format!("{left_out} CPUs are left out: Perfetto has at most 1024");
            self.notes.push(note);
        }
    }

    /// Returns the number of a CPU; `None` if the file has no number left for it.
    pub(super) fn cpu(&self, id: CpuId) -> Option<u32> {
        self.cpus.get(id.0 as usize).copied().flatten()
    }

    /// Returns the name of a CPU.
    pub(crate) fn cpu_name(&self, id: CpuId) -> String {
        self.koids.cpu_name(self.trace, id)
    }

    /// Returns the number of a process.
    pub(super) fn process(&self, id: ProcessId) -> u64 {
        let process = self.trace.processes.get(id.0 as usize);
        let source = self.trace.source_of(id.0, |source| &source.processes);
        let is_kernel = match source {
            None => self.sources.is_any() && self.trace.sources.is_empty(),
            Some(_) => {
                let main = process.and_then(|process| process.main_thread);
                main.is_some_and(|main| self.sources.of_thread(main).is_some())
            }
        };
        match process.filter(|process| is_kernel && i32::try_from(process.pid).is_ok()) {
            Some(process) => process.pid,
            None => self.numbers.of(self.koids.process(id)),
        }
    }

    /// Returns a thread's number as the kernel's events have it.
    pub(crate) fn raw_tid(&self, id: ThreadId) -> u64 {
        match id {
            ThreadId::IDLE => 0,
            id => self.thread(id).tid,
        }
    }

    /// Returns the numbers of a thread; a thread whose process is not known is the main thread of a process of the same
    /// number.
    pub(super) fn thread(&self, id: ThreadId) -> ThreadNumbers {
        let thread = self.trace.thread(id);
        let is_own = self.sources.of_thread(id).is_some() && i32::try_from(thread.tid).is_ok();
        let tid = match is_own {
            true => thread.tid,
            false => self.numbers.of(self.koids.thread(id).thread),
        };
        let pid = thread.process.map_or(tid, |process| self.process(process));
        ThreadNumbers { pid, tid }
    }

    /// Returns the machine of a thread.
    pub(crate) fn machine_of_thread(&self, id: ThreadId) -> Machine {
        self.sources.of_thread(id).unwrap_or(Machine::HOST)
    }

    /// Returns the machine of a process.
    pub(crate) fn machine_of_process(&self, id: ProcessId) -> Machine {
        self.sources.of_process(id).unwrap_or(Machine::HOST)
    }

    /// Returns the machine of a CPU.
    pub(crate) fn machine_of_cpu(&self, id: CpuId) -> Machine {
        self.sources.of_cpu(id).unwrap_or(Machine::HOST)
    }

    /// Writes the chosen processes and threads of a machine; returns how many there are. Threads whose birth is among the
    /// written events (`is_born`) are left out, because these contain more about them.
    pub(crate) fn write_tree(
        &self,
        chosen: &Chosen<'_>,
        machine: Machine,
        is_born: &dyn Fn(&Thread) -> bool,
        output: &mut Output<'_>,
    ) -> Result<PeopleCounts, ExportError> {
        let trace = self.trace;
        let mut counts = PeopleCounts::default();
        let mut packet = TreePacket::of(machine);
        for (index, process) in trace.processes.iter().enumerate() {
            let id = ProcessId(index as u32);
            if !chosen.has_process(id) || self.machine_of_process(id) != machine {
                continue;
            }
            let main = process.main_thread;
            if main.is_some_and(|main| is_born(trace.thread(main))) {
                continue;
            }
            counts.processes += 1;
            packet.add(output, |message| self.process_entry(message, id, process))?;
        }
        for (index, thread) in trace.threads.iter().enumerate().skip(1) {
            let id = ThreadId(index as u32);
            let is_own = chosen.has_thread(id) && self.machine_of_thread(id) == machine;
            if !is_own || is_born(thread) {
                continue;
            }
            counts.threads += 1;
            packet.add(output, |message| self.thread_entry(message, id))?;
        }
        packet.write(output)?;
        Ok(counts)
    }

    fn thread_entry(&self, message: &mut Message, id: ThreadId) {
        let numbers = self.thread(id);
        let entry = message.open(tree::THREADS);
        message.uint(tree::TID, numbers.tid);
        message.uint(tree::THREAD_PROCESS, numbers.pid);
        let name = self.trace.thread(id).name;
        if name != StringId::EMPTY {
            let name = exact_text(self.trace.strings.bytes(name));
            message.text(tree::THREAD_NAME, &name);
        }
        message.close(entry);
    }

    fn process_entry(&self, message: &mut Message, id: ProcessId, process: &Process) {
        let text = |id: StringId| exact_text(self.trace.strings.bytes(id));
        let entry = message.open(tree::PROCESSES);
        message.uint(tree::PID, self.process(id));
        if let Some(parent) = process.parent {
            message.uint(tree::PARENT, self.process(parent));
        }
        let arguments = process.images.last().map(|image| &image.arguments);
        match arguments.filter(|arguments| !arguments.is_empty()) {
            Some(arguments) => {
                for &argument in arguments {
                    message.text(tree::COMMAND, &text(argument));
                }
            }
            None if process.name != StringId::EMPTY => {
                message.text(tree::COMMAND, &text(process.name));
                message.flag(tree::COMMAND_IS_NAME);
            }
            None => {}
        }
        message.close(entry);
    }
}

/// The numbers of processes and threads that were written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeopleCounts {
    pub processes: u64,
    pub threads: u64,
}

/// A packet of the process tree of a machine.
struct TreePacket {
    machine: Machine,
    entries: Message,
    count: usize,
}

impl TreePacket {
    fn of(machine: Machine) -> TreePacket {
        TreePacket {
            machine,
            entries: Message::default(),
            count: 0,
        }
    }

    fn add(
        &mut self,
        output: &mut Output<'_>,
        entry: impl FnOnce(&mut Message),
    ) -> Result<(), ExportError> {
        entry(&mut self.entries);
        self.count += 1;
        match self.count < MOST_IN_PACKET {
            true => Ok(()),
            false => self.write(output),
        }
    }

    fn write(&mut self, output: &mut Output<'_>) -> Result<(), ExportError> {
        if self.count == 0 {
            return Ok(());
        }
        output.packet(output.start, self.machine, |message| {
            message.bytes_field(packet::PROCESS_TREE, self.entries.bytes());
        })?;
        *self = TreePacket::of(self.machine);
        Ok(())
    }
}
