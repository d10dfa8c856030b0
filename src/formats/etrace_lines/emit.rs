//! Assembles the calls of tasks, with their rows and texts, from the lines of each task in time order.
//!
//! A task has at most one open call. A call is one event at its first line. Each text is written to the call's row when
//! the text is complete, so that only what the rows need is stored. Tasks are independent of each other: one
//! [`Emitter`] reads several tasks, one after the other.

use rustc_hash::FxHashMap;

use crate::base::{Severity, StringId, Strings, Timestamp};
use crate::event::{FileRow, KindId, Life, ThreadKey};

use super::by_task::Line;
use super::calls::{Call, Fit, Flaw, remove_at};
use super::file::File;
use super::kinds::Kinds;
use super::line::{Payload, Stamp, Word, parse_body};
use super::lines::line_at;
use super::losses::{Losses, OnCpu};
use super::notes::{About, Moment, Notes};
use super::rows::{Before, deliver};
use super::sorts::Sort;
use super::values::Key;

/// Destination of a call's texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// None: the texts are not needed.
    Nothing,
    /// The first text is kept for the next call.
    First,
    /// The paths of a row of the file table.
    File(u32),
    /// The name of a row of the table of lives.
    Life(u32),
}

/// A call as an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Called {
    /// Time in ns.
    pub time: i64,
    /// Start of its first line, byte offset.
    pub place: u64,
    /// The task; `None` for lines about all tasks.
    pub key: Option<ThreadKey>,
    /// The kind of the event.
    pub kind: KindId,
    /// The CPU.
    pub cpu: u16,
    /// The call's row, if it has one.
    pub row: Target,
}

/// The results of some tasks.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The calls, task by task; after [`Calls::sort`], in time order.
    pub events: Vec<Called>,
    /// Rows of the file table; their event indices are set later.
    pub files: Vec<FileRow>,
    /// Rows of the lifetime table.
    pub lives: Vec<Life>,
    /// The strings of the rows.
    pub strings: Strings,
    /// Diagnostics of lines and calls.
    pub notes: Notes,
    /// Diagnostics of calls whose halves may not belong together.
    pub doubts: Notes,
}

impl Calls {
    /// Sorts the calls by time, those of equal time by place.
    pub(super) fn sort(&mut self) {
        self.events.sort_by_key(|event| (event.time, event.place));
    }
}

