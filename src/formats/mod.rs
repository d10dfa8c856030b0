//! The formats: what one is (`format`), and the rows (`FORMATS`).

pub mod atrace;
pub mod compression;
pub mod etrace;
pub mod format;
pub mod ftrace_text;
pub mod fxt;
pub mod latency_flags;
pub mod open_calls;
pub mod syscall_text;
pub mod text_end;
pub mod text_kinds;
pub mod tracedat;

pub use format::{EventRef, Format, Input, Reader, Report, ReportOptions, Sniff};

/// Every format that can be opened, asked in this order.
pub const FORMATS: &[Format] = &[
    tracedat::FORMAT,
    fxt::FORMAT,
    etrace::FORMAT,
    ftrace_text::FORMAT,
    syscall_text::STRACE,
    syscall_text::MINIX,
];
