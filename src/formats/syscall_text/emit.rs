//! The bulk pass: the lines of one part become events, slices of calls, lives and files.
//!
//! A call on one line arrives whole: as long as its `<seconds>`, or one line where lines are the time, or of
//! no length where its length was not recorded. A call on several lines is a begin on its first line and
//! an end on its last; they find each other by thread and name, also across parts. What a call did
//! (forks, programs, files) is said where its result stands, forks where the call began.

use rustc_hash::{FxHashMap, FxHashSet};

use super::acts;
use super::clock::{Clock, TimeState};
use super::line::{Body, attached, banner, classify, leader_after, open_end, strip_open_end};
use super::numbers::signal_number;
use super::prefix::{Dialect, TextLine, split_prefix};
use super::scan::{LateFork, Owners, PartStart, Scan, end_of, is_fork, took_alone};
use super::values::{split_call, split_duration, string_end};
use crate::base::lines::{Line, lines};
use crate::base::{Job, Location, ReadError, Severity, StringId};
use crate::event::pairs::SYSCALLS;
use crate::event::{
    Complete, ForkSort, KindId, Label, LaneColumns, Life, LifeRow, Mark, MarkOp, Role, ThreadKey,
};
use crate::formats::text_kinds::Kinds;

/// Category of calls.
pub const CALLS: &str = "syscalls";
/// Category of signals.
pub const SIGNALS: &str = "signal";
/// Category of beginnings and ends of processes.
pub const PROCESSES: &str = "process";
/// Category of lines that are not understood, and of what the tracer says.
pub const TEXT: &str = "text";

/// Text of a line that is not shown in full anywhere is looked at up to here.
const MOST_SIGNALS_A_LINE: usize = 64;
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
    taken_over: FxHashSet<u32>,
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

/// The first line of a call, as the later ones need it.
#[derive(Clone, Copy)]
pub struct FirstHalf<'a> {
    /// What followed the opening parenthesis, without the mark that it goes on.
    pub text: &'a [u8],
}

impl FirstHalf<'_> {
    /// The whole call, from the text of its last line.
    ///
    /// strace prints only what is new. MINIX repeats the first half, or `<..>` where its record of it
    /// overflowed; the first line may have closed the parameters already.
    #[must_use]
    pub fn with_rest(&self, rest: &[u8], dialect: Dialect) -> Vec<u8> {
        let first = self.text.trim_ascii_end();
        match dialect {
            Dialect::Strace => {
                // The blank behind a comma parts parameters.
                let between: &[u8] = if first.ends_with(b",") { b" " } else { b"" };
                [first, between, rest].concat()
            }
            Dialect::Minix => {
                let Some(rest) = rest.strip_prefix(b"<..>") else {
                    return rest.to_vec();
                };
                if !split_call(first, dialect).is_closed {
                    let between: &[u8] = if rest.starts_with(b",") { b"" } else { b" " };
                    let first = first.strip_suffix(b",").unwrap_or(first);
                    return [first, between, rest].concat();
                }
                let params = first.strip_suffix(b"=").unwrap_or(first).trim_ascii_end();
                let rest = rest.strip_prefix(b")").unwrap_or(rest);
                [params, rest].concat()
            }
        }
    }
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
        taken_over: FxHashSet::default(),
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
    Ok(emitter.out)
}

/// The first line of the call that is open at `place`.
#[must_use]
pub fn first_half<'a>(text: &'a [u8], place: u64, dialect: Dialect) -> Option<FirstHalf<'a>> {
    call_at(text, place, dialect).map(|(_, text)| FirstHalf { text })
}

