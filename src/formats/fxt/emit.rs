//! The bulk pass: the records of one part in, its columns out.
//!
//! Nothing is allocated or hashed for an ordinary event: string and thread indices are resolved once a
//! registration into small direct tables, and (sort, category, name) to kind and label through a
//! direct-mapped cache. What a damaged record cannot say becomes a diagnostic; the record is then dropped,
//! or kept with what it does say.

use rustc_hash::FxHashMap;

use crate::base::{Diagnostics, Job, Location, ReadError, Severity, StringId};
use crate::event::pairs;
use crate::event::{KindId, Label, LaneColumns, LogRow, Series, SeriesScope, ThreadKey, Ties};

use super::args::{Args, object_owner_words};
use super::cache::{Cache, StringEntry, UNREAD};
use super::describe::{UNKNOWN_BLOB, blob_type_name};
use super::entities::LateThread;
use super::header::{Order, TextRef, Words, bits, fetch_ahead, read_text, record_type, size_bytes};
use super::kinds::{Kinds, Sort};
use super::scan::{Scan, string_bytes};
use super::ticks::TickScale;

const CHECK_BYTES: u64 = 1 << 20;

/// Reads the records from `start` to `end`, which are cut points of the scan.
///
/// # Errors
/// Only if the job was cancelled.
pub fn emit<O: Order>(
    bytes: &[u8],
    scan: &Scan,
    kinds: &Kinds,
    cache: &mut Cache,
    (start, end): (u64, u64),
    job: &Job,
) -> Result<LaneColumns, ReadError> {
    cache.start(scan, start, end);
    let mut emitter = Emitter::<O>::new(Words::new(bytes), scan, kinds, cache);
    let first = scan.loss_facts.partition_point(|place| *place < start);
    emitter.loss_facts = scan.loss_facts.get(first..).unwrap_or(&[]);
    let mut at = start;
    let mut next_check = start;
    while at < end {
        if at >= next_check {
            job.check()?;
            job.advance((at - start).min(CHECK_BYTES));
            next_check = at + CHECK_BYTES;
        }
        let Some(rest) = usize::try_from(at).ok().and_then(|at| bytes.get(at..)) else {
            break;
        };
        let Some(&chunk) = rest.first_chunk::<8>() else {
            break;
        };
        let header = O::word(chunk);
        fetch_ahead(rest, 0);
        let Some(size) = size_bytes(header) else {
            // A zero word; the scan has counted it.
            at += 8;
            continue;
        };
        let Some(record) = rest.get(..size) else {
            break;
        };
        emitter.record(at, header, Words::new(record));
        at += size as u64;
    }
    Ok(emitter.finish(start, end))
}

/// Names that arguments have by convention: of scheduling records, and of flows that our own files have.
pub(super) struct WellKnown {
    pub(super) incoming_weight: StringId,
    pub(super) outgoing_weight: StringId,
    pub(super) outgoing_state: StringId,
    pub(super) without_states: StringId,
    pub(super) waits: StringId,
    pub(super) waker: StringId,
    pub(super) woken_in: StringId,
    pub(super) woken_by: StringId,
    pub(super) interrupted: StringId,
    pub(super) spans_loss: StringId,
    pub(super) on_cpu: StringId,
    pub(super) async_group: StringId,
    pub(super) global_async_group: StringId,
    pub(super) really_at_ns: StringId,
    pub(super) really_in: StringId,
    pub(super) measured_ns: StringId,
    pub(super) end_not_seen: StringId,
    pub(super) never_ended: StringId,
}

pub(super) struct Emitter<'f, O> {
    file: Words<'f, O>,
    pub(super) scan: &'f Scan,
    kinds: &'f Kinds,
    pub(super) cache: &'f mut Cache,
    pub(super) out: LaneColumns,
    end_label: Option<u32>,
    all_series: FxHashMap<(StringId, StringId, u64, SeriesScope), u32>,
    recent_pair: Option<(u64, u64, ThreadKey)>,
    /// The places of the next events that only describe a loss, see `loss_facts`.
    pub(super) loss_facts: &'f [u64],
    pub(super) well_known: WellKnown,
}

