//! Draws the window's view as a picture, without display or graphics driver; deterministic.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::app::App;
use super::fonts;
use super::soft::{Picture, Soft};
use super::startup::Todo;
use super::svg::svg_of;
use super::theme;
use crate::base::{Job, TimeSpan};
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::query::expression::{Expression, ExpressionError, Matcher};
use crate::query::search::{Query, search};
use crate::view::ruler::TimeFormat;
use crate::view::{Action, Docking, PaneKind, Session, ThemeChoice};

/// Options of `render`.
#[derive(Clone, Debug)]
pub struct RenderOptions {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Pixels per point; larger values enlarge everything.
    pub scale: f32,
    /// Visible span; `None`: the whole trace.
    pub span: Option<TimeSpan>,
    /// File format.
    pub format: PictureFormat,
    /// Dark or light.
    pub theme: ThemeChoice,
    /// Panes to open, side by side; empty: the panes are hidden.
    pub panes: Vec<String>,
    /// Expression whose first match in the visible span is selected.
    pub select: Option<String>,
    /// Expression; everything that does not match it is dimmed.
    pub find: Option<String>,
    /// Session to restore: place, tracks, plots, marks, panes.
    pub session: Option<Session>,
    /// Commands to carry out before drawing.
    pub todo: Vec<Todo>,
}

/// Height of bars, overview and ruler together, in points.
const BARS: f32 = 125.0;
/// Longest time that `render` waits for panes to be ready.
const PATIENCE: Duration = Duration::from_secs(20);
/// A picture is drawn after this many consecutive frames without a running computation: one quick result can start the
/// next computation (a table's row, its histogram, its list) without a frame in which anything waits.
const QUIET_FRAMES: u32 = 8;

/// Draws the view of a trace and returns the bytes of a picture file; needs no display or graphics driver,
/// deterministic.
///
/// # Errors
/// Returns a sentence for the user if a pane does not exist, the size is zero, or an expression is malformed or matches
/// nothing.
pub fn render(loaded: &LoadedTrace, options: &RenderOptions) -> Result<Vec<u8>, String> {
    let panes: Vec<PaneKind> = options
        .panes
        .iter()
        .map(|wanted| pane_called(wanted))
        .collect::<Result<_, _>>()?;
    let mut app = App::new(None);
    let ctx = egui::Context::default();
    theme::install(&ctx);
    fonts::use_system_fonts(&ctx);
    let has_session = options.session.is_some();
    app.show_as(Arc::new(loaded.clone()), options.session.clone());
    app.act(&ctx, Action::SetTheme(options.theme));
    if loaded.has_given_day() {
        app.act(&ctx, Action::SetTimeFormat(TimeFormat::WallClock));
    }
    if !(has_session && panes.is_empty()) {
        app.act(&ctx, Action::Dock(Docking::ShowOnly(panes)));
    }
    if let Some(text) = &options.select {
        let item = first_meant(loaded, text, options.span)?;
        // Without a drawn frame, the visible height of the tracks is not set yet.
        let dock = &app.state.dock;
        let share = if dock.is_hidden { 0.0 } else { dock.share() };
        let height = options.size[1] as f32 / options.scale;
        app.state.page_height = ((height - BARS) * (1.0 - share)).max(40.0);
        app.act(&ctx, Action::Reveal(item));
    }
    if let Some(text) = &options.find {
        matcher_of(loaded, text)?;
        app.act(&ctx, Action::Search(text.clone()));
        app.act(&ctx, Action::ToggleIsolation);
    }
    if let Some(span) = options.span {
        app.act(&ctx, Action::Show(span));
    }
    app.later(options.todo.iter().cloned());
    let picture = file_of_app(&ctx, &mut app, options.size, options.scale, options.format)?;
    match app.todo_errors() {
        [] => Ok(picture),
        [first, ..] => Err(first.clone()),
    }
}

fn matcher_of(loaded: &LoadedTrace, text: &str) -> Result<Expression, String> {
    let describe = |error: ExpressionError| format!("{error}\n{}", error.pointed(text));
    let expression = Expression::parse(text).map_err(describe)?;
    Matcher::new(&expression, &loaded.trace, loaded.reader.as_ref()).map_err(describe)?;
    Ok(expression)
}

