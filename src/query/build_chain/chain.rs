//! A chain of a build: its steps, the waits between them, and the rows that show both.

use crate::base::{Nanos, StringId, TimeSpan, Timestamp};
use crate::trace::ProcessId;

/// Why a process had to wait for the process before it on the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// The step is the first of the chain.
    First,
    /// The process before created it.
    Fork,
    /// The process waited for its child, the previous step, to end.
    Child,
    /// The process reads this file, which the previous step wrote.
    File(StringId),
    /// The process reads the output of the previous step from a pipe.
    Pipe,
    /// The build tool recorded that the process before unblocked it.
    Unblocked,
}

impl Because {
    /// Returns the reason as one word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Because::First => "first",
            Because::Fork => "started by",
            Because::Child => "waited for",
            Because::File(_) => "reads file of",
            Because::Pipe => "reads pipe of",
            Because::Unblocked => "unblocked by",
        }
    }
}

/// A stretch of a process's life on the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainStep {
    /// The process.
    pub process: ProcessId,
    /// The stretch's time span.
    pub span: TimeSpan,
    /// The time of the stretch in which no child of the process lived.
    pub own: Nanos,
    /// Why it had to wait for the step before.
    pub because: Because,
}

/// Why no process of the chain worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    /// The chain had not begun.
    Before,
    /// All job slots of the process's job runner were taken.
    NoSlot,
    /// The process waited for children that are not on the chain.
    Children,
    /// The inputs of the next process were ready, but no process had started it.
    NotStarted,
    /// The job of the next process ran, but did not need the result of the step before yet.
    Beside,
    /// The chain was over.
    After,
}

impl Wait {
    /// Returns the reason in a few words.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Wait::Before => "before the chain",
            Wait::NoSlot => "no free job slot",
            Wait::Children => "other children",
            Wait::NotStarted => "not started yet",
            Wait::Beside => "ran beside the chain",
            Wait::After => "after the chain",
        }
    }
}

/// Time that no step of the chain took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainWait {
    /// The process that waited, or that was waited for.
    pub process: ProcessId,
    /// Its time span; of pieces inside a step, the span of the step.
    pub span: TimeSpan,
    /// The total time of all pieces in `span`.
    pub time: Nanos,
    /// The reason.
    pub why: Wait,
}

/// The critical chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The steps in time order.
    pub steps: Vec<ChainStep>,
    /// The sum of their own times.
    pub length: Nanos,
    /// The times between steps, in time order.
    pub waits: Vec<ChainWait>,
    /// From the beginning of the trace to its end: `length` and all waits together.
    pub wall: TimeSpan,
}

/// A step or a wait of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainRow {
    /// A process worked.
    Step(ChainStep),
    /// No process of the chain worked.
    Wait(ChainWait),
}

impl ChainRow {
    fn span_start(&self) -> Timestamp {
        self.span().start
    }

    /// Returns the time span of the row.
    #[must_use]
    pub(crate) fn span(&self) -> TimeSpan {
        match self {
            ChainRow::Step(step) => step.span,
            ChainRow::Wait(wait) => wait.span,
        }
    }

    /// Returns the time of the row.
    #[must_use]
    pub fn time(&self) -> Nanos {
        match self {
            ChainRow::Step(step) => step.own,
            ChainRow::Wait(wait) => wait.time,
        }
    }

    /// Returns the process of the row.
    #[must_use]
    pub fn process(&self) -> ProcessId {
        match self {
            ChainRow::Step(step) => step.process,
            ChainRow::Wait(wait) => wait.process,
        }
    }
}

/// A step or wait of a chain, and its share of the whole time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedRow {
    /// The step or wait.
    pub row: ChainRow,
    /// The share in hundredths of a percent; the shares of a chain sum to 10,000.
    pub share: u32,
}

impl Chain {
    /// Returns steps and waits by time.
    #[must_use]
    pub fn rows(&self) -> Vec<SharedRow> {
        let steps = self.steps.iter().map(|step| ChainRow::Step(*step));
        let waits = self.waits.iter().map(|wait| ChainRow::Wait(*wait));
        let mut rows: Vec<ChainRow> = steps.chain(waits).collect();
        // A step comes before the waits inside it.
        rows.sort_by_key(ChainRow::span_start);
        let total: i128 = rows.iter().map(|row| i128::from(row.time().0)).sum();
        let (mut sum, mut given) = (0_i128, 0_i128);
        let share = |row: ChainRow| {
            sum += i128::from(row.time().0);
            let until = (sum * 10_000 + total / 2) / total.max(1);
            let share = until - given;
            given = until;
            let share = share as u32;
            SharedRow { row, share }
        };
        rows.into_iter().map(share).collect()
    }

    /// The processes on it, sorted, each once.
    #[must_use]
    pub fn processes(&self) -> Vec<ProcessId> {
        let mut all: Vec<ProcessId> = self.steps.iter().map(|step| step.process).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}
