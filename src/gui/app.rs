//! The window's program: which trace is open, what is loading, what the user asked for.
//!
//! A frame draws, gathers actions, and hands each to `view::apply`; what that cannot do itself (open a file,
//! bring a pane up) comes back as an effect and is done here. Nothing here reads files on the window's thread.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use egui::{Align2, FontId, Panel, RichText, Ui, vec2};

use super::keys::{GESTURES, KEYS, pressed};
use super::pane::{Pane, Scene};
use super::panes::PANES;
use super::theme;
use super::timeline::Timeline;
use crate::load::LoadedTrace;
use crate::load::background::{Loading, Update};
use crate::view::saved::{RecentFile, Saved};
use crate::view::{Action, Effect, ThemeChoice, TimeFormat, ViewState, apply, ruler};

/// Everything the window holds.
pub struct App {
    state: ViewState,
    loaded: Option<Arc<LoadedTrace>>,
    loading: Option<Loading>,
    /// The last thing that went wrong, in words.
    notice: Option<String>,
    dialog: Option<Receiver<Option<PathBuf>>>,
    dialog_began: Instant,
    saved: Saved,
    saved_path: Option<PathBuf>,
    timeline: Timeline,
    panes: Vec<Box<dyn Pane>>,
    open_pane: usize,
    began: Instant,
    frame_ms: f32,
    /// Whether the same view must give the same picture: then nothing measured is shown.
    is_still: bool,
}

impl App {
    /// An empty window. `saved_path` is where recent files are kept; `None`: nowhere.
    #[must_use]
    pub fn new(saved_path: Option<PathBuf>) -> App {
        let saved = saved_path.as_deref().map(Saved::read).unwrap_or_default();
        let state = ViewState {
            theme: saved.theme,
            time_format: saved.time_format,
            ..ViewState::default()
        };
        App {
            state,
            loaded: None,
            loading: None,
            notice: None,
            dialog: None,
            dialog_began: Instant::now(),
            saved,
            saved_path,
            timeline: Timeline::default(),
            panes: PANES.iter().map(|row| (row.make)()).collect(),
            open_pane: 0,
            began: Instant::now(),
            frame_ms: 0.0,
            is_still: false,
        }
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
        self.notice.as_deref()
    }

