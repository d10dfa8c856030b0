//! The index of a [`Trace`], which makes queries fast at any zoom: pyramids over rows, a tree of flows, gaps by time,
//! and the overview of the whole trace.

pub(crate) mod counter_lod;
pub mod gaps;
pub(crate) mod interval_tree;
pub(crate) mod lod;
pub(crate) mod lod_rows;
pub(crate) mod overview;
pub(crate) mod own_time;
pub(crate) mod seen;
pub(crate) mod tally;

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use rayon::prelude::*;

use crate::base::{Cancelled, Job};
use crate::trace::{CpuId, Shared, ThreadId, Trace, TrackId};
use counter_lod::CounterLod;
use gaps::GapIndex;
use interval_tree::IntervalTree;
use lod::{Lod, SMALL_ROW};
use lod_rows::{InstantRow, PointRow, run_row, slice_row, state_row};
use overview::Overview;
use own_time::OwnLod;
use seen::SeenThreads;

/// A trace and its index.
#[derive(Clone, Debug, Default)]
pub struct IndexedTrace {
    /// The trace.
    pub trace: Trace,
    /// The index of the trace.
    pub index: Index,
}

/// The index of one trace. Rows with too few items have no pyramid.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Index {
    /// Pyramids of slices, by row of [`Slices::rows`](crate::trace::Slices::rows).
    pub slice_rows: Shared<Vec<Option<Lod>>>,
    /// Pyramids of own times of nested slices, by row of [`Slices::rows`](crate::trace::Slices::rows).
    pub(crate) own_times: Shared<Vec<Option<OwnLod>>>,
    /// Pyramids of runs, by CPU.
    pub runs: Shared<Vec<Option<Lod>>>,
    /// Threads that events name on CPUs without runs.
    pub seen: Shared<SeenThreads>,
    /// Pyramids of thread states, by thread.
    pub states: Shared<Vec<Option<Lod>>>,
    /// Pyramids of instants, by track.
    pub instants: Shared<Vec<Option<Lod>>>,
    /// Pyramids of counters, by counter track.
    pub counters: Vec<Option<Arc<CounterLod>>>,
    /// Flows by the time range between their ends.
    pub flows: Shared<IntervalTree>,
    /// The gaps in which events were lost.
    pub gaps: Shared<GapIndex>,
    /// The density of the whole trace.
    pub overview: Shared<Overview>,
}

impl Index {
    /// Indexes a trace, in parallel over its rows.
    ///
    /// # Errors
    /// If the job is cancelled.
    pub fn new(trace: &Trace, job: &Job) -> Result<Index, Cancelled> {
        let flows = || {
            IntervalTree::new(trace.flows.rows.iter().map(|flow| {
                let (a, b) = (flow.from.time, flow.to.time);
                a.min(b).0..a.max(b).0.saturating_add(1)
            }))
        };
        let slice_rows = || {
            let rows = trace.slices.rows.par_iter();
            rows.map(|row| {
                job.check()?;
                Ok(Lod::of_large(row.slices.len(), || slice_row(trace, row)))
            })
            .collect::<Result<Vec<_>, Cancelled>>()
        };
        let own_times = || {
            let rows = (0..trace.slices.rows.len()).into_par_iter();
            rows.map(|row| {
                job.check()?;
                Ok(OwnLod::of_large(trace, row))
            })
            .collect::<Result<Vec<_>, Cancelled>>()
        };
        let runs = || {
            let cpus = (0..trace.cpus.len() as u32).into_par_iter().map(CpuId);
            cpus.map(|cpu| {
                job.check()?;
                let count = trace.runs.on(cpu).len();
                Ok(Lod::of_large(count, || run_row(trace, cpu)))
            })
            .collect::<Result<Vec<_>, Cancelled>>()
        };
        let states = || {
            let threads = (0..trace.threads.len() as u32)
                .into_par_iter()
                .map(ThreadId);
            threads
                .map(|id| {
                    job.check()?;
                    let count = trace.states.of(id).len();
                    Ok(Lod::of_large(count, || state_row(trace, id)))
                })
                .collect::<Result<Vec<_>, Cancelled>>()
        };
        let instants = || {
            let tracks = (0..trace.tracks.len() as u32).into_par_iter().map(TrackId);
            tracks
                .map_init(PointRow::default, |points, id| {
                    job.check()?;
                    let count = trace.tracks[id.0 as usize].instants.len();
                    Ok((count >= SMALL_ROW).then(|| InstantRow::new(trace, id).lod(points)))
                })
                .collect::<Result<Vec<_>, Cancelled>>()
        };
        let counters = || {
            let tracks = trace.counters.tracks.par_iter();
            tracks
                .map(|track| {
                    job.check()?;
                    Ok(CounterLod::of_large(trace, track).map(Arc::new))
                })
                .collect::<Result<Vec<_>, Cancelled>>()
        };
        let ((slice_rows, instants), (runs, states)) = rayon::join(
            || rayon::join(|| (slice_rows(), own_times()), instants),
            || rayon::join(runs, states),
        );
        let (instants, runs, states) = (instants?, runs?, states?);
        let (slice_rows, own_times) = (slice_rows.0?, slice_rows.1?);
        job.check()?;
        let ((counters, flows), (overview, seen)) = rayon::join(
            || (counters(), flows()),
            || rayon::join(|| Overview::new(trace), || SeenThreads::new(trace)),
        );
        job.check()?;
        Ok(Index {
            slice_rows: Shared::from(slice_rows),
            own_times: Shared::from(own_times),
            runs: Shared::from(runs),
            seen: seen.into(),
            states: Shared::from(states),
            instants: Shared::from(instants),
            counters: counters?,
            flows: flows.into(),
            gaps: GapIndex::new(trace).into(),
            overview: overview.into(),
        })
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let pyramids: [&Vec<Option<Lod>>; 4] =
            [&self.slice_rows, &self.runs, &self.states, &self.instants];
        let rows: u64 = pyramids
            .iter()
            .map(|list| {
                let held: u64 = list.iter().flatten().map(Lod::memory_bytes).sum();
                held + (list.capacity() * size_of::<Option<Lod>>()) as u64
            })
            .sum();
        let counters: u64 = self
            .counters
            .iter()
            .flatten()
            .map(|lod| lod.memory_bytes())
            .sum();
        let own = self.own_times.iter().flatten().map(OwnLod::memory_bytes);
        let own =
            own.sum::<u64>() + (self.own_times.capacity() * size_of::<Option<OwnLod>>()) as u64;
        rows + own
            + counters
            + self.flows.memory_bytes()
            + self.gaps.memory_bytes()
            + self.overview.memory_bytes()
            + self.seen.memory_bytes()
    }
}
