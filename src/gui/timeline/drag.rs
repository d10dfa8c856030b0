//! Things the pointer can drag on the timeline, each with its state when the drag began.

use super::sections::Stack;
use crate::base::Timestamp;
use crate::trace::SourceId;
use crate::view::Marker;
use crate::view::rows::RowKey;

/// The thing being dragged.
/// A row of the timeline.
#[derive(Clone, Copy)]
pub(super) struct RowInStack {
    pub(super) stack: Stack,
    /// The index of the row in the stack.
    pub(super) index: usize,
}

#[derive(Clone, Copy)]
pub(super) enum Drag {
    /// Selects or zooms to a range that starts at this time, on rows that start at this one.
    Range {
        from: Timestamp,
        row: Option<RowInStack>,
        zooms: Zooms,
    },
    /// Moves an edge of the selected range; `from` is the other edge.
    Edge { from: Timestamp },
    /// Moves a marker.
    Mark(Marker),
    /// Moves the flag at this time.
    Flag(Timestamp),
    /// Pans the visible span.
    Pan,
    /// Moves the brush of the overview.
    Brush(BrushPart),
    /// Moves a row to another place.
    Row(RowKey),
    /// Moves the lower edge of a row.
    Height(Edge),
    /// Moves the edge between headers and lanes; its current x.
    Width(f32),
}

/// Whether the view zooms to the dragged range.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Zooms {
    Yes,
    No,
}

/// The part of the overview's brush that is dragged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BrushPart {
    Start,
    End,
    Whole,
    /// A new brush from this time on: with the whole trace in view, there is nowhere to move the brush to.
    New(Timestamp),
}

/// The lower edge of a row, at the start of a drag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Edge {
    pub(super) key: RowKey,
    /// Top of the row on screen, in points.
    pub(super) top: f32,
    /// Row height without lanes, in points.
    pub(super) rest: f32,
    /// Height of the lanes at 100 percent, in points.
    pub(super) lanes: f32,
}

/// A file being dragged along the axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moving {
    pub(super) source: SourceId,
    pub(super) points: f32,
}