    /// Whether a load or a pane is still at work.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.loading.is_some()
            || self
                .panes
                .get(self.open_pane)
                .is_some_and(|pane| pane.is_waiting())
    }

    /// Starts to load a file; what is shown stays until something of it is there.
    pub fn open(&mut self, ctx: &egui::Context, path: &Path) {
        let ctx = ctx.clone();
        self.notice = None;
        self.loading = Some(Loading::start(path.to_path_buf(), move || {
            ctx.request_repaint()
        }));
    }

    /// Shows a trace.
    pub fn show(&mut self, loaded: Arc<LoadedTrace>) {
        let is_same_file = self
            .loaded
            .as_ref()
            .is_some_and(|old| old.path == loaded.path && !old.is_complete);
        if is_same_file {
            self.state.take(&loaded.trace);
        } else {
            self.state.show_new(&loaded.trace);
        }
        self.loaded = Some(loaded);
    }

    /// Carries out an action.
    pub fn act(&mut self, ctx: &egui::Context, action: Action) {
        let trace = self.loaded.as_ref().map(|loaded| loaded.trace.clone());
        let Some(effect) = apply(
            &mut self.state,
            action,
            trace.as_deref(),
            self.began.elapsed(),
        ) else {
            return;
        };
        match effect {
            Effect::Open(path) => self.open(ctx, &path),
            Effect::AskForFile => self.ask_for_file(ctx),
            Effect::Close => {
                self.loaded = None;
                self.loading = None;
            }
            Effect::CancelLoad => {
                self.loading = None;
                // What was published of a cancelled load would look like a whole trace.
                if self
                    .loaded
                    .as_ref()
                    .is_some_and(|loaded| !loaded.is_complete)
                {
                    self.loaded = None;
                }
            }
            Effect::Copy(text) => ctx.copy_text(text),
            Effect::OpenPane(name) => {
                self.open_pane = PANES
                    .iter()
                    .position(|row| row.name == name)
                    .unwrap_or(self.open_pane);
            }
            Effect::Dismiss => self.notice = None,
            Effect::Quit => ctx.send_viewport_cmd(egui::ViewportCommand::Close),
        }
    }

    fn ask_for_file(&mut self, ctx: &egui::Context) {
        if self.dialog.is_some() {
            return;
        }
        let (sender, receiver) = channel();
        let ctx = ctx.clone();
        let spawned = std::thread::Builder::new()
            .name("file dialog".to_owned())
            .spawn(move || {
                let mut dialog = rfd::FileDialog::new().set_title("Open a trace");
                let known: Vec<&str> = crate::formats::FORMATS
                    .iter()
                    .flat_map(|format| format.extensions.iter().copied())
                    .collect();
                dialog = dialog
                    .add_filter("All files", &["*"])
                    .add_filter("Traces", &known);
                let _closed = sender.send(dialog.pick_file());
                ctx.request_repaint();
            });
        if spawned.is_ok() {
            self.dialog = Some(receiver);
            self.dialog_began = Instant::now();
        }
    }

    fn poll(&mut self, ctx: &egui::Context) {
        if let Some(dialog) = &self.dialog {
            match dialog.try_recv() {
                Ok(Some(path)) => {
                    self.dialog = None;
                    self.open(ctx, &path);
                }
                Ok(None) => {
                    self.dialog = None;
                    // No dialog can be closed by hand that fast: there was none.
                    if self.dialog_began.elapsed() < Duration::from_millis(150) {
                        self.notice = Some(
                            "No file dialog is available here. Drop the file on the window, or name it on the command line."
                                .to_owned(),
                        );
                    }
                }
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => self.dialog = None,
            }
        }
        while let Some(update) = self.loading.as_mut().and_then(Loading::poll) {
            match update {
                Update::Generation(loaded) => {
                    if loaded.is_complete {
                        self.loading = None;
                        self.remember(&loaded);
                    }
                    // A coarse picture without a span would only flash.
                    if loaded.is_complete || !loaded.trace.span.is_empty() {
                        self.show(loaded);
                    }
                }
                Update::Failed(error) => {
                    self.loading = None;
                    if self
                        .loaded
                        .as_ref()
                        .is_some_and(|loaded| !loaded.is_complete)
                    {
                        self.loaded = None;
                    }
                    self.notice = Some(error.to_string());
                }
            }
        }
        if self.loading.is_some() {
            ctx.request_repaint_after(Duration::from_millis(100));
        }
    }

    fn remember(&mut self, loaded: &LoadedTrace) {
        let path = std::fs::canonicalize(&loaded.path).unwrap_or_else(|_| loaded.path.clone());
        let length = ruler::length_text(loaded.trace.span.duration(), loaded.trace.info.clock_unit);
        self.saved.note(RecentFile {
            path,
            format: loaded.trace.info.format.clone(),
            length,
        });
        self.save();
    }

    fn save(&mut self) {
        self.saved.theme = self.state.theme;
        self.saved.time_format = self.state.time_format;
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
        self.poll(&ctx);
        let wanted = match self.state.theme {
            ThemeChoice::System => egui::ThemePreference::System,
            ThemeChoice::Dark => egui::ThemePreference::Dark,
            ThemeChoice::Light => egui::ThemePreference::Light,
        };
        ctx.set_theme(wanted);
        let mut actions = pressed(ui, &self.state);
        if self.state.is_help_open {
            // The list of keys closes itself by Esc; closing it twice would open it again.
            actions.retain(|action| *action != Action::Deselect);
        }
        let dropped: Vec<PathBuf> = ui.input(|input| {
            input
                .raw
                .dropped_files
                .iter()
                .map(|file| file.path().to_path_buf())
                .collect()
        });
        actions.extend(dropped.into_iter().map(Action::Open));
        let palette = theme::palette(ctx.theme());

        Panel::top("menu").show(ui, |ui| self.menu_ui(ui, &mut actions));
        if let Some(words) = self.notice.clone() {
            Panel::top("notice").show(ui, |ui| {
                ui.horizontal(|ui| {
                    ui.label(RichText::new("⚠").color(palette.error));
                    ui.label(RichText::new(words).color(palette.text));
                    if ui.small_button("Dismiss").clicked() {
                        actions.push(Action::Dismiss);
                    }
                });
            });
        }
        Panel::bottom("status").show(ui, |ui| self.status_ui(ui, &palette));
        match self.loaded.clone() {
            Some(loaded) => self.trace_ui(ui, &loaded, &palette, &mut actions),
            None => self.welcome_ui(ui, &palette, &mut actions),
        }
        if self.state.is_help_open {
            help_ui(&ctx, &palette, &mut actions);
        }
        self.drop_target_ui(ui, &palette);
        let before = (self.state.theme, self.state.time_format);
        for action in actions {
            self.act(&ctx, action);
        }
        if before != (self.state.theme, self.state.time_format) {
            self.save();
        }
        self.frame_ms = frame_began.elapsed().as_secs_f32() * 1e3;
    }

    fn menu_ui(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        egui::MenuBar::new().ui(ui, |ui| {
            ui.menu_button("File", |ui| {
                if ui
                    .add(egui::Button::new("Open…").shortcut_text("Ctrl+O"))
                    .clicked()
                {
                    actions.push(Action::AskForFile);
                }
                ui.menu_button("Recent", |ui| {
                    if self.saved.recent.is_empty() {
                        ui.label("None yet");
                    }
                    for recent in &self.saved.recent {
                        if ui.button(recent.path.display().to_string()).clicked() {
                            actions.push(Action::Open(recent.path.clone()));
                        }
                    }
                });
                if ui.button("Close trace").clicked() {
                    actions.push(Action::Close);
                }
                ui.separator();
                if ui
                    .add(egui::Button::new("Quit").shortcut_text("Ctrl+Q"))
                    .clicked()
                {
                    actions.push(Action::Quit);
                }
            });
            ui.menu_button("View", |ui| {
                for (text, keys, action) in [
                    ("Whole trace", "0", Action::Fit),
                    ("Zoom to selection", "F", Action::Focus),
                    ("Back", "Alt+←", Action::Back),
                    ("Forward", "Alt+→", Action::Forward),
                    ("Fold all", "", Action::FoldAll),
                    ("Unfold all", "", Action::UnfoldAll),
                    ("Panes", "Q", Action::ToggleDock),
                ] {
                    if ui
                        .add(egui::Button::new(text).shortcut_text(keys))
                        .clicked()
                    {
                        actions.push(action);
                    }
                }
                ui.separator();
                ui.menu_button("Times", |ui| {
                    for format in TimeFormat::ALL {
                        let has_wall = self.state.origins.unix_offset.is_some();
                        ui.add_enabled_ui(format != TimeFormat::WallClock || has_wall, |ui| {
                            if ui
                                .radio(self.state.time_format == format, format.word())
                                .clicked()
                            {
                                actions.push(Action::SetTimeFormat(format));
                            }
                        });
                    }
                });
                ui.menu_button("Theme", |ui| {
                    for (choice, word) in [
                        (ThemeChoice::System, "System"),
                        (ThemeChoice::Dark, "Dark"),
                        (ThemeChoice::Light, "Light"),
                    ] {
                        if ui.radio(self.state.theme == choice, word).clicked() {
                            actions.push(Action::SetTheme(choice));
                        }
                    }
                });
            });
            ui.menu_button("Help", |ui| {
                if ui
                    .add(egui::Button::new("Keys and mouse").shortcut_text("?"))
                    .clicked()
                {
                    actions.push(Action::ToggleHelp);
                }
            });
            ui.separator();
            let mut filter = self.state.filter.clone();
            let edit = egui::TextEdit::singleline(&mut filter)
                .align(egui::Align2::LEFT_CENTER)
                .hint_text("Find tracks (Ctrl+P)")
                .desired_width(190.0);
            let response = ui.add_enabled(self.loaded.is_some(), edit);
            response.widget_info(|| {
                egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Find tracks")
            });
            if std::mem::take(&mut self.state.wants_filter_focus) {
                response.request_focus();
            }
            if response.changed() {
                actions.push(Action::Filter(filter));
            }
            if let Some(loading) = &self.loading {
                ui.separator();
                let (done, total) = loading.progress();
                let share = if total == 0 {
                    0.0
                } else {
                    done as f32 / total as f32
                };
                let name = loading
                    .path()
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned())
                    .unwrap_or_default();
                let text = format!(
                    "{name}  {:.0} of {:.0} MB",
                    done as f64 / 1e6,
                    total as f64 / 1e6
                );
                ui.add(
                    egui::ProgressBar::new(share)
                        .desired_width(220.0)
                        .text(RichText::new(text).size(11.0)),
                );
                if ui.small_button("Cancel").clicked() {
                    actions.push(Action::CancelLoad);
                }
            }
        });
    }

    fn status_ui(&mut self, ui: &mut Ui, palette: &theme::Palette) {
        ui.horizontal(|ui| {
            let Some(loaded) = &self.loaded else {
                ui.label(
                    RichText::new("No trace is open")
                        .color(palette.weak)
                        .size(12.0),
                );
                return;
            };
            let state = &self.state;
            let unit = state.origins.unit;
            let weak = |text: String| RichText::new(text).color(palette.weak).size(12.0);
            ui.label(weak(format!(
                "Visible {}",
                ruler::length_text(state.span.duration(), unit)
            )));
            if let Some(range) = state.range {
                ui.separator();
                ui.label(weak(format!(
                    "Selected {}",
                    ruler::length_text(range.duration(), unit)
                )));
            }
            if let [Some(a), Some(b)] = state.marks {
                ui.separator();
                ui.label(weak(format!("B − A {}", ruler::length_text(b - a, unit))));
            }
            ui.separator();
            let events = &loaded.trace.events;
            let in_view = events
                .rank(state.span.end)
                .saturating_sub(events.rank(state.span.start));
            ui.label(weak(format!(
                "{} events in view",
                ruler::grouped(i64::from(in_view))
            )));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if !self.is_still {
                    ui.label(weak(format!("frame {:.1} ms", self.frame_ms)));
                    ui.separator();
                }
                ui.label(weak(format!(
                    "{:.0} MB",
                    loaded.memory_bytes() as f64 / 1e6
                )));
                let odd = loaded.trace.diagnostics.rows();
                if odd
                    .iter()
                    .any(|row| row.severity != crate::base::Severity::Info)
                {
                    ui.separator();
                    ui.label(
                        RichText::new("⚠ something is missing: see Info")
                            .color(palette.error)
                            .size(12.0),
                    );
                }
            });
        });
    }

    fn trace_ui(
        &mut self,
        ui: &mut Ui,
        loaded: &Arc<LoadedTrace>,
        palette: &theme::Palette,
        actions: &mut Vec<Action>,
    ) {
        if !self.state.is_dock_hidden {
            let open = self.open_pane;
            let scene = Scene {
                loaded,
                state: &self.state,
                palette,
            };
            let pane = &mut self.panes[open];
            Panel::bottom("dock")
                .resizable(true)
                .default_size(230.0)
                .size_range(80.0..=900.0)
                .show(ui, |ui| {
                    // The panes' height is the user's to choose: what they show must not change it.
                    ui.set_min_height(ui.available_height());
                    ui.add_space(3.0);
                    ui.horizontal(|ui| {
                        for (index, row) in PANES.iter().enumerate() {
                            let tab = egui::Button::selectable(index == open, row.name);
                            if ui.add(tab).on_hover_text(row.about).clicked() {
                                actions.push(Action::OpenPane(row.name));
                            }
                        }
                    });
                    ui.separator();
                    actions.extend(pane.ui(ui, &scene));
                });
        }
        let frame = egui::Frame::new().fill(palette.panel);
        egui::CentralPanel::default().frame(frame).show(ui, |ui| {
            // Overview and ruler take the first 70 points.
            self.state.page_height = (ui.available_height() - 70.0).max(40.0);
            let scene = Scene {
                loaded,
                state: &self.state,
                palette,
            };
            actions.extend(self.timeline.ui(ui, &scene));
        });
    }

    fn welcome_ui(&mut self, ui: &mut Ui, palette: &theme::Palette, actions: &mut Vec<Action>) {
        let frame = egui::Frame::new().fill(palette.canvas);
        egui::CentralPanel::default().frame(frame).show(ui, |ui| {
            let above = (ui.available_height() * 0.12).min(110.0);
            egui::ScrollArea::vertical()
                .auto_shrink([false, false])
                .show(ui, |ui| {
                    ui.vertical_centered(|ui| {
                        ui.add_space(above);
                        ui.label(RichText::new("Threadline").size(34.0).strong());
                        ui.label(
                            RichText::new("Drop a trace here, or open one.")
                                .size(16.0)
                                .color(palette.weak),
                        );
                        ui.add_space(14.0);
                        let button = egui::Button::new(RichText::new("Open a trace…").size(15.0))
                            .min_size(vec2(180.0, 34.0));
                        if ui.add(button).clicked() {
                            actions.push(Action::AskForFile);
                        }
                        let known: Vec<&str> = crate::formats::FORMATS
                            .iter()
                            .map(|format| format.name)
                            .collect();
                        ui.add_space(8.0);
                        ui.label(
                            RichText::new(format!("Reads {}", known.join(" · ")))
                                .color(palette.weak)
                                .size(12.0),
                        );
                        ui.add_space(22.0);
                        let width = 560.0_f32.min(ui.available_width() - 40.0);
                        let lines = egui::Layout::top_down(egui::Align::Min);
                        ui.allocate_ui_with_layout(vec2(width, 0.0), lines, |ui| {
                            let samples = super::samples();
                            if !samples.is_empty() {
                                ui.label(RichText::new("Sample traces").strong());
                                for path in samples {
                                    file_row(ui, &path, "", palette, actions);
                                }
                            }
                            if !self.saved.recent.is_empty() {
                                ui.add_space(10.0);
                                ui.label(RichText::new("Recent").strong());
                                for recent in self.saved.recent.iter().take(6) {
                                    let facts = format!("{}  {}", recent.format, recent.length);
                                    file_row(ui, &recent.path, &facts, palette, actions);
                                }
                            }
                        });
                    })
                });
        });
    }

    fn drop_target_ui(&self, ui: &Ui, palette: &theme::Palette) {
        let hovered: Vec<String> = ui.input(|input| {
            let name = |path: &Path| {
                path.file_name()
                    .map(|name| name.to_string_lossy().into_owned())
            };
            input
                .raw
                .hovered_files
                .iter()
                .map(|file| file.path.as_deref().and_then(name).unwrap_or_default())
                .collect()
        });
        if hovered.is_empty() {
            return;
        }
        let rect = ui.ctx().content_rect();
        let painter = ui.ctx().layer_painter(egui::LayerId::new(
            egui::Order::Foreground,
            egui::Id::unique("drop"),
        ));
        painter.rect_filled(rect, 0, palette.canvas.gamma_multiply(0.96));
        let inner = rect.shrink(24.0);
        painter.rect_stroke(
            inner,
            10,
            egui::Stroke::new(3.0, palette.accent),
            egui::StrokeKind::Inside,
        );
        let words = format!("Drop to open {}", hovered.join(", "));
        painter.text(
            rect.center(),
            Align2::CENTER_CENTER,
            words,
            FontId::proportional(22.0),
            palette.text,
        );
    }
}

