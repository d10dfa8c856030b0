//! The rows that are open on the first page of a trace, depending on its content. Rows that the user opened or closed,
//! and a saved view, take precedence.
//!
//! The first rule that applies is used; the timeline's rows are in the order of the outline.

use super::outline::{Node, Outline};
use super::row::{LaneKind, RowKey, RowKind};
use crate::trace::{Trace, TrackKind};

/// The content of the trace on which the first page depends.
struct Has {
    /// Processes of a build: programs that started programs.
    jobs: bool,
    /// Context switches, from which the states of threads follow.
    states: bool,
    /// Slices on tracks of CPUs: interrupts.
    interrupts: bool,
    /// Slices on tracks of threads.
    slices: bool,
    /// Overlapping slices.
    asyncs: bool,
}

/// Whether a group is open at first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Open,
    Closed,
    /// Open if it has at most this many rows.
    OpenUpTo(usize),
}

/// The rows that are open at first in traces of one kind.
struct Rule {
    applies: fn(&Has) -> bool,
    cpus: At,
    counters: At,
    /// Asynchronous tracks, inside and outside of processes.
    asyncs: At,
    processes: At,
}

/// Sorted by how informative the content is, the most informative first.
const RULES: &[Rule] = &[
    // A build: the jobs first; each process is a row, in the tree below.
    Rule {
        applies: |has| has.jobs && !has.states,
        cpus: At::Closed,
        counters: At::Closed,
        asyncs: At::Closed,
        processes: At::Closed,
    },
    // Scheduling: the runs of the CPUs, and the waits of each thread.
    Rule {
        applies: |has| has.states,
        cpus: At::Open,
        counters: At::OpenUpTo(4),
        asyncs: At::OpenUpTo(4),
        processes: At::Open,
    },
    // Only interrupts: the trace has tracks of CPUs only.
    Rule {
        applies: |has| has.interrupts && !has.slices,
        cpus: At::Open,
        counters: At::OpenUpTo(8),
        asyncs: At::OpenUpTo(8),
        processes: At::Open,
    },
    // Calls of threads (system calls, functions, FXT, strace, Chrome JSON): the threads first.
    Rule {
        applies: |has| has.slices,
        cpus: At::OpenUpTo(8),
        counters: At::OpenUpTo(6),
        asyncs: At::OpenUpTo(4),
        processes: At::Open,
    },
    // Overlapping slices or marks alone.
    Rule {
        applies: |has| has.asyncs || !has.slices,
        cpus: At::OpenUpTo(8),
        counters: At::Open,
        asyncs: At::Open,
        processes: At::Open,
    },
];

impl Has {
    fn new(trace: &Trace, outline: &Outline) -> Has {
        let has_rows = |is_it: fn(TrackKind) -> bool| {
            let mut tracks = trace.tracks.iter();
            tracks.any(|track| is_it(track.kind) && !track.rows.is_empty())
        };
        Has {
            jobs: !outline.jobs.lanes.is_empty(),
            states: !trace.states.is_empty(),
            interrupts: has_rows(|kind| matches!(kind, TrackKind::Cpu(_))),
            slices: has_rows(|kind| matches!(kind, TrackKind::Thread(_))),
            asyncs: has_rows(|kind| matches!(kind, TrackKind::Async(_))),
        }
    }

    /// Returns whether any track of a thread has content.
    fn threads(&self) -> bool {
        self.slices || self.states
    }
}

impl Outline {
    /// Opens and closes rows as the first page of the trace needs it.
    pub(super) fn open_first_page(&mut self, trace: &Trace) {
        let has = Has::new(trace, self);
        let Some(rule) = RULES.iter().find(|rule| (rule.applies)(&has)) else {
            return;
        };
        for node in &mut self.nodes {
            open(node, rule, &has);
        }
    }
}

/// Closes the children that a rule closes in a node; rows that the outline closed because they are many stay closed.
fn open(node: &mut Node, rule: &Rule, has: &Has) {
    let at = match (node.key, node.kind) {
        (RowKey::Cpus, _) => Some(rule.cpus),
        (RowKey::Counters, _) => Some(rule.counters),
        (RowKey::Asyncs, _) => Some(rule.asyncs),
        (_, RowKind::Process(_)) => Some(rule.processes),
        _ => None,
    };
    node.is_open_at_first &= match at {
        Some(At::Closed) => false,
        Some(At::OpenUpTo(most)) => node.children.len() <= most,
        Some(At::Open) | None => true,
    };
    // Overlapping slices take many rows: their track is closed at first if threads have content.
    if let (RowKind::Track(_), At::OpenUpTo(most)) = (node.kind, rule.asyncs)
        && has.threads()
        && node.lanes.len() > most
        && node
            .lanes
            .iter()
            .any(|lane| matches!(lane.kind, LaneKind::Slices(_)))
    {
        node.is_open_at_first = false;
    }
    for child in &mut node.children {
        open(child, rule, has);
    }
}
