//! An opened trace.dat in, the streams and names that the report is made of out.

use std::sync::Arc;

use super::lines::Lines;
use super::{Buffer, Head, Lost, Setup, Stream, ThreadNames, prefixes, write_report};
use crate::base::Job;
use crate::formats::format::{Report, ReportLines, ReportOptions};
use crate::formats::tracedat::clock::TimeMap;
use crate::formats::tracedat::decoder::Decoder;
use crate::formats::tracedat::file::{CpuRecords, TraceFile};
use crate::formats::tracedat::metadata::Metadata;
use crate::formats::tracedat::page;
use crate::formats::tracedat::plugins::Times;
use crate::formats::tracedat::print_fmt::Lookup;
use crate::formats::tracedat::tables::Cmdlines;

impl Lookup for Metadata {
    fn enum_value(&self, type_name: &str, value: i64) -> Option<&str> {
        self.btf.name_of(type_name, value)
    }

    fn symbol(&self, address: u64) -> Option<(&[u8], u64)> {
        let symbol = self.kallsyms.lookup(address)?;
        // Nobody knows where the last one ends.
        (symbol.size.is_some() || symbol.offset == 0).then_some((symbol.name, symbol.address))
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

    fn symbol(&self, address: u64) -> Option<(&[u8], u64)> {
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

/// The decoder for the events of `file`.
#[must_use]
pub fn decoder_of(file: &Arc<TraceFile>) -> Decoder {
    let formats = file.metadata.formats.iter().cloned();
    let long_size = file.metadata.kernel_long_size();
    Decoder::new(formats, file.endian(), long_size, file.clone())
}

/// Prints a trace.dat.
#[derive(Clone, Debug)]
pub struct TraceReport {
    /// The file.
    pub file: Arc<TraceFile>,
    /// Its events' decoder.
    pub decoder: Arc<Decoder>,
    /// Of each part of its reader: index of its buffer, and of its CPU there. Only [`ReportOptions::only`] needs it.
    pub sources: Vec<(usize, usize)>,
}

impl TraceReport {
    /// Prints `file`, with a decoder that was made for it.
    #[must_use]
    pub fn new(file: Arc<TraceFile>, decoder: Arc<Decoder>) -> TraceReport {
        TraceReport {
            file,
            decoder,
            sources: Vec::new(),
        }
    }
}

/// One CPU's records with their times on the trace's clock.
struct CpuStream<'a> {
    records: CpuRecords<'a>,
    times: TimeMap,
    plain_offset: Option<i64>,
    head: Option<Head>,
    place: u64,
    /// The places that are wanted, sorted; `None`: all.
    chosen: Option<Vec<u64>>,
    offset: i64,
    cpu: u32,
    buffer: usize,
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
                    page::Lost::No => Lost::None,
                    page::Lost::Some => Lost::Unknown,
                    page::Lost::Count(count) => Lost::Known(count),
                },
            }
        });
    }

    fn is_chosen(&self) -> bool {
        let chosen = self.chosen.as_ref();
        chosen.is_none_or(|chosen| chosen.binary_search(&self.place).is_ok())
    }

    fn cpu(&self) -> u32 {
        self.cpu
    }

    fn buffer(&self) -> usize {
        self.buffer
    }
}

/// What trace-cmd says before the counts of CPUs.
const STATISTICS: &str = "\nKernel buffer statistics:\n  \
    Note: \"entries\" are the entries left in the kernel ring buffer and are not\n        \
    recorded in the trace data. They should all be zero.\n\n";

/// CPUs have smaller numbers.
const MOST_CPU: u32 = 8192;

/// Appends the texts of latency tracers, each up to its end.
fn push_latency_texts(texts: &[Vec<u8>], out: &mut Vec<u8>) {
    for text in texts {
        let length = memchr::memchr(0, text).unwrap_or(text.len());
        out.extend_from_slice(text.get(..length).unwrap_or(text));
        out.push(b'\n');
    }
}

/// Whether trace-cmd prints the times of this clock as seconds and their parts: not those of boot, nor
/// those of a clock that it does not know.
fn is_split(clock: &str) -> bool {
    clock.starts_with("mono")
        || matches!(
            clock,
            "" | "local" | "global" | "uptime" | "perf" | "tai" | "tsc2nsec"
        )
}

