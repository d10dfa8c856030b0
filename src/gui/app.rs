//! The window's program: which trace is open, what is loading, what the user asked for.
//!
//! A frame draws, gathers actions, and hands each to `view::apply`; what that cannot do itself (open a file,
//! bring a pane up) comes back as an effect and is done here. Nothing here reads files on the window's thread.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use egui::{Panel, Ui};

use super::dock::DockTiles;
use super::drag_pointer::Desktop;
use super::drop_targets::DropTargets;
use super::errand::Errand;
use super::export_panel::ExportPanel;
use super::file_dialog::FileDialog;
use super::finder::FinderBox;
use super::following::Follow;
use super::keeping::Keeping;
use super::keys::{TypedAhead, pressed};
use super::lookout::FileLookout;
use super::notices::{Mood, Notices};
use super::pane::{Later, Pane, Scene};
use super::panes::PANES;
use super::plotting::Plotting;
use super::questions::Questions;
use super::recent::RecentFiles;
use super::samples::Sample;
use super::search_bar::SearchBox;
use super::settings::settings_ui;
use super::startup::Todos;
use super::status_bar::Counted;
use super::timeline::{Timeline, legend_ui};
use super::tips::Tips;
use super::{picture_file, save_blob, text_file, theme};
use crate::load::LoadedTrace;
use crate::load::background::Loading;
use crate::load::growing::Spool;
use crate::query::details::details;
use crate::query::gaps::sum_words;
use crate::view::action::Purpose;
use crate::view::saved::Saved;
use crate::view::{Action, Effect, ThemeChoice, ViewState, apply, ruler};

/// Everything the window holds.
pub struct App {
    pub(super) state: ViewState,
    pub(super) loaded: Option<Arc<LoadedTrace>>,
    pub(super) loading: Option<Loading>,
    /// What happened, in words.
    pub(super) notices: Notices,
    pub(super) search: SearchBox,
    pub(super) counted: Counted,
    /// The file dialog, and what its answer is for.
    pub(super) dialog: FileDialog,
    pub(super) dialog_purpose: Purpose,
    /// What was shown before the load that is under way.
    pub(super) shown_before: Option<Arc<LoadedTrace>>,
    /// What the window is on.
    pub(super) desktop: Desktop,
    drops: DropTargets,
    pub(super) recent: RecentFiles,
    /// Looked up when they are first offered.
    pub(super) samples: Later<(), Vec<Sample>>,
    pub(super) saved: Saved,
    saved_path: Option<PathBuf>,
    pub(super) timeline: Timeline,
    pub(super) text_file: Errand<text_file::Outcome>,
    pub(super) picture: Errand<picture_file::Outcome>,
    export: ExportPanel,
    save_blob: Errand<save_blob::Answer>,
    finder: FinderBox,
    questions: Questions,
    pub(super) keeping: Keeping,
    tips: Tips,
    pub(super) plotting: Plotting,
    /// Notices damage to the files that are shown.
    pub(super) lookout: Option<FileLookout>,
    /// What is read again as it grows.
    pub(super) follow: Option<Follow>,
    /// Streams that were kept: their files go with the window.
    pub(super) spools: Vec<Arc<Spool>>,
    /// What is to be done when the trace is there, and what could not be.
    pub(super) todo: Todos,
    pub(super) todo_errors: Vec<String>,
    pub(super) panes: Vec<Box<dyn Pane>>,
    pub(super) tiles: DockTiles,
    began: Instant,
    pub(super) frame_ms: f32,
    /// What the status bar says for a moment, since when.
    pub(super) said: Option<(String, Instant)>,
    /// Whether something had the keyboard at the end of the last frame: egui takes it away by Esc before we are asked.
    had_focus: bool,
    /// Keys for a field that is about to be shown.
    typed_ahead: TypedAhead,
    /// Whether the same view must give the same picture: then nothing measured is shown.
    pub(super) is_still: bool,
}

