//! The file that is written, and the sequences of its packets.
//!
//! Interned ids are valid within one sequence, from a packet that clears them to the next one that does.

use std::io::Write;

use super::layout::{packet, trace as top};
use super::proto::Message;
use super::sources::Machine;
use crate::base::Job;
use crate::export::ExportError;

/// The sequence of bundles of ftrace events; each packet contains all entries that it uses.
pub(super) const BUNDLE_SEQUENCE: u64 = 1;
/// The sequence of packets without interned ids.
pub(super) const OTHER_SEQUENCE: u64 = 2;
/// The first of the sequences of track events (see `sequences`).
pub(super) const EVENT_SEQUENCES: u64 = 3;

/// The file that is written.
pub(super) struct Output<'a> {
    pub out: &'a mut dyn Write,
    pub job: &'a Job,
    /// Time of the packets that are about the whole file, as written.
    pub start: u64,
}

impl Output<'_> {
    /// Writes whole packets; errors if the export was cancelled.
    pub(super) fn write(&mut self, packets: &[u8]) -> Result<(), ExportError> {
        self.job.check()?;
        Ok(self.out.write_all(packets)?)
    }

    /// Writes a packet of a machine with a time and the fields that `fill` adds.
    pub(crate) fn packet(
        &mut self,
        time: u64,
        machine: Machine,
        fill: impl FnOnce(&mut Message),
    ) -> Result<(), ExportError> {
        let mut message = Message::default();
        let outer = message.open_large(top::PACKET);
        message.uint(packet::TIMESTAMP, time);
        message.uint(packet::SEQUENCE, OTHER_SEQUENCE);
        write_machine(&mut message, machine);
        fill(&mut message);
        message.close(outer);
        self.write(message.bytes())
    }
}

/// Writes the machine of a packet.
#[inline]
pub(super) fn write_machine(message: &mut Message, machine: Machine) {
    if machine != Machine::HOST {
        message.uint(packet::MACHINE_ID, u64::from(machine.0));
    }
}
