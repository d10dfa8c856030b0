//! Commands for the arrangement of tracks.

use super::key_row::{ALT, CTRL, CTRL_ALT, KeyRow, NONE, SHIFT, after, key, row};
use crate::view::layout::HEIGHTS;
use crate::view::{
    Action, Arrange, ColorBy, Finder, GroupBy, Heights, Question, Settings, ViewState,
};
use egui::Key;

pub(super) const ROWS: &[KeyRow] = &[
    row(&[key(CTRL, Key::P)], "Find a track", |_| {
        Some(Action::Find(Finder::Tracks))
    }),
    row(&[key(CTRL, Key::T)], "Filter tracks by name", |_| {
        Some(Action::FocusFilter)
    }),
    row(
        &[key(NONE, Key::V)],
        "Show only tracks that are active in view",
        |_| Some(Action::Arrange(Arrange::ToggleOnlyActive)),
    ),
    row(
        &[key(SHIFT, Key::T)],
        "Pin the track to the top, or no longer",
        |s| {
            s.track_at_hand()
                .map(|key| Action::Arrange(Arrange::Pin(key)))
        },
    ),
    row(&[key(NONE, Key::H)], "Hide the track", |s| {
        s.track_at_hand()
            .map(|key| Action::Arrange(Arrange::Hide(key)))
    }),
    row(&[key(SHIFT, Key::H)], "Show hidden tracks", |_| {
        Some(Action::Arrange(Arrange::UnhideAll))
    }),
    row(&[key(NONE, Key::G)], "Group the selected tracks", |s| {
        let chosen = s.area_rows.clone();
        let keys = chosen.or_else(|| Some(vec![s.track_at_hand()?]))?;
        Some(Action::Arrange(Arrange::Group(keys)))
    }),
    row(&[key(SHIFT, Key::G)], "Ungroup", |s| {
        let key = s.track_at_hand()?;
        let is_group = s.layout.group(key).is_some();
        let what = if is_group {
            Arrange::Ungroup(key)
        } else {
            s.layout.group_of(key)?;
            Arrange::TakeOut(key)
        };
        Some(Action::Arrange(what))
    }),
    row(&[key(NONE, Key::F2)], "Rename the track", |s| {
        s.track_at_hand().map(|key| Action::StartRename(Some(key)))
    }),
    row(&[key(NONE, Key::E)], "Fold or unfold the track", |s| {
        s.track_at_hand().map(Action::Toggle)
    }),
    row(
        &[key(SHIFT, Key::P)],
        "Plot a number of events as a track",
        |_| Some(Action::DraftPlot(None)),
    ),
    row(&[], "Show or hide open files", |_| {
        Some(Action::Arrange(Arrange::ToggleAll("open files")))
    }),
    row(&[], "Fold all", |_| Some(Action::FoldAll)),
    row(&[], "Unfold all", |_| Some(Action::UnfoldAll)),
    row(
        &[key(ALT, Key::Plus), key(ALT, Key::Equals)],
        "Make the track higher",
        |s| height(s, 25),
    ),
    row(&[key(ALT, Key::Minus)], "Make the track lower", |s| {
        height(s, -25)
    }),
    row(
        &[key(ALT, Key::Num0)],
        "Make the track as high as at first",
        |s| {
            let key = s.track_at_hand()?;
            Some(Action::Arrange(Arrange::Height(key, 100)))
        },
    ),
    row(
        &[key(CTRL_ALT, Key::Plus), key(CTRL_ALT, Key::Equals)],
        "Make tracks higher",
        |s| rows(s, i32::from(s.settings.row_percent) + 25),
    ),
    row(&[key(CTRL_ALT, Key::Minus)], "Make tracks lower", |s| {
        rows(s, i32::from(s.settings.row_percent) - 25)
    }),
    row(
        &[key(CTRL_ALT, Key::Num0)],
        "Make tracks as high as at first",
        |s| rows(s, 100),
    ),
    row(
        &[key(NONE, Key::K)],
        "Keep all heights, or let them follow",
        |s| {
            let heights = match s.settings.heights {
                Heights::Follow => Heights::Held,
                Heights::Held => Heights::Follow,
            };
            Some(Action::Configure(Settings {
                heights,
                ..s.settings
            }))
        },
    ),
    row(
        &[key(SHIFT, Key::C)],
        "Colour by the next: thread, process, CPU, name",
        |s| {
            let color_by = after(&ColorBy::ALL, s.settings.color_by);
            Some(Action::Configure(Settings {
                color_by,
                ..s.settings
            }))
        },
    ),
    row(&[], "Group threads by process", |_| group(GroupBy::Process)),
    row(&[], "Group threads by name", |_| group(GroupBy::Name)),
    row(&[], "Do not group threads", |_| group(GroupBy::Nothing)),
    row(&[], "Keep the layout", |_| {
        Some(Action::Ask(Some(Question::KeepLayout)))
    }),
    row(&[], "Undo all changes to the tracks", |_| {
        Some(Action::Arrange(Arrange::Reset))
    }),
];

fn group(by: GroupBy) -> Option<Action> {
    Some(Action::Arrange(Arrange::GroupBy(by)))
}

/// Returns the action that makes the current track higher by `by` percent.
fn height(state: &ViewState, by: i32) -> Option<Action> {
    let key = state.track_at_hand()?;
    let own = state.layout.heights.get(&key).copied().unwrap_or(100);
    let held = i32::from(*HEIGHTS.start())..=i32::from(*HEIGHTS.end());
    let percent = (i32::from(own) + by).clamp(*held.start(), *held.end());
    Some(Action::Arrange(Arrange::Height(key, percent as u16)))
}

fn rows(state: &ViewState, percent: i32) -> Option<Action> {
    Some(Action::Configure(Settings {
        row_percent: percent.clamp(50, 400) as u16,
        ..state.settings
    }))
}
