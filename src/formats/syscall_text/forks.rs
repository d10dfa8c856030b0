//! Calls that create processes or threads, and the pids that they return.

use serde::{Deserialize, Serialize};

use super::dialect::Dialect;
use super::head::Caller;
use super::line::{call_name, is_whole_result, open_end};
use super::prefix::TextLine;
use super::values::{outcome, split_call};

/// A call that created a process or thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fork<T> {
    /// Offset of the call's first line.
    pub place: u64,
    pub parent: Caller,
    /// The new pid: first as the call returned it, then as the lines of the child have it (see `namespaces`).
    pub child: u32,
    /// The time of the call's begin, if its result is on the same line.
    pub whole: Option<T>,
}

/// Returns whether a call creates processes or threads.
#[must_use]
#[inline]
pub(crate) fn is_fork(name: &[u8]) -> bool {
    matches!(
        name,
        b"fork" | b"vfork" | b"clone" | b"clone2" | b"clone3" | b"srv_fork"
    )
}

/// Returns the child of a fork on a single line.
#[must_use]
pub(crate) fn whole_fork(line: &TextLine<'_>) -> Option<u32> {
    let (name, text) = call_name(line.body)?;
    let is_whole = is_fork(name)
        && line.message.is_none()
        && open_end(text, Dialect::Strace).is_none()
        && (!line.is_cut || is_whole_result(name, text));
    if is_whole {
        fork_result(text, Dialect::Strace)
    } else {
        None
    }
}

/// Returns the pid in the last line of a fork.
#[must_use]
pub(crate) fn fork_result(text: &[u8], dialect: Dialect) -> Option<u32> {
    let result = split_call(text, dialect).result?;
    outcome(result, dialect).pid()
}
