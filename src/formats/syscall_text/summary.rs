//! Summarises a part without the parts before it: counts its lines, follows its times, and collects the calls that are
//! open at its end and the pids that ended.

use rustc_hash::{FxHashMap, FxHashSet};

use super::clock::{Clock, TimeState};
use super::dialect::Dialect;
use super::durations::{end_of, took_alone};
use super::forks::{Fork, fork_result, is_fork, whole_fork};
use super::halves::Half;
use super::head::{Caller, Head};
use super::line::{
    Banner, Body, attached, classify, continues_call, is_cut_short, is_let_go, is_output,
};
use super::owners::Owners;
use super::prefix::{TextLine, split_prefix};
use crate::base::lines::lines;
use crate::base::{Job, ReadError};

const CHECK_BYTES: u64 = 1 << 20;

/// Summary of a part.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// Number of lines.
    pub lines: u64,
    /// State of the clock after the part, if it starts from an empty state.
    pub time: TimeState,
    /// Pids alive at the end of the part.
    pub owners: Owners,
    /// Pids that ended in the part.
    pub ended: FxHashSet<u32>,
    /// Callers whose call ended in this part but began in an earlier one.
    pub closed: FxHashSet<Caller>,
    /// Lines that continue calls of this part: (place of the line, place of the call's first line).
    pub rests: Vec<Half>,
    /// Lines that continue calls of earlier parts: (caller, place).
    pub early_rests: Vec<(Caller, u64)>,
    /// Calls that are open at the end of the part.
    pub open: FxHashMap<Caller, Begun>,
    /// Forks whose lines are all in this part.
    pub forks: Vec<Fork<InPart>>,
    /// The offset of the first line of each pid (strace).
    pub first_lines: FxHashMap<u32, u64>,
    /// Caller of the call that the next part's first line continues.
    pub broken: Option<Caller>,
    /// Whether lines report exits.
    pub has_ends: bool,
    /// Whether strace let a thread go at its execve.
    pub lets_go: bool,
    /// Callers that lines report as killed.
    pub killed: FxHashSet<Caller>,
    /// Leaders that another thread replaced by execve, each with the offset of the line that shows it.
    pub superseded: Vec<(Caller, u64)>,
    /// Forks of calls that began before this part: (parent, child).
    pub early_forks: Vec<(Caller, u32)>,
    /// Pids that start in this part with a banner (MINIX).
    pub banners: FxHashSet<u32>,
    /// Pids that strace attached to, and the pid of the text's first lines: see `State::first_pid`.
    pub attached: FxHashSet<u32>,
    pub first_pid: Option<u32>,
    /// Whether the first line may continue a call whose line strace broke.
    pub begins_with_rest: bool,
    /// Number of lines before the table of `strace -C`, if the table starts in this part.
    pub table_index: Option<u64>,
}

/// The facts about a call's begin that the part contains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    /// Offset of its first line.
    pub place: u64,
    time: i64,
    is_fork: bool,
}

/// The time of a line, as far as the part contains it.
#[derive(Clone, Copy, Debug)]
pub(super) struct InPart {
    /// State of the clock.
    pub time: TimeState,
    /// Index of the line in the part.
    pub line: u64,
}

/// Summarises the part `text`, which starts at offset `base`.
///
/// # Errors
/// Errors if the job was cancelled.
pub(crate) fn summarise(
    text: &[u8],
    base: u64,
    head: &Head,
    job: &Job,
) -> Result<Summary, ReadError> {
    let mut summary = Summary {
        first_pid: head.attached,
        ..Summary::default()
    };
    let (dialect, clock) = (head.dialect, head.clock);
    let first = lines(text, 0, base).next();
    summary.begins_with_rest = first.is_some_and(|line| continues_call(line.bytes));
    let mut checked = base;
    for line in lines(text, 0, base) {
        if line.offset - checked >= CHECK_BYTES {
            job.check()?;
            checked = line.offset;
        }
        let index = summary.lines;
        summary.lines += 1;
        if head.table_at.is_some_and(|at| line.offset >= at) {
            summary.table_index.get_or_insert(index);
            let _ = summary.time.advance(clock, None, line.number);
            continue;
        }
        let prefix = split_prefix(&line, dialect);
        let time = summary.time.advance(clock, prefix.time, line.number);
        if dialect == Dialect::Strace
            && matches!(prefix.body.first(), Some(b'c' | b'f' | b'v'))
            && let Some(child) = whole_fork(&prefix)
        {
            summary.forks.push(Fork {
                place: line.offset,
                parent: Caller::of(prefix.pid.or(summary.owners.last())),
                child,
                whole: Some(InPart {
                    time: summary.time,
                    line: index,
                }),
            });
        }
        if clock == Clock::DaySeconds
            && let Some(ns) = took_alone(&prefix)
        {
            summary.time.took(clock, ns);
        }
        summary.take(&prefix, line.offset, time, dialect, clock);
    }
    Ok(summary)
}

impl Summary {
    /// Ends the open call of `caller`. Returns its begin, if that is in this part.
    fn close(&mut self, caller: Caller) -> Option<Begun> {
        let mut begin = self.open.remove(&caller);
        if begin.is_none() && self.was_lone(caller) {
            begin = self.open.remove(&Caller::Lone);
        }
        if begin.is_none() {
            self.closed.insert(caller);
        }
        begin
    }

    /// Returns whether earlier lines of a caller may have no pid: while it was the only process.
    fn was_lone(&self, caller: Caller) -> bool {
        self.first_pid.is_some() && self.first_pid == caller.pid()
    }

