//! An opened trace.dat: its metadata, and access to every page and record.

use super::buffers::{Buffer, Chunk, ChunkCache, CpuData, PageBytes};
use super::clock::{TimeMap, unit_of_clock};
use super::contents::{Contents, RawOption, StoredSection};
use super::header::{Header, read_header};
use super::metadata::Metadata;
use super::options::Options;
use super::page::{PageHead, Records, layout_of, payload_at, read_head};
use super::{v6, v7};
use crate::base::{
    Big, ByteOrder, Diagnostics, Endian, Little, Location, Maybe, Problem, ReadError, Severity,
};
use crate::event::part::ClockUnit;
use crate::formats::format::Input;
use crate::tracedat::layout::{Layout, Lost};
use std::borrow::Cow;
use std::sync::Arc;

/// A trace.dat with everything that is read before its events.
#[derive(Debug)]
pub struct TraceFile {
    /// The bytes of the file.
    pub input: Input,
    /// The start of the file, parsed.
    pub header: Header,
    /// The recorded kernel's event formats, symbols and thread names.
    pub metadata: Metadata,
    /// The file's options: clock, machine, recorder.
    pub options: Options,
    /// The trace buffers of all instances, the top-level instance first.
    pub buffers: Vec<Buffer>,
    /// Texts of latency tracers that the file contains instead of events.
    pub latency_texts: Vec<Vec<u8>>,
    /// Offsets of the parts of a page.
    pub layout: Layout,
    /// The metadata sections as the file stores them, in its order.
    pub(crate) sections: Vec<StoredSection>,
    /// The options that are neither file offsets nor buffers, as the file stores them.
    pub(crate) raw_options: Vec<RawOption>,
    /// Diagnostics from reading the metadata.
    pub diagnostics: Diagnostics,
    /// Index into `metadata.formats` by event number.
    kind_of_id: Vec<Maybe<u32>>,
    cache: ChunkCache,
}

/// A page of a CPU.
pub(crate) struct Page<'a> {
    pub bytes: PageBytes<'a>,
    /// The place at which the page starts.
    pub start: u64,
}

impl TraceFile {
    /// Reads everything except the events.
    ///
    /// # Errors
    /// If the file is not a trace.dat, or its event formats cannot be read.
    pub fn open(input: Input) -> Result<TraceFile, ReadError> {
        let mut diagnostics = Diagnostics::default();
        let header = read_header(input.bytes())?;
        let contents = match header.version {
            6 => v6::read_contents(input.bytes(), &header, &mut diagnostics)?,
            _ => v7::read_contents(input.bytes(), &header, &mut diagnostics)?,
        };
        let Contents {
            metadata,
            options,
            mut buffers,
            latency_texts,
            sections,
            raw_options,
            ..
        } = contents;
        buffers.sort_by_key(|buffer| !buffer.name.is_empty());
        let mut file = TraceFile {
            layout: layout_of(metadata.header_page.as_ref()),
            kind_of_id: Vec::new(),
            cache: ChunkCache::new(header.codec),
            input,
            header,
            metadata,
            options,
            buffers,
            latency_texts,
            sections,
            raw_options,
            diagnostics,
        };
        file.number_kinds();
        file.note_clocks();
        let has_events = file.buffers.iter().any(|buffer| !buffer.cpus.is_empty());
        if !file.latency_texts.is_empty() && has_events {
            file.diagnostics
                .note("latency_text", Severity::Info, Location::Byte(0), || {
                    "the file contains the text of a latency tracer beside its events; `report` prints it".into()
                });
        }
        Ok(file)
    }

    fn number_kinds(&mut self) {
        let formats = &self.metadata.formats;
        let highest = formats.iter().map(|format| format.id).max().unwrap_or(0);
        self.kind_of_id = vec![Maybe::NONE; highest.min(0xffff) as usize + 1];
        for (kind, format) in formats.iter().enumerate() {
            match self.kind_of_id.get_mut(format.id as usize) {
                Some(slot) if slot.is_none() => *slot = Maybe::new(kind as u32),
                _ => self.diagnostics.note(
                    "event_number_twice",
                    Severity::Error,
                    Location::Byte(self.header.end),
                    || {
                        format!(
                            "number {} of event {} is another event's already, or too large",
                            format.id, format.name
                        )
                    },
                ),
            }
        }
    }

