//! Reads the lines of one part of the text as tokens, grouped by task.
//!
//! ```text
//! 0: 8389609,1,38,90983795!FN|/usr/include/stdio.h
//! ^ place                  ^ place + start_bytes                token: time 8 | place 4 | start 2 | CPU 2 = 16 bytes
//!
//! tokens of task A, in file order | tokens of task B | ...      tasks in the order of their first lines
//! ```
//!
//! Parts are independent: which lines form a call, and in which order, is determined when the tokens of a task are
//! together (`by_task`, `emit`). Lines that belong to no task are handled here, in file order: losses, lines that are
//! not events, and impossible times.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::{Job, ReadError, Severity, budget};

use super::file::File;
use super::kinds::MOST_UNKNOWN;
use super::line::{LostLine, Payload, Word, parse_line, parse_lost};
use super::lines::{HOLE, LineAt, line_at};
use super::losses::{EventOnCpu, Loss, LossLine, PartLosses};
use super::notes::{About, Moment, Notes};
use super::outliers::Outliers;
use super::words;

const CHECK_BYTES: usize = 1 << 20;
/// Number of tasks in the cache before the map.
const RECENT: usize = 64;
/// An upid of no task: upids are not negative.
const NOBODY: i64 = -1;
/// Estimated maximum number of bytes per line, to reserve room for tokens.
const BYTES_A_LINE: usize = 60;

/// One event of the text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Token {
    /// Time in ns; corrected if the line's own time is impossible.
    pub time: i64,
    /// Start of the event, byte offset in the part.
    pub place: u32,
    /// Length of the event up to its tag, bytes.
    pub start_bytes: u16,
    /// The CPU.
    pub cpu: u16,
}

/// The tokens of one task in a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The task.
    pub upid: i64,
    /// Index of the token after the group's last; a group starts at the end of the group before it.
    end: u32,
}

/// The result of reading a part.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// Byte offset of the part.
    pub(super) start: u64,
    /// All tokens, group by group; the tokens of a group are in file order.
    pub(super) all: Vec<Token>,
    /// The groups, in the order of their first events.
    pub(super) groups: Vec<Group>,
    /// Tasks with lines whose times were corrected.
    pub(super) corrected: Vec<i64>,
    /// The unknown tags, in file order.
    pub(super) unknown_tags: Vec<Vec<u8>>,
    /// Lost events.
    pub(super) losses: PartLosses,
    /// Diagnostics.
    pub(super) notes: Notes,
}

impl Tokens {
    /// Returns the tokens of group number `group`.
    pub(super) fn of_group(&self, group: usize) -> &[Token] {
        let end = self.groups.get(group).map_or(0, |group| group.end);
        let before = group.checked_sub(1).and_then(|at| self.groups.get(at));
        let start = before.map_or(0, |group| group.end);
        self.all.get(start as usize..end as usize).unwrap_or(&[])
    }
}

/// Reads the lines of part number `part`.
///
/// # Errors
/// Errors if there is not enough memory, or the job was cancelled.
pub(crate) fn tokenise(file: &File, part: usize, job: &Job) -> Result<Tokens, ReadError> {
    let text = file.text();
    let std::ops::Range { start, end } = file.range(part);
    let mut outliers = Outliers::new(text, start);
    let mut tokeniser = Tokeniser::new(file, start, end - start);
    tokeniser.last = outliers.last_time().unwrap_or(i64::MIN);
    let (mut at, mut checked, mut line_count) = (start, start, 0);
    while at < end {
        if at.saturating_sub(checked) >= CHECK_BYTES {
            job.check()?;
            job.advance((at - checked) as u64);
            checked = at;
        }
        let Some(LineAt { line, next }) = line_at(text, at) else {
            break;
        };
        line_count += 1;
        match parse_line(line) {
            Some(payload) => {
                let time = outliers.corrected(payload.time, next);
                tokeniser.event_line(line, &payload, at, time)?;
            }
            None => tokeniser.other_line(line, at as u64),
        }
        at = next;
    }
    file.line_counts.set(part, line_count);
    job.advance(end.saturating_sub(checked) as u64);
    tokeniser.finish()
}

