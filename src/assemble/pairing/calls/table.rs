//! The system calls of labels, and the properties of these calls.

use super::super::row::Row;
use crate::event::kernel::NUMBER_ZERO;
use crate::event::syscalls::{self, Abi};

/// Calls that do not return to their caller.
const NEVER_RETURN: &[&str] = &["rt_sigreturn", "sigreturn", "exit", "exit_group"];

/// The kind of a label's marks.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Marks of a call, by name.
    Named(Traits),
    /// Marks of a call, by number.
    Raw(Raw),
    /// Marks of events that only a thread in user mode causes: an open call is over.
    UserMode,
}

/// The number of a call, and the properties of the calls that have it.
#[derive(Clone, Copy)]
pub(super) struct Raw {
    pub(super) number: u64,
    /// The call with this number in the machine's own table.
    pub(super) native: Traits,
    /// The call with this number in the table of 32-bit programs.
    pub(super) compat: Traits,
    pub(super) twin: Option<Twin>,
    /// Whether no call with this number has a name, although named events of the other numbers were recorded: the calls
    /// are then numbered by the table of 32-bit programs (also in 64-bit ones: `int 0x80`), whose calls the kernel's named
    /// events leave out. Rare: no recording at hand has them but those made for it.
    pub(super) is_never_named: bool,
}

/// The special properties of a call.
#[derive(Clone, Copy, Default)]
pub(super) struct Traits {
    pub(super) never_returns: bool,
    pub(super) is_exec: bool,
}

impl Traits {
    pub(super) fn of(name: &str) -> Traits {
        Traits {
            never_returns: NEVER_RETURN.contains(&name),
            is_exec: matches!(name, "execve" | "execveat"),
        }
    }
}

impl Raw {
    pub(super) fn new(key: u64, native: Abi) -> Raw {
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
            is_never_named: false,
        }
    }

    /// Returns the properties of the call that this number means in `mode`.
    pub(super) fn traits(&self, mode: Mode) -> Traits {
        match mode {
            Mode::Native => self.native,
            Mode::Compat => self.compat,
        }
    }
}

/// The table that a thread's raw calls are numbered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Mode {
    Native,
    Compat,
}

/// The named call whose marks are next to raw marks of one number.
#[derive(Clone, Copy)]
pub(super) struct Twin {
    /// The pair number of the named call.
    pub(super) pair: u32,
    /// The label of a begin of the named call, if there are begins.
    pub(super) label: Option<u32>,
    /// Whether most raw marks of the number have a twin, in programs that have named calls.
    pub(super) is_usual: bool,
}

/// The kinds of all labels, and facts that the marks of all threads show together; shared by all threads.
pub(in super::super) struct Calls {
    /// The kind of each label; `None` for labels that are not about system calls.
    pub(super) kinds: Vec<Option<Kind>>,
    pub(super) pairs: Vec<u32>,
    pub(super) native: Abi,
    /// Whether raw marks of some number have a named twin.
    pub(super) has_twins: bool,
    /// Whether nearly all raw calls of 64-bit programs have twins.
    pub(super) is_complete: bool,
    pub(super) has_calls: bool,
    pub(super) has_raw: bool,
}

impl Calls {
    /// Returns the kind of a mark about a system call; `None` for other marks.
    pub(super) fn kind(&self, row: Row) -> Option<Kind> {
        self.kinds.get(row.label() as usize).copied().flatten()
    }

    /// Returns the number of the pair that a mark belongs to.
    pub(super) fn pair(&self, row: Row) -> u32 {
        self.pairs[row.label() as usize]
    }

    /// Returns whether a mark begins or ends a call.
    pub(super) fn is_call(&self, row: Row) -> bool {
        matches!(self.kind(row), Some(Kind::Named(_) | Kind::Raw(_)))
    }
}
