//! An opened FXT file: one lane, cut into parts that are summarised, folded and read.

use std::any::Any;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::base::column::store_inside;
use crate::base::{
    Big, ByteOrder, Cancelled, Diagnostics, Endian, Job, Little, Location, Problem, ReadError,
    Severity, Timestamp,
};
use crate::event::part::{ClockUnit, Provider, UnnamedClock};
use crate::event::{
    Coarse, DecodedEvent, Directory, Fact, KindId, Lane, LaneColumns, Need, Part, TraceInfo,
};
use crate::formats::events::FieldReader;
use crate::formats::stream::{KeptFacts, PartRead, in_one_lane};
use crate::formats::{EventRef, Events, Gathered, Input, Recording, Stream};
use crate::fxt::Words;

use super::borders::{PART_BYTES, Window, windows};
use super::cache::Cache;
use super::emit::{self, Source};
use super::entities::Numbering;
use super::field_reader::RecordArguments;
use super::fold::{PartRange, State};
use super::scan::Scan;
use super::settle::settle;
use super::sniff::{FoundOrder, Magic, likely_order_of};
use super::summary::{SHARE, Summary, summarise};
use super::{coarse, describe, fields, objects};
use crate::trace::Trace;

/// Maximum number of blobs in the file's facts.
const MOST_LISTED_BLOBS: usize = 32;

/// Ticks per second of a provider without a rate.
const DEFAULT_RATE: u64 = 1_000_000_000;

/// An opened FXT file.
#[derive(Debug)]
pub(crate) struct FxtReader {
    input: Input,
    endian: Endian,
    magic: Magic,
    windows: Vec<Window>,
    parts: Vec<Part>,
    /// The tables and names of the whole file; set before the first part is read.
    found: OnceLock<Arc<Scan>>,
    /// Look-up results of parts that were read, for reuse by later parts.
    caches: Mutex<Vec<Cache>>,
}

