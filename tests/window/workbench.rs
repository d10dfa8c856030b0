//! What an engineer does all day, through keys, pointer and menus: moving, tracks, marks, searching.

use crate::support::*;
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable;
use threadline::base::{Nanos, TimeSpan};
use threadline::view::{
    Action, Arrange, Effect, GroupBy, Marker, Motion, PaneKind, RowKey, Settings, SortBy,
    ThemeChoice, Wheel,
};

fn titles(window: &Window) -> Vec<String> {
    let rows = window.state().state().rows.all();
    rows.iter().map(|row| row.title.to_string()).collect()
}

fn key_of(window: &Window, title: &str) -> RowKey {
    let rows = window.state().state().rows.all();
    rows.iter().find(|row| &*row.title == title).unwrap().key
}

fn type_text(window: &mut Window, name: &str, text: &str) {
    let field = window.get_by_role_and_label(Role::TextInput, name);
    field.click();
    window.run_steps(2);
    let field = window.get_by_role_and_label(Role::TextInput, name);
    field.type_text(text);
    window.run_steps(3);
}

fn drag(window: &mut Window, from: egui::Pos2, until: egui::Pos2) {
    window.hover_at(from);
    window.drag_at(from);
    window.run_steps(2);
    window.hover_at(from + (until - from) * 0.5);
    window.run_steps(2);
    window.hover_at(until);
    window.run_steps(2);
    window.drop_at(until);
    window.run_steps(3);
}

#[test]
fn ctrl_g_goes_to_a_time_and_says_why_it_cannot() {
    let mut window = window(&hackbench());
    let start = window.state().state().trace_span.start;
    key(&mut window, Modifiers::COMMAND, Key::G);
    type_text(&mut window, "Go to a time", "soon");
    assert!(
        window
            .query_all_by_label_contains("expected a time")
            .next()
            .is_some()
    );
    key(&mut window, Modifiers::NONE, Key::Escape);
    key(&mut window, Modifiers::COMMAND, Key::G);
    type_text(&mut window, "Go to a time", "100us .. 200us");
    key(&mut window, Modifiers::NONE, Key::Enter);
    let span = TimeSpan::new(start + Nanos(100_000), start + Nanos(200_000));
    assert_eq!(window.state().state().span, span);
    assert!(window.state().state().finder.is_none());
}

#[test]
fn a_time_that_was_gone_to_is_shown_and_one_outside_is_refused() {
    let mut window = window(&hackbench());
    act(&mut window, Action::ToggleDock);
    let start = window.state().state().trace_span.start;
    let whole = window.state().state().span;
    key(&mut window, Modifiers::COMMAND, Key::G);
    type_text(&mut window, "Go to a time", "900s");
    assert!(
        window
            .query_all_by_label_contains("outside the trace")
            .next()
            .is_some()
    );
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(window.state().state().span, whole);
    key(&mut window, Modifiers::NONE, Key::Escape);
    // Seen whole nothing moves: a line says where it is.
    key(&mut window, Modifiers::COMMAND, Key::G);
    type_text(&mut window, "Go to a time", "50ms");
    key(&mut window, Modifiers::NONE, Key::Enter);
    let at = start + Nanos(50_000_000);
    assert_eq!(window.state().state().aim, Some(at));
    assert!(window.state().state().finder.is_none());
    // Zooming by key goes there, and the line stays.
    window.event(egui::Event::PointerGone);
    window.run_steps(3);
    key(&mut window, Modifiers::NONE, Key::Plus);
    let state = window.state().state();
    assert!(state.span.duration() < whole.duration() && state.span.contains(at));
    assert_eq!(state.aim, Some(at));
    key(&mut window, Modifiers::NONE, Key::Escape);
    assert_eq!(window.state().state().aim, None);
}

#[test]
fn a_key_that_changes_the_arrows_says_which_are_drawn() {
    let mut window = window(&hackbench());
    for words in [
        "of the selection and under the pointer",
        "all in view",
        "none",
        "of the selection",
    ] {
        key(&mut window, Modifiers::NONE, Key::L);
        let told = format!("Arrows of flows: {words}");
        assert!(window.query_by_label(&told).is_some(), "{told}");
    }
}

