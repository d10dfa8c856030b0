//! The bulk pass: the events of one part in, its columns out, and what the part says of processes, threads and the file.
//!
//! An ordinary event costs one look-up of its thread (none if it is that of the event before) and one of its category and
//! name. `docs/chrome-json.md` says row by row what each phase becomes.

use rustc_hash::FxHashMap;

use super::event::RawEvent;
use super::numbers::{Micros, float, whole, whole_of_any};
use super::people::{Fact, Ident, Pair, PartPeople, Said};
use super::scan::{Members, Quoted, Raw};
use super::text::{plain, shown};
use super::walk::{Border, Form, Found, Walk};
use crate::base::strings::exact_bytes;
use crate::base::{Job, Location, ReadError, Severity, StringId};
use crate::event::family::Family;
use crate::event::flow_kind::FLOW_KIND;
use crate::event::slice_kind::{Nesting, SLICE_KIND};
use crate::event::{
    AsyncMark, AsyncOp, AsyncScope, Complete, FlowBound, FlowJoin, FlowKind, FlowMark, FlowOp,
    KindId, Label, LaneColumns, Mark, MarkOp, Measured, Role, Sample, Series, SeriesScope,
    SliceKind, ThreadKey, Ties, UNSEEN_END,
};
use crate::formats::text_kinds::Kinds;

const CHECK_BYTES: usize = 1 << 20;
/// How far the last event of a part may reach into the parts behind it before its end is looked for elsewhere, bytes.
const MOST_BEYOND: usize = 16 << 20;
/// The name of ends of slices that have none of their own.
pub(super) const NAMELESS_END: &str = "end";
/// The category of kinds of stack samples, which have none.
const SAMPLES: &str = "samples";

/// What the parts of a file are read with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'f> {
    pub(super) bytes: &'f [u8],
    pub(super) form: Form,
    /// Whether our own exporter wrote the file.
    pub(super) is_ours: bool,
    pub(super) kinds: &'f Kinds,
}

/// How far a part is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Only a little beyond its end, as where it starts was guessed.
    Guessed,
    /// As far as its last event reaches.
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
    pub(super) said: Vec<Said>,
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
    let mut walk = Walk::new(bytes, source.form, start, until);
    let mut done = start.at;
    let mut is_cut = false;
    while let Some(found) = walk.next() {
        let at = emitter.found(found, &walk.event);
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

/// What an event's category and name stand for in a part.
#[derive(Clone, Copy, Debug)]
struct Named {
    label: u32,
    /// Kinds of points, and of what is drawn otherwise.
    kinds: [Option<KindId>; 2],
    /// Two well-mixed numbers of the category and of both.
    category_hash: u64,
}

/// What identifies a counter's series in a part. The series is called `event:argument:id`, without an argument that is
/// called as the event and without an id that the event does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct SeriesKey {
    event: StringId,
    argument: StringId,
    id: StringId,
    scope: SeriesScope,
}

/// An event with what its members mean.
#[derive(Clone, Copy)]
struct Event<'e, 'a> {
    at: usize,
    raw: &'e RawEvent<'a>,
    time: i64,
    micros: Micros,
    pair: Pair,
    thread: ThreadKey,
    category: StringId,
    name: StringId,
}

struct Emitter<'f> {
    source: Source<'f>,
    /// The bytes that the part may reach.
    bytes: &'f [u8],
    out: PartRead,
    names: FxHashMap<(StringId, StringId), Named>,
    end_label: Option<u32>,
    /// Labels of slices that say another kind than their category implies, in our own exports.
    labels_by_kind: FxHashMap<Label, u32>,
    all_series: FxHashMap<SeriesKey, u32>,
}

