//! trace.dat as a [`Stream`](crate::formats::stream::Stream): a lane for each CPU of each instance, in parts of a few
//! megabytes of pages.

use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::TraceFile;
use super::about::{abi_of, info_of};
use super::buffers::{Buffer, CpuData, CpuIndex, CpuPages};
use super::coarse::coarse;
use super::decoder::Memory;
use super::describe::{self, Circumstances};
use super::emit::{EventClock, PartPass, PartRead, PrintTexts};
use super::field_reader::RecordFields;
use super::part_pages::PartPages;
use super::recipe::role_of;
use super::recipes::Recipes;
use super::report::source::{TraceReport, decoder_of};
use super::with_etrace::print_texts;
use crate::base::column::store_inside;
use crate::base::{Big, ByteOrder, Diagnostics, Endian, Job, Little, Problem, ReadError};
use crate::event::{
    Coarse, DecodedEvent, Directory, EventDetail, FieldSink, KindId, KindOrigin, Lane, LaneClock,
    Need, Part, PartColumns, Role, ThreadEntry, ThreadKey, TraceInfo,
};
use crate::formats::etrace_lines::{Found, Lines};
use crate::formats::events::{DecodingReader, EventAt, EventRef, Events, FieldReader};
use crate::formats::format::Input;
use crate::formats::kind_table::{KindTraits, Kinds, ListedKinds, OwnKind};
use crate::formats::report::Report;
use crate::formats::stream::{
    self, AnyStream, Gathered, HasReport, IndependentParts, KeptFacts, Recording, Shown,
};
use crate::trace::Trace;

/// Approximate size of the pages of one part, in bytes.
const PART_BYTES: u64 = 4 << 20;

/// An opened trace.dat.
pub(crate) struct TraceDat {
    file: Arc<TraceFile>,
    report: OnceLock<TraceReport>,
    recipes: Recipes,
    /// The kinds of the file's formats, and those of marks with a name of their own.
    kinds: Kinds,
    info: TraceInfo,
    lanes: Vec<Lane>,
    /// The CPU of each lane.
    sources: Vec<CpuIndex>,
    parts: Vec<Part>,
    /// The pages of each part, in the order of lanes.
    ranges: Vec<PartRange>,
    /// What becomes of the texts of print events.
    prints: PrintTexts,
    /// The lines of etrace among them, set after all parts were read.
    lines: OnceLock<Lines>,
}

/// Returns the kinds of a file's formats, of events without a format, and of the texts that are marks.
fn kinds_of(file: &TraceFile, recipes: &Recipes) -> Kinds {
    let formats = &file.metadata.formats;
    let of_formats = formats.iter().enumerate().map(|(kind, format)| OwnKind {
        category: &format.system,
        name: &format.name,
        traits: KindTraits {
            role: role_of(format, recipes.of(kind)),
            origin: match format.has_probe_field() {
                true => KindOrigin::Probe,
                false => KindOrigin::of_system(format.system.as_bytes()),
            },
        },
    });
    let recorded = |role| KindTraits {
        role,
        origin: KindOrigin::Recorder,
    };
    let unknown = OwnKind {
        category: "",
        name: "unknown event",
        traits: recorded(Role::Instant),
    };
    let of_marks = recipes.prints().iter().map(|print| {
        let format = formats.get(print.index());
        OwnKind {
            category: format.map_or("", |format| &format.system),
            name: format.map_or("", |format| &format.name),
            traits: recorded(Role::Consumed),
        }
    });
    Kinds::starting_with(of_formats.chain([unknown]).chain(of_marks))
}

/// The pages of a part.
struct PartRange {
    /// Index of the part's lane.
    lane: u32,
    /// Bytes of the CPU's pages, or indices of chunks if the pages are packed.
    range: Range<u64>,
}

impl TraceDat {
    /// Opens a trace.dat.
    ///
    /// # Errors
    /// As [`TraceFile::open`].
    pub(crate) fn open(input: Input) -> Result<TraceDat, ReadError> {
        let mut reader = TraceDat::new(Arc::new(TraceFile::open(input)?));
        reader.prints = print_texts(&reader);
        Ok(reader)
    }

    /// Returns the recording in the file.
    #[must_use]
    pub(crate) fn recording(reader: &Arc<TraceDat>) -> Recording {
        Recording {
            info: reader.info.clone(),
            lanes: reader.lanes.clone(),
            diagnostics: reader.file.diagnostics.clone(),
            stream: Arc::clone(reader) as Arc<dyn AnyStream>,
            events: Arc::clone(reader) as Arc<dyn Events>,
            report: Some(Arc::clone(reader) as Arc<dyn HasReport>),
            instead: None,
        }
    }

