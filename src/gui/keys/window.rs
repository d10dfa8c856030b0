//! The window itself.

use super::{CTRL, CTRL_SHIFT, KeyRow, NONE, SHIFT, row};
use crate::view::action::Purpose;
use crate::view::{
    Action, DockSide, Docking, Finder, Settings, ThemeChoice, TimeFormat, ViewState,
};
use egui::Key;

pub(super) const ROWS: &[KeyRow] = &[
    row(&[(CTRL, Key::O)], "Ctrl+O", "Open a file", |_| {
        Some(Action::AskForFile(Purpose::Open))
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
        "Show or hide this list",
        |_| Some(Action::ToggleHelp),
    ),
    row(
        &[(CTRL, Key::S)],
        "Ctrl+S",
        "Save the session to a file",
        |_| Some(Action::AskForFile(Purpose::SaveSession)),
    ),
    row(&[], "", "Start over with this trace", |_| {
        Some(Action::StartOver)
    }),
    row(&[], "", "Close the trace", |_| Some(Action::Close)),
    row(&[(CTRL, Key::Q)], "Ctrl+Q", "Quit", |_| Some(Action::Quit)),
];

fn scale(state: &ViewState, percent: i32) -> Option<Action> {
    Some(Action::Configure(Settings {
        ui_percent: percent.clamp(50, 300) as u16,
        ..state.settings
    }))
}
