//! The trace formats: the interface that a format implements (`format`, `stream`, `events`, `report`) and the registry
//! (`FORMATS`).

pub(crate) mod atrace;
pub(crate) mod build_units;
pub mod cargo_timings;
pub mod chrome_json;
pub mod compression;
pub mod etrace;
pub(crate) mod etrace_lines;
pub mod event_filter;
pub mod events;
pub mod format;
pub(crate) mod ftrace_line;
pub mod ftrace_text;
pub mod function_options;
pub mod fxt;
pub(crate) mod html;
pub(crate) mod kind_table;
pub mod ninja_log;
pub mod open_calls;
mod opening;
pub(crate) mod part_names;
pub(crate) mod record_report;
pub mod report;
pub mod stream;
pub mod syscall_text;
pub(crate) mod text_end;
pub mod tracedat;

pub use events::{EventRef, Events};
pub use format::{Format, Input, Inside, Instead, Sniff};
pub(crate) use opening::most_certain;
pub use record_report::RecordOptions;
pub use report::{Report, ReportOptions};
pub use stream::Recording;
pub(crate) use stream::{AnyStream, Gathered, HasReport, IndependentParts, Stream};

/// Every format that can be opened. Detection calls `sniff` of each row in this order.
pub const FORMATS: &[Format] = &[
    tracedat::FORMAT,
    fxt::FORMAT,
    etrace::FORMAT,
    ftrace_text::FORMAT,
    syscall_text::STRACE,
    syscall_text::MINIX,
    chrome_json::FORMAT,
    ninja_log::FORMAT,
    cargo_timings::FORMAT,
];
