//! Which marks of kernel system calls begin and end a call. Input: the marks of one thread. Output: the marks that
//! pair.
//!
//! ```text
//! recorded   sys_enter_read  sys_enter (NR 0)  ...  sys_exit_read  sys_exit (NR 0)
//! pairs      begin                                  end
//! ```
//!
//! A call that was recorded by name and by number (raw) is one call: its raw mark next to the named mark is a twin and
//! is left out. A raw mark without a twin pairs with whichever mark of its call is there. Calls that never return are
//! instants. If a number has no twin although other marks of that number have one, the thread runs a 32-bit program,
//! whose calls have the numbers of another table. The number with which an `execve` returns shows this as well.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::super::labels::LabelPairs;
use super::row::{COMPAT, END, OVER, Row};
use crate::base::{StringId, Strings};
use crate::event::family::Family;
use crate::event::pairs::{ANY_KEY, NUMBER_ZERO, USER_MODE};
use crate::event::syscalls::{self, Abi};
use crate::trace::SliceLabel;

/// Calls that do not return to where they were made.
const NEVER_RETURN: &[&str] = &["rt_sigreturn", "sigreturn", "exit", "exit_group"];

/// The kind of a label's marks.
#[derive(Clone, Copy)]
enum Sort {
    /// Marks of a call, by name.
    Named(Traits),
    /// Marks of a call, by number.
    Raw(Raw),
    /// Marks of events that only a thread outside the kernel causes: the open call is over.
    UserMode,
}

/// A call's number, and what is special about the calls that have it.
#[derive(Clone, Copy)]
struct Raw {
    number: u64,
    /// The call with this number in the machine's own table.
    native: Traits,
    /// The call with this number in the table of 32-bit programs.
    compat: Traits,
    twin: Option<Twin>,
}

/// What is special about a call.
#[derive(Clone, Copy, Default)]
struct Traits {
    never_returns: bool,
    is_exec: bool,
}

impl Traits {
    fn of(name: &str) -> Traits {
        Traits {
            never_returns: NEVER_RETURN.contains(&name),
            is_exec: matches!(name, "execve" | "execveat"),
        }
    }
}

impl Raw {
    fn new(key: u64, native: Abi) -> Raw {
        let number = if key == NUMBER_ZERO { 0 } else { key };
        let traits = |abi: Option<Abi>| {
            let name = abi.and_then(|abi| syscalls::name(abi, number));
            Traits::of(name.unwrap_or(""))
        };
        Raw {
            number,
            native: traits(Some(native)),
            compat: traits(native.compat()),
            twin: None,
        }
    }

    fn traits(&self, mode: Mode) -> Traits {
        match mode {
            Mode::Native => self.native,
            Mode::Compat => self.compat,
        }
    }
}

/// The table that a thread's raw calls are numbered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Native,
    Compat,
}

/// The named call whose marks are next to raw marks of one number.
#[derive(Clone, Copy)]
struct Twin {
    /// The pair number of the named call.
    pair: u32,
    /// The label of a begin of the named call, if there are begins.
    label: Option<u32>,
    /// Whether most raw marks of the number have a twin, in programs that have named calls.
    is_usual: bool,
}

/// The labels, pairs and strings that [`Calls::new`] reads.
#[derive(Clone, Copy)]
pub(super) struct CallSource<'a> {
    pub(super) labels: &'a [SliceLabel],
    pub(super) pairs: &'a LabelPairs,
    pub(super) strings: &'a Strings,
    /// The machine whose numbers raw calls have, if the file states it.
    pub(super) abi: Option<Abi>,
}

/// The kinds of all labels, and what the marks of all threads together show; shared by all threads.
pub(super) struct Calls {
    /// The kind of each label; `None` for labels that are not about system calls.
    sorts: Vec<Option<Sort>>,
    pairs: Vec<u32>,
    native: Abi,
    /// Whether raw marks of some number have a named twin.
    has_twins: bool,
    /// Whether nearly all raw calls of 64-bit programs have twins.
    is_complete: bool,
    has_calls: bool,
    has_raw: bool,
}

/// A named call: (label of a begin, name).
type Named = (u32, String);

