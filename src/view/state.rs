//! The state of the view: the visible span, open rows, the selection.

use super::anchor::{Anchor, anchor_of, find};
use super::direction::Direction;
use super::dock::{Dock, PaneFocus};
use super::flags::Flag;
use super::flat_rows::Wanted;
use super::grouping::SortBy;
use super::heights::{LegibleRows, Reach};
use super::highlight::Highlight;
use super::history::{History, Place};
use super::kept_places::KeptPlaces;
use super::layout::Layout;
use super::outline::Outline;
use super::pane_kind::PaneKind;
use super::question::Question;
use super::recording::RecordState;
use super::rows::{RowKey, Rows};
use super::ruler::{Origins, TimeFormat};
use super::saved_layout::SavedLayout;
use super::scale::{held_within, with_margin};
use super::settings::{Heights, Motion, Settings, ThemeChoice};
use super::sums::Sums;
use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::query::Item;
use crate::trace::{ProcessId, Trace};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

/// Whether everything but the matches of the search is dimmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Isolation {
    /// Not dimmed.
    #[default]
    Off,
    /// Dimmed.
    On,
}

/// What kind of selection was made last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SelectedLast {
    /// An item.
    #[default]
    Item,
    /// A range of time.
    Range,
}

/// What the finder searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finder {
    /// Commands, by name.
    Commands,
    /// Tracks, by letters of their names.
    Tracks,
    /// A time, in any format.
    Time,
}

/// State of the search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Whether the search bar is shown.
    pub is_open: bool,
    /// Whether the search field is to be focused.
    pub wants_focus: bool,
    /// A text, a regex or an expression.
    pub text: String,
    /// Whether everything but the matches is dimmed.
    pub isolation: Isolation,
}

/// The choices that are saved between starts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choices {
    theme: ThemeChoice,
    time_format: TimeFormat,
    settings: Settings,
    layout_names: Vec<String>,
}

/// State of the view; changed only by [`apply`](super::apply::apply), and by [`ViewState::take`] when more of the trace
/// is loaded.
#[derive(Clone, Debug, Default)]
pub struct ViewState {
    /// Time range of the trace.
    pub trace_span: TimeSpan,
    /// The visible span.
    pub span: TimeSpan,
    /// How far the tracks are scrolled, in points.
    pub scroll: f32,
    /// How far the pinned tracks are scrolled, in points.
    pub pinned_scroll: f32,
    /// Visible height of the tracks, in points; set by the window.
    pub page_height: f32,
    /// Selected item.
    pub selected: Option<Item>,
    /// Anchor of the selected item, valid across generations.
    pub selected_anchor: Option<Anchor>,
    /// Time range of the selected item.
    pub selected_time: Option<TimeSpan>,
    /// Index of the flow that is followed, among those that enter and those that leave the selected item.
    pub flow_choice: [u32; 2],
    /// Selected time range.
    pub range: Option<TimeSpan>,
    /// Whether item or range was selected last: commands on the selection apply to that one.
    pub selected_last: SelectedLast,
    /// Rows of the selected area, over the range or, if there is none, the whole trace; `None`: all rows.
    pub area_rows: Option<Vec<RowKey>>,
    /// Path drawn over the tracks: at each time, the item whose row it is on.
    pub path: Vec<(Item, Timestamp)>,
    /// The markers A and B.
    pub marks: [Option<Timestamp>; 2],
    /// Flags, sorted by time.
    pub flags: Vec<Flag>,
    /// Time under the pointer.
    pub hover: Option<Timestamp>,
    /// Time that the user jumped to; `None` again once the user looks at another time.
    pub aim: Option<Timestamp>,
    /// Time of the flag whose note is being edited.
    pub noting: Option<Timestamp>,
    /// Slice edge near the pointer to which a marker would snap.
    pub edge: Option<Timestamp>,
    /// Item under the pointer.
    pub pointed: Option<Item>,
    /// Row under the pointer.
    pub pointed_row: Option<RowKey>,
    /// Row that the user jumped to, until the pointer moves to another row or something else is selected.
    pub found_row: Option<RowKey>,
    /// Track filter: only tracks whose names contain this text are shown.
    pub filter: String,
    /// State of the search.
    pub search: Search,
    /// What sums include.
    pub sums: Sums,
    /// Items with a pinned tooltip.
    pub tips: Vec<Item>,
    /// Format of times.
    pub time_format: TimeFormat,
    /// Zero points of the time formats.
    pub origins: Origins,
    /// The recording that this window makes.
    pub recording: RecordState,
    /// Whether that recording is the trace that is shown.
    pub is_recording_shown: bool,
    /// Colour theme.
    pub theme: ThemeChoice,
    /// Settings that are kept across sessions.
    pub settings: Settings,
    /// Whether the span glides or jumps: a dragged span must follow without delay.
    pub motion: Motion,
    /// What the finder searches, while it is open.
    pub finder: Option<Finder>,
    /// Whether the settings are shown.
    pub is_settings_open: bool,
    /// The open question to the user.
    pub question: Option<Question>,
    /// The panes and their arrangement.
    pub dock: Dock,
    /// The pane used last: pane keys act on its tabs.
    pub pane_at_hand: Option<PaneKind>,
    /// Whether the keyboard focus moves to that pane in the next frame.
    pub pane_focus: PaneFocus,
    /// Whether the list of keys is shown.
    pub is_help_open: bool,
    /// Whether the legend of colours is shown.
    pub is_legend_open: bool,
    /// Whether the export panel is shown.
    pub is_export_open: bool,
    /// Whether the track filter is to be focused.
    pub wants_filter_focus: bool,
    /// Past places and changes.
    pub history: History,
    /// The tree of tracks.
    pub outline: Outline,
    /// The user's arrangement of the tracks.
    pub layout: Layout,
    /// Places of the rows before the trace grew, if it did and rows are sorted by activity.
    pub kept_places: Option<KeptPlaces>,
    /// Saved layouts, for any trace.
    pub layouts: Vec<SavedLayout>,
    /// While only active tracks are shown: these tracks, and the span in which they are active.
    pub active: Option<(TimeSpan, FxHashSet<RowKey>)>,
    /// The track that is being renamed.
    pub renaming: Option<RowKey>,
    /// Highlighted spans of processes' lives.
    pub highlight: Option<Highlight>,
    /// Saved places 1 to 9.
    pub places: [Option<Place>; 9],
    /// The visible rows.
    pub rows: Rows,
    /// Height that the window has for rows, in points.
    pub room: f32,
    /// The rows of slices in which something can be read; `None` before the first frame.
    pub legible: Option<LegibleRows>,
    /// How much of the trace was in view when the heights of rows were chosen.
    pub reach: Reach,
}

