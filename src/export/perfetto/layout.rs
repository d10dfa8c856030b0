//! The numbers of the fields that are written, by message.
//!
//! The source of each message is named above its module, as a path below `protos/perfetto/` of
//! <https://github.com/google/perfetto>; the numbers are those of release 0.59 of the PyPI package `perfetto`, against
//! whose definitions `tests/independent_perfetto.py` reads exports.

use super::proto::FieldNumber;

/// `trace/trace.proto`: `Trace`.
pub(super) mod trace {
    use super::FieldNumber;
    pub(crate) const PACKET: FieldNumber = 1;
}

/// `trace/trace_packet.proto`: `TracePacket`.
pub(super) mod packet {
    use super::FieldNumber;
    pub(crate) const FTRACE_EVENTS: FieldNumber = 1;
    pub(crate) const PROCESS_TREE: FieldNumber = 2;
    pub(crate) const CLOCK_SNAPSHOT: FieldNumber = 6;
    pub(crate) const TIMESTAMP: FieldNumber = 8;
    pub(crate) const SEQUENCE: FieldNumber = 10;
    pub(crate) const TRACK_EVENT: FieldNumber = 11;
    pub(crate) const INTERNED_DATA: FieldNumber = 12;
    pub(crate) const SEQUENCE_FLAGS: FieldNumber = 13;
    pub(crate) const FTRACE_STATS: FieldNumber = 34;
    pub(crate) const SYSTEM_INFO: FieldNumber = 45;
    pub(crate) const TRACK_DESCRIPTOR: FieldNumber = 60;
    pub(crate) const MACHINE_ID: FieldNumber = 98;
    pub(crate) const REMOTE_CLOCK_SYNC: FieldNumber = 107;
    pub(crate) const GENERIC_TASK_STATE: FieldNumber = 117;
    /// Values of `SEQUENCE_FLAGS`: interned ids start anew, and ids are used.
    pub(crate) const STATE_CLEARED: u64 = 1;
    pub(crate) const NEEDS_STATE: u64 = 2;
}

/// `trace/interned_data/interned_data.proto`: `InternedData`; an entry has an id and a name.
pub(super) mod interned {
    use super::FieldNumber;
    pub(crate) const CATEGORIES: FieldNumber = 1;
    pub(crate) const EVENT_NAMES: FieldNumber = 2;
    pub(crate) const ANNOTATION_NAMES: FieldNumber = 3;
    pub(crate) const KERNEL_SYMBOLS: FieldNumber = 26;
    pub(crate) const STRING_VALUES: FieldNumber = 29;
    pub(crate) const ENTRY_ID: FieldNumber = 1;
    pub(crate) const ENTRY_NAME: FieldNumber = 2;
}

/// `trace/track_event/track_event.proto`: `TrackEvent`.
pub(super) mod track_event {
    use super::FieldNumber;
    pub(crate) const CATEGORY_ID: FieldNumber = 3;
    pub(crate) const ANNOTATIONS: FieldNumber = 4;
    pub(crate) const TYPE: FieldNumber = 9;
    pub(crate) const NAME_ID: FieldNumber = 10;
    pub(crate) const NAME: FieldNumber = 23;
    pub(crate) const TRACK: FieldNumber = 11;
    pub(crate) const COUNTER_VALUE: FieldNumber = 30;
    pub(crate) const DOUBLE_COUNTER_VALUE: FieldNumber = 44;
    pub(crate) const FLOW_IDS: FieldNumber = 47;
    pub(crate) const TERMINATING_FLOW_IDS: FieldNumber = 48;
    /// Values of `TYPE`.
    pub(crate) const SLICE_BEGIN: u64 = 1;
    pub(crate) const SLICE_END: u64 = 2;
    pub(crate) const INSTANT: u64 = 3;
    pub(crate) const COUNTER: u64 = 4;
}

/// `trace/track_event/debug_annotation.proto`: `DebugAnnotation`.
pub(super) mod annotation {
    use super::FieldNumber;
    pub(crate) const NAME_ID: FieldNumber = 1;
    pub(crate) const BOOL: FieldNumber = 2;
    pub(crate) const UINT: FieldNumber = 3;
    pub(crate) const INT: FieldNumber = 4;
    pub(crate) const DOUBLE: FieldNumber = 5;
    pub(crate) const TEXT: FieldNumber = 6;
    pub(crate) const NAME: FieldNumber = 10;
    pub(crate) const POINTER: FieldNumber = 7;
    pub(crate) const TEXT_ID: FieldNumber = 17;
}

