//! How a file is divided for parallel reading, and what is known before its events are read.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::detail::Field;
use super::rows::Ties;
use crate::base::calendar::wall_text;
use crate::base::time::grouped;
use crate::base::{Nanos, TimeSpan, Timestamp};

/// A sequence of records that can be read independently and is in time order, or nearly so: one CPU's ring buffer, one
/// block of text, one FXT stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The name to show: `CPU 3`, `CPU 3 of instance irqs`.
    pub name: String,
    /// The CPU, if the lane belongs to one.
    pub cpu: Option<u32>,
}

/// A piece of the file that is decoded by itself: about 1 to 8 MB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Offset of the part's first byte in the file, in bytes.
    pub start: u64,
    /// The part's size in the file in bytes, for progress.
    pub size_bytes: u64,
}

/// A preview of the file, from parts that are fast to read (page headers, sampled records).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coarse {
    /// From the first time that was read to just after the last one.
    pub span: TimeSpan,
    /// Samples of the lanes, sorted by lane, then time.
    pub density: Vec<DensitySample>,
}

/// How many bytes of events a lane contains from a time until the next sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DensitySample {
    /// The index of the lane in the recording.
    pub lane: u32,
    /// The time of the first event.
    pub time: Timestamp,
    /// Bytes of events from this sample to the lane's next sample; at most `u32::MAX`.
    pub bytes: u32,
}

impl DensitySample {
    /// Returns a sample of a lane.
    #[must_use]
    pub(crate) fn new(lane: u32, time: Timestamp, bytes: u64) -> DensitySample {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        DensitySample { lane, time, bytes }
    }
}

impl Coarse {
    /// Returns the preview of a recording with one lane, from one sample for each part, in any order.
    pub(crate) fn of_one_lane(mut density: Vec<DensitySample>) -> Coarse {
        density.sort_by_key(|sample| sample.time);
        let first = density.first().map_or(Timestamp(0), |sample| sample.time);
        let last = density.last().map_or(Timestamp(0), |sample| sample.time);
        Coarse {
            span: TimeSpan::new(first, last.saturating_add(Nanos(1))),
            density,
        }
    }
}

/// The unit of a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClockUnit {
    /// Nanoseconds: durations can be shown in seconds.
    #[default]
    Nanoseconds,
    /// Cycles of a processor's counter.
    Cycles,
    /// Numbers that only give the order of events: ftrace's `counter`, and `uptime`, whose ticks last 10 ms or so.
    Order,
    /// Line numbers of a text without times.
    Lines,
}

impl ClockUnit {
    /// Returns a duration as text with its unit: `1.5 ms`, `20 lines`.
    #[must_use]
    pub(crate) fn length_text(self, length: Nanos) -> String {
        let word = match self {
            ClockUnit::Nanoseconds => return length.to_string(),
            ClockUnit::Cycles => "cycle",
            ClockUnit::Order => "step",
            ClockUnit::Lines => "line",
        };
        let plural = if length.0 == 1 { "" } else { "s" };
        format!("{} {word}{plural}", grouped(length.0))
    }

    /// Returns the text of [`ClockUnit::length_text`] with exactly three decimals (none for ns), so that the numbers of
    /// a column align.
    #[must_use]
    pub(crate) fn column_length_text(self, length: Nanos) -> String {
        let text = self.length_text(length);
        if self != ClockUnit::Nanoseconds {
            return text;
        }
        match text.split_once(' ') {
            Some((_, "ns")) | None => text,
            Some((number, word)) => {
                let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
                format!("{whole}.{decimals:0<3} {word}")
            }
        }
    }

    /// Returns a time relative to `start`, with the clock's own number in parentheses; for lines, the line number.
    #[must_use]
    pub(crate) fn time_text(self, time: Timestamp, start: Timestamp) -> String {
        let since = self.length_text(time - start);
        match self {
            ClockUnit::Nanoseconds => format!("{since} ({time})"),
            ClockUnit::Cycles | ClockUnit::Order => format!("{since} ({})", grouped(time.0)),
            ClockUnit::Lines => format!("line {}", grouped(time.0)),
        }
    }
}

/// The source of the date of the first event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FirstDay {
    /// The file, or the times are not times of day.
    #[default]
    OfFile,
    /// Nothing: the file contains only times of day.
    Unknown,
    /// The user.
    Given,
}

