//! The window's view as a picture, with no display and no driver; the same every time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::app::App;
use super::panes::PANES;
use super::soft::{Picture, Soft};
use super::theme;
use crate::base::TimeSpan;
use crate::load::LoadedTrace;
use crate::view::{Action, Docking, ThemeChoice};

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
    /// The panes to open, side by side; none: they are hidden.
    pub panes: Vec<String>,
}

/// How long `render` waits for panes to have their answers.
const PATIENCE: Duration = Duration::from_secs(20);

/// Draws the view of a trace to a picture, with no display and no driver; the same every time.
///
/// # Errors
/// In words for the user: there is no such pane, or the size is none.
pub fn render(loaded: &LoadedTrace, options: &RenderOptions) -> Result<Picture, String> {
    let panes: Vec<&'static str> = options
        .panes
        .iter()
        .map(|wanted| pane_called(wanted))
        .collect::<Result<_, _>>()?;
    let mut app = App::new(None);
    let ctx = egui::Context::default();
    theme::install(&ctx);
    app.show(Arc::new(loaded.clone()));
    app.act(&ctx, Action::SetTheme(options.theme));
    app.act(&ctx, Action::Dock(Docking::ShowOnly(panes)));
    if let Some(span) = options.span {
        app.act(&ctx, Action::Show(span));
    }
    draw_app(&ctx, &mut app, options.size, options.scale)
}

/// The pane of that name, as people write it.
fn pane_called(wanted: &str) -> Result<&'static str, String> {
    let name = wanted.to_lowercase().replace('-', " ");
    let row = PANES.iter().find(|row| row.name.to_lowercase() == name);
    let names = || PANES.iter().map(|row| row.name).collect::<Vec<_>>();
    row.map(|row| row.name).ok_or_else(|| {
        let names = names().join(", ");
        format!("there is no pane '{wanted}'; there are {names}")
    })
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
