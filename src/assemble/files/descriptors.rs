//! Replays all operations on descriptors: open files become slices, pipes become arrows (see `pipes`).
//!
//! Each process has a table of descriptors; a fork copies it, an exec closes the descriptors that are marked
//! close-on-exec, an exit closes all. A file is open from its open until no process has a descriptor of it any more:
//! copies and children count. Its slice is on the track "open files" of the process that opened it.

use rayon::prelude::*;

use super::super::draft::Draft;
use super::super::free_rows::pack;
use super::super::link::Link;
use super::super::nesting::Nested;
use super::super::people::{Act, Born, People};
use super::super::slice_table::AsyncTrack;
use super::super::track_number::{self, TrackEvent};
use super::FileWork;
use super::fd_table::{Copies, FdTable};
use super::pipes::{Cause, End, Pipe, Pipes, Release};
use crate::base::{Diagnostics, Maybe, Severity, StringId, Strings, Timestamp};
use crate::event::family::Family;
use crate::event::{FileOp, FlowKind, OnExec, SliceKind};
use crate::trace::{EventId, FileUse, LabelId, ProcessId, SliceLabel, ThreadId};

/// Descriptors with this number or a higher one are not followed.
const MOST_DESCRIPTORS: i32 = 1 << 16;

/// The slices of open files, and the arrows of pipes.
#[derive(Default)]
pub(crate) struct OpenFiles {
    /// A track for each process that opened files.
    pub tracks: Vec<AsyncTrack>,
    /// Arrows from writers of pipes to their readers.
    pub links: Vec<Link>,
    /// Opens and closes that are in no slice.
    pub leftovers: Vec<TrackEvent>,
    /// Labels of the slices, to be added after the existing labels.
    pub labels: Vec<SliceLabel>,
    /// Counts of the files that were left out because of the limits.
    pub diagnostics: Diagnostics,
}

/// Strings of tracks and arrows, interned before.
#[derive(Clone, Copy)]
pub(crate) struct DescriptorNames {
    /// Name of the tracks, and the category of their slices.
    pub category: StringId,
    /// Name of the arrows.
    pub pipe: StringId,
}

/// An open file or an end of a pipe, which one or more descriptors refer to.
#[derive(Clone, Copy)]
struct Description {
    /// Number of descriptors that refer to it.
    count: u32,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    /// An open file: (process that opened it, index into that process's drafts).
    File(ProcessId, u32),
    /// The reading end of a pipe; the pipe's writing end is the next description.
    Reader,
    /// The writing end of a pipe.
    Writer,
}

impl What {
    /// Returns the end of a pipe with this number among the descriptions; `None` for a file.
    fn end_of_pipe(self, number: u32) -> Option<End> {
        match self {
            What::File(..) => None,
            What::Reader => Some(End::Reader(Pipe(number))),
            What::Writer => Some(End::Writer(Pipe(number - 1))),
        }
    }
}

/// The description that a new descriptor refers to.
#[derive(Clone, Copy)]
struct Opened {
    description: u32,
    on_exec: OnExec,
}

/// The time and event of the current action.
#[derive(Clone, Copy)]
struct Now {
    time: Timestamp,
    event: EventId,
}

struct Replay<'a> {
    people: &'a People,
    cpu_count: usize,
    names: DescriptorNames,
    /// The index that the first new label gets in the trace's labels.
    first_label: u32,
    /// The descriptors of each process; values are indices into `descriptions`.
    tables: Vec<FdTable<u32>>,
    descriptions: Vec<Description>,
    pipes: Pipes,
    /// The slices of each process, by start.
    drafts: Vec<Vec<Draft>>,
    /// The label of each path, indexed by string id; `None` until it is used.
    labels: Vec<Option<u32>>,
    copies: Copies,
    out: OpenFiles,
}

impl DescriptorNames {
    /// Returns the names; adds them to `strings`.
    pub(crate) fn new(strings: &mut Strings) -> DescriptorNames {
        DescriptorNames {
            category: strings.intern_text("open files"),
            pipe: strings.intern_text(FlowKind::Pipe.word()),
        }
    }
}

