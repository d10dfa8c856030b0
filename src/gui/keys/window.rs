//! The window itself.

use super::{CTRL, CTRL_SHIFT, KeyRow, NONE, SHIFT, row};
use crate::view::action::{PaneFocus, Purpose};
use crate::view::dock::Beside;
use crate::view::{
    Action, Direction, DockSide, Docking, Finder, Question, Settings, ThemeChoice, TimeFormat,
    ViewState,
};
use egui::Key;

pub(super) const ROWS: &[KeyRow] = &[
    row(&[(CTRL, Key::O)], "Ctrl+O", "Open a file", |_| {
        Some(Action::AskForFile(Purpose::Open))
    }),
    row(
        &[(CTRL_SHIFT, Key::C)],
        "Ctrl+Shift+C",
        "Copy a link to this view",
        |_| Some(Action::CopyLink),
    ),
    row(&[(NONE, Key::F5)], "F5", "Read the files again", |_| {
        Some(Action::Reload)
    }),
    row(&[], "", "Follow the file as it grows, or no longer", |_| {
        Some(Action::ToggleFollow)
    }),
    row(
        &[(CTRL, Key::V)],
        "Ctrl+V",
        "Open the path on the clipboard",
        |_| Some(Action::Paste),
    ),
    row(&[], "", "Open a file by its path", |_| {
        Some(Action::Ask(Some(Question::Path(Purpose::Open))))
    }),
    row(
        &[(CTRL_SHIFT, Key::O)],
        "Ctrl+Shift+O",
        "Add a trace to this axis",
        |_| Some(Action::AskForFile(Purpose::Add)),
    ),
    row(
        &[(CTRL, Key::E)],
        "Ctrl+E",
        "Export a range of the trace",
        |_| Some(Action::ToggleExport),
    ),
    row(
        &[(CTRL_SHIFT, Key::P)],
        "Ctrl+Shift+P",
        "Find a command",
        |_| Some(Action::Find(Finder::Commands)),
    ),
    row(&[(NONE, Key::Q)], "Q", "Show or hide the panes", |_| {
        Some(Action::ToggleDock)
    }),
    row(
        &[(NONE, Key::F6)],
        "F6",
        "Go on to the next pane, or to the timeline",
        |s| Some(go_to_pane(s, Direction::Next)),
    ),
    row(
        &[(SHIFT, Key::F6)],
        "Shift+F6",
        "Go back to the pane before, or to the timeline",
        |s| Some(go_to_pane(s, Direction::Previous)),
    ),
    row(
        &[(CTRL, Key::Tab), (CTRL, Key::PageDown)],
        "Ctrl+Tab  Ctrl+Page Down",
        "Next tab of the panes",
        |s| dock(s, |name| Docking::Turn(name, Direction::Next)),
    ),
    row(
        &[(CTRL_SHIFT, Key::Tab), (CTRL, Key::PageUp)],
        "Ctrl+Shift+Tab  Ctrl+Page Up",
        "Previous tab of the panes",
        |s| dock(s, |name| Docking::Turn(name, Direction::Previous)),
    ),
    row(
        &[(CTRL_SHIFT, Key::PageDown)],
        "Ctrl+Shift+Page Down",
        "Move the tab to the right, or into the next tabs",
        |s| dock(s, |name| Docking::Shift(name, Direction::Next)),
    ),
    row(
        &[(CTRL_SHIFT, Key::PageUp)],
        "Ctrl+Shift+Page Up",
        "Move the tab to the left, or into the tabs before",
        |s| dock(s, |name| Docking::Shift(name, Direction::Previous)),
    ),
    row(&[(CTRL, Key::W)], "Ctrl+W", "Close the pane", |s| {
        dock(s, Docking::Close)
    }),
    row(&[], "", "Put the pane at the right of its tabs", |s| {
        dock(s, |name| Docking::Split(name, Beside::Right))
    }),
    row(&[], "", "Put the pane below its tabs", |s| {
        dock(s, |name| Docking::Split(name, Beside::Below))
    }),
    row(&[], "", "Panes at the bottom", |_| {
        Some(Action::Dock(Docking::Side(DockSide::Bottom)))
    }),
    row(&[], "", "Panes at the right", |_| {
        Some(Action::Dock(Docking::Side(DockSide::Right)))
    }),
    row(&[], "", "Arrange the panes as at first", |_| {
        Some(Action::Dock(Docking::Reset))
    }),
    row(
        &[(CTRL, Key::C)],
        "Ctrl+C",
        "Copy the selection as text",
        |s| (s.selected.is_some() || s.range.is_some()).then_some(Action::CopySelection),
    ),
    row(&[(CTRL, Key::Comma)], "Ctrl+,", "Settings", |_| {
        Some(Action::ToggleSettings)
    }),
    row(
        &[(CTRL, Key::Plus), (CTRL, Key::Equals)],
        "Ctrl++",
        "Make everything larger",
        |s| scale(s, i32::from(s.settings.ui_percent) + 10),
    ),
    row(
        &[(CTRL, Key::Minus)],
        "Ctrl+-",
        "Make everything smaller",
        |s| scale(s, i32::from(s.settings.ui_percent) - 10),
    ),
    row(
        &[(CTRL, Key::Num0)],
        "Ctrl+0",
        "Make everything as large as at first",
        |s| scale(s, 100),
    ),
    row(&[], "", "Write times in the next format", |s| {
        Some(Action::SetTimeFormat(super::arranging::after(
            &TimeFormat::ALL,
            s.time_format,
        )))
    }),
    row(&[], "", "Dark theme", |_| {
        Some(Action::SetTheme(ThemeChoice::Dark))
    }),
    row(&[], "", "Light theme", |_| {
        Some(Action::SetTheme(ThemeChoice::Light))
    }),
    row(&[], "", "Theme of the desktop", |_| {
        Some(Action::SetTheme(ThemeChoice::System))
    }),
    row(
        &[
            (SHIFT, Key::Slash),
            (NONE, Key::Questionmark),
            (SHIFT, Key::Questionmark),
            (NONE, Key::F1),
        ],
        "?  F1",
        "Keys and gestures",
        |_| Some(Action::ToggleHelp),
    ),
    row(
        &[(SHIFT, Key::L)],
        "Shift+L",
        "Legend: what the colours mean",
        |_| Some(Action::ToggleLegend),
    ),
    row(
        &[(CTRL, Key::S)],
        "Ctrl+S",
        "Save the session to a file",
        |_| Some(Action::AskForFile(Purpose::SaveSession)),
    ),
    row(&[], "", "Save a picture of the window", |_| {
        Some(Action::AskForFile(Purpose::SavePicture))
    }),
    row(&[], "", "Start over with this trace", |_| {
        Some(Action::Ask(Some(Question::StartOver)))
    }),
    row(&[], "", "Close the trace", |_| Some(Action::Close)),
    row(&[(CTRL, Key::Q)], "Ctrl+Q", "Quit", |_| Some(Action::Quit)),
];

/// Something done to the pane at hand.
fn dock(state: &ViewState, what: fn(String) -> Docking) -> Option<Action> {
    let name = state.front_pane()?.to_owned();
    Some(Action::Dock(what(name)))
}

fn go_to_pane(state: &ViewState, direction: Direction) -> Action {
    let name = state.pane_beside(direction).map(str::to_owned);
    Action::AtPane(name, PaneFocus::Goes)
}

fn scale(state: &ViewState, percent: i32) -> Option<Action> {
    Some(Action::Configure(Settings {
        ui_percent: percent.clamp(50, 300) as u16,
        ..state.settings
    }))
}
