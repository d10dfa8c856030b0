//! Encodes items as records: the items of one window in, bytes out.

use rustc_hash::FxHashMap;

use super::args::{self, CutText, FieldNames, Fitted};
use super::item::{Item, What};
use super::lone_states::{LoneStates, TrueEnds};
use super::providers::Providers;
use super::records::{
    Arg, ArgValue, EventType, FixedTables, Head, MOST_ARGS, Records, TextRef, ThreadKoids,
};
use crate::base::StringId;
use crate::event::SliceKind;
use crate::event::flow_kind::{FLOW_KIND, FlowKind};
use crate::event::{FieldRef, FieldRole, KindId, Role, ValueRef};
use crate::export::shared::Interrupted;
use crate::export::shared::arguments::{arguments, async_id_in, record_word};
use crate::export::shared::async_groups::AsyncGroups;
use crate::export::shared::async_ids::AsyncIds;
use crate::export::shared::borders::Borders;
use crate::export::shared::counter_names::CounterName;
use crate::export::shared::flow_marks::{FlowMark, FlowStepSort, ReallyIn};
use crate::export::shared::koids::Koids;
use crate::formats::{EventRef, Events};
use crate::fxt::agreed::{
    INTERRUPTED, REALLY_IN, REALLY_IN_FROM, RECORDED_BY, RECORDED_BY_PROCESS,
};
use crate::query::event_cpus::EventCpus;
use crate::query::selection::Chosen;
use crate::trace::{EventCursor, EventId, ProcessId, Trace, TrackKind};

/// The input of the encoder.
pub(super) struct Source<'a> {
    /// The tables of the trace.
    pub trace: &'a Trace,
    /// Decodes the fields of events.
    pub reader: &'a dyn Events,
    /// The kept records among which the encoded ones are written, if there are any.
    pub kept: Option<KeptRecords<'a>>,
    /// The range and the rest of the selection.
    pub chosen: &'a Chosen<'a>,
    /// Where items are cut.
    pub borders: &'a Borders,
    /// The koids of all processes and threads.
    pub koids: &'a Koids,
    /// The flow marks; items of flows are indices into them.
    pub flows: &'a [FlowMark],
    /// States that began without a run before them.
    pub lone_states: &'a LoneStates,
    /// The runs whose end the states of their thread confirm.
    pub true_ends: &'a TrueEnds,
    /// Ids of asynchronous slices.
    pub async_ids: &'a AsyncIds,
    /// Names of asynchronous tracks.
    pub async_groups: &'a AsyncGroups,
    /// By slice: where a whole slice that crosses the range's end is cut, if not at the end.
    pub cuts: &'a FxHashMap<u32, i64>,
    /// Added to every time, in ns.
    pub shift: i64,
    /// The names of counters, by track.
    pub counter_names: &'a [CounterName],
    /// Whether all counters are chosen.
    pub has_all_counters: bool,
    /// The providers of the file that is written.
    pub providers: &'a Providers,
    /// Looks up the CPUs of events.
    pub cpus: &'a EventCpus<'a>,
    /// By label: the kind of its slices, if their category does not imply it.
    pub kinds_to_write: &'a [Option<SliceKind>],
}

/// Properties of the file among whose records the encoder writes its own.
#[derive(Clone, Copy)]
pub(crate) struct KeptRecords<'a> {
    /// Whether the file contains the lives of processes and threads.
    pub has_lives: bool,
    /// Returns the arguments of the switch or wakeup of an event; `None` if its record has no room for any.
    pub scheduling_args: &'a ArgsOf<'a>,
}

/// Returns the arguments of an event's record.
pub(crate) type ArgsOf<'a> = dyn Fn(EventId) -> Option<Vec<Arg<'static>>> + Sync + 'a;

/// A name as an index in the fixed table, and as bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'a> {
    /// Its index in the fixed table, or 0 if it is not there.
    pub index: u16,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// The category and name of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<T> {
    pub category: T,
    pub name: T,
}

