//! The critical chain: the processes of a build that had to wait for each other and took longest in total.
//!
//! ```text
//! make   |--fork------------------------------fork--|
//! cc1         |=====a.o=====|                           chain: make, cc1, ld: 2 + 14 + 9
//! cc1         |==b.o==|                                 (more machines would not make it shorter)
//! ld                                          |=====|
//! ```
//!
//! A process waits for the fork that created it, and a reader of a file waits for the processes that wrote the file. A
//! parent waits for its children when the last of them ends: a parent that runs them one at a time (a shell, a compiler
//! driver) waits for each, and a parent that runs several (`make -j`) would have started another if it could: not if
//! all its job slots were taken until then, as always with `-j1`, or became free so shortly before that it could not start
//! one meanwhile. While other children live, the end of one child is
//! not needed to start the next; if the next reads a file of the one before, the file shows that. The length of a chain
//! is the time in which its processes had no living child. The longest is found by walking through all forks, reads,
//! writes and ends once, in time order. A process that still runs lasts to the end of the trace.
//!
//! Where a build tool itself recorded which job unblocked another (arrows called `unblocks`), the chain of the unblocked
//! job continues the chain of the job that unblocked it.
//!
//! A reader of a pipe waits for the writer, if it is none of the writer's ancestors: an assembler that starts with the
//! compiler (`-pipe`) and ends after it does not take the time that the compiler takes.
//!
//! The chain is then put on the axis (`axis`), with the waits between its steps, so that the times of steps and waits
//! add up to the time of the trace. A job runner (make, ninja ...) that runs as many jobs as it may waits for a free
//! job slot.

mod axis;
mod chain;

use rustc_hash::FxHashMap;

pub use self::chain::{Because, Chain};
pub(crate) use self::chain::{ChainRow, SharedRow};

use self::axis::{SlottedStep, on_axis};
use self::chain::ChainStep;
use super::job_slots::JobSlots;
use super::process_times::ProcessTimes;
use crate::assemble::file_history::FileHistory;
use crate::base::{Nanos, StringId, TimeSpan, Timestamp};
use crate::event::FlowKind;
use crate::trace::{Process, ProcessId, Trace};

/// The number of processes above the writer of a pipe among which its reader is searched, so that a deep tree costs no more.
const MOST_ABOVE: usize = 64;

/// A chain up to the present stretch of a process.
#[derive(Clone, Copy)]
struct ChainSoFar {
    /// The sum of the own times of its closed stretches, in ns.
    length: i64,
    /// The last closed stretch, an index into [`Walk::links`]; `None`: no stretch was closed yet.
    link: Option<u32>,
}

impl ChainSoFar {
    const EMPTY: ChainSoFar = ChainSoFar {
        length: 0,
        link: None,
    };

    fn is_longer_than(self, other: Option<ChainSoFar>) -> bool {
        other.is_none_or(|other| self.length > other.length)
    }
}

/// A stretch that some chain goes through, and the stretch before it.
#[derive(Clone, Copy)]
struct Link {
    before: Option<u32>,
    process: ProcessId,
    start: Timestamp,
    end: Timestamp,
    own: i64,
    no_slot: i64,
    because: Because,
}

/// A process during the walk, with the longest chain up to now.
#[derive(Clone, Copy)]
struct State {
    /// The chain until `begun`.
    chain: ChainSoFar,
    because: Because,
    /// The start of the present stretch; its own time so far is in `own`.
    begun: Timestamp,
    own: i64,
    /// The time in it in which all job slots were taken, in ns.
    no_slot: i64,
    /// The time up to which `own` is counted.
    counted: Timestamp,
    living_children: u32,
    /// The longest chain that leads to the end of a child.
    of_children: Option<ChainSoFar>,
    /// If the process is a compiler driver that joins its children by pipes: the child that it started last.
    last_child: Option<ProcessId>,
    /// The process that reads the output of this one from a pipe, until this one ends.
    feeds: Option<ProcessId>,
    has_ended: bool,
}

