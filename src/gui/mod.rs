//! The window, and its view as a picture without a display. The only part of the program that uses egui.

mod announcer;
pub mod app;
mod boxes;
pub(crate) mod chart;
#[cfg(test)]
mod colour_vision;
pub mod desktop;
mod dock;
mod dock_tabs;
pub(crate) mod drag_pointer;
mod drop_targets;
mod export_panel;
mod file_dialog;
mod filter_box;
mod finder;
mod following;
mod fonts;
pub mod help;
mod keeping;
pub(crate) mod keys;
pub(crate) mod long_list;
mod lookout;
mod menu_bar;
pub(crate) mod notices;
mod opening;
pub(crate) mod pane;
pub mod panes;
mod part_names;
mod picture_file;
mod plot_question;
mod plotting;
mod questions;
mod recent;
#[cfg(target_os = "linux")]
mod recorder;
#[cfg_attr(not(target_os = "linux"), path = "no_recording.rs")]
mod recording;
mod render;
mod samples;
mod save_bar;
mod save_blob;
mod script;
mod search_bar;
mod settings;
mod shortened;
pub mod soft;
pub mod startup;
mod status_bar;
pub(crate) mod svg;
pub mod table;
pub(crate) mod task_ui;
mod text_file;
pub mod theme;
pub(crate) mod timeline;
mod tint;
mod tips;
mod view_menu;
mod welcome;

use std::path::PathBuf;

use crate::load::growing::Spool;
use crate::load::{Growth, Reading};
use crate::view::saved::Saved;
use app::App;
use desktop::{desktop_of, has_display, prefer_x11};
pub use render::render;
pub(crate) use render::{PictureFormat, RenderOptions};
use startup::Todo;

struct Window {
    app: App,
    /// Title last set on the window.
    title: String,
}

impl eframe::App for Window {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.app.ui(ui);
        let title = self.app.title();
        if title != self.title {
            ui.ctx()
                .send_viewport_cmd(egui::ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }

    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        self.app.close();
    }
}

/// What a window starts with.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Files to open; `-` alone is standard input.
    pub files: Vec<PathBuf>,
    /// Reading options.
    pub reading: Reading,
    /// Whether to follow the files as they grow.
    pub growth: Growth,
    /// Commands to carry out once the files are loaded.
    pub todo: Vec<Todo>,
}

impl Start {
    fn of(self, app: &mut App, ctx: &egui::Context) -> Result<(), String> {
        app.later(self.todo);
        if self.files.len() == 1 && self.files[0].as_os_str() == "-" {
            let waker = ctx.clone();
            let spool = Spool::of_standard_input(self.reading, move || waker.request_repaint())
                .map_err(|error| format!("standard input cannot be kept: {error}"))?;
            app.follow_stream(ctx, spool, self.reading);
        } else if self.growth == Growth::Expected {
            app.follow(ctx, self.files, self.reading);
        } else if !self.files.is_empty() {
            app.open_together(ctx, self.files, self.reading);
        }
        Ok(())
    }
}

/// Opens the window and returns when it is closed.
///
/// # Errors
/// Returns a sentence for the user if there is no display.
pub fn run(start: Start) -> Result<(), String> {
    if !has_display() {
        return Err(no_window("neither DISPLAY nor WAYLAND_DISPLAY is set"));
    }
    crate::base::allocator::keep_freed_memory();
    let settings = Saved::default_path();
    let place = settings
        .as_deref()
        .and_then(|path| Saved::read(path).window);
    let place = place.unwrap_or_default();
    let mut viewport = egui::ViewportBuilder::default()
        .with_title("Threadline")
        .with_app_id("threadline")
        .with_drag_and_drop(true)
        .with_inner_size(place.size)
        .with_maximized(place.is_maximized)
        .with_min_inner_size([640.0, 400.0]);
    if let Some(position) = place.position {
        viewport = viewport.with_position(position);
    }
    let mut options = eframe::NativeOptions {
        renderer: eframe::Renderer::Glow,
        viewport,
        // Our own lookup of system fonts runs on another thread.
        system_font_fallback: false,
        ..Default::default()
    };
    prefer_x11(&mut options);
    let created = eframe::run_native(
        "Threadline",
        options,
        Box::new(move |context| {
            theme::install(&context.egui_ctx);
            fonts::use_system_fonts_later(&context.egui_ctx);
            let mut app = App::new(settings);
            app.sits_on(desktop_of(context));
            start.of(&mut app, &context.egui_ctx)?;
            Ok(Box::new(Window {
                app,
                title: String::new(),
            }))
        }),
    );
    created.map_err(|error| no_window(&error.to_string()))
}

fn no_window(why: &str) -> String {
    format!(
        "no window can be opened here: {why}. Start it where there is a display, or draw the trace to a picture: \
         threadline render FILE -o out.png"
    )
}