impl ViewState {
    /// Shows all of a newly opened trace.
    pub(crate) fn show_new(&mut self, trace: &Trace) {
        self.history.clear();
        self.selected = None;
        self.selected_anchor = None;
        self.selected_time = None;
        self.flags.clear();
        self.range = None;
        self.area_rows = None;
        self.marks = [None, None];
        (self.hover, self.aim, self.noting) = (None, None, None);
        self.layout = Layout::default();
        self.kept_places = None;
        self.active = None;
        self.places = [None; 9];
        self.filter.clear();
        self.search = Search::default();
        self.sums = Sums::default();
        self.scroll = 0.0;
        self.take(trace);
        self.span = self.bounds();
        self.motion = Motion::Jump;
    }

    /// Replaces the trace by its next generation, keeping the place as far as possible. Ids belong to one generation,
    /// so the selected item is found again by time, name and thread.
    pub fn take(&mut self, trace: &Trace) {
        let was_whole = self.span == self.bounds();
        self.trace_span = trace.span;
        // Rows of slices have other numbers in another trace.
        self.legible = None;
        self.reach = Reach::Whole;
        self.origins = Origins {
            start: trace.span.start,
            unix_offset: trace.info.wall_clock_zero_ns.map(i128::from),
            unit: trace.info.clock_unit,
        };
        self.lay_out(trace);
        self.find_selected(trace);
        self.highlight = None;
        self.path.clear();
        self.pointed = None;
        self.tips.clear();
        self.motion = Motion::Jump;
        self.span = if was_whole {
            self.bounds()
        } else {
            held_within(self.span, self.bounds())
        };
        self.rebuild_rows();
    }