/// When an event is written, and on which thread.
#[derive(Clone, Copy)]
pub(crate) struct EventAt {
    /// The time in ns on the trace's clock.
    pub time: i64,
    pub thread: ThreadKoids,
}

/// Encodes items as records.
pub(crate) struct Encoder<'a, 't> {
    pub(super) source: &'a Source<'a>,
    /// The records that were encoded.
    pub records: Records<'t>,
    /// The number of texts that were cut to fit; a large record contains the whole text.
    pub cut_texts: u64,
    /// The fields of the current event: they become its arguments.
    pub(super) fields: Vec<FieldRef<'a>>,
    field_names: FieldNames<'a>,
    /// The arguments of the current event in a list, instead of `fields`.
    pub(super) listed: Option<Vec<Arg<'a>>>,
    /// The counter event that was written last, with all its values.
    pub(super) last_counter: Option<u32>,
    /// The counter event that was read last, if it has no id.
    pub(super) without_counter_id: Option<u32>,
    /// The time of the last written record that has a time.
    pub(super) anchor: Option<i64>,
    /// Whether the current item became a record without a time.
    pub(super) is_untimed: bool,
    /// Looks up events; fast for events that are near each other.
    pub(super) events: EventCursor<'a>,
}

impl<'a, 't> Encoder<'a, 't> {
    /// Returns an encoder without records.
    pub(super) fn new(source: &'a Source<'a>, tables: &'t FixedTables) -> Encoder<'a, 't> {
        Encoder::with_buffer(source, tables, Vec::new())
    }

    /// Returns an encoder without records that reuses the memory of `buffer`.
    pub(crate) fn with_buffer(
        source: &'a Source<'a>,
        tables: &'t FixedTables,
        buffer: Vec<u8>,
    ) -> Encoder<'a, 't> {
        Encoder {
            source,
            records: Records::with_buffer(tables, buffer),
            cut_texts: 0,
            fields: Vec::new(),
            field_names: FieldNames::new(),
            listed: None,
            last_counter: None,
            without_counter_id: None,
            anchor: None,
            is_untimed: false,
            events: source.trace.events.cursor(),
        }
    }

    /// Returns an encoder whose records follow those of another encoder.
    pub(crate) fn behind(before: &Encoder<'a, 't>) -> Encoder<'a, 't> {
        Encoder {
            last_counter: before.last_counter,
            anchor: before.anchor,
            ..Encoder::new(before.source, before.records.fixed)
        }
    }

    pub(super) fn ticks(&self, time: i64) -> u64 {
        time.saturating_add(self.source.shift).max(0) as u64
    }

    pub(super) fn event_ref(&self, id: EventId) -> EventRef {
        self.events.get(id).into()
    }

    /// Reads the fields of an event, besides its name, time and thread.
    pub(super) fn read(&mut self, id: EventId) {
        self.read_nothing();
        let event = self.event_ref(id);
        if self.source.reader.has_fields(event) {
            self.source.reader.fields_into(event, &mut self.fields);
        }
    }

    pub(super) fn read_nothing(&mut self) {
        self.fields.clear();
        self.listed = None;
    }

