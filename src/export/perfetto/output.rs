//! The file that is written, and the sequences of its packets.
//!
//! Interned ids are valid within one sequence, from a packet that clears them to the next one that does.

use std::io::Write;

use crate::base::Job;
use crate::export::ExportError;

/// The sequence of bundles of ftrace events; each packet has all that it needs.
pub(super) const BUNDLE_SEQUENCE: u64 = 1;
/// The sequence of track events.
pub(super) const EVENT_SEQUENCE: u64 = 2;
/// The sequence of packets without interned ids.
pub(super) const OTHER_SEQUENCE: u64 = 3;

/// The file that is written.
pub(super) struct Output<'a> {
    pub out: &'a mut dyn Write,
    pub job: &'a Job,
    /// Time of the packets that are about the whole file, as written.
    pub start: u64,
}

impl Output<'_> {
    /// Writes whole packets; errors if the export was cancelled.
    pub fn write(&mut self, packets: &[u8]) -> Result<(), ExportError> {
        self.job.check()?;
        Ok(self.out.write_all(packets)?)
    }
}
