//! Marks as packets of track events.
//!
//! Marks are encoded in parallel, a few thousand at a time. The first packet of each piece clears the interned state of
//! the sequence, so that no piece needs another one; the packets of a piece share names and texts.

use rayon::prelude::*;

use super::arrows::{Arrows, Attached, number_of};
use super::context::Context;
use super::interner::Interner;
use super::lanes::Side;
use super::layout::{annotation, packet, task_state, trace as top, track_event};
use super::marks::{ArrowEnd, Mark, What};
use super::output::{EVENT_SEQUENCE, OTHER_SEQUENCE, Output};
use super::proto::Message;
use super::tracks::{TrackUuid, Tracks};
use super::values::write_annotation;
use crate::base::StringId;
use crate::base::strings::exact_text;
use crate::event::FieldRef;
use crate::event::family::Family;
use crate::export::ExportError;
use crate::export::shared::arguments::{Arg, ArgValue, arguments, merge};
use crate::query::whole_samples::whole_value;
use crate::trace::{EventId, SliceId, ThreadId};

/// Marks that are encoded at a time.
const MARKS_IN_PIECE: usize = 8192;
/// Whole numbers below this one are exact as doubles.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Collects marks, and writes them when there are enough for all cores.
pub(super) struct MarkWriter<'a, 'o> {
    pub context: &'a Context<'a>,
    pub arrows: &'a Arrows,
    pub tracks: Tracks<'a>,
    pub output: &'a mut Output<'o>,
    marks: Vec<Mark>,
    most: usize,
}

impl<'a, 'o> MarkWriter<'a, 'o> {
    /// Returns a writer without marks.
    pub fn new(
        context: &'a Context<'a>,
        arrows: &'a Arrows,
        output: &'a mut Output<'o>,
    ) -> MarkWriter<'a, 'o> {
        MarkWriter {
            context,
            arrows,
            tracks: Tracks::new(context.trace, context.people),
            output,
            marks: Vec::new(),
            most: 2 * rayon::current_num_threads().max(1) * MARKS_IN_PIECE,
        }
    }

    /// Adds a mark.
    pub fn mark(&mut self, mark: Mark) -> Result<(), ExportError> {
        self.marks.push(mark);
        match self.marks.len() < self.most {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Writes all marks, and the descriptors of their tracks before them.
    pub fn flush(&mut self) -> Result<(), ExportError> {
        let descriptors = self.tracks.take_packets();
        self.output.write(&descriptors)?;
        let (context, arrows) = (self.context, self.arrows);
        let pieces: Vec<Vec<u8>> = self
            .marks
            .par_chunks(MARKS_IN_PIECE)
            .map(|marks| encode(context, arrows, marks))
            .collect();
        for piece in pieces {
            self.output.write(&piece)?;
        }
        self.output.job.advance(self.marks.len() as u64);
        self.marks.clear();
        Ok(())
    }
}

fn encode(context: &Context<'_>, arrows: &Arrows, marks: &[Mark]) -> Vec<u8> {
    let mut encoder = Encoder {
        context,
        arrows,
        interner: Interner::default(),
        out: Message::default(),
        event: Message::default(),
        begin_fields: Vec::new(),
        end_fields: Vec::new(),
        is_cleared: false,
    };
    for mark in marks {
        encoder.mark(mark);
    }
    encoder.out.take()
}

struct Encoder<'a> {
    context: &'a Context<'a>,
    arrows: &'a Arrows,
    interner: Interner,
    out: Message,
    /// The fields of the track event of the next packet.
    event: Message,
    begin_fields: Vec<FieldRef<'a>>,
    end_fields: Vec<FieldRef<'a>>,
    /// Whether a packet of this piece cleared the sequence's state.
    is_cleared: bool,
}

/// Whether a packet uses interned ids.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ids {
    Used,
    Unused,
}

