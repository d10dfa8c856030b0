//! Gaps: time ranges in which the recorder lost events.

use rustc_hash::{FxHashMap, FxHashSet};

use super::entities::CpuId;
use super::{SourceId, Trace};
use crate::base::{TimeSpan, Timestamp};
use crate::event::{Gap, TraceInfo};

/// Row number of a gap in [`Trace::gaps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GapId(pub u32);

/// Lost events that the recorder counted for a CPU and that belong to no gap of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnplacedLoss {
    /// The file; `None` if the trace has one file only.
    pub source: Option<SourceId>,
    /// The CPU's number.
    pub cpu: u32,
    /// How many events were lost.
    pub lost: u64,
}

impl Trace {
    /// Returns the lost events that the recorder counted beyond those of all gaps, by file and CPU. If a gap has no
    /// count, or belongs to no CPU, these events may have been lost in that gap.
    #[must_use]
    pub(crate) fn unplaced_losses(&self) -> Vec<UnplacedLoss> {
        let sources = (0..).map(SourceId).zip(&self.sources);
        let of_sources = sources.flat_map(|(id, source)| {
            let gaps = source.gaps.start as usize..source.gaps.end as usize;
            let gaps = self.gaps.get(gaps).unwrap_or_default();
            unplaced(gaps, &source.info, Some(id))
        });
        let alone = match self.sources.is_empty() {
            true => unplaced(&self.gaps, &self.info, None),
            false => Vec::new(),
        };
        alone.into_iter().chain(of_sources).collect()
    }

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
        let span = gap.span();
        Some(TimeSpan::new(within(span.start), within(span.end)))
    }
}

/// Returns the counted losses of one file that belong to none of its gaps, by CPU.
fn unplaced(gaps: &[Gap], info: &TraceInfo, source: Option<SourceId>) -> Vec<UnplacedLoss> {
    let mut rest: FxHashMap<u32, u64> = FxHashMap::default();
    for loss in &info.losses {
        let total = rest.entry(loss.cpu).or_default();
        *total = total.saturating_add(loss.total());
    }
    let mut uncounted: FxHashSet<u32> = FxHashSet::default();
    for gap in gaps {
        match (gap.cpu, gap.lost.filter(|count| *count > 0)) {
            (None, _) => return Vec::new(),
            (Some(cpu), None) => _ = uncounted.insert(cpu),
            (Some(cpu), Some(count)) => {
                if let Some(total) = rest.get_mut(&cpu) {
                    *total = total.saturating_sub(count);
                }
            }
        }
    }
    rest.retain(|cpu, lost| *lost > 0 && !uncounted.contains(cpu));
    let losses = rest
        .into_iter()
        .map(|(cpu, lost)| UnplacedLoss { source, cpu, lost });
    let mut losses: Vec<UnplacedLoss> = losses.collect();
    losses.sort_unstable_by_key(|loss| loss.cpu);
    losses
}
