//! The bulk pass: reads the lines of one part and writes its columns.
//!
//! Lines are assigned to tasks; each task has at most one open call. A call is one event at its first line. Each of its
//! texts is written to the call's row when the text is complete, so only what the rows need is kept.
//!
//! If a part's first line of a task needs the call before it, the part looks back for that call (`around`).

use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use crate::base::{Severity, StringId, Timestamp};
use crate::event::{Gap, KindId, LaneColumns, Life, ThreadKey};

use super::around;
use super::calls::{Call, Fit, Flaw, remove_at};
use super::file::{File, Seam};
use super::jumbled;
use super::kinds::Kinds;
use super::line::{Payload, Word, parse_line, parse_lost};
use super::lines::HOLE;
use super::rows::{Before, deliver};
use super::sorts::Sort;
use super::values::Key;
use super::words;

const RECENT: usize = 64;
/// An invalid upid: upids are not negative.
const NOBODY: i64 = -1;
/// Estimated text bytes per event and per file row (at most), to reserve rows.
const BYTES_AN_EVENT: usize = 130;
const BYTES_A_FILE_ROW: usize = 150;

/// Whether the lines of every task could be put into time order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Times of every task ascend.
    Rises,
    /// A line came after a later line of its task was already read.
    GoesBack,
}

/// Destination of a call's texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// None: another part has the call, or the texts are not needed.
    Nothing,
    /// The first text is kept for the next call.
    First,
    /// This row of the file table.
    File(u32),
    /// This row of the lifetime table.
    Life(u32),
}

/// State of one task.
#[derive(Clone, Debug)]
pub(super) struct Task<'a> {
    pub(super) key: ThreadKey,
    pub(super) call: Call<'a>,
    pub(super) target: Target,
    /// First text of its call, for [`Target::First`].
    pub(super) first: StringId,
    /// Whether its call starts in this part.
    pub(super) is_ours: bool,
    /// Time of its last line, ns.
    last: i64,
    /// Number of gaps before its last line.
    holes: u32,
    /// Place of its furthest line so far.
    furthest: u64,
}

impl Task<'_> {
    /// Advances to the task's next line, at `place`; `holes` is the number of gaps before it.
    #[inline]
    fn comes_to(&mut self, upid: i64, place: u64, holes: u32, jumbled: &mut jumbled::Found) {
        match place < self.furthest {
            false => self.furthest = place,
            true => jumbled.goes_back(upid, place, self.furthest),
        }
        if self.holes != holes {
            self.holes = holes;
            self.call.meet_hole();
        }
    }
}

