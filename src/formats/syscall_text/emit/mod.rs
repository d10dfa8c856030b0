//! The bulk pass: the lines of one part become events, slices of calls, lives and files.
//!
//! A call on one line arrives whole: as long as its `<seconds>`, or one line where lines are the time, or of
//! no length where its length was not recorded. A call on several lines is a begin on its first line and
//! an end on its last; they find each other by thread and name, also across parts. What a call did
//! (forks, programs, files) is said where its result stands, forks where the call began.

mod calls;
mod other;
mod pieces;

use rustc_hash::{FxHashMap, FxHashSet};

use super::acts;
use super::clock::{Clock, TimeState};
use super::line::{Body, attached, classify, continues_call};
use super::prefix::{Dialect, split_prefix};
use super::scan::{LateFork, Owners, PartStart, Scan, took_alone};
use super::values::split_duration;
use crate::base::lines::{Line, lines};
use crate::base::{Job, ReadError, StringId};
use crate::event::pairs::SYSCALLS;
use crate::event::{
    Complete, DirectorySort, ForkSort, KindId, Label, LaneColumns, Life, LifeRow, LoneBegins, Role,
    ThreadKey, UNSEEN_END,
};
use crate::formats::text_kinds::Kinds;

pub use pieces::{FirstHalf, first_half};

/// Category of calls.
pub const CALLS: &str = "syscalls";
/// Category of signals.
pub const SIGNALS: &str = "signal";
/// Category of beginnings and ends of processes.
pub const PROCESSES: &str = "process";
/// Category of lines that are not understood, and of what the tracer says.
pub const TEXT: &str = "text";

const CHECK_BYTES: u64 = 1 << 20;

/// What all parts share.
pub struct Source<'a> {
    /// The whole text.
    pub text: &'a [u8],
    /// Whose it is.
    pub dialect: Dialect,
    /// What opening found.
    pub scan: &'a Scan,
    /// The kinds.
    pub kinds: &'a Kinds,
}

/// State while a part is read.
pub struct Emitter<'a> {
    /// What all parts share.
    pub source: &'a Source<'a>,
    /// What was read so far.
    pub out: LaneColumns,
    time: TimeState,
    owners: Owners,
    open: FxHashMap<u32, Begun>,
    ended: FxHashSet<u32>,
    /// Whose call goes on in the next line, which the tracer broke to say something else.
    broken: Option<u32>,
    /// Leaders whose place a thread has just taken: the rest of its execve comes under their pid.
    taken_over: FxHashMap<u32, calls::TakenOver>,
    /// By thread, the last call of which only the begin is known: its place in the list, and when it began.
    unmeasured: FxHashMap<u32, (usize, i64)>,
    /// Where lines said that threads are.
    places: FxHashMap<u32, StringId>,
    /// What pids were called when their lines said it.
    comms: FxHashMap<u32, &'a [u8]>,
    /// Kind and label of each call name that occurred.
    calls: FxHashMap<&'a [u8], (KindId, u32)>,
    others: FxHashMap<(&'static str, &'a [u8]), KindId>,
}

/// Where a call began.
#[derive(Clone, Copy)]
struct Begun {
    place: u64,
    /// When, if that was in this part.
    time: Option<i64>,
}

/// Reads one part.
///
/// # Errors
/// If the job was cancelled.
pub fn emit(source: &Source<'_>, part: &PartStart, job: &Job) -> Result<LaneColumns, ReadError> {
    let mut emitter = Emitter {
        source,
        out: LaneColumns::new(0),
        time: part.time,
        owners: part.owners.clone(),
        open: part
            .open
            .iter()
            .map(|(&pid, &place)| (pid, Begun { place, time: None }))
            .collect(),
        ended: part.ended.clone(),
        broken: part.broken,
        taken_over: FxHashMap::default(),
        unmeasured: FxHashMap::default(),
        places: FxHashMap::default(),
        comms: FxHashMap::default(),
        calls: FxHashMap::default(),
        others: FxHashMap::default(),
    };
    let text = source.text.get(part.range.clone()).unwrap_or(&[]);
    let mut checked = part.range.start as u64;
    for line in lines(text, part.first_line, part.range.start as u64) {
        emitter.line(&line);
        if line.offset - checked >= CHECK_BYTES {
            job.check()?;
            job.advance(line.offset - checked);
            checked = line.offset;
        }
    }
    job.advance((part.range.end as u64).saturating_sub(checked));
    emitter.end_taken_over();
    emitter.out.lone_begins = LoneBegins::Open;
    Ok(emitter.out)
}

