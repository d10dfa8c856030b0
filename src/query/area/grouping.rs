//! The group of each interval of a source, and the name of a group.

use super::on_cpu::Part;
use super::source::{STATES, Source, WantedKinds};
use super::{GroupBy, Key, What};
use crate::trace::{CpuId, EventId, ProcessId, SliceId, ThreadId, ThreadState, TrackKind};

impl Source<'_> {
    /// The group of interval `at` of a row of `owner`; `None` if it counts in no group.
    #[inline]
    pub(crate) fn group(&self, owner: u32, at: u32) -> Option<u32> {
        let trace = self.trace;
        match self.shape.what {
            What::Slices => self.group_of_slice(owner, at, trace.slices.label_ids.at(at as usize)),
            What::Runs if !self.is_run_within(trace.runs.threads[at as usize], owner) => None,
            What::States if !self.is_state_within(owner, at) => None,
            What::Runs => match self.shape.by {
                GroupBy::Cpu if trace.runs.threads[at as usize] == ThreadId::IDLE.0 => None,
                GroupBy::Cpu => Some(owner),
                _ => self.thread_group(Some(ThreadId(trace.runs.threads[at as usize]))),
            },
            What::States => {
                let state = trace.states.states[at as usize];
                match self.shape.by {
                    GroupBy::Name => Some(state as u32),
                    GroupBy::Cpu if state != ThreadState::Running => None,
                    GroupBy::Cpu => trace.states.partners[at as usize]
                        .get()
                        .filter(|&cpu| (cpu as usize) < trace.cpus.len()),
                    _ => Some(self.thread_group(Some(ThreadId(owner)))? * STATES + state as u32),
                }
            }
        }
    }

    /// The group of slice `at` of a track (`owner`), whose label has this number; `None` if it counts in no group.
    #[inline]
    pub(super) fn group_of_slice(&self, owner: u32, at: u32, label: u32) -> Option<u32> {
        let kind = self.kind_number(label)?;
        let group = match self.shape.by {
            GroupBy::Name => self.shape.labels.of_label.get(label as usize).copied(),
            GroupBy::Cpu => self.cpu_of_slice(owner, at),
            GroupBy::Thread | GroupBy::ThreadName | GroupBy::Process => {
                match (self.kind_of_track(owner), self.shape.by) {
                    // A thread of another process may have begun a part of an operation.
                    (Some(TrackKind::Async(process @ Some(_))), GroupBy::Process) => {
                        Some(self.process_group(process))
                    }
                    // An interrupt is not what the interrupted thread did.
                    (Some(TrackKind::Cpu(_)), GroupBy::Process) => Some(self.process_group(None)),
                    (Some(TrackKind::Cpu(_)), _) => Some(self.trace.threads.len() as u32),
                    _ => self.thread_group(self.thread_of_slice(owner, at)),
                }
            }
        };
        Some(self.of_kind(group?, kind))
    }

    fn process_group(&self, process: Option<ProcessId>) -> u32 {
        process.map_or(self.trace.processes.len() as u32, |id| id.0)
    }

    fn thread_group(&self, thread: Option<ThreadId>) -> Option<u32> {
        let threads = &self.trace.threads;
        match self.shape.by {
            GroupBy::Process => {
                let thread = thread.and_then(|id| threads.get(id.0 as usize));
                Some(self.process_group(thread.and_then(|thread| thread.process)))
            }
            GroupBy::ThreadName => self.shape.namesakes.get(thread?.0 as usize).copied(),
            _ => thread
                .filter(|id| (id.0 as usize) < threads.len())
                .map(|id| id.0),
        }
    }

    /// Returns whether a run of a thread on a CPU counts.
    #[inline]
    fn is_run_within(&self, thread: u32, cpu: u32) -> bool {
        let limits = self.shape.limits.as_ref();
        limits.is_none_or(|limits| limits.has_run(ThreadId(thread), CpuId(cpu)))
    }

    /// Returns whether a state counts.
    #[inline]
    fn is_state_within(&self, thread: u32, at: u32) -> bool {
        let states = &self.trace.states;
        let limits = self.shape.limits.as_ref();
        limits.is_none_or(|limits| {
            let is_running = states.states[at as usize] == ThreadState::Running;
            let cpu = states.partners[at as usize].get().filter(|_| is_running);
            limits.has_state(ThreadId(thread), cpu.map(CpuId))
        })
    }

    /// Returns the number of the kind of a label; `None` if that kind is not wanted.
    #[inline]
    fn kind_number(&self, label: u32) -> Option<u32> {
        let kind = self.shape.kinds.number(label);
        match self.shape.wanted {
            WantedKinds::One(wanted) if wanted != Some(kind) => None,
            _ => Some(kind),
        }
    }

    /// Returns the number of the group of one kind of slices; `group` is the group without regard to kinds.
    #[inline]
    fn of_kind(&self, group: u32, kind: u32) -> u32 {
        group * self.shape.kinds.present().len() as u32 + kind
    }

    /// The group of a slice's part on a CPU; `None` if it counts in no group.
    #[inline]
    pub(crate) fn group_on(&self, part: &Part) -> Option<u32> {
        match self.shape.by {
            GroupBy::Cpu => {
                let label = self.trace.slices.label_ids.at(part.slice as usize);
                Some(self.of_kind(part.cpu?.0, self.kind_number(label)?))
            }
            _ => self.group(part.track.0, part.slice),
        }
    }

    fn kind_of_track(&self, track: u32) -> Option<TrackKind> {
        self.trace.tracks.get(track as usize).map(|it| it.kind)
    }

    fn thread_of_slice(&self, owner: u32, at: u32) -> Option<ThreadId> {
        match self.kind_of_track(owner) {
            Some(TrackKind::Thread(thread)) => Some(thread),
            _ => self.trace.events.thread(self.begin_of(at)?),
        }
    }

    fn cpu_of_slice(&self, owner: u32, at: u32) -> Option<u32> {
        match self.kind_of_track(owner) {
            Some(TrackKind::Cpu(cpu)) => Some(cpu.0),
            _ => {
                let cpu = self.trace.events.get(self.begin_of(at)?).cpu;
                cpu.filter(|cpu| (*cpu as usize) < self.trace.cpus.len())
            }
        }
    }

    fn begin_of(&self, at: u32) -> Option<EventId> {
        let begin = self.trace.slices.begins.get(at as usize)?;
        ((begin as usize) < self.trace.events.len()).then_some(EventId(begin))
    }

    /// Returns the key of a group; `sample` is one of its intervals.
    pub(super) fn key(&self, group: u32, sample: Option<SliceId>) -> Key {
        let kinds = self.shape.kinds.present();
        let (group, none) = match self.shape.what {
            What::Slices => {
                let count = kinds.len().max(1) as u32;
                let kind = kinds.get((group % count) as usize).copied();
                let none = Key {
                    kind,
                    ..Key::default()
                };
                (group / count, none)
            }
            What::Runs | What::States => (group, Key::default()),
        };
        let process = |at: u32| {
            let id = ProcessId(at);
            ((at as usize) < self.trace.processes.len()).then_some(id)
        };
        let state = |group: u32| ThreadState::ALL.get((group % STATES) as usize).copied();
        match (self.shape.what, self.shape.by) {
            (What::Slices, GroupBy::Name) => {
                let label = self.shape.labels.firsts.get(group as usize);
                let label = label.and_then(|&at| self.trace.slices.labels.get(at as usize));
                let label = label.or_else(|| sample.map(|id| self.trace.slices.label(id)));
                Key {
                    name: label.map(|label| (label.name, label.category)),
                    ..none
                }
            }
            (What::States, GroupBy::Name) => Key {
                state: state(group),
                ..none
            },
            (What::States, GroupBy::Thread | GroupBy::ThreadName) => Key {
                thread: Some(ThreadId(group / STATES)),
                is_any_of_name: self.shape.by == GroupBy::ThreadName,
                state: state(group),
                ..none
            },
            (What::States, GroupBy::Process) => Key {
                process: process(group / STATES),
                state: state(group),
                ..none
            },
            (_, GroupBy::Name | GroupBy::Thread | GroupBy::ThreadName) => {
                let is_thread = (group as usize) < self.trace.threads.len();
                Key {
                    thread: is_thread.then_some(ThreadId(group)),
                    is_any_of_name: is_thread && self.shape.by == GroupBy::ThreadName,
                    ..none
                }
            }
            (_, GroupBy::Process) => Key {
                process: process(group),
                ..none
            },
            (_, GroupBy::Cpu) => Key {
                cpu: Some(CpuId(group)),
                ..none
            },
        }
    }
}
