//! The settings window.

use crate::gui::boxes::{form_row, radio_value};
use crate::view::{
    Action, ColorBy, FlowsShown, Motion, Snapping, ThemeChoice, TimeFormat, ViewState, Wheel,
};
use egui::Ui;

/// Width of the labels, in points.
const LABELS: f32 = 126.0;

/// Draws the settings window, if it is open.
pub(super) fn settings_ui(ctx: &egui::Context, state: &ViewState, actions: &mut Vec<Action>) {
    if !state.is_settings_open {
        return;
    }
    let modal = egui::Modal::new(egui::Id::unique("settings")).show(ctx, |ui| {
        ui.set_width(430.0_f32.min(ctx.content_rect().width() - 60.0));
        ui.heading("Settings");
        ui.separator();
        let room = (ctx.content_rect().height() - 140.0).max(120.0);
        egui::ScrollArea::vertical()
            .auto_shrink([false, true])
            .max_height(room)
            .min_scrolled_height(room)
            .show(ui, |ui| choices_ui(ui, state, actions));
        ui.add_space(8.0);
        if ui.button("Close").clicked() {
            ui.close();
        }
    });
    if modal.should_close() {
        actions.push(Action::ToggleSettings);
    }
}

fn choices_ui(ui: &mut Ui, state: &ViewState, actions: &mut Vec<Action>) {
    let mut settings = state.settings;
    let mut theme = state.theme;
    let mut format = state.time_format;
    form_row(ui, LABELS, "Theme", |ui, _| {
        ui.horizontal(|ui| {
            for choice in ThemeChoice::ALL {
                radio_value(ui, &mut theme, choice, choice.word());
            }
        });
    });
    form_row(ui, LABELS, "Times", |ui, _| {
        for choice in TimeFormat::ALL {
            radio_value(ui, &mut format, choice, choice.word());
        }
    });
    form_row(ui, LABELS, "Size of everything", |ui, label| {
        ui.add(
            egui::Slider::new(&mut settings.ui_percent, 50..=300)
                .suffix(" %")
                .step_by(10.0),
        )
        .labelled_by(label);
    });
    form_row(ui, LABELS, "Height of tracks", |ui, label| {
        ui.add(
            egui::Slider::new(&mut settings.row_percent, 50..=400)
                .suffix(" %")
                .step_by(10.0),
        )
        .labelled_by(label);
    });
    form_row(ui, LABELS, "Moving", |ui, _| {
        radio_value(
            ui,
            &mut settings.motion,
            Motion::Glide,
            "Glide to the new place",
        );
        radio_value(ui, &mut settings.motion, Motion::Jump, "Be there at once");
    });
    form_row(ui, LABELS, "Wheel", |ui, _| {
        radio_value(
            ui,
            &mut settings.wheel,
            Wheel::Scrolls,
            "Scrolls; Ctrl+wheel zooms",
        );
        radio_value(
            ui,
            &mut settings.wheel,
            Wheel::Zooms,
            "Zooms; Ctrl+wheel scrolls",
        );
    });
    form_row(ui, LABELS, "Edges", |ui, _| {
        radio_value(
            ui,
            &mut settings.snapping,
            Snapping::On,
            "Snap to slices; not with Alt",
        );
        radio_value(
            ui,
            &mut settings.snapping,
            Snapping::Off,
            "Do not snap; snap with Alt",
        );
    });
    form_row(ui, LABELS, "Colours", |ui, _| {
        for choice in ColorBy::ALL {
            radio_value(ui, &mut settings.color_by, choice, choice.word());
        }
    });
    form_row(ui, LABELS, "Arrows of flows", |ui, _| {
        for choice in FlowsShown::ALL {
            radio_value(ui, &mut settings.flows, choice, choice.word());
        }
    });
    if settings != state.settings {
        actions.push(Action::Configure(settings));
    }
    if theme != state.theme {
        actions.push(Action::SetTheme(theme));
    }
    if format != state.time_format {
        actions.push(Action::SetTimeFormat(format));
    }
}
