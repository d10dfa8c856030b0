//! The programs that a thread ran, and the table by which each program numbers its calls.

use std::ops::Range;

use super::super::row::Row;
use super::table::{Calls, Kind, Mode, Raw};

/// The call that a thread has entered.
#[derive(Clone, Copy)]
enum Entered {
    /// An `execve` or `execveat`, by name or by the machine's own table.
    Exec,
    /// Another raw call.
    Other(Raw),
}

/// A program that a thread ran.
pub(super) struct Program {
    /// The indices of its marks.
    pub(super) calls: Range<usize>,
    /// The table that the `execve` before or after it proves.
    pub(super) stated: Option<Mode>,
}

/// The tables of the programs before and after an `execve`; `None` if nothing about the call decides which table it is.
struct Exec {
    before: Option<Mode>,
    after: Option<Mode>,
}

impl Exec {
    /// Returns the tables that the number at a call's return shows; `None` if the call was no `execve`.
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
            // Another thread's `execve` gave it this thread's number, so the call was entered on another track.
            // Otherwise, the begin of an ordinary call with this number was lost.
            _ => Some(Exec {
                before: None,
                after: (after == Mode::Native).then_some(after),
            }),
        }
    }
}

impl Calls {
    /// Returns the marks that end an `execve`, by name and by number, if it is the first call that ends in `rows`.
    pub(in super::super) fn exec_ends(&self, rows: &[Row]) -> Vec<Row> {
        let calls = rows.iter().filter_map(|row| match self.kind(*row)? {
            Kind::Named(traits) => Some((row, traits.is_exec)),
            Kind::Raw(raw) => Some((row, raw.native.is_exec || raw.compat.is_exec)),
            Kind::UserMode => None,
        });
        let ends = calls.take_while(|(row, is_exec)| row.is_end() && *is_exec);
        ends.map(|(row, _)| *row).collect()
    }

    /// Returns the programs that a thread ran: each lasts from the return of one `execve` to the return of the next. The
    /// first has the table `inherited`, unless its own end shows another.
    pub(super) fn programs(&self, calls: &[Row], inherited: Option<Mode>) -> Vec<Program> {
        let mut programs = Vec::new();
        let (mut first, mut stated) = (0, inherited);
        let mut entered = None;
        for (at, call) in calls.iter().enumerate() {
            let raw = match self.kind(*call) {
                Some(Kind::Raw(raw)) => Some(raw),
                Some(Kind::Named(traits)) if traits.is_exec && !call.is_end() => {
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
                    stated: stated.or(exec.before),
                });
                (first, stated) = (at, exec.after);
            }
        }
        programs.push(Program {
            calls: first..calls.len(),
            stated,
        });
        programs
    }

    /// Returns, for each mark, the table that its number belongs to; `None` where nothing decides it.
    pub(super) fn modes(
        &self,
        programs: Vec<Program>,
        calls: &[Row],
        is_twin: &[bool],
    ) -> Vec<Option<Mode>> {
        let mut modes = vec![Some(Mode::Native); calls.len()];
        if self.native.compat().is_none() {
            return modes;
        }
        for Program { calls: own, stated } in programs {
            let mode = self.mode_of(&calls[own.clone()], &is_twin[own.clone()], stated);
            modes[own].fill(mode);
        }
        for (mode, call) in modes.iter_mut().zip(calls) {
            if matches!(self.kind(*call), Some(Kind::Raw(raw)) if raw.is_never_named) {
                *mode = Some(Mode::Compat);
            }
        }
        modes
    }

    /// Returns the table of the raw calls of one program; `stated` is the table that the `execve` before or after shows.
    fn mode_of(&self, calls: &[Row], is_twin: &[bool], stated: Option<Mode>) -> Option<Mode> {
        if is_twin.contains(&true) {
            return Some(Mode::Native);
        }
        if stated.is_some() {
            return stated;
        }
        let mut has_begins = false;
        for call in calls.iter().filter(|call| !call.is_end()) {
            if let Some(Kind::Raw(raw)) = self.kind(*call) {
                has_begins = true;
                if raw.twin.is_some_and(|twin| twin.is_usual) {
                    return Some(Mode::Compat);
                }
            }
        }
        (self.is_complete && has_begins).then_some(Mode::Compat)
    }
}
