//! A file that grows is read again and again, off the window's thread; what is seen stays where it is, and goes on with
//! the end of the trace while that is in sight.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{RichText, Ui};

use super::app::App;
use super::notices::Mood;
use super::theme::Palette;
use crate::load::background::{Loading, Request, Update};
use crate::load::growing::{Spool, Watch};
use crate::load::together::files_of;
use crate::load::{Growth, LoadedTrace, Reading, file_name};
use crate::view::Action;

/// It is not read more often than this.
const LEAST_PAUSE: Duration = Duration::from_millis(400);
/// Reading takes at most one part in so many of the time.
const REST: u32 = 3;

/// Files that are followed.
pub(super) struct Follow {
    request: Request,
    watch: Watch,
    /// Where they are standard input.
    spool: Option<Arc<Spool>>,
    loading: Option<Loading>,
    /// How large they were when they were read last.
    read_bytes: Option<u64>,
    began: Instant,
    /// Not read before this.
    next: Instant,
    /// Read, but what is plotted of it is not made yet.
    pub(super) arrived: Option<Arc<LoadedTrace>>,
    /// Why they cannot be read now.
    problem: Option<String>,
    /// Whether there is nothing more to come.
    is_last: bool,
}

impl Follow {
    /// Whether there is something to read or to show.
    pub(super) fn is_busy(&self) -> bool {
        self.loading.is_some() || self.arrived.is_some() || self.has_more(self.watch.bytes())
    }

    /// Whether so many bytes are others than those that were read.
    fn has_more(&self, bytes: u64) -> bool {
        bytes > 0 && self.read_bytes != Some(bytes)
    }

    fn name(&self) -> String {
        self.request
            .paths
            .first()
            .map_or_else(String::new, |path| file_name(path))
    }
}

impl App {
    /// Follows what is shown as it grows, or no longer.
    pub(super) fn toggle_follow(&mut self, ctx: &egui::Context) {
        if self.follow.take().is_some() {
            return;
        }
        let Some(loaded) = self.loaded.clone().filter(|loaded| loaded.is_complete) else {
            return;
        };
        let (paths, fixed) = files_of(&loaded);
        let reading = loaded.reading;
        let request = Request {
            paths,
            fixed,
            reading,
            probes: loaded
                .probes
                .as_ref()
                .map(|attached| Arc::clone(&attached.set)),
            ..Request::default()
        };
        self.start_follow(ctx, request, None, Some(loaded.file_bytes));
    }

    /// Shows files and follows them as they grow; they may be empty yet.
    pub fn follow(&mut self, ctx: &egui::Context, paths: Vec<PathBuf>, reading: Reading) {
        let request = Request {
            reading,
            ..Request::open(paths)
        };
        self.start_follow(ctx, request, None, None);
    }

    /// The same of a stream that is kept in a file.
    pub fn follow_stream(&mut self, ctx: &egui::Context, spool: Spool, reading: Reading) {
        let request = Request {
            reading,
            ..Request::open(vec![spool.path()])
        };
        let spool = Arc::new(spool);
        self.spools.push(Arc::clone(&spool));
        self.start_follow(ctx, request, Some(spool), None);
    }

    fn start_follow(
        &mut self,
        ctx: &egui::Context,
        mut request: Request,
        spool: Option<Arc<Spool>>,
        read_bytes: Option<u64>,
    ) {
        request.reading.growth = Growth::Expected;
        let ctx = ctx.clone();
        match Watch::start(request.paths.clone(), move || ctx.request_repaint()) {
            Ok(watch) => {
                let now = Instant::now();
                self.follow = Some(Follow {
                    request,
                    watch,
                    spool,
                    loading: None,
                    read_bytes,
                    began: now,
                    next: now,
                    arrived: None,
                    problem: None,
                    is_last: false,
                });
            }
            Err(error) => self
                .notices
                .say(Mood::Wrong, format!("It cannot be followed: {error}")),
        }
    }

    /// Reads what is followed in another way from now on. Whether something is followed.
    pub(super) fn follow_as(&mut self, reading: Reading) -> bool {
        let Some(follow) = &mut self.follow else {
            return false;
        };
        follow.request.reading = Reading {
            growth: Growth::Expected,
            ..reading
        };
        (follow.loading, follow.read_bytes) = (None, None);
        true
    }

