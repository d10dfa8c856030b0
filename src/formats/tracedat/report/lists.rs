//! Lists that trace-cmd prints about a file instead of its events: statistics, kinds of events, symbols, CPUs.

use std::fmt::Write;

use super::source::TraceReport;
use crate::formats::record_report::List;
use crate::formats::report::ReportOptions;
use crate::formats::tracedat::printed_time::{Times, push_time};

/// Text that trace-cmd prints before the statistics of the CPUs.
const STATISTICS: &str = "\nKernel buffer statistics:\n  \
    Note: \"entries\" are the entries left in the kernel ring buffer and are not\n        \
    recorded in the trace data. They should all be zero.\n\n";

/// Maximum number of CPUs that are listed.
const MOST_CPU: u32 = 8192;

/// The event of a CPU that is searched for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    First,
    Last,
}

impl TraceReport {
    /// Returns a list as trace-cmd prints it.
    pub(super) fn list_text(&self, list: List, options: &ReportOptions) -> Vec<u8> {
        let file = &*self.file;
        let mut text = Vec::new();
        match list {
            List::Statistics => return self.statistics(options),
            List::Formats => {
                // Formats of system `ftrace` are the same on every machine: trace-cmd omits them.
                let systems = file.metadata.format_texts.iter();
                for (system, formats) in systems.filter(|(system, _)| system != "ftrace") {
                    text.extend_from_slice(format!("\nsystem: {system}\n").as_bytes());
                    text.extend_from_slice(formats);
                }
            }
            List::Events => {
                let formats = file.metadata.formats.iter();
                let mut names: Vec<_> = formats.map(|it| (&it.system, &it.name, it.id)).collect();
                names.sort_unstable();
                for (system, name, _) in names {
                    text.extend_from_slice(format!("{system}:{name}\n").as_bytes());
                }
            }
            List::ByteOrder => {
                let name = |is_big: bool| if is_big { "big" } else { "little" };
                let of_file = name(file.endian() == crate::base::Endian::Big);
                let of_host = name(cfg!(target_endian = "big"));
                let words = format!("file is {of_file} endian and host is {of_host} endian\n");
                text.extend_from_slice(words.as_bytes());
            }
            List::PageSize => {
                let words = format!(
                    "file page size is {}, and host page size is {}\n",
                    file.header.page_size,
                    crate::base::system::memory::page_bytes()
                );
                text.extend_from_slice(words.as_bytes());
            }
            List::Functions => {
                for symbol in file.metadata.kallsyms.iter() {
                    text.extend_from_slice(format!("{:016x} ", symbol.address).as_bytes());
                    text.extend_from_slice(symbol.name);
                    if !symbol.module.is_empty() {
                        text.extend_from_slice(b" [");
                        text.extend_from_slice(symbol.module);
                        text.push(b']');
                    }
                    text.push(b'\n');
                }
            }
            List::PrintFormats => {
                for (address, format) in file.metadata.printk.iter() {
                    text.extend_from_slice(format!("{address:016x} ").as_bytes());
                    text.extend_from_slice(format);
                    text.push(b'\n');
                }
            }
            List::System => {
                text = self.setup(options).head();
                for words in [&file.options.uname, &file.options.version] {
                    text.extend_from_slice(words.trim_end_matches('\0').as_bytes());
                    text.push(b'\n');
                }
            }
            List::Version => {
                text = self.setup(options).head();
                let version = file.options.version.trim_end_matches('\0');
                text.extend_from_slice(format!("{version}\n").as_bytes());
            }
            List::Cpus => self.push_cpus(&mut text, &[], options),
            List::FirstEvents => self.push_cpus(&mut text, &[Edge::First], options),
            List::LastEvents => self.push_cpus(&mut text, &[Edge::Last], options),
        }
        text
    }

    /// Appends the CPUs of the top-level buffer that have data, with the times of their first or last events.
    fn push_cpus(&self, text: &mut Vec<u8>, edges: &[Edge], options: &ReportOptions) {
        let file = &*self.file;
        let given = options.path.as_ref();
        let given = given.map(|path| path.as_os_str().as_encoded_bytes());
        let name = given.unwrap_or(file.input.file_name.as_bytes());
        for part in [b"List of CPUs in ", name, b" with data:\n"] {
            text.extend_from_slice(part);
        }
        let Some(index) = file.buffers.iter().position(|it| it.name.is_empty()) else {
            return;
        };
        let times = self.setup(options).buffers.get(index).map(|it| it.times);
        let times = times.unwrap_or(Times::Nanoseconds);
        for mut stream in self.streams(options) {
            let Some(first) = stream.next_time().filter(|_| stream.is_of(index)) else {
                continue;
            };
            text.extend_from_slice(format!("  {}", stream.number()).as_bytes());
            for edge in edges {
                let (words, time) = match edge {
                    Edge::First => ("\tFirst event:", first),
                    Edge::Last => ("\tLast event:", stream.last_time(first)),
                };
                text.extend_from_slice(words.as_bytes());
                push_time(text, time, times);
            }
            text.push(b'\n');
        }
    }

    fn statistics(&self, options: &ReportOptions) -> Vec<u8> {
        let file = &*self.file;
        let mut text = self.setup(options).head();
        if !file.latency_texts.is_empty() {
            self.push_latency_texts(&mut text);
            return text;
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
        // trace-cmd unpacks packed pages into a separate file, starting at the file's second page, and prints offsets
        // in that file.
        let mut unpacked = top.map_or(0, |top| u64::from(top.page_size));
        // CPUs after the last CPU with data are not listed.
        let last = top.and_then(|top| top.cpus.iter().map(|data| data.cpu).max());
        let listed = match last {
            Some(last) => last.checked_add(1),
            // A file of version 7 lists the CPUs of each buffer; one of version 6 has a table of all CPUs.
            None if file.header.version >= 7 => None,
            None => file.options.cpu_count,
        };
        let mut lines = String::new();
        for cpu in 0..listed.unwrap_or(0).min(MOST_CPU) {
            let mut cpus = top.iter().flat_map(|top| &top.cpus);
            let (offset, size) = match cpus.find(|data| data.cpu == cpu) {
                Some(data) if data.chunks.is_some() => (unpacked, data.stream_size),
                Some(data) => (data.offset, data.stream_size),
                None => (0, 0),
            };
            unpacked = unpacked.saturating_add(size);
            let _ = writeln!(
                lines,
                "CPU{cpu} data recorded at offset={offset:#x}\n    {size} bytes in size"
            );
        }
        text.extend_from_slice(lines.as_bytes());
        text
    }
}
