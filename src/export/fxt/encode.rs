//! Items to records: one window's items in, its bytes out.

use std::borrow::Cow;

use super::args::{self, Fitted};
use super::asyncs::AsyncIds;
use super::flows::{FlowMark, FlowStepSort};
use super::items::{Item, What};
use super::koids::Koids;
use super::lone_states::LoneStates;
use super::records::{
    Arg, ArgValue, EventType, FixedTables, Head, Records, Side, TextRef, ThreadKoids,
};
use crate::base::StringId;
use crate::event::{EndState, FieldRef, ValueRef};
use crate::export::Chosen;
use crate::formats::{EventRef, Reader};
use crate::trace::counters::CounterScope;
use crate::trace::{
    CpuId, EventCursor, EventId, ProcessId, SliceId, StateId, ThreadId, ThreadState, Trace,
    TrackKind,
};

/// What encoding looks at.
pub struct Source<'a> {
    /// The tables.
    pub trace: &'a Trace,
    /// Decodes arguments.
    pub reader: &'a dyn Reader,
    /// The range and the rest of the selection.
    pub chosen: &'a Chosen<'a>,
    /// Everybody's koids.
    pub koids: &'a Koids,
    /// The marks that flow items number.
    pub flows: &'a [FlowMark],
    /// States that began without a run before them.
    pub lone_states: &'a LoneStates,
    /// Ids of asynchronous slices.
    pub async_ids: &'a AsyncIds,
    /// Added to every time.
    pub shift: i64,
    /// How counters are called.
    pub counter_names: &'a [CounterName],
    /// A thread of each process.
    pub thread_of_process: &'a [ThreadId],
}

/// A counter track's name as event, argument and id say it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterName {
    /// Name of the event.
    pub event: String,
    /// Name of the argument.
    pub argument: String,
    /// Tells tracks of one process apart.
    pub id: u64,
}

impl CounterName {
    /// Readers join `event:argument`, and leave the argument out if it is the same.
    pub fn new(name: &str, id: u64) -> CounterName {
        let (event, argument) = match name.split_once(':') {
            Some((event, argument))
                if !event.is_empty() && !argument.is_empty() && event != argument =>
            {
                (event, argument)
            }
            _ => (name, name),
        };
        CounterName {
            event: event.to_owned(),
            argument: argument.to_owned(),
            id,
        }
    }
}

/// Encodes items into records.
pub struct Encoder<'a, 't> {
    source: &'a Source<'a>,
    /// The records so far.
    pub records: Records<'t>,
    /// Texts that were cut to fit, with the whole in a large record.
    pub cut_texts: u64,
    /// The fields of the event at hand, and the arguments that they become: kept for their room.
    fields: Vec<FieldRef<'a>>,
    args: Vec<Arg<'a>>,
    /// Finds events quickly that lie near each other.
    events: EventCursor<'a>,
}

impl<'a, 't> Encoder<'a, 't> {
    /// Nothing encoded yet.
    pub fn new(source: &'a Source<'a>, tables: &'t FixedTables) -> Encoder<'a, 't> {
        Encoder::with_buffer(source, tables, Vec::new())
    }

    /// The same with the room of `buffer`.
    pub fn with_buffer(
        source: &'a Source<'a>,
        tables: &'t FixedTables,
        buffer: Vec<u8>,
    ) -> Encoder<'a, 't> {
        Encoder {
            source,
            records: Records::with_buffer(tables, buffer),
            cut_texts: 0,
            fields: Vec::new(),
            args: Vec::new(),
            events: source.trace.events.cursor(),
        }
    }

    fn ticks(&self, time: i64) -> u64 {
        time.saturating_add(self.source.shift).max(0) as u64
    }

    fn event_ref(&self, id: EventId) -> EventRef {
        let event = self.events.get(id);
        EventRef {
            part: event.part,
            place: event.row.place,
            time: event.row.time,
            kind: event.row.kind,
            thread: event.row.thread,
        }
    }

    /// Reads the fields of an event into `self.fields`.
    fn read_fields(&mut self, id: EventId) {
        self.fields.clear();
        let event = self.event_ref(id);
        self.source.reader.fields_into(event, &mut self.fields);
    }

