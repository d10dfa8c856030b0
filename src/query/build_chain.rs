//! The critical chain: what of a build must come one after the other, and takes longest.
//!
//! ```text
//! make   |--fork------------------------------fork--|
//! cc1         |=====a.o=====|                           chain: make, cc1, ld: 2 + 14 + 9
//! cc1         |==b.o==|                                 (more machines would not make it shorter)
//! ld                                          |=====|
//! ```
//!
//! What must wait for what: a process for the fork that made it; a reader of a file for those that wrote it; a parent
//! for its children when the last of them ends: one that runs them one at a time (a shell, a compiler driver) waits for
//! each, one that runs several (`make -j`) would have started another if it could. While others still live it does not
//! need one of them to start the next: if the next reads a file of it, that is known by itself. The length of a chain
//! is the time in which its processes had no living child; the longest is found by going through all forks, reads,
//! writes and ends in time order once. What still runs counts to the end of the trace.

use rustc_hash::FxHashMap;

use super::process_times::ProcessTimes;
use crate::base::{Nanos, StringId, TimeSpan, Timestamp};
use crate::trace::{FileHistory, ProcessId, Trace};

/// Why a process had to wait for the one before it on the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// It is the first.
    First,
    /// The one before made it.
    Fork,
    /// It waited for the one before, its child, to end.
    Child,
    /// It reads this file, which the one before wrote.
    File(StringId),
}

impl Because {
    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Because::First => "first",
            Because::Fork => "started by",
            Because::Child => "waited for",
            Because::File(_) => "reads file of",
        }
    }
}

/// A stretch of a process's life on the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainStep {
    /// Who.
    pub process: ProcessId,
    /// From when to when.
    pub span: TimeSpan,
    /// How much of it the process itself took: no child of it lived.
    pub own: Nanos,
    /// Why it had to wait for the step before.
    pub because: Because,
}

/// The critical chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// Its steps in time order.
    pub steps: Vec<ChainStep>,
    /// The sum of their own times.
    pub length: Nanos,
}

impl Chain {
    /// The processes on it, sorted, each once.
    #[must_use]
    pub fn processes(&self) -> Vec<ProcessId> {
        let mut all: Vec<ProcessId> = self.steps.iter().map(|step| step.process).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

const NO_STEP: u32 = u32::MAX;

/// A stretch that some chain goes through, and the stretch before it.
#[derive(Clone, Copy)]
struct Link {
    before: u32,
    process: ProcessId,
    start: Timestamp,
    end: Timestamp,
    own: i64,
    because: Because,
}

/// A process while time goes on: the longest chain that leads to what it does now.
#[derive(Clone, Copy)]
struct State {
    /// The chain's length until `since`, and its last closed stretch.
    length: i64,
    link: u32,
    because: Because,
    /// Since when the present stretch lasts, and its own time so far.
    begun: Timestamp,
    own: i64,
    /// Until when `own` is counted.
    counted: Timestamp,
    living_children: u32,
    /// The longest chain that leads to the end of a child (its length, its last stretch).
    of_children: (i64, u32),
}

/// What happens, in the order in which things at the same time are taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Written { dependency: u32 },
    End { process: u32 },
    Read { dependency: u32 },
    Begin { process: u32 },
}

struct Walk<'a> {
    trace: &'a Trace,
    times: &'a ProcessTimes,
    states: Vec<State>,
    links: Vec<Link>,
    /// The chain at the time of a write, by dependency.
    written: FxHashMap<u32, (i64, u32)>,
    best: (i64, u32),
}

