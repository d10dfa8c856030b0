//! Gaps: time ranges in which the recorder lost events.

use super::entities::CpuId;
use super::{SourceId, Trace};
use crate::base::{TimeSpan, Timestamp};
use crate::event::Gap;

/// Row number of a gap in [`Trace::gaps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GapId(pub u32);

impl Trace {
    /// Returns a gap; `None` if there is no such id.
    #[must_use]
    pub fn gap(&self, id: GapId) -> Option<&Gap> {
        self.gaps.get(id.0 as usize)
    }

    /// Returns the file of a gap; `None` if the trace has one file only.
    #[must_use]
    pub(crate) fn gap_source(&self, id: GapId) -> Option<SourceId> {
        self.source_of(id.0, |source| &source.gaps)
    }

    /// Returns the CPU that lost the events; `None` if the file names no CPU, or a CPU without a row in the trace.
    #[must_use]
    pub fn gap_cpu(&self, id: GapId) -> Option<CpuId> {
        let number = self.gap(id)?.cpu?;
        let source = self.gap_source(id);
        let source = source.and_then(|id| self.sources.get(id.0 as usize));
        let rows = source.map_or(0..self.cpus.len() as u32, |source| source.cpus.clone());
        let cpus = self.cpus.get(rows.start as usize..rows.end as usize)?;
        let at = cpus.binary_search_by_key(&number, |cpu| cpu.number).ok()?;
        Some(CpuId(rows.start + at as u32))
    }

    /// Returns the span from the last event before a gap to the first event after it, clipped to its file's span.
    #[must_use]
    pub fn gap_span(&self, id: GapId) -> Option<TimeSpan> {
        let gap = self.gap(id)?;
        let file = self.file_span(id.0, |source| &source.gaps);
        let within = |time: Timestamp| time.max(file.start).min(file.end);
        let start = within(gap.start);
        Some(TimeSpan::new(start, within(gap.end).max(start)))
    }
}
