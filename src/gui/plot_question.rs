//! The dialog that defines a plot: the events, and the number of each event that is plotted. It offers the numbers that
//! the events have.

use egui::{Key, RichText, Ui};

use super::filter_box::FilterBox;
use super::pane::Scene;
use crate::base::{Task, TaskKey};
use crate::query::plots::{filter_of, numbers_of};
use crate::trace::Plot;
use crate::trace::plots::Measure;
use crate::view::{Action, Arrange};

/// Width of the fields, in points.
const WIDTH: f32 = 380.0;
/// At most this many numbers are offered.
const MOST_OFFERED: usize = 24;

/// A field of the dialog.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Events,
    Number,
}

/// State of the dialog.
#[derive(Default)]
pub(super) struct PlotQuestion {
    filter: FilterBox,
    field: String,
    instead_of: Option<Plot>,
    wants_focus: Option<Field>,
    offered: Task<String, Vec<String>>,
}

impl PlotQuestion {
    /// Returns the dialog with initial values.
    pub(super) fn new(draft: &Plot, instead_of: Option<&Plot>) -> PlotQuestion {
        PlotQuestion {
            filter: FilterBox::with(draft.filter.clone()),
            field: draft.field.clone(),
            instead_of: instead_of.cloned(),
            // The first field that is to be filled in.
            wants_focus: Some(match draft.filter.trim().is_empty() {
                true => Field::Events,
                false => Field::Number,
            }),
            ..PlotQuestion::default()
        }
    }

    /// Returns whether the offered numbers are still being computed; the buttons move when they arrive.
    pub(super) fn is_waiting(&self) -> bool {
        self.offered.is_busy()
    }

    /// Draws the dialog.
    pub(super) fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>, actions: &mut Vec<Action>) {
        ui.heading(match self.instead_of {
            None => "Plot a number of events",
            Some(_) => "Change the plot",
        });
        ui.add_space(4.0);
        let width = WIDTH.min(ui.available_width());
        ui.label("Events");
        let hint = "sched_switch, or an expression";
        let wanted = self.wants_focus.take();
        if wanted == Some(Field::Events) {
            self.filter.focus_next();
        }
        let _typed = self.filter.ui(ui, scene, "Events to plot", hint, width);
        if self.filter.text.trim().is_empty() {
            ui.label(weak(
                scene,
                "The name of a kind of events, or an expression as in the search",
            ));
        }
        self.filter.error_ui(ui, scene);
        ui.add_space(6.0);
        ui.label("Number");
        let edit = egui::TextEdit::singleline(&mut self.field)
            .hint_text("An argument of theirs")
            .desired_width(width);
        let response = ui.add(edit);
        response.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Number to plot")
        });
        if wanted == Some(Field::Number) {
            response.request_focus();
        }
        ui.allocate_ui(egui::vec2(width, 0.0), |ui| self.offer(ui, scene));
        ui.add_space(8.0);
        let is_entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        ui.horizontal(|ui| {
            let has_both = !self.filter.text.trim().is_empty() && !self.field.trim().is_empty();
            let button = ui.add_enabled(has_both, egui::Button::new("Plot"));
            if (button.clicked() || (is_entered && has_both)) && self.is_right(scene) {
                let plot = Plot::of_events(self.filter.text.trim(), self.field.trim());
                let what = Arrange::Plot(plot, self.instead_of.take());
                actions.push(Action::Arrange(what));
                actions.push(Action::Ask(None));
            }
            if ui.button("Cancel").clicked() {
                ui.close();
            }
        });
    }

    /// Returns whether the filter can be used; otherwise its field shows the error.
    fn is_right(&mut self, scene: &Scene<'_>) -> bool {
        let (trace, reader) = (&scene.loaded.trace, scene.loaded.reader.as_ref());
        let expression = filter_of(trace, &self.filter.text);
        let made = expression.and_then(|expression| {
            crate::query::expression::Matcher::new(&expression, trace, reader).map(|_| ())
        });
        made.map_err(|error| self.filter.refuse(error)).is_ok()
    }

    /// Offers the numbers that the events have; a click chooses one.
    fn offer(&mut self, ui: &mut Ui, scene: &Scene<'_>) {
        let filter = self.filter.text.trim().to_owned();
        let loaded = scene.loaded.clone();
        let question = TaskKey::about(loaded.id, filter.clone()).in_turn();
        let names = self.offered.ask(ui.ctx(), question, move |work| {
            numbers_of(&loaded.trace, loaded.reader.as_ref(), &filter, work)
        });
        let names = names.cloned().unwrap_or_default();
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(4.0, 4.0);
            for name in names.iter().take(MOST_OFFERED) {
                let chip = egui::Button::new(name)
                    .selected(self.field == *name)
                    .small();
                if ui.add(chip).clicked() {
                    self.field.clone_from(name);
                }
            }
        });
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(4.0, 4.0);
            for measure in Measure::ALL {
                let (name, about) = (measure.word(), measure.about());
                let chip = egui::Button::new(name).selected(self.field == name).small();
                if ui.add(chip).on_hover_text(about).clicked() {
                    name.clone_into(&mut self.field);
                }
            }
            ui.label(weak(scene, "of any events"));
        });
    }
}

fn weak(scene: &Scene<'_>, words: &str) -> RichText {
    RichText::new(words).color(scene.palette.weak).size(12.0)
}
