//! Whole calls, first lines of calls, and lines that end calls.
//!
//! Durations from strace's lines:
//!
//! ```text
//! 7 read(3, "x", 1)       = 1 <0.000012>           duration as printed
//! 7 read(3, "x", 1)       = 1                      without -T: duration unknown
//! 7 exit_group(0)         = ?                      never returns, by design: an instant
//! 7 execve("/bin/true", ["true"], ... <detached ...>    traced no further (`-b execve`): duration unknown
//! 7 pause()               = ?                      its thread was killed in the call: duration unknown
//! 8 execve("/bin/true", ["true"], ... <unfinished ...>
//! 7 +++ superseded by execve in pid 8 +++          thread 8 continues as 7, its leader, which is gone
//! 7 <... execve resumed>) = 0 <0.000259>           the end of 8's call
//! ```

use super::{Begun, CallKind, Emitter, PROCESSES};
use crate::event::{Complete, Life, LifeRow, Mark, MarkOp, Measured, ThreadKey};
use crate::formats::syscall_text::acts;
use crate::formats::syscall_text::clock::Clock;
use crate::formats::syscall_text::dialect::Dialect;
use crate::formats::syscall_text::emit::CALLS;
use crate::formats::syscall_text::forks::is_fork;
use crate::formats::syscall_text::line::{is_cut_short, is_let_go, leader_after, strip_open_end};
use crate::formats::syscall_text::prefix::TextLine;
use crate::formats::syscall_text::times::split_duration;

/// A thread that replaced its leader by an execve whose end is printed with the leader's pid.
pub(super) struct TakenOver {
    thread: ThreadKey,
    /// Begin of the call, if it was printed (with `-z`, calls are printed only after they returned).
    begun: Option<Begun>,
    /// Whether the thread has its own file (`-ff`), which contains its whole call.
    is_elsewhere: bool,
    /// Place and time at which the leader was superseded.
    place: u64,
    time: i64,
}

/// The end of a call.
#[derive(Clone, Copy)]
struct CallEnd {
    /// The time at which the end is drawn, in ns.
    time: i64,
    /// The duration as printed, in ns, if the call is drawn shorter.
    cut_duration_ns: Option<i64>,
}

impl<'a> Emitter<'a> {
    /// Returns whether strace treats calls with this name as never returning: it does not count them. (MINIX prints
    /// them like any other call.)
    fn is_exit(&self, name: &[u8]) -> bool {
        self.source.dialect == Dialect::Strace && matches!(name, b"exit" | b"exit_group")
    }

    /// Returns whether a call's last line states that the call did not return: `) = ?`, without an error after it.
    fn has_no_return(&self, text: &[u8]) -> bool {
        self.source.dialect == Dialect::Strace && text.trim_ascii_end().ends_with(b" = ?")
    }

    /// Reads a call on a single line.
    pub(super) fn whole_call(
        &mut self,
        name: &'a [u8],
        text: &'a [u8],
        place: u64,
        time: i64,
        thread: ThreadKey,
    ) {
        self.next_call(thread, time);
        if self.is_exit(name) {
            let kind = self.point(name);
            let event = self.out.events.push(time, place, kind, thread);
            return acts::act(self, event, thread, name, text, acts::Forks::New);
        }
        let CallKind { kind, label } = self.call(name);
        let event = self.out.events.push(time, place, kind, thread);
        // A superseded leader continues with another program, which is not nested in the call.
        if self.has_no_return(text) && !self.found.is_superseded_after(thread, place) {
            self.out.marks.push(Mark::new(event, label, MarkOp::Begin));
            return self.died(event, thread);
        }
        self.slice(event, thread, label, time, self.whole_duration(text));
        acts::act(self, event, thread, name, text, acts::Forks::New);
    }

    /// Reads the first line of a call.
    pub(super) fn call_begins(
        &mut self,
        name: &'a [u8],
        text: &'a [u8],
        prefix: &TextLine<'a>,
        place: u64,
        time: i64,
        thread: ThreadKey,
    ) {
        self.next_call(thread, time);
        // The mark is only in the line if strace printed nothing else meanwhile.
        let is_without_end = || self.found.halves.last_of(place).is_none();
        let is_exec = name.starts_with(b"execve");
        if is_let_go(name, text) || is_exec && self.found.lets_go && is_without_end() {
            return self.detaches(name, text, place, time, thread);
        }
        // In a text of several threads the call's rest follows, after the line that supersedes the leader.
        if let Some(leader) = leader_after(text).filter(|_| self.found.is_of_one) {
            return self.goes_on_as(ThreadKey(leader), name, text, place, time, thread);
        }
        let is_exit = self.is_exit(name);
        let CallKind { kind, label } = match is_exit {
            true => CallKind {
                kind: self.point(name),
                label: 0,
            },
            false => self.call(name),
        };
        let event = self.out.events.push(time, place, kind, thread);
        if !is_exit {
            self.out.marks.push(Mark::new(event, label, MarkOp::Begin));
        }
        let begun = Begun {
            place,
            time: Some(time),
        };
        self.open.insert(thread.0, begun);
        if is_fork(name) {
            self.late_forks(event, thread, place, text);
        }
        if is_cut_short(prefix, self.source.dialect) {
            self.broken = Some(thread.0);
        }
        if let Some(message) = prefix.message {
            self.message(message, place, time);
        }
    }