/// Counts and points of one thread's marks; the marks that pair are left in the rows.
#[derive(Default)]
pub(super) struct Resolved {
    /// Begins of calls that never return.
    pub points: Vec<u32>,
    /// Number of raw calls that are named although nothing tells 32-bit programs from others.
    pub undecided: u64,
    /// Whether some labels have [`COMPAT`].
    pub has_compat: bool,
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

/// How often the marks of a thread, or of all, have raw marks next to named ones.
#[derive(Default)]
struct Votes {
    /// For each (number, named pair): the count of raw marks next to a named mark.
    beside: FxHashMap<(u64, u32), Marks>,
    /// For each number: the count of raw marks in programs that also have named calls.
    raw: FxHashMap<u64, Marks>,
    /// For programs with named calls: (count of raw begins, count of those next to a named mark).
    of_native: (u64, u64),
}

impl Calls {
    /// `tracks` contain the marks of each track; `rows_of` writes the rows of a track, in order.
    pub(super) fn new<T: Sync>(
        from: CallSource<'_>,
        tracks: &[T],
        rows_of: impl Fn(&T, &mut Vec<Row>) + Sync,
    ) -> Calls {
        let native = from.abi.unwrap_or_default();
        let labels = from.labels.iter().zip(&from.pairs.keys);
        let sorts = labels.map(|(label, &key)| match label.family {
            Family::Syscalls if key == USER_MODE => Some(Sort::UserMode),
            // Other formats record calls by name alone, and their ends have names of their own.
            Family::Syscalls if key != 0 => {
                let name = std::str::from_utf8(from.strings.bytes(label.name));
                Some(Sort::Named(Traits::of(name.unwrap_or(""))))
            }
            Family::RawSyscalls => Some(Sort::Raw(Raw::new(key, native))),
            Family::Uprobes => Some(Sort::UserMode),
            _ => None,
        });
        let mut sorts: Vec<Option<Sort>> = sorts.collect();
        let is_raw = |sort: &Option<Sort>| matches!(sort, Some(Sort::Raw(_)));
        let has_raw = sorts.iter().any(is_raw);
        let mut named: FxHashMap<u32, Named> = FxHashMap::default();
        let all = from.labels.iter().zip(&from.pairs.numbers).zip(&sorts);
        for (((label, &pair), sort), number) in all.zip(0..) {
            let is_begin = label.name != StringId::EMPTY;
            if let (Some(Sort::Named(_)), true) = (sort, is_begin) {
                let name = || String::from_utf8_lossy(from.strings.bytes(label.name));
                let entry = named.entry(pair);
                entry.or_insert_with(|| (number, name().into_owned()));
            }
        }
        // Ends have no names of their own.
        for ((label, pair), sort) in from.labels.iter().zip(&from.pairs.numbers).zip(&mut sorts) {
            if let (Some(Sort::Named(traits)), true) = (sort, label.name == StringId::EMPTY)
                && let Some((_, name)) = named.get(pair)
            {
                *traits = Traits::of(name);
            }
        }
        let mut calls = Calls {
            pairs: from.pairs.numbers.clone(),
            native,
            has_twins: false,
            is_complete: false,
            has_calls: has_raw || !named.is_empty(),
            has_raw,
            sorts,
        };
        if has_raw && !named.is_empty() {
            let votes = tracks.par_iter().map_init(Vec::new, |rows, track| {
                rows_of(track, rows);
                calls.votes(rows)
            });
            let votes = votes.reduce(Votes::default, Votes::and);
            calls.count(&votes, &named);
        }
        calls
    }

    fn sort(&self, row: Row) -> Option<Sort> {
        self.sorts.get(row.label() as usize).copied().flatten()
    }

    fn pair(&self, row: Row) -> u32 {
        self.pairs[row.label() as usize]
    }

    fn votes(&self, rows: &[Row]) -> Votes {
        let is_call = |row: &&Row| matches!(self.sort(**row), Some(Sort::Named(_) | Sort::Raw(_)));
        let calls: Vec<Row> = rows.iter().filter(is_call).copied().collect();
        let programs = self.programs(&calls).into_iter();
        let votes = programs.map(|program| self.votes_of_program(&calls, program.calls));
        votes.fold(Votes::default(), Votes::and)
    }

    /// Returns the votes of one program of a thread; `own` are the indices of its marks.
    fn votes_of_program(&self, calls: &[Row], own: Range<usize>) -> Votes {
        let mut votes = Votes::default();
        let (mut begins, mut beside) = (0, 0);
        for at in own {
            let row = calls[at];
            let Some(Sort::Raw(Raw { number, .. })) = self.sort(row) else {
                continue;
            };
            let mut has_named = false;
            for other in neighbours(calls, at) {
                if other.is_end() == row.is_end()
                    && matches!(self.sort(other), Some(Sort::Named(_)))
                {
                    let beside = votes.beside.entry((number, self.pair(other)));
                    beside.or_default().add(row);
                    has_named = true;
                }
            }
            votes.raw.entry(number).or_default().add(row);
            if !row.is_end() {
                begins += 1;
                beside += u64::from(has_named);
            }
        }
        // Without a named call it may be a 32-bit program, whose numbers mean other calls.
        if beside == 0 {
            return Votes::default();
        }
        votes.of_native = (begins, beside);
        votes
    }