/// `trace/track_event/track_descriptor.proto`: `TrackDescriptor`, with `process_descriptor.proto`,
/// `thread_descriptor.proto` and `counter_descriptor.proto`.
pub(super) mod track {
    use super::FieldNumber;
    pub(crate) const UUID: FieldNumber = 1;
    pub(crate) const NAME: FieldNumber = 2;
    pub(crate) const PROCESS: FieldNumber = 3;
    pub(crate) const THREAD: FieldNumber = 4;
    pub(crate) const PARENT: FieldNumber = 5;
    pub(crate) const COUNTER: FieldNumber = 8;
    pub(crate) const SIBLING_MERGE: FieldNumber = 15;
    /// Value of `SIBLING_MERGE`: tracks of one name stay apart.
    pub(crate) const MERGE_NONE: u64 = 2;

    pub(crate) const PROCESS_PID: FieldNumber = 1;
    pub(crate) const PROCESS_SORT_INDEX: FieldNumber = 3;
    pub(crate) const PROCESS_NAME: FieldNumber = 6;
    pub(crate) const PROCESS_LABELS: FieldNumber = 8;

    pub(crate) const THREAD_PID: FieldNumber = 1;
    pub(crate) const THREAD_TID: FieldNumber = 2;
    pub(crate) const THREAD_SORT_INDEX: FieldNumber = 3;
    pub(crate) const THREAD_NAME: FieldNumber = 5;
}

/// `trace/ps/process_tree.proto`: `ProcessTree`.
pub(super) mod process_tree {
    use super::FieldNumber;
    pub(crate) const PROCESSES: FieldNumber = 1;
    pub(crate) const THREADS: FieldNumber = 2;

    pub(crate) const PID: FieldNumber = 1;
    pub(crate) const PARENT: FieldNumber = 2;
    pub(crate) const COMMAND: FieldNumber = 3;
    pub(crate) const COMMAND_IS_NAME: FieldNumber = 9;

    pub(crate) const TID: FieldNumber = 1;
    pub(crate) const THREAD_NAME: FieldNumber = 2;
    pub(crate) const THREAD_PROCESS: FieldNumber = 3;
}

/// `trace/clock_snapshot.proto`: `ClockSnapshot`; the ids are those of `common/builtin_clock.proto`.
pub(super) mod clock {
    use super::FieldNumber;
    pub(crate) const CLOCKS: FieldNumber = 1;
    pub(crate) const PRIMARY: FieldNumber = 2;
    pub(crate) const CLOCK_ID: FieldNumber = 1;
    pub(crate) const TIME: FieldNumber = 2;
    pub(crate) const REALTIME: u64 = 1;
    pub(crate) const BOOTTIME: u64 = 6;
}

/// `trace/remote_clock_sync.proto`: `RemoteClockSync` and `SyncedClocks`, of clock snapshots.
pub(super) mod clock_sync {
    use super::FieldNumber;
    pub(crate) const SYNCED_CLOCKS: FieldNumber = 1;
    pub(crate) const OF_MACHINE: FieldNumber = 2;
    pub(crate) const OF_HOST: FieldNumber = 3;
}

/// `trace/system_info.proto`: `SystemInfo` and `Utsname`.
pub(super) mod system_info {
    use super::FieldNumber;
    pub(crate) const UTSNAME: FieldNumber = 1;
    pub(crate) const CPU_COUNT: FieldNumber = 8;
    pub(crate) const SYSTEM: FieldNumber = 1;
    pub(crate) const VERSION: FieldNumber = 2;
    pub(crate) const RELEASE: FieldNumber = 3;
    pub(crate) const MACHINE: FieldNumber = 4;
}

