//! Small things that mislead: each of them did something else than what it looked like.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::support::*;
use egui::{Event, Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT, Queryable};
use threadline::base::{Nanos, TimeSpan};
use threadline::load::Reading;
use threadline::query::Item;
use threadline::trace::{Plot, RunId, SliceId, ThreadState};
use threadline::view::{Action, Arrange, LaneKind, PaneKind, RowKey, RowKind};

fn irqs() -> std::path::PathBuf {
    file("sample-traces/sched-irq-syscalls.dat")
}

fn press(at: Key) -> Event {
    Event::Key {
        key: at,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::NONE,
    }
}

/// Where the row of a key is drawn.
fn place_of(window: &Window, key: RowKey) -> egui::Rect {
    let (area, state) = (canvas(window), window.state().state());
    let row = state.rows.of_key(key).unwrap();
    let top = area.top() + row.top - state.scroll;
    egui::Rect::from_x_y_ranges(area.x_range(), top..=top + row.height)
}

#[test]
fn a_triangle_of_the_flame_tree_opens_its_row() {
    let mut window = window(&file("sample-traces/function-graph.dat"));
    act(&mut window, Action::OpenPane(PaneKind::FlameGraph));
    click_button(&mut window, "Top-down");
    let before = table_rows(&window);
    let triangle = |window: &Window| {
        let mut triangles = window.query_all_by_label_contains("Children of");
        triangles.next().unwrap().rect().center()
    };
    let at = triangle(&window);
    click_at(&mut window, at);
    assert_ne!(table_rows(&window), before, "the row closes");
    let at = triangle(&window);
    click_at(&mut window, at);
    assert_eq!(table_rows(&window), before, "the row opens");
}

#[test]
fn sums_of_what_never_ended_are_lower_bounds_and_sorted_by_what_is_certain() {
    let mut window = window(&irqs());
    act(&mut window, Action::OpenPane(PaneKind::FlameGraph));
    click_button(&mut window, "Top-down");
    let rows = table_rows(&window);
    // Three calls that never ended lasted longest; the one `write` among many did not.
    assert!(
        rows[0].starts_with("pselect6, Total ≥ 3.638 s, "),
        "{rows:?}"
    );
    assert!(rows[0].contains("Self ≥ 3.638 s"), "{rows:?}");
    assert!(rows[1].starts_with("wait4, Total 1.028 s, "), "{rows:?}");
    click_button(&mut window, "Names");
    let names = table_rows(&window);
    assert!(names[0].contains("Self ≥ 3.638 s"), "{names:?}");
    // Who was there before the recording lived at least as long as was seen.
    act(&mut window, Action::OpenPane(PaneKind::ProcessTree));
    type_into(&mut window, "Filter processes", "mix.sh");
    let rows = table_rows(&window);
    let before: Vec<_> = rows
        .iter()
        .filter(|row| row.contains("Start before"))
        .collect();
    assert!(
        before.iter().any(|row| row.starts_with("mix.sh")),
        "{rows:?}"
    );
    assert!(
        before.iter().all(|row| row.contains("Duration ≥ ")),
        "{rows:?}"
    );
}

#[test]
fn no_key_acts_behind_what_lies_over_the_window() {
    let mut window = window(&irqs());
    let slice = Item::Slice(SliceId(0));
    act(&mut window, Action::Select(slice));
    let layers = [
        (Action::ToggleHelp, Action::ToggleHelp),
        (Action::ToggleSettings, Action::ToggleSettings),
        (
            Action::Ask(Some(threadline::view::Question::StartOver)),
            Action::Ask(None),
        ),
    ];
    for (open, close) in layers {
        act(&mut window, open);
        window.run_steps(3);
        let before = window.state().state().clone();
        let keys = [
            Key::W,
            Key::D,
            Key::F,
            Key::H,
            Key::V,
            Key::M,
            Key::Q,
            Key::T,
            Key::X,
            Key::L,
            Key::Period,
            Key::Num0,
        ];
        for at in keys {
            key(&mut window, Modifiers::NONE, at);
        }
        for at in [Key::A, Key::T, Key::G, Key::C, Key::M] {
            key(&mut window, Modifiers::SHIFT, at);
        }
        for at in [Key::Z, Key::W, Key::P, Key::F, Key::Plus] {
            key(&mut window, Modifiers::COMMAND, at);
        }
        settle(&mut window);
        let after = window.state().state();
        assert_eq!(after.span, before.span);
        assert_eq!(after.layout, before.layout);
        assert_eq!(
            (after.marks, after.selected),
            (before.marks, before.selected)
        );
        assert_eq!(after.settings, before.settings);
        assert_eq!(after.dock, before.dock);
        assert!(after.tips.is_empty() && !after.search.is_open && after.finder.is_none());
        act(&mut window, close);
        window.run_steps(3);
        let span = window.state().state().span;
        key(&mut window, Modifiers::NONE, Key::W);
        settle(&mut window);
        assert_ne!(window.state().state().span, span, "and then they act again");
    }
    // The list of keys is closed by its own key.
    act(&mut window, Action::ToggleHelp);
    key(&mut window, Modifiers::NONE, Key::F1);
    assert!(!window.state().state().is_help_open);
}

