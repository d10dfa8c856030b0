//! The bulk pass: reads the lines of one part and adds events, slices of calls, and rows of lives and files.
//!
//! A call on a single line is one slice: as long as its `<seconds>`, one line long if line numbers are the time, or of
//! unknown length if its duration is not printed. A call on several lines is a begin mark on its first line and an end
//! mark on its last, matched by thread and name, also across parts. The effects of a call (programs, files) are added
//! at its result, forks at its begin.

mod calls;
mod other;
mod pieces;

use rustc_hash::{FxHashMap, FxHashSet};

use super::acts;
use super::child_end::ChildEnd;
use super::clock::{Clock, TimeState};
use super::dialect::Dialect;
use super::durations::took_alone;
use super::fold::{Found, PartStart};
use super::head::{Caller, Head};
use super::line::{Body, attached, classify, continues_call, is_output};
use super::owners::Owners;
use super::prefix::{number, split_prefix};
use super::times::split_duration;
use super::values::unescape_octal;
use crate::base::lines::{Line, lines};
use crate::base::{Job, ReadError, StringId};
use crate::event::family::Family;
use crate::event::{
    Complete, DirectorySort, FileOp, FileRow, ForkSort, KindId, Label, LaneColumns, Life, LifeRow,
    LoneBegins, Role, ThreadKey, UNSEEN_END,
};
use crate::formats::kind_table::Kinds;

pub(crate) use pieces::{FirstHalf, first_half};

/// Category of calls.
pub(crate) const CALLS: &str = "syscalls";
/// Category of signals.
pub(crate) const SIGNALS: &str = "signal";
/// Category of starts and ends of processes.
pub(crate) const PROCESSES: &str = "process";
/// Category of unrecognised lines and of messages of the tracer.
pub(crate) const TEXT: &str = "text";

const CHECK_BYTES: u64 = 1 << 20;

/// Data shared by all parts.
pub(super) struct Source<'a> {
    /// The whole text.
    pub text: &'a [u8],
    /// The program that wrote it.
    pub dialect: Dialect,
    /// Facts from the head.
    pub head: &'a Head,
    /// The kinds of events.
    pub kinds: &'a Kinds,
}

impl Source<'_> {
    /// Returns whether the line before the offset `place` reports the end of a process without a pid.
    fn ends_before(&self, place: u64) -> bool {
        let before = usize::try_from(place)
            .ok()
            .and_then(|at| self.text.get(..at));
        let Some(before) = before.and_then(|text| text.strip_suffix(b"\n")) else {
            return false;
        };
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let text = before.get(start..).unwrap_or(before);
        let line = split_prefix(
            &Line {
                number: 0,
                offset: 0,
                bytes: text,
                has_end: true,
            },
            self.dialect,
        );
        self.dialect == Dialect::Strace
            && line.pid.is_none()
            && matches!(
                classify(&line, self.dialect),
                Body::Exited(_) | Body::Killed(_)
            )
    }
}

/// The kind of a call's events, and the label of its slices.
#[derive(Clone, Copy)]
pub(super) struct CallKind {
    pub(super) kind: KindId,
    pub(super) label: u32,
}

/// State while a part is read.
pub(crate) struct Emitter<'a> {
    /// Data shared by all parts.
    pub source: &'a Source<'a>,
    /// Facts about the whole text.
    pub found: &'a Found,
    /// The columns so far.
    pub out: LaneColumns,
    time: TimeState,
    owners: Owners,
    open: FxHashMap<u32, Begun>,
    ended: FxHashSet<u32>,
    /// Whether the text begins with this part.
    is_first: bool,
    /// Whether the text has one process and reported its end: what follows is another one (`strace -A`).
    lone_ended: bool,
    /// Pid of the call that the next line continues, because strace broke the line to print a message.
    broken: Option<u32>,
    /// Leaders that a thread has just replaced: the rest of its execve is printed with their pid.
    taken_over: FxHashMap<u32, calls::TakenOver>,
    /// For each thread, its last call without a duration: (index in the list, begin time).
    unmeasured: FxHashMap<u32, (usize, i64)>,
    /// Threads that belong to the process that strace attached to.
    claimed: FxHashSet<u32>,
    /// Children whose parents learnt of their ends in calls on a single line, which returned before the next call.
    reaped: FxHashMap<u32, ChildEnd>,
    /// The last known directory of each thread.
    places: FxHashMap<u32, StringId>,
    /// The threads that wrote through a descriptor since its number was last opened, copied or closed, by descriptor.
    wrote: FxHashMap<i32, FxHashSet<u32>>,
    /// Thread names by pid, as printed in lines.
    comms: FxHashMap<u32, &'a [u8]>,
    /// Kind and label of each call name that occurred.
    calls: FxHashMap<&'a [u8], CallKind>,
    others: FxHashMap<(&'static str, &'a [u8]), KindId>,
}

