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

/// The fields of an event other than its times and arguments.
pub(super) struct Head<'a> {
    pub(super) phase: &'static str,
    pub(super) category: &'a str,
    pub(super) name: &'a str,
    pub(super) owner: ThreadKoids,
}
