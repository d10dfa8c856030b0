//! Folds the summaries of the parts, in order, into the start of each part (line number, time, open calls by pid, owner
//! of lines without a pid) and the facts about the whole text.
//!
//! A fork whose result is in a later line is assigned to the line where the call began, because lines of the child may
//! be between both.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::clock::{Clock, TimeState};
use super::dialect::Dialect;
use super::forks::Fork;
use super::halves::{Half, Halves};
use super::head::{Caller, Head};
use super::namespaces::Namespaces;
use super::owners::Owners;
use super::summary::{InPart, Summary};
use crate::event::ThreadKey;

/// What a part needs from the parts before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartStart {
    /// Offset of its first byte in the text.
    pub place: u64,
    /// Number of its first line, counted from 1.
    pub first_line: u64,
    /// State of the clock before its first line.
    pub time: TimeState,
    /// Living pids; the most recent one is the last.
    pub owners: Owners,
    /// Open calls that this part continues or ends: the offset of the first line. [`Caller::Lone`] is [`Found::lone`].
    pub open: FxHashMap<Caller, u64>,
    /// Pids that ended before this part and appear again in it (MINIX).
    pub ended: FxHashSet<u32>,
    /// Caller of the call that the first line continues, because strace broke the line before it. [`Caller::Lone`] is
    /// [`Found::lone`].
    pub broken: Option<Caller>,
}

/// Facts about the whole text.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    /// The calls that created processes and threads, sorted by place. (MINIX: only those whose results are on later
    /// lines.)
    pub forks: Vec<Fork<i64>>,
    /// The children whose parents know them by other pids.
    pub namespaces: Namespaces,
    /// The lines that continue calls, and their calls.
    pub halves: Halves,
    /// The thread of lines without a pid before the first pid.
    pub lone: ThreadKey,
    /// Whether lines report exits (`+++ exited with 0 +++`): with `-qq` these lines are missing, but lines that report
    /// kills are not.
    pub has_ends: bool,
    /// Whether strace let threads go at their execve (`-b execve`).
    pub lets_go: bool,
    /// Threads that lines report as killed (`+++ killed by SIGKILL +++`).
    pub killed: FxHashSet<ThreadKey>,
    /// Whether the first process of the text is the program that strace started. (In a text of `-ff` it may be a child.)
    pub is_command: bool,
    /// Whether no line has a pid: then the text is about one thread, whose pid is in the file's name or unknown.
    pub is_of_one: bool,
    /// Leaders that another thread of the process replaced by execve: their pid continues after a call that never
    /// returned. Each with the offset of the last line that shows it.
    superseded: FxHashMap<ThreadKey, u64>,
    /// Number of lines.
    pub line_count: u64,
    /// Number of the line where the table of `strace -C` starts.
    pub table_line: Option<u64>,
    /// Offset that is added to the times of the file, in ns, or in lines if the text has no times.
    pub shift: i64,
}

impl Found {
    /// Returns the start time of a part, shifted relative to the other files of the recording.
    #[must_use]
    pub(crate) fn shifted(&self, time: TimeState, head: &Head) -> TimeState {
        match (head.clock, head.first_of_day()) {
            _ if self.shift <= 0 => time,
            (Clock::DaySeconds, Some(first)) => time.within_second(first, self.shift),
            (Clock::DaySeconds, None) => time,
            _ => time.moved(self.shift),
        }
    }

    /// Returns whether a call of a thread at this offset is one that a replaced leader was in.
    #[must_use]
    pub(crate) fn is_superseded_after(&self, thread: ThreadKey, place: u64) -> bool {
        self.superseded.get(&thread).is_some_and(|&at| place < at)
    }

    /// Returns the heap memory of the tables, in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let forks = self.forks.capacity() * size_of::<Fork<i64>>();
        let threads = self.superseded.capacity() + self.killed.capacity();
        self.halves.memory_bytes()
            + self.namespaces.memory_bytes()
            + forks as u64
            + threads as u64 * 8
    }
}

/// Facts about the parts so far.
#[derive(Debug)]
pub(super) struct State {
    /// The start of the next part, but with all open calls and all ended pids, which may be very many.
    now: PartStart,
    forks: Vec<Fork<i64>>,
    /// The offset of the first line of each pid.
    first_lines: FxHashMap<u32, u64>,
    /// Lines that continue calls: (offset of the line, offset of the call's first line).
    rests: Vec<Half>,
    /// Pids that strace attached to, and the pid of the first lines without one: that in [`Head::attached`], or the first
    /// that strace did not attach to.
    attached: FxHashSet<u32>,
    first_pid: Option<u32>,
    has_ends: bool,
    lets_go: bool,
    killed: FxHashSet<Caller>,
    superseded: FxHashMap<Caller, u64>,
    table_line: Option<u64>,
}

impl State {
    /// Returns the state before the first part.
    #[must_use]
    pub(super) fn new(head: &Head) -> State {
        State {
            now: PartStart {
                first_line: 1,
                time: head.start(),
                ..PartStart::default()
            },
            forks: Vec::new(),
            first_lines: FxHashMap::default(),
            rests: Vec::new(),
            attached: FxHashSet::default(),
            first_pid: head.attached,
            has_ends: false,
            lets_go: false,
            killed: FxHashSet::default(),
            superseded: FxHashMap::default(),
            table_line: None,
        }
    }

