//! What was done to descriptors, replayed: files that were open, as slices; pipes, as arrows.
//!
//! Each process has a table of descriptors; a fork copies it, an exec closes what is marked so, an exit closes
//! all of it. A file is open from its open until nobody has a descriptor of it any more: copies and children
//! count. It lies on the track "open files" of the process that opened it.
//!
//! An arrow goes from the moment a process lets go of a pipe that it wrote to, to the next action of whoever
//! reads it: the end of what was sent. If the reader lets go first, it goes from the writer's latest action to
//! that moment. A writer has no reading end of the pipe and had it as standard output
//! or error, or kept it to its exit; a reader has no writing end, and the pipe as standard input, or is the
//! writer's parent. (A pool of tokens that all hold both ends of is no stream of data.)

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::async_tracks::pack;
use super::fd_table::{Copies, FdTable, OnExec};
use super::identities::{Act, Born};
use super::merge::Merged;
use super::nesting::{Draft, Nested};
use super::process_life::Link;
use super::slice_table::AsyncTrack;
use super::track_number;
use crate::base::{Diagnostics, Severity, StringId, Timestamp};
use crate::event::FileOp;
use crate::event::pairs::ASYNC;
use crate::trace::{
    EventId, FileUse, LabelId, Process, ProcessId, SliceLabel, ThreadId, Trace, TrackKind,
};

/// Descriptors from here on are not followed.
const MOST_DESCRIPTORS: i32 = 1 << 16;
const MOST_HOLDERS: usize = 64;
const MOST_READERS: usize = 8;

/// What this makes.
#[derive(Default)]
pub struct Descriptors {
    /// The files that were open, by process.
    pub tracks: Vec<AsyncTrack>,
    /// From writers of pipes to their readers.
    pub links: Vec<Link>,
    /// Opens and closes that no slice shows: (track number, event).
    pub leftovers: Vec<(u32, u32)>,
    /// Labels of the slices: they come behind those that are there.
    pub labels: Vec<SliceLabel>,
    /// Whether forks copied more descriptors than are followed.
    pub is_cut: bool,
}

/// Strings that this needs, made before.
#[derive(Clone, Copy)]
pub struct Names {
    /// Of the tracks, and the category of what is on them.
    pub category: StringId,
    /// Of the arrows.
    pub pipe: StringId,
}

/// What a descriptor stands for.
struct Description {
    /// How many descriptors it has.
    count: u32,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    /// An open file: who opened it, and which of their drafts it is.
    File(ProcessId, u32),
    /// The reading end of a pipe; the writing end is the next description.
    Reader,
    /// The writing end.
    Writer,
}

/// When and by which event something happens.
#[derive(Clone, Copy)]
struct Now {
    time: Timestamp,
    event: EventId,
}

/// Why a descriptor goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// It was closed, or replaced.
    Close,
    /// Its process is gone.
    Exit,
}

struct Replay<'a> {
    trace: &'a Trace,
    names: Names,
    /// The number of the first label here.
    first_label: u32,
    /// The descriptions of the descriptors of each process.
    tables: Vec<FdTable<u32>>,
    descriptions: Vec<Description>,
    /// The descriptors of each process that are this end of a pipe.
    ends: FxHashMap<(ProcessId, u32), BTreeSet<i32>>,
    /// For pipes: who ever had an end of it, by the description of its reading end.
    holders: FxHashMap<u32, Vec<ProcessId>>,
    /// The files of each process, by the time of their opens.
    drafts: Vec<Vec<Draft>>,
    /// The label of each path, by string; `u32::MAX`: none yet.
    labels: Vec<u32>,
    copies: Copies,
    /// The latest action of each process.
    latest: Vec<Option<EventId>>,
    /// Arrows that wait for the next action of a process.
    waiting: FxHashMap<u32, Vec<EventId>>,
    out: Descriptors,
}

/// The strings that this needs.
pub fn names(merged: &mut Merged) -> Names {
    Names {
        category: merged.strings.intern_text("open files"),
        pipe: merged.strings.intern_text("pipe"),
    }
}

