//! Carrying out the commands of the command line once the trace is there.

use super::App;
use crate::gui::notices::Mood;
use crate::gui::startup::Todo;
use crate::load::LoadedTrace;
use crate::load::together::files_of;
use crate::view::link::Link;
use crate::view::{Action, Flagging};

impl App {
    /// Appends commands to carry out once the trace is loaded, in order.
    pub fn later(&mut self, todo: impl IntoIterator<Item = Todo>) {
        self.todo.extend(todo);
    }

    /// Returns the errors of deferred commands.
    #[must_use]
    pub fn todo_errors(&self) -> &[String] {
        &self.todo_errors
    }

    /// Opens the view of a link.
    pub(super) fn open_link(&mut self, ctx: &egui::Context, text: &str) {
        match Link::parse(text) {
            Ok(link) => {
                let is_shown = self
                    .loaded
                    .as_ref()
                    .is_some_and(|loaded| link.is_of(&files_of(loaded).paths));
                if !is_shown {
                    self.open_paths(ctx, link.files.clone());
                }
                self.todo.push_back(Todo::Show(Box::new(link)));
                ctx.request_repaint();
            }
            Err(error) => self.notices.say(Mood::Wrong, error),
        }
    }

    /// Returns a link to the current view.
    pub(super) fn link(&self) -> Option<String> {
        let loaded = self.loaded.as_ref()?;
        let whole = |path: &std::path::PathBuf| {
            std::fs::canonicalize(path).unwrap_or_else(|_| path.clone())
        };
        let files = files_of(loaded).paths.iter().map(whole).collect();
        Some(Link::to(&self.state, files).to_string())
    }

    /// Carries out the next deferred command once the load is complete; called once a frame.
    pub(super) fn poll_todo(&mut self, ctx: &egui::Context) {
        // Before the first frame, the visible height of the tracks is not known.
        let is_drawn = self.loaded.is_none() || self.state.page_height > 0.0;
        let is_loading = !is_drawn
            || self.loading.is_some()
            || self.lacks_plots()
            || self
                .loaded
                .as_ref()
                .is_some_and(|loaded| !loaded.is_complete)
            || (self.follow.is_some() && self.loaded.is_none());
        if is_loading {
            if !is_drawn && !self.todo.is_empty() {
                ctx.request_repaint();
            }
            return;
        }
        let Some(next) = self.todo.pop_front() else {
            return;
        };
        match next {
            Todo::Do(command) => match command.action(&self.state) {
                // No note is typed in this case: the flag is added without editing it.
                Ok(Action::AddFlag(time)) => self.act(ctx, Action::Flag(Flagging::Add(time))),
                Ok(action) => self.act(ctx, action),
                Err(words) => {
                    self.todo_errors.push(words.clone());
                    self.notices.say(Mood::Wrong, words);
                }
            },
            Todo::Show(link) => self.show_link(ctx, &link),
        }
        ctx.request_repaint();
    }

    fn show_link(&mut self, ctx: &egui::Context, link: &Link) {
        let Some(loaded) = self.loaded.clone() else {
            return;
        };
        if !link.is_of(&files_of(&loaded).paths) {
            // The load failed and that was reported.
            return;
        }
        self.state.marks = link.marks;
        match link.range {
            Some(range) => self.act(ctx, Action::SelectRange(range)),
            None => self.act(ctx, Action::DeselectItems),
        }
        match link.item_in(&LoadedTrace::as_read(&loaded).trace) {
            Some(item) => self.act(ctx, Action::Reveal(item)),
            None if link.item.is_some() => {
                let words = "The trace no longer contains what the link selects.";
                self.notices.say(Mood::Wrong, words);
            }
            None => {}
        }
        self.act(ctx, link.view.map_or(Action::Fit, Action::Show));
    }
}
