//! trace.dat as a [`Stream`](crate::formats::stream::Stream): a lane for each CPU of each instance, in parts of a few
//! megabytes of pages.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::TraceFile;
use super::about::{abi_of, info_of};
use super::buffers::{Buffer, CpuData};
use super::decoder::Memory;
use super::describe::{self, Circumstances};
use super::emit::PartPass;
use super::page::{Lost, Records, read_head};
use super::recipe::role_of;
use super::recipes::Recipes;
use super::report::source::{TraceReport, decoder_of};
use super::with_etrace::{lines_in, prints_with_etrace};
use crate::base::{
    Big, ByteOrder, Diagnostics, Endian, Job, Little, Location, Problem, ReadError, Severity,
    Strings, TimeSpan, Timestamp,
};
use crate::event::kernel::is_probe_system;
use crate::event::{
    Coarse, DecodedEvent, DensitySample, Directory, EventDetail, EventKind, KindId, Lane,
    LaneColumns, Need, Part, PartColumns, Role, ThreadEntry, ThreadKey, TraceInfo,
};
use crate::formats::etrace::{Found, Lines};
use crate::formats::events::{EventRef, Events};
use crate::formats::format::{Input, Report};
use crate::formats::stream::{AnyStream, Gathered, HasReport, IndependentParts, Recording, Shown};

/// Approximate size of the pages of one part, in bytes.
const PART_BYTES: u64 = 4 << 20;
/// Number of page headers that are read for the coarse picture of the whole file.
const COARSE_PAGES: u64 = 16_384;
/// Number of chunks that are unpacked for the coarse picture.
const COARSE_CHUNKS: usize = 256;
/// Number of pages of a part after which memory for its remaining events is reserved.
const TASTE_PAGES: u64 = 8;

/// An opened trace.dat.
pub(crate) struct TraceDat {
    file: Arc<TraceFile>,
    report: OnceLock<TraceReport>,
    recipes: Recipes,
    info: TraceInfo,
    lanes: Vec<Lane>,
    /// By lane: index of its buffer, and index of its CPU in that buffer.
    sources: Vec<(usize, usize)>,
    parts: Vec<Part>,
    /// By part: its lane, and a range in the CPU's pages: in bytes, or in indices of chunks if they are packed. Parts
    /// are in lane order.
    ranges: Vec<(u32, Range<u64>)>,
    /// The kinds of print events whose texts are lines of etrace, and these lines after all parts were read.
    prints: Vec<KindId>,
    lines: OnceLock<Lines>,
}

impl TraceDat {
    /// Opens a trace.dat.
    ///
    /// # Errors
    /// As [`TraceFile::open`].
    pub fn open(input: Input) -> Result<TraceDat, ReadError> {
        let mut reader = TraceDat::new(Arc::new(TraceFile::open(input)?));
        reader.prints = prints_with_etrace(&reader);
        Ok(reader)
    }

    /// Returns the recording in the file.
    #[must_use]
    pub(crate) fn recording(reader: &Arc<TraceDat>) -> Recording {
        Recording {
            info: reader.info.clone(),
            lanes: reader.lanes.clone(),
            coarse: reader.coarse(),
            diagnostics: reader.file.diagnostics.clone(),
            stream: Arc::clone(reader) as Arc<dyn AnyStream>,
            events: Arc::clone(reader) as Arc<dyn Events>,
            report: Some(Arc::clone(reader) as Arc<dyn HasReport>),
        }
    }

    /// Creates the reader of an opened file.
    #[must_use]
    pub fn new(file: Arc<TraceFile>) -> TraceDat {
        let mut reader = TraceDat {
            recipes: Recipes::new(&file, abi_of(&file)),
            info: info_of(&file),
            lanes: Vec::new(),
            sources: Vec::new(),
            parts: Vec::new(),
            ranges: Vec::new(),
            prints: Vec::new(),
            lines: OnceLock::new(),
            report: OnceLock::new(),
            file,
        };
        let file = Arc::clone(&reader.file);
        for (number, buffer) in file.buffers.iter().enumerate() {
            for (cpu_number, data) in buffer.cpus.iter().enumerate() {
                reader.add_lane(buffer, data);
                reader.sources.push((number, cpu_number));
            }
        }
        reader
    }

