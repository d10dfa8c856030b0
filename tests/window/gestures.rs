//! Keys and gestures as users of the peers know them: each row of the table that the window promises.

use crate::support::*;
use egui::{Key, Modifiers, PointerButton};
use egui_kittest::kittest::{NodeT, Queryable};
use threadline::base::{Nanos, Timestamp};
use threadline::query::Item;
use threadline::trace::{FlowId, SliceId};
use threadline::view::rows::RowLane;
use threadline::view::{Action, Direction, Finder, Marker, locate};

/// A drag with these keys and this button held.
fn drag_with(
    window: &mut Window,
    (from, until): (egui::Pos2, egui::Pos2),
    button: PointerButton,
    modifiers: Modifiers,
) {
    let event = |pos, pressed| egui::Event::PointerButton {
        pos,
        button,
        pressed,
        modifiers,
    };
    window.hover_at(from);
    window.run_steps(2);
    window.event_modifiers(event(from, true), modifiers);
    window.run_steps(2);
    for step in 1..=4 {
        let at = from + (until - from) * (step as f32 / 4.0);
        window.event_modifiers(egui::Event::PointerMoved(at), modifiers);
        window.run_steps(2);
    }
    window.event_modifiers(event(until, false), modifiers);
    settle(window);
}

#[test]
fn drags_select_zoom_and_pan() {
    let mut window = window(&hackbench());
    act(&mut window, Action::ToggleDock);
    let area = canvas(&window);
    let whole = window.state().state().span;
    let at = |x: f32| egui::pos2(area.left() + x, area.bottom() - 40.0);
    let primary = PointerButton::Primary;
    // Ctrl: zoom to the range, nothing stays selected.
    drag_with(
        &mut window,
        (at(200.0), at(400.0)),
        primary,
        Modifiers::COMMAND,
    );
    let zoomed = window.state().state().span;
    let share = zoomed.duration().0 as f32 / whole.duration().0 as f32;
    assert!((share - 200.0 / area.width()).abs() < 0.03, "{share}");
    assert_eq!(window.state().state().range, None);
    // Shift: pan.
    drag_with(
        &mut window,
        (at(300.0), at(200.0)),
        primary,
        Modifiers::SHIFT,
    );
    let panned = window.state().state().span;
    assert_eq!(panned.duration(), zoomed.duration());
    assert!(panned.start > zoomed.start);
    // The middle button: pan over both axes.
    let up = egui::vec2(0.0, -60.0);
    let middle = PointerButton::Middle;
    drag_with(
        &mut window,
        (at(200.0), at(300.0) + up),
        middle,
        Modifiers::NONE,
    );
    let state = window.state().state();
    assert!(state.span.start < panned.start);
    assert_eq!(state.range, None);
    let most = state.max_scroll();
    assert!(
        (state.scroll - most.min(60.0)).abs() < 2.0,
        "{}",
        state.scroll
    );
}

#[test]
fn a_wheel_with_shift_pans() {
    let mut window = window(&hackbench());
    key(&mut window, Modifiers::NONE, Key::W);
    let before = window.state().state().span;
    window.hover_at(canvas(&window).center());
    window.run_steps(2);
    let wheel = egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Line,
        delta: egui::vec2(0.0, -2.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: Modifiers::SHIFT,
    };
    window.event_modifiers(wheel, Modifiers::SHIFT);
    window.run_steps(8);
    let after = window.state().state().span;
    assert_eq!(after.duration(), before.duration());
    assert!(after.start > before.start);
}

/// Two fingers on a trackpad, as egui has them from the desktop.
fn two_fingers(window: &mut Window, delta: egui::Vec2) {
    let phases = [
        (egui::TouchPhase::Start, egui::Vec2::ZERO),
        (egui::TouchPhase::Move, delta),
        (egui::TouchPhase::End, egui::Vec2::ZERO),
    ];
    for (phase, delta) in phases {
        window.event(egui::Event::MouseWheel {
            unit: egui::MouseWheelUnit::Point,
            delta,
            phase,
            source: egui::MouseWheelSource::Trackpad,
            modifiers: Modifiers::NONE,
        });
    }
    window.run_steps(8);
}

