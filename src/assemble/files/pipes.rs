//! Arrows from the writers of pipes to their readers.
//!
//! An arrow goes from the moment a process releases a pipe that it wrote to, to the next action of the pipe's reader:
//! the end of what was sent. If the reader releases it first, the arrow goes from the writer's latest action to that
//! moment. A writer has no reading end of the pipe, and had it as standard output or error, or kept it until its exit.
//! A reader has no writing end, and has the pipe as standard input. It may take the pipe only after its writer is gone
//! (`echo hi | cat`). If nobody does, and the writer's parent has the last reading end, the parent is the reader
//! (`x=$(echo hi)`). (A pool of tokens, of which all processes have both ends, is not a stream of data.)

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::super::link::Link;
use crate::base::StringId;
use crate::event::FlowKind;
use crate::trace::{EventId, ProcessId};

const MOST_HOLDERS: usize = 64;
const MOST_READERS: usize = 8;

/// A pipe, by the number of its reading end among the descriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Pipe(pub u32);

/// An end of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum End {
    Reader(Pipe),
    Writer(Pipe),
}

/// Why a descriptor is released.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// The descriptor was closed or replaced.
    Close,
    /// Its process exited.
    Exit,
}

/// A process released a descriptor of an end of a pipe.
#[derive(Clone, Copy)]
pub(super) struct Release {
    pub process: ProcessId,
    /// The parent of the process.
    pub parent: Option<ProcessId>,
    pub fd: i32,
    pub cause: Cause,
    pub event: EventId,
}

/// A writer has released a pipe.
#[derive(Clone, Copy)]
struct Sent {
    from: EventId,
    /// The writer's parent, if it has a reading end.
    parent: Option<ProcessId>,
    /// The parent's first action since then.
    next: Option<EventId>,
    /// Whether the parent also has a writing end, which it does not close with its first action: then it is no reader.
    is_writer_too: bool,
}

/// The pipes of all processes.
pub(super) struct Pipes {
    /// The name of the arrows.
    name: StringId,
    arrows: Vec<Link>,
    /// The descriptors of a process that refer to an end of a pipe.
    ends: FxHashMap<(ProcessId, End), BTreeSet<i32>>,
    /// The processes that ever had an end of a pipe.
    holders: FxHashMap<Pipe, Vec<ProcessId>>,
    /// The latest action of each process.
    latest: Vec<Option<EventId>>,
    /// Sources of arrows that end at the next action of a process.
    waiting: FxHashMap<ProcessId, Vec<EventId>>,
    /// What was sent through a pipe whose reader is not known yet.
    sent: FxHashMap<Pipe, Vec<Sent>>,
    /// Pipes in `sent` whose writer had this process as its parent, and the parent has not acted since.
    sent_to_parents: FxHashMap<ProcessId, Vec<Pipe>>,
}

impl Pipes {
    /// Returns no pipes, of processes with numbers below `process_count`. `name` is the name of the arrows.
    pub(super) fn new(name: StringId, process_count: usize) -> Pipes {
        Pipes {
            name,
            arrows: Vec::new(),
            ends: FxHashMap::default(),
            holders: FxHashMap::default(),
            latest: vec![None; process_count],
            waiting: FxHashMap::default(),
            sent: FxHashMap::default(),
            sent_to_parents: FxHashMap::default(),
        }
    }

    /// Ends the arrows that waited for this action of `process`.
    pub(crate) fn arrive(&mut self, process: ProcessId, event: EventId) {
        if let Some(latest) = self.latest.get_mut(process.0 as usize) {
            *latest = Some(event);
        }
        if !self.sent_to_parents.is_empty() {
            for pipe in self.sent_to_parents.remove(&process).unwrap_or_default() {
                for sent in self.sent.get_mut(&pipe).into_iter().flatten() {
                    if sent.parent == Some(process) {
                        sent.next = sent.next.or(Some(event));
                    }
                }
            }
        }
        if !self.waiting.is_empty() {
            for from in self.waiting.remove(&process).unwrap_or_default() {
                self.link(from, event);
            }
        }
    }

