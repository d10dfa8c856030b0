//! What a hand expects of a window: a click changes no more than what is clicked, what was selected last is what
//! is meant, a drag beyond an edge goes on in its direction, and what is in sight stays there.

use crate::support::*;
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT, Queryable};
use threadline::base::{Nanos, TimeSpan};
use threadline::query::Item;
use threadline::query::search::Place;
use threadline::trace::{RunId, SliceId};
use threadline::view::dock::Docking;
use threadline::view::{Action, Arrange, Effect, PaneKind, RowKey};

/// The first words of the rows of tables, from top to bottom.
fn listed(window: &Window) -> Vec<String> {
    let rows = window.query_all_by_role(Role::Row);
    rows.filter_map(|row| row.accesskit_node().label())
        .collect()
}

fn key_of(window: &Window, title: &str) -> RowKey {
    let rows = window.state().state().rows.all();
    rows.iter().find(|row| &*row.title == title).unwrap().key
}

/// Where a row is drawn.
fn place_of(window: &Window, key: RowKey) -> egui::Rect {
    let area = canvas(window);
    let state = window.state().state();
    let row = state.rows.of_key(key).unwrap();
    let top = area.top() + row.top - state.scroll;
    egui::Rect::from_x_y_ranges(area.x_range(), top..=top + row.height)
}

fn irqs() -> Window {
    window(&file("sample-traces/sched-irq-syscalls.dat"))
}

/// A slice that takes a twentieth of the trace at most, and its time.
fn a_slice(window: &Window) -> (Item, TimeSpan) {
    let trace = window.state().loaded().unwrap().trace.clone();
    let short = trace.span.duration().0 / 20;
    let found = (0..trace.slices.len() as u32).map(SliceId).find(|&id| {
        let slice = trace.slices.get(id);
        let length = trace.slice_end(id) - slice.start;
        slice.end.is_some() && length > Nanos(10_000) && length < Nanos(short)
    });
    let id = found.unwrap();
    let start = trace.slices.get(id).start;
    (Item::Slice(id), TimeSpan::new(start, trace.slice_end(id)))
}

#[test]
fn a_click_on_a_latency_does_not_change_the_list() {
    let mut window = irqs();
    act(&mut window, Action::OpenPane(PaneKind::Latency));
    click_button(&mut window, "Event to event");
    type_into(&mut window, "First event", "sched_switch:");
    type_into(&mut window, "Second event", "sched_switch:");
    click_button(&mut window, "nothing");
    let before = listed(&window);
    assert!(before.len() > 3, "{before:?}");
    window.query_all_by_role(Role::Row).nth(1).unwrap().click();
    window.run_steps(2);
    settle(&mut window);
    let range = window.state().state().range.expect("its time is selected");
    assert_eq!(listed(&window), before);
    // Another area is another list.
    let end = range.end + Nanos(2_000_000);
    act(
        &mut window,
        Action::SelectRange(TimeSpan::new(range.start, end)),
    );
    assert_ne!(listed(&window), before);
    act(&mut window, Action::Deselect);
    assert_eq!(listed(&window), before);

    show(&mut window, &file("sample-traces/sched-irq.ftrace"));
    click_button(&mut window, "Wakeup to run");
    let before = listed(&window);
    assert!(before.len() > 3, "{before:?}");
    let length = |row: &String| row.split(", ").count() == 3;
    let worst = before.iter().position(length).unwrap();
    let row = window.query_all_by_role(Role::Row).nth(worst).unwrap();
    // Its middle may be scrolled out.
    let at = row.rect().left_center() + egui::vec2(20.0, 0.0);
    window.hover_at(at);
    window.run_steps(1);
    window.drag_at(at);
    window.run_steps(1);
    window.drop_at(at);
    window.run_steps(2);
    settle(&mut window);
    assert!(window.state().state().range.is_some());
    assert_eq!(listed(&window), before);
}

