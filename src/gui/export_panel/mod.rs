//! File > Export: asks for format, range, tracks and file; then shows the progress, and what was written.
//!
//! The panel floats over the timeline, so that the range can be changed while it is open. It returns actions like any
//! pane; `App` passes the resulting order to [`ExportPanel::start`].

mod form;
mod outcome;
mod rows;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use egui::{RichText, ScrollArea, TextEdit, Ui, WidgetInfo};

use super::boxes::form_row;
use super::file_dialog::{Answer, FileDialog, FileKind};
use super::pane::Scene;
use crate::base::strings::capitalised;
use crate::base::{Task, TimeSpan, Work};
use crate::export::background::{Exported, Order};
use crate::export::choices::{ChoiceRow, choices};
use crate::export::{self, ExportError, Overwrite};
use crate::load::LoadedTrace;
use crate::load::TraceId;
use crate::load::format_of_file;
use crate::view::{Action, Effect, Existing, ExportOrder, RowKey};
use form::{Form, Range, Tracks};
use outcome::{Outcome, Written, open_written, progress_ui, summary_ui};
use rows::{cpus_ui, format_ui, list_ui, range_ui, tracks_ui};

/// Width of the panel, in points.
const WIDTH: f32 = 460.0;
/// Width of the labels, in points.
const LABELS: f32 = 56.0;

/// Returns the layer on which the panel is drawn.
#[must_use]
pub(crate) fn layer() -> egui::LayerId {
    egui::LayerId::new(egui::Order::Middle, egui::Id::unique("export"))
}

/// State of the panel, and the running export.
#[derive(Debug, Default)]
pub(crate) struct ExportPanel {
    form: Option<Form>,
    find: String,
    /// Entries of the list, for the trace of this path and id.
    choices: Option<((PathBuf, TraceId), Vec<ChoiceRow>)>,
    dialog: FileDialog,
    exporting: Task<(), Exported>,
    outcome: Option<Outcome>,
    /// The last known selected range: a new one becomes the range to export.
    seen_range: Option<TimeSpan>,
    /// The last known selected tracks.
    seen_rows: Option<Vec<RowKey>>,
    /// Height of the part below the form in the last frame, in points.
    below_height: f32,
}

impl ExportPanel {
    /// Returns the outcome of the last export in words; `None` if there is none.
    pub(crate) fn spoken(&self) -> Option<String> {
        self.outcome.as_ref().map(Outcome::words)
    }

    /// Returns whether an export is running.
    #[must_use]
    pub(crate) fn is_busy(&self) -> bool {
        self.exporting.is_pending()
    }

    /// Starts an export.
    pub(crate) fn start(
        &mut self,
        ctx: &egui::Context,
        loaded: &Arc<LoadedTrace>,
        order: ExportOrder,
    ) {
        if self.is_busy() {
            return;
        }
        let Some(mut exporter) = export::find(&order.format).copied() else {
            let words = format!("There is no format '{}'.", order.format);
            self.outcome = Some(Outcome::Failed(words));
            return;
        };
        if let Some(name) = &order.table {
            exporter.table = crate::tables::find(name);
        }
        self.outcome = None;
        let order = Order {
            exporter,
            selection: order.selection,
            path: order.path,
            overwrite: match order.existing {
                Existing::Ask => Overwrite::Refuse,
                Existing::Replace => Overwrite::Replace,
            },
        };
        let loaded = Arc::clone(loaded);
        let work = move |work: &Work<Exported>| Ok(order.carry_out(&loaded, work));
        self.exporting.start(ctx, "export", work);
    }

    /// Stops the export.
    pub(super) fn cancel(&mut self) {
        self.exporting.interrupt();
    }

    /// Takes results that arrived since the last frame.
    pub(super) fn poll(&mut self, ctx: &egui::Context) {
        match self.exporting.take_end() {
            Some(Ok(exported)) => {
                let Exported { path, took, result } = exported;
                self.outcome = Some(match result {
                    Ok(summary) => {
                        // The permission was for the old file, not for the one just written.
                        if let Some(form) = &mut self.form {
                            form.replaceable = None;
                        }
                        Outcome::Written(Written {
                            is_trace: format_of_file(&path).is_some(),
                            summary,
                            path,
                            took,
                        })
                    }
                    Err(ExportError::Exists(path)) if !path.is_dir() => Outcome::Exists(path),
                    Err(error) => Outcome::Failed(capitalised(&error.to_string())),
                });
            }
            Some(Err(failure)) => {
                self.outcome = Some(Outcome::Failed(capitalised(&failure.to_string())));
            }
            None if self.is_busy() => ctx.request_repaint_after(Duration::from_millis(100)),
            None => {}
        }
        self.poll_dialog();
    }

    fn poll_dialog(&mut self) {
        match (self.dialog.poll(), &mut self.form) {
            (Some(Answer::Chosen(paths)), Some(form)) => {
                for path in paths {
                    form.path = path.display().to_string();
                    form.is_path_typed = true;
                    // The system's dialog has asked about replacing the file.
                    form.replaceable = Some(path);
                    self.outcome = None;
                }
            }
            (Some(Answer::NotThere), _) => {
                let words = "No file dialog is available here. Type the file's name.";
                self.outcome = Some(Outcome::Failed(words.to_owned()));
            }
            _ => {}
        }
    }