impl<'f> Emitter<'f> {
    fn new(source: Source<'f>, bytes: &'f [u8], start: Border) -> Emitter<'f> {
        let ties = match source.is_ours {
            true => Ties::First,
            false => Ties::Longest,
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
                said: Vec::new(),
                frames: Vec::new(),
                members: Vec::new(),
            },
            names: FxHashMap::default(),
            end_label: None,
            labels_by_kind: FxHashMap::default(),
            all_series: FxHashMap::default(),
        }
    }

    fn finish(mut self, end: Option<Border>) -> PartRead {
        self.out.end = end;
        self.out
    }

    /// Takes what the walk found, with the members of an event; returns its place.
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
                    "an element of the list of events is no event and was skipped".to_owned()
                });
                at
            }
            Found::Broken { at, resumed } => {
                self.broken(at, resumed);
                resumed
            }
        }
    }

    #[cold]
    fn broken(&mut self, at: usize, resumed: usize) {
        let is_end = resumed >= self.bytes.len();
        match is_end {
            true => self.note("cut_event", at, || {
                "the text ends inside a value, or is not JSON from here on".to_owned()
            }),
            false => self.note("not_json", at, || {
                format!(
                    "the text is not JSON here: reading went on at the event at byte {resumed:#x}"
                )
            }),
        }
    }

    #[cold]
    fn note(&mut self, code: &'static str, at: usize, message: impl FnOnce() -> String) {
        let at = Location::Byte(at as u64);
        let diagnostics = &mut self.out.columns.diagnostics;
        diagnostics.note(code, Severity::Error, at, message);
    }

    #[cold]
    fn hint(&mut self, code: &'static str, at: usize, message: impl FnOnce() -> String) {
        let at = Location::Byte(at as u64);
        let diagnostics = &mut self.out.columns.diagnostics;
        diagnostics.note(code, Severity::Info, at, message);
    }

    #[inline]
    fn intern(&mut self, quoted: Quoted<'_>) -> StringId {
        let strings = &mut self.out.columns.strings;
        match (quoted.has_escape, self.source.is_ours) {
            (false, _) => strings.intern(quoted.bytes),
            (true, false) => strings.intern(&plain(quoted)),
            (true, true) => strings.intern(&exact_bytes(&shown(quoted))),
        }
    }

    /// Returns the name of an event, or its category: a text, or a number or word as it stands.
    #[inline]
    fn name(&mut self, raw: Raw<'_>) -> StringId {
        match raw {
            Raw::Text(quoted) => self.intern(quoted),
            other => self.out.columns.strings.intern(other.bytes()),
        }
    }

    fn event(&mut self, at: usize, raw: &RawEvent<'f>) {
        match raw.phase {
            b'M' => self.metadata(at, raw),
            0 => self.note("no_phase", at, || {
                "an object among the events has no phase (ph) and was skipped".to_owned()
            }),
            _ => {
                if let Some(event) = self.timed(at, raw) {
                    self.phase(event);
                }
            }
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
            category: self.name(raw.category),
            name: self.name(raw.name),
        })
    }

    #[cold]
    fn bad_time(&mut self, at: usize, time: Raw<'_>) {
        let text = String::from_utf8_lossy(time.bytes()).into_owned();
        self.note("bad_time", at, || match text.is_empty() {
            true => "an event has no time (ts) and was dropped".to_owned(),
            false => format!("{text} is no time that can be shown; the event was dropped"),
        });
    }

    fn phase(&mut self, event: Event<'_, 'f>) {
        match event.raw.phase {
            b'X' => self.complete(&event),
            b'B' => {
                let (index, label) = self.push(&event, Role::Named);
                let label = self.own_label(label, &event);
                self.mark(index, label, MarkOp::Begin);
                self.bound_flow(&event, index);
            }
            b'E' => {
                let mut event = event;
                if event.name == StringId::EMPTY {
                    event.name = self.out.columns.strings.intern_text(NAMELESS_END);
                }
                let (index, _) = self.push(&event, Role::Named);
                let label = self.end_label();
                let op = match self.says(&event, b"end_not_seen") {
                    true => MarkOp::Over,
                    false => MarkOp::End,
                };
                self.mark(index, label, op);
            }
            b'C' => self.counter(&event),
            b'b' | b'S' => self.async_mark(&event, AsyncOp::Begin),
            b'n' | b'T' | b'p' => self.async_mark(&event, AsyncOp::Instant),
            b'e' | b'F' => {
                let op = match self.says(&event, b"end_not_seen") {
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
            b'i' | b'I' | b'R' | b'P' | b'V' | b'v' | b'c' | b'(' | b')' => {
                self.push(&event, Role::Instant);
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

    /// Adds an event; returns its index and the label of its category and name.
    #[inline]
    fn push(&mut self, event: &Event<'_, 'f>, role: Role) -> (u32, u32) {
        let index = usize::from(role != Role::Instant);
        let named = self.named(event.category, event.name);
        let label = named.label;
        let kind = match named.kinds[index] {
            Some(kind) => kind,
            None => self.new_kind(event.category, event.name, role),
        };
        let columns = &mut self.out.columns;
        let event = (columns.events).push(event.time, event.at as u64, kind, event.thread);
        (event, label)
    }

    #[inline]
    fn named(&mut self, category: StringId, name: StringId) -> Named {
        let (columns, is_ours) = (&mut self.out.columns, self.source.is_ours);
        *self.names.entry((category, name)).or_insert_with(|| {
            let kind = match is_ours {
                true => SliceKind::implied(columns.strings.bytes(category), Nesting::Nested),
                false => SliceKind::Durations,
            };
            columns.labels.push(Label {
                family: Family::Durations,
                kind,
                name,
                category,
                key: 0,
            });
            Named {
                label: columns.labels.len() as u32 - 1,
                kinds: [None; 2],
                category_hash: hash(columns.strings.bytes(category)),
            }
        })
    }

    #[cold]
    fn new_kind(&mut self, category: StringId, name: StringId, role: Role) -> KindId {
        let strings = &self.out.columns.strings;
        let (category_text, name_bytes) = (strings.text(category), strings.bytes(name));
        let kind = self.source.kinds.intern(&category_text, name_bytes, role);
        if let Some(named) = self.names.get_mut(&(category, name)) {
            named.kinds[usize::from(role != Role::Instant)] = Some(kind);
        }
        kind
    }

    fn mark(&mut self, event: u32, label: u32, op: MarkOp) {
        self.out.columns.marks.push(Mark::new(event, label, op));
    }

    /// Returns the label shared by all ends: only its family matters.
    fn end_label(&mut self) -> u32 {
        match self.end_label {
            Some(label) => label,
            None => {
                let label = self.named(StringId::EMPTY, StringId::EMPTY).label;
                self.end_label = Some(label);
                label
            }
        }
    }

    /// Returns whether an event of our own exporter has this argument, which has a fixed meaning.
    #[inline]
    fn says(&self, event: &Event<'_, 'f>, argument: &[u8]) -> bool {
        self.source.is_ours && argument_of(event, argument).is_some()
    }

    /// Returns the kind of slice that an event of our own exporter has as an argument.
    fn said_slice_kind(&self, event: &Event<'_, 'f>) -> Option<SliceKind> {
        let word = argument_of(event, SLICE_KIND.as_bytes()).filter(|_| self.source.is_ours)?;
        SliceKind::of_word(word.bytes())
    }

    /// Returns the label of a slice that may say another kind than its category implies.
    fn own_label(&mut self, label: u32, event: &Event<'_, 'f>) -> u32 {
        let said = self.said_slice_kind(event);
        let of_category = self.out.columns.labels.get(label as usize).copied();
        let (Some(kind), Some(of_category)) = (said, of_category) else {
            return label;
        };
        let wanted = Label {
            kind,
            ..of_category
        };
        let labels = &mut self.out.columns.labels;
        *self.labels_by_kind.entry(wanted).or_insert_with(|| {
            labels.push(wanted);
            labels.len() as u32 - 1
        })
    }

    fn complete(&mut self, event: &Event<'_, 'f>) {
        let (index, label) = self.push(event, Role::Named);
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
                    format!("{text} is no duration: the slice is shown with no length")
                });
                0
            }
        };
        if self.says(event, b"end_not_seen") {
            label |= UNSEEN_END;
        }
        if self.source.is_ours
            && let Some(measured) = argument_of(event, b"measured_ns")
            && let Some(duration_ns) = whole(measured.bytes())
        {
            self.out.columns.measured.push(Measured {
                event: index,
                late: Measured::COMPLETE,
                duration_ns: i64::try_from(duration_ns).unwrap_or(i64::MAX),
            });
        }
        self.out.columns.completes.push(Complete {
            event: index,
            label,
            duration_ns,
        });
        self.bound_flow(event, index);
    }

    fn counter(&mut self, event: &Event<'_, 'f>) {
        let (index, _) = self.push(event, Role::Named);
        let scope = match self.out.people.process(event.pair.process) {
            Some(process) => SeriesScope::Process(process),
            None => SeriesScope::Global,
        };
        let id = self.name(event.raw.id);
        for (argument, value) in Members::of(event.raw.args.nested()) {
            let number = match value {
                Raw::Word(word) => float(word),
                Raw::Text(text) => float(text.bytes),
                Raw::None | Raw::Nested(_) => None,
            };
            let Some(value) = number else {
                self.hint("counter_not_a_number", event.at, || {
                    "an argument of a counter is not a number".to_owned()
                });
                continue;
            };
            let argument = self.intern(argument);
            let series = self.series(SeriesKey {
                event: event.name,
                argument,
                id,
                scope,
            });
            self.out.columns.samples.push(Sample {
                event: index,
                series,
                value,
            });
        }
    }

    /// Returns the series of a counter event's argument.
    fn series(&mut self, key: SeriesKey) -> u32 {
        let columns = &mut self.out.columns;
        *self.all_series.entry(key).or_insert_with(|| {
            let strings = &mut columns.strings;
            let mut name = strings.bytes(key.event).to_vec();
            for more in [key.argument, key.id] {
                if more != key.event && more != StringId::EMPTY {
                    name.push(b':');
                    name.extend_from_slice(strings.bytes(more));
                }
            }
            let name = strings.intern(&name);
            columns.series.push(Series {
                name,
                scope: key.scope,
            });
            columns.series.len() as u32 - 1
        })
    }

    fn async_mark(&mut self, event: &Event<'_, 'f>, op: AsyncOp) {
        let (index, _) = self.push(event, Role::Named);
        let id = Identity::of(event.raw);
        let Some(number) = id.number else {
            self.note("no_id", event.at, || {
                "an asynchronous event has no id: it is shown as an instant".to_owned()
            });
            return;
        };
        let is_object = matches!(event.raw.phase, b'N' | b'O' | b'D');
        let scope = match (id.reach, self.out.people.process(event.pair.process)) {
            (IdReach::Global, _) => AsyncScope::Global,
            (IdReach::Local, Some(process)) => AsyncScope::Process(process),
            (IdReach::Unsaid, Some(process)) if is_object => AsyncScope::Process(process),
            // Found when all parts are read: the process of the id's first event.
            _ => AsyncScope::ProcessOf(event.thread),
        };
        let space = self.named(event.category, event.name).category_hash;
        let space = space ^ scope_number(event.raw) ^ u64::from(is_object);
        let kind = match self.source.is_ours {
            true => self.said_slice_kind(event).unwrap_or_else(|| {
                let category = self.out.columns.strings.bytes(event.category);
                SliceKind::implied(category, Nesting::Async)
            }),
            false => SliceKind::Async,
        };
        self.out.columns.asyncs.push(AsyncMark {
            event: index,
            op,
            scope,
            id: mixed(space ^ mixed(number)),
            name: event.name,
            category: event.category,
            kind,
            group: StringId::EMPTY,
        });
    }

    fn flow(&mut self, event: &Event<'_, 'f>, op: FlowOp) {
        let Some(id) = Identity::of(event.raw).number else {
            self.push(event, Role::Named);
            self.note("no_id", event.at, || {
                "a flow event has no id and belongs to no arrow".to_owned()
            });
            return;
        };
        let mut bound = match (op, event.raw.bound.bytes()) {
            (FlowOp::End, bound) if bound != b"e" => FlowBound::Next,
            _ => FlowBound::Around,
        };
        let mut moved = *event;
        if self.source.is_ours
            && let Some(really) = argument_of(event, b"really_at_ns")
            && whole(really.bytes()) == u64::try_from(event.time.saturating_add(1)).ok()
        {
            bound = FlowBound::AtEnd;
            moved.time += 1;
        }
        let (index, _) = self.push(&moved, Role::Named);
        let kind = match (
            self.source.is_ours,
            argument_of(event, FLOW_KIND.as_bytes()),
        ) {
            (false, _) => FlowKind::Stated,
            (true, Some(word)) => FlowKind::of_word(word.bytes()).unwrap_or_default(),
            (true, None) => FlowKind::implied(self.out.columns.strings.bytes(event.name)),
        };
        self.out.columns.flows.push(FlowMark {
            event: index,
            op,
            bound,
            joined: FlowJoin::ByIdAndNames,
            id,
            name: event.name,
            category: event.category,
            kind,
        });
    }

    /// Adds the arrow that begins, passes or ends at a slice with `bind_id`.
    #[inline]
    fn bound_flow(&mut self, event: &Event<'_, 'f>, index: u32) {
        if event.raw.bind_id != Raw::None {
            let op = match (is_true(event.raw.flow_in), is_true(event.raw.flow_out)) {
                (true, true) => FlowOp::Step,
                (true, false) => FlowOp::End,
                (false, true) => FlowOp::Begin,
                (false, false) => return,
            };
            self.out.columns.flows.push(FlowMark {
                event: index,
                op,
                bound: FlowBound::Around,
                joined: FlowJoin::ByIdAndNames,
                id: id_number(event.raw.bind_id),
                name: StringId::EMPTY,
                category: StringId::EMPTY,
                kind: FlowKind::Stated,
            });
        }
    }

    fn metadata(&mut self, at: usize, raw: &RawEvent<'f>) {
        let strings = &mut self.out.columns.strings;
        let process = Ident::of(raw.process, strings);
        let thread = match Ident::of(raw.thread, strings) {
            Ident::None => process,
            thread => thread,
        };
        let args = raw.args.nested();
        let argument = |wanted: &[u8]| {
            let mut members = Members::of(args);
            let found = members.find(|(key, _)| key.bytes == wanted);
            found.map_or(Raw::None, |(_, value)| value)
        };
        let is_ours = self.source.is_ours;
        let own = |word: &[u8]| match is_ours {
            true => whole(argument(word).bytes()),
            false => None,
        };
        let fact = match raw.name.bytes() {
            b"process_name" => Fact::ProcessName(self.name(argument(b"name")), own(b"pid")),
            b"thread_name" => Fact::ThreadName(self.name(argument(b"name")), own(b"tid")),
            b"process_labels" => Fact::Labels(self.name(argument(b"labels"))),
            b"num_cpus" => {
                let count = whole_of_any(argument(b"number").bytes()).unwrap_or(0);
                Fact::Cpus(u32::try_from(count).unwrap_or(u32::MAX))
            }
            _ => Fact::Other(self.name(raw.name)),
        };
        self.out.said.push(Said {
            at: at as u64,
            pair: Pair { process, thread },
            fact,
        });
    }
}

