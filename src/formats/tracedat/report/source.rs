//! An opened trace.dat in, the streams and names that the report is made of out.

use std::sync::Arc;

use super::{Buffer, Head, Lost, Setup, Stream, ThreadNames, prefixes, write_report};
use crate::base::Job;
use crate::formats::format::{Report, ReportOptions};
use crate::formats::tracedat::clock::TimeMap;
use crate::formats::tracedat::decoder::Decoder;
use crate::formats::tracedat::file::{CpuRecords, TraceFile};
use crate::formats::tracedat::metadata::Metadata;
use crate::formats::tracedat::page;
use crate::formats::tracedat::plugins::Times;
use crate::formats::tracedat::print_fmt::Lookup;
use crate::formats::tracedat::tables::Cmdlines;

impl Lookup for Metadata {
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
}

/// One CPU's records with their times on the trace's clock.
struct CpuStream<'a> {
    records: CpuRecords<'a>,
    times: TimeMap,
    plain_offset: Option<i64>,
    head: Option<Head>,
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
        self.head = self.records.advance().map(|record| Head {
            time: match self.plain_offset {
                Some(offset) => record.raw_time.wrapping_add(offset as u64),
                None => self.times.time(record.raw_time) as u64,
            },
            lost: match record.lost {
                page::Lost::No => Lost::None,
                page::Lost::Some => Lost::Unknown,
                page::Lost::Count(count) => Lost::Known(count),
            },
        });
    }

    fn cpu(&self) -> u32 {
        self.cpu
    }

    fn buffer(&self) -> usize {
        self.buffer
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

impl Report for TraceReport {
    fn write(
        &self,
        options: &ReportOptions,
        out: &mut dyn std::io::Write,
        job: &Job,
    ) -> std::io::Result<()> {
        let file = &*self.file;
        let names: Vec<&[u8]> = file.buffers.iter().map(|b| b.name.as_bytes()).collect();
        let clocks = file.buffers.iter().map(|buffer| match &*buffer.clock {
            "" => file.options.active_clock().unwrap_or(""),
            clock => clock,
        });
        let is_converted = file.options.tsc_to_ns.is_some_and(|tsc| tsc.mult != 0);
        let buffers = prefixes(&names)
            .into_iter()
            .zip(clocks)
            .map(|(prefix, clock)| Buffer {
                prefix,
                times: match options.has_full_times {
                    _ if !is_split(clock) && !is_converted => Times::Counts,
                    true => Times::Nanoseconds,
                    false => Times::Microseconds,
                },
            })
            .collect();
        let mut streams = Vec::new();
        for (index, buffer) in file.buffers.iter().enumerate() {
            let mut cpus: Vec<_> = buffer.cpus.iter().collect();
            cpus.sort_by_key(|data| data.cpu);
            for data in cpus {
                let times = file.time_map(data.cpu);
                let mut stream = CpuStream {
                    records: file.records(data, buffer.page_size),
                    plain_offset: times.plain_offset(),
                    times,
                    head: None,
                    cpu: data.cpu,
                    buffer: index,
                };
                stream.advance();
                streams.push(stream);
            }
        }
        let hooks = file.options.hooks.iter();
        let setup = Setup {
            decoder: &self.decoder,
            threads: &file.metadata.cmdlines,
            buffers,
            hooks: hooks.map(|hook| hook.clone().into_bytes()).collect(),
            cpu_count: file.options.cpu_count.unwrap_or(0),
        };
        write_report(streams, &setup, options, out, job)?;
        for text in &file.latency_texts {
            let length = memchr::memchr(0, text).unwrap_or(text.len());
            out.write_all(text.get(..length).unwrap_or(text))?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}
