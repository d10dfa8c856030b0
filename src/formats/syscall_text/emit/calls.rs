//! Calls: whole ones, their first lines, and the lines that end them.
//!
//! What strace knows of a call's end:
//!
//! ```text
//! 7 read(3, "x", 1)       = 1 <0.000012>           as long as it says
//! 7 read(3, "x", 1)       = 1                      without -T it does not say: how long it lasted is not known
//! 7 exit_group(0)         = ?                      never returns by design: a point
//! 7 pause()               = ?                      its thread was killed in it: how long it lasted is not known
//! 8 execve("/bin/true", ["true"], ... <unfinished ...>
//! 7 +++ superseded by execve in pid 8 +++          thread 8 goes on as 7, its leader, which is gone
//! 7 <... execve resumed>) = 0 <0.000259>           the end of 8's call
//! ```

use super::{Begun, Emitter, PROCESSES};
use crate::event::{Complete, Life, LifeRow, Mark, MarkOp, ThreadKey};
use crate::formats::syscall_text::acts;
use crate::formats::syscall_text::clock::Clock;
use crate::formats::syscall_text::emit::CALLS;
use crate::formats::syscall_text::line::{is_cut_short, leader_after, strip_open_end};
use crate::formats::syscall_text::prefix::{Dialect, TextLine};
use crate::formats::syscall_text::scan::is_fork;
use crate::formats::syscall_text::values::split_duration;

/// A thread that took its leader's place by an execve of which the end comes under the leader's pid.
pub(super) struct TakenOver {
    thread: ThreadKey,
    /// Where the call began, if that was printed (`-z` prints calls once they returned).
    begun: Option<Begun>,
    /// Whether the thread has a text of its own (`-ff`), which says all of its call.
    is_elsewhere: bool,
    /// Where and when the leader was superseded.
    place: u64,
    time: i64,
}

impl<'a> Emitter<'a> {
    /// Whether calls of this name never return, as far as strace is concerned: it counts none of them. (MINIX prints them
    /// as any other.)
    fn is_exit(&self, name: &[u8]) -> bool {
        self.source.dialect == Dialect::Strace && matches!(name, b"exit" | b"exit_group")
    }

    /// Whether a call's last line says that it did not return: `) = ?`, without an error behind it.
    fn has_no_return(&self, text: &[u8]) -> bool {
        self.source.dialect == Dialect::Strace && text.trim_ascii_end().ends_with(b" = ?")
    }

