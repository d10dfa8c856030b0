//! Raw marks next to named marks of the same call: which numbers have a name, and which marks are twins.
//!
//! Of the 99 trace.dat files of the corpus and the samples, 2 contain both kinds of marks.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::row::Row;
use super::table::{Calls, Kind, Raw, Twin};
use crate::event::syscalls;

/// A named call.
pub(super) struct NamedCall {
    /// The label of a begin.
    pub(super) label: u32,
    pub(super) name: String,
}

/// A count of marks.
#[derive(Clone, Copy, Default)]
struct Marks {
    begins: u64,
    ends: u64,
}

impl Marks {
    fn add(&mut self, row: Row) {
        match row.is_end() {
            true => self.ends += 1,
            false => self.begins += 1,
        }
    }

    fn and(&mut self, other: Marks) {
        self.begins += other.begins;
        self.ends += other.ends;
    }

    fn total(self) -> u64 {
        self.begins + self.ends
    }
}

/// A raw call and a named call whose marks are next to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Neighbours {
    number: u64,
    /// The pair number of the named call.
    pair: u32,
}

/// A count of raw begins.
#[derive(Clone, Copy, Default)]
struct RawBegins {
    all: u64,
    /// Those next to a named mark.
    beside_named: u64,
}

/// How often raw marks are next to named marks, among the marks of one thread or of all threads.
#[derive(Default)]
pub(super) struct Votes {
    /// The count of raw marks of each number next to marks of each named call.
    beside: FxHashMap<Neighbours, Marks>,
    /// For each number: the count of raw marks in programs that also have named calls.
    raw: FxHashMap<u64, Marks>,
    /// The raw begins of programs with named calls.
    of_native: RawBegins,
}

impl Votes {
    pub(super) fn and(mut self, other: Votes) -> Votes {
        for (key, count) in other.beside {
            self.beside.entry(key).or_default().and(count);
        }
        for (key, count) in other.raw {
            self.raw.entry(key).or_default().and(count);
        }
        self.of_native.all += other.of_native.all;
        self.of_native.beside_named += other.of_native.beside_named;
        self
    }
}

impl Calls {
    /// Returns the votes of one thread, whose marks are `rows`.
    pub(super) fn votes(&self, rows: &[Row]) -> Votes {
        let calls: Vec<Row> = rows
            .iter()
            .copied()
            .filter(|row| self.is_call(*row))
            .collect();
        let programs = self.programs(&calls, None).into_iter();
        let votes = programs.map(|program| self.votes_of_program(&calls, program.calls));
        votes.fold(Votes::default(), Votes::and)
    }

    /// Returns the votes of one program of a thread; `own` are the indices of its marks.
    fn votes_of_program(&self, calls: &[Row], own: Range<usize>) -> Votes {
        let mut votes = Votes::default();
        let mut begins = RawBegins::default();
        for at in own {
            let row = calls[at];
            let Some(Kind::Raw(Raw { number, .. })) = self.kind(row) else {
                continue;
            };
            let mut has_named = false;
            for other in neighbours(calls, at) {
                if other.is_end() == row.is_end()
                    && matches!(self.kind(other), Some(Kind::Named(_)))
                {
                    let pair = self.pair(other);
                    let beside = votes.beside.entry(Neighbours { number, pair });
                    beside.or_default().add(row);
                    has_named = true;
                }
            }
            votes.raw.entry(number).or_default().add(row);
            if !row.is_end() {
                begins.all += 1;
                begins.beside_named += u64::from(has_named);
            }
        }
        // Without a named call it may be a 32-bit program, whose numbers mean other calls.
        if begins.beside_named == 0 {
            return Votes::default();
        }
        votes.of_native = begins;
        votes
    }

