//! The View menu: navigation, tracks, colours, times, theme.

use super::dock_tabs::{PANE_COMMANDS, pane_menu};
use super::keys;
use crate::gui::boxes::radio;
use crate::view::{
    Action, Arrange, ColorBy, FlowsShown, GroupBy, Settings, SortBy, ThemeChoice, TimeFormat,
    ViewState,
};
use egui::containers::menu::{MenuConfig, SubMenuButton};
use egui::{Key, PopupCloseBehavior, Ui};

/// Draws the menu row of a command from the table of keys.
pub(super) fn command(ui: &mut Ui, about: &str, state: &ViewState, actions: &mut Vec<Action>) {
    let Some(row) = keys::rows().find(|row| row.about == about) else {
        return;
    };
    let action = (row.action)(state);
    let button = egui::Button::new(row.about).shortcut_text(row.key_text());
    if ui.add_enabled(action.is_some(), button).clicked() {
        actions.extend(action);
    }
}

/// Draws a submenu for one choice out of several.
fn choice<T: Copy + PartialEq>(
    ui: &mut Ui,
    title: &str,
    present: T,
    all: &[T],
    word: fn(T) -> &'static str,
    mut act: impl FnMut(T),
) {
    ui.menu_button(title, |ui| {
        for value in all {
            if radio(ui, &present, value, word(*value)).clicked() {
                act(*value);
            }
        }
    });
}

pub(super) fn view_menu(ui: &mut Ui, state: &ViewState, actions: &mut Vec<Action>) {
    for about in [
        "Show the whole trace",
        "Zoom to the selection; again: the whole trace",
        "Go to a time",
        "Back to the place before, or undo a change",
        "Forward again",
    ] {
        command(ui, about, state, actions);
    }
    ui.separator();
    for about in [
        "Find a track",
        "Fold all",
        "Unfold all",
        "Show only tracks that are active in view",
        "Show hidden tracks",
        "Plot a number of events as a track",
        "Show or hide open files",
    ] {
        command(ui, about, state, actions);
    }
    let layout = &state.layout;
    choice(
        ui,
        "Group threads by",
        layout.group_by,
        &GroupBy::ALL,
        GroupBy::word,
        |it| {
            actions.push(Action::Arrange(Arrange::GroupBy(it)));
        },
    );
    choice(
        ui,
        "Sort by",
        layout.sort_by,
        &SortBy::ALL,
        SortBy::word,
        |it| {
            actions.push(Action::Arrange(Arrange::SortBy(it)));
        },
    );
    // It contains a text field: only a click outside closes it.
    let stays = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let layouts = SubMenuButton::new("Layouts").config(stays);
    layouts.ui(ui, |ui| layouts_ui(ui, state, actions));
    ui.separator();
    let settings = state.settings;
    choice(
        ui,
        "Colours by",
        settings.color_by,
        &ColorBy::ALL,
        ColorBy::word,
        |color_by| {
            actions.push(Action::Configure(Settings {
                color_by,
                ..settings
            }));
        },
    );
    choice(
        ui,
        "Arrows of flows",
        settings.flows,
        &FlowsShown::ALL,
        FlowsShown::word,
        |flows| {
            actions.push(Action::Configure(Settings { flows, ..settings }));
        },
    );
    ui.menu_button("Times", |ui| {
        for format in TimeFormat::ALL {
            let has_wall = state.origins.unix_offset.is_some();
            ui.add_enabled_ui(format != TimeFormat::WallClock || has_wall, |ui| {
                if radio(ui, &state.time_format, &format, format.word()).clicked() {
                    actions.push(Action::SetTimeFormat(format));
                }
            });
        }
    });
    choice(
        ui,
        "Theme",
        state.theme,
        &ThemeChoice::ALL,
        ThemeChoice::word,
        |it| {
            actions.push(Action::SetTheme(it));
        },
    );
    ui.separator();
    ui.menu_button("Panes", |ui| {
        pane_menu(ui, &state.dock, &[], actions);
        ui.separator();
        for about in PANE_COMMANDS {
            command(ui, about, state, actions);
        }
    });
    for about in [
        "Legend: what the colours mean",
        "Settings",
        "Find a command",
    ] {
        command(ui, about, state, actions);
    }
}

fn layouts_ui(ui: &mut Ui, state: &ViewState, actions: &mut Vec<Action>) {
    let id = egui::Id::unique("layout name");
    let mut name = ui
        .data(|data| data.get_temp::<String>(id))
        .unwrap_or_default();
    for saved in &state.layouts {
        ui.horizontal(|ui| {
            if ui
                .button(&saved.name)
                .on_hover_text("Arrange these tracks in the same way, by their names")
                .clicked()
            {
                actions.push(Action::Arrange(Arrange::Use(saved.name.clone())));
                ui.close();
            }
            let forget = ui.small_button("Forget");
            let forget = forget.accessible_name(format!("Forget {}", saved.name));
            if forget.clicked() {
                actions.push(Action::Arrange(Arrange::Forget(saved.name.clone())));
            }
        });
    }
    if !state.layouts.is_empty() {
        ui.separator();
    }
    ui.horizontal(|ui| {
        let edit = egui::TextEdit::singleline(&mut name)
            .hint_text("Name of this layout")
            .desired_width(150.0);
        let response = ui.add(edit);
        response.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Name of the layout")
        });
        let is_entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        let has_name = !name.trim().is_empty();
        let button = ui.add_enabled(has_name, egui::Button::new("Keep"));
        if button.clicked() || (is_entered && has_name) {
            actions.push(Action::Arrange(Arrange::Save(name.trim().to_owned())));
            name.clear();
        }
    });
    ui.data_mut(|data| data.insert_temp(id, name));
    if ui.button("Undo all changes to the tracks").clicked() {
        actions.push(Action::Arrange(Arrange::Reset));
        ui.close();
    }
}
