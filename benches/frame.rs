//! The time that a frame takes on the window's thread: building and tessellating, over traces of several sizes.
//!
//!     for size in 34MiB 340MiB 3400MiB; do
//!         cargo run --release --example make-big-trace -- tracedat $size /tmp/$size.dat; done
//!     cargo bench --bench frame -- /tmp/34MiB.dat /tmp/340MiB.dat /tmp/3400MiB.dat
//!
//! Without files, traces of 16 and 64 MiB are made in a temporary folder first. `pan`: each frame shows a span of the
//! same length, moved by half a percent; `zoom`: the length changes with each frame as well, so that no draw list can
//! be reused. `plain` is the timeline alone, `all on` has all arrows in view, all matches of a search marked and the
//! rest dimmed, markers, flags, a selected slice and a selected range, and the Details, Events, Selection and Durations
//! panes side by side. Words as arguments (`pan`, `plain`, `1920x1080` ...) choose among the rows, numbers among the
//! zooms. Times are the CPU time of the thread, so that other processes of the machine do not matter.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench may stop and print"
)]

#[allow(dead_code, reason = "only its writer is used here")]
#[path = "../examples/make-big-trace/tracedat.rs"]
mod generator;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use threadline::base::{Job, Nanos, TimeSpan};
use threadline::gui::app::App;
use threadline::gui::theme;
use threadline::load::{LoadedTrace, open};
use threadline::query::Item;
use threadline::trace::SliceId;
use threadline::view::flags::Flagging;
use threadline::view::settings::Motion;
use threadline::view::{Action, Docking, FlowsShown, PaneKind};

/// Frames of one measurement.
const FRAMES: u32 = 120;
const ZOOMS: [i64; 4] = [1, 100, 10_000, 1_000_000];
const SIZES: [(&str, [f32; 2], f32); 2] = [
    ("1920x1080", [1920.0, 1080.0], 1.0),
    ("3840x2160", [1920.0, 1080.0], 2.0),
];
const PANES: [PaneKind; 4] = [
    PaneKind::Details,
    PaneKind::Events,
    PaneKind::Selection,
    PaneKind::Durations,
];

/// The change of the view from frame to frame.
#[derive(Clone, Copy)]
enum Moving {
    Pan,
    Zoom,
}

/// The content of the window.
#[derive(Clone, Copy)]
enum Load {
    Plain,
    AllOn,
}

fn main() {
    threadline::base::allocator::keep_freed_memory();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (mut files, words): (Vec<PathBuf>, Vec<PathBuf>) = arguments.partition(|it| it.exists());
    let words: Vec<String> = words
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .filter(|word| !word.starts_with('-'))
        .collect();
    if files.is_empty() {
        for size in [16_u64, 64] {
            let path = folder.path().join(format!("{size}MiB.dat"));
            generator::write_usual(&path.to_string_lossy(), size << 20).expect("room");
            files.push(path);
        }
    }
    println!("ms of the window's thread a frame, mean of {FRAMES}, by zoom");
    let (chosen, words): (Vec<String>, Vec<String>) = words
        .into_iter()
        .partition(|word| word.parse::<i64>().is_ok());
    let is_wanted = |zoom: &i64| chosen.is_empty() || chosen.contains(&zoom.to_string());
    let zooms: Vec<i64> = ZOOMS.into_iter().filter(is_wanted).collect();
    let titles: String = zooms.iter().map(|zoom| format!("{zoom:>11}")).collect();
    println!(
        "{:>12} {:>10} {:>8} {:>8}{titles}",
        "events", "pixels", "shown", "moving"
    );
    let rows = SIZES.into_iter().flat_map(|size| {
        let loads = [(Load::Plain, "plain"), (Load::AllOn, "all on")];
        let moves = [(Moving::Pan, "pan"), (Moving::Zoom, "zoom")];
        loads
            .into_iter()
            .flat_map(move |load| moves.map(move |moving| (size, load, moving)))
    });
    let is_chosen = |row: &[&str]| words.iter().all(|word| row.contains(&word.as_str()));
    for path in files {
        // As in the window, another thread loads the trace: the memory that it frees stays in its own part of the heap.
        let loading = std::thread::spawn(move || open(&path, &Job::default()));
        let loaded = loading.join().expect("no panic");
        let loaded = Arc::new(loaded.expect("a trace that can be read"));
        for ((name, size, scale), (load, load_word), (moving, moving_word)) in rows.clone() {
            if !is_chosen(&[name, load_word, moving_word]) {
                continue;
            }
            let row = zooms.iter().map(|&zoom| {
                let ms = frame_ms(&loaded, (load, moving), size, scale, zoom);
                format!("{ms:>11.2}")
            });
            let row: String = row.collect();
            let events = loaded.trace.events.len();
            println!(
                "{events:>12} {name:>10} {load_word:>8} {moving_word:>8}{}",
                row
            );
        }
    }
}

