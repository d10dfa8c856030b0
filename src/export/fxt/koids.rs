//! Threads and processes to koids, each a number of its own.
//!
//! A process has its pid as koid, a thread its tid, as long as that says which one it is. A number that the system
//! gave out again gets an artificial koid for its second and later lives: bit 63 is set (as the specification asks
//! of artificial ones), bits 32 to 62 count, and the low half is the number itself. Two processes may use the same
//! thread number, but context switches name threads without their processes, so only one thread of a number that
//! was scheduled keeps it.
//!
//! FXT has neither CPU tracks nor global counters. What belongs to a CPU is said of an artificial process and
//! thread called `CPU n`, what belongs to nobody of one called `machine`.
//!
//! Of several files on one axis each has CPUs of its own. Those of the second and later ones are numbered after those
//! of the files before them: a context switch says nothing but the number. It has 16 bits for it: CPUs beyond get the
//! lowest numbers that are free.

use rustc_hash::{FxHashMap, FxHashSet};

use super::records::ThreadKoids;
use crate::trace::{CpuId, ProcessId, ThreadId, Trace, TrackKind};

const ARTIFICIAL: u64 = 1 << 63;
/// The low half of the artificial koids of CPUs, above any pid that systems give out.
const CPU_BASE: u64 = 0x7c00_0000;
const MACHINE: u64 = ARTIFICIAL | 0x7bff_ffff;

/// Who has koid 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zero {
    /// Idle threads: nobody else.
    IsIdle,
    /// Whoever has it in the source, which is FXT: idle threads have no events there.
    IsSomebody,
}

/// The koids of a trace.
#[derive(Debug, Default)]
pub struct Koids {
    processes: Vec<u64>,
    threads: Vec<ThreadKoids>,
    cpus: Vec<u64>,
    /// The number by which each CPU is known: its own, but in later files.
    cpu_numbers: Vec<u16>,
    /// Whether it is one of a later file.
    is_of_later: Vec<bool>,
    /// What the user is told of CPUs that are not called as in their file.
    renumbered: Vec<String>,
    /// How many processes and threads did not get their own number, as another has it.
    pub artificial_count: u64,
    /// How many had number 0, which is none, and got one.
    pub unnumbered_count: u64,
    /// By thread: whether context switches and wakeups name it.
    pub scheduled: Vec<bool>,
    /// Threads that were scheduled and share their number with one that was not: they must be named last.
    pub named_last: Vec<ThreadId>,
    /// What stands for the providers of an FXT file in the trace, for their blobs: no threads.
    providers: FxHashSet<ThreadId>,
    homes_of_providers: FxHashSet<ProcessId>,
}

impl Koids {
    /// Gives everybody a koid.
    #[must_use]
    pub fn new(trace: &Trace) -> Koids {
        Koids::of(trace, FxHashSet::default(), Zero::IsIdle)
    }

