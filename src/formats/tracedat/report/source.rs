//! The streams and names of a report, from an opened trace.dat.

use std::sync::Arc;

use super::lines::Lines;
use super::setup::styles;
use super::{Buffer, Head, Lost, Setup, Stream, ThreadNames, prefixes, write_report};
use crate::base::{Job, Timestamp};
use crate::formats::event_filter::KindFields;
use crate::formats::record_report::{Choice, List, ReportClock, StepBack, StepsBack};
use crate::formats::report::{Report, ReportLines, ReportOptions};
use crate::formats::tracedat::buffers::CpuIndex;
use crate::formats::tracedat::clock::TimeMap;
use crate::formats::tracedat::decoder::Decoder;
use crate::formats::tracedat::file::{CpuRecords, TraceFile};
use crate::formats::tracedat::metadata::Metadata;
use crate::formats::tracedat::print_fmt::{FunctionAt, Lookup, Parameter};
use crate::formats::tracedat::printed_time::Times;
use crate::formats::tracedat::tables::Cmdlines;
use crate::tracedat::layout::Lost as PageLost;

impl Lookup for Metadata {
    fn enum_value(&self, type_name: &str, value: i64) -> Option<&str> {
        self.btf.name_of(type_name, value)
    }

    fn parameters(&self, function: &str) -> Option<Vec<Parameter<'_>>> {
        self.btf.parameters(function)
    }

    fn symbol(&self, address: u64) -> Option<FunctionAt<'_>> {
        let symbol = self.kallsyms.lookup(address)?;
        // The end of the last symbol is unknown: only its start address is accepted.
        (symbol.size.is_some() || symbol.offset == 0).then_some(FunctionAt {
            name: symbol.name,
            start: symbol.address,
        })
    }

    fn symbol_address(&self, name: &str) -> Option<u64> {
        self.kallsyms.find(name.as_bytes())
    }

    fn printk(&self, address: u64) -> Option<&[u8]> {
        self.printk.lookup(address)
    }
}

impl Lookup for TraceFile {
    fn enum_value(&self, type_name: &str, value: i64) -> Option<&str> {
        self.metadata.enum_value(type_name, value)
    }

    fn parameters(&self, function: &str) -> Option<Vec<Parameter<'_>>> {
        self.metadata.parameters(function)
    }

    fn symbol(&self, address: u64) -> Option<FunctionAt<'_>> {
        self.metadata.symbol(address)
    }

    fn symbol_address(&self, name: &str) -> Option<u64> {
        self.metadata.symbol_address(name)
    }

    fn printk(&self, address: u64) -> Option<&[u8]> {
        Lookup::printk(&self.metadata, address)
    }
}

impl ThreadNames for Cmdlines {
    fn name(&self, pid: i32) -> Option<&[u8]> {
        Cmdlines::name(self, pid)
    }
}

/// Creates the decoder for the events of `file`.
#[must_use]
pub fn decoder_of(file: &Arc<TraceFile>) -> Decoder {
    let formats = file.metadata.formats.iter().cloned();
    let long_size = file.metadata.kernel_long_size();
    Decoder::new(formats, file.endian(), long_size, file.clone())
}

/// Prints the report of a trace.dat.
#[derive(Clone, Debug)]
pub struct TraceReport {
    /// The file.
    pub file: Arc<TraceFile>,
    /// Decoder of its events.
    pub decoder: Arc<Decoder>,
    /// The CPU of each part of the reader. Only needed for [`Choice::Events`].
    pub sources: Vec<CpuIndex>,
}

impl TraceReport {
    /// Returns the report of `file`; `decoder` must have been created for this file.
    #[must_use]
    pub fn new(file: Arc<TraceFile>, decoder: Arc<Decoder>) -> TraceReport {
        TraceReport {
            file,
            decoder,
            sources: Vec::new(),
        }
    }
}

/// The records of one CPU, with times on the trace's clock.
pub(super) struct CpuStream<'a> {
    records: CpuRecords<'a>,
    times: TimeMap,
    plain_offset: Option<i64>,
    head: Option<Head>,
    place: u64,
    /// Sorted places of the events of each [`Choice::Events`].
    lists: Vec<Vec<u64>>,
    offset: i64,
    cpu: u32,
    buffer: usize,
}

