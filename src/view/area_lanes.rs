//! Selects lanes by area: those of the selected tracks, and those included in sums.

use super::outline::Node;
use super::row::{Fold, LaneKind};
use super::state::ViewState;
use super::sums::HiddenTracks;
use rustc_hash::FxHashSet;

/// The lanes of a trace.
#[derive(Default)]
pub(crate) struct PartedLanes {
    /// Lanes that are shown or folded away.
    pub(crate) shown: Vec<LaneKind>,
    /// Lanes of hidden tracks.
    pub(crate) hidden: FxHashSet<LaneKind>,
}

impl ViewState {
    /// Returns the lanes of the selected tracks. A row that is closed, or that alone is selected, adds the lanes of all
    /// rows inside it. `None`: all lanes.
    #[must_use]
    pub fn area_lanes(&self) -> Option<Vec<LaneKind>> {
        fn all_of(node: &Node, lanes: &mut Vec<LaneKind>) {
            lanes.extend(node.lanes.iter().map(|lane| lane.kind));
            for child in &node.children {
                all_of(child, lanes);
            }
        }
        let keys = self.area_rows.as_ref()?;
        let mut lanes = Vec::new();
        for key in keys {
            match self.rows.of_key(*key) {
                Some(row) if row.fold != Fold::Closed && keys.len() > 1 => {
                    lanes.extend(row.kinds());
                }
                _ => {
                    if let Some(node) = self.outline.node(*key) {
                        all_of(node, &mut lanes);
                    }
                }
            }
        }
        Some(lanes)
    }

    /// Returns the lanes to sum over: those of the selected tracks, or all; minus hidden ones if the user excludes
    /// these. `None`: all lanes.
    #[must_use]
    pub(crate) fn summed_lanes(&self) -> Option<Vec<LaneKind>> {
        let selected = self.area_lanes();
        let Some(parted) = self.parted_lanes() else {
            return selected;
        };
        let mut lanes = selected.unwrap_or(parted.shown);
        lanes.retain(|lane| !parted.hidden.contains(lane));
        Some(lanes)
    }

    /// Returns all lanes of the trace. `None`: hidden lanes are not excluded from sums, or none are hidden.
    #[must_use]
    pub(crate) fn parted_lanes(&self) -> Option<PartedLanes> {
        if self.sums.hidden == HiddenTracks::Counted || self.layout.hidden.is_empty() {
            return None;
        }
        let mut parted = PartedLanes::default();
        let mut open: Vec<(&Node, bool)> =
            self.outline.nodes.iter().map(|it| (it, false)).collect();
        while let Some((node, is_inside)) = open.pop() {
            let is_hidden = is_inside || self.layout.hidden.contains(&node.key);
            let lanes = node.lanes.iter().map(|lane| lane.kind);
            match is_hidden {
                true => parted.hidden.extend(lanes),
                false => parted.shown.extend(lanes),
            }
            open.extend(node.children.iter().map(|child| (child, is_hidden)));
        }
        Some(parted)
    }
}
