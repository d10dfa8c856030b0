//! What event records are made of: their types, arguments and their values; and how many there were.

use std::borrow::Cow;

use super::records::MOST_INLINE_BYTES;

/// Types of event records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EventType {
    /// A point.
    Instant = 0,
    /// A counter's values; the last word is the counter's id.
    Counter = 1,
    /// A slice begins.
    Begin = 2,
    /// The innermost slice ends.
    End = 3,
    /// A whole slice; the last word is its end.
    Complete = 4,
    /// An asynchronous slice begins; the last word is its id.
    AsyncBegin = 5,
    /// A point of an asynchronous operation.
    AsyncInstant = 6,
    /// It ends.
    AsyncEnd = 7,
    /// A flow leaves its first slice; the last word is its id.
    FlowBegin = 8,
    /// It passes through a slice.
    FlowStep = 9,
    /// It arrives.
    FlowEnd = 10,
}

/// A value of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgValue<'a> {
    /// None.
    Null,
    /// 32 bits, signed.
    Int32(i32),
    /// 32 bits.
    UInt32(u32),
    /// 64 bits, signed.
    Int64(i64),
    /// 64 bits.
    UInt64(u64),
    /// Floating point.
    Double(f64),
    /// Text, as it stands in its file.
    Text(Cow<'a, [u8]>),
    /// Text that would not fit into its record, and is registered; up to [`MOST_STRING_BYTES`].
    LongText(Cow<'a, [u8]>),
    /// An address.
    Pointer(u64),
    /// A kernel object's number.
    Koid(u64),
    /// Yes or no.
    Bool(bool),
    /// Bytes, as newer readers know them.
    Blob(Cow<'a, [u8]>),
}

impl<'a> ArgValue<'a> {
    /// A text.
    pub fn text(text: impl Into<Cow<'a, str>>) -> ArgValue<'a> {
        ArgValue::Text(bytes_of(text.into()))
    }
}

/// A text as its bytes.
pub fn bytes_of(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg<'a> {
    /// Its name.
    pub name: Cow<'a, [u8]>,
    /// Its value.
    pub value: ArgValue<'a>,
}

impl<'a> Arg<'a> {
    /// An argument.
    pub fn new(name: impl Into<Cow<'a, str>>, value: ArgValue<'a>) -> Arg<'a> {
        Arg {
            name: bytes_of(name.into()),
            value,
        }
    }

    /// The most words that it can take.
    pub fn most_words(&self) -> usize {
        let value = match &self.value {
            ArgValue::Null
            | ArgValue::Int32(_)
            | ArgValue::UInt32(_)
            | ArgValue::Bool(_)
            | ArgValue::LongText(_) => 0,
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

/// Counts of what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
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
    /// Records that say that events were lost.
    pub losses: u64,
    /// Instants that only describe one of `losses`.
    pub described_losses: u64,
    /// Command lines that no record had room for.
    pub cut_commands: u64,
    /// Names that were cut: nothing of the format can hold more of them.
    pub cut_names: u64,
    /// Events whose arguments past the 14th went into `more`.
    pub packed: u64,
    /// Blobs that are read as of another time.
    pub moved_blobs: u64,
    /// Arguments of switches and wakeups that were cut.
    pub cut_scheduling: u64,
}

impl RecordCounts {
    /// Adds `other`.
    pub fn add(&mut self, other: &RecordCounts) {
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

    /// Event records of a type.
    pub fn of(&self, event_type: EventType) -> u64 {
        self.events[event_type as usize]
    }
}
