//! trace-cmd's trace.dat.

pub mod event_format;
