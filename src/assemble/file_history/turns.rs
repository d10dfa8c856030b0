//! Births, execs and ends of processes, sorted by time, for a walk over the rows about files.

use super::holders::Moment;
use crate::base::Timestamp;
use crate::trace::{Process, ProcessId};

/// A birth, an exec or an end of a process.
pub(super) enum Turn {
    /// Its parent forks it.
    Birth(ProcessId),
    /// The process runs another program.
    Exec(ProcessId, Moment),
    /// The process ends.
    End(ProcessId),
}

/// The births, execs and ends of all processes, each sorted by time, and the number of those that were already taken.
pub(super) struct Turns {
    births: Vec<(Timestamp, ProcessId)>,
    execs: Vec<(Moment, ProcessId)>,
    ends: Vec<(Timestamp, ProcessId)>,
    born: usize,
    run: usize,
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
        let of_process = |(id, process): (ProcessId, &Process)| {
            let execs = process.images.iter().filter_map(move |image| {
                let moment = Moment {
                    time: image.start,
                    event: image.event?,
                };
                Some((moment, id))
            });
            execs.collect::<Vec<_>>()
        };
        let all = (0..).map(ProcessId).zip(processes);
        let mut execs: Vec<(Moment, ProcessId)> = all.flat_map(of_process).collect();
        execs.sort_by_key(|(moment, _)| (moment.time, moment.event));
        Turns {
            execs,
            run: 0,
            births: sorted(&|process| process.parent.and(process.start)),
            ends: sorted(&|process| process.end),
            born: 0,
            ended: 0,
        }
    }

    /// Returns the next birth or exec up to `time` or the next end before it, whichever is earliest; `None`: the next of
    /// them at any time.
    pub(super) fn next_before(&mut self, time: Option<Timestamp>) -> Option<Turn> {
        let birth = self.births.get(self.born);
        let birth = birth.filter(|it| time.is_none_or(|time| it.0 <= time));
        let end = self.ends.get(self.ended);
        let end = end.filter(|it| time.is_none_or(|time| it.0 < time));
        let exec = self.execs.get(self.run);
        let exec = exec.filter(|it| time.is_none_or(|time| it.0.time <= time));
        let first_other = birth.into_iter().chain(end).map(|it| it.0).min();
        if let Some(&(moment, process)) = exec
            && first_other.is_none_or(|other| moment.time < other)
        {
            self.run += 1;
            return Some(Turn::Exec(process, moment));
        }
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
