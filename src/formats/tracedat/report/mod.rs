//! Prints a whole trace as `trace-cmd report` does: merges streams of records and prints lines in time order.
//!
//! One thread merges the streams and copies the records of a few thousand lines into a `Batch`; meanwhile the other
//! threads print the lines of the previous batch. The merge determines what a line needs from earlier records (names
//! from sched_switch, calls that return at once, indentation of functions).
//!
//! The text equals trace-cmd's byte for byte, except where trace-cmd's text is wrong and the kernel's own text for the
//! same events is right. Intended differences from trace-cmd (each has a test or a case in `tests/`):
//!
//! - print formats that trace-cmd's library cannot parse (`[FAILED TO PARSE]`): they are evaluated, or the fields are
//!   listed;
//! - C: `a - b - c`, `a & (b | c)`, `a ? b : c ? d : e`, `^`, comparisons and shifts of negative numbers, casts to
//!   signed types, array elements after casts;
//! - signs of 8 and 16 bit fields, of the longs of 32-bit kernels, of priorities in wakeups;
//! - conversions that trace-cmd's library does not support (`%c`, `%+d`, `%*pbl`, `%*ph` of fixed arrays, `%px` with a
//!   stray `x`);
//! - arrays of probes with elements of more than one byte, and arrays of strings;
//! - files of the other byte order: constant strings by address, arrays, socket addresses;
//! - table rows with negative values; raw data of 32-bit kernels, where trace-cmd repeats every second word;
//! - bytes after the end of a record, which trace-cmd shows;
//! - losses before a page that starts with a time stamp, which trace-cmd omits; instances with a clock of their own.

mod line;
mod lines;
mod lists;
mod merge;
mod selected;
mod setup;
pub mod source;
mod wakeups;

use std::io::{Error, ErrorKind, Write};
use std::sync::Arc;

pub(crate) use setup::{Buffer, Head, Lost, Setup, Stream, ThreadNames, prefixes};

use super::decoder::Memory;
use crate::base::Job;
use crate::formats::report::ReportOptions;
use line::push_line;
use merge::{BATCH_LINES, Batch, Merge};
use setup::Look;

/// Number of lines that one thread prints at a time.
const CHUNK_LINES: usize = 2_048;

/// Writes the report of `streams`. At equal times, records are printed in the order of the streams.
///
/// # Errors
/// Those of `out`; `Interrupted` if the job is cancelled.
pub(crate) fn write_report<S: Stream>(
    streams: Vec<S>,
    setup: Setup<'_>,
    options: &ReportOptions,
    out: &mut dyn Write,
    job: &Job,
) -> std::io::Result<()> {
    let setup = &Arc::new(setup);
    out.write_all(&setup.head())?;
    let look = Look::of(options);
    let mut merge = Merge::new(streams, Arc::clone(setup), options, look);
    let mut ready = Batch::default();
    let mut filling = Batch::default();
    // Buffers and per-thread state are reused between batches.
    let mut makers: Vec<(Vec<u8>, Memory)> = Vec::new();
    merge.fill(&mut ready);
    while !ready.lines.is_empty() {
        if job.check().is_err() {
            return Err(Error::from(ErrorKind::Interrupted));
        }
        let chunk = if ready.is_serial {
            BATCH_LINES
        } else {
            CHUNK_LINES
        };
        let chunks = ready.lines.chunks(chunk);
        let maker = || {
            let options = look.functions;
            let memory = Memory {
                options,
                ..Memory::default()
            };
            (Vec::new(), memory)
        };
        makers.resize_with(chunks.len().max(makers.len()), maker);
        rayon::in_place_scope(|scope| {
            for (lines, (text, memory)) in chunks.zip(&mut makers) {
                let batch = &ready;
                scope.spawn(move |_| {
                    for line in lines {
                        push_line(text, batch, line, setup, look, memory, None);
                    }
                });
            }
            merge.fill(&mut filling);
        });
        for (text, _) in &mut makers {
            out.write_all(text)?;
            text.clear();
        }
        std::mem::swap(&mut ready, &mut filling);
    }
    Ok(())
}
