//! The kinds and labels of a part's events, by category and name, for formats whose names are found in the events.
//!
//! ```text
//! category, name --> remembered? --> kind, label
//!                \-> new ones, in the part's columns; the parts' equal ones become one when the parts are merged
//! ```
//!
//! Remembered are all of the first [`MOST_NAMES`] names, and the last of the later names. If a part has more names, most
//! are unique ("frame 123456"), or are repeated soon, as by the end of a slice.

use rustc_hash::FxHashMap;

use crate::base::by_string::ByString;
use crate::base::streaks::Follows;
use crate::base::{Maybe, StringId};
use crate::event::family::Family;
use crate::event::{EventKind, KindId, KindOrigin, Label, LaneColumns, Role, SliceKind};

/// Strings of a part beyond which only the last names are remembered.
const MOST_NAMES: usize = 1 << 17;
/// Number of last names that are remembered.
const RECENT: usize = 1 << 10;

/// Category and name of an event, as ids of the part's strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct NameIds {
    pub(crate) category: StringId,
    pub(crate) name: StringId,
}

/// The kind of an event that begins a slice or is one, and the slice's label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KindAndLabel {
    pub(crate) kind: KindId,
    pub(crate) label: u32,
}

/// What the category of events says about them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Implied {
    /// The kind of their slices.
    pub(crate) slices: SliceKind,
    /// What defines their kinds.
    pub(crate) origin: KindOrigin,
}

/// The kinds and labels of a part; see the module's documentation.
#[derive(Debug)]
pub(crate) struct PartNames {
    /// The family of labels.
    family: Family,
    /// Says what a category implies.
    imply: fn(&[u8]) -> Implied,
    /// The last category, and what it implies.
    implied: Option<(StringId, Implied)>,
    newest: Option<Newest>,
    names: Names,
    /// Kinds of roles that [`Named`] has no place for.
    rare: FxHashMap<(NameIds, Role), KindId>,
}

/// The kind that was added last, and the label that was added with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Newest {
    names: NameIds,
    role: Role,
    kind: u32,
    label: Maybe<u32>,
}

impl Newest {
    /// Returns whether another kind and its label follow from these.
    #[inline]
    fn precedes(self, next: Newest) -> bool {
        let names = NameIds {
            name: self.names.name.after(1),
            ..self.names
        };
        let following = Newest {
            names,
            kind: self.kind.wrapping_add(1),
            label: self.label.after(1),
            ..self
        };
        following == next
    }
}

impl PartNames {
    /// Returns a part without names. `family` is that of its slices; `imply` returns what a category implies.
    #[must_use]
    pub(crate) fn new(family: Family, imply: fn(&[u8]) -> Implied) -> PartNames {
        PartNames {
            family,
            imply,
            implied: None,
            newest: None,
            names: Names::default(),
            rare: FxHashMap::default(),
        }
    }

    /// Returns the kind of events with a role; adds it to the part's `columns` if it is new.
    #[inline]
    pub(crate) fn kind(&mut self, columns: &mut LaneColumns, names: NameIds, role: Role) -> KindId {
        let known = self.names.get(names);
        match known.and_then(|known| known.kind(role)) {
            Some(kind) => KindId(kind),
            None => self.new_kind(columns, names, role, known),
        }
    }

    /// Returns the kind of events that are slices, or begin them, and the label of the slices; adds them to the part's
    /// `columns` if they are new.
    #[inline]
    pub(crate) fn slice(&mut self, columns: &mut LaneColumns, names: NameIds) -> KindAndLabel {
        let known = self.names.get(names);
        if let Some(known) = known
            && let (Some(kind), Some(label)) = (known.kind(Role::Named), known.label.get())
        {
            let kind = KindId(kind);
            return KindAndLabel { kind, label };
        }
        self.new_slice(columns, names, known)
    }

    /// Returns the label of slices; adds it to the part's `columns` if it is new.
    #[inline]
    pub(crate) fn label(&mut self, columns: &mut LaneColumns, names: NameIds) -> u32 {
        let known = self.names.get(names);
        match known.and_then(|known| known.label.get()) {
            Some(label) => label,
            None => {
                let label = self.new_label(columns, names);
                let known = known.unwrap_or_default();
                self.names.set(names, known.with_label(label));
                label
            }
        }
    }

