//! Kinds of events for formats whose `describe` needs an event's kind, and that find names while parts are read in
//! parallel: one table for all parts. A part uses the table only for names that are new to the part. Kind 0 of texts, the
//! default number, is the kind of events whose kind is not known.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::by_string::ByString;
use crate::base::{StringId, Strings};
use crate::event::kernel::UNKNOWN_SYSTEM;
use crate::event::{EventKind, KindId, KindOrigin, Role};
use crate::trace::Trace;

/// The shared table: one kind for each category, name and role.
#[derive(Debug)]
pub(crate) struct Kinds {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    strings: Strings,
    kinds: Vec<EventKind>,
    /// By name, and category and role.
    by_name: ByString<(StringId, Role), KindId>,
}

/// Facts about a kind, from the reader.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KindTraits {
    pub(crate) role: Role,
    pub(crate) origin: KindOrigin,
}

/// Category and name of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KindTexts {
    pub category: String,
    pub name: String,
}

/// Kinds, and the strings that they refer to.
pub(crate) struct ListedKinds {
    pub kinds: Vec<EventKind>,
    pub strings: Strings,
}

impl Inner {
    fn push(&mut self, category: StringId, name: StringId, traits: KindTraits) -> KindId {
        let id = KindId(self.kinds.len() as u32);
        self.kinds.push(EventKind {
            name,
            category,
            role: traits.role,
            origin: traits.origin,
        });
        id
    }
}

/// A kind that is there before the parts are read.
pub(crate) struct OwnKind<'a> {
    pub category: &'a str,
    pub name: &'a str,
    pub traits: KindTraits,
}

impl Default for Kinds {
    fn default() -> Kinds {
        Kinds::starting_with([OwnKind {
            category: UNKNOWN_SYSTEM,
            name: "other",
            traits: KindTraits {
                role: Role::Instant,
                origin: KindOrigin::Recorder,
            },
        }])
    }
}

impl Kinds {
    /// Returns a table whose first kinds are these. [`intern`](Self::intern) never returns one of
    /// them.
    #[must_use]
    pub(crate) fn starting_with<'a>(own: impl IntoIterator<Item = OwnKind<'a>>) -> Self {
        let mut inner = Inner {
            strings: Strings::default(),
            kinds: Vec::new(),
            by_name: ByString::default(),
        };
        for of in own {
            let category = inner.strings.intern_text(of.category);
            let name = inner.strings.intern_text(of.name);
            inner.push(category, name, of.traits);
        }
        Kinds {
            inner: Mutex::new(inner),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the kind with this category, name and role; adds it if it is new.
    fn find_or_add(&self, category: &[u8], name: &[u8], traits: KindTraits) -> KindId {
        let mut inner = self.inner();
        let category = inner.strings.intern(category);
        let name = inner.strings.intern(name);
        let others = (category, traits.role);
        if let Some(kind) = inner.by_name.get(name, others) {
            return kind;
        }
        let id = inner.push(category, name, traits);
        inner.by_name.set(name, others, id);
        id
    }

    /// Numbers the kinds as in a trace that was made of the file before: the numbers depend on which part was read first.
    pub(crate) fn take_from(&self, trace: &Trace) {
        for kind in trace.kinds.iter().skip(self.len()) {
            let category = trace.strings.text(kind.category);
            let name = trace.strings.bytes(kind.name);
            let _added_in_order = match kind.origin {
                KindOrigin::Mark => self.intern_mark(name, kind.role),
                _ => self.intern(&category, name, kind.role),
            };
        }
    }

    /// Returns the kind with this category, name and role, and adds it if it is new.
    #[must_use]
    pub(crate) fn intern(&self, category: &str, name: &[u8], role: Role) -> KindId {
        let traits = KindTraits {
            role,
            origin: KindOrigin::of_system(category.as_bytes()),
        };
        self.find_or_add(category.as_bytes(), name, traits)
    }

    /// Returns the kind of the marks with this name, and adds it if it is new.
    #[must_use]
    pub(crate) fn intern_mark(&self, name: &[u8], role: Role) -> KindId {
        let origin = KindOrigin::Mark;
        let category = KindOrigin::MARK_CATEGORY.as_bytes();
        self.find_or_add(category, name, KindTraits { role, origin })
    }

    /// Returns the number of kinds so far.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.inner().kinds.len()
    }

    /// Returns what defines a kind; `None` if the kind does not exist.
    #[must_use]
    pub(crate) fn origin(&self, kind: KindId) -> Option<KindOrigin> {
        let kinds = &self.inner().kinds;
        kinds.get(kind.index()).map(|kind| kind.origin)
    }

    /// Returns category and name of a kind; both empty if the kind does not exist.
    #[must_use]
    pub(crate) fn texts(&self, kind: KindId) -> KindTexts {
        let inner = self.inner();
        let text = |id| inner.strings.text(id).into_owned();
        let row = inner.kinds.get(kind.index());
        row.map_or_else(KindTexts::default, |row| KindTexts {
            category: text(row.category),
            name: text(row.name),
        })
    }

    /// Returns all kinds so far, and the strings that they refer to.
    #[must_use]
    pub(crate) fn list(&self) -> ListedKinds {
        let inner = self.inner();
        ListedKinds {
            kinds: inner.kinds.clone(),
            strings: inner.strings.clone(),
        }
    }

    /// Returns the approximate heap memory of the table, in bytes.
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
        let texts = kinds.texts(read);
        assert_eq!((&*texts.category, &*texts.name), ("syscalls", "read"));
    }

    #[test]
    fn every_name_has_a_kind_of_its_own() {
        let kinds = Kinds::default();
        let name = |i: u32| format!("{i}").into_bytes();
        let kind = |i: u32| kinds.intern("x", &name(i), Role::Instant);
        assert!((0..70_000).all(|i| kind(i) == KindId(i + 1)));
        assert!((0..70_000).all(|i| kind(i) == KindId(i + 1)));
        assert_eq!(kinds.texts(KindId(70_000)).name, "69999");
        assert_eq!(kinds.texts(KindId(70_001)), Default::default());
    }
}