/// See the module's text. `trace.files` and people are there; `acts` and `births` are sorted by time.
pub fn build_descriptors(
    names: Names,
    first_label: usize,
    births: &[Born],
    acts: &[Act],
    trace: &Trace,
) -> Descriptors {
    let mut replay = Replay {
        trace,
        names,
        first_label: first_label as u32,
        tables: vec![FdTable::default(); trace.processes.len()],
        descriptions: Vec::new(),
        ends: FxHashMap::default(),
        holders: FxHashMap::default(),
        drafts: drafts_of(trace),
        labels: Vec::new(),
        copies: Copies::new(births.len(), trace.files.rows.len()),
        latest: vec![None; trace.processes.len()],
        waiting: FxHashMap::default(),
        out: Descriptors::default(),
    };
    let mut births = births.iter().peekable();
    let mut acts = acts.iter().peekable();
    for row in &trace.files.rows {
        replay.catch_up(row.time, &mut births, &mut acts);
        replay.file(row);
    }
    replay.catch_up(Timestamp::MAX, &mut births, &mut acts);
    let Replay {
        drafts,
        mut out,
        copies,
        ..
    } = replay;
    out.tracks = tracks(drafts, names.category);
    out.is_cut = copies.is_cut();
    out
}

/// Room for what each process opened.
fn drafts_of(trace: &Trace) -> Vec<Vec<Draft>> {
    let opens = |process: &Process| Vec::with_capacity(process.opens as usize);
    trace.processes.iter().map(opens).collect()
}

/// Says that not all was followed, if that is so.
pub fn note_cut(descriptors: &Descriptors, diagnostics: &mut Diagnostics) {
    if descriptors.is_cut {
        diagnostics.note_many("too_many_descriptors", Severity::Info, None, 1, || {
            "forks copied so many descriptors that those of later children are not followed"
                .to_owned()
        });
    }
}