#[test]
fn shift_and_enter_go_back_though_shift_is_up_within_the_frame() {
    let mut window = window(&hackbench());
    key(&mut window, Modifiers::NONE, Key::Slash);
    type_text(&mut window, "Search", "read");
    settle(&mut window);
    for _ in 0..2 {
        key(&mut window, Modifiers::NONE, Key::Enter);
    }
    let second = window.state().state().selected;
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_ne!(window.state().state().selected, second);
    // The key went down with Shift, the frame ends without it.
    window.event(egui::Event::Key {
        key: Key::Enter,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::SHIFT,
    });
    window.run_steps(3);
    assert_eq!(window.state().state().selected, second);
}

#[test]
fn a_search_that_is_opened_again_is_typed_over() {
    let mut window = window(&hackbench());
    act(&mut window, Action::Search("read".to_owned()));
    key(&mut window, Modifiers::NONE, Key::Slash);
    window.event(egui::Event::Text("sched".to_owned()));
    window.run_steps(3);
    assert_eq!(window.state().state().search.text, "sched");
}

#[test]
fn places_are_kept_and_found_again() {
    let mut window = window(&hackbench());
    key(&mut window, Modifiers::NONE, Key::W);
    let kept = window.state().state().span;
    key(
        &mut window,
        Modifiers::COMMAND | Modifiers::SHIFT,
        Key::Num3,
    );
    key(&mut window, Modifiers::NONE, Key::Num0);
    assert_ne!(window.state().state().span, kept);
    key(&mut window, Modifiers::COMMAND, Key::Num3);
    assert_eq!(window.state().state().span, kept);
    key(&mut window, Modifiers::COMMAND, Key::Num4);
    assert_eq!(window.state().state().span, kept, "place 4 is empty");
}

#[test]
fn a_glide_can_be_turned_and_switched_off() {
    let mut window = window(&hackbench());
    let settings = Settings {
        motion: Motion::Jump,
        ..window.state().state().settings
    };
    act(&mut window, Action::Configure(settings));
    key(&mut window, Modifiers::NONE, Key::W);
    assert!(visible(&window) > 0);
}

#[test]
fn the_wheel_zooms_where_the_user_wants_it_to() {
    let mut window = window(&hackbench());
    let canvas = window.get_by_label("Timeline").rect();
    let whole = visible(&window);
    window.hover_at(canvas.center());
    window.run_steps(2);
    let wheel = |y: f32| egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Line,
        delta: egui::vec2(0.0, y),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: Modifiers::NONE,
    };
    window.event(wheel(-3.0));
    window.run_steps(8);
    assert_eq!(visible(&window), whole);
    let scroll = window.state().state().scroll;
    let settings = Settings {
        wheel: Wheel::Zooms,
        ..window.state().state().settings
    };
    act(&mut window, Action::Configure(settings));
    window.event(wheel(3.0));
    window.run_steps(8);
    assert!(visible(&window) < whole);
    assert_eq!(window.state().state().scroll, scroll);
}

#[test]
fn a_drag_selects_the_tracks_it_crosses_and_the_ruler_all() {
    let mut window = window(&hackbench());
    let canvas = window.get_by_label("Timeline").rect();
    let rows = window.state().state().rows.all();
    let (first, last) = (rows[1].clone(), rows[2].clone());
    let from = egui::pos2(canvas.left() + 100.0, canvas.top() + first.top + 4.0);
    let until = egui::pos2(canvas.left() + 300.0, canvas.top() + last.top + 4.0);
    drag(&mut window, from, until);
    let keys = window.state().state().area_rows.clone().unwrap();
    assert_eq!(keys, [first.key, last.key]);
    assert!(window.state().state().range.is_some());
    assert!(!window.state().state().area_lanes().unwrap().is_empty());
    let ruler = window.get_by_label("Ruler").rect();
    let at = |x: f32| egui::pos2(ruler.left() + x, ruler.center().y);
    drag(&mut window, at(150.0), at(250.0));
    assert!(window.state().state().area_rows.is_none());
    let range = window.state().state().range.unwrap();
    drag(&mut window, at(250.0), at(400.0));
    let longer = window.state().state().range.unwrap();
    assert_eq!(longer.start, range.start, "its end was taken hold of");
    assert!(longer.end > range.end);
}

