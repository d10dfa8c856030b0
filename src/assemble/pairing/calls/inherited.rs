//! Threads that a 32-bit program created: until their first `execve` they run the same program.
//!
//! Of the 99 trace.dat files of the corpus and the samples, 1 contains the `execve` of a 32-bit program. It has no
//! events of forks, so none of its threads is found here.

use rustc_hash::FxHashMap;

use super::table::Mode;
use crate::assemble::people::Born;
use crate::trace::ThreadId;

/// A program of a thread, and the table of its calls where an `execve` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Stated {
    /// When it began, in ns; `i64::MIN` for the first.
    pub(in super::super) since: i64,
    pub(in super::super) mode: Option<Mode>,
}

/// Returns the threads that were created by 32-bit programs, and whose own calls do not show what their first program
/// is. `programs` are those of the threads that ran a 32-bit program, and `births` all forks.
pub(in super::super) fn created_by_compat(
    programs: FxHashMap<u32, Vec<Stated>>,
    births: &[Born],
) -> Vec<ThreadId> {
    if programs.is_empty() {
        return Vec::new();
    }
    let (mut programs, mut found) = (programs, Vec::new());
    let mut births: Vec<&Born> = births.iter().collect();
    births.sort_by_key(|born| (born.time, born.event));
    for born in births {
        let of_parent = born.parent.and_then(|parent| programs.get(&parent.0));
        let at_birth = of_parent.and_then(|of| of.iter().rev().find(|it| it.since <= born.time.0));
        if at_birth.and_then(|it| it.mode) != Some(Mode::Compat) {
            continue;
        }
        let own = programs.entry(born.child.0).or_default();
        if own.first().is_some_and(|first| first.mode.is_some()) {
            continue;
        }
        let first = Stated {
            since: i64::MIN,
            mode: Some(Mode::Compat),
        };
        match own.first_mut() {
            Some(known) => *known = first,
            None => own.push(first),
        }
        found.push(born.child);
    }
    found
}