/// A track for each process that opened something.
fn tracks(drafts: Vec<Vec<Draft>>, name: StringId) -> Vec<AsyncTrack> {
    let of_processes = drafts.into_iter().zip(0..);
    let used: Vec<(Vec<Draft>, u32)> = of_processes.filter(|(own, _)| !own.is_empty()).collect();
    let track = |(own, process): (Vec<Draft>, u32)| {
        let (rows, row_counts) = pack(&own);
        let nested = Nested {
            parents: vec![u32::MAX; own.len()],
            slices: own,
            rows,
            row_counts,
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
    /// Forks, execs and exits up to `time`.
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
        self.trace.threads.get(thread.0 as usize)?.process
    }

    /// The arrows that waited for this action of `process`.
    fn arrive(&mut self, process: ProcessId, event: EventId) {
        if let Some(latest) = self.latest.get_mut(process.0 as usize) {
            *latest = Some(event);
        }
        if self.waiting.is_empty() {
            return;
        }
        for from in self.waiting.remove(&process.0).unwrap_or_default() {
            self.out.links.push(Link {
                name: self.names.pipe,
                key: u64::from(from.0),
                from,
                to: event,
            });
        }
    }

    fn fork(&mut self, birth: &Born) {
        let (parent, child) = (self.process_of(birth.parent), self.process_of(birth.child));
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

    /// One more descriptor of a description: `fd` of `process`.
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

    /// One fewer: what it is of, and how many are left.
    fn count_out(&mut self, number: u32, process: ProcessId, fd: i32) -> Option<(What, u32)> {
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
        Some((description.what, description.count))
    }

    fn act(&mut self, act: &Act) {
        let Some(process) = self.process_of(act.thread) else {
            return;
        };
        self.arrive(process, act.event);
        let is_exit = act.program.is_none();
        let cause = if is_exit { Cause::Exit } else { Cause::Close };
        let end_of_thread = self.trace.threads[act.thread.0 as usize].end;
        let end = self.trace.processes[process.0 as usize].end;
        if is_exit && (end.is_none() || end_of_thread != end) {
            // Another of its threads goes on.
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
        let Some(process) = self.process_of(row.thread) else {
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
                if let Some(description) = copied.filter(|_| row.fd != row.result) {
                    self.put(process, row.result, (description, on_exec), now);
                }
                true
            }
            FileOp::Pipe => {
                let reader = self.descriptions.len() as u32;
                for what in [What::Reader, What::Writer] {
                    self.descriptions.push(Description { count: 0, what });
                }
                for (fd, description) in [(row.fd, reader), (row.result, reader + 1)] {
                    self.put(process, fd, (description, on_exec), now);
                }
                true
            }
            _ => true,
        };
        if !is_shown {
            let track = track_number(TrackKind::Thread(row.thread), self.trace.cpus.len());
            self.out.leftovers.push((track, row.event.0));
        }
    }

    fn open(&mut self, process: ProcessId, row: &FileUse, now: Now) -> bool {
        if (0..MOST_DESCRIPTORS).contains(&row.fd) {
            let label = self.label(row.path);
            let own = &mut self.drafts[process.0 as usize];
            let draft = own.len() as u32;
            own.push(Draft {
                start: now.time.0,
                end: i64::MAX,
                is_unended: false,
                label,
                begin: now.event.0,
                finish: u32::MAX,
            });
            self.descriptions.push(Description {
                count: 0,
                what: What::File(process, draft),
            });
            let description = self.descriptions.len() as u32 - 1;
            let on_exec = OnExec::of_flags(row.flags);
            self.put(process, row.fd, (description, on_exec), now);
            return true;
        }
        false
    }

    fn label(&mut self, path: StringId) -> u32 {
        let at = path.0 as usize;
        if at >= self.labels.len() {
            self.labels.resize(at + 1, u32::MAX);
        }
        if let Some(&known) = self.labels.get(at).filter(|&&label| label != u32::MAX) {
            return known;
        }
        let label = LabelId(self.first_label + self.out.labels.len() as u32).0;
        self.out.labels.push(SliceLabel {
            name: path,
            category: self.names.category,
            family: ASYNC,
        });
        self.labels[at] = label;
        label
    }

    /// Descriptor `fd` of `process` is this from now on; what it was is closed.
    fn put(
        &mut self,
        process: ProcessId,
        fd: i32,
        (description, on_exec): (u32, OnExec),
        now: Now,
    ) {
        if !(0..MOST_DESCRIPTORS).contains(&fd) {
            return;
        }
        self.release(process, fd, now, Cause::Close);
        self.count_in(description, process, fd);
        self.tables[process.0 as usize].insert(fd, description, on_exec);
    }

    /// Descriptor `fd` of `process` is closed. Whether it was open.
    fn release(&mut self, process: ProcessId, fd: i32, now: Now, cause: Cause) -> bool {
        let description = self.tables[process.0 as usize].remove(fd);
        let left = description.and_then(|it| Some((it, self.count_out(it, process, fd)?)));
        let Some((description, (what, count))) = left else {
            return false;
        };
        match what {
            What::File(opener, draft) if count == 0 => {
                let own = self.drafts.get_mut(opener.0 as usize);
                if let Some(draft) = own.and_then(|own| own.get_mut(draft as usize)) {
                    draft.end = now.time.0.max(draft.start);
                    draft.finish = now.event.0;
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
        true
    }

    /// The lowest descriptor of a process that is this end of a pipe.
    fn has(&self, process: ProcessId, end: u32) -> Option<i32> {
        self.ends.get(&(process, end))?.first().copied()
    }

    /// `process` has let go of a descriptor of a pipe's writing end.
    fn wrote(&mut self, process: ProcessId, writer: u32, now: Now) {
        let reader = writer - 1;
        if self.has(process, writer).is_some() || self.has(process, reader).is_some() {
            return;
        }
        let Some(holders) = self.holders.get(&reader) else {
            return;
        };
        let parent = self.trace.processes[process.0 as usize].parent;
        let mut readers: Vec<ProcessId> = holders
            .iter()
            .copied()
            .filter(|&other| other != process && self.has(other, writer).is_none())
            .filter(|&other| match self.has(other, reader) {
                Some(fd) => fd == 0 || Some(other) == parent,
                None => false,
            })
            .collect();
        readers.sort_unstable();
        readers.dedup();
        for reader in readers.into_iter().take(MOST_READERS) {
            let waiting = self.waiting.entry(reader.0).or_default();
            if waiting.len() < MOST_HOLDERS && waiting.last() != Some(&now.event) {
                waiting.push(now.event);
            }
        }
    }

    /// `process` has let go of a descriptor of a pipe's reading end; whoever still writes to it wrote before.
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
                    key: u64::from(from.0),
                    from,
                    to: now.event,
                });
            }
        }
    }
}
