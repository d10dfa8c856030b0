//! The rows of all parts, grouped by kind, so that each stage can consume the kinds that it needs.

use crate::event::{
    AsyncMark, CallDepth, Complete, Cut, FileRow, FlowMark, LaneColumns, LifeRow, LogRow, Mark,
    Measured, MeasuredClock, Migration, RequestRow, Sample, Series, Sighted, StateFacts, Stated,
    Switch, Wakeup, WholeRun, WholeState,
};

/// Rows of one kind: those of each part, in the order of [`Recorded::parts`](super::recorded::Recorded::parts).
pub(crate) type PerPart<T> = Vec<Vec<T>>;

/// All rows except the events. The numbers of events, strings and labels in a row are those of its part.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Context switches and wakeups.
    pub scheduling: SchedulingRows,
    /// Items that the file contains only in part.
    pub cuts: PerPart<Cut>,
    /// Begins and ends of slices.
    pub marks: PerPart<Mark>,
    /// Slices that arrived whole.
    pub completes: PerPart<Complete>,
    /// Durations that the recorder measured.
    pub measured: MeasuredRows,
    /// Depths of calls of traced functions.
    pub call_depths: PerPart<CallDepth>,
    /// Begins, instants and ends of asynchronous slices.
    pub asyncs: PerPart<AsyncMark>,
    /// Events about bios and requests of the block layer.
    pub requests: PerPart<RequestRow>,
    /// Samples of counters.
    pub samples: SampleRows,
    /// Flow begins, steps and ends.
    pub flows: PerPart<FlowMark>,
    /// Forks, execs, exits, names.
    pub lives: PerPart<LifeRow>,
    /// Operations on files.
    pub files: PerPart<FileRow>,
    /// Log messages.
    pub logs: PerPart<LogRow>,
}

/// Rows about context switches and wakeups.
#[derive(Debug, Default)]
pub(crate) struct SchedulingRows {
    /// Context switches.
    pub switches: PerPart<Switch>,
    /// Wakeups.
    pub wakeups: PerPart<Wakeup>,
    /// Moves of threads to other CPUs.
    pub migrations: PerPart<Migration>,
    /// Threads that ran, by events of other threads.
    pub sighted: PerPart<Sighted>,
    /// Thread states that the file itself states for a switch or wakeup.
    pub state_facts: PerPart<StateFacts>,
    /// Runs and states that the file states whole.
    pub whole: WholeRows,
}

/// Runs and states that the file states whole.
#[derive(Debug, Default)]
pub(crate) struct WholeRows {
    /// The runs.
    pub runs: PerPart<WholeRun>,
    /// The states.
    pub states: PerPart<WholeState>,
}

impl WholeRows {
    /// Returns whether there is neither a run nor a state.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.iter().all(Vec::is_empty) && self.states.iter().all(Vec::is_empty)
    }
}

/// Rows about durations that the recorder measured.
#[derive(Debug, Default)]
pub(crate) struct MeasuredRows {
    /// The durations.
    pub measured: PerPart<Measured>,
    /// Labels of slices whose begins may be lost.
    pub stated: PerPart<Stated>,
    /// The clock that measured, for each part.
    pub clocks: Vec<MeasuredClock>,
}

/// Samples of counters and the series that they belong to.
#[derive(Debug, Default)]
pub(crate) struct SampleRows {
    /// The samples.
    pub samples: PerPart<Sample>,
    /// The series of each part.
    pub series: PerPart<Series>,
}

impl Rows {
    /// Adds the rows of the next part.
    pub(crate) fn push(&mut self, part: LaneColumns) {
        self.scheduling.switches.push(part.switches);
        self.scheduling.wakeups.push(part.wakeups);
        self.scheduling.migrations.push(part.migrations);
        self.scheduling.sighted.push(part.sighted);
        self.scheduling.state_facts.push(part.state_facts);
        self.cuts.push(part.cuts);
        self.scheduling.whole.runs.push(part.whole_runs);
        self.scheduling.whole.states.push(part.whole_states);
        self.marks.push(part.marks);
        self.completes.push(part.completes);
        self.measured.measured.push(part.measured);
        self.measured.stated.push(part.stated);
        self.call_depths.push(part.call_depths);
        self.measured.clocks.push(part.measured_clock);
        self.asyncs.push(part.asyncs);
        self.requests.push(part.requests);
        self.samples.samples.push(part.samples);
        self.samples.series.push(part.series);
        self.flows.push(part.flows);
        self.lives.push(part.lives);
        self.files.push(part.files);
        self.logs.push(part.logs);
    }
}