impl TraceReport {
    /// What stays the same for every line.
    fn setup(&self, options: &ReportOptions) -> Setup<'_> {
        let file = &*self.file;
        let names: Vec<&[u8]> = file.buffers.iter().map(|b| b.name.as_bytes()).collect();
        let clocks = file.buffers.iter().map(|buffer| match &*buffer.clock {
            "" => file.options.active_clock().unwrap_or(""),
            clock => clock,
        });
        let is_converted = file.options.tsc_to_ns.is_some_and(|tsc| tsc.mult != 0);
        let labelled = |name: &[u8], width: usize| {
            let mut prefix = vec![b' '; width.saturating_sub(name.len())];
            prefix.extend_from_slice(name);
            prefix.extend_from_slice(b": ");
            prefix
        };
        let prefixes = match &options.label {
            // The trace itself has the file's name, an instance its own.
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
            head_prefix: label.map_or(Vec::new(), |label| {
                labelled(label.name.as_bytes(), label.head_width)
            }),
        }
    }

    /// The records of all CPUs of all buffers.
    fn streams(&self, options: &ReportOptions) -> Vec<CpuStream<'_>> {
        let file = &*self.file;
        let mut streams = Vec::new();
        for (index, buffer) in file.buffers.iter().enumerate() {
            let mut cpus: Vec<_> = buffer.cpus.iter().enumerate().collect();
            cpus.sort_by_key(|(_, data)| data.cpu);
            for (number, data) in cpus {
                let times = file.time_map(data.cpu);
                let mut stream = CpuStream {
                    records: file.records(data, buffer.page_size),
                    plain_offset: times.plain_offset(),
                    times,
                    head: None,
                    place: 0,
                    chosen: self.chosen(options, (index, number)),
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

    /// The wanted places of one CPU of one buffer.
    fn chosen(&self, options: &ReportOptions, source: (usize, usize)) -> Option<Vec<u64>> {
        let only = options.only.as_ref()?;
        let is_here = |part: u32| self.sources.get(part as usize) == Some(&source);
        let here = only.iter().filter(|(part, _)| is_here(*part));
        let mut places: Vec<u64> = here.map(|(_, place)| *place).collect();
        places.sort_unstable();
        Some(places)
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
        push_latency_texts(&self.file.latency_texts, &mut texts);
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

    fn instances(&self) -> Vec<String> {
        let buffers = self.file.buffers.iter();
        let names = buffers.map(|buffer| buffer.name.clone());
        names.filter(|name| !name.is_empty()).collect()
    }

    fn statistics(&self) -> Option<Vec<u8>> {
        let file = &*self.file;
        let mut text = self.setup(&ReportOptions::default()).head();
        if !file.latency_texts.is_empty() {
            push_latency_texts(&file.latency_texts, &mut text);
            return Some(text);
        }
        text.extend_from_slice(STATISTICS.as_bytes());
        for stats in &file.options.cpu_stats {
            text.extend_from_slice(stats.trim_end_matches('\0').as_bytes());
            text.push(b'\n');
        }
        if file.options.cpu_stats.is_empty() {
            text.extend_from_slice(b" No stats in this file");
        }
        text.push(b'\n');
        let top = file.buffers.iter().find(|buffer| buffer.name.is_empty());
        // trace-cmd unpacks packed pages into a file of their own, from its second page on.
        let mut unpacked = top.map_or(0, |top| u64::from(top.page_size));
        // CPUs behind the last one with data are not listed.
        let last = top.and_then(|top| top.cpus.iter().map(|data| data.cpu).max());
        let listed = last.map_or(file.options.cpu_count, |last| last.checked_add(1));
        for cpu in 0..listed.unwrap_or(0).min(MOST_CPU) {
            let mut cpus = top.iter().flat_map(|top| &top.cpus);
            let (offset, size) = match cpus.find(|data| data.cpu == cpu) {
                Some(data) if data.chunks.is_some() => (unpacked, data.stream_size),
                Some(data) => (data.offset, data.stream_size),
                None => (0, 0),
            };
            unpacked += size;
            let line =
                format!("CPU{cpu} data recorded at offset={offset:#x}\n    {size} bytes in size\n");
            text.extend_from_slice(line.as_bytes());
        }
        Some(text)
    }

    fn event_formats(&self) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        let systems = self.file.metadata.format_texts.iter();
        // Those of the tracers themselves are the same on every machine: trace-cmd leaves them out.
        for (system, formats) in systems.filter(|(system, _)| system != "ftrace") {
            text.extend_from_slice(format!("\nsystem: {system}\n").as_bytes());
            text.extend_from_slice(formats);
        }
        Some(text)
    }
}
