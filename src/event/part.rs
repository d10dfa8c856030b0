//! How a file is cut for reading in parallel, and what is known before its events are read.

use crate::base::calendar::wall_text;
use crate::base::time::grouped;
use crate::base::{Nanos, TimeSpan, Timestamp};

/// What can be read independently and is in time order by itself, or nearly so: one CPU's ring buffer,
/// one block of text, one FXT stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// For people: `CPU 3`, `CPU 3 of instance irqs`.
    pub name: String,
    /// The CPU, where the lane belongs to one.
    pub cpu: Option<u32>,
}

/// A piece of a lane that is decoded by itself: about 1 to 8 MB of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Index into the reader's lanes. Parts stand in lane order, and in file order inside a lane.
    pub lane: u32,
    /// How many bytes of the file it takes, for progress.
    pub size_bytes: u64,
}

/// A picture of the file from what is cheap to read (page headers, sampled records).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coarse {
    /// From the first to past the last time that was seen.
    pub span: TimeSpan,
    /// (lane, time, bytes of events from here to the lane's next entry), sorted by lane, then time.
    pub density: Vec<(u32, Timestamp, u32)>,
}

/// What a clock's numbers are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockUnit {
    /// Nanoseconds: seconds may be claimed.
    #[default]
    Nanoseconds,
    /// Cycles of a processor's counter.
    Cycles,
    /// Numbers that only tell the order (ftrace's `counter`).
    Order,
    /// Lines of a text without times.
    Lines,
}

impl ClockUnit {
    /// A length of time in full: `1.5 ms`, `20 lines`.
    #[must_use]
    pub fn length_text(self, length: Nanos) -> String {
        let word = match self {
            ClockUnit::Nanoseconds => return length.to_string(),
            ClockUnit::Cycles => "cycle",
            ClockUnit::Order => "step",
            ClockUnit::Lines => "line",
        };
        let plural = if length.0 == 1 { "" } else { "s" };
        format!("{} {word}{plural}", grouped(length.0))
    }

    /// A time as since `start`, with the clock's own number behind it; a line by its number.
    #[must_use]
    pub fn time_text(self, time: Timestamp, start: Timestamp) -> String {
        let since = self.length_text(time - start);
        match self {
            ClockUnit::Nanoseconds => format!("{since} ({time})"),
            ClockUnit::Cycles | ClockUnit::Order => format!("{since} ({})", grouped(time.0)),
            ClockUnit::Lines => format!("line {}", grouped(time.0)),
        }
    }
}

/// Who says what day the times are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstDay {
    /// The file, or its times are not of a day at all.
    #[default]
    OfFile,
    /// Nobody: the file has times of day only.
    Unknown,
    /// The user.
    Given,
}

/// What the file says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceInfo {
    /// The format's name and version, e.g. `trace.dat 7`.
    pub format: String,
    /// The clock's name as the file has it, e.g. `mono`; empty if it does not say.
    pub clock: String,
    /// What the clock counts.
    pub clock_unit: ClockUnit,
    /// Wall-clock time of the trace clock's zero in ns since the Unix epoch, where the file tells.
    pub wall_clock_zero_ns: Option<i64>,
    /// Who says what day that is.
    pub first_day: FirstDay,
    /// The recording's own number, by which others may name it.
    pub trace_id: Option<u64>,
    /// The number of the recording to whose clock this one's times were shifted (a guest's host).
    pub shifted_to: Option<u64>,
    /// How many CPUs the machine has, where the file tells.
    pub cpu_count: Option<u32>,
    /// How many events the recorder itself counted as lost, by CPU; of a CPU in several buffers several rows.
    pub losses: Vec<CpuLoss>,
    /// Other facts for the info pane, in order: (name, value) such as (`uname`, `Linux 6.1 ...`).
    pub facts: Vec<(String, String)>,
}

/// How many events of a CPU were lost, as the recorder counted at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuLoss {
    /// The CPU's number.
    pub cpu: u32,
    /// Events that were overwritten before they were read.
    pub overwritten: u64,
    /// Events for which a full buffer left no room.
    pub dropped: u64,
}

impl CpuLoss {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.overwritten.saturating_add(self.dropped)
    }
}

impl TraceInfo {
    /// What a wall clock showed (UTC) at a time of this clock, where that is known.
    #[must_use]
    pub fn wall_clock(&self, time: Timestamp) -> Option<String> {
        let zero = self.wall_clock_zero_ns?;
        (self.clock_unit == ClockUnit::Nanoseconds)
            .then(|| wall_text(i128::from(time.0) + i128::from(zero)))
    }

    /// The wall clock from the first to the last time of `span`.
    #[must_use]
    pub fn wall_clock_of(&self, span: TimeSpan) -> Option<String> {
        let (start, end) = (self.wall_clock(span.start)?, self.wall_clock(span.end)?);
        Some(format!("{start} to {end} (UTC)"))
    }
}
