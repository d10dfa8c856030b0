//! The panes of the dock. A new pane is one file and its row here.

pub mod build;
mod build_text;
pub mod chain;
pub mod compare;
mod copied;
pub mod counters;
pub mod details;
pub mod durations;
pub mod events;
pub mod files;
mod files_text;
pub mod flame;
pub mod info;
pub mod latency;
mod lost;
pub mod marks;
pub mod matches;
pub mod probes;
pub mod process_tree;
mod process_tree_text;
mod reading;
pub mod selection;
mod sources;

use super::pane::PaneRow;

/// All panes, in the order of their tabs.
pub const PANES: &[PaneRow] = &[
    PaneRow {
        name: "Details",
        about: "The selected item in full",
        make: details::make,
    },
    PaneRow {
        name: "Events",
        about: "All raw events in time order",
        make: events::make,
    },
    PaneRow {
        name: "Matches",
        about: "What the search found",
        make: matches::make,
    },
    PaneRow {
        name: "Selection",
        about: "What the selected area adds up to",
        make: selection::make,
    },
    PaneRow {
        name: "Marks",
        about: "Markers, flags with notes, and kept places",
        make: marks::make,
    },
    PaneRow {
        name: "Durations",
        about: "Slices added up by name",
        make: durations::make,
    },
    PaneRow {
        name: "Latency",
        about: "How long from wakeup to run, or between any two events",
        make: latency::make,
    },
    PaneRow {
        name: chain::NAME,
        about: "Why a thread waited: who woke it, who woke the waker (C)",
        make: chain::make,
    },
    PaneRow {
        name: "Flame graph",
        about: "Nested slices or recorded stacks, merged by their paths",
        make: flame::make,
    },
    PaneRow {
        name: "Counters",
        about: "Counters as plots over the visible time",
        make: counters::make,
    },
    PaneRow {
        name: "Compare",
        about: "Two traces, or two parts of one, side by side",
        make: compare::make,
    },
    PaneRow {
        name: "Process tree",
        about: "Who started whom",
        make: process_tree::make,
    },
    PaneRow {
        name: "Probes",
        about: "kprobes and uprobes: definitions, hits, durations",
        make: probes::make,
    },
    PaneRow {
        name: "Files",
        about: "Every file: who used it, what went into it, what was made from it",
        make: files::make,
    },
    PaneRow {
        name: "Build",
        about: "Parallelism, the critical chain, programs and failures of a build",
        make: build::make,
    },
    PaneRow {
        name: "Info",
        about: "What the file says, and what was odd",
        make: info::make,
    },
];
