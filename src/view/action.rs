//! Every action a user can take, as a value: menus, keys, mouse, CLI flags and tests all produce these.

use super::direction::Direction;
use super::dock::{Docking, PaneFocus};
use super::effect::Effect;
use super::flags::Flagging;
use super::heights::LegibleRows;
use super::highlight::Highlight;
use super::layout::Arrange;
use super::pane_kind::PaneKind;
use super::question::Question;
use super::row::RowKey;
use super::ruler::TimeFormat;
use super::settings::{Settings, ThemeChoice};
use super::state::Finder;
use super::sums::Sums;
use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::query::Item;

/// One of the two markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Marker {
    /// The first marker.
    A,
    /// The second marker.
    B,
}

/// A step between nesting levels of slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// The slice that contains the selected one.
    Parent,
    /// The first slice nested in the selected one.
    FirstChild,
}

/// What is under the pointer on the timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pointed {
    /// Time under the pointer.
    pub time: Option<Timestamp>,
    /// The slice edge near the pointer, if there is one and snapping to edges is on.
    pub edge: Option<Timestamp>,
    /// Item under the pointer.
    pub item: Option<Item>,
    /// Row under the pointer.
    pub row: Option<RowKey>,
}

/// An action to carry out; [`apply`](super::apply::apply) is the one place that does so.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Jump to a span.
    Show(TimeSpan),
    /// Move the visible span's edges (a dragged brush); one history step together with the drags just before.
    Drag(TimeSpan),
    /// Multiply the visible span's length by `factor`, around a time.
    ZoomBy {
        /// Below 1 zooms in.
        factor: f64,
        /// The time that keeps its place on screen.
        around: Timestamp,
    },
    /// Move the visible span by this many ns, later if positive.
    PanBy(Nanos),
    /// Show the whole trace.
    Fit,
    /// Show the selected range or item; show the whole trace if that range is shown already.
    Focus,
    /// Select an item.
    Select(Item),
    /// Select an item and bring it into view.
    Reveal(Item),
    /// Select a range of time.
    SelectRange(TimeSpan),
    /// Select the time range of the selected item.
    RangeOfSelection,
    /// Select a time range on these tracks only.
    SelectArea(TimeSpan, Vec<RowKey>),
    /// Select these tracks over the whole trace.
    SelectRows(Vec<RowKey>),
    /// Select the track of the selected or pointed-at item; a second time, select all tracks.
    SelectTrack,
    /// Close a dialog or bar that covers the timeline; else clear the selection; else close the search.
    Deselect,
    /// Clear the selection.
    DeselectItems,
    /// Select the item before or after the selected one on its track.
    Step(Direction),
    /// Select the next or previous item of the same name on the same track.
    StepSame(Direction),
    /// Select the next or previous gap where events were lost.
    StepGap(Direction),
    /// Select the slice that contains the selected one, or the first nested in it.
    SelectAround(Level),
    /// Follow the flow that leaves or enters the selected item.
    Follow(Direction),
    /// Choose another of the flows that leave or enter the selected item.
    ChooseFlow(Direction),
    /// Put a marker at a time.
    Mark(Marker, Timestamp),
    /// Put the two markers at the two ends of a span.
    MarkBoth(TimeSpan),
    /// Change the flags.
    Flag(Flagging),
    /// Add a flag at a time and start editing its note.
    AddFlag(Timestamp),
    /// Start editing the note of the flag at this time; `None`: stop editing.
    NoteFlag(Option<Timestamp>),
    /// Center the next or previous flag.
    StepFlag(Direction),
    /// Remove both markers.
    ClearMarks,
    /// Open a closed row, or close an open one.
    Toggle(RowKey),
    /// Close all groups.
    FoldAll,
    /// Open all groups.
    UnfoldAll,
    /// Show only tracks whose names contain this text.
    Filter(String),
    /// Scroll the tracks by this many points, down if positive.
    ScrollBy(f32),
    /// Change the arrangement of the tracks.
    Arrange(Arrange),
    /// Start typing a new name for a track; `None`: stop.
    StartRename(Option<RowKey>),
    /// Bring a row into view, opening the groups that contain it.
    RevealRow(RowKey),
    /// Bring a row into view, opening the groups that contain it, and select it.
    GoToRow(RowKey),
    /// Save the current view as place 1 to 9.
    SavePlace(u8),
    /// Return to saved place 1 to 9.
    RecallPlace(u8),
    /// Center a time at the current zoom.
    Center(Timestamp),
    /// Center a time at the current zoom, and draw a line at it.
    GoToTime(Timestamp),
    /// Scroll the pinned tracks by this many points, down if positive.
    ScrollPinned(f32),
    /// The pointer moved over this on the timeline.
    Point(Pointed),
    /// The pointer is over this time; `None`: over no time.
    Hover(Option<Timestamp>),
    /// Set the format in which times are written.
    SetTimeFormat(TimeFormat),
    /// Set the colour theme.
    SetTheme(ThemeChoice),
    /// Replace the settings, which are kept across sessions.
    Configure(Settings),
    /// Set what the sums include.
    AddUp(Sums),
    /// Open the search and focus its text field.
    OpenSearch,
    /// Search for this text.
    Search(String),
    /// Switch dimming of items that do not match on or off.
    ToggleIsolation,
    /// Close the search and clear its matches.
    CloseSearch,
    /// Pin an item's tooltip.
    PinTip(Item),
    /// Pin the tooltip of the pointed-at item, else of the selected one.
    PinPointed,
    /// Unpin an item's tooltip.
    UnpinTip(Item),
    /// Show or hide the settings.
    ToggleSettings,
    /// Open the finder for commands, tracks or times.
    Find(Finder),
    /// Close the finder.
    CloseFinder,
    /// Highlight spans of processes' lives; `None`: no highlight.
    Highlight(Option<Highlight>),
    /// Draw a path over the tracks: at each time, the item whose row it is on; empty: no path.
    ShowPath(Vec<(Item, Timestamp)>),
    /// Bring a pane to the front.
    OpenPane(PaneKind),
    /// Show or hide the panes.
    ToggleDock,
    /// Change the arrangement of the panes.
    Dock(Docking),
    /// Make pane keys act on the tabs of this pane; `None`: on the timeline.
    AtPane(Option<PaneKind>, PaneFocus),
    /// Go to the previous place in the history.
    Back,
    /// Go to the next place in the history.
    Forward,
    /// Show or hide the list of keys.
    ToggleHelp,
    /// Show or hide the legend of colours.
    ToggleLegend,
    /// The window has this height for tracks, in points.
    HaveRoom(f32),
    /// In these rows of slices something is wide enough to be read; heights follow, unless the user holds them.
    FollowHeights(LegibleRows),
    /// Focus the track filter.
    FocusFilter,
    /// Open the dialog that defines a plot; the item decides its initial choice.
    DraftPlot(Option<Item>),
    /// Open a question to the user; `None`: close it.
    Ask(Option<Question>),
    /// Reset the view to that of a trace opened for the first time.
    StartOver,
    /// Ask something of the program around the view.
    Do(Effect),
    /// Show or hide the export panel.
    ToggleExport,
}
