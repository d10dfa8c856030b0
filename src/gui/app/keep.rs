//! Opening traces and sessions, and keeping the session and the settings.

use super::{App, record};
use crate::gui::notices::Mood;
use crate::gui::panes::PANES;
use crate::load::LoadedTrace;
use crate::load::background::Request;
use crate::load::growing::Spool;
use crate::load::together::files_of;
use crate::view::Session;
use crate::view::saved::WindowPlace;
use crate::view::session::ENDING;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Interval between checks for something to write, in seconds.
const EVERY: f64 = 2.0;

impl App {
    /// Opens traces, or the traces of a session file.
    pub(in crate::gui) fn open_paths(&mut self, ctx: &egui::Context, paths: Vec<PathBuf>) {
        self.keeping.wanted = None;
        let session = match paths.as_slice() {
            [path] if path.extension().is_some_and(|ending| ending == ENDING) => path.clone(),
            _ => return self.replace(ctx, paths),
        };
        match Session::read(&session) {
            Ok(read) if read.traces.is_empty() => {
                let words = format!("this session contains no trace ({})", session.display());
                self.notices.say(Mood::Wrong, words);
            }
            Ok(read) => {
                let mut request = Request::open(read.traces_near(&session));
                request.reading.midnight_ns = read.midnight_ns;
                if read.offsets.len() == request.paths.len() {
                    request.fixed.clone_from(&read.offsets);
                }
                self.load(ctx, request);
                self.keeping.wanted = Some(read);
            }
            Err(error) => self.notices.say(Mood::Wrong, error),
        }
    }

    /// Shows a trace with this session restored; without one like [`App::show`].
    pub(in crate::gui) fn show_as(&mut self, loaded: Arc<LoadedTrace>, session: Option<Session>) {
        self.keeping.wanted = session;
        self.show(loaded);
    }

    /// Shows a trace; with its saved session restored, if there is one.
    pub fn show(&mut self, loaded: Arc<LoadedTrace>) {
        // More of the same file, or the same files at other offsets: the view keeps its place.
        let is_same = self.loaded.as_ref().is_some_and(|old| {
            Arc::ptr_eq(&old.trace, &loaded.trace)
                || Arc::ptr_eq(&LoadedTrace::as_read(old), &LoadedTrace::as_read(&loaded))
                || (old.path == loaded.path && (!old.is_complete || !loaded.members.is_empty()))
        });
        if is_same {
            let is_touched = self.keeping.resumed.is_some()
                && self.keeping.resumed != Some(self.state.session(Vec::new(), Vec::new()));
            if is_touched {
                self.keeping.resume = None;
            }
            self.state.take(&loaded.trace);
        } else {
            self.keep_session();
            self.state.show_new(&loaded.trace);
            self.keeping.written = None;
            let wanted = self.keeping.wanted.take();
            self.keeping.resume = wanted.or_else(|| self.session_kept_of(&loaded));
            let kept = self.keeping.resume.as_ref().map(|session| &session.panes);
            for (row, pane) in PANES.iter().zip(&mut self.panes) {
                // Text typed for another trace, such as a filter, would hide rows of this one.
                *pane = pane.for_next_trace().unwrap_or_else(|| (row.make)());
                pane.take_up(kept.and_then(|panes| panes.get(row.kind.title())));
            }
        }
        if let Some(session) = &self.keeping.resume {
            self.state.resume(&loaded.trace, session);
            self.keeping.resumed = Some(self.state.session(Vec::new(), Vec::new()));
        }
        if loaded.is_complete {
            self.keeping.resume = None;
            self.keeping.resumed = None;
        }
        self.loaded = Some(loaded);
    }

    fn session_kept_of(&self, loaded: &Arc<LoadedTrace>) -> Option<Session> {
        self.session_kept(&loaded.paths())
    }

    /// Returns the saved session of these traces.
    pub(in crate::gui) fn session_kept(&self, traces: &[PathBuf]) -> Option<Session> {
        let folder = self.keeping.folder.as_ref()?;
        let path = Session::path_in(folder, traces);
        path.exists().then(|| Session::read(&path).ok())?
    }

    fn session(&self) -> Option<Session> {
        let loaded = self.loaded.as_ref()?;
        let files = files_of(loaded);
        let panes = PANES.iter().zip(&self.panes);
        let kept =
            panes.filter_map(|(row, pane)| Some((row.kind.title().to_owned(), pane.kept()?)));
        Some(Session {
            midnight_ns: loaded.reading.midnight_ns,
            panes: kept.collect(),
            ..self.state.session(files.paths, files.fixed)
        })
    }

    /// Saves the session of the visible trace, if it has changed.
    fn keep_session(&mut self) {
        let is_complete = self.loaded.as_ref().is_some_and(|it| it.is_complete);
        let (Some(folder), true) = (self.keeping.folder.clone(), is_complete) else {
            return;
        };
        let Some(session) = self.session() else {
            return;
        };
        if session.traces.iter().any(|path| is_temporary(path)) {
            // The file is deleted with the window.
            return;
        }
        let path = Session::path_in(&folder, &session.traces);
        let is_known = self.keeping.written.as_ref() == Some(&session);
        if is_known || (session.is_plain() && !path.exists()) {
            return;
        }
        self.keeping.written = Some(session.clone());
        // Sessions are a convenience: if one cannot be saved, nothing else is lost.
        self.keeping.write(move || drop(session.write(&path)));
    }

    /// Writes the session to a file that the user chose.
    pub(in crate::gui) fn save_session(&mut self, path: &Path) {
        let Some(mut session) = self.session() else {
            return;
        };
        for trace in &mut session.traces {
            *trace = std::fs::canonicalize(&*trace).unwrap_or_else(|_| trace.clone());
        }
        match session.write(path) {
            Ok(()) => {
                let words = format!("The session is saved in {}", path.display());
                self.notices.say(Mood::Fine, words);
            }
            Err(error) => {
                let words = format!("{error}: the session is not saved ({})", path.display());
                self.notices.say(Mood::Wrong, words);
            }
        }
    }

    /// Records the window's place, and writes changes from time to time; called once a frame.
    pub(super) fn keep(&mut self, ctx: &egui::Context) {
        let (now, info) = ctx.input(|input| (input.time, input.viewport().clone()));
        if let Some(inner) = info.inner_rect {
            self.saved.window = Some(WindowPlace {
                size: [inner.width(), inner.height()],
                position: info.outer_rect.map(|outer| [outer.left(), outer.top()]),
                is_maximized: info.maximized.unwrap_or(false),
            });
        }
        if self.saved.dock != self.state.dock {
            self.saved.dock.clone_from(&self.state.dock);
        }
        if now - self.keeping.looked_at > EVERY {
            self.keeping.looked_at = now;
            self.keep_session();
        }
    }

    /// Writes the session and the settings, at the end of the program.
    pub fn close(&mut self) {
        self.keep_session();
        // A writer that panicked has written nothing; the window closes nevertheless.
        self.keeping.writer.wait();
        self.save_now();
    }
}

/// Returns whether a file is deleted with the window: the copy of a stream, or a recording that is not saved.
fn is_temporary(path: &Path) -> bool {
    Spool::is_of(path) || record::is_temporary(path)
}
