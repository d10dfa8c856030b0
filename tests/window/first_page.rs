//! The first page of real traces, as a user sees it who opens them for the first time.

use crate::support::*;
use egui_kittest::Harness;
use std::sync::Arc;
use threadline::base::Job;
use threadline::gui::app::App;
use threadline::gui::theme;
use threadline::load;
use threadline::view::{Action, Docking, Fold, RowKey, ThemeChoice};

/// A window of 1280 x 720 points that shows a trace for the first time, without panes.
fn first_page(trace: &str) -> Window {
    let mut app = App::new(None);
    app.hold_still();
    let mut window: Window = Harness::builder()
        .with_size([1280.0, 720.0])
        .with_render_cursor(false)
        .with_max_steps(40)
        .allow_missing_glyphs()
        .renderer(Renderer::default())
        .with_context_setup(theme::install)
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    let loaded = load::open(&file(trace), &Job::default());
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
    window.state_mut().show(Arc::new(loaded));
    act(&mut window, Action::Dock(Docking::ShowOnly(Vec::new())));
    // Heights follow once the view rests.
    window.run_steps(4);
    settle(&mut window);
    window
}

const TRACES: [(&str, &str); 12] = [
    ("scheduling", "sample-traces/sched-irq-syscalls.dat"),
    ("scheduling-text", "sample-traces/sched-irq.ftrace"),
    ("function-graph", "sample-traces/function-graph.dat"),
    ("probes", "sample-traces/kprobe-hackbench.dat"),
    ("block", "sample-traces/block-ext4.dat"),
    ("fxt", "sample-traces/compress.fxt"),
    ("fxt-threads", "sample-traces/syscalls-part.fxt"),
    ("build", "sample-traces/lua-make-j2.etrace.zst"),
    ("strace", "sample-traces/shell-pipeline.strace"),
    ("strace-threads", "sample-traces/threads-and-signals.strace"),
    ("chrome-json", "sample-traces/node-workers.json.gz"),
    ("ninja", "sample-traces/cmake-shop.ninja_log"),
];

#[test]
fn the_first_page_of_real_traces() {
    // One window for all: the results of snapshots belong to a window.
    let mut window = first_page(TRACES[0].1);
    for (name, trace) in TRACES {
        show(&mut window, &file(trace));
        window.run_steps(4);
        settle(&mut window);
        for (theme, word) in [(ThemeChoice::Dark, "dark"), (ThemeChoice::Light, "light")] {
            act(&mut window, Action::SetTheme(theme));
            window.snapshot(format!("first-page/{name}-{word}"));
        }
    }
}

#[test]
fn all_threads_fit_the_window_and_one_with_deep_calls_does_not_fill_it() {
    for trace in [
        "sample-traces/sched-irq-syscalls.dat",
        "sample-traces/function-graph.dat",
    ] {
        let window = first_page(trace);
        let state = window.state().state();
        assert!(state.rows.all().len() > 40, "{trace}");
        assert!(
            state.rows.height() <= state.room,
            "{trace}: {}",
            state.rows.height()
        );
        let highest = state
            .rows
            .all()
            .iter()
            .map(|row| row.height)
            .fold(0.0, f32::max);
        assert!(highest < 120.0, "{trace}: {highest}");
    }
}

#[test]
fn deep_calls_open_as_one_zooms_in_and_their_row_stays_under_the_pointer() {
    let mut window = first_page("sample-traces/function-graph.dat");
    let trace = window.state().loaded().unwrap().trace.clone();
    let slices = trace.slices.rows.iter().map(|row| row.slices.clone());
    let longest = slices.max_by_key(|row| row.len()).unwrap();
    let slice = threadline::trace::SliceId(longest.start);
    act(
        &mut window,
        Action::Reveal(threadline::query::Item::Slice(slice)),
    );
    window.run_steps(4);
    let row_of = |window: &Window| {
        let lane = threadline::view::locate::lane_of(&trace, threadline::query::Item::Slice(slice));
        let state = window.state().state();
        let found = state
            .rows
            .of_lane(lane.unwrap())
            .expect("it is shown by a lane");
        (
            found.row.key,
            found.row.lanes.len(),
            found.row.top - state.scroll,
        )
    };
    let (key, before, _) = row_of(&window);
    let span = trace.slices.get(slice);
    let end = span.end.unwrap_or(trace.span.end);
    // The gesture: zoomed to the slice, with the pointer over its row.
    let area = canvas(&window);
    let y = area.top() + row_of(&window).2 + 4.0;
    window.hover_at(egui::pos2(area.center().x, y));
    window.run_steps(2);
    let top = row_of(&window).2;
    act(
        &mut window,
        Action::Show(threadline::base::TimeSpan::new(span.start, end)),
    );
    window.run_steps(6);
    let (after_key, after, after_top) = row_of(&window);
    assert_eq!(after_key, key);
    assert!(after > before, "{before} lanes, then {after}");
    // The function and what it calls are lanes of their own, not a part of another lane.
    let lane = threadline::view::locate::lane_of(&trace, threadline::query::Item::Slice(slice));
    let state = window.state().state();
    let shown = state.rows.of_lane(lane.unwrap()).unwrap();
    assert_eq!(Some(shown.lane.kind), lane);
    let most = window.state().state().max_scroll();
    let is_at_end = window.state().state().scroll <= 0.0 || window.state().state().scroll >= most;
    assert!(
        (after_top - top).abs() <= 1.0 || is_at_end,
        "{top} {after_top}"
    );
}

#[test]
fn held_heights_stay() {
    let mut window = first_page("sample-traces/function-graph.dat");
    key(&mut window, egui::Modifiers::NONE, egui::Key::K);
    let heights = |window: &Window| -> Vec<f32> {
        let rows = window.state().state().rows.all().iter();
        rows.map(|row| row.height).collect()
    };
    let before = heights(&window);
    // Where calls are deepest, they can be read.
    let trace = window.state().loaded().unwrap().trace.clone();
    let rows = trace.slices.rows.iter().map(|row| row.slices.clone());
    let longest = rows.max_by_key(|row| row.len()).unwrap();
    let slice = trace.slices.get(threadline::trace::SliceId(longest.start));
    let end = slice.end.unwrap_or(trace.span.end);
    act(
        &mut window,
        Action::Show(threadline::base::TimeSpan::new(slice.start, end)),
    );
    window.run_steps(6);
    assert_eq!(heights(&window), before);
    key(&mut window, egui::Modifiers::NONE, egui::Key::K);
    window.run_steps(6);
    assert_ne!(heights(&window), before);
}

#[test]
fn a_build_shows_what_ran_when_and_folds_the_rest() {
    let window = first_page("sample-traces/lua-make-j2.etrace.zst");
    let rows = window.state().state().rows.all();
    assert_eq!(rows[0].key, RowKey::Jobs);
    assert!(
        rows[0].lanes.len() <= 4,
        "make -j2: {} lanes",
        rows[0].lanes.len()
    );
    let is_open = |title: &str| rows.iter().any(|row| &*row.title == title);
    assert!(!is_open("open files"));
    let cpus = rows.iter().find(|row| row.key == RowKey::Cpus);
    assert!(cpus.is_none_or(|row| row.fold == Fold::Closed));
}