    /// Returns the source of the report and of descriptions, created at the first call.
    fn report_source(&self) -> &TraceReport {
        self.report.get_or_init(|| {
            let decoder = Arc::new(decoder_of(&self.file));
            let lanes = self.ranges.iter().map(|(lane, _)| *lane as usize);
            let sources = lanes.map(|lane| self.sources.get(lane).copied().unwrap_or_default());
            TraceReport {
                sources: sources.collect(),
                ..TraceReport::new(Arc::clone(&self.file), decoder)
            }
        })
    }

    /// The kinds of print events whose texts are lines of etrace.
    #[must_use]
    pub(crate) fn prints(&self) -> &[KindId] {
        &self.prints
    }

    /// The opened file.
    #[must_use]
    pub fn file(&self) -> &Arc<TraceFile> {
        &self.file
    }

    fn add_lane(&mut self, buffer: &Buffer, data: &CpuData) {
        let lane = self.lanes.len() as u32;
        let cpu = data.cpu;
        self.lanes.push(Lane {
            name: if buffer.name.is_empty() {
                format!("CPU {cpu}")
            } else {
                format!("CPU {cpu} of instance {}", buffer.name)
            },
            cpu: Some(cpu),
        });
        match &data.chunks {
            None => {
                let page = u64::from(buffer.page_size.max(1));
                let step = PART_BYTES.div_ceil(page) * page;
                let mut start = 0;
                while start < data.stream_size {
                    let end = data.stream_size.min(start + step);
                    self.add_part(lane, end - start, start..end);
                    start = end;
                }
            }
            Some(chunks) => {
                let (mut first, mut packed, mut plain) = (0, 0, 0);
                for (number, chunk) in chunks.iter().enumerate() {
                    packed += u64::from(chunk.packed_size) + 8;
                    plain += u64::from(chunk.plain_size);
                    let next = number as u64 + 1;
                    if plain >= PART_BYTES || next == chunks.len() as u64 {
                        self.add_part(lane, packed, first..next);
                        (first, packed, plain) = (next, 0, 0);
                    }
                }
            }
        }
    }

    fn add_part(&mut self, lane: u32, size_bytes: u64, range: Range<u64>) {
        self.parts.push(Part { size_bytes });
        self.ranges.push((lane, range));
    }

    fn lane_of(&self, part: u32) -> Option<u32> {
        self.ranges.get(part as usize).map(|(lane, _)| *lane)
    }

    /// The buffer and CPU that a lane belongs to.
    fn source(&self, lane: u32) -> Option<(&Buffer, &CpuData)> {
        let (buffer, cpu) = *self.sources.get(lane as usize)?;
        let buffer = self.file.buffers.get(buffer)?;
        Some((buffer, buffer.cpus.get(cpu)?))
    }

    /// The buffer and CPU that a part belongs to.
    #[must_use]
    pub(crate) fn source_of_part(&self, part: u32) -> Option<(&Buffer, &CpuData)> {
        self.source(self.lane_of(part)?)
    }

    fn read_as<E: ByteOrder>(&self, part: u32, job: &Job) -> Result<LaneColumns, ReadError> {
        let range = self
            .ranges
            .get(part as usize)
            .map(|(_, range)| range.clone());
        let (Some((buffer, data)), Some(range)) = (self.source_of_part(part), range) else {
            let problem = Problem::BadReference {
                table: "parts",
                index: u64::from(part),
            };
            return Err(ReadError::at_byte(0, "part", problem));
        };
        let decoder = || &*self.report_source().decoder;
        let clock = match buffer.clock.as_str() {
            "" => self.file.options.active_clock().unwrap_or(""),
            clock => clock,
        };
        let mut pages = Pages {
            reader: self,
            buffer,
            data,
            pass: PartPass::new(&self.file, &self.recipes, &decoder, (data.cpu, clock)),
            seen: 0,
        };
        if data.chunks.is_none() {
            pages.read_plain::<E>(range, job)?;
        } else {
            pages.read_packed::<E>(range, job)?;
        }
        let mut columns = pages.pass.columns;
        let events = &mut columns.events;
        // An event takes 9 bytes: shrink only if much more than that was reserved.
        if events.memory_bytes() > events.len() as u64 * 14 + 4096 {
            events.shrink();
        }
        columns.sort_by_time();
        Ok(columns)
    }