    fn note_clocks(&mut self) {
        let mut used = self.buffers.iter().filter(|buffer| !buffer.cpus.is_empty());
        let Some(first) = used.next() else { return };
        if let Some(other) = used.find(|buffer| buffer.clock != first.clock) {
            let message = format!(
                "instance \"{}\" uses clock {}, \"{}\" uses {}: their times cannot be compared",
                first.name, first.clock, other.name, other.clock
            );
            self.diagnostics
                .note("clocks_differ", Severity::Info, Location::Byte(0), || {
                    message
                });
        }
    }

    /// Returns the byte order of the file.
    #[must_use]
    pub fn endian(&self) -> Endian {
        self.header.endian
    }

    /// Returns the number of a buffer's clock among the clocks of all buffers.
    pub(crate) fn clock_number(&self, clock: &str) -> u32 {
        let first = self.buffers.iter().position(|buffer| buffer.clock == clock);
        first.map_or(0, |first| first as u32)
    }

    /// Returns the clock of the first instance with events.
    #[must_use]
    pub(crate) fn clock(&self) -> &str {
        let buffer = self.buffers.iter().find(|buffer| !buffer.cpus.is_empty());
        match buffer.or(self.buffers.first()) {
            Some(buffer) if !buffer.clock.is_empty() => &buffer.clock,
            _ => self.options.active_clock().unwrap_or(""),
        }
    }

    /// Returns the unit of the clock that `clock` returns.
    #[must_use]
    pub fn clock_unit(&self) -> ClockUnit {
        unit_of_clock(self.clock(), self.options.tsc_to_ns)
    }

    /// Returns the index into `metadata.formats` of the event with number `id`; `None` if it has no format.
    #[inline]
    #[must_use]
    pub fn kind_of_id(&self, id: u16) -> Option<u32> {
        self.kind_of_id.get(usize::from(id))?.get()
    }

    /// Returns the number of events of a CPU that the kernel dropped because the buffer was full.
    #[must_use]
    pub(crate) fn drops_of(&self, cpu: u32) -> u64 {
        let losses = super::cpu_stats::losses(&self.options.cpu_stats);
        let drops = losses.iter().filter(|loss| loss.cpu == cpu);
        drops.fold(0, |sum, loss| sum.saturating_add(loss.dropped))
    }

    /// Returns the conversion of raw times of `cpu` to times of the trace.
    #[must_use]
    pub fn time_map(&self, cpu: u32) -> TimeMap {
        TimeMap::new(&self.options, cpu)
    }

