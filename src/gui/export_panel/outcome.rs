//! The part below the form: progress of the export, and what was written.

use std::path::{Path, PathBuf};
use std::time::Duration;

use egui::{ProgressBar, RichText, Ui};

use super::WIDTH;
use crate::base::Progress;
use crate::base::strings::capitalised;
use crate::export::{Summary, word_for};
use crate::gui::pane::Scene;
use crate::view::{Action, Effect, ruler};

/// Outcome of the last export.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The file was written.
    Written(Written),
    /// The file exists already: the user is asked whether to replace it.
    Exists(PathBuf),
    /// The export failed, for this reason.
    Failed(String),
}

impl Outcome {
    /// Returns the outcome as one sentence.
    pub(crate) fn words(&self) -> String {
        match self {
            Outcome::Written(written) => format!("Exported to {}", written.path.display()),
            Outcome::Exists(path) => format!("This file exists already: {}", path.display()),
            Outcome::Failed(words) => format!("Error: {words}"),
        }
    }
}

/// Draws the progress in rows, and a button that stops the export.
pub(crate) fn progress_ui(ui: &mut Ui, progress: Progress, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let text = match progress.total {
            None => "Counting the rows".to_owned(),
            Some(total) => format!(
                "{} of about {} rows",
                ruler::grouped(progress.done as i64),
                ruler::grouped(total.max(progress.done) as i64)
            ),
        };
        let bar = ProgressBar::new(progress.share() as f32).desired_width(WIDTH - 90.0);
        ui.add(bar.text(RichText::new(text).size(11.0)));
        if ui.button("Cancel").clicked() {
            actions.push(Action::Do(Effect::CancelExport));
        }
    });
}

/// A file that was written.
#[derive(Debug)]
pub(crate) struct Written {
    /// Content of the file.
    pub(crate) summary: Summary,
    /// Path of the file.
    pub(crate) path: PathBuf,
    /// Duration of the export.
    pub(crate) took: Duration,
    /// Whether the file is a trace that we read.
    pub(crate) is_trace: bool,
}

/// Draws what was written and the actions for it.
pub(crate) fn summary_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    written: &Written,
    actions: &mut Vec<Action>,
) {
    let Written {
        summary,
        path,
        took,
        is_trace,
    } = written;
    let weak = |text: String| RichText::new(text).color(scene.palette.weak).size(12.0);
    ui.label(RichText::new(format!("Wrote {}", path.display())).strong());
    let counts: Vec<String> = summary
        .counts
        .iter()
        .map(|&(what, count)| format!("{} {}", ruler::grouped(count as i64), word_for(what, count)))
        .collect();
    let bytes = format!("{} bytes", ruler::grouped(summary.bytes as i64));
    if counts.is_empty() {
        ui.label("Nothing happened in this range: the file has no rows.");
    } else {
        ui.label(counts.join(", "));
    }
    ui.label(weak(format!("{bytes} in {:.1} s", took.as_secs_f64())));
    for note in &summary.notes {
        ui.label(weak(capitalised(note)));
    }
    ui.horizontal(|ui| {
        if *is_trace && ui.button("Open it").clicked() {
            open_written(path, actions);
        }
        if ui.button("Copy path").clicked() {
            actions.push(Action::Do(Effect::Copy(path.display().to_string())));
        }
    });
}

/// Opens the written file as a trace.
pub(crate) fn open_written(path: &Path, actions: &mut Vec<Action>) {
    actions.push(Action::ToggleExport);
    actions.push(Action::Do(Effect::Open(vec![path.to_path_buf()])));
}