    /// The same where some threads only stand for `providers`.
    #[must_use]
    pub fn of(trace: &Trace, providers: FxHashSet<ThreadId>, zero: Zero) -> Koids {
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
            if is_of_provider || pids.insert(process.pid) {
                koids.processes.push(process.pid);
            } else {
                koids.count(process.pid);
                koids.processes.push(artificial(process.pid));
            }
        }
        let is_scheduled = scheduled(trace);
        let is_idle_seen =
            (trace.tracks.iter()).any(|track| track.kind == TrackKind::Thread(ThreadId::IDLE));
        let mut pairs = FxHashSet::default();
        let mut tids: FxHashMap<u64, bool> = FxHashMap::default();
        let mut last_of: FxHashMap<u64, ThreadId> = FxHashMap::default();
        for (index, thread) in trace.threads.iter().enumerate() {
            let before = last_of.insert(thread.tid, ThreadId(index as u32));
            let process = thread
                .process
                .and_then(|id| koids.processes.get(id.0 as usize).copied())
                .unwrap_or(0);
            let own = is_scheduled.get(index).copied().unwrap_or(false);
            if index == 0 && zero == Zero::IsSomebody && !is_idle_seen {
                koids.threads.push((process, thread.tid));
                continue;
            }
            let (is_shared, is_clash) = match tids.get(&thread.tid) {
                Some(&other) => (true, other && own),
                None => (false, false),
            };
            let is_nobody = koids.is_provider(ThreadId(index as u32));
            if is_clash || is_nobody || !pairs.insert((process, thread.tid)) {
                if index > 0 && !is_nobody {
                    koids.count(thread.tid);
                }
                let koid = artificial(thread.tid);
                pairs.insert((process, koid));
                koids.threads.push((process, koid));
                continue;
            }
            if is_shared && own {
                koids.named_last.push(ThreadId(index as u32));
            }
            let entry = tids.entry(thread.tid).or_default();
            if is_shared && *entry && !own {
                // The other one is named before this one, which would take its switches.
                koids.named_last.extend(before);
            }
            *entry |= own;
            koids.threads.push((process, thread.tid));
        }
        koids.scheduled = is_scheduled;
        koids.number_cpus(trace);
        let numbers = koids.cpu_numbers.iter();
        koids.cpus = numbers
            .map(|&number| ARTIFICIAL | (CPU_BASE + u64::from(number)))
            .collect();
        koids
    }

    /// Lets the CPUs of each file follow those of the files before it.
    fn number_cpus(&mut self, trace: &Trace) {
        let mut numbers: Vec<u64> = trace.cpus.iter().map(|cpu| cpu.number.into()).collect();
        self.is_of_later = vec![false; trace.cpus.len()];
        let mut next = 0_u64;
        for source in &trace.sources {
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
                self.renumbered.push(match from == last {
                    true => format!("CPU {from} of {name} is CPU {}", next + last),
                    false => format!(
                        "CPUs {from} to {last} of {name} are CPUs {} to {}",
                        next + from,
                        next + last
                    ),
                });
            }
            next = next.saturating_add(last + 1);
        }
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
            let text = format!("CPU {number} is CPU {free}: FXT numbers CPUs up to 65535");
            self.renumbered.push(text);
            *number = free;
        }
        let numbers = numbers.into_iter();
        self.cpu_numbers = numbers
            .map(|number| u16::try_from(number).unwrap_or(u16::MAX))
            .collect();
    }

    /// Whether a thread only stands for a provider.
    #[must_use]
    pub fn is_provider(&self, id: ThreadId) -> bool {
        self.providers.contains(&id)
    }

    /// Whether a process is there only for such a thread.
    #[must_use]
    pub fn is_of_provider(&self, id: ProcessId) -> bool {
        self.homes_of_providers.contains(&id)
    }

    /// The number by which a CPU is known: its own, but in later files and where that is too large.
    #[must_use]
    pub fn cpu_number(&self, id: CpuId) -> Option<u16> {
        self.cpu_numbers.get(id.0 as usize).copied()
    }

    /// What a CPU is called: `CPU 1`, with its file where that is a later one.
    #[must_use]
    pub fn cpu_name(&self, trace: &Trace, id: CpuId) -> String {
        let own = trace.cpus.get(id.0 as usize).map_or(0, |cpu| cpu.number);
        let is_later = self.is_of_later.get(id.0 as usize) == Some(&true);
        let source = trace.source_of(id.0, |source| &source.cpus);
        let source = source.and_then(|id| trace.sources.get(id.0 as usize));
        match source.filter(|_| is_later) {
            Some(source) => format!("CPU {own} of {}", source.name),
            None => format!("CPU {own}"),
        }
    }

    /// What the user is told of CPUs that have other numbers than in their file.
    #[must_use]
    pub fn renumbered_cpus(&self) -> &[String] {
        &self.renumbered
    }

    /// Counts one that cannot have its `number`.
    fn count(&mut self, number: u64) {
        if number == 0 {
            self.unnumbered_count += 1;
        } else {
            self.artificial_count += 1;
        }
    }

    /// What the user is told of artificial numbers, if there is something to tell.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
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

    /// A thread's koids; the machine's for nobody.
    #[must_use]
    pub fn thread(&self, id: ThreadId) -> ThreadKoids {
        self.threads
            .get(id.0 as usize)
            .copied()
            .unwrap_or(Koids::MACHINE)
    }

    /// A process's koid.
    #[must_use]
    pub fn process(&self, id: ProcessId) -> u64 {
        self.processes
            .get(id.0 as usize)
            .copied()
            .unwrap_or(MACHINE)
    }

    /// The artificial thread of a CPU.
    #[must_use]
    pub fn cpu(&self, id: CpuId) -> ThreadKoids {
        let koid = self.cpus.get(id.0 as usize).copied().unwrap_or(MACHINE);
        (koid, koid)
    }

    /// The artificial thread of what belongs to nobody.
    pub const MACHINE: ThreadKoids = (MACHINE, MACHINE);
}

/// Which threads context switches and wakeups name.
fn scheduled(trace: &Trace) -> Vec<bool> {
    let mut is_scheduled: Vec<bool> = (0..trace.threads.len())
        .map(|index| {
            let has_runs = !trace.runs.of(ThreadId(index as u32)).is_empty();
            let states = trace.states.of_thread.get(index);
            has_runs || states.is_some_and(|range| !range.is_empty())
        })
        .collect();
    for (state, &partner) in trace.states.states.iter().zip(&trace.states.partners) {
        if state.is_ready()
            && let Some(entry) = is_scheduled.get_mut(partner as usize)
        {
            *entry = true;
        }
    }
    is_scheduled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{StringId, Timestamp};
    use crate::trace::{Process, Thread};

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
                start: None,
                end: None,
                seen: (Timestamp(0), Timestamp(0)),
            });
        }
        let mut koids = Koids::new(&trace);
        let second = koids.process(ProcessId(1));
        assert_eq!(koids.process(ProcessId(0)), 7);
        assert_eq!((second & 0xffff_ffff, second >> 63), (7, 1));
        assert_eq!(koids.thread(ThreadId(1)), (7, 7));
        // Another process's thread may have the same number, as nothing schedules either.
        assert_eq!(koids.thread(ThreadId(2)), (second, 7));
        assert_eq!(koids.thread(ThreadId(3)), (second, 8));
        assert_ne!(koids.thread(ThreadId(4)).1, 8);
        assert_eq!(koids.thread(ThreadId::NONE), Koids::MACHINE);
        assert_eq!(koids.artificial_count, 2);
        assert_eq!(koids.unnumbered_count, 0);
        koids.count(0);
        let said = [
            "2 processes and threads have artificial numbers, as others have their own",
            "1 process or thread without a number got one",
        ];
        assert_eq!(koids.notes(), said);
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
        let said = [
            "CPU 70000 is CPU 1: FXT numbers CPUs up to 65535",
            "CPU 80000 is CPU 3: FXT numbers CPUs up to 65535",
        ];
        assert_eq!(koids.renumbered_cpus(), said);
    }
}
