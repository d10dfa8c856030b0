//! The pass at opening: what each part must know of the text before it, so that parts are read in parallel.
//!
//! Each part is looked through by itself (in parallel): its lines are counted, its times followed, calls
//! that are open at its end and pids that ended are noted. Then one walk over these summaries, in order,
//! gives every part its start: line number, time, open calls by pid, and who a line without pid is by.
//! Forks whose result comes in a later line are tied to the line where the call began, because the child's
//! lines can stand between.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::clock::{Clock, TimeState};
use super::halves::Halves;
use super::line::{Body, attached, call_name, classify, continues_call, is_cut_short, open_end};
use super::prefix::{Dialect, RawTime, TextLine, split_prefix};
use super::values::{outcome, split_call, split_duration};
use crate::base::lines::{cut_at_line_ends, lines};
use crate::base::{Job, ReadError};
use crate::event::ThreadKey;

/// The thread that lines without a pid are by, where no pid is known at all.
pub const LONE: ThreadKey = ThreadKey(u32::MAX - 1);

const PART_BYTES: usize = 2 << 20;
/// So many pids are remembered, at most, for lines that lack one; a text with more has a pid in every line.
const MOST_OWNERS: usize = 128;

/// A table of `strace -C` is shorter.
const MOST_SUMMARY: usize = 1 << 17;

/// What a part starts with.
#[derive(Clone, Debug, Default)]
pub struct PartStart {
    /// Its bytes.
    pub range: Range<usize>,
    /// Number of its first line, from 1.
    pub first_line: u64,
    /// Where time stands.
    pub time: TimeState,
    /// Who is alive, the last to be heard of last.
    pub owners: Owners,
    /// Open calls that lines of this part continue or end: where their first lines are.
    pub open: FxHashMap<u32, u64>,
    /// Pids that ended before and come again in this part (MINIX).
    pub ended: FxHashSet<u32>,
    /// Whose call goes on in the first line, because the tracer broke the line before.
    pub broken: Option<u32>,
}

/// A fork whose result stands in a later line than its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LateFork {
    /// Where the call's first line is.
    pub place: u64,
    /// The new pid.
    pub child: u32,
}

/// A fork that stands on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Birth {
    /// The new pid.
    pub child: u32,
    /// When the call began.
    pub time: i64,
}

/// What the pass found.
#[derive(Clone, Debug)]
pub struct Scan {
    /// Parts with their starts.
    pub parts: Vec<PartStart>,
    /// Forks of which the result came later, sorted by place.
    pub forks: Vec<LateFork>,
    /// The other forks, in the order of the text.
    pub births: Vec<Birth>,
    /// Which lines continue which calls.
    pub halves: Halves,
    /// What times are.
    pub clock: Clock,
    /// Who lines without a pid are by before any pid was read.
    pub lone: ThreadKey,
    /// The first time in the text.
    pub first_time: Option<RawTime>,
    /// Whether lines say that processes exited (`+++ exited with 0 +++`): `-qq` leaves those out (but not who was killed).
    pub has_ends: bool,
    /// Whether it is the text of one thread, which is known from elsewhere or not at all: no line says a pid.
    pub is_of_one: bool,
    /// Leaders in whose place another of their threads ran a program, and which so go on behind a call that never returned.
    pub superseded: FxHashSet<u32>,
    /// How many lines there are.
    pub line_count: u64,
    /// Where the table of `strace -C` begins that follows the calls.
    pub table_at: Option<u64>,
    /// On which line that is.
    pub table_line: Option<u64>,
}

impl Scan {
    /// The first time, without its day, where times are those of a day.
    #[must_use]
    pub fn first_of_day(&self) -> Option<i64> {
        match self.first_time? {
            RawTime::Day(ns, _) => Some(ns),
            _ => None,
        }
    }
}

/// Pids that are alive, and when they were heard of: a line without pid is by the one that was heard of last.
#[derive(Clone, Debug, Default)]
pub struct Owners {
    heard: FxHashMap<u32, u64>,
    count: u64,
    last: Option<u32>,
}

impl Owners {
    /// `pid` was heard of.
    #[inline]
    pub fn hear(&mut self, pid: u32) {
        if self.last == Some(pid) {
            return;
        }
        self.last = Some(pid);
        self.count += 1;
        self.heard.insert(pid, self.count);
        if self.heard.len() > MOST_OWNERS {
            self.forget_old();
        }
    }

    /// Keeps the half that was heard of last.
    #[cold]
    fn forget_old(&mut self) {
        let mut stamps: Vec<u64> = self.heard.values().copied().collect();
        let (_, middle, _) = stamps.select_nth_unstable(MOST_OWNERS / 2);
        let middle = *middle;
        self.heard.retain(|_, stamp| *stamp >= middle);
    }