/// The input of [`open_files`].
#[derive(Clone, Copy)]
pub(crate) struct Sessions<'a> {
    /// The rows about files.
    pub files: &'a FileWork,
    /// Threads and processes.
    pub people: &'a People,
    /// Forks, sorted by time.
    pub births: &'a [Born],
    /// Execs and exits, sorted by time.
    pub acts: &'a [Act],
    /// The number of CPUs.
    pub cpu_count: usize,
}

/// Returns the slices of open files and the arrows of pipes. The first new label gets index `first_label`.
pub(crate) fn open_files(
    names: DescriptorNames,
    first_label: usize,
    from: Sessions<'_>,
) -> OpenFiles {
    let Sessions {
        files,
        people,
        births,
        acts,
        cpu_count,
    } = from;
    let process_count = people.processes.len();
    let mut replay = Replay {
        people,
        cpu_count,
        names,
        first_label: first_label as u32,
        tables: vec![FdTable::default(); process_count],
        descriptions: Vec::new(),
        pipes: Pipes::new(names.pipe, process_count),
        drafts: drafts_of(&files.opens, process_count),
        labels: Vec::new(),
        copies: Copies::new(births.len(), files.rows.len()),
        out: OpenFiles::default(),
    };
    let mut births = births.iter().peekable();
    let mut acts = acts.iter().peekable();
    // Forks, execs and exits come before a row of the same time.
    for row in &files.rows {
        replay.catch_up(row.time, &mut births, &mut acts);
        replay.file(row);
    }
    replay.catch_up(Timestamp::MAX, &mut births, &mut acts);
    let Replay {
        drafts,
        mut out,
        copies,
        pipes,
        ..
    } = replay;
    out.links = pipes.into_arrows();
    out.tracks = tracks(drafts, names.category);
    if copies.is_cut() {
        let code = "too_many_descriptors";
        out.diagnostics
            .note_many(code, Severity::Info, None, 1, || {
                "forks copied too many descriptors: the descriptors of later children are not followed"
                    .to_owned()
            });
    }
    out
}

/// Returns empty lists with memory for the files that each process opened.
fn drafts_of(opens: &[u32], process_count: usize) -> Vec<Vec<Draft>> {
    let opens = opens.iter().copied().chain(std::iter::repeat(0));
    let drafts = opens.map(|opens| Vec::with_capacity(opens as usize));
    drafts.take(process_count).collect()
}

/// Returns a track for each process that opened files.
fn tracks(drafts: Vec<Vec<Draft>>, name: StringId) -> Vec<AsyncTrack> {
    let of_processes = drafts.into_iter().zip(0..);
    let used: Vec<(Vec<Draft>, u32)> = of_processes.filter(|(own, _)| !own.is_empty()).collect();
    let track = |(own, process): (Vec<Draft>, u32)| {
        let packed = pack(&own);
        let nested = Nested {
            parents: vec![Maybe::NONE; own.len()],
            slices: own,
            rows: packed.rows,
            row_counts: packed.counts,
            measured: Vec::new(),
        };
        AsyncTrack {
            process: Some(ProcessId(process)),
            name,
            nested,
            instants: Vec::new(),
        }
    };
    used.into_par_iter().map(track).collect()
}

type Peek<'a, T> = std::iter::Peekable<std::slice::Iter<'a, T>>;

