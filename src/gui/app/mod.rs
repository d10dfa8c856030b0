//! The program behind the window: the open trace, the running load, the tasks.
//!
//! A frame draws, collects actions, and passes each to `view::apply`; the effects it returns (open a file, close the
//! trace) are carried out here. Nothing here reads files on the window's thread.

mod announcing;
mod docked;
mod follow;
mod keep;
mod look_out;
mod plots;
#[cfg_attr(not(target_os = "linux"), path = "no_record.rs")]
mod record;
mod status;
mod todos;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use egui::{Panel, Ui};

use crate::base::Task;
use crate::gui::announcer::Announcer;
use crate::gui::desktop::Desktop;
use crate::gui::dock::DockTiles;
use crate::gui::drop_targets::DropTargets;
use crate::gui::export_panel::ExportPanel;
use crate::gui::file_dialog::FileDialog;
use crate::gui::finder::FinderBox;
use crate::gui::following::Follow;
use crate::gui::keeping::Keeping;
use crate::gui::keys::{TypedAhead, pressed};
use crate::gui::lookout::FileLookout;
use crate::gui::notices::{Mood, Notices};
use crate::gui::pane::{Pane, Scene};
use crate::gui::panes::PANES;
use crate::gui::plotting::Plotting;
use crate::gui::questions::Questions;
use crate::gui::recent::RecentFiles;
use crate::gui::recording::Recording;
use crate::gui::samples::Sample;
use crate::gui::search_bar::SearchBox;
use crate::gui::settings::settings_ui;
use crate::gui::startup::Todos;
use crate::gui::status_bar::Counted;
use crate::gui::timeline::{Timeline, legend_ui};
use crate::gui::tips::Tips;
use crate::gui::{picture_file, save_blob, text_file, theme};
use crate::load::LoadedTrace;
use crate::load::background::Loading;
use crate::load::growing::Spool;
use crate::query::details::details;
use crate::query::gaps::sum_words;
use crate::view::Purpose;
use crate::view::saved::Saved;
use crate::view::{Action, Effect, ThemeChoice, ViewState, apply, ruler};

/// State of the window.
pub struct App {
    pub(super) state: ViewState,
    pub(super) loaded: Option<Arc<LoadedTrace>>,
    pub(super) loading: Option<Loading>,
    /// Notices to the user.
    pub(super) notices: Notices,
    pub(super) search: SearchBox,
    pub(super) counted: Counted,
    /// The file dialog, and the purpose of the chosen file.
    pub(super) dialog: FileDialog,
    pub(super) dialog_purpose: Purpose,
    /// The trace before the current load, restored if the load fails.
    pub(super) shown_before: Option<Arc<LoadedTrace>>,
    /// The window system.
    pub(super) desktop: Desktop,
    drops: DropTargets,
    pub(super) recent: RecentFiles,
    /// Looked up when the welcome screen first offers them.
    pub(super) samples: Task<(), Vec<Sample>>,
    pub(super) saved: Saved,
    saved_path: Option<PathBuf>,
    pub(super) timeline: Timeline,
    pub(super) text_file: Task<(), text_file::Outcome>,
    pub(super) picture: Task<(), picture_file::Outcome>,
    pub(super) export: ExportPanel,
    save_blob: Task<(), save_blob::Answer>,
    finder: FinderBox,
    questions: Questions,
    pub(super) keeping: Keeping,
    tips: Tips,
    pub(super) plotting: Plotting,
    /// Detects damage to the open files.
    pub(super) lookout: Option<FileLookout>,
    /// The files that are followed as they grow.
    pub(super) follow: Option<Follow>,
    /// The recording that this window makes.
    pub(super) recording: Recording,
    /// Spool files of streams; deleted with the window.
    pub(super) spools: Vec<Arc<Spool>>,
    /// Commands to carry out once the trace is complete, and the errors of those that failed.
    pub(super) todo: Todos,
    pub(super) todo_errors: Vec<String>,
    pub(super) panes: Vec<Box<dyn Pane>>,
    pub(super) tiles: DockTiles,
    began: Instant,
    pub(super) frame_ms: f32,
    /// A short message in the status bar, and when it was set.
    pub(super) message: Option<(String, Instant)>,
    /// Announcements for screen readers.
    pub(super) announcer: Announcer,
    /// Whether a widget had keyboard focus at the end of the last frame: egui clears the focus on Esc before our code
    /// runs.
    had_focus: bool,
    /// Keys typed for a field that opens in the next frame.
    typed_ahead: TypedAhead,
    /// Whether equal views must give equal pictures: then no measured value is shown.
    pub(super) is_still: bool,
}