    /// `pid` ended.
    pub fn end(&mut self, pid: u32) {
        self.heard.remove(&pid);
        if self.last == Some(pid) {
            let newest = self.heard.iter().max_by_key(|(_, stamp)| **stamp);
            self.last = newest.map(|(pid, _)| *pid);
        }
    }

    /// Who a line without pid is by.
    #[inline]
    #[must_use]
    pub fn last(&self) -> Option<u32> {
        self.last
    }

    /// All of them, the last to be heard of last.
    fn in_order(&self) -> Vec<u32> {
        let mut all: Vec<(u64, u32)> = self.heard.iter().map(|(pid, at)| (*at, *pid)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, pid)| pid).collect()
    }
}

/// What a part looks like from outside.
#[derive(Debug, Default)]
struct Summary {
    lines: u64,
    time: TimeState,
    owners: Owners,
    ended: FxHashSet<u32>,
    /// Pids for which a call was closed that had not been opened in this part.
    closed: FxHashSet<u32>,
    /// Lines that continue calls of this part, each with the place of the call's first line.
    rests: Vec<(u64, u64)>,
    /// Lines that continue calls of earlier parts, each with the pid (`LONE` where none is known in this part).
    early_rests: Vec<(u32, u64)>,
    open: FxHashMap<u32, Begun>,
    forks: Vec<LateFork>,
    /// Forks on one line: where time stood there, the line's index, the child.
    births: Vec<(TimeState, u64, u32)>,
    /// Whose call goes on in the next line.
    broken: Option<u32>,
    /// Whether lines say that processes exited.
    has_ends: bool,
    /// Leaders in whose place another thread ran a program.
    superseded: Vec<u32>,
    /// Forks of calls that were open before this part: (parent, child).
    early_forks: Vec<(u32, u32)>,
    /// Pids that begin here, as their banners say (MINIX).
    banners: FxHashSet<u32>,
    /// Pids that the tracer said it attached to, and the first pid that it did not.
    attached: FxHashSet<u32>,
    first_pid: Option<u32>,
}

/// Where and when a call began, by the part alone.
#[derive(Clone, Copy, Debug)]
struct Begun {
    place: u64,
    time: i64,
    is_fork: bool,
}

/// How long the call took that has this line for itself, so that nobody else's line was printed meanwhile.
#[must_use]
pub fn took_alone(line: &TextLine<'_>) -> Option<i64> {
    match line.body.first() {
        Some(b'<') => None,
        _ => split_duration(line.body).1,
    }
}

/// Whether a call makes processes or threads.
#[must_use]
#[inline]
pub fn is_fork(name: &[u8]) -> bool {
    matches!(
        name,
        b"fork" | b"vfork" | b"clone" | b"clone2" | b"clone3" | b"srv_fork"
    )
}

/// When a call ended by its `<seconds>`.
#[must_use]
pub fn end_of(begin: i64, text: &[u8]) -> Option<i64> {
    begin.checked_add(split_duration(text).1?)
}

/// The child of a fork that stands on one line.
fn whole_fork(line: &TextLine<'_>) -> Option<u32> {
    let (name, text) = call_name(line.body)?;
    let is_whole =
        is_fork(name) && line.said.is_none() && open_end(text, Dialect::Strace).is_none();
    if is_whole {
        fork_result(text, Dialect::Strace)
    } else {
        None
    }
}

/// The pid that a fork's last line returns.
#[must_use]
pub fn fork_result(text: &[u8], dialect: Dialect) -> Option<u32> {
    let result = split_call(text, dialect).result?;
    let value = outcome(result, dialect).value?;
    u32::try_from(value).ok().filter(|&pid| pid > 0)
}

