//! Chrome's JSON trace events: what compilers, build tools, profilers and browsers write for `chrome://tracing`.
//!
//! ```text
//! {"traceEvents":[ event, event, ... ], "stackFrames":{..}, "otherData":{..}, ...}   or   [ event, event, ...
//! event: {"ph":"X","name":"parse","cat":"c","ts":12.345,"dur":3.2,"pid":1,"tid":2,"args":{..}}
//! ```
//!
//! Specification: "Trace Event Format" of the Chromium project; `docs/chrome-json.md` describes how each phase is
//! shown, and where this reader follows catapult and where Perfetto. Opening reads the head (`head`) and cuts the file
//! at positions that look like starts of events (`walk`). The parts are read in parallel, independently of each other
//! (`emit`, `event`, `people`), and joined in order (`reader`), which detects wrongly guessed borders. `describe` reads
//! one event again in full. All of this works on the bytes of the file (`scan`, `text`, `numbers`); values are copied
//! only when needed.
//!
//! Metadata events (`M`) are not events of the trace: they name processes and threads; the others are facts about the
//! file (`facts`).

mod arrows;
mod asyncs;
mod counters;
mod damage;
mod describe;
mod emit;
mod event;
mod facts;
mod head;
mod ids;
mod metadata;
mod numbers;
mod own;
mod people;
mod reader;
mod scan;
mod system_trace;
mod text;
mod walk;

use crate::base::{Job, ReadError};
use crate::formats::{Format, Input, Recording, Sniff};

use head::Head;
use reader::JsonReader;
use system_trace::lone_system_trace;

/// This format's row in `FORMATS`.
pub const FORMAT: Format = Format {
    name: "Chrome JSON",
    extensions: &["json", "time-trace"],
    sniff,
    read_head: open,
    together: None,
    wrapped: Some(lone_system_trace),
    may_be_self_trace: true,
};

fn sniff(head: &[u8]) -> Sniff {
    Head::of(head).sniff
}

fn open(input: Input, job: &Job) -> Result<Recording, ReadError> {
    job.check()?;
    Ok(JsonReader::open(input)?.recording())
}

/// Opens a file with parts of about `part_bytes`, so that tests can cut small files into several parts.
///
/// # Errors
/// If nothing of the file can be shown.
pub fn open_in_parts(input: Input, part_bytes: usize) -> Result<Recording, ReadError> {
    Ok(JsonReader::open_in_parts(input, part_bytes)?.recording())
}

#[cfg(test)]
mod tests;
