//! Maps names of a part's events to labels and kinds: all of the first [`MOST_NAMES`] names, and the last of the later
//! names.
//!
//! If a part has more names, most are unique ("frame 123456"), or are repeated soon, as by the end of a slice. A table
//! of all of them would cost more than it saves; equal names are found when the parts are merged.

use crate::base::by_string::ByString;
use crate::base::{Maybe, StringId};
use crate::event::Role;

/// Strings of a part beyond which only the last names are remembered.
pub(super) const MOST_NAMES: usize = 1 << 13;
/// Number of last names that are remembered.
const RECENT: usize = 1 << 10;

/// The label and kinds of events with one category and name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub(super) label: u32,
    /// Kinds of instants of threads, of instants of CPUs, and of other events.
    kinds: [Maybe<u32>; 3],
}

impl Named {
    /// Returns a label without kinds.
    pub(super) fn of_label(label: u32) -> Named {
        Named {
            label,
            kinds: [Maybe::NONE; 3],
        }
    }

    /// Returns the kind of events with a role, if there is one.
    #[inline]
    pub(super) fn kind(&self, role: Role) -> Option<u32> {
        let [points, of_cpus, others] = self.kinds;
        match role {
            Role::Instant => points.get(),
            Role::CpuInstant => of_cpus.get(),
            _ => others.get(),
        }
    }

    /// Returns the same with the kind of events with a role.
    pub(super) fn with_kind(self, role: Role, kind: u32) -> Named {
        let mut kinds = self.kinds;
        let [points, of_cpus, others] = &mut kinds;
        let place = match role {
            Role::Instant => points,
            Role::CpuInstant => of_cpus,
            _ => others,
        };
        *place = Maybe::new(kind);
        Named { kinds, ..self }
    }
}

/// The label and kinds of each name and category.
#[derive(Debug, Default)]
pub(super) struct Names {
    first: ByString<StringId, Named>,
    /// Empty, or `RECENT` entries: a name is at its number modulo `RECENT`.
    recent: Vec<Option<Recent>>,
}

#[derive(Clone, Copy, Debug)]
struct Recent {
    name: StringId,
    category: StringId,
    named: Named,
}

impl Names {
    /// Returns the label and kinds of a name and category, if they are remembered.
    #[inline]
    pub(super) fn get(&self, name: StringId, category: StringId) -> Option<Named> {
        if (name.0 as usize) < MOST_NAMES {
            return self.first.get(name, category);
        }
        let recent = self.recent.get(name.0 as usize % RECENT).copied()?;
        let recent = recent.filter(|recent| recent.name == name && recent.category == category);
        recent.map(|recent| recent.named)
    }

    /// Remembers the label and kinds of a name and category.
    #[inline]
    pub(super) fn set(&mut self, name: StringId, category: StringId, named: Named) {
        if (name.0 as usize) < MOST_NAMES {
            return self.first.set(name, category, named);
        }
        if self.recent.is_empty() {
            self.recent = vec![None; RECENT];
        }
        if let Some(recent) = self.recent.get_mut(name.0 as usize % RECENT) {
            *recent = Some(Recent {
                name,
                category,
                named,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_names_are_remembered_and_later_ones_for_a_while() {
        let mut names = Names::default();
        let category = StringId(1);
        let count = MOST_NAMES as u32 + 3000;
        for name in 0..count {
            names.set(StringId(name), category, Named::of_label(name));
        }
        let label = |name: u32| {
            let named = names.get(StringId(name), category);
            named.map(|named| named.label)
        };
        assert_eq!(label(0), Some(0));
        assert_eq!(label(8191), Some(8191));
        assert_eq!(label(8192), None);
        assert_eq!(label(count - 1), Some(count - 1));
        assert_eq!(label(count - 1000), Some(count - 1000));
        assert!(names.get(StringId(count - 1), StringId(2)).is_none());
    }
}