/// An event of the walk. Events at the same time are taken in the order of the variants.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Written { dependency: u32 },
    Piped { flow: u32 },
    Unblocks { flow: u32 },
    End { process: u32 },
    Read { dependency: u32 },
    Begin { process: u32 },
    Unblocked { flow: u32 },
}

/// Returns by process whether it is a compiler driver whose stages run at once, joined by pipes.
fn have_piped_stages(trace: &Trace) -> Vec<bool> {
    let is_one = |process: &Process| {
        process.images.last().is_some_and(|image| {
            let mut words = image.arguments.iter();
            words.any(|&word| trace.strings.bytes(word) == b"-pipe")
        })
    };
    trace.processes.iter().map(is_one).collect()
}

struct Walk<'a> {
    trace: &'a Trace,
    times: &'a ProcessTimes,
    states: Vec<State>,
    links: Vec<Link>,
    /// The chain at the time of a write, by the index of the dependency.
    written: FxHashMap<u32, ChainSoFar>,
    /// The chain at the start of an arrow that unblocks a job, by flow.
    unblocking: FxHashMap<u32, ChainSoFar>,
    longest: Option<ChainSoFar>,
    slots: JobSlots,
    have_piped_stages: Vec<bool>,
}

/// Returns the critical chain.
#[must_use]
pub fn critical_chain(trace: &Trace, times: &ProcessTimes, history: &FileHistory) -> Chain {
    let count = times.rows.len();
    let mut events: Vec<(Timestamp, What)> = Vec::with_capacity(count * 2);
    let mut states = Vec::with_capacity(count);
    for id in 0..count as u32 {
        let span = times.of(ProcessId(id)).span;
        let is_known = trace.processes[id as usize].start.is_some();
        states.push(State {
            chain: ChainSoFar::EMPTY,
            because: Because::First,
            begun: span.start,
            own: 0,
            counted: span.start,
            no_slot: 0,
            living_children: 0,
            of_children: None,
            last_child: None,
            feeds: None,
            has_ended: false,
        });
        if is_known {
            events.push((span.start, What::Begin { process: id }));
        }
        if trace.processes[id as usize].end.is_some() {
            events.push((span.end, What::End { process: id }));
        }
    }
    for (index, dependency) in (0..).zip(&history.dependencies) {
        if dependency.from.time <= dependency.to.time {
            events.push((dependency.from.time, What::Written { dependency: index }));
            events.push((dependency.to.time, What::Read { dependency: index }));
        }
    }
    for (index, flow) in (0..).zip(&trace.flows.rows) {
        if flow.kind == FlowKind::Pipe {
            events.push((flow.from.time, What::Piped { flow: index }));
        }
        if flow.kind == FlowKind::Unblocks && flow.from.time <= flow.to.time {
            events.push((flow.from.time, What::Unblocks { flow: index }));
            events.push((flow.to.time, What::Unblocked { flow: index }));
        }
    }
    events.sort_unstable();
    let mut walk = Walk {
        trace,
        times,
        states,
        links: Vec::new(),
        written: FxHashMap::default(),
        unblocking: FxHashMap::default(),
        longest: None,
        slots: JobSlots::new(trace, times),
        have_piped_stages: have_piped_stages(trace),
    };
    for (time, what) in events {
        match what {
            What::Begin { process } => walk.begin(ProcessId(process), time),
            What::End { process } => walk.end(ProcessId(process), time),
            What::Piped { flow } => {
                let flow = &trace.flows.rows[flow as usize];
                let process = |thread| trace.thread(thread).process;
                let ends = (process(flow.from.thread), process(flow.to.thread));
                if let (Some(writer), Some(reader)) = ends {
                    walk.pipe(writer, reader, time);
                }
            }
            What::Unblocks { flow } => {
                let thread = trace.flows.rows[flow as usize].from.thread;
                if let Some(process) = trace.thread(thread).process {
                    let chain = walk.close(process, time);
                    walk.unblocking.insert(flow, chain);
                }
            }
            What::Unblocked { flow } => {
                let thread = trace.flows.rows[flow as usize].to.thread;
                let from = walk.unblocking.get(&flow).copied();
                if let (Some(process), Some(from)) = (trace.thread(thread).process, from) {
                    walk.join(process, time, from, Because::Unblocked);
                }
            }
            What::Written { dependency } => {
                let Some(row) = history.dependencies.get(dependency as usize) else {
                    continue;
                };
                let chain = walk.close(row.writer, time);
                walk.written.insert(dependency, chain);
            }
            What::Read { dependency } => {
                let (Some(row), Some(&from)) = (
                    history.dependencies.get(dependency as usize),
                    walk.written.get(&dependency),
                ) else {
                    continue;
                };
                let name = trace
                    .files
                    .rows
                    .get(row.read as usize)
                    .map_or(StringId::EMPTY, |row| row.path);
                walk.join(row.reader, time, from, Because::File(name));
            }
        }
    }
    for id in (0..count as u32).map(ProcessId) {
        let process = &trace.processes[id.0 as usize];
        // The end of the trace ends the stretches of processes that still run. A process from before the trace (such as
        // the shell around the build) has no start and is left out.
        if process.start.is_some() && process.end.is_none() {
            let chain = walk.close(id, trace.span.end);
            walk.offer(chain);
        }
    }
    walk.chain()
}