    /// Replaces the trace `old` by a grown version of it, `new`: the view keeps its place, and follows the end if the
    /// end is visible.
    pub(crate) fn grow(&mut self, old: &Trace, new: &Trace) {
        let is_whole = self.span == self.bounds();
        let sees_end = self.span.end >= old.span.end;
        let by = Nanos(new.span.end.0.saturating_sub(old.span.end.0));
        let tips: Vec<Anchor> = (self.tips.iter())
            .filter_map(|tip| anchor_of(old, *tip))
            .collect();
        let top = self.first_seen();
        if self.layout.sort_by == SortBy::Activity {
            let before = || KeptPlaces::of(&Outline::natural(old, &self.layout, None));
            let kept = self.kept_places.take().unwrap_or_else(before);
            self.kept_places = Some(kept);
        }
        self.take(new);
        if let Some((key, above)) = top
            && let Some(row) = self.rows.of_key(key)
        {
            self.scroll = (row.top - above).clamp(0.0, self.max_scroll());
        }
        self.tips = tips.iter().filter_map(|tip| find(new, tip)).collect();
        if sees_end && !is_whole {
            self.span = held_within(self.span.shifted(by), self.bounds());
        }
    }

    /// Shows a span without gliding, as far as the bounds allow: that of a running recording, which only Linux has.
    #[cfg(target_os = "linux")]
    pub(crate) fn show_span(&mut self, span: TimeSpan) {
        self.span = held_within(span, self.bounds());
        self.motion = Motion::Jump;
    }

    /// Returns the first visible row, and its top relative to the upper edge of the view, in points.
    fn first_seen(&self) -> Option<(RowKey, f32)> {
        let row = self.rows.at(self.scroll)?;
        Some((row.key, row.top - self.scroll))
    }

    /// Returns whether a process, or a span of its life, is highlighted.
    #[must_use]
    pub fn is_highlighted(&self, id: ProcessId) -> bool {
        self.highlight
            .as_ref()
            .is_some_and(|highlight| !highlight.of(id).is_empty())
    }

    /// Returns the largest visible span: the trace with a little room at both ends.
    #[must_use]
    pub fn bounds(&self) -> TimeSpan {
        with_margin(self.trace_span, 1)
    }

    /// Returns the current place of the view.
    #[must_use]
    pub fn place(&self) -> Place {
        Place {
            span: self.span,
            scroll: self.scroll,
        }
    }

    /// Returns the largest scroll offset of the tracks, in points.
    #[must_use]
    pub fn max_scroll(&self) -> f32 {
        (self.rows.height() - self.page_height).max(0.0)
    }

    /// Returns the height of the pinned tracks in a canvas of height `room`, in points: at most 55 % of it.
    #[must_use]
    pub(crate) fn pinned_shown(&self, room: f32) -> f32 {
        self.rows
            .pinned_height()
            .min((room * 0.55).floor())
            .max(0.0)
    }

    /// Returns the choices that are saved between starts, to be compared with the saved ones.
    #[must_use]
    pub(crate) fn choices(&self) -> Choices {
        let names = self.layouts.iter().map(|layout| layout.name.clone());
        Choices {
            theme: self.theme,
            time_format: self.time_format,
            settings: self.settings,
            layout_names: names.collect(),
        }
    }

    /// Returns the spans of the history that contain each other and the visible one, widest first: at most `most`, the
    /// innermost ones.
    #[must_use]
    pub fn way_in(&self, most: usize) -> Vec<TimeSpan> {
        let mut way: Vec<TimeSpan> = Vec::new();
        let mut inner = self.span;
        for place in self.history.places().rev() {
            let span = place.span;
            let holds = span.start <= inner.start && span.end >= inner.end;
            // Steps that hardly zoomed are skipped.
            if holds && span.duration().0 / 5 * 4 > inner.duration().0 {
                way.push(span);
                inner = span;
                if way.len() == most {
                    break;
                }
            }
        }
        way.reverse();
        way
    }

    /// Returns the track that keys act on: the one just jumped to, the only selected one, else the one under the
    /// pointer, else the one whose header was clicked last.
    #[must_use]
    pub(crate) fn track_at_hand(&self) -> Option<RowKey> {
        if self.found_row.is_some() {
            return self.found_row;
        }
        match self.area_rows.as_deref() {
            Some([key]) if self.range.is_none() => Some(*key),
            _ => self.pointed_row.or_else(|| self.selected_track()),
        }
    }

    /// Returns the track that is selected as an item, by a click on its header.
    #[must_use]
    pub fn selected_track(&self) -> Option<RowKey> {
        let item = self.selected?;
        let rows = self.rows.all().iter();
        rows.chain(self.rows.pinned())
            .find(|row| row.item() == Some(item))
            .map(|row| row.key)
    }

