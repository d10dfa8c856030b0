//! trace-cmd's trace.dat: what `trace-cmd record` writes, versions 6 and 7.
//!
//! ```text
//! header | metadata: event formats, symbols, names | options: clocks, CPUs, where things are | per CPU: pages of its ring buffer
//!
//! header, v6, v7, metadata, options, tables, clock    the head of the file in, a `TraceFile` out (`file`)
//! buffers, page                                       where pages are; the records of a page
//! recipe, switch_state, emit, reader                  the bulk pass: compact columns of all events
//! latency                                             the text of a latency tracer, where a file has no events
//! event_format, print_fmt, plugins, decoder           one record as text
//! describe, report                                    one record in full; the whole trace as trace-cmd prints it
//! ```
//!
//! The byte layouts stand in those files; the specification is trace-cmd's trace-cmd.dat.v6(5) and .v7(5),
//! and the kernel's Documentation/trace/ring-buffer-design.

pub mod btf;
pub mod buffers;
pub mod clock;
mod cpu_stats;
pub mod decoder;
pub mod describe;
pub mod emit;
pub mod event_format;
pub mod file;
pub mod header;
mod latency;
pub mod metadata;
pub mod options;
pub mod page;
pub mod plugins;
pub mod print_fmt;
pub mod reader;
pub mod recipe;
mod recipes;
pub mod report;
pub mod switch_state;
pub mod tables;
mod v6;
mod v7;
mod with_etrace;

pub use file::{CpuRecords, RecordHead, TraceFile};
pub use reader::TraceDat;

use super::format::{Format, Sniff};

/// This format's row in `FORMATS`.
pub const FORMAT: Format = Format {
    name: "trace-cmd (trace.dat)",
    extensions: &["dat"],
    sniff,
    open: reader::open,
    together: None,
};

fn sniff(head: &[u8]) -> Sniff {
    if head.starts_with(&header::MAGIC) {
        Sniff::Yes
    } else {
        Sniff::No
    }
}

/// What stands behind the header.
#[derive(Debug, Default)]
struct Contents {
    metadata: metadata::Metadata,
    options: options::Options,
    buffers: Vec<buffers::Buffer>,
    latency_texts: Vec<Vec<u8>>,
    /// Instances whose data is not where the file says.
    missing: Vec<(u64, String)>,
}