    /// Reads a call in which strace let the thread continue untraced, which it does when an execve succeeded.
    fn detaches(
        &mut self,
        name: &'a [u8],
        text: &'a [u8],
        place: u64,
        time: i64,
        thread: ThreadKey,
    ) {
        let CallKind { kind, label } = self.call(name);
        let event = self.out.events.push(time, place, kind, thread);
        self.slice(event, thread, label, time, self.whole_duration(text));
        self.succeeds(event, thread, name, text, acts::Forks::New);
    }

    /// Adds the effects of an execve that succeeded, although its result is not in this text.
    fn succeeds(
        &mut self,
        event: u32,
        thread: ThreadKey,
        name: &'a [u8],
        text: &'a [u8],
        forks: acts::Forks,
    ) {
        let whole = [strip_open_end(text, self.source.dialect), b") = 0"].concat();
        acts::act(self, event, thread, name, &whole, forks);
    }

    /// Reads the last line of a call.
    pub(super) fn call_ends(
        &mut self,
        name: &'a [u8],
        text: &'a [u8],
        place: u64,
        time: i64,
        thread: ThreadKey,
    ) {
        let is_exec = name.starts_with(b"execve");
        if let Some(taken) = is_exec.then(|| self.taken_over.remove(&thread.0)).flatten() {
            return self.taken_over_ends(taken, name, text, place, time, thread);
        }
        let CallKind { kind, label } = self.call(name);
        let begin = self.open.remove(&thread.0);
        let end = self.end_of_call(begin, text, time);
        let event = self.out.events.push(end.time, place, kind, thread);
        self.measured(event, end);
        if self.has_no_return(text) {
            if !self.is_exit(name) {
                if !self.found.is_superseded_after(thread, place) {
                    return self.died(event, thread);
                }
                // The thread continues with another program: the call is not around what follows.
                self.out.marks.push(Mark::new(event, label, MarkOp::Over));
            }
        } else {
            self.out.marks.push(Mark::new(event, label, MarkOp::End));
        }
        if acts::acts(name) {
            self.act_on_rest(event, thread, name, text, begin.map(|begun| begun.place));
        }
    }

    /// Returns the end of a call whose last line was printed at `time`.
    fn end_of_call(&mut self, begin: Option<Begun>, text: &[u8], time: i64) -> CallEnd {
        let clock = self.source.head.clock;
        match self.end_of(begin, text) {
            // Whole seconds leave room after the last line.
            Some(end) if clock == Clock::DaySeconds => CallEnd {
                time: self.time.reach(clock, end),
                cut_duration_ns: None,
            },
            // Added times are a little imprecise: a call is not drawn past its last line.
            Some(end) if end > time => CallEnd {
                time,
                cut_duration_ns: split_duration(text).1,
            },
            end => CallEnd {
                time: end.unwrap_or(time),
                cut_duration_ns: None,
            },
        }
    }

    /// Adds the real duration of a call whose end is drawn earlier.
    fn measured(&mut self, event: u32, end: CallEnd) {
        if let Some(duration_ns) = end.cut_duration_ns {
            let measured = Measured::drawn_otherwise(event, duration_ns);
            self.out.measured.push(measured);
        }
    }

    /// Ends the life of a thread that was killed in its call, unless a line reports its end: one that names the thread
    /// as killed, or where exits are reported any.
    fn died(&mut self, event: u32, thread: ThreadKey) {
        let found = self.found;
        let is_reported = found.has_ends || found.killed.contains(&thread);
        if !is_reported {
            self.end(event, thread, None, None);
        }
    }

