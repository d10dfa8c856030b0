//! Marks as packets of track events.
//!
//! A thread collects marks, some thousands a piece, while others encode the pieces before (`shared::pieces`). Names and
//! texts have numbers in their piece's sequence (`sequences`).

use super::arrows::{Arrows, Attached, number_of};
use super::context::Context;
use super::interner::Interner;
use super::lanes::Side;
use super::layout::{annotation, packet, task_state, trace as top, track_event};
use super::marks::{ArrowEnd, Mark, What};
use super::output::{EVENT_SEQUENCES, OTHER_SEQUENCE, Output, write_machine};
use super::proto::{Message, Open};
use super::sequences::{Numbers, Sequences};
use super::sources::Machine;
use super::track_marks::{RowCounts, write_marks};
use super::tracks::{TrackUuid, Tracks};
use super::values::write_annotation;
use super::windows::WINDOWS_IN_STRETCH;
use crate::base::strings::exact_text;
use crate::base::{Job, StringId};
use crate::event::family::Family;
use crate::event::{FieldRef, FieldSink, FieldView, FlowOp, ValueRef};
use crate::export::ExportError;
use crate::export::shared::arguments::{ArgValue, value_of};
use crate::export::shared::pieces::{Give, encode_in_order};
use crate::formats::events::{EventAt, EventRef, Events, FieldReader};
use crate::query::whole_samples::whole_value;
use crate::trace::{EventCursor, EventId, SliceId, ThreadId};

/// Marks that are encoded at a time.
const MARKS_IN_PIECE: usize = 8192;
/// Whole numbers below this one are exact as doubles.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The annotation of a flow event that makes no arrow: whether it begins, continues or ends its flow.
const LONE_FLOW: &[u8] = b"lone_flow";

/// Marks that are encoded together.
pub(super) struct MarkPiece {
    /// Its number, from 0.
    number: usize,
    /// Packets that describe the tracks that are new.
    descriptors: Vec<u8>,
    marks: Vec<Mark>,
}

/// An encoded piece.
struct EncodedMarks {
    descriptors: Vec<u8>,
    bytes: Vec<u8>,
    mark_count: u64,
}

/// Writes everything that is no ftrace event; returns the numbers of rows.
pub(super) fn write_track_events(
    context: &Context<'_>,
    arrows: &Arrows,
    output: &mut Output<'_>,
) -> Result<RowCounts, ExportError> {
    let sequences = Sequences::default();
    let job = output.job;
    encode_in_order(
        job,
        WINDOWS_IN_STRETCH,
        |give| write_marks(&mut MarkWriter::new(context, arrows, job, give)),
        || {
            let mut encoder = Encoder::new(context, arrows);
            let sequences = &sequences;
            move |piece: MarkPiece, buffer| EncodedMarks {
                mark_count: piece.marks.len() as u64,
                bytes: sequences.with(piece.number, |sequence, numbers| {
                    encoder.piece(&piece.marks, buffer, sequence, numbers)
                }),
                descriptors: piece.descriptors,
            }
        },
        |EncodedMarks {
             descriptors,
             bytes,
             mark_count,
         }| {
            output.write(&descriptors)?;
            output.write(&bytes)?;
            job.advance(mark_count);
            Ok(bytes)
        },
    )
}

/// Collects marks to pieces.
pub(super) struct MarkWriter<'a, 'g, 'p> {
    pub context: &'a Context<'a>,
    pub arrows: &'a Arrows,
    pub tracks: Tracks<'a>,
    /// Looks up events.
    pub events: EventCursor<'a>,
    piece_count: usize,
    marks: Vec<Mark>,
    job: &'a Job,
    give: &'g mut Give<'p, MarkPiece>,
}

