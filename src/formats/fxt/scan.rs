//! Facts of the whole file, found before its events are read: tables, names, losses, and times of records without one.
//!
//! Built by `fold` and `conclude`; then used by all parts and for decoding single records.

use serde::{Deserialize, Serialize};

use crate::base::{ByteOrder, Diagnostics, Timestamp};
use crate::event::{CpuLoss, Gap};
use crate::fxt::layout::string;
use crate::fxt::words::{Words, without_nuls};

use super::entities::Entities;
use super::tables::Tables;

/// The facts; see the module's documentation.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Scan {
    /// Strings, threads, rates and providers by place.
    pub tables: Tables,
    /// Threads, processes and names.
    pub entities: Entities,
    /// Records without a time of their own, in file order.
    pub untimed: Vec<ShownAt>,
    /// Gaps at which providers ran out of buffer, in file order.
    pub gaps: Vec<GapAt>,
    /// Places of the events that only describe one of `gaps`, in file order; see `loss_facts`.
    pub loss_facts: Vec<u64>,
    /// Numbers of events that each CPU lost, in files of our own exporter.
    pub cpu_losses: Vec<CpuLoss>,
    /// Userspace objects, sorted.
    pub objects: Vec<NamedPointer>,
    /// Places of blobs and of large records with blobs, in file order.
    pub blobs: Vec<u64>,
    /// The last moment of the recording in ns, in files of our own exporter.
    pub seen_until: Option<i64>,
    /// How many artificial koids for reused numbers there are in the trace that our own exporter wrote, or wrote a part
    /// of.
    pub reused_numbers: u64,
    /// Wall-clock time in ns at time 0 of the trace's clock, from the first initialization record of four words.
    pub wall_clock_zero: Option<i128>,
    /// Number of records.
    pub record_count: u64,
    /// Diagnostics of the records read so far.
    pub diagnostics: Diagnostics,
}

/// A record without a time of its own.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ShownAt {
    /// Place of the record.
    pub place: u64,
    /// The time at which it is shown.
    pub time: Timestamp,
}

/// A gap and the place of its record.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct GapAt {
    /// Place of the record.
    pub place: u64,
    /// The gap.
    pub gap: Gap,
}

/// A userspace object record, which names a pointer of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct NamedPointer {
    /// Koid of the process; 0 if unknown.
    pub process: u64,
    /// The pointer.
    pub pointer: u64,
    /// Place of the record.
    pub place: u64,
}

impl Scan {
    /// Returns the place of the last userspace object record before `place` that names a pointer of a process.
    #[must_use]
    pub(crate) fn object_of(&self, process: u64, pointer: u64, place: u64) -> Option<u64> {
        let key = NamedPointer {
            process,
            pointer,
            place,
        };
        let after = self.objects.partition_point(|object| *object <= key);
        let found = self.objects.get(after.checked_sub(1)?)?;
        ((found.process, found.pointer) == (process, pointer)).then_some(found.place)
    }

    /// Returns the time at which the record without a time at `place` is shown.
    #[must_use]
    pub(crate) fn shown_at(&self, place: u64) -> Option<Timestamp> {
        let found = self.untimed.binary_search_by_key(&place, |row| row.place);
        self.untimed.get(found.ok()?).map(|row| row.time)
    }

    /// Returns the heap memory of the tables, in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let lists = self.untimed.capacity() * size_of::<ShownAt>()
            + self.objects.capacity() * size_of::<NamedPointer>();
        self.tables.memory_bytes() + self.entities.memory_bytes() + lists as u64
    }
}

/// Returns the bytes of the string record at `place`.
#[inline]
#[must_use]
pub(crate) fn string_bytes<O: ByteOrder>(file: Words<'_, O>, place: u64) -> Option<&[u8]> {
    let record = file.record_at(place)?;
    let header = record.get(0)?;
    let most = record.count().saturating_sub(1) * 8;
    let length = (string::BYTES.get(header) as usize).min(most);
    record.text(1, length).map(without_nuls)
}
