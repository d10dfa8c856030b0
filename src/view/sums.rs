//! What the panes that add up slices take in: the kind of slices, and whether hidden tracks count.

use super::outline::Node;
use super::rows::LaneKind;
use super::state::ViewState;
use crate::trace::SliceKind;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

/// Whether what lies on hidden tracks is added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum HiddenTracks {
    /// It is.
    #[default]
    Counted,
    /// It is not.
    LeftOut,
}

/// The choices of the user for sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Sums {
    /// The kind of slices that is added up; `None`: the first that there is.
    pub kind: Option<SliceKind>,
    /// What becomes of hidden tracks.
    pub hidden: HiddenTracks,
}

impl Sums {
    /// Whether nothing was chosen.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Sums::default()
    }
}

impl ViewState {
    /// The lanes of the area to add up: of the selected tracks, or of all, without hidden ones if these are left out.
    /// `None`: all lanes.
    #[must_use]
    pub fn summed_lanes(&self) -> Option<Vec<LaneKind>> {
        let selected = self.area_lanes();
        let Some((shown, hidden)) = self.parted_lanes() else {
            return selected;
        };
        let mut lanes = selected.unwrap_or(shown);
        lanes.retain(|lane| !hidden.contains(lane));
        Some(lanes)
    }

    /// All lanes of the trace: those that are shown or folded away, and those that are hidden. `None`: hidden ones are
    /// not left out of sums, or there are none.
    #[must_use]
    pub fn parted_lanes(&self) -> Option<(Vec<LaneKind>, FxHashSet<LaneKind>)> {
        if self.sums.hidden == HiddenTracks::Counted || self.layout.hidden.is_empty() {
            return None;
        }
        let (mut shown, mut hidden) = (Vec::new(), FxHashSet::default());
        let mut open: Vec<(&Node, bool)> =
            self.outline.nodes.iter().map(|it| (it, false)).collect();
        while let Some((node, is_inside)) = open.pop() {
            let is_hidden = is_inside || self.layout.hidden.contains(&node.key);
            let lanes = node.lanes.iter().map(|lane| lane.kind);
            match is_hidden {
                true => hidden.extend(lanes),
                false => shown.extend(lanes),
            }
            open.extend(node.children.iter().map(|child| (child, is_hidden)));
        }
        Some((shown, hidden))
    }
}