/// Name and text of the call that begins at `place`.
fn call_at(text: &[u8], place: u64, dialect: Dialect) -> Option<(&[u8], &[u8])> {
    let rest = text.get(usize::try_from(place).ok()?..)?;
    let line = lines(rest, 1, place).next()?;
    let prefix = split_prefix(line.bytes, dialect);
    match classify(&prefix, dialect) {
        Body::Call { name, text, .. } => Some((name, strip_open_end(text, dialect))),
        _ => None,
    }
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
            if attached(prefix.body).is_none() {
                return self.broken_rest(line, time, ThreadKey(owner));
            }
            // There is more news before the rest.
            self.broken = Some(owner);
        }
        let body = classify(&prefix, dialect);
        let push = |emitter: &mut Emitter<'a>, kind| {
            emitter.out.events.push(time, line.offset, kind, thread)
        };
        match body {
            Body::Call {
                name,
                text,
                is_open,
            } => {
                let (kind, label) = self.call(name);
                let event = push(self, kind);
                if let Some(leader) = leader_after(text).filter(|_| is_open) {
                    let duration_ns = self.whole_duration(text);
                    self.out.completes.push(Complete {
                        event,
                        label,
                        duration_ns,
                    });
                    // In a file of its own (-ff) the leader has the result without the arguments.
                    let whole = [strip_open_end(text, dialect), b") = 0"].concat();
                    let leader = ThreadKey(leader);
                    acts::act(self, event, leader, name, &whole, acts::Forks::Said);
                    self.end(event, thread, None, None);
                } else if is_open {
                    self.out.marks.push(Mark::new(event, label, MarkOp::Begin));
                    let begun = Begun {
                        place: line.offset,
                        time: Some(time),
                    };
                    self.open.insert(thread.0, begun);
                    if is_fork(name) {
                        self.late_forks(event, thread, line.offset, text);
                    }
                    if let Some(said) = prefix.said {
                        self.broken = Some(thread.0);
                        self.said(said, line.offset, time);
                    }
                } else {
                    let duration_ns = self.whole_duration(text);
                    self.out.completes.push(Complete {
                        event,
                        label,
                        duration_ns,
                    });
                    acts::act(self, event, thread, name, text, acts::Forks::New);
                }
            }
            Body::Rest {
                name,
                text,
                is_open,
            } => {
                let is_taken_over =
                    name.starts_with(b"execve") && self.taken_over.remove(&thread.0);
                let (kind, label) = match is_taken_over {
                    // Its slice is on the track of the thread, which ended there.
                    true => (self.kind(PROCESSES, name), 0),
                    false => self.call(name),
                };
                let begin = match is_open {
                    true => None,
                    false => self.open.remove(&thread.0),
                };
                let end = match self.end_of(begin, text) {
                    // Whole seconds leave room behind it.
                    Some(end) if clock == Clock::DaySeconds => self.time.reach(clock, end),
                    // Times that add up lose a little on the way: a call does not reach behind its last line.
                    end => end.unwrap_or(time).min(time),
                };
                let event = self.out.events.push(end, line.offset, kind, thread);
                if !is_open {
                    if !is_taken_over {
                        self.out.marks.push(Mark::new(event, label, MarkOp::End));
                    }
                    let begin = begin.map(|begun| begun.place);
                    if acts::acts(name) {
                        self.act_on_rest(event, thread, name, text, begin);
                    }
                }
            }
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

    /// The line after one that the tracer broke: the rest of the same call.
    fn broken_rest(&mut self, line: &Line<'a>, time: i64, thread: ThreadKey) {
        let dialect = self.source.dialect;
        let begun = self.open.get(&thread.0).copied();
        let begin = begun.map(|begun| begun.place);
        let name = begin.and_then(|place| call_at(self.source.text, place, dialect));
        let Some((name, _)) = name.filter(|_| open_end(line.bytes, dialect).is_none()) else {
            return;
        };
        self.open.remove(&thread.0);
        let (kind, label) = self.call(name);
        let clock = self.source.scan.clock;
        let end = match self.end_of(begun, line.bytes) {
            Some(end) => self.time.reach(clock, end),
            None => time,
        };
        let event = self.out.events.push(end, line.offset, kind, thread);
        self.out.marks.push(Mark::new(event, label, MarkOp::End));
        if acts::acts(name) {
            self.act_on_rest(event, thread, name, line.bytes, begin);
        }
    }

    /// What the tracer said in the middle of a line.
    fn said(&mut self, said: &[u8], place: u64, time: i64) {
        if let Some(pid) = attached(said) {
            let kind = self.kind(PROCESSES, b"attached");
            self.out.events.push(time, place, kind, ThreadKey(pid));
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

    /// How long a call on one line took, as far as that is known.
    fn whole_duration(&self, text: &[u8]) -> i64 {
        match (self.source.scan.clock, self.source.dialect) {
            (Clock::Lines, _) => 1,
            (_, Dialect::Strace) => split_duration(text).1.unwrap_or(0),
            (_, Dialect::Minix) => 0,
        }
    }

    /// When a call ended by its `<seconds>`: its last line was printed a little later, or has no time at all.
    fn end_of(&self, begun: Option<Begun>, text: &[u8]) -> Option<i64> {
        let clock = self.source.scan.clock;
        if self.source.dialect == Dialect::Minix || clock == Clock::Lines {
            return None;
        }
        let begun = begun?;
        let begin = begun.time.or_else(|| {
            let rest = self.source.text.get(usize::try_from(begun.place).ok()?..)?;
            let line = lines(rest, 1, begun.place).next()?;
            let raw = split_prefix(line.bytes, self.source.dialect).time;
            self.time.earlier(clock, raw)
        })?;
        end_of(begin, text)
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
    pub fn is_in(&mut self, event: u32, thread: ThreadKey, path: &[u8]) {
        let directory = self.out.strings.intern(path);
        // Whoever is where a whole path says need not be told of again.
        let is_known = self.places.insert(thread.0, directory) == Some(directory);
        if !(is_known && path.starts_with(b"/")) {
            self.out.lives.push(LifeRow {
                event,
                life: Life::Directory { thread, directory },
            });
        }
    }

    fn act_on_rest(
        &mut self,
        event: u32,
        thread: ThreadKey,
        name: &'a [u8],
        text: &'a [u8],
        begin: Option<u64>,
    ) {
        let (source, dialect) = (self.source, self.source.dialect);
        let first = begin.and_then(|place| first_half(source.text, place, dialect));
        match first {
            Some(first) => {
                let whole = first.with_rest(text, dialect);
                acts::act(self, event, thread, name, &whole, acts::Forks::Said);
            }
            None => acts::act(self, event, thread, name, text, acts::Forks::New),
        }
    }

    /// Lines that are no calls.
    fn other(
        &mut self,
        body: Body<'a>,
        prefix: &TextLine<'a>,
        line: &Line<'a>,
        time: i64,
        thread: ThreadKey,
    ) {
        let place = line.offset;
        let push = |emitter: &mut Emitter<'a>, kind, thread| {
            emitter.out.events.push(time, place, kind, thread)
        };
        match body {
            Body::Signal if self.source.dialect == Dialect::Strace => {
                let name = strace_signal(prefix.body);
                let kind = self.kind(SIGNALS, name);
                push(self, kind, thread);
            }
            // MINIX: `inner_signals` has them.
            Body::Signal => {}
            Body::Exited(status) => {
                let kind = self.kind(PROCESSES, b"exited");
                let event = push(self, kind, thread);
                self.end(event, thread, Some(status), None);
            }
            Body::Killed(signal) => {
                let kind = self.kind(PROCESSES, b"killed");
                let event = push(self, kind, thread);
                self.end(event, thread, None, signal_number(signal));
            }
            Body::Superseded(pid) => {
                let kind = self.kind(PROCESSES, b"superseded");
                push(self, kind, thread);
                self.supersede(pid, thread, place, time);
            }
            Body::Banner(name, pid) => {
                let kind = self.kind(PROCESSES, b"traced");
                let event = push(self, kind, ThreadKey(pid));
                self.owners.hear(pid);
                if self.ended.contains(&pid) {
                    // The pid is used again by somebody whose fork was not seen.
                    self.fork(event, ThreadKey::UNKNOWN, pid, ForkSort::Process);
                }
                // A child that has not run a program yet is called as its parent, with a mark.
                let name = name.strip_suffix(b"*F").unwrap_or(name);
                let name = self.out.strings.intern(name);
                let thread = ThreadKey(pid);
                self.out.lives.push(LifeRow {
                    event,
                    life: Life::Name { thread, name },
                });
            }
            Body::Attached(pid) => {
                let kind = self.kind(PROCESSES, b"attached");
                push(self, kind, ThreadKey(pid));
            }
            Body::Note => {
                let kind = self.kind(TEXT, b"note");
                let about = prefix.is_info.then(|| info_pid(prefix.body)).flatten();
                push(self, kind, about.map_or(thread, ThreadKey));
            }
            _ => {
                let kind = self.kind(TEXT, b"line");
                push(self, kind, thread);
                let number = Location::Line(line.number);
                self.out
                    .diagnostics
                    .note("unknown_line", Severity::Info, number, || {
                        let shown = prefix.body.get(..80).unwrap_or(prefix.body);
                        format!(
                            "lines that are no calls, shown as instants; the first: {}",
                            String::from_utf8_lossy(shown)
                        )
                    });
            }
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

    /// Thread `pid` ran execve and goes on under its leader's pid: its own track ends here.
    fn supersede(&mut self, pid: u32, leader: ThreadKey, place: u64, time: i64) {
        self.owners.end(pid);
        self.taken_over.insert(leader.0);
        let Some(begin) = self.open.remove(&pid) else {
            return;
        };
        let (kind, label) = self.call(b"execve");
        let event = self.out.events.push(time, place, kind, ThreadKey(pid));
        self.out.marks.push(Mark::new(event, label, MarkOp::End));
        self.out.lives.push(LifeRow {
            event,
            life: Life::Exit {
                thread: ThreadKey(pid),
                status: None,
                signal: None,
            },
        });
        // The rest of the call comes under the leader's pid (this line's), with the arguments from here.
        self.open.insert(leader.0, begin);
    }

    /// `** SIGNAME **` inside and outside of calls (MINIX), each an event of its own.
    fn inner_signals(
        &mut self,
        body: &Body<'a>,
        prefix: &TextLine<'a>,
        place: u64,
        time: i64,
        thread: ThreadKey,
    ) {
        if !matches!(body, Body::Call { .. } | Body::Rest { .. } | Body::Signal)
            || memchr::memchr(b'*', prefix.body).is_none()
        {
            return;
        }
        for name in signals_in(prefix.body).take(MOST_SIGNALS_A_LINE) {
            let kind = self.kind(SIGNALS, name);
            self.out.events.push(time, place, kind, thread);
        }
    }
}

/// The name in `--- SIGCHLD {...} ---` or `--- stopped by SIGSTOP ---`.
#[must_use]
pub fn strace_signal(body: &[u8]) -> &[u8] {
    let inner = body.strip_prefix(b"--- ").unwrap_or(body);
    let inner = inner.strip_prefix(b"stopped by ").unwrap_or(inner);
    let end = memchr::memchr(b' ', inner).unwrap_or(inner.len());
    inner.get(..end).unwrap_or(inner)
}

/// The names in `** NAME **` outside of quotes.
pub fn signals_in(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(&byte) = text.get(at) {
            if byte == b'"' {
                at = string_end(text, at);
                continue;
            }
            if byte == b'*'
                && let Some(inner) = text.get(at..).and_then(|rest| rest.strip_prefix(b"** "))
                && let Some(length) = memchr::memmem::find(inner, b" **")
            {
                at += length + 6;
                return inner.get(..length);
            }
            at += 1;
        }
        None
    })
}

/// The pid that an INFO line is about.
fn info_pid(body: &[u8]) -> Option<u32> {
    let end = memchr::memmem::find(body, b"), ")?;
    banner(body.get(..=end)?).map(|(_, pid)| pid)
}
