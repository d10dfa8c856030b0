//! Kinds of FXT events, shared by all parts: one per category and name. Instants, blobs and objects have kinds of their
//! own; records drawn from typed rows (begins and ends of slices, counters, flows ...) share one kind per name. Records
//! without names have the kind of their record type; these kinds come first.

use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::base::{StringId, Strings};
use crate::event::{EventKind, KindId, Role};

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
}

/// All record types in the order of their own kinds, with that kind's category and name.
const SORTS: [(Sort, &str, &str); 19] = [
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

    /// The specification's name of the record type.
    #[must_use]
    pub fn text(self) -> &'static str {
        SORTS.get(self as usize).map_or("", |row| row.2)
    }

    /// Category of the record type's own kind.
    #[must_use]
    pub(crate) fn category(self) -> &'static str {
        SORTS.get(self as usize).map_or("", |row| row.1)
    }

    /// The kind of records of this type that have no names.
    #[must_use]
    pub(crate) fn own_kind(self) -> KindId {
        KindId(self as u32)
    }

    /// Returns the record type under which kinds are stored: record types of one class share their kinds.
    pub(crate) fn class(self) -> Sort {
        match self {
            drawn if (Sort::Counter..=Sort::FlowEnd).contains(&drawn) => Sort::Begin,
            other => other,
        }
    }

    fn role(self) -> Role {
        match self {
            Sort::Instant | Sort::Module | Sort::Mapping | Sort::Backtrace => Role::Instant,
            Sort::Log => Role::Log,
            Sort::Object => Role::PointerName,
            Sort::Blob => Role::Attachment,
            Sort::Switch => Role::Switch,
            Sort::Wakeup => Role::Consumed,
            _ => Role::Named,
        }
    }
}

/// The table of kinds; used only when a part meets a name for the first time.
#[derive(Debug)]
pub(crate) struct Kinds {
    inner: RwLock<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    strings: Strings,
    kinds: Vec<EventKind>,
    by_name: FxHashMap<(Sort, StringId, StringId), KindId>,
}

impl Inner {
    fn find(&self, sort: Sort, category: &[u8], name: &[u8]) -> Option<KindId> {
        let category = self.strings.find(category)?;
        let name = self.strings.find(name)?;
        self.by_name.get(&(sort.class(), category, name)).copied()
    }

    /// Returns a table with the kinds of the record types only.
    fn new() -> Inner {
        let mut inner = Inner::default();
        for (sort, category, name) in SORTS {
            let kind = EventKind {
                name: inner.strings.intern_text(name),
                category: inner.strings.intern_text(category),
                role: sort.role(),
                is_probe: false,
            };
            inner.kinds.push(kind);
        }
        inner
    }

    /// Returns the kind with these names, and adds it if it is new.
    fn intern(&mut self, sort: Sort, category: &[u8], name: &[u8]) -> KindId {
        if let Some(kind) = self.find(sort, category, name) {
            return kind;
        }
        let id = KindId(self.kinds.len() as u32);
        let category = self.strings.intern(category);
        let name = self.strings.intern(name);
        self.kinds.push(EventKind {
            name,
            category,
            role: sort.role(),
            is_probe: false,
        });
        self.by_name.insert((sort.class(), category, name), id);
        id
    }
}

impl Default for Kinds {
    fn default() -> Kinds {
        Kinds {
            inner: RwLock::new(Inner::new()),
        }
    }
}

impl Kinds {
    /// Returns the kind for this record type, category and name, and adds it if it is new.
    #[must_use]
    pub(crate) fn intern(&self, sort: Sort, category: &[u8], name: &[u8]) -> KindId {
        {
            let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(kind) = inner.find(sort, category, name) {
                return kind;
            }
        }
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        inner.intern(sort, category, name)
    }

    /// Returns all kinds so far, and the strings that they refer to.
    #[must_use]
    pub(crate) fn list(&self) -> (Vec<EventKind>, Strings) {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        (inner.kinds.clone(), inner.strings.clone())
    }

    /// Approximate heap bytes of the table.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.strings.memory_bytes() + inner.kinds.len() as u64 * 44
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
