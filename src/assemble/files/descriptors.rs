//! Replays all operations on descriptors: open files become slices, pipes become arrows.
//!
//! Each process has a table of descriptors; a fork copies it, an exec closes the descriptors that are marked
//! close-on-exec, an exit closes all. A file is open from its open until no process has a descriptor of it any more:
//! copies and children count. Its slice is on the track "open files" of the process that opened it.
//!
//! An arrow goes from the moment a process releases a pipe that it wrote to, to the next action of the pipe's reader:
//! the end of what was sent. If the reader releases it first, the arrow goes from the writer's latest action to that
//! moment. A writer has no reading end of the pipe, and had it as standard output or error, or kept it until its exit.
//! A reader has no writing end, and has the pipe as standard input. It may take the pipe only after its writer is gone
//! (`echo hi | cat`). If nobody does, and the writer's parent has the last reading end, the parent is the reader
//! (`x=$(echo hi)`). (A pool of tokens, of which all processes have both ends, is not a stream of data.)

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::super::draft::Draft;
use super::super::free_rows::pack;
use super::super::link::Link;
use super::super::nesting::Nested;
use super::super::people::{Act, Born, People};
use super::super::slice_table::AsyncTrack;
use super::super::track_number::{self, TrackEvent};
use super::FileWork;
use super::fd_table::{Copies, FdTable};
use crate::base::{Diagnostics, Maybe, Severity, StringId, Strings, Timestamp};
use crate::event::family::Family;
use crate::event::{FileOp, FlowKind, OnExec, SliceKind};
use crate::trace::{EventId, FileUse, LabelId, ProcessId, SliceLabel, ThreadId};

/// Descriptors with this number or a higher one are not followed.
const MOST_DESCRIPTORS: i32 = 1 << 16;
const MOST_HOLDERS: usize = 64;
const MOST_READERS: usize = 8;

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

/// Why a descriptor is released.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// The descriptor was closed or replaced.
    Close,
    /// Its process exited.
    Exit,
}

/// A writer has released a pipe.
#[derive(Clone, Copy)]
struct Sent {
    from: EventId,
    /// The writer's parent, if it has a reading end.
    parent: Option<ProcessId>,
    /// The parent's first action since then.
    next: Option<EventId>,
    /// Whether the parent has a writing end as well, which it does not close with its first action: then it is no reader.
    is_writer_too: bool,
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
    /// The descriptors of a process that refer to an end of a pipe, by (process, description).
    ends: FxHashMap<(ProcessId, u32), BTreeSet<i32>>,
    /// The processes that ever had an end of a pipe, by the description of its reading end.
    holders: FxHashMap<u32, Vec<ProcessId>>,
    /// The slices of each process, by start.
    drafts: Vec<Vec<Draft>>,
    /// The label of each path, indexed by string id; `None` until it is used.
    labels: Vec<Option<u32>>,
    copies: Copies,
    /// The latest action of each process.
    latest: Vec<Option<EventId>>,
    /// Sources of arrows that end at the next action of a process.
    waiting: FxHashMap<u32, Vec<EventId>>,
    /// What was sent through a pipe whose reader is not known yet, by the description of its reading end.
    sent: FxHashMap<u32, Vec<Sent>>,
    /// Pipes in `sent` whose writer had this process as its parent, and the parent has not acted since.
    sent_to_parents: FxHashMap<u32, Vec<u32>>,
    out: OpenFiles,
}