impl<'f, O: Order> Emitter<'f, O> {
    fn new(file: Words<'f, O>, scan: &'f Scan, kinds: &'f Kinds, cache: &'f mut Cache) -> Self {
        let well_known = WellKnown {
            incoming_weight: cache.strings.intern_text("incoming_weight"),
            outgoing_weight: cache.strings.intern_text("outgoing_weight"),
            outgoing_state: cache.strings.intern_text("outgoing_state"),
            without_states: cache.strings.intern_text("without_states"),
            waits: cache.strings.intern_text("waits"),
            waker: cache.strings.intern_text("waker"),
            woken_in: cache.strings.intern_text("woken_in"),
            woken_by: cache.strings.intern_text("woken_by"),
            interrupted: cache.strings.intern_text("interrupted"),
            spans_loss: cache.strings.intern_text("spans_loss"),
            on_cpu: cache.strings.intern_text("on_cpu"),
            async_group: cache.strings.intern_text("async_group"),
            global_async_group: cache.strings.intern_text("global_async_group"),
            really_at_ns: cache.strings.intern_text("really_at_ns"),
            really_in: cache.strings.intern_text("really_in"),
            measured_ns: cache.strings.intern_text("measured_ns"),
            end_not_seen: cache.strings.intern_text("end_not_seen"),
            never_ended: cache.strings.intern_text("never_ended"),
        };
        Emitter {
            file,
            scan,
            kinds,
            cache,
            out: LaneColumns {
                ties: scan.tables.ties(),
                ..LaneColumns::new(3)
            },
            end_label: None,
            all_series: FxHashMap::default(),
            recent_pair: None,
            loss_facts: &[],
            well_known,
        }
    }

    fn finish(mut self, start: u64, end: u64) -> LaneColumns {
        let gaps = &self.scan.gaps;
        let first = gaps.partition_point(|(place, _)| *place < start);
        let gaps = gaps
            .iter()
            .skip(first)
            .take_while(|(place, _)| *place < end);
        self.out.gaps.extend(gaps.map(|(_, gap)| *gap));
        if !self.cache.rows.flows.is_empty() {
            self.scan
                .note_flows(start, self.cache.rows.flows.len() as u64);
        }
        self.cache.rows.fill(&mut self.out);
        self.out.strings = self.cache.strings.clone();
        self.out
    }

    fn record(&mut self, at: u64, header: u64, record: Words<'f, O>) {
        match bits(header, 0, 3) {
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
            record_type::BLOB => {
                let mut next = 1;
                let name = read_text(bits(header, 16, 31), record, &mut next);
                let blob_type = bits(header, 48, 55);
                if blob_type_name(blob_type) == UNKNOWN_BLOB {
                    self.diagnostics().note(
                        "unknown_blob_type",
                        Severity::Info,
                        Location::Byte(at),
                        || format!("a blob of type {blob_type}, which no specification has"),
                    );
                }
                let thread = self.provider_thread();
                self.untimed(at, Sort::Blob, thread, Some(TextRef::Index(0)), name);
            }
            record_type::USERSPACE_OBJECT => {
                let reference = bits(header, 16, 23) as u8;
                let owner_words = object_owner_words(header, record);
                let mut next = 2 + owner_words;
                let thread = match (reference, record.get(2), record.get(3)) {
                    (0, Some(process), Some(tid)) if owner_words == 2 => {
                        self.inline_thread(process, tid)
                    }
                    (0, ..) => self.provider_thread(),
                    (index, ..) => self.indexed_thread(index, at),
                };
                let name = read_text(bits(header, 24, 39), record, &mut next);
                self.untimed(at, Sort::Object, thread, Some(TextRef::Index(0)), name);
                if name.is_some() {
                    self.count_unknown(Args::new(record, next, bits(header, 40, 43)), at);
                }
            }
            record_type::PROFILER => self.profiler(at, header, record),
            record_type::LARGE => self.large(at, header, record),
            _ => {}
        }
    }

    /// Notes that something of the record at `at` is wrong.
    #[cold]
    pub(super) fn note(&mut self, code: &'static str, at: u64, message: impl FnOnce() -> String) {
        self.out
            .diagnostics
            .note(code, Severity::Error, Location::Byte(at), message);
    }