fn file_row(
    ui: &mut Ui,
    path: &Path,
    facts: &str,
    palette: &theme::Palette,
    actions: &mut Vec<Action>,
) {
    ui.horizontal(|ui| {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        if ui
            .link(name)
            .on_hover_text(path.display().to_string())
            .clicked()
        {
            actions.push(Action::Open(path.to_path_buf()));
        }
        ui.label(RichText::new(facts).color(palette.weak).size(12.0));
    });
}

fn help_ui(ctx: &egui::Context, palette: &theme::Palette, actions: &mut Vec<Action>) {
    let modal = egui::Modal::new(egui::Id::unique("help")).show(ctx, |ui| {
        ui.set_max_width(760.0);
        ui.label(RichText::new("Keys and mouse").size(17.0).strong());
        ui.separator();
        let room = (ui.ctx().content_rect().height() - 130.0).max(120.0);
        egui::ScrollArea::vertical()
            .max_height(room)
            .show(ui, |ui| key_lists_ui(ui, palette));
        ui.add_space(6.0);
        if ui.button("Close").clicked() {
            ui.close();
        }
    });
    if modal.should_close() {
        actions.push(Action::ToggleHelp);
    }
}

fn key_lists_ui(ui: &mut Ui, palette: &theme::Palette) {
    ui.horizontal_top(|ui| {
        let mut groups: Vec<&str> = KEYS.iter().map(|row| row.group).collect();
        groups.dedup();
        for columns in [&groups[..1], &groups[1..]] {
            ui.vertical(|ui| {
                for group in columns {
                    ui.label(RichText::new(*group).strong());
                    egui::Grid::new(("keys", group))
                        .num_columns(2)
                        .spacing([16.0, 4.0])
                        .show(ui, |ui| {
                            for row in KEYS.iter().filter(|row| row.group == *group) {
                                ui.label(
                                    RichText::new(row.shown).monospace().color(palette.accent),
                                );
                                ui.label(row.about);
                                ui.end_row();
                            }
                        });
                    ui.add_space(8.0);
                }
            });
            ui.add_space(18.0);
        }
    });
    ui.label(RichText::new("Mouse").strong());
    egui::Grid::new("gestures")
        .num_columns(4)
        .spacing([16.0, 4.0])
        .show(ui, |ui| {
            for pair in GESTURES.chunks(2) {
                for (gesture, about) in pair {
                    ui.label(RichText::new(*gesture).monospace().color(palette.accent));
                    ui.label(*about);
                }
                ui.end_row();
            }
        });
}
