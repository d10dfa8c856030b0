//! A window without a screen, for tests of its behaviour.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::Role;
use egui_kittest::kittest::{NodeT, Queryable};
use egui_kittest::{Harness, TestRenderer};
use threadline::base::{Job, Nanos, TimeSpan};
use threadline::gui::app::App;
use threadline::gui::soft::Soft;
use threadline::gui::theme;
use threadline::load;
use threadline::view::dock::{Docking, Tile};
use threadline::view::{Action, PaneKind};

/// The program's rasteriser as a renderer of egui_kittest.
#[derive(Default)]
pub struct Renderer(Soft);

impl TestRenderer for Renderer {
    fn handle_delta(&mut self, delta: &mut egui::TexturesDelta) {
        self.0.take_textures(delta);
    }

    fn render(
        &mut self,
        ctx: &egui::Context,
        output: &egui::FullOutput,
    ) -> Result<image::RgbaImage, String> {
        let scale = output.pixels_per_point;
        let points = ctx.content_rect().size();
        let (width, height) = ((points.x * scale) as usize, (points.y * scale) as usize);
        let shapes = ctx.tessellate(output.shapes.clone(), scale);
        let picture = self.0.draw(&shapes, width, height, scale);
        image::RgbaImage::from_raw(width as u32, height as u32, picture.rgba)
            .ok_or_else(|| "the picture has another size".to_owned())
    }
}

pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

pub fn hackbench() -> PathBuf {
    file("sample-traces/kprobe-hackbench.dat")
}

pub type Window = Harness<'static, App>;

/// A window of 900 x 560 points that shows nothing yet.
pub fn empty_window() -> Window {
    let mut app = App::new(None);
    app.hold_still();
    window_of(app)
}

/// Returns an empty window whose settings and sessions are saved.
pub fn window_keeping(settings: &Path) -> Window {
    let mut app = App::new(Some(settings.to_path_buf()));
    app.hold_still();
    window_of(app)
}

/// Returns a window of the given size around a program.
pub fn window_of(app: App) -> Window {
    Harness::builder()
        .with_size([900.0, 560.0])
        .with_render_cursor(false)
        .with_max_steps(40)
        .allow_missing_glyphs()
        .renderer(Renderer::default())
        .with_context_setup(theme::install)
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app)
}

/// A window that shows `path`; all its panes are tabs over the whole width.
pub fn window(path: &Path) -> Window {
    let mut window = window_at_first(path);
    let panes = PaneKind::ALL.to_vec();
    let tabs = Tile::Tabs { panes, front: 0 };
    act(&mut window, Action::Dock(Docking::Tiles(Some(tabs))));
    act(&mut window, Action::Dock(Docking::Share(0.46)));
    window
}

/// Returns a window that shows `path`, with the initial arrangement of the panes.
pub fn window_at_first(path: &Path) -> Window {
    let mut window = empty_window();
    show(&mut window, path);
    window
}

/// Shows another trace in the window.
pub fn show(window: &mut Window, path: &Path) {
    let loaded = load::open(path, &Job::default()).unwrap_or_else(|error| panic!("{error}"));
    window.state_mut().show(Arc::new(loaded));
    settle(window);
}