    /// Creates the reader of an opened file.
    #[must_use]
    pub(crate) fn new(file: Arc<TraceFile>) -> TraceDat {
        let recipes = Recipes::new(&file, abi_of(&file));
        let mut reader = TraceDat {
            kinds: kinds_of(&file, &recipes),
            recipes,
            info: info_of(&file),
            lanes: Vec::new(),
            sources: Vec::new(),
            parts: Vec::new(),
            ranges: Vec::new(),
            prints: PrintTexts::default(),
            lines: OnceLock::new(),
            report: OnceLock::new(),
            file,
        };
        let file = Arc::clone(&reader.file);
        for (index, buffer) in file.buffers.iter().enumerate() {
            for (cpu, data) in buffer.cpus.iter().enumerate() {
                reader.add_lane(buffer, data);
                reader.sources.push(CpuIndex { buffer: index, cpu });
            }
        }
        reader
    }

    /// Returns the source of the report and of descriptions, which is created at the first call.
    fn report_source(&self) -> &TraceReport {
        self.report.get_or_init(|| {
            let decoder = Arc::new(decoder_of(&self.file));
            let lanes = self.ranges.iter().map(|own| own.lane as usize);
            let sources = lanes.map(|lane| self.sources.get(lane).copied().unwrap_or_default());
            TraceReport {
                sources: sources.collect(),
                ..TraceReport::new(Arc::clone(&self.file), decoder)
            }
        })
    }

    /// Returns the opened file.
    #[must_use]
    pub(crate) fn file(&self) -> &Arc<TraceFile> {
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
                    let part = Part {
                        start: data.offset + start,
                        size_bytes: end - start,
                    };
                    self.add_part(lane, part, start..end);
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
                        let start = chunks.get(first as usize).map_or(0, |chunk| chunk.offset);
                        let part = Part {
                            start,
                            size_bytes: packed,
                        };
                        self.add_part(lane, part, first..next);
                        (first, packed, plain) = (next, 0, 0);
                    }
                }
            }
        }
    }

    fn add_part(&mut self, lane: u32, part: Part, range: Range<u64>) {
        self.parts.push(part);
        self.ranges.push(PartRange { lane, range });
    }

    fn lane_of(&self, part: u32) -> Option<u32> {
        self.ranges.get(part as usize).map(|own| own.lane)
    }

    /// Returns the buffer and CPU of a lane.
    fn source(&self, lane: u32) -> Option<CpuPages<'_>> {
        let index = *self.sources.get(lane as usize)?;
        let buffer = self.file.buffers.get(index.buffer)?;
        Some(CpuPages {
            buffer,
            data: buffer.cpus.get(index.cpu)?,
        })
    }

    /// Returns the buffer and CPU of a part.
    #[must_use]
    pub(crate) fn source_of_part(&self, part: u32) -> Option<CpuPages<'_>> {
        self.source(self.lane_of(part)?)
    }

    /// Returns the number of parts.
    #[must_use]
    pub(crate) fn part_count(&self) -> u32 {
        self.parts.len() as u32
    }

    /// Returns the CPU of a part, its pages, and the range that belongs to the part: in bytes, or in indices of chunks
    /// if the pages are packed.
    #[must_use]
    pub(crate) fn pages_of_part(&self, part: u32) -> Option<(CpuIndex, CpuPages<'_>, Range<u64>)> {
        let PartRange { lane, range } = self.ranges.get(part as usize)?;
        let index = *self.sources.get(*lane as usize)?;
        Some((index, self.source(*lane)?, range.clone()))
    }

    fn read_as<E: ByteOrder>(&self, part: u32, job: &Job) -> Result<PartRead, ReadError> {
        let range = self.ranges.get(part as usize).map(|own| own.range.clone());
        let (Some(CpuPages { buffer, data }), Some(range)) = (self.source_of_part(part), range)
        else {
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
        let clock = EventClock {
            cpu: data.cpu,
            clock,
        };
        let pass = PartPass::new(&self.file, &self.recipes, &self.kinds, &decoder, clock);
        let pass = pass.for_texts(self.prints);
        let pages = PartPages::new(&self.file, CpuPages { buffer, data }, pass);
        let PartRead { mut columns, lines } = pages.read::<E>(range, job)?;
        let events = &mut columns.events;
        // An event takes 9 bytes: shrink only if much more was reserved.
        if events.memory_bytes() > events.len() as u64 * 14 + 4096 {
            events.shrink();
        }
        columns.sort_by_time();
        columns.clock = LaneClock::Number(self.file.clock_number(&buffer.clock));
        Ok(PartRead { columns, lines })
    }
}

impl TraceDat {
    /// Returns the kinds of events and the threads that the columns refer to by number.
    #[must_use]
    pub(crate) fn directory(&self) -> Directory {
        let ListedKinds { kinds, mut strings } = self.kinds.list();
        let names = self.file.metadata.cmdlines.iter();
        let names = names.filter(|(pid, name)| *pid > 0 && *name != b"<...>");
        // Not all recorders list the idle thread.
        let threads = names
            .map(|(pid, name)| (pid as u32, name))
            .chain([(ThreadKey::IDLE.0, &b"<idle>"[..])])
            .map(|(pid, name)| ThreadEntry {
                key: ThreadKey(pid),
                tid: u64::from(pid),
                file_key: u64::from(pid),
                process: None,
                name: Some(strings.intern(name)),
            })
            .collect();
        Directory {
            kinds,
            threads,
            groups: self.file.metadata.thread_groups.clone(),
            processes: Vec::new(),
            strings,
            syscall_abi: Some(self.recipes.abi()),
            ..Directory::default()
        }
    }