/// Returns the CPU time of this thread for a frame, in ms.
fn frame_ms(
    loaded: &Arc<LoadedTrace>,
    (load, moving): (Load, Moving),
    size: [f32; 2],
    scale: f32,
    zoom: i64,
) -> f64 {
    let ctx = egui::Context::default();
    theme::install(&ctx);
    let mut app = App::new(None);
    app.hold_still();
    app.show(loaded.clone());
    let mut settings = app.state().settings;
    settings.motion = Motion::Jump;
    app.act(&ctx, Action::Configure(settings));
    let mut frames = Frames {
        ctx,
        size,
        scale,
        time: 0.0,
    };
    let whole = loaded.trace.span;
    let length = Nanos((whole.duration().0 / zoom).max(1_600));
    let middle = whole.start + Nanos((whole.duration().0 - length.0) / 2);
    let span = TimeSpan::new(middle, middle + length);
    prepare(&mut app, &frames.ctx, loaded, load, span);
    // Searches and sums run in the background; the first frames lay out texts.
    let began = Instant::now();
    for _ in 0..20 {
        frames.draw(&mut app);
    }
    while app.is_busy() && began.elapsed() < Duration::from_secs(120) {
        frames.draw(&mut app);
        std::thread::sleep(Duration::from_millis(5));
    }
    let step = (length.0 / 400).max(1);
    let used = thread_nanos();
    for frame in 0..FRAMES {
        let is_back = frame % 40 >= 20;
        let action = match moving {
            Moving::Pan => Action::PanBy(Nanos(if is_back { -step } else { step })),
            Moving::Zoom => Action::ZoomBy {
                around: middle,
                factor: if is_back { 1.01 } else { 1.0 / 1.01 },
            },
        };
        app.act(&frames.ctx.clone(), action);
        frames.draw(&mut app);
    }
    (thread_nanos() - used) as f64 / f64::from(FRAMES) / 1e6
}

/// Opens the parts of the window that are measured.
fn prepare(app: &mut App, ctx: &egui::Context, loaded: &LoadedTrace, load: Load, span: TimeSpan) {
    let mut act = |action| app.act(ctx, action);
    match load {
        Load::Plain => {
            act(Action::Dock(Docking::ShowOnly(Vec::new())));
            act(Action::Show(span));
        }
        Load::AllOn => {
            act(Action::Dock(Docking::ShowOnly(PANES.to_vec())));
            let first = loaded
                .trace
                .slices
                .starts
                .partition_point(0..loaded.trace.slices.len(), |start| start < span.start.0);
            if !loaded.trace.slices.is_empty() {
                let id = first.min(loaded.trace.slices.len() - 1);
                act(Action::Select(Item::Slice(SliceId(id as u32))));
            }
            act(Action::Show(span));
            let quarter = Nanos(span.duration().0 / 4);
            let inner = TimeSpan::new(span.start + quarter, span.end - quarter);
            act(Action::MarkBoth(inner));
            act(Action::SelectRange(inner));
            for at in 1..=20 {
                let time = span.start + Nanos(span.duration().0 / 21 * at);
                act(Action::Flag(Flagging::Add(time)));
            }
            act(Action::Search(
                "name ~ \"sys|read|wake\" && dur > 1us".to_owned(),
            ));
            act(Action::ToggleIsolation);
            let mut settings = app.state().settings;
            settings.flows = FlowsShown::AllInView;
            app.act(ctx, Action::Configure(settings));
        }
    }
}

struct Frames {
    ctx: egui::Context,
    size: [f32; 2],
    scale: f32,
    time: f64,
}

impl Frames {
    fn draw(&mut self, app: &mut App) {
        self.time += 1.0 / 60.0;
        let rect = egui::Rect::from_min_size(egui::Pos2::ZERO, self.size.into());
        let mut input = egui::RawInput {
            screen_rect: Some(rect),
            time: Some(self.time),
            focused: true,
            max_texture_side: Some(16_384),
            ..Default::default()
        };
        if let Some(viewport) = input.viewports.get_mut(&input.viewport_id) {
            viewport.native_pixels_per_point = Some(self.scale);
        }
        let output = self.ctx.run_ui(input, |ui| app.ui(ui));
        let drawn = self.ctx.tessellate(output.shapes, output.pixels_per_point);
        std::hint::black_box(drawn);
    }
}

/// Returns the CPU time of this thread, in ns. (Linux measures it; on other systems it is the elapsed time.)
fn thread_nanos() -> u64 {
    // The kernel updates the CPU time when the thread is switched away.
    std::thread::sleep(Duration::from_micros(50));
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text
        .split_whitespace()
        .next()
        .and_then(|word| word.parse().ok());
    first.unwrap_or_else(|| {
        static BEGAN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        BEGAN.get_or_init(Instant::now).elapsed().as_nanos() as u64
    })
}