impl<'a, 'g, 'p> MarkWriter<'a, 'g, 'p> {
    fn new(
        context: &'a Context<'a>,
        arrows: &'a Arrows,
        job: &'a Job,
        give: &'g mut Give<'p, MarkPiece>,
    ) -> MarkWriter<'a, 'g, 'p> {
        MarkWriter {
            context,
            arrows,
            tracks: Tracks::new(context.trace, context.people),
            events: context.trace.events.cursor(),
            piece_count: 0,
            marks: Vec::new(),
            job,
            give,
        }
    }

    /// Adds a mark.
    #[inline]
    pub(super) fn mark(&mut self, mark: Mark) -> Result<(), ExportError> {
        self.marks.push(mark);
        match self.marks.len() < MARKS_IN_PIECE {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Adds the marks of a window of time, and ends the piece unless it is small.
    pub(super) fn window(&mut self, marks: Vec<Mark>) -> Result<(), ExportError> {
        match self.marks.is_empty() {
            true => self.marks = marks,
            false => self.marks.extend(marks),
        }
        while self.marks.len() > 2 * MARKS_IN_PIECE {
            let rest = self.marks.split_off(MARKS_IN_PIECE);
            self.flush()?;
            self.marks = rest;
        }
        match self.marks.len() < MARKS_IN_PIECE / 2 {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Errors if the export was cancelled.
    pub(super) fn check(&self) -> Result<(), ExportError> {
        Ok(self.job.check()?)
    }

    /// Ends the piece.
    pub(super) fn flush(&mut self) -> Result<(), ExportError> {
        let marks = std::mem::take(&mut self.marks);
        let number = self.piece_count;
        self.piece_count += 1;
        (self.give)(MarkPiece {
            number,
            descriptors: self.tracks.take_packets(),
            marks,
        })
    }
}

struct Encoder<'a> {
    context: &'a Context<'a>,
    arrows: &'a Arrows,
    /// The numbers of the piece's sequence.
    numbers: Numbers,
    /// The number of the piece's sequence.
    sequence: u64,
    /// The machine of the packet.
    machine: Machine,
    out: Message,
    /// Looks up events; fast for events that are near each other.
    events: EventCursor<'a>,
    reader: Box<dyn FieldReader + 'a>,
    /// Reused, to avoid allocations.
    begin_fields: Vec<FieldRef<'a>>,
}

/// Whether a packet uses interned ids.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ids {
    Used,
    Unused,
}

/// A packet of a track event that is being written.
struct OpenPacket {
    packet: Open,
    event: Open,
}

impl<'a> Encoder<'a> {
    fn new(context: &'a Context<'a>, arrows: &'a Arrows) -> Encoder<'a> {
        Encoder {
            context,
            arrows,
            numbers: Numbers::default(),
            sequence: 0,
            machine: Machine::HOST,
            out: Message::default(),
            events: context.trace.events.cursor(),
            reader: context.reader.field_reader(),
            begin_fields: Vec::new(),
        }
    }

    fn piece(
        &mut self,
        marks: &[Mark],
        buffer: Vec<u8>,
        sequence: usize,
        numbers: &mut Numbers,
    ) -> Vec<u8> {
        self.out = Message::with_buffer(buffer);
        self.sequence = EVENT_SEQUENCES + sequence as u64;
        std::mem::swap(&mut self.numbers, numbers);
        self.numbers.start_piece();
        for mark in marks {
            self.mark(mark);
        }
        std::mem::swap(&mut self.numbers, numbers);
        self.out.take()
    }

    fn mark(&mut self, mark: &Mark) {
        let time = mark.time;
        match mark.what {
            What::Begin { .. } => self.begin(mark),
            What::End {
                track,
                slice,
                has_arrows,
            } => {
                let open = self.open(time, track, track_event::SLICE_END);
                if has_arrows {
                    self.arrows_at(slice, Side::End);
                }
                self.close(open, Ids::Unused);
            }
            What::Instant { track, event } => self.instant(time, track, event),
            What::LoneFlow { track, row } => self.lone_flow(time, track, row),
            What::Sample {
                track,
                counter,
                row,
            } => self.sample(time, track, counter, row),
            What::Task {
                thread,
                cpu,
                state,
                priority,
            } => self.task(time, thread, cpu, state, priority),
            What::Arrow { track, arrow, end } => {
                let open = self.open(time, track, track_event::INSTANT);
                let flow = self.context.trace.flows.rows.get(arrow as usize);
                self.name(flow.map_or(StringId::EMPTY, |flow| flow.name));
                self.arrow(Attached {
                    arrow: number_of(arrow),
                    end,
                });
                self.close(open, Ids::Used);
            }
            What::LossBegins { track } => {
                let open = self.open(time, track, track_event::SLICE_BEGIN);
                self.out.text(track_event::NAME, "events were lost");
                self.close(open, Ids::Unused);
            }
            What::LossEnds { track } => {
                let open = self.open(time, track, track_event::SLICE_END);
                self.close(open, Ids::Unused);
            }
        }
    }

    /// Opens the packet of a track event.
    #[inline]
    fn open(&mut self, time: i64, track: TrackUuid, event_type: u64) -> OpenPacket {
        let out = &mut self.out;
        let packet = out.open(top::PACKET);
        out.uint(packet::TIMESTAMP, self.context.time(time));
        out.uint(packet::SEQUENCE, self.sequence);
        self.machine = track.machine();
        write_machine(out, self.machine);
        let event = out.open(packet::TRACK_EVENT);
        out.uint(track_event::TYPE, event_type);
        out.uint(track_event::TRACK, track.0);
        OpenPacket { packet, event }
    }

    /// Closes the packet of a track event.
    #[inline]
    fn close(&mut self, open: OpenPacket, ids: Ids) {
        let out = &mut self.out;
        out.close(open.event);
        if ids == Ids::Used {
            let interner = self.numbers.of(self.machine);
            out.uint(packet::SEQUENCE_FLAGS, interner.flags());
            interner.write_new(out, packet::INTERNED_DATA);
        }
        out.close(open.packet);
    }

    fn name(&mut self, name: StringId) {
        let number = self.numbers.of(self.machine).name(self.context.trace, name);
        self.out.uint(track_event::NAME_ID, number);
    }

    fn category(&mut self, category: StringId) {
        if category != StringId::EMPTY {
            let number = self
                .numbers
                .of(self.machine)
                .category(self.context.trace, category);
            self.out.uint(track_event::CATEGORY_ID, number);
        }
    }

    fn annotation(&mut self, name: &[u8], value: &ArgValue<'_>) {
        let interner = self.numbers.of(self.machine);
        annotate(&mut self.out, interner, name, value);
    }

    fn arrows_at(&mut self, slice: SliceId, side: Side) {
        for &attached in self.arrows.at(slice, side) {
            self.arrow(attached);
        }
    }

    fn arrow(&mut self, attached: Attached) {
        let field = match attached.end {
            ArrowEnd::From => track_event::FLOW_IDS,
            ArrowEnd::To => track_event::TERMINATING_FLOW_IDS,
        };
        self.out.fixed64(field, attached.arrow);
    }

    /// Writes the arguments of an event as annotations.
    fn arguments(&mut self, id: EventId) {
        let mut sink = Annotations {
            out: &mut self.out,
            interner: self.numbers.of(self.machine),
        };
        let events = &self.events;
        self.reader
            .read(at(events, id, &|| events.get(id).into()), &mut sink);
    }

    /// Writes the arguments of the end of a slice, except those that its begin also has.
    fn more_arguments(&mut self, begin: EventId, finish: EventId) {
        let events = &self.events;
        let mut sink = MoreAnnotations {
            own: Annotations {
                out: &mut self.out,
                interner: self.numbers.of(self.machine),
            },
            reader: self.context.reader,
            begin: &|| events.get(begin).into(),
            of_begin: &mut self.begin_fields,
            is_read: false,
        };
        let whole = || events.get(finish).into();
        self.reader.read(at(events, finish, &whole), &mut sink);
    }

    fn begin(&mut self, mark: &Mark) {
        let What::Begin {
            track,
            slice,
            label,
            begin,
            finish,
            is_plain,
        } = mark.what
        else {
            return;
        };
        let slices = &self.context.trace.slices;
        let label = slices.labels.get(label as usize);
        let label = label.unwrap_or_default();
        let open = self.open(mark.time, track, track_event::SLICE_BEGIN);
        self.category(label.category);
        self.name(label.name);
        // The fields of a traced function's call are in its ftrace events; it has no arguments.
        let has_arguments =
            label.family != Family::Functions || self.context.sources.of_event(begin).is_none();
        if has_arguments {
            self.arguments(begin);
            if let Some(finish) = finish.get() {
                self.more_arguments(begin, EventId(finish));
            }
        }
        if !is_plain {
            let row = slice.0 as usize;
            if slices.is_unended(row) && slices.open_end(row).is_some() {
                self.annotation(b"end_not_seen", &ArgValue::Bool(true));
            }
            if let Some(ns) = slices.own_measured(row) {
                self.annotation(b"measured_ns", &ArgValue::Int64(ns));
            }
            self.arrows_at(slice, Side::Begin);
        }
        self.close(open, Ids::Used);
    }

    fn instant(&mut self, time: i64, track: TrackUuid, id: EventId) {
        let open = self.open(time, track, track_event::INSTANT);
        self.names_and_arguments(id);
        self.close(open, Ids::Used);
    }

    /// Writes the name and category of an event's kind, and its fields as annotations.
    fn names_and_arguments(&mut self, id: EventId) {
        let kind = self.context.trace.kinds.get(self.events.kind(id).index());
        self.category(kind.map_or(StringId::EMPTY, |kind| kind.category));
        self.name(kind.map_or(StringId::EMPTY, |kind| kind.name));
        self.arguments(id);
    }

    fn lone_flow(&mut self, time: i64, track: TrackUuid, row: u32) {
        let Some(flow) = self.arrows.lone.get(row as usize) else {
            return;
        };
        let open = self.open(time, track, track_event::INSTANT);
        self.names_and_arguments(flow.event);
        let part = match flow.op {
            FlowOp::Begin => "begin",
            FlowOp::Step => "step",
            FlowOp::End => "end",
        };
        self.annotation(LONE_FLOW, &ArgValue::text(part));
        self.close(open, Ids::Used);
    }

    fn sample(&mut self, time: i64, track: TrackUuid, counter: u32, row: u32) {
        let trace = self.context.trace;
        let name = trace.counters.tracks.get(counter as usize);
        let name = name.map_or(&[][..], |counter| trace.strings.bytes(counter.name));
        let value = trace.counters.values.get(row as usize).copied();
        let value = value.unwrap_or(f64::NAN);
        let open = self.open(time, track, track_event::COUNTER);
        let whole = whole_value(trace, self.context.reader, row as usize, name);
        match whole.and_then(|whole| i64::try_from(whole).ok()) {
            Some(whole) => self.out.int(track_event::COUNTER_VALUE, whole),
            None if value.abs() < EXACT && value.fract() == 0.0 && !is_negative_zero(value) => {
                self.out.int(track_event::COUNTER_VALUE, value as i64);
            }
            None => self.out.double(track_event::DOUBLE_COUNTER_VALUE, value),
        }
        self.close(open, Ids::Unused);
    }

    fn task(&mut self, time: i64, thread: ThreadId, cpu: u32, state: u8, priority: Option<i32>) {
        let trace = self.context.trace;
        let outer = self.out.open(top::PACKET);
        self.out.uint(packet::TIMESTAMP, self.context.time(time));
        self.out.uint(packet::SEQUENCE, OTHER_SEQUENCE);
        let open = self.out.open(packet::GENERIC_TASK_STATE);
        self.out.uint(task_state::CPU, u64::from(cpu));
        let name = trace.strings.bytes(trace.thread(thread).name);
        if !name.is_empty() {
            self.out.text(task_state::NAME, &exact_text(name));
        }
        self.out
            .uint(task_state::TID, self.context.people.raw_tid(thread));
        self.out.uint(task_state::STATE, state.into());
        if let Some(priority) = priority {
            self.out.int(task_state::PRIORITY, i64::from(priority));
        }
        self.out.close(open);
        self.out.close(outer);
    }
}

/// Returns the position of an event in the trace.
fn at<'e>(events: &EventCursor<'_>, id: EventId, whole: &'e dyn Fn() -> EventRef) -> EventAt<'e> {
    EventAt {
        part: events.part(id),
        place: events.place(id),
        whole,
    }
}

fn annotate(out: &mut Message, interner: &mut Interner, name: &[u8], value: &ArgValue<'_>) {
    let open = out.open(track_event::ANNOTATIONS);
    match interner.annotation(name) {
        Some(number) => out.uint(annotation::NAME_ID, number),
        None => out.text(annotation::NAME, &exact_text(name)),
    }
    let number = match value {
        ArgValue::Text(text) => interner.text(text),
        _ => None,
    };
    match number {
        Some(number) => out.uint(annotation::TEXT_ID, number),
        None => write_annotation(out, value),
    }
    out.close(open);
}

/// Writes arguments as annotations.
struct Annotations<'s> {
    out: &'s mut Message,
    interner: &'s mut Interner,
}

impl FieldSink for Annotations<'_> {
    fn common_flags(&mut self, _: &ValueRef<'_>) {}

    fn field(&mut self, field: FieldView<'_>) {
        annotate(
            self.out,
            self.interner,
            field.name_bytes(),
            &value_of(field),
        );
    }
}

/// Writes arguments as annotations, except those that another event also has.
struct MoreAnnotations<'s, 'a> {
    own: Annotations<'s>,
    reader: &'a dyn Events,
    begin: &'s dyn Fn() -> EventRef,
    /// The fields of the other event; read when the first argument is compared (`is_read`), as most ends have no
    /// arguments.
    of_begin: &'s mut Vec<FieldRef<'a>>,
    is_read: bool,
}

impl FieldSink for MoreAnnotations<'_, '_> {
    fn common_flags(&mut self, _: &ValueRef<'_>) {}

    fn field(&mut self, field: FieldView<'_>) {
        if !std::mem::replace(&mut self.is_read, true) {
            self.of_begin.clear();
            self.reader.fields_into((self.begin)(), self.of_begin);
        }
        let is_same = |own: &FieldRef<'_>| {
            own.role.is_argument()
                && own.name_bytes() == field.name_bytes()
                && value_of(FieldView::of(own)) == value_of(field)
        };
        if !self.of_begin.iter().any(is_same) {
            self.own.field(field);
        }
    }
}

/// Returns whether a value is negative zero, which no whole number represents.
fn is_negative_zero(value: f64) -> bool {
    value == 0.0 && value.is_sign_negative()
}