fn argument_of<'f>(event: &Event<'_, 'f>, wanted: &[u8]) -> Option<Raw<'f>> {
    let mut members = Members::of(event.raw.args.nested());
    let found = members.find(|(key, _)| key.bytes == wanted);
    found.map(|(_, value)| value)
}

fn is_true(raw: Raw<'_>) -> bool {
    matches!(raw.bytes(), b"true" | b"1")
}

/// In which processes an id means the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdReach {
    /// `id`: in all, as far as events of other processes have it.
    Unsaid,
    /// `id2.local`: in its process.
    Local,
    /// `id2.global`: in all.
    Global,
}

/// The id of an event.
#[derive(Clone, Copy, Debug)]
struct Identity {
    number: Option<u64>,
    reach: IdReach,
}

impl Identity {
    fn of(raw: &RawEvent<'_>) -> Identity {
        let number = |raw: Raw<'_>| (raw != Raw::None).then(|| id_number(raw));
        let unsaid = Identity {
            number: number(raw.id),
            reach: IdReach::Unsaid,
        };
        let mut members = Members::of(raw.id2.nested());
        let found = members.find_map(|(key, value)| {
            let reach = match key.bytes {
                b"local" => IdReach::Local,
                b"global" => IdReach::Global,
                _ => return None,
            };
            Some(Identity {
                number: number(value),
                reach,
            })
        });
        found.unwrap_or(unsaid)
    }
}