impl FxtReader {
    /// Returns the bytes of the file.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.input.bytes()
    }

    /// Returns the byte order of the file's numbers.
    pub(crate) fn endian(&self) -> Endian {
        self.endian
    }

    pub(super) fn open(input: Input) -> Result<FxtReader, ReadError> {
        FxtReader::open_in_parts(input, PART_BYTES)
    }

    /// Opens a file with parts of about `part_bytes`.
    pub(super) fn open_in_parts(input: Input, part_bytes: u64) -> Result<FxtReader, ReadError> {
        let bytes = input.bytes();
        let FoundOrder { endian, magic } =
            likely_order_of(bytes.get(..1 << 16).unwrap_or(bytes))
                .ok_or_else(|| ReadError::at_byte(0, "FXT magic record", Problem::BadMagic))?;
        let windows = match endian {
            Endian::Little => windows::<Little>(bytes, part_bytes),
            Endian::Big => windows::<Big>(bytes, part_bytes),
        };
        let reader = FxtReader {
            parts: Vec::new(),
            input,
            endian,
            magic,
            windows: Vec::new(),
            found: OnceLock::new(),
            caches: Mutex::default(),
        };
        Ok(reader.in_windows(windows))
    }

    /// Cuts the file into these windows, which must cover it.
    pub(super) fn in_windows(self, windows: Vec<Window>) -> FxtReader {
        let parts = windows.iter().map(|window| Part {
            start: window.start,
            size_bytes: window.end - window.start,
        });
        FxtReader {
            parts: parts.collect(),
            windows,
            ..self
        }
    }

    /// Returns whether the border of a part was guessed correctly.
    #[cfg(test)]
    pub(super) fn starts_at_its_border(&self, part: u32, range: &PartRange) -> bool {
        let window = self.windows.get(part as usize);
        window.is_some_and(|window| window.has_border && window.start == range.start)
    }

    pub(super) fn recording(self) -> Recording {
        let reader = Arc::new(self);
        Recording {
            info: reader.info(),
            lanes: FxtReader::lanes(),
            diagnostics: reader.diagnostics(),
            stream: reader.clone(),
            events: reader,
            report: None,
            instead: None,
        }
    }

    fn lanes() -> Vec<Lane> {
        vec![Lane {
            name: "FXT records".to_owned(),
            cpu: None,
        }]
    }

    /// Returns the diagnostics of the head.
    fn diagnostics(&self) -> Diagnostics {
        let mut all = Diagnostics::default();
        if self.magic == Magic::Absent {
            all.note("no_magic_record", Severity::Info, Location::Byte(0), || {
                "the file does not start with the magic record; its records look like FXT"
                    .to_owned()
            });
        }
        all
    }

    /// Returns the facts in the head.
    fn info(&self) -> TraceInfo {
        let (order, format) = match self.endian {
            Endian::Little => ("little-endian", "FXT"),
            Endian::Big => ("big-endian", "big-endian FXT"),
        };
        TraceInfo {
            format: format.to_owned(),
            clock: String::new(),
            clock_unit: ClockUnit::Nanoseconds,
            cpu_count: None,
            facts: vec![Fact::new("byte order", order)],
            ..TraceInfo::default()
        }
    }

    /// Returns the facts about the whole file.
    fn whole_info(&self, scan: &Scan) -> TraceInfo {
        let mut info = self.info();
        let facts = &mut info.facts;
        facts.push(Fact::new("records", scan.record_count.to_string()));
        for (slot, provider) in scan.tables.providers().iter().enumerate() {
            if slot == 0 && provider.rates().is_empty() {
                continue;
            }
            let name = match slot {
                0 => "before the first provider".to_owned(),
                _ => format!("provider {}", provider.id),
            };
            let rate = provider.rates().last().map_or_else(
                || "no tick rate of its own".to_owned(),
                |(_, scale)| format!("{} ticks/s", scale.ticks_per_second()),
            );
            let text = String::from_utf8_lossy(&provider.name);
            facts.push(Fact::new(name, format!("{text} ({rate})").trim()));
        }
        for &place in scan.blobs.iter().take(MOST_LISTED_BLOBS) {
            facts.push(Fact::new("blob", self.blob_text(scan, place)));
        }
        let more = scan.blobs.len().saturating_sub(MOST_LISTED_BLOBS);
        if more > 0 {
            facts.push(Fact::new("more blobs", more.to_string()));
        }
        info.losses.clone_from(&scan.cpu_losses);
        info.ties = scan.tables.ties();
        if scan.tables.providers().iter().any(|it| it.is_ours()) {
            info.unnamed_clock = UnnamedClock::OfOrigin;
        }
        info.providers = providers(scan);
        let bytes = self.input.bytes();
        let objects = match self.endian {
            Endian::Little => objects::kernel_objects::<Little>(bytes, scan),
            Endian::Big => objects::kernel_objects::<Big>(bytes, scan),
        };
        info.objects = objects.into();
        let zero = scan.wall_clock_zero;
        info.wall_clock_zero_ns = zero.and_then(|zero| i64::try_from(zero).ok());
        info
    }

    /// Returns the name, size and place of a blob as text.
    fn blob_text(&self, scan: &Scan, place: u64) -> String {
        let event = EventRef {
            part: 0,
            place,
            time: Timestamp(0),
            kind: KindId::default(),
            thread: None,
        };
        let bytes = self.input.bytes();
        let detail = match self.endian {
            Endian::Little => describe::describe::<Little>(bytes, scan, event),
            Endian::Big => describe::describe::<Big>(bytes, scan, event),
        };
        let find = |name: &str| {
            let found = detail.fields.iter().find(|field| field.name == name);
            found.map(|field| field.text())
        };
        let sort = find("type").unwrap_or_else(|| "large".to_owned());
        let size = find("size").unwrap_or_else(|| "?".to_owned());
        format!("{} ({sort}, {size} bytes) at byte {place:#x}", detail.name)
    }

    fn caches(&self) -> MutexGuard<'_, Vec<Cache>> {
        self.caches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a cache for the part at `start`: preferably the cache of the part that ends there.
    fn take_cache(&self, start: u64) -> Cache {
        let mut caches = self.caches();
        match caches.iter().position(|cache| cache.end() == Some(start)) {
            Some(index) => caches.swap_remove(index),
            None => caches.pop().unwrap_or_default(),
        }
    }

    pub(super) fn directory(&self, scan: &Scan) -> Directory {
        // All parts were read.
        self.caches().clear();
        let mut directory = Directory {
            seen_until: scan.seen_until.map(Timestamp),
            ..Directory::default()
        };
        let numbering = Numbering {
            ties: scan.tables.ties(),
            reused_numbers: scan.reused_numbers,
        };
        scan.entities.list_into(&mut directory, numbering);
        directory
    }
}

impl Stream for FxtReader {
    type Summary = Summary;
    type State = State;
    type Start = PartRange;
    type Whole = Arc<Scan>;
    type Read = LaneColumns;

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn coarse(&self) -> Coarse {
        let bytes = self.input.bytes();
        match self.endian {
            Endian::Little => coarse::coarse::<Little>(bytes, &self.windows),
            Endian::Big => coarse::coarse::<Big>(bytes, &self.windows),
        }
    }

    fn first_state(&self) -> State {
        State::default()
    }

    fn summarise(&self, part: u32, job: &Job) -> Result<Summary, ReadError> {
        let found = self.windows.get(part as usize);
        let Some(&Window { start, end, .. }) = found.filter(|window| window.has_border) else {
            return Ok(Summary::default());
        };
        let bytes = self.input.bytes();
        let summary = match self.endian {
            Endian::Little => summarise::<Little>(bytes, start, end, job),
            Endian::Big => summarise::<Big>(bytes, start, end, job),
        }?;
        job.advance((end - start) / SHARE);
        Ok(summary)
    }