impl CpuStream<'_> {
    /// Returns the number of the CPU.
    pub(super) fn number(&self) -> u32 {
        self.cpu
    }

    /// Returns whether the records belong to the buffer with index `buffer`.
    pub(super) fn is_of(&self, buffer: usize) -> bool {
        self.buffer == buffer
    }

    /// Returns the time of the next record; `None` at the end.
    pub(super) fn next_time(&self) -> Option<u64> {
        self.head.map(|head| head.time)
    }

    /// Returns the time of the last record, or `first` if there is none; reads all records.
    pub(super) fn last_time(&mut self, first: u64) -> u64 {
        let mut last = first;
        while let Some(time) = self.next_time() {
            last = time;
            self.advance();
        }
        last
    }
}

impl Stream for CpuStream<'_> {
    fn head(&self) -> Option<Head> {
        self.head
    }

    fn record(&self) -> &[u8] {
        self.records.payload()
    }

    fn advance(&mut self) {
        let record = self.records.advance();
        self.place = record.map_or(0, |record| record.place);
        self.head = record.map(|record| {
            let time = match self.plain_offset {
                Some(offset) => record.raw_time.wrapping_add(offset as u64),
                None => self.times.time(record.raw_time) as u64,
            };
            Head {
                time: time.wrapping_add(self.offset as u64),
                lost: match record.lost {
                    PageLost::No => Lost::None,
                    PageLost::Some => Lost::Unknown,
                    PageLost::Count(count) => Lost::Known(count),
                },
            }
        });
    }

    fn is_listed(&self, list: usize) -> bool {
        let places = self.lists.get(list);
        places.is_some_and(|places| places.binary_search(&self.place).is_ok())
    }

    fn cpu(&self) -> u32 {
        self.cpu
    }

    fn buffer(&self) -> usize {
        self.buffer
    }
}

/// Returns whether trace-cmd prints times of `clock` as seconds with a fraction. It does not for `boot`, and for clocks
/// that are not in its list.
fn is_split(clock: &str) -> bool {
    clock.starts_with("mono")
        || matches!(
            clock,
            "" | "local" | "global" | "uptime" | "perf" | "tai" | "tsc2nsec"
        )
}

impl TraceReport {
    /// Appends the texts of latency tracers, each up to its first NUL.
    pub(super) fn push_latency_texts(&self, out: &mut Vec<u8>) {
        for text in &self.file.latency_texts {
            let length = memchr::memchr(0, text).unwrap_or(text.len());
            out.extend_from_slice(text.get(..length).unwrap_or(text));
            out.push(b'\n');
        }
    }

