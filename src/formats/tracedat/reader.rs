//! trace.dat as a [`Reader`]: a lane for each CPU of each instance, cut into parts of a few megabytes of pages.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::TraceFile;
use super::buffers::{Buffer, CpuData};
use super::decoder::Memory;
use super::describe::{self, Circumstances};
use super::emit::PartPass;
use super::latency::reader_for;
use super::page::{Big, Little, Lost, Order, Records, read_head};
use super::recipe::role_of;
use super::recipes::Recipes;
use super::report::source::{TraceReport, decoder_of};
use super::with_etrace::{prints_with_etrace, texts_of};
use crate::base::{
    Diagnostics, Endian, Job, Location, Problem, ReadError, Severity, Strings, TimeSpan, Timestamp,
};
use crate::event::syscalls::Abi;
use crate::event::{
    Coarse, Directory, EventDetail, EventKind, Field, FieldRef, FirstDay, KindId, Lane,
    LaneColumns, Part, Role, ThreadEntry, ThreadKey, TraceInfo, Value,
};
use crate::formats::etrace::with_etrace;
use crate::formats::format::{EventRef, Input, Reader, Report};

/// About how many bytes of pages make a part.
const PART_BYTES: u64 = 4 << 20;
/// How many page headers the coarse picture looks at.
const COARSE_PAGES: u64 = 16_384;
/// How many chunks it unpacks.
const COARSE_CHUNKS: usize = 256;
/// Pages after which it is known how many events a page holds.
const TASTE_PAGES: u64 = 8;

/// An opened trace.dat.
pub struct TraceDat {
    file: Arc<TraceFile>,
    report: OnceLock<TraceReport>,
    recipes: Recipes,
    info: TraceInfo,
    lanes: Vec<Lane>,
    /// Of each lane: index of its buffer, and of its CPU there.
    sources: Vec<(usize, usize)>,
    parts: Vec<Part>,
    /// Of each part: bytes of its CPU's pages, or numbers of its chunks.
    ranges: Vec<Range<u64>>,
}

/// Opens a trace.dat.
///
/// # Errors
/// As [`TraceFile::open`].
pub fn open(input: Input, job: &Job) -> Result<Box<dyn Reader>, ReadError> {
    let file = Arc::new(TraceFile::open(input)?);
    let reader = TraceDat::new(Arc::clone(&file));
    let prints = prints_with_etrace(&reader);
    let reader = reader_for(reader, job)?;
    Ok(match prints.is_empty() {
        true => reader,
        false => with_etrace(reader, prints, texts_of(TraceDat::new(file))),
    })
}

