//! Counters and their samples.

use crate::base::StringId;
use crate::event::{ProcessKey, ThreadKey};

/// A counter's value, valid from the time of its event on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The event.
    pub event: u32,
    /// Index into the part's series.
    pub series: u32,
    /// The value; whole numbers up to 2^53 are exact.
    pub value: f64,
}

/// A counter track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Series {
    /// Name of the counter track.
    pub name: StringId,
    /// What the counter belongs to.
    pub scope: SeriesScope,
}

/// What a counter belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SeriesScope {
    /// The whole machine.
    Global,
    /// One CPU.
    Cpu(u32),
    /// One process named by the file.
    Process(ProcessKey),
    /// One thread.
    Thread(ThreadKey),
}
