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
//! of the files before them: a context switch says nothing but the number.

use rustc_hash::{FxHashMap, FxHashSet};

use super::records::ThreadKoids;
use crate::trace::{CpuId, ProcessId, ThreadId, Trace};

const ARTIFICIAL: u64 = 1 << 63;
/// The low half of the artificial koids of CPUs, above any pid that systems give out.
const CPU_BASE: u64 = 0x7c00_0000;
const MACHINE: u64 = ARTIFICIAL | 0x7bff_ffff;

/// The koids of a trace.
#[derive(Debug, Default)]
pub struct Koids {
    processes: Vec<u64>,
    threads: Vec<ThreadKoids>,
    cpus: Vec<u64>,
    /// The number of each CPU's file's number 0: 0 but for later files.
    first_cpus: Vec<u32>,
    /// What the user is told of CPUs that are not called as in their file.
    renumbered: Vec<String>,
    /// How many processes and threads did not get their own number, as another has it.
    pub artificial_count: u64,
    /// How many had number 0, which is none, and got one.
    pub unnumbered_count: u64,
    /// Threads that were scheduled and share their number with one that was not: they must be named last.
    pub named_last: Vec<ThreadId>,
}

impl Koids {
    /// Gives everybody a koid.
    #[must_use]
    pub fn new(trace: &Trace) -> Koids {
        let mut koids = Koids::default();
        let mut next = 1_u64;
        let mut artificial = |number: u64| {
            let koid = ARTIFICIAL | (next & 0x3fff_ffff) << 32 | (number & 0xffff_ffff);
            next += 1;
            koid
        };
        let mut pids = FxHashSet::default();
        for process in &trace.processes {
            if pids.insert(process.pid) {
                koids.processes.push(process.pid);
            } else {
                koids.count(process.pid);
                koids.processes.push(artificial(process.pid));
            }
        }
        let is_scheduled = scheduled(trace);
        let mut pairs = FxHashSet::default();
        let mut tids: FxHashMap<u64, bool> = FxHashMap::default();
        for (index, thread) in trace.threads.iter().enumerate() {
            let process = thread
                .process
                .and_then(|id| koids.processes.get(id.0 as usize).copied())
                .unwrap_or(0);
            let own = is_scheduled.get(index).copied().unwrap_or(false);
            let (is_shared, is_clash) = match tids.get(&thread.tid) {
                Some(&other) => (true, other && own),
                None => (false, false),
            };
            if is_clash || !pairs.insert((process, thread.tid)) {
                if index > 0 {
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
                let other = trace.threads[..index]
                    .iter()
                    .rposition(|other| other.tid == thread.tid);
                koids
                    .named_last
                    .extend(other.map(|other| ThreadId(other as u32)));
            }
            *entry |= own;
            koids.threads.push((process, thread.tid));
        }
        koids.number_cpus(trace);
        let cpus = trace.cpus.iter().zip(&koids.first_cpus);
        let numbers = cpus.map(|(cpu, first)| u64::from(cpu.number) + u64::from(*first));
        koids.cpus = numbers
            .map(|number| ARTIFICIAL | (CPU_BASE + number % 0x00ff_ffff))
            .collect();
        koids
    }

    /// Lets the CPUs of each file follow those of the files before it.
    fn number_cpus(&mut self, trace: &Trace) {
        self.first_cpus = vec![0; trace.cpus.len()];
        let mut next = 0_u32;
        for source in &trace.sources {
            let range = source.cpus.start as usize..source.cpus.end as usize;
            let cpus = trace.cpus.get(range.clone()).unwrap_or_default();
            let (Some(last), Some(firsts)) = (
                cpus.iter().map(|cpu| cpu.number).max(),
                self.first_cpus.get_mut(range),
            ) else {
                continue;
            };
            firsts.fill(next);
            if next > 0 {
                let from = cpus.iter().map(|cpu| cpu.number).min().unwrap_or(0);
                let name = &source.name;
                self.renumbered.push(match from == last {
                    true => format!("CPU {from} of {name} is CPU {}", next.saturating_add(last)),
                    false => format!(
                        "CPUs {from} to {last} of {name} are CPUs {} to {}",
                        next.saturating_add(from),
                        next.saturating_add(last)
                    ),
                });
            }
            next = next.saturating_add(last).saturating_add(1);
        }
    }

    /// The number by which a file's own number of the CPU with this index is known: its own, but in later files.
    #[must_use]
    pub fn cpu_number(&self, id: CpuId, own: u32) -> u32 {
        let first = self.first_cpus.get(id.0 as usize).copied().unwrap_or(0);
        own.saturating_add(first)
    }

    /// What a CPU is called: `CPU 1`, with its file where that is a later one.
    #[must_use]
    pub fn cpu_name(&self, trace: &Trace, id: CpuId) -> String {
        let own = trace.cpus.get(id.0 as usize).map_or(0, |cpu| cpu.number);
        let is_first = self
            .first_cpus
            .get(id.0 as usize)
            .is_none_or(|&first| first == 0);
        let source = trace.source_of(id.0, |source| &source.cpus);
        let source = source.and_then(|id| trace.sources.get(id.0 as usize));
        match source.filter(|_| !is_first) {
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
            trace.processes.push(Process {
                pid,
                key: pid,
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
            });
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
}
