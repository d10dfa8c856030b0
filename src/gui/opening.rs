//! Opens traces: named, dropped, picked in a dialog, or added to the current ones.
//!
//! Loads run in the background. The current trace stays visible until a part of the new one is available, and comes
//! back if the load fails.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::app::App;
use super::file_dialog::{Answer, FileKind};
use super::notices::Mood;
use super::picture_file::{self, Shown};
use crate::base::{Nanos, Problem};
use crate::load::background::{Loading, Request, Update};
use crate::load::together::{Files, Members, files_of, members_of};
use crate::load::{LoadedTrace, Reading};
use crate::probes::ProbeSet;
use crate::trace::SourceId;
use crate::view::Purpose;
use crate::view::link::{is_link, pasted_paths};
use crate::view::ruler::{self, TimeFormat};
use crate::view::saved::RecentFile;
use crate::view::session::ENDING;
use crate::view::{Action, Effect, PaneKind, Question, RecordCommand};

impl App {
    /// Starts to load a file; the current trace stays visible until a part of it is available.
    pub fn open(&mut self, ctx: &egui::Context, path: &Path) {
        self.open_paths(ctx, vec![path.to_path_buf()]);
    }

    /// Starts to load files on one time axis.
    pub fn open_together(&mut self, ctx: &egui::Context, paths: Vec<PathBuf>, reading: Reading) {
        if reading == Reading::default() {
            return self.open_paths(ctx, paths);
        }
        if reading.midnight_ns.is_some() {
            self.act(ctx, Action::SetTimeFormat(TimeFormat::WallClock));
        }
        let request = Request {
            reading,
            ..Request::open(paths)
        };
        self.load(ctx, request);
    }

    pub(super) fn load(&mut self, ctx: &egui::Context, request: Request) {
        self.follow = None;
        self.notices.clear_errors();
        if self.loading.is_none() {
            self.shown_before.clone_from(&self.loaded);
        }
        self.loading = Some(Loading::start(request, ctx));
    }

    /// Adds files to the current trace, on the same time axis.
    pub(super) fn add(&mut self, ctx: &egui::Context, paths: Vec<PathBuf>) {
        let Members { traces, fixed } = self.members();
        // Added files get two reading options of the current trace, the day that the user chose and the place where
        // traces of compilers are searched, but not the chosen format.
        let shown = self.loaded.as_ref();
        let reading = Reading {
            midnight_ns: shown.and_then(|loaded| loaded.reading.midnight_ns),
            compiler_traces: shown
                .map(|loaded| loaded.reading.compiler_traces)
                .unwrap_or_default(),
            ..Reading::default()
        };
        self.load(
            ctx,
            Request {
                paths,
                already: traces,
                fixed,
                reading,
                ..Request::default()
            },
        );
    }

    /// Shifts one of several files by an offset; `None`: by the offset found from the files themselves.
    pub(super) fn place(&mut self, ctx: &egui::Context, source: SourceId, offset: Option<Nanos>) {
        self.rejoin(ctx, source, |members, at| members.fixed[at] = offset);
    }

    /// Removes one of several files.
    pub(super) fn remove(&mut self, ctx: &egui::Context, source: SourceId) {
        if self.members().traces.len() > 1 {
            self.rejoin(ctx, source, |members, at| {
                members.traces.remove(at);
                members.fixed.remove(at);
            });
        }
    }

    /// Joins the current files again after `change`, which gets the files and the index of `source` in them.
    fn rejoin(
        &mut self,
        ctx: &egui::Context,
        source: SourceId,
        change: impl FnOnce(&mut Members, usize),
    ) {
        let mut members = self.members();
        let at = source.0 as usize;
        if at < members.traces.len().min(members.fixed.len()) {
            change(&mut members, at);
            let request = Request {
                already: members.traces,
                fixed: members.fixed,
                ..Request::default()
            };
            self.load(ctx, request);
        }
    }