#[test]
fn a_track_is_selected_for_all_time_and_then_all_are() {
    let mut window = window(&hackbench());
    act(&mut window, Action::Deselect);
    let canvas = window.get_by_label("Timeline").rect();
    window.hover_at(canvas.left_top() + egui::vec2(50.0, 35.0));
    window.run_steps(2);
    key(&mut window, Modifiers::COMMAND, Key::A);
    let state = window.state().state();
    assert_eq!(state.area_rows.as_ref().map(Vec::len), Some(1));
    assert!(state.range.is_none());
    key(&mut window, Modifiers::COMMAND, Key::A);
    let state = window.state().state();
    assert_eq!(state.range, Some(state.trace_span));
    assert!(state.area_rows.is_none());
}

#[test]
fn edges_snap_to_slices_unless_alt_is_held() {
    let mut window = window(&hackbench());
    let label = window
        .get_all_by_label_contains("hackbench, ")
        .next_back()
        .unwrap()
        .rect();
    let near = egui::pos2(label.right() - 2.0, label.center().y);
    window.hover_at(near);
    window.run_steps(3);
    let edge = window.state().state().edge.expect("an edge is near");
    key(&mut window, Modifiers::SHIFT, Key::A);
    assert_eq!(window.state().state().marks[0], Some(edge));
    assert_ne!(window.state().state().hover, Some(edge));
}

#[test]
fn tracks_are_found_by_letters() {
    let mut window = window(&hackbench());
    key(&mut window, Modifiers::COMMAND, Key::P);
    type_text(&mut window, "Find a track", "cpu 3");
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert!(window.state().state().finder.is_none());
    key(&mut window, Modifiers::COMMAND, Key::P);
    type_text(&mut window, "Find a track", "no such track");
    assert!(window.query_by_label("No name matches.").is_some());
}

#[test]
fn the_palette_offers_every_command() {
    let mut window = window(&hackbench());
    key(&mut window, Modifiers::COMMAND | Modifiers::SHIFT, Key::P);
    type_text(&mut window, "Find a command", "light theme");
    window.snapshot("palette");
    key(&mut window, Modifiers::NONE, Key::Enter);
    let theme = window.state().state().theme;
    assert_eq!(theme, threadline::view::ThemeChoice::Light);
}

#[test]
fn tracks_are_pinned_hidden_renamed_and_undone() {
    let mut window = window(&hackbench());
    let all = titles(&window);
    let key_of_first = key_of(&window, "CPU 0");
    act(&mut window, Action::Arrange(Arrange::Pin(key_of_first)));
    assert_eq!(&*window.state().state().rows.pinned()[0].title, "CPU 0");
    window.snapshot("pinned");
    act(
        &mut window,
        Action::Arrange(Arrange::Rename(key_of_first, "The first".into())),
    );
    assert!(window.get_all_by_label("The first").count() >= 2);
    act(&mut window, Action::Arrange(Arrange::Hide(key_of_first)));
    assert!(!titles(&window).contains(&"The first".to_owned()));
    key(&mut window, Modifiers::SHIFT, Key::H);
    assert!(titles(&window).contains(&"The first".to_owned()));
    act(&mut window, Action::Arrange(Arrange::Reset));
    assert_eq!(titles(&window), all);
}

#[test]
fn a_header_is_dragged_to_another_place_and_has_a_menu() {
    let mut window = window(&hackbench());
    let (first, second) = (
        window.get_by_label("CPU 0").rect(),
        window.get_by_label("CPU 1").rect(),
    );
    drag(
        &mut window,
        second.center(),
        first.center_top() + egui::vec2(0.0, 3.0),
    );
    let shown = titles(&window);
    let at = |name: &str| shown.iter().position(|it| it == name).unwrap();
    assert!(at("CPU 1") < at("CPU 0"), "{shown:?}");
    window.get_by_label("CPU 0").click_secondary();
    window.run_steps(3);
    window.get_by_label("Pin to the top").click();
    window.run_steps(3);
    assert_eq!(window.state().state().rows.pinned().len(), 1);
}

