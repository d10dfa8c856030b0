//! The bulk pass: reads the records of one part and returns its columns.
//!
//! An ordinary event needs no allocation and no hashing: small direct tables resolve string and thread indices once per
//! registration, and `part_names` remembers the kind and label of each category and name. Damage in a record becomes a
//! diagnostic; then the record is dropped, or kept with its readable fields.

use rustc_hash::FxHashMap;

use crate::base::{Diagnostics, Job, Location, Maybe, ReadError, Severity, StringId};
use crate::event::family::Family;
use crate::event::flow_kind::FLOW_KIND;
use crate::event::slice_kind::{ASYNC_GROUP, Nesting, SLICE_KIND};
use crate::event::{
    KindId, KindOrigin, Label, LaneColumns, NEVER_ENDED, REALLY_BEGAN, REALLY_ENDED, Series,
    SeriesScope, SliceKind, ThreadKey, series_name,
};
use crate::formats::part_names::{Implied, NameIds, PartNames};
use crate::fxt::agreed::{
    INTERRUPTED, LONGEST, MISSES_SWITCHES, ON_CPU, OUTGOING_NOT_SEEN, REALLY_IN, REALLY_IN_FROM,
    RECORDED_BY, RECORDED_BY_PROCESS,
};

use super::cache::Cache;
use super::entities::LateThread;
use super::fold::PartRange;
use super::scan::{Scan, string_bytes};
use super::sort::Sort;
use super::summary::{Pair, SHARE as SUMMARY_SHARE};
use super::ticks::TickScale;
use crate::base::ByteOrder;
use crate::fxt::layout::{RECORD_TYPE, record_type, string, thread};
use crate::fxt::words::{TextRef, Words, fetch_ahead, size_bytes, unresolved_text};

const CHECK_BYTES: u64 = 1 << 20;

/// The data that parts of the file are read with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'f> {
    /// The bytes of the file.
    pub bytes: &'f [u8],
    /// The tables and names of the whole file.
    pub scan: &'f Scan,
}

/// Returns what a category of our own exports implies.
fn implied_in_own(category: &[u8]) -> Implied {
    Implied {
        slices: SliceKind::implied(category, Nesting::Nested),
        origin: KindOrigin::of_system(category),
    }
}

/// Reads the records of a part.
///
/// # Errors
/// Errors only if the job was cancelled.
pub(crate) fn emit<O: ByteOrder>(
    source: Source<'_>,
    cache: &mut Cache,
    range: PartRange,
    job: &Job,
) -> Result<LaneColumns, ReadError> {
    let PartRange { start, end } = range;
    job.check()?;
    let mut emitter = Emitter::<O>::new(source, cache, range);
    let mut at = start;
    let mut done = start;
    while at < end {
        if at - done >= CHECK_BYTES {
            job.check()?;
            job.advance(at - done - (at - done) / SUMMARY_SHARE);
            done = at;
        }
        let rest = usize::try_from(at).ok();
        let Some(rest) = rest.and_then(|at| source.bytes.get(at..)) else {
            break;
        };
        let Some(&chunk) = rest.first_chunk::<8>() else {
            break;
        };
        let header = O::u64(chunk);
        fetch_ahead(rest, 0);
        let Some(size) = size_bytes(header) else {
            // A zero word: the summary has already counted it.
            at += 8;
            continue;
        };
        let Some(record) = rest.get(..size) else {
            break;
        };
        emitter.record(at, header, Words::new(record));
        at += size as u64;
    }
    job.advance(at - done - (at - done) / SUMMARY_SHARE);
    Ok(emitter.finish(range))
}