/// Looks through all of `text`.
///
/// # Errors
/// If the job was cancelled.
pub fn scan(
    text: &[u8],
    dialect: Dialect,
    file_pid: Option<u32>,
    job: &Job,
) -> Result<Scan, ReadError> {
    let table_at = match dialect {
        Dialect::Strace => summary_at(text),
        Dialect::Minix => None,
    };
    let calls = table_at.and_then(|at| text.get(..at)).unwrap_or(text);
    let (clock, first_time) = find_clock(calls, dialect);
    let table_at = table_at.map(|at| at as u64);
    let ranges = cut_at_line_ends(text, (text.len() / PART_BYTES).max(1));
    let summaries: Vec<Summary> = ranges
        .par_iter()
        .map(|range| {
            job.check()?;
            Ok(summarize(
                text.get(range.clone()).unwrap_or(&[]),
                range.start as u64,
                table_at,
                dialect,
                clock,
            ))
        })
        .collect::<Result<_, ReadError>>()?;

    // What is open or ended by now: each part keeps only what its lines ask for, as there may be very many.
    let mut now = PartStart {
        first_line: 1,
        time: TimeState::at_start(clock, first_time),
        ..PartStart::default()
    };
    let mut parts = Vec::with_capacity(ranges.len());
    let mut forks = Vec::new();
    let mut attached = FxHashSet::default();
    let mut first_pid = None;
    let mut births = Vec::new();
    let mut has_ends = false;
    let mut superseded = FxHashSet::default();
    let mut rests = Vec::new();
    for (range, summary) in ranges.into_iter().zip(summaries) {
        births.extend(summary.births.iter().map(|&(state, index, child)| Birth {
            child,
            time: match clock {
                Clock::Lines => now.first_line.saturating_add(index).cast_signed(),
                _ => now.time.after(clock, state).of_line(clock),
            },
        }));
        let (first_line, time) = (now.first_line, now.time);
        now.time = now.time.after(clock, summary.time);
        now.first_line += summary.lines;
        // Lines without a pid at the start of a part belong to whoever was heard of last before it.
        let owner = now.owners.last();
        let who = |pid: u32| owner.filter(|_| pid == LONE.0).unwrap_or(pid);
        let begun = |pid: u32| {
            let open = &now.open;
            let found = open.get(&who(pid)).or_else(|| {
                let is_lone = first_pid == Some(pid);
                is_lone.then(|| open.get(&LONE.0)).flatten()
            });
            found.copied()
        };
        for (parent, child) in summary.early_forks {
            if let Some(place) = begun(parent) {
                forks.push(LateFork { place, child });
            }
        }
        rests.extend(summary.rests);
        for &(pid, rest) in &summary.early_rests {
            rests.extend(begun(pid).map(|first| (rest, first)));
        }
        let broken = now.broken.filter(|_| {
            let first = lines(text.get(range.clone()).unwrap_or(&[]), 1, 0).next();
            first.is_some_and(|line| continues_call(line.bytes))
        });
        if let Some(pid) = broken {
            rests.extend(begun(pid).map(|first| (range.start as u64, first)));
        }
        let early = summary.early_rests.iter().map(|rest| rest.0);
        let asked = early.chain(summary.closed.iter().copied()).chain(broken);
        let asked = asked.map(who).chain([LONE.0]);
        let open = asked.filter_map(|pid| Some((pid, *now.open.get(&pid)?)));
        parts.push(PartStart {
            range,
            first_line,
            time,
            owners: now.owners.clone(),
            open: open.collect(),
            ended: now.ended.intersection(&summary.banners).copied().collect(),
            broken: now.broken,
        });
        for pid in summary.closed.iter().copied().chain(broken) {
            now.open.remove(&who(pid));
        }
        if first_pid.is_some_and(|pid| summary.closed.contains(&pid)) {
            now.open.remove(&LONE.0);
        }
        let begun = summary.open.into_iter();
        now.open
            .extend(begun.map(|(pid, begun)| (pid, begun.place)));
        forks.extend(summary.forks);
        has_ends |= summary.has_ends;
        superseded.extend(summary.superseded);
        for pid in &summary.ended {
            now.owners.end(*pid);
        }
        for pid in summary.owners.in_order() {
            now.owners.hear(pid);
            now.ended.remove(&pid);
        }
        if dialect == Dialect::Minix {
            now.ended.extend(summary.ended);
        }
        now.broken = summary.broken;
        attached.extend(summary.attached);
        first_pid = first_pid.or(summary.first_pid.filter(|pid| !attached.contains(pid)));
    }
    forks.sort_unstable();
    let is_of_one = first_pid.is_none();
    let lone = file_pid
        .or(first_pid)
        .or_else(|| told_pid(calls, dialect))
        .map_or(LONE, ThreadKey);
    for part in &mut parts {
        part.broken = part
            .broken
            .map(|pid| if pid == LONE.0 { lone.0 } else { pid });
        if let Some(place) = part.open.remove(&LONE.0) {
            part.open.entry(lone.0).or_insert(place);
        }
    }
    Ok(Scan {
        parts,
        forks,
        births,
        halves: Halves::new(rests),
        has_ends,
        is_of_one,
        superseded,
        clock,
        lone,
        first_time,
        line_count: now.first_line - 1,
        table_at,
        table_line: table_at.map(|_| {
            let rows = lines(text.get(calls.len()..).unwrap_or(&[]), 1, 0).count() as u64;
            now.first_line.saturating_sub(rows)
        }),
    })
}

