//! Births and ends of processes, sorted by time, for a walk over the rows about files.

use crate::base::Timestamp;
use crate::trace::{Process, ProcessId};

/// A birth or an end of a process.
pub(super) enum Turn {
    /// Its parent forks it.
    Birth(ProcessId),
    /// The process ends.
    End(ProcessId),
}

/// The births and ends of all processes, each sorted by time, and the number of those that were already taken.
pub(super) struct Turns {
    births: Vec<(Timestamp, ProcessId)>,
    ends: Vec<(Timestamp, ProcessId)>,
    born: usize,
    ended: usize,
}

impl Turns {
    pub(super) fn of(processes: &[Process]) -> Turns {
        let sorted = |time: &dyn Fn(&Process) -> Option<Timestamp>| {
            let all = (0..).map(ProcessId).zip(processes);
            let mut all: Vec<(Timestamp, ProcessId)> = all
                .filter_map(|(id, process)| Some((time(process)?, id)))
                .collect();
            all.sort_unstable();
            all
        };
        Turns {
            births: sorted(&|process| process.parent.and(process.start)),
            ends: sorted(&|process| process.end),
            born: 0,
            ended: 0,
        }
    }

    /// Returns the next birth up to `time` or the next end before it, whichever is earlier; `None`: the next birth or
    /// end at any time.
    pub(super) fn next_before(&mut self, time: Option<Timestamp>) -> Option<Turn> {
        let birth = self.births.get(self.born);
        let birth = birth.filter(|it| time.is_none_or(|time| it.0 <= time));
        let end = self.ends.get(self.ended);
        let end = end.filter(|it| time.is_none_or(|time| it.0 < time));
        match (birth, end) {
            (Some(&(born, child)), end) if end.is_none_or(|end| born <= end.0) => {
                self.born += 1;
                Some(Turn::Birth(child))
            }
            (_, Some(&(_, process))) => {
                self.ended += 1;
                Some(Turn::End(process))
            }
            _ => None,
        }
    }
}