#[test]
fn what_is_typed_right_after_the_slash_is_searched_for() {
    // All in one frame, each in a frame of its own, and with Enter behind it.
    for frames in [1, 2, 9] {
        let mut window = window(&irqs());
        let span = window.state().state().span;
        let mut typed = vec![press(Key::Slash), Event::Text("/".to_owned())];
        for (at, text) in [(Key::W, "w"), (Key::A, "a"), (Key::K, "k"), (Key::E, "e")] {
            typed.extend([press(at), Event::Text(text.to_owned())]);
        }
        let each = typed.len().div_ceil(frames).next_multiple_of(2);
        for some in typed.chunks(each) {
            window.input_mut().events.extend(some.iter().cloned());
            window.run_steps(1);
        }
        window.run_steps(8);
        settle(&mut window);
        assert_eq!(
            window.state().state().search.text,
            "wake",
            "{frames} frames"
        );
        assert_eq!(
            window.state().state().span,
            span,
            "no key acted as a command"
        );
        let field = window.get_by_role_and_label(Role::TextInput, "Search");
        assert!(field.is_focused());
    }
    // The track filter, the finder and Enter.
    let mut window = window(&irqs());
    let ctrl_p = Event::Key {
        key: Key::P,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::COMMAND,
    };
    let mut typed = vec![ctrl_p];
    typed.extend("cpu 1".chars().map(|sign| Event::Text(sign.to_string())));
    typed.push(press(Key::Enter));
    window.input_mut().events.extend(typed);
    window.run_steps(12);
    settle(&mut window);
    let state = window.state().state();
    assert!(state.finder.is_none(), "Enter chose");
    let cpu = state
        .rows
        .all()
        .iter()
        .find(|row| &*row.title == "CPU 1")
        .unwrap();
    assert_eq!(state.selected, cpu.item());
    // Esc right behind it closes what was opened.
    window
        .input_mut()
        .events
        .extend([press(Key::Slash), press(Key::Escape)]);
    window.run_steps(8);
    key(&mut window, Modifiers::NONE, Key::W);
    assert_eq!(window.state().state().search.text, "");
}

#[test]
fn t_pins_what_is_under_the_pointer() {
    let mut window = window(&irqs());
    act(&mut window, Action::ToggleDock);
    let trace = window.state().loaded().unwrap().trace.clone();
    // The longest run of CPU 0, and something else that is selected.
    let runs = trace.runs.on(threadline::trace::CpuId(0));
    let length = |id: u32| {
        let end = trace.runs.ends[id as usize].get()?;
        Some((end - trace.runs.starts[id as usize], id))
    };
    let (_, long) = runs.filter_map(length).max().unwrap();
    act(&mut window, Action::Reveal(Item::Run(RunId(long))));
    act(&mut window, Action::Focus);
    act(&mut window, Action::Select(Item::Slice(SliceId(0))));
    let cpu = window
        .state()
        .state()
        .rows
        .all()
        .iter()
        .find(|row| matches!(row.kind, RowKind::Cpu(id) if id.0 == 0))
        .unwrap()
        .key;
    let at = place_of(&window, cpu);
    let lane = egui::pos2(at.center().x, at.top() + 8.0);
    window.hover_at(lane);
    window.run_steps(3);
    key(&mut window, Modifiers::NONE, Key::T);
    assert_eq!(window.state().state().tips, [Item::Run(RunId(long))]);
    // The pointer moves and T is pressed within one frame.
    act(&mut window, Action::UnpinTip(Item::Run(RunId(long))));
    window.hover_at(canvas(&window).right_bottom() - egui::vec2(2.0, 2.0));
    window.run_steps(3);
    window
        .input_mut()
        .events
        .extend([Event::PointerMoved(lane), press(Key::T)]);
    window.run_steps(3);
    assert_eq!(window.state().state().tips, [Item::Run(RunId(long))]);
    // Over a header: the track's own thing.
    act(&mut window, Action::UnpinTip(Item::Run(RunId(long))));
    let header = egui::pos2(canvas(&window).left() - 60.0, at.center().y);
    window.hover_at(header);
    window.run_steps(3);
    key(&mut window, Modifiers::NONE, Key::T);
    let trace_cpu = Item::Cpu(threadline::trace::CpuId(0));
    assert_eq!(window.state().state().tips, [trace_cpu]);
}