#[test]
fn threads_are_gathered_and_sorted_otherwise() {
    let mut window = window(&hackbench());
    act(
        &mut window,
        Action::Arrange(Arrange::GroupBy(GroupBy::Name)),
    );
    assert!(titles(&window).iter().any(|title| title == "hackbench"));
    act(
        &mut window,
        Action::Arrange(Arrange::GroupBy(GroupBy::Nothing)),
    );
    act(&mut window, Action::Arrange(Arrange::SortBy(SortBy::Name)));
    let names: Vec<String> = titles(&window)
        .into_iter()
        .filter(|title| !title.starts_with("CPU"))
        .collect();
    let mut sorted = names.clone();
    sorted.sort_by_key(|name| name.to_lowercase());
    assert_eq!(names, sorted);
}

#[test]
fn only_active_tracks_are_shown_and_follow_the_view() {
    let mut window = window(&hackbench());
    let all = titles(&window).len();
    key(&mut window, Modifiers::NONE, Key::V);
    let start = window.state().state().trace_span.start;
    act(
        &mut window,
        Action::Show(TimeSpan::new(start, start + Nanos(2_000))),
    );
    window.run_steps(3);
    assert!(titles(&window).len() < all);
    key(&mut window, Modifiers::NONE, Key::V);
    assert_eq!(titles(&window).len(), all);
}

#[test]
fn a_layout_is_kept_by_name_and_used_on_another_trace() {
    let mut window = window(&hackbench());
    let cpu = key_of(&window, "CPU 1");
    act(&mut window, Action::Arrange(Arrange::Pin(cpu)));
    act(&mut window, Action::Arrange(Arrange::Save("mine".into())));
    act(
        &mut window,
        Action::Do(Effect::Open(vec![file("sample-traces/sched-irq.ftrace")])),
    );
    assert!(window.state().state().rows.pinned().is_empty());
    act(&mut window, Action::Arrange(Arrange::Use("mine".into())));
    assert_eq!(&*window.state().state().rows.pinned()[0].title, "CPU 1");
    act(&mut window, Action::Arrange(Arrange::Reset));
    assert!(window.state().state().rows.pinned().is_empty());
    act(&mut window, Action::Arrange(Arrange::Use("mine".into())));
    assert_eq!(&*window.state().state().rows.pinned()[0].title, "CPU 1");
}

#[test]
fn settings_are_chosen_in_their_window() {
    let mut window = window(&hackbench());
    key(&mut window, Modifiers::COMMAND, Key::Comma);
    window.snapshot("settings");
    window.get_by_label("Be there at once").click();
    window.run_steps(3);
    assert_eq!(window.state().state().settings.motion, Motion::Jump);
    key(&mut window, Modifiers::NONE, Key::Escape);
    window.run_steps(3);
    assert!(!window.state().state().is_settings_open);
    key(&mut window, Modifiers::COMMAND, Key::Plus);
    assert_eq!(window.state().state().settings.ui_percent, 110);
}

#[test]
fn stepping_goes_by_name_and_level() {
    let mut window = window(&hackbench());
    window
        .get_all_by_label_contains("hackbench, ")
        .next_back()
        .unwrap()
        .click();
    window.run_steps(3);
    let first = window.state().state().selected;
    key(&mut window, Modifiers::NONE, Key::N);
    let second = window.state().state().selected;
    key(&mut window, Modifiers::SHIFT, Key::N);
    if second != first {
        assert_eq!(window.state().state().selected, first);
    }
}

