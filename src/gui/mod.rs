//! The window, and the same view as a picture without one. Alone in the program it sees egui.

pub mod app;
pub mod asked;
mod boxes;
pub mod chart;
#[cfg(test)]
mod colour_vision;
mod dock;
mod dock_tabs;
pub mod drag_pointer;
mod drop_targets;
pub mod errand;
mod export_panel;
mod file_dialog;
mod filter_box;
mod finder;
mod following;
mod fonts;
pub mod heading;
mod help;
mod keeping;
pub mod keys;
pub mod long_list;
mod lookout;
mod menu_bar;
pub mod notices;
mod opening;
pub mod pane;
pub mod panes;
mod picture_file;
mod plot_question;
mod plotting;
mod promise;
mod questions;
mod recent;
mod render;
mod samples;
mod save_blob;
mod script;
mod search_bar;
mod settings;
mod shortened;
pub mod soft;
pub mod startup;
mod status_bar;
pub mod svg;
pub mod table;
mod text_file;
pub mod theme;
pub mod timeline;
mod tint;
mod tips;
mod view_menu;
mod welcome;

use std::path::PathBuf;

use crate::load::growing::Spool;
use crate::load::{Growth, Reading};
use crate::view::saved::Saved;
use app::App;
use drag_pointer::Desktop;
pub use render::{PictureFormat, RenderOptions, draw_app, render};
use startup::Todo;

struct Window {
    app: App,
    /// As the desktop knows it.
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

/// What a window begins with.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// The files that it shows; `-` alone is standard input.
    pub files: Vec<PathBuf>,
    /// How they are read.
    pub reading: Reading,
    /// Whether they are read again as they grow.
    pub growth: Growth,
    /// What is done when they are there.
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

/// Opens the window; comes back when it is closed.
///
/// # Errors
/// In words for the user, if there is no display to open it on.
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
        // Ours asks on another thread.
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

fn desktop_of(context: &eframe::CreationContext<'_>) -> Desktop {
    use winit::raw_window_handle::{HasWindowHandle as _, RawWindowHandle};
    match context.window_handle().map(|handle| handle.as_raw()) {
        Ok(RawWindowHandle::Xlib(handle)) => {
            u32::try_from(handle.window).map_or(Desktop::Other, |window| Desktop::X11 { window })
        }
        Ok(RawWindowHandle::Xcb(handle)) => Desktop::X11 {
            window: handle.window.get(),
        },
        Ok(RawWindowHandle::Wayland(_)) => Desktop::Wayland,
        _ => Desktop::Other,
    }
}

/// Whether the desktop names a display to open the window on.
#[cfg(target_os = "linux")]
fn has_display() -> bool {
    ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

#[cfg(not(target_os = "linux"))]
fn has_display() -> bool {
    true
}

/// Files can be dropped on X11 windows only (winit 0.30), so X11 is taken where there is one.
#[cfg(target_os = "linux")]
fn prefer_x11(options: &mut eframe::NativeOptions) {
    use winit::platform::x11::EventLoopBuilderExtX11;
    let has_x11 = std::env::var_os("DISPLAY").is_some_and(|display| !display.is_empty());
    if has_x11 && std::env::var_os("THREADLINE_WAYLAND").is_none() {
        options.event_loop_builder = Some(Box::new(|builder| {
            builder.with_x11();
        }));
    }
}

#[cfg(not(target_os = "linux"))]
fn prefer_x11(_options: &mut eframe::NativeOptions) {}