/// Begin of a call.
#[derive(Clone, Copy)]
struct Begun {
    place: u64,
    /// Time of the begin, if the begin is in this part.
    time: Option<i64>,
}

/// Reads one part with the text `text`.
///
/// # Errors
/// Errors if the job was cancelled.
pub(crate) fn emit<'a>(
    source: &'a Source<'a>,
    text: &'a [u8],
    part: &PartStart,
    found: &'a Found,
    job: &Job,
) -> Result<LaneColumns, ReadError> {
    let lone = found.lone.0;
    let mut open = part.open.clone();
    if let Some(place) = open.remove(&Caller::Lone) {
        open.entry(Caller::Pid(lone)).or_insert(place);
    }
    let pid_of = |caller: Caller| caller.pid().unwrap_or(lone);
    let begun = open
        .into_iter()
        .map(|(caller, place)| (pid_of(caller), Begun { place, time: None }));
    let mut emitter = Emitter {
        source,
        found,
        out: LaneColumns::new(0),
        time: found.shifted(part.time, source.head),
        owners: part.owners.clone(),
        open: begun.collect(),
        ended: part.ended.clone(),
        is_first: part.place == 0,
        lone_ended: source.ends_before(part.place),
        broken: part.broken.map(pid_of),
        taken_over: FxHashMap::default(),
        unmeasured: FxHashMap::default(),
        claimed: FxHashSet::default(),
        reaped: FxHashMap::default(),
        places: FxHashMap::default(),
        wrote: FxHashMap::default(),
        comms: FxHashMap::default(),
        calls: FxHashMap::default(),
        others: FxHashMap::default(),
    };
    let mut checked = part.place;
    for line in lines(text, part.first_line, part.place) {
        emitter.line(&line);
        if line.offset - checked >= CHECK_BYTES {
            job.check()?;
            job.advance(line.offset - checked);
            checked = line.offset;
        }
    }
    let end = part.place.saturating_add(text.len() as u64);
    job.advance(end.saturating_sub(checked));
    emitter.end_taken_over();
    emitter.out.lone_begins = LoneBegins::Open;
    Ok(emitter.out)
}

impl<'a> Emitter<'a> {
    fn line(&mut self, line: &Line<'a>) {
        let dialect = self.source.dialect;
        let table_at = self.source.head.table_at;
        if table_at.is_some_and(|at| line.offset >= at) {
            return self.table_row(line);
        }
        let prefix = split_prefix(line, dialect);
        let time = self
            .time
            .advance(self.source.head.clock, prefix.time, line.number);
        let clock = self.source.head.clock;
        if clock == Clock::DaySeconds
            && let Some(ns) = took_alone(&prefix)
        {
            self.time.took(clock, ns);
        }
        if let Some(pid) = prefix.pid {
            self.owners.hear(pid);
        }
        let pid = prefix.pid.or(self.owners.last());
        let thread = pid.map_or(self.found.lone, ThreadKey);
        if let Some(owner) = self.broken.take()
            && prefix.pid.is_none()
            && prefix.time.is_none()
        {
            if attached(prefix.body).is_some() {
                // Another message before the rest of the call.
                self.broken = Some(owner);
            } else if continues_call(prefix.body) {
                return self.broken_rest(line, time, ThreadKey(owner));
            } else if is_output(&prefix) {
                self.broken = Some(owner);
                let kind = self.kind(TEXT, b"output");
                self.out
                    .events
                    .push(time, line.offset, kind, ThreadKey(owner));
                return;
            }
        }
        let body = classify(&prefix, dialect);
        match body {
            Body::Call {
                name,
                text,
                is_open: true,
            } => self.call_begins(name, text, &prefix, line.offset, time, thread),
            Body::Call { name, text, .. } => self.whole_call(name, text, line.offset, time, thread),
            // A call ends only with its last line.
            Body::Rest {
                name,
                is_open: true,
                ..
            } => {
                let kind = self.call(name).kind;
                self.out.events.push(time, line.offset, kind, thread);
            }
            Body::Rest { name, text, .. } => self.call_ends(name, text, line.offset, time, thread),
            Body::Stack | Body::Empty => {}
            _ => self.other(body, &prefix, line, time, thread),
        }
        if let (Some(comm), Some(pid)) = (prefix.comm, prefix.pid)
            && self.comms.insert(pid, comm) != Some(comm)
        {
            self.comm(comm, thread);
        }
        if let (Some(leader), Some(pid)) = (self.source.head.group, prefix.pid)
            && leader != pid
            && self.claimed.insert(pid)
        {
            self.claim(thread, ThreadKey(leader));
        }
        if dialect == Dialect::Minix {
            self.inner_signals(&body, &prefix, line.offset, time, thread);
        }
    }