    /// Time of the last record in the page before the page at `place`; `None` if there is no such page.
    fn time_before<E: ByteOrder>(
        &self,
        buffer: &Buffer,
        data: &CpuData,
        place: u64,
    ) -> Option<i64> {
        let before = place.checked_sub(1)?;
        let (page, _) = self.file.page_at(data, buffer.page_size, before).ok()?;
        let head = read_head::<E>(&page, self.file.layout)?;
        let last = Records::<E>::new(&page, self.file.layout, &head).last();
        let raw = last.map_or(head.time, |record| record.time);
        Some(self.file.time_map(data.cpu).time(raw))
    }

    /// Places that the coarse picture samples, each with the number of bytes that it represents.
    fn coarse_places(&self, buffer: &Buffer, data: &CpuData, stride: u64) -> Vec<(u64, u64)> {
        match &data.chunks {
            None => {
                let step = stride.max(1) * u64::from(buffer.page_size.max(1));
                (0..data.stream_size.div_ceil(step))
                    .map(|number| (number * step, step.min(data.stream_size - number * step)))
                    .collect()
            }
            Some(chunks) => {
                let share = (COARSE_CHUNKS / self.lanes.len().max(1)).max(2);
                let step = chunks.len().div_ceil(share).max(1);
                chunks
                    .chunks(step)
                    .filter_map(|run| {
                        let bytes = run.iter().map(|chunk| u64::from(chunk.plain_size)).sum();
                        Some((run.first()?.stream_offset, bytes))
                    })
                    .collect()
            }
        }
    }
}

/// The pass over the pages of one part.
struct Pages<'a> {
    reader: &'a TraceDat,
    buffer: &'a Buffer,
    data: &'a CpuData,
    pass: PartPass<'a>,
    seen: u64,
}

impl Pages<'_> {
    fn read_plain<E: ByteOrder>(&mut self, range: Range<u64>, job: &Job) -> Result<(), ReadError> {
        let start = self.data.offset.saturating_add(range.start) as usize;
        let length = (range.end - range.start) as usize;
        let bytes = self.reader.file.input.bytes();
        let bytes = bytes.get(start..).and_then(|rest| rest.get(..length));
        let page_size = self.buffer.page_size as usize;
        let pages = (length / page_size.max(1)) as u64;
        let mut place = range.start;
        let run = page_size.max(1) * ((1 << 20) / page_size.max(1)).max(1);
        for megabyte in bytes.unwrap_or(&[]).chunks(run) {
            job.check()?;
            for page in megabyte.chunks(page_size.max(1)) {
                self.read_page::<E>(page, place, pages);
                place += page.len() as u64;
            }
            job.advance(megabyte.len() as u64);
        }
        Ok(())
    }

    fn read_packed<E: ByteOrder>(&mut self, range: Range<u64>, job: &Job) -> Result<(), ReadError> {
        let chunks = self.data.chunks.as_deref().unwrap_or(&[]);
        let run = chunks.get(range.start as usize..range.end as usize);
        let run = run.unwrap_or(&[]);
        let page_size = self.buffer.page_size as usize;
        let plain_size: u64 = run.iter().map(|chunk| u64::from(chunk.plain_size)).sum();
        let pages = plain_size / page_size.max(1) as u64;
        let mut plain = Vec::new();
        for (number, chunk) in run.iter().enumerate() {
            job.check()?;
            let number = range.start as usize + number;
            match self.reader.file.unpack_chunk(self.data, number, &mut plain) {
                Ok(()) => {
                    for (number, page) in plain.chunks(page_size.max(1)).enumerate() {
                        let place = chunk.stream_offset + (number * page_size) as u64;
                        self.read_page::<E>(page, place, pages);
                    }
                }
                Err(error) => self.pass.columns.diagnostics.note(
                    "chunk_damaged",
                    Severity::DataLoss,
                    Location::Byte(chunk.offset),
                    || format!("the events of a chunk are lost: {error}"),
                ),
            }
            job.advance(u64::from(chunk.packed_size) + 8);
        }
        Ok(())
    }

    #[inline]
    fn read_page<E: ByteOrder>(&mut self, page: &[u8], place: u64, pages: u64) {
        if self.seen == 0 && place > 0 {
            let head = read_head::<E>(page, self.reader.file.layout);
            let is_lost = head.is_some_and(|head| head.lost != Lost::No);
            // Only gaps and seams start at the last event before the part: other parts need no page before them.
            if is_lost || self.pass.has_seams {
                self.pass.last_time = self.reader.time_before::<E>(self.buffer, self.data, place);
            }
        }
        self.pass.read_page::<E>(page, place);
        self.seen += 1;
        if self.seen == TASTE_PAGES {
            let events = self.pass.columns.events.len() as u64;
            let more = events * pages.saturating_sub(self.seen) / self.seen;
            self.pass
                .columns
                .events
                .reserve((more + more / 16) as usize);
        }
    }
}

