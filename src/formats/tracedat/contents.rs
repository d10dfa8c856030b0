//! What versions 6 and 7 of trace.dat have in common: everything that is read before the events.

use std::ops::Range;

use super::buffers::Buffer;
use super::metadata::Metadata;
use super::options::Options;
use crate::tracedat::sections::Packing;

/// Everything between the header and the events.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Event formats, symbols and names.
    pub metadata: Metadata,
    /// The file's options: clock, machine, recorder.
    pub options: Options,
    /// The trace buffers of all instances.
    pub buffers: Vec<Buffer>,
    /// Texts of latency tracers.
    pub latency_texts: Vec<Vec<u8>>,
    /// Instances whose data is not at the file offset that their option states: (that offset, name).
    pub missing: Vec<(u64, String)>,
    /// The metadata sections as the file stores them, in its order.
    pub sections: Vec<StoredSection>,
    /// The options that are neither file offsets nor buffers, as the file stores them.
    pub raw_options: Vec<RawOption>,
}

/// A metadata section as it is stored in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredSection {
    /// Its id in version 7.
    pub id: u16,
    pub packing: Packing,
    /// The range of its body in the file; a packed body includes its sizes.
    pub body: Range<u64>,
}

/// An option as it is stored in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawOption {
    /// Its number.
    pub id: u16,
    /// Its data.
    pub data: Vec<u8>,
}