impl DescriptorNames {
    /// Returns the names; adds them to `strings`.
    pub fn new(strings: &mut Strings) -> DescriptorNames {
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
pub fn open_files(names: DescriptorNames, first_label: usize, from: Sessions<'_>) -> OpenFiles {
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
        ends: FxHashMap::default(),
        holders: FxHashMap::default(),
        drafts: drafts_of(&files.opens, process_count),
        labels: Vec::new(),
        copies: Copies::new(births.len(), files.rows.len()),
        latest: vec![None; process_count],
        waiting: FxHashMap::default(),
        sent: FxHashMap::default(),
        sent_to_parents: FxHashMap::default(),
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
    replay.give_rest_to_parents();
    let Replay {
        drafts,
        mut out,
        copies,
        ..
    } = replay;
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

    /// Ends the arrows that waited for this action of `process`.
    fn arrive(&mut self, process: ProcessId, event: EventId) {
        if let Some(latest) = self.latest.get_mut(process.0 as usize) {
            *latest = Some(event);
        }
        if !self.sent_to_parents.is_empty() {
            for reader in self.sent_to_parents.remove(&process.0).unwrap_or_default() {
                for sent in self.sent.get_mut(&reader).into_iter().flatten() {
                    if sent.parent == Some(process) {
                        sent.next = sent.next.or(Some(event));
                    }
                }
            }
        }
        if self.waiting.is_empty() {
            return;
        }
        for from in self.waiting.remove(&process.0).unwrap_or_default() {
            self.link(from, event);
        }
    }

    fn link(&mut self, from: EventId, to: EventId) {
        self.out.links.push(Link {
            name: self.names.pipe,
            kind: FlowKind::Pipe,
            key: u64::from(from.0),
            from,
            to,
        });
    }

    /// Ends arrows at the next action of `reader`, which has a pipe as standard input.
    fn send(&mut self, from: EventId, reader: ProcessId) {
        let waiting = self.waiting.entry(reader.0).or_default();
        if waiting.len() < MOST_HOLDERS && waiting.last() != Some(&from) {
            waiting.push(from);
        }
    }

    /// Gives what was sent through a pipe before to a process that has the pipe as standard input, and no writing end.
    fn take_sent(&mut self, process: ProcessId, reader: u32) {
        let is_reader =
            self.has(process, reader) == Some(0) && self.has(process, reader + 1).is_none();
        if !self.sent.is_empty() && is_reader {
            for sent in self.sent.remove(&reader).unwrap_or_default() {
                self.send(sent.from, process);
            }
        }
    }

    /// Gives what was sent through a pipe to the writer's parent, if no process can read it any more and the parent could.
    fn give_to_parent(&mut self, reader: u32) {
        let has_reading = |other: &ProcessId| self.has(*other, reader).is_some();
        let holders = self.holders.get(&reader).map_or(&[][..], Vec::as_slice);
        if holders.iter().any(has_reading) {
            return;
        }
        for sent in self.sent.remove(&reader).unwrap_or_default() {
            let is_reader = sent.parent.is_some() && !sent.is_writer_too;
            if let Some(next) = sent.next.filter(|_| is_reader) {
                self.link(sent.from, next);
            }
        }
    }

    /// Gives what was sent through pipes that are open at the end of the trace to the writers' parents, if they alone can
    /// read it.
    fn give_rest_to_parents(&mut self) {
        let mut rest: Vec<(u32, Vec<Sent>)> = self.sent.drain().collect();
        rest.sort_unstable_by_key(|(reader, _)| *reader);
        for (reader, all) in rest {
            for sent in all {
                let holders = self.holders.get(&reader).map_or(&[][..], Vec::as_slice);
                let mut reading = holders.iter().filter(|&&it| self.has(it, reader).is_some());
                let is_alone = reading.all(|&it| Some(it) == sent.parent);
                let parent = sent.parent.filter(|&it| self.has(it, reader).is_some());
                let parent = parent.filter(|_| !sent.is_writer_too);
                if let (Some(_), true, Some(next)) = (parent, is_alone, sent.next) {
                    self.link(sent.from, next);
                }
            }
        }
    }

    fn fork(&mut self, birth: &Born) {
        let parent = birth.parent.and_then(|parent| self.process_of(parent));
        let child = self.process_of(birth.child);
        let (Some(parent), Some(child)) = (parent, child) else {
            return;
        };
        self.arrive(parent, birth.event);
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
        let reader = match description.what {
            What::File(..) => return,
            What::Reader => number,
            What::Writer => number - 1,
        };
        self.ends.entry((process, number)).or_default().insert(fd);
        let holders = self.holders.entry(reader).or_default();
        if holders.len() < MOST_HOLDERS && holders.last() != Some(&process) {
            holders.push(process);
        }
    }

    /// Removes a descriptor from a description; returns the description after that.
    fn count_out(&mut self, number: u32, process: ProcessId, fd: i32) -> Option<Description> {
        let description = self.descriptions.get_mut(number as usize)?;
        description.count = description.count.saturating_sub(1);
        if let What::Reader | What::Writer = description.what
            && let Entry::Occupied(mut fds) = self.ends.entry((process, number))
        {
            fds.get_mut().remove(&fd);
            if fds.get().is_empty() {
                fds.remove();
            }
        }
        Some(*description)
    }

    fn act(&mut self, act: &Act) {
        let Some(process) = self.process_of(act.thread) else {
            return;
        };
        self.arrive(process, act.event);
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
        self.arrive(process, row.event);
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
            self.take_sent(process, opened.description);
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
            What::Writer if cause == Cause::Exit || fd == 1 || fd == 2 => {
                self.wrote(process, description, now);
            }
            What::Reader if cause == Cause::Exit || fd == 0 => {
                self.has_read(process, description, now);
            }
            _ => {}
        }
        if !self.sent.is_empty() {
            match what {
                What::Writer => {
                    for sent in self.sent.get_mut(&(description - 1)).into_iter().flatten() {
                        let is_at_once =
                            sent.parent == Some(process) && sent.next == Some(now.event);
                        sent.is_writer_too &= !is_at_once;
                    }
                    self.take_sent(process, description - 1);
                }
                What::Reader => self.give_to_parent(description),
                What::File(..) => {}
            }
        }
        true
    }

    /// Returns the lowest descriptor of a process that refers to this end of a pipe.
    fn has(&self, process: ProcessId, end: u32) -> Option<i32> {
        self.ends.get(&(process, end))?.first().copied()
    }

    /// Begins arrows if `process` has released its last descriptor of a pipe's writing end.
    fn wrote(&mut self, process: ProcessId, writer: u32, now: Now) {
        let reader = writer - 1;
        if self.has(process, writer).is_some() || self.has(process, reader).is_some() {
            return;
        }
        let Some(holders) = self.holders.get(&reader) else {
            return;
        };
        let mut readers: Vec<ProcessId> = holders
            .iter()
            .copied()
            .filter(|&other| other != process && self.has(other, writer).is_none())
            .filter(|&other| self.has(other, reader) == Some(0))
            .collect();
        readers.sort_unstable();
        readers.dedup();
        if readers.is_empty() {
            return self.keep_sent(process, reader, now);
        }
        for reader in readers.into_iter().take(MOST_READERS) {
            self.send(now.event, reader);
        }
    }

    /// Notes that `process` has released a pipe that has no reader yet.
    fn keep_sent(&mut self, process: ProcessId, reader: u32, now: Now) {
        let parent = self.people.processes[process.0 as usize].parent;
        let parent = parent.filter(|&parent| self.has(parent, reader).is_some());
        let is_writer_too = parent.is_some_and(|it| self.has(it, reader + 1).is_some());
        let kept = self.sent.entry(reader).or_default();
        if kept.len() >= MOST_HOLDERS {
            return;
        }
        kept.push(Sent {
            from: now.event,
            parent,
            next: None,
            is_writer_too,
        });
        if let Some(parent) = parent {
            let pipes = self.sent_to_parents.entry(parent.0).or_default();
            if pipes.last() != Some(&reader) {
                pipes.push(reader);
            }
        }
    }

    /// Adds arrows if `process` has released its last descriptor of a pipe's reading end: from the latest action of
    /// each process that can still write to the pipe.
    fn has_read(&mut self, process: ProcessId, reader: u32, now: Now) {
        let writer = reader + 1;
        if self.has(process, writer).is_some() || self.has(process, reader).is_some() {
            return;
        }
        let Some(holders) = self.holders.get(&reader) else {
            return;
        };
        let mut writers: Vec<ProcessId> = holders
            .iter()
            .copied()
            .filter(|&other| other != process && self.has(other, reader).is_none())
            .filter(|&other| self.has(other, writer).is_some_and(|fd| fd == 1 || fd == 2))
            .collect();
        writers.sort_unstable();
        writers.dedup();
        for other in writers.into_iter().take(MOST_READERS) {
            if let Some(Some(from)) = self.latest.get(other.0 as usize).copied() {
                self.out.links.push(Link {
                    name: self.names.pipe,
                    kind: FlowKind::Pipe,
                    key: u64::from(from.0),
                    from,
                    to: now.event,
                });
            }
        }
    }
}