#[test]
fn a_search_counts_marks_steps_and_isolates() {
    let mut window = window(&hackbench());
    key(&mut window, Modifiers::NONE, Key::Slash);
    type_text(&mut window, "Search", "read");
    settle(&mut window);
    assert!(
        window
            .query_all_by_label_contains("matches")
            .next()
            .is_some()
    );
    key(&mut window, Modifiers::NONE, Key::Enter);
    settle(&mut window);
    let first = window.state().state().selected.expect("the first match");
    window.snapshot("search");
    key(&mut window, Modifiers::NONE, Key::Enter);
    settle(&mut window);
    assert_ne!(window.state().state().selected, Some(first));
    key(&mut window, Modifiers::SHIFT, Key::Enter);
    settle(&mut window);
    assert_eq!(window.state().state().selected, Some(first));
    window.get_by_label("Isolate").click();
    settle(&mut window);
    window.get_by_label("List").click();
    settle(&mut window);
    window.snapshot("isolated");
}

#[test]
fn a_wrong_expression_is_told_where_it_is_wrong() {
    let mut window = window(&hackbench());
    key(&mut window, Modifiers::COMMAND, Key::F);
    type_text(&mut window, "Search", "dur > 1ms && (name ~ ");
    settle(&mut window);
    assert!(
        window
            .query_all_by_label_contains("Column")
            .next()
            .is_some()
    );
    window.snapshot("search-error");
    window.get_by_label("Close").click();
    settle(&mut window);
    assert!(!window.state().state().search.is_open);
}

#[test]
fn a_right_click_offers_what_can_be_done_there() {
    let mut window = window(&hackbench());
    let label = window
        .get_all_by_label_contains("hackbench, ")
        .next_back()
        .unwrap()
        .rect();
    right_click(&mut window, label.center());
    window.run_steps(4);
    window.get_by_label("Pin a note of it").click();
    window.run_steps(4);
    assert_eq!(window.state().state().tips.len(), 1);
    window.snapshot("pinned-note");
}

#[test]
fn the_way_in_is_shown_and_leads_back() {
    let mut window = window(&hackbench());
    let whole = window.state().state().span;
    let start = window.state().state().trace_span.start;
    act(
        &mut window,
        Action::Show(TimeSpan::new(start, start + Nanos(20_000_000))),
    );
    act(
        &mut window,
        Action::Show(TimeSpan::new(start, start + Nanos(1_000_000))),
    );
    assert_eq!(window.state().state().way_in(5).len(), 2);
    window.get_by_label("Whole").click();
    window.run_steps(4);
    assert_eq!(window.state().state().span, whole);
}

#[test]
fn flags_are_put_noted_stepped_to_and_taken_away() {
    let mut window = window(&hackbench());
    let canvas = window.get_by_label("Timeline").rect();
    for x in [0.2, 0.6] {
        window.hover_at(canvas.lerp_inside(egui::vec2(x, 0.9)));
        window.run_steps(2);
        key(&mut window, Modifiers::SHIFT, Key::M);
        // What is typed next is its note, not commands; Esc leaves it empty.
        window.event(egui::Event::Text("w".to_owned()));
        window.run_steps(2);
        let end = if x < 0.5 { Key::Escape } else { Key::Enter };
        key(&mut window, Modifiers::NONE, end);
        assert!(window.state().state().noting.is_none());
    }
    let notes = window
        .state()
        .state()
        .flags
        .iter()
        .map(|flag| flag.note.clone());
    assert_eq!(notes.collect::<Vec<_>>(), ["", "w"]);
    act(
        &mut window,
        Action::Flag(threadline::view::Flagging::Note(1, String::new())),
    );
    act(&mut window, Action::OpenPane(PaneKind::Marks));
    type_text(&mut window, "Note of flag 1", "the stall begins");
    assert_eq!(window.state().state().flags[0].note, "the stall begins");
    let whole = window.state().state().trace_span;
    act(&mut window, Action::MarkBoth(whole));
    window.snapshot("marks");
    act(&mut window, Action::Show(whole));
    key(&mut window, Modifiers::NONE, Key::W);
    key(&mut window, Modifiers::ALT, Key::Comma);
    let state = window.state().state();
    assert!(state.span.contains(state.flags[0].time) || state.span.contains(state.flags[1].time));
    act(
        &mut window,
        Action::Flag(threadline::view::Flagging::Remove(0)),
    );
    assert_eq!(window.state().state().flags.len(), 1);
}

