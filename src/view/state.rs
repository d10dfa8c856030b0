//! What the window shows of a trace: the visible span, open rows, what is selected.

use super::action::{Direction, Finder, PaneFocus, Question};
use super::anchor::{Anchor, anchor_of, find};
use super::dock::Dock;
use super::flags::Flag;
use super::grouping::SortBy;
use super::highlight::Highlight;
use super::history::History;
use super::kept_places::KeptPlaces;
use super::layout::{Layout, SavedLayout};
use super::outline::{Node, Outline};
use super::rows::{Fold, LaneKind, RowKey, Rows, Wanted};
use super::ruler::{Origins, TimeFormat};
use super::scale::{held_within, with_margin};
use super::settings::{Motion, Settings};
use super::sums::Sums;
use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::query::Item;
use crate::trace::{ProcessId, Trace};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

/// Which colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ThemeChoice {
    /// As the desktop says.
    System,
    /// Light on dark.
    #[default]
    Dark,
    /// Dark on light.
    Light,
}

impl ThemeChoice {
    /// All, in the order of menus.
    pub const ALL: [ThemeChoice; 3] = [ThemeChoice::System, ThemeChoice::Dark, ThemeChoice::Light];

    /// What menus call it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ThemeChoice::System => "System",
            ThemeChoice::Dark => "Dark",
            ThemeChoice::Light => "Light",
        }
    }
}

/// Where the view is: what history remembers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The visible span.
    pub span: TimeSpan,
    /// How far the tracks are scrolled, in points.
    pub scroll: f32,
}

/// Whether all but the matches of the search are dimmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Isolation {
    /// They are not.
    #[default]
    Off,
    /// They are.
    On,
}

/// What was selected last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SelectedLast {
    /// An item.
    #[default]
    Item,
    /// A range of time.
    Range,
}

/// What is searched for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Whether the search bar is shown.
    pub is_open: bool,
    /// Whether it wants the keyboard.
    pub wants_focus: bool,
    /// A text, a regex or an expression.
    pub text: String,
    /// Whether the rest is dimmed.
    pub isolation: Isolation,
}

/// Changed by [`apply`](super::apply::apply) only, and by [`ViewState::take`] when there is more of the trace.
#[derive(Clone, Debug, Default)]
pub struct ViewState {
    /// The trace's own span.
    pub trace_span: TimeSpan,
    /// The visible span.
    pub span: TimeSpan,
    /// How far the tracks are scrolled, in points.
    pub scroll: f32,
    /// How far the pinned tracks are scrolled, in points.
    pub pinned_scroll: f32,
    /// How much of the tracks is seen at once, in points; the window says.
    pub page_height: f32,
    /// What is selected.
    pub selected: Option<Item>,
    /// The same in words that outlive its id.
    pub selected_anchor: Option<Anchor>,
    /// The time that it takes.
    pub selected_time: Option<TimeSpan>,
    /// Which of the flows that enter and leave what is selected are followed.
    pub flow_choice: [u32; 2],
    /// The selected range of time.
    pub range: Option<TimeSpan>,
    /// Which of the two was selected last: what keys for the selection mean.
    pub selected_last: SelectedLast,
    /// The rows that the selected area covers, for the range or, where there is none, for all time; `None`: all.
    pub area_rows: Option<Vec<RowKey>>,
    /// A path over the tracks: at each time, whose row.
    pub path: Vec<(Item, Timestamp)>,
    /// The markers A and B.
    pub marks: [Option<Timestamp>; 2],
    /// Flags, sorted by time.
    pub flags: Vec<Flag>,
    /// The time under the pointer.
    pub hover: Option<Timestamp>,
    /// The time that the user went to, until something else is looked at.
    pub aim: Option<Timestamp>,
    /// The flag, by its time, whose note is being typed.
    pub noting: Option<Timestamp>,
    /// An edge near it that a marker would go to.
    pub edge: Option<Timestamp>,
    /// The item under the pointer.
    pub pointed: Option<Item>,
    /// The row under the pointer.
    pub pointed_row: Option<RowKey>,
    /// The row that was gone to, until the pointer is over another one or something else is selected.
    pub found_row: Option<RowKey>,
    /// Tracks whose names hold this text are shown.
    pub filter: String,
    /// What is searched for.
    pub search: Search,
    /// What is added up.
    pub sums: Sums,
    /// Items that a note is kept of in view.
    pub tips: Vec<Item>,
    /// How times are written.
    pub time_format: TimeFormat,
    /// Where the times' zero points are.
    pub origins: Origins,
    /// Which colours.
    pub theme: ThemeChoice,
    /// What the user chose for good.
    pub settings: Settings,
    /// How the span came to be what it is: what the hand moves must not lag behind it.
    pub motion: Motion,
    /// What the finder looks for while it is open.
    pub finder: Option<Finder>,
    /// Whether the choices are shown.
    pub is_settings_open: bool,
    /// What the user is asked.
    pub question: Option<Question>,
    /// The panes and how they are arranged.
    pub dock: Dock,
    /// The pane that was used last: keys for panes are for its tabs.
    pub pane_at_hand: Option<String>,
    /// Where the keyboard is to go in the next frame.
    pub pane_focus: PaneFocus,
    /// Whether the list of keys is shown.
    pub is_help_open: bool,
    /// Whether it is shown what the colours mean.
    pub is_legend_open: bool,
    /// Whether the export panel is shown.
    pub is_export_open: bool,
    /// Whether the track filter wants the keyboard.
    pub wants_filter_focus: bool,
    /// Where the view has been.
    pub history: History,
    /// The tree of tracks.
    pub outline: Outline,
    /// What the user did to the tracks.
    pub layout: Layout,
    /// Where the rows stood before the trace grew, if it did and they are sorted by how busy they are.
    pub kept_places: Option<KeptPlaces>,
    /// Layouts that are kept by name, for any trace.
    pub layouts: Vec<SavedLayout>,
    /// The tracks where something happens in what is seen, while only those are shown; with the span it is true of.
    pub active: Option<(TimeSpan, FxHashSet<RowKey>)>,
    /// The track that is being given another name.
    pub renaming: Option<RowKey>,
    /// What is set off from the rest.
    pub highlight: Option<Highlight>,
    /// Places 1 to 9.
    pub places: [Option<Place>; 9],
    /// The rows that are shown.
    pub rows: Rows,
    /// How high the window's place for them is, in points.
    pub room: f32,
}

