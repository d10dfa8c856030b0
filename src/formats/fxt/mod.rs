//! Fuchsia's trace format (FXT): a stream of records, each of whole 64-bit words.
//!
//! ```text
//! magic record | { provider info | ticks per second | string | thread | kernel object | event | ... } until the end
//! every record: header word (type, size in words, fields that depend on the type), then its words and padded texts
//! ```
//!
//! Specification: "Fuchsia trace format" of the Fuchsia project; deviations of real writers are described at the code
//! that handles them. Opening reads the head, and a few KB at the start of each part (`borders`, `coarse`). The parts
//! are summarised in parallel (`summary`) and folded in order (`fold`, `rare_records`, `conclude`) into tables of
//! strings and threads with their places (`tables`) and names (`entities`): together they are the facts about the whole
//! file (`scan`). Then the parts are read in parallel (`emit`, `events`, `scheduling`); `describe` decodes any single
//! record again in full.
//!
//! The time axis is the trace's own clock: ticks converted to nanoseconds, even if an initialization record of four
//! words contains the wall-clock time. Files in both byte orders, and files without the magic record, are read.

mod borders;
mod cache;
mod coarse;
mod conclude;
mod describe;
mod emit;
mod entities;
mod events;
mod field_reader;
mod fields;
mod fold;
mod lives;
mod loss_facts;
mod named_objects;
mod objects;
mod other_records;
mod profiler;
mod rare_records;
mod reader;
mod rows;
mod scan;
mod scheduling;
mod settle;
mod sniff;
mod sort;
mod summary;
mod tables;
mod ticks;

use crate::base::{Job, ReadError};
use crate::formats::{Format, Input, Recording};

pub(crate) use reader::FxtReader;

/// This format's row in `FORMATS`.
pub const FORMAT: Format = Format {
    name: "Fuchsia (FXT)",
    extensions: &["fxt"],
    sniff: sniff::sniff,
    read_head: open,
    together: None,
    wrapped: None,
    may_be_self_trace: false,
};

fn open(input: Input, job: &Job) -> Result<Recording, ReadError> {
    job.check()?;
    Ok(FxtReader::open(input)?.recording())
}

#[cfg(test)]
mod tests;