/// What T pins of a column of many is of the name that the column shows, not of what merely comes first in it.
#[test]
fn t_pins_the_longest_of_the_name_that_a_column_shows() {
    // All but the last are in one column: nested, a flat profile of names; otherwise a row of slices.
    let nested = r#"{"ph":"X","name":"call","pid":1,"tid":1,"ts":2,"dur":10},"#;
    for outer in [nested, ""] {
        let text = format!(
            r#"[{outer}
            {{"ph":"X","name":"brief","pid":1,"tid":1,"ts":0,"dur":1}},
            {{"ph":"X","name":"tick","pid":1,"tid":1,"ts":2,"dur":0.5}},
            {{"ph":"X","name":"work","pid":1,"tid":1,"ts":2.5,"dur":2}},
            {{"ph":"X","name":"work","pid":1,"tid":1,"ts":4.5,"dur":7}},
            {{"ph":"X","name":"end","pid":1,"tid":1,"ts":100000,"dur":1}}]"#
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        std::fs::write(&path, text).unwrap();
        let mut window = window(&path);
        act(&mut window, Action::ToggleDock);
        window.run_steps(4);
        settle(&mut window);
        let trace = window.state().loaded().unwrap().trace.clone();
        let rows = window.state().state().rows.all().to_vec();
        let row = rows.iter().find(|row| !row.lanes.is_empty()).unwrap();
        let lane = &row.lanes[0];
        let is_profile = matches!(lane.kind, LaneKind::Profile { .. });
        assert_eq!(is_profile, !outer.is_empty(), "{:?}", lane.kind);
        let (area, shown) = (canvas(&window), window.state().state().span);
        let far = (trace.span.start + Nanos(5_000) - shown.start).0 as f32;
        let x = area.left() + area.width() * far / shown.duration().0 as f32;
        let y = area.top() + row.top + lane.offset + lane.height / 2.0;
        window.hover_at(egui::pos2(x, y));
        window.run_steps(3);
        key(&mut window, Modifiers::NONE, Key::T);
        let tips = window.state().state().tips.clone();
        let [Item::Slice(id)] = tips[..] else {
            panic!("{:?}: {tips:?}", lane.kind);
        };
        let name = trace.text(trace.slices.label(id).name).into_owned();
        assert_eq!(name, "work", "{:?}", lane.kind);
        let slice = trace.slices.get(id);
        assert_eq!((slice.end.unwrap() - slice.start).0, 7_000);
    }
}

#[test]
fn an_area_that_is_selected_is_what_details_and_sums_are_of() {
    let mut window = window(&irqs());
    act(&mut window, Action::Select(Item::Slice(SliceId(0))));
    act(&mut window, Action::OpenPane(PaneKind::Details));
    assert!(window.query_by_label("Selected area").is_none());
    let rows = window.state().state().rows.all().to_vec();
    let cpu = rows
        .iter()
        .find(|row| matches!(row.kind, RowKind::Cpu(_)))
        .unwrap()
        .key;
    let range = middle_half(&window);
    act(&mut window, Action::SelectArea(range, vec![cpu]));
    assert!(
        window.query_by_label("Selected area").is_some(),
        "not the old item"
    );
    // What was selected before is one click away.
    let trace = window.state().loaded().unwrap().trace.clone();
    let name = trace.text(trace.slices.label(SliceId(0)).name).into_owned();
    window.get_by_role_and_label(Role::Link, &name).click();
    settle(&mut window);
    assert!(window.query_by_label("Selected area").is_none());
    // The sums of a CPU begin with who ran there, those of threads without slices with their states.
    act(&mut window, Action::SelectArea(range, vec![cpu]));
    act(&mut window, Action::OpenPane(PaneKind::Selection));
    assert!(!table_rows(&window).is_empty());
    let is_on = |window: &Window, button: &str| {
        let node = window.get_by_role_and_label(Role::Button, button);
        let toggled = node.accesskit_node().toggled();
        toggled == Some(egui::accesskit::Toggled::True)
            || node.accesskit_node().is_selected() == Some(true)
    };
    assert!(is_on(&window, "CPU use"));
    let has_states = |kind| matches!(kind, RowKind::Thread(id) if !trace.states.of(id).is_empty());
    let lone = rows
        .iter()
        .find(|row| has_states(row.kind) && row.lanes.len() == 1);
    if let Some(lone) = lone {
        act(&mut window, Action::SelectArea(range, vec![lone.key]));
        assert!(!table_rows(&window).is_empty());
        assert!(is_on(&window, "Thread states"));
    }
    // What the user chose stays.
    click_button(&mut window, "Slices");
    act(&mut window, Action::SelectArea(range, vec![cpu]));
    assert!(is_on(&window, "Slices"));
}

