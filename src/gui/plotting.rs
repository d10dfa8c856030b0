//! Computes plots off the window's thread: the visible trace is replaced by one with these counters added.

use std::sync::Arc;

use crate::base::Task;
use crate::load::LoadedTrace;
use crate::load::TraceId;
use crate::query::plots::MadePlot;
use crate::trace::Plot;

/// Plots with their samples.
pub(super) type Made = Vec<MadePlot>;

/// A trace with its plots, and the plots that failed with their reasons.
pub(super) struct Plotted {
    pub(super) of: TraceId,
    pub(super) made: Made,
    pub(super) loaded: Arc<LoadedTrace>,
    pub(super) refused: Vec<(Plot, String)>,
}

/// The computation of plots.
#[derive(Default)]
pub(super) struct Plotting {
    pub(super) plotted: Task<Vec<Plot>, Arc<Plotted>>,
    /// Plots already computed for the trace as it was read, for reuse.
    pub(super) kept: Option<(TraceId, Made)>,
}

impl Plotting {
    /// Returns whether plots are being computed.
    pub(super) fn is_busy(&self) -> bool {
        self.plotted.is_busy()
    }

    /// Stops the computation.
    pub(super) fn stop(&mut self) {
        self.plotted.stop();
    }
}