impl TraceDat {
    fn coarse(&self) -> Coarse {
        let mut coarse = Coarse::default();
        let mut span: Option<(i64, i64)> = None;
        let page_count: u64 = (0..self.lanes.len() as u32)
            .filter_map(|lane| self.source(lane))
            .map(|(buffer, data)| data.stream_size / u64::from(buffer.page_size.max(1)))
            .sum();
        let stride = page_count.div_ceil(COARSE_PAGES);
        for lane in 0..self.lanes.len() as u32 {
            let Some((buffer, data)) = self.source(lane) else {
                continue;
            };
            let map = self.file.time_map(data.cpu);
            let mut include = |time: i64| {
                let (start, end) = span.unwrap_or((time, time));
                span = Some((start.min(time), end.max(time)));
            };
            // One sample per place: the time of its page and the bytes up to the next place. Times of a CPU
            // never go back.
            let mut last = i64::MIN;
            for (place, bytes) in self.coarse_places(buffer, data, stride) {
                if let Some(raw) = self.file.page_time(data, buffer.page_size, place) {
                    last = map.time(raw).max(last);
                    include(last);
                    let sample = DensitySample::new(lane, Timestamp(last), bytes);
                    coarse.density.push(sample);
                }
            }
            let end = match self.file.endian() {
                Endian::Little => self.time_before::<Little>(buffer, data, data.stream_size),
                Endian::Big => self.time_before::<Big>(buffer, data, data.stream_size),
            };
            end.into_iter().for_each(include);
        }
        if let Some((start, end)) = span {
            coarse.span = TimeSpan::new(Timestamp(start), Timestamp(end.saturating_add(1)));
        }
        coarse
    }

    /// The kinds of events and the threads that the columns refer to by number.
    #[must_use]
    pub(crate) fn directory(&self) -> Directory {
        let mut strings = Strings::default();
        let formats = &self.file.metadata.formats;
        let mut kinds: Vec<EventKind> = formats
            .iter()
            .enumerate()
            .map(|(kind, format)| EventKind {
                name: strings.intern_text(&format.name),
                category: strings.intern_text(&format.system),
                role: role_of(format, self.recipes.of(kind)),
                is_probe: is_probe_system(format.system.as_bytes())
                    || format
                        .fields
                        .iter()
                        .any(|field| field.name.starts_with("__probe_")),
            })
            .collect();
        kinds.push(EventKind {
            name: strings.intern_text("unknown event"),
            category: strings.intern_text(""),
            role: Role::Instant,
            is_probe: false,
        });
        for &print in self.recipes.prints() {
            let format = formats.get(print.index());
            kinds.push(EventKind {
                name: strings.intern_text(format.map_or("", |format| &format.name)),
                category: strings.intern_text(format.map_or("", |format| &format.system)),
                role: Role::Consumed,
                is_probe: false,
            });
        }
        let threads = self
            .file
            .metadata
            .cmdlines
            .iter()
            .filter(|(pid, name)| *pid > 0 && *name != b"<...>")
            .map(|(pid, name)| ThreadEntry {
                key: ThreadKey(pid as u32),
                tid: u64::from(pid as u32),
                file_key: u64::from(pid as u32),
                process: None,
                name: Some(strings.intern(name)),
            })
            .collect();
        Directory {
            kinds,
            threads,
            processes: Vec::new(),
            strings,
            syscall_abi: Some(self.recipes.abi()),
            ..Directory::default()
        }
    }

    /// Describes one event in full.
    fn describe(&self, event: EventRef) -> EventDetail {
        let names = &self.file.metadata.cmdlines;
        let name = names.name(event.thread.0 as i32).unwrap_or(b"");
        let thread_name = String::from_utf8_lossy(name).into_owned();
        let Some((buffer, data)) = self.source_of_part(event.part) else {
            return EventDetail::default();
        };
        match self.file.event_at(data, buffer.page_size, event.place) {
            Ok(record) => {
                let about = Circumstances {
                    time: event.time,
                    cpu: data.cpu,
                    thread_name,
                };
                describe::describe(&self.report_source().decoder, &record, about)
            }
            Err(error) => EventDetail {
                time: event.time,
                cpu: Some(data.cpu),
                tid: u64::from(event.thread.0),
                thread_name,
                text: error.to_string(),
                ..EventDetail::default()
            },
        }
    }
}

