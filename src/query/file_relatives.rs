//! The files that went into a file, and the files that were made from it.
//!
//! ```text
//! A < in | B | C > out          went into out: in, through C, B and A
//! ```
//!
//! A file went into another if the other file's writers, or the processes that wrote to these through pipes, had read
//! it before they finished writing; and so on for each of those files, with its content at the time when it was read. A
//! file was made from another if the other file's readers, or the processes that these wrote to through pipes, had it
//! open for writing after they had opened the other; and so on, until a process empties the file.

use rustc_hash::{FxHashMap, FxHashSet};

use super::files::FileList;
use crate::assemble::file_history::FileId;
use crate::assemble::file_history::Inherited;
use crate::base::{Cancelled, Job, StringId, TimeSpan, Timestamp};
use crate::event::FileOp;
use crate::trace::files::{Access, TRUNCATE};
use crate::trace::{FileUse, ProcessId, Trace};

/// A file that went into another, or was made from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relative {
    /// The file.
    pub file: FileId,
    /// The row of `trace.files` that opened it, which contains its name at that time.
    pub row: u32,
    /// The number of steps to the file: 1 for files that the writers read themselves.
    pub steps: u32,
    /// The process between it and the file one step nearer.
    pub through: ProcessId,
    /// The file one step nearer.
    pub towards: FileId,
}

/// The direction of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kinship {
    /// The files that went into the file.
    WentInto,
    /// The files that were made from the file.
    MadeFrom,
}

/// The relatives of a file.
#[derive(Clone, Debug, Default)]
pub struct Relatives {
    /// The files, nearest first.
    pub files: Vec<Relative>,
    /// Whether the list was cut.
    pub more: More,
}

/// Whether a list was cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum More {
    /// The list is complete.
    #[default]
    No,
    /// The list was cut.
    ThereIs,
}

/// The most relatives that are listed.
pub(crate) const MOST_RELATIVES: usize = 20_000;
/// The most steps that are followed.
const MOST_STEPS: u32 = 64;

/// One content of a file: from one time that the file is emptied to the next.
#[derive(Clone, Copy)]
struct Content {
    file: FileId,
    written: TimeSpan,
}

/// A process that wrote a file, with the time when it was done; or that read it, with the time when it began.
struct FileUser {
    process: ProcessId,
    time: Timestamp,
}

/// A process that used the file `towards`.
struct Around {
    towards: FileId,
    user: FileUser,
}

/// A file that a process read or wrote.
struct Touched {
    file: FileId,
    /// The row of `trace.files` that opened it.
    row: u32,
    /// The time up to which, or from which, the content of the file counts.
    time: Timestamp,
}

/// The time up to which (or from which) each process or file was examined, so that nothing is examined twice.
struct Asked<K> {
    kinship: Kinship,
    times: FxHashMap<K, Timestamp>,
}

impl<K: std::hash::Hash + Eq> Asked<K> {
    fn new(kinship: Kinship) -> Asked<K> {
        Asked {
            kinship,
            times: FxHashMap::default(),
        }
    }

    /// Returns whether a search from `time` may find more than earlier searches.
    fn brings_more(&mut self, key: K, time: Timestamp) -> bool {
        let known = self.times.get(&key).copied();
        let is_new = known.is_none_or(|known| match self.kinship {
            Kinship::WentInto => time > known,
            Kinship::MadeFrom => time < known,
        });
        if is_new {
            self.times.insert(key, time);
        }
        is_new
    }
}

impl Relative {
    /// Returns the file's name when it was used.
    #[must_use]
    pub fn name(&self, trace: &Trace) -> StringId {
        let row = trace.files.rows.get(self.row as usize);
        row.map_or(StringId::EMPTY, |row| row.path)
    }

    /// Returns the file's last name, if it differs: results are often renamed when they are complete.
    #[must_use]
    pub fn later_name(&self, trace: &Trace, list: &FileList) -> Option<StringId> {
        let last = list.history.name(self.file);
        (trace.text(last) != trace.text(self.name(trace))).then_some(last)
    }
}

