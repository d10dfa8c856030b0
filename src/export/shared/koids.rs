//! Koids for threads and processes: each gets a unique number.
//!
//! The koid of a process is its pid and that of a thread its tid, if the number is unique. A number that the system
//! reused gets artificial koids for its second and later lives: bit 63 is set (as the specification asks of artificial
//! koids), bits 32 to 62 count, and the low half is the number itself. Two processes may use the same thread number,
//! but context switches name threads without their processes, so only one scheduled thread of a number keeps it.
//!
//! FXT has neither CPU tracks nor global counters. Events of a CPU belong to an artificial process and thread called
//! `CPU n`, events without an owner to those called `machine`.
//!
//! Each of several files on one axis has its own CPUs. CPUs of the second and later files are numbered after those of
//! the files before them, because a context switch contains the CPU's number alone, in 16 bits: CPUs that do not fit
//! get the lowest free numbers.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ThreadKoids;
use crate::fxt::agreed::{MACHINE, count_of_koid, koid_of_cpu};
use crate::trace::{CpuId, ProcessId, SourceId, ThreadId, Trace, TrackKind};

const ARTIFICIAL: u64 = 1 << 63;

/// What koid 0 means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zero {
    /// To idle threads only.
    IsIdle,
    /// To the thread that has it in the source: an FXT file whose koids are kept, in which idle threads have no events.
    IsSomebody,
}

/// The koids of a trace.
#[derive(Debug, Default)]
pub(crate) struct Koids {
    processes: Vec<u64>,
    threads: Vec<ThreadKoids>,
    cpus: Vec<u64>,
    /// By CPU: its number in the output. It is the CPU's own number, except for CPUs of later files.
    cpu_numbers: Vec<u16>,
    /// By CPU: whether it belongs to a later file.
    is_of_later: Vec<bool>,
    /// Notes for the user about CPUs that are numbered differently from their file.
    renumbered: Vec<Renumbered>,
    /// The number of processes and threads that did not get their own number, because another has it.
    pub artificial_count: u64,
    /// The highest count in artificial koids.
    pub reused_numbers: u64,
    /// The number of processes and threads whose number was 0, which means none, and which got another.
    pub unnumbered_count: u64,
    /// By thread: whether context switches and wakeups name it.
    pub scheduled: Vec<bool>,
    /// By process: its main thread, or else its first; `None` if it has no thread.
    first_threads: Vec<Option<ThreadId>>,
    /// Scheduled threads that share their number with an unscheduled thread: they must be named last.
    pub named_last: Vec<ThreadId>,
    /// Threads of the trace that represent providers of an FXT file, which have blobs.
    providers: FxHashSet<ThreadId>,
    homes_of_providers: FxHashSet<ProcessId>,
}

/// CPUs whose numbers differ from those of their file.
#[derive(Clone, Debug)]
pub(crate) struct Renumbered {
    /// The file of these CPUs, if the trace consists of several files and all these CPUs belong to one of them.
    pub file: Option<SourceId>,
    /// The note for the user.
    pub note: String,
}

/// The threads that keep one number.
#[derive(Default)]
struct OfNumber {
    count: usize,
    /// The one that context switches and wakeups name.
    scheduled: Option<ThreadId>,
}

impl Koids {
    /// Returns koids for every process and thread.
    #[must_use]
    pub(crate) fn new(trace: &Trace) -> Koids {
        Koids::of(trace, FxHashSet::default(), Zero::IsIdle)
    }

