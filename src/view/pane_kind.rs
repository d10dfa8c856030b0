//! The panes beside the timeline, and their titles. `gui/panes` draws them.

use serde::{Serialize, Serializer};

/// A pane. Sessions and settings store its title.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PaneKind {
    /// The selected item.
    Details,
    /// All raw events.
    Events,
    /// Matches of the search.
    Matches,
    /// Sums over the selected area.
    Selection,
    /// Markers, flags and saved places.
    Marks,
    /// Slices summed by name.
    Durations,
    /// Times from wakeup to run, or between events.
    Latency,
    /// Why a thread waited.
    WakeupChain,
    /// Slices or stacks merged by their paths.
    FlameGraph,
    /// Counters as plots.
    Counters,
    /// Compares two traces, or two parts of one.
    Compare,
    /// Which process started which.
    ProcessTree,
    /// Definitions and hits of kprobes and uprobes.
    Probes,
    /// All files and the processes that used them.
    Files,
    /// Parallelism and critical chain of a build.
    Build,
    /// Questions in SQL.
    Query,
    /// Contents of the trace's file, and its diagnostics.
    Info,
    /// Records this machine.
    Record,
}

impl PaneKind {
    /// All panes, in the order of their tabs.
    pub const ALL: [PaneKind; 18] = [
        PaneKind::Details,
        PaneKind::Events,
        PaneKind::Matches,
        PaneKind::Selection,
        PaneKind::Marks,
        PaneKind::Durations,
        PaneKind::Latency,
        PaneKind::WakeupChain,
        PaneKind::FlameGraph,
        PaneKind::Counters,
        PaneKind::Compare,
        PaneKind::ProcessTree,
        PaneKind::Probes,
        PaneKind::Files,
        PaneKind::Build,
        PaneKind::Query,
        PaneKind::Info,
        PaneKind::Record,
    ];

    /// Title of the pane's tab.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            PaneKind::Details => "Details",
            PaneKind::Events => "Events",
            PaneKind::Matches => "Matches",
            PaneKind::Selection => "Selection",
            PaneKind::Marks => "Marks",
            PaneKind::Durations => "Durations",
            PaneKind::Latency => "Latency",
            PaneKind::WakeupChain => "Wakeup chain",
            PaneKind::FlameGraph => "Flame graph",
            PaneKind::Counters => "Counters",
            PaneKind::Compare => "Compare",
            PaneKind::ProcessTree => "Process tree",
            PaneKind::Probes => "Probes",
            PaneKind::Files => "Files",
            PaneKind::Build => "Build",
            PaneKind::Query => "Query",
            PaneKind::Info => "Info",
            PaneKind::Record => "Record",
        }
    }

    /// Returns the pane with this title, ignoring ASCII case; `None` if there is none.
    #[must_use]
    pub(crate) fn of_title(title: &str) -> Option<PaneKind> {
        let mut all = PaneKind::ALL.into_iter();
        all.find(|pane| pane.title().eq_ignore_ascii_case(title))
    }
}

impl Serialize for PaneKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.title())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panes_are_found_by_their_titles_and_stand_in_their_order() {
        for (at, pane) in PaneKind::ALL.into_iter().enumerate() {
            assert_eq!(PaneKind::of_title(pane.title()), Some(pane));
            assert_eq!(pane as usize, at);
        }
        assert_eq!(
            PaneKind::of_title("process tree"),
            Some(PaneKind::ProcessTree)
        );
        assert_eq!(PaneKind::of_title("Pane of tomorrow"), None);
    }
}
