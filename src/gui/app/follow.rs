//! Following files that grow.

use super::App;
use crate::gui::following::Follow;
use crate::gui::notices::Mood;
use crate::gui::theme::Palette;
use crate::load::background::{Loading, Request, Update};
use crate::load::growing::{Spool, Watch};
use crate::load::together::{Files, files_of};
use crate::load::{Growth, LoadedTrace, Reading, TraceId};
use crate::view::{Action, Effect};
use egui::{RichText, Ui};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Least pause between two reloads.
const LEAST_PAUSE: Duration = Duration::from_millis(400);
/// The pause after a reload is at least this many times its duration.
const REST: u32 = 3;

impl App {
    /// Starts following the current files as they grow, or stops.
    pub(super) fn toggle_follow(&mut self, ctx: &egui::Context) {
        if self.follow.take().is_some() {
            return;
        }
        let Some(loaded) = self.loaded.clone().filter(|loaded| loaded.is_complete) else {
            return;
        };
        let Files { paths, fixed } = files_of(&loaded);
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

    /// Shows files and follows them as they grow; they may still be empty.
    pub fn follow(&mut self, ctx: &egui::Context, paths: Vec<PathBuf>, reading: Reading) {
        let request = Request {
            reading,
            ..Request::open(paths)
        };
        self.start_follow(ctx, request, None, None);
    }

    /// Shows a stream that is spooled to a file, and follows it.
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

    /// Changes the reading options of the followed files. Returns whether files are followed.
    pub(in crate::gui) fn follow_as(&mut self, reading: Reading) -> bool {
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

    /// Takes a finished reload, and starts the next one; called once a frame.
    pub(super) fn poll_follow(&mut self, ctx: &egui::Context) {
        let Some(follow) = &mut self.follow else {
            return;
        };
        while let Some(update) = follow.loading.as_mut().and_then(Loading::poll) {
            let took = follow.began.elapsed();
            match update {
                Update::Generation(loaded) if loaded.is_complete => {
                    follow.arrived = Some(loaded);
                    follow.problem = None;
                }
                // Partial generations of an already visible trace would only flicker.
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
                let shown = self.loaded.as_deref().filter(|_| follow.has_grown(bytes));
                follow.request.grown_from = shown.and_then(|it| grown_from(it, &follow.request));
                (follow.read_bytes, follow.began) = (Some(bytes), now);
                follow.loading = Some(Loading::start(follow.request.clone(), ctx));
            }
        }
        // If there are plots, the grown trace is shown when they are computed.
        if self.state.layout.plots.is_empty()
            && let Some(arrived) = follow.arrived.take()
        {
            self.show_grown(arrived);
        }
    }

    /// Shows the reloaded trace.
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

    /// Draws the state of following in the status bar, with a way to stop it.
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
            actions.push(Action::Do(Effect::ToggleFollow));
        }
    }

    /// Draws the message shown until the first events arrive.
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
                    actions.push(Action::Do(Effect::ToggleFollow));
                }
            });
        });
    }
}

/// Returns the id of the visible trace if `request` reads a grown version of it, with the same options.
fn grown_from(shown: &LoadedTrace, request: &Request) -> Option<TraceId> {
    let reading = Reading {
        growth: request.reading.growth,
        ..shown.reading
    };
    let is_more = reading == request.reading && request.paths.first() == Some(&shown.path);
    is_more.then_some(shown.id)
}