/// Returns the first match of an expression in a span: a slice if one matches, else another item that the timeline
/// draws.
fn first_meant(loaded: &LoadedTrace, text: &str, span: Option<TimeSpan>) -> Result<Item, String> {
    let mut query = Query::new(matcher_of(loaded, text)?);
    query.span = span.unwrap_or(query.span);
    let (trace, reader) = (&loaded.trace, loaded.reader.as_ref());
    let found = search(trace, reader, &query, &Job::default(), &mut |_| ())
        .map_err(|error| error.to_string())?;
    let rank = |item: Item| match item {
        Item::Slice(_) => 0,
        Item::State(_) => 1,
        Item::Run(_) => 2,
        Item::Instant(_) => 3,
        Item::Sample(..) => 4,
        Item::Event(_) => 5,
        _ => 6,
    };
    let first = found
        .hits
        .iter()
        .min_by_key(|hit| (rank(hit.item), hit.time));
    first
        .map(|hit| hit.item)
        .ok_or_else(|| format!("nothing in this span matches '{text}'"))
}

/// Returns the pane of a name as users write it.
fn pane_called(wanted: &str) -> Result<PaneKind, String> {
    let pane = PaneKind::of_title(&wanted.replace('-', " "));
    pane.ok_or_else(|| {
        let titles = PaneKind::ALL.map(PaneKind::title).join(", ");
        format!("there is no pane '{wanted}'; there are: {titles}")
    })
}

/// File format of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PictureFormat {
    /// PNG: pixels.
    #[default]
    Png,
    /// SVG: shapes, and text as text.
    Svg,
}

impl PictureFormat {
    /// Returns the format of a file's extension.
    #[must_use]
    pub fn of(path: &Path) -> PictureFormat {
        match path.extension() {
            Some(ending) if ending.eq_ignore_ascii_case("svg") => PictureFormat::Svg,
            _ => PictureFormat::Png,
        }
    }
}

/// A settled frame of the window.
struct Frame {
    soft: Soft,
    shapes: Vec<egui::epaint::ClippedShape>,
    pixels_per_point: f32,
}

/// Draws the window once it has settled, and returns the bytes of a picture file of `size` pixels, with `scale` pixels
/// per point.
///
/// # Errors
/// Returns a sentence if the size is zero.
pub(crate) fn file_of_app(
    ctx: &egui::Context,
    app: &mut App,
    size: [u32; 2],
    scale: f32,
    format: PictureFormat,
) -> Result<Vec<u8>, String> {
    let frame = settled(ctx, app, size, scale)?;
    match format {
        PictureFormat::Png => picture_of(ctx, frame, size).png(),
        PictureFormat::Svg => {
            let text = svg_of(&frame.shapes, &frame.soft, size, frame.pixels_per_point);
            Ok(text.into_bytes())
        }
    }
}

fn picture_of(ctx: &egui::Context, frame: Frame, [width, height]: [u32; 2]) -> Picture {
    let scale = frame.pixels_per_point;
    let primitives = ctx.tessellate(frame.shapes, scale);
    frame
        .soft
        .draw(&primitives, width as usize, height as usize, scale)
}

fn settled(
    ctx: &egui::Context,
    app: &mut App,
    size: [u32; 2],
    scale: f32,
) -> Result<Frame, String> {
    let [width, height] = size;
    if width == 0 || height == 0 || width > 16_384 || height > 16_384 {
        return Err(format!(
            "a picture of {width} x {height} pixels cannot be drawn; each side is 1 to 16384"
        ));
    }
    let mut soft = Soft::default();
    app.hold_still();
    let began = Instant::now();
    let (mut settled, mut quiet) = (0_u32, 0);
    loop {
        let points = egui::vec2(width as f32 / scale, height as f32 / scale);
        let mut input = egui::RawInput {
            screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, points)),
            time: Some(f64::from(settled)),
            focused: true,
            // The largest side that a picture may have.
            max_texture_side: Some(16_384),
            ..Default::default()
        };
        if let Some(viewport) = input.viewports.get_mut(&input.viewport_id) {
            viewport.native_pixels_per_point = Some(scale);
        }
        let mut output = ctx.run_ui(input, |ui| app.ui(ui));
        soft.take_textures(&mut output.textures_delta);
        if app.is_busy() && began.elapsed() < PATIENCE {
            // A result may have started the next computation.
            quiet = 0;
            std::thread::sleep(Duration::from_millis(2));
            continue;
        }
        settled += 1;
        quiet += 1;
        if quiet >= QUIET_FRAMES {
            return Ok(Frame {
                soft,
                shapes: output.shapes,
                pixels_per_point: output.pixels_per_point,
            });
        }
    }
}