    #[cold]
    pub(super) fn short(&mut self, at: u64, what: &'static str) {
        self.note("short_record", at, || {
            format!("{what} is too short for what its header says and was dropped")
        });
    }

    /// The time of a tick; a diagnostic and `None` if it is beyond the axis.
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

    /// Spans are half-open: nothing can lie in the axis's very last nanosecond.
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
            format!("{ticks} ticks at {rate} a second are no time that can be shown; the record was dropped")
        });
    }

    fn metadata(&mut self, at: u64) {
        if let Some(slot) = self.scan.tables.provider_from(at) {
            self.cache.enter(self.scan, slot, at + 1);
        }
    }

    fn string_record(&mut self, at: u64, header: u64) {
        let index = bits(header, 16, 30) as u16;
        if index == 0 {
            return;
        }
        let provider = self.scan.tables.providers().get(self.cache.slot() as usize);
        if provider.is_some_and(|provider| provider.first_string() == Some(at)) {
            // From here on nothing of the implicit provider holds.
            self.cache.local.forget_strings();
        }
        // Its text is taken in when an event wants it: many are replaced before.
        let entry = StringEntry {
            place: at,
            id: StringId::EMPTY,
            run: self.cache.run() | UNREAD,
        };
        self.cache.local.set_string(index, entry);
    }

    fn thread_record(&mut self, at: u64, header: u64, record: Words<'f, O>) {
        if record.get(2).is_none() {
            return self.short(at, "a thread record");
        }
        let index = bits(header, 16, 23) as usize;
        let provider = self.scan.tables.providers().get(self.cache.slot() as usize);
        if provider.is_some_and(|provider| provider.first_thread() == Some(at)) {
            self.cache.local.threads = [None; 256];
        }
        // It is looked up in the tables when an event needs it: many never do.
        if let Some(entry) = self.cache.local.threads.get_mut(index) {
            *entry = None;
        }
    }

    /// The part's number for a text.
    #[inline]
    pub(super) fn text(&mut self, text: TextRef<'f>, at: u64) -> StringId {
        match text {
            TextRef::Inline(bytes) => self.cache.strings.intern(bytes),
            TextRef::Index(0) => StringId::EMPTY,
            TextRef::Index(index) => match self.cache.local.known_string(index) {
                (run, id) if run == self.cache.run() => id,
                _ => self.look_up_string(index, at),
            },
        }
    }

    #[cold]
    fn look_up_string(&mut self, index: u16, at: u64) -> StringId {
        let known = self.cache.local.string(index);
        let slot = self.cache.slot();
        let found = match known.run {
            run if run == self.cache.run() | UNREAD => Some(known.place),
            _ => self.scan.tables.string_at(slot, index, at),
        };
        let Some(place) = found else {
            self.note("unresolved_string", at, || {
                format!("string {index} was not registered")
            });
            return self.cache.strings.intern_text(&unresolved_text(index));
        };
        let id = if known.place == place && known.run & UNREAD == 0 {
            known.id
        } else {
            let text = string_bytes(self.file, place).unwrap_or(&[]);
            self.cache.strings.intern(text)
        };
        let run = self.cache.run();
        let entry = StringEntry { place, id, run };
        self.cache.local.set_string(index, entry);
        id
    }

    /// The thread that the record's 8-bit reference means; `next` is moved past an inline one.
    #[inline]
    pub(super) fn thread(
        &mut self,
        reference: u64,
        record: Words<'f, O>,
        next: &mut usize,
        at: u64,
    ) -> Option<ThreadKey> {
        if reference & 0xff == 0 {
            let (process, tid) = (record.get(*next)?, record.get(*next + 1)?);
            *next += 2;
            return Some(self.inline_thread(process, tid));
        }
        Some(self.indexed_thread(reference as u8, at))
    }

    #[inline]
    pub(super) fn inline_thread(&mut self, process: u64, tid: u64) -> ThreadKey {
        if let Some((recent_process, recent_tid, recent)) = self.recent_pair
            && recent_process == process
            && recent_tid == tid
        {
            return recent;
        }
        let scan = self.scan;
        let key = *self
            .cache
            .pairs
            .entry((process, tid))
            .or_insert_with(|| scan.entities.find_pair(process, tid));
        self.recent_pair = Some((process, tid, key));
        key
    }

    #[inline]
    pub(super) fn indexed_thread(&mut self, index: u8, at: u64) -> ThreadKey {
        match self.cache.local.threads.get(usize::from(index)) {
            Some(Some(key)) => *key,
            _ => self.look_up_thread(index, at),
        }
    }

    #[cold]
    fn look_up_thread(&mut self, index: u8, at: u64) -> ThreadKey {
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
    }

    /// The thread that an index means, if any was registered, without claiming an event for it.
    pub(super) fn peek_thread(&self, index: u8, at: u64) -> Option<ThreadKey> {
        let known = self.cache.local.threads.get(usize::from(index)).copied();
        known
            .flatten()
            .or_else(|| self.scan.tables.thread_at(self.cache.slot(), index, at))
    }

    /// Stands for the current provider where a record names no thread.
    fn provider_thread(&self) -> ThreadKey {
        let slot = self.cache.slot();
        self.scan.entities.find_late(LateThread::Provider(slot))
    }

    /// The thread of a scheduling record, which names no process.
    #[inline]
    pub(super) fn tid(&mut self, tid: u64) -> ThreadKey {
        let scan = self.scan;
        *self
            .cache
            .tids
            .entry(tid)
            .or_insert_with(|| scan.entities.find_tid(tid))
    }

    /// The thread that woke another: koid 0, where no thread has it, is the idle thread's, whose CPU an interrupt or a
    /// timer took.
    pub(super) fn waker(&mut self, koid: u64) -> ThreadKey {
        match koid {
            0 if !self.scan.entities.has_thread_zero() => ThreadKey::IDLE,
            _ => self.tid(koid),
        }
    }

    /// The kind of a record, and the label of the slice that it is or begins.
    #[inline]
    pub(super) fn kind(&mut self, sort: Sort, category: StringId, name: StringId) -> (KindId, u32) {
        let (kinds, labels) = (self.kinds, &mut self.out.labels);
        self.cache.kind(
            sort,
            (category, name),
            |strings| kinds.intern(sort, strings.bytes(category), strings.bytes(name)),
            || push_label(labels, category, name),
        )
    }

    /// The label of all ends: only their family matters.
    #[inline]
    pub(super) fn end_label(&mut self) -> u32 {
        let labels = &mut self.out.labels;
        *self
            .end_label
            .get_or_insert_with(|| push_label(labels, StringId::EMPTY, StringId::EMPTY))
    }

    /// The series of an argument of a counter event.
    pub(super) fn series(
        &mut self,
        (event, argument): (StringId, StringId),
        id: u64,
        scope: SeriesScope,
    ) -> u32 {
        let key = (event, argument, id, scope);
        if let Some(&series) = self.all_series.get(&key) {
            return series;
        }
        let mut name = self.cache.strings.bytes(event).to_vec();
        if argument != event && argument != StringId::EMPTY {
            name.push(b':');
            name.extend_from_slice(self.cache.strings.bytes(argument));
        }
        if id != 0 {
            name.extend_from_slice(format!(":{id}").as_bytes());
        }
        let name = self.cache.strings.intern(&name);
        self.out.series.push(Series { name, scope });
        let series = self.out.series.len() as u32 - 1;
        self.all_series.insert(key, series);
        series
    }

    fn log(&mut self, at: u64, header: u64, record: Words<'f, O>) {
        let mut next = 2;
        let Some(ticks) = record.get(1) else {
            return self.short(at, "a log record");
        };
        let Some(time) = self.time(ticks, at) else {
            return;
        };
        let length = bits(header, 16, 30) as usize;
        let thread = self.thread(bits(header, 32, 39), record, &mut next, at);
        let (Some(thread), Some(message)) = (thread, record.text(next, length)) else {
            return self.short(at, "a log record");
        };
        let message = self.cache.strings.intern(message);
        let kind = (Sort::Log.generic_kind(), Sort::Log);
        let rows = &mut self.cache.rows;
        rows.push((time, at), thread, kind, rows.logs.len() as u32);
        rows.logs.push(LogRow {
            event: 0,
            severity: StringId::EMPTY,
            message,
        });
    }

    /// An event that takes its time from the record before it, as the scan found it.
    fn untimed(
        &mut self,
        at: u64,
        sort: Sort,
        thread: ThreadKey,
        category: Option<TextRef<'f>>,
        name: Option<TextRef<'f>>,
    ) {
        let (Some(category), Some(name)) = (category, name) else {
            return self.short(at, sort.text());
        };
        let found = self.scan.untimed.binary_search_by_key(&at, |entry| entry.0);
        let time = found.ok().and_then(|index| self.scan.untimed.get(index));
        let time = time.map_or(0, |entry| entry.1);
        let (category, name) = (self.text(category, at), self.text(name, at));
        let (kind, _) = self.kind(sort, category, name);
        self.cache.rows.push((time, at), thread, (kind, sort), 0);
    }

    fn profiler(&mut self, at: u64, header: u64, record: Words<'f, O>) {
        let sort = match bits(header, 16, 19) {
            0 => Sort::Module,
            1 => Sort::Mapping,
            2 => Sort::Backtrace,
            other => {
                self.out.diagnostics.note(
                    "unknown_record_type",
                    Severity::Info,
                    Location::Byte(at),
                    || format!("a profiler record of subtype {other} was skipped"),
                );
                return;
            }
        };
        let Some(ticks) = record.get(1) else {
            return self.short(at, "a profiler record");
        };
        let Some(time) = self.time(ticks, at) else {
            return;
        };
        let reference = bits(header, 20, 27);
        let thread = if reference != 0 {
            self.indexed_thread(reference as u8, at)
        } else if super::profiler::has_two_word_thread(header, record) {
            self.thread(0, record, &mut 2, at)
                .unwrap_or_else(|| self.provider_thread())
        } else {
            self.provider_thread()
        };
        if super::profiler::read_profile(record).is_none() {
            return self.short(at, "a profiler record");
        }
        let kind = (sort.generic_kind(), sort);
        self.cache.rows.push((time, at), thread, kind, 0);
    }

    fn large(&mut self, at: u64, header: u64, record: Words<'f, O>) {
        if bits(header, 36, 39) != 0 {
            return;
        }
        let Some(fields) = record.get(1) else {
            return self.short(at, "a large record");
        };
        let mut next = 2;
        let category = read_text(bits(fields, 0, 15), record, &mut next);
        let name = read_text(bits(fields, 16, 31), record, &mut next);
        match bits(header, 40, 43) {
            0 => {
                let (Some(category), Some(name), Some(ticks)) = (category, name, record.get(next))
                else {
                    return self.short(at, "a large record");
                };
                next += 1;
                let Some(time) = self.time(ticks, at) else {
                    return;
                };
                let reference = bits(fields, 36, 43);
                let Some(thread) = self.thread(reference, record, &mut next, at) else {
                    return self.short(at, "a large record");
                };
                let (category, name) = (self.text(category, at), self.text(name, at));
                let (kind, _) = self.kind(Sort::Blob, category, name);
                if self.out.ties == Ties::First {
                    self.read_cpu(Args::new(record, next, bits(fields, 32, 35)), at);
                }
                self.cache
                    .rows
                    .push((time, at), thread, (kind, Sort::Blob), 0);
                self.count_unknown(Args::new(record, next, bits(fields, 32, 35)), at);
            }
            1 => {
                let thread = self.provider_thread();
                self.untimed(at, Sort::Blob, thread, category, name);
            }
            _ => {}
        }
    }

    /// For what is odd but loses nothing.
    pub(super) fn diagnostics(&mut self) -> &mut Diagnostics {
        &mut self.out.diagnostics
    }
}

fn push_label(labels: &mut Vec<Label>, category: StringId, name: StringId) -> u32 {
    labels.push(Label {
        family: pairs::DURATIONS,
        name,
        category,
        key: 0,
    });
    labels.len() as u32 - 1
}

/// What stands for a string that was never registered.
#[must_use]
pub fn unresolved_text(index: u16) -> String {
    format!("<string {index}?>")
}