/// Returns the number of an id: that of its digits, or 64 bits of a hash of any other text.
pub(super) fn id_number(raw: Raw<'_>) -> u64 {
    match raw {
        Raw::Text(text) => whole(text.bytes).unwrap_or_else(|| hash(&plain(text))),
        Raw::Word(word) => whole_of_any(word).unwrap_or_else(|| hash(word)),
        Raw::Nested(bytes) => hash(bytes),
        Raw::None => 0,
    }
}

/// Returns the number of an asynchronous event's id, of the member that has it: ids are numbers of their own in each `scope`.
pub(super) fn async_number(event: &RawEvent<'_>, id: Raw<'_>) -> u64 {
    match scope_number(event) {
        0 => id_number(id),
        scope => mixed(scope ^ mixed(id_number(id))),
    }
}

/// Returns the number of an event's `scope`; 0 without one.
fn scope_number(event: &RawEvent<'_>) -> u64 {
    hash(event.scope.bytes())
}

/// Returns 64 well-mixed bits of some bytes; 0 of none.
fn hash(bytes: &[u8]) -> u64 {
    let mut state = 0;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(chunk) {
            *to = *from;
        }
        state = mixed(state ^ u64::from_le_bytes(word)).wrapping_add(chunk.len() as u64);
    }
    state
}

/// Mixes the bits of a number so that each of them changes half of the others; different numbers stay different.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