    /// Returns the page of `data` that contains the byte at `place`.
    ///
    /// # Errors
    /// If `place` is after the last page, or its chunk is damaged.
    pub(crate) fn page_at(
        &self,
        data: &CpuData,
        page_size: u32,
        place: u64,
    ) -> Result<Page<'_>, ReadError> {
        let page_size = u64::from(page_size.max(1));
        let start = place - place % page_size;
        if place >= data.stream_size {
            let problem = Problem::BadReference {
                table: "pages of a CPU",
                index: place / page_size,
            };
            return Err(ReadError::at_byte(data.offset, "page", problem));
        }
        let length = page_size.min(data.stream_size - start) as usize;
        let Some(chunk) = data.chunk_at(place) else {
            let bytes = self.input.bytes();
            let at = data.offset.saturating_add(start) as usize;
            let page = bytes.get(at..).and_then(|rest| rest.get(..length));
            return Ok(Page {
                bytes: PageBytes::File(page.unwrap_or(&[])),
                start,
            });
        };
        let plain = self.cache.chunk(self.input.bytes(), chunk)?;
        // Pages do not cross chunks: page boundaries are counted from the chunk's start.
        let inside = place - chunk.stream_offset;
        let inside = inside - inside % page_size;
        let at = inside as usize;
        let end = plain.len().min(at + page_size as usize);
        Ok(Page {
            bytes: PageBytes::Chunk(plain, at..end),
            start: chunk.stream_offset + inside,
        })
    }

    /// Unpacks chunk `number` of `data` into `plain` without using the cache.
    ///
    /// # Errors
    /// If the chunk does not exist or is damaged.
    pub(crate) fn unpack_chunk(
        &self,
        data: &CpuData,
        number: usize,
        plain: &mut Vec<u8>,
    ) -> Result<(), ReadError> {
        let chunk = data.chunks.as_ref().and_then(|chunks| chunks.get(number));
        let chunk = *chunk.ok_or_else(|| {
            let problem = Problem::BadReference {
                table: "chunks of a CPU",
                index: number as u64,
            };
            ReadError::at_byte(data.offset, "chunk", problem)
        })?;
        self.cache.unpack_into(self.input.bytes(), chunk, plain)
    }

    /// Returns the unpacked pages of a chunk, from the cache if it contains them.
    ///
    /// # Errors
    /// If the chunk is damaged.
    pub(crate) fn unpacked(&self, chunk: Chunk) -> Result<Arc<Vec<u8>>, ReadError> {
        self.cache.chunk(self.input.bytes(), chunk)
    }

    /// Returns the payload of the record at `place`: borrowed from the file, or copied out of a chunk.
    ///
    /// # Errors
    /// If no record can be read there.
    pub fn event_at(
        &self,
        data: &CpuData,
        page_size: u32,
        place: u64,
    ) -> Result<Cow<'_, [u8]>, ReadError> {
        let Page { bytes: page, start } = self.page_at(data, page_size, place)?;
        let at = (place - start) as usize;
        let found = match page {
            PageBytes::File(page) => self.payload(page, at).map(Cow::Borrowed),
            chunk => self
                .payload(&chunk, at)
                .map(|bytes| Cow::Owned(bytes.to_vec())),
        };
        found.ok_or_else(|| no_event(data, place))
    }

    /// Calls `look` with the payload of the record at `place`; unlike `event_at`, it never copies.
    ///
    /// # Errors
    /// If no record can be read there.
    pub(crate) fn with_event<R>(
        &self,
        data: &CpuData,
        page_size: u32,
        place: u64,
        look: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, ReadError> {
        let Page { bytes: page, start } = self.page_at(data, page_size, place)?;
        let at = (place - start) as usize;
        let payload = self.payload(&page, at);
        payload.map(look).ok_or_else(|| no_event(data, place))
    }

    /// Returns the payload of the record at offset `at` of a page.
    #[inline]
    pub(super) fn payload<'p>(&self, page: &'p [u8], at: usize) -> Option<&'p [u8]> {
        match self.header.endian {
            Endian::Little => payload_at::<Little>(page, at),
            Endian::Big => payload_at::<Big>(page, at),
        }
    }

    /// Returns an iterator over all records of `data`.
    #[must_use]
    pub fn records<'a>(&'a self, data: &'a CpuData, page_size: u32) -> CpuRecords<'a> {
        self.records_from(data, page_size, 0)
    }

    /// Returns an iterator over the records of `data`, starting with the page at `place`.
    #[must_use]
    pub(crate) fn records_from<'a>(
        &'a self,
        data: &'a CpuData,
        page_size: u32,
        place: u64,
    ) -> CpuRecords<'a> {
        CpuRecords {
            file: self,
            data,
            page_size,
            next_page: place,
            page: PageBytes::File(&[]),
            page_place: place,
            page_end: 0,
            at: 0,
            time: 0,
            payload: 0..0,
            lost: Lost::No,
        }
    }

    /// Returns the raw time at the start of the page of `data` that contains the byte at `place`; `None` if the page
    /// cannot be read.
    #[must_use]
    pub(crate) fn page_time(&self, data: &CpuData, page_size: u32, place: u64) -> Option<u64> {
        let page = self.page_at(data, page_size, place).ok()?.bytes;
        Some(self.page_head(&page)?.time)
    }

    fn page_head(&self, page: &[u8]) -> Option<PageHead> {
        match self.header.endian {
            Endian::Little => read_head::<Little>(page, self.layout),
            Endian::Big => read_head::<Big>(page, self.layout),
        }
    }

    /// Returns the heap memory of the metadata and the cache, in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let formats: usize = self
            .metadata
            .formats
            .iter()
            .map(|format| format.print_fmt.len() + format.fields.len() * 112 + 128)
            .sum();
        formats as u64 + self.metadata.kallsyms.memory_bytes() + self.cache.memory_bytes()
    }
}