    /// The arguments that the fields of an event are. They go back by [`Encoder::event`].
    fn args_of(&mut self, id: EventId) -> Vec<Arg<'a>> {
        self.read_fields(id);
        self.args_of_fields()
    }

    fn args_of_fields(&mut self) -> Vec<Arg<'a>> {
        let mut args = self.no_args();
        args::add(&mut args, &mut self.fields);
        args
    }

    /// An empty list with the room of the last one.
    fn no_args(&mut self) -> Vec<Arg<'a>> {
        let mut args = std::mem::take(&mut self.args);
        args.clear();
        args
    }

    /// Encodes one item.
    pub fn item(&mut self, item: &Item) {
        match item.what {
            What::Whole | What::Begin | What::End => self.slice(item),
            What::AsyncBegin | What::AsyncEnd => self.async_mark(item),
            What::Stub => self.stub(item),
            What::Instant => self.instant(item),
            What::Sample => self.sample(item),
            What::SwitchTo | What::SwitchToIdle | What::SwitchOff => self.switch(item),
            What::Wakeup => self.wakeup(item),
            What::Log => self.log(item),
            What::Flow => self.flow(item),
        }
    }

    fn name_text(&self, id: StringId) -> Cow<'a, str> {
        self.source.trace.strings.text(id)
    }

    /// Writes an event with whatever arguments, split where they do not fit.
    fn event(
        &mut self,
        event_type: EventType,
        (time, thread): (i64, ThreadKoids),
        (category, name): (StringId, StringId),
        mut args: Vec<Arg<'a>>,
        last_word: Option<u64>,
    ) {
        let Fitted {
            is_packed,
            overflow,
        } = args::fit(&mut args);
        self.records.counts.packed += u64::from(is_packed);
        let (category_text, name_text);
        let category_id = category;
        let category = match self.records.fixed_name(category) {
            Some(category) => category,
            None => {
                category_text = self.name_text(category_id);
                self.records.name(&category_text)
            }
        };
        let fixed_name = self.records.fixed_name(name);
        let head = Head {
            event_type,
            time: self.ticks(time),
            thread,
            category,
            name: match fixed_name {
                Some(name) => name,
                None => {
                    name_text = self.name_text(name);
                    self.records.name(&name_text)
                }
            },
        };
        self.records.event(head, &args, last_word);
        self.args = args;
        if let Some((argument, whole)) = overflow {
            self.cut_texts += 1;
            let whole_name = format!("{} ({argument})", self.name_text(name));
            // Registering texts for the event may have replaced what stood for its category.
            let category = self.name_text(category_id);
            let head = Head {
                category: self.records.name(&category),
                name: self.records.name(&whole_name),
                ..head
            };
            self.records.large_event(head, &[], whole.as_bytes());
        }
    }

    /// The same for an event without arguments.
    fn bare_event(
        &mut self,
        event_type: EventType,
        at: (i64, ThreadKoids),
        names: (StringId, StringId),
        last_word: Option<u64>,
    ) {
        let args = self.no_args();
        self.event(event_type, at, names, args, last_word);
    }

    /// The thread that slices of a track are written on.
    fn track_thread(&self, track: u32, begin: u32) -> ThreadKoids {
        match self
            .source
            .trace
            .tracks
            .get(track as usize)
            .map(|track| track.kind)
        {
            Some(TrackKind::Cpu(cpu)) => self.source.koids.cpu(cpu),
            Some(TrackKind::Thread(thread)) => self.source.koids.thread(thread),
            Some(TrackKind::Async(process)) => self.async_thread(process, begin),
            None => Koids::MACHINE,
        }
    }

    /// The thread of an asynchronous slice is its begin's, but it must be one of the slice's process.
    fn async_thread(&self, process: Option<ProcessId>, begin: u32) -> ThreadKoids {
        let trace = self.source.trace;
        let thread = self.events.thread(EventId(begin));
        match process {
            Some(process) if trace.thread(thread).process != Some(process) => {
                self.thread_of(process)
            }
            _ => self.source.koids.thread(thread),
        }
    }

    fn thread_of(&self, process: ProcessId) -> ThreadKoids {
        let koid = self.source.koids.process(process);
        match self.source.thread_of_process.get(process.0 as usize) {
            Some(&thread) if thread != ThreadId::NONE => self.source.koids.thread(thread),
            _ => (koid, koid),
        }
    }

    /// When a slice really began and ended, where the range hides it.
    fn border_args(&self, args: &mut Vec<Arg<'a>>, start: i64, end: i64) {
        let span = self.source.chosen.span;
        let shift = self.source.shift;
        if start < span.start.0 {
            args.push(Arg::new(
                "really_began_ns",
                ArgValue::Int64(start.saturating_add(shift)),
            ));
        }
        if end > span.end.0 && end != i64::MAX {
            args.push(Arg::new(
                "really_ended_ns",
                ArgValue::Int64(end.saturating_add(shift)),
            ));
        }
    }

    fn slice(&mut self, item: &Item) {
        let source = self.source;
        let slices = &source.trace.slices;
        let index = item.row as usize;
        let (start, end) = (slices.starts[index], slices.ends[index]);
        let thread = self.track_thread(item.of, slices.begins[index]);
        if item.what == What::End {
            return self.slice_end(item, thread);
        }
        let (event_type, last_word) = match item.what {
            What::Begin => (EventType::Begin, None),
            _ => {
                let end = end.min(source.chosen.span.end.0).max(item.time);
                (EventType::Complete, Some(self.ticks(end)))
            }
        };
        let is_merged = item.what == What::Whole && slices.finishes[index] != u32::MAX;
        let is_cut = start < source.chosen.span.start.0
            || (end > source.chosen.span.end.0 && end != i64::MAX);
        let label = slices.label(SliceId(item.row));
        let begin = EventId(slices.begins[index]);
        if !is_merged && !is_cut && !self.has_fields(begin) {
            return self.bare_event(
                event_type,
                (item.time, thread),
                (label.category, label.name),
                last_word,
            );
        }
        let mut args = self.args_of(begin);
        if is_merged && end < source.chosen.span.end.0 {
            self.read_fields(EventId(slices.finishes[index]));
            args::add_new(&mut args, &mut self.fields);
        }
        self.border_args(&mut args, start, end);
        self.event(
            event_type,
            (item.time, thread),
            (label.category, label.name),
            args,
            last_word,
        );
    }

    fn slice_end(&mut self, item: &Item, thread: ThreadKoids) {
        let finish = EventId(self.source.trace.slices.finishes[item.row as usize]);
        let is_inside = item.time < self.source.chosen.span.end.0;
        if !is_inside || !self.has_fields(finish) {
            return self.bare_event(
                EventType::End,
                (item.time, thread),
                (StringId::EMPTY, StringId::EMPTY),
                None,
            );
        }
        let args = self.args_of(finish);
        let none = (StringId::EMPTY, StringId::EMPTY);
        self.event(EventType::End, (item.time, thread), none, args, None);
    }

    fn has_fields(&self, id: EventId) -> bool {
        self.source.reader.has_fields(self.event_ref(id))
    }

    fn async_mark(&mut self, item: &Item) {
        let source = self.source;
        let slices = &source.trace.slices;
        let index = item.row as usize;
        let thread = self.track_thread(item.of, slices.begins[index]);
        let id = source.async_ids.of_slice(SliceId(item.row));
        let label = slices.label(SliceId(item.row));
        let is_end = item.what == What::AsyncEnd;
        let event = if is_end {
            slices.finishes[index]
        } else {
            slices.begins[index]
        };
        let is_inside = !is_end || item.time < source.chosen.span.end.0;
        let (event_type, thread) = if is_end {
            // It may end on another thread of its process.
            let ended_on = match event {
                u32::MAX => thread,
                event => source.koids.thread(self.events.thread(EventId(event))),
            };
            let is_same_process = ended_on.0 == thread.0;
            (
                EventType::AsyncEnd,
                if is_same_process { ended_on } else { thread },
            )
        } else {
            (EventType::AsyncBegin, thread)
        };
        let mut args = if is_inside && event != u32::MAX {
            self.args_of(EventId(event))
        } else {
            self.no_args()
        };
        if !is_end {
            self.border_args(&mut args, slices.starts[index], slices.ends[index]);
        }
        self.event(
            event_type,
            (item.time, thread),
            (label.category, label.name),
            args,
            Some(id),
        );
    }

    fn stub(&mut self, item: &Item) {
        let slices = &self.source.trace.slices;
        let index = item.row as usize;
        let shift = self.source.shift;
        let label = slices.label(SliceId(item.row));
        let thread = self.source.koids.thread(ThreadId(item.of));
        let mut args = vec![Arg::new("is_outside_of_range", ArgValue::Bool(true))];
        args.push(Arg::new(
            "really_began_ns",
            ArgValue::Int64(slices.starts[index].saturating_add(shift)),
        ));
        if slices.ends[index] != i64::MAX {
            args.push(Arg::new(
                "really_ended_ns",
                ArgValue::Int64(slices.ends[index].saturating_add(shift)),
            ));
        }
        let end = self.ticks(item.time.saturating_add(1));
        self.event(
            EventType::Complete,
            (item.time, thread),
            (label.category, label.name),
            args,
            Some(end),
        );
    }

    fn instant(&mut self, item: &Item) {
        let source = self.source;
        let id = EventId(item.row);
        let event = self.events.get(id);
        let kind = source
            .trace
            .kinds
            .get(usize::from(event.row.kind.0))
            .copied();
        let (category, name) = kind.map_or((StringId::EMPTY, StringId::EMPTY), |kind| {
            (kind.category, kind.name)
        });
        let (thread, async_id) = match source
            .trace
            .tracks
            .get(item.of as usize)
            .map(|track| track.kind)
        {
            Some(TrackKind::Cpu(cpu)) => (source.koids.cpu(cpu), None),
            Some(TrackKind::Async(process)) => {
                let id = source.async_ids.of_instant(id);
                (self.async_thread(process, item.row), Some(id))
            }
            _ => (source.koids.thread(self.events.thread(id)), None),
        };
        let event_type = match async_id {
            Some(_) => EventType::AsyncInstant,
            None => EventType::Instant,
        };
        if async_id.is_none() && !self.has_fields(id) {
            return self.bare_event(event_type, (item.time, thread), (category, name), None);
        }
        self.read_fields(id);
        if self.events.thread(id) == ThreadId::NONE
            && let Some((blob_type, payload)) = args::blob_of(&self.fields)
        {
            let (category, name) = (self.name_text(category), self.name_text(name));
            return self.records.blob(&name, &category, blob_type, &payload);
        }
        if let Some(payload) = args::payload_of(&self.fields) {
            let (category, name) = (self.name_text(category), self.name_text(name));
            let args = self.args_of_fields();
            return self.large_instant((item.time, thread), (&category, &name), args, &payload);
        }
        let last_word = async_id.or_else(|| scope_word(&self.fields));
        let args = self.args_of_fields();
        self.event(
            event_type,
            (item.time, thread),
            (category, name),
            args,
            last_word,
        );
    }

    /// Bytes that no argument can hold go into a large record.
    fn large_instant(
        &mut self,
        (time, thread): (i64, ThreadKoids),
        (category, name): (&str, &str),
        mut args: Vec<Arg<'a>>,
        payload: &[u8],
    ) {
        let of_reader = ["payload", "size"];
        args.retain(|arg| !of_reader.contains(&arg.name.as_ref()));
        let fitted = args::fit(&mut args);
        self.records.counts.packed += u64::from(fitted.is_packed);
        self.cut_texts += u64::from(fitted.overflow.is_some());
        let head = Head {
            event_type: EventType::Instant,
            time: self.ticks(time),
            thread,
            category: self.records.name(category),
            name: self.records.name(name),
        };
        self.records.large_event(head, &args, payload);
    }

    fn sample(&mut self, item: &Item) {
        let source = self.source;
        let counters = &source.trace.counters;
        let (Some(track), Some(name)) = (
            counters.tracks.get(item.of as usize),
            source.counter_names.get(item.of as usize),
        ) else {
            return;
        };
        let by = self
            .events
            .thread(EventId(counters.events[item.row as usize]));
        let thread = match track.scope {
            CounterScope::Global => Koids::MACHINE,
            CounterScope::Cpu(cpu) => source.koids.cpu(cpu),
            CounterScope::Thread(thread) => source.koids.thread(thread),
            CounterScope::Process(process) if source.trace.thread(by).process == Some(process) => {
                source.koids.thread(by)
            }
            CounterScope::Process(process) => self.thread_of(process),
        };
        let value = counters.values[item.row as usize];
        // Whole numbers up to 2^53 are exact either way; readers show them without a fraction.
        let is_whole = value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0;
        let value = if is_whole && !(value == 0.0 && value.is_sign_negative()) {
            ArgValue::Int64(value as i64)
        } else {
            ArgValue::Double(value)
        };
        let args = [Arg::new(name.argument.as_str(), value)];
        let head = Head {
            event_type: EventType::Counter,
            time: self.ticks(item.time),
            thread,
            category: TextRef::EMPTY,
            name: self.records.name(&name.event),
        };
        self.records.event(head, &args, Some(name.id));
    }

    fn switch(&mut self, item: &Item) {
        let Some(cpu) = self.cpu_number(item.of) else {
            return;
        };
        let runs = &self.source.trace.runs;
        let index = item.row as usize;
        let (out, incoming) = match item.what {
            What::SwitchToIdle => (self.leaves(index), Side::Idle),
            What::SwitchOff => {
                let state = self.source.trace.states.get(StateId(item.row));
                let out = self.side(state.thread, 0);
                (Some((out, thread_state_number(state.state))), Side::Idle)
            }
            _ => {
                let incoming = self.side(ThreadId(runs.threads[index]), runs.priorities[index]);
                (self.left_for(item), incoming)
            }
        };
        let (out, state) = out.unwrap_or((Side::Idle, state_number(EndState::Runnable)));
        let time = self.ticks(item.time);
        self.records.context_switch(time, cpu, out, state, incoming);
    }

    fn cpu_number(&self, index: u32) -> Option<u16> {
        let cpu = self.source.trace.cpus.get(index as usize)?;
        u16::try_from(cpu.number).ok()
    }

    /// A thread as one side of a switch. What was not chosen runs unseen.
    fn side(&self, thread: ThreadId, weight: i32) -> Side {
        if self.source.chosen.has_thread(thread) {
            let koid = self.source.koids.thread(thread).1;
            Side::Thread { koid, weight }
        } else {
            Side::Idle
        }
    }

    /// The thread of a run that ends, if its states say so as well: where switches were lost they do not.
    fn leaves(&self, run: usize) -> Option<(Side, (u8, &'static str))> {
        let trace = self.source.trace;
        let runs = &trace.runs;
        let thread = ThreadId(runs.threads[run]);
        let states = trace.states.of_thread.get(thread.0 as usize)?;
        let starts = trace
            .states
            .starts
            .get(states.start as usize..states.end as usize)?;
        starts.binary_search(&runs.ends[run]).ok()?;
        let side = self.side(thread, runs.priorities[run]);
        Some((side, state_number(runs.end_states[run])))
    }

    /// Who is switched from at the start of a run.
    fn left_for(&self, item: &Item) -> Option<(Side, (u8, &'static str))> {
        let trace = self.source.trace;
        let runs = &trace.runs;
        let index = item.row as usize;
        if item.time > runs.starts[index] {
            // It began before the range.
            return None;
        }
        let first = runs.on(CpuId(item.of)).start as usize;
        let before = index.checked_sub(1).filter(|&before| {
            before >= first
                && runs.ends[before] == runs.starts[index]
                && runs.ends[before] > self.source.chosen.span.start.0
        });
        before.and_then(|before| self.leaves(before)).or_else(|| {
            let state = trace
                .states
                .get(self.source.lone_states.of_event(runs.events[index])?);
            Some((self.side(state.thread, 0), thread_state_number(state.state)))
        })
    }

    fn wakeup(&mut self, item: &Item) {
        let source = self.source;
        let state = source.trace.states.get(StateId(item.row));
        let thread = source.koids.thread(ThreadId(item.of)).1;
        let waker = state
            .waker
            .filter(|&waker| waker != ThreadId::IDLE)
            .map(|waker| source.koids.thread(waker).1);
        let cpu = state
            .event
            .and_then(|event| self.events.get(event).cpu)
            .and_then(|cpu| source.trace.cpus.get(cpu as usize))
            .and_then(|cpu| u16::try_from(cpu.number).ok());
        self.records
            .wakeup(self.ticks(item.time), cpu.unwrap_or(0), thread, waker);
    }

    fn log(&mut self, item: &Item) {
        let source = self.source;
        let Some(log) = source.trace.logs.rows.get(item.row as usize) else {
            return;
        };
        let message = self.name_text(log.message);
        let thread = source.koids.thread(log.thread);
        let time = self.ticks(item.time);
        if log.severity == StringId::EMPTY {
            self.records.log(time, thread, &message);
        } else {
            let severity = self.name_text(log.severity);
            self.records
                .log(time, thread, &format!("[{severity}] {message}"));
        }
    }

    fn flow(&mut self, item: &Item) {
        let source = self.source;
        let Some(mark) = source.flows.get(item.row as usize) else {
            return;
        };
        let event_type = match mark.sort {
            FlowStepSort::Begin => EventType::FlowBegin,
            FlowStepSort::Step => EventType::FlowStep,
            FlowStepSort::End => EventType::FlowEnd,
        };
        let row = self.events.get(mark.event).row;
        let kind = source.trace.kinds.get(usize::from(row.kind.0)).copied();
        let category = kind.map_or(StringId::EMPTY, |kind| kind.category);
        let name = mark
            .name
            .or(kind.map(|kind| kind.name))
            .unwrap_or(StringId::EMPTY);
        let thread = source.koids.thread(mark.thread);
        if !mark.is_moved && !self.has_fields(mark.event) {
            return self.bare_event(
                event_type,
                (item.time, thread),
                (category, name),
                Some(mark.id),
            );
        }
        let mut args = self.args_of(mark.event);
        if mark.is_moved {
            let real = row.time.0.saturating_add(source.shift);
            args.push(Arg::new("really_at_ns", ArgValue::Int64(real)));
        }
        self.event(
            event_type,
            (item.time, thread),
            (category, name),
            args,
            Some(mark.id),
        );
    }
}

/// The word for a scope that is not the thread's.
fn scope_word(fields: &[FieldRef<'_>]) -> Option<u64> {
    let field = fields
        .iter()
        .find(|field| field.type_name == "instant scope")?;
    match &field.value {
        ValueRef::Text(text) if text == "process" => Some(1),
        ValueRef::Text(text) if text == "global" => Some(2),
        _ => None,
    }
}

/// A state as the format numbers it (15 is none that it knows), and its letters where the number says less.
fn state_number(state: EndState) -> (u8, &'static str) {
    match state {
        EndState::Runnable => (1, ""),
        EndState::Preempted => (1, state.letters()),
        EndState::Stopped => (2, ""),
        EndState::Traced => (2, state.letters()),
        EndState::Sleeping => (3, ""),
        EndState::Uninterruptible | EndState::Parked | EndState::Idle => (3, state.letters()),
        EndState::Zombie => (4, ""),
        EndState::Dead => (5, ""),
        EndState::Unknown => (15, ""),
    }
}

/// The same of a state that a switch brought.
fn thread_state_number(state: ThreadState) -> (u8, &'static str) {
    state_number(match state {
        ThreadState::Running | ThreadState::Runnable => EndState::Runnable,
        ThreadState::Preempted => EndState::Preempted,
        ThreadState::Stopped => EndState::Stopped,
        ThreadState::Traced => EndState::Traced,
        ThreadState::Sleeping => EndState::Sleeping,
        ThreadState::Uninterruptible => EndState::Uninterruptible,
        ThreadState::Parked => EndState::Parked,
        ThreadState::Idle => EndState::Idle,
        ThreadState::Zombie => EndState::Zombie,
        ThreadState::Dead => EndState::Dead,
        ThreadState::Created | ThreadState::Unknown => EndState::Unknown,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_names_come_back_as_they_were() {
        let joined = |name: &str| {
            let said = CounterName::new(name, 0);
            if said.event == said.argument {
                said.event
            } else {
                format!("{}:{}", said.event, said.argument)
            }
        };
        for name in ["load", "cpu:busy", "a:b:3", "a:", ":b", "x:x", ""] {
            assert_eq!(joined(name), name);
        }
    }
}
