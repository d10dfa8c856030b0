//! Metadata events: names, labels and sort indices of processes and threads.
//!
//! ```text
//! "ph":"M" "name":"process_name"  args: name, pid                a process of the trace; pid if a stand-in is its number
//! "ph":"M" "name":"thread_name"   args: name, tid                a thread of the trace
//! "ph":"M" "name":"thread_name"   args: name, stands_for, cpu    a thread that exists only in the file
//! ```
//!
//! `stands_for` is "cpu" (the CPU's interrupts), "runs" (who ran on the CPU), "machine", or the number of the thread
//! whose slices the thread has.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use serde_json::{Map, Value as Json, json};

use super::event_parts::{Head, When};
use super::values::exact;
use super::{JsonEvents, RUNS_OFFSET};
use crate::base::StringId;
use crate::export::ExportError;
use crate::export::shared::ThreadKoids;
use crate::export::shared::koids::Koids;
use crate::export::shared::losses::cpus as losses_of_cpus;
use crate::export::shared::met::met;
use crate::export::shared::numbers::exact_number;
use crate::trace::counters::CounterScope;
use crate::trace::{CounterTrackId, CpuId, ProcessId, ThreadId, Track, TrackId, TrackKind};

/// The number that a process or thread has in the trace, written if a stand-in replaces its koid.
struct OwnNumber {
    /// The kind of number: `pid` or `tid`.
    word: &'static str,
    number: u64,
    koid: u64,
}

/// What a process or thread that only exists in the exported file represents; our reader uses it to restore the trace.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StandsFor {
    /// The CPU with this number.
    Cpu(u32),
    /// The runs of a CPU.
    Runs,
    /// Nobody: what belongs to the whole machine.
    Machine,
    /// The thread of the same process with this koid: some of its events are on this extra thread.
    Thread(u64),
}

/// The name of a process or thread.
struct Name<'a> {
    /// `process_name` or `thread_name`.
    what: &'static str,
    owner: ThreadKoids,
    name: &'a str,
    own: Option<OwnNumber>,
    stands_for: Option<StandsFor>,
}

