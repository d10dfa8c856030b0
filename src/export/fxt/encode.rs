//! Items to records: one window's items in, its bytes out.

use rustc_hash::FxHashMap;

use super::args::{self, FieldNames, Fitted, record_word};
use super::asyncs::AsyncIds;
use super::copies::Copies;
use super::counters::CounterName;
use super::flows::{FlowMark, FlowStepSort, ReallyIn};
use super::item::{Item, What};
use super::koids::Koids;
use super::lone_flows::REALLY_IN;
use super::lone_states::{LoneStates, TrueEnds};
use super::providers::Providers;
use super::records::{
    Arg, ArgValue, EventType, FixedTables, Head, MOST_ARGS, Records, TextRef, ThreadKoids,
};
use super::source_args::SourceNames;
use crate::base::StringId;
use crate::event::{FieldRef, KindId};
use crate::export::Chosen;
use crate::formats::fxt::{FxtSource, SourceEvent};
use crate::formats::{EventRef, Reader};
use crate::trace::{EventCursor, EventId, ProcessId, ThreadId, Trace, TrackKind};

/// What encoding looks at.
pub struct Source<'a> {
    /// The tables.
    pub trace: &'a Trace,
    /// Decodes arguments.
    pub reader: &'a dyn Reader,
    /// The same as records of an FXT file, if it is one.
    pub fxt: Option<FxtSource<'a>>,
    /// How its arguments are read.
    pub arguments: Arguments,
    /// Which of its records are copied, if any is.
    pub copies: Option<&'a Copies>,
    /// By the keys of its threads: the indices that they have in the whole file that is written, or 0.
    pub fixed_threads: &'a [u8],
    /// The range and the rest of the selection.
    pub chosen: &'a Chosen<'a>,
    /// Everybody's koids.
    pub koids: &'a Koids,
    /// The marks that flow items number.
    pub flows: &'a [FlowMark],
    /// States that began without a run before them.
    pub lone_states: &'a LoneStates,
    /// Runs whose end their states know of.
    pub true_ends: &'a TrueEnds,
    /// Ids of asynchronous slices.
    pub async_ids: &'a AsyncIds,
    /// Where whole slices are cut that last over the range's end, if not there.
    pub cuts: &'a FxHashMap<u32, i64>,
    /// Added to every time.
    pub shift: i64,
    /// How counters are called.
    pub counter_names: &'a [CounterName],
    /// Whether all of them are chosen.
    pub has_all_counters: bool,
    /// A thread of each process.
    pub thread_of_process: &'a [ThreadId],
    /// The providers of the file that is written.
    pub providers: &'a Providers,
    /// The index of the CPU of an event.
    pub cpu_of: &'a (dyn Fn(EventId) -> Option<u32> + Sync),
}

/// How many items' records are waited for together.
pub(super) const FETCHED_TOGETHER: usize = 128;

/// How the events of an FXT file are read: all say the same when they are read back, the last two byte for byte.
#[cfg_attr(not(test), expect(dead_code, reason = "tests compare with them"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// By their records, which are copied: see `copies`. Otherwise as the next.
    Copied,
    /// From record to record, where nothing is odd: quick.
    AsTheyStand,
    /// As fields, as those of other formats.
    AsFields,
}

/// A name by the index that it has in the whole file that is written (0: it has none), and as it is in its own.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    /// Its index, or 0.
    pub index: u16,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// An argument's name, and its text, which was cut to fit.
type CutText = (Vec<u8>, Vec<u8>);

