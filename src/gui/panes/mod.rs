//! The panes of the dock. A new pane is one file, its row here, and its kind in `view/pane_kind`.

pub(crate) mod build;
pub mod chain;
pub mod compare;
pub mod counters;
pub(crate) mod details;
pub mod durations;
pub mod events;
pub mod files;
pub mod flame;
pub(crate) mod info;
pub(crate) mod latency;
mod lost;
pub mod marks;
pub(crate) mod matches;
pub mod probes;
pub(crate) mod process_tree;
pub(crate) mod query;
mod reading;
#[cfg_attr(not(target_os = "linux"), path = "no_record.rs")]
pub(crate) mod record;
pub(crate) mod selection;
mod sources;

use super::pane::PaneRow;
use crate::view::PaneKind;

/// All panes, in the order of [`PaneKind::ALL`].
pub const PANES: &[PaneRow] = &[
    PaneRow {
        kind: PaneKind::Details,
        about: "The selected item in full",
        make: details::make,
    },
    PaneRow {
        kind: PaneKind::Events,
        about: "All raw events in time order",
        make: events::make,
    },
    PaneRow {
        kind: PaneKind::Matches,
        about: "What the search found",
        make: matches::make,
    },
    PaneRow {
        kind: PaneKind::Selection,
        about: "What the selected area adds up to",
        make: selection::make,
    },
    PaneRow {
        kind: PaneKind::Marks,
        about: "Markers, flags with notes, and kept places",
        make: marks::make,
    },
    PaneRow {
        kind: PaneKind::Durations,
        about: "Slices added up by name",
        make: durations::make,
    },
    PaneRow {
        kind: PaneKind::Latency,
        about: "How long from wakeup to run, or between any two events",
        make: latency::make,
    },
    PaneRow {
        kind: PaneKind::WakeupChain,
        about: "Why a thread waited: who woke it, who woke the waker (C)",
        make: chain::make,
    },
    PaneRow {
        kind: PaneKind::FlameGraph,
        about: "Nested slices or recorded stacks, merged by their paths",
        make: flame::make,
    },
    PaneRow {
        kind: PaneKind::Counters,
        about: "Counters as plots over the visible time",
        make: counters::make,
    },
    PaneRow {
        kind: PaneKind::Compare,
        about: "Two traces, or two parts of one, side by side",
        make: compare::make,
    },
    PaneRow {
        kind: PaneKind::ProcessTree,
        about: "Who started whom",
        make: process_tree::make,
    },
    PaneRow {
        kind: PaneKind::Probes,
        about: "kprobes and uprobes: definitions, hits, durations",
        make: probes::make,
    },
    PaneRow {
        kind: PaneKind::Files,
        about: "Every file: who used it, what went into it, what was made from it",
        make: files::make,
    },
    PaneRow {
        kind: PaneKind::Build,
        about: "Parallelism, the critical chain, programs and failures of a build",
        make: build::make,
    },
    PaneRow {
        kind: PaneKind::Query,
        about: "Questions in SQL, answered by your DuckDB",
        make: query::make,
    },
    PaneRow {
        kind: PaneKind::Info,
        about: "Facts about the file, and diagnostics",
        make: info::make,
    },
    PaneRow {
        kind: PaneKind::Record,
        about: "Record this machine, and watch it while it is recorded",
        make: record::make,
    },
];

/// Returns the row of a pane.
#[must_use]
pub(crate) fn row_of(pane: PaneKind) -> &'static PaneRow {
    &PANES[pane as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pane_has_its_row() {
        assert_eq!(PANES.len(), PaneKind::ALL.len());
        for pane in PaneKind::ALL {
            assert_eq!(row_of(pane).kind, pane);
        }
    }
}
