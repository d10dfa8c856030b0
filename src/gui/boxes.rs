//! Form rows, and check boxes and radio buttons with a visible edge while empty: their own fill hardly contrasts with
//! the background (WCAG 1.4.11 requires 3:1).

use egui::{IntoAtoms, Response, Stroke, Ui};

/// A row of a form: the label `name`, `width` points wide, and beside it what `add` draws; `add` gets the label's id.
pub(crate) fn form_row(ui: &mut Ui, width: f32, name: &str, add: impl FnOnce(&mut Ui, egui::Id)) {
    ui.horizontal_top(|ui| {
        let size = egui::vec2(width, ui.spacing().interact_size.y);
        let centered = egui::Layout::left_to_right(egui::Align::Center);
        let label = ui.allocate_ui_with_layout(size, centered, |ui| {
            ui.set_min_size(size);
            ui.label(name).id
        });
        ui.vertical(|ui| add(ui, label.inner));
    });
    ui.add_space(3.0);
}

/// A check box.
pub(crate) fn check_box<'a>(
    ui: &mut Ui,
    is_on: &'a mut bool,
    words: impl IntoAtoms<'a>,
) -> Response {
    with_edge(ui, |ui| ui.checkbox(is_on, words))
}

/// A radio button for one of several values, on if `value` is the present one.
pub(crate) fn radio<'a, T: PartialEq>(
    ui: &mut Ui,
    present: &T,
    value: &T,
    words: impl IntoAtoms<'a>,
) -> Response {
    with_edge(ui, |ui| ui.radio(present == value, words))
}

/// A radio button that makes `value` the present one when clicked.
pub(crate) fn radio_value<'a, T: PartialEq>(
    ui: &mut Ui,
    present: &mut T,
    value: T,
    words: impl IntoAtoms<'a>,
) -> Response {
    with_edge(ui, |ui| ui.radio_value(present, value, words))
}

fn with_edge(ui: &mut Ui, add: impl FnOnce(&mut Ui) -> Response) -> Response {
    let before = ui.visuals().widgets.inactive.bg_stroke;
    let edge = ui.visuals().weak_text_color();
    ui.visuals_mut().widgets.inactive.bg_stroke = Stroke::new(1.0, edge);
    let response = add(ui);
    ui.visuals_mut().widgets.inactive.bg_stroke = before;
    response
}