/// Ids of argument names with a fixed meaning: in scheduling records, and in events of our own exporter's files.
pub(super) struct WellKnown {
    pub(super) incoming_weight: StringId,
    pub(super) outgoing_weight: StringId,
    pub(super) outgoing_state: StringId,
    pub(super) without_states: StringId,
    pub(super) outgoing_not_seen: StringId,
    pub(super) waits: StringId,
    pub(super) waker: StringId,
    pub(super) woken_in: StringId,
    pub(super) woken_by: StringId,
    pub(super) interrupted: StringId,
    pub(super) recorded_by: StringId,
    pub(super) recorded_by_process: StringId,
    pub(super) spans_loss: StringId,
    pub(super) misses_switches: StringId,
    pub(super) longest: StringId,
    pub(super) on_cpu: StringId,
    pub(super) async_group: StringId,
    pub(super) global_async_group: StringId,
    pub(super) really_at_ns: StringId,
    pub(super) really_in: StringId,
    pub(super) really_in_from: StringId,
    pub(super) measured_ns: StringId,
    pub(super) end_not_seen: StringId,
    pub(super) never_ended: StringId,
    pub(super) really_began_ns: StringId,
    pub(super) really_ended_ns: StringId,
    pub(super) slice_kind: StringId,
    pub(super) flow_kind: StringId,
}

/// The key of a counter's series in a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SeriesKey {
    /// Name of the event.
    pub event: StringId,
    /// Name of the argument.
    pub argument: StringId,
    /// Id of the counter.
    pub id: u64,
    pub scope: SeriesScope,
}

pub(super) struct Emitter<'f, O> {
    file: Words<'f, O>,
    pub(super) scan: &'f Scan,
    pub(super) cache: &'f mut Cache,
    pub(super) out: LaneColumns,
    pub(super) names: PartNames,
    /// The kinds of records without names.
    own_kinds: [Option<KindId>; Sort::COUNT],
    end_label: Option<u32>,
    /// The labels of slices whose kind is an argument, by the label that their names have.
    labels_of_kinds: FxHashMap<(u32, SliceKind), u32>,
    /// Labels for slices of CPUs, by the label with the same names and kind.
    labels_of_cpus: FxHashMap<u32, u32>,
    /// Whether categories imply the kinds of slices.
    pub(super) is_own: bool,
    all_series: FxHashMap<SeriesKey, u32>,
    recent_pair: Option<(Pair, Maybe<ThreadKey>)>,
    /// Places of the following events that only describe a loss; see `loss_facts`.
    pub(super) loss_facts: &'f [u64],
    pub(super) well_known: WellKnown,
}

impl<'f, O: ByteOrder> Emitter<'f, O> {
    fn new(source: Source<'f>, cache: &'f mut Cache, range: PartRange) -> Self {
        let Source { bytes, scan } = source;
        cache.start(scan, range);
        let is_own = scan.tables.is_own();
        let implied: fn(&[u8]) -> Implied = match is_own {
            true => implied_in_own,
            false => |_| Implied::default(),
        };
        let mut out = LaneColumns {
            ties: scan.tables.ties(),
            ..LaneColumns::new(3)
        };
        let mut intern = |name| out.strings.intern_text(name);
        let first = scan
            .loss_facts
            .partition_point(|place| *place < range.start);
        let well_known = WellKnown {
            incoming_weight: intern("incoming_weight"),
            outgoing_weight: intern("outgoing_weight"),
            outgoing_state: intern("outgoing_state"),
            without_states: intern("without_states"),
            outgoing_not_seen: intern(OUTGOING_NOT_SEEN),
            waits: intern("waits"),
            waker: intern("waker"),
            woken_in: intern("woken_in"),
            woken_by: intern("woken_by"),
            interrupted: intern(INTERRUPTED),
            recorded_by: intern(RECORDED_BY),
            recorded_by_process: intern(RECORDED_BY_PROCESS),
            spans_loss: intern("spans_loss"),
            misses_switches: intern(MISSES_SWITCHES),
            longest: intern(LONGEST),
            on_cpu: intern(ON_CPU),
            async_group: intern(ASYNC_GROUP),
            global_async_group: intern("global_async_group"),
            really_at_ns: intern("really_at_ns"),
            really_in: intern(REALLY_IN),
            really_in_from: intern(REALLY_IN_FROM),
            measured_ns: intern("measured_ns"),
            end_not_seen: intern("end_not_seen"),
            never_ended: intern(NEVER_ENDED),
            really_began_ns: intern(REALLY_BEGAN),
            really_ended_ns: intern(REALLY_ENDED),
            slice_kind: intern(SLICE_KIND),
            flow_kind: intern(FLOW_KIND),
        };
        Emitter {
            file: Words::new(bytes),
            scan,
            cache,
            out,
            names: PartNames::new(Family::Durations, implied),
            own_kinds: [None; Sort::COUNT],
            end_label: None,
            labels_of_kinds: FxHashMap::default(),
            labels_of_cpus: FxHashMap::default(),
            is_own,
            all_series: FxHashMap::default(),
            recent_pair: None,
            loss_facts: scan.loss_facts.get(first..).unwrap_or(&[]),
            well_known,
        }
    }

