//! The open asynchronous slices of one id: which of them an end closes, quickly however many are open.
//!
//! A few open slices are searched one by one. If there are more, the slices of each category and name have a stack of
//! their own, and a slice that is closed amid others leaves an empty place.

use rustc_hash::FxHashMap;

use crate::base::StringId;

/// An open begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    /// The number of its mark.
    pub mark: u32,
    /// Name of its group.
    pub group: StringId,
    /// Its name.
    pub name: StringId,
    /// Its category.
    pub category: StringId,
}

/// The stack of each category and name; its entries are (index into `open`, mark number), the innermost last.
type Places = FxHashMap<(StringId, StringId), Vec<(u32, u32)>>;

/// Up to this many open slices are searched one by one.
const SHALLOW: usize = 16;

/// The open slices of one id.
#[derive(Debug, Default)]
pub(crate) struct OpenAsyncs {
    /// Begins in the order of their marks; `None` where one was closed amid others.
    open: Vec<Option<Open>>,
    /// The stacks, while many slices are open. Entries of closed slices stay in them; `open` then has another mark at
    /// their index, or none.
    places: Option<Places>,
    #[cfg(test)]
    looks: usize,
}

impl OpenAsyncs {
    /// Removes all slices.
    pub(crate) fn clear(&mut self) {
        self.open.clear();
        self.places = None;
    }

    /// Returns the open slice that began last.
    pub(crate) fn innermost(&self) -> Option<Open> {
        self.open.last().copied().flatten()
    }

    /// Adds a begin.
    pub(crate) fn push(&mut self, begin: Open) {
        self.open.push(Some(begin));
        let at = self.open.len() - 1;
        match &mut self.places {
            Some(places) => {
                let key = (begin.category, begin.name);
                places.entry(key).or_default().push((at as u32, begin.mark));
            }
            None if at >= SHALLOW => {
                let mut places = Places::default();
                for (open, at) in self.open.iter().zip(0..) {
                    let Some(open) = open else { continue };
                    let key = (open.category, open.name);
                    places.entry(key).or_default().push((at, open.mark));
                }
                self.places = Some(places);
            }
            None => {}
        }
    }

    /// Closes and returns the innermost slice of this category and name. If there is none: the innermost of all if
    /// `name` is empty, otherwise `None`.
    pub(super) fn close(&mut self, category: StringId, name: StringId) -> Option<Open> {
        let at = match self.called(category, name) {
            Some(at) => at,
            None if name == StringId::EMPTY => self.open.len().checked_sub(1)?,
            None => return None,
        };
        let closed = self.open.get_mut(at)?.take();
        while self.open.last().is_some_and(Option::is_none) {
            self.open.pop();
        }
        if self.open.len() < SHALLOW / 2 {
            self.places = None;
            self.open.retain(Option::is_some);
        }
        closed
    }

    /// Returns the index of the innermost slice of this category and name.
    fn called(&mut self, category: StringId, name: StringId) -> Option<usize> {
        let Some(places) = &mut self.places else {
            return self.open.iter().rposition(|open| {
                open.is_some_and(|open| open.name == name && open.category == category)
            });
        };
        let own = places.get_mut(&(category, name))?;
        loop {
            let (at, mark) = own.pop()?;
            #[cfg(test)]
            {
                self.looks += 1;
            }
            let there = self.open.get(at as usize).copied().flatten();
            if there.is_some_and(|open| open.mark == mark) {
                return Some(at as usize);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(mark: u32, name: u32) -> Open {
        Open {
            mark,
            group: StringId(0),
            name: StringId(name),
            category: StringId(name % 2),
        }
    }

    #[test]
    fn an_end_closes_what_a_plain_search_finds() {
        let mut state = 11_u64;
        let mut random = |limit: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % limit
        };
        let mut open = OpenAsyncs::default();
        let mut plain: Vec<Open> = Vec::new();
        for mark in 0..30_000 {
            // Fills and empties in turns.
            let is_begin = random(100) < if mark / 700 % 2 == 0 { 70 } else { 25 };
            if is_begin {
                let begin = begin(mark, random(7) as u32);
                open.push(begin);
                plain.push(begin);
            } else {
                let name = random(8) as u32;
                let same = plain.iter().rposition(|open| open.name.0 == name);
                let at = same.or_else(|| plain.len().checked_sub(1).filter(|_| name == 0));
                let expected = at.map(|at| plain.remove(at).mark);
                let closed = open.close(StringId(name % 2), StringId(name));
                assert_eq!(closed.map(|open| open.mark), expected);
            }
            let innermost = open.innermost().map(|open| open.mark);
            assert_eq!(innermost, plain.last().map(|open| open.mark));
        }
    }

    #[test]
    fn many_open_ones_are_not_looked_at_one_by_one() {
        let count = 200_000;
        let mut open = OpenAsyncs::default();
        for mark in 0..count {
            open.push(begin(mark, mark + 1));
        }
        for mark in 0..count {
            let closed = open.close(StringId((mark + 1) % 2), StringId(mark + 1));
            assert_eq!(closed.map(|open| open.mark), Some(mark));
            assert!(open.close(StringId(0), StringId(count + 2)).is_none());
        }
        assert!(open.looks <= 2 * count as usize, "{}", open.looks);
    }
}
