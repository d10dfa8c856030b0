//! Recording this machine: starts and stops the process that records, shows what it recorded so far, and saves it.
//!
//! While it is recorded, the view follows the end of the trace: it moves with the time that passes, a moment behind it,
//! so that new events come into sight smoothly although they are read a few times a second. Other views stay where they
//! are: if the timeline would lose what is in sight, because it keeps only the last part of the recording, it stands
//! still until the user goes back to the end or the recording is complete.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{RichText, Ui};

use super::App;
use crate::base::atomic_file::{FileError, Overwrite, write_whole_file};
use crate::base::{Job, TimeSpan};
use crate::event::part::ClockUnit;
use crate::gui::notices::Mood;
use crate::gui::pane::Alone;
use crate::gui::recorder::{LiveTrace, Place, Recorder};
use crate::gui::recording::{FOLLOWED, Recording};
use crate::gui::theme::Palette;
use crate::load::LoadedTrace;
use crate::view::recording::FinishedRecording;
use crate::view::{
    Action, Effect, PaneKind, Purpose, RecordCommand, RecordRights, RecordSettings, RecordState,
};

/// Longest time between two frames while it is recorded.
const FRAME: Duration = Duration::from_millis(33);

impl App {
    /// Carries out a command to the recording.
    pub(super) fn command_recording(&mut self, ctx: &egui::Context, command: RecordCommand) {
        match command {
            RecordCommand::Choose if self.loaded.is_some() => {
                self.act(ctx, Action::OpenPane(PaneKind::Record));
            }
            RecordCommand::Choose => self.recording.is_choosing = true,
            RecordCommand::Leave => self.recording.is_choosing = false,
            RecordCommand::Start(settings, rights) => self.start_recording(ctx, &settings, rights),
            RecordCommand::Stop => {
                if let Some(recorder) = &self.recording.recorder {
                    recorder.stop();
                }
            }
            RecordCommand::Show => self.show_newest(),
            RecordCommand::Save(path) => self.save_recording(ctx, path),
        }
    }

    fn start_recording(
        &mut self,
        ctx: &egui::Context,
        settings: &RecordSettings,
        rights: RecordRights,
    ) {
        if self.state.recording.is_active() || self.recording.saving.is_pending() {
            return;
        }
        let is_choosing = self.recording.is_choosing;
        // An earlier recording that was not saved is deleted here.
        self.recording = Recording {
            is_choosing,
            ..Recording::default()
        };
        let place = match self.saved_path {
            Some(_) => Place::Cache,
            None => Place::Temporary,
        };
        match Recorder::start(settings, rights, place, ctx) {
            Ok(recorder) => {
                self.recording.recorder = Some(recorder);
                self.state.recording = RecordState::Starting;
            }
            Err(error) => {
                let words = format!("no folder for the recording can be made: {error}");
                self.state.recording = RecordState::Failed(words);
            }
        }
    }

    /// Takes what was recorded since the last frame; called once a frame.
    pub(super) fn poll_recording(&mut self, ctx: &egui::Context) {
        self.poll_saving();
        while let Some(seen) = self.recording.recorder.as_mut().and_then(Recorder::take) {
            self.state.recording = seen.state;
            if let Some(trace) = seen.trace {
                self.show_recorded(trace);
            }
            if let RecordState::Failed(words) = &self.state.recording {
                // Its folder is deleted; the kernel is as before.
                self.recording.recorder = None;
                let words = format!("Not recorded: {words}");
                self.notices.say(Mood::Wrong, words);
            }
        }
        let newest = self.recording.newest.as_ref().map(|it| it.loaded.id);
        self.state.is_recording_shown = newest.is_some_and(|newest| {
            let shown = self.loaded.as_ref();
            shown.is_some_and(|shown| shown.id.shares_lineage(newest))
        });
        if matches!(self.state.recording, RecordState::Running { .. }) {
            ctx.request_repaint_after(FRAME);
            self.follow_recording(ctx);
        }
    }

    /// Shows a newer trace of the recording, unless another trace is shown.
    fn show_recorded(&mut self, trace: LiveTrace) {
        let Some(recorder) = &mut self.recording.recorder else {
            return;
        };
        let id = trace.loaded.id;
        let last = recorder.last.replace(id);
        if last == Some(id) {
            return;
        }
        self.recording.follower.sees(&trace);
        self.recording.newest = Some(trace.clone());
        if last.is_none() {
            self.show_in_place(trace.loaded);
        } else {
            self.recording.is_held = self.would_lose(&trace.loaded);
            if !self.recording.is_held {
                self.grow_recorded(trace.loaded);
            }
        }
    }

