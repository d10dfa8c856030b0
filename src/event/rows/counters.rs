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

/// Returns the name of the series of an argument of a counter event: `event:argument:id`, without an argument that has
/// the event's name and without an empty id.
#[must_use]
pub(crate) fn series_name(event: &[u8], argument: &[u8], id: &[u8]) -> Vec<u8> {
    let mut name = event.to_vec();
    for (part, is_named) in [(argument, argument != event), (id, true)] {
        if is_named && !part.is_empty() {
            name.push(b':');
            name.extend_from_slice(part);
        }
    }
    name
}