impl<'a> Emitter<'a> {
    fn line(&mut self, line: &Line<'a>) {
        let dialect = self.source.dialect;
        if self
            .source
            .scan
            .table_at
            .is_some_and(|at| line.offset >= at)
        {
            return self.table_row(line);
        }
        let prefix = split_prefix(line.bytes, dialect);
        let time = self
            .time
            .advance(self.source.scan.clock, prefix.time, line.number);
        let clock = self.source.scan.clock;
        if clock == Clock::DaySeconds
            && let Some(ns) = took_alone(&prefix)
        {
            self.time.took(clock, ns);
        }
        if let Some(pid) = prefix.pid {
            self.owners.hear(pid);
        }
        let pid = prefix.pid.or(self.owners.last());
        let thread = pid.map_or(self.source.scan.lone, ThreadKey);
        if let Some(owner) = self.broken.take()
            && prefix.pid.is_none()
            && prefix.time.is_none()
        {
            if attached(prefix.body).is_some() {
                // There is more news before the rest.
                self.broken = Some(owner);
            } else if continues_call(prefix.body) {
                return self.broken_rest(line, time, ThreadKey(owner));
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
            // Nothing ends before the last of its lines.
            Body::Rest {
                name,
                is_open: true,
                ..
            } => {
                let (kind, _) = self.call(name);
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
        if dialect == Dialect::Minix {
            self.inner_signals(&body, &prefix, line.offset, time, thread);
        }
    }

    /// A row of the table behind the calls: said by the tracer, of all of them.
    fn table_row(&mut self, line: &Line<'a>) {
        let time = self.time.advance(self.source.scan.clock, None, line.number);
        if !line.bytes.trim_ascii().is_empty() {
            let kind = self.kind(TEXT, b"summary");
            let thread = self.source.scan.lone;
            self.out.events.push(time, line.offset, kind, thread);
        }
    }

    /// A line said what its thread is called.
    fn comm(&mut self, comm: &'a [u8], thread: ThreadKey) {
        let Some(event) = (self.out.events.len() as u32).checked_sub(1) else {
            return;
        };
        let name = self.out.strings.intern(comm);
        self.out.lives.push(LifeRow {
            event,
            life: Life::Name { thread, name },
        });
    }

    /// Kind and label of a call's name.
    fn call(&mut self, name: &'a [u8]) -> (KindId, u32) {
        if let Some(&known) = self.calls.get(name) {
            return known;
        }
        let kind = self.source.kinds.intern(CALLS, name, Role::Consumed);
        let label = self.out.labels.len() as u32;
        let row = Label {
            family: SYSCALLS,
            name: self.out.strings.intern(name),
            category: self.out.strings.intern_text(CALLS),
            key: 0,
        };
        self.out.labels.push(row);
        self.calls.insert(name, (kind, label));
        (kind, label)
    }

    fn kind(&mut self, category: &'static str, name: &'a [u8]) -> KindId {
        let kinds = self.source.kinds;
        let name = name.get(..256).unwrap_or(name);
        *self
            .others
            .entry((category, name))
            .or_insert_with(|| kinds.intern(category, name, Role::Instant))
    }

    /// How long a call on one line took, if it says so (`strace -T`); where lines have no times, the line that it is.
    fn whole_duration(&self, text: &[u8]) -> Option<i64> {
        match self.source.scan.clock {
            Clock::Lines => Some(1),
            _ => split_duration(text).1,
        }
    }

    /// A slice of a call on one line. If the line does not say how long it took, that is not known: it is drawn up to the
    /// thread's next call, before which it was over.
    fn slice(
        &mut self,
        event: u32,
        thread: ThreadKey,
        (label, time): (u32, i64),
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

    /// A call of `thread` begins: the one before it was over by then.
    fn next_call(&mut self, thread: ThreadKey, time: i64) {
        if let Some((at, began)) = self.unmeasured.remove(&thread.0)
            && let Some(complete) = self.out.completes.get_mut(at)
        {
            complete.duration_ns = time.saturating_sub(began).saturating_sub(1).max(0);
        }
    }

    /// Forks whose call began on this line.
    fn late_forks(&mut self, event: u32, thread: ThreadKey, place: u64, text: &[u8]) {
        let forks = &self.source.scan.forks;
        let first = forks.partition_point(|fork| fork.place < place);
        let here = forks.get(first..).unwrap_or(&[]);
        for fork in here.iter().take_while(|fork| fork.place == place) {
            let LateFork { child, .. } = *fork;
            self.fork(event, thread, child, acts::fork_sort(text));
        }
    }

    /// `parent` made `child`.
    pub fn fork(&mut self, event: u32, parent: ThreadKey, child: u32, sort: ForkSort) {
        self.ended.remove(&child);
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

    /// `thread` is in this directory from now on, or turns out to be.
    pub fn is_in(&mut self, event: u32, thread: ThreadKey, path: &[u8], sort: DirectorySort) {
        let directory = self.out.strings.intern(path);
        // Whoever is where a whole path says need not be told of again.
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

    /// `thread` ended.
    pub fn end(&mut self, event: u32, thread: ThreadKey, status: Option<i32>, signal: Option<i32>) {
        self.owners.end(thread.0);
        if self.source.dialect == Dialect::Minix {
            self.ended.insert(thread.0);
        }
        self.open.remove(&thread.0);
        self.out.lives.push(LifeRow {
            event,
            life: Life::Exit {
                thread,
                status,
                signal,
            },
        });
    }
}