    /// Returns the offset of the first line of `caller`'s open call. Lines without a pid at the start of a part belong
    /// to the most recent pid before it.
    fn begun(&self, caller: Caller) -> Option<u64> {
        let open = &self.now.open;
        let found = open.get(&self.who(caller)).or_else(|| {
            let was_lone = self.first_pid.is_some() && self.first_pid == caller.pid();
            was_lone.then(|| open.get(&Caller::Lone)).flatten()
        });
        found.copied()
    }

    fn who(&self, caller: Caller) -> Caller {
        Caller::of(caller.pid().or(self.now.owners.last()))
    }

    /// Advances the state past the part at `place`, and returns the start of that part.
    pub(crate) fn pass(&mut self, head: &Head, place: u64, summary: Summary) -> PartStart {
        let clock = head.clock;
        let now = &self.now;
        let time = |at: InPart| match clock {
            Clock::Lines => now.first_line.saturating_add(at.line).cast_signed(),
            _ => now.time.after(clock, at.time).of_line(clock),
        };
        let forks = summary.forks.iter().map(|fork| Fork {
            place: fork.place,
            parent: self.who(fork.parent),
            child: fork.child,
            whole: fork.whole.map(time),
        });
        let forks: Vec<Fork<i64>> = forks.collect();
        self.forks.extend(forks);
        let table_line = summary.table_index;
        self.table_line =
            (self.table_line).or(table_line.map(|index| self.now.first_line.saturating_add(index)));
        for &(parent, child) in &summary.early_forks {
            if let Some(place) = self.begun(parent) {
                self.forks.push(Fork {
                    place,
                    parent: self.who(parent),
                    child,
                    whole: None,
                });
            }
        }
        for (&pid, &place) in &summary.first_lines {
            self.first_lines.entry(pid).or_insert(place);
        }
        self.rests.extend(&summary.rests);
        for &(caller, rest) in &summary.early_rests {
            let first = self.begun(caller);
            self.rests.extend(first.map(|first| Half { rest, first }));
        }
        let broken = self.now.broken.filter(|_| summary.begins_with_rest);
        let first = broken.and_then(|caller| self.begun(caller));
        self.rests
            .extend(first.map(|first| Half { rest: place, first }));

        // A part gets only the open calls that its lines need.
        let early = summary.early_rests.iter().map(|rest| rest.0);
        let asked = early.chain(summary.closed.iter().copied()).chain(broken);
        let asked = asked.map(|caller| self.who(caller)).chain([Caller::Lone]);
        let open = asked.filter_map(|caller| Some((caller, *self.now.open.get(&caller)?)));
        let ended = self.now.ended.intersection(&summary.banners);
        let start = PartStart {
            place,
            open: open.collect(),
            ended: ended.copied().collect(),
            owners: self.now.owners.clone(),
            ..self.now
        };
        self.move_behind(head, broken, summary);
        start
    }

    fn move_behind(&mut self, head: &Head, broken: Option<Caller>, summary: Summary) {
        for caller in summary.closed.iter().copied().chain(broken) {
            let who = self.who(caller);
            self.now.open.remove(&who);
        }
        if (self.first_pid).is_some_and(|pid| summary.closed.contains(&Caller::Pid(pid))) {
            self.now.open.remove(&Caller::Lone);
        }
        let begun = summary.open.into_iter();
        (self.now.open).extend(begun.map(|(caller, begun)| (caller, begun.place)));
        self.has_ends |= summary.has_ends;
        self.lets_go |= summary.lets_go;
        self.killed.extend(summary.killed);
        self.superseded.extend(summary.superseded);
        let now = &mut self.now;
        now.time = now.time.after(head.clock, summary.time);
        now.first_line += summary.lines;
        for pid in &summary.ended {
            now.owners.end(*pid);
        }
        for pid in summary.owners.in_order() {
            now.owners.hear(pid);
            now.ended.remove(&pid);
        }
        if head.dialect == Dialect::Minix {
            now.ended.extend(summary.ended);
        }
        now.broken = summary.broken;
        self.attached.extend(summary.attached);
        let first = summary.first_pid;
        self.first_pid = (self.first_pid).or(first.filter(|pid| !self.attached.contains(pid)));
    }

    /// Returns the facts about all parts. `own_pid` is called if no line has a pid.
    #[must_use]
    pub(crate) fn conclude(
        mut self,
        file_pid: Option<u32>,
        own_pid: impl FnOnce() -> Option<u32>,
    ) -> Found {
        let lone = Caller::of(file_pid.or(self.first_pid).or_else(own_pid)).key();
        self.forks
            .sort_unstable_by_key(|fork| (fork.place, fork.child));
        let namespaces = Namespaces::find(&self.forks, &self.first_lines, lone.0);
        for fork in &mut self.forks {
            fork.child = namespaces.child_at(fork.place).unwrap_or(fork.child);
        }
        let key = |caller: Caller| caller.pid().map_or(lone, ThreadKey);
        Found {
            forks: self.forks,
            namespaces,
            halves: Halves::new(self.rests),
            lone,
            has_ends: self.has_ends,
            lets_go: self.lets_go,
            killed: self.killed.into_iter().map(key).collect(),
            is_command: !self.attached.contains(&lone.0),
            is_of_one: self.first_pid.is_none(),
            superseded: self
                .superseded
                .into_iter()
                .map(|(caller, at)| (key(caller), at))
                .collect(),
            line_count: self.now.first_line - 1,
            table_line: self.table_line,
            shift: 0,
        }
    }
}
