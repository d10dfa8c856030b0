//! What scheduling needs to know of a trace's threads.

use crate::assemble::people::TakenOver;
use crate::trace::Thread;

/// The threads of a trace, as far as scheduling needs them.
#[derive(Clone, Copy)]
pub(crate) struct Threads<'a> {
    /// The threads, with their begins and ends as far as events record them.
    pub all: &'a [Thread],
    /// Those that took their leader's number.
    pub taken_over: &'a [TakenOver],
}