#[test]
fn of_a_slice_and_a_range_the_one_selected_last_is_meant() {
    let mut window = irqs();
    let (slice, time) = a_slice(&window);
    let start = window.state().state().trace_span.start;
    let range = TimeSpan::new(start + Nanos(300_000_000), start + Nanos(700_000_000));
    act(&mut window, Action::SelectRange(range));
    act(&mut window, Action::Select(slice));
    key(&mut window, Modifiers::NONE, Key::M);
    assert_eq!(
        window.state().state().marks,
        [Some(time.start), Some(time.end)]
    );
    key(&mut window, Modifiers::NONE, Key::F);
    let span = window.state().state().span;
    assert!(span.duration() < Nanos(time.duration().0 * 2) && span.overlaps(time));
    act(&mut window, Action::SelectRange(range));
    key(&mut window, Modifiers::NONE, Key::F);
    let span = window.state().state().span;
    assert!(span.start <= range.start && span.end >= range.end);
    key(&mut window, Modifiers::NONE, Key::M);
    assert_eq!(
        window.state().state().marks,
        [Some(range.start), Some(range.end)]
    );
}

#[test]
fn a_drag_beyond_the_edge_goes_on_to_that_side_and_scrolls() {
    let mut window = irqs();
    let area = canvas(&window);
    act(&mut window, Action::ScrollBy(120.0));
    let rows: Vec<(RowKey, f32, f32)> = window
        .state()
        .state()
        .rows
        .all()
        .iter()
        .map(|row| (row.key, row.top, row.bottom()))
        .collect();
    let scroll = window.state().state().scroll;
    assert!(scroll > 0.0);
    let at = |y: f32| {
        let top = y - area.top() + scroll;
        rows.iter().position(|row| row.2 > top).unwrap()
    };
    let from = egui::pos2(area.left() + 80.0, area.top() + 60.0);
    let begun = at(from.y);
    drag_and_hold(
        &mut window,
        from,
        egui::pos2(area.left() + 300.0, area.top() - 30.0),
    );
    window.run_steps(120);
    let state = window.state().state();
    let chosen = state.area_rows.clone().unwrap();
    assert_eq!(chosen.last(), Some(&rows[begun].0), "upwards, not down");
    assert!(state.scroll < scroll, "it scrolls along");
    assert_eq!(chosen.first(), Some(&rows[0].0));
    window.drop_at(egui::pos2(area.left() + 300.0, area.top() - 30.0));
    window.run_steps(4);
    // Down over the panes: to what is seen last, not to the end of all.
    let scroll = window.state().state().scroll;
    let until = egui::pos2(area.left() + 300.0, area.bottom() + 20.0);
    drag_and_hold(&mut window, from + egui::vec2(60.0, 0.0), until);
    let state = window.state().state();
    let chosen = state.area_rows.clone().unwrap();
    let last = rows.iter().position(|row| row.0 == *chosen.last().unwrap());
    let seen = state.scroll + area.height();
    assert!(rows[last.unwrap()].1 <= seen, "not beyond what is seen");
    window.run_steps(20);
    assert!(window.state().state().scroll > scroll);
    window.drop_at(until);
}

#[test]
fn matches_of_events_light_what_was_made_of_them() {
    let mut window = irqs();
    let trace = window.state().loaded().unwrap().trace.clone();
    let run = (0..trace.runs.len() as u32)
        .map(RunId)
        .find(|&id| trace.runs.get(id).thread.0 != 0 && trace.runs.get(id).start > trace.span.start)
        .unwrap();
    let tid = trace.thread(trace.runs.get(run).thread).tid;
    let expression = threadline::query::expression::Expression::parse(&format!(
        "sched_switch: next_pid == {tid}"
    ));
    let query = threadline::query::search::Query::new(expression.unwrap());
    let reader = window.state().loaded().unwrap().reader.clone();
    let found = threadline::query::search::search(
        &trace,
        reader.as_ref(),
        &query,
        &threadline::base::Job::default(),
        &mut |_| {},
    )
    .unwrap();
    assert!(found.total() > 0);
    assert!(found.has(Item::Run(run)), "the run that the event began");
    let other = (0..trace.runs.len() as u32)
        .map(RunId)
        .find(|&id| trace.thread(trace.runs.get(id).thread).tid != tid)
        .unwrap();
    assert!(!found.has(Item::Run(other)));
    act(&mut window, Action::Search("read".to_owned()));
    act(&mut window, Action::ToggleIsolation);
    // A click on nothing deselects and leaves the search alone.
    let area = canvas(&window);
    let empty = egui::pos2(area.right() - 2.0, area.bottom() - 2.0);
    for _ in 0..2 {
        window.hover_at(empty);
        window.run_steps(1);
        window.drag_at(empty);
        window.run_steps(1);
        window.drop_at(empty);
        window.run_steps(3);
        let search = &window.state().state().search;
        assert!(search.is_open && search.text == "read");
    }
    key(&mut window, Modifiers::NONE, Key::Escape);
    key(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!window.state().state().search.is_open);
}