#[test]
fn two_fingers_on_a_trackpad_pan_scroll_and_pinch() {
    let mut window = window(&hackbench());
    let place = canvas(&window).center() + egui::vec2(80.0, 0.0);
    window.hover_at(place);
    window.run_steps(2);
    // A pinch: the time under the pointer stays where it is.
    let time_at = |window: &Window| {
        let (canvas, span) = (canvas(window), window.state().state().span);
        let share = f64::from((place.x - canvas.left()) / canvas.width());
        (span.start.0 as f64 + span.duration().0 as f64 * share, span)
    };
    let (under, whole) = time_at(&window);
    window.event(egui::Event::Zoom(4.0));
    window.run_steps(8);
    let (still_under, zoomed) = time_at(&window);
    assert!(zoomed.duration().0 * 3 < whole.duration().0, "{zoomed:?}");
    let moved = (still_under - under).abs() / zoomed.duration().0 as f64;
    assert!(moved < 0.01, "{moved} of the view");
    // Sideways, time moves with the fingers; up and down, tracks do.
    two_fingers(&mut window, egui::vec2(-90.0, 0.0));
    let state = window.state().state();
    assert_eq!(state.span.duration(), zoomed.duration());
    assert!(state.span.start > zoomed.start && state.scroll == 0.0);
    let panned = state.span;
    two_fingers(&mut window, egui::vec2(0.0, -40.0));
    let state = window.state().state();
    assert_eq!(state.span, panned);
    let expected = state.max_scroll().min(40.0);
    assert!((state.scroll - expected).abs() < 2.0, "{}", state.scroll);
}

#[test]
fn a_double_click_zooms_to_a_slice_and_f_twice_to_the_whole() {
    let mut window = window(&hackbench());
    let whole = window.state().state().span;
    // Frames of the test are a quarter of a second apart.
    window
        .ctx
        .options_mut(|options| options.input_options.max_double_click_delay = 5.0);
    let row = window.state().state().rows.all()[4].clone();
    let at = canvas(&window).left_top() + egui::vec2(150.0, row.top + row.height / 2.0);
    for _ in 0..2 {
        window.hover_at(at);
        window.drag_at(at);
        window.drop_at(at);
    }
    settle(&mut window);
    let state = window.state().state();
    assert!(
        matches!(state.selected, Some(Item::Run(_))),
        "{:?}",
        state.selected
    );
    assert!(state.span.duration() < whole.duration());
    key(&mut window, Modifiers::NONE, Key::F);
    settle(&mut window);
    assert_eq!(window.state().state().span, whole);
}

#[test]
fn m_marks_the_selection_and_markers_snap_in_the_ruler() {
    let mut window = window(&hackbench());
    let item = Item::Slice(SliceId(0));
    act(&mut window, Action::Reveal(item));
    let span = window.state().state().selected_time.unwrap();
    key(&mut window, Modifiers::NONE, Key::M);
    assert_eq!(
        window.state().state().marks,
        [Some(span.start), Some(span.end)]
    );
    // A marker that is dragged near the end of what is selected goes there.
    act(&mut window, Action::Focus);
    let area = canvas(&window);
    let shown = window.state().state().span;
    let x = |time: Timestamp| {
        let share = (time - shown.start).0 as f32 / shown.duration().0 as f32;
        area.left() + share * area.width()
    };
    let ruler = window.get_by_label("Ruler").rect().center().y;
    let from = egui::pos2(area.left() + 20.0, ruler);
    let early = shown.start + Nanos((shown.duration().0 as f32 * 20.0 / area.width()) as i64);
    act(&mut window, Action::Mark(Marker::A, early));
    act(&mut window, Action::Mark(Marker::B, shown.end));
    let near = |x: f32| egui::pos2(x + 4.0, ruler);
    let until = near(x(span.start));
    drag_with(
        &mut window,
        (from, until),
        PointerButton::Primary,
        Modifiers::NONE,
    );
    assert_eq!(window.state().state().marks[0], Some(span.start));
    // With Alt it stays where the pointer is.
    let from = egui::pos2(x(span.start), ruler);
    let until = near(x(span.end));
    drag_with(
        &mut window,
        (from, until),
        PointerButton::Primary,
        Modifiers::ALT,
    );
    let mark = window.state().state().marks[0].unwrap();
    assert!(mark != span.end && (x(mark) - until.x).abs() < 2.0);
}

