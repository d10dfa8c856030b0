//! The window without a screen: each pane opens, is named for screen readers and answers; keys, pointer and
//! drops do what the list of keys says. Pictures are drawn by the program's own rasteriser, so they are the
//! same on every machine; `UPDATE_SNAPSHOTS=1` writes those that changed.

use std::path::Path;

use crate::support::*;
use egui_kittest::kittest::Queryable;
use threadline::base::Job;
use threadline::gui::panes::PANES;
use threadline::load;
use threadline::view::{Action, PaneKind, ThemeChoice};

#[test]
fn every_pane_opens_by_its_name() {
    let mut window = window_at_first(&hackbench());
    for row in PANES {
        // Those that have no tab yet are in the menu of their tabs.
        let open = window.state().state().dock.panes();
        if !open.contains(&row.kind) {
            let menus = window.get_all_by_label_contains("Open a pane beside");
            menus.last().unwrap().click();
            window.run_steps(2);
        }
        window
            .get_by_role_and_label(egui::Role::Button, row.kind.title())
            .click();
        settle(&mut window);
        let open = window.state().state().dock.panes();
        assert!(open.contains(&row.kind), "{:?} of {open:?}", row.kind);
        let role = egui::accesskit::Role::TabPanel;
        window.get_by_role_and_label(role, row.kind.title());
    }
    act(&mut window, Action::OpenPane(PaneKind::Info));
    assert!(
        window
            .query_all_by_label_contains("trace.dat 7")
            .next()
            .is_some()
    );
}

#[test]
fn every_pane_looks_as_it_did_in_both_themes() {
    let mut window = window(&hackbench());
    for (theme, word) in [(ThemeChoice::Dark, "dark"), (ThemeChoice::Light, "light")] {
        act(&mut window, Action::SetTheme(theme));
        // What the Record pane shows depends on the machine: `record_pane` has its picture.
        for row in PANES.iter().filter(|row| row.kind != PaneKind::Record) {
            act(&mut window, Action::OpenPane(row.kind));
            let name = row.kind.title().to_lowercase().replace(' ', "-");
            window.snapshot(format!("pane-{name}-{word}"));
        }
    }
}

#[test]
fn the_welcome_screen_offers_the_samples_and_opens_one() {
    let mut window = empty_window();
    settle(&mut window);
    window.get_by_label("kprobe-hackbench.dat").click();
    window.run_steps(2);
    settle(&mut window);
    let loaded = window.state().loaded().unwrap();
    assert!(loaded.is_complete && loaded.trace.events.len() == 441);
}

#[test]
fn a_filter_that_fits_nothing_says_so() {
    let mut window = window(&hackbench());
    act(&mut window, Action::Filter("nobody".to_owned()));
    assert!(window.state().state().rows.all().is_empty());
    window.snapshot("no-track");
    act(&mut window, Action::Filter(String::new()));
    assert!(!window.state().state().rows.all().is_empty());
}

#[test]
fn keys_zoom_pan_and_go_back() {
    let mut window = window(&hackbench());
    let whole = visible(&window);
    key(&mut window, egui::Modifiers::NONE, egui::Key::W);
    let zoomed = window.state().state().span;
    assert!(zoomed.duration().0 < whole);
    key(&mut window, egui::Modifiers::NONE, egui::Key::D);
    assert!(window.state().state().span.start > zoomed.start);
    key(&mut window, egui::Modifiers::NONE, egui::Key::S);
    assert!(visible(&window) > zoomed.duration().0);
    key(&mut window, egui::Modifiers::NONE, egui::Key::Num0);
    assert_eq!(visible(&window), whole);
    key(&mut window, egui::Modifiers::ALT, egui::Key::ArrowLeft);
    assert!(visible(&window) < whole);
}

#[test]
fn the_list_of_keys_opens_and_closes() {
    let mut window = window(&hackbench());
    act(&mut window, Action::ToggleHelp);
    assert!(window.query_by_label("Zoom in at the pointer").is_some());
    window.snapshot("help");
    key(&mut window, egui::Modifiers::NONE, egui::Key::Escape);
    window.run_steps(3);
    assert!(window.query_by_label("Zoom in at the pointer").is_none());
}

