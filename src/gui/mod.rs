//! The window, and the same view as a picture without one. Alone in the program it sees egui.

pub mod app;
pub mod asked;
pub mod chart;
mod dock;
mod export_panel;
pub mod filter_box;
mod finder;
mod help;
mod keeping;
pub mod keys;
pub mod long_list;
mod menu_bar;
pub mod notices;
mod opening;
pub mod pane;
pub mod panes;
mod samples;
mod save_blob;
mod search_bar;
mod settings;
pub mod soft;
mod status_bar;
pub mod table;
mod text_file;
pub mod theme;
pub mod timeline;
mod tips;
mod view_menu;
mod welcome;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::base::TimeSpan;
use crate::load::{LoadedTrace, Reading};
use crate::view::saved::Saved;
use crate::view::{Action, ThemeChoice};
use app::App;
use soft::{Picture, Soft};

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

/// Opens the window and shows `files`; comes back when it is closed.
///
/// # Errors
/// In words for the user, if there is no display to open it on.
pub fn run(files: Vec<PathBuf>, reading: Reading) -> Result<(), String> {
    if !has_display() {
        return Err(no_window("neither DISPLAY nor WAYLAND_DISPLAY is set"));
    }
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
        ..Default::default()
    };
    prefer_x11(&mut options);
    let created = eframe::run_native(
        "Threadline",
        options,
        Box::new(move |context| {
            theme::install(&context.egui_ctx);
            let mut app = App::new(settings);
            if !files.is_empty() {
                app.open_together(&context.egui_ctx, files, reading);
            }
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

/// What `render` draws.
#[derive(Clone, Debug)]
pub struct RenderOptions {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Pixels a point; larger makes everything larger.
    pub scale: f32,
    /// The visible span; `None`: the whole trace.
    pub span: Option<TimeSpan>,
    /// Dark or light.
    pub theme: ThemeChoice,
    /// The pane to open; `None`: panes are hidden.
    pub pane: Option<String>,
}

/// How long `render` waits for panes to have their answers.
const PATIENCE: Duration = Duration::from_secs(20);

/// Draws the view of a trace to a picture, with no display and no driver; the same every time.
///
/// # Errors
/// In words for the user: there is no such pane, or the size is none.
pub fn render(loaded: &LoadedTrace, options: &RenderOptions) -> Result<Picture, String> {
    let pane = match &options.pane {
        None => None,
        Some(wanted) => {
            let name = wanted.to_lowercase().replace('-', " ");
            let row = panes::PANES
                .iter()
                .find(|row| row.name.to_lowercase() == name);
            let names = || {
                panes::PANES
                    .iter()
                    .map(|row| row.name)
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            Some(
                row.ok_or_else(|| format!("there is no pane '{wanted}'; there are {}", names()))?
                    .name,
            )
        }
    };
    let mut app = App::new(None);
    let ctx = egui::Context::default();
    theme::install(&ctx);
    app.show(Arc::new(loaded.clone()));
    app.act(&ctx, Action::SetTheme(options.theme));
    match pane {
        Some(name) => app.act(&ctx, Action::OpenPane(name)),
        None => app.act(&ctx, Action::ToggleDock),
    }
    if let Some(span) = options.span {
        app.act(&ctx, Action::Show(span));
    }
    draw_app(&ctx, &mut app, options.size, options.scale)
}

/// Draws the window as it is, once it has settled.
///
/// # Errors
/// If the size is none.
pub fn draw_app(
    ctx: &egui::Context,
    app: &mut App,
    size: [u32; 2],
    scale: f32,
) -> Result<Picture, String> {
    let [width, height] = size;
    if width == 0 || height == 0 || width > 16_384 || height > 16_384 {
        return Err(format!(
            "a picture of {width} x {height} pixels cannot be drawn; each side is 1 to 16384"
        ));
    }
    let mut soft = Soft::default();
    app.hold_still();
    let began = Instant::now();
    let mut settled = 0;
    loop {
        let points = egui::vec2(width as f32 / scale, height as f32 / scale);
        let mut input = egui::RawInput {
            screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, points)),
            time: Some(f64::from(settled)),
            focused: true,
            ..Default::default()
        };
        if let Some(viewport) = input.viewports.get_mut(&input.viewport_id) {
            viewport.native_pixels_per_point = Some(scale);
        }
        let mut output = ctx.run_ui(input, |ui| app.ui(ui));
        soft.take_textures(&mut output.textures_delta);
        if app.is_busy() && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(2));
            continue;
        }
        settled += 1;
        if settled >= 4 {
            let primitives = ctx.tessellate(output.shapes, output.pixels_per_point);
            return Ok(soft.draw(
                &primitives,
                width as usize,
                height as usize,
                output.pixels_per_point,
            ));
        }
    }
}
