//! The two sides of a comparison: this trace, one of the files on the axis, or another file that is opened for it.

use std::path::PathBuf;
use std::sync::Arc;

use egui::{RichText, Ui};

use crate::base::{Task, TimeSpan};
use crate::gui::file_dialog::{Answer, FileDialog};
use crate::gui::pane::Scene;
use crate::gui::panes::selection::area::area_of;
use crate::load::{LoadError, LoadedTrace, TraceId, open};
use crate::query::area::Area;
use crate::query::compare::Compared;

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Everything that the window shows.
    Whole,
    /// The selected range.
    Range,
    /// The time between the markers.
    Markers,
    /// One of the files on the axis.
    Member(usize),
    /// The other file, opened for the comparison.
    Other,
}

/// The file that is opened for the comparison.
#[derive(Default)]
pub(crate) struct OtherFile {
    path: String,
    loading: Task<(), Result<LoadedTrace, LoadError>>,
    loaded: Option<Arc<LoadedTrace>>,
    dialog: FileDialog,
    problem: Option<String>,
}

impl OtherFile {
    /// Returns whether the file is being read.
    pub(crate) fn is_loading(&self) -> bool {
        self.loading.is_pending()
    }

    /// Cancels reading.
    pub(crate) fn stop(&mut self) {
        self.loading.cancel();
    }

    /// Returns the file once it is read.
    pub(super) fn loaded(&self) -> Option<&Arc<LoadedTrace>> {
        self.loaded.as_ref()
    }

    /// Draws a path field, a button for a dialog, and the progress of reading.
    pub(super) fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) {
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
        let is_free = !self.is_loading() && !self.path.trim().is_empty();
        let button = egui::Button::new("Open for comparing");
        if ui.add_enabled(is_free, button).clicked() || (is_entered && is_free) {
            self.start(ui.ctx(), PathBuf::from(self.path.trim()));
        }
        if self.is_loading() {
            let share = self.loading.progress().share() as f32;
            ui.add(egui::ProgressBar::new(share).desired_width(100.0));
            if ui.button("Stop").clicked() {
                self.stop();
            }
        }
        if let Some(problem) = &self.problem {
            ui.label(RichText::new(problem).color(scene.palette.error));
        }
    }

    fn start(&mut self, ctx: &egui::Context, path: PathBuf) {
        self.problem = None;
        self.loading
            .start(ctx, "compare", move |work| Ok(open(&path, work)));
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
        match self.loading.take_end() {
            Some(Ok(Ok(loaded))) => self.loaded = Some(Arc::new(loaded)),
            Some(Ok(Err(error))) => self.problem = Some(error.to_string()),
            Some(Err(failure)) => self.problem = Some(failure.to_string()),
            None => {}
        }
    }
}

/// A side that can be chosen.
pub(crate) struct SideChoice {
    pub(crate) side: Side,
    pub(crate) name: String,
}

/// Returns the sides that can be chosen now.
pub(crate) fn sides(scene: &Scene<'_>, other: &OtherFile) -> Vec<SideChoice> {
    let mut sides = Vec::new();
    let mut add = |side, name| sides.push(SideChoice { side, name });
    if scene.loaded.members.is_empty() {
        add(Side::Whole, scene.loaded.file_name());
    } else {
        for (at, member) in scene.loaded.members.iter().enumerate() {
            add(Side::Member(at), member.file_name());
        }
        add(Side::Whole, "all files".to_owned());
    }
    if scene.state.range.is_some() {
        add(Side::Range, "the selected range".to_owned());
    }
    if markers(scene).is_some() {
        add(Side::Markers, "between markers A and B".to_owned());
    }
    if let Some(other) = other.loaded() {
        add(Side::Other, other.file_name());
    }
    sides
}

/// The trace and the area on one side of the comparison, with its title.
#[derive(Clone)]
pub(crate) struct SideOf {
    pub(crate) loaded: Arc<LoadedTrace>,
    pub(crate) area: Area,
}

impl SideOf {
    /// Returns the part of the title that distinguishes the side from the other one.
    pub(crate) fn key(&self) -> SideKey {
        SideKey {
            trace: self.loaded.id,
            area: self.area.clone(),
        }
    }

    pub(crate) fn compared(&self) -> Compared<'_> {
        Compared {
            trace: &self.loaded.trace,
            area: &self.area,
        }
    }
}

/// Which trace and area are on a side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SideKey {
    pub(crate) trace: TraceId,
    pub(crate) area: Area,
}

/// Returns the trace and the area of a side; `None` if the side does not exist now.
pub(crate) fn resolve(side: &Side, scene: &Scene<'_>, other: &OtherFile) -> Option<SideOf> {
    let shown = || scene.loaded.clone();
    let (loaded, area) = match side {
        Side::Whole => (shown(), Area::all()),
        Side::Range => {
            scene.state.range?;
            (shown(), area_of(scene.state, &scene.loaded.trace).area)
        }
        Side::Markers => (shown(), Area::of(markers(scene)?)),
        Side::Member(at) => (scene.loaded.members.get(*at)?.clone(), Area::all()),
        Side::Other => (other.loaded()?.clone(), Area::all()),
    };
    Some(SideOf { loaded, area })
}

fn markers(scene: &Scene<'_>) -> Option<TimeSpan> {
    let [a, b] = scene.state.marks;
    let (a, b) = (a?, b?);
    (a != b).then(|| TimeSpan::new(a.min(b), a.max(b)))
}