#[test]
fn ctrl_and_wheel_zoom_at_the_pointer() {
    let mut window = window(&hackbench());
    let canvas = window.get_by_label("Timeline").rect();
    let whole = visible(&window);
    let at = canvas.center();
    window.hover_at(at);
    window.run_steps(2);
    let before = window.state().state().hover.unwrap();
    let wheel = egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Line,
        delta: egui::vec2(0.0, 3.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: egui::Modifiers::COMMAND,
    };
    window.event_modifiers(wheel, egui::Modifiers::COMMAND);
    window.run_steps(8);
    assert!(visible(&window) < whole);
    window.hover_at(at);
    window.run_steps(2);
    let after = window.state().state().hover.unwrap();
    assert!((after - before).0.abs() < whole / 500, "{before} {after}");
}

#[test]
fn a_drag_selects_a_range_and_focus_shows_it() {
    let mut window = window(&hackbench());
    let canvas = window.get_by_label("Timeline").rect();
    // Below the last track, where nothing lies.
    let from = egui::pos2(canvas.left() + 100.0, canvas.top() + 40.0);
    let until = from + egui::vec2(200.0, 0.0);
    window.hover_at(from);
    window.drag_at(from);
    window.run_steps(2);
    window.hover_at(from + egui::vec2(50.0, 0.0));
    window.run_steps(2);
    window.hover_at(until);
    window.run_steps(2);
    window.drop_at(until);
    window.run_steps(3);
    let range = window.state().state().range.unwrap();
    let share = range.duration().0 as f32 / visible(&window) as f32;
    assert!((share - 200.0 / canvas.width()).abs() < 0.02, "{share}");
    key(&mut window, egui::Modifiers::NONE, egui::Key::F);
    assert!(visible(&window) < range.duration().0 * 13 / 10);
    window.snapshot("range");
}

#[test]
fn a_click_on_a_slice_selects_it_and_the_details_tell() {
    let mut window = window(&hackbench());
    window
        .get_all_by_label_contains("hackbench, ")
        .next_back()
        .unwrap()
        .click();
    window.run_steps(2);
    settle(&mut window);
    assert!(window.state().state().selected.is_some());
    act(&mut window, Action::OpenPane(PaneKind::Details));
    window.snapshot("selected");
    key(&mut window, egui::Modifiers::NONE, egui::Key::Escape);
    assert!(window.state().state().selected.is_none());
}

#[test]
fn the_filter_leaves_only_tracks_of_that_name() {
    let mut window = window(&hackbench());
    let all = window.state().state().rows.all().len();
    key(&mut window, egui::Modifiers::COMMAND, egui::Key::T);
    window
        .get_by_role_and_label(egui::Role::TextInput, "Filter tracks")
        .type_text("kworker");
    window.run_steps(4);
    let rows = window.state().state().rows.all();
    assert!(!rows.is_empty() && rows.len() < all);
    assert!(rows.iter().any(|row| row.title.starts_with("kworker")));
    assert!(rows.iter().all(|row| !row.title.starts_with("hackbench")));
}

#[test]
fn a_file_is_opened_by_dropping_it_with_a_target_shown_before() {
    let mut window = empty_window();
    window.input_mut().hovered_files.push(egui::HoveredFile {
        path: Some(hackbench()),
        ..Default::default()
    });
    window.step();
    window.snapshot("drop-target");
    window.input_mut().hovered_files.clear();
    drop_on(&mut window, hackbench());
    assert_eq!(window.state().loaded().unwrap().trace.events.len(), 441);
}