    /// Adds a row of the table after the calls as an event of no thread: the program may have ended.
    fn table_row(&mut self, line: &Line<'a>) {
        let time = self.time.advance(self.source.head.clock, None, line.number);
        if !line.bytes.trim_ascii().is_empty() {
            let kind = self.kind(TEXT, b"summary");
            self.out
                .events
                .push(time, line.offset, kind, None::<ThreadKey>);
        }
    }

    /// Adds the name of a thread that a line contains.
    fn comm(&mut self, comm: &'a [u8], thread: ThreadKey) {
        let Some(event) = (self.out.events.len() as u32).checked_sub(1) else {
            return;
        };
        let name = self.out.strings.intern(&unescape_octal(comm));
        self.out.lives.push(LifeRow {
            event,
            life: Life::Name { thread, name },
        });
    }

    /// Adds that `thread`, of which the last event is, belongs to the process of `leader`.
    fn claim(&mut self, thread: ThreadKey, leader: ThreadKey) {
        if let Some(event) = (self.out.events.len() as u32).checked_sub(1) {
            let life = Life::Claim { thread, leader };
            self.out.lives.push(LifeRow { event, life });
        }
    }

    /// Adds that the parent of a process learnt at `event` that it ended.
    pub(crate) fn reap(&mut self, event: u32, child: ChildEnd) {
        let life = Life::Reaped {
            thread: ThreadKey(child.pid),
            status: child.status,
            signal: child.signal,
        };
        self.out.lives.push(LifeRow { event, life });
    }

    /// Adds at the next call of `parent` that it learnt that a process ended.
    pub(crate) fn reap_later(&mut self, parent: ThreadKey, child: ChildEnd) {
        self.reaped.insert(parent.0, child);
    }

    /// Returns kind and label for a call's name.
    fn call(&mut self, name: &'a [u8]) -> CallKind {
        if let Some(&known) = self.calls.get(name) {
            return known;
        }
        let kind = self.source.kinds.intern(CALLS, name, Role::Consumed);
        let label = self.out.labels.len() as u32;
        let row = Label {
            family: Family::Syscalls,
            kind: Family::Syscalls.slice_kind(),
            name: self.out.strings.intern(name),
            category: self.out.strings.intern_text(CALLS),
            key: 0,
        };
        self.out.labels.push(row);
        let call = CallKind { kind, label };
        self.calls.insert(name, call);
        call
    }

    fn kind(&mut self, category: &'static str, name: &'a [u8]) -> KindId {
        let kinds = self.source.kinds;
        let name = name.get(..256).unwrap_or(name);
        *self
            .others
            .entry((category, name))
            .or_insert_with(|| kinds.intern(category, name, Role::Instant))
    }

    /// Returns the duration of a call on a single line, if it is printed (`strace -T`); one line if the text has no
    /// times.
    fn whole_duration(&self, text: &[u8]) -> Option<i64> {
        match self.source.head.clock {
            Clock::Lines => Some(1),
            _ => split_duration(text).1,
        }
    }

    /// Adds the slice of a call on a single line. If its duration is not printed, the slice is drawn up to the thread's
    /// next call, before which the call ended.
    fn slice(
        &mut self,
        event: u32,
        thread: ThreadKey,
        label: u32,
        time: i64,
        duration_ns: Option<i64>,
    ) {
        let complete = match duration_ns {
            Some(duration_ns) => Complete {
                event,
                label,
                duration_ns,
            },
            None => {
                self.unmeasured
                    .insert(thread.0, (self.out.completes.len(), time));
                Complete {
                    event,
                    label: label | UNSEEN_END,
                    duration_ns: 0,
                }
            }
        };
        self.out.completes.push(complete);
    }

