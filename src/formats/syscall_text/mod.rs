//! System-call traces as text, of strace and of MINIX's trace(1): one grammar with two dialects.
//!
//! ```text
//! strace  15634 1795231677.383917 brk(NULL)       = 0x56002162a000 <0.000007>
//! MINIX     311|*wait4(-1, ** SIGCHLD ** W_EXITED(0), 0, NULL) = 312
//! ```
//!
//! Opening reads only the head (`head`). All parts are summarised in parallel (`summary`); then, in order, each part
//! gets what it needs from the text before it (`fold`); then the parts are read in parallel (`emit`, `acts`).
//! `describe` decodes any single line again. Keys are pids; a lone process whose pid is not in the text has a key of
//! its own and is shown as tid 0.
//!
//! `clock` defines the time axis: times of day count from the first day's midnight, relative times from the first line;
//! in a text without times, a line takes one unit. The specifications are strace's manual and MINIX's
//! `minix/usr.bin/trace`.

mod acts;
mod child_end;
mod clock;
mod describe;
mod dialect;
mod durations;
mod emit;
mod family;
mod family_starts;
mod fold;
mod forks;
mod halves;
mod head;
mod line;
mod namespaces;
mod numbers;
mod owners;
mod prefix;
mod reader;
mod sniff;
mod summary;
mod values;

use crate::formats::Format;

use dialect::Dialect;
use reader::TextReader;

/// strace's row in `FORMATS`.
pub const STRACE: Format = Format {
    name: Dialect::Strace.format_name(),
    extensions: &["strace"],
    sniff: sniff::sniff_strace,
    read_head: |input, _job| Ok(TextReader::open(input, Dialect::Strace)?.recording()),
    together: Some(family::TOGETHER),
    wrapped: None,
    may_be_self_trace: false,
};

/// MINIX's row in `FORMATS`.
pub const MINIX: Format = Format {
    name: Dialect::Minix.format_name(),
    extensions: &["trace"],
    sniff: sniff::sniff_minix,
    read_head: |input, _job| Ok(TextReader::open(input, Dialect::Minix)?.recording()),
    together: None,
    wrapped: None,
    may_be_self_trace: false,
};

#[cfg(test)]
mod tests;
mod times;