    /// Notes that the line at `rest` continues the open call of `caller`.
    fn continues(&mut self, caller: Caller, rest: u64) {
        let begun = self.open.get(&caller).or_else(|| {
            let was_lone = self.was_lone(caller);
            was_lone.then(|| self.open.get(&Caller::Lone)).flatten()
        });
        match begun {
            Some(begun) => self.rests.push(Half {
                rest,
                first: begun.place,
            }),
            // After the first line that ends a call of an earlier part, no line can belong to that call.
            None if !self.closed.contains(&caller) => self.early_rests.push((caller, rest)),
            None => {}
        }
    }

    /// Reads the line after a line that strace broke.
    fn broken_rest(&mut self, text: &[u8], owner: Caller, place: u64, clock: Clock) {
        self.continues(owner, place);
        let begin = self.close(owner);
        if let Some(end) = begin.and_then(|begun| end_of(begun.time, text)) {
            let _ = self.time.reach(clock, end);
        }
        // Only a fork is interrupted by the message about its child: the result of any other call is not a child.
        let is_fork = begin.is_some_and(|begun| begun.is_fork);
        let child = fork_result(text, Dialect::Strace);
        let child = child.filter(|child| is_fork || self.attached.contains(child));
        if let Some(child) = child {
            self.late_fork(owner, begin, child);
        }
    }

    /// Adds a fork of the call that began at `begin`, or in an earlier part.
    fn late_fork(&mut self, parent: Caller, begin: Option<Begun>, child: u32) {
        let Some(Begun { place, .. }) = begin else {
            return self.early_forks.push((parent, child));
        };
        self.forks.push(Fork {
            place,
            parent,
            child,
            whole: None,
        });
    }

    #[inline]
    fn take(&mut self, line: &TextLine<'_>, place: u64, time: i64, dialect: Dialect, clock: Clock) {
        if let Some(pid) = line.pid {
            if self.first_pid.is_none() && !self.attached.contains(&pid) {
                self.first_pid = Some(pid);
            }
            if dialect == Dialect::Strace && self.owners.last() != Some(pid) {
                self.first_lines.entry(pid).or_insert(place);
            }
            self.owners.hear(pid);
        }
        if let Some(owner) = self.broken.take()
            && line.pid.is_none()
            && line.time.is_none()
        {
            if let Some(pid) = attached(line.body) {
                // Another message before the rest of the call.
                self.attached.insert(pid);
                self.broken = Some(owner);
                return;
            }
            if continues_call(line.body) {
                return self.broken_rest(line.body, owner, place, clock);
            }
            if is_output(line) {
                self.broken = Some(owner);
                return;
            }
        }
        // Only lines of these forms are needed; other lines are not classified, to save time.
        let is_of_interest = match dialect {
            Dialect::Strace => {
                matches!(line.body.first(), Some(b'<' | b'+' | b's' | b'P'))
                    || line.body.ends_with(b" ...>")
                    || line.message.is_some()
            }
            Dialect::Minix => {
                line.is_replay
                    || line.body.last() == Some(&b'>')
                    || line.body.first().is_some_and(u8::is_ascii_uppercase)
            }
        };
        if !is_of_interest {
            return;
        }
        let pid = line.pid.or(self.owners.last());
        match (classify(line, dialect), pid) {
            (
                Body::Call {
                    name,
                    text,
                    is_open: true,
                },
                pid,
            ) => {
                self.lets_go |= is_let_go(name, text);
                if let Some(message) = line.message {
                    self.attached.extend(attached(message));
                }
                if is_cut_short(line, dialect) {
                    self.broken = Some(Caller::of(pid));
                }
                let is_fork = is_fork(name);
                let begun = Begun {
                    place,
                    time,
                    is_fork,
                };
                self.open.insert(Caller::of(pid), begun);
            }
            (Body::Rest { is_open: true, .. }, pid) => {
                self.continues(Caller::of(pid), place);
            }
            (Body::Rest { name, text, .. }, pid) => {
                let caller = Caller::of(pid);
                self.continues(caller, place);
                let begin = self.close(caller);
                if let Some(end) = begin.and_then(|begun| end_of(begun.time, text)) {
                    let _ = self.time.reach(clock, end);
                }
                if is_fork(name)
                    && let Some(child) = fork_result(text, dialect)
                {
                    self.late_fork(caller, begin, child);
                }
            }
            (Body::Banner(Banner { pid, .. }), _) => {
                self.banners.insert(pid);
                self.owners.hear(pid);
                self.ended.remove(&pid);
                if self.first_pid.is_none() {
                    self.first_pid = Some(pid);
                }
            }
            // In a file of its own the leader has no pid: the call is in the thread's file.
            (Body::Superseded(_), None) => self.superseded.push((Caller::Lone, place)),
            (Body::Superseded(old), Some(pid)) => {
                self.owners.end(old);
                self.superseded.push((Caller::Pid(pid), place));
                match self.open.remove(&Caller::Pid(old)) {
                    Some(begun) => {
                        self.open.insert(Caller::Pid(pid), begun);
                    }
                    None => {
                        self.closed.insert(Caller::Pid(old));
                    }
                }
            }
            (Body::Attached(pid), _) => {
                self.attached.insert(pid);
            }
            (end @ (Body::Exited(_) | Body::Killed(_)), pid) => {
                match end {
                    Body::Killed(_) => _ = self.killed.insert(Caller::of(pid)),
                    _ => self.has_ends = true,
                }
                let Some(pid) = pid else { return };
                self.owners.end(pid);
                self.ended.insert(pid);
                self.open.remove(&Caller::Pid(pid));
                self.closed.insert(Caller::Pid(pid));
            }
            _ => {}
        }
    }
}