    /// Adds a descriptor of a process.
    pub(super) fn take(&mut self, process: ProcessId, end: End, fd: i32) {
        self.ends.entry((process, end)).or_default().insert(fd);
        let (End::Reader(pipe) | End::Writer(pipe)) = end;
        let holders = self.holders.entry(pipe).or_default();
        if holders.len() < MOST_HOLDERS && holders.last() != Some(&process) {
            holders.push(process);
        }
    }

    /// Removes a descriptor of a process, without the arrows that its release means.
    pub(crate) fn lose(&mut self, process: ProcessId, end: End, fd: i32) {
        if let Entry::Occupied(mut fds) = self.ends.entry((process, end)) {
            fds.get_mut().remove(&fd);
            if fds.get().is_empty() {
                fds.remove();
            }
        }
    }

    /// Begins and ends the arrows that the release of a descriptor means, after it was lost.
    pub(super) fn release(&mut self, end: End, release: Release) {
        let Release { fd, cause, .. } = release;
        match end {
            End::Writer(pipe) if cause == Cause::Exit || fd == 1 || fd == 2 => {
                self.wrote(pipe, release);
            }
            End::Reader(pipe) if cause == Cause::Exit || fd == 0 => self.has_read(pipe, release),
            End::Reader(_) | End::Writer(_) => {}
        }
        if self.sent.is_empty() {
            return;
        }
        match end {
            End::Writer(pipe) => {
                let Release { process, event, .. } = release;
                for sent in self.sent.get_mut(&pipe).into_iter().flatten() {
                    let is_at_once = sent.parent == Some(process) && sent.next == Some(event);
                    sent.is_writer_too &= !is_at_once;
                }
                self.take_sent(process, pipe);
            }
            End::Reader(pipe) => self.give_to_parent(pipe),
        }
    }

    /// Gives what was sent through a pipe before to a process that has the pipe as standard input, and no writing end.
    pub(crate) fn take_sent(&mut self, process: ProcessId, pipe: Pipe) {
        let is_reader = self.has(process, End::Reader(pipe)) == Some(0)
            && self.has(process, End::Writer(pipe)).is_none();
        if !self.sent.is_empty() && is_reader {
            for sent in self.sent.remove(&pipe).unwrap_or_default() {
                self.send(sent.from, process);
            }
        }
    }

    /// Returns all arrows. What was sent through pipes that are open at the end of the trace is the writers' parents', if
    /// they alone can read it.
    pub(crate) fn into_arrows(mut self) -> Vec<Link> {
        let mut rest: Vec<(Pipe, Vec<Sent>)> = self.sent.drain().collect();
        rest.sort_unstable_by_key(|(pipe, _)| *pipe);
        for (pipe, all) in rest {
            for sent in all {
                let can_read = |process: ProcessId| self.has(process, End::Reader(pipe)).is_some();
                let mut reading = self.holders(pipe).iter().filter(|&&it| can_read(it));
                let is_alone = reading.all(|&it| Some(it) == sent.parent);
                let parent = sent.parent.filter(|&it| can_read(it));
                let parent = parent.filter(|_| !sent.is_writer_too);
                if let (Some(_), true, Some(next)) = (parent, is_alone, sent.next) {
                    self.link(sent.from, next);
                }
            }
        }
        self.arrows
    }

    fn link(&mut self, from: EventId, to: EventId) {
        self.arrows.push(Link {
            name: self.name,
            kind: FlowKind::Pipe,
            key: u64::from(from.0),
            from,
            to,
        });
    }

    /// Returns the processes that ever had an end of a pipe.
    fn holders(&self, pipe: Pipe) -> &[ProcessId] {
        self.holders.get(&pipe).map_or(&[], Vec::as_slice)
    }

    /// Returns the lowest descriptor of a process that refers to this end of a pipe.
    fn has(&self, process: ProcessId, end: End) -> Option<i32> {
        self.ends.get(&(process, end))?.first().copied()
    }