    /// Describes one event in full.
    fn describe(&self, event: EventRef) -> EventDetail {
        let names = &self.file.metadata.cmdlines;
        let name = event.thread.and_then(|thread| names.name(thread.0 as i32));
        let name = name.unwrap_or(b"");
        let thread_name = String::from_utf8_lossy(name).into_owned();
        let Some(CpuPages { buffer, data }) = self.source_of_part(event.part) else {
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
                tid: event.thread.map_or(0, |thread| u64::from(thread.0)),
                thread_name,
                text: error.to_string(),
                ..EventDetail::default()
            },
        }
    }
}

// A page contains its time and an event contains its thread, so a part does not depend on earlier parts.
impl IndependentParts for TraceDat {
    type Read = PartRead;

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn coarse(&self) -> Coarse {
        let lanes = (0..self.lanes.len() as u32).map(|lane| self.source(lane));
        coarse(&self.file, &lanes.collect::<Vec<_>>())
    }

    fn read(&self, part: u32, job: &Job) -> Result<PartRead, ReadError> {
        match self.file.endian() {
            Endian::Little => self.read_as::<Little>(part, job),
            Endian::Big => self.read_as::<Big>(part, job),
        }
    }

    fn shown<'a>(&self, part: u32, read: &'a PartRead) -> Vec<Shown<'a>> {
        let lane = self.lane_of(part);
        let columns = &read.columns;
        lane.into_iter()
            .map(|lane| Shown { lane, columns })
            .collect()
    }

    fn gather(
        &self,
        read: Vec<stream::PartRead<PartRead>>,
        job: &Job,
    ) -> Result<Gathered, ReadError> {
        let mut found = Found::default();
        let mut parts = Vec::with_capacity(read.len());
        for stream::PartRead { part, read } in read {
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
            inside: Vec::new(),
        };
        if self.prints == PrintTexts::MarksAndEtrace {
            let directory = &mut gathered.directory;
            let lines = found.lines(job)?;
            let lines = self.lines.get_or_init(|| lines);
            let first = directory.kinds.len();
            directory.kinds.extend(lines.kinds(&mut directory.strings));
            let kinds = first as u32..directory.kinds.len() as u32;
            let kinds: Vec<KindId> = kinds.map(KindId).collect();
            lines.add_to(&mut gathered, self.parts.len() as u32, &kinds, job)?;
        }
        Ok(gathered)
    }

    fn facts(&self) -> Option<Vec<u8>> {
        store_inside(&self.lines.get()).ok()
    }

    fn take_facts(&self, facts: &KeptFacts, trace: &Trace) -> Option<()> {
        let lines: Option<Lines> = facts.restored()?;
        self.kinds.take_from(trace);
        match lines {
            Some(lines) => self.lines.set(lines).ok(),
            None => Some(()),
        }
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
        let Some(CpuPages { buffer, data }) = self.source_of_part(event.part) else {
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
        let formats = &self.file.metadata.formats;
        let prints = self.recipes.prints();
        // An event without a format has no fields.
        let format = match kind.index().checked_sub(formats.len()) {
            None => formats.get(kind.index()),
            Some(0) => None,
            Some(of_marks) if of_marks <= prints.len() => {
                let print = prints.get(of_marks - 1);
                print.and_then(|print| formats.get(print.index()))
            }
            Some(_) if self.kinds.origin(kind) == Some(KindOrigin::Mark) => {
                formats.iter().find(|format| format.name == "print")
            }
            // The event is a line of etrace.
            Some(_) => return None,
        };
        let fields = format.map_or(&[][..], |format| &format.fields);
        Some(fields.iter().map(|field| field.name.as_str()).collect())
    }

    fn own_field_reader(&self) -> Option<Box<dyn FieldReader + '_>> {
        let fields = RecordFields::new(&self.file, &self.report_source().decoder);
        let events: &dyn Events = self;
        Some(Box::new(TraceDatFields {
            events: self,
            fields,
            others: events.decoding_reader(),
        }))
    }

    fn record_file(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn memory_bytes(&self) -> u64 {
        self.file.memory_bytes()
            + self.kinds.memory_bytes()
            + self.lines.get().map_or(0, Lines::memory_bytes)
    }
}

/// Reads fields: those of most events directly from their records, those of other events like `decode`.
struct TraceDatFields<'a> {
    events: &'a TraceDat,
    fields: RecordFields<'a>,
    others: DecodingReader<'a>,
}

impl FieldReader for TraceDatFields<'_> {
    fn read(&mut self, event: EventAt<'_>, sink: &mut dyn FieldSink) {
        let source = || self.events.source_of_part(event.part);
        let is_record = (event.part as usize) < self.events.parts.len();
        if !is_record || !self.fields.read(event, source, sink) {
            self.others.read(event, sink);
        }
    }
}

impl HasReport for TraceDat {
    fn report(&self) -> &dyn Report {
        self.report_source()
    }
}
