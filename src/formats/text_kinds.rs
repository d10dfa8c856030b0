//! Kinds of events of texts, by category, name and role. Kind 0, the default number, is the kind of events whose kind
//! is not known.

use super::kind_table::{KindKey, KindTable, KindTraits, OwnKind};
use crate::event::kernel::UNKNOWN_SYSTEM;
use crate::event::{KindId, KindOrigin, Role};
use crate::trace::Trace;

/// The table of kinds, shared by all parts.
pub(crate) type Kinds = KindTable<Role>;

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
        let key = KindKey {
            class: role,
            category: category.as_bytes(),
            name,
        };
        self.find_or_add(key, || KindTraits {
            role,
            origin: KindOrigin::of_system(category.as_bytes()),
        })
    }

    /// Returns the kind of the marks with this name, and adds it if it is new.
    #[must_use]
    pub(crate) fn intern_mark(&self, name: &[u8], role: Role) -> KindId {
        let key = KindKey {
            class: role,
            category: KindOrigin::MARK_CATEGORY.as_bytes(),
            name,
        };
        let origin = KindOrigin::Mark;
        self.find_or_add(key, || KindTraits { role, origin })
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
