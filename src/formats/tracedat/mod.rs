//! trace-cmd's trace.dat.

pub mod decoder;
pub mod event_format;
pub mod plugins;
pub mod print_fmt;
pub mod report;