    fn fold(
        &self,
        state: &mut State,
        part: u32,
        summary: Summary,
        job: &Job,
    ) -> Result<PartRange, Cancelled> {
        let bytes = self.input.bytes();
        match (self.windows.get(part as usize), self.endian) {
            (None, _) => Ok(PartRange::default()),
            (Some(&window), Endian::Little) => state.pass::<Little>(bytes, window, summary, job),
            (Some(&window), Endian::Big) => state.pass::<Big>(bytes, window, summary, job),
        }
    }

    fn conclude(&self, end: State, job: &Job) -> Result<Arc<Scan>, Cancelled> {
        let bytes = self.input.bytes();
        let scan = match self.endian {
            Endian::Little => end.conclude::<Little>(bytes, job),
            Endian::Big => end.conclude::<Big>(bytes, job),
        }?;
        // Events are decoded with the tables with which the parts were read, even if the parts are read again.
        Ok(Arc::clone(self.found.get_or_init(|| Arc::new(scan))))
    }

    fn read(
        &self,
        _part: u32,
        range: &PartRange,
        scan: &Arc<Scan>,
        job: &Job,
    ) -> Result<LaneColumns, ReadError> {
        let mut cache = self.take_cache(range.start);
        let source = Source {
            bytes: self.input.bytes(),
            scan,
        };
        let read = match self.endian {
            Endian::Little => emit::emit::<Little>(source, &mut cache, *range, job),
            Endian::Big => emit::emit::<Big>(source, &mut cache, *range, job),
        };
        if read.is_ok() {
            self.caches().push(cache);
        }
        read
    }

    fn gather(
        &self,
        mut read: Vec<PartRead<LaneColumns>>,
        scan: Arc<Scan>,
        _job: &Job,
    ) -> Result<Gathered, ReadError> {
        let mut columns: Vec<&mut LaneColumns> =
            read.iter_mut().map(|part| &mut part.read).collect();
        settle(&scan, &mut columns);
        Ok(Gathered {
            parts: in_one_lane(read),
            lanes: FxtReader::lanes(),
            directory: self.directory(&scan),
            info: self.whole_info(&scan),
            diagnostics: scan.diagnostics.clone(),
            inside: Vec::new(),
        })
    }

    fn facts(&self) -> Option<Vec<u8>> {
        store_inside(&**self.found.get()?).ok()
    }

    fn take_facts(&self, facts: &KeptFacts, _trace: &Trace) -> Option<()> {
        self.found.set(Arc::new(facts.restored()?)).ok()
    }
}

impl FxtReader {
    fn decode_as<'a, O: ByteOrder>(
        &'a self,
        event: EventRef,
        need: Need<'_>,
        decoded: &mut DecodedEvent<'a>,
    ) {
        // There are no events before the parts are read.
        let Some(scan) = self.found.get() else { return };
        let bytes = self.input.bytes();
        match need {
            Need::Detail | Need::Line => {
                decoded.take(describe::describe::<O>(bytes, scan, event), need);
            }
            Need::AnyField => {
                if describe::has_fields::<O>(bytes, event) {
                    decoded.perhaps();
                }
            }
            _ => fields::fields_into::<O>(bytes, scan, event, &mut decoded.fields),
        }
    }
}

impl Events for FxtReader {
    fn decode<'a>(&'a self, event: EventRef, need: Need<'_>, decoded: &mut DecodedEvent<'a>) {
        match self.endian {
            Endian::Little => self.decode_as::<Little>(event, need, decoded),
            Endian::Big => self.decode_as::<Big>(event, need, decoded),
        }
    }

    fn payload(&self, event: EventRef) -> Option<Cow<'_, [u8]>> {
        let bytes = self.input.bytes();
        let found = match self.endian {
            Endian::Little => fields::payload_at(Words::<Little>::new(bytes), event.place),
            Endian::Big => fields::payload_at(Words::<Big>::new(bytes), event.place),
        };
        found.map(Cow::Borrowed)
    }

    fn record_file(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn own_field_reader(&self) -> Option<Box<dyn FieldReader + '_>> {
        let scan = self.found.get()?;
        let bytes = self.input.bytes();
        let events: &dyn Events = self;
        let others = events.decoding_reader();
        Some(match self.endian {
            Endian::Little => Box::new(RecordArguments::<Little>::new(bytes, scan, others)),
            Endian::Big => Box::new(RecordArguments::<Big>::new(bytes, scan, others)),
        })
    }

    fn memory_bytes(&self) -> u64 {
        self.found.get().map_or(0, |scan| scan.memory_bytes())
    }
}

/// Returns the providers that the file announces.
fn providers(scan: &Scan) -> Vec<Provider> {
    let announced = (0_u32..).zip(scan.tables.providers()).skip(1);
    let provider = announced.map(|(slot, provider)| Provider {
        number: provider.id,
        name: provider.name.clone(),
        ticks_per_second: (provider.rates().last())
            .map_or(DEFAULT_RATE, |(_, scale)| scale.ticks_per_second()),
        thread_name: scan.entities.provider_thread_name(slot),
    });
    provider.collect()
}