    /// Once a frame: takes what was read, and reads again what has grown.
    pub(super) fn poll_follow(&mut self, ctx: &egui::Context) {
        let generation = self.loaded.as_ref().map_or(0, |loaded| loaded.generation);
        let Some(follow) = &mut self.follow else {
            return;
        };
        while let Some(update) = follow.loading.as_mut().and_then(Loading::poll) {
            let took = follow.began.elapsed();
            match update {
                Update::Generation(loaded) if loaded.is_complete => {
                    let newer = LoadedTrace {
                        generation: generation.saturating_add(1),
                        ..loaded.as_ref().clone()
                    };
                    follow.arrived = Some(Arc::new(newer));
                    follow.problem = None;
                }
                // A half of what is shown already would only flicker.
                Update::Generation(_) => continue,
                Update::Failed(error) => follow.problem = Some(error.to_string()),
            }
            follow.loading = None;
            follow.next = Instant::now() + (took * REST).max(LEAST_PAUSE);
        }
        let has_ended = follow.spool.as_ref().is_some_and(|spool| spool.has_ended());
        let is_idle = follow.loading.is_none() && follow.arrived.is_none();
        let bytes = follow.watch.bytes();
        let has_more = follow.has_more(bytes);
        if is_idle && has_ended && follow.is_last {
            if let Some(problem) = follow.problem.take() {
                self.notices.say(Mood::Wrong, problem);
            }
            self.follow = None;
            return;
        }
        if is_idle && (has_more || has_ended) {
            let now = Instant::now();
            if now < follow.next && !has_ended {
                ctx.request_repaint_after(follow.next - now);
            } else {
                follow.is_last = has_ended;
                if has_ended {
                    follow.request.reading.growth = Growth::Unexpected;
                }
                (follow.read_bytes, follow.began) = (Some(bytes), now);
                let (request, waker) = (follow.request.clone(), ctx.clone());
                follow.loading = Some(Loading::start(request, move || waker.request_repaint()));
            }
        }
        // With plots it is shown when they are made.
        if self.state.layout.plots.is_empty()
            && let Some(arrived) = follow.arrived.take()
        {
            self.show_grown(arrived);
        }
    }

    /// Shows what a file has become.
    pub(super) fn show_grown(&mut self, loaded: Arc<LoadedTrace>) {
        if let Some(follow) = &mut self.follow {
            follow.arrived = None;
        }
        let Some(old) = self.loaded.clone() else {
            if !Spool::is_of(&loaded.path) {
                self.remember(&loaded);
            }
            self.show(loaded);
            return;
        };
        self.state.grow(&old.trace, &loaded.trace);
        self.loaded = Some(loaded);
    }

    /// In the status bar: that it is followed, and a way to stop that.
    pub(super) fn following_ui(&self, ui: &mut Ui, palette: &Palette, actions: &mut Vec<Action>) {
        let Some(follow) = &self.follow else {
            return;
        };
        ui.separator();
        let weak = |text: &str| RichText::new(text).color(palette.weak).size(12.0);
        match &follow.problem {
            None => ui
                .label(weak("Following"))
                .on_hover_text("The file is read again as it grows"),
            Some(problem) => {
                let words = RichText::new("Following: it cannot be read now");
                ui.label(words.color(palette.error).size(12.0))
                    .on_hover_text(problem)
            }
        };
        if ui
            .add(egui::Link::new(RichText::new("Stop").size(12.0)))
            .clicked()
        {
            actions.push(Action::ToggleFollow);
        }
    }

    /// In the window's middle while there is nothing yet.
    pub(super) fn waiting_ui(&self, ui: &mut Ui, palette: &Palette, actions: &mut Vec<Action>) {
        let Some(follow) = &self.follow else {
            return;
        };
        let frame = egui::Frame::new().fill(palette.canvas);
        egui::CentralPanel::default().frame(frame).show(ui, |ui| {
            ui.vertical_centered(|ui| {
                ui.add_space(ui.available_height() * 0.35);
                let words = format!("Waiting for the first events of {}", follow.name());
                ui.label(RichText::new(words).size(16.0).color(palette.weak));
                if let Some(problem) = &follow.problem {
                    ui.label(RichText::new(problem).color(palette.weak));
                }
                ui.add_space(8.0);
                if ui.button("Stop").clicked() {
                    actions.push(Action::ToggleFollow);
                }
            });
        });
    }
}