    fn count(&mut self, votes: &Votes, named: &FxHashMap<u32, Named>) {
        let mut best: FxHashMap<u64, (u64, u32)> = FxHashMap::default();
        for (&(number, pair), count) in &votes.beside {
            let entry = best.entry(number).or_default();
            // Ties are broken by the pair, so that the order of a hash map does not matter.
            *entry = (*entry).max((count.total(), pair));
        }
        let mut twins: FxHashMap<u64, Twin> = FxHashMap::default();
        for (number, (_, pair)) in best {
            let beside = votes.beside.get(&(number, pair)).copied();
            let beside = beside.unwrap_or_default();
            let marks = votes.raw.get(&number).copied().unwrap_or_default();
            let named = named.get(&pair);
            // A raw end may happen to be next to the lone end of another call: begins decide, where both have them.
            let is_usual = match named.is_some() && marks.begins > 0 {
                true => beside.begins * 2 >= marks.begins,
                false => beside.total() * 2 >= marks.total(),
            };
            // Some names differ (newfstat, fstat).
            let own = syscalls::name(self.native, number);
            if !is_usual && own != named.map(|(_, name)| name.as_str()) {
                continue;
            }
            let twin = Twin {
                pair,
                label: named.map(|(label, _)| *label),
                is_usual,
            };
            twins.insert(number, twin);
        }
        for sort in self.sorts.iter_mut().flatten() {
            if let Sort::Raw(raw) = sort {
                raw.twin = twins.get(&raw.number).copied();
            }
        }
        self.has_twins = !twins.is_empty();
        let (begins, beside) = votes.of_native;
        self.is_complete = begins - beside <= begins / 8;
    }

    /// Keeps those of a thread's marks that pair; `rows` must be in order of time.
    pub(super) fn resolve(&self, rows: &mut Vec<Row>) -> Resolved {
        let mut resolved = Resolved::default();
        if !self.has_calls {
            return resolved;
        }
        let numbers = self.has_raw.then(|| {
            let is_call =
                |row: &&Row| matches!(self.sort(**row), Some(Sort::Named(_) | Sort::Raw(_)));
            let calls: Vec<Row> = rows.iter().filter(is_call).copied().collect();
            let is_twin = self.find_twins(&calls);
            let modes = self.modes(&calls, &is_twin);
            (is_twin, modes)
        });
        let mut thread = ThreadCalls {
            calls: self,
            open: None,
            is_gone: false,
            rows: Vec::with_capacity(rows.len()),
            resolved: &mut resolved,
        };
        // `is_twin` and `modes` are indexed by the marks of calls alone, which `at` counts.
        let mut at = 0;
        for row in rows.iter() {
            match self.sort(*row) {
                Some(Sort::UserMode) => {
                    thread.over(*row);
                    if row.packed & OVER == 0 {
                        thread.rows.push(*row);
                    }
                }
                None => thread.rows.push(*row),
                Some(sort) => {
                    let (is_twin, mode) = match &numbers {
                        Some((is_twin, modes)) => (is_twin[at], modes[at]),
                        None => (false, Some(Mode::Native)),
                    };
                    if !is_twin {
                        thread.mark(*row, sort, mode);
                    }
                    at += 1;
                }
            }
        }
        let left = thread.rows;
        *rows = left;
        resolved
    }

    /// Returns, for each mark, whether it is a raw mark next to the named mark of the same call.
    fn find_twins(&self, calls: &[Row]) -> Vec<bool> {
        let mut is_twin = vec![false; calls.len()];
        if !self.has_twins {
            return is_twin;
        }
        // Index of the named mark that was matched last: a named mark has at most one twin.
        let mut taken = usize::MAX;
        for at in 0..calls.len() {
            let Some(Sort::Raw(Raw {
                twin: Some(twin), ..
            })) = self.sort(calls[at])
            else {
                continue;
            };
            let is_named = |other: usize| {
                other != taken
                    && calls.get(other).is_some_and(|other| {
                        other.is_end() == calls[at].is_end()
                            && matches!(self.sort(*other), Some(Sort::Named(_)))
                            && self.pair(*other) == twin.pair
                    })
            };
            let before = at.checked_sub(1).filter(|&other| is_named(other));
            if let Some(named) = before.or_else(|| Some(at + 1).filter(|&other| is_named(other))) {
                is_twin[at] = true;
                taken = named;
            }
        }
        is_twin
    }

