//! The open begins of one track whose ends may name them: each end closes the innermost begin that it fits.
//!
//! Begins above that one stay open, as their own ends may follow. Those whose ends never follow are drawn up to the end
//! of the first slice around them that was closed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::base::StringId;

/// The name and category that a begin or an end states; empty if it states none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct MarkNames {
    pub(super) name: StringId,
    pub(super) category: StringId,
}

impl MarkNames {
    const NOTHING: MarkNames = MarkNames {
        name: StringId::EMPTY,
        category: StringId::EMPTY,
    };

    /// Returns the names and categories with which an end fits this begin, besides [`MarkNames::NOTHING`].
    fn of_ends(self) -> [MarkNames; 3] {
        let name_alone = MarkNames {
            category: StringId::EMPTY,
            ..self
        };
        let category_alone = MarkNames {
            name: StringId::EMPTY,
            ..self
        };
        [self, name_alone, category_alone]
    }

    /// Returns whether an end with these names closes a begin with the names `begin`.
    fn fits(self, begin: MarkNames) -> bool {
        let is_equal = |own, of_begin| own == StringId::EMPTY || own == of_begin;
        is_equal(self.name, begin.name) && is_equal(self.category, begin.category)
    }
}

/// An end that closed a begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Closed {
    /// Position among the begins and ends of the track.
    order: u32,
    /// Its time in ns.
    time: i64,
}

/// A begin, which stays in the list until those above it are closed.
#[derive(Clone, Copy, Debug)]
struct Begin {
    draft: u32,
    order: u32,
    names: MarkNames,
    closed: Option<Closed>,
}

/// A begin whose end never came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unclosed {
    pub(super) draft: u32,
    /// The time in ns at which the first slice around it was closed, if one was.
    pub(super) until: Option<i64>,
}

/// The position of a begin in the list; its draft shows whether the begin is still there.
#[derive(Clone, Copy, Debug)]
struct Spot {
    index: usize,
    draft: u32,
}

/// The open begins of a track, innermost last.
#[derive(Default)]
pub(super) struct NamedBegins {
    /// The last begin is always open.
    begins: Vec<Begin>,
    /// Made when the list has more than [`SHALLOW`] begins: the begins that fit ends with some names, innermost last.
    /// The last begin of each list is open.
    by_names: Option<FxHashMap<MarkNames, Vec<Spot>>>,
    order: u32,
}

/// Up to this many begins are searched one by one.
const SHALLOW: usize = 16;

impl NamedBegins {
    /// Adds the begin of a draft.
    #[inline]
    pub(super) fn push(&mut self, draft: u32, names: MarkNames) {
        self.order += 1;
        let index = self.begins.len();
        if let Some(by_names) = &mut self.by_names {
            for end in names.of_ends() {
                by_names.entry(end).or_default().push(Spot { index, draft });
            }
        }
        self.begins.push(Begin {
            draft,
            order: self.order,
            names,
            closed: None,
        });
    }

    /// Closes the innermost begin that an end at `time` (in ns) fits; returns its draft.
    #[inline]
    pub(super) fn close(&mut self, names: MarkNames, time: i64) -> Option<u32> {
        let index = self.find(names)?;
        self.order += 1;
        let begin = self.begins.get_mut(index)?;
        begin.closed = Some(Closed {
            order: self.order,
            time,
        });
        let begin = *begin;
        while self.begins.pop_if(|last| last.closed.is_some()).is_some() {}
        if self.begins.len() < SHALLOW / 2 {
            self.by_names = None;
        } else if let Some(by_names) = &mut self.by_names {
            for end in begin.names.of_ends() {
                if let Entry::Occupied(mut spots) = by_names.entry(end) {
                    let is_over = |spot: &mut Spot| !is_open(&self.begins, *spot);
                    while spots.get_mut().pop_if(is_over).is_some() {}
                    if spots.get().is_empty() {
                        spots.remove();
                    }
                }
            }
        }
        Some(begin.draft)
    }

