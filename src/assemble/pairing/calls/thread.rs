//! The calls of one thread: which marks pair, in order of time.

use super::super::row::{COMPAT, END, OVER, Row};
use super::inherited::Stated;
use super::table::{Calls, Kind, Mode, Raw};
use crate::event::kernel::ANY_KEY;

/// Counts and points of one thread's marks; the marks that pair are left in the rows.
#[derive(Default)]
pub(in super::super) struct Resolved {
    /// Begins of calls that never return.
    pub points: Vec<u32>,
    /// Number of raw calls that were named although nothing shows whether their program is a 32-bit one.
    pub undecided: u64,
    /// Whether some labels have [`COMPAT`].
    pub has_compat: bool,
    /// The thread's programs, if one of them is a 32-bit program.
    pub programs: Vec<Stated>,
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
pub(super) struct ThreadCalls<'a> {
    calls: &'a Calls,
    open: Option<OpenCall>,
    /// Whether the last mark was a call that never returns: an exit directly after it is the kernel's report of that
    /// call.
    is_gone: bool,
    /// The marks that pair.
    pub(super) rows: Vec<Row>,
    resolved: &'a mut Resolved,
}

impl<'a> ThreadCalls<'a> {
    /// Returns the state before a thread's first mark, with space for `capacity` marks that pair.
    pub(super) fn new(
        calls: &'a Calls,
        capacity: usize,
        resolved: &'a mut Resolved,
    ) -> ThreadCalls<'a> {
        ThreadCalls {
            calls,
            open: None,
            is_gone: false,
            rows: Vec::with_capacity(capacity),
            resolved,
        }
    }

    /// Adds a mark of a call; `mode` is the table of its number, `None` where nothing decides it.
    pub(super) fn mark(&mut self, row: Row, kind: Kind, mode: Option<Mode>) {
        let is_gone = std::mem::take(&mut self.is_gone);
        match (row.is_end(), is_gone) {
            (true, true) => {}
            (true, false) => self.end(row, kind),
            (false, _) => self.begin(row, kind, mode),
        }
    }

    fn begin(&mut self, row: Row, kind: Kind, mode: Option<Mode>) {
        let calls = self.calls;
        let (traits, raw, packed) = match kind {
            Kind::Raw(raw) => {
                let mode_known = mode.unwrap_or(Mode::Native);
                let named = raw.twin.and_then(|twin| twin.label);
                let packed = match (mode_known, named) {
                    (Mode::Compat, _) => row.label() | COMPAT,
                    // If its twin was lost, it gets the name of the other calls with its number.
                    (Mode::Native, Some(label)) if mode.is_some() => label,
                    _ => row.label(),
                };
                self.resolved.has_compat |= packed & COMPAT != 0;
                self.resolved.undecided += u64::from(mode.is_none());
                (raw.traits(mode_known), Some(raw), packed)
            }
            Kind::Named(traits) => (traits, None, row.label()),
            Kind::UserMode => return,
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

    fn end(&mut self, row: Row, kind: Kind) {
        let Some(open) = self.open else {
            return self.rows.push(row);
        };
        let pair = self.calls.pair(row);
        let is_its = match kind {
            Kind::Raw(Raw { number, twin, .. }) => {
                number == ANY_KEY
                    || open.is_exec
                    || match open.raw {
                        Some(raw) => raw.number == number,
                        None => twin.is_none_or(|twin| twin.pair == open.pair),
                    }
            }
            Kind::Named(traits) => {
                let twin = open.raw.and_then(|raw| raw.twin);
                let has_pair = pair == open.pair || twin.is_some_and(|twin| twin.pair == pair);
                // A 32-bit program's `execve`, entered by number, returns to a 64-bit program.
                has_pair || (open.is_exec && traits.is_exec)
            }
            Kind::UserMode => false,
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
    pub(super) fn over(&mut self, row: Row) {
        if let Some(open) = self.open.take() {
            let packed = open.packed | OVER;
            self.rows.push(Row { packed, ..row });
        }
    }
}
