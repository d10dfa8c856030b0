//! ftrace as text: `trace` and `trace_pipe`, latency reports, function_graph, and `trace-cmd report`.
//!
//! ```text
//! # tracer: nop
//!             bash-96      [001] d..2.    69.626109: sched_switch: prev_comm=bash prev_pid=96 ...
//!  0)   0.541 us    |      mutex_unlock();
//! ```
//!
//! Opening reads only the head. Then all blocks of lines are summarised in parallel (`summary`): the CPUs, and the last
//! event before each block. A block contains lines of all CPUs (`emit`). Events have the same meaning as in binary
//! traces (`recipe`, `event::pairs`); only text has atrace marks. Described in the kernel's
//! `Documentation/trace/ftrace.rst`.
//!
//! Text contains microseconds where the recording contained nanoseconds: lines of the same microsecond are placed one
//! nanosecond apart to keep their order. A clock without a decimal point (counter, x86-tsc) counts events if it
//! increases in small steps, otherwise cycles. Times of the latency format are relative to its start. In function_graph
//! text without a time column, every CPU has its own clock, which durations advance; without durations the clock counts
//! steps.

mod describe;
mod doubles;
mod emit;
mod etrace_call;
mod event_lines;
mod facts;
mod fields;
mod forms;
mod gaps;
mod graph;
mod instances;
mod last;
mod probe_text;
mod raw_graph;
mod reader;
mod recipe;
mod refused;
mod report;
mod sniff;
mod summary;
mod tasks;
mod tracers;
mod with_etrace;

use crate::formats::Format;

use reader::FtraceReader;

/// This format's row in `FORMATS`.
pub const FORMAT: Format = Format {
    name: "ftrace text",
    extensions: &["txt", "ftrace", "systrace"],
    sniff: sniff::sniff,
    read_head: |input, job| Ok(FtraceReader::open(input, job)?.recording()),
    together: None,
    wrapped: None,
    may_be_self_trace: false,
};

#[cfg(test)]
mod tests;