    fn find(&mut self, names: MarkNames) -> Option<usize> {
        if names == MarkNames::NOTHING {
            return self.begins.len().checked_sub(1);
        }
        if self.begins.len() <= SHALLOW {
            let fits = |begin: &Begin| begin.closed.is_none() && names.fits(begin.names);
            return self.begins.iter().rposition(fits);
        }
        let begins = &self.begins;
        let by_names = self.by_names.get_or_insert_with(|| {
            let mut by_names: FxHashMap<MarkNames, Vec<Spot>> = FxHashMap::default();
            for (index, begin) in begins.iter().enumerate() {
                let draft = begin.draft;
                for end in begin.names.of_ends() {
                    if begin.closed.is_none() {
                        by_names.entry(end).or_default().push(Spot { index, draft });
                    }
                }
            }
            by_names
        });
        Some(by_names.get(&names)?.last()?.index)
    }

    /// Returns the begins that are still open, outermost first.
    pub(super) fn unclosed(self) -> Vec<Unclosed> {
        // The ends of slices around the next begin, the first one on top.
        let mut around: BinaryHeap<Reverse<Closed>> = BinaryHeap::new();
        let mut unclosed = Vec::new();
        for begin in self.begins {
            // Ends before this begin: these slices contain no later begins.
            while (around.peek()).is_some_and(|Reverse(end)| end.order < begin.order) {
                around.pop();
            }
            match begin.closed {
                Some(closed) => around.push(Reverse(closed)),
                None => unclosed.push(Unclosed {
                    draft: begin.draft,
                    until: around.peek().map(|Reverse(end)| end.time),
                }),
            }
        }
        unclosed
    }
}

fn is_open(begins: &[Begin], spot: Spot) -> bool {
    let begin = begins.get(spot.index);
    begin.is_some_and(|begin| begin.draft == spot.draft && begin.closed.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(name: u32, category: u32) -> MarkNames {
        MarkNames {
            name: StringId(name),
            category: StringId(category),
        }
    }

    /// The slow way: a plain list of begins.
    #[derive(Default)]
    struct Plain(Vec<(u32, MarkNames)>);

    impl Plain {
        fn close(&mut self, names: MarkNames) -> Option<u32> {
            let at = self.0.iter().rposition(|(_, begin)| names.fits(*begin))?;
            Some(self.0.remove(at).0)
        }
    }

    #[test]
    fn ends_close_what_a_plain_list_says_at_any_depth() {
        let mut state = 7_u64;
        let mut below = |limit: u32| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as u32 % limit
        };
        for begins_in_ten in [4, 5, 7] {
            let (mut begins, mut plain) = (NamedBegins::default(), Plain::default());
            for draft in 0..3000 {
                // 0 is not a name.
                let names = names(below(6), below(3));
                if below(10) < begins_in_ten {
                    begins.push(draft, names);
                    plain.0.push((draft, names));
                } else {
                    let expected = plain.close(names);
                    assert_eq!(begins.close(names, draft.into()), expected);
                }
            }
            let left: Vec<u32> = begins.unclosed().iter().map(|left| left.draft).collect();
            let expected: Vec<u32> = plain.0.iter().map(|begin| begin.0).collect();
            assert_eq!(left, expected);
        }
    }

    #[test]
    fn begins_without_an_end_last_as_long_as_the_first_slice_around_them() {
        let mut begins = NamedBegins::default();
        for draft in 0..4 {
            begins.push(draft, names(draft + 1, 0));
        }
        // The outer begin is closed first, then the one inside it: begin 2 is inside both, 1 and 3 are inside none of
        // the closed slices.
        assert_eq!(begins.close(names(1, 0), 10), Some(0));
        assert_eq!(begins.close(names(2, 0), 20), Some(1));
        assert_eq!(begins.close(names(4, 0), 30), Some(3));
        begins.push(9, names(9, 0));
        let until: Vec<_> = begins.unclosed().iter().map(|left| left.until).collect();
        assert_eq!(until, [Some(10), None]);
    }

    #[test]
    fn many_begins_that_end_first_in_first_out_cost_no_more_than_others() {
        let mut begins = NamedBegins::default();
        let count = 200_000;
        for draft in 0..count {
            begins.push(draft, names(draft + 1, 1));
        }
        for draft in 0..count {
            assert_eq!(begins.close(names(draft + 1, 1), 1), Some(draft));
        }
        assert!(begins.unclosed().is_empty());
    }
}