#[test]
fn another_flow_is_chosen_and_an_arrow_is_clicked() {
    let mut window = window(&file("sample-traces/lua-make-j2.etrace.zst"));
    act(&mut window, Action::ToggleDock);
    let trace = window.state().loaded().unwrap().trace.clone();
    let (slice, flows) = (0..trace.slices.len() as u32)
        .map(|id| Item::Slice(SliceId(id)))
        .map(|item| (item, locate::flows_of(&trace, item, Direction::Next)))
        .find(|(_, flows)| flows.len() > 1)
        .expect("a slice that several flows leave");
    act(&mut window, Action::Reveal(slice));
    assert!(
        window
            .query_all_by_label_contains("flow on 1 of")
            .next()
            .is_some()
    );
    key(&mut window, Modifiers::COMMAND, Key::CloseBracket);
    assert!(
        window
            .query_all_by_label_contains("flow on 2 of")
            .next()
            .is_some()
    );
    window.snapshot("flow-chosen");
    key(&mut window, Modifiers::NONE, Key::CloseBracket);
    let second = trace.flows.rows[flows[1].0 as usize].to.slice;
    assert_eq!(window.state().state().selected, second.map(Item::Slice));
    // An arrow that is in sight is selected by a click on its middle.
    act(&mut window, Action::Fit);
    let area = canvas(&window);
    let middle = |window: &Window, id: FlowId| -> Option<egui::Pos2> {
        let state = window.state().state();
        let flow = trace.flows.rows[id.0 as usize];
        let y = |slice: Option<SliceId>| {
            let lane = locate::lane_of(&trace, Item::Slice(slice?))?;
            let RowLane { row, lane } = state.rows.of_lane(lane)?;
            Some(row.top + lane.offset + lane.height / 2.0 - state.scroll)
        };
        let (from, to) = (flow.from.time, flow.to.time);
        let time = from + Nanos((to - from).0 / 2);
        let share = (time - state.span.start).0 as f32 / state.span.duration().0 as f32;
        let y = (y(flow.from.slice)? + y(flow.to.slice)?) / 2.0;
        let at = area.left_top() + egui::vec2(share * area.width(), y);
        area.shrink(4.0).contains(at).then_some(at)
    };
    let mut all = (0..trace.flows.rows.len() as u32).map(FlowId);
    let seen = all.find_map(|id| Some((id, middle(&window, id)?)));
    let (id, at) = seen.expect("an arrow in sight");
    let from = trace.flows.rows[id.0 as usize].from.slice.unwrap();
    act(&mut window, Action::Select(Item::Slice(from)));
    window.hover_at(at);
    window.run_steps(2);
    window.drag_at(at);
    window.drop_at(at);
    settle(&mut window);
    let selected = window.state().state().selected;
    assert!(matches!(selected, Some(Item::Flow(_))), "{selected:?}");
}

#[test]
fn the_track_finder_takes_commands_and_f1_helps() {
    let mut window = window(&hackbench());
    key(&mut window, Modifiers::COMMAND, Key::P);
    assert_eq!(window.state().state().finder, Some(Finder::Tracks));
    let field = window.get_by_role_and_label(egui::Role::TextInput, "Find a track");
    field.type_text(">light theme");
    window.run_steps(3);
    window.key_press(Key::Enter);
    settle(&mut window);
    assert_eq!(
        window.state().state().theme,
        threadline::view::ThemeChoice::Light
    );
    key(&mut window, Modifiers::NONE, Key::F1);
    assert!(window.state().state().is_help_open);
}

/// The x of a time on the canvas.
fn x_of(window: &Window, time: Timestamp) -> f32 {
    let (area, shown) = (canvas(window), window.state().state().span);
    let share = (time - shown.start).0 as f64 / shown.duration().0 as f64;
    area.left() + (share * f64::from(area.width())) as f32
}

/// Zooms to a slice that is seen alone; its span comes back.
fn shows_a_slice(window: &mut Window) -> threadline::base::TimeSpan {
    act(window, Action::ToggleDock);
    act(window, Action::Reveal(Item::Slice(SliceId(0))));
    act(window, Action::Focus);
    let span = window.state().state().selected_time.unwrap();
    act(window, Action::Deselect);
    span
}

#[test]
fn markers_and_flags_snap_to_slices_in_the_ruler_unless_alt_is_held() {
    use threadline::view::Flagging;
    let mut window = window(&hackbench());
    let slice = shows_a_slice(&mut window);
    let ruler = window.get_by_label("Ruler").rect().center().y;
    let at = |x: f32| egui::pos2(x, ruler);
    let (start, end) = (x_of(&window, slice.start), x_of(&window, slice.end));
    let middle = slice.start + Nanos(slice.duration().0 / 2);
    let primary = PointerButton::Primary;
    act(&mut window, Action::Mark(Marker::B, middle));
    let from = at(x_of(&window, middle));
    drag_with(
        &mut window,
        (from, at(start + 4.0)),
        primary,
        Modifiers::NONE,
    );
    assert_eq!(window.state().state().marks[1], Some(slice.start));
    // Held over a track it is drawn to that track's slices.
    act(&mut window, Action::Mark(Marker::B, middle));
    let alone = at(end - 4.0);
    drag_with(&mut window, (from, alone), primary, Modifiers::ALT);
    let mark = window.state().state().marks[1].unwrap();
    assert!(mark != slice.end && (x_of(&window, mark) - alone.x).abs() < 2.0);
    act(&mut window, Action::ClearMarks);
    // A flag is taken by its cloth, keeps its note, and snaps as well.
    act(&mut window, Action::Flag(Flagging::Add(middle)));
    act(&mut window, Action::Flag(Flagging::Note(0, "here".into())));
    let cloth = from + egui::vec2(4.0, 0.0);
    drag_with(
        &mut window,
        (cloth, at(end - 4.0)),
        primary,
        Modifiers::NONE,
    );
    let flags = &window.state().state().flags;
    assert_eq!((flags[0].time, &*flags[0].note), (slice.end, "here"));
    let cloth = at(end + 4.0);
    let until = at(start + 5.0);
    drag_with(&mut window, (cloth, until), primary, Modifiers::ALT);
    let time = window.state().state().flags[0].time;
    assert!(time != slice.start && (x_of(&window, time) - until.x).abs() < 2.0);
}

