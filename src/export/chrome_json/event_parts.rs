//! The parts of an event of the format: its owner, its time, its name.

use crate::export::shared::ThreadKoids;

/// When an event happened, in ns.
#[derive(Clone, Copy)]
pub(super) struct When {
    pub(super) time: i64,
    /// `None`: the event has no duration, or an unknown one.
    pub(super) duration: Option<i64>,
}

impl When {
    pub(super) fn at(time: i64) -> When {
        When {
            time,
            duration: None,
        }
    }
}

/// The number that a process or thread has in the trace, written if a stand-in replaces its koid.
pub(super) struct OwnNumber {
    /// The kind of number: `pid` or `tid`.
    pub(super) word: &'static str,
    pub(super) number: u64,
    pub(super) koid: u64,
}

/// What a process or thread that only exists in the exported file represents; our reader uses it to restore the trace.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StandsFor {
    /// The CPU with this number.
    Cpu(u32),
    /// The runs of a CPU.
    Runs,
    /// Nobody: what belongs to the whole machine.
    Machine,
    /// The thread of the same process with this koid: some of its events are on this extra thread.
    Thread(u64),
}

/// The name of a process or thread.
pub(super) struct Name<'a> {
    /// `process_name` or `thread_name`.
    pub(super) what: &'static str,
    pub(super) owner: ThreadKoids,
    pub(super) name: &'a str,
    pub(super) own: Option<OwnNumber>,
    pub(super) stands_for: Option<StandsFor>,
}

/// The fields of an event other than its times and arguments.
pub(super) struct Head<'a> {
    pub(super) phase: &'static str,
    pub(super) category: &'a str,
    pub(super) name: &'a str,
    pub(super) owner: ThreadKoids,
}