impl App {
    /// An empty window. `saved_path` is where recent files are kept; `None`: nowhere.
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
            samples: Later::default(),
            saved,
            saved_path,
            timeline: Timeline::default(),
            text_file: Errand::default(),
            picture: Errand::default(),
            export: ExportPanel::default(),
            save_blob: Errand::default(),
            finder: FinderBox::default(),
            questions: Questions::default(),
            keeping,
            tips: Tips::default(),
            plotting: Plotting::default(),
            lookout: None,
            follow: None,
            spools: Vec::new(),
            todo: Todos::default(),
            todo_errors: Vec::new(),
            panes: PANES.iter().map(|row| (row.make)()).collect(),
            tiles: DockTiles::default(),
            began: Instant::now(),
            frame_ms: 0.0,
            said: None,
            had_focus: false,
            typed_ahead: TypedAhead::default(),
            is_still: false,
        }
    }

    /// Says which window system the window is on.
    pub fn sits_on(&mut self, desktop: Desktop) {
        self.desktop = desktop;
    }

    /// From now on the same view gives the same picture: the frame time is not shown.
    pub fn hold_still(&mut self) {
        self.is_still = true;
    }

    /// The view, for tests.
    #[must_use]
    pub fn state(&self) -> &ViewState {
        &self.state
    }

    /// The trace that is shown.
    #[must_use]
    pub fn loaded(&self) -> Option<&Arc<LoadedTrace>> {
        self.loaded.as_ref()
    }

    /// What went wrong last.
    #[must_use]
    pub fn notice(&self) -> Option<&str> {
        self.notices.last_error()
    }

    /// Whether a load or a pane is still at work.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.loading.is_some()
            || self.export.is_busy()
            || self.text_file.is_busy()
            || self.picture.is_busy()
            || self.search.is_busy()
            || self.plotting.is_busy()
            || self.lacks_plots()
            || self.questions.is_waiting()
            || !self.todo.is_empty()
            || self.follow.as_ref().is_some_and(Follow::is_busy)
            // Nobody asks for them any more once a trace is shown.
            || (self.loaded.is_none() && self.samples.is_waiting())
            || self.recent.is_waiting()
            || self.tiles.is_waiting(&self.panes)
    }

    /// Carries out an action.
    pub fn act(&mut self, ctx: &egui::Context, action: Action) {
        let trace = self.loaded.as_ref().map(|loaded| loaded.trace.clone());
        if let Action::Configure(settings) = action
            && settings.flows != self.state.settings.flows
        {
            let words = settings.flows.word().to_lowercase();
            self.said = Some((format!("Arrows of flows: {words}"), Instant::now()));
        }
        if let (Action::StepGap(_), Some(trace)) = (&action, &trace)
            && trace.gaps.is_empty()
        {
            let words = match sum_words(trace) {
                none if none.is_empty() => "No events were lost in this trace".to_owned(),
                words => words,
            };
            self.said = Some((words, Instant::now()));
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
                let write = move || text_file::carry_out(*order);
                self.text_file.start(ctx, "text file", write);
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
                    let save = move || save_blob::save(&loaded, event);
                    self.save_blob.start(ctx, "save payload", save);
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
            Effect::Dismiss => self.notices.clear_errors(),
            Effect::OpenAs(paths, reading) => self.open_together(ctx, paths, reading),
            Effect::Paste => ctx.send_viewport_cmd(egui::ViewportCommand::RequestPaste),
            Effect::Quit => ctx.send_viewport_cmd(egui::ViewportCommand::Close),
        }
    }

    /// Whether something lies over the window, or a field has the keyboard: what Esc closes or leaves by itself.
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

    /// Writes the settings, before the program ends.
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
            // Settings are a convenience: where they cannot be kept, nothing else is lost.
            rayon::spawn(move || drop(saved.write(&path)));
        }
    }

    /// Draws a frame and does what it asks for.
    pub fn ui(&mut self, ui: &mut Ui) {
        let frame_began = Instant::now();
        let ctx = ui.ctx().clone();
        self.poll_load(&ctx);
        self.poll_follow(&ctx);
        self.poll_lookout(&ctx);
        self.poll_plots(&ctx);
        self.poll_todo(&ctx);
        self.export.poll(&ctx);
        self.poll_text_file();
        self.poll_picture();
        match self.save_blob.poll().flatten() {
            Some(Ok(path)) => self
                .notices
                .say(Mood::Fine, format!("Saved {}", path.display())),
            Some(Err(words)) => self.notices.say(Mood::Wrong, words),
            None => {}
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
            // Esc closes that, and nothing else.
            actions.retain(|action| *action != Action::Deselect);
        }
        if self.search.is_busy() {
            // A search that goes on is what Esc stops first.
            for action in actions.iter_mut().filter(|it| **it == Action::Deselect) {
                *action = Action::StopSearch;
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
        // What is under the pointer is known once the frame is drawn.
        actions.sort_by_key(|action| *action == Action::PinPointed);
        for action in actions {
            self.act(&ctx, action);
        }
        if before != self.state.choices() {
            self.save();
        }
        self.frame_ms = frame_began.elapsed().as_secs_f32() * 1e3;
    }
}

/// What was selected last, as text: the item with all its fields, else the range.
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
