//! Small things that one does all day: tracks by keys, the brush, links, notes, copies, notices, recent files.

use crate::support;
use crate::support::*;
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable;
use threadline::base::Nanos;
use threadline::query::Item;
use threadline::trace::{RunId, SliceId};
use threadline::view::{Action, ColorBy, Direction, Effect, PaneKind, RowKey, locate};

fn titles(window: &Window) -> Vec<String> {
    let rows = window.state().state().rows.all();
    rows.iter().map(|row| row.title.to_string()).collect()
}

/// Puts the pointer on a track.
fn point_at(window: &mut Window, title: &str) {
    let state = window.state().state();
    let rows = state.rows.all();
    let row = rows.iter().find(|row| &*row.title == title).unwrap();
    let y = canvas(window).top() + row.top - state.scroll + row.height / 2.0;
    let at = egui::pos2(canvas(window).left() + 3.0, y);
    window.hover_at(at);
    window.run_steps(3);
}

/// What the next frames put on the clipboard.
fn copied(window: &mut Window) -> String {
    for _ in 0..100 {
        window.run_steps(1);
        for command in &window.output().platform_output.commands {
            if let egui::OutputCommand::CopyText(text) = command {
                return text.clone();
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("nothing was copied");
}

#[test]
fn keys_mean_the_track_that_was_gone_to_and_none_below_all() {
    let mut window = window(&hackbench());
    act(&mut window, Action::ToggleDock);
    point_at(&mut window, "CPU 0");
    let rows = window.state().state().rows.all().iter();
    let key_of_cpu = rows.clone().find(|row| &*row.title == "CPU 1").unwrap().key;
    act(&mut window, Action::GoToRow(key_of_cpu));
    key(&mut window, Modifiers::SHIFT, Key::T);
    assert_eq!(&*window.state().state().rows.pinned()[0].title, "CPU 1");
    // Where the pointer is over another track, that one is meant again.
    point_at(&mut window, "CPU 0");
    key(&mut window, Modifiers::SHIFT, Key::T);
    assert!(
        window
            .state()
            .state()
            .rows
            .pinned()
            .iter()
            .any(|row| &*row.title == "CPU 0")
    );
    act(
        &mut window,
        Action::Arrange(threadline::view::Arrange::Reset),
    );
    window.set_size(egui::vec2(900.0, 4_000.0));
    settle(&mut window);
    window.event(egui::Event::PointerMoved(egui::pos2(600.0, 3_900.0)));
    window.run_steps(3);
    assert_eq!(window.state().state().pointed_row, None);
}

#[test]
fn an_event_is_brought_to_the_middle_and_not_made_to_fill_the_view() {
    let mut window = window(&hackbench());
    let event = threadline::trace::EventId(100);
    act(
        &mut window,
        Action::Reveal(threadline::query::Item::Event(event)),
    );
    settle(&mut window);
    let state = window.state().state();
    let tenth = threadline::base::Nanos(state.span.duration().0 / 10);
    let start = state.span.start;
    let part = threadline::base::TimeSpan::new(start, start + tenth);
    act(&mut window, Action::Show(part));
    settle(&mut window);
    let before = window.state().state().span.duration();
    key(&mut window, Modifiers::NONE, Key::F);
    settle(&mut window);
    assert_eq!(window.state().state().span.duration(), before);
}

#[test]
fn tracks_are_pinned_hidden_folded_renamed_and_coloured_by_keys() {
    let mut window = window(&hackbench());
    act(&mut window, Action::ToggleDock);
    let none = Modifiers::NONE;
    point_at(&mut window, "CPU 1");
    key(&mut window, Modifiers::SHIFT, Key::T);
    assert_eq!(&*window.state().state().rows.pinned()[0].title, "CPU 1");
    act(
        &mut window,
        Action::Arrange(threadline::view::Arrange::Reset),
    );
    point_at(&mut window, "CPU 1");
    key(&mut window, none, Key::H);
    assert!(!titles(&window).contains(&"CPU 1".to_owned()));
    key(&mut window, Modifiers::SHIFT, Key::H);
    // A name that is typed over the old one.
    point_at(&mut window, "CPU 1");
    key(&mut window, none, Key::F2);
    let field = window.get_by_role_and_label(Role::TextInput, "New name of the track");
    field.type_text("The second");
    window.run_steps(2);
    key(&mut window, none, Key::Enter);
    assert!(titles(&window).contains(&"The second".to_owned()));
    // The group is folded and unfolded.
    let all = titles(&window).len();
    point_at(&mut window, "CPUs");
    key(&mut window, none, Key::E);
    assert!(titles(&window).len() < all);
    key(&mut window, none, Key::E);
    assert_eq!(titles(&window).len(), all);
    let first = window.state().state().settings.color_by;
    let mut seen = vec![first];
    for _ in 1..ColorBy::ALL.len() {
        key(&mut window, Modifiers::SHIFT, Key::C);
        let by = window.state().state().settings.color_by;
        assert!(!seen.contains(&by));
        seen.push(by);
    }
    key(&mut window, Modifiers::SHIFT, Key::C);
    assert_eq!(window.state().state().settings.color_by, first);
}

#[test]
fn the_brush_is_moved_resized_and_clicked_in_the_overview() {
    let mut window = window(&hackbench());
    key(&mut window, Modifiers::NONE, Key::W);
    key(&mut window, Modifiers::NONE, Key::W);
    settle(&mut window);
    let area = window.get_by_label("Overview").rect();
    let x = |window: &Window, end: bool| {
        let state = window.state().state();
        let (whole, shown) = (state.bounds(), state.span);
        let time = if end { shown.end } else { shown.start };
        let share = (time - whole.start).0 as f32 / whole.duration().0 as f32;
        area.left() + share * area.width()
    };
    let y = area.center().y;
    let before = window.state().state().span;
    // By its middle.
    let middle = (x(&window, false) + x(&window, true)) / 2.0;
    let from = egui::pos2(middle, y);
    drag(&mut window, from, from + egui::vec2(60.0, 0.0));
    let moved = window.state().state().span;
    assert_eq!(moved.duration(), before.duration());
    assert!(moved.start > before.start);
    // By its end.
    let from = egui::pos2(x(&window, true), y);
    drag(&mut window, from, from - egui::vec2(40.0, 0.0));
    let shorter = window.state().state().span;
    assert_eq!(shorter.start, moved.start);
    assert!(shorter.end < moved.end);
    // A click elsewhere shows that place.
    let at = egui::pos2(area.left() + 30.0, y);
    window.hover_at(at);
    window.drag_at(at);
    window.drop_at(at);
    settle(&mut window);
    let there = window.state().state().span;
    assert_eq!(there.duration(), shorter.duration());
    assert!(there.start < shorter.start);
    // All of it is taken back.
    key(&mut window, Modifiers::ALT, Key::ArrowLeft);
    assert_eq!(window.state().state().span, shorter);
    key(&mut window, Modifiers::ALT, Key::ArrowRight);
    assert_eq!(window.state().state().span, there);
}

#[test]
fn details_lead_to_the_thread_the_parent_the_children_and_the_waker() {
    let mut window = window(&file("sample-traces/sched-irq-syscalls.dat"));
    act(&mut window, Action::OpenPane(PaneKind::Details));
    let trace = window.state().loaded().unwrap().trace.clone();
    let child = (0..trace.slices.len() as u32)
        .map(SliceId)
        .find(|id| trace.slices.get(*id).parent.is_some());
    if let Some(child) = child {
        let parent = trace.slices.get(child).parent.unwrap();
        act(&mut window, Action::Reveal(Item::Slice(child)));
        let name = trace.text(trace.slices.label(parent).name).into_owned();
        click_value(&mut window, &name);
        assert_eq!(window.state().state().selected, Some(Item::Slice(parent)));
        key(&mut window, Modifiers::COMMAND, Key::ArrowDown);
        let inside = window.state().state().selected;
        assert!(
            matches!(inside, Some(Item::Slice(id)) if trace.slices.get(id).parent == Some(parent))
        );
        key(&mut window, Modifiers::COMMAND, Key::ArrowUp);
        assert_eq!(window.state().state().selected, Some(Item::Slice(parent)));
    }
    // A wait that somebody ended: who, and what that one did then.
    let mut window = support::window(&file("sample-traces/sched-irq.ftrace"));
    act(&mut window, Action::OpenPane(PaneKind::Details));
    let trace = window.state().loaded().unwrap().trace.clone();
    let woken = (0..trace.states.len() as u32)
        .map(threadline::trace::StateId)
        .find(|id| {
            let state = trace.states.get(*id);
            state.waker.is_some_and(|waker| waker.0 != 0)
        })
        .expect("a thread that was woken");
    act(&mut window, Action::Reveal(Item::State(woken)));
    let waker = trace.states.get(woken).waker.unwrap();
    let text = format!("{} ({})", trace.thread_name(waker), trace.thread(waker).tid);
    click_value(&mut window, &text);
    assert_eq!(window.state().state().selected, Some(Item::Thread(waker)));
    // [ goes to what the waker did then.
    act(&mut window, Action::Reveal(Item::State(woken)));
    key(&mut window, Modifiers::NONE, Key::OpenBracket);
    let did = window.state().state().selected;
    assert!(
        matches!(did, Some(Item::Run(id)) if trace.runs.get(id).thread == waker),
        "{did:?}"
    );
}

#[test]
fn steps_along_a_track_keep_to_it() {
    let window = window(&hackbench());
    let trace = &window.state().loaded().unwrap().trace;
    for item in [Item::Slice(SliceId(3)), Item::Run(RunId(5))] {
        let lane = locate::lane_of(trace, item);
        let mut at = item;
        let mut before = locate::span_of(trace, at).unwrap().start;
        while let Some(next) = locate::neighbour(trace, at, Direction::Next) {
            assert_eq!(
                locate::neighbour(trace, next, Direction::Previous),
                Some(at)
            );
            assert_eq!(locate::lane_of(trace, next), lane);
            let start = locate::span_of(trace, next).unwrap().start;
            assert!(start >= before);
            (at, before) = (next, start);
        }
        let same = locate::same_name(trace, item, Direction::Next);
        if let Some(same) = same {
            let back = locate::same_name(trace, same, Direction::Previous);
            assert_eq!(back, Some(item));
        }
    }
}

#[test]
fn a_note_stays_in_view_until_it_is_closed() {
    let mut window = window(&hackbench());
    let item = Item::Slice(SliceId(0));
    act(&mut window, Action::Reveal(item));
    act(&mut window, Action::OpenPane(PaneKind::Marks));
    let off = canvas(&window).right_bottom() - egui::vec2(4.0, 4.0);
    window.hover_at(off);
    window.run_steps(2);
    act(&mut window, Action::Point(Default::default()));
    let pinned = window.state().state().pointed.unwrap_or(item);
    key(&mut window, Modifiers::NONE, Key::T);
    assert_eq!(window.state().state().tips, [pinned]);
    act(&mut window, Action::Fit);
    act(&mut window, Action::Deselect);
    let note = |window: &Window| {
        window
            .query_by_role_and_label(Role::Button, "Show")
            .is_some()
    };
    assert!(note(&window));
    window.get_by_role_and_label(Role::Button, "Show").click();
    settle(&mut window);
    assert_eq!(window.state().state().selected, Some(pinned));
    act(&mut window, Action::UnpinTip(pinned));
    window.run_steps(2);
    assert!(!note(&window));
}

#[test]
fn what_is_selected_is_copied_and_so_are_matches_and_details() {
    let mut window = window(&hackbench());
    act(&mut window, Action::Reveal(Item::Slice(SliceId(0))));
    window.input_mut().events.push(egui::Event::Copy);
    let text = copied(&mut window);
    assert!(text.contains("read_in"), "{text}");
    act(&mut window, Action::Deselect);
    let span = window.state().state().trace_span;
    act(&mut window, Action::SelectRange(span));
    window.input_mut().events.push(egui::Event::Copy);
    let text = copied(&mut window);
    assert!(
        text.contains(" to ") && text.contains("58.383 ms"),
        "{text}"
    );
    act(&mut window, Action::Search("/^read/".to_owned()));
    act(&mut window, Action::OpenPane(PaneKind::Matches));
    let at = window
        .get_by_role_and_label(Role::Button, "Copy")
        .rect()
        .center();
    window.hover_at(at);
    window.drag_at(at);
    window.run_steps(2);
    let release = egui::Event::PointerButton {
        pos: at,
        button: egui::PointerButton::Primary,
        pressed: false,
        modifiers: Modifiers::NONE,
    };
    window.input_mut().events.push(release);
    let text = copied(&mut window);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "Time\tType\tName\tDuration\tThread");
    assert!(
        lines.len() > 100 && lines[1].contains("read_in"),
        "{}",
        lines[1]
    );
}

#[test]
fn searches_take_text_regex_and_expressions_and_list_what_they_find() {
    let mut window = window(&hackbench());
    let count = |window: &mut Window, text: &str| {
        act(window, Action::Search(text.to_owned()));
        let words = ["matches", "1 match", "No match"];
        let found = words.iter().find_map(|word| {
            let mut nodes = window.query_all_by_label_contains(word);
            let text = egui_kittest::kittest::NodeT::accesskit_node(&nodes.next()?).value()?;
            Some(text)
        });
        found.unwrap_or_default()
    };
    let all = count(&mut window, "name == \"read_in\"");
    assert!(all.ends_with("matches"), "{all}");
    let few = count(&mut window, "name ~ \"read.*\" && dur > 100us");
    assert_ne!(all, few);
    assert_eq!(count(&mut window, "/^no such name$/"), "No match");
    act(
        &mut window,
        Action::Search("sched_switch: prev_prio < 121 && cpu == 2".to_owned()),
    );
    act(&mut window, Action::OpenPane(PaneKind::Matches));
    let row = window.query_all_by_role(Role::Row).nth(1).expect("a match");
    row.click();
    settle(&mut window);
    assert!(window.state().state().selected.is_some());
    // Marks in the overview are drawn where the matches are.
    window.snapshot("search-expression");
}

#[test]
fn recent_files_are_offered_with_what_is_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("window.json");
    let mut first = window_keeping(&settings);
    drop_on(&mut first, hackbench());
    first.state_mut().close();
    let mut second = window_keeping(&settings);
    settle(&mut second);
    assert!(
        second
            .query_all_by_label_contains("trace.dat 7 · 58.383 ms")
            .next()
            .is_some()
    );
    second
        .get_all_by_role_and_label(Role::Link, "kprobe-hackbench.dat")
        .next()
        .unwrap()
        .click();
    second.run_steps(2);
    settle(&mut second);
    assert!(second.state().loaded().is_some());
    second.get_by_label("File").click();
    second.run_steps(2);
    second.get_by_label_contains("Recent").hover();
    second.run_steps(4);
    assert!(
        second
            .query_all_by_label_contains("kprobe-hackbench.dat")
            .next()
            .is_some()
    );
}

#[test]
fn a_notice_is_in_nobodys_way() {
    let mut window = window(&hackbench());
    act(
        &mut window,
        Action::Do(Effect::Open(vec!["/no/such/file".into()])),
    );
    assert!(window.state().notice().is_some());
    // One works on beside it, and it goes when it is told to.
    let whole = visible(&window);
    key(&mut window, Modifiers::NONE, Key::W);
    assert!(visible(&window) < whole);
    window.get_by_label("Dismiss").click();
    settle(&mut window);
    assert!(window.state().notice().is_none());
}

#[test]
fn what_is_merged_tells_what_it_is_made_of() {
    let mut window = window(&file("sample-traces/sched-irq-syscalls.dat"));
    act(&mut window, Action::ToggleDock);
    let area = canvas(&window);
    // Somewhere along the first CPU there is a block of several.
    let row = window.state().state().rows.all()[1].clone();
    let lane = &row.lanes[0];
    let y = area.top() + row.top + lane.offset + lane.height / 2.0;
    let told = (0..area.width() as usize / 3).any(|step| {
        let x = area.left() + 3.0 * step as f32;
        window.hover_at(egui::pos2(x, y));
        window.run_steps(8);
        window
            .query_all_by_label_contains(" items in ")
            .next()
            .is_some()
            && window.query_all_by_label_contains(" × ").next().is_some()
    });
    assert!(told);
}

#[test]
fn every_track_and_slice_in_sight_has_a_node() {
    let mut window = window(&hackbench());
    act(&mut window, Action::ToggleDock);
    let state = window.state().state();
    let room = canvas(&window).height();
    for row in state
        .rows
        .all()
        .iter()
        .filter(|row| row.top + row.height <= room)
    {
        assert!(
            window
                .query_all_by_label_contains(&row.title)
                .next()
                .is_some(),
            "{}",
            row.title
        );
    }
    // The runs of a CPU, by their threads.
    let trace = window.state().loaded().unwrap().trace.clone();
    let per_point = state.span.duration().0 / room.max(1.0) as i64;
    let cpus = state.rows.all().iter().filter_map(|row| match row.key {
        RowKey::Cpu(_) if row.top + row.height <= room => Some(row.key),
        _ => None,
    });
    assert!(cpus.count() >= 4);
    for id in 0..trace.runs.len() as u32 {
        let run = trace.runs.get(RunId(id));
        let length = run.end.unwrap_or(trace.span.end) - run.start;
        if length > Nanos(per_point * 12) && run.thread.0 != 0 {
            let name = trace.thread_name(run.thread);
            let block = format!("{name}, ");
            let mut blocks = window.query_all_by_label_contains(&block);
            assert!(blocks.next().is_some(), "{name}");
        }
    }
}

#[test]
fn a_selected_thread_is_followed_from_cpu_to_cpu() {
    let mut window = window(&file("sample-traces/sched-irq.ftrace"));
    act(&mut window, Action::ToggleDock);
    let trace = window.state().loaded().unwrap().trace.clone();
    let moves = |id: u32| {
        let runs = trace.runs.of(threadline::trace::ThreadId(id));
        let cpu = |run: &u32| trace.runs.get(RunId(*run)).cpu;
        runs.windows(2)
            .filter(|pair| cpu(&pair[0]) != cpu(&pair[1]))
            .count()
    };
    let most = (1..trace.threads.len() as u32)
        .max_by_key(|id| moves(*id))
        .unwrap();
    assert!(moves(most) > 0, "a thread that moves");
    let run = RunId(trace.runs.of(threadline::trace::ThreadId(most))[0]);
    act(&mut window, Action::Select(Item::Run(run)));
    window.snapshot("migrations");
}

#[test]
fn two_fingers_zoom_at_the_pointer() {
    let mut window = window(&hackbench());
    let whole = window.state().state().span;
    let area = canvas(&window);
    window.hover_at(area.left_top() + egui::vec2(area.width() * 0.25, 60.0));
    window.run_steps(2);
    window.event(egui::Event::Zoom(2.0));
    window.run_steps(4);
    let state = window.state().state();
    let (start, end) = (state.span.start - whole.start, whole.end - state.span.end);
    assert!(state.span.duration().0 < whole.duration().0 * 6 / 10);
    // A quarter of what was cut off lies before it.
    assert!(
        (end.0 - 3 * start.0).abs() < whole.duration().0 / 50,
        "{start} {end}"
    );
}

/// Fingers on the screen, as the system tells of them: the first one also moves the pointer.
fn touch(window: &mut Window, finger: u64, phase: egui::TouchPhase, pos: egui::Pos2) {
    window.event(egui::Event::Touch {
        device_id: egui::TouchDeviceId(1),
        id: egui::TouchId(finger),
        phase,
        pos,
        force: None,
    });
    if finger == 0 {
        window.event(egui::Event::PointerMoved(pos));
        if phase != egui::TouchPhase::Move {
            window.event(egui::Event::PointerButton {
                pos,
                button: egui::PointerButton::Primary,
                pressed: phase == egui::TouchPhase::Start,
                modifiers: egui::Modifiers::NONE,
            });
        }
        if phase == egui::TouchPhase::End {
            window.event(egui::Event::PointerGone);
        }
    }
    window.run_steps(1);
}

#[test]
fn one_finger_pans_and_two_zoom_where_they_are() {
    use egui::TouchPhase::{End, Move, Start};
    let mut window = window(&hackbench());
    let bounds = window.state().state().span;
    let half = threadline::base::Nanos(bounds.duration().0 / 4);
    let middle = threadline::base::TimeSpan::new(bounds.start + half, bounds.end - half);
    act(&mut window, Action::Show(middle));
    window.run_steps(40);
    let area = canvas(&window);
    let at = area.left_top() + egui::vec2(300.0, 80.0);
    touch(&mut window, 0, Start, at);
    for step in 1..=10 {
        touch(
            &mut window,
            0,
            Move,
            at - egui::vec2(10.0 * step as f32, 0.0),
        );
    }
    touch(&mut window, 0, End, at - egui::vec2(100.0, 0.0));
    let panned = window.state().state().span;
    assert_eq!(panned.duration(), middle.duration());
    assert!(panned.start > middle.start, "to what lies right");
    assert!(window.state().state().range.is_none());

    touch(&mut window, 0, Start, at);
    touch(&mut window, 1, Start, at + egui::vec2(60.0, 0.0));
    for step in 1..=10 {
        let by = egui::vec2(6.0 * step as f32, 0.0);
        touch(&mut window, 1, Move, at + egui::vec2(60.0, 0.0) + by);
        touch(&mut window, 0, Move, at - by);
    }
    let zoomed = window.state().state().span;
    assert!(
        zoomed.duration().0 < panned.duration().0 * 7 / 10,
        "{zoomed:?}"
    );
    touch(&mut window, 1, End, at + egui::vec2(120.0, 0.0));
    touch(&mut window, 0, End, at - egui::vec2(60.0, 0.0));
    assert!(window.state().state().range.is_none());
}

#[test]
fn the_names_of_tracks_are_made_wider_by_their_edge() {
    let mut window = window(&hackbench());
    let edge = |window: &Window| canvas(window).left();
    // Frames of the test are a quarter of a second apart.
    window
        .ctx
        .options_mut(|options| options.input_options.max_double_click_delay = 5.0);
    let first = edge(&window);
    let at = egui::pos2(first, canvas(&window).center().y);
    drag(&mut window, at, at + egui::vec2(120.0, 0.0));
    assert!(
        (edge(&window) - first - 120.0).abs() <= 2.0,
        "{}",
        edge(&window)
    );
    assert!(window.state().state().range.is_none());
    let at = egui::pos2(edge(&window), at.y);
    drag(&mut window, at, egui::pos2(0.0, at.y));
    assert!(edge(&window) > 80.0);
    let at = egui::pos2(edge(&window), at.y);
    for _ in 0..2 {
        window.hover_at(at);
        window.drag_at(at);
        window.run_steps(1);
        window.drop_at(at);
        window.run_steps(1);
    }
    window.run_steps(3);
    assert_eq!(edge(&window), first);
}

#[test]
fn starting_over_forgets_what_panes_were_asked() {
    let mut window = window(&hackbench());
    act(&mut window, Action::OpenPane(PaneKind::Events));
    type_into(&mut window, "Filter events", "cpu == 0");
    let filter = |window: &Window| {
        let field = window.get_by_role_and_label(egui::Role::TextInput, "Filter events");
        field.value().unwrap_or_default()
    };
    assert_eq!(filter(&window), "cpu == 0");
    act(&mut window, Action::StartOver);
    assert_eq!(filter(&window), "");
}
