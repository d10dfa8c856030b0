//! Lines of ftrace's text: their columns, flags and bodies. Used by the formats that read or print such lines (ftrace
//! text, etrace, the report of trace.dat).
//!
//! ```text
//!             bash-96      [001] d..2.    69.626109: sched_switch: prev_comm=bash prev_pid=96 ...
//! |-------------- prefix ---------------|          | body ------------------------------------
//!                                flags |
//! ```
//!
//! Does not interpret a body: the formats do.

pub(crate) mod flag_bits;
pub(crate) mod flags;
mod latency_columns;
pub(crate) mod line;
mod padded;
pub(crate) mod prefix;
pub(crate) mod report_layout;
pub(crate) mod short;