#[test]
fn matches_are_marked_on_their_tracks_while_nothing_is_dimmed() {
    let mut window = irqs();
    let yellow = |window: &mut Window| {
        let area = canvas(window);
        let picture = window.render().unwrap();
        let found = threadline::gui::theme::palette(egui::Theme::Dark).found;
        let is_found = |(x, y, pixel): &(u32, u32, &image::Rgba<u8>)| {
            area.contains(egui::pos2(*x as f32, *y as f32)) && pixel.0 == found.to_array()
        };
        picture.enumerate_pixels().filter(is_found).count()
    };
    let before = yellow(&mut window);
    act(
        &mut window,
        Action::Search("sched_switch: prev_prio < 200".to_owned()),
    );
    let marked = yellow(&mut window);
    assert!(marked > before + 20, "{before} pixels, then {marked}");
    // What alone is bright needs no marks.
    act(&mut window, Action::ToggleIsolation);
    let isolated = yellow(&mut window);
    assert!(isolated <= before, "{isolated} pixels, of {marked}");
}

/// What of a row is seen, as a picture.
fn picture_of(window: &mut Window, row: RowKey) -> image::RgbaImage {
    let place = place_of(window, row).intersect(canvas(window));
    let picture = window.render().unwrap();
    let (x, y) = (place.left() as u32 + 2, place.top() as u32 + 2);
    let (width, height) = (place.width() as u32 - 4, place.height() as u32 - 4);
    image::imageops::crop_imm(&picture, x, y, width, height).to_image()
}

#[test]
fn a_thread_that_is_found_keeps_its_lanes_while_the_rest_is_dimmed() {
    let mut window = irqs();
    act(&mut window, Action::Dock(Docking::Toggle));
    act(&mut window, Action::Search("name == \"mix.sh\"".to_owned()));
    let mix = key_of(&window, "mix.sh");
    let cpu = key_of(&window, "CPU 0");
    let before = [mix, cpu].map(|key| picture_of(&mut window, key));
    act(&mut window, Action::ToggleIsolation);
    let after = [mix, cpu].map(|key| picture_of(&mut window, key));
    assert!(before[0] == after[0], "all of it is what was found");
    assert!(before[1] != after[1], "others ran there too");
    let bright = |picture: &image::RgbaImage| {
        let is_bright = |pixel: &&image::Rgba<u8>| pixel.0.iter().take(3).max() > Some(&140);
        picture.pixels().filter(is_bright).count()
    };
    assert!(bright(&after[1]) > 50, "and so did it");
    // What lasts as long as is asked for is found in all lanes.
    act(&mut window, Action::Search("dur > 3ms".to_owned()));
    let after = picture_of(&mut window, cpu);
    assert!(bright(&after) > 50);
    let found = |text: &str| {
        let expression = threadline::query::expression::Expression::parse(text).unwrap();
        let query = threadline::query::search::Query::new(expression);
        let loaded = window.state().loaded().unwrap();
        let job = threadline::base::Job::default();
        let (trace, reader) = (&loaded.trace, loaded.reader.as_ref());
        threadline::query::search::search(trace, reader, &query, &job, &mut |_| {}).unwrap()
    };
    let of = |text: &str, place: Place| found(text).counts[place as usize];
    assert!(of("dur > 3ms", Place::Runs) > 0 && of("dur > 3ms", Place::States) > 0);
    assert_eq!(of("mix", Place::Runs) + of("mix", Place::States), 0);
}

