//! trace.dat as bytes: the constants of its layout, sections and options as they are written, and ring-buffer pages
//! made from single records. The reader, the exporter and the recorder use this one definition.
//!
//! Does not access a trace or a kernel: `formats/tracedat` interprets the bytes, `export/trace_dat` and `record` decide
//! what is written.

pub(crate) mod bytes;
pub mod layout;
pub mod page_writer;
pub mod plan;
pub mod sections;