/// What the file states about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceInfo {
    /// The format's name and version, e.g. `trace.dat 7`.
    pub format: String,
    /// Whether the events of CPUs are those of a Linux kernel's ring buffers.
    pub is_of_kernel: bool,
    /// The clock's name in the file, e.g. `mono`; empty if the file does not state it.
    pub clock: String,
    /// What is known about a clock without a name.
    pub unnamed_clock: UnnamedClock,
    /// The clock's unit.
    pub clock_unit: ClockUnit,
    /// Times in the file are multiples of this number of ns, if it is above 1. A reader adds less than this, only to
    /// keep events of equal time in the file's order.
    pub resolution_ns: i64,
    /// Wall-clock time of the trace clock's zero in ns since the Unix epoch, if the file contains it.
    pub wall_clock_zero_ns: Option<i64>,
    /// Moments that other recordings may also contain, with their times here.
    pub clock_marks: Vec<ClockMark>,
    /// The source of the date in `wall_clock_zero_ns`.
    pub first_day: FirstDay,
    /// The recording's id, by which other recordings may refer to it.
    pub trace_id: Option<u64>,
    /// The id of the recording to whose clock this recording's times were shifted (a guest's host).
    pub shifted_to: Option<u64>,
    /// The recorded machine as `uname -a` describes it, if the file contains it.
    pub uname: Option<String>,
    /// How many CPUs the machine has, if the file contains it.
    pub cpu_count: Option<u32>,
    /// How many events the recorder itself counted as lost, by CPU; a CPU with several buffers has several rows.
    pub losses: Vec<CpuLoss>,
    /// Which of several whole slices that start together contains the others.
    pub ties: Ties,
    /// The programs that wrote the recording, in the order in which the file announces them.
    pub providers: Vec<Provider>,
    /// Whether a program may have written the recording of itself: a process in another recording may be that program.
    pub may_be_self_trace: bool,
    /// The kernel objects that the file names: objects that are neither process nor thread, and processes and threads
    /// with facts that the model does not contain. Sorted by type, then number.
    pub objects: Arc<[KernelObject]>,
    /// Other facts for the info pane, in the order of display.
    pub facts: Vec<Fact>,
}

/// A fact that a file states about itself, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// Its name, such as `uname`.
    pub name: String,
    /// The text, of one line or several.
    pub value: String,
}

impl Fact {
    /// Returns a fact of this name.
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Fact {
        Fact {
            name: name.into(),
            value: value.into(),
        }
    }
}

/// A moment by which the clocks of two recordings can be related.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockMark {
    /// The moment's id: recordings with the same id mean the same moment.
    pub id: Vec<u8>,
    /// Its time on the recording's own clock, in ns.
    pub time_ns: i64,
}

impl ClockMark {
    /// The id of the zero of the kernel's `CLOCK_MONOTONIC`.
    pub(crate) const MONOTONIC_ZERO: &[u8] = b"CLOCK_MONOTONIC is 0";
    /// Maximum number of marks of a recording.
    const MOST: usize = 64;

    /// Adds a mark to `marks`, unless a mark has the id already or there are too many.
    pub(crate) fn add_to(id: &[u8], time_ns: i64, marks: &mut Vec<ClockMark>) {
        if marks.len() < ClockMark::MOST && !marks.iter().any(|mark| mark.id == id) {
            let id = id.to_vec();
            marks.push(ClockMark { id, time_ns });
        }
    }
}

/// What is known about a clock whose name the file does not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnnamedClock {
    /// Nothing, or the file names its clock.
    #[default]
    Unknown,
    /// One of the kernel's clocks; most of these count from boot.
    OfKernel,
    /// The clock of the recording from which Threadline exported the file.
    OfOrigin,
}

/// A program that wrote events of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provider {
    /// Its number in the file.
    pub number: u32,
    /// Its name, as bytes.
    pub name: Vec<u8>,
    /// Ticks of its clock in a second.
    pub ticks_per_second: u64,
    /// Name of the thread in the model that has the provider's events without a thread.
    pub thread_name: String,
}

/// A kernel object that a file names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelObject {
    /// The number of its type: 1 is a process, 2 a thread.
    pub object_type: u64,
    /// Its own number.
    pub koid: u64,
    /// Its name, as bytes.
    pub name: Vec<u8>,
    /// Other facts about it.
    pub fields: Vec<Field>,
}

/// How many events of a CPU were lost, as the recorder counted them at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuLoss {
    /// The CPU's number.
    pub cpu: u32,
    /// Events that were overwritten before they were read.
    pub overwritten: u64,
    /// Events that were dropped because the buffer was full.
    pub dropped: u64,
}

impl CpuLoss {
    /// Returns all lost events: overwritten and dropped.
    #[must_use]
    pub(crate) fn total(&self) -> u64 {
        self.overwritten.saturating_add(self.dropped)
    }
}

impl TraceInfo {
    /// Returns the wall-clock time (UTC) at `time`, if it is known and the clock counts nanoseconds.
    #[must_use]
    pub fn wall_clock(&self, time: Timestamp) -> Option<String> {
        let zero = self.wall_clock_zero_ns?;
        (self.clock_unit == ClockUnit::Nanoseconds)
            .then(|| wall_text(i128::from(time.0) + i128::from(zero)))
    }

    /// Returns the wall-clock times (UTC) of the start and end of `span`, if known.
    #[must_use]
    pub(crate) fn wall_clock_of(&self, span: TimeSpan) -> Option<String> {
        let (start, end) = (self.wall_clock(span.start)?, self.wall_clock(span.end)?);
        Some(format!("{start} to {end} (UTC)"))
    }
}
