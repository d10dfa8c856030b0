//! Which marks of kernel system calls begin and end a call: the marks of one thread in, those that pair out.
//!
//! ```text
//! recorded   sys_enter_read  sys_enter (NR 0)  ...  sys_exit_read  sys_exit (NR 0)
//! pairs      begin                                  end
//! ```
//!
//! A call that was recorded by its name and by its number (raw) is one call: its raw mark next to the named one is a
//! twin and left out. A raw mark without a twin pairs with whichever mark of its call is there. Calls that never
//! return are points. Where a number has no twin although others of that number have one, the thread runs a 32-bit
//! program, whose calls have the numbers of another table; the number with which an `execve` returns says so as well.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::merge::Merged;
use super::pairing::{COMPAT, END, OVER, Row};
use crate::event::pairs::{ANY_KEY, NUMBER_ZERO, RAW_SYSCALLS, SYSCALLS, UPROBES, USER_MODE};
use crate::event::syscalls::{self, Abi};

/// Calls that do not return to where they were made.
const NEVER_RETURN: &[&str] = &["rt_sigreturn", "sigreturn", "exit", "exit_group"];

/// What a label's marks are.
#[derive(Clone, Copy)]
enum Sort {
    /// Of a call, by name.
    Named(Traits),
    /// Of a call, by number.
    Raw(Raw),
    /// Only a thread outside of the kernel causes it.
    UserMode,
}

/// A call's number, and what is special about the calls that have it.
#[derive(Clone, Copy)]
struct Raw {
    number: u64,
    /// By the machine's own table.
    native: Traits,
    /// By the table of 32-bit programs.
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

/// Whose numbers a thread's raw calls have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Native,
    Compat,
}

/// The named calls next to raw marks of one number.
#[derive(Clone, Copy)]
struct Twin {
    /// The pair number of the named call.
    pair: u32,
    /// A begin's label of the named call, if there are begins.
    label: Option<u32>,
    /// Whether most raw marks of the number have a twin.
    is_usual: bool,
}

/// What all threads share.
pub(super) struct Calls {
    /// By common label.
    sorts: Vec<Option<Sort>>,
    pairs: Vec<u32>,
    native: Abi,
    /// By number.
    twins: FxHashMap<u64, Twin>,
    /// Whether raw calls of 64-bit programs have twins.
    is_complete: bool,
    has_calls: bool,
    has_raw: bool,
}

/// A named call: a begin's label, and its name.
type Named = (u32, String);

/// What became of a thread's marks beside those that are left.
#[derive(Default)]
pub(super) struct Resolved {
    /// Begins of calls that never return.
    pub points: Vec<u32>,
    /// How many raw calls are named without anything that tells 32-bit programs from others.
    pub undecided: u64,
    /// Whether some have [`COMPAT`] labels.
    pub has_compat: bool,
}

/// What one thread's marks say of numbers and names.
#[derive(Default)]
struct Votes {
    /// By number and named pair: how many raw marks stand beside a named one.
    beside: FxHashMap<(u64, u32), u64>,
    /// By number: how many raw begins there are, and how many raw marks.
    raw: FxHashMap<u64, (u64, u64)>,
    /// Raw begins of threads with named calls, and those of them that stand beside a named one.
    of_native: (u64, u64),
}