pub(super) struct Emitter<'a> {
    pub(super) file: &'a File,
    /// Seam at the start of the part.
    seam: Seam,
    /// By upid: the place of the furthest line in this part's seam that belongs to the part before.
    passed_over: FxHashMap<i64, u64>,
    pub(super) out: LaneColumns,
    pub(super) tasks: Vec<Task<'a>>,
    slots: FxHashMap<i64, u32>,
    /// The most recent tasks, by the low bits of their serials: (upid, slot).
    recent: Vec<(i64, u32)>,
    tags: FxHashMap<&'a [u8], KindId>,
    look_back_bytes: usize,
    /// Number of gaps so far.
    pub(super) holes: u32,
    pub(super) order: Order,
    jumbled: jumbled::Found,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(file: &'a File, part: usize, (start, end): (usize, usize)) -> Emitter<'a> {
        let mut out = LaneColumns::new(0);
        let size = end.saturating_sub(start);
        out.events.reserve(size / BYTES_AN_EVENT);
        out.files.reserve(size / BYTES_A_FILE_ROW);
        Emitter {
            file,
            seam: file.seams_of(part)[0],
            passed_over: FxHashMap::default(),
            out,
            tasks: Vec::new(),
            slots: FxHashMap::default(),
            recent: vec![(NOBODY, 0); RECENT],
            tags: FxHashMap::default(),
            look_back_bytes: 4 * around::MOST_BACK_BYTES,
            holes: 0,
            order: Order::Rises,
            jumbled: jumbled::Found::default(),
        }
    }

    pub(super) fn finish(mut self) -> LaneColumns {
        for slot in 0..self.tasks.len() as u32 {
            self.finish_call(slot);
        }
        self.file.jumbled.add(std::mem::take(&mut self.jumbled));
        self.out.sort_by_time();
        self.out.events.shrink();
        self.out
    }

    /// Returns the slot of a task, if the part has a line of it.
    #[inline]
    pub(super) fn known_slot(&self, upid: i64) -> Option<u32> {
        self.slots.get(&upid).copied()
    }

    #[inline]
    fn slot(&mut self, line: &Payload<'a>) -> u32 {
        let place = (line.upid ^ (line.upid >> 22)) as usize % RECENT;
        if let Some(&(upid, slot)) = self.recent.get(place)
            && upid == line.upid
        {
            return slot;
        }
        let slot = match self.slots.get(&line.upid) {
            Some(&slot) => slot,
            None => self.meet(line),
        };
        if let Some(recent) = self.recent.get_mut(place) {
            *recent = (line.upid, slot);
        }
        slot
    }

    /// Adds a task that is new to the part.
    fn meet(&mut self, line: &Payload<'a>) -> u32 {
        let mut task = Task {
            // upid 0 marks lines about all tasks: they belong to no thread, not to the idle thread.
            key: match line.upid {
                0 => ThreadKey::UNKNOWN,
                upid => self.file.upids.key(upid),
            },
            call: Call::none(),
            target: Target::Nothing,
            first: StringId::EMPTY,
            is_ours: false,
            last: line.time,
            // Include all gaps between the call before the part and this line.
            holes: 0,
            furthest: self.passed_over.get(&line.upid).copied().unwrap_or(0),
        };
        if around::needs_context(line) && self.seam.cut > 0 {
            around::look_back(
                self.file.text(),
                self.seam,
                line.upid,
                &mut self.look_back_bytes,
                &mut task,
                &mut self.out.strings,
            );
        }
        let slot = self.tasks.len() as u32;
        self.tasks.push(task);
        self.slots.insert(line.upid, slot);
        slot
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
        let is_kept = self.out.diagnostics.has_room(code);
        let at = is_kept.then(|| self.file.location(place)).flatten();
        self.out
            .diagnostics
            .note_many(code, severity, at, 1, message);
    }

    /// Sets the time of the line at `place` to `time` and adds a diagnostic, if its own time is impossible.
    #[inline]
    pub(super) fn put_right(&mut self, line: &mut Payload<'a>, place: usize, time: i64) {
        if time != line.time {
            self.outlier(line, place as u64);
            line.time = time;
        }
    }

    #[cold]
    fn outlier(&mut self, line: &Payload<'a>, place: u64) {
        let time = Timestamp(line.time);
        self.note("time_out_of_place", Severity::Error, place, || {
            format!(
                "the time of this line ({:.3} s) is far from those of the lines around it: it is shown at the time before it",
                time.0 as f64 / 1e9
            )
        });
    }

    /// Reads the events of a line; there are several if the tracer omitted a line end.
    #[inline]
    pub(super) fn lines(&mut self, line: &Payload<'a>, at: usize) {
        self.line(line, at as u64);
        if line.word == Word::ContEnd && !line.text.is_empty() {
            self.glued(line.text);
        }
    }

    /// Reads the events after the first one of a line whose end the tracer omitted.
    #[cold]
    fn glued(&mut self, mut text: &'a [u8]) {
        let start = self.file.text().as_ptr() as usize;
        while let Some(line) = parse_line(text) {
            let place = (text.as_ptr() as usize).saturating_sub(start);
            self.line(&line, place as u64);
            if line.word != Word::ContEnd {
                break;
            }
            text = line.text;
        }
    }

    /// Reads one event.
    #[inline]
    fn line(&mut self, line: &Payload<'a>, place: u64) {
        let slot = self.slot(line);
        let Some(task) = self.tasks.get_mut(slot as usize) else {
            return;
        };
        if line.time < task.last {
            self.order = Order::GoesBack;
        }
        task.last = line.time;
        task.comes_to(line.upid, place, self.holes, &mut self.jumbled);
        let starts = match line.word {
            Word::Call(sort) if !goes_on(&task.call, line) => Some(sort),
            Word::Unknown if !goes_on(&task.call, line) => Some(Sort::Unknown),
            _ => None,
        };
        if let Some(sort) = starts {
            return self.call(sort, slot, line, place);
        }
        let (target, first, out) = (task.target, &mut task.first, &mut self.out);
        let fit = task.call.read(line, &mut |text, bytes: &[u8]| {
            deliver(out, target, first, text, bytes);
        });
        match fit {
            Fit::Belongs => {}
            Fit::Alone => self.lone_text(slot, line, place),
            Fit::Stray => self.stray(line, place),
        }
    }

    #[cold]
    fn lone_text(&mut self, slot: u32, line: &Payload<'a>, place: u64) {
        self.finish_call(slot);
        let Word::Text(text) = line.word else { return };
        let Some(task) = self.tasks.get_mut(slot as usize) else {
            return;
        };
        task.call.start_lone(text, line, place);
        task.target = Target::Nothing;
        task.is_ours = true;
        let key = task.key;
        self.push(line, place, Kinds::of_slot(text), key);
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
            format!("{tag} goes on with or ends something that is not there")
        });
    }

    /// Reads a line that is not an event: a gap, the first line, a comment, or garbage.
    #[cold]
    pub(super) fn other_line(&mut self, line: &[u8], place: u64) {
        if let Some((cpu, lost)) = parse_lost(line) {
            return self.hole(cpu, lost, place);
        }
        if line == HOLE {
            self.holes = self.holes.wrapping_add(1);
            return;
        }
        let head = self.file.head.directory;
        let is_head = head.is_some_and(|head| head.line as u64 == place);
        if is_head || line.is_empty() || line.starts_with(b"#") {
            return;
        }
        self.note("junk_line", Severity::Error, place, || {
            let shown: Vec<u8> = line.iter().copied().take(60).collect();
            format!(
                "this line is no event and was skipped: {}",
                words::escaped(&shown, "")
            )
        });
    }

    /// Adds a gap in the events of a CPU, with the count of lost events if known.
    fn hole(&mut self, cpu: u32, lost: Option<u64>, place: u64) {
        self.holes = self.holes.wrapping_add(1);
        let (start, end) = around::hole(self.file.text(), place, cpu);
        self.out.gaps.push(Gap {
            start,
            end,
            cpu: Some(cpu),
            lost,
        });
        let Some(lost) = lost else {
            return self.note("uncounted_loss", Severity::DataLoss, place, || {
                "the tracer lost events before this line, or another that says so of its CPU; it does not say how many"
                    .to_owned()
            });
        };
        let is_kept = self.out.diagnostics.has_room("lost_events");
        let at = is_kept.then(|| self.file.location(place)).flatten();
        self.out
            .diagnostics
            .note_many("lost_events", Severity::DataLoss, at, lost, || {
                "the tracer lost an event before this line, or another that says so of its CPU"
                    .to_owned()
            });
    }

    #[inline]
    fn push(&mut self, line: &Payload<'a>, place: u64, kind: KindId, key: ThreadKey) -> u32 {
        self.out
            .events
            .push_on_cpu(line.time, place, kind, key, line.cpu as u16)
    }

    /// Reads a line that starts a call.
    fn call(&mut self, sort: Sort, slot: u32, line: &Payload<'a>, place: u64) {
        self.finish_call(slot);
        let kind = match sort {
            Sort::Unknown => self.kind_of_tag(line.tag),
            sort => Kinds::of_sort(sort),
        };
        let Some(task) = self.tasks.get_mut(slot as usize) else {
            return;
        };
        let before = Before {
            sort: task.call.sort,
            flags: task.call.values.get(Key::Flags).unwrap_or(0),
            first: task.first,
            target: task.target,
        };
        let start = match sort {
            Sort::RenameTo => Some([Sort::RenameFrom, Sort::Rename2From]),
            Sort::LinkTo => Some([Sort::LinkFrom, Sort::LinkatFrom]),
            _ => None,
        };
        let is_half = match before.sort {
            Sort::RenameFrom | Sort::Rename2From => {
                !matches!(sort, Sort::RenameTo | Sort::RenameFailed)
            }
            Sort::LinkFrom | Sort::LinkatFrom => !matches!(sort, Sort::LinkTo | Sort::LinkFailed),
            _ => false,
        };
        let half_at = task.call.place;
        let has_start = start.is_none_or(|start| start.contains(&before.sort));
        task.call.start(sort, line, place);
        task.first = StringId::EMPTY;
        task.is_ours = true;
        let key = task.key;
        let event = self.push(line, place, kind, key);
        if sort == Sort::Upid {
            self.file.environments.fetch_min(place, Ordering::Relaxed);
        }
        if is_half {
            let name = before.sort.name();
            self.note("call_without_end", Severity::Error, half_at, || {
                format!(
                    "{name} comes without the line that says to where, or that it failed: it is no use of a file"
                )
            });
        }
        if !has_start {
            let name = sort.name();
            self.note("call_without_start", Severity::Error, place, || {
                format!(
                    "{name} comes without the line that says from where: it is no use of a file"
                )
            });
        }
        let target = self.rows(sort, slot, key, event, line, &before);
        if let Some(task) = self.tasks.get_mut(slot as usize) {
            task.target = target;
        }
    }

    fn kind_of_tag(&mut self, tag: &'a [u8]) -> KindId {
        let kinds = &self.file.kinds;
        *self.tags.entry(tag).or_insert_with(|| kinds.of_tag(tag))
    }

    /// Records a line at the part's start that belongs to the part before.
    #[cold]
    pub(super) fn pass_over(&mut self, line: &Payload<'a>, place: usize) {
        let furthest = self.passed_over.entry(line.upid).or_default();
        *furthest = place as u64;
    }

    /// Reads a line of a task's call that is after the part's end.
    pub(super) fn read_late(&mut self, slot: u32, line: &Payload<'a>, place: usize) -> Fit {
        let Some(task) = self.tasks.get_mut(slot as usize) else {
            return Fit::Stray;
        };
        task.comes_to(line.upid, place as u64, self.holes, &mut self.jumbled);
        if matches!(line.word, Word::Call(_) | Word::Unknown) && !goes_on(&task.call, line) {
            return Fit::Alone;
        }
        let (target, first, out) = (task.target, &mut task.first, &mut self.out);
        task.call.read(line, &mut |text, bytes: &[u8]| {
            deliver(out, target, first, text, bytes);
        })
    }

    /// Ends a task's call: no more lines belong to it.
    #[inline]
    fn finish_call(&mut self, slot: u32) {
        let Some(task) = self.tasks.get_mut(slot as usize) else {
            return;
        };
        let (target, first, out) = (task.target, &mut task.first, &mut self.out);
        task.call.finish_text(&mut |text, bytes: &[u8]| {
            deliver(out, target, first, text, bytes);
        });
        if task.is_ours
            && let Some(flaw) = task.call.flaw()
        {
            let (sort, place) = (task.call.sort, task.call.place);
            match target {
                Target::File(row) if flaw == Flaw::Incomplete => self.path_as_said(row),
                Target::Life(row) => self.without_lost(slot, row),
                _ => {}
            }
            self.flaw(sort, place, flaw);
        }
    }

    /// Uses the path as the program wrote it for a row whose path was lost, if it is absolute.
    #[cold]
    fn path_as_said(&mut self, row: u32) {
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
    fn without_lost(&mut self, slot: u32, row: u32) {
        let task = self.tasks.get(slot as usize);
        let row = self.out.lives.get_mut(row as usize);
        if let (Some(task), Some(row)) = (task, row)
            && let Life::Exec { arguments, .. } = &mut row.life
        {
            remove_at(arguments, task.call.lost_arguments());
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

/// Returns whether a line that looks like the start of a call continues the call before.
#[inline]
fn goes_on(call: &Call<'_>, line: &Payload<'_>) -> bool {
    line.number.is_some_and(|number| number > 0)
        && match line.word {
            Word::Call(Sort::Env) => call.sort == Sort::Env,
            Word::Unknown => call.sort == Sort::Unknown && call.unknown_tag() == line.tag,
            _ => false,
        }
}