fn no_event(data: &CpuData, place: u64) -> ReadError {
    let problem = Problem::Other("no record can be read there".into());
    ReadError::at_byte(data.offset.saturating_add(place), "event", problem)
}

/// Iterates over one CPU's records, page after page. Damaged pages and chunks are skipped.
#[derive(Clone, Debug)]
pub struct CpuRecords<'a> {
    file: &'a TraceFile,
    data: &'a CpuData,
    page_size: u32,
    next_page: u64,
    page: PageBytes<'a>,
    page_place: u64,
    page_end: usize,
    at: usize,
    time: u64,
    payload: std::ops::Range<usize>,
    lost: Lost,
}

/// Place and time of the current record of [`CpuRecords`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// Raw time.
    pub raw_time: u64,
    /// Byte offset of its header in the CPU's pages.
    pub place: u64,
    /// Whether events were lost just before it.
    pub lost: Lost,
}

impl CpuRecords<'_> {
    /// Moves to the next record; `None` after the last.
    pub fn advance(&mut self) -> Option<RecordHead> {
        loop {
            let found = match self.file.header.endian {
                Endian::Little => self.step::<Little>(),
                Endian::Big => self.step::<Big>(),
            };
            if let Some(at) = found {
                return Some(RecordHead {
                    raw_time: self.time,
                    place: self.page_place + at as u64,
                    lost: std::mem::replace(&mut self.lost, Lost::No),
                });
            }
            self.turn_page()?;
        }
    }

    /// Returns the payload of the current record.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        self.page.get(self.payload.clone()).unwrap_or(&[])
    }

    fn step<E: ByteOrder>(&mut self) -> Option<usize> {
        let mut records = Records::<E>::resume(&self.page, self.page_end, self.at, self.time);
        let record = records.next();
        let next = records.at();
        let found = record.map(|record| {
            // Stored as a range: a slice would borrow from `self.page`.
            let start = record.payload.as_ptr() as usize - self.page.as_ptr() as usize;
            (record.time, record.at, start..start + record.payload.len())
        });
        self.at = next;
        let (time, at, payload) = found?;
        self.time = time;
        self.payload = payload;
        Some(at)
    }

    fn turn_page(&mut self) -> Option<()> {
        while self.next_page < self.data.stream_size {
            let place = self.next_page;
            self.next_page = place.saturating_add(u64::from(self.page_size.max(1)));
            let Page { bytes: page, start } =
                match self.file.page_at(self.data, self.page_size, place) {
                    Ok(found) => found,
                    Err(_) => {
                        // Continue after the damaged chunk.
                        if let Some(chunk) = self.data.chunk_at(place) {
                            let end = chunk.stream_offset + u64::from(chunk.plain_size);
                            self.next_page = self.next_page.max(end);
                        }
                        continue;
                    }
                };
            self.next_page = start.saturating_add(page.len().max(1) as u64);
            let Some(head) = self.file.page_head(&page) else {
                continue;
            };
            if head.lost != Lost::No {
                self.lost = head.lost;
            }
            self.page_place = start;
            self.page_end = head.end;
            self.at = self.file.layout.data;
            self.time = head.time;
            self.page = page;
            return Some(());
        }
        None
    }
}