    fn implied_by(&mut self, columns: &LaneColumns, category: StringId) -> Implied {
        match self.implied {
            Some((known, implied)) if known == category => implied,
            _ => {
                let implied = (self.imply)(columns.strings.bytes(category));
                self.implied = Some((category, implied));
                implied
            }
        }
    }

    fn new_label(&mut self, columns: &mut LaneColumns, names: NameIds) -> u32 {
        let NameIds { category, name } = names;
        columns.labels.push(Label {
            family: self.family,
            kind: self.implied_by(columns, category).slices,
            name,
            category,
            key: 0,
        });
        columns.labels.len() as u32 - 1
    }

    /// Adds a kind. `known`: what is remembered of the names.
    #[inline(never)]
    fn new_kind(
        &mut self,
        columns: &mut LaneColumns,
        names: NameIds,
        role: Role,
        known: Option<Named>,
    ) -> KindId {
        let is_rare = Named::place(role).is_none();
        if is_rare && let Some(&kind) = self.rare.get(&(names, role)) {
            return kind;
        }
        let next = Newest {
            names,
            role,
            kind: columns.kinds.len() as u32,
            label: Maybe::NONE,
        };
        if self.follows(next) {
            columns.kinds.push_next();
        } else {
            self.push_kind(columns, next);
        }
        let kind = KindId(next.kind);
        match is_rare {
            true => _ = self.rare.insert((names, role), kind),
            false => {
                let known = known.unwrap_or_default();
                self.names.set(names, known.with_kind(role, next.kind));
            }
        }
        kind
    }

    /// Adds a kind, a label, or both. `known`: what is remembered of the names.
    #[inline(never)]
    fn new_slice(
        &mut self,
        columns: &mut LaneColumns,
        names: NameIds,
        known: Option<Named>,
    ) -> KindAndLabel {
        if known.is_some() {
            let label = self.label(columns, names);
            let kind = self.kind(columns, names, Role::Named);
            return KindAndLabel { kind, label };
        }
        let (kind, label) = (columns.kinds.len() as u32, columns.labels.len() as u32);
        let next = Newest {
            names,
            role: Role::Named,
            kind,
            label: Maybe::new(label),
        };
        if self.follows(next) {
            // A number of its own in each name.
            columns.labels.push_next();
            columns.kinds.push_next();
        } else {
            self.new_label(columns, names);
            self.push_kind(columns, next);
        }
        let named = Named::default().with_kind(Role::Named, kind);
        self.names.set(names, named.with_label(label));
        let kind = KindId(kind);
        KindAndLabel { kind, label }
    }

    /// Makes a kind the newest one; returns whether it and its label follow from those before.
    #[inline]
    fn follows(&mut self, next: Newest) -> bool {
        let newest = self.newest.replace(next);
        newest.is_some_and(|newest| newest.precedes(next))
    }

    fn push_kind(&mut self, columns: &mut LaneColumns, of: Newest) {
        let NameIds { category, name } = of.names;
        columns.kinds.push(EventKind {
            name,
            category,
            role: of.role,
            origin: self.implied_by(columns, category).origin,
        });
    }
}

/// The label and kinds of events with one category and name.
#[derive(Clone, Copy, Debug, Default)]
struct Named {
    label: Maybe<u32>,
    /// Kinds of instants of threads, of instants of CPUs, and of other named events.
    kinds: [Maybe<u32>; 3],
}

impl Named {
    /// Returns the index in `kinds` of kinds with a role; `None` if there is none.
    #[inline]
    fn place(role: Role) -> Option<usize> {
        match role {
            Role::Instant => Some(0),
            Role::CpuInstant => Some(1),
            Role::Named => Some(2),
            _ => None,
        }
    }

    /// Returns the kind of events with a role, if there is one.
    #[inline]
    fn kind(&self, role: Role) -> Option<u32> {
        self.kinds.get(Named::place(role)?)?.get()
    }

