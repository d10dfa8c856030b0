//! Types and arguments of event records, and counts of records.

use super::limits::MOST_INLINE_BYTES;
use crate::export::shared::arguments::{Arg, ArgValue};
use crate::fxt::layout::event;

/// Types of event records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum EventType {
    /// An instant.
    Instant = event::INSTANT as u8,
    /// Values of a counter; the last word is the counter's id.
    Counter = event::COUNTER as u8,
    /// The begin of a slice.
    Begin = event::BEGIN as u8,
    /// The end of the innermost slice.
    End = event::END as u8,
    /// A whole slice; the last word is its end.
    Complete = event::COMPLETE as u8,
    /// The begin of an asynchronous slice; the last word is its id.
    AsyncBegin = event::ASYNC_BEGIN as u8,
    /// An instant of an asynchronous operation; the last word is its id.
    AsyncInstant = event::ASYNC_INSTANT as u8,
    /// The end of an asynchronous slice; the last word is its id.
    AsyncEnd = event::ASYNC_END as u8,
    /// The begin of a flow, in its first slice; the last word is its id.
    FlowBegin = event::FLOW_BEGIN as u8,
    /// A step of a flow, in a slice.
    FlowStep = event::FLOW_STEP as u8,
    /// The end of a flow.
    FlowEnd = event::FLOW_END as u8,
}

impl Arg<'_> {
    /// Returns the most words that the argument can take.
    pub(crate) fn most_words(&self) -> usize {
        let value = match &self.value {
            ArgValue::Null
            | ArgValue::Int32(_)
            | ArgValue::UInt32(_)
            | ArgValue::Bool(_)
            | ArgValue::Other(_) => 0,
            ArgValue::Text(text) => text.len().div_ceil(8),
            ArgValue::Blob(bytes) => bytes.len().div_ceil(8),
            _ => 1,
        };
        let name = match self.name.len() {
            length @ ..=MOST_INLINE_BYTES => length.div_ceil(8),
            _ => 0,
        };
        1 + name + value
    }
}

/// The number of records of each kind that were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordCounts {
    /// String records.
    pub strings: u64,
    /// Thread records.
    pub threads: u64,
    /// Kernel object records.
    pub objects: u64,
    /// Event records, by type.
    pub events: [u64; 11],
    /// Context switches.
    pub switches: u64,
    /// Wakeups.
    pub wakeups: u64,
    /// Log records.
    pub logs: u64,
    /// Blob records.
    pub blobs: u64,
    /// Userspace object records.
    pub userspace_objects: u64,
    /// Large records.
    pub large: u64,
    /// Records of lost events.
    pub losses: u64,
    /// Instants that only describe one of `losses`.
    pub described_losses: u64,
    /// Command lines that did not fit into a record.
    pub cut_commands: u64,
    /// Names that were cut to the longest that the format can contain.
    pub cut_names: u64,
    /// Events with more arguments than fit: those after the 14th are in `more`.
    pub packed: u64,
    /// Blobs that readers will show at another time.
    pub moved_blobs: u64,
    /// Arguments of switches and wakeups that were cut.
    pub cut_scheduling: u64,
}

impl RecordCounts {
    /// Adds `other`.
    pub(crate) fn add(&mut self, other: &RecordCounts) {
        self.strings += other.strings;
        self.threads += other.threads;
        self.objects += other.objects;
        for (mine, theirs) in self.events.iter_mut().zip(other.events) {
            *mine += theirs;
        }
        self.switches += other.switches;
        self.wakeups += other.wakeups;
        self.logs += other.logs;
        self.blobs += other.blobs;
        self.userspace_objects += other.userspace_objects;
        self.large += other.large;
        self.losses += other.losses;
        self.described_losses += other.described_losses;
        self.cut_commands += other.cut_commands;
        self.cut_names += other.cut_names;
        self.packed += other.packed;
        self.cut_scheduling += other.cut_scheduling;
        self.moved_blobs += other.moved_blobs;
    }

    /// Returns the number of event records of a type.
    pub(crate) fn of(&self, event_type: EventType) -> u64 {
        self.events[event_type as usize]
    }
}
