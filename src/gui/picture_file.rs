//! Draws the window into a PNG or SVG file: once more, without a display, off the window's thread.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::app::App;
use super::fonts;
use super::render::{PictureFormat, file_of_app};
use super::text_file::write_bytes;
use super::theme;
use crate::export::atomic_file::Overwrite;
use crate::load::LoadedTrace;
use crate::view::{ThemeChoice, ViewState};

/// The file, or why there is none.
pub(super) type Outcome = Result<PathBuf, String>;

/// The view to draw.
pub(super) struct Shown {
    pub loaded: Arc<LoadedTrace>,
    pub state: ViewState,
    /// Saved state of the panes, in the order of `PANES`.
    pub panes: Vec<Option<serde_json::Value>>,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Pixels per point of the display.
    pub scale: f32,
}

/// Draws the view into a file.
pub(super) fn save(shown: Shown, theme: egui::Theme, path: PathBuf) -> Outcome {
    write(&path, &draw(shown, theme, PictureFormat::of(&path))?)?;
    Ok(path)
}

/// Draws the view in a second, invisible window, without transient layers.
fn draw(shown: Shown, theme: egui::Theme, format: PictureFormat) -> Result<Vec<u8>, String> {
    let mut app = App::new(None);
    let ctx = egui::Context::default();
    theme::install(&ctx);
    fonts::use_system_fonts(&ctx);
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
    file_of_app(&ctx, &mut app, shown.size, shown.scale, format)
}

fn write(path: &Path, png: &[u8]) -> Result<(), String> {
    // The user was asked before whether an existing file may be replaced.
    write_bytes(path, Overwrite::Replace, png)
}