    fn finish(mut self, range: PartRange) -> LaneColumns {
        let gaps = &self.scan.gaps;
        let first = gaps.partition_point(|gap| gap.place < range.start);
        let gaps = gaps.iter().skip(first);
        let gaps = gaps.take_while(|gap| gap.place < range.end);
        self.out.gaps.extend(gaps.map(|gap| gap.gap));
        self.cache.rows.fill(&mut self.out);
        self.out
    }

    fn record(&mut self, at: u64, header: u64, record: Words<'f, O>) {
        match RECORD_TYPE.get(header) {
            record_type::EVENT => self.event(at, header, record),
            record_type::SCHEDULING => self.scheduling(at, header, record),
            record_type::STRING => self.string_record(at, header),
            record_type::THREAD => self.thread_record(at, header, record),
            record_type::METADATA => self.metadata(at),
            record_type::INITIALIZATION => {
                if let Some(rate) = record.get(1) {
                    self.cache.local.scale = TickScale::new(rate);
                }
            }
            record_type::LOG => self.log(at, header, record),
            record_type::BLOB => self.blob(at, header, record),
            record_type::USERSPACE_OBJECT => self.userspace_object(at, header, record),
            record_type::PROFILER => self.profiler(at, header, record),
            record_type::LARGE => self.large(at, header, record),
            _ => {}
        }
    }

    /// Adds an error diagnostic for the record at `at`.
    #[cold]
    pub(super) fn note(&mut self, code: &'static str, at: u64, message: impl FnOnce() -> String) {
        self.out
            .diagnostics
            .note(code, Severity::Error, Location::Byte(at), message);
    }

    #[cold]
    pub(super) fn short(&mut self, at: u64, what: &'static str) {
        self.note("short_record", at, || {
            format!("{what} is too short for the content that its header announces and was dropped")
        });
    }

    /// Converts ticks to ns; adds a diagnostic and returns `None` if the time is outside the time axis.
    #[inline]
    pub(super) fn time(&mut self, ticks: u64, at: u64) -> Option<i64> {
        match self.cache.local.scale.nanos(ticks) {
            Some(i64::MAX) => self.last_time(at),
            None => {
                self.bad_time(ticks, at);
                None
            }
            time => time,
        }
    }

    /// Adds a diagnostic, and returns the time 1 ns before the last time of the axis: spans are half-open and cannot
    /// contain the last nanosecond. None of the 48 FXT files of the corpus contains this time.
    #[cold]
    fn last_time(&mut self, at: u64) -> Option<i64> {
        self.note("timestamp_at_limit", at, || {
            "2^63 - 1 ns is the end of all times that can be shown: the record is shown 1 ns earlier".to_owned()
        });
        Some(i64::MAX - 1)
    }

    #[cold]
    fn bad_time(&mut self, ticks: u64, at: u64) {
        let rate = self.cache.local.scale.ticks_per_second();
        self.note("timestamp_overflow", at, || {
            format!("{ticks} ticks at {rate} a second are not a time that can be shown; the record was dropped")
        });
    }

    fn metadata(&mut self, at: u64) {
        if let Some(slot) = self.scan.tables.provider_from(at) {
            self.cache.enter(self.scan, slot, at + 1);
        }
    }

    fn string_record(&mut self, at: u64, header: u64) {
        let index = string::INDEX.get(header) as u16;
        if index == 0 {
            return;
        }
        let provider = self.scan.tables.providers().get(self.cache.slot() as usize);
        if provider.is_some_and(|provider| provider.first_string() == Some(at)) {
            // From here on, the strings of the implicit provider are no longer inherited.
            self.cache.local.forget_strings();
        }
        // The text is interned when an event needs it: many entries are replaced before that.
        self.cache.set_place(index, at);
    }