/// Runs frames until loads and panes have their results.
pub fn settle(window: &mut Window) {
    let began = Instant::now();
    let mut quiet = 0;
    // A result may start the next computation.
    while quiet < 5 {
        window.step();
        quiet += 1;
        if window.state().is_busy() {
            quiet = 0;
            assert!(began.elapsed() < Duration::from_secs(120), "still at work");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

pub fn act(window: &mut Window, action: Action) {
    let ctx = window.ctx.clone();
    window.state_mut().act(&ctx, action);
    settle(window);
}

pub fn key(window: &mut Window, modifiers: egui::Modifiers, key: egui::Key) {
    window.key_press_modifiers(modifiers, key);
    window.run_steps(3);
}

/// Returns the middle half of the trace's span.
pub fn middle_half(window: &Window) -> TimeSpan {
    let span = window.state().state().trace_span;
    let quarter = Nanos(span.duration().0 / 4);
    TimeSpan::new(span.start + quarter, span.end - quarter)
}

/// Returns the rows of a table, each by its first cell, from top to bottom.
pub fn table_rows(window: &Window) -> Vec<String> {
    let rows = window.query_all_by_role(Role::Row);
    rows.filter_map(|row| row.accesskit_node().label())
        .collect()
}

/// Moves the pointer to `place` and clicks the right button there.
pub fn right_click(window: &mut Window, place: egui::Pos2) {
    window.hover_at(place);
    window.run_steps(2);
    for pressed in [true, false] {
        window.event(egui::Event::PointerButton {
            pos: place,
            button: egui::PointerButton::Secondary,
            pressed,
            modifiers: egui::Modifiers::NONE,
        });
    }
}

pub fn visible(window: &Window) -> i64 {
    window.state().state().span.duration().0
}

/// Returns the rectangle of the timeline.
pub fn canvas(window: &Window) -> egui::Rect {
    window.get_by_label("Timeline").rect()
}

/// Presses the button at one position and moves the pointer to another, where the button stays pressed.
pub fn drag_and_hold(window: &mut Window, from: egui::Pos2, until: egui::Pos2) {
    window.hover_at(from);
    window.run_steps(2);
    window.drag_at(from);
    window.run_steps(2);
    for step in 1..=4 {
        window.hover_at(from + (until - from) * (step as f32 / 4.0));
        window.run_steps(2);
    }
}

/// Presses the button at one position, moves the pointer to another and releases the button there.
pub fn drag(window: &mut Window, from: egui::Pos2, until: egui::Pos2) {
    drag_and_hold(window, from, until);
    window.drop_at(until);
    window.run_steps(4);
    settle(window);
}

/// Focuses the field of this name and types into it.
pub fn type_into(window: &mut Window, field: &str, text: &str) {
    window.get_by_role_and_label(Role::TextInput, field).focus();
    window.run_steps(2);
    window
        .get_by_role_and_label(Role::TextInput, field)
        .type_text(text);
    window.run_steps(2);
    settle(window);
}

/// Returns the rectangles of the items of this name on the timeline.
pub fn bars_named(window: &Window, name: &str) -> Vec<egui::Rect> {
    let beginning = format!("{name}, ");
    let bars = window.query_all_by_role(Role::Button);
    let is_it = |name: Option<String>| name.is_some_and(|name| name.starts_with(&beginning));
    bars.filter(|bar| is_it(bar.accesskit_node().label()))
        .map(|bar| bar.rect())
        .collect()
}

/// Clicks the first link with this value in the details, whatever the link's name is.
pub fn click_value(window: &mut Window, value: &str) {
    let ending = format!(": {value}");
    let is_it = |name: Option<String>| name.is_some_and(|name| name.ends_with(&ending));
    window
        .query_all_by_role(Role::Link)
        .find(|link| is_it(link.accesskit_node().label()))
        .expect("a link with this value")
        .click();
    window.run_steps(2);
    settle(window);
}

/// Clicks the button of this name.
pub fn click_button(window: &mut Window, button: &str) {
    window.get_by_role_and_label(Role::Button, button).click();
    window.run_steps(2);
    settle(window);
}

/// Presses and releases the main button at a place.
pub fn click_at(window: &mut Window, at: egui::Pos2) {
    window.hover_at(at);
    window.run_steps(1);
    window.drag_at(at);
    window.run_steps(1);
    window.drop_at(at);
    window.run_steps(3);
    settle(window);
}

/// A file as the desktop hands it to a window.
#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

/// Drops a file onto the window; the next frame handles it.
pub fn drop_without_waiting(window: &mut Window, path: PathBuf) {
    window
        .input_mut()
        .dropped_files
        .push(Arc::new(Dropped(path)));
}

pub fn drop_on(window: &mut Window, path: PathBuf) {
    drop_without_waiting(window, path);
    window.run_steps(2);
    settle(window);
}