impl ViewState {
    /// Shows a trace from its beginning to its end.
    pub fn show_new(&mut self, trace: &Trace) {
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

    /// Shows the next generation of the trace that is shown already: the place stays, as far as it can.
    /// Ids are of one generation only: the selected item is looked for by time, name and thread.
    pub fn take(&mut self, trace: &Trace) {
        let was_whole = self.span == self.bounds();
        self.trace_span = trace.span;
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

    /// Shows what the trace, which was `old`, has become: what is seen stays where it is, and goes with the end if that
    /// is seen.
    pub fn grow(&mut self, old: &Trace, new: &Trace) {
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

    /// The first row that is seen, and how far below the upper edge it begins, in points.
    fn first_seen(&self) -> Option<(RowKey, f32)> {
        let row = self.rows.at(self.scroll)?;
        Some((row.key, row.top - self.scroll))
    }

    /// Whether a process, or a stretch of its life, is set off.
    #[must_use]
    pub fn is_highlighted(&self, id: ProcessId) -> bool {
        self.highlight
            .as_ref()
            .is_some_and(|highlight| !highlight.of(id).is_empty())
    }

    /// How far one can look: the trace with a little room at both ends.
    #[must_use]
    pub fn bounds(&self) -> TimeSpan {
        with_margin(self.trace_span, 1)
    }

    /// Where the view is now.
    #[must_use]
    pub fn place(&self) -> Place {
        Place {
            span: self.span,
            scroll: self.scroll,
        }
    }

    /// How far the tracks can be scrolled.
    #[must_use]
    pub fn max_scroll(&self) -> f32 {
        (self.rows.height() - self.page_height).max(0.0)
    }

    /// How much of a canvas `room` points high the pinned tracks take: never more than the larger half.
    #[must_use]
    pub fn pinned_shown(&self, room: f32) -> f32 {
        self.rows
            .pinned_height()
            .min((room * 0.55).floor())
            .max(0.0)
    }

    /// The lanes of the selected tracks: with a row that is closed, or that alone is selected, come those that
    /// lie in it. `None`: all lanes.
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
                    lanes.extend(row.lanes.iter().map(|lane| lane.kind));
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

    /// What is kept from start to start: where it differs, it is to be written down.
    #[must_use]
    pub fn choices(&self) -> (ThemeChoice, TimeFormat, Settings, Vec<String>) {
        let names = self.layouts.iter().map(|layout| layout.name.clone());
        (self.theme, self.time_format, self.settings, names.collect())
    }

    /// The spans that were left on the way in to what is seen, the widest first: each lies in the one before.
    /// At most `most`, those nearest to what is seen.
    #[must_use]
    pub fn way_in(&self, most: usize) -> Vec<TimeSpan> {
        let mut way: Vec<TimeSpan> = Vec::new();
        let mut inner = self.span;
        for place in self.history.places().rev() {
            let span = place.span;
            let holds = span.start <= inner.start && span.end >= inner.end;
            // A step that hardly changes anything is none.
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

    /// The track that keys work on: the one that was just gone to, the only one that is chosen, else the one under the
    /// pointer, else the one whose header was clicked last.
    #[must_use]
    pub fn track_at_hand(&self) -> Option<RowKey> {
        if self.found_row.is_some() {
            return self.found_row;
        }
        match self.area_rows.as_deref() {
            Some([key]) if self.range.is_none() => Some(*key),
            _ => self.pointed_row.or_else(|| self.selected_track()),
        }
    }

    /// The track that is selected as an item: its header was clicked.
    #[must_use]
    pub fn selected_track(&self) -> Option<RowKey> {
        let item = self.selected?;
        let rows = self.rows.all().iter();
        rows.chain(self.rows.pinned())
            .find(|row| row.item() == Some(item))
            .map(|row| row.key)
    }

    /// The pane that keys for panes mean: in the tabs that were used last, the one that is seen.
    #[must_use]
    pub fn front_pane(&self) -> Option<&str> {
        if self.dock.is_hidden {
            return None;
        }
        self.dock.front_at(self.pane_at_hand.as_deref())
    }

    /// The pane that is seen after or before the one at hand; `None`: the timeline, which is in the round too.
    #[must_use]
    pub fn pane_beside(&self, direction: Direction) -> Option<&str> {
        if self.dock.is_hidden {
            return None;
        }
        let fronts = self.dock.fronts();
        // The timeline is the last in the round.
        let timeline = fronts.len();
        let at = self.pane_at_hand.as_deref().and_then(|name| {
            let seen = self.dock.front_at(Some(name))?;
            fronts.iter().position(|front| *front == seen)
        });
        let at = at.unwrap_or(timeline);
        let to = match direction {
            Direction::Next => (at + 1) % (timeline + 1),
            Direction::Previous => at.checked_sub(1).unwrap_or(timeline),
        };
        fronts.get(to).copied()
    }

    /// The middle of what is seen.
    #[must_use]
    pub fn middle(&self) -> Timestamp {
        self.span.start + Nanos(self.span.duration().0 / 2)
    }

    /// The item that keys work on: the one under the pointer, over a header whose track that is, else the selected one.
    #[must_use]
    pub fn item_at_hand(&self) -> Option<Item> {
        // Over an empty place of a track there is a time as well.
        let header = self.pointed_row.filter(|_| self.hover.is_none());
        let of_header = || self.rows.of_key(header?)?.item();
        self.pointed.or_else(of_header).or(self.selected)
    }

    /// The selected item, unless an area was selected after it: then that is what is meant.
    #[must_use]
    pub fn meant_item(&self) -> Option<Item> {
        let has_area = self.range.is_some() || self.area_rows.is_some();
        let is_left = self.selected_last == SelectedLast::Range && has_area;
        self.selected.filter(|_| !is_left)
    }

    /// The time of the selection: of the range and the selected item, what was selected last.
    #[must_use]
    pub fn selected_span(&self) -> Option<TimeSpan> {
        match self.selected_last {
            SelectedLast::Item => self.selected_time.or(self.range),
            SelectedLast::Range => self.range.or(self.selected_time),
        }
    }

    /// The tracks have a place so many points high: lanes grow into what they leave of it.
    pub(super) fn have_room(&mut self, points: f32) {
        let before = std::mem::replace(&mut self.room, points);
        if self.rows.least_height() < before.max(points) {
            self.rebuild_rows();
        }
    }

    /// Flattens the outline again, after folds or the filter changed.
    pub(super) fn rebuild_rows(&mut self) {
        let wanted = Wanted {
            layout: &self.layout,
            filter: &self.filter,
            active: self.active.as_ref().map(|(_, keys)| keys),
            percent: self.settings.row_percent,
            room: self.room,
        };
        self.rows = Rows::new(&self.outline, wanted);
        self.scroll = self.scroll.clamp(0.0, self.max_scroll());
    }
}