    /// Returns the same with the kind of events with a role.
    fn with_kind(mut self, role: Role, kind: u32) -> Named {
        if let Some(place) = Named::place(role)
            && let Some(place) = self.kinds.get_mut(place)
        {
            *place = Maybe::new(kind);
        }
        self
    }

    /// Returns the same with the label of slices.
    fn with_label(self, label: u32) -> Named {
        let label = Maybe::new(label);
        Named { label, ..self }
    }
}

/// The label and kinds of each name and category.
#[derive(Debug, Default)]
struct Names {
    first: ByString<StringId, Named>,
    /// Empty, or `RECENT` entries: a name is at its number modulo `RECENT`.
    recent: Vec<Option<(NameIds, Named)>>,
}

impl Names {
    /// Returns the label and kinds of a name and category, if they are remembered.
    #[inline]
    fn get(&self, names: NameIds) -> Option<Named> {
        let NameIds { category, name } = names;
        if (name.0 as usize) < MOST_NAMES {
            return self.first.get(name, category);
        }
        let recent = self.recent.get(name.0 as usize % RECENT).copied()?;
        let recent = recent.filter(|(known, _)| *known == names);
        recent.map(|(_, named)| named)
    }

    /// Remembers the label and kinds of a name and category.
    #[inline]
    fn set(&mut self, names: NameIds, named: Named) {
        let NameIds { category, name } = names;
        if (name.0 as usize) < MOST_NAMES {
            return self.first.set(name, category, named);
        }
        if self.recent.is_empty() {
            self.recent = vec![None; RECENT];
        }
        if let Some(recent) = self.recent.get_mut(name.0 as usize % RECENT) {
            *recent = Some((names, named));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(_: &[u8]) -> Implied {
        Implied::default()
    }

    fn names(name: u32) -> NameIds {
        NameIds {
            category: StringId(1),
            name: StringId(name),
        }
    }

    #[test]
    fn first_names_are_remembered_and_later_ones_for_a_while() {
        let mut all = PartNames::new(Family::Durations, plain);
        let mut columns = LaneColumns::new(0);
        let count = MOST_NAMES as u32 + 3000;
        let mut slice = |name: u32| {
            let of = all.slice(&mut columns, names(name));
            assert_eq!(of.kind.0, of.label);
            of.label
        };
        assert!((0..count).all(|name| slice(name) == name));
        let later = MOST_NAMES as u32;
        for name in [0, later - 1, count - 1, count - 1000] {
            assert_eq!(slice(name), name);
        }
        assert_eq!(slice(later), count);
        let named = columns.kinds.get(later as usize).unwrap();
        assert_eq!((named.name, named.role), (StringId(later), Role::Named));
        let label = columns.labels.get(count as usize).unwrap();
        assert_eq!((label.name, label.category), (StringId(later), StringId(1)));
    }

    #[test]
    fn each_role_has_a_kind_of_its_own_and_only_slices_have_labels() {
        let mut all = PartNames::new(Family::Durations, plain);
        let mut columns = LaneColumns::new(0);
        for round in 0..2 {
            for (number, role) in [
                (0, Role::Instant),
                (1, Role::Attachment),
                (2, Role::PointerName),
                (3, Role::CpuInstant),
                (4, Role::Named),
            ] {
                let kind = all.kind(&mut columns, names(7), role);
                assert_eq!(kind, KindId(number));
            }
            assert_eq!(columns.labels.len(), round);
            let of = all.slice(&mut columns, names(7));
            assert_eq!((of.kind, of.label), (KindId(4), 0));
            assert_eq!(all.label(&mut columns, names(7)), 0);
        }
        let other = NameIds {
            category: StringId(2),
            ..names(7)
        };
        assert_eq!(all.label(&mut columns, other), 1);
        let of = all.slice(&mut columns, other);
        assert_eq!((of.kind, of.label), (KindId(5), 1));
        let roles: Vec<Role> = columns.kinds.iter().map(|kind| kind.role).collect();
        assert_eq!(roles[1..3], [Role::Attachment, Role::PointerName]);
    }
}