    /// A call on one line.
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
        let (kind, label) = self.call(name);
        let event = self.out.events.push(time, place, kind, thread);
        if self.has_no_return(text) {
            self.out.marks.push(Mark::new(event, label, MarkOp::Begin));
            return self.died(event, thread);
        }
        self.slice(event, thread, (label, time), self.whole_duration(text));
        acts::act(self, event, thread, name, text, acts::Forks::New);
    }

    /// The first line of a call.
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
        if let Some(leader) = leader_after(text) {
            return self.goes_on_as(ThreadKey(leader), name, text, place, time, thread);
        }
        let is_exit = self.is_exit(name);
        let (kind, label) = match is_exit {
            true => (self.point(name), 0),
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
        if let Some(said) = prefix.said {
            self.said(said, place, time);
        }
    }

    /// The last line of a call.
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
        let (kind, label) = self.call(name);
        let begin = self.open.remove(&thread.0);
        let end = self.end_time(begin, text, time);
        let event = self.out.events.push(end, place, kind, thread);
        if self.has_no_return(text) {
            if !self.is_exit(name) {
                return self.died(event, thread);
            }
        } else {
            self.out.marks.push(Mark::new(event, label, MarkOp::End));
        }
        if acts::acts(name) {
            self.act_on_rest(event, thread, name, text, begin.map(|begun| begun.place));
        }
    }

    /// When a call ended whose last line was printed at `time`.
    fn end_time(&mut self, begin: Option<Begun>, text: &[u8], time: i64) -> i64 {
        let clock = self.source.scan.clock;
        match self.end_of(begin, text) {
            // Whole seconds leave room behind it.
            Some(end) if clock == Clock::DaySeconds => self.time.reach(clock, end),
            // Times that add up lose a little on the way: a call does not reach behind its last line.
            end => end.unwrap_or(time).min(time),
        }
    }

    /// The thread was killed in its call. Where lines say who exited, one of those tells it; and who is superseded
    /// goes on as another thread of its process.
    fn died(&mut self, event: u32, thread: ThreadKey) {
        let scan = self.source.scan;
        if !scan.has_ends && !scan.superseded.contains(&thread.0) {
            self.end(event, thread, None, None);
        }
    }

    /// An execve in a file of its own (`-ff`), of a thread that goes on in its leader's file.
    fn goes_on_as(
        &mut self,
        leader: ThreadKey,
        name: &'a [u8],
        text: &'a [u8],
        place: u64,
        time: i64,
        thread: ThreadKey,
    ) {
        let (kind, label) = self.call(name);
        let event = self.out.events.push(time, place, kind, thread);
        self.slice(event, thread, (label, time), self.whole_duration(text));
        // The leader has the result without the arguments.
        let whole = [strip_open_end(text, self.source.dialect), b") = 0"].concat();
        acts::act(self, event, leader, name, &whole, acts::Forks::Said);
        self.end(event, thread, None, None);
    }

    /// Thread `pid` ran execve and goes on under its leader's pid: its own track ends here.
    pub(super) fn supersede(&mut self, pid: u32, leader: ThreadKey, place: u64, time: i64) {
        self.owners.end(pid);
        let taken = TakenOver {
            thread: ThreadKey(pid),
            begun: self.open.remove(&pid),
            is_elsewhere: self.source.scan.is_of_one,
            place,
            time,
        };
        self.taken_over.insert(leader.0, taken);
    }

    /// The end of the execve by which a thread took its leader's place: its slice is on the thread's own track, the
    /// program on the leader's.
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
            let kind = self.kind(PROCESSES, name);
            self.out.events.push(time, place, kind, leader);
            return;
        }
        let took = split_duration(text).1;
        let event = match (taken.begun, took) {
            (None, Some(took)) => {
                // `-z`: this line is all that there is.
                let start = self.time_before(time, took);
                let (kind, label) = self.call(name);
                let event = self.out.events.push(start, place, kind, taken.thread);
                self.out.completes.push(Complete {
                    event,
                    label,
                    duration_ns: time.saturating_sub(start),
                });
                event
            }
            (begun, _) => {
                let end = self.end_time(begun, text, taken.time);
                self.end_of_thread(&taken, end)
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
        match self.source.scan.clock {
            Clock::Lines => time,
            _ => time.saturating_sub(took),
        }
    }

    /// The end of a thread's execve on its own track.
    fn end_of_thread(&mut self, taken: &TakenOver, end: i64) -> u32 {
        let (kind, label) = self.call(b"execve");
        let event = self.out.events.push(end, taken.place, kind, taken.thread);
        if taken.begun.is_some() {
            self.out.marks.push(Mark::new(event, label, MarkOp::End));
        }
        event
    }

    /// Threads that took their leaders' places, of whose calls nothing more is said here, end where that was said.
    pub(super) fn end_taken_over(&mut self) {
        let mut left: Vec<TakenOver> = std::mem::take(&mut self.taken_over).into_values().collect();
        left.sort_by_key(|taken| taken.place);
        for taken in left.into_iter().filter(|taken| !taken.is_elsewhere) {
            let event = self.end_of_thread(&taken, taken.time);
            self.exits(event, taken.thread);
        }
    }

    fn exits(&mut self, event: u32, thread: ThreadKey) {
        let life = Life::Exit {
            thread,
            status: None,
            signal: None,
        };
        self.out.lives.push(LifeRow { event, life });
    }

    /// The kind of a call that never returns.
    fn point(&mut self, name: &'a [u8]) -> crate::event::KindId {
        self.kind(CALLS, name)
    }
}