impl JsonEvents<'_> {
    /// Writes the names of all processes and threads that the file has something of.
    pub(super) fn names(&mut self) -> Result<(), ExportError> {
        let trace = self.trace;
        let met = met(trace, self.chosen, self.koids);
        let threads = (1..trace.threads.len() as u32).map(ThreadId);
        let threads: Vec<ThreadId> = threads
            .filter(|&id| self.chosen.has_thread(id) || met.contains(&id))
            .collect();
        let homes: FxHashSet<ProcessId> = (threads.iter())
            .filter_map(|&id| trace.thread(id).process)
            .collect();
        for (index, process) in trace.processes.iter().enumerate() {
            let id = ProcessId(index as u32);
            if self.chosen.has_process(id) || homes.contains(&id) {
                let koid = self.koids.process(id);
                let own = OwnNumber {
                    word: "pid",
                    number: process.pid,
                    koid,
                };
                self.name(&Name {
                    what: "process_name",
                    owner: ThreadKoids::of_process(koid),
                    name: &exact(trace, process.name),
                    own: Some(own),
                    stands_for: None,
                })?;
                let owner = ThreadKoids::of_process(koid);
                if let Some(rank) = process.rank {
                    self.fact("process_sort_index", owner, "sort_index", json!(rank))?;
                }
                if process.labels != StringId::EMPTY {
                    let labels = json!(exact(trace, process.labels));
                    self.fact("process_labels", owner, "labels", labels)?;
                }
            }
        }
        for id in threads {
            let thread = trace.thread(id);
            let owner = self.koids.thread(id);
            let own = OwnNumber {
                word: "tid",
                number: thread.tid,
                koid: owner.thread,
            };
            self.name(&Name {
                what: "thread_name",
                owner,
                name: &exact(trace, thread.name),
                own: Some(own),
                stands_for: None,
            })?;
            if let Some(rank) = thread.rank {
                self.fact("thread_sort_index", owner, "sort_index", json!(rank))?;
            }
        }
        if self.has_machine() {
            for what in ["process_name", "thread_name"] {
                self.name(&Name {
                    what,
                    owner: Koids::MACHINE,
                    name: "machine",
                    own: None,
                    stands_for: Some(StandsFor::Machine),
                })?;
            }
        }
        let lossy: FxHashSet<CpuId> = losses_of_cpus(trace, self.chosen).collect();
        for id in (0..trace.cpus.len() as u32).map(CpuId) {
            if self.chosen.has_runs_of(id) || lossy.contains(&id) {
                let owner = self.koids.cpu(id);
                let name = self.koids.cpu_name(trace, id);
                for what in ["process_name", "thread_name"] {
                    self.name(&Name {
                        what,
                        owner,
                        name: &name,
                        own: None,
                        stands_for: Some(StandsFor::Cpu(self.cpu_number(id.0))),
                    })?;
                }
                self.name(&Name {
                    what: "thread_name",
                    owner: owner.with_thread(owner.thread + RUNS_OFFSET),
                    name: &format!("{name} runs"),
                    own: None,
                    stands_for: Some(StandsFor::Runs),
                })?;
            }
        }
        Ok(())
    }

    /// Returns whether something is written that belongs to the whole machine.
    fn has_machine(&self) -> bool {
        let trace = self.trace;
        let mut tracks = trace.tracks.iter().zip((0..).map(TrackId));
        let mut counters = (trace.counters.tracks.iter()).zip((0..).map(CounterTrackId));
        let is_nobodys = |track: &Track| match track.kind {
            TrackKind::Nobody => true,
            TrackKind::Async(None) => {
                let rows = trace.slices.rows_of(track).iter();
                let begins = rows.flat_map(|row| row.slices.clone());
                let mut begins = begins.map(|slice| trace.slices.begin(slice as usize));
                begins.any(|begin| trace.events.thread(begin).is_none())
            }
            _ => false,
        };
        tracks.any(|(track, id)| self.chosen.has_track(id) && is_nobodys(track))
            || trace.gaps.iter().any(|gap| gap.cpu.is_none())
            || counters.any(|(track, id)| {
                track.scope == CounterScope::Global && self.chosen.has_counter(id)
            })
    }

    /// Writes the name of a process or thread, and its own number if a stand-in replaces the koid.
    fn name(&mut self, of: &Name<'_>) -> Result<(), ExportError> {
        let own = (of.own.as_ref()).filter(|own| self.numbers.is_other(own.koid));
        let name = match own {
            Some(OwnNumber { word, number, .. }) if of.name.is_empty() => {
                Cow::from(format!("{word} {number}"))
            }
            _ => Cow::from(of.name),
        };
        if name.is_empty() {
            return Ok(());
        }
        let mut args = Map::new();
        args.insert("name".to_owned(), json!(name));
        if let Some(OwnNumber { word, number, .. }) = own {
            args.insert((*word).to_owned(), exact_number(*number));
        }
        if let Some(stands_for) = of.stands_for {
            if let StandsFor::Cpu(number) = stands_for {
                args.insert("cpu".to_owned(), json!(number));
            }
            let word = match stands_for {
                StandsFor::Cpu(_) => json!("cpu"),
                StandsFor::Runs => json!("runs"),
                StandsFor::Machine => json!("machine"),
                StandsFor::Thread(koid) => json!(self.numbers.of(koid)),
            };
            args.insert("stands_for".to_owned(), word);
        }
        let head = Head {
            phase: "M",
            category: "",
            name: of.what,
            owner: of.owner,
        };
        self.event(&head, When::at(0), "", Some(args))
    }

    /// Writes a metadata event with one argument about a process or thread.
    fn fact(
        &mut self,
        what: &'static str,
        owner: ThreadKoids,
        argument: &'static str,
        value: Json,
    ) -> Result<(), ExportError> {
        let head = Head {
            phase: "M",
            category: "",
            name: what,
            owner,
        };
        let args = Map::from_iter([(argument.to_owned(), value)]);
        self.event(&head, When::at(0), "", Some(args))
    }

    /// Writes the name of a `thread` from `extra_thread` that has events of `own`.
    pub(super) fn name_extra(
        &mut self,
        own: ThreadKoids,
        thread: u64,
        name: &str,
    ) -> Result<(), ExportError> {
        self.name_count += 1;
        self.name(&Name {
            what: "thread_name",
            owner: own.with_thread(thread),
            name,
            own: None,
            stands_for: Some(StandsFor::Thread(own.thread)),
        })
    }
}