    /// Draws the panel.
    pub(super) fn ui(&mut self, ctx: &egui::Context, scene: &Scene<'_>, actions: &mut Vec<Action>) {
        let trace_of_list = (scene.loaded.path.clone(), scene.loaded.id);
        if self.choices.as_ref().map(|(key, _)| key) != Some(&trace_of_list) {
            let is_other = self
                .choices
                .as_ref()
                .is_none_or(|(key, _)| key.0 != trace_of_list.0);
            // Ids are valid for one trace only.
            if let Some(form) = &mut self.form {
                form.checked.clear();
                form.without_cpus.clear();
                if is_other {
                    form.is_path_typed = false;
                    form.replaceable = None;
                }
            }
            if is_other && !self.is_busy() {
                self.outcome = None;
            }
            self.choices = Some((trace_of_list, choices(&scene.loaded.trace)));
        }
        let form = self.form.get_or_insert_with(|| Form::new(scene.state));
        if self.seen_range != scene.state.range {
            self.seen_range = scene.state.range;
            form.range = Range::Selected;
        }
        if self.seen_rows != scene.state.area_rows {
            self.seen_rows.clone_from(&scene.state.area_rows);
            if self.seen_rows.is_some() {
                form.tracks = Tracks::Selected;
            }
        }
        form.fit(scene.state);
        form.propose_path(&scene.loaded.path);
        let room = (ctx.content_rect().height() - 80.0).max(160.0);
        egui::Window::new("Export")
            .id(layer().id)
            .title_bar(false)
            .resizable(false)
            .default_width(WIDTH)
            .max_height(room)
            .pivot(egui::Align2::CENTER_TOP)
            .default_pos(egui::pos2(ctx.content_rect().center().x, 40.0))
            .show(ctx, |ui| {
                ui.set_width(WIDTH);
                ui.heading("Export");
                ui.separator();
                // The part below the form is always visible; in a low window the form scrolls.
                let left = (room - self.below_height - 60.0).max(80.0);
                let is_free = !self.is_busy();
                ScrollArea::vertical().max_height(left).show(ui, |ui| {
                    ui.add_enabled_ui(is_free, |ui| self.form_ui(ui, scene));
                });
                let below = ui.scope(|ui| self.below_ui(ui, scene, actions));
                self.below_height = below.response.rect.height();
            });
    }

    fn below_ui(&mut self, ui: &mut Ui, scene: &Scene<'_>, actions: &mut Vec<Action>) {
        ui.separator();
        // Enter presses the next button, unless a field or a button has focus.
        let is_entered = ui.memory(|memory| memory.focused().is_none())
            && ui.input(|input| input.key_pressed(egui::Key::Enter));
        if self.is_busy() {
            progress_ui(ui, self.exporting.progress(), actions);
            return;
        }
        match &self.outcome {
            Some(Outcome::Written(written)) => {
                summary_ui(ui, scene, written, actions);
                if is_entered && written.is_trace {
                    open_written(&written.path, actions);
                }
                ui.separator();
            }
            Some(Outcome::Failed(words)) => {
                ui.label(RichText::new(words).color(scene.palette.error));
            }
            Some(Outcome::Exists(path)) => {
                let words = format!("{} exists already", path.display());
                ui.label(RichText::new(words).color(scene.palette.error));
            }
            None => {}
        }
        let may_replace = matches!(self.outcome, Some(Outcome::Exists(_)));
        ui.horizontal(|ui| {
            let Some(form) = &mut self.form else { return };
            let order = form.order(scene.loaded, scene.state);
            if let Ok(order) = &order
                && may_replace
                && ui.button("Replace it").clicked()
            {
                form.replaceable = Some(order.path.clone());
                let order = ExportOrder {
                    existing: Existing::Replace,
                    ..order.clone()
                };
                actions.push(Action::Do(Effect::Export(Box::new(order))));
            }
            let button = egui::Button::new("Export");
            let is_ready = order.is_ok() && !may_replace;
            let is_wanted = is_entered && !matches!(self.outcome, Some(Outcome::Written(_)));
            if (ui.add_enabled(is_ready, button).clicked() || is_ready && is_wanted)
                && let Ok(order) = &order
            {
                actions.push(Action::Do(Effect::Export(Box::new(order.clone()))));
            }
            if ui.button("Close").clicked() {
                actions.push(Action::ToggleExport);
            }
            if let Err(words) = order {
                ui.label(RichText::new(words).color(scene.palette.weak));
            }
        });
    }

    fn form_ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) {
        let Some(form) = &mut self.form else { return };
        form_row(ui, LABELS, "Format", |ui, _| {
            format_ui(ui, form);
            let about = RichText::new(capitalised(form.exporter.about))
                .color(scene.palette.weak)
                .size(12.0);
            ui.add(egui::Label::new(about).wrap());
        });
        form_row(ui, LABELS, "Range", |ui, _| range_ui(ui, form, scene));
        form_row(ui, LABELS, "Tracks", |ui, _| {
            tracks_ui(ui, form, scene);
            if form.tracks == Tracks::Checked
                && let Some((_, rows)) = &self.choices
            {
                list_ui(ui, form, rows, &mut self.find, scene);
            }
        });
        if scene.loaded.trace.cpus.len() > 1 {
            form_row(ui, LABELS, "CPUs", |ui, _| cpus_ui(ui, form, scene));
        }
        form_row(ui, LABELS, "File", |ui, _| {
            ui.horizontal(|ui| {
                let edit = TextEdit::singleline(&mut form.path).desired_width(WIDTH - 160.0);
                let response = ui.add(edit);
                response.widget_info(|| {
                    WidgetInfo::labeled(egui::Role::TextInput, true, "File to write")
                });
                if response.changed() {
                    form.is_path_typed = true;
                    form.replaceable = None;
                    self.outcome = None;
                }
                let choose = egui::Button::new("Choose…");
                if ui.add_enabled(!self.dialog.is_open(), choose).clicked() {
                    let kinds = vec![FileKind {
                        name: form.exporter.name,
                        extensions: vec![form.exporter.extension],
                    }];
                    self.dialog
                        .save_as(ui.ctx(), "Export to", &form.file(), kinds);
                }
            });
        });
    }
}