    fn thread_record(&mut self, at: u64, header: u64, record: Words<'f, O>) {
        if record.get(2).is_none() {
            return self.short(at, "a thread record");
        }
        let index = thread::INDEX.get(header) as usize;
        let provider = self.scan.tables.providers().get(self.cache.slot() as usize);
        if provider.is_some_and(|provider| provider.first_thread() == Some(at)) {
            self.cache.local.threads = [None; 256];
        }
        // The thread is looked up in the tables when an event needs it: many entries are never used.
        if let Some(entry) = self.cache.local.threads.get_mut(index) {
            *entry = None;
        }
    }

    /// Returns the id of a text in the part's strings.
    #[inline]
    pub(super) fn text(&mut self, text: TextRef<'f>, at: u64) -> StringId {
        match text {
            TextRef::Inline(bytes) => self.out.strings.intern_first(bytes),
            TextRef::Index(0) => StringId::EMPTY,
            TextRef::Index(index) => match self.cache.string(index) {
                Some(id) => id,
                None => self.look_up_string(index, at),
            },
        }
    }

    #[cold]
    fn look_up_string(&mut self, index: u16, at: u64) -> StringId {
        let Some(place) = self.cache.place(self.scan, index, at) else {
            self.note("unresolved_string", at, || {
                format!("string {index} was not registered")
            });
            return self.out.strings.intern_text(&unresolved_text(index));
        };
        let text = string_bytes(self.file, place).unwrap_or(&[]);
        let id = self.out.strings.intern_first(text);
        self.cache.set_string(index, place, id);
        id
    }

    /// Returns the thread of the record's 8-bit reference; moves `next` past an inline thread.
    #[inline]
    pub(super) fn thread(
        &mut self,
        reference: u64,
        record: Words<'f, O>,
        next: &mut usize,
        at: u64,
    ) -> Option<Maybe<ThreadKey>> {
        if reference & 0xff == 0 {
            let (process, tid) = (record.get(*next)?, record.get(*next + 1)?);
            *next += 2;
            return Some(self.inline_thread(process, tid));
        }
        Some(self.indexed_thread(reference as u8, at))
    }

    #[inline]
    pub(super) fn inline_thread(&mut self, process: u64, tid: u64) -> Maybe<ThreadKey> {
        let pair = Pair {
            process,
            thread: tid,
        };
        if let Some((recent, key)) = self.recent_pair
            && recent == pair
        {
            return key;
        }
        let scan = self.scan;
        let key = *self
            .cache
            .pairs
            .entry(pair)
            .or_insert_with(|| scan.entities.find_pair(process, tid));
        self.recent_pair = Some((pair, key));
        key
    }

    #[inline]
    pub(super) fn indexed_thread(&mut self, index: u8, at: u64) -> Maybe<ThreadKey> {
        match self.cache.local.threads.get(usize::from(index)) {
            Some(Some(key)) => *key,
            _ => self.look_up_thread(index, at),
        }
    }

    #[cold]
    fn look_up_thread(&mut self, index: u8, at: u64) -> Maybe<ThreadKey> {
        if let Some(key) = self.scan.tables.thread_at(self.cache.slot(), index, at) {
            let key = self.scan.entities.use_thread(key);
            if let Some(entry) = self.cache.local.threads.get_mut(usize::from(index)) {
                *entry = Some(key);
            }
            return key;
        }
        self.note("unresolved_thread", at, || {
            format!("thread {index} was not registered")
        });
        let provider = self.scan.tables.providers().get(self.cache.slot() as usize);
        let provider = provider.map_or(0, |provider| provider.id);
        self.scan
            .entities
            .find_late(LateThread::Unresolved { provider, index })
            .into()
    }

