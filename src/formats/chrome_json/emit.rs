//! The bulk pass: reads the events of one part and returns its columns, and its facts about processes, threads and the
//! file.
//!
//! An ordinary event needs one look-up of its thread (none if the previous event had the same thread) and one of its
//! category and name. `docs/chrome-json.md` lists the result for each phase.

use rustc_hash::FxHashMap;

use super::counters::SeriesKey;
use super::event::RawEvent;
use super::numbers::Micros;
use super::people::{Ident, MetadataEvent, Pair, PartPeople};
use super::scan::{Members, Quoted, Raw};
use super::text::{plain, shortened, shown};
use super::walk::{Border, Form, Found, Walk};
use crate::base::strings::exact_bytes;
use crate::base::{Job, Location, Maybe, ReadError, Severity, StringId};
use crate::event::family::Family;
use crate::event::part::ClockMark;
use crate::event::slice_kind::Nesting;
use crate::event::{
    AsyncOp, Complete, CpuLoss, FlowOp, KindId, KindOrigin, Label, LaneColumns, Mark, MarkOp, Role,
    SliceKind, ThreadKey, Ties, UNSEEN_END,
};
use crate::formats::part_names::{Implied, KindAndLabel, NameIds, PartNames};

const CHECK_BYTES: usize = 1 << 20;
/// If the last event of a part does not end within this number of bytes after the part, its end is searched again
/// later.
const MOST_BEYOND: usize = 16 << 20;
/// The name of ends of slices without a name of their own.
pub(super) const NAMELESS_END: &str = "end";
/// The category of kinds of stack samples, which have no category.
const SAMPLES: &str = "samples";

/// The data that all parts of a file are read with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'f> {
    pub(super) bytes: &'f [u8],
    pub(super) form: Form,
    /// Whether our own exporter wrote the file.
    pub(super) is_ours: bool,
}

/// How far a part may be read beyond its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// At most [`MOST_BEYOND`] bytes, because the start of the part was guessed.
    Guessed,
    /// To the end of the part's last event.
    Certain,
}

/// A part that was read.
#[derive(Debug)]
pub(super) struct PartRead {
    /// Where reading started.
    pub(super) start: Border,
    /// Where the next part starts; `None` if the end of the last event was not found within [`Reach::Guessed`].
    pub(super) end: Option<Border>,
    pub(super) columns: LaneColumns,
    pub(super) people: PartPeople,
    pub(super) metadata: Vec<MetadataEvent>,
    /// Moments that other recordings may also contain.
    pub(super) clock_marks: Vec<ClockMark>,
    /// Counts of the lost events of CPUs, in files of our own exporter.
    pub(super) cpu_losses: Vec<CpuLoss>,
    /// Places of stack frames by their ids.
    pub(super) frames: Vec<(Vec<u8>, u64)>,
    /// Places of the values of other members of the file, by their keys.
    pub(super) members: Vec<(Vec<u8>, u64)>,
}

/// Reads the events from `start` to the offset `until`.
///
/// # Errors
/// Errors only if the job was cancelled.
pub(super) fn emit(
    source: Source<'_>,
    start: Border,
    until: usize,
    reach: Reach,
    job: &Job,
) -> Result<PartRead, ReadError> {
    let all = source.bytes;
    let end = match reach {
        Reach::Guessed => all.len().min(until.saturating_add(MOST_BEYOND)),
        Reach::Certain => all.len(),
    };
    let bytes = all.get(..end).unwrap_or(all);
    let mut emitter = Emitter::new(source, bytes, start);
    let walk = Walk::new(bytes, source.form, start, until);
    let mut walk = match end == all.len() {
        true => walk.of_whole_file(),
        false => walk,
    };
    let mut done = start.at;
    let mut is_cut = false;
    while let Some(found) = walk.next() {
        let at = emitter.found(found, &walk.event);
        if let Some(fault) = walk.fault() {
            emitter.faulty(fault);
        }
        if let Found::Broken { resumed, .. } = found
            && resumed >= end
            && end < all.len()
        {
            is_cut = true;
            break;
        }
        if at.saturating_sub(done) >= CHECK_BYTES {
            job.check()?;
            job.advance((at - done) as u64);
            done = at;
        }
    }
    job.check()?;
    job.advance(until.min(all.len()).saturating_sub(done) as u64);
    let end = (!is_cut).then(|| walk.border());
    Ok(emitter.finish(end))
}

