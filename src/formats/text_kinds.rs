//! Event kinds by category and name, for formats that find the names while parts are read in parallel: one table for
//! all parts. A part uses the table only for names that are new to the part.
//!
//! The table has room for 65,000 kinds. Later names share kind 0; `describe` still returns their true names.

use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::base::{StringId, Strings};
use crate::event::{EventKind, KindId, Role};

const MOST_KINDS: usize = 65_000;
/// Limit for names that users chose; the remaining kinds are reserved for event names.
const MOST_NAMES: usize = 50_000;

/// The shared table.
#[derive(Debug)]
pub(crate) struct Kinds {
    inner: RwLock<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    strings: Strings,
    kinds: Vec<EventKind>,
    by_name: FxHashMap<(StringId, StringId, Role), KindId>,
}

impl Inner {
    fn find(&self, category: &str, name: &[u8], role: Role) -> Option<KindId> {
        let category = self.strings.find(category.as_bytes())?;
        let name = self.strings.find(name)?;
        self.by_name.get(&(category, name, role)).copied()
    }
}

impl Default for Kinds {
    fn default() -> Kinds {
        let mut inner = Inner::default();
        let kind = EventKind {
            name: inner.strings.intern_text("other"),
            category: inner.strings.intern_text("text"),
            role: Role::Instant,
        };
        inner.kinds.push(kind);
        Kinds {
            inner: RwLock::new(inner),
        }
    }
}

impl Kinds {
    /// Returns the kind with this category, name and role, and adds it if it is new; kind 0 if the table is full.
    #[must_use]
    pub(crate) fn intern(&self, category: &str, name: &[u8], role: Role) -> KindId {
        self.intern_below(MOST_KINDS, category, name, role)
    }

    /// Returns the kind for a name that a user chose, as `intern` does. If there are too many such names, returns the
    /// kind that is named like the category.
    #[must_use]
    pub(crate) fn intern_name(&self, category: &str, name: &[u8], role: Role) -> KindId {
        match self.intern_below(MOST_NAMES, category, name, role) {
            KindId(0) => self.intern(category, category.as_bytes(), role),
            kind => kind,
        }
    }

    fn intern_below(&self, most: usize, category: &str, name: &[u8], role: Role) -> KindId {
        {
            let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(kind) = inner.find(category, name, role) {
                return kind;
            }
            if inner.kinds.len() >= most {
                return KindId(0);
            }
        }
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(kind) = inner.find(category, name, role) {
            return kind;
        }
        if inner.kinds.len() >= most {
            return KindId(0);
        }
        let id = KindId(inner.kinds.len() as u16);
        let category = inner.strings.intern_text(category);
        let name = inner.strings.intern(name);
        inner.kinds.push(EventKind {
            name,
            category,
            role,
        });
        inner.by_name.insert((category, name, role), id);
        id
    }

    /// Category and name of a kind; both empty if the kind does not exist.
    #[must_use]
    pub(crate) fn texts(&self, kind: KindId) -> (String, String) {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner
            .kinds
            .get(usize::from(kind.0))
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
    fn a_kind_is_known_by_category_name_and_role() {
        let kinds = Kinds::default();
        let read = kinds.intern("syscalls", b"read", Role::Consumed);
        assert_eq!(kinds.intern("syscalls", b"read", Role::Consumed), read);
        assert_ne!(kinds.intern("text", b"read", Role::Instant), read);
        assert_eq!(kinds.texts(read), ("syscalls".into(), "read".into()));
    }

    #[test]
    fn too_many_names_share_kind_zero() {
        let kinds = Kinds::default();
        for i in 0..=MOST_KINDS {
            let _ = kinds.intern("x", format!("{i}").as_bytes(), Role::Instant);
        }
        assert_eq!(kinds.intern("x", b"late", Role::Instant), KindId(0));
        let named = Kinds::default();
        for i in 0..=MOST_NAMES {
            let _ = named.intern_name("x", format!("{i}").as_bytes(), Role::Instant);
        }
        let late = named.intern_name("x", b"late", Role::Instant);
        assert_eq!(named.texts(late), ("x".into(), "x".into()));
        assert_ne!(named.intern("y", b"event", Role::Instant), KindId(0));
        assert_ne!(kinds.intern("x", b"0", Role::Instant), KindId(0));
    }
}
