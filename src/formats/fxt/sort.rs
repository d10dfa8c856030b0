//! Kinds of FXT events, shared by all parts: one per category and name. Instants, blobs and objects have kinds of their
//! own; records drawn from typed rows (begins and ends of slices, counters, flows ...) share one kind per name. Records
//! without names have the kind of their record type; these kinds come first.

use crate::event::{KindId, KindOrigin, Role};
use crate::formats::kind_table::{KindKey, KindTable, KindTraits, OwnKind};

/// The record types that are events. The number is that of the type's own kind; for event records it is also the event
/// type in the file.
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

/// All record types in the order of their own kinds, with that kind's category and name.
const SORTS: [(Sort, &str, &str); 20] = [
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

    /// Returns the category of the record type's own kind.
    #[must_use]
    pub(crate) fn category(self) -> &'static str {
        SORTS.get(self as usize).map_or("", |row| row.1)
    }

    /// Returns the kind of records of this type without names.
    #[must_use]
    pub(crate) fn own_kind(self) -> KindId {
        KindId(self as u32)
    }

    /// Returns the record type whose kinds are used: record types of one class share their kinds.
    pub(crate) fn class(self) -> Sort {
        match self {
            drawn if (Sort::Counter..=Sort::FlowEnd).contains(&drawn) => Sort::Begin,
            other => other,
        }
    }

    fn traits(self) -> KindTraits {
        KindTraits {
            role: self.role(),
            origin: KindOrigin::Recorder,
        }
    }

    fn role(self) -> Role {
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

/// The table of kinds, shared by all parts.
pub(crate) type Kinds = KindTable<Sort>;

impl Default for Kinds {
    /// Returns a table with the kinds of the record types only.
    fn default() -> Kinds {
        Kinds::starting_with(SORTS.map(|(sort, category, name)| OwnKind {
            category,
            name,
            traits: sort.traits(),
        }))
    }
}

impl Kinds {
    /// Returns the kind for this record type, category and name, and adds it if it is new.
    #[must_use]
    pub(crate) fn intern(&self, sort: Sort, category: &[u8], name: &[u8]) -> KindId {
        let key = KindKey {
            class: sort.class(),
            category,
            name,
        };
        self.find_or_add(key, || sort.traits())
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

    #[test]
    fn every_name_has_a_kind_of_its_own() {
        let kinds = Kinds::default();
        let kind = |sort, i: u32| kinds.intern(sort, b"", format!("n{i}").as_bytes());
        let firsts: Vec<KindId> = (0..70_000).map(|i| kind(Sort::Begin, i)).collect();
        assert!(firsts.is_sorted_by(|a, b| a < b));
        assert!((0..70_000).all(|i| kind(Sort::End, i) == firsts[i as usize]));
        assert!(kind(Sort::Instant, 0) > firsts[69_999]);
    }
}