#[test]
fn keys_for_tracks_are_for_the_header_under_the_pointer() {
    let mut window = irqs();
    let header = window.get_by_label("CPU 1").rect();
    window.hover_at(header.center());
    window.run_steps(2);
    let cpu = key_of(&window, "CPU 1");
    key(&mut window, Modifiers::SHIFT, Key::T);
    assert_eq!(window.state().state().layout.pinned, [cpu]);
    act(&mut window, Action::Arrange(Arrange::Pin(cpu)));
    key(&mut window, Modifiers::NONE, Key::F2);
    assert_eq!(window.state().state().renaming, Some(cpu));
    act(&mut window, Action::StartRename(None));
    window.get_by_label("CPU 0").click();
    window.run_steps(2);
    let outside = egui::pos2(450.0, 4.0);
    window.hover_at(outside);
    window.run_steps(2);
    let cpu = key_of(&window, "CPU 0");
    key(&mut window, Modifiers::NONE, Key::H);
    assert!(window.state().state().layout.hidden.contains(&cpu));
}

#[test]
fn a_group_stands_where_its_first_member_stood_also_after_a_drag() {
    let mut window = irqs();
    let (first, second) = (key_of(&window, "CPU 0"), key_of(&window, "CPU 1"));
    act(
        &mut window,
        Action::Arrange(Arrange::Move {
            key: second,
            before: Some(first),
        }),
    );
    act(&mut window, Action::ScrollBy(10_000.0));
    act(
        &mut window,
        Action::Arrange(Arrange::Group(vec![first, second])),
    );
    let state = window.state().state();
    assert_eq!(&*state.rows.all()[0].title, "Group 1");
    let key = state.rows.all()[0].key;
    let place = place_of(&window, key);
    assert!(canvas(&window).intersects(place), "its name is typed there");
}

#[test]
fn esc_ends_a_choice_of_headers() {
    let mut window = irqs();
    let (a, b) = (key_of(&window, "CPU 0"), key_of(&window, "CPU 1"));
    window.get_by_label("CPU 0").click();
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Escape);
    window
        .get_by_label("CPU 1")
        .click_modifiers(Modifiers::COMMAND);
    window.run_steps(3);
    assert_eq!(window.state().state().area_rows, Some(vec![b]));
    // Without Esc both are meant.
    act(&mut window, Action::Deselect);
    window.get_by_label("CPU 0").click();
    window.run_steps(2);
    window
        .get_by_label("CPU 1")
        .click_modifiers(Modifiers::COMMAND);
    window.run_steps(3);
    assert_eq!(window.state().state().area_rows, Some(vec![a, b]));
}

#[test]
fn the_time_of_a_slice_is_selected_on_its_own_track() {
    let mut window = irqs();
    let (slice, time) = a_slice(&window);
    let cpu = key_of(&window, "CPU 1");
    let whole = window.state().state().trace_span;
    act(&mut window, Action::SelectArea(whole, vec![cpu]));
    act(&mut window, Action::Reveal(slice));
    key(&mut window, Modifiers::NONE, Key::R);
    let state = window.state().state();
    assert_eq!(state.range, Some(time));
    let rows = state.area_rows.clone().unwrap();
    assert!(rows.len() == 1 && rows != [cpu]);
    let trace = &window.state().loaded().unwrap().trace;
    let lane = threadline::view::locate::lane_of(trace, slice).unwrap();
    assert_eq!(state.rows.of_lane(lane).unwrap().row.key, rows[0]);
}

#[test]
fn the_tracks_fill_the_window_when_the_panes_go() {
    let mut window = irqs();
    act(&mut window, Action::Dock(Docking::Share(0.7)));
    act(&mut window, Action::ScrollBy(100_000.0));
    act(&mut window, Action::ToggleDock);
    let state = window.state().state();
    let (room, all) = (canvas(&window).height(), state.rows.height());
    assert!(state.scroll <= (all - room).max(0.0) + 1.0);
}