impl<'a> Encoder<'a> {
    fn mark(&mut self, mark: &Mark) {
        let time = mark.time;
        match mark.what {
            What::Begin { track, slice } => self.begin(time, track, slice),
            What::End { track, slice } => {
                self.start(track_event::SLICE_END, track);
                self.arrows_at(slice, Side::End);
                self.packet(time, Ids::Unused);
            }
            What::Instant { track, event } => self.instant(time, track, event),
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
                self.start(track_event::INSTANT, track);
                let flow = self.context.trace.flows.rows.get(arrow as usize);
                self.name(flow.map_or(StringId::EMPTY, |flow| flow.name));
                self.arrow(Attached {
                    arrow: number_of(arrow),
                    end,
                });
                self.packet(time, Ids::Used);
            }
            What::LossBegins { track } => {
                self.start(track_event::SLICE_BEGIN, track);
                self.event.text(track_event::NAME, "events were lost");
                self.packet(time, Ids::Unused);
            }
            What::LossEnds { track } => {
                self.start(track_event::SLICE_END, track);
                self.packet(time, Ids::Unused);
            }
        }
    }

    /// Starts the track event of the next packet.
    fn start(&mut self, event_type: u64, track: TrackUuid) {
        self.event.truncate(0);
        self.event.uint(track_event::TYPE, event_type);
        self.event.uint(track_event::TRACK, track.0);
    }

    fn name(&mut self, name: StringId) {
        let number = self.interner.name(self.context.trace, name);
        self.event.uint(track_event::NAME_ID, number);
    }

    fn category(&mut self, category: StringId) {
        if category != StringId::EMPTY {
            let number = self.interner.category(self.context.trace, category);
            self.event.uint(track_event::CATEGORY_ID, number);
        }
    }

    fn annotation(&mut self, arg: &Arg<'_>) {
        let name = self.interner.annotation(&arg.name);
        let open = self.event.open(track_event::ANNOTATIONS);
        self.event.uint(annotation::NAME_ID, name);
        let number = match &arg.value {
            ArgValue::Text(text) => self.interner.text(text),
            _ => None,
        };
        match number {
            Some(number) => self.event.uint(annotation::TEXT_ID, number),
            None => write_annotation(&mut self.event, &arg.value),
        }
        self.event.close(open);
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
        self.event.fixed64(field, attached.arrow);
    }

    /// Writes the packet of the track event.
    fn packet(&mut self, time: i64, ids: Ids) {
        let outer = self.out.open(top::PACKET);
        self.out.uint(packet::TIMESTAMP, self.context.time(time));
        self.out.uint(packet::SEQUENCE, EVENT_SEQUENCE);
        if ids == Ids::Used {
            let cleared = match std::mem::replace(&mut self.is_cleared, true) {
                true => 0,
                false => packet::STATE_CLEARED,
            };
            self.out
                .uint(packet::SEQUENCE_FLAGS, packet::NEEDS_STATE | cleared);
            if let Some(entries) = self.interner.new_entries() {
                self.out.bytes_field(packet::INTERNED_DATA, entries.bytes());
            }
        }
        self.out
            .bytes_field(packet::TRACK_EVENT, self.event.bytes());
        self.out.close(outer);
    }

    fn begin(&mut self, time: i64, track: TrackUuid, id: SliceId) {
        let trace = self.context.trace;
        let slice = trace.slices.get(id);
        let label = trace.slices.label(id);
        self.start(track_event::SLICE_BEGIN, track);
        self.category(label.category);
        self.name(label.name);
        // The fields of a traced function's call are in its ftrace events; it has no arguments.
        let has_arguments =
            label.family != Family::Functions || !self.context.sources.is_ftrace(slice.begin);
        if has_arguments {
            let (mut begin, mut end) = (
                std::mem::take(&mut self.begin_fields),
                std::mem::take(&mut self.end_fields),
            );
            self.context.fields_into(slice.begin, &mut begin);
            let mut list = arguments(&mut begin);
            if let Some(finish) = slice.finish {
                self.context.fields_into(finish, &mut end);
                merge(&mut list, arguments(&mut end));
            }
            for arg in &list {
                self.annotation(arg);
            }
            drop(list);
            (self.begin_fields, self.end_fields) = (begin, end);
        }
        if slice.end.is_none() && trace.slices.open_end(id.0 as usize).is_some() {
            self.annotation(&Arg::new("end_not_seen", ArgValue::Bool(true)));
        }
        if let Some(ns) = slice.measured_ns {
            self.annotation(&Arg::new("measured_ns", ArgValue::Int64(ns)));
        }
        self.arrows_at(id, Side::Begin);
        self.packet(time, Ids::Used);
    }

    fn instant(&mut self, time: i64, track: TrackUuid, id: EventId) {
        let trace = self.context.trace;
        let kind = trace.kinds.get(trace.events.kind(id).index());
        self.start(track_event::INSTANT, track);
        self.category(kind.map_or(StringId::EMPTY, |kind| kind.category));
        self.name(kind.map_or(StringId::EMPTY, |kind| kind.name));
        let mut fields = std::mem::take(&mut self.begin_fields);
        self.context.fields_into(id, &mut fields);
        for arg in &arguments(&mut fields) {
            self.annotation(arg);
        }
        self.begin_fields = fields;
        self.packet(time, Ids::Used);
    }

    fn sample(&mut self, time: i64, track: TrackUuid, counter: u32, row: u32) {
        let trace = self.context.trace;
        let name = trace.counters.tracks.get(counter as usize);
        let name = name.map_or(&[][..], |counter| trace.strings.bytes(counter.name));
        let value = trace.counters.values.get(row as usize).copied();
        let value = value.unwrap_or(f64::NAN);
        self.start(track_event::COUNTER, track);
        let whole = whole_value(trace, self.context.reader, row as usize, name);
        match whole.and_then(|whole| i64::try_from(whole).ok()) {
            Some(whole) => self.event.int(track_event::COUNTER_VALUE, whole),
            None if value.abs() < EXACT && value.fract() == 0.0 && !is_negative_zero(value) => {
                self.event.int(track_event::COUNTER_VALUE, value as i64);
            }
            None => self.event.double(track_event::DOUBLE_COUNTER_VALUE, value),
        }
        self.packet(time, Ids::Unused);
    }

    fn task(&mut self, time: i64, thread: ThreadId, cpu: u32, state: u64, priority: Option<i32>) {
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
        self.out.uint(task_state::STATE, state);
        if let Some(priority) = priority {
            self.out.int(task_state::PRIORITY, i64::from(priority));
        }
        self.out.close(open);
        self.out.close(outer);
    }
}

/// Returns whether a value is the zero that a whole number cannot be.
fn is_negative_zero(value: f64) -> bool {
    value == 0.0 && value.is_sign_negative()
}