#[test]
fn arrows_are_drawn_for_the_selection_and_for_all() {
    let path = file("sample-traces/lua-make-j2.etrace.zst");
    let mut window = window(&path);
    let trace = window.state().loaded().unwrap().trace.clone();
    let both =
        |flow: &&threadline::trace::Flow| flow.from.slice.is_some() && flow.to.slice.is_some();
    let flow = *trace
        .flows
        .rows
        .iter()
        .find(both)
        .expect("a flow between slices");
    act(
        &mut window,
        Action::Reveal(threadline::query::Item::Slice(flow.from.slice.unwrap())),
    );
    act(&mut window, Action::Fit);
    window.snapshot("flow-selected");
    key(&mut window, Modifiers::NONE, Key::L);
    key(&mut window, Modifiers::NONE, Key::L);
    let flows = window.state().state().settings.flows;
    assert_eq!(flows, threadline::view::FlowsShown::AllInView);
    key(&mut window, Modifiers::NONE, Key::CloseBracket);
    let selected = window.state().state().selected;
    assert_eq!(selected, flow.to.slice.map(threadline::query::Item::Slice));
}

#[test]
fn a_selected_run_shows_who_woke_it() {
    let mut window = window(&file("sample-traces/sched-irq.ftrace"));
    let trace = window.state().loaded().unwrap().trace.clone();
    let run = (0..trace.runs.len() as u32)
        .map(threadline::trace::RunId)
        .find(|id| {
            let wait = threadline::query::family::wait_before(&trace, *id);
            wait.is_some_and(|wait| wait.waker.is_some() && wait.end.is_some())
        })
        .unwrap();
    act(
        &mut window,
        Action::Reveal(threadline::query::Item::Run(run)),
    );
    window.snapshot("woken");
    key(&mut window, Modifiers::NONE, Key::OpenBracket);
    assert_ne!(
        window.state().state().selected,
        Some(threadline::query::Item::Run(run))
    );
}

#[test]
fn every_choice_of_colours_gives_a_picture() {
    let mut window = window(&hackbench());
    for _ in 0..5 {
        key(&mut window, Modifiers::NONE, Key::C);
    }
    let settings = window.state().state().settings;
    assert_eq!(settings.color_by, threadline::view::ColorBy::Kind);
}

/// A recording of 64 CPUs that switch between 1,000 threads.
fn crowd(folder: &std::path::Path) -> std::path::PathBuf {
    use std::fmt::Write;
    let mut text = String::from("# tracer: nop\n");
    let name = |thread: u32| format!("worker{thread}");
    for step in 0..40_u32 {
        for cpu in 0..64_u32 {
            let at = (step * 64 + cpu) % 1_000;
            let (old, new) = (1_000 + at, 1_000 + (at + 64) % 1_000);
            let micros = step * 1_000 + cpu * 3;
            writeln!(
                text,
                " {}-{old}   [{cpu:03}] d..2   100.{micros:06}: sched_switch: prev_comm={} prev_pid={old} prev_prio=120 prev_state=S ==> next_comm={} next_pid={new} next_prio=120",
                name(old), name(old), name(new)
            )
            .unwrap();
        }
    }
    let path = folder.join("crowd.ftrace");
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn of_a_thousand_threads_and_64_cpus_only_those_in_view_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let mut crowded = window(&crowd(folder.path()));
    assert!(crowded.state().state().outline.track_count > 1_000);
    act(&mut crowded, Action::UnfoldAll);
    let mut small = window(&hackbench());
    let shapes = |window: &mut Window| {
        settle(window);
        window.output().shapes.len()
    };
    let (many, few) = (shapes(&mut crowded), shapes(&mut small));
    assert!(many < few * 4, "{many} {few}");
    // The tracks still answer: the last is found and shown.
    key(&mut crowded, Modifiers::COMMAND, Key::P);
    type_text(&mut crowded, "Find a track", "worker1999");
    key(&mut crowded, Modifiers::NONE, Key::Enter);
    crowded.run_steps(3);
    let found = crowded.query_all_by_label_contains("worker1999");
    assert!(found.count() > 1, "its header, and what is selected");
}