/// Encodes items into records.
pub struct Encoder<'a, 't> {
    pub(super) source: &'a Source<'a>,
    /// The records so far.
    pub records: Records<'t>,
    /// Texts that were cut to fit, with the whole in a large record.
    pub cut_texts: u64,
    /// The fields of the event at hand: they become its arguments.
    pub(super) fields: Vec<FieldRef<'a>>,
    field_names: FieldNames<'a>,
    /// The event at hand as its own FXT file has it, instead of `fields`.
    pub(super) own: Option<SourceEvent<'a>>,
    /// The arguments of the event at hand one by one, instead of both.
    pub(super) listed: Option<Vec<Arg<'a>>>,
    /// The counter event that was written last, with all its values.
    pub(super) last_counter: u32,
    /// The time of the record that was written last, of those that have one.
    pub(super) anchor: Option<i64>,
    /// Whether the item at hand became a record without a time.
    pub(super) is_untimed: bool,
    /// What that file's string indices are here.
    pub source_names: SourceNames<'a>,
    /// Finds events quickly that lie near each other.
    pub(super) events: EventCursor<'a>,
    /// Where the record of the item at hand lies, and that of which event it is.
    at_hand: Option<(EventId, u64)>,
    /// The same of the items that come.
    places: Vec<Option<(EventId, u64)>>,
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
            field_names: FieldNames::new(),
            own: None,
            listed: None,
            last_counter: u32::MAX,
            anchor: None,
            is_untimed: false,
            source_names: SourceNames::default(),
            events: source.trace.events.cursor(),
            at_hand: None,
            places: Vec::new(),
        }
    }

    /// One that goes on behind what another has encoded.
    pub fn behind(
        source: &'a Source<'a>,
        tables: &'t FixedTables,
        before: &Encoder<'a, 't>,
    ) -> Encoder<'a, 't> {
        Encoder {
            last_counter: before.last_counter,
            anchor: before.anchor,
            ..Encoder::new(source, tables)
        }
    }

    pub(super) fn ticks(&self, time: i64) -> u64 {
        time.saturating_add(self.source.shift).max(0) as u64
    }

    pub(super) fn event_ref(&self, id: EventId) -> EventRef {
        self.events.get(id).into()
    }

    /// Where the record of an event lies.
    pub(super) fn place(&self, id: EventId) -> u64 {
        match self.at_hand {
            Some((at_hand, place)) if at_hand == id => place,
            _ => self.events.place(id),
        }
    }

    /// Reads what an event says beside name, time and thread.
    pub(super) fn read(&mut self, id: EventId) {
        self.read_nothing();
        let fxt = self.source.fxt;
        if let Some(fxt) = fxt.filter(|_| self.source.arguments != Arguments::AsFields) {
            self.own = fxt.event(self.place(id));
        }
        if self.own.is_some() {
            return;
        }
        let event = self.event_ref(id);
        if self.source.reader.has_fields(event) {
            self.source.reader.fields_into(event, &mut self.fields);
        }
    }

    pub(super) fn read_nothing(&mut self) {
        self.fields.clear();
        (self.own, self.listed) = (None, None);
    }

    /// The arguments of the event at hand, taken out.
    pub(super) fn take_args(&mut self) -> Vec<Arg<'a>> {
        if let Some(listed) = self.listed.take() {
            return listed;
        }
        match (self.own.take(), &self.source.fxt) {
            (Some(own), Some(fxt)) => {
                let mut list = self.source_names.list(fxt, &own, &self.records);
                args::unpack(&mut list);
                list
            }
            _ => args::arguments(&mut self.fields),
        }
    }

    /// What is true of an argument stands there already: what was cut before says when it really was.
    pub(super) fn without_said<'m>(&mut self, more: &[Arg<'m>]) -> Vec<Arg<'m>> {
        let own = self.take_args();
        let is_said = |arg: &&Arg<'_>| own.iter().any(|own| own.name == arg.name);
        let not_said = more.iter().filter(|arg| !is_said(arg)).cloned().collect();
        self.listed = Some(own);
        not_said
    }

    /// Prepares the arguments of the event at hand and `more`, for a record with room for `words` of them; which were
    /// cut to fit.
    pub(super) fn prepare(&mut self, more: &[Arg<'_>], words: usize) -> Option<Vec<CutText>> {
        let records = &mut self.records;
        let is_prepared = match (&self.listed, &self.own, &self.source.fxt) {
            (Some(_), ..) => false,
            (None, Some(own), Some(fxt)) => {
                self.source_names.prepare(fxt, own, (more, words), records)
            }
            _ => self.field_names.prepare(&self.fields, more, words, records),
        };
        if is_prepared {
            return None;
        }
        self.prepare_fitted(more, words)
    }

    /// The same of those that have to be made to fit.
    fn prepare_fitted(&mut self, more: &[Arg<'_>], words: usize) -> Option<Vec<CutText>> {
        let mut args: Vec<Arg<'_>> = self.take_args();
        // What readers know by its name stays out of the text for what is too much.
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

    /// Encodes items that follow each other.
    pub fn items(&mut self, items: &[Item]) {
        for some in items.chunks(FETCHED_TOGETHER) {
            if let Some(fxt) = self.source.fxt {
                // The records lie all over the file's pages: waited for together they come sooner than one by one.
                let mut places = std::mem::take(&mut self.places);
                places.clear();
                places.extend(some.iter().map(|item| {
                    let (event, place) = self.place_of(item)?;
                    fxt.fetch(place);
                    Some((event, place))
                }));
                for (item, place) in some.iter().zip(&places) {
                    self.at_hand = *place;
                    self.item(item);
                }
                self.places = places;
                continue;
            }
            for item in some {
                self.item(item);
            }
        }
    }

    /// The event whose record the item is written from, and where that is.
    fn place_of(&self, item: &Item) -> Option<(EventId, u64)> {
        let event = match item.what {
            What::Whole | What::Begin | What::AsyncBegin => item.slice.begin,
            What::End | What::AsyncEnd => item.slice.finish,
            What::Instant | What::Scheduling => item.row,
            What::Flow => self.source.flows.get(item.row as usize)?.event.0,
            What::Sample => *self.source.trace.counters.events.get(item.row as usize)?,
            _ => u32::MAX,
        };
        let place = || (EventId(event), self.events.place(EventId(event)));
        (event != u32::MAX).then(place)
    }

    /// Encodes one item.
    pub fn item(&mut self, item: &Item) {
        match item.what {
            What::Whole | What::Begin | What::End => self.slice(item),
            What::AsyncBegin | What::AsyncEnd => self.async_mark(item),
            What::Instant => self.instant(item),
            What::Object => self.object_of_others(item),
            What::Sample => self.sample(item),
            What::CounterWithoutNumber => self.counter_without_number(item),
            What::SwitchTo | What::SwitchToIdle | What::SwitchOff | What::SwitchAtEnd => {
                self.switch(item)
            }
            What::Scheduling => self.scheduling_record(item),
            What::UnseenEnd => self.unseen_end(item),
            What::Wakeup => self.wakeup(item),
            What::WakeupOfReady => self.wakeup_of_ready(item),
            What::Log => self.log(item),
            What::Flow => self.flow(item),
            What::Loss => self.loss(item),
        }
        if !std::mem::take(&mut self.is_untimed) {
            self.anchor = Some(item.time);
        }
    }

    /// Whether what has no time of its own would be read as of another one, as what had its time stands not before it.
    /// What a whole export begins with is of the first time that comes.
    pub(super) fn lacks_anchor(&self, time: i64) -> bool {
        let chosen = self.source.chosen;
        let is_part = || chosen.is_narrowed() || chosen.span.start > self.source.trace.span.start;
        self.anchor.map_or_else(is_part, |anchor| anchor != time)
    }

    pub(super) fn name_bytes(&self, id: StringId) -> &'a [u8] {
        self.source.trace.strings.bytes(id)
    }

    /// A string of the trace as a name.
    #[inline]
    pub(super) fn name(&self, id: StringId) -> Name<'a> {
        let fixed = self.records.fixed_name(id);
        Name {
            index: fixed.map_or(0, |fixed| fixed.bits),
            bytes: self.name_bytes(id),
        }
    }

    /// Writes an event with the fields that were read, and `more`, as arguments, whatever they are.
    #[inline]
    pub(super) fn event(
        &mut self,
        event_type: EventType,
        at: (i64, ThreadKoids),
        (category, name): (StringId, StringId),
        more: &[Arg<'_>],
        last_word: Option<u64>,
    ) {
        let names = (self.name(category), self.name(name));
        self.named_event(event_type, at, names, more, last_word);
    }

    /// The same where the names may be in no table of the trace.
    pub(super) fn named_event(
        &mut self,
        event_type: EventType,
        (time, thread): (i64, ThreadKoids),
        (category, name): (Name<'_>, Name<'_>),
        more: &[Arg<'_>],
        last_word: Option<u64>,
    ) {
        let head = Head {
            event_type,
            time: self.ticks(time),
            thread,
            category: match category.index {
                0 => self.records.exact_name(category.bytes),
                index => TextRef::index(index),
            },
            name: match name.index {
                0 => self.records.exact_name(name.bytes),
                index => TextRef::index(index),
            },
        };
        let not_said: Vec<Arg<'_>>;
        let mut more = more;
        if !more.is_empty() && self.source.fxt.is_some() {
            not_said = self.without_said(more);
            more = &not_said;
        }
        let cut = self.prepare(more, head.room());
        self.records.prepared_event(head, last_word);
        if let Some(cut) = cut {
            self.cut_texts_of((head.time, thread), (category.bytes, name.bytes), cut);
        }
    }

    /// The texts of an event that had no room in it: large records of its time.
    #[cold]
    fn cut_texts_of(
        &mut self,
        (time, thread): (u64, ThreadKoids),
        (category, name): (&[u8], &[u8]),
        cut: Vec<CutText>,
    ) {
        for (argument, whole) in cut {
            let whole_name = [name, b" (", &argument, b")"].concat();
            // Registering texts for the event may have replaced what stood for its category.
            let head = Head {
                event_type: EventType::Instant,
                time,
                thread,
                category: self.records.exact_name(category),
                name: self.records.exact_name(&whole_name),
            };
            self.records.large_event(head, &[], &whole);
        }
    }

    /// The thread that slices of a track are written on.
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
            None => Koids::MACHINE,
        }
    }

    /// The thread of an asynchronous slice is its begin's, but it must be one of the slice's process.
    pub(super) fn async_thread(&self, process: Option<ProcessId>, begin: u32) -> ThreadKoids {
        let trace = self.source.trace;
        let thread = self.events.thread(EventId(begin));
        match process {
            Some(process) if trace.thread(thread).process != Some(process) => {
                self.thread_of(process)
            }
            _ => self.source.koids.thread(thread),
        }
    }

    pub(super) fn thread_of(&self, process: ProcessId) -> ThreadKoids {
        let koid = self.source.koids.process(process);
        match self.source.thread_of_process.get(process.0 as usize) {
            Some(&thread) if thread != ThreadId::NONE => self.source.koids.thread(thread),
            _ => (koid, koid),
        }
    }

    /// The id of the asynchronous event at hand, if it has one.
    pub(super) fn async_id(&self) -> Option<u64> {
        match &self.own {
            Some(own) => own.async_id(),
            None => record_word(&self.fields, "async id"),
        }
    }

    /// Category and name of a kind.
    pub(super) fn names_of(&self, kind: KindId) -> (StringId, StringId) {
        let kind = self.source.trace.kinds.get(usize::from(kind.0));
        kind.map_or((StringId::EMPTY, StringId::EMPTY), |kind| {
            (kind.category, kind.name)
        })
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
        let (category, name) = self.names_of(row.kind);
        let name = mark.name.unwrap_or(name);
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
                    let label = source.trace.slices.label(slice);
                    ArgValue::Text(self.name_bytes(label.name).into())
                }
                ReallyIn::Nothing => ArgValue::Null,
            };
            more.push(Arg::new(REALLY_IN, value));
        }
        let at = (item.time, thread);
        self.event(event_type, at, (category, name), &more, Some(mark.id));
    }
}