impl App {
    /// Returns an empty window. `saved_path` is the settings file; `None`: settings are not saved.
    #[must_use]
    pub fn new(saved_path: Option<PathBuf>) -> App {
        let saved = saved_path.as_deref().map(Saved::read).unwrap_or_default();
        let state = ViewState {
            theme: saved.theme,
            time_format: saved.time_format,
            settings: saved.settings.held(),
            dock: saved.dock.clone().held(),
            layouts: saved.layouts.clone(),
            ..ViewState::default()
        };
        let keeping = Keeping::beside(saved_path.as_deref());
        App {
            state,
            loaded: None,
            loading: None,
            notices: Notices::default(),
            search: SearchBox::default(),
            counted: Counted::default(),
            dialog: FileDialog::default(),
            dialog_purpose: Purpose::Open,
            shown_before: None,
            desktop: Desktop::default(),
            drops: DropTargets::default(),
            recent: RecentFiles::default(),
            samples: Task::default(),
            saved,
            saved_path,
            timeline: Timeline::default(),
            text_file: Task::default(),
            picture: Task::default(),
            export: ExportPanel::default(),
            save_blob: Task::default(),
            finder: FinderBox::default(),
            questions: Questions::default(),
            keeping,
            tips: Tips::default(),
            plotting: Plotting::default(),
            lookout: None,
            follow: None,
            recording: Recording::default(),
            spools: Vec::new(),
            todo: Todos::default(),
            todo_errors: Vec::new(),
            panes: PANES.iter().map(|row| (row.make)()).collect(),
            tiles: DockTiles::default(),
            began: Instant::now(),
            frame_ms: 0.0,
            message: None,
            announcer: Announcer::default(),
            had_focus: false,
            typed_ahead: TypedAhead::default(),
            is_still: false,
        }
    }

    /// Sets the window system of the window.
    pub fn sits_on(&mut self, desktop: Desktop) {
        self.desktop = desktop;
    }

    /// From now on equal views give equal pictures: the frame time is hidden.
    pub fn hold_still(&mut self) {
        self.is_still = true;
    }

    /// Returns the state of the view, for tests.
    #[must_use]
    pub fn state(&self) -> &ViewState {
        &self.state
    }

    /// Returns the visible trace.
    #[must_use]
    pub fn loaded(&self) -> Option<&Arc<LoadedTrace>> {
        self.loaded.as_ref()
    }

    /// Returns the last error notice.
    #[must_use]
    pub fn notice(&self) -> Option<&str> {
        self.notices.last_error()
    }