#[test]
fn a_sample_of_a_counter_is_selected_on_its_lane_and_told() {
    let mut window = window(&file("sample-traces/compress.fxt"));
    let state = window.state().state();
    let trace = window.state().loaded().unwrap().trace.clone();
    let row = state.rows.all().iter();
    let row = row
        .filter(|row| matches!(row.kind, threadline::view::RowKind::Counter(_)))
        .max_by_key(|row| row.lanes.len())
        .unwrap()
        .clone();
    act(&mut window, Action::RevealRow(row.key));
    let canvas = window.get_by_label("Timeline").rect();
    let y = canvas.top() + row.top + row.height / 2.0 - window.state().state().scroll;
    let at = egui::pos2(canvas.center().x, y);
    window.hover_at(at);
    window.run_steps(2);
    window.drag_at(at);
    window.drop_at(at);
    settle(&mut window);
    let Some(threadline::query::Item::Sample(id, sample)) = window.state().state().selected else {
        panic!("{:?}", window.state().state().selected);
    };
    assert_eq!(row.kind, threadline::view::RowKind::Counter(id));
    assert!(window.query_by_label("value").is_some());
    assert!(window.query_by_label("held").is_some());
    window.snapshot("counter-selected");
    key(&mut window, Modifiers::NONE, Key::Period);
    settle(&mut window);
    let next = threadline::query::Item::Sample(id, sample + 1);
    assert_eq!(window.state().state().selected, Some(next));
    assert!(window.query_by_label("change").is_some());
    // It is found again in the next session.
    let anchor = window.state().state().selected_anchor.clone().unwrap();
    assert_eq!(threadline::view::anchor::find(&trace, &anchor), Some(next));
}

#[test]
fn the_delta_of_the_markers_stands_in_the_ruler() {
    let mut window = window(&hackbench());
    let start = window.state().state().trace_span.start;
    let at = |ms: i64| start + threadline::base::Nanos(ms * 1_000_000);
    act(&mut window, Action::Mark(Marker::A, at(10)));
    act(&mut window, Action::Mark(Marker::B, at(35)));
    assert!(
        window
            .query_all_by_label_contains("B − A 25 ms")
            .next()
            .is_some()
    );
    window.snapshot("delta");
    // Too near for words between them.
    act(&mut window, Action::Mark(Marker::B, at(11)));
    window.snapshot("delta-narrow");
}

#[test]
fn ticks_notes_and_the_delta_share_a_full_ruler() {
    let mut window = window(&file("sample-traces/sched-irq-syscalls.dat"));
    window.set_size(egui::vec2(1280.0, 720.0));
    settle(&mut window);
    let span = window.state().state().trace_span;
    let at =
        |per_mille: i64| span.start + threadline::base::Nanos(span.duration().0 / 1000 * per_mille);
    act(&mut window, Action::Mark(Marker::A, at(100)));
    act(&mut window, Action::Mark(Marker::B, at(480)));
    let long = "the stall begins here";
    let flags = [
        (50, ""),
        (160, long),
        (170, "b"),
        (330, ""),
        (500, "wakeup"),
        (655, "x"),
        (830, ""),
        (990, "the end"),
    ];
    for (number, (place, note)) in flags.into_iter().enumerate() {
        act(&mut window, Action::AddFlag(at(place)));
        act(&mut window, Action::NoteFlag(None));
        let note = threadline::view::Flagging::Note(number, note.to_owned());
        act(&mut window, Action::Flag(note));
    }
    for (theme, word) in [(ThemeChoice::Dark, "dark"), (ThemeChoice::Light, "light")] {
        act(&mut window, Action::SetTheme(theme));
        window.snapshot(format!("ruler-full-{word}"));
    }
}
