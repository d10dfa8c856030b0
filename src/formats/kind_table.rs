//! Kinds of events for formats that find names while parts are read in parallel: one table for all parts. A part uses
//! the table only for names that are new to the part.

use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::by_string::ByString;
use crate::base::{StringId, Strings};
use crate::event::{EventKind, KindId, KindOrigin, Role};

/// The shared table: one kind for each class, category and name. The format defines the classes.
#[derive(Debug)]
pub(crate) struct KindTable<C> {
    inner: Mutex<Inner<C>>,
}

#[derive(Debug)]
struct Inner<C> {
    strings: Strings,
    kinds: Vec<EventKind>,
    /// By name, and category and class.
    by_name: ByString<(StringId, C), KindId>,
}

/// The key of a kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KindKey<'a, C> {
    pub(crate) class: C,
    pub(crate) category: &'a [u8],
    pub(crate) name: &'a [u8],
}

/// Facts about a kind that is new to the table, from the reader.
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

impl<C: Copy + Eq + Hash> Inner<C> {
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

impl<C: Copy + Eq + Hash> KindTable<C> {
    /// Returns a table whose first kinds are these. [`intern`](Self::intern) never returns
    /// one of them.
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
        KindTable {
            inner: Mutex::new(inner),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner<C>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the kind with this key; if it is new, adds it with the traits that `describe` returns.
    #[must_use]
    pub(crate) fn find_or_add(
        &self,
        key: KindKey<'_, C>,
        describe: impl FnOnce() -> KindTraits,
    ) -> KindId {
        let mut inner = self.inner();
        let category = inner.strings.intern(key.category);
        let name = inner.strings.intern(key.name);
        let class = (category, key.class);
        if let Some(kind) = inner.by_name.get(name, class) {
            return kind;
        }
        let id = inner.push(category, name, describe());
        inner.by_name.set(name, class, id);
        id
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
