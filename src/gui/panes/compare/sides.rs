//! The two sides of a comparison: this trace, one of the files on the axis, or another file that is opened for it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use egui::{RichText, Ui};

use crate::base::{Job, TimeSpan};
use crate::gui::file_dialog::{Answer, FileDialog};
use crate::gui::pane::Scene;
use crate::gui::panes::selection::area::area_of;
use crate::load::{LoadError, LoadedTrace, open};
use crate::query::area::Area;

/// What stands on a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// All that the window shows.
    Whole,
    /// The selected range.
    Range,
    /// Between the markers.
    Markers,
    /// One of the files on the axis.
    Member(usize),
    /// The file that was opened for comparing.
    Other,
}

type Loading = (PathBuf, Job, Receiver<Result<LoadedTrace, LoadError>>);

/// The other file.
#[derive(Default)]
pub struct OtherFile {
    path: String,
    loading: Option<Loading>,
    loaded: Option<Arc<LoadedTrace>>,
    dialog: FileDialog,
    problem: Option<String>,
}

impl Drop for OtherFile {
    fn drop(&mut self) {
        if let Some((_, job, _)) = &self.loading {
            job.cancel();
        }
    }
}

impl OtherFile {
    /// Whether it is being read.
    pub fn is_loading(&self) -> bool {
        self.loading.is_some()
    }

    /// Stops reading it.
    pub fn stop(&mut self) {
        if let Some((_, job, _)) = &self.loading {
            job.cancel();
        }
    }

    /// It, once it is read.
    pub fn loaded(&self) -> Option<&Arc<LoadedTrace>> {
        self.loaded.as_ref()
    }

    /// A path field, a dialog, how far reading is.
    pub fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) {
        self.poll();
        let field = egui::TextEdit::singleline(&mut self.path)
            .hint_text("Another trace")
            .desired_width(220.0);
        let response = ui.add(field);
        response.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Trace to compare with")
        });
        let is_entered = response.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
        if ui.button("Choose…").clicked() {
            self.dialog.open(ui.ctx(), || {
                let dialog = rfd::FileDialog::new().set_title("Compare with");
                dialog.pick_file().map(|path| vec![path])
            });
        }
        let is_free = self.loading.is_none() && !self.path.trim().is_empty();
        let button = egui::Button::new("Open for comparing");
        if ui.add_enabled(is_free, button).clicked() || (is_entered && is_free) {
            self.start(ui.ctx(), PathBuf::from(self.path.trim()));
        }
        if let Some((_, job, _)) = &self.loading {
            let (done, total) = job.progress();
            let share = done as f32 / total.max(1) as f32;
            ui.add(egui::ProgressBar::new(share).desired_width(100.0));
            if ui.button("Stop").clicked() {
                job.cancel();
            }
        }
        if let Some(problem) = &self.problem {
            ui.label(RichText::new(problem).color(scene.palette.error));
        }
    }

    fn start(&mut self, ctx: &egui::Context, path: PathBuf) {
        let (sender, receiver) = channel();
        let job = Job::default();
        let (ctx, its_job, its_path) = (ctx.clone(), job.clone(), path.clone());
        let spawned = std::thread::Builder::new()
            .name("compare".to_owned())
            .spawn(move || {
                let _closed = sender.send(open(&its_path, &its_job));
                ctx.request_repaint();
            });
        self.problem = None;
        match spawned {
            Ok(_) => self.loading = Some((path, job, receiver)),
            Err(error) => self.problem = Some(error.to_string()),
        }
    }

    fn poll(&mut self) {
        match self.dialog.poll() {
            Some(Answer::Chosen(paths)) => {
                for path in paths {
                    self.path = path.display().to_string();
                }
            }
            Some(Answer::NotThere) => {
                let words = "No file dialog is available here. Type the file's path.";
                self.problem = Some(words.to_owned());
            }
            Some(Answer::Closed) | None => {}
        }
        let Some((_, job, receiver)) = &self.loading else {
            return;
        };
        match receiver.try_recv() {
            Err(TryRecvError::Empty) => return,
            Ok(Ok(loaded)) => self.loaded = Some(Arc::new(loaded)),
            Ok(Err(error)) if !job.is_cancelled() => self.problem = Some(error.to_string()),
            Ok(Err(_)) | Err(TryRecvError::Disconnected) => {}
        }
        self.loading = None;
    }
}

/// The sides that can be chosen now, with their names.
pub fn sides(scene: &Scene<'_>, other: &OtherFile) -> Vec<(Side, String)> {
    let mut sides = Vec::new();
    if scene.loaded.members.is_empty() {
        sides.push((Side::Whole, scene.loaded.file_name()));
    } else {
        for (at, member) in scene.loaded.members.iter().enumerate() {
            sides.push((Side::Member(at), member.file_name()));
        }
        sides.push((Side::Whole, "all files".to_owned()));
    }
    if scene.state.range.is_some() {
        sides.push((Side::Range, "the selected range".to_owned()));
    }
    if markers(scene).is_some() {
        sides.push((Side::Markers, "between markers A and B".to_owned()));
    }
    if let Some(other) = other.loaded() {
        sides.push((Side::Other, other.file_name()));
    }
    sides
}

/// The trace and the area of a side; `None` if there is no such side now.
pub fn resolve(
    side: &Side,
    scene: &Scene<'_>,
    other: &OtherFile,
) -> Option<(Arc<LoadedTrace>, Area)> {
    let shown = || scene.loaded.clone();
    Some(match side {
        Side::Whole => (shown(), Area::all()),
        Side::Range => {
            scene.state.range?;
            (shown(), area_of(scene.state, &scene.loaded.trace).0)
        }
        Side::Markers => (shown(), Area::of(markers(scene)?)),
        Side::Member(at) => (scene.loaded.members.get(*at)?.clone(), Area::all()),
        Side::Other => (other.loaded()?.clone(), Area::all()),
    })
}

fn markers(scene: &Scene<'_>) -> Option<TimeSpan> {
    let [a, b] = scene.state.marks;
    let (a, b) = (a?, b?);
    (a != b).then(|| TimeSpan::new(a.min(b), a.max(b)))
}