/// Finds it.
#[must_use]
pub fn critical_chain(trace: &Trace, times: &ProcessTimes, history: &FileHistory) -> Chain {
    let count = times.rows.len();
    let mut events: Vec<(Timestamp, What)> = Vec::with_capacity(count * 2);
    let mut states = Vec::with_capacity(count);
    for id in 0..count as u32 {
        let span = times.of(ProcessId(id)).span;
        let is_known = trace.processes[id as usize].start.is_some();
        states.push(State {
            length: 0,
            link: NO_STEP,
            because: Because::First,
            begun: span.start,
            own: 0,
            counted: span.start,
            living_children: 0,
            of_children: (-1, NO_STEP),
        });
        if is_known {
            events.push((span.start, What::Begin { process: id }));
        }
        if trace.processes[id as usize].end.is_some() {
            events.push((span.end, What::End { process: id }));
        }
    }
    for (index, dependency) in (0..).zip(&history.dependencies) {
        if dependency.from.0 <= dependency.to.0 {
            events.push((dependency.from.0, What::Written { dependency: index }));
            events.push((dependency.to.0, What::Read { dependency: index }));
        }
    }
    events.sort_unstable();
    let mut walk = Walk {
        trace,
        times,
        states,
        links: Vec::new(),
        written: FxHashMap::default(),
        best: (-1, NO_STEP),
    };
    for (time, what) in events {
        match what {
            What::Begin { process } => walk.begin(ProcessId(process), time),
            What::End { process } => walk.end(ProcessId(process), time),
            What::Written { dependency } => {
                let Some(row) = history.dependencies.get(dependency as usize) else {
                    continue;
                };
                let (length, link) = walk.close(row.writer, time);
                walk.written.insert(dependency, (length, link));
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
        // The shell around the build only waits for what comes after.
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
        if let Some(state) = self.state(id) {
            if state.living_children == 0 {
                state.own += (time - state.counted).0.max(0);
            }
            state.counted = state.counted.max(time);
        }
    }

    fn parent(&self, id: ProcessId) -> Option<ProcessId> {
        // Circles were cut in the tree: a root has no parent, whatever the file says.
        (self.times.depths.get(id.0 as usize).copied()? > 0)
            .then(|| self.trace.processes.get(id.0 as usize)?.parent)
            .flatten()
    }

    /// Ends the present stretch of a process; its chain's length, and the stretch.
    fn close(&mut self, id: ProcessId, time: Timestamp) -> (i64, u32) {
        self.count(id, time);
        let Some(&state) = self.states.get(id.0 as usize) else {
            return (0, NO_STEP);
        };
        let length = state.length + state.own;
        let is_same = self
            .links
            .get(state.link as usize)
            .is_some_and(|link| link.process == id && link.end == time);
        if is_same && state.own == 0 {
            return (length, state.link);
        }
        // A stretch that only goes on need not be closed where nobody else goes on from it, but here somebody does.
        self.links.push(Link {
            before: state.link,
            process: id,
            start: state.begun,
            end: time,
            own: state.own,
            because: state.because,
        });
        let link = self.links.len() as u32 - 1;
        if let Some(state) = self.state(id) {
            state.length = length;
            state.link = link;
            state.begun = time;
            state.own = 0;
            state.because = Because::First;
        }
        (length, link)
    }

    /// From `time` on a process goes on from another's chain, if that is longer than its own.
    fn join(&mut self, id: ProcessId, time: Timestamp, from: (i64, u32), because: Because) {
        self.count(id, time);
        if let Some(state) = self.state(id)
            && from.0 > state.length + state.own
        {
            state.length = from.0;
            state.link = from.1;
            state.because = because;
            state.begun = time;
            state.own = 0;
        }
    }

    /// A chain that may be the longest.
    fn offer(&mut self, chain: (i64, u32)) {
        if chain.0 > self.best.0 {
            self.best = chain;
        }
    }

    fn begin(&mut self, id: ProcessId, time: Timestamp) {
        let Some(parent) = self.parent(id) else {
            return;
        };
        let from = self.close(parent, time);
        if let Some(state) = self.state(parent) {
            state.living_children += 1;
        }
        if let Some(state) = self.state(id) {
            state.length = from.0;
            state.link = from.1;
            state.because = Because::Fork;
        }
    }

    fn end(&mut self, id: ProcessId, time: Timestamp) {
        let from = self.close(id, time);
        self.offer(from);
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
        if from.0 > state.of_children.0 {
            state.of_children = from;
        }
        if state.living_children == 0 {
            let of_children = std::mem::replace(&mut state.of_children, (-1, NO_STEP));
            self.join(parent, time, of_children, Because::Child);
        }
    }

    /// The longest chain, from its first stretch on; neighbouring stretches of one process are one.
    fn chain(&self) -> Chain {
        let mut steps: Vec<ChainStep> = Vec::new();
        let mut at = self.best.1;
        while let Some(link) = self.links.get(at as usize) {
            let step = ChainStep {
                process: link.process,
                span: TimeSpan::new(link.start, link.end.max(link.start)),
                own: Nanos(link.own),
                because: link.because,
            };
            match steps.last_mut() {
                // `last` comes later in time.
                Some(last) if last.process == step.process && last.because == Because::First => {
                    last.span = TimeSpan::new(step.span.start, last.span.end);
                    last.own = Nanos(last.own.0 + step.own.0);
                    last.because = step.because;
                }
                _ => steps.push(step),
            }
            at = link.before;
        }
        steps.reverse();
        Chain {
            length: Nanos(steps.iter().map(|step| step.own.0).sum()),
            steps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::process_times::tests::trace_of;
    use super::*;
    use crate::trace::EventId;
    use crate::trace::file_history::FileDependency;

    fn depends(writer: u32, from: i64, reader: u32, to: i64) -> FileDependency {
        FileDependency {
            file: crate::trace::FileId(0),
            writer: ProcessId(writer),
            reader: ProcessId(reader),
            write: 0,
            read: 0,
            from: (Timestamp(from), EventId(0)),
            to: (Timestamp(to), EventId(0)),
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
    fn what_ran_at_once_is_on_the_chain_only_where_files_say_so() {
        // make -j2: three compilers, and a linker that reads what the second wrote.
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
