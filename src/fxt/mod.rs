//! Fuchsia's trace format (FXT) as bytes: the positions of the fields of its records, the words of a record in either
//! byte order, its arguments, and the names that only files of this program use. The reader and the exporter both use
//! this one definition.
//!
//! Does not access a trace: `formats/fxt` interprets records, `export/fxt` decides what is written.

pub(crate) mod agreed;
pub(crate) mod args;
pub(crate) mod layout;
pub(crate) mod packed;
pub mod parts;
pub(crate) mod words;

pub(crate) use args::{Arg, ArgValue, TypedValue};
pub(crate) use words::{TextRef, Words};