    /// Returns the pane that pane keys act on: the front pane of the tabs used last.
    #[must_use]
    pub fn front_pane(&self) -> Option<PaneKind> {
        if self.dock.is_hidden {
            return None;
        }
        self.dock.front_at(self.pane_at_hand)
    }

    /// Returns the front pane after or before the current one; `None`: the timeline, which is part of the cycle.
    #[must_use]
    pub(crate) fn pane_beside(&self, direction: Direction) -> Option<PaneKind> {
        if self.dock.is_hidden {
            return None;
        }
        let fronts = self.dock.fronts();
        // The timeline is last in the cycle.
        let timeline = fronts.len();
        let at = self.pane_at_hand.and_then(|pane| {
            let seen = self.dock.front_at(Some(pane))?;
            fronts.iter().position(|front| *front == seen)
        });
        let at = at.unwrap_or(timeline);
        let to = match direction {
            Direction::Next => (at + 1) % (timeline + 1),
            Direction::Previous => at.checked_sub(1).unwrap_or(timeline),
        };
        fronts.get(to).copied()
    }

    /// Returns the middle of the visible span.
    #[must_use]
    pub(crate) fn middle(&self) -> Timestamp {
        self.span.start + Nanos(self.span.duration().0 / 2)
    }

    /// Returns the item that keys act on: the one under the pointer, or that of the header under it, else the selected
    /// one.
    #[must_use]
    pub(crate) fn item_at_hand(&self) -> Option<Item> {
        // A pointer with a time is over the canvas, not over a header.
        let header = self.pointed_row.filter(|_| self.hover.is_none());
        let of_header = || self.rows.of_key(header?)?.item();
        self.pointed.or_else(of_header).or(self.selected)
    }

    /// Returns the selected item, unless an area was selected after it.
    #[must_use]
    pub(crate) fn meant_item(&self) -> Option<Item> {
        let has_area = self.range.is_some() || self.area_rows.is_some();
        let is_left = self.selected_last == SelectedLast::Range && has_area;
        self.selected.filter(|_| !is_left)
    }

    /// Returns the time range of the item or range, whichever was selected last.
    #[must_use]
    pub(crate) fn selected_span(&self) -> Option<TimeSpan> {
        match self.selected_last {
            SelectedLast::Item => self.selected_time.or(self.range),
            SelectedLast::Range => self.range.or(self.selected_time),
        }
    }

    /// Sets the height that the window has for tracks, in points: lanes grow into the height that is left.
    pub(super) fn have_room(&mut self, points: f32) {
        let before = std::mem::replace(&mut self.room, points);
        // Rows that scroll with both heights stay as they are.
        if before == 0.0 || self.rows.least_height() <= before.max(points) {
            self.rebuild_rows();
        }
    }

    /// Changes the heights of rows to those that fit the legible rows, unless the user holds the heights. The row under
    /// the pointer keeps its place, else the first visible one.
    pub(super) fn follow_heights(&mut self, legible: LegibleRows) {
        let is_held = self.settings.heights == Heights::Held;
        let reach = Reach::of(self.span, self.trace_span);
        let is_same = self.legible.as_ref() == Some(&legible) && self.reach == reach;
        if is_held || is_same {
            return;
        }
        self.reach = reach;
        let pointed = self.pointed_row.and_then(|key| self.rows.of_key(key));
        let pointed = pointed.map(|row| (row.key, row.top - self.scroll));
        let anchor = pointed.or_else(|| self.first_seen());
        self.legible = Some(legible);
        self.rebuild_rows();
        if let Some((key, above)) = anchor
            && let Some(row) = self.rows.of_key(key)
        {
            self.scroll = (row.top - above).clamp(0.0, self.max_scroll());
        }
    }

    /// Flattens the outline again after folds or the filter changed.
    pub(super) fn rebuild_rows(&mut self) {
        let wanted = Wanted {
            layout: &self.layout,
            filter: &self.filter,
            active: self.active.as_ref().map(|(_, keys)| keys),
            legible: self.legible.as_ref(),
            reach: self.reach,
            percent: self.settings.row_percent,
            room: self.room,
        };
        self.rows = Rows::new(&self.outline, wanted);
        self.scroll = self.scroll.clamp(0.0, self.max_scroll());
    }
}