#[test]
fn ranges_begin_and_end_at_the_edges_they_are_drawn_to() {
    let mut window = window(&hackbench());
    let slice = shows_a_slice(&mut window);
    let (start, end) = (x_of(&window, slice.start), x_of(&window, slice.end));
    let row = {
        let state = window.state().state();
        let trace = window.state().loaded().unwrap().trace.clone();
        let lane = locate::lane_of(&trace, Item::Slice(SliceId(0))).unwrap();
        let RowLane { row, lane } = state.rows.of_lane(lane).unwrap();
        row.top + lane.offset + lane.height / 2.0 - state.scroll
    };
    let y = canvas(&window).top() + row;
    let at = |x: f32| egui::pos2(x, y);
    let primary = PointerButton::Primary;
    // Over the slice's own track: from near its start to near its end.
    let there = (at(start + 3.0), at(end - 3.0));
    drag_with(&mut window, there, primary, Modifiers::NONE);
    assert_eq!(window.state().state().range, Some(slice));
    act(&mut window, Action::Deselect);
    drag_with(&mut window, there, primary, Modifiers::ALT);
    let range = window.state().state().range.unwrap();
    assert!(range.start > slice.start && range.end < slice.end);
    // An end that is dragged snaps too.
    let near = at(x_of(&window, range.end));
    drag_with(&mut window, (near, at(end - 2.0)), primary, Modifiers::NONE);
    assert_eq!(window.state().state().range.unwrap().end, slice.end);
    // The range to zoom to.
    act(&mut window, Action::Deselect);
    drag_with(&mut window, there, primary, Modifiers::COMMAND);
    assert_eq!(window.state().state().span, slice);
}

#[test]
fn the_keys_of_the_left_hand_lie_at_their_places_on_any_keyboard() {
    let mut window = window(&hackbench());
    let press = |window: &mut Window, key: Key, place: Key| {
        window.event(egui::Event::Key {
            key,
            physical_key: Some(place),
            pressed: true,
            repeat: false,
            modifiers: Modifiers::NONE,
        });
        window.run_steps(3);
    };
    // AZERTY: the key that says Z lies where W is on others.
    let whole = visible(&window);
    press(&mut window, Key::Z, Key::W);
    assert!(visible(&window) < whole);
    let start = window.state().state().span.start;
    press(&mut window, Key::Q, Key::A);
    assert!(window.state().state().span.start < start);
    assert!(!window.state().state().dock.is_hidden);
    press(&mut window, Key::A, Key::Q);
    assert!(window.state().state().dock.is_hidden);
}

#[test]
fn more_arrows_are_drawn_at_a_click() {
    use threadline::view::{FlowsShown, Settings};
    // One process writes files, another reads each of them.
    let mut text = String::from("100 1.000000 clone(child_stack=NULL, flags=SIGCHLD) = 101\n");
    for number in 0..1_200 {
        let path = format!("openat(AT_FDCWD, \"/tmp/{number}\", ");
        for (step, (pid, call)) in [
            (100, format!("{path}O_WRONLY|O_CREAT, 0644) = 3")),
            (100, "close(3) = 0".to_owned()),
            (101, format!("{path}O_RDONLY) = 3")),
            (101, "close(3) = 0".to_owned()),
        ]
        .iter()
        .enumerate()
        {
            let micros = number * 400 + step * 100;
            text.push_str(&format!("{pid} 2.{micros:06} {call} <0.000010>\n"));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.strace");
    std::fs::write(&path, text).unwrap();
    let mut window = window(&path);
    act(&mut window, Action::ToggleDock);
    let settings = Settings {
        flows: FlowsShown::AllInView,
        ..window.state().state().settings
    };
    act(&mut window, Action::Configure(settings));
    let left_out = |window: &Window| {
        let node = window.query_by_label_contains("more arrows")?;
        let text = node.accesskit_node().label()?;
        let digits: String = text.chars().take_while(|it| !it.is_alphabetic()).collect();
        let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
        digits.parse::<usize>().ok()
    };
    let before = left_out(&window).expect("more arrows than are drawn");
    window.get_by_label_contains("more arrows").click();
    window.run_steps(3);
    let after = left_out(&window).unwrap_or(0);
    assert!(after < before, "{after} of {before}");
    assert!(window.state().state().selected.is_none());
}
