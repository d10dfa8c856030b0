//! Everything that a user can do, as values: menus, keys, mouse, CLI flags and tests all speak these.

use super::dock::Docking;
use super::export_order::ExportOrder;
use super::flags::Flagging;
use super::highlight::Highlight;
use super::layout::Arrange;
use super::rows::RowKey;
use super::ruler::TimeFormat;
use super::settings::Settings;
use super::state::ThemeChoice;
use super::sums::Sums;
use super::text_order::TextOrder;
use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::load::Reading;
use crate::query::Item;
use crate::trace::{EventId, Plot, SourceId};
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

/// Whether the keyboard goes along to a pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PaneFocus {
    /// It stays where it is.
    #[default]
    Stays,
    /// It goes to the pane's tab if a button has it now.
    Follows,
    /// It goes to the pane's tab.
    Goes,
}

/// What files are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// To be shown instead of what is shown.
    Open,
    /// To be shown beside it.
    Add,
    /// To write the session to.
    SaveSession,
    /// To write a picture of the window to.
    SavePicture,
}

impl Purpose {
    /// What the question is headed with.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Purpose::Open => "Open a trace",
            Purpose::Add => "Add a trace to this axis",
            Purpose::SaveSession => "Save the session",
            Purpose::SavePicture => "Save a picture of the window",
        }
    }
}

/// What the user is asked before something is done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// Whether to forget what was made of the trace.
    StartOver,
    /// Which file is meant: its path is typed.
    Path(Purpose),
    /// Under which name the layout is kept.
    KeepLayout,
    /// What is to be plotted.
    Plot {
        /// What stands in the fields at first.
        draft: Plot,
        /// The plot that it is to stand for.
        instead_of: Option<Plot>,
    },
}

/// Up or down in nested slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// What it lies in.
    Parent,
    /// The first that lies in it.
    FirstChild,
}

/// What the finder looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finder {
    /// Something to do, by its name.
    Commands,
    /// A track, by letters of its name.
    Tracks,
    /// A time, in any format.
    Time,
}