/// Where the table begins that `strace -C` prints behind the calls.
fn summary_at(text: &[u8]) -> Option<usize> {
    let near = text.len().saturating_sub(MOST_SUMMARY);
    let tail = text.get(near..)?;
    let dashes = memchr::memmem::rfind(tail, b"\n------ ")
        .or_else(|| memchr::memmem::rfind(tail, b"\n-----"))?;
    // The table ends in a row of dashes, too.
    let header = |dashes: usize| {
        let start = memchr::memrchr(b'\n', tail.get(..dashes)?)? + 1;
        super::sniff::is_summary(tail.get(start..)?).then_some(near + start)
    };
    let upper = memchr::memmem::rfind(tail.get(..dashes)?, b"\n-----");
    header(dashes).or_else(|| header(upper?))
}

/// The clock of the first line with a time, and that time.
fn find_clock(text: &[u8], dialect: Dialect) -> (Clock, Option<RawTime>) {
    let head = text.get(..1 << 16).unwrap_or(text);
    lines(head, 1, 0)
        .find_map(|line| split_prefix(line.bytes, dialect).time)
        .map_or((Clock::Lines, None), |time| (Clock::of(time), Some(time)))
}

/// The pid that a lone process says of itself near the start: `set_tid_address(0x..) = 15691`.
fn told_pid(text: &[u8], dialect: Dialect) -> Option<u32> {
    let head = text.get(..1 << 16).unwrap_or(text);
    lines(head, 1, 0).find_map(|line| {
        let line = split_prefix(line.bytes, dialect);
        match classify(&line, dialect) {
            Body::Call {
                name: b"set_tid_address" | b"getpid" | b"gettid",
                text,
                is_open: false,
            } if line.pid.is_none() => fork_result(text, dialect),
            _ => None,
        }
    })
}

fn summarize(
    text: &[u8],
    base: u64,
    table_at: Option<u64>,
    dialect: Dialect,
    clock: Clock,
) -> Summary {
    let mut summary = Summary::default();
    for line in lines(text, 0, base) {
        summary.lines += 1;
        if table_at.is_some_and(|at| line.offset >= at) {
            let _ = summary.time.advance(clock, None, line.number);
            continue;
        }
        let prefix = split_prefix(line.bytes, dialect);
        let time = summary.time.advance(clock, prefix.time, line.number);
        let index = summary.lines - 1;
        if dialect == Dialect::Strace
            && matches!(prefix.body.first(), Some(b'c' | b'f' | b'v'))
            && let Some(child) = whole_fork(&prefix)
        {
            summary.births.push((summary.time, index, child));
        }
        if clock == Clock::DaySeconds
            && let Some(ns) = took_alone(&prefix)
        {
            summary.time.took(clock, ns);
        }
        summary.take(&prefix, line.offset, time, dialect, clock);
    }
    summary
}

impl Summary {
    /// The open call of `pid` ends: where it began, if that was in this part.
    fn close(&mut self, pid: u32) -> Option<Begun> {
        let mut begin = self.open.remove(&pid);
        if begin.is_none() && self.first_pid == Some(pid) {
            // Before there were others its lines had no pid.
            begin = self.open.remove(&LONE.0);
        }
        if begin.is_none() {
            self.closed.insert(pid);
        }
        begin
    }

    /// The line at `rest` continues the open call of `pid`.
    fn continues(&mut self, pid: u32, rest: u64) {
        let begun = self.open.get(&pid).or_else(|| {
            let is_lone = self.first_pid == Some(pid);
            is_lone.then(|| self.open.get(&LONE.0)).flatten()
        });
        match begun {
            Some(begun) => self.rests.push((rest, begun.place)),
            // The first line that ends an earlier part's call is the last that can belong to it.
            None if !self.closed.contains(&pid) => self.early_rests.push((pid, rest)),
            None => {}
        }
    }

    /// The line after one that the tracer broke.
    fn broken_rest(&mut self, text: &[u8], owner: u32, place: u64, clock: Clock) {
        self.continues(owner, place);
        let begin = self.close(owner);
        if let Some(end) = begin.and_then(|begun| end_of(begun.time, text)) {
            let _ = self.time.reach(clock, end);
        }
        // Only forks are broken off by the news of their child: what another call returns is no child.
        let is_fork = begin.is_some_and(|begun| begun.is_fork);
        let child = fork_result(text, Dialect::Strace);
        let child = child.filter(|child| is_fork || self.attached.contains(child));
        match (begin, child) {
            (Some(Begun { place, .. }), Some(child)) => self.forks.push(LateFork { place, child }),
            (None, Some(child)) => self.early_forks.push((owner, child)),
            (_, None) => {}
        }
    }