impl Walk<'_> {
    fn state(&mut self, id: ProcessId) -> Option<&mut State> {
        self.states.get_mut(id.0 as usize)
    }

    /// Counts a process's own time up to `time`.
    fn count(&mut self, id: ProcessId, time: Timestamp) {
        let counted = self.states.get(id.0 as usize).map(|state| state.counted);
        let no_slot = match counted {
            Some(counted) if self.slots.is_runner(id) => self.slots.taken(counted, time),
            _ => 0,
        };
        if let Some(state) = self.state(id) {
            let passed = (time - state.counted).0.max(0);
            if state.living_children == 0 {
                state.own += passed;
            } else if passed > 0 {
                state.no_slot += no_slot;
            }
            state.counted = state.counted.max(time);
        }
    }

    fn parent(&self, id: ProcessId) -> Option<ProcessId> {
        // The tree cuts loops of parents: its roots have no parent, even if the file names one.
        (self.times.depths.get(id.0 as usize).copied()? > 0)
            .then(|| self.trace.processes.get(id.0 as usize)?.parent)
            .flatten()
    }

    fn link(&self, index: Option<u32>) -> Option<&Link> {
        self.links.get(index? as usize)
    }

    /// Ends the present stretch of a process; returns the chain that ends with this stretch.
    fn close(&mut self, id: ProcessId, time: Timestamp) -> ChainSoFar {
        self.count(id, time);
        let Some(&state) = self.states.get(id.0 as usize) else {
            return ChainSoFar::EMPTY;
        };
        let is_same = self
            .link(state.chain.link)
            .is_some_and(|link| link.process == id && link.end == time);
        if is_same && state.own == 0 {
            return state.chain;
        }
        // A stretch is only closed where a chain continues from it, as here.
        self.links.push(Link {
            before: state.chain.link,
            process: id,
            start: state.begun,
            end: time,
            own: state.own,
            no_slot: state.no_slot,
            because: state.because,
        });
        let chain = ChainSoFar {
            length: state.chain.length + state.own,
            link: Some(self.links.len() as u32 - 1),
        };
        if let Some(state) = self.state(id) {
            state.chain = chain;
            state.begun = time;
            (state.own, state.no_slot) = (0, 0);
            state.because = Because::First;
        }
        chain
    }

    /// Makes a process continue another chain from `time` on, if that chain is longer than its own.
    fn join(&mut self, id: ProcessId, time: Timestamp, from: ChainSoFar, because: Because) {
        self.count(id, time);
        if let Some(state) = self.state(id)
            && (from.length > state.chain.length + state.own || because == Because::Pipe)
        {
            state.chain = from;
            state.because = because;
            state.begun = time;
            (state.own, state.no_slot) = (0, 0);
        }
    }

    /// Applies that the writer of a pipe closed it at `time`: its reader could not end before, however long the reader
    /// lived. A reader from which the writer descends waits as parents do.
    fn pipe(&mut self, writer: ProcessId, reader: ProcessId, time: Timestamp) {
        let lives = |state: &State| !state.has_ended && state.begun < time;
        let above = std::iter::successors(Some(writer), |&id| self.parent(id));
        if above.take(MOST_ABOVE).any(|id| id == reader) {
            // A job runner that collects the output of its jobs runs other jobs meanwhile.
            return;
        }
        if self.states.get(reader.0 as usize).is_some_and(lives) {
            let chain = self.close(writer, time);
            self.join(reader, time, chain, Because::Pipe);
        }
    }

    /// Stores a chain if it is the longest so far.
    fn offer(&mut self, chain: ChainSoFar) {
        if chain.is_longer_than(self.longest) {
            self.longest = Some(chain);
        }
    }

    fn begin(&mut self, id: ProcessId, time: Timestamp) {
        let Some(parent) = self.parent(id) else {
            return;
        };
        let from = self.close(parent, time);
        let is_busy = self.states.get(parent.0 as usize);
        let is_busy = is_busy.is_some_and(|state| state.living_children > 0);
        if is_busy && self.have_piped_stages.get(parent.0 as usize) == Some(&true) {
            let writer = self.state(parent).and_then(|state| state.last_child);
            if let Some(writer) = writer.and_then(|writer| self.state(writer)) {
                writer.feeds = Some(id);
            }
        }
        if let Some(state) = self.state(parent) {
            state.living_children += 1;
            state.last_child = Some(id);
        }
        if let Some(state) = self.state(id) {
            state.chain = from;
            state.because = Because::Fork;
        }
    }

    fn end(&mut self, id: ProcessId, time: Timestamp) {
        let from = self.close(id, time);
        self.offer(from);
        let feeds = self.state(id).and_then(|state| {
            state.has_ended = true;
            state.feeds
        });
        if let Some(reader) = feeds {
            self.pipe(id, reader, time);
        }
        let Some(parent) = self.parent(id) else {
            return;
        };
        self.count(parent, time);
        let is_born = self.trace.processes[id.0 as usize].start.is_some();
        let Some(state) = self.state(parent) else {
            return;
        };
        if is_born {
            state.living_children = state.living_children.saturating_sub(1);
        }
        if from.is_longer_than(state.of_children) {
            state.of_children = Some(from);
        }
        if state.living_children == 0
            && let Some(of_children) = state.of_children.take()
            && !self.waited_for_a_slot(parent, time)
        {
            self.join(parent, time, of_children, Because::Child);
        }
    }

    /// Returns whether the job of a runner that ended at `time` was the only one because no slot was free: what comes next
    /// may not need it.
    fn waited_for_a_slot(&self, runner: ProcessId, time: Timestamp) -> bool {
        self.slots.is_limit_stated()
            && self.slots.is_runner(runner)
            && self.slots.were_taken_until(time)
    }

    /// Returns the longest chain, from its first stretch on; neighbouring stretches of one process become one step.
    fn chain(&self) -> Chain {
        let mut steps: Vec<SlottedStep> = Vec::new();
        let mut at = self.longest.and_then(|chain| chain.link);
        while let Some(link) = self.link(at) {
            let step = ChainStep {
                process: link.process,
                span: TimeSpan::new(link.start, link.end.max(link.start)),
                own: Nanos(link.own),
                because: link.because,
            };
            match steps.last_mut() {
                // `last` is later in time.
                Some(SlottedStep {
                    step: last,
                    no_slot,
                }) if last.process == step.process && last.because == Because::First => {
                    last.span = TimeSpan::new(step.span.start, last.span.end);
                    last.own = Nanos(last.own.0 + step.own.0);
                    last.because = step.because;
                    *no_slot += link.no_slot;
                }
                _ => steps.push(SlottedStep {
                    step,
                    no_slot: link.no_slot,
                }),
            }
            at = link.before;
        }
        steps.reverse();
        on_axis(steps, self.trace, self.times, &self.slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::file_history::{FileDependency, FileId, Moment};
    use crate::query::process_times::tests::trace_of;
    use crate::trace::EventId;

    fn depends(writer: u32, from: i64, reader: u32, to: i64) -> FileDependency {
        let at = |time| Moment {
            time: Timestamp(time),
            event: EventId(0),
        };
        FileDependency {
            file: FileId(0),
            writer: ProcessId(writer),
            reader: ProcessId(reader),
            write: 0,
            read: 0,
            from: at(from),
            to: at(to),
        }
    }

    fn chain_of(trace: &Trace, dependencies: Vec<FileDependency>) -> (Vec<(u32, i64)>, i64) {
        let times = ProcessTimes::new(trace);
        let history = FileHistory {
            dependencies,
            ..FileHistory::default()
        };
        let chain = critical_chain(trace, &times, &history);
        let steps = chain
            .steps
            .iter()
            .map(|step| (step.process.0, step.own.0))
            .collect();
        (steps, chain.length.0)
    }

    #[test]
    fn a_shell_that_runs_one_after_the_other_is_one_chain() {
        let trace = trace_of(&[(None, 0, 30), (Some(0), 2, 10), (Some(0), 12, 25)]);
        let (steps, length) = chain_of(&trace, Vec::new());
        assert_eq!(steps, [(0, 2), (1, 8), (0, 2), (2, 13), (0, 5)]);
        assert_eq!(length, 30);
    }

    #[test]
    fn a_guessed_number_of_slots_makes_no_job_free_of_the_one_before() {
        // Three children one after the other, of a program that is no known runner.
        let all = [
            (None, 0, 40),
            (Some(0), 2, 10),
            (Some(0), 12, 25),
            (Some(0), 26, 30),
        ];
        let (_, length) = chain_of(&trace_of(&all), Vec::new());
        assert_eq!(length, 40);
    }

    #[test]
    fn what_ran_at_once_is_on_the_chain_only_where_files_say_so() {
        // make -j2: three compilers, and a linker that reads the output of the second one.
        let trace = trace_of(&[
            (None, 0, 60),
            (Some(0), 2, 10),
            (Some(0), 3, 20),
            (Some(0), 11, 28),
            (Some(0), 22, 50),
        ]);
        let (steps, length) = chain_of(&trace, Vec::new());
        assert_eq!(steps, [(0, 2), (4, 28), (0, 10)]);
        assert_eq!(length, 40);
        let (steps, length) = chain_of(&trace, vec![depends(2, 19, 4, 24)]);
        assert_eq!(steps, [(0, 2), (2, 16), (4, 26), (0, 10)]);
        assert_eq!(length, 54);
    }

    #[test]
    fn a_parent_without_a_living_child_has_waited_for_all() {
        // make -j2 with nothing to start until both are done.
        let trace = trace_of(&[
            (None, 0, 60),
            (Some(0), 2, 10),
            (Some(0), 3, 20),
            (Some(0), 25, 50),
        ]);
        let (steps, length) = chain_of(&trace, Vec::new());
        assert_eq!(steps, [(0, 2), (2, 17), (0, 5), (3, 25), (0, 10)]);
        assert_eq!(length, 59);
    }

    #[test]
    fn what_still_runs_counts_to_the_end() {
        let mut trace = trace_of(&[(None, 0, 99), (Some(0), 2, 10), (Some(0), 12, 99)]);
        for process in [0, 2] {
            trace.processes[process].end = None;
        }
        let (steps, length) = chain_of(&trace, Vec::new());
        assert_eq!(steps, [(0, 2), (1, 8), (0, 2), (2, 88)]);
        assert_eq!(length, 100);
        trace.processes[1].end = None;
        let (steps, _) = chain_of(&trace, Vec::new());
        assert_eq!(steps, [(0, 2), (1, 98)]);
    }

    #[test]
    fn a_damaged_forest_still_has_a_chain() {
        let trace = trace_of(&[(Some(1), 0, 30), (Some(0), 2, 10), (Some(9), 5, 6)]);
        let (_, length) = chain_of(&trace, vec![depends(2, 6, 0, 7)]);
        assert!(length > 0);
        let (steps, length) = chain_of(&Trace::default(), Vec::new());
        assert!(steps.is_empty() && length == 0);
    }
}