impl TraceDat {
    /// The reader of an opened file.
    #[must_use]
    pub fn new(file: Arc<TraceFile>) -> TraceDat {
        let mut reader = TraceDat {
            recipes: Recipes::new(&file, abi_of(&file)),
            info: info_of(&file),
            lanes: Vec::new(),
            sources: Vec::new(),
            parts: Vec::new(),
            ranges: Vec::new(),
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

    /// What prints and describes events; made when first asked for.
    fn report_source(&self) -> &TraceReport {
        self.report.get_or_init(|| {
            let decoder = Arc::new(decoder_of(&self.file));
            let lanes = self.parts.iter().map(|part| part.lane as usize);
            let sources = lanes.map(|lane| self.sources.get(lane).copied().unwrap_or_default());
            TraceReport {
                sources: sources.collect(),
                ..TraceReport::new(Arc::clone(&self.file), decoder)
            }
        })
    }

    /// The file.
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
        self.parts.push(Part { lane, size_bytes });
        self.ranges.push(range);
    }

    /// The buffer and CPU that a lane is of.
    fn source(&self, lane: u32) -> Option<(&Buffer, &CpuData)> {
        let (buffer, cpu) = *self.sources.get(lane as usize)?;
        let buffer = self.file.buffers.get(buffer)?;
        Some((buffer, buffer.cpus.get(cpu)?))
    }

    /// The buffer and CPU that a part is of.
    #[must_use]
    pub fn source_of_part(&self, part: u32) -> Option<(&Buffer, &CpuData)> {
        self.source(self.parts.get(part as usize)?.lane)
    }

    fn read<E: Order>(&self, part: u32, job: &Job) -> Result<LaneColumns, ReadError> {
        let range = self.ranges.get(part as usize).cloned();
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
        if events.memory_bytes() > events.len() as u64 * 14 + 4096 {
            events.shrink();
        }
        columns.sort_by_time();
        Ok(columns)
    }

    /// The last time of the page before the one at `place`.
    fn time_before<E: Order>(&self, buffer: &Buffer, data: &CpuData, place: u64) -> Option<i64> {
        let before = place.checked_sub(1)?;
        let (page, _) = self.file.page_at(data, buffer.page_size, before).ok()?;
        let head = read_head::<E>(&page, self.file.layout)?;
        let last = Records::<E>::new(&page, self.file.layout, &head).last();
        let raw = last.map_or(head.time, |record| record.time);
        Some(self.file.time_map(data.cpu).time(raw))
    }

    /// The places at which the coarse picture looks, and how many bytes each stands for.
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

/// The pages of one part on their way through the pass.
struct Pages<'a> {
    reader: &'a TraceDat,
    buffer: &'a Buffer,
    data: &'a CpuData,
    pass: PartPass<'a>,
    seen: u64,
}

impl Pages<'_> {
    fn read_plain<E: Order>(&mut self, range: Range<u64>, job: &Job) -> Result<(), ReadError> {
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

    fn read_packed<E: Order>(&mut self, range: Range<u64>, job: &Job) -> Result<(), ReadError> {
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
    fn read_page<E: Order>(&mut self, page: &[u8], place: u64, pages: u64) {
        if self.seen == 0 && place > 0 {
            let head = read_head::<E>(page, self.reader.file.layout);
            let is_lost = head.is_some_and(|head| head.lost != Lost::No);
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

impl Reader for TraceDat {
    fn info(&self) -> &TraceInfo {
        &self.info
    }

    fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    fn parts(&self) -> &[Part] {
        &self.parts
    }

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
            let mut last = i64::MIN;
            for (place, bytes) in self.coarse_places(buffer, data, stride) {
                if let Some(raw) = self.file.page_time(data, buffer.page_size, place) {
                    last = map.time(raw).max(last);
                    include(last);
                    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
                    coarse.density.push((lane, Timestamp(last), bytes));
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

    fn read_part(&self, part: u32, job: &Job) -> Result<LaneColumns, ReadError> {
        match self.file.endian() {
            Endian::Little => self.read::<Little>(part, job),
            Endian::Big => self.read::<Big>(part, job),
        }
    }

    fn directory(&self) -> Directory {
        let mut strings = Strings::default();
        let formats = &self.file.metadata.formats;
        let mut kinds: Vec<EventKind> = formats
            .iter()
            .enumerate()
            .map(|(kind, format)| EventKind {
                name: strings.intern_text(&format.name),
                category: strings.intern_text(&format.system),
                role: role_of(format, self.recipes.of(kind)),
            })
            .collect();
        kinds.push(EventKind {
            name: strings.intern_text("unknown event"),
            category: strings.intern_text(""),
            role: Role::Instant,
        });
        for &print in self.recipes.prints() {
            let format = formats.get(usize::from(print));
            kinds.push(EventKind {
                name: strings.intern_text(format.map_or("", |format| &format.name)),
                category: strings.intern_text(format.map_or("", |format| &format.system)),
                role: Role::Consumed,
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

    fn diagnostics(&self) -> Diagnostics {
        self.file.diagnostics.clone()
    }

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

    fn value(&self, event: EventRef, name: &str) -> Option<Value> {
        let (buffer, data) = self.source_of_part(event.part)?;
        let decoder = &self.report_source().decoder;
        self.file
            .with_event(data, buffer.page_size, event.place, |record| {
                describe::value(decoder, record, name)
            })
            .ok()?
    }

    fn field_names(&self, kind: KindId) -> Option<Vec<&str>> {
        // What the file does not describe has no fields.
        let fields = self.file.metadata.formats.get(usize::from(kind.0));
        let fields = fields.map_or(&[][..], |format| &format.fields);
        Some(fields.iter().map(|field| field.name.as_str()).collect())
    }

    fn push_text(&self, event: EventRef, out: &mut Vec<u8>) {
        let Some((buffer, data)) = self.source_of_part(event.part) else {
            return;
        };
        let decoder = &self.report_source().decoder;
        let mut memory = Memory::default();
        let read = self
            .file
            .with_event(data, buffer.page_size, event.place, |record| {
                describe::push_text(decoder, record, event.time, data.cpu, &mut memory, out);
            });
        if let Err(error) = read {
            out.extend_from_slice(error.to_string().as_bytes());
        }
    }

    fn fields_into<'a>(&'a self, event: EventRef, fields: &mut Vec<FieldRef<'a>>) {
        let Some((buffer, data)) = self.source_of_part(event.part) else {
            return;
        };
        if let Ok(record) = self.file.event_at(data, buffer.page_size, event.place) {
            let decoder = &self.report_source().decoder;
            describe::fields_into(decoder, record.clone(), fields);
            describe::told_into(decoder, &record, fields);
        }
    }

    fn fields(&self, event: EventRef) -> Vec<Field> {
        let Some((buffer, data)) = self.source_of_part(event.part) else {
            return Vec::new();
        };
        let mut fields = Vec::new();
        if let Ok(record) = self.file.event_at(data, buffer.page_size, event.place) {
            describe::fields_into(&self.report_source().decoder, record, &mut fields);
        }
        fields.into_iter().map(FieldRef::into_field).collect()
    }

    fn report(&self) -> Option<&dyn Report> {
        Some(self.report_source())
    }

    fn memory_bytes(&self) -> u64 {
        self.file.memory_bytes()
    }
}

/// Whose system call numbers the file has: by the machine in UNAME, else by its numbers.
#[must_use]
pub fn abi_of(file: &TraceFile) -> Abi {
    let machine = file.options.uname.split_whitespace().last().unwrap_or("");
    match machine {
        "x86_64" | "amd64" => Abi::X86_64,
        "i386" | "i486" | "i586" | "i686" => Abi::I386,
        "aarch64" | "arm64" | "riscv64" | "loongarch64" => Abi::Aarch64,
        "s390x" => Abi::S390x,
        machine if machine.starts_with("arm") => Abi::Arm,
        _ => match (file.endian(), file.metadata.kernel_long_size()) {
            (Endian::Big, _) => Abi::S390x,
            (_, 4) => Abi::I386,
            _ => Abi::X86_64,
        },
    }
}

fn info_of(file: &TraceFile) -> TraceInfo {
    let options = &file.options;
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: &str| {
        if !value.trim().is_empty() {
            facts.push((name.to_owned(), value.trim().to_owned()));
        }
    };
    fact("uname", &options.uname);
    fact("recorded with", &format!("trace-cmd {}", options.version));
    fact("compression", &file.header.compression);
    for buffer in file.buffers.iter().filter(|it| !it.name.is_empty()) {
        fact(
            "instance",
            &format!("{} (clock {})", buffer.name, buffer.clock),
        );
    }
    for hook in &options.hooks {
        fact("hook", hook);
    }
    if let Some(id) = options.trace_id {
        fact("trace id", &format!("{id:#x}"));
    }
    for guest in &options.guests {
        let text = format!("{} with {} CPUs", guest.name, guest.cpus.len());
        fact("guest", &text);
    }
    if options.time_shift.is_some() {
        fact("times", "shifted to the clock of the host");
    }
    for stat in &options.cpu_stats {
        fact("statistics", stat);
    }
    TraceInfo {
        format: format!("trace.dat {}", file.header.version),
        clock: file.clock().to_owned(),
        clock_unit: file.clock_unit(),
        wall_clock_zero_ns: options.date_ns.map(|_| 0),
        first_day: FirstDay::OfFile,
        trace_id: options.trace_id,
        shifted_to: options.time_shift.as_ref().map(|shift| shift.peer),
        cpu_count: options.cpu_count,
        losses: super::cpu_stats::losses(&options.cpu_stats),
        facts,
    }
}