#[test]
fn a_file_that_cannot_be_read_says_why_and_the_trace_before_stays() {
    let mut window = window(&hackbench());
    drop_on(&mut window, file("Cargo.toml"));
    let notice = window.state().notice().unwrap().to_owned();
    assert!(notice.contains("Cargo.toml"), "{notice}");
    assert!(window.query_by_label(&notice).is_some());
    assert_eq!(window.state().loaded().unwrap().trace.events.len(), 441);
    drop_on(&mut window, file("no such file"));
    assert!(window.state().notice().unwrap().contains("no such file"));
    window.get_by_label("Dismiss").click();
    window.run_steps(3);
    assert!(window.state().notice().is_none());
}

#[test]
fn every_golden_trace_is_shown() {
    for folder in ["tests/golden/tracedat", "tests/golden/fxt", "sample-traces"] {
        for entry in std::fs::read_dir(file(folder)).unwrap() {
            let path = entry.unwrap().path();
            let is_trace = path
                .extension()
                .is_some_and(|ending| ending == "dat" || ending == "fxt");
            if !is_trace || load::open(&path, &Job::default()).is_err() {
                continue;
            }
            let mut window = window(&path);
            for row in PANES {
                act(&mut window, Action::OpenPane(row.kind));
            }
            key(&mut window, egui::Modifiers::NONE, egui::Key::W);
            key(&mut window, egui::Modifiers::NONE, egui::Key::Num0);
        }
    }
}

/// Drags a range over the empty space below the tracks; from and until in points of the canvas.
fn drag_range(window: &mut Window, from: f32, until: f32) {
    let canvas = window.get_by_label("Timeline").rect();
    let at = |x: f32| egui::pos2(canvas.left() + x, canvas.top() + 40.0);
    window.hover_at(at(from));
    window.drag_at(at(from));
    window.run_steps(2);
    window.hover_at(at(from.midpoint(until)));
    window.run_steps(2);
    window.hover_at(at(until));
    window.run_steps(2);
    window.drop_at(at(until));
    window.run_steps(3);
}

/// Opens the export panel by its keys and writes `path` into it.
fn open_export_panel(window: &mut Window, path: &Path) {
    key(window, egui::Modifiers::COMMAND, egui::Key::E);
    let field = window.get_by_role_and_label(egui::Role::TextInput, "File to write");
    field.focus();
    window.run_steps(2);
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::A);
    window.run_steps(1);
    window
        .get_by_role_and_label(egui::Role::TextInput, "File to write")
        .type_text(path.to_str().unwrap());
    window.run_steps(3);
}

/// What the timeline shows of slices and runs: name, start and end of each, with its row's title, cut to the span.
fn picture(window: &Window, span: threadline::base::TimeSpan) -> Vec<(String, String, i64, i64)> {
    let loaded = window.state().loaded().unwrap();
    let trace = &loaded.trace;
    let cut = |start: i64, end: i64| (start.max(span.start.0), end.min(span.end.0));
    let mut drawn = Vec::new();
    for index in 0..trace.slices.len() as u32 {
        let id = threadline::trace::SliceId(index);
        let slice = trace.slices.get(id);
        let end = slice.end.map_or(i64::MAX, |end| end.0);
        if slice.start < span.end && end > span.start.0 {
            let (start, end) = cut(slice.start.0, end);
            let thread = trace
                .thread_name(trace.events.thread(slice.begin))
                .into_owned();
            let name = trace.text(trace.slices.label(id).name).into_owned();
            drawn.push((thread, name, start, end));
        }
    }
    let runs = &trace.runs;
    for index in 0..runs.len() {
        if runs.starts[index] < span.end.0 && runs.ends[index] > span.start.0 {
            let (start, end) = cut(runs.starts[index], runs.ends[index].or_greatest());
            let thread = trace
                .thread_name(threadline::trace::ThreadId(runs.threads[index]))
                .into_owned();
            drawn.push((thread, "runs".to_owned(), start, end));
        }
    }
    drawn.sort();
    drawn
}