    /// Returns koids for every process and thread, where `providers` are threads that represent providers.
    #[must_use]
    pub(crate) fn of(trace: &Trace, providers: FxHashSet<ThreadId>, zero: Zero) -> Koids {
        let mut koids = Koids {
            providers,
            ..Koids::default()
        };
        let mut next = 1_u64;
        let mut artificial = |number: u64| {
            let koid = ARTIFICIAL | (next & 0x3fff_ffff) << 32 | (number & 0xffff_ffff);
            next += 1;
            koid
        };
        let mut pids = FxHashSet::default();
        let homes = koids.providers.iter();
        koids.homes_of_providers = homes.filter_map(|&id| trace.thread(id).process).collect();
        for (index, process) in trace.processes.iter().enumerate() {
            let is_of_provider = koids.is_of_provider(ProcessId(index as u32));
            // The koids of an FXT file are kept: its records are copied.
            let number = match zero {
                Zero::IsIdle => process.pid,
                Zero::IsSomebody => process.key,
            };
            if is_of_provider || pids.insert(number) {
                koids.processes.push(number);
            } else {
                koids.count(number);
                koids.processes.push(artificial(number));
            }
        }
        let is_scheduled = scheduled(trace);
        let is_idle_seen =
            (trace.tracks.iter()).any(|track| track.kind == TrackKind::Thread(ThreadId::IDLE));
        let mut pairs = FxHashSet::default();
        let mut tids: FxHashMap<u64, OfNumber> = FxHashMap::default();
        for (index, thread) in trace.threads.iter().enumerate() {
            let number = match zero {
                Zero::IsIdle => thread.tid,
                Zero::IsSomebody => thread.key,
            };
            let process = thread
                .process
                .and_then(|id| koids.processes.get(id.0 as usize).copied())
                .unwrap_or(0);
            let own = is_scheduled.get(index).copied().unwrap_or(false);
            if index == 0 && zero == Zero::IsSomebody && !is_idle_seen {
                koids.threads.push(ThreadKoids {
                    process,
                    thread: number,
                });
                continue;
            }
            let others = tids.get(&number);
            let is_clash = own && others.is_some_and(|others| others.scheduled.is_some());
            let is_nobody = koids.is_provider(ThreadId(index as u32));
            if is_clash || is_nobody || !pairs.insert((process, number)) {
                if index > 0 && !is_nobody {
                    koids.count(number);
                }
                let koid = artificial(number);
                pairs.insert((process, koid));
                koids.threads.push(ThreadKoids {
                    process,
                    thread: koid,
                });
                continue;
            }
            let entry = tids.entry(number).or_default();
            entry.count += 1;
            if own {
                entry.scheduled = Some(ThreadId(index as u32));
            }
            koids.threads.push(ThreadKoids {
                process,
                thread: number,
            });
        }
        // Readers give the switches of a number to the thread that was named last.
        let shared = tids.values().filter(|of| of.count > 1);
        koids.named_last = shared.filter_map(|of| of.scheduled).collect();
        koids.named_last.sort_unstable();
        koids.reused_numbers = match zero {
            Zero::IsIdle => next - 1,
            Zero::IsSomebody => (next - 1).max(reused_numbers(trace)),
        };
        koids.scheduled = is_scheduled;
        koids.first_threads = first_threads(trace);
        koids.number_cpus(trace);
        let numbers = koids.cpu_numbers.iter();
        koids.cpus = numbers.map(|&number| koid_of_cpu(number)).collect();
        koids
    }

    /// Numbers the CPUs of each file after those of the files before it.
    fn number_cpus(&mut self, trace: &Trace) {
        let mut numbers: Vec<u64> = trace.cpus.iter().map(|cpu| cpu.number.into()).collect();
        self.is_of_later = vec![false; trace.cpus.len()];
        let mut next = 0_u64;
        for (file, source) in (0..).zip(&trace.sources) {
            let range = source.cpus.start as usize..source.cpus.end as usize;
            let (Some(numbers), Some(is_later)) = (
                numbers.get_mut(range.clone()),
                self.is_of_later.get_mut(range),
            ) else {
                continue;
            };
            let own = (numbers.iter().copied().min(), numbers.iter().copied().max());
            let (Some(from), Some(last)) = own else {
                continue;
            };
            if next > 0 {
                is_later.fill(true);
                numbers.iter_mut().for_each(|number| *number += next);
                let name = &source.name;
                self.renumbered.push(Renumbered {
                    file: Some(SourceId(file)),
                    note: match from == last {
                        true => format!("CPU {from} of {name} is CPU {}", next + last),
                        false => format!(
                            "CPUs {from} to {last} of {name} are CPUs {} to {}",
                            next + from,
                            next + last
                        ),
                    },
                });
            }
            next = next.saturating_add(last + 1);
        }
        // Numbers that do not fit into the 16 bits of a context switch are replaced by the lowest free ones.
        let mut used: FxHashSet<u64> = numbers.iter().copied().collect();
        let mut free = 0;
        for number in &mut numbers {
            if *number <= u64::from(u16::MAX) {
                continue;
            }
            while used.contains(&free) {
                free += 1;
            }
            used.insert(free);
            self.renumbered.push(Renumbered {
                file: None,
                note: format!(
                    "CPU {number} is written as CPU {free}: FXT has no CPU numbers above 65535"
                ),
            });
            *number = free;
        }
        let numbers = numbers.into_iter();
        self.cpu_numbers = numbers
            .map(|number| u16::try_from(number).unwrap_or(u16::MAX))
            .collect();
    }

    /// Returns whether a thread only represents a provider.
    #[must_use]
    pub(crate) fn is_provider(&self, id: impl Into<Option<ThreadId>>) -> bool {
        id.into().is_some_and(|id| self.providers.contains(&id))
    }

