//! The state that the timeline keeps from frame to frame: drags, lists, texts being typed.

use super::chain_marks::ChainMarks;
use super::counters::RangeLabel;
use super::drag::{Drag, Moving};
use super::flows::Most;
use super::glide::Glide;
use super::kept::KeptLists;
use super::label::Label;
use super::overview_matches::MatchesSeen;
use super::strips::Strips;
use crate::base::{TimeSpan, Timestamp};
use crate::load::TraceId;
use crate::query::Item;
use crate::query::visible::{Block, CounterStep};
use crate::view::rows::RowKey;
use egui::{Mesh, Pos2, Rect};
use std::sync::Arc;

/// An edge of a slice near the pointer.
#[derive(Clone, Copy)]
pub(super) struct NearEdge {
    /// Distance from the pointer, in points.
    pub(super) distance: f32,
    pub(super) time: Timestamp,
}

/// A point of the timeline.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    /// The item there, if there is one.
    pub(super) item: Option<Item>,
    pub(super) time: Timestamp,
}

/// The trace, rows and zoom for which heights were chosen.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct SeenAt {
    pub(super) trace: TraceId,
    pub(super) span: TimeSpan,
    pub(super) width: f32,
}

/// The timeline with its state.
#[derive(Default)]
pub(crate) struct Timeline {
    pub(super) kept: KeptLists,
    /// The critical chain of a build.
    pub(super) chain_marks: ChainMarks,
    /// The state of the view for which the rows' heights were chosen.
    pub(super) heights_for: Option<SeenAt>,
    /// The current state of the view, and the time in seconds of its last change.
    pub(super) resting: Option<(SeenAt, f64)>,
    /// The mesh of each section; a frame reuses the allocation of the previous one.
    pub(super) meshes: Vec<Arc<Mesh>>,
    pub(super) strips: Strips,
    pub(super) matches: MatchesSeen,
    /// The blocks of a lane that may have labels.
    pub(super) wide: Vec<Block>,
    pub(super) steps: Vec<CounterStep>,
    pub(super) drag: Option<Drag>,
    pub(super) glide: Glide,
    pub(super) moving: Option<Moving>,
    /// Labels and accessibility nodes of the current frame.
    pub(super) labels: Vec<Label>,
    /// Range labels of counters in the current frame.
    pub(super) ranges: Vec<RangeLabel>,
    /// Rectangles of gap texts that show how much is missing.
    pub(super) gap_labels: Vec<Rect>,
    /// Whether accessibility nodes are needed.
    pub(super) has_nodes: bool,
    /// The slice edge nearest to the pointer in the lane under it.
    pub(super) edge: Option<NearEdge>,
    /// The pointer while it is over the ruler; the visible slice edge nearest to it is in `ruler_edge`.
    pub(super) ruler_pointer: Option<Pos2>,
    pub(super) ruler_edge: Option<NearEdge>,
    /// The edge near the pointer when it was pressed.
    pub(super) pressed_edge: Option<Timestamp>,
    /// Limit of drawn arrows.
    pub(super) arrows: Most,
    /// The spot that was last under the pointer.
    pub(super) under_pointer: Option<Spot>,
    /// The spot on which the context menu was opened.
    pub(super) menu_of: Option<Spot>,
    /// The row being renamed, and the typed text.
    pub(super) renaming: Option<(RowKey, String)>,
    /// The time of the flag whose note is being edited, and the typed text.
    pub(super) noting: Option<(Timestamp, String)>,
    /// The header clicked last: a selection of several starts there.
    pub(super) chosen_from: Option<RowKey>,
    /// The header under the pointer.
    pub(super) pointed_header: Option<RowKey>,
}