/// What lies under the pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pointed {
    /// The time.
    pub time: Option<Timestamp>,
    /// An edge of a slice near it, where there is one and edges snap.
    pub edge: Option<Timestamp>,
    /// The item.
    pub item: Option<Item>,
    /// The row.
    pub row: Option<RowKey>,
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
    /// Select a range of time on some tracks only.
    SelectArea(TimeSpan, Vec<RowKey>),
    /// Select these tracks, for all time.
    SelectRows(Vec<RowKey>),
    /// Select the whole track of what is selected or pointed at; the second time all tracks.
    SelectTrack,
    /// Close what lies over the timeline, else select nothing, else close the search.
    Deselect,
    /// Select nothing.
    DeselectItems,
    /// Select the neighbour of what is selected, on its track.
    Step(Direction),
    /// Select the next or previous of the same name, on the same track.
    StepSame(Direction),
    /// Select the next or previous place where events were lost.
    StepGap(Direction),
    /// Select the slice around or inside the selected one.
    SelectAround(Level),
    /// Follow the flow that leaves or enters what is selected.
    Follow(Direction),
    /// Choose another of the flows that leave or enter what is selected.
    ChooseFlow(Direction),
    /// Put a marker at a time.
    Mark(Marker, Timestamp),
    /// Put both markers at the ends of a span.
    MarkBoth(TimeSpan),
    /// Do something to the flags.
    Flag(Flagging),
    /// Put a flag here and let its note be typed.
    AddFlag(Timestamp),
    /// Let the note of the flag that stands at this time be typed; `None`: no longer.
    NoteFlag(Option<Timestamp>),
    /// Bring the next or previous flag to the middle.
    StepFlag(Direction),
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
    /// Do something to the tracks.
    Arrange(Arrange),
    /// Give a track another name by typing; `None`: no longer.
    StartRename(Option<RowKey>),
    /// Bring a row into view, opening what it lies in.
    RevealRow(RowKey),
    /// The same, and select it.
    GoToRow(RowKey),
    /// Keep what is seen as place 1 to 9.
    SavePlace(u8),
    /// Show place 1 to 9 again.
    RecallPlace(u8),
    /// Bring a time to the middle, at the same zoom.
    Center(Timestamp),
    /// The same, and show where it is.
    GoToTime(Timestamp),
    /// Move the pinned tracks by points, down if positive.
    ScrollPinned(f32),
    /// The pointer is over this on the timeline.
    Point(Pointed),
    /// The pointer is over this time.
    Hover(Option<Timestamp>),
    /// Write times this way.
    SetTimeFormat(TimeFormat),
    /// Use these colours.
    SetTheme(ThemeChoice),
    /// Choose this for good.
    Configure(Settings),
    /// Add up this.
    AddUp(Sums),
    /// Open the search and type into it.
    OpenSearch,
    /// Search for this.
    Search(String),
    /// Stop searching; what was found stays.
    StopSearch,
    /// Stop everything that is worked out in the background.
    StopWork,
    /// Select the next or previous match.
    StepMatch(Direction),
    /// Dim what does not match, or no longer.
    ToggleIsolation,
    /// Close the search; nothing is marked any longer.
    CloseSearch,
    /// Keep a note of an item in view.
    PinTip(Item),
    /// Keep a note of what is under the pointer, else of what is selected.
    PinPointed,
    /// Take such a note away.
    UnpinTip(Item),
    /// Show or hide the choices.
    ToggleSettings,
    /// Look for a command, a track or a time by typing.
    Find(Finder),
    /// Stop looking.
    CloseFinder,
    /// Set stretches of processes' lives off from the rest; `None`: nothing.
    Highlight(Option<Highlight>),
    /// Draw a path over the tracks: at each time, whose row; empty: none.
    ShowPath(Vec<(Item, Timestamp)>),
    /// Bring a pane to the front.
    OpenPane(&'static str),
    /// Show or hide the panes.
    ToggleDock,
    /// Do something to the panes.
    Dock(Docking),
    /// Keys for panes are from now on for the tabs of this pane; `None`: for the timeline.
    AtPane(Option<String>, PaneFocus),
    /// Go to the place before.
    Back,
    /// Go to the place after.
    Forward,
    /// Show or hide the list of keys.
    ToggleHelp,
    /// Show or hide what the colours mean.
    ToggleLegend,
    /// The window's place for tracks is so many points high.
    HaveRoom(f32),
    /// Put the keyboard into the track filter.
    FocusFilter,
    /// Open what the clipboard names: files, or a link.
    Paste,
    /// Open files in place of what is shown, to be read in this way.
    OpenAs(Vec<PathBuf>, Reading),
    /// Open files on one axis, in place of what is shown.
    Open(Vec<PathBuf>),
    /// Put files beside what is shown, on the same axis.
    Add(Vec<PathBuf>),
    /// Put one of several files at an offset from its own times; `None`: where the evidence says.
    Place(SourceId, Option<Nanos>),
    /// Take one of several files away.
    Remove(SourceId),
    /// Read the files that are shown again, in another way.
    ReadAgain(Reading),
    /// Attach probe definitions to what is shown, as the text of `kprobe_events`.
    DefineProbes(String),
    /// Write a text to a file.
    WriteText(Box<TextOrder>),
    /// Ask for files.
    AskForFile(Purpose),
    /// Ask what is to be plotted; the item says what is most likely.
    DraftPlot(Option<Item>),
    /// Ask something; `None`: no longer.
    Ask(Option<Question>),
    /// Write the session (place, layout, marks, flags, filters) to a file.
    SaveSession(PathBuf),
    /// Write a picture of the window to a file, as PNG.
    SavePicture(PathBuf),
    /// Read the files that are shown again.
    Reload,
    /// Read the files that are shown again as they grow, or no longer.
    ToggleFollow,
    /// Show the trace as if it had just been opened for the first time.
    StartOver,
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
    /// Save the bytes that an event carries.
    SavePayload(EventId),
    /// Put what is selected on the clipboard, as text.
    CopySelection,
    /// Put a link to what is seen on the clipboard.
    CopyLink,
    /// Open what a link shows.
    OpenLink(String),
    /// Put a text on the clipboard.
    Copy(String),
    /// Take away a notice.
    Dismiss,
    /// End the program.
    Quit,
}