impl Calls {
    /// `keys` are those of the labels; `tracks` are the marks of each track, of which `rows_of` makes rows in order.
    pub(super) fn new<T: Sync>(
        merged: &Merged,
        abi: Option<Abi>,
        tracks: &[T],
        rows_of: impl Fn(&T, &mut Vec<Row>) + Sync,
    ) -> Calls {
        let native = abi.unwrap_or_default();
        let labels = merged.labels.iter().zip(&merged.label_keys);
        let sorts = labels.map(|(label, &key)| match label.family {
            SYSCALLS if key == USER_MODE => Some(Sort::UserMode),
            // Other formats say calls by name alone, and their ends are their own.
            SYSCALLS if key != 0 => {
                let name = std::str::from_utf8(merged.strings.bytes(label.name));
                Some(Sort::Named(Traits::of(name.unwrap_or(""))))
            }
            RAW_SYSCALLS => Some(Sort::Raw(Raw::new(key, native))),
            UPROBES => Some(Sort::UserMode),
            _ => None,
        });
        let sorts: Vec<Option<Sort>> = sorts.collect();
        let is_raw = |sort: &Option<Sort>| matches!(sort, Some(Sort::Raw(_)));
        let has_raw = sorts.iter().any(is_raw);
        let mut named: FxHashMap<u32, Named> = FxHashMap::default();
        let all = merged.labels.iter().zip(&merged.pair_of_label).zip(&sorts);
        for (((label, &pair), sort), number) in all.zip(0..) {
            let is_begin = label.name != crate::base::StringId::EMPTY;
            if let (Some(Sort::Named(_)), true) = (sort, is_begin) {
                let name = || String::from_utf8_lossy(merged.strings.bytes(label.name));
                let entry = named.entry(pair);
                entry.or_insert_with(|| (number, name().into_owned()));
            }
        }
        let mut calls = Calls {
            pairs: merged.pair_of_label.clone(),
            native,
            twins: FxHashMap::default(),
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
        let mut votes = Votes::default();
        let is_call = |row: &&Row| matches!(self.sort(**row), Some(Sort::Named(_) | Sort::Raw(_)));
        let rows: Vec<Row> = rows.iter().filter(is_call).copied().collect();
        let (mut begins, mut beside) = (0, 0);
        for (at, row) in rows.iter().enumerate() {
            let Some(Sort::Raw(Raw { number, .. })) = self.sort(*row) else {
                continue;
            };
            let mut has_named = false;
            for other in neighbours(&rows, at) {
                if other.is_end() == row.is_end()
                    && matches!(self.sort(other), Some(Sort::Named(_)))
                {
                    *votes.beside.entry((number, self.pair(other))).or_insert(0) += 1;
                    has_named = true;
                }
            }
            let raw = votes.raw.entry(number).or_default();
            raw.1 += 1;
            if !row.is_end() {
                raw.0 += 1;
                begins += 1;
                beside += u64::from(has_named);
            }
        }
        if beside > 0 {
            votes.of_native = (begins, beside);
        }
        votes
    }

    fn count(&mut self, votes: &Votes, named: &FxHashMap<u32, Named>) {
        let mut best: FxHashMap<u64, (u64, u32)> = FxHashMap::default();
        for (&(number, pair), &count) in &votes.beside {
            let entry = best.entry(number).or_default();
            // Ties are broken by the pair, so that the order of a hash map does not matter.
            *entry = (*entry).max((count, pair));
        }
        for (number, (count, pair)) in best {
            let (begins, marks) = votes.raw.get(&number).copied().unwrap_or_default();
            let named = named.get(&pair);
            // A call may happen to come after another one's lonely mark. Some names differ (newfstat, fstat).
            let own = syscalls::name(self.native, number);
            if count * 2 < marks && own != named.map(|(_, name)| name.as_str()) {
                continue;
            }
            let twin = Twin {
                pair,
                label: named.map(|(label, _)| *label),
                // Begins and ends are counted, each beside one.
                is_usual: count >= begins,
            };
            self.twins.insert(number, twin);
        }
        for sort in self.sorts.iter_mut().flatten() {
            if let Sort::Raw(raw) = sort {
                raw.twin = self.twins.get(&raw.number).copied();
            }
        }
        let (begins, beside) = votes.of_native;
        self.is_complete = begins - beside <= begins / 8;
    }

    /// Leaves of a thread's marks, which are in order, those that pair.
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

    /// Which raw marks stand beside the named mark of the same call.
    fn find_twins(&self, calls: &[Row]) -> Vec<bool> {
        let mut is_twin = vec![false; calls.len()];
        if self.twins.is_empty() {
            return is_twin;
        }
        // The named mark that was taken last: it has one twin.
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

    /// Whose numbers a thread's calls have, by mark; `None` where nothing tells.
    fn modes(&self, calls: &[Row], is_twin: &[bool]) -> Vec<Option<Mode>> {
        let mut modes = vec![Some(Mode::Native); calls.len()];
        if self.native.compat().is_none() {
            return modes;
        }
        // A program lasts from the return of one `execve` to that of the next.
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
            let change = entered
                .take()
                .and_then(|entered| mode_by_exec(entered, raw));
            if let Some((before, after)) = change {
                let range = first..at;
                let (calls, is_twin) = (&calls[range.clone()], &is_twin[range.clone()]);
                let mode = self.mode_of(calls, is_twin, said.or(Some(before)));
                modes[range].fill(mode);
                (first, said) = (at, Some(after));
            }
        }
        let mode = self.mode_of(&calls[first..], &is_twin[first..], said);
        modes[first..].fill(mode);
        modes
    }

    /// Whose numbers the raw calls of one program have; `said`: what the `execve` before or after them says.
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

/// The call that a thread is in.
#[derive(Clone, Copy)]
enum Entered {
    /// An `execve` by the machine's own table.
    Exec,
    /// Another.
    Other(Raw),
}

/// What the number says with which a call returned that may have been an `execve`: of the programs before and after.
fn mode_by_exec(entered: Entered, returned: Raw) -> Option<(Mode, Mode)> {
    let after = match (returned.native.is_exec, returned.compat.is_exec) {
        (true, false) => Mode::Native,
        (false, true) => Mode::Compat,
        _ => return None,
    };
    match entered {
        Entered::Exec => Some((Mode::Native, after)),
        Entered::Other(raw) if raw.number == returned.number => None,
        Entered::Other(raw) => raw.compat.is_exec.then_some((Mode::Compat, after)),
    }
}

/// The marks before and after one.
fn neighbours(rows: &[Row], at: usize) -> impl Iterator<Item = Row> {
    let before = at.checked_sub(1).and_then(|at| rows.get(at));
    before.into_iter().chain(rows.get(at + 1)).copied()
}

impl Votes {
    fn and(mut self, other: Votes) -> Votes {
        for (key, count) in other.beside {
            *self.beside.entry(key).or_insert(0) += count;
        }
        for (key, (begins, marks)) in other.raw {
            let own = self.raw.entry(key).or_default();
            *own = (own.0 + begins, own.1 + marks);
        }
        self.of_native.0 += other.of_native.0;
        self.of_native.1 += other.of_native.1;
        self
    }
}

/// The open call of a thread.
#[derive(Clone, Copy)]
struct OpenCall {
    /// Label of its begin, with [`COMPAT`].
    packed: u32,
    pair: u32,
    number: Option<u64>,
    is_exec: bool,
}

/// A thread's calls on their way.
struct ThreadCalls<'a> {
    calls: &'a Calls,
    open: Option<OpenCall>,
    /// The last mark was a call that never returns: an exit that comes next is what the kernel reports of it.
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
        let (traits, number, packed) = match sort {
            Sort::Raw(raw) => {
                let mode_known = mode.unwrap_or(Mode::Native);
                let named = raw.twin.and_then(|twin| twin.label);
                let packed = match (mode_known, named) {
                    (Mode::Compat, _) => row.label() | COMPAT,
                    // Where its twin was lost it is called as the others.
                    (Mode::Native, Some(label)) if mode.is_some() => label,
                    _ => row.label(),
                };
                let (traits, number) = (raw.traits(mode_known), raw.number);
                self.resolved.has_compat |= packed & COMPAT != 0;
                self.resolved.undecided += u64::from(mode.is_none());
                (traits, Some(number), packed)
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
            number,
            is_exec: traits.is_exec,
        });
        self.rows.push(Row { packed, ..row });
    }

    fn end(&mut self, row: Row, sort: Sort) {
        let Some(open) = self.open else {
            return self.rows.push(row);
        };
        let twin_of = |number: u64| self.calls.twins.get(&number).map(|twin| twin.pair);
        let pair = self.calls.pair(row);
        let is_its = match sort {
            Sort::Raw(Raw { number, twin, .. }) => {
                number == ANY_KEY
                    || open.is_exec
                    || open.number == Some(number)
                    || open.number.is_none() && twin.is_none_or(|twin| twin.pair == open.pair)
            }
            Sort::Named(_) => {
                pair == open.pair || open.number.and_then(twin_of).is_some_and(|it| it == pair)
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

    /// The open call is over by the time of `row`: its end was lost.
    fn over(&mut self, row: Row) {
        if let Some(open) = self.open.take() {
            let packed = open.packed | OVER;
            self.rows.push(Row { packed, ..row });
        }
    }
}