/// An event with what its members mean.
#[derive(Clone, Copy)]
pub(super) struct Event<'e, 'a> {
    pub(super) at: usize,
    pub(super) raw: &'e RawEvent<'a>,
    pub(super) time: i64,
    pub(super) micros: Micros,
    pub(super) pair: Pair,
    pub(super) thread: ThreadKey,
    /// Whether it is not known which thread recorded it; then `thread` has no meaning.
    pub(super) is_of_nobody: bool,
    /// The CPU whose track the event is on, if it is not on that of its thread.
    pub(super) cpu: Option<u16>,
    pub(super) category: StringId,
    pub(super) name: StringId,
}

impl Event<'_, '_> {
    #[inline]
    fn names(&self) -> NameIds {
        NameIds {
            category: self.category,
            name: self.name,
        }
    }
}

pub(super) struct Emitter<'f> {
    pub(super) source: Source<'f>,
    /// The bytes of the file up to the place to which the part may be read.
    bytes: &'f [u8],
    pub(super) out: PartRead,
    last_category: (Raw<'f>, StringId),
    names: PartNames,
    /// Labels of slices that are of a CPU or whose kind is not the one that their category implies, in our own exports.
    pub(super) labels_by_kind: FxHashMap<Label, u32>,
    pub(super) all_series: FxHashMap<SeriesKey, u32>,
    /// The CPUs of events, by their index, in our own exports.
    pub(super) cpus: Vec<(u32, u16)>,
}

/// Returns what a category of any program implies.
fn implied_by(category: &[u8]) -> Implied {
    Implied {
        slices: SliceKind::Durations,
        origin: KindOrigin::of_system(category),
    }
}

/// Returns what a category of our own exports implies.
fn implied_in_own(category: &[u8]) -> Implied {
    Implied {
        slices: SliceKind::implied(category, Nesting::Nested),
        ..implied_by(category)
    }
}

