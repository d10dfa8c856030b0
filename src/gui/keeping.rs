//! What outlives the window: the session of each trace, taken up when it is opened again, and where the window
//! and its panes were. Written now and then, when another trace is opened, and at the end.

use super::app::App;
use super::notices::Mood;
use super::panes::PANES;
use crate::load::LoadedTrace;
use crate::load::background::Request;
use crate::load::growing::Spool;
use crate::load::together::files_of;
use crate::view::Session;
use crate::view::saved::WindowPlace;
use crate::view::session::ENDING;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

/// How often it is looked whether something is to be written, in seconds.
const EVERY: f64 = 2.0;

/// Sessions that are to be taken up, and the last one written.
#[derive(Default)]
pub(super) struct Keeping {
    /// Where sessions are kept.
    folder: Option<PathBuf>,
    /// Named by the user, for the trace that is being opened.
    wanted: Option<Session>,
    /// Taken up with each generation until the trace is complete.
    resume: Option<Session>,
    /// What the view was like when that was done: if it is otherwise by now, the user has begun to work.
    resumed: Option<Session>,
    written: Option<Session>,
    /// The last session on its way to the disk; it goes there after those before it.
    writer: Option<JoinHandle<()>>,
    looked_at: f64,
}

impl Keeping {
    /// Keeps sessions beside the settings file.
    pub(super) fn beside(settings: Option<&Path>) -> Keeping {
        Keeping {
            folder: settings.and_then(|path| Some(path.parent()?.join("sessions"))),
            ..Keeping::default()
        }
    }
}

impl Keeping {
    /// Writes a session off the window's thread: bringing it to the disk may take longer than a frame.
    fn write(&mut self, session: Session, path: PathBuf) {
        let before = self.writer.take();
        let spawned = std::thread::Builder::new()
            .name("save session".to_owned())
            .spawn(move || {
                // An older session of the same trace must not replace this one.
                finish(before);
                // A convenience: where it cannot be kept, nothing else is lost.
                drop(session.write(&path));
            });
        self.writer = spawned.ok();
    }
}

/// Waits until a session, and those before it, are on the disk.
fn finish(writer: Option<JoinHandle<()>>) {
    if let Some(writer) = writer {
        // A writer that panicked has written nothing; the window closes all the same.
        let _panicked = writer.join();
    }
}

impl App {
    /// Opens traces, or the traces of a session file.
    pub(super) fn open_paths(&mut self, ctx: &egui::Context, paths: Vec<PathBuf>) {
        self.keeping.wanted = None;
        let session = match paths.as_slice() {
            [path] if path.extension().is_some_and(|ending| ending == ENDING) => path.clone(),
            _ => return self.replace(ctx, paths),
        };
        match Session::read(&session) {
            Ok(read) if read.traces.is_empty() => {
                let words = format!("this session names no trace ({})", session.display());
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

    /// Shows a trace as a session left it; without one as [`App::show`] does.
    pub(super) fn show_as(&mut self, loaded: Arc<LoadedTrace>, session: Option<Session>) {
        self.keeping.wanted = session;
        self.show(loaded);
    }

    /// Shows a trace; where it was worked on before, as it was left.
    pub fn show(&mut self, loaded: Arc<LoadedTrace>) {
        // More of the same file, or the same files at other places: the view stays where it is.
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
                // What was typed about another trace would hide rows of this one.
                *pane = pane.for_next_trace().unwrap_or_else(|| (row.make)());
                pane.take_up(kept.and_then(|panes| panes.get(row.name)));
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

    /// What is kept of these traces.
    pub(super) fn session_kept(&self, traces: &[PathBuf]) -> Option<Session> {
        let folder = self.keeping.folder.as_ref()?;
        let path = Session::path_in(folder, traces);
        path.exists().then(|| Session::read(&path).ok())?
    }

    fn session(&self) -> Option<Session> {
        let loaded = self.loaded.as_ref()?;
        let (traces, offsets) = files_of(loaded);
        let panes = PANES.iter().zip(&self.panes);
        let kept = panes.filter_map(|(row, pane)| Some((row.name.to_owned(), pane.kept()?)));
        Some(Session {
            midnight_ns: loaded.reading.midnight_ns,
            panes: kept.collect(),
            ..self.state.session(traces, offsets)
        })
    }

    /// Writes the session of the trace that is shown, if there is something to keep and it is new.
    fn keep_session(&mut self) {
        let is_complete = self.loaded.as_ref().is_some_and(|it| it.is_complete);
        let (Some(folder), true) = (self.keeping.folder.clone(), is_complete) else {
            return;
        };
        let Some(session) = self.session() else {
            return;
        };
        if session.traces.iter().any(|path| Spool::is_of(path)) {
            // It is gone with the window.
            return;
        }
        let path = Session::path_in(&folder, &session.traces);
        let is_known = self.keeping.written.as_ref() == Some(&session);
        if is_known || (session.is_plain() && !path.exists()) {
            return;
        }
        self.keeping.written = Some(session.clone());
        self.keeping.write(session, path);
    }

    /// Writes the session to a file of the user's choice.
    pub(super) fn save_session(&mut self, path: &Path) {
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

    /// Once a frame: notes where the window is, and writes now and then.
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

    /// Writes what is to be kept, at the end.
    pub fn close(&mut self) {
        self.keep_session();
        finish(self.keeping.writer.take());
        self.save_now();
    }
}