    /// Returns whether a load, a pane or another task is still running.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.loading.is_some()
            || self.export.is_busy()
            || self.text_file.is_pending()
            || self.picture.is_pending()
            || self.search.is_busy()
            || self.plotting.is_busy()
            || self.lacks_plots()
            || self.questions.is_waiting()
            || self.timeline.is_busy()
            || !self.todo.is_empty()
            || self.follow.as_ref().is_some_and(Follow::is_busy)
            // After a trace is shown, the samples are no longer needed.
            || (self.loaded.is_none() && self.samples.is_busy())
            || self.recording.is_busy(&self.state.recording)
            || self.is_choice_waiting()
            || self.recent.is_waiting()
            || self.tiles.is_waiting(&self.panes)
    }

    /// Carries out an action.
    pub fn act(&mut self, ctx: &egui::Context, action: Action) {
        let trace = self.loaded.as_ref().map(|loaded| loaded.trace.clone());
        self.announcer.applies(&action, &self.state);
        if let Action::Configure(settings) = action
            && settings.flows != self.state.settings.flows
        {
            let words = settings.flows.word().to_lowercase();
            self.message = Some((format!("Arrows of flows: {words}"), Instant::now()));
        }
        // Without gaps the action changes nothing visible: the status bar gives the reason.
        if let (Action::StepGap(_), Some(trace)) = (&action, &trace)
            && trace.gaps.is_empty()
        {
            let words = match sum_words(trace) {
                none if none.is_empty() => "No events were lost in this trace".to_owned(),
                words => words,
            };
            self.message = Some((words, Instant::now()));
        }
        if action == Action::StartOver {
            self.panes = PANES.iter().map(|row| (row.make)()).collect();
        }
        let Some(effect) = apply(
            &mut self.state,
            action,
            trace.as_deref(),
            self.began.elapsed(),
        ) else {
            return;
        };
        match effect {
            Effect::Open(paths) => self.open_paths(ctx, paths),
            Effect::Add(paths) => self.add(ctx, paths),
            Effect::Place(source, offset) => self.place(ctx, source, offset),
            Effect::Remove(source) => self.remove(ctx, source),
            Effect::ReadAgain(reading) => self.read_again(ctx, reading),
            Effect::Reload => self.reload(ctx),
            Effect::ToggleFollow => self.toggle_follow(ctx),
            Effect::DefineProbes(text) => self.define_probes(ctx, &text),
            Effect::WriteText(order) => {
                self.text_file
                    .start(ctx, "text file", move |_| Ok(text_file::carry_out(*order)));
            }
            Effect::AskForFile(purpose) => self.ask_for_file(ctx, purpose),
            Effect::Close => {
                self.loaded = None;
                self.loading = None;
                self.follow = None;
                self.shown_before = None;
            }
            Effect::CancelLoad => {
                self.loading = None;
                self.back_to_what_was_shown();
            }
            Effect::Export(order) => {
                if let Some(loaded) = &self.loaded {
                    self.export
                        .start(ctx, &LoadedTrace::as_read(loaded), *order);
                }
            }
            Effect::CancelExport => self.export.cancel(),
            Effect::SavePayload(event) => {
                if let Some(loaded) = self.loaded.clone() {
                    self.save_blob.start(ctx, "save payload", move |_| {
                        Ok(save_blob::save(&loaded, event))
                    });
                }
            }
            Effect::CopySelection => {
                if let Some(loaded) = &self.loaded {
                    ctx.copy_text(selection_text(loaded, &self.state));
                }
            }
            Effect::CopyLink => {
                if let Some(link) = self.link() {
                    ctx.copy_text(link);
                    self.notices.say(Mood::Fine, "The link is on the clipboard");
                }
            }
            Effect::OpenLink(link) => self.open_link(ctx, &link),
            Effect::Copy(text) => ctx.copy_text(text),
            Effect::SaveSession(path) => self.save_session(&path),
            Effect::SavePicture(path) => self.save_picture(ctx, path),
            Effect::StopSearch => self.search.stop(),
            Effect::StopWork => {
                self.search.stop();
                self.plotting.stop();
                self.panes.iter_mut().for_each(|pane| pane.stop());
            }
            Effect::StepMatch(direction) => {
                if let Some(action) = self.search.next(&self.state, direction) {
                    self.act(ctx, action);
                }
            }
            Effect::Record(command) => self.command_recording(ctx, command),
            Effect::Dismiss => self.notices.clear_errors(),
            Effect::OpenAs(paths, reading) => self.open_together(ctx, paths, reading),
            Effect::Paste => ctx.send_viewport_cmd(egui::ViewportCommand::RequestPaste),
            Effect::Quit => ctx.send_viewport_cmd(egui::ViewportCommand::Close),
        }
    }

    /// Returns whether a layer covers the window or a field has focus: Esc closes or leaves that first.
    fn has_layer(&self, ctx: &egui::Context) -> bool {
        let state = &self.state;
        self.had_focus
            || egui::Popup::is_any_open(ctx)
            || state.is_help_open
            || state.is_settings_open
            || state.question.is_some()
            || state.finder.is_some()
    }

    fn note_choices(&mut self) {
        self.saved.theme = self.state.theme;
        self.saved.time_format = self.state.time_format;
        self.saved.settings = self.state.settings;
        self.saved.layouts.clone_from(&self.state.layouts);
    }

    /// Writes the settings on this thread: at the end of the program they must be on disk.
    pub(super) fn save_now(&mut self) {
        self.note_choices();
        if let Some(path) = &self.saved_path {
            drop(self.saved.write(path));
        }
    }

    pub(super) fn save(&mut self) {
        self.note_choices();
        if let Some(path) = self.saved_path.clone() {
            let saved = self.saved.clone();
            // Settings are a convenience: if they cannot be saved, nothing else is lost.
            self.keeping.write(move || drop(saved.write(&path)));
        }
    }

    /// Draws a frame and carries out its actions.
    pub fn ui(&mut self, ui: &mut Ui) {
        let frame_began = Instant::now();
        let ctx = ui.ctx().clone();
        self.poll_load(&ctx);
        self.poll_follow(&ctx);
        self.poll_recording(&ctx);
        self.poll_lookout(&ctx);
        self.poll_plots(&ctx);
        self.poll_todo(&ctx);
        self.export.poll(&ctx);
        self.poll_text_file();
        self.poll_picture();
        let saved = self.save_blob.take_end();
        match saved.transpose().map_err(|failure| failure.to_string()) {
            Ok(Some(Some(Ok(path)))) => self
                .notices
                .say(Mood::Fine, format!("Saved {}", path.display())),
            Ok(Some(Some(Err(words)))) | Err(words) => self.notices.say(Mood::Wrong, words),
            Ok(Some(None) | None) => {}
        }
        let wanted = match self.state.theme {
            ThemeChoice::System => egui::ThemePreference::System,
            ThemeChoice::Dark => egui::ThemePreference::Dark,
            ThemeChoice::Light => egui::ThemePreference::Light,
        };
        ctx.set_theme(wanted);
        let zoom = f32::from(self.state.settings.ui_percent) / 100.0;
        if (ctx.zoom_factor() - zoom).abs() > 0.001 {
            ctx.set_zoom_factor(zoom);
        }
        if let Some(loaded) = &self.loaded {
            self.state.refresh_active(&loaded.trace);
        }
        self.focus_pane(&ctx);
        self.typed_ahead.release(&ctx);
        let mut actions = pressed(&ctx, &self.state, &mut self.typed_ahead);
        if self.has_layer(&ctx) {
            // Esc closes the layer, and nothing else.
            actions.retain(|action| *action != Action::Deselect);
        }
        if self.search.is_busy() {
            // Esc stops a running search first.
            for action in actions.iter_mut().filter(|it| **it == Action::Deselect) {
                *action = Action::Do(Effect::StopSearch);
            }
        }
        let dropped: Vec<PathBuf> = ui.input(|input| {
            input
                .raw
                .dropped_files
                .iter()
                .map(|file| file.path().to_path_buf())
                .collect()
        });
        if !dropped.is_empty() {
            actions.push(self.drops.dropped(dropped));
        }
        actions.extend(self.pasted(&ctx));
        let palette = theme::palette(ctx.theme());

        Panel::top("menu").show(ui, |ui| self.menu_ui(ui, &mut actions));
        if let (true, Some(loaded)) = (self.state.search.is_open, &self.loaded) {
            self.search.poll(&ctx, &self.state, loaded);
            let mut wants_focus = std::mem::take(&mut self.state.search.wants_focus);
            Panel::top("search").show(ui, |ui| {
                let (state, focus) = (&self.state, &mut wants_focus);
                self.search.ui(ui, state, &palette, focus, &mut actions);
            });
        } else {
            self.search = SearchBox::default();
        }
        Panel::bottom("status").show(ui, |ui| self.status_ui(ui, &palette, &mut actions));
        match self.loaded.clone() {
            Some(loaded) => self.trace_ui(ui, &loaded, &palette, &mut actions),
            None if self.loading.is_some() => self.opening_ui(ui, &palette),
            None if self.follow.is_some() => self.waiting_ui(ui, &palette, &mut actions),
            None if self.recording.is_choosing() => self.choosing_ui(ui, &palette, &mut actions),
            None => self.welcome_ui(ui, &palette, &mut actions),
        }
        if self.state.is_export_open
            && let Some(loaded) = &self.loaded
        {
            let scene = Scene {
                loaded: &LoadedTrace::as_read(loaded),
                state: &self.state,
                found: self.search.found(),
                palette: &palette,
            };
            self.export.ui(&ctx, &scene, &mut actions);
        }
        if self.state.is_help_open {
            super::help::help_ui(&ctx, &palette, &mut actions);
        }
        legend_ui(&ctx, &self.state, &palette, &mut actions);
        settings_ui(&ctx, &self.state, &mut actions);
        self.finder.ui(&ctx, &self.state, &palette, &mut actions);
        let scene = self.loaded.as_ref().map(|loaded| Scene {
            loaded,
            state: &self.state,
            found: None,
            palette: &palette,
        });
        let (state, scene) = (&self.state, scene.as_ref());
        self.questions
            .ui(&ctx, state, scene, &palette, &mut actions);
        if let Some(loaded) = &self.loaded {
            let (state, tips) = (&self.state, &mut self.tips);
            tips.ui(&ctx, state, loaded, &palette, &mut actions);
        }
        self.notices.ui(&ctx, &palette, &mut actions);
        let shown = self.loaded.as_ref().map(|loaded| loaded.file_name());
        let (desktop, shown) = (self.desktop, shown.as_deref());
        self.drops.ui(&ctx, desktop, shown, &palette);
        self.keep(&ctx);
        self.had_focus = ctx.egui_wants_keyboard_input();
        let before = self.state.choices();
        // The item under the pointer is known only after the frame is drawn.
        actions.sort_by_key(|action| *action == Action::PinPointed);
        for action in actions {
            self.act(&ctx, action);
        }
        if before != self.state.choices() {
            self.save();
        }
        self.announce(&ctx);
        self.frame_ms = frame_began.elapsed().as_secs_f32() * 1e3;
    }
}

/// Returns the last selection as text: the item with all its fields, else the range.
fn selection_text(loaded: &LoadedTrace, state: &ViewState) -> String {
    let item = match state.range {
        Some(_) => state.meant_item(),
        None => state.selected,
    };
    if let Some(item) = item {
        return details(&loaded.trace, loaded.reader.as_ref(), item).text();
    }
    let Some(range) = state.range else {
        return String::new();
    };
    let time = |time| ruler::full_text(time, state.time_format, state.origins);
    format!(
        "{} to {}, {}",
        time(range.start),
        time(range.end),
        ruler::length_text(range.duration(), state.origins.unit)
    )
}
