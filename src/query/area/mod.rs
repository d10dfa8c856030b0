//! Sums over an area: some lanes (or all) in a span (or at all times) in, groups with counts, sums and percentiles of
//! durations out.
//!
//! A slice that overlaps the span counts with its whole duration. A slice without an end has no duration: it is counted
//! separately, with the time that it certainly lasted, and is in no sum. Slices of different kinds are never in one
//! group. Runs and states count with their time inside the span. A run or state without an end is unfinished, too: it
//! is in no sum and no mean, but it counts in the share of the span. A thread's lane includes its runs on all CPUs, and
//! a CPU's lane includes the "running" states of the threads there. On a CPU, slices of the CPU's own track count
//! whole, and each slice of a thread counts once, with the time that it ran there in the span (`on_cpu`). Raw events
//! are only counted ([`events`]). [`groups`] is exact and walks the area on all cores; [`LiveArea`] follows a drag: it
//! adds and removes only rows that an edge passed over, a bounded number in each frame.

mod choose;
pub mod counters;
pub mod events;
mod exact;
mod grouping;
mod label_groups;
mod live;
pub(crate) mod on_cpu;
mod source;
mod tally;

use crate::base::{StringId, TimeSpan};
use crate::event::SliceKind;
use crate::trace::{
    CounterTrackId, CpuId, ProcessId, SliceId, ThreadId, ThreadState, Trace, TrackId,
};

pub(crate) use choose::{AsyncsOf, whole_tracks};
pub use exact::{groups, lengths};
pub use live::LiveArea;

/// Lanes and a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    /// The lanes.
    pub lanes: Lanes,
    /// The time range.
    pub span: TimeSpan,
    /// The kind of slices; `None`: all kinds, each in groups of its own.
    pub kind: Option<SliceKind>,
    /// Threads and CPUs whose tracks are hidden: their intervals count on no lane of the area.
    pub hidden: Hidden,
}

/// Threads and CPUs that sums leave out; both lists ascend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hidden {
    /// Threads whose slices, runs and events do not count, on any CPU.
    pub threads: Vec<ThreadId>,
    /// CPUs whose runs and events do not count.
    pub cpus: Vec<CpuId>,
}

impl Default for Area {
    fn default() -> Area {
        Area::all()
    }
}

impl Area {
    /// Returns the area of all lanes at all times.
    #[must_use]
    pub fn all() -> Area {
        Area::of(TimeSpan::ALL)
    }

    /// Returns the area of all lanes in a span.
    #[must_use]
    pub fn of(span: TimeSpan) -> Area {
        Area {
            lanes: Lanes::All,
            span,
            kind: None,
            hidden: Hidden::default(),
        }
    }
}

/// The lanes of an area.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lanes {
    /// All lanes.
    #[default]
    All,
    /// These lanes.
    Of(Vec<Lane>),
    /// The slices, runs and events of some threads on some CPUs, according to the runs.
    Both {
        /// The threads.
        threads: Vec<ThreadId>,
        /// The CPUs.
        cpus: Vec<CpuId>,
    },
}

/// A lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// The slices of a track, all its rows.
    Track(TrackId),
    /// The runs of a CPU, which are also states of their threads.
    Runs(CpuId),
    /// Slices of threads: of each, the time in which its thread ran on this CPU.
    OnCpu(CpuId),
    /// The states of a thread, and its runs.
    States(ThreadId),
    /// A counter.
    Counter(CounterTrackId),
    /// The asynchronous slices that a thread began, on any track.
    AsyncOf(ThreadId),
}

/// The intervals of an area that are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// Slices, each with its whole duration.
    Slices,
    /// Runs on CPUs, cut at the edges of the span.
    Runs,
    /// States of threads, cut at the edges of the span.
    States,
}

/// The property by which intervals are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupBy {
    /// Slices: name and category. States: the state. Runs: the thread.
    Name,
    /// The thread (of states: each of its states). Slices of CPUs (interrupts, timers) are of no thread.
    Thread,
    /// Threads of one name together (of states: each of their states).
    ThreadName,
    /// The process (of states: each of its states). Slices of CPUs are of no process.
    Process,
    /// The CPU (of states: only running ones; of runs: not those of the idle thread).
    Cpu,
}

/// The common properties of a group; empty where [`GroupBy`] does not group by them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Key {
    /// Name and category of slices.
    pub name: Option<(StringId, StringId)>,
    /// The thread; for threads that share a name, the first of them.
    pub thread: Option<ThreadId>,
    /// Whether all threads with this name are meant.
    pub is_any_of_name: bool,
    /// The process; none for intervals whose process is unknown.
    pub process: Option<ProcessId>,
    /// The CPU.
    pub cpu: Option<CpuId>,
    /// The state.
    pub state: Option<ThreadState>,
    /// The kind of the slices.
    pub kind: Option<SliceKind>,
}

impl Key {
    /// Returns the group's name, for people.
    #[must_use]
    pub fn label(&self, trace: &Trace) -> String {
        let own = if let Some((name, _)) = self.name {
            trace.text(name).into_owned()
        } else if let (Some(id), true) = (self.thread, self.is_any_of_name) {
            trace.thread_name(id).into_owned()
        } else if let Some(id) = self.thread {
            format!("{} {}", trace.thread_name(id), trace.thread(id).tid)
        } else if let Some(cpu) = self.cpu {
            trace.cpu_title(cpu)
        } else if let Some(process) = self
            .process
            .and_then(|id| trace.processes.get(id.0 as usize))
        {
            format!("{} {}", trace.text(process.name), process.pid)
        } else if let Some(state) = self.state {
            return state.word().to_owned();
        } else {
            "no known thread or process".to_owned()
        };
        match self.state {
            Some(state) => format!("{own} · {}", state.word()),
            None => own,
        }
    }
}

/// How exact percentiles, the shortest and the longest are. Counts and sums always are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// To the nanosecond.
    Exact,
    /// Within 3 %.
    About,
}

/// The sums of a group. All times in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The common properties of the group's intervals.
    pub key: Key,
    /// The number of finished intervals; if it is 0, all durations are also 0.
    pub count: u64,
    /// The sum of their durations.
    pub sum_ns: i128,
    /// The sum of their durations without nested slices (in unfinished slices: without the drawn part of nested slices).
    pub own_ns: i128,
    /// The time of all intervals inside the area, of unfinished ones their least duration there.
    pub inside_ns: i128,
    /// The number of unfinished intervals. All other numbers leave them out, except `unfinished_ns` and `inside_ns`.
    pub unfinished: u64,
    /// The least total duration of the unfinished intervals: slices whole, of runs and states the parts inside the area.
    pub unfinished_ns: i128,
    /// The shortest.
    pub min_ns: i64,
    /// The longest.
    pub max_ns: i64,
    /// The median: half of the durations are at most this long.
    pub p50_ns: i64,
    /// 95 of 100 durations are at most this long.
    pub p95_ns: i64,
    /// 99 of 100 durations are at most this long.
    pub p99_ns: i64,
    /// The longest slice, if it is known.
    pub longest: Option<SliceId>,
    /// How exact the numbers above are.
    pub precision: Precision,
}

impl Group {
    /// The mean duration.
    #[must_use]
    pub fn mean_ns(&self) -> i64 {
        (self.sum_ns / i128::from(self.count.max(1))) as i64
    }

    /// Returns the duration `ns`; `None` if no interval has ended, because all durations are then 0.
    #[must_use]
    pub(crate) fn known(&self, ns: i64) -> Option<i64> {
        (self.count > 0).then_some(ns)
    }
}