#[test]
fn a_share_of_the_area_is_of_what_lies_inside() {
    let mut window = irqs();
    let (slice, time) = a_slice(&window);
    let middle = time.start + Nanos(time.duration().0 / 2);
    let rows = {
        let state = window.state().state();
        let trace = &window.state().loaded().unwrap().trace;
        let lane = threadline::view::locate::lane_of(trace, slice).unwrap();
        let mut rows = Vec::new();
        state.outline.visit(&mut |_, node| {
            if node.lanes.iter().any(|it| it.kind == lane) {
                rows.push(node.key);
            }
        });
        rows
    };
    let span = TimeSpan::new(middle, middle + Nanos(1_000));
    act(&mut window, Action::RevealRow(rows[0]));
    act(&mut window, Action::SelectArea(span, rows));
    act(&mut window, Action::OpenPane(PaneKind::Selection));
    let shares: Vec<String> = window
        .query_all_by_label_contains(" %")
        .filter_map(|node| node.accesskit_node().label())
        .collect();
    assert!(!shares.is_empty());
    for share in shares {
        let number = share
            .split(" %")
            .next()
            .unwrap()
            .rsplit(' ')
            .next()
            .unwrap();
        let number: f64 = number.replace(',', "").parse().unwrap_or(0.0);
        assert!(number <= 400.0, "{share}");
    }
}

#[test]
fn what_is_not_shown_is_told_and_a_click_shows_it() {
    let mut window = irqs();
    for title in ["CPU 0", "CPU 1"] {
        let key = key_of(&window, title);
        act(&mut window, Action::Arrange(Arrange::Hide(key)));
    }
    let state = window.state().state();
    let all = state.outline.track_count;
    let hidden = state.rows.hidden_count();
    assert_eq!(hidden, 2, "the tracks");
    assert_eq!(&*state.rows.all()[0].note, "0 of 2");
    window.get_by_label("2 hidden").click();
    window.run_steps(3);
    assert_eq!(window.state().state().rows.hidden_count(), 0);
    let start = window.state().state().trace_span.start;
    let span = TimeSpan::new(start, start + Nanos(1_000_000));
    act(&mut window, Action::Show(span));
    key(&mut window, Modifiers::NONE, Key::V);
    let state = window.state().state();
    let inactive = state.rows.inactive_count();
    assert!(inactive > 0 && inactive < all);
    let shown = state.rows.all().iter().filter(|row| row.item().is_some());
    assert!(shown.count() <= all - inactive);
    window
        .get_by_label(&format!("{inactive} not active"))
        .click();
    window.run_steps(3);
    assert!(window.state().state().active.is_none());
}

#[test]
fn changes_to_tracks_and_flags_are_undone_and_done_again() {
    let mut window = irqs();
    let (first, second) = (key_of(&window, "CPU 0"), key_of(&window, "CPU 1"));
    let plain = window.state().state().layout.clone();
    let whats = [
        Arrange::Hide(first),
        Arrange::Rename(second, "mine".to_owned()),
        Arrange::Move {
            key: second,
            before: Some(first),
        },
        Arrange::Group(vec![first, second]),
    ];
    let mut steps = vec![plain];
    for what in whats {
        act(&mut window, Action::Arrange(what));
        act(&mut window, Action::StartRename(None));
        steps.push(window.state().state().layout.clone());
    }
    for layout in steps.iter().rev().skip(1) {
        key(&mut window, Modifiers::COMMAND, Key::Z);
        assert_eq!(&window.state().state().layout, layout);
    }
    assert_eq!(&*window.state().state().rows.all()[1].title, "CPU 0");
    act(&mut window, Action::Forward);
    assert_eq!(window.state().state().layout, steps[1]);
    // A fold is a change too: it is undone before what was done earlier.
    let process = key_of(&window, "mix.sh");
    let fold = |window: &Window| window.state().state().rows.of_key(process).unwrap().fold;
    let before = fold(&window);
    act(&mut window, Action::Toggle(process));
    assert_ne!(fold(&window), before);
    key(&mut window, Modifiers::COMMAND, Key::Z);
    assert_eq!(fold(&window), before);
    assert_eq!(window.state().state().layout, steps[1]);
    act(&mut window, Action::Forward);
    assert_ne!(fold(&window), before);
    act(&mut window, Action::Back);
    key(&mut window, Modifiers::COMMAND, Key::Z);
    assert!(window.state().state().layout.hidden.is_empty());
}