    #[inline]
    fn take(&mut self, line: &TextLine<'_>, place: u64, time: i64, dialect: Dialect, clock: Clock) {
        if let Some(pid) = line.pid {
            if self.first_pid.is_none() && !self.attached.contains(&pid) {
                self.first_pid = Some(pid);
            }
            self.owners.hear(pid);
        }
        if let Some(owner) = self.broken.take()
            && line.pid.is_none()
            && line.time.is_none()
        {
            if let Some(pid) = attached(line.body) {
                // There is more news before the rest.
                self.attached.insert(pid);
                self.broken = Some(owner);
                return;
            }
            if continues_call(line.body) {
                return self.broken_rest(line.body, owner, place, clock);
            }
        }
        // Only lines of these forms matter here; the others need not be classified.
        let is_of_interest = match dialect {
            Dialect::Strace => {
                matches!(line.body.first(), Some(b'<' | b'+' | b's' | b'P'))
                    || line.body.ends_with(b" ...>")
                    || line.said.is_some()
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
                    is_open: true,
                    ..
                },
                pid,
            ) => {
                if let Some(said) = line.said {
                    self.attached.extend(attached(said));
                }
                if is_cut_short(line, dialect) {
                    self.broken = pid.or(Some(LONE.0));
                }
                let is_fork = is_fork(name);
                let begun = Begun {
                    place,
                    time,
                    is_fork,
                };
                self.open.insert(pid.unwrap_or(LONE.0), begun);
            }
            (Body::Rest { is_open: true, .. }, pid) => {
                self.continues(pid.unwrap_or(LONE.0), place);
            }
            (Body::Rest { name, text, .. }, pid) => {
                let pid = pid.unwrap_or(LONE.0);
                self.continues(pid, place);
                let begin = self.close(pid);
                if let Some(end) = begin.and_then(|begun| end_of(begun.time, text)) {
                    let _ = self.time.reach(clock, end);
                }
                if is_fork(name)
                    && let Some(child) = fork_result(text, dialect)
                {
                    match begin {
                        Some(Begun { place, .. }) => self.forks.push(LateFork { place, child }),
                        None => self.early_forks.push((pid, child)),
                    }
                }
            }
            (Body::Banner(_, pid), _) => {
                self.banners.insert(pid);
                self.owners.hear(pid);
                self.ended.remove(&pid);
                if self.first_pid.is_none() {
                    self.first_pid = Some(pid);
                }
            }
            (Body::Superseded(old), Some(pid)) => {
                self.owners.end(old);
                self.superseded.push(pid);
                match self.open.remove(&old) {
                    Some(begun) => {
                        self.open.insert(pid, begun);
                    }
                    None => {
                        self.closed.insert(old);
                    }
                }
            }
            (Body::Attached(pid), _) => {
                self.attached.insert(pid);
            }
            (end @ (Body::Exited(_) | Body::Killed(_)), pid) => {
                self.has_ends |= matches!(end, Body::Exited(_));
                let Some(pid) = pid else { return };
                self.owners.end(pid);
                self.ended.insert(pid);
                self.open.remove(&pid);
                self.closed.insert(pid);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_is_tied_to_where_its_call_began() {
        let text =
            b"1 clone(flags=0 <unfinished ...>\n2 getpid() = 2\n1 <... clone resumed>) = 2\n";
        let found = scan(text, Dialect::Strace, None, &Job::default()).unwrap();
        assert_eq!(found.forks, [LateFork { place: 0, child: 2 }]);
        assert_eq!(found.clock, Clock::Lines);
        assert_eq!(found.line_count, 3);
    }

    #[test]
    fn a_lone_process_says_who_it_is() {
        let text = b"brk(NULL) = 0x1\nset_tid_address(0x7f) = 777\n";
        let found = scan(text, Dialect::Strace, None, &Job::default()).unwrap();
        assert_eq!(found.lone, ThreadKey(777));
        let text = b"strace: Process 5 attached\n[pid     5] brk(NULL) = 1\n[pid 4] brk(0) = 1\n";
        let found = scan(text, Dialect::Strace, None, &Job::default()).unwrap();
        assert_eq!(found.lone, ThreadKey(4));
        let text = b"brk(NULL) = 0x1\n";
        let found = scan(text, Dialect::Strace, None, &Job::default()).unwrap();
        assert_eq!(found.lone, LONE);
    }
}