impl<'f> Emitter<'f> {
    fn new(source: Source<'f>, bytes: &'f [u8], start: Border) -> Emitter<'f> {
        let (ties, implied): (_, fn(&[u8]) -> Implied) = match source.is_ours {
            true => (Ties::First, implied_in_own),
            false => (Ties::Longest, implied_by),
        };
        Emitter {
            source,
            bytes,
            out: PartRead {
                start,
                end: None,
                columns: LaneColumns {
                    ties,
                    ..LaneColumns::new(0)
                },
                people: PartPeople::default(),
                metadata: Vec::new(),
                clock_marks: Vec::new(),
                cpu_losses: Vec::new(),
                frames: Vec::new(),
                members: Vec::new(),
            },
            last_category: (Raw::None, StringId::EMPTY),
            names: PartNames::new(Family::NamedDurations, implied),
            labels_by_kind: FxHashMap::default(),
            all_series: FxHashMap::default(),
            cpus: Vec::new(),
        }
    }

    fn finish(mut self, end: Option<Border>) -> PartRead {
        self.out.end = end;
        self.out.columns.events.set_cpus(&self.cpus);
        self.out
    }

    /// Processes an item that the walk found, and the members of an event; returns the item's place.
    #[inline]
    fn found(&mut self, found: Found<'f>, event: &RawEvent<'f>) -> usize {
        match found {
            Found::Event { at } => {
                self.event(at, event);
                at
            }
            Found::Sample { at } => {
                self.sample(at, event);
                at
            }
            Found::Frame { at, id } => {
                self.out.frames.push((plain(id).into_owned(), at as u64));
                at
            }
            Found::Member { at, key } => {
                self.out.members.push((plain(key).into_owned(), at as u64));
                at
            }
            Found::Stray { at } => {
                self.note("stray_value", at, || {
                    "an element of the list of events is not an event and was skipped".to_owned()
                });
                at
            }
            Found::Broken { at, resumed } => {
                self.broken(at, resumed);
                resumed
            }
        }
    }

    /// Notes an error inside a value that was read nevertheless.
    #[cold]
    fn faulty(&mut self, at: usize) {
        self.note("not_json", at, || {
            "the text is not JSON here: the item was read, but of the value at this place only what precedes it".to_owned()
        });
    }

    #[cold]
    fn broken(&mut self, at: usize, resumed: usize) {
        let is_end = resumed >= self.bytes.len();
        match is_end {
            true => self.note("cut_event", at, || {
                "the text ends inside a value, or is not JSON from here on".to_owned()
            }),
            false => self.note("not_json", at, || {
                format!("the text is not JSON here: reading continued at byte {resumed:#x}")
            }),
        }
    }

    #[cold]
    pub(super) fn note(&mut self, code: &'static str, at: usize, message: impl FnOnce() -> String) {
        let at = Location::Byte(at as u64);
        let diagnostics = &mut self.out.columns.diagnostics;
        diagnostics.note(code, Severity::Error, at, message);
    }

    #[cold]
    pub(super) fn hint(&mut self, code: &'static str, at: usize, message: impl FnOnce() -> String) {
        let at = Location::Byte(at as u64);
        let diagnostics = &mut self.out.columns.diagnostics;
        diagnostics.note(code, Severity::Info, at, message);
    }

    #[inline]
    pub(super) fn intern(&mut self, quoted: Quoted<'_>) -> StringId {
        let strings = &mut self.out.columns.strings;
        match (quoted.has_escape, self.source.is_ours) {
            (false, _) => strings.intern(quoted.bytes),
            (true, false) => strings.intern(&plain(quoted)),
            (true, true) => strings.intern(&exact_bytes(&shown(quoted))),
        }
    }

    /// Returns the name or category of an event: a text, or the digits or letters of a number or word.
    #[inline]
    pub(super) fn name(&mut self, raw: Raw<'_>) -> StringId {
        match raw {
            Raw::Text(quoted) => self.intern(quoted),
            other => self.out.columns.strings.intern(other.bytes()),
        }
    }

    /// Returns the category of an event, which is usually that of the previous event.
    #[inline]
    fn category(&mut self, raw: Raw<'f>) -> StringId {
        match self.last_category {
            (last, id) if last == raw => id,
            _ => {
                let id = self.name(raw);
                self.last_category = (raw, id);
                id
            }
        }
    }

    fn event(&mut self, at: usize, raw: &RawEvent<'f>) {
        match raw.phase {
            b'M' => self.metadata(at, raw),
            0 => self.note("no_phase", at, || {
                "an object among the events has no phase (ph) and was skipped".to_owned()
            }),
            _ if raw.is_sum() => self.sum(at, raw),
            _ => {
                if let Some(event) = self.timed(at, raw) {
                    self.phase(event);
                }
            }
        }
    }

    /// Adds a sum over the trace as a point on the thread with its process's number, not on the thread that it names:
    /// each sum names a thread of its own, which does not exist.
    #[cold]
    fn sum(&mut self, at: usize, raw: &RawEvent<'f>) {
        let mut raw = *raw;
        raw.thread = Raw::None;
        if let Some(event) = self.timed(at, &raw) {
            self.push(&event, Role::Instant);
        }
    }

    fn sample(&mut self, at: usize, raw: &RawEvent<'f>) {
        if let Some(mut event) = self.timed(at, raw) {
            if event.category == StringId::EMPTY {
                event.category = self.out.columns.strings.intern_text(SAMPLES);
            }
            self.push(&event, Role::Instant);
        }
    }

    /// Returns the event with its time and thread; `None` if it has no time.
    #[inline]
    fn timed<'e>(&mut self, at: usize, raw: &'e RawEvent<'f>) -> Option<Event<'e, 'f>> {
        let micros = Micros::parse(raw.time.bytes());
        let Some((micros, time)) = micros.and_then(|micros| Some((micros, micros.rounded()?)))
        else {
            self.bad_time(at, raw.time);
            return None;
        };
        let strings = &mut self.out.columns.strings;
        let process = Ident::of(raw.process, strings);
        let thread = match Ident::of(raw.thread, strings) {
            Ident::None => process,
            thread => thread,
        };
        let pair = Pair { process, thread };
        let thread = self.out.people.thread(pair);
        Some(Event {
            at,
            raw,
            time: time.min(i64::MAX - 1),
            micros,
            pair,
            thread,
            is_of_nobody: false,
            cpu: None,
            category: self.category(raw.category),
            name: self.name_of(raw),
        })
    }

    /// Returns the name of an event. Names of slices and instants may have several ids in a part; those that keys are made
    /// of (of counters, arrows, asynchronous slices) have one, so that a part has few keys.
    #[inline]
    fn name_of(&mut self, raw: &RawEvent<'f>) -> StringId {
        match (raw.phase, raw.name) {
            (b'X' | b'B' | b'E' | b'i' | b'I', Raw::Text(name)) if !name.has_escape => {
                let strings = &mut self.out.columns.strings;
                strings.intern_first(name.bytes)
            }
            _ => self.name(raw.name),
        }
    }

    #[cold]
    fn bad_time(&mut self, at: usize, time: Raw<'_>) {
        let text = shortened(&String::from_utf8_lossy(time.bytes()));
        self.note("bad_time", at, || match text.is_empty() {
            true => "an event has no time (ts) and was dropped".to_owned(),
            false => format!("{text} is not a time that can be shown; the event was dropped"),
        });
    }

    fn phase(&mut self, event: Event<'_, 'f>) {
        let mut event = event;
        if self.source.is_ours {
            if self.own_scheduling(&event).is_some() {
                return;
            }
            event = self.of_cpu_track(&event).unwrap_or(event);
        }
        match event.raw.phase {
            b'X' => self.complete(&event),
            b'B' => {
                let (index, label) = self.push_slice(&event);
                let label = self.own_label(label, &event);
                self.mark(index, label, MarkOp::Begin);
                self.own_cut(&event, index);
                self.bound_flow(&event, index);
            }
            b'E' => {
                let mut event = event;
                // The end may repeat category and name of its begin, or be without them.
                let label = self.names.label(&mut self.out.columns, event.names());
                if event.name == StringId::EMPTY {
                    event.name = self.out.columns.strings.intern_text(NAMELESS_END);
                }
                let index = self.push(&event, Role::Named);
                let op = match self.has_own_argument(&event, b"end_not_seen") {
                    true => MarkOp::Over,
                    false => MarkOp::End,
                };
                self.mark(index, label, op);
            }
            b'C' => self.counter(&event),
            b'b' | b'S' => self.async_mark(&event, AsyncOp::Begin),
            b'n' | b'T' | b'p' => self.async_mark(&event, AsyncOp::Instant),
            b'e' | b'F' => {
                let op = match self.has_own_argument(&event, b"end_not_seen") {
                    true => AsyncOp::Over,
                    false => AsyncOp::End,
                };
                self.async_mark(&event, op);
            }
            b'N' => self.async_mark(&event, AsyncOp::Begin),
            b'O' => self.async_mark(&event, AsyncOp::Instant),
            b'D' => self.async_mark(&event, AsyncOp::End),
            b's' => self.flow(&event, FlowOp::Begin),
            b't' => self.flow(&event, FlowOp::Step),
            b'f' => self.flow(&event, FlowOp::End),
            b'c' => {
                self.clock_mark(&event);
                self.push(&event, Role::Instant);
            }
            b'i' | b'I' | b'R' | b'P' | b'V' | b'v' | b'(' | b')' => {
                let index = self.push(&event, Role::Instant);
                self.own_cpu(&event, index);
            }
            other => {
                let letter = char::from(other);
                self.hint("unknown_phase", event.at, || {
                    format!("phase {letter:?} is not known: its events are shown as instants")
                });
                self.push(&event, Role::Instant);
            }
        }
    }

    /// Adds an event that is drawn in its role; returns its index.
    #[inline]
    pub(super) fn push(&mut self, event: &Event<'_, 'f>, role: Role) -> u32 {
        let role = match (role, event.cpu) {
            (Role::Instant, Some(_)) => Role::CpuInstant,
            _ => role,
        };
        let kind = self.names.kind(&mut self.out.columns, event.names(), role);
        self.push_kind(event, kind)
    }

    /// Adds an event that begins a slice or is one; returns its index and the slice's label.
    #[inline]
    fn push_slice(&mut self, event: &Event<'_, 'f>) -> (u32, u32) {
        let KindAndLabel { kind, label } = self.names.slice(&mut self.out.columns, event.names());
        (self.push_kind(event, kind), label)
    }

    #[inline]
    fn push_kind(&mut self, event: &Event<'_, 'f>, kind: KindId) -> u32 {
        let events = &mut self.out.columns.events;
        let thread = match event.is_of_nobody {
            true => Maybe::NONE,
            false => Maybe::new(event.thread),
        };
        let index = events.push(event.time, event.at as u64, kind, thread);
        self.cpus.extend(event.cpu.map(|cpu| (index, cpu)));
        index
    }

    /// Adds a moment whose id other recordings may also contain: the middle between the request (`issue_ts`) and the
    /// answer.
    fn clock_mark(&mut self, event: &Event<'_, 'f>) {
        if self.out.columns.strings.bytes(event.name) != b"clock_sync" {
            return;
        }
        let Some(Raw::Text(id)) = argument_of(event, b"sync_id") else {
            return;
        };
        let issued = argument_of(event, b"issue_ts");
        let issued = issued.and_then(|at| Micros::parse(at.bytes())?.rounded());
        let waited = issued.map_or(0, |issued| event.time.saturating_sub(issued));
        let time = event.time.saturating_sub(waited / 2);
        ClockMark::add_to(&plain(id), time, &mut self.out.clock_marks);
    }

    fn mark(&mut self, event: u32, label: u32, op: MarkOp) {
        self.out.columns.marks.push(Mark::new(event, label, op));
    }

    fn complete(&mut self, event: &Event<'_, 'f>) {
        let (index, label) = self.push_slice(event);
        let duration = Micros::parse(event.raw.duration.bytes());
        let end = duration.and_then(|duration| event.micros.plus(duration)?.rounded());
        let mut label = self.own_label(label, event);
        let duration_ns = match (duration, end) {
            (Some(duration), Some(end)) if !duration.is_negative() => {
                end.saturating_sub(event.time).max(0)
            }
            (None, _) if event.raw.duration == Raw::None => {
                label |= UNSEEN_END;
                0
            }
            _ => {
                let text = String::from_utf8_lossy(event.raw.duration.bytes()).into_owned();
                self.note("bad_duration", event.at, || {
                    format!("{text} is not a duration: the slice is shown with no length")
                });
                0
            }
        };
        if self.has_own_argument(event, b"end_not_seen") {
            label |= UNSEEN_END;
        }
        self.own_measured(event, index);
        self.own_cut(event, index);
        self.out.columns.completes.push(Complete {
            event: index,
            label,
            duration_ns,
        });
        self.bound_flow(event, index);
    }
}

/// Returns an argument of an event.
pub(super) fn argument_of<'f>(event: &Event<'_, 'f>, wanted: &[u8]) -> Option<Raw<'f>> {
    let mut members = Members::of(event.raw.args.nested());
    let found = members.find(|(key, _)| key.bytes == wanted);
    found.map(|(_, value)| value)
}
