//! The numbers of the fields that are written, by message.
//!
//! The source of each message is named above its module, as a path below `protos/perfetto/` of
//! <https://github.com/google/perfetto>; the numbers are those of release 0.59 of the PyPI package `perfetto`, against
//! whose definitions `tests/independent_perfetto.py` reads exports.

use super::proto::FieldNumber;

/// `trace/trace.proto`: `Trace`.
pub(super) mod trace {
    use super::FieldNumber;
    pub const PACKET: FieldNumber = 1;
}

/// `trace/trace_packet.proto`: `TracePacket`.
pub(super) mod packet {
    use super::FieldNumber;
    pub const FTRACE_EVENTS: FieldNumber = 1;
    pub const PROCESS_TREE: FieldNumber = 2;
    pub const CLOCK_SNAPSHOT: FieldNumber = 6;
    pub const TIMESTAMP: FieldNumber = 8;
    pub const SEQUENCE: FieldNumber = 10;
    pub const TRACK_EVENT: FieldNumber = 11;
    pub const INTERNED_DATA: FieldNumber = 12;
    pub const SEQUENCE_FLAGS: FieldNumber = 13;
    pub const FTRACE_STATS: FieldNumber = 34;
    pub const SYSTEM_INFO: FieldNumber = 45;
    pub const TRACK_DESCRIPTOR: FieldNumber = 60;
    pub const MACHINE_ID: FieldNumber = 98;
    pub const REMOTE_CLOCK_SYNC: FieldNumber = 107;
    pub const GENERIC_TASK_STATE: FieldNumber = 117;
    /// Values of `SEQUENCE_FLAGS`: interned ids start anew, and ids are used.
    pub const STATE_CLEARED: u64 = 1;
    pub const NEEDS_STATE: u64 = 2;
}

/// `trace/interned_data/interned_data.proto`: `InternedData`; an entry has an id and a name.
pub(super) mod interned {
    use super::FieldNumber;
    pub const CATEGORIES: FieldNumber = 1;
    pub const EVENT_NAMES: FieldNumber = 2;
    pub const ANNOTATION_NAMES: FieldNumber = 3;
    pub const KERNEL_SYMBOLS: FieldNumber = 26;
    pub const STRING_VALUES: FieldNumber = 29;
    pub const ENTRY_ID: FieldNumber = 1;
    pub const ENTRY_NAME: FieldNumber = 2;
}

/// `trace/track_event/track_event.proto`: `TrackEvent`.
pub(super) mod track_event {
    use super::FieldNumber;
    pub const CATEGORY_ID: FieldNumber = 3;
    pub const ANNOTATIONS: FieldNumber = 4;
    pub const TYPE: FieldNumber = 9;
    pub const NAME_ID: FieldNumber = 10;
    pub const NAME: FieldNumber = 23;
    pub const TRACK: FieldNumber = 11;
    pub const COUNTER_VALUE: FieldNumber = 30;
    pub const DOUBLE_COUNTER_VALUE: FieldNumber = 44;
    pub const FLOW_IDS: FieldNumber = 47;
    pub const TERMINATING_FLOW_IDS: FieldNumber = 48;
    /// Values of `TYPE`.
    pub const SLICE_BEGIN: u64 = 1;
    pub const SLICE_END: u64 = 2;
    pub const INSTANT: u64 = 3;
    pub const COUNTER: u64 = 4;
}

/// `trace/track_event/debug_annotation.proto`: `DebugAnnotation`.
pub(super) mod annotation {
    use super::FieldNumber;
    pub const NAME_ID: FieldNumber = 1;
    pub const BOOL: FieldNumber = 2;
    pub const UINT: FieldNumber = 3;
    pub const INT: FieldNumber = 4;
    pub const DOUBLE: FieldNumber = 5;
    pub const TEXT: FieldNumber = 6;
    pub const NAME: FieldNumber = 10;
    pub const POINTER: FieldNumber = 7;
    pub const TEXT_ID: FieldNumber = 17;
}

/// `trace/track_event/track_descriptor.proto`: `TrackDescriptor`, with `process_descriptor.proto`,
/// `thread_descriptor.proto` and `counter_descriptor.proto`.
pub(super) mod track {
    use super::FieldNumber;
    pub const UUID: FieldNumber = 1;
    pub const NAME: FieldNumber = 2;
    pub const PROCESS: FieldNumber = 3;
    pub const THREAD: FieldNumber = 4;
    pub const PARENT: FieldNumber = 5;
    pub const COUNTER: FieldNumber = 8;
    pub const SIBLING_MERGE: FieldNumber = 15;
    /// Value of `SIBLING_MERGE`: tracks of one name stay apart.
    pub const MERGE_NONE: u64 = 2;

    pub const PROCESS_PID: FieldNumber = 1;
    pub const PROCESS_SORT_INDEX: FieldNumber = 3;
    pub const PROCESS_NAME: FieldNumber = 6;
    pub const PROCESS_LABELS: FieldNumber = 8;

    pub const THREAD_PID: FieldNumber = 1;
    pub const THREAD_TID: FieldNumber = 2;
    pub const THREAD_SORT_INDEX: FieldNumber = 3;
    pub const THREAD_NAME: FieldNumber = 5;
}

/// `trace/ps/process_tree.proto`: `ProcessTree`.
pub(super) mod process_tree {
    use super::FieldNumber;
    pub const PROCESSES: FieldNumber = 1;
    pub const THREADS: FieldNumber = 2;

