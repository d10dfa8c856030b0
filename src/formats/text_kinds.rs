//! Event kinds by category and name, for formats that find the names while parts are read in parallel: one table for
//! all parts. A part uses the table only for names that are new to the part. Kind 0, the default number, is that of
//! events whose kind is not known.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::by_string::ByString;
use crate::base::{StringId, Strings};
use crate::event::pairs::is_probe_system;
use crate::event::{EventKind, KindId, Role};

/// The shared table.
#[derive(Debug)]
pub(crate) struct Kinds {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    strings: Strings,
    kinds: Vec<EventKind>,
    /// By name, and category and role.
    by_name: ByString<(StringId, Role), KindId>,
}

impl Default for Kinds {
    fn default() -> Kinds {
        let mut inner = Inner::default();
        let kind = EventKind {
            name: inner.strings.intern_text("other"),
            category: inner.strings.intern_text("text"),
            role: Role::Instant,
            is_probe: false,
        };
        inner.kinds.push(kind);
        Kinds {
            inner: Mutex::new(inner),
        }
    }
}

impl Kinds {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the kind with this category, name and role, and adds it if it is new.
    #[must_use]
    pub(crate) fn intern(&self, category: &str, name: &[u8], role: Role) -> KindId {
        let is_probe = is_probe_system(category.as_bytes());
        let mut inner = self.inner();
        let category = inner.strings.intern_text(category);
        let name = inner.strings.intern(name);
        if let Some(kind) = inner.by_name.get(name, (category, role)) {
            return kind;
        }
        let id = KindId(inner.kinds.len() as u32);
        inner.kinds.push(EventKind {
            name,
            category,
            role,
            is_probe,
        });
        inner.by_name.set(name, (category, role), id);
        id
    }

    /// Category and name of a kind; both empty if the kind does not exist.
    #[must_use]
    pub(crate) fn texts(&self, kind: KindId) -> (String, String) {
        let inner = self.inner();
        inner
            .kinds
            .get(kind.index())
            .map_or_else(Default::default, |row| {
                (
                    inner.strings.text(row.category).into_owned(),
                    inner.strings.text(row.name).into_owned(),
                )
            })
    }

    /// Returns all kinds so far, and the strings that they refer to.
    #[must_use]
    pub(crate) fn list(&self) -> (Vec<EventKind>, Strings) {
        let inner = self.inner();
        (inner.kinds.clone(), inner.strings.clone())
    }

    /// Approximate heap bytes of the table.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let inner = self.inner();
        let rows = inner.kinds.capacity() * size_of::<EventKind>();
        inner.strings.memory_bytes() + inner.by_name.memory_bytes() + rows as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_known_by_category_name_and_role() {
        let kinds = Kinds::default();
        let read = kinds.intern("syscalls", b"read", Role::Consumed);
        assert_eq!(kinds.intern("syscalls", b"read", Role::Consumed), read);
        assert_ne!(kinds.intern("text", b"read", Role::Instant), read);
        assert_eq!(kinds.texts(read), ("syscalls".into(), "read".into()));
    }

    #[test]
    fn every_name_has_a_kind_of_its_own() {
        let kinds = Kinds::default();
        let name = |i: u32| format!("{i}").into_bytes();
        let kind = |i: u32| kinds.intern("x", &name(i), Role::Instant);
        assert!((0..70_000).all(|i| kind(i) == KindId(i + 1)));
        assert!((0..70_000).all(|i| kind(i) == KindId(i + 1)));
        assert_eq!(kinds.texts(KindId(70_000)).1, "69999");
        assert_eq!(kinds.texts(KindId(70_001)), Default::default());
    }
}