impl Replay<'_> {
    /// Applies forks, execs and exits up to `time`.
    fn catch_up(&mut self, time: Timestamp, births: &mut Peek<'_, Born>, acts: &mut Peek<'_, Act>) {
        loop {
            let birth = births
                .peek()
                .map(|birth| birth.time)
                .filter(|at| *at <= time);
            let act = acts.peek().map(|act| act.time).filter(|at| *at <= time);
            match (birth, act) {
                (Some(birth), act) if act.is_none_or(|act| birth <= act) => {
                    if let Some(birth) = births.next() {
                        self.fork(birth);
                    }
                }
                (_, Some(_)) => {
                    if let Some(act) = acts.next() {
                        self.act(act);
                    }
                }
                _ => return,
            }
        }
    }

    fn process_of(&self, thread: ThreadId) -> Option<ProcessId> {
        self.people.process_of(thread)
    }

    fn fork(&mut self, birth: &Born) {
        let parent = birth.parent.and_then(|parent| self.process_of(parent));
        let child = self.process_of(birth.child);
        let (Some(parent), Some(child)) = (parent, child) else {
            return;
        };
        self.pipes.arrive(parent, birth.event);
        if parent == child {
            return;
        }
        let count = self.tables[parent.0 as usize].len();
        if !self.copies.allow(count) {
            return;
        }
        let table = self.tables[parent.0 as usize].clone();
        let old = std::mem::replace(&mut self.tables[child.0 as usize], table.clone());
        for (fd, description) in old.iter() {
            self.count_out(description, child, fd);
        }
        for (fd, description) in table.iter() {
            self.count_in(description, child, fd);
        }
    }

    /// Adds descriptor `fd` of `process` to description `number`.
    fn count_in(&mut self, number: u32, process: ProcessId, fd: i32) {
        let Some(description) = self.descriptions.get_mut(number as usize) else {
            return;
        };
        description.count += 1;
        if let Some(end) = description.what.end_of_pipe(number) {
            self.pipes.take(process, end, fd);
        }
    }

    /// Removes a descriptor from a description; returns the description after that.
    fn count_out(&mut self, number: u32, process: ProcessId, fd: i32) -> Option<Description> {
        let description = self.descriptions.get_mut(number as usize)?;
        description.count = description.count.saturating_sub(1);
        if let Some(end) = description.what.end_of_pipe(number) {
            self.pipes.lose(process, end, fd);
        }
        Some(*description)
    }

    fn act(&mut self, act: &Act) {
        let Some(process) = self.process_of(act.thread) else {
            return;
        };
        self.pipes.arrive(process, act.event);
        let is_exit = act.program.is_none();
        let cause = if is_exit { Cause::Exit } else { Cause::Close };
        let end_of_thread = self.people.threads[act.thread.0 as usize].end;
        let end = self.people.processes[process.0 as usize].end;
        if is_exit && (end.is_none() || end_of_thread != end) {
            // Another thread of the process continues.
            return;
        }
        let now = Now {
            time: act.time,
            event: act.event,
        };
        let table = &self.tables[process.0 as usize];
        let over = match is_exit {
            true => table.iter().map(|(fd, _)| fd).collect(),
            false => table.closing(),
        };
        for fd in over {
            self.release(process, fd, now, cause);
        }
    }

    fn file(&mut self, row: &FileUse) {
        let Some(process) = row.thread.and_then(|thread| self.process_of(thread)) else {
            return;
        };
        self.pipes.arrive(process, row.event);
        let now = Now {
            time: row.time,
            event: row.event,
        };
        let on_exec = OnExec::of_flags(row.flags);
        let is_shown = match row.op {
            FileOp::Open => self.open(process, row, now),
            FileOp::Close => self.release(process, row.fd, now, Cause::Close),
            FileOp::Dup => {
                let copied = self.tables[process.0 as usize].get(row.fd);
                match copied.filter(|_| row.fd != row.result) {
                    Some(description) => {
                        let opened = Opened {
                            description,
                            on_exec,
                        };
                        self.put(process, row.result, opened, now);
                    }
                    // A copy of a descriptor whose open is not in the trace closes what its number meant before.
                    None if row.fd != row.result => {
                        self.release(process, row.result, now, Cause::Close);
                    }
                    None => {}
                }
                true
            }
            FileOp::CloseRange => {
                for fd in self.tables[process.0 as usize].open_in(row.fd..=row.result) {
                    self.release(process, fd, now, Cause::Close);
                }
                true
            }
            FileOp::SetOnExec => {
                self.tables[process.0 as usize].set_on_exec(row.fd..=row.result, on_exec);
                true
            }
            FileOp::Pipe => {
                let reader = self.descriptions.len() as u32;
                for what in [What::Reader, What::Writer] {
                    self.descriptions.push(Description { count: 0, what });
                }
                for (fd, description) in [(row.fd, reader), (row.result, reader + 1)] {
                    let opened = Opened {
                        description,
                        on_exec,
                    };
                    self.put(process, fd, opened, now);
                }
                true
            }
            _ => true,
        };
        // An open or close of a descriptor that is not followed is in no slice: it becomes an instant.
        if !is_shown {
            let track = track_number::of_thread(row.thread, self.cpu_count);
            self.out.leftovers.push(TrackEvent {
                track,
                event: row.event.0,
            });
        }
    }

    fn open(&mut self, process: ProcessId, row: &FileUse, now: Now) -> bool {
        if (0..MOST_DESCRIPTORS).contains(&row.fd) {
            let label = self.label(row.path);
            let own = &mut self.drafts[process.0 as usize];
            let draft = own.len() as u32;
            own.push(Draft {
                start: now.time.0,
                end: Maybe::NONE,
                is_unended: false,
                label,
                begin: now.event.0,
                finish: Maybe::NONE,
            });
            self.descriptions.push(Description {
                count: 0,
                what: What::File(process, draft),
            });
            let description = self.descriptions.len() as u32 - 1;
            let on_exec = OnExec::of_flags(row.flags);
            let opened = Opened {
                description,
                on_exec,
            };
            self.put(process, row.fd, opened, now);
            return true;
        }
        false
    }

    fn label(&mut self, path: StringId) -> u32 {
        let at = path.0 as usize;
        if at >= self.labels.len() {
            self.labels.resize(at + 1, None);
        }
        if let Some(&Some(known)) = self.labels.get(at) {
            return known;
        }
        let label = LabelId(self.first_label + self.out.labels.len() as u32).0;
        self.out.labels.push(SliceLabel {
            name: path,
            category: self.names.category,
            family: Family::Async,
            kind: SliceKind::OpenFiles,
        });
        self.labels[at] = Some(label);
        label
    }

    /// Makes descriptor `fd` of `process` refer to `opened`; closes it first if it was open.
    fn put(&mut self, process: ProcessId, fd: i32, opened: Opened, now: Now) {
        if !(0..MOST_DESCRIPTORS).contains(&fd) {
            return;
        }
        self.release(process, fd, now, Cause::Close);
        self.count_in(opened.description, process, fd);
        self.tables[process.0 as usize].insert(fd, opened.description, opened.on_exec);
        if fd == 0 {
            self.pipes.take_sent(process, Pipe(opened.description));
        }
    }

    /// Closes descriptor `fd` of `process`; returns whether it was open.
    fn release(&mut self, process: ProcessId, fd: i32, now: Now, cause: Cause) -> bool {
        let description = self.tables[process.0 as usize].remove(fd);
        let left = description.and_then(|it| Some((it, self.count_out(it, process, fd)?)));
        let Some((description, Description { what, count })) = left else {
            return false;
        };
        match what {
            What::File(opener, draft) if count == 0 => {
                let own = self.drafts.get_mut(opener.0 as usize);
                if let Some(draft) = own.and_then(|own| own.get_mut(draft as usize)) {
                    draft.end = Maybe::new(now.time.0.max(draft.start));
                    draft.finish = Maybe::new(now.event.0);
                }
            }
            What::Reader | What::Writer | What::File(..) => {}
        }
        if let Some(end) = what.end_of_pipe(description) {
            let parent = self.people.processes[process.0 as usize].parent;
            let release = Release {
                process,
                parent,
                fd,
                cause,
                event: now.event,
            };
            self.pipes.release(end, release);
        }
        true
    }
}
