//! Lines other than calls: signals, exits, messages of the tracer, and unrecognised text.

use super::{Emitter, PROCESSES, SIGNALS, TEXT};
use crate::base::lines::Line;
use crate::base::{Location, Severity};
use crate::event::{ForkSort, Life, LifeRow, ThreadKey};
use crate::formats::syscall_text::child_end::of_signal;
use crate::formats::syscall_text::dialect::Dialect;
use crate::formats::syscall_text::line::{Banner, Body, attached, banner};
use crate::formats::syscall_text::numbers::signal_number;
use crate::formats::syscall_text::prefix::TextLine;
use crate::formats::syscall_text::values::string_end;

/// Maximum number of signals that are read from one line.
const MOST_SIGNALS_A_LINE: usize = 64;

impl<'a> Emitter<'a> {
    /// Adds an event for strace's message in the middle of a line.
    pub(super) fn message(&mut self, message: &[u8], place: u64, time: i64) {
        if let Some(pid) = attached(message) {
            let kind = self.kind(PROCESSES, b"attached");
            self.out.events.push(time, place, kind, ThreadKey(pid));
        }
    }

    /// Reads a line that is not a call.
    pub(super) fn other(
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
            // The signal itself has a line before.
            Body::Signal if prefix.body.starts_with(STOPPED) => {
                let kind = self.kind(PROCESSES, b"stopped");
                push(self, kind, thread);
            }
            Body::Signal if self.source.dialect == Dialect::Strace => {
                let name = strace_signal(prefix.body);
                let kind = self.kind(SIGNALS, name);
                let event = push(self, kind, thread);
                if name == b"SIGCHLD"
                    && let Some(child) = of_signal(prefix.body)
                {
                    self.reaped.remove(&thread.0);
                    let child = self.found.namespaces.of_child(thread.0, child);
                    self.reap(event, child);
                }
            }
            // `inner_signals` adds the signals of MINIX.
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
                let event = push(self, kind, thread);
                // Only a thread of the process can take its leader's place.
                let life = Life::Member {
                    thread: ThreadKey(pid),
                    leader: thread,
                };
                self.out.lives.push(LifeRow { event, life });
                self.supersede(pid, thread, place, time);
            }
            Body::Banner(Banner { name, pid }) => {
                let kind = self.kind(PROCESSES, b"traced");
                let event = push(self, kind, ThreadKey(pid));
                self.owners.hear(pid);
                if self.ended.contains(&pid) {
                    // The pid is reused by a process whose fork was not recorded.
                    self.fork(event, None, pid, ForkSort::Process);
                }
                // A child that has not run a program yet has its parent's name, with the mark `*F`.
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
                            "unrecognised lines, shown as instants; the first: {}",
                            String::from_utf8_lossy(shown)
                        )
                    });
            }
        }
    }

    /// Adds an event for each `** SIGNAME **` inside and outside of calls (MINIX).
    pub(super) fn inner_signals(
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

/// The start of the line that strace prints when a signal has stopped a process.
const STOPPED: &[u8] = b"--- stopped by ";

/// Returns the signal name in `--- SIGCHLD {...} ---`.
#[must_use]
fn strace_signal(body: &[u8]) -> &[u8] {
    let inner = body.strip_prefix(b"--- ").unwrap_or(body);
    let end = memchr::memchr(b' ', inner).unwrap_or(inner.len());
    inner.get(..end).unwrap_or(inner)
}

/// Returns the names in `** NAME **` outside of quotes.
fn signals_in(text: &[u8]) -> impl Iterator<Item = &[u8]> {
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

/// Returns the pid that an INFO line is about.
fn info_pid(body: &[u8]) -> Option<u32> {
    let end = memchr::memmem::find(body, b"), ")?;
    banner(body.get(..=end)?).map(|banner| banner.pid)
}