    /// Shows the recording in place of another trace, or its end in place of another part.
    fn show_newest(&mut self) {
        let Some(newest) = self.recording.newest.clone() else {
            return;
        };
        let end = newest.loaded.trace.span.end;
        if !self.grow_recorded(Arc::clone(&newest.loaded)) {
            self.show_in_place(newest.loaded);
        }
        if matches!(self.state.recording, RecordState::Running { .. }) {
            let span = TimeSpan::new(end - FOLLOWED, end);
            self.state.show_span(span);
            let follower = &mut self.recording.follower;
            (follower.is_on, follower.shown) = (true, Some(self.state.span));
        }
    }

    /// Shows the recording in place of whatever is shown or being opened.
    fn show_in_place(&mut self, loaded: Arc<LoadedTrace>) {
        self.follow = None;
        self.loading = None;
        self.recording.is_choosing = false;
        self.show(loaded);
        self.keep_origin();
    }

    /// Returns whether the shown part of the recording is missing in a newer version that keeps only the last part.
    fn would_lose(&self, newer: &LoadedTrace) -> bool {
        let state = &self.state;
        let is_running = matches!(state.recording, RecordState::Running { .. });
        let is_elsewhere = !self.recording.follower.is_on && state.span != state.bounds();
        is_running && is_elsewhere && newer.trace.span.start > state.span.start
    }

    /// Returns whether the settings that are shown without a trace wait for the kernel.
    pub(super) fn is_choice_waiting(&self) -> bool {
        let pane = self.panes.get(PaneKind::Record as usize);
        let is_shown = self.loaded.is_none() && self.recording.is_choosing;
        is_shown && pane.is_some_and(|pane| pane.is_waiting())
    }

    /// Replaces the recording by a newer version of it, if it is shown. Returns whether it is.
    fn grow_recorded(&mut self, loaded: Arc<LoadedTrace>) -> bool {
        let old = self.loaded.clone();
        let Some(old) = old.filter(|old| old.id.shares_lineage(loaded.id)) else {
            return false;
        };
        let span = self.state.span;
        self.state.grow(&old.trace, &loaded.trace);
        self.loaded = Some(loaded);
        let follower = &mut self.recording.follower;
        if follower.is_on && follower.shown == Some(span) {
            self.state.show_span(span);
            follower.shown = Some(self.state.span);
        }
        self.keep_origin();
        true
    }

    /// Counts times from the first event of the recording, also if it is not shown any more.
    fn keep_origin(&mut self) {
        if let Some(origin) = self.recording.follower.origin {
            self.state.origins.start = origin;
        }
    }

    /// Moves the view with the end of the recording, if it is shown and the user looks at its end.
    fn follow_recording(&mut self, ctx: &egui::Context) {
        let Some(loaded) = &self.loaded else { return };
        if !self.state.is_recording_shown || loaded.trace.info.clock_unit != ClockUnit::Nanoseconds
        {
            return;
        }
        let (span, whole) = (self.state.span, self.state.bounds());
        let end = loaded.trace.span.end;
        let follower = &mut self.recording.follower;
        if let Some(next) = follower.follows(span, whole, end) {
            self.state.show_span(next);
            ctx.request_repaint();
        }
        follower.shown = Some(self.state.span);
    }

    /// Starts to copy the finished recording to a file.
    fn save_recording(&mut self, ctx: &egui::Context, path: PathBuf) {
        let (Some(recorder), Some(newest)) = (&self.recording.recorder, &self.recording.newest)
        else {
            return;
        };
        let RecordState::Finished(finished) = &mut self.state.recording else {
            return;
        };
        finished.is_saving = true;
        let (from, id) = (recorder.path(), newest.loaded.id.next_generation());
        self.recording
            .saving
            .start(ctx, "save recording", move |work| {
                let saved = copied(&from, &path, work).map(|loaded| LoadedTrace { id, ..loaded });
                Ok(saved)
            });
    }

