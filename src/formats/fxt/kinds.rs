//! Kinds of FXT events, shared by all parts: one per category and name. Instants, blobs and objects have kinds of their
//! own; records drawn from typed rows (begins and ends of slices, counters, flows ...) share one kind per name.
//!
//! The table has room for 65,000 kinds. Each record type has a generic kind for later names. Kinds of records with
//! typed rows (slices, counters ...) may use only the first 40,000, so that room is left for instants, which are shown
//! by their kind's name. `describe` always returns the true name.

use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::base::{StringId, Strings};
use crate::event::{EventKind, KindId, Role};

const MOST_KINDS: usize = 65_000;
const MOST_CONSUMED: usize = 40_000;

/// The record types that are events. The number is that of the type's generic kind; for event records it is also the
/// event type in the file.
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

/// All record types in the order of their generic kinds, with the generic kind's category and name.
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

/// Count of generic kinds, which have the lowest numbers.
pub(crate) const GENERIC_KINDS: u16 = SORTS.len() as u16;

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

    /// Category of the generic kind.
    #[must_use]
    pub(crate) fn category(self) -> &'static str {
        SORTS.get(self as usize).map_or("", |row| row.1)
    }

    /// The kind for records of this type whose names found no room.
    #[must_use]
    pub(crate) fn generic_kind(self) -> KindId {
        KindId(u16::from(self as u8))
    }

    /// Returns whether a kind is the generic kind of a record type that normally has kinds by name.
    pub(crate) fn has_names(kind: KindId) -> bool {
        let row = SORTS.get(usize::from(kind.0));
        row.is_some_and(|(sort, ..)| {
            *sort <= Sort::FlowEnd || matches!(sort, Sort::Object | Sort::Blob)
        })
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
            Sort::Instant | Sort::Log | Sort::Module | Sort::Mapping | Sort::Backtrace => {
                Role::Instant
            }
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
    /// Whether some names found no room.
    is_full: bool,
}

/// What identifies a record's kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Names {
    /// The record type.
    pub sort: Sort,
    /// The category.
    pub category: Vec<u8>,
    /// The name.
    pub name: Vec<u8>,
}

impl Inner {
    fn find(&self, sort: Sort, category: &[u8], name: &[u8]) -> Option<KindId> {
        let category = self.strings.find(category)?;
        let name = self.strings.find(name)?;
        self.by_name.get(&(sort.class(), category, name)).copied()
    }

    fn has_room(&self, sort: Sort) -> bool {
        match sort.role() {
            Role::Consumed | Role::Named | Role::Switch => self.kinds.len() < MOST_CONSUMED,
            _ => self.kinds.len() < MOST_KINDS,
        }
    }
}

impl Inner {
    /// Returns a table with the generic kinds only.
    fn generic() -> Inner {
        let mut inner = Inner::default();
        for (sort, category, name) in SORTS {
            let kind = EventKind {
                name: inner.strings.intern_text(name),
                category: inner.strings.intern_text(category),
                role: sort.role(),
            };
            inner.kinds.push(kind);
        }
        inner
    }

    /// Returns the kind with these names, and adds it if it is new; `None` if there is no room.
    fn intern(&mut self, sort: Sort, category: &[u8], name: &[u8]) -> Option<KindId> {
        if let Some(kind) = self.find(sort, category, name) {
            return Some(kind);
        }
        if !self.has_room(sort) {
            self.is_full = true;
            return None;
        }
        let id = KindId(self.kinds.len() as u16);
        let category = self.strings.intern(category);
        let name = self.strings.intern(name);
        self.kinds.push(EventKind {
            name,
            category,
            role: sort.role(),
        });
        self.by_name.insert((sort.class(), category, name), id);
        Some(id)
    }
}

impl Default for Kinds {
    fn default() -> Kinds {
        Kinds {
            inner: RwLock::new(Inner::generic()),
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
            if inner.is_full && !inner.has_room(sort) {
                return sort.generic_kind();
            }
        }
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let found = inner.intern(sort, category, name);
        found.unwrap_or_else(|| sort.generic_kind())
    }

    /// Forgets all kinds but the generic ones if some names found no room. Returns the names of the forgotten kinds by
    /// their numbers; `None` if all names have kinds.
    pub(crate) fn restart_if_full(&self) -> Option<Vec<Option<Names>>> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        if !inner.is_full {
            return None;
        }
        let old = std::mem::replace(&mut *inner, Inner::generic());
        let mut names = vec![None; old.kinds.len()];
        for (&(sort, category, name), kind) in &old.by_name {
            if let Some(entry) = names.get_mut(usize::from(kind.0)) {
                *entry = Some(Names {
                    sort,
                    category: old.strings.bytes(category).to_vec(),
                    name: old.strings.bytes(name).to_vec(),
                });
            }
        }
        Some(names)
    }

    /// Returns the kind with these names, and adds it if it is new; `None` if there is no room.
    pub(crate) fn intern_with_room(&self, names: &Names) -> Option<KindId> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        inner.intern(names.sort, &names.category, &names.name)
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
    fn too_many_names_share_a_generic_kind_and_leave_room_for_instants() {
        let kinds = Kinds::default();
        let first = kinds.intern(Sort::Begin, b"", b"n0");
        for i in 0..MOST_KINDS {
            let _ = kinds.intern(Sort::Begin, b"", format!("n{i}").as_bytes());
        }
        let late = kinds.intern(Sort::Begin, b"", b"later");
        assert_eq!(late, Sort::Begin.generic_kind());
        assert_eq!(kinds.intern(Sort::Begin, b"", b"n0"), first);
        let instant = kinds.intern(Sort::Instant, b"", b"later");
        assert_eq!(usize::from(instant.0), MOST_CONSUMED);
    }
}
