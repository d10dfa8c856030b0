//! Event kinds: the known calls, texts without a call, and the other tags of a file.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::base::Strings;
use crate::event::{EventKind, KindId, KindOrigin, Role};

use super::sorts::{Slot, Sort};

/// Maximum number of unknown tags that get a kind of their own.
pub(super) const MOST_UNKNOWN: usize = 1024;

/// The kinds of one file.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    unknown: Mutex<Unknown>,
}

#[derive(Debug, Default)]
struct Unknown {
    ids: FxHashMap<Vec<u8>, u32>,
    tags: Vec<Vec<u8>>,
}

fn known_count() -> usize {
    Sort::all().count() + Slot::all().count()
}

impl Kinds {
    /// Returns the kind of a known call.
    #[must_use]
    pub(crate) fn of_sort(sort: Sort) -> KindId {
        KindId(sort as u32)
    }

    /// Returns the kind of a text without its call.
    #[must_use]
    pub(crate) fn of_slot(slot: Slot) -> KindId {
        KindId(Sort::Unknown as u32 + 1 + slot as u32)
    }

    /// Returns the kind of an unknown tag.
    #[must_use]
    pub(crate) fn of_tag(&self, tag: &[u8]) -> KindId {
        let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = unknown.ids.get(tag) {
            return KindId(id);
        }
        if unknown.tags.len() >= MOST_UNKNOWN {
            return Kinds::of_sort(Sort::Unknown);
        }
        let id = (known_count() + unknown.tags.len()) as u32;
        unknown.ids.insert(tag.to_vec(), id);
        unknown.tags.push(tag.to_vec());
        KindId(id)
    }

    /// Returns all kinds, for the directory.
    #[must_use]
    pub(crate) fn list(&self, strings: &mut Strings) -> Vec<EventKind> {
        let mut kinds = Vec::new();
        for sort in Sort::all() {
            kinds.push(EventKind {
                name: strings.intern_text(sort.name()),
                category: strings.intern_text(sort.category()),
                role: sort.role(),
                origin: KindOrigin::Recorder,
            });
        }
        let lone = strings.intern_text("etrace");
        for slot in Slot::all() {
            kinds.push(EventKind {
                name: strings.intern_text(slot.tag()),
                category: lone,
                role: Role::Instant,
                origin: KindOrigin::Recorder,
            });
        }
        let unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        for tag in &unknown.tags {
            kinds.push(EventKind {
                name: strings.intern(tag),
                category: lone,
                role: Role::Instant,
                origin: KindOrigin::Recorder,
            });
        }
        kinds
    }
}