/// Reads the lines of a task, and of another task after each [`Emitter::start_task`].
pub(super) struct Emitter<'a> {
    pub(super) file: &'a File,
    losses: &'a Losses,
    pub(super) out: Calls,
    tags: FxHashMap<&'a [u8], KindId>,
    /// The task.
    upid: i64,
    /// The key of the task; `None` for lines about all tasks.
    pub(super) key: Option<ThreadKey>,
    pub(super) call: Call<'a>,
    /// Time and CPU of the call's first line.
    began: OnCpu,
    target: Target,
    /// First text of the call, for [`Target::First`].
    first: StringId,
    /// The line that is being read.
    now: Moment,
    /// The moment at which the next loss after this line is noticed.
    next_loss: Moment,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(file: &'a File, losses: &'a Losses) -> Emitter<'a> {
        Emitter {
            file,
            losses,
            out: Calls::default(),
            tags: FxHashMap::default(),
            upid: 0,
            key: None,
            call: Call::none(),
            began: (None, Timestamp::MIN),
            target: Target::Nothing,
            first: StringId::EMPTY,
            now: (i64::MIN, 0),
            next_loss: (i64::MIN, 0),
        }
    }

    /// Starts to read the lines of the task `upid`.
    pub(super) fn start_task(&mut self, upid: i64) {
        self.upid = upid;
        self.key = match upid {
            // Lines about all tasks belong to no thread, also not to the idle thread.
            0 => None,
            upid => Some(self.file.upids.key(upid)),
        };
        self.call = Call::none();
        self.target = Target::Nothing;
        self.first = StringId::EMPTY;
        self.next_loss = (i64::MIN, 0);
    }

    /// Ends the task: it has no more lines.
    pub(super) fn finish_task(&mut self) {
        self.now = (i64::MAX, self.call.place);
        self.finish_call();
    }

    /// Adds a diagnostic for the line at `place`.
    #[cold]
    fn note(
        &mut self,
        code: &'static str,
        severity: Severity,
        place: u64,
        message: impl FnOnce() -> String,
    ) {
        let about = self.about(place);
        self.out.notes.add(code, severity, about, message);
    }

    /// Adds a diagnostic for the line that is being read, about a call whose halves may not belong together.
    #[cold]
    pub(super) fn doubt(&mut self, code: &'static str, severity: Severity, message: &str) {
        let about = self.about(self.now.1);
        let message = || message.to_owned();
        self.out.doubts.add(code, severity, about, message);
    }

    fn about(&self, place: u64) -> About {
        About {
            at: self.now,
            place,
            count: 1,
        }
    }

    /// Reads the next event of the task.
    #[inline]
    pub(super) fn line(&mut self, line: &Line) {
        let start = usize::try_from(line.place).unwrap_or(usize::MAX);
        let body = start.saturating_add(usize::from(line.start_bytes));
        let stamp = Stamp {
            upid: self.upid,
            cpu: line.cpu,
            time: line.time,
        };
        let body = line_at(self.file.text(), body);
        // A line that was parsed as an event before is still one, unless the file was overwritten.
        let Some(payload) = body.and_then(|body| parse_body(body.line, stamp)) else {
            return;
        };
        self.now = line.moment();
        if self.next_loss < self.now {
            self.call.meet_hole();
            self.next_loss = self.losses.after(self.now);
        }
        self.event(&payload, line.place);
    }

    #[inline]
    fn event(&mut self, line: &Payload<'a>, place: u64) {
        let starts = match line.word {
            Word::Call(sort) if !goes_on(&self.call, line) => Some(sort),
            Word::Unknown if !goes_on(&self.call, line) => Some(Sort::Unknown),
            _ => None,
        };
        if let Some(sort) = starts {
            return self.start_call(sort, line, place);
        }
        let (target, first, out) = (self.target, &mut self.first, &mut self.out);
        let fit = self.call.read(line, &mut |text, bytes: &[u8]| {
            deliver(out, target, first, text, bytes);
        });
        match fit {
            Fit::Belongs => {}
            Fit::Alone => self.lone_text(line, place),
            Fit::Stray => self.stray(line, place),
        }
    }

    #[cold]
    fn lone_text(&mut self, line: &Payload<'a>, place: u64) {
        self.finish_call();
        let Word::Text(text) = line.word else { return };
        self.call.start_lone(text, line, place);
        self.began = on_cpu(line);
        self.target = Target::Nothing;
        self.push(line, place, Kinds::of_slot(text));
        self.note("text_without_call", Severity::Error, place, || {
            format!("{} comes without the call that it belongs to", text.tag())
        });
    }

    #[cold]
    fn stray(&mut self, line: &Payload<'a>, place: u64) {
        if line.word == Word::ContEnd {
            return;
        }
        let tag = String::from_utf8_lossy(line.tag).into_owned();
        self.note("stray_line", Severity::Error, place, || {
            format!("{tag} continues or ends something that did not begin")
        });
    }

    #[inline]
    fn push(&mut self, line: &Payload<'a>, place: u64, kind: KindId) {
        self.out.events.push(Called {
            time: line.time,
            place,
            key: self.key,
            kind,
            cpu: line.cpu,
            row: self.target,
        });
    }

    /// Reads a line that starts a call.
    fn start_call(&mut self, sort: Sort, line: &Payload<'a>, place: u64) {
        self.finish_call();
        let before = Before {
            sort: self.call.sort,
            flags: self.call.values.get(Key::Flags).unwrap_or(0),
            first: self.first,
            target: self.target,
            lost: match sort {
                Sort::SchedFork
                | Sort::RenameTo
                | Sort::RenameFailed
                | Sort::LinkTo
                | Sort::LinkFailed => self.losses.between(self.began, on_cpu(line)),
                _ => 0,
            },
        };
        let half_at = self.call.place;
        self.call.start(sort, line, place);
        self.began = on_cpu(line);
        self.first = StringId::EMPTY;
        if before.is_half_without(sort) {
            let name = before.sort.name();
            self.note("call_without_end", Severity::Error, half_at, || {
                format!(
                    "{name} comes without the line with the other path or the error: it is not counted as use of a file"
                )
            });
        }
        if before.lacks_half_of(sort) {
            let name = sort.name();
            self.note("call_without_start", Severity::Error, place, || {
                format!(
                    "{name} comes without the line with the old path: it is not counted as use of a file"
                )
            });
        }
        self.target = self.rows(sort, line, &before);
        let kind = match sort {
            Sort::Unknown => self.kind_of_tag(line.tag),
            sort => Kinds::of_sort(sort),
        };
        self.push(line, place, kind);
    }

    fn kind_of_tag(&mut self, tag: &'a [u8]) -> KindId {
        let kinds = &self.file.kinds;
        *self.tags.entry(tag).or_insert_with(|| kinds.of_tag(tag))
    }

    /// Ends the task's call: no more lines belong to it.
    #[inline]
    fn finish_call(&mut self) {
        let (target, first, out) = (self.target, &mut self.first, &mut self.out);
        self.call.finish_text(&mut |text, bytes: &[u8]| {
            deliver(out, target, first, text, bytes);
        });
        if let Some(flaw) = self.call.flaw() {
            let (sort, place) = (self.call.sort, self.call.place);
            match target {
                Target::File(row) if flaw == Flaw::Incomplete => self.use_passed_path(row),
                Target::Life(row) => self.without_lost(row),
                _ => {}
            }
            self.flaw(sort, place, flaw);
        }
    }

    /// For a row whose path was lost, uses the path as the program wrote it, if that is absolute.
    #[cold]
    fn use_passed_path(&mut self, row: u32) {
        let strings = &self.out.strings;
        if let Some(row) = self.out.files.get_mut(row as usize)
            && row.path == StringId::EMPTY
            && strings.bytes(row.other_path).starts_with(b"/")
        {
            row.path = row.other_path;
        }
    }

    /// Removes the lost arguments of a program, which must not be shown as empty arguments.
    #[cold]
    fn without_lost(&mut self, row: u32) {
        if let Some(Life::Exec { arguments, .. }) = self.out.lives.get_mut(row as usize) {
            remove_at(arguments, self.call.lost_arguments());
        }
    }

    #[cold]
    fn flaw(&mut self, sort: Sort, place: u64, flaw: Flaw) {
        let name = sort.name();
        match flaw {
            Flaw::Incomplete => self.note("incomplete_call", Severity::Error, place, || {
                format!("texts of {name} are not there: they were lost, or the file ends before")
            }),
            Flaw::Size { slot, size, length } => {
                self.note("size_differs", Severity::Error, place, || {
                    format!(
                        "{} of {name} has {length} bytes, {size} were announced",
                        slot.tag()
                    )
                });
            }
            Flaw::LostArguments { size, length } => {
                self.note("arguments_lost", Severity::Error, place, || {
                    format!(
                        "arguments of {name} were lost: they have {length} bytes, {size} were announced; the others \
                         are shown without them"
                    )
                });
            }
            Flaw::Arguments { size, length } => {
                self.note("argument_size_differs", Severity::Info, place, || {
                    format!(
                        "the arguments of {name} have {length} bytes, {size} were announced: empty ones at the \
                         end and newlines at the end of one are not in the file"
                    )
                });
            }
        }
    }
}

/// Returns the CPU and the time of a line.
fn on_cpu(line: &Payload<'_>) -> OnCpu {
    (Some(u32::from(line.cpu)), Timestamp(line.time))
}

/// Returns whether a line that looks like the start of a call continues the previous call.
#[inline]
fn goes_on(call: &Call<'_>, line: &Payload<'_>) -> bool {
    line.number.is_some_and(|number| number > 0)
        && match line.word {
            Word::Call(Sort::Env) => call.sort == Sort::Env,
            Word::Unknown => call.sort == Sort::Unknown && call.unknown_tag() == line.tag,
            _ => false,
        }
}