#[test]
fn a_filter_that_hides_all_says_so_and_does_not_outlive_its_trace() {
    let mut window = window(&irqs());
    act(&mut window, Action::Filter("no such track".to_owned()));
    click_button(&mut window, "Clear the filter");
    assert_eq!(window.state().state().filter, "");
    // Some are hidden: how many is a link that shows them.
    act(&mut window, Action::Filter("CPU".to_owned()));
    let link = window.query_by_label_contains("filtered out");
    link.expect("how many").click();
    settle(&mut window);
    assert_eq!(window.state().state().filter, "");

    for (pane, field) in [
        (PaneKind::Durations, "Filter rows"),
        (PaneKind::ProcessTree, "Filter processes"),
        (PaneKind::Selection, "Filter rows"),
    ] {
        act(&mut window, Action::OpenPane(pane));
        let all = table_rows(&window).len();
        type_into(&mut window, field, "nothing is called so");
        assert!(
            window.query_all_by_label_contains("hides").next().is_some(),
            "{pane:?}"
        );
        click_button(&mut window, "Clear the filter");
        assert_eq!(table_rows(&window).len(), all, "{pane:?}");
        type_into(&mut window, field, "nothing is called so");
        show(&mut window, &hackbench());
        assert!(
            window.query_by_label_contains("hides").is_none(),
            "{pane:?}"
        );
        assert!(all == 0 || !table_rows(&window).is_empty(), "{pane:?}");
        show(&mut window, &irqs());
    }
}

#[test]
fn a_filter_that_has_looked_at_all_does_not_say_that_it_was_stopped() {
    let mut window = window(&irqs());
    act(&mut window, Action::OpenPane(PaneKind::Events));
    let all = window.state().loaded().unwrap().trace.events.len();
    type_into(&mut window, "Filter events", "nothing is called so");
    settle(&mut window);
    window.run_steps(3);
    let count = window.query_all_by_label_contains(" events");
    let said: Vec<_> = count
        .filter_map(|node| node.accesskit_node().value())
        .collect();
    let of = format!(
        "0 of {} events",
        threadline::base::time::grouped(all as i64)
    );
    assert!(said.contains(&of), "{said:?}");
}