    /// Returns whether a process exists only for a thread that represents a provider.
    #[must_use]
    pub(crate) fn is_of_provider(&self, id: ProcessId) -> bool {
        self.homes_of_providers.contains(&id)
    }

    /// Returns a CPU's number in the output: its own, except in later files and if that is too large.
    #[must_use]
    pub(crate) fn cpu_number(&self, id: CpuId) -> Option<u16> {
        self.cpu_numbers.get(id.0 as usize).copied()
    }

    /// Returns a CPU's name: `CPU 1`, with its file if that is a later one.
    #[must_use]
    pub(crate) fn cpu_name(&self, trace: &Trace, id: CpuId) -> String {
        let own = trace.cpus.get(id.0 as usize).map_or(0, |cpu| cpu.number);
        let is_later = self.is_of_later.get(id.0 as usize) == Some(&true);
        let source = trace.source_of(id.0, |source| &source.cpus);
        let source = source.and_then(|id| trace.sources.get(id.0 as usize));
        match source.filter(|_| is_later) {
            Some(source) => format!("CPU {own} of {}", source.name),
            None => format!("CPU {own}"),
        }
    }

    /// Returns the CPUs whose numbers differ from those of their file.
    #[must_use]
    pub(crate) fn renumbered_cpus(&self) -> &[Renumbered] {
        &self.renumbered
    }

    /// Counts a process or thread that cannot have its `number`.
    fn count(&mut self, number: u64) {
        if number == 0 {
            self.unnumbered_count += 1;
        } else {
            self.artificial_count += 1;
        }
    }

    /// Returns a note for the user about artificial numbers, if there are any.
    #[must_use]
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        match self.artificial_count {
            0 => {}
            1 => notes.push(
                "1 process or thread has an artificial number, as another has its own".to_owned(),
            ),
            count => notes.push(format!(
                "{count} processes and threads have artificial numbers, as others have their own"
            )),
        }
        match self.unnumbered_count {
            0 => {}
            1 => notes.push("1 process or thread without a number got one".to_owned()),
            count => notes.push(format!(
                "{count} processes and threads without a number got one each"
            )),
        }
        notes
    }

    /// Returns the koids of a thread and its process; those of the machine if there is no thread.
    #[must_use]
    pub(crate) fn thread(&self, id: impl Into<Option<ThreadId>>) -> ThreadKoids {
        let id = id.into();
        id.and_then(|id| self.threads.get(id.0 as usize).copied())
            .unwrap_or(Koids::MACHINE)
    }

    /// Returns the koid of a process.
    #[must_use]
    pub(crate) fn process(&self, id: ProcessId) -> u64 {
        self.processes
            .get(id.0 as usize)
            .copied()
            .unwrap_or(MACHINE)
    }

    /// Returns the thread that recorded an event, if the event is written on another one.
    #[must_use]
    pub(crate) fn recorder(
        &self,
        thread: Option<ThreadId>,
        written_on: ThreadKoids,
    ) -> Option<ThreadKoids> {
        let thread = thread.filter(|&thread| thread != ThreadId::IDLE)?;
        Some(self.thread(thread)).filter(|&koids| koids != written_on)
    }

    /// Returns a thread of a process: the main one, or else the first.
    #[must_use]
    pub(crate) fn first_thread(&self, id: ProcessId) -> Option<ThreadId> {
        self.first_threads.get(id.0 as usize).copied().flatten()
    }

    /// Returns the koids of a thread of a process, for what belongs to the process as a whole.
    #[must_use]
    pub(crate) fn on_process(&self, id: ProcessId) -> ThreadKoids {
        match self.first_thread(id) {
            Some(first) => self.thread(first),
            None => ThreadKoids::of_process(self.process(id)),
        }
    }

    /// Returns the koids under which an event of an asynchronous track is written, where `process` is the track's and
    /// `thread` recorded the event: the thread's if it belongs to the process, otherwise those of the process's first
    /// thread, since readers take the process as a part of the id.
    #[must_use]
    pub(crate) fn on_async_track(
        &self,
        trace: &Trace,
        process: Option<ProcessId>,
        thread: Option<ThreadId>,
    ) -> ThreadKoids {
        match process {
            Some(process) if trace.thread(thread).process != Some(process) => {
                self.on_process(process)
            }
            _ => self.thread(thread),
        }
    }

    /// Returns the koids of the artificial process and thread of a CPU.
    #[must_use]
    pub(crate) fn cpu(&self, id: CpuId) -> ThreadKoids {
        let koid = self.cpus.get(id.0 as usize).copied().unwrap_or(MACHINE);
        ThreadKoids::of_process(koid)
    }

    /// The koids of the artificial process and thread of events without an owner.
    pub(crate) const MACHINE: ThreadKoids = ThreadKoids::of_process(MACHINE);
}