    /// Returns the parts of the report that are the same for all lines.
    pub(super) fn setup(&self, options: &ReportOptions) -> Setup<'_> {
        let file = &*self.file;
        let names: Vec<&[u8]> = file.buffers.iter().map(|b| b.name.as_bytes()).collect();
        let clocks = file.buffers.iter().map(|buffer| match &*buffer.clock {
            "" => file.options.active_clock().unwrap_or(""),
            clock => clock,
        });
        // trace-cmd takes the clock of recorded times from this option alone, not from a buffer's.
        let is_raw =
            options.records.clock == ReportClock::Raw && !file.options.trace_clock.is_empty();
        let is_converted = file.options.tsc_to_ns.is_some_and(|tsc| tsc.mult != 0);
        let labelled = |name: &[u8], width: usize| {
            let mut prefix = vec![b' '; width.saturating_sub(name.len())];
            prefix.extend_from_slice(name);
            prefix.extend_from_slice(b": ");
            prefix
        };
        let prefixes = match &options.label {
            // The label of the top-level buffer is the file's name; the label of an instance is its own name.
            Some(label) => names
                .iter()
                .map(|name| match name.is_empty() {
                    true => labelled(label.name.as_bytes(), label.width),
                    false => labelled(name, label.width),
                })
                .collect(),
            None => prefixes(&names),
        };
        let buffers = prefixes.into_iter().zip(clocks);
        let buffers = buffers.map(|(prefix, clock)| Buffer {
            prefix,
            times: match options.has_full_times {
                _ if is_raw => Times::Counts,
                _ if !is_split(clock) && !is_converted => Times::Counts,
                true => Times::Nanoseconds,
                false => Times::Microseconds,
            },
        });
        let hooks = file.options.hooks.iter();
        let label = options.label.as_ref();
        Setup {
            decoder: &self.decoder,
            threads: &file.metadata.cmdlines,
            buffers: buffers.collect(),
            hooks: hooks.map(|hook| hook.clone().into_bytes()).collect(),
            cpu_count: file.options.cpu_count.unwrap_or(0),
            // Equals trace-cmd's `use_trace_clock`, which does not depend on the clock's unit.
            has_steps_in_us: !options.has_full_times && !file.options.trace_clock.is_empty(),
            styles: styles(&self.decoder, options),
            head_prefix: label.map_or(Vec::new(), |label| {
                labelled(label.name.as_bytes(), label.head_width)
            }),
        }
    }

    /// Returns one stream for each CPU of each buffer, at its first record.
    pub(super) fn streams(&self, options: &ReportOptions) -> Vec<CpuStream<'_>> {
        let file = &*self.file;
        let mut streams = Vec::new();
        for (index, buffer) in file.buffers.iter().enumerate() {
            let mut cpus: Vec<_> = buffer.cpus.iter().enumerate().collect();
            cpus.sort_by_key(|(_, data)| data.cpu);
            for (number, data) in cpus {
                let times = match options.records.clock {
                    ReportClock::Corrected => file.time_map(data.cpu),
                    ReportClock::WithoutDate => file.time_map(data.cpu).without_date(),
                    ReportClock::Raw => TimeMap::default(),
                };
                let mut stream = CpuStream {
                    records: file.records(data, buffer.page_size),
                    plain_offset: times.plain_offset(),
                    times,
                    head: None,
                    place: 0,
                    lists: self.lists(
                        options,
                        CpuIndex {
                            buffer: index,
                            cpu: number,
                        },
                    ),
                    offset: options.offset,
                    cpu: data.cpu,
                    buffer: index,
                };
                stream.advance();
                streams.push(stream);
            }
        }
        streams
    }

    /// Returns, for each list, the sorted places of its events that belong to one CPU of one buffer.
    fn lists(&self, options: &ReportOptions, source: CpuIndex) -> Vec<Vec<u64>> {
        let selection = options.records.selection.iter();
        let choices = selection.flat_map(|it| it.shown.iter().chain(&it.left_out));
        let places = choices.filter_map(|choice| match choice {
            Choice::Events(events) => {
                let is_here = |part: u32| self.sources.get(part as usize) == Some(&source);
                let here = events.iter().filter(|it| is_here(it.part));
                let mut places: Vec<u64> = here.map(|it| it.place).collect();
                places.sort_unstable();
                Some(places)
            }
            Choice::Filter(_) => None,
        });
        places.collect()
    }
}

impl Report for TraceReport {
    fn write(
        &self,
        options: &ReportOptions,
        out: &mut dyn std::io::Write,
        job: &Job,
    ) -> std::io::Result<()> {
        let (streams, setup) = (self.streams(options), self.setup(options));
        write_report(streams, setup, options, out, job)?;
        let mut texts = Vec::new();
        self.push_latency_texts(&mut texts);
        out.write_all(&texts)?;
        Ok(())
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn lines<'a>(&'a self, options: &'a ReportOptions) -> Option<Box<dyn ReportLines + 'a>> {
        if !self.file.latency_texts.is_empty() {
            return None;
        }
        let lines = Lines::new(self.streams(options), self.setup(options), options);
        Some(Box::new(lines))
    }

    fn start(&self, options: &ReportOptions) -> Option<Timestamp> {
        let streams = self.streams(options);
        let times = streams.iter().filter_map(CpuStream::next_time);
        let first = times.min()?;
        Some(Timestamp(i64::try_from(first).unwrap_or(i64::MAX)))
    }

    fn steps_back(&self, options: &ReportOptions) -> StepsBack {
        let mut steps = StepsBack::default();
        for mut stream in self.streams(options) {
            let cpu = stream.number();
            let mut from = 0;
            while let Some(to) = stream.next_time() {
                if to < from {
                    steps.push(StepBack { cpu, from, to });
                }
                from = to;
                stream.advance();
            }
        }
        steps
    }

    fn kinds(&self) -> Option<Vec<KindFields<'_>>> {
        let kinds = self.decoder.kinds().iter();
        let kinds = kinds.map(|kind| KindFields {
            system: kind.format.system.as_bytes(),
            name: kind.format.name.as_bytes(),
            fields: Some(
                kind.format
                    .fields
                    .iter()
                    .map(|it| it.name.as_str())
                    .collect(),
            ),
        });
        Some(kinds.collect())
    }

    fn instances(&self) -> Vec<String> {
        let buffers = self.file.buffers.iter();
        let names = buffers.map(|buffer| buffer.name.clone());
        names.filter(|name| !name.is_empty()).collect()
    }

    fn list(&self, list: List, options: &ReportOptions) -> Option<Vec<u8>> {
        Some(self.list_text(list, options))
    }
}
