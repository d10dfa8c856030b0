//! Commands for the window and its panes.

use super::key_row::{CTRL, CTRL_SHIFT, KeyRow, NONE, SHIFT, after, key, row};
use crate::view::dock::Beside;
use crate::view::{
    Action, Direction, DockSide, Docking, Effect, Finder, PaneKind, Question, RecordCommand,
    Settings, ThemeChoice, TimeFormat, ViewState,
};
use crate::view::{PaneFocus, Purpose};
use egui::Key;

pub(super) const ROWS: &[KeyRow] = &[
    row(&[key(CTRL, Key::O)], "Open a file", |_| {
        Some(Action::Do(Effect::AskForFile(Purpose::Open)))
    }),
    row(
        &[key(CTRL_SHIFT, Key::C)],
        "Copy a link to this view",
        |_| Some(Action::Do(Effect::CopyLink)),
    ),
    row(&[key(NONE, Key::F5)], "Read the files again", |_| {
        Some(Action::Do(Effect::Reload))
    }),
    row(&[], "Follow the file as it grows, or no longer", |_| {
        Some(Action::Do(Effect::ToggleFollow))
    }),
    row(
        &[key(CTRL, Key::V)],
        "Open the path on the clipboard",
        |_| Some(Action::Do(Effect::Paste)),
    ),
    row(&[], "Open a file by its path", |_| {
        Some(Action::Ask(Some(Question::Path(Purpose::Open))))
    }),
    row(
        &[key(CTRL_SHIFT, Key::O)],
        "Add a trace to this axis",
        |_| Some(Action::Do(Effect::AskForFile(Purpose::Add))),
    ),
    row(&[key(CTRL, Key::E)], "Export a range of the trace", |_| {
        Some(Action::ToggleExport)
    }),
    row(&[key(CTRL_SHIFT, Key::P)], "Find a command", |_| {
        Some(Action::Find(Finder::Commands))
    }),
    row(&[key(NONE, Key::Q)], "Show or hide the panes", |_| {
        Some(Action::ToggleDock)
    }),
    row(
        &[key(NONE, Key::F6)],
        "Go on to the next pane, or to the timeline",
        |s| Some(go_to_pane(s, Direction::Next)),
    ),
    row(
        &[key(SHIFT, Key::F6)],
        "Go back to the pane before, or to the timeline",
        |s| Some(go_to_pane(s, Direction::Previous)),
    ),
    row(
        &[key(CTRL, Key::Tab), key(CTRL, Key::PageDown)],
        "Next tab of the panes",
        |s| dock(s, |pane| Docking::Turn(pane, Direction::Next)),
    ),
    row(
        &[key(CTRL_SHIFT, Key::Tab), key(CTRL, Key::PageUp)],
        "Previous tab of the panes",
        |s| dock(s, |pane| Docking::Turn(pane, Direction::Previous)),
    ),
    row(
        &[key(CTRL_SHIFT, Key::PageDown)],
        "Move the tab to the right, or into the next tabs",
        |s| dock(s, |pane| Docking::Shift(pane, Direction::Next)),
    ),
    row(
        &[key(CTRL_SHIFT, Key::PageUp)],
        "Move the tab to the left, or into the tabs before",
        |s| dock(s, |pane| Docking::Shift(pane, Direction::Previous)),
    ),
    row(&[key(CTRL, Key::W)], "Close the pane", |s| {
        dock(s, Docking::Close)
    }),
    row(&[], "Put the pane at the right of its tabs", |s| {
        dock(s, |pane| Docking::Split(pane, Beside::Right))
    }),
    row(&[], "Put the pane below its tabs", |s| {
        dock(s, |pane| Docking::Split(pane, Beside::Below))
    }),
    row(&[], "Panes at the bottom", |_| {
        Some(Action::Dock(Docking::Side(DockSide::Bottom)))
    }),
    row(&[], "Panes at the right", |_| {
        Some(Action::Dock(Docking::Side(DockSide::Right)))
    }),
    row(&[], "Arrange the panes as at first", |_| {
        Some(Action::Dock(Docking::Reset))
    }),
    row(&[key(CTRL, Key::C)], "Copy the selection as text", |s| {
        (s.selected.is_some() || s.range.is_some()).then_some(Action::Do(Effect::CopySelection))
    }),
    row(&[key(CTRL, Key::Comma)], "Settings", |_| {
        Some(Action::ToggleSettings)
    }),
    row(
        &[key(CTRL, Key::Plus), key(CTRL, Key::Equals)],
        "Make everything larger",
        |s| scale(s, i32::from(s.settings.ui_percent) + 10),
    ),
    row(&[key(CTRL, Key::Minus)], "Make everything smaller", |s| {
        scale(s, i32::from(s.settings.ui_percent) - 10)
    }),
    row(
        &[key(CTRL, Key::Num0)],
        "Make everything as large as at first",
        |s| scale(s, 100),
    ),
    row(&[], "Write times in the next format", |s| {
        Some(Action::SetTimeFormat(after(
            &TimeFormat::ALL,
            s.time_format,
        )))
    }),
    row(&[], "Dark theme", |_| {
        Some(Action::SetTheme(ThemeChoice::Dark))
    }),
    row(&[], "Light theme", |_| {
        Some(Action::SetTheme(ThemeChoice::Light))
    }),
    row(&[], "Theme of the desktop", |_| {
        Some(Action::SetTheme(ThemeChoice::System))
    }),
    row(
        &[
            key(SHIFT, Key::Slash),
            key(NONE, Key::Questionmark),
            key(SHIFT, Key::Questionmark),
            key(NONE, Key::F1),
        ],
        "Keys and gestures",
        |_| Some(Action::ToggleHelp),
    ),
    row(
        &[key(SHIFT, Key::L)],
        "Legend: what the colours mean",
        |_| Some(Action::ToggleLegend),
    ),
    row(&[key(CTRL, Key::S)], "Save the session to a file", |_| {
        Some(Action::Do(Effect::AskForFile(Purpose::SaveSession)))
    }),
    row(&[], "Save a picture of the window", |_| {
        Some(Action::Do(Effect::AskForFile(Purpose::SavePicture)))
    }),
    row(&[], "Record this machine", |_| {
        Some(Action::Do(Effect::Record(RecordCommand::Choose)))
    }),
    row(&[], "Start over with this trace", |_| {
        Some(Action::Ask(Some(Question::StartOver)))
    }),
    row(&[], "Close the trace", |_| Some(Action::Do(Effect::Close))),
    row(&[key(CTRL, Key::Q)], "Quit", |_| {
        Some(Action::Do(Effect::Quit))
    }),
];

/// Returns a change of the current pane.
fn dock(state: &ViewState, what: fn(PaneKind) -> Docking) -> Option<Action> {
    let pane = state.front_pane()?;
    Some(Action::Dock(what(pane)))
}

fn go_to_pane(state: &ViewState, direction: Direction) -> Action {
    Action::AtPane(state.pane_beside(direction), PaneFocus::Goes)
}

fn scale(state: &ViewState, percent: i32) -> Option<Action> {
    Some(Action::Configure(Settings {
        ui_percent: percent.clamp(50, 300) as u16,
        ..state.settings
    }))
}