    fn poll_saving(&mut self) {
        let Some(end) = self.recording.saving.take_end() else {
            return;
        };
        let saved = end.unwrap_or_else(|failure| Err(failure.to_string()));
        let RecordState::Finished(finished) = &mut self.state.recording else {
            return;
        };
        finished.is_saving = false;
        match saved {
            Ok(loaded) => {
                let words = format!("The recording is saved in {}", loaded.path.display());
                self.notices.say(Mood::Fine, words);
                finished.saved = Some(loaded.path.clone());
                let loaded = Arc::new(loaded);
                self.remember(&loaded);
                self.recording.newest = Some(LiveTrace {
                    loaded: Arc::clone(&loaded),
                    read: Instant::now(),
                });
                self.grow_recorded(loaded);
                // The copy in the window's own folder is not needed any more.
                self.recording.recorder = None;
            }
            Err(words) => {
                let words = format!("The recording is not saved: {words}");
                self.notices.say(Mood::Wrong, words);
            }
        }
    }

    /// Draws the settings of a recording while no trace is open.
    pub(super) fn choosing_ui(
        &mut self,
        ui: &mut Ui,
        palette: &Palette,
        actions: &mut Vec<Action>,
    ) {
        let frame = egui::Frame::new().fill(palette.panel).inner_margin(16);
        egui::CentralPanel::default().frame(frame).show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.heading("Record this machine");
                let back = |ui: &mut Ui| ui.button("Back").clicked();
                let right = egui::Layout::right_to_left(egui::Align::Center);
                if ui.with_layout(right, back).inner {
                    actions.push(Action::Do(Effect::Record(RecordCommand::Leave)));
                }
            });
            ui.add_space(6.0);
            let alone = Alone {
                state: &self.state,
                palette,
            };
            if let Some(pane) = self.panes.get_mut(PaneKind::Record as usize) {
                actions.extend(pane.alone_ui(ui, &alone));
            }
        });
    }

    /// Draws the state of the recording in the status bar, with what to do next.
    pub(super) fn recording_ui(&self, ui: &mut Ui, palette: &Palette, actions: &mut Vec<Action>) {
        let weak = |text: String| RichText::new(text).color(palette.weak).size(12.0);
        let link = |ui: &mut Ui, words: &str| {
            let link = egui::Link::new(RichText::new(words).size(12.0));
            ui.add(link).clicked()
        };
        match &self.state.recording {
            RecordState::Idle | RecordState::Failed(_) => {}
            RecordState::Starting | RecordState::Finishing => {
                ui.separator();
                let words = match self.state.recording {
                    RecordState::Starting => "Starting to record",
                    _ => "Writing the recording",
                };
                ui.label(weak(words.to_owned()));
            }
            RecordState::Running { facts, .. } => {
                ui.separator();
                ui.label(RichText::new("●").color(palette.error).size(12.0));
                // Equal views must give equal pictures.
                let words = match self.is_still {
                    true => "Recording".to_owned(),
                    false => format!("Recording: {}", facts.words()),
                };
                ui.label(weak(words));
                let is_elsewhere = !self.recording.follower.is_on
                    && self.state.is_recording_shown
                    && self.state.span != self.state.bounds();
                if is_elsewhere && link(ui, "Go to its end") {
                    actions.push(Action::Do(Effect::Record(RecordCommand::Show)));
                }
                if self.recording.is_held {
                    let words = "(the timeline waits: it no longer keeps this part)";
                    ui.label(weak(words.to_owned())).on_hover_text(
                        "Only the last part of a recording is kept while it is made. Its file contains everything.",
                    );
                }
                if link(ui, "Stop recording") {
                    actions.push(Action::Do(Effect::Record(RecordCommand::Stop)));
                }
            }
            RecordState::Finished(FinishedRecording {
                saved: None,
                is_saving: false,
                ..
            }) => {
                ui.separator();
                ui.label(weak("The recording is not saved".to_owned()));
                if link(ui, "Save as…") {
                    let purpose = Purpose::SaveRecording;
                    actions.push(Action::Do(Effect::AskForFile(purpose)));
                }
            }
            RecordState::Finished(_) => {}
        }
    }
}

/// Copies a file as a whole, and loads the copy.
fn copied(from: &Path, to: &Path, job: &Job) -> Result<LoadedTrace, String> {
    let words = |error: FileError| match error {
        FileError::Exists => format!("there is a folder with that name: {}", to.display()),
        FileError::Io(error) => error.to_string(),
    };
    write_whole_file(to, Overwrite::Replace, |mut file| {
        let mut source = std::fs::File::open(from)?;
        Ok(std::io::copy(&mut source, &mut file)?)
    })
    .map_err(words)?;
    crate::load::open(to, job).map_err(|error| error.to_string())
}

/// Returns whether a file is a recording that is deleted with the window.
pub(super) fn is_temporary(path: &Path) -> bool {
    Recorder::is_of(path)
}
