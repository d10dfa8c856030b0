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
//! whose calls have the numbers of another table. The number with which an `execve` returns also shows this.

mod inherited;
mod programs;
mod table;
mod thread;
mod twins;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::super::labels::LabelPairs;
use super::row::{OVER, Row};
use crate::base::streaks::Streaks;
use crate::base::{StringId, Strings};
use crate::event::family::Family;
use crate::event::kernel::USER_MODE;
use crate::event::syscalls::Abi;
use crate::trace::SliceLabel;
pub(super) use inherited::{Stated, created_by_compat};
use programs::Program;
pub(super) use table::{Calls, Mode};
use table::{Kind, Raw, Traits};
pub(super) use thread::Resolved;
use thread::ThreadCalls;
use twins::{NamedCall, Votes};

/// The labels, pairs and strings that [`Calls::new`] reads.
#[derive(Clone, Copy)]
pub(super) struct CallSource<'a> {
    pub(super) labels: &'a Streaks<SliceLabel>,
    pub(super) pairs: &'a LabelPairs,
    pub(super) strings: &'a Strings,
    /// The machine whose numbers raw calls have, if the file states it.
    pub(super) abi: Option<Abi>,
}

impl Calls {
    /// `tracks` contain the marks of each track; `rows_of` writes the rows of a track, in order.
    pub(super) fn new<T: Sync>(
        from: CallSource<'_>,
        tracks: &[T],
        rows_of: impl Fn(&T, &mut Vec<Row>) + Sync,
    ) -> Calls {
        let native = from.abi.unwrap_or_default();
        let is_of_calls = |(label, _): (SliceLabel, usize)| {
            let family = label.family;
            matches!(
                family,
                Family::Syscalls | Family::RawSyscalls | Family::Uprobes
            )
        };
        if !from.labels.streaks().any(is_of_calls) {
            // A recording of programs may have millions of labels.
            return Calls::none(native);
        }
        let labels = from.labels.iter().zip(from.pairs.all_keys());
        let kinds = labels.map(|(label, key)| match label.family {
            Family::Syscalls if key == USER_MODE => Some(Kind::UserMode),
            // Other formats record calls by name alone, and their ends have names of their own.
            Family::Syscalls if key != 0 => {
                let name = std::str::from_utf8(from.strings.bytes(label.name));
                Some(Kind::Named(Traits::of(name.unwrap_or(""))))
            }
            Family::RawSyscalls => Some(Kind::Raw(Raw::new(key, native))),
            Family::Uprobes => Some(Kind::UserMode),
            _ => None,
        });
        let mut kinds: Vec<Option<Kind>> = kinds.collect();
        let is_raw = |kind: &Option<Kind>| matches!(kind, Some(Kind::Raw(_)));
        let has_raw = kinds.iter().any(is_raw);
        let mut named: FxHashMap<u32, NamedCall> = FxHashMap::default();
        let all = from.labels.iter().zip(&from.pairs.numbers).zip(&kinds);
        for (((label, pair), kind), number) in all.zip(0..) {
            let is_begin = label.name != StringId::EMPTY;
            if let (Some(Kind::Named(_)), true) = (kind, is_begin) {
                let name = || String::from_utf8_lossy(from.strings.bytes(label.name));
                let entry = named.entry(pair.0);
                entry.or_insert_with(|| NamedCall {
                    label: number,
                    name: name().into_owned(),
                });
            }
        }
        // Ends have no names of their own.
        for ((label, pair), kind) in from.labels.iter().zip(&from.pairs.numbers).zip(&mut kinds) {
            if let (Some(Kind::Named(traits)), true) = (kind, label.name == StringId::EMPTY)
                && let Some(call) = named.get(&pair.0)
            {
                *traits = Traits::of(&call.name);
            }
        }
        let mut calls = Calls {
            pairs: from.pairs.numbers.iter().map(|pair| pair.0).collect(),
            native,
            has_twins: false,
            is_complete: false,
            has_calls: has_raw || !named.is_empty(),
            has_raw,
            kinds,
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

    /// Returns the table of a recording without system calls.
    fn none(native: Abi) -> Calls {
        Calls {
            kinds: Vec::new(),
            pairs: Vec::new(),
            native,
            has_twins: false,
            is_complete: false,
            has_calls: false,
            has_raw: false,
        }
    }

    /// Keeps the marks of a thread that have partners; `rows` must be in order of time. `inherited` is the table of the
    /// program that created the thread, if that is known.
    pub(super) fn resolve(&self, rows: &mut Vec<Row>, inherited: Option<Mode>) -> Resolved {
        let mut resolved = Resolved::default();
        if !self.has_calls {
            return resolved;
        }
        let numbers = self.has_raw.then(|| {
            let calls: Vec<Row> = rows
                .iter()
                .copied()
                .filter(|row| self.is_call(*row))
                .collect();
            let is_twin = self.find_twins(&calls);
            let programs = self.programs(&calls, inherited);
            let is_compat = |it: &Program| it.stated == Some(Mode::Compat);
            if programs.iter().any(is_compat) {
                let stated = programs.iter().enumerate();
                let stated = stated.map(|(at, program)| Stated {
                    since: match calls.get(program.calls.start) {
                        Some(row) if at > 0 => row.time,
                        _ => i64::MIN,
                    },
                    mode: program.stated,
                });
                resolved.programs = stated.collect();
            }
            let modes = self.modes(programs, &calls, &is_twin);
            (is_twin, modes)
        });
        let mut thread = ThreadCalls::new(self, rows.len(), &mut resolved);
        // `is_twin` and `modes` are indexed by the marks of calls alone, which `at` counts.
        let mut at = 0;
        for row in rows.iter() {
            match self.kind(*row) {
                Some(Kind::UserMode) => {
                    thread.over(*row);
                    if row.packed & OVER == 0 {
                        thread.rows.push(*row);
                    }
                }
                None => thread.rows.push(*row),
                Some(kind) => {
                    let (is_twin, mode) = match &numbers {
                        Some((is_twin, modes)) => (is_twin[at], modes[at]),
                        None => (false, Some(Mode::Native)),
                    };
                    if !is_twin {
                        thread.mark(*row, kind, mode);
                    }
                    at += 1;
                }
            }
        }
        let left = thread.rows;
        *rows = left;
        resolved
    }
}
