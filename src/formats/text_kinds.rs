//! Kinds of events by category and name, for formats that meet their names while parts are read in
//! parallel: one table for all parts, asked only when a part meets a name for the first time.
//!
//! There is room for 65,000 names; what comes after shares kind 0, and `describe` still has its true name.

use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::base::{StringId, Strings};
use crate::event::{EventKind, KindId, Role};

const MOST_KINDS: usize = 65_000;
/// Names that users gave may take so many of them: the others are for events.
const MOST_NAMES: usize = 50_000;

/// The shared table.
#[derive(Debug)]
pub struct Kinds {
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
    /// The kind with this category, name and role, new or known; kind 0 if there are too many.
    #[must_use]
    pub fn intern(&self, category: &str, name: &[u8], role: Role) -> KindId {
        self.intern_below(MOST_KINDS, category, name, role)
    }

    /// The same for a name that a user gave, of which there may be any number: the category's own kind if there are
    /// too many.
    #[must_use]
    pub fn intern_name(&self, category: &str, name: &[u8], role: Role) -> KindId {
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

    /// Category and name of a kind; empty for a number that no kind has.
    #[must_use]
    pub fn texts(&self, kind: KindId) -> (String, String) {
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

    /// All kinds so far, with the strings that they refer to.
    #[must_use]
    pub fn list(&self) -> (Vec<EventKind>, Strings) {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        (inner.kinds.clone(), inner.strings.clone())
    }

    /// Heap bytes held, roughly.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
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