    /// Returns, for each mark, the table that its number belongs to; `None` where nothing decides it.
    fn modes(&self, calls: &[Row], is_twin: &[bool]) -> Vec<Option<Mode>> {
        let mut modes = vec![Some(Mode::Native); calls.len()];
        if self.native.compat().is_none() {
            return modes;
        }
        for Program { calls: own, said } in self.programs(calls) {
            let mode = self.mode_of(&calls[own.clone()], &is_twin[own.clone()], said);
            modes[own].fill(mode);
        }
        modes
    }

    /// Returns the programs that a thread ran: each lasts from the return of one `execve` to the return of the next.
    fn programs(&self, calls: &[Row]) -> Vec<Program> {
        let mut programs = Vec::new();
        let (mut first, mut said) = (0, None);
        let mut entered = None;
        for (at, call) in calls.iter().enumerate() {
            let raw = match self.sort(*call) {
                Some(Sort::Raw(raw)) => Some(raw),
                Some(Sort::Named(traits)) if traits.is_exec && !call.is_end() => {
                    entered = Some(Entered::Exec);
                    None
                }
                _ => None,
            };
            let Some(raw) = raw else { continue };
            if !call.is_end() {
                entered = Some(match raw.native.is_exec {
                    true => Entered::Exec,
                    false => Entered::Other(raw),
                });
                continue;
            }
            if let Some(exec) = Exec::of(entered.take(), raw) {
                programs.push(Program {
                    calls: first..at,
                    said: said.or(exec.before),
                });
                (first, said) = (at, exec.after);
            }
        }
        programs.push(Program {
            calls: first..calls.len(),
            said,
        });
        programs
    }

    /// Returns the marks that end an `execve`, by name and by number, if it is the first call that ends in `rows`.
    pub(super) fn exec_ends(&self, rows: &[Row]) -> Vec<Row> {
        let calls = rows.iter().filter_map(|row| match self.sort(*row)? {
            Sort::Named(traits) => Some((row, traits.is_exec)),
            Sort::Raw(raw) => Some((row, raw.native.is_exec || raw.compat.is_exec)),
            Sort::UserMode => None,
        });
        let ends = calls.take_while(|(row, is_exec)| row.is_end() && *is_exec);
        ends.map(|(row, _)| *row).collect()
    }

    /// Returns the table of the raw calls of one program; `said` is the table that the `execve` before or after shows.
    fn mode_of(&self, calls: &[Row], is_twin: &[bool], said: Option<Mode>) -> Option<Mode> {
        if is_twin.contains(&true) {
            return Some(Mode::Native);
        }
        if said.is_some() {
            return said;
        }
        let mut has_begins = false;
        for call in calls.iter().filter(|call| !call.is_end()) {
            if let Some(Sort::Raw(raw)) = self.sort(*call) {
                has_begins = true;
                if raw.twin.is_some_and(|twin| twin.is_usual) {
                    return Some(Mode::Compat);
                }
            }
        }
        (self.is_complete && has_begins).then_some(Mode::Compat)
    }
}

/// The call that a thread has entered.
#[derive(Clone, Copy)]
enum Entered {
    /// An `execve` or `execveat`, by name or by the machine's own table.
    Exec,
    /// Another raw call.
    Other(Raw),
}

/// A program that a thread ran.
struct Program {
    /// The indices of its marks.
    calls: Range<usize>,
    /// The table that the `execve` before or after it shows.
    said: Option<Mode>,
}

/// The tables of the programs before and after an `execve`; `None` where nothing about the call decides them.
struct Exec {
    before: Option<Mode>,
    after: Option<Mode>,
}

impl Exec {
    /// Returns what the number that a call returned with says; `None` if the call was no `execve`.
    fn of(entered: Option<Entered>, returned: Raw) -> Option<Exec> {
        let after = match (returned.native.is_exec, returned.compat.is_exec) {
            (true, false) => Mode::Native,
            (false, true) => Mode::Compat,
            _ => return None,
        };
        match entered {
            Some(Entered::Exec) => Some(Exec {
                before: Some(Mode::Native),
                after: Some(after),
            }),
            Some(Entered::Other(raw)) if raw.number == returned.number => None,
            Some(Entered::Other(raw)) if raw.compat.is_exec => Some(Exec {
                before: Some(Mode::Compat),
                after: Some(after),
            }),
            // Another thread's `execve` gave it this one's place, so the call was not entered here. That, or the begin
            // of an ordinary call with this number was lost.
            _ => Some(Exec {
                before: None,
                after: (after == Mode::Native).then_some(after),
            }),
        }
    }
}

/// Returns the marks directly before and after index `at`.
fn neighbours(rows: &[Row], at: usize) -> impl Iterator<Item = Row> {
    let before = at.checked_sub(1).and_then(|at| rows.get(at));
    before.into_iter().chain(rows.get(at + 1)).copied()
}

impl Votes {
    fn and(mut self, other: Votes) -> Votes {
        for (key, count) in other.beside {
            self.beside.entry(key).or_default().and(count);
        }
        for (key, count) in other.raw {
            self.raw.entry(key).or_default().and(count);
        }
        self.of_native.0 += other.of_native.0;
        self.of_native.1 += other.of_native.1;
        self
    }
}

/// The open call of a thread.
#[derive(Clone, Copy)]
struct OpenCall {
    /// The label of its begin, and [`COMPAT`] if it has another name.
    packed: u32,
    pair: u32,
    /// The number and twin of its begin, if that is a raw mark.
    raw: Option<Raw>,
    is_exec: bool,
}

/// The calls of a thread while its marks are walked.
struct ThreadCalls<'a> {
    calls: &'a Calls,
    open: Option<OpenCall>,
    /// Whether the last mark was a call that never returns: an exit directly after it is the kernel's report of that
    /// call.
    is_gone: bool,
    rows: Vec<Row>,
    resolved: &'a mut Resolved,
}

