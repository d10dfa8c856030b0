//! Saves the list as CSV, JSON or tab-separated text, in a task; and the line of controls for that.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{RichText, Ui};

use super::columns::Column;
use super::rows::EventRows;
use crate::base::{Job, Task};
use crate::export::atomic_file::write_whole;
use crate::export::rows::{Formulas, RowFormat, RowWriter};
use crate::export::{ExportError, Overwrite};
use crate::gui::file_dialog::{Answer, FileDialog, FileKind};
use crate::gui::pane::Scene;
use crate::load::LoadedTrace;
use crate::tables::rows::each_row;
use crate::tables::{ColumnDef, RowSource};
use crate::view::ruler;

/// The rows to be written, and their trace.
#[derive(Clone)]
pub(crate) struct Wanted {
    /// The trace.
    pub loaded: Arc<LoadedTrace>,
    /// The rows.
    pub rows: EventRows,
}

impl Wanted {
    /// Writes all rows, in `format`; returns their number.
    ///
    /// # Errors
    /// Errors of `out`; errors if the job is cancelled.
    pub fn write(
        &self,
        out: &mut dyn std::io::Write,
        format: RowFormat,
        job: &Job,
    ) -> Result<u64, ExportError> {
        let count = self.rows.len();
        job.set_total(count as u64);
        let columns = self.rows.columns.iter();
        let columns: Vec<ColumnDef<'_>> = columns.map(Column::for_files).collect();
        let mut writer = RowWriter::new(out, format, &columns)?;
        let written = each_row(
            &self.rows,
            &self.loaded,
            columns.len(),
            0..count,
            |_, cells| {
                let cancelled = |_| std::io::Error::other("cancelled");
                job.check().map_err(cancelled)?;
                job.advance(1);
                writer.row(cells)
            },
        );
        job.check()?;
        written?;
        Ok(writer.finish()?)
    }
}

enum Outcome {
    Written(u64, PathBuf),
    Failed(String),
    Exists,
}

struct Saved {
    path: PathBuf,
    result: Result<u64, ExportError>,
}

/// The state of the controls that save the list.
#[derive(Default)]
pub(crate) struct SaveBar {
    /// Whether the controls are shown.
    pub is_open: bool,
    path: String,
    dialog: FileDialog,
    saving: Task<(), Saved>,
    outcome: Option<Outcome>,
}

impl SaveBar {
    /// Returns whether a file is being written.
    #[must_use]
    pub(crate) fn is_busy(&self) -> bool {
        self.saving.is_pending()
    }

    /// Cancels writing; no partial file stays.
    pub(crate) fn stop(&mut self) {
        self.saving.interrupt();
    }

    /// Draws the controls, if they are open.
    pub fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>, wanted: &Wanted) {
        self.poll();
        if !self.is_open {
            return;
        }
        if self.path.is_empty() {
            self.path = scene
                .loaded
                .path
                .with_extension("events.csv")
                .display()
                .to_string();
        }
        ui.horizontal_wrapped(|ui| {
            let field = egui::TextEdit::singleline(&mut self.path)
                .desired_width(300.0)
                .hint_text("events.csv or events.txt");
            let response = ui.add(field);
            response.widget_info(|| {
                egui::WidgetInfo::labeled(egui::Role::TextInput, true, "File for the events")
            });
            if response.changed() {
                self.outcome = None;
            }
            if ui.button("Choose…").clicked() {
                let kinds = vec![
                    FileKind {
                        name: "CSV",
                        extensions: vec!["csv"],
                    },
                    FileKind {
                        name: "Text",
                        extensions: vec!["txt", "tsv"],
                    },
                ];
                self.dialog
                    .save_as(ui.ctx(), "Save events to", Path::new(&self.path), kinds);
            }
            if self.is_busy() {
                let share = self.saving.progress().share() as f32;
                ui.add(
                    egui::ProgressBar::new(share)
                        .desired_width(120.0)
                        .show_percentage(),
                );
                if ui.button("Stop").clicked() {
                    self.stop();
                }
            } else {
                let may_replace = matches!(self.outcome, Some(Outcome::Exists));
                let word = if may_replace { "Replace it" } else { "Write" };
                let button = egui::Button::new(word);
                if ui
                    .add_enabled(!self.path.trim().is_empty(), button)
                    .clicked()
                {
                    let overwrite = if may_replace {
                        Overwrite::Replace
                    } else {
                        Overwrite::Refuse
                    };
                    self.start(ui.ctx(), wanted.clone(), overwrite);
                }
            }
            if ui.button("Close").clicked() {
                self.is_open = false;
                self.outcome = None;
            }
            self.outcome_ui(ui, scene);
        });
        ui.separator();
    }

    fn outcome_ui(&self, ui: &mut Ui, scene: &Scene<'_>) {
        let weak = |words: &str| RichText::new(words.to_owned()).color(scene.palette.weak);
        let bad = |words: &str| RichText::new(words.to_owned()).color(scene.palette.error);
        match &self.outcome {
            None => ui.label(weak(
                ".csv writes CSV, any other ending tab-separated text; with the columns that are shown",
            )),
            Some(Outcome::Written(count, path)) => {
                let count = ruler::grouped(i64::try_from(*count).unwrap_or(i64::MAX));
                ui.label(weak(&format!("Wrote {count} events to {}", path.display())))
            }
            Some(Outcome::Failed(words)) => ui.label(bad(words)),
            Some(Outcome::Exists) => ui.label(bad("The file exists already.")),
        };
    }

    fn start(&mut self, ctx: &egui::Context, wanted: Wanted, overwrite: Overwrite) {
        let path = PathBuf::from(self.path.trim());
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        let format = match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("csv") => RowFormat::Csv(Formulas::Kept),
            Some("json") => RowFormat::Json,
            _ => RowFormat::Tsv,
        };
        self.saving.start(ctx, "save events", move |work| {
            let result = write_whole(&path, overwrite, |out| wanted.write(out, format, work));
            Ok(Saved { path, result })
        });
    }

    fn poll(&mut self) {
        match self.dialog.poll() {
            Some(Answer::Chosen(paths)) => {
                for path in paths {
                    self.path = path.display().to_string();
                }
                self.outcome = None;
            }
            Some(Answer::NotThere) => {
                let words = "No file dialog is available here. Type the file's name.";
                self.outcome = Some(Outcome::Failed(words.to_owned()));
            }
            Some(Answer::Closed) | None => {}
        }
        let Some(end) = self.saving.take_end() else {
            return;
        };
        self.outcome = Some(match end {
            Err(failure) => Outcome::Failed(failure.to_string()),
            Ok(Saved { path, result }) => match result {
                Ok(count) => Outcome::Written(count, path),
                Err(ExportError::Exists(_)) if !path.is_dir() => Outcome::Exists,
                Err(error) => Outcome::Failed(error.to_string()),
            },
        });
    }
}
