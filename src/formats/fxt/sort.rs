//! The record types that are events, and how events of each type are drawn.

use crate::event::Role;

/// A record type whose records are events. For event records, its number is the event type in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(crate) enum Sort {
    Instant,
    Counter,
    Begin,
    End,
    Complete,
    AsyncBegin,
    AsyncInstant,
    AsyncEnd,
    FlowBegin,
    FlowStep,
    FlowEnd,
    Switch,
    Wakeup,
    Log,
    Object,
    Blob,
    Module,
    Mapping,
    Backtrace,
    /// An instant of a CPU, in a file of our own exporter.
    CpuInstant,
}

/// All record types by their numbers, with category and name of the kind of their records without names.
const SORTS: [(Sort, &str, &str); Sort::COUNT] = [
    (Sort::Instant, "event", "instant"),
    (Sort::Counter, "event", "counter"),
    (Sort::Begin, "event", "duration_begin"),
    (Sort::End, "event", "duration_end"),
    (Sort::Complete, "event", "duration_complete"),
    (Sort::AsyncBegin, "event", "async_begin"),
    (Sort::AsyncInstant, "event", "async_instant"),
    (Sort::AsyncEnd, "event", "async_end"),
    (Sort::FlowBegin, "event", "flow_begin"),
    (Sort::FlowStep, "event", "flow_step"),
    (Sort::FlowEnd, "event", "flow_end"),
    (Sort::Switch, "scheduling", "context_switch"),
    (Sort::Wakeup, "scheduling", "thread_wakeup"),
    (Sort::Log, "log", "log"),
    (Sort::Object, "object", "userspace_object"),
    (Sort::Blob, "blob", "blob"),
    (Sort::Module, "profiler", "module"),
    (Sort::Mapping, "profiler", "mmap"),
    (Sort::Backtrace, "profiler", "backtrace"),
    (Sort::CpuInstant, "event", "instant"),
];

impl Sort {
    /// Number of record types.
    pub(super) const COUNT: usize = 20;

    /// Returns the record type of an event record with this event type.
    #[inline]
    #[must_use]
    pub(crate) fn from_event_type(event_type: u64) -> Option<Sort> {
        SORTS
            .get(usize::try_from(event_type).ok()?)
            .map(|row| row.0)
            .filter(|&sort| sort <= Sort::FlowEnd)
    }

    /// Returns the specification's name of the record type.
    #[must_use]
    pub(crate) fn text(self) -> &'static str {
        SORTS.get(self as usize).map_or("", |row| row.2)
    }

    /// Returns the category of records of this type without names.
    #[must_use]
    pub(crate) fn category(self) -> &'static str {
        SORTS.get(self as usize).map_or("", |row| row.1)
    }

    /// Returns how events of this type are drawn. Types with one role share the kinds of their names.
    #[inline]
    pub(super) fn role(self) -> Role {
        match self {
            Sort::Instant | Sort::Module | Sort::Mapping | Sort::Backtrace => Role::Instant,
            Sort::CpuInstant => Role::CpuInstant,
            Sort::Log => Role::Log,
            Sort::Object => Role::PointerName,
            Sort::Blob => Role::Attachment,
            Sort::Switch => Role::Switch,
            Sort::Wakeup => Role::Consumed,
            _ => Role::Named,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_stand_where_their_numbers_say() {
        for (index, (sort, _, _)) in SORTS.iter().enumerate() {
            assert_eq!(*sort as usize, index);
        }
        assert_eq!(Sort::from_event_type(4), Some(Sort::Complete));
        assert_eq!(Sort::from_event_type(11), None);
    }
}
