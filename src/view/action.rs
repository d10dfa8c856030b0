//! Everything that a user can do, as values: menus, keys, mouse, CLI flags and tests all speak these.

use super::export_order::ExportOrder;
use super::rows::RowKey;
use super::ruler::TimeFormat;
use super::state::ThemeChoice;
use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::query::Item;
use crate::trace::SourceId;
use std::path::PathBuf;

/// One of the two markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Marker {
    /// The first.
    A,
    /// The second.
    B,
}

/// Along the track, or in the list of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// To what was before.
    Previous,
    /// To what comes after.
    Next,
}

/// What files are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// To be shown instead of what is shown.
    Open,
    /// To be shown beside it.
    Add,
}

/// What is to be done. [`apply`](super::apply::apply) is the one place that does it.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Jump to a span.
    Show(TimeSpan),
    /// Move the edges to a span, as one step with what came just before (a brush that is dragged).
    Drag(TimeSpan),
    /// Make the span `factor` times as long around a time.
    ZoomBy {
        /// Below 1 goes in.
        factor: f64,
        /// Stays where it is.
        around: Timestamp,
    },
    /// Move the span.
    PanBy(Nanos),
    /// Show the whole trace.
    Fit,
    /// Show the selected range or item; the whole trace if it is shown already.
    Focus,
    /// Select an item.
    Select(Item),
    /// Select an item and bring it into view.
    Reveal(Item),
    /// Select a range of time.
    SelectRange(TimeSpan),
    /// Select the time that the selected item takes.
    RangeOfSelection,
    /// Select nothing.
    Deselect,
    /// Select the neighbour of what is selected, on its track.
    Step(Direction),
    /// Follow the flow that leaves or enters what is selected.
    Follow(Direction),
    /// Put a marker at a time.
    Mark(Marker, Timestamp),
    /// Take both markers away.
    ClearMarks,
    /// Open a row if it is closed, else close it.
    Toggle(RowKey),
    /// Close all groups.
    FoldAll,
    /// Open all groups.
    UnfoldAll,
    /// Show only tracks whose names hold this text.
    Filter(String),
    /// Move the tracks by points, down if positive.
    ScrollBy(f32),
    /// The pointer is over this time.
    Hover(Option<Timestamp>),
    /// Write times this way.
    SetTimeFormat(TimeFormat),
    /// Use these colours.
    SetTheme(ThemeChoice),
    /// Bring a pane to the front.
    OpenPane(&'static str),
    /// Show or hide the panes.
    ToggleDock,
    /// Go to the place before.
    Back,
    /// Go to the place after.
    Forward,
    /// Show or hide the list of keys.
    ToggleHelp,
    /// Put the keyboard into the track filter.
    FocusFilter,
    /// Open files on one axis, in place of what is shown.
    Open(Vec<PathBuf>),
    /// Put files beside what is shown, on the same axis.
    Add(Vec<PathBuf>),
    /// Put one of several files at an offset from its own times; `None`: where the evidence says.
    Place(SourceId, Option<Nanos>),
    /// Take one of several files away.
    Remove(SourceId),
    /// Ask for files.
    AskForFile(Purpose),
    /// Close the trace.
    Close,
    /// Stop the load.
    CancelLoad,
    /// Show or hide the export panel.
    ToggleExport,
    /// Write a part of the trace to a file.
    Export(Box<ExportOrder>),
    /// Stop the export.
    CancelExport,
    /// Put a text on the clipboard.
    Copy(String),
    /// Take away a notice.
    Dismiss,
    /// End the program.
    Quit,
}
