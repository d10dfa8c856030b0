//! A picture of the window on its way into a PNG file: drawn once more without a display, off the window's thread.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use super::app::App;
use super::render::draw_app;
use super::theme;
use crate::export::atomic_file::{FileError, Overwrite, write_whole};
use crate::load::LoadedTrace;
use crate::view::{ThemeChoice, ViewState};

/// What came of it: the file, or why there is none.
type Outcome = Result<PathBuf, String>;

/// What is drawn.
pub(super) struct Shown {
    pub loaded: Arc<LoadedTrace>,
    pub state: ViewState,
    /// What panes keep, in their order.
    pub panes: Vec<Option<serde_json::Value>>,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Pixels a point of the display.
    pub scale: f32,
}

/// At most one picture on its way.
#[derive(Default)]
pub(super) struct PictureFile {
    pending: Option<Receiver<Outcome>>,
}

impl PictureFile {
    /// Starts to draw; does nothing while another picture is on its way.
    pub(super) fn start(&mut self, ctx: &egui::Context, shown: Shown, path: PathBuf) {
        if self.pending.is_some() {
            return;
        }
        let (sender, receiver) = channel();
        let (ctx, theme) = (ctx.clone(), ctx.theme());
        let spawned = std::thread::Builder::new()
            .name("picture".to_owned())
            .spawn(move || {
                let outcome = draw(shown, theme).and_then(|png| write(&path, &png));
                let _window_gone = sender.send(outcome.map(|()| path));
                ctx.request_repaint();
            });
        if spawned.is_ok() {
            self.pending = Some(receiver);
        }
    }

    /// Whether one is on its way.
    pub(super) fn is_busy(&self) -> bool {
        self.pending.is_some()
    }

    /// What came of it, once.
    pub(super) fn poll(&mut self) -> Option<Outcome> {
        let outcome = match self.pending.as_ref()?.try_recv() {
            Ok(outcome) => Some(outcome),
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => None,
        };
        self.pending = None;
        outcome
    }
}

/// A second window that shows the same, without what lies over it for a moment.
fn draw(shown: Shown, theme: egui::Theme) -> Result<Vec<u8>, String> {
    let mut app = App::new(None);
    let ctx = egui::Context::default();
    theme::install(&ctx);
    app.show(shown.loaded);
    for (pane, kept) in app.panes.iter_mut().zip(&shown.panes) {
        pane.take_up(kept.as_ref());
    }
    app.state = ViewState {
        theme: match theme {
            egui::Theme::Dark => ThemeChoice::Dark,
            egui::Theme::Light => ThemeChoice::Light,
        },
        hover: None,
        edge: None,
        pointed: None,
        finder: None,
        question: None,
        is_help_open: false,
        is_settings_open: false,
        is_export_open: false,
        ..shown.state
    };
    draw_app(&ctx, &mut app, shown.size, shown.scale)?.png()
}

fn write(path: &Path, png: &[u8]) -> Result<(), String> {
    // Whoever named the file was asked whether it may be replaced.
    let written = write_whole(path, Overwrite::Replace, |out| {
        out.write_all(png).map_err(FileError::from)
    });
    written.map_err(|error| match error {
        FileError::Exists => format!("there is a file {} already", path.display()),
        FileError::Io(error) => format!("{}: {error}", path.display()),
    })
}