/// The columns of a part, and the lines of etrace in its print events.
pub(crate) struct PartRead {
    columns: LaneColumns,
    lines: Found,
}

// A page contains its time and an event its thread, so a part does not depend on the parts before it.
impl IndependentParts for TraceDat {
    type Read = PartRead;

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn read(&self, part: u32, job: &Job) -> Result<PartRead, ReadError> {
        let columns = match self.file.endian() {
            Endian::Little => self.read_as::<Little>(part, job)?,
            Endian::Big => self.read_as::<Big>(part, job)?,
        };
        Ok(PartRead {
            lines: lines_in(self, part, &columns),
            columns,
        })
    }

    fn shown<'a>(&self, part: u32, read: &'a PartRead) -> Vec<Shown<'a>> {
        let lane = self.lane_of(part);
        lane.into_iter().map(|lane| (lane, &read.columns)).collect()
    }

    fn gather(&self, read: Vec<(u32, PartRead)>, job: &Job) -> Result<Gathered, ReadError> {
        let mut found = Found::default();
        let mut parts = Vec::with_capacity(read.len());
        for (part, read) in read {
            found.append(read.lines);
            parts.push(PartColumns {
                part,
                lane: self.lane_of(part).unwrap_or(0),
                columns: read.columns,
            });
        }
        let mut gathered = Gathered {
            parts,
            lanes: self.lanes.clone(),
            directory: self.directory(),
            info: self.info.clone(),
            diagnostics: Diagnostics::default(),
        };
        if !self.prints.is_empty() {
            let directory = &mut gathered.directory;
            let lines = self.lines.get_or_init(|| found.lines());
            let first = directory.kinds.len();
            directory.kinds.extend(lines.kinds(&mut directory.strings));
            let kinds = first as u32..directory.kinds.len() as u32;
            let kinds: Vec<KindId> = kinds.map(KindId).collect();
            lines.add_to(&mut gathered, self.parts.len() as u32, &kinds, job)?;
        }
        Ok(gathered)
    }
}

impl Events for TraceDat {
    fn decode<'a>(&'a self, event: EventRef, need: Need<'_>, decoded: &mut DecodedEvent<'a>) {
        if event.part as usize == self.parts.len() {
            if let Some(lines) = self.lines.get() {
                lines.decode(event, need, decoded);
            }
            return;
        }
        let Some((buffer, data)) = self.source_of_part(event.part) else {
            return;
        };
        let decoder = &self.report_source().decoder;
        let (file, page_size) = (&self.file, buffer.page_size);
        match need {
            Need::Detail => decoded.take(self.describe(event), need),
            Need::AnyField => decoded.perhaps(),
            Need::Export | Need::Fields => {
                let Ok(record) = file.event_at(data, page_size, event.place) else {
                    return;
                };
                describe::fields_into(decoder, record.clone(), &mut decoded.fields);
                if need == Need::Export {
                    describe::decode_into(decoder, &record, decoded);
                }
            }
            Need::Field(name) => {
                let found = file.with_event(data, page_size, event.place, |record| {
                    describe::value(decoder, record, name)
                });
                let field = found.ok().flatten();
                decoded.fields.extend(field);
            }
            Need::Line => {
                let mut memory = Memory::default();
                let read = file.with_event(data, page_size, event.place, |record| {
                    let out = &mut decoded.text;
                    describe::push_text(decoder, record, event.time, data.cpu, &mut memory, out);
                });
                if let Err(error) = read {
                    decoded.text.extend_from_slice(error.to_string().as_bytes());
                }
            }
        }
    }

    fn field_names(&self, kind: KindId) -> Option<Vec<&str>> {
        let own = self.file.metadata.formats.len() + 1 + self.recipes.prints().len();
        if kind.index() >= own {
            // The event is a line of etrace.
            return None;
        }
        // An event without a format has no fields.
        let fields = self.file.metadata.formats.get(kind.index());
        let fields = fields.map_or(&[][..], |format| &format.fields);
        Some(fields.iter().map(|field| field.name.as_str()).collect())
    }

    fn memory_bytes(&self) -> u64 {
        self.file.memory_bytes() + self.lines.get().map_or(0, Lines::memory_bytes)
    }
}

impl HasReport for TraceDat {
    fn report(&self) -> &dyn Report {
        self.report_source()
    }
}
