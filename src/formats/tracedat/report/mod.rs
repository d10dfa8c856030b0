//! A whole trace as `trace-cmd report` prints it: streams of records in, lines in time order out.
//!
//! The streams are merged by one thread, which copies the records of a few thousand lines into a `Batch`;
//! the lines of the batch before are made by the other threads meanwhile. What a line needs to know of those
//! before it (names learned from sched_switch, calls that return at once, how deep a function is indented)
//! is settled while merging.
//!
//! The text is trace-cmd's, byte for byte, but where it is wrong and the kernel's own text of the same events
//! right. On purpose are other than trace-cmd's (each has a test or a case in `tests/`):
//!
//! - print formats that its library gives up on (`[FAILED TO PARSE]`): evaluated, or the fields listed;
//! - C: `a - b - c`, `a & (b | c)`, `a ? b : c ? d : e`, `^`, comparisons and shifts of negative numbers, casts to
//!   signed types, array elements behind casts;
//! - signs of 8 and 16 bit fields, of the longs of 32-bit kernels, of priorities in wakeups;
//! - conversions that it does not know (`%c`, `%+d`, `%*pbl`, `%*ph` of fixed arrays, `%px` with a stray `x`);
//! - elements of probes' arrays of more than one byte, strings of arrays;
//! - files of the other byte order: constant strings by address, arrays, socket addresses;
//! - table rows with negative values; raw data of 32-bit kernels, of which it repeats every second word;
//! - bytes behind the end of a record, which it shows;
//! - losses before a page that begins with a time stamp, which it forgets; instances with a clock of their own.

mod line;
mod lines;
mod merge;
pub mod source;
mod wakeups;

use std::io::{Error, ErrorKind, Write};
use std::sync::Arc;

use super::decoder::{Decoder, Memory, Style};
use super::plugins::Times;
use super::print_fmt::Addresses;
use crate::base::Job;
use crate::formats::format::{FunctionOptions, ReportOptions};
use line::{hook_line, push_line};
use merge::{Batch, Merge};

/// How many lines are made at a time.
const BATCH_LINES: usize = 16_384;

/// How many of them one thread makes at a time.
const CHUNK_LINES: usize = 2_048;

/// Where a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Time of the next record on the printed clock.
    pub time: u64,
    /// Events lost before it.
    pub lost: Lost,
}

/// Whether events were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lost {
    /// No.
    #[default]
    None,
    /// That many.
    Known(u64),
    /// Nobody counted them.
    Unknown,
}

/// The records of one CPU of one buffer, in order.
pub trait Stream: Send {
    /// The next record's time; `None` at the end.
    fn head(&self) -> Option<Head>;
    /// The next record's bytes.
    fn record(&self) -> &[u8];
    /// Goes on to the record after it.
    fn advance(&mut self);
    /// The CPU.
    fn cpu(&self) -> u32;
    /// Index into [`Setup::buffers`].
    fn buffer(&self) -> usize;
    /// Whether the next record is one of those that are wanted ([`ReportOptions::only`]).
    fn is_chosen(&self) -> bool {
        true
    }
}

/// A buffer: the trace itself, or an instance.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// What its lines begin with.
    pub prefix: Vec<u8>,
    /// How its times are printed.
    pub times: Times,
}

/// Who is who.
pub trait ThreadNames {
    /// The name of thread `pid`.
    fn name(&self, pid: i32) -> Option<&[u8]>;
}

/// All that stays the same for every line.
pub struct Setup<'a> {
    /// Decodes the events.
    pub decoder: &'a Decoder,
    /// The names of threads, as the file has them.
    pub threads: &'a (dyn ThreadNames + Sync),
    /// The buffers, in the order in which equal times are printed.
    pub buffers: Vec<Buffer>,
    /// What `trace-cmd record -H` was told: each becomes a line before all others.
    pub hooks: Vec<Vec<u8>>,
    /// The number in the line after them.
    pub cpu_count: u32,
    /// What that line begins with.
    pub head_prefix: Vec<u8>,
}

impl Setup<'_> {
    /// What stands before the first event.
    fn head(&self) -> Vec<u8> {
        let mut head: Vec<u8> = self.hooks.iter().flat_map(|hook| hook_line(hook)).collect();
        head.extend_from_slice(&self.head_prefix);
        head.extend_from_slice(format!("cpus={}\n", self.cpu_count).as_bytes());
        head
    }
}

/// What becomes of the options that the user gave.
#[derive(Clone, Copy, Debug)]
struct Look {
    style: Style,
    has_flags: bool,
    has_latency_columns: bool,
    functions: FunctionOptions,
}

impl Look {
    fn of(options: &ReportOptions) -> Look {
        Look {
            style: match (options.is_raw, options.is_plain) {
                (true, _) if options.has_no_flags => Style::Raw(Addresses::Named),
                (true, _) => Style::Raw(Addresses::Shown),
                (_, true) => Style::Plain,
                _ => Style::Plugins,
            },
            has_flags: !options.has_no_flags || options.has_latency_columns,
            has_latency_columns: options.has_latency_columns,
            functions: options.functions,
        }
    }
}

/// Prefixes of lines: blanks for the trace itself (an empty name), `name: ` for instances. None if there
/// are no instances.
#[must_use]
pub fn prefixes(names: &[&[u8]]) -> Vec<Vec<u8>> {
    if names.iter().all(|name| name.is_empty()) {
        return vec![Vec::new(); names.len()];
    }
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    let prefix = |name: &&[u8]| {
        let mut prefix = vec![b' '; width - name.len()];
        prefix.extend_from_slice(name);
        prefix.extend_from_slice(if name.is_empty() { b"  " } else { b": " });
        prefix
    };
    names.iter().map(prefix).collect()
}

/// Writes the report of `streams` (in the order in which equal times are printed).
///
/// # Errors
/// Those of `out`; `Interrupted` if the job is cancelled.
pub fn write_report<S: Stream>(
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
    // Texts and memories are kept from batch to batch.
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