impl ThreadCalls<'_> {
    fn mark(&mut self, row: Row, sort: Sort, mode: Option<Mode>) {
        let is_gone = std::mem::take(&mut self.is_gone);
        match (row.is_end(), is_gone) {
            (true, true) => {}
            (true, false) => self.end(row, sort),
            (false, _) => self.begin(row, sort, mode),
        }
    }

    fn begin(&mut self, row: Row, sort: Sort, mode: Option<Mode>) {
        let calls = self.calls;
        let (traits, raw, packed) = match sort {
            Sort::Raw(raw) => {
                let mode_known = mode.unwrap_or(Mode::Native);
                let named = raw.twin.and_then(|twin| twin.label);
                let packed = match (mode_known, named) {
                    (Mode::Compat, _) => row.label() | COMPAT,
                    // Where its twin was lost it gets the name of the other calls of its number.
                    (Mode::Native, Some(label)) if mode.is_some() => label,
                    _ => row.label(),
                };
                self.resolved.has_compat |= packed & COMPAT != 0;
                self.resolved.undecided += u64::from(mode.is_none());
                (raw.traits(mode_known), Some(raw), packed)
            }
            Sort::Named(traits) => (traits, None, row.label()),
            Sort::UserMode => return,
        };
        if traits.never_returns {
            self.over(row);
            self.resolved.points.push(row.event);
            self.is_gone = true;
            return;
        }
        self.open = Some(OpenCall {
            packed,
            pair: calls.pair(row),
            raw,
            is_exec: traits.is_exec,
        });
        self.rows.push(Row { packed, ..row });
    }

    fn end(&mut self, row: Row, sort: Sort) {
        let Some(open) = self.open else {
            return self.rows.push(row);
        };
        let pair = self.calls.pair(row);
        let is_its = match sort {
            Sort::Raw(Raw { number, twin, .. }) => {
                number == ANY_KEY
                    || open.is_exec
                    || match open.raw {
                        Some(raw) => raw.number == number,
                        None => twin.is_none_or(|twin| twin.pair == open.pair),
                    }
            }
            Sort::Named(traits) => {
                let twin = open.raw.and_then(|raw| raw.twin);
                let has_pair = pair == open.pair || twin.is_some_and(|twin| twin.pair == pair);
                // A 32-bit program's `execve`, entered by number, returns to a 64-bit program.
                has_pair || (open.is_exec && traits.is_exec)
            }
            Sort::UserMode => false,
        };
        if !is_its {
            self.over(row);
            return self.rows.push(row);
        }
        self.open = None;
        let packed = open.packed | END;
        self.rows.push(Row { packed, ..row });
    }

    /// Closes the open call at `row`: its end was lost.
    fn over(&mut self, row: Row) {
        if let Some(open) = self.open.take() {
            let packed = open.packed | OVER;
            self.rows.push(Row { packed, ..row });
        }
    }
}
