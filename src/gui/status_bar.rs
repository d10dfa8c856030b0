//! The status bar: the position in the trace and the navigation history, the selection, and memory and time used.

use crate::base::{Severity, TimeSpan};
use crate::load::LoadedTrace;
use crate::load::TraceId;
use std::sync::Arc;

/// Figures of the status bar, cached until the view or the generation changes.
#[derive(Default)]
pub(super) struct Counted {
    of: Option<(TraceId, TimeSpan)>,
    facts: Facts,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Facts {
    pub(super) in_view: u32,
    pub(super) memory_bytes: u64,
    /// Whether the file has diagnostics.
    pub(super) is_odd: bool,
    /// Whether the recorder lost events.
    pub(super) is_lossy: bool,
}

impl Counted {
    pub(super) fn of(&mut self, loaded: &Arc<LoadedTrace>, span: TimeSpan) -> Facts {
        let key = loaded.id;
        let before = self.of.replace((key, span));
        if before.is_none_or(|(of, _)| of != key) {
            self.facts.memory_bytes = loaded.memory_bytes();
            let odd = loaded.trace.diagnostics.rows();
            let trace = &loaded.trace;
            self.facts.is_lossy = trace.lost_events() > 0 || trace.are_more_lost();
            self.facts.is_odd = odd.iter().any(|row| row.severity != Severity::Info);
        }
        if before != Some((key, span)) {
            let events = &loaded.trace.events;
            let end = events.rank(span.end);
            self.facts.in_view = end.saturating_sub(events.rank(span.start));
        }
        self.facts
    }
}