struct Tokeniser<'a> {
    file: &'a File,
    start: usize,
    tokens: Vec<Token>,
    /// The task of each token.
    tasks: Vec<u32>,
    /// The upid of each task, and the number of its tokens.
    upids: Vec<(i64, u32)>,
    numbers: FxHashMap<i64, u32>,
    /// The most recent tasks, by the low bits of their serials.
    recent: [(i64, u32); RECENT],
    /// Time of the previous line, in ns.
    last: i64,
    /// Number of the latest losses that do not have the time of the next event yet.
    waiting: usize,
    seen_tags: FxHashSet<&'a [u8]>,
    corrected: Vec<i64>,
    unknown_tags: Vec<Vec<u8>>,
    losses: PartLosses,
    notes: Notes,
}

impl<'a> Tokeniser<'a> {
    fn new(file: &'a File, start: usize, size: usize) -> Tokeniser<'a> {
        Tokeniser {
            file,
            start,
            tokens: Vec::with_capacity(size / BYTES_A_LINE),
            tasks: Vec::with_capacity(size / BYTES_A_LINE),
            upids: Vec::new(),
            numbers: FxHashMap::default(),
            recent: [(NOBODY, 0); RECENT],
            last: i64::MIN,
            waiting: 0,
            seen_tags: FxHashSet::default(),
            corrected: Vec::new(),
            unknown_tags: Vec::new(),
            losses: PartLosses::default(),
            notes: Notes::default(),
        }
    }

    /// Adds the events of a line; there are several if the tracer omitted a line end. `time` is the time of the first
    /// event.
    #[inline]
    fn event_line(
        &mut self,
        line: &'a [u8],
        payload: &Payload<'a>,
        place: usize,
        time: i64,
    ) -> Result<(), ReadError> {
        if time != payload.time {
            self.note_outlier(payload, (time, place as u64));
        }
        self.last = time;
        self.losses.first_time.get_or_insert(time);
        if self.waiting > 0 {
            self.time_losses(time);
        }
        self.event(line, payload, place, time)?;
        match payload.rest_of_line() {
            Some(rest) => self.glued(rest, place + (line.len() - rest.len())),
            None => Ok(()),
        }
    }

    /// Adds the events after the first one of a line whose end the tracer omitted.
    #[cold]
    fn glued(&mut self, mut text: &'a [u8], mut place: usize) -> Result<(), ReadError> {
        while let Some(payload) = parse_line(text) {
            // This event was written after the previous one on the line, so it must not be read before that one.
            let time = payload.time.max(self.last);
            self.event(text, &payload, place, time)?;
            let Some(rest) = payload.rest_of_line() else {
                break;
            };
            place += text.len() - rest.len();
            text = rest;
        }
        Ok(())
    }

    #[inline]
    fn event(
        &mut self,
        text: &'a [u8],
        payload: &Payload<'a>,
        place: usize,
        time: i64,
    ) -> Result<(), ReadError> {
        let start_bytes = u16::try_from(payload.bytes_before_tag(text));
        let (Ok(start_bytes), Ok(place)) = (start_bytes, u32::try_from(place - self.start)) else {
            // Neither limit is ever exceeded: context and numbers are short, and so is the distance from the start of a
            // part.
            return Ok(());
        };
        if payload.word == Word::Unknown {
            self.note_tag(payload.tag);
        }
        if self.tokens.len() == self.tokens.capacity() {
            grow(&mut self.tokens)?;
            grow(&mut self.tasks)?;
        }
        let task = self.task(payload.upid);
        self.tokens.push(Token {
            time,
            place,
            start_bytes,
            cpu: payload.cpu,
        });
        self.tasks.push(task);
        self.losses.cpus.add(payload.cpu, time);
        Ok(())
    }

    /// Returns the number of a task, and counts one more token of it.
    #[inline]
    fn task(&mut self, upid: i64) -> u32 {
        let place = (upid ^ (upid >> 22)) as usize % RECENT;
        let task = match self.recent[place] {
            (known, task) if known == upid => task,
            _ => {
                let new = self.upids.len() as u32;
                let task = *self.numbers.entry(upid).or_insert(new);
                if task == new {
                    self.upids.push((upid, 0));
                }
                self.recent[place] = (upid, task);
                task
            }
        };
        if let Some(entry) = self.upids.get_mut(task as usize) {
            entry.1 += 1;
        }
        task
    }

    #[cold]
    fn note_tag(&mut self, tag: &'a [u8]) {
        if self.unknown_tags.len() < MOST_UNKNOWN && self.seen_tags.insert(tag) {
            self.unknown_tags.push(tag.to_vec());
        }
    }

    #[cold]
    fn note_outlier(&mut self, line: &Payload<'a>, at: Moment) {
        self.corrected.push(line.upid);
        let own = line.time as f64 / 1e9;
        self.note("time_out_of_place", Severity::Error, at, 1, || {
            format!(
                "the time of this line ({own:.3} s) is far from those of the lines around it: it is shown at the time before it"
            )
        });
    }

    /// Sets the time of the losses before an event.
    #[cold]
    fn time_losses(&mut self, time: i64) {
        let waiting = std::mem::take(&mut self.waiting);
        for line in self.losses.lines.iter_mut().rev().take(waiting) {
            line.time = Some(time);
        }
    }

    /// Adds a diagnostic for the line at `at`; `count` is how often the problem happened there.
    fn note(
        &mut self,
        code: &'static str,
        severity: Severity,
        at: Moment,
        count: u64,
        message: impl FnOnce() -> String,
    ) {
        let about = About {
            at,
            place: at.1,
            count,
        };
        self.notes.add(code, severity, about, message);
    }

    /// Reads a line that is not an event: a loss, the first line, a comment, or garbage.
    #[cold]
    fn other_line(&mut self, line: &[u8], place: u64) {
        if line == HOLE {
            return self.lost(place, None);
        }
        if let Some(LostLine { cpu, lost }) = parse_lost(line) {
            let start = self.losses.cpus.last(cpu);
            let loss = Loss {
                cpu,
                lost,
                start,
                end: None,
            };
            return self.lost(place, Some(loss));
        }
        let head = self.file.head.directory;
        let is_head = head.is_some_and(|head| head.line as u64 == place);
        if is_head || line.is_empty() || line.starts_with(b"#") {
            return;
        }
        let at = (self.last, place);
        self.note("junk_line", Severity::Error, at, 1, || {
            let shown: Vec<u8> = line.iter().copied().take(60).collect();
            format!(
                "this unrecognised line was skipped: {}",
                words::escaped(&shown, "")
            )
        });
    }

    fn lost(&mut self, place: u64, loss: Option<Loss>) {
        self.waiting += 1;
        self.losses.lines.push(LossLine {
            place,
            time: None,
            loss,
        });
        let Some(loss) = loss else {
            return;
        };
        let at = (self.last, place);
        match loss.lost {
            None => self.note("uncounted_loss", Severity::DataLoss, at, 1, || {
                "the tracer lost an unknown number of events before this line, or before another line that reports a loss of its CPU"
                    .to_owned()
            }),
            Some(lost) => self.note("lost_events", Severity::DataLoss, at, lost, || {
                "the tracer lost an event before this line, or before another line that reports a loss of its CPU"
                    .to_owned()
            }),
        }
    }

    /// Groups the tokens by task; tokens of a task stay in file order.
    fn finish(mut self) -> Result<Tokens, ReadError> {
        let start = self.start as u64;
        let backwards = self.tokens.iter().rev();
        self.losses.find_ends(backwards.map(|token| EventOnCpu {
            place: start + u64::from(token.place),
            cpu: token.cpu,
            time: token.time,
        }));
        let mut groups = Vec::with_capacity(self.upids.len());
        let mut next = Vec::with_capacity(self.upids.len());
        let mut end = 0;
        for &(upid, count) in &self.upids {
            next.push(end as usize);
            end += count;
            groups.push(Group { upid, end });
        }
        let mut all = Vec::new();
        budget::grow_exact(&mut all, self.tokens.len()).map_err(no_memory)?;
        all.resize(self.tokens.len(), Token::default());
        for (token, task) in self.tokens.into_iter().zip(self.tasks) {
            let at = &mut next[task as usize];
            all[*at] = token;
            *at += 1;
        }
        Ok(Tokens {
            start,
            all,
            groups,
            corrected: self.corrected,
            unknown_tags: self.unknown_tags,
            losses: self.losses,
            notes: self.notes,
        })
    }
}

#[cold]
fn grow<T>(items: &mut Vec<T>) -> Result<(), ReadError> {
    budget::grow(items, 1024).map_err(no_memory)
}

fn no_memory(problem: crate::base::Problem) -> ReadError {
    ReadError::at_byte(0, "lines", problem)
}