    /// Returns whether a process has an end of a pipe.
    fn has_any(&self, process: ProcessId, pipe: Pipe) -> bool {
        let has = |end| self.has(process, end).is_some();
        has(End::Reader(pipe)) || has(End::Writer(pipe))
    }

    /// Ends arrows at the next action of `reader`, which has a pipe as standard input.
    fn send(&mut self, from: EventId, reader: ProcessId) {
        let waiting = self.waiting.entry(reader).or_default();
        if waiting.len() < MOST_HOLDERS && waiting.last() != Some(&from) {
            waiting.push(from);
        }
    }

    /// Gives what was sent through a pipe to the writer's parent, if no process can read it any more and the parent could.
    fn give_to_parent(&mut self, pipe: Pipe) {
        let can_read = |other: &ProcessId| self.has(*other, End::Reader(pipe)).is_some();
        if self.holders(pipe).iter().any(can_read) {
            return;
        }
        for sent in self.sent.remove(&pipe).unwrap_or_default() {
            let is_reader = sent.parent.is_some() && !sent.is_writer_too;
            if let Some(next) = sent.next.filter(|_| is_reader) {
                self.link(sent.from, next);
            }
        }
    }

    /// Returns the processes other than `process` that have one end of a pipe and not the other end, sorted; only those
    /// whose lowest descriptor of it is one of the standard ones.
    fn others_with(&self, process: ProcessId, pipe: Pipe, end: End) -> Vec<ProcessId> {
        let (other_end, standard) = match end {
            End::Reader(_) => (End::Writer(pipe), 0..=0),
            End::Writer(_) => (End::Reader(pipe), 1..=2),
        };
        let others = self.holders(pipe).iter().copied();
        let mut others: Vec<ProcessId> = others
            .filter(|&other| other != process && self.has(other, other_end).is_none())
            .filter(|&other| {
                self.has(other, end)
                    .is_some_and(|fd| standard.contains(&fd))
            })
            .collect();
        others.sort_unstable();
        others.dedup();
        others
    }

    /// Begins arrows if a process has released its last descriptor of a pipe's writing end.
    fn wrote(&mut self, pipe: Pipe, release: Release) {
        if self.has_any(release.process, pipe) || self.holders(pipe).is_empty() {
            return;
        }
        let readers = self.others_with(release.process, pipe, End::Reader(pipe));
        if readers.is_empty() {
            return self.keep_sent(pipe, release);
        }
        for reader in readers.into_iter().take(MOST_READERS) {
            self.send(release.event, reader);
        }
    }

    /// Notes that a process has released a pipe that has no reader yet.
    fn keep_sent(&mut self, pipe: Pipe, release: Release) {
        let parent = release.parent;
        let parent = parent.filter(|&parent| self.has(parent, End::Reader(pipe)).is_some());
        let is_writer_too = parent.is_some_and(|it| self.has(it, End::Writer(pipe)).is_some());
        let kept = self.sent.entry(pipe).or_default();
        if kept.len() >= MOST_HOLDERS {
            return;
        }
        kept.push(Sent {
            from: release.event,
            parent,
            next: None,
            is_writer_too,
        });
        if let Some(parent) = parent {
            let pipes = self.sent_to_parents.entry(parent).or_default();
            if pipes.last() != Some(&pipe) {
                pipes.push(pipe);
            }
        }
    }

    /// Adds arrows if a process has released its last descriptor of a pipe's reading end: from the latest action of each
    /// process that can still write to the pipe.
    fn has_read(&mut self, pipe: Pipe, release: Release) {
        if self.has_any(release.process, pipe) {
            return;
        }
        let writers = self.others_with(release.process, pipe, End::Writer(pipe));
        for other in writers.into_iter().take(MOST_READERS) {
            if let Some(Some(from)) = self.latest.get(other.0 as usize).copied() {
                self.link(from, release.event);
            }
        }
    }
}