#[test]
fn delete_takes_only_a_flag_that_is_near_and_undo_brings_it_back() {
    let mut window = irqs();
    let area = canvas(&window);
    for x in [0.2, 0.6] {
        window.hover_at(area.lerp_inside(egui::vec2(x, 0.9)));
        window.run_steps(2);
        key(&mut window, Modifiers::SHIFT, Key::M);
        key(&mut window, Modifiers::NONE, Key::Escape);
    }
    let flags = window.state().state().flags.clone();
    assert_eq!(flags.len(), 2);
    window.hover_at(area.lerp_inside(egui::vec2(0.4, 0.9)));
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Delete);
    assert_eq!(window.state().state().flags, flags, "none is near");
    window.hover_at(area.lerp_inside(egui::vec2(0.61, 0.9)));
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Delete);
    assert_eq!(window.state().state().flags, flags[..1]);
    key(&mut window, Modifiers::COMMAND, Key::Z);
    assert_eq!(window.state().state().flags, flags);
    // To start over is asked first.
    key(&mut window, Modifiers::COMMAND | Modifiers::SHIFT, Key::P);
    type_into(&mut window, "Find a command", "start over");
    key(&mut window, Modifiers::NONE, Key::Enter);
    settle(&mut window);
    assert_eq!(window.state().state().flags, flags);
    window.get_by_label("Cancel").click();
    window.run_steps(3);
    assert_eq!(window.state().state().flags, flags);
    act(
        &mut window,
        Action::Ask(Some(threadline::view::Question::StartOver)),
    );
    window.get_by_label("Start over").click();
    window.run_steps(3);
    assert!(window.state().state().flags.is_empty());
    assert!(window.state().state().question.is_none());
}

#[test]
fn a_session_is_saved_and_a_trace_opened_by_a_typed_path() {
    use threadline::view::Purpose;
    use threadline::view::Question;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.threadline");
    let mut window = irqs();
    let save = |window: &mut Window| {
        act(
            window,
            Action::Ask(Some(Question::Path(Purpose::SaveSession))),
        );
        let field = window.get_by_role_and_label(Role::TextInput, "Path of the file");
        let proposed = field.value().unwrap_or_default();
        assert!(proposed.ends_with("sched-irq-syscalls.threadline"));
        key(window, Modifiers::COMMAND, Key::A);
        let field = window.get_by_role_and_label(Role::TextInput, "Path of the file");
        field.type_text(&path.display().to_string());
        window.run_steps(2);
        key(window, Modifiers::NONE, Key::Enter);
    };
    save(&mut window);
    assert!(path.exists() && window.state().state().question.is_none());
    // It is not replaced unasked.
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    save(&mut window);
    assert!(
        window
            .query_all_by_label_contains("exists already")
            .next()
            .is_some()
    );
    assert_eq!(
        std::fs::metadata(&path).unwrap().modified().unwrap(),
        before
    );
    window.get_by_label("Replace it").click();
    window.run_steps(3);
    assert!(window.state().state().question.is_none());
    act(
        &mut window,
        Action::Ask(Some(Question::Path(Purpose::Open))),
    );
    let field = window.get_by_role_and_label(Role::TextInput, "Path of the file");
    field.type_text("no such");
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert!(
        window
            .query_all_by_label_contains("no such file")
            .next()
            .is_some()
    );
}

#[test]
fn a_track_that_was_found_is_selected() {
    let mut window = irqs();
    key(&mut window, Modifiers::COMMAND, Key::P);
    type_into(&mut window, "Find a track", "cpu 1");
    key(&mut window, Modifiers::NONE, Key::Enter);
    settle(&mut window);
    let state = window.state().state();
    assert!(matches!(state.selected, Some(Item::Cpu(_))));
    assert_eq!(state.selected_track(), Some(key_of(&window, "CPU 1")));
}