#[test]
fn rows_keep_their_places_while_a_file_is_followed() {
    let line = |at: u32, pid: u32| {
        let time = 1.0 + f64::from(at) / 1e3;
        format!(
            "            w{pid}-{pid}     [000] ..... {time:11.6}: tracing_mark_write: I|{pid}|tick\n"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.txt");
    let write = |text: &str| {
        let file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path);
        file.unwrap().write_all(text.as_bytes()).unwrap();
    };
    let wait_for = |window: &mut Window, count: usize| {
        let began = Instant::now();
        let events = |window: &Window| {
            window
                .state()
                .loaded()
                .map_or(0, |it| it.trace.events.len())
        };
        while events(window) != count || window.state().is_busy() {
            window.step();
            std::thread::sleep(Duration::from_millis(5));
            assert!(began.elapsed() < Duration::from_secs(120));
        }
        window.run_steps(3);
    };
    // Forty threads; the first is the busiest.
    let first: String = (0..40).map(|at| line(at, 100 + at)).collect();
    write(&(first + &line(40, 100) + &line(41, 100)));
    let mut window = empty_window();
    let ctx = window.ctx.clone();
    window
        .state_mut()
        .follow(&ctx, vec![path.clone()], Reading::default());
    wait_for(&mut window, 42);
    let keys = |window: &Window| -> Vec<RowKey> {
        window
            .state()
            .state()
            .rows
            .all()
            .iter()
            .map(|row| row.key)
            .collect()
    };
    let before = keys(&window);
    act(&mut window, Action::ScrollBy(200.0));
    let top = |window: &Window| {
        let state = window.state().state();
        let row = state.rows.at(state.scroll).unwrap();
        (row.key, row.top - state.scroll)
    };
    let seen = top(&window);
    assert!(window.state().state().scroll > 0.0);
    // The last becomes the busiest, and a new one comes that is busier than all.
    let more: String = (50..60)
        .map(|at| line(at, 139))
        .chain((60..90).map(|at| line(at, 500)))
        .collect();
    write(&more);
    wait_for(&mut window, 82);
    let after = keys(&window);
    let kept: Vec<RowKey> = after
        .iter()
        .copied()
        .filter(|key| before.contains(key))
        .collect();
    assert_eq!(kept, before);
    assert_eq!(after.len(), before.len() + 1);
    assert_eq!(top(&window), seen);
    // Nor does what the user plots, groups and takes out again move any other row.
    let others = |window: &Window, moved: Option<RowKey>| -> Vec<RowKey> {
        let is_other = |key: &RowKey| after.contains(key) && Some(*key) != moved;
        keys(window).into_iter().filter(is_other).collect()
    };
    let plot = Plot::of_events("print", "$count");
    act(&mut window, Action::Arrange(Arrange::Plot(plot, None)));
    assert!(keys(&window).len() > after.len());
    assert_eq!(others(&window, None), after);
    let moved = after[after.len() / 2];
    act(&mut window, Action::Arrange(Arrange::Group(vec![moved])));
    let rest: Vec<RowKey> = after.iter().copied().filter(|key| *key != moved).collect();
    assert_eq!(others(&window, Some(moved)), rest);
    write(&(90..120).map(|at| line(at, 137)).collect::<String>());
    wait_for(&mut window, 112);
    assert_eq!(others(&window, Some(moved)), rest);
    act(&mut window, Action::Arrange(Arrange::TakeOut(moved)));
    assert_eq!(others(&window, None), after);
    // Not followed any longer and sorted anew, the busiest is the first again.
    let sort = |by| Action::Arrange(Arrange::SortBy(by));
    act(&mut window, sort(threadline::view::SortBy::Name));
    act(&mut window, sort(threadline::view::SortBy::Activity));
    assert_ne!(others(&window, None), after);
}

#[test]
fn the_overview_is_brushed_while_everything_is_in_view() {
    let mut window = window(&hackbench());
    let whole = window.state().state().bounds();
    assert_eq!(window.state().state().span, whole);
    let area = window.get_by_label("Overview").rect();
    let at = |share: f32| egui::pos2(area.left() + share * area.width(), area.center().y);
    drag(&mut window, at(0.25), at(0.5));
    let shown = window.state().state().span;
    let share = |time: threadline::base::Timestamp| {
        (time - whole.start).0 as f64 / whole.duration().0 as f64
    };
    assert!(
        (share(shown.start) - 0.25).abs() < 0.02,
        "{}",
        share(shown.start)
    );
    assert!(
        (share(shown.end) - 0.5).abs() < 0.02,
        "{}",
        share(shown.end)
    );
    // From here on the brush is moved.
    drag(&mut window, at(0.35), at(0.45));
    let moved = window.state().state().span;
    assert_eq!(moved.duration(), shown.duration());
    assert!(moved.start > shown.start);
    key(&mut window, Modifiers::ALT, Key::ArrowLeft);
    key(&mut window, Modifiers::ALT, Key::ArrowLeft);
    assert_eq!(window.state().state().span, whole);
}

/// The words that stand on the canvas and the ruler, with where they are.
fn words_at(window: &Window, part: &str) -> Vec<egui::Rect> {
    let shapes = window.output().shapes.iter();
    let texts = shapes.filter_map(|clipped| match &clipped.shape {
        egui::Shape::Text(text) if text.galley.text().contains(part) => {
            Some(text.galley.rect.translate(text.pos.to_vec2()))
        }
        _ => None,
    });
    texts.collect()
}

#[test]
fn the_words_of_an_arrow_stand_beside_its_head() {
    let mut window = window(&file("sample-traces/sched-irq.ftrace"));
    act(&mut window, Action::ToggleDock);
    let trace = window.state().loaded().unwrap().trace.clone();
    let rows = &window.state().state().rows;
    let place = |thread| {
        rows.of_lane(threadline::view::LaneKind::States(thread))
            .map(|found| found.row.top)
    };
    // A wait whose waker is far above or below.
    let waits = (0..trace.states.len() as u32).map(threadline::trace::StateId);
    let far = waits.filter(|id| {
        let state = trace.states.get(*id);
        state.state == ThreadState::Runnable && state.waker.is_some() && state.end.is_some()
    });
    let distance = |id: &threadline::trace::StateId| {
        let state = trace.states.get(*id);
        let places = place(state.thread).zip(state.waker.and_then(place));
        places.map_or(0, |(a, b)| (a - b).abs() as i64)
    };
    let id = far.max_by_key(distance).unwrap();
    assert!(distance(&id) > 60, "{}", distance(&id));
    act(&mut window, Action::Reveal(Item::State(id)));
    let state = trace.states.get(id);
    let around = TimeSpan::new(
        state.start - Nanos(1_000_000),
        state.end.unwrap() + Nanos(1_000_000),
    );
    act(&mut window, Action::Show(around));
    window.run_steps(3);
    settle(&mut window);
    let words = words_at(&window, "woken, ran");
    assert_eq!(words.len(), 1);
    let key = window
        .state()
        .state()
        .rows
        .of_lane(threadline::view::LaneKind::States(state.thread))
        .unwrap()
        .row
        .key;
    let row = place_of(&window, key);
    let far = (words[0].center().y - row.center().y).abs();
    assert!(far < 40.0, "{far} points from the track that was woken");
    let share = (state.start - around.start).0 as f32 / around.duration().0 as f32;
    let x = row.left() + share * row.width();
    let aside = (words[0].left() - x)
        .abs()
        .min((words[0].right() - x).abs());
    assert!(aside < 30.0, "{aside} points beside the arrow");
}

#[test]
fn a_run_whose_thread_is_out_of_sight_has_the_words_beside_it() {
    let mut window = window(&file("sample-traces/sched-irq.ftrace"));
    let trace = window.state().loaded().unwrap().trace.clone();
    let runs = (0..trace.runs.len() as u32).map(RunId);
    let woken = |id: &RunId| {
        let wait = threadline::query::family::wait_before(&trace, *id);
        wait.is_some_and(|wait| wait.waker.is_some() && wait.end.is_some())
    };
    let run = runs.into_iter().find(woken).unwrap();
    act(&mut window, Action::Reveal(Item::Run(run)));
    let lane = threadline::view::LaneKind::Runs(trace.runs.get(run).cpu);
    let key = window.state().state().rows.of_lane(lane).unwrap().row.key;
    let words = words_at(&window, "woken, ran");
    assert_eq!(words.len(), 1);
    let far = (words[0].center().y - place_of(&window, key).top()).abs();
    assert!(far < 30.0, "{far} points from the run");
}

#[test]
fn the_length_of_a_range_stands_in_the_ruler_and_covers_no_track() {
    let mut window = window(&irqs());
    let key_of = window
        .state()
        .state()
        .rows
        .all()
        .iter()
        .find(|row| matches!(row.kind, RowKind::Cpu(_)))
        .unwrap()
        .key;
    act(
        &mut window,
        Action::Arrange(threadline::view::Arrange::Pin(key_of)),
    );
    let range = middle_half(&window);
    act(&mut window, Action::SelectRange(range));
    window.run_steps(2);
    let length =
        threadline::view::ruler::length_text(range.duration(), window.state().state().origins.unit);
    let tracks = canvas(&window);
    let ruler = window.get_by_label("Ruler").rect();
    let words = words_at(&window, &length);
    assert!(
        words.iter().any(|place| ruler.contains_rect(*place)),
        "{words:?} {ruler:?}"
    );
    assert!(
        words.iter().all(|place| !tracks.intersects(*place)),
        "{words:?}"
    );
    // Beside the words for the markers.
    act(&mut window, Action::MarkBoth(range));
    window.run_steps(2);
    let delta = words_at(&window, "B − A");
    let pill = words_at(&window, &length);
    let in_ruler: Vec<_> = pill
        .iter()
        .chain(&delta)
        .filter(|it| ruler.intersects(**it))
        .collect();
    assert!(in_ruler.len() >= 2);
    let alone = pill
        .iter()
        .find(|it| ruler.intersects(**it) && !delta.contains(it))
        .unwrap();
    let other = delta.iter().find(|it| ruler.intersects(**it)).unwrap();
    assert!(!alone.intersects(*other), "{alone:?} {other:?}");
}