    /// Reads an execve in a thread's own file (`-ff`), after which the thread continues in its leader's file: the end of
    /// the call and of the thread is there.
    fn goes_on_as(
        &mut self,
        leader: ThreadKey,
        name: &'a [u8],
        text: &'a [u8],
        place: u64,
        time: i64,
        thread: ThreadKey,
    ) {
        let CallKind { kind, label } = self.call(name);
        let event = self.out.events.push(time, place, kind, thread);
        match self.has_times() {
            true => self.out.marks.push(Mark::new(event, label, MarkOp::Begin)),
            false => self.slice(event, thread, label, time, self.whole_duration(text)),
        }
        // The leader's file contains the result without the arguments.
        self.succeeds(event, leader, name, text, acts::Forks::Recorded);
        if !self.has_times() {
            self.end(event, thread, None, None);
        }
    }

    /// Returns whether lines of different files can be put in order.
    fn has_times(&self) -> bool {
        self.source.head.clock != Clock::Lines
    }

    /// Notes that thread `pid` ran execve and continues with its leader's pid: its own track ends here.
    pub(super) fn supersede(&mut self, pid: u32, leader: ThreadKey, place: u64, time: i64) {
        self.owners.end(pid);
        let taken = TakenOver {
            thread: ThreadKey(pid),
            begun: self.open.remove(&pid),
            is_elsewhere: self.found.is_of_one,
            place,
            time,
        };
        self.taken_over.insert(leader.0, taken);
    }

    /// Ends the execve by which a thread replaced its leader: the slice is on the thread's own track, the program
    /// belongs to the leader.
    fn taken_over_ends(
        &mut self,
        taken: TakenOver,
        name: &'a [u8],
        text: &'a [u8],
        place: u64,
        time: i64,
        leader: ThreadKey,
    ) {
        if taken.is_elsewhere {
            if self.has_times() {
                let event = self.end_of_thread(&TakenOver { place, ..taken }, time);
                let cut_duration_ns = split_duration(text).1;
                self.measured(
                    event,
                    CallEnd {
                        time,
                        cut_duration_ns,
                    },
                );
                self.exits(event, taken.thread);
            }
            let kind = self.kind(PROCESSES, name);
            self.out.events.push(time, place, kind, leader);
            return;
        }
        let took = split_duration(text).1;
        let event = match (taken.begun, took) {
            (None, Some(took)) => {
                // With `-z`, this is the call's only line.
                let start = self.time_before(time, took);
                let CallKind { kind, label } = self.call(name);
                let event = self.out.events.push(start, place, kind, taken.thread);
                self.out.completes.push(Complete {
                    event,
                    label,
                    duration_ns: time.saturating_sub(start),
                });
                event
            }
            (begun, took) => {
                // If the duration is not printed, the call is drawn up to the line that supersedes the leader.
                let last = took.map_or(taken.time, |_| time);
                let end = self.end_of_call(begun, text, last);
                let event = self.end_of_thread(&taken, end.time);
                self.measured(event, end);
                event
            }
        };
        self.exits(event, taken.thread);
        let kind = self.kind(PROCESSES, name);
        let event = self.out.events.push(time, place, kind, leader);
        self.act_on_rest(
            event,
            leader,
            name,
            text,
            taken.begun.map(|begun| begun.place),
        );
    }

    fn time_before(&self, time: i64, took: i64) -> i64 {
        match self.source.head.clock {
            Clock::Lines => time,
            _ => time.saturating_sub(took),
        }
    }

    /// Ends a thread's execve on its own track.
    fn end_of_thread(&mut self, taken: &TakenOver, end: i64) -> u32 {
        let CallKind { kind, label } = self.call(b"execve");
        let event = self.out.events.push(end, taken.place, kind, taken.thread);
        if taken.begun.is_some() || taken.is_elsewhere {
            self.out.marks.push(Mark::new(event, label, MarkOp::End));
        }
        event
    }

    /// Ends the threads that replaced their leaders and whose call has no end in this part, at the line that supersedes
    /// the leader.
    pub(super) fn end_taken_over(&mut self) {
        let mut left: Vec<TakenOver> = std::mem::take(&mut self.taken_over).into_values().collect();
        left.sort_by_key(|taken| taken.place);
        let has_times = self.has_times();
        let is_here = |taken: &TakenOver| has_times || !taken.is_elsewhere;
        for taken in left.into_iter().filter(is_here) {
            let event = self.end_of_thread(&taken, taken.time);
            self.exits(event, taken.thread);
        }
    }

    fn exits(&mut self, event: u32, thread: ThreadKey) {
        let life = Life::Exit {
            thread,
            status: None,
            signal: None,
            is_last: None,
        };
        self.out.lives.push(LifeRow { event, life });
    }

    /// Returns the kind of a call that never returns.
    fn point(&mut self, name: &'a [u8]) -> crate::event::KindId {
        self.kind(CALLS, name)
    }
}