#[test]
fn a_session_keeps_what_panes_were_asked() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("window.json");
    let trace = file("sample-traces/sched-irq-syscalls.dat");
    let mut first = window_keeping(&settings);
    show(&mut first, &trace);
    act(&mut first, Action::OpenPane(PaneKind::Events));
    type_into(&mut first, "Filter events", "sched_switch:");
    first.get_by_label("Columns").click();
    first.run_steps(3);
    first.get_by_label("Category").click();
    first.run_steps(3);
    settle(&mut first);
    let all = listed(&first);
    act(&mut first, Action::OpenPane(PaneKind::Latency));
    click_button(&mut first, "Event to event");
    type_into(&mut first, "First event", "sched_switch:");
    first.state_mut().close();
    let mut second = window_keeping(&settings);
    show(&mut second, &trace);
    let value = |window: &Window, name: &str| {
        let field = window.get_by_role_and_label(Role::TextInput, name);
        field.value().unwrap_or_default()
    };
    assert_eq!(value(&second, "First event"), "sched_switch:");
    act(&mut second, Action::OpenPane(PaneKind::Events));
    assert_eq!(value(&second, "Filter events"), "sched_switch:");
    assert!(!all.is_empty());
    assert_eq!(listed(&second), all, "the same rows with the same columns");
    // Another trace has its own.
    show(&mut second, &hackbench());
    assert_eq!(value(&second, "Filter events"), "");
}

#[test]
fn a_picture_of_the_window_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("window.png");
    let mut window = irqs();
    act(&mut window, Action::Do(Effect::SavePicture(path.clone())));
    assert!(
        window
            .query_all_by_label_contains("The picture is saved")
            .next()
            .is_some()
    );
    let picture = image::open(&path).unwrap();
    assert_eq!((picture.width(), picture.height()), (900, 560));
    // Its name says that it is to be shapes.
    let path = folder.path().join("window.svg");
    act(&mut window, Action::Do(Effect::SavePicture(path.clone())));
    let svg = std::fs::read_to_string(&path).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains(">CPU 0<"));
}

#[test]
fn what_a_table_is_of_is_said_of_the_rows_that_it_has() {
    let mut window = irqs();
    act(&mut window, Action::OpenPane(PaneKind::Selection));
    let about = |window: &Window| {
        let mut labels = window.get_all_by_label_contains("Visible: ");
        let label = labels.next().unwrap();
        label.value().unwrap_or_default()
    };
    let (said, rows) = (about(&window), listed(&window));
    let start = window.state().state().trace_span.start;
    let span = TimeSpan::new(start, start + Nanos(20_000_000));
    let ctx = window.ctx.clone();
    window.state_mut().act(&ctx, Action::Show(span));
    // The sums of what is seen now are only being asked for.
    window.step();
    assert_eq!((about(&window), listed(&window)), (said.clone(), rows));
    settle(&mut window);
    assert_ne!(about(&window), said);
}

#[test]
fn counters_are_plotted_in_the_order_of_their_list() {
    let mut window = window(&file("sample-traces/compress.fxt"));
    act(&mut window, Action::OpenPane(PaneKind::Counters));
    let plotted = |window: &Window| {
        let canvases = window.query_all_by_role(Role::Canvas);
        let mut plots: Vec<(i32, String)> = canvases
            .filter_map(|node| {
                let name = node.accesskit_node().label()?;
                Some((node.rect().top() as i32, name))
            })
            .filter(|(_, name)| name.contains(" · "))
            .collect();
        plots.sort();
        plots.into_iter().map(|(_, name)| name).collect::<Vec<_>>()
    };
    let first = plotted(&window);
    assert!(first.len() > 1);
    let mut sorted = first.clone();
    sorted.sort();
    assert_eq!(first, sorted, "the list is sorted by name here");
    // One more goes where it stands in the list.
    window
        .get_by_role_and_label(Role::CheckBox, "bytes:out:2 · compress.py")
        .click();
    settle(&mut window);
    let more = plotted(&window);
    assert!(more.iter().any(|name| name.starts_with("bytes:out")));
    let mut sorted = more.clone();
    sorted.sort();
    assert_eq!(more, sorted);
}
