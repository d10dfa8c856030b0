//! What went into a file, and what was made from it.
//!
//! ```text
//! A < in | B | C > out          what went into out: in, through C, B and A
//! ```
//!
//! What went into a file is what its writers, and whoever wrote to them through pipes, had read before they were
//! done with it; and so on for each of those files. What was made from it is what its readers, and whoever they wrote
//! to through pipes, had open for writing after they had opened it; and so on.

use rustc_hash::{FxHashMap, FxHashSet};

use super::files::FileList;
use crate::base::{StringId, Timestamp};
use crate::event::FileOp;
use crate::trace::file_history::{Access, Inherited};
use crate::trace::{FileId, ProcessId, Trace};

/// A file that went into another, or was made from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relative {
    /// The file.
    pub file: FileId,
    /// The row of `trace.files` that opened it: it says the name that it had then.
    pub row: u32,
    /// How many steps away: 1 is what the writers read themselves.
    pub steps: u32,
    /// The process between it and the file one step nearer.
    pub through: ProcessId,
    /// The file one step nearer.
    pub towards: FileId,
}

/// Which way to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kinship {
    /// What went into it.
    WentInto,
    /// What was made from it.
    MadeFrom,
}

/// Whether a list was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum More {
    /// It is whole.
    No,
    /// There would be more.
    ThereIs,
}

/// How many relatives are listed.
pub const MOST_RELATIVES: usize = 20_000;
/// How many steps are gone.
const MOST_STEPS: u32 = 64;

/// Up to (or from) when each process was looked through: what it did then is asked for once.
struct Asked {
    kinship: Kinship,
    times: FxHashMap<ProcessId, Timestamp>,
}

impl Asked {
    /// Whether asking for `time` may bring more than what was asked for.
    fn brings_more(&mut self, process: ProcessId, time: Timestamp) -> bool {
        let known = self.times.get(&process).copied();
        let is_new = known.is_none_or(|known| match self.kinship {
            Kinship::WentInto => time > known,
            Kinship::MadeFrom => time < known,
        });
        if is_new {
            self.times.insert(process, time);
        }
        is_new
    }
}

impl Relative {
    /// What the file was called when it was used.
    #[must_use]
    pub fn name(&self, trace: &Trace) -> StringId {
        let row = trace.files.rows.get(self.row as usize);
        row.map_or(StringId::EMPTY, |row| row.path)
    }
}

impl FileList {
    /// What went into a file, or was made from it: each file once, nearest first; and whether there would be more.
    #[must_use]
    pub fn relatives(
        &self,
        trace: &Trace,
        file: FileId,
        kinship: Kinship,
    ) -> (Vec<Relative>, More) {
        let mut out: Vec<Relative> = Vec::new();
        let mut met: FxHashSet<FileId> = FxHashSet::default();
        met.insert(file);
        let mut asked = Asked {
            kinship,
            times: FxHashMap::default(),
        };
        let mut present = vec![file];
        for steps in 1..=MOST_STEPS {
            let mut next = Vec::new();
            for &towards in &present {
                let mut around = self.processes_around(trace, towards, kinship);
                while let Some((through, time)) = around.pop() {
                    if !asked.brings_more(through, time) {
                        continue;
                    }
                    let pipes = match kinship {
                        Kinship::WentInto => self.piped_from.get(&through),
                        Kinship::MadeFrom => self.piped_to.get(&through),
                    };
                    around.extend(pipes.into_iter().flatten().map(|&other| (other, time)));
                    for (file, row) in self.touched(trace, through, time, kinship) {
                        if !met.insert(file) {
                            continue;
                        }
                        if out.len() >= MOST_RELATIVES {
                            return (out, More::ThereIs);
                        }
                        out.push(Relative {
                            file,
                            row,
                            steps,
                            through,
                            towards,
                        });
                        next.push(file);
                    }
                }
            }
            if next.is_empty() {
                return (out, More::No);
            }
            present = next;
        }
        (out, More::ThereIs)
    }

    /// Who wrote the file (and when it was done), or who read it (and when it began); the last comes first.
    fn processes_around(
        &self,
        trace: &Trace,
        file: FileId,
        kinship: Kinship,
    ) -> Vec<(ProcessId, Timestamp)> {
        let mut found = Vec::new();
        for &index in self.rows_of(file) {
            let row = &trace.files.rows[index as usize];
            let Some(process) = trace.thread(row.thread).process else {
                continue;
            };
            let access = Access::of_flags(row.flags);
            match kinship {
                Kinship::WentInto if row.op == FileOp::Open && access.writes => {
                    found.push((process, self.end_of(trace, index, process)));
                }
                Kinship::MadeFrom if row.op == FileOp::Open && access.takes => {
                    found.push((process, row.time));
                }
                _ => {}
            }
        }
        let heirs = self
            .heirs_of(file)
            .filter_map(|heir| match (kinship, heir.access) {
                (Kinship::WentInto, Inherited::Writes) => {
                    let until = heir.until.map_or(Timestamp::MAX, |until| until.0);
                    Some((heir.process, until))
                }
                (Kinship::MadeFrom, Inherited::Reads) => Some((heir.process, heir.from)),
                _ => None,
            });
        found.extend(heirs);
        found.reverse();
        found
    }

    /// When a process was done with what it opened in a row.
    fn end_of(&self, trace: &Trace, row: u32, process: ProcessId) -> Timestamp {
        let end = self.history.ended_by.get(&row);
        let exit = || trace.processes.get(process.0 as usize)?.end;
        end.map(|&event| trace.events.time(event))
            .or_else(exit)
            .unwrap_or(Timestamp::MAX)
    }

    /// What a process read before `time`, or had open for writing after it, and the rows that opened it.
    fn touched(
        &self,
        trace: &Trace,
        process: ProcessId,
        time: Timestamp,
        kinship: Kinship,
    ) -> Vec<(FileId, u32)> {
        let rows = self.by_process.get(&process).map_or(&[][..], Vec::as_slice);
        let own = rows.iter().copied().filter(|&index| {
            let row = &trace.files.rows[index as usize];
            let access = Access::of_flags(row.flags);
            row.op == FileOp::Open
                && match kinship {
                    Kinship::WentInto => access.takes && row.time <= time,
                    // What was open for writing already takes what is read later, too.
                    Kinship::MadeFrom => {
                        access.writes && self.end_of(trace, index, process) >= time
                    }
                }
        });
        let heirs = self.heirs_by_process.get(&process).into_iter().flatten();
        let heirs = heirs
            .filter_map(|&heir| self.history.heirs.get(heir as usize))
            .filter(|heir| match (kinship, heir.access) {
                (Kinship::WentInto, Inherited::Reads) => heir.from <= time,
                (Kinship::MadeFrom, Inherited::Writes) => {
                    heir.until.is_none_or(|until| until.0 >= time)
                }
                _ => false,
            });
        own.chain(heirs.map(|heir| heir.row))
            .filter_map(|row| Some((*self.history.of_row.get(row as usize)?, row)))
            .filter(|(file, _)| {
                self.history
                    .files
                    .get(file.0 as usize)
                    .is_some_and(|file| file.has_content)
            })
            .collect()
    }
}