/// Returns, by process, its main thread, or else its first.
fn first_threads(trace: &Trace) -> Vec<Option<ThreadId>> {
    let processes = trace.processes.iter();
    let mut threads: Vec<_> = processes.map(|process| process.main_thread).collect();
    for (thread, id) in trace.threads.iter().zip((0..).map(ThreadId)).skip(1) {
        let entry = thread.process.and_then(|id| threads.get_mut(id.0 as usize));
        if let Some(entry) = entry {
            entry.get_or_insert(id);
        }
    }
    threads
}

/// Returns, by thread, whether context switches and wakeups name it.
fn scheduled(trace: &Trace) -> Vec<bool> {
    let mut is_scheduled: Vec<bool> = (0..trace.threads.len())
        .map(|index| {
            let has_runs = !trace.runs.of(ThreadId(index as u32)).is_empty();
            let states = trace.states.of_thread.get(index);
            has_runs || states.is_some_and(|range| !range.is_empty())
        })
        .collect();
    for (state, partner) in trace.states.states.iter().zip(&trace.states.partners) {
        if let Some(partner) = partner.get().filter(|_| state.is_ready())
            && let Some(entry) = is_scheduled.get_mut(partner as usize)
        {
            *entry = true;
        }
    }
    is_scheduled
}

/// Returns the highest count in the artificial koids of a file of this program.
fn reused_numbers(trace: &Trace) -> u64 {
    let processes = trace.processes.iter().map(|it| (it.key, it.pid));
    let threads = trace.threads.iter().map(|it| (it.key, it.tid));
    let reused = processes
        .chain(threads)
        .filter(|(key, number)| key != number);
    reused.map(|(key, _)| count_of_koid(key)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{StringId, Timestamp};
    use crate::trace::{Process, SeenTimes, Thread};

    #[test]
    fn reused_numbers_get_artificial_koids() {
        let mut trace = Trace::default();
        for pid in [7, 7] {
            trace.processes.push(Process::new(pid, pid));
        }
        for (tid, process) in [
            (0, None),
            (7, Some(0)),
            (7, Some(1)),
            (8, Some(1)),
            (8, Some(1)),
        ] {
            trace.threads.push(Thread {
                tid,
                key: tid,
                process: process.map(ProcessId),
                name: StringId::EMPTY,
                rank: None,
                start: None,
                end: None,
                seen: SeenTimes::once(Timestamp(0)),
            });
        }
        let mut koids = Koids::new(&trace);
        let second = koids.process(ProcessId(1));
        assert_eq!(koids.process(ProcessId(0)), 7);
        assert_eq!((second & 0xffff_ffff, second >> 63), (7, 1));
        assert_eq!(koids.thread(ThreadId(1)), ThreadKoids::of_process(7));
        // Another process's thread may have the same number, because neither is scheduled.
        let of_second = ThreadKoids::of_process(second);
        assert_eq!(koids.thread(ThreadId(2)), of_second.with_thread(7));
        assert_eq!(koids.thread(ThreadId(3)), of_second.with_thread(8));
        assert_ne!(koids.thread(ThreadId(4)).thread, 8);
        assert_eq!(koids.thread(None), Koids::MACHINE);
        assert_eq!(koids.artificial_count, 2);
        assert_eq!(koids.unnumbered_count, 0);
        koids.count(0);
        let expected = [
            "2 processes and threads have artificial numbers, as others have their own",
            "1 process or thread without a number got one",
        ];
        assert_eq!(koids.notes(), expected);
    }

    #[test]
    fn cpus_beyond_the_numbers_of_the_format_get_free_ones() {
        let mut trace = Trace::default();
        for number in [0, 2, 70_000, 80_000] {
            trace.cpus.push(crate::trace::Cpu { number });
        }
        let koids = Koids::new(&trace);
        let numbers: Vec<_> = (0..4).map(|cpu| koids.cpu_number(CpuId(cpu))).collect();
        assert_eq!(numbers, [Some(0), Some(2), Some(1), Some(3)]);
        let expected = [
            "CPU 70000 is written as CPU 1: FXT has no CPU numbers above 65535",
            "CPU 80000 is written as CPU 3: FXT has no CPU numbers above 65535",
        ];
        let notes = koids.renumbered_cpus().iter().map(|it| it.note.as_str());
        assert_eq!(notes.collect::<Vec<_>>(), expected);
    }
}
