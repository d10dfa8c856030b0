//! Lines of the build tracer of Samsung's CAS ("Build Awareness Service"): text in, calls with their texts out. The
//! lines are in the tracer's own files (`formats::etrace`) and in recordings of ftrace, through which it writes
//! (`embedded`).
//!
//! ```text
//! INITCWD=<directory>                                       first line of a file; not in per-CPU part files
//! 0: upid,cpu,seconds,nanoseconds!TAG|key=number,...        a call (`line`)
//! 0: upid,cpu,seconds,nanoseconds!TAG|text                  a text of the preceding call of the same task (`calls`)
//! CPU:n [LOST m EVENTS]                                     a gap; [LOST EVENTS] if the count is unknown
//! ```
//!
//! Specification: the tracer's description in the CAS project, and the output of its kernel module, which files follow
//! if both differ. Lines of different tasks interleave freely, and the lines of several CPUs are only nearly in time
//! order:
//!
//! ```text
//! text -> parts: | tokens, by task |  | tokens, by task |      `tokens`: in parallel; parts are independent
//!           task:  all its lines in time order                 `by_task`
//!                  its calls, with all their texts             `emit`, `calls`, `rows`: in parallel, task by task
//!        columns: | earlier calls |    | later calls |         `columns`: in parallel; `gather` runs all steps
//! ```
//!
//! Keys of tasks come from `upids`; `describe` decodes any single call again in full, with the order of lines that
//! `reordered` keeps; `embedded` reads the lines inside other recordings in the same way.
//!
//! The lines contain no thread groups (only the old clone call shows that a task is a thread), signals, failed execs,
//! and nothing about the time between lines.

mod by_task;
mod calls;
mod columns;
pub(crate) mod describe;
mod digits;
mod embedded;
mod emit;
pub(crate) mod environment;
pub(crate) mod file;
pub(crate) mod gather;
pub(crate) mod head;
mod kinds;
mod line;
pub(crate) mod lines;
mod losses;
mod notes;
mod outliers;
pub(crate) mod parts;
mod reordered;
mod rows;
mod sorts;
pub(crate) mod tokens;
pub(crate) mod upids;
mod values;
pub(crate) mod words;

pub(crate) use embedded::{Found, Lines};
pub(crate) use line::{parse_line, parse_lost, parse_payload};