    /// Notes that the next event begins a call of `thread`: the previous call ended before.
    fn next_call(&mut self, thread: ThreadKey, time: i64) {
        if let Some(child) = self.reaped.remove(&thread.0) {
            self.reap(self.out.events.len() as u32, child);
        }
        if self.lone_ended && thread == self.found.lone {
            self.lone_ended = false;
            let event = self.out.events.len() as u32;
            self.fork(event, None, thread.0, ForkSort::Process);
        }
        if let Some((at, began)) = self.unmeasured.remove(&thread.0)
            && let Some(complete) = self.out.completes.get_mut(at)
        {
            complete.duration_ns = time.saturating_sub(began).saturating_sub(1).max(0);
        }
    }

    /// Adds the forks whose call began on this line.
    fn late_forks(&mut self, event: u32, thread: ThreadKey, place: u64, text: &[u8]) {
        let forks = &self.found.forks;
        let first = forks.partition_point(|fork| fork.place < place);
        let here = forks.get(first..).unwrap_or(&[]);
        let here = here.iter().take_while(|fork| fork.place == place);
        for fork in here.filter(|fork| fork.whole.is_none()) {
            self.fork(event, Some(thread), fork.child, acts::fork_sort(text));
        }
    }

    /// Adds a fork: `parent` created `child`.
    pub(crate) fn fork(
        &mut self,
        event: u32,
        parent: Option<ThreadKey>,
        child: u32,
        sort: ForkSort,
    ) {
        self.ended.remove(&child);
        self.forget_writer(child);
        self.out.lives.push(LifeRow {
            event,
            life: Life::Fork {
                parent,
                child: ThreadKey(child),
                sort,
                name: StringId::EMPTY,
            },
        });
    }

    /// Notes that `event` is an exec. If it is the first of the text, strace started the process.
    pub(crate) fn begins_with(&mut self, event: u32, thread: ThreadKey) {
        let is_command = self.found.is_command && thread == self.found.lone;
        if self.source.dialect == Dialect::Strace && self.is_first && event == 0 && is_command {
            self.fork(event, None, thread.0, ForkSort::Process);
        }
    }

    /// Returns whether a write of `thread` through the descriptor at the start of `text` is already known.
    #[inline]
    pub(crate) fn is_known_writer(&self, thread: ThreadKey, text: &[u8]) -> bool {
        let fd = number(text).and_then(|(fd, _)| i32::try_from(fd).ok());
        let of_fd = fd.and_then(|fd| self.wrote.get(&fd));
        of_fd.is_some_and(|threads| threads.contains(&thread.0))
    }

    /// Adds an operation on a file; a write through a descriptor only once.
    pub(crate) fn file(&mut self, thread: ThreadKey, row: FileRow) {
        match row.op {
            FileOp::Write if !self.wrote.entry(row.fd).or_default().insert(thread.0) => return,
            FileOp::Write => {}
            FileOp::Open | FileOp::Close => _ = self.wrote.remove(&row.fd),
            FileOp::Dup => _ = self.wrote.remove(&row.result),
            FileOp::Pipe | FileOp::CloseRange => self.wrote.clear(),
            _ => {}
        }
        self.out.files.push(row);
    }

    /// Forgets the descriptors of a thread that ended, or whose number another thread has from now on.
    fn forget_writer(&mut self, pid: u32) {
        for threads in self.wrote.values_mut() {
            threads.remove(&pid);
        }
    }

    /// Adds the directory of `thread`, from now on or since an unknown time.
    pub(crate) fn is_in(
        &mut self,
        event: u32,
        thread: ThreadKey,
        path: &[u8],
        sort: DirectorySort,
    ) {
        let directory = self.out.strings.intern(path);
        // A repeated absolute path is not added again.
        let is_known = self.places.insert(thread.0, directory) == Some(directory);
        if !(is_known && path.starts_with(b"/")) {
            self.out.lives.push(LifeRow {
                event,
                life: Life::Directory {
                    thread,
                    directory,
                    sort,
                },
            });
        }
    }

    /// Adds the end of `thread`.
    pub(super) fn end(
        &mut self,
        event: u32,
        thread: ThreadKey,
        status: Option<i32>,
        signal: Option<i32>,
    ) {
        self.owners.end(thread.0);
        self.forget_writer(thread.0);
        match self.source.dialect {
            Dialect::Minix => _ = self.ended.insert(thread.0),
            Dialect::Strace => self.lone_ended |= thread == self.found.lone,
        }
        self.open.remove(&thread.0);
        self.out.lives.push(LifeRow {
            event,
            life: Life::Exit {
                thread,
                status,
                signal,
                is_last: None,
            },
        });
    }
}
