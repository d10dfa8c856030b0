//! trace-cmd's trace.dat, which `trace-cmd record` writes; versions 6 and 7.
//!
//! ```text
//! header | metadata: event formats, symbols, names | options: clocks, CPUs, positions | ring-buffer pages of each CPU
//!
//! header, v6, v7, contents,                           the start of the file, read as a `TraceFile` (`file`)
//!   metadata, options, tables, clock
//! buffers, page                                       file offsets of pages; the records of a page
//! recipe, switch_state, emit, reader                  the bulk pass: compact columns of all events
//! latency                                             the text of a latency tracer, if a file has no events
//! event_format, print_fmt, kind, plugins, decoder     one record as text
//! describe, field_reader, report                      one record in full; fields of many; trace-cmd's report
//! ```
//!
//! The byte layouts are described in these modules. Specifications: trace-cmd's trace-cmd.dat.v6(5) and .v7(5), and the
//! kernel's Documentation/trace/ring-buffer-design.

mod about;
pub(crate) mod btf;
pub mod buffers;
pub(crate) mod clock;
mod coarse;
pub(crate) mod contents;
pub(crate) mod cpu_stats;
pub mod decoder;
pub mod describe;
pub(crate) mod emit;
pub mod event_format;
mod field_reader;
pub mod file;
pub mod header;
pub mod kind;
mod latency;
pub mod metadata;
pub mod options;
pub mod page;
mod part_pages;
pub(crate) mod plugins;
pub mod print_fmt;
pub mod printed_time;
pub mod reader;
pub(crate) mod recipe;
mod recipes;
pub mod report;
pub(crate) mod switch_state;
pub mod tables;
mod v6;
mod v7;
mod with_etrace;

pub use file::TraceFile;
pub(crate) use reader::TraceDat;

use super::format::{Format, Input, Sniff};
use super::stream::Recording;
use crate::base::{Job, Location, ReadError, Severity};
use crate::tracedat::layout::MAGIC;
use std::sync::Arc;

/// This format's row in `FORMATS`.
pub const FORMAT: Format = Format {
    name: "trace-cmd (trace.dat)",
    extensions: &["dat"],
    sniff,
    read_head: open,
    together: None,
    wrapped: None,
    may_be_self_trace: false,
};

fn sniff(head: &[u8]) -> Sniff {
    if head.starts_with(&MAGIC) {
        Sniff::Yes
    } else {
        Sniff::No
    }
}

/// Opens a trace.dat.
///
/// # Errors
/// As [`TraceFile::open`].
fn open(input: Input, _job: &Job) -> Result<Recording, ReadError> {
    let reader = Arc::new(TraceDat::open(input)?);
    let mut recording = TraceDat::recording(&reader);
    recording.instead = latency::text_instead_of_events(&reader);
    if recording.instead.is_some() {
        let diagnostics = &mut recording.diagnostics;
        diagnostics.note("latency_text", Severity::Info, Location::Byte(0), || {
            "the file contains the text of a latency tracer in place of events: its lines are shown"
                .into()
        });
    }
    Ok(recording)
}
