//! What the window shows of a trace: the visible span, open rows, what is selected.

use super::history::History;
use super::outline::Outline;
use super::rows::{Fold, RowKey, Rows};
use super::ruler::{Origins, TimeFormat};
use super::scale::{held_within, with_margin};
use crate::base::{TimeSpan, Timestamp};
use crate::query::Item;
use crate::trace::Trace;
use rustc_hash::FxHashMap;
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

/// Where the view is: what history remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The visible span.
    pub span: TimeSpan,
    /// How far the tracks are scrolled, in points.
    pub scroll: f32,
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
    /// How much of the tracks is seen at once, in points; the window says.
    pub page_height: f32,
    /// What is selected.
    pub selected: Option<Item>,
    /// The selected range of time.
    pub range: Option<TimeSpan>,
    /// The markers A and B.
    pub marks: [Option<Timestamp>; 2],
    /// The time under the pointer.
    pub hover: Option<Timestamp>,
    /// Tracks whose names hold this text are shown.
    pub filter: String,
    /// How times are written.
    pub time_format: TimeFormat,
    /// Where the times' zero points are.
    pub origins: Origins,
    /// Which colours.
    pub theme: ThemeChoice,
    /// Whether panes are shown.
    pub is_dock_hidden: bool,
    /// Whether the list of keys is shown.
    pub is_help_open: bool,
    /// Whether the export panel is shown.
    pub is_export_open: bool,
    /// Whether the track filter wants the keyboard.
    pub wants_filter_focus: bool,
    /// Where the view has been.
    pub history: History,
    /// The tree of tracks.
    pub outline: Outline,
    /// What the user opened and closed.
    pub folds: FxHashMap<RowKey, Fold>,
    /// The rows that are shown.
    pub rows: Rows,
}

impl ViewState {
    /// Shows a trace from its beginning to its end.
    pub fn show_new(&mut self, trace: &Trace) {
        self.history.clear();
        self.selected = None;
        self.range = None;
        self.marks = [None, None];
        self.hover = None;
        self.folds.clear();
        self.filter.clear();
        self.scroll = 0.0;
        self.take(trace);
        self.span = self.bounds();
    }

    /// Shows the next generation of the trace that is shown already: the place stays, as far as it can.
    /// Ids are of one generation only, so a selected item is let go unless `keep` finds it again.
    pub fn take(&mut self, trace: &Trace) {
        let was_whole = self.span == self.bounds();
        self.trace_span = trace.span;
        self.origins = Origins {
            start: trace.span.start,
            unix_offset: trace.info.wall_clock_zero_ns.map(i128::from),
            unit: trace.info.clock_unit,
        };
        self.outline = Outline::new(trace);
        self.selected = None;
        self.span = if was_whole {
            self.bounds()
        } else {
            held_within(self.span, self.bounds())
        };
        self.rebuild_rows();
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

    /// Flattens the outline again, after folds or the filter changed.
    pub(super) fn rebuild_rows(&mut self) {
        self.rows = Rows::new(&self.outline, &self.folds, &self.filter);
        self.scroll = self.scroll.clamp(0.0, self.max_scroll());
    }
}