    /// Takes the arguments of the current event.
    pub(super) fn take_args(&mut self) -> Vec<Arg<'a>> {
        if let Some(listed) = self.listed.take() {
            return listed;
        }
        arguments(&mut self.fields)
    }

    /// Returns whether the current event has an argument of this name: a record that was cut before contains its real
    /// times.
    pub(super) fn has_argument(&self, name: &[u8]) -> bool {
        self.any_argument(|own, _| own == name)
    }

    /// Returns whether the current event has an argument that fits: its name, and whether its value is a koid.
    fn any_argument(&self, fits: impl Fn(&[u8], bool) -> bool) -> bool {
        match &self.listed {
            Some(listed) => {
                (listed.iter()).any(|own| fits(&own.name, matches!(own.value, ArgValue::Koid(_))))
            }
            None => (self.fields.iter())
                .filter(|field| field.role.is_argument())
                .any(|field| fits(field.name_bytes(), matches!(field.value, ValueRef::Koid(_)))),
        }
    }

    /// Returns whether the current event has this argument already, because this program wrote its record. An argument
    /// of this name belongs to the recorded program if only one of the two is a koid.
    fn has_own_argument(&self, arg: &Arg<'_>) -> bool {
        let is_koid = matches!(arg.value, ArgValue::Koid(_));
        self.any_argument(|own, of_own| own == &*arg.name && of_own == is_koid)
    }

    /// Replaces the koids among the arguments of the current event that `more` has under the same name: the record is of
    /// this program, but its threads may have other koids in this file.
    fn correct_koids(&mut self, more: &[Arg<'_>]) {
        for arg in more {
            let ArgValue::Koid(koid) = arg.value else {
                continue;
            };
            for own in self.listed.iter_mut().flatten() {
                if own.name == arg.name && matches!(own.value, ArgValue::Koid(_)) {
                    own.value = ArgValue::Koid(koid);
                }
            }
            for field in &mut self.fields {
                let is_same = field.name_bytes() == &*arg.name && field.role.is_argument();
                if is_same && matches!(field.value, ValueRef::Koid(_)) {
                    field.value = ValueRef::Koid(koid);
                }
            }
        }
    }

    /// Prepares the arguments of the current event and `more`, for a record with room for `words` words of arguments.
    /// Returns the texts that were cut to fit.
    pub(super) fn prepare(&mut self, more: &[Arg<'_>], words: usize) -> Option<Vec<CutText>> {
        let records = &mut self.records;
        let is_prepared =
            self.listed.is_none() && self.field_names.prepare(&self.fields, more, words, records);
        if is_prepared {
            return None;
        }
        self.prepare_fitted(more, words)
    }

    /// As `prepare`, for arguments that have to be made to fit.
    fn prepare_fitted(&mut self, more: &[Arg<'_>], words: usize) -> Option<Vec<CutText>> {
        let mut args: Vec<Arg<'_>> = self.take_args();
        // Arguments that our reader finds by name come first, so that they are not moved into `more`.
        let at = match args.len() + more.len() > MOST_ARGS {
            true => args.len().min((MOST_ARGS - 1).saturating_sub(more.len())),
            false => args.len(),
        };
        args.splice(at..at, more.iter().cloned());
        let Fitted { is_packed, cut } = args::fit(&mut args, words);
        self.records.counts.packed += u64::from(is_packed);
        self.records.prepare(&args);
        self.cut_texts += cut.len() as u64;
        (!cut.is_empty()).then_some(cut)
    }

    /// Encodes items in order.
    pub(crate) fn items(&mut self, items: &[Item]) {
        for item in items {
            self.item(item);
        }
    }

    /// Encodes one item.
    pub(super) fn item(&mut self, item: &Item) {
        match item.what {
            What::Whole | What::Begin | What::End => self.slice(item),
            What::AsyncBegin | What::AsyncEnd => self.async_mark(item),
            What::Instant => self.instant(item),
            What::Object => self.object_of_others(item),
            What::Sample => self.sample(item),
            What::SwitchTo | What::SwitchToIdle | What::SwitchOff | What::SwitchAtEnd => {
                self.switch(item)
            }
            What::UnseenEnd => self.unseen_end(item),
            What::Wakeup => self.wakeup(item),
            What::Log => self.log(item),
            What::Flow => self.flow(item),
            What::Loss => self.loss(item),
        }
        if !std::mem::take(&mut self.is_untimed) {
            self.anchor = Some(item.time);
        }
    }

    /// Returns whether a reader would give a record without a time another time than `time`: the time of the record
    /// before it. Records at the start of a whole export get the first time that follows.
    pub(super) fn lacks_anchor(&self, time: i64) -> bool {
        let chosen = self.source.chosen;
        let is_part = || chosen.is_narrowed() || chosen.span.start > self.source.trace.span.start;
        self.anchor.map_or_else(is_part, |anchor| anchor != time)
    }

    pub(super) fn name_bytes(&self, id: StringId) -> &'a [u8] {
        self.source.trace.strings.bytes(id)
    }

    /// Returns a string of the trace as a name.
    #[inline]
    pub(super) fn name(&self, id: StringId) -> Name<'a> {
        let fixed = self.records.fixed_name(id);
        Name {
            index: fixed.map_or(0, |fixed| fixed.bits),
            bytes: self.name_bytes(id),
        }
    }

    /// Writes an event with the fields that were read, and `more`, as arguments.
    #[inline]
    pub(super) fn event(
        &mut self,
        event_type: EventType,
        at: EventAt,
        names: Names<StringId>,
        more: &[Arg<'_>],
        last_word: Option<u64>,
    ) {
        let names = Names {
            category: self.name(names.category),
            name: self.name(names.name),
        };
        self.named_event(event_type, at, names, more, last_word);
    }

    /// As `event`, with names that may be in no table of the trace.
    pub(super) fn named_event(
        &mut self,
        event_type: EventType,
        at: EventAt,
        names: Names<Name<'_>>,
        more: &[Arg<'_>],
        last_word: Option<u64>,
    ) {
        let Names { category, name } = names;
        let head = Head {
            event_type,
            time: self.ticks(at.time),
            thread: at.thread,
            category: match category.index {
                0 => self.records.exact_name(category.bytes),
                index => TextRef::index(index),
            },
            name: match name.index {
                0 => self.records.exact_name(name.bytes),
                index => TextRef::index(index),
            },
        };
        self.correct_koids(more);
        let missing: Vec<Arg<'_>>;
        let mut more = more;
        if more.iter().any(|arg| self.has_own_argument(arg)) {
            let is_new = |arg: &&Arg<'_>| !self.has_own_argument(arg);
            missing = more.iter().filter(is_new).cloned().collect();
            more = &missing;
        }
        let cut = self.prepare(more, head.room());
        self.records.prepared_event(head, last_word);
        if let Some(cut) = cut {
            self.cut_texts_of(at, names, cut);
        }
    }

    /// Writes the texts that were cut in an event: large records with its time.
    #[cold]
    fn cut_texts_of(&mut self, at: EventAt, names: Names<Name<'_>>, cut: Vec<CutText>) {
        for CutText { argument, whole } in cut {
            let whole_name = [names.name.bytes, b" (", &argument, b")"].concat();
            // Registering texts for the event may have replaced the table entry of its category.
            let head = Head {
                event_type: EventType::Instant,
                time: self.ticks(at.time),
                thread: at.thread,
                category: self.records.exact_name(names.category.bytes),
                name: self.records.exact_name(&whole_name),
            };
            self.records.large_event(head, &[], &whole);
        }
    }

    /// Returns the thread on which slices of a track are written.
    pub(super) fn track_thread(&self, track: u32, begin: u32) -> ThreadKoids {
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
            Some(TrackKind::Nobody) | None => Koids::MACHINE,
        }
    }

    /// Returns an argument with the thread that ran when an event of a CPU track was recorded, or null if that is not known;
    /// `None` if the CPU was idle.
    pub(super) fn interrupted_arg(&self, track: u32, event: EventId) -> Option<Arg<'static>> {
        let track = self.source.trace.tracks.get(track as usize)?;
        let value = match Interrupted::of(track.kind, self.events.thread(event))? {
            Interrupted::Thread(thread) => ArgValue::Koid(self.source.koids.thread(thread).thread),
            Interrupted::Unknown => ArgValue::Null,
            Interrupted::Idle => return None,
        };
        Some(Arg::new(INTERRUPTED, value))
    }

    /// Returns arguments with the thread that recorded an asynchronous event, and its process, if the event is written on
    /// another thread.
    pub(super) fn recorded_by_args(
        &self,
        written_on: ThreadKoids,
        event: EventId,
    ) -> impl Iterator<Item = Arg<'static>> {
        let recorder = (self.source.koids).recorder(self.events.thread(event), written_on);
        recorder.into_iter().flat_map(|koids| {
            [
                Arg::new(RECORDED_BY, ArgValue::Koid(koids.thread)),
                Arg::new(RECORDED_BY_PROCESS, ArgValue::Koid(koids.process)),
            ]
        })
    }

    /// Returns the thread on which an event of an asynchronous track is written.
    pub(super) fn async_thread(&self, process: Option<ProcessId>, event: u32) -> ThreadKoids {
        let thread = self.events.thread(EventId(event));
        self.source
            .koids
            .on_async_track(self.source.trace, process, thread)
    }

    /// Returns the id of the current asynchronous event, if it has one.
    pub(super) fn async_id(&self) -> Option<u64> {
        async_id_in(&self.fields)
    }

    /// Returns the id of the current counter event, if it has one and its arguments are the counter's values.
    pub(super) fn counter_id(&self) -> Option<u64> {
        record_word(&self.fields, FieldRole::CounterIdOfAll)
    }

    /// Returns the category and name of a kind of events.
    pub(super) fn names_of(&self, kind: KindId) -> Names<StringId> {
        let kind = self.source.trace.kinds.get(kind.index());
        Names {
            category: kind.map_or(StringId::EMPTY, |kind| kind.category),
            name: kind.map_or(StringId::EMPTY, |kind| kind.name),
        }
    }

    /// Returns the role of an event.
    pub(super) fn role_of(&self, id: EventId) -> Role {
        let kind = self.events.kind(id).index();
        let kind = self.source.trace.kinds.get(kind);
        kind.map_or_else(Role::default, |kind| kind.role)
    }

    fn log(&mut self, item: &Item) {
        let source = self.source;
        let Some(log) = source.trace.logs.rows.get(item.row as usize) else {
            return;
        };
        let message = self.name_bytes(log.message);
        let thread = source.koids.thread(log.thread);
        let time = self.ticks(item.time);
        if log.severity == StringId::EMPTY {
            self.records.log(time, thread, message);
        } else {
            let severity = self.name_bytes(log.severity);
            let message = [b"[", severity, b"] ", message].concat();
            self.records.log(time, thread, &message);
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
        let event = self.events.get(mark.event);
        let row = event.row;
        let mut names = self.names_of(row.kind);
        names.name = mark.name.unwrap_or(names.name);
        let thread = source.koids.thread(mark.thread);
        self.read(mark.event);
        let mut more = Vec::new();
        if mark.is_moved {
            let real = row.time.0.saturating_add(source.shift);
            more.push(Arg::new("really_at_ns", ArgValue::Int64(real)));
        }
        if let Some(really_in) = mark.really_in {
            let value = match really_in {
                ReallyIn::Slice(slice) => {
                    let start = source.trace.slices.starts.at(slice.0 as usize);
                    let start = start.saturating_add(source.shift);
                    more.push(Arg::new(REALLY_IN_FROM, ArgValue::Int64(start)));
                    let label = source.trace.slices.label(slice);
                    ArgValue::Text(self.name_bytes(label.name).into())
                }
                ReallyIn::Nothing => ArgValue::Null,
            };
            more.push(Arg::new(REALLY_IN, value));
        }
        let implied = FlowKind::implied(self.name_bytes(names.name));
        // Among the records of another program no name implies a kind.
        let is_plain = source.kept.is_none() || mark.kind == FlowKind::default();
        if mark.kind != implied || !is_plain {
            more.push(Arg::new(FLOW_KIND, ArgValue::text(mark.kind.word())));
        }
        let at = EventAt {
            time: item.time,
            thread,
        };
        self.event(event_type, at, names, &more, Some(mark.id));
    }
}
