//! The role of a field for exporters, set by the reader of its file.

use serde::{Deserialize, Serialize};

/// The role of a field. Names and types are for people; exporters use the role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FieldRole {
    /// An argument, written by its value.
    #[default]
    Argument,
    /// An argument that is an integer of 32 bits in its file.
    Argument32,
    /// An argument that is bytes in its file.
    BlobArgument,
    /// The bytes of an attachment; also an argument for formats without attachments.
    Payload,
    /// The size of an attachment; also an argument for formats without attachments.
    PayloadSize,
    /// The format's number for the kind of an attachment's content; also an argument for formats without attachments.
    BlobType,
    /// The process of a pointer that a record names; also an argument for formats without such records.
    PointerProcess,
    /// A field that the kernel adds to every event, such as `common_pid`; also an argument, except for exporters of
    /// formats that contain it elsewhere.
    Common,
    /// The part of the recorder that wrote the event, such as its instance; also an argument.
    Recorder,
    /// A field that the kernel adds to every event of a probe, such as `__probe_ip`; also an argument.
    Probe,
    /// The priority of the thread that a context switch takes off its CPU, in the kernel's numbers; also an argument.
    OutgoingPriority,
    /// The scope of an instant.
    InstantScope(InstantScope),
    /// The id of a counter in its file.
    CounterId,
    /// The id of a counter in its file, in an event whose arguments are all values of the counter: those that are numbers.
    CounterIdOfAll,
    /// The id of an asynchronous event in its file; contains the number by which events are matched.
    AsyncId(u64),
    /// The id of a flow in its file; contains the number by which events are matched.
    FlowId(u64),
    /// The end of a complete event, in the file's ticks.
    EndTicks,
    /// An argument of a type that the reader does not know: it has no value.
    UnknownArgument,
}

impl FieldRole {
    /// Returns whether the field is an argument. Other fields are parts of the record besides its arguments.
    #[inline]
    #[must_use]
    pub(crate) fn is_argument(self) -> bool {
        match self {
            FieldRole::Argument
            | FieldRole::Argument32
            | FieldRole::BlobArgument
            | FieldRole::Payload
            | FieldRole::PayloadSize
            | FieldRole::BlobType
            | FieldRole::PointerProcess
            | FieldRole::Common
            | FieldRole::Recorder
            | FieldRole::Probe
            | FieldRole::OutgoingPriority => true,
            FieldRole::InstantScope(_)
            | FieldRole::CounterId
            | FieldRole::CounterIdOfAll
            | FieldRole::AsyncId(_)
            | FieldRole::FlowId(_)
            | FieldRole::EndTicks
            | FieldRole::UnknownArgument => false,
        }
    }

    /// Returns whether the field's value is raw bytes in its file, not bytes in another notation.
    #[inline]
    #[must_use]
    pub(crate) fn is_blob(self) -> bool {
        matches!(self, FieldRole::BlobArgument | FieldRole::Payload)
    }
}

/// What an instant belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InstantScope {
    /// Its thread.
    Thread,
    /// Its process.
    Process,
    /// The whole trace.
    Global,
}

impl InstantScope {
    /// Returns the scope as a word, for people.
    #[must_use]
    pub(crate) fn word(self) -> &'static str {
        match self {
            InstantScope::Thread => "thread",
            InstantScope::Process => "process",
            InstantScope::Global => "global",
        }
    }
}
