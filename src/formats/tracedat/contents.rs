//! What versions 6 and 7 of trace.dat have in common: everything that is read before the events.

use super::buffers::Buffer;
use super::metadata::Metadata;
use super::options::Options;

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
    /// Instances whose data is not at the file offset that their option states: that offset and the name.
    pub missing: Vec<(u64, String)>,
}
