//! Saves rows as CSV, JSON or tab-separated text, in a task; and the line of controls for that.

use std::path::{Path, PathBuf};

use egui::{RichText, Ui};

use super::file_dialog::{Answer, FileDialog, FileKind};
use super::pane::Scene;
use crate::base::{Job, Task};
use crate::export::atomic_file::write_whole;
use crate::export::rows::{Formulas, RowFormat};
use crate::export::{ExportError, Overwrite};
use crate::view::ruler;

/// Rows that can be saved.
pub(crate) trait Savable: Send + 'static {
    /// Writes all rows, in `format`; returns their number.
    ///
    /// # Errors
    /// Errors of `out`; errors if the job is cancelled.
    fn write(
        &self,
        out: &mut dyn std::io::Write,
        format: RowFormat,
        job: &Job,
    ) -> Result<u64, ExportError>;
}

/// What is saved, in words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SaveWords {
    /// The plural noun: `events`.
    pub many: &'static str,
    /// The title of the file dialog.
    pub title: &'static str,
    /// The ending of the file that is proposed.
    pub ending: &'static str,
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

/// The state of the controls that save rows.
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
    pub(super) fn ui<S: Savable>(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        words: SaveWords,
        rows: impl FnOnce() -> S,
    ) {
        self.poll();
        if !self.is_open {
            return;
        }
        if self.path.is_empty() {
            self.path = scene
                .loaded
                .path
                .with_extension(words.ending)
                .display()
                .to_string();
        }
        ui.horizontal_wrapped(|ui| {
            let field = egui::TextEdit::singleline(&mut self.path)
                .desired_width(300.0)
                .hint_text(format!("{0}.csv or {0}.txt", words.many));
            let response = ui.add(field);
            response.widget_info(|| {
                let label = format!("File for the {}", words.many);
                egui::WidgetInfo::labeled(egui::Role::TextInput, true, label)
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
                    .save_as(ui.ctx(), words.title, Path::new(&self.path), kinds);
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
                    self.start(ui.ctx(), rows(), overwrite);
                }
            }
            if ui.button("Close").clicked() {
                self.is_open = false;
                self.outcome = None;
            }
            self.outcome_ui(ui, scene, words);
        });
        ui.separator();
    }

    fn outcome_ui(&self, ui: &mut Ui, scene: &Scene<'_>, words: SaveWords) {
        let weak = |words: &str| RichText::new(words.to_owned()).color(scene.palette.weak);
        let bad = |words: &str| RichText::new(words.to_owned()).color(scene.palette.error);
        match &self.outcome {
            None => ui.label(weak(
                ".csv writes CSV, any other ending tab-separated text; with the columns that are shown",
            )),
            Some(Outcome::Written(count, path)) => {
                let count = ruler::grouped(i64::try_from(*count).unwrap_or(i64::MAX));
                let many = words.many;
                ui.label(weak(&format!("Wrote {count} {many} to {}", path.display())))
            }
            Some(Outcome::Failed(words)) => ui.label(bad(words)),
            Some(Outcome::Exists) => ui.label(bad("The file exists already.")),
        };
    }

    fn start(&mut self, ctx: &egui::Context, rows: impl Savable, overwrite: Overwrite) {
        let path = PathBuf::from(self.path.trim());
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        let format = match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("csv") => RowFormat::Csv(Formulas::Kept),
            Some("json") => RowFormat::Json,
            _ => RowFormat::Tsv,
        };
        self.saving.start(ctx, "save rows", move |work| {
            let result = write_whole(&path, overwrite, |out| rows.write(out, format, work));
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