impl FileList {
    /// Returns the files that went into a file or were made from it, each once, nearest first; and whether the list was
    /// cut.
    ///
    /// # Errors
    /// If the job is cancelled.
    pub fn relatives(
        &self,
        trace: &Trace,
        file: FileId,
        kinship: Kinship,
        job: &Job,
    ) -> Result<Relatives, Cancelled> {
        let mut out: Vec<Relative> = Vec::new();
        let mut met: FxHashSet<FileId> = FxHashSet::default();
        met.insert(file);
        let mut asked = Asked::new(kinship);
        let mut asked_files = Asked::new(kinship);
        let always = match kinship {
            Kinship::WentInto => TimeSpan::ALL.end,
            Kinship::MadeFrom => TimeSpan::ALL.start,
        };
        let mut present = vec![(file, always)];
        let mut emptied: FxHashMap<FileId, Vec<Timestamp>> = FxHashMap::default();
        for steps in 1..=MOST_STEPS {
            let mut around: Vec<Around> = Vec::new();
            for &(towards, time) in &present {
                job.check()?;
                let written = match kinship {
                    // The content at all times counts.
                    Kinship::MadeFrom if time == always => TimeSpan::ALL,
                    _ => {
                        let times = emptied.entry(towards);
                        let times = times.or_insert_with(|| self.emptied(trace, towards));
                        content_at(times, time)
                    }
                };
                if asked_files.brings_more((towards, written.start), time) {
                    let found = self.processes_around(
                        trace,
                        Content {
                            file: towards,
                            written,
                        },
                        time,
                        kinship,
                    );
                    around.extend(found.into_iter().map(|user| Around { towards, user }));
                }
            }
            most_first(kinship, &mut around, |it| it.user.time);
            let mut next = Vec::new();
            let mut piped = Vec::new();
            for Around { towards, user } in around {
                let time = user.time;
                piped.push(user.process);
                while let Some(through) = piped.pop() {
                    job.check()?;
                    if !asked.brings_more(through, time) {
                        continue;
                    }
                    let pipes = match kinship {
                        Kinship::WentInto => self.piped_from.get(&through),
                        Kinship::MadeFrom => self.piped_to.get(&through),
                    };
                    piped.extend(pipes.into_iter().flatten());
                    for Touched { file, row, time } in self.touched(trace, through, time, kinship) {
                        next.push((file, time));
                        if !met.insert(file) {
                            continue;
                        }
                        if out.len() >= MOST_RELATIVES {
                            return Ok(Relatives {
                                files: out,
                                more: More::ThereIs,
                            });
                        }
                        out.push(Relative {
                            file,
                            row,
                            steps,
                            through,
                            towards,
                        });
                    }
                }
            }
            if next.is_empty() {
                return Ok(Relatives {
                    files: out,
                    more: More::No,
                });
            }
            most_first(kinship, &mut next, |it| it.1);
            present = next;
        }
        Ok(Relatives {
            files: out,
            more: More::ThereIs,
        })
    }

    /// Returns the times at which a file was emptied, in order: whoever opens it for writing may empty it.
    fn emptied(&self, trace: &Trace, file: FileId) -> Vec<Timestamp> {
        let rows = self.rows_of(file).iter();
        let rows = rows.map(|&index| &trace.files.rows[index as usize]);
        rows.filter(|row| empties(row))
            .map(|row| row.time)
            .collect()
    }

    /// Returns the processes that had written the file's content at a time, with the time when each finished; or those
    /// that read it after that time, with the time when each began.
    fn processes_around(
        &self,
        trace: &Trace,
        Content { file, written }: Content,
        time: Timestamp,
        kinship: Kinship,
    ) -> Vec<FileUser> {
        let rows = self.rows_of(file);
        let first_at = |time: Timestamp| {
            rows.partition_point(|&index| trace.files.rows[index as usize].time < time)
        };
        let start = match kinship {
            Kinship::WentInto => first_at(written.start),
            Kinship::MadeFrom => first_at(time),
        };
        let mut found = Vec::new();
        for &index in rows.get(start..).unwrap_or_default() {
            let row = &trace.files.rows[index as usize];
            if kinship == Kinship::WentInto && row.time > time
                || kinship == Kinship::MadeFrom && row.time >= written.end
            {
                break;
            }
            let Some(process) = trace.thread(row.thread).process else {
                continue;
            };
            let access = Access::of_flags(row.flags);
            match kinship {
                _ if row.op != FileOp::Open => {}
                Kinship::WentInto if access.writes => {
                    let end = self.end_of(trace, index, process);
                    found.push(FileUser {
                        process,
                        time: end.min(time),
                    });
                }
                Kinship::MadeFrom if access.takes => {
                    found.push(FileUser {
                        process,
                        time: row.time,
                    });
                }
                _ => {}
            }
        }
        match kinship {
            Kinship::WentInto => {
                let heirs = self.heirs_of_opens(trace, file, written.start..=time);
                let writers = heirs.filter(|heir| heir.access == Inherited::Writes);
                found.extend(writers.map(|heir| {
                    let until = heir.until.map_or(TimeSpan::ALL.end, |until| until.time);
                    FileUser {
                        process: heir.process,
                        time: until.min(time),
                    }
                }));
            }
            Kinship::MadeFrom => {
                let heirs = self.heirs_between(file, time..written.end);
                let readers = heirs.filter(|heir| heir.access == Inherited::Reads);
                found.extend(readers.map(|heir| FileUser {
                    process: heir.process,
                    time: heir.from,
                }));
            }
        }
        found
    }