#[test]
fn a_dragged_range_is_exported_and_opened_again_and_looks_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.fxt");
    let mut window = window(&hackbench());
    drag_range(&mut window, 100.0, 400.0);
    let range = window.state().state().range.unwrap();
    let expected = picture(&window, range);
    assert!(expected.len() > 10, "{}", expected.len());
    open_export_panel(&mut window, &path);
    // The drag was on a track.
    window
        .get_by_role_and_label(egui::Role::RadioButton, "All")
        .click();
    window.run_steps(2);
    window
        .get_by_role_and_label(egui::Role::Button, "Export")
        .click();
    window.run_steps(2);
    settle(&mut window);
    assert!(
        window
            .query_all_by_label_contains("Wrote ")
            .next()
            .is_some()
    );
    assert!(
        window
            .query_all_by_label_contains(" slices")
            .next()
            .is_some()
    );
    window.get_by_label("Open it").click();
    window.run_steps(2);
    settle(&mut window);
    let loaded = window.state().loaded().unwrap();
    assert!(loaded.trace.info.format.contains("FXT") && loaded.path == path);
    assert!(!window.state().state().is_export_open);
    assert_eq!(picture(&window, range), expected);
}

#[test]
fn an_exported_fxt_file_is_drawn_pixel_for_pixel() {
    let folder = tempfile::tempdir().unwrap();
    let source = file("tests/golden/fxt/simple_trace.fxt");
    let path = folder.path().join(source.file_name().unwrap());
    let mut before = window(&source);
    act(&mut before, Action::ToggleDock);
    open_export_panel(&mut before, &path);
    before
        .get_by_role_and_label(egui::Role::Button, "Export")
        .click();
    before.run_steps(2);
    settle(&mut before);
    act(&mut before, Action::ToggleExport);
    let mut after = window(&path);
    act(&mut after, Action::ToggleDock);
    before.event(egui::Event::PointerGone);
    act(&mut before, Action::Hover(None));
    let canvas = before.get_by_label("Timeline").rect();
    let crop = |window: &mut Window| {
        let picture = window.render().unwrap();
        image::imageops::crop_imm(
            &picture,
            0,
            canvas.top() as u32,
            canvas.right() as u32,
            canvas.height() as u32,
        )
        .to_image()
    };
    let (before, after) = (crop(&mut before), crop(&mut after));
    assert!(before == after, "the pictures differ");
}

#[test]
fn a_file_that_is_there_is_replaced_only_if_the_user_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.fxt");
    std::fs::write(&path, "old").unwrap();
    let mut window = window(&hackbench());
    open_export_panel(&mut window, &path);
    window
        .get_by_role_and_label(egui::Role::Button, "Export")
        .click();
    window.run_steps(2);
    settle(&mut window);
    assert!(
        window
            .query_all_by_label_contains("exists already")
            .next()
            .is_some()
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    window.get_by_label("Replace it").click();
    window.run_steps(2);
    settle(&mut window);
    assert!(
        window
            .query_all_by_label_contains("Wrote ")
            .next()
            .is_some()
    );
    assert!(std::fs::read(&path).unwrap().len() > 1000);
    window.get_by_label("Close").click();
    window.run_steps(3);
    assert!(!window.state().state().is_export_open);
}

#[test]
fn the_export_panel_tells_what_is_missing_and_what_goes_wrong() {
    let mut window = window(&hackbench());
    open_export_panel(&mut window, Path::new("/no such folder/a.fxt"));
    window.snapshot("export-panel");
    window
        .get_by_role_and_label(egui::Role::Button, "Export")
        .click();
    window.run_steps(2);
    settle(&mut window);
    assert!(
        window
            .query_all_by_label_contains("could not be written")
            .next()
            .is_some()
    );
    window.get_by_label("From a list").click();
    window.run_steps(3);
    assert!(
        window
            .query_by_label("Nothing is checked in the list.")
            .is_some()
    );
    window.get_by_label("Check these").click();
    window.run_steps(3);
    assert!(
        window
            .query_all_by_label_contains("checked")
            .next()
            .is_some()
    );
    assert!(
        window
            .query_by_label("Nothing is checked in the list.")
            .is_none()
    );
    window.snapshot("export-panel-list");
}