    /// Sets the twins of all numbers by the votes of all threads.
    pub(super) fn count(&mut self, votes: &Votes, named: &FxHashMap<u32, NamedCall>) {
        let mut best: FxHashMap<u64, (u64, u32)> = FxHashMap::default();
        for (&Neighbours { number, pair }, count) in &votes.beside {
            let entry = best.entry(number).or_default();
            // Ties are broken by the pair, so that the order of a hash map does not matter.
            *entry = (*entry).max((count.total(), pair));
        }
        let mut twins: FxHashMap<u64, Twin> = FxHashMap::default();
        for (number, (_, pair)) in best {
            let beside = votes.beside.get(&Neighbours { number, pair }).copied();
            let beside = beside.unwrap_or_default();
            let marks = votes.raw.get(&number).copied().unwrap_or_default();
            let named = named.get(&pair);
            // A raw end may be next to an end of another call by chance: if both have begins, the begins decide.
            let is_usual = match named.is_some() && marks.begins > 0 {
                true => beside.begins * 2 >= marks.begins,
                false => beside.total() * 2 >= marks.total(),
            };
            // Some names differ (newfstat, fstat).
            let own = syscalls::name(self.native, number);
            if !is_usual && own != named.map(|named| named.name.as_str()) {
                continue;
            }
            let twin = Twin {
                pair,
                label: named.map(|named| named.label),
                is_usual,
            };
            twins.insert(number, twin);
        }
        self.keep_one_number_each(&mut twins, votes, named);
        let begun = votes.raw.iter().filter(|(_, marks)| marks.begins > 0);
        let begun: FxHashSet<u64> = begun.map(|(number, _)| *number).collect();
        let named_count = begun.iter().filter(|number| twins.contains_key(number));
        let named_count = named_count.count();
        let are_all_named = named_count >= 8 && begun.len() - named_count <= begun.len() / 4;
        for kind in self.kinds.iter_mut().flatten() {
            if let Kind::Raw(raw) = kind {
                raw.twin = twins.get(&raw.number).copied();
                raw.is_never_named = are_all_named
                    && raw.twin.is_none()
                    && begun.contains(&raw.number)
                    // Older kernels have no named event for the return from a signal handler.
                    && !raw.native.never_returns
                    && syscalls::name(self.native, raw.number).is_some();
            }
        }
        self.has_twins = !twins.is_empty();
        let begins = votes.of_native;
        self.is_complete = begins.all - begins.beside_named <= begins.all / 8;
    }

    /// Leaves each named call the twin of one number: the one that the table gives the call's name, otherwise the one
    /// that was next to it most often. A number whose own named events are missing stands next to those of other calls.
    fn keep_one_number_each(
        &self,
        twins: &mut FxHashMap<u64, Twin>,
        votes: &Votes,
        named: &FxHashMap<u32, NamedCall>,
    ) {
        let rank = |number: u64, pair: u32| {
            let own = syscalls::name(self.native, number);
            let has_name = own.is_some() && own == named.get(&pair).map(|it| it.name.as_str());
            let beside = votes.beside.get(&Neighbours { number, pair });
            let beside = beside.map_or(0, |marks| marks.total());
            (has_name, beside, std::cmp::Reverse(number))
        };
        let mut best = FxHashMap::default();
        for (&number, twin) in twins.iter() {
            let entry = best.entry(twin.pair).or_insert(number);
            if rank(number, twin.pair) > rank(*entry, twin.pair) {
                *entry = number;
            }
        }
        twins.retain(|number, twin| best.get(&twin.pair) == Some(number));
    }

    /// Returns, for each mark, whether it is a raw mark next to the named mark of the same call.
    pub(super) fn find_twins(&self, calls: &[Row]) -> Vec<bool> {
        let mut is_twin = vec![false; calls.len()];
        if !self.has_twins {
            return is_twin;
        }
        // Index of the named mark that was matched last: a named mark has at most one twin.
        let mut taken = None;
        for at in 0..calls.len() {
            let Some(Kind::Raw(Raw {
                twin: Some(twin), ..
            })) = self.kind(calls[at])
            else {
                continue;
            };
            let is_named = |other: usize| {
                Some(other) != taken
                    && calls.get(other).is_some_and(|other| {
                        other.is_end() == calls[at].is_end()
                            && matches!(self.kind(*other), Some(Kind::Named(_)))
                            && self.pair(*other) == twin.pair
                    })
            };
            let before = at.checked_sub(1).filter(|&other| is_named(other));
            if let Some(named) = before.or_else(|| Some(at + 1).filter(|&other| is_named(other))) {
                is_twin[at] = true;
                taken = Some(named);
            }
        }
        is_twin
    }
}

/// Returns the marks directly before and after index `at`.
fn neighbours(rows: &[Row], at: usize) -> impl Iterator<Item = Row> {
    let before = at.checked_sub(1).and_then(|at| rows.get(at));
    before.into_iter().chain(rows.get(at + 1)).copied()
}