    pub const PID: FieldNumber = 1;
    pub const PARENT: FieldNumber = 2;
    pub const COMMAND: FieldNumber = 3;
    pub const COMMAND_IS_NAME: FieldNumber = 9;

    pub const TID: FieldNumber = 1;
    pub const THREAD_NAME: FieldNumber = 2;
    pub const THREAD_PROCESS: FieldNumber = 3;
}

/// `trace/clock_snapshot.proto`: `ClockSnapshot`; the ids are those of `common/builtin_clock.proto`.
pub(super) mod clock {
    use super::FieldNumber;
    pub const CLOCKS: FieldNumber = 1;
    pub const PRIMARY: FieldNumber = 2;
    pub const CLOCK_ID: FieldNumber = 1;
    pub const TIME: FieldNumber = 2;
    pub const REALTIME: u64 = 1;
    pub const BOOTTIME: u64 = 6;
}

/// `trace/remote_clock_sync.proto`: `RemoteClockSync` and `SyncedClocks`, of clock snapshots.
pub(super) mod clock_sync {
    use super::FieldNumber;
    pub const SYNCED_CLOCKS: FieldNumber = 1;
    pub const OF_MACHINE: FieldNumber = 2;
    pub const OF_HOST: FieldNumber = 3;
}

/// `trace/system_info.proto`: `SystemInfo` and `Utsname`.
pub(super) mod system_info {
    use super::FieldNumber;
    pub const UTSNAME: FieldNumber = 1;
    pub const CPU_COUNT: FieldNumber = 8;
    pub const SYSTEM: FieldNumber = 1;
    pub const VERSION: FieldNumber = 2;
    pub const RELEASE: FieldNumber = 3;
    pub const MACHINE: FieldNumber = 4;
}

/// `trace/generic_kernel/generic_task.proto`: `GenericKernelTaskStateEvent`.
pub(super) mod task_state {
    use super::FieldNumber;
    pub const CPU: FieldNumber = 1;
    pub const NAME: FieldNumber = 2;
    pub const TID: FieldNumber = 3;
    pub const STATE: FieldNumber = 4;
    pub const PRIORITY: FieldNumber = 5;
    /// Values of `STATE`.
    pub const RUNNABLE: u8 = 2;
    pub const RUNNING: u8 = 3;
    pub const INTERRUPTIBLE: u8 = 4;
    pub const UNINTERRUPTIBLE: u8 = 5;
    pub const STOPPED: u8 = 6;
    pub const DEAD: u8 = 7;
    pub const DESTROYED: u8 = 8;
}

/// `trace/ftrace/ftrace_event_bundle.proto`: `FtraceEventBundle`.
pub(super) mod bundle {
    use super::FieldNumber;
    pub const CPU: FieldNumber = 1;
    pub const EVENT: FieldNumber = 2;
    pub const LOST_EVENTS: FieldNumber = 3;
    pub const DESCRIPTORS: FieldNumber = 11;
    /// `GenericEventDescriptor`.
    pub const DESCRIPTOR_NUMBER: FieldNumber = 1;
    pub const DESCRIPTOR_MESSAGE: FieldNumber = 2;
    pub const DESCRIPTOR_GROUP: FieldNumber = 3;
}

/// `trace/ftrace/ftrace_event.proto`: `FtraceEvent`, without the events (see `event_types`), and
/// `trace/ftrace/generic.proto`: `GenericFtraceEvent`.
pub(super) mod ftrace_event {
    use super::FieldNumber;
    pub const TIMESTAMP: FieldNumber = 1;
    pub const PID: FieldNumber = 2;
    pub const COMMON_FLAGS: FieldNumber = 5;
    pub const GENERIC: FieldNumber = 327;
    /// The numbers of described events start here (`kGenericEvtProtoMinPbFieldId`).
    pub const FIRST_DESCRIBED: FieldNumber = 65536;

    pub const GENERIC_NAME: FieldNumber = 1;
    pub const GENERIC_FIELD: FieldNumber = 2;
    pub const FIELD_NAME: FieldNumber = 1;
    pub const FIELD_TEXT: FieldNumber = 3;
    pub const FIELD_INT: FieldNumber = 4;
    pub const FIELD_UINT: FieldNumber = 5;
}

/// `trace/ftrace/ftrace_stats.proto`: `FtraceStats` and `FtraceCpuStats`.
pub(super) mod ftrace_stats {
    use super::FieldNumber;
    pub const PHASE: FieldNumber = 1;
    pub const CPU_STATS: FieldNumber = 2;
    pub const CPU: FieldNumber = 1;
    pub const OVERRUN: FieldNumber = 3;
    pub const DROPPED_EVENTS: FieldNumber = 8;
    /// Values of `PHASE`.
    pub const START: u64 = 1;
    pub const END: u64 = 2;
}

/// `common/descriptor.proto`: `DescriptorProto` and `FieldDescriptorProto`, as in `google/protobuf/descriptor.proto`.
pub(super) mod descriptor {
    use super::FieldNumber;
    pub const NAME: FieldNumber = 1;
    pub const FIELD: FieldNumber = 2;
    pub const FIELD_NAME: FieldNumber = 1;
    pub const FIELD_NUMBER: FieldNumber = 3;
    pub const FIELD_LABEL: FieldNumber = 4;
    pub const FIELD_TYPE: FieldNumber = 5;
    /// Value of `FIELD_LABEL`.
    pub const OPTIONAL: u64 = 1;
    /// Values of `FIELD_TYPE`.
    pub const DOUBLE: u64 = 1;
    pub const INT64: u64 = 3;
    pub const UINT64: u64 = 4;
    pub const STRING: u64 = 9;
}