    /// Returns the window's title: the file's name, once it is completely loaded.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.loaded {
            Some(loaded) if loaded.is_complete => match loaded.members.len() {
                0 => format!("{} – Threadline", loaded.file_name()),
                count => format!("{} and {} more – Threadline", loaded.file_name(), count - 1),
            },
            _ => "Threadline".to_owned(),
        }
    }

    /// Reloads the current files with their reading options.
    pub(super) fn reload(&mut self, ctx: &egui::Context) {
        if let Some(reading) = self.loaded.as_ref().map(|loaded| loaded.reading) {
            self.read_again(ctx, reading);
        }
    }

    /// Reloads the current files with other reading options.
    pub(super) fn read_again(&mut self, ctx: &egui::Context, reading: Reading) {
        if reading.midnight_ns.is_some() && self.loaded.is_some() {
            self.act(ctx, Action::SetTimeFormat(TimeFormat::WallClock));
        }
        if self.follow_as(reading) {
            return;
        }
        let Some(loaded) = &self.loaded else {
            return;
        };
        let Files { paths, fixed } = files_of(loaded);
        let request = Request {
            paths,
            fixed,
            reading,
            ..Request::default()
        };
        self.load(ctx, request);
    }

    /// Attaches probe definitions to the current trace.
    pub(super) fn define_probes(&mut self, ctx: &egui::Context, text: &str) {
        let Members { traces, fixed } = self.members();
        if traces.is_empty() {
            return;
        }
        let set = ProbeSet::from_text("", text);
        let request = Request {
            already: traces,
            fixed,
            probes: Some(Arc::new(set)),
            ..Request::default()
        };
        self.load(ctx, request);
    }

    /// Returns the action for pasted text, unless a text field has focus or a dialog is open.
    pub(super) fn pasted(&mut self, ctx: &egui::Context) -> Option<Action> {
        let state = &self.state;
        let is_asked = state.question.is_some() || state.finder.is_some();
        if is_asked || state.is_settings_open || ctx.text_edit_focused() {
            return None;
        }
        let pasted = |event: &egui::Event| match event {
            egui::Event::Paste(text) => Some(text.trim().to_owned()),
            _ => None,
        };
        let text = ctx.input(|input| input.events.iter().find_map(pasted))?;
        if is_link(&text) {
            return Some(Action::Do(Effect::OpenLink(text)));
        }
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let paths = pasted_paths(&text, home.as_deref());
        if paths.is_empty() {
            let words = "The clipboard contains no path of a file (an absolute one, from / or ~)";
            self.notices.say(Mood::Wrong, words);
            return None;
        }
        Some(Action::Do(Effect::Open(paths)))
    }

    /// Reports the outcome of writing a text file.
    pub(super) fn poll_text_file(&mut self) {
        match self.text_file.take_end() {
            Some(Ok(Ok(Some(path)))) => {
                let words = format!("Written: {}", path.display());
                self.notices.say(Mood::Fine, words);
            }
            Some(Ok(Ok(None))) | None => {}
            Some(Ok(Err(words))) => self
                .notices
                .say(Mood::Wrong, format!("Not written: {words}")),
            Some(Err(failure)) => self
                .notices
                .say(Mood::Wrong, format!("Not written: {failure}")),
        }
    }

    /// Starts to draw the view into a picture file.
    pub(super) fn save_picture(&mut self, ctx: &egui::Context, path: PathBuf) {
        let Some(loaded) = self.loaded.clone() else {
            self.notices.say(
                Mood::Wrong,
                "There is no trace to make a picture of.".to_owned(),
            );
            return;
        };
        let points = ctx.content_rect().size();
        let pixels = points * ctx.pixels_per_point();
        let scale = ctx.input(|input| input.viewport().native_pixels_per_point);
        let shown = Shown {
            loaded,
            state: self.state.clone(),
            panes: self.panes.iter().map(|pane| pane.kept()).collect(),
            size: [pixels.x.round() as u32, pixels.y.round() as u32],
            scale: scale.unwrap_or(1.0),
        };
        let theme = ctx.theme();
        self.picture.start(ctx, "picture", move |_| {
            Ok(picture_file::save(shown, theme, path))
        });
    }

    /// Reports the outcome of writing a picture.
    pub(super) fn poll_picture(&mut self) {
        let failed = |words: String| format!("The picture is not saved: {words}");
        match self.picture.take_end() {
            Some(Ok(Ok(path))) => {
                let words = format!("The picture is saved in {}", path.display());
                self.notices.say(Mood::Fine, words);
            }
            Some(Ok(Err(words))) => self.notices.say(Mood::Wrong, failed(words)),
            Some(Err(failure)) => self.notices.say(Mood::Wrong, failed(failure.to_string())),
            None => {}
        }
    }

    /// Opens traces, replacing the current one. Probe definitions without a trace are attached to the current one
    /// instead.
    pub(super) fn replace(&mut self, ctx: &egui::Context, paths: Vec<PathBuf>) {
        // Definitions opened before without a trace are attached to this one.
        let waiting = self
            .loaded
            .as_ref()
            .filter(|loaded| loaded.has_only_probes)
            .and_then(|loaded| loaded.probes.as_ref());
        let request = Request {
            beside: self.members(),
            probes: waiting.map(|attached| Arc::clone(&attached.set)),
            reading: Reading {
                midnight_ns: self.session_kept(&paths).and_then(|kept| kept.midnight_ns),
                ..Reading::default()
            },
            ..Request::open(paths)
        };
        self.load(ctx, request);
    }

    /// Reports how many probe definitions were opened, and shows them.
    fn say_defined(&mut self, ctx: &egui::Context, loaded: &LoadedTrace, paths: &[PathBuf]) {
        let Some(attached) = &loaded.probes else {
            return;
        };
        let is_alone = loaded.has_only_probes;
        let are_own = |loaded: &LoadedTrace| paths.contains(&loaded.path);
        let has_trace = are_own(loaded) || loaded.members.iter().any(|member| are_own(member));
        if paths.is_empty() || (has_trace && !is_alone) {
            return;
        }
        let set = &attached.set;
        let right = set.definitions.standing().count();
        let wrong = set.definitions.errors().count();
        let mut words = match right {
            1 => "1 probe is defined".to_owned(),
            count => format!("{count} probes are defined"),
        };
        if wrong > 0 {
            words = format!("{words}, {wrong} lines are wrong (see Probes)");
        }
        words.push_str(if is_alone {
            ". Open the trace that they made, and they are attached to it."
        } else {
            " for this trace."
        });
        self.notices.say(Mood::Fine, words);
        self.act(ctx, Action::OpenPane(PaneKind::Probes));
    }

    fn members(&self) -> Members {
        self.loaded.as_ref().map(members_of).unwrap_or_default()
    }

    /// Restores the previous trace after a failed load, whose partial trace would look complete.
    pub(super) fn back_to_what_was_shown(&mut self) {
        let before = self.shown_before.take();
        let is_partial = self
            .loaded
            .as_ref()
            .is_some_and(|loaded| !loaded.is_complete);
        if is_partial {
            self.loaded = None;
            if let Some(before) = before {
                self.show(before);
            }
        }
    }

    pub(super) fn ask_for_file(&mut self, ctx: &egui::Context, purpose: Purpose) {
        if self.dialog.is_open() {
            return;
        }
        self.dialog_purpose = purpose;
        let title = purpose.title();
        match purpose {
            Purpose::Open | Purpose::Add => self.dialog.open(ctx, move || {
                let formats = crate::formats::FORMATS.iter();
                let known: Vec<&str> = formats.flat_map(|it| it.extensions).copied().collect();
                let dialog = rfd::FileDialog::new().set_title(title);
                let dialog = dialog.add_filter("All files", &["*"]);
                dialog.add_filter("Traces", &known).pick_files()
            }),
            Purpose::SaveSession => {
                let proposed = format!("session.{ENDING}");
                let kinds = vec![FileKind {
                    name: "Sessions",
                    extensions: vec![ENDING],
                }];
                self.dialog.save_as(ctx, title, Path::new(&proposed), kinds);
            }
            Purpose::SavePicture => {
                let kinds = vec![
                    FileKind {
                        name: "PNG",
                        extensions: vec!["png"],
                    },
                    FileKind {
                        name: "SVG",
                        extensions: vec!["svg"],
                    },
                ];
                self.dialog
                    .save_as(ctx, title, Path::new("trace.png"), kinds);
            }
            Purpose::SaveRecording => {
                let kinds = vec![FileKind {
                    name: "trace.dat",
                    extensions: vec!["dat"],
                }];
                self.dialog
                    .save_as(ctx, title, Path::new("trace.dat"), kinds);
            }
        }
    }

    fn poll_dialog(&mut self, ctx: &egui::Context) {
        let purpose = self.dialog_purpose;
        match (self.dialog.poll(), purpose) {
            (Some(Answer::Chosen(paths)), Purpose::Open) => self.open_paths(ctx, paths),
            (Some(Answer::Chosen(paths)), Purpose::Add) => self.add(ctx, paths),
            (Some(Answer::Chosen(paths)), Purpose::SaveSession) => {
                for path in paths {
                    self.save_session(&path);
                }
            }
            (Some(Answer::Chosen(paths)), Purpose::SavePicture) => {
                for path in paths {
                    self.save_picture(ctx, path);
                }
            }
            (Some(Answer::Chosen(paths)), Purpose::SaveRecording) => {
                for path in paths {
                    self.act(ctx, Action::Do(Effect::Record(RecordCommand::Save(path))));
                }
            }
            (Some(Answer::NotThere), _) => {
                self.act(ctx, Action::Ask(Some(Question::Path(purpose))));
            }
            (Some(Answer::Closed) | None, _) => {}
        }
    }

    pub(super) fn poll_load(&mut self, ctx: &egui::Context) {
        self.poll_dialog(ctx);
        while let Some(update) = self.loading.as_mut().and_then(Loading::poll) {
            match update {
                Update::Generation(loaded) => {
                    let mut opened = Vec::new();
                    if loaded.is_complete {
                        if let Some(loading) = self.loading.take() {
                            opened.clone_from(&loading.request().paths);
                        }
                        self.shown_before = None;
                        if !loaded.has_only_probes {
                            self.remember(&loaded);
                        }
                        let left_out: Vec<String> =
                            loaded.left_out.iter().map(ToString::to_string).collect();
                        if !left_out.is_empty() {
                            self.notices
                                .say(Mood::Wrong, format!("Left out: {}", left_out.join("; ")));
                        }
                    }
                    // A partial trace without a time span would only flicker.
                    if loaded.is_complete || !loaded.trace.span.is_empty() {
                        self.show(Arc::clone(&loaded));
                    }
                    self.say_defined(ctx, &loaded, &opened);
                }
                Update::Failed(error) => {
                    let loading = self.loading.take();
                    self.back_to_what_was_shown();
                    let is_alone = loading.is_some_and(|loading| {
                        let request = loading.request();
                        request.already.is_empty() && request.paths.len() == 1
                    });
                    let words = error.to_string();
                    match error.error.problem {
                        Problem::UnknownFormat { .. } if is_alone => {
                            self.notices.offer_formats(words, error.path);
                        }
                        _ => self.notices.say(Mood::Wrong, words),
                    }
                }
            }
        }
        if self.loading.is_some() {
            ctx.request_repaint_after(Duration::from_millis(100));
        }
    }

    pub(super) fn remember(&mut self, loaded: &LoadedTrace) {
        let path = std::fs::canonicalize(&loaded.path).unwrap_or_else(|_| loaded.path.clone());
        let length = ruler::length_text(loaded.trace.span.duration(), loaded.trace.info.clock_unit);
        self.saved.note(RecentFile {
            path,
            format: loaded.trace.info.format.clone(),
            length,
            opened_at: SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .map_or(0, |since| since.as_secs()),
        });
        self.save();
    }
}