/// `trace/generic_kernel/generic_task.proto`: `GenericKernelTaskStateEvent`.
pub(super) mod task_state {
    use super::FieldNumber;
    pub(crate) const CPU: FieldNumber = 1;
    pub(crate) const NAME: FieldNumber = 2;
    pub(crate) const TID: FieldNumber = 3;
    pub(crate) const STATE: FieldNumber = 4;
    pub(crate) const PRIORITY: FieldNumber = 5;
    /// Values of `STATE`.
    pub(crate) const RUNNABLE: u8 = 2;
    pub(crate) const RUNNING: u8 = 3;
    pub(crate) const INTERRUPTIBLE: u8 = 4;
    pub(crate) const UNINTERRUPTIBLE: u8 = 5;
    pub(crate) const STOPPED: u8 = 6;
    pub(crate) const DEAD: u8 = 7;
    pub(crate) const DESTROYED: u8 = 8;
}

/// `trace/ftrace/ftrace_event_bundle.proto`: `FtraceEventBundle`.
pub(super) mod bundle {
    use super::FieldNumber;
    pub(crate) const CPU: FieldNumber = 1;
    pub(crate) const EVENT: FieldNumber = 2;
    pub(crate) const LOST_EVENTS: FieldNumber = 3;
    pub(crate) const DESCRIPTORS: FieldNumber = 11;
    /// `GenericEventDescriptor`.
    pub(crate) const DESCRIPTOR_NUMBER: FieldNumber = 1;
    pub(crate) const DESCRIPTOR_MESSAGE: FieldNumber = 2;
    pub(crate) const DESCRIPTOR_GROUP: FieldNumber = 3;
}

/// `trace/ftrace/ftrace_event.proto`: `FtraceEvent`, without the events (see `event_types`), and
/// `trace/ftrace/generic.proto`: `GenericFtraceEvent`.
pub(super) mod ftrace_event {
    use super::FieldNumber;
    pub(crate) const TIMESTAMP: FieldNumber = 1;
    pub(crate) const PID: FieldNumber = 2;
    pub(crate) const COMMON_FLAGS: FieldNumber = 5;
    pub(crate) const GENERIC: FieldNumber = 327;
    /// The numbers of described events start here (`kGenericEvtProtoMinPbFieldId`).
    pub(crate) const FIRST_DESCRIBED: FieldNumber = 65536;

    pub(crate) const GENERIC_NAME: FieldNumber = 1;
    pub(crate) const GENERIC_FIELD: FieldNumber = 2;
    pub(crate) const FIELD_NAME: FieldNumber = 1;
    pub(crate) const FIELD_TEXT: FieldNumber = 3;
    pub(crate) const FIELD_INT: FieldNumber = 4;
    pub(crate) const FIELD_UINT: FieldNumber = 5;
}

/// `trace/ftrace/ftrace_stats.proto`: `FtraceStats` and `FtraceCpuStats`.
pub(super) mod ftrace_stats {
    use super::FieldNumber;
    pub(crate) const PHASE: FieldNumber = 1;
    pub(crate) const CPU_STATS: FieldNumber = 2;
    pub(crate) const CPU: FieldNumber = 1;
    pub(crate) const OVERRUN: FieldNumber = 3;
    pub(crate) const DROPPED_EVENTS: FieldNumber = 8;
    /// Values of `PHASE`.
    pub(crate) const START: u64 = 1;
    pub(crate) const END: u64 = 2;
}

/// `common/descriptor.proto`: `DescriptorProto` and `FieldDescriptorProto`, as in `google/protobuf/descriptor.proto`.
pub(super) mod descriptor {
    use super::FieldNumber;
    pub(crate) const NAME: FieldNumber = 1;
    pub(crate) const FIELD: FieldNumber = 2;
    pub(crate) const FIELD_NAME: FieldNumber = 1;
    pub(crate) const FIELD_NUMBER: FieldNumber = 3;
    pub(crate) const FIELD_LABEL: FieldNumber = 4;
    pub(crate) const FIELD_TYPE: FieldNumber = 5;
    /// Value of `FIELD_LABEL`.
    pub(crate) const OPTIONAL: u64 = 1;
    /// Values of `FIELD_TYPE`.
    pub(crate) const DOUBLE: u64 = 1;
    pub(crate) const INT64: u64 = 3;
    pub(crate) const UINT64: u64 = 4;
    pub(crate) const STRING: u64 = 9;
}
