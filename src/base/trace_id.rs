//! Ids of traces: results are keyed by the trace that they were computed for.

use std::sync::atomic::{AtomicU64, Ordering};

/// The next unused number, for traces and lineages.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The id of a trace, unique in this process. A result that was computed for one trace is keyed by its id and never
/// shown for another trace.
///
/// All generations of one load, of one growing file, and of one trace with other plots share a lineage: while the
/// result for a new generation is computed, the result for an older generation may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceId {
    number: u64,
    lineage: u64,
}

impl TraceId {
    /// Returns the id of a new trace, which starts a new lineage.
    #[allow(
        clippy::new_without_default,
        reason = "no two are alike, so there is no default"
    )]
    #[must_use]
    pub fn new() -> TraceId {
        let number = next();
        TraceId {
            number,
            lineage: number,
        }
    }

    /// Returns the id of a new generation of this trace.
    #[must_use]
    pub(crate) fn next_generation(self) -> TraceId {
        TraceId {
            number: next(),
            ..self
        }
    }

    /// Returns whether both ids belong to generations of one trace.
    #[must_use]
    pub(crate) fn shares_lineage(self, other: TraceId) -> bool {
        self.lineage == other.lineage
    }
}

fn next() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_differ_and_share_a_lineage() {
        let (trace, other) = (TraceId::new(), TraceId::new());
        let grown = trace.next_generation();
        assert!(grown != trace && grown.shares_lineage(trace));
        assert!(grown.next_generation().shares_lineage(trace));
        assert!(!other.shares_lineage(trace) && !other.next_generation().shares_lineage(grown));
    }
}
