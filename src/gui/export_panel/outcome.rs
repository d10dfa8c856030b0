//! What stands below the form: how far an export is, and what was written.

use std::path::{Path, PathBuf};
use std::time::Duration;

use egui::{ProgressBar, RichText, Ui};

use super::{WIDTH, sentence};
use crate::export::background::Exporting;
use crate::export::{Summary, word_for};
use crate::gui::pane::Scene;
use crate::view::{Action, ruler};

/// What became of the last export.
#[derive(Debug)]
pub enum Outcome {
    /// It is there.
    Written {
        /// What is in it.
        summary: Summary,
        /// Where it is.
        path: PathBuf,
        /// How long it took.
        took: Duration,
    },
    /// There is such a file: may it be replaced?
    Exists(PathBuf),
    /// There is none; why.
    Failed(String),
}

/// How far it is, and a button that stops it.
pub fn progress_ui(ui: &mut Ui, exporting: &Exporting, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let (done, total) = exporting.progress();
        let (share, text) = match total {
            0 => (0.0, "Looking what there is".to_owned()),
            total => (
                done as f32 / total as f32,
                format!(
                    "{} of about {} rows",
                    ruler::grouped(done as i64),
                    ruler::grouped(total.max(done) as i64)
                ),
            ),
        };
        let bar = ProgressBar::new(share.min(1.0)).desired_width(WIDTH - 90.0);
        ui.add(bar.text(RichText::new(text).size(11.0)));
        if ui.button("Cancel").clicked() {
            actions.push(Action::CancelExport);
        }
    });
}

/// What was written, and what can be done with it.
pub fn summary_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    summary: &Summary,
    path: &Path,
    took: Duration,
    actions: &mut Vec<Action>,
) {
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
        ui.label(weak(sentence(note)));
    }
    ui.horizontal(|ui| {
        if can_open(path) && ui.button("Open it").clicked() {
            open_written(path, actions);
        }
        if ui.button("Copy path").clicked() {
            actions.push(Action::Copy(path.display().to_string()));
        }
    });
}

/// Opens what was written.
pub fn open_written(path: &Path, actions: &mut Vec<Action>) {
    actions.push(Action::ToggleExport);
    actions.push(Action::Open(vec![path.to_path_buf()]));
}

/// Whether a file of that name is one that we read.
pub fn can_open(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy());
    let Some(ending) = ending else { return false };
    crate::formats::FORMATS
        .iter()
        .any(|format| format.extensions.contains(&ending.as_ref()))
}
