//! The parts of the view whose changes are announced.

use crate::base::{TimeSpan, Timestamp};
use crate::query::Item;
use crate::view::flags::Flag;
use crate::view::history::Place;
use crate::view::layout::Layout;
use crate::view::pane_kind::PaneKind;
use crate::view::question::Question;
use crate::view::row::RowKey;
use crate::view::ruler::TimeFormat;
use crate::view::settings::{Settings, ThemeChoice};
use crate::view::state::{Finder, Isolation, ViewState};

/// The parts of the view whose changes are announced.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Heard {
    pub(super) selected: Option<Item>,
    pub(super) found_row: Option<RowKey>,
    pub(super) range: Option<TimeSpan>,
    pub(super) area_rows: Option<Vec<RowKey>>,
    pub(super) span: TimeSpan,
    pub(super) scroll: f32,
    pub(super) marks: [Option<Timestamp>; 2],
    pub(super) flags: Vec<Flag>,
    pub(super) tips: Vec<Item>,
    pub(super) places: [Option<Place>; 9],
    pub(super) flow_choice: [u32; 2],
    pub(super) layout: Layout,
    pub(super) filter: String,
    pub(super) is_only_active: bool,
    pub(super) isolation: Isolation,
    pub(super) time_format: TimeFormat,
    pub(super) theme: ThemeChoice,
    pub(super) settings: Settings,
    /// Names of the dialogs, bars and fields that are open.
    pub(super) opened: Vec<String>,
    pub(super) panes: Vec<PaneKind>,
    pub(super) fronts: Vec<PaneKind>,
}

impl Heard {
    /// Copies these parts of the view.
    #[must_use]
    pub(crate) fn of(state: &ViewState) -> Heard {
        let shown = |panes: Vec<PaneKind>| match state.dock.is_hidden {
            true => Vec::new(),
            false => panes,
        };
        Heard {
            selected: state.selected,
            found_row: state.found_row,
            range: state.range,
            area_rows: state.area_rows.clone(),
            span: state.span,
            scroll: state.scroll,
            marks: state.marks,
            flags: state.flags.clone(),
            tips: state.tips.clone(),
            places: state.places,
            flow_choice: state.flow_choice,
            layout: state.layout.clone(),
            filter: state.filter.clone(),
            is_only_active: state.active.is_some(),
            isolation: state.search.isolation,
            time_format: state.time_format,
            theme: state.theme,
            settings: state.settings,
            opened: opened(state),
            panes: shown(state.dock.panes()),
            fronts: shown(state.dock.fronts()),
        }
    }
}

/// Returns the names of the dialogs, bars and fields that are open.
fn opened(state: &ViewState) -> Vec<String> {
    let finder = match state.finder {
        Some(Finder::Commands) => "List of commands",
        Some(Finder::Tracks) => "List of tracks",
        Some(Finder::Time) => "Go to a time",
        None => "",
    };
    let question = match &state.question {
        Some(Question::StartOver) => "Question: start over",
        Some(Question::Path(purpose)) => purpose.title(),
        Some(Question::KeepLayout) => "Keep the layout",
        Some(Question::Plot { .. }) => "Plot numbers of events",
        None => "",
    };
    let rows = [
        (state.search.is_open, "Search"),
        (state.is_help_open, "Keys and gestures"),
        (state.is_settings_open, "Settings"),
        (state.is_legend_open, "Legend"),
        (state.is_export_open, "Export"),
        (state.noting.is_some(), "Note of the flag"),
        (state.renaming.is_some(), "New name of the track"),
        (state.finder.is_some(), finder),
        (state.question.is_some(), question),
    ];
    let open = rows.into_iter().filter(|row| row.0);
    open.map(|row| row.1.to_owned()).collect()
}