    /// Returns the thread registered at an index, if any, without marking the thread as used by an event.
    pub(super) fn peek_thread(&self, index: u8, at: u64) -> Option<ThreadKey> {
        let known = self.cache.local.threads.get(usize::from(index)).copied();
        match known.flatten() {
            Some(known) => known.get(),
            None => self.scan.tables.thread_at(self.cache.slot(), index, at),
        }
    }

    /// Returns the thread of a scheduling record, which contains no process.
    #[inline]
    pub(super) fn tid(&mut self, tid: u64) -> ThreadKey {
        let scan = self.scan;
        *self
            .cache
            .tids
            .entry(tid)
            .or_insert_with(|| scan.entities.find_tid(tid))
    }

    /// Returns the thread that woke another one. If no thread has koid 0, that koid is the idle thread of the CPU on
    /// which an interrupt or a timer ran.
    pub(super) fn waker(&mut self, koid: u64) -> ThreadKey {
        match koid {
            0 if !self.scan.entities.has_thread_zero() => ThreadKey::IDLE,
            _ => self.tid(koid),
        }
    }

    /// Returns the kind of records of a type with these names.
    #[inline]
    pub(super) fn kind(&mut self, sort: Sort, names: NameIds) -> KindId {
        self.names.kind(&mut self.out, names, sort.role())
    }

    /// Returns the kind of records of a type without names.
    pub(super) fn own_kind(&mut self, sort: Sort) -> KindId {
        let known = self.own_kinds.get(sort as usize).copied();
        if let Some(Some(kind)) = known {
            return kind;
        }
        let names = NameIds {
            category: self.out.strings.intern_text(sort.category()),
            name: self.out.strings.intern_text(sort.text()),
        };
        let kind = self.kind(sort, names);
        if let Some(known) = self.own_kinds.get_mut(sort as usize) {
            *known = Some(kind);
        }
        kind
    }

    /// Returns the label with the names of `label` and another kind.
    pub(super) fn label_of_kind(&mut self, label: u32, kind: SliceKind) -> u32 {
        let labels = &mut self.out.labels;
        let Some(named) = labels.get(label as usize) else {
            return label;
        };
        if named.kind == kind {
            return label;
        }
        let known = self.labels_of_kinds.entry((label, kind));
        *known.or_insert_with(|| {
            labels.push(Label { kind, ..named });
            labels.len() as u32 - 1
        })
    }

    /// Returns the label with the names and the kind of `label`, for a slice on the track of its CPU.
    pub(super) fn label_of_cpu(&mut self, label: u32) -> u32 {
        let labels = &mut self.out.labels;
        let Some(named) = labels.get(label as usize) else {
            return label;
        };
        let known = self.labels_of_cpus.entry(label);
        *known.or_insert_with(|| {
            labels.push(Label {
                family: Family::CpuDurations,
                ..named
            });
            labels.len() as u32 - 1
        })
    }

    /// Returns the label shared by all ends on the tracks of CPUs.
    pub(super) fn cpu_end_label(&mut self) -> u32 {
        let plain = self.end_label();
        self.label_of_cpu(plain)
    }

    /// Returns the label shared by all ends: only its family matters.
    #[inline]
    pub(super) fn end_label(&mut self) -> u32 {
        let (names, out) = (&mut self.names, &mut self.out);
        *self
            .end_label
            .get_or_insert_with(|| names.label(out, NameIds::default()))
    }

    /// Returns the series of a counter event's argument.
    pub(super) fn series(&mut self, key: SeriesKey) -> u32 {
        let SeriesKey {
            event,
            argument,
            id,
            scope,
        } = key;
        if let Some(&series) = self.all_series.get(&key) {
            return series;
        }
        let strings = &self.out.strings;
        let id = if id == 0 {
            String::new()
        } else {
            id.to_string()
        };
        let name = series_name(strings.bytes(event), strings.bytes(argument), id.as_bytes());
        let name = self.out.strings.intern(&name);
        self.out.series.push(Series { name, scope });
        let series = self.out.series.len() as u32 - 1;
        self.all_series.insert(key, series);
        series
    }

    /// Returns the part's diagnostics, for unusual contents without lost data.
    pub(super) fn diagnostics(&mut self) -> &mut Diagnostics {
        &mut self.out.diagnostics
    }
}