    /// Returns the time when a process finished using a file that it opened in a row.
    fn end_of(&self, trace: &Trace, row: u32, process: ProcessId) -> Timestamp {
        let end = self.history.ended_by.get(&row);
        let exit = || trace.processes.get(process.0 as usize)?.end;
        end.map(|&event| trace.events.time(event))
            .or_else(exit)
            .unwrap_or(TimeSpan::ALL.end)
    }

    /// Returns the rows by which a process opened the files that it read before `time` or, for
    /// [`Kinship::MadeFrom`], had open for writing after `time`. Each comes with the time up to which, or from which,
    /// the content of the file counts.
    fn touched(
        &self,
        trace: &Trace,
        process: ProcessId,
        time: Timestamp,
        kinship: Kinship,
    ) -> Vec<Touched> {
        let rows = self.by_process.get(&process).map_or(&[][..], Vec::as_slice);
        let own = rows.iter().filter_map(|&index| {
            let row = &trace.files.rows[index as usize];
            let access = Access::of_flags(row.flags);
            let counts = match kinship {
                Kinship::WentInto => access.takes && row.time <= time,
                // A file that was already open for writing may also contain data that is read later.
                Kinship::MadeFrom => access.writes && self.end_of(trace, index, process) >= time,
            };
            (row.op == FileOp::Open && counts).then_some((index, row.time))
        });
        let heirs = self.heirs_by_process.get(&process).into_iter().flatten();
        let heirs = heirs
            .filter_map(|&heir| self.history.heirs.get(heir as usize))
            .filter(|heir| match (kinship, heir.access) {
                (Kinship::WentInto, Inherited::Reads) => heir.from <= time,
                (Kinship::MadeFrom, Inherited::Writes) => {
                    heir.until.is_none_or(|until| until.time >= time)
                }
                _ => false,
            });
        own.chain(heirs.map(|heir| (heir.row, heir.from)))
            .filter_map(|(row, at)| {
                let file = self.history.file_of(row)?;
                let has_content = self.history.files.get(file.0 as usize)?.has_content;
                let at = match kinship {
                    Kinship::WentInto => at,
                    Kinship::MadeFrom => at.max(time),
                };
                has_content.then_some(Touched {
                    file,
                    row,
                    time: at,
                })
            })
            .collect()
    }
}

/// Sorts the widest time ranges to the front: their results contain the results of narrower ranges, so that nothing is
/// examined twice in one step.
fn most_first<T>(kinship: Kinship, list: &mut [T], time: impl Fn(&T) -> Timestamp) {
    match kinship {
        Kinship::WentInto => list.sort_by_key(|it| std::cmp::Reverse(time(it))),
        Kinship::MadeFrom => list.sort_by_key(time),
    }
}

/// Returns the span around `time` in which a file that was emptied at these times had the same content.
fn content_at(emptied: &[Timestamp], time: Timestamp) -> TimeSpan {
    let after = emptied.partition_point(|&at| at <= time);
    let before = after.checked_sub(1).and_then(|at| emptied.get(at));
    TimeSpan::new(
        before.copied().unwrap_or(TimeSpan::ALL.start),
        emptied.get(after).copied().unwrap_or(TimeSpan::ALL.end),
    )
}

/// Returns whether the content of a file is gone after a row.
fn empties(row: &FileUse) -> bool {
    row.op == FileOp::Open
        && row.flags & TRUNCATE != 0
        && row.result >= 0
        && Access::of_flags(row.flags).writes
}
